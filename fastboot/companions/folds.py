"""Folds of cross-validation: plain row indices, groups whole, strata spread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import Rng, check_rng
from fastboot.columns import Column, Keys, Source, load
from fastboot.plain import with_nan
from fastboot.rendering import count
from fastboot.statistics.checks import check_integer

__all__ = ["Folds", "folds"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Folds(Sequence[tuple[Indices, Indices]]):
    """Pairs (train, test) of sorted row indices: a sequence, all folds of a repeat in turn.

    What scikit-learn takes as ``cv=``. Training rows are made when asked for.

    Attributes
    ----------
    n_rows
        Rows in all.
    n_repeats
        Repeats; 1 for the splits of others.
    tests
        The test rows of each fold.
    trains
        The training rows of each fold; None for all rows but the test rows.
    seed
        ``rng=seed`` reproduces the folds; None for the splits of others.
    """

    n_rows: int
    n_repeats: int
    tests: tuple[Indices, ...]
    trains: tuple[Indices, ...] | None
    seed: int | None

    def __len__(self) -> int:
        return len(self.tests)

    @overload
    def __getitem__(self, place: int) -> tuple[Indices, Indices]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[Indices, Indices]]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        test = self.tests[place]
        if self.trains is not None:
            return self.trains[place], test
        outside = np.ones(self.n_rows, np.bool_)
        outside[test] = False
        return np.flatnonzero(outside), test

    @property
    def mean_sizes(self) -> tuple[float, float]:
        """Mean numbers of training and of test rows."""
        n_test = sum(test.size for test in self.tests) / len(self)
        if self.trains is None:
            return self.n_rows - n_test, n_test
        return sum(train.size for train in self.trains) / len(self), n_test

    def __repr__(self) -> str:
        repeats = "" if self.n_repeats == 1 else f", n_repeats={self.n_repeats:,}"
        seed = "" if self.seed is None else f", seed={self.seed}"
        return f"Folds({count(len(self), 'fold')} of {count(self.n_rows, 'row')}{repeats}{seed})"


def folds(
    n: int,
    k: int | Any,
    *,
    data: object = None,
    groups: Source | None = None,
    strata: Source | None = None,
    repeats: int = 1,
    rng: Rng = None,
) -> Folds:
    """Divide rows into `k` folds at random, each the test rows of one, groups whole, strata spread.

    Sizes of folds differ by one row at most, and so do the numbers of rows of each stratum in
    them. With groups, larger ones are dealt first, those within a factor of 2 in random order, each
    to the fold that has least: folds differ by the largest group at most. With strata as well, to
    the fold where the shares of strata, and of all rows, stay nearest to equal.

    Parameters
    ----------
    n
        Number of rows.
    k
        Number of folds, 2 or more; or a splitter of scikit-learn's, or of its kind (it has
        ``split(X, y, groups)``), whose y are the strata; or pairs (train, test) of row indices.
    data
        The table, for names of columns, as in :func:`bootstrap`.
    groups
        Column name or array of shape (n,): rows with one key stay together.
    strata
        Column name or array of shape (n,): each fold gets its share of the rows with each key, with
        groups as near as may be.
    repeats
        Number of divisions. The first is the same whatever their number.
    rng
        As in :func:`bootstrap`. The same seed gives the same folds everywhere.

    Returns
    -------
    Folds
        A sequence of `k` x `repeats` pairs (train, test) of sorted row indices.

    Raises
    ------
    TypeError
        `k` is none of these, or `rng` cannot be used.
    ValueError
        A number is too small, there are fewer rows or groups than folds, a column has not `n` rows,
        or `repeats` or `rng` is given beside the splits of others.

    Examples
    --------
    >>> from fastboot.companions.folds import folds
    >>> for train, test in folds(7, 3, groups=["x", "x", "y", "y", "z", "z", "z"], rng=0):
    ...     print(train, test)
    [0 1 4 5 6] [2 3]
    [0 1 2 3] [4 5 6]
    [2 3 4 5 6] [0 1]
    """
    n_rows = check_integer("n", n, 2)
    keys = _keys(n_rows, data, groups, strata)
    if not isinstance(k, int | np.integer) or isinstance(k, bool):
        if _brings_splits(k) and (repeats != 1 or rng is not None):
            raise ValueError(
                f"`k` is {k!r}, which brings splits of its own; leave out `repeats` and `rng`"
            )
        return _given(n_rows, k, keys)
    n_folds, n_repeats = check_integer("k", k, 2), check_integer("repeats", repeats, 1)
    n_units = n_rows if keys["groups"] is None else keys["groups"].n_groups
    if n_units == 1:  # of groups: there are two rows at least
        raise ValueError(
            f"`k` is {n_folds} but `groups` has only 1 group; folds of whole groups need two at "
            "least"
        )
    if n_units < n_folds:
        what = "row" if keys["groups"] is None else "group"
        raise ValueError(
            f"`k` is {n_folds} but there are only {count(n_units, what)}; make it less"
        )
    seed = check_rng(rng)
    tests: list[Indices] = []
    for repeat in range(n_repeats):
        sequence = np.random.SeedSequence(seed, spawn_key=(repeat,))
        # The order of raw words: NumPy keeps these, not its permutations, from version to version.
        words = np.random.Philox(sequence).random_raw(n_units)
        of_row = _dealt(np.argsort(words, kind="stable"), n_folds, **keys)
        order = np.argsort(of_row, kind="stable")
        tests += np.split(order, np.cumsum(np.bincount(of_row, minlength=n_folds))[:-1])
    for test in tests:
        test.flags.writeable = False
    return Folds(n_rows, n_repeats, tuple(tests), None, seed)


def _keys(
    n_rows: int, data: object, groups: Source | None, strata: Source | None
) -> dict[str, Keys | None]:
    sources = {"groups": groups, "strata": strata}
    given = {argument: source for argument, source in sources.items() if source is not None}
    found: dict[str, Keys | None] = dict.fromkeys(sources)
    if given:
        columns = [Column(source, "key", argument) for argument, source in given.items()]
        rows = load(columns, data)
        if rows.n_rows != n_rows:
            raise ValueError(
                f"`n` is {n_rows:,} but {columns[0]} has {count(rows.n_rows, 'row')}; give a key "
                "for each row"
            )
        found |= dict(zip(given, rows.columns, strict=True))  # type: ignore[arg-type] # keys
    return found


def _dealt(order: Indices, n_folds: int, groups: Keys | None, strata: Keys | None) -> Indices:
    """Return the fold of each row; `order` shuffles the rows, or the groups."""
    if groups is None:
        if strata is not None:
            order = order[np.argsort(strata.codes[order], kind="stable")]
        of_row = np.empty(order.size, np.int64)
        of_row[order] = np.arange(order.size) % n_folds
        return of_row
    from fastboot.kernels.dealing import deal_groups

    sizes = np.bincount(groups.codes, minlength=groups.n_groups)
    larger_first = order[np.argsort(-np.frexp(sizes[order])[1], kind="stable")]
    entries = _entries(groups, sizes, strata)
    for array in (larger_first, *entries):
        array.flags.writeable = False
    n_strata = 1 if strata is None else strata.n_groups + 1
    dealt = np.empty(groups.n_groups, np.int64)
    deal_groups(larger_first, *entries, np.zeros((n_folds, n_strata)), dealt)
    return dealt[groups.codes]


def _entries(groups: Keys, sizes: Indices, strata: Keys | None) -> tuple[Indices, Indices, Floats]:
    """Where the entries of each group begin; the stratum and the share of it of each entry.

    All rows are one more stratum: without it, groups of one stratum each could all be dealt to the
    first fold.
    """
    n_groups = groups.n_groups
    if strata is None:
        return np.arange(n_groups + 1), np.zeros(n_groups, np.int64), sizes / sizes.sum()
    width = strata.n_groups + 1
    cells, n_cell = np.unique(groups.codes * width + strata.codes, return_counts=True)
    cells = np.concatenate([cells, np.arange(n_groups) * width + strata.n_groups])
    order = np.argsort(cells, kind="stable")
    of_stratum = cells[order] % width
    totals = np.append(np.bincount(strata.codes), sizes.sum())
    shares = np.concatenate([n_cell, sizes])[order] / totals[of_stratum]
    offsets = np.searchsorted(cells[order], np.arange(n_groups + 1) * width)
    return offsets, of_stratum, shares


def _brings_splits(k: Any) -> bool:
    """Whether `k` looks like a splitter or pairs, neither a number nor a word."""
    return (hasattr(k, "split") or isinstance(k, Iterable)) and not isinstance(k, str)


def _given(n_rows: int, splits: Any, keys: dict[str, Keys | None]) -> Folds:
    """Return the folds of a splitter, or of pairs."""
    if hasattr(splits, "split") and not isinstance(splits, str):
        groups, strata = (
            None if one is None else one.codes for one in (keys["groups"], keys["strata"])
        )
        splits = splits.split(np.zeros((n_rows, 1)), strata, groups)
    if not isinstance(splits, Iterable) or isinstance(splits, str):
        raise TypeError(
            f"`k` is {splits!r}; give a number of folds, a splitter with split(X, y, groups), or "
            "pairs (train, test) of row indices"
        )
    pairs = list(_pairs(splits))
    if not pairs:
        raise ValueError("`k` has no pairs (train, test); give one at least")
    for train, test in pairs:
        for part, name in ((train, "training"), (test, "test")):
            if part.size == 0 or part.min() < 0 or part.max() >= n_rows:
                raise ValueError(
                    f"`k` has {name} rows that are none or not from 0 to {n_rows - 1:,}; give the "
                    "indices of rows"
                )
    trains, tests = zip(*pairs, strict=True)
    return Folds(n_rows, 1, tests, trains, None)


def _pairs(splits: Iterable[Any]) -> Iterator[tuple[Indices, Indices]]:
    for pair in splits:
        try:
            train, test = (np.sort(with_nan(part)) for part in pair)
        except (TypeError, ValueError) as error:
            raise TypeError(f"`k` holds {pair!r}; give pairs (train, test)") from error
        if (
            train.ndim != 1
            or test.ndim != 1
            or not {train.dtype.kind, test.dtype.kind} <= set("iu")
        ):
            raise TypeError("`k` holds pairs that are not of row indices (integers); give those")
        yield train.astype(np.int64, copy=False), test.astype(np.int64, copy=False)
