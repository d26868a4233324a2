"""Figures of data larger than memory: run ``python -m benches.scale FOLDER --rows 100_000_000``.

It writes a table of scores of two systems to Parquet files in FOLDER, once, then runs every job in
a process of its own and prints wall clock, CPU time and the peak of its memory. ``--slopes`` runs
jobs at growing numbers of rows and of resamples, and fits log(seconds) to log(size). The files take
about 40 bytes a row.

======== ========= =========================================================================
column   type      what
======== ========= =========================================================================
a, b     float64   continuous scores of two systems on one item
x, y     int8      0 or 1, whether they solve it
user     string    one key for each 100 rows on average, in no order
======== ========= =========================================================================
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import fastboot as fb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N_FILES = 20
# Of a row group: what pyarrow writes by itself.
ROW_GROUP = 1 << 20
ROWS_PER_USER = 100


def write(folder: Path, n_rows: int, n_files: int = N_FILES) -> Path:
    """Write the table, unless it is there; return its folder."""
    place = folder / f"rows-{n_rows}"
    if place.exists():
        return place
    unfinished = place.with_suffix(".unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    edges = [i * n_rows // n_files for i in range(n_files + 1)]
    for number, (low, high) in enumerate(pairwise(edges)):
        with parquet.ParquetWriter(unfinished / f"{number:04}.parquet", schema()) as writer:
            for start in range(low, high, ROW_GROUP):
                rng = np.random.default_rng([number, start])
                writer.write_table(rows(rng, min(ROW_GROUP, high - start), n_rows))
    unfinished.rename(place)
    return place


def schema() -> Any:
    """Columns and their types."""
    kinds = {"a": pa.float64(), "b": pa.float64(), "x": pa.int8(), "y": pa.int8()}
    return pa.schema([*kinds.items(), ("user", pa.string())])


def rows(rng: np.random.Generator, n: int, n_rows: int) -> Any:
    """Return some rows of a table of n_rows rows."""
    item = rng.normal(size=n)
    a, b = item + rng.normal(size=n), item + rng.normal(size=n) - 0.001
    users = rng.integers(max(1, n_rows // ROWS_PER_USER), size=n)
    keys = pa.array(np.char.mod("user-%08d", users)) if n < 1_000 else _keys(users)
    solved = [pa.array((score > 0.5).astype(np.int8)) for score in (a, b)]
    return pa.table([pa.array(a), pa.array(b), *solved, keys], schema=schema())


def _keys(users: Any) -> Any:
    """Write numbers as strings, each distinct one once."""
    distinct, codes = np.unique(users, return_inverse=True)
    words = pa.array([f"user-{user:08d}" for user in distinct])
    return words.take(pa.array(codes))


def continuous(data: object, n_resamples: int = 1_000, **options: Any) -> Any:
    """Mean difference of continuous scores: every row is drawn."""
    return fb.paired_bootstrap("a", "b", data=data, n_resamples=n_resamples, rng=0, **options)


def binary(data: object, n_resamples: int = 1_000, **options: Any) -> Any:
    """Difference of two accuracies: four classes of rows."""
    return fb.paired_bootstrap("x", "y", data=data, n_resamples=n_resamples, rng=0, **options)


def grouped(data: object, n_resamples: int = 1_000, **options: Any) -> Any:
    """Mean difference, users drawn whole."""
    return continuous(data, n_resamples, groups="user", **options)


def swapped(data: object, n_resamples: int = 1_000, **options: Any) -> Any:
    """Approximate randomization of continuous scores."""
    return fb.approximate_randomization(
        "a", "b", data=data, n_resamples=n_resamples, rng=0, **options
    )


@contextmanager
def threads() -> Iterator[dict[str, Any]]:
    """Two threads of this process."""
    yield {"n_threads": 2}


@contextmanager
def dask() -> Iterator[dict[str, Any]]:
    """Two Dask processes of one thread each.

    Dask sets one of malloc's thresholds for its workers, which fixes the other at 128 KB: every
    array of a block is then mapped anew, which takes 14 times as long as its arithmetic. Here both
    are 128 MB.
    """
    from dask import config
    from distributed import Client, LocalCluster

    spawn = "distributed.nanny.pre-spawn-environ.MALLOC_{}_THRESHOLD_"
    kept = {spawn.format(which): 1 << 27 for which in ("TRIM", "MMAP")}
    with (
        config.set(kept),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield {"executor": client}


JOBS: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "continuous": (continuous, threads),
    "dask": (continuous, dask),
    "binary": (binary, threads),
    "grouped": (grouped, threads),
    "swapped": (swapped, threads),
}


def measured(job: str, place: Path, n_resamples: int) -> dict[str, Any]:
    """Run a job in a fresh process; return its figures."""
    command = [sys.executable, "-m", "benches.scale", "--job", job, str(place), str(n_resamples)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def run(job: str, place: str, n_resamples: int) -> None:
    """Run a job here and print its figures."""
    call, where = JOBS[job]
    with where() as options:
        call(place, 10, **options)  # compiles where nothing is cached, and fills the page cache
        started, cpu = time.perf_counter(), time.process_time()
        result = call(place, n_resamples, **options)
        seconds = time.perf_counter() - started
    figures = {
        "seconds": seconds,
        "cpu": time.process_time() - cpu,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "path": result.path,
    }
    print(json.dumps(figures))


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of a straight line through log(size), log(seconds)."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _table(place: Path, n_resamples: int, jobs: list[str], repeats: int) -> Iterator[str]:
    yield f"{'job':12}{'seconds':>10}{'CPU':>10}{'peak GB':>10}  path"
    for job in jobs:
        runs = [measured(job, place, n_resamples) for _ in range(repeats)]
        middle = sorted(runs, key=lambda one: one["seconds"])[len(runs) // 2]
        peak = max(one["peak_gb"] for one in runs)
        yield (
            f"{job:12}{middle['seconds']:10.1f}{middle['cpu']:10.1f}{peak:10.2f}  {middle['path']}"
        )


def _slopes(folder: Path, n_rows: int, job: str, repeats: int) -> Iterator[str]:
    sizes = [10**power for power in range(5, round(math.log10(n_rows)) + 1)]
    of_rows = [(size, 1_000) for size in sizes]
    of_resamples = [(10**6, 10**power) for power in range(3, 6)]
    for what, points, at in (
        ("rows, 1,000 resamples", of_rows, sizes),
        ("resamples, 1e6 rows", of_resamples, [n for _, n in of_resamples]),
    ):
        seconds = []
        for size, n_resamples in points:
            place = write(folder, size)
            runs = [measured(job, place, n_resamples)["seconds"] for _ in range(repeats)]
            seconds.append(statistics.median(runs))
        shown = ", ".join(f"{n:.0e}: {s:.3g} s" for n, s in zip(at, seconds, strict=True))
        yield f"{job} against {what}: slope {slope(at, seconds):.2f} ({shown})"


def main() -> None:
    """Read the command line."""
    if sys.argv[1:2] == ["--job"]:
        run(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--slopes", action="store_true")
    given = parser.parse_args()
    if given.slopes:
        for job in given.jobs:
            for line in _slopes(given.folder, given.rows, job, given.repeats):
                print(line, flush=True)
        return
    place = write(given.folder, given.rows)
    for line in _table(place, given.resamples, given.jobs, given.repeats):
        print(line, flush=True)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    main()
