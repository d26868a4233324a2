"""p-values from replicates: the one place with their rules.

===============  =========================================================================
rule             counts replicates d* as extreme (d is the observed difference)
===============  =========================================================================
"shift"          bootstrap moved to the null: greater d* - d >= d, less d* - d <= d,
                 two-sided abs(d* - d) >= abs(d)
"percentile"     what a percentile interval would exclude 0 by: greater d* <= 0, less d* >= 0,
                 two-sided twice the smaller of the two
"null"           replicates drawn under the null: greater d* >= d, less d* <= d,
                 two-sided abs(d*) >= abs(d)
===============  =========================================================================

Ties count. They are compared with a tolerance that scales with the size of the terms, not with the
observed value, which may cancel to 0.
"""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALTERNATIVES", "LEAST_PVALUE", "RULES", "PValue", "pvalue", "tie_note"]

ALTERNATIVES = ("two-sided", "greater", "less")
RULES = ("shift", "percentile")
# A p-value of a law is never 0: below this it has no number.
LEAST_PVALUE = sys.float_info.min
# Ties that reach this share of a standard error on either side move p = 0.05 by 2 phi(1.96) 0.01,
# a thousandth.
_LEAST_TIE = 0.01


class PValue(NamedTuple):
    """A p-value, and how it was made.

    Attributes
    ----------
    pvalue
        Probability of a difference at least as extreme where there is none; NaN where the
        observed difference is undefined.
    n_extreme
        Number of replicates at least as extreme.
    standard_error
        Monte Carlo standard error, sqrt(p (1 - p) / n); 0 where all swaps were enumerated.
    min_pvalue
        The smallest p-value that this design can give.
    alternative
        "two-sided", "greater" or "less".
    rule
        "shift", "percentile" or "null".
    """

    pvalue: float
    n_extreme: int
    standard_error: float
    min_pvalue: float
    alternative: str
    rule: str


def tie_note(rounding: float, standard_error: float) -> str:
    """Return the sentence on ties that rounding makes, where they are seen in a p-value.

    Parameters
    ----------
    rounding
        How far values may differ that are equal in exact arithmetic.
    standard_error
        Of the same value; 0 or NaN have no such ties.
    """
    if not rounding > _LEAST_TIE * standard_error > 0.0:
        return ""
    share = 100.0 * rounding / standard_error
    return (
        f"what rounding may be, and counts as a tie, is {share:.2g} % of the standard error: "
        "p-values may be too large; if scores lie far from 0, subtract one number from all first"
    )


def pvalue(
    replicates: NDArray[np.float64],
    observed: float,
    *,
    alternative: str,
    rule: str,
    rounding: float,
    add_one: bool,
    exact: bool = False,
    fewest: float = 0.0,
) -> PValue:
    """Return the p-value of a difference.

    Parameters
    ----------
    replicates
        Shape (n_resamples,); NaN (undefined) is left out of the count and of the total.
    observed
        The observed difference.
    alternative, rule
        See the table of this module.
    rounding
        Replicates this close to the threshold tie with it.
    add_one
        Count the observed difference as one more replicate: (n_extreme + 1) / (n + 1).
    exact
        The replicates are all there are: n_extreme / n.
    fewest
        The smallest p-value the design can give, apart from Monte Carlo.
    """
    defined = replicates[~np.isnan(replicates)]
    n = defined.size
    if n == 0 or math.isnan(observed):
        return PValue(math.nan, 0, math.nan, math.nan, alternative, rule)
    sides = 1
    if rule == "percentile":
        below = int(np.count_nonzero(defined <= rounding))
        above = int(np.count_nonzero(defined >= -rounding))
        n_extreme = {"greater": below, "less": above, "two-sided": min(below, above)}[alternative]
        sides = 2 if alternative == "two-sided" else 1
    else:
        null = defined - observed if rule == "shift" else defined
        # The difference of two rounded values carries the error of both.
        tolerance = 2.0 * rounding
        if alternative == "greater":
            extreme = null >= observed - tolerance
        elif alternative == "less":
            extreme = null <= observed + tolerance
        else:
            extreme = np.abs(null) >= abs(observed) - tolerance
        n_extreme = int(np.count_nonzero(extreme))
    added = int(add_one and not exact)
    p = min(1.0, sides * (n_extreme + added) / (n + added))
    error = 0.0 if exact else math.sqrt(p * (1.0 - p) / n)
    least = min(1.0, max(fewest, sides * added / (n + added)))
    return PValue(p, n_extreme, error, least, alternative, rule)


def check_alpha(alpha: object) -> float:
    """Return the level of a test, or raise TypeError or ValueError."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real):
        raise TypeError(f"`alpha` is {alpha!r}; it must be a number")
    level = float(alpha)
    if not 0.0 < level < 1.0:
        raise ValueError(f"`alpha` is {alpha}; it must lie between 0 and 1, such as 0.05")
    return level


def check_alternative(alternative: object) -> str:
    """Return the word, or raise ValueError."""
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f"`alternative` is {alternative!r}; choose one of {', '.join(ALTERNATIVES)}"
        )
    return str(alternative)
