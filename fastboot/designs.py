"""How a table is resampled: what is drawn, inside what, and by which law.

``groups`` name what is drawn whole (documents, users); ``strata`` what keeps its number of units;
``levels`` how two group columns go together; ``by`` which rows have an answer of their own;
``scheme`` the law of the weights. A design says which key columns to load (`columns`) and turns
their codes into the numbering of units (`arrange`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import words
from fastboot.columns import Column, Keys, Labels, Source
from fastboot.rendering import count
from fastboot.units import Layout, one_part
from fastboot.weights import (
    Blocks,
    Crossed,
    Exponential,
    Multinomial,
    Nested,
    Poisson,
    Sampler,
    keys_of,
)

__all__ = ["BLOCKS", "LEVELS", "SCHEMES", "Arrangement", "Design", "Slices", "check_bca"]

Integers = NDArray[np.int64]

SCHEMES = ("multinomial", "bayesian", "poisson", "moving", "circular", "stationary")
LEVELS = ("nested", "crossed")
BLOCKS = ("moving", "circular", "stationary")


@dataclass(frozen=True, eq=False)
class Slices:
    """The rows that have an answer of their own.

    Attributes
    ----------
    codes
        Shape (n_rows,), int64: number of the slice.
    values
        For each slice its value of the column, or a tuple of those of several columns; sorted.
    """

    codes: Integers
    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Units of a loaded table, and who draws them.

    Attributes
    ----------
    layout
        Of the units whose weights are drawn.
    whole
        Of the units that are left out for leave-one-out values (the outer groups of two levels).
    n_units
        Units of each cell, shape (n_cells,), as results count them.
    factors
        Of crossed levels: codes of the two factors for each unit, and numbers of their levels.
    """

    layout: Layout
    whole: Layout
    n_units: Integers
    factors: tuple[tuple[Integers, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Design:
    """A design, checked; see :func:`check_design`."""

    groups: tuple[Source, ...]
    levels: str | None
    strata: tuple[Source, ...]
    by: tuple[Source, ...]
    scheme: str
    n_drawn: int | None
    block_length: float | None
    where: str = ""  # which rows count, in words

    @property
    def plain(self) -> bool:
        """Whether draws are with replacement on one level: the fast paths."""
        return self.levels is None and self.scheme == "multinomial"

    @property
    def drawn_vary(self) -> bool:
        """Whether resamples differ in their number of units."""
        return self.levels is not None or self.scheme == "poisson"

    @property
    def block_scheme(self) -> bool:
        """Whether blocks of neighbouring rows are drawn."""
        return self.scheme in BLOCKS

    @property
    def unit(self) -> str:
        """Name of what is resampled."""
        return "group" if self.groups else "row"

    @property
    def names(self) -> tuple[str, str]:
        """What the two crossed factors are called."""
        first, second = (
            source if isinstance(source, str) else f"groups[{place}]"
            for place, source in enumerate(self.groups)
        )
        return first, second

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the design."""
        if self.n_drawn is None:
            return ()
        sentence = (
            f"each resample has {count(self.n_drawn, self.unit)}: the replicates, their standard "
            "error and interval are those of samples of that size, and so are p-values and "
            "verdicts (more units drawn make them smaller without more data); times sqrt(n_drawn / "
            "n_units) for the error of a statistic that falls with the square root of the size"
        )
        return (sentence,)

    def remarks_on(self, loaded: Sequence[Any], n_rows: int) -> tuple[str, ...]:
        """Return sentences about the design in these rows, from the loaded key columns."""
        if not self.strata or self.scheme == "poisson":  # whose counts vary, of one unit too
            return ()
        sizes = self.arrange(loaded, n_rows, None).layout.sizes
        n_lone = int(np.count_nonzero(sizes == 1))
        if not n_lone:
            return ()
        strata = "1 stratum has" if n_lone == 1 else f"{n_lone:,} strata have"
        sentence = (
            f"{strata} a single {self.unit}, which every resample draws: such strata add nothing "
            "to the standard error, which is too small"
        )
        return (sentence,)

    @property
    def options(self) -> dict[str, str]:
        """What was asked for, by the names of arguments; nothing of what was left out."""
        given = {
            "where": self.where or None,
            "groups": _words_of(self.groups),
            "levels": self.levels,
            "strata": _words_of(self.strata),
            "by": _words_of(self.by),
            "scheme": None if self.scheme == "multinomial" else self.scheme,
            "n_drawn": self.n_drawn,
            "block_length": None if self.block_length is None else f"{self.block_length:g}",
        }
        return {name: str(value) for name, value in given.items() if value is not None}

    def words(self, keys: Sequence[Any] = (), blocks: str = "") -> str:
        """Return what a sentence says of the design, after the number of units; may be empty.

        Parameters
        ----------
        keys
            The loaded key columns, for the number of levels of the second factor.
        blocks
            The length of blocks, in words.
        """
        outer, inner = (*map(_by, self.groups), "", "")[:2]
        clauses = [f"where {self.where}" if self.where else ""]
        clauses.append(f"grouped{outer}" if outer else "")
        if self.levels == "nested":
            what = f"groups{inner}" if len(self.groups) > 1 else "rows"
            clauses.append(f"{what} resampled inside each drawn group")
        elif self.levels == "crossed":
            n = count(keys[1].n_groups, "group") if keys else "groups"
            clauses.append(f"crossed with {n}{inner} that are resampled too")
        if self.strata:
            names = " and ".join(one for one in self.strata if isinstance(one, str))
            clauses.append(f"within strata of {names}" if names else "within strata")
        clauses.append(
            {
                "bayesian": "Dirichlet weights (Bayesian bootstrap)",
                "poisson": "independent Poisson counts",
            }.get(self.scheme, "")
        )
        if self.block_scheme:
            clauses.append(f"{self.scheme} {blocks or 'blocks of rows'}")
        if self.n_drawn is not None:
            drawn = count(self.n_drawn, self.unit)
            clauses.append(f"{drawn} in each resample, which spreads as samples of {drawn} do")
        return ", ".join(filter(None, clauses))

    def beside(self, other: Design) -> Design:
        """Return the design of two samples: their columns may be called by different names."""
        return replace(
            self,
            groups=tuple(map(_both, self.groups, other.groups)),
            strata=tuple(map(_both, self.strata, other.strata)),
            where=str(_both(self.where, other.where)),
        )

    @property
    def columns(self) -> list[Column]:
        """The key columns to load."""
        names_of = [Column(source, "key", "groups") for source in self.groups] + [
            Column(source, "key", "strata") for source in self.strata
        ]
        return names_of + [Column(source, "slice", "by") for source in self.by]

    def slices(self, loaded: Sequence[Any]) -> Slices | None:
        """Return the slices, from the loaded key columns; None without `by`."""
        labels: Sequence[Labels] = loaded[len(self.groups) + len(self.strata) :]
        if not labels:
            return None
        codes, values = _sorted(labels[0])
        if len(labels) == 1:
            return Slices(codes, values)
        tuples: list[tuple[Any, ...]] = [(value,) for value in values]
        for label in labels[1:]:
            inner, inner_values = _sorted(label)
            found, codes = np.unique(codes * len(inner_values) + inner, return_inverse=True)
            tuples = [
                (*tuples[outer], inner_values[place])
                for outer, place in zip(*np.divmod(found, len(inner_values)), strict=True)
            ]
        return Slices(codes.astype(np.int64, copy=False), tuple(tuples))

    def arrange(self, loaded: Sequence[Any], n_rows: int, cells: Slices | None) -> Arrangement:
        """Number the units.

        Parameters
        ----------
        loaded
            The key columns.
        n_rows
            Rows of the table.
        cells
            Slices to keep apart; None for one answer.

        Raises
        ------
        ValueError
            A group lies in two strata, or there are more draws than the scheme can make.
        """
        groups: Sequence[Keys] = loaded[: len(self.groups)]
        strata: Sequence[Keys] = loaded[len(self.groups) : len(self.groups) + len(self.strata)]
        cell_codes = None if cells is None else cells.codes
        part_of_row, cell_of_part = _parts(strata, cell_codes)
        n_cells = 1 if cells is None else len(cells.values)
        if self.levels == "crossed":
            return _crossed(groups)
        outer = groups[0] if groups else None
        layout = _layout(part_of_row, cell_of_part, n_cells, outer, n_rows)
        if outer is not None and strata:
            _check_whole(layout, outer, cell_codes)
        if self.levels == "nested":
            return _nested(layout, groups[1] if len(groups) > 1 else None, n_rows)
        return Arrangement(layout, layout, np.diff(layout.cell_offsets))

    def draws(self, layout: Layout) -> Integers:
        """Draws from each part."""
        return layout.sizes if self.n_drawn is None else np.array([self.n_drawn])

    def sampler(
        self, arrangement: Arrangement, seed: np.random.SeedSequence, block_length: float
    ) -> Sampler:
        """Return who draws the weights, other than the plain bootstrap's."""
        layout = arrangement.layout
        if self.levels == "crossed":
            return crossed_sampler(arrangement, seed, (True, True))
        if self.levels == "nested":
            outer = arrangement.whole
            groups = Multinomial(outer, keys_of(seed, outer.sizes.size))
            return Nested(groups, inner_offsets(arrangement), seed)
        if self.scheme == "poisson":
            return Poisson(layout, seed)
        if self.scheme == "bayesian":
            return Exponential(layout, seed)
        return Blocks(layout, seed, self.scheme, block_length)


def check_bca(levels: str | None, scheme: str | None) -> None:
    """Refuse BCa intervals in designs without units that can be left out one at a time.

    Raises
    ------
    ValueError
        Levels are crossed, or blocks are drawn.
    """
    if levels == "crossed":
        raise ValueError(
            'method="bca" and levels="crossed": BCa is not defined for crossed levels, where a row '
            "belongs to two units; choose another method, such as percentile"
        )
    if scheme in BLOCKS:
        raise ValueError(
            f'method="bca" and scheme={scheme!r}: BCa is not defined for blocks, as rows that '
            "depend on each other cannot be left out one at a time; choose another method, such as "
            "percentile"
        )


def _words_of(sources: Sequence[Source]) -> str | None:
    if not sources:
        return None
    return words(sources[0] if len(sources) == 1 else list(sources))


def _by(source: Source) -> str:
    return f" by {source}" if isinstance(source, str) else ""


def _both(a: Source, b: Source) -> Source:
    if not (isinstance(a, str) and isinstance(b, str)):
        return b if isinstance(a, str) else a
    return a if a == b else f"({a}, {b})"


def crossed_sampler(
    arrangement: Arrangement, seed: np.random.SeedSequence, drawn: tuple[bool, bool]
) -> Crossed:
    """Return who draws the levels of both factors, or of one of them.

    Parameters
    ----------
    arrangement
        Of crossed levels.
    seed
        Of the words; a factor has the same draws whether the other is drawn or not.
    drawn
        Which of the two are drawn; the levels of the other are kept.
    """
    keys = keys_of(seed, 2)
    factors = tuple(
        Multinomial(one_part(n_levels), key[None]) if flag else None
        for (_, n_levels), key, flag in zip(arrangement.factors, keys, drawn, strict=True)
    )
    return Crossed(factors, tuple(codes for codes, _ in arrangement.factors))


def inner_offsets(arrangement: Arrangement) -> Integers:
    """Return where the inner units of each outer group start, shape (n_groups + 1,)."""
    inner, outer = arrangement.layout, arrangement.whole
    assert inner.unit_of_row is not None
    assert outer.unit_of_row is not None
    group_of_unit = np.empty(inner.n_units, np.int64)
    group_of_unit[inner.unit_of_row] = outer.unit_of_row
    return np.searchsorted(group_of_unit, np.arange(outer.n_units + 1))


def _sorted(labels: Labels) -> tuple[Integers, tuple[Any, ...]]:
    """Renumber labels in their sorted order, so that the order of rows does not matter."""
    order = sorted(range(len(labels.values)), key=labels.values.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[labels.codes], tuple(labels.values[i] for i in order)


def _parts(strata: Sequence[Keys], cells: Integers | None) -> tuple[Integers | None, Integers]:
    """Return the part of each row, None for one part, and the cell of each part."""
    codes = cells
    for stratum in strata:
        codes = stratum.codes if codes is None else codes * stratum.n_groups + stratum.codes
    one = None, np.zeros(1, np.int64)
    if codes is None:
        return one
    found, first, parts = np.unique(codes, return_index=True, return_inverse=True)
    if found.size == 1:
        return one
    cell_of_part = np.zeros(found.size, np.int64) if cells is None else cells[first]
    return parts.astype(np.int64, copy=False), cell_of_part


def _layout(
    part_of_row: Integers | None,
    cell_of_part: Integers,
    n_cells: int,
    groups: Keys | None,
    n_rows: int,
) -> Layout:
    if part_of_row is None:
        if groups is None:
            return one_part(n_rows)
        return one_part(groups.n_groups, groups.codes)
    if groups is None:
        order = np.argsort(part_of_row, kind="stable")
        unit_of_row = np.empty(n_rows, np.int64)
        unit_of_row[order] = np.arange(n_rows)
        part_of_unit = part_of_row[order]
    else:
        found, unit_of_row = np.unique(
            part_of_row * groups.n_groups + groups.codes, return_inverse=True
        )
        part_of_unit = found // groups.n_groups
    offsets = np.searchsorted(part_of_unit, np.arange(cell_of_part.size + 1))
    codes = _read_only(unit_of_row.astype(np.int64, copy=False))
    return Layout(codes, part_of_unit.size, offsets, cell_of_part, n_cells)


def _check_whole(layout: Layout, groups: Keys, cells: Integers | None) -> None:
    """Refuse groups that lie in two strata."""
    codes = groups.codes if cells is None else cells * np.int64(groups.n_groups) + groups.codes
    n_whole = np.unique(codes).size
    if n_whole != layout.n_units:
        n_split = layout.n_units - n_whole
        raise ValueError(
            f"`groups` and `strata`: {count(n_split, 'group')} or more have rows in several "
            "strata; a group is drawn whole, so all its rows must be in one stratum"
        )


def _nested(outer: Layout, inner: Keys | None, n_rows: int) -> Arrangement:
    assert outer.unit_of_row is not None
    if inner is None:
        order = np.argsort(outer.unit_of_row, kind="stable")
        codes = np.empty(n_rows, np.int64)
        codes[order] = np.arange(n_rows)
        outer_of_unit = outer.unit_of_row[order]
    else:
        found, codes = np.unique(
            outer.unit_of_row * inner.n_groups + inner.codes, return_inverse=True
        )
        outer_of_unit = found // inner.n_groups
    edges = np.searchsorted(outer_of_unit, outer.offsets)
    layout = Layout(
        _read_only(codes.astype(np.int64, copy=False)),
        outer_of_unit.size,
        edges,
        outer.cell_of_part,
        outer.n_cells,
    )
    return Arrangement(layout, outer, np.diff(outer.cell_offsets))


def _crossed(groups: Sequence[Keys]) -> Arrangement:
    first, second = groups
    found, codes = np.unique(first.codes * second.n_groups + second.codes, return_inverse=True)
    of_first, of_second = np.divmod(found, second.n_groups)
    layout = one_part(found.size, _read_only(codes.astype(np.int64, copy=False)))
    factors = ((of_first, first.n_groups), (of_second, second.n_groups))
    return Arrangement(layout, layout, np.array([first.n_groups]), factors)


def _read_only(array: Integers) -> Integers:
    view = array.view()
    view.flags.writeable = False
    return view
