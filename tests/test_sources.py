"""Sources of files: the same rows however they are cut, little of them at a time, and no more."""

from __future__ import annotations

import gzip
import json
import pickle
import re
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sourced import BINARY, FORMATS, open_files, rows_of, source_of, write

import fastboot as fb
from fastboot.blocks import BLOCK
from fastboot.columns import Column, load, names
from fastboot.files import open_table
from fastboot.sources.opening import open_source

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="open files are listed in /proc")


def exactly(message: str) -> str:
    """Match a whole message."""
    return f"^{re.escape(message)}$"


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Draw a table of scores, labels and counts; all may be null, and a label look like a null."""
    n_rows = draw(st.integers(1, 40))
    columns: dict[str, Any] = {
        "score": (st.none() | st.floats(-1e9, 1e9), pa.float64()),
        "gold": (st.none() | st.sampled_from(["a", "b", "NA", "line\nend, 'quoted'"]), pa.string()),
        "n": (st.none() | st.integers(-(2**53), 2**53), pa.int64()),
    }
    return pa.table(
        {
            name: pa.array(draw(st.lists(values, min_size=n_rows, max_size=n_rows)), kind)
            for name, (values, kind) in columns.items()
        }
    )


@settings(max_examples=80, deadline=None)
@given(table=tables(), data=st.data())
def test_batches__any_partition(table: pa.Table, data: st.DataObject) -> None:
    """Rows come in their order and with their values, whatever files and groups they lie in."""
    kind = data.draw(st.sampled_from(FORMATS))
    cuts = data.draw(st.lists(st.integers(0, len(table)), max_size=4).map(sorted))
    n_files = len(cuts) + 1
    group_rows = data.draw(st.lists(st.integers(1, 20), min_size=n_files, max_size=n_files))
    wanted = data.draw(st.permutations(table.column_names))[: data.draw(st.integers(1, 3))]
    expected = table.select(wanted).to_pylist()
    with tempfile.TemporaryDirectory() as folder:
        pieces = zip([0, *cuts], [*cuts, len(table)], group_rows, strict=True)
        for number, (start, stop, size) in enumerate(pieces):
            write(table.slice(start, stop - start), Path(folder, f"{number}.{kind}"), size)
        source = source_of(folder)
        assert source.fragments is not None
        fragments = pickle.loads(pickle.dumps(source.fragments))  # noqa: S301 - our own
        assert rows_of(source.batches(wanted)) == expected
        assert rows_of(batch for one in fragments for batch in one.batches(wanted)) == expected
        assert source.read(wanted).to_pylist() == expected
        known = [fragment.n_rows for fragment in fragments]
        if kind in {"parquet", "arrow"}:
            assert sum(known) == len(table)
        else:
            assert known == [None] * n_files


@pytest.mark.parametrize("kind", FORMATS)
def test_batches__of_a_block_at_most(kind: str, tmp_path: Path) -> None:
    """Large groups are cut, small ones are read together: no file is opened for each."""
    n_rows = BLOCK + 5
    table = pa.table({"x": np.arange(n_rows)})
    path = tmp_path / f"table.{kind}"
    part, parts = {
        "parquet": (", row group", ", row groups"),
        "arrow": (", record batch", ", record batches"),
    }.get(kind, ("", ""))
    for group_rows, shown in {
        n_rows: [f"{part} 0"],
        BLOCK: [f"{part} 0", f"{part} 1"],
        1_000: [f"{parts} 0 to 64", f"{part} 65"],
    }.items():
        write(table, path, group_rows)
        source = source_of(path)
        sizes = [batch.num_rows for batch in source.batches(["x"])]
        assert max(sizes) <= BLOCK
        assert sum(sizes) == n_rows
        assert source.fragments is not None
        found = [fragment.shown.removeprefix(repr(str(path))) for fragment in source.fragments]
        assert found == (shown if part else [""])


def test_fragments__are_small(tmp_path: Path) -> None:
    """They are sent to other processes, many at a time."""
    columns = {f"column {number}": [1.0, 2.0] for number in range(200)}
    for kind in FORMATS:
        write(pa.table(columns), tmp_path / f"x.{kind}", 1)
        fragments = source_of(tmp_path / f"x.{kind}").fragments
        filtered = source_of(tmp_path / f"x.{kind}", [("column 7", ">", 1.5)]).fragments
        assert fragments is not None
        assert filtered is not None
        assert len(pickle.dumps(fragments[0])) < 500
        assert len(pickle.dumps(filtered[0])) < 2_000  # the expression alone is half of it
        assert fragments[0].n_bytes is not None
        assert 0 < fragments[0].n_bytes <= (tmp_path / f"x.{kind}").stat().st_size


def test_fragments__know_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may run in another folder."""
    write(pa.table({"x": [1, 2]}), tmp_path / "x.parquet")
    monkeypatch.chdir(tmp_path)
    source = source_of("x.parquet")
    assert source.fragments is not None
    assert source.fragments[0].shown == "'x.parquet', row group 0"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert rows_of(source.fragments[0].batches(["x"])) == [{"x": 1}, {"x": 2}]


