"""Log loss, Brier score, calibration error and reliability table."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from sklearn import calibration, metrics

import fastboot as fb
from fastboot import reference
from fastboot.statistics.combination import combine
from fastboot.statistics.probability import (
    brier_score,
    calibration_error,
    log_loss,
    reliability_table,
)

FEW: dict[str, Any] = {"rng": 0, "n_resamples": 9}
SEED = 11
N_ROWS = 120
LABELS = ("eggs", "ham", "spam")
# Means of up to 1,000 terms, none beyond 36.1: each term is rounded a few times to 1.1e-16 of
# itself, and their pairwise sum some ten times more.
ROUNDING = 1e-13


def near(expected: Any) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


def observed(statistic: fb.Additive, **options: Any) -> float:
    """Return the observed value."""
    result: fb.BootstrapResult = fb.bootstrap(statistic, **FEW, **options)
    return result.estimate


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(2_026)


@pytest.fixture
def binary(rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Gold labels 0 and 1, and scores on which they depend."""
    score = rng.beta(0.4, 0.6, N_ROWS)
    return (rng.random(N_ROWS) < score**2).astype(np.int64), score


@pytest.fixture
def three(rng: np.random.Generator) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """Gold labels of three classes, and their probabilities, shape (n_rows, 3)."""
    score = rng.dirichlet([0.5, 0.3, 0.7], N_ROWS)
    return rng.choice(LABELS, N_ROWS), score


# Row by row, in plain Python.


def plain_log_loss(gold: Sequence[int], score: Sequence[Sequence[float]]) -> float:
    """Probabilities of this data are inside the bounds of clipping."""
    return math.fsum(-math.log(p[k]) for k, p in zip(gold, score, strict=True)) / len(gold)


def plain_brier_score(gold: Sequence[int], score: Sequence[Sequence[float]]) -> float:
    """Sum over classes."""
    rows = zip(gold, score, strict=True)
    return math.fsum((q - (k == j)) ** 2 for k, p in rows for j, q in enumerate(p)) / len(gold)


def plain_calibration_error(right: Sequence[bool], confidence: Sequence[float]) -> float:
    """Bin by bin: share of rows, times accuracy against mean confidence."""
    total = 0.0
    for k in range(10):
        inside = [
            (float(hit), c)
            for hit, c in zip(right, confidence, strict=True)
            if k / 10 < c <= (k + 1) / 10 or (k == 0 and c == 0.0)
        ]
        if inside:
            accuracy, mean = (math.fsum(x) / len(inside) for x in zip(*inside, strict=True))
            total += len(inside) / len(right) * abs(accuracy - mean)
    return total


def plain_top(gold: Sequence[int], score: Sequence[Sequence[float]]) -> float:
    """Top-label calibration error."""
    right = [p.index(max(p)) == k for k, p in zip(gold, map(list, score), strict=True)]
    return plain_calibration_error(right, [max(p) for p in score])


def plain_positive(gold: Sequence[int], score: Sequence[Sequence[float]]) -> float:
    """Calibration error of the second class."""
    return plain_calibration_error([k == 1 for k in gold], [p[1] for p in score])


# Against the library that people trust.


def test_log_loss__scikit_learn(binary: Any, three: Any) -> None:
    """Two classes and three."""
    gold, score = binary
    assert observed(log_loss(gold, score)) == near(metrics.log_loss(gold, score))
    assert observed(log_loss(1 - gold, score, pos_label=0)) == near(metrics.log_loss(gold, score))
    gold, score = three
    expected = metrics.log_loss(gold, score, labels=LABELS)
    assert observed(log_loss(gold, score, labels=LABELS)) == near(expected)


def test_log_loss__certain() -> None:
    """Probabilities of exactly 0 and 1 are clipped as scikit-learn does."""
    gold, score = [1, 0, 1, 0, 1], [1.0, 0.0, 0.0, 1.0, 0.5]
    expected = metrics.log_loss(gold, score)
    assert observed(log_loss(gold, score)) == near(expected)
    table = np.column_stack([1.0 - np.array(score), score])
    assert observed(log_loss(gold, table, labels=[0, 1])) == near(expected)
    assert observed(log_loss([1], [0.0])) == near(-math.log(2.0**-52))


