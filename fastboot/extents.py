"""Rows of a source, block by block: what a worker reads for itself.

An *extent* is a run of kept rows (those that `where=` and missing values leave), by the fragments
they lie in. It is small, so it can be sent to where its rows are read. A block has `BLOCK` rows,
whatever the fragments; only the last one of a source may have fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import pyarrow as pa

from fastboot.arrow import from_numpy
from fastboot.blocks import BLOCK
from fastboot.columns import Column, Rows, complete, key_array, load
from fastboot.dispatch import Cancelled, stopped

__all__ = [
    "Block",
    "Count",
    "Counted",
    "Extent",
    "Part",
    "Piece",
    "Reading",
    "extents_of",
    "held_extents",
]

T = TypeVar("T")


class Piece(Protocol):
    """Part of a source that a worker can read: a file, a row group, a batch in memory."""

    @property
    def shown(self) -> str:
        """What messages call it."""

    @property
    def n_bytes(self) -> int | None:
        """Bytes in the file, None if unknown."""

    @property
    def filtered(self) -> bool:
        """Whether `where=` may leave rows out."""

    def batches(self, wanted: Sequence[str]) -> Any:
        """Yield its rows as Arrow record batches, filtered; closed, it ends."""


class Part(NamedTuple):
    """Kept rows of one batch of a piece.

    rows : Arrow record batch
    shown : the piece
    first : rows of the piece before these, None where some of these were left out
    n_dropped : how many of the batch were
    filtered : whether rows are counted among those that `where=` keeps
    """

    rows: Any
    shown: str
    first: int | None
    n_dropped: int = 0
    filtered: bool = False

    def slice(self, start: int, n_rows: int) -> Part:
        """Return some of the rows, or what there is of them."""
        first = None if self.first is None else self.first + start
        return Part(self.rows.slice(start, n_rows), self.shown, first, filtered=self.filtered)


class Block(NamedTuple, Generic[T]):
    """Rows of one block.

    number : of the block
    n_rows : in it
    made : what was made of the columns asked for
    keys : the key column as an Arrow array, None without groups
    """

    number: int
    n_rows: int
    made: T
    keys: Any


@dataclass(frozen=True)
class _Held:
    """Rows that were read already."""

    part: Part
    n_bytes: int

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.part.shown


@dataclass(frozen=True)
class Extent:
    """Consecutive blocks of kept rows.

    Attributes
    ----------
    first
        Number of the first block.
    pieces, counts
        Where the rows lie, and how many rows each of these has.
    skip
        Kept rows of the first piece that come before.
    n_rows
        How many there are.
    """

    first: int
    pieces: tuple[Piece | _Held, ...]
    counts: tuple[int, ...]
    skip: int
    n_rows: int

    @property
    def n_bytes(self) -> int:
        """Bytes of the pieces, those known."""
        return sum(piece.n_bytes or 0 for piece in self.pieces)

    @property
    def shown(self) -> str:
        """What messages call it."""
        first, last = self.pieces[0].shown, self.pieces[-1].shown
        return first if first == last else f"{first} up to {last}"


@dataclass(frozen=True)
class Reading:
    """What is read of every row.

    Attributes
    ----------
    columns
        To load, each named.
    keys
        The column of groups, or None.
    omit
        Rows with a missing value are left out.
    """

    columns: tuple[Column, ...]
    keys: Column | None = None
    omit: bool = False

    @property
    def every(self) -> tuple[Column, ...]:
        """All columns that are read."""
        return self.columns if self.keys is None else (*self.columns, self.keys)

    @property
    def names(self) -> list[str]:
        """Names of the columns to read."""
        return list(dict.fromkeys(str(column.source) for column in self.every))

    def parts(self, piece: Piece | _Held) -> Iterator[Part]:
        """Yield the kept rows of a piece, batch by batch.

        Raises
        ------
        TypeError, ValueError, FileNotFoundError
            As :func:`fastboot.columns.load`, naming the piece.
        Cancelled
            The run is over.
        """
        if isinstance(piece, _Held):
            yield piece.part
            return
        first = 0
        with closing(_read(piece, self.names)) as batches:
            for batch in batches:
                if stopped():
                    raise Cancelled
                yield self._kept(Part(batch, piece.shown, first, filtered=piece.filtered))
                first += len(batch)

    def _kept(self, part: Part) -> Part:
        """Leave out the rows that lack a value, if they are to be omitted."""
        if not self.omit:
            return part
        try:
            there = complete(self.every, part.rows)
        except (TypeError, ValueError) as error:
            raise _located(error, part) from error
        if there is None:
            return part
        rows = part.rows.filter(from_numpy(there))
        return Part(rows, part.shown, None, len(part.rows) - len(rows), part.filtered)

    def blocks(self, extent: Extent, make: Callable[[Rows], T]) -> Iterator[Block[T]]:
        """Yield the blocks of an extent.

        Parameters
        ----------
        extent
            What to read.
        make
            From the columns of a block to what is wanted of them, row by row: what it refuses is
            looked for in the pieces of the block, and the first that has it is named.

        Raises
        ------
        TypeError, ValueError, FileNotFoundError
            As :func:`fastboot.columns.load` and `make`, naming the piece; or a piece has not as
            many rows as when it was counted.
        """
        waiting: list[Part] = []
        n_waiting, number = 0, extent.first
        for part in self._parts(extent):
            start = 0
            while start < len(part.rows):
                own = part.slice(start, BLOCK - n_waiting)
                waiting.append(own)
                start += len(own.rows)
                n_waiting += len(own.rows)
                if n_waiting == BLOCK:
                    yield self._block(number, waiting, make)
                    waiting, n_waiting, number = [], 0, number + 1
        if waiting:
            yield self._block(number, waiting, make)

    def _parts(self, extent: Extent) -> Iterator[Part]:
        """Yield the rows of an extent as they lie in its pieces."""
        skip, left = extent.skip, extent.n_rows
        for piece, count in zip(extent.pieces, extent.counts, strict=True):
            n_read = 0
            for part in self.parts(piece):
                n_read += len(part.rows)
                own = part.slice(skip, left)
                skip = max(0, skip - len(part.rows))
                left -= len(own.rows)
                yield own
                if not left:
                    return
            if n_read != count:
                raise _saying_where(
                    ValueError(
                        f"{piece.shown} had {count:,} rows and now has {n_read:,}; `data` must not "
                        "change while it is read"
                    )
                )

    def _block(self, number: int, parts: Sequence[Part], make: Callable[[Rows], T]) -> Block[T]:
        try:
            return self._made(number, parts, make)
        except (TypeError, ValueError):
            for part in parts:  # whose fault is it?
                try:
                    self._made(number, [part], make)
                except (TypeError, ValueError) as error:
                    raise _located(error, part) from error
            raise  # the pieces do not go together

    def _made(self, number: int, parts: Sequence[Part], make: Callable[[Rows], T]) -> Block[T]:
        table = _joined(self.every, parts)
        keys = None if self.keys is None else key_array(self.keys, table)
        rows = load(self.columns, table)
        return Block(number, rows.n_rows, make(rows), keys)


def _joined(columns: Sequence[Column], parts: Sequence[Part]) -> Any:
    """Return the rows of parts as one table; a column of two types gets one that holds both."""
    tables = [pa.Table.from_batches([part.rows]) for part in parts]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowInvalid:
        for column in columns:
            _check_joinable(column, parts)
        raise


def _check_joinable(column: Column, parts: Sequence[Part]) -> None:
    name = str(column.source)
    tables = [pa.Table.from_batches([part.rows]).select([name]) for part in parts]
    try:
        pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowInvalid as error:
        shown = {part.rows.schema.field(name).type: part.shown for part in reversed(parts)}
        where = " and ".join(f"{kind} in {piece}" for kind, piece in reversed(shown.items()))
        raise _saying_where(
            ValueError(
                f"`{column.argument}` (column {name!r}) is {where}, and no type holds the values "
                f"of all ({error}); convert the column to one type."
            )
        ) from error


def _read(piece: Piece, names: Sequence[str]) -> Generator[Any, None, None]:
    try:
        yield from piece.batches(names)
    except (OSError, ValueError) as error:
        _saying_where(error)
        raise


def _located(error: Exception, part: Part) -> Exception:
    """Return an error that says in which piece, and from which of its rows on."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    row = f", where row 0 is row {part.first:,}" if part.first else ""
    if part.filtered:
        row = f", where row 0 is row {part.first or 0:,} of those that `where` keeps"
    return _saying_where(kind(f"{str(error).rstrip('.')}. In {part.shown}{row}."))


