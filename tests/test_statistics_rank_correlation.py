"""Rank correlations: against SciPy on the repeated rows."""

from __future__ import annotations

import math
import pickle
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

import fastboot as fb
from fastboot import reference
from fastboot.columns import load
from fastboot.statistics.rank_correlation import kendall, spearman
from fastboot.statistics.weighted import Weighted

SEED = 17
Floats = NDArray[np.float64]

STATISTICS: dict[str, tuple[Any, Any]] = {
    "spearman": (spearman, stats.spearmanr),
    "kendall": (kendall, stats.kendalltau),
}
each = pytest.mark.parametrize("name", STATISTICS)

# The first example compiles.
patient = settings(derandomize=True, deadline=None, max_examples=100)
# Of a few values, so that there are ties; x, y and how often each row is drawn.
rows = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        arrays(np.float64, n, elements=st.integers(-3, 3).map(float)),
        arrays(np.float64, n, elements=st.integers(-9, 9).map(lambda i: i / 7)),
        arrays(np.int64, n, elements=st.integers(0, 3)),
    )
)


def values(statistic: Weighted, *weights: Any) -> Floats:
    """Return the statistic of its own columns under each vector of weights."""
    loaded = load(statistic.columns, nan_policy="propagate").columns
    batch = np.array(weights, np.float64)
    batch.flags.writeable = False
    with np.errstate(all="ignore"):
        answer: Floats = statistic.values(statistic.prepare(*loaded), batch)
    return answer


def constant(column: Floats) -> bool:
    """Tell whether a correlation with it is undefined."""
    return np.unique(column).size < 2


def tolerance(n: int) -> float:
    """Bound the rounding of either side.

    Each of the three sums of n numbers of one sign errs by at most n roundings of 2^-53 of its own
    size, and that of products by as much of the geometric mean of the others; 4 for the rest.
    """
    return 2 * (2 * n + 4) * 2.0**-53


@each
@patient
@given(case=rows)
def test_rank_correlation__scipy(name: str, case: Any) -> None:
    """SciPy's figure of the repeated rows, with ties and lost rows; NaN where it has none."""
    x, y, counts = case
    ours, theirs = STATISTICS[name]
    drawn_x, drawn_y = np.repeat(x, counts), np.repeat(y, counts)
    (value,) = values(ours(x, y), counts)
    if constant(drawn_x) or constant(drawn_y):
        assert math.isnan(value)
    else:
        expected = theirs(drawn_x, drawn_y).statistic
        assert expected == pytest.approx(value, rel=0.0, abs=tolerance(drawn_x.size))


@each
@pytest.mark.parametrize("n", [2, 3, 127, 128, 129, 5_000, 20_000])
@pytest.mark.parametrize("decimals", [0, 2, 12])
def test_rank_correlation__resamples(name: str, n: int, decimals: int) -> None:
    """Many rows, of few and of many values: one digit and several, and a batch of 19."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = (x + rng.normal(size=n)).round(decimals)
    x = x.round(decimals)
    ours, theirs = STATISTICS[name]
    weights = rng.multinomial(n, np.full(n, 1 / n), 19)
    answers = values(ours(x, y), *weights)
    for row, value in list(zip(weights, answers.tolist(), strict=True))[:: 1 if n < 1_000 else 6]:
        drawn_x, drawn_y = np.repeat(x, row), np.repeat(y, row)
        if constant(drawn_x) or constant(drawn_y):
            assert math.isnan(value)
        else:
            expected = theirs(drawn_x, drawn_y).statistic
            assert expected == pytest.approx(value, rel=0.0, abs=tolerance(n))


def test_kendall__counts_are_exact() -> None:
    """Pairs of two million drawn rows, to the last one."""
    n = 1_000
    x = np.arange(float(n))
    y = x.copy()
    y[:2] = 1.0, 0.0
    weights = np.full(n, 2_000)
    pairs = 2_000**2 * (n * (n - 1) // 2)  # not tied
    expected = (pairs - 2 * 2_000**2) / pairs
    assert expected == pytest.approx(values(kendall(x, y), weights)[0], rel=0.0, abs=2.0**-52)


# Weights that are not whole: quarters, which float64 sums without rounding.


def plain_kendall(x: Floats, y: Floats, weights: Floats) -> float:
    """Pairs by pairs, each with the product of its weights."""
    pair = weights[:, None] * weights
    sign_x, sign_y = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    sizes = (pair * sign_x**2).sum() * (pair * sign_y**2).sum()
    return float((pair * sign_x * sign_y).sum() / math.sqrt(sizes))


def plain_spearman(x: Floats, y: Floats, weights: Floats) -> float:
    """Weighted correlation of weighted mid-ranks."""

    def deviations(column: Floats) -> Floats:
        ranks = [weights[column < v].sum() + weights[column == v].sum() / 2 for v in column]
        middle = float(weights.sum()) / 2
        return np.array([rank - middle for rank in ranks])

    dx, dy = deviations(x), deviations(y)
    sizes = (weights * dx * dx).sum() * (weights * dy * dy).sum()
    return float((weights * dx * dy).sum() / math.sqrt(sizes))


@pytest.mark.parametrize("name, plain", [("kendall", plain_kendall), ("spearman", plain_spearman)])
@patient
@given(case=rows)
def test_rank_correlation__fractional_weights(name: str, plain: Any, case: Any) -> None:
    """The formula that the docstring states."""
    x, y, counts = case
    weights = counts / 4
    ours, _ = STATISTICS[name]
    (value,) = values(ours(x, y), weights)
    if constant(x[counts > 0]) or constant(y[counts > 0]):
        assert math.isnan(value)
    else:
        assert plain(x, y, weights) == pytest.approx(value, rel=0.0, abs=tolerance(12 * 12))


@each
@patient
@given(case=rows, order=st.randoms(use_true_random=False))
def test_rank_correlation__invariances(name: str, case: Any, order: Any) -> None:
    """Permuted rows, increasing functions and exchanged columns: no change; negation: the sign."""
    x, y, counts = case
    ours, _ = STATISTICS[name]
    weights = counts / 4
    (value,) = values(ours(x, y), weights)
    places = list(range(x.size))
    order.shuffle(places)
    assert [value] == pytest.approx(
        values(ours(x[places], y[places]), weights[places]), nan_ok=True, abs=tolerance(12)
    )
    assert [value] == pytest.approx(values(ours(y, x), weights), nan_ok=True, abs=tolerance(12))
    assert [value] == pytest.approx(
        values(ours(np.exp(x), y**3 + 1e6), weights), nan_ok=True, abs=0.0
    )
    assert [-value] == pytest.approx(values(ours(-x, y), weights), nan_ok=True, abs=tolerance(12))
    # A row counts as two that share its weight.
    halves = np.concatenate([weights, weights]) / 2
    assert [value] == pytest.approx(
        values(ours(np.tile(x, 2), np.tile(y, 2)), halves), nan_ok=True, abs=tolerance(24)
    )


@each
def test_rank_correlation__perfect(name: str) -> None:
    """1 for one order, -1 for the opposite, and never beyond."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=999)
    ours, _ = STATISTICS[name]
    weights = rng.random((20, 999))
    for y, sign in [(np.exp(x), 1.0), (-x, -1.0)]:
        answers = values(ours(x, y), *weights)
        assert np.full(20, sign) == pytest.approx(answers, rel=0.0, abs=tolerance(999))
        assert (np.abs(answers) <= 1.0).all()


