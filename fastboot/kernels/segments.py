"""Whole resamples of small parts, every draw a place: the sums of many strata or slices at once.

A part draws from its own key, so its resamples do not depend on the other parts.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.places import BUFFER, draw_places

__all__ = ["add_segment_sums", "fill_segment_weights"]


@kernel
def add_segment_sums(terms, entries, parts, keys, first, sums):
    """Sums of resamples of parts.

    terms : shape (n_terms, n_units)
    entries : of tallies, see `add_pattern_products`
    parts : shape (n_parts, 4), int64: first unit, units (at most 2**32), draws, cell
    keys : shape (n_parts, 2), uint32
    sums : shape (n_terms + terms of tallies, n_cells, n_replicates), added to
    """
    n_terms = terms.shape[0]
    offsets, entry_places, values = entries
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    for p in range(parts.shape[0]):
        start, size, draws, cell = parts[p, 0], parts[p, 1], parts[p, 2], parts[p, 3]
        for r in range(sums.shape[2]):
            left = draws
            position = 0
            while left > 0:
                drawn = draw_places(
                    position, left, size, 0, first + r, keys[p, 0], keys[p, 1], words, places
                )
                for k in range(n_terms):
                    total = 0.0
                    for i in range(drawn):
                        total += terms[k, start + places[i]]
                    sums[k, cell, r] += total
                if offsets.size > 0:
                    for i in range(drawn):
                        unit = start + places[i]
                        for e in range(offsets[unit], offsets[unit + 1]):
                            sums[n_terms + entry_places[e], cell, r] += values[e]
                position += min(BUFFER, left + 3) // 4
                left -= drawn


@kernel
def fill_segment_weights(parts, keys, first, weights):
    """Weights of the units in the same resamples; those outside the parts are left alone.

    weights : shape (n_replicates, n_units), float64
    """
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    for p in range(parts.shape[0]):
        start, size, draws = parts[p, 0], parts[p, 1], parts[p, 2]
        for r in range(weights.shape[0]):
            row = weights[r]
            row[start : start + size] = 0.0
            left = draws
            position = 0
            while left > 0:
                drawn = draw_places(
                    position, left, size, 0, first + r, keys[p, 0], keys[p, 1], words, places
                )
                for i in range(drawn):
                    row[start + places[i]] += 1.0
                position += min(BUFFER, left + 3) // 4
                left -= drawn
