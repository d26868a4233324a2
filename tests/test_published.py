"""Published results, and those of SciPy, on the same data.

"Printed" figures were made with few resamples; they are matched within their own error. The others
are exact, or come from formulas.
"""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from enumeration import (
    DEVIATIONS,
    assert_standard_error,
    complete,
    exact_error,
    law_of_resamples,
)
from scipy import stats
from statistical import FALSE_FAILURE, assert_rate, assert_same_distribution

import fastboot as fb
from fastboot.reference import randomization_pvalue

if TYPE_CHECKING:
    from collections.abc import Sequence


DATA = Path(__file__).with_name("data")
SEED = 20_240_302

# Moments are sums of up to 16,777,216 terms near 1: NumPy's pairwise sum loses 24 x 1.1e-16 of
# them, and the expected figures were summed in another order.
MOMENTS = 1e-12


def near(expected: Any) -> Any:
    """Equal but for rounding of sums."""
    return pytest.approx(expected, abs=MOMENTS, rel=MOMENTS)


class Correlation(fb.Additive):
    """Pearson's correlation, from five sums."""

    def terms(self, x: Any, y: Any) -> Sequence[Any]:
        """Moments of a row."""
        return 1.0, x, y, x * x, y * y, x * y

    def finish(self, n: Any, x: Any, y: Any, xx: Any, yy: Any, xy: Any) -> Any:
        """Covariance over standard deviations."""
        return (n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y))


class Variance(fb.Additive):
    """Plug-in variance."""

    def terms(self, x: Any) -> Sequence[Any]:
        """Moments of a row."""
        return 1.0, x, x * x

    def finish(self, n: Any, x: Any, xx: Any) -> Any:
        """Mean square less squared mean."""
        return xx / n - (x / n) ** 2


def bca_level(bias: float, acceleration: float, tail: float) -> float:
    """Level of the BCa limit (Efron 1987)."""
    shifted = bias + stats.norm.ppf(tail)
    return float(stats.norm.cdf(bias + shifted / (1 - acceleration * shifted)))


def assert_quantile(replicates: Any, value: float, level: float, *, detects: float) -> None:
    """Assert that independent replicates have their quantile of this level at this value."""
    below = int((np.asarray(replicates) < value).sum())
    assert_rate(below, len(replicates), level, detects=detects)


def assert_printed_limit(share: float, n: int, level: float) -> None:
    """Assert that a limit printed after n resamples has this share of the law below it.

    The k-th of n independent values has a Beta(k, n + 1 - k) share below it.
    """
    k = level * (n + 1)
    low, high = stats.beta.ppf([FALSE_FAILURE / 2, 1 - FALSE_FAILURE / 2], k, n + 1 - k)
    assert low < share < high


# Textbooks: the ratio of two sums. The data set city of Davison and Hinkley (1997), from R's boot.

CITY_1920 = [138, 93, 61, 179, 48, 37, 29, 23, 30, 2]
CITY_1930 = [143, 104, 69, 260, 75, 63, 50, 48, 111, 50]
N_CITY = 1_000_000


@pytest.fixture(scope="module")
def city_law() -> tuple[Any, Any]:
    """Values of all resamples, and the number of ways to each."""

    def value(rows: list[int]) -> float:
        return sum(CITY_1930[i] for i in rows) / sum(CITY_1920[i] for i in rows)

    return law_of_resamples(10, value)


@pytest.fixture(scope="module")
def city_quantiles(city_law: tuple[Any, Any]) -> Any:
    """A million equally likely values for the 10^10 resamples: the middle of each millionth."""
    values, ways = city_law
    middles = (np.arange(N_CITY) + 0.5) / N_CITY
    return values[np.searchsorted(ways.cumsum(), middles * 10.0**10)]


@pytest.fixture(scope="module")
def city() -> fb.BootstrapResult:
    """Return a sampled run."""
    return fb.bootstrap(fb.ratio(CITY_1930, CITY_1920), n_resamples=99_999, rng=SEED)


