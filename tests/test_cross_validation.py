"""Folds, and the tests of scores on folds, against scikit-learn, SciPy and the papers' formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from statistical import assert_same_law

import fastboot as fb
from fastboot.companions.cross_validation import corrected_t_test, five_by_two_cv_test
from fastboot.companions.folds import Folds, folds

Floats = NDArray[np.float64]
# Moments of a hundred scores, and quantiles of SciPy's: some roundings of 1.1e-16, and those of
# differences near 0 of scores near 1.
ROUNDING = 1e-12
SIDES = ("two-sided", "greater", "less")
MIRROR = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
SEED = 5
# `folds(7, 3, rng=0)` with NumPy 2.4.6.
GOLDEN = [[1, 3, 6], [2, 4], [0, 5]]

keys = st.lists(st.integers(0, 12), min_size=12, max_size=80)


def of_rows(found: Folds, repeat: int, k: int) -> NDArray[np.int64]:
    """Return the fold of each row in a repeat, -1 for none."""
    codes = np.full(found.n_rows, -1)
    for fold in range(k):
        codes[found.tests[repeat * k + fold]] = fold
    return codes


def scores(n: int = 100) -> tuple[Floats, Floats]:
    """Scores of two systems on so many folds."""
    rng = np.random.default_rng(SEED)
    return rng.normal(0.82, 0.03, n), rng.normal(0.81, 0.03, n)


# Folds


@given(st.integers(2, 90), st.integers(2, 9), st.integers(1, 3), st.integers(0, 2**40))
def test_folds__partition(n: int, k: int, repeats: int, seed: int) -> None:
    """Every row is tested once in each repeat and trains the other folds; sizes are even."""
    k = min(n, k)
    found = folds(n, k, repeats=repeats, rng=seed)

    assert len(found) == k * repeats
    assert found.n_repeats == repeats
    for repeat in range(repeats):
        tests = found.tests[repeat * k : (repeat + 1) * k]
        assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(n))
        assert np.ptp([test.size for test in tests]) <= 1
    for train, test in found:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()


@given(keys, st.integers(2, 6))
def test_folds__strata(strata: list[int], k: int) -> None:
    """Numbers of rows of a stratum in the folds differ by one at most, and so do all rows."""
    codes = of_rows(folds(len(strata), k, strata=strata, rng=SEED), 0, k)

    assert np.ptp(np.bincount(codes, minlength=k)) <= 1
    for stratum in set(strata):
        counts = np.bincount(codes[np.array(strata) == stratum], minlength=k)
        assert np.ptp(counts) <= 1


@settings(deadline=None)  # the first call compiles
@given(keys.filter(lambda groups: len(set(groups)) >= 4), st.integers(2, 4), st.booleans())
def test_folds__groups(groups: list[int], k: int, stratified: bool) -> None:
    """Groups are whole; without strata folds differ by the largest at most."""
    strata = [row % 3 for row in range(len(groups))] if stratified else None
    codes = of_rows(folds(len(groups), k, groups=groups, strata=strata, rng=SEED), 0, k)

    assert len(set(zip(groups, codes.tolist(), strict=True))) == len(set(groups))
    if not stratified:
        assert np.ptp(np.bincount(codes, minlength=k)) <= max(map(groups.count, groups))


@pytest.mark.parametrize("n_groups", [30, 400])
def test_folds__groups_and_strata(n_groups: int) -> None:
    """Shares of strata in folds are, in the mean of 20 seeds, as near to even as scikit-learn's."""
    rng = np.random.default_rng(SEED)
    groups, strata = rng.integers(0, n_groups, 2_000), rng.integers(0, 3, 2_000)
    totals = np.bincount(strata)

    def unevenness(splits: Any) -> float:
        shares = [np.bincount(strata[test], minlength=3) / totals for _, test in splits]
        return float(np.abs(np.array(shares) - 0.2).max())

    ours, theirs = [], []
    for seed in range(20):
        splitter = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
        theirs.append(unevenness(splitter.split(groups, strata, groups)))
        ours.append(unevenness(folds(2_000, 5, groups=groups, strata=strata, rng=seed)))

    # Theirs vary by a third from seed to seed: a tenth is over the error of the mean of 20.
    assert np.mean(ours) <= 1.1 * np.mean(theirs)


