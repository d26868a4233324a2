"""Replicates of units that are drawn block by block, wherever these are.

A task has some blocks and a range of replicates, and returns sums: K for each replicate, joined by
the fixed tree of :mod:`fastboot.blocks`. So the answer has the same bits for any number of workers,
any cut of files into fragments and any order of completion. The sums that standard errors and
leave-one-out values are made of ride along.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK, Node, TreeSum
from fastboot.dispatch import Cancelled, in_order, stopped
from fastboot.engine import LONGEST_CALL, interrupts_kept
from fastboot.jackknife import Influence, block_powers, influence_of_powers
from fastboot.paths import Replicates, Run
from fastboot.progress import tell_read
from fastboot.residuals import Means, centre_of
from fastboot.row_terms import BlocksOfUnits, HeldUnits
from fastboot.statistics.estimand import Estimand
from fastboot.studentized import LinearErrors, block_moments, errors_of_moments
from fastboot.sums import BlockDraws, BlockSwaps
from fastboot.units import Units, one_part

__all__ = ["BlockTask", "Drawn", "Found", "draw_blocks", "held_blocks", "some_units"]

Floats = NDArray[np.float64]

# Most replicates of a kernel call: its scratch memory is then 0.5 MB. Tables are made anew for each
# call, 7 ms a term, against 80 ms of draws with one term.
_REPLICATES = 4_096
# Terms of a block that are sent with a task, where units are in memory: 8 MB.
_SENT = 16


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
    means
        Where the moments are of residuals, those about which these are.
    jackknife
        The estimand and the totals of its terms; None for no powers.
    """

    blocks: BlocksOfUnits
    draw: BlockDraws | BlockSwaps
    replicates: range
    n_sums: int
    centre: Floats | None
    means: Means | None
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
                    own = block_moments(units, self.centre, 0, units.n_units, self.means)
                    moments.add(number, own)
            if self.jackknife is not None:
                powers.add(number, block_powers(*self.jackknife, units, 0, units.n_units))
        return Drawn(
            sums.nodes, moments.nodes, powers.nodes, self.blocks.n_units, self.blocks.n_bytes
        )

    def _sums(self, number: int, units: Units) -> Floats:
        sums = np.empty((self.n_sums, len(self.replicates)))
        step = int(min(_REPLICATES, max(1.0, LONGEST_CALL / self.draw.seconds(units, BLOCK))))
        for start in range(0, len(self.replicates), step):
            if stopped():
                raise Cancelled
            some = self.replicates[start : start + step]
            part = np.zeros((self.n_sums, len(some)))
            self.draw.add(units, 0, number, some.start, part)
            sums[:, start : start + len(some)] = part
        return sums


class Found(NamedTuple):
    """Replicates, and what is known of the sample besides.

    replicates : of all values
    units : that were drawn
    influence, errors : None where not asked for
    """

    replicates: Replicates
    units: Units
    influence: Influence | None
    errors: LinearErrors | None


def held_blocks(units: Units) -> Generator[HeldUnits, None, None]:
    """Yield units in memory, one part of them listed singly, some blocks at a time."""
    n_blocks = max(1, _SENT // units.n_sums)
    for first in range(0, -(-units.n_units // BLOCK), n_blocks):
        edges = range(first * BLOCK, min((first + n_blocks) * BLOCK, units.n_units), BLOCK)
        yield HeldUnits(first, [some_units(units, start, start + BLOCK) for start in edges])


def some_units(units: Units, start: int, stop: int) -> Units:
    """Return some of the units of one part as if there were no others."""
    varying = np.ascontiguousarray(units.varying[:, start:stop])
    varying.flags.writeable = False
    layout = one_part(varying.shape[1])
    chosen = np.arange(start, start + varying.shape[1])
    sparse = None if units.sparse is None else units.sparse.of(chosen)
    return Units(varying, sparse, units.places, units.n_sums, None, layout)


def draw_blocks(
    estimand: Estimand,
    units: Units,
    blocks: Generator[BlocksOfUnits, None, None],
    draw: BlockDraws | BlockSwaps,
    n_drawn: int,
    run: Run,
    *,
    errors: bool,
    jackknife: bool,
    read: Callable[[int], int] = int,
) -> Found:
    """Return the replicates of all blocks.

    Parameters
    ----------
    estimand
        Without statistics of row weights.
    units
        All units; their terms are not looked at.
    blocks
        The units; closed in the end.
    draw
        How they are drawn.
    n_drawn
        Units in a replicate, for terms that are constant.
    run
        How to run.
    errors, jackknife
        Whether standard errors and leave-one-out values are found as well.
    read
        From the bytes that a task has read to those read in all.
    """
    means = Means.of(estimand, units) if errors else None
    centre = centre_of(units, means) if errors else None
    left_out = (estimand, units.totals()) if jackknife else None
    tasks = (
        BlockTask(some, draw, run.replicates, units.n_sums, centre, means, left_out)
        for some in blocks
    )
    if run.executor is None:  # compiled here, where Ctrl-C can end it
        with interrupts_kept():
            draw.add(units, 0, 0, 0, np.zeros((units.n_sums, 0)))
    sums, moments, powers = TreeSum(), TreeSum(), TreeSum()
    meter = _Meter(run, draw.n_units, read)
    results = in_order(tasks, executor=run.executor, n_threads=run.n_threads, tick=meter.tick)
    with closing(blocks), closing(results):
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
        units,
        influence_of_powers(*left_out, units.layout, powers.total()) if left_out else None,
        errors_of_moments(estimand, units, units.sums(), moments.total()[..., None], means)
        if errors
        else None,
    )


class _Meter:
    """Tells the progress of a run: a share of the rows is that share of the replicates."""

    def __init__(self, run: Run, n_units: int, read: Callable[[int], int]) -> None:
        self._read = read
        self._progress = run.progress
        self._total = len(run.replicates)
        self._n_units = n_units
        self._done = self._bytes = 0

    def add(self, found: Drawn) -> None:
        """Count what a task has done."""
        self._done += found.n_units
        self._bytes = self._read(found.n_bytes)

    def tick(self) -> None:
        """Report."""
        if self._progress is None:
            return
        if self._bytes:
            tell_read(self._progress, self._bytes)
        self._progress(self._total * self._done // self._n_units, self._total)
