"""The signed-rank and the sign test, against SciPy, published figures and full enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import fastboot as fb
from fastboot.companions.companion import tied
from fastboot.companions.sign_test import sign_test
from fastboot.companions.signed_rank import _law, _limit_rank, signed_rank_test
from fastboot.pvalues import LEAST_PVALUE

Floats = NDArray[np.float64]
# Sums of some hundred probabilities, each from a few roundings of 1.1e-16.
ROUNDING = 1e-13
SIDES = ("two-sided", "greater", "less")
MIRROR = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
ZERO_METHODS = ("wilcox", "pratt", "zsplit")
SEED = 4

# Darwin (1876): heights of cross- less those of self-fertilized plants, eighths of an inch.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
# Hollander, Wolfe and Chicken (2014), examples 3.1 to 3.4: depression before and after.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]

levels = st.integers(-4, 4).map(float)  # many ties and zeros
anything = st.floats(-1e6, 1e6, allow_subnormal=False)
several = st.one_of(
    st.lists(levels, min_size=1, max_size=60), st.lists(anything, min_size=1, max_size=60)
)


def zeros(differences: Any) -> Floats:
    """Return the scores of a system that has 0 everywhere."""
    return np.zeros(len(differences))


def walsh(differences: Floats) -> Floats:
    """Return all averages of two differences, or one, sorted."""
    first, second = np.triu_indices(differences.size)
    return np.sort((differences[first] + differences[second]) / 2.0)


# Signed ranks


def test_signed_rank__published() -> None:
    """W+, p-value, estimate and interval as in the textbook, R's wilcox.test too."""
    result = signed_rank_test(BEFORE, AFTER, alternative="greater")
    low, high = signed_rank_test(BEFORE, AFTER).confidence_interval[:2]

    assert result.r_plus == 40.0
    assert round(result.pvalue, 5) == 0.01953
    assert round(result.estimate, 2) == 0.46
    assert (round(low, 3), round(high, 3)) == (0.010, 0.786)
    assert round(signed_rank_test(DARWIN, zeros(DARWIN)).pvalue, 5) == 0.04126


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("zero_method", ZERO_METHODS)
@settings(deadline=None)  # the first call compiles
@given(st.lists(levels, min_size=1, max_size=9))
def test_pvalue__enumerated(alternative: str, zero_method: str, differences: list[float]) -> None:
    """All signs of the ranks, ties and zeros and all."""
    d = np.array(differences)
    kept = d if zero_method != "wilcox" else d[d != 0]
    ranks = stats.rankdata(np.abs(kept))
    half = ranks[kept == 0].sum() / 2 if zero_method == "zsplit" else 0.0
    signed, signs = ranks[kept != 0], np.sign(kept[kept != 0])
    sums = np.array(
        [
            sum(signed[np.array(drawn) > 0]) if drawn else 0.0
            for drawn in itertools.product((1, -1), repeat=signed.size)
        ]
    )
    observed = signed[signs > 0].sum()
    greater, less = np.mean(sums >= observed), np.mean(sums <= observed)
    expected = {"two-sided": min(1, 2 * min(greater, less)), "greater": greater, "less": less}
    result = signed_rank_test(d, zeros(d), zero_method=zero_method, alternative=alternative)

    assert result.exact
    assert result.pvalue == expected[alternative]  # multiples of 2**-9
    assert result.r_plus == observed + half
    assert result.r_minus == signed.sum() - observed + half


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("n", [1, 5, 20, 50])
def test_pvalue__scipy_exact(n: int, alternative: str) -> None:
    """Without ties the exact p-value is SciPy's."""
    d = np.random.default_rng(SEED).normal(0.3, 1, n)
    expected = stats.wilcoxon(d, alternative=alternative, method="exact").pvalue

    assert signed_rank_test(d, zeros(d), alternative=alternative).pvalue == pytest.approx(
        expected, rel=ROUNDING
    )


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("zero_method", ZERO_METHODS)
def test_signed_rank__scipy_many(zero_method: str, alternative: str) -> None:
    """Beyond 50 the p-value is SciPy's, and so are the rank sums, ties and zeros and all."""
    a, b = np.random.default_rng(SEED).integers(0, 8, (2, 1_000)).astype(float)
    options = {"zero_method": zero_method}
    result = signed_rank_test(a, b, alternative=alternative, zero_method=zero_method)

    assert not result.exact
    assert result.pvalue == stats.wilcoxon(a, b, alternative=alternative, **options).pvalue
    assert result.r_plus == stats.wilcoxon(a, b, alternative="greater", **options).statistic
    assert result.r_minus == stats.wilcoxon(b, a, alternative="greater", **options).statistic
    assert result.n_zero == np.count_nonzero(a == b)


