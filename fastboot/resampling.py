"""One run: from a sample and questions to the numbers that results are made of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Labels
from fastboot.designs import Arrangement, Slices
from fastboot.jackknife import acceleration, acceleration_of_weights, rounding
from fastboot.paths import (
    RowsOfCells,
    Run,
    evaluator,
    measure_exchanged,
    measure_rows,
    plain_bootstrap,
    swap,
    weigh,
)
from fastboot.sample import Sample
from fastboot.statistics.estimand import Bound, Estimand, Question, estimand, moves
from fastboot.statistics.weighted import Weighted
from fastboot.units import Layout, Tally, Term, Units, from_rows

__all__ = ["Answer", "Observed", "bootstrap_answer", "observe", "swap_answer"]

Floats = NDArray[np.float64]

# Sums of units whose leave-one-out values take 0.1 s: more are computed only if BCa is asked for.
_CHEAP_JACKKNIFE = 10**8


@dataclass(frozen=True, eq=False)
class Answer:
    """What a run found, for all values and cells.

    Attributes
    ----------
    estimates
        Shape (n_values, n_cells).
    replicates
        Shape (n_values, n_cells, n_replicates).
    path
        The algorithm that ran.
    acceleration
        Shape (n_values, n_cells); None where it was not computed.
    rounding
        Shape (n_values, n_cells).
    n_rows, n_units
        Of each cell, shape (n_cells,).
    n_differing
        Units of each cell that differ between two systems, shape (n_cells,); swaps only.
    remarks
        Sentences about the run.
    """

    estimates: Floats
    replicates: Floats
    path: str
    acceleration: Floats | None
    rounding: Floats
    n_rows: NDArray[np.int64]
    n_units: NDArray[np.int64]
    n_differing: NDArray[np.int64] | None = None
    remarks: tuple[str, ...] = ()


class Observed(NamedTuple):
    """Observed values, shape (n_values, n_cells) each.

    estimates : of the questions
    own : of the systems themselves, where the questions are differences: a's and b's
    """

    estimates: Floats
    own: tuple[Floats, ...]

    @property
    def scale(self) -> Floats:
        """Size of the values, that of both systems for a difference; 0 where undefined."""
        parts = self.own or (self.estimates,)
        return np.nan_to_num(np.sum(np.abs(parts), axis=0))


def observe(questions: Sequence[Question], sample: Sample, cells: Slices | None) -> Observed:
    """Return the observed values of questions, and of the systems that they compare."""
    singles = [
        Question(question.bounds[system])
        for system in range(len(questions[0].bounds) if questions[0].b is not None else 0)
        for question in questions
    ]
    together = estimand([*questions, *singles], sample.n_rows)
    values = _observed(together, sample, cells)
    n_values = sum(question.a.n_values for question in questions)
    estimates, *own = (values[i : i + n_values] for i in range(0, len(values), n_values))
    return Observed(estimates, tuple(own))


def _observed(target: Estimand, sample: Sample, cells: Slices | None) -> Floats:
    n_cells = 1 if cells is None else len(cells.values)
    totals = totals_of(target.terms, sample.n_rows, cells)
    rows = RowsOfCells.of(_row_layout(sample.n_rows, cells), sample.factors, sample.n_rows)
    measure = measure_rows(target, rows)
    weighted = [one[:, :, 0] for one in measure(0, np.ones((1, sample.n_rows)))]
    return target.value(totals, weighted, (n_cells,))


def _row_layout(n_rows: int, cells: Slices | None) -> Layout:
    """Rows as units, in the order of their cells."""
    if cells is None:
        offsets, order = np.array([0, n_rows]), None
        n_cells = 1
    else:
        by_cell = np.argsort(cells.codes, kind="stable")
        order = np.empty(n_rows, np.int64)
        order[by_cell] = np.arange(n_rows)
        n_cells = len(cells.values)
        offsets = np.searchsorted(cells.codes[by_cell], np.arange(n_cells + 1))
    return Layout(order, n_rows, offsets, np.arange(n_cells), n_cells)


def totals_of(terms: Sequence[Term], n_rows: int, cells: Slices | None) -> list[Any]:
    """Sum of every term over the rows of each cell, shape (n_cells,) or (size, n_cells)."""
    codes = np.zeros(n_rows, np.int64) if cells is None else cells.codes
    n_cells = 1 if cells is None else len(cells.values)

    def total(term: Term) -> Any:
        if isinstance(term, Tally):
            there = term.codes >= 0
            values = np.broadcast_to(term.values, codes.shape)[there]
            places = term.codes[there] * n_cells + codes[there]
            sums = np.bincount(places, values, term.size * n_cells)
            return sums.reshape(term.size, n_cells)
        if cells is None:
            return np.array([term.sum() if isinstance(term, np.ndarray) else n_rows * term])
        if isinstance(term, np.ndarray):
            return np.bincount(codes, term, n_cells)
        return np.bincount(codes, minlength=n_cells) * term

    return [total(term) for term in terms]


def bootstrap_answer(
    questions: Sequence[Question],
    sample: Sample,
    run: Run,
    *,
    cells: Slices | None = None,
    bca: bool,
    observed: Observed,
) -> Answer:
    """Resample by the sample's design.

    Parameters
    ----------
    questions
        What to estimate.
    sample
        From what.
    run
        How to run.
    cells
        Slices to answer apart.
    bca
        The acceleration is wanted whatever it costs.
    observed
        See `observe`.
    """
    design = sample.design
    target = estimand(questions, sample.n_rows)
    arrangement = sample.arrange(cells)
    layout = arrangement.layout
    units = _units(target, layout, drawn_vary=design.drawn_vary)
    rows = RowsOfCells.of(layout, sample.factors, sample.n_rows)
    if design.plain:
        draws = design.draws(layout)
        replicates, seen = plain_bootstrap(target, units, rows, layout, draws, run)
    else:
        seen = units
        length = _block_length(target, sample, layout, units)
        n_drawn = np.diff(layout.cell_offsets)[:, None]
        measure = measure_rows(target, rows)

        def drawn_by(sampler: Sampler) -> Replicates:
            return weigh(
                target, units, measure, sampler, layout.n_cells, rows.n_rows, n_drawn, run
            )

        replicates = drawn_by(design.sampler(arrangement, run.sequence, length))
    _warn_undefined(replicates.values, questions)
    return Answer(
        estimates=observed.estimates,
        replicates=replicates.values,
        path=replicates.path,
        acceleration=_acceleration(target, sample, arrangement, seen, bca=bca),
        rounding=rounding(target, units, np.maximum(observed.scale, _largest(replicates.values)),
                          sample.n_rows),
        n_rows=_rows_of(sample.n_rows, cells),
        n_units=arrangement.n_units,
    )  # fmt: skip


def _units(target: Estimand, layout: Layout, *, drawn_vary: bool) -> Units | None:
    return from_rows(target.terms, layout, drawn_vary=drawn_vary) if target.terms else None


def _largest(replicates: Floats) -> Floats:
    """Largest absolute value among the replicates, 0 where none is defined."""
    largest: Floats = np.fmax.reduce(np.abs(replicates), axis=2)
    return np.nan_to_num(largest)


def _rows_of(n_rows: int, cells: Slices | None) -> NDArray[np.int64]:
    if cells is None:
        return np.array([n_rows])
    return np.bincount(cells.codes, minlength=len(cells.values))


def _acceleration(
    target: Estimand, sample: Sample, arrangement: Arrangement, units: Units | None, *, bca: bool
) -> Floats | None:
    undefined = not target.terms and not target.weighted  # missing values
    if undefined or sample.design.levels == "crossed" or sample.design.block_scheme:
        return np.full((target.n_values, arrangement.layout.n_cells), np.nan)
    whole = arrangement.whole
    if not target.weighted:
        if whole is not arrangement.layout:
            units = _units(target, whole, drawn_vary=False)
        assert units is not None
        n_listed = units.n_units if units.counts is None else units.counts.size
        if not bca and n_listed * units.n_sums > _CHEAP_JACKKNIFE:
            return None
        return acceleration(target, units)
    if not bca:
        return None
    rows = RowsOfCells.of(whole, sample.factors, sample.n_rows)
    varied = _units(target, whole, drawn_vary=True)
    evaluate = evaluator(target, varied, measure_rows(target, rows), whole.n_cells, 0)
    return acceleration_of_weights(evaluate, whole)


def _warn_undefined(replicates: Floats, questions: Sequence[Question]) -> None:
    """Warn once, for the caller of the procedure, if any replicate is undefined."""
    # With missing values all are, as was asked for.
    there = [not question.missing for question in questions for _ in range(question.a.n_values)]
    undefined = np.isnan(replicates[there])
    n_undefined = int(undefined.sum())
    if n_undefined:
        warnings.warn(
            f"the statistic is undefined in {n_undefined:,} of {undefined.size:,} replicates; "
            "they are NaN, counted in n_undefined and left out of intervals and p-values",
            RuntimeWarning,
            stacklevel=6,  # the call of the procedure
        )


def swap_answer(
    questions: Sequence[Question],
    sample: Sample,
    run: Run,
    *,
    cells: Slices | None = None,
    observed: Observed,
) -> Answer:
    """Swap the units of two systems at random.

    Parameters
    ----------
    questions, sample, run, cells, observed
        As in `bootstrap_answer`.
    """
    layout = sample.arrange(cells).layout
    target = estimand(questions, sample.n_rows)
    change = moves(questions, lambda terms: totals_of(terms, sample.n_rows, cells))
    units = _units(change, layout, drawn_vary=True)
    differing = _differing(questions, change, units, layout)
    measure = _exchanged(change, layout, sample)
    replicates = swap(change, units, measure, layout, differing, 2 * sample.n_rows, run)
    _warn_undefined(replicates.values, questions)
    edges = np.searchsorted(differing, layout.cell_offsets)
    return Answer(
        estimates=observed.estimates,
        replicates=replicates.values,
        path=replicates.path,
        acceleration=None,
        rounding=rounding(target, _units(target, layout, drawn_vary=False), observed.scale, sample.n_rows),
        n_rows=_rows_of(sample.n_rows, cells),
        n_units=np.diff(layout.cell_offsets),
        n_differing=np.diff(edges),
    )


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
        return lambda *_: []
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
    return measure_exchanged(target, rows, np.arange(2 * n) < n)


def pooled(a: Bound, b: Bound) -> Bound:
    """Return a statistic of row weights with the rows of both systems, the first's first."""
    assert isinstance(a.statistic, Weighted)
    columns = [_joined(x, y) for x, y in zip(a.columns, b.columns, strict=True)]
    return Bound(a.statistic, columns, (), a.missing or b.missing)


def _joined(x: Any, y: Any) -> Any:
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
