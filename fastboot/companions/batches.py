"""Columns batch by batch, of files, datasets and queries that may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK
from fastboot.columns import Column, Rows, load
from fastboot.sources.opening import Source, open_source

__all__ = ["stream", "streamed"]

# Rows of a batch at most: as many as sources give at a time.
_ROWS = BLOCK


def streamed(columns: Sequence[Column], data: object, where: Any = None) -> Source | None:
    """Return `data` if it can be read batch by batch, and all columns are named; else None.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        See :func:`fastboot.sources.opening.open_source`.
    """
    if not all(isinstance(column.source, str) for column in columns):
        return None
    return open_source(data, where)


def stream(
    columns: Sequence[Column], source: Source, data: object, nan_policy: str
) -> Iterator[Rows]:
    """Yield rows of the columns batch by batch, each as from :func:`fastboot.columns.load`.

    Parameters
    ----------
    columns, nan_policy
        As in `load`.
    source, data
        As from `streamed`, and what was given to it, without the rows that `where` leaves out.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As `load`; a note says where the batch starts, from which rows are counted.
    """
    wanted = list(dict.fromkeys(str(column.source) for column in columns))
    first = 0
    if all(source.names.count(name) == 1 for name in wanted):
        for whole in source.batches(wanted):
            for start in range(0, whole.num_rows, _ROWS):
                batch = whole.slice(start, _ROWS)
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
