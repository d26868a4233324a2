"""Small inputs on which other tools were seen to fail, each with its right value.

Numbers are those of the project's collection of cases, named by their number there. Exact ones come
from enumeration in rational arithmetic or from a closed form; `CASES` is how far they are given.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from enumeration import assert_standard_error, complete, exact_error
from scipy.stats import binom
from statistical import assert_rate, assert_same_law

import fastboot as fb
from fastboot import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The expectations are given in decimals of double precision; values are near 1.
CASES = 1e-12

SEED = 20_240_301
BOOTSTRAP_PATHS = ["collapse", "rows", "patterns", "weights"]
SWAP_PATHS = ["collapse", "tables"]
PROCEDURES = [fb.paired_bootstrap, fb.approximate_randomization]


def near(expected: Any) -> Any:
    """Equal but for the decimals that the cases are given in."""
    return pytest.approx(expected, abs=CASES, rel=0)


def mean_of(values: Sequence[float]) -> Callable[[list[int]], float]:
    """Mean of the drawn rows' values, summed without rounding errors."""
    return lambda rows: math.fsum(values[row] for row in rows) / len(rows)


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a seeded generator."""
    return np.random.default_rng(SEED)


# 01: Float noise breaks ties in the null distribution

CASE_01_A = [0.8, 0.7, 0.3, 0.5, 0.2, 0.5, 0.8]
CASE_01_B = [0.3, 0.4, 0.2, 0.3, 0.1, 0.6, 0.7]


def test_case_01__ties() -> None:
    """Swaps that tie with the observed difference count: 5/64, not the 0.03125 of rounded sums."""
    result = fb.approximate_randomization(CASE_01_A, CASE_01_B)
    assert (5 / 64, "enumeration") == (result.pvalue, result.path)


@pytest.mark.parametrize(
    "differences,two_sided,greater",
    [([0.1, 0.2, -0.3], 1.0, 0.625), ([0.1, 0.1, 0.1, -0.3, 0.2, -0.2], 1.0, 0.578125)],
)
def test_case_01__differences_that_cancel(
    differences: list[float], two_sided: float, greater: float
) -> None:
    """The tolerance scales with the terms: an observed sum of about 0 still ties."""
    result = fb.approximate_randomization(differences, [0.0] * len(differences))
    assert (two_sided, greater) == (result.pvalue, result.test("greater").pvalue)


def test_case_01__order_and_direction(rng: np.random.Generator) -> None:
    """The p-value is the same for any order of the items, and for (b, a)."""
    orders = list(permutations(range(7)))
    for index in rng.choice(len(orders), 200, replace=False):
        a, b = ([values[row] for row in orders[index]] for values in (CASE_01_A, CASE_01_B))
        assert 5 / 64 == fb.approximate_randomization(a, b).pvalue
        assert 5 / 64 == fb.approximate_randomization(b, a).pvalue


# 03: A system compared with an identical copy is reported significant


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("n_resamples", [1, 10, 9_999])
@pytest.mark.parametrize("seed", [0, 1, SEED])
def test_case_03__identical_systems(procedure: Any, n_resamples: int, seed: int) -> None:
    """A system against its copy: difference 0, p 1, a point interval and a note, no NaN."""
    scores = [1, 0, 1, 1, 0, 0.5]
    result = procedure(scores, list(scores), n_resamples=n_resamples, rng=seed)
    assert (0.0, 1.0) == (result.estimate, result.pvalue)
    assert n_resamples == result.n_extreme
    assert not result.replicates.any()
    assert (
        "degenerate: all replicates are equal, so they say nothing about the uncertainty"
        in result.notes
    )


def test_case_03__identical_systems_have_no_error() -> None:
    """The standard error is 0 and every interval the point 0."""
    scores = [1, 0, 1, 1, 0, 0.5]
    bootstrap = fb.paired_bootstrap(scores, scores, rng=0)
    swaps = fb.approximate_randomization(scores, scores, rng=0)
    assert (0.0, 0.0) == (bootstrap.standard_error, swaps.standard_error)
    assert (0.0, 0.0) == swaps.confidence_interval[:2]
    for method in ("percentile", "basic", "normal", "bca"):
        assert (0.0, 0.0) == bootstrap.interval(method=method)[:2]


# 04: Monte Carlo p-value of exactly 0


@pytest.mark.parametrize("path", SWAP_PATHS)
def test_case_04__pvalue_is_never_zero(path: str) -> None:
    """The observed difference counts as one replicate: (n_extreme + 1) / 1000, at least 0.001."""
    result = fb.approximate_randomization([1] * 20, [0] * 20, n_resamples=999, rng=0, path=path)
    assert (result.n_extreme + 1) / 1_000 == result.pvalue
    assert 0.001 == result.min_pvalue <= result.pvalue


def test_case_04__exact() -> None:
    """All 2**20 swaps give 2 / 2**20, also the smallest p-value there is."""
    result = fb.approximate_randomization([1] * 20, [0] * 20, path="enumeration")
    assert 2 / 2**20 == result.pvalue == result.min_pvalue


# 05: Direction flipped, complement reported, inputs overwritten


def test_case_05__directions() -> None:
    """All six differences are positive: greater 1/64, less 1, two-sided 2/64."""
    a = np.array([0.9, 0.8, 0.7, 0.95, 0.85, 0.6])
    b = np.array([0.5, 0.4, 0.6, 0.7, 0.65, 0.55])
    before = a.tobytes(), b.tobytes()
    result, mirrored = fb.approximate_randomization(a, b), fb.approximate_randomization(b, a)
    expected = {"greater": 1 / 64, "less": 1.0, "two-sided": 2 / 64}
    assert expected == {side: result.test(side).pvalue for side in expected}
    assert result.test("greater").pvalue == mirrored.test("less").pvalue
    assert before == (a.tobytes(), b.tobytes())


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_case_05__inputs_are_not_written(path: str) -> None:
    """No path of the bootstrap writes to the caller's arrays."""
    a = np.array([0.9, 0.8, 0.7, 0.95, 0.85, 0.6])
    before = a.tobytes()
    fb.bootstrap(a, n_resamples=99, rng=0, path=path)
    assert before == a.tobytes()


