"""Resamples of further designs, each as a list of units or rows with repetition, in plain Python.

The law each must follow, whatever words it reads:

poisson
    Every unit comes Poisson(1) times, independently.
exponential
    Every unit weighs -log(u), u uniform on (0, 1]; divided by their sum the weights are
    Dirichlet(1, ..., 1) (Rubin 1981).
nested
    Of every copy of a drawn group, as many units as it has, drawn with replacement from it.
crossed
    A row comes as often as both of its levels were drawn together (Owen 2007).
blocks
    n rows, in blocks of equal length that begin at uniform rows: where a whole block fits (moving;
    Kuensch 1989), or anywhere, the first row following the last (circular; Politis, Romano 1992).
stationary
    The same, anywhere, with independent lengths L of P(L > k) = (1 - 1 / mean)^k (Politis, Romano
    1994).
"""

from __future__ import annotations

import math
from itertools import accumulate, count
from typing import TYPE_CHECKING

from fastboot.reference.draws import (
    SUPERBLOCK,
    Key,
    Seed,
    Stream,
    doubles,
    key,
    philox,
    poisson_counts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "block_rows",
    "crossed_rows",
    "exponential_weights",
    "nested_units",
    "poisson_units",
    "stationary_rows",
]

# The last word of a counter, after those of `draws`.
EXPONENTIALS, INNER, STARTS, LENGTHS = range(8, 12)


def poisson_units(n: int, seed: Seed, replicate: int) -> list[int]:
    """Draw each of n units Poisson(1) times, from the words of ``"patterns"``, first attempt.

    >>> poisson_units(5, 0, 0)
    [0, 1]
    """
    words = key(seed)
    counts: list[int] = []
    for block, start in enumerate(range(0, n, SUPERBLOCK)):
        size = min(SUPERBLOCK, n - start)
        counts += poisson_counts(size, 1.0, (block, replicate, 0), words)
    return [unit for unit, repetitions in enumerate(counts) for _ in range(repetitions)]


def exponential_weights(n: int, seed: Seed, replicate: int) -> list[float]:
    """Draw n standard exponential weights.

    >>> [round(weight, 3) for weight in exponential_weights(3, 0, 0)]
    [1.389, 0.351, 0.513]
    """
    words = key(seed)
    return [
        _exponential(unit % SUPERBLOCK, (unit // SUPERBLOCK, replicate, EXPONENTIALS), words)
        for unit in range(n)
    ]


def nested_units(
    sizes: Sequence[int], drawn: Iterable[int], seed: Seed, replicate: int
) -> list[int]:
    """Draw the inner units of the drawn groups; a group's units follow those of the group before.

    sizes : the number of units of every group
    drawn : groups, with repetition

    >>> nested_units([2, 3], [1, 1], 0, 0)
    [4, 4, 4, 4, 2, 4]
    """
    words = key(seed)
    starts = list(accumulate(sizes, initial=0))
    n_drawn = [0] * len(sizes)
    units = []
    for group in drawn:
        begin = sizes[group] * n_drawn[group]
        n_drawn[group] += 1
        units += [
            starts[group] + _below(sizes[group], draw, (group, replicate, INNER), words)
            for draw in range(begin, begin + sizes[group])
        ]
    return units


def crossed_rows(
    codes_0: Sequence[int], codes_1: Sequence[int], drawn_0: Iterable[int], drawn_1: Iterable[int]
) -> list[int]:
    """Find the rows of all pairs of a drawn level of one factor and one of the other.

    codes_0, codes_1 : the levels of every row
    drawn_0, drawn_1 : levels, with repetition

    >>> crossed_rows([0, 0, 1], [0, 1, 1], [0, 0], [1, 0])
    [1, 0, 1, 0]
    """
    levels = list(zip(codes_0, codes_1, strict=True))
    others = list(drawn_1)
    pairs = [(one, other) for one in drawn_0 for other in others]
    return [row for pair in pairs for row, both in enumerate(levels) if both == pair]


def block_rows(n: int, length: int, seed: Seed, replicate: int, *, circular: bool) -> list[int]:
    """Draw n rows in blocks of `length` rows, the last one cut.

    >>> block_rows(5, 2, 0, 1, circular=True)
    [3, 4, 4, 0, 2]
    """
    words = key(seed)
    n_starts = n if circular else n - length + 1
    rows: list[int] = []
    for block in range(-(-n // length)):
        start = _below(n_starts, block, (0, replicate, STARTS), words)
        rows += [(start + step) % n for step in range(length)]
    return rows[:n]


def stationary_rows(n: int, mean_length: float, seed: Seed, replicate: int) -> list[int]:
    """Draw n rows in blocks of geometric length, the last one cut.

    >>> stationary_rows(5, 2.0, 0, 0)
    [3, 4, 0, 2, 3]
    """
    words = key(seed)
    rows: list[int] = []
    blocks = count()
    while len(rows) < n:
        block = next(blocks)
        start = _below(n, block, (0, replicate, STARTS), words)
        length = 1
        if mean_length > 1:
            waiting = _exponential(block, (0, replicate, LENGTHS), words)
            length += math.floor(waiting / -math.log1p(-1 / mean_length))
        rows += [(start + step) % n for step in range(min(length, n - len(rows)))]
    return rows


def _below(size: int, index: int, stream: Stream, key: Key) -> int:
    """Uniform place in range(size) from a word of its own; a biased one is drawn again."""
    block, replicate, purpose = stream
    attempts = (
        philox((index // 4, block, replicate, purpose + (attempt << 8)), key)[index % 4] * size
        for attempt in count()
    )
    return next(scaled >> 32 for scaled in attempts if scaled & 0xFFFFFFFF >= 2**32 % size)


def _exponential(index: int, stream: Stream, key: Key) -> float:
    return -math.log(1 - doubles(index // 2, stream, key)[index % 2])
