"""Faults in data read block by block: who has it is named, and nothing is left behind."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest
from scanning import SEED
from sourced import open_files, write

import fastboot as fb
from fastboot.blocks import BLOCK

N_THREADS = (1, 2)
OPTIONS: dict[str, Any] = {"rng": SEED, "n_resamples": 20}
SIZE = 90_000  # rows of a file
GROUP = 30_000  # of its row groups, of which two are read together
N_FILES = 4


@cache
def known_columns(number: int) -> dict[str, Any]:
    """Return the columns of a file as they should be."""
    rng = np.random.default_rng(number)
    return {
        "a": rng.normal(size=SIZE),
        "b": rng.normal(size=SIZE),
        "n": rng.integers(0, 9, SIZE),
        "weight": rng.random(SIZE),
        "user": pa.array([f"user {number}" for number in rng.integers(0, 2_000, SIZE)]),
        "outcome": rng.integers(0, 2, SIZE),
        "chance": rng.random(SIZE),
    }


def columns_of(number: int) -> dict[str, Any]:
    """Return the columns of a file, to be changed."""
    return dict(known_columns(number))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder."""
    made = tmp_path / "runs"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def small_extents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tasks one block each: files are several tasks."""
    monkeypatch.setattr("fastboot.passes._EXTENT", 1)


def written(
    folder: Path, spoil: Callable[[int, dict[str, Any]], object] | None = None,
    kind: str = "parquet", n_files: int = N_FILES,
) -> None:  # fmt: skip
    """Write the files; what is wrong with the columns of some is up to the caller."""
    for number in range(n_files):
        columns = columns_of(number)
        if spoil is not None:
            spoil(number, columns)
        write(pa.table(columns), folder / f"{number}.{kind}", GROUP)


@contextmanager
def nothing_left(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that threads have ended, files are closed, and there is none of our own."""
    before = set(threading.enumerate())
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield
    assert set(threading.enumerate()) <= before
    if sys.platform == "linux":
        assert open_files(folder) == []
    assert list(scratch.iterdir()) == []


Refuse = Callable[..., Any]


@pytest.fixture
def refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., BaseException]:
    """Return how to run what must fail: while its error is at hand, nothing may be left."""

    def run(call: Callable[..., Any], kind: type[BaseException], message: Any, **how: Any) -> Any:
        if isinstance(message, str):
            message = re.compile(f"^{re.escape(message)}$")
        with (
            nothing_left(folder, tmp_path, monkeypatch),
            pytest.raises(kind, match=message) as caught,
        ):
            call(data=str(folder), **OPTIONS, **how)
        return caught.value

    return run


def in_part(folder: Path, number: int, part: str, row: str = "") -> str:
    """Return how a message ends that names a part of a file."""
    where = f", where row 0 is row {row}" if row else ""
    return f" In '{folder}/{number}.parquet', {part}{where}."


MEAN: dict[str, Callable[..., Any]] = {
    "bootstrap": lambda **how: fb.bootstrap("a", **how),
    "pair": lambda **how: fb.paired_bootstrap("b", "a", **how),
    "swaps": lambda **how: fb.approximate_randomization("a", "b", **how),
    "groups": lambda **how: fb.bootstrap("a", groups="user", **how),
    "variance": lambda **how: fb.bootstrap(fb.variance("a"), **how),
}


# Values.


def spoiled(number: int, column: str, row: int, value: Any) -> Callable[[int, Any], None]:
    """Return how to put a value into a row of a column of a file."""

    def spoil(here: int, columns: dict[str, Any]) -> None:
        if here == number:
            values = pa.array(columns[column]).to_pylist()
            values[row] = value
            columns[column] = pa.array(values)

    return spoil


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("call", MEAN)
def test_values__null_in_the_last_row(
    call: str, n_threads: int, folder: Path, refused: Refuse
) -> None:
    """Of the last file."""
    written(folder, spoiled(N_FILES - 1, "a", SIZE - 1, None))
    name = {"bootstrap": "statistic", "groups": "statistic", "variance": "values",
            "pair": "b", "swaps": "a"}[call]  # fmt: skip
    message = (
        f"`{name}` (column 'a') has 1 null (first at row 29,999); "
        'pass nan_policy="omit" to drop those rows, or fill them.'
    )
    where = in_part(folder, N_FILES - 1, "row group 2")
    refused(MEAN[call], ValueError, message + where, n_threads=n_threads)


