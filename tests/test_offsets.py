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


def clusters(n: int, offset: float, deviation: float) -> tuple[Floats, NDArray[np.int64]]:
    """Values about an offset, in groups of very different sizes."""
    rng = np.random.default_rng(SEED)
    codes = np.sort((n / 5 * rng.random(n) ** 1.5).astype(int))
    return offset + rng.normal(0.0, deviation, n), np.unique(codes, return_inverse=True)[1]


def cluster_error(values: Floats, codes: NDArray[np.int64]) -> float:
    """Root of the sum over clusters of (sum of residuals)^2, over n (Liang and Zeger 1986)."""
    residuals = values - values[0]
    residuals -= residuals.mean()
    return float(np.sqrt((np.bincount(codes, residuals) ** 2).sum()) / values.size)


OFFSETS = [(0.0, 1.0), (1e4, 1e-3), (1e6, 0.01), (1e9, 1.0), (1e9, 0.01)]


@pytest.mark.parametrize("offset, deviation", OFFSETS)
@pytest.mark.parametrize("n", [100, 2_000])
@pytest.mark.parametrize("grouped", [True, False])
def test_errors__direct(n: int, offset: float, deviation: float, grouped: bool) -> None:
    """CR0 and CR1 of a mean are those of the direct formula, and about those of the bootstrap."""
    values, codes = clusters(n, offset, deviation)
    codes = codes if grouped else np.arange(n)
    groups: dict[str, Any] = {"groups": codes} if grouped else {}
    found: Any = fb.bootstrap(values, n_resamples=999, rng=SEED, **groups)
    expected, size = cluster_error(values, codes), codes.max() + 1
    # The sum of a group of 100 rounds its offset 100 times: 100 x 1.1e-16 x 1e9 of 0.01 is 1e-3 at
    # the very most, and seen to be 1e-6; else the formula and ours sum alike.
    near = pytest.approx(1.0, rel=1e-4 if offset == 1e9 else 1e-6)
    errors = found.analytic_errors
    assert errors.cr0 / expected == near
    assert errors.cr1 / (expected * (size / (size - 1)) ** 0.5) == near
    # A standard deviation of 999 replicates is 2.2% off, and five times that seldom; those of
    # ratios are of second order larger with few groups.
    assert found.standard_error == pytest.approx(expected, rel=0.15)
    low, high = found.analytic_interval()[:2]
    assert (high - low) / 2 / errors.cr1 == pytest.approx(stats.t.ppf(0.975, size - 1), rel=1e-3)


@pytest.mark.parametrize("offset, deviation", OFFSETS[1:])
@pytest.mark.parametrize("grouped", [True, False])
def test_studentized__offset(offset: float, deviation: float, grouped: bool) -> None:
    """Errors of replicates and intervals are those of the same rows without the offset."""
    found = []
    for moved in (0.0, offset):
        values, codes = clusters(1_000, moved, deviation)
        groups: dict[str, Any] = {"groups": codes} if grouped else {}
        result: Any = fb.bootstrap(
            values, n_resamples=200, rng=SEED, method="studentized", **groups
        )
        assert result.replicate_standard_errors is not None
        limits = np.array(result.confidence_interval[:2]) - result.estimate
        found.append((result.replicate_standard_errors / deviation, limits / deviation))
    for plain, offset_too in zip(*found, strict=True):
        # 1e9 + 0.01 is rounded to 1e-7, a hundred-thousandth of the deviations, as are its sums
        # to some of these; quotients of small errors and t follow.
        np.testing.assert_allclose(offset_too, plain, rtol=1e-3)


def test_errors__strata() -> None:
    """Each stratum has its own mean of group sums; residuals of rows are about one mean."""
    values, codes = clusters(600, 1e6, 0.01)
    strata = codes % 3
    residuals = values - values.mean()
    sums: Any = np.bincount(codes, residuals)
    layers = np.arange(sums.size) % 3
    sums = sums - (np.bincount(layers, sums) / np.bincount(layers))[layers]
    found: Any = fb.bootstrap(values, groups=codes, strata=strata, n_resamples=99, rng=SEED)
    expected = np.sqrt((sums**2).sum()) / values.size
    assert found.analytic_errors.cr0 == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.1, 1e9 + 0.3])
def test_errors__constant(value: float) -> None:
    """Equal rows have no error, whatever their groups' sums round to."""
    _, codes = clusters(600, 0.0, 1.0)
    found: Any = fb.bootstrap(
        np.full(600, value), groups=codes, n_resamples=99, rng=SEED, method="studentized"
    )
    assert found.analytic_errors.cr0 == 0.0
    assert not np.any(found.replicate_standard_errors)
    assert found.confidence_interval[:2] == (found.estimate, found.estimate)
