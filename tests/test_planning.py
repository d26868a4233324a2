"""Sizes and powers of experiments, against closed forms, libraries, brute force and simulations."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statistical import assert_rate

import fastboot as fb
from fastboot import power_formulas as formulas
from fastboot.analytic import wilson
from fastboot.power_formulas import minimum_detectable_effect
from fastboot.sizing.planning import power, sample_size

# statsmodels 0.15.0: TTestPower().power(effect_size, nobs, alpha, alternative=...).
T_POWERS = [
    (0.2, 50, 0.05, "two-sided", 0.2835924146674735),
    (0.5, 20, 0.05, "two-sided", 0.5645044184390203),
    (0.1, 1_000, 0.01, "two-sided", 0.7194460227945852),
    (0.05, 3_000, 0.05, "two-sided", 0.7816495145647636),
    (0.3, 40, 0.05, "greater", 0.5868483569960783),
    # R 3, pwr.t.test(type = "one.sample"), as quoted in the tests of statsmodels.
    (0.2, 20, 0.05, "two-sided", 0.1359562887679666),
    (1.0, 30, 0.05, "greater", 0.999892010204909),
    (0.05, 20, 0.05, "greater", 0.0764888785042198),
    (0.2, 20, 0.05, "less", 0.006063932667926375),
    (-0.2, 20, 0.05, "less", 0.21707518167191),
]
# statsmodels 0.15.0: TTestPower().solve_power(effect_size, power=..., alpha=0.05).
T_SIZES = [(0.2, 0.8, 198.150820955562), (0.5, 0.9, 43.99548069841475),
           (0.05, 0.8, 3141.4654741036425)]  # fmt: skip
# statsmodels 0.15.0: samplesize_confint_proportion(proportion, half_length).
PROPORTION_SIZES = [
    (0.5, 0.01, 9603.647051735317), (0.9, 0.01, 3457.3129386247138),
    (0.5, 0.02, 2400.9117629338293), (0.9, 0.02, 864.3282346561784),
    (0.5, 0.03, 1067.0718946372576), (0.9, 0.05, 138.29251754498853),
]  # fmt: skip
effects = st.floats(0.02, 0.9)
alternatives = st.sampled_from(["two-sided", "greater"])


# Half-widths


@pytest.mark.parametrize("proportion, half_width, expected", PROPORTION_SIZES)
def test_proportion__statsmodels(proportion: float, half_width: float, expected: float) -> None:
    """The next whole number."""
    result = sample_size(half_width=half_width, proportion=proportion)
    assert result.n_items == math.ceil(expected)


@given(st.floats(0.003, 0.3), st.floats(0.0, 1.0), st.floats(0.5, 0.999))
def test_wilson__closed_form(half_width: float, proportion: float, level: float) -> None:
    """The half-width at n is that of the interval of a count, and one item fewer is too wide."""
    options: dict[str, Any] = {"proportion": proportion, "confidence_level": level}
    n = sample_size(half_width=half_width, method="wilson", **options).n_items
    tail = (1.0 - level) / 2.0
    assert formulas.proportion_half_width(n, proportion, tail, "wilson") <= half_width
    if n > 1:
        assert formulas.proportion_half_width(n - 1, proportion, tail, "wilson") > half_width


def test_wilson__half_width_is_that_of_the_interval() -> None:
    """Of 30 in 100."""
    low, high = wilson(30, 100)[:2]
    found = formulas.proportion_half_width(100, 0.3, 0.025, "wilson")
    assert pytest.approx((high - low) / 2.0, rel=1e-13) == found


def test_worst_case__is_a_half() -> None:
    """No proportion needs more."""
    for method in ("normal", "wilson"):
        worst = sample_size(half_width=0.04, method=method).n_items
        assert worst == sample_size(half_width=0.04, method=method, proportion=0.5).n_items
        for proportion in (0.02, 0.3, 0.51, 0.98):
            one = sample_size(half_width=0.04, method=method, proportion=proportion)
            assert one.n_items <= worst


def test_mean__is_the_smallest_n_of_students_interval() -> None:
    """By looking at every n."""

    def reach(n: int) -> float:
        return float(stats.t.ppf(0.975, n - 1) * 0.3 / math.sqrt(n))

    expected = next(n for n in range(2, 10_000) if reach(n) <= 0.02)
    result = sample_size(half_width=0.02, std=0.3)
    assert result.n_items == expected
    assert pytest.approx(reach(expected), rel=1e-12) == result.attained


# Tests


@pytest.mark.parametrize("size, n, alpha, alternative, expected", T_POWERS)
def test_paired_t__statsmodels_and_r(
    size: float, n: int, alpha: float, alternative: str, expected: float
) -> None:
    """Eight digits at least; R's noncentral t has no more."""
    result = power(
        effect=size * 0.4, std_of_difference=0.4, n_items=n, alpha=alpha, alternative=alternative
    )
    assert pytest.approx(expected, rel=1e-8) == result.power


