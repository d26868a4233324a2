"""Leave-one-unit-out values: the acceleration of BCa intervals, and how far rounding can go.

For additive statistics leaving out a unit is a subtraction from the sums, so all values cost
O(n_units). Statistics of row weights are computed again, with up to 1,000 blocks of units left out
instead of single ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.statistics.estimand import Estimand
from fastboot.units import Layout, Tally, Units

__all__ = [
    "Influence",
    "influence",
    "influence_of_weights",
    "leave_one_out",
    "listed",
    "rounding",
]

Floats = NDArray[np.float64]

# Numbers of leave-one-out sums at a time: 0.5 MB; of 1,024 units at the least.
_CHUNK = 1 << 16
_LEAST_UNITS = 1_024
_EPSILON = float(np.finfo(np.float64).eps)
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
    step = max(_LEAST_UNITS, _CHUNK // max(1, units.n_sums))
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 it is undefined
        observed = estimand.value(totals, [], (layout.n_cells,))
        sums = _PartSums(observed, layout)
        for start in range(0, n_listed, step):
            stop = min(start + step, n_listed)
            parts = _parts(units, start, stop)
            cells = layout.cell_of_part[parts]
            single = units.expand(listed(units, start, stop), 1)
            left = [total[..., cells] - own for total, own in zip(totals, single, strict=True)]
            value = estimand.value(left, [], (stop - start,))
            counts = None if units.counts is None else units.counts[start:stop]
            sums.add(observed[:, cells] - value, parts, counts)
        return sums.influence(layout.sizes)


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
    single = units.expand(listed(units, 0, units.n_units), 1)
    left = [total - own for total, own in zip(totals, single, strict=True)]
    observed = estimand.value(totals, [], (1,))
    return observed - estimand.value(left, [], (units.n_units,))


def _parts(units: Units, start: int, stop: int) -> NDArray[np.int64]:
    """Return the part of each listed unit."""
    layout = units.layout
    if layout.offsets.size == 2:
        return np.zeros(stop - start, np.int64)
    found = np.searchsorted(layout.offsets, np.arange(start, stop), side="right") - 1
    return found.astype(np.int64, copy=False)


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


class _PartSums:
    """Sums of powers of d in each part, for each value."""

    def __init__(self, observed: Floats, layout: Layout) -> None:
        self._observed = observed
        self._cells = layout.cell_of_part
        self._powers = np.zeros((3, len(observed), self._cells.size))

    def add(self, change: Floats, parts: NDArray[np.int64], counts: Any) -> None:
        """Add units: changes of shape (n_values, n), their parts, and multiplicities."""
        weighted = change if counts is None else counts * change
        products = weighted, weighted * change, weighted * (change * change)
        for power, product in zip(self._powers, products, strict=True):
            if self._cells.size == 1:
                power[:, 0] += product.sum(axis=1)
                continue
            for value, own in enumerate(product):
                power[value] += np.bincount(parts, own, self._cells.size)

    def influence(self, sizes: NDArray[np.int64]) -> Influence:
        """Return the sums about the means of the parts."""
        first, second, third = self._powers
        mean = first / sizes
        about_2 = second - sizes * mean**2
        about_3 = third - 3.0 * mean * second + 2.0 * sizes * mean**3
        n_cells = self._observed.shape[1]
        units = np.bincount(self._cells, sizes, n_cells)
        first_parts = np.searchsorted(self._cells, np.arange(n_cells))
        squares = np.add.reduceat(about_2, first_parts, axis=1)
        cubes = np.add.reduceat(about_3, first_parts, axis=1)
        smallest = units * (units * _EPSILON * np.abs(self._observed)) ** 2
        return Influence(squares, cubes, smallest)


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

    For sums n_units x machine epsilon x sum over terms of |derivative| x sum of |term|: it scales
    with the size of the terms, not with the value, which may cancel to 0. Counts in tallies are
    exact, only the arithmetic on them rounds, once a class at the most; statistics of row weights
    round once a row: both relative to the size of the values.

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
        error = error + units.n_units * _EPSILON * _sensitivity(estimand, units, scale)
    return np.where(np.isfinite(error), error, 0.0)


def _sensitivity(estimand: Estimand, units: Units, scale: Floats) -> Floats:
    """Sum over dense terms of |derivative of the value| x size, by central differences."""
    step = 2.0**-20  # error of second order: 1e-12 of the derivative
    totals = units.totals()
    share = units.layout.sums_by_cell(np.ones(units.layout.n_units)) / units.layout.n_units
    shape = (units.layout.n_cells,)
    sum_of_slopes = np.zeros((estimand.n_values, *shape))
    weighted = [np.zeros((bound.n_values, *shape)) for bound in estimand.weighted]
    for i, (term, size) in enumerate(zip(estimand.terms, estimand.sizes, strict=True)):
        if isinstance(term, Tally):
            continue
        above, below = list(totals), list(totals)
        above[i] = totals[i] + step * size * share
        below[i] = totals[i] - step * size * share
        difference = estimand.value(above, weighted, shape) - estimand.value(below, weighted, shape)
        slope = np.abs(difference) / (2.0 * step)
        sum_of_slopes += np.where(np.isfinite(slope), slope, scale)
    return sum_of_slopes
