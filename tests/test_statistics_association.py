"""Correlation, errors of predicted numbers and agreement: against trusted libraries and rows."""

from __future__ import annotations

import inspect
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from enumeration import DEVIATIONS, assert_standard_error
from numpy.typing import NDArray
from scipy import stats
from sklearn import metrics
from statistical import assert_rate

import fastboot as fb
from fastboot import reference
from fastboot.statistics.association import agreement, mae, pearson, r_squared, rmse

SEED = 17
Floats = NDArray[np.float64]


def observed(statistic: fb.Additive, **options: Any) -> float:
    """Return the observed value."""
    result: fb.BootstrapResult = fb.bootstrap(statistic, rng=0, n_resamples=9, **options)
    return result.estimate


def plain_pearson(x: Floats, y: Floats) -> float:
    """Correlation of rows, in two passes."""
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum()))


# Ours, a trusted library's, and the formula for rows.
STATISTICS: dict[str, tuple[Any, Callable[..., float], Callable[..., float]]] = {
    "pearson": (pearson, lambda x, y: stats.pearsonr(x, y).statistic, plain_pearson),
    "r_squared": (
        r_squared,
        metrics.r2_score,
        lambda g, p: 1.0 - ((g - p) ** 2).sum() / ((g - g.mean()) ** 2).sum(),
    ),
    "rmse": (
        rmse,
        metrics.root_mean_squared_error,
        lambda g, p: math.sqrt(((g - p) ** 2).sum() / g.size),
    ),
    "mae": (mae, metrics.mean_absolute_error, lambda g, p: np.abs(g - p).sum() / g.size),
}
each = pytest.mark.parametrize("name", STATISTICS)


@pytest.fixture
def scores() -> Floats:
    """Gold and two predictions of 60 rows."""
    rng = np.random.default_rng(SEED)
    gold = rng.normal(2.0, 1.0, 60)
    return np.stack([gold, gold + rng.normal(size=60), gold + rng.normal(size=60)])


@each
@pytest.mark.parametrize("n", [2, 3, 60, 5_000])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.filterwarnings("ignore:the statistic is undefined")
def test_association__trusted(name: str, n: int, scale: float) -> None:
    """SciPy's correlation and scikit-learn's errors."""
    rng = np.random.default_rng(n)
    gold = scale * rng.normal(3.0, 1.0, n)
    predicted = gold + scale * rng.normal(size=n)
    ours, theirs, _ = STATISTICS[name]
    # Sums of n numbers that are about 10 times the spread they leave: n roundings of 2.2e-16 of
    # either, which SciPy's and scikit-learn's own share.
    assert theirs(gold, predicted) == pytest.approx(
        observed(ours(gold, predicted)), rel=20 * n * 2.0**-52
    )


@each
@pytest.mark.parametrize("path", ["rows", "patterns"])
@pytest.mark.parametrize("groups", [False, True])
def test_association__reference(name: str, path: str, groups: bool, scores: Floats) -> None:
    """Every replicate is the statistic of its rows."""
    gold, predicted, _ = scores
    documents = np.repeat(np.arange(20), 3)
    ours, _, formula = STATISTICS[name]
    result = fb.bootstrap(
        ours(gold, predicted), groups=documents if groups else None, rng=SEED, n_resamples=30,
        path=path,
    )  # fmt: skip
    for r, replicate in enumerate(result.replicates.tolist()):
        rows = reference.bootstrap_rows(20 if groups else 60, SEED, r, path)  # type: ignore[arg-type] # checked word
        if groups:
            rows = reference.rows_of(rows, documents.tolist())
        # The result's bound on rounding at the sample's sums; those of resamples differ less than
        # fourfold in size.
        assert formula(gold[rows], predicted[rows]) == pytest.approx(
            replicate, abs=4 * result.rounding
        )


@each
def test_association__swaps(name: str, scores: Floats) -> None:
    """Every swap is the statistic of the swapped rows."""
    gold, a, b = scores
    ours, _, formula = STATISTICS[name]
    result = fb.approximate_randomization(
        ours(gold, a), ours(gold, b), rng=SEED, n_resamples=30, path="tables"
    )
    for r, replicate in enumerate(result.replicates.tolist()):
        flags = np.array(reference.swaps(60, SEED, r, "tables"))
        first, second = np.where(flags, b, a), np.where(flags, a, b)
        expected = formula(gold, first) - formula(gold, second)
        # Swaps change the sums that the bound on rounding is for by less than fourfold.
        assert expected == pytest.approx(replicate, abs=4 * result.rounding)


