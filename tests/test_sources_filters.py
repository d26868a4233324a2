"""`where=`: the rows that count, of every kind of `data`."""

from __future__ import annotations

import datetime as dt
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import pytest
from sourced import FORMATS, rows_of, source_of, write

from fastboot.columns import Column, load
from fastboot.files import Table, filtered, open_table
from fastboot.sources.filters import bound

HOW = (
    "give a pyarrow expression such as pyarrow.compute.field('split') == 'test', or tuples of "
    "column, operator and value such as [('split', '==', 'test')]."
)

COLUMNS: dict[str, Any] = {
    "n": [0, 1, 2, 3, 4, 5],
    "split": ["test", None, "dev", "test", "and", "dev"],
    "x": [1.0, 2.0, None, 4.0, 5.0, 6.0],
    "and": [True, False, None, True, False, True],
    "no": [None] * 6,
}

# What each keeps, by hand. A comparison with null is not true.
FILTERS: list[tuple[Any, list[int]]] = [
    ([("split", "==", "test")], [0, 3]),
    ([("split", "!=", "test")], [2, 4, 5]),
    ([("split", "in", ["dev", "and"])], [2, 4, 5]),
    ([("split", "not in", {"dev", "and"})], [0, 1, 3]),
    ([("split", "==", "dev"), ("x", ">", 2)], [5]),
    ([[("split", "==", "dev")], [("x", "<=", 2)]], [0, 1, 2, 5]),
    ((("n", ">=", 4),), [4, 5]),
    (pc.field("split") == "and", [4]),
    (pc.field("and"), [0, 3, 5]),
    (~pc.field("and"), [1, 4]),
    (pc.field("x").is_null(), [2]),
    (pc.field("no").is_null() & (pc.field("n") < 2), [0, 1]),
    (pc.field("x") > pc.field("n") + 1, []),
    (pc.field("x") >= pc.field("n") + 1, [0, 1, 3, 4, 5]),
    (pc.starts_with(pc.field("split"), "d"), [2, 5]),
    (~pc.field("no").isin(["u"]) & (pc.field("n") == 3), [3]),
]
IN_MEMORY: dict[str, Any] = {
    "table": lambda table: table,
    "batch": lambda table: table.to_batches()[0],
    "reader": lambda table: table.to_reader(2),
    "polars": pl.DataFrame,
    "pandas": lambda table: table.to_pandas(),
    "mapping": lambda table: table.to_pydict(),
    "arrays": lambda table: {name: table[name].combine_chunks() for name in table.column_names},
    "dictionaries": lambda table: table.set_column(1, "split", table["split"].dictionary_encode()),
    "views": lambda table: table.set_column(1, "split", table["split"].cast(pa.string_view())),
    "dataset": pyarrow.dataset.dataset,
}


@pytest.mark.parametrize("where,expected", FILTERS)
def test_where__every_format(where: Any, expected: list[int], tmp_path: Path) -> None:
    """Files keep the same rows, whatever their format, cut in groups of two rows."""
    for kind in FORMATS:
        path = tmp_path / f"x.{kind}"
        write(pa.table(COLUMNS), path, 2)
        source = source_of(path, where)
        assert [row["n"] for row in rows_of(source.batches(["n"]))] == expected, kind
        assert source.fragments is not None
        travelled = pickle.loads(pickle.dumps(source.fragments))  # noqa: S301 - our own
        found = [row["n"] for one in travelled for row in rows_of(one.batches(["n", "x"]))]
        assert found == expected, kind


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_where__in_memory(kind: str) -> None:
    """So does `filtered` of any table that is loaded, in one read of the columns it needs."""
    for where, expected in FILTERS:
        if not expected or (kind == "pandas" and "no" in str(where)):
            continue  # pandas' NaN in a column of nulls is a number
        data = IN_MEMORY[kind](pa.table(COLUMNS))
        rows = load([Column("n")], filtered(open_table(data), where).read(["n"]))
        assert isinstance(rows.columns[0], np.ndarray)
        assert rows.columns[0].tolist() == expected, where


