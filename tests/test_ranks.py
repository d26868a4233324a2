"""Ranks, probabilities of being best, groups of systems, and the model confidence set.

Oracles: definitions in plain loops, all subsets, closed forms, and arch's model confidence set on
the same bootstrap indices.
"""

from __future__ import annotations

import math
import re
import tracemalloc
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from arch.bootstrap import MCS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, norm
from statistical import FALSE_FAILURE, assert_rate

from fastboot.leaderboards.confidence_set import (
    MCS_STATISTICS,
    confidence_set,
    model_confidence_set,
)
from fastboot.leaderboards.corrections import Pairs, max_t, simultaneous_intervals
from fastboot.leaderboards.ranks import (
    indistinguishable,
    letters,
    probability_best,
    rank_intervals,
    surely_better,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SEED = 20_240_307
SEEDS = st.integers(0, 2**32)
QUICK = settings(deadline=None, max_examples=60)
statistics = pytest.mark.parametrize("statistic", MCS_STATISTICS)


def board(
    seed: int, n: int, n_replicates: int = 199, spread: float = 1.0
) -> tuple[Floats, Floats, np.random.Generator]:
    """Values of systems with correlated replicates around them; some systems are copies."""
    rng = np.random.default_rng(seed)
    values = spread * rng.standard_normal(n)
    noise = rng.standard_normal((n, n_replicates)) + rng.standard_normal(n_replicates)
    replicates = values[:, None] + noise * rng.uniform(0.2, 1.0, n)[:, None]
    copies = rng.integers(0, n, n) if rng.random() < 0.5 else np.arange(n)
    return values[copies], replicates[copies], rng


class TestSurelyBetter:
    """Statements about pairs that hold together."""

    @QUICK
    @given(seed=SEEDS, n=st.integers(2, 6))
    def test_ordered_pairs(self, seed: int, n: int) -> None:
        """Step-down over both directions of all pairs, as one matrix of replicates."""
        values, replicates, _ = board(seed, n, spread=2.0)
        places = [(s, t) for s in range(n) for t in range(n) if s != t]
        rows = np.array([replicates[s] - replicates[t] for s, t in places])
        estimates = np.array([values[s] - values[t] for s, t in places])
        # As replicates of copies: exactly 0 where they do not vary.
        errors = (rows - rows[:, :1]).std(axis=1, ddof=1)
        p = max_t(estimates, rows - estimates[:, None], errors, alternative="greater")
        expected = np.zeros((n, n), dtype=bool)
        for (s, t), own in zip(places, p, strict=True):
            expected[s, t] = round(own * 200) <= 0.05 * 200
        assert np.array_equal(surely_better(values, replicates), expected)

    @QUICK
    @given(seed=SEEDS, n=st.integers(2, 6))
    def test_single_step_is_simultaneous_intervals(self, seed: int, n: int) -> None:
        """The intervals of all pairs that leave out 0; step-down says at least as much."""
        values, replicates, _ = board(seed, n, spread=2.0)
        pairs = Pairs(values, replicates)
        found = simultaneous_intervals(pairs.estimates, pairs, pairs.standard_errors)
        better = np.zeros((n, n), dtype=bool)
        better[pairs.first, pairs.second] = found.low > 0
        better[pairs.second, pairs.first] = found.high < 0
        single = surely_better(values, replicates, step_down=False)
        assert np.array_equal(single, better)
        assert (surely_better(values, replicates) >= single).all()

    def test_levels(self) -> None:
        """A p-value of 0.1 is enough for 90 %, though 1 - 0.9 rounds to less than 0.1."""
        # The largest of 9 replicates in absolute value is no less than the difference only once:
        # p = (0 + 1) / (9 + 1).
        noise = np.linspace(-1.0, 1.0, 9)
        values, replicates = np.array([3.0, 0.0]), np.stack([3.0 + noise, np.zeros(9)])
        assert surely_better(values, replicates, confidence_level=0.9)[0, 1]
        assert not surely_better(values, replicates, confidence_level=0.91)[0, 1]

    def test_refuses(self) -> None:
        """A level in percent."""
        with pytest.raises(ValueError, match="`confidence_level` is 95"):
            surely_better(np.zeros(2), np.zeros((2, 9)), confidence_level=95)

    def test_flat_memory(self) -> None:
        """Sixty systems: memory for some copies of the replicates, not for 3,540 rows of pairs."""
        values, replicates, _ = board(SEED, 60, n_replicates=2_000)
        tracemalloc.start()
        rank_intervals(values, replicates)
        probability_best(values, replicates)
        for statistic in MCS_STATISTICS:
            model_confidence_set(values, replicates, statistic=statistic)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 10 * replicates.nbytes


class TestRankIntervals:
    """Ranks of all systems."""

    def test_apart_and_equal(self) -> None:
        """Far apart every rank is sure; copies share all ranks."""
        rng = np.random.default_rng(SEED)
        values = np.array([30.0, 10.0, 40.0, 20.0])
        far = rank_intervals(values, values[:, None] + rng.standard_normal((4, 999)))
        for ranks in (far.rank, far.low, far.high, far.marginal_low, far.marginal_high):
            assert ranks.tolist() == [2, 4, 1, 3]
        row = rng.standard_normal(99)
        same = rank_intervals(np.zeros(4), np.tile(row, (4, 1)))
        assert same.rank.tolist() == [1] * 4
        assert same.low.tolist() == same.marginal_low.tolist() == [1] * 4
        assert same.high.tolist() == same.marginal_high.tolist() == [4] * 4
        assert not same.better.any()

    @QUICK
    @given(seed=SEEDS, n=st.integers(1, 6))
    def test_definition(self, seed: int, n: int) -> None:
        """Counts of systems surely better and worse; ranks of values and of replicates."""
        values, replicates, _ = board(seed, n, spread=2.0)
        found = rank_intervals(values, replicates, confidence_level=0.9)
        better = surely_better(values, replicates, confidence_level=0.9)
        for s in range(n):
            assert found.low[s] == 1 + sum(better[t, s] for t in range(n))
            assert found.high[s] == n - sum(better[s, t] for t in range(n))
            assert found.rank[s] == 1 + sum(values[t] > values[s] for t in range(n))
            assert found.low[s] <= found.rank[s] <= found.high[s]
            columns = replicates.T
            best = sorted(1 + sum(x > column[s] for x in column) for column in columns)
            worst = sorted(n - sum(x < column[s] for x in column) for column in columns)
            # At least 5 % and 95 % of 199 replicates: the 10th and the 190th.
            assert (found.marginal_low[s], found.marginal_high[s]) == (best[9], worst[189])

    @pytest.mark.parametrize("n", [1, 2, 39, 40, 199, 1_000])
    @pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
    def test_marginal_limits(self, n: int, level: float) -> None:
        """The quantiles that jump (inverted_cdf) of ranks; without ties best and worst are one."""
        drawn = np.random.default_rng(SEED).standard_normal((5, n))
        found = rank_intervals(drawn[:, 0], drawn, confidence_level=level)
        ranks = 5 - drawn.argsort(axis=0).argsort(axis=0)
        tail = (1.0 - level) / 2.0
        for limit, share in ((found.marginal_low, tail), (found.marginal_high, 1.0 - tail)):
            expected = np.quantile(ranks, share, axis=1, method="inverted_cdf")
            assert limit.tolist() == expected.tolist()

    @QUICK
    @given(seed=SEEDS, n=st.integers(2, 6))
    def test_invariances(self, seed: int, n: int) -> None:
        """Order of systems, and losses instead of scores."""
        values, replicates, rng = board(seed, n)
        found = rank_intervals(values, replicates)
        order = rng.permutation(n)
        moved = rank_intervals(values[order], replicates[order])
        losses = rank_intervals(-values, -replicates, higher_is_better=False)
        for own, of_moved, of_losses in zip(found[:5], moved[:5], losses[:5], strict=True):
            assert own[order].tolist() == of_moved.tolist()
            assert own.tolist() == of_losses.tolist()
        assert np.array_equal(found.better[np.ix_(order, order)], moved.better)
        assert np.array_equal(found.better, losses.better)

    def test_undefined(self) -> None:
        """A system without a value has no rank, and takes none from the others."""
        values, replicates, _ = board(SEED, 3, spread=5.0)
        alone = rank_intervals(values, replicates)
        found = rank_intervals(
            np.append(values, np.nan), np.vstack([replicates, np.full(199, np.nan)])
        )
        for own, expected in zip(found[:5], alone[:5], strict=True):
            assert own[:3].tolist() == expected.tolist()
            assert np.isnan(own[3])
        # A replicate in which one is undefined is left out for all.
        replicates[1, :100] = np.nan
        half = rank_intervals(values, replicates)
        rest = rank_intervals(values, replicates[:, 100:])
        assert half.marginal_low.tolist() == rest.marginal_low.tolist()
        replicates[0, 100:] = np.nan
        none = rank_intervals(values, replicates)
        assert np.isnan(none.marginal_low).all()
        assert none.rank.tolist() == alone.rank.tolist()

    def test_rounding(self) -> None:
        """Values that differ by rounding only share their rank, in replicates too."""
        values = np.array([0.1 + 0.2, 0.3, 0.0])
        replicates = np.array([[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3], [0.0, 0.0]])
        found = rank_intervals(values, replicates, rounding=1e-16)
        assert found.rank.tolist() == [1, 1, 3]
        assert found.marginal_low.tolist() == [1, 1, 3]
        assert found.marginal_high.tolist() == [2, 2, 3]
        assert probability_best(values, replicates, rounding=1e-16).tolist() == [0.5, 0.5, 0.0]
        assert rank_intervals(values, replicates).rank.tolist() == [1, 2, 3]


class TestProbabilityBest:
    """Shares of replicates."""

    def test_two_normal(self) -> None:
        """The normal probability of a difference above 0."""
        n = 100_000
        rng = np.random.default_rng(SEED)
        replicates = rng.standard_normal((2, n)) + np.array([[0.7], [0.0]])
        found = probability_best(np.array([0.7, 0.0]), replicates)
        assert_rate(round(found[0] * n), n, norm.cdf(0.7 / math.sqrt(2)), detects=0.02)
        assert found.sum() == pytest.approx(1.0, rel=1e-15)

    @QUICK
    @given(seed=SEEDS, n=st.integers(1, 6))
    def test_definition_and_invariances(self, seed: int, n: int) -> None:
        """Ties split, in any order of systems and either direction; 64 replicates are exact."""
        rng = np.random.default_rng(seed)
        replicates = rng.integers(0, 4, (n, 64)).astype(float)
        values = replicates.mean(axis=1)
        expected = [0.0] * n
        for column in replicates.T:
            best = [s for s in range(n) if column[s] == max(column)]
            for s in best:
                expected[s] += 1 / len(best) / 64
        found = probability_best(values, replicates)
        # Sums of 64 terms up to 1, each rounded, in two orders.
        assert found.tolist() == pytest.approx(expected, abs=64 * 2**-52)
        losses = probability_best(-values, -replicates, higher_is_better=False)
        assert losses.tolist() == found.tolist()
        order = rng.permutation(n)
        assert probability_best(values[order], replicates[order]).tolist() == found[order].tolist()

    def test_undefined(self) -> None:
        """Replicates in which one is undefined, systems without a value, and no replicates."""
        replicates = np.array([[1.0, 1.0, np.nan, 2.0], [0.0, 2.0, 5.0, 0.0], [np.nan] * 4])
        values = np.array([1.0, 1.0, np.nan])
        found = probability_best(values, replicates)
        assert found[:2].tolist() == pytest.approx([2 / 3, 1 / 3], rel=1e-15)
        assert np.isnan(found[2])
        replicates[1] = [np.nan, np.nan, 1.0, np.nan]
        assert np.isnan(probability_best(values, replicates)).all()


def maximal_groups(differ: Bools) -> set[tuple[int, ...]]:
    """All groups without a pair that differs, to which no system can be added: all subsets."""
    n = len(differ)
    fits = {
        group
        for k in range(1, n + 1)
        for group in combinations(range(n), k)
        if not any(differ[i, j] for i, j in combinations(group, 2))
    }
    return {
        group
        for group in fits
        if not any(tuple(sorted((*group, k))) in fits for k in range(n) if k not in group)
    }


def random_differ(rng: np.random.Generator, n: int) -> Bools:
    """Any pairs differ, few or many."""
    differ = np.triu(rng.random((n, n)) < rng.random(), 1)
    return differ | differ.T


class TestLetters:
    """Groups of systems that cannot be told apart."""

    @QUICK
    @given(seed=SEEDS, n=st.integers(1, 7))
    def test_groups(self, seed: int, n: int) -> None:
        """Largest groups, of which every pair that does not differ shares one, and none is idle."""
        differ = random_differ(np.random.default_rng(seed), n)
        groups = indistinguishable(differ)
        assert set(groups) <= maximal_groups(differ)
        assert groups == sorted(set(groups))

        def shared(some: list[tuple[int, ...]]) -> set[tuple[int, int]]:
            return {(i, j) for group in some for i in group for j in group}

        alike = {(i, j) for i in range(n) for j in range(n) if i == j or not differ[i, j]}
        assert shared(groups) == alike
        assert all(shared([g for g in groups if g != own]) != alike for own in groups)

    @QUICK
    @given(seed=SEEDS, n=st.integers(1, 7))
    def test_monotone(self, seed: int, n: int) -> None:
        """Where systems differ from some distance on, the groups are all largest ones."""
        rng = np.random.default_rng(seed)
        ends = np.maximum.accumulate(rng.integers(np.arange(n), n))
        differ = np.arange(n) > ends[:, None]
        differ |= differ.T
        assert set(indistinguishable(differ)) == maximal_groups(differ)

    @QUICK
    @given(seed=SEEDS, n=st.integers(1, 7))
    def test_letters(self, seed: int, n: int) -> None:
        """Two systems share a letter where they do not differ; names move with the systems."""
        rng = np.random.default_rng(seed)
        differ, order = random_differ(rng, n), rng.permutation(n).tolist()
        found = letters(differ, order)
        for i, j in combinations(range(n), 2):
            assert bool(set(found[i]) & set(found[j])) == (not differ[i, j])
        assert found[order[0]].startswith("a")
        assert all(list(own) == sorted(own) for own in found)
        moved = letters(differ[np.ix_(order, order)])
        assert moved == [found[system] for system in order]

    def test_textbook(self) -> None:
        """Five systems in two overlapping groups and one apart."""
        differ = np.ones((5, 5), dtype=bool)
        for i, j in [(0, 1), (1, 2)]:
            differ[i, j] = differ[j, i] = False
        differ[3, 4] = differ[4, 3] = False
        assert letters(differ) == ["a", "ab", "b", "c", "c"]
        assert indistinguishable(differ) == [(0, 1), (1, 2), (3, 4)]
        assert letters(differ, [4, 3, 2, 1, 0]) == ["c", "bc", "b", "a", "a"]

    def test_many_groups(self) -> None:
        """52 letters; numbers beyond."""
        apart = ~np.eye(53, dtype=bool)
        assert letters(apart[:52, :52])[-1] == "Z"
        assert letters(apart)[-1] == "53"
        apart[0, 1] = apart[1, 0] = apart[1, 2] = apart[2, 1] = False
        chain = letters(np.pad(apart, (0, 2), constant_values=True))
        assert chain[:3] == ["1", "1,2", "2"]

    def test_crowded(self) -> None:
        """Seventeen times three systems that differ within each three: 3^17 largest groups."""
        n = 51
        differ = np.arange(n)[:, None] // 3 == np.arange(n) // 3
        np.fill_diagonal(differ, val=False)
        # No more groups than pairs.
        assert len(indistinguishable(differ)) <= n * (n + 1) / 2


def of_arch(statistic: str, losses: Floats, n: int, seed: int) -> tuple[Floats, Floats]:
    """p-values of arch, with the plus ones of ours; and replicates of the same resamples."""
    method: Any = {"range": "R", "max": "max"}[statistic]
    # Circular blocks of one item are independent draws.
    found = MCS(losses, 0.05, reps=n, block_size=1, method=method, bootstrap="circular", seed=seed)
    found.compute()
    pvalues = found.pvalues["Pvalue"].sort_index().to_numpy()
    means = np.array([losses[rows].mean(axis=0) for rows in found._bootstrap_indices])
    # It gives the last system 1 without a test; counts below 1 miss the observed one.
    return np.where(pvalues == 1.0, 1.0, (pvalues * n + 1) / (n + 1)), means.T


class TestModelConfidenceSet:
    """The set that holds the best system."""

    @statistics
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("n_systems", [2, 5, 12])
    def test_arch(self, statistic: str, n_systems: int, seed: int) -> None:
        """The same p-values from the same bootstrap indices."""
        rng = np.random.default_rng([SEED, seed])
        quality = rng.uniform(0.0, 0.5, n_systems)
        losses = quality + rng.standard_normal((100, n_systems)) + rng.standard_normal((100, 1))
        expected, replicates = of_arch(statistic, losses, 499, seed)
        found = model_confidence_set(
            losses.mean(axis=0), replicates, higher_is_better=False, statistic=statistic
        )
        assert found.pvalues.tolist() == pytest.approx(expected.tolist(), rel=1e-14)
        assert found.statistic == statistic
        assert found.members(0.9).tolist() == (expected > 0.1).tolist()

    @statistics
    @QUICK
    @given(seed=SEEDS, n=st.integers(1, 6))
    def test_invariances(self, statistic: str, seed: int, n: int) -> None:
        """Order of systems, scores for losses, a shift of all; copies have the same p-value."""
        values, replicates, rng = board(seed, n)
        found = model_confidence_set(values, replicates, statistic=statistic).pvalues
        losses = model_confidence_set(
            -values, -replicates, statistic=statistic, higher_is_better=False
        )
        assert found.tolist() == losses.pvalues.tolist()
        order = rng.permutation(n)
        moved = model_confidence_set(values[order], replicates[order], statistic=statistic)
        assert found[order].tolist() == moved.pvalues.tolist()
        for i, j in combinations(range(n), 2):
            assert values[i] != values[j] or found[i] == found[j]
        # The best stays to the end; every p-value is a count over 200.
        assert found[np.argmax(values)] == found.max() == 1.0
        assert found.min() >= 1 / 200

    @statistics
    def test_copies(self, statistic: str) -> None:
        """Copies of the best are in the set with certainty; copies of one system all are."""
        rng = np.random.default_rng(SEED)
        row = rng.standard_normal(99)
        all_same = model_confidence_set(
            np.full(3, 0.1), np.tile(0.1 + row, (3, 1)), statistic=statistic
        )
        assert all_same.pvalues.tolist() == [1.0] * 3
        values = np.array([0.0, 20.0, 20.0])
        found = model_confidence_set(
            values, np.stack([rng.standard_normal(99), 20 + row, 20 + row]), statistic=statistic
        )
        assert found.pvalues.tolist() == [0.01, 1.0, 1.0]

    @statistics
    def test_constant_difference(self, statistic: str) -> None:
        """A system that is better by the same on each item is the only one left."""
        row = np.random.default_rng(SEED).integers(-8, 9, 99) / 8
        found = model_confidence_set(
            np.array([1.0, 0.5]), np.stack([1 + row, 0.5 + row]), statistic=statistic
        )
        assert found.pvalues.tolist() == [1.0, 0.01]
        assert found.members().tolist() == [True, False]

    @statistics
    def test_ties(self, statistic: str) -> None:
        """Sums of tenths tie up to rounding, and ties count."""
        tenths = np.array([-3, -2, -1, 0, 1, 2, 3, 3, -3])
        exact = model_confidence_set(
            np.array([0.0, 3.0]), np.stack([0 * tenths, 3.0 + tenths]), statistic=statistic
        )
        rounded = model_confidence_set(
            np.array([0.0, 0.1 + 0.2]),
            np.stack([0.0 * tenths, 0.3 + 0.1 * tenths]),
            statistic=statistic,
            rounding=2e-16,
        )
        assert exact.pvalues.tolist() == [5 / 10, 1.0]
        assert rounded.pvalues.tolist() == exact.pvalues.tolist()
        # Both sides are rounded: by 0.26 + 0.26, of differences of 4 and 3, or, to the mean of two
        # systems, of 2 and 1.
        coarse = model_confidence_set(
            np.array([0.0, 4.0]),
            np.stack([0.0 * tenths, 4.0 + tenths]),
            statistic=statistic,
            rounding=0.26,
        )
        n_ties = {"range": 4, "max": 6}[statistic]
        assert coarse.pvalues.tolist() == [(n_ties + 1) / 10, 1.0]

    @statistics
    def test_undefined(self, statistic: str) -> None:
        """Systems without a value have no p-value; incomplete replicates are left out."""
        values, replicates, _ = board(SEED, 4)
        expected = model_confidence_set(values, replicates[:, 50:], statistic=statistic)
        replicates[2, :50] = np.nan
        found = model_confidence_set(
            np.append(values, np.nan),
            np.vstack([replicates, np.zeros(199)]),
            statistic=statistic,
        )
        assert found.pvalues[:4].tolist() == expected.pvalues.tolist()
        assert np.isnan(found.pvalues[4])
        assert not found.members()[4]
        replicates[1, 50:] = np.nan
        never = model_confidence_set(values, replicates, statistic=statistic)
        assert never.pvalues.tolist() == [1.0] * 4

    def test_refuses(self) -> None:
        """Words and levels, by name."""
        values, replicates, _ = board(SEED, 2)
        with pytest.raises(ValueError, match="`statistic` is 'R'; choose one of range, max"):
            model_confidence_set(values, replicates, statistic="R")
        with pytest.raises(ValueError, match="`confidence_level` is 95"):
            model_confidence_set(values, replicates).members(95)

    @pytest.mark.parametrize("statistic", MCS_STATISTICS)
    def test_lists(self, statistic: str) -> None:
        """Lists are arrays."""
        values, replicates, _ = board(SEED, 3)
        expected = model_confidence_set(values, replicates, statistic=statistic, rounding=0.5)
        found = model_confidence_set(
            values.tolist(), replicates.tolist(), statistic=statistic, rounding=[0.5] * 3
        )
        assert found.pvalues.tolist() == expected.pvalues.tolist()
        whole = model_confidence_set([1, 2], [[1, 1], [1, 2]], statistic=statistic)
        assert whole.pvalues.tolist() == [2 / 3, 1.0]

    @pytest.mark.parametrize("statistic", MCS_STATISTICS)
    def test_none_in_the_ranking(self, statistic: str) -> None:
        """Where all are undefined."""
        found = model_confidence_set([math.nan, math.nan], np.zeros((2, 9)), statistic=statistic)
        assert np.isnan(found.pvalues).all()

    @pytest.mark.parametrize(
        "error, message, given",
        [
            (TypeError, "`values` is of type <U1; give numbers", {"values": ["a", "b"]}),
            (ValueError, "`values` has shape (); give one value for each system", {"values": 1}),
            (ValueError, "`values` is empty; give one value for each system", {"values": []}),
            (
                ValueError,
                (
                    "`replicates` has shape (2,) but `values` 2 systems; give a row of replicates "
                    "for each, shape (2, n_replicates)"
                ),
                {"replicates": [1, 2]},
            ),
            (
                ValueError,
                "`replicates` has shape (2, 2) but `values` 1 system; give a row",
                {"values": [1]},
            ),
            (
                ValueError,
                "`replicates` has lists of different lengths; give an array of numbers",
                {"replicates": [[1, 2], [1]]},
            ),
            (
                ValueError,
                "`rounding` has shape (3,) but `values` 2 systems; give one number, or one for",
                {"rounding": [0, 0, 0]},
            ),
        ],
    )
    def test_refuses_what_does_not_fit(
        self, error: type[Exception], message: str, given: dict[str, Any]
    ) -> None:
        """By the name of the argument."""
        arguments: dict[str, Any] = {"values": [1, 2], "replicates": [[1, 1], [1, 2]]}
        with pytest.raises(error, match=f"^{re.escape(message)}"):
            model_confidence_set(**arguments | given)


@pytest.mark.slow
@pytest.mark.parametrize("quality", [[0.0] * 6, [0.0, 0.0, 0.0, 1.0, 1.0, 6.0]])
def test_coverage(quality: list[float]) -> None:
    """Rank intervals and model confidence sets of systems whose replicates have the right law.

    Six correlated systems, values normal around their quality, replicates around the values: what
    the bootstrap tends to. Where all are equal the first statement is wrong in 5 % of data sets
    exactly (p of 299 replicates: 15 / 300), up to the error of standard errors from 299 replicates,
    which is of second order; else no more often. Quantiles of the ranks in replicates are far from
    covering equal systems.
    """
    rng = np.random.default_rng(SEED)
    n_simulated, n = 3_000, 299
    truth = np.array(quality)
    least = 1 + (truth > truth[:, None]).sum(axis=1)
    most = len(truth) - (truth < truth[:, None]).sum(axis=1)
    best = truth == truth.max()
    missed = {"ranks": 0, "marginal": 0, "range": 0, "max": 0}
    for _ in range(n_simulated):
        values = truth + rng.standard_normal(6) + rng.standard_normal()
        noise = rng.standard_normal((6, n)) + rng.standard_normal(n)
        found = rank_intervals(values, values[:, None] + noise)
        missed["ranks"] += bool(((found.low > least) | (found.high < most)).any())
        # Of one system, and any of its ranks.
        missed["marginal"] += bool(
            found.marginal_low[0] > most[0] or found.marginal_high[0] < most[0]
        )
        for statistic in MCS_STATISTICS:
            members = model_confidence_set(values, values[:, None] + noise, statistic=statistic)
            missed[statistic] += not members.members()[best].all()
    if len(set(quality)) == 1:
        for name in ("ranks", "range", "max"):
            assert_rate(missed[name], n_simulated, 0.05, detects=0.037)
        assert binom.sf(missed["marginal"] - 1, n_simulated, 0.05) < FALSE_FAILURE
    else:
        for name in ("ranks", "range", "max"):
            # More than this happens once in a million where the rate is 5 %.
            assert missed[name] <= binom.isf(FALSE_FAILURE, n_simulated, 0.05)


# ==================================================================================================
# Pairs that replicates say nothing about
# ==================================================================================================


def untested(n: int, *pairs: tuple[int, int]) -> Bools:
    """The symmetric matrix of some pairs."""
    found = np.zeros((n, n), dtype=bool)
    for i, j in pairs:
        found[i, j] = found[j, i] = True
    return found


class TestUntested:
    """Constant differences of so few units that nothing was tested."""

    def test_no_order(self) -> None:
        """Systems of one item: all ranks, all in the set, no shares."""
        values = np.array([1.0, 0.0, 0.5])
        replicates = np.tile(values[:, None], 99)
        none = ~np.eye(3, dtype=bool)
        ranked = rank_intervals(values, replicates, untested=none)
        assert ranked.rank.tolist() == [1, 3, 2]
        assert (ranked.low.tolist(), ranked.high.tolist()) == ([1] * 3, [3] * 3)
        assert np.isnan(probability_best(values, replicates, untested=none)).all()
        for statistic in MCS_STATISTICS:
            found = confidence_set(values, replicates, statistic=statistic, untested=none)
            assert found.pvalues.tolist() == [1.0] * 3

    @statistics
    @QUICK
    @given(seed=SEEDS)
    def test_others_as_without(self, statistic: str, seed: int) -> None:
        """A third system is held against both as before; the two are never told apart."""
        rng = np.random.default_rng(seed)
        values = np.array([1.0, 0.5, rng.choice([-9.0, 0.75, 9.0])])
        noise = rng.standard_normal((2, 199))
        replicates = values[:, None] + noise[[0, 0, 1]]
        pair = untested(3, (0, 1))
        plain = rank_intervals(values, replicates)
        found = rank_intervals(values, replicates, untested=pair)
        assert plain.better[0, 1]
        assert not found.better[[0, 1], [1, 0]].any()
        assert np.array_equal(found.better[2], plain.better[2])
        assert np.array_equal(found.better[:, 2], plain.better[:, 2])
        confident = confidence_set(values, replicates, statistic=statistic, untested=pair).pvalues
        # Neither is left out for the other: only for the third, where that is better.
        assert (confident[2] < 0.05) == (values[2] < -1)
        assert (confident[:2] < 0.05).all() == (values[2] > 1)
        shares = probability_best(values, replicates, untested=pair)
        assert np.isnan(shares).tolist() == [True, True, False]
        assert shares[2] == probability_best(values, replicates)[2]

    @statistics
    @QUICK
    @given(seed=SEEDS, n=st.integers(1, 6))
    def test_none(self, statistic: str, seed: int, n: int) -> None:
        """No such pairs: the same as without."""
        values, replicates, _ = board(seed, n)
        none = untested(n)
        better = surely_better(values, replicates, untested=none)
        assert np.array_equal(surely_better(values, replicates), better)
        expected = model_confidence_set(values, replicates, statistic=statistic).pvalues
        found = confidence_set(values, replicates, statistic=statistic, untested=none).pvalues
        assert np.array_equal(expected, found)