def assert_law_quantile(law: tuple[Any, Any], level: float, *limits: float) -> None:
    """Assert that limits are quantiles of the law but for the millionths it was cut into."""
    values, ways = law
    shares = ways.cumsum() / ways.sum()
    low, high = values[np.searchsorted(shares, [level - 2 / N_CITY, level + 2 / N_CITY])]
    for limit in limits:
        assert low - MOMENTS <= limit <= high + MOMENTS


def test_city__moments(
    city: fb.BootstrapResult, city_law: tuple[Any, Any], city_quantiles: Any
) -> None:
    """Standard error and bias of all 92,378 multisets, and of a sampled run."""
    values, ways = city_law
    mean = (values * ways).sum() / ways.sum()
    assert 1.5203125 == city.estimate
    assert 0.039473600041678 == near(mean - city.estimate)
    assert 0.221498053029644 == near(math.sqrt((ways * (values - mean) ** 2).sum() / ways.sum()))
    # A millionth of the law has one value: it is moved by less than the range over a million.
    exact = replace(city, replicates=city_quantiles)
    assert 0.221498053029644 == pytest.approx(exact.standard_error, abs=np.ptp(values) / N_CITY)
    assert_standard_error(city, 0.221498053029644)
    error = DEVIATIONS * 0.2215 / math.sqrt(city.n_resamples)
    assert 0.039473600041678 == pytest.approx(city.replicates.mean() - 1.5203125, abs=error)


@pytest.mark.parametrize(
    "level,low,high",
    [
        (0.95, 1.2511160714285714, 2.1069767441860465),
        (0.90, 1.2857142857142858, 1.968045112781955),
    ],
)
def test_city__percentile(
    city: fb.BootstrapResult,
    city_law: tuple[Any, Any],
    city_quantiles: Any,
    level: float,
    low: float,
    high: float,
) -> None:
    """The exact percentile limits; a sampled run has the nominal share below them."""
    tail = (1 - level) / 2
    exact = replace(city, replicates=city_quantiles).interval(level, "percentile")
    assert_law_quantile(city_law, tail, low, exact.low)
    assert_law_quantile(city_law, 1 - tail, high, exact.high)
    sampled = city.interval(level, "percentile")
    values, ways = city_law
    for limit, nominal in ((sampled.low, tail), (sampled.high, 1 - tail)):
        share = ways[values <= limit].sum() / ways.sum()
        assert_printed_limit(float(share), city.n_resamples, nominal)


@pytest.mark.parametrize(
    "level,low,high",
    [
        (0.95, 1.2524366471734893, 2.1127098321342928),
        (0.90, 1.2868719611021069, 1.9719887955182074),
    ],
)
def test_city__bca(
    city: fb.BootstrapResult,
    city_law: tuple[Any, Any],
    city_quantiles: Any,
    level: float,
    low: float,
    high: float,
) -> None:
    """The exact BCa limits, by the conventions of the source.

    It takes the acceleration from the influence function of the ratio, 0.00221, and counts
    resamples equal to the estimate (0.036 %) as above it; both are given to the result here. The
    leave-one-out acceleration of these ten cities is another one, checked below.
    """
    bias, acceleration = 0.0021752249058762077, 0.0022087676648724045
    ties = np.abs(city_quantiles - city.estimate) <= city.rounding
    replicates = np.where(ties, city.estimate + 1e-9, city_quantiles)
    exact = replace(city, replicates=replicates, acceleration=acceleration)
    limits = exact.interval(level, "bca")
    tail = (1 - level) / 2
    assert_law_quantile(city_law, bca_level(bias, acceleration, tail), low, limits.low)
    assert_law_quantile(city_law, bca_level(bias, acceleration, 1 - tail), high, limits.high)


def test_city__acceleration(city: fb.BootstrapResult) -> None:
    """The acceleration is that of the ten leave-one-out ratios."""
    u, x = np.array(CITY_1920), np.array(CITY_1930)
    left = (x.sum() - x) / (u.sum() - u)
    d = left.mean() - left
    assert (d**3).sum() / (6 * (d**2).sum() ** 1.5) == near(city.acceleration)


