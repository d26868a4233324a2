"""Many terms: write the weights of a few replicates once, multiply them with every term.

A table per term costs a table's worth of cache for each; weights are shared by all terms. The
product is written out here, not left to a BLAS, whose blocking (and so the last bits) depends on
the shape of the batch and whose threads would compete with the engine's.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel
from fastboot.kernels.patterns import weigh
from fastboot.kernels.places import BUFFER

__all__ = ["add_pattern_products"]

# Units whose weights (4 x 512 x 8 B = 16 KB) stay in the L1 cache while all terms pass by.
_TILE = 512


@inlined
def _add_products(weights, terms, start, n_units, column, n_columns, tile, sums):
    """Add weights times terms for up to four replicates.

    weights : shape (4, at least n_units), uint16
    tile : shape (4, _TILE), float64, scratch
    """
    for begin in range(0, n_units, _TILE):
        size = min(_TILE, n_units - begin)
        for i in range(4):
            for unit in range(size):
                tile[i, unit] = weights[i, begin + unit]
        w0, w1, w2, w3 = tile[0], tile[1], tile[2], tile[3]
        for k in range(terms.shape[0]):
            term = terms[k, start + begin : start + begin + size]
            s0 = s1 = s2 = s3 = 0.0
            for unit in range(size):
                s0 += w0[unit] * term[unit]
                s1 += w1[unit] * term[unit]
                s2 += w2[unit] * term[unit]
                s3 += w3[unit] * term[unit]
            sums[k, column] += s0
            if n_columns > 1:
                sums[k, column + 1] += s1
            if n_columns > 2:
                sums[k, column + 2] += s2
            if n_columns > 3:
                sums[k, column + 3] += s3


@kernel
def add_pattern_products(terms, start, n_units, superblock, shares, first, law, key_0, key_1, sums):
    """As `add_pattern_sums`, the same draws, by weights."""
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    weights = np.zeros((4, (n_units + 31) // 32 * 32), np.uint16)
    tile = np.empty((4, _TILE))
    for r in range(0, shares.size, 4):
        n_columns = min(4, shares.size - r)
        for i in range(n_columns):
            weigh(
                n_units, superblock, shares[r + i], first + r + i, 0, law, key_0, key_1, words,
                places, weights[i],
            )  # fmt: skip
        _add_products(weights, terms, start, n_units, r, n_columns, tile, sums)
