"""Ranks of systems over data sets, against Demsar's published example and SciPy."""

from __future__ import annotations

import json
import math
import re
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import integrate, stats
from statistical import assert_rate

import fastboot as fb
from fastboot.companions.friedman import friedman_test
from fastboot.pvalues import LEAST_PVALUE

# Demsar (2006), table 6: AUC of C4.5 and three ways to tune it on 14 data sets. On "voting" the
# last two are printed as 0.975 with ranks 2 and 3, so the digits that were cut off differ.
DEMSAR = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
SCORES = dict(zip(NAMES, DEMSAR.T, strict=True))
# Table 5: critical values for 2 to 10 systems at 0.05 and 0.10. Of Bonferroni-Dunn's for 9 systems
# at 0.05 the paper has 2.724, which is a misprint: the normal quantile of 0.05 / 16 is 2.734.
NEMENYI = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}
DUNN = {
    0.05: [1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.734, 2.773],
    0.10: [1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539],
}


def test_published_example() -> None:
    """Every figure of section 3.2.2, to the digits printed."""
    result = friedman_test(SCORES, correct_ties=False)
    assert result.mean_ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert round(result.chi_squared, 2) == 9.28
    assert round(result.f_statistic, 2) == 3.69
    assert round(result.standard_error, 3) == 0.488
    assert round(result.nemenyi(), 2) == 1.25
    assert round(result.nemenyi(0.10), 2) == 1.12
    # 2.394 x 0.488, which the paper cuts off to 1.16.
    assert round(result.bonferroni_dunn(), 3) == 1.168
    # The paper's p-values, times the comparisons.
    p = friedman_test(SCORES, correct_ties=False, control="C4.5").pvalues() / 3.0
    assert p[[3, 1]].round(3).tolist() == [0.016, 0.019]


def test_published_groups() -> None:
    """At 0.10 pure C4.5 is worse than C4.5+m and C4.5+m+cf; C4.5+cf is in both groups."""
    result = friedman_test(SCORES, alpha=0.10)
    assert result.groups() == [("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5")]
    assert len(friedman_test(SCORES, alpha=0.05).groups()) == 1


@pytest.mark.parametrize("alpha", [0.05, 0.10])
def test_critical_values__published_table(alpha: float) -> None:
    """Differences over their standard error; the table is rounded or cut to three digits."""
    rng = np.random.default_rng(0)
    for k in range(2, 11):
        result = friedman_test(rng.random((5, k)))
        nemenyi = result.nemenyi(alpha) / result.standard_error
        dunn = result.bonferroni_dunn(alpha) / result.standard_error
        assert abs(nemenyi - NEMENYI[alpha][k - 2]) < 1e-3
        assert abs(dunn - DUNN[alpha][k - 2]) < 1e-3


@pytest.mark.parametrize("decimals", [1, 8])
def test_chi_squared__is_scipys(decimals: int) -> None:
    """With and without ties."""
    scores = np.random.default_rng(7).random((12, 5)).round(decimals)
    result = friedman_test(scores)
    expected = stats.friedmanchisquare(*scores.T)
    assert pytest.approx(expected.statistic, rel=1e-12) == result.chi_squared
    assert pytest.approx(expected.pvalue, rel=1e-12) == result.chi_squared_pvalue


def test_f__is_the_analysis_of_variance_of_ranks() -> None:
    """Two ways, systems and data sets; also with ties."""
    scores = np.random.default_rng(8).random((9, 4)).round(1)
    ranks = stats.rankdata(-scores, axis=1)
    n, k = ranks.shape
    between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum()
    rest = ((ranks - ranks.mean(axis=0)) ** 2).sum()
    f = (between / (k - 1)) / (rest / ((k - 1) * (n - 1)))
    result = friedman_test(scores)
    assert pytest.approx(f, rel=1e-12) == result.f_statistic
    assert pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)), rel=1e-12) == result.pvalue


def test_equal_rankings__p_is_that_of_equal_rankings_by_chance() -> None:
    """F is infinite; of the (3!)^3 rankings of three data sets 3! are equal."""
    result = friedman_test([[1, 2, 3]] * 3)
    assert result.f_statistic == math.inf
    all_rankings = product(permutations(range(3)), repeat=3)
    equal = sum(len(set(rankings)) == 1 for rankings in all_rankings)
    assert pytest.approx(equal / 6**3, rel=1e-12) == result.pvalue
    # SciPy's p of this chi-squared, exp(-6 / 2) = 0.0498, is larger: it is not replaced.
    assert result.chi_squared_pvalue == pytest.approx(math.exp(-3.0), rel=1e-12)
    assert result.notes[1].startswith("F: no test of ranks has a smaller p-value than n_systems!^(")


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n", [4, 30])
def test_notes__smallest_pvalue(n: int, k: int) -> None:
    """The note names those whose p-value is that of equal rankings, not of the distribution."""
    result = friedman_test([list(range(k))] * n)
    least = float(math.factorial(k)) ** (1 - n)
    named = [
        name
        for name, law in (("F", 0.0), ("chi-squared", stats.chi2.sf(n * (k - 1.0), k - 1.0)))
        if law <= least
    ]
    (note,) = [note for note in result.notes if "no test of ranks" in note]

    assert note.startswith(f"{' and '.join(named)}: no test of ranks has a smaller p-value than ")
    assert result.pvalue == pytest.approx(least, rel=1e-12)
    ordinary = friedman_test([[1, 2, 3], [1, 3, 2], [2, 3, 1], [3, 1, 2]])
    assert "no test of ranks" not in " ".join(ordinary.notes)