# 06: Which paired-bootstrap p-value?


def test_case_06__conventions() -> None:
    """Every convention, by name, from all 3,125 resamples."""
    d = [3, 1, 1, 0, -1]
    result = complete(fb.paired_bootstrap(d, [0] * 5, rng=0, add_one=False), mean_of(d))
    assert 0.8 == near(result.estimate)
    assert 0.11744 == near(result.test("greater", rule="percentile").pvalue)
    assert 1 - 0.05952 == near(result.test("less", rule="percentile").pvalue)
    assert 0.23488 == near(result.test(rule="percentile").pvalue)
    assert 0.11872 == near(result.test("greater").pvalue)
    assert 1 - 0.07392 == near(result.test("less").pvalue)
    assert 0.23616 == near(result.pvalue)
    assert "shift" == result.rule
    assert 0.5 == fb.approximate_randomization(d, [0] * 5).pvalue


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_case_06__sampled(path: str) -> None:
    """A sampled run counts the same shares, and adds one."""
    d = [3, 1, 1, 0, -1]
    result = fb.paired_bootstrap(d, [0] * 5, n_resamples=40_000, rng=SEED, path=path)
    for side, rule, share in [
        ("greater", "shift", 0.11872),
        ("two-sided", "shift", 0.23616),
        ("greater", "percentile", 0.11744),
    ]:
        answer = result.test(side, rule=rule)
        assert_rate(answer.n_extreme, 40_000, share, detects=0.02)
        assert (answer.n_extreme + 1) / 40_001 == answer.pvalue


# 08: Same seed, different p-values (threads)

CASE_08 = [0.3, -0.1, 0.25, 0.0, 0.4, -0.2, 0.1, 0.05]


