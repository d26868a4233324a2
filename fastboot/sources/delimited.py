"""CSV and TSV, block by block.

pyarrow gives a column the type of its values in the first block and stops where a later one does
not fit. Then the file is read again from that block on, with a wider type: what looked like
integers becomes float64, and what was empty takes the type that it first needs. Numbers that turn
into words are refused.

Whole numbers that int64 does not hold are text, as ids are: as float64 two of them may be one.
"""

from __future__ import annotations

import bisect
import csv
import io
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from fastboot.sources.filters import Filter
from fastboot.sources.fragments import Fragment, Opened

__all__ = ["BLOCK_BYTES", "convert_options", "ids_in", "open_delimited", "settings"]

# A row of CSV has to fit into a block, and pyarrow's own 1 MiB is less than one long document.
BLOCK_BYTES = 1 << 24


def settings(delimiter: str, block_bytes: int, *, use_threads: bool) -> dict[str, Any]:
    """Return how pyarrow shall cut text into rows and cells."""
    from pyarrow import csv as arrow_csv

    return {
        "read_options": arrow_csv.ReadOptions(block_size=block_bytes, use_threads=use_threads),
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
    }


def convert_options(columns: list[str], types: dict[str, Any] | None = None) -> Any:
    """Return how cells become values: an empty one, NA or null is missing, as pandas reads it."""
    from pyarrow import csv as arrow_csv

    return arrow_csv.ConvertOptions(
        include_columns=columns,
        column_types=types,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )


def ids_in(read: Callable[[dict[str, Any]], Any], rows: Any) -> dict[str, Any]:
    """Return the columns that are text, though they were read as float64: ids beyond int64.

    Parameters
    ----------
    read
        Reads the same rows again with other types of these columns, by name.
    rows
        What was read: a record batch or a table.
    """
    maybe = [
        name
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
        if pa.types.is_float64(column.type) and _may_be_ids(column)
    ]
    if not maybe:
        return {}
    texts = read(dict.fromkeys(maybe, pa.string()))
    return {name: pa.string() for name in maybe if _are_whole(texts.column(name))}


def _may_be_ids(numbers: Any) -> bool:
    from pyarrow import compute

    # NaN is neither; 2**63 is the first that int64 does not hold.
    beyond = compute.any(compute.greater_equal(compute.abs(numbers), 2.0**63)).as_py()
    return bool(beyond) and bool(
        compute.all(compute.equal(numbers, compute.floor(numbers))).as_py()
    )


def _are_whole(texts: Any) -> bool:
    from pyarrow import compute

    digits = compute.match_substring_regex(texts, r"^[ \t]*[+-]?[0-9]+[ \t]*$")
    return bool(compute.all(digits, min_count=0).as_py())  # nulls are left out


def open_delimited(delimiter: str, path: str, schema: Any = None) -> Opened:
    """Open a file for its header and the types in its first block, unless these are known."""
    place, shown = str(Path(path).absolute()), repr(path)
    header = _header(place, delimiter)
    if not header:  # as JSON lines that are empty
        return Opened(
            f"data={shown}", pa.schema([]), is_final=False, cut=lambda _: [], is_whole=False
        )
    if schema is None:
        with closing(_blocks(place, delimiter, [], {})) as blocks:
            schema = next(blocks)
    else:
        known = {field.name: field.type for field in schema}
        schema = pa.schema([(name, known.get(name, pa.null())) for name in header])

    def cut(where: Filter | None) -> list[Fragment]:
        return [_Delimited(shown, where, None, Path(place).stat().st_size, place, delimiter)]

    return Opened(f"data={shown}", schema, is_final=False, cut=cut)


def _header(path: str, delimiter: str) -> list[str]:
    """Return the names in the first row, without a block of rows behind it; none of no row."""
    with (
        pa.input_stream(path) as file,
        io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="") as text,
    ):
        try:
            return next(filter(None, csv.reader(text, delimiter=delimiter)), [])
        except csv.Error as error:
            raise ValueError(f"its header is no row of names ({error})") from error


