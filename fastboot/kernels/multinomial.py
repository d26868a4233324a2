"""The weights of a bootstrap resample, for what cannot be summed term by term.

The same draws, from the same words, as the kernels that sum.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.patterns import weigh
from fastboot.kernels.places import BUFFER

__all__ = ["fill_pattern_weights"]


@kernel
def fill_pattern_weights(start, n_units, superblock, shares, first, law, key_0, key_1, weights):
    """Weights of one superblock for consecutive replicates.

    start, n_units : the units of the superblock, among those of all parts
    shares : shape (n_replicates,), int64: draws of the superblock
    weights : shape (n_replicates, all units), float64, overwritten from start to start + n_units
    """
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    counts = np.zeros((n_units + 31) // 32 * 32, np.uint16)
    for r in range(weights.shape[0]):
        weigh(
            n_units, superblock, shares[r], first + r, 0, law, key_0, key_1, words, places, counts
        )
        row = weights[r, start : start + n_units]
        for i in range(n_units):
            row[i] = counts[i]
