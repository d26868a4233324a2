"""Confidence intervals from replicates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "METHODS",
    "ConfidenceInterval",
    "check_level",
    "check_method",
    "interval",
    "limits",
    "standard_error",
    "standard_errors",
    "tails_of",
]

# "studentized" also needs standard errors of replicates: fastboot.analytic.
METHODS = ("percentile", "basic", "normal", "bca", "studentized")

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
        The method used; "percentile" where the one asked for was not prepared or is undefined.
    note
        Why the method is another than the one asked for, or what was left out; else empty.
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
    tails, note = tails_of(confidence_level, alternative), ""
    if method == "bca":
        tails, note = _bca_levels(defined, estimate, tails, acceleration, rounding)
    low, high = limits(
        defined[None], estimate, tails, "percentile" if method == "bca" else method, alternative
    )
    return ConfidenceInterval(
        float(low[0]), float(high[0]), confidence_level, "percentile" if note else method, note
    )


def tails_of(confidence_level: float, alternative: str) -> tuple[float, float]:
    """Return the levels of the two limits of an equal-tailed or one-sided interval."""
    tail = 1.0 - confidence_level
    return (tail / 2.0, 1.0 - tail / 2.0) if alternative == "two-sided" else (tail, 1.0 - tail)


def limits(
    defined: Floats,
    estimates: Floats | float,
    tails: tuple[float, float],
    method: str,
    alternative: str,
) -> tuple[Floats, Floats]:
    """Return the limits of many intervals, shape (n,) each.

    Parameters
    ----------
    defined
        Shape (n, n_resamples), replicates without NaN.
    estimates
        Shape (n,), or one for all.
    tails
        Levels of the two limits.
    method
        "percentile", "basic" or "normal".
    alternative
        As in :func:`fastboot.bootstrap`.
    """
    low: Floats
    high: Floats
    if method == "normal":
        from scipy.special import ndtri

        below, above = ndtri(tails)
        errors = standard_errors(defined)
        low, high = estimates + below * errors, estimates + above * errors
    else:
        low, high = _quantiles(defined, tails)
        if method == "basic":
            low, high = 2.0 * estimates - high, 2.0 * estimates - low
    if alternative == "greater":
        high = np.full_like(high, np.inf)
    elif alternative == "less":
        low = np.full_like(low, -np.inf)
    return low, high


def _quantiles(defined: Floats, levels: Sequence[float]) -> list[Floats]:
    """Return what np.quantile(defined, levels, axis=1) does, bit by bit, a column at a time.

    Of a thousand replicates it takes six times as long: to see which of its methods is meant.
    """
    last = defined.shape[1] - 1
    places = [last * level for level in levels]
    lower = [int(place) for place in places]
    upper = [min(low + 1, last) for low in lower]
    ordered = np.partition(defined, sorted({*lower, *upper}), axis=1)
    found: list[Floats] = []
    for place, low, high in zip(places, lower, upper, strict=True):
        start, end = ordered[:, low], ordered[:, high]
        share = place - low if low < last else 1.0
        gap = end - start
        # From the nearer end.
        found.append(start + gap * share if share < 0.5 else end - gap * (1.0 - share))
    return found


def standard_error(defined: Floats) -> float:
    """Return the standard deviation (ddof = 1) of replicates, shape (n_resamples,), no NaN."""
    return float(standard_errors(defined[None])[0])


def standard_errors(defined: Floats) -> Floats:
    """Return the standard deviations (ddof = 1) of replicates; exactly 0 where all are equal.

    Parameters
    ----------
    defined
        Shape (n, n_resamples), no NaN; NaN is returned for fewer than two resamples.
    """
    if defined.shape[1] < 2:
        return np.full(len(defined), np.nan)
    # The mean of n times 0.7 is not 0.7: deviations from a replicate are 0, from the mean 1e-16. In
    # units of a power of two, as squares of 1e-200 and 1e200 have no float64; no bit is another.
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = defined - defined[:, :1]
        _, exponents = np.frexp(np.abs(deviations).max(axis=1))
        scaled = np.ldexp(deviations, -exponents[:, None])
        errors: Floats = np.ldexp(scaled.std(axis=1, ddof=1), exponents)
    return errors


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
