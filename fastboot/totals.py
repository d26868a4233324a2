"""Sums of terms over all rows, in blocks: observed values are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastboot.blocks import blocks_of, joined, total_of
from fastboot.designs import Slices
from fastboot.units import Tally, Term

__all__ = ["totals_of"]


def totals_of(terms: Sequence[Term], n_rows: int, cells: Slices | None) -> list[Any]:
    """Sum of every term over the rows of each cell, shape (n_cells,) or (size, n_cells)."""
    if cells is None:
        return [_total(term, n_rows) for term in terms]
    return [_by_cell(term, cells) for term in terms]


def _total(term: Term, n_rows: int) -> Any:
    if not isinstance(term, Tally):
        return np.array([total_of(term) if isinstance(term, np.ndarray) else n_rows * term])
    if np.ndim(term.values) == 0:
        counts = np.bincount(term.codes + 1, minlength=term.size + 1)[1:]
        return (counts * float(term.values))[:, None]
    return joined(_tallied(term, *block) for block in blocks_of(0, n_rows))[:, None]


def _by_cell(term: Term, cells: Slices) -> Any:
    codes, n_cells = cells.codes, len(cells.values)
    if isinstance(term, Tally):
        there = term.codes >= 0
        values = np.broadcast_to(term.values, codes.shape)[there]
        places = term.codes[there] * n_cells + codes[there]
        return np.bincount(places, values, term.size * n_cells).reshape(term.size, n_cells)
    if isinstance(term, np.ndarray):
        return np.bincount(codes, term, n_cells)
    return np.bincount(codes, minlength=n_cells) * term


def _tallied(tally: Tally, start: int, stop: int) -> Any:
    """Sums of a tally whose rows have values of their own, over some of the rows."""
    assert isinstance(tally.values, np.ndarray)
    codes = tally.codes[start:stop]
    there = codes >= 0
    return np.bincount(codes[there], tally.values[start:stop][there], tally.size)
