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

# Replicates at a time: terms are read from memory once for all of them. Their weights take 1 MB.
_REPLICATES = 8
# Units at a time: 8 x 256 weights as float64 (16 KB) stay in the L1 cache while all terms pass by.
_TILE = 256


@inlined
def _multiply(weights, terms, start, n_units, tile, sums):
    """Weights times terms for eight replicates.

    weights : shape (8, at least n_units), uint16
    tile : shape (8, _TILE), float64, scratch
    sums : shape (n_terms, 8), overwritten
    """
    sums[:] = 0.0
    for begin in range(0, n_units, _TILE):
        size = min(_TILE, n_units - begin)
        for r in range(_REPLICATES):
            # Slices: an index that might be negative keeps the loop from vectorising.
            numbers, line = weights[r, begin : begin + size], tile[r]
            for unit in range(size):
                line[unit] = numbers[unit]
        for k in range(0, sums.shape[0], 2):
            # Two terms and four replicates at once: six loads for eight products. The last of an
            # odd number of terms goes twice.
            other = min(k + 1, sums.shape[0] - 1)
            term = terms[k, start + begin : start + begin + size]
            next_term = terms[other, start + begin : start + begin + size]
            for r in range(0, _REPLICATES, 4):
                w0, w1, w2, w3 = tile[r], tile[r + 1], tile[r + 2], tile[r + 3]
                s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = 0.0
                for unit in range(size):
                    s0 += w0[unit] * term[unit]
                    s1 += w1[unit] * term[unit]
                    s2 += w2[unit] * term[unit]
                    s3 += w3[unit] * term[unit]
                    t0 += w0[unit] * next_term[unit]
                    t1 += w1[unit] * next_term[unit]
                    t2 += w2[unit] * next_term[unit]
                    t3 += w3[unit] * next_term[unit]
                sums[k, r] += s0
                sums[k, r + 1] += s1
                sums[k, r + 2] += s2
                sums[k, r + 3] += s3
                if other != k:
                    sums[other, r] += t0
                    sums[other, r + 1] += t1
                    sums[other, r + 2] += t2
                    sums[other, r + 3] += t3


@inlined
def _scatter(weights, entries, start, n_units, first_row, sums):
    """Weights times the entries of tallies for eight replicates.

    entries : offsets of all units, places and values, see `add_pattern_products`
    sums : shape (first_row + terms of tallies, 8), added to
    """
    offsets, places, values = entries
    for r in range(_REPLICATES):
        row = weights[r]
        for unit in range(n_units):
            if row[unit] != 0:
                weight = np.float64(row[unit])
                for e in range(offsets[start + unit], offsets[start + unit + 1]):
                    sums[first_row + places[e], r] += weight * values[e]


@kernel
def add_pattern_products(
    terms, entries, start, n_units, superblock, shares, first, law, key_0, key_1, sums
):
    """As `add_pattern_sums`, the same draws, by weights; for tallies too.

    entries : three arrays: shape (all units + 1,), int64: unit i has the entries from offsets[i]
        on; shape (n_entries,), int64 and float64: a term among the tallies', and what a draw adds
        to it. Empty where there is no tally.
    sums : shape (n_terms + terms of tallies, n_replicates), added to
    """
    n_terms = terms.shape[0]
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    weights = np.zeros((_REPLICATES, (n_units + 31) // 32 * 32), np.uint16)
    tile = np.empty((_REPLICATES, _TILE))
    products = np.empty((sums.shape[0], _REPLICATES))
    for r in range(0, shares.size, _REPLICATES):
        n_columns = min(_REPLICATES, shares.size - r)
        for i in range(n_columns):
            weigh(
                n_units, superblock, shares[r + i], first + r + i, 0, law, key_0, key_1, words,
                places, weights[i],
            )  # fmt: skip
        products[n_terms:] = 0.0
        _multiply(weights, terms, start, n_units, tile, products[:n_terms])
        if entries[0].size > 0:
            _scatter(weights, entries, start, n_units, n_terms, products)
        for k in range(sums.shape[0]):
            for i in range(n_columns):
                sums[k, r + i] += products[k, i]
