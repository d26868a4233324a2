"""Checkpoints: what was stored is there with all its bits, whenever the job was killed."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import fastboot as fb
from fastboot import checkpoints
from fastboot.checkpoints import Checkpoint, Digest
from fastboot.sources.replicate_files import MOST_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

IDENTITY = {"fastboot": "0.4.0", "a": "mean(a)", "seed": "17", "data": "9aba3785"}
# Of one value and one cell, of several, and of more than have columns of their own.
SHAPES = [(1, 1), (2, 3), (2, MOST_COLUMNS // 2 + 1)]
# NaN as NumPy writes it, as processors return it, and with a payload; both zeros; extremes.
SPECIAL = np.array(
    [0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8 << 48 | 4711, 0, 1 << 63, 1, 0x7FF0 << 48, 0x3FF0 << 48],
    np.uint64,
).view(np.float64)
# Interpreters start within it on a busy machine.
PATIENCE = 60.0


def values_of(replicates: Iterable[int], shape: tuple[int, int] = (1, 1)) -> NDArray[np.float64]:
    """Values that tell the replicates, values and cells apart, some of them NaN."""
    numbers = np.asarray(list(replicates), dtype=np.int64)
    place = np.arange(shape[0] * shape[1]).reshape(*shape, 1)
    return np.where((numbers + place) % 7 == 3, np.nan, np.sin(numbers + 1000.5 * place))


def store(checkpoint: Checkpoint, *ranges: tuple[int, int]) -> None:
    """Store the values of ranges."""
    for start, stop in ranges:
        checkpoint.store(range(start, stop), values_of(range(start, stop)))


def stored(checkpoint: Checkpoint) -> set[int]:
    """Replicates that are there: ascending, disjoint, as `values_of` made them, bit for bit."""
    there: list[int] = []
    for replicates, values in checkpoint.finished():
        assert values.shape == (1, 1, len(replicates))
        assert same_bits(values, values_of(replicates))
        there += replicates
    assert there == sorted(set(there))
    return set(there)


def same_bits(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Tell whether arrays are equal, NaN and signs of 0 included."""
    return first.shape == second.shape and first.tobytes() == second.tobytes()


def names(directory: Path) -> list[str]:
    """Return the names of all files."""
    return sorted(os.listdir(directory))  # noqa: PTH208 - names, not paths


# What is stored.


@pytest.mark.parametrize("shape", SHAPES)
def test_store__keeps_all_bits(tmp_path: Path, shape: tuple[int, int]) -> None:
    """Every NaN, zero and number comes back as it was; also after files were merged."""
    rng = np.random.default_rng(5)
    values = rng.permuted(np.resize(SPECIAL, (*shape, 400)), axis=2)
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    for start in range(0, 400, 4):
        checkpoint.store(range(start, start + 4), values[:, :, start : start + 4])

    found = Checkpoint(tmp_path, IDENTITY).finished()

    assert len(found) < 100  # some were merged
    assert [one for replicates, _ in found for one in replicates] == list(range(400))
    assert same_bits(np.concatenate([part for _, part in found], axis=2), values)


