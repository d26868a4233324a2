"""Labels of two samples, permuted, in plain Python: who of the pooled units comes to the first.

The law: every choice of as many units as the first sample has is equally likely. Unit by unit, a
number u uniform on [0, 1) is compared with (units wanted) / (units left). The digits of u in base
2**32 are words, and as many are read as it takes to know which is larger.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, count, product
from typing import TypeVar

from fastboot.reference.draws import Key, Seed, key, philox

__all__ = ["LABELS", "all_labels", "labels", "permutation_pvalue"]

Row = TypeVar("Row")

# The last word of a counter; its upper 24 bits count digits.
LABELS = 15


def labels(n: int, chosen: int, seed: Seed, replicate: int) -> list[bool]:
    """Choose `chosen` of n units.

    >>> labels(5, 2, 0, 0)
    [True, False, False, True, False]
    """
    words = key(seed)
    flags: list[bool] = []
    for unit in range(n):
        share = Fraction(chosen - sum(flags), n - unit)
        flags.append(_below(share, unit, replicate, words))
    return flags


def _below(share: Fraction, unit: int, replicate: int, key: Key) -> bool:
    """Tell whether the uniform number of a unit is below a share."""
    low, width = Fraction(0), Fraction(1)
    for digit in count():
        word = philox((unit // 4, 0, replicate, LABELS + (digit << 8)), key)[unit % 4]
        width /= 2**32
        low += word * width
        if low + width <= share:
            return True
        if low >= share:
            return False
    raise AssertionError


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