def _saying_where(error: Exception) -> Exception:
    """Mark an error that names its piece: no note of the whole extent (`in_order`) is needed."""
    error.says_where = True  # type: ignore[attr-defined] # any attribute travels with an error
    return error


class Counted(NamedTuple):
    """What `Count` found.

    n_kept, n_dropped : rows
    schemas : of the batches, each once
    """

    n_kept: int
    n_dropped: int
    schemas: tuple[Any, ...]


@dataclass(frozen=True)
class Count:
    """Counts the rows of a piece, where its file does not say how many are kept."""

    reading: Reading
    piece: Piece

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.piece.shown

    def __call__(self) -> Counted:
        """Count."""
        n_kept = n_dropped = 0
        schemas: list[Any] = []
        for part in self.reading.parts(self.piece):
            n_kept += len(part.rows)
            n_dropped += part.n_dropped
            if part.rows.schema not in schemas:
                schemas.append(part.rows.schema)
        return Counted(n_kept, n_dropped, tuple(schemas))


def extents_of(
    pieces: Sequence[Piece], counts: Sequence[int], spans: Iterable[tuple[int, int]]
) -> list[Extent]:
    """Return the extents of some blocks of a source.

    Parameters
    ----------
    pieces, counts
        In row order, with the kept rows of each.
    spans
        Of each extent the number of its first block, and of the first after it; none begins before
        the one that comes before it.
    """
    ends = list(accumulate(counts))
    found = []
    piece = 0
    for first, after in spans:
        start, stop = first * BLOCK, min(after * BLOCK, ends[-1])
        while ends[piece] <= start:
            piece += 1
        last = piece
        while ends[last] < stop:
            last += 1
        skip = start - (ends[piece] - counts[piece])
        own = [place for place in range(piece, last + 1) if counts[place]]
        found.append(
            Extent(
                first,
                tuple(pieces[place] for place in own),
                tuple(counts[place] for place in own),
                skip,
                stop - start,
            )
        )
    return found


def held_extents(parts: Iterable[Part], n_blocks: int, row_bytes: float) -> Iterator[Extent]:
    """Cut rows into extents that hold them, as they come.

    Parameters
    ----------
    parts
        As from `Reading.parts`.
    n_blocks
        Of an extent.
    row_bytes
        Bytes of a file for each row.
    """
    waiting: list[_Held] = []
    n_waiting, number, most = 0, 0, n_blocks * BLOCK

    def extent() -> Extent:
        counts = tuple(len(held.part.rows) for held in waiting)
        return Extent(number, tuple(waiting), counts, 0, n_waiting)

    for part in parts:
        start = 0
        while start < len(part.rows):
            own = part.slice(start, most - n_waiting)
            waiting.append(_Held(own, int(row_bytes * len(own.rows))))
            start += len(own.rows)
            n_waiting += len(own.rows)
            if n_waiting == most:
                yield extent()
                waiting, n_waiting, number = [], 0, number + n_blocks
    if waiting:
        yield extent()
