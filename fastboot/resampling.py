"""One run: from a sample and questions to the numbers that results are made of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fastboot.block_draws import Found
from fastboot.block_length import block_length
from fastboot.components import Components, components
from fastboot.designs import Arrangement, Design, Slices, check_bca, crossed_sampler
from fastboot.executors import by_ranges, plain_replicates
from fastboot.jackknife import (
    Influence,
    influence,
    influence_of_weights,
    leave_one_out,
    rounding,
)
from fastboot.keeping import facts_of, kept
from fastboot.measures import MeasureRows, RowsOfCells, evaluator
from fastboot.observation import observed, rows_of, units_of
from fastboot.paths import Replicates, Run, weigh
from fastboot.rendering import count
from fastboot.sample import Sample
from fastboot.scaling import check_drawn, counted_rows
from fastboot.scanned_draws import draw_sample
from fastboot.scanned_sample import ScannedSample
from fastboot.settling import beyond_rounding, largest, settled, varies
from fastboot.statistics.additive import Ratio
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Estimand, Question
from fastboot.studentized import (
    LinearErrors,
    check_studentized,
    is_cheap,
    linear_errors,
    with_second_moments,
    without_second_moments,
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
Draw = Callable[[Run], Replicates]
Keep = Callable[..., Replicates]  # of what draws them, and the name of the set

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
    apart
        For each value why its replicates spread otherwise than `errors` say, in words; none at all.
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
    apart: tuple[str, ...] = ()

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

    Raises
    ------
    ValueError
        A statistic, the method and the design do not go together.
    """
    if isinstance(sample, ScannedSample):
        return _scanned(questions, sample, run, method=method, scale=scale)
    design = sample.design
    target = sample.estimand(questions, cells)
    arrangement = sample.arrange(cells)
    layout = arrangement.layout
    estimates = observed(target, sample, cells)
    units = units_of(target, layout, drawn_vary=design.drawn_vary)
    rows = RowsOfCells.of(layout, sample.factors, sample.n_rows)
    errors, seen = None, units
    parts: tuple[Components, ...] | None = None
    remarks: tuple[str, ...] = ()
    studentized = method == "studentized" and units is not None
    if method == "studentized":
        check_studentized(questions, design)
    if method == "bca":
        check_bca(design.levels, design.scheme)
    check_drawn(questions, sample, layout.n_units)

    def keep(draw: Draw, name: str = "total" if cells is None else "slices") -> Replicates:
        def facts() -> dict[str, str]:
            return facts_of(questions, sample, units, arrangement, run, errors=studentized)

        return kept(draw, run, facts, estimates, name)

    if studentized and units is not None:
        replicates, errors, seen = _studentized(target, units, rows, design.draws(layout), keep)
    elif design.plain:
        draws = design.draws(layout)

        def draw(part: Run) -> Replicates:
            nonlocal seen
            found, seen = plain_replicates(target, units, rows, layout, draws, part)
            return found

        replicates = keep(draw)
    else:
        replicates, parts, remarks = _weighed(target, sample, arrangement, units, rows, run, keep)
    size = np.maximum(scale, largest(replicates.values))
    tolerance = rounding(target, seen, size, sample.n_rows)
    return Answer(
        estimates=estimates,
        replicates=settled(
            replicates.values, estimates, tolerance,
            lambda: varies(replicates.values, estimates, target, seen, size, sample.n_rows),
        ),
        path=replicates.path,
        influence=None if method is None else _influence(
            target, sample, arrangement, seen, bca=method == "bca"
        ),
        rounding=tolerance,
        n_rows=rows_of(sample.n_rows, cells),
        n_units=arrangement.n_units,
        remarks=remarks,
        components=parts,
        errors=None if method is None else _linear_errors(
            target, sample, arrangement, seen, wanted=method == "studentized"
        ),
        replicate_errors=errors,
        proportions=_proportions(questions, sample),
        apart=() if method is None else _apart(questions, sample, layout),
    )  # fmt: skip


