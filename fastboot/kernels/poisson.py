"""The Poisson bootstrap: every unit is drawn Poisson(1) times, whatever the others are.

The law of multinomial counts of endlessly many units (Hanley and MacGibbon 2006, "Creating
non-parametric bootstrap samples using Poisson frequencies"). The number of draws varies.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.patterns import count_poisson
from fastboot.kernels.places import BUFFER

__all__ = ["fill_poisson_weights"]


@kernel
def fill_poisson_weights(superblock, first, law, key_0, key_1, weights):
    """Independent Poisson counts of one superblock for consecutive replicates.

    law : the tables of `pattern_law`, of rate 1
    weights : shape (n_replicates, n_units), float64, overwritten; n_units at most one superblock
    """
    n_units = weights.shape[1]
    words = np.empty((BUFFER // 4, 4), np.uint32)
    counts = np.empty((n_units + 31) // 32 * 32, np.uint16)
    fours = counts.view(np.uint64)
    for r in range(weights.shape[0]):
        count_poisson(n_units, superblock, first + r, 0, law, key_0, key_1, words, counts, fours)
        for unit in range(n_units):
            weights[r, unit] = counts[unit]
