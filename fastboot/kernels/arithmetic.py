"""Logarithm and exponential with the same bits on every machine.

The C library's versions differ in the last bit between systems, and a draw that is accepted by
comparing logarithms would differ with them. These use only the four IEEE operations in a fixed
order. Within 1 (logarithms) and 4 (exponential) units in the last place of the C library's over the
ranges used (see the tests).
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact

__all__ = ["exponential", "log_complement", "logarithm"]

_LOG_2 = 0.6931471805599453
# log 2 in two parts, the first with 21 trailing zero bits: k * _LOG_2_HIGH is exact for |k| < 2^20.
_LOG_2_HIGH = 0.6931471803691238
_LOG_2_LOW = 1.9082149292705877e-10

# A float64 as an integer (IEEE 754): 52 bits of fraction, above them the exponent plus 1023.
_FRACTION_BITS = np.uint64(52)
_FRACTION = np.uint64(0x000F_FFFF_FFFF_FFFF)
_ONE = np.uint64(0x3FF0_0000_0000_0000)
_ROOT_HALF = np.uint64(0x3FE6_A09E_667F_3BCD)
_TWO_52 = np.uint64(0x4330_0000_0000_0000)  # its last bit is worth 1


@exact
def _log_one_plus(f, n_terms):
    """log(1 + f) = f - f^2/2 + s (f^2/2 + r) with s = f / (2 + f), r = 2 s^2/3 + 2 s^4/5 + ...

    It is 2 artanh(s), written so that the rounding of s counts little (as in Sun's fdlibm).
    """
    s = f / (2.0 + f)
    square = s * s
    r = 0.0
    for k in range(n_terms, 0, -1):
        r = (r + 2.0 / (2 * k + 1)) * square
    half = 0.5 * f * f
    return f - (half - s * (half + r))


@exact
def logarithm(x):
    """Natural logarithm of a positive, finite, normal number. No branches: a loop vectorises.

    x = 2^k m with m between the roots of 1/2 and 2, read off the bits.
    """
    bits = np.float64(x).view(np.uint64) + (_ONE - _ROOT_HALF)
    m = np.uint64((bits & _FRACTION) + _ROOT_HALF).view(np.float64)
    k = np.uint64(bits >> _FRACTION_BITS | _TWO_52).view(np.float64) - (2.0**52 + 1023.0)
    # s^2 <= 0.0295: the first term left out, 2 s^21/21, is 3e-17 of the logarithm.
    return k * _LOG_2_HIGH + (_log_one_plus(m - 1.0, 9) + k * _LOG_2_LOW)


@exact
def log_complement(p):
    """log(1 - p) for 0 <= p <= 1/2, without cancellation for small p."""
    # s^2 <= 1/9: the first term left out, 2 s^35/35, is 2e-18 of the logarithm.
    return _log_one_plus(-p, 16)


@exact
def exponential(x):
    """exp(x) for -700 < x <= 0. No branches: a loop vectorises."""
    n = np.ceil(x / _LOG_2 - 0.5)
    rest = (x - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    # |rest| <= 0.35: the 16th term of the Taylor series is 3e-21.
    series = 1.0
    for k in range(15, 0, -1):
        series = 1.0 + series * (rest * (1.0 / k))
    # 2^n from its bits, as in `logarithm`.
    power = np.float64(n + (2.0**52 + 1023.0)).view(np.uint64) << _FRACTION_BITS
    return series * np.uint64(power).view(np.float64)
