"""Runs kernels over ranges of replicates on ordinary threads.

A run is a set of ranges; a thread takes a range and does its steps in order, one kernel call each.
Every range writes its own part of the output, so the answer does not depend on threads or batches.
Kernels run without the GIL; a call lasts about `LONGEST_CALL`, and progress, Ctrl-C and errors are
handled between calls, in the calling thread. Threads live as long as the run: nothing is left for
a fork to inherit or for the interpreter to wait for.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

__all__ = ["MOST_THREADS", "Progress", "Task", "default_threads", "interrupts_kept", "run"]

Task = Callable[[range], Iterator[int]]
Progress = Callable[[int, int], object]

# A kernel call in seconds: Ctrl-C is answered within 0.5 s even where the estimate is 4 times off.
LONGEST_CALL = 0.1
# Below this much work (seconds) a second thread, which costs 0.2 ms to start, saves little.
_SINGLE_THREAD_WORK = 5e-4
# Scratch memory of a pattern range: 4,096 replicates take 0.3 MB beside the tables.
_LARGEST_RANGE = 4_096
MOST_THREADS = 1_024
# Microseconds of CPU time in each period (control groups v2); containers are limited by it.
_CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_POLL = 0.05  # seconds between looks at progress while threads work


def default_threads() -> int:
    """Return ``FASTBOOT_NUM_THREADS``, or the number of cores this process may use."""
    chosen = os.environ.get("FASTBOOT_NUM_THREADS")
    if chosen is None:
        if hasattr(os, "sched_getaffinity"):
            return min(len(os.sched_getaffinity(0)), _container_cores())
        return os.cpu_count() or 1
    if not chosen.isdecimal() or not 1 <= int(chosen) <= MOST_THREADS:
        raise ValueError(
            f"FASTBOOT_NUM_THREADS is {chosen!r}; set it to a whole number from 1 to "
            f"{MOST_THREADS:,}, or unset it"
        )
    return int(chosen)


def _container_cores() -> int:
    """Return how many cores the control group of a container grants, rounded up."""
    try:
        quota, period = _CPU_QUOTA.read_text(encoding="ascii").split()
        return max(1, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # no such group, or the quota "max"
        return MOST_THREADS


def run(
    task: Task,
    *,
    n_steps: int,
    n_replicates: int,
    seconds: float,
    n_threads: int,
    largest: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Do ``task(replicates)`` for every range of replicates.

    Parameters
    ----------
    task
        A generator that pauses after each step and gives the number of replicates it was for. One
        range is done by one thread. First of all, an empty range is done, in this thread.
    n_steps, n_replicates
        Steps of each replicate, and replicates.
    seconds
        Estimated time of one step for one replicate.
    n_threads
        Threads to use; 1 runs in the calling thread.
    largest
        Most replicates of a range, if fewer than usual.
    progress
        Called in this thread with the replicates done so far and their total. What it raises ends
        the run.
    """
    with interrupts_kept():
        for _ in task(range(0)):  # compiles the kernels, here where Ctrl-C can end it
            pass
    if seconds * n_steps * n_replicates < _SINGLE_THREAD_WORK:
        n_threads = 1
    ranges = _ranges(n_replicates, seconds, n_threads, largest)
    work = _Work(task, ranges)
    # This thread works too.
    n_others = min(n_threads, len(ranges)) - 1
    with ThreadPoolExecutor(max(1, n_others), "fastboot") as pool:
        try:
            others = {pool.submit(work.all_steps) for _ in range(n_others)}
            for _ in work.steps():
                _report(progress, work.done // n_steps, n_replicates)
            while others:
                finished, others = wait(others, _POLL, FIRST_COMPLETED)
                for other in finished:
                    other.result()
                _report(progress, work.done // n_steps, n_replicates)
        finally:
            work.stopped = True


def _report(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
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

    def __init__(self, task: Task, ranges: Iterable[range]) -> None:
        self.done = 0
        self.stopped = False
        self._task = task
        self._ranges = iter(ranges)
        self._lock = threading.Lock()

    def steps(self) -> Iterator[None]:
        """Take ranges that nobody has taken, and pause after each step."""
        while (replicates := self._next_range()) is not None:
            for done in self._task(replicates):
                if self.stopped:
                    return
                with self._lock:
                    self.done += done
                yield

    def _next_range(self) -> range | None:
        with self._lock:
            return next(self._ranges, None)

    def all_steps(self) -> None:
        """Take steps until none is left; an error stops all threads."""
        try:
            for _ in self.steps():
                pass
        except BaseException:
            self.stopped = True
            raise


def _ranges(n_replicates: int, seconds: float, n_threads: int, largest: int | None) -> list[range]:
    """Split the replicates into ranges of nearly equal size, a multiple of the threads."""
    largest = max(1, min(largest or _LARGEST_RANGE, _LARGEST_RANGE, int(LONGEST_CALL / seconds)))
    n_ranges = -(-n_replicates // largest)
    n_ranges = min(n_replicates, -(-n_ranges // n_threads) * n_threads)
    edges = [i * n_replicates // n_ranges for i in range(n_ranges + 1)]
    return [range(low, high) for low, high in itertools.pairwise(edges)]
