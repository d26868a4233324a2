"""Random words: Philox4x32-10 and the layout of its counters.

Philox (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3") maps a
128-bit counter and a 64-bit key to 128 random bits. There is no state: a draw names its counter.

    key      numpy.random.SeedSequence(seed).generate_state(2, uint32)
    counter  (position, block, replicate, purpose)

============ ============================================ ============================ ==========
purpose      what the words decide                        position                     block
============ ============================================ ============================ ==========
SPLITS       draws left of a split of the superblocks     attempt                      tree node
CLASSES      draws of one class of equal units            attempt                      class
PATTERNS     counts of 4 units, 16 bits each              32 units                     superblock
REMAINDERS   counts of 4 units that have no slot          4 units                      superblock
PLACES       one unit, 32 bits each                       4 draws                      superblock
SWAPS        swap of one unit, 1 bit each                 128 units                    superblock
FLIPS        number of swapped units of a class           attempt, or 128 units        class
EXPONENTIALS exponential weight of one unit, 53 bits each 2 units                      superblock
INNER        one unit of a drawn group, 32 bits each      4 draws                      group
STARTS       first row of one block, 32 bits each         4 blocks of rows             0
LENGTHS      number of rows of one block, 53 bits each    2 blocks of rows             0
LABELS       choice of one unit, 1 bit of 8 digits        128 units                    0
ORDER        rank of an order statistic                   attempt                      k-th, next
PERMUTATIONS place of one system's output, 32 bits each   4 systems of one unit        superblock
============ ============================================ ============================ ==========

``PATTERNS``, ``REMAINDERS``, ``INNER``, ``STARTS`` and ``PERMUTATIONS`` add the number of the
attempt times ``ATTEMPT``, ``LABELS`` that of the digit. The Poisson bootstrap reads ``PATTERNS``
and ``REMAINDERS``, first attempt. No two uses share a counter, so no two draws share a word.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact

__all__ = [
    "ATTEMPT", "CLASSES", "EXPONENTIALS", "FLIPS", "INNER", "LABELS", "LENGTHS", "ORDER",
    "PATTERNS", "PERMUTATIONS", "PLACES", "REMAINDERS", "SPLITS", "STARTS", "SUPERBLOCK", "SWAPS",
    "fill_positions", "fill_replicates", "philox", "unit_interval",
]  # fmt: skip

SPLITS, CLASSES, PATTERNS, REMAINDERS, PLACES, SWAPS, FLIPS = range(1, 8)
EXPONENTIALS, INNER, STARTS, LENGTHS = range(8, 12)
LABELS, ORDER, PERMUTATIONS = 15, 16, 17
ATTEMPT = 256
# Units per superblock: 16 bits name a unit, and one term of it (512 KB) stays in the L2 cache.
SUPERBLOCK = 65_536

# Multipliers and Weyl constants of Salmon et al., table 2 and section 3.3.
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint32(0x9E3779B9)
_WEYL_1 = np.uint32(0xBB67AE85)
_HALF = np.uint64(32)


@exact
def philox(position, block, replicate, purpose, key_0, key_1):
    """Return the four 32-bit words of one counter."""
    c0, c1 = np.uint32(position), np.uint32(block)
    c2, c3 = np.uint32(replicate), np.uint32(purpose)
    for _ in range(10):
        product_0 = np.uint64(c0) * _MULTIPLIER_0
        product_1 = np.uint64(c2) * _MULTIPLIER_1
        c0 = np.uint32((product_1 >> _HALF) ^ c1 ^ key_0)
        c1 = np.uint32(product_1)
        c2 = np.uint32((product_0 >> _HALF) ^ c3 ^ key_1)
        c3 = np.uint32(product_0)
        key_0 = np.uint32(key_0 + _WEYL_0)
        key_1 = np.uint32(key_1 + _WEYL_1)
    return c0, c1, c2, c3


@exact
def unit_interval(high, low):
    """Return a multiple of 2**-53 in [0, 1) from two words."""
    bits = (np.uint64(high) << np.uint64(21)) | (np.uint64(low) >> np.uint64(11))
    return float(bits) * 2.0**-53


@exact
def fill_replicates(position, block, first, purpose, key_0, key_1, words):
    """Words of one position for consecutive replicates; the loop vectorises.

    words : shape (4, n_replicates), uint32, overwritten
    """
    for r in range(words.shape[1]):
        w0, w1, w2, w3 = philox(position, block, first + r, purpose, key_0, key_1)
        words[0, r] = w0
        words[1, r] = w1
        words[2, r] = w2
        words[3, r] = w3


@exact
def fill_positions(first, block, replicate, purpose, key_0, key_1, words):
    """Words of consecutive positions for one replicate, in the order they are consumed.

    words : shape (n_positions, 4), uint32, overwritten
    """
    for i in range(words.shape[0]):
        w0, w1, w2, w3 = philox(first + i, block, replicate, purpose, key_0, key_1)
        words[i, 0] = w0
        words[i, 1] = w1
        words[i, 2] = w2
        words[i, 3] = w3
