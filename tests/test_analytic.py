"""Standard errors and intervals from formulas, against published figures and trusted libraries."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from enumeration import DEVIATIONS
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statistical import FALSE_FAILURE, assert_rate

import fastboot as fb
from fastboot import intervals
from fastboot.analytic import (
    cluster_standard_errors,
    influence,
    normal_interval,
    proportion_interval,
    studentized_interval,
    t_interval,
)
from fastboot.reference import all_bootstraps

Floats = NDArray[np.float64]
DATA = Path(__file__).with_name("data")
SEED = 19
# Formulas of a few operations, quantiles of SciPy's: some roundings of 1.1e-16.
ROUNDING = 1e-14
# Sums of up to 5,574 values of one sign; NumPy's pairwise sums and np.bincount stay far below.
SUMS = 1e-12
# Twice what the docstring of `influence` says: of one system, of a difference that cancels.
INFLUENCE, CANCELLING = 2e-12, 2e-11


def near(expected: Any, rel: float = SUMS) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=rel, abs=0.0)


# Proportions


# statsmodels 0.15.0: proportion_confint(successes, n, 1 - level), methods "wilson" and "beta".
PROPORTIONS = [
    (0, 25, 0.95, (0.0, 0.13319225093904855), (0.0, 0.13718517153071255)),
    (10, 10, 0.95, (0.7224672001371106, 1.0), (0.6915028921812392, 1.0)),
    (1, 1, 0.95, (0.2065493143772374, 1.0), (0.025, 1.0)),
    (0, 1, 0.95, (0.0, 0.7934506856227627), (0.0, 0.975)),
    (7, 20, 0.95, (0.18119182410108203, 0.567145723314764),
     (0.1539092047845412, 0.5921885345328282)),
    (7, 20, 0.9, (0.202260040056761, 0.5334873111515284),
     (0.17731091757444914, 0.5580345113154888)),
    (1, 1_000, 0.99, (0.00011741635361832078, 0.008460566219981695),
     (5.012529260777506e-06, 0.007406286938352938)),
    (123_456, 1_000_000, 0.95, (0.12281269653142285, 0.12410219641400438),
     (0.12281184162962973, 0.12410234027680268)),
]  # fmt: skip
# Newcombe (1998, Statistics in Medicine 17, 857-872), table I, methods 3 and 5.
NEWCOMBE = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]
counts = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.floats(0.5, 0.999)
sides = st.sampled_from(["two-sided", "greater", "less"])
methods = st.sampled_from(["wilson", "clopper-pearson"])


@pytest.mark.parametrize("successes,n,level,score,exact", PROPORTIONS)
def test_proportion__statsmodels(
    successes: int, n: int, level: float, score: tuple[float, float], exact: tuple[float, float]
) -> None:
    """Wilson's and Clopper and Pearson's limits."""
    for limits, method in ((score, "wilson"), (exact, "clopper-pearson")):
        interval = proportion_interval(successes, n, confidence_level=level, method=method)
        # 1 - 0.99 is off by 9e-18, 1e-15 of the tail and of the quantiles.
        assert limits == near(interval[:2], ROUNDING)
        assert (level, method, "") == interval[2:]


@pytest.mark.parametrize("successes,n,score,exact", NEWCOMBE)
def test_proportion__published(
    successes: int, n: int, score: tuple[float, float], exact: tuple[float, float]
) -> None:
    """Newcombe's examples, to the four digits printed."""
    for limits, method in ((score, "wilson"), (exact, "clopper-pearson")):
        interval = proportion_interval(successes, n, method=method)
        assert limits == tuple(round(limit, 4) for limit in interval[:2])


def test_case_21_all_wrong_or_all_right() -> None:
    """0 of 25 and 10 of 10 have intervals of positive width, and exact ends."""
    assert near((0.0, 0.1331922509390485)) == proportion_interval(0, 25)[:2]
    assert near((0.7224672001371106, 1.0)) == proportion_interval(10, 10)[:2]
    assert near(0.1371851715307125) == proportion_interval(0, 25, method="clopper-pearson").high


@given(counts, st.floats(0.6, 0.999), sides)
def test_wilson__definition(trials: tuple[int, int], level: float, side: str) -> None:
    """The score statistic of each limit is the normal quantile."""
    successes, n = trials
    interval = proportion_interval(successes, n, confidence_level=level, alternative=side)
    z = stats.norm.isf((1 - level) / (2 if side == "two-sided" else 1))
    for limit, end in ((interval.low, 0.0), (interval.high, 1.0)):
        if limit != end:
            distance, variance = (successes / n - limit) ** 2, limit * (1 - limit) / n
            # With z > 0.25 and n of 10,000 limits lie 6e-6 or more from the share and the ends,
            # and are rounded to 2.2e-16.
            assert distance == near(z * z * variance, 1e-9)


