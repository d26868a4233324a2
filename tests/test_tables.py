"""Tables of results: every figure is the result's own, whatever asks for it."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import json
import math
import pickle
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastboot as fb
from fastboot import intervals, rendering

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 5
N_RESAMPLES = 400
GOLD = list("aabbccabcaabcb")
A = list("aabbcacbcaabcc")
B = list("abbacacbcabbcb")
SITE = ["Oslo", "Lima"] * 7
YEAR = [2020, 2020, 2021, 2021] * 3 + [2020, 2021]
DATA: dict[str, Any] = {
    "gold": GOLD,
    "a": A,
    "b": B,
    "site": SITE,
    "year": YEAR,
    "score": np.arange(14.0) ** 2,
    # Of the slice "Lima" all ones, so that every replicate there is 1.
    "flag": [0.0, 1.0] * 7,
}
RECALL = {"average": None}

undefined = pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")


def bootstrap(statistic: Any, **options: Any) -> Any:
    """Bootstrap the data of this file."""
    return fb.bootstrap(statistic, data=DATA, rng=SEED, n_resamples=N_RESAMPLES, **options)


def mixed(system: str) -> dict[str, Any]:
    """Return statistics with one value and with several."""
    return {
        "score": fb.mean("score"),
        "recall": fb.recall("gold", system, average=None),
        "accuracy": fb.accuracy("gold", system),
    }


def paired(procedure: Any = fb.paired_bootstrap, **options: Any) -> Any:
    """Compare the two systems of this file."""
    return procedure(
        mixed("a"), mixed("b"), data=DATA, rng=SEED, n_resamples=N_RESAMPLES, **options
    )


TABLES: dict[str, Callable[[], Any]] = {
    "several": lambda: bootstrap({"score": fb.mean("score"), "acc": fb.accuracy("gold", "a")}),
    "classes": lambda: bootstrap(fb.recall("gold", "a", **RECALL)),
    "mixed": lambda: bootstrap(mixed("a")),
    "slices": lambda: bootstrap("score", by="site"),
    "slices of an array": lambda: bootstrap("score", by=SITE),
    "two columns": lambda: bootstrap("score", by=["site", "year"]),
    "everything": lambda: bootstrap(mixed("a"), by=["site", "year"]),
    "paired": paired,
    "paired, slices": lambda: paired(by="site"),
    "swaps": lambda: paired(fb.approximate_randomization),
    "swaps, slices": lambda: paired(fb.approximate_randomization, by="site"),
    "two samples, slices": lambda: fb.unpaired_bootstrap(
        mixed("a"), mixed("b"), data=(DATA, DATA), by="site", rng=SEED, n_resamples=N_RESAMPLES
    ),
    "relabelled": lambda: fb.permutation_test(
        mixed("a"), mixed("b"), data=(DATA, DATA), rng=SEED, n_resamples=N_RESAMPLES
    ),
}
every_table = pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)


# Keys


@undefined
@pytest.mark.parametrize(
    "name,axes,keys",
    [
        ("several", ("statistic",), ["score", "acc"]),
        ("classes", ("label",), ["a", "b", "c"]),
        (
            "mixed",
            ("statistic", "label"),
            ["score", ("recall", "a"), ("recall", "b"), ("recall", "c"), "accuracy"],
        ),
        ("slices", ("site",), ["Lima", "Oslo"]),
        ("slices of an array", ("by",), ["Lima", "Oslo"]),
        (
            "two columns",
            ("site", "year"),
            [("Lima", 2020), ("Lima", 2021), ("Oslo", 2020), ("Oslo", 2021)],
        ),
    ],
)
def test_keys(name: str, axes: tuple[str, ...], keys: list[Any]) -> None:
    """A key has a part for each axis, and is that part where there is one."""
    table = TABLES[name]()

    assert axes == table.axes
    assert keys == list(table)
    assert len(keys) == len(table)
    assert all(key in table for key in keys)


@undefined
def test_keys__statistics_classes_and_slices() -> None:
    """A statistic with one value has no label: neither in its key nor among the columns."""
    table = TABLES["everything"]()
    columns = table.to_columns()

    assert ("statistic", "label", "site", "year") == table.axes
    assert ("score", "Oslo", 2021) in table
    assert ("recall", "b", "Lima", 2020) in table
    assert (None, "Lima", 2020) == tuple(columns[axis][0] for axis in table.axes[1:])
    assert table.parts(("recall", "b", "Lima", 2020)) == ("recall", "b", "Lima", 2020)
    assert ["score", "recall", "accuracy"] == list(dict.fromkeys(columns["statistic"]))


@pytest.mark.parametrize(
    "by,axes",
    [
        (["site", YEAR], ("site", "by")),
        ([SITE, YEAR], ("by", "by_by")),
        (["label", "statistic"], ("by_label", "by_statistic")),
        (["estimate"], ("estimate",)),
    ],
)
def test_axes__names(by: list[Any], axes: tuple[str, ...]) -> None:
    """Slices are called by their column, and no two axes have one name."""
    data = DATA | {"label": SITE, "statistic": YEAR, "estimate": SITE}
    table: Any = fb.bootstrap("score", data=data, by=by, rng=SEED, n_resamples=20)

    assert axes == table.axes
    assert [axis if axis != "estimate" else "by_estimate" for axis in axes] == list(
        table.to_columns()
    )[: len(axes)]
    assert table.estimates.tolist() == table.to_columns()["estimate"]


@undefined
@pytest.mark.parametrize(
    "name,key,message",
    [
        ("slices", "Osol", "no answer for 'Osol'; a key is site, such as 'Oslo'"),
        ("slices", 3, "no answer for 3; a key is site, such as 'Lima', 'Oslo'"),
        (
            "mixed",
            "recall",
            (
                "no answer for 'recall'; a key is (statistic, label), such as "
                "('recall', 'a'), ('recall', 'b'), ('recall', 'c')"
            ),
        ),
        (
            "two columns",
            ("Oslo", "2020"),
            (
                "no answer for ('Oslo', '2020'); a key is (site, year), such as "
                "('Lima', 2020), ('Oslo', 2020), ('Oslo', 2021)"
            ),
        ),
        ("slices", ["Oslo"], "no answer for ['Oslo']; a key is site, such as 'Oslo'"),
        ("slices", ..., "no answer for Ellipsis; a key is site, such as 'Lima', 'Oslo'"),
    ],
)
def test_lookup__no_answer(name: str, key: Any, message: str) -> None:
    """The message shows what a key looks like, and those like the one asked for."""
    table = TABLES[name]()

    with pytest.raises(KeyError) as caught:
        table[key]
    assert (message,) == caught.value.args
    assert key not in table
    assert table.get(key) is None


def test_lookup__array() -> None:
    """An array is no key."""
    with pytest.raises(KeyError, match="no answer for array"):
        TABLES["slices"]()[np.array(["Oslo", "Lima"])]


# Figures


@undefined
@every_table
def test_figures__are_those_of_the_results(make: Callable[[], Any]) -> None:
    """To the last bit, in the order of the keys."""
    table = make()
    results = list(table.values())

    def own(name: str) -> list[Any]:
        return [getattr(result, name) for result in results]

    np.testing.assert_array_equal(table.replicates, own("replicates"))
    np.testing.assert_array_equal(table.estimates, own("estimate"))
    np.testing.assert_array_equal(table.standard_errors, own("standard_error"))
    np.testing.assert_array_equal(
        table.confidence_intervals, [result.confidence_interval[:2] for result in results]
    )
    np.testing.assert_array_equal(table.n_undefined, own("n_undefined"))
    assert {table.n_resamples} == set(own("n_resamples"))
    assert {SEED, table.seed} == {*own("seed")}
    columns = table.to_columns()
    for name in results[0].to_figures():
        np.testing.assert_array_equal(
            columns[name], [result.to_figures()[name] for result in results]
        )


@undefined
@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n_resamples", [1, 2, 500])
def test_intervals__whole_and_undefined_rows(
    method: str, alternative: str, n_resamples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some rows at a time or one by one, an interval is the same; so is a standard error."""
    monkeypatch.setattr("fastboot.tables._CHUNK", 2 * n_resamples)
    options: Any = {"method": method, "alternative": alternative, "n_resamples": n_resamples}
    rare = np.array([1.0] + [0.0] * 13)
    table: Any = fb.bootstrap(
        {
            "score": fb.mean("score"),
            "often undefined": fb.ratio("score", rare),
            "never defined": fb.ratio("score", np.zeros(14)),
            "constant": fb.mean(np.full(14, 0.7)),
            "flag": fb.mean("flag"),
        },
        data=DATA,
        rng=SEED,
        **options,
    )
    results = list(table.values())

    assert table["constant"].n_undefined == 0
    assert table["never defined"].n_undefined == n_resamples
    np.testing.assert_array_equal(
        table.confidence_intervals, [result.confidence_interval[:2] for result in results]
    )
    np.testing.assert_array_equal(
        table.standard_errors, [result.standard_error for result in results]
    )


