"""McNemar's test, against published figures, statsmodels and full enumeration."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fastboot as fb
from fastboot.companions.mcnemar import McNemarResult, mcnemar
from fastboot.pvalues import LEAST_PVALUE

# Sums of binomial probabilities, quantiles of SciPy's: some hundred roundings of 1.1e-16.
ROUNDING = 1e-12
SIDES = ("two-sided", "greater", "less")

# Fagerland, Lydersen and Laake (2013; 2014; 2017, chapter 8), figures as printed by the authors'
# package contingencytables. Pairs by who is right: both, only a, only b, neither.
CAVO = (59, 6, 16, 80)
EZRA = (7, 25, 2, 68)
BENTUR = (1, 1, 7, 12)


def pairs(counts: tuple[int, int, int, int], **options: Any) -> McNemarResult:
    """Test pairs of which so many are right in both, in a, in b and in neither."""
    return mcnemar(np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts), **options)


tables = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


@pytest.mark.parametrize(
    "counts,exact,mid,digits",
    [(CAVO, 0.052479, 0.034690, 6), (BENTUR, 0.0703, 0.0391, 4)],
)
def test_mcnemar__published(
    counts: tuple[int, int, int, int], exact: float, mid: float, digits: int
) -> None:
    """Exact p-values and mid-p of the examples of Fagerland, Lydersen and Laake."""
    result = pairs(counts)

    assert (exact, mid) == (round(result.pvalue, digits), round(result.mid_pvalue, digits))


def test_intervals__published() -> None:
    """Bonett and Price's interval of the difference, and the exact one of the odds ratio."""
    difference, odds = pairs(CAVO), pairs(EZRA)

    assert round(difference.estimate, 4) == -0.0621
    assert [round(one, 4) for one in difference.confidence_interval[:2]] == [-0.1195, -0.0032]
    assert odds.odds_ratio == 12.5
    assert [round(one, 4) for one in odds.odds_ratio_interval[:2]] == [3.1169, 108.8892]


# statsmodels 0.15.0: contingency_tables.mcnemar([[both, only_a], [only_b, neither]], exact=True).
@pytest.mark.parametrize(
    "counts,expected",
    [
        ((70, 8, 1, 21), 0.0390625),
        ((101, 121, 59, 33), 4.4344492637551645e-06),
        ((0, 0, 3, 5), 0.25),
        ((10, 5, 5, 2), 1.0),
        ((1000, 423, 377, 200), 0.11155465468010861),
    ],
)
def test_mcnemar__statsmodels(counts: tuple[int, int, int, int], expected: float) -> None:
    """The exact test is that of statsmodels."""
    assert pairs(counts).pvalue == pytest.approx(expected, rel=ROUNDING, abs=0.0)


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("only_a,only_b", [(0, 0), (0, 1), (1, 1), (4, 1), (3, 3), (2, 7), (9, 0)])
def test_pvalues__enumerated(only_a: int, only_b: int, alternative: str) -> None:
    """All ways that discordant pairs can fall; those exactly as extreme count half in mid-p."""
    n = only_a + only_b
    gaps = np.array([sum(signs) for signs in itertools.product((1, -1), repeat=n)])
    observed = only_a - only_b
    if alternative == "two-sided":
        gaps, observed = np.abs(gaps), abs(observed)
    elif alternative == "less":
        gaps, observed = -gaps, -observed
    result = pairs((3, only_a, only_b, 2), alternative=alternative)

    assert result.pvalue == pytest.approx(np.mean(gaps >= observed), rel=ROUNDING)
    assert result.mid_pvalue == pytest.approx(
        np.mean(gaps >= observed) - np.mean(gaps == observed) / 2, rel=ROUNDING
    )


def test_mcnemar__is_randomization() -> None:
    """Approximate randomization of 0/1 scores, all swaps enumerated, gives the exact p-value."""
    a, b = np.repeat([1, 1, 0, 0], (2, 7, 2, 3)), np.repeat([1, 0, 1, 0], (2, 7, 2, 3))
    swapped = fb.approximate_randomization(a, b, n_resamples=2**14)

    assert mcnemar(a, b).pvalue == pytest.approx(swapped.pvalue, rel=ROUNDING)