@given(counts, levels, sides)
def test_clopper_pearson__definition(trials: tuple[int, int], level: float, side: str) -> None:
    """At each limit the binomial tail beyond the count is that of the level."""
    successes, n = trials
    low, high = proportion_interval(
        successes, n, confidence_level=level, method="clopper-pearson", alternative=side
    )[:2]
    tail = (1 - level) / (2 if side == "two-sided" else 1)
    # Limits are known to 1e-15; the tail changes at most n = 10,000 times as fast, and SciPy's
    # incomplete beta function loses as much.
    if low > 0:
        assert tail == near(stats.binom.sf(successes - 1, n, low), 1e-9)
    if high < 1:
        assert tail == near(stats.binom.cdf(successes, n, high), 1e-9)
    assert (low == 0) == (successes == 0 or side == "less")
    assert (high == 1) == (successes == n or side == "greater")


@given(counts, levels, methods)
def test_proportion__invariances(trials: tuple[int, int], level: float, method: str) -> None:
    """Failures mirror successes; a one-sided limit is that of the two-sided interval's level."""
    successes, n = trials
    low, high = proportion_interval(successes, n, confidence_level=level, method=method)[:2]
    mirrored = proportion_interval(n - successes, n, confidence_level=level, method=method)
    # Distances from 1 are rounded to 1.1e-16.
    assert (low, high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), rel=SUMS, abs=1e-15)
    assert 0.0 <= low <= successes / n <= high <= 1.0
    one_sided = {
        side: proportion_interval(
            successes, n, confidence_level=(1 + level) / 2, method=method, alternative=side
        )
        for side in ("greater", "less")
    }
    # (1 + level) / 2 and back loses 1.1e-16 of a tail of 0.0005 or more.
    assert near((low, 1.0), 1e-10) == one_sided["greater"][:2]
    assert near((0.0, high), 1e-10) == one_sided["less"][:2]


def test_clopper_pearson__covers() -> None:
    """Clopper and Pearson's interval covers at least 95 % whatever the proportion; Wilson's not."""
    n, proportions = 20, np.linspace(0.001, 0.999, 499)
    covered = {}
    for method in ("wilson", "clopper-pearson"):
        rates = np.zeros(proportions.size)
        for successes in range(n + 1):
            low, high = proportion_interval(successes, n, method=method)[:2]
            inside = (low <= proportions) & (proportions <= high)
            rates += inside * stats.binom.pmf(successes, n, proportions)
        covered[method] = rates
    assert covered["clopper-pearson"].min() >= 0.95
    assert covered["wilson"].min() < 0.95 < covered["wilson"].mean() < 0.96


