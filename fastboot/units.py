"""From the terms of rows to the units that are resampled.

A unit is a row, or all rows of a group: for an additive statistic, the sums of their terms. Units
are numbered so that those which are drawn together, the *parts* (strata), lie side by side; the
parts of one answer make a *cell* (a slice of the table, one of two samples). Equal units of a part
can be counted instead of listed (a *class* and its multiplicity), which leaves every law of
resampling as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import blocks_of, joined, sums_by_code, total_of
from fastboot.tabulation import distinct

__all__ = ["Layout", "Tally", "Term", "Units", "collapse", "counted", "from_rows", "one_part"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Constants = Sequence[float | None]


@dataclass(frozen=True, eq=False)
class Tally:
    """Terms of which a row contributes to one at most: counts of classes, sums by bin.

    Attributes
    ----------
    codes
        Shape (n_rows,), int64: the term that a row contributes to, -1 for none.
    size
        Number of terms.
    values
        What it contributes: shape (n_rows,), float64, or one number for all rows.
    """

    codes: Integers
    size: int
    values: Floats | float = 1.0


Term = Floats | float | Tally


@dataclass(frozen=True, eq=False)
class Layout:
    """Which unit a row belongs to, and which units are drawn together.

    Attributes
    ----------
    unit_of_row
        Shape (n_rows,), int64, read-only; None where row i is unit i.
    n_units
        Number of units.
    offsets
        Shape (n_parts + 1,), int64: part p has the units from offsets[p] to offsets[p + 1] - 1.
    cell_of_part
        Shape (n_parts,), int64, ascending: the answer that a part belongs to.
    n_cells
        Number of answers.
    """

    unit_of_row: Integers | None
    n_units: int
    offsets: Integers
    cell_of_part: Integers
    n_cells: int

    @property
    def sizes(self) -> Integers:
        """Units of each part."""
        return np.diff(self.offsets)

    @property
    def cell_offsets(self) -> Integers:
        """Shape (n_cells + 1,): cell c has the units from this on."""
        first = np.searchsorted(self.cell_of_part, np.arange(self.n_cells + 1))
        return self.offsets[first]

    def sums_by_cell(self, units: Floats) -> Floats:
        """Sum over the units of each cell: from shape (..., n_units) to (..., n_cells)."""
        sums: Floats = (
            total_of(units)[..., None]
            if self.n_cells == 1
            else np.add.reduceat(units, self.cell_offsets[:-1], axis=-1)
        )
        return sums


def one_part(n_units: int, unit_of_row: Integers | None = None) -> Layout:
    """Return the layout of units that are all drawn together, for one answer."""
    return Layout(unit_of_row, n_units, np.array([0, n_units]), np.zeros(1, np.int64), 1)


class Place(NamedTuple):
    """Where the sums of a term are: rows `start` to `start + size`, or a constant."""

    start: int
    size: int
    constant: float | None


class Sparse(NamedTuple):
    """Entries of the tallies, unit by unit.

    offsets : shape (n_units + 1,), int64: unit i has the entries from offsets[i] on
    terms : shape (n_entries,), int64: place among the sums of tallies
    values : shape (n_entries,), float64
    """

    offsets: Integers
    terms: Integers
    values: Floats

    def of(self, units: Integers) -> Sparse:
        """Return the entries of some units."""
        numbers = np.diff(self.offsets)[units]
        offsets = np.concatenate([[0], np.cumsum(numbers)])
        entries = np.repeat(self.offsets[units] - offsets[:-1], numbers) + np.arange(offsets[-1])
        return Sparse(*map(_read_only, (offsets, self.terms[entries], self.values[entries])))


@dataclass(frozen=True, eq=False)
class Units:
    """Units, by the terms that vary among them.

    Attributes
    ----------
    varying
        Shape (n_varying, n_units or n_classes), float64, C-contiguous, read-only.
    sparse
        The terms of the tallies, of units listed singly; None where there is no tally.
    places
        For each term of the statistic, where its sums are: first the rows of `varying`, then the
        terms of the tallies.
    n_sums
        Number of sums: rows of `varying` and terms of tallies.
    counts
        Multiplicity of each class, shape (n_classes,), int64; None where units are listed singly.
    layout
        Of the units.
    """

    varying: Floats
    sparse: Sparse | None
    places: tuple[Place, ...]
    n_sums: int
    counts: Integers | None
    layout: Layout

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.layout.n_units

    @property
    def entries(self) -> Sparse:
        """The entries of the tallies, empty where there is none: what kernels take."""
        return _NO_ENTRIES if self.sparse is None else self.sparse

    def totals(self) -> list[Any]:
        """Sum of every term over the units of each cell, shape (..., n_cells)."""
        return self.expand(self.sums(), np.diff(self.layout.cell_offsets))

    def sums(self) -> Floats:
        """Sums that vary, over the units of each cell, shape (n_sums, n_cells)."""
        if self.counts is None:
            dense = self.layout.sums_by_cell(self.varying)
        else:
            # Not a matrix product, whose last bits depend on the threads of BLAS.
            dense = (self.varying * self.counts).sum(axis=1, keepdims=True)
        sums = np.zeros((self.n_sums, self.layout.n_cells))
        sums[: len(dense)] = dense
        if self.sparse is not None:
            sums[len(dense) :] = self._tallied(self.sparse, self.n_sums - len(dense))
        return sums

    def _tallied(self, sparse: Sparse, n_terms: int) -> Floats:
        """Sums of the tallies, shape (n_terms, n_cells)."""
        offsets, terms, values = sparse
        n_cells = self.layout.n_cells
        if n_cells > 1:
            entries = np.diff(offsets[self.layout.cell_offsets])
            where = terms * n_cells + np.repeat(np.arange(n_cells), entries)
            of_cells: Any = np.bincount(where, values, n_terms * n_cells)
            return np.reshape(of_cells, (n_terms, n_cells))
        if self.counts is not None:
            values = values * np.repeat(self.counts, np.diff(offsets))

        def of_block(first: int, last: int) -> Any:
            entries = slice(offsets[first], offsets[last])
            return np.bincount(terms[entries], values[entries], n_terms)

        total: Floats = joined(of_block(*block) for block in blocks_of(0, offsets.size - 1))
        return total[:, None]

    def expand(self, sums: Floats, n_drawn: Any) -> list[Any]:
        """Sums of all terms from the sums that vary.

        Parameters
        ----------
        sums
            Shape (n_sums, ...).
        n_drawn
            Units in each sum; broadcasts against the rest of the shape.
        """
        return [
            _constant_sum(place.constant, n_drawn, sums.shape[1:])
            if place.constant is not None
            else sums[place.start]
            if place.size == 0
            else sums[place.start : place.start + place.size]
            for place in self.places
        ]


def _constant_sum(constant: float, n_drawn: Any, shape: tuple[int, ...]) -> Any:
    return np.broadcast_to(np.multiply(n_drawn, constant, dtype=np.float64), shape)


def from_rows(
    terms: Sequence[Term],
    layout: Layout,
    *,
    drawn_vary: bool = False,
    constants: Constants | None = None,
) -> Units:
    """Return the units of a table: its rows, or the sums of its groups.

    Parameters
    ----------
    terms
        One array of shape (n_rows,) for each term, a number where all rows have the same, or a
        tally.
    layout
        Which unit a row belongs to.
    drawn_vary
        Resamples differ in their number of units: take a term for constant only where it is 0.
    constants
        Of one block of rows: for each term the value that it has in all rows of the table, or None;
        by default, that is found out.
    """
    sizes = (
        None
        if layout.unit_of_row is None
        else np.bincount(layout.unit_of_row, minlength=layout.n_units)
    )
    varying: list[Any] = []
    found: list[Place | Tally] = []
    for number, term in enumerate(terms):
        if isinstance(term, Tally):
            found.append(term)
            continue
        summed = term if sizes is None else _unit_sums(term, layout, sizes)
        constant = _constant(summed) if constants is None else constants[number]
        if drawn_vary and constant != 0.0:
            constant = None
        found.append(Place(len(varying), 0, constant))
        if constant is None:
            varying.append(summed)
    places, n_sums = [], len(varying)
    tallies = []
    for place in found:
        if isinstance(place, Tally):
            tallies.append((n_sums - len(varying), place))
            places.append(Place(n_sums, place.size, None))
            n_sums += place.size
        else:
            places.append(place)
    sparse = _entries(tallies, layout, n_sums - len(varying)) if tallies else None
    return Units(_stack(varying, layout.n_units), sparse, tuple(places), n_sums, None, layout)


def _entries(tallies: Sequence[tuple[int, Tally]], layout: Layout, n_terms: int) -> Sparse:
    """Entries of all tallies, sorted by unit; those of a group for one term are summed."""
    terms = np.stack([tally.codes + start for start, tally in tallies], axis=1)
    values = np.empty(terms.shape)
    for column, (start, tally) in enumerate(tallies):
        values[:, column] = tally.values
        absent = tally.codes < 0  # an entry of 0: all rows have as many, and can collapse
        terms[absent, column] = start
        values[absent, column] = 0.0
    n_rows, width = terms.shape
    if layout.unit_of_row is None:
        offsets = width * np.arange(n_rows + 1)
        return Sparse(*map(_read_only, (offsets, terms.ravel(), values.ravel())))
    key = (layout.unit_of_row[:, None] * np.int64(n_terms) + terms).ravel()
    keys, inverse = np.unique(key, return_inverse=True)
    unit, term = np.divmod(keys, n_terms)
    offsets = np.searchsorted(unit, np.arange(layout.n_units + 1))
    summed = sums_by_code(inverse.reshape(values.shape), values, keys.size)
    return Sparse(*map(_read_only, (offsets, term, summed)))


def collapse(units: Units, start: int, stop: int, most: int) -> Units | None:
    """Return the units from start to stop - 1 as classes, None where these are more than `most`.

    Classes are numbered in order of first appearance, which negating or exchanging terms does not
    change: a comparison of b with a draws the same resamples as one of a with b.

    Parameters
    ----------
    units
        Listed singly.
    start, stop
        The units of one part.
    most
        Classes that are worth it.
    """
    n_units = stop - start
    if most == 0:
        return None
    bits = _bits(units, start, stop)
    if bits is None:
        return None
    found = distinct(bits, most)
    return None if found is None else _classes(units, start + found[0], found[1], n_units)


def counted(units: Units, times: Integers, n_units: int) -> Units:
    """Return units that stand for several each as classes: those that are equal become one.

    Parameters
    ----------
    units
        Listed singly.
    times
        How many each stands for, shape (n_listed,), read-only.
    n_units
        How many all are.
    """
    bits = _bits(units, 0, units.n_units)
    assert bits is not None  # rows have as many entries each
    found = distinct(bits, units.n_units, times)
    assert found is not None
    return _classes(units, *found, n_units)


def _classes(units: Units, chosen: Integers, counts: Integers, n_units: int) -> Units:
    sparse = None if units.sparse is None else units.sparse.of(chosen)
    varying = _read_only(np.ascontiguousarray(units.varying[:, chosen]))
    layout = one_part(n_units)
    return Units(varying, sparse, units.places, units.n_sums, _read_only(counts), layout)


def _bits(units: Units, start: int, stop: int) -> NDArray[np.uint64] | None:
    """Bit patterns of the units' terms, a column for each unit; None where entries are ragged."""
    dense: NDArray[np.uint64] = _read_only(
        np.ascontiguousarray(units.varying[:, start:stop]).view(np.uint64)
    )
    if units.sparse is None:
        return dense
    width = _width(units.sparse, start, stop)
    if width < 0:
        return None
    first = units.sparse.offsets[start]
    entries = slice(first, first + width * (stop - start))
    terms = units.sparse.terms[entries].view(np.uint64).reshape(-1, width).T
    values = units.sparse.values[entries].view(np.uint64).reshape(-1, width).T
    bits: NDArray[np.uint64] = np.concatenate([dense, terms, values])
    bits.flags.writeable = False
    return bits


