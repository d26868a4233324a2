"""Intervals from formulas, read off results: published figures, statsmodels, closed forms."""

from __future__ import annotations

import csv
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastboot as fb
from fastboot.analytic import proportion_interval

DATA = Path(__file__).with_name("data")
# What the docstring of fastboot.studentized says: 400 roundings of 1.1e-16 of a value that is at
# most 200 times its error here; t quantiles and limits keep that of the error.
ERRORS = 1e-11


def near(expected: Any, rel: float = ERRORS) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=rel, abs=0.0)


def bootstrap(*arguments: Any, **options: Any) -> Any:
    """Run a few resamples: formulas need none."""
    return fb.bootstrap(*arguments, **({"rng": 0, "n_resamples": 99} | options))


def test_case_21_all_wrong_or_all_right() -> None:
    """0 of 25 and 10 of 10: no resample differs, the formula's intervals have a width."""
    wrong, right = bootstrap([0] * 25), bootstrap([1] * 10)
    assert wrong.confidence_interval[:2] == (0.0, 0.0)
    assert near((0.0, 0.1331922509390485)) == wrong.analytic_interval()[:2]
    assert near((0.7224672001371106, 1.0)) == right.analytic_interval("wilson")[:2]
    assert near(0.1371851715307125) == wrong.analytic_interval("clopper-pearson").high


# statsmodels 0.15.0: see tests/test_analytic.py.
def test_case_26_clusters() -> None:
    """Ten answers to questions on four texts: CR0, CR1, and t with 3 degrees of freedom."""
    y, cluster = [1, 1, 1, 0, 0, 1, 1, 0, 1, 0], [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
    result = bootstrap(y, groups=cluster)
    assert near((0.18973665961010275, 0.21908902300206642)) == result.analytic_errors[:2]
    assert (4, 3) == result.analytic_errors[2:]
    interval = result.analytic_interval()
    assert (-0.09723905178114345, 1.2972390517811434) == pytest.approx(interval[:2], abs=ERRORS)
    assert interval.method == "cr1"
    normal = result.analytic_interval("cr0")
    low = 0.6 - 1.959963984540054 * 0.18973665961010275
    assert low == pytest.approx(normal.low, abs=ERRORS)
    assert normal.method == "cr0"
    assert near(0.1632993161855452) == bootstrap(y).analytic_errors.cr1


def test_xquad_clusters() -> None:
    """Difference of token F1 of two systems, by passages, as statsmodels has it."""
    scores: dict[str, list[float]] = {"mlpp": [], "mt5base": []}
    passages: list[int] = []
    with (DATA / "xquad_en_f1.csv").open() as file:
        for row in csv.DictReader(file):
            n = int(row["questions"])
            for system, values in scores.items():
                values.extend([float(Fraction(row[system]))] * n)
            passages += [int(row["passage"])] * n
    result = fb.paired_bootstrap(
        scores["mlpp"], scores["mt5base"], groups=passages, rng=0, n_resamples=99
    )
    assert result.analytic_errors is not None
    expected = 0.007537312089079864, 0.0075530640646501255
    assert near(expected) == result.analytic_errors[:2]
    limits = -0.004116362063408638, 0.025641795009330552
    assert limits == pytest.approx(result.analytic_interval()[:2], abs=ERRORS)


def test_inspect_log() -> None:
    """Accuracy 0.8, standard error 0.13333333333333333 of ten samples, from an inspect_ai log.

    UKGovernmentBEIS/inspect_ai, commit 499e6152e7b8fc8cbd8ac5283536572aa6e4ab17,
    popularity_scored.eval.
    """
    result = bootstrap(fb.accuracy([1] * 10, [1] * 8 + [0] * 2))
    assert near(0.13333333333333333) == result.analytic_errors.cr1
    assert (result.n_successes, result.n_rows) == (8, 10)
    assert result.analytic_interval() == proportion_interval(8, 10)


def test_sleep() -> None:
    """Student's sleep data, as R's t.test prints it: -2.4598858 to -0.7001142."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    result = fb.paired_bootstrap(first, second, rng=0, n_resamples=99)
    interval = result.analytic_interval()
    assert (-2.4598858, -0.7001142) == pytest.approx(interval[:2], abs=0.5000001e-7)
    assert interval.method == "t"
    # Half the level beyond the one limit.
    greater = result.analytic_interval("t", 0.975, "greater")
    assert near(interval.low) == greater.low
    assert greater.high == math.inf


def test_city() -> None:
    """The ratio of ten cities: R's boot prints norm.ci(t0, var.t0 = var.linear) to six decimals."""
    before = [138, 93, 61, 179, 48, 37, 29, 23, 30, 2]
    after = [143, 104, 69, 260, 75, 63, 50, 48, 111, 50]
    result = bootstrap(fb.ratio(after, before))
    assert near(0.032487733709812165) == result.analytic_errors.cr0**2
    interval = result.analytic_interval("normal")
    assert (1.167046, 1.873579) == pytest.approx(interval[:2], abs=5e-6)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_mean__scipy(level: float) -> None:
    """Student's interval of a mean."""
    x = np.random.default_rng(1).lognormal(size=30)
    law = stats.t(29, x.mean(), stats.sem(x))
    assert near(law.interval(level)) == bootstrap(x).analytic_interval("t", level)[:2]


def test_macro__tallies() -> None:
    """Statistics that count classes have errors too: recalls of two classes are independent."""
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 2, 200)
    predicted = np.where(rng.random(200) < 0.8, gold, 1 - gold)
    result = bootstrap(fb.balanced_accuracy(gold, predicted))
    squares = 0.0
    for label in (0, 1):
        right = predicted[gold == label] == label
        squares += right.var() / right.size / 4.0
    assert near(math.sqrt(squares)) == result.analytic_errors.cr0