@pytest.fixture(params=[1, 7, 4_096])
def batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small runs use threads, in batches of this many replicates."""
    monkeypatch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
    monkeypatch.setattr(engine, "_LARGEST_RANGE", request.param)


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_case_08__bootstrap(path: str) -> None:
    """The same bits for any number of threads and any batch."""
    expected = fb.bootstrap(CASE_08, n_resamples=999, rng=0, n_threads=1, path=path).replicates
    for n_threads in (1, 2, 4, 8):
        again = fb.bootstrap(CASE_08, n_resamples=999, rng=0, n_threads=n_threads, path=path)
        assert expected.tobytes() == again.replicates.tobytes()


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("path", SWAP_PATHS)
def test_case_08__swaps(path: str) -> None:
    """The same bits for any number of threads and any batch."""
    runs = [
        fb.approximate_randomization(
            CASE_08, [0] * 8, n_resamples=999, rng=0, n_threads=n_threads, path=path
        )
        for n_threads in (1, 1, 2, 4, 8)
    ]
    assert 1 == len({run.replicates.tobytes() for run in runs})
    assert 1 == len({run.pvalue for run in runs})


# 09: Workers share one random stream; user seed ignored

POWERS = [1, 2, 4, 8, 16, 32, 64, 128]  # the sum tells which rows were drawn, and how often


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_case_09__no_block_of_draws_comes_twice(path: str) -> None:
    """No run of six resamples occurs again: their chance is (sum of p^2)^6 x 8e6 pairs < 1e-12."""
    result = fb.bootstrap(fb.total(POWERS), n_resamples=4_000, rng=0, n_threads=4, path=path)
    windows = np.lib.stride_tricks.sliding_window_view(result.replicates, 6)
    assert len(windows) == len(np.unique(windows, axis=0))


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_case_09__seed(procedure: Any) -> None:
    """Seeds decide: another seed, other replicates; the recorded seed, the same replicates."""

    def run(rng: object) -> Any:
        return procedure(POWERS, [0] * 8, n_resamples=200, rng=rng)

    assert run(1).replicates.tolist() == run(1).replicates.tolist()
    assert run(1).replicates.tolist() != run(2).replicates.tolist()
    fresh, other = run(None), run(None)
    assert fresh.seed != other.seed
    assert fresh.replicates.tolist() == run(fresh.seed).replicates.tolist()


# 10: p-value cannot reach alpha with few units


def test_case_10__few_clusters() -> None:
    """Five clusters have 32 swaps: 0.0625 is the smallest p-value, and the result says so."""
    clusters = [0, 0, 1, 2, 2, 2, 3, 4, 4]
    result = fb.approximate_randomization([1] * 9, [0] * 9, groups=clusters)
    assert (0.0625, 0.0625) == (result.pvalue, result.min_pvalue)
    assert (9, 5, "group") == (result.n_rows, result.n_units, result.unit)
    assert any(note.startswith("only 5 groups") for note in result.notes)
    assert 2 / 512 == fb.approximate_randomization([1] * 9, [0] * 9).pvalue


# 11: Constant data: BCa gives NaN or an IndexError


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_case_11__constant_data(method: str) -> None:
    """The interval is the point, the error 0, and notes say why."""
    result = fb.bootstrap([0.5] * 10, method=method, rng=0)
    assert (0.5, 0.5) == result.confidence_interval[:2]
    assert 0.0 == result.standard_error
    assert result.degenerate
    assert (method == "bca") == any("BCa is undefined" in note for note in result.notes)


# 13: Acceleration computed from the wrong thing


@pytest.mark.parametrize("n_resamples", [1, 10, 100, 10_000])
@pytest.mark.parametrize("shift", [0, 5])
def test_case_13__acceleration(n_resamples: int, shift: int) -> None:
    """180 / (6 x 50^1.5), a property of the data only."""
    values = [shift + value for value in (1, 2, 3, 4, 10)]
    result = fb.bootstrap(values, n_resamples=n_resamples, rng=0)
    assert 0.08485281374238571 == near(result.acceleration)


# 15: "Paired" bootstrap resamples the two systems independently

CASE_15_A = [10, 20, 30, 40, 50]
CASE_15_B = [11, 21, 32, 41, 52]


def test_case_15__paired() -> None:
    """Paired and unpaired standard errors differ 41-fold."""
    d = [b - a for a, b in zip(CASE_15_A, CASE_15_B, strict=True)]
    paired = fb.paired_bootstrap(CASE_15_B, CASE_15_A, rng=SEED)
    unpaired = math.hypot(
        *(
            exact_error(complete(fb.bootstrap(scores, rng=0), mean_of(scores)))
            for scores in (CASE_15_A, CASE_15_B)
        )
    )
    assert 0.21908902300206645 == near(exact_error(complete(paired, mean_of(d))))
    assert 9.035928286568016 == near(unpaired)
    assert_standard_error(paired, 0.21908902300206645)


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_case_15__same_rows_for_both_systems(path: str) -> None:
    """A replicate of the difference is the difference of the two systems' replicates."""
    a, b = (
        fb.bootstrap(scores, n_resamples=500, rng=3, path=path).replicates
        for scores in (CASE_15_A, CASE_15_B)
    )
    paired = fb.paired_bootstrap(CASE_15_B, CASE_15_A, n_resamples=500, rng=3, path=path)
    if path == "collapse":  # the differences 1, 1, 2, 1, 2 have fewer classes than the scores
        assert_standard_error(paired, 0.21908902300206645)
    else:
        # Integer sums up to 260 are exact; two divisions and a subtraction round.
        assert np.abs(paired.replicates - (b - a)).max() <= 3 * 52 * np.finfo(float).eps


