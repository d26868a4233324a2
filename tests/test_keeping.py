"""Checkpoints and extended results: what was computed once is the longer run's, bit for bit."""

from __future__ import annotations

import gc
import importlib
import pickle
import re
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from executing import (
    Case,
    Counted,
    few_rows,
    macro_f,
    paired,
    single,
    spread,
    swapped,
)
from scanning import Partition, bits, table
from sourced import write

import fastboot as fb
from fastboot import keeping
from fastboot.keeping import KnownReplicates, StoredReplicates, _next, check_checkpoint, kept
from fastboot.paths import Replicates, Run

Floats = np.ndarray[Any, Any]

# Interpreters start within it on a busy machine.
PATIENCE = 60.0
# Fewer than the first part of a run, and more.
SHORT, LONG = 50, 150

CASES = {
    "mean, bca": single("patterns", "a", method="bca"),
    "mean difference": paired("patterns", "a", "b"),
    "share": single("collapse", "x"),
    "several": single("patterns", {"mean": "a", "ratio": fb.ratio("a", "size")}),
    "groups": paired("patterns", "a", "b", groups="document"),
    "groups, macro-F": single("weights", macro_f("said"), groups="document"),
    "weights": single("patterns", "a", weights="weight"),
    "constant": paired("constant", "one", "one"),
    "swaps": swapped("tables", "a", "b"),
    "swaps of shares": swapped("collapse", "x", "y"),
    "none differ": swapped("constant", "a", "a"),
    # Only in memory.
    "studentized": single("patterns", fb.ratio("a", "size"), method="studentized", few=True),
    "studentized, several in strata": single(
        "patterns",
        {"mean": "a", "ratio": fb.ratio("a", "size")},
        method="studentized",
        strata="x",
        few=True,
    ),
    "studentized, of classes": paired("collapse", "x", "y", method="studentized", few=True),
    "slices": single("patterns", "a", by="gold", few=True),
    "slices of several": paired(
        "patterns", {"mean": "a", "far": "far"}, {"mean": "b", "far": "far_b"}, by="gold", few=True
    ),
    "slices, studentized": single(
        "patterns", "a", by=["gold", "x"], method="studentized", few=True
    ),
    "classes in slices": single(
        "weights", fb.f_score("gold", "said", average=None), by="x", groups="user", few=True
    ),
    "swaps in slices": swapped("weights", "a", "b", by="gold", few=True),
    "strata": single("patterns", "a", strata="gold", few=True),
    "median": single("order", fb.median("a"), few=True),
    "median of groups": single("weights", fb.median("a"), groups="document", few=True),
    "function": single("weights", fb.statistic(spread, "a"), few=True),
    "swaps of medians": swapped("weights", fb.median("a"), fb.median("b"), few=True),
    "poisson": single("poisson", "a", scheme="poisson", few=True),
    "stationary": paired("stationary", "a", "b", scheme="stationary", few=True),
    "nested": single("nested", "a", groups=["team", "document"], levels="nested", few=True),
    "crossed": single(
        "crossed", {"a": "a", "b": "b"}, groups=["document", "team"], levels="crossed", few=True
    ),
    "missing": single("constant", "hole", nan_policy="propagate", few=True),
}


def of(name: str, place: str = "memory") -> Case:
    """Return a case of all rows in files, or of few in memory."""
    return CASES[name]._replace(few=place == "memory")


@cache
def whole(name: str, n_resamples: int, place: str = "memory") -> Any:
    """Return the answer of a run in one go."""
    return bits(of(name, place)(n_resamples=n_resamples))


@pytest.fixture(scope="module")
def folder() -> Iterator[Any]:
    """Files that begin and end in the middle of blocks."""
    with Partition("parquet", (65_536, 100_000, 100_001), (20_000,)).written(table()) as written:
        yield written


# In six rows.
FEW_DIFFER = swapped("tables", "a", "few")

IN_BOTH = pytest.mark.parametrize(
    "name,place",
    [
        *((name, "memory") for name in CASES),
        *((name, "files") for name, asked in CASES.items() if not asked.few),
    ],
)


@pytest.fixture
def data(place: str, request: pytest.FixtureRequest) -> Any:
    """Return the files, or None for what is in memory."""
    return request.getfixturevalue("folder") if place == "files" else None


def stored(checkpoint: Path) -> list[tuple[int, int]]:
    """Return the ranges of replicates that are stored, in any set."""
    names = [one.stem for one in checkpoint.rglob("*.parquet")]
    return sorted((int(name.split("-")[1]), int(name.split("-")[2])) for name in names)


