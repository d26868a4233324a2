"""Tables in memory or in files: the names of their columns, and a way to read only some of these.

One file is loaded by pyarrow, or by Python (JSON lines), without the columns that nobody asked for.
What `fastboot.sources` reads part by part, such as folders and queries, is loaded from there.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fastboot.arrow import decoded, slots
from fastboot.sources.datasets import is_dataset
from fastboot.sources.delimited import BLOCK_BYTES as _CSV_BLOCK
from fastboot.sources.delimited import convert_options, ids_in, settings
from fastboot.sources.filters import UnknownColumnError, bound, names_in, understood
from fastboot.sources.hugging_face import check_hugging_face
from fastboot.sources.ipc import is_file_format
from fastboot.sources.json_lines import first_names, json_rows
from fastboot.sources.messages import names_near, reading
from fastboot.sources.opening import open_source
from fastboot.sources.paths import Format, format_of, is_one_file

__all__ = ["Table", "filtered", "open_table"]


class Table(NamedTuple):
    """Named columns that are read when asked for.

    Attributes
    ----------
    names
        Names of all columns, in order; a name may occur twice.
    read
        From a list of names to an object that gives the values of each by ``[name]``.
    nearest
        From a name that is not there to what a message says of those that are; None: the names.
    """

    names: list[str]
    read: Callable[[list[str]], Any]
    nearest: Callable[[str], str] | None = None

    def names_near(self, name: str) -> str:
        """Return the names for a message, those spelt like `name` first, and where it may be."""
        return names_near(name, self.names) if self.nearest is None else self.nearest(name)


def open_table(data: Any) -> Table:
    """Return `data` as a table.

    Parameters
    ----------
    data
        An Arrow table, batch, reader or dataset, a pandas or polars frame, anything that exports
        an Arrow stream or array, a mapping of arrays, the path of a file, whose suffix says how
        to read it, or whatever :func:`fastboot.sources.opening.open_source` opens.

    Raises
    ------
    TypeError
        `data` is none of these, such as several datasets of Hugging Face, or one that streams.
    FileNotFoundError
        There is no such file.
    ValueError
        The suffix is not known, or the file is not what its suffix says.
    """
    if isinstance(data, Table):
        return data
    check_hugging_face(data)
    if is_one_file(data):
        return _file(os.fsdecode(data))
    table = _in_memory(data)
    if table is not None:
        return table
    if is_dataset(data):  # all at once, so by several threads
        return _explained(_dataset, data, "`data`")
    source = open_source(data)
    if source is not None:
        return Table(source.names, source.read, source.names_near)
    if hasattr(data, "__arrow_c_stream__"):
        return _explained(_stream, data, "`data`")
    raise TypeError(
        f"`data` is a {type(data).__name__}; give an Arrow table, reader or dataset, a function "
        "that opens a reader, a pandas or polars DataFrame, a polars LazyFrame, a duckdb relation, "
        "a Hugging Face dataset, a dict of arrays, or a path: of a file, a folder, a pattern, or "
        "a list of paths."
    )


def filtered(table: Table, where: Any) -> Table:
    """Return the rows of a table that count.

    Parameters
    ----------
    table
        As from `open_table`.
    where
        As in :func:`fastboot.sources.opening.open_source`.

    Raises
    ------
    TypeError, ValueError
        `where` is no filter; and when the table is read: it names no column, it compares a column
        with what it cannot be compared with, a column has more rows than another, or no row is
        left.

    Examples
    --------
    >>> table = open_table({"split": ["dev", "test", "test"], "score": [1, 0, 1]})
    >>> filtered(table, [("split", "==", "test")]).read(["score"])
    {'score': [0, 1]}
    """
    rule = understood(where)
    if rule is None:
        return table
    looked_at = names_in(rule, table.names)

    def read(wanted: list[str]) -> dict[str, Any]:
        found = table.read(list(dict.fromkeys([*wanted, *looked_at])))
        mask = _mask(rule, {name: found[name] for name in looked_at}, table.names)
        if not mask.true_count:
            raise ValueError("`where` keeps no row of `data`; give a filter that some rows pass.")
        return {name: _kept(name, found[name], mask) for name in wanted}

    return table._replace(read=read)


def _mask(rule: Any, columns: dict[str, Any], names: list[str]) -> Any:
    """Return an Arrow array that is true of the rows that count, and false or null of others."""
    arrays, unread = {}, {}
    for name, values in columns.items():
        try:
            array = _arrow(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            unread[name] = error  # it may only share letters with an expression
            continue
        arrays[name] = decoded(array) if len(array) else pa.nulls(0)
    schema = pa.schema([(name, array.type) for name, array in arrays.items()])
    try:
        where = bound(rule, schema, names)
    except UnknownColumnError as error:
        if error.name not in unread:
            raise
        raise ValueError(
            f"`where`: column {error.name!r} cannot be read as one column "
            f"({unread[error.name]}); give it values of one type."
        ) from unread[error.name]
    assert where is not None
    used = list(where.types)
    for name in used:
        _check_length(name, len(arrays[name]), used[0], len(arrays[used[0]]))
    return where.mask(pa.RecordBatch.from_arrays([arrays[name] for name in used], used))


def _check_length(name: str, n_rows: int, other: str, n_other: int) -> None:
    if n_rows != n_other:
        raise ValueError(
            f"`where`: column {name!r} has {n_rows:,} rows but {other} has {n_other:,}; all "
            "columns need one row per item."
        )


def _arrow(values: Any) -> Any:
    """Return the values of a column as an Arrow array."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    try:
        return pa.array(values, from_pandas=True)
    except OverflowError:  # of integers, the first small, and one beyond int64
        return pa.array(values, pa.uint64(), from_pandas=True)


