"""Replicates of a sample in memory, on the executor of a run; on threads of this process without.

Sums of many units are sent block by block, each once. What needs the weights of all rows (ranks,
quantiles, any Python function, other schemes) is sent whole, for a range of replicates each time.
What is counted in classes or swapped, or has few units, is done here: it takes less time than
sending it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastboot.block_draws import draw_blocks, held_blocks
from fastboot.dispatch import in_order
from fastboot.measures import RowsOfCells
from fastboot.paths import Replicates, Run, plain_bootstrap
from fastboot.statistics.estimand import Estimand
from fastboot.sums import BlockDraws, bootstrap_additions
from fastboot.units import Layout, Units
from fastboot.weights import key_of

__all__ = ["RangeTask", "by_ranges", "plain_replicates"]

Integers = NDArray[np.int64]

# Ranges of replicates: 16 workers end within half a range of one another.
_RANGES = 32


@dataclass(frozen=True, eq=False)
class RangeTask:
    """Computes a range of replicates.

    Attributes
    ----------
    function
        Returns replicates, or a tuple that begins with them; its last argument is the run.
    arguments
        The others.
    run
        Of the range.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    run: Run
    alike: ClassVar[bool] = True

    @property
    def shown(self) -> str:
        """What messages call it."""
        return f"replicates {self.run.first:,} to {self.run.replicates.stop - 1:,}"

    def __call__(self) -> Replicates:
        """Compute them."""
        found = self.function(*self.arguments, self.run)
        replicates: Replicates = found if isinstance(found, Replicates) else found[0]
        return replicates


def by_ranges(function: Callable[..., Any], arguments: tuple[Any, ...], run: Run) -> Replicates:
    """Return the replicates that a function computes, a range of them at a time.

    Parameters
    ----------
    function, arguments
        See `RangeTask`; they are sent.
    run
        With an executor.
    """
    every = run.replicates
    alone = run._replace(executor=None, n_threads=1, progress=None, keeping=None)

    def tasks() -> Iterator[RangeTask]:
        n = min(_RANGES, len(every))
        edges = [every.start + i * len(every) // n for i in range(n + 1)]
        for low, high in pairwise(edges):
            yield RangeTask(function, arguments, alone._replace(part=range(low, high)))

    found: list[Replicates] = []
    done = 0

    def tick() -> None:
        if run.progress is not None:
            run.progress(done, len(every))

    results = in_order(tasks(), executor=run.executor, n_threads=run.n_threads, tick=tick)
    with closing(results):
        for part in results:
            found.append(part)
            done += part.values.shape[2]
    tick()
    values = np.concatenate([part.values for part in found], axis=2)
    return Replicates(values, found[0].path)


def plain_replicates(
    estimand: Estimand,
    units: Units | None,
    rows: RowsOfCells,
    layout: Layout,
    draws: Integers,
    run: Run,
) -> tuple[Replicates, Units | None]:
    """Return what :func:`fastboot.paths.plain_bootstrap` returns, from wherever the run says."""
    arguments = estimand, units, rows, layout, draws
    if run.executor is None:
        return plain_bootstrap(*arguments, run)
    if estimand.weighted:
        return by_ranges(plain_bootstrap, arguments, run), units
    if units is None or units.n_sums == 0 or layout.sizes.size > 1:
        return plain_bootstrap(*arguments, run)
    additions, _ = bootstrap_additions(units, run.sequence, draws, run.path, collapsing=True)
    if additions[0].superblock is None:
        return plain_bootstrap(*arguments, run)
    draw = BlockDraws.of(units, units.n_units, key_of(run.sequence), run.path)
    blocks = held_blocks(units)
    found = draw_blocks(
        estimand, units, blocks, draw, units.n_units, run, errors=False, jackknife=False
    )
    return found.replicates, units