def test_folds__groups_of_one_stratum_each() -> None:
    """Where strata cannot be spread, since each is one group, rows still are."""
    groups = np.repeat(np.arange(20), 5)
    codes = of_rows(folds(100, 4, groups=groups, strata=groups, rng=SEED), 0, 4)

    assert np.bincount(codes).tolist() == [25, 25, 25, 25]


def test_folds__reproducible() -> None:
    """A seed gives its folds, whatever the number of repeats; repeats and seeds differ."""
    first = folds(50, 5, repeats=3, rng=1)

    again, single = folds(50, 5, repeats=3, rng=1), folds(50, 5, rng=1)
    assert all(map(np.array_equal, first.tests, again.tests))
    assert all(map(np.array_equal, first.tests[:5], single.tests))
    assert not np.array_equal(of_rows(first, 0, 5), of_rows(first, 1, 5))
    assert not np.array_equal(of_rows(first, 0, 5), of_rows(folds(50, 5, rng=2), 0, 5))
    fresh = folds(50, 5)
    assert np.array_equal(of_rows(fresh, 0, 5), of_rows(folds(50, 5, rng=fresh.seed), 0, 5))


def test_folds__golden() -> None:
    """The raw words of NumPy's Philox are kept from version to version, and so are these folds."""
    assert [test.tolist() for test in folds(7, 3, rng=0).tests] == GOLDEN


@pytest.mark.parametrize("grouped", [False, True])
def test_folds__every_division(grouped: bool) -> None:
    """The three ways to halve four rows (or groups of as many rows) are equally likely."""
    groups = np.repeat(np.arange(4), 2) if grouped else None
    found = folds(8 if grouped else 4, 2, groups=groups, repeats=20_000, rng=SEED)
    codes = np.array(
        [of_rows(found, repeat, 2)[:: 2 if grouped else 1] for repeat in range(20_000)]
    )
    partner = (codes[:, 1:] == codes[:, :1]).argmax(axis=1)

    assert_same_law(np.bincount(partner).tolist(), [1 / 3] * 3, detects=0.04)


def test_folds__names() -> None:
    """Columns may be named."""
    table = {"document": ["x", "x", "y", "y", "z", "z"], "language": ["de", "en"] * 3}
    found = folds(6, 3, groups="document", strata="language", data=table, rng=0)

    assert sorted(map(tuple, found.tests)) == [(0, 1), (2, 3), (4, 5)]


def test_folds__scikit_learn_takes_them() -> None:
    """They are what cv= takes."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(60, 2))
    found = cross_val_score(
        LogisticRegression(),
        x,
        x[:, 0] > 0.0,
        cv=folds(60, 4, repeats=2, strata=x[:, 0] > 0, rng=0),
    )

    assert found.shape == (8,)


GROUPS, STRATA = np.arange(24) // 2, np.arange(24) % 2


@pytest.mark.parametrize(
    "splitter,given",
    [
        (KFold(4), {}),
        (GroupKFold(4), {"groups": GROUPS}),
        (StratifiedKFold(4, shuffle=True, random_state=0), {"strata": STRATA}),
        (StratifiedGroupKFold(4), {"groups": GROUPS, "strata": STRATA}),
        (ShuffleSplit(3, test_size=5, train_size=9, random_state=0), {}),
    ],
)
def test_folds__splitters(splitter: Any, given: dict[str, Any]) -> None:
    """Splitters of scikit-learn's are taken, with groups and strata as they call them."""
    found = folds(24, splitter, **given)
    x = np.zeros((24, 1))
    expected = list(splitter.split(x, given.get("strata"), given.get("groups")))

    assert len(found) == len(expected)
    for (train, test), (their_train, their_test) in zip(found, expected, strict=True):
        assert np.array_equal(train, np.sort(their_train))
        assert np.array_equal(test, np.sort(their_test))
    assert found.mean_sizes == tuple(
        np.mean([[train.size, test.size] for train, test in expected], axis=0)
    )


