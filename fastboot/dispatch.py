"""Runs tasks on an executor and hands back their results in the order of the tasks.

An executor is anything whose ``submit(function, *arguments)`` returns a future: an object with
``result()``, ``cancel()``, and ``add_done_callback()`` or ``done()``. Nothing else is needed of
it, and a given one is never shut down. Tasks are callables without arguments; those that travel to
other processes are pickled (:mod:`fastboot.parcels`), so they are small frozen dataclasses of a
module, and tell where data is rather than hold it. Only some tasks are outstanding at a time: the
tasks may be a generator that reads data as it is consumed, and a result that comes early waits for
its turn.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from reprlib import repr as shortened
from types import ModuleType
from typing import Any, TypeVar

from fastboot.parcels import Parcel, dask_submit, pickling_error

__all__ = ["Cancelled", "check_executor", "in_order", "n_workers", "stopped"]

T = TypeVar("T")

# Outstanding tasks per worker: one runs, one is ready when it ends, one has ended early and waits
# for its turn. Workers are idle only behind a task that takes three times as long as the others.
_PER_WORKER = 3
# Where an executor does not tell: 48 tasks. A large machine has as many workers; a task is small.
_UNKNOWN_WORKERS = 16
_RECOUNT = 1.0  # seconds; a cluster may start without workers, and grow
_POLL = 0.05  # seconds between ticks, as in the engine


class Cancelled(BaseException):
    """Raised by a task that has seen that its run is over.

    Not an Exception: a task that catches those does not take it for its own.
    """


class _Here(threading.local):
    """What the task that runs in this thread may ask."""

    stop: threading.Event | None = None


_here = _Here()


def stopped() -> bool:
    """Whether the run of the task that asks is over: interrupted, failed or closed.

    A task asks between kernel calls, and raises :class:`Cancelled`. Always False in another
    process, and in the calling thread, where Ctrl-C is raised itself.
    """
    return _here.stop is not None and _here.stop.is_set()


def check_executor(value: Any) -> Any:
    """Return an executor as it is, or raise TypeError naming `executor` and what to give."""
    if value is None:
        return None
    name = type(value).__name__
    if isinstance(value, type):
        raise TypeError(f"`executor` is the class {value.__name__}; give an instance of it")
    if not callable(getattr(value, "submit", None)):
        if callable(getattr(value, "apply_async", None)):
            raise TypeError(
                f"`executor` is a {name}, which has no submit(); give "
                "concurrent.futures.ProcessPoolExecutor(mp_context="
                'multiprocessing.get_context("spawn")), or leave it None for threads'
            )
        if callable(getattr(value, "get_client", None)):
            raise TypeError(f"`executor` is a {name}; give its client, executor.get_client()")
        raise TypeError(
            f"`executor` is {shortened(value)}; it must have a submit() as those of "
            "concurrent.futures or a distributed.Client, or be None for `n_threads` threads"
        )
    if getattr(value, "asynchronous", False):
        raise TypeError(
            f"`executor` is an asynchronous {name}, which answers only inside its event loop; give "
            "one made with asynchronous=False"
        )
    return value


def in_order(
    tasks: Iterable[Callable[[], T]],
    *,
    executor: object | None,
    n_threads: int,
    tick: Callable[[], None] | None = None,
) -> Generator[T, None, None]:
    """Run tasks; give their results in order.

    A consumer that may fail closes the generator (``contextlib.closing``): only then does
    everything end with it, rather than when the last traceback is forgotten.

    Parameters
    ----------
    tasks
        Consumed as workers get free, in this thread.
    executor
        Where to run them: as :func:`check_executor` lets pass; None for threads of the run's own.
    n_threads
        Threads without an executor; 1 runs in the calling thread.
    tick
        Called in the calling thread after each result, and about every 0.05 s while waiting. What
        it raises ends the run.

    Returns
    -------
    Generator
        The result of each task.

    Raises
    ------
    Exception
        What the first task that fails raised, with a note of its ``shown`` if it has one, unless
        the error has an attribute ``says_where``. By then, as after Ctrl-C, a ``close()`` and an
        error of `tick`, outstanding tasks are cancelled, and those that run in threads have ended,
        at their next look at :func:`stopped`. What runs in other processes is not waited for.
    TypeError
        A task cannot be pickled, or the executor returns no future.
    RuntimeError
        A worker died. (Dask runs its tasks elsewhere first, and says so only after the fourth.)

    Examples
    --------
    >>> list(in_order([lambda: "a", lambda: "b"], executor=None, n_threads=2))
    ['a', 'b']
    """
    tick = tick or _nothing
    if executor is None and n_threads == 1:
        return _in_turn(tasks, tick)
    return _outstanding(tasks, executor, n_threads, tick)


def _in_turn(
    tasks: Iterable[Callable[[], T]], tick: Callable[[], None]
) -> Generator[T, None, None]:
    for task in tasks:
        with _explained(task):
            result = [task()]
        del task  # as in _outstanding
        yield result.pop()
        tick()


def _outstanding(
    tasks: Iterable[Callable[[], T]],
    executor: object | None,
    n_threads: int,
    tick: Callable[[], None],
) -> Generator[T, None, None]:
    stop = threading.Event()
    workers: Any = ThreadPoolExecutor(n_threads, "fastboot") if executor is None else executor
    submit, most = _submit(workers, stop), _Most(workers)
    outstanding: deque[tuple[Callable[[], T], Any]] = deque()

    def send(task: Callable[[], T]) -> None:
        with _explained(task, executor):
            future = submit(task)
        _check_future(future)
        outstanding.append((task, future))

    def first() -> T:
        task, future = outstanding[0]
        _await(future, tick)
        outstanding.popleft()
        with _explained(task, executor):
            return future.result()  # type: ignore[no-any-return] # of a task that returns T

    # While the consumer works, no variable here holds a task or a result that was handed on.
    try:
        for _ in map(send, tasks):
            while len(outstanding) >= most():
                yield first()
                tick()
        while outstanding:
            yield first()
            tick()
    finally:
        stop.set()
        running = [future for _, future in outstanding if not _cancel(future)]
        if _shares_memory(workers):
            wait(running)
        if executor is None:
            workers.shutdown(cancel_futures=True)


def _nothing() -> None:
    pass


def _shares_memory(executor: object) -> bool:
    """Whether tasks run in threads of this interpreter, which subclasses need not."""
    return type(executor) is ThreadPoolExecutor


def _submit(executor: Any, stop: threading.Event) -> Callable[[Callable[[], Any]], Any]:
    """Return what sends a task."""
    if _shares_memory(executor):
        return lambda task: executor.submit(_in_thread, task, stop)
    if callable(getattr(executor, "get_executor", None)):
        # A distributed.Client leaves results with the workers; its executor fetches them as they
        # come, so that what a worker has done outlives it.
        executor = executor.get_executor()
    if type(executor).__module__.startswith("distributed."):
        return dask_submit(_client(executor), executor.submit)
    return lambda task: executor.submit(Parcel(task))


def _in_thread(task: Callable[[], T], stop: threading.Event) -> T:
    _here.stop, before = stop, _here.stop
    try:
        return task()
    finally:
        _here.stop = before


class _Most:
    """How many tasks may be outstanding, as workers come and go."""

    def __init__(self, executor: object) -> None:
        self._executor = executor
        self._tasks = 0
        self._next = 0.0  # when workers are counted again

    def __call__(self) -> int:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _RECOUNT
            self._tasks = _PER_WORKER * n_workers(self._executor)
        return self._tasks


def n_workers(executor: object) -> int:
    """Return the number of tasks that an executor runs at once, a guess where it does not tell."""
    if callable(count := getattr(_client(executor), "ncores", None)):
        return int(sum(count().values())) or _UNKNOWN_WORKERS  # a cluster may start without any
    number = getattr(executor, "_max_workers", None)
    return number if isinstance(number, int) else _UNKNOWN_WORKERS


def _client(executor: Any) -> Any:
    """Return the client of an executor of Dask's, or the executor itself."""
    return getattr(executor, "_client", executor)


