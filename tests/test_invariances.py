"""What must not change an answer: threads, batches, chunks, the order of rows, the seed's kind.

Any data, any design: hypothesis looks for the exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import fastboot as fb
from fastboot import engine

SEEDS = st.integers(0, 2**64)
# Multiples of 1/8 add up exactly in float64, in any order.
EIGHTHS = st.integers(-80, 80).map(lambda n: n / 8)
# Compilation in the first example is slow; later ones take milliseconds.
PATIENT = settings(deadline=None, max_examples=40)

Floats = NDArray[np.float64]


@st.composite
def pairs(draw: st.DrawFn, *, smallest: int = 1, largest: int = 400) -> tuple[Floats, Floats]:
    """Two columns of one length: few values, or many."""
    n = draw(st.integers(smallest, largest))
    scores = draw(st.sampled_from([EIGHTHS, st.integers(0, 1).map(float)]))
    column = st.lists(scores, min_size=n, max_size=n).map(np.array)
    return draw(column), draw(column)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Gold labels, two systems' labels, and documents."""
    n = draw(st.integers(2, 200))
    column = st.lists(st.integers(0, 1), min_size=n, max_size=n).map(np.array)
    keys = st.lists(st.integers(0, 30), min_size=n, max_size=n).map(np.array)
    gold = draw(column)
    gold[0] = 1
    return gold, draw(column), draw(column), draw(keys)


def same(x: Any, y: Any) -> None:
    """Two results agree to the last bit."""
    np.testing.assert_array_equal(x.replicates, y.replicates)
    left, right = x.to_dict(), y.to_dict()
    for figures in (left, right):
        for name in ("elapsed", "design", "signature"):  # two calls may ask for one thing
            del figures[name]
    np.testing.assert_equal(left, right)


PROCEDURES = pytest.mark.parametrize(
    "procedure", [fb.paired_bootstrap, fb.approximate_randomization]
)