@pytest.mark.parametrize("size, target, expected", T_SIZES)
def test_paired_t__sizes_of_statsmodels(size: float, target: float, expected: float) -> None:
    """The next whole number."""
    result = sample_size(effect=size, std_of_difference=1.0, power=target)
    assert result.n_items == math.ceil(expected)


def test_connor__published_formula() -> None:
    """Connor (1987, page 209) with cells 0.45 and 0.05: 23 pairs, as calculators have it."""
    result = sample_size(effect=0.4, discordance=0.5, method="connor")
    z, z_power = stats.norm.isf(0.025), stats.norm.isf(0.2)
    n = ((z * math.sqrt(0.5) + z_power * math.sqrt(0.5 - 0.4**2)) / 0.4) ** 2
    assert result.n_items == math.ceil(n) == 23


def test_connor__all_pairs_favour_one() -> None:
    """No spread: the power is 0 or 1."""
    assert power(effect=1.0, discordance=1.0, method="connor", n_items=3).power == 0.0
    assert power(effect=1.0, discordance=1.0, method="connor", n_items=4).power == 1.0


def test_connor__is_near_the_exact_power() -> None:
    """Within three points of it at a thousand items, on the higher side: the test is discrete."""
    exact = power(effect=0.04, discordance=0.2, n_items=1_000).power
    connor = power(effect=0.04, discordance=0.2, n_items=1_000, method="connor").power
    assert 0.0 < connor - exact < 0.03


@settings(deadline=None, max_examples=50)
@given(effects, st.floats(0.0, 1.0), st.floats(0.3, 0.95), alternatives)
def test_mcnemar__one_item_fewer_is_not_enough(
    effect: float, more: float, target: float, alternative: str
) -> None:
    """And no larger number, in a window of twice the waves, falls back below."""
    options: dict[str, Any] = {
        "effect": effect, "discordance": effect + more * (1.0 - effect), "alternative": alternative,
    }  # fmt: skip
    n = sample_size(power=target, **options).n_items
    assert n == 1 or power(n_items=n - 1, **options).power < target
    for larger in range(n, n + math.ceil(8.0 / effect), 1 if n < 200 else 7):
        assert power(n_items=larger, **options).power >= target


def test_mcnemar__waves_are_waited_for() -> None:
    """All items differ: 3,166 reach the power, 3,212 do not."""
    options: dict[str, Any] = {"effect": 0.05, "discordance": 1.0}
    assert power(n_items=3_166, **options).power >= 0.8 > power(n_items=3_212, **options).power
    assert sample_size(**options).n_items == 3_213


@pytest.mark.parametrize("discordance, target, worth, waves", [
    (0.9674609375, 1 / 3, {}, True),
    (0.9674609375, 1 / 3, {"cluster_size": 2, "icc": 0.5}, True),  # a cluster counts for 4 / 3
    (0.9674609375, 1 / 3, {"cluster_size": 3, "icc": 1.0}, True),  # and for one item
    (0.85, 1 / 3, {}, False),
])  # fmt: skip
def test_mcnemar__waves_of_odd_and_even_alike(
    discordance: float, target: float, worth: dict[str, Any], waves: bool
) -> None:
    """Numbers of discordant items may be odd or even, and most items differ: it falls back too."""
    options: dict[str, Any] = {
        "effect": 0.02, "discordance": discordance, "alternative": "greater", **worth,
    }  # fmt: skip
    size = worth.get("cluster_size", 1)
    found = sample_size(power=target, **options).n_items

    nearby = range(found - 100 * size, found + 400 * size, size)
    reached = [power(n_items=n, **options).power >= target for n in nearby]
    assert reached.index(True) < 100 if waves else reached.index(True) == 100
    assert not reached[99]
    assert all(reached[100:])


@settings(deadline=None, max_examples=50)
@given(effects, st.floats(0.1, 3.0), st.floats(0.3, 0.95), alternatives)
def test_paired_t__one_item_fewer_is_not_enough(
    effect: float, std: float, target: float, alternative: str
) -> None:
    """The size and the power are inverse."""
    options: dict[str, Any] = {
        "effect": effect, "std_of_difference": std, "alternative": alternative,
    }  # fmt: skip
    n = sample_size(power=target, **options).n_items
    assert power(n_items=n, **options).power >= target
    assert power(n_items=n - 1, **options).power < target


