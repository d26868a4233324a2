"""Any Python function as a statistic: the same figures as a statistic of sums or of weights."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import fastboot as fb
from fastboot.statistics.function import statistic

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]

SEED = 31
N = 60
N_RESAMPLES = 50
EPSILON = 2.0**-52
# Calls for the rows as they are: for the estimate, and for the size of its rounding errors.
OF_THE_SAMPLE = 2
# P5 of the design: Ctrl-C within 0.5 s.
SECONDS_TO_STOP = 0.5


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """Scores, classes and documents of unequal length."""
    rng = np.random.default_rng(SEED)
    score = rng.normal(size=N)
    gold = np.where(rng.random(N) < 0.5, "yes", "no")
    return {
        "score": score,
        "other": score + rng.normal(size=N),
        "gold": gold.tolist(),
        "predicted": np.where(rng.random(N) < 0.8, gold, "no").tolist(),
        "relevant": rng.integers(0, 2, N),
        "half": np.resize(["u", "v"], N).tolist(),
        "document": np.repeat(np.arange(12), [1, 9, 2, 8, 3, 7, 4, 6, 5, 5, 5, 5]),
    }


def of(function: Callable[..., Any], *columns: Any, **options: Any) -> fb.Weighted:
    """Return the statistic under test."""
    return statistic(function, *columns, **options)


def auc(relevant: Floats, score: Floats) -> float:
    """Return the area, undefined with one class only."""
    return math.nan if len(set(relevant.tolist())) < 2 else float(roc_auc_score(relevant, score))


def balanced(gold: NDArray[Any], predicted: NDArray[Any], axis: int) -> Any:
    """Return the mean recall of two classes."""
    right = gold == predicted
    both = [gold == "yes", gold == "no"]
    return sum((right & own).sum(axis=axis) / own.sum(axis=axis) for own in both) / 2


LABELS = (fb.Column("gold", "label"), fb.Column("predicted", "label"))
# The function, and the counterpart whose replicates it must have. Of 60 values, one of each draw's
# sums in another order: 60 roundings of sums of at most 60 x 3, and a division, on either side.
PAIRS: dict[str, tuple[fb.Weighted, Any]] = {
    "mean": (of(np.mean, "score"), fb.mean("score")),
    "mean, vectorized": (of(np.mean, "score", vectorized=True), fb.mean("score")),
    "median": (of(np.median, "score"), fb.median("score")),
    "median, vectorized": (of(np.median, "score", vectorized=True), fb.median("score")),
    "roc_auc": (of(auc, "relevant", "score"), fb.roc_auc("relevant", "score")),
    "labels": (of(balanced_accuracy_score, *LABELS), fb.balanced_accuracy("gold", "predicted")),
    "labels, vectorized": (
        of(balanced, *LABELS, vectorized=True), fb.balanced_accuracy("gold", "predicted"),
    ),
}  # fmt: skip
every_pair = pytest.mark.parametrize("pair", PAIRS)
DESIGNS: dict[str, dict[str, Any]] = {
    "rows": {"path": "rows"},
    "patterns": {"path": "weights"},
    "groups": {"groups": "document"},
    "strata": {"strata": "gold"},
    "n_drawn": {"n_drawn": 25},
    "poisson": {"scheme": "poisson"},
    "nested": {"groups": "document", "levels": "nested"},
    "blocks": {"scheme": "moving", "block_length": 5},
}


@every_pair
@pytest.mark.parametrize("design", DESIGNS)
def test_statistic__counterpart(table: dict[str, Any], pair: str, design: str) -> None:
    """Every replicate is that of the statistic of sums or of weights, in every design."""
    options: dict[str, Any] = DESIGNS[design] | {
        "data": table, "rng": SEED, "n_resamples": N_RESAMPLES,
    }  # fmt: skip
    ours, theirs = (fb.bootstrap(one, **options) for one in PAIRS[pair])
    tolerance = 2 * 62 * EPSILON * 3.0
    assert ours.replicates == pytest.approx(theirs.replicates, rel=0.0, abs=tolerance)
    assert ours.estimate == pytest.approx(theirs.estimate, rel=0.0, abs=tolerance)
    assert len(set(ours.replicates.tolist())) > 5


@every_pair
def test_statistic__slices(table: dict[str, Any], pair: str) -> None:
    """Slices have the answers of the counterpart."""
    ours, theirs = (
        fb.bootstrap(one, data=table, by="half", rng=SEED, n_resamples=20) for one in PAIRS[pair]
    )
    tolerance = 2 * 62 * EPSILON * 3.0
    for key in ("u", "v"):
        assert ours[key].replicates == pytest.approx(
            theirs[key].replicates, rel=0.0, abs=tolerance, nan_ok=True
        )


def test_statistic__whole_row_weights(table: dict[str, Any]) -> None:
    """Row weights that are whole repeat their rows."""
    weights = np.resize([2, 0, 1], N)
    result = fb.bootstrap(
        of(np.median, "score"), data=table, weights=weights, rng=SEED, n_resamples=N_RESAMPLES
    )
    expected = fb.bootstrap(
        fb.median("score"), data=table, weights=weights, rng=SEED, n_resamples=N_RESAMPLES
    )
    assert result.replicates == pytest.approx(expected.replicates, rel=0.0, abs=8 * EPSILON * 3.0)


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("groups", [None, "document"])
def test_statistic__several_values(
    table: dict[str, Any], groups: str | None, *, vectorized: bool
) -> None:
    """A function with several values answers with a table, one result for each label."""

    def ends(score: Floats, axis: int = -1) -> list[Any]:
        return [score.min(axis=axis), score.max(axis=axis)]

    found: Any = fb.bootstrap(
        of(ends, "score", vectorized=vectorized, labels=["low", "high"]),
        data=table, groups=groups, rng=SEED, n_resamples=N_RESAMPLES,
    )  # fmt: skip
    expected: Any = fb.bootstrap(
        {"low": fb.minimum("score"), "high": fb.maximum("score")},
        data=table, groups=groups, rng=SEED, n_resamples=N_RESAMPLES,
    )  # fmt: skip
    assert list(found) == ["low", "high"]
    for label in found:
        assert found[label].replicates.tolist() == expected[label].replicates.tolist()
        assert found[label].estimate == expected[label].estimate
        assert found[label].statistic == f"ends[{label}]"


def test_statistic__nullable_labels() -> None:
    """A missing label of a nullable column is None, not some other label."""
    seen: list[Any] = []

    def count(labels: NDArray[Any]) -> float:
        seen.append(labels.tolist())
        return 0.0

    column = fb.Column(["x", None, "y"], "label", nullable=True)
    fb.bootstrap(of(count, column), rng=0, n_resamples=5)
    assert seen[0] == ["x", None, "y"]
    assert all(set(labels) <= {"x", "y", None} for labels in seen)


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("labels", [None, ["least", "again"]])
def test_statistic__no_row_drawn(labels: list[str] | None, *, vectorized: bool) -> None:
    """Poisson counts that are all 0 are undefined; the function is not asked."""

    def least(values: Floats, axis: int = -1) -> Any:
        smallest = values.min(axis=axis)  # fails without rows
        return smallest if labels is None else np.stack([smallest, smallest])

    values = [5.0, 7.0]
    with pytest.warns(RuntimeWarning, match="undefined in"):
        found: Any = fb.bootstrap(
            of(least, values, vectorized=vectorized, labels=labels),
            scheme="poisson", rng=SEED, n_resamples=N_RESAMPLES,
        )  # fmt: skip
    with pytest.warns(RuntimeWarning, match="undefined in"):
        expected = fb.bootstrap(
            fb.minimum(values), scheme="poisson", rng=SEED, n_resamples=N_RESAMPLES
        )
    for one in [found] if labels is None else found.values():
        np.testing.assert_array_equal(one.replicates, expected.replicates)
        assert one.n_undefined > 0


@pytest.mark.parametrize("vectorized", [False, True])
def test_statistic__threads(table: dict[str, Any], *, vectorized: bool) -> None:
    """Several threads call the function, and the answer is that of one."""
    threads: set[int] = set()

    def slow_mean(values: Floats, axis: int = -1) -> Any:
        threads.add(threading.get_ident())
        time.sleep(1e-3)
        return values.mean(axis=axis)

    alone, together = (
        fb.bootstrap(
            of(slow_mean, "score", vectorized=vectorized),
            data=table, groups="document", rng=SEED, n_resamples=300, n_threads=n_threads,
        )
        for n_threads in (1, 3)
    )  # fmt: skip
    assert alone.replicates.tolist() == together.replicates.tolist()


def test_statistic__called_by_threads() -> None:
    """Two threads call the function where two are given."""
    threads: set[int] = set()
    calls: list[int] = []
    two = threading.Event()

    def meet(values: Floats) -> float:
        threads.add(threading.get_ident())
        calls.append(1)
        if len(threads) == 2:
            two.set()
        elif len(calls) > OF_THE_SAMPLE:
            two.wait(10.0)
        return float(values.mean())

    fb.bootstrap(of(meet, np.arange(5_000.0)), rng=0, n_resamples=400, n_threads=2)
    assert two.is_set()
    assert len(calls) == 400 + OF_THE_SAMPLE


@pytest.mark.parametrize("n", [100, 2_000, 200_000])
def test_statistic__bounded_batches(n: int) -> None:
    """A batch holds 2**17 values (1 MB), or one replicate if that is more; of few rows, 1,024."""
    sizes: list[int] = []

    def mean(values: Floats, axis: int) -> Any:
        sizes.append(values.size)
        return values.mean(axis=axis)

    n_resamples = 20 if n > 10_000 else 3_000
    values = np.random.default_rng(SEED).random(n)
    fb.bootstrap(of(mean, values, vectorized=True), rng=0, n_resamples=n_resamples, n_threads=1)
    # 2**11 bytes more for the one cell.
    assert max(sizes) <= max(n, (2**20 + 2**11) // 8)
    assert sum(sizes) == n * (n_resamples + OF_THE_SAMPLE)


# What the function does wrong


class _RefusedError(Exception):
    """An exception of the user's own."""


