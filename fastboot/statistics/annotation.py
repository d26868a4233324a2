"""Agreement of several annotators beyond chance: Krippendorff's alpha and Fleiss' kappa.

Both are 1 - observed / expected disagreement. Observed is that of ordered pairs of ratings of one
item, where each pair of an item with m ratings counts 1 / (m - 1); expected is that of pairs of any
two ratings. Terms of an item are its disagreement and how often it has each value.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Additive, Tally, Term
from fastboot.statistics.checks import check_counts, check_kinds, refuse_rows
from fastboot.statistics.moments import origin, origins, spread

__all__ = ["fleiss_kappa", "krippendorff_alpha"]

Floats = NDArray[np.float64]

# Up to 32 values have a term each, 256 bytes a row; more are tallied, once for each annotator.
_MOST_TERMS = 32
# Ordinal disagreement is a term for each two values: 496 of 32, 4 KB a row.
_MOST_ORDINAL = 32
# Every replicate adds up the pairs of values on a ratio scale: 32,640 of 256, in
# 50 microseconds (half a second for 9,999 replicates).
_MOST_RATIO = 256


class _Agreement(Additive):
    """Terms: disagreement of each item, and how often it has each value."""

    _values: Floats = np.empty(0)
    _n_annotators = 0
    # Of the n^2 pairs of any two ratings, Krippendorff leaves out the n of a rating with itself.
    _left_out = 1.0

    @property
    def n_terms(self) -> int:
        n_values = len(self._values)
        return 1 + (n_values if n_values <= _MOST_TERMS else self._n_annotators)

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = copy.copy(self)
        bound.know(systems)
        return bound

    def know(self, systems: Sequence[Sequence[Any]]) -> None:
        """Keep what terms depend on beyond their own row."""
        pooled = np.concatenate(_pooled(systems))
        # Without two ratings of any item one value that none has: undefined, not refused.
        self._values = np.unique(pooled) if pooled.size else np.zeros(1)
        self._n_annotators = max(len(columns) for columns in systems)

    def terms(self, *columns: Any) -> Sequence[Term]:
        ratings = self._ratings(columns)
        return _observed(ratings, self._distance), *self._marginals(ratings)

    def _ratings(self, columns: Sequence[Any]) -> Floats:
        """Return the ratings by annotator and item, NaN where missing."""
        return np.stack(columns)

    def _distance(self, first: Floats, second: Floats) -> Floats:
        """Return the disagreement of two ratings."""
        raise NotImplementedError

    def _marginals(self, ratings: Floats) -> Iterator[Term]:
        """Yield how often each item has each value, if it has two ratings."""
        n_values = len(self._values)
        paired = _is_paired(ratings)
        codes = np.where(paired, np.searchsorted(self._values, ratings), -1)
        if n_values <= _MOST_TERMS:
            for value in range(n_values):
                yield (codes == value).sum(axis=0).astype(np.float64)
        else:
            # As many as the system with most annotators has, where systems are swapped.
            nobody = np.full_like(codes, -1, shape=(self._n_annotators - len(codes), len(codes[0])))
            yield from (Tally(one, n_values) for one in (*codes, *nobody))

    def _counts(self, marginals: Sequence[Any]) -> Floats:
        """Return how often each value occurs, values on the first axis."""
        marginals = np.broadcast_arrays(*marginals)
        tallied = len(self._values) > _MOST_TERMS
        return np.sum(marginals, axis=0) if tallied else np.stack(marginals)

    def finish(self, observed: Any, *marginals: Any) -> Any:
        counts = self._counts(marginals)
        return self._beyond_chance(observed, self._expected(counts), counts.sum(axis=0))

    def _expected(self, counts: Floats) -> Any:
        """Return the disagreement of the pairs of any two ratings."""
        c, k = np.triu_indices(len(self._values), 1)
        distances = self._distance(self._values[c], self._values[k]).tolist()
        pairs = zip(distances, combinations(counts, 2), strict=True)
        return 2.0 * sum(distance * n_c * n_k for distance, (n_c, n_k) in pairs)

    def _beyond_chance(self, observed: Any, expected: Any, n: Any) -> Any:
        expected = np.where(expected == 0.0, np.nan, expected)
        return 1.0 - (n - self._left_out) * observed / expected


class _Nominal(_Agreement):
    _labels: tuple[Any, ...] = ()

    def know(self, systems: Sequence[Sequence[Any]]) -> None:
        every = (value for columns in systems for labels in columns for value in labels.values)
        self._labels = tuple(dict.fromkeys(every))
        self._values = np.arange(max(1.0, len(self._labels)))
        self._n_annotators = max(len(columns) for columns in systems)

    def _ratings(self, columns: Sequence[Labels]) -> Floats:
        arguments = [column.argument for column in self.columns]
        rated = [pair for pair in zip(columns, arguments, strict=True) if pair[0].values]
        for labels, argument in rated[1:]:
            check_kinds(rated[0][0], labels, (rated[0][1], argument))
        number = {value: float(code) for code, value in enumerate(self._labels)}
        # A missing one has code -1: the last.
        numbers = [
            np.array([*(number[value] for value in values), np.nan]) for _, values in columns
        ]
        return np.stack([one[codes] for one, (codes, _) in zip(numbers, columns, strict=True)])

    def _distance(self, first: Floats, second: Floats) -> Floats:
        different: Floats = (first != second).astype(np.float64)
        return different

    def _expected(self, counts: Floats) -> Any:
        return counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0)


class _FleissKappa(_Nominal):
    _left_out = 0.0


class _FleissKappaOfCounts(_FleissKappa):
    """Columns: ratings of each category."""

    @property
    def n_terms(self) -> int:
        return 1 + len(self.columns)

    def know(self, systems: Sequence[Sequence[Floats]]) -> None:
        """Nothing: the columns say it all."""

    def terms(self, *counts: Floats) -> Sequence[Term]:
        for column, array in zip(self.columns, counts, strict=True):
            check_counts(column, array)
            refuse_rows(column, array, array % 1.0 > 0.0, "fraction", "ratings are whole")
        n_ratings = np.sum(counts, axis=0)
        self._check_ratings(n_ratings)
        squares = np.sum([array**2 for array in counts], axis=0)
        return (n_ratings**2 - squares) / (n_ratings - 1.0), *counts

    def _check_ratings(self, n_ratings: Floats) -> None:
        row = int((n_ratings != n_ratings[0]).argmax())
        if n_ratings[row] != n_ratings[0]:
            rule = f"but {n_ratings[0]:g} at row 0; every item needs as many"
        elif n_ratings[0] < 2:
            rule = "every item needs two or more"
        else:
            return
        raise ValueError(
            f"`counts` add up to {n_ratings[row]:g} ratings at row {row:,}, {rule}: "
            "krippendorff_alpha() takes items with any number of ratings"
        )

    def _counts(self, marginals: Sequence[Any]) -> Floats:
        return np.stack(np.broadcast_arrays(*marginals))


class _Ordinal(_Agreement):
    """Terms: disagreements of each two values, and how often an item has each."""

    @property
    def n_terms(self) -> int:
        n_values = len(self._values)
        return n_values * (n_values + 1) // 2

    def know(self, systems: Sequence[Sequence[Floats]]) -> None:
        super().know(systems)
        _check_values("ordinal", len(self._values), _MOST_ORDINAL)

    def terms(self, *columns: Floats) -> Sequence[Term]:
        counts: list[Any] = list(self._marginals(self._ratings(columns)))
        weights = 2.0 / np.maximum(np.sum(counts, axis=0) - 1.0, 1.0)
        return *(weights * c * k for c, k in combinations(counts, 2)), *counts

    def finish(self, *sums: Any) -> Any:
        n_pairs = len(sums) - len(self._values)
        counts = self._counts(sums[n_pairs:])
        n = counts.sum(axis=0)
        # (sum of n_g from c to k) - (n_c + n_k) / 2 is the difference of the mean ranks of c and k;
        # here they are measured from the mean rank of all ratings.
        ranks = counts.cumsum(axis=0) - counts / 2.0 - n / 2.0
        pairs = zip(sums[:n_pairs], combinations(ranks, 2), strict=True)
        observed = sum(disagreements * (c - k) ** 2 for disagreements, (c, k) in pairs)
        return self._beyond_chance(observed, 2.0 * n * (counts * ranks**2).sum(axis=0), n)


class _Ratio(_Agreement):
    def know(self, systems: Sequence[Sequence[Floats]]) -> None:
        super().know(systems)
        _check_values("ratio", len(self._values), _MOST_RATIO)

    def _ratings(self, columns: Sequence[Floats]) -> Floats:
        for column, array in zip(self.columns, columns, strict=True):
            rule = 'a ratio scale starts at 0; use level="interval"'
            refuse_rows(column, array, array < 0.0, "negative rating", rule)
        return super()._ratings(columns)

    def _distance(self, first: Floats, second: Floats) -> Floats:
        both = first + second
        return ((first - second) / np.where(both > 0.0, both, 1.0)) ** 2


class _Interval(_Agreement):
    """Terms: disagreement of each item, number, sum and sum of squares of its ratings."""

    _origin: Floats | float = 0.0

    @property
    def n_terms(self) -> int:
        return 4

    def know(self, systems: Sequence[Sequence[Floats]]) -> None:
        pooled = [ratings for ratings in _pooled(systems) if ratings.size]
        self._origin = origin(self.name, *pooled)

    def apart(self, systems: Sequence[Sequence[Any]], codes: NDArray[np.int64]) -> Self:
        assert isinstance(self._origin, float)
        paired = (np.where(_is_paired(one), one, np.nan) for one in map(np.stack, systems))
        moved = copy.copy(self)
        moved._origin = origins(self.name, codes, self._origin, *paired)
        return self if moved._origin is self._origin else moved

    @np.errstate(over="ignore")  # what overflows is refused by name
    def terms(self, *columns: Floats) -> Sequence[Term]:
        ratings = self._ratings(columns) - self._origin
        paired = _is_paired(ratings)
        given = np.where(paired, ratings, 0.0)
        n_ratings = paired.sum(axis=0).astype(np.float64)
        observed = _observed(ratings, self._distance)
        return observed, n_ratings, given.sum(axis=0), (given**2).sum(axis=0)

    def _distance(self, first: Floats, second: Floats) -> Floats:
        return (first - second) ** 2

    def finish(self, observed: Any, n: Any, total: Any, squares: Any) -> Any:
        return self._beyond_chance(observed, 2.0 * n * spread(n, total, squares), n)


@recorded
def krippendorff_alpha(
    *ratings: Source, level: Literal["nominal", "ordinal", "interval", "ratio"] = "nominal"
) -> Additive:
    """Krippendorff's alpha: agreement of annotators beyond chance, with missing ratings.

    1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck over values c and k, with o_ck the ordered
    pairs of ratings of one item, where a pair of an item with m ratings counts 1 / (m - 1), n_c the
    ratings in such items, n in all, and the squared difference d_ck (Krippendorff 2004; Hayes and
    Krippendorff 2007): 1 for different labels, (c - k)^2 on an interval scale,
    ((c - k) / (c + k))^2 on a ratio scale, and on an ordinal scale the squared difference of the
    values' mean ranks among the ratings of the resample. Undefined where no item has two ratings,
    or all ratings are equal (on an interval scale also where they differ by rounding only).

    Parameters
    ----------
    *ratings
        One column for each annotator, two or more: name, or array of shape (n_rows,), a row for
        each item. Labels for "nominal", all of one kind; else numbers. Null or NaN is no rating, by
        any ``nan_policy``; an item with one rating says nothing.
    level
        The scale: "nominal", "ordinal" (at most 32 distinct values), "interval", or "ratio" (at
        most 256, none negative).

    Raises
    ------
    TypeError
        Fewer than two annotators.
    ValueError
        `level` is unknown. When run: strings beside numbers, negative ratings on a ratio scale, too
        many distinct values, or squares beyond float64; or `approximate_randomization` of ratings
        on an interval scale that lie more than 256 standard deviations from 0, each around another
        number.

    Notes
    -----
    Resampling items says how well the items fix the agreement of these annotators, not of others.

    Examples
    --------
    >>> import fastboot as fb
    >>> ann, ben, cat = [1, 2, 3, 3, 1] * 4, [1, 2, 3, 3, None] * 4, [None, 3, 3, 3, 1] * 4
    >>> alpha = fb.krippendorff_alpha(ann, ben, cat, level="ordinal")
    >>> round(fb.bootstrap(alpha, rng=0).estimate, 6)
    0.866259
    """
    if level not in _LEVELS:
        choices = ", ".join(f'"{name}"' for name in _LEVELS)
        raise ValueError(f"level={level!r}; choose one of {choices}")
    kind, role = _LEVELS[level]
    return kind(
        *_columns("krippendorff_alpha", ratings, role, nullable=True), name="krippendorff_alpha"
    )


@recorded
def fleiss_kappa(*ratings: Source, counts: Sequence[Source] | None = None) -> Additive:
    """Fleiss' kappa: agreement of annotators beyond chance, each item rated equally often.

    (P - P_e) / (1 - P_e), with P the mean over items of the share of pairs of ratings that agree,
    and P_e the sum over categories of their squared shares of all ratings (Fleiss 1971). Annotators
    need not be the same for each item. Undefined where all ratings are equal. Not for missing
    ratings: see :func:`krippendorff_alpha`, which is slightly larger without them, as 1 - alpha is
    (1 - kappa) (1 - 1 / number of ratings).

    Parameters
    ----------
    *ratings
        One label column for each annotator, two or more: name, or array of shape (n_rows,), a row
        for each item. All of one kind; 1, 1.0 and True are the same label.
    counts
        Instead: number columns, one for each category, of how many annotators chose it.

    Raises
    ------
    TypeError
        Fewer than two columns, or both ratings and counts.
    ValueError
        When run: strings beside numbers; counts that are negative, a fraction, or do not add up to
        the same number in each row, two or more.

    Examples
    --------
    >>> import fastboot as fb
    >>> ann, ben = ["yes", "yes", "no", "no"] * 5, ["yes", "yes", "no", "yes"] * 5
    >>> round(fb.bootstrap(fb.fleiss_kappa(ann, ben), rng=0).estimate, 6)
    0.466667
    >>> yes, no = [2, 2, 0, 1] * 5, [0, 0, 2, 1] * 5
    >>> round(fb.bootstrap(fb.fleiss_kappa(counts=[yes, no]), rng=0).estimate, 6)
    0.466667
    """
    if counts is None:
        columns = _columns("fleiss_kappa", ratings, "label")
        return _FleissKappa(*columns, name="fleiss_kappa")
    if ratings:
        raise TypeError("fleiss_kappa takes either ratings or counts=; it got both")
    if isinstance(counts, str) or not hasattr(counts, "__len__") or len(counts) < 2:
        raise TypeError(f"`counts` is {counts!r}; give a list of columns, one for each category")
    columns = [Column(source, "number", f"counts[{i}]") for i, source in enumerate(counts)]
    return _FleissKappaOfCounts(*columns, name="fleiss_kappa")


_LEVELS: dict[str, tuple[type[_Agreement], Literal["label", "number"]]] = {
    "nominal": (_Nominal, "label"),
    "ordinal": (_Ordinal, "number"),
    "interval": (_Interval, "number"),
    "ratio": (_Ratio, "number"),
}


def _columns(
    name: str,
    ratings: Sequence[Source],
    role: Literal["label", "number"],
    *,
    nullable: bool = False,
) -> list[Column]:
    if len(ratings) < 2:
        raise TypeError(
            f"{name} compares annotators: give two columns or more, one for each; it got "
            f"{len(ratings)}"
        )
    return [Column(x, role, f"ratings[{i}]", nullable) for i, x in enumerate(ratings)]


def _check_values(level: str, n_values: int, most: int) -> None:
    if n_values > most:
        raise ValueError(
            f"the ratings have {n_values:,} distinct values; level={level!r} takes at most {most}: "
            'round them, or use level="interval"'
        )


def _is_paired(ratings: Floats) -> NDArray[np.bool_]:
    """Tell which ratings there are, of items that have two.

    ratings : shape (n_annotators, n_rows), NaN where missing
    """
    given = ~np.isnan(ratings)
    paired: NDArray[np.bool_] = given & (given.sum(axis=0) > 1)
    return paired


def _pooled(systems: Sequence[Sequence[Floats]]) -> list[Floats]:
    """Return the ratings of each system that are paired."""
    return [ratings[_is_paired(ratings)] for ratings in map(np.stack, systems)]


def _observed(ratings: Floats, distance: Callable[[Floats, Floats], Floats]) -> Floats:
    """Return the disagreement of each item: that of its ordered pairs / (ratings - 1)."""
    given = ~np.isnan(ratings)
    disagreement = np.zeros(ratings.shape[1])
    for i, j in combinations(range(len(ratings)), 2):
        both = given[i] & given[j]
        disagreement[both] += distance(ratings[i, both], ratings[j, both])
    weighted: Floats = 2.0 * disagreement / np.maximum(given.sum(axis=0) - 1, 1)
    return weighted
