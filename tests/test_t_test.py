"""The paired t test against SciPy, exact fractions and published figures; its parts; its words."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset, parquet
from scipy import stats
from statistical import assert_rate

import fastboot as fb
from fastboot.companions.differences import Differences, Moments, moments
from fastboot.companions.effect_size import hedges_factor, noncentral_t_cdf, noncentrality_limits
from fastboot.companions.normality import check_normality, tail_change
from fastboot.companions.t_test import paired_t_test
from fastboot.companions.t_test_results import PairedTTestResult

if TYPE_CHECKING:
    from pathlib import Path

SIDES = ["two-sided", "greater", "less"]
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


@pytest.fixture
def pairs() -> tuple[Any, Any]:
    """Skewed scores of two systems: 20,000, so several chunks."""
    rng = np.random.default_rng(0)
    a = rng.gamma(2.0, size=20_000)
    return a, 0.9 * a + rng.gamma(1.0, 0.2, size=a.size)


# Against SciPy


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("n", [2, 3, 15, 5_000, 5_001, 20_000])
def test_paired_t_test__scipy(pairs: tuple[Any, Any], n: int, alternative: str) -> None:
    """All that SciPy has too, to 1e-12."""
    a, b = (column[:n] for column in pairs)
    ours = paired_t_test(a, b, alternative=alternative, n_resamples=0)
    theirs = stats.ttest_rel(a, b, alternative=alternative)
    assert theirs.statistic == pytest.approx(ours.t, rel=1e-12)
    assert theirs.df == ours.degrees_of_freedom
    # p = exp(-t^2 / 2) at most falls by t^2 times the relative error of t.
    assert theirs.pvalue == pytest.approx(ours.pvalue, rel=1e-12 * (1 + ours.t**2))
    expected = theirs.confidence_interval(0.95)
    assert list(expected) == pytest.approx(list(ours.confidence_interval[:2]), rel=1e-12)
    assert ours.confidence_interval == ours.interval()
    alone = paired_t_test(a - b, alternative=alternative, n_resamples=0)
    assert (ours.t, ours.pvalue) == (alone.t, alone.pvalue)
    one = stats.ttest_1samp(a - b, 0, alternative=alternative)
    assert (one.statistic, one.pvalue) == pytest.approx(
        (alone.t, alone.pvalue), rel=1e-12 * (1 + ours.t**2)
    )
    for side in SIDES:
        expected_p = stats.ttest_rel(a, b, alternative=side).pvalue
        assert expected_p == pytest.approx(ours.test(side), rel=1e-12 * (1 + ours.t**2))


def test_paired_t_test__figures(pairs: tuple[Any, Any]) -> None:
    """Moments, tests of normality and outliers against SciPy and loops."""
    for n in (3, 100, 5_000, 20_000):
        d = pairs[0][:n] - pairs[1][:n]
        found = paired_t_test(d, n_resamples=0).normality
        assert stats.skew(d) == pytest.approx(found.skewness, rel=1e-11)
        assert stats.kurtosis(d) == pytest.approx(found.excess_kurtosis, rel=1e-11)
        if n <= 5_000:
            assert "Shapiro-Wilk" == found.test
            # Moved and scaled data give the same W, but for 1e-9 of its algorithm in float64.
            expected = stats.shapiro(d)
        else:
            assert "D'Agostino-Pearson" == found.test
            expected = stats.normaltest(d)
        assert expected.statistic == pytest.approx(found.statistic, rel=1e-9)
        assert expected.pvalue == pytest.approx(found.pvalue, rel=1e-6, abs=1e-300)
        below, above = (np.sort(d)[[(n - 1) // 4, n - 1 - (n - 1) // 4]]).tolist()
        reach = 3 * (above - below)
        outside = sum(not below - reach <= one <= above + reach for one in d.tolist())
        assert outside == found.n_outliers
        deviation = abs(d - d.mean()).max() / d.std(ddof=1)
        assert deviation == pytest.approx(found.largest_deviation, rel=1e-12)


def test_dagostino_pearson__scipy() -> None:
    """From moments alone, for laws of every shape."""
    rng = np.random.default_rng(1)
    for draw in (rng.normal, rng.uniform, rng.laplace, rng.exponential, rng.standard_cauchy):
        d = draw(size=6_000)
        expected, found = stats.normaltest(d), check_normality(moments(d), d, equal=False)
        assert expected.statistic == pytest.approx(found.statistic, rel=1e-9)
        # The p-value is exp(-K2 / 2).
        assert expected.pvalue == pytest.approx(
            found.pvalue, rel=1e-9 * (1 + expected.statistic), abs=1e-300
        )


# Moments in one pass


def exact_moments(values: list[float]) -> list[float]:
    """Mean and sums of powers of deviations, in exact fractions."""
    numbers = [Fraction(value) for value in values]
    mean = sum(numbers) / len(numbers)
    return [
        float(mean),
        *(float(sum((one - mean) ** power for one in numbers)) for power in (2, 3, 4)),
    ]


@pytest.mark.parametrize("middle", [0.0, 1e9, -1e9])
def test_differences__far_from_zero(middle: float) -> None:
    """A mean of 1e9 beside a standard deviation of 1, against exact fractions, to 1e-12."""
    d = middle + np.random.default_rng(2).gamma(3.0, size=20_001)
    found = Differences()
    for batch in (d[:1], d[1:9_000], d[9_000:]):
        found.add(batch, None)
    # In units of a power of two, where the largest is below 1.
    units = d / 2.0**found.exponent
    assert 0.5 <= abs(units).max() < 1.0
    mean, *powers = exact_moments(units.tolist())
    assert mean == pytest.approx(found.mean, rel=1e-15)
    # Values are exact multiples of 1e-7 far from 0: nothing is lost by moving them.
    assert powers == pytest.approx(list(found.shifted[2:5]), rel=1e-12)


@given(
    st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=12),
    st.lists(st.integers(-9, 9).map(float), max_size=12),
)
def test_moments__join(first: list[float], second: list[float]) -> None:
    """Joined moments are those of both together, whichever comes first."""
    p = moments(np.array(first))
    q = moments(np.array(second)) if second else Moments()
    expected = exact_moments(first + second)
    size = 1 + sum(abs(one) for one in first + second)
    for joined in (p.join(q), q.join(p)):
        assert joined.n == len(first + second)
        # A few roundings of sums of at most size^4.
        assert expected == pytest.approx(list(joined[1:5]), rel=1e-12, abs=1e-14 * size**4)
        assert (min(first + second), max(first + second)) == (joined.low, joined.high)


# Groups


@pytest.mark.parametrize("n_groups", [2, 7, 200])
def test_paired_t_test__groups(pairs: tuple[Any, Any], n_groups: int) -> None:
    """Cluster-robust error (CR1) by a loop, t with one degree of freedom less than groups."""
    a, b = pairs
    rng = np.random.default_rng(3)
    groups = rng.integers(n_groups, size=a.size)
    found = paired_t_test(a, b, groups=groups, n_resamples=0)
    d = a - b
    sums = np.array([(d[groups == g] - d.mean()).sum() for g in range(n_groups)])
    error = math.sqrt(n_groups / (n_groups - 1) * (sums**2).sum()) / d.size
    assert error == pytest.approx(found.standard_error, rel=1e-9)
    assert ("group", n_groups, n_groups - 1) == (
        found.unit,
        found.n_units,
        found.degrees_of_freedom,
    )
    assert d.mean() / error == pytest.approx(found.t, rel=1e-9)
    expected = 2 * stats.t.sf(abs(found.t), n_groups - 1)
    assert expected == pytest.approx(found.pvalue, rel=1e-9)
    errors = fb.paired_bootstrap(a, b, groups=groups, n_resamples=9, rng=0).analytic_errors
    assert errors is not None
    assert errors.cr1 == pytest.approx(found.standard_error, rel=1e-9)
    assert n_groups == found.normality.n
    if n_groups > 2:
        assert stats.skew(sums) == pytest.approx(found.normality.skewness, rel=1e-6)


def test_paired_t_test__groups_of_one(pairs: tuple[Any, Any]) -> None:
    """With a group for each row the answer is Student's, and so is the effect size."""
    a, b = (column[:50] for column in pairs)
    rows = paired_t_test(a, b, n_resamples=0)
    groups = paired_t_test(a, b, groups=[f"g{i}" for i in range(50)], n_resamples=0)
    assert rows.t == pytest.approx(groups.t, rel=1e-12)
    assert list(rows.effect_size_interval[:2]) == pytest.approx(
        list(groups.effect_size_interval[:2]), rel=1e-9
    )
    assert ("t", "cr1") == (rows.confidence_interval.method, groups.confidence_interval.method)