# 16: Two-sided level not halved


@pytest.mark.parametrize(
    "level,low,high", [(0.95, 25.0, 975.0), (0.9, 50.0, 950.0), (0.99, 5.0, 995.0)]
)
def test_case_16__percentiles(level: float, low: float, high: float) -> None:
    """Quantiles at alpha / 2 and 1 - alpha / 2 with linear interpolation."""
    result = replace(fb.bootstrap([1, 2], rng=0), replicates=np.arange(1_001.0))
    # 1e-9 is the tolerance of the case: a level such as 0.05 / 2 carries a rounding error.
    assert (low, high) == pytest.approx(result.interval(level)[:2], abs=1e-9, rel=0)


# 18: The interval excludes 0 but the p-value says not significant


def test_case_18__interval_and_pvalues() -> None:
    """Three legitimate questions have three answers, each with its name."""
    d = [0, 0, 0, 1, 1, 3]
    result = complete(fb.paired_bootstrap(d, [0] * 6, rng=0, add_one=False), mean_of(d))
    assert [1 / 6, 11 / 6] == near(list(result.confidence_interval[:2]))
    assert 0.07148062414266118 == near(result.pvalue)
    assert 0.03125 == near(result.test(rule="percentile").pvalue)
    assert ("shift", "percentile") == (result.rule, result.test(rule="percentile").rule)
    randomized = fb.approximate_randomization(d, [0] * 6)
    assert (0.25, "null") == (randomized.pvalue, randomized.rule)


# 21: 0% or 100% accuracy reported as +- 0


@pytest.mark.parametrize("answers", [[0] * 25, [1] * 10])
def test_case_21__all_equal_answers(answers: list[int]) -> None:
    """The resampling answer is a point; it carries a note."""
    result = fb.bootstrap(answers, rng=0)
    assert (0.0, True) == (result.standard_error, result.degenerate)
    assert any(note.startswith("degenerate") for note in result.notes)


def test_case_21__one_other_answer() -> None:
    """The standard error is 0 only where all values are equal."""
    result = fb.bootstrap([0] * 24 + [1], rng=0)
    assert result.standard_error > 0
    assert not result.degenerate


# 22: One row gives no certainty, no rows an early error


def test_case_22__one_row() -> None:
    """The bootstrap's 0 is degenerate, and the result says so."""
    result = fb.bootstrap([0.7], rng=0)
    assert (0.0, True) == (result.standard_error, result.degenerate)
    assert any(note.startswith("only 1 row:") for note in result.notes)