@each
def test_association__pairs(name: str, scores: Floats) -> None:
    """A worse prediction loses in both tests; a prediction against itself has p = 1."""
    gold, a, _ = scores
    ours, _, _ = STATISTICS[name]
    worse = a + np.random.default_rng(1).normal(0.0, 2.0, 60)
    for compare in (fb.paired_bootstrap, fb.approximate_randomization):
        # Errors more than twice as large in 60 rows.
        assert compare(ours(gold, a), ours(gold, worse), rng=SEED).pvalue < 0.05
        assert compare(ours(gold, a), ours(gold, a), rng=SEED).pvalue == 1.0


@pytest.mark.parametrize("ours", [pearson, r_squared])
@pytest.mark.parametrize("offset", [1e4, -1e6, 1e9, 1e12])
def test_association__offset(ours: Any, offset: float, scores: Floats) -> None:
    """Columns far from 0 keep their digits, in resamples and in swaps."""
    far = scores + offset
    gold, a, b = far - offset  # exact
    # At most 256 standard deviations are left: 256^2 roundings, of each of 60 additions.
    tolerance = 256**2 * 60 * 2.0**-52
    for compare in (fb.paired_bootstrap, fb.approximate_randomization):
        moved = compare(ours(far[0], far[1]), ours(far[0], far[2]), rng=SEED, n_resamples=99)
        plain = compare(ours(gold, a), ours(gold, b), rng=SEED, n_resamples=99)
        assert plain.estimate == pytest.approx(moved.estimate, abs=tolerance)
        assert plain.replicates == pytest.approx(moved.replicates, abs=tolerance)


