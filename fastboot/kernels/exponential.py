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


@exact
def minus_log_uniform(high, low):
    """Return a standard exponential from two words: -log(u) with u in (0, 1], at most 36.7."""
    return -logarithm(1.0 - unit_interval(high, low))


@kernel
def fill_exponential_weights(superblock, first, key_0, key_1, weights):
    """Independent standard exponentials of one superblock for consecutive replicates.

    weights : shape (n_replicates, n_units), float64, overwritten; n_units at most one superblock
    """
    n_units = weights.shape[1]
    words = np.empty((BUFFER // 4, 4), np.uint32)
    for r in range(weights.shape[0]):
        for begin in range(0, n_units, BUFFER // 2):
            row = weights[r, begin : begin + BUFFER // 2]
            drawn = words[: (row.size + 1) // 2]
            fill_positions(begin // 2, superblock, first + r, EXPONENTIALS, key_0, key_1, drawn)
            half = row.size // 2
            for i in range(half):  # two at a time: 8 ns a unit; one of words[i // 2] takes 22
                row[2 * i] = minus_log_uniform(words[i, 0], words[i, 1])
                row[2 * i + 1] = minus_log_uniform(words[i, 2], words[i, 3])
            if row.size > 2 * half:
                row[2 * half] = minus_log_uniform(words[half, 0], words[half, 1])