@pytest.mark.parametrize(
    "arguments,error,message",
    [
        ({"successes": 11}, ValueError, "`successes` is 11; it must lie between 0 and `n`, 10"),
        ({"successes": -1}, ValueError, "`successes` is -1; it must lie between 0 and `n`, 10"),
        ({"n": 0}, ValueError, "`n` is 0; a proportion needs a trial at least"),
        ({"n": -5}, ValueError, "`n` is -5; a proportion needs a trial at least"),
        ({"successes": 0.5}, TypeError, "`successes` is 0.5; it must be a whole number"),
        ({"n": "10"}, TypeError, "`n` is '10'; it must be a whole number"),
        ({"n": True}, TypeError, "`n` is True; it must be a whole number"),
        (
            {"successes": np.ma.masked},
            TypeError,
            "`successes` is masked; it must be a whole number",
        ),
        (
            {"method": "wald"},
            ValueError,
            "`method` is 'wald'; choose one of wilson, clopper-pearson",
        ),
        (
            {"alternative": "both"},
            ValueError,
            "`alternative` is 'both'; choose one of two-sided, greater, less",
        ),
        (
            {"confidence_level": 95},
            ValueError,
            "`confidence_level` is 95; it must lie between 0 and 1, such as 0.95",
        ),
    ],
)
def test_proportion__refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Wrong arguments are named."""
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        proportion_interval(**{"successes": 5, "n": 10, **arguments})


def test_proportion__numpy() -> None:
    """Counts as NumPy gives them."""
    right = np.array([True, True, False])
    assert proportion_interval(2, 3) == proportion_interval(right.sum(), right.size)


# Standard errors of clusters and strata


def mean_influence(x: Any) -> Floats:
    """Influence of the rows of a mean."""
    x = np.asarray(x, dtype=float)
    influence: Floats = (x - x.mean()) / x.size
    return influence


def test_case_26_clusters() -> None:
    """CR0 and CR1 of ten answers to questions on four texts."""
    y, cluster = [1, 1, 1, 0, 0, 1, 1, 0, 1, 0], [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
    errors = cluster_standard_errors(mean_influence(y), np.array(cluster))
    assert near((0.18973665961010275, 0.21908902300206642)) == errors[:2]
    assert (4, 3) == errors[2:]
    assert near(0.1632993161855452) == cluster_standard_errors(mean_influence(y)).cr1


def test_case_22_one_row() -> None:
    """A standard error of one row, or of one cluster, is undefined."""
    one = cluster_standard_errors(mean_influence([0.7]))
    assert (0.0, 1, 0) == (one.cr0, one.n_clusters, one.degrees_of_freedom)
    assert math.isnan(one.cr1)
    assert math.isnan(t_interval(0.7, one.cr1, one.degrees_of_freedom).low)
    cluster = cluster_standard_errors(mean_influence([0.0, 1.0, 1.0]), np.array([3, 3, 3]))
    assert cluster.cr0 < SUMS
    assert math.isnan(cluster.cr1)


PAIRED = np.array([1.0, 1.0, 2.0, 1.0, 2.0])
UNPAIRED = np.array([-10.0, -20.0, -30.0, -40.0, -50.0, 11.0, 21.0, 32.0, 41.0, 52.0])
CLUSTERS = np.array([1.0, 1 / 2, 1 / 3, 3 / 4])


@pytest.mark.parametrize(
    "influence,strata,expected",
    [
        pytest.param(mean_influence(PAIRED), None, 0.21908902300206645, id="case-15 paired"),
        pytest.param(UNPAIRED / 5, np.repeat([0, 1], 5), 9.035928286568016, id="case-15 unpaired"),
        pytest.param(mean_influence(CLUSTERS), None, 0.12629537138523064, id="case-24"),
        pytest.param(mean_influence(range(4)), None, 0.5590169943749475, id="case-30"),
        pytest.param(
            mean_influence(np.repeat([0.0, 1.0, -1.0], [91, 8, 1])),
            None,
            0.029171904291629643,
            id="case-31",
        ),
        pytest.param(
            mean_influence(np.repeat([-1.0, 0.0, 1.0], [50_000, 900_000, 50_000])),
            None,
            0.00031622776601683794,
            id="case-58",
        ),
    ],
)
def test_case_standard_errors(influence: Floats, strata: Any, expected: float) -> None:
    """What infinitely many resamples give: of pairs, of two samples, of means of clusters."""
    # np.bincount adds one by one: at most a rounding of 1.1e-16 for each row.
    rounding = max(SUMS, influence.size * 2.0**-53)
    assert near(expected, rounding) == cluster_standard_errors(influence, strata=strata).cr0


@given(st.floats(-1e6, 1e6), st.integers(2, 50))
def test_cluster_standard_errors__all_equal(value: float, n: int) -> None:
    """Exactly 0 where all rows are equal, whatever they are."""
    rows = np.full(n, value)
    strata = np.arange(n) % 2 if n > 3 else None
    assert (0.0, 0.0) == cluster_standard_errors(rows)[:2]
    assert (0.0, 0.0) == cluster_standard_errors(rows, strata=strata)[:2]


def test_cluster_standard_errors__inspect_log() -> None:
    """Accuracy 0.8 +- 0.13333333333333333 of ten samples, from the header of an inspect_ai log.

    UKGovernmentBEIS/inspect_ai, commit 499e6152e7b8fc8cbd8ac5283536572aa6e4ab17,
    popularity_scored.eval.
    """
    errors = cluster_standard_errors(mean_influence([1] * 8 + [0] * 2))
    assert near(0.13333333333333333) == errors.cr1


def xquad() -> tuple[Floats, NDArray[np.int64]]:
    """Differences of token F1, and passages."""
    differences: list[float] = []
    passages: list[int] = []
    with (DATA / "xquad_en_f1.csv").open() as file:
        for row in csv.DictReader(file):
            n = int(row["questions"])
            differences += [float(Fraction(row["mlpp"]) - Fraction(row["mt5base"]))] * n
            passages += [int(row["passage"])] * n
    return np.array(differences), np.array(passages)


# statsmodels 0.15.0: OLS(y, ones).fit(cov_type="cluster", cov_kwds={"groups": groups,
# "use_correction": True or False}, use_t=True): bse without and with correction, and conf_int(0.05)
# of the latter, of G - 1 degrees of freedom.
CASE_26 = (
    0.18973665961010272,
    0.2190890230020664,
    (-0.09723905178114345, 1.2972390517811434),
)
XQUAD = (
    0.007537312089079864,
    0.0075530640646501255,
    (-0.004116362063408638, 0.025641795009330552),
)
SMS = (
    0.001365682178980938,
    0.0013658145574215125,
    (-0.00016591436895099787, 0.005189236938021686),
)


@pytest.mark.parametrize("name", ["case 26", "xquad", "sms"])
def test_cluster_standard_errors__statsmodels(name: str) -> None:
    """Cluster-robust errors, and t intervals, of the constant of a regression on nothing else."""
    if name == "case 26":
        x = np.array([1, 1, 1, 0, 0, 1, 1, 0, 1, 0], dtype=float)
        groups, expected = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3]), CASE_26
    elif name == "xquad":
        (x, groups), expected = xquad(), XQUAD
    else:
        table = {key: np.array(values) for key, values in sms().items()}
        right = [table[system] == table["spam"] for system in ("logistic", "naive_bayes")]
        x, groups, expected = right[0] * 1.0 - right[1], table["text"], SMS
    errors = cluster_standard_errors(mean_influence(x), groups)
    # statsmodels' conf_int is that of a mean from a pseudo-inverse.
    assert expected[:2] == near(errors[:2], 1e-11)
    interval = t_interval(x.mean(), errors.cr1, errors.degrees_of_freedom)
    assert expected[2] == near(interval[:2], 1e-11)


# Rows as counts, from the tables that computed_reference.json of the test data was computed from:
# per cluster the sum and the number of its rows, or values and how often they occur.
def test_cluster_standard_errors__computed_elsewhere() -> None:
    """Differences of published systems, their errors by rows, clusters and strata (ddof 0)."""
    # Fig-QA, GPT-3 less GPT-Neo (ExplainaBoard): sums of 547 pairs of questions.
    pairs = {0: 318, 1: 153, -1: 73, 2: 3}
    rows = np.array([(value, 0) for value, n in pairs.items() for _ in range(n)], dtype=float)
    errors = cluster_standard_errors(mean_influence(rows.ravel()), np.arange(547).repeat(2))
    assert near(0.013695267344778644) == errors.cr0
    # The English-German TED talks of MQM, Online-W less Facebook-AI: 529 segments of 5 talks.
    sums, sizes = np.array([15.8, 8.1, -20.4, 12.6, 19.1]), np.array([140, 31, 129, 70, 159])
    talks = np.arange(5).repeat(sizes)
    errors = cluster_standard_errors(mean_influence((sums / sizes)[talks]), talks)
    # The scores are stored as float32.
    assert near(0.061377629575441205, 1e-6) == errors.cr0
    # LLMBar, GPT-4 less ChatGPT with both orders: counts of differences in 5 subsets.
    table = [[1, 18, 35, 38], [2, 18, 18, 9], [0, 14, 22, 10], [4, 28, 41, 61], [3, 69, 25, 3]]
    x = np.concatenate([np.repeat([-0.5, 0.0, 0.5, 1.0], row) for row in table])
    subsets = np.repeat(list("abcde"), np.sum(table, axis=1))
    z = mean_influence(x)
    assert near(0.020770233276614147) == cluster_standard_errors(z).cr0
    assert near(0.018641379420654258) == cluster_standard_errors(z, strata=subsets).cr0
    assert near(0.09360352513220258) == cluster_standard_errors(z, subsets).cr0


@given(st.integers(2, 8), st.integers(1, 6), st.integers(0, 1_000))
def test_cluster_standard_errors__equal_sizes(n_clusters: int, size: int, seed: int) -> None:
    """With clusters of one size: the error of the mean of their means; any order, any constant."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_clusters, size))
    groups = np.arange(n_clusters).repeat(size)
    expected = x.mean(axis=1).std(ddof=1) / math.sqrt(n_clusters)
    order = rng.permutation(x.size)
    # Means of normal values lose digits where they cancel: x is of order 1, and 50 rows at most.
    for shift in (0.0, 3.0):
        rows = (mean_influence(x.ravel()) + shift / x.size)[order]
        errors = cluster_standard_errors(rows, groups[order])
        assert errors.cr1 == pytest.approx(expected, rel=1e-12, abs=1e-14)
        assert errors.cr0 == near(errors.cr1 * math.sqrt((n_clusters - 1) / n_clusters))