def test_store__takes_any_layout_and_type(tmp_path: Path) -> None:
    """Values need not be contiguous, nor float64."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    values = np.arange(24, dtype=np.int32).reshape(4, 3, 2).T

    checkpoint.store(range(4), values)

    [(replicates, found)] = checkpoint.finished()
    assert replicates == range(4)
    assert same_bits(found, values.astype(np.float64, order="C"))


def test_files__are_plain_parquet(tmp_path: Path) -> None:
    """Other readers see a row for each replicate and a column for each value and cell."""
    values = np.array([[[0.25, np.nan], [-0.0, 2.0], [3.0, 4.0]]])
    Checkpoint(tmp_path, IDENTITY).store(range(5, 7), values)
    path = tmp_path / "replicates-000000005-000000007.parquet"
    expected = {
        "replicate": [5, 6],
        "value_0_cell_0": [0.25, np.nan],
        "value_0_cell_1": [-0.0, 2.0],
        "value_0_cell_2": [3.0, 4.0],
    }

    assert names(tmp_path) == [path.name]
    pd.testing.assert_frame_equal(pd.read_parquet(path), pd.DataFrame(expected))
    assert pl.read_parquet(path).equals(pl.DataFrame(expected))
    facts = json.loads(parquet.read_schema(path).metadata[b"fastboot"])
    assert facts == {"identity": IDENTITY, "shape": [1, 3]}


def test_files__of_many_values_are_lists(tmp_path: Path) -> None:
    """More values than are worth a column each are one list in each row, value by value."""
    shape = SHAPES[-1]
    values = values_of(range(3), shape)
    Checkpoint(tmp_path, IDENTITY).store(range(3), values)

    [path] = tmp_path.iterdir()
    lists = pl.read_parquet(path)
    frame = pd.read_parquet(path)

    assert lists.schema == {
        "replicate": pl.Int64,
        "values": pl.Array(pl.Float64, shape[0] * shape[1]),
    }
    assert list(frame.columns) == ["replicate", "values"]
    assert same_bits(np.stack(list(frame["values"])).T.reshape(values.shape), values)
    assert same_bits(lists["values"].to_numpy().T.reshape(values.shape), values)


def test_missing__what_is_to_do(tmp_path: Path) -> None:
    """Gaps below the number of resamples; a shorter run resumes a longer one and vice versa."""
    checkpoint = Checkpoint(tmp_path / "deep" / "er", IDENTITY)

    assert checkpoint.finished() == []
    assert checkpoint.missing(0) == []
    assert checkpoint.missing(5) == [range(5)]

    store(checkpoint, (10, 20), (15, 25), (30, 31))

    assert checkpoint.missing(10) == [range(10)]
    assert checkpoint.missing(12) == [range(10)]
    assert checkpoint.missing(28) == [range(10), range(25, 28)]
    assert checkpoint.missing(40) == [range(10), range(25, 30), range(31, 40)]
    assert stored(checkpoint) == {*range(10, 25), 30}


def test_finished__leaves_out_what_another_file_holds(tmp_path: Path) -> None:
    """Parts that a merge left behind are not seen beside the whole."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    store(checkpoint, (0, 2), (0, 5), (1, 3), (4, 7), (7, 8))

    assert stored(checkpoint) == {*range(8)}
    assert [replicates for replicates, _ in checkpoint.finished()] == [
        range(5),
        range(5, 7),
        range(7, 8),
    ]


def test_store__of_nothing_writes_nothing(tmp_path: Path) -> None:
    """An empty range leaves no file."""
    Checkpoint(tmp_path, IDENTITY).store(range(3, 3), np.empty((1, 1, 0)))

    assert names(tmp_path) == []


def test_checkpoint__may_be_left_for_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that changes its directory keeps its checkpoint."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    checkpoint = Checkpoint("run", IDENTITY)
    monkeypatch.chdir("elsewhere")

    store(checkpoint, (0, 2))

    assert names(tmp_path / "run") == ["replicates-000000000-000000002.parquet"]