def test_log_loss__small_scores() -> None:
    """The loss of a small score keeps its digits."""
    # log1p(x) = x to 1e-12 of itself.
    assert observed(log_loss([0, 0], [1e-12, 1e-12])) == pytest.approx(1e-12, rel=2e-12, abs=0.0)


def test_brier_score__scikit_learn(binary: Any, three: Any) -> None:
    """Both conventions, of two classes and of three."""
    gold, score = binary
    for half in (False, True):
        expected = metrics.brier_score_loss(gold, score, scale_by_half=half)
        assert observed(brier_score(gold, score, scale_by_half=half)) == near(expected)
    gold, score = three
    for half in (False, True):
        expected = metrics.brier_score_loss(gold, score, labels=LABELS, scale_by_half=half)
        statistic = brier_score(gold, score, labels=LABELS, scale_by_half=half)
        assert observed(statistic) == near(expected)


@pytest.mark.parametrize("n_bins", [1, 5, 10, 15])
def test_calibration_error__scikit_learn(n_bins: int, binary: Any) -> None:
    """The curve of scikit-learn, weighted by the rows of its bins."""
    gold, score = binary
    accuracy, confidence = calibration.calibration_curve(gold, score, n_bins=n_bins)
    # These scores are on no edge, so either side of a bin may be closed.
    counts = np.histogram(score, bins=n_bins, range=(0.0, 1.0))[0]
    expected = counts[counts > 0] @ np.abs(accuracy - confidence) / gold.size
    assert observed(calibration_error(gold, score, n_bins=n_bins)) == near(expected)


@pytest.mark.parametrize(
    "statistic, value",
    [
        # 0.3 ends bin 3 and 0.0 starts bin 1: all four scores are in other bins.
        (calibration_error([1, 1, 0, 0], [0.0, 0.3, 0.35, 1.0]), (1.0 + 0.7 + 0.35 + 1.0) / 4),
        # One bin: over and under cancel.
        (calibration_error([1, 0], [0.0, 1.0], n_bins=1), 0.0),
        # Top label: (0.6, right), (0.7, wrong) and (0.5, right: the first of equals).
        (calibration_error([0, 1, 0], np.array([[0.6, 0.4], [0.7, 0.3], [0.5, 0.5]]),
                           labels=[0, 1], n_bins=1), abs(2 - 0.6 - 0.7 - 0.5) / 3),
        # Positive label: scores 0.4, 0.3, 0.5 share the lower bin.
        (calibration_error([0, 1, 0], [0.4, 0.3, 0.5], n_bins=2), abs(1 - 1.2) / 3),
        (brier_score([1, 0], [0.75, 0.5]), 2 * (0.0625 + 0.25) / 2),
        # Against the rest: 1 is "ham", and "eggs" and "spam" are 0.
        (brier_score(["eggs", "ham", "spam"], [0.5, 1.0, 0.5], pos_label="ham"), 2 * 0.5 / 3),
        (brier_score(["b", "a"], [[0.5, 0.75], [0.5, 0.25]], labels=["a", "b"]),
         (0.5 + 2 * 0.0625) / 2),
        (log_loss([2, 2], [[0.5, 0.25], [0.25, 0.25], [0.25, 0.5]], labels=[1, 2, 3]),
         math.log(4)),
        # A gold column of one label: 0 or 1 says enough.
        (log_loss([0, 0], [0.5, 0.5]), math.log(2)),
        (log_loss([True], [0.5], pos_label=0), math.log(2)),
    ],
)  # fmt: skip
def test_statistic__value(statistic: fb.Additive, value: float) -> None:
    """Worked by hand."""
    assert observed(statistic) == near(value)


def test_labels__order(three: Any) -> None:
    """Columns belong to labels in the order given, and a label may be absent from gold."""
    gold, score = three
    for statistic in (log_loss, brier_score, calibration_error):
        expected = observed(statistic(gold, score, labels=LABELS))
        turned = statistic(gold, score[:, ::-1], labels=LABELS[::-1])
        assert observed(turned) == near(expected)
        more = statistic(gold, [*score.T, np.zeros(N_ROWS)], labels=[*LABELS, "toast"])
        assert observed(more) == near(expected)


