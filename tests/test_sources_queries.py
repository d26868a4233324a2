"""Sources that are no files: datasets, queries, functions that open readers, Hugging Face."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import pyarrow.parquet
import pytest
from sourced import open_files, rows_of, source_of, write

import fastboot as fb
from fastboot.blocks import BLOCK
from fastboot.columns import Column, load, names
from fastboot.companions.t_test import paired_t_test
from fastboot.files import open_table
from fastboot.sources.opening import open_source

N_ROWS = 2 * BLOCK + 7


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Return more rows than two batches have, in an order that shows."""
    return pa.table(
        {
            'the "x"': np.arange(N_ROWS, dtype=np.float64),
            "y": np.arange(N_ROWS) % 7,
            "word": pa.array(np.array(["u", "v", "w"])[np.arange(N_ROWS) % 3].tolist()),
        }
    )


@pytest.fixture
def folder(table: pa.Table, tmp_path: Path) -> Path:
    """Write the table as two files of two row groups each."""
    half = N_ROWS // 2
    write(table.slice(0, half), tmp_path / "a.parquet", 40_000)
    write(table.slice(half), tmp_path / "b.parquet", 40_000)
    return tmp_path


KINDS: dict[str, Callable[[Path, pa.Table], Any]] = {
    "dataset": lambda folder, _: pyarrow.dataset.dataset(folder),
    "dataset in memory": lambda _, table: pyarrow.dataset.dataset(table),
    "dataset with a filter": lambda folder, _: pyarrow.dataset.dataset(folder).filter(
        pc.field("y") >= 0
    ),
    "dataset of datasets": lambda folder, _: pyarrow.dataset.dataset(
        [pyarrow.dataset.dataset(folder / f"{name}.parquet") for name in "ab"]
    ),
    "other dataset": lambda folder, _: _OtherDataset(pyarrow.dataset.dataset(folder)),
    "relation": lambda folder, _: duckdb.connect().read_parquet(f"{folder}/*.parquet"),
    "lazy frame": lambda folder, _: pl.scan_parquet(folder / "*.parquet"),
    "lazy categories": lambda folder, _: pl.scan_parquet(folder / "*.parquet").with_columns(
        pl.col("word").cast(pl.Categorical)
    ),
    "factory": lambda _, table: table.to_reader,
    "factory of tables": lambda _, table: lambda: table,
    "factory of frames": lambda folder, _: lambda: pl.read_parquet(folder / "*.parquet"),
}


