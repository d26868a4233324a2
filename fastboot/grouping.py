"""Sums of groups whose rows may lie anywhere in data that are never in memory as a whole.

The rows of a *group block* are added up by key where they are read (`GroupBlock`); what comes of it
has one entry for each key and can be sent (`GroupSums`). `Merge` adds the group blocks up, in their
order. Both are one pass through a table of keys: nothing is sorted but the keys at the very end. A
sum has the same bits as :func:`fastboot.blocks.sums_by_code` finds in memory.

A group block of 4,194,304 rows with a million string keys takes 0.6 to 0.8 s of one core, with ten
thousand 0.15 s (Arrow's own dictionary_encode: 1.9 s and 0.3 s), and 0.15 s for each million keys
to merge. A group takes, while it is merged, 16 to 32 bytes in the table of keys, 8 and its key in
whole words of 8 bytes, 8 for its number of rows and for each term, and up to twice that where
memory grows: ten million groups with keys of 10 bytes and two terms need 0.8 to 1.5 GB.

There may be 2**31 - 1 groups, and their keys may take 32 GiB; beyond that, an error says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.arrow import from_numpy
from fastboot.blocks import BLOCK
from fastboot.sources.keys import (
    KeyBytes,
    as_kind,
    common_kind,
    from_bytes,
    sorted_places,
    to_bytes,
)
from fastboot.units import Sparse, Tally, from_rows, one_part

__all__ = ["GroupBlock", "GroupSums", "Groups", "Merge", "Numbering", "group_sums"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A record's head has 32 bits for the number of its key, one of which is kept free, and 32 for the
# length; an entry has 32 bits for the record's place among words of 8 bytes.
_MOST_KEYS = 2**31 - 1
_MOST_WORDS = 2**32
_LONGEST = 2**32 - 1
# A table of 32 KB, the L1 cache, to start with.
_ENTRIES = 4_096


class Numbering:
    """Numbers distinct keys in order of first appearance.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbering = Numbering()
    >>> numbering.codes(to_bytes(pa.array([7, 5, 7])))
    array([0, 1, 0])
    >>> numbering.codes(to_bytes(pa.array([6, 5])))
    array([2, 1])
    """

    def __init__(self) -> None:
        self.n_keys = 0
        self._kind: Any = None
        self._table = np.zeros(_ENTRIES, np.uint64)
        self._records = np.zeros(_ENTRIES, np.uint64)
        self._end = 1  # of the records; an entry of 0 is empty

    def codes(self, keys: KeyBytes) -> Integers:
        """Return the number of each key; those that are new get the next ones.

        Raises
        ------
        TypeError
            Keys are of another type than those before, and never equal to them.
        ValueError
            Keys of two types cannot be compared as one, or there are too many keys.
        """
        kind = keys.kind if self._kind is None else common_kind(self._kind, keys.kind)
        if self._kind not in {None, kind}:
            known = as_kind(self.keys(), kind)
            self.n_keys, self._end = 0, 1
            self._table[:] = 0
            self._codes(known)  # the same as before
        self._kind = kind
        return self._codes(as_kind(keys, kind))

    def keys(self) -> KeyBytes:
        """Return the distinct keys in order of first appearance."""
        from fastboot.kernels.grouping import fill_bytes, fill_starts

        starts = np.zeros(self.n_keys + 1, np.int64)
        fill_starts(self._records, starts)
        data = np.empty(starts[-1], np.uint8)
        fill_bytes(self._records.view(np.uint8), starts, data)
        return KeyBytes.of(self._kind, starts, data)

    def _codes(self, keys: KeyBytes) -> Integers:
        codes = np.empty(keys.n_keys, np.int64)
        for first in range(0, codes.size, BLOCK):
            part = codes[first : first + BLOCK]
            self._number(*keys.part(first, first + part.size), part)
        return codes

    def _number(self, starts: Integers, data: NDArray[np.uint8], codes: Integers) -> None:
        from fastboot.kernels.grouping import number_keys

        most_words = self._end + 2 * codes.size + data.size // 8  # where all are new
        if data.size > _LONGEST or most_words > _MOST_WORDS:
            raise ValueError(
                f"the distinct keys of `groups` take more than {_MOST_WORDS >> 27} GiB; use a "
                "column of shorter keys, such as numbers."
            )
        self._records = _grown(self._records, most_words)
        self._grow_table(self.n_keys + codes.size)
        padded = np.zeros(data.size + 16, np.uint8)
        padded[: data.size] = data
        words = np.ndarray(data.size + 8, np.uint64, padded, strides=(1,))
        self.n_keys, self._end = number_keys(
            starts, words, self._table, _shift(self._table), self.n_keys, self._end,
            self._records, codes,
        )  # fmt: skip
        if self.n_keys > _MOST_KEYS:
            raise ValueError(
                f"`groups` has more than {_MOST_KEYS:,} distinct keys; use a column that has "
                "fewer, or leave `groups` out where each row is a unit of its own."
            )

    def _grow_table(self, most_keys: int) -> None:
        """Keep half of the table empty: a key is found in 1.5 looks (Knuth, TAOCP 3, 6.4)."""
        if self._table.size >= 2 * most_keys:
            return
        from fastboot.kernels.grouping import fill_table

        larger = np.zeros(1 << (2 * most_keys - 1).bit_length(), np.uint64)
        fill_table(self._table, _shift(larger), larger)
        self._table = larger


class Entries(NamedTuple):
    """Sums of tallies.

    groups : shape (n_entries,), int64: place of the group among the keys
    terms : shape (n_entries,), int64: place among the sums of tallies
    sums : shape (n_entries,), float64
    """

    groups: Integers
    terms: Integers
    sums: Floats


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums of the groups of one group block.

    Attributes
    ----------
    keys
        The distinct keys, in order of first appearance.
    sums
        Shape (n_arrays + 1, n_keys): sums of the terms that are arrays, then the number of rows.
    n_tallied
        Number of sums of the tallies.
    entries
        Of the tallies, those that have rows.
    """

    keys: KeyBytes
    sums: Floats
    n_tallied: int
    entries: Entries


