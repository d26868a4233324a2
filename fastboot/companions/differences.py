"""Differences of two columns in one pass: their moments, and the sums of groups.

Chunks fit into the cache; each is summed around its own mean, and chunks are joined by the update
of Chan, Golub and LeVeque (1983), for third and fourth powers by that of Pébay (2008). So a mean of
1e9 costs no digit of a standard deviation of 1, and rows may come batch by batch. Moments are those
of differences in units of a power of two: fourth powers of 1e-90 or 1e80 have no float64.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.companions.scale import LEAST_EXPONENT, scaled, scaled_differences, unscaled
from fastboot.precision import DOUBLE, SINGLE, digits_of, epsilon_of, reach

__all__ = ["SHAPIRO_ROWS", "Differences", "Moments", "moments"]

Floats = NDArray[np.float64]

# Of float64, 64 KiB: with squares and deviations they stay in a cache of 256 KiB.
_CHUNK = 8_192
# Royston's (1995) p-value of Shapiro-Wilk is calibrated up to here.
SHAPIRO_ROWS = 5_000
# 2**124 sums below this have a sum; in units of 2**124 all numbers are below it.
_HEADROOM = 124
_LARGE = 2.0 ** (1_024 - _HEADROOM)


class Moments(NamedTuple):
    """Moments of some numbers, whose fourth powers must have a float64.

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

    def scaled(self, exponent: int) -> Moments:
        """Return the moments of the numbers in units of 2**exponent."""
        powers = (1, 2, 3, 4, 1, 1)
        return Moments(
            self.n,
            *(unscaled(one, -exponent * p) for one, p in zip(self[1:], powers, strict=True)),
        )

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
class _Sum:
    """Sum of a column: of its chunks, in units of 2**exponent."""

    exponent: int = 0
    chunks: list[float] = field(default_factory=list)

    def add(self, chunk: Floats) -> None:
        """Add numbers. Sums do not underflow; where they might overflow, the units grow, once."""
        if not self.exponent:
            with np.errstate(over="ignore", invalid="ignore"):
                total = float(chunk.sum())
            if abs(total) < _LARGE:
                self.chunks.append(total)
                return
            self.exponent = _HEADROOM
            self.chunks = [unscaled(one, -_HEADROOM) for one in self.chunks]
        self.chunks.append(float(scaled(chunk, self.exponent).sum()))

    def mean(self, n: int) -> float:
        """Return the mean of n numbers."""
        return unscaled(math.fsum(self.chunks) / n, self.exponent)


