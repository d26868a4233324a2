"""The compiled kernels, each against its law or a published answer."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from randomgen import Philox
from scipy import stats
from statistical import assert_same_distribution, assert_same_law

import fastboot as fb
from fastboot import reference
from fastboot.compiler import kernel
from fastboot.kernels.arithmetic import exponential, log_complement, logarithm
from fastboot.kernels.binomial import (
    _stirling_tail,
    binomial,
    binomial_scratch,
    draw_binomials,
    draw_fair_binomials,
    fair_binomial,
    fill_binomials,
)
from fastboot.kernels.collapse import find_classes
from fastboot.kernels.pattern_law import pattern_law, poisson_rate
from fastboot.kernels.philox import CLASSES, SUPERBLOCK, fill_positions
from fastboot.kernels.superblocks import fill_shares
from fastboot.paths import BOOTSTRAP_PATHS

KEY = (np.uint32(17), np.uint32(2_024))


@kernel
def _fill(first: Any, block: Any, replicate: Any, purpose: Any, k0: Any, k1: Any, out: Any) -> None:
    fill_positions(first, block, replicate, purpose, k0, k1, out)


@kernel
def _logarithms(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = logarithm(x[i])


@kernel
def _log_complements(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = log_complement(x[i])


@kernel
def _exponentials(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = exponential(x[i])


@kernel
def _fair(n: Any, first: Any, k0: Any, k1: Any, out: Any) -> None:
    for r in range(out.size):
        out[r] = fair_binomial(n, 3, first + r, 7, k0, k1)


@kernel
def _tails(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = _stirling_tail(x[i])


@kernel
def _at_once(n: Any, a: Any, c: Any, block: Any, first: Any, purpose: Any, k0: Any, k1: Any,
             out: Any) -> None:  # fmt: skip
    scratch = binomial_scratch(out.size)
    draw_binomials(n, a, c, block, first, purpose, k0, k1, scratch, out)


@kernel
def _one_by_one(n: Any, a: Any, c: Any, block: Any, first: Any, purpose: Any, k0: Any, k1: Any,
                out: Any) -> None:  # fmt: skip
    for r in range(out.size):
        out[r] = binomial(np.int64(n[r]), a, c, block, first + r, purpose, k0, k1)


@kernel
def _fair_at_once(n: Any, first: Any, k0: Any, k1: Any, out: Any) -> None:
    trials = np.empty(out.size)
    draw_fair_binomials(n, 3, first, 7, k0, k1, trials, binomial_scratch(out.size), out)


@kernel
def _one_binomial(n: Any, a: Any, c: Any, block: Any, r: Any, k0: Any, k1: Any) -> Any:
    return binomial(n, a, c, block, r, 2, k0, k1)


@pytest.mark.parametrize(
    "counter, key, words",
    [
        ((0,) * 4, (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox__published(counter: Any, key: Any, words: tuple[int, ...]) -> None:
    """Known-answer vectors of the authors' Random123 library, version 1.09."""
    out = np.empty((1, 4), np.uint32)
    _fill(*map(np.uint32, (*counter, *key)), out)
    assert tuple(out[0].tolist()) == words


def test_philox__randomgen() -> None:
    """Consecutive positions are the consecutive output of another implementation."""
    out = np.empty((500, 4), np.uint32)
    _fill(1, 5, 6, 7, *KEY, out)
    counter = (7 << 96) + (6 << 64) + (5 << 32)  # randomgen steps before it draws
    key = (int(KEY[1]) << 32) + int(KEY[0])
    other = Philox(key=key, counter=counter, number=4, width=32)
    expected = other.random_raw(2_000)
    assert out.ravel().tolist() == expected.tolist()