def test_sides_mirror() -> None:
    """A negative effect to the left is a positive one to the right."""
    for known in ({"discordance": 0.3}, {"discordance": 0.3, "method": "connor"},
                  {"std_of_difference": 0.7}):  # fmt: skip
        options: dict[str, Any] = known
        right = power(effect=0.1, alternative="greater", n_items=90, **options).power
        left = power(effect=-0.1, alternative="less", n_items=90, **options).power
        assert pytest.approx(right, rel=1e-12) == left
        two = [power(effect=effect, n_items=90, **options).power for effect in (0.1, -0.1)]
        assert pytest.approx(two[0], rel=1e-12) == two[1]


# Clusters


def test_clusters__cost_their_design_effect() -> None:
    """Items of clusters of ten with icc 0.2 are worth 1 / 2.8 (Kish 1965)."""
    alone = sample_size(half_width=0.02).n_items
    result = sample_size(half_width=0.02, cluster_size=10, icc=0.2)
    assert result.n_clusters == math.ceil(alone * 2.8 / 10)
    assert result.n_items == 10 * result.n_clusters
    assert "assuming a proportion of 0.5 (the worst case) and clusters of 10 items" in (
        result.summary()
    )


@pytest.mark.parametrize(
    "known",
    [
        {"half_width": 0.05},
        {"half_width": 0.05, "std": 0.3},
        {"effect": 0.1, "discordance": 0.4},
        {"effect": 0.1, "discordance": 0.4, "method": "connor"},
        {"effect": 0.1, "std_of_difference": 0.6},
    ],
)
def test_clusters__of_one_item_are_items(known: dict[str, Any]) -> None:
    """Whatever the correlation inside."""
    clustered = sample_size(**known, cluster_size=1, icc=0.7)
    assert clustered.n_items == sample_size(**known).n_items


@pytest.mark.parametrize("known", [{"discordance": 0.4}, {"std_of_difference": 0.6}])
def test_clusters__one_fewer_is_not_enough(known: dict[str, Any]) -> None:
    """The size and the power are inverse, in whole clusters."""
    options = known | {"effect": 0.1, "cluster_size": 7, "icc": 0.15}
    n = sample_size(**options).n_items
    assert power(n_items=n, **options).power >= 0.8 > power(n_items=n - 7, **options).power


@pytest.mark.slow
def test_clusters__simulated() -> None:
    """The cluster-robust t-test has the power that was planned.

    4,000 experiments of 30 clusters of 5 with icc 0.3, effects and errors normal: the means of
    clusters are a sample of 30, and the formula is exact (false failure 1e-6).
    """
    rng, icc, size, n = np.random.default_rng(45), 0.3, 5, 30
    shared = rng.normal(0.3, math.sqrt(icc), (4_000, n, 1))
    means = (shared + rng.normal(0.0, math.sqrt(1.0 - icc), (4_000, n, size))).mean(axis=2)
    count = int((stats.ttest_1samp(means, 0.0, axis=1).pvalue <= 0.05).sum())
    planned = power(effect=0.3, std_of_difference=1.0, cluster_size=size, icc=icc, n_items=n * size)
    assert_rate(count, 4_000, planned.power, detects=0.07)


@pytest.mark.slow
def test_mcnemar__simulated() -> None:
    """20,000 experiments with the size planned have the power planned (false failure 1e-6)."""
    n = sample_size(effect=0.06, discordance=0.2).n_items
    wins, losses, _ = np.random.default_rng(46).multinomial(n, [0.13, 0.07, 0.8], 20_000).T
    p = 2.0 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5)
    planned = power(effect=0.06, discordance=0.2, n_items=n).power
    assert_rate(int((p <= 0.05).sum()), 20_000, planned, detects=0.025)


# Pilots


def test_pilot__t_is_that_of_each_experiment() -> None:
    """The statistic of the one bootstrap is SciPy's, and with groups the cluster-robust one."""
    from fastboot.sizing.pilots import _ClusteredT, _StudentT

    d = np.random.default_rng(47).normal(0.1, 1.0, 40)
    found = fb.bootstrap(_StudentT(d), n_resamples=1, rng=0).estimate
    assert pytest.approx(stats.ttest_1samp(d, 0.0).statistic, rel=1e-12) == found
    sizes = np.random.default_rng(48).integers(1, 5, 40).astype(float)
    mean = d.sum() / sizes.sum()
    error = math.sqrt(40 / 39 * ((d - mean * sizes) ** 2).sum()) / sizes.sum()
    found = fb.bootstrap(_ClusteredT(d, sizes), n_resamples=1, rng=0).estimate
    assert pytest.approx(mean / error, rel=1e-12) == found


