"""Columns batch by batch, of Parquet files and datasets that may be larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Column, Rows, load
from fastboot.files import open_table

__all__ = ["can_stream", "stream"]

# Rows of a batch: 1 MiB of float64 in each column.
_ROWS = 1 << 17


def can_stream(columns: Sequence[Column], data: object) -> bool:
    """Tell whether all columns are named, and `data` is a Parquet file or an Arrow dataset."""
    if not all(isinstance(column.source, str) for column in columns):
        return False
    return _is_parquet(data) or hasattr(data, "scanner")


def stream(columns: Sequence[Column], data: Any, nan_policy: str) -> Iterator[Rows]:
    """Yield rows of the columns batch by batch, each as from :func:`fastboot.columns.load`.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As `load`; a note says where the batch starts, from which rows are counted.
    """
    table = open_table(data)  # refuses what cannot be read
    wanted = list(dict.fromkeys(str(column.source) for column in columns))
    first = 0
    if set(wanted) <= set(table.names):
        for batch in _batches(data, wanted):
            if batch.num_rows:
                yield _load(columns, batch, nan_policy, first)
                first += batch.num_rows
    if not first:
        load(columns, data, nan_policy)  # says what is wrong: no such column, or no rows


def _load(columns: Sequence[Column], batch: Any, nan_policy: str, first: int) -> Rows:
    try:
        rows = load(columns, batch, "propagate" if nan_policy == "omit" else nan_policy)
    except (TypeError, ValueError) as error:
        if first:
            error.add_note(f"in the batch from row {first:,} on, where row 0 is that row")
        raise
    return _without_nan(rows) if nan_policy == "omit" else rows


def _without_nan(rows: Rows) -> Rows:
    """Drop rows with NaN; unlike `load`, a batch may lose all its rows."""
    numbers = [column for column in rows.columns if isinstance(column, np.ndarray)]
    kept: NDArray[np.bool_] = ~np.any([np.isnan(column) for column in numbers], axis=0)
    if kept.all():
        return rows
    columns = tuple(
        column[kept]
        if isinstance(column, np.ndarray)
        else column._replace(codes=column.codes[kept])
        for column in rows.columns
    )
    n_rows = int(np.count_nonzero(kept))
    return Rows(columns, n_rows, rows.n_rows - n_rows)


def _batches(data: Any, wanted: list[str]) -> Iterator[Any]:
    if _is_parquet(data):
        from pyarrow import parquet

        with parquet.ParquetFile(data) as file:
            yield from file.iter_batches(_ROWS, columns=wanted)
    else:
        yield from data.scanner(columns=wanted, batch_size=_ROWS).to_batches()


def _is_parquet(data: object) -> bool:
    return isinstance(data, str | os.PathLike) and os.fsdecode(data).lower().endswith(
        (".parquet", ".pq")
    )
