"""Terms about their means, so that second moments keep their digits far from 0.

Sums of groups go with the numbers of their rows, and numerators with their denominators, all but
collinearly where values lie far from 0. They are taken about the mean of a row, times the rows, or
about the ratio, times the denominator, before products are made of them: the residuals are exact to
the rounding of the sums, the difference of their squares would not be.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.jackknife import relative_rounding
from fastboot.statistics.additive import Ratio
from fastboot.statistics.estimand import Estimand, OfSums, parts_of
from fastboot.units import Units

__all__ = ["Means", "centre_of", "linear_sums"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Means(NamedTuple):
    """Means of the terms: of a row in units of several rows, of numerators by their denominators.

    about : for each sum the place of the sum over which its mean is; its own for none
    means : over that sum, shape (n_sums, n_cells); 0 for none
    least : variance of a unit that is rounding of its sum, shape (n_sums, n_cells)
    rounding : of sums over all units, as a share of themselves
    """

    about: Integers
    means: Floats
    least: Floats
    rounding: float

    @classmethod
    def of(cls, estimand: Estimand, units: Units) -> Means | None:
        """Return the means; None where all units have as many rows, and nothing is divided."""
        itself = np.arange(units.n_sums)
        about = itself.copy()
        n_varying = len(units.varying)
        rows_of_unit, count = estimand.n_rows, None
        for term, found in zip(estimand.terms, units.places, strict=True):
            if isinstance(term, float) and term != 0.0 and found.constant is None:
                count = found.start
                about[:n_varying] = count
                rows_of_unit = round(np.abs(units.varying[count]).max() / abs(term))
                break
        ratios = _ratios(estimand, units)
        for numerator, denominator in ratios.items():
            if numerator not in ratios.values():
                about[numerator] = denominator
        sums = units.sums()
        usable = np.isfinite(sums).all(axis=1) & (sums[about] != 0.0).all(axis=1)
        about = np.where(usable, about, itself)
        if (about == itself).all():
            return None
        means = np.where((about == itself)[:, None], 0.0, sums / sums[about])
        # Of rows that are read later only sums are known.
        most = np.abs(sums) / units.n_units
        if count is not None:
            most[count] = np.abs(units.varying[count]).max()
        least = (relative_rounding(rows_of_unit) * most[about] * means) ** 2
        return cls(about, means, least, relative_rounding(estimand.n_rows))

    def of_cell(self, cell: int) -> Means:
        """Return those of one cell."""
        return self._replace(means=self.means[:, [cell]])

    def taken_from(self, terms: Floats) -> Floats:
        """Return the residuals of terms, shape (n_sums, n); of one cell."""
        residuals: Floats = terms - self.means * terms[self.about]
        return residuals

    def residuals(self, units: Units) -> Units:
        """Return the units with their terms about the means."""
        sizes = np.diff(units.layout.cell_offsets)
        n_varying = len(units.varying)
        means = self.means[:n_varying]
        if sizes.size > 1:
            means = np.repeat(means, sizes, axis=1)
        varying = units.varying - means * units.varying[self.about[:n_varying]]
        varying.flags.writeable = False
        return replace(units, varying=varying)

    def left(self, values: Floats, sums: Floats, change: Floats) -> Floats:
        """Return how far the rounding of the sums changes values, as these change."""
        places = np.unique(self.about[self.about != np.arange(self.about.size)])
        share: Floats = np.abs(change[places] / sums[places]).max(axis=0)
        return self.rounding * np.abs(values) * share

    def restored(self, factor: Floats) -> Floats:
        """Return a factor of the covariance of the terms, from one of that of the residuals."""
        means = self.means[:, None, :, None]
        # Denominators are about the rows themselves.
        denominators = factor + means * factor[self.about]
        restored: Floats = factor + means * denominators[self.about]
        return restored


def _ratios(estimand: Estimand, units: Units) -> dict[int, int]:
    """Return of numerators that vary the denominators, where these vary: places among the sums."""
    found: dict[int, int] = {}
    for one in parts_of(estimand.value):
        if isinstance(one, OfSums) and isinstance(one.statistic, Ratio) and len(one.places) == 2:
            over, under = (units.places[place] for place in one.places)
            varies = over.constant is None and under.constant is None
            dense = max(over.start, under.start) < len(units.varying)
            if varies and dense and over.start != under.start:
                found.setdefault(over.start, under.start)
    return found


def centre_of(units: Units, means: Means | None) -> Floats:
    """Return the mean of the terms of all units, shape (n_sums,), or that of the residuals."""
    centre: Floats = units.sums()[:, 0] / units.n_units
    return centre if means is None else means.taken_from(centre[:, None])[:, 0]


def linear_sums(estimand: Estimand, units: Units) -> list[int] | None:
    """Return the sums in which values are linear, of means perhaps; None where one is not."""
    constants = any(isinstance(term, float) and term != 0.0 for term in estimand.terms)
    if not constants and not _ratios(estimand, units):
        return None
    found: set[int] = set()
    for one in parts_of(estimand.value):
        if not isinstance(one, OfSums) or not one.statistic.linear:
            return None
        place = units.places[one.places[0]]
        if place.constant is None:
            found.add(place.start)
    return sorted(found)
