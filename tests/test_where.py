"""`where=` means the same in every procedure; `compare` in memory, in files and on executors."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import fastboot as fb
from fastboot import taking
from fastboot.blocks import BLOCK
from fastboot.files import filtered, open_table
from fastboot.plain import Column, plain_of
from fastboot.sources.opening import open_source

N_ROWS = 60
Call = Callable[..., Any]


def two_samples(procedure: Call) -> Call:
    """A procedure of two samples, of two columns of one table."""
    return lambda **options: procedure("x", "y", rng=0, n_resamples=99, **options)


CALLS: dict[str, Call] = {
    "bootstrap": lambda **options: fb.bootstrap("x", rng=0, n_resamples=99, **options),
    "paired_bootstrap": two_samples(fb.paired_bootstrap),
    "approximate_randomization": two_samples(fb.approximate_randomization),
    "unpaired_bootstrap": two_samples(fb.unpaired_bootstrap),
    "permutation_test": two_samples(fb.permutation_test),
    "compare": lambda **options: fb.compare({"x": "x", "y": "y"}, rng=0, n_resamples=99, **options),
    "compare, randomization": lambda **options: fb.compare(
        {"x": "x", "y": "y"}, test="randomization", rng=0, n_resamples=99, **options
    ),
    "paired_t_test": two_samples(fb.paired_t_test),
    "paired_t_test, no bootstrap": lambda **options: fb.paired_t_test(
        "x", "y", n_resamples=0, **options
    ),
}
every_call = pytest.mark.parametrize("name", CALLS)


def columns(n_rows: int = N_ROWS) -> dict[str, Any]:
    """Two scores, what to choose rows by, and groups."""
    rng = np.random.default_rng(1)
    return {
        "x": rng.normal(size=n_rows),
        "y": rng.normal(0.3, size=n_rows),
        "split": np.where(rng.random(n_rows) < 0.5, "dev", "test").tolist(),
        "fold": np.arange(n_rows) % 5,
        "user": np.arange(n_rows) // 3,
    }


def write(table: dict[str, Any], path: Path) -> Path:
    """The table as a file."""
    pq.write_table(pa.table(table), path)
    return path


def chosen(table: dict[str, Any], kept: Any) -> dict[str, Any]:
    """The rows of a table that are kept."""
    return {name: np.asarray(values)[kept] for name, values in table.items()}


def said(result: Any) -> dict[str, Any]:
    """What a result says, but not how long it took, how often it read files, and of which rows."""
    found = dict(result.to_dict())
    for own in (found, found.get("bootstrap")):
        for name in ("elapsed", "design", "signature"):
            if isinstance(own, dict):
                own.pop(name, None)
    found["notes"] = [note for note in found["notes"] if not note.startswith("`data` was read")]
    return found


def same(result: Any, other: Any) -> None:
    """Fail unless two results say the same and have the same replicates."""
    assert repr(said(result)) == repr(said(other))
    if isinstance(result, fb.Comparison):
        for board, twin in zip(result.boards, other.boards, strict=True):
            np.testing.assert_array_equal(board.replicates, twin.replicates)
    elif not isinstance(result, fb.PairedTTestResult):
        np.testing.assert_array_equal(result.replicates, other.replicates)


@every_call
@pytest.mark.parametrize(
    "where",
    [
        [("split", "==", "test"), ("fold", "<", 3)],
        (("split", "==", "test"), ("fold", "<", 3)),
        (pc.field("split") == "test") & (pc.field("fold") < 3),
    ],
    ids=["list", "tuple", "expression"],
)
def test_where__is_the_table_of_these_rows(name: str, where: Any, tmp_path: Path) -> None:
    """In memory, in a file and in a folder."""
    table = columns()
    kept = (np.array(table["split"]) == "test") & (table["fold"] < 3)
    expected = CALLS[name](data=chosen(table, kept))
    path = write(table, tmp_path / "table.parquet")

    for data in (table, pa.table(table), path, tmp_path):
        same(CALLS[name](data=data, where=where), expected)


@pytest.mark.parametrize("procedure", [fb.unpaired_bootstrap, fb.permutation_test])
def test_where__two_samples_of_one_table(procedure: Call, tmp_path: Path) -> None:
    """A tuple has a filter for each sample; None keeps all rows of one."""
    table = columns()
    test = np.array(table["split"]) == "test"
    path = write(table, tmp_path / "table.parquet")
    filters = [("split", "==", "test")], pc.field("split") == "dev"
    options: dict[str, Any] = {"groups": "user", "n_resamples": 99, "rng": 0}

    expected = procedure("x", "x", data=(chosen(table, test), chosen(table, ~test)), **options)
    assert (expected.n_rows_a, expected.n_rows_b) == (test.sum(), (~test).sum())
    for data in (table, path):
        same(procedure("x", "x", data=data, where=filters, **options), expected)
    one_sided = procedure("x", "x", data=(path, table), where=(filters[0], None), **options)
    same(one_sided, procedure("x", "x", data=(chosen(table, test), table), **options))


def test_where__statistics_groups_and_weights(tmp_path: Path) -> None:
    """Every column that is asked for loses the same rows."""
    table = columns() | {"weight": np.arange(N_ROWS) % 4, "domain": np.arange(N_ROWS) // 30}
    path = write(table, tmp_path / "table.parquet")
    kept = table["fold"] != 1
    options: dict[str, Any] = {
        "groups": "user", "strata": "domain", "weights": "weight", "n_resamples": 99, "rng": 0,
    }  # fmt: skip

    for procedure in (fb.paired_bootstrap, fb.unpaired_bootstrap):
        same(
            procedure("x", "y", data=path, where=[("fold", "!=", 1)], **options),
            procedure("x", "y", data=chosen(table, kept), **options),
        )


@every_call
def test_where__files_are_not_read_whole(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of files are left out while they are read, not after."""

    def refuse(*_: Any) -> None:
        raise AssertionError

    path = write(columns(), tmp_path / "table.parquet")
    monkeypatch.setattr(taking, "filtered", refuse)

    CALLS[name](data=path, where=[("fold", "==", 0)])