def test_intervals__many_slices_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 slices take one call, not 300."""
    calls = []
    limits = intervals.limits

    def counted(*arguments: Any) -> Any:
        calls.append(len(arguments[0]))
        return limits(*arguments)

    values = np.random.default_rng(1).random(1_500)
    table: Any = fb.bootstrap(values, by=np.arange(1_500) % 300, rng=SEED, n_resamples=50)
    monkeypatch.setattr(intervals, "limits", counted)
    table.to_columns()

    assert 300 in calls
    assert sum(calls) <= 301  # one result says which figures there are


@every_table
@undefined
def test_arrays__read_only(make: Callable[[], Any]) -> None:
    """Nothing can be written by accident, before and after pickling."""
    table = make()
    names = ["replicates", "estimates", "standard_errors", "confidence_intervals", "n_undefined"]
    names += ["pvalues"] if hasattr(table, "pvalues") else []
    for name in names:
        getattr(table, name)
    for one in (table, pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):  # noqa: S301
        for name in names:
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[0] = 0.0
        with pytest.raises(ValueError, match="read-only"):
            next(iter(one.values())).replicates[0] = 0.0


@pytest.mark.parametrize("name", ["paired, slices", "swaps", "swaps, slices"])
@undefined
def test_pvalues(name: str) -> None:
    """Of a comparison: those of its results."""
    table = TABLES[name]()

    np.testing.assert_array_equal(table.pvalues, [result.pvalue for result in table.values()])
    assert table.pvalues.tolist() == table.to_columns()["pvalue"]


def test_pvalues__no_test() -> None:
    """A bootstrap of one system tests nothing, and says so."""
    table = TABLES["slices"]()

    assert not hasattr(table, "pvalues")
    with pytest.raises(AttributeError) as caught:
        table.pvalues  # noqa: B018
    assert str(caught.value) == (
        "a table of BootstrapResult has no p-values; compare two systems, such as with "
        "paired_bootstrap"
    )


def covariance_error(covariance: Any, pairs: Any) -> Any:
    """How far two computations of a covariance may lie apart.

    Each takes a sum of products and two sums for means. A sum of n products is off by n roundings
    of the sum of their sizes, at most (n - 1) s t for standard deviations s and t (Cauchy and
    Schwarz). So each is off by 3 n eps s t; 4 n has room for the other roundings.
    """
    deviations = np.sqrt(covariance.diagonal())
    n = N_RESAMPLES
    return 2 * 4 * n * np.finfo(float).eps * np.outer(deviations, deviations) * n / pairs


def test_covariance__of_the_replicates() -> None:
    """NumPy's, and on its diagonal the squared standard errors."""
    table = TABLES["several"]()
    expected = np.cov(table.replicates)
    error = covariance_error(expected, N_RESAMPLES)

    assert (np.abs(table.covariance() - expected) <= error).all()
    assert (
        np.abs(table.covariance().diagonal() - table.standard_errors**2) <= error.diagonal()
    ).all()
    assert np.array_equal(table.covariance(), table.covariance().T)