def test_filtered__values_stay_what_they_are() -> None:
    """Lists stay lists and arrays arrays: their errors are those of the border."""
    data = {
        "split": ["a", "b", "a"],
        "list": [1, "mixed", None],
        "array": np.array([1.0, 2.0, 3.0]),
        "dates": np.array(["2024-01-01", "2024-01-02", "NaT"], "M8[D]"),
        "masked": np.ma.array([1, 2, 3], mask=[True, False, False]),
        "series": pd.Series([1, 2, 3], index=[7, 8, 9]),
        "words": pd.Series(["u", "v", "w"]),
        "categories": pd.Categorical(["u", "v", "w"]),
        "polars": pl.Series([1, 2, 3]),
        "objects": pl.Series([1, "u", b""], dtype=pl.Object),
        "views": pa.array(["u", "v", "w"], pa.string_view()),
        "string": "no column",
        "number": 3,
    }
    found = filtered(open_table(data), [("split", "==", "a")]).read(list(data))
    assert found["list"] == [1, None]
    assert found["array"].tolist() == [1.0, 3.0]
    assert str(found["dates"].dtype) == "datetime64[D]"
    assert found["masked"].mask.tolist() == [True, False]
    assert found["series"].tolist() == [1, 3]
    assert found["words"].to_pylist() == ["u", "w"]
    assert found["categories"].tolist() == ["u", "w"]
    assert found["polars"].to_pylist() == [1, 3]
    assert found["objects"] == [1, b""]
    assert found["views"].to_pylist() == ["u", "w"]
    assert found["string"] == "no column"
    assert found["number"] == 3
    assert filtered(table := open_table(data), None) is table


def test_filtered__reads_once_and_only_what_it_needs() -> None:
    """A reader can be read once; columns that merely share letters with the filter do no harm."""
    asked = []

    def read(wanted: list[str]) -> Any:
        asked.append(wanted)
        return {"split": ["a", "b"], "x": [1, 2], "plit": [object(), object()]}

    table = Table(["split", "x", "plit", "other"], read)
    assert filtered(table, pc.field("split") == "b").read(["x"]) == {"x": [2]}
    assert asked == [["x", "split", "plit"]]
    message = "`where`: column 'plit' cannot be read as one column (Could not convert <object"
    with pytest.raises(ValueError, match=re.escape(message)):
        filtered(table, pc.field("plit") == "b").read(["x"])


def test_filtered__rows_of_columns_differ() -> None:
    """All columns need one row per item."""
    table = open_table({"split": ["a", "b"], "other": ["a"], "x": [1, 2, 3]})
    where = pc.field("split") == "a"
    message = "`where`: column 'x' has 3 rows but the filter has 2; all columns need one row"
    with pytest.raises(ValueError, match=re.escape(message)):
        filtered(table, where).read(["x"])
    message = "`where`: column 'other' has 1 rows but split has 2; all columns need one row"
    with pytest.raises(ValueError, match=re.escape(message)):
        filtered(table, where & (pc.field("other") == "a")).read(["split"])


@pytest.mark.parametrize("where,error,message", [
    ("split == 'test'", TypeError, f"`where` is a str; {HOW}"),
    (pl.col("split") == "test", TypeError, f"`where` is a Expr; {HOW}"),
    ({"split": "test"}, TypeError, f"`where` is a dict; {HOW}"),
    (("split", "==", "test"), ValueError, "where=('split', '==', 'test') cannot be used ("),
    ([], ValueError, f"where=[] cannot be used (Malformed filters); {HOW}"),
    ([("split", "~", "test")], ValueError,
     "where=[('split', '~', 'test')] cannot be used (\""),
    ([("split", "in", 3)], ValueError, "where=[('split', 'in', 3)] cannot be used ("),
    ([(3, "==", 1)], ValueError, "where="),
    (pc.field(0) == 1, ValueError, "where=(FieldPath(0) == 1) looks at columns by number; name"),
    ([("spilt", "==", "test")], ValueError,
     "`where`: no column 'spilt' in data; there are: split, n, x."),
    (pc.field("spl", "it") == 1, TypeError,
     "`where` cannot be applied: No match for FieldRef.Nested("),
    ([("split", ">", 3)], TypeError,
     ("`where` cannot be applied: 3 is no text. It looks at 'split' of type large_string; compare "
      "each column with a value of its own type.")),
    (pc.field("split") > 3, TypeError,
     ("`where` cannot be applied: Function 'greater' has no kernel matching input types "
      "(large_string, int8). It looks at 'split' of type large_string; compare each column with a "
      "value of its own type.")),
    ([("n", "=", 1, 2)], ValueError, "where=[('n', '=', 1, 2)] cannot be used (('n', '=', 1, 2)"),
    ([[]], ValueError, f"where=[[]] cannot be used (Malformed filters); {HOW}"),
    (pc.field("n") + 1, TypeError,
     f"where=add_checked(n, 1) is int64, neither true nor false; {HOW}"),
    (pc.scalar(value=True), ValueError, f"where=true looks at no column; {HOW}"),
])  # fmt: skip
def test_where__refused(where: Any, error: type[Exception], message: str, tmp_path: Path) -> None:
    """By name, with what to do: when a source is opened, and when a table is read."""
    data = {"n": [1, 2], "split": ["test", "dev"], "x": [1.0, 2.0]}
    write(pa.table(data), tmp_path / "x.parquet")
    write(pa.table(data), tmp_path / "x.jsonl")
    with pytest.raises(error, match="^" + re.escape(message)):
        source_of(tmp_path / "x.parquet", where)
    with pytest.raises(error, match="^" + re.escape(message)):
        source_of(tmp_path / "x.jsonl", where)
    with pytest.raises(error, match="^" + re.escape(message)):
        filtered(open_table(data), where).read(["x"])


