"""Sums over rows: the same bits however the rows are cut, and the bits of one block as ever."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fastboot as fb
from fastboot import blocks, reference
from fastboot.blocks import (
    BLOCK,
    GROUP_BLOCK,
    TreeSum,
    blocks_of,
    joined,
    sums_by_code,
    total_of,
)
from fastboot.jackknife import block_powers, influence, influence_of_powers
from fastboot.kernels.philox import SUPERBLOCK
from fastboot.residuals import Means, centre_of
from fastboot.statistics.bound import bound
from fastboot.statistics.estimand import Question, estimand
from fastboot.studentized import block_moments, errors_of_moments, linear_errors
from fastboot.sums import Addition, bootstrap_additions, swap_additions
from fastboot.totals import totals_of
from fastboot.units import Tally, Units, collapse, from_rows, one_part
from fastboot.weights import key_of

# Two whole blocks and a bit, of which a running sum and a tree differ in the last bits.
N_ROWS = 200_000
SEED = 3


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(65_536)


def test_block__is_a_superblock() -> None:
    """A block's resample is one kernel call."""
    assert BLOCK == SUPERBLOCK


@st.composite
def cuts(draw: st.DrawFn) -> tuple[int, list[int]]:
    """Return a number of blocks, and where they are cut into pieces."""
    n = draw(st.integers(1, 70))
    inner = draw(st.sets(st.integers(1, max(1, n - 1)), max_size=n))
    return n, [0, *sorted(inner - {n}), n]


def tree_of(leaves: Any, start: int, stop: int) -> TreeSum:
    """Return the sum of some blocks, of arrays that it may write to."""
    tree = TreeSum()
    for block in range(start, stop):
        tree.add(block, leaves[block].copy())
    return tree


def by_hand(leaves: Any, start: int, stop: int) -> Any:
    """Return the sum of a complete subtree, from its definition."""
    if stop - start == 1:
        return leaves[start]
    middle = (start + stop) // 2
    return by_hand(leaves, start, middle) + by_hand(leaves, middle, stop)


@given(cuts(), st.integers(0, 99))
@example((64, [0, 31, 64]), 0)
@settings(deadline=None)
def test_tree_sum__any_pieces(cut: tuple[int, list[int]], seed: int) -> None:
    """Pieces summed alone, sent elsewhere and joined have the bits of one pass."""
    n, edges = cut
    leaves = np.random.default_rng(seed).lognormal(sigma=5.0, size=(n, 3))
    whole = tree_of(leaves, 0, n)
    pieces = TreeSum()
    for start, stop in pairwise(edges):
        sent = pickle.dumps(tree_of(leaves, start, stop).nodes)
        pieces.join(pickle.loads(sent))  # noqa: S301 # pickled in the line above

    assert [node[:2] for node in pieces.nodes] == [node[:2] for node in whole.nodes]
    assert pieces.total().tolist() == whole.total().tolist()
    assert len(whole.nodes) == n.bit_count()
    for level, index, sums in whole.nodes:
        expected = by_hand(leaves, index << level, (index + 1) << level)
        assert sums.tolist() == expected.tolist()
    numbers = [joined(column) for column in leaves.T.tolist()]
    assert numbers == whole.total().tolist()


def test_tree_sum__folds_the_smallest_first() -> None:
    """Seven blocks are four, two and one: the one is added to the two, then they to the four."""
    leaves = [1.0, 0.0, 0.0, 0.0, 2.0**-53, 0.0, 2.0**-53]
    assert joined(leaves) == 1.0 + 2.0**-52
    assert sum(leaves) == 1.0


def test_tree_sum__gap() -> None:
    """A missing block is a mistake."""
    tree = TreeSum()
    tree.add(3, 1.0)
    with pytest.raises(ValueError, match="one after another"):
        tree.add(5, 1.0)


def test_tree_sum__read_only() -> None:
    """Arrays that other processes send may be read-only: they are left as they are."""
    sent = [np.array([1.0]), np.array([2.0])]
    for array in sent:
        array.flags.writeable = False
    assert joined(sent).tolist() == [3.0]
    assert sent[0].tolist() == [1.0]


@pytest.mark.parametrize("n", [0, 1, 1_000, BLOCK])
def test_total_of__one_block(n: int, rng: np.random.Generator) -> None:
    """One block is NumPy's own sum."""
    values = rng.lognormal(size=(3, n))
    assert total_of(values).tolist() == values.sum(axis=-1).tolist()
    assert total_of(values[0]) == values[0].sum()