@undefined
def test_covariance__undefined_replicates() -> None:
    """Each two values over the replicates in which both are defined, as pandas does it."""
    data = DATA | {"gold": ["a"] * 12 + ["b", "c"]}
    table: Any = fb.bootstrap(
        {
            "recall": fb.recall("gold", "a", average=None),
            "never": fb.ratio("score", np.zeros(14)),
            "constant": fb.mean(np.full(14, 0.1)),
            "score": fb.mean("score"),
        },
        data=data, rng=SEED, n_resamples=N_RESAMPLES,
    )  # fmt: skip
    expected = pd.DataFrame(table.replicates.T).cov().to_numpy()
    found = table.covariance()
    there = ~np.isnan(table.replicates)
    pairs = there.astype(float) @ there.T
    defined = pairs > 1
    never, constant = (list(table).index(name) for name in ("never", "constant"))

    assert 0 < table["recall", "b"].n_undefined < N_RESAMPLES
    assert np.isnan(found[never]).all()
    assert np.array_equal(np.isnan(found), ~defined)
    assert set(found[constant][defined[constant]]) == {0.0}
    with np.errstate(divide="ignore"):
        error = covariance_error(expected, pairs)
    defined[constant] = defined[:, constant] = False  # not exactly 0 in pandas
    assert (np.abs(found - expected)[defined] <= error[defined]).all()