def test_folds__pairs() -> None:
    """Pairs are taken, and sequences of folds can be sliced."""
    found = folds(4, [([0, 1], [2]), ([2, 3], [1, 0])])

    assert [[part.tolist() for part in pair] for pair in found[:]] == [
        [[0, 1], [2]],
        [[2, 3], [0, 1]],
    ]
    assert repr(found) == "Folds(2 folds of 4 rows)"
    assert repr(folds(9, 3, repeats=2, rng=7)) == "Folds(6 folds of 9 rows, n_repeats=2, seed=7)"


@pytest.mark.parametrize(
    "arguments,options,error,words",
    [
        ((1, 2), {}, ValueError, "`n` is 1; it must be an integer, 2 or more"),
        ((10, 1), {}, ValueError, "`k` is 1; it must be an integer, 2 or more"),
        ((10, 2), {"repeats": 0}, ValueError, "`repeats` is 0; it must be an integer, 1 or more"),
        ((3, 4), {}, ValueError, "`k` is 4 but there are only 3 rows; make it less"),
        ((4, 3), {"groups": list("xxyy")}, ValueError, "there are only 2 groups"),
        (
            (10, 3),
            {"groups": [0] * 10},
            ValueError,
            "`k` is 3 but `groups` has only 1 group; folds of whole groups need two at least",
        ),
        ((4, 2), {"groups": list("xxy")}, ValueError, "`n` is 4 but `groups` has 3 rows"),
        ((4, 2), {"strata": list("xxy")}, ValueError, "`n` is 4 but `strata` has 3 rows"),
        ((4, 2), {"rng": "x"}, TypeError, "`rng` is 'x'"),
        ((4, "ten"), {}, TypeError, "`k` is 'ten'; give a number of folds, a splitter"),
        ((4, 2.0), {}, TypeError, "`k` is 2.0; give a number of folds, a splitter"),
        ((4, 2.5), {"rng": 0}, TypeError, "`k` is 2.5; give a number of folds, a splitter"),
        ((4, "ten"), {"rng": 0}, TypeError, "`k` is 'ten'; give a number of folds, a splitter"),
        ((4, True), {"repeats": 2}, TypeError, "`k` is True; give a number of folds, a splitter"),
        ((4, [1, 2]), {}, TypeError, r"`k` holds 1; give pairs \(train, test\)"),
        ((4, [([0.5], [1])]), {}, TypeError, "`k` holds pairs that are not of row indices"),
        ((4, []), {}, ValueError, r"`k` has no pairs"),
        ((4, [([0], [4])]), {}, ValueError, "`k` has test rows that are none or not from 0 to 3"),
        ((4, [([-1], [0])]), {}, ValueError, "`k` has training rows that are none or not"),
        ((4, [([0], [1])]), {"repeats": 2}, ValueError, "leave out `repeats` and `rng`"),
        ((4, KFold(2)), {"rng": 1}, ValueError, "brings splits of its own; leave out `repeats`"),
    ],
)
def test_folds__refused(
    arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], words: str
) -> None:
    """What is wrong is refused by name."""
    with pytest.raises(error, match=words):
        folds(*arguments, **options)


# The corrected resampled t test


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("k,r", [(10, 1), (10, 10), (2, 5)])
def test_corrected_t__scipy(k: int, r: int, alternative: str) -> None:
    """SciPy's paired t, its variance of a mean 1 / J replaced by 1 / J + 1 / (k - 1)."""
    a, b = scores(k * r)
    n = k * r
    plain = stats.ttest_rel(a, b)
    statistic = plain.statistic * math.sqrt((1 / n) / (1 / n + 1 / (k - 1)))
    error = (a - b).mean() / statistic
    law = stats.t(n - 1)
    pvalues = {
        "two-sided": 2 * law.sf(abs(statistic)),
        "greater": law.sf(statistic),
        "less": law.cdf(statistic),
    }
    tail = 0.025 if alternative == "two-sided" else 0.05
    low, high = (a - b).mean() + law.ppf([tail, 1 - tail]) * error
    limits = {"two-sided": (low, high), "greater": (low, math.inf), "less": (-math.inf, high)}
    result = corrected_t_test(a, b, test_fraction=1 / k, alternative=alternative)

    assert result.statistic == pytest.approx(statistic, rel=ROUNDING)
    assert result.pvalue == pytest.approx(pvalues[alternative], rel=ROUNDING)
    assert result.confidence_interval[:2] == pytest.approx(limits[alternative], rel=ROUNDING)
    assert result.degrees_of_freedom == n - 1


