"""From what a survey found to the units that are drawn: groups, classes, or rows to read again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import TreeSum
from fastboot.grouping import Groups
from fastboot.precision import DOUBLE, epsilon_of
from fastboot.scanned import Scanned
from fastboot.statistics.additive import Tally
from fastboot.statistics.estimand import Estimand
from fastboot.sums import most_drawn_classes
from fastboot.survey import Findings, Wanted
from fastboot.tabulation import Tabulation
from fastboot.units import Constants, Place, Units, counted, from_rows, one_part

__all__ = ["KnownSums", "SurveyedUnits", "key_of_term", "of_table", "units_of_survey"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SurveyedUnits(Units):
    """Units that are read as they are drawn: all but their terms is known.

    Attributes
    ----------
    known
        Sums that vary, shape (n_sums, 1).
    constants
        Of each term that is drawn, or None.
    """

    known: Floats = field(kw_only=True)
    constants: tuple[float | None, ...] = field(kw_only=True)

    def sums(self) -> Floats:
        """Sums that vary, over all units."""
        return self.known


class KnownSums:
    """Sums of named terms over all rows."""

    def __init__(self, wanted: Wanted, found: Findings) -> None:
        self.n_rows = found.n_rows
        self._sums: dict[Any, Floats] = {}
        total, start = _total(found.sums), 0
        for term in wanted.summed:
            size = term.size if isinstance(term, Tally) else 1
            own = total[start : start + size]
            one = isinstance(term, Tally) and np.ndim(term.values) == 0
            self._sums[key_of_term(term)] = own * float(term.values) if one else own
            start += size
        self.sizes = dict(zip(wanted.sized, _total(found.sizes).tolist(), strict=True))
        self._digits = dict(zip(wanted.sized, found.digits.tolist(), strict=True))
        self.binary = dict(zip(wanted.sized, found.binary.tolist(), strict=True))

    def total(self, term: Any) -> Floats:
        """Sum of a term, shape (1,), or (size, 1) of a tally."""
        if isinstance(term, float):
            return np.array([self.n_rows * term])
        sums = self._sums[key_of_term(term)]
        return sums[:, None] if isinstance(term, Tally) else sums

    def size(self, term: Any) -> float:
        """Sum of absolute values over all rows; 0 of what is not asked."""
        if isinstance(term, float):
            return self.n_rows * abs(term)
        size = float(self.sizes.get(key_of_term(term), 0.0))
        if math.isinf(size):
            raise ValueError("the values sum to more than float64 can hold; divide them first")
        return size

    def coarseness(self, term: Any) -> float:
        """How many units of float64 the numbers were rounded to; 1 of what is not asked."""
        return epsilon_of(self._digits.get(key_of_term(term), 0)) / DOUBLE


def _total(nodes: Sequence[Any]) -> Floats:
    tree = TreeSum()
    tree.join(nodes)
    total: Floats = tree.total()
    return total


def key_of_term(term: Any) -> Any:
    """Return what tells a term from others: tallies hold arrays, which cannot."""
    return term.codes if isinstance(term, Tally) else term


def units_of_survey(
    target: Estimand, wanted: Wanted, found: Findings, groups: Groups | None, known: KnownSums,
    *, drawn_vary: bool = False,
) -> Units:  # fmt: skip
    """Return the units of an estimand."""
    terms = target.terms
    if groups is not None:
        return _of_groups(terms, wanted, groups, drawn_vary=drawn_vary)
    constants = _constants(terms, wanted, found, drawn_vary=drawn_vary)
    tallied = any(isinstance(term, Tally) for term in terms)
    most = most_drawn_classes(found.n_rows, tallied=tallied)
    if not wanted.swapped and found.table is not None:
        units = of_table(terms, constants, wanted, found.table, found.n_rows)
        if units.counts is not None and units.counts.size <= most:
            return units
    return _hollow(terms, constants, known)


def _of_groups(terms: Sequence[Any], wanted: Wanted, groups: Groups, *, drawn_vary: bool) -> Units:
    """Return groups as units."""
    arrays = wanted.arrays
    dense = [
        groups.sums[arrays.index(term)]
        if isinstance(term, Scanned)
        else np.asarray(term * groups.sizes, np.float64)
        for term in terms
        if not isinstance(term, Tally)
    ]
    units = from_rows(dense, one_part(groups.sizes.size), drawn_vary=drawn_vary)
    if groups.sparse is None:
        return units
    others = iter(units.places)
    places, n_sums = [], units.n_sums
    for term in terms:
        if isinstance(term, Tally):
            places.append(Place(n_sums, term.size, None))
            n_sums += term.size
        else:
            places.append(next(others))
    return replace(units, sparse=groups.sparse, places=tuple(places), n_sums=n_sums)


def _hollow(terms: Sequence[Any], constants: Constants, known: KnownSums) -> SurveyedUnits:
    """Return the units of rows that are yet to be read."""
    nothing = [
        Tally(np.empty(0, np.int64), term.size, term.values)
        if isinstance(term, Tally)
        else np.empty(0)
        for term in terms
    ]
    empty = from_rows(nothing, one_part(0), constants=constants)
    sums = [
        known.total(term)
        for term, constant in zip(terms, constants, strict=True)
        if constant is None
    ]
    dense = [total for total in sums if total.ndim == 1]
    tallies = [total[:, 0] for total in sums if total.ndim == 2]
    stacked = np.concatenate([np.empty(0), *dense, *tallies])[:, None]
    return SurveyedUnits(
        empty.varying, empty.sparse, empty.places, empty.n_sums, None, one_part(known.n_rows),
        known=stacked, constants=tuple(constants),
    )  # fmt: skip


def _constants(
    terms: Sequence[Any], wanted: Wanted, found: Findings, *, drawn_vary: bool
) -> Constants:
    """Return for each term the value of all rows, None where it varies (see `from_rows`)."""
    arrays = wanted.arrays
    constants: list[float | None] = []
    for term in terms:
        value: float | None = None
        if isinstance(term, float):
            value = term
        elif not isinstance(term, Tally) and found.constant[arrays.index(term)]:
            value = float(found.firsts[arrays.index(term)])
        constants.append(None if drawn_vary and value != 0.0 else value)
    return constants


def of_table(
    terms: Sequence[Any], constants: Constants, wanted: Wanted, table: Tabulation, n_units: int
) -> Units:
    """Return the classes of a table of distinct rows."""
    arrays = [term for term in wanted.drawn if isinstance(term, Scanned)]
    tallies = [key_of_term(term) for term in wanted.drawn if isinstance(term, Tally)]
    numbers = table.numbers

    def of(term: Any) -> Any:
        if isinstance(term, float):
            return np.full(table.counts.size, term)
        if isinstance(term, Scanned):
            return numbers[arrays.index(term)]
        row = len(arrays) + 2 * tallies.index(key_of_term(term))
        return Tally(numbers[row].astype(np.int64), term.size, numbers[row + 1])

    n_classes = table.counts.size
    listed = from_rows([of(term) for term in terms], one_part(n_classes), constants=constants)
    return counted(listed, table.counts, n_units)
