"""Kernels that draw places and write weights, and those that sum by weights: word by word."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastboot as fb
from fastboot import reference
from fastboot.compiler import kernel
from fastboot.kernels.multinomial import fill_pattern_weights
from fastboot.kernels.pattern_law import pattern_law, poisson_rate
from fastboot.kernels.philox import SUPERBLOCK
from fastboot.kernels.places import BUFFER, draw_places
from fastboot.kernels.products import add_pattern_products
from fastboot.kernels.segments import add_segment_sums, fill_segment_weights
from fastboot.kernels.superblocks import fill_shares
from fastboot.kernels.weighing import add_tallies, add_weighted_sums, spread
from fastboot.reference.draws import places as places_of

Floats = NDArray[np.float64]

SEED = 43
NO_ENTRIES = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


def frozen(array: Any) -> Any:
    """Return a read-only array: kernels compile once for it."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def keys(n_parts: int) -> NDArray[np.uint32]:
    """Return a key for each of several parts."""
    seeds = (np.random.SeedSequence(SEED, spawn_key=(part,)) for part in range(n_parts))
    return np.stack([seed.generate_state(2) for seed in seeds])


def counts_of(units: list[int], n: int) -> list[float]:
    """How often each unit was drawn."""
    counts: list[float] = np.bincount(units, minlength=n).astype(float).tolist()
    return counts


def rows_of(part: int, size: int, replicate: int, draws: int) -> list[int]:
    """Draw places from the words of a part."""
    seed = np.random.SeedSequence(SEED, spawn_key=(part,))
    return reference.bootstrap_rows(size, seed, replicate, "rows", n_drawn=draws)


# Places: a word that is not used makes room for the next


