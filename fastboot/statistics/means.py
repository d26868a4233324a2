"""Means, totals and ratios of number columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Source
from fastboot.statistics.additive import Additive, Ratio, Term
from fastboot.statistics.base import Statistic

Floats = NDArray[np.float64]

__all__ = ["as_statistic", "mean", "ratio", "total", "weighted_mean"]


class _Mean(Ratio):
    def terms(self, values: Term) -> Sequence[Term]:
        return values, 1.0


class _Ratio(Ratio):
    def terms(self, numerator: Term, denominator: Term) -> Sequence[Term]:
        return numerator, denominator


class _WeightedMean(Ratio):
    def terms(self, values: Floats, weights: Floats) -> Sequence[Term]:
        return values * weights, weights


class _Total(Additive):
    linear = True

    def terms(self, values: Term) -> Sequence[Term]:
        return (values,)

    def finish(self, total: Any) -> Any:
        return total


@recorded
def mean(values: Source | Column) -> Ratio:
    """Mean of a column: sum of values / number of rows.

    With groups, the mean over all rows of the drawn groups, not the mean of group means.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.mean([1.0, 2.0, 6.0]), rng=0).estimate
    3.0
    """
    return _Mean(_number(values, "values"), name="mean")


@recorded
def ratio(numerator: Source | Column, denominator: Source | Column) -> Ratio:
    """Ratio of two sums: sum of numerators / sum of denominators.

    A corpus-level rate, such as errors per word; not the mean of row ratios. Undefined where the
    denominators sum to 0.

    Parameters
    ----------
    numerator, denominator
        Column name, or array of shape (n_rows,).

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.ratio([1, 1, 10], [2, 4, 100]), rng=0).estimate
    0.11320754716981132
    """
    columns = [_number(numerator, "numerator"), _number(denominator, "denominator")]
    return _Ratio(*columns, name="ratio")


@recorded
def weighted_mean(values: Source | Column, weights: Source | Column) -> Ratio:
    """Weighted mean: sum of weight x value / sum of weights.

    Undefined where the weights sum to 0. The weight belongs to the row and is resampled with it.

    Parameters
    ----------
    values, weights
        Column name, or array of shape (n_rows,).

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.weighted_mean([1.0, 2.0], weights=[3.0, 1.0]), rng=0).estimate
    1.25
    """
    columns = [_number(values, "values"), _number(weights, "weights")]
    return _WeightedMean(*columns, name="weighted_mean")


@recorded
def total(values: Source | Column) -> Additive:
    """Sum of a column. A resample has as many units as the sample.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.total([1.0, 2.0, 6.0]), rng=0).estimate
    9.0
    """
    return _Total(_number(values, "values"), name="total")


def _number(source: Source | Column, argument: str) -> Column:
    return source if isinstance(source, Column) else Column(source, "number", argument)


def as_statistic(value: Statistic | Source, argument: str) -> Statistic:
    """Return the statistic itself, or the mean of a bare column.

    Parameters
    ----------
    value
        A statistic, a column name or an array.
    argument
        What messages call it.
    """
    if isinstance(value, Statistic):
        return value
    return mean(Column(value, "number", argument))