bounds = st.tuples(st.integers(0, 40), st.integers(1, 12)).map(lambda x: (x[0], x[0] + x[1]))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(ranges=st.lists(bounds, max_size=12), most=st.integers(1, 4))
def test_store__any_ranges(ranges: list[tuple[int, int]], most: int) -> None:
    """In any order, overlapping or repeated: all is there, and neighbours are few."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "_MOST_FILES", most)
        patch.setattr(os, "fsync", lambda _: None)  # the disk takes most of the time
        checkpoint = Checkpoint(name, IDENTITY)
        expected: set[int] = set()
        for start, stop in ranges:
            store(checkpoint, (start, stop))
            expected |= {*range(start, stop)}
            # A stretch without gaps is one file at worst.
            gaps = sum(number + 1 not in expected for number in expected)
            assert len(names(Path(name))) <= max(most, gaps)

        for again in checkpoint, Checkpoint(name, IDENTITY):
            assert stored(again) == expected
            missing = {number for gap in again.missing(60) for number in gap}
            assert missing == {*range(60)} - expected


@pytest.mark.parametrize("step", [1, 37])
def test_store__files_stay_few_and_are_seldom_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """At most 64 files once gaps are filled, each replicate written about twice per factor of 64.

    The order is that of one job, or as scattered as 37 workers leave it.
    """
    monkeypatch.setattr(os, "fsync", lambda _: None)
    written = []
    write = Checkpoint._write

    def counting(self: Checkpoint, replicates: range, pieces: Any) -> None:
        written.append(len(replicates))
        write(self, replicates, pieces)

    monkeypatch.setattr(Checkpoint, "_write", counting)
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    most = 0
    for window in range(0, 370, 37):
        for place in range(37):
            start = window + place * step % 37 if step == 1 else window + place * 16 % 37
            store(checkpoint, (start, start + 1))
            most = max(most, len(names(tmp_path)))

    assert most <= (64 if step == 1 else 64 + 37 // 2)
    assert stored(checkpoint) == {*range(370)}
    assert sum(written) <= 2 * 2 * 370


# Whose it is.


@pytest.mark.parametrize(
    "changed,sentence",
    [
        ({"seed": "18"}, "seed is 17 there and 18 here"),
        ({"a": "mean(c)", "seed": "3"}, "a is mean(a) there and mean(c) here; seed is 17 there "),
        ({"groups": "document"}, "groups is missing there and document here"),
        ({"a": None}, "a is mean(a) there and missing here"),
        ({"a": ""}, "a is mean(a) there and empty here"),
        ({"fastboot": "0.5.0", "new": "1"}, "is 0.4.0 there and 0.5.0 here; new is missing there"),
    ],
)
def test_identity__of_another_run_is_refused(
    tmp_path: Path, changed: dict[str, str | None], sentence: str
) -> None:
    """The message names every fact that differs, and only these."""
    store(Checkpoint(tmp_path, IDENTITY), (0, 2))
    other = {name: fact for name, fact in (IDENTITY | changed).items() if fact is not None}

    with pytest.raises(ValueError) as caught:  # noqa: PT011 - below
        Checkpoint(tmp_path, other)

    message = str(caught.value)
    assert message.startswith(f"checkpoint={str(tmp_path)!r} belongs to another run: ")
    assert sentence in message
    assert message.count(" there and ") == len(changed)
    assert message.endswith(". Give another directory, or delete this one")


def test_identity__the_order_of_facts_does_not_count(tmp_path: Path) -> None:
    """Facts go by their names."""
    store(Checkpoint(tmp_path, IDENTITY), (0, 2))

    assert stored(Checkpoint(tmp_path, dict(reversed(IDENTITY.items())))) == {0, 1}


def test_identity__of_any_characters(tmp_path: Path) -> None:
    """Names of columns may hold anything."""
    odd = IDENTITY | {"größe\n\0": '"\\ \ud800 𝄞'}
    store(Checkpoint(tmp_path, odd), (0, 2))

    assert stored(Checkpoint(tmp_path, odd)) == {0, 1}


def test_identity__of_two_runs_at_once_is_refused(tmp_path: Path) -> None:
    """Two jobs that both found an empty directory: the second does not mix its replicates in."""
    first, second = Checkpoint(tmp_path, IDENTITY), Checkpoint(tmp_path, IDENTITY | {"seed": "18"})
    store(first, (0, 2))

    for use in (lambda: store(second, (0, 2)), second.finished, lambda: second.missing(4)):
        with pytest.raises(ValueError, match="belongs to another run: seed is 17 there and 18"):
            use()
    assert stored(first) == {0, 1}


def test_identity__a_file_that_changed_its_owner_is_refused(tmp_path: Path) -> None:
    """A file is looked at again when it is read."""
    first = Checkpoint(tmp_path / "first", IDENTITY)
    store(first, (0, 2))
    store(Checkpoint(tmp_path / "second", IDENTITY | {"seed": "18"}), (0, 2))
    [file] = (tmp_path / "second").iterdir()
    file.replace(tmp_path / "first" / file.name)

    with pytest.raises(ValueError, match="seed is 18 there and 17 here"):
        first.finished()


def test_identity__files_of_another_shape_are_refused(tmp_path: Path) -> None:
    """All replicates have the same values and cells."""
    store(Checkpoint(tmp_path / "first", IDENTITY), (0, 2))
    Checkpoint(tmp_path / "second", IDENTITY).store(range(2, 4), np.zeros((1, 2, 2)))
    [file] = (tmp_path / "second").iterdir()
    file.replace(tmp_path / "first" / file.name)

    with pytest.raises(ValueError, match=r"shape of a replicate is \(1, 2\) there and \(1, 1\)"):
        Checkpoint(tmp_path / "first", IDENTITY)


# What is refused.


def test_checkpoint__refuses_what_is_no_path() -> None:
    """A number is no path."""
    with pytest.raises(TypeError, match="`checkpoint` is 3; give the path of a directory"):
        Checkpoint(3, IDENTITY)  # type: ignore[arg-type] # the error


def test_checkpoint__at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the user's home, as for `data`; of an unknown user it is a name."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for path in ("~/kept", Path("~/kept")):
        fb.bootstrap([1.0, 2.0, 4.0], n_resamples=20, rng=1, checkpoint=path)
    names = sorted(one.name for one in tmp_path.iterdir() if not one.name.startswith("."))
    assert names == ["here", "kept"]
    assert list((tmp_path / "kept").iterdir())
    Checkpoint("~nobody-of-this-name/kept", {})
    assert [one.name for one in Path.cwd().iterdir()] == ["~nobody-of-this-name"]


def test_checkpoint__refuses_an_empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would be the working directory; before any work."""
    monkeypatch.chdir(tmp_path)
    message = (
        r"^`checkpoint` is an empty path; give that of a directory, '\.' for the working direc"
    )
    with pytest.raises(ValueError, match=message):
        Checkpoint("", {})
    with pytest.raises(ValueError, match=message):
        fb.bootstrap("x", data="no file", rng=1, checkpoint="")
    assert list(tmp_path.iterdir()) == []
    fb.bootstrap([1.0, 2.0, 4.0], n_resamples=20, rng=1, checkpoint=".")
    assert list(tmp_path.iterdir())