@settings(deadline=None)  # the first call compiles
@given(several)
def test_estimate__is_a_walsh_average(differences: list[float]) -> None:
    """Estimate and interval are, to the last bit, those of all averages sorted."""
    d = tied(np.array(differences), zeros(differences))
    averages, rank = walsh(d), _limit_rank(d.size, 0.025)
    result = signed_rank_test(differences, zeros(differences))

    assert result.estimate == np.median(averages)
    if rank:
        assert result.confidence_interval[:2] == (averages[rank - 1], averages[-rank])
    else:
        assert result.confidence_interval[:2] == (-math.inf, math.inf)


@pytest.mark.parametrize("law", ["normal", "cauchy", "levels", "offset", "exponential"])
def test_estimate__many_rows(law: str) -> None:
    """The search finds the averages of 1,500 differences of any law."""
    rng = np.random.default_rng(SEED)
    d = {
        "normal": rng.normal(size=1_500),
        "cauchy": rng.standard_cauchy(1_500),
        "levels": rng.integers(-2, 3, 1_500).astype(float),
        "offset": 1e6 + rng.normal(size=1_500),
        "exponential": rng.exponential(size=1_500),
    }[law]
    averages, rank = walsh(tied(d, zeros(d))), _limit_rank(d.size, 0.025)
    result = signed_rank_test(d, zeros(d))

    assert result.estimate == np.median(averages)
    assert result.confidence_interval[:2] == (averages[rank - 1], averages[-rank])


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(-(10**6), 10**6), min_size=5, max_size=12, unique_by=abs))
def test_interval__agrees_with_the_test(differences: list[int]) -> None:
    """Without ties or zeros the interval excludes 0 where the exact test rejects."""
    d = [value for value in differences if value]
    result = signed_rank_test(d, zeros(d))
    low, high = result.confidence_interval[:2]

    assert (low > 0.0 or high < 0.0) == (result.pvalue <= 0.05)


@pytest.mark.parametrize("n", [51, 80, 200])
def test_limit_rank__beyond_the_exact(n: int) -> None:
    """The normal rank is that of the exact law, or one to three of n (n + 1) / 2 further out."""
    exact = int(np.searchsorted(np.cumsum(_law(np.arange(1, n + 1))), 0.025, side="right"))

    assert exact - 3 <= _limit_rank(n, 0.025) <= exact


@settings(deadline=None)  # the first call compiles
@given(several, st.sampled_from(SIDES), st.sampled_from(ZERO_METHODS))
def test_signed_rank__exchanged(
    differences: list[float], alternative: str, zero_method: str
) -> None:
    """Exchanging the systems mirrors everything."""
    d, none = np.array(differences), zeros(differences)
    options: dict[str, Any] = {"zero_method": zero_method}
    one = signed_rank_test(d, none, alternative=alternative, **options)
    other = signed_rank_test(none, d, alternative=MIRROR[alternative], **options)

    assert one.pvalue == pytest.approx(other.pvalue, rel=ROUNDING)
    assert (one.r_plus, one.r_minus) == (other.r_minus, other.r_plus)
    assert one.estimate == -other.estimate
    low, high = other.confidence_interval[:2]
    assert one.confidence_interval[:2] == (-high, -low)
    assert one.rank_biserial == pytest.approx(-other.rank_biserial, nan_ok=True)


def test_signed_rank__ties_of_decimals() -> None:
    """Differences that are equal as decimals tie, though not as floats."""
    a, b = np.array([3, 2, 7, 9, 5, 6, 1]), np.array([2, 1, 6, 1, 6, 8, 1])
    expected = signed_rank_test(a, b)
    result = signed_rank_test(a / 10, b / 10)

    assert np.unique(np.abs(a / 10 - b / 10)).size > np.unique(np.abs(a - b)).size
    assert (result.pvalue, result.r_plus) == (expected.pvalue, expected.r_plus)


