"""The automatic block length, against arch, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from arch.bootstrap import optimal_block_length
from numpy.typing import NDArray
from scipy.signal import lfilter

from fastboot.block_length import block_length

# Sums of up to 10,000 products, in another order than arch's: n eps = 2e-12 at the worst, and with
# pairwise sums far less; 7e-14 was the largest among 3,000 series.
TOLERANCE = 1e-12


def series(n: int, kept: float) -> NDArray[np.float64]:
    """Each value keeps a share of the one before it."""
    shocks = np.random.default_rng(n).normal(size=n)
    return np.asarray(lfilter([1.0], [1.0, -kept], shocks))


@pytest.mark.parametrize("n", [11, 12, 20, 33, 100, 999, 10_000])
@pytest.mark.parametrize("kept", [-0.9, -0.3, 0.0, 0.3, 0.8, 0.99])
def test_block_length__arch(n: int, kept: float) -> None:
    """The lengths are those of arch, but never below one row."""
    values = series(n, kept)
    stationary, circular = np.maximum(1.0, optimal_block_length(values).iloc[0])

    assert block_length(values) == pytest.approx(stationary, rel=TOLERANCE, abs=0.0)
    assert block_length(values, scheme="circular") == pytest.approx(
        circular, rel=TOLERANCE, abs=0.0
    )
    assert block_length(values, scheme="moving") == block_length(values, scheme="circular")


@pytest.mark.parametrize("n, longest", [(18, 18 / 3), (20, 20 / 3), (82, 3 * math.sqrt(82))])
def test_block_length__longest(n: int, longest: float) -> None:
    """Where the estimated variance of the mean is next to 0, blocks are as long as they may be."""
    values = np.resize([1.0, -1.0, 0.0], n)
    assert block_length(values) == math.ceil(longest)


@pytest.mark.parametrize("factor", [-1.0, 2.0**600, 2.0**-600])
def test_block_length__scale(factor: float) -> None:
    """The unit of the values does not matter, even where their squares leave float64."""
    values = series(200, 0.8)
    assert block_length(factor * values) == block_length(values)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32])
def test_block_length__types(dtype: Any) -> None:
    """Numbers of any type mean the same as float64, and are not written to."""
    values = (series(50, 0.5) > 0.3).astype(dtype)
    values.flags.writeable = False
    assert block_length(values) == block_length(values.astype(float))
    assert block_length(values.tolist()) == block_length(values)


@pytest.mark.parametrize(
    "values, message",
    [
        (np.ones((20, 2)), r"`values` has shape \(20, 2\) and type float64; give one series of"),
        (["a"] * 20, r"`values` has shape \(20,\) and type <U1; give one series of numbers"),
        ([[1], [1, 2]], "`values` has lists of different lengths; give one series of numbers"),
        (np.arange(10.0), "`values` has 10 rows; the automatic block length needs 11"),
        (np.full(20, 2.5), "`values` is 2.5 in all 20 rows; a constant series has no best"),
        (
            [*range(20), math.nan, math.inf],
            r"`values` has 2 values that are not finite \(first at row 20\); a series in time",
        ),
    ],
)
def test_block_length__refused(values: Any, message: str) -> None:
    """What is no series to learn a length from is refused by name."""
    with pytest.raises(ValueError, match=message):
        block_length(values)


def test_block_length__unknown_scheme() -> None:
    """The three schemes are listed."""
    with pytest.raises(ValueError, match=r"`scheme` is 'blocks'; use \"stationary\", \"circular\""):
        block_length(np.arange(20.0), scheme="blocks")  # type: ignore[arg-type]
