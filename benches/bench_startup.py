"""What a fresh process waits for: the import, and its first answer with and without compiled code.

Seconds of CPU time beyond Python, NumPy and pyarrow, which every process pays for itself. The
answer of 20 rows runs a small kernel; 10,000 continuous rows run the large ones.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from . import timing

ROOT = Path(__file__).parents[1]
ANSWERS = {
    "bootstrap": "fb.paired_bootstrap(a, b, rng=0, n_threads=1).confidence_interval",
    "swaps": "fb.approximate_randomization(a, b, rng=0, n_threads=1).pvalue",
}
# Prints the seconds of the import, and from its start to the answer.
FRESH = """
import time
import numpy as np
import pyarrow
a, b = np.random.default_rng(0).random((2, {n_rows}))
started = time.process_time()
import fastboot as fb
imported = time.process_time()
{answer}
print(imported - started, time.process_time() - started)
"""


def fresh(cache: str, n_rows: int = 1, answer: str = "") -> list[float]:
    """Run a process with a cache of its own; return what it prints."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", FRESH.format(n_rows=n_rows, answer=answer)],
        env=os.environ | {"FASTBOOT_CACHE_DIR": cache, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [float(seconds) for seconds in done.stdout.split()]


class Import:
    def track_seconds(self) -> float:
        return statistics.median(fresh("")[0] for _ in range(timing.N_RUNS))

    track_seconds.unit = "s"


class _FirstAnswer:
    """Import and first answer together."""

    params = ((20, 10_000), tuple(ANSWERS))
    param_names = ("rows", "procedure")
    timeout = 600


class WarmFirstAnswer(_FirstAnswer):
    """Another process has compiled the kernels."""

    def track_seconds(self, n_rows: int, procedure: str) -> float:
        with tempfile.TemporaryDirectory() as cache:
            _, *runs = (
                fresh(cache, n_rows, ANSWERS[procedure])[1] for _ in range(1 + timing.N_RUNS)
            )
        return statistics.median(runs)

    track_seconds.unit = "s"


class ColdFirstAnswer(_FirstAnswer):
    """The first answer on a new machine."""

    def track_seconds(self, n_rows: int, procedure: str) -> float:
        runs = []
        for _ in range(timing.N_RUNS):
            with tempfile.TemporaryDirectory() as cache:
                runs.append(fresh(cache, n_rows, ANSWERS[procedure])[1])
        return statistics.median(runs)

    track_seconds.unit = "s"