def test_batches__memory_is_flat(tmp_path: Path) -> None:
    """One row group of 1,500,000 rows: 36 MB in three columns, of which some pages are held."""
    n_rows = 1_500_000
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.normal(size=n_rows) for name in "abc"})
    write(table, tmp_path / "x.parquet", n_rows)
    del table
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in source_of(tmp_path).batches(["a", "b"])]
    assert len(held) == 23
    # Two columns: a page of 1 MB and its bytes, and a batch of 0.5 MB, with as much again.
    assert max(held) < 8_000_000


# Only what is asked for is read.


def spoil(path: Path, group: int, column: str) -> None:
    """Overwrite the values of a column in a row group of a Parquet file."""
    chunk = None
    with pyarrow.parquet.ParquetFile(path) as file:
        part = file.metadata.row_group(group)
        for number in range(part.num_columns):
            if part.column(number).path_in_schema == column:
                chunk = part.column(number)
    assert chunk is not None
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    with path.open("r+b") as bytes_of:
        bytes_of.seek(start)
        bytes_of.write(b"\xff" * chunk.total_compressed_size)


def spoiled(tmp_path: Path) -> Path:
    """Write two row groups, of which the second has a column that cannot be read."""
    path = tmp_path / "x.parquet"
    n_rows = 2 * BLOCK
    table = pa.table({"x": np.arange(n_rows), "y": np.arange(n_rows), "z": [0] * n_rows})
    write(table, path, BLOCK)
    spoil(path, 1, "y")
    return path


def test_batches__read_no_other_column(tmp_path: Path) -> None:
    """A column that nobody asked for may be broken."""
    source = source_of(spoiled(tmp_path))
    assert source.read(["x", "z"]).num_rows == 2 * BLOCK
    with pytest.raises(ValueError, match=r"x\.parquet', row group 1 cannot be read: [^\n]+$"):
        source.read(["y"])


def test_where__excluded_row_groups_are_not_read(tmp_path: Path) -> None:
    """Statistics of a row group may say that no row passes."""
    path = spoiled(tmp_path)
    source = source_of(path, [("x", "<", 10)])
    assert source.fragments is not None
    assert [fragment.n_rows for fragment in source.fragments] == [BLOCK]
    assert source.read(["y"])["y"].to_pylist() == list(range(10))
    with pytest.raises(ValueError, match="row group 1 cannot be read"):
        source_of(path, [("x", ">", 10)]).read(["y"])


def test_where__column_that_is_not_returned(tmp_path: Path) -> None:
    """The filter's own columns are read too."""
    table = pa.table({"x": [1, 2, 3, 4], "split": ["test", None, "dev", "test"]})
    for kind in FORMATS:
        write(table, tmp_path / f"x.{kind}", 2)
        source = source_of(tmp_path / f"x.{kind}", [("split", "==", "test")])
        assert rows_of(source.batches(["x"])) == [{"x": 1}, {"x": 4}], kind
        assert source.read(["x"]).column_names == ["x"]


