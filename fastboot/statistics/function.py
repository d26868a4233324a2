"""Any Python function of resampled columns as a statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.plain import kind_of, real_numbers
from fastboot.statistics.base import Vector
from fastboot.statistics.checks import check_labels
from fastboot.statistics.weighted import Weighted

__all__ = ["statistic"]

Floats = NDArray[np.float64]


class _Function(Weighted):
    """Called once for each replicate, so that an error can say which."""

    batch: ClassVar[int | None] = 1
    # A function takes its time: ranges of replicates stay short, and progress smooth.
    seconds_per_row: ClassVar[float] = 1e-7

    def __init__(self, function: Callable[..., Any], columns: Sequence[Column], name: str) -> None:
        super().__init__(*columns, name=name)
        self._function = function

    def prepare(self, *columns: Any) -> list[NDArray[Any]]:
        return [_labels(column) if isinstance(column, Labels) else column for column in columns]

    def values(self, prepared: list[NDArray[Any]], weights: Floats) -> Any:
        return np.stack([self._call(prepared, counts) for counts in self._counts(weights)], -1)

    def _call(self, columns: list[NDArray[Any]], counts: NDArray[np.int64]) -> Floats:
        rows = np.repeat(np.arange(counts.size), counts)
        if not rows.size:
            return self._undefined(())
        return self._checked(self._function(*(column[rows] for column in columns)), ())

    def _counts(self, weights: Floats) -> NDArray[np.int64]:
        counts = weights.astype(np.int64)
        if not np.array_equal(counts, weights):
            raise TypeError(
                f"{self.name} is a function of rows, which are drawn a whole number of times; "
                'scheme="bayesian" and weights= need a statistic of weights, such as fb.mean'
            )
        return counts

    def _undefined(self, shape: tuple[int, ...]) -> Floats:
        """Return values for no rows (Poisson counts all 0), of which few functions know."""
        labels = (len(self.labels),) if isinstance(self, Vector) else ()
        return np.full((*labels, *shape), np.nan)

    def _checked(self, returned: Any, shape: tuple[int, ...]) -> Floats:
        labels = (len(self.labels),) if isinstance(self, Vector) else ()
        value = real_numbers(returned)
        if value is None or value.shape != (*labels, *shape):
            wanted = f"shape {(*labels, *shape)}" if labels or shape else "one number"
            what = kind_of(returned) if value is None else f"shape {value.shape}"
            raise TypeError(f"{self.name} returned {what}; return {wanted}")
        return value


class _VectorizedFunction(_Function):
    batch: ClassVar[int | None] = None

    def values(self, prepared: list[NDArray[Any]], weights: Floats) -> Any:
        counts = self._counts(weights)
        totals = counts.sum(axis=1)
        if (totals == totals[:1]).all():
            return self._call_batch(prepared, counts)
        # Groups differ in size, so resamples do: one at a time.
        return np.concatenate([self._call_batch(prepared, row[None]) for row in counts], axis=-1)

    def _call_batch(self, columns: list[NDArray[Any]], counts: NDArray[np.int64]) -> Floats:
        n_replicates, n_rows = counts.shape
        if not counts.any():
            return self._undefined((n_replicates,))
        places = np.tile(np.arange(n_rows), n_replicates)
        rows = np.repeat(places, counts.ravel()).reshape(n_replicates, -1)
        returned = self._function(*(column[rows] for column in columns), axis=-1)
        return self._checked(returned, (n_replicates,))


def _labels(column: Labels) -> NDArray[Any]:
    if (column.codes < 0).any():  # nullable: -1 is the last
        return np.array([*column.values, None], dtype=object)[column.codes]
    return np.array(column.values)[column.codes]


class _FunctionVector(Vector, _Function):
    pass


class _VectorizedFunctionVector(Vector, _VectorizedFunction):
    pass


@recorded
def statistic(
    function: Callable[..., Any],
    *columns: Source | Column,
    vectorized: bool = False,
    labels: Sequence[Any] | None = None,
    name: str | None = None,
) -> Weighted:
    """Make a statistic of any Python function of resampled columns.

    The function is called for every replicate, so this is slow beside a statistic of sums (see
    :class:`Additive`) or of weights (:class:`Weighted`). It runs in the library's threads, several
    calls at once; memory is bounded by the batch. An exception ends the run and says in which
    replicate it was raised. Undefined, without a call, where no row was drawn (Poisson counts).

    Parameters
    ----------
    function
        From one array for each column, shape (n,), to one number. The drawn rows come in the order
        of the table, a row drawn twice side by side: a function of the order in time does not
        belong here, even with blocks.
    *columns
        Column name, array of shape (n_rows,) of numbers, or ``fb.Column(..., "label")``, which
        gives the function an array of its labels (None where a nullable one is missing).
    vectorized
        The function gets arrays of shape (n_replicates, n) and ``axis=-1``, and returns shape
        (n_replicates,). Where resamples differ in length (groups), n_replicates is 1.
    labels
        What the values are called if the function returns several: a sequence of as many numbers,
        or shape (n_labels, n_replicates) if `vectorized`. A table answers.
    name
        How results call the statistic; the function's name by default.

    Raises
    ------
    TypeError
        `function` cannot be called, no column is named, or `labels` is no list of labels. When
        run: the function returned something else than it should (complex numbers and strings are
        no numbers), or the scheme draws no whole rows.
    ValueError
        `labels` is empty or repeats a label.

    Examples
    --------
    >>> import numpy as np
    >>> import fastboot as fb
    >>> latency = [120.0, 80.0, 95.0, 310.0, 101.0]
    >>> fb.bootstrap(fb.statistic(np.ptp, latency, vectorized=True), rng=0).estimate
    230.0
    """
    if not callable(function):
        raise TypeError(f"`function` is {function!r}; give something that can be called")
    chosen = name or str(getattr(function, "__name__", type(function).__name__))
    if not columns:
        raise TypeError(f"statistic({chosen}) names no column; give at least one")
    own = [
        column if isinstance(column, Column) else Column(column, "number", f"{chosen}, column {i}")
        for i, column in enumerate(columns, 1)
    ]
    if labels is None:
        return (_VectorizedFunction if vectorized else _Function)(function, own, chosen)
    names = check_labels(labels, "name each value, or leave it None for one value")
    several = (_VectorizedFunctionVector if vectorized else _FunctionVector)(function, own, chosen)
    several.labels = names
    return several
