"""Uniform permutations of all systems' outputs within each unit.

Fisher and Yates (1938) in the form of Durstenfeld (1964): the i-th place gets one of the i + 1
outputs that are left, by a word of its own, so that all orders are equally likely.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.philox import PERMUTATIONS, SUPERBLOCK, philox
from fastboot.kernels.places import place

__all__ = ["add_permuted_sums"]


@kernel
def add_permuted_sums(terms, n_systems, start, stop, first, key_0, key_1, sums):
    """Sums of the terms that each system has after permutations, for consecutive replicates.

    terms : shape (n_units, n_systems x terms of one): a row has those of the first system, then
        those of the second
    start, stop : the units to visit, of one superblock
    sums : shape (n_systems x terms of one, n_replicates), added to
    """
    n_terms = terms.shape[1] // n_systems
    order = np.empty(n_systems, np.int64)
    # A counter has four words: those of one unit are next to each other.
    positions = (n_systems + 3) // 4
    for r in range(sums.shape[1]):
        for unit in range(start, stop):
            at = (unit % SUPERBLOCK) * positions
            block = unit // SUPERBLOCK
            for i in range(n_systems):
                order[i] = i
            for p in range(positions):
                words = philox(at + p, block, first + r, PERMUTATIONS, key_0, key_1)
                for lane in range(4):
                    i = 4 * p + lane
                    if 0 < i < n_systems:
                        j = place(
                            words[lane], lane, i + 1, at + p, block, first + r, PERMUTATIONS,
                            key_0, key_1,
                        )  # fmt: skip
                        order[i] = order[j]
                        order[j] = i
            for system in range(n_systems):
                for k in range(n_terms):
                    sums[system * n_terms + k, r] += terms[unit, order[system] * n_terms + k]
