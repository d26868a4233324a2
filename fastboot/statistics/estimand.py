"""What is estimated: statistics, or differences of two, as functions of sums and weights.

All that one call asks for is put together: terms that several statistics share are summed once,
and one set of resamples answers every question. A difference of two linear statistics that share
their other terms (two means, two accuracies, two recalls of one gold standard) is the statistic of
the difference: half the terms to resample, and its sums do not cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import total_of
from fastboot.designs import Slices
from fastboot.precision import DOUBLE, digits_of, epsilon_of
from fastboot.scanned import Scanned, difference
from fastboot.statistics.additive import Additive, Tally, Term
from fastboot.statistics.base import Statistic
from fastboot.statistics.bound import Bound, evaluate
from fastboot.totals import totals_of

__all__ = [
    "Estimand",
    "OfSums",
    "Question",
    "alone",
    "difference_name",
    "estimand",
    "moves",
    "parts_of",
    "same_measure",
]

Floats = NDArray[np.float64]
# Objects, not closures: a value is sent to where blocks of rows are worked on.
Value = Callable[[Sequence[Any], Sequence[Any], tuple[int, ...]], Floats]
Size = Callable[[Term], Floats | float]
Coarseness = Callable[[Term], float]
Names = Mapping[Scanned, Any]


@dataclass(frozen=True, eq=False)
class Question:
    """What to estimate: a statistic of one system, or the difference a - b."""

    a: Bound
    b: Bound | None = None

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The one or two statistics."""
        return (self.a,) if self.b is None else (self.a, self.b)

    @property
    def missing(self) -> bool:
        """Whether a value is missing, which makes the answer undefined."""
        return any(bound.missing for bound in self.bounds)

    @property
    def name(self) -> str:
        """What results call it."""
        return self.a.statistic.name if self.b is None else difference_name(*self.statistics)

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """The one or two statistics."""
        return tuple(bound.statistic for bound in self.bounds)


def alone(bounds: Sequence[Bound]) -> list[Question]:
    """Return the question of each statistic by itself."""
    return [Question(bound) for bound in bounds]


@dataclass(frozen=True, eq=False)
class Estimand:
    """Everything that one call estimates.

    Attributes
    ----------
    terms
        Additive terms, each once.
    sizes
        For each term the sum over rows of its absolute values, shape (n_cells,) or a number for
        all cells: its sums round by their own size. Not used of a tally.
    weighted
        Statistics of row weights, each once.
    n_values
        Number of values.
    value
        From the list of sums, shape `shape` or (size of a tally, *shape), the list of values of the
        weighted statistics, shape (n_labels, *shape), and `shape`, to all values, shape
        (n_values, *shape).
    n_cells
        Cells of the values, where these are fewer than the cells of the sums.
    entered
        As `sizes`, of the values that went into each term: every row of a difference of two large
        scores carries the rounding of the scores, and that of float32 counts in units of float64.
        None where these are the terms themselves.
    n_rows
        Rows of the table, where they are known.
    """

    terms: Sequence[Term]
    sizes: Sequence[Floats | float]
    weighted: Sequence[Bound]
    n_values: int
    value: Value
    n_cells: int | None = None
    entered: Sequence[Floats | float] | None = None
    n_rows: int = 0


