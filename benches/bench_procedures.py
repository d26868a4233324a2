"""Procedures end to end: from arrays in memory to the answer, 10,000 resamples.

One thread and CPU time, except in `Threads` and `Memory`.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import fastboot as fb

from .timing import seconds, seconds_of_both

N_RESAMPLES = 10_000
PROCEDURES = {
    "bootstrap": lambda a, b, **options: fb.paired_bootstrap(a, b, **options).confidence_interval,
    "swaps": lambda a, b, **options: fb.approximate_randomization(a, b, **options).pvalue,
}
run = {
    name: functools.partial(procedure, n_resamples=N_RESAMPLES, rng=0)
    for name, procedure in PROCEDURES.items()
}


def systems(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Continuous scores of two systems on the same items."""
    rng = np.random.default_rng(0)
    item = rng.normal(size=n_rows)
    return item + rng.normal(size=n_rows), item + rng.normal(size=n_rows)


class _Procedure:
    timer = time.process_time
    timeout = 600

    def time_answer(self, *_: object) -> None:
        self.call()


class _PerUnit(_Procedure):
    """Also nanoseconds per unit per resample."""

    def track_ns(self, n_rows: int, *_: object) -> float:
        return 1e9 * seconds(self.call) / (n_rows * N_RESAMPLES)

    track_ns.unit = "ns"


class Continuous(_PerUnit):
    params = ((10_000, 1_000_000), tuple(PROCEDURES))
    param_names = ("rows", "procedure")

    def setup(self, n_rows: int, procedure: str) -> None:
        a, b = systems(n_rows)
        self.call = lambda: run[procedure](a, b, n_threads=1)


class ZeroOne(_Procedure):
    params = ((10_000, 1_000_000), tuple(PROCEDURES), ("float64", "int64", "bool"))
    param_names = ("rows", "procedure", "dtype")

    def setup(self, n_rows: int, procedure: str, dtype: str) -> None:
        rng = np.random.default_rng(0)
        a, b = ((rng.random(n_rows) < share).astype(dtype) for share in (0.8, 0.79))
        self.call = lambda: run[procedure](a, b, n_threads=1)


class RatioDifference(_PerUnit):
    """Four terms: each system has a numerator and a denominator."""

    params = ((10_000, 100_000), tuple(PROCEDURES))
    param_names = ("rows", "procedure")

    def setup(self, n_rows: int, procedure: str) -> None:
        rng = np.random.default_rng(0)
        a, b = (fb.ratio(rng.normal(size=n_rows), 1.0 + rng.random(n_rows)) for _ in range(2))
        self.call = lambda: run[procedure](a, b, n_threads=1)


class Norm(fb.Additive):
    """Euclidean norm of the means of its columns, so that every term counts."""

    def terms(self, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
        return columns

    def finish(self, *sums: np.ndarray) -> np.ndarray:
        return np.sqrt(sum(total * total for total in sums))


class ThirtyTerms(_PerUnit):
    params = (10_000, 100_000)
    param_names = ("rows",)

    def setup(self, n_rows: int) -> None:
        statistic = Norm(*np.random.default_rng(0).normal(size=(30, n_rows)))
        self.call = lambda: (
            fb.bootstrap(statistic, n_resamples=N_RESAMPLES, rng=0, n_threads=1).confidence_interval
        )


class Groups(_Procedure):
    """String keys, 100 rows for each."""

    params = ((10_000, 1_000_000), ("arrow", "dictionary", "numpy", "list"), tuple(PROCEDURES))
    param_names = ("rows", "keys", "procedure")

    def setup(self, n_rows: int, kind: str, procedure: str) -> None:
        a, b = systems(n_rows)
        numbers = np.random.default_rng(0).integers(n_rows // 100, size=n_rows)
        listed = [f"document-{number}" for number in numbers]
        make = {
            "arrow": pa.array,
            "dictionary": lambda keys: pa.array(keys).dictionary_encode(),
            "numpy": np.array,
            "list": list,
        }
        keys = make[kind](listed)
        self.call = lambda: run[procedure](a, b, groups=keys, n_threads=1)


class Bca:
    """Time of BCa by that of the percentile interval."""

    params = (10_000, 1_000_000)
    param_names = ("rows",)
    timeout = 600
    unit = "ratio"

    def setup(self, n_rows: int) -> None:
        a, b = systems(n_rows)
        self.calls = [
            lambda method=method: run["bootstrap"](a, b, method=method, n_threads=1)
            for method in ("bca", "percentile")
        ]

    def track_ratio(self, _: int) -> float:
        bca, percentile = seconds_of_both(*self.calls)
        return bca / percentile


class Threads:
    """Wall time of one thread by that of two; needs two idle cores."""

    params = ((10_000, 1_000_000), tuple(PROCEDURES))
    param_names = ("rows", "procedure")
    timeout = 600
    unit = "ratio"

    def setup(self, n_rows: int, procedure: str) -> None:
        a, b = systems(n_rows)
        self.calls = [lambda n=n_threads: run[procedure](a, b, n_threads=n) for n_threads in (1, 2)]

    def track_speedup(self, *_: object) -> float:
        one, two = seconds_of_both(*self.calls, timer=time.perf_counter)
        return one / two


class Memory:
    """Peak of the process, with what Python, the packages and the columns take."""

    params = ((100_000, 10_000_000), tuple(PROCEDURES))
    param_names = ("rows", "procedure")
    timeout = 600

    def setup(self, n_rows: int, procedure: str) -> None:
        a, b = systems(n_rows)
        self.call = lambda: run[procedure](a, b)

    def peakmem_answer(self, *_: object) -> None:
        self.call()


class MemoryOfColumns:
    """Peak as a multiple of the bytes of both columns, these included.

    In a fresh process, less its peak after a run of 1,000 rows. Not by getrusage, whose peak a
    child inherits from its parent.
    """

    params = Memory.params
    param_names = Memory.param_names
    timeout = 600
    unit = "columns"

    def setup(self, _: int, procedure: str) -> None:
        if not Path("/proc/self/status").exists():  # asv leaves out what cannot be measured here
            raise NotImplementedError("only Linux tells the peak of a process")
        run[procedure](*systems(1_000))  # the fresh process loads code, it does not compile

    def track_multiple(self, n_rows: int, procedure: str) -> float:
        program = rf"""
import pathlib, re, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
import numpy as np
from benches.bench_procedures import run

def scores(n):
    rng = np.random.default_rng(0)
    return rng.normal(size=n), rng.normal(size=n)

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])

run[{procedure!r}](*scores(1_000))
before = peak()
run[{procedure!r}](*scores({n_rows}))
print(peak() - before)
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        return 1024 * int(done.stdout) / (2 * 8 * n_rows)