def test_corrected_t__nadeau_bengio() -> None:
    """By hand: differences 1, 2, 3, 6 of tests half as large as training: t = 3 / sqrt(14/3 x 3/4).

    Mean 3, variance (4 + 1 + 0 + 9) / 3, times 1/4 + 1/2.
    """
    result = corrected_t_test([1, 2, 3, 6], [0, 0, 0, 0], n_train=100, n_test=50)

    assert result.statistic == pytest.approx(3 / math.sqrt(3.5), rel=ROUNDING)
    assert result.standard_error == pytest.approx(math.sqrt(3.5), rel=ROUNDING)


def test_corrected_t__sizes() -> None:
    """All ways to say the sizes agree: folds, pairs of them, or of masks, numbers, a share."""

    def of(rows: Any) -> list[bool]:
        return [bool(one) for one in np.isin(np.arange(50), rows)]

    a, b = scores(20)
    found = folds(50, 10, repeats=2, rng=0)
    ways: list[dict[str, Any]] = [
        {"folds": found},
        {"folds": list(found)},
        {"folds": folds(50, list(found))},
        *(
            {"folds": [(make(of(train)), make(of(test))) for train, test in found]}
            for make in (
                list,
                np.array,
                pa.array,
                pl.Series,
                lambda mask: pd.Series(mask, dtype="boolean"),
            )
        ),
        {"n_train": 45, "n_test": 5},
        {"test_fraction": 0.1},
    ]

    ratios = [corrected_t_test(a, b, **way).test_ratio for way in ways]
    assert ratios == pytest.approx([1 / 9] * len(ways), rel=ROUNDING)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=30),
    st.sampled_from(SIDES),
)
def test_corrected_t__exchanged(pairs: list[tuple[int, int]], alternative: str) -> None:
    """Exchanging the systems mirrors everything."""
    a, b = np.array(pairs, dtype=float).T
    one = corrected_t_test(a, b, test_fraction=0.2, alternative=alternative)
    other = corrected_t_test(b, a, test_fraction=0.2, alternative=MIRROR[alternative])
    low, high = other.confidence_interval[:2]

    assert one.pvalue == pytest.approx(other.pvalue, rel=ROUNDING, nan_ok=True)
    assert one.statistic == pytest.approx(-other.statistic, rel=ROUNDING, nan_ok=True)
    # Means of integers up to 20: absolute, for they may cancel.
    assert one.confidence_interval[:2] == pytest.approx((-high, -low), rel=ROUNDING, abs=ROUNDING)


def test_corrected_t__too_often_without_correction() -> None:
    """Scores that share most of their training data: Student's test errs, the corrected does not.

    A score is the squared error of the training mean, of two features of one law; 5 x 4 folds.
    """
    rng = np.random.default_rng(SEED)
    n_runs, rejected, naive = 400, 0, 0
    for run in range(n_runs):
        x, y = rng.normal(size=(2, 40))
        found = folds(40, 4, repeats=5, rng=run)
        a, b = (
            np.array([np.mean((one[test] - one[train].mean()) ** 2) for train, test in found])
            for one in (x, y)
        )
        rejected += corrected_t_test(a, b, folds=found).pvalue <= 0.05
        naive += stats.ttest_rel(a, b).pvalue <= 0.05

    # Binomial tails of 1e-6: 5% of 400 are 44 at most, 30% are 78 at least.
    assert rejected <= stats.binom.isf(1e-6, n_runs, 0.05)
    assert naive >= stats.binom.ppf(1e-6, n_runs, 0.3)


