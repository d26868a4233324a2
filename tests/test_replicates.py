"""Every path equals the reference, replicate by replicate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastboot as fb
from fastboot import reference
from fastboot.paths import BOOTSTRAP_PATHS
from fastboot.swap_paths import SWAP_PATHS

SEED = 11
# 31 to 33: the 32 units of a counter; 127 to 129: a counter of swaps; 257: beyond "rows".
SIZES = (1, 2, 3, 4, 5, 31, 32, 33, 63, 100, 127, 128, 129, 257, 1_000)
# Beyond one superblock of 65,536 units, with a short and with a long last one.
LARGE_SIZES = (65_536, 65_537, 140_000)


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(2_024)


def resamples(n: int, path: str, n_resamples: int, values: Any) -> list[list[int]]:
    """Return the reference's resamples."""
    classes = [value.item() for value in values] if path == "collapse" else None
    return [
        reference.bootstrap_rows(n, SEED, r, path, classes)  # type: ignore[arg-type] # checked word
        for r in range(n_resamples)
    ]


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
@pytest.mark.parametrize("n", SIZES)
def test_bootstrap__integers(path: str, n: int, rng: np.random.Generator) -> None:
    """Sums of integers are exact, so every replicate is equal to the last bit."""
    values = rng.integers(-3, 4, n)
    values[0], values[-1] = 5, -5
    result = fb.bootstrap(fb.total(values), rng=SEED, n_resamples=20, path=path)

    expected = [sum(values[rows].tolist()) for rows in resamples(n, path, 20, values)]

    assert result.replicates.tolist() == expected
    assert result.path == (path if n > 1 else "constant")


@pytest.mark.parametrize("path", ["patterns", "weights"])
@pytest.mark.parametrize("n", LARGE_SIZES)
def test_bootstrap__superblocks(path: str, n: int, rng: np.random.Generator) -> None:
    """Units beyond one superblock follow the splitting tree."""
    values = rng.integers(0, 1_000_000, n)
    result = fb.bootstrap(fb.total(values), rng=SEED, n_resamples=2, path=path)

    expected = [values[rows].sum().item() for rows in resamples(n, path, 2, values)]

    assert result.replicates.tolist() == expected


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_bootstrap__many_replicates(path: str, rng: np.random.Generator) -> None:
    """Rare events (failed attempts, groups without a slot, rejected words) agree as well."""
    values = rng.integers(0, 1_000_000, 300)
    result = fb.bootstrap(fb.total(values), rng=SEED, n_resamples=400, path=path)

    expected = [values[rows].sum().item() for rows in resamples(300, path, 400, values)]

    assert result.replicates.tolist() == expected


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_bootstrap__ratio(path: str, rng: np.random.Generator) -> None:
    """A ratio of real numbers agrees within the rounding of its two sums."""
    n = 100
    x, y = rng.normal(size=n), rng.uniform(1.0, 2.0, n)
    result = fb.bootstrap(fb.ratio(x, y), rng=SEED, n_resamples=50, path=path)
    drawn = [reference.bootstrap_rows(n, SEED, r, path, range(n)) for r in range(50)]  # type: ignore[arg-type] # checked word

    expected = [sum(map(Fraction, x[rows])) / sum(map(Fraction, y[rows])) for rows in drawn]

    # The result's own bound on the rounding of a value at the sums of the sample; a resample's sums
    # are as large as the sample's within a factor of 2 here.
    errors = np.abs(result.replicates - np.array(expected, dtype=float))
    assert errors.max() <= 2.0 * result.rounding


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_bootstrap__many_terms(path: str, rng: np.random.Generator) -> None:
    """Twenty terms at once agree."""
    n, n_terms = 70, 20
    values = rng.integers(0, 100, (n_terms, n)).astype(float)

    class Weighted(fb.Additive):
        def terms(self, *columns: Any) -> Any:
            return columns

        def finish(self, *sums: Any) -> Any:
            return sum(101.0**i % 97 * total for i, total in enumerate(sums))

    result = fb.bootstrap(Weighted(*values), rng=SEED, n_resamples=30, path=path)
    drawn = [reference.bootstrap_rows(n, SEED, r, path, range(n)) for r in range(30)]  # type: ignore[arg-type] # checked word

    weights = [101.0**i % 97 for i in range(n_terms)]
    expected = [
        sum(w * v for w, v in zip(weights, values[:, rows].sum(axis=1), strict=True))
        for rows in drawn
    ]
    assert result.replicates.tolist() == expected


