"""Permutation tests: against the reference, full enumeration, SciPy and a published answer."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import SeedSequence
from scipy import stats
from statistical import assert_same_distribution, assert_same_law

import fastboot as fb
from fastboot import reference
from fastboot.kernels.relabelling import (
    add_class_label_sums,
    add_label_sums,
    fill_all_labels,
    fill_label_weights,
)
from fastboot.permutation import permutation_test
from fastboot.units import Tally, from_rows, one_part

SEED = 11
# 31 to 33: the units of a word; 127 to 129: those of a counter.
SIZES = (1, 2, 5, 31, 32, 33, 100, 127, 128, 129, 1_000)
# Survival of mice in days (Efron and Tibshirani 1993, table 2.1).
TREATED = [94, 197, 16, 38, 99, 141, 23]
UNTREATED = [52, 104, 146, 10, 50, 31, 40, 27, 46]


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(2_024)


def key_of(seed: int | SeedSequence = SEED) -> tuple[np.uint32, ...]:
    """Return the key of a seed."""
    sequence = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
    return tuple(sequence.generate_state(2, np.uint32))


def difference(values: Any, flags: Any) -> float:
    """Difference of the means of the flagged values and of the others."""
    values, flags = np.asarray(values, dtype=float), np.asarray(flags)
    return float(values[flags].sum() / flags.sum() - values[~flags].sum() / (~flags).sum())


def mean(rows: list[Fraction]) -> Fraction:
    """Mean in exact arithmetic."""
    return sum(rows, Fraction(0)) / len(rows)


# Kernels.


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5, 0.75, 0.998, 1.0])
@pytest.mark.parametrize("n", SIZES)
def test_labels__reference(n: int, share: float) -> None:
    """Every unit has the reference's label, and units of other parts are left alone."""
    chosen = round(share * n)
    weights = np.full((6, n + 5), 7.0)
    fill_label_weights(2, n, chosen, 3, *key_of(), weights)

    expected = [reference.labels(n, chosen, SEED, 3 + r) for r in range(6)]

    assert weights[:, 2 : n + 2].tolist() == expected
    assert (np.delete(weights, range(2, n + 2), axis=1) == 7.0).all()


@pytest.mark.parametrize("chosen", [0, 1, 30, 4_150, 8_290])
def test_labels__many_units(chosen: int) -> None:
    """More counters than are drawn at a time; shares far below and above 1 in 256."""
    weights = np.empty((1, 8_300))
    fill_label_weights(0, 8_300, chosen, 0, *key_of(), weights)

    assert weights[0].tolist() == reference.labels(8_300, chosen, SEED, 0)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 128, 300])
def test_label_sums__same_draws(n: int, rng: np.random.Generator) -> None:
    """Sums of integers over the units chosen are exact."""
    terms = rng.integers(0, 1_000, (2, n + 5)).astype(float)
    tally = rng.integers(0, 3, n + 5)
    units = from_rows([*terms, Tally(tally, 3)], one_part(n + 5))
    chosen = n // 3
    weights, sums = np.zeros((6, n + 5)), np.ones((5, 6))
    fill_label_weights(2, n, chosen, 4, *key_of(), weights)
    add_label_sums(units.varying, units.entries, 2, n, chosen, 4, *key_of(), sums)

    expected = np.concatenate([terms, np.eye(3)[tally].T]) @ weights.T
    assert (sums == 1.0 + expected).all()


@pytest.mark.parametrize("chosen", [0, 1, 40, 399, 650, 1_000])
@pytest.mark.parametrize("counts", [(1_000,), (10, 990), (400, 1, 580, 19)])
def test_class_labels__reference(counts: tuple[int, ...], chosen: int) -> None:
    """Of every class as many are chosen as in the reference."""
    n = len(counts)
    terms, multiplicities = np.arange(2.0 * n).reshape(2, n) ** 2, np.array(counts)
    units = from_rows([*terms, Tally(np.arange(n), n)], one_part(n), drawn_vary=True)
    multiplicities.flags.writeable = False
    sums = np.zeros((len(units.varying) + n, 30))
    arguments = units.varying, units.entries, multiplicities, chosen
    add_class_label_sums(*arguments, 5, *key_of(), sums)

    expected = [reference.class_labels(counts, chosen, SEED, 5 + r) for r in range(30)]
    assert sums[len(units.varying) :].T.tolist() == expected
    assert (sums[: len(units.varying)] == units.varying @ np.array(expected).T).all()


