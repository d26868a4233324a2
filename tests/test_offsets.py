"""A large offset and small differences: the offset changes no p-value, no interval, no error.

Times in seconds since 1970 and counters are such data. What rounding can do is far less than the
number of rows times the rounding of the offset.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from statistical import assert_rate

import fastboot as fb
from fastboot.reference import bootstrap_rows

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


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
@pytest.mark.parametrize("test", [fb.paired_bootstrap, fb.approximate_randomization])
def test_paired__rows_of_differences(test: Any, offset: float, tmp_path: Path) -> None:
    """SciPy's one-sample t-test of a - b, in memory and read block by block.

    a - b is formed row by row: its sum does not round by the size of the offset. Ties of 200,000
    additions at 1e9 would reach 0.36 standard errors on either side, p = 0.02.
    """
    n = 200_000
    a = offset + np.random.default_rng(SEED + 1).normal(size=n)
    b = a - differences(n)
    expected = float(stats.ttest_1samp(a - b, 0.0).pvalue)
    assert expected == pytest.approx(0.0027, rel=1e-3)
    options: dict[str, Any] = {"n_resamples": 4_000, "rng": SEED}
    found = test(a, b, **options)
    assert_rate(found.n_extreme, 4_000, expected, detects=0.0125)
    # A row has four roundings of both scores; all of them together are a share of 4e-4.
    assert found.rounding < 1e-3 * found.standard_error
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": a, "b": b}), path)
    read = test("a", "b", data=path, **options)
    assert (read.n_extreme, read.rounding) == (found.n_extreme, found.rounding)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
@pytest.mark.parametrize("test", [fb.paired_bootstrap, fb.approximate_randomization])
@pytest.mark.parametrize("n", [10, 100_000])
def test_ties__rounding_alone(test: Any, offset: float, n: int) -> None:
    """Scores that differ as 0.1 + 0.2 and 0.3 do are equal: every replicate ties with 0."""
    tenths = np.random.default_rng(SEED).integers(0, 100, n)
    a = (offset + 0.1) + (tenths + 2) / 10
    b = offset + (tenths + 3) * 0.1
    assert (a != b).any()
    options: dict[str, Any] = {"n_resamples": 200, "rng": SEED}
    for first, second in ((a, b), (b, a)):
        for side in ("two-sided", "greater", "less"):
            result = test(first, second, alternative=side, **options)
            assert result.pvalue == 1.0
        assert abs(result.estimate) <= result.rounding


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
@pytest.mark.parametrize("n", [60, 20_000])
def test_ties__few_values(n: int, offset: float) -> None:
    """Few values have few roundings, which add up over rows instead of cancelling.

    Here all rows differ by a tenth, and tenths at 1e9 are rounded to 1e-7.
    """
    sign = np.ones(n, np.int64)
    sign[: n // 2 - 3] = -1
    a = offset + (7 + np.maximum(sign, 0)) / 10
    b = offset + (7 + np.maximum(-sign, 0)) / 10
    options: dict[str, Any] = {"n_resamples": 5_000, "rng": SEED}
    for test, shift in ((fb.paired_bootstrap, 6), (fb.approximate_randomization, 0)):
        result = test(a, b, **options)
        steps = result.replicates * n * 10
        whole = np.rint(steps / 2).astype(int) * 2  # as many rows as these differ by an even number
        assert np.abs(steps - whole).max() < 0.1
        null = whole - shift
        assert (np.abs(null) == 6).sum() > 20
        assert (np.abs(null) >= 6).sum() == result.n_extreme


@pytest.mark.parametrize("test", [fb.paired_bootstrap, fb.approximate_randomization])
def test_ties__slices(test: Any) -> None:
    """Each slice has roundings of its own size: a few large scores beside many small ones."""
    few, many = 14, 20_000
    rng = np.random.default_rng(SEED)
    a, b = rng.integers(0, 4, (2, few + many))
    b[0] += (a - b)[:few].sum() - 2
    offset = np.repeat([1e6, 0.0], [few, many])
    options: dict[str, Any] = {"n_resamples": 2_000, "rng": SEED, "by": offset > 0.0}
    table = test(offset + a / 10, offset + b / 10, **options)
    (result,) = (one for one in table.values() if one.n_units == few)
    whole = np.rint(result.replicates * few * 10).astype(int)
    null = whole - (2 if test is fb.paired_bootstrap else 0)
    assert (np.abs(null) == 2).sum() > 20
    assert (np.abs(null) >= 2).sum() == result.n_extreme


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


@pytest.mark.parametrize("offset, deviation", OFFSETS)
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_errors__weighted(offset: float, deviation: float, grouped: bool, whole: bool) -> None:
    """CR0 of weighted means and ratios: sums of weights times rows about the weighted mean."""
    values, codes = clusters(600, offset, deviation)
    codes = codes if grouped else np.arange(values.size)
    rng = np.random.default_rng(SEED)
    weights = rng.integers(1, 6, values.size) / 1.0 if whole else rng.exponential(size=values.size)
    options: dict[str, Any] = {"groups": codes} if grouped else {}
    options |= {"n_resamples": 99, "rng": SEED}

    def expected(numerators: Floats) -> float:
        over, under = ([Fraction(float(one)) for one in row] for row in (numerators, weights))
        ratio = sum(over) / sum(under)
        rows = np.array([float(y - ratio * x) for y, x in zip(over, under, strict=True)])
        return float(np.sqrt((np.bincount(codes, rows) ** 2).sum()) / weights.sum())

    exact = expected(weights * values)
    for one in (fb.weighted_mean(values, weights), fb.ratio(weights * values, weights)):
        found: Any = fb.bootstrap(one, **options)
        # Products at 1e9 are rounded to 1e-7 and more, a hundred-thousandth of the deviations.
        assert found.analytic_errors.cr0 == pytest.approx(exact, rel=1e-4)
    # Beside a mean, which is about the number of rows.
    several = fb.bootstrap(
        {"mean": values, "weighted": fb.weighted_mean(values, weights)}, **options
    )
    one = several["weighted"]
    assert one.analytic_errors.cr0 == pytest.approx(exact, rel=1e-4)
    alone: Any = fb.bootstrap(values, **options)
    assert several["mean"].analytic_errors.cr0 == pytest.approx(alone.analytic_errors.cr0, rel=1e-4)


@pytest.mark.parametrize("offset, deviation", OFFSETS[1:])
@pytest.mark.parametrize("grouped", [True, False])
def test_studentized__weighted(offset: float, deviation: float, grouped: bool) -> None:
    """Errors of replicates of weighted means are those of the same rows without the offset."""
    found = []
    for moved in (0.0, offset):
        values, codes = clusters(1_000, moved, deviation)
        weights = np.random.default_rng(SEED).integers(1, 6, values.size)
        groups: dict[str, Any] = {"groups": codes} if grouped else {}
        result: Any = fb.bootstrap(
            fb.weighted_mean(values, weights), n_resamples=200, rng=SEED, method="studentized",
            **groups,
        )  # fmt: skip
        limits = np.array(result.confidence_interval[:2]) - result.estimate
        found.append((result.replicate_standard_errors / deviation, limits / deviation))
    for plain, offset_too in zip(*found, strict=True):
        np.testing.assert_allclose(offset_too, plain, rtol=2e-3)


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.1, 1e9 + 0.3])
@pytest.mark.parametrize("grouped", [True, False])
def test_errors__constant_weighted(value: float, grouped: bool) -> None:
    """Equal rows have no error, whatever weights they have."""
    _, codes = clusters(600, 0.0, 1.0)
    groups: dict[str, Any] = {"groups": codes} if grouped else {}
    weights = np.random.default_rng(SEED).exponential(size=600)
    found: Any = fb.bootstrap(
        fb.weighted_mean(np.full(600, value), weights), n_resamples=99, rng=SEED,
        method="studentized", **groups,
    )  # fmt: skip
    assert found.analytic_errors.cr0 == 0.0
    assert not np.any(found.replicate_standard_errors)


# Rows that lie far from 0, or slices far from each other.


@pytest.mark.parametrize("n, offset", [(2_000, 1e13), (70_000, 1e11), (2_000, -1e12)])
@pytest.mark.parametrize("grouped", [False, True])
def test_bootstrap__spread_below_the_bound_of_sums(n: int, offset: float, grouped: bool) -> None:
    """What sums of n numbers may be off is above this spread, what they are off far below it.

    The standard error of a standard error of 200 replicates is 5 %: five of them.
    """
    x = np.random.default_rng(SEED).normal(size=n) + offset
    groups = np.arange(n) // 2 if grouped else None
    result = fb.bootstrap(x, groups=groups, n_resamples=200, rng=SEED)
    assert result.standard_error == pytest.approx(n**-0.5, rel=0.25)
    assert not result.degenerate
    unpaired = fb.unpaired_bootstrap(x, x[::-1] + 1.0, n_resamples=200, rng=SEED)
    assert unpaired.standard_error == pytest.approx((2.0 / n) ** 0.5, rel=0.25)


def test_bootstrap__median_far_from_zero() -> None:
    """Order statistics do not add up: sqrt(pi / 2) standard errors of a mean, within 25 %."""
    times = 1.7e12 + 1_000.0 * np.random.default_rng(SEED).normal(size=100_000)
    found = fb.bootstrap(fb.median(times), n_resamples=200, rng=SEED)
    assert found.standard_error == pytest.approx(1_253.3 / 100_000**0.5, rel=0.25)


@pytest.mark.parametrize("values", [
    fb.median(np.full(1_000, 0.1)), fb.statistic(np.mean, np.full(1_000, 0.1)),
    fb.statistic(lambda a, b: np.mean(a - b), np.arange(1_000) / 10 + 0.1, np.arange(1_000) / 10),
])  # fmt: skip
def test_bootstrap__equal_functions(values: Any) -> None:
    """Values of row weights and of functions settle too, where NumPy's sums alone differ."""
    assert fb.bootstrap(values, n_resamples=100, rng=SEED).standard_error == 0.0


