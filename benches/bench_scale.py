"""Tables read block by block: against the same table in memory, and what an executor adds.

Wall clock, as threads work side by side; everything takes turns in one run. Larger tables, their
memory and the slopes: ``python -m benches.scale``.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from . import scale
from .timing import seconds, seconds_of_both

if TYPE_CHECKING:
    from collections.abc import Callable

N_RESAMPLES = 1_000


class Streamed:
    """From files, by job and rows."""

    params = ([100_000, 1_000_000], ["continuous", "binary", "grouped", "swapped"])
    param_names = ("n_rows", "job")
    timeout = 600

    def setup(self, n_rows: int, job: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.place = scale.write(self.folder, n_rows)
        self.table = pa.concat_tables(
            parquet.read_table(path) for path in sorted(self.place.iterdir())
        )
        self.call: Callable[..., object] = scale.JOBS[job][0]
        self.n = n_rows

    def teardown(self, n_rows: int, job: str) -> None:  # noqa: ARG002 - asv gives both
        shutil.rmtree(self.folder)

    def track_ns_per_row_per_resample(self, n_rows: int, job: str) -> float:  # noqa: ARG002 - as teardown
        took = seconds(lambda: self.call(self.place, N_RESAMPLES), time.perf_counter)
        return 1e9 * took / self.n / N_RESAMPLES

    track_ns_per_row_per_resample.unit = "ns"

    def track_times_memory(self, n_rows: int, job: str) -> float:  # noqa: ARG002 - as teardown
        files, memory = seconds_of_both(
            lambda: self.call(self.place, N_RESAMPLES),
            lambda: self.call(self.table, N_RESAMPLES),
            time.perf_counter,
        )
        return files / memory

    track_times_memory.unit = "times in memory"

    def track_times_threads(self, n_rows: int, job: str) -> float:  # noqa: ARG002 - as teardown
        with ThreadPoolExecutor(2) as executor:
            pool, own = seconds_of_both(
                lambda: self.call(self.place, N_RESAMPLES, executor=executor),
                lambda: self.call(self.place, N_RESAMPLES, n_threads=2),
                time.perf_counter,
            )
        return pool / own

    track_times_threads.unit = "times own threads"