def test_city__printed_by_r(city: fb.BootstrapResult, city_law: tuple[Any, Any]) -> None:
    """R's boot with 999 resamples: bias 0.0490, error 0.2158, 90 % and 95 % intervals."""
    values, ways = city_law
    fourth = (ways * (values - values.mean()) ** 4).sum() / ways.sum()
    variance = city.standard_error**2
    assert abs(0.21583**2 - variance) <= DEVIATIONS * math.sqrt((fourth - variance**2) / 999)
    bias = city.replicates.mean() - city.estimate
    assert abs(0.049024 - bias) <= DEVIATIONS * city.standard_error / math.sqrt(999)
    for level, low, high in ((0.90, 1.299, 1.987), (0.95, 1.266, 2.085)):
        tail = (1 - level) / 2
        assert_printed_limit(float((city.replicates < low).mean()), 999, tail)
        assert_printed_limit(float((city.replicates < high).mean()), 999, 1 - tail)
    # The basic interval reflects the percentile one.
    for level, low, high in ((0.90, 1.054, 1.742), (0.95, 0.956, 1.775)):
        tail = (1 - level) / 2
        reflected = 2 * city.estimate - city.replicates
        assert_printed_limit(float((reflected < low).mean()), 999, tail)
        assert_printed_limit(float((reflected < high).mean()), 999, 1 - tail)
        ours = city.interval(level, "basic")
        assert_printed_limit(float((reflected < ours.low).mean()), city.n_resamples, tail)


# Textbooks: the patch data of Efron and Tibshirani (1993), table 10.1, from R's bootstrap

PATCH_Z = [8406, 2342, 8187, 8459, 4795, 3516, 4796, 10238]
PATCH_Y = [-1200, 2601, -2705, 1982, -1290, 351, -638, -2719]


def test_patch__complete_distribution() -> None:
    """All 16,777,216 resamples, and a sampled run: ratio, bias, error, percentiles."""

    def value(rows: list[int]) -> float:
        return sum(PATCH_Y[i] for i in rows) / sum(PATCH_Z[i] for i in rows)

    sampled = fb.bootstrap(fb.ratio(PATCH_Y, PATCH_Z), n_resamples=99_999, rng=SEED)
    exact = replace(sampled, replicates=np.repeat(*law_of_resamples(8, value)))
    assert 8**8 == exact.n_resamples
    assert -0.07130609590256017 == near(exact.estimate)
    assert 0.007760505663377562 == near(exact.replicates.mean() - exact.estimate)
    assert 0.10231380623192837 == near(exact_error(exact))
    for level, low, high in (
        (0.95, -0.23123189609047803, 0.16588516839504253),
        (0.90, -0.21145538904591754, 0.12095833775045055),
    ):
        assert [low, high] == near(list(exact.interval(level)[:2]))
    assert_standard_error(sampled, 0.10231380623192837)
    # Printed after 400 resamples: error .105, bias .0043.
    assert_standard_error(replace(exact, replicates=sampled.replicates[:400]), 0.105)
    assert abs(0.0043 - 0.00776) <= DEVIATIONS * exact.standard_error / math.sqrt(400)


# Textbooks: air conditioning failures (Davison and Hinkley 1997, example 1.1), from R's boot

HOURS = [3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487]


def test_aircondit__mean() -> None:
    """Mean, plug-in error, and the intervals from the exact law of a sum of twelve draws."""
    result = fb.bootstrap(HOURS, n_resamples=99_999, rng=SEED)
    assert 108.08333333333333 == near(result.estimate)
    assert_standard_error(result, 37.65255235802845)
    one = np.bincount(HOURS) / 12
    law = np.ones(1)
    for _ in range(12):
        law = np.convolve(law, one)
    below = law.cumsum()
    # Limits published after two million resamples are atoms of the law.
    for limit, level in (
        (46.833333333333336, 0.025),
        (53.333333333333336, 0.05),
        (176.0, 0.95),
        (191.16666666666666, 0.975),
    ):
        atom = round(12 * limit)
        share = float(below[atom - 1] + law[atom] / 2)
        # Two million draws leave the level uncertain by 1e-4.
        error = DEVIATIONS * math.sqrt(level * (1 - level) / 2_000_000) + law[atom] / 2
        assert share == pytest.approx(level, abs=error)
        n_below = int((np.rint(12 * result.replicates) < atom).sum())
        assert_rate(n_below, result.n_resamples, float(below[atom - 1]), detects=0.02)
    # Printed after 999 resamples: percentile, then basic reflected.
    for low, high in ((46.8, 195.0), (2 * 108.0833 - 169.4, 2 * 108.0833 - 21.2)):
        assert_printed_limit(float(below[math.floor(12 * low)]), 999, 0.025)
        assert_printed_limit(float(below[math.floor(12 * high)]), 999, 0.975)


