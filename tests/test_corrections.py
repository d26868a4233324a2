"""Adjusted p-values and simultaneous intervals.

Oracles: closed testing, definitions in rational arithmetic, statsmodels' values, full enumeration
of sign flips, plain loops over replicates, exact laws of order statistics.
"""

from __future__ import annotations

import math
import re
import tracemalloc
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta, binom, norm
from statistical import FALSE_FAILURE, assert_rate

from fastboot.intervals import standard_error
from fastboot.leaderboards.corrections import (
    CORRECTIONS,
    Pairs,
    adjust_pvalues,
    max_t,
    simultaneous_intervals,
    studentized,
)
from fastboot.pvalues import ALTERNATIVES, pvalue

Floats = NDArray[np.float64]

SEED = 20_240_306
# The case gives its expectations so.
CASES = 1e-12
# A p-value times two whole numbers and over a third: three roundings.
THREE_ROUNDINGS = 4 * float(np.finfo(np.float64).eps)

# statsmodels 0.15.0, multipletests(PVALUES, method=...)[1]
PVALUES = [0.21, 0.0004, 0.03, 0.03, 0.85, 0.012, 0.0451, 0.3, 0.0019, 1.0, 0.0004, 0.66]
STATSMODELS = {
    "holm": [1, 0.0048, 0.24, 0.24, 1, 0.108, 0.2706, 1, 0.019, 1, 0.0048, 1],
    "bonferroni": [1, 0.0048, 0.36, 0.36, 1, 0.144, 0.5412, 1, 0.0228, 1, 0.0048, 1],
    "fdr_bh": [
        0.315, 0.0024, 0.06, 0.06, 0.9272727272727272, 0.036, 0.07731428571428571, 0.4, 0.0076, 1,
        0.0024, 0.792,
    ],
    "fdr_by": [
        0.9775113636363637, 0.007447705627705629, 0.1861926406926407, 0.1861926406926407, 1,
        0.11171558441558442, 0.2399225170068027, 1, 0.023584401154401156, 1, 0.007447705627705629,
        1,
    ],
}  # fmt: skip

methods = pytest.mark.parametrize("method", CORRECTIONS)
sides = pytest.mark.parametrize("side", ALTERNATIVES)

PROBABILITIES = st.integers(0, 200).map(lambda n: n / 200)
FAMILIES = st.lists(st.one_of(PROBABILITIES, st.just(math.nan)), max_size=7)
SEEDS = st.integers(0, 2**32)
QUICK = settings(deadline=None, max_examples=60)


def joint(
    seed: int, m: int, n: int, *, missing: float = 0.0
) -> tuple[Floats, Floats, Floats, np.random.Generator]:
    """Estimates, replicates around 0 and standard errors: eighths, so that ties are many."""
    rng = np.random.default_rng(seed)
    shared = rng.integers(-12, 13, n)
    replicates = (shared + rng.integers(-12, 13, (m, n))) / 8
    estimates = rng.integers(-24, 25, m) / 8
    errors = np.exp2(rng.integers(-1, 2, m).astype(float))
    replicates[rng.random((m, n)) < missing] = np.nan
    return estimates, replicates, errors, rng


