"""Tables in memory or in files: the names of their columns, and a way to read only some of these.

Parquet, Arrow and CSV files are read by pyarrow, which skips the columns that nobody asked for.
JSON lines are read by Python: pyarrow would first give every field of the file one type, and logs
of evaluations hold fields that change theirs. `fastboot.columns` is the only caller.
"""

import difflib
import gzip
import itertools
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

__all__ = ["Table", "open_table"]

_MOST_NAMES = 20  # in a message: about two lines of them
# A row of CSV has to fit into a block, and pyarrow's own 1 MiB is less than one long document.
_CSV_BLOCK = 1 << 24
# JSON lines may leave a field out, so one line does not name them all; 1,000 do in ms.
_JSON_LINES_WITH_NAMES = 1_000


class Table(NamedTuple):
    """Named columns that are read when asked for.

    Attributes
    ----------
    names
        Names of all columns, in order; a name may occur twice.
    read
        From a list of names to an object that gives the values of each by ``[name]``.
    """

    names: list[str]
    read: Callable[[list[str]], Any]

    def names_near(self, name: str) -> str:
        """Return the names for a message, those spelt like `name` first."""
        close = difflib.get_close_matches(name, self.names, _MOST_NAMES)
        listed = list(dict.fromkeys(close + self.names))
        more = len(listed) - _MOST_NAMES
        listed[_MOST_NAMES:] = [f"and {more:,} more"] if more > 0 else []
        return f"there are: {', '.join(listed)}" if listed else "there are none"


def open_table(data: Any) -> Table:
    """Return `data` as a table.

    Parameters
    ----------
    data
        An Arrow table, batch, reader or dataset, a pandas or polars frame, anything that exports
        an Arrow stream or array, a mapping of arrays, or the path of a file, whose suffix says how
        to read it.

    Raises
    ------
    TypeError
        `data` is none of these.
    FileNotFoundError
        There is no such file.
    ValueError
        The suffix is not known, or the file is not what its suffix says.
    """
    if isinstance(data, str | os.PathLike):
        return _file(os.fsdecode(data))
    if isinstance(data, pa.Table | pa.RecordBatch):
        return Table(data.schema.names, lambda _: data)
    # Frames column by column: their stream would convert every column, asked for or not.
    is_frame = hasattr(data, "__array__") and hasattr(data, "columns")
    if is_frame or isinstance(data, Mapping):
        every = data.columns if is_frame else data
        return Table([name for name in every if isinstance(name, str)], lambda _: data)
    if hasattr(data, "scanner"):
        return _explained(_dataset, data, "`data`")
    if hasattr(data, "__arrow_c_stream__"):
        return _explained(_stream, data, "`data`")
    if hasattr(data, "__arrow_c_array__"):
        return open_table(pa.record_batch(data))
    raise TypeError(
        f"`data` is a {type(data).__name__}; give an Arrow table, reader or dataset, a pandas or "
        "polars DataFrame (collect a LazyFrame first), a duckdb relation, a dict of arrays, or a "
        "path."
    )


def _explained(open_source: Callable[[Any], Table], source: Any, shown: str) -> Table:
    """Open a source whose errors, now and when it is read, become a sentence about it."""
    with _reading(shown):
        names, read = open_source(source)

    def read_or_explain(wanted: list[str]) -> Any:
        with _reading(shown):
            return read(wanted)

    return Table(names, read_or_explain)


@contextmanager
def _reading(shown: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, EOFError, zlib.error) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{shown} cannot be read: {reason}") from error


def _dataset(dataset: Any) -> Table:
    return Table(dataset.schema.names, lambda wanted: dataset.scanner(columns=wanted).to_table())


def _stream(source: Any) -> Table:
    is_reader = isinstance(source, pa.RecordBatchReader)
    reader = source if is_reader else pa.RecordBatchReader.from_stream(source)

    def read(wanted: list[str]) -> Any:
        schema = pa.schema([reader.schema.field(name) for name in wanted])
        return pa.Table.from_batches([batch.select(wanted) for batch in reader], schema)

    return Table(reader.schema.names, read)


def _file(path: str) -> Table:
    suffix = Path(path.lower().removesuffix(".gz")).suffix
    if suffix not in _OPENERS or (path.lower().endswith(".gz") and suffix in _BINARY):
        raise ValueError(
            f"data={path!r} has no suffix that fastboot reads; there are: "
            f"{', '.join(_OPENERS)} (text also as .gz)."
        )
    if not Path(path).exists():
        raise FileNotFoundError(f"data={path!r}: there is no such file.")
    return _explained(_OPENERS[suffix], path, f"data={path!r}")


def _parquet(path: str) -> Table:
    from pyarrow import parquet

    def read(wanted: list[str]) -> Any:
        with parquet.ParquetFile(path) as file:
            return file.read(columns=wanted)

    return Table(parquet.read_schema(path).names, read)


def _arrow(path: str) -> Table:
    with pa.OSFile(path) as source:
        # The file format starts with this mark, the stream format with a message length.
        is_file = source.read(6) == b"ARROW1"
    open_any = pa.ipc.open_file if is_file else pa.ipc.open_stream
    with pa.OSFile(path) as source:
        names = open_any(source).schema.names

    # Not memory-mapped: a file that changes later would change the answer.
    def read(wanted: list[str]) -> Any:
        fields = [names.index(name) for name in wanted]
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        with pa.OSFile(path) as source:
            return open_any(source, options=options).read_all()

    return Table(names, read)


def _csv(path: str, delimiter: str = ",") -> Table:
    from pyarrow import csv

    settings = {
        "read_options": csv.ReadOptions(block_size=_CSV_BLOCK),
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
    }

    # An empty cell, NA or null is missing in a column of strings too, as pandas reads it.
    def read(wanted: list[str]) -> Any:
        convert = csv.ConvertOptions(
            include_columns=wanted, strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        return csv.read_csv(path, convert_options=convert, **settings)

    with csv.open_csv(path, **settings) as reader:
        return Table(reader.schema.names, read)


def _tsv(path: str) -> Table:
    return _csv(path, delimiter="\t")


def _json_lines(path: str) -> Table:
    def read(wanted: list[str]) -> Any:
        columns: dict[str, list[Any]] = {name: [] for name in wanted}
        for row in _json_rows(path):
            for name, values in columns.items():
                values.append(row.get(name))
        return columns

    first_rows = itertools.islice(_json_rows(path), _JSON_LINES_WITH_NAMES)
    return Table(list(dict.fromkeys(name for row in first_rows for name in row)), read)


def _json_rows(path: str) -> Iterator[dict[str, Any]]:
    """Rows of a file of JSON lines, or of one JSON array of objects."""
    opener: Callable[..., Any] = gzip.open if path.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig") as lines:
        is_array = lines.read(1) == "["
        lines.seek(0)
        rows = json.load(lines) if is_array else (json.loads(x) for x in lines if not x.isspace())
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict):
                raise ValueError(f"entry {number} is not a JSON object")  # noqa: TRY004 - a wrong file
            yield row


_OPENERS: dict[str, Callable[[str], Table]] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".ipc": _arrow,
    ".csv": _csv,
    ".tsv": _tsv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_lines,
}
_BINARY = {".parquet", ".pq", ".arrow", ".feather", ".ipc"}