@dataclass(frozen=True, eq=False)
class OfSums:
    """The value of an additive statistic whose terms stand at these places."""

    statistic: Additive
    places: tuple[int, ...]

    def __call__(self, sums: Sequence[Any], _: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        """Return the values of these sums."""
        return evaluate(self.statistic, [sums[place] for place in self.places], shape)


@dataclass(frozen=True, eq=False)
class _OfWeights:
    """The value of a statistic of row weights."""

    place: int

    def __call__(self, _: Sequence[Any], weighted: Sequence[Any], __: tuple[int, ...]) -> Floats:
        found: Floats = weighted[self.place]
        return found


@dataclass(frozen=True, eq=False)
class _Undefined:
    """Of missing values."""

    n_values: int

    def __call__(self, _: Sequence[Any], __: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        return np.full((self.n_values, *shape), np.nan)


@dataclass(frozen=True, eq=False)
class _Gap:
    """The difference of two values."""

    first: Value
    second: Value

    def __call__(
        self, sums: Sequence[Any], weighted: Sequence[Any], shape: tuple[int, ...]
    ) -> Floats:
        return self.first(sums, weighted, shape) - self.second(sums, weighted, shape)


@dataclass(frozen=True, eq=False)
class _Together:
    """All values, one after the other."""

    each: tuple[Value, ...]

    def __call__(
        self, sums: Sequence[Any], weighted: Sequence[Any], shape: tuple[int, ...]
    ) -> Floats:
        return np.concatenate([value(sums, weighted, shape) for value in self.each])


def parts_of(value: Value) -> Iterator[Value]:
    """Yield what a value is made of: those of single statistics, without their differences."""
    if isinstance(value, _Together):
        for one in value.each:
            yield from parts_of(one)
    elif isinstance(value, _Gap):
        yield from parts_of(value.first)
        yield from parts_of(value.second)
    else:
        yield value


class _Builder:
    """Collects terms and weighted statistics, each once."""

    def __init__(self, size: Size, coarseness: Coarseness, names: Names | None = None) -> None:
        self.terms: list[Term] = []
        self.sizes: list[Floats | float] = []
        self.entered: list[Floats | float] = []
        self.weighted: list[Bound] = []
        self.size = size
        self.coarseness = coarseness
        self.names = names or {}

    def place(self, term: Term, entered: Floats | float | None = None) -> int:
        """Return where a term stands, adding it if it is new."""
        named: Term = self.names.get(term, term) if isinstance(term, Scanned) else term
        for place, known in enumerate(self.terms):
            if same(named, known):
                if entered is not None:
                    self.entered[place] = np.maximum(self.entered[place], entered)
                return place
        size = self.size(term)
        self.terms.append(named)
        self.sizes.append(size)
        self.entered.append(size * self.coarseness(term) if entered is None else entered)
        return len(self.terms) - 1

    def getter(self, one: Bound) -> Value:
        """Return how to compute the values of one statistic."""
        statistic = one.statistic
        if one.missing:
            return _Undefined(one.n_values)
        if isinstance(statistic, Additive):
            return OfSums(statistic, tuple(self.place(term) for term in one.terms))
        self.weighted.append(one)
        return _OfWeights(len(self.weighted) - 1)


def estimand(
    questions: Sequence[Question],
    n_rows: int,
    known: tuple[Size, Coarseness] | None = None,
    names: Names | None = None,
    cells: Slices | None = None,
) -> Estimand:
    """Put questions together.

    Parameters
    ----------
    questions
        What to estimate.
    n_rows
        Rows of the columns.
    known
        Where terms are not in memory: from one to the sum of its absolute values, and to how many
        units of float64 they were rounded to.
    names
        There, of terms that are one under several names, the one to use.
    cells
        Slices of which sizes are wanted.

    Raises
    ------
    ValueError
        Terms sum to more than float64 holds.
    """
    builder = _Builder(*known or (lambda term: _size(term, n_rows, cells), _coarseness), names)
    getters: list[Value] = []
    for question in questions:
        a, b = question.a, question.b
        if b is None:
            getters.append(builder.getter(a))
        elif share_all_but_first(a, b) and not (a.missing or b.missing):
            getters.append(_fused(builder, a, b))
        else:
            getters.append(_Gap(builder.getter(a), builder.getter(b)))
    return Estimand(
        builder.terms,
        builder.sizes,
        builder.weighted,
        _n_values(questions),
        _Together(tuple(getters)),
        entered=builder.entered,
        n_rows=n_rows,
    )


def _n_values(questions: Sequence[Question]) -> int:
    return sum(question.a.n_values for question in questions)


def _fused(builder: _Builder, a: Bound, b: Bound) -> Value:
    """Return the difference of two linear statistics as one of the difference of first terms."""
    statistic, x, y = a.statistic, a.terms[0], b.terms[0]
    assert isinstance(statistic, Additive)
    assert not isinstance(x, Tally)
    assert not isinstance(y, Tally)
    with np.errstate(over="ignore"):  # the sum of differences is then infinite, and refused
        entered = sum(builder.size(one) * builder.coarseness(one) for one in (x, y))
    first = builder.place(difference(x, y), entered)
    return OfSums(statistic, (first, *(builder.place(term) for term in a.terms[1:])))


def placed(bounds: Sequence[Bound]) -> tuple[list[Term], list[list[int]]]:
    """Return the terms of additive statistics, each once, and where those of each statistic are."""
    builder = _Builder(_unsized, _unsized)
    return builder.terms, [[builder.place(term) for term in one.terms] for one in bounds]


def moves(
    questions: Sequence[Question],
    totals: Callable[[Sequence[Term]], list[Any]],
    names: Names | None = None,
) -> Estimand:
    """Return the differences a - b after swaps, as a function of the sums of the swapped rows.

    Parameters
    ----------
    questions
        Differences of two systems.
    totals
        From terms to their sums over all rows, shape (n_cells,) or (size of a tally, n_cells);
        asked when a value is.
    names
        As in `estimand`.

    Returns
    -------
    Estimand
        Without sizes. Its weighted statistics come in pairs, after swaps: a's, b's.
    """
    builder = _Builder(_unsized, _unsized, names)
    getters: list[Value] = []
    for question in questions:
        a, b = question.a, question.b
        assert b is not None
        if a.missing or b.missing:
            getters.append(builder.getter(Bound(a.statistic, a.columns, a.terms, missing=True)))
        elif isinstance(a.statistic, Additive):
            getters.append(_moved(builder, a, b, totals))
        else:
            getters.append(_Gap(builder.getter(a), builder.getter(b)))
    value = _Together(tuple(getters))
    return Estimand(builder.terms, builder.sizes, builder.weighted, _n_values(questions), value)


def _moved(
    builder: _Builder, a: Bound, b: Bound, totals: Callable[[Sequence[Term]], list[Any]]
) -> Value:
    first, second = a.statistic, b.statistic
    assert isinstance(first, Additive)
    assert isinstance(second, Additive)
    known = cache(lambda: [[total[..., None] for total in totals(one.terms)] for one in (a, b)])
    gains = [_gain(builder, x, y) for x, y in zip(a.terms, b.terms, strict=True)]
    shared = share_all_but_first(a, b)

    def value(sums: Sequence[Any], _: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        moved = [gain(sums) for gain in gains]
        totals_a, totals_b = known()
        if shared:
            gap = totals_a[0] - totals_b[0] + 2.0 * moved[0]
            return evaluate(first, _of_shape([gap, *totals_a[1:]], a.terms, shape), shape)
        gained = [total + m for total, m in zip(totals_a, moved, strict=True)]
        lost = [total - m for total, m in zip(totals_b, moved, strict=True)]
        return evaluate(first, _of_shape(gained, a.terms, shape), shape) - evaluate(
            second, _of_shape(lost, b.terms, shape), shape
        )

    return value


def _of_shape(sums: Sequence[Any], terms: Sequence[Term], shape: tuple[int, ...]) -> list[Any]:
    return [
        np.broadcast_to(total, (term.size, *shape) if isinstance(term, Tally) else shape)
        for total, term in zip(sums, terms, strict=True)
    ]


def _gain(builder: _Builder, x: Term, y: Term) -> Callable[[Sequence[Any]], Any]:
    """Return what the sum of a's term gains from the swapped rows, and b's loses."""
    if isinstance(x, Tally) and isinstance(y, Tally):
        if same(x, y):
            return lambda _: 0.0
        out, into = builder.place(x), builder.place(y)
        return lambda sums: sums[into] - sums[out]
    assert not isinstance(x, Tally)
    assert not isinstance(y, Tally)
    place = builder.place(difference(y, x))
    return lambda sums: sums[place]


def share_all_but_first(a: Bound, b: Bound) -> bool:
    """Tell whether two linear statistics differ in their first term only."""
    first, second = a.statistic, b.statistic
    return (
        isinstance(first, Additive)
        and isinstance(second, Additive)
        and first.linear
        and second.linear
        and type(first).finish is type(second).finish
        and len(a.terms) == len(b.terms)
        and not isinstance(a.terms[0], Tally)
        and not isinstance(b.terms[0], Tally)
        and all(map(same, a.terms[1:], b.terms[1:]))
    )


def same(x: Term, y: Term) -> bool:
    if isinstance(x, Tally) and isinstance(y, Tally):
        return x.size == y.size and _same_array(x.codes, y.codes) and same(x.values, y.values)
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return _same_array(x, y)
    return type(x) is type(y) and x == y


def _same_array(x: Any, y: Any) -> bool:
    if isinstance(x, Scanned) or isinstance(y, Scanned):
        return bool(x == y)
    return x is y or bool(x[0] == y[0] and x[-1] == y[-1] and np.array_equal(x, y))


def same_measure(a: Statistic, b: Statistic) -> bool:
    """Tell whether two systems are measured by one statistic."""
    methods = ("finish", "values")
    return a.name == b.name and all(
        getattr(type(a), method, None) is getattr(type(b), method, None) for method in methods
    )


def difference_name(a: Statistic, b: Statistic) -> str:
    """Return the statistics' common name, or both."""
    return a.name if a.name == b.name else f"{a.name} - {b.name}"


def _unsized(_: Term) -> float:
    return 0.0


def _size(term: Term, n_rows: int, cells: Slices | None) -> Floats | float:
    """Sum of absolute values over the rows of each cell, shape (n_cells,); a number of a tally."""
    size: Floats | float
    with np.errstate(over="ignore"):
        if isinstance(term, Tally):
            size = float(total_of(np.atleast_1d(np.abs(term.values))))
        else:
            size = totals_of([np.abs(term)], n_rows, cells)[0]
    if np.isinf(size).any():
        raise ValueError("the values sum to more than float64 can hold; divide them first")
    return size


def _coarseness(term: Term) -> float:
    """Return how many units of float64 the numbers of a column were rounded to."""
    return epsilon_of(digits_of(term)) / DOUBLE if isinstance(term, np.ndarray) else 1.0
