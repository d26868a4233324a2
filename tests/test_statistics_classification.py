"""Classification: outcomes of classes and their averages, agreement beyond chance, confusion."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics
from statistical import assert_rate

import fastboot as fb
from fastboot import reference
from fastboot.columns import load
from fastboot.statistics.chance_corrected import cohen_kappa, matthews
from fastboot.statistics.classification import (
    accuracy,
    balanced_accuracy,
    f_score,
    jaccard,
    precision,
    recall,
    specificity,
)
from fastboot.statistics.confusion import ConfusionMatrix, confusion_cells, confusion_matrix

Floats = NDArray[np.float64]
# A ratio of counts is rounded once or twice, by 1.1e-16 of itself, and a mean adds up 50 of them;
# scikit-learn's kappa adds up the expected cells of 50 classes, 2,500.
ROUNDING = 5e-13


def near(expected: Any) -> Any:
    """Equal but for rounding; NaN is NaN."""
    return pytest.approx(expected, rel=ROUNDING, abs=ROUNDING, nan_ok=True)


def evaluate(
    statistic: fb.Additive,
    weights: Any = None,
    others: Sequence[fb.Additive] = (),
    data: Any = None,
) -> Any:
    """Return the value of weighted rows: one, or one for each row of weights.

    others : the statistics of systems that are compared with this one
    """
    columns, *compared = (load(one.columns, data).columns for one in (statistic, *others))
    n_rows = load(statistic.columns, data).n_rows
    bound = statistic.bind([columns, *compared])
    with np.errstate(all="ignore"):
        return bound.finish(*(summed(term, weights, n_rows) for term in bound.terms(*columns)))


def summed(term: Any, weights: Any, n_rows: int) -> Any:
    """Sum the weighted rows of a term; the classes of a tally are on the first axis."""
    if weights is None:
        return summed(term, np.ones((1, n_rows)), n_rows)[..., 0]
    if not isinstance(term, fb.Tally):
        return (weights * term).sum(axis=1)
    counts = [
        np.bincount(term.codes + 1, row * term.values, minlength=term.size + 1)[1:]
        for row in weights
    ]
    return np.array(counts).T


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call scikit-learn without its warnings of 0 / 0."""

    def call(*args: Any, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **options)

    return call


def specificity_score(
    gold: Any, predicted: Any, *, average: str | None, labels: Any, zero_division: float
) -> Any:
    """Recall of "not this class"."""
    values = np.array(
        [
            metrics.recall_score(gold != label, predicted != label, zero_division=zero_division)
            for label in labels
        ]
    )
    if average is None:
        return values
    support = np.array([np.sum(gold == label) for label in labels])
    defined = ~np.isnan(values)
    is_weighted = average == "weighted" and support[defined].any()
    return np.average(values[defined], weights=support[defined] if is_weighted else None)


MEASURES: dict[str, tuple[Callable[..., fb.Additive], Callable[..., Any]]] = {
    "precision": (precision, quiet(metrics.precision_score)),
    "recall": (recall, quiet(metrics.recall_score)),
    "f_score": (f_score, quiet(metrics.f1_score)),
    "f_score(beta=0.5)": (
        lambda *args, **options: f_score(*args, beta=0.5, **options),
        quiet(lambda *args, **options: metrics.fbeta_score(*args, beta=0.5, **options)),
    ),
    "jaccard": (jaccard, quiet(metrics.jaccard_score)),
    "specificity": (specificity, quiet(specificity_score)),
}
KINDS: dict[str, Callable[[NDArray[np.int64]], Any]] = {
    "integers": lambda codes: codes,
    "strings": lambda codes: np.array([f"label {code:02d}" for code in codes]),
    "floats": lambda codes: codes * 2.0,
}


def drawn(rng: np.random.Generator, n_classes: int, n_rows: int) -> tuple[Any, Any]:
    """Gold and predicted classes, right in one row of two, some rare.

    The second of them is never predicted, the last never gold.
    """
    law = rng.dirichlet(np.ones(n_classes - 1))
    gold = np.concatenate([np.arange(n_classes - 1), rng.choice(n_classes - 1, n_rows, p=law)])
    predicted = np.where(rng.random(gold.size) < 0.5, gold, rng.choice(n_classes, gold.size))
    predicted[predicted == 1] = 0
    predicted[-1] = n_classes - 1
    return gold, predicted


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(2_026)