def test_cluster_standard_errors__strata_and_groups() -> None:
    """Every stratum has its own mean and factor; checked against loops over clusters."""
    rng = np.random.default_rng(SEED)
    groups = rng.integers(0, 12, 200)
    strata = np.array(["a", "b", "c"])[np.where(groups == 5, 2, groups % 2)]
    rows = rng.normal(size=200)
    cr0 = cr1 = 0.0
    for stratum in "abc":
        inside = [g for g in range(12) if (strata[groups == g] == stratum).any()]
        sums = [math.fsum(rows[groups == g]) for g in inside]
        mean = math.fsum(sums) / len(sums)
        squares = math.fsum((s - mean) ** 2 for s in sums)
        cr0 += squares
        cr1 += squares * len(sums) / (len(sums) - 1) if len(sums) > 1 else math.nan
    # Stratum c has a single cluster, as surveys call lonely.
    errors = cluster_standard_errors(rows, groups, strata)
    assert near(math.sqrt(cr0)) == errors.cr0
    assert math.isnan(cr1)
    assert math.isnan(errors.cr1)
    assert (12, 9) == errors[2:]


def test_cluster_standard_errors__strata_factor() -> None:
    """Two strata, closed form: n / (n - 1) in each."""
    x = np.array([1.0, 2.0, 4.0, 10.0, 20.0])
    strata = np.array([0, 0, 0, 1, 1])
    expected = math.sqrt(3 / 2 * (16 / 9 + 1 / 9 + 25 / 9) + 2 * (25 + 25))
    assert near(expected) == cluster_standard_errors(x, strata=strata).cr1


def test_cluster_standard_errors__bootstrap() -> None:
    """CR0 of rows is the exact bootstrap error of a mean: all 3,125 resamples of five rows."""
    x = np.array([0.3, 1.0, 0.2, 0.9, 0.4])
    means = [x[list(rows)].mean() for rows in all_bootstraps(5)]
    assert near(np.std(means)) == cluster_standard_errors(mean_influence(x)).cr0


