"""Classical paired tests of a million rows, beside SciPy or the same in plain NumPy.

`track_ratio` is the other's CPU time by ours in the same run. Ours also gives estimates and
intervals; SciPy's signed-rank test gives a p-value alone.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from fastboot.companions.folds import folds
from fastboot.companions.mcnemar import mcnemar
from fastboot.companions.sign_test import sign_test
from fastboot.companions.signed_rank import signed_rank_test

from .timing import seconds, seconds_of_both

N_ROWS = (1_000, 1_000_000)


def table_and_binomial(a: np.ndarray, b: np.ndarray) -> float:
    """The table of pairs, as statsmodels takes it, and the exact test of its corners."""
    right_a, right_b = a > 0.0, b > 0.0
    table = np.histogram2d(right_a, right_b, bins=2)[0]
    return stats.binomtest(int(table[0, 1]), int(table[0, 1] + table[1, 0])).pvalue


def signs_and_quantile(a: np.ndarray, b: np.ndarray) -> object:
    d = a - b
    stats.binomtest(int((d > 0).sum()), int((d != 0).sum()))
    return stats.quantile_test(d).confidence_interval()


TESTS = {
    "mcnemar": (mcnemar, table_and_binomial),
    "signed rank": (signed_rank_test, stats.wilcoxon),
    "sign": (sign_test, signs_and_quantile),
}


class Pairs:
    params = (N_ROWS, tuple(TESTS))
    param_names = ("rows", "test")

    def setup(self, n: int, name: str):
        a, b = np.random.default_rng(0).normal(size=(2, n))
        if name == "mcnemar":
            a, b = (a > 0.0).astype(float), (b > 0.0).astype(float)
        test, other = TESTS[name]
        self.n = n
        self.ours, self.theirs = lambda: test(a, b), lambda: other(a, b)

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.ours) / self.n

    track_ns.unit = "ns"

    def track_ratio(self, *_: object) -> float:
        ours, theirs = seconds_of_both(self.ours, self.theirs)
        return theirs / ours

    track_ratio.unit = "times"


class TenFolds:
    params = (N_ROWS, ("rows", "strata", "groups"))
    param_names = ("rows", "kept")

    def setup(self, n: int, kept: str):
        try:
            from sklearn import model_selection
        except ImportError as error:  # asv leaves out what is not installed
            raise NotImplementedError(str(error)) from error
        keys = np.random.default_rng(0).integers(0, n // 100, size=n)
        name = {"rows": "KFold", "strata": "StratifiedKFold", "groups": "GroupKFold"}[kept]
        splitter = getattr(model_selection, name)(10, shuffle=True, random_state=0)
        given = {} if kept == "rows" else {kept: keys}
        groups = given.get("groups")
        self.n = n
        self.ours = lambda: folds(n, 10, rng=0, **given)
        self.theirs = lambda: list(splitter.split(keys, keys, groups))

    def track_ns(self, *_: object) -> float:
        return 1e9 * seconds(self.ours) / self.n

    track_ns.unit = "ns"

    def track_ratio(self, *_: object) -> float:
        ours, theirs = seconds_of_both(self.ours, self.theirs)
        return theirs / ours

    track_ratio.unit = "times"
