"""Spread, skewness and other means: against NumPy, SciPy and the rows themselves."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from enumeration import DEVIATIONS, assert_standard_error
from numpy.typing import NDArray
from scipy import stats
from statistical import assert_rate

import fastboot as fb
from fastboot import reference
from fastboot.statistics.distribution import (
    geometric_mean,
    harmonic_mean,
    skewness,
    std,
    variance,
)
from fastboot.statistics.moments import origin

SEED = 23
Floats = NDArray[np.float64]


def observed(statistic: fb.Additive, **options: Any) -> float:
    """Return the observed value."""
    result: fb.BootstrapResult = fb.bootstrap(statistic, rng=0, n_resamples=9, **options)
    return result.estimate


def plain_variance(x: Floats, ddof: int = 0) -> float:
    """Variance of rows, in two passes."""
    return float(((x - x.mean()) ** 2).sum() / (x.size - ddof))


def plain_skewness(x: Floats) -> float:
    """Skewness of rows, in two passes."""
    return float(((x - x.mean()) ** 3).mean() / plain_variance(x) ** 1.5)


def plain_unbiased_skewness(x: Floats) -> float:
    """Skewness of rows, times its correction."""
    return plain_skewness(x) * math.sqrt(x.size * (x.size - 1)) / (x.size - 2)


# Ours, a trusted library's, and the formula for rows.
STATISTICS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., float]]] = {
    "variance": (variance, np.var, plain_variance),
    "variance, ddof": (
        lambda x: variance(x, ddof=1),
        lambda x: np.var(x, ddof=1),
        lambda x: plain_variance(x, 1),
    ),
    "std": (std, np.std, lambda x: math.sqrt(plain_variance(x))),
    "std, ddof": (
        lambda x: std(x, ddof=1),
        lambda x: np.std(x, ddof=1),
        lambda x: math.sqrt(plain_variance(x, 1)),
    ),
    "skewness": (skewness, stats.skew, plain_skewness),
    "skewness, no bias": (
        lambda x: skewness(x, bias=False),
        lambda x: stats.skew(x, bias=False),
        plain_unbiased_skewness,
    ),
    "geometric_mean": (
        geometric_mean,
        stats.gmean,
        lambda x: math.exp(sum(map(math.log, x)) / x.size),
    ),
    "harmonic_mean": (harmonic_mean, stats.hmean, lambda x: x.size / sum(1.0 / x)),
}
SPREADS = list(STATISTICS)[:6]
each = pytest.mark.parametrize("name", STATISTICS)


@pytest.fixture
def values() -> Floats:
    """Positive, skewed values of two systems in 60 rows."""
    return np.random.default_rng(SEED).gamma(4.0, size=(2, 60))


@each
@pytest.mark.parametrize("n", [3, 60, 5_000])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.filterwarnings("ignore:the statistic is undefined")
def test_distribution__trusted(name: str, n: int, scale: float) -> None:
    """NumPy's spread, SciPy's skewness and means."""
    x = scale * np.random.default_rng(n).gamma(4.0, size=n)
    ours, theirs, _ = STATISTICS[name]
    # Gamma(4) has its mean 2 standard deviations from 0: sums of up to 2^3 times the moments they
    # leave, each with the rounding of n additions of 2.2e-16; twice, as theirs has its own.
    assert theirs(x) == pytest.approx(observed(ours(x)), rel=16 * n * 2.0**-52)


@each
@pytest.mark.parametrize("path", ["rows", "patterns"])
@pytest.mark.parametrize("groups", [False, True])
def test_distribution__reference(name: str, path: str, groups: bool, values: Floats) -> None:
    """Every replicate is the statistic of its rows."""
    x = values[0]
    documents = np.repeat(np.arange(20), 3)
    ours, _, formula = STATISTICS[name]
    result = fb.bootstrap(
        ours(x), groups=documents if groups else None, rng=SEED, n_resamples=30, path=path
    )
    for r, replicate in enumerate(result.replicates.tolist()):
        rows = reference.bootstrap_rows(20 if groups else 60, SEED, r, path)  # type: ignore[arg-type] # checked word
        if groups:
            rows = reference.rows_of(rows, documents.tolist())
        # The result's bound on rounding at the sample's sums; those of resamples differ less than
        # fourfold in size.
        assert formula(x[rows]) == pytest.approx(replicate, abs=4 * result.rounding)


@each
def test_distribution__swaps(name: str, values: Floats) -> None:
    """Every swap is the statistic of the swapped rows."""
    a, b = values
    ours, _, formula = STATISTICS[name]
    result = fb.approximate_randomization(ours(a), ours(b), rng=SEED, n_resamples=30, path="tables")
    for r, replicate in enumerate(result.replicates.tolist()):
        flags = np.array(reference.swaps(60, SEED, r, "tables"))
        expected = formula(np.where(flags, b, a)) - formula(np.where(flags, a, b))
        # Swaps change the sums that the bound on rounding is for by less than fourfold.
        assert expected == pytest.approx(replicate, abs=4 * result.rounding)


@each
def test_distribution__pairs(name: str, values: Floats) -> None:
    """A column with a larger figure has it in both tests; against itself p = 1."""
    a, b = values
    ours, _, _ = STATISTICS[name]
    # Skewed the other way, or three times as large.
    other = 3.0 * a if "skewness" not in name else a
    b = b if "skewness" not in name else 8.0 - b
    for compare in (fb.paired_bootstrap, fb.approximate_randomization):
        assert compare(ours(other), ours(b), rng=SEED).pvalue < 0.05
        assert compare(ours(a), ours(a), rng=SEED).pvalue == 1.0


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("offset", [1e4, -1e6, 1.7e9])
def test_distribution__offset(name: str, offset: float, values: Floats) -> None:
    """Columns far from 0 keep their digits, in resamples and in swaps."""
    far = values + offset
    near = far - offset  # exact
    ours, _, _ = STATISTICS[name]
    # At most 256 standard deviations are left, to the third power for skewness, of each of 60
    # additions; a variance is 4 here.
    tolerance = 4 * 256 ** (3 if "skewness" in name else 2) * 60 * 2.0**-52
    for compare in (fb.paired_bootstrap, fb.approximate_randomization):
        moved = compare(ours(far[0]), ours(far[1]), rng=SEED, n_resamples=99)
        plain = compare(ours(near[0]), ours(near[1]), rng=SEED, n_resamples=99)
        assert plain.estimate == pytest.approx(moved.estimate, abs=tolerance)
        assert plain.replicates == pytest.approx(moved.replicates, abs=tolerance)


@pytest.mark.parametrize("name", SPREADS)
def test_distribution__swaps_of_different_offsets(name: str, values: Floats) -> None:
    """Swaps between columns that lie far apart are refused."""
    ours, _, _ = STATISTICS[name]
    with pytest.raises(
        ValueError,
        match=r"a column of `a` or `b` lies more than 256 standard deviations from 0, and not "
        "where that of the other lies, so swaps would lose its digits; subtract one constant from",
    ):
        fb.approximate_randomization(ours(values[0] + 1e6), ours(values[1]), rng=SEED)


def test_origin__near_and_far() -> None:
    """Nothing is subtracted from columns near 0 or constant; else a round number near all."""
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(2, 200))
    near = (x, x + 200, np.full(9, 1e9), np.zeros(1))
    assert [0.0] * 4 == [origin("x", column) for column in near]
    for offset in (1e3 + 100, -1e6, 1e12):
        shared = origin("x", x + offset, y + offset)
        # The standard deviation of 200 normal numbers is not 20 % above 1.
        assert abs(shared - offset) <= 256 * 1.2
        assert origin("x", x + offset, np.full(200, 7.0)) == origin("x", x + offset)
    with pytest.raises(ValueError, match=r"^x: a column of `a` or `b` lies more than 256"):
        origin("x", x + 1e6, y + 2e6)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 / 3])
@pytest.mark.parametrize("groups", [None, np.arange(30) // 4])
def test_distribution__constant(constant: float, groups: Any) -> None:
    """No spread and no skewness, though the sums are rounded."""
    column = np.full(30, constant)
    for statistic in (variance(column), std(column), variance(column, ddof=1)):
        result = fb.bootstrap(statistic, groups=groups, rng=0, n_resamples=99)
        assert (0.0, True) == (result.estimate, result.degenerate)
    with pytest.warns(RuntimeWarning, match="undefined in 9 of 9"):
        assert math.isnan(observed(skewness(column), groups=groups))


@pytest.mark.parametrize(
    "statistic",
    [variance([3.0], ddof=1), std([3.0, 5.0], ddof=2), skewness([3.0, 5.0], bias=False)],
)
def test_distribution__too_few_rows(statistic: fb.Additive) -> None:
    """As many rows as are subtracted, or fewer, leave nothing to divide by."""
    with pytest.warns(RuntimeWarning, match="undefined in 9 of 9"):
        assert math.isnan(observed(statistic))


@pytest.mark.parametrize(
    "mean, theirs", [(geometric_mean, stats.gmean), (harmonic_mean, stats.hmean)]
)
def test_means__weights(mean: Any, theirs: Any, values: Floats) -> None:
    """Weights count rows: SciPy's weighted means, and rows written out, in every replicate."""
    x, counts = values[0][:30], np.repeat([0, 1, 3], 10)
    # Sums of 30 positive numbers.
    tolerance = 40 * 2.0**-52
    assert theirs(x, weights=counts) == pytest.approx(
        observed(mean(x, weights=counts)), rel=tolerance
    )
    result = fb.bootstrap(mean(x, weights=counts), rng=SEED, n_resamples=30, path="rows")
    for r, replicate in enumerate(result.replicates.tolist()):
        rows = reference.bootstrap_rows(30, SEED, r, "rows")
        assert theirs(np.repeat(x[rows], counts[rows])) == pytest.approx(replicate, rel=tolerance)


