"""Equal units collapse: one binomial for a class of equal units instead of a draw for each.

With U distinct units of multiplicities c_u among n, the bootstrap weights of the classes are
Multinomial(n, c / n), drawn as U - 1 binomials given what is left; the number of swapped units of a
class is Binomial(c_u, 1/2). The same laws as drawing unit by unit, at a cost that does not depend
on n.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel
from fastboot.kernels.binomial import binomial_scratch, draw_binomials, draw_fair_binomials
from fastboot.kernels.philox import CLASSES, FLIPS

__all__ = ["add_class", "add_class_sums", "add_class_swap_sums", "find_classes"]

# Multiplier of a 64-bit multiplicative hash: 2**64 / golden ratio (Knuth, TAOCP 3, section 6.4).
_HASH = np.uint64(0x9E3779B97F4A7C15)


@kernel
def find_classes(bits, times, table, members, counts):
    """Number the distinct columns of `bits` in order of first appearance.

    bits : shape (n_terms, n_units), uint64: the terms' bit patterns
    times : shape (n_units,), int64: how often a unit counts; empty for once
    table : shape (a power of two, more than members.size, at most 2**24), int64, all -1
    members : shape (most classes,), int64: the first unit of each class
    counts : shape (most classes,), int64, all 0: its multiplicity

    Returns the number of classes, or -1 where there are more than `members` holds.
    """
    n_terms, n_units = bits.shape
    mask = np.int64(table.size - 1)
    n_classes = 0
    for unit in range(n_units):
        own = times[unit] if times.size else 1
        mixed = np.uint64(0)
        for k in range(n_terms):
            mixed = (mixed ^ (mixed >> np.uint64(32)) ^ bits[k, unit]) * _HASH
        # The high bits are the mixed ones: small integers differ in the high bits of a float only.
        slot = np.int64(mixed >> np.uint64(40)) & mask
        while True:
            found = table[slot]
            if found < 0:
                if n_classes == members.size:
                    return -1
                table[slot] = n_classes
                members[n_classes] = unit
                counts[n_classes] = own
                n_classes += 1
                break
            member = members[found]
            equal = True
            for k in range(n_terms):
                equal &= bits[k, member] == bits[k, unit]
            if equal:
                counts[found] += own
                break
            slot = (slot + 1) & mask
    return n_classes


@inlined
def add_class(weights, terms, entries, u, sums):
    """Weights of class u in all replicates times its terms, and the entries of its tallies."""
    offsets, places, values = entries
    n_terms = terms.shape[0]
    for k in range(n_terms):
        for r in range(weights.size):
            sums[k, r] += weights[r] * terms[k, u]
    if offsets.size > 0:
        for e in range(offsets[u], offsets[u + 1]):
            row = sums[n_terms + places[e]]
            for r in range(weights.size):
                row[r] += weights[r] * values[e]


@kernel
def add_class_sums(terms, entries, counts, n_draws, first, key_0, key_1, sums):
    """Sums of n_draws draws with replacement from all classes for consecutive replicates.

    terms : shape (n_terms, n_classes); counts : shape (n_classes,), int64
    entries : of tallies, see `add_pattern_products`
    sums : shape (n_terms + terms of tallies, n_replicates), added to
    """
    n_replicates = sums.shape[1]
    left = np.full(n_replicates, np.float64(n_draws))
    drawn = np.empty(n_replicates)
    scratch = binomial_scratch(n_replicates)
    units = counts.sum()
    for u in range(counts.size):
        draw_binomials(left, counts[u], units, u, first, CLASSES, key_0, key_1, scratch, drawn)
        left -= drawn
        units -= counts[u]
        add_class(drawn, terms, entries, u, sums)


@kernel
def add_class_swap_sums(terms, entries, counts, first, key_0, key_1, sums):
    """Sums of the swapped units of all classes for consecutive replicates.

    terms : shape (n_terms, n_classes); counts : shape (n_classes,), int64
    entries : of tallies, see `add_pattern_products`
    sums : shape (n_terms + terms of tallies, n_replicates), added to
    """
    n_replicates = sums.shape[1]
    trials = np.empty(n_replicates)
    swapped = np.empty(n_replicates)
    scratch = binomial_scratch(n_replicates)
    for u in range(counts.size):
        draw_fair_binomials(counts[u], u, first, FLIPS, key_0, key_1, trials, scratch, swapped)
        add_class(swapped, terms, entries, u, sums)
