"""Which files `data` means, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pytest
from sourced import source_of, write

import fastboot as fb
from fastboot.columns import Column, load
from fastboot.files import open_table
from fastboot.sources.opening import open_source

SUFFIXES = (
    ".parquet, .pq, .arrow, .feather, .ipc, .csv, .tsv, .jsonl, .ndjson, .json (text also as .gz)"
)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write files of one row each, whose value is the place in the order, or -1, and go there."""
    files = {
        "runs/a-b/x.parquet": 2, "runs/a/z.parquet": 0, "runs/a/zz.pq": 1, "runs/b.parquet": 3,
        "runs/.hidden.parquet": -1, "runs/_temporary/x.parquet": -1, "runs/_x.parquet": -1,
        "runs/.git/x.parquet": -1,
    }  # fmt: skip
    for name, value in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(pa.table({"x": [value]}), path.with_suffix(".parquet"))
        path.with_suffix(".parquet").rename(path)
    (tmp_path / "runs/_SUCCESS").touch()
    (tmp_path / "runs/README.md").touch()
    (tmp_path / "runs/data[1].csv").write_text("x\n7\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("data,expected", [
    ("runs/a", [0, 1]),
    ("runs/*.parquet", [3]),
    ("runs/*", [0, 1, 2, 3]),  # folders that match are read as such
    ("runs/a*", [0, 1, 2]),
    ("runs/**", [0, 1, 2, 3]),
    ("runs/_*.parquet", [-1]),  # spelt so
    ("runs/.g*/*", [-1]),
    ("runs/_temporary/*", [-1]),
    ("runs/_t*/*", [-1]),
    ("../{here}/runs/a/*", [0, 1]),
    ("runs/[a-z]*.parquet", [3]),
    ("runs/**/*.p*q*", [0, 1, 2, 3]),
    ("runs/*/*.p*q*", [0, 1, 2]),
    (["runs/b.parquet", "runs/a"], [3, 0, 1]),
    (["runs/b.parquet", "runs/a/z.parquet"], [3, 0]),
    ((Path("runs/a/*.pq"), Path("runs/b.parquet")), [1, 3]),
    ("runs/data[1].csv", [7]),  # a file with such a name is no pattern
])  # fmt: skip
def test_files__in_order(runs: Path, data: Any, expected: list[int]) -> None:
    """Folders and patterns are sorted, folder by folder; lists are as given."""
    if "data[1]" not in data:
        (runs / "runs/data[1].csv").unlink()
    if isinstance(data, str):
        data = data.format(here=runs.name)
    assert source_of(data).read(["x"])["x"].to_pylist() == expected


def test_files__folder(runs: Path) -> None:
    """Folders in it, but nothing hidden, nothing marked by an underscore, nothing unknown."""
    (runs / "runs/data[1].csv").unlink()
    assert source_of("runs").read(["x"])["x"].to_pylist() == [0, 1, 2, 3]
    assert source_of(runs / "runs").read(["x"]).num_rows == 4


