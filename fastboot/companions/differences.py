"""Differences of two columns in one pass: their moments, and the sums of groups.

Chunks fit into the cache; each is summed around its own mean, and chunks are joined by the update
of Chan, Golub and LeVeque (1983), for third and fourth powers by that of Pébay (2008). So a mean of
1e9 costs no digit of a standard deviation of 1, and rows may come batch by batch.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHAPIRO_ROWS", "Differences", "Moments", "moments"]

Floats = NDArray[np.float64]

# Of float64, 64 KiB: with squares and deviations they stay in a cache of 256 KiB.
_CHUNK = 8_192
# Royston's (1995) p-value of Shapiro-Wilk is calibrated up to here.
SHAPIRO_ROWS = 5_000
_EPSILON = float(np.finfo(np.float64).eps)


class Moments(NamedTuple):
    """Moments of some numbers.

    n : how many
    mean : of them
    m2, m3, m4 : sums of powers of deviations from the mean
    low, high : the extremes
    """

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0
    m3: float = 0.0
    m4: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    def join(self, other: Moments) -> Moments:
        """Return the moments of both together (Chan et al. 1983; Pébay 2008, equations 3.1)."""
        if not self.n or not other.n:
            return self if self.n else other
        (p, mean_p, p2, p3, p4, *_), (q, mean_q, q2, q3, q4, *_) = self, other
        n = p + q
        apart = mean_q - mean_p
        step = apart / n
        m2 = p2 + q2 + apart * step * p * q
        m3 = p3 + q3 + apart * step * step * p * q * (p - q) + 3.0 * step * (p * q2 - q * p2)
        m4 = (
            p4 + q4
            + apart * step**3 * p * q * (p * p - p * q + q * q)
            + 6.0 * step * step * (p * p * q2 + q * q * p2)
            + 4.0 * step * (p * q3 - q * p3)
        )  # fmt: skip
        extremes = min(self.low, other.low), max(self.high, other.high)
        return Moments(n, mean_p + step * q, m2, m3, m4, *extremes)

    @property
    def standard_deviation(self) -> float:
        """With ddof = 1; NaN for one number."""
        return math.sqrt(self.m2 / (self.n - 1)) if self.n > 1 else math.nan

    @property
    def skewness(self) -> float:
        """g1, the third standardised moment; NaN where all are equal."""
        return self.m3 * math.sqrt(self.n) / self.m2**1.5 if self.m2 > 0.0 else math.nan

    @property
    def excess_kurtosis(self) -> float:
        """g2, the fourth standardised moment less 3; NaN where all are equal."""
        return self.n * self.m4 / self.m2**2 - 3.0 if self.m2 > 0.0 else math.nan


def moments(values: Floats) -> Moments:
    """Return the moments of numbers, shape (n,), n at least 1."""
    found = Moments()
    for start in range(0, len(values), _CHUNK):
        found = found.join(_of_chunk(values[start : start + _CHUNK]))
    return found


def _of_chunk(values: Floats) -> Moments:
    mean = float(values.mean())
    deviations = values - mean
    # The mean is rounded: what is left of it is taken out too.
    rest = float(deviations.mean())
    deviations -= rest
    squares = deviations * deviations
    return Moments(
        len(values), mean + rest, float(squares.sum()), float(squares @ deviations),
        float(squares @ squares), float(values.min()), float(values.max()),
    )  # fmt: skip


@dataclass(eq=False)
class Differences:
    """What a paired t test needs of a - b, gathered batch by batch.

    Attributes
    ----------
    pivot
        The first difference: all are counted from it, so a mean far from 0 costs no digits.
    shifted
        Moments of the differences less the pivot.
    sums_a, sums_b
        Of the chunks of the two columns.
    """

    pivot: float = math.nan
    shifted: Moments = field(default_factory=Moments)
    sums_a: list[float] = field(default_factory=list)
    sums_b: list[float] = field(default_factory=list)
    _common: tuple[float, float] = (-math.inf, math.inf)
    _first: list[Floats] = field(default_factory=list)
    _groups: dict[Hashable, list[float]] = field(default_factory=dict)

    def add(self, a: Floats, b: Floats | None, groups: Groups | None = None) -> None:
        """Add rows: shape (n,) each; without b, a has the differences.

        groups : of the rows; a group may come back in another batch
        """
        if not self.shifted.n and len(a):
            self.pivot = float(a[0] if b is None else a[0] - b[0])
        per_row = np.empty((2, len(a))) if groups is not None else None
        for start in range(0, len(a), _CHUNK):
            some = slice(start, start + _CHUNK)
            self._add_chunk(a[some], None if b is None else b[some], per_row, some)
        if groups is not None and per_row is not None:
            self._add_groups(groups, *per_row)

    def _add_chunk(self, a: Floats, b: Floats | None, per_row: Floats | None, some: slice) -> None:
        differences = a if b is None else a - b
        n_first = SHAPIRO_ROWS - self.shifted.n
        if n_first > 0:
            self._first.append(np.array(differences[:n_first]))
        shifted = differences - self.pivot
        self.shifted = self.shifted.join(_of_chunk(shifted))
        for values, sums in ((a, self.sums_a), (b, self.sums_b)):
            if values is not None:
                sums.append(float(values.sum()))
        if self.equal or per_row is not None:
            reach = _reach(a, b)
            low, high = self._common
            self._common = (
                max(low, float((differences - reach).max())),
                min(high, float((differences + reach).min())),
            )
            if per_row is not None:
                per_row[:, some] = shifted, reach

    def _add_groups(self, groups: Groups, shifted: Floats, reach: Floats) -> None:
        n = len(groups.values)
        sums, reaches = (np.bincount(groups.codes, one, n).tolist() for one in (shifted, reach))
        sizes = np.bincount(groups.codes, minlength=n).tolist()
        for value, total, size, far in zip(groups.values, sums, sizes, reaches, strict=True):
            if not size:  # all its rows were dropped
                continue
            known = self._groups.setdefault(value, [0.0, 0.0, 0.0])
            known[0] += total
            known[1] += size
            known[2] += far

    @property
    def n_rows(self) -> int:
        """Rows added."""
        return self.shifted.n

    @property
    def mean(self) -> float:
        """Mean difference."""
        return self.pivot + self.shifted.mean

    @property
    def mean_a(self) -> float:
        """Mean of a."""
        return math.fsum(self.sums_a) / self.n_rows

    @property
    def mean_b(self) -> float:
        """Mean of b, 0 without it."""
        return math.fsum(self.sums_b) / self.n_rows

    @property
    def first(self) -> Floats:
        """The first differences, no more than `SHAPIRO_ROWS` of them."""
        return np.concatenate(self._first)

    @property
    def equal(self) -> bool:
        """Whether all differences may be equal in exact arithmetic: one number is near them all."""
        low, high = self._common
        return low <= high

    @property
    def zero(self) -> bool:
        """Whether all differences may be 0 in exact arithmetic."""
        low, high = self._common
        return low <= 0.0 <= high

    @property
    def n_groups(self) -> int:
        """Groups met, 0 without any."""
        return len(self._groups)

    @property
    def group_sums(self) -> tuple[Floats, Floats]:
        """Sums of deviations from the mean by group, and how far rounding may move each."""
        sums, sizes, reach = np.array(list(self._groups.values())).T
        return sums - sizes * self.shifted.mean, reach + sizes * (reach.sum() / self.n_rows)


def _reach(a: Floats, b: Floats | None) -> Floats:
    """Return how far each difference may be from what was meant.

    It carries half a unit in the last place of its a, its b and itself: eps (a + b) at most. Equal
    scores differ by 0, exactly.
    """
    if b is None:
        return _EPSILON * np.abs(a)
    reach: Floats = _EPSILON * (np.abs(a) + np.abs(b))
    reach[a == b] = 0.0
    return reach


class Groups(NamedTuple):
    """Groups of some rows: shape (n_rows,), int64, and the value that each code stands for."""

    codes: NDArray[np.int64]
    values: Sequence[Hashable]