def test_signed_rank__all_zero() -> None:
    """No differences: p = 1, and no effect size."""
    for zero_method in ZERO_METHODS:
        for n in (3, 60):
            result = signed_rank_test([0.7] * n, [0.7] * n, zero_method=zero_method)
            assert result.pvalue == 1.0
            assert result.r_plus == result.r_minus
            assert result.estimate == 0.0
            assert "all differences are 0: the data say nothing about their sign" in result.notes


def test_signed_rank__constant() -> None:
    """Equal differences all tie; the interval has no width."""
    result = signed_rank_test([1.5] * 8, [1.0] * 8)

    assert result.pvalue == 2 / 2**8
    assert result.rank_biserial == 1.0
    assert result.confidence_interval[:2] == (0.5, 0.5)


def test_signed_rank__too_few() -> None:
    """Five pairs have no 95% interval; a one-sided one they have."""
    d = [1.0, 2.0, 3.0, 4.0, 5.0]
    result = signed_rank_test(d, zeros(d))

    assert result.confidence_interval[:2] == (-math.inf, math.inf)
    assert result.notes == ("5 pairs cannot give an interval of this level; it is infinite",)
    assert signed_rank_test(d, zeros(d), alternative="greater").confidence_interval[:2] == (
        1.0,
        math.inf,
    )
    assert signed_rank_test(d, zeros(d), alternative="less").confidence_interval[:2] == (
        -math.inf,
        5.0,
    )


@pytest.mark.parametrize("test", [signed_rank_test, sign_test])
def test_missing_values(test: Any) -> None:
    """NaN is refused, left out and counted, or makes the answer NaN."""
    a, b = [1.0, math.nan, 3.0], [0.0, 1.0, 1.0]
    left, spread = test(a, b, nan_policy="omit"), test(a, b, nan_policy="propagate")

    assert (left.n_rows, left.n_dropped, left.estimate) == (2, 1, 1.5)
    assert np.isnan([spread.estimate, spread.pvalue, *spread.confidence_interval[:2]]).all()
    assert "undefined" in spread.summary()
    with pytest.raises(ValueError, match=r"`a` has 1 NaN \(first at row 1\)"):
        test(a, b)


@pytest.mark.parametrize("test", [signed_rank_test, sign_test])
def test_refused(test: Any) -> None:
    """What is wrong is refused by name."""
    for options, words in (
        ({"alternative": "up"}, "`alternative` is 'up'"),
        ({"confidence_level": 1}, "`confidence_level` is 1"),
        ({"b": [1, 2, 3]}, "`a` has 2 rows but `b` has 3"),
    ):
        with pytest.raises(ValueError, match=words):
            test(**{"a": [1, 2], "b": [2, 1]} | options)
    with pytest.raises(ValueError, match="`zero_method` is 'drop'; choose one of wilcox, pratt"):
        signed_rank_test([1, 2], [2, 1], zero_method="drop")


@pytest.mark.parametrize("test", [signed_rank_test, sign_test])
@pytest.mark.parametrize(
    "a, b",
    [
        ([1e308, 2.0, 3.0], [-1e308, 1.0, 1.0]),
        ([-1e308, 2.0, 3.0], [0.0, 1.0, 1.0]),  # the sum of the difference with itself
    ],
)
def test_overflow(test: Any, a: list[float], b: list[float]) -> None:
    """Differences whose sums float64 cannot hold are refused, as by the bootstrap; no warning."""
    with pytest.raises(ValueError, match=r"^the values sum to more than float64 can hold; divide"):
        test(a, b)
    halves = test([8e307, 2.0, 3.0], [0.0, 1.0, 1.0])
    assert (math.isfinite(halves.estimate), halves.pvalue) == (True, 0.25)