@PROCEDURES
@PATIENT
@given(data=pairs(), seed=SEEDS, n_threads=st.sampled_from([2, 3, 8]), largest=st.integers(1, 40))
def test_threads_and_batches(
    procedure: Any, data: Any, seed: int, n_threads: int, largest: int
) -> None:
    """Replicates do not depend on threads or on the ranges they work on."""
    whole = procedure(*data, rng=seed, n_resamples=100, n_threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_LARGEST_RANGE", largest)
        patch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
        parts = procedure(*data, rng=seed, n_resamples=100, n_threads=n_threads)
    same(whole, parts)


@PROCEDURES
@PATIENT
@given(data=pairs(smallest=15), seed=SEEDS, n=st.integers(1, 300))
def test_more_resamples_begin_with_fewer(procedure: Any, data: Any, seed: int, n: int) -> None:
    """Replicate r is replicate r of any longer run (but for an enumeration, which has no seed)."""
    short = procedure(*data, rng=seed, n_resamples=n)
    long = procedure(*data, rng=seed, n_resamples=300)
    if long.path != "enumeration":
        np.testing.assert_array_equal(short.replicates, long.replicates[:n])


@PROCEDURES
@PATIENT
@given(data=pairs(), seed=SEEDS)
def test_swapping_the_systems(procedure: Any, data: Any, seed: int) -> None:
    """Comparing b with a negates every replicate and keeps the p-value."""
    a, b = data
    there = procedure(a, b, rng=seed, n_resamples=200)
    back = procedure(b, a, rng=seed, n_resamples=200)
    np.testing.assert_array_equal(there.replicates, -back.replicates)
    assert there.estimate == -back.estimate
    assert there.pvalue == back.pvalue
    assert there.test("greater").pvalue == back.test("less").pvalue
    assert (there.estimate_a, there.estimate_b) == (back.estimate_b, back.estimate_a)


@PROCEDURES
@PATIENT
@given(data=labelled(), seed=SEEDS)
@pytest.mark.filterwarnings("ignore:the statistic is undefined")
def test_swapping_the_systems__f_score(procedure: Any, data: Any, seed: int) -> None:
    """The same holds where the systems have no term in common, by groups."""
    gold, a, b, documents = data
    first, second = fb.f_score(gold, a), fb.f_score(gold, b)
    options = {"groups": documents, "rng": seed, "n_resamples": 200}
    there, back = procedure(first, second, **options), procedure(second, first, **options)
    np.testing.assert_array_equal(there.replicates, -back.replicates)
    assert there.pvalue == back.pvalue or np.isnan(there.pvalue)


@PROCEDURES
@PATIENT
@given(data=pairs(), seed=SEEDS)
def test_a_system_against_itself(procedure: Any, data: Any, seed: int) -> None:
    """No difference: p is 1, the interval is the point 0, and the notes say degenerate."""
    result = procedure(data[0], data[0].copy(), rng=seed, n_resamples=50)
    assert result.pvalue == 1.0
    assert result.confidence_interval[:2] == (0.0, 0.0)
    assert result.standard_error == 0.0
    assert any(note.startswith("degenerate") for note in result.notes)


@PATIENT
@given(data=pairs(smallest=2), seed=SEEDS, cut=st.data())
def test_chunks_and_slices(data: Any, seed: int, cut: Any) -> None:
    """Arrow chunks, offsets and tables give what plain arrays give."""
    a, b = data
    at = cut.draw(st.integers(0, a.size))
    padded = pa.array([9.0, *a, 9.0]).slice(1, a.size)
    chunked = pa.chunked_array([b[:at], b[at:]], type=pa.float64())
    table = pa.table({"a": padded, "b": chunked})
    plain = fb.paired_bootstrap(a, b, rng=seed, n_resamples=50)
    same(plain, fb.paired_bootstrap("a", "b", data=table, rng=seed, n_resamples=50))
    reader = table.to_reader(max_chunksize=max(1, a.size // 3))
    same(plain, fb.paired_bootstrap("a", "b", data=reader, rng=seed, n_resamples=50))


@PROCEDURES
@PATIENT
@given(data=labelled(), seed=SEEDS, order=st.randoms(use_true_random=False))
@pytest.mark.filterwarnings("ignore:the statistic is undefined")
def test_order_of_rows_within_groups(procedure: Any, data: Any, seed: int, order: Any) -> None:
    """With groups, the order of rows and of groups does not matter: units are sorted by key."""
    gold, a, b, documents = data
    shuffled = list(range(gold.size))
    order.shuffle(shuffled)
    options = {"rng": seed, "n_resamples": 100}
    straight = procedure(fb.f_score(gold, a), fb.f_score(gold, b), groups=documents, **options)
    gold, a, b, documents = (column[shuffled] for column in data)
    mixed = procedure(fb.f_score(gold, a), fb.f_score(gold, b), groups=documents, **options)
    np.testing.assert_array_equal(straight.replicates, mixed.replicates)
    assert straight.estimate == mixed.estimate or np.isnan(straight.estimate)


@PATIENT
@given(data=pairs(largest=10), order=st.randoms(use_true_random=False))
def test_order_of_rows__exact(data: Any, order: Any) -> None:
    """An exact p-value does not depend on the order of the rows."""
    a, b = data
    shuffled = list(range(a.size))
    order.shuffle(shuffled)
    straight = fb.approximate_randomization(a, b, n_resamples=1_024)
    mixed = fb.approximate_randomization(a[shuffled], b[shuffled], n_resamples=1_024)
    assert straight.pvalue == mixed.pvalue


@PATIENT
@given(data=pairs(), seed=SEEDS)
def test_rows_as_groups_of_one(data: Any, seed: int) -> None:
    """Groups of one row each are rows."""
    a, b = data
    rows = fb.paired_bootstrap(a, b, rng=seed, n_resamples=50)
    groups = fb.paired_bootstrap(a, b, groups=np.arange(a.size), rng=seed, n_resamples=50)
    np.testing.assert_array_equal(rows.replicates, groups.replicates)


@PROCEDURES
@PATIENT
@given(data=pairs(), seed=SEEDS)
def test_the_caller_keeps_the_data(procedure: Any, data: Any, seed: int) -> None:
    """No call writes into the caller's memory or closes it for writing."""
    copies = [column.copy() for column in data]
    procedure(*data, rng=seed, n_resamples=50)
    for column, copy in zip(data, copies, strict=True):
        np.testing.assert_array_equal(column, copy)
        assert column.flags.writeable
