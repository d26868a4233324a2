"""The bootstrap of one statistic, or of several."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import Rng, answer_options, check_design, check_run
from fastboot.columns import Source
from fastboot.designs import Slices
from fastboot.keeping import check_checkpoint, extender
from fastboot.observation import observe
from fastboot.paths import BOOTSTRAP_PATHS
from fastboot.questions import Several, ask, report
from fastboot.resampling import Answer, bootstrap_answer
from fastboot.results import BootstrapResult
from fastboot.statistics.base import Statistic
from fastboot.statistics.estimand import alone
from fastboot.tables import Table
from fastboot.taking import gather

__all__ = ["Options", "bootstrap"]

Floats = NDArray[np.float64]


class Options(TypedDict, total=False):
    """What :func:`bootstrap` and :func:`paired_bootstrap` take beside statistics and slices."""

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
    progress: bool | Callable[[int, int], object] | None
    path: str | None


@overload
def bootstrap(  # type: ignore[overload-overlap] # a bare column may be any object
    statistic: Several,
    *,
    by: Source | Sequence[Source] | None = None,
    **options: Unpack[Options],
) -> Table[BootstrapResult]: ...
@overload
def bootstrap(  # type: ignore[overload-overlap] # None is an object too
    statistic: Statistic | Source, *, by: None = None, **options: Unpack[Options]
) -> BootstrapResult: ...
@overload
def bootstrap(
    statistic: Statistic | Source,
    *,
    by: Source | Sequence[Source],
    **options: Unpack[Options],
) -> Table[BootstrapResult]: ...
def bootstrap(
    statistic: Several | Statistic | Source,
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
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> BootstrapResult | Table[BootstrapResult]:
    """Return the standard error and a confidence interval of a statistic, or of several.

    Rows, or whole groups of rows, are drawn with replacement, as many as there are; every resample
    is one multinomial draw (Efron 1979). Other designs are chosen by name.

    Parameters
    ----------
    statistic
        A statistic such as ``fb.f_score("gold", "predicted")``; a column name or an array means its
        mean. A dict or a list of statistics asks for all of them, from the same resamples.
    data
        The table that column names refer to; only the columns needed are read. In memory: a
        pyarrow, polars or pandas table, a dict of arrays, anything that speaks the Arrow C stream.
        Larger than memory (see Notes): the path of a Parquet, Arrow, CSV, TSV or JSON-lines file,
        of a folder of them, a pattern such as ``"runs/*.parquet"`` or a list of paths; an Arrow or
        Hugging Face dataset, a polars LazyFrame, a duckdb relation, or a function without arguments
        that opens an Arrow reader, once for each pass.
    where
        Rows of `data` that count: tuples (column, operator, value) that all hold, such as
        ``[("split", "==", "test")]``, as pyarrow's ``filters=``, or a pyarrow expression. What is
        compared with null does not hold. All columns must be named then, none given as an array.
    groups
        Column name or array of shape (n_rows,): rows with one key (a document, a user) are drawn
        together. A group drawn twice counts twice. With `levels`, a list of one or two.
    levels
        "nested": groups are drawn, then rows (or groups of a second column) inside each drawn
        group. "crossed": the levels of two factors (items and seeds, items and judges) are drawn
        independently, and a row counts as often as the product (Owen 2007); the result says how
        much each factor contributes.
    strata
        Column name, array, or a list of columns: every stratum keeps its number of units.
    by
        Column name, array, or a list of columns: answer every slice of the table, each resampled on
        its own, and all rows together (`total`).
    weights
        Column name or array of shape (n_rows,): what a row counts for in the statistic. 0 or more.
        It belongs to the row and is resampled with it. A row of weight 2 counts as two: shares,
        which sum to 1, make medians, ``ddof=1`` and agreement those of a single row; multiply them
        by the number of rows (a note says where it matters).
    scheme
        "multinomial"; "bayesian": weights from a Dirichlet distribution (Rubin 1981); "poisson":
        independent Poisson(1) counts, whose total varies; for rows in time order blocks of
        neighbours: "moving" (Kuensch 1989), "circular" (Politis and Romano 1992) or "stationary"
        (Politis and Romano 1994).
    n_drawn
        Units in each resample, if other than their number (m out of n). The replicates, their
        standard error and interval are then those of samples of that size. What grows with the
        number of rows, as a total does, is refused: ask for the mean.
    block_length
        Rows of a block, for "stationary" their mean; None chooses it (Politis and White 2004).
    n_resamples
        Number of resamples.
    confidence_level
        Nominal coverage of the interval, between 0 and 1.
    method
        "percentile"; "basic" (reflected); "normal" (estimate +- normal quantile x standard error);
        "bca" (bias-corrected and accelerated, Efron 1987, with leave-one-unit-out acceleration and
        mid-rank bias correction; percentile, with a note, where it is undefined; not for crossed
        levels and blocks, which have no units to leave out one at a time); "studentized"
        (bootstrap-t, for plain draws of rows or groups and functions of up to 15 sums: the
        replicate's distance from the estimate is measured in standard errors of its own, so the
        interval is about the sample whatever `n_drawn`).
    alternative
        "two-sided"; "greater" or "less" give a one-sided interval: [low, inf) or (-inf, high].
    rng
        A seed, a NumPy Generator or SeedSequence (which gives one), or None for fresh entropy. The
        seed is in the result.
    n_threads
        Threads; by default ``FASTBOOT_NUM_THREADS`` or the cores this process may use. The answer
        does not depend on it.
    executor
        Who works instead of these threads: anything with the ``submit`` of ``concurrent.futures``,
        such as a ProcessPoolExecutor or a ``distributed.Client``; it is left open. Workers read
        files themselves, under the paths given here. The answer does not depend on it.
    checkpoint
        A directory to keep finished replicates in, twice a minute. The same call with the same seed
        goes on from them, for as many `n_resamples` or more; other data, statistics, designs or
        versions are refused (functions by 16 replicates that are computed again).
    nan_policy
        What a missing value (null or NaN) does: "raise"; "omit" drops the row; "propagate" makes
        the answer NaN. A missing group or stratum is always refused.
    progress
        True for a bar on standard error, or a function of (replicates done, n_resamples); if that
        has a method ``read``, it is told how many bytes of files have been read in all.
    path
        Force an algorithm: "collapse", "rows", "patterns" or "weights"; None lets the data decide.

    Returns
    -------
    BootstrapResult
        Or a :class:`Table` of them, for several statistics, a statistic with several values, or
        slices.

    Raises
    ------
    TypeError, ValueError
        An argument or a column is wrong; the message names it, and of several files the one.
        Before any resampling.
    FileNotFoundError
        `data` is a path to no file.
    RuntimeError
        A worker of `executor` died, or it was closed.

    Warns
    -----
    RuntimeWarning
        Some replicates are undefined (0 / 0); they are NaN, counted and left out.

    Notes
    -----
    Data that may be larger than memory are read block by block for functions of sums, over rows or
    groups of one column: all statistics but ranks, areas, quantiles and their like, `macro` and
    `statistic`. Memory grows with the replicates and the groups, not with the rows. One pass
    surveys the rows, which is all for groups and where there are few distinct rows (0/1 scores,
    labels); others are drawn in one pass more (with `checkpoint`, in one for each time that
    replicates are kept). Where the range of numbers must be known first, or classes beside groups
    or scores, there is a pass before; with text files, `where` or ``nan_policy="omit"`` another one
    counts the rows of files.

    All else loads the columns needed, which must fit into memory, 8 bytes for each row of each
    (what files say is larger is refused at once): other statistics, `levels`, `strata`, `by`,
    `n_drawn`, `path`, any `scheme` but "multinomial", "studentized" intervals,
    ``nan_policy="propagate"``, and less than 65,536 rows.

    Examples
    --------
    >>> import fastboot as fb
    >>> scores = [0.9, 0.8, 0.4, 1.0, 0.7, 0.6, 0.9, 0.5]
    >>> result = fb.bootstrap(scores, rng=0)
    >>> round(result.estimate, 3)
    0.725
    >>> result.n_units
    8

    Of a table, the rows of one split:

    >>> table = {"split": ["dev", "test", "test"], "score": [0.9, 0.8, 0.4]}
    >>> fb.bootstrap("score", data=table, where=[("split", "==", "test")], rng=0).n_rows
    2
    """
    call = dict(locals())
    started = time.perf_counter()
    asked = ask(statistic, "statistic")
    run = check_run(n_resamples, rng, path, BOOTSTRAP_PATHS, n_threads, progress, executor)
    common = answer_options(confidence_level, method, alternative) | {"seed": run.seed}
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
    run = run._replace(keeping=check_checkpoint(checkpoint, "bootstrap", design))
    sample = gather(
        asked.statistics,
        data,
        design,
        nan_policy,
        run,
        alone,
        weights=weights,
        where=where,
        method=method,
    )
    questions = alone(sample.bounds)

    def answer(cells: Slices | None) -> tuple[Answer, dict[str, Floats]]:
        own, apart = sample.apart(questions, cells)
        scale = np.nan_to_num(np.abs(observe(own.bounds, own, cells)))
        found = bootstrap_answer(apart, own, run, cells=cells, method=method, scale=scale)
        return found, {}

    result: BootstrapResult | Table[BootstrapResult] = report(
        BootstrapResult,
        asked.names,
        questions,
        sample,
        answer,
        common,
        started,
        extender(bootstrap, call),
    )
    return result