@given(tables, st.sampled_from(SIDES), st.floats(0.5, 0.999))
def test_mcnemar__exchanged(
    counts: tuple[int, int, int, int], alternative: str, level: float
) -> None:
    """Exchanging the systems mirrors everything."""
    both, only_a, only_b, neither = counts
    mirror = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[alternative]
    one = pairs(counts, alternative=alternative, confidence_level=level)
    other = pairs((both, only_b, only_a, neither), alternative=mirror, confidence_level=level)

    assert one.pvalue == pytest.approx(other.pvalue, rel=ROUNDING)
    assert one.mid_pvalue == pytest.approx(other.mid_pvalue, rel=ROUNDING)
    assert one.estimate == -other.estimate
    low, high = one.confidence_interval[:2]
    assert (low, high) == pytest.approx(
        [-limit for limit in other.confidence_interval[1::-1]], abs=ROUNDING
    )
    low, high = one.odds_ratio_interval[:2]
    inverse = [1 / limit if limit else math.inf for limit in other.odds_ratio_interval[1::-1]]
    assert (low, high) == pytest.approx(inverse, rel=ROUNDING)


@given(tables.filter(lambda counts: counts[1] + counts[2] > 0), st.sampled_from(SIDES))
def test_odds_ratio_interval__scipy(counts: tuple[int, int, int, int], alternative: str) -> None:
    """Odds at the limits of SciPy's exact interval of the share."""
    _, only_a, only_b, _ = counts
    found = stats.binomtest(only_a, only_a + only_b, alternative=alternative).proportion_ci()
    expected = [share / (1 - share) if share < 1 else math.inf for share in found]
    result = pairs(counts, alternative=alternative)

    # SciPy's limits are roots, found to about 1e-12.
    assert result.odds_ratio_interval[:2] == pytest.approx(expected, rel=1e-9)


@given(tables, st.floats(0.5, 0.999))
def test_odds_ratio_interval__agrees_with_the_test(
    counts: tuple[int, int, int, int], level: float
) -> None:
    """The exact interval excludes 1 where, but for rounding, the exact test rejects."""
    result = pairs(counts, confidence_level=level, alternative="greater")
    alpha = 1.0 - level

    if abs(result.pvalue - alpha) > ROUNDING:
        assert (result.odds_ratio_interval.low > 1.0) == (result.pvalue < alpha)


def test_difference_interval__covers() -> None:
    """Of 25 pairs, over all their outcomes, the 95% interval covers at least 95%."""
    n = 25
    outcomes = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    limits = np.array([pairs((0, i, j, n - i - j)).confidence_interval[:2] for i, j in outcomes])
    shares = (0.02, 0.05, 0.1, 0.2, 0.3)

    for share_a, share_b in itertools.product(shares, shares):
        law = stats.multinomial(n, [share_a, share_b, 1 - share_a - share_b])
        probabilities = law.pmf([(i, j, n - i - j) for i, j in outcomes])
        covers = (limits[:, 0] <= share_a - share_b) & (share_a - share_b <= limits[:, 1])
        assert probabilities[covers].sum() >= 0.95


def test_mcnemar__counts() -> None:
    """Counts, and the figures made of them."""
    result = pairs((5, 3, 1, 2))

    assert (5, 3, 1, 2) == (result.n_both, result.n_only_a, result.n_only_b, result.n_neither)
    assert result.n_discordant == 4
    assert result.table.tolist() == [[5, 3], [1, 2]]
    assert result.n_rows == 11
    assert result.estimate == 2 / 11


def test_mcnemar__no_discordant_pair() -> None:
    """Nothing to test: p = 1, and half the probability of the only outcome."""
    result = pairs((3, 0, 0, 2))

    assert (result.pvalue, result.mid_pvalue) == (1.0, 0.5)
    assert math.isnan(result.odds_ratio)
    assert result.odds_ratio_interval[:2] == (0.0, math.inf)
    low, high = result.confidence_interval[:2]
    assert -1.0 < low < 0.0 < high < 1.0
    assert result.notes == (
        "no discordant pairs: the data say nothing about which system is better",
    )
    assert "odds ratio undefined" in result.summary()


def test_mcnemar__discordant_one_way() -> None:
    """An infinite odds ratio has a lower limit."""
    result = pairs((3, 4, 0, 2))

    assert result.odds_ratio == math.inf
    assert 0.0 < result.odds_ratio_interval.low < math.inf == result.odds_ratio_interval.high
    assert json.loads(result.to_json())["odds_ratio"] is None


@pytest.mark.parametrize("alternative, right", [("two-sided", 1), ("greater", 1), ("less", 0)])
def test_mcnemar__pvalues_are_never_0(alternative: str, right: int) -> None:
    """2**-1200 has no float64."""
    a = np.full(1_200, right)
    result = mcnemar(a, 1 - a, alternative=alternative)

    assert (result.pvalue, result.mid_pvalue) == (LEAST_PVALUE, LEAST_PVALUE)
    assert "p < 2.23e-308 (mid-p < 2.23e-308)" in result.summary()
    assert "p < 2.23e-308, n_rows=1,200" in repr(result)


