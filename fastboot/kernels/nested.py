"""Units within drawn groups: each copy of a group resamples its own units with replacement.

The sum of c independent multinomials of n draws is one of c * n draws, so a group that was drawn c
times gets c * n uniform draws among its n units (Davison and Hinkley 1997, section 3.8).
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel
from fastboot.kernels.philox import INNER, philox
from fastboot.kernels.places import place

__all__ = ["fill_nested_weights"]

# Counters at a time, of any groups: Philox vectorises for groups of few units too. Takes 40 KB.
_COUNTERS = 1_024
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inlined
def _draw(positions, groups, offsets, outer, replicate, key_0, key_1, words, units, weights):
    """Count the units of the listed counters.

    positions, groups : shape (n_counters,), uint32
    outer : shape (n_groups,), weights : shape (n_units,), added to; of one replicate
    words, units : shape (_COUNTERS, 4), uint32, scratch
    """
    _find_units(positions, groups, offsets, replicate, key_0, key_1, words, units)
    for i in range(positions.size):
        group = np.int64(groups[i])
        start = offsets[group]
        wanted = np.int64(outer[group]) * (offsets[group + 1] - start) - 4 * np.int64(positions[i])
        for lane in range(min(4, wanted)):
            weights[start + np.int64(units[i, lane])] += 1.0


@inlined
def _find_units(positions, groups, offsets, replicate, key_0, key_1, words, units):
    """Four units of each counter. Two quick loops: the exact third is for one in many calls.

    positions, groups : shape (n_counters,), uint32
    words : shape (n_counters, 4), uint32, scratch
    units : shape (n_counters, 4), uint32, overwritten
    """
    for i in range(positions.size):
        w0, w1, w2, w3 = philox(positions[i], groups[i], replicate, INNER, key_0, key_1)
        words[i, 0] = w0
        words[i, 1] = w1
        words[i, 2] = w2
        words[i, 3] = w3
    uneven = False
    for i in range(positions.size):
        group = np.int64(groups[i])
        n_units = np.uint64(offsets[group + 1] - offsets[group])
        for lane in range(4):
            product = np.uint64(words[i, lane]) * n_units
            units[i, lane] = product >> _HALF
            uneven |= bool((product & _LOW) < n_units)
    if uneven:
        for i in range(positions.size):
            position, group = np.int64(positions[i]), np.int64(groups[i])
            n_units = offsets[group + 1] - offsets[group]
            for lane in range(4):
                units[i, lane] = place(
                    words[i, lane], lane, n_units, position, group, replicate, INNER, key_0, key_1
                )


@kernel
def fill_nested_weights(offsets, outer, first, key_0, key_1, weights):
    """Inner units of the groups drawn in consecutive replicates.

    offsets : shape (n_groups + 1,), int64: group g owns the units [offsets[g], offsets[g + 1])
    outer : shape (n_replicates, n_groups), float64: how often each group was drawn
    weights : shape (n_replicates, n_units), float64, overwritten
    """
    positions = np.empty(_COUNTERS, np.uint32)
    groups = np.empty(_COUNTERS, np.uint32)
    words = np.empty((_COUNTERS, 4), np.uint32)
    units = np.empty((_COUNTERS, 4), np.uint32)
    for r in range(weights.shape[0]):
        weights[r] = 0.0
        n_listed = 0
        for group in range(offsets.size - 1):
            draws = np.int64(outer[r, group]) * (offsets[group + 1] - offsets[group])
            for position in range((draws + 3) // 4):
                positions[n_listed] = position
                groups[n_listed] = group
                n_listed += 1
                if n_listed == _COUNTERS:
                    _draw(
                        positions, groups, offsets, outer[r], first + r, key_0, key_1, words, units,
                        weights[r],
                    )  # fmt: skip
                    n_listed = 0
        _draw(
            positions[:n_listed], groups[:n_listed], offsets, outer[r], first + r, key_0, key_1,
            words, units, weights[r],
        )  # fmt: skip