@pytest.fixture
def six(rng: np.random.Generator) -> tuple[Any, Any]:
    """Gold and predicted classes of 40 rows, all six gold and predicted."""
    gold, predicted = rng.choice(6, (2, 34), p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
    predicted = np.where(rng.random(34) < 0.5, gold, predicted)
    return np.concatenate([np.arange(6), gold]), np.concatenate([np.arange(6), predicted])


# Averages against scikit-learn.


CASES = [
    (name, average, zero_division)
    for name in MEASURES
    for average in ("micro", "macro", "weighted", None)
    for zero_division in (0, 1, math.nan)
    # What is not there, here and in scikit-learn.
    if (name, average) != ("specificity", "micro")
    and (name != "jaccard" or zero_division in (0, 1))
]


@pytest.mark.parametrize("n_classes, kind", list(zip([3, 7, 50], KINDS, strict=True)))
@pytest.mark.parametrize("name, average, zero_division", CASES)
def test_average__scikit_learn(
    name: str, average: Any, zero_division: float, n_classes: int, kind: str, rng: Any
) -> None:
    """All classes, some of them, and one that is absent."""
    ours, scikit_learn = MEASURES[name]
    gold, predicted = map(KINDS[kind], drawn(rng, n_classes, 200))
    every = KINDS[kind](np.arange(n_classes))
    options = {"average": average, "zero_division": zero_division}
    expected = scikit_learn(gold, predicted, labels=every, **options)
    assert evaluate(ours(gold, predicted, **options)) == near(expected)
    for some in (every[::-2], KINDS[kind](np.array([1, 60, 0]))):
        expected = scikit_learn(gold, predicted, labels=some, **options)
        assert evaluate(ours(gold, predicted, labels=some, **options)) == near(expected)


@pytest.mark.parametrize("n_classes", [2, 7, 50])
@pytest.mark.parametrize("name", MEASURES)
def test_average__undefined_class(name: str, n_classes: int, rng: Any) -> None:
    """By default a class that is 0 / 0 makes the average undefined, if it has weight."""
    ours, scikit_learn = MEASURES[name]
    if name == "jaccard":  # the same classes are undefined
        scikit_learn = MEASURES["f_score"][1]
    gold, predicted = drawn(rng, max(n_classes, 3), 200)
    if n_classes == 2:
        gold, predicted = gold == 0, predicted == 0
    every = np.unique(np.concatenate([gold, predicted]))
    each = scikit_learn(gold, predicted, labels=every, average=None, zero_division=math.nan)
    support = np.array([np.sum(gold == label) for label in every])
    values = {
        average: evaluate(ours(gold, predicted, average=average))
        for average in ("macro", "weighted", None)
    }
    assert np.isnan(values[None]).tolist() == np.isnan(each).tolist()
    assert math.isnan(values["macro"]) == np.isnan(each).any()
    assert math.isnan(values["weighted"]) == np.isnan(each[support > 0]).any()
    without = evaluate(ours(gold, predicted, average="macro", zero_division=math.nan))
    assert math.isnan(values["macro"]) or values["macro"] == without


# Resamples: sums of weighted rows against scikit-learn on the rows repeated.


def resamples(rng: np.random.Generator, n_rows: int) -> tuple[Floats, list[NDArray[np.intp]]]:
    """Weights of 12 small resamples, in which classes are often absent, and the rows drawn."""
    weights = rng.multinomial(12, np.full(n_rows, 1 / n_rows), 12)
    return weights.astype(np.float64), [np.repeat(np.arange(n_rows), row) for row in weights]


@pytest.mark.parametrize("name, average, zero_division", CASES)
def test_average__resamples(name: str, average: Any, zero_division: float, rng: Any) -> None:
    """Classes with gold rows always count, others where they are predicted."""
    ours, scikit_learn = MEASURES[name]
    gold, predicted = drawn(rng, 6, 35)
    weights, drawings = resamples(rng, gold.size)
    options = {"average": average, "zero_division": zero_division}
    values = evaluate(ours(gold, predicted, **options), weights)
    listed = evaluate(ours(gold, predicted, labels=[4, 0], **options), weights)
    for k, rows in enumerate(drawings):
        counting = np.arange(6) if average is None else np.union1d(np.arange(5), predicted[rows])
        true, said = gold[rows], predicted[rows]
        assert values[..., k] == near(scikit_learn(true, said, labels=counting, **options))
        assert listed[..., k] == near(scikit_learn(true, said, labels=np.array([4, 0]), **options))


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "jaccard"])
def test_average__undefined_resamples(name: str, rng: Any) -> None:
    """By default what is 0 / 0 for a class that counts has no value."""
    ours, scikit_learn = MEASURES[name]
    gold, predicted = drawn(rng, 6, 35)
    gold, predicted = gold[predicted < 5], predicted[predicted < 5]  # all classes have gold rows
    weights, drawings = resamples(rng, gold.size)
    each, macro, weighted = (
        evaluate(ours(gold, predicted, average=average), weights)
        for average in (None, "macro", "weighted")
    )
    options = {"labels": np.arange(5), "average": None, "zero_division": math.nan}
    for k, rows in enumerate(drawings):
        expected = scikit_learn(gold[rows], predicted[rows], **options)
        support = np.bincount(gold[rows], minlength=5)
        assert each[:, k] == near(expected)
        assert macro[k] == near(expected.mean())
        gold_only = support > 0
        assert weighted[k] == near(np.average(expected[gold_only], weights=support[gold_only]))
    assert name == "specificity" or 0 < np.isnan(macro).sum()


@pytest.mark.parametrize("zero_division", [0, 1, math.nan, None])
@pytest.mark.parametrize("name", MEASURES)
def test_binary__resamples(name: str, zero_division: float | None, rng: Any) -> None:
    """One class against the others, also where it is absent."""
    ours, scikit_learn = MEASURES[name]
    gold, predicted = rng.random((2, 40)) < 0.1
    weights, drawings = resamples(rng, 40)
    values = evaluate(ours(gold, predicted, zero_division=zero_division), weights)
    for k, rows in enumerate(drawings):
        true, said = gold[rows], predicted[rows]
        if name == "specificity":
            true, said, scikit_learn = ~true, ~said, metrics.recall_score
        number = math.nan if zero_division is None else zero_division
        if name == "jaccard" and math.isnan(number):  # no option of scikit-learn's
            number = 0.0 if (true | said).any() else number
            expected = quiet(metrics.jaccard_score)(true, said) if number == 0.0 else number
        else:
            expected = quiet(scikit_learn)(true, said, zero_division=number)
        assert values[k] == near(expected)