NUMBERS = {
    "x": [1.0, 2.0, 4.0, 8.0],
    "time": [1_600_000_001, 1_700_000_000, 1_700_000_001, 1_800_000_000],
    "narrow": np.array([0.1, 0.7, 0.05, 0.1], np.float32),
}


@pytest.mark.parametrize("where, rows", [
    ([("time", ">=", 1.7e9)], [1, 2, 3]),  # as every float here, exact in 32 bits
    ([("time", "==", 1.7e9)], [1]),
    ([("time", "in", [1.7e9, 1.8e9])], [1, 3]),
    ([("time", ">", 0.5)], [0, 1, 2, 3]),
    ([("time", "<", float("inf"))], [0, 1, 2, 3]),
    ([("time", ">=", 1.7e9), ("x", "<", 5)], [1, 2]),
    ([("narrow", "in", [0.1])], [0, 3]),
    ([("narrow", ">", 0.1)], [1]),
    (pc.field("narrow") > 0.1, [0, 1, 3]),  # Arrow's own: 0.1 in 32 bits is above 0.1
    ([("time", "<", 1_700_000_000.5)], [0, 1]),
])  # fmt: skip
def test_where__numbers_of_other_widths(where: Any, rows: list[int], tmp_path: Path) -> None:
    """Integers beside floats, and 32 bits: alike in memory, and for any row groups."""
    expected = np.mean(np.array(NUMBERS["x"])[rows])
    pq.write_table(pa.table(NUMBERS), tmp_path / "0.parquet", row_group_size=2)
    for data in (NUMBERS, pa.table(NUMBERS), tmp_path / "0.parquet", tmp_path):
        assert expected == fb.bootstrap("x", data=data, where=where, n_resamples=1, rng=0).estimate


