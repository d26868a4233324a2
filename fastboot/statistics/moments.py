"""Sums of powers that keep their digits: what variances, correlations and their like share.

The sum of squares about a mean is a difference of sums, and loses the digits of (mean / standard
deviation)^2. Columns that lie far from 0 are therefore moved by a constant first. Randomization
swaps rows between two systems and must move both alike, but each statistic sees its own columns
only. So the constant is 0 for columns that are not far from 0 and a coarse round number for the
others, which like systems share; where they do not, `check_origins` refuses.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_origins", "origin", "origin_terms", "spread"]

# A mean this many standard deviations from 0 costs 65,536 roundings of 1.1e-16, 11 digits remain,
# and is more than scores of two systems have: they are swapped as they are. Also, 256**2 * 2**-20
# is well below 1: fastboot.intervals moves sums by a relative 2**-20 to see what rounding does.
_FAR = 256.0
# What that move does to the sums of marks stays below this; mixtures of origins lie above it.
_MIXED = 2.0**-16
_EPSILON = float(np.finfo(np.float64).eps)


def origin(values: NDArray[np.float64]) -> float:
    """Return the constant to subtract: 0, or the roundest number near values that lie far from 0.

    values : shape (n_rows,)

    The number with the fewest binary digits within 256 standard deviations of the mean: mostly the
    same for two samples with means much closer than that. The subtraction is exact.
    """
    mean, far = float(values.mean()), _FAR * float(values.std())
    if not 0.0 < far < abs(mean) or values.min() == values.max():
        return 0.0
    step = 2.0 ** math.frexp(mean)[1]
    while math.ceil((mean - far) / step) * step > mean + far:
        step /= 2.0
    return math.ceil((mean - far) / step) * step


def origin_terms(*origins: float) -> tuple[float, float]:
    """Return two constant terms that tell `check_origins` when rows of two origins were mixed.

    Zeros, which cost nothing, where all origins are 0; else a number that other origins do not
    have, but for 1 in 9,973, and its square.
    """
    if not any(origins):
        return 0.0, 0.0
    # Neighbours differ by 5 %: half and half of them are 6e-4 apart in the check below.
    mark = 1.05 ** (hash(origins) % 9_973 - 4_986)
    return mark, mark * mark


def check_origins(name: str, n: Any, marks: Any, squares: Any) -> None:
    """Refuse sums over rows of different origins: (sum of marks)^2 < n x sum of squares.

    Raises
    ------
    ValueError
        Two systems were swapped whose columns lie far from 0, around different numbers.
    """
    if np.any(n * squares - marks * marks > _MIXED * n * squares):
        raise ValueError(
            f"{name}: a column of `a` or `b` lies more than {_FAR:g} standard deviations from 0, "
            "and not where that of the other lies, so swaps would lose its digits; subtract one "
            "constant from both first"
        )


def spread(n: Any, total: Any, squares: Any) -> Any:
    """Return the sum of squares about the mean: 0 where rounding leaves nothing of it.

    A sum of n numbers errs by at most n/2 x machine epsilon of their sizes (Higham 2002, section
    4.2), and the total counts twice, as its square: 1.5 n, and the rounding of the products.
    """
    about = squares - total * total / n
    return np.where(about <= 2.0 * n * _EPSILON * squares, 0.0, about)