# Early ends.


@needs_proc
@pytest.mark.parametrize("kind", FORMATS)
def test_batches__closed_early(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stays open, whether the iterator is closed, dropped or at its end."""
    monkeypatch.setattr("fastboot.sources.json_lines.BLOCK", 1_000)
    table = pa.table({"x": np.arange(5_000), "y": np.arange(5_000)})
    write(table, tmp_path / f"a.{kind}", 1_000)
    write(table, tmp_path / f"b.{kind}", 1_000)
    source = source_of(tmp_path, [("x", ">=", 5)])
    assert open_files(tmp_path) == []
    batches = source.batches(["y"])
    assert next(batches).num_rows > 0
    if kind != "json":  # one JSON value is read at once
        assert open_files(tmp_path) == [str(tmp_path / f"a.{kind}")]
    batches.close()
    assert open_files(tmp_path) == []
    assert source.fragments is not None
    one = source.fragments[0].batches(["y"])
    next(one)
    del one
    assert open_files(tmp_path) == []
    list(source.batches(["y"]))
    assert open_files(tmp_path) == []


@needs_proc
@pytest.mark.parametrize("kind", FORMATS)
def test_batches__failed(kind: str, tmp_path: Path) -> None:
    """A file that cannot be read is closed while its error is at hand."""
    path = tmp_path / f"a.{kind}"
    write(pa.table({"x": np.arange(20_000)}), path, 1_000)
    source = source_of(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    if kind in {"csv", "tsv"}:
        path.write_bytes(whole[:-2] + b",3\t3\n")
    with pytest.raises(
        ValueError, match=rf"^data='.*a\.{kind}'.* cannot be read: [^\n]+$"
    ) as caught:
        list(source.batches(["x"]))
    assert caught.value.__cause__ is not None
    assert open_files(tmp_path) == []


@pytest.mark.parametrize("kind", FORMATS)
def test_batches__file_gone(kind: str, tmp_path: Path) -> None:
    """A file that is removed between passes is named."""
    write(pa.table({"x": [1]}), tmp_path / f"a.{kind}")
    source = source_of(tmp_path)
    (tmp_path / f"a.{kind}").unlink()
    with pytest.raises(
        FileNotFoundError, match=rf"^data='.*a\.{kind}'.* cannot be read: .*No such"
    ):
        list(source.batches(["x"]))


def test_batches__file_grows(tmp_path: Path) -> None:
    """Passes over a file that changes would mix two tables."""
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n2\n")
    source = source_of(path)
    list(source.batches(["x"]))
    path.write_text("x\n1\n2\n3\n")
    message = r"^`data` gave 2 rows and then 3; it must give the same rows at every pass\.$"
    with pytest.raises(ValueError, match=message):
        list(source.batches(["x"]))


# Columns.


def test_names__of_all_files(tmp_path: Path) -> None:
    """A column that one file lacks has a name, and a reason."""
    write(pa.table({"x": [1], "y": [1]}), tmp_path / "a.parquet")
    write(pa.table({"y": [1], "z": [1]}), tmp_path / "b.parquet")
    source = source_of(tmp_path)
    assert source.names == ["x", "y", "z"]
    assert source.names_near("zz") == "there are: z, x, y"
    assert source.read(["y"]).num_rows == 2
    a, b = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    for name, message in {
        "x": f"data={b!r} has no column 'x', which data={a!r} has as int64.",
        "z": f"data={a!r} has no column 'z'.",
        "w": "no column 'w' in data; there are: x, y, z.",
    }.items():
        for call in (source.read, source.check, lambda names: list(source.batches(names))):
            with pytest.raises(ValueError, match=exactly(message)):
                call([name])


@pytest.mark.parametrize("kind", FORMATS)
def test_kinds__numbers_and_strings_differ(kind: str, tmp_path: Path) -> None:
    """A column of numbers in one file and of strings in another is refused by name."""
    a, b = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    write(pa.table({"x": [1, 2], "y": [1, 2]}), a)
    write(pa.table({"x": ["u", "v"], "y": [1, 2]}), b)
    source = source_of(tmp_path)
    text, number = ("string", "int64") if kind in BINARY else ("large_string", "int64")
    message = (
        f"column 'x' is {text} in data={str(b)!r} but {number} in data={str(a)!r}; convert one of "
        "them."
    )
    with pytest.raises(ValueError, match=exactly(message)):
        list(source.batches(["x"]))
    if kind in BINARY:
        with pytest.raises(ValueError, match=r"^column 'x' is string in"):
            source.check(["y", "x"])
    assert source.read(["y"])["y"].to_pylist() == [1, 2, 1, 2]


def test_kinds__types_of_one_kind(tmp_path: Path) -> None:
    """Integers go with floats, and strings of any layout with each other."""
    numbers = [pa.array([1], kind) for kind in (pa.int32(), pa.uint8(), pa.float32())]
    strings: list[Any] = [pa.array(["u"]), pa.array(["u"], pa.large_string())]
    strings.append(pa.array(["u"]).dictionary_encode())
    for kind in ("parquet", "arrow"):
        folder = tmp_path / kind
        folder.mkdir()
        for number, (x, y) in enumerate(zip(numbers, strings, strict=True)):
            write(pa.table({"x": x, "y": y}), folder / f"{number}.{kind}")
        source = source_of(folder, [("y", "in", ["u", "v"])])
        table = source.read(["x", "y"])
        assert table.to_pydict() == {"x": [1.0] * 3, "y": ["u"] * 3}
        assert table.schema.types == [pa.float64(), pa.large_string()]


def test_kinds__decimals_are_not_floats(tmp_path: Path) -> None:
    """Arrow joins them with some numbers and not with others."""
    values = pa.array([Decimal("1.5"), Decimal("1.25")])
    write(pa.table({"x": values}), tmp_path / "a.parquet")
    write(pa.table({"x": values.cast(pa.decimal128(9, 4))}), tmp_path / "b.parquet")
    assert source_of(tmp_path).read(["x"])["x"].to_pylist() == 2 * values.to_pylist()
    write(pa.table({"x": [1]}), tmp_path / "c.parquet")
    with pytest.raises(
        ValueError, match=r"^column 'x' is int64 in data=.* but decimal128\(3, 2\) in"
    ):
        source_of(tmp_path).read(["x"])


def test_kinds__nulls_go_with_anything(tmp_path: Path) -> None:
    """A file whose column is empty says nothing of its kind."""
    (tmp_path / "a.csv").write_text("x,y\n,1\n")
    (tmp_path / "b.csv").write_text("x,y\nu,1\n")
    assert source_of(tmp_path).read(["x"])["x"].to_pylist() == [None, "u"]
    where = [("x", "in", ["u"])]
    assert source_of(tmp_path, where).read(["x", "y"]).to_pylist() == [{"x": "u", "y": 1}]


# Text.


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut CSV into blocks of 256 bytes."""
    monkeypatch.setattr("fastboot.sources.delimited.BLOCK_BYTES", 256)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "first,later", [("1", "1.5"), ("", "7"), ("", "1.5"), ("", "true"), ("", "u"), ("NA", "2")]
)
def test_csv__type_is_widened(first: str, later: str, tmp_path: Path) -> None:
    """A block that does not fit the type of the first one is read again, and only that one."""
    path = tmp_path / "x.csv"
    path.write_text(f"x,i\n{f'{first},4'}\n" + f"{first},5\n" * 200 + f"{later},6\n" * 200)
    rows = rows_of(source_of(path).batches(["i", "x"]))
    assert [row["i"] for row in rows] == [4] + [5] * 200 + [6] * 200
    value = {"": None, "NA": None, "1": 1, "7": 7, "2": 2, "1.5": 1.5, "true": True, "u": "u"}
    assert [row["x"] for row in rows] == [value[first]] * 201 + [value[later]] * 200


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("later", [
    "7", "1.5", "true", "u", "2024-01-02", "10:30", "2024-01-02 10:30", "2024-01-02 10:30:00.5",
    "2024-01-02T10:30Z", '"a ""b"", c"',
])  # fmt: skip
def test_csv__type_does_not_depend_on_blocks(later: str, tmp_path: Path) -> None:
    """A column that is empty at first takes the type that it has without the empty cells."""
    path, alone = tmp_path / "x.csv", tmp_path / "alone.csv"
    path.write_text("x,i\n" + ",5\n" * 200 + f"{later},6\n" * 200 + f"{later},6.5\n")
    alone.write_text(f"x,i\n{later},6.5\n")
    expected = source_of(alone).read(["x"])["x"]
    found = source_of(path).read(["i", "x"])["x"]
    assert found.type == expected.type
    assert found.to_pylist() == [None] * 200 + expected.to_pylist() * 201