def _width(sparse: Sparse, start: int, stop: int) -> int:
    """Entries of each unit from start to stop - 1, -1 where their numbers differ."""
    numbers = np.diff(sparse.offsets[start : stop + 1])
    return int(numbers[0]) if (numbers == numbers[0]).all() else -1


def _unit_sums(term: Floats | float, layout: Layout, sizes: Integers) -> Floats:
    """Sum of a term in every unit."""
    if isinstance(term, np.ndarray):
        assert layout.unit_of_row is not None
        return sums_by_code(layout.unit_of_row, term, sizes.size)
    return np.asarray(term * sizes, dtype=np.float64)


def _constant(term: Floats | float) -> float | None:
    """Return the one value of a term, or None where it varies."""
    if not isinstance(term, np.ndarray):
        return float(term)
    first = term[0]
    if term[-1] == first and bool(np.all(term == first)):
        return float(first)
    return None


def _stack(terms: Sequence[Floats | float], n_units: int) -> Any:
    """One row per term; no copy for a single contiguous term."""
    if len(terms) == 1 and isinstance(terms[0], np.ndarray) and terms[0].flags.c_contiguous:
        return _read_only(terms[0].reshape(1, n_units))
    stacked = np.empty((len(terms), n_units))
    for row, term in zip(stacked, terms, strict=True):
        row[:] = term
    return _read_only(stacked)


def _read_only(array: Any) -> Any:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


_NO_ENTRIES = Sparse(*(_read_only(np.empty(0, kind)) for kind in (np.int64, np.int64, np.float64)))
