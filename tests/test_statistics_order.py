"""Quantiles, trimmed means and extremes: against NumPy and SciPy on the repeated rows."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from statistical import assert_same_law

import fastboot as fb
from fastboot import reference
from fastboot.columns import load
from fastboot.kernels.order import fill_order_indices, fill_order_pairs
from fastboot.reference.order import order_index, order_pair
from fastboot.statistics.order import (
    interquartile_mean,
    maximum,
    median,
    minimum,
    quantile,
    trimmed_mean,
)
from fastboot.statistics.weighted import Weighted

SEED = 17
KEY = tuple(np.random.SeedSequence(SEED).generate_state(2, np.uint32))
Floats = NDArray[np.float64]

EXACT = ["lower", "higher", "nearest", "inverted_cdf", "closest_observation"]
ROUNDED = [
    "linear", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    "normal_unbiased", "midpoint", "averaged_inverted_cdf",
]  # fmt: skip
METHODS = EXACT + ROUNDED
each_method = pytest.mark.parametrize("method", METHODS)
STATISTICS = {
    "quantile": lambda x: quantile(x, 0.3),
    "quantile by choice": lambda x: quantile(x, 0.3, method="inverted_cdf"),
    "median": median,
    "trimmed_mean": lambda x: trimmed_mean(x, 0.2),
    "interquartile_mean": interquartile_mean,
    "minimum": minimum,
    "maximum": maximum,
}
each = pytest.mark.parametrize("name", STATISTICS)

# The first example compiles.
patient = settings(derandomize=True, deadline=None, max_examples=40)
# Few values, so that there are ties; a scale at which roundings are known.
columns = arrays(np.float64, st.integers(1, 12), elements=st.integers(-40, 40).map(lambda i: i / 7))
shares = st.floats(0.0, 1.0) | st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9])


def values(statistic: Weighted, *weights: Any) -> list[float]:
    """Return the statistic of its own columns under each vector of weights."""
    loaded = load(statistic.columns, nan_policy="propagate").columns
    batch = np.array(weights, np.float64)
    batch.flags.writeable = False
    with np.errstate(all="ignore"):
        answer: list[float] = statistic.values(statistic.prepare(*loaded), batch).tolist()
    return answer


def drawn(n: int, n_replicates: int, seed: int = SEED) -> NDArray[np.int64]:
    """Weights of resamples of n rows."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), n_replicates)


# Quantiles


@each_method
@patient
@given(x=columns, q=shares, data=st.data())
def test_quantile__numpy(method: Any, x: Floats, q: float, data: st.DataObject) -> None:
    """NumPy's quantile of the repeated rows, for its every method, with ties and lost rows."""
    counts = data.draw(arrays(np.int64, x.size, elements=st.integers(0, 3)).filter(np.any))
    (ours,) = values(quantile(x, q, method=method), counts)
    expected = np.quantile(np.repeat(x, counts), q, method=method)
    # Each side rounds a difference of at most 2 |x|, its product with the share, the share, and a
    # sum: by 2^-53 of 7 |x|. What is not computed is equal.
    tolerance = 0.0 if method in EXACT else 7 * 2.0**-52 * np.abs(x).max()
    assert expected == pytest.approx(ours, rel=0.0, abs=tolerance)


@each_method
@pytest.mark.parametrize("q", [0.0, 5e-324, 1e-17, 0.5 - 2.0**-54, 0.5, 1.0 - 2.0**-53, 1.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 101])
def test_quantile__edges(method: Any, q: float, n: int) -> None:
    """Roundings at the edges of a rank do not choose another row than NumPy's."""
    x = np.arange(float(n))
    (ours,) = values(quantile(x, q, method=method), np.ones(n))
    expected = np.quantile(x, q, method=method)
    assert expected == pytest.approx(ours, abs=0.0 if method in EXACT else 7 * 2.0**-52 * n)


