"""What the statistics are worth on the rows themselves, before any resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import blocks_of, joined, total_of
from fastboot.designs import Slices
from fastboot.measures import RowsOfCells, measure_rows
from fastboot.sample import Sample
from fastboot.statistics.additive import Tally, Term
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Estimand, Question, estimand
from fastboot.units import Layout, Units, from_rows

__all__ = ["observe", "observed", "rows_of", "totals_of", "units_of"]

Floats = NDArray[np.float64]


def observe(bounds: Sequence[Bound], sample: Sample, cells: Slices | None) -> Floats:
    """Return the observed values of statistics, shape (n_values, n_cells)."""
    return observed(estimand([Question(one) for one in bounds], sample.n_rows), sample, cells)


def observed(target: Estimand, sample: Sample, cells: Slices | None) -> Floats:
    """Return the observed values of an estimand, shape (n_values, n_cells)."""
    n_cells = 1 if cells is None else len(cells.values)
    totals = totals_of(target.terms, sample.n_rows, cells)
    rows = RowsOfCells.of(_row_layout(sample.n_rows, cells), sample.factors, sample.n_rows)
    measure = measure_rows(target, rows)
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


def totals_of(terms: Sequence[Term], n_rows: int, cells: Slices | None) -> list[Any]:
    """Sum of every term over the rows of each cell, shape (n_cells,) or (size, n_cells)."""
    codes = np.zeros(n_rows, np.int64) if cells is None else cells.codes
    n_cells = 1 if cells is None else len(cells.values)

    def total(term: Term) -> Any:
        if isinstance(term, Tally) and cells is None and np.ndim(term.values) == 0:
            counts = np.bincount(term.codes + 1, minlength=term.size + 1)[1:]
            return (counts * float(term.values))[:, None]
        if isinstance(term, Tally) and cells is None:
            found = joined(_tallied(term, *block) for block in blocks_of(0, n_rows))
            return found[:, None]
        if isinstance(term, Tally):
            there = term.codes >= 0
            values = np.broadcast_to(term.values, codes.shape)[there]
            places = term.codes[there] * n_cells + codes[there]
            sums = np.bincount(places, values, term.size * n_cells)
            return sums.reshape(term.size, n_cells)
        if cells is None:
            return np.array([total_of(term) if isinstance(term, np.ndarray) else n_rows * term])
        if isinstance(term, np.ndarray):
            return np.bincount(codes, term, n_cells)
        return np.bincount(codes, minlength=n_cells) * term

    return [total(term) for term in terms]


def _tallied(tally: Tally, start: int, stop: int) -> Any:
    """Sums of a tally whose rows have values of their own, over some of the rows."""
    assert isinstance(tally.values, np.ndarray)
    codes = tally.codes[start:stop]
    there = codes >= 0
    return np.bincount(codes[there], tally.values[start:stop][there], tally.size)


def units_of(target: Estimand, layout: Layout, *, drawn_vary: bool) -> Units | None:
    """Return the units of an estimand's terms; None where it has none."""
    return from_rows(target.terms, layout, drawn_vary=drawn_vary) if target.terms else None


def rows_of(n_rows: int, cells: Slices | None) -> NDArray[np.int64]:
    """Return the number of rows of each cell, shape (n_cells,)."""
    if cells is None:
        return np.array([n_rows])
    return np.bincount(cells.codes, minlength=len(cells.values))
