"""Tables read block by block: every answer has the bits of the table in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyarrow import compute
from scanning import N_ROWS, OPTIONS, SEED, Call, Partition, bits, partitions, paths_of, table
from sourced import write

import fastboot as fb
from fastboot.blocks import BLOCK
from fastboot.sample import take

BINARY = ("parquet", "arrow", "ipc", "reader")


@contextmanager
def never_loaded() -> Iterator[None]:
    """Fail where a table is loaded."""
    with mock.patch("fastboot.taking.take", side_effect=AssertionError("loaded")):
        yield


def same(call: Call, whole: pa.Table, data: Any, **options: Any) -> Any:
    """Check that data read block by block have the answer of the table; return it."""
    expected = call(whole, **OPTIONS)
    with never_loaded():
        found = call(data, **OPTIONS, **options)
    assert bits(found) == bits(expected)
    return found


class Meter:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.done: list[tuple[int, int]] = []
        self.bytes: list[int] = []

    def __call__(self, done: int, total: int) -> None:
        """Be told of replicates."""
        self.done.append((done, total))

    def read(self, n_bytes: int) -> None:
        """Be told of bytes."""
        self.bytes.append(n_bytes)


@contextmanager
def files(whole: pa.Table, *cuts: int, size: int = N_ROWS, kind: str = "parquet") -> Iterator[Any]:
    """Write a table to files that begin at some rows."""
    with Partition(kind, cuts, (size,)).written(whole) as data:
        yield data


# Partitions.


def of_bleu(system: str) -> fb.Additive:
    """BLEU of the counts of a system: nine terms."""
    return fb.bleu(
        correct=[f"{system}_correct_{order}" for order in range(1, 5)],
        total=[f"{system}_total_{order}" for order in range(1, 5)],
    )


def macro_f(column: str) -> fb.Additive:
    """Macro-averaged F1: tallies."""
    return fb.f_score("gold", column, average="macro")


class Case(NamedTuple):
    """What is asked.

    call : from data and options to an answer
    text : the names of the columns are in here, and perhaps others
    """

    call: Call
    text: str

    def table(self) -> pa.Table:
        """Return the columns that are needed."""
        names = [name for name in table().column_names if name in self.text]
        return table().select(names)


def case(procedure: Call, *statistics: Any, **own: Any) -> Case:
    """Return a case of some statistics and options of their own."""

    def call(data: Any, **options: Any) -> Any:
        return procedure(*statistics, data=data, **(options | own))

    return Case(call, f"{statistics!r} {own!r}")


single = partial(case, fb.bootstrap)
paired = partial(case, fb.paired_bootstrap)
swapped = partial(case, fb.approximate_randomization)

ACCURACIES = fb.accuracy("gold", "said"), fb.accuracy("gold", "told")
MACROS = macro_f("said"), macro_f("told")

# What is asked, and the paths that must run.
CASES: dict[str, tuple[Case, set[str]]] = {
    "mean": (single("a"), {"patterns"}),
    "mean, bca": (single("a", method="bca"), {"patterns"}),
    "ratio": (single(fb.ratio("x", "size"), method="bca"), {"patterns"}),
    "weighted mean": (single(fb.weighted_mean("a", "weight")), {"patterns"}),
    "mean difference": (paired("a", "b", method="bca"), {"patterns"}),
    "difference of weighted means": (
        paired(fb.weighted_mean("a", "weight"), fb.weighted_mean("b", "weight")), {"patterns"},
    ),
    "share": (single("x"), {"collapse"}),
    "difference of shares": (paired("x", "y", method="bca"), {"collapse"}),
    "variance far from 0": (single(fb.variance("far"), method="bca"), {"patterns"}),
    "weighted mean far from 0": (
        single(fb.weighted_mean("far", "weight"), method="bca"), {"patterns"},
    ),
    "correlation far from 0": (single(fb.pearson("far", "far_b")), {"patterns"}),
    "accuracies": (paired(*ACCURACIES), {"collapse"}),
    "recalls": (
        paired(fb.recall("gold", "said", pos_label="eel"),
               fb.recall("gold", "told", pos_label="eel")), {"collapse"},
    ),
    "precisions": (
        paired(fb.precision("gold", "said", pos_label="eel"),
               fb.precision("gold", "told", pos_label="eel")), {"collapse"},
    ),
    "macro-F": (paired(*MACROS, method="bca"), {"collapse"}),
    "F by class": (single(fb.f_score("gold", "said", average=None)), {"collapse"}),
    "confusion cells": (single(fb.confusion_cells("gold", "said", normalize="true")), {"collapse"}),
    "kappa": (single(fb.cohen_kappa("gold", "said", weights="linear")), {"collapse"}),
    "Brier scores": (paired(fb.brier_score("y", "chance"), fb.brier_score("y", "chance_b")),
                     {"patterns"}),
    "log loss": (single(fb.log_loss("gold", "chance", pos_label="cat")), {"patterns"}),
    "calibration": (single(fb.calibration_error("y", "chance")), {"weights"}),
    "calibration of rounded scores": (single(fb.calibration_error("y", "chance_b")), {"collapse"}),
    "BLEU": (single(of_bleu("first"), method="bca"), {"patterns"}),
    "BLEU of two": (paired(of_bleu("first"), of_bleu("second")), {"weights"}),
    "several": (
        single({"mean": "a", "share": fb.mean("x"), "std": fb.std("far", ddof=1),
                "F": fb.f_score("gold", "said", average=None),
                "Matthews": fb.matthews("gold", "said")}),
        {"weights"},
    ),
    "several pairs": (
        paired({"mean": "a", "accuracy": ACCURACIES[0], "squares": fb.rmse("a", "far")},
               {"mean": "b", "accuracy": ACCURACIES[1], "squares": fb.rmse("b", "far")}),
        {"patterns"},
    ),
    "row weights": (single("a", weights="weight", method="bca"), {"patterns"}),
    "weighted macro-F": (paired(*MACROS, weights="weight"), {"collapse"}),
    "missing": (paired("hole", "b", nan_policy="omit"), {"patterns"}),
    "missing, macro-F": (
        single({"mean": "hole", "F": macro_f("said")}, nan_policy="omit"), {"weights"},
    ),
    "where, many rows": (paired("a", "b", where=[("split", "==", "cat")]), {"patterns"}),
    "where, a column asked for": (single("a", where=compute.field("a") > -1.0), {"patterns"}),
    "where, missing": (
        single("hole", where=compute.field("x") == 1, nan_policy="omit"), {"patterns"},
    ),
    "constant": (paired("one", "one"), {"constant"}),
    "constant, bca": (single("one", method="bca"), {"constant"}),
    "one term constant": (single(fb.ratio("a", "one")), {"patterns"}),
    "groups": (paired("a", "b", groups="document", method="bca"), {"patterns"}),
    "groups of numbers": (single(fb.ratio("x", "size"), groups="user"), {"patterns"}),
    "groups of fractions": (single("a", groups="time", weights="weight"), {"patterns"}),
    "groups of days": (single("x", groups="day"), {"patterns"}),
    "groups side by side": (single("hole", groups="chapter", nan_policy="omit"), {"patterns"}),
    "groups, macro-F": (paired(*MACROS, groups="document", method="bca"), {"weights"}),
    "groups, weighted": (paired(*MACROS, groups="user", weights="weight"), {"weights"}),
    "groups, where": (
        single("a", groups="document", where=[("split", "in", ["cat", "dog"])]), {"patterns"},
    ),
    "groups, BLEU of two": (paired(of_bleu("first"), of_bleu("second"), groups="chapter"),
                            {"weights"}),
    "groups of one value": (single("one", groups="user"), {"collapse"}),
    "swaps": (swapped("a", "b"), {"tables"}),
    "swaps far from 0": (swapped("far", "far_b"), {"tables"}),
    "swaps of shares": (swapped("x", "y"), {"collapse"}),
    "swaps of accuracies": (swapped(*ACCURACIES), {"collapse"}),
    "swaps of F": (
        swapped(fb.f_score("gold", "said", pos_label="eel"),
                fb.f_score("gold", "told", pos_label="eel")), {"collapse"},
    ),
    "swaps of BLEU": (swapped(of_bleu("first"), of_bleu("second")), {"tables"}),
    "swaps of variances": (swapped(fb.variance("far"), fb.variance("far_b")), {"tables"}),
    "swaps of several": (
        swapped({"mean": "a", "ratio": fb.ratio("x", "size")},
                {"mean": "b", "ratio": fb.ratio("y", "size")}), {"tables"},
    ),
    "few differ": (swapped("a", "few"), {"tables"}),
    "few differ, enumerated": (swapped("a", "few", n_resamples=64), {"enumeration"}),
    "none differ": (swapped("a", "a"), {"constant"}),
    "swaps with weights": (swapped("a", "b", weights="weight"), {"tables"}),
    "swaps, missing": (swapped("hole", "b", nan_policy="omit"), {"tables"}),
    "swaps of groups": (swapped("a", "b", groups="document"), {"tables"}),
    "swaps of groups of shares": (swapped("x", "y", groups="user"), {"tables"}),
    "swaps of groups, none differ": (swapped("x", "x", groups="day"), {"constant"}),
    "swaps of groups, where": (
        swapped("a", "b", groups="chapter", where=compute.field("split") != "dog"), {"tables"},
    ),
}  # fmt: skip


@cache
def expected(name: str) -> Any:
    """Return the answer of the table in memory."""
    asked, paths = CASES[name]
    answer = asked.call(table(), **OPTIONS)
    assert paths_of(answer) == paths
    return bits(answer)


# Shrinking takes minutes.
UNSHRUNK: dict[str, Any] = {
    "deadline": None,
    "phases": (Phase.generate,),
    "suppress_health_check": (HealthCheck.too_slow, HealthCheck.data_too_large),
}


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=3, **UNSHRUNK)
@given(partition=partitions(BINARY), n_threads=st.integers(1, 3))
def test_any_partition(name: str, partition: Partition, n_threads: int) -> None:
    """Files, row groups, record batches and threads do not change a bit."""
    asked = CASES[name][0]
    with partition.written(asked.table()) as data, never_loaded():
        answer = asked.call(data, **OPTIONS, n_threads=n_threads)
    assert bits(answer) == expected(name)


@settings(max_examples=1, **UNSHRUNK)
@given(partition=partitions(("jsonl",)))
def test_any_partition__json(partition: Partition) -> None:
    """As text, of a table that takes seconds to parse."""
    asked = CASES["mean difference"][0]
    with partition.written(asked.table()) as data, never_loaded():
        answer = asked.call(data, **OPTIONS)
    assert bits(answer) == expected("mean difference")


TEXT = ("mean difference", "difference of shares", "macro-F", "variance far from 0",
        "groups", "groups of fractions", "swaps", "where, a column asked for")  # fmt: skip


@pytest.mark.parametrize("name", TEXT)
@settings(max_examples=2, **UNSHRUNK)
@given(partition=partitions(("csv", "tsv", "csv.gz")))
def test_any_partition__text(name: str, partition: Partition) -> None:
    """Numbers are written so that the same ones are read."""
    asked = CASES[name][0]
    with partition.written(asked.table()) as data, never_loaded():
        answer = asked.call(data, **OPTIONS)
    assert bits(answer) == expected(name)


# What blocks could get wrong.


def of_columns(**columns: Any) -> pa.Table:
    """Return a table."""
    return pa.table(columns)


def of_labels(*codes: Any) -> list[pa.Array]:
    """Return columns of labels."""
    names = np.array(["cat", "dog", "eel"])
    return [pa.array(names[own]) for own in codes]


@pytest.mark.parametrize("row", [BLOCK, 2 * BLOCK, N_ROWS - 1])
@pytest.mark.parametrize("own", [{}, {"groups": "user"}, {"weights": "weight"}])
def test_terms__equal_at_first(row: int, own: dict[str, str]) -> None:
    """Two columns that differ in one late row: their difference is not that of what they share."""
    whole = table().select(["a", "b", "x", "user", "weight"])
    again = whole["x"].to_numpy().copy()
    again[row] = 1 - again[row]
    whole = whole.append_column("again", pa.array(again))
    with files(whole, 30_000, 140_000) as data:
        found = same(paired(fb.ratio("a", "x"), fb.ratio("b", "again"), **own).call, whole, data)
        same(paired(fb.ratio("a", "x"), fb.ratio("b", "x"), **own).call, whole, data)
        same(swapped(fb.ratio("a", "x"), fb.ratio("b", "again"), **own).call, whole, data)
    assert found.n_undefined == 0


def test_terms__equal_until_the_second_survey() -> None:
    """Pairs of columns that part one after the other, in different blocks and files."""
    rng = np.random.default_rng(SEED)
    first = rng.integers(0, 2, N_ROWS)
    columns = {"first": first, "gold": np.ones(N_ROWS, int)}
    for number, row in enumerate((70_000, 140_000, 169_999)):
        columns[f"other_{number}"] = first.copy()
        columns[f"other_{number}"][row] ^= 1
    whole = pa.table(columns)
    asked = {name: fb.recall("gold", name) for name in columns}
    with files(whole, 100_000, size=9_000) as data:
        found = same(single(asked).call, whole, data)
    assert len({float(found[name].estimate) for name in columns}) > 1


def test_estimates__of_columns_that_are_one() -> None:
    """A column under two names is summed once."""
    a = table()["a"]
    whole = of_columns(**{f"column_{number}": a for number in range(14)}, other=table()["b"])
    asked = {name: fb.mean(name) for name in whole.column_names}
    with files(whole, 70_000) as data:
        found = same(single(asked).call, whole, data)
    assert paths_of(found) == {"patterns"}  # of two terms; 15 would take the other path


class Part(fb.Ratio):
    """A mean, or a number for one."""

    def __init__(self, column: str, number: float | None = None) -> None:
        super().__init__(column, name="part")
        self._number = number

    def terms(self, values: Any) -> Any:
        """Return values, or the number."""
        return values if self._number is None else self._number, 1.0


def test_differences__from_a_number() -> None:
    """A number that one term is must not be taken for the place of another."""
    whole = table().select(["a", "b"])
    with files(whole, 70_000) as data:
        for number in range(8):
            same(
                paired(
                    {"number": Part("a"), "mean": fb.mean("a")},
                    {"number": Part("a", float(number)), "mean": fb.mean("b")},
                ).call,
                whole,
                data,
            )


@pytest.mark.parametrize("double", [None, 0, N_ROWS - 1])
@pytest.mark.parametrize("call", [fb.paired_bootstrap, fb.approximate_randomization])
def test_precision__of_float32(call: Call, double: int | None) -> None:
    """Columns of float32 are told in blocks as in memory, and one double among them is seen."""
    rounded = np.round(table()["chance"].to_numpy(), 2).astype(np.float32).astype(np.float64)
    if double is not None:
        rounded[double] = 1 / 3
    whole = table().select(["chance_b"]).append_column("rounded", pa.array(rounded))
    exact = pa.table({"rounded": np.round(table()["chance"].to_numpy(), 2)})
    exact = exact.append_column("chance_b", whole["chance_b"])
    plain = call("rounded", "chance_b", data=exact, **OPTIONS)
    with Partition("parquet", (70_000,), (20_000,)).written(whole) as data:
        found = same(lambda data, **own: call("rounded", "chance_b", data=data, **own), whole, data)
    assert (found.rounding > 1_000 * plain.rounding) == (double is None)


@pytest.mark.parametrize("last", [N_ROWS, N_ROWS - 1])
@pytest.mark.parametrize("own", [{}, {"groups": "user"}])
def test_differences__that_are_one(own: dict[str, str], last: int) -> None:
    """A difference that is a column, or nearly, or another difference."""
    whole = table().select(["a", "b", "user"])
    gap = whole["a"].to_numpy() - whole["b"].to_numpy()
    gap[last:] += 1.0
    whole = whole.append_column("gap", pa.array(gap))
    whole = whole.append_column("zero", pa.array(np.zeros(N_ROWS)))
    with files(whole, 70_000) as data:
        systems = ({"one": "a", "two": "gap"}, {"one": "b", "two": "zero"})
        same(paired(*systems, method="bca", **own).call, whole, data)
        same(swapped(*systems, **own).call, whole, data)


@pytest.mark.parametrize("start, stop", [(0, BLOCK), (0, N_ROWS - 1), (BLOCK, N_ROWS), (1, N_ROWS)])
def test_terms__constant_in_blocks(start: int, stop: int) -> None:
    """A term of one value in some blocks varies, if another block has another value."""
    values = np.arange(N_ROWS) % 3.0
    values[start:stop] = 2.0
    whole = of_columns(
        value=values, size=np.where(values == 2.0, 5.0, table()["a"].to_numpy()), a=table()["a"]
    )
    with files(whole, start + 1, stop - 1, size=50_000) as data:
        same(single("value", method="bca").call, whole, data)
        same(single(fb.ratio("a", "size")).call, whole, data)
        same(paired("a", "size").call, whole, data)
        same(swapped("value", "a").call, whole, data)


@pytest.mark.parametrize("n_classes, path", [(4_250, "collapse"), (4_251, "patterns")])
def test_classes__limit(n_classes: int, path: str) -> None:
    """One class for 40 rows is counted, one more is not; wherever the rare ones are."""
    values = np.zeros(N_ROWS)
    values[-n_classes:] = np.arange(n_classes)
    whole = of_columns(value=np.roll(values, 77_777))
    with files(whole, 60_000, 120_000) as data:
        assert same(single("value", method="bca").call, whole, data).path == path


def test_classes__signed_zeros() -> None:
    """0.0 and -0.0 are two classes, but a term that has no others is constant."""
    values = np.zeros(N_ROWS)
    values[: 2 * 4_250] = np.repeat(np.arange(4_250), 2)
    zeros = np.zeros(N_ROWS)
    zeros[: 2 * 4_250 : 2] = -0.0
    whole = of_columns(value=values, zero=zeros)
    with files(whole, 60_000) as data:
        found = same(single({"value": "value", "zero": "zero"}).call, whole, data)
    assert paths_of(found) == {"collapse"}


@pytest.mark.parametrize("n_classes, path", [(131_072, "collapse"), (131_073, "weights")])
def test_classes__most(n_classes: int, path: str) -> None:
    """Of tallies a class for three rows is counted, up to 131,072."""
    n_rows = 400_000
    chance = np.arange(n_rows) % n_classes / n_classes
    whole = of_columns(chance=chance, y=np.zeros(n_rows, int))
    with files(whole, 60_000, 130_000, 131_073, 300_000) as data:
        assert same(single(fb.calibration_error("y", "chance")).call, whole, data).path == path


@pytest.mark.parametrize("n_differing", [60_000, 120_000])
@pytest.mark.parametrize("more", [0, 1])
def test_swaps__limit(n_differing: int, more: int) -> None:
    """One class for 300 rows that differ is counted, one more is not."""
    n_classes = n_differing // 300 + more
    change = np.zeros(N_ROWS)
    change[1 : 1 + n_differing] = 1 + np.arange(n_differing) % n_classes
    whole = of_columns(a=change, b=np.zeros(N_ROWS))
    with files(whole, 60_000, 120_000) as data:
        found = same(swapped("a", "b").call, whole, data)
    assert found.path == ("tables" if more else "collapse")
    assert found.n_differing == n_differing


@pytest.mark.parametrize("n_differing", [0, 1, 10, BLOCK, BLOCK + 1, 2 * BLOCK])
def test_swaps__rows_that_differ(n_differing: int) -> None:
    """Rows that differ have blocks of their own, wherever they lie."""
    rng = np.random.default_rng(SEED)
    a = rng.normal(size=N_ROWS)
    b = a.copy()
    b[rng.permutation(N_ROWS)[:n_differing]] -= 1.0 + rng.random(n_differing)
    with files(of_columns(a=a, b=b), 50_000, 50_001, size=30_000) as data:
        found = same(swapped("a", "b", n_resamples=1_100).call, of_columns(a=a, b=b), data)
    assert found.n_differing == n_differing


class Scaled(fb.Ratio):
    """A mean of parts of a whole; a number is a term."""

    def __init__(self, column: str, whole: float) -> None:
        super().__init__(column, name="scaled")
        self._whole = whole

    def terms(self, values: Any) -> Any:
        """Return values and the whole."""
        return values, self._whole


def test_swaps__number_that_differs() -> None:
    """A term that is one number of a and another of b: every row differs."""
    whole = table().select(["a", "b", "few", "x", "y"])
    with files(whole, 70_000) as data:
        for a, b, path in (("a", "b", "tables"), ("x", "y", "collapse")):
            found = same(swapped(Scaled(a, 1.0), Scaled(b, 2.0)).call, whole, data)
            assert found.n_differing == N_ROWS
            assert found.path == path
        assert (
            same(swapped(Scaled("a", 1.0), Scaled("few", 1.0)).call, whole, data).n_differing == 6
        )


@pytest.mark.parametrize(
    "statistic",
    [
        fb.f_score("gold", "said", average="macro"),
        fb.f_score("gold", "said", average=None),
        fb.f_score("gold", "said", pos_label="eel"),
        fb.precision("gold", "said", average="micro", labels=["eel", "cow"]),
        fb.confusion_cells("gold", "said", labels=["eel", "dog"]),
        fb.brier_score("gold", "chance", pos_label="eel"),
        fb.log_loss("gold", "chance", pos_label="eel"),
        fb.calibration_error("gold", "chance", pos_label="eel", n_bins=7),
        fb.combine(np.add, fb.recall("gold", "said", pos_label="eel"), fb.mean("chance")),
    ],
    ids=str,
)
def test_labels__in_the_last_file(statistic: fb.Additive) -> None:
    """A label may be in any part of the table, and in no other."""
    rng = np.random.default_rng(SEED)
    gold, said = rng.integers(0, 2, (2, N_ROWS))
    gold[-50:] = said[-60:-10] = 2
    names = of_labels(gold, said)
    whole = of_columns(gold=names[0], said=names[1], chance=rng.random(N_ROWS))
    with files(whole, 60_000, N_ROWS - 70) as data:
        same(single(statistic).call, whole, data)


def sorted_table() -> pa.Table:
    """Return rows sorted by nearly every column: blocks are as different as can be."""
    rng = np.random.default_rng(SEED)
    n = 140_000
    bees = np.array(["ant", "bee", "cow", "doe"])
    answers = np.array(["The cat", "a dog!", "eel", "x y z"])
    gold = np.sort(rng.integers(0, 4, n))
    shares = rng.dirichlet([1, 1, 1, 1], n)
    columns: dict[str, Any] = {
        "gold": bees[gold],
        "said": bees[np.where(rng.random(n) < 0.8, gold, rng.integers(0, 4, n))],
        "y": np.sort(rng.integers(0, 2, n)),
        "p": rng.random(n),
        "v": np.sort(np.exp(rng.normal(size=n))) + 0.1,
        "w": np.sort(rng.integers(0, 3, n)),
        "winner": np.array(["a", "b", "tie"])[np.sort(rng.integers(0, 3, n))],
        "winner too": np.array(["a", "b", "tie"])[rng.integers(0, 3, n)],
        "answer": answers[np.sort(rng.integers(0, 4, n))],
        "guess": answers[rng.integers(0, 4, n)],
        "or": pa.array([None] * 100_000 + ["dog"] * (n - 100_000), pa.string()),
        "tries": np.full(n, 10),
        "right": np.sort(rng.integers(0, 11, n)),
        "few": rng.integers(0, 5, n),
    }
    columns |= {f"p{k}": shares[:, k] for k in range(4)}
    for order in range(1, 9):
        columns[f"match_{order}"] = np.sort(rng.integers(0, 2, n))
        columns[f"hypothesis_{order}"] = columns[f"reference_{order}"] = rng.integers(1, 9, n)
    return pa.table(columns)


PROBABILITIES: dict[str, Any] = {
    "score": ["p0", "p1", "p2", "p3"], "labels": ["ant", "bee", "cow", "doe"],
}  # fmt: skip
STATISTICS = [
    fb.agreement("gold", "said"),
    fb.balanced_accuracy("gold", "said"),
    fb.brier_score("gold", **PROBABILITIES),
    fb.brier_score("y", "p"),
    fb.calibration_error("gold", **PROBABILITIES),
    fb.chrf(),
    fb.chrf(word_order=2),
    fb.coverage("p", threshold=0.5),
    fb.exact_match("answer", "guess", more_gold=["or"]),
    fb.f_score("gold", "said", average="micro"),
    fb.f_score("gold", "said", average="weighted"),
    fb.f_score(tp="few", fp="tries", fn="right"),
    fb.geometric_mean("v", weights="w"),
    fb.harmonic_mean("v"),
    fb.jaccard("gold", "said", pos_label="doe"),
    fb.log_loss("gold", **PROBABILITIES),
    fb.mae("p", "v"),
    fb.mean_cost("gold", "said", "p", threshold=0.5, review_cost=0.2),
    fb.pass_at_k("tries", "right", k=3),
    fb.r_squared("v", "p"),
    fb.selective_risk("gold", "said", "p", threshold=0.5),
    fb.skewness("v"),
    fb.specificity("gold", "said", average="macro"),
    fb.ter("few", "tries"),
    fb.token_f1("answer", "guess", more_gold=["or"]),
    fb.total("v"),
    fb.win_rate("winner"),
    fb.win_rate("winner", "winner too"),
    fb.word_error_rate("right", "tries"),
]


@pytest.fixture(scope="module")
def sorted_files() -> Iterator[tuple[pa.Table, str]]:
    """Write sorted rows to files."""
    whole = sorted_table()
    with files(whole, 60_000, 123_456, size=50_000) as data:
        yield whole, data


@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_statistics__sorted_rows(
    statistic: fb.Additive, sorted_files: tuple[pa.Table, str]
) -> None:
    """What a statistic makes of a row does not depend on the rows of its block."""
    same(single(statistic, method="bca").call, *sorted_files)


def test_labels__all_known_from_one_pass() -> None:
    """Where few rows differ, labels are read once; the note on reading says so."""
    whole = table().select(["gold", "said", "a"])
    with files(whole, 100_000) as data, never_loaded():
        once = fb.bootstrap(macro_f("said"), data=data, **OPTIONS)
        more = fb.bootstrap({"F": macro_f("said"), "mean": "a"}, data=data, **OPTIONS)
    assert once.notes == ()
    assert more["F"].notes == ("`data` was read 3 times, block by block, and never held in memory",)


def test_weights__zero() -> None:
    """Files whose rows do not count are no matter, if others do."""
    weights = np.zeros(N_ROWS)
    whole = of_columns(a=table()["a"], weight=weights)
    with files(whole, 60_000, size=9_000) as data:
        for one in (whole, data):
            with pytest.raises(ValueError, match=r"^`weights` are all 0; at least one row must"):
                fb.bootstrap("a", data=one, weights="weight", **OPTIONS)
    weights[150_000:] = 1.5
    whole = of_columns(a=table()["a"], weight=weights)
    with files(whole, 60_000, size=9_000) as data:
        same(single("a", weights="weight").call, whole, data)
        same(paired(fb.mean("a"), fb.total("weight"), weights="weight").call, whole, data)


@pytest.mark.parametrize("n_rows", [BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK])
@pytest.mark.parametrize("kind", BINARY)
def test_rows__blocks_to_the_row(kind: str, n_rows: int) -> None:
    """The last block is full, or has one row, or lacks one."""
    whole = table().select(["a", "b", "x", "document"]).slice(0, n_rows)
    with Partition(kind, (1, 65_536), (30_000, 65_536)).written(whole) as data:
        same(paired("a", "b", method="bca").call, whole, data)
        same(single("x").call, whole, data)
        same(swapped("a", "b").call, whole, data)
        same(single("a", groups="document").call, whole, data)


@pytest.mark.parametrize("kind", [*BINARY, "csv", "jsonl"])
@pytest.mark.parametrize("n_rows", [1, 2, 10, BLOCK - 1])
def test_rows__less_than_a_block(n_rows: int, kind: str) -> None:
    """Few rows are loaded."""
    if kind == "jsonl" and n_rows > 10:
        n_rows = 2_000
    whole = table().select(["a", "x", "document"]).slice(0, n_rows)
    with Partition(kind, (n_rows // 3, n_rows // 2), (4_000,)).written(whole) as data:
        for asked in (
            paired("a", "x"), single("a", groups="document"), swapped("a", "x"),
            single(fb.accuracy("x", "x")),
        ):  # fmt: skip
            assert bits(asked.call(data, **OPTIONS)) == bits(asked.call(whole, **OPTIONS))


def test_where__few_rows() -> None:
    """Less than a block is kept, or one row, or none."""
    whole = table().select(["a", "chapter", "user"])
    with files(whole, 70_000, size=20_000) as data:
        for last in (1_200, 1):
            asked = single("a", where=[("chapter", "<", last)])
            assert bits(asked.call(data, **OPTIONS)) == bits(asked.call(whole, **OPTIONS))
        for nothing in (("chapter", "<", 0), ("user", "==", -2)):
            for one in (data, whole):
                with pytest.raises(ValueError, match=r"^`where` keeps no row of `data`; give a "):
                    fb.bootstrap("a", data=one, where=[nothing], **OPTIONS)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "ipc", "csv", "csv.gz"])
def test_files__empty(kind: str) -> None:
    """Files and row groups without rows count nothing."""
    whole = table().select(["a", "y", "document"]).slice(0, 80_000)
    with Partition(kind, (0, 0, 100, 100, 80_000, 80_000), (30_000,)).written(whole) as data:
        same(single("a", method="bca").call, whole, data)
        same(paired("y", "a").call, whole, data)
        same(single("y", groups="document").call, whole, data)


def test_files__empty_row_groups(tmp_path: Path) -> None:
    """Among others, and at both ends."""
    whole = table().select(["a", "b"])
    with pq.ParquetWriter(tmp_path / "x.parquet", whole.schema) as writer:
        for start, stop in (
            (0, 0),
            (0, 70_000),
            (70_000, 70_000),
            (70_000, N_ROWS),
            (N_ROWS, N_ROWS),
        ):
            writer.write_table(whole.slice(start, stop - start))
    same(paired("a", "b").call, whole, tmp_path)
    same(paired("a", "b").call, whole, str(tmp_path / "x.parquet"))


TYPES = {
    "numbers": ("user", [pa.int64(), pa.int32(), pa.float64(), pa.int16()]),
    "narrow numbers": ("x", [pa.int8(), pa.uint8(), pa.float32()]),
    "labels": ("gold", [pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.large_string(),
                        pa.string_view()]),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_types__of_files_differ(name: str, tmp_path: Path) -> None:
    """Files may differ in how they hold values of one kind."""
    column, types = TYPES[name]
    whole = table().select(["a", column])
    size = N_ROWS // len(types) + 1
    for number, kind in enumerate(types):
        part = whole.slice(number * size, size)
        cast = part.set_column(1, column, part[column].cast(kind))
        # Parquet would remember no views.
        write(cast, tmp_path / f"{number}.{'arrow' if name == 'labels' else 'parquet'}", 20_000)
    same(single("a", groups=column).call, whole, tmp_path)
    same(single(fb.accuracy(column, column)).call, whole, tmp_path)
    same(single(fb.matthews(column, column)).call, whole, tmp_path)
    if name != "labels":
        same(paired("a", column).call, whole, tmp_path)


def test_groups__of_many_blocks() -> None:
    """Sums of groups join every 64 blocks, here a little more."""
    n_rows = 64 * BLOCK + 70_000
    rng = np.random.default_rng(SEED)
    whole = of_columns(
        a=rng.normal(size=n_rows), user=rng.integers(0, 5_000, n_rows).astype(np.int32)
    )
    for kind in ("parquet", "reader"):
        with Partition(kind, (1_000_000,), (1_000_000, 200_000)).written(whole) as data:
            same(single("a", groups="user").call, whole, data)


# Files of text that are larger than an extent are read here, and once.


@pytest.mark.parametrize("kind", ["csv", "ipc", "parquet"])
def test_files__larger_than_extents(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows far down in a file are not reached by reading it from its start again and again."""
    monkeypatch.setattr("fastboot.passes._EXTENT", 1)
    n_rows = 6 * BLOCK + 99
    rng = np.random.default_rng(SEED)
    a = rng.normal(size=n_rows)
    a[::1_000] = np.nan
    whole = of_columns(a=a, x=rng.integers(0, 2, n_rows))
    meter = Meter()
    with Partition(kind, (7,), (n_rows,)).written(whole) as data:
        found = same(paired("a", "x", nan_policy="omit").call, whole, data, progress=meter)
        size = sum(path.stat().st_size for path in Path(data).iterdir())
    assert found.notes[-1] == "`data` was read 3 times, block by block, and never held in memory"
    assert meter.bytes == sorted(meter.bytes)
    assert meter.bytes[-1] == pytest.approx(3 * size, rel=0.05)