def test_case_22__no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty input is refused before kernels start."""
    monkeypatch.setattr(engine, "run", None)
    with pytest.raises(ValueError, match=r"^`statistic` is empty; give at least one row\.$"):
        fb.bootstrap([])


# 24: A cluster drawn twice is kept once

CASE_24 = [[1], [0, 1], [0, 0, 1], [1, 1, 1, 0]]


def test_case_24__clusters_drawn_twice() -> None:
    """Clusters count as often as they are drawn, with all their rows."""
    values = [value for cluster in CASE_24 for value in cluster]
    groups = [index for index, cluster in enumerate(CASE_24) for _ in cluster]
    sampled = fb.bootstrap(values, groups=groups, rng=SEED)
    result = complete(sampled, mean_of(values), groups)
    assert 0.6 == near(sampled.estimate)
    assert 0.11329517932599815 == near(exact_error(result))
    assert 0.6025989852161727 == near(result.replicates.mean())
    assert_standard_error(sampled, 0.11329517932599815)
    support = np.unique(result.replicates)
    assert np.isin(sampled.replicates, support).all()


def test_case_24__mean_of_cluster_means() -> None:
    """A macro average has the clusters as its rows."""
    means = [sum(cluster) / len(cluster) for cluster in CASE_24]
    result = complete(fb.bootstrap(means, rng=0), mean_of(means))
    assert 0.12629537138523064 == near(exact_error(result))


# 26: Standard error for dependent questions


def test_case_26__clusters() -> None:
    """The cluster bootstrap sees what the naive error misses, and reports the clusters."""
    values = [1, 1, 1, 0, 0, 1, 1, 0, 1, 0]
    groups = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
    sampled = fb.bootstrap(values, groups=groups, rng=SEED)
    assert (0.6, 4) == (sampled.estimate, sampled.n_units)
    exact = exact_error(complete(sampled, mean_of(values), groups))
    assert 0.21658864385379858 == near(exact)
    assert_standard_error(sampled, 0.21658864385379858)
    # Of the rows: sqrt(p (1 - p) / n), 0.1633 with ddof 1.
    assert_standard_error(fb.bootstrap(values, rng=SEED), 0.1632993161855452 * math.sqrt(0.9))


# 29: A group or class is missing from a resample

CASE_29_IN_B = [0] * 9 + [1]
CASE_29_Y = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]


class MacroMean(fb.Additive):
    """Mean of the means of groups A and B."""

    def terms(self, y: Any, in_b: Any) -> Sequence[Any]:
        """Sum and number of rows of each group."""
        return y * (1 - in_b), 1 - in_b, y * in_b, in_b

    def finish(self, sum_a: Any, n_a: Any, sum_b: Any, n_b: Any) -> Any:
        """Mean of the group means."""
        return (sum_a / n_a + sum_b / n_b) / 2


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
@pytest.mark.parametrize("macro", [False, True])
def test_case_29__absent_group(path: str, macro: bool) -> None:
    """Resamples without B (or without A) are undefined: counted, left out, and warned about."""
    if macro:
        statistic: fb.Additive = MacroMean(CASE_29_Y, CASE_29_IN_B)
        absent = 0.9**10 + 0.1**10
    else:
        in_b = np.array(CASE_29_IN_B)
        statistic, absent = fb.ratio(in_b * CASE_29_Y, in_b), 0.3486784401000001
    with pytest.warns(RuntimeWarning, match=r"undefined in [\d,]+ of 10,000 replicates"):
        result = fb.bootstrap(statistic, n_resamples=10_000, rng=SEED, path=path)
    assert_rate(result.n_undefined, 10_000, absent, detects=0.05)
    assert result.n_undefined == np.isnan(result.replicates).sum()
    assert not np.isnan(result.confidence_interval[:2]).any()
    assert any("replicates are undefined and left out" in note for note in result.notes)


# 31: Unpaired z-test applied to paired results


def test_case_31__mcnemar() -> None:
    """On 0/1 answers the swap test is the exact McNemar test."""
    both, only_a, only_b, neither = 70, 8, 1, 21
    a = [1] * both + [1] * only_a + [0] * only_b + [0] * neither
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    result = fb.approximate_randomization(a, b)
    assert 0.0390625 == result.pvalue == near(2 * binom.sf(7, 9, 0.5))
    assert 0.07 == near(result.estimate)
    assert (100, 9) == (result.n_units, result.n_differing)
    assert_standard_error(fb.paired_bootstrap(a, b, rng=SEED), 0.029171904291629643)


# 34: Corpus metrics averaged per item instead of re-summed


def test_case_34__corpus_ratio() -> None:
    """Sums are resampled, then divided: all 27 resamples."""
    errors_a, errors_b, words = [1, 1, 10], [0, 2, 8], [2, 4, 100]

    def rate(errors: list[int]) -> Callable[[list[int]], float]:
        return lambda rows: sum(errors[i] for i in rows) / sum(words[i] for i in rows)

    sampled = fb.bootstrap(fb.ratio(errors_a, words), rng=SEED)
    single = complete(sampled, rate(errors_a))
    assert 0.11320754716981132 == near(single.estimate)
    assert 0.11541615141596663 == near(exact_error(single))
    assert [0.1, 0.5] == near([single.replicates.min(), single.replicates.max()])
    assert_standard_error(sampled, 0.11541615141596663)
    assert [0.1, 0.5] == near([sampled.replicates.min(), sampled.replicates.max()])

    paired = fb.paired_bootstrap(
        fb.ratio(errors_a, words), fb.ratio(errors_b, words), rng=SEED, add_one=False
    )
    both = complete(paired, lambda rows: rate(errors_a)(rows) - rate(errors_b)(rows))
    assert 0.09433962264150944 == near(paired.estimate_b)
    assert 0.11880604814483697 == near(exact_error(both))
    assert 0.25925925925925924 == near(both.test("greater", rule="percentile").pvalue)
    assert_standard_error(paired, 0.11880604814483697)
    share = paired.test("greater", rule="percentile").n_extreme
    assert_rate(share, 9_999, 0.25925925925925924, detects=0.05)


# 37: Non-finite scores surface as unrelated errors


@pytest.mark.parametrize("nan_policy", ["raise", "omit", "propagate"])
def test_case_37__infinite_score(nan_policy: str) -> None:
    """An infinite score is refused by name and row."""
    message = r"^`statistic` has 1 infinite value \(first at row 2\); replace or drop"
    with pytest.raises(ValueError, match=message):
        fb.bootstrap([1.0, 2.0, math.inf], nan_policy=nan_policy)


def test_case_37__only_nan() -> None:
    """NaN only is refused, also where rows with NaN are dropped."""
    with pytest.raises(ValueError, match=r"^`statistic` has 2 NaN \(first at row 0\)"):
        fb.bootstrap([math.nan, math.nan])
    with pytest.raises(ValueError, match=r"^no rows left: all 2 rows have a missing value"):
        fb.bootstrap([math.nan, math.nan], nan_policy="omit")


# 38: fastmath removes NaN checks


def test_case_38__nan_is_seen() -> None:
    """NaN is found by the checks and left out where asked; it passes through where asked."""
    scores = [2.0, math.nan, 4.0]
    with pytest.raises(ValueError, match="1 NaN"):
        fb.bootstrap(scores)
    omitted = fb.bootstrap(scores, nan_policy="omit", rng=0)
    assert (3.0, 1, 2) == (omitted.estimate, omitted.n_dropped, omitted.n_rows)
    passed = fb.bootstrap(scores, nan_policy="propagate", rng=0)
    assert math.isnan(passed.estimate)
    assert all(map(math.isnan, passed.confidence_interval[:2]))


# 40: float32 accumulation and float32 counts


def test_case_40__float32() -> None:
    """Sums are float64: 20,000,000 ones have mean 1, not 0.8388608."""
    ones = np.ones(20_000_000, np.float32)
    assert 1.0 == fb.bootstrap(ones, n_resamples=1, rng=0).estimate
    one_large = np.zeros(2**24 + 1, np.float32)
    one_large[0] = 2**24 - 1
    # The case allows 1e-9; float32 is 1e-7 off.
    estimate = fb.bootstrap(one_large, n_resamples=1, rng=0).estimate
    assert 0.9999998807907176 == pytest.approx(estimate, abs=1e-9, rel=0)


# 41: Shared sums and racy cells


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_case_41__totals(path: str) -> None:
    """A start of 1, then 50 right and 50 wrong answers: 51, and the same bits for any threads."""
    values = [1] + [1, 0] * 50
    runs = [
        fb.bootstrap(fb.total(values), n_resamples=500, rng=0, n_threads=n_threads, path=path)
        for n_threads in (1, 2, 3, 8)
    ]
    assert {51.0} == {run.estimate for run in runs}
    assert 1 == len({run.replicates.tobytes() for run in runs})


# 42, 43, 60: Other threads, forked children, no processes of its own


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_case_42__called_from_several_threads(
    procedure: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four Python threads of 30 calls each get what sequential calls get."""
    monkeypatch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
    a, b = rng.normal(size=(2, 100))

    def replicates(seed: int) -> bytes:
        run = procedure(a, b, n_resamples=200, rng=seed, n_threads=2)
        return bytes(run.replicates.tobytes())

    with ThreadPoolExecutor(4) as pool:
        assert [replicates(seed) for seed in range(120)] == list(pool.map(replicates, range(120)))


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork with threads of others
import numpy as np
import fastboot as fb
a, b = np.random.default_rng(0).normal(size=(2, 3_000))
run = lambda: fb.paired_bootstrap(a, b, n_resamples=999, rng=0, n_threads=2).replicates.tobytes()
before = run()
child = os.fork()
if child == 0:
    os._exit(0 if run() == before else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_case_43__fork_after_a_parallel_call() -> None:
    """A child forked after a call with threads computes the same replicates."""
    # 20 s is the case's limit for a hang; compiling in an empty cache comes before the fork.
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=20 + 60)


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("n_resamples", [1, 7, 1_000])
def test_case_60__resamples_are_counted(procedure: Any, n_resamples: int) -> None:
    """As many replicates as asked for, in this process."""
    result = procedure(range(20), [0] * 20, n_resamples=n_resamples, rng=0)
    assert n_resamples == result.n_resamples == len(result.replicates)
    assert [] == multiprocessing.active_children()


