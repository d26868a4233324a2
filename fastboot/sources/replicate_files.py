"""Replicates in a Parquet file: one row a replicate, every float64 with its bits.

The columns are ``replicate`` and, value by value, ``value_0_cell_0``, ``value_0_cell_1`` and so on;
more than `MOST_COLUMNS` of them become one, ``values``, of lists in that order. What the replicates
belong to stands in the metadata of the schema, under ``fastboot``, as JSON. Any reader of Parquet
shows both. `fastboot.checkpoints` is the only caller: it knows paths, this room open files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastboot.arrow import decoded, from_numpy, slots

__all__ = ["FILE_NAME", "MOST_COLUMNS", "Finished", "Header", "read", "read_header", "write"]

Floats = NDArray[np.float64]
Finished = tuple[range, Floats]

# A column costs 300 bytes and 8 us of every file that is opened: of 256 columns 2 ms, measured.
MOST_COLUMNS = 256
# First replicate, and the one after the last.
FILE_NAME = re.compile(r"replicates-(\d+)-(\d+)\.parquet")
_KEY = b"fastboot"


class Header(NamedTuple):
    """What the replicates of a file belong to.

    identity : facts by name
    shape : numbers of values and of cells
    """

    identity: dict[str, str]
    shape: tuple[int, int]


def write(file: BinaryIO, pieces: Iterable[Finished], header: Header) -> None:
    """Write replicates, piece by piece.

    Parameters
    ----------
    file
        Open for writing.
    pieces
        Ranges of replicates, each with values of shape (n_values, n_cells, n_replicates).
    header
        What they belong to.
    """
    from pyarrow import parquet

    facts = {"identity": header.identity, "shape": header.shape}
    schema = _schema(header.shape).with_metadata({_KEY: json.dumps(facts)})
    # Plain values are the bits themselves; what repeats in them, compression finds.
    settings = {"use_dictionary": False, "write_page_checksum": True}
    with parquet.ParquetWriter(file, schema, **settings) as writer:
        for replicates, values in pieces:
            writer.write_table(_table(replicates, values, schema))


def read_header(file: BinaryIO) -> Header:
    """Return what the replicates of an open file belong to.

    Raises
    ------
    ValueError
        The file cannot be read, or is another file; the message is the reason.
    """
    with _opened(file) as source:
        return _header(source)


def read(file: BinaryIO, replicates: range) -> tuple[Header, Floats]:
    """Return what an open file holds, values of shape (n_values, n_cells, n_replicates).

    Parameters
    ----------
    file
        Open for reading.
    replicates
        Those that it must hold.

    Raises
    ------
    ValueError
        As `read_header`, or it holds other replicates.
    """
    with _opened(file) as source:
        header = _header(source)
        number, *columns = source.read(use_threads=False).columns
    if not np.array_equal(slots(decoded(number), np.int64), np.asarray(replicates)):
        raise ValueError("it holds other replicates than its name says")
    values = np.empty((header.shape[0] * header.shape[1], len(replicates)))
    if len(values) > MOST_COLUMNS:
        flat = slots(decoded(columns[0]).flatten(), np.float64)
        values[:] = flat.reshape(values.T.shape).T
    else:
        for row, column in zip(values, columns, strict=True):
            row[:] = slots(decoded(column), np.float64)
    return header, values.reshape(*header.shape, -1)


def _schema(shape: tuple[int, int]) -> Any:
    n_values, n_cells = shape
    kinds = [("replicate", pa.int64())]
    if n_values * n_cells > MOST_COLUMNS:
        item = pa.field("element", pa.float64(), nullable=False)
        kinds += [("values", pa.list_(item, n_values * n_cells))]
    else:
        kinds += [
            (f"value_{value}_cell_{cell}", pa.float64())
            for value in range(n_values)
            for cell in range(n_cells)
        ]
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds])


def _table(replicates: range, values: Floats, schema: Any) -> Any:
    flat = values.reshape(-1, len(replicates))
    columns = [from_numpy(np.arange(replicates.start, replicates.stop, dtype=np.int64))]
    if len(flat) > MOST_COLUMNS:
        kind = schema.field("values").type
        columns += [pa.FixedSizeListArray.from_arrays(from_numpy(flat.T.ravel()), type=kind)]
    else:
        columns += map(from_numpy, flat)
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def _opened(file: BinaryIO) -> Iterator[Any]:
    """Open Parquet; whatever is wrong with the file becomes a ValueError with the reason."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file, page_checksum_verification=True) as source:
            yield source
    except (pa.ArrowException, OSError) as error:
        # Arrow calls damage an OSError too, but one that no system call returned.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(str(error).partition("\n")[0]) from error


def _header(source: Any) -> Header:
    schema = source.schema_arrow
    facts = (schema.metadata or {}).get(_KEY)
    if facts is None:
        raise ValueError("it is not a file of a checkpoint")
    try:
        known = json.loads(facts)
        n_values, n_cells = known["shape"]
        header = Header(dict(known["identity"]), (n_values, n_cells))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("what it says of its run cannot be read") from error
    if not schema.equals(_schema(header.shape)):
        raise ValueError("its columns are not those of a checkpoint")
    return header
