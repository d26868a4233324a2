"""Random swaps of two systems' rows: from a sample and questions to an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Labels
from fastboot.designs import Slices
from fastboot.executors import by_ranges
from fastboot.jackknife import rounding
from fastboot.keeping import facts_of, kept
from fastboot.measures import MeasureExchanged, RowsOfCells
from fastboot.observation import observed, rows_of, units_of
from fastboot.paths import Replicates, Run, no_weights
from fastboot.resampling import Answer, warn_undefined
from fastboot.sample import Sample
from fastboot.scanned_draws import swap_sample
from fastboot.scanned_sample import ScannedSample
from fastboot.statistics.additive import Additive, Tally
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Estimand, Question, moves
from fastboot.statistics.weighted import Weighted
from fastboot.surveyed_units import SurveyedUnits
from fastboot.swap_paths import enumerates, swap
from fastboot.units import Layout, Units

__all__ = ["joined", "pooled", "swap_answer"]

Floats = NDArray[np.float64]


def swap_answer(
    questions: Sequence[Question],
    sample: Sample,
    run: Run,
    *,
    cells: Slices | None = None,
    scale: Floats,
) -> Answer:
    """Swap the units of two systems at random.

    Parameters
    ----------
    questions, sample, run, cells, scale
        As in `bootstrap_answer`.
    """
    if isinstance(sample, ScannedSample):
        return _scanned(questions, sample, run, scale=scale)
    if cells is not None:
        run = run._replace(path="weights")  # one way for all slices, never enumerated
    arrangement = sample.arrange(cells)
    layout = arrangement.layout
    target = sample.estimand(questions, cells)
    change = moves(questions, lambda terms: sample.totals(terms, cells))
    units = units_of(change, layout, drawn_vary=True)
    differing = _differing(questions, change, units, layout)
    measure = _exchanged(change, layout, sample)

    swapped = change, units, measure, layout, differing, 2 * sample.n_rows

    def draw(part: Run) -> Replicates:
        # Sums take less time here than on their way.
        here = part.executor is None or not change.weighted or not differing.size
        if here or (layout.n_cells == 1 and enumerates(differing.size, part)):
            return swap(*swapped, part)
        return by_ranges(swap, swapped, part)

    values = observed(target, sample, cells)
    replicates = kept(
        draw,
        run,
        lambda: facts_of(questions, sample, units, arrangement, run),
        values,
        "total" if cells is None else "slices",
    )
    warn_undefined(replicates.values, questions)
    edges = np.searchsorted(differing, layout.cell_offsets)
    return Answer(
        estimates=values,
        replicates=replicates.values,
        path=replicates.path,
        influence=None,
        rounding=rounding(target, units_of(target, layout, drawn_vary=False), scale, sample.n_rows)
        + _off(questions, change, values),
        n_rows=rows_of(sample.n_rows, cells),
        n_units=np.diff(layout.cell_offsets),
        n_differing=np.diff(edges),
    )


def _scanned(
    questions: Sequence[Question], sample: ScannedSample, run: Run, *, scale: Floats
) -> Answer:
    """Swap units that are read block by block."""
    units = sample.units
    assert sample.change is not None
    values = observed(sample.target, sample, None)
    replicates = kept(
        lambda part: swap_sample(sample, part),
        run,
        lambda: facts_of(questions, sample, units, sample.arrange(), run),
        values,
    )
    warn_undefined(replicates.values, questions)
    n_differing = (
        sample.n_differing
        if isinstance(units, SurveyedUnits)
        else np.count_nonzero((units.varying != 0.0).any(axis=0))
    )
    return Answer(
        estimates=values,
        replicates=replicates.values,
        path=replicates.path,
        influence=None,
        rounding=rounding(sample.target, sample.shape, scale, sample.n_rows)
        + _off(questions, sample.change, values),
        n_rows=np.array([sample.n_rows]),
        n_units=np.array([units.n_units]),
        n_differing=np.array([n_differing]),
    )


def _off(questions: Sequence[Question], change: Estimand, values: Floats) -> Floats:
    """Return how far all values after swaps are off, shape (n_values, n_cells).

    They start from the sums of either system, observed differences from the sums of differences:
    without a swap both are the same but for rounding.
    """
    shape = (values.shape[1], 1)
    sums = [
        np.zeros((term.size, *shape) if isinstance(term, Tally) else shape) for term in change.terms
    ]
    weighted = [np.zeros((one.n_values, *shape)) for one in change.weighted]
    with np.errstate(all="ignore"):
        off = np.abs(change.value(sums, weighted, shape)[..., 0] - values)
    summed = np.repeat(
        [isinstance(question.a.statistic, Additive) for question in questions],
        [question.a.n_values for question in questions],
    )
    return np.where(summed[:, None] & np.isfinite(off), off, 0.0)


def _differing(
    questions: Sequence[Question], change: Estimand, units: Units | None, layout: Layout
) -> NDArray[np.int64]:
    """Return the units that differ between the systems; others change nothing when swapped."""
    if units is not None and units.sparse is None and not change.weighted:
        differs = (units.varying != 0.0).any(axis=0)
        return np.flatnonzero(differs)
    n_rows = layout.n_units if layout.unit_of_row is None else layout.unit_of_row.size
    rows = np.zeros(n_rows, np.bool_)
    for question in questions:
        assert question.b is not None
        for x, y in zip(question.a.columns, question.b.columns, strict=True):
            rows |= _unequal(x, y)
    if layout.unit_of_row is None:
        return np.flatnonzero(rows)
    return np.unique(layout.unit_of_row[rows])


def _unequal(x: Any, y: Any) -> NDArray[np.bool_]:
    if isinstance(x, Labels):
        number = {value: code for code, value in enumerate(x.values)}
        # A missing label, -1, is the last.
        translated = np.array([*(number.get(value, -2) for value in y.values), -1])
        return np.asarray(x.codes != translated[y.codes])
    return np.asarray((x != y) & ~(np.isnan(x) & np.isnan(y)))


def _exchanged(
    change: Estimand, layout: Layout, sample: Sample
) -> Callable[[int, Floats], list[Floats]]:
    """Return how to compute statistics of row weights after swaps."""
    if not change.weighted:
        return no_weights
    n = sample.n_rows
    codes = np.arange(n) if layout.unit_of_row is None else layout.unit_of_row
    twice = Layout(
        np.concatenate([codes, codes]),
        layout.n_units,
        layout.offsets,
        layout.cell_of_part,
        layout.n_cells,
    )
    factors = None if sample.factors is None else np.concatenate([sample.factors] * 2)
    rows = RowsOfCells.of(twice, factors, 2 * n)
    pairs = zip(change.weighted[::2], change.weighted[1::2], strict=True)
    both = [pooled(a, b) for a, b in pairs for _ in range(2)]
    target = Estimand((), (), both, change.n_values, change.value)
    return MeasureExchanged(target.weighted, rows, np.arange(2 * n) < n)


def pooled(a: Bound, b: Bound) -> Bound:
    """Return a statistic of row weights with the rows of both systems, the first's first."""
    assert isinstance(a.statistic, Weighted)
    columns = [joined(x, y) for x, y in zip(a.columns, b.columns, strict=True)]
    return Bound(a.statistic, columns, (), a.missing or b.missing)


def joined(x: Any, y: Any) -> Any:
    """Return a column with the rows of both, the first's first."""
    if isinstance(x, Labels):
        values = list(dict.fromkeys((*x.values, *y.values)))
        number = {value: code for code, value in enumerate(values)}
        translated = np.array([*(number[value] for value in y.values), -1])
        codes = np.concatenate([x.codes, translated[y.codes]])
        codes.flags.writeable = False
        return Labels(codes, tuple(values))
    joined = np.concatenate([x, y])
    joined.flags.writeable = False
    return joined
