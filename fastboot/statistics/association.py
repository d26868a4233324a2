"""How two columns go together: correlation, errors of predicted numbers, agreement of labels."""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Additive, Ratio, Term
from fastboot.statistics.checks import equal_labels
from fastboot.statistics.moments import origin, origins, spread

__all__ = ["agreement", "mae", "pearson", "r_squared", "rmse"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class _Pearson(Additive):
    learns = "summaries"
    _origins: tuple[Any, ...] = (0.0, 0.0)

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = copy.copy(self)
        columns = zip(*systems, strict=True)
        bound._origins = tuple(origin(self.name, *values) for values in columns)
        return bound

    def apart(self, systems: Sequence[Sequence[Any]], codes: Integers) -> Self:
        moved = copy.copy(self)
        moved._origins = tuple(
            origins(self.name, codes, known, *values)
            for known, values in zip(self._origins, zip(*systems, strict=True), strict=True)
        )
        same = all(map(operator.is_, moved._origins, self._origins))
        return self if same else moved

    # What overflows is refused by name.
    @np.errstate(over="ignore")
    def terms(self, x: Floats, y: Floats) -> Sequence[Term]:
        x, y = x - self._origins[0], y - self._origins[1]
        return 1.0, x, y, x * x, y * y, x * y

    def finish(self, n: Any, x: Any, y: Any, xx: Any, yy: Any, xy: Any) -> Any:
        deviations = np.sqrt(spread(n, x, xx)) * np.sqrt(spread(n, y, yy))
        # Before np.clip, which would make 1 of infinity.
        deviations = np.where(deviations == 0.0, np.nan, deviations)
        return np.clip((xy - x * y / n) / deviations, -1.0, 1.0)


class _RSquared(Additive):
    learns = "summaries"
    _origin: Floats | float = 0.0

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = copy.copy(self)
        bound._origin = origin(self.name, *(gold for gold, _ in systems))
        return bound

    def apart(self, systems: Sequence[Sequence[Any]], codes: Integers) -> Self:
        assert isinstance(self._origin, float)
        moved = copy.copy(self)
        moved._origin = origins(self.name, codes, self._origin, *(gold for gold, _ in systems))
        return self if moved._origin is self._origin else moved

    @np.errstate(over="ignore")
    def terms(self, gold: Floats, predicted: Floats) -> Sequence[Term]:
        error = gold - predicted
        gold = gold - self._origin
        return error * error, 1.0, gold, gold * gold

    def finish(self, errors: Any, n: Any, gold: Any, squares: Any) -> Any:
        return 1.0 - errors / spread(n, gold, squares)


class _RootMeanSquare(Additive):
    @np.errstate(over="ignore")
    def terms(self, gold: Floats, predicted: Floats) -> Sequence[Term]:
        error = gold - predicted
        return error * error, 1.0

    def finish(self, squares: Any, n: Any) -> Any:
        return np.sqrt(squares / n)


class _MeanAbsolute(Ratio):
    @np.errstate(over="ignore")
    def terms(self, gold: Floats, predicted: Floats) -> Sequence[Term]:
        return np.abs(gold - predicted), 1.0


class _Agreement(Ratio):
    def terms(self, first: Labels, second: Labels) -> Sequence[Term]:
        return equal_labels(first, second, ("first", "second")).astype(np.float64), 1.0


@recorded
def pearson(x: Source, y: Source) -> Additive:
    """Pearson's correlation of two columns.

    sum (x - mean x)(y - mean y) / sqrt(sum (x - mean x)^2 x sum (y - mean y)^2) (Pearson 1896).
    Undefined where a column is constant, or differs from a constant by rounding only.

    Parameters
    ----------
    x, y
        Column name, or array of shape (n_rows,).

    Raises
    ------
    ValueError
        When run: squares beyond float64; or `approximate_randomization` of columns that lie more
        than 256 standard deviations from 0, each around another number.

    Notes
    -----
    For a metric and human scores of the same outputs: segment-level with a row per segment,
    system-level with a row per system. BCa intervals (the default) correct the skewness of a
    correlation near 1.

    Examples
    --------
    >>> import fastboot as fb
    >>> human, metric = [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 4, 3, 5, 7, 6, 8]
    >>> round(fb.bootstrap(fb.pearson(metric, human), rng=0).estimate, 12)
    0.952380952381
    """
    return _Pearson(Column(x, "number", "x"), Column(y, "number", "y"), name="pearson")


@recorded
def r_squared(gold: Source, predicted: Source) -> Additive:
    """Coefficient of determination of predicted numbers (scikit-learn's ``r2_score``).

    1 - sum (gold - predicted)^2 / sum (gold - mean gold)^2: 1 for perfect predictions, 0 for those
    of the mean, negative for worse; not the square of a correlation. The mean is that of the
    resample. Undefined where gold is constant, or differs from a constant by rounding only.

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of numbers.

    Raises
    ------
    ValueError
        When run: squares beyond float64; or `approximate_randomization` of systems with gold
        columns that lie more than 256 standard deviations from 0, each around another number.

    Examples
    --------
    >>> import fastboot as fb
    >>> gold, predicted = [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 5]
    >>> round(fb.bootstrap(fb.r_squared(gold, predicted), rng=0).estimate, 12)
    0.785714285714
    """
    return _RSquared(*_errors(gold, predicted), name="r_squared")


@recorded
def rmse(gold: Source, predicted: Source) -> Additive:
    """Root mean squared error of predicted numbers: sqrt(sum (gold - predicted)^2 / n).

    Defined for all numbers (scikit-learn's ``root_mean_squared_error``).

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of numbers.

    Raises
    ------
    ValueError
        When run: squares beyond float64.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.rmse([1, 2, 3, 4], [1, 2, 3, 0]), rng=0).estimate
    2.0
    """
    return _RootMeanSquare(*_errors(gold, predicted), name="rmse")


@recorded
def mae(gold: Source, predicted: Source) -> Ratio:
    """Mean absolute error of predicted numbers: sum |gold - predicted| / n.

    Defined for all numbers (scikit-learn's ``mean_absolute_error``).

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of numbers.

    Raises
    ------
    ValueError
        When run: differences beyond float64.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.mae([1, 2, 3, 4], [1, 2, 3, 0]), rng=0).estimate
    1.0
    """
    return _MeanAbsolute(*_errors(gold, predicted), name="mae")


@recorded
def agreement(first: Source, second: Source) -> Ratio:
    """Raw agreement of two annotators: share of rows with the same label.

    Not corrected for chance. Defined for all labels.

    Parameters
    ----------
    first, second
        Column name, or array of shape (n_rows,) of labels: strings, integers, booleans. Both of
        one kind; 1, 1.0 and True are the same label.

    Raises
    ------
    ValueError
        When run: one column holds strings and the other numbers.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.agreement(["good", "bad"], ["good", "good"]), rng=0).estimate
    0.5
    """
    columns = [Column(first, "label", "first"), Column(second, "label", "second")]
    return _Agreement(*columns, name="agreement")


def _errors(gold: Source, predicted: Source) -> list[Column]:
    return [Column(gold, "number", "gold"), Column(predicted, "number", "predicted")]
