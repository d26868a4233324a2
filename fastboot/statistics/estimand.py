"""What is estimated: statistics, or differences of two, as functions of sums and weights.

All that one call asks for is put together: terms that several statistics share are summed once,
and one set of resamples answers every question. A difference of two linear statistics that share
their other terms (two means, two accuracies, two recalls of one gold standard) is the statistic of
the difference: half the terms to resample, and its sums do not cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.statistics.additive import Additive, Tally, Term
from fastboot.statistics.base import Statistic, Vector

__all__ = [
    "Bound",
    "Estimand",
    "Question",
    "bound",
    "difference_name",
    "estimand",
    "evaluate",
    "moves",
    "same_measure",
]

Floats = NDArray[np.float64]
Value = Callable[[Sequence[Any], Sequence[Any], tuple[int, ...]], Floats]


@dataclass(frozen=True, eq=False)
class Bound:
    """A statistic and the columns it is computed from.

    Attributes
    ----------
    statistic
        Bound to the columns.
    columns
        As loaded.
    terms
        Of an additive statistic; empty for another.
    missing
        A value is missing (``nan_policy="propagate"``): the statistic is undefined.
    """

    statistic: Statistic
    columns: Sequence[Any]
    terms: Sequence[Term]
    missing: bool

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """What the values are called where there are several."""
        return self.statistic.labels if isinstance(self.statistic, Vector) else None

    @property
    def n_values(self) -> int:
        """Number of values."""
        return 1 if self.labels is None else len(self.labels)


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


@dataclass(frozen=True, eq=False)
class Estimand:
    """Everything that one call estimates.

    Attributes
    ----------
    terms
        Additive terms, each once.
    sizes
        For each term the sum over rows of the absolute values that went into it: a difference of
        two large scores carries the rounding error of the scores. Not used of a tally.
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
    """

    terms: Sequence[Term]
    sizes: Sequence[float]
    weighted: Sequence[Bound]
    n_values: int
    value: Value
    n_cells: int | None = None


def bound(
    statistic: Statistic,
    columns: Sequence[Any],
    systems: Sequence[Sequence[Any]],
    n_rows: int,
    *,
    factors: Floats | None = None,
    may_be_nan: bool,
) -> Bound:
    """Bind a statistic to its columns and compute its terms, checked.

    Parameters
    ----------
    statistic, columns
        What and from what.
    systems
        The columns of all systems that are measured alike, see :meth:`Statistic.bind`.
    n_rows
        Rows of the columns.
    factors
        Weights of the rows, shape (n_rows,), or None.
    may_be_nan
        Missing values propagate.

    Raises
    ------
    TypeError
        `terms` returned something else than numbers, tallies and arrays of shape (n_rows,), or
        `finish` does not work on arrays.
    ValueError
        A term is infinite, or NaN where it may not be.
    """
    ready = statistic.bind(systems)
    if isinstance(ready, Additive):
        terms = _checked(ready, ready.terms(*columns), n_rows, may_be_nan=may_be_nan)
        _rehearse(ready, terms)
        missing = may_be_nan and any(map(_has_nan, terms))
        if factors is not None:
            terms = [_times(term, factors) for term in terms]
        return Bound(ready, columns, terms, missing)
    missing = may_be_nan and any(
        isinstance(column, np.ndarray) and bool(np.isnan(column).any()) for column in columns
    )
    return Bound(ready, columns, (), missing)


def _checked(statistic: Additive, returned: Any, n_rows: int, *, may_be_nan: bool) -> list[Term]:
    if not isinstance(returned, tuple | list) or not returned:
        raise TypeError(
            f"{statistic.name}.terms() returned {type(returned).__name__}; return a tuple with "
            "one array, number or Tally for each term"
        )
    terms: list[Term] = []
    for i, term in enumerate(returned, 1):
        if isinstance(term, Tally):
            terms.append(_checked_tally(statistic.name, i, term, n_rows, may_be_nan=may_be_nan))
        elif np.ndim(term) == 0:
            terms.append(float(term))
        else:
            array = np.asarray(term, dtype=np.float64)
            _check_shape(statistic.name, i, array, n_rows)
            _check_finite(array, f"{statistic.name}.terms() returned", may_be_nan=may_be_nan)
            terms.append(array)
    return terms


def _checked_tally(name: str, i: int, tally: Tally, n_rows: int, *, may_be_nan: bool) -> Tally:
    codes = np.asarray(tally.codes)
    _check_shape(name, i, codes, n_rows)
    if codes.dtype != np.int64 or codes.min() < -1 or codes.max() >= tally.size:
        raise TypeError(
            f"{name}.terms() returned a Tally of size {tally.size} with codes of type "
            f"{codes.dtype} from {codes.min()} to {codes.max()} for term {i}; codes are int64, "
            f"from -1 (none) to {tally.size - 1}"
        )
    if np.ndim(tally.values) == 0:
        return Tally(codes, tally.size, float(tally.values))
    values = np.asarray(tally.values, dtype=np.float64)
    _check_shape(name, i, values, n_rows)
    _check_finite(values, f"{name}.terms() returned", may_be_nan=may_be_nan)
    return Tally(codes, tally.size, values)


def _check_shape(name: str, i: int, array: NDArray[Any], n_rows: int) -> None:
    if array.shape != (n_rows,):
        raise TypeError(
            f"{name}.terms() returned shape {array.shape} for term {i}; the rows need shape "
            f"({n_rows},)"
        )


def _check_finite(term: Floats, returned: str, *, may_be_nan: bool) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(term.sum()):
            return
    for word, found in (("infinity", np.isinf(term)), ("NaN", np.isnan(term))):
        if found.any() and not (word == "NaN" and may_be_nan):
            raise ValueError(
                f"{returned} {word} in {int(found.sum()):,} rows (first at row "
                f"{int(found.argmax()):,}); terms must be finite"
            )


def _has_nan(term: Term) -> bool:
    values = term.values if isinstance(term, Tally) else term
    return bool(np.isnan(values).any())


def _times(term: Term, factors: Floats) -> Term:
    """Weigh the rows of a term."""
    if isinstance(term, Tally):
        return Tally(term.codes, term.size, term.values * factors)
    return term * factors


def evaluate(statistic: Additive, sums: Sequence[Any], shape: tuple[int, ...]) -> Floats:
    """Return the values of sums as float64, shape (n_values, *shape); NaN where not finite.

    Raises
    ------
    TypeError
        `finish` returned nothing, or another shape than that of the sums.
    """
    with np.errstate(all="ignore"):
        returned = statistic.finish(*sums)
    if returned is None:  # NumPy would take it for NaN
        raise TypeError(f"{statistic.name}.finish() returned None; return the value")
    value = np.asarray(returned, dtype=np.float64)
    wanted = (len(statistic.labels), *shape) if isinstance(statistic, Vector) else shape
    if value.shape not in {wanted, ()}:
        raise TypeError(
            f"{statistic.name}.finish() returned shape {value.shape} for sums of shape {shape}; "
            "return one value for each"
        )
    # 1 / 0 is as undefined as 0 / 0: no replicate may be infinite.
    value = np.where(np.isfinite(value), value, np.nan)
    return np.broadcast_to(value, wanted) if isinstance(statistic, Vector) else _row(value, shape)


def _row(value: Floats, shape: tuple[int, ...]) -> Floats:
    return np.broadcast_to(value, shape)[None]


def _rehearse(statistic: Additive, terms: Sequence[Term]) -> None:
    """Refuse a `finish` that does not work on arrays, before any resampling."""
    shape = (2,)
    sums = [
        np.ones((term.size, *shape))
        if isinstance(term, Tally)
        else np.full(shape, term[0] if isinstance(term, np.ndarray) else term)
        for term in terms
    ]
    try:
        with np.errstate(all="ignore"):
            statistic.finish(*sums)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{statistic.name}.finish() fails on {len(sums)} arrays of sums ({error}); it must "
            "take one for each term and work on whole arrays, with np.where for conditions"
        ) from error
    evaluate(statistic, sums, shape)


class _Builder:
    """Collects terms and weighted statistics, each once."""

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self.sizes: list[float] = []
        self.weighted: list[Bound] = []

    def place(self, term: Term, size: float | None = None) -> int:
        """Return where a term stands, adding it if it is new."""
        for place, known in enumerate(self.terms):
            if _same(term, known):
                if size is not None:
                    self.sizes[place] = max(self.sizes[place], size)
                return place
        self.terms.append(term)
        self.sizes.append(_size(term) if size is None else size)
        return len(self.terms) - 1

    def getter(self, one: Bound) -> Value:
        """Return how to compute the values of one statistic."""
        statistic = one.statistic
        if one.missing:
            return lambda _sums, _weighted, shape: np.full((one.n_values, *shape), np.nan)
        if isinstance(statistic, Additive):
            places = [self.place(term) for term in one.terms]
            return lambda sums, _, shape: evaluate(
                statistic, [sums[place] for place in places], shape
            )
        index = len(self.weighted)
        self.weighted.append(one)
        return lambda _sums, weighted, _shape: weighted[index]


def estimand(questions: Sequence[Question], n_rows: int) -> Estimand:
    """Put questions together.

    Parameters
    ----------
    questions
        What to estimate.
    n_rows
        Rows of the columns.

    Raises
    ------
    ValueError
        Terms sum to more than float64 holds.
    """
    builder = _Builder()
    getters = []
    for question in questions:
        a, b = question.a, question.b
        if b is None:
            getters.append(builder.getter(a))
        elif share_all_but_first(a, b) and not (a.missing or b.missing):
            getters.append(_fused(builder, a, b, n_rows))
        else:
            getters.append(_gap(builder.getter(a), builder.getter(b)))
    sizes = [
        n_rows * size if isinstance(term, float) else size
        for term, size in zip(builder.terms, builder.sizes, strict=True)
    ]

    def value(sums: Sequence[Any], weighted: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        return np.concatenate([get(sums, weighted, shape) for get in getters])

    return Estimand(builder.terms, sizes, builder.weighted, _n_values(questions), value)


def _n_values(questions: Sequence[Question]) -> int:
    return sum(question.a.n_values for question in questions)


def _gap(first: Value, second: Value) -> Value:
    return lambda *drawn: first(*drawn) - second(*drawn)


def _fused(builder: _Builder, a: Bound, b: Bound, n_rows: int) -> Value:
    """Return the difference of two linear statistics as one of the difference of first terms."""
    statistic, x, y = a.statistic, a.terms[0], b.terms[0]
    assert isinstance(statistic, Additive)
    assert not isinstance(x, Tally)
    assert not isinstance(y, Tally)
    size = sum(
        _size(term) if isinstance(term, np.ndarray) else n_rows * _size(term) for term in (x, y)
    )
    gap = np.subtract(x, y)
    places = [builder.place(gap if isinstance(gap, np.ndarray) else float(gap), size)] + [
        builder.place(term) for term in a.terms[1:]
    ]
    return lambda sums, _, shape: evaluate(statistic, [sums[place] for place in places], shape)


def moves(questions: Sequence[Question], totals: Callable[[Sequence[Term]], list[Any]]) -> Estimand:
    """Return the differences a - b after swaps, as a function of the sums of the swapped rows.

    Parameters
    ----------
    questions
        Differences of two systems.
    totals
        From terms to their sums over all rows, shape (n_cells,) or (size of a tally, n_cells).

    Returns
    -------
    Estimand
        Its weighted statistics come in pairs, after swaps: a's, b's.
    """
    builder = _Builder()
    getters = []
    for question in questions:
        a, b = question.a, question.b
        assert b is not None
        if a.missing or b.missing:
            getters.append(builder.getter(Bound(a.statistic, a.columns, a.terms, missing=True)))
        elif isinstance(a.statistic, Additive):
            getters.append(_moved(builder, a, b, totals))
        else:
            getters.append(_gap(builder.getter(a), builder.getter(b)))

    def value(sums: Sequence[Any], weighted: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        return np.concatenate([get(sums, weighted, shape) for get in getters])

    return Estimand(builder.terms, builder.sizes, builder.weighted, _n_values(questions), value)


def _moved(
    builder: _Builder, a: Bound, b: Bound, totals: Callable[[Sequence[Term]], list[Any]]
) -> Value:
    first, second = a.statistic, b.statistic
    assert isinstance(first, Additive)
    assert isinstance(second, Additive)
    totals_a = [total[..., None] for total in totals(a.terms)]
    totals_b = [total[..., None] for total in totals(b.terms)]
    gains = [_gain(builder, x, y) for x, y in zip(a.terms, b.terms, strict=True)]
    shared = share_all_but_first(a, b)

    def value(sums: Sequence[Any], _: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        moved = [gain(sums) for gain in gains]
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
        if _same(x, y):
            return lambda _: 0.0
        out, into = builder.place(x), builder.place(y)
        return lambda sums: sums[into] - sums[out]
    assert not isinstance(x, Tally)
    assert not isinstance(y, Tally)
    change = np.subtract(y, x)
    place = builder.place(change if isinstance(change, np.ndarray) else float(change))
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
        and all(map(_same, a.terms[1:], b.terms[1:]))
    )


def _same(x: Term, y: Term) -> bool:
    if isinstance(x, Tally) and isinstance(y, Tally):
        return x.size == y.size and _same_array(x.codes, y.codes) and _same(x.values, y.values)
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return _same_array(x, y)
    return type(x) is type(y) and x == y


def _same_array(x: NDArray[Any], y: NDArray[Any]) -> bool:
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


def _size(term: Term) -> float:
    """Sum of absolute values over rows; the value itself of a constant term."""
    with np.errstate(over="ignore"):
        values = term.values if isinstance(term, Tally) else term
        size = float(np.abs(values).sum())
    if math.isinf(size):
        raise ValueError("the values sum to more than float64 can hold; divide them first")
    return size
