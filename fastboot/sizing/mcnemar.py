"""The power of the exact McNemar test, for one number of items after another.

Powers given the number of discordant items are kept, and those of large numbers follow from their
neighbours: the power of 390 million items, with 145,000 likely numbers of discordant ones, takes
0.15 s, and that of a few more 0.03 s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastboot.power_formulas import tail_of

__all__ = ["ExactMcNemar"]

# Numbers of discordant items that are left out have this probability on either side.
_LEFT_OUT = 1e-13
# Up to here the critical counts are looked up one by one: for so few that is as quick.
_FEW = 64
# Discordant items that follow from one another; not more, for the rounding of their sums.
_PIECE = 16_384
# Probabilities that are held at a time.
_CELLS = 65_536
# SciPy's tails of 10^10 pairs are good to 3e-14.
_EQUAL = 1e-12
# Tails nearer to the level than this are computed one by one: sums of pieces are good to 1e-12.
_CLOSE = 1e-9

Floats = NDArray[np.float64]


class ExactMcNemar:
    """Power of the exact (conditional) McNemar test.

    The number of discordant pairs is binomial (n, discordance); of m of them, those that favour a
    are binomial (m, (1 + effect / discordance) / 2), and the test compares them with (m, 1/2).
    """

    def __init__(self, effect: float, discordance: float, alpha: float, alternative: str) -> None:
        self._discordance = discordance
        tail = tail_of(alpha, alternative)
        # A tail that equals the level, as half of them do at 1/2, may exceed it by rounding.
        self._tail = min(tail * (1.0 + _EQUAL), 0.5 * (1.0 + tail))
        favours_a = min(1.0, max(0.0, 0.5 * (1.0 + effect / discordance)))
        # Of an item to count for the side that is looked at, one or two.
        self._chances: list[float] = []
        if alternative != "less":
            self._chances.append(favours_a)
        if alternative != "greater":
            self._chances.append(1.0 - favours_a)
        # Powers given so many pairs: those from `_start` on.
        self._start = 0
        self._kept: Floats = np.empty(0)

    def power(self, n: int) -> float:
        """Return the power of n items."""
        return float(self.powers(np.array([n]))[0])

    def powers(self, numbers: NDArray[np.int64]) -> Floats:
        """Return the powers of numbers of items that are near each other."""
        from scipy.stats import binom

        few = binom.ppf(_LEFT_OUT, numbers, self._discordance).astype(np.int64)
        many = binom.isf(_LEFT_OUT, numbers, self._discordance).astype(np.int64)
        width = int((many - few).max()) + 1
        found = np.empty(len(numbers))
        at_a_time = max(1, _CELLS // width)
        for i in range(0, len(numbers), at_a_time):
            block = slice(i, i + at_a_time)
            start, stop = int(few[block].min()), int(few[block].max()) + width
            given = self._given(start, stop)
            pairs = few[block, None] + np.arange(width)
            chances = binom.pmf(pairs, numbers[block, None], self._discordance)
            found[block] = (given[pairs - start] * chances).sum(axis=1)
        return found

    def _given(self, start: int, stop: int) -> Floats:
        """Return the powers given `start`, ..., `stop` - 1 discordant pairs; keep them."""
        end = self._start + len(self._kept)
        if start > end or stop < self._start:
            self._start, end, self._kept = start, start, np.empty(0)
        if start < self._start or stop > end:
            before, after = self._made(start, self._start), self._made(end, stop)
            self._kept = np.concatenate([*before, self._kept, *after])
            self._start = min(start, self._start)
        return self._kept[start - self._start : stop - self._start]

    def _made(self, start: int, stop: int) -> list[Floats]:
        """Return the powers given `start`, ..., `stop` - 1 discordant pairs, in pieces."""
        pieces = []
        for first in range(start, stop, _PIECE):
            pairs = np.arange(first, min(first + _PIECE, stop), dtype=np.float64)
            pieces.append(self._one_by_one(pairs) if first < _FEW else self._along(pairs))
        return pieces

    def _one_by_one(self, pairs: Floats) -> Floats:
        """Return the powers given so many pairs, each by quantile and tail."""
        from scipy.stats import binom

        tail = self._tail
        critical = binom.isf(tail, pairs, 0.5)
        # SciPy's quantile may be one off where the tail is attained.
        critical += binom.sf(critical, pairs, 0.5) > tail
        critical -= binom.sf(critical - 1.0, pairs, 0.5) <= tail
        return sum(
            (binom.sf(critical, pairs, chance) for chance in self._chances), np.zeros(len(pairs))
        )

    def _along(self, pairs: Floats) -> Floats:
        """Return the powers given so many pairs, each the number before and one more.

        The critical counts are those of the normal law. Where one is wrong, which is seldom, the
        tail above it exceeds the level, or that from it on does not: these are looked up.
        """
        from scipy.special import ndtri
        from scipy.stats import binom

        tail = self._tail
        normal = np.ceil(0.5 * (pairs - float(ndtri(tail)) * np.sqrt(pairs) - 1.0))
        moved = np.diff(normal).clip(0.0, 1.0)
        critical = normal[0] + np.concatenate([[0.0], np.cumsum(moved)])
        above = _tails(critical, moved, pairs, 0.5)
        least = above + binom.pmf(critical, pairs, 0.5)
        right = (above <= tail * (1.0 - _CLOSE)) & (least > tail * (1.0 + _CLOSE))
        power = sum(
            (_tails(critical, moved, pairs, chance) for chance in self._chances),
            np.zeros(len(pairs)),
        )
        power[~right] = self._one_by_one(pairs[~right])
        return power


def _tails(critical: Floats, moved: Floats, pairs: Floats, chance: float) -> Floats:
    """Return the probabilities of more than `critical` of consecutive numbers of pairs.

    One more pair adds the chance that it makes critical + 1 of `critical`. If the critical count
    moves up by one as well, it takes away that of critical + 1 to stay so many.

    moved : 0 or 1, of all but the first
    chance : of a pair to count
    """
    from scipy.stats import binom

    mass = binom.pmf(critical[:-1] + moved, pairs[:-1], chance)
    steps = np.where(moved, chance - 1.0, chance) * mass
    start = float(binom.sf(critical[0], pairs[0], chance))
    return start + np.concatenate([[0.0], np.cumsum(steps)])