class TestAdjustPvalues:
    """Corrections that need the p-values only."""

    def test_case_36(self) -> None:
        """Ranks, directions, and the end of the array when every comparison rejects."""
        p, small = [0.01, 0.04, 0.03, 0.005], [1e-5, 1e-5, 1e-5]
        expected = {
            "bonferroni": [0.04, 0.16, 0.12, 0.02],
            "holm": [0.03, 0.06, 0.06, 0.02],
            "fdr_bh": [0.02, 0.04, 0.04, 0.02],
        }
        for method, values in expected.items():
            assert adjust_pvalues(p, method).tolist() == pytest.approx(values, abs=CASES)
            with_nan = adjust_pvalues([p[0], math.nan, *p[1:]], method).tolist()
            assert with_nan == pytest.approx(
                [values[0], math.nan, *values[1:]], abs=CASES, nan_ok=True
            )
        assert adjust_pvalues(small, "holm").tolist() == pytest.approx([3e-5] * 3, abs=CASES)

    @methods
    def test_statsmodels(self, method: str) -> None:
        """Twelve p-values with ties and a 1."""
        assert adjust_pvalues(PVALUES, method).tolist() == pytest.approx(
            STATSMODELS[method], rel=16 * THREE_ROUNDINGS
        )

    @QUICK
    @given(family=st.lists(PROBABILITIES, min_size=1, max_size=6))
    def test_holm_is_closed_testing(self, family: list[float]) -> None:
        """A comparison is rejected if all subsets with it are, by Bonferroni's test of each."""
        m = len(family)
        subsets = [s for k in range(1, m + 1) for s in combinations(range(m), k)]
        expected = [
            max(min(1.0, len(s) * min(family[j] for j in s)) for s in subsets if i in s)
            for i in range(m)
        ]
        assert adjust_pvalues(family).tolist() == pytest.approx(expected, rel=THREE_ROUNDINGS)

    @QUICK
    @given(family=st.lists(st.integers(0, 200), min_size=1, max_size=8), by=st.booleans())
    def test_false_discovery_rate_by_definition(self, family: list[int], by: bool) -> None:
        """The smallest level at which the step-up procedure rejects, in rational arithmetic."""
        m = len(family)
        exact = [Fraction(k, 200) for k in family]
        scale = sum((Fraction(1, k) for k in range(1, m + 1)), Fraction()) if by else Fraction(1)
        # Its decisions change at these levels only.
        levels = sorted({p * m * scale / k for p in exact for k in range(1, m + 1)} | {Fraction(1)})

        def rejects(p: Fraction, level: Fraction) -> bool:
            passed = [k for k in range(1, m + 1) if sorted(exact)[k - 1] <= k * level / (m * scale)]
            return bool(passed) and p <= sorted(exact)[max(passed) - 1]

        expected = [
            float(min([x for x in levels if x <= 1 and rejects(p, x)], default=1)) for p in exact
        ]
        found = adjust_pvalues([k / 200 for k in family], "fdr_by" if by else "fdr_bh")
        # The harmonic number adds a rounding for each of its terms.
        assert found.tolist() == pytest.approx(expected, rel=(3 + m) * THREE_ROUNDINGS)

    @QUICK
    @given(family=FAMILIES, method=st.sampled_from(CORRECTIONS), seed=SEEDS)
    def test_invariances(self, family: list[float], method: str, seed: int) -> None:
        """Order, undefined p-values and 1 as the largest; larger p-values adjust to larger ones."""
        p = np.array(family, dtype=float)
        found = adjust_pvalues(p, method)
        order = np.random.default_rng(seed).permutation(p.size)
        assert np.array_equal(adjust_pvalues(p[order], method), found[order], equal_nan=True)
        known = ~np.isnan(p)
        assert np.array_equal(np.isnan(found), ~known)
        assert np.array_equal(adjust_pvalues(p[known], method), found[known])
        # The largest false discovery rate is p m / m, which may round.
        assert (found[known] >= p[known] * (1 - THREE_ROUNDINGS)).all()
        assert (found[known] <= 1).all()
        assert (np.diff(found[known][np.argsort(p[known])]) >= 0).all()
        assert (adjust_pvalues(p, "holm")[known] <= adjust_pvalues(p, "bonferroni")[known]).all()

    def test_holm_is_the_default(self) -> None:
        """As documented."""
        assert adjust_pvalues(PVALUES).tolist() == adjust_pvalues(PVALUES, "holm").tolist()

    @methods
    def test_none_and_undefined_only(self, method: str) -> None:
        """An empty family stays empty."""
        assert adjust_pvalues([], method).tolist() == []
        assert np.isnan(adjust_pvalues([math.nan, math.nan], method)).all()

    @pytest.mark.parametrize(
        "arguments, message",
        [
            (([0.5], "sidak"), r"`method` is 'sidak'; choose one of holm, bonferroni, fdr_bh"),
            (([0.5, -0.1, 2.0],), r"`pvalues` has 2 outside 0 to 1 \(first -0\.1 at 1\)"),
            (([[0.5]],), r"`pvalues` has 2 dimensions; give one list"),
        ],
    )
    def test_refuses(self, arguments: tuple[Any, ...], message: str) -> None:
        """Each message names the argument."""
        with pytest.raises(ValueError, match=message):
            adjust_pvalues(*arguments)

    @pytest.mark.parametrize(
        "pvalues, error, message",
        [
            ([True, False], TypeError, "`pvalues` has True at 0; give p-values"),
            ([0.1, np.True_], TypeError, "`pvalues` has np.True_ at 1; give p-values"),
            (np.array([0, 1], bool), TypeError, "`pvalues` has False at 0; give p-values"),
            ([".1", ".2"], TypeError, "`pvalues` has '.1' at 0; give p-values"),
            ([0.1, "a"], TypeError, "`pvalues` has 'a' at 1; give p-values"),
            ([1j], TypeError, "`pvalues` has 1j at 0; give p-values"),
            ({"a": 0.1}, TypeError, "`pvalues` is a dict; give a sequence of p-values, one family"),
            ({0.1}, TypeError, "`pvalues` is a set; give a sequence of p-values"),
            ("0.1", TypeError, "`pvalues` is a str; give a sequence of p-values"),
            (0.1, TypeError, "`pvalues` is a float; give a sequence of p-values"),
            (
                [[0.1], [0.1, 0.2]],
                ValueError,
                "`pvalues` has lists of different lengths; give one list of p-values, one family",
            ),
        ],
    )
    def test_no_pvalues(self, pvalues: Any, error: type[Exception], message: str) -> None:
        """As `combine_pvalues` refuses them."""
        with pytest.raises(error, match=f"^{re.escape(message)}"):
            adjust_pvalues(pvalues)

    @pytest.mark.parametrize(
        "pvalues",
        [
            [Decimal("0.25"), Fraction(1, 2), None],
            np.array([0.25, 0.5, None], dtype=object),
            pd.Series([0.25, 0.5, None]),
            pa.array([0.25, 0.5, None]),
        ],
    )
    def test_numbers_of_any_kind(self, pvalues: Any) -> None:
        """Sequences of all kinds; None is NaN."""
        assert np.array_equal(adjust_pvalues(pvalues), [0.5, 0.5, math.nan], equal_nan=True)

    def test_integers(self) -> None:
        """0 and 1 are probabilities."""
        assert adjust_pvalues([0, 1]).tolist() == [0.0, 1.0]


