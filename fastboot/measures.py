"""From weights of units to values: sums of terms, and statistics of row weights cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.statistics.base import Vector
from fastboot.statistics.bound import Bound
from fastboot.statistics.checks import check_returned
from fastboot.statistics.estimand import Estimand
from fastboot.statistics.weighted import Weighted
from fastboot.units import Layout, Units

__all__ = [
    "Measure",
    "MeasureExchanged",
    "MeasureRows",
    "RowsOfCells",
    "evaluator",
    "weighted_of",
    "weighted_sums",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowsOfCells:
    """Rows in the order of their cells, for statistics of row weights.

    Attributes
    ----------
    order
        Shape (n_rows,): the rows, cell by cell; None where there is one cell.
    offsets
        Shape (n_cells + 1,): cell c has the rows from offsets[c] on, in that order.
    units
        Shape (n_rows,), int64, in that order: unit of each row; empty where row i is unit i.
    factors
        Shape (n_rows,), in that order: weights of their own; empty where all are 1.
    """

    order: Integers | None
    offsets: Integers
    units: Integers
    factors: Floats

    @classmethod
    def of(cls, layout: Layout, factors: Floats | None, n_rows: int) -> RowsOfCells:
        """Return the rows of a layout."""
        units = layout.unit_of_row
        own = np.empty(0) if factors is None else factors
        if layout.n_cells == 1:
            codes = np.empty(0, np.int64) if units is None else units
            return cls(None, np.array([0, n_rows]), _read_only(codes), _read_only(own))
        assert units is not None
        cells = np.searchsorted(layout.cell_offsets, units, side="right") - 1
        order = np.argsort(cells, kind="stable")
        offsets = np.searchsorted(cells[order], np.arange(layout.n_cells + 1))
        own = own[order] if own.size else own
        return cls(order, offsets, _read_only(units[order]), _read_only(own))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.offsets[-1])

    def prepare(self, bound: Bound) -> list[Any]:
        """Prepare a statistic for the rows of each cell."""
        assert isinstance(bound.statistic, Weighted)
        if self.order is None:
            return [bound.statistic.prepare(*bound.columns)]
        edges = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        return [
            bound.statistic.prepare(
                *(_taken(column, self.order[start:stop]) for column in bound.columns)
            )
            for start, stop in edges
        ]

    def spread(self, weights: Floats) -> Floats:
        """Return the weights of the rows, shape (n_replicates, n_rows), from those of the units."""
        if not self.units.size and not self.factors.size:
            return weights
        from fastboot.kernels.weighing import spread

        rows = np.empty((len(weights), self.n_rows))
        spread(_read_only(weights), self.units, self.factors, rows)
        return rows


def _taken(column: Any, rows: Integers) -> Any:
    if isinstance(column, np.ndarray):
        return _read_only(column[rows])
    return column._replace(codes=_read_only(column.codes[rows]))


class _Measured(NamedTuple):
    """A statistic of row weights, prepared for each cell."""

    bound: Bound
    prepared: list[Any]

    def values(self, first: int, rows: Floats, offsets: Integers) -> Floats:
        """Return the values, shape (n_values, n_cells, n_replicates), for weights of the rows."""
        out = np.empty((self.bound.n_values, len(self.prepared), len(rows)))
        for cell, prepared in enumerate(self.prepared):
            start, stop = offsets[cell], offsets[cell + 1]
            own = rows if len(self.prepared) == 1 else rows[:, start:stop]
            out[:, cell] = self._of_cell(first, prepared, _read_only(own))
        return out

    def _of_cell(self, first: int, prepared: Any, rows: Floats) -> Floats:
        statistic = weighted_of(self.bound)
        n = len(rows)
        if n == 0:  # the range that compiles kernels; these ran for the estimate
            return np.empty((self.bound.n_values, 0))
        try:
            with np.errstate(all="ignore"):
                returned = statistic.values(prepared, rows)
        except Exception as error:
            error.add_note(f"{statistic.name}, {_which(first, n)}")
            raise
        wanted = (self.bound.n_values, n) if isinstance(statistic, Vector) else (n,)
        value = check_returned(f"{statistic.name}.values()", returned)
        if value.shape != wanted:
            raise TypeError(
                f"{statistic.name}.values() returned shape {value.shape} for {n} replicates; "
                f"return shape {wanted}"
            )
        return np.where(np.isfinite(value), value, np.nan)


def _which(first: int, n: int) -> str:
    if first < 0:
        return "of the rows given, not of a resample"
    return f"in replicate {first}" + (f" or up to {first + n - 1}" if n > 1 else "")


# From the first replicate's number (for messages; negative for none) and the weights of the units,
# shape (n_replicates, n_units), to the values of each statistic, shape (n_labels, n_cells,
# n_replicates).
Measure = Callable[[int, Floats], list[Floats]]


class MeasureRows:
    """How to compute statistics of row weights for drawn units.

    Sent to another process, it takes the rows along and prepares the statistics there.

    Parameters
    ----------
    bounds
        The statistics.
    rows
        Their rows.
    """

    def __init__(self, bounds: Sequence[Bound], rows: RowsOfCells) -> None:
        self.rows = rows
        self._bounds = tuple(bounds)
        self._measured = [_Measured(bound, rows.prepare(bound)) for bound in bounds]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._bounds, self.rows)

    def __call__(self, first: int, weights: Floats) -> list[Floats]:
        """Return the values, see `Measure`."""
        spread = self.rows.spread(weights) if self._measured else weights
        return [one.values(first, spread, self.rows.offsets) for one in self._measured]


class MeasureExchanged:
    """How to compute statistics of two systems whose rows were exchanged.

    Parameters
    ----------
    bounds
        Statistics in pairs, the first system's and the second's, with the columns of the pooled
        rows.
    rows
        The pooled rows. Their unit's weight is 1 where the unit is exchanged (or given to the first
        system), else 0.
    stays
        Shape (n_rows,): a row that the first system has where its unit is not exchanged.
    """

    def __init__(
        self, bounds: Sequence[Bound], rows: RowsOfCells, stays: NDArray[np.bool_]
    ) -> None:
        self.rows = rows
        self._made_of = tuple(bounds), rows, stays
        self._measured = [_Measured(bound, rows.prepare(bound)) for bound in bounds[::2]]
        self._flipped = stays if rows.order is None else stays[rows.order]
        self._own = rows.factors if rows.factors.size else 1.0
        self._plain = RowsOfCells(rows.order, rows.offsets, rows.units, np.empty(0))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    def __call__(self, first: int, weights: Floats) -> list[Floats]:
        """Return the values, see `Measure`."""
        if not self._measured:
            return []
        spread = self._plain.spread(weights)
        in_first = np.where(self._flipped, 1.0 - spread, spread)
        in_second = 1.0 - in_first
        return [
            one.values(first, self._own * side, self.rows.offsets)
            for one in self._measured
            for side in (in_first, in_second)
        ]


def weighted_sums(units: Units, weights: Floats) -> Floats:
    """Return the sums that vary, (n_sums, n_cells, n_replicates), for weights of the units."""
    from fastboot.kernels.weighing import add_tallies, add_weighted_sums

    cells = units.layout.cell_offsets if units.counts is None else np.array([0, units.counts.size])
    cells, weights = _read_only(cells), _read_only(weights)
    sums = np.zeros((units.n_sums, cells.size - 1, len(weights)))
    if len(units.varying):
        add_weighted_sums(weights, units.varying, cells, sums)
    if units.sparse is not None:
        add_tallies(weights, *units.sparse, len(units.varying), cells, sums)
    return sums


def evaluator(
    estimand: Estimand, units: Units | None, measure: Measure, n_cells: int, n_drawn: Any
) -> Callable[[int, Floats], Floats]:
    """Return the function from weights of units to values, (n_values, n_cells, n_replicates).

    Parameters
    ----------
    estimand
        What to compute.
    units
        Of its terms; None where it has none.
    measure
        Computes its statistics of row weights.
    n_cells
        Answers.
    n_drawn
        Units drawn in each cell, shape (n_cells, 1); for terms that are constant.
    """

    def values(first: int, weights: Floats) -> Floats:
        sums = [] if units is None else units.expand(weighted_sums(units, weights), n_drawn)
        return estimand.value(sums, measure(first, weights), (n_cells, len(weights)))

    return values


def weighted_of(bound: Bound) -> Weighted:
    """Return the statistic of row weights that was bound."""
    assert isinstance(bound.statistic, Weighted)
    return bound.statistic


def _read_only(array: Any) -> Any:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