def test_all_tie__undefined() -> None:
    """0 / 0, and no warning; p is 1, as of identical systems in other tests, and a note says so.

    (It was NaN, unlike that of the uncorrected statistic.)
    """
    result = friedman_test([[1, 1], [2, 2]])
    assert math.isnan(result.chi_squared)
    assert json.loads(result.to_json())["chi_squared"] is None
    assert (result.pvalue, result.chi_squared_pvalue) == (1.0, 1.0)
    assert result.notes[-1] == "all systems tie on all data sets"
    assert friedman_test([[1, 1], [2, 2]], correct_ties=False).pvalue == 1.0


def test_errors__lower_is_better() -> None:
    """Ranks of losses are those of their negatives."""
    losses = friedman_test(-DEMSAR, higher_is_better=False)
    assert losses.ranks.tolist() == friedman_test(DEMSAR).ranks.tolist()


def test_order__of_systems_and_data_sets_does_not_matter() -> None:
    """Systems keep their ranks, by name."""
    turned = friedman_test({name: SCORES[name][::-1] for name in NAMES[::-1]})
    straight = friedman_test(SCORES)
    assert turned.mean_ranks[::-1].tolist() == straight.mean_ranks.tolist()
    assert pytest.approx(straight.pvalue, rel=1e-12) == turned.pvalue


def test_sources__are_the_same() -> None:
    """A mapping, names of columns, and an array; missing scores drop the data set."""
    by_name = friedman_test(NAMES, data=SCORES)
    assert by_name.mean_ranks.tolist() == friedman_test(DEMSAR).mean_ranks.tolist()
    assert by_name.systems == tuple(NAMES)
    holed = DEMSAR.copy()
    holed[3, 1] = math.nan
    result = friedman_test(holed, nan_policy="omit")
    assert result.ranks.tolist() == friedman_test(np.delete(DEMSAR, 3, axis=0)).ranks.tolist()
    assert result.notes == ("1 data set dropped for a missing score",)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, lambda columns: pl.DataFrame(columns).lazy()]
)
def test_sources__tables_have_names(make: Any) -> None:
    """Those of their columns, which a control may be; what is missing is missing."""
    result = friedman_test(make(SCORES), control="C4.5")
    assert result.to_dict() == friedman_test(SCORES, control="C4.5").to_dict()
    assert "|scores:[C4.5,C4.5+m,C4.5+cf,C4.5+m+cf]|" in result.signature()
    holed = {name: [None if row == 3 else x for row, x in enumerate(column.tolist())]
             for name, column in SCORES.items()}  # fmt: skip
    assert friedman_test(make(holed), nan_policy="omit").n_dropped == 1


def test_sources__names_of_pandas() -> None:
    """Need not be strings; places are no names."""
    assert friedman_test(pd.DataFrame(DEMSAR, columns=[3, 5, 7, 9])).systems == tuple("3579")
    places = friedman_test(pd.DataFrame(DEMSAR))
    assert places.systems == friedman_test(DEMSAR).systems == tuple(f"system {i}" for i in range(4))


@pytest.mark.parametrize("name", ["nemenyi", "bonferroni_dunn"])
def test_critical_values__another_level(name: str) -> None:
    """Is checked as `alpha` is."""
    with pytest.raises(TypeError, match="`alpha` is 'x'; it must be a number"):
        getattr(friedman_test(SCORES), name)("x")


def test_ties__of_decimals() -> None:
    """0.1 + 0.2 is 0.3: both share ranks on the first data set, and no other does."""
    scores = {"a": [0.1 + 0.2, 0.5], "b": [0.3, 0.5], "c": [0.2, 0.1]}
    assert friedman_test(scores).ranks.tolist() == [[1.5, 1.5, 3.0]] * 2
    assert friedman_test(scores, higher_is_better=False).ranks.tolist() == [[2.5, 2.5, 1.0]] * 2
    written = {name: np.round(column, 9) for name, column in scores.items()}
    assert friedman_test(scores).pvalue == friedman_test(written).pvalue
    one = {"a": [0.1 + 0.2, 0.5], "b": [0.3 * (1.0 + 1e-12), 0.4], "c": [0.2, 0.1]}
    assert friedman_test(one).ranks.tolist() == [[2.0, 1.0, 3.0], [1.0, 2.0, 3.0]]


