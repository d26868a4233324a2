"""The mean of per-group values: every group counts the same, however many rows it has."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from reprlib import repr as shortened
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.rendering import count
from fastboot.statistics.additive import Additive, AdditiveVector, Tally, Term
from fastboot.statistics.base import Statistic, Vector
from fastboot.statistics.checks import check_returned
from fastboot.statistics.copies import Drawn, shares
from fastboot.statistics.weighted import Weighted

__all__ = ["check_groups_of_both", "macro"]

Floats = NDArray[np.float64]

# Less of a copy is what rounding leaves of one that is taken from a sum.
_LEAST_COPY = 1e-9


class _Macro(Statistic):
    """What both kinds share: the statistic of a group, and the column of the groups."""

    def __init__(self, statistic: Any, by: Source, *, skip_undefined: bool) -> None:
        own = Column(by, "label", "by")
        super().__init__(*statistic.columns, own, name=f"macro({statistic.name})")
        self._statistic = statistic
        self._skip = skip_undefined
        self._whole = False  # then a column of shares follows that of the groups
        self._n_groups = 0
        self._sizes: list[int] = []

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = copy.copy(self)
        inner = [self._split(columns)[0] for columns in systems]
        groups = self._split(systems[0])[1]
        bound._statistic = self._statistic.bind(inner).apart(inner, groups.codes)
        bound._n_groups = len(groups.values)
        if isinstance(bound._statistic, Vector):
            bound.__dict__["labels"] = bound._statistic.labels
        return bound

    def of_drawn(self, columns: Sequence[Any], drawn: Drawn) -> tuple[Self, Sequence[Any]]:
        known = copy.copy(self)
        inner, groups, _ = self._split(columns)
        known._statistic, inner = self._statistic.of_drawn(inner, drawn)
        share = shares(groups.codes, drawn)
        if share is None:
            return known, [*inner, groups]
        known._whole = True
        if drawn.samples is not None:  # a group of each, whatever it is called
            n = len(groups.values)
            groups = Labels(_read_only(groups.codes + n * drawn.samples), 2 * groups.values)
        return known, [*inner, groups, share]

    def _split(self, columns: Sequence[Any]) -> tuple[Sequence[Any], Labels, Floats | None]:
        """Return the columns of the statistic, the groups, and the shares of rows in a copy."""
        if self._whole:
            return columns[:-2], columns[-2], columns[-1]
        return columns[:-1], columns[-1], None

    @property
    def needs_all_groups(self) -> bool:
        """Whether the mean is undefined where a group has no row."""
        return not (self._whole or self._skip)

    def groups_of(self, columns: Sequence[Any]) -> Labels:
        """Return the groups among the columns."""
        return self._split(columns)[1]

    def _mean(self, values: Floats, drawn: Floats, axis: int) -> Floats:
        """Mean over the groups, or over their copies in the resample.

        Parameters
        ----------
        values
            Groups on this axis.
        drawn
            For each group its copies, if it is drawn whole, else the weight of its rows.
        axis
            0, or 1 where values of several labels come first.
        """
        if self._whole:
            there = np.broadcast_to(drawn > _LEAST_COPY, values.shape)
            weight = np.broadcast_to(drawn, values.shape)
        else:
            values = np.where(drawn > 0.0, values, np.nan)
            there = weight = np.ones(values.shape, np.bool_)
        if self._skip:
            there = there & np.isfinite(values)
        total = np.where(there, weight * values, 0.0).sum(axis=axis)
        mean: Floats = total / np.where(there, weight, 0.0).sum(axis=axis)
        return mean


class _AdditiveMacro(_Macro, Additive):
    @property
    def n_terms(self) -> int:
        return int(self._statistic.n_terms) + 1

    def terms(self, *columns: Any) -> Sequence[Term]:
        inner, groups, share = self._split(columns)
        terms = self._statistic.terms(*inner)
        # What `finish` must know of them: a bound statistic serves one table.
        self._sizes = [term.size if isinstance(term, Tally) else 0 for term in terms]
        return [_by_group(term, groups) for term in (*terms, 1.0 if share is None else share)]

    def finish(self, *sums: Any) -> Any:
        *own, drawn = sums
        # A tally of C classes in G groups came as one of G x C: its classes go first again.
        by_class = [
            total
            if size == 0
            else np.moveaxis(total.reshape(self._n_groups, size, *total.shape[1:]), 1, 0)
            for size, total in zip(self._sizes, own, strict=True)
        ]
        values = check_returned(
            f"{self._statistic.name}.finish()", self._statistic.finish(*by_class)
        )
        return self._mean(values, drawn, 1 if isinstance(self, Vector) else 0)


class _AdditiveVectorMacro(_AdditiveMacro, AdditiveVector):
    pass


class _WeightedMacro(_Macro, Weighted):
    def prepare(self, *columns: Any) -> Any:
        inner, groups, share = self._split(columns)
        prepared: list[Any] = []
        for group in range(len(groups.values)):
            rows = np.flatnonzero(groups.codes == group)
            if not rows.size:  # of a slice without rows of this group
                prepared.append(None)
                continue
            own = self._statistic.prepare(*(_taken(column, rows) for column in inner))
            prepared.append((rows, own, 1.0 if share is None else share[rows]))
        return prepared

    def values(self, prepared: Any, weights: Floats) -> Any:
        by_group = np.full((len(prepared), len(weights)), np.nan)
        drawn = np.zeros(by_group.shape)
        for number, group in enumerate(prepared):
            if group is not None:
                rows, own, share = group
                of_rows = _read_only(weights[:, rows])
                returned = self._statistic.values(own, of_rows)
                by_group[number] = check_returned(f"{self._statistic.name}.values()", returned)
                drawn[number] = (of_rows * share).sum(axis=1)
        return self._mean(by_group, drawn, 0)


def check_groups_of_both(
    statistic: Statistic, columns: Sequence[Any], side: NDArray[np.int64]
) -> None:
    """Refuse a mean over groups of which one of two pooled samples has no row.

    Relabelled rows are averaged over the groups of both, by which such a sample is undefined.

    Parameters
    ----------
    statistic, columns
        After `of_drawn`.
    side
        Sample of each row, 0 or 1, shape (n_rows,).

    Raises
    ------
    ValueError
        One of them lacks a group that the other has.
    """
    if not isinstance(statistic, _Macro) or not statistic.needs_all_groups:
        return
    groups = statistic.groups_of(columns)
    of_a, of_b = (set(np.unique(groups.codes[side == one]).tolist()) for one in (0, 1))
    for name, other, missed in (("a", "b", of_b - of_a), ("b", "a", of_a - of_b)):
        if missed:
            shown = shortened([groups.values[code] for code in sorted(missed)])
            raise ValueError(
                f"`{name}` has no row of {count(len(missed), 'group')} of {statistic.name}, "
                f"{shown}, over which relabelled rows are averaged; leave these rows out of "
                f"`{other}`, give macro skip_undefined=True, or use unpaired_bootstrap, where each "
                "sample has groups of its own"
            )


def _by_group(term: Term, groups: Labels) -> Tally:
    n_groups = len(groups.values)
    if not isinstance(term, Tally):
        return Tally(groups.codes, n_groups, term)
    codes = np.where(term.codes < 0, -1, groups.codes * term.size + term.codes)
    return Tally(codes, n_groups * term.size, term.values)


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    if isinstance(column, Labels):
        return column._replace(codes=_read_only(column.codes[rows]))
    return _read_only(column[rows])


def _read_only(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


@recorded
def macro(statistic: Statistic, by: Source, *, skip_undefined: bool = False) -> Additive | Weighted:
    """Return the mean of the values of a statistic in each group: the macro average.

    (1 / G) sum over groups g of statistic(rows of g). Every group counts the same; the statistic
    itself, over all rows, is the micro average, in which every row does. The two are different
    estimands with different errors: with ``strata=by`` the groups are fixed and only their rows are
    drawn; with ``groups=by`` the groups themselves are a sample (of languages, of users), and one
    that is drawn twice counts twice (with ``levels="nested"`` the rows of its copies are measured
    together); else rows are drawn whatever their group.

    Parameters
    ----------
    statistic
        Of each group, such as ``fb.accuracy("gold", "predicted")``.
    by
        Column name, or array of shape (n_rows,): the group of every row. A string, an integer, a
        boolean or a finite number.
    skip_undefined
        Leave a group out of the mean where its value is undefined, and where no row of it was
        drawn. By default the mean is undefined then, and counted. Groups that are drawn whole are
        not missed.

    Raises
    ------
    TypeError
        `statistic` is none, or `skip_undefined` is not True or False.
    ValueError
        When run: groups are drawn whole, but some have rows in more slices than others; or one
        sample of a permutation test has no row of a group, and `skip_undefined` is False.

    Examples
    --------
    >>> import fastboot as fb
    >>> correct, language = [1, 1, 1, 0, 0, 1], ["en", "en", "en", "en", "de", "de"]
    >>> per_language = fb.macro(fb.mean(correct), by=language)
    >>> fb.bootstrap(per_language, strata=language, rng=0).estimate
    0.625
    """
    if not isinstance(skip_undefined, bool | np.bool_):
        raise TypeError(f"`skip_undefined` is {skip_undefined!r}; it must be True or False")
    if isinstance(statistic, AdditiveVector):
        return _AdditiveVectorMacro(statistic, by, skip_undefined=bool(skip_undefined))
    if isinstance(statistic, Additive):
        return _AdditiveMacro(statistic, by, skip_undefined=bool(skip_undefined))
    if isinstance(statistic, Weighted) and not isinstance(statistic, Vector):
        return _WeightedMacro(statistic, by, skip_undefined=bool(skip_undefined))
    raise TypeError(
        f"`statistic` is {statistic!r}; macro averages a statistic with one value, such as "
        "fb.accuracy('gold', 'predicted'), or an additive one with several"
    )