# 45: Seconds of compilation for a ten-row input

TEN_ROWS = """
import sys
import fastboot as fb
assert "numba" not in sys.modules
fb.bootstrap(range(10), n_resamples=999, rng=0).confidence_interval
for other in ("fastboot.kernels.patterns", "fastboot.kernels.swaps", "scipy.stats"):
    assert other not in sys.modules, other
"""


def test_case_45__ten_rows_load_little() -> None:
    """Importing compiles nothing; ten rows need no large kernel and no scipy.stats."""
    subprocess.run([sys.executable, "-c", TEN_ROWS], check=True)


# 47: Thread over-subscription and ignored thread settings


def test_case_47__numba_setting_is_left_alone(rng: np.random.Generator) -> None:
    """Threads are of each call; Numba's own setting stays, and the answer does not depend on it."""
    import numba

    before = numba.get_num_threads()
    scores = rng.normal(size=5_000)
    runs = [fb.bootstrap(scores, n_resamples=500, rng=0, n_threads=n) for n in (1, 2, 5)]
    assert before == numba.get_num_threads()
    assert 1 == len({run.replicates.tobytes() for run in runs})


# 48: Read-only Arrow memory rejected by typed kernels


def test_case_48__one_version_for_every_memory() -> None:
    """Writeable, read-only, Arrow and polars scores run the same compiled code."""
    from fastboot.kernels.segments import add_segment_sums

    scores = np.array([0.25, 0.5, 1.0])
    closed = scores.copy()
    closed.flags.writeable = False
    fb.bootstrap(scores, rng=0)
    compiled = list(getattr(add_segment_sums, "signatures", []))
    sources = [scores, closed, pa.array(scores), pa.chunked_array([scores]), pl.Series(scores)]
    runs = [fb.bootstrap(source, rng=0) for source in sources]
    assert {0.5833333333333334} == {run.estimate for run in runs}
    assert 1 == len({run.replicates.tobytes() for run in runs})
    assert compiled == list(getattr(add_segment_sums, "signatures", []))