@pytest.mark.usefixtures("small_blocks")
def test_csv__type_is_widened_twice(tmp_path: Path) -> None:
    """Each column may change where it likes."""
    path = tmp_path / "x.csv"
    path.write_text("x,y\n" + "1,\n" * 200 + "1.5,\n" * 200 + " 2.5 ,u\n" * 200)
    table = source_of(path).read(["x", "y"])
    assert table["x"].to_pylist() == [1.0] * 200 + [1.5] * 200 + [2.5] * 200
    assert table["y"].to_pylist() == [None] * 400 + ["u"] * 200


@pytest.mark.usefixtures("small_blocks")
def test_csv__numbers_that_become_words(tmp_path: Path) -> None:
    """Words after numbers are refused, by file, column, row and value."""
    path = tmp_path / "x.csv"
    path.write_text("y,x\n" + "1,1\n" * 300 + "1,oops\n" + "1,1\n" * 3)
    message = (
        f"data={str(path)!r} cannot be read: column 'x' has 'oops' in row 300, but int64 before; "
        "write values of one type, or convert the file to Parquet"
    )
    with pytest.raises(ValueError, match=exactly(message)):
        list(source_of(path).batches(["x"]))
    assert len(rows_of(source_of(path).batches(["y"]))) == 304


IDS = [str(2**64 - 1 - i) for i in range(3)]  # alike as float64


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_empty", [0, 200])
def test_csv__whole_numbers_beyond_int64(n_empty: int, tmp_path: Path) -> None:
    """Ids stay apart, as text, from the first block on and behind empty cells."""
    path = tmp_path / "x.csv"
    ids = [""] * n_empty + IDS * 50
    path.write_text("id,score\n" + "".join(f"{one},1.5\n" for one in ids))
    table = source_of(path).read(["score", "id"])
    assert table["id"].to_pylist() == [one or None for one in ids]
    assert table["score"].to_pylist() == [1.5] * len(ids)
    floats = tmp_path / "floats.csv"
    floats.write_text("x\n" + "1e19\n18446744073709551615\n" * 50)
    assert source_of(floats).read(["x"])["x"].type == pa.float64()