COLUMN = Column("row")


def kept(table: pa.Table, where: Any, path: Path) -> list[int]:
    """The rows that a filter keeps, alike in memory, in row groups of one row, and in a stream."""

    def stream() -> Any:
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(2))

    table = table.append_column("row", pa.array(np.arange(float(len(table)))))
    pq.write_table(table, path, row_group_size=1)
    found = []
    for data in (table, path, stream):
        source = open_source(data, where) or filtered(open_table(data), where)
        try:
            found.append([int(row) for row in plain_of(COLUMN, source.read(["row"])["row"]).values])
        except ValueError as error:
            if not str(error).startswith("`where` keeps no row"):
                raise
            found.append([])
    assert found[1:] == found[:-1]
    return found[0]


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_where__a_value_is_what_it_is_in_the_column(bits: int, tmp_path: Path) -> None:
    """Every operator takes 0.1 for the float of the column; NaN and null are as they always are."""
    dtype = np.dtype(f"f{bits // 8}")
    values = np.array([0.1, 0.2, 0.3, 0.1, np.nan, -0.0, 0.5, np.inf], dtype)
    table = pa.table({"f": pa.array(values)})
    table = pa.concat_tables([table, pa.table({"f": pa.nulls(1, table.schema.field(0).type)})])

    for operator, rows in {
        "==": [0, 3],
        "=": [0, 3],
        "!=": [1, 2, 4, 5, 6, 7],
        "<": [5],
        "<=": [0, 3, 5],
        ">": [1, 2, 6, 7],
        ">=": [0, 1, 2, 3, 6, 7],
    }.items():
        for value in (0.1, np.float32(0.1) if bits < 64 else np.float64(0.1), Decimal("0.1")):
            assert kept(table, [("f", operator, value)], tmp_path / "x.parquet") == rows
    for where, rows in {
        ("f", "in", (0.1,)): [0, 3],
        ("f", "not in", (0.1,)): [1, 2, 4, 5, 6, 7, 8],
        ("f", "in", (0.0, 0.5)): [5, 6],
        ("f", "==", 0): [5],
        ("f", "==", 0.5): [6],
        ("f", ">", 0.3): [6, 7],
        ("f", "<", 10**400): [0, 1, 2, 3, 5, 6],
        ("f", ">", -(10**400)): [0, 1, 2, 3, 5, 6, 7],
        ("f", "<=", -(10**400)): [],
        ("f", ">=", 10**400): [7],
        ("f", "==", 10**400): [],
        ("f", "!=", 10**400): [0, 1, 2, 3, 4, 5, 6, 7],
        ("f", "==", math.inf): [7],
        ("f", "<", math.inf): [0, 1, 2, 3, 5, 6],
        ("f", "==", math.nan): [],
        ("f", "in", (math.nan, 0.2)): [1, 4],
        ("f", "in", (None, 0.2)): [1, 8],
        ("f", "in", ()): [],
        ("f", "not in", (None,)): [0, 1, 2, 3, 4, 5, 6, 7],
    }.items():
        assert kept(table, [where], tmp_path / "x.parquet") == rows, where


@pytest.mark.parametrize("operator", ["!=", "not in"])
@pytest.mark.parametrize("kind", ["tuple", "expression"])
def test_where__a_nan_that_statistics_do_not_show(operator: str, kind: str, tmp_path: Path) -> None:
    """The least and the largest value of a row group are 0.5, but it has a NaN too."""
    table = pa.table({"f": [0.5, math.nan], "x": [1.0, 2.0]})
    pq.write_table(table, tmp_path / "x.parquet")
    where: Any = [("f", operator, 0.5 if operator == "!=" else [0.5])]
    if kind == "expression":
        where = pc.field("f") != 0.5 if operator == "!=" else ~pc.field("f").isin([0.5])
    for data in (table, tmp_path):
        assert fb.bootstrap("x", data=data, where=where, n_resamples=9).estimate == 2.0


