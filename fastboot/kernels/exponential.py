"""The Bayesian bootstrap: independent exponential weights, to be divided by their sum.

That makes them Dirichlet(1, ..., 1), the posterior law of the probabilities of the units (Rubin
1981, "The Bayesian bootstrap").
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact, kernel
from fastboot.kernels.arithmetic import logarithm
from fastboot.kernels.philox import EXPONENTIALS, fill_positions, unit_interval
from fastboot.kernels.places import BUFFER

__all__ = ["fill_exponential_weights", "minus_log_uniform"]

_HALF = np.uint64(32)


@exact
def minus_log_uniform(two_words):
    """Return a standard exponential from 53 bits: -log(u) with u in (0, 1], at most 36.7.

    two_words : uint64, the first word in the low half
    """
    return -logarithm(1.0 - unit_interval(np.uint32(two_words), np.uint32(two_words >> _HALF)))


@kernel
def fill_exponential_weights(superblock, first, key_0, key_1, weights):
    """Independent standard exponentials of one superblock for consecutive replicates.

    weights : shape (n_replicates, n_units), float64, overwritten; n_units at most one superblock
    """
    n_units = weights.shape[1]
    words = np.empty((BUFFER // 4, 4), np.uint32)
    pairs = words.ravel().view(np.uint64)
    for r in range(weights.shape[0]):
        for begin in range(0, n_units, pairs.size):
            row = weights[r, begin : begin + pairs.size]
            drawn = words[: (row.size + 1) // 2]
            fill_positions(begin // 2, superblock, first + r, EXPONENTIALS, key_0, key_1, drawn)
            for unit in range(row.size):
                row[unit] = minus_log_uniform(pairs[unit])