@pytest.mark.parametrize("q", [0.01, 0.5, 0.9])
@pytest.mark.parametrize("n", [1_000, 3_001])
def test_quantile__resamples(q: float, n: int) -> None:
    """Resamples of many rows, where the walk begins in the middle."""
    x = np.random.default_rng(SEED).normal(size=n)
    weights = drawn(n, 30)
    expected = [np.quantile(np.repeat(x, row), q) for row in weights]
    ours = values(quantile(x, q), *weights)
    assert expected == pytest.approx(ours, rel=0.0, abs=7 * 2.0**-52 * np.abs(x).max())
    if q == 0.5:
        assert ours == values(median(x), *weights)


def test_quantile__far_walk() -> None:
    """All the weight at either end, far from where the walk begins."""
    x = np.random.default_rng(SEED).permutation(1_000.0 * np.arange(400))
    for low, high in [(0, 3), (397, 400), (0, 400)]:
        row = ((x >= 1_000 * low) & (x < 1_000 * high)).astype(int)
        expected = np.quantile(np.repeat(x, row), 0.25)
        assert [expected] == values(quantile(x, 0.25), row)


# Weights that are not whole: quarters, which float64 sums without rounding.
quarters = st.integers(0, 9).map(lambda i: i / 4)


@patient
@given(x=columns, q=st.integers(0, 8).map(lambda i: i / 8), data=st.data())
def test_quantile__numpy_weights(x: Floats, q: float, data: st.DataObject) -> None:
    """NumPy's own weighted quantile, which it has for one method only."""
    weights = data.draw(arrays(np.float64, x.size, elements=quarters).filter(np.any))
    expected = np.quantile(x, q, method="inverted_cdf", weights=weights)
    assert [expected] == values(quantile(x, q, method="inverted_cdf"), weights)


def window_mean(x: Floats, weights: Floats, low: Fraction, high: Fraction) -> float:
    """Mean of the sorted values over cumulative weights, in rational numbers."""
    total = before = Fraction(0)
    for value, weight in sorted(zip(x.tolist(), weights.tolist(), strict=True)):
        after = before + Fraction(weight)
        total += max(Fraction(0), min(after, high) - max(before, low)) * Fraction(value)
        before = after
    return float(total / (high - low))


@patient
@given(x=columns, q=st.integers(0, 8).map(lambda i: i / 8), data=st.data())
def test_quantile__fractional_weights(x: Floats, q: float, data: st.DataObject) -> None:
    """The mean over one unit of the cumulative weight, from the virtual index on."""
    some = arrays(np.float64, x.size, elements=quarters).filter(lambda w: w.sum() >= 1.0)
    weights = data.draw(some)
    low = Fraction(q) * (Fraction(weights.sum()) - 1)
    (ours,) = values(quantile(x, q), weights)
    # As above, for each of the at most 12 rows in the window.
    assert window_mean(x, weights, low, low + 1) == pytest.approx(
        ours, rel=0.0, abs=12 * 7 * 2.0**-53 * np.abs(x).max()
    )


@each_method
@patient
@given(x=columns, q=shares, data=st.data())
def test_quantile__split_rows(method: Any, x: Floats, q: float, data: st.DataObject) -> None:
    """A row counts as two equal rows that share its weight, in any order."""
    weights = data.draw(arrays(np.float64, x.size, elements=quarters).filter(np.any))
    order = np.array(data.draw(st.permutations(range(2 * x.size))))
    twice = np.concatenate([x, x])[order]
    halves = np.concatenate([weights, weights])[order] / 2
    (ours,) = values(quantile(x, q, method=method), weights)
    assert values(quantile(twice, q, method=method), halves) == pytest.approx(
        [ours], rel=0.0, abs=0.0 if method in EXACT else 24 * 7 * 2.0**-52 * np.abs(x).max()
    )


@each_method
@patient
@given(x=columns, q=shares, data=st.data())
def test_quantile__increasing(method: Any, x: Floats, q: float, data: st.DataObject) -> None:
    """Within the drawn rows, and no smaller for a larger share."""
    weights = data.draw(arrays(np.float64, x.size, elements=quarters).filter(np.any))
    more = data.draw(st.floats(q, 1.0))
    ours, larger = (values(quantile(x, s, method=method), weights)[0] for s in (q, more))
    rounding = 0.0 if method in EXACT else 12 * 7 * 2.0**-52 * np.abs(x).max()
    present = x[weights > 0.0]
    assert present.min() <= ours <= present.max()
    assert ours <= larger + rounding


