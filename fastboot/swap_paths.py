"""Which fast path random swaps take, and the swaps themselves: from units to replicates.

============= =================================================================================
path          taken when
============= =================================================================================
"constant"    no unit differs between the systems
"enumeration" 2**n_units is at most n_resamples: all swaps, exactly
"collapse"    the differences are few classes: a binomial for each
"tables"      sums: tables of eight units
"weights"     otherwise: the same swaps, written down
============= =================================================================================

The choice depends on the data (and for the enumeration on n_resamples), as in
:mod:`fastboot.paths`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastboot.measures import Measure
from fastboot.paths import Replicates, Run, add_up, constant, weigh
from fastboot.statistics.estimand import Estimand
from fastboot.sums import swap_additions
from fastboot.units import Layout, Units, one_part
from fastboot.weights import Swaps, key_of

__all__ = ["SWAP_PATHS", "enumerates", "swap"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SWAP_PATHS = ("enumeration", "collapse", "tables", "weights")

# 2**24 sums of one term are 128 MB.
_MOST_ENUMERATED_UNITS = 24


def swap(
    estimand: Estimand,
    units: Units | None,
    measure: Measure,
    layout: Layout,
    differing: Integers,
    n_rows: int,
    run: Run,
) -> Replicates:
    """Return the replicates of random swaps.

    Parameters
    ----------
    estimand, units, measure
        As in `evaluator`; see :func:`fastboot.statistics.estimand.moves`.
    layout
        Of the units.
    differing
        Shape (n_differing,): the units that differ between the systems.
    n_rows
        Rows of the statistics of row weights.
    run
        How to run. `n_resamples` is replaced by 2**n_differing under "enumeration".
    """
    n_differing = differing.size
    if not estimand.terms and not estimand.weighted:
        return constant(estimand, None, np.zeros((layout.n_cells, 1)), run)
    if n_differing == 0:
        once = run._replace(n_resamples=1, part=None)
        sampler = Swaps(differing, layout.n_units, run.sequence)
        one = weigh(estimand, units, measure, sampler, layout.n_cells, n_rows, 0, once)
        shape = (*one.values.shape[:2], len(run.replicates))
        return Replicates(np.broadcast_to(one.values, shape).copy(), "constant")
    summed = None if units is None or estimand.weighted else _chosen(units, differing)
    if layout.n_cells == 1 and enumerates(n_differing, run):
        run = run._replace(n_resamples=1 << n_differing, part=None)
        if summed is None or summed.sparse is not None:
            sampler = Swaps(differing, layout.n_units, None)
            return weigh(estimand, units, measure, sampler, 1, n_rows, 0, run)
        sums = _all_swaps(summed)
        value = estimand.value(summed.expand(sums, 0), [], sums.shape[1:])
        return Replicates(value, "enumeration")
    if summed is not None and layout.n_cells == 1 and run.path != "weights":
        additions = swap_additions(summed, key_of(run.sequence), run.path)
        if additions:
            return add_up(estimand, summed, additions, 0, run)
    sampler = Swaps(differing, layout.n_units, run.sequence)
    return weigh(estimand, units, measure, sampler, layout.n_cells, n_rows, 0, run)


def enumerates(n_units: int, run: Run) -> bool:
    """Tell whether all swaps of the units that differ, in one cell, are listed."""
    if run.path == "enumeration" and n_units > _MOST_ENUMERATED_UNITS:
        raise ValueError(
            f"path='enumeration' would list 2**{n_units} swaps; it can list those of at most "
            f"{_MOST_ENUMERATED_UNITS} units that differ, use path=None to sample"
        )
    if run.path is None:
        return n_units < 63 and 1 << n_units <= run.n_resamples
    return run.path == "enumeration"


def _all_swaps(units: Units) -> Floats:
    """Sums of all swaps, shape (n_varying, 1, 2**n_units)."""
    from fastboot.kernels.swaps import add_all_swap_sums

    n_terms, n_units = units.varying.shape
    sums = np.empty((n_terms, 1 << n_units))
    add_all_swap_sums(units.varying, sums)
    return sums[:, None]


def _chosen(units: Units, chosen: Integers) -> Units:
    """Leave out all other units."""
    if chosen.size == units.n_units:
        return units
    varying = np.ascontiguousarray(units.varying[:, chosen])
    varying.flags.writeable = False
    sparse = None if units.sparse is None else units.sparse.of(chosen)
    return Units(varying, sparse, units.places, units.n_sums, None, one_part(chosen.size))
