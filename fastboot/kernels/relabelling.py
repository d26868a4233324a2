"""Uniform choices without replacement: the labels of two samples, permuted.

Every unit is chosen with the same probability, a multiple of 1/256 near the wanted share, from
random bits: a bit a unit for a half, up to eight for others. The choice is uniform among those of
its size, whatever that is, and stays so when units drawn at random are added or taken away until
it has the wanted size. So every subset of that size is equally likely, exactly.

Of classes of equal units only the number chosen counts: a binomial for each, then single units.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel
from fastboot.kernels.binomial import binomial_scratch, draw_binomials
from fastboot.kernels.collapse import add_class
from fastboot.kernels.philox import ATTEMPT, CLASSES, LABELS, fill_positions
from fastboot.kernels.places import BUFFER, draw_places

__all__ = ["add_class_label_sums", "add_label_sums", "fill_all_labels", "fill_label_weights"]

_DIGITS = 8
_WORD_UNITS = 32
_POSITION_UNITS = 4 * _WORD_UNITS
_POSITIONS = BUFFER // 4


@inlined
def _near_share(size, chosen):
    """Return in 256ths the share, rounded away from a half: what is added or taken is the rarer."""
    if 2 * chosen <= size:
        return (chosen << _DIGITS) // size
    return (1 << _DIGITS) - ((size - chosen) << _DIGITS) // size


@inlined
def _draw_bits(size, share, replicate, key_0, key_1, words, bits):
    """Choose every unit with probability share / 256; return how many were chosen.

    A unit is chosen where its number, whose binary digits are random bits, is below the share.
    Digits after the share's last 1 change nothing and are not drawn.

    words : shape (_POSITIONS, 4), uint32, scratch
    bits : shape (at least size / 128, 4), uint32, overwritten; 0 beyond the units
    """
    n_positions = (size + _POSITION_UNITS - 1) // _POSITION_UNITS
    for begin in range(0, n_positions, _POSITIONS):
        n = min(_POSITIONS, n_positions - begin)
        part = bits[begin : begin + n]
        part[:] = np.uint32(0xFFFFFFFF) if share >> _DIGITS else np.uint32(0)
        below = False
        for digit in range(_DIGITS, 0, -1):
            one = (share >> (_DIGITS - digit)) & 1
            if one or below:
                below = True
                purpose = LABELS + digit * ATTEMPT
                fill_positions(begin, 0, replicate, purpose, key_0, key_1, words[:n])
                for i in range(n):
                    for j in range(4):
                        part[i, j] = part[i, j] | words[i, j] if one else part[i, j] & words[i, j]
    for word in range(size // _WORD_UNITS, 4 * n_positions):
        kept = max(0, size - word * _WORD_UNITS)
        if kept < _WORD_UNITS:
            bits[word // 4, word % 4] &= np.uint32((1 << kept) - 1)
    total = 0
    for i in range(n_positions):
        for j in range(4):
            total += _count(bits[i, j])
    return total


@inlined
def _count(word):
    """Count the ones of 32 bits: sums of 2, 4, 8 bits side by side, then of the four bytes."""
    pairs = word - ((word >> np.uint32(1)) & np.uint32(0x55555555))
    fours = (pairs & np.uint32(0x33333333)) + ((pairs >> np.uint32(2)) & np.uint32(0x33333333))
    eights = (fours + (fours >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    return np.int64(np.uint32(eights * np.uint32(0x01010101)) >> np.uint32(24))


@inlined
def _draw_labels(size, chosen, replicate, key_0, key_1, words, places, bits):
    """Choose units.

    words, places : scratch of `draw_places`
    bits : shape (at least size / 128, 4), uint32, overwritten; 0 beyond the units
    """
    total = _draw_bits(size, _near_share(size, chosen), replicate, key_0, key_1, words, bits)
    adds = total < chosen
    missing = abs(chosen - total)
    position = 0
    while missing:
        n_positions = (min(BUFFER, missing) + 3) // 4
        drawn = draw_places(
            position, 4 * n_positions, size, 0, replicate, key_0, key_1, words, places
        )
        position += n_positions
        for i in range(drawn):
            word, bit = places[i] // _WORD_UNITS, np.uint32(places[i] % _WORD_UNITS)
            old = bits[word // 4, word % 4]
            if missing and bool((old >> bit) & np.uint32(1)) != adds:
                bits[word // 4, word % 4] = old ^ (np.uint32(1) << bit)
                missing -= 1


@kernel
def fill_label_weights(start, size, chosen, first, key_0, key_1, weights):
    """Choose `chosen` of the units from start to start + size - 1 for consecutive replicates.

    weights : shape (n_replicates, n_units), float64: 1.0 for a chosen unit, 0.0 for another
    """
    words = np.empty((_POSITIONS, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    bits = np.empty((size // _POSITION_UNITS + 1, 4), np.uint32)
    for r in range(weights.shape[0]):
        _draw_labels(size, chosen, first + r, key_0, key_1, words, places, bits)
        row = weights[r, start : start + size]
        for begin in range(0, size, _WORD_UNITS):
            word = np.uint32(bits[begin // _POSITION_UNITS, begin // _WORD_UNITS % 4])
            for j in range(min(_WORD_UNITS, size - begin)):
                row[begin + j] = np.float64((word >> np.uint32(j)) & np.uint32(1))


@kernel
def add_label_sums(terms, entries, start, size, chosen, first, key_0, key_1, sums):
    """Sums of the chosen units for consecutive replicates; the choices of `fill_label_weights`.

    terms : shape (n_terms, n_units), float64
    entries : of tallies, see `add_pattern_products`
    sums : shape (n_terms + terms of tallies, n_replicates), added to
    """
    offsets, columns, values = entries
    n_terms = terms.shape[0]
    words = np.empty((_POSITIONS, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    bits = np.empty((size // _POSITION_UNITS + 1, 4), np.uint32)
    n_whole = size // _WORD_UNITS
    for r in range(sums.shape[1]):
        _draw_labels(size, chosen, first + r, key_0, key_1, words, places, bits)
        for k in range(n_terms):
            term = terms[k, start : start + size]
            total = 0.0
            for i in range(n_whole):
                word = np.uint32(bits[i // 4, i % 4])
                own = term[i * _WORD_UNITS : (i + 1) * _WORD_UNITS]
                for j in range(_WORD_UNITS):
                    total += np.float64((word >> np.uint32(j)) & np.uint32(1)) * own[j]
            word = np.uint32(bits[n_whole // 4, n_whole % 4])
            own = term[n_whole * _WORD_UNITS :]
            for j in range(own.size):
                total += np.float64((word >> np.uint32(j)) & np.uint32(1)) * own[j]
            sums[k, r] += total
        if offsets.size > 0:
            for i in range(size):
                word = np.uint32(bits[i // _POSITION_UNITS, i // _WORD_UNITS % 4])
                if (word >> np.uint32(i % _WORD_UNITS)) & np.uint32(1):
                    for e in range(offsets[start + i], offsets[start + i + 1]):
                        sums[n_terms + columns[e], r] += values[e]


@kernel
def add_class_label_sums(terms, entries, counts, chosen, first, key_0, key_1, sums):
    """Sums of the chosen units of all classes for consecutive replicates.

    terms : shape (n_terms, n_classes); counts : shape (n_classes,), int64
    entries : of tallies, see `add_pattern_products`
    sums : shape (n_terms + terms of tallies, n_replicates), added to
    """
    n_classes, n_replicates = counts.size, sums.shape[1]
    trials = np.empty(n_replicates)
    scratch = binomial_scratch(n_replicates)
    taken = np.empty((n_classes, n_replicates))
    n_units = counts.sum()
    for u in range(n_classes):
        trials[:] = counts[u]
        draw_binomials(trials, chosen, n_units, u, first, CLASSES, key_0, key_1, scratch, taken[u])
    starts = np.zeros(n_classes + 1, np.int64)
    starts[1:] = np.cumsum(counts)
    words = np.empty((_POSITIONS, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    for r in range(n_replicates):
        _complete(starts, chosen, first + r, key_0, key_1, words, places, taken[:, r])
    for u in range(n_classes):
        add_class(taken[u], terms, entries, u, sums)


@inlined
def _complete(starts, chosen, replicate, key_0, key_1, words, places, taken):
    """Add units, or take them away; the units of class u that are chosen are its first taken[u]."""
    missing = chosen - np.int64(taken.sum())
    adds = missing > 0
    missing = abs(missing)
    position = 0
    while missing:
        n_positions = (min(BUFFER, missing) + 3) // 4
        drawn = draw_places(
            position, 4 * n_positions, starts[-1], 0, replicate, key_0, key_1, words, places
        )
        position += n_positions
        for i in range(drawn):
            u = np.searchsorted(starts, places[i], side="right") - 1
            if missing and (places[i] - starts[u] < taken[u]) != adds:
                taken[u] += 1.0 if adds else -1.0
                missing -= 1


@kernel
def fill_all_labels(start, size, chosen, stride, ways, first, weights):
    """List all choices of `chosen` of the units, for consecutive replicates.

    Replicate r has the choice r // stride, again from the first after the last, in the order of
    the sorted numbers of the units chosen.

    ways : number of choices
    weights : shape (n_replicates, n_units), float64: 1.0 for a chosen unit, 0.0 for another
    """
    for r in range(weights.shape[0]):
        row = weights[r, start : start + size]
        rank = (first + r) // stride % ways
        listed, wanted = ways, chosen
        for i in range(size):
            # Of the choices that agree so far, those with this unit come first.
            with_it = listed * wanted // (size - i)
            if rank < with_it:
                row[i] = 1.0
                listed = with_it
                wanted -= 1
            else:
                row[i] = 0.0
                rank -= with_it
                listed -= with_it
