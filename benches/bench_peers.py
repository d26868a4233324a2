"""Other packages in the same process: their CPU time by ours, per unit per resample.

Ours is end to end on one thread. The others do what they can do best with two arrays of continuous
scores: those that know no pairs get the differences, ready-made. CPU time counts all threads.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

import numpy as np

import fastboot as fb

from .timing import seconds, seconds_of_both

if TYPE_CHECKING:
    from collections.abc import Callable

    Peer = Callable[[np.ndarray, np.ndarray, int], object]

N_ROWS = (10_000, 1_000_000)


def sign_matrix() -> Peer:
    """One random sign matrix times both systems' scores, as mt-metrics-eval does it."""

    def run(a: np.ndarray, b: np.ndarray, n_resamples: int) -> object:
        signs = np.random.default_rng(0).random((n_resamples, a.size), dtype=np.float32)
        np.rint(signs, out=signs)
        signs *= 2.0
        signs -= 1.0
        totals = signs @ np.stack([a, b], axis=1).astype(np.float32)
        return np.mean(totals[:, 0] - totals[:, 1] >= np.sum(a - b))

    return run


def ranx() -> Peer:
    from ranx.statistical_tests import fisher_randomization_test

    return fisher_randomization_test


def scipy_permutation() -> Peer:
    from scipy.stats import permutation_test

    def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return a.mean(axis) - b.mean(axis)

    return lambda a, b, n_resamples: permutation_test(
        (a, b),
        difference,
        permutation_type="samples",
        n_resamples=n_resamples,
        batch=10,  # 10 x 1e6 differences are 80 MB
        vectorized=True,
        rng=0,
    )


def evaluatio_permutation() -> Peer:
    from evaluatio.inference.hypothesis import paired_permutation_test

    return paired_permutation_test


def foostrap() -> Peer:
    from foostrap.interface import foostrap as bootstrap

    return lambda a, b, n_resamples: bootstrap(
        a - b, boot_samples=n_resamples, ci_method="percentile", parallel=False, random_state=0
    )


def evaluatio() -> Peer:
    from evaluatio.inference.hypothesis import paired_bootstrap_test

    return paired_bootstrap_test


def arch() -> Peer:
    from arch.bootstrap import IIDBootstrap

    return lambda a, b, n_resamples: IIDBootstrap(a - b, seed=0).conf_int(
        np.mean, n_resamples, method="percentile"
    )


def scipy_bootstrap() -> Peer:
    from scipy.stats import bootstrap

    return lambda a, b, n_resamples: bootstrap(
        (a - b,), np.mean, n_resamples=n_resamples, batch=10, method="percentile", rng=0
    )


def numpy_loop() -> Peer:
    def run(a: np.ndarray, b: np.ndarray, n_resamples: int) -> object:
        rng = np.random.default_rng(0)
        gaps = a - b
        n = gaps.size
        replicates = [gaps[rng.integers(n, size=n)].mean() for _ in range(n_resamples)]
        return np.quantile(replicates, (0.025, 0.975))

    return run


# Each with its resamples at 1e4 and at 1e6 rows: 0.1 s to 2 s a run.
SWAPS = {
    "sign matrix": (sign_matrix, (2_000, 20)),
    "ranx": (ranx, (500, 5)),
    "scipy": (scipy_permutation, (50, 2)),
    "evaluatio": (evaluatio_permutation, (2_000, 20)),
}
BOOTSTRAPS = {
    "foostrap": (foostrap, (5_000, 50)),
    "evaluatio": (evaluatio, (3_000, 30)),
    "arch": (arch, (2_000, 20)),
    "scipy": (scipy_bootstrap, (1_000, 20)),
    "numpy": (numpy_loop, (2_000, 20)),
}


class _Peers:
    peers: ClassVar[dict[str, tuple[Callable[[], Peer], tuple[int, int]]]]
    n_resamples: ClassVar[tuple[int, int]]
    timeout = 600

    def setup(self, n_rows: int, name: str) -> None:
        make, n_resamples = self.peers[name]
        try:
            peer = make()
        except ImportError as error:  # asv leaves out what is not installed
            raise NotImplementedError(str(error)) from error
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=(2, n_rows))
        size = N_ROWS.index(n_rows)
        n_ours, n_theirs = self.n_resamples[size], n_resamples[size]
        self.ours = lambda: self.answer(a, b, n_resamples=n_ours, rng=0, n_threads=1)
        self.theirs = lambda: peer(a, b, n_theirs)
        self.n_ours, self.n_theirs = n_rows * n_ours, n_rows * n_theirs

    def track_ratio(self, *_: object) -> float:
        theirs, ours = seconds_of_both(self.theirs, self.ours, time.process_time)
        return (theirs / self.n_theirs) / (ours / self.n_ours)

    track_ratio.unit = "times"

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.theirs) / self.n_theirs

    track_ns.unit = "ns"


class SwapPeers(_Peers):
    params = (N_ROWS, tuple(SWAPS))
    param_names = ("rows", "peer")
    peers = SWAPS
    n_resamples = (10_000, 10_000)

    @staticmethod
    def answer(*scores: np.ndarray, **options: int) -> float:
        return fb.approximate_randomization(*scores, **options).pvalue


class BootstrapPeers(_Peers):
    params = (N_ROWS, tuple(BOOTSTRAPS))
    param_names = ("rows", "peer")
    peers = BOOTSTRAPS
    n_resamples = (10_000, 2_000)

    @staticmethod
    def answer(*scores: np.ndarray, **options: int) -> tuple[float, ...]:
        return fb.paired_bootstrap(*scores, **options).confidence_interval