MORNING = dt.datetime(2024, 1, 1, 6)  # noqa: DTZ001 - as the column
LARGE = [2**64 - 1, 2**63, 5, 2**53 + 1, 0]
MANY = pa.table({
    "u": pa.array(LARGE, pa.uint64()),
    "i": pa.array([2**53 + 1, -(2**63), 5, None, 0]),
    "small": pa.array([127, -128, 5, None, 0], pa.int8()),
    "money": pa.array(list(map(Decimal, ["0.10", "0.20", "-3.00", "99.99", "0.00"]))),
    "day": pa.array([dt.date(2024, 1, day) for day in range(1, 6)]),
    "time": pa.array(np.datetime64("2024-01-01T06:00:00") + 86_400 * np.arange(5)),
    "span": pa.array([dt.timedelta(hours=hour) for hour in range(5)]),
    "ok": [True, False, None, True, False],
    "none": pa.nulls(5),
    "word": ["1", "b", None, "d", ""],
})  # fmt: skip


@pytest.mark.parametrize("where,rows", [
    (("u", "==", 2**63), [1]),
    (("u", ">=", 2**63), [0, 1]),
    (("u", "in", [2**64 - 1, 5, -1, 2**70]), [0, 2]),
    (("u", "==", 2.0**63), [1]),
    (("u", "<", 2**70), [0, 1, 2, 3, 4]),
    (("u", ">", -1), [0, 1, 2, 3, 4]),
    (("u", "<", 0), []),
    (("u", "==", np.uint64(2**64 - 1)), [0]),
    (("u", "!=", pa.scalar(5, pa.int8())), [0, 1, 3, 4]),
    (("i", "==", 2.0**53), []),  # of which float64 makes one
    (("i", ">", 2.0**53), [0]),
    (("i", "<=", -(2**63)), [1]),
    (("i", "<", 2**63), [0, 1, 2, 4]),
    (("i", "!=", 0.5), [0, 1, 2, 4]),
    (("i", "in", [5.0, 0.5]), [2]),
    (("i", "in", np.array([5, 7])), [2]),
    (("i", ">", -math.inf), [0, 1, 2, 4]),
    (("i", "==", math.nan), []),
    (("small", "<", 1000), [0, 1, 2, 4]),
    (("small", ">=", 127), [0]),
    (("small", "<=", -1000), []),
    (("money", "==", 0.1), [0]),
    (("money", "in", [0.1, Decimal("0.2"), 0.205]), [0, 1]),
    (("money", ">", 0.105), [1, 3]),
    (("money", "<=", 100), [0, 1, 2, 3, 4]),
    (("money", "<", Decimal("NaN")), []),
    (("day", ">", np.datetime64("2024-01-03")), [3, 4]),
    (("day", "==", np.datetime64("2024-01", "M")), [0]),
    (("day", "in", [np.datetime64("2024-01-02T00"), np.datetime64("2024-01-03T01"), None]), [1]),
    (("time", ">", np.datetime64("2024-01-03")), [2, 3, 4]),
    (("time", "==", np.array("2024-01-03T06", "M8[ms]")), [2]),
    (("time", "in", [np.datetime64("2024-01-03T06", "ns"), MORNING]), [0, 2]),
    (("time", "not in", [np.datetime64("2024-01-03T06:00:00.5")]), [0, 1, 2, 3, 4]),
    (("span", "<", np.timedelta64(2, "h")), [0, 1]),
    (("span", "==", dt.timedelta(hours=2)), [2]),
    (("span", "==", pa.scalar(dt.timedelta(hours=2))), [2]),
    (("ok", "==", 1), [0, 3]),
    (("ok", "!=", 1.0), [1, 4]),
    (("ok", "in", [0]), [1, 4]),
    (("ok", "==", np.bool_(True)), [0, 3]),
    (("none", "==", 3), []),
    (("none", "!=", "x"), []),
    (("none", "in", [3, "x"]), []),
    (("none", "in", [None]), [0, 1, 2, 3, 4]),
    (("none", "not in", ["x"]), [0, 1, 2, 3, 4]),
    (("word", "in", [np.str_("b"), "", None]), [1, 2, 4]),
    (("word", ">=", "b"), [1, 3]),
])  # fmt: skip
def test_where__values_of_every_type(where: Any, rows: list[int], tmp_path: Path) -> None:
    """Exactly, in memory, streamed, and where statistics leave row groups out."""
    assert kept(MANY, [where], tmp_path / "x.parquet") == rows