def test_signed_rank__words() -> None:
    """The sentence has the figures and the law."""
    table = {"cross": DARWIN, "self": [0] * 15}
    result = signed_rank_test("cross", "self", data=table)

    assert result.summary() == (
        "Hodges-Lehmann estimate of a - b 25, 95% interval [4, 41.5]; Wilcoxon signed-rank test "
        "(exact), W+ = 96, two-sided p = 0.0413, rank-biserial correlation 0.6 (15 pairs)."
    )
    assert repr(result) == "SignedRankResult(25 [4, 41.5], p = 0.0413, n_rows=15)"
    assert result.to_dict()["exact"] is True
    few = signed_rank_test([1.0, 2.0, 3.0] * 30, [1.0, 1.0, 1.0] * 30, zero_method="pratt")
    assert "(normal approximation)" in few.summary()
    assert "(90 pairs, 30 of them 0 (pratt))." in few.summary()


def test_signed_rank__signature() -> None:
    """The line names the columns, every setting and the law; what differs in one has another."""
    table = {"x": [3.0, 1.0, 2.0], "y": [1.0, 1.0, 4.0], "hole": [1.0, None, 1.0]}

    def signed(a: str = "x", b: str = "y", **options: Any) -> str:
        return signed_rank_test(a, b, data=table, **options).signature()

    assert signed(zero_method="pratt", alternative="less", confidence_level=0.9) == (
        f"fastboot:{fb.__version__}|procedure:signed_rank_test|a:x|b:y|method:signed-rank|"
        "confidence_level:0.9|alternative:less|exact:True|zero_method:pratt|n_rows:3"
    )
    many = signed_rank_test(np.arange(1.0, 52.0), zeros(range(51))).signature()
    assert "|a:values|b:values|" in many
    assert many.endswith("|exact:False|zero_method:wilcox|n_rows:51")
    assert signed(b="hole", nan_policy="omit").endswith("|n_rows:2|nan_policy:omit|n_dropped:1")
    different = [
        signed(), signed("y", "x"), signed(confidence_level=0.9), signed(alternative="greater"),
        signed(alternative="less"), signed(zero_method="pratt"), signed(zero_method="zsplit"),
        signed(b="hole", nan_policy="omit"), many,
    ]  # fmt: skip
    assert len(set(different)) == len(different)


# Signs


@given(several, st.sampled_from(SIDES))
def test_sign_test__scipy(differences: list[float], alternative: str) -> None:
    """The p-value is SciPy's binomial test, the interval that of its quantile test."""
    d = np.array(differences)
    d[np.abs(d) <= 2.0**-50 * np.abs(d).max()] = 0.0  # what rounding may leave
    above, below = int((d > 0).sum()), int((d < 0).sum())
    result = sign_test(d, zeros(d), alternative=alternative)
    interval = stats.quantile_test(d, alternative=alternative).confidence_interval(0.95)

    assert (result.n_above, result.n_below) == (above, below)
    if above + below:
        assert result.pvalue == stats.binomtest(above, above + below, 0.5, alternative).pvalue
    else:
        assert result.pvalue == 1.0
    assert result.estimate == pytest.approx(np.median(d), rel=ROUNDING, abs=0.0)
    for found, expected, missing in zip(
        result.confidence_interval[:2], interval, (-math.inf, math.inf), strict=True
    ):
        assert found == (missing if math.isnan(expected) else expected)


@given(several, st.sampled_from(SIDES))
def test_sign_test__exchanged(differences: list[float], alternative: str) -> None:
    """Exchanging the systems mirrors everything."""
    d, none = np.array(differences), zeros(differences)
    one = sign_test(d, none, alternative=alternative)
    other = sign_test(none, d, alternative=MIRROR[alternative])

    assert one.pvalue == pytest.approx(other.pvalue, rel=ROUNDING)
    assert (one.n_above, one.n_zero, one.n_below) == (other.n_below, other.n_zero, other.n_above)
    assert one.estimate == -other.estimate
    low, high = other.confidence_interval[:2]
    assert one.confidence_interval[:2] == (-high, -low)


@pytest.mark.parametrize("n", range(1, 11))
def test_sign_test__enumerated(n: int) -> None:
    """All signs of n differences: the p-value counts those as far from even."""
    for above in range(n + 1):
        signs = np.array([sum(drawn) for drawn in itertools.product((0, 1), repeat=n)])
        expected = np.mean(np.abs(2 * signs - n) >= abs(2 * above - n))
        d = np.repeat([1.0, -1.0], [above, n - above])
        assert sign_test(d, zeros(d)).pvalue == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("alternative, sign", [("two-sided", 1), ("greater", 1), ("less", -1)])
