"""Fillers of weights of the designs beyond independent units, each alone, on one thread.

`track_ns` is per unit per replicate. `BlockPeers`: the weights of a block bootstrap and the mean
under them by our kernels, against the same bootstrap of arch, per row per resample; the ratio is
theirs by ours.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from fastboot.kernels.blocks import fill_block_weights, fill_stationary_weights, log_of_continuing
from fastboot.kernels.crossed import fill_crossed_weights
from fastboot.kernels.exponential import fill_exponential_weights
from fastboot.kernels.nested import fill_nested_weights
from fastboot.kernels.pattern_law import pattern_law
from fastboot.kernels.poisson import fill_poisson_weights

from .timing import seconds, seconds_of_both

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = np.random.SeedSequence(0).generate_state(2, np.uint32)
N_REPLICATES = 8
N_ROWS = 10_000


def frozen(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


def level_counts(n_levels: int) -> np.ndarray:
    law = np.full(n_levels, 1.0 / n_levels)
    drawn = np.random.default_rng(0).multinomial(n_levels, law, N_REPLICATES)
    return frozen(drawn.astype(float))


class _Filler:
    unit = "ns"
    timeout = 300

    def setup(self, *params: float) -> None:
        # Always other replicates: the processor learns the branches of eight by heart.
        weights = np.empty((N_REPLICATES, N_ROWS))
        fill = self.filler(*params)
        fill(0, weights)
        batches = range(100)
        self.n = len(batches) * weights.size

        def call() -> None:
            for batch in batches:
                fill(batch * N_REPLICATES, weights)

        self.call = call

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.call, time.thread_time) / self.n


class Poisson(_Filler):
    def filler(self) -> Callable[[int, np.ndarray], None]:
        law = tuple(pattern_law(1.0))
        return lambda first, weights: fill_poisson_weights(0, first, law, *KEY, weights)


class Exponential(_Filler):
    def filler(self) -> Callable[[int, np.ndarray], None]:
        return lambda first, weights: fill_exponential_weights(0, first, *KEY, weights)


class Nested(_Filler):
    params = (1, 2, 5, 10, 100, 1_000, N_ROWS)
    param_names = ("units per group",)

    def filler(self, size: int) -> Callable[[int, np.ndarray], None]:
        n_groups = N_ROWS // size
        offsets = frozen(np.arange(n_groups + 1) * size)
        outer = level_counts(n_groups)
        return lambda first, weights: fill_nested_weights(offsets, outer, first, *KEY, weights)


class Crossed(_Filler):
    params = (100, N_ROWS)
    param_names = ("levels",)

    def filler(self, n_levels: int) -> Callable[[int, np.ndarray], None]:
        rng = np.random.default_rng(0)
        codes = [frozen(rng.integers(n_levels, size=N_ROWS)) for _ in range(2)]
        outer = level_counts(n_levels)
        return lambda _, weights: fill_crossed_weights(*codes, outer, outer, weights)


class Blocks(_Filler):
    params = (1, 5, 22, 100, 1_000)
    param_names = ("rows per block",)

    def filler(self, length: int) -> Callable[[int, np.ndarray], None]:
        return lambda first, weights: fill_block_weights(length, True, first, *KEY, weights)  # noqa: FBT003 - kernels take no names


class Stationary(_Filler):
    params = (1, 2, 5, 22, 100, 1_000)
    param_names = ("mean rows per block",)

    def filler(self, length: int) -> Callable[[int, np.ndarray], None]:
        law = float(length), log_of_continuing(length)
        return lambda first, weights: fill_stationary_weights(*law, first, *KEY, weights)


class BlockPeers:
    # n^(1/3) is the order of the best length.
    params = (("MovingBlock", "CircularBlock", "Stationary"), (22, 100))
    param_names = ("bootstrap", "rows per block")
    timeout = 300

    def setup(self, name: str, length: int) -> None:
        try:
            from arch import bootstrap
        except ImportError as error:  # asv leaves out what is not installed
            raise NotImplementedError(str(error)) from error
        values = np.random.default_rng(0).normal(size=N_ROWS)
        weights = np.empty((N_REPLICATES, N_ROWS))
        n_batches = 125  # 1,000 resamples
        peer = getattr(bootstrap, f"{name}Bootstrap")(length, values, seed=0)

        def fill(first: int) -> None:
            if name == "Stationary":
                law = float(length), log_of_continuing(length)
                fill_stationary_weights(*law, first, *KEY, weights)
            else:
                fill_block_weights(length, name == "CircularBlock", first, *KEY, weights)

        def ours() -> None:
            for batch in range(n_batches):
                fill(batch * N_REPLICATES)
                weights @ values / N_ROWS

        self.ours = ours
        self.theirs = lambda: peer.apply(np.mean, n_batches * N_REPLICATES)
        self.n = n_batches * weights.size

    def track_ratio(self, *_: object) -> float:
        theirs, ours = seconds_of_both(self.theirs, self.ours, time.process_time)
        return theirs / ours

    track_ratio.unit = "times"

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.ours) / self.n

    track_ns.unit = "ns"

    def track_ns_of_arch(self, *_: object) -> float:
        return 1e9 * seconds(self.theirs) / self.n

    track_ns_of_arch.unit = "ns"
