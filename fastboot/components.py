"""Which of two crossed factors the uncertainty comes from."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.rendering import short

__all__ = ["Components", "components"]

Floats = NDArray[np.float64]


class Components(NamedTuple):
    """Variance of an estimate by source, in squared units of the statistic.

    Attributes
    ----------
    first, second
        Of the levels of each factor: falls with their number.
    interaction
        Of each pair of levels, and of all that differs within a pair: falls with both.

    A factor with one level shows neither its own part nor that of the pairs: both are NaN, and the
    other factor's has the pairs in it.
    """

    first: float
    second: float
    interaction: float

    def sentence(self, names: tuple[str, str]) -> str:
        """Say which factor contributes how much, and of which more levels would help.

        Nothing where that is not known.
        """
        total = sum(self)
        if math.isnan(self.first) != math.isnan(self.second):
            varied, lone = names if math.isnan(self.second) else names[::-1]
            return (
                f"there is one level of {lone}: how much of the variance comes from it cannot be "
                f"told, and the standard error is that of {varied} alone"
            )
        if math.isnan(total):
            return ""
        if not total > 0.0:
            return "the replicates do not vary with the levels of either factor"
        shares = [f"{100.0 * part / total:.0f} %" for part in self]
        # Twice the levels of a factor halve its own part and that of the pairs.
        left = [np.sqrt(total - 0.5 * (part + self.interaction)) for part in self[:2]]
        more = names[int(left[1] < left[0])]
        return (
            f"of the variance {shares[0]} comes from {names[0]}, {shares[1]} from {names[1]}, "
            f"{shares[2]} from their pairs; twice as many levels of {more} would bring the "
            f"standard error from {short(np.sqrt(total))} to {short(min(left))}"
        )


def components(
    both: Floats, first: Floats, second: Floats, *, n_levels: tuple[int, int] = (2, 2)
) -> Components:
    """Split the variance of replicates.

    With I and J levels and variances a, b and e of the levels and of their pairs, drawing the first
    factor alone gives a / I + e / (IJ), the second alone b / J + e / (IJ), and both give
    a / I + b / J + 3 e / (IJ), nearly (Owen 2007, theorem 3; exact for means of complete tables up
    to 1 / I and 1 / J): three equations for three unknowns.

    Parameters
    ----------
    both, first, second
        Shape (n_resamples,): replicates with both factors drawn, or one alone. NaN is left out.
    n_levels
        Of the factors: more than one of each, or there is nothing to split.

    Returns
    -------
    Components
        Parts that would be negative are 0. NaN with fewer than two replicates.
    """
    if 1 in n_levels:
        varied = _variance(both)
        own_first, own_second = (math.nan if n == 1 else varied for n in n_levels)
        return Components(own_first, own_second, math.nan)
    whole, one, other = (_variance(values) for values in (both, first, second))
    pairs = np.maximum(0.0, whole - one - other)
    parts = np.maximum(0.0, one - pairs), np.maximum(0.0, other - pairs), pairs
    return Components(*map(float, parts))


def _variance(values: Floats) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.var(ddof=1)) if defined.size > 1 else math.nan
