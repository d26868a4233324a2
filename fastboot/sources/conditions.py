"""`where=` as tuples of column, operator and value: what they mean for columns of known types.

A value means what it is once it is in the column: 0.1 beside float32 is the number of 32 bits that
0.1 becomes there, and 1 beside booleans is true. Among numbers that come in steps, as integers and
decimals do, a value between two of them equals neither; and beyond the largest it is larger than
all. So every operator says the same of a row, whatever the type, and so do the smallest and the
largest value that a file knows of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fastboot.sources.kinds import plain_type

__all__ = ["HOW", "Condition", "Conditions", "UnlikeError", "conditions_of", "evaluated"]

HOW = (
    "give a pyarrow expression such as pyarrow.compute.field('split') == 'test', or tuples of "
    "column, operator and value such as [('split', '==', 'test')]"
)
_COMPARED = {"=": eq, "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_MEMBERS = {"in", "not in"}
_COARSE_UNITS = {"Y", "M", "W", "h", "m"}  # of datetime64, unknown to Arrow
_FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
_NOTHING = {"NaTType", "NAType"}  # of pandas


class UnlikeError(TypeError):
    """A value is none that a column can be compared with.

    Attributes
    ----------
    column
        The name of the column.
    """

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(reason)
        self.column = column


class Condition(NamedTuple):
    """One tuple; of `in` and `not in` the value is a tuple of values, and `written` as it was."""

    column: str
    operator: str
    value: Any
    written: Any


@dataclass(frozen=True, eq=False)
class Conditions:
    """Lists of conditions that all hold, of which lists one holds."""

    either: tuple[tuple[Condition, ...], ...]
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, each once."""
        return list(dict.fromkeys(one.column for one in chain(*self.either)))

    def check(self, types: Mapping[str, Any]) -> None:
        """Refuse a value that is none of its column.

        Raises
        ------
        UnlikeError
            The first of them, with why.
        """
        key = ("checked", *(types[name] for name in self.columns))
        if key not in self._known:
            for one in chain(*self.either):
                _check(one, types[one.column])
            self._known[key] = True

    def expression(self, types: Mapping[str, Any], *, statistics: bool = False) -> Any:
        """Return what is true of the rows that count, for columns of these types.

        Parameters
        ----------
        types
            Arrow types by name.
        statistics
            It is for the smallest and the largest value of rows, which do not tell whether there
            is a NaN, which differs from all numbers.

        Raises
        ------
        UnlikeError
            A value is none of its column.
        """
        key = (statistics, *(types[name] for name in self.columns))
        if key not in self._known:
            how = {"statistics": statistics}
            self._known[key] = reduce(
                or_,
                (
                    reduce(and_, (_expression(one, types[one.column], **how) for one in every))
                    for every in self.either
                ),
            )
        return self._known[key]


def conditions_of(where: Sequence[Any]) -> Conditions | None:
    """Return tuples as conditions; None where a value is an expression, which is Arrow's business.

    Raises
    ------
    TypeError
        A column is looked for in a text, or compared with None.
    ValueError
        They are no such tuples.
    """
    from pyarrow import compute

    if not where or not all(isinstance(one, list | tuple) and one for one in where):
        raise ValueError(f"where={where!r} cannot be used (Malformed filters); {HOW}.")
    lists = where if isinstance(where[0][0], list | tuple) else [where]
    either = []
    for every in lists:
        conditions = []
        for one in every:
            if not isinstance(one, list | tuple) or len(one) != 3:
                raise ValueError(f"where={where!r} cannot be used ({one!r} is no triple); {HOW}.")
            if isinstance(one[2], compute.Expression):
                return None
            conditions.append(_condition(where, *one))
        either.append(tuple(conditions))
    return Conditions(tuple(either))


def _condition(where: Any, column: Any, operator: Any, value: Any) -> Condition:
    if not isinstance(column, str):
        reason = f"{column!r} is no column's name"
        raise ValueError(f"where={where!r} cannot be used ({reason}); {HOW}.")  # noqa: TRY004 - a wrong tuple
    if not isinstance(operator, str) or operator not in _COMPARED.keys() | _MEMBERS:
        reason = f'"{operator}" is no operator; there are: {", ".join([*_COMPARED, *_MEMBERS])}'
        raise ValueError(f"where={where!r} cannot be used ({reason}); {HOW}.")
    if operator in _COMPARED:
        plain = _plain(value)
        if plain is None:
            raise TypeError(
                f"where={where!r} compares {column!r} with a missing value, which is true of no "
                f"row; ({column!r}, 'in', [None]) are the rows without a value, and "
                f"({column!r}, 'not in', [None]) the others."
            )
        return Condition(column, operator, plain, value)
    if isinstance(value, str | bytes):
        raise TypeError(
            f"where={where!r} looks for {column!r} in a text, which would be its letters; "
            f"give a list of values, such as [{value!r}]"
        )
    try:
        return Condition(column, operator, tuple(map(_plain, value)), value)
    except TypeError as error:
        raise ValueError(f"where={where!r} cannot be used ({error}); {HOW}.") from error


