"""Logarithm and exponential with the same bits on every machine.

The C library's versions differ in the last bit between systems, and a draw that is accepted by
comparing logarithms would differ with them. These use only the four IEEE operations in a fixed
order. Within 4 units in the last place of the C library's over the ranges used (see the tests).
"""

from __future__ import annotations

from fastboot.compiler import exact

__all__ = ["exponential", "log_complement", "logarithm"]

_LOG_2 = 0.6931471805599453
_SQRT_2 = 1.4142135623730951
# log 2 in two parts, the first with 21 trailing zero bits: k * _LOG_2_HIGH is exact for |k| < 2^20.
_LOG_2_HIGH = 0.6931471803691238
_LOG_2_LOW = 1.9082149292705877e-10


@exact
def _log_of_ratio(s):
    """log((1 + s) / (1 - s)) = 2 (s + s^3/3 + s^5/5 + ...), for |s| <= 1/3.

    The 17th power of s^2 <= 1/9 over 35 is 2e-18 of the first term.
    """
    square = s * s
    series = 0.0
    for k in range(16, -1, -1):
        series = series * square + 1.0 / (2 * k + 1)
    return 2.0 * s * series


@exact
def logarithm(x):
    """Natural logarithm of a positive, finite, normal number below 2**62."""
    exponent = 0
    while x > _SQRT_2 * 65536.0:
        x *= 2.0**-16
        exponent += 16
    while x > _SQRT_2:
        x *= 0.5
        exponent += 1
    while x < _SQRT_2 * 2.0**-17:
        x *= 65536.0
        exponent -= 16
    while x < 0.5 * _SQRT_2:
        x *= 2.0
        exponent -= 1
    small = _log_of_ratio((x - 1.0) / (x + 1.0))
    return exponent * _LOG_2_HIGH + (small + exponent * _LOG_2_LOW)


@exact
def log_complement(p):
    """log(1 - p) for 0 <= p <= 1/2, without cancellation for small p."""
    return _log_of_ratio(-p / (2.0 - p))


@exact
def exponential(x):
    """exp(x) for -700 < x <= 0."""
    n = int(x / _LOG_2 - 0.5)
    rest = (x - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    # |rest| <= 0.35: the 16th term of the Taylor series is 3e-21.
    series = 1.0
    for k in range(15, 0, -1):
        series = 1.0 + series * rest / k
    for _ in range(-n):
        series *= 0.5
    return series
