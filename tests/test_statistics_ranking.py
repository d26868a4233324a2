"""Areas under ROC, precision-recall and risk-coverage curves."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma
from sklearn import metrics

import fastboot as fb
from fastboot import reference
from fastboot.columns import load
from fastboot.statistics.ranking import average_precision, risk_coverage_area, roc_auc
from fastboot.statistics.weighted import Weighted

N_ROWS = 700  # two tiles of the kernel and a part of one
# Numerator and denominators are sums of up to 700 numbers of one sign, here and in the library: six
# sums of relative error 700 x 1.1e-16.
ROUNDING = 5e-13
# Differences of digamma, up to 7 and so right to 1e-15, times up to half the weight before the row;
# their sum is divided by the weight of all: 700 x 1e-15.
DIGAMMA_ROUNDING = 7e-13
SEED = 11
# The first example compiles.
PATIENT = settings(deadline=None, max_examples=40)
OF_POSITIVES = [roc_auc, average_precision]

Floats = NDArray[np.float64]


def near(expected: Any, rounding: float = ROUNDING) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=rounding, abs=rounding, nan_ok=True)


def values(
    statistic: Weighted, weights: ArrayLike, data: Any = None, nan_policy: str = "raise"
) -> Floats:
    """Return the value for each vector of weights."""
    prepared = statistic.prepare(*load(statistic.columns, data, nan_policy).columns)
    with np.errstate(invalid="ignore"):  # 0 / 0
        found: Floats = statistic.values(prepared, np.array(weights, dtype=np.float64, ndmin=2))
    return found


def value(statistic: Weighted, **options: Any) -> float:
    """Return the value of all rows, once each."""
    n_rows = load(statistic.columns, options.get("data"), "propagate").n_rows
    return float(values(statistic, np.ones(n_rows), **options)[0])


def area_of_wrong(wrong: ArrayLike, confidence: Any) -> Weighted:
    """Return the risk-coverage area of known errors."""
    return risk_coverage_area(np.zeros(np.size(wrong), dtype=np.int64), wrong, confidence)


STATISTICS: dict[str, Callable[[Any, Any], Weighted]] = {
    "roc_auc": roc_auc,
    "average_precision": average_precision,
    "risk_coverage_area": area_of_wrong,
}

# Distinct scores among 700 rows; None for none that are equal.
N_SCORES = [None, 350, 40, 3, 1]
WEIGHTS = ["ones", "draws", "fractions", "groups"]


def scored(n_scores: int | None, seed: int = 1) -> tuple[NDArray[np.int64], Floats]:
    """Labels 0 and 1, and scores on which they depend."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=N_ROWS)
    if n_scores is not None:
        score = np.round((np.argsort(np.argsort(score)) * n_scores) // N_ROWS / n_scores - 0.5, 3)
    return (rng.normal(size=N_ROWS) < score - 0.3).astype(np.int64), score


def weighting(kind: str) -> Floats:
    """Weights of the rows: all once, of a resample, of a Bayesian bootstrap, of large groups."""
    rng = np.random.default_rng(2)
    return {
        "ones": np.ones(N_ROWS),
        "draws": rng.poisson(1.0, N_ROWS).astype(np.float64),
        "fractions": rng.exponential(size=N_ROWS) * (rng.random(N_ROWS) < 0.8),
        "groups": np.repeat(rng.poisson(9.0, N_ROWS // 70), 70).astype(np.float64),
    }[kind]


# Row by row, in plain Python.


def plain_risk_coverage_area(wrong: Sequence[int], confidence: Sequence[float]) -> Fraction:
    """Among the first k rows, those of the last tie count with its share of wrong ones."""
    total, before, wrong_before = Fraction(0), 0, 0
    for score in sorted(set(confidence), reverse=True):
        tie = [w for w, c in zip(wrong, confidence, strict=True) if c == score]
        for k in range(1, len(tie) + 1):
            expected = wrong_before + Fraction(k * sum(tie), len(tie))
            total += expected / (before + k)
        before, wrong_before = before + len(tie), wrong_before + sum(tie)
    return total / before


def any_order(wrong: Sequence[int], confidence: Sequence[float]) -> Fraction:
    """Mean over all orders of the rows that follow the confidence."""
    areas = [
        sum(Fraction(sum(wrong[i] for i in order[:k]), k) for k in range(1, len(order) + 1))
        for order in itertools.permutations(range(len(wrong)))
        if all(confidence[i] >= confidence[j] for i, j in itertools.pairwise(order))
    ]
    return Fraction(sum(areas), len(areas) * len(wrong))


def digamma_area(wrong: NDArray[np.int64], confidence: Floats, weights: Floats) -> float:
    """Tie by tie, with digamma(x + 1) for the harmonic numbers."""
    area = before = wrong_before = 0.0
    for score in np.unique(confidence)[::-1]:
        here = weights[confidence == score]
        tie, tie_wrong = here.sum(), here @ wrong[confidence == score]
        if tie > 0.0:
            harmonic = digamma(before + tie + 1.0) - digamma(before + 1.0)
            area += tie_wrong + (wrong_before - tie_wrong / tie * before) * harmonic
        before, wrong_before = before + tie, wrong_before + tie_wrong
    return float(area / before)


# Against the library that people trust, and against the definition.


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("n_scores", N_SCORES)
def test_roc_auc__scikit_learn(n_scores: int | None, kind: str) -> None:
    """With ties and without, for whole and other weights."""
    (gold, score), weights = scored(n_scores), weighting(kind)
    expected = metrics.roc_auc_score(gold, score, sample_weight=weights)
    assert values(roc_auc(gold, score), weights) == near([expected])


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("n_scores", N_SCORES)
def test_average_precision__scikit_learn(n_scores: int | None, kind: str) -> None:
    """With ties and without, for whole and other weights."""
    (gold, score), weights = scored(n_scores), weighting(kind)
    expected = metrics.average_precision_score(gold, score, sample_weight=weights)
    assert values(average_precision(gold, score), weights) == near([expected])


@pytest.mark.parametrize("kind", ["ones", "draws", "groups"])
@pytest.mark.parametrize("n_scores", N_SCORES)
def test_risk_coverage_area__repeated_rows(n_scores: int | None, kind: str) -> None:
    """Whole weights are those of rows that are repeated."""
    (wrong, score), weights = scored(n_scores), weighting(kind)
    repeated = np.repeat(np.arange(N_ROWS), weights.astype(np.int64))
    expected = plain_risk_coverage_area(wrong[repeated].tolist(), score[repeated].tolist())
    assert values(area_of_wrong(wrong, score), weights) == near([float(expected)])


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("n_scores", N_SCORES)
def test_risk_coverage_area__digamma(n_scores: int | None, scale: float) -> None:
    """Other weights continue the harmonic numbers, however small or large they are."""
    (wrong, score), weights = scored(n_scores), weighting("fractions") * scale
    expected = digamma_area(wrong, score, weights)
    found = values(area_of_wrong(wrong, score), weights)
    assert found == near([expected], DIGAMMA_ROUNDING)


@given(data=st.data(), n_rows=st.integers(1, 6))
@PATIENT
def test_risk_coverage_area__all_orders(data: st.DataObject, n_rows: int) -> None:
    """The mean over all orders of tied rows."""
    small = st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)
    wrong, confidence = data.draw(small), data.draw(small)
    expected = any_order(wrong, confidence)
    assert plain_risk_coverage_area(wrong, confidence) == expected
    assert value(area_of_wrong(wrong, confidence)) == near(float(expected))


def harmonic_step(low: float, high: float) -> float:
    """Return H(high) - H(low), where H(x) = H(x + 1) - 1 / (x + 1) and H is log beyond 1,000."""
    terms = [1.0 / (low + k) - 1.0 / (high + k) for k in range(1, 1_001)]
    x, y = low + 1_000.5, high + 1_000.5
    # The next term of the series is below 7 / 960 / 1e12.
    return math.fsum([*terms, math.log(y / x), (1.0 / y**2 - 1.0 / x**2) / 24.0])


@pytest.mark.parametrize("tie", [0.125, 0.5, 1.0, 1.375, 2.0, 7.0, 12.5, 100.0, 400.0])
@pytest.mark.parametrize("before", [0.25, 1.0, 20.0, 31.75, 32.0, 44.5, 200.0, 300.25, 10_000.0])
def test_risk_coverage_area__steps(before: float, tie: float) -> None:
    """Short and long ties, early and late: a wrong row of some weight, then one that is right.

    The area is before x (1 + H(before + tie) - H(before)), with shares of 1 and then of before / k.
    """
    if before.is_integer() and tie.is_integer():
        ks = range(int(before) + 1, int(before + tie) + 1)
        assert harmonic_step(before, before + tie) == near(math.fsum(1.0 / k for k in ks), 1e-14)
    expected = harmonic_step(before, before + tie)
    area = values(area_of_wrong([1, 0], [2.0, 1.0]), [before, tie])[0] * (before + tie)
    # Eight roundings, here and there.
    assert area / before - 1.0 == pytest.approx(expected, rel=0.0, abs=2e-15 * (1.0 + expected))


def test_risk_coverage_area__continuous() -> None:
    """A small change of a weight is a small change of the value, at whole weights as elsewhere."""
    wrong, score = scored(40)
    for weights in (weighting("draws"), weighting("fractions")):
        moved = weights + 1e-7 * np.eye(N_ROWS)
        found = values(area_of_wrong(wrong, score), moved)
        # A row of weight w moves a mean of values from 0 to 1 by up to w / n, and each of the n
        # shares of wrong labels that it enters, 1 / k of them, by up to w / k.
        bound = 1e-7 * (1.0 + sum(1.0 / k for k in range(1, N_ROWS))) / weights.sum()
        assert np.abs(found - values(area_of_wrong(wrong, score), weights)).max() <= bound


@pytest.mark.parametrize("n_rows", [1, 2, 255, 256, 257, 511, 512, 513])
@pytest.mark.parametrize("step", [1, 2, 300])
def test_values__tiles(n_rows: int, step: int) -> None:
    """Wherever the kernel cuts the rows, with ties across the cut."""
    rng = np.random.default_rng(n_rows)
    score, marked = np.arange(n_rows) // step, rng.integers(0, 2, n_rows)
    marked[0] = 1
    pairs = [(score[i] > score[marked == 0]) + (score[i] == score[marked == 0]) / 2
             for i in np.flatnonzero(marked)]  # fmt: skip
    if (marked == 0).any():
        assert value(roc_auc(marked, score)) == near(np.mean(pairs))
    precisions = [marked[score >= score[i]].mean() for i in np.flatnonzero(marked)]
    assert value(average_precision(marked, score)) == near(np.mean(precisions))
    expected = plain_risk_coverage_area(marked.tolist(), score.tolist())
    assert value(area_of_wrong(marked, score)) == near(float(expected))


@pytest.mark.parametrize(
    "statistic, expected",
    [
        (roc_auc([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1]), 3.5 / 4),
        (roc_auc([1, 1, 0, 0], [4, 3, 2, 1]), 1.0),
        (roc_auc([0, 0, 1, 1], [4, 3, 2, 1]), 0.0),
        (roc_auc([0, 1, 1, 1], [5.0, 5.0, 5.0, 5.0]), 0.5),
        (roc_auc([1, 0], [0.0, -0.0]), 0.5),
        (roc_auc([1, 0], [5e-324, 0.0]), 1.0),
        (roc_auc([1, 0, 0], [1e308, -1e308, 1e308]), 0.75),
        (roc_auc([1, 0], [1.0, 1.0 - 2.0**-53]), 1.0),
        (average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), (1 + 2 / 3) / 2),
        (average_precision([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1]), (1 + 2 / 3) / 2),
        (average_precision([0, 1, 1, 1], [5.0, 5.0, 5.0, 5.0]), 0.75),
        (average_precision([0, 1], [-0.0, 0.0]), 0.5),
        (average_precision([1, 1], [1e308, -1e308]), 1.0),
        # Shares of wrong labels: 0, 1/2, 1/3 and 2/4.
        (area_of_wrong([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]), 1 / 3),
        # Of two tied rows the first is wrong in half of all orders: 0, 1/4, 1/3 and 2/4.
        (area_of_wrong([0, 1, 0, 1], [0.9, 0.8, 0.8, 0.6]), 13 / 48),
        (area_of_wrong([0, 1, 0, 1], [3.0, 3.0, 3.0, 3.0]), 0.5),
        (area_of_wrong([0, 1], [-0.0, 0.0]), 0.5),
        (area_of_wrong([0, 0], [1.0, 2.0]), 0.0),
        (area_of_wrong([1, 1], [1.0, 2.0]), 1.0),
    ],
)
def test_statistic__value(statistic: Weighted, expected: float) -> None:
    """Worked by hand: a few operations, each rounded once."""
    assert value(statistic) == near(expected, 1e-15)


# Invariances.

Rows = tuple[list[int], list[int], list[int]]


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """Labels, ranks with ties, and whole weights."""
    n_rows = draw(st.integers(1, 40))
    labels = draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows))
    labels[0] = 1
    ranks = draw(st.lists(st.integers(0, 15), min_size=n_rows, max_size=n_rows))
    return labels, ranks, draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows))


