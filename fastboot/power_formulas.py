"""Half-widths of intervals and powers of tests from formulas: numbers in, numbers out.

A tail is the probability of error on one side: alpha / 2 of a two-sided test. Clusters count by
their design effect (Kish 1965): the variance of a mean of clusters of m items is 1 + (m - 1) icc
times that of independent items, so n items are worth n / (1 + (m - 1) icc).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from fastboot.pvalues import check_alpha, check_alternative

__all__ = [
    "MOST",
    "POWER",
    "check_alpha_and_power",
    "connor_power",
    "design_effect",
    "detectable",
    "mean_half_width",
    "minimum_detectable_effect",
    "paired_t_power",
    "proportion_half_width",
    "smallest",
    "tail_of",
]

# The customary one (Cohen 1988, "Statistical power analysis for the behavioral sciences", 2.4).
POWER = 0.8
# Beyond, a plan is a mistake in the units.
MOST = 2**40


def tail_of(alpha: float, alternative: str) -> float:
    """Return the probability of error on one side."""
    return alpha / 2.0 if alternative == "two-sided" else alpha


def design_effect(cluster_size: float, icc: float) -> float:
    """Return 1 + (m - 1) icc, the variance of a mean of clusters over that of items alone."""
    return 1.0 + (cluster_size - 1.0) * icc


def proportion_half_width(n: float, proportion: float, tail: float, method: str) -> float:
    """Half the width of an interval of a proportion, "normal" (Wald) or "wilson" (Wilson 1927)."""
    from scipy.special import ndtri

    z = -float(ndtri(tail))
    variance = proportion * (1.0 - proportion) / n
    if method == "normal":
        return z * math.sqrt(variance)
    return z * math.sqrt(variance + (z / (2.0 * n)) ** 2) / (1.0 + z * z / n)


def mean_half_width(
    n: float, std: float, tail: float, degrees_of_freedom: float = math.inf
) -> float:
    """Half the width of Student's interval of a mean; of the normal one for infinite degrees."""
    from scipy.special import ndtri, stdtrit

    infinite = math.isinf(degrees_of_freedom)
    quantile = ndtri(tail) if infinite else stdtrit(degrees_of_freedom, tail)
    return -float(quantile) * std / math.sqrt(n)


def paired_t_power(
    n: float, effect_size: float, degrees_of_freedom: float, alpha: float, alternative: str
) -> float:
    """Power of the paired t-test: t is noncentral, with centre effect_size x sqrt(n).

    effect_size : mean / standard deviation of the differences
    """
    from scipy.stats import nct, t

    critical = t.isf(tail_of(alpha, alternative), degrees_of_freedom)
    centre = effect_size * math.sqrt(n)
    above = nct.sf(critical, degrees_of_freedom, centre) if alternative != "less" else 0.0
    # By symmetry; SciPy's lower tail loses its digits where it is small.
    below = nct.sf(critical, degrees_of_freedom, -centre) if alternative != "greater" else 0.0
    return float(above + below)


def connor_power(
    n: float, effect: float, discordance: float, alpha: float, alternative: str
) -> float:
    """Power of McNemar's test by the normal approximation of Connor (1987).

    Solved for n: (z_tail sqrt(discordance) + z_power sqrt(discordance - effect^2))^2 / effect^2.
    """
    from scipy.special import ndtr, ndtri

    towards = {"two-sided": abs(effect), "greater": effect, "less": -effect}[alternative]
    reach = towards * math.sqrt(n) + ndtri(tail_of(alpha, alternative)) * math.sqrt(discordance)
    spread = math.sqrt(max(0.0, discordance - effect * effect))
    # Without spread all pairs favour one system.
    return float(ndtr(reach / spread)) if spread > 0.0 else float(reach > 0.0)


def smallest(reached: Callable[[int], bool]) -> int | None:
    """Return the smallest number that reaches a goal, None beyond 2**40.

    Parameters
    ----------
    reached
        Whether a number reaches it. Once reached, it is reached by all larger numbers; else the
        first in some wave is returned.
    """
    high = 1
    while not reached(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def minimum_detectable_effect(
    standard_error: Any,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: str = "two-sided",
) -> float:
    """Return the smallest true effect that such data would probably show.

    (z_tail + z_power) x standard error (Bloom 1995): 2.80 standard errors for a two-sided test at
    0.05 with power 0.8. For estimates that are about normal. It belongs to the data's size and
    spread and not to the observed effect: power at the observed effect says no more than p does
    (Hoenig and Heisey 2001).

    Parameters
    ----------
    standard_error
        Of the difference, 0 or more, or a result that has one.
    alpha
        Level of the test.
    power
        Probability of a significant result that is asked for.
    alternative
        "two-sided", "greater" or "less".

    Returns
    -------
    float
        A distance from 0, whatever the side. NaN where no spread was seen and so nothing can be
        said: the standard error is 0 or NaN, or all replicates of the result are equal. (0 would
        read as if every effect were detectable.) So it is in ``fb.compare(...).pairs``.

    Raises
    ------
    TypeError
        What has no standard error, or is no number.
    ValueError
        A number is out of range, or the word is unknown.

    Examples
    --------
    >>> round(minimum_detectable_effect(0.01), 4)
    0.028
    """
    from scipy.special import ndtri

    error = getattr(standard_error, "standard_error", standard_error)
    if isinstance(error, bool) or not isinstance(error, Real):
        raise TypeError(
            f"`standard_error` is {standard_error!r}; give a number, or a result that has one"
        )
    if float(error) < 0.0:
        raise ValueError(f"`standard_error` is {error}; it must be 0 or more")
    check_alpha_and_power(alpha, power)
    tail = tail_of(alpha, check_alternative(alternative))
    # Equal replicates may differ by rounding, so their standard error need not be 0.
    if float(error) == 0.0 or getattr(standard_error, "degenerate", False):
        return math.nan
    return float((ndtri(power) - ndtri(tail)) * float(error))


def detectable(standard_error: Any, confidence_level: float, alternative: str) -> float:
    """Return the effect that is detectable at 1 - confidence_level; NaN if that is 0.8 or more.

    A test reaches the power of 0.8 then without any effect.
    """
    alpha = 1.0 - confidence_level
    if alpha >= POWER:
        return math.nan
    return minimum_detectable_effect(
        standard_error, alpha=alpha, power=POWER, alternative=alternative
    )


def check_alpha_and_power(alpha: Any, power: Any) -> None:
    """Raise TypeError or ValueError unless 0 < alpha < power < 1."""
    check_alpha(alpha)
    if isinstance(power, bool) or not isinstance(power, Real):
        raise TypeError(f"`power` is {power!r}; it must be a number")
    if not alpha < power < 1.0:
        raise ValueError(
            f"`power` is {power}; it must lie between `alpha`, {alpha}, and 1, such as 0.8"
        )