def test_strata() -> None:
    """Every stratum has its own mean and factor."""
    x = np.array([1.0, 2.0, 4.0, 10.0, 20.0])
    result = bootstrap(x, strata=[0, 0, 0, 1, 1])
    expected = math.sqrt(3 / 2 * (16 / 9 + 1 / 9 + 25 / 9) + 2 * (25 + 25)) / 5
    assert near(expected) == result.analytic_errors.cr1
    assert result.analytic_errors.degrees_of_freedom == 3
    assert result.n_successes is None


@pytest.mark.parametrize("scheme", ["multinomial", "bayesian", "poisson"])
def test_schemes(scheme: str) -> None:
    """The formula is about the sample, whatever resamples it."""
    x = np.random.default_rng(3).lognormal(size=30)
    result = bootstrap(x, scheme=scheme)
    assert near(x.std() / math.sqrt(30)) == result.analytic_errors.cr0
    assert bootstrap([0, 1, 1] * 9, scheme=scheme).n_successes == 18


def test_nested() -> None:
    """Of two levels the outer groups are the clusters."""
    x = np.random.default_rng(4).lognormal(size=30)
    groups = np.arange(30) // 3
    nested = bootstrap(x, groups=groups, levels="nested").analytic_errors
    assert nested == bootstrap(x, groups=groups).analytic_errors
    assert nested.n_clusters == 10


def test_slices() -> None:
    """A proportion in every slice, and in all rows together."""
    right = np.array([1, 1, 0, 0, 0, 1, 1, 1])
    table = bootstrap(right, by=["x"] * 5 + ["y"] * 3)
    assert table["x"].analytic_interval() == proportion_interval(2, 5)
    assert table["y"].analytic_interval() == proportion_interval(3, 3)
    assert table.total.analytic_interval() == proportion_interval(5, 8)


def test_several() -> None:
    """A proportion beside another mean, in either order."""
    right, score = [1, 1, 0, 0, 0], [0.1, 0.4, 0.9, 0.2, 0.4]
    for names in (("right", "score"), ("score", "right")):
        table = bootstrap({name: {"right": right, "score": score}[name] for name in names})
        assert table["right"].analytic_interval() == proportion_interval(2, 5)
        assert table["score"].analytic_interval().method == "t"


