"""Uniform permutations of all systems' outputs within each unit.

Fisher and Yates (1938) in the form of Durstenfeld (1964): the i-th place gets one of the i + 1
outputs that are left, by a word of its own, so that all orders are equally likely.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.philox import PERMUTATIONS, SUPERBLOCK, fill_positions
from fastboot.kernels.places import place

__all__ = ["add_permuted_sums"]

WORDS = 256  # that are made at a time: 1 kB


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
    own = np.empty(terms.shape[1])
    # A counter has four words: those of one unit are next to each other. Words of several units are
    # made at a time, which the processor does side by side: 3.1 instead of 5.4 ns per output of 50
    # systems, 4.2 instead of 8.4 of two (bench_compare).
    positions = (n_systems + 3) // 4
    some = max(1, WORDS // (4 * positions))
    words = np.empty((some * positions, 4), np.uint32)
    block = start // SUPERBLOCK
    for r in range(sums.shape[1]):
        own[:] = 0.0
        for begin in range(start, stop, some):
            end = min(begin + some, stop)
            base = (begin % SUPERBLOCK) * positions
            wanted = words[: (end - begin) * positions]
            fill_positions(base, block, first + r, PERMUTATIONS, key_0, key_1, wanted)
            for unit in range(begin, end):
                at = (unit - begin) * positions
                order[0] = 0
                for i in range(1, n_systems):
                    p, lane = at + i // 4, i % 4
                    j = place(
                        words[p, lane], lane, i + 1, base + p, block, first + r, PERMUTATIONS,
                        key_0, key_1,
                    )  # fmt: skip
                    order[i] = order[j]
                    order[j] = i
                for system in range(n_systems):
                    for k in range(n_terms):
                        own[system * n_terms + k] += terms[unit, order[system] * n_terms + k]
        for term in range(own.size):
            sums[term, r] += own[term]
