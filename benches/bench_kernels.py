"""Each kernel alone, on one thread: nanoseconds per unit (or class, word) per replicate.

The thresholds in `fastboot/paths.py`, `fastboot/units.py` and in the kernels are read off here:
`Rows` against `Patterns` at 256 units, `Patterns` against `Weights` at 12 terms, `Classes` against
`Patterns` for the units that a class must stand for, `Flips` at 384 coins, `Room`.
"""

from __future__ import annotations

import math
import time

import numpy as np

from fastboot.kernels.binomial import fill_binomials
from fastboot.kernels.collapse import add_class_sums, add_class_swap_sums, find_classes
from fastboot.kernels.pattern_law import pattern_law, poisson_rate
from fastboot.kernels.patterns import add_pattern_sums
from fastboot.kernels.philox import CLASSES, PATTERNS, SUPERBLOCK, fill_positions, fill_replicates
from fastboot.kernels.products import add_pattern_products
from fastboot.kernels.segments import add_segment_sums
from fastboot.kernels.superblocks import fill_shares
from fastboot.kernels.swaps import add_swap_sums
from fastboot.units import from_rows, one_part

from .timing import seconds

KEY = np.random.SeedSequence(0).generate_state(2, np.uint32)
NO_TALLIES = from_rows([1.0], one_part(1)).entries
# As the engine cuts calls: at most so many replicates, or 0.1 s at about 0.2 ns a unit and term.
MOST_REPLICATES = 4_096


def n_replicates(n_units: int, n_terms: int = 1) -> int:
    return min(MOST_REPLICATES, int(0.1e9 / (n_units * (0.3 + 0.2 * n_terms))))


def scores(n_terms: int, n_units: int) -> np.ndarray:
    terms = np.random.default_rng(0).normal(size=(n_terms, n_units))
    terms.flags.writeable = False
    return terms


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
        self.call = lambda: fill_replicates(0, 0, 0, PATTERNS, *KEY, words)


class PhiloxPositions(_Kernel):
    """Per word, as places use them."""

    def setup(self) -> None:
        words = np.empty((MOST_REPLICATES, 4), np.uint32)
        self.n = words.size
        self.call = lambda: fill_positions(0, 0, 0, PATTERNS, *KEY, words)


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
        values = self.values_of(terms)
        self.call = lambda: self.kernel(*values, 0, n_units, 0, shares, 0, law, *KEY, sums)


class Patterns(_Superblock):
    params = ((64, 128, 256, 512, 1_024, 10_000, SUPERBLOCK), (1, 4, 8, 12, 16))
    kernel = staticmethod(add_pattern_sums)
    values_of = staticmethod(lambda terms: (terms,))


class Weights(_Superblock):
    params = ((256, 1_024, 10_000, SUPERBLOCK), (1, 4, 8, 12, 16, 30))
    kernel = staticmethod(add_pattern_products)
    values_of = staticmethod(lambda terms: (terms, NO_TALLIES))


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

    params = ((3, 100, 10_000), (10, 50, 100, 200, 10_000))
    param_names = ("classes", "units per class")

    def setup(self, n_classes: int, size: int) -> None:
        terms = scores(1, n_classes)
        counts = np.full(n_classes, size)
        sums = np.zeros((1, n_replicates(100 * n_classes)))
        self.n = n_classes * sums.shape[1]
        self.call = lambda: add_class_sums(terms, NO_TALLIES, counts, counts.sum(), 0, *KEY, sums)


class Flips(_Kernel):
    """Per class: its number of swapped units; counted bits up to 1,024, then by rejection."""

    params = ((100, 384, 512, 1_024, 1_025, 1_000_000),)
    param_names = ("units per class",)

    def setup(self, size: int) -> None:
        terms = scores(1, 8)
        counts = np.full(8, size)
        sums = np.zeros((1, MOST_REPLICATES))
        self.n = counts.size * sums.size
        self.call = lambda: add_class_swap_sums(terms, NO_TALLIES, counts, 0, *KEY, sums)


class Binomials(_Kernel):
    """Per draw: by inversion below a mean of 10, then by rejection."""

    params = ((1, 5, 9, 11, 20, 50, 100, 500_000),)
    param_names = ("mean",)

    def setup(self, mean: int) -> None:
        out = np.empty(MOST_REPLICATES, np.int64)
        self.n = out.size
        self.call = lambda: fill_binomials(1_000_000, mean, 1_000_000, 0, CLASSES, 0, *KEY, out)


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

        def call() -> None:
            table.fill(-1)
            if find_classes(terms.view(np.uint64), table, members, counts) != n_classes:
                raise RuntimeError("the sample lacks a class")

        self.n = n_units
        self.call = call