def test_pilot__normal_scores_have_the_power_of_the_formula() -> None:
    """5,000 pilot items: their law is normal but for 0.02 or so.

    9,999 experiments of 60 items (false failure 1e-6).
    """
    d = stats.norm.ppf((np.arange(5_000) + 0.5) / 5_000)
    result = power(d, np.zeros(5_000), n_items=60, effect=0.3, rng=0)
    planned = power(effect=0.3, std_of_difference=float(d.std()), n_items=60).power
    assert_rate(round(result.power * 9_999), 9_999, planned, detects=0.04)
    assert pytest.approx(math.sqrt(planned * (1.0 - planned) / 9_999), rel=0.1) == (
        result.standard_error
    )


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("effect", [None, 0.5])
def test_pilot__of_float32(effect: float | None, *, grouped: bool) -> None:
    """Scores that were float32 have the power of those that were not.

    (It was 0 or 1: the infinite t of equal differences was taken for rounding of all the others.)
    """
    rng = np.random.default_rng(3)
    options: dict[str, Any] = {"n_items": 30, "effect": effect, "rng": 0}
    if grouped:
        options["groups"] = np.arange(60) // 2
    single = rng.normal(0.2, 1.0, 60).astype(np.float32).astype(float)
    double = single * (1.0 + 1e-12)
    found, expected = (power(one, np.zeros(60), **options).power for one in (single, double))
    assert found == pytest.approx(expected, abs=2e-4)
    assert 0.05 < found < 0.95
    far = power(double + 1e9, np.full(60, 1e9), **options).power
    assert far == pytest.approx(expected, abs=2e-4)


def test_pilot__effect_none_takes_the_pilots() -> None:
    """And a given one moves the differences."""
    rng = np.random.default_rng(49)
    a, b = rng.normal(0.2, 1.0, 50), rng.normal(0.0, 1.0, 50)
    own = power(a, b, n_items=80, rng=1)
    given_one = power(a, b, n_items=80, rng=1, effect=float((a - b).mean()))
    assert pytest.approx(own.power, abs=2e-4) == given_one.power
    assert pytest.approx((a - b).mean()) == own.inputs["effect"]
    nothing = power(a, b, n_items=80, rng=1, effect=0.0)
    assert_rate(round(nothing.power * 9_999), 9_999, 0.05, detects=0.02)


def test_pilot__columns_groups_and_sides() -> None:
    """Groups are drawn whole; sides mirror."""
    rng = np.random.default_rng(50)
    shared = np.repeat(rng.normal(0.0, 1.0, 40), 5)
    data = {
        "a": shared + rng.normal(0.3, 0.5, 200),
        "b": np.zeros(200),
        "user": np.repeat(np.arange(40), 5),
    }
    grouped = power("a", "b", data=data, groups="user", n_items=100, rng=0)
    assert (grouped.n_items, grouped.n_clusters) == (100, 20)
    alone = power("a", "b", data=data, n_items=100, rng=0)
    assert grouped.power < alone.power
    assert "differences like those of the pilot's 40 groups" in grouped.summary()
    right = power("a", "b", data=data, n_items=100, rng=0, alternative="greater")
    assert "the power of the one-sided (greater) paired t-test at level" in right.summary()
    left = power("b", "a", data=data, n_items=100, rng=0, alternative="less")
    assert right.power == left.power


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_pilot__other_tests_agree_with_t(test: str) -> None:
    """400 experiments of 50 items; 20 points of power would be seen (false failure 1e-6)."""
    d = np.random.default_rng(51).normal(0.35, 1.0, 100)
    zeros = np.zeros(100)
    planned = power(d, zeros, n_items=50, rng=0).power
    result = power(d, zeros, n_items=50, rng=0, test=test, n_resamples=400)
    assert_rate(round(result.power * 400), 400, planned, detects=0.2)
    groups = np.repeat(np.arange(25), 4)
    grouped = power(d, zeros, groups=groups, n_items=80, rng=0, test=test, n_resamples=20)
    assert 0.0 <= grouped.power <= 1.0


