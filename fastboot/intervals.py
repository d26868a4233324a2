"""Confidence intervals from replicates, and the leave-one-unit-out figures that they need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.units import Units

__all__ = [
    "METHODS",
    "ConfidenceInterval",
    "acceleration",
    "check_level",
    "check_method",
    "interval",
    "rounding",
    "standard_error",
]

METHODS = ("percentile", "basic", "normal", "bca")
# Units whose leave-one-out values are computed at a time: 0.5 MB per term.
_CHUNK = 65_536
_EPSILON = float(np.finfo(np.float64).eps)

Floats = NDArray[np.float64]


class ConfidenceInterval(NamedTuple):
    """A confidence interval, and how it was made.

    Attributes
    ----------
    low, high
        Limits; infinite on the open side of a one-sided interval, NaN where undefined.
    confidence_level
        Nominal coverage.
    method
        The method used; "percentile" where BCa was asked for and is undefined.
    note
        Why the method is another than the one asked for; else empty.
    """

    low: float
    high: float
    confidence_level: float
    method: str
    note: str = ""


def acceleration(units: Units, value: Callable[[Sequence[Any]], Any]) -> float:
    """Return the acceleration of the BCa interval, from all leave-one-unit-out values.

    Sum of d^3 / (6 (sum of d^2)^1.5), where d is the mean leave-one-unit-out value less the value
    without this unit (Efron 1987). Leaving out a unit is a subtraction from the sums, so this costs
    O(n_units), whatever the number of resamples.

    Parameters
    ----------
    units
        The sample; classes count with their multiplicity.
    value
        From the list of sums to the value.

    Returns
    -------
    float
        NaN where a value is undefined or none varies.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 it is undefined
        return _acceleration(units, value)


def _acceleration(units: Units, value: Callable[[Sequence[Any]], Any]) -> float:
    totals = units.totals()
    observed = np.float64(value(totals))
    powers = np.zeros(3)
    for start in range(0, units.varying.shape[1], _CHUNK):
        chunk = units.varying[:, start : start + _CHUNK]
        left = [t - u for t, u in zip(totals, units.expand(chunk, 1), strict=True)]
        # The first-order part of d; its mean is O(1 / n) and is taken out below.
        change = np.broadcast_to(observed - value(left), chunk.shape[1:])
        counts = 1.0 if units.counts is None else units.counts[start : start + _CHUNK]
        weighted = counts * change
        square = change * change
        powers += weighted.sum(), (weighted * change).sum(), (weighted * square).sum()
    n = units.n_units
    mean = powers[0] / n
    second = powers[1] - n * mean**2
    third = powers[2] - 3.0 * mean * powers[1] + 2.0 * n * mean**3
    # Below, all d are rounding errors of the value.
    smallest = n * (n * _EPSILON * abs(observed)) ** 2
    if not second > smallest:
        return math.nan
    return float(third / (6.0 * second**1.5))


def rounding(units: Units, value: Callable[[Sequence[Any]], Any], sizes: Sequence[float]) -> float:
    """Return how far two values may differ that are equal in exact arithmetic.

    n_units x machine epsilon x sum over terms of |derivative| x sum of |term|: it scales
    with the size of the terms, not with the value, which may cancel to 0.

    Parameters
    ----------
    units, value
        As in `acceleration`.
    sizes
        For each term the sum of absolute values.
    """
    return units.n_units * _EPSILON * _sensitivity(units.totals(), sizes, value)


def _sensitivity(
    totals: Sequence[float], sizes: Sequence[float], value: Callable[[Sequence[Any]], Any]
) -> float:
    """Sum over terms of |derivative of the value| x size, by central differences."""
    step = 2.0**-20  # error of second order: 1e-12 of the derivative
    error = 0.0
    for i, size in enumerate(sizes):
        above, below = list(totals), list(totals)
        above[i] += step * size
        below[i] -= step * size
        slope = abs(float(value(above)) - float(value(below))) / (2.0 * step)
        error += slope if math.isfinite(slope) else abs(float(value(totals)))
    return error if math.isfinite(error) else 0.0