@each
def test_rank_correlation__constant(name: str) -> None:
    """Undefined where the drawn rows of a column are equal, also under fractional weights."""
    x, y = np.array([0.1, 0.1, 0.1, 0.7]), np.array([1.0, 2.0, 3.0, 4.0])
    ours, _ = STATISTICS[name]
    weights = [[1, 1, 1, 0], [0.1, 0.7, 0.3, 0.0], [0, 5, 0, 0], [0, 0, 0, 0]]
    assert np.isnan(values(ours(x, y), *weights)).all()
    assert np.isnan(values(ours(y, x), *weights)).all()
    assert np.isfinite(values(ours(x, y), [0, 0, 1, 1])).all()


@each
def test_rank_correlation__missing(name: str) -> None:
    """A missing value in either column makes all replicates NaN."""
    whole, missing = [1.0, 2.0, 3.0], [1.0, np.nan, 3.0]
    ours, _ = STATISTICS[name]
    for x, y in [(whole, missing), (missing, whole)]:
        assert np.isnan(values(ours(x, y), [1, 1, 1], [1, 0, 1])).tolist() == [True, True]


@each
def test_rank_correlation__batches(name: str) -> None:
    """A replicate has the same bits in any batch."""
    rng = np.random.default_rng(SEED)
    ours, _ = STATISTICS[name]
    statistic = ours(*rng.normal(size=(2, 1_111)).round(2))
    weights = rng.random((37, 1_111))
    whole = values(statistic, *weights).tolist()
    assert whole == [values(statistic, row)[0] for row in weights]
    assert whole[5:26] == values(statistic, *weights[5:26]).tolist()


@each
def test_rank_correlation__picklable(name: str) -> None:
    """Statistics travel to other processes, and name their arguments."""
    ours, _ = STATISTICS[name]
    statistic = ours([3.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    again = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert values(statistic, [1, 1, 1]) == values(again, [1, 1, 1])
    assert repr(ours("u", "v")) == f"{name}(`x` (column 'u'), `y` (column 'v'))"


# Through fb.bootstrap


@each
@pytest.mark.parametrize("path", ["rows", "patterns"])
@pytest.mark.parametrize("groups", [False, True])
def test_rank_correlation__bootstrap(name: str, path: str, groups: bool) -> None:
    """Every replicate is the statistic of its rows."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=60)
    y = (x + rng.normal(size=60)).round(1)
    documents = np.repeat(np.arange(20), 3)
    ours, theirs = STATISTICS[name]
    result = fb.bootstrap(
        ours(x, y), groups=documents if groups else None, rng=SEED, n_resamples=30, path=path
    )
    for r, replicate in enumerate(result.replicates.tolist()):
        rows = reference.bootstrap_rows(20 if groups else 60, SEED, r, path)  # type: ignore[arg-type] # checked word
        if groups:
            rows = reference.rows_of(rows, documents.tolist())
        expected = theirs(x[rows], y[rows]).statistic
        assert expected == pytest.approx(replicate, rel=0.0, abs=tolerance(60))
