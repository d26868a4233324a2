"""Two independent samples: what is given for both, and their rows as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import check_design
from fastboot.calls import words
from fastboot.columns import Column, Keys, Labels, load
from fastboot.designs import Design, Slices
from fastboot.rendering import count
from fastboot.sample import Sample, factors_of, of_drawn
from fastboot.statistics.base import Statistic
from fastboot.statistics.bound import bound
from fastboot.statistics.macro import check_groups_of_both
from fastboot.swapping import joined
from fastboot.taking import rows_that_count

__all__ = [
    "Both",
    "Pool",
    "both",
    "both_words",
    "check_slices",
    "designs_of",
    "pool",
    "rows_of_both",
    "tables",
]


class Both(NamedTuple):
    """One thing for each sample."""

    a: Any
    b: Any


def tables(data: object) -> Both:
    """Return the table of each sample; one is for both."""
    return Both(*data) if isinstance(data, tuple) and len(data) == 2 else Both(data, data)


def rows_of_both(data: Both, where: Any, sources: Sequence[Sequence[Any]]) -> Both:
    """Return the tables of both samples, without the rows that `where` leaves out.

    Parameters
    ----------
    data
        The tables.
    where
        A filter for both; or a tuple (of a, of b), either of which may be None. Two conditions in a
        tuple are one filter.
    sources
        Of each sample's columns, as in :func:`fastboot.taking.rows_that_count`.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        See there.
    """
    return Both(*map(rows_that_count, data, _filters(where), sources))


def _filters(where: Any) -> tuple[Any, Any]:
    apart = isinstance(where, tuple) and len(where) == 2
    if apart and not all(isinstance(one, tuple) for one in where):
        of_a, of_b = where
        return of_a, of_b
    return where, where


def both(argument: str, value: Any) -> Both:
    """Return the columns of each sample, or raise TypeError.

    Parameters
    ----------
    argument
        What messages call it.
    value
        A tuple (of a, of b), or the name of a column, or a list of names, that both tables have.
    """
    if isinstance(value, tuple) and len(value) == 2:
        if (value[0] is None) != (value[1] is None):
            side, other = ("b", "a") if value[0] is None else ("a", "b")
            raise TypeError(
                f"`{argument}` is given for sample {side} but None for {other}; give it for both"
            )
        return Both(*value)
    several = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if value is None or isinstance(value, str) or several:
        return Both(value, value)
    raise TypeError(
        f"`{argument}` is a {type(value).__name__}; the samples have rows of their own: give a "
        "tuple of two, (of a, of b), or a column name that both tables have"
    )


def both_words(sources: Both) -> str:
    """Return what the columns of both samples are called, empty where there are none."""
    a, b = ("" if source is None else words(source) for source in sources)
    return a if a == b else f"({a}, {b})"


def designs_of(data: Both, *, where: Any = None, path: str | None = None, **options: Any) -> Both:
    """Return the design of each sample.

    Parameters
    ----------
    data
        The tables.
    where
        As in `rows_of_both`.
    path
        As in :func:`fastboot.designs.check_design`.
    **options
        Its other arguments; `groups`, `strata` and `by` for both samples.

    Raises
    ------
    TypeError, ValueError
        See there; or the samples have different numbers of strata or slice columns.
    """
    keys = {name: both(name, options.pop(name, None)) for name in ("groups", "strata", "by")}
    a, b = (
        check_design(
            data[side],
            where=own,
            path=path,
            **{name: key[side] for name, key in keys.items()},
            **options,
        )
        for side, own in enumerate(_filters(where))
    )
    for name in ("strata", "by"):
        n_a, n_b = len(getattr(a, name)), len(getattr(b, name))
        if n_a != n_b:
            raise ValueError(
                f"`{name}` names {count(n_a, 'column')} of sample a but {n_b} of b; both samples "
                "need the same"
            )
    return Both(a, b)


class _LabelledStrata(Design):
    """A design whose strata are known by value, so that those of two tables can be matched."""

    @property
    def columns(self) -> list[Column]:
        n_groups, n_strata = len(self.groups), len(self.strata)
        columns = super().columns
        strata = [Column(source, "label", "strata") for source in self.strata]
        return [*columns[:n_groups], *strata, *columns[n_groups + n_strata :]]


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows of two samples as one table, those of a first.

    Attributes
    ----------
    sample
        All rows. Its statistics are bound to both samples' rows, so they measure them alike.
    n_rows_a
        Rows of the first sample.
    """

    sample: Sample
    n_rows_a: int

    @property
    def from_b(self) -> NDArray[np.int64]:
        """Shape (n_rows,): 0 for a row of a, 1 for one of b."""
        return (np.arange(self.sample.n_rows) >= self.n_rows_a).astype(np.int64)

    def sides(self, cells: Slices | None) -> Slices:
        """Return each sample, or its part of each slice, as slices: a's at even places."""
        if cells is None:
            return Slices(self.from_b, ("a", "b"))
        values = tuple((value, side) for value in cells.values for side in ("a", "b"))
        return Slices(2 * cells.codes + self.from_b, values)


