"""JSON lines, read by Python: pyarrow would first give every field of the file one type.

Logs of evaluations leave fields out, and hold fields that change their type. Fields that are
wanted may not: numbers stay numbers and strings strings.
"""

from __future__ import annotations

import bisect
import gzip
import itertools
import json
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from fastboot.blocks import BLOCK
from fastboot.sources.filters import Filter
from fastboot.sources.fragments import Fragment, Opened
from fastboot.sources.kinds import kind_of

__all__ = ["first_names", "json_rows", "open_json_lines"]

# JSON lines may leave a field out, so one line does not name them all; 1,000 do in ms.
_LINES_WITH_NAMES = 1_000


def json_rows(path: str) -> Generator[dict[str, Any]]:
    """Yield the rows of a file of JSON lines, or of one JSON array of objects."""
    opener: Callable[..., Any] = gzip.open if path.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig") as lines:
        is_array = lines.read(1) == "["
        lines.seek(0)
        rows = json.load(lines) if is_array else (json.loads(x) for x in lines if not x.isspace())
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict):
                raise ValueError(f"entry {number} is not a JSON object")  # noqa: TRY004 - a wrong file
            yield row


def first_names(path: str) -> list[str]:
    """Return the names of the fields in the first rows of a file."""
    return list(dict.fromkeys(name for row in _first_rows(path) for name in row))


def open_json_lines(path: str, schema: Any = None) -> Opened:
    """Open a file for the fields of its first rows, unless these are known."""
    place, shown = str(Path(path).absolute()), repr(path)
    unseen = f"names were not looked for in {shown} and behind it" if schema else ""
    if schema is None:
        rows = _first_rows(place)
        names = dict.fromkeys(name for row in rows for name in row)
        schema = pa.schema([(name, _type_of([row.get(name) for row in rows])) for name in names])
        if len(rows) == _LINES_WITH_NAMES:
            unseen = f"names were looked for in the first {len(rows):,} rows of {shown}"

    def cut(where: Filter | None) -> list[Fragment]:
        return [_JsonLines(shown, where, None, Path(place).stat().st_size, place)]

    advice = f"{unseen}; a field that comes later must be in a row before, if only as null"
    return Opened(
        f"data={shown}",
        schema,
        is_final=False,
        cut=cut,
        is_whole=False,
        unseen=advice if unseen else "",
    )


def _first_rows(path: str) -> list[dict[str, Any]]:
    with closing(json_rows(path)) as rows:
        return list(itertools.islice(rows, _LINES_WITH_NAMES))


@dataclass(frozen=True, eq=False)
class _JsonLines(Fragment):
    """All rows of a file.

    Attributes
    ----------
    path
        Of the file.
    """

    path: str

    def _read(self, columns: list[str]) -> Generator[Any]:
        before: dict[str, Any] = dict.fromkeys(columns, pa.null())
        first = 0
        with closing(json_rows(self.path)) as rows:
            while some := list(itertools.islice(rows, BLOCK)):
                arrays = []
                for name in columns:
                    values = [row.get(name) for row in some]
                    array = _array(values)
                    if array is None or not _goes_with(array.type, before[name]):
                        raise ValueError(_change(name, values, before[name], first))
                    if not pa.types.is_null(array.type):
                        before[name] = array.type
                    arrays.append(array)
                yield pa.RecordBatch.from_arrays(arrays, columns)
                first += len(some)


def _array(values: list[Any]) -> Any:
    """Return values as one Arrow array, None where they are of several kinds."""
    try:
        try:
            return pa.array(values)
        except OverflowError:  # of integers, one beyond int64
            return pa.array(values, pa.uint64())
        except pa.ArrowException:
            return pa.array(values, from_pandas=True)  # NaN among strings is null
    except (pa.ArrowException, OverflowError):
        return None


def _type_of(values: list[Any]) -> Any:
    array = _array(values)
    return pa.null() if array is None else array.type


def _goes_with(kind: Any, before: Any) -> bool:
    return kind_of(kind) is None or kind_of(before) in {None, kind_of(kind)}


def _change(name: str, values: list[Any], before: Any, first: int) -> str:
    """Say where a field changes its type: at the end of the shortest start that has two."""

    def changes(size: int) -> bool:
        array = _array(values[:size])
        return array is None or not _goes_with(array.type, before)

    row = bisect.bisect_left(range(1, len(values)), x=True, key=changes)
    value = values[row]
    has = f"column {name!r} has {value!r} in row {first + row:,}, which"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return f"{has} int64 cannot hold; write such numbers as strings"
    return f"{has} does not go with the values before; write values of one type"
