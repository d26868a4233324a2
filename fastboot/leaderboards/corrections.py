"""Many comparisons at once: adjusted p-values, and intervals that hold together.

==============  ==================================================================================
method          controls, and how
==============  ==================================================================================
"bonferroni"    any false rejection (family-wise error): m p
"holm"          the same, and never larger: step-down, (m - i + 1) p_(i) (Holm 1979)
"fdr_bh"        the share of false rejections (false discovery rate), of comparisons that are
                independent or positively dependent (Benjamini and Hochberg 1995)
"fdr_by"        the same under any dependence (Benjamini and Yekutieli 2001)
max-T           any false rejection, from the joint resamples: knows how comparisons depend on each
                other (Westfall and Young 1993; Romano and Wolf 2005)
==============  ==================================================================================

An adjusted p-value is the smallest level at which its comparison is rejected. Comparisons without a
p-value (NaN) stay so and do not belong to the family.

Joint replicates are read row by row, so all pairs of S systems take memory for S rows and not for
S^2 (`Pairs`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastboot.intervals import check_level, standard_error, standard_errors
from fastboot.plain import array_of, with_nan
from fastboot.pvalues import check_alternative

__all__ = [
    "CORRECTIONS",
    "Pairs",
    "Rows",
    "SimultaneousIntervals",
    "adjust_pvalues",
    "check_correction",
    "max_t",
    "simultaneous_intervals",
    "studentized",
]

CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "fdr_by")
# How far 1 - confidence_level may lie from the level that is meant: 1 - 0.9 is less than 0.1.
LEVEL_ROUNDING = float(np.finfo(np.float64).eps)
# Standard errors up to this share of the rounding are rounding errors. A chain of h additions errs
# by sqrt(h) units in standard deviation at most, and `fastboot.jackknife.rounding` allows
# min(h, 8 sqrt(h)) + 4 units, at least four times as much.
_NOISE = 0.25
# Differences of replicates that are held at a time.
_CELLS = 8_192

Floats = NDArray[np.float64]


class Rows(Protocol):
    """Joint replicates of m comparisons, row by row: an array of shape (m, n_replicates) will do.

    The replicates of one column come from the same resample, and lie around 0, the null hypothesis.
    """

    def __getitem__(self, index: int, /) -> Floats: ...


class Pairs:
    """Differences between systems, with bootstrap replicates that are computed when asked for.

    Parameters
    ----------
    values
        Shape (n_systems,).
    replicates
        Shape (n_systems, n_replicates), of the same resamples.
    rounding
        How far values may differ that are equal in exact arithmetic; one, or shape (n_systems,).
    first, second
        Systems of each pair, shape (n_pairs,) int64; all pairs s < t where None.

    Attributes
    ----------
    first, second
        As above.
    estimates
        Value of the first less that of the second, shape (n_pairs,).
    standard_errors
        Standard deviations (ddof = 1) of the defined differences of replicates, shape (n_pairs,).
    rounding
        Shape (n_pairs,).
    """

    def __init__(
        self,
        values: Floats,
        replicates: Floats,
        *,
        rounding: float | Floats = 0.0,
        first: NDArray[np.int64] | None = None,
        second: NDArray[np.int64] | None = None,
    ) -> None:
        if first is None or second is None:
            first, second = np.triu_indices(len(values), 1)
        self.first, self.second = first, second
        self._replicates = replicates
        self.estimates: Floats = values[first] - values[second]
        each = np.broadcast_to(np.asarray(rounding, dtype=np.float64), values.shape)
        self.rounding: Floats = each[first] + each[second]
        self.standard_errors: Floats = np.empty(len(first))
        # Many at a time where they are short: most time would go to calls.
        at_a_time = max(1, _CELLS // max(1, replicates.shape[1]))
        for start in range(0, len(first), at_a_time):
            block = slice(start, start + at_a_time)
            rows = replicates[first[block]] - replicates[second[block]]
            self.standard_errors[block] = (
                [standard_error(row[~np.isnan(row)]) for row in rows]
                if np.isnan(rows).any()
                else standard_errors(rows)
            )

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, index: int, /) -> Floats:
        """Return the replicates of a pair, moved to the null hypothesis: d* - d."""
        moved: Floats = self._difference(index) - self.estimates[index]
        return moved

    def _difference(self, index: int) -> Floats:
        row: Floats = self._replicates[self.first[index]] - self._replicates[self.second[index]]
        return row


class SimultaneousIntervals(NamedTuple):
    """Intervals that hold all together with the given confidence.

    Attributes
    ----------
    low, high
        Limits, shape (m,); infinite on the open side, NaN where a comparison is undefined.
    critical_value
        Standard errors from the estimate to a limit; infinite where there are too few replicates
        for the level.
    """

    low: Floats
    high: Floats
    critical_value: float


def adjust_pvalues(pvalues: ArrayLike | Sequence[float], method: str = "holm") -> Floats:
    """Return p-values adjusted for their number, in the given order.

    With m p-values, p_(1) <= ... <= p_(m):

    - "bonferroni": m p.
    - "holm": the largest (m - j + 1) p_(j) among j <= i (Holm 1979).
    - "fdr_bh": the smallest m p_(j) / j among j >= i (Benjamini and Hochberg 1995).
    - "fdr_by": that, times 1 + 1/2 + ... + 1/m (Benjamini and Yekutieli 2001).

    None is above 1. Equal adjusted values of unequal p-values are right: where a comparison is not
    rejected, none with a larger p-value is.

    Parameters
    ----------
    pvalues
        Shape (m,), between 0 and 1. NaN (undefined) stays NaN and does not count; what is masked
        or None becomes NaN.
    method
        "holm" and "bonferroni" control the probability of any false rejection, under any
        dependence; "fdr_bh" and "fdr_by" the expected share of rejections that are false, "fdr_bh"
        where comparisons are independent or positively dependent. All pairs of systems are not
        covered by that proof.

    Returns
    -------
    NDArray
        Shape (m,), float64.

    Raises
    ------
    TypeError
        They are no sequence, or one is no number.
    ValueError
        A p-value is not between 0 and 1, they are not one-dimensional, or the word is unknown.

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.03, 0.005], "holm").round(6).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    word = check_correction(method)
    given = _numbers(pvalues)
    outside = np.flatnonzero((given < 0.0) | (given > 1.0))
    if outside.size:
        raise ValueError(
            f"`pvalues` has {outside.size:,} outside 0 to 1 (first {given[outside[0]]} at "
            f"{outside[0]:,}); give p-values"
        )
    adjusted = given.copy()
    family = ~np.isnan(given)
    adjusted[family] = _adjust(given[family], word)
    return adjusted


