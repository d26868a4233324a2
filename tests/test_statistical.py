"""The statistical assertions pass right data, fail data wrong by `detects`, refuse the rest."""

from __future__ import annotations

import numpy as np
import pytest
from statistical import assert_rate, assert_same_distribution, assert_same_law

LAW = [0.1, 0.2, 0.3, 0.4]


@pytest.fixture
def random() -> np.random.Generator:
    """Seeded: every test of this file sees the same numbers every time."""
    return np.random.default_rng(20_240_229)


@pytest.mark.parametrize("probability", [0.0, 1e-6, 0.03, 0.5, 1.0])
def test_assert_rate__right_data(random: np.random.Generator, probability: float) -> None:
    """Right data passes, for sure events too."""
    for _ in range(100):
        count = random.binomial(10_000, probability)
        assert_rate(count, 10_000, probability, detects=0.05)


@pytest.mark.parametrize(
    "probability,wrong", [(0.0, 0.05), (0.03, 0.08), (0.5, 0.45), (0.5, 0.55), (1.0, 0.95)]
)
def test_assert_rate__wrong_by_detects(
    random: np.random.Generator, probability: float, wrong: float
) -> None:
    """Data wrong by `detects` fails, on both sides."""
    for _ in range(100):
        with pytest.raises(AssertionError, match="of 10,000 is no rate of"):
            assert_rate(random.binomial(10_000, wrong), 10_000, probability, detects=0.05)


def test_assert_rate__exact_tails() -> None:
    """The first count that fails is the first whose tail is at most half of `false_failure`."""
    # Tails of 20 fair coins in units of 2**-20: 0 heads 1, 1 head 21, 2 heads 211.
    assert_rate(1, 20, 0.5, detects=0.5, false_failure=2 * 20 / 2**20)
    with pytest.raises(AssertionError, match=r"1 of 20 is no rate of 0\.5: expected 2 to 18"):
        assert_rate(1, 20, 0.5, detects=0.5, false_failure=2 * 22 / 2**20)


def test_assert_rate__too_few() -> None:
    """A sample that cannot show `detects` is refused, whatever the count."""
    with pytest.raises(ValueError, match=r"`n` is 100: data wrong by 0\.05 would pass with prob"):
        assert_rate(50, 100, 0.5, detects=0.05)


def test_assert_rate__no_such_deviation() -> None:
    """A deviation that leaves [0, 1] on both sides is refused."""
    with pytest.raises(ValueError, match=r"no probability is that far from 0\.5"):
        assert_rate(50, 100, 0.5, detects=0.6)


def test_assert_same_law__right_data(random: np.random.Generator) -> None:
    """Right data passes."""
    for _ in range(100):
        assert_same_law(random.multinomial(5_000, LAW).tolist(), LAW, detects=0.07)


def test_assert_same_law__wrong_by_detects(random: np.random.Generator) -> None:
    """Data with two cells wrong by `detects` fails."""
    for _ in range(100):
        with pytest.raises(AssertionError, match="of 5,000 is no rate of"):
            assert_same_law(
                random.multinomial(5_000, [0.17, 0.13, 0.3, 0.4]).tolist(), LAW, detects=0.07
            )


def test_assert_same_law__false_failures(random: np.random.Generator) -> None:
    """Right data fails no more often than `false_failure` says."""
    failures = 0
    for counts in random.multinomial(2_000, LAW, size=1_000).tolist():
        try:
            assert_same_law(counts, LAW, detects=0.1, false_failure=0.05)
        except AssertionError:
            failures += 1
    # Binomial(1000, 0.05) exceeds 90 with probability 5e-8.
    assert 0 < failures <= 90


def test_assert_same_law__impossible_cell() -> None:
    """One draw in a cell of probability 0 fails."""
    with pytest.raises(AssertionError, match="1 of 1,000 is no rate of 0"):
        assert_same_law([1, 499, 500], [0, 0.5, 0.5], detects=0.15)


def test_assert_same_law__too_few() -> None:
    """A sample that cannot show `detects` is refused."""
    with pytest.raises(ValueError, match="draw more, or raise `detects`"):
        assert_same_law([10, 20, 30, 40], LAW, detects=0.05)


def test_assert_same_law__lengths() -> None:
    """Every cell needs a probability."""
    with pytest.raises(ValueError, match="has 2 cells, `expected_probabilities` has 4"):
        assert_same_law([50, 50], LAW, detects=0.5)


def test_assert_same_law__not_a_law() -> None:
    """Probabilities that forget a cell are refused."""
    with pytest.raises(ValueError, match=r"`expected_probabilities` add up to 0\.\d+, not to 1"):
        assert_same_law([10, 20, 30], LAW[:3], detects=0.5)


@pytest.mark.parametrize("values", [1_000, 3])
def test_assert_same_distribution__right_data(random: np.random.Generator, values: int) -> None:
    """Right data passes, with many ties too and for unequal sizes."""
    for _ in range(20):
        x, y = random.integers(values, size=3_000), random.integers(values, size=9_000)
        assert_same_distribution(x, y, detects=0.15)


def test_assert_same_distribution__wrong_by_detects(random: np.random.Generator) -> None:
    """Data whose distribution functions are `detects` apart at one place fails."""
    for _ in range(20):
        x, y = random.random(5_000) < 0.5, random.random(5_000) < 0.65
        with pytest.raises(AssertionError, match=r"are 0\.\d+ apart at 0; at most"):
            assert_same_distribution(x, y, detects=0.15)


def test_assert_same_distribution__too_few() -> None:
    """Samples that cannot show `detects` are refused."""
    with pytest.raises(ValueError, match="`x` and `y` have 100 and 4,000 values: they show diff"):
        assert_same_distribution(np.zeros(100), np.zeros(4_000), detects=0.15)
