"""Tables in many files, and answers to the last bit, for the tests of reading block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from sourced import write

import fastboot as fb

N_ROWS = 170_000  # two blocks and a part of a third
SEED = 20_261
OPTIONS: dict[str, Any] = {"rng": SEED, "n_resamples": 40}
Call = Callable[..., Any]


@cache
def table() -> pa.Table:
    """Return a table with a column of every kind."""
    rng = np.random.default_rng(SEED)
    n = N_ROWS
    a = rng.normal(size=n)
    b = 0.5 * a + rng.normal(size=n)
    gold = rng.integers(0, 5, n)
    labels = np.array(["cat", "dog", "eel", "fox", "gnu"])
    hole = a.copy()
    hole[rng.random(n) < 0.01] = np.nan
    few = a.copy()
    few[[5, 70_000, 70_001, 131_071, 131_072, 169_999]] += 1.0
    documents = rng.integers(0, 3_000, n)
    columns: dict[str, Any] = {
        "a": a,
        "b": b,
        "size": np.exp(a),
        "far": 1e9 + a,
        "far_b": 1e9 + b,
        "x": (rng.random(n) < 0.6).astype(np.int8),
        "y": (rng.random(n) < 0.5).astype(np.int64),
        "weight": rng.integers(0, 4, n) / 2.0,
        "gold": labels[gold],
        "said": labels[np.where(rng.random(n) < 0.7, gold, rng.integers(0, 5, n))],
        "told": labels[np.where(rng.random(n) < 0.6, gold, rng.integers(0, 5, n))],
        "chance": rng.random(n),
        "chance_b": np.round(rng.random(n), 2),
        "hole": pa.array(hole, mask=rng.random(n) < 0.01),
        "few": few,
        "one": np.full(n, 0.3),
        "split": labels[np.where(np.arange(n) < 100_000, 0, rng.integers(0, 5, n))],
        "document": np.char.add("document ", documents.astype(str)),
        "user": documents * 3 - 4_000,
        "time": documents / 7.0,
        "day": pa.array((documents % 900).astype(np.int32), pa.int32()).cast(pa.date32()),
        # A group lies in one row group or two.
        "chapter": np.arange(n) // 50,
    }
    for system in ("first", "second"):
        length = rng.integers(4, 30, n)
        for order in range(1, 5):
            columns[f"{system}_total_{order}"] = length - order + 1
            columns[f"{system}_correct_{order}"] = rng.binomial(length - order + 1, 0.9 / order)
    columns["reference_length"] = rng.integers(4, 30, n)
    return pa.table(columns)


class Partition(NamedTuple):
    """How a table lies in files.

    kind : a suffix, or "reader" for a function that opens a reader
    cuts : rows at which a new file begins; a file may be empty
    sizes : rows of the row groups or record batches of each file
    """

    kind: str
    cuts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = (N_ROWS,)

    def pieces(self, whole: pa.Table) -> Iterator[tuple[pa.Table, int]]:
        """Yield the rows of each file, and the size of its groups."""
        edges = zip((0, *self.cuts), (*self.cuts, len(whole)), strict=True)
        for number, (start, stop) in enumerate(edges):
            yield whole.slice(start, stop - start), self.sizes[number % len(self.sizes)]

    @contextmanager
    def written(self, whole: pa.Table) -> Iterator[Any]:
        """Write files that are there for a while, and say what `data` is."""
        if self.kind == "reader":
            batches = [
                batch
                for piece, size in self.pieces(whole)
                for batch in piece.to_batches(max_chunksize=size)
            ]
            yield lambda: pa.RecordBatchReader.from_batches(whole.schema, batches)
            return
        with TemporaryDirectory() as folder:
            for number, (piece, size) in enumerate(self.pieces(whole)):
                write(piece, Path(folder, f"{number}.{self.kind}"), size)
            yield folder


def partitions(kinds: tuple[str, ...], n_rows: int = N_ROWS) -> st.SearchStrategy[Partition]:
    """Draw partitions: any cuts, near the edges of blocks and others."""
    near = [0, 1, 65_535, 65_536, 65_537, 131_072, n_rows - 1, n_rows]
    row = st.sampled_from([row for row in near if row <= n_rows]) | st.integers(0, n_rows)
    size = st.sampled_from([1_009, 20_000, 32_768, 65_536, 65_537, 100_000, n_rows])
    return st.builds(
        Partition,
        st.sampled_from(kinds),
        st.lists(row, max_size=5).map(sorted).map(tuple),
        st.lists(size, min_size=1, max_size=3).map(tuple),
    )


def bits(answer: Any) -> Any:
    """Return an answer in a form that is equal where all bits are.

    What depends on the clock or on the call is left out, and what is said of reading.
    """
    if isinstance(answer, Mapping):
        found: Any = {key: bits(value) for key, value in answer.items()}
    elif isinstance(answer, np.ndarray):
        found = str(answer.dtype), answer.shape, answer.tobytes()
    elif isinstance(answer, float):
        found = answer.hex()
    elif isinstance(answer, tuple | list):
        found = [bits(one) for one in answer if not is_on_reading(one)]
    elif is_dataclass(answer):
        names = {one.name for one in fields(answer)} - {"elapsed", "again"}
        read_off = ("confidence_interval", "pvalue", "notes", "n_undefined", "min_pvalue")
        names.update(name for name in read_off if hasattr(answer, name))
        found = {name: bits(getattr(answer, name)) for name in names}
    else:
        found = answer
    return found


def is_on_reading(sentence: Any) -> bool:
    """Tell whether a note says how often data were read."""
    return isinstance(sentence, str) and "block by block" in sentence


def paths_of(answer: Any) -> set[str]:
    """Return the paths that ran."""
    if isinstance(answer, fb.Table):
        return {path for key in answer for path in paths_of(answer[key])}
    return {answer.path}
