"""Weights of further designs: against the reference, and against their laws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statistical import assert_same_distribution, assert_same_law

from fastboot import reference
from fastboot.compiler import kernel
from fastboot.kernels.blocks import fill_block_weights, fill_stationary_weights, log_of_continuing
from fastboot.kernels.crossed import fill_crossed_weights
from fastboot.kernels.exponential import fill_exponential_weights
from fastboot.kernels.nested import fill_nested_weights
from fastboot.kernels.pattern_law import pattern_law
from fastboot.kernels.philox import INNER, SUPERBLOCK, fill_positions
from fastboot.kernels.places import place
from fastboot.kernels.poisson import fill_poisson_weights
from fastboot.reference import schemes

Weights = NDArray[np.float64]

# 31 to 33: the 32 units of a counter; 1,000: more than the draws that are made at a time.
SIZES = (1, 2, 5, 31, 33, 1_000)
LAW = tuple(pattern_law(1.0))
# Replicates of seed 0 in which a group of 60,000 units has a word that is uneven.
REDRAWN = (0, 1)


@kernel
def _places(n_units: Any, first: Any, k0: Any, k1: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = place(np.uint32(0), i % 4, n_units, i // 4, 3, first, INNER, k0, k1)


@kernel
def _words(
    first: Any, block: Any, replicate: Any, purpose: Any, k0: Any, k1: Any, out: Any
) -> None:
    fill_positions(first, block, replicate, purpose, k0, k1, out)


def words(seed: int) -> tuple[np.uint32, ...]:
    """Return the key of a seed."""
    return tuple(np.random.SeedSequence(seed).generate_state(2, np.uint32))


def frozen(values: Any, dtype: Any = np.int64) -> Any:
    """Return the values as kernels take them."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def counts(drawn: Iterable[int], n: int) -> Weights:
    """How often each of n units was drawn."""
    return np.bincount(list(drawn), minlength=n).astype(float)


