"""A table read block by block takes the same memory however long it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

N_ROWS = 8_000_000  # two columns are 128 MB as float64, and 40 MB in the file
SMALL = 400_000

# Peaks of a process that first does the same with a small table: kernels and libraries are loaded.
RUN = """
import json, resource, sys
import fastboot as fb

def peak():
    unit = 1 if sys.platform == "darwin" else 1_024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def run(path):
    options = {"data": path, "rng": 0, "n_resamples": 50, "n_threads": 2}
    if sys.argv[1] == "swaps":
        fb.approximate_randomization("a", "b", **options)
    elif sys.argv[1] == "shares":
        fb.paired_bootstrap("x", "y", method="bca", **options)
    elif sys.argv[1] == "groups":
        fb.paired_bootstrap("a", "b", groups="group", **options)
    else:
        fb.paired_bootstrap("a", "b", method="bca", **options)

run(sys.argv[2])
before = peak()
run(sys.argv[3])
print(json.dumps(peak() - before))
"""


def write(path: Path, n_rows: int) -> None:
    """Write a table, a million rows at a time, of numbers that repeat within a row group."""
    rng = np.random.default_rng(0)
    some = rng.normal(size=(2, 50_000))
    step = 1 << 20
    with pq.ParquetWriter(path, schema()) as writer:
        for start in range(0, n_rows, step):
            n = min(step, n_rows - start)
            places = rng.integers(0, 50_000, (2, n), dtype=np.uint16)
            shares = (rng.integers(0, 4, n) >> [[0], [1]]) & 1
            columns = [*np.take_along_axis(some, places, axis=1), *shares, places[0] % 5_000]
            rows = pa.table(list(map(pa.array, columns)), names=schema().names)
            writer.write_table(rows.cast(schema()))


def schema() -> pa.Schema:
    """Two scores, two outcomes, and a key."""
    kinds = {"a": pa.float64(), "b": pa.float64(), "x": pa.int8(), "y": pa.int8()}
    return pa.schema([*kinds.items(), ("group", pa.int32())])


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the places of a small table and of a large one."""
    folder = tmp_path_factory.mktemp("tables")
    for n_rows in (SMALL, N_ROWS):
        write(folder / f"{n_rows}.parquet", n_rows)
    return [str(folder / f"{n_rows}.parquet") for n_rows in (SMALL, N_ROWS)]


# Measured with 2 to 16 million rows: 45, 41, 50 and 33 MB, whatever their number.
MOST = {"mean difference": 80, "swaps": 80, "groups": 90, "shares": 70}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells no peak")
@pytest.mark.parametrize("job", MOST)
def test_memory__does_not_grow_with_rows(job: str, tables: list[str]) -> None:
    """Loaded, the large table takes 128 MB, and its differences 64 MB more."""
    words = [sys.executable, "-c", RUN, job, *tables]
    grown = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)
    assert grown < MOST[job] * 1_000_000