# Checkpoints.


@IN_BOTH
def test_checkpoint(name: str, place: str, data: Any, tmp_path: Path) -> None:
    """A longer run resumes a shorter one; a shorter one finds all that it asks for."""
    asked = of(name, place)
    for n_resamples in (SHORT, LONG, LONG, SHORT):
        found = asked(data, n_resamples=n_resamples, checkpoint=tmp_path / "kept")
        assert bits(found) == whole(name, n_resamples, place)
    assert {start for start, _ in stored(tmp_path / "kept")} == {0, SHORT, SHORT + 64}
    assert max(stop for _, stop in stored(tmp_path / "kept")) == LONG


class StoppedError(Exception):
    """Raised by a progress."""


@pytest.mark.parametrize("place", ["memory", "files"])
@pytest.mark.parametrize("name", ["mean, bca", "several", "swaps"])
def test_checkpoint__interrupted(name: str, place: str, data: Any, tmp_path: Path) -> None:
    """What ends a run leaves the parts that it had stored."""
    asked = of(name, place)

    def stop(done: int, _: int) -> None:
        if done > 64:
            raise StoppedError

    with pytest.raises(StoppedError):
        asked(data, n_resamples=LONG, checkpoint=tmp_path, progress=stop)
    assert stored(tmp_path) == [(0, 64)]
    found = asked(data, n_resamples=LONG, checkpoint=tmp_path)
    assert bits(found) == whole(name, LONG, place)
    assert stored(tmp_path) == [(0, 64), (64, 128), (128, LONG)]


def test_checkpoint__slices_interrupted(tmp_path: Path) -> None:
    """Of two sets of replicates the first is there, and a part of the second."""
    asked = of("slices")
    told = [0]

    def stop(done: int, _: int) -> None:
        told.append(done)
        if done > 64 and any(one > other for one, other in pairwise(told)):  # the second set
            raise StoppedError

    with pytest.raises(StoppedError):
        asked(n_resamples=LONG, checkpoint=tmp_path, progress=stop)
    assert stored(tmp_path / "total") == [(0, 64), (64, LONG)]
    assert stored(tmp_path / "slices") == [(0, 64)]
    assert bits(asked(n_resamples=LONG, checkpoint=tmp_path)) == whole("slices", LONG)


def test_checkpoint__gaps(tmp_path: Path) -> None:
    """Parts that are missing, as where jobs share a directory, are filled where they belong."""
    asked = of("mean difference")
    asked(n_resamples=SHORT, checkpoint=tmp_path)
    asked(n_resamples=LONG, checkpoint=tmp_path)
    (tmp_path / "replicates-000000000-000000050.parquet").unlink()
    assert stored(tmp_path) == [(SHORT, SHORT + 64), (SHORT + 64, LONG)]
    found = asked(n_resamples=LONG + 9, checkpoint=tmp_path)
    assert bits(found) == whole("mean difference", LONG + 9)


KILLED = """
import sys
from pathlib import Path
from executing import Counted, few_rows
import fastboot as fb
fb.bootstrap(
    fb.statistic(Counted(Path(sys.argv[1]), 0.01), "a"),
    data=few_rows(), rng=1, n_resamples=300, n_threads=1, checkpoint=sys.argv[2],
)
"""


def test_checkpoint__killed(tmp_path: Path) -> None:
    """A process that is killed loses what it had not stored; no replicate is computed twice."""
    calls, kept = tmp_path / "calls", tmp_path / "kept"
    calls.mkdir()
    command = [sys.executable, "-c", KILLED, str(calls), str(kept)]
    path = str(Path(__file__).parent)
    with subprocess.Popen(command, env={"PYTHONPATH": path}) as process:
        end = time.monotonic() + PATIENCE
        while not (kept.exists() and stored(kept)) and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    assert stored(kept) == [(0, 64)]

    function = Counted(calls)
    before = function.n_calls
    statistic = fb.statistic(function, "a")
    asked = single("weights", statistic, few=True, rng=1, n_resamples=300)
    found = asked(checkpoint=kept)
    # Two observe, and 16 show that the function is the same.
    assert function.n_calls - before == 300 - 64 + 2 + 16
    assert bits(found) == bits(asked())


def test_checkpoint__little_is_computed_twice(tmp_path: Path) -> None:
    """A run that finds all replicates draws 16, which show that nothing has changed."""
    calls = tmp_path / "calls"
    calls.mkdir()
    function = Counted(calls)
    asked = single("weights", fb.statistic(function, "a"), few=True, n_resamples=80)
    n_calls: list[int] = []
    for _ in range(2):
        asked(checkpoint=tmp_path / "kept")
        n_calls.append(function.n_calls - sum(n_calls))
    assert n_calls == [2 + 80, 2 + 16]


