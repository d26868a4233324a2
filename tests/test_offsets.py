"""A large offset and small differences: the offset changes no p-value, no interval, no error.

Times in seconds since 1970 and counters are such data. What rounding can do is far less than the
number of rows times the rounding of the offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats
from statistical import assert_rate

import fastboot as fb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEED = 5
N_RESAMPLES = 20_000


def differences(n: int) -> Floats:
    """Normal ones whose mean is three standard errors: p = 0.0027."""
    values = np.random.default_rng(SEED).normal(size=n)
    moved: Floats = values - values.mean() + 3.0 * values.std(ddof=1) / n**0.5
    return moved


@pytest.mark.parametrize("offset", [1e3, 1e7, 1e8])
@pytest.mark.parametrize("n", [2_000, 100_000])
def test_paired__pvalue(n: int, offset: float) -> None:
    """SciPy's paired t-test; the tolerance of ties was a multiple of the standard error."""
    b = np.full(n, offset)
    a = b + differences(n)
    expected = float(stats.ttest_rel(a, b).pvalue)
    assert expected == pytest.approx(0.0027, rel=0.05)
    # 1e8 x 8 sqrt(100,000) x 1.1e-16 is 0.9% of the standard error of these: a hundredth of it,
    # on either side of the two systems, moves p = 0.0027 by a seventh.
    options: dict[str, Any] = {"n_resamples": N_RESAMPLES if n == 2_000 else 2_000, "rng": SEED}
    detects = 0.006 if n == 2_000 else 0.025
    for test in (fb.paired_bootstrap, fb.approximate_randomization):
        found = test(a, b, **options)
        assert_rate(found.n_extreme, options["n_resamples"], expected, detects=detects)
        assert not found.notes
    pair = fb.compare({"a": a, "b": b}, **options).pair("a", "b")
    n_extreme = round(pair.pvalue * (options["n_resamples"] + 1)) - 1
    assert_rate(n_extreme, options["n_resamples"], expected, detects=detects)


def seconds(n: int, offset: float) -> tuple[Floats, Floats]:
    """Two systems' times, 0.5 ms apart with a standard deviation of 1 ms."""
    rng = np.random.default_rng(SEED)
    b = rng.normal(0.0, 1e-3, n)
    return offset + b + rng.normal(5e-4, 1e-3, n), offset + b


def test_times__significant() -> None:
    """Unix times with p = 1e-7 and less by SciPy: sums of each system are drawn apart."""
    a, b = seconds(200, 1.7e9)
    assert stats.ttest_rel(a, b).pvalue < 1e-7
    options: dict[str, Any] = {"n_resamples": 999, "rng": SEED}
    assert fb.compare({"a": a, "b": b}, **options).pair("a", "b").pvalue == 0.001
    apart = b - 5e-4  # 1 ms from a, which has a standard deviation of 1.4 ms
    assert stats.ttest_ind(a, apart).pvalue < 1e-7
    for test in (fb.unpaired_bootstrap, fb.permutation_test):
        assert test(a, apart, **options).pvalue == 0.001


@pytest.mark.parametrize("correction", ["max_t", "holm"])
def test_times__interval(correction: str) -> None:
    """Intervals are those of the same resamples without the offset, and no points."""
    found = []
    for offset in (0.0, 1.7e9):
        a, b = seconds(200, offset)
        board = fb.compare({"a": a, "b": b}, n_resamples=999, rng=SEED, correction=correction)
        found.append(np.array([board.pair("a", "b").low, board.pair("a", "b").high]))
    plain, offset_too = found
    # A time is rounded to 2.4e-7, sums of 200 to 3e-5, the mean by that: 1e-6; standard error 7e-5.
    assert plain[1] - plain[0] > 2e-4
    np.testing.assert_allclose(offset_too, plain, rtol=0, atol=2e-6)


def few_differ(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Scores in tenths, of which 100 pairs differ: sums of swaps and of resamples tie often."""
    rng = np.random.default_rng(SEED)
    a = rng.integers(0, 1_000, n)
    b = a.copy()
    b[:100] += rng.integers(-3, 4, 100)
    b[0] += (a - b).sum() - 12
    return a, b


@pytest.mark.parametrize("path", ["rows", "patterns", "weights"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_ties__many_rows(path: Any, offset: float) -> None:
    """Resamples of 20,000 rows that are equal in tenths tie, however their sums round."""
    n = 20_000
    a, b = few_differ(n)
    options: dict[str, Any] = {"n_resamples": 1_000, "rng": SEED}
    result = fb.paired_bootstrap(offset + a / 10, offset + b / 10, path=path, **options)
    steps = result.replicates * n * 10
    null = np.rint(steps).astype(int) - 12
    # 100 differences of numbers of 1e6 are 100 x 1.2e-10 off, in tenths ten times that.
    assert np.abs(steps - np.rint(steps)).max() < 1e-6
    assert (np.abs(null) == 12).sum() > 5
    assert (np.abs(null) >= 12).sum() == result.n_extreme


@pytest.mark.parametrize("path", ["sums", "collapse"])
def test_ties__permuted(path: Any) -> None:
    """Sums of each sample that are equal in tenths tie, though each carries the offset."""
    n = 3_000
    rng = np.random.default_rng(SEED)
    a, b = rng.integers(0, 4, (2, n))
    b[0] += (a - b).sum() - 60
    options: dict[str, Any] = {"n_resamples": 2_000, "rng": SEED, "path": path}
    result = fb.permutation_test(1_000.0 + a / 10, 1_000.0 + b / 10, **options)
    steps = result.replicates * n * 10
    whole = np.rint(steps).astype(int)
    assert np.abs(steps - whole).max() < 1e-3
    assert (np.abs(whole) == 60).sum() > 5
    assert (np.abs(whole) >= 60).sum() == result.n_extreme
