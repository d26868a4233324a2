"""Statistics: what a row contributes, and what the sums are worth. One family per file."""

from __future__ import annotations

from fastboot.statistics.additive import Additive, Ratio
from fastboot.statistics.classification import accuracy, f_score, precision, recall
from fastboot.statistics.combination import combine
from fastboot.statistics.means import mean, ratio, total, weighted_mean

__all__ = [
    "Additive",
    "Ratio",
    "accuracy",
    "combine",
    "f_score",
    "mean",
    "precision",
    "ratio",
    "recall",
    "total",
    "weighted_mean",
]