PROGRESS = {
    "rows": paired("a", "b"),
    "classes": paired("x", "y"),
    "groups": single("a", groups="document"),
    "swaps": swapped("a", "b"),
    "swaps of few": swapped("a", "few"),
    "omit": single("hole", nan_policy="omit"),
    "learned": single(fb.variance("far")),
    "labels": single(fb.f_score("gold", "said", average="macro")),
}


@pytest.mark.parametrize("name", PROGRESS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_progress(name: str, n_threads: int) -> None:
    """It never goes back, ends at its total, and tells the bytes that were read."""
    asked = PROGRESS[name]
    meter = Meter()
    with files(asked.table(), 60_000, 130_000, size=40_000) as data, never_loaded():
        asked.call(data, **OPTIONS, progress=meter, n_threads=n_threads)
        size = sum(path.stat().st_size for path in Path(data).iterdir())
    assert {total for _, total in meter.done} == {OPTIONS["n_resamples"]}
    assert meter.done == sorted(meter.done)
    assert meter.done[0][0] == 0
    assert meter.done[-1] == (OPTIONS["n_resamples"], OPTIONS["n_resamples"])
    assert meter.bytes == sorted(meter.bytes)
    assert 0 < meter.bytes[0] <= meter.bytes[-1] < 5 * size


@pytest.mark.parametrize("kind", ["folder", "dataset"])
def test_progress__bytes_of_columns_that_are_read(kind: str, tmp_path: Path) -> None:
    """Of Parquet, not of its other columns; but of those that the filter looks at."""
    for number in (0, 1):
        for name in ("wide", "narrow"):
            columns = ["a", "few"] if name == "narrow" else ["a", "b", "few", "said", "document"]
            (tmp_path / name).mkdir(exist_ok=True)
            path = tmp_path / name / f"{number}.parquet"
            pq.write_table(table().select(columns), path, row_group_size=50_000)
    for where in ([("few", "<", 2)], compute.field("few") < 2):
        meters = {name: Meter() for name in ("wide", "narrow")}
        for name, meter in meters.items():
            folder = tmp_path / name
            data = folder if kind == "folder" else pyarrow.dataset.dataset(folder)
            fb.bootstrap("a", data=data, where=where, **OPTIONS, progress=meter, n_threads=1)
        assert meters["wide"].bytes == meters["narrow"].bytes
        fewer = Meter()
        fb.bootstrap("few", data=data, where=where, **OPTIONS, progress=fewer, n_threads=1)
        assert 0 < fewer.bytes[-1] < 0.7 * meters["wide"].bytes[-1]


def test_progress__of_a_checkpoint(tmp_path: Path) -> None:
    """Bytes of the draws are told there too."""
    whole = table().select(["a", "b"])
    meters = []
    with files(whole, 60_000, size=50_000) as data:
        own: list[dict[str, Any]] = [{}, {"checkpoint": tmp_path / "replicates"}]
        for options in own:
            meters.append(Meter())
            fb.paired_bootstrap("a", "b", data=data, **OPTIONS, **options, progress=meters[-1])
    assert meters[0].bytes[-1] == meters[1].bytes[-1]
    assert meters[1].done[-1] == (OPTIONS["n_resamples"], OPTIONS["n_resamples"])


# What needs all rows is loaded, from files too.

LOADED = {
    "median": single(fb.median("a")),
    "order and sums": single({"median": fb.median("a"), "mean": "b"}),
    "AUC": paired(fb.roc_auc("y", "chance"), fb.roc_auc("y", "chance_b")),
    "levels": single("a", groups=["day"], levels="nested"),
    "crossed": single("a", groups=["user", "split"], levels="crossed"),
    "strata": paired("a", "b", strata="split"),
    "by": paired("a", "b", by="split"),
    "by, swaps": swapped("x", "y", by="split"),
    "studentized": single("a", method="studentized"),
    "propagate": paired("hole", "b", nan_policy="propagate"),
    "path": single("a", path="weights"),
    "n_drawn": single("a", n_drawn=1_000),
    "scheme": single("a", scheme="poisson"),
    "blocks": single("a", scheme="stationary", block_length=10.0),
    "swaps of tallies": swapped(*MACROS),
    "macro": single(fb.macro(fb.accuracy("gold", "said"), "split")),
}


@pytest.mark.parametrize("name", LOADED)
def test_loaded(name: str) -> None:
    """The same answer, from a folder."""
    asked = LOADED[name]
    whole = asked.table().slice(0, 70_000)
    options = {**OPTIONS, "n_resamples": 12}
    expected_bits = bits(asked.call(whole, **options))
    with (
        files(whole, 10_000, size=30_000) as data,
        mock.patch("fastboot.taking.take", wraps=take) as loading,
    ):
        assert bits(asked.call(data, **options)) == expected_bits
    assert loading.called


OVERFLOWING: dict[str, Any] = {
    "rows": lambda **options: fb.bootstrap("a", **options),
    "pairs": lambda **options: fb.paired_bootstrap("a", "b", **options),
    "swaps": lambda **options: fb.approximate_randomization("a", "b", **options),
    "groups": lambda **options: fb.bootstrap("a", groups="g", **options),
    "ratio": lambda **options: fb.bootstrap(fb.ratio("a", "one"), **options),
}


@pytest.mark.parametrize("name", OVERFLOWING)
@pytest.mark.parametrize("signs", [(1,), (1, -1)], ids=["one sign", "infinities that cancel"])
@pytest.mark.filterwarnings("error")
def test_sums__overflow_is_refused_without_a_warning(
    name: str, signs: tuple[int, ...], tmp_path: Path
) -> None:
    """As in memory; with warnings as errors too it is the same error."""
    n_rows = 2 * BLOCK
    a = np.concatenate([sign * np.full(n_rows // len(signs), 1e308) for sign in signs])
    whole = of_columns(a=a, b=np.zeros(n_rows), one=np.ones(n_rows), g=np.arange(n_rows) // 3)
    pq.write_table(whole, tmp_path / "x.parquet")
    for data in (whole, tmp_path):
        with pytest.raises(ValueError, match=r"^the values sum to more than float64 can hold; div"):
            OVERFLOWING[name](data=data, n_resamples=9, rng=0)
