"""Tables in files of every format, for the tests of sources."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from fastboot.sources.opening import Source, open_source

FORMATS = ("parquet", "arrow", "ipc", "csv", "tsv", "jsonl", "jsonl.gz", "csv.gz", "json")
BINARY = ("parquet", "arrow", "ipc")


def write(table: pa.Table, path: Path, group_rows: int | None = None) -> None:
    """Write a table in the format of its suffix, in row groups or record batches of some rows."""
    kind = path.name.partition(".")[2].removesuffix(".gz")
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=group_rows)
        return
    if kind in {"arrow", "ipc"}:  # here the suffix tells the file format from the stream
        new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=group_rows)
        return
    if kind in {"csv", "tsv"}:
        sink = pa.BufferOutputStream()
        delimiter = "," if kind == "csv" else "\t"
        pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(delimiter=delimiter))
        text = sink.getvalue().to_pybytes()
    elif kind == "jsonl":
        text = "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
    else:
        text = json.dumps(table.to_pylist()).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def source_of(data: Any, where: Any = None) -> Source:
    """Open what must be a source."""
    source = open_source(data, where)
    assert source is not None
    return source


def rows_of(batches: Any) -> list[dict[str, Any]]:
    """Return all rows of batches."""
    return [row for batch in batches for row in batch.to_pylist()]


def open_files(folder: Path) -> list[str]:
    """Return the files below a folder that this process holds open."""
    found = []
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names that may be gone by now
        try:
            path = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 - as above
        except FileNotFoundError:
            continue
        if path.startswith(str(folder)):
            found.append(path)
    return found
