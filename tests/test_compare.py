"""Many systems: every figure is what the procedures for one and two systems give."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom
from statistical import assert_rate

import fastboot as fb
from fastboot.leaderboards import confidence_set, corrections, ranks
from fastboot.leaderboards.comparison import Comparison

N_ROWS = 120
SEED = 3
N_RESAMPLES = 200
SYSTEMS = ("s0", "s1", "s2", "s3")
DATA = Path(__file__).parent / "data"

# From a column to the statistic, and whether the column holds labels or scores.
MEASURES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "accuracy": (lambda column: fb.accuracy("gold", column), "label"),
    "macro F": (
        lambda column: fb.f_score("gold", column, average="macro", zero_division=0),
        "label",
    ),
    "mean": (fb.mean, "score"),
    "median": (fb.median, "score"),
    "AUC": (lambda column: fb.roc_auc("positive", column), "score"),
}
DESIGNS: dict[str, dict[str, Any]] = {
    "rows": {},
    "groups": {"groups": "document"},
    "strata": {"strata": "stratum"},
    "weights": {"weights": "weight"},
    "all": {"groups": "document", "strata": "language", "weights": "weight"},
}


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """Four systems with labels and scores, better from one to the next."""
    rng = np.random.default_rng(1)
    rows = np.arange(N_ROWS)
    gold = rng.integers(0, 3, N_ROWS)
    data: dict[str, Any] = {
        "gold": gold,
        "positive": rng.integers(0, 2, N_ROWS),
        "document": rows // 3,
        "stratum": rows % 2,
        "language": np.where(rows // 3 % 3 == 0, "de", "en"),
        "weight": rng.integers(1, 4, N_ROWS).astype(float),
    }
    for i, name in enumerate(SYSTEMS):
        right = rng.random(N_ROWS) < 0.5 + 0.1 * i
        data[f"{name} label"] = np.where(right, gold, rng.integers(0, 3, N_ROWS))
        data[f"{name} score"] = rng.normal(size=N_ROWS) + 0.3 * i * data["positive"]
    return data


def statistics(measure: str) -> dict[str, Any]:
    """Statistic of each system."""
    make, kind = MEASURES[measure]
    return {name: make(f"{name} {kind}") for name in SYSTEMS}


def rows_of(table: fb.Table[Any] | Any) -> list[dict[str, Any]]:
    """Return the rows of a table of figures."""
    columns = table.to_columns()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def compare(systems: Any, **options: Any) -> Comparison:
    """Compare with few resamples."""
    return fb.compare(systems, **({"rng": SEED, "n_resamples": N_RESAMPLES} | options))


# ==================================================================================================
# One and two systems
# ==================================================================================================


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("measure", MEASURES)
def test_systems__each_alone(measure: str, design: str, table: dict[str, Any]) -> None:
    """Values, replicates, intervals and errors are those of bootstrap, to the last bit."""
    given = statistics(measure)
    found = compare(given, data=table, **DESIGNS[design])
    rows = {row["system"]: row for row in rows_of(found.systems)}
    for place, (name, statistic) in enumerate(given.items()):
        alone = fb.bootstrap(
            statistic, data=table, rng=SEED, n_resamples=N_RESAMPLES, path="rows", **DESIGNS[design]
        )
        np.testing.assert_array_equal(alone.replicates, found.board().replicates[place])
        got = [rows[name][key] for key in ("value", "standard_error", "low", "high")]
        assert got == [alone.estimate, alone.standard_error, *alone.confidence_interval[:2]]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("measure", MEASURES)
def test_pairs__each_alone(
    measure: str, design: str, alternative: str, table: dict[str, Any]
) -> None:
    """Differences, intervals and p-values are those of paired_bootstrap."""
    given = statistics(measure)
    found = compare(given, data=table, alternative=alternative, **DESIGNS[design])
    assert [(row["a"], row["b"]) for row in rows_of(found.pairs)] == list(combinations(SYSTEMS, 2))
    for a, b in combinations(SYSTEMS, 2):
        alone = fb.paired_bootstrap(
            given[a], given[b], data=table, rng=SEED, n_resamples=N_RESAMPLES, path="rows",
            alternative=alternative, **DESIGNS[design],
        )  # fmt: skip
        pair = found.pair(a, b)
        # Where the two share a denominator, the difference is computed before the division.
        near = [alone.estimate, alone.standard_error, *alone.confidence_interval[:2]]
        np.testing.assert_allclose(pair[2:6], near, rtol=0, atol=alone.rounding)
        assert pair.pvalue == alone.pvalue


@pytest.mark.parametrize("method", ["percentile", "basic", "normal"])
def test_compare__methods(method: str, table: dict[str, Any]) -> None:
    """Both tables have the intervals asked for."""
    given = statistics("mean")
    found = compare(given, data=table, method=method, confidence_level=0.8)
    options: dict[str, Any] = {
        "data": table, "rng": SEED, "n_resamples": N_RESAMPLES, "method": method,
        "confidence_level": 0.8, "path": "rows",
    }  # fmt: skip
    row = next(row for row in rows_of(found.systems) if row["system"] == "s1")
    assert (row["low"], row["high"]) == fb.bootstrap(given["s1"], **options).confidence_interval[:2]
    pair = fb.paired_bootstrap(given["s1"], given["s2"], **options)
    np.testing.assert_allclose(
        found.pair("s1", "s2")[4:6], pair.confidence_interval[:2], rtol=0, atol=pair.rounding
    )


def test_compare__slices(table: dict[str, Any]) -> None:
    """Every slice, and all rows, as bootstrap and paired_bootstrap have them."""
    given = statistics("accuracy")
    for by, axes in (("language", ("language",)), (["language", "stratum"],) * 2):
        found = compare(given, data=table, by=by)
        assert found.axes == tuple(axes)
        options: dict[str, Any] = {
            "data": table, "rng": SEED, "n_resamples": N_RESAMPLES, "path": "rows", "by": by,
        }  # fmt: skip
        alone = fb.bootstrap(given["s2"], **options)
        pair = fb.paired_bootstrap(given["s0"], given["s2"], **options)
        keys = [None, *alone]
        assert [board.slice for board in found.boards] == [
            None if key is None else key if isinstance(key, tuple) else (key,) for key in keys
        ]
        systems = [row for row in rows_of(found.systems) if row["system"] == "s2"]
        pairs = [row for row in rows_of(found.pairs) if (row["a"], row["b"]) == ("s0", "s2")]
        for key, system, difference in zip(keys, systems, pairs, strict=True):
            one = alone.total if key is None else alone[key]
            assert (system["value"], system["low"], system["high"], system["n_rows"]) == (
                one.estimate, *one.confidence_interval[:2], one.n_rows,
            )  # fmt: skip
            two = pair.total if key is None else pair[key]
            assert abs(difference["difference"] - two.estimate) <= two.rounding
            assert difference["pvalue"] == two.pvalue
            labels = tuple(system[axis] for axis in axes)
            whole = ("all rows", None)[: len(axes)]
            assert labels == (whole if key is None else key if len(axes) > 1 else (key,))
        # A family is one slice.
        for board in found.boards:
            expected = corrections.adjust_pvalues(board.pairs.pvalues)
            np.testing.assert_array_equal(board.pairs.adjusted, expected)


def test_compare__slices_named_as_columns(table: dict[str, Any]) -> None:
    """A column of slices whose name is taken gets another."""
    named = {**table, "system": table["language"]}
    assert compare(statistics("mean"), data=named, by="system").axes == ("by_system",)
    array = compare(statistics("mean"), data=table, by=table["language"])
    assert array.axes == ("by",)


def test_compare__metrics(table: dict[str, Any]) -> None:
    """Several metrics have the resamples in common, each with its family and its direction."""
    metrics: Mapping[str, Any] = {"up": fb.mean, "down": fb.mean, "middle": fb.median}
    names = [f"{name} score" for name in SYSTEMS]
    found = compare(
        names, data=table, metrics=metrics,
        higher_is_better={"up": True, "down": False, "middle": True},
    )  # fmt: skip
    assert [board.metric for board in found.boards] == list(metrics)
    up, down = found.board("up"), found.board("down")
    np.testing.assert_array_equal(up.replicates, down.replicates)
    np.testing.assert_array_equal(up.pairs.adjusted, down.pairs.adjusted)
    assert up.order == down.order[::-1]
    by_metric = {
        metric: {row["system"]: row for row in rows_of(found.systems) if row["metric"] == metric}
        for metric in metrics
    }
    for name in names:
        # Ranks from the other end.
        high, low = by_metric["up"][name], by_metric["down"][name]
        assert (high["rank_low"], high["rank_high"]) == (5 - low["rank_high"], 5 - low["rank_low"])
    assert found.pair(names[0], names[1], "down").estimate == up.estimates[0] - up.estimates[1]
    alone = compare({name: fb.median(name) for name in names}, data=table)
    np.testing.assert_array_equal(alone.board().replicates, found.board("middle").replicates)
    assert "higher up is better; lower down is better" in found.systems.to_markdown()
    for known in ("up, 0.", "down, -0.", "middle, 0."):
        assert known in found.summary()


# ==================================================================================================
# Which pairs
# ==================================================================================================


def test_pairs__order_of_systems(table: dict[str, Any]) -> None:
    """The order of systems changes signs only: each sees the same resamples and swaps."""
    given = statistics("accuracy")
    turned = dict(reversed(given.items()))
    for options in ({}, {"test": "randomization"}, {"correction": "max_t"}):
        found, other = (compare(one, data=table, **options) for one in (given, turned))
        for a, b in combinations(SYSTEMS, 2):
            assert found.pair(a, b).estimate == other.pair(a, b).estimate
            assert found.pair(a, b).pvalue == other.pair(a, b).pvalue
            assert found.pair(a, b).adjusted_pvalue == other.pair(a, b).adjusted_pvalue
        rows = [{row["system"]: row for row in rows_of(one.systems)} for one in (found, other)]
        assert rows[0] == rows[1]


def test_against(table: dict[str, Any]) -> None:
    """Order and sign: first less second, best less others, others less the baseline."""
    given = statistics("mean")
    values = {name: fb.bootstrap(one, data=table, n_resamples=9).estimate
              for name, one in given.items()}  # fmt: skip
    best, worst = (choose(values, key=values.__getitem__) for choose in (max, min))

    def pairs(against: str, **options: Any) -> list[tuple[str, str, float]]:
        found = compare(given, data=table, against=against, **options)
        return [(row["a"], row["b"], row["difference"]) for row in rows_of(found.pairs)]

    def differences(places: list[tuple[str, str]]) -> list[tuple[str, str, float]]:
        return [(a, b, values[a] - values[b]) for a, b in places]

    assert pairs("all") == differences(list(combinations(SYSTEMS, 2)))
    assert pairs("best") == differences([(best, name) for name in SYSTEMS if name != best])
    assert pairs("best", higher_is_better=False) == differences(
        [(worst, name) for name in SYSTEMS if name != worst]
    )
    assert pairs("s1") == differences([(name, "s1") for name in SYSTEMS if name != "s1"])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_pair__either_order(alternative: str, table: dict[str, Any]) -> None:
    """In the other order the sign changes; not for one-sided tests, which ask something else."""
    found = compare(statistics("mean"), data=table, against="s1", alternative=alternative)
    there = found.pair("s3", "s1")
    if alternative != "two-sided":
        with pytest.raises(KeyError, match=r"'s3' - 's1' was tested, with alternative="):
            found.pair("s1", "s3")
        return
    back = found.pair("s1", "s3")
    assert back == ("s1", "s3", -there.estimate, there.standard_error, -there.high, -there.low,
                    there.pvalue, there.adjusted_pvalue, there.detectable)  # fmt: skip
    with pytest.raises(KeyError, match="no comparison of 's0' with 's2'; against='s1' was asked"):
        found.pair("s0", "s2")


# ==================================================================================================
# Corrections
# ==================================================================================================


@pytest.mark.parametrize("correction", [*corrections.CORRECTIONS, "none"])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_correction__words(correction: str, test: str, table: dict[str, Any]) -> None:
    """Corrected p-values are those of adjust_pvalues."""
    found = compare(statistics("mean"), data=table, correction=correction, test=test)
    pairs = found.board().pairs
    expected = (
        pairs.pvalues if correction == "none"
        else corrections.adjust_pvalues(pairs.pvalues, correction)
    )  # fmt: skip
    np.testing.assert_array_equal(pairs.adjusted, expected)


@pytest.mark.parametrize("add_one", [True, False])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_correction__max_t(alternative: str, add_one: bool, table: dict[str, Any]) -> None:
    """Step-down by its definition, and simultaneous intervals, from the joint replicates."""
    found = compare(
        statistics("mean"), data=table, correction="max_t", alternative=alternative, add_one=add_one
    )
    board = found.board()
    places = list(combinations(range(4), 2))
    observed = np.array([board.estimates[i] - board.estimates[j] for i, j in places])
    drawn = np.array([board.replicates[i] - board.replicates[j] for i, j in places])
    errors = drawn.std(axis=1, ddof=1)
    sided: Callable[[Any], Any] = np.abs
    if alternative != "two-sided":
        sided = np.positive if alternative == "greater" else np.negative
    scores, null = sided(observed / errors), sided((drawn - observed[:, None]) / errors[:, None])
    expected, largest = np.empty(6), 0.0
    for place in np.argsort(-scores):
        maxima = null[scores <= scores[place]].max(axis=0)
        count = np.count_nonzero(maxima >= scores[place]) + add_one
        largest = max(largest, count / (N_RESAMPLES + add_one))
        expected[place] = largest
    np.testing.assert_array_equal(board.pairs.adjusted, expected)
    # ceil(0.95 x 201)
    reach = np.sort(null.max(axis=0))[191 - 1] * errors
    ends = [np.full(6, -np.inf) if alternative == "less" else observed - reach,
            np.full(6, np.inf) if alternative == "greater" else observed + reach]  # fmt: skip
    # A few operations, each rounded, on numbers below 2.
    np.testing.assert_allclose([board.pairs.lows, board.pairs.highs], ends, rtol=0, atol=1e-14)
    assert "95% simultaneous max-T bootstrap intervals; max-T-corrected" in repr(found.pairs)


def test_detectable(table: dict[str, Any]) -> None:
    """A test of the normal model has power 0.8 at the smallest detectable difference."""
    from scipy.stats import norm

    for alternative, tail in (("two-sided", 0.05), ("greater", 0.1)):
        found = compare(
            statistics("mean"), data=table, confidence_level=0.9, alternative=alternative
        )
        for row in rows_of(found.pairs):
            size = row["detectable"] / row["standard_error"]
            # Rejections on the right side, z > z_(1 - tail).
            assert norm.sf(norm.isf(tail) - size) == pytest.approx(0.8, abs=1e-14)


# ==================================================================================================
# Randomization
# ==================================================================================================


@pytest.fixture
def few() -> np.ndarray:
    """Whole scores, with ties, of four systems on six units of two rows."""
    return np.random.default_rng(8).integers(0, 4, (4, 12)).astype(float)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("measure", ["mean", "ratio", "macro F"])
def test_swaps__few_units_are_exact(measure: str, alternative: str, few: np.ndarray) -> None:
    """Every pair's p-value is the one of all its swaps."""
    gold = np.random.default_rng(2).integers(0, 4, 12)
    make: dict[str, Callable[[Any], Any]] = {
        "mean": fb.mean,
        "ratio": lambda row: fb.ratio(row, row + 1.0),
        "macro F": lambda row: fb.f_score(gold, row.astype(int), average="macro", zero_division=0),
    }
    given = {name: make[measure](row) for name, row in zip(SYSTEMS, few, strict=True)}
    groups = np.arange(12) // 2
    found = compare(given, groups=groups, test="randomization", alternative=alternative)
    assert found.board().pairs.replicates == "all 64 swaps"
    for a, b in combinations(SYSTEMS, 2):
        alone = fb.approximate_randomization(
            given[a], given[b], groups=groups, alternative=alternative
        )
        assert alone.exact
        assert found.pair(a, b).pvalue == alone.pvalue