@pytest.mark.parametrize("n_threads", [1, 2])
def test_statistic__exception(n_threads: int) -> None:
    """The exception is the function's own, with a note that names the replicate."""
    values = np.arange(40.0)
    found = fb.bootstrap(of(np.mean, values), rng=SEED, n_resamples=200)
    worst = int(np.argmax(found.replicates))
    limit = found.replicates[worst]
    error = _RefusedError("too large")

    def refuse(drawn: Floats) -> float:
        if drawn.mean() >= limit:
            raise error
        return 0.0

    with pytest.raises(_RefusedError, match="too large") as caught:
        fb.bootstrap(of(refuse, values), rng=SEED, n_resamples=200, n_threads=n_threads)
    assert caught.value is error
    assert error.__notes__ == [f"refuse, in replicate {worst}"]


def test_statistic__exception_of_the_sample() -> None:
    """What already fails for the rows as they are does not blame a replicate."""

    def refuse(_: Floats) -> float:
        raise _RefusedError

    with pytest.raises(_RefusedError) as caught:
        fb.bootstrap(of(refuse, [1.0, 2.0]), rng=SEED)
    assert caught.value.__notes__ == ["refuse, of the rows given, not of a resample"]


def test_statistic__exception_vectorized() -> None:
    """A batch has one note, with its first and last replicate."""

    def refuse(drawn: Floats, axis: int) -> Any:
        if len(drawn) > 1:
            raise _RefusedError
        return drawn.mean(axis=axis)

    values = np.arange(1_000.0)
    with pytest.raises(_RefusedError) as caught:
        fb.bootstrap(of(refuse, values, vectorized=True), rng=SEED, n_resamples=50, n_threads=1)
    # One thread takes four ranges: 50 replicates make ranges of 12 and 13.
    assert caught.value.__notes__ == ["refuse, in replicate 0 or up to 11"]