def interval(
    replicates: Floats,
    estimate: float,
    *,
    confidence_level: float,
    method: str,
    alternative: str,
    acceleration: float,
    rounding: float,
) -> ConfidenceInterval:
    """Return a confidence interval.

    Parameters
    ----------
    replicates
        Shape (n_resamples,); NaN (undefined) is left out.
    estimate
        The observed value.
    confidence_level, method, alternative
        As in :func:`fastboot.bootstrap`.
    acceleration, rounding
        Of the sample, for BCa.
    """
    defined = replicates[~np.isnan(replicates)]
    if defined.size == 0 or math.isnan(estimate):
        return ConfidenceInterval(math.nan, math.nan, confidence_level, method)
    tail = 1.0 - confidence_level
    tails = (tail / 2.0, 1.0 - tail / 2.0) if alternative == "two-sided" else (tail, 1.0 - tail)
    note = ""
    if method == "bca":
        levels, note = _bca_levels(defined, estimate, tails, acceleration, rounding)
        if note:
            method = "percentile"
        low, high = _quantiles(defined, levels)
    elif method == "normal":
        from scipy.special import ndtri

        low, high = estimate + ndtri(tails) * standard_error(defined)
    else:
        low, high = _quantiles(defined, tails)
        if method == "basic":
            low, high = 2.0 * estimate - high, 2.0 * estimate - low
    if alternative == "greater":
        high = math.inf
    elif alternative == "less":
        low = -math.inf
    return ConfidenceInterval(float(low), float(high), confidence_level, method, note)


def standard_error(defined: Floats) -> float:
    """Return the standard deviation (ddof = 1) of replicates; exactly 0 where all are equal.

    Parameters
    ----------
    defined
        Shape (n,), no NaN; NaN is returned for fewer than two.
    """
    if defined.size < 2:
        return math.nan
    # The mean of n times 0.7 is not 0.7: deviations from a replicate are 0, from the mean 1e-16.
    return float((defined - defined[0]).std(ddof=1))


def _quantiles(defined: Floats, levels: tuple[float, float]) -> tuple[float, float]:
    low, high = np.quantile(defined, levels)
    return float(low), float(high)


def _bca_levels(
    defined: Floats,
    estimate: float,
    tails: tuple[float, float],
    acceleration: float,
    rounding: float,
) -> tuple[tuple[float, float], str]:
    """Levels of the bias-corrected and accelerated interval (Efron 1987), or why there are none.

    Replicates equal to the estimate count half below it (mid-rank).
    """
    from scipy.special import ndtr, ndtri

    below = np.count_nonzero(defined < estimate - rounding)
    above = np.count_nonzero(defined > estimate + rounding)
    share = (below + 0.5 * (defined.size - below - above)) / defined.size
    if math.isnan(acceleration):
        return tails, "BCa is undefined: leave-one-out values do not vary or are undefined"
    if not 0.0 < share < 1.0:
        return tails, "BCa is undefined: all replicates lie on one side of the estimate"
    bias = ndtri(share)
    shifted = bias + ndtri(tails)
    stretch = 1.0 - acceleration * shifted
    if not (stretch > 0.0).all():
        return tails, "BCa is undefined: the acceleration is too large for this confidence level"
    low, high = ndtr(bias + shifted / stretch)
    return (float(low), float(high)), ""


def check_method(method: object) -> str:
    """Return the word, or raise ValueError."""
    if method not in METHODS:
        raise ValueError(f"`method` is {method!r}; choose one of {', '.join(METHODS)}")
    return str(method)


def check_level(confidence_level: object) -> float:
    """Return the level, or raise TypeError or ValueError."""
    if isinstance(confidence_level, bool) or not isinstance(
        confidence_level, int | float | np.floating | np.integer
    ):
        raise TypeError(
            f"`confidence_level` is {confidence_level!r}; it must be a number, such as 0.95"
        )
    if not 0.0 < confidence_level < 1.0:
        raise ValueError(
            f"`confidence_level` is {confidence_level}; it must lie between 0 and 1, such as 0.95"
        )
    return float(confidence_level)