def test_mcnemar__gold_labels() -> None:
    """With gold labels a system is right where it predicts them, whatever their order."""
    gold = ["cat", "dog", "cow", "cat", "dog", "cow"]
    a, b = ["cat", "dog", "cow", "dog", "cat", "emu"], ["dog", "dog", "cow", "cat", "cow", "cow"]
    right_a, right_b = ([x == y for x, y in zip(gold, one, strict=True)] for one in (a, b))
    table = {"gold": gold, "a": a, "b": b}

    assert (
        mcnemar("a", "b", gold="gold", data=table).to_dict() == mcnemar(right_a, right_b).to_dict()
    )


def test_mcnemar__omit() -> None:
    """Rows with a missing value are dropped and counted."""
    result = mcnemar([1.0, math.nan, 0.0], [0.0, 1.0, 1.0], nan_policy="omit")

    assert (result.n_rows, result.n_dropped, result.n_only_a, result.n_only_b) == (2, 1, 1, 1)


def test_mcnemar__open_side() -> None:
    """One-sided intervals end where the scale does."""
    greater, less = (pairs((5, 9, 2, 5), alternative=side) for side in ("greater", "less"))

    assert greater.confidence_interval.high == 1.0
    assert greater.odds_ratio_interval.high == math.inf
    assert less.confidence_interval.low == -1.0
    assert less.odds_ratio_interval.low == 0.0


@pytest.mark.parametrize(
    "options,words",
    [
        (
            {"a": [0, 2, 0.5]},
            r"`a` has 2 values other than 0 and 1 \(first at row 1: 2\); 1 is right",
        ),
        ({"b": [0, 1, -1]}, r"`b` has 1 value other than 0 and 1 \(first at row 2: -1\)"),
        ({"nan_policy": "propagate"}, "`nan_policy` is 'propagate', but counts cannot be NaN"),
        ({"alternative": "better"}, "`alternative` is 'better'"),
        ({"confidence_level": 95}, "`confidence_level` is 95"),
        ({"gold": ["x", "y", "z"]}, "`gold` holds strings but `a` holds numbers"),
    ],
)
def test_mcnemar__refused(options: dict[str, Any], words: str) -> None:
    """What is wrong is refused by name."""
    with pytest.raises(ValueError, match=words):
        mcnemar(**{"a": [1, 0, 1], "b": [0, 1, 1]} | options)


def test_result__words() -> None:
    """The sentence has every figure; the line, the table and the dict too."""
    result = pairs(CAVO)

    assert result.summary() == (
        "a is right in 65 and b in 75 of 161 pairs (difference -0.06211, 95% Bonett-Price interval "
        "[-0.1195, -0.003201]); only a in 6, only b in 16 (odds ratio 0.375, exact 95% interval "
        "[0.1202, 1.009]); exact McNemar test, two-sided p = 0.0525 (mid-p = 0.0347)."
    )
    assert repr(result) == "McNemarResult(-0.06211 [-0.1195, -0.003201], p = 0.0525, n_rows=161)"
    assert "<td style='text-align:left'>0.03469</td>" in result._repr_html_()
    figures = result.to_dict()
    assert figures["kind"] == "McNemarResult"
    assert figures["confidence_interval_method"] == "bonett-price"
    assert figures["odds_ratio_interval"] == list(result.odds_ratio_interval[:2])
    assert "one-sided (a > b) p = " in pairs(CAVO, alternative="greater").summary()


def test_result__signature() -> None:
    """The line names the columns and every setting; whatever differs in one has another."""
    table = {"x": [1, 0, 1], "y": [0, 1, 1], "right": [1, 1, 1], "hole": [1, None, 0]}

    def signed(a: str = "x", b: str = "y", **options: Any) -> str:
        return mcnemar(a, b, data=table, **options).signature()

    test = "|exact:True|odds_ratio_interval_method:clopper-pearson"
    assert signed(gold="right", alternative="less", confidence_level=0.9) == (
        f"fastboot:{fb.__version__}|procedure:mcnemar|a:x|b:y|gold:right|method:bonett-price|"
        f"confidence_level:0.9|alternative:less{test}|n_rows:3"
    )
    assert signed(b="hole", nan_policy="omit").endswith(
        f"|b:hole|method:bonett-price|confidence_level:0.95|alternative:two-sided{test}|n_rows:2|"
        "nan_policy:omit|n_dropped:1"
    )
    assert signed(nan_policy="omit") == signed()
    different = [
        signed(), signed("y", "x"), signed(gold="right"), signed(confidence_level=0.9),
        signed(alternative="greater"), signed(alternative="less"), pairs(CAVO).signature(),
        signed(b="hole", nan_policy="omit"),
    ]  # fmt: skip
    assert len(set(different)) == len(different)