def middle(values: np.ndarray[Any, Any]) -> float:
    """Return the median, which is the mean of some numbers."""
    return float(np.median(values))


def center(values: np.ndarray[Any, Any]) -> float:
    """Return the mean."""
    return float(np.mean(values))


@pytest.mark.parametrize("missing", [None, "000000000-000000040", "000000040-000000080"])
@pytest.mark.parametrize("n_resamples", [60, 80, 120])
def test_checkpoint__other_function(n_resamples: int, missing: str | None, tmp_path: Path) -> None:
    """One with the same name and the same estimate is told by replicates, wherever they lie."""
    rows = {"a": np.array([1.0, 2.0, 3.0, 4.0, 5.0])}

    def run(function: Any, n: int, **options: Any) -> Any:
        statistic = fb.statistic(function, "a", name="center")
        return fb.bootstrap(statistic, data=rows, rng=1, n_resamples=n, **options)

    def mean(values: Floats) -> float:
        return float(np.mean(values))

    def median(values: Floats) -> float:
        return float(np.median(values))

    median.__qualname__ = mean.__qualname__
    median.__name__ = mean.__name__
    for n in (40, 80):
        run(mean, n, checkpoint=tmp_path)
    if missing is not None:
        (tmp_path / f"replicates-{missing}.parquet").unlink()
    with pytest.raises(
        ValueError,
        match=re.escape(f"checkpoint={str(tmp_path)!r} belongs to another run: the same resamples "
                        "have other values there, so the data, their order or a function is "
                        "another one. Give another directory, or delete this one"),
    ):  # fmt: skip
        run(median, n_resamples, checkpoint=tmp_path)
    found = run(mean, n_resamples, checkpoint=tmp_path)
    assert found.replicates.tolist() == run(mean, n_resamples).replicates.tolist()


@pytest.mark.parametrize("pattern", ["", "*", "**/*.parquet"])
def test_checkpoint__beside_the_data(pattern: str, tmp_path: Path) -> None:
    """In the folder that is read: its files are no rows, in the next run and in a longer one."""
    rows = few_rows().select(["a"])
    for number in range(2):
        write(rows.slice(1_500 * number, 1_500), tmp_path / f"{number}.parquet")
    asked = single("patterns", "a", few=True)
    data = str(tmp_path / pattern)
    for n_resamples in (70, 90):
        found = asked(data, n_resamples=n_resamples, checkpoint=tmp_path / "kept")
        assert found.n_rows == 3_000
    assert bits(found.extend(120)) == bits(asked(n_resamples=120))


def test_checkpoint__filter_spelt_otherwise(tmp_path: Path) -> None:
    """``=`` and ``==`` mean the same."""
    asked = single("patterns", "a", few=True, n_resamples=70)
    for sign in ("=", "=="):
        asked(where=[("gold", sign, "cat")], checkpoint=tmp_path)
    assert stored(tmp_path) == [(0, 64), (64, 70)]


def test_checkpoint__rounding_of_another_processor(tmp_path: Path) -> None:
    """Last digits that differ, and NaN, are the same replicates; the tenth digit is not."""
    known = np.array([[[1.0, np.nan, -2.0, np.inf]]])
    store = StoredReplicates(str(tmp_path), "bootstrap", several=False).opened(
        "total", known[..., 0], dict
    )
    assert store.agree(known, known * (1.0 + 1e-12))
    assert not store.agree(known, known * (1.0 + 1e-8))
    assert not store.agree(known, np.array([[[1.0, 0.0, -2.0, np.inf]]]))
    assert not store.agree(known, np.array([[[1.0, np.nan, -2.0, -np.inf]]]))


def test_checkpoint__enumeration(folder: str, tmp_path: Path) -> None:
    """All swaps are listed anew: there is nothing to keep. A shorter run draws, and keeps."""
    for data in (None, folder):
        for n_resamples in (63, 64, 100):
            asked = FEW_DIFFER._replace(options={"n_resamples": n_resamples})
            found = asked(data, checkpoint=tmp_path / f"{data is None}")
            assert bits(found) == bits(asked())
            assert found.path == ("tables" if n_resamples == 63 else "enumeration")
    assert stored(tmp_path / "True") == stored(tmp_path / "False") == [(0, 63)]