def test_checkpoint__refuses_a_file(tmp_path: Path) -> None:
    """A file is not a directory."""
    path = tmp_path / "run.parquet"
    path.touch()

    with pytest.raises(ValueError, match=r"checkpoint=.*run\.parquet' is a file; give the path"):
        Checkpoint(path, IDENTITY)


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "replicates-0-10.parquet",
        "replicates-000000010-000000010.parquet",
        "replicates-000000000-000000010.parquet.tmp",
    ],
)
def test_checkpoint__refuses_a_directory_of_other_files(tmp_path: Path, name: str) -> None:
    """The directory of somebody's results is left alone."""
    (tmp_path / name).touch()
    (tmp_path / "z").mkdir()

    with pytest.raises(ValueError, match=rf"holds other files \({name}, z\); give a directory of"):
        Checkpoint(tmp_path, IDENTITY)


def test_checkpoint__removes_its_leftovers_and_no_other_hidden_file(tmp_path: Path) -> None:
    """Half a file is what a killed job leaves; what systems put into directories stays."""
    store(Checkpoint(tmp_path, IDENTITY), (0, 2))
    [whole] = names(tmp_path)
    leftover = f".{whole}.0123456789abcdef.tmp"
    (tmp_path / leftover).write_bytes((tmp_path / whole).read_bytes()[:100])
    others = [".DS_Store", ".nfs0001", f".{whole}.tmp"]
    for name in others:
        (tmp_path / name).touch()

    checkpoint = Checkpoint(tmp_path, IDENTITY)

    assert stored(checkpoint) == {0, 1}
    assert names(tmp_path) == sorted([whole, *others])


