"""Kinds of values: columns of several files must be of one kind, not of one type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from fastboot.arrow import decoded

__all__ = ["Kinds", "kind_of", "plain", "plain_type"]

_NO_UTF_8 = (
    ": binary in a CSV file is text that is not UTF-8; save it as UTF-8, for example by "
    "`iconv -f latin1 -t utf-8`"
)


def plain(batch: Any, names: list[str]) -> Any:
    """Return the named columns of a batch without dictionaries, views and the like.

    Files and batches may differ in these; and Arrow filters no views.
    """
    absent = [name for name in names if name not in batch.schema.names]
    if absent:
        raise ValueError(f"there is no column {absent[0]!r}")
    return pa.RecordBatch.from_arrays([decoded(batch.column(name)) for name in names], names)


def plain_type(kind: Any) -> Any:
    """Return the type of a column as :func:`plain` leaves it."""
    return decoded(pa.nulls(0, kind)).type


def kind_of(kind: Any) -> str | None:
    """Return what values of an Arrow type are; None of nulls, which go with anything.

    Examples
    --------
    >>> kind_of(pa.int32()), kind_of(pa.float64()), kind_of(pa.dictionary(pa.int8(), pa.string()))
    ('number', 'number', 'large_string')
    """
    kind = plain_type(kind)
    if pa.types.is_null(kind):
        return None
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    if pa.types.is_decimal(kind):
        return "decimal"
    return str(kind)


class Kinds:
    """Types of columns, each with the first file that has values of it."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[Any, str]] = {}

    def check(self, schema: Any, names: Sequence[str], subject: str) -> None:
        """Compare the columns of a file, or of a batch of it, with those before.

        Raises
        ------
        ValueError
            A column is not there, or of another kind than in the file before.
        """
        for name in names:
            if name not in schema.names:
                had = self._first.get(name)
                has = f", which {had[1]} has as {had[0]}" if had else ""
                raise ValueError(f"{subject} has no column {name!r}{has}.")
            kind = schema.field(name).type
            if kind_of(kind) is None:
                continue
            first, before = self._first.setdefault(name, (kind, subject))
            if kind != first and kind_of(kind) != kind_of(first):
                is_text = {kind_of(kind), kind_of(first)} == {"large_string", "large_binary"}
                raise ValueError(
                    f"column {name!r} is {kind} in {subject} but {first} in {before}; "
                    f"convert one of them{_NO_UTF_8 if is_text else ''}."
                )
