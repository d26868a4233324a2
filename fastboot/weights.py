"""Who is drawn how often: the weights of all units in a batch of replicates, for every design.

A sampler writes the weights of consecutive replicates. What needs them (ranks, quantiles, tallies,
any Python function, resampling by time or on two levels) is computed from them; sums of plain
resamples have faster ways (`fastboot.sums`) that make the same draws from the same words.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastboot.units import Layout

__all__ = [
    "SMALL_PART",
    "AllLabels",
    "Blocks",
    "Crossed",
    "Exponential",
    "Labels",
    "Multinomial",
    "Nested",
    "Poisson",
    "Sampler",
    "Swaps",
    "child_of",
    "key_of",
    "keys_of",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Where patterns overtake places (1.6 against 0.8 ns, bench_kernels); below, compiling the smaller
# kernel also takes 1 s instead of 5 the first time on a machine.
SMALL_PART = 256


def key_of(seed: np.random.SeedSequence) -> NDArray[np.uint32]:
    """Return the key of the random words."""
    return seed.generate_state(2).astype(np.uint32, copy=False)


def keys_of(seed: np.random.SeedSequence, n_parts: int) -> NDArray[np.uint32]:
    """Return a key for each part; a single part has the plain key of the seed."""
    if n_parts == 1:
        return key_of(seed)[None]
    return np.stack([key_of(child_of(seed, part)) for part in range(n_parts)])


def child_of(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """Return a seed of its own for a part; the same one at each call (`spawn` counts)."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))