# Notes


@undefined
def test_notes__say_which_results() -> None:
    """All that the results say, each sentence once, with the keys it is about."""
    table: Any = bootstrap(
        {"score": fb.mean("score"), "flag": fb.mean("flag"), "c": fb.recall("gold", "a", **RECALL)},
        by="site", method="bca",
    )  # fmt: skip
    about = [(note, key) for note, keys in table.notes.items() for key in keys]

    assert sorted(about, key=str) == sorted(
        ((note, key) for key, result in table.items() for note in result.notes), key=str
    )
    degenerate = "degenerate: all replicates are equal, so they say nothing about the uncertainty"
    assert ("flag", "Lima") in table.notes[degenerate]
    assert any("BCa is undefined" in note for note in table.notes)
    assert any("are undefined and left out" in note for note in table.notes)


def test_notes__of_each_result() -> None:
    """Remarks stay with the results they are about."""
    table: Any = fb.bootstrap(
        np.arange(30.0), by=["few"] * 5 + ["many"] * 25, rng=SEED, n_resamples=50
    )

    assert table.notes == {
        "only 5 rows: intervals and p-values from so few units are rough": ("few",)
    }
    assert table["many"].notes == ()
    assert table["few"].notes == tuple(table.notes)


# What it is made into


@undefined
@every_table
def test_to_columns__data_frames(make: Callable[[], Any]) -> None:
    """Pandas, polars and Arrow take the columns as they are."""
    table = make()
    columns = table.to_columns()
    for frame in (
        pd.DataFrame(columns).to_dict("list"),
        pl.DataFrame(columns).to_dict(as_series=False),
        pa.table(columns).to_pydict(),
    ):
        assert list(columns) == list(frame)
        for name, values in columns.items():
            assert len(table) == len(frame[name])
            if name in table.axes:
                shown = [None if value != value else value for value in frame[name]]  # noqa: PLR0124
                assert values == shown
            else:
                np.testing.assert_array_equal(values, frame[name])
    assert {int, float} == {
        type(value) for name in table.to_columns() if name not in table.axes
        for value in columns[name]
    }  # fmt: skip


