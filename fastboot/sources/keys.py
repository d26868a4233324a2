"""Keys of groups as strings of bytes, which can be hashed, sent and compared, and as Arrow arrays.

Rows of a group may lie in files whose columns differ in type. Equal keys have equal bits once they
are of one *kind*: integers are 64 bits wide, integers beside floats are floats, decimals have the
largest number of digits behind the point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastboot.arrow import from_numpy, slots

__all__ = ["KeyBytes", "as_kind", "common_kind", "from_bytes", "sorted_places", "to_bytes"]

Integers = NDArray[np.int64]


class KeyBytes(NamedTuple):
    """Keys, each a string of bytes.

    Attributes
    ----------
    kind
        Arrow type of the keys.
    starts
        Shape (n_keys + 1,), int64: key i has the bytes from starts[i] to starts[i + 1] - 1. None
        where all keys have as many.
    data
        Bytes, uint8.
    """

    kind: Any
    starts: Integers | None
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, kind: Any, starts: Integers, data: NDArray[np.uint8]) -> KeyBytes:
        """Return keys of any kind, without `starts` where all have as many bytes."""
        return cls(kind, None if _width(kind) else starts, data)

    @property
    def n_keys(self) -> int:
        """Number of keys."""
        return self.data.size // _width(self.kind) if self.starts is None else len(self.starts) - 1

    def part(self, first: int, last: int) -> tuple[Integers, NDArray[np.uint8]]:
        """Return where the keys `first` to `last` - 1 start, from 0 on, and their bytes."""
        if self.starts is None:
            edges = np.arange(first, last + 1) * _width(self.kind)
        else:
            edges = self.starts[first : last + 1]
        return edges - edges[0], self.data[edges[0] : edges[-1]]


def to_bytes(keys: Any) -> KeyBytes:
    """Return keys as strings of bytes.

    Parameters
    ----------
    keys
        What :func:`fastboot.columns.key_array` returns: a plain Arrow array without nulls.

    Examples
    --------
    >>> to_bytes(pa.array(["x", "yz"], pa.large_string())).data
    array([120, 121, 122], dtype=uint8)
    """
    kind = _normal(keys.type)
    keys = keys.cast(pa.uint8() if pa.types.is_boolean(kind) else kind)
    width = _width(kind)
    if width:
        data = np.frombuffer(keys.buffers()[1], np.uint8, len(keys) * width, keys.offset * width)
        return KeyBytes(kind, None, data)
    _, offsets, text = keys.buffers()
    starts = np.frombuffer(offsets, np.int64, len(keys) + 1, keys.offset * 8)
    return KeyBytes(kind, starts, np.frombuffer(text or b"", np.uint8))


def from_bytes(keys: KeyBytes) -> Any:
    """Return keys as an Arrow array."""
    kind, starts, data = keys
    if pa.types.is_boolean(kind):
        return from_numpy(data).cast(kind)
    buffers = [data] if starts is None else [starts, data]
    return pa.Array.from_buffers(kind, keys.n_keys, [None, *map(pa.py_buffer, buffers)])


def sorted_places(keys: Any) -> Integers:
    """Return the places of the keys of an Arrow array, in sorted order of the keys."""
    from pyarrow import compute

    return slots(compute.sort_indices(keys), np.uint64).view(np.int64)


def common_kind(first: Any, second: Any) -> Any:
    """Return the kind of keys of two kinds.

    Raises
    ------
    TypeError
        Keys of these kinds are never equal.

    Examples
    --------
    >>> common_kind(pa.int64(), pa.float64())
    DataType(double)
    """
    kinds = {first, second}
    if len(kinds) == 1:
        return first
    if kinds <= {pa.int64(), pa.uint64(), pa.float64()}:
        return pa.float64() if pa.float64() in kinds else pa.int64()
    if pa.types.is_decimal(first) and pa.types.is_decimal(second):
        return max(kinds, key=lambda kind: kind.scale)
    raise TypeError(
        f"`groups` is {first} in some rows of `data` and {second} in others; convert the column to "
        "one type."
    )


def as_kind(keys: KeyBytes, kind: Any) -> KeyBytes:
    """Return keys as those of another kind.

    Raises
    ------
    ValueError
        A key would change.
    """
    if keys.kind == kind:
        return keys
    try:
        return to_bytes(from_bytes(keys).cast(kind))
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"`groups` is {keys.kind} in some rows of `data`, and {kind}, as it is in others, "
            f"cannot hold all keys ({error}); convert the column to one type."
        ) from error


def _normal(kind: Any) -> Any:
    """Return the type that stands for all types of equal keys."""
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return pa.int64()
    return kind


def _width(kind: Any) -> int:
    """Bytes of each key, 0 where keys differ."""
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return 0
    return 1 if pa.types.is_boolean(kind) else int(kind.bit_width) // 8
