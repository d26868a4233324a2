"""Any layout of the same values, in Arrow or NumPy memory, is read as plain Python reads it."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from fastboot.columns import Column, Keys, Labels, load

# Derandomized: a red run means that the code changed.
layouts = settings(derandomize=True, deadline=None, max_examples=200)

INTEGERS = [getattr(pa, name)() for name in (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)]  # fmt: skip


def _integers(kind: pa.DataType) -> st.SearchStrategy[int]:
    bits = kind.bit_width - pa.types.is_signed_integer(kind)
    low = -(2**bits) if pa.types.is_signed_integer(kind) else 0
    return st.integers(max(low, -(2**53)), min(2**bits - 1, 2**53))


@st.composite
def numeric(draw: st.DrawFn) -> tuple[pa.DataType, list[Any]]:
    """A numeric type and values of it, some of them None."""
    kind = draw(st.sampled_from([
        *INTEGERS, pa.bool_(), pa.float16(), pa.float32(), pa.float64(),
        pa.decimal32(9, 3), pa.decimal64(15, 7), pa.decimal128(24, 9), pa.decimal256(40, 25),
    ]))  # fmt: skip
    if pa.types.is_boolean(kind):
        value: st.SearchStrategy[Any] = st.booleans()
    elif pa.types.is_integer(kind):
        value = _integers(kind)
    elif pa.types.is_floating(kind):
        value = st.floats(width=kind.bit_width, allow_infinity=False)
    else:
        digits = 10 ** min(kind.precision, 15)
        value = st.integers(-digits + 1, digits - 1).map(lambda n: Decimal(n).scaleb(-kind.scale))
    return kind, draw(st.lists(st.none() | value, min_size=1, max_size=30))


@st.composite
def discrete(draw: st.DrawFn) -> tuple[pa.DataType, list[Any]]:
    """A type for keys and values of it, often equal."""
    text = st.text("aäb𝄞 \0", max_size=2)
    kind, value = draw(st.sampled_from([
        *((kind, st.integers(0, 9)) for kind in INTEGERS),
        *((kind, text) for kind in (pa.string(), pa.large_string(), pa.string_view())),
        (pa.bool_(), st.booleans()),
        (pa.float64(), st.sampled_from([-1.5, -0.0, 0.0, 2.0])),
        (pa.date32(), st.dates(dt.date(1960, 1, 1), dt.date(1960, 1, 9))),
        (pa.binary(), st.binary(max_size=1)),
    ]))  # fmt: skip
    return kind, draw(st.lists(value, min_size=1, max_size=30))


@st.composite
def laid_out(draw: st.DrawFn, kind: pa.DataType, values: list[Any]) -> pa.ChunkedArray:
    """The values in chunks, each sliced from a longer array, dictionaries differing by chunk."""
    cuts = sorted(draw(st.lists(st.integers(0, len(values)), max_size=4)))
    as_dictionary = draw(st.booleans())
    chunks = []
    for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True):
        # Padding moves the bitmaps away from whole bytes; its nulls are outside the slice.
        before = draw(st.lists(st.none() | st.sampled_from(values), max_size=9))
        after = draw(st.lists(st.none() | st.sampled_from(values), max_size=2))
        array = _with_garbage([*before, *values[start:stop], *after], kind)
        array = _as_dictionary(draw, array) if as_dictionary else array
        chunks.append(array.slice(len(before), stop - start))
    return pa.chunked_array(chunks)


def _with_garbage(values: list[Any], kind: pa.DataType) -> pa.Array:
    """As pa.array, but with all bits set under nulls (NaN, -1 or the largest integer)."""
    array = pa.array(values, kind)
    if not pa.types.is_primitive(kind) or pa.types.is_boolean(kind) or array.null_count == 0:
        return array
    width = kind.bit_width // 8
    data = np.frombuffer(array.buffers()[1], np.uint8).copy()
    for row, value in enumerate(values):
        if value is None:
            data[row * width : (row + 1) * width] = 255
    return pa.Array.from_buffers(kind, len(array), [array.buffers()[0], pa.py_buffer(data)])


def _as_dictionary(draw: st.DrawFn, array: pa.Array) -> pa.Array:
    """Encode by a dictionary in any order, with entries that are unused or occur twice."""
    entries = draw(st.permutations([*range(len(array)), *range(len(array))]))
    dictionary = pa.array([array[row].as_py() for row in entries], array.type)
    valid = [row if array[row].is_valid else None for row in range(len(array))]
    indices = [None if row is None else entries.index(row) for row in valid]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), dictionary)


def _bytes(array: pa.ChunkedArray) -> list[bytes]:
    arrays = [
        part
        for chunk in array.chunks
        for part in ([chunk.indices, chunk.dictionary] if hasattr(chunk, "indices") else [chunk])
    ]
    return [buffer.to_pybytes() for part in arrays for buffer in part.buffers() if buffer]


@layouts
@given(st.data())
def test_load__numbers_in_any_arrow_layout(data: st.DataObject) -> None:
    """Numbers are Python's float of each value, NaN where it is missing."""
    kind, values = data.draw(numeric())
    array = data.draw(laid_out(kind, values))
    before = _bytes(array)
    (column,) = load([Column(array)], nan_policy="propagate").columns
    expected = [float("nan") if value is None else float(value) for value in values]
    assert isinstance(column, np.ndarray)
    assert np.array_equal(column, expected, equal_nan=True)
    assert column.dtype == np.float64
    assert column.flags.c_contiguous
    assert not column.flags.writeable
    assert _bytes(array) == before


