"""Randomization of many systems: common swaps test every pair; permutations are uniform."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from statistical import assert_same_law

import fastboot as fb
from fastboot import reference
from fastboot.arguments import check_design, check_run
from fastboot.leaderboards.many_systems import permuted, swapped
from fastboot.sample import take

SEED = 11
N_ROWS = 60
# Purpose and block of the words, see fastboot.kernels.philox.
PERMUTATIONS = 17
SUPERBLOCK = 65_536


def of(
    statistics: list[Any],
    n_resamples: int = 40,
    groups: Any = None,
    n_threads: int = 1,
    by: Any = None,
) -> Any:
    """Bind systems as fb.compare does."""
    sample = take(
        statistics,
        None,
        check_design(None, groups=groups, by=by),
        "raise",
        alike=[tuple(range(len(statistics)))],
        mixed=True,
    )
    return sample.bounds, sample, check_run(n_resamples, SEED, None, (), n_threads, None)


@pytest.fixture
def scores() -> np.ndarray:
    """Continuous scores of four systems, shape (4, n_rows)."""
    return np.random.default_rng(3).normal(size=(4, N_ROWS))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["mean", "ratio", "macro"])
def test_swapped__two_systems_are_a_pair(kind: str, grouped: bool, scores: np.ndarray) -> None:
    """With two systems the replicates are those of approximate_randomization."""
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 3, N_ROWS)
    kinds: dict[str, list[Any]] = {
        "mean": [fb.mean(scores[0]), fb.mean(scores[1])],
        "ratio": [fb.ratio(scores[i], np.exp(scores[i + 2])) for i in (0, 1)],
        "macro": [
            fb.f_score(gold, rng.integers(0, 3, N_ROWS), average="macro", zero_division=0)
            for _ in "ab"
        ],
    }
    statistics = kinds[kind]
    groups = np.arange(N_ROWS) // 3 if grouped else None
    # The word of a unit depends on its place among those that differ: all do, or it is "weights".
    pair = fb.approximate_randomization(
        *statistics, groups=groups, n_resamples=40, rng=SEED, path="weights"
    )
    (difference,), n_resamples, _ = swapped(*of(statistics, groups=groups))
    assert n_resamples == 40
    if kind != "macro" or pair.n_differing == pair.n_units:
        np.testing.assert_allclose(difference(0, 1), pair.replicates, rtol=0, atol=pair.rounding)
    np.testing.assert_array_equal(difference(0, 1), -difference(1, 0))


def test_swapped__all_pairs_have_common_swaps(scores: np.ndarray) -> None:
    """Every pair of four is swapped by the flags of the reference, the same for all."""
    statistics = [fb.mean(row) for row in scores]
    (difference,), _, _ = swapped(*of(statistics))
    for r in range(40):
        flags = np.array(reference.swaps(N_ROWS, SEED, r, "tables"))
        for s, t in combinations(range(4), 2):
            a, b = np.where(flags, scores[t], scores[s]), np.where(flags, scores[s], scores[t])
            # Sums of 60 numbers below 5, each rounded to 1.1e-16 of the sum.
            assert abs(difference(s, t)[r] - (a.mean() - b.mean())) < 60 * 60 * 5 * 1.2e-16


def test_swapped__few_units_are_enumerated(scores: np.ndarray) -> None:
    """All swaps of five units, each once."""
    few = scores[:, :5]
    (difference,), n_resamples, path = swapped(*of([fb.mean(row) for row in few]))
    assert (n_resamples, path) == (32, "enumeration")
    pair = fb.approximate_randomization(few[0], few[3])
    np.testing.assert_allclose(
        np.sort(difference(0, 3)), np.sort(pair.replicates), rtol=0, atol=pair.rounding
    )


def permutation(unit: int, n_systems: int, replicate: int) -> list[int]:
    """Order of the systems in one unit: Fisher-Yates inside out, a word for each place."""
    key = reference.key(SEED)
    positions = -(-n_systems // 4)
    order = list(range(n_systems))
    for i in range(1, n_systems):
        block, place = divmod(unit, SUPERBLOCK)
        at, lane, attempt = place * positions + i // 4, i % 4, 0
        while True:
            purpose = PERMUTATIONS + (attempt << 8)
            scaled = reference.philox((at, block, replicate, purpose), key)[lane] * (i + 1)
            if scaled & 0xFFFFFFFF >= 2**32 % (i + 1):
                break
            attempt += 1
        j = scaled >> 32
        order[i] = order[j]
        order[j] = i
    return order


@pytest.mark.parametrize("n_systems", [2, 3, 4, 7])
@pytest.mark.parametrize("grouped", [False, True])
def test_permuted__reference(n_systems: int, grouped: bool) -> None:
    """Every replicate has the outputs in the reference's orders, groups whole."""
    scores = np.random.default_rng(3).normal(size=(n_systems, N_ROWS))
    groups = np.arange(N_ROWS) // 3 if grouped else None
    (difference,), _, _ = permuted(*of([fb.mean(row) for row in scores], groups=groups))
    unit_of_row = np.arange(N_ROWS) if groups is None else groups
    for r in range(0, 40, 13):
        orders = np.array(
            [permutation(unit, n_systems, r) for unit in range(unit_of_row.max() + 1)]
        )
        got = scores[orders[unit_of_row].T, np.arange(N_ROWS)]
        for s, t in combinations(range(n_systems), 2):
            expected = got[s].mean() - got[t].mean()
            assert abs(difference(s, t)[r] - expected) < 60 * 60 * 5 * 1.2e-16


