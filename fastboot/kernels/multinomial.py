"""The weights of a bootstrap resample, for what cannot be summed term by term.

The same draws, from the same words, as the kernels that sum.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.binomial import binomial
from fastboot.kernels.patterns import weigh
from fastboot.kernels.philox import CLASSES
from fastboot.kernels.places import BUFFER

__all__ = ["fill_class_weights", "fill_pattern_weights"]


@kernel
def fill_pattern_weights(superblock, shares, first, law, key_0, key_1, weights):
    """Weights of one superblock for consecutive replicates.

    shares : shape (n_replicates,), int64: draws of the superblock
    weights : shape (n_replicates, units of the superblock), float64, overwritten
    """
    n_units = weights.shape[1]
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    counts = np.zeros((n_units + 31) // 32 * 32, np.uint16)
    for r in range(weights.shape[0]):
        weigh(
            n_units, superblock, shares[r], first + r, 0, law, key_0, key_1, words, places, counts
        )
        for i in range(n_units):
            weights[r, i] = counts[i]


@kernel
def fill_class_weights(counts, draws, first, key_0, key_1, weights):
    """Weights of classes of equal units for consecutive replicates.

    counts : shape (n_classes,), int64: their multiplicities
    weights : shape (n_replicates, n_classes), float64, overwritten; a row sums to `draws`
    """
    n_units = counts.sum()
    for r in range(weights.shape[0]):
        left = draws
        units = n_units
        for u in range(counts.size):
            drawn = binomial(left, counts[u], units, u, first + r, CLASSES, key_0, key_1)
            left -= drawn
            units -= counts[u]
            weights[r, u] = drawn
