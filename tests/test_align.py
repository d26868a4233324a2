"""Pairing by id: every type of id, any order of rows, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import fastboot as fb
from fastboot.align import align

LEFT = {"id": ["q1", "q2", "q3"], "score": [0.2, 0.5, 0.9]}
RIGHT = {"id": ["q3", "q1", "q2"], "score": [0.8, 0.1, 0.4]}

STRINGS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "numpy": np.array,
    "numpy objects": lambda ids: np.array(ids, object),
    "string": pa.array,
    "large_string": lambda ids: pa.array(ids, pa.large_string()),
    "string_view": lambda ids: pa.array(ids, pa.string_view()),
    "dictionary": lambda ids: pa.array(ids).dictionary_encode(),
    "dictionary of views": lambda ids: pa.DictionaryArray.from_arrays(
        pa.array([1, 0], pa.int8()), pa.array(ids[::-1], pa.string_view())
    ),
    "chunks": lambda ids: pa.chunked_array([[one] for one in ids]),
    "chunks of dictionaries": lambda ids: pa.chunked_array(
        [pa.array([one]).dictionary_encode() for one in ids]
    ),
    "slice": lambda ids: pa.array(["x", *ids, "y"]).slice(1, 2),
    "runs": lambda ids: pa.RunEndEncodedArray.from_arrays(pa.array([1, 2]), pa.array(ids)),
    "pandas": pd.Series,
    "pandas category": lambda ids: pd.Series(ids, dtype="category"),
    "polars": pl.Series,
    "polars category": lambda ids: pl.Series(ids, dtype=pl.Categorical),
    "polars enum": lambda ids: pl.Series(ids, dtype=pl.Enum(["q2", "q1"])),
}
INTEGERS: dict[str, Callable[[list[int]], Any]] = {
    "list": list,
    "big endian": lambda ids: np.array(ids, ">i4"),
    "int8": lambda ids: pa.array(ids, pa.int8()),
    "int32": lambda ids: pa.array(ids, pa.int32()),
    "int64": lambda ids: pa.array(ids, pa.int64()),
    "uint8": lambda ids: pa.array(ids, pa.uint8()),
    "uint64": lambda ids: pa.array(ids, pa.uint64()),
    "dictionary": lambda ids: pa.array(ids).dictionary_encode(),
    "pandas": pd.Series,
    "pandas nullable": lambda ids: pd.Series(ids, dtype="Int16"),
    "polars": pl.Series,
}


def refuses(message: str) -> Any:
    """Return the context in which exactly this sentence must be raised."""
    return pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$")


@pytest.mark.parametrize("kind_a", STRINGS)
@pytest.mark.parametrize("kind_b", STRINGS)
def test_align__strings(kind_a: str, kind_b: str) -> None:
    """Equal ids meet whatever holds them (case 54)."""
    left = {"id": STRINGS[kind_a](["q1", "q2"]), "a": [1, 2]}
    right = {"id": STRINGS[kind_b](["q2", "q1"]), "b": [3, 4]}
    table = align(left, right).table
    assert table.to_pydict() == {"id": ["q1", "q2"], "a": [1, 2], "b": [4, 3]}


@pytest.mark.parametrize("kind_a", INTEGERS)
@pytest.mark.parametrize("kind_b", INTEGERS)
def test_align__integers(kind_a: str, kind_b: str) -> None:
    """Equal integers meet whatever their width and sign."""
    left = {"id": INTEGERS[kind_a]([7, 100]), "a": [1, 2]}
    right = {"id": INTEGERS[kind_b]([100, 7]), "b": [3, 4]}
    table = align(left, right).table
    assert table.to_pydict() == {"id": [7, 100], "a": [1, 2], "b": [4, 3]}


def test_align__large_integers() -> None:
    """No id passes through float64, and no sign is lost."""
    left = {"id": pa.array([2**64 - 1, 2**63, 2**53 + 1], pa.uint64()), "a": [1, 2, 3]}
    right = {"id": pa.array([-1, 2**53, 2**53 + 1], pa.int64()), "b": [4, 5, 6]}
    both = align(left, right, how="inner")
    assert both.table.to_pydict() == {"id": [2**53 + 1], "a": [3], "b": [6]}
    assert (both.n_dropped_left, both.n_dropped_right) == (2, 2)


def test_align__pairs_by_id() -> None:
    """Row order does not matter: three differences of 0.1, p = 2/8 (case 32)."""
    both = align(LEFT, RIGHT)
    assert both.table.to_pydict() == {
        "id": ["q1", "q2", "q3"],
        "score_left": [0.2, 0.5, 0.9],
        "score_right": [0.1, 0.4, 0.8],
    }
    result = fb.approximate_randomization("score_left", "score_right", data=both)
    assert (result.pvalue, result.path) == (0.25, "enumeration")
    # The difference of the means has the rounding of its tenths.
    assert result.estimate == pytest.approx(0.1, abs=2.0**-52)
    assert repr(both) == (
        "Aligned(3 items, dropped 0 of left and 0 of right: id, score_left, score_right)"
    )


@pytest.mark.parametrize("seed", range(5))
def test_align__order_of_rows(seed: int) -> None:
    """Shuffled tables give the same pairs, in the order of the left one."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"item {i}" for i in range(500)])
    left, right = rng.permutation(500), rng.permutation(500)
    both = align({"id": ids[left], "x": left}, {"id": ids[right], "y": right}).table
    assert both["id"].to_pylist() == ids[left].tolist()
    assert both["x"].to_pylist() == both["y"].to_pylist() == left.tolist()