@each_method
@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_quantile__neighbours(method: Any, n: int) -> None:
    """Between which rows a quantile of n rows lies."""
    x = np.random.default_rng(n).normal(size=n)
    ranked = np.append(np.sort(x), 0.0)  # the share of what follows the last is 0
    for q in (0.0, 0.1, 0.5, 0.9, 1.0):
        k, share = quantile("x", q, method=method).neighbours(n)
        ours = (1.0 - share) * ranked[k - 1] + share * ranked[k]
        # The share is what is left of an index up to 100: 2^-53 of it.
        assert np.quantile(x, q, method=method) == pytest.approx(ours, abs=100 * 2.0**-52 * 4)
    assert minimum("x").neighbours(n) == (1, 0.0)
    assert maximum("x").neighbours(n) == (n, 0.0)


# Trimmed means and extremes


@patient
@given(x=columns, proportion=st.floats(0.0, 0.5, exclude_max=True), data=st.data())
def test_trimmed_mean__scipy(x: Floats, proportion: float, data: st.DataObject) -> None:
    """SciPy's trimmed mean of the repeated rows, a quarter for the interquartile mean."""
    counts = data.draw(arrays(np.int64, x.size, elements=st.integers(0, 3)).filter(np.any))
    rows = np.repeat(x, counts)
    ours = values(trimmed_mean(x, proportion), counts) + values(interquartile_mean(x), counts)
    expected = [stats.trim_mean(rows, proportion), stats.trim_mean(rows, 0.25)]
    # At most 36 rows, of values of at most 2 |x| about the middle: 36 additions a side.
    assert expected == pytest.approx(ours, rel=0.0, abs=36 * 2 * 2.0**-52 * np.abs(x).max())


@pytest.mark.parametrize("n", [1_000, 3_001])
def test_trimmed_mean__resamples(n: int) -> None:
    """Resamples of many rows."""
    x = np.random.default_rng(SEED).normal(size=n)
    weights = drawn(n, 30)
    expected = [stats.trim_mean(np.repeat(x, row), 0.1) for row in weights]
    tolerance = n * 2.0**-52 * 2 * np.abs(x).max()
    assert expected == pytest.approx(values(trimmed_mean(x, 0.1), *weights), abs=tolerance)


@patient
@given(x=columns, proportion=st.integers(0, 7).map(lambda i: i / 16), data=st.data())
def test_trimmed_mean__fractional_weights(
    x: Floats, proportion: float, data: st.DataObject
) -> None:
    """The mean over the cumulative weight between the cuts."""
    some = arrays(np.float64, x.size, elements=quarters).filter(np.any)
    weights = data.draw(some)
    total = Fraction(weights.sum())
    cut = math.floor(Fraction(proportion) * total)
    (ours,) = values(trimmed_mean(x, proportion), weights)
    # At most 12 x 9/4 rows of at most 2 |x|, divided by 1/8 of them or more.
    tolerance = 12 * 8 * 2 * 3 * 2.0**-52 * np.abs(x).max()
    assert window_mean(x, weights, Fraction(cut), total - cut) == pytest.approx(ours, abs=tolerance)


def test_trimmed_mean__far_from_zero() -> None:
    """Columns far from 0 keep their digits."""
    x = np.random.default_rng(SEED).normal(size=500)
    far = x + 1e12
    weights = drawn(500, 10)
    plain = values(trimmed_mean(far - 1e12, 0.1), *weights)
    # The answer itself is rounded to 2^-53 of 1e12; all else is as if it were near 0.
    assert [1e12 + mean for mean in plain] == pytest.approx(
        values(trimmed_mean(far, 0.1), *weights), rel=2.0**-51
    )


