"""From values of any kind to one plain array, checked: the first stages of every column.

Read: any source becomes a NumPy array of numbers or an Arrow array. Check: that becomes float64, or
the Arrow type that stands for all types of the same values; what would change is refused by name,
count and first row.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastboot.arrow import decoded, from_numpy, is_null, slots

__all__ = [
    "Column",
    "Plain",
    "Source",
    "array_of",
    "columns_of",
    "counted",
    "items_of",
    "kind_of",
    "numbers_of",
    "plain_of",
    "read_values",
    "real_numbers",
    "with_nan",
]

# The kinds of NumPy array that a list of one Python type may become.
_KIND_OF = {bool: "b", int: "iu", float: "f"}

Source = str | object  # a column name of `data`, or the values themselves

# float64 holds every integer up to this one.
_LARGEST_EXACT = 2**53
# Kinds of NumPy array, and objects, of which NumPy makes numbers that they are not.
_NO_NUMBERS = "cmMSTU"
_NOT_REAL = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)
_COARSE_UNITS = {"Y", "M", "W", "h", "m"}  # of datetime64, unknown to Arrow
# Families of types, and of these the first few that each role accepts.
_FAMILIES: dict[str, Callable[[Any], bool]] = {
    "booleans": pa.types.is_boolean,
    "integers": pa.types.is_integer,
    "floats": pa.types.is_floating,
    "decimals": pa.types.is_decimal,
    "nulls": pa.types.is_null,
    "strings": pa.types.is_large_string,
    "bytes": pa.types.is_large_binary,
    "times": lambda kind: pa.types.is_temporal(kind) and not pa.types.is_interval(kind),
}
_ACCEPTED = {
    "number": (5, "a score must be a number"),
    "label": (6, "a label must be a string, an integer, a boolean or a finite number"),
    "key": (8, "a key must be a string, a number, a boolean, a date or time, or bytes"),
    "slice": (8, "a slice is named by a string, a number, a boolean, a date or time, or bytes"),
}


@dataclass(frozen=True, eq=False)
class Column:
    """One column to load.

    Attributes
    ----------
    source
        A column name of `data`, or the values themselves.
    role
        "number" for scores and counts, "label" for classes that are compared, "key" for what says
        which rows belong together, "slice" for what names the rows that have an answer of their
        own (keys, loaded with their values).
    argument
        The argument's name, for messages.
    nullable
        A null or NaN of a number or label column means something, such as an annotator who did not
        see the item: whatever the `nan_policy`, it is kept, as NaN or as the code -1.
    """

    source: Source
    role: Literal["number", "label", "key", "slice"] = "number"
    argument: str = "values"
    nullable: bool = False

    def __str__(self) -> str:
        """Return the words that messages call this column by."""
        if isinstance(self.source, str):
            return f"`{self.argument}` (column {self.source!r})"
        return f"`{self.argument}`"


def read_values(column: Column, values: Any) -> Any:
    """Values of any kind as a NumPy array of numbers or an Arrow array."""
    dtype = getattr(values, "dtype", None)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(dtype, np.dtype):
        return _read_numpy(column, values)
    # Polars exports Python objects as their addresses.
    if hasattr(values, "__arrow_c_stream__") and str(dtype) != "Object":
        return pa.chunked_array(values)
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return _read_objects(column, list(values))
    if hasattr(values, "__array__"):
        return _read_numpy(column, np.asarray(values))
    raise TypeError(
        f"{column} is a {type(values).__name__}; give the name of a column of data=, or the values "
        "as an array, a series or a list."
    )


def _read_numpy(column: Column, values: Any) -> Any:
    mask = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else None
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{column} has shape {array.shape}; give one dimension, a value per row.")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "OT":
        return _read_objects(column, array.astype(object), mask)
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] in _COARSE_UNITS:
        array = array.astype("datetime64[s]")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # what becomes infinite is refused by name
            array = array.astype(np.float64)
    if array.dtype.kind in "biuf" and mask is None:
        return array
    return pa.array(array, mask=mask)


def _read_objects(column: Column, values: Any, mask: Any = None) -> Any:
    kinds = set(map(type, values)) if mask is None else set()
    if len(kinds) == 1 and kinds <= _KIND_OF.keys():
        array = np.array(values)
        if array.dtype.kind in _KIND_OF[kinds.pop()]:  # an integer may be too large for any
            return array
    try:
        try:
            return pa.array(values, mask=mask)
        except OverflowError:  # of integers, the first of them small and one beyond int64
            return pa.array(values, pa.uint64(), mask=mask)
        except pa.ArrowException:
            # NaN beside numbers is NaN; beside strings only pandas' convention can mean it: null.
            return pa.array(values, mask=mask, from_pandas=True)
    except (pa.ArrowException, OverflowError) as error:
        for row, value in enumerate(values):
            if column.role == "number" and isinstance(value, int):
                _refuse_inexact(column, row, value)
        reason = (
            "it has integers that 64 bits do not hold, or not beside those below 0; write them as "
            "strings"
            if isinstance(error, OverflowError)
            else error
        )
        raise TypeError(f"{column} cannot be read as one column: {reason}") from error


@dataclass(frozen=True)
class Plain:
    """One plain array: float64 with NaN for null, or an Arrow array yet to be encoded."""

    column: Column
    values: Any
    n_nulls: int
    missing: NDArray[np.bool_]


def plain_of(column: Column, values: Any) -> Plain:
    """Return what `read_values` read as one plain array, checked."""
    if len(values) == 0:
        raise ValueError(f"{column} is empty; give at least one row.")
    if not isinstance(values, np.ndarray):
        values = decoded(values)
    n_nulls = getattr(values, "null_count", 0)
    if column.role == "number":
        numbers = _numbers(column, values)
        return Plain(column, numbers, n_nulls, np.isnan(numbers))
    array = _encodable(column, from_numpy(values) if isinstance(values, np.ndarray) else values)
    return Plain(column, array, n_nulls, is_null(array))


def _numbers(column: Column, values: Any) -> NDArray[np.float64]:
    """Return numbers as read-only float64 with NaN for null, refusing what would change."""
    is_numpy = isinstance(values, np.ndarray)
    kind = values.dtype if is_numpy else values.type
    floats = values if is_numpy else _floats(column, values)
    numbers = np.require(floats, np.float64, ["C_CONTIGUOUS", "ALIGNED"]).view()
    numbers.flags.writeable = False
    if str(kind).startswith(("int64", "uint64", "decimal")):
        for row in np.flatnonzero(np.abs(numbers) >= _LARGEST_EXACT):
            value = values[row]
            _refuse_inexact(column, int(row), int(value) if is_numpy else value.as_py())
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(numbers.sum()):
            return numbers
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"{column} has {counted(int(infinite.sum()), 'infinite value')} "
            f"(first at row {infinite.argmax():,}); replace or drop what is not finite."
        )
    return numbers


def _floats(column: Column, array: Any) -> Any:
    family = _family(column, array.type)
    if family == "booleans":
        array = array.cast(pa.uint8())  # five times faster than straight to float64
    if family == "decimals":
        array = array.cast(pa.string())  # straight to float64 rounds about one in eight wrongly
    floats = array.cast(pa.float64(), safe=False)
    numbers = slots(floats, np.float64)
    return np.where(is_null(floats), np.nan, numbers) if floats.null_count else numbers


def _encodable(column: Column, array: Any) -> Any:
    """Return labels or keys as the Arrow type that stands for all types of the same values."""
    family = _family(column, array.type)
    if family == "decimals" and column.role == "key":
        return array.cast(pa.decimal256(76, array.type.scale))
    if family in {"decimals", "floats"}:
        # -0.0 + 0.0 is 0.0: equal labels have equal bits.
        return pa.array(_numbers(column, array) + 0.0, from_pandas=True)
    return array


def _family(column: Column, kind: Any) -> str:
    n_families, rule = _ACCEPTED[column.role]
    for family, belongs in itertools.islice(_FAMILIES.items(), n_families):
        if belongs(kind):
            return family
    holds = "strings" if pa.types.is_large_string(kind) else f"values of type {kind}"
    raise TypeError(f"{column} holds {holds}; {rule}.")


def _refuse_inexact(column: Column, row: int, value: int | Decimal) -> None:
    if not -_LARGEST_EXACT <= value <= _LARGEST_EXACT:
        raise ValueError(
            f"{column} has {value} at row {row:,}, beyond 2**53, where float64 would change it; "
            "subtract or divide first."
        )


def array_of(values: Any) -> NDArray[Any]:
    """Return values as an array; a masked one where they, or arrays in a list of them, are.

    ``np.asarray`` takes what lies under a mask for a value.
    """
    if not _has_mask(values):
        return np.asarray(values)
    if isinstance(values, np.ma.MaskedArray):
        return values
    return np.ma.stack([array_of(one) for one in values])  # np.ma.array warns of `np.ma.masked`


def columns_of(table: Any) -> list[Any]:
    """Return the columns of an array or a table of shape (n_rows, n_columns), in order.

    Examples
    --------
    >>> columns_of(np.array([[0.25, 0.75], [0.5, 0.5]]))
    [array([0.25, 0.5 ]), array([0.75, 0.5 ])]
    """
    if not hasattr(table, "ndim"):  # Arrow and Polars: as NumPy, their nulls might be anything
        return list(pa.table(table).columns)
    return list(array_of(table).T)


def _has_mask(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return any(map(_has_mask, values))
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def with_nan(values: Any) -> NDArray[Any]:
    """Return numbers as an array, for what is no column: float64 with NaN where any is masked.

    What is no number is masked by None.

    Examples
    --------
    >>> with_nan(np.ma.array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    array = array_of(values)
    if not isinstance(array, np.ma.MaskedArray):
        return array
    is_number = array.dtype.kind in "biuf"
    found = np.array(array.data, dtype=np.float64 if is_number else object)
    found[np.ma.getmaskarray(array)] = np.nan if is_number else None
    return found


def numbers_of(argument: str, values: Any) -> NDArray[np.float64]:
    """Return numbers of an argument that is no column as float64, with NaN where masked or None.

    Raises
    ------
    TypeError
        They are no numbers.
    ValueError
        A list holds lists of different lengths.
    """
    try:
        array = with_nan(values)
    except ValueError as error:
        raise ValueError(
            f"`{argument}` has lists of different lengths; give an array of numbers"
        ) from error
    wrong = TypeError(f"`{argument}` is of type {array.dtype}; give numbers")
    if array.dtype.kind not in "biufO":
        raise wrong
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise wrong from error


def real_numbers(returned: Any) -> NDArray[np.float64] | None:
    """Return what a function returned as float64 with NaN where masked; None for no real numbers.

    NumPy itself would cut complex numbers to their real part, take None for NaN and read strings
    and dates as numbers.

    Examples
    --------
    >>> real_numbers([1, 2.5])
    array([1. , 2.5])
    >>> real_numbers(1j) is real_numbers("1.5") is real_numbers(None) is None
    True
    """
    try:
        array = None if returned is None else with_nan(returned)
        if array is None or array.dtype.kind in _NO_NUMBERS:
            return None
        if array.dtype.kind == "O" and any(isinstance(one, _NOT_REAL) for one in array.flat):
            return None
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def kind_of(returned: Any) -> str:
    """Return what messages call something that a function returned and that is no real number."""
    if isinstance(returned, np.ndarray):
        return f"an array of {returned.dtype}"
    return type(returned).__name__


def items_of(values: Any) -> list[Any]:
    """Return the items of a list, an array, a series or an Arrow column as Python values.

    Iterating over an Arrow column gives its own scalars, which equal no Python value.

    Raises
    ------
    TypeError
        It is a single value.

    Examples
    --------
    >>> items_of(pa.chunked_array([["cat"], ["dog", None]]))
    ['cat', 'dog', None]
    """
    for convert in ("to_pylist", "tolist"):  # Arrow, NumPy and pandas
        if hasattr(values, convert):
            items = getattr(values, convert)()
            break
    else:
        items = values
    if isinstance(items, str | bytes) or not hasattr(items, "__iter__"):
        raise TypeError(f"{type(values).__name__} is no list")
    return items if isinstance(items, list) and items is not values else list(items)


def counted(number: int, noun: str) -> str:
    """Return "1 row" or "2 rows"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
