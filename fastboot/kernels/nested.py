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
def _find_units(positions, groups, offsets, replicate, key_0, key_1, words, units):
    """Four units of each counter. Two quick loops: the exact third is for one in many calls.

    positions, groups : shape (n_counters,), uint32
    words : shape (n_counters, 4), uint32, scratch
    units : shape (n_counters, 4), uint32, overwritten
    """
    for i in range(positions.size):
        position, group = np.int64(positions[i]), np.int64(groups[i])
        w0, w1, w2, w3 = philox(position, group, replicate, INNER, key_0, key_1)
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
    listed = np.empty((2, _COUNTERS), np.uint32)
    positions, groups = listed[0], listed[1]
    words = np.empty((_COUNTERS, 4), np.uint32)
    units = np.empty((_COUNTERS, 4), np.uint32)
    n_groups = offsets.size - 1
    for r in range(weights.shape[0]):
        weights[r] = 0.0
        group = position = 0
        while group < n_groups:
            n_listed = 0
            while group < n_groups and n_listed < _COUNTERS:
                n_units = offsets[group + 1] - offsets[group]
                n_positions = (np.int64(outer[r, group]) * n_units + 3) // 4
                if n_units == 1:  # nothing to draw: 1 ns instead of 15
                    weights[r, offsets[group]] = outer[r, group]
                    n_positions = 0
                while position < n_positions and n_listed < _COUNTERS:
                    positions[n_listed] = position
                    groups[n_listed] = group
                    n_listed += 1
                    position += 1
                if position == n_positions:
                    group += 1
                    position = 0
            _find_units(
                positions[:n_listed], groups[:n_listed], offsets, first + r, key_0, key_1, words,
                units,
            )  # fmt: skip
            for i in range(n_listed):
                owner = np.int64(groups[i])
                start = offsets[owner]
                draws = np.int64(outer[r, owner]) * (offsets[owner + 1] - start)
                for lane in range(min(4, draws - 4 * np.int64(positions[i]))):
                    weights[r, start + np.int64(units[i, lane])] += 1.0
