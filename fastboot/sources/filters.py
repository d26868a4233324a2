"""`where=`: which rows count, as an Arrow expression that is true of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import Any

import pyarrow as pa

from fastboot.sources.kinds import plain_type
from fastboot.sources.messages import names_near

__all__ = ["Filter", "UnknownColumnError", "bound", "expression_of", "in_words", "names_in"]

_HOW = (
    "give a pyarrow expression such as pyarrow.compute.field('split') == 'test', or tuples of "
    "column, operator and value such as [('split', '==', 'test')]"
)
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
    expression
        A pyarrow expression.
    types
        The columns it looks at, and their types.
    """

    expression: Any
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
            The expression cannot be applied to these columns.
        """
        columns = []
        for name, kind in self.types.items():
            column = batch.column(name)
            columns.append(column.cast(kind) if pa.types.is_null(column.type) else column)
        table = pa.table(columns, list(self.types))
        try:
            return _evaluated(self.expression, table)
        except pa.ArrowException as error:
            for wider in _with_wider_integers(table):
                with suppress(pa.ArrowException):
                    return _evaluated(self.expression, wider)
            raise ValueError(str(_refused(error, self.types, list(self.types)))) from error

    @property
    def prunes(self) -> bool:
        """Tell whether the smallest and the largest value of rows can exclude them all.

        Not of numbers of 32 bits and less: Arrow compares them with a value of 64 bits, or with
        that value in 32 bits, as it happens (an exact comparison, and membership in a list).
        """
        return not any(
            pa.types.is_floating(kind) and kind.bit_width < 64 for kind in self.types.values()
        )

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


def expression_of(where: Any) -> Any:
    """Return `where` as a pyarrow expression, None where there is none.

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
        raise TypeError(f"`where` is a {type(where).__name__}; {_HOW}.")
    lists = [where, *(some for some in where if isinstance(some, list | tuple))]
    for term in chain(*lists):
        if isinstance(term, tuple) and len(term) == 3:
            column, operator, value = term
            if operator in {"in", "not in"} and isinstance(value, str | bytes):
                raise TypeError(
                    f"where={where!r} looks for {column!r} in a text, which would be its letters; "
                    f"give a list of values, such as [{value!r}]"
                )
    try:
        return parquet.filters_to_expression(where)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise ValueError(f"where={where!r} cannot be used ({error}); {_HOW}.") from error


def in_words(where: Any) -> str:
    """Return `where` in a few words, empty where it is None.

    Raises
    ------
    TypeError, ValueError
        As `expression_of`.

    Examples
    --------
    >>> in_words([("split", "==", "test"), ("score", "<", 3)])
    "split == 'test' and score < 3"
    """
    expression = expression_of(where)
    if expression is None:
        return ""
    if expression is where:
        return " ".join(str(where).split())
    either = [where] if isinstance(where[0], tuple) else where
    all_of = [
        " and ".join(
            f"{column} {'==' if operator == '=' else operator} {value!r}"
            for column, operator, value in terms
        )
        for terms in either
    ]
    return all_of[0] if len(all_of) == 1 else " or ".join(f"({one})" for one in all_of)


def names_in(expression: Any, names: Sequence[str]) -> list[str]:
    """Return the names of columns that an expression may look at: all that its text holds.

    Raises
    ------
    ValueError
        It looks at columns by number.
    """
    text = str(expression)
    if "FieldPath(" in text:
        raise ValueError(f"where={text} looks at columns by number; name them: {_HOW}.")
    return [name for name in dict.fromkeys(names) if name in text]


def bound(expression: Any, schema: Any, names: Sequence[str] | None = None) -> Filter | None:
    """Return the filter for data of a schema; None without expression.

    Parameters
    ----------
    expression
        As from `expression_of`.
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
    if expression is None:
        return None
    looked_at = names_in(expression, schema.names)
    if _applies(expression, {"": pa.null()}):
        raise ValueError(f"where={expression} looks at no column; {_HOW}.")
    types = {name: plain_type(schema.field(name).type) for name in looked_at}
    types = _with_nulls_typed(expression, types, schema.names if names is None else names)
    # Names that are part of another name, or of a value, are not looked at.
    for name in list(types):
        fewer = {other: kind for other, kind in types.items() if other != name}
        if _applies(expression, fewer):
            types = fewer
    return Filter(expression, types)


def _with_nulls_typed(
    expression: Any, types: dict[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    null = [name for name, kind in types.items() if pa.types.is_null(kind)]
    for kinds in islice(product(_STAND_INS, repeat=len(null)), _MOST_TRIED):
        typed = types | dict(zip(null, kinds, strict=True))
        if _applies(expression, typed):
            return typed
    try:
        kind = _evaluated(expression, _empty(types)).type
    except pa.ArrowException as error:
        raise _refused(error, types, names) from error
    raise TypeError(f"where={expression} is {kind}, neither true nor false; {_HOW}.")


def _applies(expression: Any, types: dict[str, Any]) -> bool:
    try:
        return bool(pa.types.is_boolean(_evaluated(expression, _empty(types)).type))
    except pa.ArrowException:
        return False


def _empty(types: dict[str, Any]) -> Any:
    return pa.schema(list(types.items())).empty_table()


def _evaluated(expression: Any, table: Any) -> Any:
    """Evaluate in this thread: in several, rows of one batch may change places."""
    from pyarrow import acero

    plan = acero.Declaration.from_sequence([
        acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
        acero.Declaration("project", acero.ProjectNodeOptions([expression], ["where"])),
    ])  # fmt: skip
    outcome = plan.to_table(use_threads=False).column(0)
    return pa.concat_arrays(outcome.chunks) if outcome.num_chunks else pa.array([], outcome.type)


def _refused(error: Exception, types: dict[str, Any], names: Sequence[str]) -> Exception:
    """Return the error that says what is wrong with `where`."""
    unknown = re.match(r"No match for FieldRef\.Name\((.*)\) in ", str(error).partition("\n")[0])
    if unknown:
        return UnknownColumnError(unknown[1], names)
    reason = str(error).partition("\n")[0]
    held = ", ".join(f"{name!r} of type {kind}" for name, kind in types.items())
    return TypeError(
        f"`where` cannot be applied: {reason}. It looks at {held or 'no column'}; compare each "
        "column with a value of its own type."
    )
