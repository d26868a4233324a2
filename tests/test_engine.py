"""The engine: every replicate once, the same for any threads and batches; stops when told."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import fastboot as fb
from fastboot import engine
from fastboot.paths import BOOTSTRAP_PATHS
from fastboot.swap_paths import SWAP_PATHS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N_THREADS = (1, 2, 3, 8)
# P5 of the design: Ctrl-C within 0.5 s.
SECONDS_TO_STOP = 0.5
# Long enough for thread start-up on a busy machine, far shorter than the work it interrupts.
PATIENCE = 10.0


class Visit(NamedTuple):
    """One step of one range, and the thread that did it."""

    step: int
    replicates: range
    thread: int


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded random numbers."""
    return np.random.default_rng(47)


@pytest.fixture
def threads_left() -> Callable[[], list[threading.Thread]]:
    """Return the threads that were not there when the test began."""
    before = set(threading.enumerate())
    return lambda: [thread for thread in threading.enumerate() if thread not in before]


def task_of(n_steps: int, work: Callable[[int, range], object]) -> engine.Task:
    """Return a task that works in each of its steps, and not in an empty range."""

    def task(replicates: range) -> Iterator[int]:
        for step in range(n_steps):
            if replicates:
                work(step, replicates)
            yield len(replicates)

    return task


def visits(n_steps: int, n_replicates: int, n_threads: int, seconds: float = 1e-4) -> list[Visit]:
    """Every step of a run that works, in order of time."""
    seen: list[Visit] = []
    engine.run(
        task_of(n_steps, lambda step, r: seen.append(Visit(step, r, threading.get_ident()))),
        n_steps=n_steps,
        n_replicates=n_replicates,
        seconds=seconds,
        n_threads=n_threads,
    )
    return seen


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("n_steps", [1, 3])
@pytest.mark.parametrize("n_replicates", [1, 2, 7, 1_000, 9_999])
def test_run__every_replicate_once(n_replicates: int, n_steps: int, n_threads: int) -> None:
    """No step is left out or taken twice, whatever the shape of the work."""
    taken = np.zeros((n_steps, n_replicates), dtype=np.int64)
    for step, replicates, _ in visits(n_steps, n_replicates, n_threads):
        taken[step, replicates.start : replicates.stop] += 1

    assert np.all(taken == 1)


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_run__a_range_is_done_by_one_thread(n_threads: int) -> None:
    """One thread does a range from first step to last: sums are rounded in one order."""
    of_range: dict[range, list[Visit]] = {}
    for visit in visits(5, 9_999, n_threads):
        of_range.setdefault(visit.replicates, []).append(visit)

    for steps in of_range.values():
        assert [0, 1, 2, 3, 4] == [visit.step for visit in steps]
        assert len({visit.thread for visit in steps}) == 1


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_run__ranges_of_equal_size(n_threads: int) -> None:
    """Ranges differ by one replicate at most, keep all threads busy, and none is too long."""
    seconds = 1e-4
    ranges = {visit.replicates for visit in visits(1, 9_999, n_threads, seconds)}
    sizes = {len(replicates) for replicates in ranges}

    assert max(sizes) - min(sizes) <= 1
    assert len(ranges) % n_threads == 0
    assert max(sizes) * seconds <= engine.LONGEST_CALL


def test_run__scratch_memory_is_bounded() -> None:
    """However cheap a replicate is, a range holds no more of them than scratch memory allows."""
    sizes = [len(visit.replicates) for visit in visits(1, 100_000, 1, seconds=1e-9)]

    assert max(sizes) <= 4_096


@pytest.mark.parametrize("largest,expected", [(1, 1), (10, 10), (10**9, 1_000)])
def test_run__largest_range_that_the_caller_allows(largest: int, expected: int) -> None:
    """A task with large scratch memory has shorter ranges; never longer than a call may last."""
    sizes: set[int] = set()
    engine.run(
        task_of(1, lambda _, replicates: sizes.add(len(replicates))),
        n_steps=1,
        n_replicates=2_000,
        seconds=1e-4,
        n_threads=1,
        largest=largest,
    )

    assert {expected} == sizes


