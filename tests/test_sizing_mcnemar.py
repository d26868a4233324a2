"""Exact powers of McNemar's test of many numbers of items, and the sizes that are read off them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from fastboot.sizing.mcnemar import ExactMcNemar
from fastboot.sizing.planning import power, sample_size


def brute_force_power(n: int, effect: float, discordance: float, alpha: float, side: str) -> float:
    """Sum over all tables of the exact McNemar test of SciPy's binomial test."""
    a_only, b_only = (discordance + effect) / 2.0, (discordance - effect) / 2.0
    total = 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            pairs = wins + losses
            p = stats.binomtest(wins, pairs, 0.5, side).pvalue if pairs else 1.0
            # Twice a tail that equals alpha / 2 exactly may exceed alpha by a rounding.
            if p <= alpha * (1.0 + 1e-9):
                cells = [wins, losses, n - pairs]
                total += stats.multinomial.pmf(cells, n, [a_only, b_only, 1.0 - discordance])
    return float(total)


@pytest.mark.parametrize("n", [1, 5, 6, 25])
@pytest.mark.parametrize("effect, discordance", [(0.2, 0.5), (-0.1, 0.3), (0.4, 0.4), (0.3, 1.0)])
@pytest.mark.parametrize("alpha, side", [(0.05, "two-sided"), (0.0625, "two-sided"),
                                         (0.1, "greater"), (0.03125, "less")])  # fmt: skip
def test_mcnemar__is_the_sum_over_all_tables(
    n: int, effect: float, discordance: float, alpha: float, side: str
) -> None:
    """Also where a tail equals alpha: 2 / 2^5 for five discordant items."""
    expected = brute_force_power(n, effect, discordance, alpha, side)
    found = ExactMcNemar(effect, discordance, alpha, side).power(n)
    # What is left out has probability 2e-13.
    assert pytest.approx(expected, abs=1e-12) == found


def power_by_quantiles(n: int, effect: float, discordance: float, alpha: float, side: str) -> float:
    """Sum over the likely numbers of discordant items, each with a critical count of its own."""
    pairs = np.arange(*(stats.binom.ppf(q, n, discordance) for q in (1e-14, 1.0 - 1e-14)))
    pairs = np.append(pairs, pairs[-1] + 1.0) if len(pairs) else np.array([float(n)])
    tail = alpha / 2.0 if side == "two-sided" else alpha
    critical = stats.binom.isf(tail, pairs, 0.5)
    favours_a = 0.5 * (1.0 + effect / discordance)
    given = np.zeros(len(pairs))
    if side != "less":
        given += stats.binom.sf(critical, pairs, favours_a)
    if side != "greater":
        given += stats.binom.cdf(pairs - critical - 1.0, pairs, favours_a)
    return float((given * stats.binom.pmf(pairs, n, discordance)).sum())


@pytest.mark.parametrize("n, effect, discordance", [
    (200, 0.1, 0.4), (3_000, -0.02, 0.2), (60_000, 0.01, 0.5), (2_000_000, 0.001, 0.3),
    (500, 0.2, 0.2), (40_000, 0.02, 1.0), (90_000, 0.01, 0.999), (8_000, 0.001, 0.001),
])  # fmt: skip
@pytest.mark.parametrize("alpha, side", [(0.05, "two-sided"), (0.3, "greater"), (0.9, "less"),
                                         (1e-9, "two-sided"), (1e-200, "greater")])  # fmt: skip
def test_power__from_neighbours_is_that_of_each(
    n: int, effect: float, discordance: float, alpha: float, side: str
) -> None:
    """Critical counts of the normal law, corrected, and sums of masses: as looked up."""
    found = ExactMcNemar(effect, discordance, alpha, side).power(n)
    expected = power_by_quantiles(n, effect, discordance, alpha, side)
    assert pytest.approx(expected, rel=1e-11, abs=1e-12) == found


def test_powers__kept_or_new_alike() -> None:
    """Whatever was asked before: fewer, more, the same, far away, several."""
    exact = ExactMcNemar(0.01, 0.3, 0.05, "two-sided")
    for n in (5_000, 5_100, 4_900, 5_000, 50, 300_000, 5_000):
        alone = ExactMcNemar(0.01, 0.3, 0.05, "two-sided").power(n)
        assert pytest.approx(alone, rel=1e-11) == exact.power(n)
    numbers = np.arange(4_000, 4_500)
    each = [ExactMcNemar(0.01, 0.3, 0.05, "two-sided").power(n) for n in numbers[::83]]
    assert pytest.approx(each, rel=1e-11) == exact.powers(numbers)[::83]


def test_power__half_of_the_tails_attain_the_level() -> None:
    """P(more than (m - 1) / 2 of m odd) is 1/2: also where it is 1/2 and a rounding."""
    for m in range(1, 400, 2):
        found = ExactMcNemar(0.2, 1.0, 0.5, "greater").power(m)
        expected = stats.binom.sf((m - 1) // 2, m, 0.6)
        assert pytest.approx(expected, rel=1e-12) == found


def test_size__tiny_effects() -> None:
    """Each as it was found when all powers were computed one by one, in minutes."""
    for effect, discordance, size in ((1e-3, 1e-3, 7_905), (1e-3, 0.5, 3_926_426)):
        options: dict[str, Any] = {"effect": effect, "discordance": discordance}
        assert sample_size(**options).n_items == size
        assert power(n_items=size, **options).power >= 0.8
        assert power(n_items=size - 1, **options).power < 0.8


@pytest.mark.parametrize("effect, discordance, alpha, target, side", [
    # Falls back as late as 12 / effect items after the first that reaches the power.
    (0.04623229529933495, 1.0, 0.9, 0.92687686427743, "two-sided"),
    (0.08652765088813273, 1.0, 0.9, 0.9278867447468666, "two-sided"),
    (0.03263003805066328, 1.0, 0.5, 0.6721909065265059, "two-sided"),
    (0.03998368227978643, 0.8291604822649279, 0.5, 0.619187337581012, "greater"),
    (0.05, 0.97, 0.999, 0.9995, "two-sided"),
    (0.05, 0.99, 0.9, 0.95, "greater"),
    (0.03, 0.96, 0.3, 0.4, "less"),
    (0.03, 0.03, 0.05, 0.8, "two-sided"),
    (1.0, 1.0, 0.05, 0.8, "two-sided"),
    (1.0, 1.0, 0.9, 0.95, "greater"),  # one item
])  # fmt: skip
def test_size__never_falls_back(
    effect: float, discordance: float, alpha: float, target: float, side: str
) -> None:
    """One fewer is not enough, and every larger number is, far beyond the waves: one by one."""
    signed = -effect if side == "less" else effect
    n = sample_size(
        effect=signed, discordance=discordance, alpha=alpha, power=target, alternative=side
    ).n_items
    exact = ExactMcNemar(signed, discordance, alpha, side)
    assert n == 1 or exact.power(n - 1) < target
    for first in range(n, n + int(100.0 / effect), 200):
        assert exact.powers(np.arange(first, first + 200)).min() >= target


def test_size__beyond_all() -> None:
    """Of 2**40 items 110 million are discordant, and an effect of 1e-8 takes 785 million."""
    with pytest.raises(ValueError, match="no sample below 1,099,511,627,776 is large enough"):
        sample_size(effect=1e-8, discordance=1e-4)