def _kept(name: str, values: Any, mask: Any) -> Any:
    """Return the values of the rows that count, as they are or as an Arrow array."""
    dtype = getattr(values, "dtype", None)
    is_numpy = isinstance(dtype, np.dtype)
    if not is_numpy and hasattr(values, "__arrow_c_stream__") and str(dtype) != "Object":
        values = pa.chunked_array(values)
    elif not is_numpy and hasattr(values, "__arrow_c_array__"):
        values = pa.array(values)
    if not hasattr(values, "__len__") or isinstance(values, str | bytes):
        return values  # no column; refused where it is loaded
    _check_length(name, len(values), "the filter", len(mask))
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return decoded(values).filter(mask)
    kept = slots(mask.fill_null(False).cast(pa.uint8()), np.uint8).view(np.bool_)  # noqa: FBT003 - positional in Arrow
    if isinstance(values, Sequence) or str(dtype) == "Object":
        return list(compress(values, kept))
    return values[kept] if is_numpy else np.asarray(values)[kept]


def _in_memory(data: Any) -> Table | None:
    if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "__arrow_c_array__"):
        data = pa.record_batch(data)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return Table(data.schema.names, lambda _: data)
    # Frames column by column: their stream would convert every column, asked for or not.
    is_frame = hasattr(data, "__array__") and hasattr(data, "columns")
    if is_frame or isinstance(data, Mapping):
        every = data.columns if is_frame else data
        return Table([name for name in every if isinstance(name, str)], lambda _: data)
    return None


def _explained(open_source: Callable[[Any], Table], source: Any, shown: str) -> Table:
    """Open a source whose errors, now and when it is read, become a sentence about it."""
    with reading(shown):
        table = open_source(source)

    def read_or_explain(wanted: list[str]) -> Any:
        with reading(shown):
            return table.read(wanted)

    return table._replace(read=read_or_explain)


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
    opener = _OPENERS[format_of(path)]
    if not Path(path).exists():
        raise FileNotFoundError(f"data={path!r}: there is no such file.")
    return _explained(opener, path, f"data={path!r}")


def _parquet(path: str) -> Table:
    from pyarrow import parquet

    def read(wanted: list[str]) -> Any:
        with parquet.ParquetFile(path) as file:
            return file.read(columns=wanted)

    return Table(parquet.read_schema(path).names, read)


def _arrow_file(path: str) -> Table:
    with pa.OSFile(path) as source:
        open_any = pa.ipc.open_file if is_file_format(source) else pa.ipc.open_stream
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

    how = settings(delimiter, _CSV_BLOCK, use_threads=True)

    def read_as(wanted: list[str], types: dict[str, Any]) -> Any:
        return csv.read_csv(path, convert_options=convert_options(wanted, types), **how)

    def read(wanted: list[str]) -> Any:
        table = read_as(wanted, {})
        ids = ids_in(lambda types: read_as(list(types), types), table)
        return read_as(wanted, ids) if ids else table

    with csv.open_csv(path, **how) as reader:
        return Table(reader.schema.names, read)


def _tsv(path: str) -> Table:
    return _csv(path, delimiter="\t")


def _json_lines(path: str) -> Table:
    def read(wanted: list[str]) -> Any:
        columns: dict[str, list[Any]] = {name: [] for name in wanted}
        for row in json_rows(path):
            for name, values in columns.items():
                values.append(row.get(name))
        return columns

    return Table(first_names(path), read)


_OPENERS: dict[Format, Callable[[str], Table]] = {
    "parquet": _parquet,
    "arrow": _arrow_file,
    "csv": _csv,
    "tsv": _tsv,
    "json": _json_lines,
}
