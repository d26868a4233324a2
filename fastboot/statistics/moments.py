"""Sums of powers that keep their digits: what variances, correlations and their like share.

The sum of squares about a mean is a difference of sums, and loses the digits of (mean / standard
deviation)^2. Columns that lie far from 0 are therefore moved by a constant first, which the value
does not depend on. Systems whose rows are swapped are moved alike (`Statistic.bind`).

The constant is read off a summary of the column, made block by block: it is the same whether the
column is in memory or read from files piece by piece. It lies near the middle of the rows, not only
near their mean: a resample may miss the one row that is far from all others. Slices that are
answered apart may lie far from each other, and have constants of their own.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK

__all__ = ["Summary", "origin", "origins", "spread", "summary"]

# A mean this many standard deviations from 0 costs 65,536 roundings of 1.1e-16, 11 digits remain,
# and is more than scores have: they stay as they are. Also, 256**2 * 2**-20 is well below 1:
# fastboot.intervals moves sums by a relative 2**-20 to see what rounding does.
_FAR = 256.0
_EPSILON = float(np.finfo(np.float64).eps)
# Rows of a block whose quantiles are taken for the block's: the middle is needed to a fraction of
# 256 spreads only.
_SOME = 1_024
# Half the rows, or 90 % of them where half are equal: what few outliers do not widen.
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Summary(NamedTuple):
    """Of a number column.

    n : rows
    mean : of them
    squares : sum of squares about the mean
    low, high : the extremes
    quantiles : of each block
    """

    n: int
    mean: float
    squares: float
    low: float
    high: float
    quantiles: tuple[tuple[float, ...], ...]

    def near(self, *, middle: bool) -> tuple[float, float]:
        """Return the least and the largest number near the mean, and near the middle if asked."""
        far = _FAR * math.sqrt(self.squares / self.n)
        if not (far > 0.0 and self.low < self.high):
            return -math.inf, math.inf
        low, high = self.mean - far, self.mean + far
        if middle:
            q5, q25, q50, q75, q95 = np.median(np.array(self.quantiles), axis=0).tolist()
            width = _FAR * (q75 - q25 or q95 - q5)
            if 0.0 < width < far:
                low, high = max(low, q50 - width), min(high, q50 + width)
        return low, high

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
            self.quantiles + other.quantiles,
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
    some = np.sort(values[:: -(-values.size // _SOME)])
    quantiles = tuple(float(some[int(q * some.size)]) for q in _QUANTILES)
    return Summary(
        values.size, mean, squares, float(values.min()), float(values.max()), (quantiles,)
    )


def origin(name: str, *columns: NDArray[np.float64] | Summary) -> float:
    """Return the constant to subtract: the roundest number near the columns, 0 if that is near.

    The number with the fewest binary digits within 256 standard deviations of each column's mean
    and 256 widths of its middle, so that the subtraction is exact. A constant column is near any
    number.

    name : of the statistic, for the message
    columns : shape (n_rows,) each, or summaries: one system's, or those of all systems that are
        swapped

    Raises
    ------
    ValueError
        No number is near all columns.
    """
    summaries = [one if isinstance(one, Summary) else summary(one) for one in columns]
    for middle in (True, False):
        near = [one.near(middle=middle) for one in summaries]
        low = max((least for least, _ in near), default=-math.inf)
        high = min((most for _, most in near), default=math.inf)
        if low <= high:
            return _roundest(low, high)
    raise _apart(name)


def origins(
    name: str, codes: NDArray[np.int64], known: float, *columns: NDArray[np.float64]
) -> NDArray[np.float64] | float:
    """Return the constant to subtract from each row, where cells of rows are answered apart.

    That of all rows, `known`, but in cells that lie more than 256 of their own standard deviations
    from it; one number if there are none.

    name, columns : as in `origin`; shape (n_rows,), or (n_columns, n_rows), NaN for no value
    codes : cell of each row, shape (n_rows,)

    Raises
    ------
    ValueError
        No number is near all columns of a cell.
    """
    low, high = np.full((2, int(codes.max()) + 1), [[-math.inf], [math.inf]])
    for column in columns:
        there = ~np.isnan(column)
        own = np.broadcast_to(codes, column.shape)[there]
        values = column[there] - known
        n = np.maximum(1, np.bincount(own, minlength=low.size))
        means = np.bincount(own, values, low.size) / n
        squares = np.bincount(own, (values - means[own]) ** 2, low.size) / n
        far = np.where(squares > 0.0, _FAR * np.sqrt(squares), math.inf)
        low, high = np.maximum(low, means - far), np.minimum(high, means + far)
    if (low > high).any():
        raise _apart(name)
    moved = np.flatnonzero((low > 0.0) | (high < 0.0))
    if not moved.size:
        return known
    constants = np.full(low.size, known)
    constants[moved] = [_roundest(known + low[cell], known + high[cell]) for cell in moved]
    return constants[codes]


def _apart(name: str) -> ValueError:
    return ValueError(
        f"{name}: a column of `a` or `b` lies more than {_FAR:g} standard deviations from 0, and "
        "not where that of the other lies, so swaps would lose its digits; subtract one constant "
        "from both first"
    )


def _roundest(low: float, high: float) -> float:
    """Return the number from low to high with the fewest binary digits."""
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