def test_class_labels__hypergeometric() -> None:
    """The number of a class is hypergeometric; fails by chance once in a million."""
    counts, chosen = np.array([40, 960]), 300
    counts.flags.writeable = False
    units = from_rows([np.array([1.0, 0.0])], one_part(2))
    sums = np.zeros((1, 20_000))
    add_class_label_sums(units.varying, units.entries, counts, chosen, 0, *key_of(), sums)

    law = stats.hypergeom(1_000, chosen, 40).pmf(np.arange(41))
    found = np.bincount(sums[0].astype(int), minlength=41)
    assert_same_law(found.tolist(), law.tolist(), detects=0.025)


@pytest.mark.parametrize("n,chosen", [(6, 3), (7, 2), (7, 5), (5, 4), (9, 1)])
def test_labels__uniform(n: int, chosen: int) -> None:
    """Every subset is equally likely; fails by chance once in a million."""
    weights = np.empty((40_000, n))
    fill_label_weights(0, n, chosen, 0, *key_of(), weights)

    subsets, counts = np.unique(weights, axis=0, return_counts=True)

    ways = math.comb(n, chosen)
    assert len(subsets) == ways
    assert_same_law(counts.tolist(), [1 / ways] * ways, detects=0.02)


def test_labels__hypergeometric() -> None:
    """The number chosen among the first units is hypergeometric; fails once in a million."""
    n, chosen, first = 1_000, 300, 40
    weights = np.empty((20_000, n))
    fill_label_weights(0, n, chosen, 0, *key_of(), weights)

    counts = np.bincount(weights[:, :first].sum(axis=1).astype(int), minlength=first + 1)

    assert (weights.sum(axis=1) == chosen).all()
    law = stats.hypergeom(n, chosen, first).pmf(np.arange(first + 1))
    assert_same_law(counts.tolist(), law.tolist(), detects=0.025)


@pytest.mark.parametrize("parts", [[(5, 2)], [(3, 0)], [(4, 4), (4, 1)], [(2, 1), (3, 1), (1, 1)]])
def test_all_labels__reference(parts: list[tuple[int, int]]) -> None:
    """Every relabelling comes once, from any replicate on."""
    expected = list(reference.all_labels(parts))
    ways = [math.comb(*part) for part in parts]
    assert len(expected) == len({tuple(flags) for flags in expected}) == math.prod(ways)
    first = len(expected) // 2
    weights = np.empty((len(expected) - first, len(expected[0])))
    start, stride = 0, 1
    for (size, chosen), own in zip(parts, ways, strict=True):
        fill_all_labels(start, size, chosen, stride, own, first, weights)
        start, stride = start + size, stride * own

    assert weights.tolist() == expected[first:]


def test_all_labels__large_part() -> None:
    """No binomial coefficient on the way is larger than the number of choices."""
    weights = np.empty((200, 200))
    fill_all_labels(0, 200, 199, 1, 200, 0, weights)

    assert (weights == 1.0 - np.eye(200)[::-1]).all()


# Replicates.


@pytest.mark.parametrize("path", ["sums", "weights"])
def test_mean__reference(path: str, rng: np.random.Generator) -> None:
    """Sums of integers are exact, so every replicate is equal to the last bit."""
    a, b = rng.integers(-9, 10, 37), rng.integers(-9, 10, 25)
    result = permutation_test(a, b, rng=SEED, n_resamples=50, path=path)

    expected = [difference([*a, *b], reference.labels(62, 37, SEED, r)) for r in range(50)]

    assert result.replicates.tolist() == expected
    assert result.path == path
    assert result.estimate == a.mean() - b.mean()


