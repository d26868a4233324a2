"""Sources: tables that are read part by part, as often as wanted, and may be larger than memory.

`open_source` looks at `data`, finds the names of its columns, refuses a wrong `where=`, and cuts
files into fragments, of which those that hold no row that counts are left out where their files
say so. Nothing else is read yet.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa

from fastboot.sources.datasets import is_dataset, open_dataset
from fastboot.sources.delimited import open_delimited
from fastboot.sources.filters import Filter, UnknownColumnError, bound, understood
from fastboot.sources.fragments import Fragment, Opened, Query
from fastboot.sources.hugging_face import is_hugging_face, open_hugging_face
from fastboot.sources.ipc import open_arrow
from fastboot.sources.json_lines import open_json_lines
from fastboot.sources.kinds import Kinds, plain_type
from fastboot.sources.messages import ERRORS, Errors, names_near, reading
from fastboot.sources.parquet import open_parquet
from fastboot.sources.paths import Format, files_of, format_of, keyed_by, state_of
from fastboot.sources.queries import (
    is_factory,
    is_frame,
    is_relation,
    open_factory,
    open_frame,
    open_relation,
)

__all__ = ["Source", "open_source"]


class Source:
    """A table that is read part by part, any number of times.

    Attributes
    ----------
    names
        Of all columns, in order; a name may occur twice.
    types
        Of all columns, by name, as the first file says that knows of values.
    fragments
        Parts that can be read alone, in row order, each small and picklable; None where rows can
        only be read from the first to the last, in this process.
    filtered
        Whether `where` may leave rows out of these.
    """

    def __init__(self, opened: Sequence[Opened], where: Any = None) -> None:
        # The first file of text may be empty.
        first = next((one for one in opened if one.schema.names), opened[0])
        self.types = _types(opened)
        self.names: list[str] = list(first.schema.names)
        self.names += [name for name in self.types if name not in first.schema.names]
        self._opened = opened
        self._states = {file: state_of(file) for one in opened for file in one.files}
        self._where = self._bound(where)
        if self._where is not None:
            self.check(list(self._where.types))
        parts: list[Fragment] = []
        for one in opened:
            with reading(one.subject):
                parts += one.cut(self._where)
        self._parts = tuple(parts)
        self._n_kept: int | None = None

    def _bound(self, where: Any) -> Filter | None:
        try:
            return bound(understood(where), pa.schema(list(self.types.items())), self.names)
        except UnknownColumnError as error:
            raise ValueError(
                f"`where`: no column {error.name!r} in data; {self.names_near(error.name)}."
            ) from error

    @property
    def fragments(self) -> tuple[Fragment, ...] | None:
        """Parts that can be read alone."""
        return None if any(isinstance(part, Query) for part in self._parts) else self._parts

    @property
    def filtered(self) -> bool:
        """Tell whether rows may be left out."""
        return self._where is not None

    def shows(self, name: str) -> bool:
        """Tell whether a column is there and, as far as is known, has a type: not only nulls."""
        return not pa.types.is_null(self.types.get(name, pa.null()))

    def names_near(self, name: str) -> str:
        """Return the names for a message, those spelt like `name` first, and where it may be."""
        there_are = names_near(name, self.names)
        keyed = keyed_by(name, self._states)
        if keyed:
            folder, key = keyed
            reader = f"pyarrow.dataset.dataset({folder!r}, partitioning='hive')"
            return (
                f"{there_are}; but folders name it, such as {key!r}: give {reader}, which reads it"
            )
        unseen = [one.unseen for one in self._opened if one.unseen]
        return "; ".join([there_are, *unseen[:1]])

    def check(self, wanted: Sequence[str]) -> None:
        """Refuse columns that are not in all files, or not of one kind in all files.

        Of text only rows can tell, so there `batches` and `read` refuse what is of another kind;
        and JSON lines may leave columns out.

        Raises
        ------
        ValueError
            The message names the column, both files and both types.
        """
        for name in wanted:
            if name not in self.names:
                raise ValueError(f"no column {name!r} in data; {self.names_near(name)}.")
        kinds = Kinds()
        for one in self._opened:
            if one.is_whole:
                kinds.check(one.schema, wanted, one.subject)

    def check_unchanged(self) -> None:
        """Refuse files that were written to since the source was opened.

        Raises
        ------
        ValueError
            The message names the file.
        """
        for file, state in self._states.items():
            if state_of(file) not in {state, None}:  # what has gone is refused where it is read
                raise ValueError(
                    f"data={file!r} was written to while it was read; `data` must not change, run "
                    "again when it is complete."
                )

    def batches(self, wanted: Sequence[str]) -> Generator[Any]:
        """Yield the rows that count from the first to the last, as Arrow record batches.

        Parameters
        ----------
        wanted
            Names of columns.

        Raises
        ------
        ValueError
            As `check`; or a part cannot be read; or there are not as many rows as before.
        FileNotFoundError
            A file has gone.
        """
        self.check(wanted)
        kinds = Kinds()
        n_kept = 0
        for part in self._parts:
            with closing(part.batches(wanted)) as batches:
                for batch in batches:
                    kinds.check(batch.schema, wanted, part.subject)
                    n_kept += batch.num_rows
                    yield batch
        if self._n_kept not in {None, n_kept}:
            raise ValueError(
                f"`data` gave {self._n_kept:,} rows and then {n_kept:,}; it must give the same "
                "rows at every pass."
            )
        self._n_kept = n_kept

    def read(self, wanted: Sequence[str]) -> Any:
        """Return all rows that count as an Arrow table.

        Raises
        ------
        ValueError, FileNotFoundError
            As `batches`; or `where` keeps no row.
        """
        wanted = list(wanted)
        tables = [pa.Table.from_batches([batch]) for batch in self.batches(wanted)]
        if tables:
            with reading("`data`"):
                return pa.concat_tables(tables, promote_options="permissive")
        if self._where is not None:
            raise ValueError("`where` keeps no row of `data`; give a filter that some rows pass.")
        types = [(name, plain_type(self.types[name])) for name in wanted]
        return pa.schema(types).empty_table()


def _types(opened: Sequence[Opened]) -> dict[str, Any]:
    """Return the types of all columns: of each the first that is not null, which says nothing."""
    types: dict[str, Any] = {}
    for one in opened:
        for field in one.schema:
            if pa.types.is_null(types.get(field.name, pa.null())):
                types[field.name] = field.type
    return types


def open_source(data: Any, where: Any = None) -> Source | None:
    """Open what can be read part by part.

    Parameters
    ----------
    data
        The path of a Parquet, Arrow, CSV, TSV or JSON-lines file, of a folder of such files, a
        pattern such as ``"runs/*.parquet"``, a list of paths, an Arrow dataset, a function without
        arguments that opens an Arrow reader, a duckdb relation, a polars LazyFrame, or a
        ``datasets.Dataset`` of Hugging Face.
    where
        Rows that count: a pyarrow expression, or tuples (column, operator, value) as pyarrow's
        ``filters=``, whose value is what it becomes in the column: 0.1 beside float32 is the
        float32 next to 0.1. None for all rows.

    Returns
    -------
    Source or None
        None where `data` is something else, which is simply loaded.

    Raises
    ------
    TypeError
        `where` is no filter, or compares a column with what it cannot be compared with; a function
        takes arguments or returns no reader.
    ValueError
        `where` names no column of `data`; files are of several formats, or unknown ones, or cannot
        be read.
    FileNotFoundError
        There is no such file, or none in the folder, or none that matches.
    """
    opened = _opened(data)
    return None if opened is None else Source(opened, where)


def _opened(data: Any) -> list[Opened] | None:
    files = files_of(data)
    if files is not None:
        return _open_files(files)
    for belongs, opener, errors in _KINDS:
        if belongs(data):
            with reading("`data`", errors):
                return [opener(data)]
    return None


def _open_files(files: list[str]) -> list[Opened]:
    """Open files for their schema; of text, no rows after the first that shows columns."""
    opener = _OPENERS[format_of(files[0])]
    opened: list[Opened] = []
    known = None
    for file in files:
        with reading(f"data={file!r}"):
            one = opener(file, known)
        if not one.is_final and one.schema.names:
            known = one.schema
        opened.append(one._replace(files=(file,)))
    if known is None and format_of(files[0]) in {"csv", "tsv"}:
        with reading(f"data={files[0]!r}"):
            raise pa.ArrowInvalid("Empty CSV file")  # as pyarrow says it
    return opened


_OPENERS: dict[Format, Callable[[str, Any], Opened]] = {
    "parquet": lambda path, _: open_parquet(path),
    "arrow": lambda path, _: open_arrow(path),
    "csv": partial(open_delimited, ","),
    "tsv": partial(open_delimited, "\t"),
    "json": open_json_lines,
}
# Engines raise what they like.
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Opened], Errors], ...] = (
    (is_dataset, open_dataset, ERRORS),
    (is_relation, open_relation, (Exception,)),
    (is_frame, open_frame, (Exception,)),
    (is_hugging_face, open_hugging_face, ERRORS),
    (is_factory, open_factory, ERRORS),
)
