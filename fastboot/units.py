"""From the terms of rows to the units that are resampled.

A unit is a row, or all rows of a group: for an additive statistic, the sums of their terms. Equal
units can be counted instead of listed (a *class* and its multiplicity), which leaves every law of
resampling as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tally", "Term", "Units", "collapse", "from_rows"]

Floats = NDArray[np.float64]

# Units looked at to decide whether counting classes is worth a pass over all units.
_SAMPLE = 1_024
# Keeps the hash table at 2**20 slots, 8 MB.
_MOST_CLASSES = 1 << 17


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

    codes: NDArray[np.int64]
    size: int
    values: Floats | float = 1.0


Term = Floats | float | Tally


@dataclass(frozen=True, eq=False)
class Units:
    """Units, by the terms that vary among them.

    Attributes
    ----------
    varying
        Shape (n_varying, n_units or n_classes), float64, C-contiguous, read-only.
    constants
        For each term of the statistic: its value in every unit, or None where it varies.
    counts
        Multiplicity of each class, shape (n_classes,), int64; None where units are listed singly.
    n_units
        Number of units.
    """

    varying: Floats
    constants: tuple[float | None, ...]
    counts: NDArray[np.int64] | None
    n_units: int

    def totals(self) -> list[float]:
        """Sum of every term over all units."""
        if self.counts is None:
            sums = self.varying.sum(axis=1)
        else:
            sums = self.varying @ self.counts.astype(np.float64)
        return [float(total) for total in self.expand(sums, self.n_units)]

    def expand(self, sums: Floats, n_drawn: int) -> list[Term]:
        """Sums of all terms from the sums of the varying ones over `n_drawn` units.

        Parameters
        ----------
        sums
            Shape (n_varying, ...).
        n_drawn
            Units in each sum.
        """
        rows: Iterator[Floats] = iter(sums)
        return [
            next(rows) if constant is None else n_drawn * constant for constant in self.constants
        ]


def from_rows(
    terms: Sequence[Term],
    n_rows: int,
    groups: NDArray[np.int64] | None,
    n_groups: int,
    *,
    only_zeros: bool = False,
) -> Units:
    """Return the units of a table: its rows, or the sums of its groups.

    Parameters
    ----------
    terms
        One array of shape (n_rows,) for each term, or a number where all rows have the same.
    n_rows
        Number of rows.
    groups
        Shape (n_rows,), codes from 0 to n_groups - 1; None where rows are the units.
    n_groups
        Number of groups; ignored without `groups`.
    only_zeros
        Take a term for constant only where it is 0: a sum over *some* units of another constant
        varies.
    """
    if groups is None:
        n_units = n_rows
    else:
        n_units = n_groups
        sizes = np.bincount(groups, minlength=n_groups)
        terms = [_group_sums(term, groups, sizes) for term in terms]
    constants: list[float | None] = []
    varying = []
    for term in terms:
        constant = _constant(term)
        if only_zeros and constant != 0.0:
            constant = None
        constants.append(constant)
        if constant is None:
            varying.append(term)
    return Units(_stack(varying, n_units), tuple(constants), None, n_units)


def collapse(units: Units, units_per_class: int) -> Units:
    """Return the same units as classes with multiplicities, where that is less work.

    Classes are numbered in order of first appearance, which negating or exchanging terms does not
    change: a comparison of b with a draws the same resamples as one of a with b.

    Parameters
    ----------
    units
        Listed singly.
    units_per_class
        Classes are less work where they have at least this many units on average; 1 collapses
        whatever it costs.
    """
    n_units = units.n_units
    if units_per_class == 1:
        most = n_units
    else:
        most = min(n_units // units_per_class, _MOST_CLASSES)
        if most == 0 or not _sample_repeats(units.varying):
            return units
    from fastboot.kernels.collapse import find_classes

    members = np.empty(most, np.int64)
    counts = np.zeros(most, np.int64)
    table = np.full(4 << most.bit_length(), -1, np.int64)  # at most a quarter full
    n_classes = find_classes(units.varying.view(np.uint64), table, members, counts)
    if n_classes < 0:
        return units
    chosen = np.ascontiguousarray(units.varying[:, members[:n_classes]])
    return Units(_read_only(chosen), units.constants, counts[:n_classes].copy(), n_units)


def _sample_repeats(varying: Floats) -> bool:
    """Tell whether at most half of an evenly spaced sample of the units are distinct."""
    stride = -(-varying.shape[1] // _SAMPLE)
    sample = np.ascontiguousarray(varying[:, ::stride].T)
    rows = sample.view(np.dtype((np.void, sample.itemsize * sample.shape[1])))
    return np.unique(rows).size <= len(sample) // 2


def _group_sums(term: Term, groups: NDArray[np.int64], sizes: NDArray[np.int64]) -> Floats:
    """Sum of a term in every group."""
    sums = np.bincount(groups, term, sizes.size) if isinstance(term, np.ndarray) else term * sizes
    return np.asarray(sums, dtype=np.float64)


def _constant(term: Term) -> float | None:
    """Return the one value of a term, or None where it varies."""
    if not isinstance(term, np.ndarray):
        return float(term)
    first = term[0]
    if term[-1] == first and bool(np.all(term == first)):
        return float(first)
    return None


def _stack(terms: Sequence[Term], n_units: int) -> Floats:
    """One row per term; no copy for a single contiguous term."""
    if len(terms) == 1 and isinstance(terms[0], np.ndarray) and terms[0].flags.c_contiguous:
        return _read_only(terms[0].reshape(1, n_units))
    stacked = np.empty((len(terms), n_units))
    for row, term in zip(stacked, terms, strict=True):
        row[:] = term
    return _read_only(stacked)


def _read_only(array: Floats) -> Floats:
    view = array.view()
    view.flags.writeable = False
    return view