@pytest.mark.usefixtures("small_blocks")
def test_csv__whole_numbers_that_leave_int64(tmp_path: Path) -> None:
    """After smaller ones they would be rounded: refused by file, column, row and value."""
    path = tmp_path / "x.csv"
    path.write_text("y,x\n" + "1,1\n" * 300 + f"1,{IDS[0]}\n" * 3)
    message = (
        f"data={str(path)!r} cannot be read: column 'x' has '{IDS[0]}' in row 300, but int64 "
        "before; write values of one type, or convert the file to Parquet"
    )
    with pytest.raises(ValueError, match=exactly(message)):
        list(source_of(path).batches(["x"]))


@pytest.mark.parametrize("n_rows", [3, 100_000])
def test_csv__groups_and_labels_beyond_int64(n_rows: int, tmp_path: Path) -> None:
    """One file that is loaded, and one that is streamed."""
    path = tmp_path / "x.csv"
    lines = [f"{IDS[i % 3]},{IDS[(i + (i % 3 > 0)) % 3]},{i % 3}\n" for i in range(n_rows)]
    path.write_text("gold,predicted,x\n" + "".join(lines))
    options: dict[str, Any] = {"data": path, "n_resamples": 9, "rng": 0}
    accuracy = fb.bootstrap(fb.accuracy("gold", "predicted"), **options)
    assert accuracy.estimate == sum(i % 3 == 0 for i in range(n_rows)) / n_rows
    assert fb.bootstrap("x", groups="gold", **options).n_units == 3
    assert list(fb.bootstrap("x", by="gold", **options)) == sorted(IDS)