@pytest.mark.parametrize("test", ["t", "bootstrap", "randomization"])
@pytest.mark.parametrize("effect", [None, 0.5])
@pytest.mark.parametrize(
    "a, b, options, message",
    [
        ([1.0], [0.0], {},
         ("`pilot_a` has 1 row, which shows no spread; give a pilot of two rows at least, or plan "
          "from `effect` and `std_of_difference`")),
        ([1.0, math.nan], [0.0, 1.0], {"nan_policy": "propagate"},
         ("`nan_policy` is 'propagate', but no experiment can be drawn from NaN; choose 'raise' or "
          "'omit'")),
        ([1.0, math.nan], [0.0, 1.0], {"nan_policy": "omit"},
         "`pilot_a` has 1 row left, which shows no spread"),
        ([1.0, 2.0, 5.0], [0.0] * 3, {"groups": ["x"] * 3},
         "`groups` has 1 group, which shows no spread; give a pilot of two groups at least"),
        ([1.0, 2.0, math.nan], [0.0] * 3, {"groups": ["x", "x", "y"], "nan_policy": "omit"},
         "`groups` has 1 group left, which shows no spread"),
        ([1.0] * 5, [0.0] * 5, {},
         ("`pilot_a` and `pilot_b` differ by 1 in all 5 rows, which shows no spread; give a pilot "
          "whose differences vary, or plan from `effect` and `std_of_difference`")),
        ([0.1, 0.7, 0.4], [0.1, 0.7, 0.4], {}, "`pilot_b` differ by 0 in all 3 rows"),
        # In binary 0.3 - 0.2 is not 0.2 - 0.1.
        ([0.3, 0.2, 1.1], [0.2, 0.1, 1.0], {}, "differ by 0.1 in all 3 rows"),
        ([5.0, 6.0, 7.0], [4.0, 5.0, 6.0], {"groups": [3, 4, 3]},
         "differ by 1 on average in all 2 groups, which shows no spread"),
        # Rows vary, but whole groups are drawn, of the same mean.
        ([0.1, 0.7, 0.4, 0.4, 0.7, 0.1, 0.4], [0.0] * 7, {"groups": [1, 1, 1, 2, 2, 2, 3]},
         "differ by 0.4 on average in all 3 groups"),
    ],
)  # fmt: skip
def test_pilot__no_spread(
    a: list[float], b: list[float], options: dict[str, Any], message: str, effect: float | None,
    test: str,
) -> None:  # fmt: skip
    """Power 1 with a Monte Carlo error of 0 would be made of nothing."""
    with pytest.raises(ValueError, match=re.escape(message)):
        power(a, b, n_items=30, effect=effect, test=test, rng=0, n_resamples=9, **options)


def test_pilot__no_spread_of_large_groups() -> None:
    """Sums of the same 1,000 differences in another order are equal but for rounding."""
    rng = np.random.default_rng(52)
    d, groups = rng.normal(0.3, 1.0, 1_000), np.repeat(np.arange(20), 1_000)
    a = np.concatenate([rng.permutation(d) for _ in range(20)])
    with pytest.raises(ValueError, match="on average in all 20 groups, which shows no spread"):
        power(a, np.zeros(20_000), n_items=20_000, groups=groups, rng=0)
    a[0] += 1e-6
    assert power(a, np.zeros(20_000), n_items=20_000, groups=groups, rng=0).power == 1.0


def test_pilot__small_spread() -> None:
    """What is no rounding is spread, even in one row and far from 0."""
    a = np.full(20, 1e6)
    a[3] += 1e-6
    assert power(a, np.zeros(20), n_items=10, rng=0).power == 1.0


def test_pilot__experiments_of_equal_differences() -> None:
    """Of two items: 1, 1 has an infinite t, significant; 0, 0 and 0, 1 have t = 0 and 1."""
    result = power([1, 1, 1, 0], [0, 0, 0, 0], n_items=2, rng=0)
    assert_rate(round(result.power * 9_999), 9_999, 9 / 16, detects=0.04)


def test_pilot__seed_reproduces() -> None:
    """Fresh entropy is recorded."""
    a, b = [1, 0, 1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1, 1, 0]
    first = power(a, b, n_items=30)
    assert power(a, b, n_items=30, rng=first.seed).power == first.power


# Detectable effects


@given(st.floats(0.001, 10.0), st.floats(0.001, 0.2), st.floats(0.3, 0.99), alternatives)
def test_minimum_detectable_effect__has_the_power(
    error: float, alpha: float, target: float, alternative: str
) -> None:
    """The normal test shows it with that power, the wrong side (below alpha / 2) left out."""
    effect = minimum_detectable_effect(error, alpha=alpha, power=target, alternative=alternative)
    tail = alpha / 2.0 if alternative == "two-sided" else alpha
    assert pytest.approx(target, rel=1e-9) == stats.norm.sf(stats.norm.isf(tail) - effect / error)


def test_minimum_detectable_effect__published() -> None:
    """Bloom (1995): 2.80 standard errors two-sided, 2.49 one-sided, at 0.05 and 0.80."""
    assert round(minimum_detectable_effect(1.0), 2) == 2.80
    assert round(minimum_detectable_effect(1.0, alternative="greater"), 2) == 2.49
    assert math.isnan(minimum_detectable_effect(math.nan))