@pytest.mark.parametrize("adjusted", [False, True])
def test_balanced_accuracy__scikit_learn(adjusted: bool, rng: Any) -> None:
    """The data, and resamples where all classes are there; else undefined."""
    scikit_learn = quiet(metrics.balanced_accuracy_score)
    for n_classes in (3, 7, 50):
        gold, predicted = drawn(rng, n_classes, 200)
        value = evaluate(balanced_accuracy(gold, predicted, adjusted=adjusted))
        assert value == near(scikit_learn(gold, predicted, adjusted=adjusted))
    gold, predicted = drawn(rng, 4, 35)
    weights, drawings = resamples(rng, gold.size)
    values = evaluate(balanced_accuracy(gold, predicted, adjusted=adjusted), weights)
    complete = [np.unique(gold[rows]).size == 3 for rows in drawings]
    assert 0 < sum(complete) < len(drawings)
    assert np.isfinite(values).tolist() == complete
    for value, rows in zip(values, drawings, strict=True):
        if math.isfinite(value):
            assert value == near(scikit_learn(gold[rows], predicted[rows], adjusted=adjusted))


def test_balanced_accuracy__one_class() -> None:
    """Nothing to adjust for: undefined."""
    assert evaluate(balanced_accuracy([1, 1], [1, 1])) == 1.0
    for predicted in ([1, 1], [1, 0]):
        assert not math.isfinite(evaluate(balanced_accuracy([1, 1], predicted, adjusted=True)))


# Agreement beyond chance.


@pytest.mark.parametrize("n_classes", [2, 3, 7, 50])
def test_matthews__scikit_learn(n_classes: int, rng: Any) -> None:
    """Any number of classes; strings too."""
    gold, predicted = rng.choice(n_classes, (2, 300))
    predicted = np.where(rng.random(300) < 0.3, gold, predicted)
    expected = metrics.matthews_corrcoef(gold, predicted)
    assert evaluate(matthews(gold, predicted)) == near(expected)
    words = KINDS["strings"]
    assert evaluate(matthews(words(gold), words(predicted))) == near(expected)
    assert evaluate(matthews(gold, gold)) == 1.0


def test_matthews__resamples(rng: Any) -> None:
    """Undefined, where scikit-learn says 0, if one column has one class."""
    gold, predicted = rng.choice(3, (2, 40), p=[0.9, 0.05, 0.05])
    weights, drawings = resamples(rng, 40)
    values = evaluate(matthews(gold, predicted), weights)
    n_undefined = 0
    for value, rows in zip(values, drawings, strict=True):
        true, said = gold[rows], predicted[rows]
        undefined = np.ptp(true) == 0 or np.ptp(said) == 0
        n_undefined += undefined
        expected = math.nan if undefined else metrics.matthews_corrcoef(true, said)
        assert value == near(expected)
    assert 0 < n_undefined < len(drawings)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 50])
def test_cohen_kappa__scikit_learn(n_classes: int, weights: str | None, rng: Any) -> None:
    """All classes in their order, and some in another."""
    gold, predicted = drawn(rng, max(n_classes, 3), 300)
    if n_classes == 2:
        gold, predicted = gold % 2, predicted % 2
    for kind in KINDS.values():
        true, said = kind(gold), kind(predicted)
        expected = metrics.cohen_kappa_score(true, said, weights=weights)
        assert evaluate(cohen_kappa(true, said, weights=weights)) == near(expected)
        assert evaluate(cohen_kappa(said, true, weights=weights)) == near(expected)
        some = kind(np.array([1, 60, 0]))
        expected = metrics.cohen_kappa_score(true, said, weights=weights, labels=some)
        assert evaluate(cohen_kappa(true, said, weights=weights, labels=some)) == near(expected)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_kappa__resamples(weights: str | None, rng: Any) -> None:
    """Places are those of the data; undefined where no disagreement is expected."""
    gold, predicted = rng.choice([1, 2, 4], (2, 40), p=[0.9, 0.05, 0.05])
    predicted = np.where(rng.random(40) < 0.7, gold, predicted)
    rows_weights, drawings = resamples(rng, 40)
    values = evaluate(cohen_kappa(gold, predicted, weights=weights), rows_weights)
    score = quiet(metrics.cohen_kappa_score)
    for value, rows in zip(values, drawings, strict=True):
        expected = score(gold[rows], predicted[rows], weights=weights, labels=[1, 2, 4])
        assert value == near(expected)
    assert 0 < np.isnan(values).sum() < len(drawings)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_chance_corrected__one_class_of_uneven_weights(weights: str | None) -> None:
    """Weights that no sum holds exactly do not make a value of rounding."""
    gold, predicted = [0, 0, 0, 1, 2], [0, 0, 0, 2, 1]
    rows = np.array([[0.1, 0.2, 0.7, 0.0, 0.0], [0.3, 1e-9, 0.6, 0.0, 0.0]])
    assert np.isnan(evaluate(cohen_kappa(gold, predicted, weights=weights), rows)).all()
    assert np.isnan(evaluate(matthews(gold, predicted), rows)).all()


# The confusion matrix.