@pytest.mark.parametrize("test", [signed_rank_test, sign_test])
def test_pvalue__is_never_0(test: Any, alternative: str, sign: int) -> None:
    """Of 20,000 signs that agree the probability has no float64."""
    result = test(sign * np.arange(1.0, 20_001.0), np.zeros(20_000), alternative=alternative)

    assert result.pvalue == LEAST_PVALUE
    assert "p < 2.23e-308" in result.summary()
    assert "p < 2.23e-308" in repr(result)


def test_sign_test__zeros() -> None:
    """Zeros are left out of the test, also those of decimals, and kept in the median."""
    result = sign_test([0.1 + 0.2, 1.0, 2.0, 3.0], [0.3, 0.0, 0.0, 0.0])
    nothing = sign_test([0.5, 0.5], [0.5, 0.5])

    assert (result.n_above, result.n_zero, result.pvalue, result.estimate) == (3, 1, 0.25, 1.5)
    assert nothing.pvalue == 1.0
    assert "all differences are 0: the data say nothing about their sign" in nothing.notes


def test_sign_test__words() -> None:
    """The sentence has the counts and the figures."""
    result = sign_test(DARWIN, zeros(DARWIN))

    assert result.summary() == (
        "a is above b in 13, equal in 0 and below in 2 of 15 pairs; sign test, two-sided p = "
        "0.00739; median of a - b 24, 95% interval [8, 49]."
    )
    assert repr(result) == "SignTestResult(24 [8, 49], p = 0.00739, n_rows=15)"


def test_sign_test__signature() -> None:
    """The line names the columns, every setting and what is done with zeros."""
    table = {"x": [3.0, 1.0, 2.0], "y": [1.0, 1.0, 4.0], "hole": [1.0, None, 1.0]}

    def signed(a: str = "x", b: str = "y", **options: Any) -> str:
        return sign_test(a, b, data=table, **options).signature()

    assert signed(alternative="less", confidence_level=0.9) == (
        f"fastboot:{fb.__version__}|procedure:sign_test|a:x|b:y|method:sign|confidence_level:0.9|"
        "alternative:less|exact:True|zeros:left out|n_rows:3"
    )
    assert signed(b="hole", nan_policy="omit").endswith("|n_rows:2|nan_policy:omit|n_dropped:1")
    different = [
        signed(), signed("y", "x"), signed(confidence_level=0.9), signed(alternative="greater"),
        signed(alternative="less"), signed(b="hole", nan_policy="omit"),
        sign_test([3.0, 1.0], [1.0, 1.0]).signature(),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


@pytest.mark.parametrize("size", [1.0, 1e6, 1e13, 1e300])
@pytest.mark.parametrize("place", [0, 3, 6])
def test_large_pair__equal_in_both(size: float, place: int) -> None:
    """A pair without a difference is that, however large: others keep theirs (SciPy on a - b)."""
    a = np.insert([0.005, 0.006, 0.007, 0.002, 0.003, 0.0085], place, size)
    b = np.insert([0.001, 0.0011, 0.003, 0.0043, 0.0012, 0.0015], place, size)
    differences = a - b
    expected = stats.wilcoxon(np.delete(differences, place)).pvalue
    signs = sign_test(a, b)

    assert signed_rank_test(a, b).pvalue == pytest.approx(expected, rel=ROUNDING)
    assert (signs.n_above, signs.n_zero, signs.n_below) == (5, 1, 1)


def test_large_pair__rounded() -> None:
    """A difference of one unit in the last place of a large score is none; others keep theirs."""
    a = np.array([np.nextafter(1e13, 2e13), 0.005, 0.006, 0.007, 0.002])
    b = np.array([1e13, 0.001, 0.0011, 0.003, 0.0043])
    result = signed_rank_test(a, b)

    assert result.n_zero == 1
    assert result.pvalue == stats.wilcoxon((a - b)[1:]).pvalue
