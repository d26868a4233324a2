"""Rows of a source, block by block: what a worker reads for itself.

An *extent* is a run of kept rows (those that `where=` and missing values leave), by the fragments
they lie in. It is small, so it can be sent to where its rows are read. A block has `BLOCK` rows,
whatever the fragments; only the last one of a source may have fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from fastboot.blocks import BLOCK
from fastboot.columns import Column, Rows, key_array, load

__all__ = ["Block", "Count", "Extent", "Piece", "Reading", "extents_of", "streamed_extents"]


class Piece(Protocol):
    """Part of a source that a worker can read: a file, a row group, a batch in memory."""

    @property
    def shown(self) -> str:
        """What messages call it."""

    @property
    def n_bytes(self) -> int | None:
        """Bytes in the file, None if unknown."""

    def batches(self, wanted: Sequence[str]) -> Iterator[Any]:
        """Yield its rows as Arrow record batches, filtered."""


class Block(NamedTuple):
    """Rows of one block.

    number : of the block
    rows : the columns asked for
    keys : the key column as an Arrow array, None without groups
    """

    number: int
    rows: Rows
    keys: Any


@dataclass(frozen=True)
class Extent:
    """Consecutive blocks of kept rows.

    Attributes
    ----------
    first
        Number of the first block.
    pieces
        Where the rows lie.
    skip
        Kept rows of the first piece that come before.
    n_rows
        How many there are.
    """

    first: int
    pieces: tuple[Piece, ...]
    skip: int
    n_rows: int

    @property
    def n_bytes(self) -> int:
        """Bytes of the pieces, those known."""
        return sum(piece.n_bytes or 0 for piece in self.pieces)


@dataclass(frozen=True)
class _Held:
    """Rows that were read already."""

    batch: Any
    shown: str
    n_bytes: int | None = 0

    def batches(self, wanted: Sequence[str]) -> Iterator[Any]:
        """Yield them."""
        yield self.batch.select(list(wanted))


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
    def names(self) -> list[str]:
        """Names of the columns to read."""
        every = [*self.columns, *([] if self.keys is None else [self.keys])]
        return list(dict.fromkeys(str(column.source) for column in every))

    def kept(self, batch: Any) -> Any:
        """Leave out the rows that lack a value, if they are to be omitted."""
        if not self.omit:
            return batch
        from pyarrow import compute

        there = None
        for name in dict.fromkeys(str(one.source) for one in self.columns if not one.nullable):
            values = batch.column(name)
            own = compute.is_valid(values)
            if pa.types.is_floating(values.type):
                number = compute.invert(compute.is_nan(values))
                own = compute.and_(own, compute.fill_null(number, fill_value=False))
            there = own if there is None else compute.and_(there, own)
        return batch if there is None else batch.filter(there)

    def blocks(self, extent: Extent) -> Iterator[Block]:
        """Yield the blocks of an extent.

        Raises
        ------
        TypeError, ValueError, FileNotFoundError
            As :func:`fastboot.columns.load`, naming the piece; or a piece has fewer rows than when
            it was counted.
        """
        waiting: list[_Part] = []
        n_waiting, number = 0, extent.first
        for batch, shown, first in self._parts(extent):
            start = 0
            while start < len(batch):
                own = batch.slice(start, BLOCK - n_waiting)
                waiting.append(_Part(own, shown, first + start))
                start += len(own)
                n_waiting += len(own)
                if n_waiting == BLOCK:
                    yield self._loaded(number, waiting)
                    waiting, n_waiting, number = [], 0, number + 1
        if waiting:
            yield self._loaded(number, waiting)

    def _parts(self, extent: Extent) -> Iterator[_Part]:
        """Yield the kept rows of an extent as they lie in its pieces."""
        skip, left = extent.skip, extent.n_rows
        for piece in extent.pieces:
            offset = 0
            for whole in piece.batches(self.names):
                kept = self.kept(whole)
                skipped = min(skip, len(kept))
                batch = kept.slice(skipped, left)
                yield _Part(batch, piece.shown, offset + skipped)
                offset += len(whole)
                skip -= skipped
                left -= len(batch)
                if not left:
                    return
        named = ", ".join(piece.shown for piece in extent.pieces)
        raise ValueError(
            f"{named}: {left:,} rows fewer than when they were counted; `data` must not change "
            "while it is read"
        )

    def _loaded(self, number: int, parts: Sequence[_Part]) -> Block:
        try:
            return self._block(number, [part.batch for part in parts])
        except (TypeError, ValueError):
            for part in parts:  # whose fault is it?
                try:
                    self._block(number, [part.batch])
                except (TypeError, ValueError) as error:
                    row = f", row 0 is its row {part.offset:,}" if part.offset else ""
                    raise type(error)(f"{error} In {part.shown}{row}.") from error
            raise  # the pieces do not go together

    def _block(self, number: int, batches: Sequence[Any]) -> Block:
        table = pa.concat_tables(
            [pa.Table.from_batches([batch]) for batch in batches], promote_options="permissive"
        )
        keys = None if self.keys is None else key_array(self.keys, table)
        return Block(number, load(self.columns, table), keys)


class _Part(NamedTuple):
    """Kept rows of a batch.

    batch : of a piece
    shown : the piece
    offset : rows of the piece before it
    """

    batch: Any
    shown: str
    offset: int


@dataclass(frozen=True)
class Count:
    """Counts the rows of a piece, where its file does not say how many are kept.

    Returns kept and dropped rows.
    """

    reading: Reading
    piece: Piece

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.piece.shown

    def __call__(self) -> tuple[int, int]:
        """Count."""
        n_kept = n_read = 0
        for batch in self.piece.batches(self.reading.names):
            n_kept += len(self.reading.kept(batch))
            n_read += len(batch)
        return n_kept, n_read - n_kept


def extents_of(pieces: Sequence[Piece], counts: Sequence[int], n_blocks: int) -> list[Extent]:
    """Cut a source into extents of n_blocks blocks, the last of what is left.

    Parameters
    ----------
    pieces, counts
        In row order, with the kept rows of each.
    n_blocks
        Of an extent.
    """
    ends = list(accumulate(counts))
    total, step = ends[-1] if ends else 0, n_blocks * BLOCK
    found = []
    piece = 0
    for start in range(0, total, step):
        stop = min(start + step, total)
        while ends[piece] <= start:
            piece += 1
        last = piece
        while ends[last] < stop:
            last += 1
        skip = start - (ends[piece] - counts[piece])
        own = tuple(
            one
            for one, n in zip(pieces[piece : last + 1], counts[piece : last + 1], strict=True)
            if n
        )
        found.append(Extent(start // BLOCK, own, skip, stop - start))
    return found


def streamed_extents(
    batches: Iterator[Any], reading: Reading, n_blocks: int, dropped: Callable[[int], object]
) -> Iterator[Extent]:
    """Cut a stream into extents that hold their rows, as it comes.

    Parameters
    ----------
    batches
        Arrow record batches.
    reading
        What is kept of them.
    n_blocks
        Of an extent.
    dropped
        Told how many rows of each batch were left out.
    """
    waiting: list[_Held] = []
    n_waiting, number, row = 0, 0, 0
    for whole in batches:
        batch = reading.kept(whole)
        dropped(len(whole) - len(batch))
        start = 0
        while start < len(batch):
            own = batch.slice(start, n_blocks * BLOCK - n_waiting)
            waiting.append(_Held(own, f"`data`, from row {row + start:,} on"))
            start += len(own)
            n_waiting += len(own)
            if n_waiting == n_blocks * BLOCK:
                yield Extent(number, tuple(waiting), 0, n_waiting)
                number += n_blocks
                waiting, n_waiting = [], 0
        row += len(whole)
    if waiting:
        yield Extent(number, tuple(waiting), 0, n_waiting)