@dataclass(frozen=True, eq=False)
class Groups:
    """Sums of all groups, which are in sorted order of their keys.

    Attributes
    ----------
    sizes
        Shape (n_groups,), int64: rows of each.
    sums
        Shape (n_arrays, n_groups): of the terms that are arrays.
    sparse
        Of the tallies, None without any.
    """

    sizes: Integers
    sums: Floats
    sparse: Sparse | None
    _keys: Any
    _order: Integers

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.sizes.size

    @property
    def keys(self) -> Any:
        """The keys as an Arrow array."""
        return self._keys.take(from_numpy(self._order))


class GroupBlock:
    """Adds up the rows of one group block, some at a time: their terms need not be kept.

    Examples
    --------
    >>> import pyarrow as pa
    >>> block = GroupBlock()
    >>> block.add(pa.array([7, 5, 7]), [np.array([1.0, 2.0, 4.0])])
    >>> block.finish().sums
    array([[5., 2.],
           [2., 1.]])
    """

    def __init__(self) -> None:
        self._totals: _Totals | None = None

    def add(self, keys: Any, terms: Sequence[Floats | Tally]) -> None:
        """Add the next rows.

        Parameters
        ----------
        keys
            Of each row; see :func:`fastboot.columns.key_array`, which refuses missing ones.
        terms
            An array of shape (n_rows,) for each term, or a tally.
        """
        arrays = [term for term in terms if not isinstance(term, Tally)]
        tallies = [term for term in terms if isinstance(term, Tally)]
        if self._totals is None:
            self._totals = _Totals(len(arrays) + 1, sum(tally.size for tally in tallies))
        ones = np.ones(len(keys))
        groups = self._totals.groups.add(to_bytes(keys), [*arrays, ones])
        if tallies:
            _, places, values = from_rows(tallies, one_part(len(keys))).entries
            self._totals.add_entries(np.repeat(groups, len(tallies)), places, values)

    def finish(self) -> GroupSums:
        """Return the sums."""
        totals = self._totals
        assert totals is not None
        keys, sums = totals.groups.numbering.keys(), totals.groups.sums.copy()
        return GroupSums(keys, sums, totals.n_tallied, totals.entries())


def group_sums(keys: Iterable[Any], terms: Iterable[Sequence[Floats | Tally]]) -> GroupSums:
    """Return the sums of the groups of one group block.

    Parameters
    ----------
    keys, terms
        Of some rows, of the next, and so on; see :meth:`GroupBlock.add`.
    """
    block = GroupBlock()
    for own_keys, own_terms in zip(keys, terms, strict=True):
        block.add(own_keys, own_terms)
    return block.finish()