def _studentized(
    target: Estimand, units: Units, rows: RowsOfCells, draws: NDArray[np.int64], keep: Keep
) -> tuple[Replicates, Floats, Units]:
    """Return replicates, their standard errors (of the same shape) and the units seen."""
    both, moments = with_second_moments(target, units)
    seen = moments

    def draw(part: Run) -> Replicates:
        nonlocal seen
        found, drawn = plain_replicates(both, moments, rows, moments.layout, draws, part)
        seen = drawn or seen
        return found

    values, path = keep(draw)
    values, errors = np.split(values, 2)
    return Replicates(values, path), errors, without_second_moments(seen, units)


def _weighed(
    target: Estimand,
    sample: Sample,
    arrangement: Arrangement,
    units: Units | None,
    rows: RowsOfCells,
    run: Run,
    keep: Keep,
) -> tuple[Replicates, tuple[Components, ...] | None, tuple[str, ...]]:
    """Return the replicates of other schemes, parts of variances, and what is said of the run."""
    design, layout = sample.design, arrangement.layout
    length = _block_length(target, sample, layout, units)
    n_drawn = np.diff(layout.cell_offsets)[:, None]
    measure = MeasureRows(target.weighted, rows)

    def drawn_by(sampler: Sampler, run: Run) -> Replicates:
        drawn = target, units, measure, sampler, layout.n_cells, rows.n_rows, n_drawn
        return weigh(*drawn, run) if run.executor is None else by_ranges(weigh, drawn, run)

    replicates = keep(partial(drawn_by, design.sampler(arrangement, run.sequence, length)))
    if design.levels == "crossed":
        one, other = (
            crossed_sampler(arrangement, run.sequence, drawn)
            for drawn in ((True, False), (False, True))
        )
        first = keep(partial(drawn_by, one), "first").values[:, 0]
        second = keep(partial(drawn_by, other), "second").values[:, 0]
        drawn = zip(replicates.values[:, 0], first, second, strict=True)
        (_, n_first), (_, n_second) = arrangement.factors
        parts = tuple(components(*three, n_levels=(n_first, n_second)) for three in drawn)
        return replicates, parts, tuple(part.sentence(design.names) for part in parts)
    if design.block_scheme:
        return replicates, None, (_length_sentence(length, design),) * target.n_values
    return replicates, None, ()


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
    found: Found | None = None

    def asked(seen: Units) -> tuple[bool, bool]:
        if method is None or found is not None:  # what is known of the sample besides is found once
            return False, False
        return is_cheap(seen), method == "bca" or _has_cheap_jackknife(seen)

    def draw(part: Run) -> Replicates:
        nonlocal found
        drawn = draw_sample(sample, part, asked)
        found = drawn if found is None else found
        return drawn.replicates

    estimates = observed(target, sample, None)
    replicates = kept(
        draw, run, lambda: facts_of(questions, sample, units, sample.arrange(), run), estimates
    )
    assert found is not None
    size = np.maximum(scale, largest(replicates.values))
    tolerance = rounding(target, found.units, size, sample.n_rows)
    return Answer(
        estimates=estimates,
        replicates=settled(
            replicates.values,
            estimates,
            tolerance,
            lambda: beyond_rounding(found.errors, target, found.units, size),
        ),
        path=replicates.path,
        influence=found.influence,
        rounding=tolerance,
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


def _apart(questions: Sequence[Question], sample: Sample, layout: Layout) -> tuple[str, ...]:
    """Return for each value why replicates spread otherwise than by first-order formulas."""
    design, reason = sample.design, ""
    n_values = sum(question.a.n_values for question in questions)
    if design.levels == "nested":
        reason = 'levels="nested" adds the spread inside groups to that between them'
    elif design.n_drawn not in {None, layout.n_units}:
        reason = f"each resample has {design.n_drawn:,} of {count(layout.n_units, design.unit)}"
    elif design.scheme == "poisson":
        return tuple(
            f'with scheme="poisson" resamples vary in size, and {question.name} with it' if own
            else ""
            for question in questions
            for own in counted_rows(question, sample)
        )  # fmt: skip
    return (reason,) * n_values if reason else ()


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
