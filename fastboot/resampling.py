"""One run: from a sample and questions to the numbers that results are made of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fastboot.block_draws import Found
from fastboot.block_length import block_length
from fastboot.components import Components, components
from fastboot.designs import Arrangement, Design, Slices, crossed_sampler
from fastboot.executors import by_ranges, plain_replicates
from fastboot.jackknife import Influence, influence, influence_of_weights, leave_one_out, rounding
from fastboot.keeping import facts_of, kept
from fastboot.measures import MeasureRows, RowsOfCells, evaluator
from fastboot.observation import observed, rows_of, units_of
from fastboot.paths import Replicates, Run, weigh
from fastboot.sample import Sample
from fastboot.scanned_draws import draw_sample
from fastboot.scanned_sample import ScannedSample
from fastboot.statistics.additive import Ratio
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Estimand, Question
from fastboot.studentized import (
    LinearErrors,
    check_studentized,
    is_cheap,
    linear_errors,
    studentized_bootstrap,
)
from fastboot.units import Layout, Units
from fastboot.weights import Sampler

__all__ = [
    "Answer",
    "bootstrap_answer",
    "resample",
    "warn_undefined",
]

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
    influence
        Of the units on the values; None where it was not computed.
    rounding
        Shape (n_values, n_cells).
    n_rows, n_units
        Of each cell, shape (n_cells,).
    n_differing
        Units of each cell that differ between two systems, shape (n_cells,); swaps only.
    remarks
        For each value a sentence about the run, or an empty one; none at all.
    components
        For each value the parts of its variance; of crossed levels only.
    errors
        Standard errors of the estimates; None where there is no formula or it is dear.
    replicate_errors
        Standard errors of the replicates, of their shape; None where not asked for.
    proportions
        Shape (n_values,): whether a value is the share of rows that succeed, drawn independently.
    """

    estimates: Floats
    replicates: Floats
    path: str
    influence: Influence | None
    rounding: Floats
    n_rows: NDArray[np.int64]
    n_units: NDArray[np.int64]
    n_differing: NDArray[np.int64] | None = None
    remarks: tuple[str, ...] = ()
    components: tuple[Components, ...] | None = None
    errors: LinearErrors | None = None
    replicate_errors: Floats | None = None
    proportions: NDArray[np.bool_] | None = None

    @property
    def acceleration(self) -> Floats | None:
        """Of BCa intervals, shape (n_values, n_cells); None where it was not computed."""
        return None if self.influence is None else self.influence.acceleration


def bootstrap_answer(
    questions: Sequence[Question],
    sample: Sample,
    run: Run,
    *,
    cells: Slices | None = None,
    method: str | None,
    scale: Floats,
) -> Answer:
    """Resample by the sample's design; warn of undefined replicates.

    Parameters
    ----------
    questions, sample, run, cells, method, scale
        As in `resample`.
    """
    found = resample(questions, sample, run, cells=cells, method=method, scale=scale)
    warn_undefined(found.replicates, questions)
    return found


