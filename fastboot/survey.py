"""One look at every row of a source: what its terms sum to, and how few different rows there are.

A survey is one task for each extent. It finds the totals of terms, whether terms that seemed equal
are, which terms are constant, and the units: the sums of groups, or the distinct rows and their
counts as long as these are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.arrow import from_numpy
from fastboot.blocks import Node, TreeSum
from fastboot.checkpoints import Digest
from fastboot.engine import interrupts_kept
from fastboot.extents import Extent, Reading
from fastboot.grouping import GroupBlock, GroupSums
from fastboot.precision import digits_of
from fastboot.row_terms import RowTerms, spread
from fastboot.scanned import evaluated
from fastboot.statistics.estimand import same
from fastboot.tabulation import Tabulation
from fastboot.units import Tally

__all__ = ["Findings", "Survey", "Wanted", "compile_kernels", "tabulated"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Wanted:
    """What is to be found out, about terms by name.

    Attributes
    ----------
    summed
        To sum: arrays and tallies.
    sized
        Arrays whose absolute values are to be summed.
    drawn
        To be resampled: distinct rows, or sums of groups.
    beside
        More of which constants, or sums of groups, are to be found.
    equal
        Pairs of numbers of terms that are equal, as far as one knows.
    alike
        Pairs of numbers of `arrays` that are.
    swapped
        Drawn are the changes of swaps.
    digested
        Tell the drawn terms from others by a digest.
    """

    summed: tuple[Any, ...]
    sized: tuple[Any, ...]
    drawn: tuple[Any, ...]
    beside: tuple[Any, ...]
    equal: tuple[tuple[int, int], ...]
    alike: tuple[tuple[int, int], ...]
    swapped: bool
    digested: bool

    @property
    def gathered(self) -> tuple[Any, ...]:
        """What is drawn, and what is beside it."""
        return (*self.drawn, *(term for term in self.beside if term not in self.drawn))

    @property
    def arrays(self) -> list[Any]:
        """What of it is no tally."""
        return [term for term in self.gathered if not isinstance(term, Tally)]

    def names(self, alike: Iterable[tuple[int, int]]) -> dict[Any, Any]:
        """Return for terms that are another one, by numbers of `arrays`, the first of these."""
        arrays = self.arrays
        names: dict[Any, Any] = {}
        for i, j in sorted(alike):
            names.setdefault(arrays[j], arrays[i])
        return names


@dataclass(eq=False)
class Findings:
    """What was found in some extents, in order.

    Attributes
    ----------
    n_rows
        Rows.
    sums, sizes
        Of the terms to sum, one after the other, and of the absolute values.
    equal, alike
        Pairs of `Wanted` that still are.
    firsts, constant
        Of each of the `arrays` its first value, and whether all are equal to it.
    binary, digits
        Of each sized term, whether all values are 0 or 1, and its `digits_of`.
    table
        Distinct rows of the terms to draw: arrays, then codes and values of tallies. None for too
        many, or with groups.
    n_differing
        Rows in which a drawn term is not 0: whose swap changes something.
    differing
        How many of these are in each block; none if not asked for, or not known.
    digests
        Of each block, none if not asked for.
    groups
        Sums of the groups of one group block, None without groups.
    """

    n_rows: int
    sums: tuple[Node, ...]
    sizes: tuple[Node, ...]
    equal: frozenset[tuple[int, int]]
    alike: frozenset[tuple[int, int]]
    firsts: Floats
    constant: NDArray[np.bool_]
    binary: NDArray[np.bool_]
    digits: NDArray[np.int64]
    table: Tabulation | None
    n_differing: int
    differing: tuple[int, ...]
    digests: tuple[str, ...]
    groups: GroupSums | None

    def join(self, later: Findings) -> Findings:
        """Return what was found in both, the later rows behind."""
        sums, sizes = TreeSum(), TreeSum()
        for tree, own, other in ((sums, self.sums, later.sums), (sizes, self.sizes, later.sizes)):
            tree.join(own)
            tree.join(other)
        table = None
        if self.table is not None and later.table is not None:
            table = self.table.join(later.table)
        same_first = (self.firsts == later.firsts) & self.constant & later.constant
        return Findings(
            self.n_rows + later.n_rows, sums.nodes, sizes.nodes, self.equal & later.equal,
            self.alike & later.alike, self.firsts, same_first, self.binary & later.binary,
            self.digits | later.digits, table, self.n_differing + later.n_differing,
            (*self.differing, *later.differing), (*self.digests, *later.digests), None,
        )  # fmt: skip


@dataclass(frozen=True)
class Survey:
    """Surveys one extent."""

    reading: Reading
    extent: Extent
    terms: RowTerms
    wanted: Wanted

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.extent.shown

    def __call__(self) -> Findings:
        """Read the extent."""
        wanted = self.wanted
        n_arrays = len(wanted.arrays)
        seen = _Seen.of(n_arrays, len(wanted.sized))
        sums, sizes = TreeSum(), TreeSum()
        equal, alike = set(wanted.equal), set(wanted.alike)
        table: Tabulation | None = None
        counting = self.reading.keys is None and bool(wanted.drawn)
        groups = None if self.reading.keys is None else GroupBlock()
        digests: list[str] = []
        differing: list[int] = []
        n_rows = 0
        for number, n_own, own, own_keys in self.reading.blocks(self.extent, self.terms):
            equal = {(i, j) for i, j in equal if same(own[i], own[j])}
            sums.add(number, _sums([evaluated(term, own) for term in wanted.summed]))
            sized = [evaluated(term, own) for term in wanted.sized]
            sizes.add(number, _sizes(sized))
            terms = [spread(evaluated(term, own), n_own) for term in wanted.gathered]
            arrays = [term for term in terms if not isinstance(term, Tally)]
            alike = {(i, j) for i, j in alike if same(arrays[i], arrays[j])}
            seen.look(arrays, sized, first=not n_rows)
            if groups is not None:
                groups.add(own_keys, terms)
            elif counting:
                table = _counted(table, terms[: len(wanted.drawn)])
                counting = table is not None
            if wanted.digested:
                digests.append(_digest(terms[: len(wanted.drawn)]))
            if wanted.swapped:
                differing.append(int(np.any(terms[: len(wanted.drawn)], axis=0).sum()))
            n_rows += n_own
        return Findings(
            n_rows, sums.nodes, sizes.nodes, frozenset(equal), frozenset(alike), *seen, table,
            sum(differing), tuple(differing), tuple(digests),
            None if groups is None else groups.finish(),
        )  # fmt: skip


def tabulated(own: Sequence[Any], counts: NDArray[np.int64], wanted: Wanted) -> Findings | None:
    """Return what a survey finds, from distinct rows; None where their order would matter.

    Sums of whole numbers are exact in any order, others are not.

    Parameters
    ----------
    own
        The terms of distinct rows, in order of first appearance.
    counts
        How often each is there, shape (n_distinct,).
    wanted
        What is to be found.
    """
    n_rows = int(counts.sum())
    arrays = [term.values if isinstance(term, Tally) else term for term in own]
    if wanted.digested or not all(_is_whole(array, n_rows) for array in arrays):
        return None
    summed = [_times(evaluated(term, own), counts) for term in wanted.summed]
    sized = [evaluated(term, own) for term in wanted.sized]
    terms = [spread(evaluated(term, own), counts.size) for term in wanted.gathered]
    seen = _Seen.of(len(wanted.arrays), len(sized))
    seen.look([term for term in terms if not isinstance(term, Tally)], sized, first=True)
    drawn = terms[: len(wanted.drawn)]
    table = Tabulation.of(_numbers(drawn), counts) if drawn else None
    differ = np.any(drawn, axis=0) if wanted.swapped else np.zeros(counts.size, np.bool_)
    return Findings(
        n_rows, ((0, 0, _sums(summed)),), ((0, 0, _sizes([_times(one, counts) for one in sized])),),
        frozenset(wanted.equal), frozenset(wanted.alike), *seen, table, int(counts[differ].sum()),
        (), (), None,
    )  # fmt: skip


def _is_whole(values: Any, n_rows: int) -> bool:
    """Tell whether so many of these numbers, and their differences, sum up exactly."""
    largest = 2.0**52 / n_rows
    return bool(np.all((np.abs(values) <= largest) & (values == np.round(values))))


def _times(term: Any, counts: NDArray[np.int64]) -> Any:
    """Return a term of distinct rows as the sum over all that are equal."""
    if not isinstance(term, Tally):
        return term * counts
    if np.ndim(term.values) == 0:  # counts; what each is worth comes later
        return Tally(term.codes, term.size, counts.astype(np.float64))
    values: Floats = np.multiply(term.values, counts, dtype=np.float64)
    return Tally(term.codes, term.size, values)


def compile_kernels(*, grouped: bool) -> None:
    """Compile what surveys call, in this thread, where Ctrl-C can end it."""
    with interrupts_kept():
        if grouped:
            block = GroupBlock()
            block.add(from_numpy(np.zeros(1, np.int64)), [np.zeros(1)])
            block.finish()
        else:
            Tabulation.of(np.zeros((1, 1)))


class _Seen(NamedTuple):
    """What is so in all blocks so far, see `Findings`."""

    firsts: Floats
    constant: NDArray[np.bool_]
    binary: NDArray[np.bool_]
    digits: NDArray[np.int64]

    @classmethod
    def of(cls, n_arrays: int, n_sized: int) -> _Seen:
        """Return what is so in no block."""
        return cls(
            np.zeros(n_arrays), np.ones(n_arrays, np.bool_), np.ones(n_sized, np.bool_),
            np.zeros(n_sized, np.int64),
        )  # fmt: skip

    def look(self, arrays: Sequence[Any], sized: Sequence[Any], *, first: bool) -> None:
        """Look at one more block."""
        for place, term in enumerate(arrays):
            if first:
                self.firsts[place] = term[0]
            if self.constant[place]:
                self.constant[place] = bool((term == self.firsts[place]).all())
        for place, term in enumerate(sized):
            if self.binary[place]:
                self.binary[place] = bool(((term == 0.0) | (term == 1.0)).all())
            self.digits[place] |= digits_of(term)


def _sums(terms: Sequence[Any]) -> Floats:
    """Sums of one block, tallies written out."""
    with np.errstate(over="ignore", invalid="ignore"):  # refused by name where they are joined
        parts = [
            _tallied(term) if isinstance(term, Tally) else np.array([np.sum(term)])
            for term in terms
        ]
    return np.concatenate(parts) if parts else np.empty(0)


def _tallied(tally: Tally) -> Floats:
    there = tally.codes >= 0
    if np.ndim(tally.values) == 0:  # counts; what each is worth comes later
        counts: Floats = np.bincount(tally.codes[there], minlength=tally.size).astype(np.float64)
        return counts
    values: Any = tally.values
    sums: Floats = np.bincount(tally.codes[there], values[there], tally.size).astype(np.float64)
    return sums


def _sizes(terms: Sequence[Any]) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([np.abs(term).sum() for term in terms])


def _digest(drawn: Sequence[Any]) -> str:
    digest = Digest()
    digest.update(_numbers(drawn))
    return digest.hexdigest()


def _counted(table: Tabulation | None, drawn: Sequence[Any]) -> Tabulation | None:
    """Return the table with one more block; None for too many distinct rows."""
    found = Tabulation.of(_numbers(drawn))
    return found if found is None or table is None else table.join(found)


def _numbers(drawn: Sequence[Any]) -> Floats:
    """Terms of one block as rows of numbers: arrays, then codes and values of each tally."""
    rows = [term for term in drawn if not isinstance(term, Tally)]
    for tally in drawn:
        if isinstance(tally, Tally):
            there = tally.codes >= 0
            rows += [np.where(there, tally.codes, 0), np.where(there, tally.values, 0.0)]
    return np.array(rows, dtype=np.float64)
