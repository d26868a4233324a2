"""How often a group of rows is in a resample, where groups are drawn whole.

A language that is drawn twice is two languages of the resample. From the sums over its rows that
cannot be told, so each row gets a share, and the shares of all rows of one copy add up to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Drawn", "shares"]

Integers = NDArray[np.int64]


class Drawn(NamedTuple):
    """What a design draws.

    units : of each row, shape (n_rows,) each: what is drawn whole, or the levels of both factors;
        none for the rows themselves
    inner : of each row what is drawn inside, shape (n_rows,); None for the row itself
    cells : of each row the sample and slice it is in, shape (n_rows,); None for one
    factors : weights of the rows, shape (n_rows,), or None
    """

    units: tuple[Integers, ...]
    inner: Integers | None
    cells: Integers | None
    factors: NDArray[np.float64] | None


def shares(codes: Integers, drawn: Drawn) -> NDArray[np.float64] | None:
    """Return what each row is of one copy of its group, by its weight; None for groups not whole.

    Parameters
    ----------
    codes
        Group of each row, shape (n_rows,).
    drawn
        A group is drawn whole where all its rows, of a cell, are in one unit.

    Raises
    ------
    ValueError
        Groups are in more slices, or fewer, than others.
    """
    rows = np.arange(codes.size)
    cells = np.zeros_like(codes) if drawn.cells is None else drawn.cells
    places, group = _numbered(cells, codes)
    if all(_numbered(group, units)[0].size > places.size for units in drawn.units or (rows,)):
        return None
    # All rows together have a copy of a group from each slice.
    slices = np.bincount(codes[places])
    if np.unique(slices[slices > 0]).size > 1:
        raise ValueError(
            "`by`: the groups of a macro average are drawn whole, but some have rows in more "
            "slices than others, which cannot be averaged over all rows; keep a slice at a time"
        )
    first, unit = _numbered(group, rows if drawn.inner is None else drawn.inner)
    factors = np.ones(codes.size) if drawn.factors is None else drawn.factors
    weight = np.bincount(unit, factors)
    n_units = np.bincount(group[first], weight > 0.0)
    # Units without weight are in no sum.
    share = np.where(weight > 0.0, 1.0 / np.where(weight > 0.0, weight, 1.0), 0.0)
    whole: NDArray[np.float64] = share[unit] / np.maximum(1.0, n_units)[group]
    whole.flags.writeable = False
    return whole


def _numbered(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """Number the pairs there are: a row of each, and the number of each row's."""
    pairs = first * (np.int64(second.max()) + 1) + second
    _, rows, number = np.unique(pairs, return_index=True, return_inverse=True)
    return rows, number