@pytest.mark.parametrize("offset", [1e9, 1e12])
def test_bootstrap__equal_but_for_rounding(offset: float) -> None:
    """Differences that rounding alone sets apart still do not vary."""
    b = np.random.default_rng(SEED).normal(size=2_000) + offset
    found = fb.paired_bootstrap(b + 0.1, b, n_resamples=200, rng=SEED)
    assert found.standard_error == 0.0
    assert found.degenerate


MOVED: dict[str, Any] = {
    "std": lambda x, _, s: fb.std(x + s),
    "variance": lambda x, _, s: fb.variance(x + s, ddof=1),
    "skewness": lambda x, _, s: fb.skewness(x + s),
    "pearson": lambda x, y, s: fb.pearson(x + s, y - 3.0 * s),
    "r_squared": lambda x, y, s: fb.r_squared(x + s, y + s),
    "alpha": lambda x, y, s: fb.krippendorff_alpha(x + s, y + s, level="interval"),
    "combine": lambda x, y, s: fb.combine(
        lambda a, b: a / b, fb.std(x + s), fb.std(y + s), name="ratio"
    ),
}


def moved(name: str, offset: float) -> tuple[Any, NDArray[np.int64]]:
    """Return a statistic of rows whose second half lies far from the first, and the halves."""
    x, noise = np.random.default_rng(SEED).normal(size=(2, 400))
    half = np.repeat([0, 1], 200)
    return MOVED[name](x, x + 0.5 * noise, offset * half), half


