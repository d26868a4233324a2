"""Statistics of weighted rows: nanoseconds per row per replicate, and NumPy's or SciPy's by ours.

Ours is what a replicate costs once its weights are drawn. A loop draws the rows of a resample and
gives them to the library's function, which is how these are bootstrapped without fastboot.
`Indices` is per replicate: an order statistic drawn without the rows.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import stats

from fastboot.kernels.order import fill_order_indices, fill_order_pairs
from fastboot.statistics.order import interquartile_mean, median, quantile
from fastboot.statistics.rank_correlation import kendall, spearman

from .timing import seconds, seconds_of_both

KEY = np.random.SeedSequence(0).generate_state(2, np.uint32)
# One batch of Kendall's.
N_REPLICATES = 16

# Ours, and the library's; 1 or 2 columns.
STATISTICS = {
    "median": (median, np.median),
    "quantile": (lambda x: quantile(x, 0.9), lambda x: np.quantile(x, 0.9)),
    "interquartile mean": (interquartile_mean, lambda x: stats.trim_mean(x, 0.25)),
    "spearman": (spearman, stats.spearmanr),
    "kendall": (kendall, stats.kendalltau),
}


class WeightedRows:
    params = ((1_000, 10_000, 100_000, 1_000_000), tuple(STATISTICS), ("continuous", "ties"))
    param_names = ("rows", "statistic", "values")
    timeout = 300

    def setup(self, n_rows: int, name: str, kind: str) -> None:
        rng = np.random.default_rng(0)
        make, library = STATISTICS[name]
        x = rng.normal(size=n_rows)
        columns = [x, x + rng.normal(size=n_rows)] if name in {"spearman", "kendall"} else [x]
        if kind == "ties":  # about ten values
            columns = [np.round(column) for column in columns]
        statistic = make(*columns)
        prepared = statistic.prepare(*columns)
        weights = np.stack(
            [
                np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows).astype(float)
                for _ in range(N_REPLICATES)
            ]
        )
        self.n = weights.size
        self.ours = lambda: statistic.values(prepared, weights)

        def theirs() -> None:
            rows = rng.integers(n_rows, size=n_rows)
            library(*(column[rows] for column in columns))

        self.n_theirs = n_rows
        self.theirs = theirs

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.ours, time.thread_time) / self.n

    track_ns.unit = "ns"

    def track_ratio(self, *_: object) -> float:
        theirs, ours = seconds_of_both(self.theirs, self.ours, time.process_time)
        return (theirs / self.n_theirs) / (ours / self.n)

    track_ratio.unit = "times"


class Indices:
    params = ((1, 2, 500, 1_000), ("one", "pair"))
    param_names = ("k", "neighbours")
    unit = "ns"

    def setup(self, k: int, neighbours: str) -> None:
        out = np.empty((2, 10_000), np.int64)
        self.n = out.shape[1]
        if neighbours == "one":
            self.call = lambda: fill_order_indices(1_000, k, 0, *KEY, out[0])
        else:
            self.call = lambda: fill_order_pairs(1_001, k, 0, *KEY, out)

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.call, time.thread_time) / self.n
