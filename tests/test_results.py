"""Answers: what is read off the replicates, and how it is shown."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastboot as fb
from fastboot.intervals import limits, tails_of

A = [0.9, 0.8, 0.4, 1.0, 0.7, 0.6, 0.9, 0.5, 0.3, 0.8, 0.9, 0.6]
B = [0.7, 0.8, 0.5, 0.8, 0.4, 0.6, 0.7, 0.6, 0.2, 0.5, 0.8, 0.6]


@pytest.fixture
def paired() -> fb.PairedBootstrapResult:
    """A finished paired bootstrap."""
    return fb.paired_bootstrap(A, B, rng=3, n_resamples=2_000)


@pytest.fixture
def swapped() -> fb.RandomizationResult:
    """A finished randomization test, sampled."""
    return fb.approximate_randomization(A, B, rng=3, n_resamples=500)


@pytest.fixture
def single() -> fb.BootstrapResult:
    """A finished bootstrap of a skewed sample."""
    values = np.random.default_rng(1).lognormal(size=40)
    return fb.bootstrap(values, rng=3, n_resamples=2_000)


def test_interval__percentile(single: Any) -> None:
    """Linear quantiles of the replicates at half the remaining level each."""
    low, high = np.quantile(single.replicates, [0.05, 0.95])
    assert single.interval(0.9)[:2] == pytest.approx((low, high), rel=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 20, 21, 40, 999, 1_000])
@pytest.mark.parametrize("level", [1e-9, 0.05, 0.5, 0.8, 0.9, 0.95, 0.999, 1.0 - 1e-12])
def test_limits__are_quantiles_to_the_last_bit(n: int, level: float) -> None:
    """Of one row of replicates or of many, with ties and infinite ones, in either order."""
    rows = np.random.default_rng(n).normal(size=(5, n))
    rows[1] = np.round(rows[1])
    rows[2] = 0.1
    rows[3] *= 1e300
    rows[4, :: max(1, n // 3)] = np.inf
    tails = tails_of(level, "two-sided")
    for drawn in (rows, rows[:1], np.asfortranarray(rows)):
        with np.errstate(invalid="ignore"):  # infinite less infinite
            found = limits(drawn, 0.0, tails, "percentile", "two-sided")
            expected = np.quantile(drawn, tails, axis=1)
        assert np.array_equal(found, expected, equal_nan=True)


def test_interval__basic(single: Any) -> None:
    """The percentile interval reflected at the estimate."""
    low, high = np.quantile(single.replicates, [0.025, 0.975])
    expected = 2 * single.estimate - high, 2 * single.estimate - low
    assert single.interval(method="basic")[:2] == pytest.approx(expected, rel=1e-15)


def test_interval__normal(single: Any) -> None:
    """Estimate -+ 1.96 standard errors, ddof = 1."""
    half = 1.959963984540054 * single.replicates.std(ddof=1)
    expected = single.estimate - half, single.estimate + half
    assert single.interval(method="normal")[:2] == pytest.approx(expected, rel=1e-14)


def test_interval__bca(single: Any) -> None:
    """The formula of Efron (1987), from explicit leave-one-out values."""
    values = np.random.default_rng(1).lognormal(size=40)
    left_out = np.array([np.delete(values, i).mean() for i in range(40)])
    d = left_out.mean() - left_out
    acceleration = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    assert single.acceleration == pytest.approx(acceleration, rel=1e-12)

    bias = stats.norm.ppf((single.replicates < single.estimate).mean())
    z = bias + stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(bias + z / (1 - acceleration * z))
    interval = single.interval(method="bca")
    assert interval.method == "bca"
    assert interval[:2] == pytest.approx(tuple(np.quantile(single.replicates, levels)), rel=1e-12)


def test_interval__bca_mid_rank() -> None:
    """Replicates equal to the estimate count half: on symmetric lattice data there is no bias."""
    values = np.repeat([0.0, 1.0], 8)
    result = fb.bootstrap(values, rng=0, n_resamples=20_000)
    equal = (result.replicates == 0.5).mean()
    assert equal > 0.15
    low, high = result.interval(method="bca")[:2]
    # 2 standard errors of a share of 0.5 in 20,000 shift the level 0.025 by less than 0.002.
    tails = [(result.replicates < low).mean(), (result.replicates > high).mean()]
    assert max(tails) <= 0.03


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
def test_interval__one_sided(single: Any, method: str) -> None:
    """A one-sided interval at 0.95 has the limit of a two-sided one at 0.9."""
    low, high = single.interval(0.9, method)[:2]
    assert single.interval(0.95, method, "greater")[:2] == pytest.approx((low, math.inf))
    assert single.interval(0.95, method, "less")[:2] == pytest.approx((-math.inf, high))


@pytest.mark.parametrize(
    "values, reason",
    [
        ([0.5] * 10, "leave-one-out values do not vary or are undefined"),
        ([0.0, 0.0, 0.0, 1.0], "all replicates lie on one side of the estimate"),
    ],
)
def test_interval__bca_undefined(values: list[float], reason: str) -> None:
    """Where BCa is undefined the percentile interval is given, with the reason."""
    result = fb.bootstrap(values, rng=0, method="bca", n_resamples=999)
    if "one side" in reason:
        result = dataclasses.replace(result, replicates=np.full(9, 0.1))
    assert result.confidence_interval.method == "percentile"
    assert f"BCa is undefined: {reason}; the percentile interval is given" in result.notes
    assert result.confidence_interval[:2] == result.interval(method="percentile")[:2]


def test_interval__bca_extreme_acceleration(single: Any) -> None:
    """An acceleration that leaves no interval at this level is said."""
    extreme = dataclasses.replace(single, acceleration=0.8)
    assert "too large for this confidence level" in extreme.interval(method="bca").note


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_test__shift_rule(paired: Any, alternative: str) -> None:
    """The count is that of the rule, the p-value counts one more, and both say their error."""
    shifted, d = paired.replicates - paired.estimate, paired.estimate
    extreme = {
        "two-sided": np.abs(shifted) >= abs(d) - 1e-12,
        "greater": shifted >= d - 1e-12,
        "less": shifted <= d + 1e-12,
    }[alternative]
    answer = paired.test(alternative)
    assert answer.n_extreme == extreme.sum()
    assert answer.pvalue == (extreme.sum() + 1) / 2_001
    assert answer.standard_error == math.sqrt(answer.pvalue * (1 - answer.pvalue) / 2_000)
    assert answer.min_pvalue == 1 / 2_001
    assert answer.rule == "shift"


def test_test__plain_proportion(paired: Any) -> None:
    """``add_one=False`` is the textbook's count / n."""
    answer = paired.test("greater", add_one=False)
    assert answer.pvalue == answer.n_extreme / 2_000
    again = fb.paired_bootstrap(A, B, rng=3, n_resamples=2_000, add_one=False)
    assert again.test("greater") == answer