VALUES: dict[str, tuple[Callable[..., Any], str, Any, type[Exception], str]] = {
    "NaN": (
        MEAN["bootstrap"], "a", math.nan, ValueError,
        ("`statistic` (column 'a') has 1 NaN (first at row 3); "
         'pass nan_policy="omit" to drop those rows, or fill them.'),
    ),
    "infinity": (
        MEAN["pair"], "a", math.inf, ValueError,
        ("`b` (column 'a') has 1 infinite value (first at row 3); replace or drop what is not "
         "finite."),
    ),
    "large integer": (
        lambda **how: fb.bootstrap("n", **how), "n", 2**53 + 1, ValueError,
        ("`statistic` (column 'n') has 9007199254740993 at row 3, beyond 2**53, where float64 "
         "would change it; subtract or divide first."),
    ),
    "negative weight": (
        lambda **how: fb.bootstrap("a", weights="weight", **how), "weight", -0.5, ValueError,
        "`weights` has 1 value below 0 or missing (first at row 3: -0.5); weights are 0 or more.",
    ),
    "no key": (
        MEAN["groups"], "user", None, ValueError,
        ("`groups` (column 'user') has 1 null (first at row 3); drop those rows or give them a "
         "group of their own."),
    ),
    "no probability": (
        lambda **how: fb.bootstrap(fb.brier_score("outcome", "chance"), **how), "chance", 1.5,
        ValueError,
        ("`score` (column 'chance') has 1 value outside [0, 1] (first at row 3: 1.5); a "
         "probability is from 0 to 1."),
    ),
    "no count": (
        lambda **how: fb.bootstrap(fb.precision(tp="n", fp="outcome"), **how), "n", -1, ValueError,
        "`tp` (column 'n') has 1 negative count (first at row 3: -1); counts are 0 or more.",
    ),
    "overflow": (
        lambda **how: fb.bootstrap(fb.rmse("a", "b"), **how), "a", 1e200, ValueError,
        "rmse.terms() returned infinity in 1 rows (first at row 3); terms must be finite.",
    ),
}  # fmt: skip


# Where the third block begins, and in its last piece of three.
@pytest.mark.parametrize("number, first", [(1, 41_072), (2, 0)])
@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("name", VALUES)
def test_values__in_a_later_file(
    name: str, n_threads: int, number: int, first: int, folder: Path, refused: Refuse
) -> None:
    """Rows are counted from where the block meets the part of the file."""
    assert (number, first) in {(1, 2 * BLOCK - SIZE), (2, 0)}
    call, column, value, kind, message = VALUES[name]
    written(folder, spoiled(number, column, first + 3, value))
    where = in_part(folder, number, "row groups 0 to 1", f"{first:,}" if first else "")
    refused(call, kind, message + where, n_threads=n_threads)


@pytest.mark.parametrize("bad", ["key", "infinity"])
def test_values__of_rows_to_omit(bad: str, folder: Path, refused: Refuse) -> None:
    """A row that is left out for a missing value is looked at, as in memory."""

    def spoil(number: int, columns: dict[str, Any]) -> None:
        spoiled(2, "a", 5, math.nan)(number, columns)
        if bad == "key":
            spoiled(2, "user", 5, None)(number, columns)
        else:
            spoiled(2, "b", 5, math.inf)(number, columns)

    written(folder, spoil)
    message = {
        "key": "`groups` (column 'user') has 1 null (first at row 5); drop those rows or give them "
        "a group of their own.",
        "infinity": "`b` (column 'b') has 1 infinite value (first at row 5); replace or drop what "
        "is not finite.",
    }[bad]
    how: dict[str, Any] = {"groups": "user"} if bad == "key" else {}
    refused(
        lambda **own: fb.paired_bootstrap("a", "b", nan_policy="omit", **how, **own),
        ValueError,
        message + in_part(folder, 2, "row groups 0 to 1"),
    )