@undefined
@every_table
def test_to_json__strict(make: Callable[[], Any]) -> None:
    """Every figure and note, in JSON that any reader takes."""
    table = make()
    figures = json.loads(table.to_json(), parse_constant=pytest.fail)

    expected = [
        dict(zip(table.axes, table.parts(key), strict=True)) | result.to_figures()
        for key, result in table.items()
    ]
    np.testing.assert_equal(table.to_dict()["rows"], expected)
    assert len(table) == len(figures["rows"])
    assert figures["axes"] == list(table.axes)
    assert figures["of"] == type(next(iter(table.values()))).__name__
    for name in ("method", "alternative", "confidence_level", "unit", "n_dropped", "seed", "path"):
        assert figures[name] == getattr(next(iter(table.values())), name)
    assert list(table.notes) == [note["note"] for note in figures["notes"]]
    assert (figures["total"] is None) == (table.total is None)


def test_to_json__undefined() -> None:
    """What is undefined is NaN in the figures and null in JSON."""
    slices = [1, 2] * 3
    with pytest.warns(RuntimeWarning, match="undefined"):
        table = fb.bootstrap(
            fb.ratio([1.0] * 6, [0.0, 1.0] * 3), by=slices, rng=SEED, n_resamples=50
        )
    rows = json.loads(table.to_json())["rows"]

    assert [(1, None), (2, 1.0)] == [(row["by"], row["estimate"]) for row in rows]
    assert math.isnan(table.to_dict()["rows"][0]["estimate"])


def test_to_json__labels_of_ones_own() -> None:
    """NumPy's numbers become numbers, tuples lists, dates text."""
    labels = {"x": [np.int64(3), np.float64(np.nan), (1.5, "a"), dt.date(2026, 1, 2)]}

    assert rendering.to_json(labels) == '{"x": [3, null, [1.5, "a"], "2026-01-02"]}'


def test_equality__itself_only() -> None:
    """As a result, a table is equal to itself, and can be a key."""
    table, other = TABLES["slices"](), TABLES["slices"]()

    assert table == table  # noqa: PLR0124
    assert table != other
    assert {table: 1}[table] == 1


def test_frozen() -> None:
    """No attribute can be set."""
    table = TABLES["slices"]()
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.axes = ()
    with pytest.raises(TypeError, match="item assignment"):
        table["Oslo"] = None


@undefined
@every_table
def test_pickle_and_copy(make: Callable[[], Any]) -> None:
    """Nothing is lost."""
    table = make()
    for one in (pickle.loads(pickle.dumps(table)), copy.copy(table), copy.deepcopy(table)):  # noqa: S301
        assert list(table) == list(one)
        np.testing.assert_array_equal(table.replicates, one.replicates)
        np.testing.assert_equal(table.to_dict(), one.to_dict())
        assert repr(table) == repr(one)


# What people see


def exact(by: Any = SITE, **options: Any) -> Any:
    """Return a table with figures that no rounding of sums can change."""
    values = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0] * 2 + [1.0, 0.0])
    return fb.bootstrap(
        {"share": fb.mean(values), "total": fb.total(np.full(14, 25_000.0))},
        by=by, rng=0, n_resamples=99, **options,
    )  # fmt: skip


def test_repr() -> None:
    """Aligned, without columns that say nothing, the whole and the notes below."""
    assert (
        repr(exact())
        == """\
BootstrapResult table: 4 results, 95% percentile bootstrap intervals, 99 resamples, seed 0
statistic  by        estimate  standard_error      low     high  n_rows
share      Lima             0               0        0        0       7
share      Oslo         1.000               0    1.000    1.000       7
total      Lima       175,000               0  175,000  175,000       7
total      Oslo       175,000               0  175,000  175,000       7
share      all rows    0.5000          0.1480   0.2464   0.7857      14
total      all rows   350,000               0  350,000  350,000      14
note: only 7 rows: intervals and p-values from so few units are rough
note: degenerate: all replicates are equal, so they say nothing about the uncertainty"""
    )