def _await(future: Any, tick: Callable[[], None]) -> None:
    """Return when a future is done; tick meanwhile."""
    if hasattr(future, "add_done_callback"):
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(_POLL):
            tick()
    else:
        while not future.done():
            time.sleep(_POLL)
            tick()


def _check_future(future: Any) -> None:
    """Refuse what cannot be waited for: where submit() calls at once it is the result itself."""
    tells = any(callable(getattr(future, name, None)) for name in ("add_done_callback", "done"))
    if not tells or not callable(getattr(future, "result", None)):
        raise TypeError(
            f"`executor`.submit() returned a {type(future).__name__}; it must return a future, "
            "with result(), cancel(), and add_done_callback() or done()"
        )


def _cancel(future: Any) -> bool:
    """Cancel a future; what goes wrong in there must not hide why the run ends."""
    with suppress(Exception):
        return bool(future.cancel())
    return False


@contextmanager
def _explained(task: object, executor: object | None = None) -> Iterator[None]:
    """Say what an error of a given executor means; note which task it was."""
    shown = getattr(task, "shown", None)
    given = executor is not None
    try:
        yield
    except Exception as error:
        if given and _is_lost(error):
            where = f" at {shown}" if shown else ""
            raise RuntimeError(
                f"a worker of `executor` died{where}: it was killed, often for lack of memory, or "
                "could not import what it was sent; give workers more memory, define functions and "
                "classes in a module that they can import, and in a script start the run under "
                'if __name__ == "__main__"'
            ) from error
        if given and "after shutdown" in str(error):  # as those of concurrent.futures and Dask say
            raise RuntimeError(
                "`executor` has been shut down; give one that is open (a result is extended on the "
                "executor of its call, or on that of extend(n_resamples, executor))"
            ) from error
        if given and isinstance(error, CancelledError):
            raise RuntimeError(
                "`executor` cancelled a task of this run; keep it open until the run has ended"
            ) from error
        pickled = given and not _shares_memory(executor)
        if pickled and (reason := _unpicklable(task, error)):
            raise TypeError(
                f"`executor` cannot be sent {_culprit(task)!r:.80}: {reason}; define functions and "
                "classes at the top of a module that workers can import, install cloudpickle "
                "(which sends lambdas, and what a notebook or another function defines), or leave "
                "`executor` None for threads"
            ) from error
        if shown and not getattr(error, "says_where", False):
            error.add_note(f"in {shown}")
        raise


def _is_lost(error: Exception) -> bool:
    """Whether a worker died: Dask says so by a KilledWorker, others by a BrokenExecutor."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def _unpicklable(task: object, error: Exception) -> Exception | None:
    """Return why a task cannot be pickled, if this is what the error is about.

    Executors raise what pickling raises, or tell in their own words.
    """
    reason = pickling_error(task)
    told = str(error).lower()
    if str(reason) == str(error) or "pickle" in told or "serialize" in told:
        return reason
    return None


def _culprit(value: object) -> object:
    """Return the innermost part of a value that cannot be pickled."""
    seen: set[int] = set()  # a part may hold the whole
    inner: object = value
    while id(inner) not in seen:
        seen.add(id(inner))
        value = inner
        inner = next((part for part in _parts(value) if pickling_error(part)), value)
    return value


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if isinstance(value, type | ModuleType):
        return ()
    return getattr(value, "__dict__", {}).values()