def test_where__columns_of_files_of_other_widths(tmp_path: Path) -> None:
    """0.1 is that of the file at hand."""
    for number, kind in enumerate([pa.float32(), pa.float64(), pa.float16()]):
        column = pa.array(np.array([0.1, 0.2], f"f{kind.bit_width // 8}"))
        table = pa.table({"f": column, "x": [float(number), 9.0]})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=1)
    result = fb.bootstrap("x", data=tmp_path, where=[("f", "==", 0.1)], n_resamples=9)
    assert (result.n_rows, result.estimate) == (3, 1.0)


@pytest.mark.parametrize("where,error,message", [
    (("ok", "==", 2), TypeError, "2 is neither true nor false. It looks at 'ok' of type bool;"),
    (("ok", "in", ["yes"]), TypeError, "'yes' is neither true nor false. It looks at 'ok' of"),
    (("i", "==", True), TypeError, "True is no number. It looks at 'i' of type int64; compare"),
    (("i", "in", [1, "u"]), TypeError, "'u' is no number. It looks at 'i' of type int64; com"),
    (("money", "<", "u"), TypeError, "'u' is no number. It looks at 'money' of type decimal128("),
    (("word", "==", 1), TypeError, "1 is no text. It looks at 'word' of type large_string; com"),
    (("day", ">", "May"), TypeError, "'May' is no such date or time. It looks at 'day' of type d"),
    (("day", "in", ["May"]), TypeError, "'May' is no such date or time. It looks at 'day' of ty"),
    (("time", "<", dt.datetime(2024, 1, 1, tzinfo=dt.UTC)), TypeError,
     ("datetime.datetime(2024, 1, 1, 0, 0, tzinfo=datetime.timezone.utc) has a time zone, and the "
      "column has none. It looks at 'time' of type timestamp[")),
    (("zone", "<", np.datetime64("2024-01-01", "s")), TypeError,
     ("datetime.datetime(2024, 1, 1, 0, 0) has no time zone, and the column has one. It looks at "
      "'zone' of type timestamp[")),
    (("list", "==", 1), TypeError, "1 is no value of type list<"),
    (("day", "==", object), TypeError, "<class 'object'> is no such date or time. It loo"),
    (("i", "==", None), TypeError,
     ("compares 'i' with a missing value, which is true of no row; ('i', 'in', [None]) are the "
      "rows without a value, and ('i', 'not in', [None]) the others.")),
    (("time", "<", np.datetime64("NaT")), TypeError, "compares 'time' with a missing value, which"),
    (("i", "==", pd.NA), TypeError, "compares 'i' with a missing value, which is true of no row"),
    (("i", "==", pa.scalar(None)), TypeError, "compares 'i' with a missing value, which is true"),
])  # fmt: skip
def test_where__refused_in_words(
    where: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    """Not in those of Arrow, and of the column that it is about only."""
    table = MANY.append_column("list", pa.array([[1]] * 5)).append_column("x", pa.array([1.0] * 5))
    table = table.append_column("zone", table["time"].cast(pa.timestamp("s", "UTC")))
    pq.write_table(table, tmp_path / "x.parquet")
    for data in (table, tmp_path, table.to_reader):
        for terms in ([where], [("x", ">", 0), where]):
            with pytest.raises(error, match=re.escape(message)) as caught:
                fb.bootstrap("x", data=data, where=terms)
            assert "'x' of type" not in str(caught.value)
            assert "kernel" not in str(caught.value)


def test_where__looks_only_at_columns_that_it_names() -> None:
    """A name that is part of another name is none of its columns, whatever that holds."""
    data = {"score_id": ["a", "b", "c"], "id": [2**64 - 1, object(), "5"], "x": [1.0, 2.0, 4.0]}
    for where in [("score_id", "!=", "c")], pc.field("score_id") != "c":
        assert fb.bootstrap("x", data=data, where=where, n_resamples=9).estimate == 1.5
    message = r"^`where`: column 'id' cannot be read as one column \(.*\); give it values of one ty"
    for where in [("id", "!=", 5)], pc.field("id") != 5:
        with pytest.raises(ValueError, match=message):
            fb.bootstrap("x", data=data, where=where)
    ids = data | {"id": [5, 2**64 - 1, 2**63]}
    assert fb.bootstrap("x", data=ids, where=[("id", ">", 5)], n_resamples=9).estimate == 3.0


def test_where__says_only_what_it_looks_at(tmp_path: Path) -> None:
    """Not the columns whose names are letters of a value or of another name."""
    table = {"a": [1], "fold": [1], "fo": ["u"], "u": ["u"], "x": [1.0]}
    message = r"It looks at 'fold' of type int64; compare each column with a value of its own type"
    for data in (table, write(table, tmp_path / "x.parquet")):
        for where in [("fold", "==", "a fo u")], pc.field("fold") == "a fo u":
            with pytest.raises(TypeError, match=message):
                fb.bootstrap("x", data=data, where=where)


def test_where__lists_for_tuples_and_a_value_that_is_an_expression() -> None:
    """As pyarrow takes them."""
    table = columns()
    for where in [["fold", "<", 3]], [[["fold", "<", 3]]]:
        found = fb.bootstrap("x", data=table, where=where, rng=0, n_resamples=9)
        same(found, fb.bootstrap("x", data=table, where=[("fold", "<", 3)], rng=0, n_resamples=9))
        assert " where fold < 3, " in found.summary()
    either = [("x", ">", pc.field("y"))]
    found = fb.bootstrap("x", data=table, where=either, rng=0, n_resamples=9)
    assert found.n_rows == int((table["x"] > table["y"]).sum())
    with pytest.raises(ValueError, match=r"^where=\[\('x', '~', .* cannot be used \("):
        fb.bootstrap("x", data=table, where=[("x", "~", pc.field("y"))])


@pytest.mark.parametrize("first", ["score,split\n", "score,split\n,\n,\n"])
def test_where__columns_of_nulls_of_other_types(first: str, tmp_path: Path) -> None:
    """A file of nulls may stand before files of numbers and of texts."""
    (tmp_path / "0.csv").write_text(first)
    (tmp_path / "1.csv").write_text("score,split\n1.5,a\n2.5,b\n0.5,b\n1.5,c\n")
    where = [("split", "in", ["a", "b"]), ("score", ">", 1.0)]

    result = fb.bootstrap("score", data=tmp_path, where=where, n_resamples=1, rng=0)

    assert result.estimate == 2.0
    assert result.n_rows == 2


EMPTY = pa.table({"gold": [0, 1, 1], "score": [0.1, 0.7, 0.8], "split": ["a", "a", "b"]})
EVERY: dict[str, Callable[[], Any]] = {
    "mean": lambda: fb.mean("score"),
    "variance": lambda: fb.variance("score"),
    "Pearson": lambda: fb.pearson("score", "gold"),
    "log loss": lambda: fb.log_loss("gold", "score"),
    "calibration": lambda: fb.calibration_error("gold", "score"),
    "F": lambda: fb.f_score("gold", "gold"),
    "macro F": lambda: fb.f_score("split", "split", average="macro"),
    "kappa": lambda: fb.cohen_kappa("gold", "gold"),
    "median": lambda: fb.median("score"),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("groups", [None, "split"])
def test_where__no_row_of_a_stream(name: str, groups: str | None) -> None:
    """What learns of all rows first, and what does not, say alike that there is none."""

    def all_rows() -> Any:
        return pa.RecordBatchReader.from_batches(EMPTY.schema, EMPTY.to_batches())

    def no_batch() -> Any:
        return pa.RecordBatchReader.from_batches(EMPTY.schema, [])

    message = r"^`where` keeps no row of `data`; give a filter that some rows pass\.$"
    with pytest.raises(ValueError, match=message):
        fb.bootstrap(EVERY[name](), data=all_rows, where=[("split", "==", "c")], groups=groups)
    with pytest.raises(ValueError, match=r" is empty; give at least one row\.$"):
        fb.bootstrap(EVERY[name](), data=no_batch, groups=groups)


# ---------------------------------------------------------------------------- refused


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        [("spilt", "==", "test")],
        ValueError,
        "`where`: no column 'spilt' in data; there are: split, x, y, fold, user.",
    ),
    (
        [("fold", "==", "three")],
        TypeError,
        (
            "`where` cannot be applied: 'three' is no number. It looks at 'fold' of type int64; "
            "compare each column with a value of its own type."
        ),
    ),
    (
        [("fold", ">", 4)],
        ValueError,
        "`where` keeps no row of `data`; give a filter that some rows pass.",
    ),
    ("fold == 3", TypeError, "`where` is a str; give a pyarrow expression such as "),
    ([("fold", "is", 3)], ValueError, "where=[('fold', 'is', 3)] cannot be used ("),
    (
        [[("split", "not in", "test")]],
        TypeError,
        (
            "where=[[('split', 'not in', 'test')]] looks for 'split' in a text, which would be its "
            "letters; give a list of values, such as ['test']"
        ),
    ),
]