def test_values__after_rows_to_omit(folder: Path, refused: Refuse) -> None:
    """Rows that were left out are not counted, so nothing is said of the first."""

    def spoil(number: int, columns: dict[str, Any]) -> None:
        spoiled(1, "a", 50_000, math.nan)(number, columns)
        spoiled(1, "weight", 50_008, -1.0)(number, columns)

    written(folder, spoil)
    refused(
        lambda **how: fb.bootstrap("a", weights="weight", nan_policy="omit", **how),
        ValueError,
        "`weights` has 1 value below 0 or missing (first at row 8,935: -1); weights are 0 or more."
        + in_part(folder, 1, "row groups 0 to 1"),
    )


def test_values__of_labels(folder: Path, refused: Refuse) -> None:
    """Labels are counted before anything is made of them; rows are looked for then."""
    rng = np.random.default_rng(SEED)
    for number in range(2):
        winners = np.array(["a", "b", "tie"])[rng.integers(0, 3, SIZE)].tolist()
        if number:
            winners[50_000] = "nobody"
        rows = pa.table({"winner": winners, "gold": winners})
        write(rows, folder / f"{number}.parquet", GROUP)
    asked = {"wins": fb.win_rate("winner"), "F": fb.f_score("gold", "winner", average="macro")}
    refused(
        lambda **how: fb.bootstrap(asked, **how),
        ValueError,
        "`first_order` (column 'winner') has 1 label other than 'a', 'b', 'tie' (first at row "
        "8,928: 'nobody'); say with win=, loss= and tie= what they mean."
        + in_part(folder, 1, "row groups 0 to 1", "41,072"),
    )


def test_values__of_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that opens readers has rows, and these are closed."""
    columns = columns_of(0)
    spoiled(0, "a", 80_000, math.nan)(0, columns)
    whole = pa.table(columns)
    living: list[int] = []

    def rows() -> Iterator[Any]:
        living.append(1)
        try:
            yield from whole.to_batches(max_chunksize=30_000)
        finally:
            living.pop()

    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(whole.schema, rows())

    for n_threads in N_THREADS:
        for call in (MEAN["bootstrap"], MEAN["groups"], MEAN["variance"]):
            with (
                nothing_left(tmp_path, tmp_path, monkeypatch),
                pytest.raises(ValueError, match="has 1 NaN") as caught,
            ):
                call(data=reader, n_threads=n_threads, **OPTIONS)
            assert str(caught.value).endswith(
                ' has 1 NaN (first at row 14,464); pass nan_policy="omit" to drop those rows, or '
                "fill them. In `data`, where row 0 is row 65,536."
            )
            assert living == []


@pytest.mark.parametrize("cut", [BLOCK, BLOCK - 5_000])
def test_keys__of_two_types(cut: int, folder: Path, refused: Refuse) -> None:
    """Whole numbers that one type cannot hold, in files that end with a block or within one."""
    rng = np.random.default_rng(0)
    for number, (n_rows, kind) in enumerate(
        [(cut, np.uint64(2**63 + 5)), (2 * BLOCK - cut, np.int64(3))]
    ):
        rows = {"s": rng.normal(size=n_rows), "k": np.full(n_rows, kind)}
        pq.write_table(pa.table(rows), folder / f"{number}.parquet")
    within = (
        rf"^`groups` \(column 'k'\) is uint64 in '{folder}/0\.parquet', row group 0 and int64 in "
        rf"'{folder}/1\.parquet', row group 0, and no type holds the values of all \(Integer value "
        r"9223372036854775813 not in range.*\); convert the column to one type\.$"
    )
    between = r"^`groups` is uint64 in some rows of `data`, and int64, .*to one type\."
    call = partial(fb.bootstrap, "s", groups="k")
    refused(call, ValueError, re.compile(between if cut == BLOCK else within), n_threads=1)


def test_values__row_of_those_that_where_keeps(folder: Path, refused: Refuse) -> None:
    """The row is not one of the file, and the message does not say so."""
    n_rows = 200_000
    s, q = np.zeros(n_rows), np.arange(n_rows) % 10
    s[190_003] = np.nan
    table = pa.table({"s": s, "q": q})
    pq.write_table(table, folder / "0.parquet", row_group_size=n_rows)
    message = (
        "`statistic` (column 's') has 1 NaN (first at row 10,467); "
        'pass nan_policy="omit" to drop those rows, or fill them. '
        f"In '{folder}/0.parquet', row group 0, where row 0 is row 65,536 of those that `where` "
        "keeps."
    )
    assert 10_467 + 65_536 == np.count_nonzero(q[:190_003] < 4)
    refused(partial(fb.bootstrap, "s", where=[("q", "<", 4)]), ValueError, message, n_threads=1)


class Unfit(fb.Additive):
    """A statistic that fails in a way of its own."""

    def terms(self, values: Any) -> Any:
        """Fail in a late block."""
        if (values > 5.0).any():
            raise KeyError("of its own")
        return values, 1.0

    def finish(self, total: Any, count: Any) -> Any:
        """Return the mean."""
        return total / count


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_statistic__fails(
    n_threads: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it raises comes out, with a note of where it was."""
    written(folder, spoiled(2, "a", 80_000, 9.0))
    with nothing_left(folder, tmp_path, monkeypatch), pytest.raises(KeyError) as caught:
        fb.bootstrap(Unfit("a"), data=str(folder), n_threads=n_threads, **OPTIONS)
    assert caught.value.args == ("of its own",)
    parts = f"'{folder}/2.parquet', row groups 0 to 1 up to '{folder}/2.parquet', row group 2"
    assert caught.value.__notes__ == [f"in {parts}"]


