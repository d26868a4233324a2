"""Passes over a source: its rows are counted, cut into extents, and a task is done for each.

Fragments are read where the tasks run. Three things are read here and sent: what gives its rows
only from the first to the last; files that a task would read from their start for a few rows far
down, such as one large CSV; and tables of a few million rows, for draws, that would not be tasks
enough for all workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

from fastboot.blocks import BLOCK, GROUP_BLOCK
from fastboot.columns import Rows, check_named
from fastboot.extents import Count, Extent, Part, Reading, extents_of, held_extents
from fastboot.sources.kinds import Kinds

__all__ = ["Dispatch", "Scan", "share_of"]

T = TypeVar("T")
Dispatch = Callable[[Iterable[Callable[[], Any]]], Generator[Any, None, None]]

# Blocks of an extent: a million rows are read in 10 ms and drawn 1,000 times in half a second.
_EXTENT = 16
# Extents for each worker that draws, at least: they end within a quarter of the time.
_SHARES = 4
# How often tasks may read the rows of a pass in all: they skip rows at the start of a piece. Rows
# that are sent to an executor cost more than such reading.
_READ_HERE = 2
_READ_THERE = 5


def share_of(n_rows: int, n_workers: int) -> int:
    """Return how many blocks of so many rows an extent has at most, for work on them to be even."""
    return max(1, -(-n_rows // BLOCK) // (_SHARES * n_workers))


@dataclass(frozen=True)
class _Stream:
    """A source as one piece."""

    source: Any
    shown: str = "`data`"
    n_bytes: int | None = None

    @property
    def filtered(self) -> bool:
        """Whether `where=` may leave rows out."""
        filtered: bool = self.source.filtered
        return filtered

    def batches(self, wanted: Sequence[str]) -> Any:
        return self.source.batches(wanted)


class Scan:
    """A source, to be read pass by pass.

    Parameters
    ----------
    source
        See :mod:`fastboot.sources`.
    reading
        What is read of every row.
    dispatch
        Runs tasks and returns their results in order.
    report
        Told, as results come, how many bytes were read so far.

    Attributes
    ----------
    n_rows, n_dropped
        Rows kept, and left out for a missing value; None and 0 until they are counted.
    n_passes, n_bytes
        How often all rows were read, and bytes of files in all.
    check_unchanged
        Raises ValueError if a file of the source was written to.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        A column is not there, or not of one kind in all files; or rows have to be counted, and
        cannot be read.
    """

    def __init__(
        self, source: Any, reading: Reading, dispatch: Dispatch, report: Callable[[int], object]
    ) -> None:
        check_named(reading.every, source)
        source.check(reading.names)
        self.reading = reading
        self.n_rows: int | None = None
        self.n_dropped = 0
        self.n_passes = self.n_bytes = 0
        self.check_unchanged: Callable[[], None] = source.check_unchanged
        self._report = report
        self._dispatch = dispatch
        self._n_blocks = _EXTENT if reading.keys is None else GROUP_BLOCK // BLOCK
        self._pieces = source.fragments
        self._extents: list[Extent] | None = None
        self._counts: list[int] = []
        self._row_bytes = 0.0
        if self._pieces is None:
            self._pieces = (_Stream(source),)
            return
        self._pieces = tuple(piece.narrowed(reading.names) for piece in self._pieces)
        counts = [piece.n_rows for piece in self._pieces]
        if source.filtered or reading.omit or None in counts:
            counts = self._counted()
        self.n_rows = sum(counts)
        self._counts = counts
        self._extents = self._cut(self._n_blocks, sent=False)
        self._row_bytes = sum(piece.n_bytes or 0 for piece in self._pieces) / max(1, self.n_rows)

    def _counted(self) -> list[int]:
        """Count the rows of all pieces; refuse columns whose kind only rows tell."""
        names, kinds, counts = self.reading.names, Kinds(), []
        tasks = (Count(self.reading, piece) for piece in self._pieces)
        self.n_passes += 1
        with closing(self._dispatch(tasks)) as results:
            for piece, found in zip(self._pieces, results, strict=True):
                self._read(piece.n_bytes)
                for schema in found.schemas:
                    kinds.check(schema, names, piece.subject)
                counts.append(found.n_kept)
                self.n_dropped += found.n_dropped
        return counts

    def read(self, n_bytes: int) -> int:
        """Count bytes that were read; return those read in all."""
        self.n_bytes += n_bytes
        return self.n_bytes

    def _read(self, n_bytes: int | None) -> None:
        self._report(self.read(n_bytes or 0))

    def extents(self) -> Generator[Extent, None, None]:
        """Yield the extents of all kept rows, in order.

        Raises
        ------
        ValueError
            There are not as many rows as before.
        """
        if self._extents is not None:
            yield from self._extents
        else:
            yield from self._held(self._n_blocks)

    def shares(self, n_workers: int, *, sent: bool) -> Generator[Extent, None, None]:
        """Yield extents for work that takes longer than reading, small enough for all workers.

        Parameters
        ----------
        n_workers
            Workers.
        sent
            They are elsewhere.

        Raises
        ------
        ValueError
            As `extents`.
        """
        assert self.n_rows is not None
        n_blocks = share_of(self.n_rows, n_workers)
        if n_blocks >= self._n_blocks:
            yield from self.extents()
            return
        extents = self._cut(n_blocks, sent=sent)
        yield from self._held(n_blocks) if extents is None else extents

    def spans(self, spans: Iterable[tuple[int, int]], *, sent: bool) -> list[Extent] | None:
        """Return the extents of some blocks, see `extents_of`; None where they are to be read here.

        Parameters
        ----------
        spans
            As in `extents_of`.
        sent
            As in `shares`.
        """
        if not self._counts:
            return None
        extents = extents_of(self._pieces, self._counts, spans)
        n_read = sum(extent.skip + extent.n_rows for extent in extents)
        most = _READ_THERE if sent else _READ_HERE
        return extents if n_read <= most * sum(self._counts) else None

    def _cut(self, n_blocks: int, *, sent: bool) -> list[Extent] | None:
        """Return extents of so many blocks, the last of what is left."""
        n = -(-sum(self._counts) // BLOCK)
        return self.spans(((i, i + n_blocks) for i in range(0, n, n_blocks)), sent=sent)

    def _held(self, n_blocks: int) -> Generator[Extent, None, None]:
        dropped: list[int] = []
        n_rows = 0
        with closing(self._parts(dropped)) as parts:
            for extent in held_extents(parts, n_blocks, self._row_bytes):
                n_rows += extent.n_rows
                self._check(n_rows, at_end=False)
                yield extent
        self._check(n_rows, at_end=True)
        self.n_rows, self.n_dropped = n_rows, sum(dropped)

    def _parts(self, dropped: list[int]) -> Generator[Part, None, None]:
        for piece in self._pieces:
            for part in self.reading.parts(piece):
                dropped.append(part.n_dropped)
                yield part

    def _check(self, n_rows: int, *, at_end: bool) -> None:
        known = self.n_rows
        if known is not None and (n_rows > known or (at_end and n_rows < known)):
            raise ValueError(
                f"`data` gave {known:,} rows and then {'' if at_end else 'at least '}{n_rows:,}; "
                "it must give the same rows at every pass"
            )

    def each(self, task: Callable[[Extent], Callable[[], T]]) -> Generator[T, None, None]:
        """Do a task for each extent; yield what they return, in order.

        Close it where something may fail on the way: only then does everything end with it.
        """
        sizes: deque[int] = deque()

        def sent(extent: Extent) -> Callable[[], T]:
            sizes.append(extent.n_bytes)
            return task(extent)

        self.n_passes += 1
        with closing(self.extents()) as extents:
            tasks = map(sent, extents)
            if self._extents is None and self.reading.keys is not None:
                # An extent of groups is too large to be held for every worker.
                for one in tasks:
                    yield one()
                    self._read(sizes.popleft())
                return
            with closing(self._dispatch(tasks)) as results:
                for result in results:
                    self._read(sizes.popleft())
                    yield result

    def first_block(self, make: Callable[[Rows], T]) -> T | None:
        """Return what is made of the first block, None where there is less than a block."""
        with closing(self.extents()) as extents:
            for extent in extents:
                if extent.n_rows < BLOCK:
                    return None
                for block in self.reading.blocks(extent, make):
                    return block.made
        return None