@pytest.mark.parametrize(
    "shape,replicates,message",
    [
        ((1, 1, 3), range(2), r"`values` has shape \(1, 1, 3\); for range\(0, 2\) it must be \(n_"),
        ((2,), range(2), r"`values` has shape \(2,\); for range\(0, 2\) it must be \(n_values, n_"),
        ((1, 1, 2), range(0, 4, 2), r"`replicates` is range\(0, 4, 2\); give consecutive ones, fr"),
        ((1, 1, 2), range(-1, 1), r"`replicates` is range\(-1, 1\); give consecutive ones, from "),
        ((1, 2, 2), range(2), r"`values` has shape \(1, 2, 2\); in checkpoint='.*' \(n_values, n_"),
    ],
)
def test_store__refuses_values_that_do_not_fit(
    tmp_path: Path, shape: tuple[int, ...], replicates: range, message: str
) -> None:
    """Nothing is written then."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    store(checkpoint, (5, 6))

    with pytest.raises(ValueError, match=message):
        checkpoint.store(replicates, np.zeros(shape))
    assert stored(checkpoint) == {5}


def damaged(path: Path, how: str) -> None:
    """Damage a file of eight replicates."""
    content = bytearray(path.read_bytes())
    match how:
        case "cut":
            del content[-1:]
        case "empty":
            content.clear()
        case "a flipped bit":  # of the last value but some; the footer follows it
            content[content.rindex(values_of(range(8)).tobytes()[-4:])] ^= 1
        case "a damaged header":
            table = parquet.read_table(path)
            [key] = [one for one in table.schema.metadata if one != b"ARROW:schema"]
            parquet.write_table(table.replace_schema_metadata({key: b'{"shape": [1, 1]}'}), path)
            return
        case "other metadata":
            table = parquet.read_table(path).replace_schema_metadata({"a": "b"})
            parquet.write_table(table, path)
            return
        case "other columns":
            table = parquet.read_table(path)
            parquet.write_table(table.drop_columns("replicate"), path)
            return
        case "fewer replicates":
            parquet.write_table(parquet.read_table(path)[:-1], path)
            return
    path.write_bytes(content)


@pytest.mark.parametrize(
    "how,reason",
    [
        ("cut", "Parquet magic bytes not found in footer"),
        ("empty", "Parquet file size is 0 bytes"),
        ("a flipped bit", "CRC checksum"),
        ("a damaged header", "what it says of its run cannot be read"),
        ("other metadata", "it is not a file of a checkpoint"),
        ("other columns", "its columns are not those of a checkpoint"),
        ("fewer replicates", "it holds other replicates than its name says"),
    ],
)
def test_finished__names_a_damaged_file(tmp_path: Path, how: str, reason: str) -> None:
    """It says which file, why, and what to do; without the file the checkpoint can be used."""
    store(Checkpoint(tmp_path, IDENTITY), (0, 8), (8, 10))
    path = tmp_path / "replicates-000000000-000000008.parquet"
    damaged(path, how)

    with pytest.raises(ValueError, match="is damaged") as caught:
        Checkpoint(tmp_path, IDENTITY).finished()

    message = str(caught.value)
    assert message.startswith(f"checkpoint={str(tmp_path)!r}: the file {path.name!r} is damaged: ")
    assert reason in message
    assert message.endswith("; delete it, and its replicates will be computed again")
    path.unlink()
    assert Checkpoint(tmp_path, IDENTITY).missing(10) == [range(8)]


def test_finished__refuses_a_file_under_another_name(tmp_path: Path) -> None:
    """The replicates of a file are those of its name."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    store(checkpoint, (0, 8))
    [path] = tmp_path.iterdir()
    path.rename(tmp_path / "replicates-000000008-000000016.parquet")

    with pytest.raises(ValueError, match="is damaged: it holds other replicates than its name"):
        checkpoint.finished()


