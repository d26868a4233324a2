"""Metrics: what ``--metric`` names, as a statistic of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import fastboot as fb
from fastboot.columns import Column
from fastboot.statistics.base import Statistic

__all__ = ["METRICS", "ONE_CLASS", "Metric", "Recipe"]

Metric = Literal[
    "mean",
    "median",
    "total",
    "ratio",
    "weighted-mean",
    "accuracy",
    "balanced-accuracy",
    "precision",
    "recall",
    "f1",
    "macro-f1",
    "micro-f1",
    "weighted-f1",
    "matthews",
    "kappa",
    "auc",
    "average-precision",
    "log-loss",
    "brier",
    "pearson",
    "spearman",
    "kendall",
    "rmse",
    "mae",
    "r2",
]


class Recipe(NamedTuple):
    """What a metric is made of.

    make : statistic of a system's column, of the second column and of the label looked for
    second : the option that names the second column
    one_class : whether it looks for one label
    scores : whether a system's column holds numbers, where that of the right answers holds labels
    lower_is_better : its direction
    """

    make: Callable[[Column, Any, Any], Statistic]
    second: str | None = None
    one_class: bool = False
    scores: bool = False
    lower_is_better: bool = False


def _with_gold(make: Callable[[Any, Any], Statistic]) -> Recipe:
    return Recipe(lambda own, gold, _: make(gold, own.source), "--gold")


def _one_class(make: Callable[..., Statistic]) -> Recipe:
    return Recipe(
        lambda own, gold, label: make(gold, own.source, pos_label=label), "--gold", one_class=True
    )


def _scores(make: Callable[..., Statistic], *, lower_is_better: bool = False) -> Recipe:
    return _one_class(make)._replace(scores=True, lower_is_better=lower_is_better)


def _average(average: str) -> Recipe:
    return _with_gold(lambda gold, own: fb.f_score(gold, own, average=average))


METRICS: Mapping[Metric, Recipe] = {
    "mean": Recipe(lambda own, _gold, _label: fb.mean(own)),
    "median": Recipe(lambda own, _gold, _label: fb.median(own.source)),
    "total": Recipe(lambda own, _gold, _label: fb.total(own)),
    "ratio": Recipe(lambda own, below, _label: fb.ratio(own, below), "--denominator"),
    "weighted-mean": Recipe(
        lambda own, weights, _label: fb.weighted_mean(own, weights), "--weights"
    ),
    "accuracy": _with_gold(fb.accuracy),
    "balanced-accuracy": _with_gold(fb.balanced_accuracy),
    "precision": _one_class(fb.precision),
    "recall": _one_class(fb.recall),
    "f1": _one_class(fb.f_score),
    "macro-f1": _average("macro"),
    "micro-f1": _average("micro"),
    "weighted-f1": _average("weighted"),
    "matthews": _with_gold(fb.matthews),
    "kappa": _with_gold(fb.cohen_kappa),
    "auc": _scores(fb.roc_auc),
    "average-precision": _scores(fb.average_precision),
    "log-loss": _scores(fb.log_loss, lower_is_better=True),
    # Of one probability, from 0 to 1 (Brier's own sum over both classes is twice that).
    "brier": _scores(partial(fb.brier_score, scale_by_half=True), lower_is_better=True),
    "pearson": _with_gold(fb.pearson),
    "spearman": _with_gold(fb.spearman),
    "kendall": _with_gold(fb.kendall),
    "rmse": _with_gold(fb.rmse)._replace(lower_is_better=True),
    "mae": _with_gold(fb.mae)._replace(lower_is_better=True),
    "r2": _with_gold(fb.r_squared),
}
ONE_CLASS = tuple(metric for metric, recipe in METRICS.items() if recipe.one_class)