class _OtherDataset:
    """As Lance has it: no threads to choose."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.schema = dataset.schema

    def scanner(self, columns: list[str], batch_size: int = 9) -> Any:
        return self.dataset.scanner(columns=columns, batch_size=batch_size)


@pytest.mark.parametrize("kind", KINDS)
def test_query__every_kind(kind: str, folder: Path, table: pa.Table) -> None:
    """The same rows in the same order at every pass, a block at a time, and filtered."""
    source = source_of(KINDS[kind](folder, table))
    assert source.names == table.column_names
    wanted = ["word", 'the "x"']
    for _ in range(2):
        batches = list(source.batches(wanted))
        assert pa.Table.from_batches(batches).to_pydict() == table.select(wanted).to_pydict()
        assert max(batch.num_rows for batch in batches) <= BLOCK
    assert (source.fragments is None) == (kind not in {"dataset", "dataset of datasets"})
    where = (pc.field("word") == "v") & (pc.field("y") > 3)
    kept = source_of(KINDS[kind](folder, table), where).read(['the "x"'])
    assert kept.column_names == ['the "x"']
    assert kept.to_pydict() == table.filter(where).select(['the "x"']).to_pydict()
    with pytest.raises(ValueError, match=r"^`where`: no column 'z' in data; there are: "):
        open_source(KINDS[kind](folder, table), [("z", "==", 1)])
    with pytest.raises(ValueError, match=r"^no column 'z' in data; there are: "):
        list(source.batches(["z"]))


@pytest.mark.parametrize("kind", KINDS)
def test_open_table__every_kind(kind: str, folder: Path, table: pa.Table) -> None:
    """Statistics that need all rows load them."""
    data = KINDS[kind](folder, table)
    assert names(data) == table.column_names
    (x,) = load([Column('the "x"')], data).columns
    assert isinstance(x, np.ndarray)
    assert np.array_equal(x, np.arange(N_ROWS))


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed in /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_query__closed_early(kind: str, folder: Path, table: pa.Table) -> None:
    """A query that is left ends, and closes its files; the next one runs."""
    source = source_of(KINDS[kind](folder, table))
    for _ in range(2):
        batches = source.batches(["y"])
        next(batches)
        batches.close()
        deadline = time.monotonic() + 5.0  # engines close in threads of their own
        while open_files(folder) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert open_files(folder) == []
    assert source.read(["y"]).num_rows == N_ROWS


def test_t_test__every_kind(folder: Path, table: pa.Table) -> None:
    """The t test reads all of them batch by batch."""
    whole = paired_t_test('the "x"', "y", data=table, n_resamples=0)
    for data in (folder, *(opened(folder, table) for opened in KINDS.values())):
        found = paired_t_test('the "x"', "y", data=data, n_resamples=0)
        assert found.t == pytest.approx(whole.t, rel=1e-12)
        assert found.normality.n_outliers is None


# Datasets.


def test_dataset__partitions(tmp_path: Path) -> None:
    """Partition keys are columns, of the type of the dataset; they exclude whole files."""
    table = pa.table(
        {"split": ["dev", "test", None, "test"], "run": [1, 2, 1, 1], "x": [1.0, 2.0, 3.0, 4.0]}
    )
    schema = pa.schema([("split", pa.string()), ("run", pa.int32())])
    hive = pyarrow.dataset.partitioning(schema, flavor="hive")
    pyarrow.dataset.write_dataset(table, tmp_path, format="parquet", partitioning=hive)
    encoded = pyarrow.dataset.HivePartitioning.discover(infer_dictionary=True)
    for partitioning in ("hive", encoded):
        dataset = pyarrow.dataset.dataset(tmp_path, partitioning=partitioning)
        source = source_of(dataset)
        rows = sorted(rows_of(source.batches(["x", "split", "run"])), key=lambda row: row["x"])
        assert rows == [{"x": row["x"]} | row for row in table.to_pylist()]
        source = source_of(dataset, [("split", "==", "test"), ("run", "<", 2)])
        fragments = pickle.loads(pickle.dumps(source.fragments))  # noqa: S301 - our own
        assert len(fragments) == 1
        assert re.search(r"split=test/run=1/.*\.parquet', row group 0$", fragments[0].shown)
        assert rows_of(fragments[0].batches(["x", "run"])) == [{"x": 4.0, "run": 1}]
        # Keys are known though no column of the file is read.
        assert rows_of(fragments[0].batches(["split"])) == [{"split": "test"}]


def test_dataset__files_differ(tmp_path: Path) -> None:
    """A column that a file lacks is null, and types become those of the dataset."""
    write(pa.table({"x": [1], "y": [1.5]}), tmp_path / "a.parquet")
    write(pa.table({"x": pa.array([2], pa.int8())}), tmp_path / "b.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path)
    assert rows_of(source_of(dataset).batches(["x", "y"])) == dataset.to_table().to_pylist()
    where = pc.field("y").is_null()
    assert rows_of(source_of(dataset, where).batches(["x"])) == [{"x": 2}]


@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_dataset__other_formats(kind: str, tmp_path: Path) -> None:
    """Other files are parts of their own."""
    for name, value in {"a": 1, "b": 2}.items():
        write(pa.table({"x": [value] * 3, "word": ["u", "v", "u"]}), tmp_path / f"{name}.{kind}")
    dataset = pyarrow.dataset.dataset(tmp_path, format=kind)
    source = source_of(dataset, [("word", "==", "u")])
    fragments = pickle.loads(pickle.dumps(source.fragments))  # noqa: S301 - our own
    assert [fragment.n_rows for fragment in fragments] == [None, None]
    assert [row["x"] for one in fragments for row in rows_of(one.batches(["x"]))] == [1, 1, 2, 2]
    (tmp_path / f"b.{kind}").unlink()
    with pytest.raises(FileNotFoundError, match=rf"^data='.*b\.{kind}' cannot be read: "):
        source.read(["x"])


def test_dataset__row_groups_are_excluded_and_errors_named(tmp_path: Path) -> None:
    """As for a path."""
    path = tmp_path / "x.parquet"
    write(pa.table({"x": np.arange(2 * BLOCK)}), path, BLOCK)
    source = source_of(pyarrow.dataset.dataset(path), [("x", "<", BLOCK)])
    assert source.fragments is not None
    assert [fragment.n_rows for fragment in source.fragments] == [BLOCK]
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(ValueError, match=r"^data='.*x\.parquet', row group 0 cannot be read: "):
        source.read(["x"])


def test_dataset__memory_is_flat(tmp_path: Path) -> None:
    """A row group of 12 MB is not held, as Arrow's scanner would."""
    write(pa.table({"x": np.random.default_rng(0).normal(size=1_500_000)}), tmp_path / "x.parquet")
    before = pa.total_allocated_bytes()
    source = source_of(pyarrow.dataset.dataset(tmp_path))
    held = [pa.total_allocated_bytes() - before for _ in source.batches(["x"])]
    assert max(held) < 4_000_000


