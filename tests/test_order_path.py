"""The path "order": a quantile alone, drawn by the law of its rank."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from enumeration import law_of_resamples
from numpy.typing import NDArray
from scipy import stats
from statistical import assert_same_distribution, assert_same_law

import fastboot as fb
from fastboot import engine

Floats = NDArray[np.float64]

SEED = 29
EPSILON = 2.0**-52
STATISTICS: dict[str, Any] = {
    "median": fb.median,
    "quantile": lambda x: fb.quantile(x, 0.3),
    "quantile by choice": lambda x: fb.quantile(x, 0.9, method="inverted_cdf"),
    "middle": lambda x: fb.quantile(x, 0.25, method="averaged_inverted_cdf"),
    "minimum": fb.minimum,
    "maximum": fb.maximum,
}
every = pytest.mark.parametrize("name", STATISTICS)


def sample(n: int) -> Floats:
    """Skewed values with ties."""
    return np.random.default_rng(n).lognormal(size=n).round(1)


# The law


@every
@pytest.mark.parametrize("n", [30, 301, 3_000])
def test_order__law_of_weights(name: str, n: int) -> None:
    """The distribution is that of weighted rows.

    40,000 values a side; a distance of 0.05 between the distribution functions fails it. False
    failures: one in a million for each case.
    """
    x = sample(n)
    ordered, weighted = (
        fb.bootstrap(STATISTICS[name](x), rng=SEED, n_resamples=40_000, path=path)
        for path in (None, "weights")
    )
    assert ordered.path == "order"
    assert weighted.path == "weights"
    assert ordered.estimate == weighted.estimate
    # Values of one decimal and their middles: a rounding of the last bit is no other value.
    values = [one.replicates.round(9) for one in (ordered, weighted)]
    assert_same_distribution(*values, detects=0.05)


@every
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8])
def test_order__enumeration(name: str, n: int) -> None:
    """The distribution is that of all n^n resamples.

    200,000 replicates show a deviation of 0.01 in the probability of one value. False failures: one
    in a million for each case.
    """
    x = sample(n) + np.arange(n)  # apart, so that values between rows are told from each other
    definitions: dict[str, Any] = {
        "median": np.median,
        "quantile": lambda rows: np.quantile(rows, 0.3),
        "quantile by choice": lambda rows: np.quantile(rows, 0.9, method="inverted_cdf"),
        "middle": lambda rows: np.quantile(rows, 0.25, method="averaged_inverted_cdf"),
        "minimum": np.min,
        "maximum": np.max,
    }
    values, ways = law_of_resamples(n, lambda rows: float(definitions[name](x[rows])))
    # One place of a value for all ways to round it: they lie 1e-2 apart, and round by 1e-14.
    cells, number = np.unique(values.round(9), return_inverse=True)
    law = np.bincount(number, ways) / float(n) ** n
    result = fb.bootstrap(STATISTICS[name](x), rng=SEED, n_resamples=200_000)
    assert result.path == "order"
    found = np.searchsorted(cells, result.replicates.round(9))
    assert (cells[found] == result.replicates.round(9)).all()
    counts = np.bincount(found, minlength=cells.size)
    if cells.size > 1:
        assert_same_law(counts.tolist(), law.tolist(), detects=0.01)


@pytest.mark.parametrize("n", [11, 101, 1_001])
def test_order__exact_median(n: int) -> None:
    """The exact bootstrap law of an odd sample's median (Maritz and Jarrett 1978), by beta tails.

    200,000 replicates; a deviation of 0.01 in one of at most 20 cells fails. False failures: one in
    a million.
    """
    x = np.arange(float(n))
    result = fb.bootstrap(fb.median(x), rng=SEED, n_resamples=200_000)
    k = (n + 1) // 2
    edges = np.unique(np.quantile(result.replicates, np.linspace(0.05, 1.0, 20)).round())
    edges[-1] = n - 1
    law = np.diff(stats.beta(k, n - k + 1).cdf((edges + 1.0) / n), prepend=0.0)
    counts = np.bincount(np.searchsorted(edges, result.replicates), minlength=edges.size)
    assert_same_law(counts.tolist(), law.tolist(), detects=0.01)


def test_order__equal_values() -> None:
    """Between two equal values lies that value, to the last bit."""
    for value, q in itertools.product((0.1, 1 / 3, 5e-324, 1.7e308), (0.1, 0.37, 0.77)):
        result = fb.bootstrap(fb.quantile(np.full(30, value), q), rng=SEED, n_resamples=50)
        assert result.path == "order"
        assert set(result.replicates.tolist()) == {value}


def test_order__large_values() -> None:
    """Values as far apart as float64 allows have a middle."""
    x = np.array([-1.6e308, 1.6e308])
    result = fb.bootstrap(fb.median(x), rng=SEED, n_resamples=50)
    assert set(result.replicates.tolist()) == {-1.6e308, 0.0, 1.6e308}


# A replicate is a function of the data, the seed and its number


@every
def test_order__longer_run(name: str) -> None:
    """Replicate r of 100 is replicate r of 1,000."""
    x = sample(50)
    short, long = (
        fb.bootstrap(STATISTICS[name](x), rng=SEED, n_resamples=n).replicates for n in (100, 1_000)
    )
    assert short.tolist() == long[:100].tolist()
    assert len(set(long.tolist())) > 3


@every
def test_order__threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither threads nor the sizes of ranges change a replicate."""
    x = sample(500)
    expected = fb.bootstrap(STATISTICS[name](x), rng=SEED, n_resamples=999, n_threads=1)
    monkeypatch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
    for largest, n_threads in itertools.product((1, 7, 4_096), (1, 3)):
        monkeypatch.setattr(engine, "_LARGEST_RANGE", largest)
        found = fb.bootstrap(STATISTICS[name](x), rng=SEED, n_resamples=999, n_threads=n_threads)
        assert found.replicates.tolist() == expected.replicates.tolist()


