"""Areas under curves: one pass per replicate, against scikit-learn on resampled rows.

Draws are ready for both: weights of the rows for ours, numbers of rows for scikit-learn (NumPy for
the risk-coverage curve). As many replicates at a time as stay in the cache, as the engine does it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastboot.columns import load
from fastboot.statistics.ranking import average_precision, risk_coverage_area, roc_auc

from .timing import seconds, seconds_of_both

if TYPE_CHECKING:
    from collections.abc import Callable

# Weights of a batch take 1 MB, or a replicate.
BATCH_BYTES = 1 << 20


def risk_coverage_loop(wrong: np.ndarray, confidence: np.ndarray) -> float:
    ordered = wrong[np.argsort(-confidence)]
    return np.mean(np.cumsum(ordered) / np.arange(1, ordered.size + 1))


def of_errors(wrong: np.ndarray, confidence: np.ndarray) -> Any:
    return risk_coverage_area(np.zeros_like(wrong), wrong, confidence)


class Ranking:
    """Per row and replicate; scores that all differ, which is slowest, or have 100 values."""

    params = (
        (1_000, 10_000, 100_000, 1_000_000),
        ("roc_auc", "average_precision", "risk_coverage_area"),
        ("distinct", "tied"),
    )
    param_names = ("rows", "statistic", "scores")
    timeout = 300
    statistics: ClassVar[dict[str, Callable[..., Any]]] = {
        "roc_auc": roc_auc,
        "average_precision": average_precision,
        "risk_coverage_area": of_errors,
    }

    def setup(self, n_rows: int, name: str, scores: str) -> None:
        from sklearn import metrics

        peers = {
            "roc_auc": metrics.roc_auc_score,
            "average_precision": metrics.average_precision_score,
            "risk_coverage_area": risk_coverage_loop,
        }
        rng = np.random.default_rng(0)
        gold = (rng.random(n_rows) < 0.3).astype(np.int64)
        score = rng.normal(size=n_rows) + gold
        if scores == "tied":
            score = np.round(score * 12.5)
        rows = rng.integers(n_rows, size=n_rows)
        statistic = self.statistics[name](gold, score)
        prepared = statistic.prepare(*load(statistic.columns).columns)
        n_replicates = max(1, BATCH_BYTES // (8 * n_rows))
        weights = np.tile(np.bincount(rows, minlength=n_rows).astype(float), (n_replicates, 1))
        # 0.01 s or more a run
        n_batches = max(1, 10_000_000 // weights.size)
        self.n = n_batches * weights.size
        self.n_rows = n_rows

        def ours() -> float:
            for _ in range(n_batches):
                areas = statistic.values(prepared, weights)
            return areas[0]

        self.ours = ours
        self.theirs = lambda: peers[name](gold[rows], score[rows])
        # Tied rows come in any order in the loop of NumPy.
        if (name, scores) != ("risk_coverage_area", "tied"):
            assert abs(self.ours() - self.theirs()) < 1e-9

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.ours, time.thread_time) / self.n

    track_ns.unit = "ns"

    def track_ratio(self, *_: object) -> float:
        theirs, ours = seconds_of_both(self.theirs, self.ours)
        return (theirs / self.n_rows) / (ours / self.n)

    track_ratio.unit = "times"
