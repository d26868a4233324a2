"""Standard errors of additive statistics from second moments, of a sample and of every replicate.

To first order a statistic changes by g'v if the weight of a unit grows by 1, where v are the unit's
terms about their mean and g is the gradient of the value at the sums. Its squared standard error is
therefore g'C g with C the sum of v v' over the drawn units: the linear (delta method) error, which
for a ratio r = sum of y / sum of x is the root of sum of (y - r x)^2 / (sum of x)^2, for a mean the
standard deviation (ddof = 0) / sqrt(n). C is a sum over units like the terms themselves, so a
replicate's own error costs K (K + 1) / 2 more terms and no resampling inside
(:func:`fastboot.analytic.studentized_interval` needs it).

Products are made of residuals, see :mod:`fastboot.residuals`.

The gradient is taken along the columns of a triangular factor of C: these are what becomes of the
sums if the weights of the drawn units change, by no more than themselves. So the value is never
asked for sums that data cannot have (a correlation above 1), and what its sums cannot do together
has no share. On every column, the difference of the values at +-1/128 and at +-1/256, extrapolated
to 0 (Richardson 1911). Measured against closed forms for five units and more: errors of means,
ratios, F-scores and correlations are wrong by 1e-9 of themselves at most, and by 400 times the
rounding error of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK, blocks_of, joined
from fastboot.designs import Design
from fastboot.jackknife import listed
from fastboot.residuals import Means, centre_of, linear_sums
from fastboot.statistics.additive import Additive
from fastboot.statistics.estimand import Estimand, Question
from fastboot.units import Layout, Place, Tally, Units

__all__ = [
    "LinearErrors",
    "block_moments",
    "check_studentized",
    "errors_of_moments",
    "is_cheap",
    "linear_errors",
    "with_second_moments",
    "without_second_moments",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_Value = Callable[[Floats], Floats]

# 120 products: with 15 terms a replicate takes 15 ns a unit, and the units 1 GB a million.
_MOST_TERMS = 15
# Multiplications of second moments that take 0.1 s, at 0.7 ns each (with 10 and 15 terms); dearer
# ones are not computed unasked.
_CHEAP = 15 * 10**7
# Numbers of listed units at a time: 0.5 MB.
_CHUNK = 1 << 16
_EPSILON = float(np.finfo(np.float64).eps)
# A ratio errs by at most step^4 / 4 = 1e-9 of its change, and usually by much less: its denominator
# does not change by all of itself but by its coefficient of variation. Roundings of the value are
# divided by the step.
_STEP = 2.0**-7
# Four roundings in each value, times the 3 / step that the extrapolation makes of them: a change
# smaller than this is none.
_ROUNDING = 4.0 * 3.0 * _EPSILON / _STEP
# Slopes above this many times the cut lose less than a millionth of themselves to rounding, far
# more than any do at an offset of a hundred standard errors.
_FAR = 2.0**20
# A sum of n products errs by at most n roundings of their sizes, their factor by one for each term
# (Higham 2002, sections 3.1 and 10.1); the sums and the mean count again.
_NOISE = 4.0 * _EPSILON


class LinearErrors(NamedTuple):
    """Standard errors of observed values.

    cr0 : of what infinitely many resamples tend to as units become many, shape (n_values, n_cells)
    cr1 : with n / (n - 1) in every part, shape (n_values, n_cells)
    degrees_of_freedom : units less parts, shape (n_cells,)
    """

    cr0: Floats
    cr1: Floats
    degrees_of_freedom: Integers

    def __sub__(self, other: LinearErrors) -> LinearErrors:
        """Return those of the difference between the values of two independent samples."""
        return LinearErrors(
            np.hypot(self.cr0, other.cr0),
            np.hypot(self.cr1, other.cr1),
            self.degrees_of_freedom + other.degrees_of_freedom,
        )


def check_studentized(questions: Sequence[Question], design: Design) -> None:
    """Refuse what has no standard error in every replicate.

    Raises
    ------
    ValueError
        A statistic is not a function of a few sums, or units are not drawn with replacement.
    """
    if not design.plain:
        scheme = (
            f"scheme={design.scheme!r}" if design.levels is None else f"levels={design.levels!r}"
        )
        raise ValueError(
            f'method="studentized" and {scheme}: standard errors of replicates are known for plain '
            "resampling with replacement; choose another method"
        )
    for bound in (bound for question in questions for bound in question.bounds):
        sums = isinstance(bound.statistic, Additive)
        if not sums or any(isinstance(term, Tally) for term in bound.terms):
            what = "counts classes or bins" if sums else "is not a function of sums over rows"
            raise ValueError(
                f'method="studentized" needs second moments of a few sums, but '
                f"{bound.statistic.name} {what}; choose another method, such as "
                f"{'bca' if sums else 'percentile'}"
            )


def with_second_moments(estimand: Estimand, units: Units) -> tuple[Estimand, Units]:
    """Return an estimand of the values and their standard errors, and its units.

    Every part is a cell of its own for the sums, as the error is that within parts; values are of
    the cells as before.

    Parameters
    ----------
    estimand
        Without statistics of row weights.
    units
        Listed singly, without tallies.

    Returns
    -------
    Estimand
        Its first half of values are those of `estimand`, then come their standard errors.
    Units
        With the products of the terms, about their means in the part: what is equal stays equal,
        so the same units collapse into classes.

    Raises
    ------
    ValueError
        More than 15 terms vary.
    """
    layout, n_terms = units.layout, len(units.varying)
    if n_terms > _MOST_TERMS:
        raise ValueError(
            f'method="studentized" needs the products of all terms, but {n_terms} terms vary; up '
            f"to {_MOST_TERMS} it can do: ask for fewer statistics at a time, or choose another "
            "method"
        )
    sizes = layout.sizes
    centres = _sums_by_part(units.varying, layout.offsets) / sizes
    pairs = [(i, j) for i in range(n_terms) for j in range(i + 1)]
    varying = np.empty((n_terms + len(pairs), units.n_units))
    varying[:n_terms] = units.varying
    means = Means.of(estimand, units)
    own = units if means is None else means.residuals(units)
    middle = centres if means is None else _sums_by_part(own.varying, layout.offsets) / sizes
    about = own.varying - (middle if sizes.size == 1 else np.repeat(middle, sizes, axis=1))
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 errors are undefined
        for row, (i, j) in zip(varying[n_terms:], pairs, strict=True):
            np.multiply(about[i], about[j], out=row)
    varying.flags.writeable = False
    # Behind the terms the products, and the units drawn.
    added = [Place(n_terms + row, 0, None) for row in range(len(pairs))] + [Place(0, 0, 1.0)]
    parts = Layout(layout.unit_of_row, layout.n_units, layout.offsets, np.arange(sizes.size),
                   sizes.size)  # fmt: skip
    moments = Units(varying, None, (*units.places, *added), len(varying), None, parts)
    places = [place for place, found in enumerate(units.places) if found.constant is None]
    first_parts = np.searchsorted(layout.cell_of_part, np.arange(layout.n_cells))

    numerators = linear_sums(estimand, units)
    of_cells = np.diff(layout.cell_offsets)
    averages = np.add.reduceat(centres * sizes, first_parts, axis=1) / of_cells

    def by_cell(sums: Floats) -> Floats:
        if sizes.size == layout.n_cells:
            return sums
        joined: Floats = np.add.reduceat(sums, first_parts, axis=-2)
        return joined

    def value(sums: Sequence[Any], _: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        n_drawn = sums[-1]
        totals = np.empty((n_terms, *shape))
        for row, place in zip(totals, places, strict=True):
            row[:] = sums[place]
        squares = np.empty((n_terms, n_terms, *shape))
        for (i, j), total in zip(pairs, sums[len(units.places) : -1], strict=True):
            squares[i, j] = squares[j, i] = total
        with np.errstate(all="ignore"):
            negligible = by_cell((n_drawn + n_terms) * _NOISE * np.einsum("ii...->i...", squares))
            shifts = totals - n_drawn * centres[:, :, None]
            if means is not None:
                shifts -= means.means[:, layout.cell_of_part, None] * shifts[means.about]
                negligible += by_cell(n_drawn) * means.least[..., None]
            covariance = by_cell(squares - shifts[:, None] * shifts / n_drawn)
        drawn = by_cell(n_drawn)

        of_sums = _of_sums(estimand, units, drawn)
        all_totals = by_cell(totals)
        near = None
        if numerators is not None:
            near = all_totals.copy()
            near[numerators] -= (
                averages[numerators, :, None] * drawn
                if means is None
                else means.means[numerators, :, None] * all_totals[means.about[numerators]]
            )
        found, errors = _errors(of_sums, all_totals, covariance, negligible, means, near)
        return np.concatenate([found, errors])

    n_values, n_cells = 2 * estimand.n_values, layout.n_cells
    return Estimand(estimand.terms, estimand.sizes, (), n_values, value, n_cells), moments


def without_second_moments(seen: Units, units: Units) -> Units:
    """Return units that were drawn with their second moments by their own terms alone.

    Parameters
    ----------
    seen
        As they were drawn: listed, or classes.
    units
        As they were before :func:`with_second_moments`.
    """
    if seen.counts is None:
        return units
    own = seen.varying[: len(units.varying)]
    return Units(own, None, units.places, units.n_sums, seen.counts, seen.layout)


def is_cheap(units: Units) -> bool:
    """Tell whether `linear_errors` takes 0.1 s or less."""
    n_listed = units.n_units if units.counts is None else units.counts.size
    return n_listed * units.n_sums**2 <= _CHEAP


def linear_errors(estimand: Estimand, units: Units) -> LinearErrors:
    """Return the standard errors of observed values.

    Parameters
    ----------
    estimand
        Without statistics of row weights.
    units
        The sample; classes count with their multiplicity.
    """
    layout = units.layout
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 errors are undefined
        means = Means.of(estimand, units)
        if layout.sizes.size == 1:
            n_listed = units.n_units if units.counts is None else units.counts.size
            totals = units.sums()
            centre = centre_of(units, means)
            blocks = blocks_of(0, n_listed)
            within = joined(block_moments(units, centre, *block, means) for block in blocks)
            return errors_of_moments(estimand, units, totals, within[..., None], means)
        moments = [
            _part_moments(units, start, stop, None if means is None else means.of_cell(cell))
            for (start, stop), cell in zip(
                pairwise(layout.offsets), layout.cell_of_part, strict=True
            )
        ]
    totals = np.stack([total for total, _ in moments], axis=-1)
    within = np.stack([squares for _, squares in moments], axis=-1)
    return errors_of_moments(estimand, units, totals, within, means)


def errors_of_moments(
    estimand: Estimand, units: Units, totals: Floats, within: Floats, means: Means | None = None
) -> LinearErrors:
    """Return the standard errors of observed values, from moments of the units.

    Parameters
    ----------
    estimand, units
        As in `linear_errors`.
    totals
        Sums of the terms in each part, shape (n_sums, n_parts).
    within
        Sums of products about the mean of the part, shape (n_sums, n_sums, n_parts).
    means
        Where the products are of residuals, those about which these are.
    """
    layout = units.layout
    sizes = layout.sizes
    first_parts = np.searchsorted(layout.cell_of_part, np.arange(layout.n_cells))
    n_drawn = np.add.reduceat(sizes, first_parts)
    sums = np.add.reduceat(totals, first_parts, axis=-1)[..., None]
    of_sums = _of_sums(estimand, units, n_drawn[:, None])
    numerators = linear_sums(estimand, units)
    near = None if numerators is None else sums.copy()
    if near is not None:
        near[numerators] = 0.0

    def errors(factors: Floats) -> Floats:
        covariance = np.add.reduceat(within * factors, first_parts, axis=-1)
        negligible = (n_drawn + units.n_sums) * _NOISE * np.einsum("ii...->i...", covariance)
        if means is not None:
            negligible += n_drawn * means.least
        of_all = sums, covariance[..., None], negligible[..., None]
        found: Floats = _errors(of_sums, *of_all, means, near)[1]
        return found[..., 0]

    parts = np.bincount(layout.cell_of_part, minlength=layout.n_cells)
    with np.errstate(all="ignore"):
        corrections = sizes / (sizes - 1.0)
        cr0 = errors(np.ones(sizes.size))
        cr1 = cr0 * np.sqrt(corrections) if (parts == 1).all() else errors(corrections)
    # A single unit varies in no term: 0 x 1 / 0 is not seen there.
    alone = np.logical_or.reduceat(sizes == 1, first_parts)
    return LinearErrors(cr0, np.where(alone, np.nan, cr1), n_drawn - parts)


def _of_sums(estimand: Estimand, units: Units, drawn: Floats | Integers) -> _Value:
    """Return the values of sums of so many units each, shape (n_cells, n_replicates).

    The last axis of the sums may be a multiple of that: further sums of the same replicates.
    """

    def of_sums(sums: Floats) -> Floats:
        own = np.tile(drawn, (1, sums.shape[-1] // drawn.shape[-1]))
        return estimand.value(units.expand(sums, own), [], own.shape)

    return of_sums


def _sums_by_part(terms: Floats, offsets: Integers) -> Floats:
    """Sums of all terms over the units of each part, shape (n_terms, n_parts)."""
    if np.diff(offsets).max() <= BLOCK:
        return np.add.reduceat(terms, offsets[:-1], axis=1)
    parts = [
        joined(
            np.add.reduceat(terms[:, first:last], [0], axis=1) for first, last in blocks_of(*part)
        )
        for part in pairwise(offsets)
    ]
    return np.concatenate(parts, axis=1)


def _part_moments(
    units: Units, start: int, stop: int, means: Means | None
) -> tuple[Floats, Floats]:
    """Sums of all terms over the units of a part, and of products about their means."""
    totals, own = np.zeros((2, units.n_sums))
    for chunk in _chunks(units, start, stop):
        terms = listed(units, *chunk)
        totals += terms.sum(axis=1)
        own += (terms if means is None else means.taken_from(terms)).sum(axis=1)
    centre = own / (stop - start)
    return totals, joined(
        block_moments(units, centre, *block, means) for block in blocks_of(start, stop)
    )


def block_moments(
    units: Units, centre: Floats, start: int, stop: int, means: Means | None = None
) -> Floats:
    """Return the sums of products of terms over a block of listed units, shape (n_sums, n_sums).

    Parameters
    ----------
    units
        The block among others, or alone.
    centre
        What products are about: the mean of all units, shape (n_sums,).
    means
        Where they are of residuals, those about which these are.
    start, stop
        The block's first listed unit, and the one after its last.
    """
    squares = np.zeros((units.n_sums, units.n_sums))
    for chunk in _chunks(units, start, stop):
        terms = listed(units, *chunk)
        about = (terms if means is None else means.taken_from(terms)) - centre[:, None]
        counted = about * _multiplicities(units, *chunk)
        # Not a matrix product, whose last bits depend on the threads of BLAS; up to 15 terms it
        # takes as long or up to three times as long.
        for row, one in enumerate(counted):
            squares[row, : row + 1] += np.einsum("u,tu->t", one, about[: row + 1])
    above = np.triu_indices(units.n_sums, 1)
    squares[above] = squares.T[above]
    return squares


def _chunks(units: Units, start: int, stop: int) -> Iterator[tuple[int, int]]:
    step = max(1, _CHUNK // max(1, units.n_sums))
    for first in range(start, stop, step):
        yield first, min(first + step, stop)


def _multiplicities(units: Units, start: int, stop: int) -> Any:
    return 1.0 if units.counts is None else units.counts[start:stop]


def _errors(
    value: _Value,
    sums: Floats,
    covariance: Floats,
    negligible: Floats,
    means: Means | None,
    near: Floats | None,
) -> tuple[Floats, Floats]:
    """Return values at sums, and their standard errors; NaN where undefined.

    Parameters
    ----------
    value
        From sums, shape (n_sums, ...), to values, shape (n_values, ...); of several sets of sums
        side by side on the last axis.
    sums
        Shape (n_sums, ...).
    covariance
        Of the sums, shape (n_sums, n_sums, ...).
    negligible
        Shape (n_sums, ...): variances up to this are rounding errors.
    means
        Where the covariance is of residuals, those about which these are.
    near
        The sums of rows about their mean, at which values round less; None where they have none.
    """
    found = value(sums)
    squares = np.where(np.isnan(found), np.nan, 0.0)
    at_once = max(1, _CHUNK // max(1, sums.size))
    with np.errstate(all="ignore"):
        least = _ROUNDING * np.abs(found)
        factor = _factor(covariance, negligible)
        changes = np.moveaxis(factor if means is None else means.restored(factor), 1, 0)
        own = np.moveaxis(factor, 1, 0)
        least_near = least if near is None else _ROUNDING * np.abs(value(near))
        for start in range(0, len(changes), at_once):
            some = slice(start, start + at_once)
            slopes = _slopes(value, sums, changes[some])
            kept = [np.where(np.abs(slope) <= least, 0.0, slope) for slope in slopes]
            if near is not None and any((np.abs(slope) < _FAR * least).any() for slope in slopes):
                precisely = zip(slopes, _slopes(value, near, own[some]), own[some], strict=True)
                for place, (slope, precise, change) in enumerate(precisely):
                    # Equal but for rounding: the value moves with the mean of the rows.
                    alike = (np.abs(slope) < _FAR * least) & (np.abs(slope - precise) <= least)
                    # What rounding leaves of the mean changes with the number of rows.
                    left = 0.0 if means is None else means.left(found, sums, change)
                    cut = np.where(np.abs(precise) <= least_near + left, 0.0, precise)
                    kept[place] = np.where(alike, cut, kept[place])
            for slope in kept:
                squares += slope**2
    return found, np.sqrt(squares)


def _slopes(value: _Value, sums: Floats, changes: Floats) -> list[Floats]:
    """Return the derivatives of the values along some changes of the sums."""
    steps = (_STEP, -_STEP, _STEP / 2.0, -_STEP / 2.0)
    points = [sums + step * change for change in changes for step in steps]
    values = np.split(value(np.concatenate(points, axis=-1)), len(points), axis=-1)
    slopes: list[Floats] = []
    for above, below, half_above, half_below in zip(*[iter(values)] * 4, strict=True):
        wide, narrow = (above - below) / (2.0 * _STEP), (half_above - half_below) / _STEP
        slopes.append((4.0 * narrow - wide) / 3.0)
    return slopes


def _factor(covariance: Floats, negligible: Floats) -> Floats:
    """Lower triangular factor (Cholesky), with a column of 0 where the terms before say it all."""
    left = covariance.copy()
    factor = np.zeros_like(covariance)
    for i, least in enumerate(negligible):
        there = ~((left[i, i] <= least) & (least < np.inf))  # undefined ones too
        factor[i:, i] = np.where(there, left[i:, i] / np.sqrt(left[i, i]), 0.0)
        column = factor[i:, i]
        left[i:, i:] -= column[:, None] * column
    return factor
