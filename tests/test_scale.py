"""Tests do not depend on the unit of scores: from 1e-300 to 1e300 t, p and shapes are the same.

The suite turns warnings into errors: nothing overflows on the way.
"""

from __future__ import annotations

import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import stats

import fastboot as fb
from fastboot.companions.cross_validation import corrected_t_test, five_by_two_cv_test
from fastboot.companions.differences import Differences, Groups
from fastboot.companions.scale import LEAST_EXPONENT, scaled_differences, unscaled
from fastboot.companions.sensitivity import sensitivity_test
from fastboot.companions.t_test import paired_t_test

if TYPE_CHECKING:
    from pathlib import Path

SCALES = [1e-300, 1e-200, 1e-160, 1e-90, 1e80, 1e160, 1e300]
POWERS = [2.0**-900, 2.0**-300, 2.0**70, 2.0**500, 2.0**1000]
A = np.array([0.8, 0.7, 0.9, 0.3, 0.6, 1.0])
B = np.array([0.5, 0.6, 0.7, 0.4, 0.4, 0.3])
CLUSTERS = np.array([0, 0, 1, 1, 2, 3])
# Scores are rounded when they are multiplied: differences of tenths by a few 1e-16 of 1.
CLOSE = 1e-13


def columns(n: int) -> tuple[Any, Any, Any]:
    """The six pairs, or n skewed ones in clusters of all sizes."""
    if n == A.size:
        return A, B, CLUSTERS
    rng = np.random.default_rng(n)
    a = rng.gamma(2.0, size=n)
    return a, 0.9 * a + rng.gamma(1.0, 0.2, size=n), rng.integers(0, 40, size=n)


