"""Designs end to end: many slices, many strata, two levels; one thread and CPU time.

`timeout` is a generous bound: ten times what a call took on two shared cores (10,000 slices of four
rows, 1,000 resamples: mean 1.5 s, macro F 5 s, median 13 s; 1,000 strata 0.4 s).
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import fastboot as fb

ROWS_OF_SLICE = 4
N_RESAMPLES = 1_000


class _Design:
    timer = time.process_time
    timeout = 130

    def time_answer(self, *_: object) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a class is absent from slices
            self.call()


class Slices(_Design):
    params = ((100, 10_000), ("mean", "macro F", "median"))
    param_names = ("slices", "statistic")

    def setup(self, n_slices: int, statistic: str) -> None:
        rng = np.random.default_rng(0)
        n_rows = ROWS_OF_SLICE * n_slices
        by = np.repeat(np.arange(n_slices), ROWS_OF_SLICE)
        scores = rng.normal(size=n_rows)
        gold, predicted = rng.integers(0, 3, (2, n_rows))
        asked = {
            "mean": fb.mean(scores),
            "macro F": fb.f_score(gold, predicted, average="macro"),
            "median": fb.median(scores),
        }[statistic]
        self.call = lambda: (
            fb.bootstrap(asked, by=by, n_resamples=N_RESAMPLES, rng=0, n_threads=1).estimates
        )


class Strata(_Design):
    params = ((10, 1_000), ("groups", "rows"))
    param_names = ("strata", "units")

    def setup(self, n_strata: int, units: str) -> None:
        rng = np.random.default_rng(0)
        strata = np.repeat(np.arange(n_strata), 40)
        groups = np.arange(strata.size) // 4 if units == "groups" else None
        scores = rng.normal(size=strata.size)
        self.call = lambda: (
            fb.bootstrap(
                scores, strata=strata, groups=groups, n_resamples=N_RESAMPLES, rng=0, n_threads=1
            ).standard_error
        )


class Levels(_Design):
    params = (("nested", "crossed"), (1_000, 100_000))
    param_names = ("levels", "rows")

    def setup(self, levels: str, n_rows: int) -> None:
        rng = np.random.default_rng(0)
        scores = rng.normal(size=n_rows)
        users = np.arange(n_rows) // 10
        groups = [users] if levels == "nested" else [users, np.arange(n_rows) % 10]
        self.call = lambda: (
            fb.bootstrap(
                scores, groups=groups, levels=levels, n_resamples=N_RESAMPLES, rng=0, n_threads=1
            ).standard_error
        )
