"""Which fast path a run takes, and the run itself: from units and rows to replicates.

================= =============================================================================
path              taken when
================= =============================================================================
"constant"        no term varies: every resample is the sample
"collapse"        the units are few classes: a multinomial over classes
"rows"            at most 256 units in a part: every draw a place
"patterns"        up to 12 terms: tables of count patterns
"order"           a quantile alone, of rows: the rank of one draw has a known law
"weights"         more terms, tallies, ranks, any function: the weights of the same
                  draws are written down
================= =============================================================================

Parts of one resampling may take several ("collapse+rows"). The choice depends on the data alone,
never on threads, so that a replicate is a function of (data, design, statistic, seed, replicate).
``path=`` forces one; all of a resampling's paths draw from the same law. Other schemes have one
path, named after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot import engine
from fastboot.blocks import TreeSum
from fastboot.measures import (
    Measure,
    MeasureRows,
    RowsOfCells,
    evaluator,
    weighted_of,
)
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Estimand
from fastboot.statistics.order import OrderStatistic
from fastboot.sums import (
    Addition,
    bootstrap_additions,
)
from fastboot.units import Layout, Units
from fastboot.weights import (
    Multinomial,
    Sampler,
    key_of,
    keys_of,
)

__all__ = [
    "BOOTSTRAP_PATHS",
    "Replicates",
    "Run",
    "add_up",
    "constant",
    "no_weights",
    "plain_bootstrap",
    "weigh",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BOOTSTRAP_PATHS = ("collapse", "rows", "patterns", "weights")

# Bytes of one batch of weights, and of the sums of one range of replicates, of one thread.
_BATCH = 1 << 20
# Bytes more for each cell: the call of a statistic for a cell (10 us) is worth 64 replicates of a
# few rows.
_BATCH_OF_CELL = 1 << 11
_RANGE = 1 << 23
# Ranges of a thread: 34 ms instead of 40 for BLEU of two systems on two threads (bench_statistics).
_RANGES = 4
_LARGEST_BATCH = 1_024  # replicates; more save no overhead
# Seconds of the rank of one order statistic or two neighbours (bench_order).
_ORDER_DRAW = 2e-7
# Seconds of one row in one pass over weights, for the length of steps only.
_PASS = 4e-9


class Run(NamedTuple):
    """How to run: what decides the replicates, and what must not."""

    n_resamples: int
    seed: int
    path: str | None
    n_threads: int
    progress: engine.Progress | None
    # Of one of several samples that are resampled independently.
    spawn_key: tuple[int, ...] = ()
    # The replicates to compute, where others are known already.
    part: range | None = None
    executor: object = None
    # Where replicates are kept, see fastboot.keeping.
    keeping: Any = None

    @property
    def sequence(self) -> np.random.SeedSequence:
        """Where the keys of the random words come from."""
        return np.random.SeedSequence(self.seed, spawn_key=self.spawn_key)

    @property
    def replicates(self) -> range:
        """Those to compute."""
        return range(self.n_resamples) if self.part is None else self.part

    @property
    def first(self) -> int:
        """Where these begin."""
        return self.replicates.start


def no_weights(_: int, __: Floats) -> list[Floats]:
    """Measure nothing: a `Measure` where there are no statistics of row weights."""
    return []


class Replicates(NamedTuple):
    """Values of replicates.

    values : shape (n_values, n_cells, n_replicates)
    path : the path that ran
    """

    values: Floats
    path: str


def weigh(
    estimand: Estimand,
    units: Units | None,
    measure: Measure,
    sampler: Sampler,
    n_cells: int,
    n_rows: int,
    n_drawn: Any,
    run: Run,
) -> Replicates:
    """Return the replicates of anything, from the weights of the units.

    Parameters
    ----------
    estimand, units, measure, n_cells, n_drawn
        As in `evaluator`.
    sampler
        Writes the weights.
    n_rows
        Rows of the statistics of row weights.
    run
        How to run; its path is left alone.
    """
    evaluate = evaluator(estimand, units, measure, n_cells, n_drawn)
    out = np.empty((estimand.n_values, n_cells, len(run.replicates)))
    batch = _batch_size(estimand, sampler, n_rows, n_cells)

    def task(r: range) -> Iterator[int]:
        for start in range(r.start, r.stop, batch) if len(r) else [0]:
            stop = min(start + batch, r.stop)
            weights = np.empty((stop - start, sampler.n_units))
            sampler.fill(run.first + start, weights)
            out[:, :, start:stop] = evaluate(run.first + start, weights)
            yield stop - start

    passes = sum(weighted_of(bound).seconds_per_row for bound in estimand.weighted)
    products = 0.0 if units is None else 1e-9 * units.n_sums * sampler.n_units
    engine.run(
        task,
        n_steps=1,
        n_replicates=len(run.replicates),
        seconds=sampler.seconds + passes * n_rows + products,
        n_threads=run.n_threads,
        progress=run.progress,
    )
    return Replicates(out, sampler.path)


def plain_bootstrap(
    estimand: Estimand, units: Units | None, rows: RowsOfCells, layout: Layout, draws: Integers,
    run: Run,
) -> tuple[Replicates, Units | None]:  # fmt: skip
    """Return the replicates of resamples with replacement, by the fastest path, and the units seen.

    Parameters
    ----------
    estimand, units
        As in `evaluator`.
    rows
        Of the statistics of row weights.
    layout
        Of the units.
    draws
        Draws from each part, shape (n_parts,).
    run
        How to run.
    """
    first_parts = np.searchsorted(layout.cell_of_part, np.arange(layout.n_cells))
    n_drawn = np.add.reduceat(draws, first_parts)[:, None]
    if not estimand.weighted and (units is None or units.n_sums == 0):
        return constant(estimand, units, n_drawn, run), units
    if _is_order_draw(estimand, rows, layout, draws, run):
        return _order_draws(estimand.weighted[0], rows.n_rows, run), units
    keys = keys_of(run.sequence, draws.size)
    sampler = Multinomial(layout, keys, draws, run.path)
    additions: list[Addition] = []
    classes = None
    if units is not None:
        additions, classes = bootstrap_additions(
            units, run.sequence, draws, run.path, collapsing=not estimand.weighted
        )
    elif run.path == "collapse":
        raise ValueError(
            "`path` is 'collapse', which counts equal units; "
            f"{estimand.weighted[0].statistic.name} needs every unit, leave it None"
        )
    weighing = _Weighing(sampler, MeasureRows(estimand.weighted, rows), rows.n_rows)
    return add_up(estimand, units, additions, n_drawn, run, weighing), classes or units


def _is_order_draw(
    estimand: Estimand, rows: RowsOfCells, layout: Layout, draws: Integers, run: Run
) -> bool:
    """Tell whether one order statistic of rows that count alike is all that is asked for."""
    return (
        run.path is None
        and not estimand.terms
        and len(estimand.weighted) == 1
        and isinstance(estimand.weighted[0].statistic, OrderStatistic)
        and layout.unit_of_row is None
        and not rows.factors.size
        and bool(draws[0] == layout.n_units)
    )


def _order_draws(bound: Bound, n_rows: int, run: Run) -> Replicates:
    """Return the replicates of an order statistic from its rank among the draws."""
    from fastboot.kernels.order import fill_order_indices, fill_order_pairs

    statistic, values = bound.statistic, np.sort(bound.columns[0])
    assert isinstance(statistic, OrderStatistic)
    k, share = statistic.neighbours(n_rows)
    key = key_of(run.sequence)
    out = np.empty((1, 1, len(run.replicates)))

    def task(r: range) -> Iterator[int]:
        ranks = np.empty((2, len(r)), np.int64)
        if share == 0.0:
            fill_order_indices(n_rows, k, run.first + r.start, *key, ranks[0])
            out[0, 0, r.start : r.stop] = values[ranks[0]]
        else:
            fill_order_pairs(n_rows, k, run.first + r.start, *key, ranks)
            lower, upper = values[ranks]
            between = (1.0 - share) * lower + share * upper
            # Equal values have just that value, without a rounding.
            out[0, 0, r.start : r.stop] = np.where(lower == upper, lower, between)
        yield len(r)

    engine.run(
        task,
        n_steps=1,
        n_replicates=len(run.replicates),
        seconds=_ORDER_DRAW,
        n_threads=run.n_threads,
        progress=run.progress,
    )
    return Replicates(out, "order")


def constant(estimand: Estimand, units: Units | None, n_drawn: Any, run: Run) -> Replicates:
    """Return replicates that are all equal."""
    n_cells = n_drawn.shape[0]
    shape = (n_cells, 1)
    sums = [] if units is None else units.expand(np.empty((0, *shape)), n_drawn)
    value = estimand.value(sums, [], shape)
    return Replicates(
        np.broadcast_to(value, (*value.shape[:2], len(run.replicates))).copy(), "constant"
    )


class _Weighing(NamedTuple):
    """How statistics of row weights are computed beside sums, of the same draws.

    sampler : writes the weights of the units
    measure : computes the statistics
    n_rows : number of rows
    """

    sampler: Sampler
    measure: Measure
    n_rows: int


def add_up(
    estimand: Estimand,
    units: Units | None,
    additions: Sequence[Addition],
    n_drawn: Any,
    run: Run,
    weighing: _Weighing | None = None,
) -> Replicates:
    """Return the replicates from kernels that add sums, and from weights of the same draws.

    Parameters
    ----------
    estimand, units
        As in `evaluator`.
    additions
        The kernel calls of every range of replicates.
    n_drawn
        As in `evaluator`.
    run
        How to run.
    weighing
        For statistics of row weights.
    """
    n_cells = 1 if units is None else units.layout.n_cells
    if weighing is not None and estimand.weighted:
        n_cells = n_drawn.shape[0]
    n_sums = 0 if units is None else units.n_sums
    out = np.empty((estimand.n_values, estimand.n_cells or n_cells, len(run.replicates)))
    sizes = [bound.n_values for bound in estimand.weighted]
    batch = 1
    if weighing is not None:
        batch = _batch_size(estimand, weighing.sampler, weighing.n_rows, n_cells)

    def task(r: range) -> Iterator[int]:
        sums = np.zeros((n_sums, n_cells, len(r)))
        for _ in _add(additions, run.first + r.start, sums):
            yield len(r)
        weighted = [np.empty((size, n_cells, len(r))) for size in sizes]
        if weighing is not None and weighted:
            for start in range(0, len(r), batch) if len(r) else [0]:
                stop = min(start + batch, len(r))
                weights = np.empty((stop - start, weighing.sampler.n_units))
                weighing.sampler.fill(run.first + r.start + start, weights)
                found = weighing.measure(run.first + r.start + start, weights)
                for values, part in zip(weighted, found, strict=True):
                    values[:, :, start:stop] = part
                yield stop - start
        if len(r):
            shape = (n_cells, len(r))
            expanded = [] if units is None else units.expand(sums, n_drawn)
            out[:, :, r.start : r.stop] = estimand.value(expanded, weighted, shape)

    seconds = sum(addition.seconds for addition in additions)
    paths = {addition.path for addition in additions}
    n_steps = len(additions)
    if weighing is not None and sizes:
        seconds += _weighing_seconds(estimand, weighing)
        paths.add(weighing.sampler.path)
        n_steps += 1
    # Tables are made anew for every range; without them several ranges a thread end together.
    tables = paths & {"patterns", "tables"}
    n = len(run.replicates)
    fair = n if tables else -(-n // (_RANGES * run.n_threads))
    engine.run(
        task,
        n_steps=n_steps,
        n_replicates=n,
        seconds=seconds / n_steps,
        n_threads=run.n_threads,
        largest=max(1, min(_RANGE // (8 * (n_sums + len(out)) * n_cells), fair)),
        progress=run.progress,
    )
    return Replicates(out, "+".join(sorted(paths)))


def _add(additions: Sequence[Addition], first: int, sums: Floats) -> Iterator[None]:
    """Add everything to sums of replicates from `first` on, and pause after each kernel call."""
    tree = TreeSum()
    for addition, following in zip(additions, [*additions, None][1:], strict=True):
        if addition.superblock is None:
            addition.add(first, sums)
        else:
            own = np.zeros((sums.shape[0], sums.shape[2]))
            addition.add(first, own)
            tree.add(addition.superblock, own)
            if following is None or not following.superblock:  # the part ends here
                sums[:, addition.cell] += tree.total()
                tree = TreeSum()
        yield


def _weighing_seconds(estimand: Estimand, weighing: _Weighing) -> float:
    passes = sum(weighted_of(bound).seconds_per_row for bound in estimand.weighted)
    return weighing.sampler.seconds + passes * weighing.n_rows


def _batch_size(estimand: Estimand, sampler: Sampler, n_rows: int, n_cells: int) -> int:
    """Replicates whose weights are written at a time, and measured between two looks at Ctrl-C."""
    largest = max(sampler.n_units, n_rows if estimand.weighted else 0)
    most = (_BATCH + _BATCH_OF_CELL * n_cells) // (8 * largest)
    own = [weighted_of(bound).batch or _LARGEST_BATCH for bound in estimand.weighted]
    return max(1, min(most, _LARGEST_BATCH, *own))


def _read_only(array: Any) -> Any:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
