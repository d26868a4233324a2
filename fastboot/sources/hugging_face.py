"""Datasets of Hugging Face: an Arrow table, and maybe a mapping to the rows that are meant.

Recognised by what they have, so that `datasets` need not be there.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastboot.arrow import decoded, from_numpy, slots
from fastboot.blocks import BLOCK
from fastboot.sources.fragments import Opened, Query

__all__ = ["check_hugging_face", "is_hugging_face", "open_hugging_face"]

# Rows that a block of a mapping may span and still be taken from where they lie, 1,048,576: to
# join the chunks of so many takes a few ms a column, as long as to take the rows. A shuffled table
# is joined first.
_SPAN = 16 * BLOCK


def is_hugging_face(data: Any) -> bool:
    """Tell whether `data` is a ``datasets.Dataset``."""
    has = all(hasattr(data, name) for name in ("data", "features", "_indices"))
    return has and isinstance(getattr(data.data, "table", None), pa.Table)


def check_hugging_face(data: Any) -> None:
    """Refuse what Hugging Face calls by similar names and what is no table.

    Raises
    ------
    TypeError
        `data` holds datasets by split, or streams its rows.
    """
    kind = type(data).__name__
    if isinstance(data, Mapping) and data:
        # By their names: arrays warn, or fail, where their attributes are looked for.
        if all(type(one).__name__ in {"Dataset", "IterableDataset"} for one in data.values()):
            splits, first = ", ".join(map(str, data)), next(iter(data))
            raise TypeError(
                f"`data` is a {kind} of the splits {splits}; give one, data[{first!r}]."
            )
    elif _streams(data):
        raise TypeError(
            f"`data` is an {kind}, whose rows come once; load it without streaming=True, or "
            "collect them by datasets.Dataset.from_list(list(data))."
        )


def _streams(data: Any) -> bool:
    return type(data).__name__ == "IterableDataset" and hasattr(type(data), "features")


def open_hugging_face(data: Any) -> Opened:
    """Open a dataset."""
    mapping = None if data._indices is None else data._indices.table.column(0)  # noqa: SLF001 - no public name
    table = data.data.table
    n_rows = table.num_rows if mapping is None else len(mapping)
    return Opened(
        "`data`",
        table.schema,
        is_final=True,
        cut=lambda where: [_Rows("`data`", where, n_rows, None, table, mapping)],
    )


@dataclass(frozen=True, eq=False)
class _Rows(Query):
    """Rows of an Arrow table that may lie in files that are mapped into memory.

    Attributes
    ----------
    table
        It.
    mapping
        Numbers of the rows that are meant, None for all.
    """

    table: Any
    mapping: Any

    def _read(self, columns: list[str]) -> Generator[Any]:
        table = self.table.select(columns)
        if self.mapping is None:
            yield from table.to_batches(BLOCK)
            return
        for start in range(0, len(self.mapping), BLOCK):
            rows = _integers(self.mapping.slice(start, BLOCK))
            first, last = int(rows.min()), int(rows.max())
            if last - first >= _SPAN and table.column(0).num_chunks > 1:
                table = table.combine_chunks()
            part = table.slice(first, last - first + 1)
            yield from part.take(from_numpy(rows - first)).to_batches()


def _integers(numbers: Any) -> NDArray[np.int64]:
    return slots(decoded(numbers), np.uint64).astype(np.int64)
