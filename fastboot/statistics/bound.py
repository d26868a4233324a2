"""A statistic and the columns of one table: its terms, checked, and its value for sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.statistics.additive import Additive, Tally, Term
from fastboot.statistics.base import Statistic, Vector
from fastboot.statistics.checks import check_labels, check_returned

__all__ = ["Bound", "apart", "bind", "bound", "evaluate", "rehearse", "row_terms", "weighed"]

Floats = NDArray[np.float64]


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
    systems
        The columns of all systems that are measured alike; none of rows that are read later.
    """

    statistic: Statistic
    columns: Sequence[Any]
    terms: Sequence[Term]
    missing: bool
    systems: Sequence[Sequence[Any]] = ()

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """What the values are called where there are several."""
        return self.statistic.labels if isinstance(self.statistic, Vector) else None

    @property
    def n_values(self) -> int:
        """Number of values."""
        return 1 if self.labels is None else len(self.labels)


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
    ready = bind(statistic, systems)
    if isinstance(ready, Additive):
        terms = row_terms(ready, columns, n_rows, may_be_nan=may_be_nan)
        rehearse(ready, terms)
        missing = may_be_nan and any(map(_has_nan, terms))
        return Bound(ready, columns, weighed(terms, factors), missing, systems)
    missing = may_be_nan and any(
        isinstance(column, np.ndarray) and bool(np.isnan(column).any()) for column in columns
    )
    return Bound(ready, columns, (), missing, systems)


def apart(one: Bound, codes: NDArray[np.int64], factors: Floats | None) -> Bound:
    """Return a bound statistic as it is where cells of rows are answered apart.

    Parameters
    ----------
    one
        Bound to all rows.
    codes
        Cell of each row, shape (n_rows,).
    factors
        As in `bound`.
    """
    if one.missing or not one.systems:
        return one
    ready = one.statistic.apart(one.systems, codes)
    if ready is one.statistic:
        return one
    assert isinstance(ready, Additive)
    terms = row_terms(ready, one.columns, codes.size)
    return replace(one, statistic=ready, terms=weighed(terms, factors))


def bind(statistic: Statistic, systems: Sequence[Sequence[Any]]) -> Statistic:
    """Bind a statistic to the columns of systems, and check what it calls its values.

    Raises
    ------
    TypeError, ValueError
        Its labels are no labels, or one is repeated: a table has a row for each.
    """
    ready = statistic.bind(systems)
    if isinstance(ready, Vector) and not _distinct(ready.labels):
        check_labels(ready.labels, "name each value", f"{ready.name}.labels")
    return ready


def _distinct(labels: Sequence[Any]) -> bool:
    """Tell whether all is well, at once: cells of a confusion matrix are many."""
    try:
        return 0 < len(labels) == len(set(labels))
    except TypeError:
        return False


def row_terms(
    statistic: Additive, columns: Sequence[Any], n_rows: int, *, may_be_nan: bool = False
) -> list[Term]:
    """Return the terms of rows, checked; the statistic knows the table they are of.

    Raises
    ------
    TypeError, ValueError
        As `bound`.
    """
    returned: Any = statistic.terms(*columns)
    if not isinstance(returned, tuple | list) or not returned:
        raise TypeError(
            f"{statistic.name}.terms() returned {type(returned).__name__}; return a tuple with "
            "one array, number or Tally for each term"
        )
    terms: list[Term] = []
    for i, term in enumerate(returned, 1):
        if isinstance(term, Tally):
            terms.append(_checked_tally(statistic.name, i, term, n_rows, may_be_nan=may_be_nan))
        else:
            array = check_returned(f"{statistic.name}.terms()", term, f" for term {i}")
            if array.ndim == 0:
                terms.append(float(array))
                continue
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
    values = check_returned(
        f"{name}.terms()", tally.values, f" as values of the Tally for term {i}"
    )
    if values.ndim == 0:
        return Tally(codes, tally.size, float(values))
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


def weighed(terms: Sequence[Term], factors: Floats | None) -> Sequence[Term]:
    """Return terms of rows that have weights, shape (n_rows,), or None."""
    if factors is None:
        return terms
    return [
        Tally(term.codes, term.size, term.values * factors)
        if isinstance(term, Tally)
        else term * factors
        for term in terms
    ]


def evaluate(statistic: Additive, sums: Sequence[Any], shape: tuple[int, ...]) -> Floats:
    """Return the values of sums as float64, shape (n_values, *shape); NaN where not finite.

    Raises
    ------
    TypeError
        `finish` returned nothing, or another shape than that of the sums.
    """
    if math.prod(shape) == 1:
        # NumPy adds up the classes of a single replicate pairwise, those of several one by one:
        # alone, it would have other last bits.
        twice = [np.repeat(total, 2, axis=-1) for total in sums]
        return evaluate(statistic, twice, (*shape[:-1], 2))[..., :1]
    with np.errstate(all="ignore"):
        returned = statistic.finish(*sums)
    if returned is None:  # NumPy would take it for NaN
        raise TypeError(f"{statistic.name}.finish() returned None; return the value")
    value = check_returned(f"{statistic.name}.finish()", returned)
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


def rehearse(statistic: Additive, terms: Sequence[Term]) -> None:
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