def test_score__sources(three: Any) -> None:
    """Names of columns, a list of arrays, an array and a frame are the same."""
    gold, score = three
    table = {"gold": gold} | dict(zip(LABELS, score.T, strict=True))
    for statistic in (log_loss, brier_score, calibration_error):
        expected = observed(statistic(gold, score, labels=LABELS))
        assert observed(statistic("gold", LABELS, labels=LABELS), data=table) == expected
        assert observed(statistic(gold, list(score.T), labels=LABELS)) == expected
        assert observed(statistic(gold, score.T.tolist(), labels=np.array(LABELS))) == expected
        assert observed(statistic(gold, pd.DataFrame(score), labels=LABELS)) == expected


def test_two_classes__as_columns(binary: Any) -> None:
    """Two columns give the log loss and Brier score of one; the calibration error is another."""
    gold, score = binary
    columns = [1.0 - score, score]
    for statistic in (log_loss, brier_score):
        expected = observed(statistic(gold, score))
        assert observed(statistic(gold, columns, labels=[0, 1])) == near(expected)
    rows = np.column_stack(columns).tolist()
    assert observed(calibration_error(gold, columns, labels=[0, 1])) == near(plain_top(gold, rows))
    assert observed(calibration_error(gold, score)) == near(plain_positive(gold, rows))


def test_score__float32(three: Any) -> None:
    """Probabilities in float32 sum to 1 within the tolerance."""
    gold, score = three
    rounded = score.astype(np.float32)
    expected = observed(log_loss(gold, rounded.astype(np.float64), labels=LABELS))
    assert observed(log_loss(gold, rounded, labels=LABELS)) == expected
    assert observed(log_loss([0], [[0.5], [0.5003]], labels=[0, 1])) == near(math.log(2))


# Against the reference, and in the procedures.

CASES: dict[str, tuple[Callable[..., fb.Additive], Callable[..., float], bool]] = {
    "log_loss": (log_loss, plain_log_loss, False),
    "log_loss, labels": (log_loss, plain_log_loss, True),
    "brier_score": (brier_score, plain_brier_score, False),
    "brier_score, labels": (brier_score, plain_brier_score, True),
    "calibration_error": (calibration_error, plain_positive, False),
    "calibration_error, labels": (calibration_error, plain_top, True),
}


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("path", ["rows", "patterns", "weights"])
@pytest.mark.parametrize("case", CASES)
def test_replicates__reference(
    case: str, path: str, grouped: bool, binary: Any, three: Any, rng: np.random.Generator
) -> None:
    """Every replicate is the statistic of the rows drawn."""
    make, plain, with_labels = CASES[case]
    if with_labels:
        gold, score = three
        statistic = make(gold, score, labels=LABELS)
        codes = np.array([LABELS.index(label) for label in gold])
    else:
        codes, one = binary
        statistic = make(codes, one)
        score = np.column_stack([1.0 - one, one])
    documents = np.sort(rng.integers(0, 40, N_ROWS)) if grouped else None
    n_units = N_ROWS if documents is None else len(set(documents.tolist()))
    result = fb.bootstrap(statistic, groups=documents, rng=SEED, n_resamples=20, path=path)

    expected = []
    for r in range(20):
        rows = reference.bootstrap_rows(n_units, SEED, r, path)  # type: ignore[arg-type] # checked word
        if documents is not None:
            rows = reference.rows_of(rows, documents.tolist())
        expected.append(plain(codes[rows].tolist(), score[rows].tolist()))

    assert result.replicates.tolist() == near(expected)
    # Sums by bin are added to by weight; these are the draws of the patterns.
    by_bin = case.startswith("calibration") and path == "patterns"
    assert result.path == ("weights" if by_bin else path)


