"""The joint law of the Poisson counts of four units, as tables for one 16-bit look-up.

A bootstrap weight is nearly Poisson. The counts of four units together take about 700 patterns
that matter: pattern i owns floor(65536 p_i) of 65,536 slots, so 16 random bits choose it. What the
floors leave over (0.2 % for rate 1) is drawn from the remainder law, so the mixture is exact.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["PATTERN_BITS", "PatternLaw", "pattern_law", "poisson_rate"]

SLOTS = 65_536
PATTERN_BITS = 10  # 707 patterns at the most (rate 1), and one for "no slot"
# P(four Poisson(1) counts sum to more than 32) = 2e-19, below the 2**-53 of a uniform.
_LARGEST_TOTAL = 32


class PatternLaw(NamedTuple):
    """Tables of one rate; read-only.

    slots : shape (65536,), uint16: number of the pattern, and its total from bit 10 up
    counts : shape (4, n_patterns + 1), float64: how often each unit is drawn; the last is all 0
        and stands for "no slot"
    packed : shape (n_patterns + 1,), uint64: the same four counts as four 16-bit numbers
    remainder : shape (n_partitions,), float64: cumulative law of what has no slot
    guide : shape (256,), int64: where in `remainder` to start the search for u in [i, i + 1) / 256
    partitions : shape (n_partitions, 4), int8: counts in descending order
    arrangements : shape (24, 4), int8: the permutations of four units
    """

    slots: NDArray[np.uint16]
    counts: NDArray[np.float64]
    packed: NDArray[np.uint64]
    remainder: NDArray[np.float64]
    guide: NDArray[np.int64]
    partitions: NDArray[np.int8]
    arrangements: NDArray[np.int8]


def poisson_rate(n_units: int, superblock: int) -> float:
    """Return the mean count per unit, a multiple of 1/256, a little below 1.

    The sum of a superblock's counts must not exceed its share of the draws. Two standard
    deviations of room (the share itself varies where there are several superblocks) make 2 % of
    the attempts fail; less room costs more attempts than it saves draws, see bench_kernels.
    """
    units = min(n_units, superblock)
    variance = units if n_units <= superblock else 2 * units
    return 1.0 - min(256, math.ceil(512.0 * math.sqrt(variance) / units)) / 256.0


@functools.lru_cache(maxsize=8)
def pattern_law(rate: float) -> PatternLaw:
    """Return the tables for independent Poisson(rate) counts of four units."""
    partitions = [
        (a, b, c, total - a - b - c)
        for total in range(_LARGEST_TOTAL + 1)
        for a in range(total + 1)
        for b in range(min(a, total - a) + 1)
        for c in range(min(b, total - a - b) + 1)
        if 0 <= total - a - b - c <= c
    ]
    partitions.sort(key=lambda counts: (sum(counts), counts))
    patterns: list[tuple[tuple[int, ...], int]] = []
    left_over = []
    for partition in partitions:
        probability = _probability(partition, rate)
        owned = math.floor(SLOTS * probability)
        arranged = set(itertools.permutations(partition))
        left_over.append(len(arranged) * (probability - owned / SLOTS))
        if owned:
            patterns += [(arrangement, owned) for arrangement in arranged]
    patterns.sort(key=lambda pattern: (sum(pattern[0]), pattern[0]))

    counts = np.array([counts for counts, _ in patterns] + [(0, 0, 0, 0)], dtype=np.int64)
    codes = np.arange(len(counts)) | counts.sum(axis=1) << PATTERN_BITS
    slots = np.full(SLOTS, len(patterns), dtype=np.uint16)
    taken = np.repeat(codes[:-1], [owned for _, owned in patterns])
    slots[: taken.size] = taken
    packed = counts.astype(np.uint16).view(np.uint64).ravel()  # four counts lie side by side
    cumulative = np.cumsum(left_over)
    if cumulative[-1] > 0.0:  # 0 at rate 0, where no slot is left over
        cumulative /= cumulative[-1]
    law = PatternLaw(
        slots,
        np.ascontiguousarray(counts.T, dtype=np.float64),
        packed,
        cumulative,
        np.searchsorted(cumulative, np.arange(256) / 256.0, side="right"),
        np.array(partitions, dtype=np.int8),
        np.array(list(itertools.permutations(range(4))), dtype=np.int8),
    )
    for table in law:
        table.flags.writeable = False
    return law


def _probability(counts: tuple[int, ...], rate: float) -> float:
    """Independent Poisson(rate): exp(-4 rate) rate^total / product of factorials."""
    factorials = math.prod(math.factorial(count) for count in counts)
    return math.exp(-4.0 * rate) * rate ** sum(counts) / factorials