def test_align__unmatched() -> None:
    """An id without a partner is an error, or a dropped row that is counted (case 32)."""
    left = {"id": ["q1", "q9", "q2", "q8"], "score": [1, 2, 3, 4]}
    right = {"id": ["q2", "q7", "q1"], "score": [5, 6, 7]}
    with refuses(
        "2 ids of `left` not in `right` ('q9', 'q8') and 1 id of `right` not in `left` ('q7') in "
        "'id'; pass how=\"inner\" to drop and count them, or mend the ids"
    ):
        align(left, right)
    both = align(left, right, how="inner")
    assert both.table.to_pydict() == {
        "id": ["q1", "q2"],
        "score_left": [1, 3],
        "score_right": [7, 5],
    }
    assert (both.n_dropped_left, both.n_dropped_right) == (2, 1)
    assert repr(both).startswith("Aligned(2 items, dropped 2 of left and 1 of right: ")


def test_align__many_unmatched() -> None:
    """A few ids are shown; none in common is an error in any case."""
    left, right = {"id": np.arange(1_500)}, {"id": np.arange(1, 8)}
    with refuses(
        "1,493 ids of `left` not in `right` (0, 8, 9, 10, 11, ...) in 'id'; pass how=\"inner\" to "
        "drop and count them, or mend the ids"
    ):
        align(left, right)
    with refuses("no id of `left` is in `right`, which have 'q1', 'q2', 'q3' and 'Q1' in 'id'"):
        align(LEFT, {"id": ["Q1"]}, how="inner")


@pytest.mark.parametrize("how", ["raise", "inner"])
def test_align__duplicates(how: str) -> None:
    """A repeated id is refused by name, in either table (case 32)."""
    twice = {"id": ["q1", "q2", "q1"], "score": [1, 2, 3]}
    message = "`{}` has 1 id in several rows of 'id': 'q1' (rows 0 and 2); give one row per item"
    with refuses(message.format("left")):
        align(twice, RIGHT, how=how)
    with refuses(message.format("right")):
        align(LEFT, twice, how=how)
    with refuses(
        "`right` has 2 ids in several rows of 'id': 3, 5 (rows 1 and 2); give one row per item"
    ):
        align({"id": [3, 5]}, {"id": [4, 3, 3, 5, 5, 5]}, how=how)


def test_align__names() -> None:
    """Names in both tables get suffixes; others stay; the ids stand first."""
    left = pa.table({"score": [1, 2], "n": [3, 4], "item": ["a", "b"]})
    right = pa.table({"item": ["b", "a"], "score": [5, 6], "text": ["u", "v"]})
    both = align(left, right, on="item", suffixes=("_a", "_b")).table
    assert both.to_pydict() == {
        "item": ["a", "b"],
        "score_a": [1, 2],
        "n": [3, 4],
        "score_b": [6, 5],
        "text": ["v", "u"],
    }
    assert align(left, right, on="item", suffixes=("", "_b")).table.column_names == [
        "item", "score", "n", "score_b", "text",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "left, right, suffixes, name",
    [
        (LEFT | {"score_left": [1, 2, 3]}, RIGHT, ("_left", "_right"), "score_left"),
        (LEFT | {"score_right": [1, 2, 3]}, RIGHT, ("_left", "_right"), "score_right"),
        (LEFT, RIGHT, ("_a", "_a"), "score_a"),
    ],
)
def test_align__names_that_collide(left: Any, right: Any, suffixes: Any, name: str) -> None:
    """No column is overwritten."""
    with refuses(
        f"two columns would be called {name!r} with suffixes={suffixes!r}; choose other suffixes"
    ):
        align(left, right, suffixes=suffixes)