def _numbers(pvalues: Any) -> Floats:
    """Return one family of p-values as float64, NaN where there is none."""
    is_unordered = isinstance(pvalues, Mapping | AbstractSet)
    if is_unordered or isinstance(pvalues, str | bytes) or not hasattr(pvalues, "__len__"):
        raise TypeError(
            f"`pvalues` is a {type(pvalues).__name__}; give a sequence of p-values, one family"
        )
    try:
        array = array_of(pvalues)
    except ValueError as error:
        raise ValueError(
            "`pvalues` has lists of different lengths; give one list of p-values, one family"
        ) from error
    if array.ndim != 1:
        raise ValueError(
            f"`pvalues` has {array.ndim} dimensions; give one list of p-values, one family"
        )
    # A truth value beside numbers in a list would become a number.
    is_list = isinstance(pvalues, list | tuple)
    if is_list or array.dtype.kind not in "iuf":
        for place, value in enumerate(pvalues if is_list else array.tolist()):
            if value is None or value is np.ma.masked:
                continue
            if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
                raise TypeError(f"`pvalues` has {value!r} at {place:,}; give p-values")
    return np.asarray(with_nan(array), dtype=np.float64)


def _adjust(family: Floats, method: str) -> Floats:
    n = family.size
    if method == "bonferroni":
        return np.minimum(n * family, 1.0)
    adjusted: Floats
    if method == "holm":
        order = np.argsort(family)
        steps = np.maximum.accumulate(np.arange(n, 0, -1) * family[order])
        adjusted = np.empty(n)
        adjusted[order] = np.minimum(steps, 1.0)
    else:
        from scipy.stats import false_discovery_control

        adjusted = false_discovery_control(family, method=method.removeprefix("fdr_"))
    return adjusted


