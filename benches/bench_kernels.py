"""Each kernel alone, on one thread: nanoseconds per unit (or class, word) per replicate.

The thresholds in `fastboot/sums.py`, `fastboot/weights.py` and in the kernels are read off here:
`Rows` against `Patterns` at 256 units, `Patterns` against `Weights` at 12 terms, `Classes` against
`Patterns`, `Flips` against `SwapTables` and `TalliedClasses` against `Tallies` for the units that a
class must stand for, `Flips` at 384 coins, `Room`.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from fastboot.compiler import kernel
from fastboot.kernels.binomial import binomial_scratch, draw_binomials, fill_binomials
from fastboot.kernels.collapse import add_class_sums, add_class_swap_sums, find_classes
from fastboot.kernels.pattern_law import pattern_law, poisson_rate
from fastboot.kernels.patterns import add_pattern_sums
from fastboot.kernels.philox import CLASSES, PATTERNS, SUPERBLOCK, fill_positions, fill_replicates
from fastboot.kernels.products import add_pattern_products
from fastboot.kernels.segments import add_segment_sums
from fastboot.kernels.superblocks import fill_shares
from fastboot.kernels.swaps import add_swap_sums

from .timing import seconds

KEY = np.random.SeedSequence(0).generate_state(2, np.uint32)
# As the engine cuts calls: at most so many replicates, or 0.1 s at about 0.2 ns a unit and term.
MOST_REPLICATES = 4_096


def n_replicates(n_units: int, n_terms: int = 1) -> int:
    return min(MOST_REPLICATES, int(0.1e9 / (n_units * (0.3 + 0.2 * n_terms))))


def scores(n_terms: int, n_units: int) -> np.ndarray:
    terms = np.random.default_rng(0).normal(size=(n_terms, n_units))
    terms.flags.writeable = False
    return terms


def tallies(n_units: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of the units: `width` each, among 20 terms."""
    places = np.random.default_rng(0).integers(20, size=width * n_units)
    entries = width * np.arange(n_units + 1), places, np.ones(places.size)
    for array in entries:
        array.flags.writeable = False
    return entries


def multiplicities(n_classes: int, size: int) -> np.ndarray:
    counts = np.full(n_classes, size)
    counts.flags.writeable = False
    return counts


NO_TALLIES = tuple(array[:0] for array in tallies(1, 1))


@kernel
def _draw(trials: Any, successes: Any, total: Any, out: Any) -> None:
    draw_binomials(trials, successes, total, 0, 0, CLASSES, 0, 0, binomial_scratch(out.size), out)


@kernel
def _fill_replicates(key_0: Any, key_1: Any, words: Any) -> None:
    fill_replicates(0, 0, 0, PATTERNS, key_0, key_1, words)


@kernel
def _fill_positions(key_0: Any, key_1: Any, words: Any) -> None:
    fill_positions(0, 0, 0, PATTERNS, key_0, key_1, words)


class _Kernel:
    unit = "ns"
    timeout = 300

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.call, time.thread_time) / self.n


class PhiloxReplicates(_Kernel):
    """Per word, as patterns and swaps use them."""

    def setup(self) -> None:
        words = np.empty((4, MOST_REPLICATES), np.uint32)
        self.n = words.size
        self.call = lambda: _fill_replicates(*KEY, words)


class PhiloxPositions(_Kernel):
    """Per word, as places use them."""

    def setup(self) -> None:
        words = np.empty((MOST_REPLICATES, 4), np.uint32)
        self.n = words.size
        self.call = lambda: _fill_positions(*KEY, words)


class Rows(_Kernel):
    params = ((64, 128, 256, 512, 1_024, 16_384), (1, 4))
    param_names = ("units", "terms")

    def setup(self, n_units: int, n_terms: int) -> None:
        terms = scores(n_terms, n_units)
        sums = np.zeros((n_terms, 1, n_replicates(n_units)))
        parts = np.array([[0, n_units, n_units, 0]])
        keys = np.array([KEY])
        parts.flags.writeable = keys.flags.writeable = False
        self.n = n_units * sums.shape[2]
        self.call = lambda: add_segment_sums(terms, NO_TALLIES, parts, keys, 0, sums)


class _Superblock(_Kernel):
    param_names = ("units", "terms")

    def setup(self, n_units: int, n_terms: int) -> None:
        terms = scores(n_terms, n_units)
        sums = np.zeros((n_terms, n_replicates(n_units, n_terms)))
        shares = np.full(sums.shape[1], n_units)
        law = tuple(pattern_law(poisson_rate(n_units, SUPERBLOCK)))
        self.n = n_units * sums.shape[1]
        self.call = lambda: self.kernel(terms, 0, n_units, 0, shares, 0, law, *KEY, sums)


class Patterns(_Superblock):
    params = ((64, 128, 256, 512, 1_024, 10_000, SUPERBLOCK), (1, 4, 8, 12, 16))
    kernel = staticmethod(add_pattern_sums)


class Weights(_Superblock):
    params = ((256, 1_024, 10_000, SUPERBLOCK), (1, 4, 8, 12, 16, 30))

    @staticmethod
    def kernel(terms: np.ndarray, *rest: object) -> None:
        add_pattern_products(terms, NO_TALLIES, *rest)