@pytest.mark.parametrize(
    "options,message",
    [
        ({"groups": [1, 2]}, "`groups` has 2 rows but `influence` has 3; they must have the same"),
        ({"strata": [1]}, "`strata` has 1 rows but `influence` has 3; they must have the same"),
        (
            {"groups": ["x", "y", "y"], "strata": [0, 0, 1]},
            "`groups` has group y in two `strata`; a cluster is drawn from one",
        ),
    ],
)
def test_cluster_standard_errors__refused(options: dict[str, Any], message: str) -> None:
    """Wrong arguments are named."""
    arrays = {name: np.array(values) for name, values in options.items()}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        cluster_standard_errors(np.zeros(3), **arrays)


def test_cluster_standard_errors__empty() -> None:
    """No rows."""
    with pytest.raises(ValueError, match="`influence` is empty; a standard error needs a row at"):
        cluster_standard_errors(np.zeros(0))


def test_cluster_standard_errors__undefined() -> None:
    """NaN in, NaN out."""
    errors = cluster_standard_errors(np.array([0.0, math.nan, 1.0]))
    assert all(math.isnan(error) for error in errors[:2])


# Influence

CITY_1920 = [138, 93, 61, 179, 48, 37, 29, 23, 30, 2]
CITY_1930 = [143, 104, 69, 260, 75, 63, 50, 48, 111, 50]


def ratio(sums: Sequence[Any]) -> Any:
    """One sum over another."""
    return sums[0] / sums[1]


def f_score(sums: Sequence[Any]) -> Any:
    """F1 of true positives, false positives and false negatives."""
    return 2.0 * sums[0] / (2.0 * sums[0] + sums[1] + sums[2])


def f_difference(sums: Sequence[Any]) -> Any:
    """Difference of two F-scores."""
    return f_score(sums[:3]) - f_score(sums[3:])


def correlation(sums: Sequence[Any]) -> Any:
    """Pearson's, from six sums."""
    n, x, y, xx, yy, xy = sums
    return (xy - x * y / n) / np.sqrt((xx - x * x / n) * (yy - y * y / n))


def brevity(sums: Sequence[Any]) -> Any:
    """Geometric mean of two ratios, times exp(1 - a third): BLEU with orders 1 and 2."""
    return np.sqrt(sums[0] / sums[1] * sums[2] / sums[3]) * np.exp(1.0 - sums[4] / sums[1])


def influence_of(sums: Any, value: Callable[[Sequence[Any]], Any], n: int = 0) -> Floats:
    """Influence of units given by their sums."""
    totals = [float(np.sum(term)) if np.ndim(term) else n * float(term) for term in sums]
    return influence(sums, totals, value)


def exact_influence(sums: Floats, value: Callable[[Sequence[Any]], Any]) -> Floats:
    """Derivative by a complex step (Squire and Trapp 1998), which loses no digits."""
    totals = sums.sum(axis=1)
    moved = value([t + 1e-100j * u for t, u in zip(totals, sums, strict=True)])
    derivative: Floats = np.imag(moved) * 1e100
    return derivative


def test_influence__city() -> None:
    """The ratio of Davison and Hinkley's ten cities: R's `empinf`, `var.linear` and `norm.ci`.

    Printed in tests/Examples/boot-Ex.Rout.save of R's boot; n times ours.
    """
    printed = [-1.04367815, -0.58417763, -0.37092459, -0.18958996, 0.03164142,
               0.10544878, 0.09236345, 0.20365074, 1.02178280, 0.73381132]  # fmt: skip
    sums = np.array([CITY_1930, CITY_1920], dtype=float)
    ours = influence_of(sums, ratio)
    # R's are differences of a step of 0.001 / n: by algebra, for a ratio, this much smaller. Eight
    # decimals.
    shrunk = 1 + 1e-4 * (sums[1] / sums[1].mean() - 1)
    assert printed == pytest.approx(list(10 * ours / shrunk), abs=0.5000001e-8)
    errors = cluster_standard_errors(ours)
    assert near(0.032487733709812165) == errors.cr0**2
    interval = normal_interval(ratio(sums.sum(axis=1)), errors.cr0)
    # norm.ci(t0, var.t0 = var.linear), which R rounds to six decimals.
    assert (1.167046, 1.873579) == pytest.approx(interval[:2], abs=5e-6)


@pytest.mark.parametrize("n", [2, 3, 20, 1_000, 100_000])
def test_influence__mean(n: int) -> None:
    """CR0 of a mean is its closed form."""
    x = np.random.default_rng(n).lognormal(size=n)
    ours = influence_of([x, 1.0], ratio, n)
    assert near(x.std() / math.sqrt(n)) == cluster_standard_errors(ours).cr0
    assert np.abs(ours - mean_influence(x)).max() < INFLUENCE * np.abs(mean_influence(x)).max()


@pytest.mark.parametrize(
    "value,n_terms", [(ratio, 2), (f_score, 3), (f_difference, 6), (brevity, 5)]
)
@pytest.mark.parametrize("n", [5, 300, 100_000])
def test_influence__closed_form(value: Callable[[Any], Any], n_terms: int, n: int) -> None:
    """Within what the docstring says of the exact derivative, for units of very unequal size."""
    sums = np.random.default_rng(n).lognormal(0.0, 2.0, (n_terms, n))
    exact = exact_influence(sums, value)
    ours = influence_of(sums, value)
    allowed = CANCELLING if value is f_difference else INFLUENCE
    assert np.abs(ours - exact).max() < allowed * np.abs(exact).max()