def same(first: ArrayLike, second: ArrayLike) -> bool:
    """Equal to the last bit, NaN too."""
    return np.array_equal(first, second, equal_nan=True)


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
@given(case=rows(), data=st.data())
@PATIENT
def test_values__order_of_rows(
    statistic: Callable[..., Weighted], case: Rows, data: st.DataObject
) -> None:
    """The order of the rows does not matter: sums of whole numbers are exact."""
    labels, ranks, weights = case
    shuffled = zip(*data.draw(st.permutations(list(zip(*case, strict=True)))), strict=True)
    other_labels, other_ranks, other_weights = map(list, shuffled)
    expected = values(statistic(labels, ranks), weights)
    assert same(values(statistic(other_labels, other_ranks), other_weights), expected)


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
@given(case=rows(), data=st.data())
@PATIENT
def test_values__monotone_transform(
    statistic: Callable[..., Weighted], case: Rows, data: st.DataObject
) -> None:
    """Only the order of the scores matters, whatever numbers they are."""
    labels, ranks, weights = case
    finite = st.floats(allow_nan=False, allow_infinity=False)
    scores = sorted(data.draw(st.lists(finite, min_size=16, max_size=16, unique=True)))
    transformed = [scores[rank] for rank in ranks]
    expected = values(statistic(labels, ranks), weights)
    assert same(values(statistic(labels, transformed), weights), expected)