@pytest.mark.parametrize(
    "returned, options, message",
    [
        ("much", {}, r"answer returned str; return one number"),
        (None, {}, r"answer returned NoneType; return one number"),
        ([1.0, 2.0], {}, r"answer returned shape \(2,\); return one number"),
        ([1.0, "x"], {}, r"answer returned list; return one number"),
        # NumPy would make numbers of these.
        ("1.5", {}, r"answer returned str; return one number"),
        (np.array("1.5", object), {}, r"answer returned an array of object; return one number"),
        (1j, {}, r"answer returned complex; return one number"),
        (np.complex64(1.0), {}, r"answer returned complex64; return one number"),
        (np.datetime64("2026-01-01"), {}, r"answer returned datetime64; return one number"),
        (np.timedelta64(3, "s"), {}, r"answer returned timedelta64; return one number"),
        (
            np.array([1.0, 2j]), {"labels": ["a", "b"]},
            r"answer returned an array of complex128; return shape \(2,\)",
        ),
        (1.0, {"labels": ["a", "b"]}, r"answer returned shape \(\); return shape \(2,\)"),
        ([1.0], {"labels": ["a", "b"]}, r"answer returned shape \(1,\); return shape \(2,\)"),
        (1.0, {"vectorized": True}, r"answer returned shape \(\); return shape \(1,\)"),
        ([1.0, 2.0], {"vectorized": True}, r"answer returned shape \(2,\); return shape \(1,\)"),
        (
            [1.0, 2.0], {"vectorized": True, "labels": ["a", "b"]},
            r"answer returned shape \(2,\); return shape \(2, 1\)",
        ),
    ],
)  # fmt: skip
def test_statistic__wrong_return(returned: Any, options: dict[str, Any], message: str) -> None:
    """What is no number, or of another shape, is refused with the shape that is wanted."""

    def answer(*_: Any, **__: Any) -> Any:
        return returned

    with pytest.raises(TypeError, match=rf"^{message}(\nanswer, of the rows given.*)?$"):
        fb.bootstrap(of(answer, [1.0, 2.0, 3.0], **options), rng=0)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_statistic__undefined(value: float) -> None:
    """Values that are not finite are undefined, and counted."""

    def answer(drawn: Floats) -> float:
        return value if drawn.min() > 1.0 else 1.0

    with pytest.warns(RuntimeWarning, match="undefined in"):
        result = fb.bootstrap(of(answer, [1.0, 2.0, 3.0]), rng=0, n_resamples=200)
    drawn = fb.bootstrap(fb.minimum([1.0, 2.0, 3.0]), rng=0, n_resamples=200, path="weights")
    undefined = np.isnan(result.replicates)
    np.testing.assert_array_equal(undefined, drawn.replicates > 1.0)
    assert result.n_undefined == undefined.sum() > 0


