"""Complete bootstrap distributions, read through results, and the error of sampled ones."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fastboot.reference import all_bootstraps, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from fastboot import BootstrapResult, PairedBootstrapResult
    from fastboot.results import Result

AnyBootstrap = TypeVar("AnyBootstrap", "BootstrapResult", "PairedBootstrapResult")

# A normal deviate is beyond 6 standard deviations with probability 2e-9: the estimates below are
# sums of thousands of replicates, and their small skewness still leaves less than one in a million.
DEVIATIONS = 6.0


def complete(
    result: AnyBootstrap,
    value: Callable[[list[int]], float],
    groups: Sequence[Hashable] | None = None,
) -> AnyBootstrap:
    """Return the result with all n_units**n_units equally likely resamples as its replicates.

    value : from the rows of a resample, with repetition, to the value
    groups : the group of every row
    """
    labels = range(result.n_rows) if groups is None else groups
    values = [value(rows_of(units, labels)) for units in all_bootstraps(result.n_units)]
    return replace(result, replicates=np.array(values))


def exact_error(result: AnyBootstrap) -> float:
    """Return the standard error without its ddof: that of infinitely many resamples."""
    n = result.n_resamples - result.n_undefined
    return result.standard_error * math.sqrt((n - 1) / n)


def law_of_resamples(
    n: int, value: Callable[[list[int]], float]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Values of all resamples of n rows in rising order, and how many of n**n resamples give each.

    One value for each multiset: 6,435 instead of 16,777,216 for n = 8.
    """
    values, ways = [], []
    for rows in combinations_with_replacement(range(n), n):
        values.append(value(list(rows)))
        repeats = math.prod(math.factorial(count) for count in Counter(rows).values())
        ways.append(math.factorial(n) // repeats)
    order = np.argsort(values, kind="stable")
    return np.array(values)[order], np.array(ways)[order]


def assert_standard_error(
    result: Result,
    expected: float,
    *,
    neglected: float = 0.0,
) -> None:
    """Assert that a sampled standard error is the expected one but for Monte Carlo error.

    The variance of a sample variance is (fourth moment - variance^2) / n.

    neglected : relative size of what the expected variance leaves out, such as 1 / n_units where it
        is that of a linearised statistic
    """
    values = result.replicates[~np.isnan(result.replicates)]
    fourth = np.mean((values - values.mean()) ** 4)
    error = math.sqrt(max(fourth - expected**4, 0.0) / values.size)
    allowed = DEVIATIONS * error + neglected * expected**2
    assert abs(result.standard_error**2 - expected**2) <= allowed