def test_repr__undefined_and_groups() -> None:
    """Columns of units and of undefined replicates appear where they say something."""
    with pytest.warns(RuntimeWarning, match="undefined"):
        table = fb.bootstrap(
            {"x": fb.ratio([1.0] * 40, [1.0] + [0.0] * 39)}, groups=np.arange(40) // 2, rng=0
        )
    head, row = repr(table).splitlines()[1:3]

    assert head.split()[-3:] == ["n_rows", "n_units", "n_undefined"]
    assert row.split()[-3:] == ["40", "20", f"{table['x'].n_undefined:,}"]


def test_repr__elided() -> None:
    """Twenty rows, and how many there are; the whole is not left out."""
    lines = repr(fb.bootstrap(np.arange(90.0), by=np.arange(90) % 30, rng=0, n_resamples=20))
    rows = lines.splitlines()

    assert rows[0].startswith("BootstrapResult table: 30 results, ")
    assert rows[21].startswith("19 ")
    assert rows[22] == "... 10 more rows"
    assert rows[23].startswith("all rows ")
    assert rows[24] == "note: only 3 rows: intervals and p-values from so few units are rough"
    assert len(rows) == 25


def test_repr__labels_of_any_kind() -> None:
    """Long, wide and unprintable labels keep the columns in line, a row a line."""
    labels = ["x" * 31, "東京", "e\u0301", "two\nlines", "plain"]
    table = fb.bootstrap(np.arange(10.0), by=labels * 2, rng=0, n_resamples=20)
    lines = repr(table).splitlines()[1:7]
    width = re.compile(r"\s+estimate").search(lines[0])
    assert width is not None
    shown = {line.split("  ")[0]: rendering._width(line) for line in lines}

    assert set(shown) == {"by", f"{'x' * 27}...", "東京", "e\u0301", r"'two\nlines'", "plain"}
    assert len(set(shown.values())) == 1
    assert rendering._width("東京") == 4
    assert rendering._width("e\u0301") == 1


@undefined
@every_table
def test_repr__every_kind(make: Callable[[], Any]) -> None:
    """Each line of numbers ends in one column; each result has its line."""
    table = make()
    lines = repr(table).splitlines()
    n_total = 0 if table.total is None else len(getattr(table.total, "axes", (0,)))
    body = [line for line in lines[1:] if not line.startswith(("note: ", "... "))]

    assert len({len(line) for line in body}) == 1
    assert len(body) >= 1 + min(20, len(table)) + n_total


def test_html__a_table() -> None:
    """Well-formed, escaped, the same cells as the text."""
    table = exact(by=["<Oslo>", "Lima & co"] * 7)
    tree = ET.fromstring(f"<div>{table._repr_html_()}</div>")  # noqa: S314 # our own
    rows = [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]
    text = repr(table).splitlines()

    assert [" ".join(row).split() for row in rows[1:]] == [line.split() for line in text[2:8]]
    assert rows[0] == [
        "statistic", "by", "estimate", "standard error", "low", "high", "n rows",
    ]  # fmt: skip
    assert tree.findtext("table/caption") == text[0]
    assert len(tree.findall("table/tbody/tr")) == 4
    assert len(tree.findall("table/tfoot/tr")) == 2
    assert [item.text for item in tree.iter("li")] == [
        line.removeprefix("note: ") for line in text[8:]
    ]
    assert "<Oslo>" not in table._repr_html_()


def test_html__elided() -> None:
    """The row of what is left out spans the table."""
    table: Any = fb.bootstrap(np.arange(90.0), by=np.arange(90) % 30, rng=0, n_resamples=20)
    tree = ET.fromstring(f"<div>{table._repr_html_()}</div>")  # noqa: S314 # our own
    rows = list(tree.iter("tr"))

    assert rows[21][0].text == "... 10 more rows"
    assert rows[21][0].attrib["colspan"] == str(len(rows[0]))


