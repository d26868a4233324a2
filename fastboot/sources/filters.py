"""`where=`: which rows count, as an Arrow expression that is true of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import pyarrow as pa

from fastboot.sources.conditions import (
    HOW,
    Conditions,
    UnlikeError,
    conditions_of,
    evaluated,
)
from fastboot.sources.kinds import plain_type
from fastboot.sources.messages import names_near

__all__ = ["Filter", "UnknownColumnError", "bound", "in_words", "names_in", "understood"]

# What a column of nulls only may stand for: is_in() wants the type of its values.
_STAND_INS = (pa.null(), pa.large_string(), pa.int64(), pa.float64(), pa.bool_())
# Of several such columns any may stand for any: what is tried at most, 0.3 ms each.
_MOST_TRIED = 5**5


class UnknownColumnError(ValueError):
    """There is no column of this name.

    Attributes
    ----------
    name
        The name.
    """

    def __init__(self, name: str, names: Sequence[str]) -> None:
        super().__init__(f"`where`: no column {name!r} in data; {names_near(name, names)}.")
        self.name = name


@dataclass(frozen=True, eq=False)
class Filter:
    """Rows that count.

    Attributes
    ----------
    where
        As from `understood`.
    types
        The columns it looks at, and their types.
    """

    where: Any
    types: dict[str, Any]

    def mask(self, batch: Any) -> Any:
        """Return an Arrow array that is true of the rows that count, and false or null of others.

        Parameters
        ----------
        batch
            Record batch with the columns of `types`, none of them a view.

        Raises
        ------
        ValueError
            It cannot be applied to these columns.
        """
        columns = [batch.column(name) for name in self.types]
        if isinstance(self.where, Conditions):
            types = {name: column.type for name, column in zip(self.types, columns, strict=True)}
            try:
                _check(self.where, types)  # those of this batch
            except TypeError as error:
                raise ValueError(str(error)) from error
            return evaluated(self.where.expression(types), pa.table(columns, list(types)))
        kinds = self.types.values()
        columns = [
            column.cast(kind) if pa.types.is_null(column.type) else column
            for column, kind in zip(columns, kinds, strict=True)
        ]
        table = pa.table(columns, list(self.types))
        try:
            return evaluated(self.where, table)
        except pa.ArrowException as error:
            for wider in _with_wider_integers(table):
                with suppress(pa.ArrowException):
                    return evaluated(self.where, wider)
            raise ValueError(str(_refused(error, self.where, self.types))) from error

    @property
    def prunes(self) -> bool:
        """Tell whether the smallest and the largest value of rows can exclude them all.

        Conditions see to that themselves. An expression cannot for numbers of 32 bits and less:
        Arrow compares them with a value of 64 bits, or with that value in 32 bits, as it happens
        (an exact comparison, and membership in a list). Nor what negates something of floats: a
        NaN, which is neither the smallest nor the largest, differs from all numbers.
        """
        if isinstance(self.where, Conditions):
            return True
        floats = [kind for kind in self.types.values() if pa.types.is_floating(kind)]
        negates = any(mark in str(self.where) for mark in ("invert(", " != "))
        return not floats or not (negates or any(kind.bit_width < 64 for kind in floats))

    def excluding(self, schema: Any) -> Any:
        """Return an expression that excludes rows by what a file says of its columns.

        Parameters
        ----------
        schema
            Of the file.
        """
        if not isinstance(self.where, Conditions):
            return self.where
        types = {name: schema.field(name).type for name in self.types}
        return self.where.expression(types, statistics=True)

    def kept(self, batch: Any) -> Any:
        """Return the rows of a batch that count."""
        mask = self.mask(batch)
        return batch if mask.true_count == len(batch) else batch.filter(mask)


def _with_wider_integers(table: Any) -> Iterator[Any]:
    """Yield a table with one column of integers as float64, then another, then with all.

    Arrow narrows a value such as 0.5 to 32 bits, and refuses integers that 32 bits do not hold.
    """
    integers = [i for i, kind in enumerate(table.schema.types) if pa.types.is_integer(kind)]
    for chosen in [*([i] for i in integers), integers]:
        wider = table
        for i in chosen:
            cast = table.column(i).cast(pa.float64(), safe=False)
            wider = wider.set_column(i, table.schema.names[i], cast)
        yield wider


def understood(where: Any) -> Any:
    """Return `where` as conditions, or as a pyarrow expression, or None where there is none.

    Parameters
    ----------
    where
        None, an expression, or a list of tuples (column, operator, value) that all hold, or a list
        of such lists of which one holds.

    Raises
    ------
    TypeError
        It is something else.
    ValueError
        The tuples are not such.
    """
    if where is None:
        return None
    from pyarrow import compute, parquet

    if isinstance(where, compute.Expression):
        return where
    if not isinstance(where, list | tuple):
        raise TypeError(f"`where` is a {type(where).__name__}; {HOW}.")
    conditions = conditions_of(where)
    if conditions is not None:
        return conditions
    try:
        return parquet.filters_to_expression(where)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise ValueError(f"where={where!r} cannot be used ({error}); {HOW}.") from error


def in_words(where: Any) -> str:
    """Return `where` in a few words, empty where it is None.

    Raises
    ------
    TypeError, ValueError
        As `understood`.

    Examples
    --------
    >>> in_words([("split", "==", "test"), ("score", "<", 3)])
    "split == 'test' and score < 3"
    """
    found = understood(where)
    if found is None:
        return ""
    if not isinstance(found, Conditions):
        return " ".join(str(found).split())
    all_of = [
        " and ".join(
            f"{one.column} {'==' if one.operator == '=' else one.operator} {one.written!r}"
            for one in every
        )
        for every in found.either
    ]
    return all_of[0] if len(all_of) == 1 else " or ".join(f"({one})" for one in all_of)


def names_in(where: Any, names: Sequence[str]) -> list[str]:
    """Return the names of columns that a filter may look at.

    Of an expression these are all that its text holds.

    Raises
    ------
    ValueError
        It looks at columns by number.
    """
    if isinstance(where, Conditions):
        return [name for name in dict.fromkeys(names) if name in where.columns]
    text = str(where)
    if "FieldPath(" in text:
        raise ValueError(f"where={text} looks at columns by number; name them: {HOW}.")
    return [name for name in dict.fromkeys(names) if name in text]


def bound(where: Any, schema: Any, names: Sequence[str] | None = None) -> Filter | None:
    """Return the filter for data of a schema; None where there is none.

    Parameters
    ----------
    where
        As from `understood`.
    schema
        With the columns that it may look at.
    names
        Of all columns, where the schema has some.

    Raises
    ------
    TypeError
        A column is compared with what its values cannot be compared with, or the outcome is not
        true or false.
    ValueError
        There is no such column, or it looks at none.
    """
    if where is None:
        return None
    names = schema.names if names is None else names
    if isinstance(where, Conditions):
        for name in where.columns:
            if name not in schema.names:
                raise UnknownColumnError(name, names)
        types = {name: plain_type(schema.field(name).type) for name in where.columns}
        _check(where, types)
        return Filter(where, types)
    looked_at = names_in(where, schema.names)
    if _applies(where, {"": pa.null()}):
        raise ValueError(f"where={where} looks at no column; {HOW}.")
    types = {name: plain_type(schema.field(name).type) for name in looked_at}
    types = _with_nulls_typed(where, types, names)
    # Names that are part of another name, or of a value, are not looked at.
    for name in list(types):
        fewer = {other: kind for other, kind in types.items() if other != name}
        if _applies(where, fewer):
            types = fewer
    return Filter(where, types)


def _check(conditions: Conditions, types: dict[str, Any]) -> None:
    """Refuse a value that goes with no value of its column, in words."""
    try:
        conditions.check(types)
    except UnlikeError as error:
        raise TypeError(_cannot(str(error), {error.column: types[error.column]})) from error


def _with_nulls_typed(
    expression: Any, types: dict[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    null = [name for name, kind in types.items() if pa.types.is_null(kind)]
    for kinds in islice(product(_STAND_INS, repeat=len(null)), _MOST_TRIED):
        typed = types | dict(zip(null, kinds, strict=True))
        if _applies(expression, typed):
            return typed
    try:
        kind = evaluated(expression, _empty(types)).type
    except pa.ArrowException as error:
        unknown = _unknown(error)
        if unknown is not None:
            raise UnknownColumnError(unknown, names) from error
        raise _refused(error, expression, types) from error
    raise TypeError(f"where={expression} is {kind}, neither true nor false; {HOW}.")


def _applies(expression: Any, types: dict[str, Any]) -> bool:
    try:
        return bool(pa.types.is_boolean(evaluated(expression, _empty(types)).type))
    except pa.ArrowException:
        return False


def _empty(types: dict[str, Any]) -> Any:
    return pa.schema(list(types.items())).empty_table()


def _unknown(error: Exception) -> str | None:
    """Return the name of the column that an expression looks for in vain."""
    found = re.match(r"No match for FieldRef\.Name\((.*)\) in ", _told(error))
    return found[1] if found else None


def _told(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _refused(error: Exception, expression: Any, types: dict[str, Any]) -> TypeError:
    """Return the error that says what is wrong with an expression."""
    held = {name: kind for name, kind in types.items() if _misses(expression, types, name)}
    return TypeError(_cannot(_told(error), held))


def _misses(expression: Any, types: dict[str, Any], name: str) -> bool:
    """Tell whether an expression looks at a column: without it, that is what is wrong."""
    try:
        evaluated(expression, _empty({one: kind for one, kind in types.items() if one != name}))
    except pa.ArrowException as error:
        return _unknown(error) == name
    return False


def _cannot(reason: str, held: dict[str, Any]) -> str:
    looks = ", ".join(f"{name!r} of type {kind}" for name, kind in held.items())
    return (
        f"`where` cannot be applied: {reason}. It looks at {looks or 'no column'}; compare each "
        "column with a value of its own type."
    )
