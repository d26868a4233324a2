"""Leaderboards: every system's value and rank, every pair's difference, from arrays to tables.

All pairs of S systems cost the sums of S systems.
"""

from __future__ import annotations

import numpy as np

import fastboot as fb

from .timing import seconds

WAYS = {
    "bootstrap": {},
    "bootstrap, max-T": {"correction": "max_t"},
    "swaps": {"test": "randomization"},
    "permutations": {"test": "randomization", "null": "permutations", "correction": "max_t"},
}
N_RESAMPLES = 1_000


class Leaderboard:
    """CPU time; `track_ns` also per system, item and resample."""

    params = (((5, 2_000), (50, 10_000), (50, 100_000)), tuple(WAYS))
    param_names = ("systems and items", "way")
    timeout = 600

    def setup(self, size: tuple[int, int], way: str) -> None:
        n_systems, n_items = size
        rng = np.random.default_rng(0)
        item = rng.normal(size=n_items)
        scores = {
            f"system {i}": item + rng.normal(size=n_items) + 0.01 * i for i in range(n_systems)
        }
        self.n = n_systems * n_items * N_RESAMPLES

        def call() -> list[float]:
            found = fb.compare(scores, rng=0, n_resamples=N_RESAMPLES, **WAYS[way])
            found.pairs.to_columns()
            return found.systems.to_columns()["value"]

        self.call = call

    def time_answer(self, *_: object) -> None:
        self.call()

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.call) / self.n

    track_ns.unit = "ns"


class Slices:
    """CPU time per slice of three systems and six items: what a board takes, whatever its size."""

    params = (10, 1_000)
    param_names = ("slices",)
    timeout = 600

    def setup(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.scores = {f"system {i}": rng.normal(0.1 * i, size=6 * n) for i in range(3)}
        self.slices = np.repeat(np.arange(n), 6)

    def track_ms_per_slice(self, n: int) -> float:
        def call() -> None:
            found = fb.compare(self.scores, by=self.slices, rng=0, n_resamples=999)
            found.pairs.to_columns()
            found.systems.to_columns()

        return 1e3 * seconds(call) / n

    track_ms_per_slice.unit = "ms"