# Functions.


@pytest.mark.parametrize("data,message", [
    (lambda: 3, "`data` is a function that returned a int; it must return an Arrow "),
    (lambda: None, "`data` is a function that returned a NoneType; it must return an Arrow "),
    (dict, "`data` is a function that returned a dict; it must return an Arrow "),
    (lambda path: path, "`data` is a function that must be called with arguments (missing a "),
])  # fmt: skip
def test_factory__refused(data: Any, message: str) -> None:
    """What it takes and what it returns are checked when it is opened."""
    with pytest.raises(TypeError, match="^" + re.escape(message)):
        open_source(data)
    with pytest.raises(TypeError, match="^" + re.escape(message)):
        load([Column("x")], data)


def test_factory__later_pass_is_checked() -> None:
    """A later call may return something else."""
    found: list[Any] = [pa.table({"x": [1]}), pa.table({"y": [1]}), 3]
    source = source_of(lambda: found.pop(0))
    with pytest.raises(ValueError, match=r"^`data` cannot be read: there is no column 'x'$"):
        source.read(["x"])
    with pytest.raises(TypeError, match=r"^`data` is a function that returned a int"):
        source.read(["x"])


def test_factory__same_reader() -> None:
    """A reader that has been read has no rows."""
    reader = pa.table({"x": [1]}).to_reader()
    source = source_of(lambda: reader)
    message = (
        r"^`data` cannot be read: the function returned the same reader again; open a new one$"
    )
    with pytest.raises(ValueError, match=message):
        source.read(["x"])


def test_factory__other_rows() -> None:
    """Passes must see the same rows."""
    tables = [pa.table({"x": [1] * n}) for n in (1, 3, 3, 2)]
    source = source_of(lambda: tables.pop(0))
    assert len(list(source.batches(["x"]))) == 1
    list(source.batches(["x"]))
    with pytest.raises(ValueError, match=r"^`data` gave 3 rows and then 2; it must give the same"):
        list(source.batches(["x"]))


def test_factory__fails() -> None:
    """An error of Arrow is a sentence about `data`; one of the function's own comes through."""

    def batches() -> Any:
        yield pa.record_batch({"x": [1]})
        raise OSError("lost")

    schema = pa.schema({"x": pa.int64()})
    source = source_of(lambda: pa.RecordBatchReader.from_batches(schema, batches()))
    with pytest.raises(ValueError, match=r"^`data` cannot be read: .*lost"):
        source.read(["x"])

    def broken() -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        open_source(broken)


