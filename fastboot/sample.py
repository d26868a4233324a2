"""From statistics and data to rows of terms and the groups they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Column, Keys, Source, load
from fastboot.statistics.additive import Additive, Term
from fastboot.statistics.estimand import terms_of
from fastboot.units import Units, from_rows

__all__ = ["Sample", "take"]

# With 20 units of normal data a percentile interval of level 0.95 covers with probability
# 2 T19(1.96 sqrt(19 / 20)) - 1 = 0.93, with 10 units 0.90, with 5 units 0.85.
_FEW_UNITS = 20


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, ready to be summed into units.

    Attributes
    ----------
    terms
        For each statistic, its terms.
    n_rows, n_dropped
        Rows used, and rows dropped for a missing value.
    groups
        Shape (n_rows,), codes of the groups; None where rows are the units.
    n_units
        Rows or groups.
    """

    terms: tuple[list[Term], ...]
    n_rows: int
    n_dropped: int
    groups: NDArray[np.int64] | None
    n_units: int

    @property
    def unit(self) -> str:
        """Name of what is resampled."""
        return "row" if self.groups is None else "group"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the sample."""
        remarks = []
        if self.n_units < _FEW_UNITS:
            remarks.append(
                f"only {self.n_units} {self.unit}{'s' if self.n_units > 1 else ''}: intervals "
                "and p-values from so few units are rough"
            )
        if self.n_dropped:
            remarks.append(f"{self.n_dropped:,} rows were dropped for a missing value")
        return tuple(remarks)

    def units(self, terms: Sequence[Term]) -> Units:
        """Return the units of some terms of these rows."""
        return from_rows(terms, self.n_rows, self.groups, self.n_units)

    def moves(self, differences: Sequence[Term]) -> Units:
        """Return the units of what swaps move: only what is 0 everywhere need not be drawn."""
        return from_rows(differences, self.n_rows, self.groups, self.n_units, only_zeros=True)


def take(
    statistics: Sequence[Additive],
    data: object,
    groups: Source | None,
    nan_policy: str,
    *,
    mixed: bool = False,
) -> Sample:
    """Load the columns that the statistics and the groups name, and compute the terms.

    Parameters
    ----------
    statistics, data, groups, nan_policy
        As in the procedures.
    mixed
        The statistics are one, of several systems, and rows will be swapped between these.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        See :func:`fastboot.columns.load`.
    """
    wanted = [column for statistic in statistics for column in statistic.columns]
    keys = [] if groups is None else [Column(groups, "key", "groups")]
    rows = load([*wanted, *keys], data, nan_policy)
    remaining = iter(rows.columns)
    systems = [[next(remaining) for _ in statistic.columns] for statistic in statistics]
    terms = tuple(
        terms_of(
            statistic.bind(systems if mixed else [own]),
            own,
            rows.n_rows,
            may_be_nan=nan_policy == "propagate",
        )
        for statistic, own in zip(statistics, systems, strict=True)
    )
    last = rows.columns[-1]
    if isinstance(last, Keys) and keys:
        return Sample(terms, rows.n_rows, rows.n_dropped, last.codes, last.n_groups)
    return Sample(terms, rows.n_rows, rows.n_dropped, None, rows.n_rows)
