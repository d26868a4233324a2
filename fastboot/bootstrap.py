"""The bootstrap of one statistic, and of the difference between two systems."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fastboot.arguments import check_flag, check_run
from fastboot.columns import Source
from fastboot.intervals import acceleration, check_level, check_method, rounding
from fastboot.paired_results import PairedBootstrapResult
from fastboot.paths import BOOTSTRAP_PATHS, Run, bootstrap_sums
from fastboot.pvalues import check_alternative
from fastboot.results import BootstrapResult
from fastboot.sample import Sample, take
from fastboot.statistics.additive import Additive
from fastboot.statistics.estimand import (
    Estimand,
    difference,
    difference_name,
    evaluate,
    replicates_of,
    single,
    undefined,
)
from fastboot.statistics.means import as_statistic

__all__ = ["bootstrap", "paired_bootstrap"]


def bootstrap(
    statistic: Additive | Source,
    *,
    data: object = None,
    groups: Source | None = None,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    rng: int | np.random.Generator | np.random.SeedSequence | None = None,
    n_threads: int | None = None,
    nan_policy: str = "raise",
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> BootstrapResult:
    """Return the standard error and a confidence interval of a statistic.

    Rows, or whole groups of rows, are drawn with replacement, as many as there are; every resample
    is one multinomial draw (Efron 1979).

    Parameters
    ----------
    statistic
        An :class:`Additive` such as ``fb.f_score("gold", "predicted")``; a column name or an array
        means its mean.
    data
        The table that column names refer to: anything that speaks the Arrow C stream (pyarrow,
        polars, pandas, duckdb), a dict of arrays, or a path to a Parquet, Arrow, CSV or JSON-lines
        file. Only the columns needed are read.
    groups
        Column name or array of shape (n_rows,): rows with one key (a document, a user) are drawn
        together. A group drawn twice counts twice.
    n_resamples
        Number of resamples.
    confidence_level
        Nominal coverage of the interval, between 0 and 1.
    method
        "percentile"; "basic" (reflected); "normal" (estimate +- normal quantile x standard error);
        "bca" (bias-corrected and accelerated, Efron 1987, with leave-one-unit-out acceleration and
        mid-rank bias correction; percentile, with a note, where it is undefined).
    alternative
        "two-sided"; "greater" or "less" give a one-sided interval: [low, inf) or (-inf, high].
    rng
        A seed, a NumPy Generator or SeedSequence (which gives one), or None for fresh entropy. The
        seed is in the result.
    n_threads
        Threads; by default ``FASTBOOT_NUM_THREADS`` or the cores this process may use. The answer
        does not depend on it.
    nan_policy
        What a missing value (null or NaN) does: "raise"; "omit" drops the row; "propagate" makes
        the answer NaN.
    progress
        True for a bar on standard error, or a function of (replicates done, n_resamples).
    path
        Force an algorithm: "collapse", "rows", "patterns" or "weights"; None lets the data decide.

    Returns
    -------
    BootstrapResult

    Raises
    ------
    TypeError, ValueError
        An argument or a column is wrong; the message names it. Before any resampling.
    FileNotFoundError
        `data` is a path to no file.

    Warns
    -----
    RuntimeWarning
        Some replicates are undefined (0 / 0); they are NaN, counted and left out.

    Examples
    --------
    >>> import fastboot as fb
    >>> scores = [0.9, 0.8, 0.4, 1.0, 0.7, 0.6, 0.9, 0.5]
    >>> result = fb.bootstrap(scores, rng=0)
    >>> round(result.estimate, 3)
    0.725
    >>> result.n_units
    8
    """
    started = time.perf_counter()
    one = as_statistic(statistic, "statistic")
    run = check_run(n_resamples, rng, path, BOOTSTRAP_PATHS, n_threads, progress)
    answer = _answer_options(confidence_level, method, alternative)
    sample = take([one], data, groups, nan_policy)
    estimand = single(one, sample.terms[0], sample.n_rows)
    return BootstrapResult(
        statistic=one.name, **answer, **_resample(estimand, sample, run, started)
    )


def paired_bootstrap(
    a: Additive | Source,
    b: Additive | Source,
    *,
    data: object = None,
    groups: Source | None = None,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    rng: int | np.random.Generator | np.random.SeedSequence | None = None,
    n_threads: int | None = None,
    nan_policy: str = "raise",
    add_one: bool = True,
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> PairedBootstrapResult:
    """Test whether system a differs from system b on the same items, and by how much.

    Both systems see the same resamples. The p-value is that of the classic paired bootstrap test
    (Efron and Tibshirani 1993; Berg-Kirkpatrick, Burkett and Klein 2012): replicates moved to the
    null hypothesis, ``d* - d``, are counted where they are at least as extreme as the observed
    difference ``d``; for ``alternative="greater"`` that is ``d* >= 2 d``.

    Parameters
    ----------
    a, b
        The systems: statistics such as ``fb.accuracy("gold", "system_a")``, column names or arrays
        (their means). The effect is a - b. One row per item in each.
    data, groups, n_resamples, confidence_level, method, rng, n_threads, nan_policy, progress, path
        As in :func:`bootstrap`.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    add_one
        Count the observed difference as one more replicate, (n_extreme + 1) / (n_resamples + 1), so
        that p is never 0; False gives the plain proportion.

    Returns
    -------
    PairedBootstrapResult

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`.

    Warns
    -----
    RuntimeWarning
        Some replicates are undefined (0 / 0); they are NaN, counted and left out.

    Examples
    --------
    >>> import fastboot as fb
    >>> a = [1, 1, 0, 1, 1, 1, 0, 1]
    >>> b = [0, 1, 0, 1, 0, 1, 0, 0]
    >>> result = fb.paired_bootstrap(a, b, alternative="greater", rng=0)
    >>> result.estimate, result.n_resamples
    (0.375, 9999)
    """
    started = time.perf_counter()
    first, second = as_statistic(a, "a"), as_statistic(b, "b")
    run = check_run(n_resamples, rng, path, BOOTSTRAP_PATHS, n_threads, progress)
    answer = _answer_options(confidence_level, method, alternative)
    counted = check_flag("add_one", add_one)
    sample = take([first, second], data, groups, nan_policy)
    terms_a, terms_b = sample.terms
    estimand = difference(first, second, terms_a, terms_b, sample.n_rows)
    return PairedBootstrapResult(
        statistic=difference_name(first, second),
        estimate_a=float(evaluate(first, sample.units(terms_a).totals())),
        estimate_b=float(evaluate(second, sample.units(terms_b).totals())),
        add_one=counted,
        **answer,
        **_resample(estimand, sample, run, started),
    )


def _answer_options(confidence_level: Any, method: Any, alternative: Any) -> dict[str, Any]:
    return {
        "confidence_level": check_level(confidence_level),
        "method": check_method(method),
        "alternative": check_alternative(alternative),
    }


def _resample(estimand: Estimand, sample: Sample, run: Run, started: float) -> dict[str, Any]:
    """Return what a result of either kind keeps of the resampling."""
    units = sample.units(estimand.terms)
    totals = units.totals()
    if np.isnan(totals).any():
        replicates, path = undefined(run.n_resamples), "constant"  # missing values propagate
    else:
        varying, path, units = bootstrap_sums(units, run)
        sums = units.expand(varying, units.n_units)
        replicates = replicates_of(estimand.value, sums, run.n_resamples)
    return {
        "estimate": float(estimand.value(totals)),
        "replicates": replicates,
        "n_rows": sample.n_rows,
        "n_units": sample.n_units,
        "n_dropped": sample.n_dropped,
        "unit": sample.unit,
        "seed": run.seed,
        "path": path,
        "acceleration": acceleration(units, estimand.value),
        "rounding": rounding(units, estimand.value, estimand.sizes),
        "remarks": sample.remarks,
        "elapsed": time.perf_counter() - started,
    }
