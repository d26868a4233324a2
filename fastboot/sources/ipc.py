"""Arrow files, record batch by record batch, and Arrow streams, from their start."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from fastboot.sources.filters import Filter
from fastboot.sources.fragments import Fragment, Opened, runs

__all__ = ["is_file_format", "open_arrow"]


@dataclass(frozen=True, eq=False)
class _Batches(Fragment):
    """Consecutive record batches of a file, or a whole stream.

    Attributes
    ----------
    path
        Of the file.
    numbers
        Of the batches; None for a stream.
    """

    path: str
    numbers: tuple[int, ...] | None

    def _read(self, columns: list[str]) -> Generator[Any]:
        # Not memory-mapped: a file that is cut meanwhile would end the process.
        with pa.OSFile(self.path) as file:
            names = _reader(file, self.numbers).schema.names
            file.seek(0)
            # An absent column is refused by name where batches are made plain.
            fields = [names.index(name) for name in columns if name in names]
            options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
            reader = _reader(file, self.numbers, options)
            if self.numbers is None:
                yield from reader
            else:
                for number in self.numbers:
                    yield reader.get_batch(number)


def open_arrow(path: str) -> Opened:
    """Open a file for its schema and the rows of its batches."""
    place, shown = str(Path(path).absolute()), repr(path)
    with pa.OSFile(place) as file:
        is_file = is_file_format(file)
        reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
        schema = reader.schema
        n_batches = reader.num_record_batches if is_file else 0

    def cut(where: Filter | None) -> list[Fragment]:
        size = Path(place).stat().st_size
        if not is_file:
            return [_Batches(shown, where, None, size, place, None)]
        sizes = _sizes(place, schema)
        total = max(1, sum(sizes))
        fragments: list[Fragment] = []
        for run in runs(range(n_batches), sizes):
            n_rows = sum(sizes[number] for number in run)
            # Its share of the file, whatever is read of it: a batch tells the place of a column to
            # the library only, and not what it takes.
            n_bytes = size * n_rows // total
            named = _named(shown, run)
            fragments.append(_Batches(named, where, n_rows, n_bytes, place, tuple(run)))
        return fragments

    return Opened(f"data={shown}", schema, is_final=True, cut=cut)


def is_file_format(file: Any) -> bool:
    """Tell the file format, which begins with this mark, from the stream format; rewind."""
    mark = file.read(6)
    file.seek(0)
    return bool(mark == b"ARROW1")


def _reader(file: Any, numbers: tuple[int, ...] | None, options: Any = None) -> Any:
    return (pa.ipc.open_stream if numbers is None else pa.ipc.open_file)(file, options=options)


def _sizes(path: str, schema: Any) -> list[int]:
    """Rows of each batch. A batch says so only when it is read: with its narrowest column."""
    widths = [_width(field.type) for field in schema]
    narrowest = [widths.index(min(widths))] if widths else []
    with pa.OSFile(path) as file:
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=narrowest))
        return [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]


def _width(kind: Any) -> float:
    try:
        return float(kind.bit_width)
    except ValueError:
        return float("inf")


def _named(shown: str, run: list[int]) -> str:
    if len(run) == 1:
        return f"{shown}, record batch {run[0]}"
    return f"{shown}, record batches {run[0]} to {run[-1]}"