def test_align__sources(tmp_path: Path) -> None:
    """Tables in memory, streams and files; nulls and nested columns travel along."""
    expected = align(LEFT, RIGHT).table.to_pydict()
    path = tmp_path / "right.parquet"
    parquet.write_table(pa.table(RIGHT), path)
    sources = (
        pd.DataFrame(RIGHT), pl.DataFrame(RIGHT), pa.table(RIGHT).to_reader(), path, tmp_path,
    )  # fmt: skip
    for right in sources:
        assert align(pa.table(LEFT), right).table.to_pydict() == expected
    extra = {"id": ["q3", "q2", "q1"], "tags": [["x"], None, []], "at": [None, 2.0, 3.0]}
    assert align(LEFT, extra).table.select(["tags", "at"]).to_pydict() == {
        "tags": [[], None, ["x"]],
        "at": [3.0, 2.0, None],
    }


def test_align__inputs_unchanged() -> None:
    """The caller's memory is never written."""
    left, right = pa.table(LEFT), pa.table(RIGHT)
    align(left, right)
    assert (left, right) == (pa.table(LEFT), pa.table(RIGHT))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"on": ["id"]}, "`on` is ['id']; give the name of the column of ids"),
        ({"on": "item"}, "`on`: no column 'item' in `left`; there are: id, score"),
        ({"how": "outer"}, "how='outer'; choose \"raise\" or \"inner\""),
        ({"suffixes": "ab"}, "`suffixes` is 'ab'; give two strings, such as (\"_a\", \"_b\")"),
        ({"suffixes": ("_a", 1)},
         "`suffixes` is ('_a', 1); give two strings, such as (\"_a\", \"_b\")"),
        ({"suffixes": ("_a",)},
         "`suffixes` is ('_a',); give two strings, such as (\"_a\", \"_b\")"),
    ],
)  # fmt: skip
def test_align__options(options: dict[str, Any], message: str) -> None:
    """What cannot be done is refused by name."""
    with refuses(message):
        align(LEFT, RIGHT, **options)


@pytest.mark.parametrize(
    "right, message",
    [
        ({"id": ["q3", None, None]},
         "`right` has 2 nulls in 'id' (first at row 1); every row needs an id"),
        ({"id": [0.5, 1.5]},
         "`right` has values of type double in 'id'; an id must be a string or an integer"),
        ({"id": [True]},
         "`right` has values of type bool in 'id'; an id must be a string or an integer"),
        ({"id": [1, 2, 3]}, ("`left` has strings but `right` has integers in 'id' (such as 'q1' "
         "and 1); ids must be of one kind")),
        ({"id": []}, "`right` is empty; give at least one row"),
        ({"id": ["q1"], "b": [1, 2]},
         "`right` has 1 row in 'id' but 2 in 'b'; all columns need one row per item"),
        (pa.table([["q1"], [1], [2]], ["id", "b", "b"]),
         "`right` has 2 columns called 'b'; rename them"),
        ({"item": ["q1"]}, "`on`: no column 'id' in `right`; there are: item"),
    ],
)  # fmt: skip
def test_align__tables(right: Any, message: str) -> None:
    """A table that cannot be paired is refused, with the reason."""
    with refuses(message):
        align(LEFT, right)


def test_align__no_table(tmp_path: Path) -> None:
    """Messages of the reader are about the table that was given."""
    with pytest.raises(TypeError, match=r"^`right` is a int; give an Arrow table, reader or"):
        align(LEFT, 3)
    with pytest.raises(ValueError, match=r"^left='scores.doc' has no suffix that fastboot reads"):
        align("scores.doc", RIGHT)
    with pytest.raises(FileNotFoundError, match=r"^right='data=1.csv': there is no such file"):
        align(LEFT, "data=1.csv")
    with pytest.raises(FileNotFoundError, match=r"^right='.*': there is no file in this folder"):
        align(LEFT, tmp_path)
    parquet.write_table(pa.table(RIGHT), tmp_path / "right.parquet")
    with pytest.raises(ValueError, match=r"^`right` names the file '.*right.parquet' twice; its"):
        align(LEFT, [tmp_path, tmp_path / "right.parquet"])
    broken = tmp_path / "broken.parquet"
    broken.write_text("no")
    with pytest.raises(ValueError, match=r"^right='.*broken.parquet' cannot be read: "):
        align(LEFT, str(broken))
    with pytest.raises(TypeError, match=r"^`right` column 'b' cannot be read: "):
        align(LEFT, {"id": ["q1", "q2", "q3"], "b": [1, "x", []]})
    with pytest.raises(TypeError, match=r"^`right` column 'b' cannot be read: "):
        align(LEFT, {"id": ["q1", "q2", "q3"], "b": 3})