def test_aircondit__normal_interval() -> None:
    """With the plug-in error, the normal interval is estimate +- 1.96 x 37.65."""
    result = fb.bootstrap(HOURS, rng=0)
    # Replicates of this mean and this standard deviation (ddof 1).
    spread = 37.65255235802845 / math.sqrt(2)
    exact = replace(result, replicates=108.08333333333333 + np.array([-spread, spread]))
    assert 37.65255235802845 == near(exact.standard_error)
    margin = 1.959963984540054 * 37.65255235802845
    expected = [108.08333333333333 - margin, 108.08333333333333 + margin]
    assert expected == near(list(exact.interval(0.95, "normal")[:2]))


# Textbooks: Darwin's maize (Fisher 1935, section 21)

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_darwin__all_swaps() -> None:
    """Fisher's 1,726 of 32,768, 863 on one side."""
    result = fb.approximate_randomization(DARWIN, [0] * 15, n_resamples=32_768)
    assert ("enumeration", 32_768, 1_726) == (result.path, result.n_resamples, result.n_extreme)
    assert 1_726 / 32_768 == result.pvalue
    assert (863, 863 / 32_768) == result.test("greater")[1::-1]


@pytest.mark.parametrize("path", ["tables", "collapse"])
def test_darwin__sampled_swaps(path: str) -> None:
    """Sampled swaps within Monte Carlo error."""
    result = fb.approximate_randomization(DARWIN, [0] * 15, n_resamples=40_000, rng=SEED, path=path)
    assert_rate(result.n_extreme, 40_000, 1_726 / 32_768, detects=0.01)


# Textbooks: statistics of five and of two sums (Efron and Tibshirani 1993), from R's bootstrap

LSAT = [576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594]
GPA = [3.39, 3.3, 2.81, 3.03, 3.44, 3.07, 3.0, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96]
SPATIAL_A = [
    48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26,
    30, 41,
]  # fmt: skip


@pytest.mark.parametrize(
    "statistic,estimate,error,bias,acceleration,limits",
    [
        pytest.param(
            Correlation(LSAT, GPA),
            0.7763744912894417,
            0.13355735405749297,
            -0.09832906433840653,
            -0.07567156493788982,
            {0.025: 0.3314320446025769, 0.05: 0.4283968735425493, 0.95: 0.9267481204855786,
             0.975: 0.9415420663109668},
            id="law school",
        ),
        pytest.param(
            Variance(SPATIAL_A),
            171.53402366863918,
            41.827867602643664,
            0.1785952811685377,
            0.061240119812306856,
            {0.025: 105.7514792899409, 0.05: 115.71005917159755, 0.95: 261.23668639053255,
             0.975: 279.0828402366863},
            id="spatial test",
        ),
    ],
)  # fmt: skip
def test_statistic_of_ones_own(
    statistic: fb.Additive,
    estimate: float,
    error: float,
    bias: float,
    acceleration: float,
    limits: dict[float, float],
) -> None:
    """Correlation and variance by the protocol: error and BCa limits of 2,000,000 resamples."""
    n = 99_999
    result = fb.bootstrap(statistic, n_resamples=n, rng=SEED)
    # The moments of the scores are up to 1e6 times the variances they are subtracted to.
    assert estimate == pytest.approx(result.estimate, rel=1e-9)
    assert acceleration == pytest.approx(result.acceleration, rel=1e-7)
    # The expected error was sampled too: a twentieth of the variance of ours.
    assert_standard_error(result, error)
    # The bias correction is a normal quantile of a share near 1/2, of n replicates.
    uncertain = DEVIATIONS * math.sqrt(math.pi / 2 / n)
    for tail, limit in limits.items():
        level = bca_level(bias, acceleration, tail)
        assert_quantile(result.replicates, limit, level, detects=0.02)
        interval = result.interval(1 - 2 * min(tail, 1 - tail), "bca")
        ours = interval.low if tail < 0.5 else interval.high
        low, high = (bca_level(bias + u, acceleration, tail) for u in (-uncertain, uncertain))
        # np.quantile interpolates: one replicate more or less.
        assert low - 1 / n < (result.replicates < ours).mean() < high + 1 / n