def slow_max_t(
    estimates: Floats, replicates: Floats, errors: Floats, side: str, *, step_down: bool
) -> list[float]:
    """Plain loops: for each comparison, the complete replicates of those it is compared with."""

    def sided(x: float) -> float:
        return {"two-sided": abs(x), "greater": x, "less": -x}[side]

    family = [i for i, row in enumerate(replicates) if not np.isnan(row).all()]
    score = {i: sided(estimates[i] / errors[i]) for i in family}
    raw = {}
    for i in family:
        within = [j for j in family if score[j] <= score[i]] if step_down else family
        columns = [
            max(sided(replicates[j, r] / errors[j]) for j in within)
            for r in range(replicates.shape[1])
            if not any(math.isnan(replicates[j, r]) for j in within)
        ]
        raw[i] = (sum(x >= score[i] for x in columns) + 1) / (len(columns) + 1)
    return [
        max(raw[j] for j in family if score[j] >= score[i]) if i in raw else math.nan
        for i in range(len(estimates))
    ]


class TestMaxT:
    """Adjusted p-values from joint replicates."""

    @QUICK
    @given(
        seed=SEEDS,
        m=st.integers(1, 6),
        side=st.sampled_from(ALTERNATIVES),
        step_down=st.booleans(),
        missing=st.sampled_from([0.0, 0.1, 0.7]),
    )
    def test_slow_direct(
        self, seed: int, m: int, side: str, step_down: bool, missing: float
    ) -> None:
        """Eighths are exact, so counts are equal."""
        estimates, replicates, errors, _ = joint(seed, m, 19, missing=missing)
        found = max_t(estimates, replicates, errors, alternative=side, step_down=step_down)
        expected = slow_max_t(estimates, replicates, errors, side, step_down=step_down)
        assert np.array_equal(found, expected, equal_nan=True)

    @sides
    @pytest.mark.parametrize("add_one", [True, False])
    def test_one_comparison_is_pvalue(self, side: str, add_one: bool) -> None:
        """The same rule, with undefined replicates and ties up to rounding."""
        rng = np.random.default_rng(SEED)
        replicates = 0.1 * rng.integers(-30, 31, 500).astype(float)
        replicates[::17] = np.nan
        for estimate in (-1.2, 0.0, 0.1 * 3, 2.4):
            expected = pvalue(
                replicates, estimate, alternative=side, rule="null", rounding=1e-15, add_one=add_one
            )
            found = max_t(
                np.array([estimate]), replicates[None], np.array([1.7]),
                alternative=side, rounding=1e-15, add_one=add_one,
            )  # fmt: skip
            assert found.tolist() == [expected.pvalue]

    def test_ties_up_to_rounding(self) -> None:
        """0.1 + 0.2 ties with 0.3, within a comparison and between two."""
        estimates = np.array([0.3, 0.1 + 0.2])
        replicates = np.array([[0.1 + 0.2, 0.0, 0.0], [0.0, 0.3, 0.0]])
        errors = np.full(2, 0.7)
        rounded = max_t(estimates, replicates, errors, rounding=np.full(2, 1e-16))
        assert rounded.tolist() == [3 / 4, 3 / 4]
        assert max_t(estimates, replicates, errors).tolist() == [2 / 4, 2 / 4]

        # Both sides are rounded: what is 4 may be 3.48, and so may what is 3.
        row = np.array([[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 3.0, -3.0]])
        coarse = max_t(np.array([4.0]), row, np.array([1.7]), rounding=0.52)
        assert coarse.tolist() == [(4 + 1) / 10]

    @sides
    @pytest.mark.parametrize("step_down", [True, False])
    def test_error_rate_by_enumeration(self, side: str, step_down: bool) -> None:
        """Under sign flips of whole items, a share a of all 64 data sets rejects at a = k / 64.

        The first decision is that of one permutation test of the maximum. It is exact: all 64 data
        sets are equally likely under the null, and are each other's replicates. No two have the
        same maximum, except that two-sided ones come in pairs.
        """
        rng = np.random.default_rng(SEED)
        items = rng.standard_normal((3, 6))
        signs = np.array(list(product([1, -1], repeat=6)), dtype=float)
        data_sets = items @ signs.T
        errors = np.sqrt(np.square(items).sum(axis=1))
        smallest = [
            max_t(
                own, data_sets, errors,
                alternative=side, step_down=step_down, add_one=False, rounding=1e-14,
            ).min()
            for own in data_sets.T
        ]  # fmt: skip
        step = 2 if side == "two-sided" else 1
        assert sorted(smallest) == [math.ceil(k / step) * step / 64 for k in range(1, 65)]

    @QUICK
    @given(seed=SEEDS, m=st.integers(1, 6), side=st.sampled_from(ALTERNATIVES))
    def test_invariances(self, seed: int, m: int, side: str) -> None:
        """Order, scale and sign of comparisons; single step never rejects more."""
        estimates, replicates, errors, rng = joint(seed, m, 39, missing=0.02)
        found = max_t(estimates, replicates, errors, alternative=side)
        order = rng.permutation(m)
        moved = max_t(estimates[order], replicates[order], errors[order], alternative=side)
        assert np.array_equal(found[order], moved, equal_nan=True)
        scale = 2.0 ** rng.integers(-3, 4, m)
        scaled = max_t(
            scale * estimates, scale[:, None] * replicates, scale * errors, alternative=side
        )
        assert np.array_equal(found, scaled, equal_nan=True)
        other = {"greater": "less", "less": "greater"}.get(side, side)
        flipped = max_t(-estimates, -replicates, errors, alternative=other)
        assert np.array_equal(found, flipped, equal_nan=True)
        complete = replicates[:, ~np.isnan(replicates).any(axis=0)]
        down = max_t(estimates, complete, errors, alternative=side)
        single = max_t(estimates, complete, errors, alternative=side, step_down=False)
        assert (down <= single).all()
        assert down.min() == single.min()

    def test_copies_cost_nothing(self) -> None:
        """Ten times the same comparison is one; Bonferroni would multiply by ten."""
        rng = np.random.default_rng(SEED)
        row = rng.standard_normal(999)
        alone = max_t(np.array([2.5]), row[None], np.ones(1))
        many = max_t(np.full(10, 2.5), np.tile(row, (10, 1)), np.ones(10))
        assert many.tolist() == [alone[0]] * 10
        assert 0 < alone[0] < 0.1

    @pytest.mark.parametrize("step_down", [True, False])
    def test_undefined(self, step_down: bool) -> None:
        """Comparisons that are undefined do not count; undefined replicates are left out whole."""
        rng = np.random.default_rng(SEED)
        estimates, replicates = np.array([2.0, 1.0, np.nan, 3.0]), rng.standard_normal((4, 99))
        replicates[3] = np.nan
        errors = np.ones(4)
        found = max_t(estimates, replicates, errors, step_down=step_down)
        assert np.isnan(found[2:]).all()
        alone = max_t(estimates[:2], replicates[:2], errors[:2], step_down=step_down)
        assert found[:2].tolist() == alone.tolist()

        # Without half of the replicates of the second, the first has a maximum in the others only.
        replicates[1, ::2] = np.nan
        half = max_t(estimates[:2], replicates[:2], errors[:2], step_down=step_down)
        odd = max_t(estimates[:2], replicates[:2, 1::2], errors[:2], step_down=step_down)
        assert half.tolist() == odd.tolist()

        # Never defined together: no evidence, (0 + 1) / (0 + 1).
        replicates[0, 1::2] = np.nan
        never = max_t(estimates[:2], replicates[:2], errors[:2], step_down=step_down)
        assert never[0] == 1.0
        none = max_t(estimates[:2], replicates[:2], errors[:2], step_down=step_down, add_one=False)
        assert np.isnan(none[0])

    def test_without_variation(self) -> None:
        """A constant difference is as extreme as can be, none is none; others are not touched."""
        rng = np.random.default_rng(SEED)
        noise = rng.standard_normal(199)
        alone = max_t(np.array([1.0]), noise[None], np.ones(1))
        dust = np.full(199, 1e-17)
        found = max_t(
            np.array([0.5, 1e-17, 1.0]), np.stack([dust, dust, noise]),
            np.array([1e-17, 0.0, 1.0]), rounding=1e-16,
        )  # fmt: skip
        assert found.tolist() == [1 / 200, 1.0, alone[0]]

    def test_refuses(self) -> None:
        """An unknown side."""
        with pytest.raises(ValueError, match="`alternative` is 'up'; choose one of two-sided"):
            max_t(np.zeros(1), np.zeros((1, 2)), np.ones(1), alternative="up")

    def test_no_comparisons(self) -> None:
        """An empty family."""
        assert max_t(np.empty(0), np.empty((0, 9)), np.empty(0)).tolist() == []
        found = simultaneous_intervals(np.empty(0), np.empty((0, 9)), np.empty(0))
        assert found.low.size == found.high.size == 0
        assert math.isnan(found.critical_value)


