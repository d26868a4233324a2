"""Tests and intervals for evaluation: is system A really better than B, and how sure are we.

Bootstrap and approximate randomization for evaluation: exact, reproducible, fast. See
:func:`bootstrap`, :func:`paired_bootstrap` and :func:`approximate_randomization`, and
:class:`Additive` to write a statistic.
"""

from __future__ import annotations

from fastboot.bootstrap import bootstrap, paired_bootstrap
from fastboot.columns import Column, Labels
from fastboot.examples import example_path, load_example
from fastboot.progress import Bar
from fastboot.randomization import approximate_randomization
from fastboot.results import BootstrapResult, PairedBootstrapResult, RandomizationResult
from fastboot.statistics import (
    Additive,
    Ratio,
    accuracy,
    combine,
    f_score,
    mean,
    precision,
    ratio,
    recall,
    total,
    weighted_mean,
)

__version__ = "0.1.0"

__all__ = [
    "Additive",
    "Bar",
    "BootstrapResult",
    "Column",
    "Labels",
    "PairedBootstrapResult",
    "RandomizationResult",
    "Ratio",
    "__version__",
    "accuracy",
    "approximate_randomization",
    "bootstrap",
    "combine",
    "example_path",
    "f_score",
    "load_example",
    "mean",
    "paired_bootstrap",
    "precision",
    "ratio",
    "recall",
    "total",
    "weighted_mean",
]