# Paired 0/1 answers: only the counts of the four kinds of items matter


@pytest.mark.parametrize(
    "both,only_a,only_b,n,difference,error,pvalue",
    [
        pytest.param(306, 209, 152, 1_319, 0.043214556482183475, 0.014355623359271628,
                     0.003150656880360618, id="GSM8K, 6b verification - 175b finetuning"),
        pytest.param(1_502, 101, 59, 1_821, 0.023064250411861616, 0.0069251846987165066,
                     0.0011229051962340462, id="SST-2, LSTM - CNN"),
        pytest.param(422, 290, 204, 1_094, 0.07861060329067641, 0.020176875635305788,
                     0.00012647868281353037, id="Fig-QA, GPT-3 - GPT-Neo"),
        pytest.param(3_581, 363, 265, 5_010, 0.019560878243512974, 0.00499434157745793,
                     0.00010533354472537604, id="XNLI en, mLPP - mT5"),
    ],
)  # fmt: skip
def test_paired_answers(
    both: int, only_a: int, only_b: int, n: int, difference: float, error: float, pvalue: float
) -> None:
    """Difference, standard error and the exact (McNemar) p-value of two systems' 0/1 answers."""
    kinds = [both, only_a, only_b, n - both - only_a - only_b]
    a, b = (np.repeat(answers, kinds) for answers in ([1, 1, 0, 0], [1, 0, 1, 0]))
    sampled = fb.paired_bootstrap(a, b, rng=SEED)
    assert difference == near(sampled.estimate)
    assert_standard_error(sampled, error)
    # A million resamples take 0.1 s, and show a fifth of the largest of these p-values.
    swaps = fb.approximate_randomization(a, b, n_resamples=1_000_000, rng=SEED)
    assert only_a + only_b == swaps.n_differing
    assert pvalue == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue, rel=1e-9)
    assert_rate(swaps.n_extreme, 1_000_000, pvalue, detects=6e-4)