@pytest.mark.parametrize("make", [log_loss, brier_score, calibration_error])
def test_pair__better_system_wins(make: Any, rng: np.random.Generator) -> None:
    """A system that knows the odds beats one that overstates them, and ties with its equal."""
    odds = rng.beta(2.0, 2.0, 1_000)
    gold = (rng.random(1_000) < odds).astype(np.int64)
    good, bad = make(gold, odds), make(gold, np.where(odds > 0.5, 0.999, 0.001))
    bootstrap = fb.paired_bootstrap(good, bad, rng=0, n_resamples=999)
    swaps = fb.approximate_randomization(good, bad, rng=0, n_resamples=999)
    assert bootstrap.estimate == swaps.estimate < 0.0
    assert bootstrap.pvalue == swaps.pvalue == 1 / 1_000
    same = fb.approximate_randomization(good, make(gold, odds), rng=0, n_resamples=999)
    assert same.pvalue == 1.0


@pytest.mark.parametrize("make", [log_loss, brier_score])
def test_pair__fused(make: Any, binary: Any, rng: np.random.Generator) -> None:
    """A difference of two means is the mean of the differences."""
    gold, score = binary
    other = rng.random(N_ROWS)
    terms = [make(gold, p).terms(fb.Labels(gold, (0, 1)), p)[0] for p in (score, other)]
    result = fb.paired_bootstrap(make(gold, score), make(gold, other), rng=0)
    expected = fb.bootstrap(terms[0] - terms[1], rng=0)
    assert result.replicates.tolist() == near(expected.replicates.tolist())


def test_names__tell_conventions_apart() -> None:
    """Scores of two conventions are not swapped with each other."""
    gold, score = [1, 0], [0.75, 0.25]
    half = brier_score(gold, score, scale_by_half=True)
    few = calibration_error(gold, score, n_bins=2)
    top = calibration_error(gold, [score, score[::-1]], labels=[1, 0])
    assert half.name == "brier_score(scale_by_half)"
    assert few.name == "calibration_error(n_bins=2)"
    assert top.name == "top_label_calibration_error"
    for a, b in [(brier_score(gold, score), half), (calibration_error(gold, score), top)]:
        with pytest.raises(TypeError, match="so both must be the same"):
            fb.approximate_randomization(a, b)


def test_combine__all_three(binary: Any) -> None:
    """Functions of these statistics are statistics."""
    parts = [make(*binary) for make in (calibration_error, log_loss, brier_score)]
    expected = observed(parts[0]) + 10.0 * observed(parts[1]) + 100.0 * observed(parts[2])
    together = combine(lambda x, y, z: x + 10.0 * y + 100.0 * z, *parts)
    assert observed(together) == near(expected)


@pytest.mark.parametrize("with_labels", [False, True])
def test_reliability_table__sums_to_the_error(with_labels: bool, binary: Any, three: Any) -> None:
    """Shares of rows times gaps; a table of named columns gives the same."""
    gold, score = three if with_labels else binary
    options: dict[str, Any] = {"labels": LABELS} if with_labels else {}
    for n_bins in (1, 7, 10):
        table = reliability_table(gold, score, n_bins=n_bins, **options)
        gaps = np.abs(table.accuracy - table.mean_confidence)
        error = np.nansum(table.count * gaps) / N_ROWS
        assert observed(calibration_error(gold, score, n_bins=n_bins, **options)) == near(error)
        assert table.count.sum() == N_ROWS
        filled = table.count > 0
        assert np.isnan(gaps).tolist() == (~filled).tolist()
        within = (table.low <= table.mean_confidence) & (table.mean_confidence <= table.high)
        assert within[filled].all()
    names = list(LABELS) if with_labels else "p"
    columns = score.T if with_labels else [score]
    data = {"gold": gold} | dict(zip(LABELS if with_labels else ["p"], columns, strict=True))
    named = reliability_table("gold", names, data=data, **options)
    assert repr(named) == repr(table)


def test_reliability_table__scikit_learn(binary: Any) -> None:
    """Accuracy and mean confidence are the two axes of scikit-learn's curve."""
    gold, score = binary
    accuracy, confidence = calibration.calibration_curve(gold, score, n_bins=10)
    table = reliability_table(gold, score)
    assert table.accuracy[table.count > 0].tolist() == near(accuracy.tolist())
    assert table.mean_confidence[table.count > 0].tolist() == near(confidence.tolist())


