"""Rank correlation of two columns.

A row of weight c counts as c equal rows, which are tied with each other. Ranks are those among the
resampled rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Source
from fastboot.statistics.order import read_only
from fastboot.statistics.weighted import Weighted

__all__ = ["kendall", "spearman"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class _RankCorrelation(Weighted):
    """A correlation of places among the distinct values, NaN for all weights where a value is."""

    def __init__(self, x: Source, y: Source, name: str) -> None:
        super().__init__(Column(x, "number", "x"), Column(y, "number", "y"), name=name)

    def prepare(self, x: Floats, y: Floats) -> Any:
        if np.isnan(x).any() or np.isnan(y).any():
            return None
        return self._prepare(*(np.unique(column, return_inverse=True)[1] for column in (x, y)))

    def values(self, prepared: Any, weights: Floats) -> Floats:
        if prepared is None:
            return np.full(len(weights), np.nan)
        xy, xx, yy = self._products(prepared, read_only(weights))
        sizes = np.sqrt(xx) * np.sqrt(yy)
        # Before np.clip, which would make 1 of infinity.
        return np.clip(xy / np.where(sizes == 0.0, np.nan, sizes), -1.0, 1.0)

    def _prepare(self, x: Integers, y: Integers) -> Any:
        raise NotImplementedError

    def _products(self, prepared: Any, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the products whose ratio xy / sqrt(xx yy) is the correlation."""
        raise NotImplementedError


class _Spearman(_RankCorrelation):
    def _prepare(self, x: Integers, y: Integers) -> tuple[Any, ...]:
        return read_only(x), int(x.max()) + 1, read_only(y), int(y.max()) + 1

    def _products(self, prepared: Any, weights: Floats) -> tuple[Floats, Floats, Floats]:
        from fastboot.kernels.rank_correlation import fill_mid_rank_moments

        moments = np.empty((3, len(weights)))
        fill_mid_rank_moments(*prepared, weights, moments)
        xx, yy, xy = moments
        return xy, xx, yy


class _Pairs(NamedTuple):
    """What to count in pairs of rows.

    classes : rows tied in nothing, in x, in y and in both: a code for each row, how many there are
    digits : what `add_inversions` takes, for each digit of the places in x
    """

    classes: list[tuple[Integers, int]]
    digits: list[tuple[Integers, Integers, Integers, int]]


class _Kendall(_RankCorrelation):
    def _prepare(self, x: Integers, y: Integers) -> _Pairs:
        both = np.unique(x * (y.max() + 1) + y, return_inverse=True)[1]
        classes = [(read_only(c), int(c.max()) + 1) for c in (np.zeros_like(x), x, y, both)]
        # Rows tied in y come in the order of x: none of their pairs is an inversion.
        return _Pairs(classes, _digits(x, np.lexsort((x, y))))

    def _products(self, prepared: _Pairs, weights: Floats) -> tuple[Floats, Floats, Floats]:
        from fastboot.kernels.rank_correlation import (
            LANES,
            add_inversions,
            add_squared_totals,
            interleave,
        )

        n_replicates, n_rows = weights.shape
        squares, discordant = np.zeros((4, n_replicates)), np.zeros(n_replicates)
        for first in range(0, n_replicates, LANES):
            batch = slice(first, min(first + LANES, n_replicates))
            lanes = np.empty((n_rows, batch.stop - first))
            interleave(weights, first, lanes)
            for tied, square in zip(prepared.classes, squares, strict=True):
                add_squared_totals(*tied, lanes, square[batch])
            for digit in prepared.digits:
                add_inversions(*digit, lanes, discordant[batch])
        # Pairs in both orders: those with equal rows, also of a row with itself, cancel out.
        every, tied_x, tied_y, tied_both = squares
        untied = every - tied_x - tied_y + tied_both
        return untied - 4.0 * discordant, every - tied_x, every - tied_y


def _digits(places: Integers, order: Integers) -> list[tuple[Integers, Integers, Integers, int]]:
    """Cut places into digits of equal size, the highest first.

    Rows that agree in all higher digits are a segment, in which they keep their order. Two rows of
    different places meet at the highest digit in which they differ.
    """
    from fastboot.kernels.rank_correlation import DIGIT_BITS

    digits = []
    left = int(places.max()).bit_length()
    while left > 0:
        n_bits = -(-left // -(-left // DIGIT_BITS))
        rows = order[np.argsort(places[order] >> left, kind="stable")]
        segments = places[rows] >> left
        starts = np.searchsorted(segments, np.arange(segments[-1] + 2))
        left -= n_bits
        digit = (places[rows] >> left) & ((1 << n_bits) - 1)
        digits.append((read_only(rows), read_only(digit), read_only(starts), n_bits))
    return digits


@recorded
def spearman(x: Source, y: Source) -> Weighted:
    """Spearman's rank correlation of two columns: Pearson's of their ranks.

    As ``scipy.stats.spearmanr`` of the resampled rows; equal values share the mean of their ranks.
    Undefined where a column is constant.

    Parameters
    ----------
    x, y
        Column name, or array of shape (n_rows,).

    Notes
    -----
    Weights that are not whole: the rank of a value is the weight of all smaller ones and half its
    own, and the correlation of the ranks is weighted. For whole weights that is SciPy's figure.

    Examples
    --------
    >>> import fastboot as fb
    >>> human, metric = [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 4, 3, 5, 7, 6, 8]
    >>> round(fb.bootstrap(fb.spearman(metric, human), rng=0).estimate, 12)
    0.952380952381
    """
    return _Spearman(x, y, "spearman")


@recorded
def kendall(x: Source, y: Source) -> Weighted:
    """Kendall's rank correlation of two columns, with ties: tau-b.

    (concordant - discordant) / sqrt(pairs not tied in x x pairs not tied in y) (Kendall 1945), as
    ``scipy.stats.kendalltau`` of the resampled rows. A row that was drawn twice is a pair tied in
    both. Undefined where a column is constant.

    Parameters
    ----------
    x, y
        Column name, or array of shape (n_rows,).

    Notes
    -----
    Weights that are not whole: a pair counts with the product of the weights of its two rows. For
    whole weights that is SciPy's figure. Exact up to 60 million resampled rows, whose pairs float64
    can still count.

    Examples
    --------
    >>> import fastboot as fb
    >>> human, metric = [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 4, 3, 5, 7, 6, 8]
    >>> round(fb.bootstrap(fb.kendall(metric, human), rng=0).estimate, 12)
    0.857142857143
    """
    return _Kendall(x, y, "kendall")