@dataclass(frozen=True, eq=False)
class _Delimited(Fragment):
    """All rows of a file.

    Attributes
    ----------
    path, delimiter
        Of the file.
    """

    path: str
    delimiter: str

    def _read(self, columns: list[str]) -> Generator[Any]:
        types: dict[str, Any] = {}
        schema, done = None, 0
        is_done = False
        while not is_done:
            try:
                with closing(self._from(done, columns, types)) as blocks:
                    schema = next(blocks)
                    for block in blocks:
                        yield block
                        done += block.num_rows
                is_done = True
            except pa.ArrowInvalid as error:
                if schema is None:  # the header, or the first block
                    raise
                types = self._widened(schema, done, error)

    def _from(self, done: int, columns: list[str], types: dict[str, Any]) -> Generator[Any]:
        """Yield the schema, and the blocks from a row on."""
        with closing(_blocks(self.path, self.delimiter, columns, types)) as blocks:
            yield next(blocks)
            row = 0
            for block in blocks:
                if row >= done:
                    yield block
                row += block.num_rows

    def _widened(self, schema: Any, done: int, error: pa.ArrowInvalid) -> dict[str, Any]:
        """Return wider types for the columns that do not fit in the block from row `done` on."""
        types = {field.name: field.type for field in schema}
        as_text = dict.fromkeys(types, pa.string())
        with closing(self._from(done, list(types), as_text)) as blocks:
            next(blocks)
            block = next(blocks, None)
        wider = {
            name: self._wider(name, block.column(name), kind, done)
            for name, kind in types.items()
            if block is not None and not _fits(block.column(name), kind)
        }
        if not wider:  # the block is wrong, and not its values
            raise error
        return types | wider

    @staticmethod
    def _wider(name: str, texts: Any, kind: Any, done: int) -> Any:
        if pa.types.is_null(kind):
            return _type_in_csv(texts)
        if pa.types.is_int64(kind) and _fits(texts, pa.float64()) and not _are_whole(texts):
            return pa.float64()
        row = bisect.bisect_left(
            range(1, len(texts)), x=True, key=lambda size: not _fits(texts[:size], kind)
        )
        raise ValueError(
            f"column {name!r} has {texts[row].as_py()!r} in row {done + row:,}, but {kind} before; "
            "write values of one type, or convert the file to Parquet"
        )


def _blocks(path: str, delimiter: str, columns: list[str], types: dict[str, Any]) -> Generator[Any]:
    """Yield the schema of a file, and its blocks as record batches.

    The file is opened here: pyarrow's reader would close it only when it is gone itself.
    """
    from pyarrow import csv as arrow_csv

    how = settings(delimiter, BLOCK_BYTES, use_threads=False)

    @contextmanager
    def opened(types: dict[str, Any]) -> Iterator[Any]:
        options = convert_options(columns, types)
        with (
            pa.input_stream(path) as file,
            arrow_csv.open_csv(file, convert_options=options, **how) as reader,
        ):
            yield reader

    def first(as_text: dict[str, Any]) -> Any:
        with opened(types | as_text) as reader:
            return next(reader)

    with opened(types) as reader:
        block = next(reader, None)
        ids = {} if block is None or types else ids_in(first, block)
        if not ids:
            yield reader.schema
            if block is not None:
                yield block
                yield from reader
            return
    with opened(ids) as reader:
        yield reader.schema
        yield from reader


def _fits(texts: Any, kind: Any) -> bool:
    if texts.null_count == len(texts):
        return True
    try:
        _type_in_csv(texts, kind)
    except pa.ArrowException:
        return False
    return True


def _type_in_csv(texts: Any, kind: Any = None) -> Any:
    """Return the type that pyarrow gives to a column of these cells; it may be told which.

    It is asked by CSV: casts of Arrow know no times, and have an order of types of their own.
    """
    from pyarrow import csv as arrow_csv

    sink = pa.BufferOutputStream()
    arrow_csv.write_csv(pa.table({"cells": texts.drop_null()}), sink)
    text = sink.getvalue()
    options = convert_options(["cells"], None if kind is None else {"cells": kind})
    how = settings(",", text.size, use_threads=False)  # in one block, of which all cells count
    table = arrow_csv.read_csv(pa.BufferReader(text), convert_options=options, **how)
    found = table.schema.field("cells").type
    if kind is None and pa.types.is_float64(found) and _are_whole(texts):
        return pa.string()
    return found
