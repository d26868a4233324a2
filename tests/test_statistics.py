"""The statistics: observed values, both kinds of input, and the protocol for new ones."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastboot as fb
from fastboot import Column

FEW: dict[str, Any] = {"rng": 0, "n_resamples": 9}


def observed(statistic: fb.Additive, **options: Any) -> float:
    """Return the observed value."""
    result: fb.BootstrapResult = fb.bootstrap(statistic, **FEW, **options)
    return result.estimate


@pytest.fixture
def labels() -> NDArray[np.int64]:
    """Gold and predicted labels of 60 rows, 0 and 1."""
    return np.random.default_rng(7).integers(0, 2, (2, 60))


@pytest.mark.filterwarnings("ignore:the statistic is undefined")
@pytest.mark.parametrize(
    "statistic, value",
    [
        (fb.mean([1.0, 2.0, 6.0]), 3.0),
        (fb.total([1.0, 2.0, 6.0]), 9.0),
        (fb.ratio([1, 1, 10], [2, 4, 100]), 12 / 106),
        (fb.weighted_mean([1.0, 2.0, 6.0], [1.0, 0.0, 3.0]), 19 / 4),
        (fb.accuracy(["x", "y", "z"], ["x", "z", "z"]), 2 / 3),
        (fb.accuracy([1, 0, 2], [1.0, 0.0, 1.0]), 2 / 3),
        (fb.accuracy([True, False], [1, 1]), 1 / 2),
        # 30 found, 10 false alarms, 20 missed: the spam filter of a textbook.
        (fb.precision(tp=[30], fp=[10]), 0.75),
        (fb.recall(tp=[30], fn=[20]), 0.60),
        (fb.f_score(tp=[30], fp=[10], fn=[20]), 2 / 3),
        (fb.f_score(tp=[30], fp=[10], fn=[20], beta=2), 5 * 0.75 * 0.6 / (4 * 0.75 + 0.6)),
        (fb.f_score(tp=[30], fp=[10], fn=[20], beta=0.5), 1.25 * 0.75 * 0.6 / (0.25 * 0.75 + 0.6)),
        (fb.f_score(["n", "y", "y"], ["y", "y", "n"], pos_label="y"), 1 / 2),
    ],
)
def test_statistic__value(statistic: fb.Additive, value: float) -> None:
    """Worked by hand."""
    assert observed(statistic) == pytest.approx(value, rel=1e-15)


@pytest.mark.filterwarnings("ignore:the statistic is undefined")
@pytest.mark.parametrize("name", ["precision", "recall", "f_score"])
def test_classification__labels_and_counts_agree(name: str, labels: NDArray[np.int64]) -> None:
    """Labels, and the counts made from them, give the same replicates."""
    gold, predicted = labels
    counts = {
        "tp": (gold == 1) & (predicted == 1),
        "fp": (gold == 0) & (predicted == 1),
        "fn": (gold == 1) & (predicted == 0),
    }
    used = {"precision": ("tp", "fp"), "recall": ("tp", "fn")}.get(name, ("tp", "fp", "fn"))
    statistic = getattr(fb, name)
    from_labels = fb.bootstrap(statistic(gold, predicted), rng=0)
    from_counts = fb.bootstrap(statistic(**{key: counts[key] for key in used}), rng=0)
    assert from_labels.replicates.tolist() == from_counts.replicates.tolist()


@pytest.mark.parametrize("name", ["precision", "recall", "f_score"])
def test_classification__strings_and_numbers_agree(name: str, labels: NDArray[np.int64]) -> None:
    """The kind of label does not matter, nor which is positive first."""
    gold, predicted = labels
    words = np.array(["ham", "spam"])
    statistic = getattr(fb, name)
    numbers = observed(statistic(gold, predicted))
    assert numbers == observed(statistic(words[gold], words[predicted], pos_label="spam"))
    assert numbers == observed(statistic(gold == 1, predicted == 1))


def test_classification__undefined() -> None:
    """Nothing predicted positive: precision is undefined, F is 0."""
    with pytest.warns(RuntimeWarning, match="undefined in 9 of 9"):
        assert math.isnan(observed(fb.precision([1, 1], [0, 0])))
    assert observed(fb.f_score([1, 1], [0, 0])) == 0.0


@pytest.mark.parametrize(
    "call, message",
    [
        (fb.f_score, ("f_score takes either gold and predicted, or tp and fp and fn; it "
         "got nothing")),
        (lambda: fb.f_score([1], tp=[1]), "it got gold, tp"),
        (lambda: fb.precision(tp=[1]), ("precision takes either gold and predicted, or tp and fp; "
         "it got tp")),
        (lambda: fb.recall([1]), "it got gold"),
        (fb.Additive, r"Additive\(\) names no column; give at least one"),
    ],
)  # fmt: skip
def test_statistic__arguments(call: Any, message: str) -> None:
    """Half of the columns is refused where the statistic is made."""
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("beta", [0.0, -1.0, math.inf, math.nan])
def test_f_score__beta(beta: float) -> None:
    """Beta must be a positive number."""
    with pytest.raises(ValueError, match=rf"`beta` is {beta}; it must be a positive number"):
        fb.f_score([1], [1], beta=beta)


@pytest.mark.parametrize(
    "statistic, message",
    [
        (fb.f_score([0, 2], [2, 0]), ("`pos_label` is 1, which is in neither `gold` nor "
         "`predicted`; the labels are 0, 2")),
        (fb.f_score(list(range(2, 20)), list(range(2, 20))), "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ..."),
        (fb.accuracy(["1", "2"], [1, 2]), ("`gold` holds strings but `predicted` holds numbers "
         r"\(such as '1' and 1\); labels must be of one kind")),
        (fb.f_score(tp=[1, -2, -3], fp=[0, 0, 0], fn=[0, 0, 0]), (r"`tp` has 2 negative counts "
         r"\(first at row 1: -2\); counts are 0 or more")),
    ],
)  # fmt: skip
def test_classification__data(statistic: fb.Additive, message: str) -> None:
    """Data that cannot mean what was asked is refused."""
    with pytest.raises(ValueError, match=message):
        observed(statistic)


class RootMeanSquare(fb.Additive):
    """The example of the protocol."""

    def terms(self, error: Any) -> Any:
        """Square, and count."""
        return error**2, 1.0

    def finish(self, squares: Any, count: Any) -> Any:
        """Root of the mean."""
        return np.sqrt(squares / count)


def test_additive__own_statistic() -> None:
    """Ten lines make a statistic that runs by rows, by groups, in pairs and in swaps."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 50))
    documents = np.repeat(np.arange(10), 5)
    result = fb.paired_bootstrap(RootMeanSquare(a), RootMeanSquare(b), groups=documents, rng=0)
    assert result.statistic == "RootMeanSquare"
    assert result.estimate_a == pytest.approx(np.sqrt(np.mean(a**2)), rel=1e-14)
    swaps = fb.approximate_randomization(RootMeanSquare(a), RootMeanSquare(b), groups=documents)
    assert swaps.estimate == result.estimate
    assert swaps.path == "enumeration"
    assert repr(RootMeanSquare("x")) == "RootMeanSquare(`RootMeanSquare, column 1` (column 'x'))"