# Files.


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("call", ["bootstrap", "pair", "swaps", "variance"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files__disappear(
    kind: str, call: str, n_threads: int, folder: Path, refused: Refuse
) -> None:
    """The last one, as soon as the first rows were read."""
    n_files = N_FILES if kind == "parquet" else 2
    written(folder, kind=kind, n_files=n_files)
    last = folder / f"{n_files - 1}.{kind}"
    part = ", row groups? [0-2].*" if kind == "parquet" else ""
    refused(
        MEAN[call],
        FileNotFoundError,
        re.compile(rf"^data='{last}'{part} cannot be read: .* No such file .*$"),
        n_threads=n_threads,
        progress=lambda _, __: last.unlink(missing_ok=True),
    )


def in_draws(action: Callable[[], object]) -> Callable[[int, int], None]:
    """Return a progress that does something as soon as a replicate is done in part."""
    done: list[int] = []

    def progress(n_done: int, _: int) -> None:
        if n_done and not done:
            done.append(n_done)
            action()

    return progress


@pytest.mark.parametrize("call", ["bootstrap", "pair", "variance"])
def test_files__disappear_in_draws(call: str, folder: Path, refused: Refuse) -> None:
    """After the survey; rows are read again."""
    written(folder)
    last = folder / f"{N_FILES - 1}.parquet"
    message = re.compile(rf"^data='{re.escape(str(last))}', row group.* cannot be read: .*No such")
    refused(MEAN[call], FileNotFoundError, message, n_threads=1, progress=in_draws(last.unlink))


@pytest.mark.parametrize("in_survey", [True, False])
@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "dataset"])
def test_files__written_to(kind: str, in_survey: bool, folder: Path, refused: Refuse) -> None:
    """The first one gets other values, and as many rows: one pass would not go with another."""
    suffix = "parquet" if kind == "dataset" else kind
    written(folder, kind=suffix)
    first = folder / f"0.{suffix}"
    other = folder.parent / f"other.{suffix}"
    write(pa.table(columns_of(N_FILES)), other, GROUP)
    done: list[bool] = []

    def overwrite() -> None:
        if not done:
            other.replace(first)
            done.append(True)

    def call(data: str, **how: Any) -> Any:
        source = pa_dataset.dataset(data) if kind == "dataset" else data
        return fb.bootstrap("a", data=source, **how)

    message = (
        f"data='{first}' was written to while it was read; `data` must not change, run again when "
        "it is complete."
    )
    progress = (lambda *_: overwrite()) if in_survey else in_draws(overwrite)
    refused(call, ValueError, message, n_threads=1, progress=progress)
    assert done


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_files__cut_off(kind: str, n_threads: int, folder: Path, refused: Refuse) -> None:
    """Half of a file is there, from the start."""
    written(folder, kind=kind, n_files=2)
    last = folder / f"1.{kind}"
    whole = last.read_bytes()
    half = whole[: len(whole) // 2]
    last.write_bytes(half[: half.rfind(b",")] if kind == "csv" else half)
    message = re.compile(rf"^data='{re.escape(str(last))}' cannot be read: .*$")
    refused(MEAN["pair"], ValueError, message, n_threads=n_threads)


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_files__damaged(n_threads: int, folder: Path, refused: Refuse) -> None:
    """The values of one row group of one file."""
    written(folder)
    bad = folder / "2.parquet"
    with pq.ParquetFile(bad) as file:
        chunk = file.metadata.row_group(2).column(0)
    with bad.open("r+b") as file:
        file.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
        file.write(b"\xff" * chunk.total_compressed_size)
    message = re.compile(rf"^data='{re.escape(str(bad))}', row group 2 cannot be read: .*$")
    refused(MEAN["pair"], ValueError, message, n_threads=n_threads)
    fb.bootstrap("weight", data=str(folder), **OPTIONS)  # which nobody damaged


@pytest.mark.parametrize("call", MEAN)
@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_files__of_other_columns(kind: str, call: str, folder: Path, refused: Refuse) -> None:
    """Words in one file where others have numbers; a column that one does not have."""

    def with_words(number: int, columns: dict[str, Any]) -> None:
        if number == 1:
            columns["a"] = ["word"] * SIZE

    written(folder, with_words, kind, n_files=2)
    first, second = (f"data='{folder}/{number}.{kind}'" for number in range(2))
    word = "large_string" if kind == "csv" else "string"
    message = f"column 'a' is {word} in {second} but double in {first}; convert one of them."
    refused(MEAN[call], ValueError, message)

    write(pa.table(columns_of(1)).drop(["a"]), folder / f"1.{kind}", GROUP)
    message = {
        "csv": f"{second} cannot be read: .*no column.*'a'.*|.*",
    }.get(kind, re.escape(f"{second} has no column 'a', which {first} has as double."))
    refused(MEAN[call], ValueError, re.compile(message))


@pytest.mark.parametrize("change", [1, -1])
@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_files__change_in_draws(kind: str, change: int, folder: Path, refused: Refuse) -> None:
    """A file in the middle has more rows, or fewer, than when it was counted."""
    whole = pa.table({"a": columns_of(0)["a"]})
    for number in range(3):
        write(whole, folder / f"{number}.{kind}", GROUP)

    def rewrite() -> None:
        more = pa.concat_tables([whole, whole]).combine_chunks()
        write(more.slice(0, SIZE + change), folder / f"1.{kind}", GROUP + change)

    part = {"parquet": ", row groups 0 to 1", "arrow": ", record batches 0 to 1"}.get(kind, "")
    before, after = (60_000, 60_000 + 2 * change) if part else (SIZE, SIZE + change)
    refused(
        MEAN["bootstrap"],
        ValueError,
        f"'{folder}/1.{kind}'{part} had {before:,} rows and now has {after:,}; `data` must not "
        "change while it is read",
        n_threads=1,
        progress=in_draws(rewrite),
    )


@pytest.mark.parametrize("n_more", [-1, 1, 100_000])
def test_stream__changes(n_more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that opens readers of more rows, or fewer, than before."""
    rng = np.random.default_rng(SEED)
    a = rng.normal(size=400_000)
    n_rows = [200_000]

    def reader() -> pa.RecordBatchReader:
        return pa.table({"a": a[: n_rows[0]]}).to_reader(40_000)

    def change() -> None:
        n_rows[0] += n_more

    with (
        nothing_left(tmp_path, tmp_path, monkeypatch),
        pytest.raises(ValueError, match=r"^`data` gave 200,000 rows and then .*; it must"),
    ):
        fb.bootstrap("a", data=Changing(reader, change), n_threads=2, **OPTIONS)


def test_stream__has_other_rows_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rows as before, of which other numbers are left out."""
    a = np.random.default_rng(SEED).normal(size=200_000)
    missing = [5]

    def reader() -> pa.RecordBatchReader:
        values = a.copy()
        values[: missing[0]] = np.nan
        return pa.table({"a": values}).to_reader(40_000)

    def change() -> None:
        missing[0] = then[0]

    then = [0]
    for then[0], message in {
        4: "`data` gave 199,995 rows and then at least 199,996; it must give the same rows",
        6: "`data` gave 199,995 rows and then 199,994; it must give the same rows at every pass",
    }.items():
        missing[0] = 5
        with (
            nothing_left(tmp_path, tmp_path, monkeypatch),
            pytest.raises(ValueError, match=f"^{message}"),
        ):
            fb.bootstrap("a", data=Changing(reader, change), nan_policy="omit", **OPTIONS)


class Changing:
    """A function that changes something after the survey."""

    def __init__(self, reader: Callable[[], Any], change: Callable[[], None]) -> None:
        self._reader = reader
        self._change = change
        self._calls = 0

    def __call__(self) -> Any:
        """Open a reader; the first is for the schema, then comes one block, then the survey."""
        self._calls += 1
        if self._calls == 4:
            self._change()
        return self._reader()


# The caller.


class Told(Exception):  # noqa: N818 - no error
    """What a progress raises."""


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("call", MEAN)
@pytest.mark.parametrize("when", ["survey", "draws"])
def test_progress__raises(
    when: str, call: str, n_threads: int, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """That ends the run, in the first pass or the last."""
    written(folder)

    def progress(done: int, _: int) -> None:
        if done or when == "survey":
            raise Told

    with nothing_left(folder, tmp_path, monkeypatch), pytest.raises(Told) as caught:
        MEAN[call](data=str(folder), n_threads=n_threads, progress=progress, **OPTIONS)
    assert not hasattr(caught.value, "__notes__")


def test_progress__raises_while_a_stream_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader is closed, though the error still knows all that it went through."""
    whole = pa.table(columns_of(0))
    opened: list[int] = []

    def rows() -> Iterator[Any]:
        opened.append(1)
        try:
            for _ in range(5):
                yield from whole.to_batches(max_chunksize=30_000)
        finally:
            opened.pop()

    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(whole.schema, rows())

    for call in MEAN.values():
        for when in (0, 1):

            def progress(done: int, _: int, when: int = when) -> None:
                if done >= when:
                    raise Told

            for n_threads in N_THREADS:
                with (
                    nothing_left(tmp_path, tmp_path, monkeypatch),
                    pytest.raises(Told) as caught,
                ):
                    call(data=reader, n_threads=n_threads, progress=progress, **OPTIONS)
                assert opened == [], caught


INTERRUPTED = """
import json, sys, threading, time
import fastboot as fb

folder, when, groups, n_threads = sys.argv[1], sys.argv[2], sys.argv[3] or None, int(sys.argv[4])

calls = 0

class Slow(fb.Ratio):
    def terms(self, values):
        global calls
        calls += 1
        if when == "survey":
            if calls == 3:  # the first is for one block alone
                print("working", flush=True)
            time.sleep(0.2)
        return values, 1.0

def progress(done, total):
    global said
    if not said and (done > 0) == (when == "draws"):
        said = True
        print("working", flush=True)

def run(n_resamples, progress=None):
    fb.bootstrap(Slow("a"), data=folder, groups=groups, n_threads=n_threads, rng=0,
                 n_resamples=n_resamples, progress=progress)

said = False
before = threading.active_count()
if when == "draws":
    run(3)  # compiles
try:
    run(30_000, None if when == "survey" else progress)
    print(json.dumps([0.0, "was not stopped"]), flush=True)
except KeyboardInterrupt:
    stopped = time.monotonic()
    print(json.dumps([stopped, threading.active_count() - before]), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("when, groups", [("survey", ""), ("survey", "user"), ("draws", "")])
def test_interrupt__within_half_a_second(
    when: str, groups: str, n_threads: int, folder: Path
) -> None:
    """Ctrl-C ends the pass that is under way, though one task has all the rows of the table."""
    written(folder)
    assert soonest(lambda: seconds_to_stop(folder, when, groups, n_threads)) < 0.5


def soonest(attempt: Callable[[], float]) -> float:
    """Return the shortest of up to three delays: other work on the machine may cause one."""
    delays: list[float] = []
    while len(delays) < 3 and min(delays, default=math.inf) >= 0.5:
        delays.append(attempt())
    return min(delays)


def seconds_to_stop(folder: Path, when: str, groups: str, n_threads: int) -> float:
    """Interrupt a run once; return how long it took to raise."""
    words = [sys.executable, "-c", INTERRUPTED, str(folder), when, groups, str(n_threads)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "working\n"
        sent = time.monotonic()  # one clock for all processes
        child.send_signal(signal.SIGINT)
        stopped, n_left = json.loads(child.stdout.readline())
    assert n_left == 0
    assert child.returncode == 0
    return float(stopped - sent)