def test_finished__refuses_files_that_contradict_each_other(tmp_path: Path) -> None:
    """A statistic that is random gives two values to one replicate."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    checkpoint.store(range(8), np.array([[[9.0] * 5 + [5.0, 6.0, 0.0]]]))
    checkpoint.store(range(5, 9), np.array([[[5.0, 6.0, 0.0, 8.0]]]))
    checkpoint.store(range(6, 10), np.array([[[6.0, -0.0, 8.0, 9.0]]]))

    with pytest.raises(ValueError, match="contradict each other") as caught:
        checkpoint.finished()

    assert str(caught.value) == (
        f"checkpoint={str(tmp_path)!r}: the files 'replicates-000000005-000000009.parquet' and "
        "'replicates-000000006-000000010.parquet' contradict each other in replicate 7: 0.0 and "
        "-0.0. Is the statistic random, or were they computed on different processors? Delete one "
        "of them"
    )


def test_store__does_not_merge_files_that_contradict_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither value is lost, for somebody to look at."""
    monkeypatch.setattr(checkpoints, "_MOST_FILES", 1)
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    checkpoint.store(range(2), np.array([[[0.0, 1.0]]]))

    with pytest.raises(ValueError, match=r"in replicate 1: 1\.0 and 2\.0"):
        checkpoint.store(range(1, 3), np.array([[[2.0, 3.0]]]))

    assert names(tmp_path) == [
        "replicates-000000000-000000002.parquet",
        "replicates-000000001-000000003.parquet",
    ]


def test_finished__one_nan_agrees_with_another(tmp_path: Path) -> None:
    """Processors and NumPy sign NaN differently, which contradicts nothing."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    checkpoint.store(range(3), SPECIAL[None, None, :3])
    checkpoint.store(range(1, 5), SPECIAL[None, None, [0, 1, 3, 4]])

    [(first, values), (second, more)] = checkpoint.finished()

    assert (first, second) == (range(3), range(3, 5))
    assert same_bits(values, SPECIAL[None, None, :3])
    assert same_bits(more, SPECIAL[None, None, 3:5])


# Disks that fail, and jobs that are killed.


def test_checkpoint__in_a_file_says_so(tmp_path: Path) -> None:
    """An error of the system names the checkpoint."""
    (tmp_path / "file").touch()

    with pytest.raises(NotADirectoryError) as caught:
        Checkpoint(tmp_path / "file" / "run", IDENTITY)

    assert caught.value.__notes__ == [
        f"in checkpoint={str(tmp_path / 'file' / 'run')!r}; what was stored there before is whole"
    ]


def test_store__after_the_directory_was_removed(tmp_path: Path) -> None:
    """Somebody cleaned up too early."""
    checkpoint = Checkpoint(tmp_path / "run", IDENTITY)
    (tmp_path / "run").rmdir()

    for use in (lambda: store(checkpoint, (0, 2)), checkpoint.finished):
        with pytest.raises(FileNotFoundError) as caught:
            use()
        assert len(caught.value.__notes__) == 1


FULL_DISK = """
import resource, sys
import numpy as np
from fastboot.checkpoints import Checkpoint

checkpoint = Checkpoint(sys.argv[1], {"seed": "17"})
checkpoint.store(range(10), np.zeros((1, 1, 10)))
checkpoint.finished()
assert "pandas" not in sys.modules  # an import in the middle of a run may lose a Ctrl-C
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    checkpoint.store(range(10, 10_010), np.random.default_rng(1).normal(size=(1, 1, 10_000)))
except OSError as error:
    assert error.__notes__[0].startswith("in checkpoint="), error.__notes__
else:
    sys.exit("stored")