def test_additive__label_columns() -> None:
    """A statistic of one's own may ask for label columns."""

    class ErrorCost(fb.Ratio):
        def terms(self, gold: Any, predicted: Any) -> Any:
            missed = (np.array(gold.values)[gold.codes] == "spam") & (
                np.array(predicted.values)[predicted.codes] == "ham"
            )
            return 5.0 * missed, 1.0

    columns = [Column("gold", "label", "gold"), Column("predicted", "label", "predicted")]
    data = {"gold": ["spam", "ham", "spam"], "predicted": ["ham", "ham", "spam"]}
    assert observed(ErrorCost(*columns), data=data) == pytest.approx(5 / 3)


def _broken(terms: Any = None, finish: Any = None) -> fb.Additive:
    class Broken(fb.Additive):
        pass

    statistic = Broken([1.0, 2.0, 4.0])
    if terms is not None:
        statistic.terms = terms  # type: ignore[method-assign] # stands for a subclass
    if finish is not None:
        statistic.finish = finish  # type: ignore[method-assign] # stands for a subclass
    return statistic


@pytest.mark.parametrize(
    "statistic, kind, message",
    [
        (_broken(), NotImplementedError, r"Broken must define terms\(\*columns\)"),
        (_broken(lambda x: (x, 1.0)), NotImplementedError, r"Broken must define finish\(\*sums\)"),
        (_broken(lambda x: x), TypeError, r"Broken.terms\(\) returned ndarray; return a tuple"),
        (_broken(lambda _: ()), TypeError, r"Broken.terms\(\) returned tuple; return a tuple"),
        (_broken(lambda x: (x[:2], 1.0)), TypeError,
         r"returned shape \(2,\) for term 1; the rows need shape \(3,\)"),
        (_broken(lambda x: (x, 1.0), lambda s, _: np.stack([s, s])), TypeError,
         r"Broken.finish\(\) returned shape \(2, 2\) for sums of shape \(2,\); return one value"),
        (_broken(lambda x: (np.full(x.size, np.inf), 1.0)), ValueError,
         r"Broken.terms\(\) returned infinity in 3 rows \(first at row 0\); terms must be finite"),
        (_broken(lambda x: (np.where(x > 1, np.nan, x), 1.0)), ValueError,
         r"Broken.terms\(\) returned NaN in 2 rows \(first at row 1\); terms must be finite"),
    ],
)  # fmt: skip
def test_additive__broken(statistic: fb.Additive, kind: type[Exception], message: str) -> None:
    """A statistic that breaks the protocol is told how."""
    with pytest.raises(kind, match=message):
        observed(statistic)