@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_paired_bootstrap__groups(path: str, rng: np.random.Generator) -> None:
    """Both systems see the same groups; a group drawn twice gives its rows twice."""
    documents = np.sort(rng.integers(0, 40, 200))
    gold, a, b = rng.integers(0, 2, (3, 200))
    result = fb.paired_bootstrap(
        fb.f_score(gold, a), fb.f_score(gold, b), groups=documents, rng=SEED, n_resamples=25,
        path=path,
    )  # fmt: skip
    units = [
        tuple(
            sum(condition[documents == d].tolist())
            for condition in (2 * (gold & a), gold + a, 2 * (gold & b), gold + b)
        )
        for d in np.unique(documents)
    ]

    def f_score(rows: list[int], predicted: Any) -> float:
        found = 2.0 * sum((gold & predicted)[rows].tolist())
        return float(found / sum((gold + predicted)[rows].tolist()))

    for r, replicate in enumerate(result.replicates):
        drawn = reference.bootstrap_rows(len(units), SEED, r, path, units)  # type: ignore[arg-type] # checked word
        rows = reference.rows_of(drawn, documents.tolist())
        assert replicate == f_score(rows, a) - f_score(rows, b)


@pytest.mark.parametrize("path", SWAP_PATHS)
@pytest.mark.parametrize("n", SIZES)
def test_swaps__integers(path: str, n: int, rng: np.random.Generator) -> None:
    """Swapped sums of integers are equal to the last bit."""
    if path == "enumeration":
        n = min(n, 10)
    a, b = rng.integers(0, 5, n), rng.integers(5, 9, n)
    result = fb.approximate_randomization(
        fb.total(a), fb.total(b), rng=SEED, n_resamples=20, path=path
    )
    differences = (b - a).tolist()

    for r, replicate in enumerate(result.replicates.tolist()):
        flags = reference.swaps(n, SEED, r, path, differences)  # type: ignore[arg-type] # checked word
        swapped_a, swapped_b = reference.swapped(a.tolist(), b.tolist(), flags)
        assert replicate == sum(swapped_a) - sum(swapped_b)


@pytest.mark.parametrize("n", LARGE_SIZES)
def test_swaps__superblocks(n: int, rng: np.random.Generator) -> None:
    """Units beyond one superblock have words of their own."""
    a, b = rng.integers(0, 1_000, n), rng.integers(1_000, 2_000, n)
    result = fb.approximate_randomization(
        fb.total(a), fb.total(b), rng=SEED, n_resamples=2, path="tables"
    )

    for r, replicate in enumerate(result.replicates.tolist()):
        flags = np.array(reference.swaps(n, SEED, r, "tables"))
        assert replicate == (np.where(flags, b, a) - np.where(flags, a, b)).sum()


@pytest.mark.parametrize("path", SWAP_PATHS)
def test_swaps__units_that_do_not_differ(path: str, rng: np.random.Generator) -> None:
    """Only groups in which the systems differ take part, in every term of the statistic."""
    documents = np.repeat(np.arange(14), 3)
    gold, a = rng.integers(0, 2, (2, 42))
    b = np.where(documents % 2, a, 1 - a)
    result = fb.approximate_randomization(
        fb.f_score(gold, a), fb.f_score(gold, b), groups=documents, rng=SEED, n_resamples=30,
        path=path,
    )  # fmt: skip
    found, positive = (gold & b) - (gold & a), b - a
    moves = [
        (int(found[documents == d].sum()), int(positive[documents == d].sum())) for d in range(14)
    ]
    differing = [d for d in range(14) if moves[d] != (0, 0)]
    assert result.n_differing == len(differing)

    def f_score(predicted: Any) -> float:
        return float(2.0 * (gold & predicted).sum() / (gold + predicted).sum())

    for r, replicate in enumerate(result.replicates.tolist()):
        flags = reference.swaps(
            len(differing), SEED, r, path, [moves[d] for d in differing]  # type: ignore[arg-type] # checked word
        )  # fmt: skip
        swapped = np.isin(documents, [d for d, flag in zip(differing, flags, strict=True) if flag])
        assert replicate == f_score(np.where(swapped, b, a)) - f_score(np.where(swapped, a, b))