def test_reliability_table__empty_bins() -> None:
    """Empty bins are null in JSON and a dash on the screen; missing rows may be left out."""
    table = reliability_table([1, 0, 1], [0.5, 0.25, math.nan], n_bins=2, nan_policy="omit")
    assert table.to_json() == (
        '{"low": [0.0, 0.5], "high": [0.5, 1.0], "count": [2, 0], '
        '"mean_confidence": [0.375, null], "accuracy": [0.5, null]}'
    )
    assert repr(table).splitlines()[1].split() == ["[0,", "0.5]", "2", "0.375", "0.5"]
    assert repr(table).splitlines()[2].split() == ["(0.5,", "1]", "0", "-", "-"]


def test_reliability_table__refuses() -> None:
    """Missing values are in no bin."""
    with pytest.raises(ValueError, match=r"`score` has 1 NaN \(first at row 1\); pass nan_policy="):
        reliability_table([1, 0], [0.5, math.nan])
    message = 'nan_policy=\'propagate\': NaN is in no bin; choose "raise" or "omit"'
    with pytest.raises(ValueError, match=message):
        reliability_table([1, 0], [0.5, math.nan], nan_policy="propagate")
    with pytest.raises(ValueError, match="`n_bins` is 0; it must be a whole number, 1 or more"):
        reliability_table([1, 0], [0.5, 0.5], n_bins=0)


@pytest.mark.parametrize("make", [log_loss, brier_score, calibration_error])
def test_missing__propagates(make: Any) -> None:
    """A missing probability, also of a label that is not gold, makes the answer NaN on request."""
    columns = [[0.5, 0.25], [0.5, math.nan], [0.0, 0.5]]
    for statistic in (make([1, 0], [0.5, math.nan]), make([0, 2], columns, labels=[0, 1, 2])):
        assert math.isnan(observed(statistic, nan_policy="propagate"))
        assert math.isfinite(observed(statistic, nan_policy="omit"))


@pytest.mark.parametrize("make", [log_loss, brier_score, calibration_error])
def test_statistic__picklable(make: Any, binary: Any, three: Any) -> None:
    """Statistics travel to other processes."""
    for statistic in (make(*binary), make(*three, labels=LABELS)):
        copy = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
        assert observed(copy) == observed(statistic)


# Messages.


@pytest.mark.parametrize("make", [log_loss, brier_score, calibration_error])
@pytest.mark.parametrize(
    "score, labels, kind, message",
    [
        (np.ones((2, 2)), None, TypeError,
         "`score` has several columns; name the label of each with labels="),
        (["p", "q"], None, TypeError,
         "`score` has several columns; name the label of each with labels="),
        ([0.5, 0.5], [0, 1], TypeError,
         (r"`score` is one column but `labels` has 2; give a list of columns, or an array of shape "
         r"\(n_rows, 2\)")),
        ("p", [0, 1, 2], TypeError, r"is one column but `labels` has 3; .* \(n_rows, 3\)"),
        (["p"], [0, 1], ValueError,
         "`score` has 1 column but `labels` has 2; give one column for each label"),
        (np.ones((2, 3)), [0, 1], ValueError, "`score` has 3 columns but `labels` has 2;"),
        (["p"], [0], ValueError, "`labels` has 1 label; give two or more"),
        (["p", "q", "r"], ["x", "y", "x"], ValueError,
         "`labels` has 'x' more than once; give each label once"),
        (["p", "q"], [], ValueError, "`labels` is empty; give two or more"),
        (["p", "q"], 3, TypeError, "`labels` is 3; give a list of labels"),
        (["p", "q"], "xy", TypeError, "`labels` is 'xy'; give a list of labels"),
        (["p", "q"], ["x", ["y"]], TypeError,
         r"`labels\[1\]` is \['y'\]; give one label: a string, a number or a boolean"),
        (pl.DataFrame({"p": [0.5], "q": [0.5]}), None, TypeError,
         "`score` has several columns; name the label of each with labels="),
    ],
)  # fmt: skip
def test_score__arguments(
    make: Any, score: Any, labels: Any, kind: type[Exception], message: str
) -> None:
    """Columns that do not fit the labels are refused where the statistic is made."""
    with pytest.raises(kind, match=message):
        make([0, 1], score, labels=labels)


