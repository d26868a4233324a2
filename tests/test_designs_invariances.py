"""What must not change the answers of a design: threads, batches, chunks, the order of rows.

Any data, any design: hypothesis looks for the exception.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import fastboot as fb
from fastboot import engine, paths

SEEDS = st.integers(0, 2**64)
# Compilation in the first example is slow; later ones take milliseconds.
PATIENT = settings(deadline=None, max_examples=12)
pytestmark = pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")

Table = dict[str, NDArray[Any]]

STATISTICS: dict[str, Any] = {
    "mean": lambda s: fb.mean(f"score_{s}"),
    "ratio": lambda s: fb.ratio(f"score_{s}", "size"),
    "macro": lambda s: fb.f_score("gold", f"label_{s}", average="macro", zero_division=0),
    "median": lambda s: fb.median(f"score_{s}"),
    "roc_auc": lambda s: fb.roc_auc("relevant", f"score_{s}"),
}
SUMS = ("mean", "ratio", "macro")


class Design(NamedTuple):
    """A design, and whether the order of rows tells which row a unit is."""

    options: dict[str, Any]
    ordered: bool


DESIGNS = {
    "groups": Design({"groups": "group"}, False),
    "strata": Design({"strata": "stratum"}, True),
    "strata, groups": Design({"strata": "stratum", "groups": "inner"}, False),
    "by": Design({"by": "lang"}, True),
    "by, strata, groups": Design({"by": "lang", "strata": "stratum", "groups": "inner"}, False),
    "by two columns": Design({"by": ["lang", "stratum"]}, True),
    "weights": Design({"weights": "size", "groups": "group"}, False),
    "poisson": Design({"scheme": "poisson", "groups": "group"}, False),
    "bayesian": Design({"scheme": "bayesian", "strata": "stratum"}, True),
    "moving": Design({"scheme": "moving", "block_length": 3, "by": "lang"}, True),
    "stationary": Design({"scheme": "stationary", "block_length": 2.5}, True),
    "nested": Design({"groups": ["stratum", "inner"], "levels": "nested"}, False),
    "nested, strata": Design({"groups": "inner", "levels": "nested", "strata": "stratum"}, True),
    "crossed": Design({"groups": ["group", "lang"], "levels": "crossed"}, False),
    "n_drawn": Design({"n_drawn": 7, "groups": "group"}, False),
}
every_design = pytest.mark.parametrize("design", DESIGNS)


@st.composite
def tables(draw: st.DrawFn, *, largest: int = 500) -> Table:
    """Any rows: of few values, or of many; strata, slices and groups of any size, from 1 on.

    Multiples of 1/8 add up exactly in float64, in any order.
    """
    n = draw(st.integers(1, largest))
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    few = draw(st.booleans())

    def scores() -> NDArray[np.float64]:
        low, high = (0, 2) if few else (-80, 81)
        return rng.integers(low, high, n) / 8.0

    stratum = rng.integers(0, draw(st.integers(1, 6)), n)
    inner = rng.integers(0, draw(st.integers(1, 9)), n)
    return {
        "score_a": scores(),
        "score_b": scores(),
        "size": rng.integers(1, 5, n) * 0.5,
        "gold": rng.choice(["x", "y", "z"], n),
        "label_a": rng.choice(["x", "y", "z"], n),
        "label_b": rng.choice(["x", "y", "z"], n),
        "relevant": np.r_[1, rng.integers(0, 2, n - 1)],
        "stratum": stratum,
        "inner": 100 * stratum + inner,
        "lang": rng.choice(["de", "en", "fi"], n),
        "group": rng.integers(0, draw(st.integers(1, 60)), n),
    }


def results(found: Any) -> list[Any]:
    """Return all results of an answer."""
    if not isinstance(found, fb.Table):
        return [found]
    return [*found.values(), *([] if found.total is None else results(found.total))]


def same(x: Any, y: Any) -> None:
    """Two answers agree to the last bit."""
    if isinstance(x, fb.Table):
        assert list(x) == list(y)
    for one, other in zip(results(x), results(y), strict=True):
        np.testing.assert_array_equal(one.replicates, other.replicates)
        left, right = one.to_dict(), other.to_dict()
        for figures in (left, right):
            for name in ("elapsed", "design", "signature"):  # two calls may ask for one thing
                del figures[name]
        np.testing.assert_equal(left, right)


@every_design
@PATIENT
@given(
    table=tables(),
    seed=SEEDS,
    n_threads=st.sampled_from([1, 2, 5]),
    largest=st.integers(1, 40),
    batch=st.sampled_from([8, 512, 20_000]),
)
def test_threads_and_batches(
    design: str, table: Table, seed: int, n_threads: int, largest: int, batch: int
) -> None:
    """Neither threads nor ranges nor batches of weights decide any bit."""
    options: dict[str, Any] = {"data": table, "rng": seed, "n_resamples": 60}
    options |= DESIGNS[design].options
    for make in STATISTICS.values():
        whole = fb.bootstrap(make("a"), **options, n_threads=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(paths, "_BATCH", batch)
            patch.setattr(paths, "_RANGE", 64 * batch)
            patch.setattr(engine, "_LARGEST_RANGE", largest)
            patch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
            pieces = fb.bootstrap(make("a"), **options, n_threads=n_threads)
        same(whole, pieces)


@pytest.mark.parametrize("groups", [None, "group"])
@pytest.mark.parametrize("statistic", STATISTICS)
@PATIENT
@given(table=tables(), seed=SEEDS, n_threads=st.sampled_from([2, 5]), largest=st.integers(1, 40))
def test_threads_and_batches__slices_swapped(
    statistic: str, groups: Any, table: Table, seed: int, n_threads: int, largest: int
) -> None:
    """Nor of swaps in slices."""
    make = STATISTICS[statistic]
    options: dict[str, Any] = {
        "data": table, "rng": seed, "n_resamples": 60, "by": "lang", "groups": groups,
    }  # fmt: skip
    whole = fb.approximate_randomization(make("a"), make("b"), **options, n_threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "_BATCH", 512)
        patch.setattr(engine, "_LARGEST_RANGE", largest)
        patch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
        pieces = fb.approximate_randomization(make("a"), make("b"), **options, n_threads=n_threads)
    same(whole, pieces)


@every_design
@PATIENT
@given(table=tables(), seed=SEEDS, order=st.randoms(use_true_random=False))
def test_order_of_rows(design: str, table: Table, seed: int, order: Any) -> None:
    """Units are sorted by their keys: rows may come in any order.

    Where rows themselves are units, those of a part must keep their order; parts may be shuffled.
    """
    n = table["gold"].size
    shuffled = list(range(n))
    order.shuffle(shuffled)
    chosen = DESIGNS[design]
    if chosen.ordered:
        keys = [name for name in ("stratum", "lang", "inner") if name in str(chosen.options)]
        if not keys:
            return
        parts = list(zip(*(table[name].tolist() for name in keys), strict=True))
        left = {part: [i for i, one in enumerate(parts) if one == part] for part in set(parts)}
        shuffled = [left[parts[i]].pop(0) for i in shuffled]
    mixed = {name: column[shuffled] for name, column in table.items()}
    options: dict[str, Any] = {"rng": seed, "n_resamples": 40, **chosen.options}
    # A single part of rows is counted by first appearance: their order within it is kept.
    for name in SUMS if chosen.options.get("scheme") != "bayesian" else ():
        straight = fb.bootstrap(STATISTICS[name]("a"), data=table, **options)
        other = fb.bootstrap(STATISTICS[name]("a"), data=mixed, **options)
        for one, two in zip(results(straight), results(other), strict=True):
            if "by" in options and one is results(straight)[-1] and chosen.ordered:
                continue  # all rows together are one part, or strata whose slices were mixed
            np.testing.assert_array_equal(one.replicates, two.replicates)


@every_design
@PATIENT
@given(table=tables(), seed=SEEDS)
def test_swapping_the_systems(design: str, table: Table, seed: int) -> None:
    """Comparing b with a negates every replicate of every slice."""
    options: dict[str, Any] = {"data": table, "rng": seed, "n_resamples": 40}
    options |= DESIGNS[design].options
    for make in STATISTICS.values():
        there = fb.paired_bootstrap(make("a"), make("b"), **options)
        back = fb.paired_bootstrap(make("b"), make("a"), **options)
        for one, other in zip(results(there), results(back), strict=True):
            np.testing.assert_array_equal(one.replicates, -other.replicates)
            assert one.pvalue == other.pvalue or np.isnan(one.pvalue)


@every_design
@PATIENT
@given(table=tables(), seed=SEEDS, cut=st.data())
def test_chunks(design: str, table: Table, seed: int, cut: Any) -> None:
    """Chunks of Arrow columns, keys too, and readers of batches give what plain arrays give."""
    n = table["gold"].size
    chunked = {}
    for name, column in table.items():
        at = cut.draw(st.integers(0, n))
        values = pa.array(column)
        chunked[name] = pa.chunked_array([values[:at], values[at:]], type=values.type)
    arrow = pa.table(chunked)
    options: dict[str, Any] = {"rng": seed, "n_resamples": 20, **DESIGNS[design].options}
    for make in (STATISTICS["macro"], STATISTICS["median"]):
        plain = fb.bootstrap(make("a"), data=table, **options)
        same(plain, fb.bootstrap(make("a"), data=arrow, **options))
        reader = arrow.to_reader(max_chunksize=max(1, n // 3))
        same(plain, fb.bootstrap(make("a"), data=reader, **options))


@every_design
@PATIENT
@given(table=tables(), seed=SEEDS, n=st.integers(1, 60))
def test_more_resamples_begin_with_fewer(design: str, table: Table, seed: int, n: int) -> None:
    """Replicate r is replicate r of any longer run."""
    options: dict[str, Any] = {"data": table, "rng": seed, **DESIGNS[design].options}
    for make in STATISTICS.values():
        short = fb.bootstrap(make("a"), **options, n_resamples=n)
        long = fb.bootstrap(make("a"), **options, n_resamples=60)
        for one, other in zip(results(short), results(long), strict=True):
            np.testing.assert_array_equal(one.replicates, other.replicates[:n])


@PATIENT
@given(table=tables(), seed=SEEDS, names=st.permutations(range(10)))
def test_names_of_slices_and_strata(table: Table, seed: int, names: list[int]) -> None:
    """Keys matter by their order only: other names in the same order change nothing."""
    longer = {k: sorted(names)[k] * 10 + 3 for k in range(10)}
    renamed = table | {
        "stratum": np.array([longer[k] for k in table["stratum"].tolist()]),
        "lang": np.array([f"{k}-" for k in table["lang"].tolist()]),
    }
    options: dict[str, Any] = {"rng": seed, "n_resamples": 30, "strata": "stratum", "by": "lang"}
    for make in STATISTICS.values():
        one, other = (fb.bootstrap(make("a"), data=data, **options) for data in (table, renamed))
        assert [f"{key}-" for key in one] == list(other)
        np.testing.assert_array_equal(one.replicates, other.replicates)


@PATIENT
@given(table=tables(largest=40), seed=SEEDS)
def test_rows_as_groups_of_one(table: Table, seed: int) -> None:
    """Groups of one row each are rows, inside strata and slices too."""
    rows = np.arange(table["gold"].size)
    options: dict[str, Any] = {"data": table, "rng": seed, "n_resamples": 30}
    for design in ({"strata": "stratum"}, {"by": "lang"}, {"scheme": "poisson"}, {"n_drawn": 5}):
        for name in SUMS:
            one, other = (
                fb.bootstrap(STATISTICS[name]("a"), **options, **design, groups=groups)
                for groups in (None, rows)
            )
            for x, y in zip(results(one), results(other), strict=True):
                np.testing.assert_array_equal(x.replicates, y.replicates)