def test_accuracy__classes(rng: np.random.Generator) -> None:
    """Right and wrong answers collapse to two classes, first met first, in each stratum."""
    gold, predicted = rng.integers(0, 2, (2, 2_000))
    split = 900
    right = gold == predicted
    result = permutation_test(
        fb.accuracy(gold[:split], predicted[:split]),
        fb.accuracy(gold[split:], predicted[split:]),
        rng=SEED,
        n_resamples=30,
    )

    assert result.path == "collapse"
    classes = [right == right[0], right != right[0]]
    counts = [int(members.sum()) for members in classes]
    for r, replicate in enumerate(result.replicates):
        taken = reference.class_labels(counts, split, SEED, r)
        n_right = taken[0] if right[0] else taken[1]
        assert replicate == n_right / split - (right.sum() - n_right) / (2_000 - split)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_paths__one_law(average: str, rng: np.random.Generator) -> None:
    """Tallies by class: "sums" and "weights" are the same draws, "collapse" has the same law."""
    gold, predicted = rng.integers(0, 3, (2, 700))
    gold, predicted = gold.astype(str), predicted.astype(str)
    found = {
        path: permutation_test(
            fb.f_score(gold[:300], predicted[:300], average=average),
            fb.f_score(gold[300:], predicted[300:], average=average),
            rng=SEED,
            path=path,
            n_resamples=20_000,
        )
        for path in ("sums", "weights", "collapse")
    }

    assert {path: result.path for path, result in found.items()} == {path: path for path in found}
    rounding = found["sums"].rounding
    assert np.abs(found["sums"].replicates - found["weights"].replicates).max() <= rounding
    assert_same_distribution(found["sums"].replicates, found["collapse"].replicates, detects=0.08)


def test_groups_and_strata__reference(rng: np.random.Generator) -> None:
    """Whole groups change sides inside their stratum; equal keys of both samples are two groups."""
    document = {"a": rng.integers(0, 12, 60), "b": rng.integers(0, 9, 50)}
    stratum = {side: np.where(own % 3 == 0, "x", "y") for side, own in document.items()}
    gold = {side: rng.integers(0, 2, own.size) for side, own in document.items()}
    predicted = {side: rng.integers(0, 2, own.size) for side, own in document.items()}
    data = tuple(
        {"gold": gold[side], "pred": predicted[side], "doc": document[side], "at": stratum[side]}
        for side in "ab"
    )
    statistic = fb.f_score("gold", "pred")
    result = permutation_test(
        statistic, statistic, data=data, groups="doc", strata="at", rng=SEED, n_resamples=40
    )

    golds, predictions = (np.concatenate([*own.values()]) for own in (gold, predicted))
    unit = np.concatenate([document["a"], 12 + document["b"]])
    expected = []
    for r in range(40):
        chosen: list[int] = []
        for part, remainders in enumerate(([0], [1, 2])):  # "x" sorts before "y"
            of_a = sorted(d for d in set(document["a"].tolist()) if d % 3 in remainders)
            of_b = sorted(12 + d for d in set(document["b"].tolist()) if d % 3 in remainders)
            seed = SeedSequence(SEED, spawn_key=(part,))
            flags = reference.labels(len(of_a) + len(of_b), len(of_a), seed, r)
            chosen += [d for d, flag in zip([*of_a, *of_b], flags, strict=True) if flag]
        first = np.isin(unit, chosen)
        expected.append(f_score(golds[first], predictions[first])
                        - f_score(golds[~first], predictions[~first]))  # fmt: skip
    assert result.replicates.tolist() == expected
    assert (result.n_units_a, result.n_units_b) == tuple(
        np.unique(own).size for own in document.values()
    )
    assert (result.n_rows_a, result.n_rows_b, result.n_rows) == (60, 50, 110)
    assert result.unit == "group"


def f_score(gold: Any, predicted: Any) -> float:
    """F1 from counts."""
    return float(2.0 * (gold & predicted).sum() / (gold.sum() + predicted.sum()))


def test_median__reference(rng: np.random.Generator) -> None:
    """Statistics of row weights see the rows of one sample, then those of the other."""
    a, b = rng.normal(size=21), rng.normal(size=31)
    values = np.concatenate([a, b])
    result = permutation_test(
        {"median": fb.median(a), "mean": fb.mean(a)},
        {"median": fb.median(b), "mean": fb.mean(b)},
        rng=SEED,
        n_resamples=30,
    )

    for r in range(30):
        flags = np.array(reference.labels(52, 21, SEED, r))
        expected = np.median(values[flags]) - np.median(values[~flags])
        assert result["median"].replicates[r] == expected
        expected = values[flags].mean() - values[~flags].mean()
        # Two sums of at most 52 values.
        assert abs(result["mean"].replicates[r] - expected) <= result["mean"].rounding
    assert result["median"].estimate == np.median(a) - np.median(b)