def test_checkpoint__paths_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name, a path, and one that is relative."""
    monkeypatch.chdir(tmp_path)
    for path in ("kept", tmp_path / "kept", str(tmp_path / "kept")):
        fb.bootstrap([1.0, 2.0, 4.0], rng=0, n_resamples=9, checkpoint=path)
    assert stored(tmp_path) == [(0, 9)]


@pytest.mark.parametrize("value", [5, b"kept", True, ["kept"]])
def test_checkpoint__no_path(value: object) -> None:
    """It is refused by name, before any work."""
    message = rf"^`checkpoint` is {re.escape(repr(value))}; give the path of a directory, or None$"
    with pytest.raises(TypeError, match=message):
        fb.bootstrap([1.0, 2.0], checkpoint=value)  # type: ignore[call-overload] # that is tested


def test_checkpoint__other_files(tmp_path: Path) -> None:
    """A directory in use is left alone; also one of another procedure, or with slices."""
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ValueError, match=r"holds other files \(mine\.txt\)"):
        fb.bootstrap([1.0, 2.0], checkpoint=tmp_path)
    rows = {"a": [1.0, 2.0, 3.0, 5.0], "s": [1, 1, 2, 2]}
    kept = tmp_path / "kept"
    fb.bootstrap("a", data=rows, by="s", n_resamples=9, checkpoint=kept)
    with pytest.raises(ValueError, match=r"holds other files \(slices, total\)"):
        fb.bootstrap("a", data=rows, n_resamples=9, checkpoint=kept)


ROWS: dict[str, Any] = {
    "a": [1.0, 2.0, 3.0, 5.0, 8.0, 9.0],
    "b": [2.0, 1.0, 4.0, 5.0, 7.0, 8.0],
    "g": [1, 1, 2, 2, 3, 3],
    "h": [1, 1, 2, 3, 3, 3],
    "s": [1, 1, 1, 1, 2, 2],
    "c": [1, 2, 1, 2, 1, 2],
    "w": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
}
RUN: dict[str, Any] = {"data": ROWS, "rng": 0, "n_resamples": 9}


def with_column(**columns: list[Any]) -> dict[str, Any]:
    """Return the data with other columns."""
    return {"data": ROWS | columns}


@pytest.mark.parametrize(
    "statistic,options,other,changes,named",
    [
        ("a", {}, None, {"rng": 1}, ["seed"]),
        ("a", {}, "b", {}, ["statistics", "data", "estimates"]),
        ("a", {}, None, with_column(a=[1.0, 2.0, 3.0, 5.0, 8.0, 8.0]), ["data", "estimates"]),
        ("a", {}, None, with_column(a=[9.0, 2.0, 3.0, 5.0, 8.0, 1.0]), ["data"]),
        ("a", {}, None, {"data": {"a": [28 / 6] * 5}},
         ["n_rows", "n_units", "data"]),
        ("a", {}, None, {"groups": "g"}, ["groups", "n_units", "data"]),
        ("a", {"groups": "g"}, None, {"groups": "h"}, ["groups", "data"]),
        ("a", {"groups": "g"}, None, with_column(g=[1, 1, 2, 3, 3, 3]), ["data"]),
        ("a", {}, None, {"weights": "w"}, ["weights", "data", "estimates"]),
        ("a", {"weights": "w"}, None, with_column(w=[2.0] * 6), ["data", "estimates"]),
        ("a", {}, None, {"strata": "g"}, ["strata", "data"]),
        # The same values in the same order, in other strata; in the same, of other slices.
        ("a", {"strata": "g"}, None, with_column(g=[1, 1, 1, 2, 2, 3]), ["data"]),
        ("a", {"strata": "g", "by": "s"}, None, with_column(s=[1, 1, 2, 2, 2, 2]),
         ["data", "estimates"]),
        ("a", {"groups": "g", "levels": "nested"}, None, with_column(g=[1, 1, 1, 2, 3, 3]),
         ["data"]),
        ("a", {"groups": ["g", "c"], "levels": "crossed"}, None,
         with_column(g=[1, 1, 1, 2, 2, 2], c=[1, 2, 3, 1, 2, 3]), ["data"]),
        ("a", {}, None, {"scheme": "bayesian"}, ["scheme"]),
        ("a", {}, None, {"scheme": "moving", "block_length": 2}, ["scheme", "block_length"]),
        ("a", {}, None, {"n_drawn": 4}, ["n_drawn"]),
        ("a", {}, None, {"path": "weights"}, ["path"]),
        ("a", {}, None, {"method": "studentized"}, ["replicates"]),
        # The same rows in another order.
        (fb.confusion_cells("g", "h"), {}, None,
         with_column(g=[3, 3, 2, 2, 1, 1], h=[3, 3, 3, 2, 1, 1]), ["data"]),
        (fb.median("a"), {}, None, with_column(a=[1.0, 2.0, 3.0, 5.0, 8.0, 9.5]), ["data"]),
        (fb.median("a"), {"groups": "g"}, None, with_column(g=[1, 1, 2, 3, 3, 3]), ["data"]),
        (fb.median("a"), {"weights": "w"}, None, with_column(w=[3.0] * 6),
         ["data", "estimates"]),
        (fb.quantile("a", 0.5), {}, fb.quantile("a", 0.25), {}, ["statistics", "estimates"]),
    ],
)  # fmt: skip
def test_checkpoint__refused(
    statistic: Any,
    options: dict[str, Any],
    other: Any,
    changes: dict[str, Any],
    named: list[str],
    tmp_path: Path,
) -> None:
    """What another run has stored is no use; the message names what differs, and nothing else."""
    first = RUN | options
    fb.bootstrap(statistic, **first, checkpoint=tmp_path)
    before = stored(tmp_path)
    with pytest.raises(ValueError, match=r"^checkpoint='.*' belongs to another run: ") as raised:
        fb.bootstrap(other or statistic, **(first | changes), checkpoint=tmp_path)
    assert names_in(raised.value) == named
    assert stored(tmp_path) == before


def names_in(error: Exception) -> list[str]:
    """Return the names of what differs."""
    told = str(error).partition("another run: ")[2]
    return re.findall(r"(?:^|; )([\w ]+) is ", told)


def test_checkpoint__names_both(tmp_path: Path) -> None:
    """What differs is said of both, in words where there are any."""
    fb.bootstrap("a", **RUN, checkpoint=tmp_path)
    message = (
        r"^checkpoint='.*' belongs to another run: statistics is mean\(a\) there and mean\(b\) "
        r"here; data is [0-9a-f]{32} there and [0-9a-f]{32} here; estimates is 4\.66666666667 "
        r"there and 4\.5 here\. Give another directory, or delete this one$"
    )
    with pytest.raises(ValueError, match=message):
        fb.bootstrap("b", **RUN, checkpoint=tmp_path)


def test_checkpoint__other_procedure_and_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Swaps are no resamples, and another version may draw others."""
    fb.paired_bootstrap("a", "b", **RUN, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="procedure is paired_bootstrap there and approximate_r"):
        fb.approximate_randomization("a", "b", **RUN, checkpoint=tmp_path, path="tables")
    monkeypatch.setattr(fb, "__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"version is .* there and 0\.0\.1 here\. Give"):
        fb.paired_bootstrap("a", "b", **RUN, checkpoint=tmp_path)


def test_checkpoint__function_that_changed(tmp_path: Path) -> None:
    """Its name is the same, and what it finds in the rows is not."""

    def statistic(power: float) -> Any:
        return fb.statistic(lambda values: float((values**power).mean()), "a")

    fb.bootstrap(statistic(1.0), **RUN, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="belongs to another run") as raised:
        fb.bootstrap(statistic(2.0), **RUN, checkpoint=tmp_path)
    assert names_in(raised.value) == ["estimates"]


def test_checkpoint__many_estimates(tmp_path: Path) -> None:
    """Of many slices a digest stands in the header."""
    rows = {"a": np.arange(40.0), "s": np.arange(40) % 20}
    run: dict[str, Any] = {"by": "s", "rng": 0, "n_resamples": 9, "checkpoint": tmp_path}
    fb.bootstrap("a", data=rows, **run)
    rows["a"] = rows["a"] + 20.0 * (rows["s"] == 3)
    (tmp_path / "total" / "replicates-000000000-000000009.parquet").unlink()
    with pytest.raises(ValueError, match=r"estimates is 20 values, .* there and 20 values, "):
        fb.bootstrap("a", data=rows, **run)


def test_checkpoint__files(folder: str, tmp_path: Path) -> None:
    """Data read block by block have a digest of their own: of the rows in their order."""
    asked = CASES["mean difference"]
    asked(folder, checkpoint=tmp_path / "kept")
    # However the rows lie in files.
    write(table().select(["a", "b"]), tmp_path / "one.parquet", 30_000)
    asked(tmp_path / "one.parquet", checkpoint=tmp_path / "kept")
    # Not so in memory.
    with pytest.raises(ValueError, match="belongs to another run") as raised:
        asked(checkpoint=tmp_path / "kept")
    assert names_in(raised.value) == ["rows", "data"]
    assert "rows is read block by block there and in memory here" in str(raised.value)

    a = table()["a"].to_numpy().copy()
    a[[5, 140_000]] = a[[140_000, 5]]
    b = table()["b"].to_numpy().copy()
    b[[5, 140_000]] = b[[140_000, 5]]
    write(pa.table({"a": a, "b": b}), tmp_path / "permuted.parquet")
    with pytest.raises(ValueError, match="belongs to another run") as raised:
        asked(tmp_path / "permuted.parquet", checkpoint=tmp_path / "kept")
    assert names_in(raised.value) == ["data"]
    a[169_999] += 1.0
    write(pa.table({"a": a, "b": b}), tmp_path / "changed.parquet")
    with pytest.raises(ValueError, match="belongs to another run") as raised:
        asked(tmp_path / "changed.parquet", checkpoint=tmp_path / "kept")
    assert names_in(raised.value) == ["data", "estimates"]


def test_checkpoint__small_files(tmp_path: Path) -> None:
    """Less than a block is read at once, and is what it is in memory."""
    rows = few_rows().select(["a"])
    write(rows, tmp_path / "few.parquet")
    asked = single("patterns", "a", few=True, n_resamples=70)
    found = asked(checkpoint=tmp_path / "kept")
    assert bits(asked(tmp_path / "few.parquet", checkpoint=tmp_path / "kept")) == bits(found)
    assert stored(tmp_path / "kept") == [(0, 64), (64, 70)]


# Parts of a run.


@pytest.mark.parametrize("place", ["memory", "files"])
def test_progress__across_parts(place: str, data: Any, tmp_path: Path) -> None:
    """Replicates done go on where the last part ended; a run that resumes begins with them.

    16 of them are computed once more.
    """
    asked = of("mean difference", place)

    def told(n_resamples: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        asked(
            data,
            n_resamples=n_resamples,
            checkpoint=tmp_path,
            progress=lambda *one: found.append(one),
        )
        # A survey of files says that it goes on.
        return [one for one in found if one[0] or not data]

    first = told(100)
    assert first == sorted(first)
    assert {(64, 100), (100, 100)} <= set(first)
    assert first[-1] == (100, 100)
    second = told(200)
    assert second == sorted(second)
    assert second[0] == (100 - 16, 200)
    assert second[-1] == (200, 200)
    third = told(200)
    assert third == sorted(third)
    assert third[0] == (200 - 16, 200)
    assert third[-1] == (200, 200)


class Clock:
    """Time that passes as replicates are drawn: some for each part, and some for each replicate."""

    def __init__(self, fixed: float, each: float) -> None:
        self.now = 0.0
        self.fixed = fixed
        self.each = each
        self.parts: list[int] = []

    def perf_counter(self) -> float:
        """Return the time."""
        return self.now

    def draw(self, run: Run) -> Replicates:
        """Take the time."""
        self.parts.append(len(run.replicates))
        self.now += self.fixed + self.each * len(run.replicates)
        return Replicates(np.zeros((1, 1, len(run.replicates))), "path")


@pytest.mark.parametrize(
    "fixed,each,n_resamples,parts",
    [
        # Next to nothing: two parts.
        (0.0, 1e-6, 9_999, [64, 9_935]),
        # A part is 30 s.
        (0.0, 0.1, 1_000, [64, 300, 300, 300, 36]),
        # What takes longer might read for most of that; it does not.
        (0.0, 1.0, 400, [64, 128, 128, 80]),
        # Reading takes minutes: parts double until it is little of them.
        (300.0, 0.1, 99_999, [64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768,
                              32_768, 1_759]),
    ],
)  # fmt: skip
def test_parts(
    fixed: float,
    each: float,
    n_resamples: int,
    parts: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are stored about every 30 s, and reading is a small share of a part."""
    clock = Clock(fixed, each)
    monkeypatch.setattr(keeping, "time", clock)
    run = Run(n_resamples, 0, None, 1, None)
    place = keeping.StoredReplicates(str(tmp_path), "bootstrap", several=False)
    kept(clock.draw, run._replace(keeping=place), dict, np.zeros((1, 1)))
    assert clock.parts == parts


def test_next__a_short_part_says_little() -> None:
    """The rest of a gap does not set the length of what follows."""
    assert _next(3, 64, 29.0, 0.5) == (64, 0.5)
    assert _next(64, 64, 15.0, np.inf) == (128, 15.0 / 64)
    assert _next(64, 64, 0.0, np.inf)[0] > 10**9


# Extended results.


@IN_BOTH
def test_extend(name: str, place: str, data: Any) -> None:
    """It is the longer run from the start, also twice."""
    asked = of(name, place)
    result = asked(data, n_resamples=SHORT)
    longer = result.extend(LONG)
    assert bits(longer) == whole(name, LONG, place)
    assert bits(result) == whole(name, SHORT, place)
    assert bits(longer.extend(LONG + 50)) == whole(name, LONG + 50, place)
    assert bits(result.extend(SHORT)) == whole(name, SHORT, place)


def test_extend__enumeration(folder: str) -> None:
    """What was listed is listed again; what was drawn may be listed now."""
    asked = FEW_DIFFER
    for data in (None, folder):
        drawn = asked(data, n_resamples=63)
        listed = drawn.extend(64)
        assert drawn.path == "tables"
        assert listed.path == "enumeration"
        assert bits(listed) == bits(asked(n_resamples=64)) == bits(listed.extend(1_000))
    forced = asked(n_resamples=9, path="enumeration")
    assert forced.n_resamples == 64
    assert bits(forced.extend(64)) == bits(asked(n_resamples=64, path="enumeration"))


def test_extend__only_what_is_new(tmp_path: Path) -> None:
    """And 16 replicates that show whether anything has changed."""
    function = Counted(tmp_path)
    result = single("weights", fb.statistic(function, "a"), few=True, n_resamples=40)()
    before = function.n_calls
    result.extend(100)
    assert function.n_calls - before == 2 + 60 + 16


def test_extend__with_a_checkpoint(tmp_path: Path) -> None:
    """What is stored is not computed again; the new replicates are stored too."""
    asked = of("mean difference")
    result = asked(n_resamples=SHORT, checkpoint=tmp_path)
    assert bits(result.extend(LONG)) == whole("mean difference", LONG)
    assert max(stop for _, stop in stored(tmp_path)) == LONG


def test_extend__on_another_executor() -> None:
    """That of the call may be closed by then; the answer is the same, of a table too."""
    for name in ("function", "several"):
        asked = of(name)
        with ThreadPoolExecutor(1) as pool:
            result = asked(n_resamples=SHORT, executor=pool)
        with pytest.raises(RuntimeError, match=r"^`executor` has been shut down; give one that is"):
            result.extend(LONG)
        with ThreadPoolExecutor(2) as pool:
            assert bits(result.extend(LONG, executor=pool)) == whole(name, LONG)


def test_extend__fresh_seed() -> None:
    """The seed that was drawn is the longer run's."""
    result = fb.bootstrap([3.0, 1.0, 2.0], n_resamples=20, rng=None)
    longer = result.extend(30)
    assert longer.seed == result.seed
    assert longer.replicates[:20].tolist() == result.replicates.tolist()


@pytest.mark.parametrize(
    "value,error,message",
    [
        (True, TypeError, "^`n_resamples` is True; it must be a whole number$"),
        ("200", TypeError, "^`n_resamples` is '200'; it must be a whole number$"),
        (200.0, TypeError, r"^`n_resamples` is 200\.0; it must be a whole number$"),
        (49, ValueError, "^`n_resamples` is 49, but there are 50 replicates already; give the num"),
        (2**33, ValueError, "^`n_resamples` is 8,589,934,592; it must lie between 1 and "),
    ],
)  # fmt: skip
def test_extend__refused(value: Any, error: type[Exception], message: str) -> None:
    """A number of resamples that is none, or too small."""
    for asked in (of("mean difference"), of("slices")):
        with pytest.raises(error, match=message):
            asked(n_resamples=SHORT).extend(value)
    assert of("share")(n_resamples=SHORT).extend(np.int64(SHORT)).n_resamples == SHORT


def test_extend__pickled_and_parts_of_tables() -> None:
    """They do not hold the arguments of the call."""
    message = (
        "^this result cannot be extended: those of bootstrap, paired_bootstrap, "
        "approximate_randomization and compare can, but not once they were pickled, nor as part "
        "of a table "
        r"\(extend the table\); or call the procedure again with rng=20261 and n_resamples=60$"
    )
    several, slices = of("several")(n_resamples=SHORT), of("slices")(n_resamples=SHORT)
    alone = of("mean difference")(n_resamples=SHORT)
    for result in (
        pickle.loads(pickle.dumps(alone)),  # noqa: S301 - just pickled
        pickle.loads(pickle.dumps(several)),  # noqa: S301 - just pickled
        several["mean"],
        slices["cat"],
        slices.total,
    ):
        with pytest.raises(ValueError, match=message):
            result.extend(60)


def test_extend__stream() -> None:
    """It was read."""
    reader = few_rows().to_reader(500)
    result = fb.bootstrap("a", data=reader, n_resamples=20)
    message = (
        "^`data` is a RecordBatchReader, a stream that has been read; to extend a result, call the "
        "procedure with what can be read again: a table, a file, or a function that opens the "
        "stream$"
    )
    with pytest.raises(TypeError, match=message):
        result.extend(30)
    again = fb.bootstrap("a", data=lambda: few_rows().to_reader(500), rng=0, n_resamples=20)
    assert again.extend(30).replicates.tolist()[:20] == again.replicates.tolist()


CHANGED = "^`data` has changed: the estimate was .* and is .*; call the procedure again$"
REORDERED = (
    "^`data` has changed, or its order: the same resamples have other values; call the procedure "
    "again$"
)


@pytest.mark.parametrize("values", [np.arange(10.0), np.array([0.0, 1.0] * 5), np.arange(300) % 9])
def test_extend__array_that_changed(values: np.ndarray[Any, Any]) -> None:
    """A value in place, or the order of rows with the same mean."""
    values = values.astype(np.float64)
    result = fb.bootstrap(values, rng=0, n_resamples=30)
    values[:] = values[::-1].copy()
    with pytest.raises(ValueError, match=REORDERED):
        result.extend(40)
    values[0] += 1.0
    with pytest.raises(ValueError, match=CHANGED):
        result.extend(40)


def test_extend__slices_that_changed() -> None:
    """The mean of all rows is what it was, those of slices are not."""
    rows = {"a": np.arange(8.0), "s": np.arange(8) // 4}
    result = fb.bootstrap("a", data=rows, by="s", rng=0, n_resamples=30)
    rows["s"][[0, 7]] = rows["s"][[7, 0]]
    with pytest.raises(ValueError, match=r"^`data` has changed: the estimate was 1\.5 and is 3\.2"):
        result.extend(40)


def test_extend__file_that_changed(tmp_path: Path) -> None:
    """Another value; or the same rows in another order."""
    rows = table().select(["a"])
    write(rows, tmp_path / "rows.parquet", 50_000)
    result = fb.bootstrap("a", data=tmp_path / "rows.parquet", rng=0, n_resamples=20)
    a = rows["a"].to_numpy().copy()
    a[169_999] += 1.0
    write(pa.table({"a": a}), tmp_path / "rows.parquet", 50_000)
    with pytest.raises(ValueError, match=CHANGED):
        result.extend(30)
    # Whole numbers: their sum does not round.
    write(table().select(["x"]), tmp_path / "whole.parquet", 50_000)
    result = fb.bootstrap(fb.ratio("x", "x2"), data=two_columns(tmp_path, 1), rng=0, n_resamples=20)
    two_columns(tmp_path, -1)
    with pytest.raises(ValueError, match=REORDERED):
        result.extend(30)


def two_columns(folder: Path, step: int) -> Path:
    """Write two columns of whole numbers, in one order or the other."""
    x = np.arange(170_000.0) % 1_000
    write(pa.table({"x": x[::step], "x2": x[::step] ** 2 + 1.0}), folder / "two.parquet", 50_000)
    return folder / "two.parquet"


# Memory.


def test_result__holds_no_more_than_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the rows that were loaded, and not the replicates of the run that it extends."""
    samples: list[weakref.ref[Any]] = []
    module = importlib.import_module("fastboot.bootstrap")
    gather = module.gather

    def watched(*arguments: Any, **options: Any) -> Any:
        sample = gather(*arguments, **options)
        samples.append(weakref.ref(sample))
        return sample

    monkeypatch.setattr(module, "gather", watched)
    result = fb.bootstrap("a", data=few_rows(), rng=0, n_resamples=20)
    assert result.replicates.base is not None  # owns the memory
    replicates = weakref.ref(result.replicates.base)
    gc.collect()
    assert len(samples) == 1
    assert samples[0]() is None
    longer = result.extend(30)
    del result
    gc.collect()
    assert samples[1]() is replicates() is None
    assert longer.extend(40).n_resamples == 40


def test_known__any_name() -> None:
    """A set that nothing is known of is computed in full."""
    known = KnownReplicates({})
    assert check_checkpoint(known, "bootstrap", None) is known  # type: ignore[arg-type] # not looked at
    found = known.opened("first", np.zeros((1, 1)), dict)
    assert found.finished() == []
    assert found.missing(20) == [range(20)]
