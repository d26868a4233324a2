"""Uniform draws of single units, 32 random bits each.

Whole resamples of few units, the draws that the Poisson counts of a superblock leave missing, the
units within drawn groups and the starts of blocks.
An index is the high half of word * n (Lemire 2019, "Fast random integer generation in an
interval"); the words that would make it uneven are not used, so each unit is equally likely.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact, inlined
from fastboot.kernels.philox import ATTEMPT, PLACES, fill_positions, philox

__all__ = ["BUFFER", "draw_places", "place"]

# Draws at a time: 1 KB of words, and Philox still vectorises.
BUFFER = 256
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inlined
def draw_places(position, wanted, n_units, block, replicate, key_0, key_1, words, places):
    """Draw up to BUFFER units from the words at `position`; return how many were drawn.

    It reads min(BUFFER, wanted + 3) // 4 positions: a word that would be uneven may leave some
    wanted.

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


@exact
def place(word, lane, n_units, position, block, replicate, purpose, key_0, key_1):
    """Return the unit of one word; a word that would make it uneven is drawn again.

    Unlike with `draw_places`, draw i is the word i of its counters in whatever order they are read.

    lane : which of the four words of its counter it is
    n_units : at most 2**32
    purpose : of the first attempt
    """
    n = np.uint64(n_units)
    product = np.uint64(word) * n
    # 2**32 % n is below n: the division is needed once in 2**32 / n draws.
    while (product & _LOW) < n and (product & _LOW) < np.uint64(0x100000000) % n:
        purpose += ATTEMPT
        product = np.uint64(philox(position, block, replicate, purpose, key_0, key_1)[lane]) * n
    return np.int64(product >> _HALF)