def test_weights__reference(rng: np.random.Generator) -> None:
    """A row's weight goes with it."""
    a, b, weights_a, weights_b = (rng.integers(1, 9, n) for n in (12, 20, 12, 20))
    for statistic in (fb.mean, fb.median):
        result = permutation_test(
            statistic(a), statistic(b), weights=(weights_a, weights_b), rng=SEED, n_resamples=20
        )
        values = np.repeat([*a, *b], [*weights_a, *weights_b])
        for r in range(20):
            labels = reference.labels(32, 12, SEED, r)
            flags = np.repeat(labels, [*weights_a, *weights_b])
            if statistic is fb.mean:
                assert result.replicates[r] == difference(values, flags)
            else:
                expected = np.median(values[flags]) - np.median(values[~flags])
                assert result.replicates[r] == expected


def test_slices__reference(rng: np.random.Generator) -> None:
    """Each slice has relabellings of its own; all rows together have theirs."""
    a, b = rng.integers(0, 50, 30), rng.integers(0, 50, 20)
    by = np.tile(["u", "v"], 15), np.tile(["v", "u"], 10)
    table = permutation_test(a, b, by=by, rng=SEED, n_resamples=20)

    assert list(table) == ["u", "v"]
    for part, name in enumerate("uv"):
        own_a, own_b = a[by[0] == name], b[by[1] == name]
        seed = SeedSequence(SEED, spawn_key=(part,))
        expected = [
            difference([*own_a, *own_b], reference.labels(25, 15, seed, r)) for r in range(20)
        ]
        assert table[name].replicates.tolist() == expected
        assert (table[name].n_rows_a, table[name].n_units_b) == (15, 10)
        assert table[name].n_relabellings == pytest.approx(math.comb(25, 15), rel=1e-12)
    alone = permutation_test(a, b, rng=SEED, n_resamples=20)
    assert (table.total.replicates == alone.replicates).all()


def test_enumeration__reference(rng: np.random.Generator) -> None:
    """All relabellings, in the reference's order, for sums and for row weights."""
    a, b = rng.integers(0, 99, 4), rng.integers(0, 99, 5)
    result = permutation_test(a, b, n_resamples=126)
    medians = permutation_test(fb.median(a), fb.median(b), n_resamples=126)

    values = np.array([*a, *b])
    listed = [np.array(flags) for flags in reference.all_labels([(9, 4)])]

    assert result.replicates.tolist() == [difference(values, flags) for flags in listed]
    assert medians.replicates.tolist() == [
        np.median(values[flags]) - np.median(values[~flags]) for flags in listed
    ]
    assert result.exact
    assert medians.exact
    assert not permutation_test(a, b, n_resamples=125).exact
    assert permutation_test(a, b, n_resamples=10, path="enumeration").n_resamples == 126
    assert permutation_test(a, b, n_resamples=500, path="sums").n_resamples == 500


def test_threads__same_bits(rng: np.random.Generator) -> None:
    """Replicates depend on the seed and their number only."""
    a, b = rng.normal(size=300), rng.normal(size=200)
    one = permutation_test(a, b, rng=SEED, n_resamples=3_000, n_threads=1)
    four = permutation_test(a, b, rng=SEED, n_resamples=4_000, n_threads=4)

    assert (one.replicates == four.replicates[:3_000]).all()


# p-values.