@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
@pytest.mark.parametrize("n_classes", [3, 7, 50])
def test_confusion_matrix__scikit_learn(n_classes: int, normalize: str | None, rng: Any) -> None:
    """The table and the cells; where there are no rows a share is undefined."""
    gold, predicted = drawn(rng, n_classes, 200)
    for kind in KINDS.values():
        true, said = kind(gold), kind(predicted)
        for labels in (None, kind(np.array([2, 0, 1]))):
            counts = metrics.confusion_matrix(true, said, labels=labels)
            expected = metrics.confusion_matrix(true, said, labels=labels, normalize=normalize)
            axis = {"true": 1, "pred": 0}.get(str(normalize), (0, 1))
            empty = counts.sum(axis=axis, keepdims=True) == 0
            expected = np.where(empty, math.nan, expected)
            table = confusion_matrix(true, said, labels=labels, normalize=normalize)
            assert table.values == near(expected)
            cells = evaluate(confusion_cells(true, said, labels=labels, normalize=normalize))
            assert cells == near(expected.ravel())
            sorted_ = np.unique(np.concatenate([true, said]))
            assert table.labels == tuple((sorted_ if labels is None else labels).tolist())
    assert normalize != "true" or np.isnan(expected).any() or labels is not None


def test_confusion_cells__resamples(six: Any, rng: Any) -> None:
    """Counts of every resample."""
    weights, drawings = resamples(rng, 40)
    values = evaluate(confusion_cells(*six), weights)
    for k, rows in enumerate(drawings):
        expected = metrics.confusion_matrix(six[0][rows], six[1][rows], labels=np.arange(6))
        assert values[:, k].tolist() == expected.ravel().tolist()


def test_confusion_cells__labels() -> None:
    """Cells are called by gold and predicted label."""
    statistic = confusion_cells(["b", "a"], ["b", "b"])
    columns = load(statistic.columns).columns
    assert statistic.labels == ()
    bound = statistic.bind([columns])
    assert bound.labels == (("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"))
    assert statistic.labels == ()


def test_confusion_cells__too_many() -> None:
    """A number for each of 66,049 cells in every replicate is too much."""
    codes = np.arange(257)
    message = (
        "have 257 classes, so the confusion matrix has 66,049 cells; a replicate has a number for "
        "each, and 65,536 are the limit: choose up to 256 classes with labels="
    )
    with pytest.raises(ValueError, match=message):
        evaluate(confusion_cells(codes, codes))
    assert evaluate(confusion_cells(codes, codes, labels=codes[1:])).sum() == 256
    assert confusion_matrix(codes, codes).values.trace() == 257


def test_confusion_matrix__shown() -> None:
    """A table of counts, of shares, in HTML and as JSON."""
    data = {"gold": ["<b>", "c", None, "c"], "out": ["c", "c", "c", "c"]}
    table = confusion_matrix("gold", "out", data=data, nan_policy="omit")
    assert repr(table) == (
        "gold / predicted  <b>  c\n"
        "             <b>    0  1\n"
        "               c    0  2"
    )  # fmt: skip
    assert "<th>&lt;b&gt;</th><td style='text-align:right'>0</td>" in table._repr_html_()
    assert table.to_dict() == {"labels": ["<b>", "c"], "values": [[0, 1], [0, 2]],
                               "normalize": None}  # fmt: skip
    shares = confusion_matrix("gold", "out", data=data, nan_policy="omit", normalize="pred")
    assert repr(shares) == (
        "gold / predicted  <b>       c\n"
        "             <b>    -  0.3333\n"
        "               c    -  0.6667"
    )  # fmt: skip
    assert json.loads(shares.to_json())["values"][0][0] is None
    assert isinstance(pickle.loads(pickle.dumps(shares)), ConfusionMatrix)  # noqa: S301 - ours


def test_confusion_matrix__shown_in_part() -> None:
    """Of many classes the first and last three."""
    codes = np.repeat(np.arange(100), 2_000)
    lines = repr(confusion_matrix(codes, codes)).splitlines()
    assert [line.split() for line in (lines[0], lines[1], lines[4], lines[-1])] == [
        ["gold", "/", "predicted", "0", "1", "2", "...", "97", "98", "99"],
        ["0", "2,000", "0", "0", "...", "0", "0", "0"],
        ["..."] * 8,
        ["99", "0", "0", "0", "...", "0", "0", "2,000"],
    ]
    assert len(lines) == 8


# What all of them share.

EVERY: dict[str, Callable[..., fb.Additive]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "macro": lambda *args: f_score(*args, average="macro"),
    "macro of some": lambda *args: f_score(*args, average="macro", labels=[0, 1]),
    "weighted": lambda *args: precision(*args, average="weighted", zero_division=0),
    "micro": lambda *args: jaccard(*args, average="micro", labels=[0, 2]),
    "each": lambda *args: recall(*args, average=None),
    "each other": lambda *args: specificity(*args, average=None, labels=[2, 0]),
    "matthews": matthews,
    "kappa": cohen_kappa,
    "linear": lambda *args: cohen_kappa(*args, weights="linear"),
    "quadratic": lambda *args: cohen_kappa(*args, weights="quadratic"),
    "cells": confusion_cells,
    "row shares": lambda *args: confusion_cells(*args, normalize="true"),
    "column shares": lambda *args: confusion_cells(*args, normalize="pred"),
    "shares": lambda *args: confusion_cells(*args, normalize="all"),
}


@pytest.mark.parametrize("name", EVERY)
def test_every__kinds_of_columns(name: str, six: Any) -> None:
    """One answer for all that a label column may be."""
    expected = evaluate(EVERY[name](*six))
    arrow = [pa.chunked_array([codes[:7], codes[7:]]).dictionary_encode() for codes in six]
    categories = [pd.Series(pd.Categorical(codes, categories=range(9))) for codes in six]
    floats = [pl.Series(codes * 1.0) for codes in six]
    for columns in (arrow, categories, floats, (six[0], floats[1])):
        assert np.array_equal(evaluate(EVERY[name](*columns)), expected, equal_nan=True)
    named = evaluate(EVERY[name]("gold", "out"), data=pl.DataFrame({"gold": six[0], "out": six[1]}))
    assert np.array_equal(named, expected, equal_nan=True)