@given(case=rows())
@PATIENT
def test_roc_auc__swapped_classes(case: Rows) -> None:
    """The other class by the negative score has the same area; the same score gives the rest."""
    labels, ranks, weights = case
    if 0 not in labels:
        return
    expected = values(roc_auc(labels, ranks), weights)
    turned = [-rank for rank in ranks]
    assert same(values(roc_auc(labels, turned, pos_label=0), weights), expected)
    assert values(roc_auc(labels, ranks, pos_label=0), weights) == near(1.0 - expected)


@pytest.mark.parametrize("statistic", OF_POSITIVES)
@pytest.mark.parametrize("n_scores", N_SCORES)
def test_values__doubled_weights(statistic: Callable[..., Weighted], n_scores: int | None) -> None:
    """Twice the weights give the same bits."""
    weights = weighting("fractions")
    once, twice = values(statistic(*scored(n_scores)), [weights, 2.0 * weights])
    assert once == twice


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
@pytest.mark.parametrize("n_scores", N_SCORES)
def test_values__rows_without_weight(
    statistic: Callable[..., Weighted], n_scores: int | None
) -> None:
    """A row of weight 0 is as good as none."""
    (labels, score), weights = scored(n_scores), weighting("fractions")
    kept = weights > 0.0
    assert 0 < kept.sum() < N_ROWS
    expected = values(statistic(labels[kept], score[kept]), weights[kept])
    assert values(statistic(labels, score), weights) == near(expected)


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
def test_values__batches(statistic: Callable[..., Weighted]) -> None:
    """A replicate has the same bits in any batch; an empty batch has none."""
    weights = np.random.default_rng(3).exponential(size=(7, N_ROWS))
    made = statistic(*scored(350))
    together = values(made, weights)
    assert together.shape == (7,)
    assert same(together, np.concatenate([values(made, one) for one in weights]))
    assert values(made, weights[:0]).shape == (0,)


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
def test_values__read_only(statistic: Callable[..., Weighted]) -> None:
    """Nothing is written to the weights or to what is prepared, and one kernel serves all calls."""
    made = statistic(*scored(40))
    prepared = made.prepare(*load(made.columns).columns)
    assert not any(array.flags.writeable for array in prepared)
    weights = np.ones((2, N_ROWS))
    closed = weights.copy()
    closed.flags.writeable = False
    assert same(made.values(prepared, weights), made.values(prepared, closed))
    assert weights.flags.writeable
    assert (weights == 1.0).all()


