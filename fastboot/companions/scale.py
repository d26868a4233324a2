"""Scores in units of a power of two, so that no power of them overflows or underflows.

Powers of two change exponents only: at ordinary scales every figure keeps its bits. Figures without
a unit (t, p, skewness) are taken in these units; those with the unit of the scores are put back.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastboot.intervals import ConfidenceInterval

__all__ = [
    "LEAST_EXPONENT",
    "scaled",
    "scaled_differences",
    "unscaled",
    "unscaled_interval",
]

Floats = NDArray[np.float64]

# 2**-exponent must be finite; the least number, 2**-1074, is 2**-74 in units of this.
LEAST_EXPONENT = -1_000
# Of a difference of two finite numbers that overflows: it is below 2**1025.
_OVERFLOWN = 1_025


def _exponent_of(values: Floats) -> int:
    """Return the least e for which all numbers are below 2**e, `LEAST_EXPONENT` at least.

    Numbers that are NaN count for nothing; infinite ones are differences that overflowed.
    """
    largest = max(float(values.max()), -float(values.min()))
    if math.isnan(largest):
        largest = float(np.fmax.reduce(np.abs(values), initial=0.0))
    if largest == 0.0:
        return LEAST_EXPONENT
    return _OVERFLOWN if math.isinf(largest) else max(math.frexp(largest)[1], LEAST_EXPONENT)


def scaled(values: Floats, exponent: int) -> Floats:
    """Return numbers in units of 2**exponent, infinite where they are much larger."""
    with np.errstate(over="ignore"):
        return values * 2.0**-exponent


def scaled_differences(
    a: Floats, b: Floats | None, least_exponent: int = LEAST_EXPONENT
) -> tuple[Floats, int]:
    """Return a - b in units of 2**e, and e: all are below 1, or e is the least that was asked for.

    Without b, a has the differences.
    """
    with np.errstate(over="ignore"):
        differences = a if b is None else a - b
    exponent = max(least_exponent, _exponent_of(differences))
    # Scaled first only where subtracting overflows: rows with large scores may differ by little.
    if b is not None and exponent == _OVERFLOWN:
        return scaled(a, exponent) - scaled(b, exponent), exponent
    return scaled(differences, exponent), exponent


def unscaled(value: float, exponent: int) -> float:
    """Return a number in units of 2**exponent as it is: infinite or 0 where it has no float64."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def unscaled_interval(interval: ConfidenceInterval, exponent: int) -> ConfidenceInterval:
    """Return an interval in units of 2**exponent as it is."""
    low, high = (unscaled(limit, exponent) for limit in interval[:2])
    return interval._replace(low=low, high=high)
