"""Uniform choices without replacement: the labels of two samples, permuted.

A unit is chosen with probability (still to choose) / (units left), one unit after the other
(Fan, Muller and Rezucha 1962; Knuth, TAOCP 2, algorithm 3.4.2 S), so every subset of the wanted
size is equally likely and each unit reads one word.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact, kernel
from fastboot.kernels.philox import ATTEMPT, LABELS, fill_positions, philox

__all__ = ["fill_all_labels", "fill_label_weights"]

_BUFFER = 64  # positions of four words at a time: 1 KB
_BITS = 32


@kernel
def fill_label_weights(start, size, chosen, first, key_0, key_1, weights):
    """Choose `chosen` of the units from start to start + size - 1 for consecutive replicates.

    A word is the first digit of a uniform number u in base 2**32. The sign of wanted * 2**32 - word
    * left decides whether u < wanted / left, but once in 2**32: 2.9 ns a unit, where a division by
    `left` takes 5.2 and a branch on the sign 6.7 (bench_unpaired).

    weights : shape (n_replicates, n_units), float64: 1.0 for a chosen unit, 0.0 for another
    """
    words = np.empty((_BUFFER, 4), np.uint32)
    for r in range(weights.shape[0]):
        row = weights[r, start : start + size]
        wanted = chosen
        for begin in range(0, size, 4 * _BUFFER):
            end = min(begin + 4 * _BUFFER, size)
            n_positions = (end - begin + 3) // 4
            fill_positions(begin // 4, 0, first + r, LABELS, key_0, key_1, words[:n_positions])
            for i in range(begin, end):
                left = size - i
                word = words[(i - begin) // 4, i % 4]
                rest = (wanted << _BITS) - np.int64(word) * left
                if 0 < rest < left:
                    rest = _decided(rest, left, i, first + r, key_0, key_1)
                taken = np.int64(rest > 0)
                row[i] = taken
                wanted -= taken


@exact
def _decided(rest, left, unit, replicate, key_0, key_1):
    """Return a positive number where u < wanted / left, from as many further digits as it takes."""
    purpose = LABELS
    while 0 < rest < left:
        purpose += ATTEMPT
        word = philox(unit // 4, 0, replicate, purpose, key_0, key_1)[unit % 4]
        rest = (rest << _BITS) - np.int64(word) * left
    return rest


@kernel
def fill_all_labels(start, size, chosen, stride, ways, first, weights):
    """List all choices of `chosen` of the units, for consecutive replicates.

    Replicate r has the choice r // stride, again from the first after the last, in the order of
    the sorted numbers of the units chosen.

    ways : number of choices
    weights : shape (n_replicates, n_units), float64: 1.0 for a chosen unit, 0.0 for another
    """
    for r in range(weights.shape[0]):
        row = weights[r, start : start + size]
        rank = (first + r) // stride % ways
        listed, wanted = ways, chosen
        for i in range(size):
            # Of the choices that agree so far, those with this unit come first.
            with_it = listed * wanted // (size - i)
            if rank < with_it:
                row[i] = 1.0
                listed = with_it
                wanted -= 1
            else:
                row[i] = 0.0
                rank -= with_it
                listed -= with_it