@pytest.mark.parametrize("options", [{"scheme": "bayesian"}, {"weights": [0.5, 1.0, 1.0]}])
@pytest.mark.parametrize("vectorized", [False, True])
def test_statistic__needs_whole_rows(options: dict[str, Any], *, vectorized: bool) -> None:
    """Weights that are not whole cannot be drawn rows."""
    with pytest.raises(TypeError, match=r"^mean is a function of rows") as caught:
        fb.bootstrap(of(np.mean, [1.0, 2.0, 3.0], vectorized=vectorized), rng=0, **options)
    assert str(caught.value) == (
        "mean is a function of rows, which are drawn a whole number of times; "
        'scheme="bayesian" and weights= need a statistic of weights, such as fb.mean'
    )


@pytest.mark.parametrize(
    "arguments, options, kind, message",
    [
        (("score",), {}, TypeError, r"`function` is 'score'; give something that can be called"),
        ((np.mean,), {}, TypeError, r"statistic\(mean\) names no column; give at least one"),
        (
            (np.mean, "x"), {"labels": []}, ValueError,
            r"`labels` is empty; name each value, or leave it None for one value",
        ),
        ((np.mean, "x"), {"labels": 2}, TypeError, r"`labels` is 2; give a list of labels"),
        ((np.mean, "x"), {"labels": "ab"}, TypeError, r"`labels` is 'ab'; give a list of labels"),
        (
            (np.mean, "x"), {"labels": ["x", "y", "x"]}, ValueError,
            r"`labels` has 'x' more than once; give each label once",
        ),
        (
            (np.mean, "x"), {"labels": [1, True]}, ValueError,
            r"`labels` has 1 more than once; give each label once",
        ),
        (
            (np.mean, "x"), {"labels": [1, ([2],)]}, TypeError,
            r"`labels\[1\]` is \(\[2\],\); give one label: a string, a number or a boolean",
        ),
    ],
)  # fmt: skip
def test_statistic__refused(
    arguments: tuple[Any, ...], options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    """Wrong arguments are refused by name, when the statistic is made."""
    with pytest.raises(kind, match=f"^{message}$"):
        statistic(*arguments, **options)


@pytest.mark.parametrize(
    "listed",
    [np.array(["a", "b"]), pa.array(["a", "b"]), pa.chunked_array([["a"], ["b"]]), iter("ab")],
)
def test_statistic__lists_of_labels(listed: Any) -> None:
    """Values are called by Python values, whatever holds them."""
    extremes = statistic(lambda drawn: [drawn.min(), drawn.max()], [1.0, 2.0, 3.0], labels=listed)
    result: Any = fb.bootstrap(extremes, rng=0, n_resamples=9)
    assert [result["a"].estimate, result["b"].estimate] == [1.0, 3.0]


def test_statistic__column_is_named() -> None:
    """A column that cannot be used is called by its place."""
    with pytest.raises(ValueError, match=r"^`mean, column 1` has 1 NaN \(first at row 1\)"):
        fb.bootstrap(of(np.mean, [1.0, math.nan]), rng=0)


def test_statistic__names() -> None:
    """A statistic is called by its function, its class, or as asked."""

    class Spread:
        def __call__(self, values: Floats) -> float:
            return float(np.ptp(values))

    assert statistic(np.ptp, "x").name == "ptp"
    assert statistic(Spread(), "x").name == "Spread"
    assert statistic(np.ptp, "x", name="range").name == "range"


# Through the procedures


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_statistic__acceleration(method: str) -> None:
    """BCa has the exact jackknife, computed by calling the function; others do not pay for it."""
    values = np.random.default_rng(SEED).lognormal(size=80)

    def spread(drawn: Floats) -> float:
        return float(drawn.std() / drawn.mean())

    result = fb.bootstrap(of(spread, values), rng=SEED, n_resamples=99, method=method)
    if method == "percentile":
        assert result.acceleration is None
        return
    left_out = np.array([spread(np.delete(values, i)) for i in range(80)])
    d = left_out.mean() - left_out
    # Efron 1987; of rows in the same order, the calls are the same: only the sums of powers round.
    expected = (d**3).sum() / (6.0 * (d**2).sum() ** 1.5)
    assert result.acceleration == pytest.approx(expected, rel=1e-9)


def test_statistic__comparisons(table: dict[str, Any]) -> None:
    """Paired tests of a function are those of its counterpart."""
    for procedure in (fb.paired_bootstrap, fb.approximate_randomization):
        ours: Any = procedure(
            of(np.median, "score"), of(np.median, "other"), data=table, rng=SEED, n_resamples=200
        )
        theirs: Any = procedure(
            fb.median("score"), fb.median("other"), data=table, rng=SEED, n_resamples=200
        )
        # Two medians on each side, each a sum of two values and a half.
        tolerance = 4 * 3 * EPSILON * 5.0
        assert ours.replicates == pytest.approx(theirs.replicates, rel=0.0, abs=tolerance)
        assert ours.estimate == pytest.approx(theirs.estimate, rel=0.0, abs=tolerance)
        assert ours.pvalue == theirs.pvalue


def test_statistic__progress() -> None:
    """Progress is told after every replicate, and ends at the total."""
    told: list[tuple[int, int]] = []

    def slow(drawn: Floats) -> float:
        time.sleep(2e-4)
        return float(drawn.mean())

    values = np.random.default_rng(0).random(10_000)
    fb.bootstrap(
        of(slow, values), rng=0, n_resamples=300, n_threads=1,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told[-1] == (300, 300)
    # At most 13 replicates of 10,000 rows in a batch.
    assert len(told) >= 300 / 13


# A run of minutes in a process of its own. It says when it works, and how it ended.
LONG_RUN = """
import itertools, json, sys, threading, time
import numpy as np
import fastboot as fb

before = threading.enumerate()
calls = itertools.count()

def slow(values):
    if next(calls) == 5:
        print("working", flush=True)
    time.sleep(0.01)
    return values.mean()

values = np.random.default_rng(0).random(int(sys.argv[2]))
try:
    fb.bootstrap(fb.statistic(slow, values), rng=0, n_resamples=100_000, n_threads=int(sys.argv[1]))
except KeyboardInterrupt:
    stopped = time.monotonic()
    print(json.dumps([stopped, threading.enumerate() == before]), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_rows", [100, 100_000])
def test_statistic__interrupt(n_threads: int, n_rows: int) -> None:
    """Ctrl-C ends a run of a slow function (10 ms) in time, and leaves no thread."""
    delays: list[float] = []
    # Other work on the machine may delay one answer; three in a row are the library's delay.
    while len(delays) < 3 and min(delays, default=SECONDS_TO_STOP) >= SECONDS_TO_STOP:
        words = [sys.executable, "-c", LONG_RUN, str(n_threads), str(n_rows)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "working\n"
            time.sleep(0.3)
            sent = time.monotonic()  # one clock for all processes
            child.send_signal(signal.SIGINT)
            stopped, no_thread_left = json.loads(child.stdout.readline())
        assert no_thread_left
        delays.append(stopped - sent)
    assert min(delays) < SECONDS_TO_STOP