def resample(
    questions: Sequence[Question],
    sample: Sample,
    run: Run,
    *,
    cells: Slices | None = None,
    method: str | None,
    scale: Floats,
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
    method
        Of the interval: what "bca" and "studentized" need is computed whatever it costs; None for
        replicates alone, without leave-one-out values and formulas.
    scale
        Size of the values, shape (n_values, n_cells): of both systems, for a difference.
    """
    if isinstance(sample, ScannedSample):
        return _scanned(questions, sample, run, method=method, scale=scale)
    design = sample.design
    target = sample.estimand(questions)
    arrangement = sample.arrange(cells)
    layout = arrangement.layout
    remarks: tuple[str, ...] = ("",) * target.n_values
    name = "total" if cells is None else "slices"
    parts: tuple[Components, ...] | None = None
    units = units_of(target, layout, drawn_vary=design.drawn_vary)
    rows = RowsOfCells.of(layout, sample.factors, sample.n_rows)
    errors, seen = None, units
    if method == "studentized":
        check_studentized(questions, design)

    def facts() -> dict[str, str]:
        return facts_of(questions, sample, units, layout, run)

    if method == "studentized" and units is not None:
        draws = design.draws(layout)
        replicates, errors, seen = studentized_bootstrap(target, units, rows, draws, run)
    elif design.plain:
        draws = design.draws(layout)

        def draw(part: Run) -> Replicates:
            nonlocal seen
            found, seen = plain_replicates(target, units, rows, layout, draws, part)
            return found

        replicates = kept(draw, run, facts, name)
    else:
        length = _block_length(target, sample, layout, units)
        n_drawn = np.diff(layout.cell_offsets)[:, None]
        measure = MeasureRows(target.weighted, rows)

        def drawn_by(sampler: Sampler, run: Run = run) -> Replicates:
            drawn = target, units, measure, sampler, layout.n_cells, rows.n_rows, n_drawn
            return weigh(*drawn, run) if run.executor is None else by_ranges(weigh, drawn, run)

        whole = design.sampler(arrangement, run.sequence, length)
        replicates = kept(partial(drawn_by, whole), run, facts, name)
        if design.levels == "crossed":
            first, second = (
                drawn_by(crossed_sampler(arrangement, run.sequence, drawn)).values[:, 0]
                for drawn in ((True, False), (False, True))
            )
            drawn = zip(replicates.values[:, 0], first, second, strict=True)
            parts = tuple(components(*three) for three in drawn)
            remarks = tuple(part.sentence(design.names) for part in parts)
        elif design.block_scheme:
            remarks = (_length_sentence(length, design),) * target.n_values
    return Answer(
        estimates=observed(target, sample, cells),
        replicates=replicates.values,
        path=replicates.path,
        influence=None if method is None else _influence(
            target, sample, arrangement, seen, bca=method == "bca"
        ),
        rounding=rounding(target, seen, np.maximum(scale, _largest(replicates.values)),
                          sample.n_rows),
        n_rows=rows_of(sample.n_rows, cells),
        n_units=arrangement.n_units,
        remarks=remarks,
        components=parts,
        errors=None if method is None else _linear_errors(
            target, sample, arrangement, seen, wanted=method == "studentized"
        ),
        replicate_errors=errors,
        proportions=_proportions(questions, sample),
    )  # fmt: skip


def _scanned(
    questions: Sequence[Question],
    sample: ScannedSample,
    run: Run,
    *,
    method: str | None,
    scale: Floats,
) -> Answer:
    """Resample units that are read block by block."""
    target, units = sample.target, sample.units
    cheap = _has_cheap_jackknife(units)
    errors = method is not None and is_cheap(units)
    jackknife = method is not None and (method == "bca" or cheap)
    found: Found | None = None

    def draw(part: Run) -> Replicates:
        nonlocal found
        first = found is None  # what is known of the sample besides is found once
        drawn = draw_sample(sample, part, errors=first and errors, jackknife=first and jackknife)
        found = drawn if found is None else found
        return drawn.replicates

    replicates = kept(draw, run, lambda: facts_of(questions, sample, units, units.layout, run))
    assert found is not None
    size = np.maximum(scale, _largest(replicates.values))
    return Answer(
        estimates=observed(target, sample, None),
        replicates=replicates.values,
        path=replicates.path,
        influence=found.influence,
        rounding=rounding(target, units, size, sample.n_rows),
        n_rows=np.array([sample.n_rows]),
        n_units=np.array([units.n_units]),
        errors=found.errors,
        proportions=_proportions(questions, sample),
    )


def _has_cheap_jackknife(units: Units) -> bool:
    n_listed = units.n_units if units.counts is None else units.counts.size
    return n_listed * units.n_sums <= _CHEAP_JACKKNIFE


def _block_length(target: Estimand, sample: Sample, layout: Layout, units: Units | None) -> float:
    """Return the length of blocks: the one given, or the best for the most dependent value."""
    design = sample.design
    if not design.block_scheme:
        return 1.0
    if design.block_length is not None:
        return design.block_length
    if not target.terms and not target.weighted:  # missing values
        return 1.0
    if sample.slices is not None or layout.offsets.size > 2 or target.weighted or units is None:
        raise ValueError(
            "`block_length` is None: it is chosen from one series, for statistics of sums; give it "
            "(see fastboot.block_length) where strata or slices are resampled apart, or with "
            "quantiles, ranks and functions"
        )
    changes = leave_one_out(target, units)
    # Without changes all resamples are alike, in blocks of any length.
    varied = [change for change in changes if (change != change[0]).any()]
    try:
        lengths = [block_length(change, scheme=design.scheme) for change in varied]  # type: ignore[arg-type] # one of three
    except ValueError as error:
        raise ValueError(
            "`block_length` is None but cannot be chosen from how much each row changes the "
            f"statistic; give it. There {error}"
        ) from error
    chosen = max(lengths, default=1.0)
    return chosen if design.scheme == "stationary" else float(math.ceil(chosen))


def _length_sentence(length: float, design: Design) -> str:
    mean = " on average" if design.scheme == "stationary" else ""
    chosen = ", chosen by the data (Politis and White 2004)" if design.block_length is None else ""
    return f"blocks of {length:.4g} rows{mean}{chosen}"


def _largest(replicates: Floats) -> Floats:
    """Largest absolute value among the replicates, 0 where none is defined."""
    largest: Floats = np.fmax.reduce(np.abs(replicates), axis=2)
    return np.nan_to_num(largest)


def _influence(
    target: Estimand, sample: Sample, arrangement: Arrangement, units: Units | None, *, bca: bool
) -> Influence | None:
    undefined = not target.terms and not target.weighted  # missing values
    if undefined or sample.design.levels == "crossed" or sample.design.block_scheme:
        nothing = np.full((target.n_values, arrangement.layout.n_cells), np.nan)
        return Influence(nothing, nothing, nothing)
    whole = arrangement.whole
    if not target.weighted:
        if whole is not arrangement.layout:
            units = units_of(target, whole, drawn_vary=False)
        assert units is not None
        if not bca and not _has_cheap_jackknife(units):
            return None
        return influence(target, units)
    if not bca:
        return None
    rows = RowsOfCells.of(whole, sample.factors, sample.n_rows)
    varied = units_of(target, whole, drawn_vary=True)
    evaluate = evaluator(target, varied, MeasureRows(target.weighted, rows), whole.n_cells, 0)
    return influence_of_weights(evaluate, whole)


def _linear_errors(
    target: Estimand,
    sample: Sample,
    arrangement: Arrangement,
    units: Units | None,
    *,
    wanted: bool,
) -> LinearErrors | None:
    design = sample.design
    if target.weighted or not target.terms or design.levels == "crossed" or design.block_scheme:
        return None
    if design.drawn_vary:  # the sample has a fixed number of units
        units = units_of(target, arrangement.whole, drawn_vary=False)
    assert units is not None
    return linear_errors(target, units) if wanted or is_cheap(units) else None


def _proportions(questions: Sequence[Question], sample: Sample) -> NDArray[np.bool_]:
    design = sample.design
    independent = not (design.groups or design.strata or design.block_scheme)
    return np.array(
        [
            independent and question.b is None and _is_proportion(question.a, sample)
            for question in questions
            for _ in range(question.a.n_values)
        ]
    )


def _is_proportion(bound: Bound, sample: Sample) -> bool:
    """Tell whether a statistic is the mean of 0 and 1 over all rows."""
    statistic = bound.statistic
    if not isinstance(statistic, Ratio) or type(statistic).finish is not Ratio.finish:
        return False
    successes, count = bound.terms
    return isinstance(count, float) and count == 1.0 and sample.is_binary(successes)


def warn_undefined(replicates: Floats, questions: Sequence[Question]) -> None:
    """Warn once, for the caller of the procedure, if any replicate is undefined.

    Between the two there are three calls: the procedure's, `report` and the one that calls this.
    """
    # With missing values all are, as was asked for.
    there = [not question.missing for question in questions for _ in range(question.a.n_values)]
    undefined = np.isnan(replicates[there])
    if undefined.any():
        names = [question.name for question in questions for _ in range(question.a.n_values)]
        named = dict.fromkeys(name for name, own in zip(names, there, strict=True) if own)
        counts = dict.fromkeys(named, 0)
        sizes = dict.fromkeys(named, 0)
        asked = (name for name, own in zip(names, there, strict=True) if own)
        for name, row in zip(asked, undefined, strict=True):
            counts[name] += int(row.sum())
            sizes[name] += row.size
        found = [
            f"{counts[name]:,} of {sizes[name]:,} replicates"
            + (f" of {name}" if len(named) > 1 else "")
            for name in named
            if counts[name]
        ]
        more = f" and some of {len(found) - 3} more statistics" if len(found) > 3 else ""
        warnings.warn(
            f"the statistic is undefined in {', '.join(found[:3])}{more}; "
            "they are NaN, counted in n_undefined and left out of intervals and p-values",
            RuntimeWarning,
            stacklevel=6,  # the call of the procedure
        )