def check_correction(method: object) -> str:
    """Return the word, or raise ValueError."""
    if method not in CORRECTIONS:
        raise ValueError(f"`method` is {method!r}; choose one of {', '.join(CORRECTIONS)}")
    return str(method)


def max_t(
    estimates: Floats,
    replicates: Rows,
    standard_errors: Floats,
    *,
    alternative: str = "two-sided",
    step_down: bool = True,
    rounding: float | Floats = 0.0,
    add_one: bool = True,
) -> Floats:
    """Return adjusted p-values by the largest of the studentized replicates of all comparisons.

    The family-wise error is controlled where the replicates have the joint law of the estimates
    under the null hypothesis: exactly for permutations that leave it unchanged, for the bootstrap
    as samples grow. In single step a comparison is adjusted by the maximum over all; step-down,
    which rejects at least as much, by that over those with no larger statistic than its own
    (Westfall and Young 1993, chapter 2; Romano and Wolf 2005). Both reject the largest or nothing.
    Step-down needs replicates in which comparisons that hold keep their joint law whether the
    others hold or not: those of a bootstrap moved to the null, or of swaps within each pair. If
    outputs of all systems are permuted, as for a randomized Tukey HSD, they have it only where all
    hold: there use ``step_down=False``.

    Parameters
    ----------
    estimates
        Observed differences, shape (m,). NaN (undefined) has no p-value and does not count.
    replicates
        m rows of shape (n_replicates,), around 0: d* - d of a bootstrap, or replicates under the
        null. A replicate with NaN in a comparison is left out, of count and total, wherever the
        maximum includes that comparison, as :func:`fastboot.pvalues.pvalue` leaves it out: to take
        the maximum over fewer comparisons would make p-values too small. A comparison without any
        defined replicate is undefined.
    standard_errors
        Shape (m,); the same divide estimates and replicates. 0, or up to a quarter of `rounding`:
        the comparison does not vary; its differences count as 0 or as infinite.
    alternative
        "two-sided", "greater" or "less".
    step_down
        False for single step.
    rounding
        How far differences may lie off their exact value; one, or shape (m,). Ties count; they are
        recognised up to the rounding of both sides.
    add_one
        (count + 1) / (n + 1); False for all permutations, count / n.

    Returns
    -------
    NDArray
        Shape (m,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((1, 999))
    >>> once = max_t(np.array([2.0]), noise, np.ones(1))
    >>> twice = max_t(np.array([2.0, 2.0]), np.vstack([noise, noise]), np.ones(2))
    >>> float(once[0]), twice.tolist()  # the same comparison again costs nothing
    (0.038, [0.038, 0.038])
    """
    side = check_alternative(alternative)
    errors, off = _aligned(standard_errors, estimates), _aligned(rounding, estimates)
    statistics = _sided(studentized(estimates, errors, off), side)
    slack = _slack(errors, off)
    defined = _family(statistics, replicates)
    largest = np.full(replicates[0].shape if len(estimates) else 0, -np.inf)
    adjusted = np.full(len(estimates), np.nan)

    def include(members: NDArray[np.int64]) -> None:
        for row in members:
            scores = _sided(studentized(replicates[int(row)], errors[row], off[row]), side)
            np.maximum(largest, scores + slack[row], out=largest)  # keeps NaN

    if not step_down:
        include(defined)
    # From the smallest statistic on, the maximum over all that are no larger only grows.
    for statistic in np.unique(statistics[defined]):
        equal = defined[statistics[defined] == statistic]
        if step_down:
            include(equal)
        n = np.count_nonzero(~np.isnan(largest))
        for row in equal:
            count = np.count_nonzero(largest >= statistic - slack[row])
            total = n + add_one
            adjusted[row] = (count + add_one) / total if total else np.nan
    order = defined[np.argsort(-statistics[defined])]
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted


def simultaneous_intervals(
    estimates: Floats,
    replicates: Rows,
    standard_errors: Floats,
    *,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    rounding: float | Floats = 0.0,
) -> SimultaneousIntervals:
    """Return intervals that all hold together: estimate -+ critical value x standard error.

    The critical value is the order statistic ceil(confidence_level (n + 1)) of the n largest
    studentized replicates (Romano and Wolf 2005). So an interval leaves out 0 exactly where the
    adjusted p-value of single-step :func:`max_t` is at most 1 - confidence_level, ties in rounding
    errors apart.

    Parameters
    ----------
    estimates, replicates, standard_errors, rounding
        As for :func:`max_t`; with the replicates of a bootstrap, moved to 0.
    confidence_level
        That all hold.
    alternative
        "two-sided"; "greater" has lower limits only, "less" upper ones.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((10, 9_999))
    >>> found = simultaneous_intervals(np.zeros(10), noise, np.ones(10))
    >>> round(found.critical_value, 1)  # one alone: 1.96; ten independent: 2.80 (Sidak)
    2.8
    """
    side, level = check_alternative(alternative), check_level(confidence_level)
    errors, off = _aligned(standard_errors, estimates), _aligned(rounding, estimates)
    statistics = _sided(studentized(estimates, errors, off), side)
    defined = _family(statistics, replicates)
    largest = np.full(replicates[0].shape if len(estimates) else 0, -np.inf)
    for row in defined:
        scores = _sided(studentized(replicates[int(row)], errors[row], off[row]), side)
        np.maximum(largest, scores, out=largest)
    ordered = np.sort(largest[~np.isnan(largest)])
    place = math.ceil((level - LEVEL_ROUNDING) * (ordered.size + 1))
    critical = float(ordered[place - 1]) if place <= ordered.size else math.inf

    known = np.isin(np.arange(len(estimates)), defined)
    with np.errstate(invalid="ignore"):  # infinite x 0: a constant stays where it is
        reach = np.where(errors > _NOISE * off, critical * errors, 0.0)
    low = np.where(known, estimates - reach, np.nan)
    high = np.where(known, estimates + reach, np.nan)
    if side == "greater":
        high[known] = np.inf
    elif side == "less":
        low[known] = -np.inf
    return SimultaneousIntervals(low, high, critical if defined.size else math.nan)


def studentized(values: Floats, errors: Floats | float, rounding: Floats | float) -> Floats:
    """Return values / errors; of what does not vary 0, or infinite where it is not 0 either.

    Parameters
    ----------
    values, errors, rounding
        Of shapes that broadcast. Errors up to a quarter of the rounding are rounding errors.
    """
    constant = errors <= _NOISE * rounding
    quotients: Floats
    if np.any(constant):
        quotients = values / np.where(constant, 1.0, errors)
        far = np.abs(values) > 2.0 * rounding  # as ties are recognised
        ends = np.where(far, np.copysign(np.inf, values), 0.0 * values)  # NaN stays
        quotients = np.where(constant, ends, quotients)
    else:
        quotients = values / errors
    return quotients


def _slack(errors: Floats, rounding: Floats) -> Floats:
    """Rounding of studentized values; those of what does not vary are exact."""
    constant = errors <= _NOISE * rounding
    slack: Floats = np.where(constant, 0.0, rounding / np.where(constant, 1.0, errors))
    return slack


def _sided(scores: Floats, alternative: str) -> Floats:
    """Scores that are large where they speak for the alternative."""
    if alternative == "two-sided":
        return np.abs(scores)
    return scores if alternative == "greater" else -scores


def _aligned(values: Floats | float, estimates: Floats) -> Floats:
    return np.broadcast_to(np.asarray(values, dtype=np.float64), estimates.shape)


def _family(statistics: Floats, replicates: Rows) -> NDArray[np.int64]:
    """Places of the comparisons that have a statistic and some defined replicate."""
    known = np.flatnonzero(~np.isnan(statistics))
    there = [not np.isnan(replicates[int(row)]).all() for row in known]
    family: NDArray[np.int64] = known[np.array(there, dtype=bool)]
    return family