def test_test__percentile_rule(paired: Any) -> None:
    """Twice the smaller tail beyond 0."""
    below = (paired.replicates <= 1e-12).sum()
    answer = paired.test(rule="percentile")
    assert answer.n_extreme == below
    assert answer.pvalue == 2 * (below + 1) / 2_001


def test_test__unknown_rule(paired: Any) -> None:
    """The rules are named."""
    with pytest.raises(ValueError, match="`rule` is 'koehn'; choose one of shift, percentile"):
        paired.test(rule="koehn")


def test_randomization__interval(swapped: Any) -> None:
    """The interval is the estimate -+ 1.96 standard deviations under the null."""
    half = 1.959963984540054 * swapped.replicates.std(ddof=1)
    expected = swapped.estimate - half, swapped.estimate + half
    assert swapped.confidence_interval[:2] == pytest.approx(expected, rel=1e-14)
    assert swapped.confidence_interval.method == "normal"
    assert swapped.null_distribution is swapped.replicates
    with pytest.raises(ValueError, match="`method` is 'bca'; a randomization test has replicates"):
        swapped.interval(method="bca")


def test_randomization__min_pvalue(swapped: Any) -> None:
    """Nine units differ: 2 / 2**9 at best, but 500 swaps cannot show less than 1 / 501."""
    assert swapped.n_differing == 9
    assert swapped.min_pvalue == 2 / 2**9
    assert swapped.test("greater").min_pvalue == 1 / 501
    few = fb.approximate_randomization(A, B, rng=3, n_resamples=100)
    assert few.min_pvalue == 1 / 101
    exact = fb.approximate_randomization(A, B)
    assert (exact.path, exact.n_resamples, exact.min_pvalue) == ("enumeration", 512, 2 / 2**9)
    assert exact.pvalue_standard_error == 0.0
    assert exact.exact


