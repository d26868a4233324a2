"""`where=` means the same in every procedure; `compare` in memory, in files and on executors."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import fastboot as fb
from fastboot import taking
from fastboot.blocks import BLOCK

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
    ([("narrow", ">", 0.1)], [0, 1, 3]),  # 0.1 in 32 bits is above 0.1
])  # fmt: skip
def test_where__numbers_of_other_widths(where: Any, rows: list[int], tmp_path: Path) -> None:
    """Integers beside floats, and 32 bits: alike in memory, and for any row groups."""
    expected = np.mean(np.array(NUMBERS["x"])[rows])
    pq.write_table(pa.table(NUMBERS), tmp_path / "0.parquet", row_group_size=2)
    for data in (NUMBERS, pa.table(NUMBERS), tmp_path / "0.parquet", tmp_path):
        assert expected == fb.bootstrap("x", data=data, where=where, n_resamples=1, rng=0).estimate


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
            "`where` cannot be applied: Function 'equal' has no kernel matching input types (int64,"
            " string). It looks at 'fold' of type int64; compare each column with a value of its "
            "own type."
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