class Sampler(Protocol):
    """Writes weights."""

    @property
    def path(self) -> str:
        """The name of the way."""

    @property
    def n_units(self) -> int:
        """Units weighted."""

    @property
    def seconds(self) -> float:
        """Of writing one replicate's weights, estimated."""

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights, shape (n_replicates, n_units), of replicates from `first` on."""


class Multinomial:
    """Draws with replacement inside each part.

    Parameters
    ----------
    layout
        Of the units.
    keys
        Of the parts, shape (n_parts, 2).
    n_draws
        Draws from each part, shape (n_parts,); its size by default.
    path
        "rows" draws places in parts of any size, "patterns" and "weights" draw counts; None lets
        the sizes decide.
    """

    def __init__(
        self,
        layout: Layout,
        keys: NDArray[np.uint32],
        n_draws: Integers | None = None,
        path: str | None = None,
    ) -> None:
        self.n_units = layout.n_units
        sizes = layout.sizes
        draws = sizes if n_draws is None else n_draws
        small = (draws != sizes) | (sizes <= SMALL_PART if path is None else path == "rows")
        parts = np.stack([layout.offsets[:-1], sizes, draws, layout.cell_of_part], axis=1)
        self._small = _read_only(parts[small]), _read_only(keys[small])
        self._large = [
            (int(start), int(size), key)
            for (start, size, _, _), key in zip(parts[~small], keys[~small], strict=True)
        ]
        self.path = "rows" if not self._large else "weights"
        self.seconds = 1e-9 * self.n_units * (4.0 if self.path == "rows" else 1.2)

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.segments import fill_segment_weights

        if len(self._small[0]):
            fill_segment_weights(*self._small, first, weights)
        for start, size, key in self._large:
            _fill_patterns(start, size, key, first, weights)


def _fill_patterns(
    start: int, size: int, key: NDArray[np.uint32], first: int, weights: Floats
) -> None:
    from fastboot.kernels.multinomial import fill_pattern_weights
    from fastboot.kernels.pattern_law import pattern_law, poisson_rate
    from fastboot.kernels.philox import SUPERBLOCK
    from fastboot.kernels.superblocks import fill_shares

    law = tuple(pattern_law(poisson_rate(size, SUPERBLOCK)))
    for superblock in range(-(-size // SUPERBLOCK)):
        begin = superblock * SUPERBLOCK
        end = min(begin + SUPERBLOCK, size)
        shares = np.full(len(weights), size)
        if size > SUPERBLOCK:
            fill_shares(superblock, size, first, *key, shares)
        where = start + begin, end - begin
        fill_pattern_weights(*where, superblock, shares, first, law, *key, weights)


class Poisson:
    """Independent Poisson(1) weights: the number of draws varies (Hanley and MacGibbon 2006)."""

    path = "poisson"

    def __init__(self, layout: Layout, seed: np.random.SeedSequence) -> None:
        self.n_units = layout.n_units
        self.seconds = 1.2e-9 * self.n_units
        self._key = key_of(seed)

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.pattern_law import pattern_law
        from fastboot.kernels.poisson import fill_poisson_weights

        law = tuple(pattern_law(1.0))
        for superblock, part in _superblocks(weights):
            block = np.empty_like(part)
            fill_poisson_weights(superblock, first, law, *self._key, block)
            part[:] = block


class Exponential:
    """Dirichlet(1, ..., 1) weights inside each part, times its size (Rubin 1981)."""

    path = "bayesian"

    def __init__(self, layout: Layout, seed: np.random.SeedSequence) -> None:
        self.n_units = layout.n_units
        self.seconds = 5e-9 * self.n_units
        self._offsets = layout.offsets
        self._key = key_of(seed)

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.exponential import fill_exponential_weights

        for superblock, part in _superblocks(weights):
            block = np.empty_like(part)
            fill_exponential_weights(superblock, first, *self._key, block)
            part[:] = block
        if not len(weights):
            return
        sums = np.add.reduceat(weights, self._offsets[:-1], axis=1)
        sizes = np.diff(self._offsets)
        weights *= np.repeat(sizes / sums, sizes, axis=1)


def _superblocks(weights: Floats) -> list[tuple[int, Floats]]:
    from fastboot.kernels.philox import SUPERBLOCK

    n = -(-weights.shape[1] // SUPERBLOCK)
    return [(i, weights[:, i * SUPERBLOCK : (i + 1) * SUPERBLOCK]) for i in range(n)]


class Blocks:
    """Blocks of neighbouring units, in each part on its own.

    Parameters
    ----------
    layout
        Of the units, in time order.
    seed
        Of the words.
    kind
        "moving", "circular" or "stationary".
    length
        Of a block; its mean for "stationary".
    """

    def __init__(
        self, layout: Layout, seed: np.random.SeedSequence, kind: str, length: float
    ) -> None:
        self.path = kind
        self.n_units = layout.n_units
        self.seconds = 2e-9 * self.n_units
        self._length = length
        self._parts = list(zip(layout.offsets[:-1], layout.offsets[1:], strict=True))
        self._keys = keys_of(seed, len(self._parts))

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.blocks import (
            fill_block_weights,
            fill_stationary_weights,
            log_of_continuing,
        )

        for (start, stop), key in zip(self._parts, self._keys, strict=True):
            part = np.empty((len(weights), int(stop - start)))
            if self.path == "stationary":
                mean = float(self._length)
                fill_stationary_weights(mean, log_of_continuing(mean), first, *key, part)
            else:
                length = min(int(self._length), part.shape[1])
                fill_block_weights(length, self.path == "circular", first, *key, part)
            weights[:, start:stop] = part


class Nested:
    """Draws of groups, and of units inside each drawn group.

    Parameters
    ----------
    groups
        Draws the groups.
    offsets
        Shape (n_groups + 1,): group g has the units from offsets[g] on.
    seed
        Of the words.
    """

    path = "nested"

    def __init__(
        self, groups: Multinomial, offsets: Integers, seed: np.random.SeedSequence
    ) -> None:
        self.n_units = int(offsets[-1])
        self.seconds = groups.seconds + 4e-9 * self.n_units
        self._groups = groups
        self._offsets = _read_only(offsets)
        self._key = key_of(seed)

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.nested import fill_nested_weights

        outer = np.empty((len(weights), self._groups.n_units))
        self._groups.fill(first, outer)
        fill_nested_weights(self._offsets, _read_only(outer), first, *self._key, weights)


class Crossed:
    """Draws of the levels of two factors: a unit's weight is the product (Owen 2007).

    Parameters
    ----------
    factors
        For each factor, who draws its levels; None to keep them as they are.
    codes
        For each factor, the level of every unit, shape (n_units,).
    """

    path = "crossed"

    def __init__(
        self, factors: tuple[Multinomial | None, ...], codes: tuple[Integers, ...]
    ) -> None:
        self.n_units = codes[0].size
        self.seconds = 3e-9 * self.n_units
        self._factors = factors
        self._codes = tuple(map(_read_only, codes))

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.crossed import fill_crossed_weights

        drawn = []
        for factor, codes in zip(self._factors, self._codes, strict=True):
            outer = np.ones((len(weights), int(codes.max()) + 1))
            if factor is not None:
                factor.fill(first, outer)
            drawn.append(_read_only(outer))
        fill_crossed_weights(*self._codes, *drawn, weights)


class Swaps:
    """1 for a unit that is swapped, 0 for one that stays.

    Parameters
    ----------
    differing
        The units that differ between the systems, shape (n_differing,); others are never swapped.
    n_units
        All units.
    seed
        Of the words; None lists all swaps.
    """

    def __init__(
        self, differing: Integers, n_units: int, seed: np.random.SeedSequence | None
    ) -> None:
        self.path = "enumeration" if seed is None else "weights"
        self.n_units = n_units
        self.seconds = 1.5e-9 * n_units
        self._differing = differing
        self._key = None if seed is None else key_of(seed)

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.swaps import fill_all_swaps, fill_swap_weights

        swapped = np.empty((len(weights), self._differing.size))
        if self._key is None:
            fill_all_swaps(first, swapped)
        else:
            fill_swap_weights(first, *self._key, swapped)
        weights[:] = 0.0
        weights[:, self._differing] = swapped


class Labels:
    """1 for the units that a random relabelling gives to the first sample, 0 for the others.

    Parameters
    ----------
    layout
        Of the pooled units; labels are permuted inside each part.
    n_first
        Units of the first sample in each part, shape (n_parts,).
    seed
        Of the words.
    """

    path = "weights"

    def __init__(self, layout: Layout, n_first: Integers, seed: np.random.SeedSequence) -> None:
        self.n_units = layout.n_units
        self.seconds = 1e-9 * self.n_units
        keys = keys_of(seed, n_first.size)
        self._parts = list(
            zip(layout.offsets[:-1].tolist(), layout.sizes.tolist(), n_first.tolist(), keys,
                strict=True)
        )  # fmt: skip

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.relabelling import fill_label_weights

        for start, size, chosen, key in self._parts:
            fill_label_weights(start, size, chosen, first, *key, weights)


class AllLabels:
    """All relabellings, each once.

    Parameters
    ----------
    layout, n_first
        As for :class:`Labels`.
    ways
        Choices of each part, shape (n_parts,).
    """

    path = "enumeration"

    def __init__(self, layout: Layout, n_first: Integers, ways: list[int]) -> None:
        self.n_units = layout.n_units
        self.seconds = 3e-9 * self.n_units
        strides = [math.prod(ways[:part]) for part in range(len(ways))]
        self._parts = list(
            zip(layout.offsets[:-1].tolist(), layout.sizes.tolist(), n_first.tolist(), strides,
                ways, strict=True)
        )  # fmt: skip

    def fill(self, first: int, weights: Floats) -> None:
        """Overwrite the weights."""
        from fastboot.kernels.relabelling import fill_all_labels

        for part in self._parts:
            fill_all_labels(*part, first, weights)


def _read_only(array: Any) -> Any:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
