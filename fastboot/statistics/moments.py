"""Sums of powers that keep their digits: what variances, correlations and their like share.

The sum of squares about a mean is a difference of sums, and loses the digits of (mean / standard
deviation)^2. Columns that lie far from 0 are therefore moved by a constant first, which the value
does not depend on. Systems whose rows are swapped are moved alike (`Statistic.bind`).

The constant is read off a summary of the column, made block by block: it is the same whether the
column is in memory or read from files piece by piece.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK

__all__ = ["Summary", "origin", "spread", "summary"]

# A mean this many standard deviations from 0 costs 65,536 roundings of 1.1e-16, 11 digits remain,
# and is more than scores have: they stay as they are. Also, 256**2 * 2**-20 is well below 1:
# fastboot.intervals moves sums by a relative 2**-20 to see what rounding does.
_FAR = 256.0
_EPSILON = float(np.finfo(np.float64).eps)


class Summary(NamedTuple):
    """Of a number column.

    n : rows
    mean : of them
    squares : sum of squares about the mean
    low, high : the extremes
    """

    n: int
    mean: float
    squares: float
    low: float
    high: float

    def join(self, other: Summary) -> Summary:
        """Return the summary of both (Chan, Golub and LeVeque 1983)."""
        n = self.n + other.n
        apart = other.mean - self.mean
        return Summary(
            n,
            self.mean + apart * (other.n / n),
            self.squares + other.squares + apart * apart * (self.n * (other.n / n)),
            min(self.low, other.low),
            max(self.high, other.high),
        )


@np.errstate(over="ignore", invalid="ignore")  # what overflows is refused by name later
def summary(values: NDArray[np.float64]) -> Summary:
    """Return the summary of a column, shape (n,), n at least 1."""
    blocks = (values[start : start + BLOCK] for start in range(0, values.size, BLOCK))
    return reduce(Summary.join, map(_of_block, blocks))


def _of_block(values: NDArray[np.float64]) -> Summary:
    mean = float(values.mean())
    about = values - mean
    squares = float((about * about).sum())
    return Summary(values.size, mean, squares, float(values.min()), float(values.max()))


def origin(name: str, *columns: NDArray[np.float64] | Summary) -> float:
    """Return the constant to subtract: the roundest number near the columns, 0 if that is near.

    The number with the fewest binary digits within 256 standard deviations of each column's mean,
    so that the subtraction is exact. A constant column is near any number.

    name : of the statistic, for the message
    columns : shape (n_rows,) each, or summaries: one system's, or those of all systems that are
        swapped

    Raises
    ------
    ValueError
        No number is near all columns.
    """
    low, high = -math.inf, math.inf
    for column in columns:
        of = column if isinstance(column, Summary) else summary(column)
        far = _FAR * math.sqrt(of.squares / of.n)
        if far > 0.0 and of.low < of.high:
            low, high = max(low, of.mean - far), min(high, of.mean + far)
    if low > high:
        raise ValueError(
            f"{name}: a column of `a` or `b` lies more than {_FAR:g} standard deviations from 0, "
            "and not where that of the other lies, so swaps would lose its digits; subtract one "
            "constant from both first"
        )
    if low <= 0.0 <= high or not math.isfinite(low + high):
        return 0.0
    step = 2.0 ** math.frexp(high)[1]
    while math.ceil(low / step) * step > high:
        step /= 2.0
    return math.ceil(low / step) * step


def spread(n: Any, total: Any, squares: Any) -> Any:
    """Return the sum of squares about the mean: 0 where rounding leaves nothing of it.

    A sum of n numbers errs by at most n/2 x machine epsilon of their sizes (Higham 2002, section
    4.2), and the total counts twice, as its square: 1.5 n, and the rounding of the products.
    """
    about = squares - total * total / n
    return np.where(about <= 2.0 * n * _EPSILON * squares, 0.0, about)