def test_statistic__pickles() -> None:
    """As what runs in other processes must."""
    for statistic in STATISTICS.values():
        made = statistic(*scored(40))
        again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own bytes
        assert value(again) == value(made)


# Undefined, and refused.


@pytest.mark.parametrize(
    "statistic, weights, expected",
    [
        (roc_auc, [1.0, 0.0, 2.0], math.nan),
        (roc_auc, [0.0, 3.0, 0.0], math.nan),
        (roc_auc, [0.0, 0.0, 0.0], math.nan),
        (average_precision, [1.0, 0.0, 2.0], 1.0),
        (average_precision, [0.0, 3.0, 0.0], math.nan),
        (average_precision, [0.0, 0.0, 0.0], math.nan),
        (area_of_wrong, [0.0, 3.0, 0.0], 0.0),
        (area_of_wrong, [0.0, 0.0, 0.0], math.nan),
    ],
)
def test_values__undefined(
    statistic: Callable[..., Weighted], weights: list[float], expected: float
) -> None:
    """A class without weight leaves 0 / 0."""
    assert values(statistic([1, 0, 1], [3.0, 2.0, 1.0]), weights) == near([expected])


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
def test_values__nan(statistic: Callable[..., Weighted]) -> None:
    """A score that is NaN has no place, even where its row is not drawn; or its row is dropped."""
    made = statistic([1, 0, 0, 1], [0.9, 0.8, math.nan, 0.7])
    found = values(made, [[1, 1, 1, 1], [1, 1, 0, 1]], nan_policy="propagate")
    assert np.isnan(found).all()
    rest = statistic([1, 0, 1], [0.9, 0.8, 0.7])
    assert same(values(made, [1, 2, 1], nan_policy="omit"), values(rest, [1, 2, 1]))


