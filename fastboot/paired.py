"""The bootstrap of the difference between two systems on the same items."""

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
from fastboot.paired_results import PairedBootstrapResult
from fastboot.paths import BOOTSTRAP_PATHS
from fastboot.questions import Several, alike, ask, pair_up, questions_of, report
from fastboot.resampling import Answer, bootstrap_answer
from fastboot.statistics.base import Statistic
from fastboot.tables import Table
from fastboot.taking import gather

__all__ = ["paired_bootstrap"]

Floats = NDArray[np.float64]


class _Options(TypedDict, total=False):
    """What :func:`paired_bootstrap` takes beside statistics and slices."""

    data: object
    where: Any
    groups: Source | Sequence[Source] | None
    levels: str | None
    strata: Source | Sequence[Source] | None
    weights: Source | None
    scheme: str
    n_drawn: int | None
    block_length: float | None
    n_resamples: int
    confidence_level: float
    method: str
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
def paired_bootstrap(  # type: ignore[overload-overlap] # a bare column may be any object
    a: Several,
    b: Several,
    *,
    by: Source | Sequence[Source] | None = None,
    **options: Unpack[_Options],
) -> Table[PairedBootstrapResult]: ...
@overload
def paired_bootstrap(  # type: ignore[overload-overlap] # None is an object too
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: None = None,
    **options: Unpack[_Options],
) -> PairedBootstrapResult: ...
@overload
def paired_bootstrap(
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: Source | Sequence[Source],
    **options: Unpack[_Options],
) -> Table[PairedBootstrapResult]: ...
def paired_bootstrap(
    a: Several | Statistic | Source,
    b: Several | Statistic | Source,
    *,
    data: object = None,
    where: Any = None,
    groups: Source | Sequence[Source] | None = None,
    levels: str | None = None,
    strata: Source | Sequence[Source] | None = None,
    by: Source | Sequence[Source] | None = None,
    weights: Source | None = None,
    scheme: str = "multinomial",
    n_drawn: int | None = None,
    block_length: float | None = None,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    rng: Rng = None,
    n_threads: int | None = None,
    executor: object = None,
    checkpoint: str | os.PathLike[str] | None = None,
    nan_policy: str = "raise",
    add_one: bool = True,
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> PairedBootstrapResult | Table[PairedBootstrapResult]:
    """Test whether system a differs from system b on the same items, and by how much.

    Both systems see the same resamples. The p-value is that of the classic paired bootstrap test
    (Efron and Tibshirani 1993; Berg-Kirkpatrick, Burkett and Klein 2012): replicates moved to the
    null hypothesis, ``d* - d``, are counted where they are at least as extreme as the observed
    difference ``d``; for ``alternative="greater"`` that is ``d* >= 2 d``.

    Parameters
    ----------
    a, b
        The systems: statistics such as ``fb.accuracy("gold", "system_a")``, column names or arrays
        (their means). The effect is a - b. One row per item in each. Two dicts or lists of
        statistics ask for all of them, from the same resamples.
    data, where, groups, levels, strata, by, weights, scheme, n_drawn, block_length
        As in :func:`bootstrap`.
    n_resamples, confidence_level, method, rng
        As in :func:`bootstrap`.
    n_threads, executor, checkpoint, nan_policy, progress, path
        As in :func:`bootstrap`.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    add_one
        Count the observed difference as one more replicate, (n_extreme + 1) / (n_resamples + 1), so
        that p is never 0; False gives the plain proportion.

    Returns
    -------
    PairedBootstrapResult
        Or a :class:`Table` of them, for several statistics, a statistic with several values, or
        slices.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError, RuntimeError
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
    call = dict(locals())
    started = time.perf_counter()
    first, second = ask(a, "a"), ask(b, "b")
    pair_up(first, second)
    run = check_run(n_resamples, rng, path, BOOTSTRAP_PATHS, n_threads, progress, executor)
    common = answer_options(confidence_level, method, alternative)
    common |= {"seed": run.seed, "add_one": check_flag("add_one", add_one)}
    design = check_design(
        data,
        where=where,
        groups=groups,
        levels=levels,
        strata=strata,
        by=by,
        scheme=scheme,
        n_drawn=n_drawn,
        block_length=block_length,
        path=path,
    )
    n = len(first.statistics)
    run = run._replace(keeping=check_checkpoint(checkpoint, "paired_bootstrap", design))
    sample = gather(
        first.statistics + second.statistics,
        data,
        design,
        nan_policy,
        run,
        questions_of,
        weights=weights,
        where=where,
        alike=alike(first, second),
        method=method,
    )
    questions = questions_of(sample.bounds)

    def answer(cells: Slices | None) -> tuple[Answer, dict[str, Floats]]:
        own, apart = sample.apart(questions, cells)
        of_a = observe(own.bounds[:n], own, cells)
        of_b = observe(own.bounds[n:], own, cells)
        scale = np.nan_to_num(np.abs(of_a) + np.abs(of_b))
        found = bootstrap_answer(apart, own, run, cells=cells, method=method, scale=scale)
        return found, {"estimate_a": of_a, "estimate_b": of_b}

    result: PairedBootstrapResult | Table[PairedBootstrapResult] = report(
        PairedBootstrapResult,
        first.names,
        questions,
        sample,
        answer,
        common,
        started,
        extender(paired_bootstrap, call),
    )
    return result
