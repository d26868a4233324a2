"""The border: columns of any table, or arrays of any kind, in one normal form.

Scores become read-only, contiguous float64; labels and keys become int64 codes. Arrow memory is
touched at the border only (`fastboot.files` finds the columns), so every kernel compiles once.

All values pass the same stages: read the source and check one plain array (`fastboot.plain`), drop
the rows with a missing value, encode. What is wrong is refused by name, count and first row
(counted from 0). Clean float64 passes without a copy; nothing is ever written to the caller's
memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastboot.arrow import from_numpy, is_null, slots
from fastboot.files import open_table
from fastboot.plain import Column, Plain, Source, counted, plain_of, read_values

__all__ = [
    "Column",
    "Keys",
    "Labels",
    "Rows",
    "Source",
    "check_named",
    "complete",
    "key_array",
    "load",
    "names",
]


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
    plain: dict[object, Plain] = {}
    asked = []
    for column in columns:
        source = column.source
        key = source if isinstance(source, str) else id(source)
        try:
            if key not in read:
                read[key] = read_values(
                    column, named[source] if isinstance(source, str) else source
                )
            form = key, column.role, column.nullable
            if form not in plain:
                plain[form] = plain_of(column, read[key])
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
    plain = plain_of(column, read_values(column, _read_named([column], data)[column.source]))
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
        [plain_of(column, read_values(column, named[column.source])) for column in columns], "omit"
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


# Drop: the same rows from every column.


def _common_length(plain: Sequence[Plain]) -> int:
    first = plain[0]
    for other in plain[1:]:
        if len(other.values) != len(first.values):
            raise ValueError(
                f"{first.column} has {counted(len(first.values), 'row')} but {other.column} has "
                f"{len(other.values):,}; all columns need one row per item."
            )
    return len(first.values)


def _incomplete(plain: Sequence[Plain], nan_policy: str) -> list[Plain]:
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


def _kept(plain: Sequence[Plain], nan_policy: str) -> NDArray[np.bool_] | None:
    """Mask of the rows to keep, None for all."""
    incomplete = _incomplete(plain, nan_policy)
    if nan_policy == "propagate" or not incomplete:
        return None
    kept: NDArray[np.bool_] = ~np.any([one.missing for one in incomplete], axis=0)
    if not kept.any():
        where = ", ".join(str(one.column) for one in incomplete)
        raise ValueError(f"no rows left: all {len(kept):,} rows have a missing value in {where}.")
    return kept


def _missing(one: Plain) -> str:
    n_nan = int(np.count_nonzero(one.missing)) - one.n_nulls
    counts = [counted(one.n_nulls, "null")] if one.n_nulls else []
    counts += [f"{n_nan:,} NaN"] if n_nan else []
    return f"{' and '.join(counts)} (first at row {one.missing.argmax():,})"


# Encode: what is left, as numbers.


def _encoded(plain: Plain, kept: NDArray[np.bool_] | None) -> NDArray[np.float64] | Labels | Keys:
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
