"""The weights of a bootstrap resample, for what cannot be summed term by term.

The same draws, from the same words, as the kernels that sum.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.binomial import binomial_scratch, draw_binomials, draw_fair_binomials
from fastboot.kernels.patterns import weigh
from fastboot.kernels.philox import CLASSES, FLIPS
from fastboot.kernels.places import BUFFER

__all__ = ["fill_class_swap_weights", "fill_class_weights", "fill_pattern_weights"]


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
    n_replicates = weights.shape[0]
    left = np.full(n_replicates, np.float64(draws))
    drawn = np.empty(n_replicates)
    scratch = binomial_scratch(n_replicates)
    units = counts.sum()
    for u in range(counts.size):
        draw_binomials(left, counts[u], units, u, first, CLASSES, key_0, key_1, scratch, drawn)
        left -= drawn
        units -= counts[u]
        for r in range(n_replicates):
            weights[r, u] = drawn[r]


@kernel
def fill_class_swap_weights(counts, first, key_0, key_1, weights):
    """Numbers of swapped units of classes of equal units for consecutive replicates.

    counts : shape (n_classes,), int64: their multiplicities
    weights : shape (n_replicates, n_classes), float64, overwritten
    """
    n_replicates = weights.shape[0]
    trials = np.empty(n_replicates)
    swapped = np.empty(n_replicates)
    scratch = binomial_scratch(n_replicates)
    for u in range(counts.size):
        draw_fair_binomials(counts[u], u, first, FLIPS, key_0, key_1, trials, scratch, swapped)
        for r in range(n_replicates):
            weights[r, u] = swapped[r]
