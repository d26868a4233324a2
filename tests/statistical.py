"""Statistical assertions that state their odds.

Every assertion bounds both errors before it looks at the data. On right data it fails with
probability at most `false_failure`, by exact binomial tails or a proven inequality, never by an
asymptotic law. On data wrong by `detects` or more it passes with probability at most FALSE_PASS.
A sample too small for that is refused. Seeds are fixed, so red means changed, not unlucky.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

# One assertion in a million: a suite of a thousand of them fails by chance once in a thousand
# rewrites of the stream of random words.
FALSE_FAILURE = 1e-6

# A defect of the stated size slips through once in a thousand; most defects are larger, and seen
# by more than one test.
FALSE_PASS = 1e-3


def assert_rate(
    count: int,
    n: int,
    probability: float,
    *,
    detects: float,
    false_failure: float = FALSE_FAILURE,
) -> None:
    """Assert that `count` successes in `n` independent trials have the given probability.

    detects : the deviation of the probability that must be seen, on either side

    Raises
    ------
    ValueError
        `n` is too small to see `detects`.
    AssertionError
        `count` lies beyond an exact binomial tail of false_failure / 2.

    >>> assert_rate(503, 1_000, 0.5, detects=0.15)
    """
    _assert_counts([count], n, [probability], detects, false_failure)


def assert_same_law(
    observed_counts: Sequence[int],
    expected_probabilities: Sequence[float],
    *,
    detects: float,
    false_failure: float = FALSE_FAILURE,
) -> None:
    """Assert that counts of independent draws follow the given law, cell by cell.

    The tails are exact and shared evenly among the cells (Bonferroni), so cells may be as rare as
    they like; one of probability 0 must be empty.

    detects : the deviation of the probability of one cell that must be seen

    Raises
    ------
    ValueError
        The two lengths differ, the probabilities do not add up to 1, or there are too few draws to
        see `detects`.
    AssertionError
        A cell lies beyond an exact binomial tail.

    >>> assert_same_law([254, 497, 249], [0.25, 0.5, 0.25], detects=0.15)
    """
    cells = len(expected_probabilities)
    if len(observed_counts) != cells:
        raise ValueError(
            f"`observed_counts` has {len(observed_counts)} cells, "
            f"`expected_probabilities` has {cells}."
        )
    # Float error of a sum of rounded probabilities; a forgotten cell of less is never drawn.
    if abs(math.fsum(expected_probabilities) - 1) > 1e-9:
        total = math.fsum(expected_probabilities)
        raise ValueError(f"`expected_probabilities` add up to {total}, not to 1.")
    n = sum(observed_counts)
    _assert_counts(observed_counts, n, expected_probabilities, detects, false_failure / cells)


def assert_same_distribution(
    x: ArrayLike,
    y: ArrayLike,
    *,
    detects: float,
    false_failure: float = FALSE_FAILURE,
) -> None:
    """Assert that two samples of independent values come from one distribution.

    Kolmogorov-Smirnov with the bounds of Dvoretzky, Kiefer, Wolfowitz and Massart (1990), which
    hold for any sample size and with ties, once per sample.

    detects : the largest difference of the two distribution functions that must be seen

    Raises
    ------
    ValueError
        A sample is too small to see `detects`.
    AssertionError
        The empirical distribution functions are too far apart.

    >>> ramp = np.arange(4_000) / 4_000
    >>> assert_same_distribution(ramp, ramp[::2], detects=0.2)
    """
    x, y = np.sort(np.asarray(x, dtype=float)), np.sort(np.asarray(y, dtype=float))

    def reach(probability: float) -> float:
        """How far apart chance takes the empirical from the true functions, both together."""
        return sum(math.sqrt(math.log(4 / probability) / 2 / sample.size) for sample in (x, y))

    if detects < reach(false_failure) + reach(FALSE_PASS):
        raise ValueError(
            f"`x` and `y` have {x.size:,} and {y.size:,} values: they show differences from "
            f"{reach(false_failure) + reach(FALSE_PASS):.3g} on, not {detects}; "
            f"draw more, or raise `detects`."
        )
    values = np.concatenate([x, y])
    apart = np.abs(
        np.searchsorted(x, values, side="right") / x.size
        - np.searchsorted(y, values, side="right") / y.size
    )
    worst = apart.argmax()
    assert apart[worst] <= reach(false_failure), (
        f"distribution functions are {apart[worst]:.3g} apart at {values[worst]:.6g}; "
        f"at most {reach(false_failure):.3g} by chance"
    )


def _assert_counts(
    counts: ArrayLike, n: int, probabilities: ArrayLike, detects: float, false_failure: float
) -> None:
    """Every count is binomial, each with its own probability and this rate of false failures."""
    counts, law = np.asarray(counts), np.asarray(probabilities, dtype=float)
    low, high = binom.ppf(false_failure / 2, n, law), binom.isf(false_failure / 2, n, law)

    wrong = np.stack([law - detects, law + detects])
    possible = (wrong >= 0) & (wrong <= 1)
    if not possible.any(axis=0).all():
        cell = possible.any(axis=0).argmin()
        raise ValueError(
            f"`detects` is {detects}: no probability is that far from {law[cell]:.6g}."
        )
    wrong = np.where(possible, wrong, law)
    passes = np.where(possible, binom.cdf(high, n, wrong) - binom.cdf(low - 1, n, wrong), 0).max()
    if passes > FALSE_PASS:
        raise ValueError(
            f"`n` is {n:,}: data wrong by {detects} would pass with probability {passes:.2g}; "
            f"draw more, or raise `detects`."
        )

    inside = (low <= counts) & (counts <= high)
    cell = inside.argmin()
    assert inside[cell], (
        f"{counts[cell]:,} of {n:,} is no rate of {law[cell]:.6g}: "
        f"expected {low[cell]:,.0f} to {high[cell]:,.0f}"
    )