def test_minimum_detectable_effect__of_a_result() -> None:
    """Its standard error."""
    result = fb.paired_bootstrap([1, 1, 0, 1, 0], [0, 1, 0, 0, 1], rng=0)
    expected = minimum_detectable_effect(result.standard_error)
    assert minimum_detectable_effect(result) == expected


@pytest.mark.parametrize(
    "a, b, options",
    [
        ([1.0] * 5, [0.0] * 5, {}),
        # The same but for rounding: the standard error is 1e-17.
        ([0.3, 0.2, 1.1, 0.9], [0.2, 0.1, 1.0, 0.8], {}),
        # Two resamples with the same mean, which is not that of the data.
        ([0.0] * 9 + [1.0], [0.0] * 10, {"n_resamples": 2, "rng": 14}),
    ],
)
def test_minimum_detectable_effect__no_spread(
    a: list[float], b: list[float], options: dict[str, Any]
) -> None:
    """Nothing can be said, of a result or a pair: 0 would make every effect detectable."""
    options = {"n_resamples": 99, "rng": 0} | options
    result = fb.paired_bootstrap(a, b, **options)
    (detectable,) = fb.compare({"a": a, "b": b}, **options).pairs.to_columns()["detectable"]

    assert result.standard_error == pytest.approx(0.0, abs=1e-16)
    assert math.isnan(minimum_detectable_effect(result))
    assert math.isnan(result.detectable_effect)
    assert math.isnan(detectable)


def test_minimum_detectable_effect__of_equal_differences() -> None:
    """Nor of a standard error of 0, whosever it is."""
    assert math.isnan(minimum_detectable_effect(fb.paired_t_test([1.0] * 5, [0.0] * 5, rng=0)))
    assert math.isnan(minimum_detectable_effect(0))


# Words and refusals


def test_words() -> None:
    """Sentences with every assumption, JSON, HTML, one line."""
    size = sample_size(effect=0.02, discordance=0.15)
    assert size.summary() == (
        "A power of 0.8 of the two-sided exact McNemar test at level 0.05 takes 3,028 items, "
        "assuming a true difference of 0.02, answers that differ on 15% of the items and "
        "independent items."
    )
    assert repr(size) == (
        "SampleSize(3,028 items for a power of 0.8: two-sided exact McNemar test at level 0.05)"
    )
    assert json.loads(size.to_json())["discordance"] == 0.15
    assert "3,028" in size._repr_html_()
    one = power(effect=0.02, std_of_difference=0.3, n_items=500)
    assert one.summary() == (
        "With 500 items the power of the two-sided paired t-test at level 0.05 is 0.3187, "
        "assuming a true difference of 0.02, normal differences with a standard deviation of 0.3 "
        "and independent items."
    )
    assert repr(one) == "Power(0.3187 with 500 items: two-sided paired t-test at level 0.05)"
    assert json.loads(one.to_json())["n_items"] == 500
    pilot = power([1, 0, 1, 1], [0, 0, 1, 0], n_items=9, rng=3, n_resamples=99)
    assert "(99 experiments drawn, seed 3; Monte Carlo standard error" in pilot.summary()


HALF_WIDTH: dict[str, Any] = {"half_width": 0.1, "cluster_size": 4, "icc": 0.1}
MCNEMAR: dict[str, Any] = {"effect": 0.2, "discordance": 0.3, "cluster_size": 4, "icc": 0.1}


@pytest.mark.parametrize(
    "function,usual,others,said",
    [
        (sample_size, HALF_WIDTH,
         [{"half_width": 0.2}, {"proportion": 0.4}, {"method": "wilson"}, {"std": 0.5},
          {"confidence_level": 0.9}, {"cluster_size": 5}, {"icc": 0.2}],
         ("half_width:0.1|proportion:0.5|confidence_level:0.95|method:normal|cluster_size:4|"
          "icc:0.1")),
        (sample_size, {"half_width": 0.1, "std": 0.5}, [{"std": 0.4}, {"confidence_level": 0.9}],
         "half_width:0.1|std:0.5|confidence_level:0.95"),
        (sample_size, MCNEMAR,
         [{"effect": 0.1}, {"discordance": 0.4}, {"alpha": 0.1}, {"alternative": "greater"},
          {"method": "connor"}, {"power": 0.9}, {"cluster_size": 5}, {"icc": 0.2}],
         ("power:0.8|effect:0.2|discordance:0.3|alpha:0.05|alternative:two-sided|method:exact|"
          "cluster_size:4|icc:0.1")),
        (power, MCNEMAR | {"n_items": 40},
         [{"effect": 0.1}, {"discordance": 0.4}, {"alpha": 0.1}, {"alternative": "greater"},
          {"method": "connor"}, {"n_items": 80}, {"cluster_size": 5}, {"icc": 0.2}],
         ("effect:0.2|discordance:0.3|alpha:0.05|alternative:two-sided|method:exact|"
          "cluster_size:4|icc:0.1|n_items:40")),
        (power, {"effect": 0.2, "std_of_difference": 0.5, "n_items": 40},
         [{"std_of_difference": 0.4}, {"n_items": 41}, {"alternative": "greater"}],
         "effect:0.2|std_of_difference:0.5|alpha:0.05|alternative:two-sided|n_items:40"),
    ],
)  # fmt: skip
def test_signature(
    function: Any, usual: dict[str, Any], others: list[dict[str, Any]], said: str
) -> None:
    """The line names every number and word, defaults too; what differs in one has another."""
    signatures = [function(**usual | other).signature() for other in [{}, *others]]

    start = f"fastboot:{fb.__version__}|procedure:{function.__name__}"
    assert signatures[0] == f"{start}|{said}"
    assert len(set(signatures)) == len(signatures)


