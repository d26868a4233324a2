"""A board: what is known of many systems by one metric, in all rows or one slice.

Values with their joint replicates, and the pairs that were compared: differences, intervals,
p-values before and after the correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.intervals import interval, standard_error
from fastboot.leaderboards.corrections import Pairs as Differences
from fastboot.leaderboards.corrections import Rows, adjust_pvalues, max_t, simultaneous_intervals
from fastboot.leaderboards.many_systems import PairReplicates, Randomized
from fastboot.pvalues import pvalue
from fastboot.rendering import count
from fastboot.resampling import Answer

__all__ = ["Board", "Pairs", "board_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Pairs(NamedTuple):
    """The pairs that were compared, in order.

    places : numbers of the two systems of each; the second is subtracted from the first
    estimates, standard_errors, lows, highs : of the differences, shape (n_pairs,)
    pvalues, adjusted : before and after the correction, shape (n_pairs,)
    n_undefined : replicates that the p-value leaves out, shape (n_pairs,)
    is_degenerate : whether all defined differences of resamples equal the estimate, shape
        (n_pairs,): they say nothing about the uncertainty
    n_null : replicates of the test
    replicates : what they are, in words
    path : the algorithm that made them
    least : the smallest p-value before the correction that so many replicates can give
    """

    places: tuple[tuple[int, int], ...]
    estimates: Floats
    standard_errors: Floats
    lows: Floats
    highs: Floats
    pvalues: Floats
    adjusted: Floats
    n_undefined: Integers
    is_degenerate: NDArray[np.bool_]
    n_null: int
    replicates: str
    path: str
    least: float


@dataclass(frozen=True, eq=False)
class Board:
    """One metric, of all rows or of one slice.

    Attributes
    ----------
    metric
        Its name; None where `metrics` was not given.
    statistic
        Name of the statistic.
    slice
        Values of the slice, one for each axis; None for all rows.
    names
        Of the systems, in the order given.
    estimates, rounding
        Shape (n_systems,): values, and how far equal ones may differ.
    replicates
        Shape (n_systems, n_resamples), read-only: joint, from the same resamples.
    path
        The algorithm that made them.
    higher_is_better
        Direction of the metric.
    n_rows, n_units
        Of the slice.
    pairs
        What was compared.
    """

    metric: str | None
    statistic: str
    slice: tuple[Any, ...] | None
    names: tuple[str, ...]
    estimates: Floats
    replicates: Floats
    rounding: Floats
    path: str
    higher_is_better: bool
    n_rows: int
    n_units: int
    pairs: Pairs

    def __post_init__(self) -> None:
        for array in (self.estimates, self.replicates, self.rounding, *self.pairs):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a pickle forgets it

    @property
    def order(self) -> list[int]:
        """Systems from the best to the worst; undefined values last, ties in the order given."""
        sign = -1.0 if self.higher_is_better else 1.0
        return [int(i) for i in np.argsort(sign * self.estimates, kind="stable")]

    @cached_property
    def n_undefined(self) -> Integers:
        """Undefined replicates of each system, shape (n_systems,)."""
        undefined: Integers = np.isnan(self.replicates).sum(axis=1)
        return undefined

    @cached_property
    def is_degenerate(self) -> NDArray[np.bool_]:
        """Whether all defined replicates equal the value, shape (n_systems,)."""
        with np.errstate(invalid="ignore"):
            far = np.abs(self.replicates - self.estimates[:, None]) > self.rounding[:, None]
        some = self.n_undefined < self.replicates.shape[1]
        alike: NDArray[np.bool_] = some & ~np.isnan(self.estimates) & ~far.any(axis=1)
        return alike


def board_of(
    metric: str,
    statistic: str,
    slice_: tuple[Any, ...] | None,
    names: tuple[str, ...],
    answer: Answer,
    rows: slice,
    cell: int,
    *,
    randomized: Randomized | None,
    higher: bool,
    against: str,
    correction: str,
    add_one: bool,
    confidence_level: float,
    method: str,
    alternative: str,
) -> Board:
    """Return what is known of one metric in one slice."""
    values = answer.estimates[rows, cell]
    replicates = answer.replicates[rows, cell]
    rounding = answer.rounding[rows, cell]
    places = _pairs(names, values, against, higher=higher)
    drawn = Differences(
        values,
        replicates,
        rounding=rounding,
        first=np.array([i for i, _ in places]),
        second=np.array([j for _, j in places]),
    )
    null = _Null(randomized, cell, drawn, places, answer)
    limits, pvalues = np.empty((len(places), 2)), np.empty(len(places))
    undefined = np.empty(len(places), np.int64)
    degenerate = np.zeros(len(places), np.bool_)
    for place, (i, j) in enumerate(places):
        estimate, tie = float(drawn.estimates[place]), float(drawn.rounding[place])
        # Without a detour over the null, so limits are those of paired_bootstrap to the last bit.
        differences = replicates[i] - replicates[j]
        limits[place] = interval(
            differences,
            estimate,
            confidence_level=confidence_level,
            method=method,
            alternative=alternative,
            acceleration=None,
            rounding=tie,
        )[:2]
        apart = np.abs(differences - estimate)
        degenerate[place] = not (apart > tie).any() and (apart <= tie).any()
        tested = differences if randomized is None else null.rows[place]
        pvalues[place] = pvalue(
            tested,
            estimate,
            alternative=alternative,
            rule="shift" if randomized is None else "null",
            rounding=tie,
            add_one=add_one,
            exact=null.exact,
        ).pvalue
        undefined[place] = np.count_nonzero(np.isnan(tested))
    if correction == "max_t":
        shared: dict[str, Any] = {"alternative": alternative, "rounding": drawn.rounding}
        adjusted = max_t(
            drawn.estimates,
            null.rows,
            null.errors(),
            step_down=null.kind != "permutations",
            add_one=add_one and not null.exact,
            **shared,
        )
        limits = np.stack(
            simultaneous_intervals(
                drawn.estimates,
                drawn,
                drawn.standard_errors,
                confidence_level=confidence_level,
                **shared,
            )[:2],
            axis=1,
        )
    else:
        adjusted = pvalues if correction == "none" else adjust_pvalues(pvalues, correction)
    # What varies by rounding alone does not vary.
    errors = np.where(degenerate & ~np.isnan(drawn.standard_errors), 0.0, drawn.standard_errors)
    limits = np.where(degenerate[:, None] & np.isfinite(limits), drawn.estimates[:, None], limits)
    return Board(
        metric=metric,
        statistic=statistic,
        slice=slice_,
        names=names,
        estimates=values,
        replicates=replicates,
        path=answer.path,
        rounding=rounding,
        higher_is_better=higher,
        n_rows=int(answer.n_rows[cell]),
        n_units=int(answer.n_units[cell]),
        pairs=Pairs(
            places=tuple(places),
            estimates=drawn.estimates,
            standard_errors=errors,
            lows=limits[:, 0],
            highs=limits[:, 1],
            pvalues=pvalues,
            adjusted=adjusted,
            n_undefined=undefined,
            is_degenerate=degenerate,
            n_null=null.n,
            replicates=null.words,
            path=null.path,
            least=null.least(alternative, add_one=add_one),
        ),
    )


class _Null:
    """Replicates of all pairs under the null hypothesis.

    rows : read one by one
    n, kind : how many there are; "bootstrap", "swaps" or "permutations"
    path : the algorithm that ran
    exact : they are all there are
    words : what they are
    """

    def __init__(
        self,
        randomized: Randomized | None,
        cell: int,
        drawn: Differences,
        places: Sequence[tuple[int, int]],
        answer: Answer,
    ) -> None:
        self._drawn = drawn
        self.rows: Rows = drawn
        self.n, self.path = answer.replicates.shape[2], answer.path
        self.kind, self.exact = "bootstrap", False
        self.words = count(self.n, "resample")
        if randomized is not None:
            self.n, self.path = randomized.n_replicates, randomized.path
            self.rows = _Randomized(randomized.pairs[cell], places)
            self.kind = "permutations" if self.path == "permutations" else "swaps"
            self.exact = self.path == "enumeration"
            change = f"{'' if self.exact else 'random '}{self.kind.removesuffix('s')}"
            self.words = f"{'all ' if self.exact else ''}{count(self.n, change)}"

    def errors(self) -> Floats:
        """Return what max-T divides by.

        For a randomization these are standard deviations of its own replicates, which no swap
        changes: tests stay as exact as they are without. Permutations give all pairs one law, so
        one divisor does, and none would (the range of values of Tukey's test).
        """
        if self.kind == "bootstrap":
            return self._drawn.standard_errors
        rows = map(self.rows.__getitem__, range(len(self._drawn)))
        errors = np.array([standard_error(row[~np.isnan(row)]) for row in rows])
        if self.kind == "permutations":
            errors[:] = np.fmax.reduce(errors)
        return errors

    def least(self, alternative: str, *, add_one: bool) -> float:
        """Return a bound that no p-value of a pair is below."""
        if self.exact:
            return (2.0 if alternative == "two-sided" else 1.0) / float(self.n)
        return 1.0 / (self.n + 1.0) if add_one else 0.0


class _Randomized:
    """Replicates of pairs under the null, computed when asked for."""

    def __init__(self, difference: PairReplicates, places: Sequence[tuple[int, int]]) -> None:
        self._difference = difference
        self._places = places

    def __getitem__(self, index: int, /) -> Floats:
        return self._difference(*self._places[index])


def _pairs(
    names: tuple[str, ...], values: Floats, against: str, *, higher: bool
) -> list[tuple[int, int]]:
    """Return the pairs to compare: the first is subtracted from."""
    everyone = range(len(names))
    if against == "all":
        return list(combinations(everyone, 2))
    ordered = np.where(np.isnan(values), -np.inf, values if higher else -values)
    if against == "best":
        best = int(np.argmax(ordered))
        return [(best, other) for other in everyone if other != best]
    base = names.index(against)
    return [(other, base) for other in everyone if other != base]
