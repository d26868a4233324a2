"""What becomes of a statistic as the same rows come more often: which ones depend on their number.

A mean stays, a total doubles. Resamples of another size than the sample have totals that cannot be
held against the observed one, so such designs must know. A median stays too, but for rows of weight
1 / n, which together are one row, it is their mean: who gives shares must be told. No statistic
says which it is: it is asked for the values of the rows themselves, several times over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastboot.measures import MeasureRows, RowsOfCells
from fastboot.rendering import count
from fastboot.sample import Sample
from fastboot.statistics.additive import Additive
from fastboot.statistics.bound import Bound, weighed
from fastboot.statistics.estimand import Question
from fastboot.units import one_part

__all__ = ["check_drawn", "counted_rows", "degrees", "remark_on_weights"]

Floats = NDArray[np.float64]

# Of sums: so many times the rows that n and n - 1 are one, and a constant beside the sums is none.
_OF_SUMS = (2.0**20, 2.0**21)
# Of weights of rows, which a function writes out: no more than resamples may have.
_OF_WEIGHTS = (1.0, 2.0)
# A degree this close to a whole number is one: corrections for few rows are further off.
_NEAR = 0.02
# Weights that rows have by mistake are shares: 1 / n, or percent of one another. Weights about 1
# that were meant to count (of pairs, of halves of items) are 1/2 and more.
_LEAST_MEAN_WEIGHT = 0.5
# A value that weights change by less is the same for a reader.
_NOTICED = 1e-3


def check_drawn(questions: Sequence[Question], sample: Sample, n_units: int) -> None:
    """Refuse statistics that grow with the number of rows where resamples have another number.

    Parameters
    ----------
    questions, sample
        What is estimated, from what.
    n_units
        Units of the sample.

    Raises
    ------
    ValueError
        A statistic is proportional to the number of rows, or to a power of it.
    """
    n_drawn, unit = sample.design.n_drawn, sample.design.unit
    if n_drawn is None or n_drawn == n_units:
        return
    for bound in (bound for question in questions for bound in question.bounds):
        power = degrees(bound, sample)
        whole = np.round(power)
        if ((whole >= 1.0) & (np.abs(power - whole) < _NEAR)).any():
            raise ValueError(
                f"`n_drawn` is {n_drawn:,} of {count(n_units, unit)}, but {bound.statistic.name} "
                "grows with the number of rows: its resamples are of another size than the "
                "estimate, and neither interval nor p-value would be about it; ask for the mean, "
                "as fb.mean does, or leave n_drawn out"
            )


def degrees(bound: Bound, sample: Sample) -> Floats:
    """Return the power of the number of rows that each value is proportional to.

    Parameters
    ----------
    bound
        A statistic of the sample.
    sample
        In memory.

    Returns
    -------
    array
        Shape (n_values,): 0 of a mean, 1 of a total; NaN where it cannot be told (0, undefined, or
        another sign).
    """
    if bound.missing:
        return np.full(bound.n_values, np.nan)
    factors = _OF_WEIGHTS
    if isinstance(bound.statistic, Additive):
        # Uneven weights: a total that is 0, as of +1 and -1, tells nothing.
        uneven = np.linspace(0.5, 1.0, sample.n_rows)
        bound, factors = replace(bound, terms=weighed(bound.terms, uneven)), _OF_SUMS
    once, twice = _repeated(bound, sample, factors).T
    with np.errstate(all="ignore"):
        found: Floats = np.log2(twice / once)
    return np.where(np.isfinite(found), found, np.nan)


def counted_rows(question: Question, sample: Sample) -> NDArray[np.bool_]:
    """Tell which values vary with the number of rows alone, shape (n_values,).

    Of functions of sums; others are not asked.
    """
    found = np.zeros(question.a.n_values, bool)
    for bound in question.bounds:
        if isinstance(bound.statistic, Additive):
            found |= np.abs(degrees(bound, sample)) > _NEAR
    return found


def remark_on_weights(bound: Bound, sample: Sample) -> str:
    """Return the sentence on weights that are shares, where it matters that they count rows.

    That is where the mean weight of the rows that have one is below 1/2, and the value is another
    if all weights are enlarged until they sum to about the number of these rows.

    Parameters
    ----------
    bound
        A statistic of the sample.
    sample
        Any.
    """
    if sample.weighed is None or bound.missing:
        return ""
    total, n_weighed = sample.weighed
    if total >= _LEAST_MEAN_WEIGHT * n_weighed:
        return ""
    # By a power of two, which rounds nothing: what does not change keeps its last bit.
    times = 2.0 ** round(math.log2(n_weighed / total))
    once, enough, more = _repeated(bound, sample, (1.0, times, times * times)).T
    with np.errstate(all="ignore"):
        far = ~(np.abs(enough - once) <= _NOTICED * np.fmax(np.abs(once), np.abs(enough)))
        # A total of shares is a mean, as whoever asked for a total of them knows: it grows.
        powers, later = (
            np.log2(x / y) / math.log2(times) for x, y in ((enough, once), (more, enough))
        )
        grows = (np.abs(powers - later) < _NEAR) & (np.abs(powers) > _NEAR)
    if not (far & ~grows & ~(np.isnan(once) & np.isnan(enough))).any():
        return ""
    return (
        f"`weights` sum to {total:.4g} over {count(n_weighed, 'row')}: they count rows in "
        f"{bound.statistic.name}; multiply shares by the number of rows"
    )


def _repeated(bound: Bound, sample: Sample, factors: Sequence[float]) -> Floats:
    """Return the values where all weights are so many times larger, (n_values, n_factors)."""
    target = sample.estimand([Question(bound)])
    times = np.array(factors)
    weighted: list[Floats] = []
    if target.weighted:
        rows = RowsOfCells.of(one_part(sample.n_rows), sample.factors, sample.n_rows)
        weights = np.repeat(times[:, None], sample.n_rows, axis=1)
        measure = MeasureRows(target.weighted, rows)
        weighted = [one[:, 0] for one in measure(-1, weights)]
    with np.errstate(over="ignore"):
        sums = [total * times for total in sample.totals(target.terms)]
    return target.value(sums, weighted, times.shape)
