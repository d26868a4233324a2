"""The smallest number of items from which on the exact power of McNemar's test is reached."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.power_formulas import MOST

__all__ = ["Waves", "first_reaching", "settled"]

# Waves below this are rounding, see `Waves`.
_CALM = 1e-9
# Looks at a wave: enough that between two neighbours it turns once at most.
_LOOKS = 24
# Numbers whose powers are asked for at a time.
_BLOCK = 65_536

# Powers of numbers that are near each other.
Powers = Callable[[NDArray[np.int64]], NDArray[np.float64]]


class Waves(NamedTuple):
    """How the exact power of McNemar's test falls back while it rises: critical counts are whole.

    A count that moves by 1 costs 2 / sqrt(m) standard deviations of m discordant items; each more
    gains effect / (2 discordance sqrt(m)): made up for within 4 discordance / effect of them, or
    4 / effect items. On the other side of a two-sided test each more loses something: of the
    gain at d standard deviations from 0, tanh(quantile d) is left.

    effect, discordance : as for the test
    quantile : of the normal law, for the level of one side
    two_sided : whether the test has two
    worth : independent items in one of the numbers that are asked for
    """

    effect: float
    discordance: float
    quantile: float
    two_sided: bool
    worth: float

    def last(self, n: int, power: float) -> int:
        """Return a number from which on all reach a power, which `n` reaches."""
        falls = 4.0 / abs(self.effect) / self.worth
        # However little is left, one side alone reaches it about the guess.
        alone = self.guess(power) + 2.0 * falls - n
        return n + 1 + math.ceil(max(falls, min(falls / self._left(self._distance(n)), alone)))

    def step(self, n: int) -> int:
        """Return how far apart numbers about `n` may be looked at; 0 where no power falls back.

        Even and odd numbers of discordant items have waves of their own, against each other. That
        they differ is damped by |1 - 2 discordance| an item. What is left, a wave each time that
        quantile sqrt(m) / 2 gains one half, is smoothed by the spread of m: it is multiplied with
        exp(-pi^2 (1 - discordance) quantile^2 / 2). Its slope is then that factor times pi quantile
        / d of the slope of what the power gains, d as above. Powers of 0.3 to 0.8 fell back where
        that ratio was 1.5, and did not where it was 1.2.
        """
        if abs(1.0 - 2.0 * self.discordance) ** (n * self.worth) > _CALM:
            return 1
        z, distance = abs(self.quantile), self._distance(n)
        smooth = math.exp(-0.5 * (math.pi * z) ** 2 * (1.0 - self.discordance))
        # A ratio of 1/2, to be safe.
        if 2.0 * smooth * math.pi * z < distance * self._left(distance):
            return 0
        wave = 2.0 * math.sqrt(n / (self.worth * self.discordance)) / z
        return max(1, int(wave / _LOOKS))

    def _distance(self, n: int) -> float:
        """Return how many standard deviations `n` move the test statistic away from 0."""
        return abs(self.effect) * math.sqrt(n * self.worth / self.discordance)

    def _left(self, distance: float) -> float:
        """Return which share of what one side gains the other does not lose."""
        return math.tanh(self.quantile * distance) if self.two_sided else 1.0

    def guess(self, power: float) -> int:
        """Return about how many reach a power, by the normal approximation of Connor (1987)."""
        from scipy.special import ndtri

        spread = math.sqrt(max(0.0, self.discordance - self.effect * self.effect))
        reach = self.quantile * math.sqrt(self.discordance) + float(ndtri(power)) * spread
        root = max(0.0, reach) / abs(self.effect)  # its square may be infinite
        return min(MOST, math.ceil(min(root * root / self.worth, float(MOST))))


def first_reaching(powers: Powers, target: float, waves: Waves) -> int | None:
    """Return a number that reaches a power and follows one that does not; None beyond 2**40.

    It is looked for from the guess on: in strides that double, then between the last two.
    """

    def reached(n: int) -> bool:
        return bool(powers(np.array([n]))[0] >= target)

    # What the test loses to whole counts is made up for by about so many.
    stride = math.ceil(min(1.0 / abs(waves.effect) / waves.worth, float(MOST)))
    high = max(1, waves.guess(target))
    if reached(high):
        low = max(0, high - stride)
        while low and reached(low):
            stride *= 2
            high, low = low, max(0, low - stride)
    else:
        while not reached(high):
            if high == MOST:
                return None
            low, high, stride = high, min(MOST, high + stride), 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def settled(powers: Powers, target: float, first: int, waves: Waves) -> int:
    """Return the smallest number from which on a power is reached.

    Parameters
    ----------
    powers
        Of numbers.
    target
        What is to be reached.
    first
        Reaches it, and the number before does not.
    waves
        In which the power rises.
    """
    step = waves.step(first)
    if not step:
        return first
    last = waves.last(first, target)
    if step == 1:
        for stop in range(last + 1, first, -_BLOCK):
            numbers = np.arange(max(first, stop - _BLOCK), stop)
            below = numbers[powers(numbers) < target]
            if len(below):
                return int(below[-1]) + 1
        return first

    def power(n: int) -> float:
        return float(powers(np.array([n]))[0])

    numbers = np.arange(first, last + 2 * step, step)
    values = powers(numbers)
    for i in range(len(numbers) - 2, -1, -1):
        lowest, value = int(numbers[i]), values[i]
        if i and values[i - 1] >= value <= values[i + 1]:
            # Powers of clusters are alike until they make one more item.
            alike = math.ceil(1.0 / waves.worth)
            lowest = _lowest(power, int(numbers[i - 1]), int(numbers[i + 1]), alike)
            value = power(lowest)
        if value < target:
            low, high = lowest, int(numbers[i + 1])
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if power(middle) >= target else (middle, high)
            return high
    return first


def _lowest(value: Callable[[int], float], low: int, high: int, alike: int) -> int:
    """Return the number of the lowest value, of values that fall and then rise."""
    while high - low > 3 * alike:
        third = (high - low) // 3
        if value(low + third) <= value(high - third):
            high -= third
        else:
            low += third
    return min(range(low, high + 1), key=value)