@pytest.mark.parametrize("kind", ["single", "paired", "swapped"])
def test_result__frozen_and_picklable(kind: str, request: pytest.FixtureRequest) -> None:
    """A result cannot be changed, and survives a pickle."""
    result = request.getfixturevalue(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.estimate = 1.0
    with pytest.raises(ValueError, match="read-only"):
        result.replicates[0] = 1.0
    loaded = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own bytes
    assert loaded.to_dict() == result.to_dict()
    assert loaded.replicates.tolist() == result.replicates.tolist()
    assert not loaded.replicates.flags.writeable


@pytest.mark.parametrize("kind", ["single", "paired", "swapped"])
def test_result__shown(kind: str, request: pytest.FixtureRequest) -> None:
    """One line as repr, a table in notebooks, every figure as JSON."""
    result = request.getfixturevalue(kind)
    assert "\n" not in repr(result)
    assert len(repr(result)) < 160  # one line of a wide terminal
    figures = json.loads(result.to_json())
    assert figures["seed"] == 3
    assert set(figures) == set(result.to_dict())
    page = result._repr_html_()
    assert page.startswith("<table>")
    # The kind is the caption, notes stand below; a signature is too long for a cell, and what there
    # is not is left out.
    assert page.count("<tr>") == len([x for x in result.to_dict().values() if x is not None]) - 3


def test_result__summary(paired: Any) -> None:
    """A sentence with estimate, interval, method, p-value, units, resamples and seed."""
    low, high = paired.confidence_interval[:2]
    assert paired.summary() == (
        f"difference in mean a - b = {paired.estimate:.4g} (0.7 - 0.6), 95% percentile bootstrap "
        f"interval [{low:.4g}, {high:.4g}], two-sided paired bootstrap (shift) p = "
        f"{paired.pvalue:.3g}, ({paired.n_extreme:,} + 1) / (2,000 + 1) (12 rows, 2,000 resamples, "
        "seed 3)."
    )


def test_result__summary_exact() -> None:
    """An enumeration says so, and groups are counted beside rows."""
    result = fb.approximate_randomization([1, 2, 3], [0, 0, 0], groups=["x", "x", "y"])
    assert result.summary().endswith(
        "exact randomization p = 0.5, 2 / 4 (2 groups of 3 rows, all 4 swaps)."
    )


def test_result__json_of_infinite_limits() -> None:
    """The open side of a one-sided interval is null in JSON."""
    result = fb.bootstrap(A, alternative="greater", rng=0, n_resamples=99)
    assert json.loads(result.to_json())["confidence_interval"][1] is None


def test_result__html_escapes() -> None:
    """Names of statistics do not become markup."""

    class Odd(fb.Additive):
        def terms(self, x: Any) -> Any:
            return (x,)

        def finish(self, x: Any) -> Any:
            return x

    result = fb.bootstrap(Odd([1.0, 2.0], name="<b>"), rng=0, n_resamples=9)
    assert "&lt;b&gt;" in result._repr_html_()


def test_result__undefined_replicates() -> None:
    """Undefined replicates are NaN, counted, left out, noted and warned about once."""
    statistic = fb.ratio([1, 1, 1, 1], [0, 0, 0, 1])
    with pytest.warns(RuntimeWarning, match="undefined in 3,1.. of 10,000 replicates") as caught:
        result = fb.bootstrap(statistic, rng=0, n_resamples=10_000)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert result.n_undefined == np.isnan(result.replicates).sum()
    assert f"{result.n_undefined:,} of 10,000 replicates are undefined and left out" in result.notes
    assert all(map(math.isfinite, result.confidence_interval[:2]))


def test_result__undefined_estimate() -> None:
    """Where the observed value is undefined so is everything read off it; nothing raises."""
    with pytest.warns(RuntimeWarning, match="undefined in 99 of 99"):
        result = fb.paired_bootstrap(
            fb.ratio([1, 2], [0, 0]), fb.ratio([1, 3], [0, 0]), rng=0, n_resamples=99
        )
    assert math.isnan(result.estimate)
    assert math.isnan(result.pvalue)
    assert result.summary().startswith("difference in ratio a - b is undefined (2 rows, 99 ")


@pytest.mark.parametrize("procedure", [fb.paired_bootstrap, fb.approximate_randomization])
def test_result__propagated_missing_values(procedure: Any) -> None:
    """``nan_policy="propagate"`` gives NaN without a warning."""
    result = procedure([1.0, math.nan], [0.0, 0.0], nan_policy="propagate", n_resamples=10)
    assert math.isnan(result.estimate)
    assert math.isnan(result.pvalue)
    assert (result.n_undefined, result.n_resamples) == (10, 10)


@pytest.mark.parametrize("procedure", [fb.paired_bootstrap, fb.approximate_randomization])
def test_add_one__not_a_flag(procedure: Any) -> None:
    """A word is not a flag."""
    with pytest.raises(TypeError, match="`add_one` is 'no'; it must be True or False"):
        procedure(A, B, add_one="no")


def test_degenerate__one_replicate() -> None:
    """One replicate does not make data degenerate."""
    assert not fb.bootstrap(A, rng=0, n_resamples=1).degenerate


def test_acceleration__overflow() -> None:
    """Powers beyond float64 leave BCa undefined, without a warning."""
    result = fb.bootstrap([1e200, 2e200, 4e200], rng=0, method="bca", n_resamples=99)
    assert result.acceleration is not None
    assert math.isnan(result.acceleration)
    assert result.confidence_interval.method == "percentile"


def test_detectable_effect() -> None:
    """2.80 standard errors, two-sided at 0.05 with power 0.8 (Bloom 1995)."""
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    result = fb.paired_bootstrap(a, b, rng=0, n_resamples=99)
    # 1 - 0.95 is 0.05 but for its last bits.
    assert result.detectable_effect == pytest.approx(fb.minimum_detectable_effect(result), 1e-12)
    assert result.detectable_effect / result.standard_error == pytest.approx(2.8016, abs=5e-5)
    assert result.to_dict()["detectable_effect"] == result.detectable_effect


@pytest.mark.parametrize("level, seen", [(0.21, True), (0.2, False), (0.1, False)])
def test_detectable_effect__of_a_low_level(level: float, seen: bool) -> None:
    """At 1 - 0.2 a test has the power of 0.8 without any effect: the other figures are there."""
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    options: dict[str, Any] = {"rng": 0, "n_resamples": 99, "confidence_level": level}
    result = fb.paired_bootstrap(a, b, **options)
    pair = fb.compare({"a": a, "b": b}, **options).pair("a", "b")
    for found in (result.detectable_effect, pair.detectable):
        assert seen is not math.isnan(found)
    assert math.isnan(result.to_dict()["detectable_effect"]) is not seen
    assert str(result)
