"""Masked arrays: what lies under a mask is no value, wherever an array is taken.

Columns are read in one place (test_columns.py); here are the arguments that are no columns, and the
arrays that functions and statistics of the user's own return.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import fastboot as fb
from fastboot.plain import array_of, with_nan

NAN = math.nan
PAIR = fb.paired_bootstrap([1, 2, 3, 4], [1, 1, 2, 5], rng=0, n_resamples=99)
PAIRS = [PAIR, fb.paired_bootstrap([1, 0, 1], [0, 0, 1], rng=0, n_resamples=99)]


def masked(values: Any, mask: Any) -> Any:
    """Return values, hidden where the mask is 1."""
    return np.ma.array(values, mask=mask)


@pytest.mark.parametrize(
    "values, expected",
    [
        (masked([1.0, 2.0], [0, 1]), [1.0, NAN]),
        (masked([1, 2], [0, 1]), [1.0, NAN]),
        (masked([True, False], [0, 1]), [1.0, NAN]),
        (masked([[1, 2], [3, 4]], [[0, 0], [1, 0]]), [[1.0, 2.0], [NAN, 4.0]]),
        ([masked([1, 2], [0, 1]), [3, 4]], [[1.0, NAN], [3.0, 4.0]]),
        ([[1.0, np.ma.masked]], [[1.0, NAN]]),
        (np.ma.masked, NAN),
    ],
)
def test_with_nan__masked(values: Any, expected: Any) -> None:
    """Numbers become float64 with NaN."""
    found = with_nan(values)
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    assert np.array_equal(found, expected, equal_nan=True)


def test_with_nan__nothing_hidden() -> None:
    """Arrays without a mask are not copied, and keep their type."""
    whole = np.arange(3)
    assert with_nan(whole) is whole
    bare = with_nan(masked(whole, [0, 0, 0]))
    assert type(bare) is np.ndarray
    assert bare.dtype == whole.dtype
    assert np.shares_memory(bare, whole)
    assert array_of([1, 2]).tolist() == [1, 2]


def test_with_nan__no_numbers() -> None:
    """Strings are hidden by None."""
    assert with_nan(masked(["x", "y"], [1, 0])).tolist() == [None, "y"]


@pytest.mark.parametrize("method", ["holm", "bonferroni", "fdr_bh", "fdr_by"])
def test_adjust_pvalues(method: str) -> None:
    """A hidden p-value is undefined: NaN, and not counted."""
    expected = fb.adjust_pvalues([0.01, NAN, 0.02], method)
    hidden = masked([0.01, 0.9, 0.02], [0, 1, 0])
    families: list[Any] = [
        hidden,
        [0.01, np.ma.masked, 0.02],
        masked([0.01, 7.0, 0.02], [0, 1, 0]),
    ]
    for given in families:
        assert np.array_equal(fb.adjust_pvalues(given, method), expected, equal_nan=True)
    assert hidden.data.tolist() == [0.01, 0.9, 0.02]
    whole = fb.adjust_pvalues(masked([0, 1], [0, 1]), method)
    assert np.array_equal(whole, [0.0, NAN], equal_nan=True)


@pytest.mark.parametrize("function", [fb.combine_pvalues, fb.replicability])
def test_data_sets(function: Any) -> None:
    """A hidden p-value is NaN: refused by default, dropped if asked for."""
    for given in (masked([0.01, 0.9, 0.02], [0, 1, 0]), {0: 0.01, 1: np.ma.masked, 2: 0.02}):
        with pytest.raises(ValueError, match=r"`pvalues` has NaN for 1 data set \(first 1\)"):
            function(given)
        assert function(given, nan_policy="omit").pvalues.tolist() == [0.01, 0.02]


def test_weights() -> None:
    """A hidden weight is none."""
    message = re.escape("`weights` are [1.0, nan]; they must be above 0 and finite")
    hidden = masked([1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match=message):
        fb.combine_pvalues([0.1, 0.2], method="stouffer", weights=hidden)
    with pytest.raises(ValueError, match=message):
        fb.pool(PAIRS, weights=hidden)


@pytest.mark.parametrize("statistic", ["range", "max"])
def test_model_confidence_set(statistic: str) -> None:
    """A hidden value or replicate is as undefined as NaN."""
    rng = np.random.default_rng(0)
    values, replicates = np.array([0.0, 0.4, 1.0]), rng.standard_normal((3, 99))
    gaps = replicates > 1.5

    def pvalues(values: Any, replicates: Any) -> Any:
        return fb.model_confidence_set(values, replicates, statistic=statistic).pvalues

    for one, two in (
        (masked(values, [0, 1, 0]), np.where([0, 1, 0], NAN, values)),
        (masked(values, [0, 0, 0]), values),
    ):
        found = pvalues(one, masked(replicates, gaps))
        assert np.array_equal(found, pvalues(two, np.where(gaps, NAN, replicates)), equal_nan=True)


def test_friedman_test() -> None:
    """A hidden score is missing, in an array and in a list of them."""
    scores, mask = [[1, 2, 3], [2, 1, 3], [1, 2, 9]], [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    rows = [masked(row, own) for row, own in zip(scores, mask, strict=True)]
    for given in (masked(scores, mask), rows):
        with pytest.raises(ValueError, match=r"`system 2` has 1 null \(first at row 2\); pass nan"):
            fb.friedman_test(given)
        found = fb.friedman_test(given, nan_policy="omit")
        assert (found.n_dropped, found.pvalue) == (1, fb.friedman_test(scores[:2]).pvalue)


def test_folds() -> None:
    """Row indices of splits have no gaps."""
    with pytest.raises(TypeError, match="`k` holds pairs that are not of row indices"):
        fb.folds(4, [(masked([0, 1, 2], [0, 0, 1]), [3]), ([2, 3], [0, 1])])


def test_block_length() -> None:
    """A series has no gaps."""
    values = np.random.default_rng(0).normal(size=50)
    message = r"`values` has 1 value that is not finite \(first at row 7\); a series in time order"
    with pytest.raises(ValueError, match=message):
        fb.block_length(masked(values, np.arange(50) == 7))
    assert fb.block_length(np.ma.array(values)) == fb.block_length(values)


def test_probabilities() -> None:
    """A table of scores, one column for each label."""
    score = masked([[0.2, 0.8], [0.4, 0.6], [0.7, 0.3]], [[0, 0], [0, 1], [0, 0]])
    statistic = fb.log_loss(["x", "y", "x"], score, labels=["x", "y"])
    with pytest.raises(ValueError, match=r"`score\[1\]` has 1 null \(first at row 1\); pass nan_"):
        fb.bootstrap(statistic)
    assert fb.bootstrap(statistic, nan_policy="omit", n_resamples=99, rng=0).n_dropped == 1


class _Terms(fb.Additive):
    def terms(self, values: Any) -> Any:
        return masked(values, values > 2.0), 1.0

    def finish(self, total: Any, n: Any) -> Any:
        return total / n


class _Finish(_Terms):
    def terms(self, values: Any) -> Any:
        return values, 1.0

    def finish(self, total: Any, n: Any) -> Any:
        return np.ma.masked_greater(total / n, 2.0)


class _Values(fb.Weighted):
    def prepare(self, values: Any) -> Any:
        return values

    def values(self, prepared: Any, weights: Any) -> Any:
        return np.ma.masked_greater(weights @ prepared / weights.sum(axis=1), 2.0)


def test_own_statistics() -> None:
    """What a statistic of the user's own hides is undefined."""
    with pytest.raises(ValueError, match="terms"):
        fb.bootstrap(_Terms([1.0, 2.0, 3.0]), rng=0)

    def mean(values: Any) -> Any:
        return np.ma.masked_greater(values.mean(), 2.0)

    statistics: list[Any] = [
        _Finish([1.0, 2.0, 3.0]),
        _Values([1.0, 2.0, 3.0]),
        fb.statistic(mean, [1.0, 2.0, 3.0]),
    ]
    for statistic in statistics:
        with pytest.warns(RuntimeWarning, match="the statistic is undefined in"):
            found = fb.bootstrap(statistic, rng=0, n_resamples=99)
        assert found.n_undefined > 0
        assert np.nanmax(found.replicates) <= 2.0