@pytest.mark.parametrize("name", EVERY)
def test_every__booleans(name: str, rng: Any) -> None:
    """True and 1 are one label."""
    gold, predicted = rng.random((2, 30)) < 0.5
    numbers = [column.astype(int) for column in (gold, predicted)]
    expected = evaluate(EVERY[name](*numbers))
    assert np.array_equal(evaluate(EVERY[name](gold, predicted)), expected, equal_nan=True)
    assert np.array_equal(evaluate(EVERY[name](gold, numbers[1])), expected, equal_nan=True)


@pytest.mark.parametrize("name", EVERY)
def test_every__batches(name: str, six: Any, rng: Any) -> None:
    """The digits of a replicate do not depend on those computed with it."""
    statistic = EVERY[name](*six)
    columns = load(statistic.columns).columns
    bound = statistic.bind([columns])
    weights = rng.exponential(size=(9, 40))
    sums = [summed(term, weights, 40) for term in bound.terms(*columns)]
    together = np.asarray(bound.finish(*sums))
    for k in range(9):
        for size in (slice(k, k + 1), k):
            alone = bound.finish(*(total[..., size].copy() for total in sums))
            assert np.array_equal(alone, together[..., size])


@pytest.mark.parametrize("name", EVERY)
def test_every__pickle(name: str, six: Any) -> None:
    """Statistics travel to other processes."""
    statistic = EVERY[name](*six)
    copied = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert np.array_equal(evaluate(copied), evaluate(statistic))


TALLIED = ["balanced_accuracy", "macro", "weighted", "each", "matthews", "kappa", "linear"]


def test_every__shared_terms(six: Any) -> None:
    """All statistics of all systems number classes alike: gold labels are one term."""
    gold, a = six
    b = np.where(a == 3, 7, a)  # a class that nobody else has
    statistics = [EVERY[name](gold, predicted) for name in TALLIED for predicted in (a, b)]
    systems = [load(one.columns).columns for one in statistics]
    expected = np.where(gold < 7, gold, 6)
    for statistic, own in zip(statistics, systems, strict=True):
        tallies = [t for t in statistic.bind(systems).terms(*own) if isinstance(t, fb.Tally)]
        assert [tally.size for tally in tallies] == [7] * len(tallies)
        assert expected.tolist() in [tally.codes.tolist() for tally in tallies]


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("name", MEASURES)
def test_average__systems(name: str, average: str, rng: Any) -> None:
    """What one system predicts changes nothing for another; nor does its gold."""
    gold, a = drawn(rng, 6, 60)
    options = {"average": average, "zero_division": 0}
    ours = [MEASURES[name][0](*columns, **options) for columns in ((gold, a), (gold, gold + 7))]
    alone = [evaluate(one) for one in ours]
    assert evaluate(ours[0], others=ours[1:]) == near(alone[0])
    assert evaluate(ours[1], others=ours[:1]) == near(alone[1])
    other = MEASURES[name][0](gold + 20, a + 20, **options)
    assert evaluate(ours[0], others=[other]) == near(alone[0])


@pytest.mark.parametrize("name", ["balanced_accuracy", "macro", "weighted", "each", "matthews"])
def test_every__memory(name: str) -> None:
    """A thousand classes take the memory of the rows."""
    codes = np.arange(100_000) % 1_000
    statistic = EVERY[name](codes, np.roll(codes, 1))
    columns = load(statistic.columns).columns
    terms = statistic.bind([columns]).terms(*columns)
    arrays = [term.codes if isinstance(term, fb.Tally) else np.asarray(term) for term in terms]
    assert len(terms) <= 3
    assert sum(array.nbytes for array in arrays) <= len(terms) * codes.nbytes
    assert all(term.size == 1_000 for term in terms if isinstance(term, fb.Tally))


# Invariances.

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(rows=pairs, order=st.permutations(range(5)))
def test_invariance__names(rows: Any, order: Sequence[int]) -> None:
    """Other names for the classes permute their values, and leave averages as they are."""
    gold, predicted = np.array(rows).T
    renamed = [np.array(order)[codes] for codes in (gold, predicted)]
    for make in (f_score, specificity):
        each, each_renamed = (
            evaluate(make(*columns, average=None, labels=labels, zero_division=0))
            for columns, labels in (((gold, predicted), range(5)), (renamed, order))
        )
        assert each.tolist() == each_renamed.tolist()
    for name in ("balanced_accuracy", "macro", "weighted", "matthews", "kappa"):
        assert evaluate(EVERY[name](*renamed)) == near(evaluate(EVERY[name](gold, predicted)))


@given(rows=pairs)
def test_invariance__exchanged(rows: Any) -> None:
    """Predictions as gold: the matrix is transposed, precision is recall, agreement stays."""
    gold, predicted = np.array(rows).T
    table, transposed = confusion_matrix(gold, predicted), confusion_matrix(predicted, gold)
    assert table.labels == transposed.labels
    assert table.values.T.tolist() == transposed.values.tolist()
    found = evaluate(precision(gold, predicted, average=None, zero_division=0))
    assert (
        found.tolist() == evaluate(recall(predicted, gold, average=None, zero_division=0)).tolist()
    )
    for name in ("accuracy", "matthews", "kappa", "linear", "quadratic"):
        assert evaluate(EVERY[name](predicted, gold)) == near(
            evaluate(EVERY[name](gold, predicted))
        )


