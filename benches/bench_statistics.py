"""Statistics end to end, beside the loops that people write: ratios of CPU time in the same run.

A loop that would take minutes is run with fewer resamples, and its time scaled up.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import fastboot as fb

from .timing import seconds, seconds_of_both

if TYPE_CHECKING:
    from collections.abc import Callable

N_RESAMPLES = 10_000


class _Ratio:
    """Time of the other over ours, for as many resamples."""

    timeout = 900
    timer = time.process_time

    def track_ratio(self, *_: object) -> float:
        ours, other = seconds_of_both(self.ours, self.other, self.timer)
        return self.scale * other / ours

    track_ratio.unit = "ratio"


class Bleu(_Ratio):
    """Two systems of 2,000 segments after counting, against sacreBLEU's own paired bootstrap.

    Wall-clock time, on all cores: sacreBLEU uses one.
    """

    timer = time.perf_counter

    scale = N_RESAMPLES / 1_000  # sacreBLEU with 1,000 resamples, its default

    def setup(self) -> None:
        from sacrebleu.metrics.bleu import BLEU

        rng = np.random.default_rng(0)
        totals = np.maximum(rng.poisson(25, 2_000)[:, None] - np.arange(4), 1)
        systems = [rng.binomial(totals, [0.6, 0.35, 0.2, 0.12]) for _ in "ab"]
        lengths = totals[:, 0] + rng.integers(-2, 3, 2_000), totals[:, 0]
        rows = [np.column_stack([*lengths, right, totals]) for right in systems]
        a, b = (
            fb.bleu(
                system_length=stats[:, 0],
                reference_length=stats[:, 1],
                correct=list(stats[:, 2:6].T),
                total=list(stats[:, 6:].T),
            )
            for stats in rows
        )
        metric = BLEU()

        def other() -> list[float]:
            indices = np.random.default_rng(0).choice(2_000, (1_000, 2_000))
            return [
                metric._compute_score_from_stats(part.sum(0)).score  # noqa: SLF001 - its own loop
                for stats in rows
                for part in np.asarray(stats, np.float32)[indices]
            ]

        self.ours = lambda: fb.paired_bootstrap(a, b, n_resamples=N_RESAMPLES, rng=0)
        self.other = other

    def time_answer(self) -> None:
        self.ours()


class AgainstLoops(_Ratio):
    """100,000 rows: resample, then call NumPy or scikit-learn."""

    params = ("median", "roc_auc", "macro_f")
    param_names = ("statistic",)
    scale = N_RESAMPLES / 5  # the loop with 5 resamples

    def setup(self, name: str) -> None:
        from sklearn import metrics

        n_rows = 100_000
        rng = np.random.default_rng(0)
        gold = rng.integers(0, 2, n_rows)
        score = gold + rng.normal(size=n_rows)
        classes = rng.integers(0, 10, n_rows)
        predicted = np.where(rng.random(n_rows) < 0.8, classes, rng.integers(0, 10, n_rows))
        statistic: Any
        function: Callable[[np.ndarray], float]
        statistic, function = {
            "median": (fb.median(score), lambda rows: np.median(score[rows])),
            "roc_auc": (
                fb.roc_auc(gold, score),
                lambda rows: metrics.roc_auc_score(gold[rows], score[rows]),
            ),
            "macro_f": (
                fb.f_score(classes, predicted, average="macro"),
                lambda rows: metrics.f1_score(classes[rows], predicted[rows], average="macro"),
            ),
        }[name]
        generator = np.random.default_rng(0)
        self.ours = lambda: fb.bootstrap(statistic, n_resamples=N_RESAMPLES, rng=0, n_threads=1)
        self.other = lambda: [function(generator.integers(0, n_rows, n_rows)) for _ in range(5)]


class MedianByWeights(AgainstLoops):
    """The median of two systems, which needs the weights of the rows."""

    params = ("median",)

    def setup(self, name: str) -> None:
        super().setup(name)
        x, y = np.random.default_rng(0).normal(size=(2, 100_000))
        a, b = fb.median(x), fb.median(y)
        generator = np.random.default_rng(0)

        def other() -> list[float]:
            indices = (generator.integers(0, x.size, x.size) for _ in range(5))
            return [np.median(x[rows]) - np.median(y[rows]) for rows in indices]

        self.ours = lambda: fb.paired_bootstrap(a, b, n_resamples=N_RESAMPLES, rng=0, n_threads=1)
        self.other = other


class MacroF:
    """Two systems, 10 classes, a million rows, on all cores: seconds of wall-clock time."""

    timeout = 600

    def setup(self) -> None:
        rng = np.random.default_rng(0)
        gold = rng.integers(0, 10, 1_000_000)
        a, b = (
            fb.f_score(
                gold,
                np.where(rng.random(gold.size) < right, gold, rng.integers(0, 10, gold.size)),
                average="macro",
            )
            for right in (0.8, 0.78)
        )
        self.call = lambda: fb.paired_bootstrap(a, b, n_resamples=N_RESAMPLES, rng=0)
        self.call()

    def time_answer(self) -> None:
        self.call()


class Slices:
    """10,000 slices of 4 rows, 1,000 resamples: seconds."""

    params = ("mean", "macro_f", "median")
    param_names = ("statistic",)
    timeout = 600

    def setup(self, name: str) -> None:
        rng = np.random.default_rng(0)
        by = np.repeat(np.arange(10_000), 4)
        score = rng.normal(size=by.size)
        gold, predicted = rng.integers(0, 2, (2, by.size))
        statistic: Any = {
            "mean": score,
            "macro_f": fb.f_score(gold, predicted, average="macro", zero_division=0),
            "median": fb.median(score),
        }[name]
        self.call = lambda: fb.bootstrap(statistic, by=by, n_resamples=1_000, rng=0)
        self.call()

    def time_answer(self, _: str) -> None:
        self.call()


class Twenty:
    """Twenty statistics of a million rows in one call, over the slowest of them alone."""

    timeout = 900

    def setup(self) -> None:
        rng = np.random.default_rng(0)
        n_rows = 1_000_000
        gold = rng.integers(0, 2, n_rows)
        predicted = np.where(rng.random(n_rows) < 0.8, gold, 1 - gold)
        sure = np.clip(0.6 * gold + 0.2 + 0.15 * rng.normal(size=n_rows), 0.001, 0.999)
        x = rng.normal(size=n_rows)
        y = x + rng.normal(size=n_rows)
        words = rng.poisson(5, n_rows)
        labels = gold, predicted
        self.statistics = {
            "mean": fb.mean(x),
            "accuracy": fb.accuracy(*labels),
            "precision": fb.precision(*labels),
            "recall": fb.recall(*labels),
            "f_score": fb.f_score(*labels),
            "matthews": fb.matthews(*labels),
            "cohen_kappa": fb.cohen_kappa(*labels),
            "balanced_accuracy": fb.balanced_accuracy(*labels),
            "jaccard": fb.jaccard(*labels),
            "specificity": fb.specificity(*labels),
            "log_loss": fb.log_loss(gold, sure),
            "brier_score": fb.brier_score(gold, sure),
            "calibration_error": fb.calibration_error(gold, sure),
            "ratio": fb.ratio(words, words + 3),
            "pearson": fb.pearson(x, y),
            "r_squared": fb.r_squared(y, x),
            "rmse": fb.rmse(y, x),
            "mae": fb.mae(y, x),
            "std": fb.std(x),
            "geometric_mean": fb.geometric_mean(np.exp(x)),
        }

    def track_ratio(self) -> float:
        def call(statistic: Any) -> Callable[[], object]:
            return lambda: fb.bootstrap(statistic, n_resamples=200, rng=0, n_threads=1)

        alone = [seconds(call(statistic)) for statistic in self.statistics.values()]
        return seconds(call(self.statistics)) / max(alone)

    track_ratio.unit = "ratio"