@pytest.mark.parametrize("make", [log_loss, brier_score, calibration_error])
@pytest.mark.parametrize(
    "gold, score, options, message",
    [
        ([0, 1, 0], [0.5, 1.5, -1.0], {}, (r"`score` has 2 values outside \[0, 1\] \(first at row "
         r"1: 1.5\); a probability is from 0 to 1")),
        ([0, 1], [[0.5, 1.0], [0.5, -0.25]], {"labels": [0, 1]}, (r"`score\[1\]` has 1 value "
         r"outside \[0, 1\] \(first at row 1: -0.25\)")),
        ([0, 1, 0], [[0.5, 0.5, 0.5], [0.5, 0.4, 0.501]], {"labels": [0, 1]}, ("`score` has 2 rows "
         r"whose probabilities do not sum to 1 \(first at row 1: 0.9\); divide them by their sum")),
        (["spam", "ham"], [0.5, 0.5], {}, ("`pos_label` is 1, which is not in `gold`; the labels "
         "are 'spam', 'ham'$")),
        ([0, 1], [0.5, 0.5], {"pos_label": 2}, "`pos_label` is 2, which is not in `gold`"),
        (list(range(2, 20)), [0.5] * 18, {}, "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...$"),
        (["x", "y", "y"], [[0.5] * 3, [0.5] * 3], {"labels": ["x", "z"]}, ("`gold` has 2 rows "
         r"whose label is not in `labels` \(first at row 1: 'y'\)")),
        ([0, 1], ["a", "b"], {"labels": [0, 1]}, r"`score\[0\]` names the column 'a' but no data="),
    ],
)  # fmt: skip
def test_statistic__data(
    make: Any, gold: Any, score: Any, options: dict[str, Any], message: str
) -> None:
    """Data that cannot mean what was asked is refused."""
    with pytest.raises(ValueError, match=message):
        observed(make(gold, score, **options))


@pytest.mark.parametrize("make", [log_loss, brier_score, calibration_error])
def test_score__tables(make: Any) -> None:
    """A table of any library has the column of each label, in order; so has a list of labels."""
    columns = {"p": [0.25, 0.5, 0.1], "q": [0.75, 0.5, 0.9]}
    gold, labels = ["x", "y", "y"], ["x", "y"]
    expected = observed(make(gold, list(columns.values()), labels=labels))
    for table in (pd.DataFrame, pl.DataFrame, pa.table, pa.RecordBatch.from_pydict):
        for listed in (labels, np.array(labels), pa.array(labels), iter(labels)):
            assert observed(make(gold, table(columns), labels=listed)) == expected
    missing = pl.DataFrame(columns | {"q": [0.75, None, 0.9]})
    with pytest.raises(ValueError, match=r"`score\[1\]` has 1 null \(first at row 1\)"):
        observed(make(gold, missing, labels=labels))


@pytest.mark.parametrize("make", [log_loss, brier_score, calibration_error])
@pytest.mark.parametrize("wrong", [[1], np.array([0, 1]), {"x": 1}])
def test_pos_label__one(make: Any, wrong: Any) -> None:
    """One label is positive."""
    with pytest.raises(TypeError, match=r"^`pos_label` is .*; give one label: a string, a number"):
        make([0, 1], [0.5, 0.5], pos_label=wrong)


@pytest.mark.parametrize("half", ["auto", 1, None])
def test_brier_score__scale_by_half(half: Any) -> None:
    """The convention does not depend on the number of classes."""
    with pytest.raises(TypeError, match=f"`scale_by_half` is {half!r}; it must be True or False"):
        brier_score([1], [0.5], scale_by_half=half)


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, True, "10"])
def test_calibration_error__n_bins(n_bins: Any) -> None:
    """The number of bins is a whole number."""
    with pytest.raises(ValueError, match=f"`n_bins` is {n_bins!r}; it must be a whole number, 1"):
        calibration_error([1], [0.5], n_bins=n_bins)