def test_paired__shared_terms_are_fused() -> None:
    """Two means resample one difference; offsets then cost no digits."""
    rng = np.random.default_rng(0)
    a, b = 1e9 + rng.normal(size=(2, 400))
    result = fb.paired_bootstrap(a, b, rng=0)
    expected = fb.bootstrap(a - b, rng=0)
    assert result.replicates.tolist() == expected.replicates.tolist()


def test_paired__different_statistics() -> None:
    """Precision against recall of one system: allowed in the bootstrap, refused in swaps."""
    gold, predicted = np.random.default_rng(1).integers(0, 2, (2, 80))
    a, b = fb.precision(gold, predicted), fb.recall(gold, predicted)
    assert fb.paired_bootstrap(a, b, rng=0).statistic == "precision - recall"
    with pytest.raises(TypeError, match="`a` is precision and `b` is recall; swapped outputs"):
        fb.approximate_randomization(a, b)


@pytest.mark.filterwarnings("ignore:the statistic is undefined")
@pytest.mark.parametrize("make", [fb.mean, fb.total, lambda x: fb.f_score(x, x, pos_label=1.0)])
def test_statistic__picklable(make: Any) -> None:
    """Statistics travel to other processes."""
    statistic = pickle.loads(pickle.dumps(make([1.0, 2.0, 3.0])))  # noqa: S301 - our own bytes
    assert observed(statistic) == observed(make([1.0, 2.0, 3.0]))


def test_sum_beyond_float64() -> None:
    """Sums that float64 cannot hold are refused instead of becoming NaN."""
    with pytest.raises(ValueError, match="the values sum to more than float64 can hold; divide"):
        observed(fb.mean([1e308, 1e308]))
    for procedure in (fb.paired_bootstrap, fb.approximate_randomization):
        with pytest.raises(ValueError, match=r"^the values sum to more than float64 can hold"):
            procedure([1e308, 2.0, 3.0], [-1e308, 1.0, 1.0], n_resamples=9, rng=0)
