import datetime as dt
import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from numpy.typing import NDArray

from fastboot.columns import Column, Keys, Labels, load, names
from fastboot.files import open_table

NAN = float("nan")


def numbers(values: object, data: object = None, nan_policy: str = "raise") -> NDArray[np.float64]:
    """Return one number column."""
    (column,) = load([Column(values, "number", "a")], data, nan_policy).columns
    assert isinstance(column, np.ndarray)
    return column


def labels(values: object, data: object = None, nan_policy: str = "raise") -> Labels:
    """Return one label column."""
    (column,) = load([Column(values, "label", "gold")], data, nan_policy).columns
    assert isinstance(column, Labels)
    return column


def keys(values: object, data: object = None, nan_policy: str = "raise") -> Keys:
    """Return one key column."""
    (column,) = load([Column(values, "key", "groups")], data, nan_policy).columns
    assert isinstance(column, Keys)
    return column


def read(label: Labels) -> tuple[list[int], tuple[Any, ...]]:
    """Return labels in a form that compares."""
    codes, values = label
    return codes.tolist(), values


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a seeded generator."""
    return np.random.default_rng(20_240_117)


@pytest.fixture
def table() -> pa.Table:
    """Return a table with a column of every role and one that cannot be loaded."""
    return pa.table(
        {
            "nested": [[1], [2], [3]],
            "gold": pa.array(["yes", "no", "yes"]).dictionary_encode(),
            "score": [1.0, 0.5, 2.0],
            "doc.id": ["d2", "d1", "d2"],
        }
    )


WANTED = [Column("score", "number", "a"), Column("gold", "label"), Column("doc.id", "key")]


def assert_is_table(data: object) -> None:
    """Assert that `data` gives the rows of the fixture `table`."""
    rows = load(WANTED, data)
    score, gold, document = rows.columns
    assert isinstance(score, np.ndarray)
    assert isinstance(gold, Labels)
    assert isinstance(document, Keys)
    assert score.tolist() == [1.0, 0.5, 2.0]
    assert read(gold) == ([0, 1, 0], ("yes", "no"))
    assert (document.codes.tolist(), document.n_groups) == ([1, 0, 1], 2)
    assert (rows.n_rows, rows.n_dropped) == (3, 0)


# Normal form.

NUMBERS_IN: dict[str, Callable[[], Any]] = {
    "float64": lambda: np.array([3.0, 1.0, 2.0]),
    "float32": lambda: np.array([3.0, 1.0, 2.0], np.float32),
    "float16": lambda: np.array([3.0, 1.0, 2.0], np.float16),
    "longdouble": lambda: np.array([3.0, 1.0, 2.0], np.longdouble),
    "big endian": lambda: np.array([3.0, 1.0, 2.0], ">f8"),
    "big endian integers": lambda: np.array([3, 1, 2], ">i4"),
    "int8": lambda: np.array([3, 1, 2], np.int8),
    "uint64": lambda: np.array([3, 1, 2], np.uint64),
    "strided": lambda: np.array([3.0, 9.0, 1.0, 9.0, 2.0])[::2],
    "negative stride": lambda: np.array([2.0, 1.0, 3.0])[::-1],
    "unaligned": lambda: np.frombuffer(b"\0" + np.array([3.0, 1, 2]).tobytes(), "f8", offset=1),
    "field of records": lambda: np.array([(1, 3.0), (1, 1.0), (1, 2.0)], "i1,f8")["f1"],
    "objects": lambda: np.array([3, 1.0, np.float32(2)], object),
    "list": lambda: [3, 1.0, 2],
    "tuple": lambda: (3, 1, 2),
    "decimals": lambda: [Decimal(3), Decimal("1.0"), Decimal(2)],
    "masked, nothing masked": lambda: np.ma.array([3.0, 1.0, 2.0], mask=[False, False, False]),
    "arrow": lambda: pa.array([3.0, 1.0, 2.0]),
    "arrow float16": lambda: pa.array(np.array([3.0, 1.0, 2.0], np.float16)),
    "arrow sliced": lambda: pa.array([None, 9, 9, 3, 1, 2])[3:],
    "arrow chunked": lambda: pa.chunked_array([[3], [], [1, 2], []], pa.int8()),
    "arrow dictionary": lambda: pa.array([3, 1, 2]).dictionary_encode(),
    "arrow run ends": lambda: pa.RunEndEncodedArray.from_arrays([1, 2, 5], [3.0, 1.0, 2.0])[:3],
    "arrow decimal32": lambda: pa.array([Decimal(3), Decimal(1), Decimal(2)], pa.decimal32(9, 2)),
    "arrow decimal64": lambda: pa.array([Decimal(3), Decimal(1), Decimal(2)], pa.decimal64(18, 2)),
    "arrow decimal256": lambda: pa.array(
        [Decimal(3), Decimal(1), Decimal(2)], pa.decimal256(40, 8)
    ),
    "arrow extension": lambda: pa.ExtensionArray.from_storage(_Score(), pa.array([3.0, 1.0, 2.0])),
    "polars": lambda: pl.Series([3, 1, 2], dtype=pl.UInt16),
    "pandas": lambda: pd.Series([3.0, 1.0, 2.0], index=[7, 8, 9]),
    "pandas nullable": lambda: pd.Series([3, 1, 2], dtype="Int64"),
    "pandas arrow": lambda: pd.Series([3, 1, 2], dtype="int32[pyarrow]"),
    "pandas index": lambda: pd.Index([3, 1, 2]),
    "only __array__": lambda: _OnlyArray(np.array([3.0, 1.0, 2.0])),
    "only __arrow_c_array__": lambda: _OnlyArrowArray(pa.array([3.0, 1.0, 2.0])),
}


class _Score(pa.ExtensionType):  # type: ignore[misc] # pyarrow is untyped
    def __init__(self) -> None:
        super().__init__(pa.float64(), "fastboot.score")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


class _OnlyArray:
    """As series of pandas 2 with types of their own, and tensors."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


