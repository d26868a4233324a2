"""From `data` of any size to a sample: loaded, or read block by block where that will do.

Read block by block are sources (files, folders, patterns, datasets, queries, streams that can be
opened again), for functions of sums over rows, or over groups of one column, in plain resampling.
Everything else is loaded: its columns must fit into memory, 8 bytes for a row of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from fastboot.columns import Source
from fastboot.designs import Design
from fastboot.dispatch import in_order
from fastboot.files import Table, filtered, open_table
from fastboot.keeping import StoredReplicates
from fastboot.memory import memory_limit
from fastboot.paths import Run
from fastboot.progress import tell_read
from fastboot.rendering import count
from fastboot.sample import Sample, take
from fastboot.scanned_sample import scan
from fastboot.sources.opening import open_source
from fastboot.statistics.additive import Additive
from fastboot.statistics.base import Statistic
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Question

__all__ = ["gather", "rows_that_count", "sources_of"]


def gather(
    statistics: Sequence[Statistic],
    data: object,
    design: Design,
    nan_policy: str,
    run: Run,
    questions: Callable[[Sequence[Bound]], list[Question]],
    *,
    where: Any = None,
    weights: Source | None = None,
    alike: Sequence[Sequence[int]] = (),
    mixed: bool = False,
    method: str = "percentile",
) -> Sample:
    """Return the sample of some statistics.

    Parameters
    ----------
    statistics, data, design, nan_policy, weights, alike, mixed
        As in :func:`fastboot.sample.take`.
    run
        How to run.
    questions
        From bound statistics to what is asked of them.
    where
        Rows that count: a filter of columns of `data`, or None.
    method
        Of the interval.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        See :func:`fastboot.columns.load`; an error in a file names the file.
    """
    sources = sources_of(statistics, design, weights)
    _check_named(where, sources)
    source = open_source(data, where) if all(isinstance(one, str) for one in sources) else None
    if source is not None:
        why = _why_loaded(statistics, design, nan_policy, run, method)
        if not why:
            found = scan(
                statistics,
                source,
                design,
                weights=weights,
                alike=alike,
                mixed=mixed,
                omit=nan_policy == "omit",
                questions=questions,
                dispatch=partial(
                    in_order,
                    executor=run.executor,
                    n_threads=run.n_threads,
                    tick=lambda: _report(run, 0),
                ),
                report=partial(_report, run),
                digested=isinstance(run.keeping, StoredReplicates),
            )
            if found is not None:
                return found
        else:
            _check_memory(source, len(set(sources)), why)
    table = rows_that_count(data, where, sources)
    return take(statistics, table, design, nan_policy, weights=weights, alike=alike, mixed=mixed)


def _check_memory(source: Any, n_columns: int, why: str) -> None:
    """Refuse to load more than the machine can hold, where files tell how much that is."""
    fragments = source.fragments
    counts: list[Any] = [None] if fragments is None else [part.n_rows for part in fragments]
    limit = memory_limit()
    if source.filtered or None in counts or limit is None:
        return
    n_bytes = 8 * sum(counts) * n_columns
    if n_bytes > limit:
        raise ValueError(
            f"`data` has {sum(counts):,} rows, and {why} needs all of them in memory: "
            f"{n_bytes / 1e9:,.3g} GB for {count(n_columns, 'column')}, but there are "
            f"{limit / 1e9:,.3g} GB; choose rows with where=, or what is read block by block: "
            "functions of sums over rows or groups, resampled plainly"
        )


def _report(run: Run, n_bytes: int) -> None:
    """Tell that no replicate is done yet, and what was read."""
    if run.progress is not None:
        if n_bytes:
            tell_read(run.progress, n_bytes)
        run.progress(0, run.n_resamples)


def rows_that_count(data: object, where: Any, sources: Iterable[Any]) -> Any:
    """Return `data`, or without the rows that `where` leaves out.

    Parameters
    ----------
    data, where
        As in the procedures.
    sources
        Of the columns asked for: names, or arrays.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        See :func:`fastboot.files.filtered`; or there are arrays, whose rows `where` cannot choose.
    """
    _check_named(where, sources)
    if where is None:
        return data
    source = open_source(data, where)  # reads no more than the rows that count
    if source is None:
        return filtered(open_table(data), where)
    return Table(source.names, source.read, source.names_near)


def _check_named(where: Any, sources: Iterable[Any]) -> None:
    if where is not None and not all(isinstance(one, str) for one in sources):
        raise TypeError(
            "`where` chooses rows of `data`, but columns were given as arrays; name columns, or "
            "filter the arrays"
        )


def sources_of(statistics: Sequence[Statistic], design: Design, weights: Any) -> list[Any]:
    """Return the columns asked for: names, or arrays."""
    sources: list[Any] = [column.source for one in statistics for column in one.columns]
    sources += [column.source for column in design.columns]
    return sources if weights is None else [*sources, weights]


def _why_loaded(
    statistics: Sequence[Statistic], design: Design, nan_policy: str, run: Run, method: str
) -> str:
    """Return what needs all rows in memory; empty where blocks will do."""
    reasons = [
        (not isinstance(one, Additive) or one.learns == "rows", one.name) for one in statistics
    ]
    reasons += [
        (design.levels is not None, f"levels={design.levels!r}"),
        (design.scheme != "multinomial", f"scheme={design.scheme!r}"),
        (bool(design.strata), "`strata`"),
        (bool(design.by), "`by`"),
        (design.n_drawn is not None, "`n_drawn`"),
        (nan_policy not in {"raise", "omit"}, f"nan_policy={nan_policy!r}"),
        (run.path is not None, f"path={run.path!r}"),
        (method == "studentized", 'method="studentized"'),
    ]
    return next((name for there, name in reasons if there), "")
