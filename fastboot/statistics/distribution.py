"""The shape of one column: spread, skewness, and means of ratios and rates."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Source
from fastboot.statistics.additive import Additive, Ratio, Term
from fastboot.statistics.checks import refuse_rows
from fastboot.statistics.moments import origin, origins, spread

__all__ = ["geometric_mean", "harmonic_mean", "skewness", "std", "variance"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class _Centred(Additive):
    """Of one column, less a constant that the value does not depend on."""

    learns = "summaries"
    _origin: Floats | float = 0.0

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = copy.copy(self)
        bound._origin = origin(self.name, *(values for (values,) in systems))
        return bound

    def apart(self, systems: Sequence[Sequence[Any]], codes: Integers) -> Self:
        assert isinstance(self._origin, float)
        moved = copy.copy(self)
        columns = (values for (values,) in systems)
        moved._origin = origins(self.name, codes, self._origin, *columns)
        return self if moved._origin is self._origin else moved


class _Variance(_Centred):
    def __init__(self, values: Source, ddof: float, name: str) -> None:
        if isinstance(ddof, bool) or not isinstance(ddof, int | float | np.integer | np.floating):
            raise TypeError(f"`ddof` is {ddof!r}; it must be a number (0, or 1 for a sample)")
        if not 0 <= ddof < math.inf:
            raise ValueError(f"`ddof` is {ddof}; it must be 0 or more (1 for a sample)")
        shown = name if ddof == 0 else f"{name}(ddof={ddof:g})"
        super().__init__(Column(values, "number", "values"), name=shown)
        self._ddof = float(ddof)

    # What overflows is refused by name.
    @np.errstate(over="ignore")
    def terms(self, values: Floats) -> Sequence[Term]:
        values = values - self._origin
        return 1.0, values, values * values

    def finish(self, n: Any, total: Any, squares: Any) -> Any:
        return spread(n, total, squares) / np.where(n > self._ddof, n - self._ddof, np.nan)


class _Deviation(_Variance):
    def finish(self, n: Any, total: Any, squares: Any) -> Any:
        return np.sqrt(super().finish(n, total, squares))


class _Skewness(_Centred):
    def __init__(self, values: Source, *, bias: bool) -> None:
        if not isinstance(bias, bool | np.bool_):
            raise TypeError(f"`bias` is {bias!r}; it must be True or False")
        name = "skewness" if bias else "skewness(bias=False)"
        super().__init__(Column(values, "number", "values"), name=name)
        self._bias = bool(bias)

    @np.errstate(over="ignore")
    def terms(self, values: Floats) -> Sequence[Term]:
        values = values - self._origin
        squares = values * values
        return 1.0, values, squares, squares * values

    def finish(self, n: Any, total: Any, squares: Any, cubes: Any) -> Any:
        mean = total / n
        second = spread(n, total, squares) / n
        third = cubes / n - mean * (3.0 * second + mean * mean)
        skew = third / second**1.5
        if self._bias:
            return skew
        return skew * np.sqrt(n * (n - 1.0)) / np.where(n > 2.0, n - 2.0, np.nan)


class _GeometricMean(Additive):
    def terms(self, values: Floats, weights: Floats | None = None) -> Sequence[Term]:
        _check(self.columns, values, weights)
        logs = np.log(values)
        return (logs, 1.0) if weights is None else (weights * logs, weights)

    def finish(self, logs: Any, weights: Any) -> Any:
        return np.exp(logs / weights)


class _HarmonicMean(Ratio):
    # 1 / 1e-310 is refused by name.
    @np.errstate(over="ignore")
    def terms(self, values: Floats, weights: Floats | None = None) -> Sequence[Term]:
        _check(self.columns, values, weights)
        return (1.0, 1.0 / values) if weights is None else (weights, weights / values)


@recorded
def variance(values: Source, *, ddof: float = 0) -> Additive:
    """Variance of a column: sum (value - mean)^2 / (n - ddof), as ``numpy.var``.

    Undefined where n is at most `ddof`. The default, 0, is the plug-in estimate, which is n - 1 in
    n of the variance of a population; with groups, n is the number of rows drawn.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).
    ddof
        Subtracted from n; 0 or more.

    Raises
    ------
    TypeError, ValueError
        `ddof` is not a number, or negative. When run: squares beyond float64; or
        `approximate_randomization` of columns that lie more than 256 standard deviations from 0,
        each around another number.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.variance([1.0, 2.0, 3.0, 6.0]), rng=0).estimate
    3.5
    """
    return _Variance(values, ddof, "variance")


@recorded
def std(values: Source, *, ddof: float = 0) -> Additive:
    """Standard deviation of a column: sqrt(sum (value - mean)^2 / (n - ddof)), as ``numpy.std``.

    Undefined where n is at most `ddof`.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).
    ddof
        Subtracted from n; 0 or more.

    Raises
    ------
    TypeError, ValueError
        As :func:`variance`.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.std([1.0, 2.0, 3.0], ddof=1), rng=0).estimate
    1.0
    """
    return _Deviation(values, ddof, "std")


@recorded
def skewness(values: Source, *, bias: bool = True) -> Additive:
    """Skewness of a column: m3 / m2^1.5, where mk is the mean of (value - mean)^k.

    As ``scipy.stats.skew``. Undefined where the column is constant, or differs from a constant by
    rounding only, and for fewer than 3 rows without bias.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).
    bias
        False multiplies by sqrt(n (n - 1)) / (n - 2), which takes the bias out of normal samples
        (Joanes and Gill 1998, G1).

    Raises
    ------
    TypeError
        `bias` is not True or False.
    ValueError
        When run: cubes beyond float64; or `approximate_randomization` of columns that lie more than
        256 standard deviations from 0, each around another number.

    Examples
    --------
    >>> import fastboot as fb
    >>> seconds = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0]
    >>> round(fb.bootstrap(fb.skewness(seconds), rng=0).estimate, 12)
    0.802277870281
    """
    return _Skewness(values, bias=bias)


@recorded
def geometric_mean(values: Source, *, weights: Source | None = None) -> Additive:
    """Geometric mean of a column: exp(sum weight x log value / sum of weights).

    For ratios, such as speed-ups. As ``scipy.stats.gmean``. Undefined where the weights sum to 0.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,) of positive numbers.
    weights
        Column name, or array of shape (n_rows,), 0 or more; 1 each by default. A weight belongs to
        its row and is resampled with it.

    Raises
    ------
    ValueError
        When run: a value is not positive, or a weight is negative.

    Examples
    --------
    >>> import fastboot as fb
    >>> round(fb.bootstrap(fb.geometric_mean([0.5, 8.0]), rng=0).estimate, 12)
    2.0
    """
    return _GeometricMean(*_weighted(values, weights), name="geometric_mean")


@recorded
def harmonic_mean(values: Source, *, weights: Source | None = None) -> Ratio:
    """Harmonic mean of a column: sum of weights / sum of weight / value.

    For rates, such as items per second of the same work. As ``scipy.stats.hmean``. Undefined where
    the weights sum to 0.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,) of positive numbers.
    weights
        Column name, or array of shape (n_rows,), 0 or more; 1 each by default. A weight belongs to
        its row and is resampled with it.

    Raises
    ------
    ValueError
        When run: a value is not positive, or too small to divide by, or a weight is negative.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.harmonic_mean([30.0, 60.0]), rng=0).estimate
    40.0
    """
    return _HarmonicMean(*_weighted(values, weights), name="harmonic_mean")


def _weighted(values: Source, weights: Source | None) -> list[Column]:
    given = {"values": values} if weights is None else {"values": values, "weights": weights}
    return [Column(source, "number", argument) for argument, source in given.items()]


def _check(columns: Sequence[Column], values: Floats, weights: Floats | None) -> None:
    refuse_rows(columns[0], values, values <= 0.0, "non-positive value", "values must be above 0")
    if weights is not None:
        refuse_rows(columns[1], weights, weights < 0.0, "negative weight", "weights are 0 or more")