def sizes(n: int) -> list[int]:
    """Sizes of groups that have n units together; none, one and many among them."""
    limits = np.unique([0, min(1, n), n // 10, n // 3, n // 3 + 1, n // 2, n])
    return [*np.diff(limits).tolist(), 0]


def outer(n_levels: int, first: int, n_replicates: int) -> Weights:
    """How often each level was drawn, a function of the replicate."""
    drawn = np.empty((n_replicates, n_levels))
    for r in range(n_replicates):
        drawn[r] = np.random.default_rng(first + r).poisson(1.2, n_levels)
    drawn.flags.writeable = False
    return drawn


def levels_drawn(n_levels: int, replicate: int) -> list[int]:
    """List the levels of `outer`, with repetition."""
    drawn = outer(n_levels, replicate, 1)[0].astype(int)
    return np.repeat(np.arange(n_levels), drawn).tolist()


class Scheme(NamedTuple):
    """One design.

    fill : writes the weights of consecutive replicates, from (first, seed, weights)
    weights : those of the reference, from (n, seed, replicate)
    """

    fill: Callable[[int, int, Weights], None]
    weights: Callable[[int, int, int], Weights]


def fill_nested(first: int, seed: int, weights: Weights) -> None:
    """Nested units of the groups `sizes`."""
    groups = sizes(weights.shape[1])
    offsets = frozen(np.cumsum([0, *groups]))
    drawn = outer(len(groups), first, len(weights))
    fill_nested_weights(offsets, drawn, first, *words(seed), weights)


def nested(n: int, seed: int, replicate: int) -> Weights:
    """Nested units of the reference."""
    groups = sizes(n)
    drawn = levels_drawn(len(groups), replicate)
    return counts(reference.nested_units(groups, drawn, seed, replicate), n)


def blocks(part: float, *, circular: bool) -> Scheme:
    """Blocks of this part of all rows."""

    def length(n: int) -> int:
        return max(1, math.floor(part * n))

    return Scheme(
        lambda first, seed, weights: fill_block_weights(
            length(weights.shape[1]), circular, first, *words(seed), weights
        ),
        lambda n, seed, r: counts(
            reference.block_rows(n, length(n), seed, r, circular=circular), n
        ),
    )


def stationary(mean_length: float) -> Scheme:
    """Blocks of geometric length."""
    return Scheme(
        lambda first, seed, weights: fill_stationary_weights(
            mean_length, log_of_continuing(mean_length), first, *words(seed), weights
        ),
        lambda n, seed, r: counts(reference.stationary_rows(n, mean_length, seed, r), n),
    )


SCHEMES = {
    "poisson": Scheme(
        lambda first, seed, weights: fill_poisson_weights(0, first, LAW, *words(seed), weights),
        lambda n, seed, r: counts(reference.poisson_units(n, seed, r), n),
    ),
    "exponential": Scheme(
        lambda first, seed, weights: fill_exponential_weights(0, first, *words(seed), weights),
        lambda n, seed, r: np.array(reference.exponential_weights(n, seed, r)),
    ),
    "nested": Scheme(fill_nested, nested),
    "moving, single rows": blocks(0.0, circular=False),
    "moving": blocks(0.3, circular=False),
    "moving, one block": blocks(1.0, circular=False),
    "circular": blocks(0.3, circular=True),
    "circular, one block": blocks(1.0, circular=True),
    "stationary, single rows": stationary(1.0),
    "stationary, short": stationary(1.5),
    "stationary": stationary(7.3),
    "stationary, long": stationary(1e300),
}

every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def filled(scheme: str, n: int, seed: int, first: int, n_replicates: int) -> Weights:
    """Weights of consecutive replicates, over what was there."""
    weights = np.full((n_replicates, n), math.nan)
    SCHEMES[scheme].fill(first, seed, weights)
    return weights


def assert_agree(scheme: str, expected: Weights, found: Weights) -> None:
    """Counts are equal; an exponential is the C library's within a unit in its last place."""
    if scheme == "exponential":
        assert (np.abs(found - expected) <= np.spacing(expected)).all()
    else:
        assert found.tolist() == expected.tolist()


@every_scheme
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed, first", [(0, 0), (11, 5), (2_024, 2**32 - 8)])
def test_weights__reference(scheme: str, n: int, seed: int, first: int) -> None:
    """Every weight is the reference's."""
    found = filled(scheme, n, seed, first, 8)

    expected = [SCHEMES[scheme].weights(n, seed, r) for r in range(first, first + 8)]

    assert_agree(scheme, np.array(expected), found)


@every_scheme
def test_weights__superblock(scheme: str) -> None:
    """The same for as many units as kernels take."""
    found = filled(scheme, SUPERBLOCK, 1, 2, 1)

    assert_agree(scheme, SCHEMES[scheme].weights(SUPERBLOCK, 1, 2), found[0])


@pytest.mark.parametrize("replicate", REDRAWN)
def test_nested__redrawn(replicate: int) -> None:
    """Units whose words are uneven, one in 90,000 of a group of 60,000, are drawn again."""
    n = 60_000
    first_words = np.empty((n // 4, 4), np.uint32)
    _words(0, 0, replicate, INNER, *words(0), first_words)
    assert ((first_words * np.uint64(n)) % 2**32 < 2**32 % n).any()
    weights = np.empty((1, n))
    fill_nested_weights(frozen([0, n]), frozen([[1.0]], float), replicate, *words(0), weights)

    expected = counts(reference.nested_units([n], [0], 0, replicate), n)

    assert weights[0].tolist() == expected.tolist()


def test_weights__second_superblock() -> None:
    """Units beyond a superblock have words of their own."""
    n = SUPERBLOCK + 5
    poisson, exponential = np.empty((1, 5)), np.empty((1, 5))
    fill_poisson_weights(1, 3, LAW, *words(0), poisson)
    fill_exponential_weights(1, 3, *words(0), exponential)

    assert_agree("poisson", counts(reference.poisson_units(n, 0, 3), n)[SUPERBLOCK:], poisson[0])
    expected = np.array(reference.exponential_weights(n, 0, 3)[SUPERBLOCK:])
    assert_agree("exponential", expected, exponential[0])


@every_scheme
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_weights__batches(scheme: str, data: st.DataObject) -> None:
    """A replicate is a function of its number, whatever the batch that it is written in."""
    n = data.draw(st.integers(1, 600))
    first = data.draw(st.integers(0, 2**31))
    n_replicates = data.draw(st.integers(1, 6))
    split = data.draw(st.integers(0, n_replicates))
    whole = filled(scheme, n, 5, first, n_replicates)
    parts = (
        filled(scheme, n, 5, first, split),
        filled(scheme, n, 5, first + split, n_replicates - split),
    )
    assert np.concatenate(parts).tolist() == whole.tolist()


@every_scheme
def test_weights__total(scheme: str) -> None:
    """Blocks draw n rows, nested groups as many units as they have."""
    n = 500
    totals = filled(scheme, n, 3, 0, 50).sum(axis=1)
    groups = sizes(n)
    if scheme == "nested":
        assert totals.tolist() == (outer(len(groups), 0, 50) @ groups).tolist()
    elif scheme in {"poisson", "exponential"}:
        assert len(set(totals.tolist())) > 1
    else:
        assert totals.tolist() == [n] * 50


@every_scheme
def test_weights__no_replicates(scheme: str) -> None:
    """An empty range compiles and writes nothing."""
    assert filled(scheme, 5, 0, 0, 0).shape == (0, 5)


# Numbers


@pytest.mark.parametrize("n_units", [1, 3, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32])
def test_place__reference(n_units: int) -> None:
    """Draws that would be uneven, up to half of all, are made again as the reference makes them.

    The word 0 is uneven but for powers of two, so the first attempt is always the second.
    """
    out = np.empty(400, np.int64)
    _places(n_units, 7, *words(0), out)
    stream, key = (3, 7, INNER + 256), reference.key(0)
    expected = [schemes._below(n_units, i, stream, key) for i in range(out.size)]
    assert out.tolist() == (expected if 2**32 % n_units else [0] * out.size)


# Laws


def test_poisson__law() -> None:
    """Two million counts show a deviation of 0.003 in any cell."""
    weights = filled("poisson", 50_000, 7, 0, 40)
    law = stats.poisson(1.0)
    cells = np.bincount(np.minimum(weights, 8).astype(int).ravel(), minlength=9)
    assert_same_law(cells.tolist(), [*law.pmf(range(8)), law.sf(7)], detects=0.003)


@pytest.mark.parametrize(
    "unit, other, later",
    [(0, 1, 0), (1, 3, 0), (3, 4, 0), (0, 32, 0), (2, 2, 1)],
    ids=["same pattern", "its ends", "next pattern", "next counter", "next replicate"],
)
def test_poisson__independent(unit: int, other: int, later: int) -> None:
    """Counts of two units come together as often as independent ones: 0.006 in any of 16 cells.

    Pairs are 64 units and two replicates apart, so they are independent of each other.
    """
    weights = np.minimum(filled("poisson", 64 * 1_000, 8, 0, 800), 3).reshape(800, 1_000, 64)
    ones = weights[::2, :, unit].astype(int).ravel()
    others = weights[later::2, :, other].astype(int).ravel()
    one = [*stats.poisson(1.0).pmf(range(3)), stats.poisson(1.0).sf(2)]
    cells = np.bincount(4 * ones + others, minlength=16)
    assert_same_law(cells.tolist(), np.outer(one, one).ravel().tolist(), detects=0.006)


@pytest.mark.parametrize("n_summed", [1, 2, 4])
def test_exponential__law(n_summed: int) -> None:
    """Sums of neighbours are gamma variables, so neighbours are independent: Kolmogorov's test."""
    sums = filled("exponential", 20_000, 9, 0, 20).reshape(-1, n_summed).sum(axis=1)
    grid = (np.arange(sums.size) + 0.5) / sums.size
    assert_same_distribution(stats.gamma(n_summed).cdf(sums), grid, detects=0.035)


def assert_law_of_weights(
    found: Weights, equally_likely: Iterable[tuple[Any, float]], *, detects: float
) -> None:
    """Replicates have the law of the listed outcomes, (weights, probability) each."""
    law: Counter[tuple[float, ...]] = Counter()
    for outcome, probability in equally_likely:
        law[tuple(outcome)] += probability  # type: ignore[assignment] # counts may be shares
    seen = Counter(map(tuple, found.tolist()))
    assert set(seen) <= set(law)
    assert_same_law([seen[cell] for cell in law], [float(law[cell]) for cell in law],
                    detects=detects)  # fmt: skip


def resamples(size: int) -> Iterator[tuple[int, ...]]:
    """All resamples of one copy of a group, as counts."""
    return (
        tuple(draws.count(unit) for unit in range(size))
        for draws in product(range(size), repeat=size)
    )


def test_nested__enumeration() -> None:
    """Two copies of two units and one of three: all resamples of each copy, 432 together."""
    weights = np.empty((100_000, 6))
    drawn = frozen(np.tile([2.0, 0.0, 1.0], (len(weights), 1)), float)
    fill_nested_weights(frozen([0, 2, 3, 6]), drawn, 0, *words(4), weights)
    outcomes = [
        (*np.add(one, two), 0, *three)
        for one, two, three in product(resamples(2), resamples(2), resamples(3))
    ]
    assert len(outcomes) == 432
    assert_law_of_weights(weights, [(each, 1 / 432) for each in outcomes], detects=0.01)


@pytest.mark.parametrize("n, length", [(1, 1), (4, 1), (5, 2), (5, 3), (6, 2), (4, 4)])
@pytest.mark.parametrize("circular", [False, True])
def test_blocks__enumeration(n: int, length: int, circular: bool) -> None:
    """Every choice of starts is equally likely."""
    weights = np.empty((100_000, n))
    fill_block_weights(length, circular, 0, *words(5), weights)
    n_starts = n if circular else n - length + 1
    choices = list(product(range(n_starts), repeat=-(-n // length)))
    outcomes = [
        counts(islice(((start + k) % n for start in starts for k in range(length)), n), n)
        for starts in choices
    ]
    detects = 1.0 if len(choices) == 1 else 0.015  # a sure outcome is wrong altogether or not
    assert_law_of_weights(weights, [(each, 1 / len(choices)) for each in outcomes], detects=detects)


@pytest.mark.parametrize("mean_length", [1.0, 1.25, 2.0, 3.5, 1e6])
def test_stationary__markov(mean_length: float) -> None:
    """The rows drawn are a Markov chain: the next row, or with probability 1 / mean any row."""
    n = 4
    jump = 1.0 / mean_length

    def probability(rows: tuple[int, ...]) -> float:
        steps = pairwise(rows)
        goes_on = [(after - before) % n == 1 for before, after in steps]
        return math.prod([1.0 / n, *(jump / n + (1.0 - jump) * on for on in goes_on)])

    weights = np.empty((100_000, n))
    fill_stationary_weights(mean_length, log_of_continuing(mean_length), 0, *words(6), weights)
    outcomes = [(counts(rows, n), probability(rows)) for rows in product(range(n), repeat=n)]
    assert_law_of_weights(weights, outcomes, detects=0.015)


@pytest.mark.parametrize("n", SIZES)
def test_crossed__reference(n: int) -> None:
    """A row comes with every pair of drawn levels that it has."""
    rng = np.random.default_rng(n)
    codes_0, codes_1 = rng.integers(0, 4, n), rng.integers(0, 7, n)
    weights = np.full((3, n), math.nan)
    outer_0, outer_1 = outer(4, 0, 3), outer(7, 10, 3)
    fill_crossed_weights(frozen(codes_0), frozen(codes_1), outer_0, outer_1, weights)

    expected = [
        counts(
            reference.crossed_rows(
                codes_0.tolist(), codes_1.tolist(), levels_drawn(4, r), levels_drawn(7, 10 + r)
            ),
            n,
        ).tolist()
        for r in range(3)
    ]

    assert weights.tolist() == expected
