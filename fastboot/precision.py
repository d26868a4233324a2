"""How closely numbers were written, and how far their differences may be off.

Every number here is a float64, but many were rounded to a float32 before: what a model gives. As
float32, 0.3 - 0.2 and 0.2 - 0.1 differ by a relative 1e-7, and scores with one digit mean the same.
Such columns tell themselves: of 53 binary digits the last 29 are 0 in every number, and the three
before are not 0 in all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["DOUBLE", "SINGLE", "digits_of", "epsilon_of", "reach"]

Floats = NDArray[np.float64]

DOUBLE = float(np.finfo(np.float64).eps)
SINGLE = float(np.finfo(np.float32).eps)
# The last binary digits that float32 has, and those that only float64 has. Of numbers that float32
# rounded one in eight has none of these three; a half has one of them beyond 2**20 only.
_LAST = 0b111 << 29
_BEYOND = (1 << 29) - 1


def digits_of(values: Floats) -> int:
    """Return which of the last 32 binary digits any of the numbers has, as bits.

    The first three of these are not counted in whole numbers, which need no rounding; nor is looked
    further where one of the others is there. The union over blocks says as much as all rows.

    Parameters
    ----------
    values
        Shape (n,), n at least 1.
    """
    bits = values.view(np.uint64)
    found = 0
    for some in (bits[:64], bits):  # a few first: most doubles show it there
        found = int(np.bitwise_or.reduce(some)) & (_LAST | _BEYOND)
        if found & _BEYOND:
            return found
    if not found:
        return 0
    fractions = bits[values != np.rint(values)]
    return int(np.bitwise_or.reduce(fractions)) & _LAST


def epsilon_of(digits: int) -> float:
    """Return the spacing of the format that numbers were rounded to, relative to a number.

    Parameters
    ----------
    digits
        Of all rows, as `digits_of` has them.

    Returns
    -------
    float
        2**-23 for float32, else 2**-52.

    Examples
    --------
    >>> [epsilon_of(digits_of(np.array([0.1, 0.5], kind).astype(float))) for kind in "fd"]
    [1.1920928955078125e-07, 2.220446049250313e-16]
    """
    return SINGLE if digits & _LAST and not digits & _BEYOND else DOUBLE


def reach(a: Floats, b: Floats | None, exponent: int = 0, epsilon: float | None = None) -> Floats:
    """Return how far each difference a - b may be from what was meant.

    It carries half a unit in the last place of its a, its b and itself: epsilon (a + b) at most. In
    binary 0.3 - 0.2 is not 0.2 - 0.1, but scores with one digit mean that. Scores that are the same
    number differ by 0, exactly, however large they are.

    Parameters
    ----------
    a, b
        Shape (n_rows,), at least one row; no NaN. Without b, a has the differences.
    exponent
        What is returned is in units of 2**exponent.
    epsilon
        Of these numbers, where they are not all: else it is found in them.

    Returns
    -------
    array
        Shape (n_rows,).
    """
    if epsilon is None:
        epsilon = max(epsilon_of(digits_of(one)) for one in (a, b) if one is not None)
    with np.errstate(over="ignore"):
        sizes = np.abs(a * 2.0**-exponent)
        if b is None:
            return epsilon * sizes
        found: Floats = epsilon * (sizes + np.abs(b * 2.0**-exponent))
    found[a == b] = 0.0
    return found