@layouts
@given(st.data())
def test_load__omit_in_any_arrow_layout(data: st.DataObject) -> None:
    """What is left are the rows that miss nothing, in order."""
    kind, values = data.draw(numeric())
    values.append(1)  # so that a row is left
    if pa.types.is_decimal(kind):
        values[-1] = Decimal(1)
    elif pa.types.is_boolean(kind):
        values[-1] = True
    names = data.draw(
        st.lists(
            st.none() | st.sampled_from("xyz"), min_size=len(values) - 1, max_size=len(values) - 1
        )
    )
    columns = [
        Column(data.draw(laid_out(kind, values))),
        Column(data.draw(laid_out(pa.string(), [*names, "x"])), "label"),
    ]
    kept = [
        (float(value), name)
        for value, name in zip(values, [*names, "x"], strict=True)
        if value is not None and not math.isnan(value) and name is not None
    ]
    rows = load(columns, nan_policy="omit")
    number, label = rows.columns
    assert isinstance(number, np.ndarray)
    assert isinstance(label, Labels)
    codes, distinct = label
    assert list(zip(number.tolist(), [distinct[code] for code in codes], strict=True)) == kept
    assert distinct == tuple(dict.fromkeys(name for _, name in kept))
    assert (rows.n_rows, rows.n_dropped) == (len(kept), len(values) - len(kept))


@layouts
@given(st.data())
def test_load__keys_in_any_arrow_layout(data: st.DataObject) -> None:
    """A code is the place of the key among the sorted distinct keys."""
    kind, values = data.draw(discrete())
    array = data.draw(laid_out(kind, values))
    before = _bytes(array)
    (key,) = load([Column(array, "key")]).columns
    distinct = sorted(set(values))
    assert isinstance(key, Keys)
    assert key.codes.tolist() == [distinct.index(value) for value in values]
    assert key.n_groups == len(distinct)
    assert _bytes(array) == before


@layouts
@given(st.data())
def test_load__labels_in_any_arrow_layout(data: st.DataObject) -> None:
    """Labels stand in order of first appearance."""
    kind, values = data.draw(
        discrete().filter(lambda drawn: drawn[0] not in {pa.date32(), pa.binary()})
    )
    array = data.draw(laid_out(kind, values))
    before = _bytes(array)
    (label,) = load([Column(array, "label")]).columns
    assert isinstance(label, Labels)
    codes, distinct = label
    assert distinct == tuple(dict.fromkeys(values))
    assert [distinct[code] for code in codes] == values
    assert _bytes(array) == before


@layouts
@given(
    st.sampled_from(
        ["?", "i1", "u2", "<i4", ">i4", "<i8", ">u8", "<f2", "<f4", ">f4", "<f8", ">f8"]
    ),
    st.lists(st.integers(0, 1) | st.integers(0, 100), min_size=1, max_size=30),
    st.integers(-3, 3).filter(bool),
    st.integers(0, 7),
)
def test_load__numbers_in_any_numpy_layout(
    dtype: str, values: list[int], stride: int, offset: int
) -> None:
    """Byte order, stride, alignment and write flags do not matter."""
    expected = np.array(values).astype(dtype)
    size = expected.dtype.itemsize
    memory = np.zeros(offset + len(values) * abs(stride) * size, np.uint8)
    spread = memory[offset:].view(expected.dtype)[:: abs(stride)]
    array = spread if stride > 0 else spread[::-1]
    array[:] = expected
    array.flags.writeable = offset % 2 == 0
    before = memory.tobytes()
    (column,) = load([Column(array)]).columns
    assert isinstance(column, np.ndarray)
    assert column.tolist() == [float(value) for value in expected.tolist()]
    assert (column.flags.aligned, column.flags.c_contiguous) == (True, True)
    assert memory.tobytes() == before
