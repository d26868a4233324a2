"""Leave-one-unit-out values: the acceleration of BCa intervals, and how far rounding can go.

For additive statistics leaving out a unit is a subtraction from the sums, so all values cost
O(n_units). Statistics of row weights are computed again, with up to 1,000 blocks of units left out
instead of single ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK, GROUP_BLOCK, blocks_of, joined
from fastboot.statistics.estimand import Estimand
from fastboot.units import Layout, Tally, Units

__all__ = [
    "Influence",
    "block_powers",
    "influence",
    "influence_of_powers",
    "influence_of_weights",
    "leave_one_out",
    "listed",
    "relative_rounding",
    "rounding",
    "rounding_of_rows",
]

Floats = NDArray[np.float64]

# Numbers of leave-one-out sums at a time: 0.5 MB; of 1,024 units at the least.
_CHUNK = 1 << 16
_LEAST_UNITS = 1_024
_EPSILON = float(np.finfo(np.float64).eps)
# Of a number to the nearest double, of its product with a weight, of the quotient of sums and of
# the difference of two values.
_ROUNDINGS_OF_TERM = 4
# A block of units has skewness / sqrt(size), and there are as many times fewer of them: the
# acceleration is the same, estimated from this many values. Its standard error is then at most
# that of a skewness of normal data, sqrt(6 / 1000), over 6 sqrt(n): 0.0001 at n = 10,000.
_MOST_BLOCKS = 1_000


class Influence(NamedTuple):
    """Sums over units of powers of d: mean leave-one-out value of a part - value without this unit.

    squares, cubes : of d^2 and d^3, shape (n_values, n_cells); NaN where a value is undefined
    smallest : squares up to this are rounding errors of the value
    """

    squares: Floats
    cubes: Floats
    smallest: Floats

    def __sub__(self, other: Influence) -> Influence:
        """Return that of the difference between the values of two independent samples."""
        return Influence(
            self.squares + other.squares, self.cubes - other.cubes, self.smallest + other.smallest
        )

    @property
    def acceleration(self) -> Floats:
        """Of the BCa interval; NaN where a value is undefined or none varies.

        Sum of d^3 / (6 (sum of d^2)^1.5) over the units of all parts (Efron 1987; for several
        samples and strata Davison and Hinkley 1997, section 5.3.2).
        """
        with np.errstate(all="ignore"):
            found = self.cubes / (6.0 * self.squares**1.5)
            return np.where(self.squares > self.smallest, found, np.nan)


def influence(estimand: Estimand, units: Units) -> Influence:
    """Return the sums over all units.

    Parameters
    ----------
    estimand
        Without statistics of row weights.
    units
        The sample; classes count with their multiplicity.
    """
    layout = units.layout
    totals = units.totals()
    n_listed = layout.n_units if units.counts is None else units.counts.size
    powers: Floats = (
        joined(block_powers(estimand, totals, units, *block) for block in blocks_of(0, n_listed))
        if layout.sizes.size == 1
        else _powers_of_parts(estimand, totals, units)
    )
    return influence_of_powers(estimand, totals, layout, powers)


def block_powers(
    estimand: Estimand, totals: Sequence[Any], units: Units, start: int, stop: int
) -> Floats:
    """Return the sums of powers of changes over a block of units of one part.

    Parameters
    ----------
    estimand
        Without statistics of row weights.
    totals
        Sums of all terms over all units, as `Units.totals` has them.
    units
        The block among others, or alone.
    start, stop
        The block's first listed unit, and the one after its last.

    Returns
    -------
    array
        Sums of change, change^2 and change^3, shape (3, n_values, 1).
    """
    powers = np.zeros((3, estimand.n_values, 1))
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 it is undefined
        observed = estimand.value(totals, [], (1,))
        for first, last in _chunks(units, start, stop):
            change = observed - _left_out(estimand, totals, units, first, last)
            for power, product in zip(powers, _products(change, units, first, last), strict=True):
                power[:, 0] += product.sum(axis=1)
    return powers


def influence_of_powers(
    estimand: Estimand, totals: Sequence[Any], layout: Layout, powers: Floats
) -> Influence:
    """Return the sums about the means of the parts.

    Parameters
    ----------
    estimand, totals
        As in `block_powers`.
    layout
        Of the units.
    powers
        Sums of `block_powers` over all blocks of each part, shape (3, n_values, n_parts).
    """
    cells, n_cells, sizes = layout.cell_of_part, layout.n_cells, layout.sizes
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 it is undefined
        observed = estimand.value(totals, [], (n_cells,))
        first, second, third = powers
        mean = first / sizes
        about_2 = second - sizes * mean**2
        about_3 = third - 3.0 * mean * second + 2.0 * sizes * mean**3
        first_parts = np.searchsorted(cells, np.arange(n_cells))
        squares = np.add.reduceat(about_2, first_parts, axis=1)
        cubes = np.add.reduceat(about_3, first_parts, axis=1)
        n_units = np.bincount(cells, sizes, n_cells)
        smallest = n_units * (n_units * _EPSILON * np.abs(observed)) ** 2
    return Influence(squares, cubes, smallest)


def _powers_of_parts(estimand: Estimand, totals: Sequence[Any], units: Units) -> Floats:
    """Sums of powers of changes in each of several parts, shape (3, n_values, n_parts)."""
    layout = units.layout
    powers = np.zeros((3, estimand.n_values, layout.sizes.size))
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 it is undefined
        observed = estimand.value(totals, [], (layout.n_cells,))
        for first, last in _chunks(units, 0, layout.n_units):
            parts = np.searchsorted(layout.offsets, np.arange(first, last), side="right") - 1
            cells = layout.cell_of_part[parts]
            own = [total[..., cells] for total in totals]
            change = observed[:, cells] - _left_out(estimand, own, units, first, last)
            for power, product in zip(powers, _products(change, units, first, last), strict=True):
                for value, one in enumerate(product):
                    power[value] += np.bincount(parts, one, layout.sizes.size)
    return powers


def _chunks(units: Units, start: int, stop: int) -> Iterator[tuple[int, int]]:
    step = max(_LEAST_UNITS, _CHUNK // max(1, units.n_sums))
    for first in range(start, stop, step):
        yield first, min(first + step, stop)


def _left_out(
    estimand: Estimand, totals: Sequence[Any], units: Units, start: int, stop: int
) -> Floats:
    """Values without each of some listed units, shape (n_values, stop - start)."""
    single = units.expand(listed(units, start, stop), 1)
    left = [total - own for total, own in zip(totals, single, strict=True)]
    return estimand.value(left, [], (stop - start,))


def _products(change: Floats, units: Units, start: int, stop: int) -> tuple[Floats, ...]:
    """Powers of the changes, times the multiplicities of the units."""
    weighted = change if units.counts is None else units.counts[start:stop] * change
    return weighted, weighted * change, weighted * (change * change)


def leave_one_out(estimand: Estimand, units: Units) -> Floats:
    """Return the change of every value as a unit is left out, shape (n_values, n_units).

    Parameters
    ----------
    estimand
        Without statistics of row weights.
    units
        Listed singly, one cell.
    """
    totals = units.totals()
    observed = estimand.value(totals, [], (1,))
    return observed - _left_out(estimand, totals, units, 0, units.n_units)


def listed(units: Units, start: int, stop: int) -> Floats:
    """Return the terms of listed units, tallies written out, shape (n_sums, stop - start)."""
    terms = np.zeros((units.n_sums, stop - start))
    terms[: len(units.varying)] = units.varying[:, start:stop]
    if units.sparse is not None:
        edges = units.sparse.offsets[start : stop + 1]
        entries = slice(edges[0], edges[-1])
        unit = np.repeat(np.arange(stop - start), np.diff(edges))
        rows = units.sparse.terms[entries] + len(units.varying)
        np.add.at(terms, (rows, unit), units.sparse.values[entries])
    return terms


def influence_of_weights(evaluate: Callable[[int, Floats], Floats], layout: Layout) -> Influence:
    """Return the sums over blocks of units.

    Parameters
    ----------
    evaluate
        From weights of the units, shape (n, n_units), to values, shape (n_values, n_cells, n).
    layout
        Of the units.
    """
    units = np.arange(layout.n_units)
    starts = layout.cell_offsets
    sizes = np.diff(starts)
    cells = np.searchsorted(starts, units, side="right") - 1
    n_blocks = np.minimum(sizes, _MOST_BLOCKS)
    # Every k-th unit, so that blocks are alike where the units are sorted.
    block_of_unit = (units - starts[cells]) % n_blocks[cells]
    values = np.concatenate(
        [
            evaluate(-1, np.where(block_of_unit == block, 0.0, 1.0)[None])
            for block in range(int(n_blocks.max()))
        ],
        axis=2,
    )
    there = np.arange(values.shape[2]) < n_blocks[:, None]
    with np.errstate(all="ignore"):
        mean = np.mean(values, axis=2, where=there, keepdims=True)
        change = np.where(there, mean - values, 0.0)
        squares, cubes = (change**2).sum(axis=2), (change**3).sum(axis=2)
        smallest = n_blocks * (n_blocks * _EPSILON * np.abs(mean[:, :, 0])) ** 2
    return Influence(squares, cubes, smallest)


def rounding(estimand: Estimand, units: Units | None, scale: Floats, n_rows: int) -> Floats:
    """Return how far two values may differ that are equal in exact arithmetic.

    For sums `relative_rounding` x sum over terms of |derivative| x sum of |term|: it scales with
    the size of the terms, not with the value, which may cancel to 0. A replicate errs that far; the
    observed sum, added by pairs, much less. Counts in tallies are exact, only the arithmetic on
    them rounds, once a class at the most; statistics of row weights round once a row: both relative
    to the size of the values.

    The difference of two scores is formed once a row: additions round by the size of the
    differences, and only the roundings of a term are by the size of the scores. They count in full,
    not as a random walk: scores of few values have few roundings, the same ones in many rows. Those
    of scores that were float32 are as large as these leave (:mod:`fastboot.precision`).

    Parameters
    ----------
    estimand, units
        What is computed from the sample.
    scale
        Size of the values, shape (n_values, n_cells): that of both systems, for a difference.
    n_rows
        Rows of the table.

    Returns
    -------
    array
        Shape (n_values, n_cells).
    """
    tallies = [term for term in estimand.terms if isinstance(term, Tally)]
    whole = not estimand.weighted and all(np.ndim(tally.values) == 0 for tally in tallies)
    n_roundings = sum(tally.size for tally in tallies) if whole else n_rows
    error = n_roundings * _EPSILON * scale
    if units is not None:
        n_additions = _additions(n_rows, grouped=units.n_units < n_rows)
        error = error + _off(estimand, units, scale, n_additions)
    return np.where(np.isfinite(error), error, 0.0)


def rounding_of_rows(estimand: Estimand, units: Units, scale: Floats) -> Floats:
    """Return how far values are off because the numbers of every row were rounded.

    Without the additions: rows that differ by more than this do vary. Parameters and shape are
    those of `rounding`.
    """
    return _off(estimand, units, scale, 0.0)


def relative_rounding(n_rows: int) -> float:
    """Return how far a sum of so many numbers may be off, as a share of the sum of their sizes.

    The longest chain of additions has a step for each row of a block, as blocks are joined by a
    tree: 65,536 rows; of groups, whose sums are made in 64 blocks, the rows of the largest, then
    the groups. n roundings of unit u err by n u at the most; as random walks they stay within
    8 sqrt(n) u but for one sum in 4e13, 2 exp(-8^2 / 2) (Higham and Mary 2019, section 2). Equal
    numbers, which round alike, are counted instead of added from 257 units on; to there 8 sqrt(n)
    is at least n / 2, the bound of partial sums that grow evenly.
    """
    return _share(_additions(n_rows, grouped=True))


def _share(n_additions: float) -> float:
    return (n_additions + _ROUNDINGS_OF_TERM) * _EPSILON / 2.0


def _additions(n_rows: int, *, grouped: bool) -> float:
    return min(n_rows, 8.0 * math.sqrt(min(n_rows, GROUP_BLOCK if grouped else BLOCK)))


def _off(estimand: Estimand, units: Units, scale: Floats, n_additions: float) -> Floats:
    """Sum over inexact terms of |derivative of the value| x rounding, by central differences.

    The rounding is that of the term and of what entered it, each by its share.
    """
    step = 2.0**-20  # error of second order: 1e-12 of the derivative
    layout = units.layout
    of_sums = n_additions / (n_additions + _ROUNDINGS_OF_TERM)
    entered = estimand.sizes if estimand.entered is None else estimand.entered
    # A whole number that all units have has an exact sum: the number of rows.
    dense = [
        i
        for i, term in enumerate(estimand.terms)
        if not isinstance(term, Tally) and not _is_whole(units.places[i].constant)
    ]
    # All terms moved up, then all moved down, one at a time: a last axis of the sums.
    shape = (layout.n_cells, 2 * len(dense))
    sums = [np.repeat(total[..., None], shape[1], axis=-1) for total in units.totals()]
    # How many steps the rounding is in units of itself: a step is small beside the sum, what a
    # float32 or a large score left may be more.
    in_steps = np.ones((layout.n_cells, len(dense)))
    for place, i in enumerate(dense):
        rounded = np.broadcast_to(
            entered[i] - of_sums * (entered[i] - estimand.sizes[i]), (layout.n_cells,)
        )
        size = np.broadcast_to(estimand.sizes[i], (layout.n_cells,))
        moved = np.where((size > 0.0) & (size < rounded), size, rounded)
        in_steps[:, place] = np.divide(rounded, moved, out=np.ones(layout.n_cells), where=moved > 0)
        sums[i][..., place] += step * moved
        sums[i][..., len(dense) + place] -= step * moved
    weighted = [np.zeros((bound.n_values, *shape)) for bound in estimand.weighted]
    above, below = np.split(estimand.value(sums, weighted, shape), 2, axis=-1)
    slopes = np.abs(above - below) / (2.0 * step) * in_steps
    sum_of_slopes: Floats = np.where(np.isfinite(slopes), slopes, scale[..., None]).sum(axis=-1)
    return _share(n_additions) * sum_of_slopes


def _is_whole(constant: float | None) -> bool:
    return constant is not None and constant.is_integer()
