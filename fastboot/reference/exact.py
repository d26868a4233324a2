"""Exact answers of small problems, by listing every resample or every swap.

Give it rows of Fractions and ties are exact; nothing is compared with a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Literal, TypeAlias, TypeVar

from fastboot.reference.draws import members_of, rows_of, swapped, swaps

__all__ = ["all_bootstraps", "all_swaps", "bootstrap_pvalue", "randomization_pvalue"]

Row = TypeVar("Row")
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


def all_bootstraps(n: int) -> Iterator[tuple[int, ...]]:
    """All n**n equally likely bootstrap draws of n units: 823,543 for 7.

    >>> list(all_bootstraps(2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return product(range(n), repeat=n)


def all_swaps(n: int) -> Iterator[list[bool]]:
    """All 2**n equally likely swaps of n units, in the order of the path ``"enumeration"``.

    >>> list(all_swaps(1))
    [[False], [True]]
    """
    return (swaps(n, 0, replicate, "enumeration") for replicate in range(2**n))


def bootstrap_pvalue(
    rows_a: Sequence[Row],
    rows_b: Sequence[Row],
    statistic: Callable[[list[Row]], Fraction | float],
    alternative: Alternative = "two-sided",
    groups: Sequence[Hashable] | None = None,
) -> Fraction:
    """Compute the p-value of the paired bootstrap shift test from all resamples.

    The effect is statistic(a) - statistic(b), d observed and d* resampled. The p-value is the share
    of ``d* >= 2d`` ("greater"), ``d* <= 2d`` ("less") or ``|d* - d| >= |d|`` ("two-sided").
    Values are compared with no tolerance: rows of Fractions give exact ties, floats do not.

    >>> a, b = [Fraction(3), Fraction(1)], [Fraction(0), Fraction(0)]
    >>> bootstrap_pvalue(a, b, lambda rows: sum(rows) / len(rows), "greater")
    Fraction(0, 1)
    """
    labels = range(len(rows_a)) if groups is None else groups

    def effect(units: Iterable[int]) -> Fraction:
        rows = rows_of(units, labels)
        return _difference(statistic, [rows_a[row] for row in rows], [rows_b[row] for row in rows])

    n_units = len(set(labels))
    observed = effect(range(n_units))
    shifted = (effect(units) - observed for units in all_bootstraps(n_units))
    return _share(_at_least(value, observed, alternative) for value in shifted)


def randomization_pvalue(
    rows_a: Sequence[Row],
    rows_b: Sequence[Row],
    statistic: Callable[[list[Row]], Fraction | float],
    alternative: Alternative = "two-sided",
    groups: Sequence[Hashable] | None = None,
) -> Fraction:
    """Compute the p-value of approximate randomization from all swaps.

    The effect is statistic(a) - statistic(b), t observed and t* after swaps. The p-value is the
    share of ``t* >= t`` ("greater"), ``t* <= t`` ("less") or ``|t*| >= |t|`` ("two-sided").
    Units that are equal in both systems are never swapped: it would change nothing.
    Values are compared with no tolerance: rows of Fractions give exact ties, floats do not.

    >>> a, b = [Fraction(3), Fraction(1)], [Fraction(0), Fraction(0)]
    >>> randomization_pvalue(a, b, lambda rows: sum(rows) / len(rows))
    Fraction(1, 2)
    """
    labels = range(len(rows_a)) if groups is None else groups
    units = members_of(len(labels), labels)
    differing = [rows for rows in units if any(rows_a[row] != rows_b[row] for row in rows)]

    def effect(flags: Sequence[bool]) -> Fraction:
        changed = {row for rows, flag in zip(differing, flags, strict=True) if flag for row in rows}
        row_flags = [row in changed for row in range(len(rows_a))]
        return _difference(statistic, *swapped(rows_a, rows_b, row_flags))

    observed = effect([False] * len(differing))
    return _share(
        _at_least(effect(flags), observed, alternative) for flags in all_swaps(len(differing))
    )


def _difference(
    statistic: Callable[[list[Row]], Fraction | float], rows_a: list[Row], rows_b: list[Row]
) -> Fraction:
    return Fraction(statistic(rows_a)) - Fraction(statistic(rows_b))


def _at_least(value: Fraction, observed: Fraction, alternative: Alternative) -> bool:
    """Whether `value` is as extreme as `observed`, ties included."""
    if alternative == "greater":
        return value >= observed
    if alternative == "less":
        return value <= observed
    if alternative == "two-sided":
        return abs(value) >= abs(observed)
    raise ValueError(f'`alternative` is {alternative!r}; use "two-sided", "greater" or "less".')


def _share(flags: Iterable[bool]) -> Fraction:
    chosen = list(flags)
    return Fraction(sum(chosen), len(chosen))
