"""Metrics: what ``--metric`` names, as a statistic of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import fastboot as fb
from fastboot.columns import Column

__all__ = ["ONE_CLASS", "SECOND_COLUMN", "STATISTICS", "Metric"]

Metric = Literal["mean", "total", "ratio", "weighted-mean", "accuracy", "precision", "recall", "f1"]

STATISTICS: Mapping[Metric, Callable[[Column, Any, object], fb.Additive]] = {
    "mean": lambda own, _second, _label: fb.mean(own),
    "total": lambda own, _second, _label: fb.total(own),
    "ratio": lambda own, denominator, _label: fb.ratio(own, denominator),
    "weighted-mean": lambda own, weights, _label: fb.weighted_mean(own, weights),
    "accuracy": lambda own, gold, _label: fb.accuracy(gold, own.source),
    "precision": lambda own, gold, label: fb.precision(gold, own.source, pos_label=label),
    "recall": lambda own, gold, label: fb.recall(gold, own.source, pos_label=label),
    "f1": lambda own, gold, label: fb.f_score(gold, own.source, pos_label=label),
}
# The option that names a metric's second column.
SECOND_COLUMN: Mapping[Metric, str] = {
    "ratio": "--denominator",
    "weighted-mean": "--weights",
    "accuracy": "--gold",
    "precision": "--gold",
    "recall": "--gold",
    "f1": "--gold",
}
ONE_CLASS = ("precision", "recall", "f1")