# Batches


@pytest.fixture
def table(pairs: tuple[Any, Any], tmp_path: Path) -> Path:
    """A Parquet file with small row groups, other columns and groups."""
    a, b = pairs
    path = tmp_path / "scores.parquet"
    columns = {
        "a": a,
        "b": b,
        "document": [f"d{i % 37}" for i in range(a.size)],
        "text": ["x"] * a.size,
    }
    parquet.write_table(pa.table(columns), path, row_group_size=3_000)
    return path


@pytest.mark.parametrize("groups", [None, "document"])
def test_paired_t_test__batches(
    table: Path, groups: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Parquet file and a dataset give batch by batch what they give at once."""
    monkeypatch.setattr("fastboot.companions.batches._ROWS", 1_000)
    whole = paired_t_test("a", "b", data=parquet.read_table(table), groups=groups, n_resamples=0)
    for data in (table, str(table), dataset.dataset(table)):
        found = paired_t_test("a", "b", data=data, groups=groups, n_resamples=0)
        assert (whole.t, whole.pvalue, whole.estimate) == pytest.approx(
            (found.t, found.pvalue, found.estimate), rel=1e-10
        )
        assert whole.n_units == found.n_units
        assert whole.normality.test == found.normality.test
        assert whole.normality[1:3] == pytest.approx(found.normality[1:3], rel=1e-9)
        assert found.normality.n_outliers is None or groups is not None


def test_paired_t_test__never_whole(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without resampling a file is never loaded: only batches are."""
    sizes = []
    from fastboot.companions import batches

    load = batches.__dict__["load"]

    def watched(columns: Any, data: Any, nan_policy: str) -> Any:
        sizes.append(data.num_rows)
        return load(columns, data, nan_policy)

    monkeypatch.setattr(batches, "load", watched)
    monkeypatch.setattr(batches, "_ROWS", 1_000)
    monkeypatch.setattr("fastboot.companions.t_test.load", None)
    assert 20_000 == paired_t_test("a", "b", data=table, n_resamples=0).n_rows
    assert (20_000, True) == (sum(sizes), max(sizes) <= 1_000)


def test_paired_t_test__batches_with_missing_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows with a null are dropped from each batch, even all rows of one; or refused by place."""
    monkeypatch.setattr("fastboot.companions.batches._ROWS", 2)
    path = tmp_path / "scores.parquet"
    columns: dict[str, Any] = {
        "a": [1.0, 2.0, None, 4.0, 7.0, 3.0],
        "b": [0.0, 1.5, 1.0, None, 1.0, 1.0],
    }
    parquet.write_table(pa.table(columns), path)
    found = paired_t_test("a", "b", data=path, nan_policy="omit", n_resamples=0)
    whole = paired_t_test("a", "b", data=columns, nan_policy="omit", n_resamples=0)
    assert (4, 2) == (found.n_rows, found.n_dropped)
    assert whole.t == pytest.approx(found.t, rel=1e-14)
    assert found.notes == (
        "2 rows were dropped for a missing value",
        "only 4 rows: intervals and p-values from so few units are rough",
    )
    columns["document"] = ["x", "y", "z", "z", "x", "y"]  # nothing is left of z
    parquet.write_table(pa.table(columns), path)
    options: dict[str, Any] = {"groups": "document", "nan_policy": "omit", "n_resamples": 0}
    found = paired_t_test("a", "b", data=path, **options)
    whole = paired_t_test("a", "b", data=columns, **options)
    assert (2, 2) == (found.n_units, whole.n_units)
    assert whole.t == pytest.approx(found.t, rel=1e-14)
    with pytest.raises(ValueError, match="has 1 null") as caught:
        paired_t_test("a", "b", data=path, n_resamples=0)
    assert ["in the batch from row 2 on, where row 0 is that row"] == caught.value.__notes__
    parquet.write_table(pa.table({"a": pa.array([None, None], pa.float64())}), path)
    with pytest.raises(ValueError, match="no rows left: all 2 rows have a missing value"):
        paired_t_test("a", data=path, nan_policy="omit", n_resamples=0)
    parquet.write_table(pa.table({"a": pa.array([], pa.float64())}), path)
    with pytest.raises(ValueError, match="is empty; give at least one row"):
        paired_t_test("a", data=path, n_resamples=0)
    with pytest.raises(ValueError, match="no column 'c' in data; there are: a"):
        paired_t_test("c", data=path, n_resamples=0)


# Effect sizes


@pytest.mark.parametrize("df", [3, 14, 99, 9_999])
@pytest.mark.parametrize("t", [0.0, 0.3, 2.148, 20.0])
def test_noncentral_t__scipy(df: int, t: float) -> None:
    """Probabilities by quadrature, against SciPy's where it has them."""
    for shift in (-1.0, 0.0, 1.0, t, t + 2.0):
        expected = stats.nct.cdf(t, df, shift)
        assert expected == pytest.approx(noncentral_t_cdf(t, df, shift), abs=1e-11)


def test_noncentral_t__large() -> None:
    """Where t is large for its degrees of freedom, Z hardly matters: chi decides."""
    for df, t in ((1, 1e6), (3, 1e7), (999, 1e7)):
        low, high = noncentrality_limits(t, df, (0.025, 0.975))
        expected = t * np.sqrt(stats.chi2.ppf([0.025, 0.975], df) / df)
        # The variance of Z adds a relative 1 / limit^2, times the slope of the law of chi.
        assert [low, high] == pytest.approx(expected.tolist(), rel=1e-6)


def test_noncentrality_limits__sides() -> None:
    """They mirror with t, are quantiles of their own, and are undefined where t is."""
    low, high = noncentrality_limits(2.148, 14, (0.025, 0.975))
    assert (-high, -low) == noncentrality_limits(-2.148, 14, (0.025, 0.975))
    assert 0.975 == pytest.approx(stats.nct.cdf(2.148, 14, low), abs=1e-11)
    assert 0.025 == pytest.approx(stats.nct.cdf(2.148, 14, high), abs=1e-11)
    for t, df in ((math.nan, 3), (math.inf, 3), (1.0, 0)):
        assert all(map(math.isnan, noncentrality_limits(t, df, (0.025, 0.975))))


def test_effect_size_interval__published() -> None:
    """Algina and Keselman (2003) and MBESS invert the same law: t = 2.148 with 14 by SciPy's."""
    found = paired_t_test(MAIZE, n_resamples=0)
    low, high = found.effect_size_interval[:2]
    n = len(MAIZE)
    assert 0.975 == pytest.approx(stats.nct.cdf(found.t, n - 1, low * math.sqrt(n)), abs=1e-11)
    assert 0.025 == pytest.approx(stats.nct.cdf(found.t, n - 1, high * math.sqrt(n)), abs=1e-11)
    assert np.mean(MAIZE) / np.std(MAIZE, ddof=1) == pytest.approx(found.cohen_dz, rel=1e-14)
    assert found.hedges_gz_interval.high == pytest.approx(high * found.hedges_gz / found.cohen_dz)
    one_sided = paired_t_test(MAIZE, alternative="greater", n_resamples=0).effect_size_interval
    assert math.inf == one_sided.high
    assert 0.95 == pytest.approx(
        stats.nct.cdf(found.t, n - 1, one_sided.low * math.sqrt(n)), abs=1e-11
    )
    less = paired_t_test(MAIZE, alternative="less", n_resamples=0).effect_size_interval
    assert -math.inf == less.low


def test_hedges_factor__gamma() -> None:
    """By the gamma function; its usual approximation 1 - 3 / (4 df - 1) is near."""
    for df in (2, 3, 14, 100):
        expected = math.gamma(df / 2) / (math.sqrt(df / 2) * math.gamma((df - 1) / 2))
        assert expected == pytest.approx(hedges_factor(df), rel=1e-13)
        assert 1 - 3 / (4 * df - 1) == pytest.approx(expected, abs=0.2 / df**2)
    assert 0.0 == hedges_factor(1)
    assert math.isnan(hedges_factor(0))
    assert 1 - 3 / (4e9 - 1) == pytest.approx(hedges_factor(1_000_000_000), rel=1e-9)


@pytest.mark.slow
def test_effect_size__unbiased_and_covered() -> None:
    """Of 20,000 normal samples of 8: g_z is right on average, and the interval covers 95 %."""
    rng = np.random.default_rng(4)
    n, delta, n_samples = 8, 0.7, 20_000
    x = rng.normal(delta, size=(n_samples, n))
    d_z = x.mean(axis=1) / x.std(axis=1, ddof=1)
    g_z = hedges_factor(n - 1) * d_z
    # Six standard errors: 2e-9.
    assert delta == pytest.approx(g_z.mean(), abs=6 * g_z.std() / math.sqrt(n_samples))
    assert abs(d_z.mean() - delta) > 6 * d_z.std() / math.sqrt(n_samples)
    # delta is inside where its own law gives t a probability between the tails.
    probability = stats.nct.cdf(d_z * math.sqrt(n), n - 1, delta * math.sqrt(n))
    inside = (probability > 0.025) & (probability < 0.975)
    for one, covered in zip(x[:200], inside[:200], strict=True):
        low, high = paired_t_test(one, n_resamples=0).effect_size_interval[:2]
        assert covered == (low < delta < high)
    assert_rate(int(inside.sum()), n_samples, 0.95, detects=0.015)


# Degenerate data


def test_paired_t_test__no_difference() -> None:
    """A system against itself has p = 1 and a point for an interval."""
    found = paired_t_test([1.0, 2.0, 5.0], [1.0, 2.0, 5.0], rng=0)
    assert (0.0, 0.0, 0.0) == (found.estimate, *found.confidence_interval[:2])
    assert {1.0} == {found.pvalue, found.test("greater"), found.test("less")}
    assert math.isnan(found.t)
    assert math.isnan(found.cohen_dz)
    assert found.notes[0].startswith("degenerate: all differences are equal")
    assert found.bootstrap is not None
    assert 1.0 == found.bootstrap.pvalue


@pytest.mark.parametrize("a,b", [([0.3, 0.5], [0.1, 0.3]), ([3.0, 4.0, 5.0], [1.0, 2.0, 3.0])])
def test_paired_t_test__constant(a: list[float], b: list[float]) -> None:
    """Equal differences, even if only up to rounding: a point, t infinite, no p-value."""
    found = paired_t_test(a, b, rng=0)
    low, high = found.confidence_interval[:2]
    assert low == high == found.estimate
    assert (math.inf, 0.0, math.inf) == (found.t, found.standard_error, found.cohen_dz)
    assert math.isnan(found.pvalue)
    assert math.isnan(found.effect_size_interval.low)
    assert found.notes[0].startswith("degenerate")
    assert found.verdict.startswith("There is no p-value")
    assert -math.inf == paired_t_test(b, a, n_resamples=0).t


def test_paired_t_test__one_row() -> None:
    """One pair has a difference, and nothing else."""
    found = paired_t_test([3.0], [1.0], rng=0)
    assert (2.0, 0) == (found.estimate, found.degrees_of_freedom)
    for undefined in (found.t, found.pvalue, found.standard_error, found.confidence_interval.low,
                      found.hedges_gz, found.normality.skewness):  # fmt: skip
        assert math.isnan(undefined)
    assert ("a single row: there is no standard error",) == found.notes
    assert 1.0 == paired_t_test([3.0], [3.0], n_resamples=0).pvalue
    one_group = paired_t_test([3.0, 4.0], [1.0, 1.0], groups=["x", "x"], n_resamples=0)
    assert ("a single group: there is no standard error",) == one_group.notes
    assert math.isnan(one_group.pvalue)


def test_paired_t_test__equal_groups() -> None:
    """Groups with the same mean: no spread between them, whatever rows do."""
    found = paired_t_test([1.1, 3.3, 3.3, 1.1], groups=[0, 0, 1, 1], n_resamples=0)
    assert (0.0, math.inf) == (found.standard_error, found.t)
    assert found.notes[0].startswith("degenerate: all means of groups are equal")


def test_paired_t_test__propagate() -> None:
    """NaN where a score is."""
    found = paired_t_test([1.0, math.nan, 2.0], [0.0, 1.0, 3.0], nan_policy="propagate", rng=0)
    for undefined in (found.estimate, found.t, found.pvalue, found.confidence_interval.low):
        assert math.isnan(undefined)
    grouped = paired_t_test(
        [1.0, math.nan, 2.0], groups=[0, 0, 1], nan_policy="propagate", n_resamples=0
    )
    assert (2, True) == (grouped.n_units, math.isnan(grouped.t))


def test_paired_t_test__pvalue_is_never_0() -> None:
    """Where a p-value has no number it is below the smallest there is."""
    d = np.arange(1_000_000) % 2 + 10.0
    found = paired_t_test(d, n_resamples=0)
    assert 2.2250738585072014e-308 == found.pvalue
    assert "two-sided p < 2.23e-308" in found.summary()
    assert "p < 2.23e-308" in repr(found)
    assert found.normality.pvalue == found.pvalue
    assert "(D'Agostino-Pearson p < 2.23e-308)" in found.verdict


@pytest.mark.parametrize(
    "options,message",
    [
        ({"alternative": "up"}, "`alternative` is 'up'; choose one of two-sided, greater, less"),
        ({"confidence_level": 95}, "`confidence_level` is 95; it must lie between 0 and 1"),
        ({"n_resamples": -1}, "`n_resamples` is -1; it must lie between 0 and 4,294,967,296"),
        ({"n_resamples": 0.0}, "`n_resamples` is 0.0; it must be a whole number"),
        ({"n_resamples": False}, "`n_resamples` is False; it must be a whole number"),
        ({"rng": "x"}, "`rng` is 'x'; give a whole number"),
        ({"b": [1.0]}, "`a` has 2 rows but `b` has 1"),
        ({"groups": [1, None]}, "`groups` has 1 null"),
        ({"nan_policy": "drop"}, "nan_policy='drop'"),
    ],
)
def test_paired_t_test__refuses(options: dict[str, Any], message: str) -> None:
    """By name, as everywhere."""
    with pytest.raises((TypeError, ValueError), match=message.replace("(", r"\(")):
        paired_t_test([1.0, 2.0], **options)


# The answer


def test_result__bootstrap_beside_it(pairs: tuple[Any, Any]) -> None:
    """It is the one that `paired_bootstrap` gives."""
    a, b = (column[:60] for column in pairs)
    groups = [f"g{i % 20}" for i in range(60)]
    options: dict[str, Any] = {"alternative": "less", "n_resamples": 499, "rng": 7}
    for own in (None, groups):
        found = paired_t_test(a, b, groups=own, **options)
        expected = fb.paired_bootstrap(a, b, groups=own, **options)
        assert found.bootstrap is not None
        assert expected.pvalue == found.bootstrap.pvalue
        assert expected.confidence_interval == found.bootstrap.confidence_interval


def test_result__words() -> None:
    """All words at once, on Darwin's maize."""
    found = paired_t_test("d", data={"d": MAIZE}, rng=0)
    assert "PairedTTestResult(20.93 [0.03119, 41.84], p = 0.0497, n_rows=15)" == repr(found)
    assert (
        "Mean difference a - b = 20.93 (20.93 - 0; 15 pairs, standard deviation 37.74), 95% t "
        "interval [0.03119, 41.84]; paired t test t(14) = 2.148, two-sided p = 0.0497; d_z = "
        "0.5546, g_z = 0.5243, 95% noncentral t interval [0.0007042, 1.092] of the effect size; "
        "paired bootstrap p = 0.0251, percentile interval [1.733, 38] (9,999 resamples, seed 0)."
    ) == found.summary()
    assert (
        "a is significantly larger than b (two-sided p = 0.0497, level 0.05). Nothing speaks "
        "against normal differences (Shapiro-Wilk p = 0.0978, though 15 show little): the t test "
        "applies. The paired bootstrap agrees (p = 0.0251)."
    ) == found.verdict
    assert found.signature().endswith(
        "|procedure:paired_t_test|a:d|method:t|confidence_level:0.95|alternative:two-sided|"
        "n_resamples:9999|seed:0|n_rows:15|n_units:15"
    )
    figures = json.loads(found.to_json())
    assert (0.0497, "PairedTTestResult") == (round(figures["pvalue"], 4), figures["kind"])
    assert figures["normality"]["test"] == "Shapiro-Wilk"
    assert figures["pvalue_greater"] + figures["pvalue_less"] == pytest.approx(1.0, rel=1e-15)
    assert "<table>" in found._repr_html_()
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    assert isinstance(copy, PairedTTestResult)
    assert found.to_dict() == copy.to_dict()


def test_verdict__every_case() -> None:
    """What it says of the assumption follows from the test of normality and the skewness."""
    rng = np.random.default_rng(5)
    skewed = rng.exponential(size=2_000)
    cases = [
        (rng.normal(size=100), "Nothing speaks against normal differences"),
        (rng.lognormal(size=40), "do not rely on the t test"),
        (skewed[:400], "read p-values near the level with care"),
        (rng.laplace(size=2_000), "with 2,000 the t test applies all the same"),
    ]
    for d, words in cases:
        found = paired_t_test(d, n_resamples=0)
        assert words in found.verdict, (words, found.verdict, found.tail_change)
    groups = paired_t_test(skewed, groups=np.arange(2_000) % 30, n_resamples=0)
    assert "sums of groups" in groups.verdict


def test_verdict__bootstrap_disagrees() -> None:
    """Fifteen pairs whose t test says p > 0.01 and whose bootstrap says less."""
    found = paired_t_test(MAIZE, confidence_level=0.96, rng=0)
    assert "The paired bootstrap does not agree (p = 0.0251)." in found.verdict
    assert found.verdict.startswith("No significant difference (two-sided p = 0.0497, level 0.04)")


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n", [2, 3, 9, 10, 19, 20])
def test_notes__few_units(n: int, *, grouped: bool) -> None:
    """Said as the bootstrap says it; and where that is far off, beside its p-value too."""
    d = np.random.default_rng(1).normal(2.0, size=n)
    rows = np.repeat(np.arange(n), 2)
    found = (
        paired_t_test(d[rows], groups=rows, n_resamples=99, rng=0) if grouped
        else paired_t_test(d, n_resamples=99, rng=0)
    )  # fmt: skip
    assert found.bootstrap is not None
    noun = "group" if grouped else "row"
    few = [note for note in found.notes if note.startswith("only ")]
    assert few == [note for note in found.bootstrap.notes if note.startswith("only ")]
    assert bool(few) is (n < 20)
    assert (f", rough from only {n} {noun}s)." in found.verdict) is (n < 10)
    assert ("rough" in found.verdict) is (n < 10)


def test_verdict__two_rows() -> None:
    """A bootstrap of two rows has the least p there is, of nothing."""
    found = paired_t_test([1.0, 2.0], [0.0, 0.0], rng=0)
    assert found.verdict.endswith(
        "The paired bootstrap does not agree (p = 0.0001, rough from only 2 rows)."
    )
    assert found.notes == ("only 2 rows: intervals and p-values from so few units are rough",)


@pytest.mark.parametrize(
    "a, groups, words",
    [
        ([1.0, math.nan, 2.0], None, "a value is missing"),
        ([1.0, math.nan, 2.0], [0, 0, 1], "a value is missing"),
        ([math.nan], None, "a value is missing"),
        ([1.0], None, "a single row has no standard error"),
        ([1.0, 2.0], ["x", "x"], "a single group has no standard error"),
        ([1.0, 1.0, 1.0], None, "the differences do not vary"),
        ([1.0, 3.0, 3.0, 1.0], [0, 0, 1, 1], "the means of groups do not vary"),
    ],
)
def test_verdict__why_there_is_no_pvalue(a: list[float], groups: Any, words: str) -> None:
    """The reason, and no other."""
    found = paired_t_test(a, groups=groups, nan_policy="propagate", n_resamples=9, rng=0)
    assert found.verdict == f"There is no p-value: {words}."


def test_notes__outliers() -> None:
    """Differences beyond the outer fences are counted; equal quartiles say nothing."""
    found = paired_t_test([*range(20), 1_000], n_resamples=0)
    (note,) = found.notes
    assert note == (
        "1 difference beyond Tukey's outer fences (the largest 4.363 standard deviations from the "
        "mean)"
    )
    groups = paired_t_test([*range(20), 1_000, -900], groups=range(22), n_resamples=0)
    assert groups.notes[0].startswith("2 groups with a sum beyond Tukey's outer fences")
    assert paired_t_test([0] * 9 + [1], n_resamples=0).normality.n_outliers is None


# Published


def sample_with(mean: float, deviation: float, n: int) -> Any:
    """Return n values of this mean and standard deviation (ddof 1)."""
    z = stats.norm.ppf((np.arange(n) + 0.5) / n)
    return mean + deviation * (z - z.mean()) / z.std(ddof=1)


def test_darwin() -> None:
    """Fisher (1935, section 18): t = 2.148, p = 4.970 % by t (1,726 of 32,768 by all swaps)."""
    found = paired_t_test(MAIZE, n_resamples=0)
    assert ("2.148", "4.970") == (f"{found.t:.3f}", f"{100 * found.pvalue:.3f}")


def test_dror() -> None:
    """One-sided p = 0.00487195100707 of 1,000 pairs, in the README of testSignificanceNLP."""
    d = sample_with(-1.7190431, 20.990674987646045, 1_000)
    found = paired_t_test(d, alternative="less", n_resamples=0)
    assert -2.5897650243243633 == pytest.approx(found.t, rel=1e-12)
    assert "0.00487195100707" == f"{found.pvalue:.14f}"


# Level and coverage


def test_tail_change__first_order() -> None:
    """Tails of 100,000 exponential samples of 400 move as predicted, to second order."""
    rng = np.random.default_rng(6)
    n, n_samples = 400, 100_000
    below = above = 0
    for _ in range(10):
        x = rng.exponential(size=(n_samples // 10, n))
        t = (x.mean(axis=1) - 1.0) / x.std(axis=1, ddof=1) * math.sqrt(n)
        limit = stats.t.ppf(0.975, n - 1)
        below += int((t < -limit).sum())
        above += int((t > limit).sum())
    moved = tail_change(2.0, n, 0.025)
    # The next term is of the order 1 / n: 0.0025 here; six standard errors of a rate of 0.03 are
    # 0.003.
    assert 0.025 * (1 + moved) == pytest.approx(below / n_samples, abs=0.003 + 1 / n)
    assert 0.025 * (1 - moved) == pytest.approx(above / n_samples, abs=0.003 + 1 / n)
    assert 0.3 < moved < 0.4


@pytest.mark.slow
def test_level__normal() -> None:
    """On normal differences the level is exact: 5 % on two sides, 2.5 % on each."""
    rng = np.random.default_rng(7)
    n_samples = 4_000
    found = [paired_t_test(rng.normal(size=6), n_resamples=0) for _ in range(n_samples)]
    assert_rate(sum(one.pvalue <= 0.05 for one in found), n_samples, 0.05, detects=0.035)
    covered = sum(one.confidence_interval.low < 0 < one.confidence_interval.high for one in found)
    assert_rate(covered, n_samples, 0.95, detects=0.035)
    assert_rate(sum(one.test("greater") <= 0.025 for one in found), n_samples, 0.025, detects=0.024)


@pytest.mark.slow
def test_coverage__skewed() -> None:
    """Of 2,000 lognormal samples of 30: Student's t and the percentile interval cover too seldom.

    Measured: t 0.88, percentile 0.87, studentized 0.91. As tests of level 5 % t errs in 11.9 % and
    the paired bootstrap in 13.3 %: they disagree on 1.4 % of the samples, and on 3 % by chance with
    probability below 1e-6 (binomial).
    Every comparison is of the same samples, by the exact sign test at 1e-6; "too seldom" is an
    exact binomial tail of 1e-6.
    """
    rng = np.random.default_rng(8)
    n, n_samples, mean = 30, 2_000, math.exp(0.5)
    covered: dict[str, list[bool]] = {"t": [], "percentile": [], "studentized": []}
    missed_below, rejected = 0, 0
    for seed in range(n_samples):
        x = rng.lognormal(size=n)
        student = paired_t_test(x, n_resamples=0)
        b = np.full(n, mean)
        against = paired_t_test(x, b, n_resamples=999, rng=seed)
        assert against.bootstrap is not None
        rejected += against.bootstrap.pvalue <= 0.05
        inside = student.confidence_interval.low <= mean <= student.confidence_interval.high
        assert inside == (against.pvalue > 0.05)
        resampled = fb.bootstrap(x, method="studentized", n_resamples=999, rng=seed, n_threads=1)
        intervals = {
            "t": student.confidence_interval,
            "percentile": resampled.interval(method="percentile"),
            "studentized": resampled.confidence_interval,
        }
        for name, interval in intervals.items():
            covered[name].append(interval.low <= mean <= interval.high)
        missed_below += student.confidence_interval.high < mean
    count = {name: sum(inside) for name, inside in covered.items()}
    assert stats.binom.cdf(count["t"], n_samples, 0.95) < 1e-6, count
    assert stats.binom.cdf(count["percentile"], n_samples, 0.95) < 1e-6, count
    for name in ("t", "percentile"):
        pairs = list(zip(covered["studentized"], covered[name], strict=True))
        wins, losses = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        assert stats.binomtest(wins, wins + losses, alternative="greater").pvalue < 1e-6, name
    assert stats.binom.sf(rejected - 1, n_samples, 0.05) < 1e-6, rejected
    assert abs(rejected - (n_samples - count["t"])) < 0.03 * n_samples, (rejected, count)
    # Nearly all of the error of t is on one side, as its skewness says.
    n_missed = n_samples - count["t"]
    assert stats.binomtest(missed_below, n_missed, alternative="greater").pvalue < 1e-6


@pytest.mark.parametrize(
    "a,groups",
    [([1.0], None), ([1.0, 1.0], None), ([1.0, 2.0, 4.0], [3, 3, 3]), ([0.3, 0.5, 0.7], None)],
)
def test_summary__resampling_says_nothing(a: list[float], groups: Any) -> None:
    """Resamples that are all alike have the smallest p-value there is: of their number only."""
    b = [0.1, 0.3, 0.5] if a[0] == 0.3 else [0.0] * len(a)  # equal but for rounding
    result = paired_t_test(a, b, groups=groups, n_resamples=99, rng=0)

    assert not result.resampling_says
    assert result.summary().endswith("; paired bootstrap says nothing (99 resamples, seed 0).")
    assert math.isnan(result.pvalue)


def test_summary__resampling_of_equal_systems() -> None:
    """Both have p = 1."""
    result = paired_t_test([1.0, 2.0], [1.0, 2.0], n_resamples=99, rng=0)

    assert "paired bootstrap p = 1, percentile interval [0, 0] (99 resamples" in result.summary()


@pytest.mark.parametrize("size", [1.0, 1e6, 1e13, 1e300])
@pytest.mark.parametrize("place", [0, 5])
@pytest.mark.parametrize("grouped", [False, True])
def test_large_pair__equal_in_both(size: float, place: int, *, grouped: bool) -> None:
    """A pair without a difference is that, however large: others keep theirs (SciPy on a - b).

    Groups of one row have the same error as rows.
    """
    a = np.insert([0.005, 0.006, 0.007, 0.002, 0.003], place, size)
    b = np.insert([0.001, 0.001, 0.003, 0.004, 0.001], place, size)
    found = paired_t_test(a, b, groups=np.arange(6) if grouped else None, n_resamples=0)
    expected = stats.ttest_1samp(a - b, 0.0)

    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.estimate == pytest.approx((a - b).mean(), rel=1e-12)
    assert found.standard_deviation == pytest.approx((a - b).std(ddof=1), rel=1e-12)


@pytest.mark.parametrize("n_resamples", [0, 99])
def test_where__is_said(n_resamples: int) -> None:
    """Rows that count, and those dropped: in sentence, signature and figures, as of a bootstrap."""
    table = pa.table({
        "x": [1.0, 2.0, 4.0, 3.0, None, 9.0], "y": [0.5, 2.5, 1.0, 1.0, 1.0, 1.0],
        "split": ["test", "test", "test", "test", "test", "dev"],
    })  # fmt: skip
    options: dict[str, Any] = {"data": table, "nan_policy": "omit", "rng": 0}
    where = [("split", "==", "test")]
    found = paired_t_test("x", "y", where=where, n_resamples=n_resamples, **options)
    other = fb.paired_bootstrap("x", "y", where=where, n_resamples=99, **options)
    every = paired_t_test("x", "y", n_resamples=n_resamples, **options)

    said = "where split == 'test', 1 row with a missing value dropped"
    assert f"(2.5 - 1.25; 4 pairs {said}, standard deviation" in found.summary()
    for part in ("where split == 'test'", "1 row with a missing value dropped"):
        assert part in other.summary()
    for one in (found, other):
        assert "|where:split == 'test'|" in one.signature()
        assert "|nan_policy:omit|n_dropped:1" in one.signature()
    assert found.to_dict()["design"] == other.to_dict()["design"] == "where split == 'test'"
    assert found.to_dict()["columns"] == {"a": "x", "b": "y"}
    assert "where" not in every.summary() + every.signature()
    assert every.to_dict()["design"] == ""