def step_down(scores: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Adjusted p-values of all replicates, by their definition."""
    tie = 1e-9  # far above rounding errors, far below the distances of whole numbers over 12
    found, largest = np.empty(len(scores)), 0.0
    for place in np.argsort(-scores, kind="stable"):
        maxima = null[scores <= scores[place] + tie].max(axis=0)
        largest = max(largest, np.mean(maxima >= scores[place] - tie))
        found[place] = largest
    return found


def test_swaps__max_t(few: np.ndarray) -> None:
    """Step-down over the common swaps, divided by what no swap changes."""
    found = compare(
        dict(zip(SYSTEMS, few, strict=True)), groups=np.arange(12) // 2, test="randomization",
        correction="max_t",
    )  # fmt: skip
    units = few.reshape(4, 6, 2).sum(axis=2)
    differences = np.array([units[i] - units[j] for i, j in combinations(range(4), 2)]) / 12
    signs = np.array(list(product((1.0, -1.0), repeat=6)))
    drawn = differences @ signs.T
    errors = np.sqrt((differences**2).sum(axis=1))
    expected = step_down(np.abs(differences.sum(axis=1)) / errors, np.abs(drawn) / errors[:, None])
    # Shares of 64 in float64.
    np.testing.assert_allclose(found.board().pairs.adjusted, expected, rtol=0, atol=1e-15)


def test_permutations__randomized_tukey() -> None:
    """Adjusted p-values are the shares of all 6**4 permutations whose range is as large."""
    scores = np.array([[0.0, 1.0, 1.0, 2.0], [3.0, 2.0, 2.0, 4.0], [5.0, 1.0, 3.0, 8.0]])
    n_resamples = 20_000
    found = fb.compare(
        dict(zip("abc", scores, strict=True)), test="randomization", null="permutations",
        correction="max_t", n_resamples=n_resamples, rng=0, add_one=False,
    )  # fmt: skip
    means = np.array(
        [
            [scores[list(order), unit] for unit, order in enumerate(orders)]
            for orders in product(list(permutations(range(3))), repeat=4)
        ]
    ).mean(axis=1)
    ranges = np.ptp(means, axis=1)
    for place, (i, j) in enumerate(combinations(range(3), 2)):
        observed = abs(scores[i].mean() - scores[j].mean())  # whole quarters: exact
        law = np.mean(ranges >= observed)
        count = round(found.board().pairs.adjusted[place] * n_resamples)
        assert_rate(count, n_resamples, law, detects=0.03)
        alone = np.mean(np.abs(means[:, i] - means[:, j]) >= observed)
        count = round(found.board().pairs.pvalues[place] * n_resamples)
        assert_rate(count, n_resamples, alone, detects=0.03)
    assert "randomization (20,000 random permutations) tests" in repr(found.pairs)


def test_swaps__slices_and_strata(table: dict[str, Any]) -> None:
    """Strata change nothing of swaps, as every unit is swapped on its own."""
    given = statistics("accuracy")
    plain, strata = (
        compare(given, data=table, test="randomization", **options).board().pairs.pvalues
        for options in ({}, {"strata": "stratum"})
    )
    # Two independent runs of 200: 6 standard errors of the difference, each at most sqrt(.25/200).
    assert np.abs(plain - strata).max() < 6 * np.sqrt(2 * 0.25 / N_RESAMPLES)


def rejections(null: str, draw: Callable[[np.random.Generator], np.ndarray]) -> np.ndarray:
    """Whether max-T and Holm find any of ten equal systems to differ, in each of 1,000 samples."""
    rng, rejected = np.random.default_rng(20), np.zeros((2, 1_000), bool)
    for sample in range(rejected.shape[1]):
        pairs = fb.compare(
            dict(zip("abcdefghij", draw(rng), strict=True)), test="randomization", null=null,
            correction="max_t", n_resamples=999, rng=sample, n_threads=1,
        ).board().pairs  # fmt: skip
        holm = corrections.adjust_pvalues(pairs.pvalues, "holm")
        rejected[:, sample] = (pairs.adjusted <= 0.05).any(), (holm <= 0.05).any()
    return rejected


@pytest.mark.slow
def test_correction__family_wise_error_of_swaps() -> None:
    """Of ten equal systems of two kinds some pair differs in 5 % of samples, by Holm in fewer.

    Both stay below 5 %, but for a false failure of 1e-6. Systems of a kind have much in common, so
    the 25 differences between kinds are nearly one, which max-T knows and Holm does not: the sign
    test of samples in which only one of them rejects is significant at 1e-6.
    """

    def draw(rng: np.random.Generator) -> np.ndarray:
        kinds = rng.normal(size=(2, 50)).repeat(5, axis=0)
        return np.asarray(rng.normal(size=50) + kinds + 0.3 * rng.normal(size=(10, 50)))

    by_max, by_holm = rejections("swaps", draw)
    for one in (by_max, by_holm):
        assert one.sum() <= binom.isf(1e-6, one.size, 0.05)
    more, less = (by_max & ~by_holm).sum(), (by_holm & ~by_max).sum()
    assert binom.sf(more - 1, more + less, 0.5) < 1e-6


@pytest.mark.slow
def test_correction__family_wise_error_of_permutations() -> None:
    """If all orders are equally likely, the randomized Tukey test is exact: 5 % of samples."""
    by_max, _ = rejections(
        "permutations", lambda rng: rng.normal(size=50) + rng.exponential(size=(10, 50))
    )
    assert_rate(int(by_max.sum()), by_max.size, 0.05, detects=0.07)


# ==================================================================================================
# Odd systems
# ==================================================================================================


def test_compare__identical_systems(table: dict[str, Any]) -> None:
    """Copies have p = 1, share their letters, and any of the ranks that they share."""
    scores = table["s0 score"]
    for test in ("bootstrap", "randomization"):
        for correction in ("holm", "max_t"):
            found = compare({"a": scores, "b": scores, "c": scores}, test=test,
                            correction=correction)  # fmt: skip
            pairs = found.board().pairs
            assert pairs.pvalues.tolist() == pairs.adjusted.tolist() == [1.0] * 3
            assert pairs.lows.tolist() == pairs.highs.tolist() == [0.0] * 3
            for row in rows_of(found.systems):
                assert (row["rank"], row["rank_low"], row["rank_high"]) == (1, 1, 3)
                assert (row["letters"], row["mcs_pvalue"]) == ("a", 1.0)
                assert row["probability_best"] == pytest.approx(1 / 3, abs=1e-12)
            assert found.summary().startswith("a, b, c share the best mean, ")


def test_compare__two_systems() -> None:
    """Two systems are one pair, which no correction changes."""
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    for correction in (*corrections.CORRECTIONS, "none"):
        found = compare({"a": a, "b": b + 1.0}, correction=correction)
        assert found.board().pairs.adjusted.tolist() == found.board().pairs.pvalues.tolist()
    assert found.pair("a", "b").pvalue < 0.05
    assert [row["letters"] for row in rows_of(found.systems)] == ["a", "b"]


def test_compare__undefined_system() -> None:
    """A system without a value ranks last and is in no family; others are as without it."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40))
    nothing = np.full(40, np.nan)
    plain = compare({"a": a, "b": b})
    for correction in ("holm", "max_t"):
        found = compare({"a": a, "x": nothing, "b": b}, nan_policy="propagate",
                        correction=correction)  # fmt: skip
        rows = rows_of(found.systems)
        assert rows[-1]["system"] == "x"
        assert rows[-1]["rank"] is rows[-1]["rank_low"] is None
        assert np.isnan([rows[-1][key] for key in ("value", "low", "probability_best")]).all()
        assert rows[-1]["letters"] == ""
        for pair in (("a", "x"), ("x", "b")):
            assert np.isnan(found.pair(*pair)[2:]).all()
        same = slice(2, None) if correction == "holm" else slice(2, 4)
        assert found.pair("a", "b")[same] == plain.pair("a", "b")[same]
        assert [row["system"] for row in rows[:2]] == [
            row["system"] for row in rows_of(plain.systems)
        ]
        assert "note: undefined, so without rank and p-values ['x']" in repr(found)
    assert fb.compare({"x": nothing, "y": nothing}, nan_policy="propagate", rng=0).summary(
    ).startswith("mean is undefined for all systems")  # fmt: skip


def test_compare__undefined_replicates() -> None:
    """They are left out, counted, and warned of at the line of the call."""
    rng = np.random.default_rng(0)
    rare = np.zeros(30)
    rare[:2] = 1.0
    given = {"rare": fb.ratio(rng.random(30), rare), "often": fb.ratio(rng.random(30), rare + 1.0)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = compare(given)
    assert [str(one.filename) for one in caught] == [__file__]
    n_undefined = int(np.isnan(found.board().replicates[0]).sum())
    assert n_undefined > 0
    assert found.board().pairs.n_undefined.tolist() == [n_undefined]
    shown = f"{n_undefined} of 200 replicates are undefined and left out (in ranks, of all systems)"
    assert f"note: {shown} ['rare']" in repr(found.systems)


def test_compare__notes(table: dict[str, Any]) -> None:
    """What a reader must know stands below the tables."""
    scores = {name: table[f"{name} score"][:15] for name in SYSTEMS}
    found = compare({**scores, "flat": np.ones(15)}, against="best", n_resamples=50)
    lines = [line for line in repr(found).splitlines() if line.startswith("note: ")]
    expected = (
        "note: the best system was chosen by the same data: its differences are too large on "
        'average, and the correction does not know of the choice; with against="all" it does'
        "\nnote: only 15 rows: intervals and p-values from so few units are rough"
        "\nnote: no corrected p-value can be at or below 0.05: the smallest p-value of 50 "
        "resamples is 0.0196, times 4 pairs"
        "\nnote: degenerate: all replicates are equal, so they say nothing about the uncertainty "
        "['flat']"
    )
    assert "\n".join(lines) == expected
    gaps = {name: np.where(np.arange(15) == 4, np.nan, one) for name, one in scores.items()}
    dropped = compare(gaps, nan_policy="omit", against="s0", test="randomization")
    assert dropped.notes[0] == "1 row was dropped for a missing value"
    exact = compare({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 0.0]}, test="randomization")
    assert exact.notes[1] == (
        "no corrected p-value can be at or below 0.05: the smallest p-value of all 8 swaps is 0.25"
    )
    assert compare(statistics("mean"), data=table).notes == ()


def test_compare__ranks_of_the_joint_replicates(table: dict[str, Any]) -> None:
    """Ranks, shares, model confidence set and letters are those of their own modules."""
    for higher in (True, False):
        found = compare(statistics("accuracy"), data=table, higher_is_better=higher)
        board = found.board()
        joint: dict[str, Any] = {"higher_is_better": higher, "rounding": board.rounding}
        of = ranks.rank_intervals(board.estimates, board.replicates, **joint)
        best = ranks.probability_best(board.estimates, board.replicates, **joint)
        confident = confidence_set.model_confidence_set(board.estimates, board.replicates, **joint)
        differ = np.zeros((4, 4), bool)
        for (i, j), p in zip(board.pairs.places, board.pairs.adjusted, strict=True):
            differ[i, j] = differ[j, i] = p <= 0.05
        letters = ranks.letters(differ, board.order)
        rows = rows_of(found.systems)
        assert [row["system"] for row in rows] == [SYSTEMS[i] for i in board.order]
        for i, row in zip(board.order, rows, strict=True):
            assert (row["rank"], row["rank_low"], row["rank_high"]) == (
                of.rank[i], of.low[i], of.high[i],
            )  # fmt: skip
            assert row["probability_best"] == best[i]
            assert (row["mcs_pvalue"], row["letters"]) == (confident.pvalues[i], letters[i])
    for options in ({"against": "best"}, {"alternative": "greater"}):
        assert "letters" not in compare(statistics("mean"), data=table, **options
                                        ).systems.to_columns()  # fmt: skip


# ==================================================================================================
# The object
# ==================================================================================================


def test_comparison__dict_and_json(table: dict[str, Any]) -> None:
    """All figures, with what says how they were made; NaN is null."""
    import json

    found = compare(statistics("accuracy"), data=table, groups="document", test="randomization")
    figures = json.loads(found.to_json())
    assert figures["systems"] == rows_of(found.systems)
    assert figures["pairs"] == rows_of(found.pairs)
    assert figures["test_replicates"] == "200 random swaps"
    assert (figures["path"], figures["test_path"]) == ("rows", "tables")
    assert (figures["unit"], figures["n_units"], figures["n_rows"]) == ("group", 40, 120)
    assert figures["higher_is_better"] == {"accuracy": True}
    assert figures["signature"] == found.signature()
    assert found.n_resamples == 200


def test_comparison__signature(table: dict[str, Any]) -> None:
    """One line that names all that reproduces the tables."""
    found = compare(
        statistics("accuracy"), data=table, groups="document", against="s1", test="randomization",
        higher_is_better=False,
    )  # fmt: skip
    assert found.signature() == (
        f"fastboot:{fb.__version__}|procedure:compare|systems:[s0=accuracy(gold,'s0 label'),"
        "s1=accuracy(gold,'s1 label'),s2=accuracy(gold,'s2 label'),s3=accuracy(gold,'s3 label')]|"
        "groups:document|lower_is_better:[all]|test:randomization|null:swaps|against:s1|"
        "correction:holm|n_resamples:200|seed:3|method:percentile|confidence_level:0.95|"
        "alternative:two-sided|add_one:True|n_rows:120|n_units:40"
    )


def test_comparison__frozen_and_pickled(table: dict[str, Any]) -> None:
    """Nothing can be changed, also after a pickle, which keeps every figure."""
    import pickle
    from dataclasses import FrozenInstanceError

    found = compare(statistics("accuracy"), data=table, by="language")
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    assert again.to_json() == found.to_json()
    for one in (found, again):
        for array in (one.boards[1].replicates, one.boards[0].pairs.adjusted):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.0
        with pytest.raises(FrozenInstanceError):
            one.seed = 1  # type: ignore[misc]
        one.systems.to_columns()["value"][0] = 7.0
        assert one.systems.to_columns()["value"][0] != 7.0


def test_comparison__reproducible(table: dict[str, Any]) -> None:
    """The seed and any number of threads give the same figures; more resamples begin alike."""
    for options in ({}, {"test": "randomization", "correction": "max_t"}):
        given = statistics("accuracy")
        found = compare(given, data=table, rng=None, **options)
        again = compare(given, data=table, rng=found.seed, n_threads=2, **options)
        assert rows_of(found.pairs) == rows_of(again.pairs)
        more = compare(given, data=table, rng=found.seed, n_resamples=300, **options)
        np.testing.assert_array_equal(more.board().replicates[:, :200], found.board().replicates)


def test_comparison__board(table: dict[str, Any]) -> None:
    """Boards are found by the metric, or the message says how."""
    plain = compare(statistics("mean"), data=table)
    assert plain.board() is plain.boards[0]
    with pytest.raises(KeyError, match="no metric 'F'; metrics= were not given, leave it out"):
        plain.board("F")
    two = compare([f"{name} score" for name in SYSTEMS], data=table,
                  metrics={"m": fb.mean, "q": fb.median})  # fmt: skip
    with pytest.raises(KeyError, match="no metric None; choose one of 'm', 'q'"):
        two.board()
    assert two.board("q").statistic == "median"


def test_comparison__tables_of_all_kinds(table: dict[str, Any]) -> None:
    """Text, HTML, Markdown, LaTeX and data frames have the same figures."""
    found = compare(statistics("accuracy"), data=table, by=["language", "stratum"])
    for one, n_rows in ((found.systems, 20), (found.pairs, 30)):
        columns = one.to_columns()
        assert {len(values) for values in columns.values()} == {n_rows}
        assert one.to_arrow().num_rows == n_rows
        assert one.to_pandas().shape == (n_rows, len(columns))
        assert one.to_polars().columns == list(columns)
        assert "all rows" in one._repr_html_()
        assert one.to_markdown().count("\n| ") == n_rows + 2  # and head and rule
        assert r"\toprule" in one.to_latex()
    assert found._repr_html_().count("<table>") == 2
    assert repr(found) == repr(found.systems)


def test_summary__says_what_was_found(table: dict[str, Any]) -> None:
    """A sentence for each kind of question, with the test, its level and what was resampled."""
    scores = {name: table["s0 score"] + 0.5 * i for i, name in enumerate(SYSTEMS)}
    low = float(np.round(scores["s3"].mean(), 4))
    shown = f"{low:.4g}"

    def said(**options: Any) -> str:
        return compare(scores, n_resamples=999, **options).summary()

    run = "95% percentile bootstrap intervals, 120 rows, 999 resamples, seed 3)."
    assert said().startswith(f"s3 has the best mean, {shown} [")
    assert said().endswith(
        "], significantly different from 3 of the 3 other systems; 6 of 6 pairs differ "
        "significantly (Holm-corrected two-sided bootstrap (shift) tests at 0.05; higher is "
        f"better; {run}"
    )
    assert (
        "significantly different from 3 of the 3 other systems (max-T-corrected two-sided "
        "randomization (999 random swaps) tests at 0.05"
    ) in said(against="best", test="randomization", correction="max_t")
    assert "of 3 systems compared with s1 2 are significantly better and 1 significantly worse" in (
        said(against="s1")
    )
    assert "of 3 systems compared with s1 1 is significantly better and 2 significantly worse" in (
        said(against="s1", higher_is_better=False, correction="none")
    )
    assert "and a > b is significant in 0 of 6 pairs (Holm-corrected one-sided (a > b) boot" in (
        said(alternative="greater")
    )
    grouped = said(groups=table["document"])
    assert grouped.endswith("40 groups of 120 rows, 999 resamples, seed 3).")


# ==================================================================================================
# Real systems
# ==================================================================================================


def test_compare__summarizers() -> None:
    """14 summarizers of 100 documents by human judgement (Bhandari et al. 2020)."""
    rows = pq.read_table(DATA / "realsumm_abs.parquet").to_pandas()
    wide = rows.pivot_table(index="document", columns="system", values="litepyramid_recall")
    found = compare({name: wide[name].to_numpy() for name in wide}, n_resamples=2_000)
    systems = {row["system"]: row for row in rows_of(found.systems)}
    means = wide.mean().sort_values(ascending=False)
    assert list(systems) == list(means.index)
    # The interval of ranks and the letters agree with each other on who may be best.
    best = [name for name, row in systems.items() if row["rank_low"] == 1]
    assert best == ["semsim", "bart"]
    assert [name for name, row in systems.items() if "a" in row["letters"]] == best
    assert [name for name, row in systems.items() if row["mcs_pvalue"] > 0.05] == best
    assert sum(row["probability_best"] for row in systems.values()) == pytest.approx(1, abs=1e-12)
    differs = sum(row["adjusted_pvalue"] <= 0.05 for row in rows_of(found.pairs))
    assert f"{differs} of 91 pairs differ significantly" in found.summary()


# ==================================================================================================
# Refusals
# ==================================================================================================

REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no mapping": ("a", {}, "`systems` is str; give a dict from names to statistics, or with"),
    "list without metrics": (["a", "b"], {}, "`systems` is list; give a dict from names"),
    "list of arrays": (
        ["a", np.ones(3)], {"metrics": {"m": fb.mean}},
        r"`systems` is a list with array\(\[1., 1., 1.\]\); give names of columns, or a dict",
    ),
    "one": ({"a": [1, 2]}, {}, "`systems` names 1; at least two can be compared"),
    "twice": (
        ["a", "a"], {"metrics": {"m": fb.mean}},
        "`systems` has 'a' twice; give every system a name of its own",
    ),
    "system named best": (
        {"all": [1, 2], "best": [1, 2], "z": [0, 1]}, {"against": "best"},
        "^`against` is 'best', which is a system too; rename the system, or set another `against`$",
    ),
    "system named all": (
        {"all": [1, 2], "z": [0, 1]}, {}, "^`against` is 'all', which is a system too; rename",
    ),
    "twice as text": ({1: [1, 2], "1": [1, 2]}, {}, "`systems` has '1' twice"),
    "metrics": ({"a": [1], "b": [1]}, {"metrics": fb.mean}, "`metrics` is function; give a dict"),
    "no metrics": ({"a": [1], "b": [1]}, {"metrics": {}}, "`metrics` is empty; name at least one"),
    "no statistic": (
        {"a": [1], "b": [1]}, {"metrics": {"m": lambda _: 0.5}},
        "`metrics`: 'm' returned float for 'a'; return a statistic, such as",
    ),
    "unlike": (
        {"a": fb.mean([1, 2]), "b": fb.median([1, 2])}, {},
        "`systems`: 'a' is measured by mean but 'b' by median; systems are compared by one",
    ),
    "unlike metric": (
        {"a": [1.0], "b": [2.0]},
        {"metrics": {"m": lambda column: (fb.mean if column == [1.0] else fb.median)(column)}},
        r"'b' by median; systems are compared by one statistic \(metric 'm'\)",
    ),
    "vector": (
        {name: fb.f_score([0, 1], [0, 1], average=None) for name in "ab"}, {},
        r"`systems`: f_score\(average=None\) of 'a' has several values; compare one",
    ),
    "test": ({"a": [1, 2], "b": [1, 2]}, {"test": "t"}, "`test` is 't'; choose one of bootstrap"),
    "null": ({"a": [1, 2], "b": [1, 2]}, {"null": "x"}, "`null` is 'x'; choose one of swaps, perm"),
    "correction": (
        {"a": [1, 2], "b": [1, 2]}, {"correction": "sidak"},
        "`correction` is 'sidak'; choose one of holm, bonferroni, fdr_bh, fdr_by, max_t, none",
    ),
    "method": (
        {"a": [1, 2], "b": [1, 2]}, {"method": "bca"},
        "`method` is 'bca'; choose one of percentile, basic, normal",
    ),
    "against": (
        {"a": [1, 2], "b": [1, 2]}, {"against": "c"},
        '`against` is \'c\'; choose "all", "best" or a system: a, b',
    ),
    "direction": (
        {"a": [1, 2], "b": [1, 2]}, {"higher_is_better": {"F": True}},
        "`higher_is_better` is {'F': True}; give True or False, or a dict with one for each of m",
    ),
    "direction of a metric": (
        {"a": [1, 2], "b": [1, 2]}, {"higher_is_better": {"mean": "yes"}},
        r"`higher_is_better\['mean'\]` is 'yes'",
    ),
    "no sums": (
        {name: fb.median([1, 2]) for name in "ab"}, {"test": "randomization"},
        "`test` is 'randomization', which many systems have in statistics of sums only; median is",
    ),
    "classes": (
        {name: fb.f_score([0, 1], [0, 1], average="macro") for name in "ab"},
        {"test": "randomization", "null": "permutations"},
        "`null` is 'permutations', which .* cannot have: its sums are by class; use null='swaps'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_compare__refused(case: str) -> None:
    """Wrong input is refused by name."""
    systems, options, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=message):
        compare(systems, **options)


def test_against__systems_named_as_the_words() -> None:
    """They are systems where `against` is something else."""
    given = {"all": [1, 2, 4], "best": [1, 3, 5], "z": [0, 1, 1]}
    pairs = rows_of(compare(given, against="z").pairs)
    assert [(row["a"], row["b"]) for row in pairs] == [("all", "z"), ("best", "z")]
    del given["all"]
    assert len(rows_of(compare(given, against="all").pairs)) == 1


# ==================================================================================================
# Resamples that say nothing
# ==================================================================================================


@pytest.mark.parametrize("n_units,found", [(1, 0), (2, 0), (5, 0), (6, 1), (12, 1)])
@pytest.mark.parametrize("grouped", [False, True])
def test_summary__difference_without_spread(n_units: int, found: int, *, grouped: bool) -> None:
    """What the exact randomization of so many equal differences, p = 2^(1 - K), finds at 0.05."""
    a = np.repeat(np.arange(n_units) % 3 + 0.5, 2 if grouped else 1)
    groups = np.repeat(np.arange(n_units), 2) if grouped else None
    result = compare({"a": a, "b": a - 0.25}, n_resamples=999, groups=groups)
    exact = fb.approximate_randomization(a, a - 0.25, groups=groups).pvalue

    assert exact == 2.0 ** (1 - n_units)
    assert found == (exact <= 0.05)
    words = f"significantly different from {found} of the 1 other system"
    assert words in result.summary()
    assert ("1 pair not tested: the same in all resamples" in result.summary()) is not found
    assert (result.systems.to_columns()["letters"] == ["a", "b"]) is bool(found)


def ranking(result: fb.Comparison) -> list[tuple[Any, ...]]:
    """What the table of systems says of the order, system by system; no letters are None."""
    columns = ("rank_low", "rank_high", "mcs_pvalue", "probability_best", "letters")
    rows = sorted(rows_of(result.systems), key=lambda row: str(row["system"]))
    return [tuple(row.get(name) for name in columns) for row in rows]


ONE_ROW = {"a": [1.0], "b": [0.0], "c": [0.5]}
OPEN_ORDER = "shows no order: ranks and the model confidence set leave it open"


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@pytest.mark.parametrize("against", ["all", "best", "b"])
@pytest.mark.parametrize("correction", ["holm", "max_t", "none"])
def test_systems__one_row_orders_nothing(test: str, against: str, correction: str) -> None:
    """Ranks 1 to S, all in the confidence set, no shares, as the letters and summary have it."""
    result = compare(ONE_ROW, test=test, against=against, correction=correction, n_resamples=999)
    for low, high, mcs, share, letters in ranking(result):
        assert (low, high, mcs) == (1, 3, 1.0)
        assert np.isnan(share)
        assert letters == ("a" if against == "all" else None)
    assert (
        f"of 3 pairs the difference is the same in all resamples, which {OPEN_ORDER}"
        in result.notes
    )
    assert "not tested: the same in all resamples" in result.summary() or test == "randomization"


@pytest.mark.parametrize("n_units,found", [(1, 0), (2, 0), (5, 0), (6, 1), (12, 1)])
@pytest.mark.parametrize("higher", [True, False])
def test_systems__difference_without_spread(n_units: int, found: int, *, higher: bool) -> None:
    """Systems that vary, and differ by the same on each row: ordered where letters are."""
    a = np.arange(n_units) % 3 + 0.5
    result = compare({"a": a, "b": a - 0.25}, n_resamples=999, higher_is_better=higher)
    first, second = ranking(result) if higher else ranking(result)[::-1]
    if found:
        assert first[:4] == (1, 1, 1.0, 1.0)
        assert second[:4] == (2, 2, 0.001, 0.0)
    else:
        assert first[:3] == second[:3] == (1, 2, 1.0)
        assert np.isnan([first[3], second[3]]).all()
    assert (first[4] != second[4]) is bool(found)
    assert any(OPEN_ORDER in note for note in result.notes) is not found
    # The p-value of the pair is that of the test of two, with the same note.
    two = fb.paired_bootstrap(a, a - 0.25, rng=0, n_resamples=999)
    assert result.pair("a", "b").pvalue == two.pvalue
    assert any(note.startswith("degenerate: all replicates") for note in two.notes)
    assert any(note.startswith("degenerate: all replicates") for note in result.notes)


def test_systems__strata_of_single_rows_order_nothing() -> None:
    """Every resample is the sample, however many rows there are."""
    rng = np.random.default_rng(3)
    a, b = rng.random((2, 40))
    result = compare({"a": a, "b": b + 1.0}, strata=np.arange(40), n_resamples=99)
    for row in ranking(result):
        assert row[:3] == (1, 2, 1.0)
        assert row[4] == "a"
    assert "1 pair not tested: the same in all resamples" in result.summary()


def test_systems__slices_of_one_row_order_nothing() -> None:
    """In each slice by itself; all rows together are ordered."""
    names = np.array(["x", "y", *["z"] * 40])
    b = np.random.default_rng(4).random(42)
    result = compare({"a": b + 2.0, "b": b, "c": b[::-1]}, by=names, n_resamples=99)
    rows = {(row["by"], row["system"]): row for row in rows_of(result.systems)}
    for name in "abc":
        for one in "xy":
            row = rows[one, name]
            assert (row["rank_low"], row["rank_high"], row["mcs_pvalue"]) == (1, 3, 1.0)
        assert rows["z", name]["rank_high"] == (1 if name == "a" else 3)


def test_systems__copies_of_one_row_stay_ties() -> None:
    """Equal systems of one row share their rank as before, beside one that is not ordered."""
    result = compare({"a": [1.0], "copy": [1.0], "c": [0.5]}, n_resamples=99)
    rows = {row["system"]: row for row in rows_of(result.systems)}
    assert [rows[name]["rank"] for name in ("a", "copy", "c")] == [1, 1, 3]
    assert all(row["mcs_pvalue"] == 1.0 for row in rows.values())
    assert result.pair("a", "copy").pvalue == 1.0
    (note,) = [note for note in result.notes if OPEN_ORDER in note]
    assert note.startswith("of 2 pairs ")
    equal = compare({"a": [1.0], "b": [1.0]}, n_resamples=99)
    assert ranking(equal) == [(1, 2, 1.0, 0.5, "a")] * 2


def test_notes__difference_without_spread(table: dict[str, Any]) -> None:
    """Copies vary, their difference does not: a note names the pair, and no effect is detectable.

    With a spread of 0 the smallest detectable difference would read as 0, of any size.
    """
    own, other = table["s0 score"], table["s1 score"]
    result = compare({"a": own, "copy": own, "more": own + 1.0, "b": other}, n_resamples=99)
    notes = [note for note in result.notes if "replicates of the difference are equal" in note]
    detectable = {(row["a"], row["b"]): row["detectable"] for row in rows_of(result.pairs)}

    (note,) = notes
    assert note == (
        "degenerate: all replicates of the difference are equal, so they say nothing about its "
        "uncertainty [('a', 'copy'), ('a', 'more'), ('copy', 'more')]"
    )
    for pair, value in detectable.items():
        assert np.isnan(value) == ("b" not in pair)


def test_summary__undefined_systems() -> None:
    """The best of those that are defined, and how many are not (0 / 0: nothing was retrieved)."""
    gold = np.array([1, 0, 1, 1, 0, 1, 0, 1])
    some, none = np.array([1, 1, 1, 0, 0, 1, 0, 0]), np.zeros(8, int)
    systems = {"some": fb.precision(gold, some), "none": fb.precision(gold, none)}
    with pytest.warns(RuntimeWarning, match="undefined"):
        one = compare(systems, n_resamples=99)
    with pytest.warns(RuntimeWarning, match="undefined"):
        two = compare(systems | {"also": fb.precision(gold, none)}, n_resamples=99)

    assert "some has the best precision, 0.75 [" in one.summary()
    assert "] (1 of 2 systems is undefined), " in one.summary()
    assert "] (2 of 3 systems are undefined), " in two.summary()