@pytest.mark.parametrize("name", MOVED)
@pytest.mark.parametrize("offset", [1e5, 1e8])
def test_slices__far_from_each_other(name: str, offset: float) -> None:
    """Slices have the values and the errors they have alone; at 1e8 nothing was left of them.

    Of a number of 1e8 that is 1 from others, 8 digits are theirs.
    """
    near, half = moved(name, 0.0)
    far, _ = moved(name, offset)
    options: dict[str, Any] = {"by": half, "rng": SEED, "n_resamples": 200}
    alone, found = (fb.bootstrap(one, **options) for one in (near, far))
    pairs = [fb.paired_bootstrap(one, near, **options) for one in (near, far)]
    for key in (0, 1):
        assert alone[key].estimate == pytest.approx(found[key].estimate, rel=1e-6)
        assert alone[key].replicates == pytest.approx(found[key].replicates, rel=1e-5, abs=1e-7)
        assert pairs[0][key].estimate == pytest.approx(pairs[1][key].estimate, abs=1e-6)
    boards = [fb.compare({"a": one, "b": near}, **options).boards for one in (near, far)]
    for board, other in zip(*(some[1:] for some in boards), strict=True):
        assert board.estimates == pytest.approx(other.estimates, rel=1e-6)


@pytest.mark.parametrize("name", ["std", "skewness", "pearson"])
def test_macro__groups_far_from_each_other(name: str) -> None:
    """A macro average takes each group where it lies."""
    (near, half), (far, _) = moved(name, 0.0), moved(name, 1e8)
    values = [
        fb.bootstrap(fb.macro(one, by=half), rng=SEED, n_resamples=20).estimate
        for one in (near, far)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("procedure", [fb.permutation_test, fb.unpaired_bootstrap])
def test_samples__far_from_each_other(procedure: Any) -> None:
    """The standard deviation of a sample is not lost because the other one lies elsewhere."""
    x, y = np.random.default_rng(SEED).normal(size=(2, 200))
    found = procedure(fb.std(x + 1e7), fb.std(y), n_resamples=99, rng=SEED)
    assert found.estimate_a == pytest.approx(float(np.std(x)), rel=1e-7)
    assert found.pvalue > 0.05


def test_outlier__far_from_all_others() -> None:
    """Resamples that miss one row at 0 have the spread of the others, as NumPy has it."""
    x = np.concatenate([[0.0], 1e9 + 100.0 * np.random.default_rng(SEED).normal(size=200)])
    result = fb.bootstrap(fb.std(x), rng=SEED, n_resamples=300, path="rows")
    drawn = [bootstrap_rows(x.size, SEED, replicate, "rows") for replicate in range(300)]
    expected = np.array([np.std(x[rows]) for rows in drawn])
    assert (expected < 1e6).sum() > 50  # a third of them, exp(-1)
    assert result.replicates == pytest.approx(expected, rel=1e-6)


# Ties that are seen are told.


@pytest.mark.parametrize("offset, told", [(0.0, False), (1e6, False), (1e10, True)])
def test_notes__ties_of_rounding(offset: float, told: bool) -> None:
    """Sums of systems each by itself, and of samples, tie by their size; those of pairs do not."""
    x, y = np.random.default_rng(SEED).normal(size=(2, 2_000)) + offset
    options: dict[str, Any] = {"rng": SEED, "n_resamples": 200}
    sentence = (
        r"what rounding may be, and counts as a tie, is [0-9.e+]+ % of the standard error: "
        "p-values may be too large; if scores lie far from 0, subtract one number from all first"
    )
    for result in (
        fb.compare({"x": x, "y": y}, **options),
        fb.compare({"x": x, "y": y}, test="randomization", **options),
        fb.unpaired_bootstrap(x, y, **options),
        fb.permutation_test(x, y, **options),
    ):
        assert any(re.fullmatch(sentence, note) for note in result.notes) == told
    assert fb.paired_bootstrap(x, y, **options).notes == ()