# Queries.


def test_relation__quoted_names() -> None:
    """Names are names, never SQL."""
    relation = duckdb.connect().sql('select 1 as "a, b", 2 as "x""y", 3 as "select"')
    source = source_of(relation)
    assert source.read(["select", 'x"y', "a, b"]).to_pylist() == [
        {"select": 3, 'x"y': 2, "a, b": 1}
    ]


def test_relation__only_wanted_columns_are_computed() -> None:
    """A column that cannot be computed does no harm, until it is asked for."""
    relation = duckdb.connect().sql("select range as x, error('broken') as y from range(3)")
    source = source_of(relation)
    assert source.read(["x"])["x"].to_pylist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"^`data` cannot be read: .*broken"):
        source.read(["y"])


def test_relation__of_a_reader() -> None:
    """A relation over a reader can be read once; more is refused, and never taken for no rows."""
    source = source_of(duckdb.from_arrow(pa.table({"x": [1, 2]}).to_reader()))
    assert source.read(["x"]).num_rows == 2
    with pytest.raises(ValueError, match=r"^`data` cannot be read: .*already been consumed"):
        source.read(["x"])


def test_lazy_frame__only_wanted_columns_are_computed(folder: Path) -> None:
    """The query that runs is one for these columns."""
    seen = []

    def watched(values: pl.Series) -> pl.Series:
        seen.append(len(values))
        return values

    frame = pl.scan_parquet(folder / "*.parquet").with_columns(
        z=pl.col("y").map_batches(watched, return_dtype=pl.Int64)
    )
    source = source_of(frame)
    source.read(["y"])
    assert seen == []
    source.read(["z"])
    assert sum(seen) == N_ROWS


def test_lazy_frame__names_are_no_patterns() -> None:
    """Polars takes strings such as these for patterns."""
    table = pa.table({"s": [1], "^s$": [2], "*": [3], "^.*$": [4]})
    source = source_of(pl.LazyFrame(table.to_pydict()))
    for name in table.column_names:
        assert source.read([name]).to_pydict() == {name: table[name].to_pylist()}
    assert source.read(["*", "s"]).to_pylist() == [{"*": 3, "s": 1}]


def test_lazy_frame__fails(folder: Path) -> None:
    """When it is opened, and when it is read."""
    with pytest.raises(ValueError, match=r"^`data` cannot be read: .*nothing"):
        open_source(pl.scan_parquet(folder / "*.parquet").select("nothing"))
    source = source_of(pl.scan_parquet(folder / "*.parquet"))
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(FileNotFoundError, match=r"^`data` cannot be read: "):
        source.read(["y"])


def test_lazy_frame__objects() -> None:
    """Polars exports Python objects as their addresses."""
    frame = pl.DataFrame({"y": [1, 2], "o": pl.Series([1, "u"], dtype=pl.Object)}).lazy()
    assert source_of(frame).read(["y"])["y"].to_pylist() == [1, 2]
    message = (
        "^`data` cannot be read: column 'o' holds Python objects; cast it to a type of values$"
    )
    with pytest.raises(ValueError, match=message):
        source_of(frame).read(["o"])


# Hugging Face.

MAPPINGS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda data: data,
    "shuffled": lambda data: data.select(np.random.default_rng(1).permutation(len(data))),
    "sorted": lambda data: data.select(np.arange(0, len(data), 3)),
    "shard": lambda data: data.shard(4, 2),
    "repeated": lambda data: data.select([5, 5, 0, 5]),
    "shuffled twice": lambda data: data.shuffle(seed=0).shuffle(seed=1).select(range(1_000)),
    "one of two": lambda data: data.train_test_split(0.3, seed=0)["train"],
}