@pytest.mark.parametrize(
    "function, exact, x, units",
    [
        (_logarithms, math.log, np.geomspace(2.0**-1022, 1.7e308, 200_001), 1.0),
        (_logarithms, math.log, np.linspace(0.5, 2.0, 200_002), 1.0),
        (_logarithms, math.log, 2.0 ** np.arange(-1022, 1024), 1.0),
        (_logarithms, math.log, 1.0 - np.geomspace(2.0**-53, 0.5, 20_001), 1.0),
        (_log_complements, lambda p: math.log1p(-p), np.geomspace(1e-18, 0.5, 20_001), 1.0),
        (_log_complements, lambda p: math.log1p(-p), np.linspace(1e-6, 0.5, 200_001), 1.0),
        (_exponentials, math.exp, -np.geomspace(1e-12, 690.0, 20_001), 4.0),
    ],
)
def test_arithmetic__accuracy(
    function: Any, exact: Any, x: NDArray[np.float64], units: float
) -> None:
    """Within so many units in the last place of the C library, as the module promises."""
    out = np.empty_like(x)
    function(x, out)
    expected = np.array([exact(value) for value in x.tolist()])
    assert (np.abs(out - expected) <= units * np.spacing(np.abs(expected))).all()


@pytest.mark.parametrize(
    "n, a, c",
    [
        (1, 1, 3), (9, 1, 2), (30, 1, 3), (40, 1, 2), (50, 11, 50), (1_000, 7, 1_000),
        (1_000, 12, 1_000), (1_000, 650, 1_000), (10**6, 3, 10**6), (10**6, 999_950, 10**6),
        (10**9, 1, 10**8),
    ],
)  # fmt: skip
def test_binomial__law(n: int, a: int, c: int) -> None:
    """Two million draws per case show a deviation of 0.003 in any cell."""
    draws = np.empty(2_000_000, np.int64)
    fill_binomials(n, a, c, 0, CLASSES, 0, *KEY, draws)
    law = stats.binom(n, a / c)
    low, high = int(law.ppf(1e-4)), int(law.ppf(1.0 - 1e-4))
    cells = np.arange(low, high + 1)
    below, inside, above = (
        [(draws < low).sum()],
        np.bincount(draws[(draws >= low) & (draws <= high)] - low, minlength=cells.size),
        [(draws > high).sum()],
    )
    probabilities = [law.cdf(low - 1), *law.pmf(cells), law.sf(high)]
    assert_same_law([*below, *inside, *above], probabilities, detects=0.003)


@pytest.mark.parametrize("mean, sd_n", [(3e5, 10**6), (5e8, 10**9)])
def test_binomial__large(mean: float, sd_n: int) -> None:
    """Where cells are too many to count, the distribution function agrees."""
    draws = np.empty(100_000, np.int64)
    fill_binomials(sd_n, int(mean), sd_n, 0, CLASSES, 0, *KEY, draws)
    uniforms = stats.binom(sd_n, mean / sd_n).cdf(draws)
    grid = (np.arange(100_000) + 0.5) / 100_000
    assert_same_distribution(uniforms, grid, detects=0.035)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 127, 128, 129, 383, 384, 385, 5_000])
def test_fair_binomial__law(n: int) -> None:
    """Counted bits and rejection give one law."""
    draws = np.empty(500_000, np.int64)
    _fair(n, 0, *KEY, draws)
    law = stats.binom(n, 0.5)
    edges = np.unique(law.ppf(np.linspace(0.02, 0.98, 25)).astype(int))
    counts = np.histogram(draws, np.concatenate([[-1], edges, [n]]) + 0.5)[0]
    probabilities = np.diff(law.cdf(np.concatenate([[-1], edges, [n]])))
    assert_same_law(counts.tolist(), probabilities, detects=0.006)


TRIALS = (0, 1, 5, 9, 20, 21, 150, 1_000, 10**6, 2**40)


@pytest.mark.parametrize(
    "a, c",
    [
        (0, 7), (7, 7), (1, 2), (1, 3), (2, 3), (9, 20), (1, 1_000), (999, 1_000), (1, 10**5),
        (10**6 - 1, 10**6), (1, 2**40),
    ],
)  # fmt: skip
def test_draw_binomials__one_by_one(a: int, c: int) -> None:
    """Every replicate's draw is that of `binomial`, whatever the others' trials."""
    rng = np.random.default_rng(c)
    mixed = rng.choice(TRIALS, 30_000).astype(np.float64)
    alike = [np.full(4_000, float(n)) for n in TRIALS]
    for purpose, trials in enumerate([mixed, *alike]):
        draws, expected = np.full(trials.size, -1.0), np.empty(trials.size)
        _at_once(trials, a, c, 11, 5, purpose, *KEY, draws)
        _one_by_one(trials, a, c, 11, 5, purpose, *KEY, expected)
        assert (draws == expected).all()


