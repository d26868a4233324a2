"""Tests and intervals for evaluation: is system A really better than B, and how sure are we.

Bootstrap and approximate randomization for evaluation: exact, reproducible, fast. See
:func:`bootstrap`, :func:`paired_bootstrap` and :func:`approximate_randomization`,
:func:`unpaired_bootstrap` and :func:`permutation_test` for samples of different items, and
:class:`Additive` to write a statistic. Data may be larger than memory, and work may go to other
processes and machines; the answer does not depend on it.
"""

from __future__ import annotations

from fastboot import text
from fastboot.align import Aligned, align
from fastboot.analytic import proportion_interval
from fastboot.block_length import block_length
from fastboot.bootstrap import bootstrap
from fastboot.columns import Column, Labels
from fastboot.companions.cross_validation import (
    CorrectedTResult,
    FiveByTwoResult,
    corrected_t_test,
    five_by_two_cv_test,
)
from fastboot.companions.folds import Folds, folds
from fastboot.companions.friedman import FriedmanResult, friedman_test
from fastboot.companions.mcnemar import McNemarResult, mcnemar
from fastboot.companions.sensitivity import SensitivityResult, sensitivity_test
from fastboot.companions.sign_test import SignTestResult, sign_test
from fastboot.companions.signed_rank import SignedRankResult, signed_rank_test
from fastboot.companions.t_test import paired_t_test
from fastboot.companions.t_test_results import PairedTTestResult
from fastboot.examples import example_path, load_example
from fastboot.leaderboards.compare import compare
from fastboot.leaderboards.comparison import Comparison
from fastboot.leaderboards.confidence_set import model_confidence_set
from fastboot.leaderboards.corrections import adjust_pvalues
from fastboot.leaderboards.data_sets import (
    CombinedPValue,
    Replicability,
    combine_pvalues,
    replicability,
)
from fastboot.leaderboards.pooled_effects import PooledResult, pool
from fastboot.margins import Verdict
from fastboot.paired import paired_bootstrap
from fastboot.paired_results import PairedBootstrapResult, RandomizationResult
from fastboot.permutation import permutation_test
from fastboot.power_formulas import minimum_detectable_effect
from fastboot.progress import Bar
from fastboot.randomization import approximate_randomization
from fastboot.results import BootstrapResult
from fastboot.sizing.planning import power, sample_size
from fastboot.sizing.plans import Power, SampleSize
from fastboot.statistics import (
    Additive,
    AdditiveVector,
    ConfusionMatrix,
    Ratio,
    ReliabilityTable,
    Tally,
    Weighted,
    accuracy,
    agreement,
    average_precision,
    balanced_accuracy,
    bleu,
    brier_score,
    calibration_error,
    chrf,
    cohen_kappa,
    combine,
    confusion_cells,
    confusion_matrix,
    coverage,
    exact_match,
    f_score,
    fleiss_kappa,
    geometric_mean,
    harmonic_mean,
    interquartile_mean,
    jaccard,
    kendall,
    krippendorff_alpha,
    log_loss,
    macro,
    mae,
    matthews,
    maximum,
    mean,
    mean_cost,
    median,
    minimum,
    normalize_answer,
    pass_at_k,
    pearson,
    precision,
    quantile,
    r_squared,
    ratio,
    recall,
    reliability_table,
    risk_coverage_area,
    rmse,
    roc_auc,
    selective_risk,
    skewness,
    spearman,
    specificity,
    statistic,
    std,
    system_correlation,
    ter,
    token_f1,
    total,
    trimmed_mean,
    variance,
    weighted_mean,
    win_rate,
    word_error_rate,
)
from fastboot.tables import Table
from fastboot.unpaired import unpaired_bootstrap
from fastboot.unpaired_results import PermutationResult, UnpairedBootstrapResult

__version__ = "0.1.0"

__all__ = [
    "Additive",
    "AdditiveVector",
    "Aligned",
    "Bar",
    "BootstrapResult",
    "Column",
    "CombinedPValue",
    "Comparison",
    "ConfusionMatrix",
    "CorrectedTResult",
    "FiveByTwoResult",
    "Folds",
    "FriedmanResult",
    "Labels",
    "McNemarResult",
    "PairedBootstrapResult",
    "PairedTTestResult",
    "PermutationResult",
    "PooledResult",
    "Power",
    "RandomizationResult",
    "Ratio",
    "ReliabilityTable",
    "Replicability",
    "SampleSize",
    "SensitivityResult",
    "SignTestResult",
    "SignedRankResult",
    "Table",
    "Tally",
    "UnpairedBootstrapResult",
    "Verdict",
    "Weighted",
    "__version__",
    "accuracy",
    "adjust_pvalues",
    "agreement",
    "align",
    "approximate_randomization",
    "average_precision",
    "balanced_accuracy",
    "bleu",
    "block_length",
    "bootstrap",
    "brier_score",
    "calibration_error",
    "chrf",
    "cohen_kappa",
    "combine",
    "combine_pvalues",
    "compare",
    "confusion_cells",
    "confusion_matrix",
    "corrected_t_test",
    "coverage",
    "exact_match",
    "example_path",
    "f_score",
    "five_by_two_cv_test",
    "fleiss_kappa",
    "folds",
    "friedman_test",
    "geometric_mean",
    "harmonic_mean",
    "interquartile_mean",
    "jaccard",
    "kendall",
    "krippendorff_alpha",
    "load_example",
    "log_loss",
    "macro",
    "mae",
    "matthews",
    "maximum",
    "mcnemar",
    "mean",
    "mean_cost",
    "median",
    "minimum",
    "minimum_detectable_effect",
    "model_confidence_set",
    "normalize_answer",
    "paired_bootstrap",
    "paired_t_test",
    "pass_at_k",
    "pearson",
    "permutation_test",
    "pool",
    "power",
    "precision",
    "proportion_interval",
    "quantile",
    "r_squared",
    "ratio",
    "recall",
    "reliability_table",
    "replicability",
    "risk_coverage_area",
    "rmse",
    "roc_auc",
    "sample_size",
    "selective_risk",
    "sensitivity_test",
    "sign_test",
    "signed_rank_test",
    "skewness",
    "spearman",
    "specificity",
    "statistic",
    "std",
    "system_correlation",
    "ter",
    "text",
    "token_f1",
    "total",
    "trimmed_mean",
    "unpaired_bootstrap",
    "variance",
    "weighted_mean",
    "win_rate",
    "word_error_rate",
]
