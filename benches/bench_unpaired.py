"""Two independent samples: labels alone, and whole permutation tests beside SciPy's.

`Labels` is in nanoseconds of a pooled unit in one replicate, on one thread. `Permutation`: per
pooled row and resample; `track_ratio` is SciPy's time by ours in the same run, SciPy given a
vectorised statistic and its default batch.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import stats

from fastboot.kernels.relabelling import fill_all_labels, fill_label_weights
from fastboot.permutation import permutation_test
from fastboot.statistics.means import mean
from fastboot.statistics.order import median
from fastboot.unpaired import unpaired_bootstrap

from .timing import seconds, seconds_of_both

KEY = np.random.SeedSequence(0).generate_state(2, np.uint32)
N_REPLICATES = 8
N_RESAMPLES = 500


class Labels:
    params = ([100, 10_000], [0.5, 0.05])
    param_names = ("units", "share of a")
    unit = "ns"

    def setup(self, n_units: int, share: float):
        # Always other replicates: the processor learns the branches of eight by heart.
        weights = np.empty((N_REPLICATES, n_units))
        batches = range(1_000_000 // n_units // N_REPLICATES)
        self.n = len(batches) * weights.size

        def call() -> None:
            for batch in batches:
                first = batch * N_REPLICATES
                fill_label_weights(0, n_units, int(share * n_units), first, *KEY, weights)

        self.call = call

    def track_ns(self, *_: float) -> float:
        return 1e9 * seconds(self.call, time.thread_time) / self.n


class AllLabels:
    unit = "ns"

    def setup(self):
        self.weights = np.empty((11_440, 16))

    def track_ns(self) -> float:
        call = lambda: fill_all_labels(0, 16, 7, 1, 11_440, 0, self.weights)  # noqa: E731 - timed as a call
        return 1e9 * seconds(call, time.thread_time) / self.weights.size


class Permutation:
    params = ([100, 1_000, 10_000], ["mean", "median", "accuracy"])
    param_names = ("rows of each sample", "statistic")
    timeout = 300

    def setup(self, n: int, statistic: str):
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=n), rng.normal(size=n)
        if statistic == "accuracy":  # zeros and ones
            a, b = (a < 0.0).astype(float), (b < 0.0).astype(float)
        of, axis_of = (median, np.median) if statistic == "median" else (mean, np.mean)
        self.n_draws = 2 * n * N_RESAMPLES

        def ours() -> None:
            permutation_test(of(a), of(b), rng=0, n_resamples=N_RESAMPLES, n_threads=1)

        def theirs() -> None:
            stats.permutation_test(
                (a, b),
                lambda x, y, axis: axis_of(x, axis=axis) - axis_of(y, axis=axis),
                vectorized=True,
                n_resamples=N_RESAMPLES,
                rng=np.random.default_rng(0),
            )

        self.ours, self.theirs = ours, theirs

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.ours) / self.n_draws

    track_ns.unit = "ns"

    def track_ratio(self, *_: object) -> float:
        ours, theirs = seconds_of_both(self.ours, self.theirs)
        return theirs / ours

    track_ratio.unit = "times"


class Bootstrap:
    params = (100, 10_000)
    param_names = ("rows of each sample",)
    unit = "ns"

    def setup(self, n: int):
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=n), rng.normal(size=n)
        self.n_draws = 2 * n * N_RESAMPLES
        self.call = lambda: unpaired_bootstrap(a, b, rng=0, n_resamples=N_RESAMPLES, n_threads=1)

    def track_ns(self, *_: int) -> float:
        return 1e9 * seconds(self.call) / self.n_draws
