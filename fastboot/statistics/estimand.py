"""What is estimated: one statistic, or the difference of two, as a function of sums.

A difference of two linear statistics that share their other terms (two means, two accuracies, two
recalls of one gold standard) is the statistic of the difference: half the terms to resample, and
its sums do not cancel.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.statistics.additive import Additive, Term

__all__ = [
    "Estimand",
    "difference",
    "difference_name",
    "evaluate",
    "replicates_of",
    "share_all_but_first",
    "single",
    "swap_value",
    "terms_of",
    "undefined",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimand:
    """Terms of the rows, and the value of their sums.

    Attributes
    ----------
    terms
        One array of shape (n_rows,) for each term, or a number where all rows have the same.
    value
        From the list of sums to the value; NaN where undefined.
    sizes
        For each term the sum over rows of the absolute values that went into it: a difference of
        two large scores carries the rounding error of the scores.
    """

    terms: Sequence[Term]
    value: Callable[[Sequence[Any]], Any]
    sizes: Sequence[float]


def terms_of(
    statistic: Additive, columns: Sequence[Any], n_rows: int, *, may_be_nan: bool
) -> list[Term]:
    """Return the statistic's terms, checked.

    Raises
    ------
    TypeError
        `terms` returned something else than numbers and arrays of shape (n_rows,), or `finish`
        does not work on arrays.
    ValueError
        A term is infinite, or NaN where it may not be.
    """
    returned = statistic.terms(*columns)
    if not isinstance(returned, tuple | list) or not returned:
        raise TypeError(
            f"{statistic.name}.terms() returned {type(returned).__name__}; return a tuple with "
            "one array or number for each term"
        )
    terms: list[Term] = []
    for i, term in enumerate(returned, 1):
        if np.ndim(term) == 0:
            terms.append(float(term))
            continue
        array = np.asarray(term, dtype=np.float64)
        if array.shape != (n_rows,):
            raise TypeError(
                f"{statistic.name}.terms() returned shape {array.shape} for term {i}; the rows "
                f"need shape ({n_rows},)"
            )
        _check_finite(array, f"{statistic.name}.terms() returned", may_be_nan=may_be_nan)
        terms.append(array)
    _rehearse(statistic, terms)
    return terms


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


def evaluate(statistic: Additive, sums: Sequence[Any]) -> Any:
    """Return the value of sums, as float64; NaN, silently, where it is not finite.

    Raises
    ------
    TypeError
        `finish` returned nothing, or another shape than that of the sums.
    """
    arrays = [np.asarray(total, dtype=np.float64) for total in sums]
    with np.errstate(all="ignore"):
        returned = statistic.finish(*arrays)
    if returned is None:  # NumPy would take it for NaN
        raise TypeError(f"{statistic.name}.finish() returned None; return the value")
    value = np.asarray(returned, dtype=np.float64)
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    if value.shape not in {shape, ()}:
        raise TypeError(
            f"{statistic.name}.finish() returned shape {value.shape} for sums of shape {shape}; "
            "return one value for each"
        )
    # 1 / 0 is as undefined as 0 / 0: no replicate may be infinite.
    return np.where(np.isfinite(value), value, np.nan)


def _rehearse(statistic: Additive, terms: Sequence[Term]) -> None:
    """Refuse a `finish` that does not work on arrays, before any resampling."""
    sums = [np.full(2, term[0] if isinstance(term, np.ndarray) else term) for term in terms]
    try:
        with np.errstate(all="ignore"):
            statistic.finish(*sums)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{statistic.name}.finish() fails on {len(sums)} arrays of sums ({error}); it must "
            "take one for each term and work on whole arrays, with np.where for conditions"
        ) from error
    evaluate(statistic, sums)


def single(statistic: Additive, terms: Sequence[Term], n_rows: int) -> Estimand:
    """Return the estimand of one statistic."""
    sizes = [_size(term, n_rows) for term in terms]
    return Estimand(terms, lambda sums: evaluate(statistic, sums), sizes)


def difference(
    a: Additive, b: Additive, terms_a: Sequence[Term], terms_b: Sequence[Term], n_rows: int
) -> Estimand:
    """Return the estimand a - b."""
    if share_all_but_first(a, b, terms_a, terms_b):
        gap = terms_a[0] - terms_b[0]
        sizes = [_size(term, n_rows) for term in terms_a]
        sizes[0] += _size(terms_b[0], n_rows)
        return Estimand([gap, *terms_a[1:]], lambda sums: evaluate(a, sums), sizes)
    n = len(terms_a)
    unique: list[Term] = []
    places = [_place(term, unique) for term in (*terms_a, *terms_b)]

    def value(sums: Sequence[Any]) -> Any:
        ordered = [sums[place] for place in places]
        return evaluate(a, ordered[:n]) - evaluate(b, ordered[n:])

    return Estimand(unique, value, [_size(term, n_rows) for term in unique])


def swap_value(
    a: Additive, b: Additive, totals_a: Sequence[Any], totals_b: Sequence[Any], *, shared: bool
) -> Callable[[Sequence[Any]], Any]:
    """Return the value of a - b after rows were swapped between the systems.

    Parameters
    ----------
    totals_a, totals_b
        Sums of the systems' terms before.
    shared
        All terms but the first are the same in both systems.

    Returns
    -------
    callable
        From the swapped rows' sums of (b's term - a's term), which a gains and b loses.
    """
    if shared:
        gap = totals_a[0] - totals_b[0]
        return lambda moved: evaluate(a, [gap + 2.0 * moved[0], *totals_a[1:]])

    def value(moved: Sequence[Any]) -> Any:
        gained = [total + m for total, m in zip(totals_a, moved, strict=True)]
        lost = [total - m for total, m in zip(totals_b, moved, strict=True)]
        return evaluate(a, gained) - evaluate(b, lost)

    return value


def share_all_but_first(
    a: Additive, b: Additive, terms_a: Sequence[Term], terms_b: Sequence[Term]
) -> bool:
    """Tell whether two linear statistics differ in their first term only."""
    return (
        a.linear
        and b.linear
        and type(a).finish is type(b).finish
        and len(terms_a) == len(terms_b)
        and all(map(_same, terms_a[1:], terms_b[1:]))
    )


def _same(x: Term, y: Term) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x is y or (x[0] == y[0] and x[-1] == y[-1] and np.array_equal(x, y))
    return type(x) is type(y) and x == y


def replicates_of(
    value: Callable[[Sequence[Any]], Any], sums: Sequence[Any], n_resamples: int
) -> Floats:
    """Return the values of the replicates' sums, read-only; warn once if any is undefined."""
    replicates = np.empty(n_resamples)
    replicates[:] = value(sums)
    n_undefined = int(np.isnan(replicates).sum())
    if n_undefined:
        warnings.warn(
            f"the statistic is undefined in {n_undefined:,} of {n_resamples:,} replicates; they "
            "are NaN, counted in n_undefined and left out of intervals and p-values",
            RuntimeWarning,
            stacklevel=4,  # the call of the procedure
        )
    replicates.flags.writeable = False
    return replicates


def undefined(n_resamples: int) -> Floats:
    """Return the replicates of data with missing values: NaN, read-only."""
    replicates = np.full(n_resamples, np.nan)
    replicates.flags.writeable = False
    return replicates


def difference_name(a: Additive, b: Additive) -> str:
    """Return the statistics' common name, or both."""
    return a.name if a.name == b.name else f"{a.name} - {b.name}"


def _size(term: Term, n_rows: int) -> float:
    """Sum of absolute values over rows."""
    with np.errstate(over="ignore"):
        size = float(np.abs(term).sum()) if isinstance(term, np.ndarray) else n_rows * abs(term)
    if math.isinf(size):
        raise ValueError("the values sum to more than float64 can hold; divide them first")
    return size


def _place(term: Term, unique: list[Term]) -> int:
    """Return where a term stands in the list, adding it if it is new."""
    for place, known in enumerate(unique):
        if _same(term, known):
            return place
    unique.append(term)
    return len(unique) - 1
