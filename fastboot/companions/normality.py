"""Whether numbers look normal enough for a t test of their mean."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.companions.differences import SHAPIRO_ROWS, Moments
from fastboot.pvalues import LEAST_PVALUE

__all__ = ["NormalityCheck", "check_normality", "tail_change"]

Floats = NDArray[np.float64]

# Tukey's outer fences: normal data have 2 in a million beyond them.
_FENCES = 3.0


class NormalityCheck(NamedTuple):
    """What the numbers that a t test averages look like.

    Attributes
    ----------
    n
        How many: differences of rows, or sums of groups.
    skewness, excess_kurtosis
        g1 and g2, moments without correction for bias, as in ``scipy.stats.skew`` and `kurtosis`.
        NaN where all are equal.
    test
        "Shapiro-Wilk" up to 5,000 numbers (3 at least), "D'Agostino-Pearson" above; else empty.
    statistic, pvalue
        Of that test of normality: W, or K2. NaN without; p is never 0.
    n_outliers
        Numbers beyond Tukey's (1977) outer fences, three interquartile ranges below the first or
        above the third quartile. None where the quartiles are equal, or the rows were not kept.
    largest_deviation
        Of one number from the mean, in standard deviations.
    """

    n: int
    skewness: float
    excess_kurtosis: float
    test: str
    statistic: float
    pvalue: float
    n_outliers: int | None
    largest_deviation: float


def check_normality(found: Moments, values: Floats | None, *, equal: bool) -> NormalityCheck:
    """Return what numbers look like.

    Parameters
    ----------
    found
        Their moments.
    values
        The numbers; None where there were too many to keep.
    equal
        They vary by rounding only.
    """
    if found.n < 2 or equal:
        nan = math.nan
        return NormalityCheck(found.n, nan, nan, "", nan, nan, None, nan)
    test, statistic, pvalue = "", math.nan, math.nan
    if 3 <= found.n <= SHAPIRO_ROWS and values is not None:
        from scipy.stats import shapiro

        test = "Shapiro-Wilk"
        # Moved to 0 and scaled: the sum of squares of tiny numbers underflows.
        statistic, pvalue = shapiro((values - found.mean) / found.standard_deviation)
    elif found.n > SHAPIRO_ROWS:
        test = "D'Agostino-Pearson"
        statistic, pvalue = _dagostino_pearson(found)
    reach = max(found.high - found.mean, found.mean - found.low)
    return NormalityCheck(
        found.n, found.skewness, found.excess_kurtosis, test, float(statistic),
        max(float(pvalue), LEAST_PVALUE),
        None if values is None else _n_outliers(values), reach / found.standard_deviation,
    )  # fmt: skip


def tail_change(skewness: float, n: int, tail: float) -> float:
    """Return how far skewness moves a tail of the t test, as a share of that tail.

    First-order Edgeworth (Hall 1987; Johnson 1978): P(T <= z) differs from its nominal value by
    skewness (2 z^2 + 1) phi(z) / (6 sqrt(n)). For positive skewness values below -t are too many,
    and those above t too few; in a two-sided test both cancel to this order.
    """
    from scipy.special import ndtri

    z = float(ndtri(tail))
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return abs(skewness) * (2.0 * z * z + 1.0) * density / (6.0 * math.sqrt(n) * tail)


def _n_outliers(values: Floats) -> int | None:
    # As np.quantile with 1/4 and 3/4 but for interpolation: places of whole rows, one partition.
    n = len(values)
    places = (n - 1) // 4, n - 1 - (n - 1) // 4
    parted = np.partition(values, places)
    first, third = parted[places[0]], parted[places[1]]
    reach = _FENCES * (third - first)
    if reach == 0.0:
        return None
    return int(np.count_nonzero(values < first - reach) + np.count_nonzero(values > third + reach))


def _dagostino_pearson(found: Moments) -> tuple[float, float]:
    """Return K2 and its p-value, from moments alone (D'Agostino, Belanger and D'Agostino 1990).

    The skewness is transformed to a normal law by D'Agostino (1970), the kurtosis by Anscombe and
    Glynn (1983).
    """
    n = float(found.n)
    y = found.skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = (
        3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    )  # fmt: skip
    w2 = math.sqrt(2 * (beta - 1)) - 1
    z_skewness = math.asinh(y * math.sqrt((w2 - 1) / 2)) / math.sqrt(0.5 * math.log(w2))
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (found.excess_kurtosis + 6 / (n + 1)) / math.sqrt(variance)
    skew = (
        6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
        * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    )  # fmt: skip
    a = 6 + 8 / skew * (2 / skew + math.sqrt(1 + 4 / skew**2))
    ratio = (1 - 2 / a) / (1 + x * math.sqrt(2 / (a - 4)))
    z_kurtosis = (1 - 2 / (9 * a) - math.copysign(abs(ratio) ** (1 / 3), ratio)) / math.sqrt(
        2 / (9 * a)
    )
    statistic = z_skewness**2 + z_kurtosis**2
    return statistic, math.exp(-0.5 * statistic)  # chi-square with 2 degrees of freedom
