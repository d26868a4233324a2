"""Statistics: what a row contributes, and what the sums are worth. One family per file."""

from __future__ import annotations

from fastboot.statistics.additive import Additive, AdditiveVector, Ratio, Tally
from fastboot.statistics.association import agreement, mae, pearson, r_squared, rmse
from fastboot.statistics.classification import accuracy, f_score, precision, recall
from fastboot.statistics.combination import combine
from fastboot.statistics.distribution import geometric_mean, harmonic_mean, skewness, std, variance
from fastboot.statistics.generation import bleu, chrf, ter, word_error_rate
from fastboot.statistics.judgement import pass_at_k, win_rate
from fastboot.statistics.means import mean, ratio, total, weighted_mean
from fastboot.statistics.probability import (
    ReliabilityTable,
    brier_score,
    calibration_error,
    log_loss,
    reliability_table,
)
from fastboot.statistics.selective import coverage, mean_cost, selective_risk
from fastboot.statistics.weighted import Weighted

__all__ = [
    "Additive",
    "AdditiveVector",
    "Ratio",
    "ReliabilityTable",
    "Tally",
    "Weighted",
    "accuracy",
    "agreement",
    "bleu",
    "brier_score",
    "calibration_error",
    "chrf",
    "combine",
    "coverage",
    "f_score",
    "geometric_mean",
    "harmonic_mean",
    "log_loss",
    "mae",
    "mean",
    "mean_cost",
    "pass_at_k",
    "pearson",
    "precision",
    "r_squared",
    "ratio",
    "recall",
    "reliability_table",
    "rmse",
    "selective_risk",
    "skewness",
    "std",
    "ter",
    "total",
    "variance",
    "weighted_mean",
    "win_rate",
    "word_error_rate",
]