def test_pvalue__mice() -> None:
    """The exact p-value behind Efron and Tibshirani's 0.132 (B = 1000), with its 19 ties."""
    result = permutation_test(TREATED, UNTREATED, alternative="greater", n_resamples=11_440)

    assert (result.n_extreme, result.n_resamples) == (1_608, 11_440)
    assert round(result.pvalue, 5) == 0.14056
    ties = np.abs(result.replicates - result.estimate) <= 2.0 * result.rounding
    assert ties.sum() == 19
    assert result.min_pvalue == 1 / 11_440
    assert result.pvalue_standard_error == 0.0
    assert result.n_relabellings == 11_440.0
    assert result.summary().endswith(
        "one-sided (a > b) exact permutation p = 0.141, 1,608 / 11,440 (7 rows of a and 9 of b, "
        "all 11,440 relabellings)."
    )


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_pvalue__scipy(alternative: str, rng: np.random.Generator) -> None:
    """One-sided p-values are SciPy's exact ones (its two-sided one doubles the smaller)."""
    a, b = rng.integers(0, 6, 6), rng.integers(0, 6, 7)  # many ties
    expected = stats.permutation_test(
        (a, b),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        vectorized=True,
        n_resamples=math.inf,
        alternative=alternative,
    )

    result = permutation_test(a, b, alternative=alternative)

    assert result.n_resamples == expected.null_distribution.size
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert np.sort(result.null_distribution) == pytest.approx(
        np.sort(expected.null_distribution), abs=result.rounding
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=4),
)
def test_pvalue__enumeration(a: list[tuple[int, bool]], b: list[tuple[int, bool]]) -> None:
    """p-values in strata are those of exact arithmetic; exchanged samples mirror them."""
    values = [[value for value, _ in side] for side in (a, b)]
    strata = [stratum for _, stratum in a], [stratum for _, stratum in b]
    # Sevenths are not float64: ties must be found in spite of rounding.
    sevenths = [np.array(side) / 7 for side in values]
    exact = [[Fraction(value, 7) for value in side] for side in values]
    two_sided, greater = reference.permutation_pvalue(exact[0], exact[1], mean, strata)

    result = permutation_test(*sevenths, strata=strata)
    other = permutation_test(*sevenths[::-1], strata=strata[::-1])

    n = int(result.n_relabellings) if result.exact else 9_999  # whole: fractions stay exact
    assert result.n_resamples == n
    if result.exact:
        assert result.test("greater").n_extreme == greater * n
        assert result.n_extreme == two_sided * n
        assert result.pvalue >= result.min_pvalue
        assert np.sort(-other.replicates) == pytest.approx(
            np.sort(result.replicates), abs=2.0 * result.rounding
        )
    else:  # nothing varies
        assert result.path == "constant"
        assert result.pvalue == 1.0
    assert other.estimate == -result.estimate
    assert other.test("less").pvalue == result.test("greater").pvalue


def test_min_pvalue__mirror_images() -> None:
    """Equal sizes in all strata: each relabelling has an opposite, as extreme on two sides."""
    balanced = permutation_test([5, 6, 7], [1, 2, 3])
    assert (balanced.pvalue, balanced.min_pvalue) == (2 / 20, 2 / 20)
    assert balanced.test("greater").min_pvalue == 1 / 20
    uneven = permutation_test([5, 6, 7], [1, 2])
    assert (uneven.pvalue, uneven.min_pvalue) == (1 / 10, 1 / 10)
    strata = ["x", "x", "y"], ["x", "x", "y"]
    assert permutation_test([5, 6, 7], [1, 2, 3], strata=strata).min_pvalue == 2 / 12


def test_min_pvalue__beyond_floats() -> None:
    """More relabellings than float64 holds are infinitely many."""
    values = np.arange(3_000.0)
    result = permutation_test(values, values, rng=0, n_resamples=9)
    assert result.n_relabellings == math.inf
    assert result.min_pvalue == 1 / 10  # of Monte Carlo
    assert result.pvalue == 1.0


def test_sampled__agrees_with_exact() -> None:
    """A sampled p-value is within six standard errors (2e-9) of the exact one."""
    exact = permutation_test(TREATED, UNTREATED, n_resamples=11_440)
    sampled = permutation_test(TREATED, UNTREATED, rng=SEED, path="sums", add_one=False)

    error = math.sqrt(exact.pvalue * (1.0 - exact.pvalue) / sampled.n_resamples)
    assert abs(sampled.pvalue - exact.pvalue) <= 6.0 * error


# Classes, missing values, degenerate data.


@pytest.mark.filterwarnings("ignore:the statistic is undefined")
def test_classes__common() -> None:
    """Classes of either sample are classes of both."""
    table: Any = permutation_test(
        fb.recall(list("xyxy"), list("xyxx"), average=None),
        fb.recall(list("xzxz"), list("xzzz"), average=None),
        n_resamples=70,
    )

    assert list(table) == ["x", "y", "z"]
    assert table["x"].estimate == 1.0 - 0.5
    assert math.isnan(table["y"].estimate_b)


@pytest.mark.filterwarnings("ignore:the statistic is undefined")
def test_undefined__counted() -> None:
    """A relabelling without a positive row is undefined, and left out."""
    gold_a, gold_b = [1, 0, 0], [1, 0]
    result = permutation_test(fb.recall(gold_a, gold_a), fb.recall(gold_b, gold_b))
    # Of 10 relabellings, 3 give both positives to a, and 1 gives both to b.
    assert (result.n_resamples, result.n_undefined) == (10, 4)