@given(rows=pairs, times=st.integers(1, 1_000))
def test_invariance__repeated(rows: Any, times: int) -> None:
    """All rows as often: nothing changes but counts."""
    gold, predicted = np.array([*rows, (0, 1)]).T  # labels of which some statistics must see one
    weights = np.full((1, gold.size), float(times))
    for name, make in EVERY.items():
        value, repeated = evaluate(make(gold, predicted)), evaluate(make(gold, predicted), weights)
        assert repeated[..., 0] == near(value * times if name == "cells" else value)


@pytest.mark.parametrize("beta", [1e-200, 1e-30, 1e30, 1e200])
def test_f_score__limits(beta: float) -> None:
    """A beta far from 1 gives precision or recall, and 0 where only the other is undefined."""
    counts: Any = {"tp": [3, 2], "fp": [1, 4], "fn": [2, 0]}
    limit = recall(tp=[3, 2], fn=[2, 0]) if beta > 1.0 else precision(tp=[3, 2], fp=[1, 4])
    assert evaluate(f_score(**counts, beta=beta)) == pytest.approx(evaluate(limit), rel=1e-15)
    assert evaluate(f_score(tp=[0], fp=[1], fn=[0], beta=beta)) == 0.0
    assert evaluate(f_score(tp=[0], fp=[0], fn=[1], beta=beta)) == 0.0


@pytest.mark.parametrize("kind", [int, float, np.int64, np.float32, np.float64])
def test_zero_division__kinds_of_numbers(kind: Any) -> None:
    """The 0, 1 and nan of NumPy are those of Python."""
    assert f_score([1], [1], zero_division=kind(0)).name == "f_score(zero_division=0)"
    assert f_score([1], [1], zero_division=kind(1)).name == "f_score(zero_division=1)"
    if kind not in {int, np.int64}:
        assert f_score([1], [1], zero_division=kind("nan")).name == "f_score(zero_division=nan)"


@pytest.mark.parametrize(
    "listed", [np.array([2, 1]), pa.array([2, 1]), pa.chunked_array([[2], [1]]), pl.Series([2, 1])]
)
def test_labels__columns(listed: Any) -> None:
    """Labels may be listed in an array or a column."""
    gold, predicted = [1, 2, 2, 3], [1, 1, 2, 3]
    each = f_score(gold, predicted, average=None, labels=listed)
    np.testing.assert_array_equal(
        evaluate(each), evaluate(f_score(gold, predicted, average=None, labels=[2, 1]))
    )
    assert confusion_matrix(gold, predicted, labels=listed).labels == (2, 1)


# What is refused.


ROW = {"gold": [1], "predicted": [1]}


@pytest.mark.parametrize(
    "make, options, kind, message",
    [
        (f_score, {**ROW, "average": "samples"}, ValueError,
         '`average` is \'samples\'; f_score has "binary", "micro", "macro", "weighted" or None'),
        (specificity, {**ROW, "average": "micro"}, ValueError,
         '`average` is \'micro\'; specificity has "binary", "macro", "weighted" or None'),
        (f_score, {**ROW, "zero_division": "warn"}, ValueError,
         "`zero_division` is 'warn'; the value for 0 / 0 can be 0, 1, nan"),
        (f_score, {**ROW, "zero_division": 0.5}, ValueError, "`zero_division` is 0.5; the"),
        (f_score, {**ROW, "zero_division": np.float32(0.5)}, ValueError, "`zero_division` is np.f"),
        (f_score, {**ROW, "zero_division": np.str_("0")}, ValueError, "`zero_division` is np.str_"),
        (f_score, {**ROW, "beta": "2"}, TypeError, "`beta` is '2'; it must be a number"),
        (f_score, {**ROW, "beta": True}, TypeError, "`beta` is True; it must be a number"),
        (f_score, {**ROW, "pos_label": np.array([1, 2])}, TypeError,
         r"`pos_label` is array\(\[1, 2\]\); give one label: a string, a number or a boolean"),
        (f_score, {**ROW, "pos_label": [1], "average": "macro"}, TypeError,
         r"`pos_label` is \[1\]; give one label"),
        (f_score, {**ROW, "labels": [1, [2]], "average": "macro"}, TypeError,
         r"`labels\[1\]` is \[2\]; give one label: a string, a number or a boolean"),
        (confusion_cells, {**ROW, "labels": np.array([[1, 2]])}, TypeError,
         r"`labels\[0\]` is \[1, 2\]; give one label"),
        (f_score, {**ROW, "labels": [1]}, ValueError,
         "average='binary' measures one class, `pos_label`; `labels` are the classes of average="),
        (f_score, {**ROW, "average": "macro", "pos_label": 2}, ValueError,
         (r"`pos_label` is 2, but average='macro' is over all classes; for that class alone choose "
          r"average='binary', or labels=\[2\]")),
        (f_score, {**ROW, "average": "micro", "pos_label": "a"}, ValueError,
         "`pos_label` is 'a', but average='micro' is over all classes"),
        (f_score, {**ROW, "average": "macro", "labels": "ab"}, TypeError,
         "`labels` is 'ab'; give a list of labels"),
        (cohen_kappa, {**ROW, "labels": 3}, TypeError, "`labels` is 3; give a list"),
        (cohen_kappa, {**ROW, "labels": []}, ValueError,
         "`labels` is empty; list at least one label, or leave it out for all"),
        (f_score, {**ROW, "average": "micro", "labels": [2, 1, 2]}, ValueError,
         "`labels` has 2 more than once; give each label once"),
        (recall, {"tp": [1], "fn": [1], "average": "macro"}, TypeError,
         ("recall of counts pools all rows; an average over classes, or labels=, needs gold and "
          "predicted labels")),
        (recall, {"tp": [1], "fn": [1], "average": "micro", "labels": [1]}, TypeError,
         "recall of counts pools all rows"),
        (jaccard, {"tp": [1]}, TypeError,
         "jaccard takes either gold and predicted, or tp and fp and fn; it got tp"),
        (specificity, {"gold": [1]}, TypeError,
         "specificity takes either gold and predicted, or tn and fp; it got gold"),
        (balanced_accuracy, {**ROW, "adjusted": "no"}, TypeError,
         "`adjusted` is 'no'; it must be True or False"),
        (cohen_kappa, {**ROW, "weights": "cubic"}, ValueError,
         '`weights` is \'cubic\'; choose "linear", "quadratic" or None'),
        (confusion_cells, {**ROW, "normalize": "rows"}, ValueError,
         '`normalize` is \'rows\'; choose "true", "pred", "all" or None'),
        (confusion_matrix, {**ROW, "normalize": True}, ValueError, "`normalize` is True; "),
        (confusion_matrix, {"gold": [1, None], "predicted": [1, 2]}, ValueError,
         r"`gold` has 1 null \(first at row 1\)"),
    ],
)  # fmt: skip
def test_arguments(make: Any, options: Any, kind: type[Exception], message: str) -> None:
    """What cannot be meant is refused where the statistic is made."""
    with pytest.raises(kind, match=message):
        make(**options)


