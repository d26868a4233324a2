"""Tests and intervals for evaluation: is system A really better than B, and how sure are we.

Bootstrap and approximate randomization for evaluation: exact, reproducible, fast. See
:func:`bootstrap`, :func:`paired_bootstrap` and :func:`approximate_randomization`, and
:class:`Additive` to write a statistic.
"""

from __future__ import annotations

from fastboot import text
from fastboot.align import Aligned, align
from fastboot.bootstrap import bootstrap
from fastboot.columns import Column, Labels
from fastboot.examples import example_path, load_example
from fastboot.paired import paired_bootstrap
from fastboot.paired_results import PairedBootstrapResult, RandomizationResult
from fastboot.progress import Bar
from fastboot.randomization import approximate_randomization
from fastboot.results import BootstrapResult
from fastboot.statistics import (
    Additive,
    AdditiveVector,
    Ratio,
    ReliabilityTable,
    Tally,
    Weighted,
    accuracy,
    agreement,
    bleu,
    brier_score,
    calibration_error,
    chrf,
    combine,
    coverage,
    f_score,
    geometric_mean,
    harmonic_mean,
    log_loss,
    mae,
    mean,
    mean_cost,
    pass_at_k,
    pearson,
    precision,
    r_squared,
    ratio,
    recall,
    reliability_table,
    rmse,
    selective_risk,
    skewness,
    std,
    ter,
    total,
    variance,
    weighted_mean,
    win_rate,
    word_error_rate,
)
from fastboot.tables import Table

__version__ = "0.1.0"

__all__ = [
    "Additive",
    "AdditiveVector",
    "Aligned",
    "Bar",
    "BootstrapResult",
    "Column",
    "Labels",
    "PairedBootstrapResult",
    "RandomizationResult",
    "Ratio",
    "ReliabilityTable",
    "Table",
    "Tally",
    "Weighted",
    "__version__",
    "accuracy",
    "agreement",
    "align",
    "approximate_randomization",
    "bleu",
    "bootstrap",
    "brier_score",
    "calibration_error",
    "chrf",
    "combine",
    "coverage",
    "example_path",
    "f_score",
    "geometric_mean",
    "harmonic_mean",
    "load_example",
    "log_loss",
    "mae",
    "mean",
    "mean_cost",
    "paired_bootstrap",
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
    "text",
    "total",
    "variance",
    "weighted_mean",
    "win_rate",
    "word_error_rate",
]
