"""Uniform draws of single units, 32 random bits each.

Whole resamples of few units, and the draws that the Poisson counts of a superblock leave missing.
An index is the high half of word * n (Lemire 2019, "Fast random integer generation in an
interval"); the words that would make it uneven are skipped, so each unit is equally likely.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined
from fastboot.kernels.philox import PLACES, fill_positions

__all__ = ["BUFFER", "draw_places"]

# Draws at a time: 1 KB of words, and Philox still vectorises.
BUFFER = 256
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inlined
def draw_places(position, wanted, n_units, block, replicate, key_0, key_1, words, places):
    """Draw up to BUFFER units from the words at `position`; return how many were drawn.

    words : shape (BUFFER / 4, 4), uint32, scratch
    places : shape (BUFFER,), int64; the first `drawn` are overwritten
    """
    n_positions = min(BUFFER, wanted + 3) // 4
    fill_positions(position, block, replicate, PLACES, key_0, key_1, words[:n_positions])
    n = np.uint64(n_units)
    uneven = np.uint64(0x100000000) % n
    drawn = 0
    for i in range(n_positions):
        for j in range(4):
            product = np.uint64(words[i, j]) * n
            places[drawn] = np.int64(product >> _HALF)
            drawn += int((product & _LOW) >= uneven)
    return min(drawn, wanted)
