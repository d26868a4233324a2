"""What gives its rows only from the first to the last: queries, and functions that open readers.

Each pass over the rows runs the query again. It must give the same rows in the same order each
time: sort by an id where the engine does not promise an order.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from fastboot.blocks import BLOCK
from fastboot.sources.fragments import Opened, Query
from fastboot.sources.messages import Errors

__all__ = ["is_factory", "is_frame", "is_relation", "open_factory", "open_frame", "open_relation"]


class _Engine(Query):
    """A query of another library, which raises what it likes."""

    @property
    def _errors(self) -> Errors:
        return (Exception,)


@dataclass(frozen=True, eq=False)
class _Relation(_Engine):
    """A duckdb relation.

    Attributes
    ----------
    relation
        It.
    """

    relation: Any

    def _read(self, columns: list[str]) -> Generator[Any]:
        # One string: an expression in every version; several would be names in some.
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        with _relation_reader(self.relation.project(quoted)) as reader:
            yield from reader


def _relation_reader(relation: Any) -> Any:
    open_reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return open_reader(BLOCK)


def is_relation(data: Any) -> bool:
    """Tell whether `data` is a duckdb relation."""
    kind = type(data)
    has_rows = hasattr(kind, "to_arrow_reader") or hasattr(kind, "fetch_record_batch")
    return has_rows and all(hasattr(kind, name) for name in ("columns", "limit", "project"))


def open_relation(relation: Any) -> Opened:
    """Open a duckdb relation."""
    with _relation_reader(relation.limit(0)) as reader:
        schema = reader.schema
    return Opened(
        "`data`",
        schema,
        is_final=True,
        cut=lambda where: [_Relation("`data`", where, None, None, relation)],
    )


@dataclass(frozen=True, eq=False)
class _Frame(_Engine):
    """A polars LazyFrame.

    Attributes
    ----------
    frame
        It.
    objects
        Names of columns of Python objects, which polars exports as their addresses.
    """

    frame: Any
    objects: frozenset[str]

    def _read(self, columns: list[str]) -> Generator[Any]:
        from polars import selectors

        for name in self.objects.intersection(columns):
            raise TypeError(f"column {name!r} holds Python objects; cast it to a type of values")
        # By a selector: a plain string such as "^s$" or "*" would be a pattern.
        chosen = self.frame.select(selectors.by_name(*columns))
        for part in chosen.collect_batches(chunk_size=BLOCK, maintain_order=True, lazy=True):
            yield from pa.RecordBatchReader.from_stream(part)


def is_frame(data: Any) -> bool:
    """Tell whether `data` is a polars LazyFrame."""
    return hasattr(type(data), "collect_batches")


def open_frame(frame: Any) -> Opened:
    """Open a polars LazyFrame."""
    types = frame.collect_schema()
    objects = frozenset(name for name, kind in types.items() if str(kind) == "Object")
    with pa.RecordBatchReader.from_stream(frame.clear().collect()) as reader:
        schema = reader.schema
    return Opened(
        "`data`",
        schema,
        is_final=True,
        cut=lambda where: [_Frame("`data`", where, None, None, frame, objects)],
    )


@dataclass(frozen=True, eq=False)
class _Factory(Query):
    """A function that opens a reader of all rows.

    Attributes
    ----------
    factory
        It.
    seen
        A weak reference to the last reader that it returned.
    """

    factory: Callable[[], Any]
    seen: list[Any] = field(repr=False)

    def _read(self, columns: list[str]) -> Generator[Any]:
        with _called(self.factory, self.seen) as reader:
            for batch in reader:
                yield batch.select([name for name in columns if name in batch.schema.names])


def is_factory(data: Any) -> bool:
    """Tell whether `data` is a function."""
    return callable(data) and not hasattr(data, "__arrow_c_stream__")


def open_factory(factory: Any) -> Opened:
    """Open a function that takes nothing and returns a reader.

    Raises
    ------
    TypeError
        It takes arguments, or returns something else.
    """
    try:
        inspect.signature(factory).bind()
    except TypeError as error:
        raise TypeError(
            f"`data` is a function that must be called with arguments ({error}); give one "
            "that opens a reader of the rows without, such as a lambda."
        ) from error
    except ValueError:  # a builtin tells nothing
        pass
    seen: list[Any] = []
    with _called(factory, seen) as reader:
        schema = reader.schema
    return Opened(
        "`data`",
        schema,
        is_final=True,
        cut=lambda where: [_Factory("`data`", where, None, None, factory, seen)],
    )


def _called(factory: Callable[[], Any], seen: list[Any]) -> Any:
    found = factory()
    if isinstance(found, pa.RecordBatchReader):
        if seen and found is seen[-1]():
            raise ValueError("the function returned the same reader again; open a new one")
        seen[:] = [weakref.ref(found)]  # closed, it still holds what it reads from
        return found
    if hasattr(found, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(found)
    raise TypeError(
        f"`data` is a function that returned a {type(found).__name__}; it must return an Arrow "
        "RecordBatchReader, or what exports an Arrow stream, at every call."
    )