@dataclass(eq=False)
class Differences:
    """What a paired t test needs of a - b, gathered batch by batch.

    All but the means of a and b is in units of 2**exponent.

    Attributes
    ----------
    exponent
        The least for which all differences are below 1 in these units; it grows as they come.
    pivot
        The first difference: all are counted from it, so a mean far from 0 costs no digits.
    shifted
        Moments of the differences less the pivot.
    """

    exponent: int = LEAST_EXPONENT
    pivot: float = math.nan
    shifted: Moments = field(default_factory=Moments)
    _sums: tuple[_Sum, _Sum] = field(default_factory=lambda: (_Sum(), _Sum()))
    # Between these lie numbers that may be all differences, by the precision of the scores, which
    # is known when all are; and the digits that tell it.
    _common: dict[float, tuple[float, float]] = field(
        default_factory=lambda: dict.fromkeys((DOUBLE, SINGLE), (-math.inf, math.inf))
    )
    _digits: list[int] = field(default_factory=lambda: [0, 0])
    _first: list[Floats] = field(default_factory=list)
    _groups: dict[Hashable, list[float]] = field(default_factory=dict)

    def add(self, a: Floats, b: Floats | None, groups: Groups | None = None) -> None:
        """Add rows: shape (n,) each; without b, a has the differences.

        groups : of the rows; a group may come back in another batch
        """
        if not len(a):
            return
        per_row = np.empty((2, len(a))) if groups is not None else None
        for start in range(0, len(a), _CHUNK):
            some = slice(start, start + _CHUNK)
            before = self.exponent
            self._add_chunk(a[some], None if b is None else b[some], per_row, some)
            if per_row is not None and self.exponent > before:
                per_row[:, :start] = np.ldexp(per_row[:, :start], before - self.exponent)
        if groups is not None and per_row is not None:
            self._add_groups(groups, *per_row)

    def _make_room(self, exponent: int) -> None:
        """Put all that is known into units of 2**exponent."""
        more, self.exponent = exponent - self.exponent, exponent
        if not self.shifted.n:
            return
        self.pivot = unscaled(self.pivot, -more)
        self.shifted = self.shifted.scaled(more)
        self._common = {
            epsilon: (unscaled(low, -more), unscaled(high, -more))
            for epsilon, (low, high) in self._common.items()
        }
        self._first = [np.ldexp(one, -more) for one in self._first]
        for known in self._groups.values():
            known[0], known[2] = unscaled(known[0], -more), unscaled(known[2], -more)

    def _add_chunk(self, a: Floats, b: Floats | None, per_row: Floats | None, some: slice) -> None:
        differences, exponent = scaled_differences(a, b, self.exponent)
        if exponent > self.exponent:
            self._make_room(exponent)
        if not self.shifted.n:
            self.pivot = float(differences[0])
        n_first = SHAPIRO_ROWS - self.shifted.n
        if n_first > 0:
            self._first.append(np.array(differences[:n_first]))
        shifted = differences - self.pivot
        self.shifted = self.shifted.join(_of_chunk(shifted))
        for values, total in zip((a, b), self._sums, strict=True):
            if values is not None:
                total.add(values)
        low, high = self._common[SINGLE]
        if low <= high or per_row is not None:
            self._compare(a, b, differences)
            if per_row is not None:
                per_row[:, some] = shifted, reach(a, b, self.exponent, DOUBLE)

    def _compare(self, a: Floats, b: Floats | None, differences: Floats) -> None:
        """Look whether all differences may still be equal."""
        for place, values in enumerate((a, b)):
            if values is not None:
                self._digits[place] |= digits_of(values)
        for epsilon, (low, high) in self._common.items():
            far = reach(a, b, self.exponent, epsilon)
            self._common[epsilon] = (
                max(low, float((differences - far).max())),
                min(high, float((differences + far).min())),
            )

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
        """Mean difference, in units of 2**exponent."""
        return self.pivot + self.shifted.mean

    @property
    def mean_a(self) -> float:
        """Mean of a."""
        return self._sums[0].mean(self.n_rows)

    @property
    def mean_b(self) -> float:
        """Mean of b, 0 without it."""
        return self._sums[1].mean(self.n_rows)

    @property
    def first(self) -> Floats:
        """The first differences, no more than `SHAPIRO_ROWS` of them."""
        return np.concatenate(self._first)

    @property
    def _epsilon(self) -> float:
        return max(map(epsilon_of, self._digits))

    @property
    def equal(self) -> bool:
        """Whether all differences may be equal in exact arithmetic: one number is near them all."""
        low, high = self._common[self._epsilon]
        return low <= high

    @property
    def zero(self) -> bool:
        """Whether all differences may be 0 in exact arithmetic."""
        low, high = self._common[self._epsilon]
        return low <= 0.0 <= high

    @property
    def n_groups(self) -> int:
        """Groups met, 0 without any."""
        return len(self._groups)

    @property
    def group_sums(self) -> tuple[Floats, Floats]:
        """Sums of deviations from the mean by group, and how far rounding may move each."""
        sums, sizes, far = np.array(list(self._groups.values())).T
        far *= self._epsilon / DOUBLE
        return sums - sizes * self.shifted.mean, far + sizes * (far.sum() / self.n_rows)


class Groups(NamedTuple):
    """Groups of some rows: shape (n_rows,), int64, and the value that each code stands for."""

    codes: NDArray[np.int64]
    values: Sequence[Hashable]