def test_permuted__more_than_a_superblock() -> None:
    """The words of later units are of the next block."""
    n_rows = SUPERBLOCK + 70
    scores = np.zeros((3, n_rows))
    late = np.arange(SUPERBLOCK - 70, n_rows)
    scores[:, late] = np.random.default_rng(3).integers(0, 9, (3, late.size))
    (difference,), _, _ = permuted(*of([fb.mean(row) for row in scores], n_resamples=3))
    for r in range(3):
        orders = np.array([permutation(int(unit), 3, r) for unit in late])
        got = scores[orders.T, late].sum(axis=1)  # whole numbers
        for s, t in combinations(range(3), 2):
            np.testing.assert_allclose(
                difference(s, t)[r] * n_rows, got[s] - got[t], rtol=0, atol=1e-6
            )


def test_permuted__threads_and_batches(scores: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits for any threads and ranges."""
    statistics = [fb.mean(row) for row in scores]
    expected = permuted(*of(statistics)).pairs[0](1, 2)
    monkeypatch.setattr("fastboot.engine._LARGEST_RANGE", 7)
    found = permuted(*of(statistics, n_threads=3)).pairs[0](1, 2)
    assert expected.tolist() == found.tolist()


def test_permuted__all_orders_are_equally_likely() -> None:
    """24 orders of four systems in one unit; a false failure has probability 1e-6."""
    n_resamples = 24_000
    scores = np.arange(4.0)[:, None] ** 2
    (difference,), _, _ = permuted(*of([fb.mean(row) for row in scores], n_resamples))
    first, second, third = (difference(0, t) for t in (1, 2, 3))
    orders: dict[Any, Any] = {
        tuple(order[0] - order[t] for t in (1, 2, 3)): order
        for order in permutations((0.0, 1.0, 4.0, 9.0))
    }
    seen: Counter[Any] = Counter(zip(first.tolist(), second.tolist(), third.tolist(), strict=True))
    counts, law = [seen[key] for key in orders], [1 / len(orders)] * len(orders)
    assert_same_law(counts, law, detects=0.02)


BY = np.arange(N_ROWS) * 7 % 3


def test_swapped__slices(scores: np.ndarray) -> None:
    """Every slice of a pair has the swaps of approximate_randomization."""
    bounds, sample, run = of([fb.mean(row) for row in scores], by=BY)
    found = swapped(bounds, sample, run, sample.slices)
    for s, t in combinations(range(4), 2):
        pair = fb.approximate_randomization(scores[s], scores[t], by=BY, n_resamples=40, rng=SEED)
        for cell, one in enumerate(pair.values()):
            np.testing.assert_allclose(
                found.pairs[cell](s, t), one.replicates, rtol=0, atol=one.rounding
            )


def test_permuted__slices(scores: np.ndarray) -> None:
    """Units are numbered slice by slice; each has the order of its number."""
    bounds, sample, run = of([fb.mean(row) for row in scores], by=BY)
    found = permuted(bounds, sample, run, sample.slices)
    rows = np.argsort(BY, kind="stable")
    for r in (0, 39):
        orders = np.array([permutation(unit, 4, r) for unit in range(N_ROWS)])
        got = scores[orders.T, rows]
        for cell in range(3):
            own = got[:, BY[rows] == cell].mean(axis=1)
            for s, t in combinations(range(4), 2):
                difference = found.pairs[cell](s, t)[r]
                assert abs(difference - (own[s] - own[t])) < 60 * 60 * 5 * 1.2e-16


def test_compare__randomized_slices(scores: np.ndarray) -> None:
    """Slices and all rows have the p-values of the pair alone."""
    systems = {"a": scores[0], "b": scores[1], "c": scores[2]}
    options: dict[str, Any] = {"n_resamples": 200, "rng": SEED}
    found = fb.compare(systems, by=BY, test="randomization", correction="none", **options)
    columns = found.pairs.to_columns()
    named = zip(columns["a"], columns["b"], columns["pvalue"], strict=True)
    chosen = [p for a, b, p in named if (a, b) == ("a", "c")]
    pair = fb.approximate_randomization(scores[0], scores[2], by=BY, **options)
    assert chosen[1:] == [one.pvalue for one in pair.values()]
    # All rows differ, so even the swaps are the same.
    assert chosen[0] == pair.total.pvalue
