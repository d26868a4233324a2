"""The multinomial bootstrap by Poisson count patterns of four units.

Given its total, a vector of independent Poisson counts is multinomial: uniform over all ways to
place that many draws. So a superblock's counts start as Poisson with a mean a little below 1,
are drawn again in the rare case that their total exceeds the superblock's share, and the missing
draws are placed uniformly. The result is exactly multinomial.

Two ways to use the same draws. ``add_pattern_sums``: for four units, a table of the weighted sum
of every pattern turns four draws into one load. ``weigh``: write down the weights themselves, for
many terms and for statistics that need weights. ``count_poisson`` is its first half, and with rate
1 a resample of its own (see :mod:`fastboot.kernels.poisson`).
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact, inlined, kernel
from fastboot.kernels.pattern_law import PATTERN_BITS
from fastboot.kernels.philox import (
    ATTEMPT,
    PATTERNS,
    REMAINDERS,
    fill_positions,
    fill_replicates,
    philox,
    unit_interval,
)
from fastboot.kernels.places import BUFFER, draw_places

__all__ = ["add_pattern_sums", "count_poisson", "weigh"]

_SLOT = np.uint32(0xFFFF)
_SLOT_BITS = np.uint32(16)
_NUMBER = (1 << PATTERN_BITS) - 1
_TABLE = 1 << PATTERN_BITS


@exact
def _remainder(w0, w1, w2, w3, law):
    """Counts of four units whose 16 bits own no pattern, from four words of their own."""
    cumulative, guide, partitions, arrangements = law[3], law[4], law[5], law[6]
    u = unit_interval(w0, w1)
    i = guide[int(u * guide.size)]
    while cumulative[i] <= u:
        i += 1
    j = int(24.0 * unit_interval(w2, w3))
    return (
        partitions[i, arrangements[j, 0]],
        partitions[i, arrangements[j, 1]],
        partitions[i, arrangements[j, 2]],
        partitions[i, arrangements[j, 3]],
    )


@inlined
def count_poisson(
    n_units, superblock, replicate, attempt, law, key_0, key_1, words, weights, fours
):
    """Independent Poisson counts of one superblock in one replicate; return their sum.

    n_units : at most one superblock
    words : shape (any, 4), uint32, scratch
    weights : shape (n_units rounded up to 32,), uint16, overwritten; 0 beyond n_units
    fours : the same memory as uint64; making this view takes as long as counting 60 units
    """
    slots, packed = law[0], law[2]
    none = packed.size - 1
    n_blocks = weights.size // 32
    total = np.int64(0)
    purpose = PATTERNS + attempt * ATTEMPT
    remainders = REMAINDERS + attempt * ATTEMPT
    for first in range(0, n_blocks, words.shape[0]):
        drawn = words[: min(words.shape[0], n_blocks - first)]
        fill_positions(first, superblock, replicate, purpose, key_0, key_1, drawn)
        for i in range(4 * drawn.shape[0]):
            word = drawn[i // 4, i % 4]
            group = 8 * first + 2 * i
            low = np.int64(slots[word & _SLOT])
            high = np.int64(slots[word >> _SLOT_BITS])
            fours[group] = packed[low & _NUMBER]
            fours[group + 1] = packed[high & _NUMBER]
            total += (low >> PATTERN_BITS) + (high >> PATTERN_BITS)
            if (low == none) | (high == none):
                for g in range(group, group + 2):
                    if (low if g == group else high) == none:
                        counts = _remainder(
                            *philox(g, superblock, replicate, remainders, key_0, key_1), law
                        )
                        for unit in range(4):
                            weights[4 * g + unit] = counts[unit]
                            total += counts[unit]
    for unit in range(n_units, weights.size):
        total -= weights[unit]
        weights[unit] = 0
    return total


@inlined
def weigh(
    n_units, superblock, share, replicate, attempt, law, key_0, key_1, words, places, weights
):
    """Weights of one superblock in one replicate; they sum to `share`.

    n_units : at most one superblock
    attempt : the first to try
    words, places : scratch of `draw_places`
    weights : shape (n_units rounded up to 32,), uint16, overwritten; 0 beyond n_units
    """
    fours = weights.view(np.uint64)
    while True:
        total = count_poisson(
            n_units, superblock, replicate, attempt, law, key_0, key_1, words, weights, fours
        )
        if total <= share:
            break
        attempt += 1
    position = 0
    while total < share:
        drawn = draw_places(
            position, share - total, n_units, superblock, replicate, key_0, key_1, words, places
        )
        for i in range(drawn):
            weights[places[i]] += np.uint16(1)
        position += min(BUFFER, share - total + 3) // 4
        total += drawn


@inlined
def _fill_table(counts, x0, x1, x2, x3, table):
    for i in range(counts.shape[1]):
        table[i] = counts[0, i] * x0 + counts[1, i] * x1 + counts[2, i] * x2 + counts[3, i] * x3


@inlined
def _look_up(row, slots, low, high):
    """Patterns of eight units from one word. Nothing else here: these loads miss the L1 cache."""
    for r in range(row.size):
        word = row[r]
        low[r] = slots[word & _SLOT]
        high[r] = slots[word >> _SLOT_BITS]


@inlined
def _split(row, totals):
    """Count the draws that come with the patterns, and leave their numbers."""
    for r in range(row.size):
        totals[r] += row[r] >> PATTERN_BITS
        row[r] &= np.uint16(_NUMBER)


@inlined
def _find(codes, none, flags, found):
    """List where four units in a replicate, one in a hundred, have no slot.

    Eight replicates are tested at a time: a branch for each would cost as much as the draws.

    found : shape (codes.size,), int64; 8 x replicate + row of `codes`

    Returns how many.
    """
    n_found = 0
    for j in range(codes.shape[0]):
        row = codes[j]
        for r in range(row.size):
            flags[r] = row[r] == none
        eights = flags.view(np.uint64)
        for eight in range(eights.size):
            left = eights[eight]
            while left != 0:
                lowest = left & (~left + np.uint64(1))
                # A byte of the factor comes to the top: the number of the flag (Numba's platforms
                # are little-endian).
                flag = (lowest * np.uint64(0x0001020304050607)) >> np.uint64(56)
                found[n_found] = (8 * eight + np.int64(flag)) * 8 + j
                n_found += 1
                left ^= lowest
    return n_found


@inlined
def _add_remainders(terms, at, n_real, block, superblock, first, law, key_0, key_1, found, words,
                    totals, partial):  # fmt: skip
    """Add the draws of the fours in `found`.

    words : shape (4, any), uint32, scratch
    """
    for begin in range(0, found.size, words.shape[1]):
        some = found[begin : begin + words.shape[1]]
        for h in range(some.size):
            group, replicate = 8 * block + (some[h] & 7), first + (some[h] >> 3)
            w0, w1, w2, w3 = philox(group, superblock, replicate, REMAINDERS, key_0, key_1)
            words[0, h] = w0
            words[1, h] = w1
            words[2, h] = w2
            words[3, h] = w3
        for h in range(some.size):
            four = _remainder(words[0, h], words[1, h], words[2, h], words[3, h], law)
            unit, r = 4 * (some[h] & 7), some[h] >> 3
            for i in range(min(4, n_real - unit)):
                totals[r] += four[i]
            for k in range(terms.shape[0]):
                change = 0.0
                for i in range(min(4, n_real - unit)):
                    change += four[i] * terms[k, at + unit + i]
                partial[k, r] += change


@kernel
def add_pattern_sums(terms, start, n_units, superblock, shares, first, law, key_0, key_1, sums):
    """Sums of one superblock's draws for consecutive replicates.

    terms : shape (n_terms, all units); the superblock is [start, start + n_units)
    shares : shape (n_replicates,), int64: draws of the superblock
    law : the tables of `pattern_law`
    sums : shape (n_terms, n_replicates), added to
    """
    slots, counts = law[0], law[1]
    none = np.uint16(counts.shape[1] - 1)
    n_terms = terms.shape[0]
    n_replicates = shares.size
    if n_replicates == 0:  # called to compile: the tables of a superblock take 7 ms
        return
    words = np.empty((4, n_replicates), np.uint32)
    codes = np.empty((8, n_replicates), np.uint16)
    found = np.empty(codes.size, np.int64)
    totals = np.zeros(n_replicates, np.int32)
    partial = np.zeros((n_terms, n_replicates))
    tables = np.empty((8, _TABLE))
    padded = np.empty(32)
    flags = np.zeros((n_replicates + 7) // 8 * 8, np.uint8)
    for block in range((n_units + 31) // 32):
        at = start + 32 * block
        n_real = min(32, n_units - 32 * block)
        fill_replicates(block, superblock, first, PATTERNS, key_0, key_1, words)
        for j in range(0, 8, 2):
            _look_up(words[j // 2], slots, codes[j], codes[j + 1])
        for j in range(8):
            _split(codes[j], totals)
        if n_real < 32:  # units beyond the data are not drawn
            for unit in range(n_real, 32):
                for r in range(n_replicates):
                    totals[r] -= np.int32(counts[unit % 4, codes[unit // 4, r]])
        n_found = _find(codes[: (n_real + 3) // 4], none, flags, found)
        _add_remainders(
            terms, at, n_real, block, superblock, first, law, key_0, key_1, found[:n_found], words,
            totals, partial,
        )  # fmt: skip
        for k in range(n_terms):
            for i in range(32):
                padded[i] = terms[k, at + i] if i < n_real else 0.0
            for j in range(8):
                _fill_table(
                    counts, padded[4 * j], padded[4 * j + 1], padded[4 * j + 2], padded[4 * j + 3],
                    tables[j],
                )  # fmt: skip
            for j in range(0, 8, 4):
                t0, t1, t2, t3 = tables[j], tables[j + 1], tables[j + 2], tables[j + 3]
                c0, c1, c2, c3 = codes[j], codes[j + 1], codes[j + 2], codes[j + 3]
                column = partial[k]
                for r in range(n_replicates):
                    column[r] += (t0[c0[r]] + t1[c1[r]]) + (t2[c2[r]] + t3[c3[r]])
    _complete(terms, start, n_units, superblock, shares, first, law, key_0, key_1, totals, partial)
    for k in range(n_terms):
        for r in range(n_replicates):
            sums[k, r] += partial[k, r]


@inlined
def _complete(terms, start, n_units, superblock, shares, first, law, key_0, key_1, totals, partial):
    """Place the missing draws; draw again where there were too many."""
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    weights = np.empty((n_units + 31) // 32 * 32, np.uint16)
    n_terms = terms.shape[0]
    for r in range(shares.size):
        left = shares[r] - totals[r]
        if left < 0:
            weigh(
                n_units, superblock, shares[r], first + r, 1, law, key_0, key_1, words, places,
                weights,
            )  # fmt: skip
            for k in range(n_terms):
                total = 0.0
                for i in range(n_units):
                    total += weights[i] * terms[k, start + i]
                partial[k, r] = total
        position = 0
        while left > 0:
            drawn = draw_places(
                position, left, n_units, superblock, first + r, key_0, key_1, words, places
            )
            for k in range(n_terms):
                total = 0.0
                for i in range(drawn):
                    total += terms[k, start + places[i]]
                partial[k, r] += total
            position += min(BUFFER, left + 3) // 4
            left -= drawn
