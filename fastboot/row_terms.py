"""From the rows of one block to the terms of all statistics: the part of a run that reads.

Everything here is small and can be sent to where the rows are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK
from fastboot.columns import Rows
from fastboot.extents import Extent, Reading
from fastboot.rendering import count
from fastboot.scanned import evaluated
from fastboot.statistics.additive import Additive, Term
from fastboot.statistics.bound import row_terms, weighed
from fastboot.units import Units, from_rows, one_part

__all__ = [
    "BlocksOfUnits",
    "DifferingUnits",
    "HeldUnits",
    "ReadUnits",
    "RowTerms",
    "check_weights",
    "of_columns",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RowTerms:
    """Computes the terms of all statistics for the rows of a block.

    Attributes
    ----------
    statistics
        That know what they must of the table.
    weighted
        The last column has the weights of the rows.
    """

    statistics: tuple[Additive, ...]
    weighted: bool

    def __call__(self, rows: Rows) -> list[Term]:
        """Return the terms of the first statistic, of the second, and so on; last the weights."""
        return [term for own in self.by_statistic(rows) for term in own]

    def by_statistic(self, rows: Rows) -> list[Sequence[Term]]:
        """Return the terms of each statistic, and behind them the weights, if there are any."""
        remaining = iter(rows.columns)
        columns = [[next(remaining) for _ in one.columns] for one in self.statistics]
        factors: Any = next(remaining) if self.weighted else None
        if factors is not None:
            check_weights(factors)
        terms = [
            weighed(row_terms(one, own, rows.n_rows), factors)
            for one, own in zip(self.statistics, columns, strict=True)
        ]
        return terms if factors is None else [*terms, [factors]]


def check_weights(factors: Any) -> None:
    """Refuse weights of rows below 0 or missing."""
    wrong = ~(factors >= 0.0)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"`weights` has {count(int(wrong.sum()), 'value')} below 0 or missing (first at row "
            f"{row:,}: {factors[row]:g}); weights are 0 or more"
        )


class BlocksOfUnits(Protocol):
    """Some consecutive blocks of units."""

    @property
    def n_bytes(self) -> int:
        """Bytes of files that are read for them."""

    @property
    def n_units(self) -> int:
        """Units in them."""

    def __iter__(self) -> Iterator[tuple[int, Units]]:
        """Yield the number of each block, and its units."""


@dataclass(frozen=True, eq=False)
class ReadUnits:
    """Units that are rows of a source.

    Attributes
    ----------
    reading, extent
        What is read, and where it lies.
    terms
        From rows to terms.
    drawn
        The terms asked for, by name.
    constants
        For each the value of all rows of the table, or None.
    """

    reading: Reading
    extent: Extent
    terms: RowTerms
    drawn: tuple[Any, ...]
    constants: tuple[float | None, ...]

    @property
    def n_bytes(self) -> int:
        """Bytes of files that are read for them."""
        return self.extent.n_bytes

    @property
    def n_units(self) -> int:
        """Units in them."""
        return self.extent.n_rows

    @property
    def shown(self) -> str:
        """What messages call them."""
        return self.extent.shown

    def __iter__(self) -> Iterator[tuple[int, Units]]:
        """Yield the number of each block, and its units."""
        for number, n_rows, own, _ in self.reading.blocks(self.extent, self.terms):
            terms = [spread(evaluated(one, own), n_rows) for one in self.drawn]
            yield number, from_rows(terms, one_part(n_rows), constants=self.constants)


def spread(term: Any, n_rows: int) -> Any:
    """Return a term with a number for each row: one that is constant in this block may vary."""
    return np.full(n_rows, term) if isinstance(term, float) else term


@dataclass(frozen=True, eq=False)
class DifferingUnits:
    """Rows of a source in which two systems differ, in blocks of their own.

    Attributes
    ----------
    first
        Number of the first block.
    rows
        All rows of the blocks in which they lie, from the first to the last.
    skip
        Rows that differ and come before.
    n_units
        How many there are.
    """

    first: int
    rows: ReadUnits
    skip: int
    n_units: int

    @property
    def n_bytes(self) -> int:
        """Bytes of files that are read for them."""
        return self.rows.n_bytes

    @property
    def shown(self) -> str:
        """What messages call them."""
        return self.rows.shown

    def __iter__(self) -> Iterator[tuple[int, Units]]:
        """Yield the number of each block, and its units.

        Raises
        ------
        ValueError
            Fewer rows differ than when they were counted.
        """
        waiting: list[Floats] = []
        n_waiting, number, skip, left = 0, self.first, self.skip, self.n_units
        for _, units in self.rows:
            start = skip
            own = units.varying[:, (units.varying != 0.0).any(axis=0)]
            skip = max(0, skip - own.shape[1])
            while left and start < own.shape[1]:
                some = own[:, start : start + min(left, BLOCK - n_waiting)]
                waiting.append(some)
                start += some.shape[1]
                n_waiting += some.shape[1]
                left -= some.shape[1]
                if n_waiting == BLOCK or not left:
                    yield number, of_columns(units, np.concatenate(waiting, axis=1))
                    waiting, n_waiting, number = [], 0, number + 1
        if left:
            raise ValueError(
                f"{self.shown} has {left:,} fewer rows in which the systems differ than before; "
                "`data` must not change while it is read"
            )


def of_columns(shape: Units, columns: Floats) -> Units:
    """Return units like others, with these terms, shape (n_sums, n_units)."""
    varying = np.ascontiguousarray(columns)
    varying.flags.writeable = False
    layout = one_part(columns.shape[1])
    return Units(varying, None, shape.places, shape.n_sums, None, layout)


@dataclass(frozen=True, eq=False)
class HeldUnits:
    """Units in memory, some blocks of them.

    Attributes
    ----------
    first
        Number of the first block.
    units
        Of each block.
    """

    first: int
    units: Sequence[Units]
    n_bytes: int = 0

    @property
    def n_units(self) -> int:
        """Units in them."""
        return sum(one.n_units for one in self.units)

    def __iter__(self) -> Iterator[tuple[int, Units]]:
        """Yield the number of each block, and its units."""
        return enumerate(self.units, self.first)