@pytest.mark.parametrize(
    "statistic, message",
    [
        (f_score(["a"], ["b"], average="macro", labels=["c", "d"]),
         ("`labels` has 'c', 'd', none of which is in `gold` or `predicted`; the labels are "
          "'a', 'b'")),
        (f_score(["a"], ["b"], average="micro", labels=["c"]),
         ("`labels` is 'c', which is in neither `gold` nor `predicted`; the labels are "
          "'a', 'b'")),
        (cohen_kappa([1], [2], labels=["1", "2"]), "`labels` has '1', '2', none of which is in"),
        (matthews(["1"], [1]), "`gold` holds strings but `predicted` holds numbers"),
        (confusion_cells([1], ["1"]), "`gold` holds numbers but `predicted` holds strings"),
        (jaccard(tp=[1, 2], fp=[0, 0], fn=[0, -1]), r"`fn` has 1 negative count \(first at row 1"),
        (specificity(tn=[-1], fp=[0]), r"`tn` has 1 negative count \(first at row 0: -1\)"),
    ],
)  # fmt: skip
def test_data(statistic: fb.Additive, message: str) -> None:
    """Data that cannot mean what was asked is refused."""
    with pytest.raises(ValueError, match=message):
        evaluate(statistic)


def test_names() -> None:
    """Names tell apart what is measured, so that swaps of two measures are refused."""
    names = [
        f_score([1], [1]).name,
        f_score([1], [1], average="macro").name,
        f_score([1], [1], average=None, beta=2, zero_division=math.nan).name,
        recall([1], [1], zero_division=1).name,
        balanced_accuracy([1], [1]).name,
        balanced_accuracy([1], [1], adjusted=True).name,
        matthews([1], [1]).name,
        cohen_kappa([1], [1]).name,
        cohen_kappa([1], [1], weights="quadratic").name,
        confusion_cells([1], [1]).name,
        confusion_cells([1], [1], normalize="true").name,
    ]
    assert names == [
        "f_score",
        "f_score(average=macro)",
        "f_score(beta=2, average=None, zero_division=nan)",
        "recall(zero_division=1)",
        "balanced_accuracy",
        "balanced_accuracy(adjusted)",
        "matthews",
        "cohen_kappa",
        "cohen_kappa(weights=quadratic)",
        "confusion_cells",
        "confusion_cells(normalize=true)",
    ]


def test_counts__as_labels(rng: Any) -> None:
    """Counts of rows give what their labels give."""
    gold, predicted = rng.random((2, 30)) < 0.5
    tn, fp = ~gold & ~predicted, ~gold & predicted
    tp, fn = gold & predicted, gold & ~predicted
    assert evaluate(specificity(tn=tn, fp=fp)) == evaluate(specificity(gold, predicted))
    value = evaluate(jaccard(gold, predicted))
    assert evaluate(jaccard(tp=tp, fp=fp, fn=fn)) == value
    assert evaluate(jaccard(tp=tp, fp=fp, fn=fn, average="micro", zero_division=1)) == value
    assert evaluate(jaccard(tp=[0], fp=[0], fn=[0], zero_division=1)) == 1.0


# Through the procedures.

SEED = 11
SCIKIT: dict[str, tuple[Callable[..., fb.Additive], Callable[..., Any]]] = {
    "macro": (
        lambda *args: f_score(*args, average="macro", zero_division=0),
        # Classes with gold rows in the data, and what is predicted in the resample.
        lambda gold, said: quiet(metrics.f1_score)(
            gold, said, labels=np.union1d(np.arange(4), said), average="macro", zero_division=0
        ),
    ),
    "micro": (
        lambda *args: recall(*args, average="micro", labels=[0, 1]),
        lambda gold, said: metrics.recall_score(gold, said, labels=[0, 1], average="micro"),
    ),
    "weighted": (
        lambda *args: precision(*args, average="weighted", zero_division=1),
        lambda gold, said: metrics.precision_score(
            gold, said, labels=np.arange(6), average="weighted", zero_division=1
        ),
    ),
    "matthews": (matthews, metrics.matthews_corrcoef),
    "kappa": (cohen_kappa, metrics.cohen_kappa_score),
    "quadratic": (
        lambda *args: cohen_kappa(*args, weights="quadratic", labels=range(6)),
        lambda gold, said: metrics.cohen_kappa_score(
            gold, said, weights="quadratic", labels=np.arange(6)
        ),
    ),
}


