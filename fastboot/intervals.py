"""Confidence intervals from replicates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "METHODS",
    "ConfidenceInterval",
    "check_level",
    "check_method",
    "interval",
    "standard_error",
]

METHODS = ("percentile", "basic", "normal", "bca")

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


def interval(
    replicates: Floats,
    estimate: float,
    *,
    confidence_level: float,
    method: str,
    alternative: str,
    acceleration: float | None,
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
    acceleration: float | None,
    rounding: float,
) -> tuple[tuple[float, float], str]:
    """Levels of the bias-corrected and accelerated interval (Efron 1987), or why there are none.

    Replicates equal to the estimate count half below it (mid-rank).
    """
    from scipy.special import ndtr, ndtri

    below = np.count_nonzero(defined < estimate - rounding)
    above = np.count_nonzero(defined > estimate + rounding)
    share = (below + 0.5 * (defined.size - below - above)) / defined.size
    if acceleration is None:
        return tails, 'BCa was not prepared: it costs a pass for each unit, ask with method="bca"'
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