@pytest.mark.usefixtures("small_blocks")
def test_csv__row_that_is_too_long(tmp_path: Path) -> None:
    """A block may be wrong though all its values fit."""
    path = tmp_path / "x.csv"
    path.write_text("y,x\n" + "1,1\n" * 300 + "1,1,1\n")
    with pytest.raises(ValueError, match=r"x\.csv' cannot be read: .*Expected 2 columns, got 3"):
        list(source_of(path).batches(["x"]))


@pytest.mark.usefixtures("small_blocks")
def test_csv__no_column_is_to_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the reader cannot convert, though each column seems to fit, is not tried for ever."""
    monkeypatch.setattr("fastboot.sources.delimited._fits", lambda *_: True)
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "1\n" * 300 + "oops\n")
    with pytest.raises(ValueError, match=r"x\.csv' cannot be read: .*invalid value 'oops'"):
        list(source_of(path).batches(["x"]))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_csv__column_that_is_not_there(suffix: str, tmp_path: Path) -> None:
    """All headers are looked at, and `where=` is checked."""
    a, b = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    write(pa.table({"x": [1], "y": [2]}), a)
    write(pa.table({"x": [1], "a\nb, c": [3]}), b)
    for name, message in {
        "y": f"data={str(b)!r} has no column 'y', which data={str(a)!r} has as int64.",
        "a\nb, c": f"data={str(a)!r} has no column 'a\\nb, c'.",
    }.items():
        with pytest.raises(ValueError, match=exactly(message)):
            source_of(tmp_path).read([name])
        with pytest.raises(ValueError, match=exactly(message)):
            source_of(tmp_path, [(name, "==", 2)])
    assert source_of(tmp_path, [("x", "==", 1)]).read(["x"]).num_rows == 2


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
@pytest.mark.parametrize("text", [b"", b"\n\n"])
def test_csv__empty_files(text: bytes, suffix: str, tmp_path: Path) -> None:
    """Beside others they have no rows, as empty JSON lines; alone they are refused."""
    for name in "ac":
        content = gzip.compress(text) if suffix == "csv.gz" else text
        (tmp_path / f"{name}.{suffix}").write_bytes(content)
    message = f"data={str(tmp_path / f'a.{suffix}')!r} cannot be read: Empty CSV file"
    with pytest.raises(ValueError, match=exactly(message)):
        source_of(tmp_path)
    write(pa.table({"x": [1, 2]}), tmp_path / f"b.{suffix}")
    source = source_of(tmp_path, [("x", "<", 2)])
    assert source.names == ["x"]
    assert source.read(["x"]).to_pylist() == [{"x": 1}]


def test_csv__text_that_is_not_utf_8(tmp_path: Path) -> None:
    """Beside such that is, before or behind: the message says how to convert it."""
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    for encodings, types in {
        ("utf-8", "latin1"): ("large_string", "large_binary"),
        ("latin1", "utf-8"): ("large_binary", "large_string"),
    }.items():
        for path, encoding in zip((a, b), encodings, strict=True):
            path.write_text("x,doc\n1,é\n", encoding=encoding)
        assert source_of(tmp_path).read(["x"]).num_rows == 2
        message = (
            f"column 'doc' is {types[1]} in data={str(b)!r} but {types[0]} in data={str(a)!r}; "
            "convert one of them: binary in a CSV file is text that is not UTF-8; save it as "
            "UTF-8, for example by `iconv -f latin1 -t utf-8`."
        )
        with pytest.raises(ValueError, match=exactly(message)):
            source_of(tmp_path).read(["doc"])


def test_csv__later_header(tmp_path: Path) -> None:
    """As pyarrow reads it: behind a byte order mark and empty lines, whatever other names are."""
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_bytes(b'\xef\xbb\xbf\n\n"y",x,\xe9\n3,4,5\n')
    assert source_of(tmp_path).read(["x", "y"]).to_pylist() == [{"x": 1, "y": 2}, {"x": 4, "y": 3}]
    (tmp_path / "b.csv").write_text("x" * 200_000)
    message = r"b\.csv' cannot be read: its header is no row of names \(field larger than"
    with pytest.raises(ValueError, match=message):
        source_of(tmp_path)


@pytest.mark.parametrize("first", [-1, 2**64])
def test_json_lines__numbers_too_large(first: int, tmp_path: Path) -> None:
    """Ids beyond int64 are not taken for a change of type."""
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"id": {first}}}\n{{"id": {2**64 + 1}}}\n')
    number, row = (first, 0) if first > 0 else (2**64 + 1, 1)
    message = (
        f"data={str(path)!r} cannot be read: column 'id' has {number} in row {row}, which int64 "
        "cannot hold; write such numbers as strings"
    )
    with pytest.raises(ValueError, match=exactly(message)):
        source_of(path).read(["id"])


def test_json_lines__numbers_beyond_int64(tmp_path: Path) -> None:
    """Ids of 64 bits stay what they are, beside small ones too."""
    ids = [5, 2**64 - 1, None, 2**63]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"id": one, "x": 1.5}) + "\n" for one in ids))
    for data in (path, tmp_path):
        assert source_of(data).read(["id"])["id"].to_pylist() == ids
    found = source_of(path, [("id", ">=", 2**63)]).read(["id"])
    assert found["id"].to_pylist() == [2**64 - 1, 2**63]


def test_json_lines__numbers_that_become_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one batch or the next; integers may become floats, and NaN stands for no word."""
    monkeypatch.setattr("fastboot.sources.json_lines.BLOCK", 4)
    path = tmp_path / "x.jsonl"
    for n_before in (1, 4, 9):
        lines = ['{"x": null, "y": "u"}'] + [
            '{"x": 1, "y": NaN}',
            '{"x": 1.5, "y": "u"}',
        ] * n_before
        path.write_text("\n".join([*lines, '{"x": "oops", "y": "v"}', '{"x": 2}']))
        message = (
            f"data={str(path)!r} cannot be read: column 'x' has 'oops' in row {len(lines)}, which "
            "does not go with the values before; write values of one type"
        )
        with pytest.raises(ValueError, match=exactly(message)):
            source_of(path).read(["x"])
        words = ["u"] * (n_before + 1) + ["v"]
        assert source_of(path).read(["y"])["y"].drop_null().to_pylist() == words
        path.write_text("\n".join(lines))
        expected = [None] + [1.0, 1.5] * n_before
        assert source_of(path).read(["x"])["x"].to_pylist() == expected


