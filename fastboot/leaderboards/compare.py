"""Many systems, many metrics: every value, every difference, corrected for looking often."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import Rng, answer_options, check_design, check_flag, check_run
from fastboot.columns import Source
from fastboot.designs import Slices
from fastboot.keeping import check_checkpoint, extender
from fastboot.leaderboards.boards import Board, board_of
from fastboot.leaderboards.comparison import Comparison, slice_axes
from fastboot.leaderboards.corrections import CORRECTIONS
from fastboot.leaderboards.many_systems import check_permutable, permuted, swapped
from fastboot.observation import observe
from fastboot.paths import Run
from fastboot.resampling import Answer, bootstrap_answer
from fastboot.sample import Sample, take
from fastboot.scaling import remark_on_weights
from fastboot.statistics.additive import Additive
from fastboot.statistics.base import Statistic, Vector
from fastboot.statistics.estimand import Question, alone, same_measure
from fastboot.statistics.means import as_statistic
from fastboot.taking import gather, rows_that_count, sources_of

__all__ = ["compare"]

Floats = NDArray[np.float64]
Metrics = Mapping[str, Callable[[Any], Statistic]]

_TESTS = ("bootstrap", "randomization")
_NULLS = ("swaps", "permutations")
_METHODS = ("percentile", "basic", "normal")


def compare(
    systems: Mapping[str, Statistic | Source] | Sequence[str],
    *,
    data: object = None,
    where: Any = None,
    metrics: Metrics | None = None,
    groups: Source | None = None,
    strata: Source | Sequence[Source] | None = None,
    by: Source | Sequence[Source] | None = None,
    weights: Source | None = None,
    test: str = "bootstrap",
    null: str = "swaps",
    against: str = "all",
    correction: str = "holm",
    higher_is_better: bool | Mapping[str, bool] = True,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    add_one: bool = True,
    rng: Rng = None,
    n_threads: int | None = None,
    executor: object = None,
    checkpoint: str | os.PathLike[str] | None = None,
    nan_policy: str = "raise",
    progress: bool | Callable[[int, int], object] | None = None,
) -> Comparison:
    """Compare many systems on the same items: a leaderboard, and what it can be trusted for.

    All systems, metrics and pairs see the same resamples. Of every system: its value with an
    interval, its rank with an interval, how often it is best, and the letters of the systems it
    cannot be told from (:attr:`Comparison.systems`). Of every pair: the difference with an
    interval, its p-value, and that p-value corrected for the number of pairs of one metric and
    slice, a family (:attr:`Comparison.pairs`).

    Parameters
    ----------
    systems
        For each system its statistic, a column name or an array; or, with `metrics`, its column (a
        list of names stands for columns of these names).
    data
        As in :func:`bootstrap`: read block by block where it can be, for ``test="bootstrap"``.
    where, strata, by, weights, n_resamples, confidence_level, rng, n_threads, nan_policy, progress
        As in :func:`bootstrap`.
    executor
        As in :func:`bootstrap`; what is randomized is so in threads of this process.
    checkpoint
        As in :func:`bootstrap`; replicates of the bootstrap and of the test, for each metric and
        for all slices, have directories of their own.
    metrics
        For each metric a function from a system's column to its statistic, such as
        ``{"F": lambda column: fb.f_score("gold", column)}``.
    groups
        Column name or array of shape (n_rows,): rows with one key are drawn, or swapped, together.
    test
        Where p-values come from: "bootstrap" (shift rule) or "randomization". Intervals, ranks and
        standard errors are the bootstrap's in any case.
    null
        Of the randomization. "swaps": the two systems of a pair do not differ; every unit is
        swapped or not, for all pairs alike, which is exact for each pair, and for max-T over
        several right in large samples. "permutations": no systems differ; the outputs of all are
        permuted within every unit. With ``correction="max_t"`` that is the randomized Tukey HSD of
        Carterette (2012), in single step, exact for the family if no systems differ.
    against
        "all" pairs, in the order of `systems`: first less second; "best": the best system less
        every other (a choice by the same data, of which the correction does not know); or the name
        of a system, the baseline: every other less the baseline.
    correction
        Of p-values: "holm" (Holm 1979), "bonferroni", "fdr_bh" (Benjamini and Hochberg 1995),
        "fdr_by" (Benjamini and Yekutieli 2001), "max_t" (step-down from the joint resamples,
        Westfall and Young 1993; the intervals of pairs are simultaneous then) or "none".
    higher_is_better
        Of all metrics, or for each by name: decides ranks and the best.
    method
        Of the intervals: "percentile", "basic" or "normal".
    alternative
        Of the tests, and sides of the intervals of differences: "two-sided"; "greater": the first
        of a pair is larger; "less". Intervals of systems are two-sided.
    add_one
        Count the observed difference as one more replicate.

    Returns
    -------
    Comparison
        Its ``systems`` and ``pairs`` are tables.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`; or fewer than two systems are given, a word is unknown, or the
        statistic cannot be randomized for many systems at once.

    Warns
    -----
    RuntimeWarning
        Some replicates are undefined (0 / 0); they are NaN, counted and left out.

    Examples
    --------
    >>> import fastboot as fb
    >>> scores = {
    ...     "small": [0, 1, 0, 1, 0, 1, 0, 0, 1, 0],
    ...     "large": [1, 1, 1, 1, 0, 1, 1, 1, 1, 1],
    ...     "huge": [1, 1, 1, 1, 1, 1, 1, 1, 0, 1],
    ... }
    >>> comparison = fb.compare(scores, rng=0)
    >>> comparison.systems.to_columns()["system"]
    ['large', 'huge', 'small']
    >>> comparison.pair("large", "small").estimate
    0.5
    """
    call = dict(locals())
    started = time.perf_counter()
    names, asked = _ask(systems, metrics)
    direction = _directions(higher_is_better, list(asked))
    for argument, word, words in (
        ("test", test, _TESTS),
        ("null", null, _NULLS),
        ("correction", correction, (*CORRECTIONS, "max_t", "none")),
        ("method", method, _METHODS),
    ):
        if word not in words:
            raise ValueError(f"`{argument}` is {word!r}; choose one of {', '.join(words)}")
    if against not in ("all", "best", *names):
        raise ValueError(
            f'`against` is {against!r}; choose "all", "best" or a system: {", ".join(names)}'
        )
    if against in ("all", "best") and against in names:
        raise ValueError(
            f"`against` is {against!r}, which is a system too; rename the system, or set another "
            "`against`"
        )
    run = check_run(n_resamples, rng, None, (), n_threads, progress, executor)
    options = answer_options(confidence_level, method, alternative)
    counted = check_flag("add_one", add_one)
    design = check_design(data, where=where, groups=groups, strata=strata, by=by)
    randomized = test == "randomization"
    run = run._replace(
        keeping=check_checkpoint(checkpoint, "compare", design, randomized=randomized)
    )
    statistics = [statistic for row in asked.values() for statistic in row]
    if randomized:
        _check_randomizable(asked)
    n = len(names)
    alike = [tuple(range(m * n, (m + 1) * n)) for m in range(len(asked))]
    if randomized:
        rows = rows_that_count(data, where, sources_of(statistics, design, weights))
        sample = take(
            statistics, rows, design, nan_policy, weights=weights, alike=alike, mixed=True
        )
    else:
        sample = gather(
            statistics, data, design, nan_policy, run, alone, weights=weights, where=where,
            alike=alike,
        )  # fmt: skip
    if randomized and null == "permutations":
        check_permutable(sample.bounds)
    boards = tuple(
        _boards(
            names,
            list(asked),
            sample,
            run,
            direction,
            test=test,
            null=null,
            against=against,
            correction=correction,
            add_one=counted,
            **options,
        )
    )
    named = metrics is not None
    return Comparison(
        boards=tuple(board if named else replace(board, metric=None) for board in boards),
        test=test,
        null=null if randomized else None,
        against=against,
        correction=correction,
        add_one=counted,
        axes=() if sample.slices is None else slice_axes(design.by),
        unit=design.unit,
        n_dropped=sample.n_dropped,
        seed=run.seed,
        design=sample.words(""),
        asked=_calls(names, asked, sample, named=named),
        remarks=(*sample.remarks, *_remarks(sample)),
        elapsed=time.perf_counter() - started,
        again=extender(compare, call),
        **options,
    )


def _remarks(sample: Sample) -> Iterator[str]:
    """Yield what is to be said of weights in the statistics, once of each."""
    said = (remark_on_weights(bound, sample) for bound in sample.bounds)
    yield from filter(None, dict.fromkeys(said))


def _calls(
    names: Sequence[str], asked: Mapping[str, Sequence[Statistic]], sample: Sample, *, named: bool
) -> tuple[tuple[str, str], ...]:
    """Return the calls that made the statistics, and the options of the sample."""
    systems = [
        f"{f'{metric}.' if named else ''}{name}={statistic.call}"
        for metric, row in asked.items()
        for name, statistic in zip(names, row, strict=True)
    ]
    return ("systems", f"[{','.join(systems)}]"), *sample.options.items()


def _boards(
    names: tuple[str, ...],
    metrics: Sequence[str],
    sample: Sample,
    run: Run,
    direction: Mapping[str, bool],
    *,
    test: str,
    null: str,
    **options: Any,
) -> Iterator[Board]:
    """Yield the boards of all rows, then those of the slices."""
    questions, n = alone(sample.bounds), len(names)
    for cells in (None, sample.slices) if sample.slices is not None else (None,):
        own, apart = sample.apart(questions, cells)
        answer = _resample(apart, own, run, cells)
        for m, metric in enumerate(metrics):
            rows = slice(m * n, (m + 1) * n)
            randomized = None
            if test == "randomization":
                way = swapped if null == "swaps" else permuted
                name = f"{null} {m} {'total' if cells is None else 'slices'}"
                randomized = way(own.bounds[rows], own, run, cells, name)
            for cell in range(answer.estimates.shape[1]):
                yield board_of(
                    metric,
                    questions[m * n].name,
                    None if cells is None else _parts(cells.values[cell]),
                    names,
                    answer,
                    rows,
                    cell,
                    randomized=randomized,
                    higher=direction[metric],
                    **options,
                )


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _ask(
    systems: Any, metrics: Metrics | None
) -> tuple[tuple[str, ...], dict[str, list[Statistic]]]:
    """Return the names of the systems, and for each metric the statistic of every system."""
    columns = _named(systems, listed=metrics is not None)
    names = tuple(name for name, _ in columns)
    if metrics is None:
        row = [as_statistic(one, f"systems[{name!r}]") for name, one in columns]
        asked = {row[0].name: row}
    elif not isinstance(metrics, Mapping):
        raise TypeError(
            f"`metrics` is {type(metrics).__name__}; give a dict from names to functions, such as "
            "{'accuracy': lambda column: fb.accuracy('gold', column)}"
        )
    elif not metrics:
        raise ValueError("`metrics` is empty; name at least one, or leave it None")
    else:
        asked = {
            str(metric): [_measured(metric, make(column), name) for name, column in columns]
            for metric, make in metrics.items()
        }
    for metric, row in asked.items():
        _check_alike(names, row, "" if metrics is None else f" (metric {metric!r})")
    return names, asked


def _named(systems: Any, *, listed: bool) -> list[tuple[str, Any]]:
    """Return the systems by name; a list may name columns."""
    if isinstance(systems, Mapping):
        columns = [(str(name), one) for name, one in systems.items()]
    elif not listed or isinstance(systems, str) or not isinstance(systems, Sequence):
        raise TypeError(
            f"`systems` is {type(systems).__name__}; give a dict from names to statistics, or with "
            "metrics= a list of columns"
        )
    else:
        for name in systems:
            if not isinstance(name, str):
                raise TypeError(
                    f"`systems` is a list with {shortened(name)}; give names of columns, or a dict "
                    "from names to arrays"
                )
        columns = list(zip(systems, systems, strict=True))
    names = [name for name, _ in columns]
    if len(names) < 2:
        raise ValueError(f"`systems` names {len(names)}; at least two can be compared")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"`systems` has {twice!r} twice; give every system a name of its own")
    return columns


def _check_alike(names: Sequence[str], row: Sequence[Statistic], of: str) -> None:
    for name, statistic in zip(names, row, strict=True):
        if isinstance(statistic, Vector):
            raise TypeError(
                f"`systems`: {statistic.name} of {name!r} has several values; compare one, such as "
                f"an average{of}"
            )
        if not same_measure(row[0], statistic):
            raise TypeError(
                f"`systems`: {names[0]!r} is measured by {row[0].name} but {name!r} by "
                f"{statistic.name}; systems are compared by one statistic{of}"
            )


def _measured(metric: str, statistic: Any, name: str) -> Statistic:
    if not isinstance(statistic, Statistic):
        raise TypeError(
            f"`metrics`: {metric!r} returned {type(statistic).__name__} for {name!r}; return a "
            "statistic, such as fb.accuracy('gold', column)"
        )
    return statistic


def _directions(higher: Any, metrics: Sequence[str]) -> dict[str, bool]:
    if isinstance(higher, bool | np.bool_):
        return dict.fromkeys(metrics, bool(higher))
    if not isinstance(higher, Mapping) or set(higher) != set(metrics):
        raise ValueError(
            f"`higher_is_better` is {higher!r}; give True or False, or a dict with one for each of "
            f"{', '.join(metrics)}"
        )
    return {
        metric: check_flag(f"higher_is_better[{metric!r}]", higher[metric]) for metric in higher
    }


def _check_randomizable(asked: Mapping[str, Sequence[Statistic]]) -> None:
    for row in asked.values():
        if not isinstance(row[0], Additive):
            raise TypeError(
                f"`test` is 'randomization', which many systems have in statistics of sums only; "
                f"{row[0].name} is none: use test='bootstrap', or approximate_randomization for a "
                "pair"
            )


def _resample(
    questions: Sequence[Question], sample: Sample, run: Run, cells: Slices | None
) -> Answer:
    estimates = observe(sample.bounds, sample, cells)
    scale = np.nan_to_num(np.abs(estimates))
    return bootstrap_answer(questions, sample, run, cells=cells, method=None, scale=scale)