@patient
@given(x=columns, data=st.data())
def test_extremes__numpy(x: Floats, data: st.DataObject) -> None:
    """The smallest and the largest of the rows that were drawn."""
    weights = data.draw(arrays(np.float64, x.size, elements=quarters).filter(np.any))
    assert [x[weights > 0.0].min()] == values(minimum(x), weights)
    assert [x[weights > 0.0].max()] == values(maximum(x), weights)


def test_extremes__remark() -> None:
    """Only the extremes carry a warning, with its source."""
    remarks = {name: getattr(make("x"), "remark", "") for name, make in STATISTICS.items()}
    assert [name for name, remark in remarks.items() if remark] == ["minimum", "maximum"]
    assert "inconsistent" in remarks["maximum"]
    for q, said in ((0.0, True), (0.01, False), (1.0, True)):
        assert (remarks["maximum"] in fb.bootstrap(fb.quantile([1, 2, 4], q)).notes) is said
    assert "Bickel and Freedman 1981" in remarks["maximum"]


# All of them


@each
@patient
@given(x=columns, data=st.data())
def test_order__permuted_rows(name: str, x: Floats, data: st.DataObject) -> None:
    """The order of the rows does not matter, beyond rounding of sums."""
    counts = data.draw(arrays(np.int64, x.size, elements=st.integers(0, 3)).filter(np.any))
    order = np.array(data.draw(st.permutations(range(x.size))))
    make = STATISTICS[name]
    assert values(make(x), counts) == pytest.approx(
        values(make(x[order]), counts[order]), rel=0.0, abs=36 * 2 * 2.0**-52 * np.abs(x).max()
    )


@patient
@given(x=columns, data=st.data())
def test_order__negation(x: Floats, data: st.DataObject) -> None:
    """What is symmetric changes its sign with the column, also under fractional weights."""
    weights = data.draw(arrays(np.float64, x.size, elements=quarters).filter(lambda w: w.sum() > 1))
    tolerance = 36 * 8 * 2.0**-52 * np.abs(x).max()
    pairs: list[tuple[Any, Any]]
    pairs = [(median, median), (interquartile_mean, interquartile_mean), (minimum, maximum)]
    pairs += [(lambda v: quantile(v, 0.25), lambda v: quantile(v, 0.75))]
    for one, other in pairs:
        (ours,) = values(one(-x), weights)
        assert values(other(x), weights) == pytest.approx([-ours], rel=0.0, abs=tolerance)


@each
@pytest.mark.parametrize("constant", [0.1, -1e9 / 3])
def test_order__constant(name: str, constant: float) -> None:
    """Equal values have exactly that value, whatever the weights."""
    weights = np.random.default_rng(SEED).random((5, 30))
    assert [constant] * 5 == values(STATISTICS[name](np.full(30, constant)), *weights)


@each
def test_order__batches(name: str) -> None:
    """A replicate has the same bits in any batch."""
    rng = np.random.default_rng(SEED)
    statistic = STATISTICS[name](rng.normal(size=1_111))
    weights = rng.random((7, 1_111))
    whole = values(statistic, *weights)
    assert whole == [values(statistic, row)[0] for row in weights]
    assert whole[2:5] == values(statistic, *weights[2:5])


@each
def test_order__undefined(name: str) -> None:
    """No rows, no value; a missing value makes all replicates NaN."""
    assert np.isnan(values(STATISTICS[name]([1.0, 2.0]), [0, 0])).all()
    first, second = values(STATISTICS[name]([1.0, np.nan, 2.0]), [1, 0, 1], [1, 1, 1])
    assert math.isnan(first)
    assert math.isnan(second)


@each
def test_order__picklable(name: str) -> None:
    """Statistics travel to other processes, and name their argument."""
    statistic = STATISTICS[name]([3.0, 1.0, 2.0])
    again = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert values(statistic, [1, 1, 1]) == values(again, [1, 1, 1])
    assert repr(STATISTICS[name]("u")) == f"{statistic.name}(`values` (column 'u'))"


