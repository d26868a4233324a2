"""The paired t test of many rows beside SciPy's: `track_ratio` is SciPy's CPU time by ours.

Ours also gives skewness, kurtosis, a test of normality, outliers (three passes for the quartiles)
and the interval of the effect size; without resampling, which is measured elsewhere.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from scipy import stats

from fastboot.companions.t_test import paired_t_test

from .timing import seconds, seconds_of_both


class PairedTTest:
    params = (10_000, 1_000_000)
    param_names = ("rows",)

    def setup(self, n: int):
        rng = np.random.default_rng(0)
        self.a = rng.normal(size=n)
        self.b = 0.5 * self.a + rng.normal(size=n)

    def track_ratio(self, _: int) -> float:
        ours, theirs = seconds_of_both(
            lambda: paired_t_test(self.a, self.b, n_resamples=0),
            lambda: stats.ttest_rel(self.a, self.b),
        )
        return theirs / ours

    track_ratio.unit = "ratio"

    def track_ns_per_row(self, n: int) -> float:
        return 1e9 * seconds(lambda: paired_t_test(self.a, self.b, n_resamples=0)) / n

    track_ns_per_row.unit = "ns"


class Stream:
    """A Parquet file, batch by batch."""

    params = (10_000, 4_000_000)
    param_names = ("rows",)

    def setup(self, n: int):
        rng = np.random.default_rng(0)
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        self.path = Path(folder) / "scores.parquet"
        parquet.write_table(pa.table({"a": rng.normal(size=n), "b": rng.normal(size=n)}), self.path)

    def track_ns_per_row(self, n: int) -> float:
        return 1e9 * seconds(lambda: paired_t_test("a", "b", data=self.path, n_resamples=0)) / n

    track_ns_per_row.unit = "ns"
