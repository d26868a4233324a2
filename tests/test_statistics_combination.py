"""Functions of several statistics."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fastboot as fb
from fastboot import combine


def harmonic(x: Any, y: Any) -> Any:
    """Harmonic mean of two values; picklable, unlike a lambda."""
    return 2 * x * y / (x + y)


@pytest.fixture
def labels() -> Any:
    """Gold labels, two systems' labels and documents."""
    rng = np.random.default_rng(5)
    return *rng.integers(0, 2, (3, 120)), np.repeat(np.arange(24), 5)


@pytest.mark.parametrize("path", ["rows", "patterns", "weights", "collapse"])
def test_combine__f_score(labels: Any, path: str) -> None:
    """Precision and recall combine to F, replicate by replicate, in groups."""
    gold, a, _, documents = labels
    combined = combine(harmonic, fb.precision(gold, a), fb.recall(gold, a))
    options = {"groups": documents, "rng": 3, "n_resamples": 200, "path": path}
    result = fb.bootstrap(combined, **options)
    expected = fb.bootstrap(fb.f_score(gold, a), rng=3, groups=documents, n_resamples=200)
    assert result.statistic == "harmonic"
    if path == expected.path:
        # Ten roundings of numbers below 2.
        assert np.abs(result.replicates - expected.replicates).max() <= 20 * 2**-53
    assert result.estimate == pytest.approx(expected.estimate, rel=1e-15)


def test_combine__pairs(labels: Any) -> None:
    """Two systems compare as with the statistic itself, in both procedures."""
    gold, a, b, documents = labels
    combined = [
        combine(harmonic, fb.precision(gold, x), fb.recall(gold, x), name="f_score") for x in (a, b)
    ]
    plain = [fb.f_score(gold, x) for x in (a, b)]
    for procedure in (fb.paired_bootstrap, fb.approximate_randomization):
        ours = procedure(*combined, groups=documents, rng=1, path=None)
        theirs = procedure(*plain, groups=documents, rng=1, path=None)
        assert ours.estimate == pytest.approx(theirs.estimate, abs=20 * 2**-53)
        if ours.path == theirs.path == "tables":
            assert np.abs(ours.replicates - theirs.replicates).max() <= 40 * 2**-53
            assert ours.n_extreme == theirs.n_extreme


def test_combine__of_combinations() -> None:
    """Column names work, and combinations combine."""
    table = {"x": [1.0, 2.0, 3.0, 4.0], "y": [2.0, 1.0, 1.0, 4.0]}
    inner = combine(lambda x, y: x - y, fb.mean("x"), fb.mean("y"), name="gap")
    outer = combine(lambda gap, x: gap / x, inner, fb.mean("x"), name="relative gap")
    result = fb.bootstrap(outer, data=table, rng=0, n_resamples=9)
    assert result.estimate == pytest.approx(0.5 / 2.5)
    assert result.statistic == "relative gap"


def test_combine__picklable() -> None:
    """A combination by a named function travels to other processes."""
    statistic = combine(harmonic, fb.mean([1.0, 3.0]), fb.mean([2.0, 4.0]))
    loaded = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert fb.bootstrap(loaded, rng=0, n_resamples=9).estimate == pytest.approx(2.4)


class AnyNumber(fb.Additive):
    """Does not say how many terms it has."""

    def terms(self, *columns: Any) -> Any:
        """As they come."""
        return columns

    def finish(self, *sums: Any) -> Any:
        """Their sum."""
        return sum(sums)


@pytest.mark.parametrize(
    "statistics, message",
    [
        ((), "combine: no statistic is given; name at least one after the function"),
        ((fb.mean("x"), "y"), "combine: argument 2 after the function is 'y'; give statistics"),
        ((AnyNumber("x"),), r"AnyNumber.finish\(\) takes any number of sums; define n_terms"),
    ],
)
def test_combine__refuses(statistics: Any, message: str) -> None:
    """What cannot be combined is refused where it is written."""
    with pytest.raises(TypeError, match=message):
        combine(max, *statistics)


