"""Which fast path a run takes, and the run itself: from units to sums of replicates.

========== =============== ==================================================================
resampling path            taken when
========== =============== ==================================================================
bootstrap  "constant"      no term varies: every resample is the sample
bootstrap  "collapse"      the units are few classes: a multinomial over classes
bootstrap  "rows"          at most 256 units: every draw a place
bootstrap  "patterns"      up to 12 terms: tables of count patterns
bootstrap  "weights"       more terms: the same draws, written down as weights
swaps      "constant"      no unit differs between the systems
swaps      "enumeration"   2**n_units is at most n_resamples: all swaps, exactly
swaps      "collapse"      the differences are few classes: a binomial for each
swaps      "tables"        otherwise: tables of eight units
========== =============== ==================================================================

The choice depends on the data alone (and for the enumeration on n_resamples), never on threads, so
that a replicate is a function of (data, design, statistic, seed, replicate). ``path=`` forces one;
all of a resampling's paths draw from the same law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot import engine
from fastboot.units import Units, collapse

__all__ = ["BOOTSTRAP_PATHS", "SWAP_PATHS", "Run", "Sums", "bootstrap_sums", "swap_sums"]

BOOTSTRAP_PATHS = ("collapse", "rows", "patterns", "weights")
SWAP_PATHS = ("enumeration", "collapse", "tables")

# Units of a class from which counting it costs less than listing its units: 77 ns for a class
# against 0.5 ns for a unit of the bootstrap and 0.05 ns for one that is swapped (bench_kernels).
_UNITS_PER_DRAWN_CLASS = 150
_UNITS_PER_SWAPPED_CLASS = 1_500
# Where patterns overtake places (1.6 against 0.8 ns, bench_kernels); below, compiling the smaller
# kernel also takes 1 s instead of 5 the first time on a machine.
_MOST_ROWS = 256
# Where the product of weights overtakes a table for each term in a full superblock (2.0 ns both,
# bench_kernels); in 10,000 units, at 18 terms.
_MOST_TABLE_TERMS = 12
# 2**24 sums of one term are 128 MB.
_MOST_ENUMERATED_UNITS = 24

# Nanoseconds of one unit (class) in one replicate, for the length of a kernel call only.
_COST = {"rows": 1.6, "patterns": 0.25, "weights": 1.2, "collapse": 77.0, "tables": 0.04}
_COST_PER_TERM = {"rows": 0.6, "patterns": 0.2, "weights": 0.1, "collapse": 1.0, "tables": 0.03}

# Adds a slice's contribution to the sums of a range of replicates, (n_terms, len(range)).
_Add = Callable[[int, range, NDArray[np.float64]], None]


class Run(NamedTuple):
    """How to run: what decides the replicates, and what must not."""

    n_resamples: int
    seed: int
    path: str | None
    n_threads: int
    progress: engine.Progress | None


class Sums(NamedTuple):
    """Sums of the varying terms.

    sums : shape (n_varying, n_replicates)
    path : the path that ran
    units : the units as it saw them (collapsed or not)
    """

    sums: NDArray[np.float64]
    path: str
    units: Units


def bootstrap_sums(units: Units, run: Run) -> Sums:
    """Sums of resamples of all units with replacement, as many as there are units."""
    n_terms = len(units.varying)
    if n_terms == 0:
        return Sums(np.empty((0, run.n_resamples)), "constant", units)
    if run.path in {None, "collapse"}:
        units = collapse(units, _UNITS_PER_DRAWN_CLASS if run.path is None else 1)
    path = run.path
    if path is None:
        if units.counts is not None:
            path = "collapse"
        elif units.n_units <= _MOST_ROWS:
            path = "rows"
        else:
            path = "patterns" if n_terms <= _MOST_TABLE_TERMS else "weights"
    kernels = {"collapse": _class_draws, "rows": _row_draws}
    add = kernels.get(path, _superblock_draws)(units, path, run.seed)
    return _run(add, path, units, run)


def swap_sums(units: Units, run: Run) -> Sums:
    """Sums of the swapped units, each swapped with probability 1/2.

    Parameters
    ----------
    units
        The terms are differences between the systems; units without any are left out of the draws.
    run
        `n_resamples` is replaced by 2**n_units under "enumeration".
    """
    units = _differing(units)
    n_terms, n_units = units.varying.shape
    if n_terms == 0 or n_units == 0:
        return Sums(np.zeros((n_terms, run.n_resamples)), "constant", units)
    path = run.path
    if path is None and n_units < 63 and 1 << n_units <= run.n_resamples:
        path = "enumeration"
    if path == "enumeration":
        return Sums(_all_swaps(units), path, units)
    if path in {None, "collapse"}:
        units = collapse(units, _UNITS_PER_SWAPPED_CLASS if path is None else 1)
    if path is None:
        path = "tables" if units.counts is None else "collapse"
    add = (_class_swaps if path == "collapse" else _table_swaps)(units, run.seed)
    return _run(add, path, units, run)


def _run(add: _Add, path: str, units: Units, run: Run) -> Sums:
    from fastboot.kernels.philox import SUPERBLOCK

    n_terms, n_listed = units.varying.shape
    n_slices = -(-n_listed // SUPERBLOCK) if path in {"patterns", "weights", "tables"} else 1
    nanoseconds = (_COST[path] + _COST_PER_TERM[path] * n_terms) * n_listed / n_slices
    sums = np.zeros((n_terms, run.n_resamples))

    def step(index: int, r: range) -> None:
        # A contiguous copy: all ranges have one layout, and the kernel is compiled once.
        part = sums[:, r.start : r.stop].copy()
        add(index, r, part)
        sums[:, r.start : r.stop] = part

    engine.run(
        step,
        n_slices=n_slices,
        n_replicates=run.n_resamples,
        seconds=1e-9 * nanoseconds,
        n_threads=run.n_threads,
        progress=run.progress,
    )
    return Sums(sums, path, units)


def _key(seed: int) -> tuple[np.uint32, np.uint32]:
    low, high = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    return low, high


def _slice(index: int, n_units: int) -> tuple[int, int]:
    """Start and length of a superblock."""
    from fastboot.kernels.philox import SUPERBLOCK

    start = index * SUPERBLOCK
    return start, min(SUPERBLOCK, n_units - start)


def _class_draws(units: Units, _: str, seed: int) -> _Add:
    from fastboot.kernels.collapse import add_class_sums

    key = _key(seed)

    def add(_: int, r: range, sums: NDArray[np.float64]) -> None:
        add_class_sums(units.varying, units.counts, r.start, *key, sums)

    return add


def _row_draws(units: Units, _: str, seed: int) -> _Add:
    from fastboot.kernels.places import add_row_sums

    key = _key(seed)

    def add(_: int, r: range, sums: NDArray[np.float64]) -> None:
        add_row_sums(units.varying, r.start, *key, sums)

    return add


def _superblock_draws(units: Units, path: str, seed: int) -> _Add:
    from fastboot.kernels.pattern_law import pattern_law, poisson_rate
    from fastboot.kernels.philox import SUPERBLOCK
    from fastboot.kernels.superblocks import fill_shares

    kernel: Callable[..., None]
    if path == "patterns":
        from fastboot.kernels.patterns import add_pattern_sums as kernel
    else:
        from fastboot.kernels.products import add_pattern_products as kernel
    key = _key(seed)
    n_units = units.n_units
    law = tuple(pattern_law(poisson_rate(n_units, SUPERBLOCK)))

    def add(index: int, r: range, sums: NDArray[np.float64]) -> None:
        start, size = _slice(index, n_units)
        shares = np.full(len(r), n_units)
        if n_units > SUPERBLOCK:
            fill_shares(index, n_units, r.start, *key, shares)
        kernel(units.varying, start, size, index, shares, r.start, law, *key, sums)

    return add


def _class_swaps(units: Units, seed: int) -> _Add:
    from fastboot.kernels.collapse import add_class_swap_sums

    key = _key(seed)

    def add(_: int, r: range, sums: NDArray[np.float64]) -> None:
        add_class_swap_sums(units.varying, units.counts, r.start, *key, sums)

    return add


def _table_swaps(units: Units, seed: int) -> _Add:
    from fastboot.kernels.swaps import add_swap_sums

    key = _key(seed)

    def add(index: int, r: range, sums: NDArray[np.float64]) -> None:
        start, size = _slice(index, units.n_units)
        add_swap_sums(units.varying, start, size, index, r.start, *key, sums)

    return add


def _all_swaps(units: Units) -> NDArray[np.float64]:
    from fastboot.kernels.swaps import add_all_swap_sums

    n_terms, n_units = units.varying.shape
    if n_units > _MOST_ENUMERATED_UNITS:
        raise ValueError(
            f"path='enumeration' would list 2**{n_units} swaps; it can list those of at most "
            f"{_MOST_ENUMERATED_UNITS} units that differ, use path=None to sample"
        )
    sums = np.empty((n_terms, 1 << n_units))
    add_all_swap_sums(units.varying, sums)
    return sums


def _differing(units: Units) -> Units:
    """Leave out the units that are equal in both systems."""
    differ = (units.varying != 0.0).any(axis=0)
    if differ.all():
        return units
    varying = np.ascontiguousarray(units.varying[:, differ])
    varying.flags.writeable = False
    return Units(varying, units.constants, None, varying.shape[1])