def test_run__one_thread_is_the_caller() -> None:
    """With one thread, or so little work that a second costs more, the calling thread does it."""
    assert {threading.get_ident()} == {visit.thread for visit in visits(2, 5_000, 1)}
    assert {threading.get_ident()} == {visit.thread for visit in visits(2, 5_000, 8, 1e-9)}


@pytest.mark.parametrize("n_threads", [2, 3])
def test_run__the_caller_works_too(n_threads: int) -> None:
    """As many threads work at a time as were asked for, and the calling thread is one of them."""
    together = threading.Barrier(n_threads, timeout=PATIENCE)
    met: set[int] = set()

    def work(_: int, __: range) -> None:
        if threading.get_ident() not in met:  # a thread's first range: wait for all the others
            together.wait()
            met.add(threading.get_ident())

    engine.run(task_of(1, work), n_steps=1, n_replicates=20_000, seconds=1e-4, n_threads=n_threads)

    assert len(met) == n_threads
    assert threading.get_ident() in met


def test_run__compiles_in_the_caller() -> None:
    """Before threads start, the caller does an empty range, which has the kernels compiled."""
    seen: list[tuple[range, int, int]] = []

    def task(replicates: range) -> Iterator[int]:
        seen.append((replicates, threading.get_ident(), threading.active_count()))
        yield len(replicates)

    before = threading.active_count()
    engine.run(task, n_steps=1, n_replicates=5_000, seconds=1e-4, n_threads=2)

    assert (range(0), threading.get_ident(), before) == seen[0]
    assert all(replicates for replicates, _, _ in seen[1:])


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("first", [True, False])
def test_run__error_of_a_step(
    n_threads: int, first: bool, threads_left: Callable[[], list[threading.Thread]]
) -> None:
    """An error reaches the caller as it was raised, ends the other ranges and leaves no thread."""
    error = RuntimeError("the kernel failed")
    taken = []
    failed = threading.Event()

    def work(step: int, replicates: range) -> None:
        taken.append(step)
        fails = (replicates.start == 0) == first or n_threads == 1
        if fails and step == 1:
            failed.set()
            raise error
        if not fails:
            failed.wait(PATIENCE)
            time.sleep(0.02)  # 1,000 steps of this outlast any patience

    started = time.monotonic()
    with pytest.raises(RuntimeError) as caught:
        engine.run(
            task_of(1_000, work), n_steps=1_000, n_replicates=8_000, seconds=1e-4,
            n_threads=n_threads,
        )  # fmt: skip

    assert caught.value is error
    assert time.monotonic() - started < PATIENCE
    assert len(taken) < 8_000
    assert threads_left() == []


def test_run__error_while_compiling(threads_left: Callable[[], list[threading.Thread]]) -> None:
    """What the empty range raises is raised before any thread starts."""

    def task(replicates: range) -> Iterator[int]:
        if not replicates:
            raise ZeroDivisionError("does not compile")
        yield len(replicates)

    with pytest.raises(ZeroDivisionError, match="does not compile"):
        engine.run(task, n_steps=1, n_replicates=8_000, seconds=1e-4, n_threads=2)

    assert threads_left() == []


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("n_steps", [1, 3])
def test_progress__counts_up_to_the_total(n_steps: int, n_threads: int) -> None:
    """Progress is told in the calling thread, never goes back, and ends at the total."""
    told: list[tuple[int, int, int]] = []
    engine.run(
        task_of(n_steps, lambda _, replicates: time.sleep(1e-6 * len(replicates))),
        n_steps=n_steps,
        n_replicates=9_999,
        seconds=1e-4,
        n_threads=n_threads,
        progress=lambda done, total: told.append((done, total, threading.get_ident())),
    )
    done = [step for step, _, _ in told]

    assert {(9_999, threading.get_ident())} == {step[1:] for step in told}
    assert sorted(done) == done
    assert done[0] >= 0
    assert done[-1] == 9_999