@pytest.mark.parametrize("n", [BLOCK + 1, 4 * BLOCK, 1_000_003])
def test_total_of__blocks(n: int, rng: np.random.Generator) -> None:
    """Rows of a matrix, and blocks that are copied out of it, have the same bits."""
    values = rng.lognormal(size=(2, n))
    total = total_of(values)
    for row, found in zip(values, total.tolist(), strict=True):
        # NumPy sums by pairs: log2(n) + 16 roundings of positive numbers (Higham 2002, 4.2).
        assert found == pytest.approx(math.fsum(row), rel=40 * 2.0**-53, abs=0.0)
        pieces = [row[first:last].copy() for first, last in blocks_of(0, n)]
        assert found == total_of(row) == joined(piece.sum() for piece in pieces)
    assert len(pieces) == -(-n // BLOCK)


def test_sums_by_code(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are summed inside group blocks, which are added in order."""
    n = 1_000
    codes, values = rng.integers(0, 7, n), rng.lognormal(size=n)
    usual = np.bincount(codes, values, 8)
    assert sums_by_code(codes, values, 8).tolist() == usual.tolist()
    monkeypatch.setattr(blocks, "GROUP_BLOCK", 300)
    parts = [np.bincount(codes[i : i + 300], values[i : i + 300], 8) for i in range(0, n, 300)]
    expected = ((parts[0] + parts[1]) + parts[2]) + parts[3]
    found = sums_by_code(codes, values, 8)
    assert found.tolist() == expected.tolist()
    assert found.tolist() != usual.tolist()
    wide = sums_by_code(codes.reshape(-1, 2), values.reshape(-1, 2), 8)
    parts = [np.bincount(codes[i : i + 600], values[i : i + 600], 8) for i in range(0, n, 600)]
    assert wide.tolist() == (parts[0] + parts[1]).tolist()
    assert GROUP_BLOCK == 64 * BLOCK


def test_totals__of_rows_and_units(rng: np.random.Generator) -> None:
    """What is observed, and what replicates are compared with, are the same sums."""
    x = rng.lognormal(size=N_ROWS)
    tally = Tally(rng.integers(-1, 5, N_ROWS), 5, rng.lognormal(size=N_ROWS))
    observed = totals_of([x, 2.0, tally], N_ROWS, None)
    units = from_rows([x, 2.0, tally], one_part(N_ROWS)).totals()
    for one, other in zip(observed, units, strict=True):
        assert one.tolist() == other.tolist()
    by_blocks = [
        np.bincount(tally.codes[first:last] + 1, np.asarray(tally.values)[first:last], 6)[1:]
        for first, last in blocks_of(0, N_ROWS)
    ]
    assert len(by_blocks) == 4
    expected = (by_blocks[0] + by_blocks[1]) + (by_blocks[2] + by_blocks[3])
    assert observed[2][:, 0].tolist() == expected.tolist()
    assert observed[0].tolist() == [total_of(x)]


def alone(units: Units, first: int, last: int) -> Units:
    """Return a block of dense units as a process has it that has no other."""
    varying = np.ascontiguousarray(units.varying[:, first:last])
    return Units(varying, None, units.places, units.n_sums, None, one_part(last - first))


def ratio_units(rng: np.random.Generator, n: int = N_ROWS) -> tuple[Any, Units]:
    """Return a ratio and its units."""
    x, y = rng.normal(size=n), rng.uniform(1.0, 2.0, n)
    ratio = bound(fb.ratio("x", "y"), [x, y], [[x, y]], n, may_be_nan=False)
    target = estimand([Question(ratio)], n)
    return target, from_rows(target.terms, one_part(n))


def test_influence__blocks_alone(rng: np.random.Generator) -> None:
    """The acceleration from blocks that are worked on one at a time."""
    target, units = ratio_units(rng)
    totals = units.totals()
    pieces = [alone(units, *block) for block in blocks_of(0, N_ROWS)]
    powers = joined(block_powers(target, totals, one, 0, one.n_units) for one in pieces)
    found = influence_of_powers(target, totals, units.layout, powers)
    for one, other in zip(found, influence(target, units), strict=True):
        assert one.tolist() == other.tolist()
    # Against the definition; the cubes nearly cancel.
    x, y = units.varying
    left = (x.sum() - x) / (y.sum() - y)
    change = left.mean() - left
    assert found.squares[0, 0] == pytest.approx((change**2).sum(), rel=1e-6)
    assert found.cubes[0, 0] == pytest.approx(
        (change**3).sum(), abs=1e-4 * (abs(change) ** 3).sum()
    )


def test_linear_errors__blocks_alone(rng: np.random.Generator) -> None:
    """The standard error from blocks that are worked on one at a time."""
    target, units = ratio_units(rng)
    pieces = [alone(units, *block) for block in blocks_of(0, N_ROWS)]
    totals = joined(one.sums() for one in pieces)
    assert totals.tolist() == units.sums().tolist()
    means = Means.of(target, units)
    assert means is not None
    centre = centre_of(units, means)
    squares = joined(block_moments(one, centre, 0, one.n_units, means) for one in pieces)
    found = errors_of_moments(target, units, totals, squares[..., None], means)
    for one, other in zip(found, linear_errors(target, units), strict=True):
        assert one.tolist() == other.tolist()
    x, y = units.varying
    gaps = x - x.sum() / y.sum() * y
    error = math.sqrt((gaps**2).sum()) / y.sum()
    assert linear_errors(target, units).cr0[0, 0] == pytest.approx(error, rel=1e-8)


@pytest.mark.parametrize("path", ["patterns", "weights"])
def test_bootstrap__reference(path: str, rng: np.random.Generator) -> None:
    """Four superblocks of real numbers: the sums of the drawn rows within their rounding."""
    x = rng.normal(size=N_ROWS)
    result = fb.bootstrap(fb.total(x), rng=SEED, n_resamples=2, path=path)
    for replicate, found in enumerate(result.replicates.tolist()):
        rows = reference.bootstrap_rows(N_ROWS, SEED, replicate, path)  # type: ignore[arg-type] # one of the reference's paths
        # A block rounds as often as a random walk of its length: 256 roundings of sums below 2,000.
        assert found == pytest.approx(math.fsum(x[rows]), abs=256 * 2_000 * 2.0**-53)


def of_superblocks(additions: list[Addition], n_resamples: int) -> Any:
    """Return the sums of one term from superblocks that are resampled alone."""
    sums = []
    for number, addition in enumerate(additions):
        assert (addition.superblock, addition.cell) == (number, 0)
        sums.append(np.zeros((1, n_resamples)))
        addition.add(0, sums[-1])
    assert len(sums) == 4
    total = joined(one.copy() for one in sums)[0].tolist()
    assert (
        total != sum(sums, np.zeros((1, n_resamples)))[0].tolist()
    )  # the order of additions is seen
    return total


@pytest.mark.parametrize("path", ["patterns", "weights"])
def test_bootstrap__superblocks_alone(path: str, rng: np.random.Generator) -> None:
    """Superblocks that are resampled elsewhere add up to the replicates, to the last bit."""
    x = rng.lognormal(size=N_ROWS)
    units, draws = from_rows([x], one_part(N_ROWS)), np.array([N_ROWS])
    sequence = np.random.SeedSequence(SEED)
    additions, _ = bootstrap_additions(units, sequence, draws, path, collapsing=False)
    found = fb.bootstrap(fb.total(x), rng=SEED, n_resamples=20, path=path).replicates
    assert found.tolist() == of_superblocks(additions, 20)


def test_swaps__superblocks_alone(rng: np.random.Generator) -> None:
    """As above, for swaps: the difference of totals changes by twice what is swapped."""
    x = rng.lognormal(size=N_ROWS)
    units = from_rows([-x], one_part(N_ROWS))
    additions = swap_additions(units, key_of(np.random.SeedSequence(SEED)), "tables")
    result = fb.approximate_randomization(
        fb.total(x), fb.total(np.zeros(N_ROWS)), rng=SEED, n_resamples=20, path="tables"
    )
    expected = [total_of(x) + 2.0 * one for one in of_superblocks(additions, 20)]
    assert result.replicates.tolist() == expected


def test_bootstrap__parts_join_their_own_superblocks(rng: np.random.Generator) -> None:
    """Strata of several superblocks, and of one, side by side: whole numbers have no rounding."""
    values = rng.integers(0, 1_000_000, N_ROWS)
    strata = np.repeat([0, 1, 2], [BLOCK + 9, 1_000, N_ROWS - BLOCK - 1_009])
    patterns, weights = (
        fb.bootstrap(fb.total(values), strata=strata, rng=SEED, n_resamples=5, path=path)
        for path in ("patterns", "weights")
    )
    assert patterns.replicates.tolist() == weights.replicates.tolist()
    assert np.ptp(patterns.replicates) > 0
    assert patterns.replicates == pytest.approx(values.sum(), rel=0.01)  # 8 standard errors


def test_swaps__superblocks(rng: np.random.Generator) -> None:
    """Swaps of four superblocks add up to those that weights are written of."""
    a, b = rng.integers(0, 1_000_000, (2, N_ROWS))
    tables, weights = (
        fb.approximate_randomization(
            fb.total(a), fb.total(b), rng=SEED, n_resamples=5, path=path
        ).replicates.tolist()
        for path in ("tables", "weights")
    )
    assert tables == weights


def test_collapse__any_order(rng: np.random.Generator) -> None:
    """The number of classes alone decides, wherever in the rows they are."""
    n, per_class = 20_000, 40
    for n_classes, counted in ((n // per_class, True), (n // per_class + 1, False)):
        # Nearly all rows are of one class: a sample of rows says nothing about the others.
        values = np.zeros(n)
        values[:n_classes] = np.arange(n_classes)
        for rows in (values, values[::-1].copy(), rng.permutation(values)):
            classes = collapse(from_rows([rows], one_part(n)), 0, n, n // per_class)
            assert (classes is not None) == counted
