"""Runs kernels over ranges of replicates on ordinary threads.

A run is a set of ranges; a thread takes a range and visits the slices of the units in order, one
kernel call each. Every range writes its own part of the output, so the answer does not depend on
threads or batches. Kernels run without the GIL; a call lasts about `LONGEST_CALL`, and progress,
Ctrl-C and errors are handled between calls, in the calling thread. Threads live as long as the
run: nothing is left for a fork to inherit or for the interpreter to wait for.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

__all__ = ["MOST_THREADS", "Progress", "Step", "default_threads", "run"]

Step = Callable[[int, range], None]
Progress = Callable[[int, int], object]

# A kernel call in seconds: Ctrl-C is answered within 0.5 s even where the estimate is 4 times off.
LONGEST_CALL = 0.1
# Below this much work (seconds) a second thread costs more than it saves: starting one and handing
# over the result takes about 0.1 ms.
_SINGLE_THREAD_WORK = 5e-4
# Scratch memory of a pattern range: 4,096 replicates take 0.3 MB beside the tables.
_LARGEST_RANGE = 4_096
MOST_THREADS = 1_024
_POLL = 0.05  # seconds between looks at progress while threads work


def default_threads() -> int:
    """Return ``FASTBOOT_NUM_THREADS``, or the number of cores this process may use."""
    chosen = os.environ.get("FASTBOOT_NUM_THREADS")
    if chosen is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if not chosen.isdecimal() or not 1 <= int(chosen) <= MOST_THREADS:
        raise ValueError(
            f"FASTBOOT_NUM_THREADS is {chosen!r}; set it to a whole number from 1 to "
            f"{MOST_THREADS:,}, or unset it"
        )
    return int(chosen)


def run(
    step: Step,
    *,
    n_slices: int,
    n_replicates: int,
    seconds: float,
    n_threads: int,
    progress: Progress | None = None,
) -> None:
    """Call ``step(slice, replicates)`` for every slice of every range of replicates.

    Parameters
    ----------
    step
        Adds one slice's contribution to the replicates of the range. For one range, slices are
        visited in order by one thread. First of all, an empty range is visited, in this thread.
    n_slices, n_replicates
        The work.
    seconds
        Estimated time of one slice and one replicate.
    n_threads
        Threads to use; 1 runs in the calling thread.
    progress
        Called in this thread with the replicates done so far and their total. What it raises ends
        the run.
    """
    with _interrupts_kept():
        step(0, range(0))  # compiles the kernels, here where Ctrl-C can end it
    if seconds * n_slices * n_replicates < _SINGLE_THREAD_WORK:
        n_threads = 1
    ranges = _ranges(n_replicates, seconds, n_threads)
    work = _Work(step, n_slices)

    def report() -> None:
        if progress is not None:
            progress(work.done // n_slices, n_replicates)

    n_threads = min(n_threads, len(ranges))
    if n_threads == 1:
        for _ in itertools.chain.from_iterable(map(work.steps, ranges)):
            report()
        return
    with ThreadPoolExecutor(n_threads, "fastboot") as pool:
        try:
            pending = {pool.submit(work.all_steps, replicates) for replicates in ranges}
            while pending:
                finished, pending = wait(pending, _POLL, FIRST_COMPLETED)
                for future in finished:
                    future.result()
                report()
        except BaseException:
            work.stopped = True
            pool.shutdown(cancel_futures=True)
            raise


@contextlib.contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Raise at the end a KeyboardInterrupt that was raised, and lost, inside a call-back.

    While LLVM compiles, it calls back; Python can only report what is raised in there.
    """
    if threading.current_thread() is not threading.main_thread():  # only there is it raised
        yield
        return
    lost = False
    report = sys.unraisablehook

    def keep(unraisable: sys.UnraisableHookArgs) -> None:
        nonlocal lost
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            lost = True
        else:
            report(unraisable)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = report
    if lost:
        raise KeyboardInterrupt


class _Work:
    """The steps of one run, and what its threads share."""

    def __init__(self, step: Step, n_slices: int) -> None:
        self.done = 0
        self.stopped = False
        self._step = step
        self._n_slices = n_slices
        self._lock = threading.Lock()

    def steps(self, replicates: range) -> Iterator[None]:
        """Take the steps of one range, and pause after each."""
        for index in range(self._n_slices):
            if self.stopped:
                return
            self._step(index, replicates)
            with self._lock:
                self.done += len(replicates)
            yield

    def all_steps(self, replicates: range) -> None:
        """Take the steps of one range."""
        for _ in self.steps(replicates):
            pass


def _ranges(n_replicates: int, seconds: float, n_threads: int) -> list[range]:
    """Split the replicates into ranges of nearly equal size, a multiple of the threads."""
    largest = max(1, min(_LARGEST_RANGE, int(LONGEST_CALL / seconds)))
    n_ranges = -(-n_replicates // largest)
    n_ranges = min(n_replicates, -(-n_ranges // n_threads) * n_threads)
    edges = [i * n_replicates // n_ranges for i in range(n_ranges + 1)]
    return [range(low, high) for low, high in itertools.pairwise(edges)]