# 50: Chunked dictionary group keys


def test_case_50__dictionary_per_chunk() -> None:
    """Groups are those of the values, not of each chunk's codes."""
    keys = pa.chunked_array(
        [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]).dictionary_encode()]
    )
    data = pa.table({"value": [1, 2, 3, 4], "key": keys})
    result = fb.bootstrap(fb.total("value"), data=data, groups="key", rng=0)
    plain = fb.bootstrap(fb.total([1, 5, 4]), rng=0)
    assert (3, 10.0) == (result.n_units, result.estimate)
    assert plain.replicates.tolist() == result.replicates.tolist()


def test_case_50__more_groups_than_int8() -> None:
    """200 chunks of one row with int8 indices are 200 groups."""
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array([f"key {i}"]))
        for i in range(200)
    ]
    result = fb.bootstrap(np.arange(200), groups=pa.chunked_array(chunks), n_resamples=9, rng=0)
    assert 200 == result.n_units


# 52: Nulls in numeric columns


def test_case_52__nulls() -> None:
    """Nulls are refused, or dropped and counted."""
    values = pa.array([1, None, 3])
    with pytest.raises(ValueError, match=r"^`statistic` has 1 null \(first at row 1\)"):
        fb.bootstrap(values)
    result = fb.bootstrap(values, nan_policy="omit", rng=0)
    assert (2.0, 1) == (result.estimate, result.n_dropped)


def test_case_52__large_integer() -> None:
    """An integer that float64 would change is refused, never rounded."""
    values = pa.array([9_007_199_254_740_993, None])
    with pytest.raises(ValueError, match=r"has 9007199254740993 at row 0, beyond 2\*\*53"):
        fb.bootstrap(fb.total(values), nan_policy="omit")


# 53: Bit-packed booleans


def test_case_53__booleans() -> None:
    """Booleans are 0 and 1 in any layout; one discordant pair has p = 1."""
    a, b = [True, True, False], [False, True, False]
    result = fb.approximate_randomization(pa.array(a), pa.array(b))
    assert [2 / 3, 1 / 3, 1.0] == near([result.estimate_a, result.estimate, result.pvalue])
    expected = fb.paired_bootstrap(a, b, rng=0).replicates.tolist()
    padded = [pa.array([True] * 3 + values + [True] * 14).slice(3, 3) for values in (a, b)]
    for kind in (np.uint8, np.float32, np.float64, np.bool_):
        again = fb.paired_bootstrap(np.array(a, kind), np.array(b, kind), rng=0)
        assert expected == again.replicates.tolist()
    assert expected == fb.paired_bootstrap(*padded, rng=0).replicates.tolist()


