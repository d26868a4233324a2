"""Sums of plain resamples, part by part, without writing weights: the fast paths.

========== ================================================================================
path       a part takes it when
========== ================================================================================
"collapse" its units are few classes: a multinomial over classes
"rows"     it has at most 256 units: every draw a place; all such parts in one call
"patterns" up to 12 terms: tables of count patterns
"weights"  more terms: the same draws, written down as weights a superblock at a time
========== ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.units import Layout, Units, collapse
from fastboot.weights import SMALL_PART, keys_of

__all__ = ["Addition", "bootstrap_additions", "label_additions", "swap_additions"]

Floats = NDArray[np.float64]
Key = NDArray[np.uint32]

# Units of a class from which counting it costs less than listing its units, with one term: 14 ns
# for a class of 40 (20 with AVX2) against 0.4 ns for a unit of the bootstrap, 10 ns for a class of
# 300 (14 with AVX2) against 0.04 ns for one that is swapped (bench_kernels).
_UNITS_PER_DRAWN_CLASS = 40
_UNITS_PER_SWAPPED_CLASS = 300
# 40 ns for a class against 0.7 ns for a unit whose label is permuted.
_UNITS_PER_LABELLED_CLASS = 70
# With tallies of one to three entries a unit costs 5 to 8 ns, a class of three 9 (15 with AVX2).
_UNITS_PER_TALLIED_CLASS = 3
# Where the product of weights overtakes a table for each term in a full superblock (2.0 ns both,
# bench_kernels); in 10,000 units, at 18 terms.
_MOST_TABLE_TERMS = 12

_NOT_COLLAPSED = (
    "`path` is 'collapse', which counts equal units; here the units must be listed one by one, "
    "leave it None"
)

# Nanoseconds of one unit (class) in one replicate, for the length of a kernel call only.
_COST = {
    "rows": 1.6, "patterns": 0.25, "weights": 1.2, "collapse": 14.0, "tables": 0.04, "sums": 0.3,
    "labels": 40.0,
}  # fmt: skip
_COST_PER_TERM = {
    "rows": 0.6, "patterns": 0.2, "weights": 0.1, "collapse": 0.2, "tables": 0.03, "sums": 0.3,
    "labels": 0.2,
}  # fmt: skip


class Addition(NamedTuple):
    """One kernel call of a range of replicates.

    path : the way
    seconds : of one replicate, estimated
    add : adds to the sums of replicates from `first` on, shape (n_sums, n_cells, n_replicates), or
        (n_sums, n_replicates) for one superblock of a part
    superblock : its number, where it is one; those of a part come one after another
    cell : of the superblock
    """

    path: str
    seconds: float
    add: Callable[[int, Floats], None]
    superblock: int | None = None
    cell: int = 0


def bootstrap_additions(
    units: Units,
    seed: np.random.SeedSequence,
    draws: NDArray[np.int64],
    path: str | None,
    *,
    collapsing: bool,
) -> tuple[list[Addition], Units | None]:
    """Return the kernel calls that sum resamples with replacement of every part.

    Where there is one part and it was collapsed, return its classes too.

    Parameters
    ----------
    units
        Listed singly.
    seed
        Of the words.
    draws
        Draws from each part, shape (n_parts,).
    path
        Force one.
    collapsing
        Equal units may be counted; else the draws are those that weights are written of.

    Raises
    ------
    ValueError
        ``path="collapse"`` is forced where it cannot be taken.
    """
    layout = units.layout
    sizes = layout.sizes
    keys = keys_of(seed, sizes.size)
    additions: list[Addition] = []
    one_by_one = np.zeros(sizes.size, np.bool_)
    classes = None
    for part, (start, size) in enumerate(zip(layout.offsets[:-1], sizes, strict=True)):
        cell = int(layout.cell_of_part[part])
        classes = _classes(units, int(start), int(start + size), path) if collapsing else None
        if classes is not None:
            additions.append(_class_draws(classes, int(draws[part]), keys[part], cell))
        elif path == "collapse":
            raise ValueError(_NOT_COLLAPSED)
        elif path == "rows" or (path is None and size <= SMALL_PART) or draws[part] != size:
            one_by_one[part] = True
        else:
            additions += _superblock_draws(units, int(start), int(size), keys[part], cell, path)
    if one_by_one.any():
        additions.append(_row_draws(units, layout, draws, keys, one_by_one))
    return additions, classes if sizes.size == 1 else None


def _classes(units: Units, start: int, stop: int, path: str | None) -> Units | None:
    if path == "collapse":
        return collapse(units, start, stop, 1)
    if path is not None or stop - start <= SMALL_PART:
        return None
    per_class = _UNITS_PER_DRAWN_CLASS if units.sparse is None else _UNITS_PER_TALLIED_CLASS
    return collapse(units, start, stop, per_class)


def _seconds(path: str, n_terms: int, n_units: int) -> float:
    return 1e-9 * (_COST[path] + _COST_PER_TERM[path] * n_terms) * n_units


def _class_draws(classes: Units, n_draws: int, key: Key, cell: int) -> Addition:
    from fastboot.kernels.collapse import add_class_sums

    def add(first: int, sums: Floats) -> None:
        part = np.zeros((sums.shape[0], sums.shape[2]))
        add_class_sums(classes.varying, classes.entries, classes.counts, n_draws, first, *key, part)
        sums[:, cell] += part

    return Addition("collapse", _seconds("collapse", *classes.varying.shape), add)


def _row_draws(
    units: Units, layout: Layout, draws: NDArray[np.int64], keys: Key, chosen: NDArray[np.bool_]
) -> Addition:
    from fastboot.kernels.segments import add_segment_sums

    parts = np.stack([layout.offsets[:-1], layout.sizes, draws, layout.cell_of_part], axis=1)
    parts, keys = _read_only(parts[chosen]), _read_only(keys[chosen])

    def add(first: int, sums: Floats) -> None:
        add_segment_sums(units.varying, units.entries, parts, keys, first, sums)

    return Addition("rows", _seconds("rows", len(units.varying), int(parts[:, 2].sum())), add)


def _superblock_draws(
    units: Units, start: int, size: int, key: Key, cell: int, path: str | None
) -> list[Addition]:
    from fastboot.kernels.pattern_law import pattern_law, poisson_rate
    from fastboot.kernels.philox import SUPERBLOCK
    from fastboot.kernels.superblocks import fill_shares

    if units.sparse is not None:
        path = "weights"
    elif path is None:
        path = "patterns" if len(units.varying) <= _MOST_TABLE_TERMS else "weights"
    kernel: Callable[..., None]
    terms: tuple[Any, ...]
    if path == "patterns":
        from fastboot.kernels.patterns import add_pattern_sums as kernel

        terms = (units.varying,)
    else:
        from fastboot.kernels.products import add_pattern_products as kernel

        terms = units.varying, units.entries
    law = tuple(pattern_law(poisson_rate(size, SUPERBLOCK)))

    def addition(index: int) -> Addition:
        begin = index * SUPERBLOCK
        length = min(SUPERBLOCK, size - begin)

        def add(first: int, sums: Floats) -> None:
            shares = np.full(sums.shape[1], size)
            if size > SUPERBLOCK:
                fill_shares(index, size, first, *key, shares)
            kernel(*terms, start + begin, length, index, shares, first, law, *key, sums)

        return Addition(path, _seconds(path, len(units.varying), length), add, index, cell)

    return [addition(index) for index in range(-(-size // SUPERBLOCK))]


def swap_additions(units: Units, key: Key, path: str | None) -> list[Addition]:
    """Return the kernel calls that sum the swapped units, each swapped with probability 1/2.

    Parameters
    ----------
    units
        That differ between the systems, of one cell.
    key
        Of the words.
    path
        "collapse", "tables", or None to let the data decide.

    Returns
    -------
    list
        Empty where tallies of many different units are swapped: weights must be written.
    """
    classes = None
    if path in {None, "collapse"}:
        dense = units.sparse is None
        per_class = _UNITS_PER_SWAPPED_CLASS if dense else _UNITS_PER_TALLIED_CLASS
        classes = collapse(units, 0, units.n_units, per_class if path is None else 1)
    if classes is not None:
        return [_class_swaps(classes, key)]
    return [] if units.sparse is not None else _table_swaps(units, key)


def _class_swaps(classes: Units, key: Key) -> Addition:
    from fastboot.kernels.collapse import add_class_swap_sums

    def add(first: int, sums: Floats) -> None:
        part = np.zeros((sums.shape[0], sums.shape[2]))
        add_class_swap_sums(classes.varying, classes.entries, classes.counts, first, *key, part)
        sums[:, 0] += part

    return Addition("collapse", _seconds("collapse", *classes.varying.shape), add)


def label_additions(
    units: Units, n_first: NDArray[np.int64], seed: np.random.SeedSequence, path: str | None
) -> list[Addition]:
    """Return the kernel calls that sum the units a random relabelling gives to the first sample.

    Parameters
    ----------
    units
        Of both samples.
    n_first
        Units of the first sample in each part, shape (n_parts,).
    seed
        Of the words.
    path
        "collapse", "sums", or None to let the data decide.
    """
    from fastboot.kernels.relabelling import add_class_label_sums, add_label_sums

    layout = units.layout
    keys = keys_of(seed, n_first.size)
    per_class = _UNITS_PER_LABELLED_CLASS if path is None else 1

    def addition(part: int) -> Addition:
        start, size, chosen = int(layout.offsets[part]), int(layout.sizes[part]), int(n_first[part])
        cell = int(layout.cell_of_part[part])
        classes = None if path == "sums" else collapse(units, start, start + size, per_class)
        if classes is None and path == "collapse":
            raise ValueError(_NOT_COLLAPSED)

        def add(first: int, sums: Floats) -> None:
            own = np.zeros((sums.shape[0], sums.shape[2]))
            last = chosen, first, *keys[part], own
            if classes is None:
                add_label_sums(units.varying, units.entries, start, size, *last)
            else:
                add_class_label_sums(classes.varying, classes.entries, classes.counts, *last)
            sums[:, cell] += own

        if classes is None:
            return Addition("sums", _seconds("sums", units.n_sums, size), add)
        n_classes = classes.varying.shape[1]
        return Addition("collapse", _seconds("labels", units.n_sums, n_classes), add)

    return [addition(part) for part in range(n_first.size)]


def _table_swaps(units: Units, key: Key) -> list[Addition]:
    from fastboot.kernels.philox import SUPERBLOCK
    from fastboot.kernels.swaps import add_swap_sums

    n_units = units.n_units

    def addition(index: int) -> Addition:
        start = index * SUPERBLOCK
        size = min(SUPERBLOCK, n_units - start)

        def add(first: int, sums: Floats) -> None:
            add_swap_sums(units.varying, start, size, index, first, *key, sums)

        return Addition("tables", _seconds("tables", len(units.varying), size), add, index)

    return [addition(index) for index in range(-(-n_units // SUPERBLOCK))]


def _read_only(array: Any) -> Any:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