class _OnlyArrowArray:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.values.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize("kind", NUMBERS_IN)
def test_load__numbers_of_any_kind(kind: str) -> None:
    """Every kind of numbers has the same normal form."""
    column = numbers(NUMBERS_IN[kind]())
    assert column.tolist() == [3.0, 1.0, 2.0]
    assert type(column) is np.ndarray
    assert column.dtype == np.float64
    assert column.dtype.isnative
    assert column.flags.c_contiguous
    assert column.flags.aligned
    assert not column.flags.writeable


@pytest.mark.parametrize("wrap", [np.asarray, pa.array, pl.Series, pd.Series])
def test_load__clean_float64_is_not_copied(wrap: Callable[..., Any]) -> None:
    """Scores in NumPy, Arrow, polars and pandas are the same memory (case 48)."""
    values = np.array([0.25, 0.5, 1.0])
    source = wrap(values)
    column = numbers(source)
    exported = source.to_numpy() if hasattr(source, "to_numpy") else source
    assert np.shares_memory(column, exported)
    assert column.mean() == 1.75 / 3
    assert not column.flags.writeable


def test_load__chunks_that_are_empty_cost_no_copy() -> None:
    """A single chunk with rows is used where it is."""
    chunk = pa.array([0.25, 0.5])
    column = numbers(pa.chunked_array([chunk[:0], chunk, chunk[:0]]))
    assert np.shares_memory(column, chunk.to_numpy())


def test_load__caller_memory_stays_writeable() -> None:
    """The view is read-only, the caller's array is as it was."""
    values = np.array([1.0, 2.0])
    numbers(values)
    assert values.flags.writeable
    values[0] = 5.0
    assert values.tolist() == [5.0, 2.0]


def test_load__float32_is_summed_in_float64() -> None:
    """A running float32 sum stalls at 2**24, one of the loaded column does not (case 40)."""
    values = np.array([2**24 - 1, 1, 1, 1], np.float32)
    assert values.cumsum(dtype=np.float32)[-1] == 2**24
    assert numbers(values).cumsum()[-1] == 2**24 + 2


@pytest.mark.parametrize("scale", [3, 15, 20])
def test_load__decimals_are_rounded_correctly(scale: int, rng: np.random.Generator) -> None:
    """Each decimal becomes the float64 nearest to it, as Python's float does."""
    digits = rng.integers(-(10**15), 10**15, 2_000).tolist()
    values = [Decimal(one).scaleb(-scale) for one in digits]
    column = numbers(pa.array(values, pa.decimal128(38, scale)))
    assert column.tolist() == [float(value) for value in values]


def test_load__booleans_are_bits() -> None:
    """Bit-packed booleans equal bytes and floats, also from bit 3 on (case 53)."""
    a, b = [True, True, False], [False, True, False]
    assert (numbers(pa.array(a)) - numbers(pa.array(b))).mean() == 1 / 3
    twenty = [row % 3 == 0 for row in range(20)]
    expected = [float(value) for value in twenty[3:]]
    assert numbers(pa.array(twenty)[3:]).tolist() == expected
    assert numbers(pa.array(np.array(twenty, np.uint8))[3:]).tolist() == expected
    assert numbers(np.array(twenty)[3:]).tolist() == expected
    assert numbers(pl.Series(twenty)[3:]).tolist() == expected


@pytest.mark.parametrize("garbage", [np.inf, NAN, 1e300, -7.0])
def test_load__slots_under_nulls_are_never_read(garbage: float) -> None:
    """What lies under a null bit is undefined (case 52)."""
    values = np.array([1.0, garbage, 3.0])
    array = pa.array(values, mask=np.array([False, True, False]))
    assert np.array_equal(np.frombuffer(array.buffers()[1])[:3], values, equal_nan=True)
    rows = load([Column(array)], nan_policy="omit")
    assert isinstance(rows.columns[0], np.ndarray)
    assert rows.columns[0].tolist() == [1.0, 3.0]
    assert (rows.columns[0].mean(), rows.n_rows, rows.n_dropped) == (2.0, 2, 1)


def test_load__huge_integers_under_nulls_are_never_read() -> None:
    """An integer that float64 cannot hold does no harm under a null bit."""
    array = pa.array(np.array([1, 2**60 + 1]), mask=np.array([False, True]))
    assert numbers(array, nan_policy="omit").tolist() == [1.0]


# Labels.

LABELS_IN: dict[str, Callable[[], Any]] = {
    "list": lambda: ["b", "a", "b"],
    "numpy": lambda: np.array(["b", "a", "b"]),
    "numpy strided": lambda: np.array(["b", "x", "a", "x", "b"])[::2],
    "numpy big endian": lambda: np.array(["b", "a", "b"], ">U2"),
    "numpy strings": lambda: np.array(["b", "a", "b"], np.dtypes.StringDType()),
    "objects": lambda: np.array(["b", "a", "b"], object),
    "string": lambda: pa.array(["b", "a", "b"]),
    "large_string": lambda: pa.array(["b", "a", "b"], pa.large_string()),
    "string_view": lambda: pa.array(["b", "a", "b"], pa.string_view()),
    "dictionary": lambda: pa.DictionaryArray.from_arrays([1, 0, 1], ["a", "b"]),
    "dictionary of views": lambda: pa.DictionaryArray.from_arrays(
        [1, 0, 1], pa.array(["a", "b", "unused"], pa.string_view())
    ),
    "dictionary with duplicates": lambda: pa.DictionaryArray.from_arrays(
        [0, 1, 2], ["b", "a", "b"]
    ),
    "run ends": lambda: pa.RunEndEncodedArray.from_arrays([1, 2, 3], ["b", "a", "b"]),
    "chunked": lambda: pa.chunked_array([["b"], [], ["a", "b"]], pa.string()),
    "polars": lambda: pl.Series(["b", "a", "b"]),
    "polars categorical": lambda: pl.Series(["b", "a", "b"], dtype=pl.Categorical),
    "polars enum": lambda: pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b"])),
    "pandas": lambda: pd.Series(["b", "a", "b"]),
    "pandas objects": lambda: pd.Series(["b", "a", "b"], dtype=object),
    "pandas categorical": lambda: pd.Categorical(["b", "a", "b"]),
    "pandas categories": lambda: pd.Series(["b", "a", "b"], dtype="category"),
}


