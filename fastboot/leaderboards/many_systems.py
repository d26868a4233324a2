"""Randomization of many systems at once: the sums of each, and from them any pair's difference.

Common swaps. In a replicate every unit is flagged or not, once for all pairs. With m_s the flagged
units' sums of system s, the totals of a pair (s, t) after its swaps are total_s - m_s + m_t and
total_t - m_t + m_s: all pairs of S systems cost the sums of S.

Permutations. In a replicate the outputs of all systems are permuted within every unit, and each
system has the sums of what it got.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot import engine
from fastboot.designs import Slices
from fastboot.keeping import facts_of, kept
from fastboot.observation import units_of
from fastboot.paths import Replicates, Run, no_weights
from fastboot.sample import Sample
from fastboot.statistics.additive import Additive, Tally
from fastboot.statistics.bound import Bound, evaluate
from fastboot.statistics.estimand import Estimand, alone, placed
from fastboot.swap_paths import swap
from fastboot.units import Layout, Units
from fastboot.weights import key_of

__all__ = ["PairReplicates", "Randomized", "check_permutable", "permuted", "swapped"]

Floats = NDArray[np.float64]

# From the numbers of two systems to the replicates of their difference, shape (n_replicates,).
PairReplicates = Callable[[int, int], Floats]

# Nanoseconds of one system's output in one unit and replicate, for the length of steps only.
_PERMUTED = 4.0
# Bytes of units that all replicates of a range visit before the next ones: they stay in the cache.
# 4.1 instead of 4.4 ns an output of 50 systems in 100,000 units, one thread (bench_compare).
_CACHED = 1 << 17


class Randomized(NamedTuple):
    """Replicates of a randomization.

    pairs : for each cell, the differences of any pair
    n_replicates : number of replicates
    path : the path that ran
    """

    pairs: tuple[PairReplicates, ...]
    n_replicates: int
    path: str


def swapped(
    bounds: Sequence[Bound],
    sample: Sample,
    run: Run,
    cells: Slices | None = None,
    name: str = "swaps",
) -> Randomized:
    """Return the differences of all pairs under common swaps.

    Parameters
    ----------
    bounds
        One additive statistic, of each system.
    sample
        What is swapped.
    run
        How to run; all swaps are enumerated where they are few, and there are no slices.
    cells
        Slices to answer apart.
    name
        Of the set of replicates, where they are kept.
    """
    if cells is not None:
        run = run._replace(path="weights")  # one way for all slices, never enumerated
    layout = sample.arrange(cells).layout
    terms, places = placed(bounds)
    raw = Estimand(terms, [0.0] * len(terms), (), _n_sums(terms), _stacked)
    units = units_of(raw, layout, drawn_vary=True)
    differing = _differing(units, places, layout)

    def draw(part: Run) -> Replicates:
        return swap(raw, units, no_weights, layout, differing, 0, part)

    known = sample.totals(terms, cells)
    found = _kept(draw, bounds, sample, run, cells, known, name)
    moved = _by_term(found.values, terms)
    totals = [total[..., None] for total in known]

    def of_cell(cell: int) -> PairReplicates:
        own = [
            (total[..., cell, :], m[..., cell, :]) for total, m in zip(totals, moved, strict=True)
        ]

        def difference(s: int, t: int) -> Floats:
            pairs = [(own[i], own[j]) for i, j in zip(places[s], places[t], strict=True)]
            gained = [total - m + theirs for (total, m), (_, theirs) in pairs]
            lost = [total - m + mine for (_, mine), (total, m) in pairs]
            return _value(bounds[s], gained) - _value(bounds[t], lost)

        return difference

    pairs = tuple(of_cell(cell) for cell in range(layout.n_cells))
    return Randomized(pairs, found.values.shape[2], found.path)


def permuted(
    bounds: Sequence[Bound],
    sample: Sample,
    run: Run,
    cells: Slices | None = None,
    name: str = "permutations",
) -> Randomized:
    """Return the differences of all pairs under permutations of all systems within each unit.

    Parameters
    ----------
    bounds, sample, run, cells, name
        As in `swapped`; the statistic has no tallies.

    Raises
    ------
    TypeError
        The statistic has tallies.
    """
    from fastboot.kernels.permuting import add_permuted_sums
    from fastboot.kernels.philox import SUPERBLOCK

    check_permutable(bounds)
    layout = sample.arrange(cells).layout
    n_systems, n_terms = len(bounds), len(bounds[0].terms)
    by_unit = np.empty((layout.n_units, n_systems * n_terms))
    for system, bound in enumerate(bounds):
        for k, term in enumerate(bound.terms):
            assert not isinstance(term, Tally)
            rows = np.broadcast_to(term, (sample.n_rows,))
            codes = layout.unit_of_row
            by_unit[:, system * n_terms + k] = (
                rows if codes is None else np.bincount(codes, rows, layout.n_units)
            )
    by_unit.flags.writeable = False
    key = key_of(run.sequence)
    # A power of two, so that no step reaches into the next superblock.
    step = min(SUPERBLOCK, 1 << (max(1, _CACHED // by_unit.strides[0]).bit_length() - 1))
    edges = np.union1d(np.arange(0, layout.n_units, step), layout.cell_offsets)
    cell_of_step = np.searchsorted(layout.cell_offsets, edges[:-1], side="right") - 1
    steps = list(zip(cell_of_step.tolist(), pairwise(edges.tolist()), strict=True))

    def draw(part: Run) -> Replicates:
        n_replicates = len(part.replicates)
        sums = np.zeros((layout.n_cells, n_systems * n_terms, n_replicates))

        def task(r: range) -> Iterator[int]:
            some = np.zeros((*sums.shape[:2], len(r)))
            first = part.first + r.start
            for cell, (start, stop) in steps:
                add_permuted_sums(by_unit, n_systems, start, stop, first, *key, some[cell])
                yield len(r)
            sums[:, :, r.start : r.stop] = some

        engine.run(
            task,
            n_steps=len(steps),
            n_replicates=n_replicates,
            seconds=1e-9 * _PERMUTED * n_systems * layout.n_units / len(steps),
            n_threads=part.n_threads,
            progress=part.progress,
        )
        return Replicates(sums.swapaxes(0, 1), "permutations")

    totals = sample.totals([term for bound in bounds for term in bound.terms], cells)
    found = _kept(draw, bounds, sample, run, cells, totals, name)

    def of_cell(own: Floats) -> PairReplicates:
        def value(system: int) -> Floats:
            return _value(bounds[system], list(own[system * n_terms : (system + 1) * n_terms]))

        return lambda s, t: value(s) - value(t)

    cellwise = map(of_cell, found.values.swapaxes(0, 1))
    return Randomized(tuple(cellwise), found.values.shape[2], found.path)


def check_permutable(bounds: Sequence[Bound]) -> None:
    """Raise TypeError if a statistic has tallies."""
    for bound in bounds:
        if any(isinstance(term, Tally) for term in bound.terms):
            raise TypeError(
                f"`null` is 'permutations', which {bound.statistic.name} cannot have: its sums are "
                "by class; use null='swaps'"
            )


def _kept(
    draw: Callable[[Run], Replicates],
    bounds: Sequence[Bound],
    sample: Sample,
    run: Run,
    cells: Slices | None,
    totals: Sequence[Any],
    name: str,
) -> Replicates:
    """Return replicates of sums, of which those that are known are not computed again."""
    arrangement = sample.arrange(cells)
    terms, _ = placed(bounds)

    def facts() -> dict[str, str]:
        raw = Estimand(terms, [0.0] * len(terms), (), _n_sums(terms), _stacked)
        units = units_of(raw, arrangement.layout, drawn_vary=True)
        return facts_of(alone(bounds), sample, units, arrangement, run)

    estimates = np.concatenate([np.reshape(total, (-1, np.shape(total)[-1])) for total in totals])
    return kept(draw, run, facts, estimates, name)


def _n_sums(terms: Sequence[Any]) -> int:
    return sum(term.size if isinstance(term, Tally) else 1 for term in terms)


def _stacked(sums: Sequence[Any], _: Sequence[Any], shape: tuple[int, ...]) -> Floats:
    rows = [total if np.ndim(total) > len(shape) else total[None] for total in sums]
    stacked: Floats = np.concatenate(rows)
    return stacked


def _by_term(values: Floats, terms: Sequence[Any]) -> list[Floats]:
    """Cut the rows of stacked sums into terms: shape (n_cells, n_replicates), or one axis more."""
    found, start = [], 0
    for term in terms:
        if isinstance(term, Tally):
            found.append(values[start : start + term.size])
            start += term.size
        else:
            found.append(values[start])
            start += 1
    return found


def _value(bound: Bound, sums: Sequence[Any]) -> Floats:
    assert isinstance(bound.statistic, Additive)
    shape = np.broadcast_shapes(*(np.shape(total)[-1:] for total in sums))
    wide = [np.broadcast_to(total, (*np.shape(total)[:-1], *shape)) for total in sums]
    value: Floats = evaluate(bound.statistic, wide, shape)[0]
    return value


def _differing(
    units: Units | None, places: Sequence[Sequence[int]], layout: Layout
) -> NDArray[np.int64]:
    """Return the units in which not all systems are alike; all where tallies hide it."""
    if units is None:
        return np.empty(0, np.int64)
    if units.sparse is not None:
        return np.arange(layout.n_units)
    differs = np.zeros(layout.n_units, np.bool_)
    for position in zip(*places, strict=True):
        rows = [units.places[place] for place in sorted(set(position))]
        # A constant that is left out is 0 in every unit.
        values = [0.0 if row.constant is not None else units.varying[row.start] for row in rows]
        for value in values[1:]:
            differs |= values[0] != value
    return np.flatnonzero(differs)
