"""What a design draws, row by row, from the slow reference; and statistics of drawn rows.

A statistic here is a function of a list of (row, weight), in exact arithmetic, with no sums of
terms; a design is a function that gives this list for each slice.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence

import fastboot as fb
from fastboot import reference
from fastboot.reference import order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Table = dict[str, list[Any]]
Drawn = list[tuple[int, Any]]
Value = Fraction | None  # None where undefined

SEED = 23
SMALL = 256  # units of a part whose draws are places
# Units of a class, on average, from which equal ones are counted: of sums, and of tallies.
OF_SUMS, OF_TALLIES = 40, 3


class Case(NamedTuple):
    """A statistic of a system, whose columns end in a letter.

    make : the library's
    value : the same from the table, the letter and drawn rows
    exact : one division of whole numbers, so that replicates are equal to the last bit
    terms : tells the values that make two rows equal; None where all rows are needed
    per_class : units of a class where equal ones are counted
    """

    make: Callable[[str], fb.Additive | fb.Weighted]
    value: Callable[[Table, str, Drawn], Value]
    exact: bool
    terms: Callable[[Table, str, int], Any] | None = None
    per_class: int = OF_SUMS


def _over(numerator: Any, denominator: Any) -> Value:
    return Fraction(numerator) / denominator if denominator else None


def ratio(table: Table, system: str, drawn: Drawn, among: str = "size") -> Value:
    """Sum of scores over the sum of sizes."""
    score, size = table[f"score_{system}"], table[among]
    return _over(
        sum(score[row] * weight for row, weight in drawn),
        sum(size[row] * weight for row, weight in drawn),
    )


def mean(table: Table, system: str, drawn: Drawn) -> Value:
    """Sum of scores over the number of rows."""
    return ratio(table, system, drawn, "one")


def _class_counts(table: Table, system: str, drawn: Drawn) -> tuple[Counter[str], ...]:
    """Weights of the classes among gold labels, predicted labels, and right ones."""
    gold, predicted, right = Counter[str](), Counter[str](), Counter[str]()
    for row, weight in drawn:
        true, said = table["gold"][row], table[f"label_{system}"][row]
        gold[true] += weight
        predicted[said] += weight
        right[true] += weight * (true == said)
    return gold, predicted, right


def macro(table: Table, system: str, drawn: Drawn) -> Value:
    """Mean F over the classes of the gold labels of the whole table; a class that is 0 / 0 is 0."""
    gold, predicted, right = _class_counts(table, system, drawn)
    classes = set(table["gold"])
    values = [_over(2 * right[k], gold[k] + predicted[k]) or Fraction(0) for k in classes]
    return _over(sum(values), len(classes))


def micro(table: Table, system: str, drawn: Drawn) -> Value:
    """F of the outcomes of all classes together: the share of rows that are right."""
    gold, _, right = _class_counts(table, system, drawn)
    return _over(sum(right.values()), sum(gold.values()))


def median(table: Table, system: str, drawn: Drawn) -> Value:
    """Mean of the sorted scores, laid out by their weights, from (W - 1) / 2 to (W + 1) / 2."""
    laid = sorted((table[f"score_{system}"][row], weight) for row, weight in drawn)
    ends = list(accumulate(weight for _, weight in laid))
    if not ends or ends[-1] == 0:
        return None
    low = max(Fraction(ends[-1] - 1) / 2, Fraction(0))
    high = min(low + 1, Fraction(ends[-1]))
    inside = [
        value * max(Fraction(0), min(end, high) - max(end - weight, low))
        for (value, weight), end in zip(laid, ends, strict=True)
        if end > low and end - weight < high
    ]
    return sum(inside, Fraction(0)) / (high - low)


def median_of_rows(table: Table, system: str, replicate: int) -> Value:
    """Draw the median of a resample of all rows from the law of its rank."""
    scores = sorted(table[f"score_{system}"])
    n = len(scores)
    if n % 2:
        return Fraction(scores[order.order_index(n, (n + 1) // 2, SEED, replicate)])
    low, high = order.order_pair(n, n // 2, SEED, replicate)
    return Fraction(scores[low] + scores[high], 2)


def auc(table: Table, system: str, drawn: Drawn) -> Value:
    """Share of pairs of a positive and a negative row in which the positive one scores higher."""
    sides = Counter[int](), Counter[int]()
    for row, weight in drawn:
        sides[table["relevant"][row]][table[f"score_{system}"][row]] += weight
    negative, positive = sides
    won_twice: Any = 0
    below: Any = 0
    for score in sorted({*negative, *positive}):
        won_twice += positive[score] * (2 * below + negative[score])
        below += negative[score]
    return _over(won_twice, 2 * below * sum(positive.values()))


CASES = {
    "mean": Case(
        lambda s: fb.mean(f"score_{s}"), mean, True, lambda t, s, i: t[f"score_{s}"][i]
    ),
    "ratio": Case(
        lambda s: fb.ratio(f"score_{s}", "size"), ratio, True,
        lambda t, s, i: (t[f"score_{s}"][i], t["size"][i]),
    ),
    "micro": Case(
        lambda s: fb.f_score("gold", f"label_{s}", average="micro"), micro, True,
        lambda t, s, i: t["gold"][i] == t[f"label_{s}"][i],
    ),
    "macro": Case(
        lambda s: fb.f_score("gold", f"label_{s}", average="macro", zero_division=0), macro, False,
        lambda t, s, i: (t["gold"][i], t[f"label_{s}"][i]), OF_TALLIES,
    ),
    "median": Case(lambda s: fb.median(f"score_{s}"), median, True),
    "roc_auc": Case(lambda s: fb.roc_auc("relevant", f"score_{s}"), auc, False),
}  # fmt: skip


class Part(NamedTuple):
    """Units that are drawn together: lists of rows."""

    cell: Any
    units: list[list[int]]


def parts_of(
    n_rows: int,
    groups: Sequence[Any] | None = None,
    strata: Sequence[Any] | None = None,
    by: Sequence[Any] | None = None,
) -> list[Part]:
    """Sort rows into slices, strata and units; strata come in sorted order, and so do groups."""
    found: dict[Any, dict[Any, list[int]]] = {}
    for row in range(n_rows):
        part = (by[row] if by else None, strata[row] if strata else None)
        unit = groups[row] if groups else row
        found.setdefault(part, {}).setdefault(unit, []).append(row)
    return [
        Part(part[0], [found[part][unit] for unit in sorted(found[part])])
        for part in sorted(found, key=lambda part: [(key is not None, key) for key in part])
    ]


def seeds(n_parts: int) -> list[Any]:
    """Seeds of parts; one part has the plain seed."""
    if n_parts == 1:
        return [SEED]
    return [SeedSequence(SEED, spawn_key=(part,)) for part in range(n_parts)]


def draw_units(
    n: int,
    seed: Any,
    replicate: int,
    values: Sequence[Any] | None = None,
    per_class: int = OF_SUMS,
    n_drawn: int | None = None,
) -> list[int]:
    """Draw units of a part by the path that the library chooses for its size and values."""
    if values is not None and n > SMALL and len(set(values)) <= n // per_class:
        return reference.bootstrap_rows(n, seed, replicate, "collapse", values, n_drawn)
    path: Any = "rows" if n <= SMALL or n_drawn not in {None, n} else "patterns"
    return reference.bootstrap_rows(n, seed, replicate, path, None, n_drawn)


def by_cell(parts: Sequence[Part], rows: Iterable[tuple[int, Drawn]]) -> dict[Any, Drawn]:
    """Put the drawn rows of the parts of a slice together."""
    cells: dict[Any, Drawn] = {part.cell: [] for part in parts}
    for part, drawn in rows:
        cells[parts[part].cell] += drawn
    return cells


def rows_of_units(units: Sequence[list[int]], drawn: Iterable[tuple[int, Any]]) -> Drawn:
    """Rows of drawn units, with the weights of these."""
    return [(row, weight) for unit, weight in drawn for row in units[unit]]


def once(drawn: Iterable[int]) -> Drawn:
    """Give each draw the weight 1."""
    return [(unit, 1) for unit in drawn]


def plain(
    parts: Sequence[Part],
    replicate: int,
    value: Callable[[int], Any] | None = None,
    per_class: int = OF_SUMS,
    n_drawn: int | None = None,
) -> dict[Any, Drawn]:
    """Draw with replacement inside every part.

    value : of a row, where units that are equal may be counted
    per_class : units of a class from which they are
    """
    rows = []
    for number, (part, seed) in enumerate(zip(parts, seeds(len(parts)), strict=True)):
        single = value is not None and all(len(unit) == 1 for unit in part.units)
        values = [value(unit[0]) for unit in part.units] if single and value else None
        drawn = draw_units(len(part.units), seed, replicate, values, per_class, n_drawn)
        rows.append((number, rows_of_units(part.units, once(drawn))))
    return by_cell(parts, rows)


def _split(parts: Sequence[Part], weights: Sequence[Any]) -> list[list[Any]]:
    """Weights of the units of all parts, part by part."""
    ends = list(accumulate((len(part.units) for part in parts), initial=0))
    return [list(weights[a:b]) for a, b in pairwise(ends)]


def poisson(parts: Sequence[Part], replicate: int) -> dict[Any, Drawn]:
    """Poisson counts of all units, numbered from part to part."""
    n = sum(len(part.units) for part in parts)
    counts = np.bincount(reference.poisson_units(n, SEED, replicate), minlength=n).tolist()
    split = enumerate(_split(parts, counts))
    return by_cell(parts, ((p, rows_of_units(parts[p].units, enumerate(w))) for p, w in split))


def bayesian(parts: Sequence[Part], replicate: int) -> dict[Any, Drawn]:
    """Exponential weights of all units, in every part scaled to a mean of 1."""
    n = sum(len(part.units) for part in parts)
    split = _split(parts, reference.exponential_weights(n, SEED, replicate))
    scaled = [
        [Fraction(weight * len(weights) / fsum(weights)) for weight in weights] for weights in split
    ]
    return by_cell(
        parts, ((p, rows_of_units(parts[p].units, enumerate(w))) for p, w in enumerate(scaled))
    )


def blocks(parts: Sequence[Part], replicate: int, scheme: str, length: float) -> dict[Any, Drawn]:
    """Blocks of rows of each part."""
    rows = []
    for number, (part, seed) in enumerate(zip(parts, seeds(len(parts)), strict=True)):
        n = len(part.units)
        if scheme == "stationary":
            drawn = reference.stationary_rows(n, length, seed, replicate)
        else:
            size = min(int(length), n)
            drawn = reference.block_rows(n, size, seed, replicate, circular=scheme == "circular")
        rows.append((number, rows_of_units(part.units, once(drawn))))
    return by_cell(parts, rows)


def nested(
    parts: Sequence[Part], replicate: int, inner: Sequence[Any] | None = None
) -> dict[Any, Drawn]:
    """Draw groups, then rows, or inner groups, of each drawn group."""
    n_groups = 0
    groups: list[int] = []
    for part, seed in zip(parts, seeds(len(parts)), strict=True):
        drawn = draw_units(len(part.units), seed, replicate)
        groups += [n_groups + group for group in drawn]
        n_groups += len(part.units)
    within: list[tuple[int, list[list[int]]]] = []
    for number, part in enumerate(parts):
        for rows in part.units:
            labels = rows if inner is None else [inner[row] for row in rows]
            units = [
                [row for row, label in zip(rows, labels, strict=True) if label == one]
                for one in sorted(set(labels))
            ]
            within.append((number, units))
    sizes = [len(units) for _, units in within]
    flat = [(number, rows) for number, units in within for rows in units]
    chosen = reference.nested_units(sizes, groups, SEED, replicate)
    return by_cell(parts, ((flat[unit][0], once(flat[unit][1])) for unit in chosen))


def crossed(factors: Sequence[Sequence[Any]], replicate: int) -> dict[Any, Drawn]:
    """Draw the levels of both factors."""
    codes, drawn = [], []
    for factor, seed in zip(factors, seeds(2), strict=True):
        levels = sorted(set(factor))
        codes.append([levels.index(level) for level in factor])
        drawn.append(draw_units(len(levels), seed, replicate))
    return {None: once(reference.crossed_rows(codes[0], codes[1], *drawn))}


def assert_replicates(
    found: Any, expected: Sequence[Value], *, exact: bool, error: float | None = None
) -> None:
    """Assert that replicates are the exact values, but for rounding.

    exact : they are one division of whole numbers
    error : how far they may be from the exact value; by default what the result says of itself
    """
    assert found.replicates.shape == (len(expected),)
    allowed = found.rounding if error is None else error
    for r, (replicate, value) in enumerate(zip(found.replicates.tolist(), expected, strict=True)):
        if value is None:
            assert np.isnan(replicate), (found.statistic, r)
        elif exact:
            assert replicate == float(value), (found.statistic, r)
        else:
            assert abs(Fraction(replicate) - value) <= allowed, (found.statistic, r)
