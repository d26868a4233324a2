"""The paired t test, with the check of its assumption and the resampled answer beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.analytic import cluster_standard_errors, t_interval
from fastboot.arguments import Rng, check_run
from fastboot.calls import words
from fastboot.columns import Column, Keys, Labels, Rows, Source, load
from fastboot.companions.batches import stream, streamed
from fastboot.companions.companion import t_pvalue
from fastboot.companions.differences import SHAPIRO_ROWS, Differences, Groups, moments
from fastboot.companions.normality import NormalityCheck, check_normality
from fastboot.companions.scale import scaled_differences, unscaled, unscaled_interval
from fastboot.companions.t_test_results import PairedTTestResult, Scaled
from fastboot.intervals import check_level
from fastboot.paired import paired_bootstrap
from fastboot.paths import BOOTSTRAP_PATHS
from fastboot.pvalues import check_alternative
from fastboot.sources.filters import in_words
from fastboot.taking import rows_that_count

__all__ = ["paired_t_test"]

Floats = NDArray[np.float64]


def paired_t_test(
    a: Source,
    b: Source | None = None,
    *,
    data: object = None,
    where: Any = None,
    groups: Source | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    nan_policy: str = "raise",
    n_resamples: int = 9_999,
    rng: Rng = None,
) -> PairedTTestResult:
    """Test whether the mean of paired differences is 0, and say how far the test can be trusted.

    t = mean / (standard deviation / sqrt(K)) of the K differences (ddof = 1), compared with the t
    distribution of K - 1 degrees of freedom (Student 1908). It is exact for normal differences and
    approximate otherwise: skewness, kurtosis, a test of normality and outliers say how well, and
    :func:`paired_bootstrap` answers beside it, which assumes no law.

    Parameters
    ----------
    a, b
        Scores of two systems on the same items: column names or arrays of shape (n_rows,). Without
        `b`, a has the differences.
    data
        The table, as in :func:`bootstrap`.
    where
        Rows that count, as in :func:`bootstrap`.
    groups
        Column name or array of shape (n_rows,): rows of a group may depend on each other. The
        standard error is cluster-robust (CR1, Liang and Zeger 1986), with as many degrees of
        freedom as groups less 1; few groups are few data, however many rows they have.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The intervals have the same
        sides.
    confidence_level
        Of the intervals; 1 - confidence_level is the level of `verdict`.
    nan_policy
        "raise", "omit" or "propagate", as in :func:`bootstrap`.
    n_resamples, rng
        Of the bootstrap, as in :func:`paired_bootstrap`; of a million rows it takes 25 s where the
        test takes 0.03 s. With 0 there is none; then named columns of files, datasets and queries
        are read batch by batch, once, and may be larger than memory (outliers, which need all rows,
        are not counted beyond one batch).

    Returns
    -------
    PairedTTestResult
        Where all differences are equal the interval is a point and the result says so; p is 1
        where they are 0, and NaN otherwise (t is infinite). One row has no standard error: NaN.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`.

    Examples
    --------
    Heights of 15 pairs of maize plants, cross-fertilised less self-fertilised (Darwin 1876; Fisher
    1935, section 18: t = 2.148).

    >>> from fastboot.companions.t_test import paired_t_test
    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> result = paired_t_test(maize, rng=0)
    >>> result
    PairedTTestResult(20.93 [0.03119, 41.84], p = 0.0497, n_rows=15)
    >>> round(result.t, 3), result.degrees_of_freedom, round(result.cohen_dz, 3)
    (2.148, 14, 0.555)
    """
    level, sides = check_level(confidence_level), check_alternative(alternative)
    run = check_run(n_resamples, rng, None, BOOTSTRAP_PATHS, None, None, fewest=0)
    resampled = run.n_resamples > 0
    columns = [Column(a, argument="a")]
    columns += [] if b is None else [Column(b, argument="b")]
    columns += [] if groups is None else [Column(groups, "key", "groups")]
    found, n_dropped, bootstrap = Differences(), 0, None
    table = rows_that_count(data, where, [column.source for column in columns])
    source = None if resampled else streamed(columns, data, where)
    if source is not None:
        named = [] if groups is None else [Column(groups, "slice", "groups")]
        batches: Iterator[Rows] = stream([*columns, *named], source, table, nan_policy)
    else:
        batches = iter([load(columns, table, nan_policy)])
    kept: _Pairs | None = None
    n_batches = 0
    for rows in batches:
        n_batches += 1
        n_dropped += rows.n_dropped
        kept = _Pairs.of(rows, b is not None, groups is not None)
        if rows.n_rows:
            found.add(kept.a, kept.b, kept.groups)
    if not found.n_rows:
        raise ValueError(f"no rows left: all {n_dropped:,} rows have a missing value")
    assert kept is not None
    if resampled:
        bootstrap = paired_bootstrap(
            kept.a,
            np.zeros(len(kept.a)) if kept.b is None else kept.b,
            groups=None if kept.groups is None else kept.groups.codes,
            alternative=sides,
            confidence_level=level,
            nan_policy=nan_policy,
            n_resamples=n_resamples,
            rng=run.seed,
        )
    only = kept if n_batches == 1 and found.n_rows == len(kept.a) else None
    summed = _summed(found, only, groups is not None)
    mean, deviation, error, exponent = summed.scaled
    return PairedTTestResult(
        confidence_interval=unscaled_interval(
            t_interval(
                mean, error, summed.n_units - 1, confidence_level=level, alternative=sides
            )._replace(method="t" if groups is None else "cr1"),
            exponent,
        ),
        pvalue=t_pvalue(summed.t, summed.n_units - 1, sides, mean),
        alternative=sides,
        n_rows=found.n_rows,
        n_dropped=n_dropped,
        estimate=unscaled(mean, exponent),
        estimate_a=found.mean_a,
        estimate_b=found.mean_b,
        standard_deviation=unscaled(deviation, exponent),
        standard_error=unscaled(error, exponent),
        t=summed.t,
        degrees_of_freedom=summed.n_units - 1,
        normality=summed.normality,
        bootstrap=bootstrap,
        n_units=summed.n_units,
        unit="row" if groups is None else "group",
        _scaled=summed.scaled,
        asked=(
            *((column.argument, words(column)) for column in columns),
            *((("where", chosen),) if (chosen := in_words(where)) else ()),
        ),
    )


class _Pairs(NamedTuple):
    """The columns of a batch."""

    a: Floats
    b: Floats | None
    groups: Groups | None

    @classmethod
    def of(cls, rows: Rows, has_b: bool, has_groups: bool) -> _Pairs:  # noqa: FBT001 - both are plain
        values: list[Any] = list(rows.columns)
        groups = None
        if has_groups:
            last = values[-1]
            if isinstance(last, Labels):  # of a batch: codes of another batch mean other groups
                groups = Groups(last.codes, last.values)
            else:
                assert isinstance(last, Keys)
                groups = Groups(last.codes, range(last.n_groups))
        return cls(values[0], values[1] if has_b else None, groups)


class _Summed(NamedTuple):
    scaled: Scaled
    t: float
    n_units: int
    normality: NormalityCheck


def _summed(found: Differences, only: _Pairs | None, grouped: bool) -> _Summed:  # noqa: FBT001 - as above
    """Return mean, errors and checks of all differences.

    only : all rows, where they were read at once
    """
    mean = found.mean
    if math.isnan(mean):
        check = check_normality(found.shifted, None, equal=True)
        n_units = found.n_groups if grouped else found.n_rows
        return _Summed(Scaled(mean, mean, mean, found.exponent), mean, n_units, check)
    equal = found.equal
    deviation = 0.0 if equal and found.n_rows > 1 else found.shifted.standard_deviation
    if found.zero:
        mean = 0.0
    if grouped:
        sums, reach = found.group_sums
        alike = bool((np.abs(sums) <= reach).all())
        errors = cluster_standard_errors(sums / found.n_rows)
        error = 0.0 if alike and sums.size > 1 else errors.cr1
        check = check_normality(moments(sums), sums, equal=alike)
        figures = Scaled(mean, deviation, error, found.exponent)
        return _Summed(figures, _t(mean, error), sums.size, check)
    error = deviation / math.sqrt(found.n_rows)
    values: Floats | None = None
    if found.n_rows <= SHAPIRO_ROWS:
        values = found.first - found.pivot
    elif only is not None:
        values = scaled_differences(only.a, only.b, found.exponent)[0] - found.pivot
    check = check_normality(found.shifted, values, equal=equal)
    figures = Scaled(mean, deviation, error, found.exponent)
    return _Summed(figures, _t(mean, error), found.n_rows, check)


def _t(mean: float, error: float) -> float:
    if error == 0.0:
        return math.copysign(math.inf, mean) if mean else math.nan
    return mean / error