def test_means__of_ten_to_the_90() -> None:
    """No product of the values is formed: it would be beyond float64."""
    for scale in (1e90, 1e-90):
        x = np.array([1.0, 2.0, 2.0, 4.0]) * scale
        # A logarithm of 207 has an error of 207 roundings.
        assert 2.0 * scale == pytest.approx(observed(geometric_mean(x)), rel=210 * 2.0**-52)
        assert 16 / 9 * scale == pytest.approx(observed(harmonic_mean(x)), rel=4 * 2.0**-52)


def test_means__no_weight() -> None:
    """Weights that sum to 0 leave nothing."""
    for mean in (geometric_mean, harmonic_mean):
        with pytest.warns(RuntimeWarning, match="undefined in 9 of 9"):
            assert math.isnan(observed(mean([1.0, 2.0], weights=[0.0, 0.0])))


@pytest.mark.parametrize("mean", [geometric_mean, harmonic_mean])
@pytest.mark.parametrize(
    "values, weights, message",
    [
        ([1, 0, -2], None, (r"`values` has 2 non-positive values \(first at row 1: 0\); "
         "values must be above 0")),
        ([1, 2, -2], None, r"`values` has 1 non-positive value \(first at row 2: -2\)"),
        ([1, 2], [-1, 2], (r"`weights` has 1 negative weight \(first at row 0: -1\); "
         "weights are 0 or more")),
        ([1, 2], [-1, -2], r"`weights` has 2 negative weights \(first at row 0: -1\)"),
    ],
)  # fmt: skip
def test_means__refused(mean: Any, values: Any, weights: Any, message: str) -> None:
    """Logarithms and inverses need positive values."""
    with pytest.raises(ValueError, match=message):
        observed(mean(values, weights=weights))


