"""Replicates of units that are drawn block by block, wherever their rows are.

A task has some blocks and a range of replicates, and returns sums: K for each replicate, joined by
the fixed tree of :mod:`fastboot.blocks`. So the answer has the same bits for any number of workers,
any cut of files into fragments and any order of completion. The sums that standard errors and
leave-one-out values are made of ride along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK, Node, TreeSum
from fastboot.dispatch import Cancelled, in_order, stopped
from fastboot.jackknife import Influence, block_powers, influence, influence_of_powers
from fastboot.measures import RowsOfCells
from fastboot.paths import Replicates, Run, add_up, plain_bootstrap, swap
from fastboot.row_terms import BlocksOfUnits, HeldUnits, ReadUnits
from fastboot.scanned_sample import ScannedSample, SurveyedUnits
from fastboot.statistics.estimand import Estimand
from fastboot.studentized import (
    LinearErrors,
    block_moments,
    errors_of_moments,
    linear_errors,
)
from fastboot.sums import BlockDraws, BlockSwaps, class_draws, class_swaps, most_swapped_classes
from fastboot.tabulation import Tabulation
from fastboot.units import Units, one_part
from fastboot.weights import key_of

__all__ = ["BlockTask", "Drawn", "Found", "draw_blocks", "draw_sample", "swap_sample"]

Floats = NDArray[np.float64]

# Replicates of a kernel call: tables are made anew for each, 7 ms a term, against 80 ms of draws
# with one term; and its scratch memory is 0.5 MB.
_REPLICATES = 4_096


class Drawn(NamedTuple):
    """What was found in some blocks.

    sums : of replicates, arrays of shape (n_sums, n_replicates)
    moments : sums of products about the centre, of shape (n_sums, n_sums); empty if not asked for
    powers : of changes, see `block_powers`; empty if not asked for
    n_units, n_bytes : units in the blocks, and bytes read for them
    """

    sums: tuple[Node, ...]
    moments: tuple[Node, ...]
    powers: tuple[Node, ...]
    n_units: int
    n_bytes: int


@dataclass(frozen=True, eq=False)
class BlockTask:
    """Draws from some blocks.

    Attributes
    ----------
    blocks
        Read or in memory.
    draw
        How the units of a block are drawn.
    replicates
        Which.
    n_sums
        Sums of a replicate.
    centre
        What moments are about, shape (n_sums,); None for no moments.
    jackknife
        The estimand and the totals of its terms; None for no powers.
    """

    blocks: BlocksOfUnits
    draw: BlockDraws | BlockSwaps
    replicates: range
    n_sums: int
    centre: Floats | None
    jackknife: tuple[Estimand, Sequence[Any]] | None

    @property
    def shown(self) -> str:
        """What messages call it."""
        return getattr(self.blocks, "shown", "units in memory")

    def __call__(self) -> Drawn:
        """Draw."""
        sums, moments, powers = TreeSum(), TreeSum(), TreeSum()
        for number, units in self.blocks:
            sums.add(number, self._sums(number, units))
            if self.centre is not None:
                with np.errstate(over="ignore", invalid="ignore"):  # undefined, said by the result
                    moments.add(number, block_moments(units, self.centre, 0, units.n_units))
            if self.jackknife is not None:
                powers.add(number, block_powers(*self.jackknife, units, 0, units.n_units))
        return Drawn(
            sums.nodes, moments.nodes, powers.nodes, self.blocks.n_units, self.blocks.n_bytes
        )

    def _sums(self, number: int, units: Units) -> Floats:
        sums = np.empty((self.n_sums, len(self.replicates)))
        for start in range(0, len(self.replicates), _REPLICATES):
            if stopped():
                raise Cancelled
            some = self.replicates[start : start + _REPLICATES]
            part = np.zeros((self.n_sums, len(some)))
            self.draw.add(units, 0, number, some.start, part)
            sums[:, start : start + len(some)] = part
        return sums


class Found(NamedTuple):
    """Replicates, and what is known of the sample besides.

    replicates : of all values
    influence, errors : None where not asked for
    """

    replicates: Replicates
    influence: Influence | None
    errors: LinearErrors | None


def draw_sample(sample: ScannedSample, run: Run, *, errors: bool, jackknife: bool) -> Found:
    """Return the replicates of a sample that was read, drawn with replacement.

    Parameters
    ----------
    sample
        Of rows or groups.
    run, errors, jackknife
        As in `draw_blocks`.
    """
    target, units = sample.target, sample.units
    n_units = units.n_units
    if isinstance(units, SurveyedUnits) and units.n_sums:
        draw = BlockDraws.of(units, n_units, key_of(run.sequence))
        return draw_blocks(
            target, units, sample.blocks(), draw, n_units, run, errors=errors, jackknife=jackknife
        )
    if units.counts is not None and units.n_sums:
        additions = [class_draws(units, n_units, key_of(run.sequence), 0)]
        replicates = add_up(target, units, additions, np.array([[n_units]]), run)
    else:
        layout = units.layout
        rows = RowsOfCells.of(layout, None, n_units)
        replicates, _ = plain_bootstrap(target, units, rows, layout, layout.sizes, run)
    return Found(
        replicates,
        influence(target, units) if jackknife else None,
        linear_errors(target, units) if errors else None,
    )


def swap_sample(sample: ScannedSample, run: Run) -> Replicates:
    """Return the replicates of a sample that was read, swapped at random."""
    change, units = sample.change, sample.units
    assert change is not None
    if not isinstance(units, SurveyedUnits):  # groups
        differing = np.flatnonzero((units.varying != 0.0).any(axis=0))
        return swap(change, units, _no_weights, units.layout, differing, 0, run)
    n_differing = sample.n_differing
    if n_differing <= BLOCK:
        held = [one for some in _differing(sample, run) for one in some.units]
        units = held[0] if held else _of_columns(units, np.zeros((units.n_sums, 1)))
        every = np.arange(n_differing)
        return swap(change, units, _no_weights, units.layout, every, 0, run)
    if sample.table is not None:
        classes = _swapped_classes(sample, sample.table)
        if classes.varying.shape[1] <= most_swapped_classes(n_differing, tallied=False):
            return add_up(change, classes, [class_swaps(classes, key_of(run.sequence))], 0, run)
    key = key_of(run.sequence)
    draw = BlockSwaps(n_differing, (int(key[0]), int(key[1])))
    found = draw_blocks(
        change, units, _differing(sample, run), draw, 0, run, errors=False, jackknife=False
    )
    return found.replicates


def _no_weights(_: int, __: Floats) -> list[Floats]:
    return []


def _swapped_classes(sample: ScannedSample, table: Tabulation) -> Units:
    """Return the classes of rows that differ."""
    assert isinstance(sample.units, SurveyedUnits)
    there = (table.numbers != 0.0).any(axis=0)
    differing = Tabulation(table.numbers[:, there], table.counts[there])
    assert sample.change is not None
    return sample.classes(sample.change.terms, sample.units.constants, differing)


@dataclass(frozen=True, eq=False)
class Compaction:
    """Reads the rows of some blocks in which two systems differ.

    Returns their terms, shape (n_terms, n_rows), and the bytes read.
    """

    blocks: ReadUnits

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.blocks.shown

    def __call__(self) -> tuple[Floats, int]:
        """Read."""
        found = [units.varying[:, (units.varying != 0.0).any(axis=0)] for _, units in self.blocks]
        return np.concatenate(found, axis=1), self.blocks.n_bytes


def _differing(sample: ScannedSample, run: Run) -> Iterator[HeldUnits]:
    """Yield the rows that differ, in blocks of their own."""
    shape = sample.units
    waiting, number = np.empty((shape.n_sums, 0)), 0
    tasks = map(Compaction, sample.blocks())
    results = in_order(tasks, executor=run.executor, n_threads=run.n_threads)
    with closing(results):
        for terms, n_bytes in results:
            waiting = np.concatenate([waiting, terms], axis=1)
            full = waiting.shape[1] // BLOCK
            cuts = np.split(waiting, range(BLOCK, full * BLOCK + 1, BLOCK), axis=1)
            *blocks, waiting = cuts
            if blocks:
                yield HeldUnits(number, [_of_columns(shape, one) for one in blocks], n_bytes)
                number += len(blocks)
    if waiting.shape[1]:
        yield HeldUnits(number, [_of_columns(shape, waiting)])


def _of_columns(shape: Units, columns: Floats) -> Units:
    """Return units like others, with these terms."""
    varying = np.ascontiguousarray(columns)
    varying.flags.writeable = False
    layout = one_part(columns.shape[1])
    return Units(varying, None, shape.places, shape.n_sums, None, layout)


def draw_blocks(
    estimand: Estimand,
    units: Units,
    blocks: Iterator[BlocksOfUnits],
    draw: BlockDraws | BlockSwaps,
    n_drawn: int,
    run: Run,
    *,
    errors: bool,
    jackknife: bool,
) -> Found:
    """Return the replicates of all blocks.

    Parameters
    ----------
    estimand
        Without statistics of row weights.
    units
        All units; their terms are not looked at.
    blocks
        The units.
    draw
        How they are drawn.
    n_drawn
        Units in a replicate, for terms that are constant.
    run
        How to run.
    errors, jackknife
        Whether standard errors and leave-one-out values are found as well.
    """
    centre = units.sums()[:, 0] / units.n_units if errors else None
    left_out = (estimand, units.totals()) if jackknife else None
    tasks = (
        BlockTask(some, draw, run.replicates, units.n_sums, centre, left_out) for some in blocks
    )
    sums, moments, powers = TreeSum(), TreeSum(), TreeSum()
    meter = _Meter(run, draw.n_units)
    results = in_order(tasks, executor=run.executor, n_threads=run.n_threads, tick=meter.tick)
    with closing(results):
        for found in results:
            sums.join(found.sums)
            moments.join(found.moments)
            powers.join(found.powers)
            meter.add(found)
    shape = (1, len(run.replicates))
    expanded = units.expand(sums.total()[:, None], n_drawn)
    values = estimand.value(expanded, [], shape)
    return Found(
        Replicates(values, draw.path),
        influence_of_powers(*left_out, units.layout, powers.total()) if left_out else None,
        errors_of_moments(estimand, units, units.sums(), moments.total()[..., None])
        if errors
        else None,
    )


class _Meter:
    """Tells the progress of a run: a share of the rows is that share of the replicates."""

    def __init__(self, run: Run, n_units: int) -> None:
        self._progress = run.progress
        self._total = len(run.replicates)
        self._n_units = n_units
        self._done = self._bytes = 0

    def add(self, found: Drawn) -> None:
        """Count what a task has done."""
        self._done += found.n_units
        self._bytes += found.n_bytes

    def tick(self) -> None:
        """Report."""
        if self._progress is None:
            return
        read = getattr(self._progress, "read", None)
        if read is not None and self._bytes:
            read(self._bytes)
        self._progress(self._total * self._done // self._n_units, self._total)
