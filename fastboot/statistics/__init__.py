"""Statistics: what a row contributes, and what the sums are worth. One family per file."""

from __future__ import annotations

from fastboot.statistics.additive import Additive, AdditiveVector, Ratio, Tally
from fastboot.statistics.annotation import fleiss_kappa, krippendorff_alpha
from fastboot.statistics.answers import exact_match, normalize_answer, token_f1
from fastboot.statistics.association import agreement, mae, pearson, r_squared, rmse
from fastboot.statistics.chance_corrected import cohen_kappa, matthews
from fastboot.statistics.classification import (
    accuracy,
    balanced_accuracy,
    f_score,
    jaccard,
    precision,
    recall,
    specificity,
)
from fastboot.statistics.combination import combine
from fastboot.statistics.confusion import ConfusionMatrix, confusion_cells, confusion_matrix
from fastboot.statistics.distribution import geometric_mean, harmonic_mean, skewness, std, variance
from fastboot.statistics.function import statistic
from fastboot.statistics.generation import bleu, chrf, ter, word_error_rate
from fastboot.statistics.judgement import pass_at_k, win_rate
from fastboot.statistics.macro import macro
from fastboot.statistics.means import mean, ratio, total, weighted_mean
from fastboot.statistics.metric_correlation import system_correlation
from fastboot.statistics.order import (
    interquartile_mean,
    maximum,
    median,
    minimum,
    quantile,
    trimmed_mean,
)
from fastboot.statistics.probability import (
    ReliabilityTable,
    brier_score,
    calibration_error,
    log_loss,
    reliability_table,
)
from fastboot.statistics.rank_correlation import kendall, spearman
from fastboot.statistics.ranking import average_precision, risk_coverage_area, roc_auc
from fastboot.statistics.selective import coverage, mean_cost, selective_risk
from fastboot.statistics.weighted import Weighted

__all__ = [
    "Additive",
    "AdditiveVector",
    "ConfusionMatrix",
    "Ratio",
    "ReliabilityTable",
    "Tally",
    "Weighted",
    "accuracy",
    "agreement",
    "average_precision",
    "balanced_accuracy",
    "bleu",
    "brier_score",
    "calibration_error",
    "chrf",
    "cohen_kappa",
    "combine",
    "confusion_cells",
    "confusion_matrix",
    "coverage",
    "exact_match",
    "f_score",
    "fleiss_kappa",
    "geometric_mean",
    "harmonic_mean",
    "interquartile_mean",
    "jaccard",
    "kendall",
    "krippendorff_alpha",
    "log_loss",
    "macro",
    "mae",
    "matthews",
    "maximum",
    "mean",
    "mean_cost",
    "median",
    "minimum",
    "normalize_answer",
    "pass_at_k",
    "pearson",
    "precision",
    "quantile",
    "r_squared",
    "ratio",
    "recall",
    "reliability_table",
    "risk_coverage_area",
    "rmse",
    "roc_auc",
    "selective_risk",
    "skewness",
    "spearman",
    "specificity",
    "statistic",
    "std",
    "system_correlation",
    "ter",
    "token_f1",
    "total",
    "trimmed_mean",
    "variance",
    "weighted_mean",
    "win_rate",
    "word_error_rate",
]