def test_order__names() -> None:
    """What results call them."""
    assert quantile("x", 0.9).name == "quantile(0.9)"
    assert quantile("x", 1, method="hazen").name == 'quantile(1, method="hazen")'
    assert trimmed_mean("x", 0.1).name == "trimmed_mean(0.1)"
    named = [median("x"), interquartile_mean("x"), minimum("x"), maximum("x")]
    expected = ["median", "interquartile_mean", "minimum", "maximum"]
    assert expected == [statistic.name for statistic in named]


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: quantile("x", "a"), TypeError, r"`q` is 'a'; it must be a number"),  # type: ignore[arg-type]
        (lambda: quantile("x", True), TypeError, r"`q` is True; it must be a number"),
        (lambda: quantile("x", 90), ValueError, r"`q` is 90; it must be from 0 to 1 \(0\.9 for"),
        (lambda: quantile("x", math.nan), ValueError, r"`q` is nan; it must be from 0 to 1"),
        (lambda: quantile("x", 0.5, method="type 7"), ValueError, r"`method` is 'type 7'; choose"),
        (lambda: trimmed_mean("x", None), TypeError, r"`proportion` is None; it must be a number"),  # type: ignore[arg-type]
        (lambda: trimmed_mean("x", 0.5), ValueError, r"`proportion` is 0\.5; it must be 0 or more"),
        (lambda: trimmed_mean("x", -0.1), ValueError, r"`proportion` is -0\.1; it must be 0 or"),
        (
            lambda: values(trimmed_mean([1.7e308, -1.7e308], 0.1), [1, 1]),
            ValueError,
            r"the values sum to more than float64 can hold; divide them first",
        ),
    ],
)
def test_order__refused(make: Any, error: type[Exception], message: str) -> None:
    """Wrong arguments are refused by name."""
    with pytest.raises(error, match=message):
        make()


# Order statistics of one resample, drawn without its rows


def index_law(n: int, k: int, last: NDArray[np.int64]) -> Floats:
    """P(index of the k-th smallest <= last): at least k of the n draws are there."""
    law: Floats = stats.binom.sf(k - 1, n, (last + 1) / n)
    return law


@pytest.mark.parametrize(
    "n, k",
    [(1, 1), (2, 1), (2, 2), (3, 2), (7, 2), (7, 4), (7, 6), (100, 1), (100, 50), (100, 99),
     (100, 100), (1_000, 2), (1_001, 501), (1_000_000, 3), (1_000_000, 500_000)],
)  # fmt: skip
def test_order_indices__law(n: int, k: int) -> None:
    """A million draws show a deviation of 0.005 in any of some 25 cells.

    False failures: 1e-6 for each case, by exact binomial tails.
    """
    draws = np.empty(1_000_000, np.int64)
    fill_order_indices(n, k, 0, *KEY, draws)
    assert draws.min() >= 0
    assert draws.max() < n
    # Cells of about equal probability.
    near = stats.beta.ppf(np.linspace(0.0, 1.0, 26)[1:], k, n - k + 1)
    last = np.unique(np.append(np.minimum((near * n).astype(np.int64), n - 1), n - 1))
    counts = np.bincount(np.searchsorted(last, draws), minlength=last.size)
    assert_same_law(
        counts.tolist(), np.diff(index_law(n, k, last), prepend=0.0).tolist(), detects=0.005
    )


@pytest.mark.parametrize("n, k", [(2, 1), (3, 1), (3, 2), (6, 1), (6, 3), (6, 4), (6, 5)])
def test_order_pairs__law(n: int, k: int) -> None:
    """The joint law of two neighbours: a million draws show a deviation of 0.005 in any pair.

    False failures: 1e-6 for each case, by exact binomial tails.
    """
    draws = np.empty((2, 1_000_000), np.int64)
    fill_order_pairs(n, k, 0, *KEY, draws)
    i, j = np.meshgrid(np.arange(-1, n), np.arange(n + 1), indexing="ij")
    # P(the k-th <= i, the next >= j), i < j: k draws are at most i, and all others at least j.
    apart = math.comb(n, k) * ((i + 1) / n) ** k * ((n - j) / n) ** (n - k)
    law = np.triu(apart[1:, :-1] - apart[:-1, :-1] - apart[1:, 1:] + apart[:-1, 1:], 1)
    one = np.diff(index_law(n, k, np.arange(n)), prepend=0.0)
    law[np.diag_indices(n)] = one - law.sum(axis=1)
    counts = np.bincount(draws[0] * n + draws[1], minlength=n * n)
    assert_same_law(counts.tolist(), law.ravel().clip(0.0).tolist(), detects=0.005)