@kernel
def _draw_all(n_units: Any, replicate: Any, key_0: Any, key_1: Any, out: Any) -> None:
    words = np.empty((BUFFER // 4, 4), np.uint32)
    places = np.empty(BUFFER, np.int64)
    done = 0
    position = 0
    while done < out.size:
        wanted = out.size - done
        drawn = draw_places(position, wanted, n_units, 0, replicate, key_0, key_1, words, places)
        out[done : done + drawn] = places[:drawn]
        position += min(BUFFER, wanted + 3) // 4
        done += drawn


@pytest.mark.parametrize("n_units", [1, 3, 1_000, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32])
@pytest.mark.parametrize("wanted", [1, 2, 3, 4, 5, 255, 256, 257, 260, 700])
def test_draw_places__stream(n_units: int, wanted: int) -> None:
    """The places are those of the words in their order, where up to half of them are not used.

    Of 3 x 2^30 units a quarter of the words is not used, of 2^31 + 1 nearly half.
    """
    key = reference.key(SEED)
    for replicate in range(20):
        found = np.empty(wanted, np.int64)
        _draw_all(n_units, replicate, *map(np.uint32, key), found)
        stream = places_of(n_units, (0, replicate, reference.PLACES), key)
        assert found.tolist() == list(islice(stream, wanted))


@pytest.mark.parametrize("path", ["patterns", "weights"])
def test_places__short_last_batch(path: str) -> None:
    """In replicates 3,864 and 4,671 a word of the last batch is not used, and the next one is.

    Of 60,000 units one word in 90,808 is not used: once in some 160 resamples, which have about 560
    missing draws. The values are whole, so the sums are exact.
    """
    n = 60_000
    values = np.random.default_rng(SEED).integers(0, 1_000, n).astype(float)
    chosen = (3_864, 4_671)
    found = fb.bootstrap(fb.mean(values), rng=0, n_resamples=max(chosen) + 1, path=path)
    for replicate in chosen:
        rows = reference.bootstrap_rows(n, 0, replicate, path)  # type: ignore[arg-type] # one of two
        assert len(rows) == n
        assert found.replicates[replicate] == values[rows].sum() / n


# Segments: whole resamples of parts

# One unit, few, a batch of places, and more; m out of n; a part without draws.
PARTS = [(1, 1), (3, 3), (256, 256), (257, 257), (700, 1_100), (40, 5), (6, 0)]


def layout(cells: list[int]) -> NDArray[np.int64]:
    """Return first unit, units, draws and cell of each part."""
    sizes = [size for size, _ in PARTS]
    starts = np.cumsum([0, *sizes[:-1]])
    return np.column_stack([starts, sizes, [draws for _, draws in PARTS], cells])


@pytest.mark.parametrize("first, n_replicates", [(0, 5), (17, 3), (0, 0)])
def test_segments__weights(first: int, n_replicates: int) -> None:
    """The weights are those of the reference's rows; units outside the parts keep theirs."""
    parts = layout([0] * len(PARTS))
    n = int(parts[:, 1].sum())
    weights = np.full((n_replicates, n + 2), -1.0)
    fill_segment_weights(frozen(parts), frozen(keys(len(PARTS))), first, weights)
    for r in range(n_replicates):
        for part, (start, size, draws, _) in enumerate(parts.tolist()):
            expected = counts_of(rows_of(part, size, first + r, draws), size)
            assert weights[r, start : start + size].tolist() == expected
    assert (weights[:, n:] == -1.0).all()


@pytest.mark.parametrize("n_terms", [0, 1, 3])
@pytest.mark.parametrize("tallied", [False, True])
@pytest.mark.parametrize("n_replicates", [0, 4])
def test_segments__sums(n_terms: int, tallied: bool, n_replicates: int) -> None:
    """Sums are those of the weights, by cell, added to what was there."""
    if not n_terms and not tallied:
        return
    rng = np.random.default_rng(SEED)
    parts = layout([0, 0, 1, 1, 1, 2, 2])
    n = int(parts[:, 1].sum())
    terms = rng.integers(-9, 10, (n_terms, n)).astype(float)
    n_tallied = 4 if tallied else 0
    entries = NO_ENTRIES
    dense = np.zeros((n_tallied, n))
    if tallied:
        offsets = np.concatenate([[0], rng.integers(0, 4, n).cumsum()])
        places = rng.integers(0, n_tallied, offsets[-1])
        values = rng.integers(-9, 10, offsets[-1]).astype(float)
        np.add.at(dense, (places, np.repeat(np.arange(n), np.diff(offsets))), values)
        entries = offsets, places, values
    sums = np.ones((n_terms + n_tallied, 3, n_replicates))
    add_segment_sums(
        frozen(terms), tuple(map(frozen, entries)), frozen(parts), frozen(keys(len(PARTS))), 2, sums
    )
    weights = np.zeros((n_replicates, n))
    fill_segment_weights(frozen(parts), frozen(keys(len(PARTS))), 2, weights)
    cell_of_unit = np.repeat(parts[:, 3], parts[:, 1])
    for cell in range(3):
        inside = weights * (cell_of_unit == cell)
        expected = 1.0 + np.concatenate([terms, dense]) @ inside.T
        assert sums[:, cell].tolist() == expected.tolist()


def test_segments__words_not_used() -> None:
    """A part so large that words are often not used, with short resamples of one batch.

    Of 2^32 // 1023 + 1 units one word in 1,024 is not used; with 4 draws from 4 words that leaves a
    resample short 1 - (1 - 2^-10)^4 of the time, once in 256.
    """
    size = 2**32 // 1_023 + 1
    assert 2**32 % size > 2**21
    values = frozen(np.arange(float(size))[None])
    parts = frozen(np.array([[0, size, 4, 0]]))
    n_replicates = 3_000
    sums = np.zeros((1, 1, n_replicates))
    add_segment_sums(values, tuple(map(frozen, NO_ENTRIES)), parts, frozen(keys(1)), 0, sums)
    short = 0
    seed = np.random.SeedSequence(SEED, spawn_key=(0,))
    key = reference.key(seed)
    for r in range(n_replicates):
        assert sums[0, 0, r] == sum(rows_of(0, size, r, 4))
        words = reference.philox((0, 0, r, reference.PLACES), key)
        short += any(word * size & 0xFFFFFFFF < 2**32 % size for word in words)
    assert short > 0


def test_segments__places_of_many() -> None:
    """The path "rows" draws places of any number of units; some words are not used."""
    n = 60_000
    values = np.random.default_rng(SEED).integers(0, 1_000, n).astype(float)
    found = fb.bootstrap(fb.mean(values), rng=0, n_resamples=8, path="rows")
    key = reference.key(0)
    unused = 0
    for r in range(8):
        rows = reference.bootstrap_rows(n, 0, r, "rows")
        assert found.replicates[r] == values[rows].sum() / n
        words = (reference.philox((i, 0, r, reference.PLACES), key) for i in range(n // 4))
        unused += sum(word * n & 0xFFFFFFFF < 2**32 % n for four in words for word in four)
    assert unused > 0


# Patterns


@pytest.mark.parametrize("n", [1, 2, 31, 33, 300, SUPERBLOCK, SUPERBLOCK + 40])
@pytest.mark.parametrize("n_replicates", [0, 3])
def test_patterns__weights_and_products(n: int, n_replicates: int) -> None:
    """Weights of every superblock are the reference's; so are sums of terms and of tallies."""
    key = tuple(map(np.uint32, reference.key(SEED)))
    law = tuple(pattern_law(poisson_rate(n, SUPERBLOCK)))
    rng = np.random.default_rng(SEED)
    terms = rng.integers(-9, 10, (2, n)).astype(float)
    offsets = np.concatenate([[0], rng.integers(0, 3, n).cumsum()])
    places = rng.integers(0, 3, offsets[-1])
    values = rng.integers(-9, 10, offsets[-1]).astype(float)
    dense = np.zeros((3, n))
    np.add.at(dense, (places, np.repeat(np.arange(n), np.diff(offsets))), values)
    entries = tuple(map(frozen, (offsets, places, values)))
    weights = np.full((n_replicates, n + 3), -1.0)
    sums = np.ones((5, n_replicates))
    for superblock, start in enumerate(range(0, n, SUPERBLOCK)):
        size = min(SUPERBLOCK, n - start)
        shares = np.full(n_replicates, n)
        if n > SUPERBLOCK:
            fill_shares(superblock, n, 7, *key, shares)
        where = start, size, superblock, shares, 7, law, *key
        fill_pattern_weights(*where, weights)
        add_pattern_products(frozen(terms), entries, *where, sums)
    for r in range(n_replicates):
        expected = counts_of(reference.bootstrap_rows(n, SEED, 7 + r, "weights"), n)
        assert weights[r, :n].tolist() == expected
    assert (weights[:, n:] == -1.0).all()
    expected_sums = 1.0 + np.concatenate([terms, dense]) @ weights[:, :n].T
    assert sums.tolist() == expected_sums.tolist()


# From weights to sums

CELLS = np.array([0, 1, 40, 41, 100])
N_UNITS = 100


def some_weights(n_replicates: int) -> Floats:
    """Whole weights, many of them 0."""
    return np.random.default_rng(SEED).integers(0, 3, (n_replicates, N_UNITS)).astype(float)


@pytest.mark.parametrize("n_replicates", [0, 1, 5])
@pytest.mark.parametrize("cells", [CELLS, CELLS[[0, -1]]])
def test_add_weighted_sums(n_replicates: int, cells: NDArray[np.int64]) -> None:
    """Products with every term, cell by cell, added to the first sums; the others stay."""
    terms = np.random.default_rng(1).integers(-9, 10, (3, N_UNITS)).astype(float)
    weights = some_weights(n_replicates)
    sums = np.ones((5, cells.size - 1, n_replicates))
    add_weighted_sums(frozen(weights), frozen(terms), frozen(cells), sums)
    for c, (start, stop) in enumerate(pairwise(cells)):
        expected = 1.0 + terms[:, start:stop] @ weights[:, start:stop].T
        assert sums[:3, c].tolist() == expected.tolist()
    assert (sums[3:] == 1.0).all()


@pytest.mark.parametrize("n_replicates", [0, 1, 5])
@pytest.mark.parametrize("cells", [CELLS, CELLS[[0, -1]]])
@pytest.mark.parametrize("first", [0, 2])
def test_add_tallies(n_replicates: int, cells: NDArray[np.int64], first: int) -> None:
    """A unit may have no entry, or several for one term; the sums before `first` stay."""
    rng = np.random.default_rng(2)
    offsets = np.concatenate([[0], rng.integers(0, 4, N_UNITS).cumsum()])
    places = rng.integers(0, 3, offsets[-1])
    values = rng.integers(-9, 10, offsets[-1]).astype(float)
    dense = np.zeros((3, N_UNITS))
    np.add.at(dense, (places, np.repeat(np.arange(N_UNITS), np.diff(offsets))), values)
    weights = some_weights(n_replicates)
    sums = np.ones((first + 3, cells.size - 1, n_replicates))
    add_tallies(
        frozen(weights), frozen(offsets), frozen(places), frozen(values), first, frozen(cells), sums
    )
    for c, (start, stop) in enumerate(pairwise(cells)):
        expected = 1.0 + dense[:, start:stop] @ weights[:, start:stop].T
        assert sums[first:, c].tolist() == expected.tolist()
    assert (sums[:first] == 1.0).all()


@pytest.mark.parametrize("n_replicates", [0, 1, 5])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_spread(n_replicates: int, grouped: bool, weighted: bool) -> None:
    """A row has the weight of its unit, times its own factor; units may have any rows, or none."""
    rng = np.random.default_rng(3)
    units = rng.integers(0, N_UNITS, 170) if grouped else np.empty(0, np.int64)
    n_rows = 170 if grouped else N_UNITS
    factors = rng.random(n_rows) if weighted else np.empty(0)
    weights = some_weights(n_replicates)
    rows = np.full((n_replicates, n_rows), -1.0)
    spread(frozen(weights), frozen(units), frozen(factors), rows)
    expected = weights[:, units] if grouped else weights
    expected = expected * factors if weighted else expected
    assert rows.tolist() == expected.tolist()
