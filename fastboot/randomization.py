"""Approximate randomization: how large differences are when outputs are swapped at random."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import Rng, answer_options, check_design, check_flag, check_run
from fastboot.columns import Source
from fastboot.designs import Slices
from fastboot.keeping import check_checkpoint, extender
from fastboot.observation import observe
from fastboot.paired_results import RandomizationResult
from fastboot.questions import Several, ask, pair_up, questions_of, report
from fastboot.resampling import Answer
from fastboot.statistics.base import Statistic
from fastboot.statistics.estimand import same_measure
from fastboot.swap_paths import SWAP_PATHS
from fastboot.swapping import swap_answer
from fastboot.tables import Table
from fastboot.taking import gather

__all__ = ["approximate_randomization"]

Floats = NDArray[np.float64]


class _Options(TypedDict, total=False):
    """What :func:`approximate_randomization` takes beside statistics and slices."""

    data: object
    where: Any
    groups: Source | None
    weights: Source | None
    n_resamples: int
    confidence_level: float
    alternative: str
    rng: Rng
    n_threads: int | None
    executor: object
    checkpoint: str | os.PathLike[str] | None
    nan_policy: str
    add_one: bool
    progress: bool | Callable[[int, int], object] | None
    path: str | None


@overload
def approximate_randomization(  # type: ignore[overload-overlap] # a column may be any object
    a: Several,
    b: Several,
    *,
    by: Source | Sequence[Source] | None = None,
    **options: Unpack[_Options],
) -> Table[RandomizationResult]: ...
@overload
def approximate_randomization(  # type: ignore[overload-overlap] # None is an object too
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: None = None,
    **options: Unpack[_Options],
) -> RandomizationResult: ...
@overload
def approximate_randomization(
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: Source | Sequence[Source],
    **options: Unpack[_Options],
) -> Table[RandomizationResult]: ...
def approximate_randomization(
    a: Several | Statistic | Source,
    b: Several | Statistic | Source,
    *,
    data: object = None,
    where: Any = None,
    groups: Source | None = None,
    by: Source | Sequence[Source] | None = None,
    weights: Source | None = None,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    rng: Rng = None,
    n_threads: int | None = None,
    executor: object = None,
    checkpoint: str | os.PathLike[str] | None = None,
    nan_policy: str = "raise",
    add_one: bool = True,
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> RandomizationResult | Table[RandomizationResult]:
    """Test whether two systems differ on the same items by swapping their outputs.

    If the systems do not differ, the outputs for an item could as well have come from the other
    system. Each unit is swapped with probability 1/2, on its own (Fisher 1935; Noreen 1989; Yeh
    2000); the p-value counts the differences at least as extreme as the observed one. Where all
    2**n swaps of the n units that differ are at most `n_resamples`, all are enumerated and the
    p-value is exact. Where none differs there is nothing to swap: p is 1, and so it says (path
    "constant").

    Parameters
    ----------
    a, b
        The systems: the same statistic of each, such as ``fb.accuracy("gold", "system_a")``; a
        column name or an array means its mean. The effect is a - b. One row per item in each. Two
        dicts or lists of statistics ask for all of them, from the same swaps.
    data
        As in :func:`bootstrap`, read block by block where it can be; statistics that count by class
        (averages over classes, kappa) load their columns.
    where, n_resamples, rng, n_threads, checkpoint, nan_policy, progress
        As in :func:`bootstrap`.
    executor
        As in :func:`bootstrap`; rows in memory are swapped in threads of this process.
    groups
        Column name or array of shape (n_rows,): rows with one key are swapped together. Strata
        would change nothing: every unit is swapped on its own.
    by
        Column name, array, or a list of columns: answer every slice of the table, with swaps of its
        own (never enumerated), and all rows together (`total`).
    weights
        Column name or array of shape (n_rows,): what a row counts for in the statistic. 0 or more.
        A row of weight 2 counts as two: see :func:`bootstrap` for shares.
    confidence_level
        Of the interval estimate +- normal quantile x standard deviation of the replicates.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    add_one
        Count the observed difference as one more replicate, (n_extreme + 1) / (n_resamples + 1), so
        that p is never 0; False gives the plain proportion. An enumeration contains it already.
    path
        Force an algorithm: "enumeration", "collapse", "tables" or "weights"; None lets the data
        decide.

    Returns
    -------
    RandomizationResult
        Or a :class:`Table` of them, for several statistics, a statistic with several values, or
        slices. `min_pvalue` is the smallest p-value that this number of units can give, two-sided
        2 / 2**n.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError, RuntimeError
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
    call = dict(locals())
    started = time.perf_counter()
    first, second = ask(a, "a"), ask(b, "b")
    pair_up(first, second)
    for one, other in zip(first.statistics, second.statistics, strict=True):
        if not same_measure(one, other):
            raise TypeError(
                f"`a` is {one.name} and `b` is {other.name}; swapped outputs are measured by the "
                "other's statistic, so both must be the same (paired_bootstrap can compare two)"
            )
    run = check_run(n_resamples, rng, path, SWAP_PATHS, n_threads, progress, executor)
    common = answer_options(confidence_level, "normal", alternative)
    common |= {"seed": run.seed, "add_one": check_flag("add_one", add_one)}
    design = check_design(data, where=where, groups=groups, by=by)
    n = len(first.statistics)
    run = run._replace(keeping=check_checkpoint(checkpoint, "approximate_randomization", design))
    sample = gather(
        first.statistics + second.statistics,
        data,
        design,
        nan_policy,
        run,
        questions_of,
        weights=weights,
        where=where,
        alike=[(place, n + place) for place in range(n)],
        mixed=True,
    )
    questions = questions_of(sample.bounds)

    def answer(cells: Slices | None) -> tuple[Answer, dict[str, Floats]]:
        own, apart = sample.apart(questions, cells)
        of_a = observe(own.bounds[:n], own, cells)
        of_b = observe(own.bounds[n:], own, cells)
        scale = np.nan_to_num(np.abs(of_a) + np.abs(of_b))
        found = swap_answer(apart, own, run, cells=cells, scale=scale)
        return found, {"estimate_a": of_a, "estimate_b": of_b}

    result: RandomizationResult | Table[RandomizationResult] = report(
        RandomizationResult,
        first.names,
        questions,
        sample,
        answer,
        common,
        started,
        extender(approximate_randomization, call),
    )
    return result