def test_progress__counts_what_a_step_was_for() -> None:
    """A step may be for a few of the replicates of its range."""

    def task(replicates: range) -> Iterator[int]:
        for _ in replicates:
            yield 1

    told: list[tuple[int, int]] = []
    engine.run(
        task,
        n_steps=1,
        n_replicates=5,
        seconds=0.04,  # two in a range
        n_threads=1,
        progress=lambda *progress: told.append(progress),
    )

    assert [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)] == told


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_progress__error_stops_the_run(
    n_threads: int, threads_left: Callable[[], list[threading.Thread]]
) -> None:
    """What progress raises ends the run early, with no thread left."""
    taken = []

    def work(step: int, _: range) -> None:
        taken.append(step)
        time.sleep(0.02)

    def progress(_: int, __: int) -> None:
        raise ZeroDivisionError("the callback failed")

    with pytest.raises(ZeroDivisionError, match="the callback failed"):
        engine.run(
            task_of(1_000, work),
            n_steps=1_000,
            n_replicates=8_000,
            seconds=1e-4,
            n_threads=n_threads,
            progress=progress,
        )

    assert len(taken) < 8_000
    assert threads_left() == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_progress__reaches_the_caller(n_threads: int, rng: np.random.Generator) -> None:
    """The procedures hand over progress and what it raises."""
    told: list[tuple[int, int]] = []
    scores = rng.random(1_000)
    fb.bootstrap(
        scores,
        rng=1,
        n_resamples=5_000,
        n_threads=n_threads,
        progress=lambda done, total: told.append((done, total)),
    )

    assert told[-1] == (5_000, 5_000)

    def stop(_: int, __: int) -> None:
        raise StopIteration

    with pytest.raises(StopIteration):
        fb.bootstrap(scores, n_threads=n_threads, progress=stop)


# A run of minutes in a process of its own. It says when it works, and how it ended.
LONG_RUN = """
import json, sys, threading, time
import numpy as np
import fastboot as fb

procedure, n_threads, where = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
a, b = rng.random(2_000_000), rng.random(2_000_000)
before = threading.enumerate()
told = []

def progress(done, total):
    if done > 0 and not told:
        told.append(done)
        print("working", flush=True)
        if where == "progress":
            time.sleep(60)

try:
    getattr(fb, procedure)(a, b, rng=0, n_resamples=100_000, n_threads=n_threads, progress=progress)
except KeyboardInterrupt:
    stopped = time.monotonic()
    print(json.dumps([stopped, threading.enumerate() == before]), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize(
    "procedure,n_threads,where",
    [
        ("paired_bootstrap", 1, "kernel"),
        ("paired_bootstrap", 2, "kernel"),
        ("paired_bootstrap", 1, "progress"),
        ("paired_bootstrap", 2, "progress"),
        ("approximate_randomization", 2, "kernel"),
    ],
)
def test_interrupt__within_half_a_second(procedure: str, n_threads: int, where: str) -> None:
    """Ctrl-C raises KeyboardInterrupt in time, wherever it falls, and leaves no thread."""
    assert soonest(lambda: seconds_to_stop(procedure, n_threads, where)) < SECONDS_TO_STOP


def soonest(attempt: Callable[[], float], n_attempts: int = 3) -> float:
    """Return the shortest of a few delays.

    Other work on the machine may delay one answer; three in a row are the engine's delay.
    """
    delays: list[float] = []
    while len(delays) < n_attempts and min(delays, default=SECONDS_TO_STOP) >= SECONDS_TO_STOP:
        delays.append(attempt())
    return min(delays)


def seconds_to_stop(procedure: str, n_threads: int, where: str) -> float:
    """Interrupt a long run once; return how long it took to raise."""
    words = [sys.executable, "-c", LONG_RUN, procedure, str(n_threads), where]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "working\n"
        time.sleep(0.15)  # beyond the kernel call that ended with the message
        sent = time.monotonic()  # one clock for all processes
        child.send_signal(signal.SIGINT)
        stopped, no_thread_left = json.loads(child.stdout.readline())

    assert no_thread_left
    assert child.returncode == 0
    return float(stopped - sent)


# With no cache, the first call compiles for seconds. The second must not suffer.
COLD_RUN = """
import json, sys, threading, time
import numpy as np
import fastboot as fb
import fastboot.kernels.patterns

