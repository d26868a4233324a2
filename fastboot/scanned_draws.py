"""Replicates of a sample that is read block by block.

Groups and distinct rows are in memory and drawn here. Other rows are read again where they are
drawn. Swaps are of the rows in which two systems differ, which have blocks of their own: a worker
reads the rows among which those of its blocks lie. Where rows can only be read from the first to
the last, the terms of those that differ are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastboot.block_draws import Found, draw_blocks
from fastboot.blocks import BLOCK
from fastboot.dispatch import in_order, n_workers
from fastboot.executors import plain_replicates
from fastboot.jackknife import influence
from fastboot.measures import RowsOfCells
from fastboot.paths import Replicates, Run, add_up, no_weights
from fastboot.row_terms import BlocksOfUnits, HeldUnits, ReadUnits, of_columns
from fastboot.scanned_sample import ScannedSample
from fastboot.studentized import linear_errors
from fastboot.sums import BlockDraws, BlockSwaps, class_draws, class_swaps, most_swapped_classes
from fastboot.surveyed_units import SurveyedUnits
from fastboot.swap_paths import swap
from fastboot.tabulation import Tabulation
from fastboot.units import Units
from fastboot.weights import key_of

__all__ = ["draw_sample", "swap_sample"]

Floats = NDArray[np.float64]


def _workers(run: Run) -> tuple[int, bool]:
    """Return how many work, and whether they are elsewhere."""
    sent = run.executor is not None
    return n_workers(run.executor) if sent else run.n_threads, sent


def _blocks(sample: ScannedSample, run: Run) -> Generator[ReadUnits, None, None]:
    n, sent = _workers(run)
    return sample.blocks(n, sent=sent)


def draw_sample(
    sample: ScannedSample, run: Run, asked: Callable[[Units], tuple[bool, bool]]
) -> Found:
    """Return the replicates of a sample that was read, drawn with replacement.

    Parameters
    ----------
    sample
        Of rows or groups.
    run
        As in `draw_blocks`.
    asked
        From the units that are drawn to `errors` and `jackknife` of `draw_blocks`.
    """
    target, units = sample.target, sample.units
    n_units = units.n_units
    if isinstance(units, SurveyedUnits) and units.n_sums:
        draw = BlockDraws.of(units, n_units, key_of(run.sequence))
        errors, jackknife = asked(units)
        found = draw_blocks(
            target,
            units,
            _blocks(sample, run),
            draw,
            n_units,
            run,
            errors=errors,
            jackknife=jackknife,
            read=sample.scan.read,
        )
        sample.scan.check_unchanged()
        return found
    seen: Units | None = units
    if units.counts is not None and units.n_sums:
        additions = [class_draws(units, n_units, key_of(run.sequence), 0)]
        replicates = add_up(target, units, additions, np.array([[n_units]]), run)
    else:
        layout = units.layout
        rows = RowsOfCells.of(layout, None, n_units)
        replicates, seen = plain_replicates(target, units, rows, layout, layout.sizes, run)
    assert seen is not None
    errors, jackknife = asked(seen)
    return Found(
        replicates,
        seen,
        influence(target, seen) if jackknife else None,
        linear_errors(target, seen) if errors else None,
    )


def swap_sample(sample: ScannedSample, run: Run) -> Replicates:
    """Return the replicates of a sample that was read, swapped at random."""
    change, units = sample.change, sample.units
    assert change is not None
    if not isinstance(units, SurveyedUnits):  # groups
        differing = np.flatnonzero((units.varying != 0.0).any(axis=0))
        return swap(change, units, no_weights, units.layout, differing, 0, run)
    n_differing = sample.n_differing
    if n_differing <= BLOCK:
        held = [one for some in _gathered(sample, run) for one in some.units]
        sample.scan.check_unchanged()
        units = held[0] if held else of_columns(units, np.zeros((units.n_sums, 1)))
        every = np.arange(n_differing)
        return swap(change, units, no_weights, units.layout, every, 0, run)
    if sample.table is not None:
        classes = _swapped_classes(sample, sample.table)
        if classes.varying.shape[1] <= most_swapped_classes(n_differing, tallied=False):
            return add_up(change, classes, [class_swaps(classes, key_of(run.sequence))], 0, run)
    key = key_of(run.sequence)
    draw = BlockSwaps(n_differing, (int(key[0]), int(key[1])))
    found = draw_blocks(
        change,
        units,
        _differing(sample, run),
        draw,
        0,
        run,
        errors=False,
        jackknife=False,
        read=sample.scan.read,
    )
    sample.scan.check_unchanged()
    return found.replicates


def _swapped_classes(sample: ScannedSample, table: Tabulation) -> Units:
    """Return the classes of rows that differ."""
    assert isinstance(sample.units, SurveyedUnits)
    assert sample.change is not None
    if sample.n_differing < sample.n_rows:
        there = (table.numbers != 0.0).any(axis=0)
        table = Tabulation(table.numbers[:, there], table.counts[there])
    return sample.classes(sample.change.terms, sample.units.constants, table)


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


def _differing(sample: ScannedSample, run: Run) -> Generator[BlocksOfUnits, None, None]:
    """Yield the rows that differ, in blocks of their own, some blocks at a time."""
    n, sent = _workers(run)
    if sample.n_differing == sample.n_rows:
        yield from sample.blocks(n, sent=sent)
    else:
        yield from sample.differing_blocks(n, sent=sent) or _gathered(sample, run)


def _gathered(sample: ScannedSample, run: Run) -> Generator[HeldUnits, None, None]:
    """Yield the rows that differ, with their terms."""
    shape = sample.units
    waiting, number, n_bytes = np.empty((shape.n_sums, 0)), 0, 0
    with closing(_blocks(sample, run)) as blocks:
        tasks = map(Compaction, blocks if sample.n_differing else ())
        results = in_order(tasks, executor=run.executor, n_threads=run.n_threads)
        with closing(results):
            for terms, n_read in results:
                n_bytes += n_read
                waiting = np.concatenate([waiting, terms], axis=1)
                full = waiting.shape[1] // BLOCK
                *whole, waiting = np.split(waiting, range(BLOCK, full * BLOCK + 1, BLOCK), axis=1)
                if whole:
                    yield HeldUnits(number, [of_columns(shape, one) for one in whole], n_bytes)
                    number, n_bytes = number + len(whole), 0
    if waiting.shape[1]:
        yield HeldUnits(number, [of_columns(shape, waiting)], n_bytes)
