"""Replicates that do not vary, told from those that vary by less than sums far from 0 may be off.

Of rows that are all equal the standard error is 0 and every limit the estimate, though sums in
another order differ in their last bits. The bound of what sums may be off is no proof: a mean of
times since 1970 spreads by less. Formulas and the rounding of the rows decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fastboot.jackknife import rounding_of_rows
from fastboot.statistics.estimand import Estimand
from fastboot.studentized import LinearErrors, is_cheap, linear_errors
from fastboot.units import Units

__all__ = ["beyond_rounding", "largest", "settled", "varies"]

Floats = NDArray[np.float64]


def largest(replicates: Floats) -> Floats:
    """Largest absolute value among the replicates, 0 where none is defined."""
    found: Floats = np.fmax.reduce(np.abs(replicates), axis=2)
    return np.nan_to_num(found)


def settled(
    replicates: Floats, estimates: Floats, tolerance: Floats, ask: Callable[[], object]
) -> Floats:
    """Return replicates: the estimate itself where all that are defined equal it but for rounding.

    Then nothing varies: the standard error is 0 and every limit is the estimate. Unless rows do
    vary, by less than the bound of what sums may be off far from 0.

    Parameters
    ----------
    replicates, estimates
        Shape (n_values, n_cells, n_replicates), and without the last axis.
    tolerance
        What sums may be off, shape (n_values, n_cells).
    ask
        Which values vary, shape (n_values, n_cells) or one for all; asked where it matters.
    """
    low, high = np.fmin.reduce(replicates, axis=2), np.fmax.reduce(replicates, axis=2)
    with np.errstate(invalid="ignore", over="ignore"):
        alike = np.maximum(estimates - low, high - estimates) <= tolerance
    if alike.any():
        alike &= np.logical_not(np.asarray(ask(), np.bool_))
    if not alike.any():
        return replicates
    found = replicates.copy()
    found[alike] = np.where(np.isnan(replicates[alike]), np.nan, estimates[alike][:, None])
    return found


def varies(
    replicates: Floats, estimates: Floats, target: Estimand, units: Units | None, size: Floats,
    n_rows: int,
) -> object:  # fmt: skip
    """Tell which values vary by more than rounding: with the rows, or by what NumPy's sums leave.

    A sum by pairs errs by log2(n) roundings, and a few more make a value of it (Higham 2002,
    section 4.2); order statistics have none.
    """
    if units is None or target.weighted:
        n_roundings = math.log2(n_rows) + 8.0
        far = np.nanmax(np.abs(replicates - estimates[..., None]), axis=2, initial=0.0)
        return far > n_roundings * np.finfo(np.float64).eps * size
    errors = linear_errors(target, units) if is_cheap(units) else None
    return beyond_rounding(errors, target, units, size)


def beyond_rounding(
    errors: LinearErrors | None, target: Estimand, units: Units, size: Floats
) -> object:
    """Tell which values vary with the rows by more than these were rounded; all where unknown."""
    return True if errors is None else errors.cr0 > rounding_of_rows(target, units, size)
