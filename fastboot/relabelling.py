"""One run of a permutation test: from pooled rows to the differences after random relabellings.

============= ====================================================================================
path          taken when
============= ====================================================================================
"constant"    no term varies: every relabelling is the sample; and they are not enumerated
"enumeration" the product of C(units, units of a) over the strata is at most n_resamples: all
              relabellings, exactly
"collapse"    the units of a stratum are few classes: how many of each get label a
"sums"        otherwise: sums of the units that get label a
"weights"     ranks, any function: the labels of the same draws are written down
============= ====================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.designs import Slices
from fastboot.jackknife import rounding
from fastboot.measures import MeasureExchanged, RowsOfCells
from fastboot.observation import observe, units_of
from fastboot.paths import Replicates, Run, add_up, weigh
from fastboot.pooling import Pool
from fastboot.resampling import Answer, warn_undefined
from fastboot.sample import Sample
from fastboot.statistics.estimand import Estimand, Question, estimand
from fastboot.sums import label_additions
from fastboot.units import Layout
from fastboot.weights import AllLabels, Labels, Sampler

__all__ = ["PERMUTATION_PATHS", "relabel_answer"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PERMUTATION_PATHS = ("enumeration", "collapse", "sums", "weights")

# 2**24 values are 128 MB.
_MOST_ENUMERATED = 1 << 24


def relabel_answer(
    pool: Pool, questions: Sequence[Question], run: Run, *, cells: Slices | None = None
) -> tuple[Answer, dict[str, NDArray[Any]]]:
    """Relabel the units of two samples at random.

    Parameters
    ----------
    pool
        The rows of both.
    questions
        For each statistic the difference between the samples; for messages.
    run
        How to run.
    cells
        Slices to answer apart.

    Returns
    -------
    answer, own
        What was found, and further fields of results, shape (n_values, n_cells) each.
    """
    sample, _ = pool.sample.apart((), cells)
    layout = sample.arrange(cells).layout
    n_first = _units_of_first(pool, layout)
    first_parts = np.searchsorted(layout.cell_of_part, np.arange(layout.n_cells))
    n_units = np.diff(layout.cell_offsets)
    n_units_a = np.add.reduceat(n_first, first_parts)
    sides = pool.sides(cells)
    # Observed values are those of the samples, which may lie apart; relabelled ones are of both.
    samples, _ = pool.sample.apart((), sides)
    observed = observe(samples.bounds, samples, sides)
    of_a, of_b = observed[:, ::2], observed[:, 1::2]
    whole = estimand([Question(one) for one in sample.bounds], sample.n_rows, cells=sides)
    split = units_of(whole, sample.arrange(sides).layout, drawn_vary=False)
    scale = np.nan_to_num(np.abs(observed))
    errors = rounding(whole, split, scale, sample.n_rows)
    log_ways = _log_ways(layout.sizes, n_first)
    with np.errstate(over="ignore"):
        n_relabellings = np.exp(np.add.reduceat(log_ways, first_parts))
    if layout.n_cells == 1 and n_relabellings[0] < 2 * _MOST_ENUMERATED:
        n_relabellings[0] = math.prod(_ways(layout.sizes, n_first))  # exactly
    replicates = _relabelled(whole, sample, cells, layout, n_first, n_relabellings, run)
    warn_undefined(replicates.values, questions)
    rows = np.bincount(sides.codes, minlength=2 * layout.n_cells)
    answer = Answer(
        estimates=of_a - of_b,
        replicates=replicates.values,
        path=replicates.path,
        influence=None,
        rounding=errors[:, ::2] + errors[:, 1::2],
        n_rows=rows[::2] + rows[1::2],
        n_units=n_units,
    )
    own = {
        "n_rows_a": rows[::2],
        "n_rows_b": rows[1::2],
        "n_units_a": n_units_a,
        "n_units_b": n_units - n_units_a,
        "n_relabellings": n_relabellings,
        "balanced": np.logical_and.reduceat(2 * n_first == layout.sizes, first_parts),
    }
    shape = of_a.shape
    fields = {name: np.broadcast_to(values, shape) for name, values in own.items()}
    return answer, {"estimate_a": of_a, "estimate_b": of_b} | fields


def _units_of_first(pool: Pool, layout: Layout) -> Integers:
    """Units of a in each part."""
    from_a = np.zeros(layout.n_units, np.int64)
    rows = np.arange(pool.n_rows_a)
    from_a[rows if layout.unit_of_row is None else layout.unit_of_row[rows]] = 1
    return np.add.reduceat(from_a, layout.offsets[:-1])


def _ways(sizes: Integers, n_first: Integers) -> list[int]:
    return [math.comb(*part) for part in zip(sizes.tolist(), n_first.tolist(), strict=True)]


def _log_ways(sizes: Integers, n_first: Integers) -> Floats:
    """Logarithm of the number of choices in each part."""
    from scipy.special import gammaln

    found: Floats = gammaln(sizes + 1) - gammaln(n_first + 1) - gammaln(sizes - n_first + 1)
    return found


def _relabelled(
    whole: Estimand,
    sample: Sample,
    cells: Slices | None,
    layout: Layout,
    n_first: Integers,
    n_relabellings: Floats,
    run: Run,
) -> Replicates:
    """Return the differences after relabellings.

    Parameters
    ----------
    whole
        The statistics, from sums over rows of one sample or their weights.
    sample, cells, layout, n_first
        The rows, their slices and units, and the units of a in each part.
    n_relabellings
        Of each cell.
    run
        How to run.
    """
    units = units_of(whole, layout, drawn_vary=False)
    change = _between(whole, sample.totals(whole.terms, cells))
    rows = RowsOfCells.of(layout, sample.factors, sample.n_rows)
    measure = MeasureExchanged(change.weighted, rows, np.zeros(sample.n_rows, np.bool_))
    first_parts = np.searchsorted(layout.cell_of_part, np.arange(layout.n_cells))
    n_chosen = np.add.reduceat(n_first, first_parts)[:, None]
    sampler: Sampler = Labels(layout, n_first, run.sequence)

    def weighed(sampler: Sampler, n_resamples: int) -> Replicates:
        counted = run._replace(n_resamples=n_resamples, part=None)
        return weigh(
            change, units, measure, sampler, layout.n_cells, sample.n_rows, n_chosen, counted
        )

    ways = _ways(layout.sizes, n_first)
    enumerated = layout.n_cells == 1 and _enumerates(n_relabellings[0], run)
    if not whole.weighted and (units is None or units.n_sums == 0):
        one = weighed(sampler, 1).values
        n, path = (math.prod(ways), "enumeration") if enumerated else (run.n_resamples, "constant")
        return Replicates(np.repeat(one, n, axis=2), path)
    if enumerated:
        return weighed(AllLabels(layout, n_first, ways), math.prod(ways))
    if whole.weighted and run.path in {"collapse", "sums"}:
        name = whole.weighted[0].statistic.name
        raise ValueError(
            f"`path` is {run.path!r}, which adds up terms; {name} needs the weight of every row, "
            "leave it None"
        )
    if units is not None and not whole.weighted and run.path != "weights":
        additions = label_additions(units, n_first, run.sequence, run.path)
        return add_up(change, units, additions, n_chosen, run)
    return weighed(sampler, run.n_resamples)


def _between(whole: Estimand, totals: Sequence[Any]) -> Estimand:
    """Return the difference between the units chosen and all others, from the sums of the chosen.

    Its statistics of row weights come in pairs: of the chosen, of the others.
    """

    def value(sums: Sequence[Any], weighted: Sequence[Any], shape: tuple[int, ...]) -> Floats:
        others = [total[..., None] - chosen for total, chosen in zip(totals, sums, strict=True)]
        return whole.value(sums, weighted[::2], shape) - whole.value(others, weighted[1::2], shape)

    pairs = [one for one in whole.weighted for _ in range(2)]
    return Estimand(whole.terms, whole.sizes, pairs, whole.n_values, value)


def _enumerates(n_relabellings: float, run: Run) -> bool:
    if run.path == "enumeration" and n_relabellings > _MOST_ENUMERATED:
        raise ValueError(
            f"path='enumeration' would list {n_relabellings:.6g} relabellings; it can list "
            f"{_MOST_ENUMERATED:,} at the most, use path=None to sample"
        )
    if run.path is None:
        return n_relabellings <= min(run.n_resamples, _MOST_ENUMERATED)
    return run.path == "enumeration"