@every_call
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_where__refused(name: str, kind: str, tmp_path: Path) -> None:
    """By name, with what to do, whatever the data."""
    table = columns()
    data = table if kind == "memory" else write(table, tmp_path / "table.parquet")

    for where, error, message in REFUSED:
        with pytest.raises(error, match="^" + re.escape(message)):
            CALLS[name](data=data, where=where)


@pytest.mark.parametrize(
    "procedure",
    [
        fb.paired_bootstrap,
        fb.approximate_randomization,
        fb.unpaired_bootstrap,
        fb.permutation_test,
        fb.paired_t_test,
        lambda a, b, **options: fb.compare({"x": a, "y": b}, **options),
        lambda a, b, **options: fb.compare({"x": a, "y": b}, test="randomization", **options),
    ],
)
def test_where__refuses_arrays(procedure: Call) -> None:
    """`where` says nothing of rows that `data` does not have."""
    message = (
        "^`where` chooses rows of `data`, but columns were given as arrays; name columns, or "
        "filter the arrays$"
    )
    table = columns()
    with pytest.raises(TypeError, match=message):
        procedure(table["x"], "y", data=table, where=[("fold", "==", 1)])


def test_where__refuses_arrays_of_either_sample() -> None:
    """Of a sample without filter columns may be arrays."""
    table = columns()
    test = [("split", "==", "test")]

    found = fb.unpaired_bootstrap("x", table["y"], data=table, where=(test, None), rng=0)
    assert found.n_rows_b == N_ROWS
    with pytest.raises(TypeError, match=r"^`where` chooses rows of `data`, but"):
        fb.unpaired_bootstrap("x", table["y"], data=table, where=(None, test))
    with pytest.raises(TypeError, match=r"^`where` chooses rows of `data`, but"):
        fb.permutation_test("x", "y", groups=(table["user"], "user"), data=table, where=test)


