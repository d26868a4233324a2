"""A first pass for statistics that must know the table before they look at rows.

They learn the labels there are, and where numbers lie. If all columns are labels, few of their rows
differ, and these are counted on the way: then all is known, and no other pass is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Labels, Rows
from fastboot.extents import Extent, Reading
from fastboot.passes import Scan
from fastboot.statistics.base import Statistic
from fastboot.statistics.moments import Summary, summary
from fastboot.tabulation import Tabulation

__all__ = ["Learned", "Learning", "learn"]

Integers = NDArray[np.int64]


class Learned(NamedTuple):
    """What is known of a table.

    columns : for each column what `Statistic.bind` takes in its place, None where it takes nothing
    rows, counts : its distinct rows in order of first appearance, and how often each is there; None
        where not all columns are labels, or too many rows differ
    """

    columns: list[Any]
    rows: Rows | None
    counts: Integers | None


@dataclass
class _Found:
    """What was learned of some rows.

    labels : of each label column, with their numbers in order of first appearance
    summaries : of each number column, block by block
    table : distinct rows by the numbers of their labels, -1 for none; None if not asked for
    """

    labels: dict[int, dict[Any, int]] = field(default_factory=dict)
    summaries: dict[int, list[Summary]] = field(default_factory=dict)
    table: Tabulation | None = None

    def numbered(self, place: int, column: Labels) -> Integers:
        """Return the numbers of the labels of a column; those that are new get the next ones."""
        known = self.labels.setdefault(place, {})
        numbers = [known.setdefault(label, len(known)) for label in column.values]
        return np.array([*numbers, -1])[column.codes]


@dataclass(frozen=True)
class Learning:
    """Summarises columns of one extent.

    Attributes
    ----------
    reading, extent
        What is read, and where it lies.
    tabulated
        Count distinct rows: all columns are labels.
    """

    reading: Reading
    extent: Extent
    tabulated: bool

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.extent.shown

    def __call__(self) -> _Found:
        """Read the extent."""
        found = _Found()
        counting = self.tabulated
        for block in self.reading.blocks(self.extent, _itself):
            codes = []
            for place, column in enumerate(block.made.columns):
                if isinstance(column, Labels):
                    codes.append(found.numbered(place, column))
                else:
                    assert isinstance(column, np.ndarray)
                    found.summaries.setdefault(place, []).append(summary(column))
            if counting:
                table = Tabulation.of(np.array(codes, dtype=np.float64))
                if table is not None and found.table is not None:
                    table = found.table.join(table)
                found.table = table
                counting = table is not None
        return found


def _itself(rows: Rows) -> Rows:
    return rows


def learn(scan: Scan, statistics: Sequence[Statistic]) -> Learned:
    """Return what statistics must know of their columns.

    Parameters
    ----------
    scan
        Reads their columns in this order, perhaps more behind them.
    statistics
        Which learn summaries, or nothing.
    """
    learning = [one.learns != "nothing" for one in statistics for _ in one.columns]
    known: list[Any] = [None] * len(learning)
    places = np.flatnonzero(learning).tolist()
    if not places:
        return Learned(known, None, None)
    reading = scan.reading
    every = reading.columns
    tabulated = reading.keys is None and all(one.role == "label" for one in every)
    # Rows to omit are told by all columns; else the others need not be read.
    columns = every if reading.omit or tabulated else tuple(every[place] for place in places)
    narrow = Reading(columns, None, reading.omit)
    parts = list(scan.each(lambda extent: Learning(narrow, extent, tabulated)))
    if not parts:  # there is no row
        return Learned(known, None, None)
    labels = [_labels(parts, place) for place in range(len(columns))]
    for place in places:
        own = columns.index(every[place])
        known[place] = (
            labels[own]
            if every[place].role == "label"
            else reduce(Summary.join, chain.from_iterable(part.summaries[own] for part in parts))
        )
    table = _joined(parts, labels) if tabulated else None
    if table is None:
        return Learned(known, None, None)
    codes = [_read_only(row.astype(np.int64)) for row in table.numbers]
    rows = tuple(Labels(own, label.values) for own, label in zip(codes, labels, strict=True))
    return Learned(known, Rows(rows, table.counts.size, 0), table.counts)


def _labels(parts: Sequence[_Found], place: int) -> Labels:
    """Return a column that has each label once."""
    every = dict.fromkeys(label for part in parts for label in part.labels.get(place, ()))
    return Labels(np.arange(len(every)), tuple(every))


def _joined(parts: Sequence[_Found], labels: Sequence[Labels]) -> Tabulation | None:
    """Join tables whose labels have numbers of their own."""
    whole: Tabulation | None = None
    for part in parts:
        if part.table is None:
            return None
        numbers = np.empty_like(part.table.numbers)
        for place, row in enumerate(part.table.numbers):
            number = {label: code for code, label in enumerate(labels[place].values)}
            translated = [number[label] for label in part.labels.get(place, ())]
            numbers[place] = np.array([*translated, -1])[row.astype(np.int64)]
        table = Tabulation(numbers, part.table.counts)
        whole = table if whole is None else whole.join(table)
        if whole is None:
            return None
    return whole


def _read_only(array: Integers) -> Integers:
    array.flags.writeable = False
    return array
