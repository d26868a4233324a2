"""Dispatch: results in the order of tasks, on every kind of executor; nothing is left behind."""

from __future__ import annotations

import contextlib
import gc
import importlib
import multiprocessing
import multiprocessing.pool
import pickle
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import two_processes
from dispatched import Calling, Dying, Failing, OddError, Square, told_to_stop
from joblib.externals.loky import get_reusable_executor

import fastboot as fb
from fastboot import dispatch
from fastboot.blocks import BLOCK
from fastboot.dispatch import check_executor, in_order

# P5 of the design: Ctrl-C within 0.5 s.
SECONDS_TO_STOP = 0.5
# Long enough for anything to happen on a busy machine.
PATIENCE = 30.0

Task = Callable[[], Any]


# Executors


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two fresh processes."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """A Dask cluster of two processes."""
    with two_processes() as client:
        yield client


class Answer:
    """A future with as little as is asked of one."""

    def __init__(self, call: Callable[[], Any], n_asked: int) -> None:
        self._call = call
        self._n_asked = n_asked
        self.cancelled = False

    def done(self) -> bool:
        """Whether it was asked often enough."""
        self._n_asked -= 1
        return self._n_asked < 0

    def result(self) -> Any:
        """Return the result."""
        return self._call()

    def cancel(self) -> bool:
        """Take note."""
        self.cancelled = True
        return True


class Plain:
    """An executor with as little as is asked of one: it has no workers and knows no more."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []

    def submit(self, call: Callable[[], Any]) -> Answer:
        """Take a call; the first keeps one waiting."""
        self.answers.append(Answer(call, 0 if self.answers else 2))
        return self.answers[-1]


class Raising:
    """An executor whose futures, or submit, raise."""

    _max_workers = 1

    def __init__(self, error: Exception, *, at_once: bool = False) -> None:
        self._error = error
        self._at_once = at_once

    def submit(self, _: Callable[[], Any]) -> Future[Any]:
        """Raise, or return a future that does."""
        if self._at_once:
            raise self._error
        future: Future[Any] = Future()
        future.set_exception(self._error)
        return future


KINDS = {
    "calling thread": (None, 1),
    "own threads": (None, 3),
    "threads": (ThreadPoolExecutor, 1),
    "plain": (Plain, 1),
    "processes": ("processes", 1),
    "dask client": ("client", 1),
    "dask executor": ("client", 1),
}
THREADS = ["calling thread", "own threads", "threads"]