@pytest.mark.parametrize(
    "function, kind",
    [
        (lambda mean: 1j * mean, "an array of complex128"),
        (lambda _: "1.5", "str"),
        (lambda mean: mean.astype(str), "an array of <U32"),
        (lambda mean: mean.astype("datetime64[s]"), r"an array of datetime64\[s\]"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_combine__no_real_numbers(function: Any, kind: str) -> None:
    """What NumPy would cut, or read, to make it a number is refused."""
    message = rf"^unreal.finish\(\) returned {kind}; return real numbers, one or an array$"
    with pytest.raises(TypeError, match=message):
        fb.bootstrap(combine(function, fb.mean([1.0, 2.0]), name="unreal"), rng=0)


class Terms(fb.Additive):
    """A mean of the terms that it was made with."""

    def __init__(self, term: Any) -> None:
        super().__init__([1.0, 2.0])
        self._term = term

    def terms(self, *_: Any) -> Any:
        """What it was made with, and the rows."""
        return self._term, 1.0

    def finish(self, total: Any, count: Any) -> Any:
        """Their mean."""
        return total / count


class Weighs(fb.Weighted):
    """Complex values."""

    def prepare(self, values: Any) -> Any:
        """As they are."""
        return values

    def values(self, prepared: Any, weights: Any) -> Any:
        """A mean, turned by a quarter."""
        return 1j * (weights @ prepared)


TALLY = fb.Tally(np.array([0, 1]), 2, np.array([1j, 1.0]))


@pytest.mark.parametrize(
    "own, message",
    [
        (Terms(np.array([1j, 1.0])), r"Terms.terms\(\) returned an array of complex128 for term 1"),
        (Terms("1.5"), r"Terms.terms\(\) returned str for term 1; return real numbers"),
        (Terms(None), r"Terms.terms\(\) returned NoneType for term 1; return real numbers"),
        (Terms(TALLY), r"returned an array of complex128 as values of the Tally for term 1"),
        (Weighs([1.0, 2.0]), r"Weighs.values\(\) returned an array of complex128; return real"),
        (
            fb.macro(Weighs([1.0, 2.0]), by=["x", "y"]),
            r"Weighs.values\(\) returned an array of complex128; return real numbers",
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_own__no_real_numbers(own: Any, message: str) -> None:
    """Nor may terms, and values of weights, be anything else than real numbers."""
    with pytest.raises(TypeError, match=message):
        fb.bootstrap(own, rng=0, n_resamples=9)


@pytest.mark.parametrize(
    "labels, kind, message",
    [
        (("x", "x"), ValueError, "`Two.labels` has 'x' more than once; give each label once"),
        ((1, True), ValueError, "`Two.labels` has 1 more than once"),
        ((), ValueError, "`Two.labels` is empty; name each value"),
        (("x", ["y"]), TypeError, r"`Two.labels\[1\]` is \['y'\]; give one label"),
    ],
)
def test_vector__labels(labels: Any, kind: type[Exception], message: str) -> None:
    """Each value of a statistic of one's own has a row of the table, so a name of its own."""

    class Two(fb.AdditiveVector):
        def terms(self, values: Any) -> Any:
            return values, 1.0

        def finish(self, total: Any, count: Any) -> Any:
            return np.stack([total, total / count])

    two = Two([1.0, 2.0])
    two.labels = labels
    with pytest.raises(kind, match=f"^{message}"):
        fb.bootstrap(two, rng=0)


def test_combine__statistics_of_many_sums() -> None:
    """BLEU and chrF, which take any number of sums, say how many they have."""
    texts = (
        ["the cat sat on the mat", "a dog barked at the moon today"],
        ["the cat sat on a mat"] * 2,
    )
    bleu, chrf = fb.bleu(fb.text.bleu_counts(*texts)), fb.chrf(fb.text.chrf_counts(*texts))
    both = combine(harmonic, bleu, chrf)
    result = fb.bootstrap(both, rng=0, n_resamples=50)
    parts = [fb.bootstrap(part, rng=0, n_resamples=50, path=result.path) for part in (bleu, chrf)]
    assert result.estimate == pytest.approx(harmonic(*(part.estimate for part in parts)))