def test_json_lines__first_file_is_empty(tmp_path: Path) -> None:
    """The next one has the names."""
    (tmp_path / "a.jsonl").write_text("\n")
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n')
    source = source_of(tmp_path)
    assert source.names == ["x"]
    assert source.read(["x"])["x"].to_pylist() == [1]


def test_json_lines__fields_that_come_late(tmp_path: Path) -> None:
    """The message says where names were looked for, and what to do."""
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    advice = "a field that comes later must be in a row before, if only as null"
    a.write_text('{"x": 1}\n')
    b.write_text('{"x": 1, "z": 1}\n')
    many = f"names were not looked for in {str(b)!r} and behind it"
    late = f"names were looked for in the first 1,000 rows of {str(a)!r}"
    for rows, unseen in (1, f"; {many}; {advice}"), (1_000, f"; {late}; {advice}"):
        a.write_text('{"x": 1}\n' * rows + '{"x": 1, "z": 1}\n' * (rows > 1))
        message = f"no column 'z' in data; there are: x{unseen}."
        with pytest.raises(ValueError, match=exactly(message)):
            source_of(tmp_path).read(["z"])
        with pytest.raises(ValueError, match=exactly(f"`where`: {message}")):
            source_of(tmp_path, [("z", "==", 1)])
    a.write_text('{"x": 1, "z": null}\n' * 2)
    assert source_of(tmp_path, [("z", "==", 1)]).read(["x"]).num_rows == 1


