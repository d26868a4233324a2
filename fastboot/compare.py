"""Many systems, many metrics: every value, every difference, corrected for looking often."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import Rng, answer_options, check_design, check_flag, check_run
from fastboot.columns import Source
from fastboot.comparison import Board, Comparison, Pairs
from fastboot.corrections import CORRECTIONS, Rows, adjust_pvalues, max_t, simultaneous_intervals
from fastboot.corrections import Pairs as Differences
from fastboot.designs import Slices
from fastboot.intervals import interval
from fastboot.many_systems import PairReplicates, permuted, swapped
from fastboot.observation import observe
from fastboot.paths import Run
from fastboot.pvalues import pvalue
from fastboot.resampling import Answer, bootstrap_answer
from fastboot.sample import Sample, few_units, take
from fastboot.statistics.additive import Additive
from fastboot.statistics.base import Statistic, Vector
from fastboot.statistics.estimand import Question, same_measure
from fastboot.statistics.means import as_statistic

__all__ = ["compare"]

Floats = NDArray[np.float64]
Metrics = Mapping[str, Callable[[Any], Statistic]]

_TESTS = ("bootstrap", "randomization")
_NULLS = ("swaps", "permutations")


def compare(
    systems: Mapping[str, Statistic | Source] | Sequence[str],
    *,
    data: object = None,
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
    nan_policy: str = "raise",
    progress: bool | Callable[[int, int], object] | None = None,
) -> Comparison:
    """Compare many systems on the same items: a leaderboard, and what it can be trusted for.

    All systems, metrics and pairs see the same resamples. Of every system: its value with an
    interval, its rank with an interval, how often it is best, and the letters of the systems it
    cannot be told from. Of every pair: the difference with an interval, its p-value, and that
    p-value corrected for the number of pairs of one metric (and slice).

    Parameters
    ----------
    systems
        For each system its statistic, a column name or an array; or, with `metrics`, its column (a
        list of names stands for columns of these names).
    data, strata, by, weights, n_resamples, confidence_level, rng, n_threads, nan_policy, progress
        As in :func:`bootstrap`.
    metrics
        For each metric a function from a system's column to its statistic, such as
        ``{"F": lambda column: fb.f_score("gold", column)}``.
    groups
        Column name or array of shape (n_rows,): rows with one key are drawn, or swapped, together.
    test
        Where p-values come from: "bootstrap" (shift rule) or "randomization". Intervals are the
        bootstrap's in any case.
    null
        Of the randomization. "swaps": two systems of a pair do not differ; every unit is swapped or
        not, for all pairs alike, which is exact for each pair. "permutations": no systems differ;
        the outputs of all are permuted within every unit, exact for the family if that is true
        (the randomized Tukey HSD of Carterette 2012, with ``correction="max_t"``).
    against
        "all" pairs; "best": the best system against every other; or the name of a system, the
        baseline, that every other is compared with.
    correction
        Of p-values: "holm" (Holm 1979), "bonferroni", "fdr_bh" (Benjamini and Hochberg 1995),
        "fdr_by" (Benjamini and Yekutieli 2001), "max_t" (step-down from the joint resamples,
        Westfall and Young 1993; the intervals of pairs are simultaneous then) or "none".
    higher_is_better
        Of all metrics, or for each by name: decides ranks and the best.
    method
        Of the intervals: "percentile", "basic" or "normal".
    alternative
        "two-sided"; "greater": the first of a pair is larger; "less".
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
    started = time.perf_counter()
    names, asked = _ask(systems, metrics)
    direction = _directions(higher_is_better, list(asked))
    for argument, word, words in (
        ("test", test, _TESTS),
        ("null", null, _NULLS),
        ("correction", correction, (*CORRECTIONS, "max_t", "none")),
        ("method", method, ("percentile", "basic", "normal")),
    ):
        if word not in words:
            raise ValueError(f"`{argument}` is {word!r}; choose one of {', '.join(words)}")
    if against not in {"all", "best", *names}:
        raise ValueError(
            f'`against` is {against!r}; choose "all", "best" or a system: {", ".join(names)}'
        )
    run = check_run(n_resamples, rng, None, (), n_threads, progress)
    options = answer_options(confidence_level, method, alternative)
    counted = check_flag("add_one", add_one)
    design = check_design(data, groups=groups, strata=strata, by=by)
    statistics = [statistic for row in asked.values() for statistic in row]
    if test == "randomization":
        _check_randomizable(asked, sliced=by is not None)
    n = len(names)
    alike = [tuple(range(m * n, (m + 1) * n)) for m in range(len(asked))]
    sample = take(
        statistics,
        data,
        design,
        nan_policy,
        weights=weights,
        alike=alike,
        mixed=test == "randomization",
    )
    questions = [Question(bound) for bound in sample.bounds]
    boards = []
    for cells in (None, sample.slices) if sample.slices is not None else (None,):
        answer = _resample(questions, sample, run, cells)
        for m, metric in enumerate(asked):
            rows = slice(m * n, (m + 1) * n)
            randomized = None
            if test == "randomization":
                way = swapped if null == "swaps" else permuted
                randomized = way(sample.bounds[rows], sample, run)
            boards += [
                _board(
                    metric if metrics is not None else None,
                    None if cells is None else cells.values[cell],
                    names,
                    answer,
                    rows,
                    cell,
                    randomized=randomized,
                    higher=direction[metric],
                    against=against,
                    correction=correction,
                    add_one=counted,
                    **options,
                )
                for cell in range(answer.estimates.shape[1])
            ]
    return Comparison(
        boards=tuple(boards),
        test=test if test == "bootstrap" else f"randomization ({null})",
        against=against,
        correction=correction,
        unit=design.unit,
        n_dropped=sample.n_dropped,
        seed=run.seed,
        remarks=(
            *few_units(int(boards[0].n_units), design.unit),
            *sample.remarks,
        ),
        elapsed=time.perf_counter() - started,
        **options,
    )