def test_where__keeps_no_row(tmp_path: Path) -> None:
    """No rows left is an error where all are loaded, and an empty stream where not."""
    message = r"^`where` keeps no row of `data`; give a filter that some rows pass\.$"
    data = {"x": [1.0, 2.0]}
    where = [("x", ">", 5)]
    with pytest.raises(ValueError, match=message):
        filtered(open_table(data), where).read(["x"])
    for kind in FORMATS:
        write(pa.table(data), tmp_path / f"x.{kind}")
        source = source_of(tmp_path / f"x.{kind}", where)
        assert list(source.batches(["x"])) == []
        with pytest.raises(ValueError, match=message):
            source.read(["x"])
    source = source_of(tmp_path / "x.parquet", where)
    assert source.fragments == ()
    assert source.filtered
    assert not source_of(tmp_path / "x.parquet").filtered


def test_where__column_of_one_file_is_of_another_kind(tmp_path: Path) -> None:
    """Refused at once where files say so, and by file where only rows do."""
    for kind, error in {
        "parquet": r"^column 'split' is string in data='.*b.parquet' but int64 in data='.*a.parq",
        "csv": r"^data='.*b.csv' cannot be read: `where` cannot be applied: Function 'equal' has",
        "jsonl": r"^data='.*b.jsonl' cannot be read: `where` cannot be applied: Function 'equal'",
    }.items():
        write(pa.table({"x": [1], "split": [1]}), tmp_path / f"a.{kind}")
        write(pa.table({"x": [1], "split": ["u"]}), tmp_path / f"b.{kind}")
        with pytest.raises(ValueError, match=error):
            source_of(str(tmp_path / f"*.{kind}"), pc.field("split") == 1).read(["x"])


def test_where__column_that_a_file_lacks(tmp_path: Path) -> None:
    """The file is named, be it the first or a later one."""
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write(pa.table({"x": [1], "doc": ["u"]}), b)
    write(pa.table({"x": [1], "id": [1]}), a)
    for column, message in {
        "doc": f"data={str(a)!r} has no column 'doc'.",
        "id": f"data={str(b)!r} has no column 'id', which data={str(a)!r} has as int64.",
    }.items():
        for where in [(column, "==", "u" if column == "doc" else 1)], pc.field(column).is_valid():
            with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
                source_of(tmp_path, where)
    assert source_of(tmp_path, [("x", "in", [1])]).read(["x"]).num_rows == 2


def test_where__column_without_values_in_the_first_file(tmp_path: Path) -> None:
    """Another file says what it is compared with."""
    write(pa.table({"x": [1], "k": pa.nulls(1)}), tmp_path / "a.parquet")
    write(pa.table({"x": [2, 3], "k": [4, 6]}), tmp_path / "b.parquet")
    assert source_of(tmp_path, [("k", "<", 5)]).read(["x"])["x"].to_pylist() == [2]
    with pytest.raises(TypeError, match="It looks at 'k' of type int64; compare"):
        source_of(tmp_path, [("k", "<", "5")])


def test_where__dates_and_names_with_spaces(tmp_path: Path) -> None:
    """Values of any type, names of any letters."""
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]
    table = pa.table({"the day (UTC)": days, "doc.id": [1, 2], "x": [3, 4]})
    write(table, tmp_path / "x.parquet", 1)
    where = [("the day (UTC)", ">", days[0]), ("doc.id", ">", 1)]
    assert source_of(tmp_path / "x.parquet", where).read(["x"])["x"].to_pylist() == [4]
    message = "`where`: no column 'day (UTC)' in data; there are: the day (UTC), doc.id, x."
    with pytest.raises(ValueError, match=re.escape(message)):
        source_of(tmp_path / "x.parquet", [("day (UTC)", "==", days[0])])


def test_bound__only_the_columns_it_looks_at() -> None:
    """Not those whose names are a part of another name or of a value."""
    schema = pa.schema(dict.fromkeys(["split", "plit", "it", "test", "and", "x"], pa.string()))
    found = bound((pc.field("split") == "test") & (pc.field("x") == "it"), schema)
    assert found is not None
    assert list(found.types) == ["split", "x"]
    assert bound(None, schema) is None