@pytest.mark.parametrize("only_a,only_b", [(0, 1), (1, 0), (3, 3), (2, 5), (8, 1), (0, 12), (6, 7)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_binomtest__equals_all_swaps(only_a: int, only_b: int, alternative: str) -> None:
    """On 0/1 answers all swaps give SciPy's exact binomial test of the discordant pairs."""
    a, b = [1] * only_a + [0] * only_b + [1, 0], [0] * only_a + [1] * only_b + [1, 0]
    ours = fb.approximate_randomization(a, b, n_resamples=2**13, alternative=alternative)
    theirs = stats.binomtest(only_a, only_a + only_b, alternative=alternative)
    assert ("enumeration", theirs.pvalue) == (ours.path, pytest.approx(ours.pvalue, rel=MOMENTS))


# Groups


def test_fig_qa__pairs_of_opposite_readings() -> None:
    """Two readings of a metaphor are one unit; errors within a pair cancel."""
    # The difference of the answers (GPT-3 less GPT-Neo) to both readings, and how many pairs.
    pairs = {(0, 0): 187, (0, 1): 93, (-1, 1): 75, (1, 0): 60, (1, -1): 56, (0, -1): 43,
             (-1, 0): 30, (1, 1): 3}  # fmt: skip
    differences = [d for pair, count in pairs.items() for d in pair * count]
    groups = np.arange(len(differences)) // 2
    result = fb.paired_bootstrap(differences, [0] * 1_094, groups=groups, rng=SEED)
    assert (1_094, 547) == (result.n_rows, result.n_units)
    assert 0.07861060329067641 == near(result.estimate)
    assert_standard_error(result, 0.013695267344778644)


def test_xnli__three_hypotheses_to_a_premise() -> None:
    """Three examples share a premise; the mean of equal groups has a closed form."""
    # Right answers of the two systems to the three examples, and how many premises.
    premises = {(3, 3): 609, (2, 2): 433, (3, 2): 189, (2, 3): 129, (1, 1): 103, (2, 1): 74,
                (1, 2): 65, (3, 1): 28, (1, 3): 11, (1, 0): 9, (0, 0): 6, (0, 2): 5, (0, 1): 4,
                (2, 0): 3, (0, 3): 2}  # fmt: skip
    a, b = (
        [int(i < kind[system]) for kind, n in premises.items() for _ in range(n) for i in range(3)]
        for system in (0, 1)
    )
    groups = np.arange(5_010) // 3
    result = fb.paired_bootstrap(a, b, groups=groups, rng=SEED)
    assert 1_670 == result.n_units
    assert [0.7872255489021956, 0.7676646706586826] == near([result.estimate_a, result.estimate_b])
    assert_standard_error(result, 0.0051674989191444)


def test_xquad__questions_of_a_passage() -> None:
    """Token F1 of 1,190 questions, alone and in 240 passages of different length."""
    with (DATA / "xquad_en_f1.csv").open() as file:
        rows = [row for row in csv.DictReader(file) for _ in range(int(row["questions"]))]
    a, b = ([float(Fraction(row[name])) for row in rows] for name in ("mlpp", "mt5base"))
    alone = fb.paired_bootstrap(a, b, rng=SEED)
    grouped = fb.paired_bootstrap(a, b, groups=[row["passage"] for row in rows], rng=SEED)
    assert (1_190, 240) == (alone.n_units, grouped.n_units)
    # The source stores F1 as float32.
    for result in (alone, grouped):
        assert 0.010762716463508726 == pytest.approx(result.estimate, abs=2.0**-24)
    assert_standard_error(alone, 0.007671841835730428, neglected=2.0**-22)
    assert_standard_error(grouped, 0.0075373120584927965, neglected=1 / 240)


def test_mqm_ted__five_talks() -> None:
    """Five documents: 32 swaps, and no p-value below 0.0625."""
    n_segments = [140, 31, 129, 70, 159]
    online_w, facebook_ai = [2010, 101, 1356, 617, 1854], [1852, 20, 1560, 491, 1663]  # tenths
    talks = np.repeat(np.arange(5), n_segments)
    first = np.flatnonzero(np.diff(talks, prepend=-1))
    a, b = np.zeros((2, 529))
    a[first], b[first] = np.array(online_w) / 10, np.array(facebook_ai) / 10
    result = fb.approximate_randomization(a, b, groups=talks)
    expected = randomization_pvalue(
        [Fraction(x) for x in online_w], [Fraction(x) for x in facebook_ai], sum
    )
    assert [1.1224952741527827, 1.0559546312560206] == pytest.approx(
        [result.estimate_a, result.estimate_b],
        abs=1e-7,  # the source stores scores as float32
    )
    assert ("enumeration", 32, float(expected)) == (
        result.path, result.n_resamples, result.pvalue,
    )  # fmt: skip
    assert (5, 0.0625) == (result.n_units, result.min_pvalue)
    assert any(note.startswith("only 5 groups") for note in result.notes)
    sampled = fb.paired_bootstrap(a, b, groups=talks, rng=SEED)
    complete_run = complete(
        sampled, lambda rows: float((a[rows] - b[rows]).sum() / len(rows)), talks.tolist()
    )
    assert_standard_error(sampled, exact_error(complete_run))


# Corpus scores


def test_conll03__micro_f1() -> None:
    """Published F1 of two taggers, 92.22 and 93.03, and the error of their difference."""
    counts = np.loadtxt(DATA / "conll03_counts.csv", delimiter=",", skiprows=1, dtype=np.int64)
    sentences = np.repeat(counts[:, :6], counts[:, 6], axis=0)
    elmo, flair = (
        fb.f_score(tp=sentences[:, i], fp=sentences[:, i + 1], fn=sentences[:, i + 2])
        for i in (0, 3)
    )
    result = fb.paired_bootstrap(flair, elmo, rng=SEED)
    assert 3_453 == result.n_units
    assert [0.9302736098852604, 0.9221652220060145] == near([result.estimate_a, result.estimate_b])
    assert ["93.03", "92.22"] == [
        f"{100 * f1:.2f}" for f1 in (result.estimate_a, result.estimate_b)
    ]
    assert_standard_error(result, 0.002341687173247168, neglected=1 / 3_453)


@pytest.mark.parametrize(
    "groups,n_units,error",
    [(None, 5_574, 0.004848777191007226), ("text", 5_159, 0.00530658818947509)],
)
def test_sms_spam__f1(groups: str | None, n_units: int, error: float) -> None:
    """F1 of the two classifiers in the package; equal messages widen its error."""
    result = fb.paired_bootstrap(
        fb.f_score("spam", "logistic"),
        fb.f_score("spam", "naive_bayes"),
        data=fb.load_example(),
        groups=groups,
        rng=SEED,
    )
    assert n_units == result.n_units
    assert [0.9569444444444445, 0.947945205479452] == near([result.estimate_a, result.estimate_b])
    assert_standard_error(result, error, neglected=1 / n_units)


@pytest.mark.parametrize(
    "groups,error", [(None, 0.0009041741663342697), ("text", 0.0010110335654268641)]
)
def test_sms_spam__brier_score(groups: str | None, error: float) -> None:
    """Mean squared error of the probabilities."""
    table = fb.load_example().to_pandas()
    for name in ("logistic", "naive_bayes"):
        table[f"{name}_brier"] = (table[f"{name}_probability"].astype(float) - table["spam"]) ** 2
    result = fb.paired_bootstrap(
        "logistic_brier", "naive_bayes_brier", data=table, groups=groups, rng=SEED
    )
    # The probabilities are float32, their squares up to 1.
    assert -0.002849842890773289 == pytest.approx(result.estimate, abs=2.0**-23)
    assert_standard_error(result, error, neglected=1 / result.n_units)


# SciPy


@pytest.fixture
def scores() -> Any:
    """Skewed paired scores; whole numbers, so that sums are exact."""
    rng = np.random.default_rng(SEED)
    return rng.poisson(3, size=(2, 40)) + rng.poisson(2, size=40)


@pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_scipy_bootstrap__intervals(
    scores: Any, method: str, level: float, alternative: str
) -> None:
    """From the same replicates, SciPy reads the same interval."""
    a, b = scores
    ours = fb.paired_bootstrap(
        a, b, method=method.lower(), confidence_level=level, alternative=alternative, rng=SEED
    )
    first = stats.bootstrap((a - b,), np.mean, n_resamples=2, method="percentile", rng=0)
    first.bootstrap_distribution = ours.replicates
    theirs = stats.bootstrap(
        (a - b,), np.mean, n_resamples=0, method=method, confidence_level=level,
        alternative=alternative, bootstrap_result=first,
    )  # fmt: skip
    assert list(theirs.confidence_interval) == near(list(ours.confidence_interval[:2]))
    assert theirs.standard_error == near(ours.standard_error)


def test_scipy_bootstrap__distribution(scores: Any) -> None:
    """SciPy's own replicates follow the same distribution."""
    a, b = scores
    ours = fb.paired_bootstrap(a, b, rng=SEED)
    theirs = stats.bootstrap(
        (a - b,), np.mean, n_resamples=9_999, method="percentile", rng=np.random.default_rng(SEED)
    )
    assert_same_distribution(ours.replicates, theirs.bootstrap_distribution, detects=0.1)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [2, 5, 9])
def test_scipy_permutation_test__exact(scores: Any, n: int, alternative: str) -> None:
    """All swaps give SciPy's exact paired permutation test."""
    a, b = scores[:, scores[0] != scores[1]][:, :n]
    ours = fb.approximate_randomization(a, b, alternative=alternative)
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative=alternative,
    )
    assert (theirs.pvalue, 2**n) == (ours.pvalue, ours.n_resamples)
    assert sorted(theirs.null_distribution / n) == near(sorted(ours.null_distribution))