@pytest.fixture
def two_systems(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Gold classes 0 to 3 of 80 rows, and the predictions of two systems, one of which says 5."""
    gold = np.arange(80) % 4
    a = np.where(rng.random(80) < 0.7, gold, rng.choice(5, 80))
    b = np.where(rng.random(80) < 0.6, gold, rng.choice(6, 80))
    return gold, a, b


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("path", ["rows", "weights"])
@pytest.mark.parametrize("name", SCIKIT)
def test_bootstrap__replicates(name: str, path: Any, grouped: bool, two_systems: Any) -> None:
    """Every replicate is scikit-learn's value of the rows that the reference draws."""
    gold, predicted, _ = two_systems
    ours, scikit_learn = SCIKIT[name]
    documents = np.arange(80) // 5 if grouped else None
    result = fb.bootstrap(
        ours(gold, predicted), groups=documents, rng=SEED, n_resamples=8, path=path
    )
    expected = []
    for replicate in range(8):
        rows = reference.bootstrap_rows(16 if grouped else 80, SEED, replicate, path)
        if documents is not None:
            rows = reference.rows_of(rows, documents.tolist())
        expected.append(scikit_learn(gold[rows], predicted[rows]))
    assert result.estimate == near(scikit_learn(gold, predicted))
    assert result.replicates.tolist() == near(expected)


@pytest.mark.parametrize("name", SCIKIT)
def test_paired_bootstrap__common_resamples(name: str, two_systems: Any) -> None:
    """The difference of the systems' values on the same resamples."""
    gold, a, b = two_systems
    ours, scikit_learn = SCIKIT[name]
    result = fb.paired_bootstrap(ours(gold, a), ours(gold, b), rng=SEED, n_resamples=8, path="rows")
    drawings = [reference.bootstrap_rows(80, SEED, k, "rows") for k in range(8)]
    expected = [
        scikit_learn(gold[rows], a[rows]) - scikit_learn(gold[rows], b[rows]) for rows in drawings
    ]
    assert result.replicates.tolist() == near(expected)
    assert result.estimate_a == near(scikit_learn(gold, a))
    assert result.estimate_b == near(scikit_learn(gold, b))


@pytest.mark.parametrize("name", SCIKIT)
def test_randomization__enumeration(name: str, two_systems: Any) -> None:
    """All swaps of the rows that differ, with a class that one system alone predicts."""
    gold, a, b = two_systems
    ours, scikit_learn = SCIKIT[name]
    differing = np.flatnonzero(a != b)
    a = a.copy()
    a[differing[6:]] = b[differing[6:]]  # six differ
    assert (a == 5).any() or (b == 5).any()
    result = fb.approximate_randomization(ours(gold, a), ours(gold, b), n_resamples=64)
    expected = []
    for flags in product([False, True], repeat=6):
        swapped = np.isin(np.arange(80), differing[:6][list(flags)])
        first, second = np.where(swapped, b, a), np.where(swapped, a, b)
        expected.append(scikit_learn(gold, first) - scikit_learn(gold, second))
    assert result.path == "enumeration"
    # Rows that make no difference to the statistic are not swapped.
    times = len(expected) // result.n_resamples
    assert sorted(result.replicates.tolist() * times) == near(sorted(expected))


def test_bootstrap__undefined(two_systems: Any) -> None:
    """A resample without a class that the data has is counted, not filled."""
    gold, predicted, _ = two_systems
    gold = np.where(np.arange(80) == 7, 9, gold)  # one row: missing in (79/80)^80 = 37 % of them
    with pytest.warns(RuntimeWarning, match="undefined in"):
        result = fb.bootstrap(balanced_accuracy(gold, predicted), rng=SEED, n_resamples=2_000)
    assert_rate(result.n_undefined, 2_000, (79 / 80) ** 80, detects=0.1)


def test_combine(two_systems: Any) -> None:
    """Averages over classes can be combined."""
    gold, predicted, _ = two_systems
    parts = [
        make(gold, predicted, average="macro", labels=range(4)) for make in (precision, recall)
    ]
    result = fb.bootstrap(
        fb.combine(lambda p, r: 2 * p * r / (p + r), *parts, name="F of means"), rng=0
    )
    values = metrics.precision_recall_fscore_support(
        gold, predicted, labels=range(4), average="macro"
    )
    assert result.estimate == near(2 * values[0] * values[1] / (values[0] + values[1]))


@pytest.mark.parametrize("zero", [0, False])
@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score", "jaccard_score"])
def test_binary__nothing_positive(name: str, zero: Any) -> None:
    """All labels 0, or False: as scikit-learn, by `zero_division`; undefined without."""
    functions: dict[str, Any] = {
        "precision_score": fb.precision, "recall_score": fb.recall,
        "f1_score": fb.f_score, "jaccard_score": fb.jaccard,
    }  # fmt: skip
    ours = functions[name]
    labels = [zero] * 3
    for fill in (0, 1):
        found = fb.bootstrap(ours(labels, labels, zero_division=fill), rng=0, n_resamples=9)
        assert found.estimate == getattr(metrics, name)(labels, labels, zero_division=fill)
    with pytest.warns(RuntimeWarning, match="undefined in 9 of 9"):
        found = fb.bootstrap(ours(labels, labels), rng=0, n_resamples=9)
    assert np.isnan(found.estimate)