@pytest.fixture(scope="module")
def hugging_face(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a dataset that lies in a file of many small batches."""
    import datasets  # takes a second

    folder = tmp_path_factory.mktemp("hugging_face")
    columns = {name: table[name].to_pylist() for name in table.column_names}
    datasets.Dataset.from_dict(columns).save_to_disk(folder)
    return datasets.load_from_disk(folder)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_hugging_face__mappings(
    mapping: str, hugging_face: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows come in the order that the mapping says, from near or far."""
    data = MAPPINGS[mapping](hugging_face)
    expected = {name: data[name][:] for name in ("word", "y")}
    for span in (1, 1 << 30):
        monkeypatch.setattr("fastboot.sources.hugging_face._SPAN", span)
        source = source_of(data)
        assert source.fragments is None
        assert source.names == data.column_names
        for _ in range(2):
            batches = list(source.batches(["word", "y"]))
            assert pa.Table.from_batches(batches).to_pydict() == expected
            assert max(batch.num_rows for batch in batches) <= BLOCK
    kept = source_of(data, [("word", "==", "u")]).read(["y"])["y"].to_pylist()
    pairs = zip(expected["word"], expected["y"], strict=True)
    assert kept == [y for word, y in pairs if word == "u"]


def test_hugging_face__loaded(hugging_face: Any) -> None:
    """Statistics that need all rows load them, in the mapped order."""
    data = hugging_face.select([3, 1])
    rows = load([Column('the "x"'), Column("word", "label")], data)
    assert isinstance(rows.columns[0], np.ndarray)
    assert rows.columns[0].tolist() == [3.0, 1.0]
    assert open_table(data).names == data.column_names


def test_hugging_face__what_is_no_table(hugging_face: Any) -> None:
    """Splits are no columns, and what streams is no dataset: each says what to give."""
    import datasets

    both = datasets.DatasetDict({"test": hugging_face, "dev": hugging_face})
    message = r"^`data` is a DatasetDict of the splits test, dev; give one, data\['test'\]\.$"
    for data in (both, datasets.IterableDatasetDict({"test": hugging_face.to_iterable_dataset()})):
        pattern = message if data is both else r"^`data` is a IterableDatasetDict of the splits t"
        with pytest.raises(TypeError, match=pattern):
            fb.bootstrap('the "x"', data=data)
        with pytest.raises(TypeError, match=pattern):
            fb.bootstrap('the "x"', data=data, where=[("word", "==", "u")])
    streams = hugging_face.to_iterable_dataset()
    message = (
        r"^`data` is an IterableDataset, whose rows come once; load it without streaming=True, "
    )
    with pytest.raises(TypeError, match=message):
        fb.bootstrap('the "x"', data=streams)
    collected = datasets.Dataset.from_list(list(streams))
    assert open_table(collected).names == hugging_face.column_names
    assert open_table({"x": [1.0]}).names == ["x"]


def test_hugging_face__by_what_it_has() -> None:
    """Nothing is imported for it; frames with columns of these names are none."""
    mapping = types.SimpleNamespace(table=pa.table({"indices": pa.array([2, 0], pa.uint64())}))
    held = types.SimpleNamespace(table=pa.table({"x": [1, 2, 3]}))
    data = types.SimpleNamespace(data=held, features={"x": None}, _indices=mapping)
    assert source_of(data).read(["x"])["x"].to_pylist() == [3, 1]
    frame = pa.table({"data": [1], "features": [1], "_indices": [1], "scanner": [1]}).to_pandas()
    assert open_source(frame) is None
    assert names(frame) == ["data", "features", "_indices", "scanner"]


def test_import__is_light() -> None:
    """Opening a file imports neither data frames nor engines."""
    heavy = ["pandas", "polars", "duckdb", "datasets", "pyarrow.dataset", "pyarrow.acero"]
    program = (
        "import sys, fastboot.sources.opening as o; "
        f"o.open_source({{}}); print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
