"""The bootstrap of the difference between two independent samples."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import Rng, answer_options, check_flag, check_run
from fastboot.columns import Source
from fastboot.designs import Slices
from fastboot.observation import observe
from fastboot.paths import BOOTSTRAP_PATHS, Run
from fastboot.pooling import (
    Both,
    both,
    both_words,
    check_slices,
    designs_of,
    rows_of_both,
    tables,
)
from fastboot.questions import Several, alike, ask, pair_up, questions_of, report
from fastboot.resampling import Answer, resample, warn_undefined
from fastboot.sample import Sample, take
from fastboot.statistics.base import Statistic, Vector
from fastboot.statistics.bound import bound
from fastboot.statistics.estimand import Question
from fastboot.tables import Table
from fastboot.taking import sources_of
from fastboot.unpaired_results import UnpairedBootstrapResult

__all__ = ["unpaired_bootstrap"]

Floats = NDArray[np.float64]


class _Options(TypedDict, total=False):
    """What :func:`unpaired_bootstrap` takes beside statistics and slices."""

    data: object
    where: Any
    groups: Source | Sequence[Source] | None
    levels: str | None
    strata: Source | Sequence[Source] | None
    weights: Source | None
    scheme: str
    block_length: float | None
    n_resamples: int
    confidence_level: float
    method: str
    alternative: str
    rng: Rng
    n_threads: int | None
    nan_policy: str
    add_one: bool
    progress: bool | Callable[[int, int], object] | None
    path: str | None


@overload
def unpaired_bootstrap(  # type: ignore[overload-overlap] # a bare column may be any object
    a: Several,
    b: Several,
    *,
    by: Source | Sequence[Source] | None = None,
    **options: Unpack[_Options],
) -> Table[UnpairedBootstrapResult]: ...
@overload
def unpaired_bootstrap(  # type: ignore[overload-overlap] # None is an object too
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: None = None,
    **options: Unpack[_Options],
) -> UnpairedBootstrapResult: ...
@overload
def unpaired_bootstrap(
    a: Statistic | Source,
    b: Statistic | Source,
    *,
    by: Source | Sequence[Source],
    **options: Unpack[_Options],
) -> Table[UnpairedBootstrapResult]: ...
def unpaired_bootstrap(
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
    block_length: float | None = None,
    n_resamples: int = 9_999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    rng: Rng = None,
    n_threads: int | None = None,
    nan_policy: str = "raise",
    add_one: bool = True,
    progress: bool | Callable[[int, int], object] | None = None,
    path: str | None = None,
) -> UnpairedBootstrapResult | Table[UnpairedBootstrapResult]:
    """Test whether two independent samples differ in a statistic, and by how much.

    The samples (two test sets, the users of two versions) have rows of their own, of any number.
    Each is resampled by itself, and a replicate is the difference a* - b* (Efron and Tibshirani
    1993, sections 8.3 and 16.2). The p-value counts replicates moved to the null hypothesis as in
    :func:`paired_bootstrap`: ``|d* - d| >= |d|``.

    Parameters
    ----------
    a, b
        The statistic of each sample, such as ``fb.mean("score")``; a column name or an array means
        its mean. The effect is a - b. Two dicts or lists of statistics ask for all of them, from
        the same resamples.
    data
        A tuple of two tables, (of a, of b); or one table for both. Each as in :func:`bootstrap`;
        the columns asked for are loaded.
    where
        Rows that count, as in :func:`bootstrap`; or a tuple (of a, of b), by which one table has
        both samples: ``([("version", "==", "new")], [("version", "==", "old")])``.
    groups, strata, by, weights
        As in :func:`bootstrap`: a column name, or a list of names, that both tables have, or a
        tuple (of a, of b). Groups and strata of the samples have nothing to do with each other;
        slices of one value are compared, so each needs rows of both samples.
    levels, scheme, block_length
        As in :func:`bootstrap`, of both samples.
    n_resamples, confidence_level, method, rng, n_threads, nan_policy, progress, path
        As in :func:`bootstrap`. The acceleration of a BCa interval is that of both samples
        together. Sample b has other random words than a: exchanging the samples negates the
        estimate, the replicates only up to Monte Carlo error.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    add_one
        Count the observed difference as one more replicate, (n_extreme + 1) / (n_resamples + 1), so
        that p is never 0; False gives the plain proportion.

    Returns
    -------
    UnpairedBootstrapResult
        Or a :class:`Table` of them, for several statistics, a statistic with several values, or
        slices.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`; or an array is given where each sample needs its own.

    Warns
    -----
    RuntimeWarning
        Some replicates are undefined (0 / 0); they are NaN, counted and left out.

    Examples
    --------
    Survival in days of treated and untreated mice (Efron and Tibshirani 1993, table 2.1).

    >>> import fastboot as fb
    >>> treated = [94, 197, 16, 38, 99, 141, 23]
    >>> untreated = [52, 104, 146, 10, 50, 31, 40, 27, 46]
    >>> result = fb.unpaired_bootstrap(treated, untreated, rng=0)
    >>> round(result.estimate, 2), result.n_rows_a, result.n_rows_b
    (30.63, 7, 9)
    """
    started = time.perf_counter()
    first, second = ask(a, "a"), ask(b, "b")
    pair_up(first, second)
    run = check_run(n_resamples, rng, path, BOOTSTRAP_PATHS, n_threads, progress)
    common = answer_options(confidence_level, method, alternative)
    common |= {"seed": run.seed, "add_one": check_flag("add_one", add_one)}
    data_of = tables(data)
    designs = designs_of(
        data_of,
        where=where,
        groups=groups,
        levels=levels,
        strata=strata,
        by=by,
        scheme=scheme,
        block_length=block_length,
        path=path,
    )
    own = list(
        zip((first.statistics, second.statistics), designs, both("weights", weights), strict=True)
    )
    rows = rows_of_both(data_of, where, [sources_of(*one) for one in own])
    samples = Both(
        *(
            take(statistics, table, design, nan_policy, weights=source)
            for (statistics, design, source), table in zip(own, rows, strict=True)
        )
    )
    pairs = [place for place, _ in alike(first, second)]
    samples = _labelled_alike(samples, pairs, may_be_nan=nan_policy == "propagate")
    if samples.a.slices is not None:
        check_slices(set(samples.a.slices.values), set(samples.b.slices.values))
    questions = questions_of((*samples.a.bounds, *samples.b.bounds))

    def answer(cells: Slices | None) -> tuple[Answer, Mapping[str, NDArray[Any]]]:
        return _answer(questions, samples, run, sliced=cells is not None, method=method)

    together = _Together(
        bounds=samples.a.bounds,
        n_rows=samples.a.n_rows + samples.b.n_rows,
        n_dropped=samples.a.n_dropped + samples.b.n_dropped,
        factors=None,
        slices=samples.a.slices,
        design=designs.a.beside(designs.b),
        weights=both_words(both("weights", weights)),
        _keys=(),
        parts=samples,
    )
    result: UnpairedBootstrapResult | Table[UnpairedBootstrapResult] = report(
        UnpairedBootstrapResult, first.names, questions, together, answer, common, started
    )
    return result


@dataclass(frozen=True, eq=False)
class _Together(Sample):
    """What is said of both samples; each is drawn by itself.

    Attributes
    ----------
    parts
        The samples.
    """

    parts: Both = field(kw_only=True)

    @property
    def samples(self) -> tuple[Sample, Sample]:
        """What the first and the second statistic of a question are computed from."""
        return self.parts

    @property
    def design_remarks(self) -> tuple[str, ...]:
        """Sentences about the design in each sample."""
        return tuple(
            f"sample {side}: {sentence}"
            for side, part in zip("ab", self.parts, strict=True)
            for sentence in part.design_remarks
        )


def _labelled_alike(samples: Both, places: Sequence[int], *, may_be_nan: bool) -> Both:
    """Bind statistics with several values to the columns of both samples, for common labels."""
    bounds = Both(list(samples.a.bounds), list(samples.b.bounds))
    for place in places:
        of_both = [own[place] for own in bounds]
        if any(isinstance(one.statistic, Vector) for one in of_both):
            columns = [one.columns for one in of_both]
            for one, sample, own in zip(of_both, samples, bounds, strict=True):
                own[place] = bound(
                    one.statistic,
                    one.columns,
                    columns,
                    sample.n_rows,
                    factors=sample.factors,
                    may_be_nan=may_be_nan,
                )
    return Both(
        *(replace(sample, bounds=tuple(own)) for sample, own in zip(samples, bounds, strict=True))
    )


def _answer(
    questions: Sequence[Question], samples: Both, run: Run, *, sliced: bool, method: str
) -> tuple[Answer, Mapping[str, NDArray[Any]]]:
    """Resample both samples: return what was found and further fields of results."""
    found = Both(
        *(
            _of_sample(side, sample, run, sliced=sliced, method=method)
            for side, sample in enumerate(samples)
        )
    )
    of_a, of_b = found
    replicates = of_a.replicates
    replicates -= of_b.replicates
    warn_undefined(replicates, questions)
    paths = {way for one in found for way in one.path.split("+")}
    answer = Answer(
        estimates=of_a.estimates - of_b.estimates,
        replicates=replicates,
        path="+".join(sorted(paths)),
        influence=_both(operator.sub, of_a.influence, of_b.influence),
        rounding=of_a.rounding + of_b.rounding,
        n_rows=of_a.n_rows + of_b.n_rows,
        n_units=of_a.n_units + of_b.n_units,
        remarks=tuple(map(_sentence, of_a.remarks, of_b.remarks)),
        errors=_both(operator.sub, of_a.errors, of_b.errors),
        replicate_errors=_both(np.hypot, of_a.replicate_errors, of_b.replicate_errors),
        apart=tuple(x or y for x, y in zip(of_a.apart, of_b.apart, strict=True)),
    )
    own = {
        f"{name}_{side}": np.broadcast_to(getattr(one, name), of_a.estimates.shape)
        for name in ("n_rows", "n_units")
        for side, one in zip("ab", found, strict=True)
    }
    return answer, {"estimate_a": of_a.estimates, "estimate_b": of_b.estimates} | own


def _sentence(of_a: str, of_b: str) -> str:
    """Return what is said of both samples."""
    return of_a if of_a == of_b else f"sample a: {of_a}; sample b: {of_b}"


def _both(join: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Join what both samples have; None where one has none."""
    return None if a is None or b is None else join(a, b)


def _of_sample(side: int, sample: Sample, run: Run, *, sliced: bool, method: str) -> Answer:
    cells = sample.slices if sliced else None
    own, apart = sample.apart([Question(one) for one in sample.bounds], cells)
    scale = np.nan_to_num(np.abs(observe(own.bounds, own, cells)))
    own_words = run._replace(spawn_key=(side,))
    return resample(apart, own, own_words, cells=cells, method=method, scale=scale)
