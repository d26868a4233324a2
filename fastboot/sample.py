"""From statistics and data to bound statistics, rows and the units they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import words
from fastboot.columns import Column, Source, load
from fastboot.designs import Arrangement, Design, Slices
from fastboot.rendering import count
from fastboot.row_terms import check_weights
from fastboot.statistics.base import Statistic, Vector
from fastboot.statistics.bound import Bound, apart, bound
from fastboot.statistics.copies import Drawn
from fastboot.statistics.estimand import Estimand, Question, estimand
from fastboot.totals import totals_of
from fastboot.units import Term

__all__ = ["Sample", "factors_of", "few_units", "measured_alike", "of_drawn", "take"]

Floats = NDArray[np.float64]

# With 20 units of normal data a percentile interval of level 0.95 covers with probability
# 2 T19(1.96 sqrt(19 / 20)) - 1 = 0.93, with 10 units 0.90, with 5 units 0.85.
_FEW_UNITS = 20


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, bound to statistics, ready to be summed into units.

    Attributes
    ----------
    bounds
        The statistics, in the order given.
    n_rows, n_dropped
        Rows used, and rows dropped for a missing value.
    factors
        Weights of the rows, shape (n_rows,), or None.
    slices
        Rows that have an answer of their own; None without `by`.
    weights
        What the column of the weights is called; empty without.
    """

    bounds: tuple[Bound, ...]
    n_rows: int
    n_dropped: int
    factors: Floats | None
    slices: Slices | None
    design: Design
    _keys: tuple[Any, ...]
    weights: str = ""
    # Of rows that are not in memory, see fastboot.keeping.
    digest: Any = None

    @property
    def options(self) -> dict[str, str]:
        """What was asked for, by the names of arguments."""
        return self.design.options | ({"weights": self.weights} if self.weights else {})

    def words(self, blocks: str) -> str:
        """Return what a sentence says of the design; see :meth:`Design.words`."""
        known = "" if self.weights in {"", "values"} else f" by {self.weights}"
        weighted = f"rows weighted{known}" if self.weights else ""
        return ", ".join(filter(None, [self.design.words(self._keys, blocks), weighted]))

    def totals(self, terms: Sequence[Term], cells: Slices | None = None) -> list[Any]:
        """Sum of every term over the rows of each cell, shape (n_cells,) or (size, n_cells)."""
        return totals_of(terms, self.n_rows, cells)

    def estimand(self, questions: Sequence[Question], cells: Slices | None = None) -> Estimand:
        """Put questions about these rows together; `cells` are answered apart."""
        return estimand(questions, self.n_rows, cells=cells)

    def is_binary(self, term: Term) -> bool:
        """Tell whether a term is 0 or 1 in every row, and not a constant of all."""
        # A few rows first: most columns of other numbers show it there.
        return isinstance(term, np.ndarray) and all(
            bool(((some == 0.0) | (some == 1.0)).all()) for some in (term[:64], term)
        )

    def apart(
        self, questions: Sequence[Question], cells: Slices | None
    ) -> tuple[Self, Sequence[Question]]:
        """Return sample and questions as they are where cells of rows are answered apart."""
        if cells is None:
            return self, questions
        bounds = [apart(one, cells.codes, self.factors) for one in self.bounds]
        moved = dict(zip(map(id, self.bounds), bounds, strict=True))
        asked = [Question(*(moved[id(one)] for one in question.bounds)) for question in questions]
        return replace(self, bounds=tuple(bounds)), asked

    def arrange(self, cells: Slices | None = None) -> Arrangement:
        """Number the units; cells are answered apart."""
        return self.design.arrange(self._keys, self.n_rows, cells)

    @property
    def samples(self) -> tuple[Sample, Sample]:
        """What the first and the second statistic of a question are computed from."""
        return self, self

    @property
    def weighed(self) -> tuple[float, int] | None:
        """Sum of the weights of the rows, and rows of any weight; None without weights."""
        if self.factors is None:
            return None
        return float(self.factors.sum()), int(np.count_nonzero(self.factors))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the sample."""
        if not self.n_dropped:
            return self.design_remarks
        were = "was" if self.n_dropped == 1 else "were"
        dropped = f"{count(self.n_dropped, 'row')} {were} dropped for a missing value"
        return (dropped, *self.design_remarks)

    @property
    def design_remarks(self) -> tuple[str, ...]:
        """Sentences about the design in these rows."""
        return self.design.remarks_on(self._keys, self.n_rows)


def few_units(n_units: int, unit: str) -> tuple[str, ...]:
    """Return the sentence on few units, if they are few."""
    if n_units >= _FEW_UNITS:
        return ()
    return (f"only {count(n_units, unit)}: intervals and p-values from so few units are rough",)


def take(
    statistics: Sequence[Statistic],
    data: object,
    design: Design,
    nan_policy: str,
    *,
    weights: Source | None = None,
    alike: Sequence[Sequence[int]] = (),
    mixed: bool = False,
) -> Sample:
    """Load the columns that the statistics and the design name, and bind the statistics.

    Parameters
    ----------
    statistics, data, nan_policy
        As in the procedures.
    design
        Names key columns.
    weights
        Column of row weights.
    alike
        Numbers of the statistics that are one, of several systems.
    mixed
        Rows will be swapped between these systems.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        See :func:`fastboot.columns.load`.
    """
    wanted = [column for statistic in statistics for column in statistic.columns]
    own = [] if weights is None else [Column(weights, "number", "weights")]
    rows = load([*wanted, *own, *design.columns], data, nan_policy)
    remaining = iter(rows.columns)
    systems: list[Sequence[Any]] = [
        [next(remaining) for _ in statistic.columns] for statistic in statistics
    ]
    factors = factors_of(next(remaining)) if own else None
    keys = tuple(remaining)
    slices = design.slices(keys)
    statistics, systems = of_drawn(statistics, systems, design, keys, slices, factors)
    bounds = [
        bound(
            statistic,
            columns,
            [systems[other] for other in others],
            rows.n_rows,
            factors=factors,
            may_be_nan=nan_policy == "propagate",
        )
        for statistic, columns, others in zip(
            statistics, systems, measured_alike(statistics, alike, mixed=mixed), strict=True
        )
    ]
    return Sample(
        tuple(bounds), rows.n_rows, rows.n_dropped, factors, slices, design, keys,
        weights="" if weights is None else words(weights),
    )  # fmt: skip


def measured_alike(
    statistics: Sequence[Statistic], alike: Sequence[Sequence[int]], *, mixed: bool
) -> list[Sequence[int]]:
    """Return for each statistic the numbers of those whose columns it must know.

    Parameters
    ----------
    statistics, alike, mixed
        As in `take`.
    """
    partners = {number: numbers for numbers in alike for number in numbers}
    return [
        partners.get(number, (number,)) if mixed or isinstance(statistic, Vector) else (number,)
        for number, statistic in enumerate(statistics)
    ]


def of_drawn(
    statistics: Sequence[Statistic],
    systems: Sequence[Sequence[Any]],
    design: Design,
    keys: Sequence[Any],
    slices: Slices | None,
    factors: Floats | None,
    samples: NDArray[np.int64] | None = None,
) -> tuple[list[Statistic], list[Sequence[Any]]]:
    """Return statistics and their columns as they are for what a design draws.

    Parameters
    ----------
    statistics, systems
        Each with its columns.
    design, keys
        With its key columns.
    slices, factors
        Of the rows, or None.
    samples
        Which of two samples each row is of, shape (n_rows,); None for one.
    """
    groups = tuple(key.codes for key in keys[: len(design.groups)])
    inner = groups[1] if design.levels == "nested" and len(groups) > 1 else None
    units = groups[:1] if design.levels == "nested" else groups
    drawn = Drawn(units, inner, samples, None if slices is None else slices.codes, factors)
    known = [
        statistic.of_drawn(columns, drawn)
        for statistic, columns in zip(statistics, systems, strict=True)
    ]
    return [statistic for statistic, _ in known], [columns for _, columns in known]


def factors_of(weights: Any) -> Floats:
    """Return the row weights, checked."""
    factors: Floats = weights
    check_weights(factors)
    if not factors.any():
        raise ValueError("`weights` are all 0; at least one row must count")
    return factors
