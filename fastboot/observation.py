"""What the statistics are worth on the rows themselves, before any resampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastboot.designs import Slices
from fastboot.measures import MeasureRows, RowsOfCells
from fastboot.sample import Sample
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Estimand, Question
from fastboot.units import Layout, Units, from_rows

__all__ = ["observe", "observed", "rows_of", "units_of"]

Floats = NDArray[np.float64]


def observe(bounds: Sequence[Bound], sample: Sample, cells: Slices | None) -> Floats:
    """Return the observed values of statistics, shape (n_values, n_cells)."""
    return observed(sample.estimand([Question(one) for one in bounds]), sample, cells)


def observed(target: Estimand, sample: Sample, cells: Slices | None) -> Floats:
    """Return the observed values of an estimand, shape (n_values, n_cells)."""
    n_cells = 1 if cells is None else len(cells.values)
    totals = sample.totals(target.terms, cells)
    if not target.weighted:
        return target.value(totals, [], (n_cells,))
    rows = RowsOfCells.of(_row_layout(sample.n_rows, cells), sample.factors, sample.n_rows)
    measure = MeasureRows(target.weighted, rows)
    weighted = [one[:, :, 0] for one in measure(-1, np.ones((1, sample.n_rows)))]
    return target.value(totals, weighted, (n_cells,))


def _row_layout(n_rows: int, cells: Slices | None) -> Layout:
    """Rows as units, in the order of their cells."""
    if cells is None:
        offsets, order = np.array([0, n_rows]), None
        n_cells = 1
    else:
        by_cell = np.argsort(cells.codes, kind="stable")
        order = np.empty(n_rows, np.int64)
        order[by_cell] = np.arange(n_rows)
        n_cells = len(cells.values)
        offsets = np.searchsorted(cells.codes[by_cell], np.arange(n_cells + 1))
    return Layout(order, n_rows, offsets, np.arange(n_cells), n_cells)


def units_of(target: Estimand, layout: Layout, *, drawn_vary: bool) -> Units | None:
    """Return the units of an estimand's terms; None where it has none."""
    return from_rows(target.terms, layout, drawn_vary=drawn_vary) if target.terms else None


def rows_of(n_rows: int, cells: Slices | None) -> NDArray[np.int64]:
    """Return the number of rows of each cell, shape (n_cells,)."""
    if cells is None:
        return np.array([n_rows])
    return np.bincount(cells.codes, minlength=len(cells.values))
