"""Labels of two samples, permuted, in plain Python: who of the pooled units comes to the first.

The law: every choice of as many units as the first sample has is equally likely. Every unit is
chosen with a probability near the wanted share; then units drawn at random are added, or taken
away, until there are as many as wanted. Given its size, the choice is uniform all along.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations, count, islice, product
from typing import TypeVar

from fastboot.reference.draws import CLASSES, PLACES, Key, Seed, binomial, key, philox, places

__all__ = ["LABELS", "all_labels", "class_labels", "labels", "permutation_pvalue"]

Row = TypeVar("Row")

# The last word of a counter; its upper 24 bits name the digit.
LABELS = 15


def labels(n: int, chosen: int, seed: Seed, replicate: int) -> list[bool]:
    """Choose `chosen` of n units.

    >>> labels(5, 2, 0, 0)
    [True, True, False, False, False]
    """
    words = key(seed)
    # The share in 256ths, rounded away from a half.
    near = 256 * chosen // n if 2 * chosen <= n else 256 - 256 * (n - chosen) // n
    flags = [number < near for number in islice(_numbers(replicate, words), n)]
    adds = sum(flags) < chosen
    draws = places(n, (0, replicate, PLACES), words)
    while sum(flags) != chosen:
        flags[next(draws)] = adds
    return flags


def class_labels(counts: Sequence[int], chosen: int, seed: Seed, replicate: int) -> list[int]:
    """Choose `chosen` of the units of several classes: how many of each.

    counts : the units of each class

    >>> class_labels([5, 3], 4, 0, 0)
    [2, 2]
    """
    words = key(seed)
    starts = list(accumulate(counts, initial=0))
    taken = [
        binomial(count, chosen, starts[-1], (number, replicate, CLASSES), words)
        for number, count in enumerate(counts)
    ]
    adds = sum(taken) < chosen
    draws = places(starts[-1], (0, replicate, PLACES), words)
    while sum(taken) != chosen:
        unit = next(draws)
        number = bisect_right(starts, unit) - 1
        # The first units of a class are the ones chosen.
        is_chosen = unit - starts[number] < taken[number]
        if is_chosen != adds:
            taken[number] += 1 if adds else -1
    return taken


def _numbers(replicate: int, key: Key) -> Iterator[int]:
    """Numbers of the units, of eight binary digits, the highest first; a bit 1 is a digit 0."""
    for position in count():
        digits = [philox((position, 0, replicate, LABELS + (i << 8)), key) for i in range(1, 9)]
        for bit in range(128):
            bits = [words[bit // 32] >> bit % 32 & 1 for words in digits]
            yield sum((1 - one) << 7 - i for i, one in enumerate(bits))


def all_labels(sizes: Sequence[tuple[int, int]]) -> Iterator[list[bool]]:
    """All relabellings of several parts, in the order of the path ``"enumeration"``.

    sizes : for each part, the number of its units and how many of them are chosen; the choice of
        the first part changes fastest

    >>> list(all_labels([(2, 1)]))
    [[True, False], [False, True]]
    """
    parts = [
        [[unit in chosen for unit in range(n)] for chosen in combinations(range(n), wanted)]
        for n, wanted in sizes
    ]
    for choice in product(*reversed(parts)):
        yield [flag for part in reversed(choice) for flag in part]


def permutation_pvalue(
    rows_a: Sequence[Row],
    rows_b: Sequence[Row],
    statistic: Callable[[list[Row]], Fraction],
    strata: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
) -> tuple[Fraction, Fraction]:
    """Compute the p-values ("two-sided", "greater") of a permutation test from all relabellings.

    Values are compared with no tolerance: rows of Fractions give exact ties, floats do not.

    strata : the stratum of every row of a, and of b

    >>> a, b = [Fraction(3), Fraction(2)], [Fraction(0), Fraction(0)]
    >>> permutation_pvalue(a, b, lambda rows: sum(rows) / len(rows))
    (Fraction(1, 3), Fraction(1, 6))
    """
    rows = [*rows_a, *rows_b]
    from_a = [True] * len(rows_a) + [False] * len(rows_b)
    stratum = [0] * len(rows) if strata is None else [*strata[0], *strata[1]]
    parts = [[i for i, own in enumerate(stratum) if own == one] for one in dict.fromkeys(stratum)]

    def effect(flags: Sequence[bool]) -> Fraction:
        chosen, others = (
            [row for row, flag in zip(rows, flags, strict=True) if flag == side]
            for side in (True, False)
        )
        return statistic(chosen) - statistic(others)

    def relabelled() -> Iterator[Fraction]:
        for choice in all_labels([(len(part), sum(from_a[i] for i in part)) for part in parts]):
            flags = dict(zip((i for part in parts for i in part), choice, strict=True))
            yield effect([flags[i] for i in range(len(rows))])

    observed, values = effect(from_a), list(relabelled())
    return (
        Fraction(sum(abs(value) >= abs(observed) for value in values), len(values)),
        Fraction(sum(value >= observed for value in values), len(values)),
    )