def test_ties__of_what_was_float32() -> None:
    """0.3 as float32 ties with 0.3; two that never were float32 do not tie for it."""
    single = np.array([0.3, 0.1], np.float32).astype(float)
    scores = {"single": single, "double": [0.3, 0.2], "more": [0.35, 0.3]}
    assert friedman_test(scores).ranks.tolist() == [[2.5, 2.5, 1.0], [3.0, 2.0, 1.0]]
    close = {"single": single, "double": [0.5, 0.2], "more": [0.5 + 1e-9, 0.3]}
    assert friedman_test(close).ranks.tolist() == [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]]


def test_ties__of_large_numbers() -> None:
    """Those whose difference, or sum, has no float64 are not tied for it."""
    scores = {"a": [1.7e308, 1.6e308], "b": [-1.7e308, 1.7e308]}
    assert friedman_test(scores).ranks.tolist() == [[1.0, 2.0], [2.0, 1.0]]


def test_nemenyi__p_at_the_critical_difference_is_alpha() -> None:
    """The two agree, and p is symmetric with 1 on the diagonal."""
    result = friedman_test(SCORES)
    p = result.pvalues()
    assert np.array_equal(p, p.T)
    assert p.diagonal().tolist() == [1.0] * 4
    apart = abs(result.mean_ranks[0] - result.mean_ranks[3])
    # Quantile and tail of the studentized range are inverted numerically, to 1e-8 or so.
    assert pytest.approx(apart, rel=1e-6) == result.nemenyi(float(p[0, 3]))


@pytest.mark.parametrize("control", [None, "system 0"])
def test_pvalues__are_never_0(control: str | None) -> None:
    """10,000 data sets that agree: no tail of either law has a float64."""
    result = friedman_test(np.tile([1.0, 2.0, 3.0], (10_000, 1)), control=control)
    p = result.pvalues()
    own = np.eye(3, dtype=bool) if control is None else np.arange(3) == 0
    assert set(p[own]) == {1.0}
    assert set(p[~own]) == {LEAST_PVALUE}
    assert (result.pvalue, result.chi_squared_pvalue) == (LEAST_PVALUE, LEAST_PVALUE)
    assert result.summary().count("p < 2.23e-308") == 2


def test_nemenyi__far_in_the_tail() -> None:
    """Not 0, nor what is left of 1 less a sum (1e-16): the density of the range, integrated.

    P-values fall with the distance throughout.
    """
    normal = stats.norm

    def tail(q: float, k: int) -> float:
        def density(x: float) -> float:
            def at(z: float) -> float:
                inside = normal.cdf(z + x / 2) - normal.cdf(z - x / 2)
                return float(normal.pdf(z + x / 2) * normal.pdf(z - x / 2) * inside ** (k - 2))

            return float(k * (k - 1) * integrate.quad(at, -6.0, 6.0, epsabs=0.0)[0])

        return float(integrate.quad(density, q, q + 6.0, epsabs=0.0, epsrel=1e-6)[0])

    found = [1.0]
    for n in (10, 30, 60, 100):
        result = friedman_test(np.tile([1.0, 2.0, 3.0], (n, 1)))
        q = 2.0 / result.standard_error * math.sqrt(2.0)
        # Bonferroni's inequality holds to 0.2 % where it stands in; SciPy's digits elsewhere.
        found.append(float(result.pvalues()[0, 2]))
        assert found[-1] == pytest.approx(tail(q, 3), rel=2e-3)
    assert found == sorted(found, reverse=True)
    assert 0.0 < found[-1] < 1e-40


@pytest.mark.slow
def test_level__of_iman_and_davenport() -> None:
    """Of 20,000 null tables of 15 data sets and 4 systems 5 % are significant, within 1.5 points.

    The F law is an approximation: 1.5 points is what must be seen (false failure 1e-6).
    """
    rng = np.random.default_rng(43)
    found = sum(friedman_test(rng.random((15, 4))).pvalue <= 0.05 for _ in range(20_000))
    assert_rate(found, 20_000, 0.05, detects=0.015)