def test_undefined__warns() -> None:
    """The warning points at the call."""
    gold_a, gold_b = [1, 0, 0], [1, 0]
    with pytest.warns(RuntimeWarning, match="undefined in 4 of 10 replicates") as caught:
        permutation_test(fb.recall(gold_a, gold_a), fb.recall(gold_b, gold_b))
    assert caught[0].filename == __file__


def test_missing__policies() -> None:
    """Missing values are refused, dropped from their sample, or make the answer undefined."""
    a, b = [1.0, math.nan, 3.0, 4.0], [2.0, 5.0]
    with pytest.raises(ValueError, match="1 NaN"):
        permutation_test(a, b)
    omitted = permutation_test(a, b, nan_policy="omit")
    assert (omitted.n_dropped, omitted.n_rows_a, omitted.n_rows_b) == (1, 3, 2)
    assert omitted.pvalue == permutation_test([1.0, 3.0, 4.0], b).pvalue
    propagated = permutation_test(a, b, nan_policy="propagate", n_resamples=5)
    assert math.isnan(propagated.pvalue)
    assert np.isnan(propagated.replicates).all()


def test_constant__one() -> None:
    """Samples of one value do not differ."""
    result = permutation_test([3.0, 3.0], [3.0], n_resamples=2)
    assert (result.path, result.pvalue, result.n_resamples) == ("constant", 1.0, 2)
    assert result.degenerate


def test_constant__enumerated() -> None:
    """All relabellings are listed where they are few, though nothing varies."""
    result = permutation_test([1.0, 1.0, 1.0], [1.0, 1.0], n_resamples=10)
    assert (result.path, result.pvalue, result.n_resamples) == ("enumeration", 1.0, 10)
    assert result.degenerate
    assert "all 10 relabellings" in result.summary()