def pool(
    statistics: tuple[Sequence[Statistic], Sequence[Statistic]],
    data: Both,
    designs: Both,
    nan_policy: str,
    weights: Both,
    where: Any = None,
) -> Pool:
    """Load two samples, and bind statistics to the rows of both.

    Parameters
    ----------
    statistics
        Of each sample; the same measures.
    data, designs, weights
        Of each sample. Groups of a and b are different groups, also where their keys are equal;
        strata and slices of one value are one.
    nan_policy
        As in the procedures.
    where
        As in `rows_of_both`.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        See :func:`fastboot.columns.load`; or a slice, or a group of a macro average, has rows of
        one sample only.
    """
    designs = Both(*(_LabelledStrata(**vars(design)) for design in designs))
    wanted = [
        [
            *(column for statistic in side for column in statistic.columns),
            *([] if source is None else [Column(source, "number", "weights")]),
            *design.columns,
        ]
        for side, source, design in zip(statistics, weights, designs, strict=True)
    ]
    rows = rows_of_both(data, where, [[column.source for column in side] for side in wanted])
    a, b = (load(columns, table, nan_policy) for columns, table in zip(wanted, rows, strict=True))
    n_rows = a.n_rows + b.n_rows
    pooled = iter(list(zip(a.columns, b.columns, strict=True)))
    columns: list[Sequence[Any]] = [
        [joined(*next(pooled)) for _ in statistic.columns] for statistic in statistics[0]
    ]
    factors = None
    if weights.a is not None:
        factors = np.concatenate([factors_of(side) for side in next(pooled)])
    design = designs.a.beside(designs.b)
    groups = [_joined_groups(*next(pooled)) for _ in design.groups]
    strata = [_joined_strata(*next(pooled)) for _ in design.strata]
    by = [_joined_labels("by", *side) for side in pooled]
    keys = (*groups, *strata, *by)
    slices = design.slices(keys)
    if slices is not None:
        number = slices.codes[: a.n_rows], slices.codes[a.n_rows :]
        check_slices(*({slices.values[code] for code in np.unique(codes)} for codes in number))
    side = np.repeat([0, 1], [a.n_rows, b.n_rows])
    own_statistics, columns = of_drawn(
        statistics[0], columns, design, keys, slices, factors, samples=side
    )
    for statistic, own in zip(own_statistics, columns, strict=True):
        check_groups_of_both(statistic, own, side)
    bounds = [
        bound(statistic, own, [own], n_rows, factors=factors, may_be_nan=nan_policy == "propagate")
        for statistic, own in zip(own_statistics, columns, strict=True)
    ]
    sample = Sample(
        tuple(bounds), n_rows, a.n_dropped + b.n_dropped, factors, slices, design, keys,
        weights=both_words(weights),
    )  # fmt: skip
    return Pool(sample, a.n_rows)


def _joined_groups(a: Any, b: Any) -> Keys:
    return Keys(np.concatenate([a.codes, a.n_groups + b.codes]), a.n_groups + b.n_groups)


def _joined_strata(a: Any, b: Any) -> Keys:
    """Match strata by value, numbered in sorted order: the order of rows does not matter."""
    labels = _joined_labels("strata", a, b)
    order = sorted(range(len(labels.values)), key=labels.values.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Keys(rank[labels.codes], len(order))


def _joined_labels(argument: str, a: Any, b: Any) -> Labels:
    words = [isinstance(side.values[0], str) for side in (a, b)]
    if words[0] != words[1]:
        raise TypeError(
            f"`{argument}` holds {a.values[0]!r} in sample a but {b.values[0]!r} in b; strings and "
            "numbers are never equal, convert one"
        )
    labels: Labels = joined(a, b)
    return labels


def check_slices(a: set[Any], b: set[Any]) -> None:
    """Refuse slices that one sample has no rows of.

    Parameters
    ----------
    a, b
        Values of the slices of each sample.

    Raises
    ------
    ValueError
        They differ.
    """
    for only, name in ((a - b, "a"), (b - a, "b")):
        if only:
            shown = ", ".join(map(repr, sorted(only)[:5])) + (", ..." if len(only) > 5 else "")
            raise ValueError(
                f"`by`: only sample {name} has rows of {shown}; leave them out, a difference needs "
                "rows of both samples"
            )
