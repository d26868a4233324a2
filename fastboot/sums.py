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
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK
from fastboot.tabulation import MOST_CLASSES
from fastboot.units import Layout, Units, collapse
from fastboot.weights import SMALL_PART, keys_of

__all__ = [
    "Addition",
    "BlockDraws",
    "BlockSwaps",
    "bootstrap_additions",
    "class_draws",
    "class_swaps",
    "label_additions",
    "most_drawn_classes",
    "most_swapped_classes",
    "swap_additions",
]

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
_COST_PER_TALLY = 2.0  # see _UNITS_PER_TALLIED_CLASS


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
            additions.append(class_draws(classes, int(draws[part]), keys[part], cell))
        elif path == "collapse":
            raise ValueError(_NOT_COLLAPSED)
        elif path == "rows" or (path is None and size <= SMALL_PART) or draws[part] != size:
            one_by_one[part] = True
        else:
            draw = BlockDraws.of(units, int(size), keys[part], path)
            additions += _by_superblock(units, int(start), cell, draw)
    if one_by_one.any():
        additions.append(_row_draws(units, layout, draws, keys, one_by_one))
    return additions, classes if sizes.size == 1 else None


def _classes(units: Units, start: int, stop: int, path: str | None) -> Units | None:
    if path == "collapse":
        return collapse(units, start, stop, stop - start)
    if path is not None or stop - start <= SMALL_PART:
        return None
    most = most_drawn_classes(stop - start, tallied=units.sparse is not None)
    return collapse(units, start, stop, most)


def _seconds(path: str, n_terms: int, n_units: int) -> float:
    return 1e-9 * (_COST[path] + _COST_PER_TERM[path] * n_terms) * n_units


def most_drawn_classes(n_units: int, *, tallied: bool) -> int:
    """Return up to how many classes it is less work to count than to draw units one by one."""
    per_class = _UNITS_PER_TALLIED_CLASS if tallied else _UNITS_PER_DRAWN_CLASS
    return min(n_units // per_class, MOST_CLASSES)


def class_draws(classes: Units, n_draws: int, key: Key, cell: int) -> Addition:
    """Return the kernel call that draws classes of one part."""
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


@dataclass(frozen=True)
class BlockDraws:
    """Draws from one part, a superblock at a time; small, to be sent where the units are.

    Attributes
    ----------
    path
        "patterns" or "weights".
    n_units
        Of the whole part.
    key
        Of its words.
    """

    path: str
    n_units: int
    key: tuple[int, int]

    @classmethod
    def of(cls, units: Units, n_units: int, key: Any, path: str | None = None) -> BlockDraws:
        """Return the draws of units with these terms."""
        if units.sparse is not None:
            path = "weights"
        elif path is None:
            path = "patterns" if len(units.varying) <= _MOST_TABLE_TERMS else "weights"
        return cls(path, n_units, (int(key[0]), int(key[1])))

    def seconds(self, units: Units, n_units: int) -> float:
        """Return the time that so many units of these terms take in a replicate, estimated."""
        n_tallies = sum(place.size > 0 for place in units.places)
        dense = _seconds(self.path, len(units.varying), n_units)
        return dense + 1e-9 * _COST_PER_TALLY * n_tallies * n_units

    def add(self, units: Units, start: int, superblock: int, first: int, sums: Floats) -> None:
        """Add the draws of a superblock, the units from `start` on, in replicates from `first` on.

        sums : shape (n_sums, n_replicates)
        """
        from fastboot.kernels.pattern_law import pattern_law, poisson_rate
        from fastboot.kernels.superblocks import fill_shares

        length = min(BLOCK, self.n_units - superblock * BLOCK)
        law = tuple(pattern_law(poisson_rate(self.n_units, BLOCK)))
        key = _key_of(self.key)
        shares = np.full(sums.shape[1], self.n_units)
        if self.n_units > BLOCK:
            fill_shares(superblock, self.n_units, first, *key, shares)
        where = start, length, superblock, shares, first, law, *key, sums
        if self.path == "patterns":
            from fastboot.kernels.patterns import add_pattern_sums

            add_pattern_sums(units.varying, *where)
        else:
            from fastboot.kernels.products import add_pattern_products

            add_pattern_products(units.varying, units.entries, *where)


@dataclass(frozen=True)
class BlockSwaps:
    """Swaps of one part, a superblock at a time; small, to be sent where the units are.

    Attributes
    ----------
    n_units
        Of the whole part.
    key
        Of its words.
    """

    n_units: int
    key: tuple[int, int]
    path: ClassVar[str] = "tables"

    def seconds(self, units: Units, n_units: int) -> float:
        """Return the time that so many units of these terms take in a replicate, estimated."""
        return _seconds(self.path, len(units.varying), n_units)

    def add(self, units: Units, start: int, superblock: int, first: int, sums: Floats) -> None:
        """Add the swapped units of a superblock; see :meth:`BlockDraws.add`."""
        from fastboot.kernels.swaps import add_swap_sums

        length = min(BLOCK, self.n_units - superblock * BLOCK)
        add_swap_sums(units.varying, start, length, superblock, first, *_key_of(self.key), sums)


def _key_of(key: tuple[int, int]) -> tuple[np.uint32, np.uint32]:
    return np.uint32(key[0]), np.uint32(key[1])


def _by_superblock(
    units: Units, start: int, cell: int, draws: BlockDraws | BlockSwaps
) -> list[Addition]:
    """Return the additions of a part, the units from `start` on."""

    def addition(superblock: int) -> Addition:
        begin = superblock * BLOCK
        length = min(BLOCK, draws.n_units - begin)

        def add(first: int, sums: Floats) -> None:
            draws.add(units, start + begin, superblock, first, sums)

        return Addition(draws.path, draws.seconds(units, length), add, superblock, cell)

    return [addition(superblock) for superblock in range(-(-draws.n_units // BLOCK))]


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
        n, tallied = units.n_units, units.sparse is not None
        most = n if path == "collapse" else most_swapped_classes(n, tallied=tallied)
        classes = collapse(units, 0, n, most)
    if classes is not None:
        return [class_swaps(classes, key)]
    if units.sparse is not None:
        return []
    return _by_superblock(units, 0, 0, BlockSwaps(units.n_units, (int(key[0]), int(key[1]))))


def most_swapped_classes(n_units: int, *, tallied: bool) -> int:
    """Return up to how many classes it is less work to count than to swap units one by one."""
    per_class = _UNITS_PER_TALLIED_CLASS if tallied else _UNITS_PER_SWAPPED_CLASS
    return min(n_units // per_class, MOST_CLASSES)


def class_swaps(classes: Units, key: Key) -> Addition:
    """Return the kernel call that swaps classes of one part."""
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

    def addition(part: int) -> Addition:
        start, size, chosen = int(layout.offsets[part]), int(layout.sizes[part]), int(n_first[part])
        cell = int(layout.cell_of_part[part])
        most = size if path == "collapse" else min(size // _UNITS_PER_LABELLED_CLASS, MOST_CLASSES)
        classes = None if path == "sums" else collapse(units, start, start + size, most)
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


def _read_only(array: Any) -> Any:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