def figures(result: Any, scale: float) -> list[float]:
    """All figures of a paired t test, those with the unit of the scores by their scale."""
    with_unit = [
        result.estimate, result.estimate_a, result.estimate_b, result.standard_deviation,
        result.standard_error, *result.confidence_interval[:2], *result.interval(0.5)[:2],
    ]  # fmt: skip
    check = result.normality
    return [
        *(one / scale for one in with_unit),
        result.t, result.pvalue, result.pvalue_greater, result.pvalue_less,
        result.cohen_dz, result.hedges_gz, *result.effect_size_interval[:2], result.tail_change,
        check.skewness, check.excess_kurtosis, check.largest_deviation,
    ]  # fmt: skip


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n", [6, 300, 9_000])
def test_paired_t_test__scale(
    n: int, scale: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, grouped: bool
) -> None:
    """In memory, and batch by batch, with clusters and without."""
    monkeypatch.setattr("fastboot.companions.batches._ROWS", max(2, n // 4))
    a, b, codes = columns(n)
    groups = codes if grouped else None
    expected = paired_t_test(a, b, groups=groups, n_resamples=0)
    named = {"a": a * scale, "b": b * scale, "g": codes}
    parquet.write_table(pa.table(named), tmp_path / "scores.parquet")
    whole = paired_t_test(a * scale, b * scale, groups=groups, n_resamples=0)
    streamed = paired_t_test(
        "a", "b", data=tmp_path / "scores.parquet", groups="g" if grouped else None, n_resamples=0
    )
    alone = paired_t_test((a - b) * scale, groups=groups, n_resamples=0)
    for found in (whole, streamed, alone):
        # Moments of 9,000 rows in another order lose another digit.
        for one, other in zip(figures(found, scale), figures(expected, 1.0), strict=True):
            if found is alone and other in {expected.estimate_a, expected.estimate_b}:
                continue
            assert other == pytest.approx(one, rel=100 * CLOSE, abs=CLOSE)
        check = found.normality
        assert check.test == expected.normality.test
        # W has 1e-9 of its algorithm.
        assert expected.normality.statistic == pytest.approx(check.statistic, rel=1e-8)
        assert expected.normality.pvalue == pytest.approx(check.pvalue, rel=1e-6, abs=1e-300)
        if found is not streamed:
            assert check.n_outliers == expected.normality.n_outliers
        assert (found.verdict, found.notes) == (expected.verdict, expected.notes) or (
            found is streamed and check.n_outliers is None
        )
        assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()  # noqa: S301 - our own


@pytest.mark.parametrize("scale", SCALES)
def test_paired_t_test__scipy_at_scale_1(scale: float) -> None:
    """t, p and the moments are those that SciPy has of the scores before they were multiplied."""
    theirs = stats.ttest_rel(A, B)
    found = fb.paired_t_test(A * scale, B * scale, n_resamples=0)
    assert theirs.statistic == pytest.approx(found.t, rel=CLOSE)
    assert theirs.pvalue == pytest.approx(found.pvalue, rel=CLOSE)
    assert stats.skew(A - B) == pytest.approx(found.normality.skewness, rel=10 * CLOSE)
    assert stats.kurtosis(A - B) == pytest.approx(found.normality.excess_kurtosis, rel=10 * CLOSE)
    theirs = stats.shapiro(A - B)
    assert theirs.statistic == pytest.approx(found.normality.statistic, rel=1e-8)


@pytest.mark.parametrize("scale", POWERS)
@pytest.mark.parametrize("groups", [None, CLUSTERS])
def test_paired_t_test__powers_of_two(scale: float, groups: Any) -> None:
    """Not a bit changes."""
    expected = paired_t_test(A, B, groups=groups, n_resamples=0)
    found = paired_t_test(A * scale, B * scale, groups=groups, n_resamples=0)
    assert figures(found, scale) == figures(expected, 1.0)
    assert found.normality == expected.normality


@pytest.mark.parametrize("scale", [1.0, *SCALES])
@pytest.mark.parametrize("shift", [0, 3])
def test_constant(scale: float, shift: int) -> None:
    """Differences that rounding alone sets apart are equal, or 0, at every scale."""
    unit = round(math.log10(scale)) - 1  # scores with one digit, rounded once
    a = np.array([float(f"{k}e{unit}") for k in range(1, 11)])
    b = np.array([float(f"{k + shift}e{unit}") for k in range(1, 11)])
    if not shift:
        b[::3] = np.nextafter(b[::3], np.inf)
    paired = paired_t_test(a, b, n_resamples=0)
    corrected = corrected_t_test(a, b, test_fraction=0.1)
    both = five_by_two_cv_test(a, b)
    assert (paired.standard_deviation, paired.standard_error) == (0.0, 0.0)
    assert corrected.standard_error == 0.0
    pvalues = [paired.pvalue, corrected.pvalue, both.pvalue, both.t_pvalue]
    if shift:
        assert -shift / 10 * scale == pytest.approx(paired.estimate, rel=1e-14)
        assert [paired.t, paired.cohen_dz, corrected.statistic] == [-math.inf] * 3
        assert all(math.isnan(one) for one in pvalues)
        assert corrected.notes == both.notes == ("differences do not vary: the test says nothing",)
    else:
        assert paired.estimate == corrected.estimate == both.estimate == 0.0
        assert pvalues == [1.0] * 4
        assert (
            corrected.notes
            == both.notes
            == ("all differences are 0: both systems have the same scores",)
        )
    assert "degenerate: all differences are equal" in paired.notes[0]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_corrected_t_test__scale(scale: float, alternative: str) -> None:
    """The formula of Nadeau and Bengio, from SciPy's t at scale 1."""
    found = corrected_t_test(A * scale, B * scale, test_fraction=0.1, alternative=alternative)
    one = corrected_t_test(A, B, test_fraction=0.1, alternative=alternative)
    t = stats.ttest_rel(A, B).statistic / math.sqrt(1 + 6 / 9)
    assert t == pytest.approx(found.statistic, rel=CLOSE)
    p = {
        "two-sided": 2 * stats.t.sf(abs(t), 5), "greater": stats.t.sf(t, 5),
        "less": stats.t.cdf(t, 5),
    }[alternative]  # fmt: skip
    assert p == pytest.approx(found.pvalue, rel=CLOSE)
    assert [one.estimate, one.standard_error, *one.confidence_interval[:2]] == pytest.approx(
        [
            part / scale
            for part in (found.estimate, found.standard_error, *found.confidence_interval[:2])
        ],
        rel=100 * CLOSE,
    )
    assert found.notes == ()


@pytest.mark.parametrize("scale", SCALES)
def test_five_by_two__scale(scale: float) -> None:
    """F and t, their p-values and the mean."""
    a, b = np.concatenate([A, B[:4]]), np.concatenate([B, A[2:]])
    one, found = five_by_two_cv_test(a, b), five_by_two_cv_test(a * scale, b * scale)
    assert [one.statistic, one.pvalue, one.t_statistic, one.t_pvalue] == pytest.approx(
        [found.statistic, found.pvalue, found.t_statistic, found.t_pvalue], rel=CLOSE
    )
    assert one.estimate == pytest.approx(found.estimate / scale, rel=CLOSE)


@pytest.mark.parametrize("scale", SCALES)
def test_sensitivity_test__scale(scale: float) -> None:
    """Both its tests, of pairs and of items."""
    reports = [[0.1, 0.4, 0.3], [0.9, 0.2], [0.5, 0.6, 0.8], [0.7, 0.3]]

    def run(unit: float) -> Any:
        return sensitivity_test(
            reports, lambda own, partner: (own + partner) * unit, lambda own: own * own,
            n_pairs=30, rng=0, n_resamples=0,
        )  # fmt: skip

    one, found = run(1.0), run(scale)
    for name in ("test", "test_by_item"):
        assert figures(getattr(one, name), 1.0) == pytest.approx(
            figures(getattr(found, name), scale), rel=100 * CLOSE
        )


# Rows of all magnitudes


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("steps", [(1e-250, 1e-90, 1.0, 1e130), (1e130, 1.0, 1e-90, 1e-250)])
def test_paired_t_test__units_grow(
    steps: tuple[float, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, grouped: bool
) -> None:
    """Batches that are larger than those before, or smaller: the answer is that of all at once."""
    monkeypatch.setattr("fastboot.companions.batches._ROWS", A.size)
    a = np.concatenate([A * step for step in steps])
    b = np.concatenate([B * step for step in steps])
    codes = np.tile(CLUSTERS, len(steps))
    path = tmp_path / "scores.parquet"
    parquet.write_table(pa.table({"a": a, "b": b, "g": codes}), path)
    found = paired_t_test("a", "b", data=path, groups="g" if grouped else None, n_resamples=0)
    whole = paired_t_test(a, b, groups=codes if grouped else None, n_resamples=0)
    # Beside 1e130 the others are 0.
    large = np.repeat(np.array(steps) == 1e130, A.size)
    expected = paired_t_test(
        np.where(large, a, 0.0) / 1e130, np.where(large, b, 0.0) / 1e130,
        groups=codes if grouped else None, n_resamples=0,
    )  # fmt: skip
    for one in (found, whole):
        assert figures(expected, 1.0) == pytest.approx(figures(one, 1e130), rel=100 * CLOSE)


def test_differences__units_grow_within_a_batch() -> None:
    """Chunks of one batch, the first all 0 and the second tiny; sums of groups keep up."""
    n = 8_192
    d = np.concatenate([np.zeros(n), np.full(n, 1e-200), np.full(n, 3.0), np.full(n, 1e3)])
    found = Differences()
    codes = np.repeat(np.arange(4), n)
    found.add(d, None, Groups(codes, range(4)))
    assert found.exponent == 10
    assert 1003 / 4 / 2**10 == pytest.approx(found.mean, rel=1e-14)
    sums, _ = found.group_sums
    expected = n * (np.array([0.0, 0.0, 3.0, 1e3]) - 1003 / 4) / 2**10
    assert expected.tolist() == pytest.approx(sums.tolist(), rel=1e-13)


def test_paired_t_test__large_scores_differ_by_little() -> None:
    """Units are those of the differences: two scores of 1e300 that are equal push none to 0."""
    a, b = np.append(A, 1e300), np.append(B, 1e300)
    theirs = stats.ttest_1samp(np.append(A - B, 0.0), 0.0)
    found = paired_t_test(a, b, n_resamples=0)
    assert theirs.statistic == pytest.approx(found.t, rel=CLOSE)
    corrected = corrected_t_test(a, b, test_fraction=0.5)
    assert theirs.statistic / math.sqrt(8) == pytest.approx(corrected.statistic, rel=CLOSE)


@pytest.mark.parametrize("groups", [None, CLUSTERS])
def test_overflow(groups: Any) -> None:
    """What has no float64 is infinite or 0; t and p are right all the same."""
    signs = np.array([1, -1, 1, 1, 1, 1])
    large = 1.7e308 * signs * A
    one = paired_t_test(signs * A, -signs * A, groups=groups, n_resamples=0)
    found = paired_t_test(large, -large, groups=groups, n_resamples=0)
    assert one.t == pytest.approx(found.t, rel=CLOSE)
    assert one.pvalue == pytest.approx(found.pvalue, rel=CLOSE)
    assert one.cohen_dz == pytest.approx(found.cohen_dz, rel=CLOSE)
    assert found.standard_deviation == found.confidence_interval.high == math.inf
    # The sum of the scores overflows, their mean does not.
    assert one.estimate_a == pytest.approx(found.estimate_a / 1.7e308, rel=CLOSE)
    assert one.verdict == found.verdict


def test_underflow() -> None:
    """Of the least numbers the standard error has no float64, and the test is that of integers."""
    a = np.array([0.0] * 99 + [1.0] * 8)
    one, found = (paired_t_test(a * unit, n_resamples=0) for unit in (1.0, 5e-324))
    assert found.standard_error == found.estimate == 0.0
    assert (one.t, one.pvalue, one.cohen_dz) == (found.t, found.pvalue, found.cohen_dz)
    assert one.effect_size_interval == found.effect_size_interval
    assert (one.verdict, one.notes) == (found.verdict, found.notes)
    folds = [corrected_t_test(a * unit, 0 * a, test_fraction=0.01) for unit in (1.0, 5e-324)]
    assert folds[0].pvalue == folds[1].pvalue
    assert folds[0].notes == folds[1].notes == ()


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_propagate__scale(scale: float) -> None:
    """A missing score makes all of the answer NaN; no warning."""
    a = np.where(CLUSTERS == 2, np.nan, A) * scale
    for groups in (None, CLUSTERS):
        found = paired_t_test(a, B * 1e-3, groups=groups, nan_policy="propagate", n_resamples=0)
        assert all(math.isnan(one) for one in (found.t, found.pvalue, found.estimate))
    corrected = corrected_t_test(a, B, test_fraction=0.1, nan_policy="propagate")
    assert all(math.isnan(one) for one in (corrected.statistic, corrected.pvalue))
    assert corrected.notes == ()


def test_scaled_differences() -> None:
    """The exponent is the least above all, and exact; NaN counts for nothing."""
    values, exponent = scaled_differences(np.array([3.0, np.nan]), np.array([-5.0, 1.0]))
    assert (values[0], exponent) == (0.5, 4)
    zeros, exponent = scaled_differences(np.zeros(2), None)
    assert (zeros.tolist(), exponent) == ([0.0, 0.0], LEAST_EXPONENT)
    values, exponent = scaled_differences(np.full(1, 2.0**1023), np.full(1, -(2.0**1023)))
    assert unscaled(values[0], exponent - 1) == 2.0**1023
    assert unscaled(-values[0], exponent) == -math.inf
    assert scaled_differences(np.ones(1), None, 7)[0].tolist() == [2.0**-7]


PROCEDURES: dict[str, Any] = {
    "bootstrap": lambda a, _, **own: fb.bootstrap(a, **own),
    "paired": fb.paired_bootstrap,
    "unpaired": fb.unpaired_bootstrap,
    "randomization": fb.approximate_randomization,
    "permutation": fb.permutation_test,
}


@pytest.mark.parametrize("scale", POWERS)
@pytest.mark.parametrize("name", PROCEDURES)
def test_resampling__powers_of_two(name: str, scale: float) -> None:
    """Standard errors and all else that has the unit of the scores, bit by bit."""
    a, b = np.random.default_rng(3).random((2, 50))
    expected, found = (
        PROCEDURES[name](a * unit, b * unit, rng=0, n_resamples=99) for unit in (1.0, scale)
    )
    assert found.estimate == expected.estimate * scale
    assert found.standard_error == expected.standard_error * scale > 0.0
    for limit, other in zip(
        found.interval(method="normal")[:2], expected.interval(method="normal")[:2], strict=True
    ):
        assert limit == other * scale
    if name != "bootstrap":
        assert found.pvalue == expected.pvalue


@pytest.mark.parametrize("scale", POWERS)
@pytest.mark.parametrize("correction", ["holm", "max_t"])
@pytest.mark.parametrize("statistic", ["range", "max"])
def test_compare__powers_of_two(scale: float, correction: str, statistic: Any) -> None:
    """Ranks, confidence sets and tests of leaderboards have no unit."""
    systems = np.random.default_rng(3).random((3, 50))
    boards = []
    for unit in (1.0, scale):
        result = fb.compare(
            dict(zip("abc", systems * unit, strict=True)), rng=0, n_resamples=99,
            correction=correction,
        )  # fmt: skip
        board = result.boards[0]
        ranks = [
            (row["rank_low"], row["rank_high"], row["mcs_pvalue"], row["probability_best"])
            for row in result.systems.to_arrow().to_pylist()
        ]
        chosen = fb.model_confidence_set(board.estimates, board.replicates, statistic=statistic)
        boards.append((board, ranks, chosen.pvalues.tolist()))
    (one, ranks, chosen), (other, others, taken) = boards
    assert (ranks, chosen) == (others, taken)
    assert one.pairs.adjusted.tolist() == other.pairs.adjusted.tolist()
    assert (one.pairs.standard_errors * scale).tolist() == other.pairs.standard_errors.tolist()
    assert (one.pairs.lows * scale).tolist() == other.pairs.lows.tolist()