@pytest.mark.parametrize(
    "value,shown",
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.5, "0.5000"),
        (-0.0123456, "-0.01235"),
        (999.9, "999.9"),
        (1_234.5, "1,234"),
        (-98_765.4, "-98,765"),
        (3e9, "3e+09"),
        (1e-9, "1.000e-09"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (12_345, "12,345"),
    ],
)
def test_cell(value: float, shown: str) -> None:
    """Four digits, and all before the point where that is shorter."""
    assert shown == rendering.cell(value)


def test_note_lines() -> None:
    """Notes that differ in numbers are one, with their range; keys are shown as they are looked up.

    A note about all results names none.
    """
    notes: dict[str, list[Any]] = {
        "only 5 rows: rough": [("x", 1)],
        "only 12 rows: rough": [("y", 2), ("x" * 40, 3)],
        "1,000 of 9,999 undefined": ["p", "q"],
        "20 of 9,999 undefined": ["r", "s", "t"],
        "dropped 3": list(range(9)),
    }

    assert rendering.note_lines(notes, 9) == [
        f"only 5 to 12 rows: rough [('x', 1), ('y', 2), ('{'x' * 26}..., 3)]",
        "20 to 1,000 of 9,999 undefined ['p', 'q', 'r' and 2 more]",
        "dropped 3",
    ]


# Sentences


def test_summary__several() -> None:
    """Names, estimates, intervals; how they were made, once."""
    table = fb.bootstrap({"x": [3, 1, 2, 4], "y": [20_000.0] * 4}, rng=0, n_resamples=999)

    assert table.summary() == (
        f"x 2.5 [{table['x'].confidence_interval.low:g}, "
        f"{table['x'].confidence_interval.high:g}]; y 20,000 [20,000, 20,000] "
        "(95% percentile bootstrap intervals, 4 rows, 999 resamples, seed 0)."
    )


@undefined
def test_summary__comparisons_of_slices() -> None:
    """Slices with their size, the whole, the test, and that nothing was adjusted."""
    table = paired(by="site")
    words = table.summary()
    one = table["recall", "b", "Oslo"]
    low, high = one.confidence_interval[:2]

    assert (
        f"recall[b] (site Oslo, 7 rows) {one.estimate:.4g} [{low:.4g}, {high:.4g}], "
        f"p = {one.pvalue:.3g}; "
    ) in words
    assert "; all rows (14 rows): score 0 [0, 0], p = 1; recall[a] " in words
    assert words.endswith(
        " (differences a - b, 95% percentile bootstrap intervals, two-sided paired bootstrap "
        "(shift) p = (n_extreme + 1) / (n_resamples + 1), not adjusted for 10 tests, each slice "
        "resampled on its own, 400 resamples, seed 5, 306 undefined replicates left out)."
    )


def test_summary__undefined_and_many() -> None:
    """Undefined values are said to be; beyond twenty a number stands for the rest."""
    denominator = np.where(np.arange(90) % 30 == 1, 0.0, 1.0)
    with pytest.warns(RuntimeWarning, match="undefined"):
        table = fb.bootstrap(
            fb.ratio(np.ones(90), denominator), by=np.arange(90) % 30, rng=0, n_resamples=20
        )

    assert "; ratio (1, 3 rows) undefined; ratio (2, 3 rows) 1 [1, 1]; " in table.summary()
    assert "; and 10 more; all rows (90 rows): ratio " in table.summary()


# What may be asked for


