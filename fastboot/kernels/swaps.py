"""Fair independent swaps of two systems' outputs, one random bit per unit.

``terms`` are differences b - a; a swapped unit adds its row. Eight units have 256 possible sums:
a table of them turns eight swaps into one load.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel
from fastboot.kernels.philox import SUPERBLOCK, SWAPS, fill_replicates, philox

__all__ = ["add_all_swap_sums", "add_swap_sums", "fill_all_swaps", "fill_swap_weights"]

# Units that one counter decides.
_WORD_UNITS = 128


@inlined
def _fill_table(terms, k, at, n_real, table):
    """Sums of all 256 subsets of up to eight units."""
    table[0] = 0.0
    for i in range(8):
        value = terms[k, at + i] if i < n_real else 0.0
        for subset in range(1 << i):
            table[(1 << i) + subset] = table[subset] + value


@kernel
def add_swap_sums(terms, start, n_units, superblock, first, key_0, key_1, sums):
    """Sums of the swapped units of one superblock for consecutive replicates.

    terms : shape (n_terms, all units); the superblock is [start, start + n_units)
    sums : shape (n_terms, n_replicates), added to
    """
    n_terms, n_replicates = sums.shape
    if n_replicates == 0:  # called to compile: the tables of a superblock take 0.5 ms a term
        return
    words = np.empty((4, n_replicates), np.uint32)
    tables = np.empty((8, 256))
    byte = np.uint32(0xFF)
    for block in range((n_units + _WORD_UNITS - 1) // _WORD_UNITS):
        fill_replicates(block, superblock, first, SWAPS, key_0, key_1, words)
        for half in range(2):
            low, high = words[2 * half], words[2 * half + 1]
            begin = _WORD_UNITS * block + 64 * half
            for k in range(n_terms):
                for j in range(8):
                    at = begin + 8 * j
                    _fill_table(terms, k, start + at, min(8, n_units - at), tables[j])
                t0, t1, t2, t3 = tables[0], tables[1], tables[2], tables[3]
                t4, t5, t6, t7 = tables[4], tables[5], tables[6], tables[7]
                column = sums[k]
                for r in range(n_replicates):
                    w, v = low[r], high[r]
                    column[r] += (
                        (t0[w & byte] + t1[(w >> np.uint32(8)) & byte])
                        + (t2[(w >> np.uint32(16)) & byte] + t3[w >> np.uint32(24)])
                    ) + (
                        (t4[v & byte] + t5[(v >> np.uint32(8)) & byte])
                        + (t6[(v >> np.uint32(16)) & byte] + t7[v >> np.uint32(24)])
                    )


@kernel
def add_all_swap_sums(terms, sums):
    """Sums of the swapped units for all 2**n_units swaps; bit i of the replicate swaps unit i.

    sums : shape (n_terms, 2**n_units), overwritten
    """
    n_terms, n_units = terms.shape
    for k in range(n_terms):
        sums[k, 0] = 0.0
        for unit in range(n_units):
            for r in range(1 << unit):
                sums[k, (1 << unit) + r] = sums[k, r] + terms[k, unit]


@kernel
def fill_swap_weights(first, key_0, key_1, weights):
    """Write which units are swapped, 1.0, or stay, 0.0, for consecutive replicates.

    weights : shape (n_replicates, n_units), float64, overwritten; the swaps of `add_swap_sums`
    """
    n_replicates, n_units = weights.shape
    for begin in range(0, n_units, _WORD_UNITS):
        superblock, unit = begin // SUPERBLOCK, begin % SUPERBLOCK
        for r in range(n_replicates):
            words = philox(unit // _WORD_UNITS, superblock, first + r, SWAPS, key_0, key_1)
            for j in range(min(_WORD_UNITS, n_units - begin)):
                word = np.uint32(words[j // 32])
                weights[r, begin + j] = np.float64((word >> np.uint32(j % 32)) & np.uint32(1))


@kernel
def fill_all_swaps(first, weights):
    """Write the swaps of an enumeration: bit i of the replicate swaps unit i.

    weights : shape (n_replicates, n_units), float64, overwritten
    """
    for r in range(weights.shape[0]):
        for i in range(weights.shape[1]):
            weights[r, i] = np.float64(((first + r) >> i) & 1)