a, b = np.random.default_rng(0).random((2, 20_000))
print("working", flush=True)
try:
    fb.paired_bootstrap(a, b, rng=0, n_threads=int(sys.argv[1]))
except KeyboardInterrupt:
    stopped = time.monotonic()
    print(json.dumps([stopped, threading.active_count()]), flush=True)
    print(fb.paired_bootstrap(a, b, rng=0, n_resamples=5).replicates.tolist())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupt__while_compiling(n_threads: int) -> None:
    """Ctrl-C ends a compilation, and the kernel compiles when it is called again."""
    a, b = np.random.default_rng(0).random((2, 20_000))
    expected = fb.paired_bootstrap(a, b, rng=0, n_resamples=5).replicates.tolist()

    moments = itertools.count(1)

    def attempt() -> float:
        words = [sys.executable, "-c", COLD_RUN, str(n_threads)]
        environment = os.environ | {"FASTBOOT_CACHE_DIR": "", "NUMBA_DISABLE_JIT": "0"}
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "working\n"
            time.sleep(0.4 * next(moments))  # compiling takes 3 s or more
            sent = time.monotonic()
            child.send_signal(signal.SIGINT)
            stopped, n_alive = json.loads(child.stdout.readline())
            answer = json.loads(child.stdout.read())

        assert n_alive == 1
        assert expected == answer
        return float(stopped - sent)

    # One in four falls into a call-back of LLVM and is answered when the kernel is compiled; all of
    # five do so once in a thousand times.
    assert soonest(attempt, 5) < SECONDS_TO_STOP


# Numba enters what arrays can do, and is told to stop in the middle of it.
LOADING_RUN = """
import os, signal
import numpy as np
from numba.core import types
from numba.core.typing.context import BaseContext
import fastboot as fb

enter = BaseContext.insert_attributes
sent = []

def interrupted(context, attributes):
    if attributes.key is types.Array and not sent:
        sent.append(True)
        os.kill(os.getpid(), signal.SIGINT)
    enter(context, attributes)

BaseContext.insert_attributes = interrupted
a, b = np.random.default_rng(0).random((2, 20_000))
try:
    fb.paired_bootstrap(a, b, rng=0, n_resamples=5)
except KeyboardInterrupt:
    print(len(sent), fb.paired_bootstrap(a, b, rng=0, n_resamples=5).replicates.tolist())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process that is sent SIGINT")
def test_interrupt__while_numba_loads() -> None:
    """Ctrl-C while Numba enters its functions leaves none out: it compiles when called again."""
    a, b = np.random.default_rng(0).random((2, 20_000))
    expected = fb.paired_bootstrap(a, b, rng=0, n_resamples=5).replicates.tolist()
    environment = os.environ | {"FASTBOOT_CACHE_DIR": "", "NUMBA_DISABLE_JIT": "0"}
    found = subprocess.run(
        [sys.executable, "-c", LOADING_RUN], env=environment, check=True, text=True,
        capture_output=True,
    )  # fmt: skip

    assert f"1 {expected}\n" == found.stdout


@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupt__inside_a_callback(n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python can only report, because C called it, is raised when C has returned."""
    reported: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reported.append(args.exc_type))
    before = sys.unraisablehook

    def task_that_raises(error: type[BaseException]) -> engine.Task:
        def raise_it() -> None:
            raise error

        callback = ctypes.CFUNCTYPE(None)(raise_it)

        def task(replicates: range) -> Iterator[int]:
            if not replicates:
                callback()
            yield len(replicates)

        return task

    def run(task: engine.Task) -> None:
        engine.run(task, n_steps=1, n_replicates=5_000, seconds=1e-4, n_threads=n_threads)

    with pytest.raises(KeyboardInterrupt):
        run(task_that_raises(KeyboardInterrupt))
    run(task_that_raises(ValueError))

    assert reported == [ValueError]
    assert sys.unraisablehook is before