# ---------------------------------------------------------------------------- compare


class Counting:
    """An executor that counts what it is given."""

    def __init__(self) -> None:
        self.n_tasks = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a task."""
        self.n_tasks += 1
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Two blocks and a bit: in memory, and in two files of odd row groups."""
    table = columns(2 * BLOCK + 1_000) | {
        "gold": np.arange(2 * BLOCK + 1_000) % 3,
        "u": np.arange(2 * BLOCK + 1_000) % 7 % 3,
        "v": np.arange(2 * BLOCK + 1_000) % 11 % 3,
    }
    folder = tmp_path_factory.mktemp("large")
    whole = pa.table(table)
    pq.write_table(whole.slice(0, 50_001), folder / "1.parquet", row_group_size=17_000)
    pq.write_table(whole.slice(50_001), folder / "2.parquet", row_group_size=40_000)
    return table, folder


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "groups"])
def test_compare__files_are_memory(
    large: tuple[dict[str, Any], Path], test: str, grouped: bool
) -> None:
    """Bit for bit, for any cut of files, with and without an executor."""
    table, folder = large
    options: dict[str, Any] = {
        "test": test, "groups": "user" if grouped else None, "rng": 3, "n_resamples": 50,
        "where": [("fold", "!=", 4)],
    }  # fmt: skip
    metrics = {
        "mean": fb.mean,
        "accuracy": lambda column: fb.accuracy("gold", column),
        "F": lambda column: fb.f_score("gold", column, average="macro"),
    }
    expected = fb.compare(["u", "v", "gold"], data=table, metrics=metrics, **options)

    same(fb.compare(["u", "v", "gold"], data=folder, metrics=metrics, **options), expected)
    with ThreadPoolExecutor(2) as executor:
        for data in (table, folder):
            found = fb.compare(
                ["u", "v", "gold"], data=data, metrics=metrics, executor=executor, **options
            )
            same(found, expected)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_compare__works_on_the_executor(
    large: tuple[dict[str, Any], Path], test: str, kind: str
) -> None:
    """Continuous scores are drawn where the executor says, whatever the test."""
    table, folder = large
    executor = Counting()
    options: dict[str, Any] = {"test": test, "rng": 3, "n_resamples": 20}
    systems = {"x": "x", "y": "y"}
    data = table if kind == "memory" else folder

    same(
        fb.compare(systems, data=data, executor=executor, **options),
        fb.compare(systems, data=data, **options),
    )
    assert executor.n_tasks > 0