def test_influence__difference_that_cancels() -> None:
    """F-scores 0.0001 apart, where steps below 2**-10 agreed by chance and gave 6e-11."""
    sums = np.random.default_rng(0).lognormal(size=(6, 20_000))
    exact = exact_influence(sums, f_difference)
    ours = influence_of(sums, f_difference)
    assert np.abs(ours - exact).max() < CANCELLING * np.abs(exact).max()


@pytest.mark.parametrize("noise", [1.0, 1e-2])
def test_influence__correlation(noise: float) -> None:
    """Correlations of 0.7 and of 0.99995, cut at 1.

    Differences of the totals, one at a time, leave what correlations can be: an influence wrong by
    its own size was measured.
    """
    rng = np.random.default_rng(SEED)
    x = rng.normal(1.0, 1.0, 1_000)
    y = x + noise * rng.normal(size=1_000)
    sums = np.array([np.ones(1_000), x, y, x * x, y * y, x * y])
    u, v = stats.zscore(x), stats.zscore(y)
    r = (u * v).mean()
    exact = (u * v - r * (u * u + v * v) / 2) / 1_000
    ours = influence_of(sums, lambda sums: np.clip(correlation(sums), -1.0, 1.0))
    # The value itself is rounded to 2.2e-16, its distance from 1 to 2.2e-16 / (1 - r) of it, and
    # the differences lose up to 2**10 of that, by the narrowest step that was ever chosen.
    assert np.abs(ours - exact).max() < 2.2e-16 / (1 - r) * 2**10 * np.abs(exact).max()


def sms() -> dict[str, list[int]]:
    """Columns of the example data."""
    table = pq.read_table(Path(fb.__file__).with_name("data") / "sms_spam.parquet")
    columns: dict[str, list[int]] = table.to_pydict()
    return columns


def test_influence__f_score() -> None:
    """Differences of F1: entities of CoNLL-03 by sentence; messages of SMS spam, and equal texts.

    Linearised by hand for computed_reference.json of the test data.
    """
    with (DATA / "conll03_counts.csv").open() as file:
        table = np.array([[int(cell) for cell in row.values()] for row in csv.DictReader(file)])
    sums = np.repeat(table[:, :6], table[:, 6], axis=0).T.astype(float)
    errors = cluster_standard_errors(influence_of(sums, f_difference))
    assert near(0.002341687173247168, CANCELLING) == errors.cr0
    columns = {name: np.array(values) for name, values in sms().items()}
    gold = columns["spam"]
    sums = np.array(
        [
            term
            for predicted in (columns["logistic"], columns["naive_bayes"])
            for term in (gold * predicted, (1 - gold) * predicted, gold * (1 - predicted))
        ],
        dtype=float,
    )
    rows = influence_of(sums, f_difference)
    assert near(0.004848777191007226, CANCELLING) == cluster_standard_errors(rows).cr0
    by_text = cluster_standard_errors(rows, columns["text"])
    assert near(0.00530658818947509, CANCELLING) == by_text.cr0
    assert 5_159 == by_text.n_clusters
    # Sums of the rows' influence are the influence of the groups' sums.
    texts = np.unique(columns["text"], return_inverse=True)[1]
    groups = np.array([np.bincount(texts, term) for term in sums])
    assert (
        near(by_text.cr0, CANCELLING)
        == cluster_standard_errors(influence_of(groups, f_difference)).cr0
    )


@given(st.floats(-1e6, 1e6), st.integers(1, 40), st.integers(0, 1_000))
def test_influence__constant(value: float, n: int, seed: int) -> None:
    """The mean of equal rows: exactly 0, also of groups of unequal size."""
    sizes = np.random.default_rng(seed).integers(1, 9, n).astype(float)
    assert not influence_of([value * sizes, sizes], ratio).any()


def test_influence__undefined() -> None:
    """0 / 0 has none, nor has 1 / 0."""
    assert np.isnan(influence_of(np.zeros((2, 3)), ratio)).all()
    assert np.isnan(influence_of([np.array([1.0, -1.0])], lambda sums: 1 / sums[0])).all()


@pytest.mark.parametrize("n", [1, 3, 50, 5_000])
def test_influence__a_system_against_itself(n: int) -> None:
    """Exactly 0."""
    counts = np.random.default_rng(n).integers(0, 4, (3, n)) + 1.0
    assert not influence_of(np.vstack([counts, counts]), f_difference).any()


def test_influence__end_of_the_domain() -> None:
    """Steps that leave the domain of the value are not used: root of a mean close to its least."""
    x = np.random.default_rng(SEED).lognormal(size=50)
    least = 0.99 * x.mean()
    ours = influence_of([x, 1.0], lambda sums: np.sqrt(sums[0] / sums[1] - least), 50)
    exact = mean_influence(x) / (2 * math.sqrt(x.mean() - least))
    # The square of the value cancels to 0.01 of the mean, so it has a hundred times the rounding.
    assert np.abs(ours - exact).max() < 100 * INFLUENCE * np.abs(exact).max()