@pytest.mark.parametrize(
    "values,options",
    [
        ([0, 1, 1, 0], {"groups": [1, 1, 2, 2]}),
        ([0, 1, 1, 0], {"strata": [1, 1, 2, 2]}),
        ([0, 1, 1, 0], {"weights": [1, 1, 2, 2]}),
        ([0, 1, 1, 0], {"scheme": "circular", "block_length": 2}),
        ([0.5, 1, 1, 0], {}),
        ([0] * 70 + [2], {}),
        (fb.ratio([0, 1, 1, 0], [1, 1, 2, 1]), {}),
        (fb.total([0, 1, 1, 0]), {}),
    ],
)
def test_proportion__not(values: Any, options: dict[str, Any]) -> None:
    """Wilson's and Clopper and Pearson's intervals are for shares of independent rows."""
    result = bootstrap(values, **options)
    assert result.n_successes is None
    for method in ("wilson", "clopper-pearson"):
        message = (
            f"`method` is '{method}', but {result.statistic} is not a share of successes in "
            "independent rows (0 or 1 in each; no groups, strata or weights); choose another"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            result.analytic_interval(method)


CROSSED = {"groups": [[1, 1, 2, 2], [1, 2, 1, 2]], "levels": "crossed"}


@pytest.mark.parametrize(
    "statistic,options",
    [
        (fb.median([1.0, 2.0, 4.0, 7.0]), {}),
        (fb.mean([1.0, 2.0, 4.0, 7.0]), CROSSED),
        (fb.mean([1.0, 2.0, 4.0, 7.0]), {"scheme": "moving", "block_length": 2}),
    ],
)
def test_errors__none(statistic: Any, options: dict[str, Any]) -> None:
    """Where there is no formula the message says what has one."""
    options = {
        name: [np.array(one) for one in value] if name == "groups" else value
        for name, value in options.items()
    }
    result = bootstrap(statistic, **options)
    message = (
        f"`method` is '{'cr1' if options.get('groups') else 't'}', but there is no formula for the "
        f"standard error of {statistic.name} here: it takes a function of few sums, and rows or "
        "groups that are independent; read interval() instead"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        result.analytic_interval()
    figures = result.to_dict()
    assert (figures["analytic_interval"], figures["analytic_method"]) == (None, None)
    assert "analytic" not in result._repr_html_()


def test_randomization() -> None:
    """Swaps have no formula."""
    result = fb.approximate_randomization([3, 1, 2, 4], [1, 1, 0, 2])
    with pytest.raises(ValueError, match="there is no formula for the standard error of mean here"):
        result.analytic_interval()


def test_method__unknown() -> None:
    """The words are named."""
    message = "`method` is 'wald'; choose one of wilson, clopper-pearson, normal, t, cr0, cr1"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        bootstrap([0, 1]).analytic_interval("wald")
    with pytest.raises(ValueError, match="`confidence_level` is 95"):
        bootstrap([0, 1]).analytic_interval(confidence_level=95)
    with pytest.raises(ValueError, match="`alternative` is 'both'"):
        bootstrap([0, 1]).analytic_interval(alternative="both")


def test_shown() -> None:
    """Figures for machines and notebooks; the sentence for a paper is the resampled interval's."""
    result = bootstrap([0, 1, 1, 0, 1])
    figures = result.to_dict()
    assert figures["analytic_interval"] == list(result.analytic_interval()[:2])
    assert figures["analytic_method"] == "wilson"
    assert "<th style='text-align:left'>analytic interval</th>" in result._repr_html_()
    assert "wilson" not in result.summary()


def test_dear() -> None:
    """More than 0.1 s of second moments is not spent unasked."""
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 400, 6_000)
    result = bootstrap(fb.f_score(gold, rng.permutation(gold), average="macro"), n_resamples=2)
    assert result.analytic_errors is None


def test_one_row() -> None:
    """A single row has no degrees of freedom."""
    result = bootstrap([0.7])
    assert result.analytic_errors.cr0 == 0.0
    assert math.isnan(result.analytic_interval("t").low)


def test_missing() -> None:
    """Missing values that propagate leave no formula."""
    result = bootstrap([0.0, math.nan], nan_policy="propagate")
    assert result.analytic_errors is None
    assert result.n_successes is None


# Resamples that spread otherwise

WIDE = np.random.default_rng(6).lognormal(size=200)
BLOCKS = np.arange(200) // 20
APART: dict[str, tuple[Any, dict[str, Any], str]] = {
    "nested": (
        fb.mean(WIDE), {"groups": BLOCKS, "levels": "nested"},
        'levels="nested" adds the spread inside groups to that between them',
    ),
    "fewer": (fb.mean(WIDE), {"n_drawn": 50}, "each resample has 50 of 200 rows"),
    "fewer groups": (
        fb.mean(WIDE), {"n_drawn": 5, "groups": BLOCKS}, "each resample has 5 of 10 groups",
    ),
    "poisson": (
        fb.total(WIDE), {"scheme": "poisson"},
        'with scheme="poisson" resamples vary in size, and total with it',
    ),
    "a count": (
        fb.combine(lambda total: np.sqrt(np.abs(total)), fb.total(WIDE), name="root"),
        {"scheme": "poisson"}, 'with scheme="poisson" resamples vary in size, and root with it',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_apart(name: str) -> None:
    """Where resamples spread otherwise, the formula of their spread is refused; t is not."""
    statistic, options, reason = APART[name]
    result = fb.bootstrap(statistic, n_resamples=2_000, rng=0, **options)
    assert result.spread_apart == reason
    error = result.standard_error / result.analytic_errors.cr0
    assert not 0.9 < error < 1.1
    usual = "cr1" if "groups" in options else "t"
    for method in ("normal", "cr0"):
        message = (
            f"`method` is '{method}', but its error is not the one that these resamples tend to: "
            f'{reason}; read interval(method="normal") for theirs, or choose {usual}, which is '
            "about the sample whatever resamples it"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            result.analytic_interval(method)
    assert result.analytic_interval() == result.analytic_interval(usual)


@pytest.mark.parametrize(
    "statistic,options",
    [
        (fb.mean(WIDE), {"scheme": "poisson"}),
        (fb.ratio(WIDE, WIDE + 1), {"scheme": "poisson", "groups": BLOCKS}),
        (fb.std(WIDE, ddof=1), {"scheme": "poisson"}),
        (fb.total(WIDE), {"scheme": "bayesian"}),
        (fb.total(WIDE), {}),
        (fb.mean(WIDE), {"n_drawn": 200}),
        (fb.total(WIDE), {"groups": BLOCKS, "n_drawn": 10}),
    ],
)
def test_apart__not(statistic: Any, options: dict[str, Any]) -> None:
    """Elsewhere it is what the resamples tend to."""
    result = fb.bootstrap(statistic, n_resamples=4_000, rng=0, **options)
    assert result.spread_apart == ""
    error = (result.analytic_interval("normal").high - result.estimate) / 1.959963984540054
    assert result.standard_error == pytest.approx(error, rel=0.1)


def test_apart__two_samples() -> None:
    """So of the difference of two samples, and of several values each."""
    options: dict[str, Any] = {"scheme": "poisson", "n_resamples": 99, "rng": 0}
    a = {"mean": fb.mean(WIDE), "total": fb.total(WIDE)}
    b = {"mean": fb.mean(WIDE[:90]), "total": fb.total(WIDE[:90])}
    for table in (fb.unpaired_bootstrap(a, b, **options), fb.paired_bootstrap(a, a, **options)):
        assert table["mean"].analytic_interval("cr0").method == "cr0"
        with pytest.raises(ValueError, match="resamples vary in size, and total with it"):
            table["total"].analytic_interval("cr0")