def test_order__order_of_rows() -> None:
    """The order of the rows does not matter: only their ranks are drawn."""
    x = sample(60)
    found, again = (fb.bootstrap(fb.median(y), rng=SEED, n_resamples=99) for y in (x, x[::-1]))
    assert found.replicates.tolist() == again.replicates.tolist()


# Where it is taken


@pytest.mark.parametrize("n", [1, 2, 256, 257, 5_000])
@every
def test_order__taken(name: str, n: int) -> None:
    """One order statistic of rows that count alike takes it, whatever their number."""
    assert fb.bootstrap(STATISTICS[name](sample(n)), rng=SEED, n_resamples=5).path == "order"


X = sample(40)
CODES = np.resize([0, 1, 2, 3], 40)
ELSEWHERE: dict[str, dict[str, Any]] = {
    "groups": {"groups": CODES},
    "strata": {"strata": CODES},
    "weights": {"weights": np.ones(40)},
    "n_drawn": {"n_drawn": 20},
    "poisson": {"scheme": "poisson"},
    "bayesian": {"scheme": "bayesian"},
    "moving": {"scheme": "moving", "block_length": 3},
    "nested": {"groups": CODES, "levels": "nested"},
    "rows": {"path": "rows"},
    "patterns": {"path": "patterns"},
    "forced weights": {"path": "weights"},
}


@pytest.mark.parametrize("design", ELSEWHERE)
@every
def test_order__not_taken(name: str, design: str) -> None:
    """Other designs, and paths that are asked for, weigh the rows."""
    found = fb.bootstrap(STATISTICS[name](X), rng=SEED, n_resamples=5, **ELSEWHERE[design])
    assert "order" not in found.path


def test_order__n_drawn_of_all() -> None:
    """As many draws as rows are the plain bootstrap."""
    found = fb.bootstrap(fb.median(X), rng=SEED, n_resamples=99, n_drawn=40)
    assert found.path == "order"
    expected = fb.bootstrap(fb.median(X), rng=SEED, n_resamples=99)
    assert found.replicates.tolist() == expected.replicates.tolist()


def test_order__not_taken_for_several() -> None:
    """Several statistics see the same resamples, so their rows are drawn."""
    table: Any = fb.bootstrap([fb.minimum(X), fb.maximum(X)], rng=SEED, n_resamples=5)
    assert {one.path for one in table.values()} == {"rows"}
    table = fb.bootstrap([fb.median(X), fb.mean(X)], rng=SEED, n_resamples=5)
    assert all("order" not in one.path for one in table.values())
    slices: Any = fb.bootstrap(fb.median(X), by=CODES, rng=SEED, n_resamples=5)
    assert all("order" not in one.path for one in slices.values())
    assert slices.total.path == "order"
    for procedure in (fb.paired_bootstrap, fb.approximate_randomization):
        pair: Any = procedure(fb.median(X), fb.median(X[::-1]), rng=SEED, n_resamples=5)
        assert "order" not in pair.path
    two: Any = fb.unpaired_bootstrap(fb.median(X), fb.median(X[:30]), rng=SEED, n_resamples=99)
    assert two.path == "order"