def test_influence__classes() -> None:
    """Of classes of equal units, with the totals of all: that of the units."""
    sums = np.array([[1.0, 0.0, 3.0], [2.0, 5.0, 4.0]])
    counts = np.array([5, 1, 9])
    units = influence_of(sums.repeat(counts, axis=1), ratio)
    classes = influence(list(sums), list(sums @ counts), ratio)
    assert np.abs(classes.repeat(counts) - units).max() < INFLUENCE * np.abs(units).max()


# Normal and t intervals


def test_normal_interval__published() -> None:
    """R's `norm.ci` of the mean of the air-conditioning data, exponential errors."""
    hours = [3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487]
    mean = sum(hours) / 12
    interval = normal_interval(mean, mean / math.sqrt(12))
    assert (46.93055, 169.2361) == pytest.approx(interval[:2], abs=5e-5)
    assert (0.95, "normal", "") == interval[2:]


def test_t_interval__published() -> None:
    """Student's sleep data, as R's t.test prints it: -2.4598858 to -0.7001142."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    d = np.subtract(first, second)
    errors = cluster_standard_errors(mean_influence(d))
    interval = t_interval(d.mean(), errors.cr1, errors.degrees_of_freedom)
    assert (-2.4598858, -0.7001142) == pytest.approx(interval[:2], abs=0.5000001e-7)
    assert (0.95, "t", "") == interval[2:]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_symmetric_intervals__scipy(level: float) -> None:
    """SciPy's quantiles, two-sided and one-sided."""
    tails = ((1 - level) / 2, (1 - level) / 2, 1 - level)
    for law, interval in (
        (stats.norm(3.0, 2.0), partial(normal_interval, 3.0, 2.0)),
        (stats.t(4, 3.0, 2.0), partial(t_interval, 3.0, 2.0, 4)),
    ):
        both = interval(confidence_level=level)
        assert (law.ppf(tails[0]), law.isf(tails[0])) == near(both[:2])
        assert (law.ppf(tails[2]), math.inf) == near(
            interval(confidence_level=level, alternative="greater")[:2]
        )
        assert (-math.inf, law.isf(tails[2])) == near(
            interval(confidence_level=level, alternative="less")[:2]
        )


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_symmetric_intervals__ends(side: str) -> None:
    """A point where the error is 0; NaN on both sides where it is undefined."""
    for interval in (
        normal_interval(1.5, math.nan, alternative=side),
        t_interval(1.5, 1.0, 0, alternative=side),
    ):
        assert all(math.isnan(limit) for limit in interval[:2])
    assert (1.5, 1.5) == normal_interval(1.5, 0.0)[:2] == t_interval(1.5, 0.0, 3)[:2]


# Studentized intervals

HOURS = np.array([3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487], dtype=float)
GRAVITY_7 = [82, 79, 81, 79, 77, 79, 79, 78, 79, 82, 76, 73, 64]
GRAVITY_8 = [84, 86, 85, 82, 77, 76, 77, 80, 83, 81, 78, 78, 78]