assert checkpoint.missing(20) == [range(10, 20)]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_store__on_a_full_disk(tmp_path: Path) -> None:
    """The error of the system passes, with a note; half a file does not stay."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path) == ["replicates-000000000-000000010.parquet"]


def test_store__interrupted_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the disk works."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    store(checkpoint, (0, 2))
    before = names(tmp_path)

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store(checkpoint, (2, 4))

    assert names(tmp_path) == before


@pytest.mark.skipif(sys.platform == "win32", reason="there an open file cannot be removed")
def test_store__a_file_being_written_is_no_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process that opens the checkpoint meanwhile leaves it alone."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    seen = []

    def opened_meanwhile(_: int) -> None:
        before = names(tmp_path)
        Checkpoint(tmp_path, IDENTITY)
        seen.append((before, names(tmp_path)))

    monkeypatch.setattr(os, "fsync", opened_meanwhile)
    store(checkpoint, (0, 2))

    before, after = seen[0]
    assert len(before) == 1
    assert before == after


def test_store__writes_a_file_again_that_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file system knows no locks, a file that is being written may be removed."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    removed: list[Path] = []

    def removing(_: int) -> None:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()

    monkeypatch.setattr(os, "fsync", removing)
    store(checkpoint, (0, 2))

    assert [path.suffix for path in removed] == [".tmp"]
    assert stored(checkpoint) == {0, 1}


# A child kills itself before the k-th time that it opens, renames or removes anything in the
# directory, for every k; its parent, in which nothing has been opened, looks at what is left.
KILLED_AT_EVERY_STEP = """
import os, signal, sys, tempfile
from pathlib import Path
import numpy as np
from fastboot import checkpoints
from fastboot.checkpoints import Checkpoint

checkpoints._MOST_FILES = 2
os.fsync = lambda _: None  # which only matters to machines that lose power
identity = {"seed": "17"}

def job(directory, pipe):
    checkpoint = Checkpoint(directory, identity)
    for gap in checkpoint.missing(10):
        for start in range(gap.start, gap.stop, 2):
            stop = min(start + 2, gap.stop)
            checkpoint.store(range(start, stop), [[np.sqrt(np.arange(start, stop))]])
            os.write(pipe, bytes(range(start, stop)))

def killed(directory, step):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        left = step
        def count(event, arguments):
            nonlocal left
            if event in {"open", "os.rename", "os.remove"} and directory in str(arguments[0]):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        job(directory, write)
        os._exit(0)
    os.close(write)
    acknowledged = b""
    while part := os.read(read, 4096):
        acknowledged += part
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), acknowledged

def looked_at(directory):
    found = Checkpoint(directory, identity).finished()
    there = [replicate for replicates, _ in found for replicate in replicates]
    for replicates, values in found:
        assert (values[0, 0] == np.sqrt(np.asarray(replicates))).all(), found
    assert there == sorted(set(there)), there
    return there

step, left_over = 0, 0
while True:
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as directory:
        code, acknowledged = killed(directory, step)
        assert code in {0, -signal.SIGKILL}, code
        left_over += any(file.suffix == ".tmp" for file in Path(directory).iterdir())
        there = looked_at(directory)
        assert set(acknowledged) <= set(there), (step, acknowledged, there)
        assert not [file for file in Path(directory).iterdir() if file.suffix == ".tmp"]
        assert killed(directory, 10**9)[0] == 0  # resumes
        assert looked_at(directory) == list(range(10)), step
        assert len(list(Path(directory).iterdir())) <= 4  # parts of a killed merge may stay
    if code == 0:
        break
    step += 1
print(step, left_over)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_store__killed_at_every_step(tmp_path: Path) -> None:
    """What was acknowledged is there, nothing is half, and the job resumes."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED_AT_EVERY_STEP, tmp_path],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    steps, left_over = map(int, done.stdout.split())
    # Five files are written, and some merged, each opened, renamed and synchronized at least.
    assert steps > 15
    assert left_over >= 5


JOB = f"""
from __future__ import annotations
import sys
import numpy as np
from fastboot import checkpoints
from fastboot.checkpoints import Checkpoint