def test_words() -> None:
    """A sentence for a paper, a table, and one line of notes."""
    result = friedman_test(SCORES, control="C4.5")
    assert result.summary() == (
        "Friedman test of 4 systems on 14 data sets: Iman-Davenport F(3, 39) = 4.185, p = 0.0116 "
        "(chi-squared(3) = 10.23, p = 0.0167); critical difference of mean ranks 1.168 at level "
        "0.05 (Bonferroni-Dunn, control C4.5)."
    )
    assert "C4.5+m+cf" in repr(result)
    assert "<table>" in result._repr_html_()
    assert r"\toprule" in result.to_latex()
    assert list(result.to_columns()) == ["system", "mean_rank", "difference", "pvalue"]
    assert result.critical_difference == result.bonferroni_dunn()
    small = friedman_test([[1, 2, 3], [1, 3, 2]])
    assert small.critical_difference == small.nemenyi()
    assert small.notes == ("chi-squared and F are rough for 2 data sets and 3 systems",)
    assert list(small.to_columns()) == ["system", "mean_rank", "difference"]


def test_signature() -> None:
    """The line names the columns and every setting; what differs in one has another."""
    table = {"x": [0.1, 0.2, 0.3], "y": [0.3, 0.2, 0.1], "z": [0.2, 0.2, math.nan]}

    def signed(scores: Any = ("x", "y"), **options: Any) -> str:
        return friedman_test(scores, data=table, **options).signature()

    settings: dict[str, Any] = {
        "control": "y",
        "higher_is_better": False,
        "correct_ties": False,
        "alpha": 0.1,
    }
    said = "|control:y|higher_is_better:False|correct_ties:False|alpha:0.1|"
    assert signed(**settings) == (
        f"fastboot:{fb.__version__}|procedure:friedman_test|scores:[x,y]{said}n_systems:2|"
        "n_data_sets:3"
    )
    assert {name: friedman_test(["x", "y"], data=table, **settings).to_dict()[name]
            for name in settings} == settings  # fmt: skip
    assert "|scores:{C4.5=values,C4.5+m=values," in friedman_test(SCORES).signature()
    dropped = signed(("x", "z"), nan_policy="omit")
    assert dropped.endswith("|n_systems:2|n_data_sets:2|nan_policy:omit|n_dropped:1")
    different = [
        signed(), signed(("y", "x")), signed({"new": "x", "y": "y"}), dropped,
        *(signed(**{name: value}) for name, value in settings.items()),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


@pytest.mark.parametrize(
    "error, message, scores, options",
    [
        (TypeError, "`scores` has shape (3,); give a mapping", [1, 2, 3], {}),
        (ValueError, "`scores` is empty; give a column", {}, {}),
        (ValueError, "`scores` has lists of different lengths; give a row for each data set, with",
         [[1, 2], [1]], {}),
        (ValueError, "`scores` has 1 system and 2 data sets", {"a": [1, 2]}, {}),
        (ValueError, "`scores` has 2 systems and 1 data set", [[1, 2]], {}),
        (ValueError, "`control` is 'x'; choose one of a, b", {"a": [1, 2], "b": [2, 1]},
         {"control": "x"}),
        (ValueError, "`alpha` is 0; it must lie", [[1, 2], [2, 1]], {"alpha": 0}),
        (TypeError, "`alpha` is 'x'; it must be a number", [[1, 2], [2, 1]], {"alpha": "x"}),
        (TypeError, "`alpha` is None; it must be a number", [[1, 2], [2, 1]], {"alpha": None}),
        (TypeError, "`higher_is_better` is 'no'; it must be True or False", [[1, 2], [2, 1]],
         {"higher_is_better": "no"}),
        (TypeError, "`correct_ties` is 1; it must be True or False", [[1, 2], [2, 1]],
         {"correct_ties": 1}),
        (ValueError, "`nan_policy` is 'propagate', but ranks need all scores", [[1, 2], [2, 1]],
         {"nan_policy": "propagate"}),
        (ValueError, "`a` has 2 rows but `b` has 3", {"a": [1, 2], "b": [1, 2, 3]}, {}),
        (ValueError, "`scores` has '1' twice; give every system a name of its own",
         {1: [1, 2], "1": [9, 9], 2: [3, 2]}, {}),
        (ValueError, "`scores` has 'x' twice; give every", ["x", "y", "x"],
         {"data": {"x": [1, 2], "y": [2, 1]}}),
        (ValueError, "`scores` has 'x' twice; give every",
         pd.DataFrame([[1.0, 2.0], [2.0, 1.0]], columns=["x", "x"]), {}),
        (ValueError, "`scores` has 'x' twice; give every",
         pa.table([[1.0, 2.0], [2.0, 1.0]], names=["x", "x"]), {}),
        (TypeError, "`scores` is a table and `data` another; give column names with data=",
         pd.DataFrame({"x": [1, 2], "y": [2, 1]}), {"data": {"x": [1, 2]}}),
    ],
)  # fmt: skip
def test_refused(
    error: type[Exception], message: str, scores: Any, options: dict[str, Any]
) -> None:
    """By name, with the value and what to do."""
    with pytest.raises(error, match=re.escape(message)):
        friedman_test(scores, **options)