def test_corrected_t__constant() -> None:
    """Differences that do not vary, as decimals: t is infinite, or undefined where they are 0.

    As in paired_t_test: p is 1 where systems are the same, never 0 for want of variance. (It was
    NaN and 0, the latter beside a note that the test says nothing.)
    """
    better = corrected_t_test([0.3, 0.2, 0.9], [0.2, 0.1, 0.8], test_fraction=0.1)
    equal = corrected_t_test([0.1 + 0.2, 0.5], [0.3, 0.5], test_fraction=0.1)

    assert (better.statistic, better.standard_error) == (math.inf, 0.0)
    assert math.isnan(better.pvalue)
    assert better.notes == ("differences do not vary: the test says nothing",)
    assert math.isnan(equal.statistic)
    assert equal.pvalue == 1.0
    assert equal.notes == ("all differences are 0: both systems have the same scores",)


@pytest.mark.parametrize("sides", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("shift", [0.0, 0.25])
def test_zero_variance__as_the_paired_t_test(shift: float, sides: str) -> None:
    """One rule for all tests of differences, whatever their alternative."""
    b = np.arange(10.0)
    expected = fb.paired_t_test(b + shift, b, n_resamples=0, alternative=sides).pvalue
    found = corrected_t_test(b + shift, b, test_fraction=0.1, alternative=sides)
    five = five_by_two_cv_test(b + shift, b)

    assert found.pvalue == pytest.approx(expected, abs=0.0, nan_ok=True)
    if sides == "two-sided":
        assert five.pvalue == pytest.approx(expected, abs=0.0, nan_ok=True)
        assert five.t_pvalue == pytest.approx(expected, abs=0.0, nan_ok=True)
    assert fb.sign_test(b, b, alternative=sides).pvalue == 1.0


def test_five_by_two__repeats_without_variance() -> None:
    """Differences that vary between repeats only, around 0: F is infinite, not of equal systems."""
    a = np.repeat([0.0, 1.0, -1.0, 2.0, -2.0], 2)
    result = five_by_two_cv_test(a, np.zeros(10))

    assert result.estimate == 0.0
    assert np.isnan([result.pvalue, result.t_pvalue]).all()
    assert result.notes == ("differences do not vary: the test says nothing",)


def test_large_fold__equal_in_both() -> None:
    """A fold without a difference is that, however large; others keep theirs (SciPy on a - b)."""
    a = np.array([1e13, 0.005, 0.006, 0.007, 0.002, 0.003, 0.004, 0.001, 0.002, 0.006])
    b = np.array([1e13, 0.001, 0.001, 0.003, 0.004, 0.001, 0.002, 0.002, 0.001, 0.003])
    result = corrected_t_test(a, b, n_train=1e300, n_test=1.0)  # no correction
    expected = stats.ttest_1samp(a - b, 0.0)
    five, apart = five_by_two_cv_test(a, b), five_by_two_cv_test(a - b, np.zeros(10))

    assert result.pvalue == pytest.approx(expected.pvalue, rel=ROUNDING)
    assert five.pvalue == pytest.approx(apart.pvalue, rel=ROUNDING)


def test_corrected_t__one_fold() -> None:
    """One fold has a mean, and no test."""
    result = corrected_t_test([0.9], [0.8], n_train=8, n_test=2)

    assert result.estimate == pytest.approx(0.1)
    assert np.isnan([result.pvalue, result.statistic, *result.confidence_interval[:2]]).all()
    assert result.notes == ("one fold has no variance: the test is undefined",)


def test_corrected_t__missing() -> None:
    """A fold without a score is left out, or makes the answer NaN."""
    a, b = [0.9, math.nan, 0.8, 0.7], [0.8, 0.7, 0.75, 0.7]
    left = corrected_t_test(a, b, folds=folds(40, 4, rng=0), nan_policy="omit")
    spread = corrected_t_test(a, b, test_fraction=0.25, nan_policy="propagate")

    assert (left.n_rows, left.n_dropped, left.degrees_of_freedom) == (3, 1, 2)
    assert np.isnan([spread.estimate, spread.pvalue, *spread.confidence_interval[:2]]).all()
    assert spread.notes == ()


@pytest.mark.parametrize(
    "options,error,words",
    [
        ({}, TypeError, "sizes are given in 0 ways; give folds=, or n_train= and n_test="),
        ({"test_fraction": 0.1, "n_test": 5}, TypeError, "sizes are given in 2 ways"),
        ({"test_fraction": 1.0}, ValueError, "`test_fraction` is 1; it must be below 1"),
        ({"test_fraction": "a"}, ValueError, "`test_fraction` is 'a'; it must be a number above 0"),
        ({"n_test": 5}, ValueError, "`n_train` is None; it must be a number above 0"),
        ({"n_train": 5, "n_test": 0}, ValueError, "`n_test` is 0; it must be a number above 0"),
        ({"folds": KFold(2)}, TypeError, "which has no sizes yet; give folds"),
        ({"folds": 3}, TypeError, "`folds` is 3, which has no sizes yet"),
        ({"folds": folds(9, 3, rng=0)}, ValueError, "`folds` has 3 folds but there are 2 scores"),
        ({"folds": [([0], [1])]}, ValueError, "`folds` has 1 fold but there are 2 scores"),
        ({"folds": []}, ValueError, "`folds` has 0 folds but there are 2 scores"),
        (
            {"folds": [1, 2]},
            TypeError,
            r"`folds` holds 1; give pairs \(train, test\) of row indices",
        ),
        (
            {"folds": [(9, 1)] * 2},
            TypeError,
            r"holds \(9, 1\); .* or masks, or n_train= and n_test=",
        ),
        ({"folds": ["ab", "cd"]}, TypeError, "`folds` holds 'ab'; give pairs"),
        ({"folds": [("a", "b")] * 2}, TypeError, r"`folds` holds \('a', 'b'\); give pairs"),
        ({"folds": [([0], [1], [2])]}, TypeError, r"holds \(\[0\], \[1\], \[2\]\); give pairs"),
        ({"folds": [([0], [1]), ([], [4])]}, ValueError, "`folds` has no training rows in fold 1"),
        ({"folds": [([4], [])] * 2}, ValueError, "`folds` has no test rows in fold 0; give folds"),
        ({"folds": [([True], [False])] * 2}, ValueError, "`folds` has no test rows in fold 0"),
    ],
)
def test_corrected_t__refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    """Sizes are said once, and can be."""
    with pytest.raises(error, match=words):
        corrected_t_test([0.5, 0.6], [0.4, 0.6], **options)


def test_corrected_t__words() -> None:
    """The sentence has the figures."""
    result = corrected_t_test([1, 2, 3, 6], [0, 0, 0, 0], n_train=100, n_test=50)

    assert result.summary() == (
        "Mean of a - b over 4 folds 3, 95% interval [-2.954, 8.954]; corrected resampled t test "
        "(test rows by training rows 0.5), t(3) = 1.604, two-sided p = 0.207."
    )
    assert repr(result) == "CorrectedTResult(3 [-2.954, 8.954], p = 0.207, n_rows=4)"
    assert result.to_dict()["confidence_interval_method"] == "corrected t"


def test_corrected_t__signature() -> None:
    """The line names the columns, the sizes of the folds and every setting."""
    table = {"x": [1, 2, 3, 6], "y": [0, 1, 0, 1], "hole": [1, None, 0, 1]}

    def signed(a: str = "x", b: str = "y", **options: Any) -> str:
        sizes: dict[str, Any] = {"n_train": 4, "n_test": 1}
        return corrected_t_test(a, b, data=table, **sizes | options).signature()

    assert signed(alternative="less", confidence_level=0.9) == (
        f"fastboot:{fb.__version__}|procedure:corrected_t_test|a:x|b:y|method:corrected t|"
        "confidence_level:0.9|alternative:less|test_ratio:0.25|n_rows:4"
    )
    assert signed(b="hole", nan_policy="omit").endswith("|n_rows:3|nan_policy:omit|n_dropped:1")
    different = [
        signed(), signed("y", "x"), signed(n_test=2), signed(confidence_level=0.9),
        signed(alternative="greater"), signed(alternative="less"),
        signed(b="hole", nan_policy="omit"),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


# 5x2 cross-validation


def test_five_by_two__formulas() -> None:
    """As the papers write them: Dietterich (1998), Alpaydin (1999)."""
    a, b = scores(10)
    differences = (a - b).reshape(5, 2)
    variances = ((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    t = differences[0, 0] / math.sqrt(variances.sum() / 5)
    f = (differences**2).sum() / (2 * variances.sum())
    result = five_by_two_cv_test(a, b)

    assert result.t_statistic == pytest.approx(t, rel=ROUNDING)
    assert result.t_pvalue == pytest.approx(2 * stats.t.sf(abs(t), 5), rel=ROUNDING)
    assert result.statistic == pytest.approx(f, rel=ROUNDING)
    assert result.pvalue == pytest.approx(stats.f.sf(f, 10, 5), rel=ROUNDING)
    assert result.estimate == pytest.approx(differences.mean(), rel=ROUNDING)


def test_five_by_two__exchanged() -> None:
    """Exchanging the systems changes signs alone; exchanging the folds of a repeat leaves F."""
    a, b = scores(10)
    one, other = five_by_two_cv_test(a, b), five_by_two_cv_test(b, a)
    order = [1, 0, 3, 2, 4, 5, 7, 6, 8, 9]
    turned = five_by_two_cv_test(a[order], b[order])

    assert (one.statistic, one.pvalue, one.t_pvalue) == (
        other.statistic,
        other.pvalue,
        other.t_pvalue,
    )
    assert (one.estimate, one.t_statistic) == (-other.estimate, -other.t_statistic)
    assert turned.statistic == pytest.approx(one.statistic, rel=ROUNDING)
    assert turned.t_statistic != pytest.approx(one.t_statistic)


def test_five_by_two__constant() -> None:
    """Without any variance, as decimals: infinite, or undefined where there is no difference.

    P-values by the rule of test_corrected_t__constant.
    """
    better = five_by_two_cv_test([0.3, 0.2] * 5, [0.2, 0.1] * 5)
    equal = five_by_two_cv_test([0.3] * 10, [0.1 + 0.2] * 10)

    assert better.statistic == math.inf
    assert np.isnan([better.pvalue, better.t_pvalue]).all()
    assert better.notes == ("differences do not vary: the test says nothing",)
    assert np.isnan([equal.statistic, equal.t_statistic]).all()
    assert (equal.pvalue, equal.t_pvalue) == (1.0, 1.0)
    assert equal.notes == ("all differences are 0: both systems have the same scores",)


def test_five_by_two__refused() -> None:
    """Ten scores of each, all of them."""
    with pytest.raises(ValueError, match="`a` and `b` have 4 scores each; five repeats of two"):
        five_by_two_cv_test([1, 2, 3, 4], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="`b` has 1 NaN"):
        five_by_two_cv_test([1.0] * 10, [1.0] * 9 + [math.nan])


def test_five_by_two__words() -> None:
    """The sentence has both tests."""
    table = {"a": [3, 1, 2, 2, 4, 1, 2, 3, 1, 2], "b": [1, 1, 1, 2, 2, 0, 2, 1, 0, 1]}
    result = five_by_two_cv_test("a", "b", data=table)

    assert result.summary() == (
        "Mean of a - b 1; combined 5x2 cross-validation F test, F(10, 5) = 1.6, p = 0.315 "
        "(Dietterich's t(5) = 2, two-sided p = 0.102)."
    )
    assert repr(result) == "FiveByTwoResult(1, F=1.6, p = 0.315)"
    assert result.to_dict()["kind"] == "FiveByTwoResult"


def test_five_by_two__signature() -> None:
    """There is nothing to set: the line names the columns."""
    table = {"x": range(10), "y": [1.0, 3.0] * 5}
    signature = five_by_two_cv_test("x", "y", data=table).signature()

    assert signature == (
        f"fastboot:{fb.__version__}|procedure:five_by_two_cv_test|a:x|b:y|alternative:two-sided|"
        "n_rows:10"
    )
    assert signature != five_by_two_cv_test("y", "x", data=table).signature()
