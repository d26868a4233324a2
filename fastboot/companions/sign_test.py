"""The sign test: how often is a above b, whatever by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Source
from fastboot.companions.companion import (
    Companion,
    asked_of,
    load_pairs,
    pvalue_words,
    subtracted,
)
from fastboot.intervals import ConfidenceInterval, check_level, tails_of
from fastboot.precision import reach
from fastboot.pvalues import LEAST_PVALUE, check_alternative
from fastboot.rendering import count

__all__ = ["SignTestResult", "sign_test"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SignTestResult(Companion):
    """Answer of :func:`fastboot.sign_test`.

    Attributes
    ----------
    estimate
        Median of a - b.
    confidence_interval
        Distribution-free, of the median.
    pvalue
        Of the test. NaN where undefined.
    n_above, n_zero, n_below
        Differences above, at and below 0.
    alternative
        "two-sided", "greater" or "less". Also the sides of the interval.
    n_rows
        Pairs used.
    n_dropped
        Rows dropped for a missing value (``nan_policy="omit"``).
    """

    n_above: int
    n_zero: int
    n_below: int

    _procedure = "sign_test"

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        notes = [self.confidence_interval.note] if self.confidence_interval.note else []
        if self.n_zero == self.n_rows:
            notes.append("all differences are 0: the data say nothing about their sign")
        return tuple(notes)

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return (
            f"a is above b in {self.n_above:,}, equal in {self.n_zero:,} and below in "
            f"{self.n_below:,} of {count(self.n_rows, 'pair')}; sign test, "
            f"{pvalue_words(self.pvalue, self.alternative)}; median of a - b "
            f"{self._shown}, {self._interval_shown}."
        )

    def _test_parts(self) -> dict[str, Any]:
        return {"exact": True, "zeros": "left out"}


def sign_test(
    a: Source,
    b: Source,
    *,
    data: object = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    nan_policy: str = "raise",
) -> SignTestResult:
    """Test whether a is above b as often as below, by the binomial law of the signs.

    Assumes nothing about the differences but that pairs are independent. Differences of 0 (or that
    rounding alone makes other than 0) say nothing and are left out.

    Parameters
    ----------
    a, b
        Column name or array of shape (n_rows,): the scores of both systems.
    data
        The table, as in :func:`bootstrap`.
    confidence_level
        Of the interval between two of the differences, zeros included (Thompson 1936): it covers at
        least this, whatever their distribution. Infinite where the pairs are too few for it.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    nan_policy
        As in :func:`bootstrap`; with "propagate" a NaN makes estimate, interval and p-value NaN.

    Returns
    -------
    SignTestResult
        `pvalue` is 1 where all differences are 0.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`.

    Examples
    --------
    Heights of cross- and self-fertilized plants, in eighths of an inch (Darwin 1876).

    >>> from fastboot.companions.sign_test import sign_test
    >>> differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> result = sign_test(differences, [0] * 15)
    >>> result.n_above, result.n_below, round(result.pvalue, 6)
    (13, 2, 0.007385)
    >>> result.estimate, result.confidence_interval[:2]
    (24.0, (8.0, 49.0))
    >>> result.signature().split("|")[-3:]
    ['exact:True', 'zeros:left out', 'n_rows:15']
    """
    level, sides = check_level(confidence_level), check_alternative(alternative)
    first, second, n_dropped = load_pairs(a, b, data, nan_policy)
    defined = not (np.isnan(first).any() or np.isnan(second).any())
    differences = subtracted(first, second)
    if defined:
        differences[np.abs(differences) <= reach(first, second)] = 0.0
    above, below = (int(np.count_nonzero(one)) for one in (differences > 0.0, differences < 0.0))
    if defined:
        estimate, interval = _median(differences, level, sides)
    else:
        estimate, interval = math.nan, ConfidenceInterval(math.nan, math.nan, level, "sign")
    return SignTestResult(
        estimate=estimate,
        confidence_interval=interval,
        pvalue=_pvalue(above, below, sides) if defined else math.nan,
        n_above=above,
        n_zero=int(np.count_nonzero(differences == 0.0)),
        n_below=below,
        alternative=sides,
        n_rows=differences.size,
        n_dropped=n_dropped,
        asked=asked_of(a=a, b=b),
    )


def _pvalue(above: int, below: int, sides: str) -> float:
    from scipy.stats import binomtest

    n = above + below
    found = float(binomtest(above, n, 0.5, alternative=sides).pvalue) if n else 1.0
    return max(found, LEAST_PVALUE)


def _median(
    differences: NDArray[np.float64], level: float, sides: str
) -> tuple[float, ConfidenceInterval]:
    """Median, and the interval between the k-th smallest and the k-th largest difference.

    k is the largest with P(binomial(n, 1/2) < k) <= the tail.
    """
    from scipy.stats import binom

    n = differences.size
    k = int(binom.ppf(tails_of(level, sides)[0], n, 0.5))
    low, high, note = -math.inf, math.inf, ""
    middle = (n - 1) // 2, n // 2
    places = sorted({*middle, *((k - 1, n - k) if k else ())})
    ordered = np.partition(differences, places)
    if k == 0:
        note = f"{count(n, 'pair')} cannot give an interval of this level; it is infinite"
    else:
        if sides != "less":
            low = float(ordered[k - 1])
        if sides != "greater":
            high = float(ordered[n - k])
    estimate = float(ordered[middle[0]] + ordered[middle[1]]) / 2.0
    return estimate, ConfidenceInterval(low, high, level, "sign", note)
