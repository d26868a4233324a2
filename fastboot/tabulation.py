"""Counts of equal columns of numbers: of an array, or of arrays that come one after another.

Equal means the same bits. Distinct columns are numbered in order of first appearance, so a table
made block by block is the table of all blocks together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_CLASSES", "Tabulation", "distinct"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Keeps the hash table at 2**20 slots, 8 MB.
MOST_CLASSES = 1 << 17

# Tried first: a table of 128 KB against one of 8 MB, which takes 2 ms to clear.
_FEW = 1 << 11

_ONCE = np.empty(0, np.int64)
_ONCE.flags.writeable = False


def distinct(
    bits: NDArray[np.uint64], most: int, times: Integers | None = None
) -> tuple[Integers, Integers] | None:
    """Return the first of each set of equal columns, and how many there are; None beyond `most`.

    Parameters
    ----------
    bits
        Shape (n_numbers, n_columns), read-only: bit patterns.
    most
        Distinct columns that are of interest.
    times
        Shape (n_columns,): how often a column counts; None for once.

    Returns
    -------
    tuple
        Places of the first and counts, shape (n_distinct,) each, in order of first appearance.
    """
    few = min(most, _FEW)
    found = _distinct(bits, few, times)
    return _distinct(bits, most, times) if found is None and few < most else found


def _distinct(
    bits: NDArray[np.uint64], most: int, times: Integers | None
) -> tuple[Integers, Integers] | None:
    from fastboot.kernels.collapse import find_classes

    members = np.empty(most, np.int64)
    counts = np.zeros(most, np.int64)
    table = np.full(4 << most.bit_length(), -1, np.int64)  # at most a quarter full
    n_classes = find_classes(bits, _ONCE if times is None else times, table, members, counts)
    if n_classes < 0:
        return None
    return members[:n_classes], counts[:n_classes].copy()


class Tabulation(NamedTuple):
    """Distinct columns of numbers.

    numbers : shape (n_numbers, n_classes), float64
    counts : shape (n_classes,), int64
    """

    numbers: Floats
    counts: Integers

    @classmethod
    def of(cls, numbers: Floats, counts: Integers | None = None) -> Tabulation | None:
        """Count columns, of shape (n_numbers, n_columns); None for more than `MOST_CLASSES`."""
        bits = np.ascontiguousarray(numbers).view(np.uint64)
        bits.flags.writeable = False
        if counts is not None:
            counts = counts.view()
            counts.flags.writeable = False
        found = distinct(bits, min(MOST_CLASSES, numbers.shape[1]), counts)
        return None if found is None else cls(np.ascontiguousarray(numbers[:, found[0]]), found[1])

    def join(self, later: Tabulation) -> Tabulation | None:
        """Return the table of both; None for more than `MOST_CLASSES`."""
        numbers = np.concatenate([self.numbers, later.numbers], axis=1)
        return Tabulation.of(numbers, np.concatenate([self.counts, later.counts]))