class Merge:
    """Adds up group blocks.

    Examples
    --------
    >>> import pyarrow as pa
    >>> merge = Merge()
    >>> for letters in (["x", "y"], ["x", "a"]):
    ...     keys = pa.array(letters, pa.large_string())
    ...     merge.add(group_sums([keys], [[np.array([1.0, 4.0])]]))
    >>> groups = merge.finish()
    >>> groups.keys.to_pylist(), groups.sums
    (['a', 'x', 'y'], array([[4., 2., 4.]]))
    """

    def __init__(self) -> None:
        self._totals: _Totals | None = None
        self._found: Groups | None = None

    def add(self, part: GroupSums) -> None:
        """Add the next group block.

        Raises
        ------
        TypeError, ValueError
            As :meth:`Numbering.codes`.
        """
        if self._totals is None:
            self._totals = _Totals(len(part.sums), part.n_tallied)
        groups = self._totals.groups.add(part.keys, part.sums)
        self._totals.add_entries(groups[part.entries.groups], *part.entries[1:])

    def finish(self) -> Groups:
        """Return all groups; nothing can be added then."""
        if self._found is None:
            assert self._totals is not None
            totals, self._totals = self._totals, None
            self._found = totals.sorted()
        return self._found


class _Totals:
    """Sums by key, and entries of tallies by group and term."""

    def __init__(self, n_sums: int, n_tallied: int) -> None:
        self.groups = _Sums(n_sums)
        self.n_tallied = n_tallied
        self._entries = _Sums(1)

    def add_entries(self, groups: Integers, terms: Integers, values: Floats) -> None:
        keys = to_bytes(from_numpy(groups * self.n_tallied + terms))
        self._entries.add(keys, [values])

    def entries(self) -> Entries:
        if not self.n_tallied:
            return _NO_ENTRIES
        keys = self._entries.numbering.keys().data.view(np.int64)
        return Entries(*np.divmod(keys, self.n_tallied), self._entries.sums[0].copy())

    def sorted(self) -> Groups:
        keys = from_bytes(self.groups.numbering.keys())
        order = sorted_places(keys)
        *found, sizes = self.groups.sums
        sums = np.empty((len(found), order.size))
        for row, one in zip(sums, found, strict=True):
            row[:] = one[order]
        whole = _read_only(sizes[order].astype(np.int64))
        sparse = self._sparse(order) if self.n_tallied else None
        return Groups(whole, _read_only(sums), sparse, keys, order)

    def _sparse(self, order: Integers) -> Sparse:
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        groups, terms, sums = self.entries()
        units = rank[groups]
        places = np.argsort(units * self.n_tallied + terms)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(units, minlength=order.size))])
        return Sparse(*map(_read_only, (offsets, terms[places], sums[places])))


class _Sums:
    """Sums of terms by key."""

    def __init__(self, n_terms: int) -> None:
        self.numbering = Numbering()
        self._sums = np.zeros((n_terms, 0))

    @property
    def sums(self) -> Floats:
        """Shape (n_terms, n_keys)."""
        return self._sums[:, : self.numbering.n_keys]

    def add(self, keys: KeyBytes, terms: Iterable[Floats]) -> Integers:
        """Add terms of shape (n_keys,) each; return the numbers of the keys."""
        from fastboot.kernels.grouping import add_by_code

        codes = self.numbering.codes(keys)
        self._sums = _grown(self._sums, self.numbering.n_keys)
        for sums, term in zip(self._sums, terms, strict=True):
            add_by_code(codes, _read_only(np.ascontiguousarray(term, np.float64)), sums)
        return codes


def _shift(table: NDArray[np.uint64]) -> int:
    """Bits that 32 bits of a hash have too many for the slots of a table."""
    return 33 - table.size.bit_length()


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array with a last axis of at least that size, 0 where this one has nothing."""
    n = array.shape[-1]
    if n >= size:
        return array
    larger = np.zeros((*array.shape[:-1], max(size, 2 * n)), array.dtype)
    larger[..., :n] = array
    return larger


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


_NO_ENTRIES = Entries(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