def resampled(x: Floats, n_resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means of resamples, and their variances (ddof 0) over n."""
    rows = x[rng.integers(0, x.size, (n_resamples, x.size))]
    return rows.mean(axis=1), rows.var(axis=1) / x.size


@pytest.mark.parametrize("sample", ["aircondit", "gravity"])
def test_studentized__printed(sample: str) -> None:
    """What R's boot printed after 999 resamples, within its own error.

    cran/boot, tests/Examples/boot-Ex.Rout.save of R 3.2 and of version 1.3-31. The k-th of 999
    values has a Beta(k, 1000 - k) share of the law below it.
    """
    n, rng = 200_000, np.random.default_rng(SEED)
    if sample == "aircondit":
        estimate, error = HOURS.mean(), HOURS.std() / math.sqrt(12)
        replicates, squares = resampled(HOURS, n, rng)
        printed = [(47.9, 294.5), (45.6, 295.8)]
    else:
        samples = np.array([GRAVITY_7, GRAVITY_8], dtype=float)
        estimate, error = (
            -np.diff(samples.mean(axis=1))[0],
            math.sqrt((samples.var(axis=1) / 13).sum()),
        )
        first, second = (resampled(x, n, rng) for x in samples)
        replicates, squares = first[0] - second[0], first[1] + second[1]
        printed = [(-7.059, -0.101), (-7.370, -0.052)]
    tails = stats.beta.ppf([FALSE_FAILURE / 4, 1 - FALSE_FAILURE / 4], 25, 975)
    # Our own resamples leave the level uncertain.
    tails += [-DEVIATIONS * 0.16 / math.sqrt(n), DEVIATIONS * 0.16 / math.sqrt(n)]
    wide, narrow = (
        studentized_interval(
            estimate,
            error,
            replicates,
            np.sqrt(squares),
            confidence_level=1 - 2 * tail,
            rounding=1e-7,
        )
        for tail in tails
    )
    for low, high in printed:
        assert wide.low < low < narrow.low
        assert narrow.high < high < wide.high


def test_studentized__known_quantiles() -> None:
    """Values of t from 0 to 1,000, whatever the standard errors: limits are its quantiles."""
    t = np.arange(1_001.0)
    errors = np.random.default_rng(SEED).integers(1, 9, t.size) / 4.0
    options: dict[str, Any] = {
        "estimate": 10.0,
        "standard_error": 2.0,
        "replicates": 10.0 + t * errors,
        "replicate_standard_errors": errors,
    }
    both = studentized_interval(**options)
    assert near((10 - 975 * 2.0, 10 - 25 * 2.0)) == both[:2]
    assert (0.95, "studentized", "") == both[2:]
    greater = studentized_interval(**options, confidence_level=0.9, alternative="greater")
    assert near((10 - 900 * 2.0, math.inf)) == greater[:2]
    less = studentized_interval(**options, confidence_level=0.9, alternative="less")
    assert near((-math.inf, 10 - 100 * 2.0)) == less[:2]


def test_studentized__enumerated() -> None:
    """All 27 resamples of three rows: the three of a single row have no standard error."""
    x = np.array([0.0, 1.0, 5.0])
    rows = np.array([x[list(rows)] for rows in all_bootstraps(3)])
    interval = studentized_interval(
        2.0, x.std() / math.sqrt(3), rows.mean(axis=1), rows.std(axis=1) / math.sqrt(3)
    )
    t = sorted((r.mean() - 2.0) / (r.std() / math.sqrt(3)) for r in rows if r.min() < r.max())
    # Of 24 values, linear interpolation at 23 x 0.975 = 22.425 and at 0.575.
    high, low = t[22] + 0.425 * (t[23] - t[22]), t[0] + 0.575 * (t[1] - t[0])
    error = x.std() / math.sqrt(3)
    assert near((2.0 - high * error, 2.0 - low * error)) == interval[:2]
    assert (
        "3 of 27 replicates have no standard error (0 or undefined) and are left out"
        == interval.note
    )


def test_studentized__left_out() -> None:
    """Undefined replicates are left out in silence, those without a standard error are counted."""
    nan = math.nan
    replicates = np.array([1.0, 2.0, nan, 3.0, 4.0, 1.5])
    errors = np.array([0.5, 0.5, 0.5, nan, 0.0, 1e-9])
    interval = studentized_interval(1.0, 1.0, replicates, errors, rounding=1e-8)
    assert near((1.0 - 1.95, 1.0 - 0.05)) == interval[:2]
    assert interval.note.startswith("3 of 6 replicates have no standard error")
    without = studentized_interval(1.0, 1.0, replicates[:3], errors[:3])
    assert interval[:2] == without[:2]
    assert "" == without.note


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_studentized__ends(side: str) -> None:
    """NaN where nothing is left or the sample's error is undefined; a point where that is 0."""
    one, zero = np.ones(5), np.zeros(5)
    for error, errors in ((1.0, zero), (math.nan, one)):
        interval = studentized_interval(1.0, error, one, errors, alternative=side)
        assert all(math.isnan(limit) for limit in interval[:2])
    assert (1.0, 1.0) == studentized_interval(1.0, 0.0, one, zero)[:2]


@given(st.integers(0, 1_000), st.floats(0.1, 10.0), st.booleans(), st.floats(-5.0, 5.0))
def test_studentized__equivariant(seed: int, scale: float, flip: bool, shift: float) -> None:
    """Limits move with the data, and change sides with its sign."""
    rng = np.random.default_rng(seed)
    replicates, errors = rng.normal(size=99), rng.lognormal(size=99)
    low, high = studentized_interval(0.2, 1.3, replicates, errors)[:2]
    factor = -scale if flip else scale
    moved = studentized_interval(
        factor * 0.2 + shift, scale * 1.3, factor * replicates + shift, scale * errors
    )
    expected = sorted([factor * low + shift, factor * high + shift])
    # Values of up to 1,000 and their roundings of 2.2e-16, times ten operations.
    assert expected == pytest.approx(moved[:2], rel=1e-11, abs=1e-11)


@pytest.mark.slow
def test_studentized__covers_skewed_data() -> None:
    """Means of 20 lognormal values at 95 %: bootstrap-t covers 91.8 %, percentiles cover 85.4 %.

    Expected rates from 50,000 samples with 999 resamples each (NumPy, none of this code), good to
    0.002 with one standard error.
    """
    n, n_samples, rng = 20, 4_000, np.random.default_rng(SEED)
    truth = math.exp(0.5)
    covered = {"studentized": 0, "percentile": 0}
    for _ in range(n_samples):
        x = rng.lognormal(size=n)
        replicates, squares = resampled(x, 999, rng)
        estimate, error = float(x.mean()), float(x.std()) / math.sqrt(n)
        found = {
            "studentized": studentized_interval(estimate, error, replicates, np.sqrt(squares)),
            "percentile": intervals.interval(
                replicates,
                estimate,
                confidence_level=0.95,
                method="percentile",
                alternative="two-sided",
                acceleration=math.nan,
                rounding=0.0,
            ),
        }
        for method, interval in found.items():
            covered[method] += interval.low <= truth <= interval.high
    assert_rate(covered["studentized"], n_samples, 0.918, detects=0.05)
    assert_rate(covered["percentile"], n_samples, 0.854, detects=0.05)