@given(
    st.lists(st.sampled_from(TRIALS) | st.integers(0, 2**53), max_size=40),
    st.integers(0, 2**40).flatmap(lambda c: st.tuples(st.integers(0, c + 1), st.just(c + 1))),
    st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**31), st.integers(0, 20)),
    st.integers(0, 40),
)
def test_draw_binomials__batches(
    trials: list[int], part: tuple[int, int], words: tuple[int, int, int], cut: int
) -> None:
    """A draw depends on its replicate alone: not on where a batch starts or ends, empty or not."""
    n = np.array(trials, np.float64)
    block, first, purpose = words
    draws, expected = np.empty(n.size), np.empty(n.size)
    _at_once(n[:cut], *part, block, first, purpose, *KEY, draws[:cut])
    _at_once(n[cut:], *part, block, first + cut, purpose, *KEY, draws[cut:])
    _one_by_one(n, *part, block, first, purpose, *KEY, expected)
    assert draws.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 96, 127, 128, 129, 300, 384, 385, 10**6])
def test_draw_fair_binomials__one_by_one(n: int) -> None:
    """Every replicate's draw is that of `fair_binomial`."""
    for size in (0, 1, 5_000):
        draws, expected = np.full(size, -1.0), np.empty(size, np.int64)
        _fair_at_once(n, 9, *KEY, draws)
        _fair(n, 9, *KEY, expected)
        assert draws.tolist() == expected.tolist()


def test_stirling_tail__exact() -> None:
    """The remainder of Stirling's formula, against 40 digits.

    The first term that the series leaves out, 691/360360 x^11, bounds its error. Rounding adds at
    most 2^-53 of the value each for x, 1/12, the subtraction from it and the product, and one more
    for the small terms. The tabulated values are the nearest numbers.
    """
    k = np.arange(300)
    tails = np.empty(k.size)
    _tails(k.astype(np.float64), tails)
    with localcontext() as context:
        context.prec = 40
        half_log_two_pi = (2 * Decimal("3.1415926535897932384626433832795028841972")).ln() / 2
        for i, tail in zip(k.tolist(), tails.tolist(), strict=True):
            x = Decimal(i + 1)
            exact = Decimal(math.factorial(i)).ln() - (x - Decimal("0.5")) * x.ln() + x
            exact -= half_log_two_pi
            error = abs(float(Decimal(tail) - exact))
            series = 691 / 360_360 / (i + 1) ** 11 + 5 * 2.0**-53 * tail
            assert error <= (0.5 * math.ulp(tail) if i < 16 else series)


def test_binomial__reference() -> None:
    """The kernel and the reference draw the same numbers from the same words."""
    rng = np.random.default_rng(5)
    for _ in range(3_000):
        n = int(10 ** rng.uniform(0, 8))
        c = int(10 ** rng.uniform(0, 8))
        a = int(rng.integers(0, c + 1))
        block, r = (int(word) for word in rng.integers(0, 2**32, 2))
        expected = reference.binomial(n, a, c, (block, r, 2), (int(KEY[0]), int(KEY[1])))
        assert _one_binomial(n, a, c, block, r, *KEY) == expected


def test_fill_shares__sum_to_all_draws() -> None:
    """The shares of all superblocks add up to the number of units in every replicate."""
    n = 5 * SUPERBLOCK + 123
    total = np.zeros(200, np.int64)
    for superblock in range(6):
        shares = np.empty(200, np.int64)
        fill_shares(superblock, n, 0, *KEY, shares)
        total += shares
    assert (total == n).all()