def _ask(
    systems: Any, metrics: Metrics | None
) -> tuple[tuple[str, ...], dict[str, list[Statistic]]]:
    """Return the names of the systems, and for each metric the statistic of every system."""
    if not isinstance(systems, Mapping):
        if metrics is None or isinstance(systems, str) or not isinstance(systems, Sequence):
            raise TypeError(
                f"`systems` is {type(systems).__name__}; give a dict from names to statistics, or "
                "with metrics= a list of columns"
            )
        systems = {str(name): name for name in systems}
    if len(systems) < 2:
        raise ValueError(f"`systems` names {len(systems)}; at least two can be compared")
    names = tuple(map(str, systems))
    if metrics is None:
        row = [as_statistic(one, f"systems[{name!r}]") for name, one in systems.items()]
        asked = {row[0].name: row}
    else:
        if not metrics:
            raise ValueError("`metrics` is empty; name at least one, or leave it None")
        asked = {
            str(metric): [_measured(metric, make(column), name) for name, column in systems.items()]
            for metric, make in metrics.items()
        }
    for metric, row in asked.items():
        for name, statistic in zip(names, row, strict=True):
            if isinstance(statistic, Vector):
                raise TypeError(
                    f"`systems`: {statistic.name} of {name!r} has several values; compare one, "
                    "such as an average"
                )
            if not same_measure(row[0], statistic):
                raise TypeError(
                    f"`systems`: {names[0]!r} is measured by {row[0].name} but {name!r} by "
                    f"{statistic.name}; systems are compared by one statistic"
                    + (f" (metric {metric!r})" if metrics is not None else "")
                )
    return names, asked


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


def _check_randomizable(asked: Mapping[str, Sequence[Statistic]], *, sliced: bool) -> None:
    if sliced:
        raise ValueError(
            "`by` and test='randomization': slices are compared by the bootstrap; leave one out"
        )
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
    return bootstrap_answer(questions, sample, run, cells=cells, method="percentile", scale=scale)


def _board(
    metric: str | None,
    slice_: Any,
    names: tuple[str, ...],
    answer: Answer,
    rows: slice,
    cell: int,
    *,
    randomized: tuple[PairReplicates, int, str] | None,
    higher: bool,
    against: str,
    correction: str,
    add_one: bool,
    confidence_level: float,
    method: str,
    alternative: str,
) -> Board:
    """Return what is known of one metric in one slice."""
    values = answer.estimates[rows, cell]
    replicates = answer.replicates[rows, cell]
    rounding = answer.rounding[rows, cell]
    places = _pairs(names, values, against, higher=higher)
    drawn = Differences(
        values,
        replicates,
        rounding=rounding,
        first=np.array([i for i, _ in places]),
        second=np.array([j for _, j in places]),
    )
    joint: Rows = drawn if randomized is None else _Randomized(randomized[0], places)
    exact = randomized is not None and randomized[2] == "enumeration"
    limits, pvalues = np.empty((len(places), 2)), np.empty(len(places))
    for place, estimate in enumerate(drawn.estimates):
        tie = float(drawn.rounding[place])
        limits[place] = interval(
            drawn[place] + estimate,
            estimate,
            confidence_level=confidence_level,
            method=method,
            alternative=alternative,
            acceleration=None,
            rounding=tie,
        )[:2]
        pvalues[place] = pvalue(
            joint[place],
            estimate,
            alternative=alternative,
            rule="null",  # the bootstrap's are moved there: d* - d
            rounding=tie,
            add_one=add_one,
            exact=exact,
        ).pvalue
    if correction == "max_t":
        adjusted = max_t(
            drawn.estimates,
            joint,
            drawn.standard_errors,
            alternative=alternative,
            step_down=randomized is None or randomized[2] != "permutations",
            rounding=drawn.rounding,
            add_one=add_one and not exact,
        )
        limits = np.stack(
            simultaneous_intervals(
                drawn.estimates,
                drawn,
                drawn.standard_errors,
                confidence_level=confidence_level,
                alternative=alternative,
                rounding=drawn.rounding,
            )[:2],
            axis=1,
        )
    else:
        adjusted = pvalues if correction == "none" else adjust_pvalues(pvalues, correction)
    return Board(
        metric=metric,
        slice=slice_,
        names=names,
        estimates=values,
        replicates=replicates,
        rounding=rounding,
        higher_is_better=higher,
        n_rows=int(answer.n_rows[cell]),
        n_units=int(answer.n_units[cell]),
        pairs=Pairs(
            tuple(places),
            drawn.estimates,
            drawn.standard_errors,
            limits[:, 0],
            limits[:, 1],
            pvalues,
            adjusted,
        ),
    )


class _Randomized:
    """Replicates of pairs under the null, computed when asked for."""

    def __init__(self, difference: PairReplicates, places: Sequence[tuple[int, int]]) -> None:
        self._difference = difference
        self._places = places

    def __getitem__(self, index: int, /) -> Floats:
        return self._difference(*self._places[index])


def _pairs(
    names: tuple[str, ...], values: Floats, against: str, *, higher: bool
) -> list[tuple[int, int]]:
    """Return the pairs to compare: the first is subtracted from."""
    everyone = range(len(names))
    if against == "all":
        return list(combinations(everyone, 2))
    ordered = np.where(np.isnan(values), -np.inf, values if higher else -values)
    if against == "best":
        best = int(np.argmax(ordered))
        return [(best, other) for other in everyone if other != best]
    base = names.index(against)
    return [(other, base) for other in everyone if other != base]
