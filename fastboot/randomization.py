"""Approximate randomization: how large differences are when outputs are swapped at random."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import check_flag, check_run
from fastboot.columns import Source
from fastboot.intervals import check_level, rounding
from fastboot.paired_results import RandomizationResult
from fastboot.paths import SWAP_PATHS, Run, swap_sums
from fastboot.pvalues import check_alternative
from fastboot.sample import Sample, take
from fastboot.statistics.additive import Additive
from fastboot.statistics.estimand import (
    difference,
    difference_name,
    evaluate,
    replicates_of,
    share_all_but_first,
    swap_value,
    undefined,
)
from fastboot.statistics.means import as_statistic

__all__ = ["approximate_randomization"]

Floats = NDArray[np.float64]


def approximate_randomization(
    a: Additive | Source,
    b: Additive | Source,
    *,
    data: object = None,
    groups: Source | None = None,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    rng: int | np.random.Generator | np.random.SeedSequence | None = None,
    n_threads: int | None = None,
    nan_policy: str = "raise",
    add_one: bool = True,
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> RandomizationResult:
    """Test whether two systems differ on the same items by swapping their outputs.

    If the systems do not differ, the outputs for an item could as well have come from the other
    system. Each unit is swapped with probability 1/2, on its own (Fisher 1935; Noreen 1989; Yeh
    2000); the p-value counts the differences at least as extreme as the observed one. Where all
    2**n swaps of the n units that differ are at most `n_resamples`, all are enumerated and the
    p-value is exact.

    Parameters
    ----------
    a, b
        The systems: the same statistic of each, such as ``fb.accuracy("gold", "system_a")``; a
        column name or an array means its mean. The effect is a - b. One row per item in each.
    data, n_resamples, rng, n_threads, nan_policy, progress
        As in :func:`bootstrap`.
    groups
        Column name or array of shape (n_rows,): rows with one key are swapped together.
    confidence_level
        Of the interval estimate +- normal quantile x standard deviation of the replicates.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    add_one
        Count the observed difference as one more replicate, (n_extreme + 1) / (n_resamples + 1), so
        that p is never 0; False gives the plain proportion. An enumeration contains it already.
    path
        Force an algorithm: "enumeration", "collapse" or "tables"; None lets the data decide.

    Returns
    -------
    RandomizationResult
        `min_pvalue` is the smallest p-value this number of units can give, 2 / 2**n two-sided.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`; or the systems are not measured by the same statistic.

    Warns
    -----
    RuntimeWarning
        Some replicates are undefined (0 / 0); they are NaN, counted and left out.

    Examples
    --------
    >>> import fastboot as fb
    >>> a = [0.9, 0.8, 0.7, 0.95, 0.85, 0.6]
    >>> b = [0.5, 0.4, 0.6, 0.7, 0.65, 0.55]
    >>> result = fb.approximate_randomization(a, b)
    >>> result.pvalue, result.path, result.n_resamples
    (0.03125, 'enumeration', 64)
    """
    started = time.perf_counter()
    first, second = as_statistic(a, "a"), as_statistic(b, "b")
    if type(first).finish is not type(second).finish or first.name != second.name:
        raise TypeError(
            f"`a` is {first.name} and `b` is {second.name}; swapped outputs are measured by the "
            "other's statistic, so both must be the same (paired_bootstrap can compare two)"
        )
    run = check_run(n_resamples, rng, path, SWAP_PATHS, n_threads, progress)
    level, sides = check_level(confidence_level), check_alternative(alternative)
    counted = check_flag("add_one", add_one)
    sample = take([first, second], data, groups, nan_policy, mixed=True)
    terms_a, terms_b = sample.terms
    estimand = difference(first, second, terms_a, terms_b, sample.n_rows)
    units = sample.units(estimand.terms)
    totals_a, totals_b = (sample.units(terms).totals() for terms in sample.terms)
    shared = share_all_but_first(first, second, terms_a, terms_b)
    value = swap_value(first, second, totals_a, totals_b, shared=shared)
    if np.isnan([*totals_a, *totals_b]).any():  # missing values propagate
        replicates, n_differing, path = undefined(run.n_resamples), sample.n_units, "constant"
    else:
        replicates, n_differing, path = _swap(value, sample, run)
    return RandomizationResult(
        statistic=difference_name(first, second),
        estimate=float(estimand.value(units.totals())),
        estimate_a=float(evaluate(first, totals_a)),
        estimate_b=float(evaluate(second, totals_b)),
        replicates=replicates,
        alternative=sides,
        confidence_level=level,
        method="normal",
        add_one=counted,
        n_rows=sample.n_rows,
        n_units=sample.n_units,
        n_differing=n_differing,
        n_dropped=sample.n_dropped,
        unit=sample.unit,
        seed=run.seed,
        path=path,
        acceleration=math.nan,
        rounding=rounding(units, estimand.value, estimand.sizes),
        remarks=sample.remarks,
        elapsed=time.perf_counter() - started,
    )


def _swap(
    value: Callable[[Sequence[Any]], Any], sample: Sample, run: Run
) -> tuple[Floats, int, str]:
    """Return the replicates, the number of units that differ, and the path."""
    terms_a, terms_b = sample.terms
    moves = sample.moves([y - x for x, y in zip(terms_a, terms_b, strict=True)])
    varying, path, differing = swap_sums(moves, run)
    moved = differing.expand(varying, 0)
    return replicates_of(value, moved, varying.shape[1]), differing.n_units, path
