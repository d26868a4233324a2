"""Uniform choices without replacement: the labels of two samples, permuted.

A unit is chosen with probability (still to choose) / (units left), one unit after the other
(Fan, Muller and Rezucha 1962; Knuth, TAOCP 2, algorithm 3.4.2 S), so every subset of the wanted
size is equally likely and each unit reads one word.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.philox import LABELS, fill_positions

__all__ = ["fill_label_weights"]

_BUFFER = 64  # positions of four words at a time: 1 KB
_BITS = 32


@kernel
def fill_label_weights(start, size, chosen, first, key_0, key_1, weights):
    """Choose `chosen` of the units from start to start + size - 1 for consecutive replicates.

    The words are the digits of a uniform number, compared with those of wanted / left; the first
    digit decides but once in 2**32.

    weights : shape (n_replicates, n_units), float64: 1.0 for a chosen unit, 0.0 for another
    """
    words = np.empty((_BUFFER, 4), np.uint32)
    for r in range(weights.shape[0]):
        row = weights[r, start : start + size]
        wanted = chosen
        used = 4 * _BUFFER
        position = 0
        for i in range(size):
            left = size - i
            numerator = np.uint64(wanted)
            while True:
                if used == 4 * _BUFFER:
                    fill_positions(position, 0, first + r, LABELS, key_0, key_1, words)
                    position += _BUFFER
                    used = 0
                word = np.uint64(words[used // 4, used % 4])
                used += 1
                scaled = numerator << np.uint64(_BITS)
                quotient = scaled // np.uint64(left)
                if word != quotient:
                    row[i] = 1.0 if word < quotient else 0.0
                    break
                numerator = scaled - quotient * np.uint64(left)
                if numerator == 0:
                    row[i] = 0.0
                    break
            if row[i] == 1.0:
                wanted -= 1
