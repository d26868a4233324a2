"""Executors: the same bits wherever the work is done, and whatever happens there."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import two_processes
from executing import (
    OPTIONS,
    SEED,
    Case,
    Counted,
    Fragile,
    bleu,
    few_rows,
    macro_f,
    means,
    paired,
    quotient,
    single,
    spread,
    swapped,
)
from scanning import Partition, bits, paths_of, table
from sourced import write

import fastboot as fb
from fastboot import passes
from fastboot.blocks import BLOCK

# P5 of the design: Ctrl-C within 0.5 s.
SECONDS_TO_STOP = 0.5
# Long enough for anything to happen on a busy machine.
PATIENCE = 30.0


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two fresh processes."""
    with a_pool(2) as pool:
        yield pool


def a_pool(n_workers: int) -> ProcessPoolExecutor:
    """Return fresh processes."""
    return ProcessPoolExecutor(n_workers, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """A Dask cluster of two processes."""
    with two_processes() as client:
        yield client


@pytest.fixture(scope="module")
def folder() -> Iterator[Any]:
    """Files that begin and end in the middle of blocks."""
    with Partition("parquet", (65_536, 100_000, 100_001), (20_000,)).written(table()) as written:
        yield written


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task for each block: three for each pass over the files, not one."""
    monkeypatch.setattr(passes, "_EXTENT", 1)


# The same bits.

CASES = {
    # Read block by block from files, and sent block by block from memory.
    "mean, bca": single("patterns", "a", method="bca"),
    "mean difference": paired("patterns", "a", "b", method="bca"),
    "weighted": single("patterns", fb.ratio("a", "size"), weights="weight"),
    "macro-F of groups": paired("weights", macro_f("said"), macro_f("told"), groups="document"),
    "BLEU of two": paired("weights", bleu("first"), bleu("second")),
    "several": single(
        "weights",
        {"mean": "a", "share": fb.mean("x"), "F": fb.f_score("gold", "said", average=None)},
    ),
    "combination": single(
        "patterns", fb.combine(quotient, fb.mean("a"), fb.mean("size")), method="bca"
    ),
    "combination of a lambda": single(
        "patterns", fb.combine(lambda one, two: one / two, fb.mean("a"), fb.mean("size"))
    ),
    # Read in tasks, and drawn here: classes and groups.
    "share": paired("collapse", "x", "y"),
    "macro-F": single("collapse", macro_f("said")),
    "groups": paired("patterns", "a", "b", groups="user"),
    "swaps": swapped("tables", "a", "b"),
    "swaps of shares": swapped("collapse", "x", "y"),
    "swaps of groups": swapped("tables", "a", "b", groups="document"),
    # Loaded, and drawn in ranges of replicates or here.
    "studentized": single("patterns", fb.ratio("a", "size"), method="studentized"),
    "strata": single("patterns", "a", strata="split"),
    "slices": paired("patterns", "a", "b", by="split"),
    "m out of n": single("rows", "a", n_drawn=500),
    "median": single("order", fb.median("a"), few=True),
    "medians of groups": paired(
        "weights", fb.median("a"), fb.median("b"), groups="document", few=True
    ),
    "ROC AUC": single("weights", fb.roc_auc("x", "chance"), few=True, method="bca"),
    "Spearman": single("weights", fb.spearman("a", "b"), few=True),
    "function": single("weights", fb.statistic(spread, "a"), few=True),
    "lambda": single("weights", fb.statistic(lambda values: spread(values), "a"), few=True),  # noqa: PLW0108 # a lambda is what is sent
    "vectorized": single("weights", fb.statistic(means, "a", vectorized=True), few=True),
    "sums and weights": single(
        "patterns+weights", {"mean": "a", "median": fb.median("a")}, few=True
    ),
    "weighted median": single("weights", fb.median("a"), weights="weight", few=True),
    "medians of slices": single("weights", fb.median("a"), by="gold", few=True),
    "swaps of medians": swapped("weights", fb.median("a"), fb.median("b"), few=True),
    "swaps of medians in slices": swapped(
        "weights", fb.median("a"), fb.median("b"), by="gold", few=True
    ),
    "poisson": single("poisson", "a", scheme="poisson", few=True),
    "bayesian": paired("bayesian", "a", "b", scheme="bayesian", few=True),
    "moving": single("moving", "a", scheme="moving", few=True),
    "nested": single("nested", "a", groups="document", levels="nested", few=True),
    "crossed": single("crossed", "a", groups=["document", "team"], levels="crossed", few=True),
}


@cache
def expected(name: str) -> Any:
    """Return the answer of one thread in memory."""
    answer = CASES[name](n_threads=1)
    assert paths_of(answer) == {CASES[name].path}
    return bits(answer)


# Some that are read, drawn or loaded in different ways.
SOME = ["mean, bca", "macro-F of groups", "swaps", "studentized", "function", "nested"]
KINDS = {
    "one thread": SOME,
    "two threads": SOME,
    "three threads": SOME,
    "threads": SOME,
    "processes": CASES,
    # Other executors are given the same tasks.
    "dask": [
        *SOME, "BLEU of two", "several", "combination of a lambda", "lambda", "groups",
        "swaps of shares", "swaps of medians", "ROC AUC", "slices", "bayesian",
    ],
    # The same cluster, and the same number of threads, in other words.
    "executor of dask": SOME,
}  # fmt: skip


@pytest.fixture
def executor(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """Return the options of a procedure for a kind of executor."""
    kind = request.param
    numbers = {"one thread": 1, "two threads": 2, "three threads": 3}
    if kind in numbers:
        yield {"n_threads": numbers[kind]}
    elif kind == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield {"executor": pool}
    elif kind == "processes":
        yield {"executor": request.getfixturevalue("processes")}
    else:
        client = request.getfixturevalue("client")
        yield {"executor": client if kind == "dask" else client.get_executor()}


@pytest.mark.parametrize(
    "executor,name",
    [(kind, name) for kind, names in KINDS.items() for name in names],
    indirect=["executor"],
)
def test_bits(name: str, executor: dict[str, Any], folder: str) -> None:
    """Threads, processes and a cluster give the answer of one thread, from memory and files."""
    asked = CASES[name]
    assert bits(asked(**executor)) == expected(name)
    if not asked.few:
        assert bits(asked(folder, **executor)) == expected(name)


@pytest.mark.parametrize("paths", [("patterns", "weights"), ("weights", "patterns")])
def test_bits__forced_path(paths: tuple[str, str]) -> None:
    """A path that is asked for is taken on an executor too; by another, sums round otherwise."""
    with ThreadPoolExecutor(2) as pool:
        forced = fb.bootstrap("a", data=table(), path=paths[0], executor=pool, **OPTIONS)
    assert forced.path == paths[0]
    for path, same in zip(paths, (True, False), strict=True):
        here = fb.bootstrap("a", data=table(), path=path, **OPTIONS)
        assert (bits(here.replicates) == bits(forced.replicates)) is same
        assert here.replicates == pytest.approx(forced.replicates)


class Watched(ThreadPoolExecutor):
    """Threads that count what they are given, and say how many there are no more than others.

    n_tasks, n_bytes : number of tasks, and what each takes when it is pickled
    """

    def __init__(self) -> None:
        super().__init__(1)
        self.n_bytes: list[int] = []

    @property
    def n_tasks(self) -> int:
        """How many there were."""
        return len(self.n_bytes)

    def submit(self, *arguments: Any, **options: Any) -> Future[Any]:
        """Count."""
        self.n_bytes.append(len(pickle.dumps(arguments)))
        return super().submit(*arguments, **options)


@pytest.mark.parametrize(
    "name,in_memory,in_files",
    [
        ("mean, bca", 1, 6),  # 16 blocks a task; of files one block: a survey, and draws
        ("BLEU of two", 3, 6),  # 20 terms: one block a task
        ("share", 0, 3),  # classes are drawn here
        ("groups", 1, 2),  # 64 blocks are summed in a task; then groups are units in memory
        ("swaps", 0, 6),  # a survey, and draws
        ("function", 32, None),
        ("swaps of medians", 32, None),
        ("median", 32, None),
        ("poisson", 32, None),
        ("crossed", 96, None),
        ("constant", 0, None),
    ],
)
def test_tasks(name: str, in_memory: int, in_files: int | None, folder: str) -> None:
    """What takes time is done on the executor, and what takes none is not."""
    asked = CASES.get(name, single("constant", fb.mean("one")))
    with Watched() as pool:
        asked(executor=pool)
        assert pool.n_tasks == in_memory
        if in_files is not None:
            asked(folder, executor=pool)
            assert pool.n_tasks == in_memory + in_files


def test_tasks__fewer_replicates_than_ranges() -> None:
    """A range has one replicate at least."""
    asked = CASES["function"]
    with Watched() as pool:
        found = asked(n_resamples=3, executor=pool)
        assert pool.n_tasks == 3
    assert bits(found) == bits(asked(n_resamples=3))


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_swaps__each_task_reads_its_own_rows(share: float, tmp_path: Path) -> None:
    """A task says where rows lie and brings none; rows that differ have blocks of their own."""
    rng = np.random.default_rng(SEED)
    a = rng.normal(size=400_000)
    b = np.where(rng.random(a.size) < share, rng.normal(size=a.size), a)
    whole = pa.table({"a": a, "b": b})
    for number in range(4):
        pq.write_table(whole.slice(100_000 * number, 100_000), tmp_path / f"{number}.parquet")
    with Watched() as pool:
        found = fb.approximate_randomization("a", "b", data=str(tmp_path), executor=pool, **OPTIONS)
    assert bits(found) == bits(fb.approximate_randomization("a", "b", data=whole, **OPTIONS))
    assert found.n_differing > 3 * BLOCK
    assert pool.n_tasks > 6
    assert max(pool.n_bytes) < 10_000


def test_swaps__few_units_are_listed_here() -> None:
    """All swaps of a few units, of a statistic of row weights: each once."""
    rows = few_rows().slice(0, 5)
    with Watched() as pool:
        found = fb.approximate_randomization(
            fb.median("a"), fb.median("b"), data=rows, executor=pool
        )
        assert pool.n_tasks == 0
    assert found.path == "enumeration"
    assert found.n_resamples == 32


def test_progress(processes: ProcessPoolExecutor, folder: str) -> None:
    """Replicates done go up to all of them, on executors too."""
    for asked, data in (
        (CASES["mean, bca"], None),
        (CASES["mean, bca"], folder),
        (CASES["function"], None),
    ):
        told: list[tuple[int, int]] = []
        asked(data, executor=processes, progress=lambda *one, told=told: told.append(one))
        assert told == sorted(told)
        assert told[-1] == (40, 40)


# What cannot be sent.


@pytest.mark.parametrize(
    "name,culprit",
    [("lambda", r"<function <lambda> at \w+>"),
     ("combination of a lambda", r"<function <lambda> at \w+>")],
)  # fmt: skip
def test_lambda__without_cloudpickle(
    name: str,
    culprit: str,
    processes: ProcessPoolExecutor,
    folder: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message names it."""
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    asked = CASES[name]
    with pytest.raises(TypeError, match=f"^`executor` cannot be sent {culprit}: "):
        asked(None if asked.few else folder, executor=processes)
    # Sums are sent as they are; what becomes of them is found here.
    if not asked.few:
        assert bits(asked(executor=processes)) == expected(name)


def test_executor__refused() -> None:
    """Before any work."""
    with pytest.raises(TypeError, match=r"^`executor` is 4; it must have a submit\("):
        fb.bootstrap([1.0, 2.0], executor=4)


def test_executor__shut_down(folder: str) -> None:
    """Neither a run nor its extension can do without."""
    with ThreadPoolExecutor(1) as pool:
        result = fb.bootstrap("a", data=folder, executor=pool, **OPTIONS)
    message = (
        r"^`executor` has been shut down; .*extended on the executor of its call, or on that of "
        r"extend\(n_resamples, executor\)\)$"
    )
    with pytest.raises(RuntimeError, match=message):
        result.extend(50)


# Faults.


def fragile(folder: Path, last: int) -> Case:
    """Return a case of which a worker dies in its last call, of six in two passes."""
    return single("patterns", Fragile("a", folder, last))


MEAN = single("patterns", fb.mean("a"))


@pytest.mark.parametrize("last", [2, 5])
def test_dask__worker_killed(
    last: int, client: distributed.Client, folder: str, tmp_path: Path
) -> None:
    """While it looks at the files, or draws from them: Dask does that task elsewhere."""
    client.wait_for_workers(2)
    found = fragile(tmp_path, last)(folder, executor=client)
    assert bits(found.replicates) == bits(MEAN().replicates)
    # Both processes went on from there, or another one.
    assert len(list(tmp_path.iterdir())) > 6


def test_dask__worker_killed_from_outside(client: distributed.Client, folder: str) -> None:
    """As a scheduler of a cluster does: in the middle of a longer run."""
    client.wait_for_workers(2)
    victim, pid = next(iter(client.run(os.getpid).items()))
    killed: list[str] = []

    def kill(*_: int) -> None:
        if not killed and client.processing().get(victim):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            killed.append(victim)

    asked = single("patterns", bleu("first"), n_resamples=1_000)
    found = asked(folder, executor=client, progress=kill)
    assert killed
    assert victim not in client.run(os.getpid)
    assert bits(found.replicates) == bits(asked(folder).replicates)


def test_process_killed(folder: str, tmp_path: Path) -> None:
    """A pool does not live on; with a checkpoint the next one goes on where it died."""
    calls = tmp_path / "calls"
    calls.mkdir()
    checkpoint = tmp_path / "checkpoint"
    # Three calls of the survey, three of the first 64 replicates, and one more.
    asked = fragile(calls, 7)
    options = {"checkpoint": checkpoint, "n_resamples": 100}
    with a_pool(1) as pool:
        with pytest.raises(RuntimeError, match=r"^a worker of `executor` died at .*parquet"):
            asked(folder, executor=pool, **options)
        assert not [one for one in threading.enumerate() if one.name.startswith("fastboot")]
    assert [one.name for one in checkpoint.iterdir()] == ["replicates-000000000-000000064.parquet"]
    with a_pool(1) as pool:
        found = asked(folder, executor=pool, **options)
    assert len(list(calls.iterdir())) == 7 + 6
    assert bits(found.replicates) == bits(MEAN(n_resamples=100).replicates)


class Elsewhere(Executor):
    """An executor to which some files are not visible.

    Parameters
    ----------
    folder
        That is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def submit(self, task: Any, *arguments: Any, **options: Any) -> Future[Any]:  # type: ignore[override] # as it is called
        """Run a task at once."""
        future: Future[Any] = Future()
        hidden = self._folder.with_name("hidden")
        self._folder.rename(hidden)
        try:
            future.set_result(task(*arguments, **options))
        except Exception as error:  # noqa: BLE001 - as executors do
            future.set_exception(error)
        finally:
            hidden.rename(self._folder)
        return future


def test_files_that_workers_cannot_see(tmp_path: Path) -> None:
    """The error names the file."""
    there = tmp_path / "there"
    there.mkdir()
    write(table().select(["a"]), there / "some.parquet", 20_000)
    with pytest.raises(FileNotFoundError, match=r"some\.parquet") as raised:
        fb.bootstrap("a", data=there, executor=Elsewhere(there), **OPTIONS)
    assert str(there) in f"{raised.value}"
    assert bits(MEAN(there).replicates) == bits(MEAN().replicates)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C raises in tests that a shell began in the background, with SIGINT ignored, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def interrupted(seconds: float) -> Iterator[Callable[[], float]]:
    """Raise KeyboardInterrupt in this thread after a while; return how long ago that was."""
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        sent = time.monotonic()
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield lambda: time.monotonic() - sent
    finally:
        timer.join()


@pytest.mark.parametrize("kind", ["threads", "processes", "dask"])
def test_interrupt(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Ctrl-C ends a run in time, and what has not begun never does."""
    function = Counted(tmp_path, 0.05)
    asked = single("weights", fb.statistic(function, "a"), few=True, n_resamples=160)
    with contextlib.ExitStack() as stack:
        pool: Any = (
            stack.enter_context(ThreadPoolExecutor(2))
            if kind == "threads"
            else request.getfixturevalue({"dask": "client"}.get(kind, kind))
        )
        # Imports and compilation come first, here and there: half a second is for the run.
        single("weights", fb.statistic(np.mean, "a"), few=True, n_resamples=20)(executor=pool)
        with interrupted(0.5) as since, pytest.raises(KeyboardInterrupt):
            asked(executor=pool)
        assert since() < SECONDS_TO_STOP
        if kind == "dask":
            end = time.monotonic() + PATIENCE
            while any(pool.processing().values()) and time.monotonic() < end:
                time.sleep(0.05)
        pool.submit(len, "").result(PATIENCE)
        pool.submit(len, "").result(PATIENCE)
    # Of 32 tasks of five calls; a few ran, and processes may have had more in their queue.
    assert 0 < function.n_calls < 80