@pytest.mark.parametrize("kind", LABELS_IN)
def test_load__strings_of_any_kind(kind: str) -> None:
    """Every kind of strings gives the same labels, and the same keys (case 54)."""
    label = labels(LABELS_IN[kind]())
    assert read(label) == ([0, 1, 0], ("b", "a"))
    key = keys(LABELS_IN[kind]())
    assert (key.codes.tolist(), key.n_groups) == ([1, 0, 1], 2)
    for codes in (label.codes, key.codes):
        assert codes.dtype == np.int64
        assert not codes.flags.writeable


@pytest.mark.parametrize("values, expected", [
    (np.array([3, 1, 3], np.int8), (3, 1)),
    (pa.array([3, 1, 3], pa.uint64()), (3, 1)),
    (np.array([3, 1, 3], np.float32), (3.0, 1.0)),
    (pa.array([Decimal("3.0"), Decimal("1.0"), Decimal("3.0")]), (3, 1)),
    (np.array([True, False, True]), (True, False)),
    (pl.Series([3, 1, 3]), (3, 1)),
])  # fmt: skip
def test_load__labels_are_python_values(values: object, expected: tuple[Any, ...]) -> None:
    """Labels compare equal across the types that hold them."""
    codes, distinct = labels(values)
    assert codes.tolist() == [0, 1, 0]
    assert distinct == expected
    assert {type(value) for value in distinct} <= {str, int, float, bool}


def test_load__zero_has_one_label() -> None:
    """0.0 and -0.0 are equal, so they are one label and one key."""
    assert read(labels([0.0, -0.0])) == ([0, 0], (0.0,))
    assert keys([0.0, -0.0]).n_groups == 1


def test_load__labels_keep_large_integers() -> None:
    """An integer label never passes through float64 (case 52)."""
    values = pa.array([9_007_199_254_740_993, 9_007_199_254_740_992])
    _, distinct = labels(values)
    assert distinct == (9_007_199_254_740_993, 9_007_199_254_740_992)
    assert keys(values).codes.tolist() == [1, 0]


def test_load__labels_are_those_of_the_rows_left() -> None:
    """A label that occurs in dropped rows only is not among the values."""
    rows = load([Column([NAN, 1, 1]), Column(["x", "z", "y"], "label")], nan_policy="omit")
    label = rows.columns[1]
    assert isinstance(label, Labels)
    assert read(label) == ([0, 1], ("z", "y"))


# Nullable columns.


@pytest.mark.parametrize("nan_policy", ["raise", "omit", "propagate"])
@pytest.mark.parametrize("values, codes, distinct", [
    (["a", None, "b", "a"], [0, -1, 1, 0], ("a", "b")),
    (np.array(["a", NAN, "b", "a"], object), [0, -1, 1, 0], ("a", "b")),
    (pa.array([None, "x", None, "b", "x"])[1:], [0, -1, 1, 0], ("x", "b")),
    (pa.array([2, None, 1, 2]).dictionary_encode(), [0, -1, 1, 0], (2, 1)),
    (np.array([1.0, NAN, 0.0, -0.0]), [0, -1, 1, 1], (1.0, 0.0)),
    (pd.Series([True, None, False, True], dtype="boolean"), [0, -1, 1, 0], (True, False)),
    (pl.Series(["a", None, "b", "a"], dtype=pl.Categorical), [0, -1, 1, 0], ("a", "b")),
    ([None] * 4, [-1] * 4, ()),
    (np.full(4, NAN), [-1] * 4, ()),
])  # fmt: skip
def test_load__nullable_labels(
    values: object, codes: list[int], distinct: tuple[Any, ...], nan_policy: str
) -> None:
    """A null of a nullable column is kept as -1, whatever the policy, and is no label."""
    rows = load([Column(values, "label", nullable=True), Column([1, 2, 3, 4])], None, nan_policy)
    label = rows.columns[0]
    assert isinstance(label, Labels)
    assert read(label) == (codes, distinct)
    assert not label.codes.flags.writeable
    assert (rows.n_rows, rows.n_dropped) == (4, 0)


@pytest.mark.parametrize("nan_policy", ["raise", "omit", "propagate"])
@pytest.mark.parametrize(
    "values", [[1, None, 0], [1.0, NAN, 0.0], pa.array([True, None, False]), [None] * 3]
)
def test_load__nullable_numbers(values: Any, nan_policy: str) -> None:
    """A null of a nullable column is kept as NaN, whatever the policy."""
    (column,) = load([Column(values, nullable=True)], None, nan_policy).columns
    assert isinstance(column, np.ndarray)
    expected = [1.0, NAN, 0.0] if values[0] is not None else [NAN] * 3
    assert np.array_equal(column, expected, equal_nan=True)


def test_load__nullable_beside_others() -> None:
    """Other columns drop rows of a nullable one, which may be asked for in both ways."""
    table = {"gold": ["x", None, "y"], "score": [NAN, 1, 2]}
    columns = [Column("gold", "label", nullable=True), Column("score")]
    rows = load(columns, table, nan_policy="omit")
    assert isinstance(rows.columns[0], Labels)
    assert read(rows.columns[0]) == ([-1, 0], ("y",))
    assert rows.n_dropped == 1
    rows = load([*columns, Column("gold", "label")], table, nan_policy="omit")
    assert isinstance(rows.columns[0], Labels)
    assert isinstance(rows.columns[2], Labels)
    assert read(rows.columns[0]) == read(rows.columns[2]) == ([0], ("y",))
    with pytest.raises(ValueError, match=re.escape("`a` (column 'gold') has 1 null")):
        load([columns[0], Column("gold", "label", "a")], table)


def test_load__nullable_refuses_the_rest() -> None:
    """Infinite values, lists as labels and missing keys are refused as ever."""
    with pytest.raises(ValueError, match=re.escape("`values` has 1 infinite value")):
        load([Column([1.0, NAN, np.inf], nullable=True)])
    with pytest.raises(TypeError, match="a label must be a string"):
        load([Column([["a"], None], "label", nullable=True)])
    with pytest.raises(ValueError, match="drop those rows or give them a group of their own"):
        load([Column(["a", None], "key", "groups", nullable=True)])


# Keys.


