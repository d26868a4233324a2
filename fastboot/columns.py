"""The border: columns of any table, or arrays of any kind, in one normal form.

Scores become read-only, contiguous float64; labels and keys become int64 codes. Arrow memory is
touched here and nowhere else (`fastboot.files` finds the columns), so every kernel compiles once.

All values pass the same stages: read the source, decode and check one plain array, drop the rows
with a missing value, encode. What is wrong is refused by name, count and first row (counted from
0). Clean float64 passes without a copy; nothing is ever written to the caller's memory.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastboot.arrow import decoded, from_numpy, is_null, slots
from fastboot.files import open_table

__all__ = [
    "Column",
    "Keys",
    "Labels",
    "Rows",
    "check_named",
    "complete",
    "key_array",
    "load",
    "names",
]

# The kinds of NumPy array that a list of one Python type may become.
_KIND_OF = {bool: "b", int: "iu", float: "f"}

Source = str | object  # a column name of `data`, or the values themselves

# float64 holds every integer up to this one.
_LARGEST_EXACT = 2**53
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


class Labels(NamedTuple):
    """A label column.

    Attributes
    ----------
    codes
        Shape (n_rows,), int64, read-only: index into `values`, -1 for null in a nullable column.
    values
        The distinct labels as Python values, in order of first appearance.
    """

    codes: NDArray[np.int64]
    values: tuple[Any, ...]


class Keys(NamedTuple):
    """A key column.

    Attributes
    ----------
    codes
        Shape (n_rows,), int64, read-only: 0 to ``n_groups - 1``, in sorted order of the keys.
    n_groups
        Number of distinct keys.
    """

    codes: NDArray[np.int64]
    n_groups: int


@dataclass(frozen=True)
class Rows:
    """Loaded columns.

    Attributes
    ----------
    columns
        In the order asked for. A number column is float64 of shape (n_rows,), read-only and
        C-contiguous.
    n_rows
        Rows left.
    n_dropped
        Rows dropped from all columns because one of them had no value there.
    """

    columns: tuple[NDArray[np.float64] | Labels | Keys, ...]
    n_rows: int
    n_dropped: int


def load(columns: Sequence[Column], data: object = None, nan_policy: str = "raise") -> Rows:
    """Return columns of `data`, or bare arrays, in normal form.

    Parameters
    ----------
    columns
        What to load. A source asked for twice is read once.
    data
        The table that names refer to: an Arrow table, batch, reader or dataset, a pandas or polars
        frame, anything that exports an Arrow stream (a duckdb relation), a mapping of arrays, or a
        path to a Parquet, Arrow, CSV, TSV or JSON-lines file.
    nan_policy
        What to do with a null or NaN in a number or label column: "raise" a ValueError, "omit" the
        row from all columns, or "propagate" it as NaN (numbers only). Nullable columns keep theirs.
        Missing keys are always refused, and so are infinite values.

    Raises
    ------
    TypeError
        A column or `data` is of a type that cannot be used.
    ValueError
        A column is unknown, empty, of another length, not one-dimensional, has a missing or
        infinite value or an integer beyond 2**53; or `nan_policy` or `data` cannot be used.
    FileNotFoundError
        `data` is a path to no file.

    Examples
    --------
    >>> table = {"score": [1, None, 0], "document": ["x", "y", "x"]}
    >>> rows = load([Column("score"), Column("document", "key")], table, nan_policy="omit")
    >>> rows.columns
    (array([1., 0.]), Keys(codes=array([0, 0]), n_groups=1))
    >>> rows.n_dropped
    1
    """
    if nan_policy not in ("raise", "omit", "propagate"):  # no set: a list has no hash
        raise ValueError(f'nan_policy={nan_policy!r}; choose "raise", "omit" or "propagate".')
    named = _read_named(columns, data)
    read: dict[object, Any] = {}
    plain: dict[object, _Plain] = {}
    asked = []
    for column in columns:
        source = column.source
        key = source if isinstance(source, str) else id(source)
        try:
            if key not in read:
                read[key] = _read(column, named[source] if isinstance(source, str) else source)
            form = key, column.role, column.nullable
            if form not in plain:
                plain[form] = _plain(column, read[key])
        except pa.ArrowException as error:
            reason = str(error).partition("\n")[0]
            raise TypeError(f"{column} cannot be read: {reason}") from error
        asked.append(form)
    n_rows = _common_length(list(plain.values()))
    kept = _kept(list(plain.values()), nan_policy)
    n_kept = n_rows if kept is None else int(np.count_nonzero(kept))
    encoded = {form: _encoded(one, kept) for form, one in plain.items()}
    return Rows(tuple(encoded[form] for form in asked), n_kept, n_rows - n_kept)


def key_array(column: Column, data: object) -> Any:
    """Return a key column of `data` as one Arrow array of the type that stands for its kind.

    Raises
    ------
    TypeError, ValueError
        As `load`.
    """
    plain = _plain(column, _read(column, _read_named([column], data)[column.source]))
    _kept([plain], "raise")
    return plain.values


def complete(columns: Sequence[Column], data: object) -> NDArray[np.bool_] | None:
    """Tell which rows have all the values that ``nan_policy="omit"`` asks for; None for all rows.

    Raises
    ------
    TypeError, ValueError
        As `load`, but for rows that are all left out.
    """
    named = _read_named(columns, data)
    incomplete = _incomplete(
        [_plain(column, _read(column, named[column.source])) for column in columns], "omit"
    )
    return ~np.any([one.missing for one in incomplete], axis=0) if incomplete else None


def check_named(columns: Sequence[Column], table: Any) -> None:
    """Refuse columns that a table has not, or has twice.

    Parameters
    ----------
    columns
        To load; those that are values themselves are no matter.
    table
        Has `names` and `names_near`, as :class:`fastboot.files.Table`.

    Raises
    ------
    ValueError
        There is no such column, or more than one.
    """
    named = {column.source: column for column in columns if isinstance(column.source, str)}
    for name, column in named.items():
        n_named = table.names.count(name)
        if n_named == 0:
            there_are = table.names_near(name)
            raise ValueError(f"`{column.argument}`: no column {name!r} in data; {there_are}.")
        if n_named > 1:
            raise ValueError(f"{column} is one of {n_named} columns of that name; rename them.")


def names(data: object) -> list[str]:
    """Return the names of the columns of `data`.

    Examples
    --------
    >>> names({"gold": [1, 0], "pred": [1, 1]})
    ['gold', 'pred']
    """
    return open_table(data).names


# Read: from any source to a NumPy array of numbers or an Arrow array.


def _read_named(columns: Sequence[Column], data: object) -> Any:
    """Values of the columns that are named, by name."""
    wanted = {column.source: column for column in columns if isinstance(column.source, str)}
    if not wanted:
        return {}
    if data is None:
        column = next(iter(wanted.values()))
        names_it = f"`{column.argument}` names the column {column.source!r}"
        raise ValueError(f"{names_it} but no data= was given; give it, or the values themselves.")
    table = open_table(data)
    check_named(columns, table)
    return table.read(list(wanted))


def _read(column: Column, values: Any) -> Any:
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
        except pa.ArrowException:
            # NaN beside numbers is NaN; beside strings only pandas' convention can mean it: null.
            return pa.array(values, mask=mask, from_pandas=True)
    except (pa.ArrowException, OverflowError) as error:
        for row, value in enumerate(values):
            if column.role == "number" and isinstance(value, int):
                _refuse_inexact(column, row, value)
        raise TypeError(f"{column} cannot be read as one column: {error}") from error


# Check: one plain array, and where it has no value.


@dataclass(frozen=True)
class _Plain:
    """One plain array: float64 with NaN for null, or an Arrow array yet to be encoded."""

    column: Column
    values: Any
    n_nulls: int
    missing: NDArray[np.bool_]


def _plain(column: Column, values: Any) -> _Plain:
    if len(values) == 0:
        raise ValueError(f"{column} is empty; give at least one row.")
    if not isinstance(values, np.ndarray):
        values = decoded(values)
    n_nulls = getattr(values, "null_count", 0)
    if column.role == "number":
        numbers = _numbers(column, values)
        return _Plain(column, numbers, n_nulls, np.isnan(numbers))
    array = _encodable(column, from_numpy(values) if isinstance(values, np.ndarray) else values)
    return _Plain(column, array, n_nulls, is_null(array))


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
            f"{column} has {_count(int(infinite.sum()), 'infinite value')} "
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


# Drop: the same rows from every column.


def _common_length(plain: Sequence[_Plain]) -> int:
    first = plain[0]
    for other in plain[1:]:
        if len(other.values) != len(first.values):
            raise ValueError(
                f"{first.column} has {_count(len(first.values), 'row')} but {other.column} has "
                f"{len(other.values):,}; all columns need one row per item."
            )
    return len(first.values)


def _incomplete(plain: Sequence[_Plain], nan_policy: str) -> list[_Plain]:
    """Return the columns that lack values they need, where the policy does not refuse them."""
    incomplete = [
        one
        for one in plain
        if one.missing.any() and (one.column.role == "key" or not one.column.nullable)
    ]
    for one in incomplete:
        has = f"{one.column} has {_missing(one)}"
        if one.column.role == "key":
            raise ValueError(f"{has}; drop those rows or give them a group of their own.")
        if nan_policy == "raise":
            raise ValueError(f'{has}; pass nan_policy="omit" to drop those rows, or fill them.')
        if nan_policy == "propagate" and one.column.role in {"label", "slice"}:
            raise ValueError(f'{has}; a label cannot be NaN: pass nan_policy="omit" to drop it.')
    return incomplete


def _kept(plain: Sequence[_Plain], nan_policy: str) -> NDArray[np.bool_] | None:
    """Mask of the rows to keep, None for all."""
    incomplete = _incomplete(plain, nan_policy)
    if nan_policy == "propagate" or not incomplete:
        return None
    kept: NDArray[np.bool_] = ~np.any([one.missing for one in incomplete], axis=0)
    if not kept.any():
        where = ", ".join(str(one.column) for one in incomplete)
        raise ValueError(f"no rows left: all {len(kept):,} rows have a missing value in {where}.")
    return kept


def _missing(one: _Plain) -> str:
    n_nan = int(np.count_nonzero(one.missing)) - one.n_nulls
    counts = [_count(one.n_nulls, "null")] if one.n_nulls else []
    counts += [f"{n_nan:,} NaN"] if n_nan else []
    return f"{' and '.join(counts)} (first at row {one.missing.argmax():,})"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


# Encode: what is left, as numbers.


def _encoded(plain: _Plain, kept: NDArray[np.bool_] | None) -> NDArray[np.float64] | Labels | Keys:
    values = plain.values
    if plain.column.role == "number":
        return values if kept is None else _read_only(values[kept])
    if kept is not None:
        values = values.filter(from_numpy(kept))
    encoded = values.dictionary_encode()
    codes = slots(encoded.indices, np.int32)
    if plain.column.role in {"label", "slice"}:
        labels = codes.astype(np.int64)
        if encoded.null_count:  # what lies under a null is undefined
            labels[is_null(encoded)] = -1
        # An array of type null has a null for its only value.
        return Labels(_read_only(labels), tuple(encoded.dictionary.drop_null().to_pylist()))
    from pyarrow import compute

    order = slots(compute.sort_indices(encoded.dictionary), np.uint64)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return Keys(_read_only(ranks[codes]), len(order))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Close an array that nobody else holds."""
    array.flags.writeable = False
    return array