def run_path(path: str, data: dict[str, Any], n_resamples: int, n_threads: int) -> Any:
    """Replicates of a path: of four terms, which all differ between the systems."""
    procedure: Any = (
        fb.paired_bootstrap if path in BOOTSTRAP_PATHS else fb.approximate_randomization
    )
    if path == "swap collapse":
        procedure, path = fb.approximate_randomization, "collapse"
    result = procedure(
        fb.ratio("a", "c"),
        fb.ratio("b", "d"),
        data=data,
        rng=3,
        n_resamples=n_resamples,
        n_threads=n_threads,
        path=path,
    )
    assert result.path == path
    return result.replicates


PATHS = [
    *BOOTSTRAP_PATHS,
    *(path if path != "collapse" else "swap collapse" for path in SWAP_PATHS),
]
# Below one counter, beyond "rows", and beyond one superblock with a short second one.
SIZES_AND_RESAMPLES = [(13, 500), (300, 500), (70_000, 24)]


@pytest.fixture
def columns(rng: np.random.Generator) -> Callable[[int], dict[str, Any]]:
    """Return a table of any length: numerators a, b and denominators c, d of two systems."""
    return lambda n: {name: rng.uniform(0.5, 1.5, n) for name in "abcd"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n,n_resamples", SIZES_AND_RESAMPLES)
def test_replicates__same_bits_for_any_threads_and_batches(
    path: str,
    n: int,
    n_resamples: int,
    columns: Callable[[int], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """P2: neither threads nor the sizes of ranges move the last bit of a replicate."""
    if path == "enumeration" and n > 13:
        n = 12
    data = columns(n)
    expected = run_path(path, data, n_resamples, 1)
    monkeypatch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)

    for largest in (1, 3, 5, 37, 4_096):
        monkeypatch.setattr(engine, "_LARGEST_RANGE", largest)
        for n_threads in N_THREADS if largest > 1 else (1, 8):
            actual = run_path(path, data, n_resamples, n_threads)

            assert np.array_equal(expected, actual), (largest, n_threads)


STATISTICS: dict[str, Callable[[str], Any]] = {
    "order statistics": lambda system: fb.trimmed_mean(system, 0.1),
    "ranks": lambda system: fb.spearman("gold", system),
    "pairs of rows": lambda system: fb.kendall("gold", system),
    "sorted scores": lambda system: fb.roc_auc("label", system),
    "precision at every score": lambda system: fb.average_precision("label", system),
    "tallies": lambda system: fb.calibration_error("label", system),
    "classes": lambda system: fb.f_score("class", f"{system} class", average=None),
    "sum over classes": lambda system: fb.f_score("class", f"{system} class", average="macro"),
    "agreement": lambda system: fb.cohen_kappa("class", f"{system} class"),
}


@pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("procedure", [fb.paired_bootstrap, fb.approximate_randomization])
@pytest.mark.parametrize("design", [{}, {"groups": "group"}, {"by": "group"}])
def test_replicates__same_bits_of_any_statistic(
    statistic: str,
    procedure: Any,
    design: dict[str, Any],
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """P2 for what runs on the weights of rows, a batch at a time, and in slices."""
    n = 400
    data = {name: rng.random(n) for name in ("a", "b", "gold")} | {
        name: rng.integers(0, high, n)
        for name, high in {"label": 2, "class": 9, "a class": 9, "b class": 9, "group": 20}.items()
    }

    def replicates(n_threads: int) -> Any:
        make = STATISTICS[statistic]
        return procedure(
            make("a"), make("b"), data=data, rng=3, n_resamples=60, n_threads=n_threads, **design
        ).replicates

    expected = replicates(1)
    monkeypatch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
    for largest in (1, 7, 4_096):
        monkeypatch.setattr(engine, "_LARGEST_RANGE", largest)
        for n_threads in (1, 3):
            np.testing.assert_array_equal(expected, replicates(n_threads))


@pytest.mark.parametrize("path", [path for path in PATHS if path != "enumeration"])
@pytest.mark.parametrize("n", [13, 300])
def test_replicates__same_in_a_longer_run(
    path: str, n: int, columns: Callable[[int], dict[str, Any]]
) -> None:
    """P2: replicate 17 of 1,000 is replicate 17 of 10,000, and so are all others."""
    data = columns(n)
    short, long = (run_path(path, data, n_resamples, 2) for n_resamples in (1_000, 10_000))

    assert short[17] == long[17]
    assert np.array_equal(short, long[:1_000])


@pytest.fixture
def threads_asked_for(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the number of threads of every run."""
    asked: list[int] = []
    run = engine.run

    def watched(task: engine.Task, **how: Any) -> None:
        asked.append(how["n_threads"])
        run(task, **how)

    monkeypatch.setattr(engine, "run", watched)
    return asked


def test_default_threads__environment(
    monkeypatch: pytest.MonkeyPatch, threads_asked_for: list[int], rng: np.random.Generator
) -> None:
    """FASTBOOT_NUM_THREADS is the default; n_threads= goes before it."""
    scores = rng.random(50)
    monkeypatch.setenv("FASTBOOT_NUM_THREADS", "3")
    fb.bootstrap(scores, rng=0)
    fb.bootstrap(scores, rng=0, n_threads=2)
    monkeypatch.setenv("FASTBOOT_NUM_THREADS", "rubbish")
    fb.bootstrap(scores, rng=0, n_threads=5)

    assert [3, 2, 5] == threads_asked_for


def test_default_threads__cores_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the variable, the cores that this process may use."""
    monkeypatch.delenv("FASTBOOT_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5}, raising=False)
    assert engine.default_threads() == 3

    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert engine.default_threads() == 6

    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert engine.default_threads() == 1


@pytest.mark.parametrize("value", ["", "0", "-1", "1.5", "two", "1e3", "²", "1025", "9" * 30])
def test_default_threads__rubbish_is_refused(
    value: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """What is not a whole number from 1 to 1,024 is shown, with what to do."""
    monkeypatch.setenv("FASTBOOT_NUM_THREADS", value)

    with pytest.raises(ValueError, match="FASTBOOT_NUM_THREADS") as caught:
        fb.bootstrap(rng.random(5))

    assert str(caught.value) == (
        f"FASTBOOT_NUM_THREADS is {value!r}; set it to a whole number from 1 to 1,024, or unset it"
    )


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux has control groups")
@pytest.mark.parametrize(
    "quota, cores",
    [
        ("max 100000", None),
        ("100000 100000", 1),
        ("50000 100000", 1),
        ("150001 50000", 4),
        ("", None),
    ],
)
def test_default_threads__container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cores: int | None
) -> None:
    """A container's share of CPU time limits the threads, rounded up to whole cores."""
    file = tmp_path / "cpu.max"
    file.write_text(quota, encoding="ascii")
    monkeypatch.setattr(engine, "_CPU_QUOTA", file)
    monkeypatch.delenv("FASTBOOT_NUM_THREADS", raising=False)
    may_use = len(os.sched_getaffinity(0))
    assert engine.default_threads() == min(may_use, cores or may_use)