@pytest.fixture
def options(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """Return the options of `in_order` for a kind of executor."""
    executor: Any
    executor, n_threads = KINDS[request.param]
    if executor is ThreadPoolExecutor:
        with ThreadPoolExecutor(2) as pool:
            yield {"executor": pool, "n_threads": n_threads}
        return
    if isinstance(executor, str):
        executor = request.getfixturevalue(executor)
        if request.param == "dask executor":
            executor = executor.get_executor()
    elif executor is not None:
        executor = executor()
    yield {"executor": check_executor(executor), "n_threads": n_threads}


def on(*kinds: str) -> pytest.MarkDecorator:
    """Run a test on these kinds of executors."""
    return pytest.mark.parametrize("options", kinds, indirect=True)


@pytest.fixture
def threads_left() -> Callable[[], list[threading.Thread]]:
    """Return the threads that were not there when the test began."""
    before = set(threading.enumerate())
    return lambda: [thread for thread in threading.enumerate() if thread not in before]


def run(tasks: Iterable[Task], executor: Any) -> list[Any]:
    """All results of a run on an executor."""
    return list(in_order(tasks, executor=executor, n_threads=1))


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether a condition holds, now or soon."""
    end = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return held


# Order


@on(*KINDS)
def test_in_order__any_executor(options: dict[str, Any]) -> None:
    """Results come in the order of the tasks, not of their ends; an executor can be used again."""
    tasks = [Square(number, 0.02 * (number % 3 == 0)) for number in range(20)]

    for _ in range(2):
        assert [number**2 for number in range(20)] == list(in_order(tasks, **options))
    assert [] == list(in_order([], **options))


@on("calling thread", "own threads")
def test_in_order__own_threads(
    options: dict[str, Any], threads_left: Callable[[], list[threading.Thread]]
) -> None:
    """As many threads as told, which live as long as the run; 1 is the calling thread."""
    n_threads = options["n_threads"]
    meeting = threading.Barrier(n_threads)

    def meet() -> threading.Thread:
        meeting.wait(PATIENCE)  # as many tasks at once
        return threading.current_thread()

    used = set(in_order([meet] * (2 * n_threads), **options))

    assert n_threads == len(used)
    assert (threading.current_thread() in used) == (n_threads == 1)
    assert [] == threads_left()


def test_in_order__several_runs_at_once(processes: ProcessPoolExecutor) -> None:
    """Runs in threads of one process share an executor, or not, and not what they stop."""

    def some(first: int) -> list[int]:
        executor = (None, processes)[first % 2]
        tasks = (Square(number, 0.002) for number in range(first, first + 30))
        with contextlib.closing(in_order(tasks, executor=executor, n_threads=2)) as results:
            return [next(results) for _ in range(20)]

    with ThreadPoolExecutor(6) as pool:
        for first, squares in enumerate(pool.map(some, range(6))):
            assert [number**2 for number in range(first, first + 20)] == squares


def test_in_order__futures_that_call_back() -> None:
    """Those are not asked whether they are done."""

    class Promise:
        def __init__(self, call: Callable[[], Any]) -> None:
            self._call = call

        def add_done_callback(self, function: Callable[[Any], object]) -> None:
            threading.Timer(0.01, function, [self]).start()

        def result(self) -> Any:
            return self._call()

    class Promising:
        def submit(self, call: Callable[[], Any]) -> Promise:
            return Promise(call)

    assert [0, 1, 4] == run(map(Square, range(3)), executor=Promising())


class _AtOnce:
    """Calls what it is sent, and returns what that returns."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call it."""
        return function(*arguments)


class _Later:
    """Returns a coroutine, as executors of other kinds do."""

    async def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call it, when it is awaited."""
        return function(*arguments)


class _Half:
    """Tells when it is done, but has no result."""

    def done(self) -> bool:
        """At once."""
        return True


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_error__submit_returned_no_future(tmp_path: Path) -> None:
    """By the name of what it returned; before anything waits for it."""
    for executor, task, returned in [
        (_AtOnce(), str, "str"),
        (_AtOnce(), _Half, "_Half"),
        (_Later(), str, "coroutine"),
    ]:
        message = (
            rf"^`executor`\.submit\(\) returned a {returned}; it must return a future, with result"
            r"\(\), cancel\(\), and add_done_callback\(\) or done\(\)$"
        )
        with pytest.raises(TypeError, match=message):
            list(in_order([task], executor=executor, n_threads=1))
    values = np.random.default_rng(0).normal(size=2 * BLOCK)
    pq.write_table(pa.table({"x": values}), tmp_path / "x.parquet", row_group_size=BLOCK)
    with pytest.raises(TypeError, match=r"^`executor`\.submit\(\) returned a Findings; it must"):
        fb.bootstrap("x", data=tmp_path, executor=_AtOnce())


def test_in_order__loky() -> None:
    """The pool of joblib, whose functions may be lambdas, and whose errors are worded otherwise."""
    pool = get_reusable_executor(max_workers=2)
    try:
        assert [0, 1, 4] == run(map(Square, range(3)), executor=pool)
        assert [1] == run([Calling(lambda: 1)], executor=pool)
        with pytest.raises(TypeError, match=r"^`executor` cannot be sent <unlocked _thread.lock"):
            run([Calling(int, threading.Lock())], executor=pool)
        with pytest.raises(RuntimeError, match=r"^a worker of `executor` died: it was killed"):
            run([Dying()], executor=pool)
    finally:
        pool.shutdown(kill_workers=True)


# Memory


@pytest.mark.parametrize(
    "make,n_threads,most",
    [
        (lambda: None, 1, 1),
        (lambda: None, 2, 6),
        (lambda: ThreadPoolExecutor(3), 1, 9),
        (Plain, 1, 48),
    ],
)
def test_in_order__tasks_are_consumed_as_needed(
    make: Callable[[], Any], n_threads: int, most: int
) -> None:
    """Three tasks for each worker are taken from a generator, not more; they keep workers busy."""
    taken = 0

    def tasks() -> Iterator[Square]:
        nonlocal taken
        for taken in count(1):
            yield Square(taken)

    executor = make()
    with contextlib.closing(in_order(tasks(), executor=executor, n_threads=n_threads)) as results:
        assert 0 == taken
        for handed in range(1, 100):
            next(results)
            assert handed + most - 1 == taken
    if isinstance(executor, Executor):
        executor.shutdown()


def test_in_order__cluster_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are counted again: a cluster may start without any."""
    monkeypatch.setattr(dispatch, "_RECOUNT", 0.0)
    cores: dict[str, int] = {}

    class Cluster(Plain):
        def ncores(self) -> dict[str, int]:
            return cores

    cluster = Cluster()
    results = in_order(map(Square, count()), executor=cluster, n_threads=1)
    next(results)
    assert 48 == len(cluster.answers)
    cores.update(one=8, two=12)
    next(results)
    assert 1 + 3 * 20 == len(cluster.answers)
    results.close()


def test_in_order__workers_of_a_cluster_are_counted(client: distributed.Client) -> None:
    """A Dask cluster tells how many tasks it runs at once, as does its executor."""
    assert 2 == dispatch.n_workers(client)
    assert 2 == dispatch.n_workers(client.get_executor())


class Large:
    """A result whose life can be watched."""


@on(*THREADS)
def test_in_order__nothing_handed_on_is_kept(options: dict[str, Any]) -> None:
    """Task and result are gone when the consumer lets go of them."""
    tasks: list[weakref.ref[Any]] = []

    def make(_: int) -> Calling:
        task = Calling(Large)
        tasks.append(weakref.ref(task))
        return task

    gc.disable()  # what only a collection would free, is kept
    try:
        results: list[weakref.ref[Any]] = []
        for result in in_order(map(make, range(5)), **options):
            results.append(weakref.ref(result))
            del result
            assert within(PATIENCE, lambda: results[-1]() is tasks[len(results) - 1]() is None)
    finally:
        gc.enable()
    assert 5 == len(tasks) == len(results)


# Errors


@on(*KINDS)
def test_error__first_in_order(
    options: dict[str, Any], threads_left: Callable[[], list[threading.Thread]]
) -> None:
    """The first task that fails is reported, by its own error, though a later one fails sooner."""
    before = threads_left()
    tasks: list[Task] = [Square(0), Square(1), Failing(2, 0.2), Square(3), Failing(4)]
    results = in_order(tasks, **options)

    assert [0, 1] == [next(results), next(results)]
    with pytest.raises(OddError) as raised:
        next(results)
    assert (2,) == raised.value.args
    assert ["a note of its own", "in number 2"] == raised.value.__notes__
    with pytest.raises(StopIteration):
        next(results)
    if options["executor"] is None:
        assert before == threads_left()
    else:  # as alive as before
        assert [25] == list(in_order([Square(5)], **options))


def test_error__cancels_what_is_outstanding() -> None:
    """Tasks that have not begun never do; on an executor that is the caller's too."""
    plain = Plain()
    with pytest.raises(OddError):
        run([Failing(0), *map(Square, range(100))], executor=plain)
    assert [False] + 47 * [True] == [answer.cancelled for answer in plain.answers]

    begun = Watched.begun
    with ThreadPoolExecutor(1) as pool, pytest.raises(OddError):
        run([Failing(0), Watched(), Watched()], executor=pool)
    assert Watched.begun - begun <= 1  # while the error was on its way


def test_error__of_cancelling_does_not_hide_it() -> None:
    """An executor that fails to cancel: the reason why the run ended is raised."""

    class Stubborn(Answer):
        def cancel(self) -> bool:
            raise RuntimeError("no")

    class Executor(Plain):
        def submit(self, call: Callable[[], Any]) -> Answer:
            return Stubborn(call, 0)

    with pytest.raises(OddError):
        run([Failing(0), Square(1)], executor=Executor())


@on(*KINDS)
def test_error__of_the_tasks_themselves(options: dict[str, Any]) -> None:
    """What the generator of tasks raises ends the run."""

    def tasks() -> Iterator[Square]:
        yield Square(1)
        raise OddError("the data")

    with pytest.raises(OddError, match="the data"):
        list(in_order(tasks(), **options))


PROCESSES = pytest.mark.parametrize("executor", ["processes", "client"])


@PROCESSES
def test_in_order__what_only_cloudpickle_sends(
    executor: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lambdas, and functions of a notebook, which workers cannot import."""

    def of_notebook() -> str:
        return "found"

    of_notebook.__module__, of_notebook.__qualname__ = "__main__", "of_notebook"
    monkeypatch.setattr(sys.modules["__main__"], "of_notebook", of_notebook, raising=False)
    tasks = [Calling(lambda: 1), Calling(of_notebook)]
    assert [1, "found"] == run(tasks, executor=request.getfixturevalue(executor))


@PROCESSES
@pytest.mark.parametrize(
    "task,culprit",
    [
        (Calling(lambda: 1), r"<function <lambda> at \w+>"),
        (Calling(int, {"a": [1, (threading.Lock(),)]}), r"<unlocked _thread.lock object at \w+>"),
    ],
)
def test_error__cannot_be_sent(
    task: Calling,
    culprit: str,
    executor: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message names the innermost part that cannot be pickled, why, and what to do."""
    pool = request.getfixturevalue(executor)
    if "lambda" in culprit:
        monkeypatch.setitem(sys.modules, "cloudpickle", None)  # not installed
    message = (
        rf"^`executor` cannot be sent {culprit}: .*pickle.*; define functions and classes at the "
        r"top of a module that workers can import, install cloudpickle \(which sends lambdas, and "
        r"what a notebook or another function defines\), or leave `executor` None for threads$"
    )
    with pytest.raises(TypeError, match=message) as raised:
        run([Square(1), task, Square(2)], executor=pool)
    assert raised.value.__cause__ is not None
    assert [9] == run([Square(3)], executor=pool)


@PROCESSES
def test_error__unknown_to_workers(
    executor: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that lacks a module says so: the pool does not break, and Dask does not hang."""
    pool = request.getfixturevalue(executor)
    run([Square(1), Square(2)], executor=pool)  # have the workers begin before the module is there
    (tmp_path / "only_here.py").write_text("def one(): return 1")
    monkeypatch.syspath_prepend(tmp_path)
    task = Calling(importlib.import_module("only_here").one)
    message = (
        "^a worker of `executor` does not know what it was sent: No module named 'only_here'; "
        "install there what is installed here, and define functions and classes in a module that "
        "it can import, or install cloudpickle, which sends those of a notebook$"
    )
    with pytest.raises(TypeError, match=message) as raised:
        run([task], executor=pool)
    assert raised.value.__cause__ is not None
    assert [9] == run([Square(3)], executor=pool)


class Element:
    """A task that holds an array, as others may."""

    def __init__(self, array: np.ndarray[Any, Any], number: int, *, alike: bool) -> None:
        self._array = array
        self._number = number
        self.alike = alike

    def __call__(self) -> tuple[bool, float]:
        """Return whether the array can be written to, and one of its numbers."""
        return self._array.flags.writeable, float(self._array[self._number])


@PROCESSES
@pytest.mark.parametrize("alike", [False, True])
def test_in_order__arrays(alike: bool, executor: str, request: pytest.FixtureRequest) -> None:
    """They arrive read-only; those that tasks have in common are sent to Dask once, unwarned."""
    array = np.arange(1_500_000.0)  # 12 MB: Dask warns from 10 MB on
    pool = request.getfixturevalue(executor)
    found = run([Element(array, number, alike=alike) for number in range(3)], executor=pool)
    assert [(False, float(number)) for number in range(3)] == found


def test_dask__arrays_are_sent_once(
    client: distributed.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among all that is sent, an array of many tasks comes once."""
    sent: list[int] = []
    submit = client.submit

    def counting(function: Any, contents: Any, **options: Any) -> Any:
        sent.append(len(pickle.dumps(contents)))
        return submit(function, contents, **options)

    monkeypatch.setattr(client, "submit", counting)
    array = np.zeros(100_000)
    run([Element(array, number, alike=True) for number in range(5)], executor=client)
    first, *others = sent
    assert first > array.nbytes
    assert 5 == len(others)
    assert max(others) < 5_000


def test_error__cannot_be_sent__whole_and_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for the part that cannot be pickled ends, and does not enter classes."""
    monkeypatch.setitem(sys.modules, "cloudpickle", None)  # it pickles classes too

    class Local:
        pass

    holder = Calling(int)
    holder.__dict__["parts"] = [holder, threading.Lock()]
    assert isinstance(dispatch._culprit(holder), Calling | list)
    assert Local is dispatch._culprit(Calling(Local))


def test_error__about_pickles_of_the_task_itself(processes: ProcessPoolExecutor) -> None:
    """A task that has been sent, or need not be, and fails to pickle raises its own error."""
    own = r"^cannot pickle '_thread.lock' object$"
    with pytest.raises(TypeError, match=own):
        run([Calling(pickle_lock)], executor=processes)
    with ThreadPoolExecutor(1) as pool, pytest.raises(TypeError, match=own):
        run([Calling(pickle_lock, threading.Lock())], executor=pool)


def pickle_lock() -> object:
    """Fail."""
    return pickle.dumps(threading.Lock())


DIED = (
    r"^a worker of `executor` died at number 1: it was killed, often for lack of memory, or could "
    r"not import what it was sent; give workers more memory, define functions and classes in a "
    r"module that they can import, and in a script start the run under if __name__ == "
    r'"__main__"$'
)


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        BrokenProcessPool("terminated abruptly"),
        distributed.scheduler.KilledWorker("task", "worker", 3),  # type: ignore[arg-type] # a name
    ],
)
def test_error__worker_died(error: Exception, at_once: bool) -> None:
    """The message says what may have killed it, and what to do."""
    with pytest.raises(RuntimeError, match=DIED) as raised:
        run([Square(1)], executor=Raising(error, at_once=at_once))
    assert error is raised.value.__cause__


def test_error__process_died() -> None:
    """A process that is killed ends the run, and the pool is the caller's to replace."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for _ in range(2):  # the second time, submit() raises
            with pytest.raises(RuntimeError, match=r"^a worker of `executor` died: it was killed"):
                run([Dying()], executor=pool)


def test_error__executor_cancelled_a_task() -> None:
    """Whoever shuts an executor down while a run uses it reads so."""
    message = "^`executor` cancelled a task of this run; keep it open until the run has ended$"
    with pytest.raises(RuntimeError, match=message):
        run([Square(1)], executor=Raising(CancelledError()))


def test_error__executor_shut_down() -> None:
    """As when a result is extended after the executor of its call was closed."""
    message = (
        "^`executor` has been shut down; give one that is open "
        r"\(a result is extended on the executor of its call, or on that of "
        r"extend\(n_resamples, executor\)\)$"
    )
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match=message):
        run([Square(1)], executor=pool)


# The end of a run


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C raises in tests that a shell began in the background, with SIGINT ignored, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Watched:
    """A task of a minute that polls, and counts itself while it runs."""

    begun = running = 0
    lock = threading.Lock()

    def __call__(self) -> None:
        """Run until told to stop."""
        with self.lock:
            Watched.begun += 1
            Watched.running += 1
        try:
            for _ in range(6_000):
                if dispatch.stopped():
                    raise dispatch.Cancelled
                time.sleep(0.01)
        finally:
            with self.lock:
                Watched.running -= 1


@on(*THREADS)
def test_interrupt__within_half_a_second(
    options: dict[str, Any], threads_left: Callable[[], list[threading.Thread]]
) -> None:
    """Ctrl-C ends tasks and threads of the run in time, and is raised."""
    before = threads_left()
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        sent = time.monotonic()
        signal.raise_signal(signal.SIGINT)

    def delay() -> float:
        timer = threading.Timer(0.2, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            list(in_order([Watched() for _ in range(50)], **options))
        stopped = time.monotonic()
        timer.join()
        return stopped - sent

    # Other work on the machine may delay one answer; three in a row are the run's delay.
    assert min(delay() for _ in range(3)) < SECONDS_TO_STOP
    assert 0 == Watched.running
    if options["executor"] is None:
        assert before == threads_left()


def test_interrupt__tasks_elsewhere(client: distributed.Client) -> None:
    """Ctrl-C does not wait for workers; what they have not begun is cancelled."""
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run([Square(number, 1.0) for number in range(60)], executor=client)
    assert time.monotonic() - began < 0.2 + SECONDS_TO_STOP
    timer.join()
    assert within(PATIENCE, lambda: not any(client.processing().values()))


@on(*THREADS[1:])
def test_close__ends_tasks(
    options: dict[str, Any], threads_left: Callable[[], list[threading.Thread]]
) -> None:
    """A generator that is closed early stops as after Ctrl-C."""
    before = threads_left()
    tasks: list[Task] = [Square(3), *(Watched() for _ in range(50))]
    results = in_order(tasks, **options)
    assert 9 == next(results)
    assert within(PATIENCE, lambda: Watched.running > 0)
    results.close()
    assert 0 == Watched.running
    if options["executor"] is None:
        assert before == threads_left()


def test_close__equal_tasks_of_another_run(client: distributed.Client) -> None:
    """Two runs of the same tasks on one Dask client are two: closing one leaves the other."""
    executor = client.get_executor()  # which by itself would share the results of equal calls
    tasks = [Square(number, 0.05) for number in range(8)]
    one = in_order(tasks, executor=executor, n_threads=1)
    two = in_order(tasks, executor=executor, n_threads=1)
    assert [0, 0] == [next(one), next(two)]
    one.close()
    assert [number**2 for number in range(1, 8)] == list(two)


@on(*KINDS)
def test_stopped__false_while_running(options: dict[str, Any]) -> None:
    """No task is told to stop before its time; nor is who did not run in a task."""
    assert [False] * 4 == list(in_order([Calling(told_to_stop)] * 4, **options))
    assert not dispatch.stopped()


# Tick


@on(*KINDS)
def test_tick__after_each_result_and_while_waiting(options: dict[str, Any]) -> None:
    """In the calling thread, after each result, and about every 0.05 s of a wait."""
    ticks: list[threading.Thread] = []
    tasks = [Square(number, 0.5 * (number == 3)) for number in range(6)]
    results = in_order(tasks, **options, tick=lambda: ticks.append(threading.current_thread()))
    for handed, _ in enumerate(results):
        assert len(ticks) >= handed
    assert {threading.current_thread()} == set(ticks)
    # 0.5 s are ten ticks; a busy machine may miss some. The calling thread does not wait.
    waits = isinstance(options["executor"], Executor | distributed.Client) or (
        options["n_threads"] > 1
    )
    assert len(ticks) >= 6 + 3 * waits


@on(*KINDS)
def test_tick__what_it_raises_ends_the_run(
    options: dict[str, Any], threads_left: Callable[[], list[threading.Thread]]
) -> None:
    """As an error of a task does."""
    before = threads_left()

    def enough() -> None:
        raise OddError("enough")

    tasks = map(Square, count())
    with pytest.raises(OddError, match="enough"):
        list(in_order(tasks, **options, tick=enough))
    if options["executor"] is None:
        assert before == threads_left()


# Dask


def test_dask__worker_killed(client: distributed.Client, tmp_path: Path) -> None:
    """A worker that dies in the middle of a run changes nothing: Dask runs its tasks again."""
    tasks: list[Any] = [Square(number, 0.02) for number in range(40)]
    tasks.insert(20, Dying(tmp_path / "died"))
    expected = [number**2 for number in range(40)]

    found = run(tasks, executor=client)

    assert (tmp_path / "died").exists()
    assert "alive" == found.pop(20)
    assert expected == found


# The argument


SUBMIT = (
    r"it must have a submit\(\) as those of concurrent.futures or a distributed.Client, or be None "
    r"for `n_threads` threads$"
)


@pytest.mark.parametrize(
    "value,message",
    [
        (4, f"^`executor` is 4; {SUBMIT}"),
        ("processes", f"^`executor` is 'processes'; {SUBMIT}"),
        (
            ThreadPoolExecutor,
            "^`executor` is the class ThreadPoolExecutor; give an instance of it$",
        ),
    ],
)
def test_check_executor__refused(value: object, message: str) -> None:
    """What has no submit is refused by name."""
    with pytest.raises(TypeError, match=message):
        check_executor(value)


def test_check_executor__pool_of_multiprocessing() -> None:
    """A Pool has another interface; the message says what to take."""
    with (
        multiprocessing.pool.ThreadPool(1) as pool,
        pytest.raises(
            TypeError,
            match=r"^`executor` is a ThreadPool, which has no submit\(\); give "
            r"concurrent.futures.ProcessPoolExecutor\(mp_context=multiprocessing.get_context\("
            r'"spawn"\)\), or leave it None for threads$',
        ),
    ):
        check_executor(pool)


def test_check_executor__dask(client: distributed.Client) -> None:
    """A cluster is not its client, and an asynchronous client cannot be waited for."""
    message = r"^`executor` is a LocalCluster; give its client, executor.get_client\(\)$"
    with pytest.raises(TypeError, match=message):
        check_executor(client.cluster)

    class Client(Plain):
        asynchronous = True

    message = (
        "^`executor` is an asynchronous Client, which answers only inside its event loop; give "
        "one made with asynchronous=False$"
    )
    with pytest.raises(TypeError, match=message):
        check_executor(Client())
    assert client is check_executor(client)