def test_compare__refuses_what_is_no_executor() -> None:
    """As the other procedures."""
    with pytest.raises(TypeError, match=r"^`executor` is 3; it must have a submit"):
        fb.compare({"x": [1, 2], "y": [2, 1]}, executor=3)


def test_where__is_said() -> None:
    """Signature and summary name the rows, in the words of the tuples or of the expression."""
    table = columns()
    tuples = [("split", "==", "test"), ("fold", "<", 3)]
    result = fb.bootstrap("x", data=table, where=tuples, rng=0, n_resamples=9)
    assert "|where:split == 'test' and fold < 3|" in result.signature()
    assert " rows, where split == 'test' and fold < 3, 9 resamples" in result.summary()
    either = [[("fold", "==", 1)], [("fold", "==", 2), ("split", "==", "dev")]]
    result = fb.bootstrap("x", data=table, where=either, rng=0, n_resamples=9)
    assert "where (fold == 1) or (fold == 2 and split == 'dev')," in result.summary()
    result = fb.bootstrap("x", data=table, where=pc.field("fold") < 3, rng=0, n_resamples=9)
    assert "|where:(fold < 3)|" in result.signature()
    both = fb.unpaired_bootstrap(
        "x", "x", data=table, where=([("fold", "<", 3)], [("fold", ">=", 3)]), rng=0, n_resamples=9
    )
    assert "where (fold < 3, fold >= 3)," in both.summary()