class TestSimultaneousIntervals:
    """Intervals that hold together."""

    @QUICK
    @given(
        seed=SEEDS,
        m=st.integers(1, 5),
        side=st.sampled_from(ALTERNATIVES),
        level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]),
    )
    def test_dual_to_single_step(self, seed: int, m: int, side: str, level: float) -> None:
        """0 is outside where the adjusted p-value is at most 1 less the level, ties included."""
        estimates, replicates, errors, _ = joint(seed, m, 99, missing=0.002)
        adjusted = max_t(estimates, replicates, errors, alternative=side, step_down=False)
        found = simultaneous_intervals(
            estimates, replicates, errors, confidence_level=level, alternative=side
        )
        n = np.count_nonzero(~np.isnan(replicates).any(axis=0))
        # Levels in whole percent, p-values as whole numbers over n + 1.
        counts = np.rint(adjusted * (n + 1))
        rejects = counts * 100 <= (100 - round(100 * level)) * (n + 1)
        assert ((found.low > 0) | (found.high < 0)).tolist() == rejects.tolist()

    @sides
    def test_independent_normal(self, side: str) -> None:
        """The critical value has the exact law of an order statistic (Sidak's in the limit)."""
        m, n, level = 10, 9_999, 0.95
        noise = np.random.default_rng(SEED).standard_normal((m, n))
        found = simultaneous_intervals(
            np.zeros(m), noise, np.ones(m), confidence_level=level, alternative=side
        )
        one = norm.cdf(found.critical_value)
        share = (2 * one - 1 if side == "two-sided" else one) ** m
        low, high = beta.ppf([FALSE_FAILURE / 2, 1 - FALSE_FAILURE / 2], 9_500, 500)
        assert low < share < high

    def test_sides(self) -> None:
        """One limit each; all three scaled by the standard errors."""
        noise = np.random.default_rng(SEED).standard_normal((2, 99))
        estimates, errors = np.array([1.0, -2.0]), np.array([1.0, 3.0])
        both = simultaneous_intervals(estimates, noise, errors)
        assert both.low.tolist() == (estimates - both.critical_value * errors).tolist()
        assert both.high.tolist() == (estimates + both.critical_value * errors).tolist()
        lower = simultaneous_intervals(estimates, noise, errors, alternative="greater")
        assert lower.low.tolist() == (estimates - lower.critical_value * errors).tolist()
        assert np.isposinf(lower.high).all()
        upper = simultaneous_intervals(estimates, noise, errors, alternative="less")
        assert upper.high.tolist() == (estimates + upper.critical_value * errors).tolist()
        assert np.isneginf(upper.low).all()

    def test_too_few_replicates(self) -> None:
        """18 replicates cannot give 95 %, 19 can: the largest."""
        noise = np.random.default_rng(SEED).standard_normal((1, 19))
        few = simultaneous_intervals(np.zeros(1), noise[:, :18], np.ones(1))
        assert few.critical_value == math.inf
        assert few.low.tolist() == [-math.inf]
        enough = simultaneous_intervals(np.zeros(1), noise, np.ones(1))
        assert enough.critical_value == np.abs(noise).max()

    def test_degenerate_and_undefined(self) -> None:
        """A constant is a point, an undefined difference NaN, and neither moves the others."""
        noise = np.random.default_rng(SEED).standard_normal((1, 99))
        alone = simultaneous_intervals(np.zeros(1), noise, np.ones(1))
        found = simultaneous_intervals(
            np.array([0.0, 0.5, np.nan]),
            np.vstack([noise, np.zeros((2, 99))]),
            np.array([1.0, 0.0, 0.0]),
        )
        assert found.critical_value == alone.critical_value
        assert found.low[:2].tolist() == [alone.low[0], 0.5]
        assert found.high[:2].tolist() == [alone.high[0], 0.5]
        assert np.isnan([found.low[2], found.high[2]]).all()

    def test_refuses(self) -> None:
        """Level and side, by name."""
        with pytest.raises(ValueError, match="`confidence_level` is 95"):
            simultaneous_intervals(np.zeros(1), np.zeros((1, 2)), np.ones(1), confidence_level=95)
        with pytest.raises(ValueError, match="`alternative` is 'up'"):
            simultaneous_intervals(np.zeros(1), np.zeros((1, 2)), np.ones(1), alternative="up")