def _plain(value: Any) -> Any:
    """Return a value as one of Python's, or of Arrow's where Python has no such; None: missing."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.datetime64 | np.timedelta64):
        if np.isnat(value):
            return None
        if np.datetime_data(value.dtype)[0] in _COARSE_UNITS:
            value = value.astype(f"{value.dtype.kind}8[s]")
        return pa.array(np.array([value]))[0]
    if isinstance(value, np.generic):
        return float(value) if isinstance(value, np.floating) else value.item()
    if isinstance(value, pa.Scalar):
        if not value.is_valid:
            return None
        return value if pa.types.is_temporal(value.type) else value.as_py()
    return None if type(value).__name__ in _NOTHING else value


def _check(one: Condition, kind: Any) -> None:
    expression = _expression(one, kind)
    row = pa.table([pa.nulls(1, kind)], [one.column])  # of none, Arrow would not look at time zones
    try:
        evaluated(expression, row)
    except pa.ArrowException as error:
        raise _unlike(one, one.value, kind, error) from error


def _expression(one: Condition, kind: Any, *, statistics: bool = False) -> Any:
    """Return a condition as an expression, for a column of a type."""
    from pyarrow import compute

    column = compute.field(one.column)
    kind = plain_type(kind)
    if statistics and pa.types.is_floating(kind) and one.operator in {"!=", "not in"}:
        return compute.scalar(value=True)
    if kind == pa.float16():  # which Arrow does not compare
        column = column.cast(pa.float32())
    if one.operator in _MEMBERS:
        found = _members(one, column, kind)
        return found if one.operator == "in" else ~found
    return _compared(one, column, kind)


def _members(one: Condition, column: Any, kind: Any) -> Any:
    """Return the expression of `in`."""
    values = [value for value in one.value if value is not None]
    missing = column.is_null() if len(values) < len(one.value) else None
    if not values or pa.types.is_null(kind):
        return column.is_valid() & ~column.is_valid() if missing is None else missing
    if _is_typed(kind):
        found = column.isin(_array_of(one, values, kind))
    else:
        found = column.isin(_other_array_of(one, values, kind))
    return found if missing is None else found | missing


def _array_of(one: Condition, values: Sequence[Any], kind: Any) -> Any:
    """Return those of the values that a column can have, as it has them."""
    equal = []
    for value in values:
        low, high = _neighbours(one, value, kind)
        if low is not None and low == high:
            equal.append(low)
    if pa.types.is_floating(kind):  # -0.0 is another one for Arrow, and NaN equals NaN
        equal += [-value for value in equal if value == 0]
        equal += [math.nan] * any(isinstance(one, float) and math.isnan(one) for one in values)
    return pa.array(equal, _held(kind))


def _other_array_of(one: Condition, values: Sequence[Any], kind: Any) -> Any:
    """As `_array_of`, of what is no number, truth or text: as Arrow compares and casts it."""
    equal, seen = [], set()
    for value in values:
        scalar = _scalar(one, value, kind)
        if scalar.type not in seen:
            _check(one._replace(operator="==", value=value), kind)
            seen.add(scalar.type)
        try:
            cast = scalar.cast(kind)
            if cast.cast(scalar.type).equals(scalar):
                equal.append(cast)
        except pa.ArrowException:  # it would lose something, so it equals no value
            continue
    arrays = [pa.repeat(value, 1) for value in equal]
    return pa.concat_arrays(arrays) if arrays else pa.array([], kind)


def _compared(one: Condition, column: Any, kind: Any) -> Any:
    """Return the expression of a comparison."""
    compare = _COMPARED[one.operator]
    valid = column.is_valid()
    none = valid & ~valid
    if pa.types.is_null(kind):
        return none
    if not _is_typed(kind):
        return compare(column, _scalar(one, one.value, kind))
    low, high = _neighbours(one, one.value, kind)
    if low is not None and low == high:
        return compare(column, pa.scalar(low, _held(kind)))
    if compare in {eq, ne}:
        return none if compare is eq else valid
    bound = low if compare in {lt, le} else high
    if bound is None:
        return none
    return (le if compare in {lt, le} else ge)(column, pa.scalar(bound, _held(kind)))


def _is_typed(kind: Any) -> bool:
    """Tell whether this file knows what is a value of a type, rather than Arrow."""
    return _is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_large_string(kind)


def _is_number(kind: Any) -> bool:
    families = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(belongs(kind) for belongs in families)


def _held(kind: Any) -> Any:
    """Return the type of what a column is compared with."""
    if pa.types.is_large_string(kind):
        return pa.string()  # the column in the file may be such; wider ones are compared alike
    return pa.float32() if kind == pa.float16() else kind


def _neighbours(one: Condition, value: Any, kind: Any) -> tuple[Any, Any]:
    """Return the largest value of a type that is not above one, and the smallest not below it.

    None where there is none. Both are the same where the type has the value.
    """
    if pa.types.is_large_string(kind):
        if not isinstance(value, str):
            raise _unlike(one, value, kind)
        return value, value
    if pa.types.is_boolean(kind):
        if not isinstance(value, int | float) or value not in {0, 1}:
            raise _unlike(one, value, kind)
        return bool(value), bool(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise _unlike(one, value, kind)
    is_finite = isinstance(value, int) or math.isfinite(value)
    if value != value:  # noqa: PLR0124 - NaN, which is no float in decimals
        return None, None
    if pa.types.is_floating(kind):
        return _among_floats(value, _FLOATS[kind.bit_width], is_finite=is_finite)
    return _among_steps(value, kind, is_finite=is_finite)


def _among_floats(value: Any, dtype: Any, *, is_finite: bool) -> tuple[float, float]:
    try:
        with np.errstate(over="ignore"):
            near = float(dtype(float(value)))
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if math.isinf(near) and is_finite:
        largest = float(np.finfo(dtype).max)
        return (largest, near) if near > 0 else (near, -largest)
    return near, near


def _among_steps(value: Any, kind: Any, *, is_finite: bool) -> tuple[Any, Any]:
    """Among integers, or decimals as integers of their last digit."""
    scale = 0
    if pa.types.is_decimal(kind):
        scale = kind.scale
        highest = 10**kind.precision - 1
        lowest = -highest
    else:
        limits = np.iinfo(str(kind))
        lowest, highest = int(limits.min), int(limits.max)
    if is_finite:
        # Digits of a float are those that it is written with, where there are digits.
        written = repr(value) if scale and isinstance(value, float) else value
        exact = Fraction(written) * Fraction(10) ** scale
        below, above = math.floor(exact), math.ceil(exact)
    else:
        below = above = highest + 1 if value > 0 else lowest - 1
    low = min(below, highest) if below >= lowest else None
    high = max(above, lowest) if above <= highest else None
    return _step(low, kind, scale), _step(high, kind, scale)


def _step(number: int | None, kind: Any, scale: int) -> Any:
    if number is None or not pa.types.is_decimal(kind):
        return number
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


def _scalar(one: Condition, value: Any, kind: Any) -> Any:
    try:
        scalar = value if isinstance(value, pa.Scalar) else pa.scalar(value)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _unlike(one, value, kind) from error
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(scalar.type):
        zones = kind.tz, scalar.type.tz
        if None in zones and zones != (None, None):
            has, lacks = ("none", "a") if kind.tz is None else ("one", "no")
            shown = scalar.as_py() if scalar is value else value
            raise UnlikeError(
                one.column, f"{shown!r} has {lacks} time zone, and the column has {has}"
            )
    return scalar


def _unlike(one: Condition, value: Any, kind: Any, error: Exception | None = None) -> UnlikeError:
    """Return the error that says that a value goes with no value of a column."""
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    told = str(error).partition("\n")[0]
    if error is not None and " kernel " not in told:
        return UnlikeError(one.column, told)
    words = next((words for belongs, words in _WORDS if belongs(kind)), f"no value of type {kind}")
    return UnlikeError(one.column, f"{value!r} is {words}")


_WORDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (_is_number, "no number"),
    (pa.types.is_boolean, "neither true nor false"),
    (pa.types.is_large_string, "no text"),
    (pa.types.is_temporal, "no such date or time"),
)


def evaluated(expression: Any, table: Any) -> Any:
    """Return what an expression is for each row.

    In this thread: in several, rows of one batch may change places.
    """
    from pyarrow import acero

    plan = acero.Declaration.from_sequence([
        acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
        acero.Declaration("project", acero.ProjectNodeOptions([expression], ["where"])),
    ])  # fmt: skip
    outcome = plan.to_table(use_threads=False).column(0)
    return pa.concat_arrays(outcome.chunks) if outcome.num_chunks else pa.array([], outcome.type)