@pytest.mark.parametrize("n, k", [(100, 1), (1_000, 500), (1_000_000, 999_999)])
def test_order_pairs__marginal_laws(n: int, k: int) -> None:
    """The first of a pair is the single draw; the second follows its own law.

    False failures: 1e-6 for each case, by exact binomial tails.
    """
    draws, single = np.empty((2, 1_000_000), np.int64), np.empty(1_000_000, np.int64)
    fill_order_pairs(n, k, 0, *KEY, draws)
    fill_order_indices(n, k, 0, *KEY, single)
    assert np.array_equal(single, draws[0])
    assert (draws[0] <= draws[1]).all()
    near = stats.beta.ppf(np.linspace(0.0, 1.0, 26)[1:], k + 1, n - k)
    last = np.unique(np.append(np.minimum((near * n).astype(np.int64), n - 1), n - 1))
    counts = np.bincount(np.searchsorted(last, draws[1]), minlength=last.size)
    assert_same_law(
        counts.tolist(), np.diff(index_law(n, k + 1, last), prepend=0.0).tolist(), detects=0.005
    )


@pytest.mark.parametrize(
    "n, k", [(1, 1), (2, 1), (2, 2), (3, 2), (10, 5), (1_000, 2), (1_000, 999), (10**6, 500_000)]
)
def test_order_indices__reference(n: int, k: int) -> None:
    """Every replicate is the reference's, whatever the range it is drawn in."""
    draws = np.empty(300, np.int64)
    fill_order_indices(n, k, 0, *KEY, draws)
    assert [order_index(n, k, SEED, r) for r in range(300)] == draws.tolist()
    late = np.empty(100, np.int64)
    fill_order_indices(n, k, 200, *KEY, late)
    assert draws[200:].tolist() == late.tolist()
    if k < n:
        pairs = np.empty((2, 300), np.int64)
        fill_order_pairs(n, k, 0, *KEY, pairs)
        assert [order_pair(n, k, SEED, r) for r in range(300)] == list(
            zip(*pairs.tolist(), strict=True)
        )


# Through fb.bootstrap


@each
@pytest.mark.parametrize("path", ["rows", "patterns"])
@pytest.mark.parametrize("groups", [False, True])
def test_order__bootstrap(name: str, path: str, groups: bool) -> None:
    """Every replicate is the statistic of its rows."""
    x = np.random.default_rng(SEED).normal(size=60)
    documents = np.repeat(np.arange(20), 3)
    formulas: dict[str, Any] = {
        "quantile": lambda rows: np.quantile(rows, 0.3),
        "quantile by choice": lambda rows: np.quantile(rows, 0.3, method="inverted_cdf"),
        "median": np.median,
        "trimmed_mean": lambda rows: stats.trim_mean(rows, 0.2),
        "interquartile_mean": lambda rows: stats.trim_mean(rows, 0.25),
        "minimum": np.min,
        "maximum": np.max,
    }
    result = fb.bootstrap(
        STATISTICS[name](x), groups=documents if groups else None, rng=SEED, n_resamples=30,
        path=path,
    )  # fmt: skip
    for r, replicate in enumerate(result.replicates.tolist()):
        rows = reference.bootstrap_rows(20 if groups else 60, SEED, r, path)  # type: ignore[arg-type] # checked word
        if groups:
            rows = reference.rows_of(rows, documents.tolist())
        # 60 additions of numbers of at most 2 |x|.
        tolerance = 60 * 2 * 2.0**-52 * np.abs(x).max()
        assert formulas[name](x[rows]) == pytest.approx(replicate, abs=tolerance)