def test_order__not_taken_for_others() -> None:
    """A trimmed mean is no single row."""
    for statistic in (fb.trimmed_mean(X, 0.1), fb.interquartile_mean(X)):
        assert fb.bootstrap(statistic, rng=SEED, n_resamples=5).path == "rows"


@pytest.mark.parametrize("statistic", [fb.median(X), fb.roc_auc(CODES % 2, X)])
def test_order__collapse_refused(statistic: Any) -> None:
    """Equal units cannot be counted where every unit is needed."""
    with pytest.raises(ValueError, match=r"^`path` is 'collapse'") as caught:
        fb.bootstrap(statistic, rng=SEED, path="collapse")
    assert str(caught.value) == (
        f"`path` is 'collapse', which counts equal units; {statistic.name} needs every unit, leave "
        "it None"
    )


@pytest.mark.parametrize("path", ["order", "constant", "enumeration"])
def test_order__not_forced(path: str) -> None:
    """Paths that the data decide alone cannot be asked for."""
    with pytest.raises(ValueError, match=f"^`?path`?.*'{path}'"):
        fb.bootstrap(fb.median(X), rng=SEED, path=path)


def test_order__missing_values() -> None:
    """A missing value makes every replicate undefined."""
    found = fb.bootstrap(fb.median([*X, math.nan]), nan_policy="propagate", rng=SEED, n_resamples=5)
    assert math.isnan(found.estimate)
    assert np.isnan(found.replicates).all()


# Leaving out rows


@every
@pytest.mark.parametrize("n", [2, 3, 40, 1_000])
@pytest.mark.parametrize("groups", [False, True])
def test_acceleration__exact(name: str, n: int, groups: bool) -> None:
    """Up to 1,000 units each is left out: the jackknife, computed from the rows that remain."""
    x = np.random.default_rng(n).lognormal(size=n)
    codes = np.sort(np.random.default_rng(1).integers(0, n, n)) if groups else np.arange(n)
    statistic = STATISTICS[name](x)
    definitions: dict[str, Any] = {
        "median": np.median,
        "quantile": lambda rows: np.quantile(rows, 0.3),
        "quantile by choice": lambda rows: np.quantile(rows, 0.9, method="inverted_cdf"),
        "middle": lambda rows: np.quantile(rows, 0.25, method="averaged_inverted_cdf"),
        "minimum": np.min,
        "maximum": np.max,
    }
    found = fb.bootstrap(
        statistic, groups=codes if groups else None, method="bca", rng=SEED, n_resamples=19
    )
    values = np.array([definitions[name](x[codes != code]) for code in np.unique(codes)])
    d = values.mean() - values
    squares = (d**2).sum()
    if squares <= n * (n * EPSILON * abs(values.mean())) ** 2:
        assert found.acceleration is not None
        assert math.isnan(found.acceleration)
        return
    # The two sides round each value by 7 of its units in the last place; two extreme values of d
    # outweigh all others here, so third powers do not cancel.
    assert found.acceleration == pytest.approx((d**3).sum() / (6.0 * squares**1.5), rel=1e-6)


@pytest.mark.parametrize("n", [4_000, 20_000])
def test_acceleration__blocks(n: int) -> None:
    """Beyond 1,000 units, blocks of them stand for units.

    A mean, through weights: the acceleration is skewness / (6 sqrt(n)). From 1,000 blocks of k
    values, whose skewness is s / sqrt(k), it is estimated with the error of a sample skewness,
    about sqrt(6 / 1,000), over 6 sqrt(n) sqrt(1 / k) / sqrt(1 / k): within six of them.
    """
    x = np.random.default_rng(n).exponential(size=n)

    class Mean(fb.Weighted):
        def prepare(self, values: Floats) -> Floats:
            return values

        def values(self, prepared: Floats, weights: Floats) -> Floats:
            mean: Floats = (weights * prepared).sum(axis=1) / weights.sum(axis=1)
            return mean

    found = fb.bootstrap(Mean(x), method="bca", rng=SEED, n_resamples=19)
    exact = fb.bootstrap(fb.mean(x), method="bca", rng=SEED, n_resamples=19)
    assert exact.acceleration == pytest.approx(stats.skew(x) / (6.0 * math.sqrt(n)), rel=1e-4)
    assert found.acceleration is not None
    assert exact.acceleration is not None
    # The skewness of 1,000 block sums is over sqrt(1,000).
    error = math.sqrt(6.0 / 1_000) / (6.0 * math.sqrt(1_000))
    assert abs(found.acceleration - exact.acceleration) < 6.0 * error
    assert found.acceleration != exact.acceleration