@pytest.mark.parametrize("pattern", ["*.parquet", "b*", "**/*.parquet"])
def test_files__folders_that_match(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark and Dask write folders with the suffix of files; these may lie beside files."""
    monkeypatch.chdir(tmp_path)
    names = ["a.parquet", "b.parquet/part-0.parquet", "b.parquet/sub/1.parquet", "c.parquet"]
    for value, name in enumerate(names):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        write(pa.table({"x": [value]}), Path(name))
    Path("b.parquet/_SUCCESS").touch()
    Path("b.parquet/_temporary").mkdir()
    Path("b.parquet/_temporary/x.parquet").touch()
    expected = [1, 2] if pattern == "b*" else [0, 1, 2, 3]
    assert source_of(pattern).read(["x"])["x"].to_pylist() == expected


@pytest.mark.parametrize("data", [".", "*.parquet"])
def test_files__link_to_nothing(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is named but not there is no fewer rows."""
    monkeypatch.chdir(tmp_path)
    write(pa.table({"x": [1]}), tmp_path / "a.parquet")
    Path("b.parquet").symlink_to("gone.parquet")
    with pytest.raises(FileNotFoundError, match=r"^data='b\.parquet' cannot be read: "):
        open_source(data)


@pytest.mark.parametrize("data", [".", "*", "a*"])
@pytest.mark.parametrize("name", [
    "a/x.parquet.gz", "a.csv.bz2", "a.csv.zst", "a.jsonl.xz", "a.CSV.ZST"
])  # fmt: skip
def test_files__compressed_otherwise(
    data: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold rows, so they are not left out silently; hidden ones and unknown ones are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a.csv").write_text("x\n1\n")
    for other in ("README.txt.gz", "a.csv.crc", "part-0001", "_a.csv.bz2"):
        (tmp_path / other).touch()
    assert source_of(data).read(["x"]).num_rows == 1
    (tmp_path / name).touch()
    message = (
        f"data={data!r} means {name!r} too, compressed as fastboot does not read it; decompress "
        "or convert it, or name the files that count in a list."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        open_source(data)
    assert source_of(["a.csv"]).read(["x"]).num_rows == 1


@pytest.mark.parametrize("data", [".", "runs", "runs/*", "runs/lang=de/*/*.parquet"])
def test_files__folders_that_name_values(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Hive writes them: the message says how to read these, and that works."""
    monkeypatch.chdir(tmp_path)
    for value, split in enumerate(("dev", "test")):
        folder = Path("runs/lang=de", f"split={split}")
        folder.mkdir(parents=True)
        write(pa.table({"x": [value]}), folder / "x.parquet")
    message = (
        "no column 'split' in data; there are: x; but folders name it, such as 'split=dev': give "
        "pyarrow.dataset.dataset('runs', partitioning='hive'), which reads it."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        source_of(data).check(["split"])
    where = [("split", "==", "test")]
    with pytest.raises(ValueError, match=f"^`where`: {re.escape(message)}$"):
        open_source(data, where)
    with pytest.raises(ValueError, match=r"no column 'plit' in data; there are: x\.$"):
        source_of(data).check(["plit"])
    # A median is of rows in memory.
    with pytest.raises(ValueError, match=f"^`values`: {re.escape(message)}$"):
        fb.bootstrap(fb.median("split"), data=data)
    with pytest.raises(ValueError, match=f"^`where`: {re.escape(message)}$"):
        fb.bootstrap(fb.median("x"), data=data, where=where)
    given = pyarrow.dataset.dataset("runs", partitioning="hive")
    assert source_of(given, where).read(["x"])["x"].to_pylist() == [1]


@pytest.mark.parametrize("data", [
    "~/runs", "~/runs/b.parquet", "~/runs/*", ["~/runs/b.parquet"], Path("~/runs"),
])  # fmt: skip
def test_files__at_home(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell would expand these, and Python does not."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "runs").mkdir()
    write(pa.table({"x": [7]}), tmp_path / "runs/b.parquet")
    assert source_of(data).read(["x"])["x"].to_pylist() == [7]
    assert open_table(data).read(["x"])["x"].to_pylist() == [7]
    with pytest.raises(ValueError, match=r"^data='~no one' has no suffix that fastboot reads"):
        open_source("~no one")


@pytest.mark.parametrize("scheme", ["s3", "gs", "https", "file", "hdfs"])
@pytest.mark.parametrize("name", ["runs/x.parquet", "runs", "runs/*.csv"])
@pytest.mark.parametrize("kind", [str, Path])
def test_files__addresses(kind: type, name: str, scheme: str) -> None:
    """The message says what opens them; a Path keeps one of two slashes."""
    data = kind(f"{scheme}://{name}")
    message = (
        f"data={str(data)!r} is an address, and fastboot reads paths; open it and give that: "
        f"pyarrow.dataset.dataset('{scheme}://{name}', format=...). What pyarrow cannot open, "
        "download."
    )
    for call in (
        open_source,
        lambda data: open_source([data]),
        lambda data: load([Column("x")], data),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            call(data)


@pytest.mark.parametrize("data", ["", [""], ["a.parquet", ""]])
def test_files__empty_path(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for the working directory."""
    monkeypatch.chdir(tmp_path)
    write(pa.table({"x": [1.0, 2.0]}), Path("a.parquet"))
    message = (
        r"^`data` has an empty path; give that of a file or a folder, '\.' for the working direct"
    )
    with pytest.raises(ValueError, match=message):
        open_source(data)
    with pytest.raises(ValueError, match=message):
        fb.bootstrap("x", data=data)
    assert fb.bootstrap("x", data=".", n_resamples=9).n_rows == 2


def test_files__folder_named_as_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is a path."""
    monkeypatch.chdir(tmp_path)
    Path("s3:").mkdir()
    Path("s3:/x.csv").write_text("x\n7\n")
    assert source_of("s3://x.csv").read(["x"]).num_rows == 1


@pytest.mark.parametrize("data,error,message", [
    ("empty", FileNotFoundError,
     f"data='empty': there is no file in this folder that fastboot reads: {SUFFIXES}."),
    ("empty/*.csv", FileNotFoundError,
     f"data='empty/*.csv': no file matches that fastboot reads: {SUFFIXES}."),
    ("runs/*.md", FileNotFoundError,
     f"data='runs/*.md': no file matches that fastboot reads: {SUFFIXES}."),
    ("nowhere", ValueError,
     f"data='nowhere' has no suffix that fastboot reads; there are: {SUFFIXES}."),
    ("nowhere.csv", FileNotFoundError, "data='nowhere.csv': there is no such file."),
    (["runs/b.parquet", "nowhere.csv"], FileNotFoundError,
     "data='nowhere.csv': there is no such file."),
    ([], FileNotFoundError, "data=[] names no file; give at least one."),
    ((), FileNotFoundError, "data=() names no file; give at least one."),
    (["runs/b.parquet", "runs/data[1].csv"], ValueError,
     ("data means files of two formats, 'runs/b.parquet' and 'runs/data[1].csv'; give files of one "
      "format, by a pattern such as 'runs/*.parquet' or as a list.")),
    ("runs", ValueError, "data means files of two formats, "),
    (["runs/a", "runs/a/../a/z.parquet"], ValueError,
     "data names the file 'runs/a/../a/z.parquet' twice; its rows would count twice."),
])  # fmt: skip
def test_files__refused(runs: Path, data: Any, error: type[Exception], message: str) -> None:
    """By name, before anything is read; as a source and as a table that is loaded."""
    del runs
    with pytest.raises(error, match="^" + re.escape(message)):
        open_source(data)
    with pytest.raises(error, match="^" + re.escape(message)):
        load([Column("x")], data)


@pytest.mark.parametrize("name,content", [
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
])  # fmt: skip
def test_files__that_are_not_what_their_suffix_says(
    name: str, content: bytes, tmp_path: Path
) -> None:
    """The file is named in one line, the cause is kept."""
    path = tmp_path / name
    path.write_bytes(content)
    message = f"^data={re.escape(repr(str(path)))} cannot be read: [^\n]+$"
    with pytest.raises(ValueError, match=message) as caught:
        source_of([path]).read(["a"])
    assert caught.value.__cause__ is not None
