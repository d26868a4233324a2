"""Arrow datasets: their Parquet files row group by row group, other files one by one."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyarrow import fs

from fastboot.arrow import decoded
from fastboot.blocks import BLOCK
from fastboot.sources.filters import Filter
from fastboot.sources.fragments import Fragment, Opened, Query
from fastboot.sources.kinds import plain_type
from fastboot.sources.parquet import ColumnSizes, batches, groups_of, named

__all__ = ["is_dataset", "open_dataset"]

# Arrow's scanner reads ahead, in threads of its own, by default 16 batches of 4 files.
_NO_READ_AHEAD = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}


@dataclass(frozen=True, eq=False)
class _ParquetPart(Fragment):
    """Consecutive row groups of a file of a dataset.

    Arrow's own scanner would hold whole row groups.

    Attributes
    ----------
    path, files
        Of the file, and its Arrow file system.
    keys
        Partition keys: a value for all rows of the file.
    groups
        Numbers of the row groups.
    schema
        Of the dataset: what the columns of the file become.
    columns
        What each column takes; None where `n_bytes` is of those that are read.
    """

    path: str
    files: Any
    keys: dict[str, Any]
    groups: tuple[int, ...]
    schema: Any
    columns: ColumnSizes | None = None

    def _sized(self, columns: list[str]) -> _ParquetPart:
        if self.columns is None:
            return self
        stored = [name for name in columns if name not in self.keys]
        return replace(self, n_bytes=self.columns.of(stored), columns=None)

    def _read(self, columns: list[str]) -> Generator[Any]:
        stored = [name for name in columns if name not in self.keys]
        with self.files.open_input_file(self.path) as file:
            for batch in batches(file, self.groups, stored):
                yield self._conformed(batch, columns)

    def _conformed(self, batch: Any, columns: list[str]) -> Any:
        """Give a batch the types of the dataset, partition keys, and nulls where a column lacks."""
        arrays = []
        for name in columns:
            kind = plain_type(self.schema.field(name).type)
            if name in self.keys:
                array = pa.repeat(pa.scalar(self.keys[name]), batch.num_rows).cast(kind)
            elif name in batch.schema.names:
                array = decoded(batch.column(name)).cast(kind)
            else:
                array = pa.nulls(batch.num_rows, kind)
            arrays.append(array)
        return pa.RecordBatch.from_arrays(arrays, columns)


@dataclass(frozen=True, eq=False)
class _FilePart(Fragment):
    """A file of a dataset, of another format.

    Attributes
    ----------
    part
        The Arrow fragment.
    schema
        Of the dataset.
    """

    part: Any
    schema: Any

    def _read(self, columns: list[str]) -> Generator[Any]:
        yield from self.part.scanner(
            schema=self.schema, columns=columns, batch_size=BLOCK, **_NO_READ_AHEAD
        ).to_batches()


@dataclass(frozen=True, eq=False)
class _Whole(Query):
    """A dataset in memory, or with a filter of its own, or of another library.

    Attributes
    ----------
    dataset
        It.
    """

    dataset: Any

    def _read(self, columns: list[str]) -> Generator[Any]:
        from pyarrow import dataset

        is_arrow = isinstance(self.dataset, dataset.Dataset)
        options = _NO_READ_AHEAD if is_arrow else {}
        yield from self.dataset.scanner(columns=columns, batch_size=BLOCK, **options).to_batches()


def is_dataset(data: Any) -> bool:
    """Tell whether `data` is a dataset: an attribute of a frame may be its column."""
    return hasattr(type(data), "scanner")


def open_dataset(data: Any) -> Opened:
    """Open a dataset: pyarrow's, or anything whose `scanner` is called as theirs."""

    def cut(where: Filter | None) -> list[Fragment]:
        parts = _parts(data, where)
        if parts is None:
            return [_Whole("`data`", where, None, None, data)]
        return [fragment for part in parts for fragment in _fragments(part, where, data.schema)]

    return Opened("`data`", data.schema, is_final=True, cut=cut, files=_local_files(data))


def _local_files(data: Any) -> tuple[str, ...]:
    """Return the files of a dataset that lie on this machine."""
    is_local = isinstance(getattr(data, "filesystem", None), fs.LocalFileSystem)
    return tuple(data.files) if is_local else ()


def _parts(data: Any, where: Filter | None) -> list[Any] | None:
    """Return the files of a dataset whose partition keys do not exclude all rows."""
    from pyarrow import dataset

    if not isinstance(data, dataset.Dataset):
        return None
    try:
        chosen = None if where is None else where.excluding(data.schema)
        parts = list(data.get_fragments(filter=chosen))
    except ValueError:  # it has a filter of its own, which its fragments would forget
        return None
    are_files = all(isinstance(part, dataset.FileFragment) and part.path for part in parts)
    return parts if are_files else None


def _fragments(part: Any, where: Filter | None, schema: Any) -> list[Fragment]:
    from pyarrow import dataset

    shown = repr(part.path)
    if not isinstance(part, dataset.ParquetFileFragment):
        return [_FilePart(shown, where, None, None, part, schema)]
    own = (part.path, part.filesystem, dataset.get_partition_keys(part.partition_expression))
    return [
        _ParquetPart(
            named(shown, groups), where, n_rows, int(each.sizes.sum()), *own, groups, schema, each
        )
        for groups, n_rows, each in groups_of(part, where, schema)
    ]