@pytest.mark.parametrize(
    "a, b",
    [
        (lambda g, p: pearson(g, p + 1e6), pearson),
        (lambda g, p: pearson(g, p + 1e6), lambda g, p: pearson(g, p + 2e6)),
        (lambda g, p: r_squared(g + 1e6, p + 1e6), r_squared),
    ],
)
def test_association__swaps_of_different_offsets(a: Any, b: Any, scores: Floats) -> None:
    """Swaps between columns that lie far apart are refused; resamples are not."""
    gold, first, second = scores
    systems = a(gold, first), b(gold, second)
    message = (
        rf"{systems[0].name}: a column of `a` or `b` lies more than 256 standard deviations from 0,"
        " and not where that of the other lies, so swaps would lose its digits; subtract one"
    )
    with pytest.raises(ValueError, match=message):
        fb.approximate_randomization(*systems, rng=SEED)
    plain = fb.paired_bootstrap(
        type(systems[0])(gold, first, name="x"), type(systems[0])(gold, second, name="x"), rng=SEED
    )
    assert plain.estimate == pytest.approx(
        fb.paired_bootstrap(*systems, rng=SEED).estimate, abs=256**2 * 60 * 2.0**-52
    )


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 / 3])
@pytest.mark.parametrize("groups", [None, np.arange(30) // 4])
def test_association__constant(constant: float, groups: Any) -> None:
    """No correlation with a constant and no determination of one, though its sums are rounded."""
    column, other = np.full(30, constant), np.arange(30.0)
    for statistic in (pearson(column, other), pearson(other, column), r_squared(column, other)):
        with pytest.warns(RuntimeWarning, match="undefined in 9 of 9"):
            assert math.isnan(observed(statistic, groups=groups))


def test_association__constant_resamples() -> None:
    """Resamples of equal rows are undefined, and counted."""
    with pytest.warns(RuntimeWarning, match="undefined"):
        result = fb.bootstrap(pearson([0.1, 0.7, 0.3], [0.2, 0.3, 0.9]), rng=SEED)
    # 3 of the 27 resamples draw one row three times.
    assert_rate(result.n_undefined, result.n_resamples, 3 / 27, detects=0.03)


def test_pearson__perfect() -> None:
    """Never beyond 1 by rounding."""
    x = np.random.default_rng(SEED).normal(size=50)
    result = fb.bootstrap(pearson(x, 0.1 + x / 3), rng=SEED, n_resamples=999)
    assert result.replicates.max() == pytest.approx(1.0, abs=50 * 2.0**-52)
    assert result.replicates.max() <= 1.0
    assert observed(pearson(x, -x)) == pytest.approx(-1.0, abs=50 * 2.0**-52)


def test_r_squared__own_figures() -> None:
    """Perfect, the mean, and worse than it."""
    gold = np.arange(1.0, 10.0)
    assert observed(r_squared(gold, gold)) == 1.0
    assert observed(r_squared(gold, np.full(9, 5.0))) == 0.0
    assert observed(r_squared(gold, gold[::-1])) == -3.0


@pytest.mark.parametrize("statistic", [pearson, r_squared, rmse, mae])
def test_association__overflow(statistic: Any) -> None:
    """Sums beyond float64 are refused, not infinite."""
    with pytest.raises(ValueError, match=r"infinity in 3 rows|more than float64 can hold"):
        observed(statistic([1.7e308, -1.7e308, 1.7e308], [-1.7e308, 1.7e308, -1.7e308]))


def test_association__nan_policy(scores: Floats) -> None:
    """A missing value is refused, dropped, or makes the answer NaN."""
    gold, a, _ = scores.copy()
    a[3] = np.nan
    for statistic in (pearson, r_squared, rmse, mae):
        with pytest.raises(ValueError, match=r"has 1 NaN \(first at row 3\)"):
            observed(statistic(gold, a))
        dropped = observed(statistic(np.delete(gold, 3), np.delete(a, 3)))
        assert dropped == observed(statistic(gold, a), nan_policy="omit")
        assert math.isnan(observed(statistic(gold, a), nan_policy="propagate"))


@pytest.mark.parametrize("make", [pearson, r_squared, rmse, mae, agreement])
def test_association__picklable(make: Any) -> None:
    """Statistics travel to other processes, and name their arguments."""
    rows = np.arange(8), np.arange(8)[::-1]
    statistic = pickle.loads(pickle.dumps(make(*rows)))  # noqa: S301 - our own bytes
    assert observed(statistic) == observed(make(*rows))
    first, second = inspect.signature(make).parameters
    assert repr(make("u", "v")) == (
        f"{make.__name__}(`{first}` (column 'u'), `{second}` (column 'v'))"
    )


# Agreement


@pytest.mark.parametrize("kind", [int, str, bool])
def test_agreement__is_accuracy(kind: type) -> None:
    """Share of equal labels, whatever they are and whoever is first; labels may be in one only."""
    rng = np.random.default_rng(SEED)
    first, second = ([kind(label) for label in row] for row in rng.integers(0, 3, (2, 40)))
    expected = fb.bootstrap(fb.accuracy(first, second), rng=SEED).replicates
    ours = fb.bootstrap(agreement(first, second), rng=SEED)
    assert expected.tolist() == ours.replicates.tolist()
    assert expected.tolist() == fb.bootstrap(agreement(second, first), rng=SEED).replicates.tolist()
    assert metrics.accuracy_score(first, second) == ours.estimate


def test_agreement__kinds() -> None:
    """Strings never agree with numbers, so they are refused."""
    with pytest.raises(
        ValueError,
        match=r"`first` holds strings but `second` holds numbers \(such as '1' and 2\); labels",
    ):
        observed(agreement(["1", "2"], [2, 1]))


# Published: Efron and Tibshirani (1993), Davison and Hinkley (1997)

LSAT = [576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594]
GPA = [3.39, 3.3, 2.81, 3.03, 3.44, 3.07, 3.0, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96]
CD4_BASELINE = [
    2.12, 4.35, 3.39, 2.51, 4.04, 5.1, 3.77, 3.35, 4.1, 3.35, 4.15, 3.56, 3.39, 1.88, 2.56, 2.96,
    2.49, 3.03, 2.66, 3.0,
]  # fmt: skip
CD4_ONE_YEAR = [
    2.47, 4.61, 5.26, 3.02, 6.36, 5.93, 3.93, 4.09, 4.88, 3.81, 4.74, 3.29, 5.55, 2.82, 4.23, 3.23,
    2.56, 4.31, 4.37, 2.4,
]  # fmt: skip
LSAT_82 = [
    622, 542, 579, 653, 606, 576, 620, 615, 553, 607, 558, 596, 635, 581, 661, 547, 599, 646, 622,
    611, 546, 614, 628, 575, 662, 627, 608, 632, 587, 581, 605, 704, 477, 591, 578, 572, 615, 606,
    603, 535, 595, 575, 573, 644, 545, 645, 651, 562, 609, 555, 586, 580, 594, 594, 560, 641, 512,
    631, 597, 621, 617, 637, 572, 610, 562, 635, 614, 546, 598, 666, 570, 570, 605, 565, 686, 608,
    595, 590, 558, 611, 564, 575,
]  # fmt: skip
GPA_82 = [
    3.23, 2.83, 3.24, 3.12, 3.09, 3.39, 3.1, 3.4, 2.97, 2.91, 3.11, 3.24, 3.3, 3.22, 3.43, 2.91,
    3.23, 3.47, 3.15, 3.33, 2.99, 3.19, 3.03, 3.01, 3.39, 3.41, 3.04, 3.29, 3.16, 3.17, 3.13, 3.36,
    2.57, 3.02, 3.03, 2.88, 3.37, 3.2, 3.23, 2.98, 3.11, 2.92, 2.85, 3.38, 2.76, 3.27, 3.36, 3.19,
    3.17, 3.0, 3.11, 3.07, 2.96, 3.05, 2.93, 3.28, 3.01, 3.21, 3.32, 3.24, 3.03, 3.33, 3.08, 3.13,
    3.01, 3.3, 3.15, 2.82, 3.2, 3.44, 3.01, 2.92, 3.45, 3.15, 3.5, 3.16, 3.19, 3.15, 2.81, 3.16,
    3.02, 2.74,
]  # fmt: skip


@pytest.mark.parametrize(
    "x, y, printed, estimate",
    [
        pytest.param(LSAT, GPA, 0.776, 0.7763744912894417, id="law school"),
        pytest.param(LSAT_82, GPA_82, 0.760, 0.759997855503898, id="all 82 law schools"),
        pytest.param(CD4_BASELINE, CD4_ONE_YEAR, 0.723, 0.723165367892025, id="cd4 counts"),
    ],
)
def test_pearson__published(x: Any, y: Any, printed: float, estimate: float) -> None:
    """The correlations of the textbooks."""
    ours = fb.bootstrap(pearson(x, y), rng=SEED)
    assert printed == round(ours.estimate, 3)
    assert estimate == pytest.approx(ours.estimate, abs=ours.rounding)


@pytest.mark.parametrize(
    "x, y, error, limits, bias, acceleration, bca",
    [
        pytest.param(
            LSAT, GPA, 0.13355735405749297,
            {0.025: 0.45946683188326604, 0.05: 0.5234656667901377, 0.95: 0.9475080239642693,
             0.975: 0.9617699807139402},
            -0.09832906433840653, -0.07567156493788982,
            {0.025: 0.3314320446025769, 0.05: 0.4283968735425493, 0.95: 0.9267481204855786,
             0.975: 0.9415420663109668},
            id="law school",
        ),
        pytest.param(
            CD4_BASELINE, CD4_ONE_YEAR, 0.09166910800703967,
            {0.025: 0.5026967814752179, 0.05: 0.5494863966410451, 0.95: 0.8432472784939197,
             0.975: 0.8622264594252246},
            -0.06328570337000619, 0.03213029050627563,
            {0.025: 0.5022036154642227, 0.05: 0.5442005221013725, 0.95: 0.8406748235382513,
             0.975: 0.8620262034788327},
            id="cd4 counts",
        ),
    ],
)  # fmt: skip
def test_pearson__published_bootstrap(
    x: Any,
    y: Any,
    error: float,
    limits: dict[float, float],
    bias: float,
    acceleration: float,
    bca: dict[float, float],
) -> None:
    """Error, percentile and BCa limits of 2,000,000 resamples, within Monte Carlo error."""
    n = 99_999
    ours = fb.bootstrap(pearson(x, y), n_resamples=n, rng=SEED)
    assert_standard_error(ours, error)
    for level, limit in limits.items():
        # The expected limit was sampled too: a twentieth of the variance of ours.
        assert_rate(int((ours.replicates < limit).sum()), n, level, detects=0.02)
    # The leave-one-out values differ by 1e-3 and more; each has the rounding of the estimate.
    assert acceleration == pytest.approx(ours.acceleration, rel=1e4 * ours.rounding)
    # The bias correction is a normal quantile of a share near 1/2, of n replicates.
    share = (ours.replicates < ours.estimate).mean()
    assert bias == pytest.approx(stats.norm.ppf(share), abs=DEVIATIONS * math.sqrt(math.pi / 2 / n))
    for level, limit in bca.items():
        shifted = bias + stats.norm.ppf(level)
        share = float(stats.norm.cdf(bias + shifted / (1 - acceleration * shifted)))
        assert_rate(int((ours.replicates < limit).sum()), n, share, detects=0.02)