{inspect.getsource(values_of)}

checkpoints._MOST_FILES = 3
checkpoint = Checkpoint(sys.argv[1], {IDENTITY})
for gap in checkpoint.missing(int(sys.argv[2])):
    for start in range(gap.start, gap.stop, 3):
        replicates = range(start, min(start + 3, gap.stop))
        checkpoint.store(replicates, values_of(replicates))
        print(replicates.stop, flush=True)
"""


def job(directory: Path, n_resamples: int) -> subprocess.Popen[str]:
    """Start a job that stores replicates and says how far it is."""
    words = [sys.executable, "-c", JOB, str(directory), str(n_resamples)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("seconds", [0.0, 0.013])
def test_store__killed_at_any_moment(tmp_path: Path, seconds: float) -> None:
    """Killed again and again, in the middle of writing too, a job gets on."""
    reached = 0
    for _ in range(2):
        with job(tmp_path, 10**9) as running:
            assert running.stdout is not None
            for _ in range(5):
                reached = int(running.stdout.readline())
            time.sleep(seconds)
            running.kill()
            reached = max([reached, *map(int, running.stdout.read().split())])

        there = stored(Checkpoint(tmp_path, IDENTITY))
        assert there >= {*range(reached)}
        assert all(name.startswith("replicates-") for name in names(tmp_path))
    assert reached >= 30


def test_store__of_two_processes_at_once(tmp_path: Path) -> None:
    """Two jobs do the same work in one directory, while a third looks on: all of it is there."""
    with job(tmp_path, 60) as first, job(tmp_path, 60) as second:
        deadline = time.monotonic() + PATIENCE
        seen: set[int] = set()
        while None in {first.poll(), second.poll()} and time.monotonic() < deadline:
            seen |= stored(Checkpoint(tmp_path, IDENTITY))
        errors = [running.communicate()[1] for running in (first, second)]

    assert errors == ["", ""]
    assert stored(Checkpoint(tmp_path, IDENTITY)) == {*range(60)}
    assert seen


# Digests.


def digest(*arrays: Any) -> str:
    """Return the digest of arrays."""
    one = Digest()
    for array in arrays:
        one.update(array)
    return one.hexdigest()


def test_digest__is_blake2_of_type_shape_and_bytes() -> None:
    """So it stays the same in every version."""
    expected = hashlib.blake2b(b"<f8(2, 1)" + np.array([0.5, -0.0]).astype("<f8").tobytes(),
                               digest_size=16)  # fmt: skip

    assert digest([[0.5], [-0.0]]) == expected.hexdigest()
    assert len(digest()) == 32


@pytest.mark.parametrize("kind", ["f8", "i4", "u2", "c16", "U3", "M8[s]", "b1", "S2"])
def test_digest__does_not_depend_on_memory(kind: str) -> None:
    """Byte order, strides and copies do not count."""
    values = np.arange(12).reshape(3, 4).astype(f"<{kind}")

    for same in (
        values.astype(f">{kind}"),
        np.asfortranarray(values),
        np.repeat(values, 2, axis=1)[:, ::2],
    ):
        assert digest(same) == digest(values)


def test_digest__tells_arrays_apart() -> None:
    """Values, types, shapes, order and borders count, and the sign of 0."""
    zeros = np.zeros(4)
    different: list[list[Any]] = [
        [],
        [zeros],
        [-zeros],
        [zeros.astype(np.float32)],
        [zeros.astype(np.int64)],
        [zeros.reshape(2, 2)],
        [zeros[:2], zeros[2:]],
        [zeros[:0], zeros],
        [zeros, zeros[:0]],
        [zeros[0], zeros],
        [b"0000"],
        ["0000"],
    ]

    assert len({digest(*arrays) for arrays in different}) == len(different)


def test_digest__refuses_objects() -> None:
    """Addresses say nothing of values."""
    with pytest.raises(TypeError, match="a digest of object would be one of addresses in memory"):
        digest([1, None])
