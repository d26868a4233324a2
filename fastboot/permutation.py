"""Permutation tests: how large differences are when rows are dealt to the samples at random."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

from numpy.typing import NDArray

from fastboot.arguments import Rng, answer_options, check_flag, check_run
from fastboot.columns import Source
from fastboot.designs import Slices
from fastboot.pooling import both, designs_of, pool, tables
from fastboot.questions import Several, ask, pair_up, report
from fastboot.relabelling import PERMUTATION_PATHS, relabel_answer
from fastboot.resampling import Answer
from fastboot.statistics.base import Statistic
from fastboot.statistics.estimand import Question, same_measure
from fastboot.tables import Table
from fastboot.unpaired_results import PermutationResult

__all__ = ["permutation_test"]


class _Options(TypedDict, total=False):
    """What :func:`permutation_test` takes beside statistics and slices."""

    data: object
    where: Any
    groups: Source | None
    strata: Source | Sequence[Source] | None
    weights: Source | None
    n_resamples: int
    confidence_level: float
    alternative: str
    rng: Rng
    n_threads: int | None
    nan_policy: str
    add_one: bool
    progress: bool | Callable[[int, int], object] | None
    path: str | None


@overload
def permutation_test(  # type: ignore[overload-overlap] # a bare column may be any object
    a: Several,
    b: Several,
    *,
    by: Source | Sequence[Source] | None = None,
    **options: Unpack[_Options],
) -> Table[PermutationResult]: ...
@overload
def permutation_test(  # type: ignore[overload-overlap] # None is an object too
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: None = None,
    **options: Unpack[_Options],
) -> PermutationResult: ...
@overload
def permutation_test(
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: Source | Sequence[Source],
    **options: Unpack[_Options],
) -> Table[PermutationResult]: ...
def permutation_test(
    a: Several | Statistic | Source,
    b: Several | Statistic | Source,
    *,
    data: object = None,
    where: Any = None,
    groups: Source | None = None,
    strata: Source | Sequence[Source] | None = None,
    by: Source | Sequence[Source] | None = None,
    weights: Source | None = None,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    rng: Rng = None,
    n_threads: int | None = None,
    nan_policy: str = "raise",
    add_one: bool = True,
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> PermutationResult | Table[PermutationResult]:
    """Test whether two independent samples come from one population, by permuting their labels.

    If they do, every division of the pooled rows into samples of these sizes is equally likely
    (Fisher 1935; Pitman 1937); the p-value counts the divisions whose difference is at least as
    extreme as the observed one. Where all C(n_a + n_b, n_a) of them are at most `n_resamples`, all
    are enumerated and the p-value is exact.

    Parameters
    ----------
    a, b
        The samples: the same statistic of each, such as ``fb.mean("score")``; a column name or an
        array means its mean. The effect is a - b. Two dicts or lists of statistics ask for all of
        them, from the same relabellings.
    data
        A tuple of two tables, (of a, of b); or one table for both. Each as in :func:`bootstrap`;
        the columns asked for are loaded.
    where
        Rows that count, as in :func:`bootstrap`; or a tuple (of a, of b), by which one table has
        both samples: ``([("version", "==", "new")], [("version", "==", "old")])``.
    groups
        Rows with one key get their label together, and each sample keeps its number of groups. A
        group belongs to one sample: equal keys in both are two groups. Like `strata`, `by` and
        `weights` a column name that both tables have, or a tuple (of a, of b).
    strata
        Labels are permuted inside each stratum (or combination of several columns).
    by
        Answer every slice, with relabellings of its own (never enumerated), and all rows together
        (`total`). Each slice needs rows of both samples.
    weights
        What a row counts for in the statistic. 0 or more. It belongs to the row. A row of weight 2
        counts as two: see :func:`bootstrap` for shares.
    n_resamples, rng, n_threads, nan_policy, progress
        As in :func:`bootstrap`. Exchanging the samples negates the estimate, the replicates only up
        to Monte Carlo error (and, enumerated, in another order).
    confidence_level
        Of the interval estimate +- normal quantile x standard deviation of the replicates.
    alternative
        "two-sided": a difference as far from 0; "greater": a is larger; "less": a is smaller. The
        interval has the same sides.
    add_one
        Count the observed difference as one more replicate, (n_extreme + 1) / (n_resamples + 1), so
        that p is never 0; False gives the plain proportion. An enumeration contains it already.
    path
        Force an algorithm: "enumeration", "collapse", "sums" or "weights"; None lets the data
        decide.

    Returns
    -------
    PermutationResult
        Or a :class:`Table` of them, for several statistics, a statistic with several values, or
        slices. `min_pvalue` is the smallest p-value that samples of these sizes can give.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`; the samples are not measured by the same statistic; or an array is
        given where each sample needs its own.

    Warns
    -----
    RuntimeWarning
        Some replicates are undefined (0 / 0); they are NaN, counted and left out.

    Examples
    --------
    Survival in days of treated and untreated mice (Efron and Tibshirani 1993, chapter 15).

    >>> import fastboot as fb
    >>> treated = [94, 197, 16, 38, 99, 141, 23]
    >>> untreated = [52, 104, 146, 10, 50, 31, 40, 27, 46]
    >>> result = fb.permutation_test(
    ...     treated, untreated, alternative="greater", n_resamples=20_000
    ... )
    >>> result.n_extreme, result.n_resamples, round(result.pvalue, 5), result.path
    (1608, 11440, 0.14056, 'enumeration')
    """
    started = time.perf_counter()
    first, second = ask(a, "a"), ask(b, "b")
    pair_up(first, second)
    for one, other in zip(first.statistics, second.statistics, strict=True):
        if not same_measure(one, other):
            raise TypeError(
                f"`a` is {one.name} and `b` is {other.name}; relabelled rows are measured by the "
                "other's statistic, so both must be the same (unpaired_bootstrap can compare two)"
            )
    run = check_run(n_resamples, rng, path, PERMUTATION_PATHS, n_threads, progress)
    common = answer_options(confidence_level, "normal", alternative)
    common |= {"seed": run.seed, "add_one": check_flag("add_one", add_one)}
    data_of = tables(data)
    designs = designs_of(data_of, where=where, groups=groups, strata=strata, by=by)
    pooled = pool(
        (first.statistics, second.statistics),
        data_of,
        designs,
        nan_policy,
        both("weights", weights),
        where,
    )
    questions = [
        Question(one, replace(one, statistic=of_b))
        for one, of_b in zip(pooled.sample.bounds, second.statistics, strict=True)
    ]

    def answer(cells: Slices | None) -> tuple[Answer, Mapping[str, NDArray[Any]]]:
        return relabel_answer(pooled, questions, run, cells=cells)

    result: PermutationResult | Table[PermutationResult] = report(
        PermutationResult, first.names, questions, pooled.sample, answer, common, started
    )
    return result