@pytest.mark.parametrize("make", [variance, std])
def test_variance__ddof(make: Any) -> None:
    """The number to subtract must be one; statistics with another one are not swapped."""
    for ddof in ("1", None, True):
        with pytest.raises(TypeError, match=rf"`ddof` is {ddof!r}; it must be a number \(0, or 1"):
            make([1.0], ddof=ddof)
    for number in (-1, math.inf, math.nan):
        with pytest.raises(ValueError, match=rf"`ddof` is {number}; it must be 0 or more \(1 for"):
            make([1.0], ddof=number)
    name = make.__name__
    with pytest.raises(TypeError, match=rf"`a` is {name} and `b` is {name}\(ddof=1\)"):
        fb.approximate_randomization(make([1.0, 2.0]), make([1.0, 2.0], ddof=1))


def test_skewness__bias() -> None:
    """A flag is a flag; statistics with another one are not swapped."""
    with pytest.raises(TypeError, match="`bias` is 0; it must be True or False"):
        skewness([1.0], bias=0)  # type: ignore[arg-type] # what is tested
    with pytest.raises(TypeError, match=r"`a` is skewness and `b` is skewness\(bias=False\)"):
        fb.approximate_randomization(skewness([1.0, 2.0]), skewness([1.0, 2.0], bias=False))


