"""Blocks in fb.bootstrap: the length that data choose, what is said of it, and arch's errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from arch.bootstrap import CircularBlockBootstrap, StationaryBootstrap
from numpy.typing import NDArray
from scipy.signal import lfilter
from statistical import assert_same_distribution

import fastboot as fb
from fastboot.block_length import block_length

Floats = NDArray[np.float64]

SEED = 41
SCHEMES = ["stationary", "circular", "moving"]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def series(n: int, kept: float = 0.8, seed: int = 3) -> Floats:
    """Each value keeps a share of the one before it."""
    shocks = np.random.default_rng(seed).normal(size=n)
    return np.asarray(lfilter([1.0], [1.0, -kept], shocks))


X, Y = series(300), 5.0 + series(300, 0.5, seed=4)


def chosen(values: Floats, scheme: Any) -> float:
    """Return the length for a series; whole where all blocks have it."""
    length = block_length(values, scheme=scheme)
    return length if scheme == "stationary" else float(math.ceil(length))


def bootstrap(statistic: Any, scheme: str, length: float | None = None, **options: Any) -> Any:
    """Resample blocks."""
    return fb.bootstrap(
        statistic, scheme=scheme, block_length=length, rng=SEED, n_resamples=50, **options
    )


def assert_chosen(statistic: Any, values: Floats, scheme: str, **options: Any) -> None:
    """The statistic is resampled in the blocks that are best for a series."""
    found = bootstrap(statistic, scheme, **options)
    length = chosen(values, scheme)
    expected = bootstrap(statistic, scheme, length, **options)
    assert found.replicates.tolist() == expected.replicates.tolist()
    mean = " on average" if scheme == "stationary" else ""
    said = f"blocks of {length:.4g} rows{mean}"
    assert f"{said}, chosen by the data (Politis and White 2004)" in found.notes
    assert said in expected.notes
    assert length > 2.0
    # It is not just any length.
    other = bootstrap(statistic, scheme, length + 1.0, **options)
    assert found.replicates.tolist() != other.replicates.tolist()


def same_length(values: Floats, change: Floats, scheme: str) -> Floats:
    """Return a series after making sure that another, rounded, has the same length to 12 digits."""
    assert chosen(values, scheme) == pytest.approx(chosen(change, scheme), rel=1e-9)
    return values


@every_scheme
def test_length__mean(scheme: str) -> None:
    """For a mean, the length is that of the series: its changes are (x - mean) / (n - 1)."""
    change = X.mean() - np.array([np.delete(X, i).mean() for i in range(300)])
    assert_chosen(fb.mean(X), same_length(X, change, scheme), scheme)


@every_scheme
def test_length__total(scheme: str) -> None:
    """For a total too."""
    assert_chosen(fb.total(X), X, scheme)


@every_scheme
def test_length__ratio(scheme: str) -> None:
    """For a ratio, it is that of the changes as rows are left out, near x - ratio x y."""
    total_x, total_y = X.sum(), Y.sum()
    ratio = total_x / total_y
    change = ratio - (total_x - X) / (total_y - Y)
    assert_chosen(fb.ratio(X, Y), change, scheme)
    assert chosen(change, scheme) == pytest.approx(chosen(X - ratio * Y, scheme), rel=0.02)


@every_scheme
def test_length__weights(scheme: str) -> None:
    """Weights of rows are part of the changes."""
    weights = np.random.default_rng(SEED).uniform(0.5, 2.0, 300)
    total, whole = (weights * X).sum(), weights.sum()
    change = total / whole - (total - weights * X) / (whole - weights)
    assert_chosen(fb.mean(X), change, scheme, weights=weights)


@every_scheme
def test_length__longest_of_several(scheme: str) -> None:
    """Several statistics have the same resamples, in the longest of their blocks."""
    together: Any = bootstrap([fb.mean(X), fb.ratio(Y, np.ones(300))], scheme)
    longest = max(chosen(X, scheme), chosen(Y, scheme))
    for found, own in zip(together.values(), (X, Y), strict=True):
        alone = bootstrap(fb.mean(own), scheme, longest)
        assert found.replicates == pytest.approx(alone.replicates, rel=1e-12)
        assert any(f"blocks of {longest:.4g} rows" in note for note in found.notes)
    assert chosen(X, scheme) != chosen(Y, scheme)


@every_scheme
def test_length__paired(scheme: str) -> None:
    """For the difference of two systems, it is that of their differences."""
    found: Any = fb.paired_bootstrap(X, Y, scheme=scheme, rng=SEED, n_resamples=50)
    expected: Any = fb.paired_bootstrap(
        X, Y, scheme=scheme, block_length=chosen(X - Y, scheme), rng=SEED, n_resamples=50
    )
    assert found.replicates == pytest.approx(expected.replicates, rel=1e-12)


@every_scheme
@pytest.mark.parametrize("value", [0.0, 0.1])
def test_length__constant(scheme: str, value: float) -> None:
    """A statistic that no row changes is the same in blocks of any length."""
    found = bootstrap(np.full(40, value), scheme)
    assert set(found.replicates.tolist()) == {value}
    together: Any = bootstrap([fb.mean(np.full(300, value)), fb.total(X)], scheme)
    expected = bootstrap(fb.total(X), scheme, chosen(X, scheme))
    assert together["total"].replicates.tolist() == expected.replicates.tolist()


def test_length__missing_values() -> None:
    """A missing value makes the answer undefined, and needs no blocks."""
    found = bootstrap([*X, math.nan], "stationary", nan_policy="propagate")
    assert math.isnan(found.estimate)
    assert found.n_undefined == 50


# What it cannot be chosen from

NO_SERIES = (
    "`block_length` is None: it is chosen from one series, for statistics of sums; give it (see "
    "fastboot.block_length) where strata or slices are resampled apart, or with quantiles, ranks "
    "and functions"
)
CODES = np.resize(["a", "b"], 300)


@pytest.mark.parametrize(
    "statistic, options",
    [
        (fb.mean(X), {"strata": CODES}),
        (fb.mean(X), {"by": CODES}),
        (fb.mean(X), {"by": np.full(300, "a")}),
        (fb.median(X), {}),
        (fb.roc_auc(CODES, X, pos_label="a"), {}),
        (fb.statistic(np.ptp, X), {}),
        ([fb.mean(X), fb.median(X)], {}),
    ],
)
def test_length__no_series(statistic: Any, options: dict[str, Any]) -> None:
    """Where there is no one series, the length must be given: said before any resampling."""
    told: list[int] = []
    with pytest.raises(ValueError, match=r"^`block_length` is None") as caught:
        bootstrap(statistic, "circular", progress=lambda done, _: told.append(done), **options)
    assert str(caught.value) == NO_SERIES
    assert told == []
    bootstrap(statistic, "circular", 4, **options)


@pytest.mark.parametrize(
    "statistic, reason",
    [
        (fb.mean(X[:8]), "There `values` has 8 rows; the automatic block length needs 11."),
        (
            fb.ratio(X, (np.arange(300) == 7).astype(float)),
            "There `values` has 1 value that is not finite (first at row 7);",
        ),
    ],
)
def test_length__not_possible(statistic: Any, reason: str) -> None:
    """What stands in the way is said, and that the length can be given."""
    with pytest.raises(ValueError, match=r"^`block_length` is None") as caught:
        bootstrap(statistic, "stationary")
    assert str(caught.value).startswith(
        "`block_length` is None but cannot be chosen from how much each row changes the statistic; "
        f"give it. {reason}"
    )


# Against arch


@pytest.mark.parametrize("scheme", ["stationary", "circular"])
@pytest.mark.parametrize("n", [60, 400])
def test_blocks__arch(scheme: str, n: int) -> None:
    """The mean has the distribution that arch gives it with the same length, and its error.

    20,000 values a side; a distance of 0.07 between the distribution functions fails it. False
    failures: one in a million. Of the two variances, each errs by sqrt((k - 1) / 20,000) of itself
    with a kurtosis k of at most 4; they differ by 6 of their errors once in 5e8.
    """
    values = series(n)
    length = chosen(values, scheme)
    found = fb.bootstrap(values, scheme=scheme, rng=SEED, n_resamples=20_000)
    kind: Any = StationaryBootstrap if scheme == "stationary" else CircularBlockBootstrap
    size: Any = length if scheme == "stationary" else int(length)
    theirs = kind(size, values, seed=np.random.default_rng(SEED)).apply(np.mean, 20_000)[:, 0]
    assert_same_distribution(found.replicates, theirs, detects=0.07)
    ratio = found.standard_error**2 / theirs.var(ddof=1)
    assert abs(ratio - 1.0) < 6.0 * math.sqrt(2 * 3.0 / 20_000)
    # Of independent rows the error is about half.
    assert found.standard_error > 1.5 * fb.bootstrap(values, rng=SEED).standard_error