@pytest.mark.parametrize("statistic", OF_POSITIVES)
def test_pos_label__labels(statistic: Callable[..., Weighted]) -> None:
    """Words, truth values and numbers; one label against all others."""
    gold, score = [1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5]
    expected = value(statistic(gold, score))
    assert value(statistic(np.array(gold, dtype=bool), score)) == expected
    assert value(statistic([float(label) for label in gold], score)) == expected
    words = ["spam", "ham", "spam", "eggs", "ham"]
    assert value(statistic(words, score, pos_label="spam")) == expected
    table = {"y": words, "p": score}
    assert value(statistic("y", "p", pos_label="spam"), data=table) == expected


@pytest.mark.parametrize("statistic", OF_POSITIVES)
def test_pos_label__one(statistic: Callable[..., Weighted]) -> None:
    """One label is positive; that of an Arrow array is that of Python."""
    message = r"`pos_label` is array\(\[0, 1\]\); give one label: a string, a number or a boolean"
    with pytest.raises(TypeError, match=message):
        statistic([0, 1], [0.5, 0.5], pos_label=np.array([0, 1]))
    assert value(statistic(["x", "y"], [0.0, 1.0], pos_label=pa.scalar("y"))) == 1.0


@pytest.mark.parametrize("statistic", OF_POSITIVES)
def test_pos_label__unknown(statistic: Callable[..., Weighted]) -> None:
    """It must occur: a misspelt label would be undefined everywhere."""
    message = "`pos_label` is 1, which is not in `gold`; the labels are 'ham', 'spam'$"
    with pytest.raises(ValueError, match=message):
        value(statistic(["ham", "spam"], [0.1, 0.2]))
    many = [f"x{i}" for i in range(11)]
    message = "`pos_label` is 'x', .* 'x8', 'x9', ...$"
    with pytest.raises(ValueError, match=message):
        value(statistic(many, range(11), pos_label="x"))