# Tables that are loaded.


@pytest.mark.parametrize("kind", FORMATS)
def test_open_table__files(kind: str, tmp_path: Path) -> None:
    """A folder, a pattern and a list are loaded as one table."""
    write(pa.table({"x": [1, 2], "y": ["u", "v"]}), tmp_path / f"a.{kind}")
    write(pa.table({"x": [3], "y": ["u"]}), tmp_path / f"b.{kind}")
    files = sorted(tmp_path.iterdir())
    for data in (tmp_path, str(tmp_path / "*"), files, tuple(map(str, files))):
        assert names(data) == ["x", "y"]
        x, y = load([Column("x"), Column("y", "label")], data).columns
        assert isinstance(x, np.ndarray)
        assert x.tolist() == [1.0, 2.0, 3.0]
        assert getattr(y, "values", None) == ("u", "v")
    with pytest.raises(ValueError, match="no column 'z' in data; there are: x, y"):
        load([Column("z")], tmp_path)
    table = open_table(tmp_path)
    assert open_table(table) is table
    assert table.read(["x"]).column_names == ["x"]


def test_open_table__without_rows(tmp_path: Path) -> None:
    """Files of no rows are a table of no rows."""
    for name in ("a", "b"):
        write(pa.table({"x": pa.array([], pa.float64())}), tmp_path / f"{name}.parquet")
    with pytest.raises(
        ValueError, match=r"`values` \(column 'x'\) is empty; give at least one row"
    ):
        load([Column("x")], tmp_path)


def test_open_source__in_memory(tmp_path: Path) -> None:
    """What is in memory is no source; a small file is one."""
    table = pa.table({"x": [1]})
    in_memory = (table, table.to_batches()[0], table.to_reader(), table.to_pandas(), {"x": [1]})
    for data in (*in_memory, None, 3, [1], np.zeros(3), pa.Table):
        assert open_source(data) is None
    write(table, tmp_path / "x.parquet")
    assert open_source(tmp_path / "x.parquet") is not None


def test_narrowed__bytes_of_columns(tmp_path: Path) -> None:
    """What is inside a column is read with it; other files know only the whole."""
    columns = {"x": [1.5, 2.5], "y": ["u", "v"], "s": [{"t": 1, "u": [2]}] * 2}
    table = pa.table(columns)
    for kind in ("parquet", "arrow", "csv"):
        path = tmp_path / f"x.{kind}"
        write(table if kind != "csv" else table.select(["x", "y"]), path)
        fragments = source_of(path, [("x", ">", 2)]).fragments
        assert fragments is not None
        (whole,) = fragments
        assert whole.n_bytes is not None
        if kind != "parquet":
            assert whole.narrowed(["y"]) is whole
            continue
        group = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
        sizes = [group.column(i).total_compressed_size for i in range(4)]
        assert whole.n_bytes == sum(sizes)
        assert whole.narrowed(["y"]).n_bytes == sizes[0] + sizes[1]
        assert whole.narrowed(["s"]).n_bytes == sizes[0] + sizes[2] + sizes[3]
        narrow = whole.narrowed(["x"])
        assert narrow.narrowed(["y"]) is narrow
        assert narrow.n_bytes == sizes[0]