class Tallies(_Kernel):
    params = ((1_024, 10_000, SUPERBLOCK), (1, 3))
    param_names = ("units", "entries")

    def setup(self, n_units: int, width: int) -> None:
        terms, entries = scores(0, n_units), tallies(n_units, width)
        sums = np.zeros((20, n_replicates(n_units, 20)))
        shares = np.full(sums.shape[1], n_units)
        law = tuple(pattern_law(poisson_rate(n_units, SUPERBLOCK)))
        self.n = n_units * sums.shape[1]
        self.call = lambda: add_pattern_products(
            terms, entries, 0, n_units, 0, shares, 0, law, *KEY, sums
        )


class Room(_Kernel):
    """Patterns, by the standard deviations of room below the superblock's share of the draws."""

    params = ((1_024, SUPERBLOCK), (0.5, 1.0, 1.5, 2.0, 2.5, 3.0))
    param_names = ("units", "room")

    def setup(self, n_units: int, room: float) -> None:
        terms = scores(1, n_units)
        sums = np.zeros((1, n_replicates(n_units)))
        shares = np.full(sums.shape[1], n_units)
        law = tuple(pattern_law(1.0 - math.ceil(256.0 * room / math.sqrt(n_units)) / 256.0))
        self.n = n_units * sums.shape[1]
        self.call = lambda: add_pattern_sums(terms, 0, n_units, 0, shares, 0, law, *KEY, sums)


class Shares(_Kernel):
    """Per replicate: the draws of one superblock."""

    params = ((2, 16, 153, 1_024),)
    param_names = ("superblocks",)

    def setup(self, n_superblocks: int) -> None:
        shares = np.empty(MOST_REPLICATES, np.int64)
        self.n = shares.size
        self.call = lambda: fill_shares(0, n_superblocks * SUPERBLOCK, 0, *KEY, shares)


class SwapTables(_Kernel):
    params = ((64, 1_024, 10_000, SUPERBLOCK), (1, 4))
    param_names = ("units", "terms")

    def setup(self, n_units: int, n_terms: int) -> None:
        terms = scores(n_terms, n_units)
        sums = np.zeros((n_terms, n_replicates(n_units)))
        self.n = n_units * sums.shape[1]
        self.call = lambda: add_swap_sums(terms, 0, n_units, 0, 0, *KEY, sums)


class Classes(_Kernel):
    """Per class: bootstrap weights."""

    params = ((3, 100, 10_000), (10, 30, 40, 50, 100, 10_000), (1, 4))
    param_names = ("classes", "units per class", "terms")

    def setup(self, n_classes: int, size: int, n_terms: int) -> None:
        terms = scores(n_terms, n_classes)
        counts = multiplicities(n_classes, size)
        sums = np.zeros((n_terms, n_replicates(100 * n_classes)))
        self.n = n_classes * sums.shape[1]
        self.call = lambda: add_class_sums(terms, NO_TALLIES, counts, counts.sum(), 0, *KEY, sums)


class TalliedClasses(_Kernel):
    """Per class: bootstrap weights, and the entries of tallies."""

    params = ((1_000,), (2, 3, 4, 16), (1, 3))
    param_names = ("classes", "units per class", "entries")

    def setup(self, n_classes: int, size: int, width: int) -> None:
        terms, entries = scores(0, n_classes), tallies(n_classes, width)
        counts = multiplicities(n_classes, size)
        sums = np.zeros((20, n_replicates(100 * n_classes)))
        self.n = n_classes * sums.shape[1]
        self.call = lambda: add_class_sums(terms, entries, counts, counts.sum(), 0, *KEY, sums)


class Flips(_Kernel):
    """Per class: its number of swapped units; counted bits up to 384, then by rejection."""

    params = ((100, 128, 200, 300, 384, 385, 1_000_000),)
    param_names = ("units per class",)

    def setup(self, size: int) -> None:
        terms = scores(1, 8)
        counts = multiplicities(8, size)
        sums = np.zeros((1, MOST_REPLICATES))
        self.n = counts.size * sums.size
        self.call = lambda: add_class_swap_sums(terms, NO_TALLIES, counts, 0, *KEY, sums)


class Binomials(_Kernel):
    """Per draw, one by one: by inversion below a mean of 10, then by rejection."""

    params = ((1, 5, 9, 11, 20, 50, 100, 1_000, 500_000),)
    param_names = ("mean",)

    def setup(self, mean: int) -> None:
        out = np.empty(MOST_REPLICATES, np.int64)
        self.n = out.size
        self.call = lambda: fill_binomials(1_000_000, mean, 1_000_000, 0, CLASSES, 0, *KEY, out)


class BinomialsAtOnce(Binomials):
    """Per draw, for all replicates at once."""

    def setup(self, mean: int) -> None:
        trials = np.full(MOST_REPLICATES, 1_000_000.0)
        out = np.empty(trials.size)
        self.n = out.size
        self.call = lambda: _draw(trials, mean, 1_000_000, out)


class FindClasses(_Kernel):
    """Per unit, once for a run."""

    params = ((10_000, 1_000_000), (1, 4), (3, 1_000))
    param_names = ("units", "terms", "classes")

    def setup(self, n_units: int, n_terms: int, n_classes: int) -> None:
        rng = np.random.default_rng(0)
        classes = rng.integers(n_classes, size=n_units)
        terms = np.ascontiguousarray(scores(n_terms, n_classes)[:, classes])
        terms.flags.writeable = False
        members = np.empty(n_classes, np.int64)
        counts = np.zeros(n_classes, np.int64)
        table = np.empty(4 << n_classes.bit_length(), np.int64)
        once = np.empty(0, np.int64)

        def call() -> None:
            table.fill(-1)
            found = find_classes(terms.view(np.uint64), once, table, members, counts)
            if found != n_classes:
                raise RuntimeError("the sample lacks a class")

        self.n = n_units
        self.call = call