def test_pattern_law__poisson() -> None:
    """Slots and remainders together are the Poisson law, pattern by pattern."""
    rate = poisson_rate(10_000, SUPERBLOCK)
    law = pattern_law(rate)
    number = law.slots & 1023
    owned = np.bincount(number[number < law.packed.size - 1], minlength=law.packed.size - 1)
    exact = np.prod([stats.poisson(rate).pmf(counts) for counts in law.counts[:, :-1]], axis=0)
    assert (owned == np.floor(65_536 * exact)).all()
    shares = np.diff(law.remainder, prepend=0.0) * (1.0 - owned.sum() / 65_536)
    for partition, share in list(zip(law.partitions.tolist(), shares.tolist(), strict=True))[:300]:
        alike = (np.sort(law.counts[:, :-1], axis=0)[::-1].T == partition).all(axis=1)
        arrangements = len({*map(tuple, _permutations(partition))})
        probability = arrangements * np.prod(stats.poisson(rate).pmf(partition))
        # The cumulative law has an absolute rounding error of 1e-16.
        assert share + owned[alike].sum() / 65_536 == pytest.approx(probability, abs=1e-15)


def _permutations(counts: list[int]) -> Any:
    return np.array(counts)[pattern_law(0.5).arrangements].tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50, 257, 1_000, 65_536, 65_537, 10**6, 10**9])
def test_poisson_rate__room(n: int) -> None:
    """The rate leaves two standard deviations of room, and is 0 where there is none."""
    rate = poisson_rate(n, SUPERBLOCK)
    units = min(n, SUPERBLOCK)
    spread = math.sqrt(units if n <= SUPERBLOCK else 2 * units)
    assert 0.0 <= rate < 1.0
    assert rate == 0.0 or (1.0 - rate) * units >= 2.0 * spread


ONCE = np.empty(0, np.int64)  # every unit counts once


def test_find_classes__numbers_in_order_of_first_appearance() -> None:
    """Classes are numbered as they come, with their first unit and multiplicity."""
    values = np.array([[3.0, 1.0, 3.0, 2.0, 1.0, 3.0], [0.0, 0.0, 0.0, 5.0, 0.0, 1.0]])
    members, counts = np.zeros(6, np.int64), np.zeros(6, np.int64)
    n = find_classes(values.view(np.uint64), ONCE, np.full(16, -1), members, counts)
    assert (n, members[:n].tolist(), counts[:n].tolist()) == (4, [0, 1, 3, 5], [2, 2, 1, 1])


def test_find_classes__too_many() -> None:
    """More classes than asked for end the search."""
    values = np.arange(10.0).reshape(1, 10)
    members, counts = np.zeros(9, np.int64), np.zeros(9, np.int64)
    assert find_classes(values.view(np.uint64), ONCE, np.full(64, -1), members, counts) == -1


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
@pytest.mark.parametrize("n", [30, 300, 3_000])
def test_bootstrap_paths__one_law(path: str, n: int) -> None:
    """All paths give the distribution that resampling by index gives.

    20,000 values a side: a distance of 0.07 between the distribution functions fails it.
    """
    rng = np.random.default_rng(n)
    values = np.where(rng.random(n) < 0.2, 0.0, rng.lognormal(size=n)).round(1)
    result = fb.bootstrap(values, rng=1, n_resamples=20_000, path=path)
    expected = np.concatenate(
        [values[rng.integers(0, n, (2_000, n))].mean(axis=1) for _ in range(10)]
    )
    assert_same_distribution(result.replicates, expected, detects=0.07)


@pytest.mark.parametrize("path", ["collapse", "tables"])
@pytest.mark.parametrize("n", [30, 3_000])
def test_swap_paths__one_law(path: str, n: int) -> None:
    """Both paths give the distribution of random signs."""
    rng = np.random.default_rng(n)
    d = rng.lognormal(size=n).round(1) - 1.0
    result = fb.approximate_randomization(d, np.zeros(n), rng=1, n_resamples=20_000, path=path)
    expected = np.concatenate([rng.choice([-1.0, 1.0], (2_000, n)) @ d / n for _ in range(10)])
    assert_same_distribution(result.replicates, expected, detects=0.07)