def test_signature__pilot() -> None:
    """Of a pilot the line names the columns, its size and the run."""
    table = {"x": [1, 0, 1, 1], "y": [0, 0, 1, 0], "user": [1, 1, 2, 3], "hole": [0, 1, None, 1]}

    def signed(a: str = "x", b: str = "y", **options: Any) -> str:
        usual: dict[str, Any] = {"n_items": 9, "rng": 3, "n_resamples": 29, "data": table}
        return power(a, b, **usual | options).signature()

    assert signed(groups="user") == (
        f"fastboot:{fb.__version__}|procedure:power|pilot_a:x|pilot_b:y|groups:user|effect:0.5|"
        "alpha:0.05|alternative:two-sided|test:t|n_items:9|n_resamples:29|seed:3|n_rows:4|n_units:3"
    )
    dropped = signed(b="hole", nan_policy="omit")
    assert dropped.endswith("|n_rows:3|n_units:3|nan_policy:omit|n_dropped:1")
    different = [
        signed(), signed("y", "x"), signed(groups="user"), signed(effect=0.3), signed(alpha=0.1),
        signed(alternative="less"), signed(test="bootstrap"), signed(test="randomization"),
        signed(n_items=10), signed(n_resamples=30), signed(rng=4), dropped,
    ]  # fmt: skip
    assert len(set(different)) == len(different)


@pytest.mark.parametrize(
    "error, message, options",
    [
        (TypeError, "sample_size() needs one of: `half_width` and `std`", {}),
        (TypeError, "got `effect`", {"effect": 0.1}),
        (TypeError, "the half-width of a proportion; that takes `half_width`, `proportion`",
         {"half_width": 0.1, "discordance": 0.2}),
        (TypeError, "sample_size() got `power`, which does not belong to the half-width",
         {"half_width": 0.1, "power": 0.8}),
        (TypeError, "got `proportion`, which does not belong to the half-width of a mean",
         {"half_width": 0.1, "std": 1.0, "proportion": 0.3}),
        (TypeError, "got `std_of_difference`, which does not belong to a difference of 0/1 answers",
         {"effect": 0.1, "discordance": 0.2, "std_of_difference": 1.0}),
        (TypeError, "`icc` is given but `cluster_size` is not", {"half_width": 0.1, "icc": 0.1}),
        (TypeError, "`cluster_size` is given but `icc` is not",
         {"half_width": 0.1, "cluster_size": 2}),
        (TypeError, "`half_width` is '1'; it must be a number", {"half_width": "1"}),
        (TypeError, "`cluster_size` is 2.5; it must be a whole number",
         {"half_width": 0.1, "cluster_size": 2.5, "icc": 0.1}),
        (ValueError, "`cluster_size` is 0; it must be 1 or more",
         {"half_width": 0.1, "cluster_size": 0, "icc": 0.1}),
        (ValueError, "`icc` is 2; it must lie between 0 and 1",
         {"half_width": 0.1, "cluster_size": 2, "icc": 2}),
        (ValueError, "`half_width` is 0; it must be above 0", {"half_width": 0.0}),
        (ValueError, "`half_width` is nan; it must be finite", {"half_width": math.nan}),
        (ValueError, "`proportion` is 1, where the normal interval has no width",
         {"half_width": 0.1, "proportion": 1.0}),
        (ValueError, "`method` is 'exact'; choose one of normal, wilson",
         {"half_width": 0.1, "method": "exact"}),
        (ValueError, "`method` is 'wilson'; choose one of exact, connor",
         {"effect": 0.1, "discordance": 0.2, "method": "wilson"}),
        (ValueError, "`effect` is 0; give the difference", {"effect": 0, "discordance": 0.2}),
        (ValueError, "`discordance` is 0.05 but `effect` is -0.1",
         {"effect": -0.1, "discordance": 0.05}),
        (ValueError, "`effect` is -0.1 but `alternative` is 'greater': no sample is large enough",
         {"effect": -0.1, "discordance": 0.2, "alternative": "greater"}),
        (ValueError, "`alternative` is 'larger'",
         {"effect": 0.1, "discordance": 0.2, "alternative": "larger"}),
        (ValueError, "`alpha` is 5.0; it must lie between 0 and 1",
         {"effect": 0.1, "discordance": 0.2, "alpha": 5}),
        (ValueError, "`power` is 1.0; it must lie between `alpha`, 0.05, and 1",
         {"effect": 0.1, "discordance": 0.2, "power": 1}),
        (ValueError, "no sample below 1,099,511,627,776 is large enough", {"half_width": 1e-9}),
    ],
)  # fmt: skip
def test_sample_size__refused(
    error: type[Exception], message: str, options: dict[str, Any]
) -> None:
    """By name, with the value and what to do."""
    with pytest.raises(error, match=re.escape(message)):
        sample_size(**options)