def test_studentized__keeps_nan() -> None:
    """Undefined values stay undefined, whatever their error."""
    found = studentized(np.array([np.nan, np.nan, 2.0]), np.array([0.0, 1.0, np.nan]), 0.0)
    assert np.isnan(found).all()


class TestPairs:
    """Differences of systems, row by row."""

    def test_rows(self) -> None:
        """All pairs s < t, moved to 0, with the standard errors of what is defined."""
        rng = np.random.default_rng(SEED)
        values, replicates = rng.standard_normal(4), rng.standard_normal((4, 50))
        replicates[2, 7] = np.nan
        pairs = Pairs(values, replicates, rounding=np.array([1.0, 2.0, 4.0, 8.0]))
        expected = list(combinations(range(4), 2))
        assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == expected
        assert len(pairs) == 6
        for place, (s, t) in enumerate(expected):
            difference = replicates[s] - replicates[t]
            assert pairs.estimates[place] == values[s] - values[t]
            assert np.array_equal(
                pairs[place], difference - (values[s] - values[t]), equal_nan=True
            )
            assert pairs.rounding[place] == 2.0**s + 2.0**t
            spread = np.nanstd(difference, ddof=1)
            # Two ways to add 50 squares.
            assert pairs.standard_errors[place] == pytest.approx(spread, rel=50 * THREE_ROUNDINGS)

    @pytest.mark.parametrize("n", [1, 2, 40, 999, 20_000])
    @pytest.mark.parametrize("undefined", [False, True])
    def test_standard_errors_of_many_pairs(self, n: int, *, undefined: bool) -> None:
        """To the last bit those of each pair alone, however many are computed at a time."""
        rng = np.random.default_rng(SEED)
        values, replicates = rng.standard_normal(30), rng.standard_normal((30, n))
        replicates[3] = replicates[4] + 0.1
        if undefined:
            replicates[7, n // 2] = np.nan
        pairs = Pairs(values, replicates)
        alone = [
            standard_error(row[~np.isnan(row)])
            for row in (replicates[s] - replicates[t] for s, t in combinations(range(30), 2))
        ]
        assert np.array_equal(pairs.standard_errors, alone, equal_nan=True)

    def test_flat_memory(self) -> None:
        """4,950 pairs of 100 systems hold no more than a few rows of replicates at a time."""
        n = 1_000
        rng = np.random.default_rng(SEED)
        values, replicates = rng.standard_normal(100), rng.standard_normal((100, n))
        tracemalloc.start()
        pairs = Pairs(values, replicates)
        max_t(pairs.estimates, pairs, pairs.standard_errors)
        simultaneous_intervals(pairs.estimates, pairs, pairs.standard_errors)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # Of arrays of m numbers a dozen, of rows two; all rows at once are 4,950 of them.
        assert peak < 8 * (20 * len(pairs) + 20 * n)


def assert_conservative(count: int, n: int, level: float) -> None:
    """The rate is below the level: a rate of the level has so few with probability 1e-6."""
    assert binom.cdf(count, n, level) < FALSE_FAILURE


@pytest.mark.slow
def test_error_rate__sign_flips() -> None:
    """Ten correlated systems against one, complete null: max-T rejects 5 %, Holm too seldom.

    Signs of whole items are flipped together for all; symmetric data make that exact, also for 199
    flips: p <= 10 / 200 has probability 10 / 200 for the maximum.
    """
    rng = np.random.default_rng(SEED)
    n_simulated, n_items, m, n = 20_000, 25, 10, 199
    rejected = {"max-T": 0, "holm": 0}
    for _ in range(n_simulated):
        # The baseline is in all differences, and half of the variance of each.
        items = rng.standard_normal((m, n_items)) - rng.standard_normal(n_items)
        estimates = items.sum(axis=1)
        flips = rng.integers(0, 2, (n_items, n)) * 2.0 - 1.0
        replicates = items @ flips
        errors = np.sqrt(np.square(items).sum(axis=1))
        rejected["max-T"] += bool((max_t(estimates, replicates, errors) <= 0.05).any())
        p = (1 + (np.abs(replicates) >= np.abs(estimates)[:, None]).sum(axis=1)) / (n + 1)
        rejected["holm"] += bool((adjust_pvalues(p) <= 0.05).any())
    assert_rate(rejected["max-T"], n_simulated, 0.05, detects=0.013)
    assert_conservative(rejected["holm"], n_simulated, 0.05)


@pytest.mark.slow
def test_error_rate__bootstrap() -> None:
    """All 45 pairs of ten correlated systems, complete null, 400 items, 999 resamples.

    The bootstrap's error is right as items become many; with 400 the tails of Student's t instead
    of a normal law give about a third of a percent more, far within what 2,500 data sets show.
    """
    rng = np.random.default_rng(SEED)
    n_simulated, n_items, n = 2_500, 400, 999
    rejected = {"max-T": 0, "holm": 0}
    for _ in range(n_simulated):
        # Easy and hard items: systems correlate by a half.
        scores = rng.standard_normal((10, n_items)) + rng.standard_normal(n_items)
        drawn = rng.integers(0, n_items, (n, n_items)) + n_items * np.arange(n)[:, None]
        weights = (
            np.bincount(drawn.ravel(), minlength=n * n_items).reshape(n, n_items).astype(float)
        )
        pairs = Pairs(scores.mean(axis=1), scores @ weights.T / n_items)
        adjusted = max_t(pairs.estimates, pairs, pairs.standard_errors)
        rejected["max-T"] += bool((adjusted <= 0.05).any())
        p = [
            (1 + np.count_nonzero(np.abs(pairs[k]) >= abs(pairs.estimates[k]))) / (n + 1)
            for k in range(len(pairs))
        ]
        rejected["holm"] += bool((adjust_pvalues(p) <= 0.05).any())
    assert_rate(rejected["max-T"], n_simulated, 0.05, detects=0.041)
    # All pairs leave Holm little to lose: more than this is one in a million where the rate is 5 %.
    assert rejected["holm"] <= binom.isf(FALSE_FAILURE, n_simulated, 0.05)