@pytest.mark.parametrize(
    "asked,error,message",
    [
        ({}, ValueError, "`statistic` is empty; give at least one statistic"),
        ([], ValueError, "`statistic` is empty; give at least one row."),
        (
            [fb.mean("score"), "score"],
            TypeError,
            (
                "`statistic` is a list of statistics but holds 'score' at place 1; give statistics "
                "only, such as fb.mean('score')"
            ),
        ),
        (
            [list(range(1_000)), fb.mean("score")],
            TypeError,
            (
                "`statistic` is a list of statistics but holds [0, 1, 2, 3, 4, 5, ...] at place 0; "
                "give statistics only, such as fb.mean('score')"
            ),
        ),
        (
            [fb.mean("score"), fb.mean("flag")],
            ValueError,
            (
                "`statistic` has two statistics called 'mean'; give a dict, whose keys tell them "
                "apart"
            ),
        ),
        (
            {"x": {"y": fb.mean("score")}},
            TypeError,
            (
                "`statistic['x']` is a dict; give the name of a column of data=, or the values as "
                "an array, a series or a list."
            ),
        ),
        (
            {("x", 1): fb.mean("score")},
            TypeError,
            "`statistic` calls a statistic ('x', 1); names are strings or numbers",
        ),
        (
            {None: fb.mean("score")},
            TypeError,
            "`statistic` calls a statistic None; names are strings or numbers",
        ),
    ],
)
def test_ask__refused(asked: Any, error: type[Exception], message: str) -> None:
    """What cannot be answered is refused by name."""
    with pytest.raises(error) as caught:
        fb.bootstrap(asked, data=DATA)
    assert message == str(caught.value)


@pytest.mark.parametrize(
    "asked,keys",
    [
        ({0.1: fb.quantile("score", 0.1), 0.9: fb.quantile("score", 0.9)}, [0.1, 0.9]),
        ({1: "score", "1": "flag"}, [1, "1"]),
        ({"array": np.arange(14.0), "list": list(range(14)), "column": "score"},
         ["array", "list", "column"]),
        ((fb.mean("score"), fb.total("score")), ["mean", "total"]),
        ({"": "score"}, [""]),
    ],
)  # fmt: skip
def test_ask__names(asked: Any, keys: list[Any]) -> None:
    """A dict's keys are the table's; a value may be whatever a statistic may be."""
    table = bootstrap(asked)

    assert keys == list(table)
    for key in keys:
        assert table[key].n_rows == 14


@pytest.mark.parametrize(
    "a,b,message",
    [
        (
            fb.recall("gold", "a", **RECALL),
            fb.mean("score"),
            (
                "`a` has values for ['a', 'b', 'c'] (recall(average=None)) but `b` has one value "
                "(mean); a comparison needs the same values of both"
            ),
        ),
        (
            {"x": fb.mean("score")},
            {"x": fb.recall("gold", "b", **RECALL)},
            (
                "`a` has one value (mean) but `b` has values for ['a', 'b', 'c'] "
                "(recall(average=None)); a comparison needs the same values of both"
            ),
        ),
        (
            {"x": "score", "y": "flag"},
            {"y": "score", "x": "flag"},
            (
                "`a` asks for 'x', 'y' but `b` for 'y', 'x'; both systems need the same "
                "statistics, by the same names and in the same order"
            ),
        ),
        (
            {"x": "score"},
            "flag",
            (
                "`a` asks for 'x' but `b` for one statistic; both systems need the same "
                "statistics, by the same names and in the same order"
            ),
        ),
    ],
)
def test_ask__pairs_that_do_not_match(a: Any, b: Any, message: str) -> None:
    """Two systems, or samples, are asked for the same values."""
    for compare in (fb.paired_bootstrap, fb.unpaired_bootstrap):
        with pytest.raises(ValueError, match="both") as caught:
            compare(a, b, data=DATA if compare is fb.paired_bootstrap else (DATA, DATA))
        assert message == str(caught.value)


@pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")
def test_warning__names_the_statistics() -> None:
    """With several statistics the one warning says which are undefined, and how often."""
    gold, predicted = [1, 0, 0, 0, 1], [1, 0, 0, 0, 0]
    asked = {"p": fb.precision(gold, predicted), "mean": fb.mean([1.0, 2.0, 3.0, 4.0, 5.0])}
    with pytest.warns(RuntimeWarning) as caught:
        found = fb.bootstrap(asked, n_resamples=100, rng=0)
    n_undefined = found["p"].n_undefined
    assert n_undefined > 0
    assert len(caught) == 1
    assert str(caught[0].message).startswith(
        f"the statistic is undefined in {n_undefined} of 100 replicates of precision; they are NaN"
    )