@pytest.mark.parametrize("statistic", [fb.mean, fb.median])
def test_macro__groups_of_one_sample(statistic: Any) -> None:
    """A group that one sample lacks is refused by name: it has no value by the other's measure."""
    a = statistic([1.0, 2.0, 4.0, 3.0]), ["u", "v"] * 2
    b = statistic([2.0, 5.0, 1.0, 0.0, 2.0, 2.0]), ["u", "v", "w"] * 2
    message = (
        r"^`{}` has no row of 1 group of macro\({}\), \['w'\], over which relabelled rows are "
        r"averaged; leave these rows out of `{}`, give macro skip_undefined=True, or use unpaired"
    )
    for (one, by), (two, by_two), names in ((a, b, "ab"), (b, a, "ba")):
        absent, other = ("a", "b") if names == "ab" else ("b", "a")
        pattern = message.format(absent, one.name, other)
        with pytest.raises(ValueError, match=pattern):
            permutation_test(fb.macro(one, by=by), fb.macro(two, by=by_two))
    skipping = [fb.macro(one, by=by, skip_undefined=True) for one, by in (a, b)]
    result = permutation_test(*skipping, rng=0, n_resamples=99)
    each = [fb.macro(one, by=by) for one, by in (a, b)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some resamples lack a group
        assert result.estimate == fb.unpaired_bootstrap(*each, rng=0, n_resamples=99).estimate


def test_estimate__undefined_by_the_classes_of_both() -> None:
    """A sample that lacks a class of the other's has a note that says so."""
    a = fb.f_score([0, 1, 1, 0], [0, 1, 0, 0], average="macro")
    b = fb.f_score([0, 1, 2, 0], [0, 1, 2, 2], average="macro")
    with pytest.warns(RuntimeWarning, match="undefined in"):
        result = permutation_test(a, b, rng=0)
    assert math.isnan(result.estimate_a)
    assert result.notes[-1].startswith("sample a as given is undefined (0 / 0), but not all relab")


def test_one_row_each() -> None:
    """Two rows have two relabellings."""
    result = permutation_test([2.0], [1.0])
    assert (result.n_resamples, result.pvalue) == (2, 1.0)
    assert result.test("greater").pvalue == 0.5


# Data, words, messages.


def test_data__one_table_or_two() -> None:
    """Columns of one mapping may differ in length; names are looked up in each of two tables."""
    table = {"treated": TREATED, "untreated": UNTREATED}
    expected = permutation_test(TREATED, UNTREATED, n_resamples=11_440)
    one = permutation_test("treated", "untreated", data=table, n_resamples=11_440)
    pair = {"days": TREATED}, {"days": UNTREATED}
    two = permutation_test("days", "days", data=pair, n_resamples=11_440)

    assert (one.replicates == expected.replicates).all()
    assert (two.replicates == expected.replicates).all()


def test_result__words() -> None:
    """What a result says, and that it survives a pickle."""
    rows = [1.0, 2.0, 3.0]
    result = permutation_test(rows, rows, groups=([1, 1, 2], [1, 2, 3]), n_resamples=20)
    assert "(2 groups (3 rows) of a and 3 (3 rows) of b, all 10 relabellings)" in result.summary()
    assert pickle.loads(pickle.dumps(result)).pvalue == result.pvalue  # noqa: S301 - our own
    figures = json.loads(result.to_json())
    assert figures["n_units_a"] == 2
    assert figures["kind"] == "PermutationResult"
    sampled = permutation_test(np.arange(30.0), rows, rng=0, n_resamples=99)
    assert ", two-sided permutation p = " in sampled.summary()
    assert "in one sample only 3 rows: intervals" in sampled.notes[0]
    with pytest.raises(ValueError, match=r"a permutation test has .* use unpaired_bootstrap"):
        result.interval(method="bca")


A, B = [1.0, 2.0, 3.0], [1.0, 2.0]


@pytest.mark.parametrize(
    "options,error,message",
    [
        ({"path": "tables"}, ValueError, "`path` is 'tables'; choose one of enumeration, coll"),
        ({"groups": [1, 2, 3]}, TypeError, r"`groups` is a list; the samples .* tuple of two"),
        ({"weights": np.ones(3)}, TypeError, "`weights` is a ndarray; the samples"),
        ({"strata": ([1, 1, 2], None)}, TypeError, "`strata` is given for sample a but None for b"),
        ({"groups": (None, [1, 2])}, TypeError, "`groups` is given for sample b but None for a"),
        ({"strata": ([[1, 1, 2], [1, 1, 1]], [1, 2])}, ValueError,
         "`strata` names 2 columns of sample a but 1 of b"),
        ({"strata": (["x", "x", "y"], [1, 2])}, TypeError,
         "`strata` holds 'x' in sample a but 1 in b"),
        ({"by": ([1, 1, 2], ["x", "x"])}, TypeError, "`by` holds 1 in sample a but 'x' in b"),
        ({"by": ([1, 1, 2], [1, 1])}, ValueError, "`by`: only sample a has rows of 2; leave"),
        ({"by": ([1, 1, 1], [1, 7])}, ValueError, "`by`: only sample b has rows of 7; leave"),
        ({"weights": ([1, 2, -1], [1, 1])}, ValueError, "`weights` has 1 value below 0"),
        ({"groups": ([1, None, 2], [1, 2])}, ValueError, "`groups` has 1 null"),
        ({"groups": ([1, 1, 2], [1, 2]), "strata": ([1, 2, 2], [1, 2])}, ValueError,
         "1 group or more have rows in several strata"),
        ({"data": ({"x": A}, {"x": B}), "groups": "doc"}, ValueError, "no column 'doc' in data"),
    ],
)  # fmt: skip
def test_messages(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """What is wrong is refused by name."""
    with pytest.raises(error, match=message):
        permutation_test(A, B, **options)


def test_messages__measures() -> None:
    """Both samples are measured alike, or not compared so."""
    with pytest.raises(TypeError, match=r"`a` is mean and `b` is median; .*unpaired_bootstrap"):
        permutation_test(A, fb.median(B))


def test_messages__paths() -> None:
    """What a path cannot do is refused."""
    with pytest.raises(ValueError, match="`path` is 'sums', which adds up terms; median needs"):
        permutation_test(fb.median(A), fb.median(B), path="sums", n_resamples=9)


def test_messages__enumeration() -> None:
    """A list that would not fit in memory is refused."""
    values = np.arange(20.0)
    with pytest.raises(ValueError, match=r"would list 1\.37847e\+11 relabellings"):
        permutation_test(values, values, path="enumeration")
