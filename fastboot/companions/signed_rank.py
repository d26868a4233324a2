"""Wilcoxon's signed-rank test: do paired scores differ, by the ranks of their differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Source
from fastboot.companions.companion import Companion, asked_of, load_pairs, pvalue_words, tied
from fastboot.intervals import ConfidenceInterval, check_level, tails_of
from fastboot.pvalues import LEAST_PVALUE, check_alternative
from fastboot.rendering import count, short

__all__ = ["SignedRankResult", "signed_rank_test"]

ZERO_METHODS = ("wilcox", "pratt", "zsplit")
# As in SciPy. The law of 50 ranks has integer weights up to 2**50, exact in float64.
_MOST_EXACT = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SignedRankResult(Companion):
    """Answer of :func:`fastboot.signed_rank_test`.

    Attributes
    ----------
    estimate
        Pseudomedian of a - b (Hodges and Lehmann 1963): the median of the averages of all pairs of
        differences, each with itself too.
    confidence_interval
        Distribution-free, of the pseudomedian.
    pvalue
        Of the test. NaN where undefined.
    r_plus, r_minus
        Sums of the ranks of the differences above and below 0.
    rank_biserial
        (r_plus - r_minus) / (r_plus + r_minus), from -1 to 1 (Kerby 2014). NaN where all
        differences are 0.
    n_zero
        Differences of 0.
    zero_method
        What was done with them.
    exact
        Whether the p-value comes from all signs of the ranks, or from their normal limit.
    alternative
        "two-sided", "greater" or "less". Also the sides of the interval.
    n_rows
        Pairs used.
    n_dropped
        Rows dropped for a missing value (``nan_policy="omit"``).
    """

    r_plus: float
    r_minus: float
    rank_biserial: float
    n_zero: int
    zero_method: str
    exact: bool

    _procedure = "signed_rank_test"

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        notes = [self.confidence_interval.note] if self.confidence_interval.note else []
        if self.n_zero == self.n_rows:
            notes.append("all differences are 0: the data say nothing about their sign")
        return tuple(notes)

    def summary(self) -> str:
        """Return a sentence for a paper."""
        zeros = f", {self.n_zero:,} of them 0 ({self.zero_method})" if self.n_zero else ""
        law = "exact" if self.exact else "normal approximation"
        return (
            f"Hodges-Lehmann estimate of a - b {self._shown}, "
            f"{self._interval_shown}; Wilcoxon signed-rank test ({law}), "
            f"W+ = {short(self.r_plus)}, {pvalue_words(self.pvalue, self.alternative)}, "
            f"rank-biserial correlation {short(self.rank_biserial)} "
            f"({count(self.n_rows, 'pair')}{zeros})."
        )

    def _test_parts(self) -> dict[str, Any]:
        return {"exact": self.exact, "zero_method": self.zero_method}


def signed_rank_test(
    a: Source,
    b: Source,
    *,
    data: object = None,
    zero_method: str = "wilcox",
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    nan_policy: str = "raise",
) -> SignedRankResult:
    """Test whether paired differences are symmetric about 0, by their signed ranks (Wilcoxon 1945).

    Not a test of means, nor of medians unless the differences are symmetric about theirs. The
    p-value is exact for up to 50 differences other than 0, with ties too; beyond, SciPy's normal
    approximation, corrected for ties. Differences that only rounding sets apart are ties
    (0.3 - 0.2 and 0.2 - 0.1).

    Pairs are taken to be independent. Where they come in groups, use
    :func:`approximate_randomization` with ``groups=``.

    Parameters
    ----------
    a, b
        Column name or array of shape (n_rows,): the scores of both systems.
    data
        The table, as in :func:`bootstrap`.
    zero_method
        What to do with differences of 0: "wilcox" leaves them out; "pratt" ranks them and then
        leaves them out (Pratt 1959), which suits scores on few levels better; "zsplit" gives half
        of their ranks to either sign.
    confidence_level
        Of the interval between two averages of pairs of differences, zeros included (Hollander,
        Wolfe and Chicken 2014, section 3.3): it covers at least this (beyond 50 pairs about this),
        and more with ties. Infinite on both sides where the pairs are too few for it.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    nan_policy
        As in :func:`bootstrap`; with "propagate" a NaN makes all of the answer NaN.

    Returns
    -------
    SignedRankResult
        `pvalue` is 1 where all differences are 0.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`; or `zero_method` is unknown.

    Examples
    --------
    Heights of cross- and self-fertilized plants, in eighths of an inch (Darwin 1876).

    >>> from fastboot.companions.signed_rank import signed_rank_test
    >>> differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> result = signed_rank_test(differences, [0] * 15)
    >>> result.r_plus, result.r_minus, round(result.pvalue, 5)
    (96.0, 24.0, 0.04126)
    >>> result.estimate, result.confidence_interval[:2]
    (25.0, (4.0, 41.5))
    >>> result.signature().split("|")[-3:]
    ['exact:True', 'zero_method:wilcox', 'n_rows:15']
    """
    level, sides = check_level(confidence_level), check_alternative(alternative)
    if zero_method not in ZERO_METHODS:
        raise ValueError(
            f"`zero_method` is {zero_method!r}; choose one of {', '.join(ZERO_METHODS)}"
        )
    first, second, n_dropped = load_pairs(a, b, data, nan_policy)
    nan = math.nan
    if np.isnan(first).any() or np.isnan(second).any():
        n_zero, r_plus, r_minus, pvalue, exact, estimate = 0, nan, nan, nan, False, nan
        interval = ConfidenceInterval(nan, nan, level, "signed-rank")
    else:
        differences = np.sort(tied(first, second))
        differences.flags.writeable = False
        n_zero = int(np.count_nonzero(differences == 0.0))
        r_plus, r_minus = _rank_sums(differences, zero_method)
        pvalue, exact = _pvalue(differences, zero_method, sides)
        estimate, interval = _hodges_lehmann(differences, level, sides)
    return SignedRankResult(
        estimate=estimate,
        confidence_interval=interval,
        pvalue=pvalue,
        r_plus=r_plus,
        r_minus=r_minus,
        rank_biserial=(r_plus - r_minus) / (r_plus + r_minus) if r_plus + r_minus else nan,
        n_zero=n_zero,
        zero_method=zero_method,
        exact=exact,
        alternative=sides,
        n_rows=first.size,
        n_dropped=n_dropped,
        asked=asked_of(a=a, b=b),
    )


def _rank_sums(differences: Floats, zero_method: str) -> tuple[float, float]:
    """Sums of the ranks of the positive and of the negative differences, sorted.

    Of those other than 0 the former is the number of pairs i <= j with a sum above 0, ties half
    (Tukey 1949).
    """
    n_negative = int(np.searchsorted(differences, 0.0, side="left"))
    n_zero = int(np.searchsorted(differences, 0.0, side="right")) - n_negative
    signed = np.delete(differences, slice(n_negative, n_negative + n_zero))
    signed.flags.writeable = False
    n = signed.size
    below = _count(signed, -math.ulp(0.0))
    level = _count(signed, 0.0) - below
    r_minus = below + level / 2.0
    r_plus = n * (n + 1) / 2.0 - r_minus
    if zero_method == "wilcox":
        return r_plus, r_minus
    # The ranks of the zeros lie below all others.
    halves = n_zero * (n_zero + 1) / 4.0 if zero_method == "zsplit" else 0.0
    return r_plus + n_zero * (n - n_negative) + halves, r_minus + n_zero * n_negative + halves


def _pvalue(differences: Floats, zero_method: str, sides: str) -> tuple[float, bool]:
    """p-value, and whether it is exact: given the sizes of the differences, all signs alike."""
    from scipy import stats

    signed = differences[differences != 0.0]
    if signed.size > _MOST_EXACT:
        found = stats.wilcoxon(differences, zero_method=zero_method, alternative=sides)
        return max(float(found.pvalue), LEAST_PVALUE), False
    below = 0 if zero_method == "wilcox" else differences.size - signed.size
    # Ranks of ties end in one half.
    doubled = np.rint(2.0 * (stats.rankdata(np.abs(signed)) + below)).astype(np.int64)
    law = _law(doubled)
    observed = int(doubled[signed > 0.0].sum())
    greater, less = float(law[observed:].sum()), float(law[: observed + 1].sum())
    pvalues = {"greater": greater, "less": less, "two-sided": min(1.0, 2.0 * min(greater, less))}
    return pvalues[sides], True


def _law(ranks: NDArray[np.int64]) -> Floats:
    """Probabilities of each sum of ranks that all get a random sign, those above 0 counted."""
    law = np.ones(1)
    for rank in ranks:
        grown = np.zeros(law.size + rank)
        grown[: law.size] = law
        grown[rank:] += law
        law = grown / 2.0
    return law


def _hodges_lehmann(
    differences: Floats, level: float, sides: str
) -> tuple[float, ConfidenceInterval]:
    """Median of the Walsh averages of sorted differences, and its distribution-free interval."""
    n = differences.size
    n_pairs = n * (n + 1) // 2
    middle = (_average(differences, (n_pairs + 1) // 2), _average(differences, n_pairs // 2 + 1))
    estimate = middle[0] if middle[0] == middle[1] else (middle[0] + middle[1]) / 2.0
    rank = _limit_rank(n, tails_of(level, sides)[0])
    low, high, note = -math.inf, math.inf, ""
    if rank == 0:
        note = f"{count(n, 'pair')} cannot give an interval of this level; it is infinite"
    else:
        if sides != "less":
            low = _average(differences, rank)
        if sides != "greater":
            high = _average(differences, n_pairs + 1 - rank)
    return estimate, ConfidenceInterval(low, high, level, "signed-rank", note)


def _limit_rank(n: int, tail: float) -> int:
    """Rank of the lower limit among the averages: the largest k with P(W+ < k) <= tail."""
    if n <= _MOST_EXACT:
        cumulated = np.cumsum(_law(np.arange(1, n + 1)))
        return int(np.searchsorted(cumulated, tail, side="right"))
    from scipy.special import ndtri

    mean, variance = n * (n + 1) / 4.0, n * (n + 1) * (2 * n + 1) / 24.0
    return int(mean + float(ndtri(tail)) * math.sqrt(variance))


def _average(differences: Floats, rank: int) -> float:
    """Return the average of two differences (or one) that has a rank, from 1, among all such.

    Exact: to the last bit that of all n (n + 1) / 2 averages sorted. Sums are counted up to a limit
    that interpolation says, on the far side of the rank by half of what is sorted in the end, and
    every third time bisection of the floats: a million differences need 5 to 15 passes, and at most
    3 x 64 whatever they are.
    """
    from fastboot.kernels.walsh import count_pair_sums, fill_pair_sums

    n, around = differences.size, np.empty(2)
    # The rank is among the sums from low to high; below it are those before low.
    low, high = 2.0 * float(differences[0]), 2.0 * float(differences[-1])
    below, upto, turn = 0, n * (n + 1) // 2, 0
    while low < high:
        if upto - below <= n:
            sums = np.empty(upto - below)
            fill_pair_sums(differences, low, high, sums)
            place = rank - below - 1
            return float(np.partition(sums, place)[place]) / 2.0
        turn += 1
        if turn % 3 == 0:
            limit = _float((_place(low) + _place(high)) // 2)
        else:
            reach = n / 4.0 if rank - below < upto - rank else -n / 4.0
            limit = low + (rank - below + reach) / (upto - below) * (high - low)
        limit = min(max(limit, low), math.nextafter(high, low))
        counted = int(count_pair_sums(differences, limit, around))
        if counted >= rank:
            high, upto = float(around[0]), counted
        else:
            low, below = float(around[1]), counted
    return low / 2.0


def _count(differences: Floats, limit: float) -> int:
    from fastboot.kernels.walsh import count_pair_sums

    return int(count_pair_sums(differences, limit, np.empty(2)))


def _place(value: float) -> int:
    """Place of a float among all floats in order; 0 is at 0."""
    bits = int(np.float64(abs(value)).view(np.int64))
    return bits if value >= 0.0 else -bits


def _float(place: int) -> float:
    """Float at a place."""
    return math.copysign(float(np.int64(abs(place)).view(np.float64)), place)