def test_risk_coverage_area__labels() -> None:
    """Right is what has the same label; labels must be of one kind."""
    gold, predicted = ["eggs", "ham", "spam"], ["eggs", "spam", "toast"]
    found = value(risk_coverage_area(gold, predicted, [3.0, 2.0, 1.0]))
    assert found == value(area_of_wrong([0, 1, 1], [3.0, 2.0, 1.0]))
    with pytest.raises(ValueError, match="`gold` holds strings but `predicted` holds numbers"):
        value(risk_coverage_area(gold, [1, 2, 3], [3.0, 2.0, 1.0]))


def test_statistic__repr() -> None:
    """Results call the statistics by these names."""
    assert repr(roc_auc("y", "p")) == "roc_auc(`gold` (column 'y'), `score` (column 'p'))"
    assert average_precision("y", "p").name == "average_precision"
    assert risk_coverage_area("y", "z", "p").name == "risk_coverage_area"


# End to end.


def plain_value(name: str, labels: NDArray[np.int64], score: Floats) -> float:
    """Return the value of some rows, from the library or by definition."""
    if name == "risk_coverage_area":
        return float(plain_risk_coverage_area(labels.tolist(), score.tolist()))
    library = {
        "roc_auc": metrics.roc_auc_score,
        "average_precision": metrics.average_precision_score,
    }
    return float(library[name](labels, score))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", STATISTICS)
def test_bootstrap__reference(name: str, grouped: bool) -> None:
    """Every replicate is the statistic of the rows drawn."""
    labels, score = scored(40)
    labels, score = labels[:120], score[:120]
    documents = np.sort(np.random.default_rng(5).integers(0, 40, 120)) if grouped else None
    n_units = 120 if documents is None else len(set(documents.tolist()))
    made = STATISTICS[name](labels, score)
    result = fb.bootstrap(made, groups=documents, rng=SEED, n_resamples=20)

    expected = []
    for r in range(20):
        rows = reference.bootstrap_rows(n_units, SEED, r, result.path)  # type: ignore[arg-type] # checked word
        if documents is not None:
            rows = reference.rows_of(rows, documents.tolist())
        expected.append(plain_value(name, labels[rows], score[rows]))

    assert result.estimate == near(plain_value(name, labels, score))
    assert result.replicates.tolist() == near(expected)


@pytest.mark.parametrize("name", STATISTICS)
def test_paired_bootstrap__same_resamples(name: str) -> None:
    """The difference of two scores is that on the same rows."""
    labels, score = scored(40)
    other = np.random.default_rng(4).normal(size=N_ROWS)
    a, b = STATISTICS[name](labels, score), STATISTICS[name](labels, other)
    both = fb.paired_bootstrap(a, b, rng=SEED, n_resamples=20)
    alone = [fb.bootstrap(one, rng=SEED, n_resamples=20).replicates for one in (a, b)]
    assert both.estimate == near(value(a) - value(b))
    assert both.replicates.tolist() == near((alone[0] - alone[1]).tolist())


def test_bootstrap__constant_scores() -> None:
    """Scores that say nothing have an area of 0.5 in every resample."""
    result = fb.bootstrap(roc_auc([0, 1] * 30, [3.0] * 60), rng=SEED, n_resamples=99)
    assert (result.replicates == 0.5).all()
    assert result.confidence_interval[:2] == (0.5, 0.5)
