"""How many of a replicate's draws fall into each superblock: a binomial splitting tree.

Node 1 covers all superblocks and has n draws; a node splits its superblocks in two halves and its
draws by one binomial, keyed by (replicate, node). A superblock's share is found by walking down
from the root, so that any part of the data can be resampled alone, on any machine. The walk costs
log2(number of superblocks) binomials of 0.05 us against 25 us for the superblock's own draws.
"""

from __future__ import annotations

from fastboot.compiler import exact, kernel
from fastboot.kernels.binomial import binomial
from fastboot.kernels.philox import SPLITS, SUPERBLOCK

__all__ = ["fill_shares"]


@exact
def _share(superblock, n_units, replicate, key_0, key_1):
    low, high = 0, (n_units + SUPERBLOCK - 1) // SUPERBLOCK
    draws = n_units
    node = 1
    while high - low > 1:
        middle = (low + high) // 2
        begin, split = low * SUPERBLOCK, middle * SUPERBLOCK
        end = min(high * SUPERBLOCK, n_units)
        left = binomial(draws, split - begin, end - begin, node, replicate, SPLITS, key_0, key_1)
        node *= 2
        if superblock < middle:
            draws = left
            high = middle
        else:
            draws -= left
            low = middle
            node += 1
    return draws


@kernel
def fill_shares(superblock, n_units, first, key_0, key_1, shares):
    """Draws of one superblock in consecutive replicates of n_units draws among n_units units.

    shares : shape (n_replicates,), int64, overwritten
    """
    for r in range(shares.size):
        shares[r] = _share(superblock, n_units, first + r, key_0, key_1)