@pytest.mark.parametrize("make", [variance, std, skewness, harmonic_mean])
def test_distribution__overflow(make: Any) -> None:
    """Terms beyond float64 are refused, not infinite."""
    column = [1e-310, 1.0] if make is harmonic_mean else [1e200, -1e200]
    with pytest.raises(ValueError, match=r"terms\(\) returned infinity in [12] rows"):
        observed(make(column))


def test_distribution__nan_policy(values: Floats) -> None:
    """A missing value is refused, dropped, or makes the answer NaN."""
    x = values[0].copy()
    x[3] = np.nan
    for make in (variance, std, skewness, geometric_mean, harmonic_mean):
        with pytest.raises(ValueError, match=r"`values` has 1 NaN \(first at row 3\)"):
            observed(make(x))
        assert observed(make(np.delete(x, 3))) == observed(make(x), nan_policy="omit")
        assert math.isnan(observed(make(x), nan_policy="propagate"))


@each
def test_distribution__picklable(name: str, values: Floats) -> None:
    """Statistics travel to other processes."""
    ours, _, _ = STATISTICS[name]
    statistic = pickle.loads(pickle.dumps(ours(values[0])))  # noqa: S301 - our own bytes
    assert observed(statistic) == observed(ours(values[0]))


# Published: the spatial test data of Efron and Tibshirani (1993), table 14.1

SPATIAL_A = [
    48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26,
    30, 41,
]  # fmt: skip


def test_variance__spatial() -> None:
    """Plug-in variance 171.5, its error and limits of 2,000,000 resamples."""
    n = 99_999
    ours = fb.bootstrap(variance(SPATIAL_A), n_resamples=n, rng=SEED)
    assert 171.53402366863918 == pytest.approx(ours.estimate, abs=ours.rounding)
    assert_standard_error(ours, 41.827867602643664)
    percentile = {0.025: 86.45710059171597, 0.05: 97.77514792899399, 0.95: 235.61686390532532,
                  0.975: 249.39792899408292}  # fmt: skip
    for level, limit in percentile.items():
        # The expected limit was sampled too: a twentieth of the variance of ours.
        assert_rate(int((ours.replicates < limit).sum()), n, level, detects=0.02)
    bias, acceleration = 0.1785952811685377, 0.061240119812306856
    # Leave-one-out variances of whole numbers differ by 0.1 and more; 1e-3 of the estimate.
    assert acceleration == pytest.approx(ours.acceleration, rel=1e4 * ours.rounding / ours.estimate)
    share = (ours.replicates < ours.estimate).mean()
    assert bias == pytest.approx(stats.norm.ppf(share), abs=DEVIATIONS * math.sqrt(math.pi / 2 / n))
    bca = {0.025: 105.7514792899409, 0.05: 115.71005917159755, 0.95: 261.23668639053255,
           0.975: 279.0828402366863}  # fmt: skip
    for level, limit in bca.items():
        shifted = bias + stats.norm.ppf(level)
        share = float(stats.norm.cdf(bias + shifted / (1 - acceleration * shifted)))
        assert_rate(int((ours.replicates < limit).sum()), n, share, detects=0.02)