def test_load__keys_beyond_int64_beside_small_ones() -> None:
    """As a list, an array of objects, or with a mask."""
    ids = [2**64 - 1, 2**63, 5, 2**64 - 1]
    for values in (ids, tuple(ids), np.array(ids, object), pd.Series(ids, dtype=object)):
        assert keys(values).codes.tolist() == [2, 1, 0, 2]
    assert keys([5, 2**63 + 2**20, 2**63 + 1, 5]).codes.tolist() == [0, 2, 1, 0]


def test_load__keys_with_a_dictionary_per_chunk() -> None:
    """The same index means different groups in different chunks (case 50)."""
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]).dictionary_encode()]
    key = keys(pa.chunked_array(chunks))
    assert (key.codes.tolist(), key.n_groups) == ([0, 1, 1, 2], 3)


def test_load__keys_beyond_the_index_type() -> None:
    """200 one-row chunks with int8 indices hold 200 groups (case 50)."""
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), [f"{group:03}"])
        for group in range(200)
    ]
    key = keys(pa.chunked_array(chunks))
    assert (key.codes.tolist(), key.n_groups) == (list(range(200)), 200)


@pytest.mark.parametrize("type_a", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("type_b", ["string", "large_string", "string_view", "dictionary"])
def test_load__keys_align_across_string_types(type_a: str, type_b: str) -> None:
    """Equal ids have equal codes whatever holds them (case 54)."""

    def ids(values: list[str], kind: str) -> Any:
        array = pa.array(values)
        return array.dictionary_encode() if kind == "dictionary" else array.cast(kind)

    a = dict(zip(keys(ids(["q1", "q2"], type_a)).codes.tolist(), [1, 2], strict=True))
    b = dict(zip(keys(ids(["q2", "q1"], type_b)).codes.tolist(), [3, 4], strict=True))
    assert [[a[code], b[code]] for code in sorted(a)] == [[1, 4], [2, 3]]


KEYS_IN: dict[str, Callable[[], Any]] = {
    "integers": lambda: [10, 9, 10],
    "big endian": lambda: np.array([10, 9, 10], ">i8"),
    "booleans": lambda: [True, False, True],
    "floats": lambda: [0.5, -1.5, 0.5],
    "bytes": lambda: [b"b", b"a", b"b"],
    "numpy bytes": lambda: np.array([b"b", b"a", b"b"]),
    "binary_view": lambda: pa.array([b"b", b"a", b"b"], pa.binary_view()),
    "fixed_size_binary": lambda: pa.array([b"bb", b"aa", b"bb"], pa.binary(2)),
    "dates": lambda: [dt.date(2024, 2, 1), dt.date(2024, 1, 1), dt.date(2024, 2, 1)],
    "datetime64 of months": lambda: np.array(["2024-02", "2024-01", "2024-02"], "M8[M]"),
    "datetime64 of ns": lambda: np.array(["2024-02", "2024-01", "2024-02"], "M8[ns]"),
    "timestamps": lambda: pd.Series(pd.to_datetime(["2024-02", "2024-01", "2024-02"], utc=True)),
    "times": lambda: [dt.time(2), dt.time(1), dt.time(2)],
    "durations": lambda: np.array([2, 1, 2], "m8[s]"),
    "decimals": lambda: [Decimal("2.50"), Decimal("1.5"), Decimal("2.5")],
    "decimal32": lambda: pa.array([Decimal(2), Decimal(1), Decimal(2)], pa.decimal32(9, 2)),
    "decimals beyond 2**53": lambda: [Decimal(10**20 + 1), Decimal(10**20), Decimal(10**20 + 1)],
    "pandas periods": lambda: pd.Series(
        pd.PeriodIndex(["2024-02", "2024-01", "2024-02"], freq="M")
    ),
    "polars dates": lambda: pl.Series([dt.date(2024, 2, 1), dt.date(2024, 1, 1)] * 2)[:3],
}


@pytest.mark.parametrize("kind", KEYS_IN)
def test_load__keys_of_any_kind(kind: str) -> None:
    """Codes follow the sorted keys."""
    key = keys(KEYS_IN[kind]())
    assert (key.codes.tolist(), key.n_groups) == ([1, 0, 1], 2)


def test_load__keys_do_not_depend_on_row_order(rng: np.random.Generator) -> None:
    """Permuted keys have permuted codes."""
    values = rng.integers(0, 50, 500)
    order = rng.permutation(500)
    assert np.array_equal(keys(values).codes[order], keys(values[order]).codes)


def test_load__keys_left_over_have_dense_codes() -> None:
    """A group whose rows are all dropped leaves no gap."""
    rows = load([Column([1, None, 1]), Column(["a", "b", "c"], "key")], nan_policy="omit")
    key = rows.columns[1]
    assert isinstance(key, Keys)
    assert (key.codes.tolist(), key.n_groups) == ([0, 1], 2)


# Missing values.


def test_load__omit_drops_a_row_from_every_column() -> None:
    """A row is dropped once, whoever misses it."""
    columns = [
        Column([1, None, 3, 4, NAN]),
        Column(pa.array([1, 2, None, 4, None])),
        Column(["x", "y", "y", "x", "x"], "label"),
    ]
    rows = load(columns, nan_policy="omit")
    a, b, gold = rows.columns
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    assert isinstance(gold, Labels)
    assert (a.tolist(), b.tolist(), gold.codes.tolist()) == ([1.0, 4.0], [1.0, 4.0], [0, 0])
    assert (rows.n_rows, rows.n_dropped) == (2, 3)
    assert not a.flags.writeable


def test_load__omit_without_missing_values_copies_nothing() -> None:
    """The policy costs nothing where nothing is missing."""
    values = np.array([1.0, 2.0])
    rows = load([Column(values)], nan_policy="omit")
    assert isinstance(rows.columns[0], np.ndarray)
    assert np.shares_memory(rows.columns[0], values)
    assert rows.n_dropped == 0


def test_load__propagate_keeps_every_row() -> None:
    """Nulls become NaN when asked for (case 37: never silently)."""
    rows = load([Column([1, None, NAN])], nan_policy="propagate")
    assert isinstance(rows.columns[0], np.ndarray)
    assert np.array_equal(rows.columns[0], [1.0, NAN, NAN], equal_nan=True)
    assert (rows.n_rows, rows.n_dropped) == (3, 0)


MISSING_IN: dict[str, Callable[[], Any]] = {
    "list": lambda: [1.0, None, NAN],
    "objects": lambda: np.array([1.0, None, NAN], object),
    "arrow": lambda: pa.array([1.0, None, NAN]),
    "dictionary": lambda: pa.DictionaryArray.from_arrays([0, None, 1], pa.array([1.0, NAN])),
    "null in dictionary": lambda: pa.DictionaryArray.from_arrays(
        [0, 1, 2], pa.array([1, None, NAN])
    ),
    "polars": lambda: pl.Series([1.0, None, NAN]),
    "masked": lambda: np.ma.array([1.0, 2.0, NAN], mask=[False, True, False]),
}


@pytest.mark.parametrize("role", ["number", "label"])
@pytest.mark.parametrize("kind", MISSING_IN)
def test_load__nulls_and_nan_are_counted_apart(kind: str, role: Any) -> None:
    """The message says how many of each, and where to look."""
    message = (
        '`a` has 1 null and 1 NaN (first at row 1); pass nan_policy="omit" to drop those rows, '
        "or fill them."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        load([Column(MISSING_IN[kind](), role, "a")])


# Refusals: the argument, the column, the count and first row, the rule.

HUGE = 2**53 + 1
NUMBER_RULE = "a score must be a number."
LABEL_RULE = "a label must be a string, an integer, a boolean or a finite number."
KEY_RULE = "a key must be a string, a number, a boolean, a date or time, or bytes."
DROP = 'pass nan_policy="omit" to drop those rows, or fill them.'
GROUP = "drop those rows or give them a group of their own."
FINITE = "replace or drop what is not finite."
EXACT = "beyond 2**53, where float64 would change it; subtract or divide first."


@pytest.mark.parametrize("role, values, error, message", [
    ("number", [1.0, 2.0, np.inf], ValueError,
     f"`x` has 1 infinite value (first at row 2); {FINITE}"),
    ("number", np.array([NAN, -np.inf, np.inf]), ValueError,
     f"`x` has 2 infinite values (first at row 1); {FINITE}"),
    ("number", [NAN, NAN], ValueError, f"`x` has 2 NaN (first at row 0); {DROP}"),
    ("number", [1, None, None], ValueError, f"`x` has 2 nulls (first at row 1); {DROP}"),
    ("number", pa.nulls(3), ValueError, f"`x` has 3 nulls (first at row 0); {DROP}"),
    ("number", pd.Series([1, None], dtype="Int64"), ValueError,
     f"`x` has 1 null (first at row 1); {DROP}"),
    ("number", pd.Series([1, None]), ValueError, f"`x` has 1 NaN (first at row 1); {DROP}"),
    ("number", np.array([0, HUGE]), ValueError, f"`x` has {HUGE} at row 1, {EXACT}"),
    ("number", np.array([-HUGE]), ValueError, f"`x` has {-HUGE} at row 0, {EXACT}"),
    ("number", np.array([2**63 + 1], np.uint64), ValueError,
     f"`x` has {2**63 + 1} at row 0, {EXACT}"),
    ("number", pa.array([None, HUGE]), ValueError, f"`x` has {HUGE} at row 1, {EXACT}"),
    ("number", [0.5, HUGE], ValueError, f"`x` has {HUGE} at row 1, {EXACT}"),
    ("number", [1, 2**70], ValueError, f"`x` has {2**70} at row 1, {EXACT}"),
    ("number", [Decimal(HUGE)], ValueError, f"`x` has {HUGE} at row 0, {EXACT}"),
    ("number", [Decimal("9007199254740992.5")], ValueError,
     f"`x` has 9007199254740992.5 at row 0, {EXACT}"),
    ("number", ["1", "2"], TypeError, f"`x` holds strings; {NUMBER_RULE}"),
    ("number", pl.Series(["1"], dtype=pl.Categorical), TypeError,
     f"`x` holds strings; {NUMBER_RULE}"),
    ("number", np.array(["2024"], "M8[D]"), TypeError,
     f"`x` holds values of type date32[day]; {NUMBER_RULE}"),
    ("number", pa.array([[1.0]]), TypeError,
     f"`x` holds values of type list<item: double>; {NUMBER_RULE}"),
    ("number", pa.array([{"y": 1}]), TypeError,
     f"`x` holds values of type struct<y: int64>; {NUMBER_RULE}"),
    ("number", pd.DataFrame({"y": [1]}), TypeError,
     f"`x` holds values of type struct<y: int64>; {NUMBER_RULE}"),
    ("number", np.zeros((3, 2)), ValueError, "`x` has shape (3, 2); give one dimension"),
    ("number", np.float64(1), ValueError, "`x` has shape (); give one dimension"),
    ("number", [], ValueError, "`x` is empty; give at least one row."),
    ("key", np.array([]), ValueError, "`x` is empty; give at least one row."),
    ("label", pa.chunked_array([], pa.string()), ValueError,
     "`x` is empty; give at least one row."),
    ("number", 3.0, TypeError, "`x` is a float; give the name of a column of data="),
    ("number", None, TypeError, "`x` is a NoneType; give the name of a column of data="),
    ("number", b"abc", TypeError, "`x` is a bytes; give the name of a column of data="),
    ("number", {1.0, 2.0}, TypeError, "`x` is a set; give the name of a column of data="),
    ("number", np.array([1j]), TypeError, "`x` cannot be read: "),
    ("number", pl.Series([1], dtype=pl.Int128), TypeError, "`x` cannot be read: "),
    ("number", [True, 2], TypeError, "`x` cannot be read as one column: "),
    ("label", ["y", 2], TypeError, "`x` cannot be read as one column: "),
    ("key", pl.Series([object()], dtype=pl.Object), TypeError,
     "`x` cannot be read as one column: "),
    ("key", [-1, 2**63], TypeError,
     ("`x` cannot be read as one column: it has integers that 64 bits do not hold, or not beside "
      "those below 0; write them as strings")),
    ("key", [5, 2**64], TypeError, "`x` cannot be read as one column: it has integers that 64 bit"),
    ("number", [5, 2**63], ValueError, f"`x` has {2**63} at row 1, {EXACT}"),
    ("label", ["y", None], ValueError, f"`x` has 1 null (first at row 1); {DROP}"),
    ("label", ["y", NAN], ValueError, f"`x` has 1 null (first at row 1); {DROP}"),
    ("label", [1.5, np.inf], ValueError, f"`x` has 1 infinite value (first at row 1); {FINITE}"),
    ("label", [b"y"], TypeError, f"`x` holds values of type large_binary; {LABEL_RULE}"),
    ("label", [dt.date(2024, 1, 1)], TypeError,
     f"`x` holds values of type date32[day]; {LABEL_RULE}"),
    ("key", ["y", None, None, None], ValueError, f"`x` has 3 nulls (first at row 1); {GROUP}"),
    ("key", [1.5, NAN], ValueError, f"`x` has 1 NaN (first at row 1); {GROUP}"),
    ("key", np.array(["2024", "NaT"], "M8[D]"), ValueError,
     f"`x` has 1 null (first at row 1); {GROUP}"),
    ("key", [1.5, np.inf], ValueError, f"`x` has 1 infinite value (first at row 1); {FINITE}"),
    ("key", [(1, 2)], TypeError, f"`x` holds values of type list<item: int64>; {KEY_RULE}"),
    ("key", pa.nulls(1, pa.month_day_nano_interval()), TypeError,
     f"`x` holds values of type month_day_nano_interval; {KEY_RULE}"),
])  # fmt: skip
def test_load__refuses(role: Any, values: object, error: type[Exception], message: str) -> None:
    """Each refusal names what is wrong, where, and what to do."""
    with pytest.raises(error, match="^" + re.escape(message)):
        load([Column(values, role, "x")])
    if not isinstance(values, pd.DataFrame):
        named = message.replace("`x`", "`x` (column 'y')", 1)
        with pytest.raises(error, match="^" + re.escape(named)):
            load([Column("y", role, "x")], {"y": values})


@pytest.mark.parametrize("policy", ["raise", "omit", "propagate"])
def test_load__refuses_missing_keys_under_any_policy(policy: str) -> None:
    """A row without a group belongs to no unit."""
    with pytest.raises(
        ValueError, match=re.escape(f"`groups` has 1 null (first at row 1); {GROUP}")
    ):
        keys(["a", None], nan_policy=policy)


@pytest.mark.parametrize("policy", ["raise", "omit", "propagate"])
def test_load__refuses_infinite_values_under_any_policy(policy: str) -> None:
    """Infinite is not missing, even in a row that is dropped (case 37)."""
    with pytest.raises(ValueError, match=re.escape("`a` has 1 infinite value (first at row 1)")):
        load([Column([1, None]), Column([1.0, np.inf], argument="a")], nan_policy=policy)


def test_load__refuses_to_propagate_a_missing_label() -> None:
    """NaN is no label."""
    message = (
        '`gold` has 1 null (first at row 0); a label cannot be NaN: pass nan_policy="omit" to '
        "drop it."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        labels([None, "y"], nan_policy="propagate")


def test_load__refuses_an_unknown_policy() -> None:
    """The three policies are named."""
    message = 'nan_policy=\'drop\'; choose "raise", "omit" or "propagate".'
    with pytest.raises(ValueError, match=re.escape(message)):
        numbers([1], nan_policy="drop")


def test_load__refuses_to_omit_every_row() -> None:
    """No rows left is an error, not an empty answer (case 37)."""
    message = "no rows left: all 2 rows have a missing value in `a`, `b` (column 'y')."
    columns = [Column([1, NAN], argument="a"), Column("y", argument="b"), Column([1, 2])]
    with pytest.raises(ValueError, match=re.escape(message)):
        load(columns, {"y": [None, 1]}, nan_policy="omit")


def test_load__refuses_columns_of_different_lengths() -> None:
    """Both lengths are shown."""
    message = "`a` has 1,200 rows but `b` has 1,199; all columns need one row per item."
    with pytest.raises(ValueError, match=re.escape(message)):
        load([Column(np.zeros(1200), argument="a"), Column(np.zeros(1199), argument="b")])


def test_load__finite_values_may_sum_to_infinity() -> None:
    """The quick check by one sum has no false alarms."""
    values = [1e308, 1e308, -1e308]
    assert numbers(values).tolist() == values


def test_load__integers_up_to_2_to_the_53_are_exact() -> None:
    """2**53 itself survives."""
    assert numbers(np.array([2**53, -(2**53)])).tolist() == [2.0**53, -(2.0**53)]


# Data.


@pytest.mark.parametrize("kind", [
    "table", "batch", "reader", "dataset", "polars", "pandas", "duckdb", "mapping", "device array",
])  # fmt: skip
def test_load__data_of_any_kind(kind: str, table: pa.Table, tmp_path: Path) -> None:
    """Every kind of table gives the same rows; other columns may hold anything."""
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
    data = {
        "table": lambda: table,
        "batch": lambda: table.to_batches()[0],
        "reader": table.to_reader,
        "dataset": lambda: pyarrow.dataset.dataset(tmp_path / "table.parquet"),
        "polars": lambda: pl.DataFrame(table).with_columns(
            o=pl.Series([1, "x", b""], dtype=pl.Object)
        ),
        "pandas": lambda: table.to_pandas().assign(mixed=[1, "x", object()]),
        "duckdb": lambda: duckdb.from_arrow(table),
        "mapping": lambda: dict(zip(table.column_names, table.columns, strict=True)),
        "device array": lambda: _OnlyArrowArray(table.to_batches()[0]),
    }[kind]()
    assert names(data)[:4] == ["nested", "gold", "score", "doc.id"]
    assert_is_table(data)


def test_load__names_and_arrays_may_be_mixed(table: pa.Table) -> None:
    """Arrays stand beside the columns of data."""
    rows = load([Column("score"), Column([1, 2, 3])], table)
    assert len(rows.columns) == 2
    with pytest.raises(
        ValueError, match=re.escape("`a` (column 'score') has 3 rows but `b` has 2")
    ):
        load([Column("score", argument="a"), Column([1, 2], argument="b")], table)


def test_load__mapping_of_mixed_arrays() -> None:
    """The columns of a mapping need not be of one library."""
    data = {"score": np.array([1, 0.5, 2]), "gold": pl.Series(["yes", "no", "yes"]),
            "doc.id": pd.Series(["d2", "d1", "d2"])}  # fmt: skip
    assert_is_table(data)


def test_load__source_is_read_once() -> None:
    """The same object or name, asked for twice, is exported once."""

    class Once:
        n_exports = 0

        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            self.n_exports += 1
            return pa.chunked_array([[1, 2, 1]]).__arrow_c_stream__(requested_schema)

    source = Once()
    columns = [Column(source), Column(source, argument="b"), Column(source, "label")]
    first, second, label = load(columns).columns
    assert source.n_exports == 1
    assert first is second
    assert isinstance(label, Labels)
    assert read(label) == ([0, 1, 0], (1, 2))
    named = load([Column("y"), Column("y", "key")], {"y": source}).columns
    assert len(named) == 2
    assert source.n_exports == 2


def test_load__stream_keeps_only_the_columns_asked_for() -> None:
    """Batches give up the other columns as they pass, so their memory is freed."""
    schema = pa.schema({"score": pa.float64(), "text": pa.string()})
    before = pa.total_allocated_bytes()
    held = []

    def batches() -> Any:
        for _ in range(8):
            held.append(pa.total_allocated_bytes() - before)
            yield pa.record_batch([np.ones(10), ["x" * 10_000] * 10], schema=schema)

    numbers("score", pa.RecordBatchReader.from_batches(schema, batches()))
    # One batch of text is 100 kB; two may be alive while one is replaced by the next.
    assert max(held) < 300_000


@pytest.mark.parametrize("data, shown", [(3, "int"), (np.zeros(3), "ndarray"), ([1], "list")])
def test_load__refuses_data_that_is_no_table(data: object, shown: str) -> None:
    """What would do is named."""
    with pytest.raises(TypeError, match=f"`data` is a {shown}; give an Arrow table, .* or a path"):
        numbers("y", data)


def test_load__refuses_a_name_without_data() -> None:
    """A name needs a table."""
    message = "`a` names the column 'x' but no data= was given; give it, or the values themselves."
    with pytest.raises(ValueError, match=re.escape(message)):
        numbers("x")


def test_load__refuses_an_unknown_column_and_lists_near_names_first() -> None:
    """The likely name is the first one."""
    message = "`a`: no column 'pred_x' in data; there are: pred_a, gold, text."
    with pytest.raises(ValueError, match=re.escape(message)):
        numbers("pred_x", {"gold": [1], "text": [1], "pred_a": [1]})


def test_load__lists_at_most_20_names() -> None:
    """A wide table does not fill the screen."""
    data = {f"column {number}": [1] for number in range(1_300)}
    with pytest.raises(ValueError, match=r"there are: (column \d+, ){20}and 1,280 more\.$"):
        numbers("column", data)
    with pytest.raises(ValueError, match=r"no column 'x' in data; there are none\.$"):
        numbers("x", {})


def test_load__refuses_a_name_that_occurs_twice() -> None:
    """Nobody can say which column is meant."""
    data = pa.table([[1], [2]], names=["y", "y"])
    message = "`a` (column 'y') is one of 2 columns of that name; rename them."
    with pytest.raises(ValueError, match=re.escape(message)):
        numbers("y", data)
    frame = pd.DataFrame([[1, 2]], columns=["y", "y"])
    with pytest.raises(ValueError, match=re.escape(message)):
        numbers("y", frame)


def test_load__explains_a_stream_that_fails() -> None:
    """The error of the source is the cause of one plain sentence."""

    class Failing:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            def batches() -> Any:
                yield pa.record_batch({"y": [1.0]})
                raise OSError("lost")

            reader = pa.RecordBatchReader.from_batches(pa.schema({"y": pa.float64()}), batches())
            return reader.__arrow_c_stream__(requested_schema)

    with pytest.raises(ValueError, match=r"^`data` cannot be read: .*lost[^\n]*$") as caught:
        numbers("y", Failing())
    assert caught.value.__cause__ is not None


# Files.


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table in the format of its suffix."""
    text = path.with_suffix("") if path.suffix == ".gz" else path
    rows = [{name: row[name] for name in table.column_names} for row in table.to_pylist()]
    flat = table.drop_columns("nested").to_pandas()
    if text.suffix in {".parquet", ".pq"}:
        pyarrow.parquet.write_table(table, path)
    elif text.suffix == ".feather":
        pyarrow.feather.write_feather(table, path)
    elif text.suffix in {".arrow", ".ipc"}:
        new = pa.ipc.new_file if text.suffix == ".arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table)
    elif text.suffix in {".csv", ".tsv"}:
        content = flat.to_csv(index=False, sep="," if text.suffix == ".csv" else "\t")
    elif text.suffix == ".json":
        content = json.dumps(rows, indent=1)
    else:
        content = "\n".join(map(json.dumps, rows)) + "\n\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content.encode()))
    elif text.suffix in {".csv", ".tsv", ".json", ".jsonl", ".ndjson"}:
        path.write_text(content, encoding="utf-8")


@pytest.mark.parametrize("suffix", [
    "parquet", "pq", "PARQUET", "arrow", "feather", "ipc", "csv", "tsv", "csv.gz", "tsv.gz",
    "jsonl", "ndjson", "json", "jsonl.gz", "json.gz",
])  # fmt: skip
def test_load__files(suffix: str, table: pa.Table, tmp_path: Path) -> None:
    """Every format gives the same rows, by str and by Path."""
    path = tmp_path / f"table.{suffix}"
    write_table(table, tmp_path / f"table.{suffix.lower()}")
    (tmp_path / f"table.{suffix.lower()}").rename(path)
    assert set(names(path)) >= {"gold", "score", "doc.id"}
    assert_is_table(path)
    assert_is_table(str(path))


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "csv", "jsonl"])
def test_load__file_may_be_removed_afterwards(suffix: str, table: pa.Table, tmp_path: Path) -> None:
    """Loaded columns do not look at the file any more."""
    path = tmp_path / f"table.{suffix}"
    write_table(table, path)
    column = numbers("score", path)
    path.write_bytes(bytes(path.stat().st_size))
    path.unlink()
    assert column.tolist() == [1.0, 0.5, 2.0]


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "ipc", "csv", "jsonl"])
def test_open_table__reads_no_other_column(suffix: str, table: pa.Table, tmp_path: Path) -> None:
    """Columns that nobody asked for stay in the file."""
    path = tmp_path / f"table.{suffix}"
    write_table(table, path)
    read = open_table(path).read(["score"])
    assert getattr(read, "column_names", list(read)) == ["score"]


def test_open_table__dataset_reads_no_other_column(table: pa.Table, tmp_path: Path) -> None:
    """A dataset is scanned for what is asked for."""
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
    read = open_table(pyarrow.dataset.dataset(tmp_path)).read(["score"])
    assert read.column_names == ["score"]


@pytest.mark.parametrize("name, text", [("x.csv", "y\n1\n"), ("x.jsonl", '{"y": 1}\n')])
def test_load__text_with_byte_order_mark(name: str, text: str, tmp_path: Path) -> None:
    """The mark that some editors write is no part of the first name."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8-sig")
    assert names(path) == ["y"]
    assert numbers("y", path).tolist() == [1.0]


def test_load__csv_with_line_ends_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line end inside quotes ends no row, wherever the file is cut into blocks."""
    monkeypatch.setattr("fastboot.files._CSV_BLOCK", 64)
    path = tmp_path / "table.csv"
    path.write_text("score,text\n" + '1,"one\ntwo\nthree"\n' * 50, encoding="utf-8")
    assert numbers("score", path).tolist() == [1.0] * 50


def test_load__refuses_a_string_as_values() -> None:
    """The letters of a string are not rows."""
    with pytest.raises(TypeError, match=re.escape("`groups` (column 'y') is a str; give the name")):
        keys("y", {"y": "abc"})


def test_load__csv_with_missing_values_and_long_text(tmp_path: Path) -> None:
    """Empty cells and NA are nulls, a quoted empty string is a label, quoted text may be long."""
    path = tmp_path / "table.csv"
    long_text = "line\n" * 500_000  # 2.5 MB: more than pyarrow's usual block
    path.write_text(
        f'score,gold,text\n1,"","{long_text}"\nNA,yes,x\n2.5,,x\n,no,x\n', encoding="utf-8"
    )
    message = "`a` (column 'score') has 2 nulls (first at row 1)"
    with pytest.raises(ValueError, match=re.escape(message)):
        numbers("score", path)
    message = "`gold` (column 'gold') has 1 null (first at row 2)"
    with pytest.raises(ValueError, match=re.escape(message)):
        labels("gold", path)
    rows = load([Column("score"), Column("gold", "label")], path, nan_policy="omit")
    gold = rows.columns[1]
    assert isinstance(gold, Labels)
    assert read(gold) == ([0], ("",))
    assert rows.n_dropped == 3


def test_load__json_lines_with_fields_that_vary(tmp_path: Path) -> None:
    """Absent fields are nulls; fields nobody asked for may change their type."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"meta": "x"}\n\n{"meta": {"y": 1}, "score": 1}\n{"score": NaN}\n')
    assert names(path) == ["meta", "score"]
    with pytest.raises(ValueError, match=re.escape("(column 'score') has 1 null and 1 NaN")):
        numbers("score", path)
    assert numbers("score", path, nan_policy="omit").tolist() == [1.0]


@pytest.mark.parametrize("name, content", [
    ("x.parquet", b"PAR1 but not really"),
    ("x.arrow", b"\x00\x01junk\xff\xff\xff\n"),
    ("x.arrow", b"ARROW1\x00\x00junk"),
    ("x.ipc", b""),
    ("x.csv", b""),
    ("x.csv", b"a,b\n1,2\n3,4,5\n"),
    ("x.csv.gz", b"not gzip"),
    ("x.jsonl", b'{"a": 1}\n{"a": '),
    ("x.jsonl", b"[1, 2]\n"),
    ("x.jsonl", b"\xff\xfe"),
    ("x.jsonl.gz", b"not gzip"),
    ("x.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 10, mtime=0)[:-9]),
])  # fmt: skip
def test_load__refuses_a_file_that_cannot_be_read(
    name: str, content: bytes, tmp_path: Path
) -> None:
    """The file is named in one line, the cause is kept."""
    path = tmp_path / name
    path.write_bytes(content)
    message = re.escape(f"data={str(path)!r} cannot be read: ") + r"[^\n]+$"
    with pytest.raises(ValueError, match=message) as caught:
        numbers("a", path)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.parquet.gz", "x.gz"])
def test_load__refuses_an_unknown_suffix(name: str) -> None:
    """The suffixes are listed."""
    message = (
        f"data='{name}' has no suffix that fastboot reads; there are: .parquet, .pq, .arrow, "
        ".feather, .ipc, .csv, .tsv, .jsonl, .ndjson, .json (text also as .gz)."
    )
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        numbers("a", name)


def test_load__refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The path is shown as it was given."""
    path = tmp_path / "nowhere.csv"
    message = f"data={str(path)!r}: there is no such file."
    with pytest.raises(FileNotFoundError, match="^" + re.escape(message)):
        numbers("a", path)


def test_import__is_light() -> None:
    """Importing the border loads none of the slow parts of pyarrow, and no data frames."""
    slow = ["pyarrow.compute", "pyarrow.parquet", "pyarrow.dataset", "pyarrow.csv", "pyarrow.json",
            "pandas", "polars", "scipy", "numba"]  # fmt: skip
    program = f"import sys, fastboot.columns; print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_load__leaves_pandas_alone() -> None:
    """Lists, NumPy arrays, Arrow columns and Parquet files are read without importing pandas."""
    code = """
import sys, numpy as np, pyarrow as pa, fastboot as fb
from fastboot.columns import Column, load
table = {"x": [0.5, 1.5], "y": np.array([1, 0]), "z": np.array([True, False])}
columns = [Column("x"), Column("y", "label"), Column("z", "label"), Column("y", "key")]
load(columns, table)
load([Column("spam", "label"), Column("logistic_probability"), Column("text", "key")],
     fb.example_path())
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