PILOT: dict[str, Any] = {"pilot_a": [1, 0, 1], "pilot_b": [0, 0, 1]}


@pytest.mark.parametrize(
    "error, message, options",
    [
        (TypeError, "power() needs one of: `pilot_a` and `pilot_b`", {"n_items": 5}),
        (TypeError, "power() got `discordance`, which does not belong to the power with a pilot",
         {"n_items": 5, "discordance": 0.2, **PILOT}),
        (TypeError, "power() got `rng`, which does not belong to a difference of scores",
         {"n_items": 5, "effect": 0.1, "std_of_difference": 1.0, "rng": 0}),
        (ValueError, "`n_items` is 0; it must be 1 or more", {"n_items": 0, **PILOT}),
        (ValueError, "`n_items` is 10 but `cluster_size` is 4; give whole clusters",
         {"n_items": 10, "effect": 0.1, "discordance": 0.2, "cluster_size": 4, "icc": 0.1}),
        (ValueError, "`n_items` is 1, which is one item", {"n_items": 1, **PILOT}),
        (ValueError, "`n_items` is 3, which is one group",
         {"n_items": 3, "groups": [0, 0, 0], **PILOT}),
        (ValueError, "`test` is 'z'; choose one of t, bootstrap, randomization",
         {"n_items": 5, "test": "z", **PILOT}),
        (ValueError, "`pilot_a` has 1 NaN", {"n_items": 5, "pilot_a": [1, math.nan],
                                             "pilot_b": [1, 1]}),
        (ValueError, "`alpha` is 2", {"n_items": 5, "alpha": 2, **PILOT}),
        (TypeError, "`alpha` is 'x'; it must be a number", {"n_items": 5, "alpha": "x", **PILOT}),
        (TypeError, "`alpha` is True; it must be", {"n_items": 5, "alpha": True, **PILOT}),
        (TypeError, "`effect` is 'x'; it must be a number", {"n_items": 5, "effect": "x", **PILOT}),
        (TypeError, "`effect` is True; it must be", {"n_items": 5, "effect": True, **PILOT}),
        (ValueError, "`effect` is nan; it must be finite",
         {"n_items": 5, "effect": math.nan, **PILOT}),
        (ValueError, "`effect` is -inf; it must be finite",
         {"n_items": 5, "effect": -math.inf, **PILOT}),
    ],
)  # fmt: skip
def test_power__refused(error: type[Exception], message: str, options: dict[str, Any]) -> None:
    """By name, with the value and what to do."""
    with pytest.raises(error, match=re.escape(message)):
        power(**options)


def test_minimum_detectable_effect__refused() -> None:
    """A negative error, and a power that a coin has."""
    with pytest.raises(ValueError, match="`standard_error` is -1; it must be 0 or more"):
        minimum_detectable_effect(-1)
    with pytest.raises(TypeError, match="`standard_error` is '1'; give a number, or a result"):
        minimum_detectable_effect("1")
    with pytest.raises(ValueError, match=r"`power` is 0\.01; it must lie between `alpha`, 0\.05"):
        minimum_detectable_effect(1.0, power=0.01)
    for name in ("alpha", "power"):
        for value in ("x", None, False):
            with pytest.raises(TypeError, match=f"`{name}` is {value!r}; it must be a number"):
                minimum_detectable_effect(1.0, **{name: value})  # type: ignore[arg-type] # as wrong
