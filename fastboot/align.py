"""Pairing by id: two tables that share item ids become one, a row per item.

Part of the border: ids of any string or integer type become one type before they are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastboot.arrow import decoded, from_numpy, is_null, slots
from fastboot.files import open_table
from fastboot.rendering import count

__all__ = ["Aligned", "align"]

_MOST_IDS = 5  # in a message: enough to see what is wrong with them


@dataclass(frozen=True, eq=False, repr=False)
class Aligned:
    """Two tables as one. Give it to procedures as ``data``, or take its `table`.

    Attributes
    ----------
    table
        Arrow table with the ids, the other columns of the left table, and those of the right one.
        Rows stand in the order of the left table. Dictionaries and the like are decoded.
    n_dropped_left, n_dropped_right
        Rows of each table whose id the other does not have (``how="inner"``).
    """

    table: Any
    n_dropped_left: int
    n_dropped_right: int

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return (
            f"Aligned({self.table.num_rows:,} items, dropped {self.n_dropped_left:,} of left and "
            f"{self.n_dropped_right:,} of right: {', '.join(self.table.column_names)})"
        )


def align(
    left: object,
    right: object,
    *,
    on: str = "id",
    how: str = "raise",
    suffixes: tuple[str, str] = ("_left", "_right"),
) -> Aligned:
    """Pair the rows of two tables by item id.

    Parameters
    ----------
    left, right
        Tables, as ``data`` of :func:`bootstrap`; the order of their rows does not matter. All
        their columns are loaded.
    on
        Name of the column of ids in both: strings or integers, of any Arrow type, each id once.
    how
        What to do with an id that only one table has: "raise" a ValueError, or "inner" to drop and
        count the row.
    suffixes
        Added to the names of columns that are in both tables.

    Returns
    -------
    Aligned
        One table, and how many rows of each were dropped.

    Raises
    ------
    TypeError
        A table is not one; ids are neither strings nor integers, or not of one kind in both; a
        column cannot be read.
    ValueError
        An id is null, occurs twice in a table, or is in one table only; no id is in both; a column
        is unknown or of another length; two columns would have one name; a word is unknown.
    FileNotFoundError
        A table is the path of no file.

    Examples
    --------
    >>> import fastboot as fb
    >>> from fastboot.align import align
    >>> left = {"id": ["q1", "q2", "q3"], "score": [0.2, 0.5, 0.9]}
    >>> right = {"id": ["q3", "q1", "q2"], "score": [0.8, 0.1, 0.4]}
    >>> both = align(left, right)
    >>> both
    Aligned(3 items, dropped 0 of left and 0 of right: id, score_left, score_right)
    >>> fb.approximate_randomization("score_left", "score_right", data=both).pvalue
    0.25
    """
    _check(on, how, suffixes)
    columns = {"left": _columns("left", left, on), "right": _columns("right", right, on)}
    ids = [_ids(side, named[on], on) for side, named in columns.items()]
    _same_kind(ids, on)
    ids = [_unique(side, array, on) for side, array in zip(columns, _one_type(ids), strict=True)]
    place_left, place_right = _places(*ids), _places(*ids[::-1])
    if not (place_left >= 0).any():
        raise ValueError(
            f"no id of `left` is in `right`, which have {_shown(ids[0])} and {_shown(ids[1])} in "
            f"{on!r}"
        )
    if how == "raise":
        _refuse_unmatched(ids, (place_left < 0, place_right < 0), on)
    rows = np.flatnonzero(place_left >= 0)
    table = _joined(columns, on, suffixes, (rows, place_left[rows]))
    dropped = [int((place < 0).sum()) for place in (place_left, place_right)]
    return Aligned(table, *dropped)


def _check(on: Any, how: Any, suffixes: Any) -> None:
    if not isinstance(on, str):
        raise TypeError(f"`on` is {on!r}; give the name of the column of ids")
    if how not in ("raise", "inner"):  # no set: a list has no hash
        raise ValueError(f'how={how!r}; choose "raise" or "inner"')
    if not (
        isinstance(suffixes, tuple)
        and len(suffixes) == 2
        and all(isinstance(suffix, str) for suffix in suffixes)
    ):
        raise TypeError(f'`suffixes` is {suffixes!r}; give two strings, such as ("_a", "_b")')


def _columns(side: str, data: object, on: str) -> dict[str, Any]:
    """Return all columns of a table as plain Arrow arrays of one length."""
    with _naming(side):
        table = open_table(data)
        if on not in table.names:
            raise ValueError(f"`on`: no column {on!r} in `{side}`; {table.names_near(on)}")
        repeated = [name for name in table.names if table.names.count(name) > 1]
        if repeated:
            raise ValueError(
                f"`{side}` has {table.names.count(repeated[0])} columns called {repeated[0]!r}; "
                "rename them"
            )
        read = table.read(table.names)
    columns = {}
    for name in [on, *table.names]:
        if name not in columns:
            columns[name] = _array(side, name, read[name])
            if len(columns[name]) != len(columns[on]):
                raise ValueError(
                    f"`{side}` has {count(len(columns[on]), 'row')} in {on!r} but "
                    f"{len(columns[name]):,} in {name!r}; all columns need one row per item"
                )
    return columns


@contextmanager
def _naming(side: str) -> Iterator[None]:
    """Make messages about `data` be about `left` or `right`."""
    try:
        yield
    except (TypeError, ValueError, FileNotFoundError) as error:
        message = str(error)
        for ours, theirs in (
            (f"`{side}`", "`data`"),
            (f"{side}=", "data="),
            (f"`{side}` ", "data "),
        ):
            if message.startswith(theirs):
                message = ours + message.removeprefix(theirs)
        raise type(error)(message) from error


def _array(side: str, name: str, values: Any) -> Any:
    """Return a column as one plain Arrow array."""
    try:
        if isinstance(values, np.ndarray) and not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if hasattr(values, "__arrow_c_stream__"):
            values = pa.chunked_array(values)
        elif not isinstance(values, pa.Array):
            values = pa.array(values)
        return decoded(values) if len(values) else values
    except (pa.ArrowException, TypeError, OverflowError) as error:
        reason = str(error).partition("\n")[0]
        raise TypeError(f"`{side}` column {name!r} cannot be read: {reason}") from error


def _ids(side: str, array: Any, on: str) -> Any:
    if len(array) == 0:
        raise ValueError(f"`{side}` is empty; give at least one row")
    if array.null_count:
        null = is_null(array)
        raise ValueError(
            f"`{side}` has {count(array.null_count, 'null')} in {on!r} (first at row "
            f"{null.argmax():,}); every row needs an id"
        )
    if not (pa.types.is_large_string(array.type) or pa.types.is_integer(array.type)):
        raise TypeError(
            f"`{side}` has values of type {array.type} in {on!r}; an id must be a string or an "
            "integer"
        )
    return array


def _same_kind(ids: list[Any], on: str) -> None:
    words = ["integers" if pa.types.is_integer(array.type) else "strings" for array in ids]
    if words[0] != words[1]:
        raise TypeError(
            f"`left` has {words[0]} but `right` has {words[1]} in {on!r} (such as "
            f"{ids[0][0].as_py()!r} and {ids[1][0].as_py()!r}); ids must be of one kind"
        )


def _one_type(ids: list[Any]) -> list[Any]:
    """Return ids of one kind as one type that holds all of both."""
    if ids[0].type == ids[1].type:
        return ids
    unsigned = pa.uint64() in {array.type for array in ids}
    return [array.cast(pa.decimal128(20) if unsigned else pa.int64()) for array in ids]


def _unique(side: str, ids: Any, on: str) -> Any:
    encoded = ids.dictionary_encode()
    if len(encoded.dictionary) == len(ids):
        return ids
    codes = slots(encoded.indices, np.int32)
    counts = np.bincount(codes)
    repeated = np.flatnonzero(counts > 1)
    rows = np.flatnonzero(codes == repeated[0])
    raise ValueError(
        f"`{side}` has {count(len(repeated), 'id')} in several rows of {on!r}: "
        f"{_shown(encoded.dictionary.take(from_numpy(repeated)))} (rows {rows[0]:,} and "
        f"{rows[1]:,}); give one row per item"
    )


def _places(ids: Any, among: Any) -> NDArray[np.int64]:
    """Return the row of each id among others, -1 where it is not there."""
    from pyarrow import compute

    places = compute.index_in(ids, value_set=among)
    return np.where(is_null(places), -1, slots(places, np.int32)).astype(np.int64)


def _refuse_unmatched(
    ids: list[Any], unmatched: tuple[NDArray[np.bool_], NDArray[np.bool_]], on: str
) -> None:
    found = [
        f"{count(int(alone.sum()), 'id')} of `{side}` not in `{other}` "
        f"({_shown(array.filter(from_numpy(alone)))})"
        for side, other, array, alone in zip(
            ("left", "right"), ("right", "left"), ids, unmatched, strict=True
        )
        if alone.any()
    ]
    if found:
        raise ValueError(
            f'{" and ".join(found)} in {on!r}; pass how="inner" to drop and count them, or mend '
            "the ids"
        )


def _joined(
    columns: dict[str, dict[str, Any]],
    on: str,
    suffixes: tuple[str, str],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Any:
    """Return one table of these rows of both, the ids first."""
    taken = {on: columns["left"][on].take(from_numpy(rows[0]))}
    shared = columns["left"].keys() & columns["right"].keys()
    for side, suffix, places in zip(columns, suffixes, rows, strict=True):
        for name, values in columns[side].items():
            if name == on:
                continue
            called = name + suffix if name in shared else name
            if called in taken:
                raise ValueError(
                    f"two columns would be called {called!r} with suffixes={suffixes!r}; choose "
                    "other suffixes"
                )
            taken[called] = values.take(from_numpy(places))
    return pa.table(taken)


def _shown(ids: Any) -> str:
    few = [value.as_py() for value in ids[:_MOST_IDS]]
    shown = [repr(value) if isinstance(value, str) else str(value) for value in few]
    return ", ".join(shown + ["..."] * (len(ids) > _MOST_IDS))