# 56: n x n_resamples memory


def test_case_56__memory_does_not_grow_with_resamples(rng: np.random.Generator) -> None:
    """Less than four times the bytes of the columns, whatever the number of resamples.

    An index matrix of 200 resamples would take 1.6 GB.
    """
    n = 1_000_000
    a, b = rng.normal(size=(2, n))
    fb.paired_bootstrap(a[:1_000], b[:1_000], n_resamples=9, rng=0)  # compile
    tracemalloc.start()
    try:
        fb.paired_bootstrap(a, b, n_resamples=200, rng=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * (a.nbytes + b.nbytes)


# 57: O(n^2) jackknife makes BCa unusable


def test_case_57__acceleration_of_a_mean(rng: np.random.Generator) -> None:
    """Two million rows in one pass: the closed form of the mean."""
    values = rng.exponential(size=2_000_000)
    d = values - values.mean()
    expected = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    actual = fb.bootstrap(values, n_resamples=1, rng=0).acceleration
    # Leave-one-out changes of 1 / n carry an absolute error of 2e-16: 4e-10 of each, n = 2e6.
    assert expected == pytest.approx(actual, rel=1e-7)


def test_case_57__acceleration_of_a_ratio(rng: np.random.Generator) -> None:
    """Leave-one-out values of a ratio are (N - n_i) / (D - d_i)."""
    errors, words = rng.poisson(3, 500), rng.integers(1, 40, 500)
    left = (errors.sum() - errors) / (words.sum() - words)
    d = left.mean() - left
    expected = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    actual = fb.bootstrap(fb.ratio(errors, words), n_resamples=1, rng=0).acceleration
    # Changes of 1 / n = 2e-3 of values near 0.15 carry an error of 1e-14; 500 are summed.
    assert expected == pytest.approx(actual, rel=1e-10)


# 58: Resampling 0/1 or few-valued scores the slow way


def test_case_58__few_values() -> None:
    """A million paired answers are three classes; a replicate is one multinomial draw.

    The law is that of index resampling: the difference of two cells of Multinomial(n; .05, .9,
    .05), whose characteristic function is (.9 + .1 cos t)^n.
    """
    n, n_resamples = 1_000_000, 20_000
    counts = {-1: 50_000, 0: 900_000, 1: 50_000}
    d = np.repeat(list(counts), list(counts.values()))
    result = fb.paired_bootstrap(d, np.zeros(n), n_resamples=n_resamples, rng=SEED)
    assert "collapse" == result.path
    assert_standard_error(result, 0.00031622776601683794)

    size = 2**13  # the difference is within +- 4,096, 13 standard deviations
    cycle = 2 * np.pi * np.arange(size) / size
    mass = np.fft.fftshift(np.fft.ifft((0.9 + 0.1 * np.cos(cycle)) ** n).real).clip(0)
    edges = np.searchsorted(mass.cumsum(), np.arange(1, 20) / 20) + 1
    expected = np.add.reduceat(mass, np.r_[0, edges])
    drawn = np.rint(result.replicates * n).astype(int) + size // 2
    observed = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=20)
    assert_same_law(observed.tolist(), expected.tolist(), detects=0.02)


# 61: Swaps, 64 to a random word


@pytest.mark.parametrize("path", SWAP_PATHS)
def test_case_61__sampled_swaps(path: str) -> None:
    """Sampled swaps count what enumeration counts, within Monte Carlo error."""
    a, b = [0.5, 0.25, 1, 0, 0.75, 1, 0.5, 1, 0.25, 1], [0, 0.5, 0.5, 0, 0.5, 0.75, 1, 0, 0, 0.25]
    exact = fb.approximate_randomization(a, b)
    sampled = fb.approximate_randomization(a, b, n_resamples=40_000, rng=SEED, path=path)
    assert ("enumeration", path) == (exact.path, sampled.path)
    for side in ("two-sided", "greater", "less"):
        count = sampled.test(side).n_extreme
        assert_rate(count, 40_000, exact.test(side).pvalue, detects=0.03)
