"""Order statistics of one column: quantiles, trimmed means, extremes.

Rows are sorted once. A row of weight c counts as c equal rows; weights that are not whole numbers
follow the same formulas, with the cumulative weight in place of the number of rows.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Source
from fastboot.statistics.checks import check_number
from fastboot.statistics.weighted import Weighted

__all__ = [
    "OrderStatistic",
    "interquartile_mean",
    "maximum",
    "median",
    "minimum",
    "quantile",
    "read_only",
    "trimmed_mean",
]

Floats = NDArray[np.float64]

# Alpha and beta of Hyndman and Fan (1996, "Sample quantiles in statistical packages", The American
# Statistician 50): the virtual index, from 0, is n q + alpha + q (1 - alpha - beta) - 1.
_INTERPOLATED = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
_CHOSEN = (
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
)


class _Prepared(NamedTuple):
    """Rows by value, and what to sum over all rows.

    values, order : shape (n_rows,), sorted values, and the row of each
    terms : shape (n_terms, n_rows), in the order of the rows: 1, whether a row is among the first
        `starts` places, ...
    """

    values: Floats
    order: NDArray[np.int64]
    terms: Floats
    starts: tuple[int, ...]

    def sums(self, weights: Floats) -> Floats:
        """Sum the terms of weighted rows: shape (n_terms, n_replicates)."""
        from fastboot.kernels.order import add_products

        sums = np.zeros((len(self.terms), len(weights)))
        add_products(self.terms, weights, sums)
        return sums


def _prepare(values: Floats, *starts: int) -> _Prepared:
    order = np.argsort(values, kind="stable")
    terms = np.ones((1 + len(starts), values.size))
    for term, start in zip(terms[1:], starts, strict=True):
        term[order[start:]] = 0.0
    return _Prepared(read_only(values[order]), read_only(order), read_only(terms), starts)


def read_only(array: Any) -> Any:
    """Return a read-only view: kernels compile once for it."""
    array = array.view()
    array.flags.writeable = False
    return array


class _Ordered(Weighted):
    """A statistic of one column that is NaN for all weights where a value is."""

    def prepare(self, values: Floats) -> _Prepared | None:
        return None if np.isnan(values).any() else self._prepare(values)

    def values(self, prepared: _Prepared | None, weights: Floats) -> Floats:
        if prepared is None:
            return np.full(len(weights), np.nan)
        return self._values(prepared, read_only(weights))

    def _prepare(self, values: Floats) -> _Prepared:
        raise NotImplementedError

    def _values(self, prepared: _Prepared, weights: Floats) -> Floats:
        raise NotImplementedError


class OrderStatistic(_Ordered):
    """A statistic that is one of the sorted rows, or lies between two neighbours."""

    def neighbours(self, n: int) -> tuple[int, float]:
        """Say where it lies among n sorted rows of weight 1.

        With k and a share, the value is (1 - share) x the k-th smallest + share x the next.

        Examples
        --------
        >>> import fastboot as fb
        >>> fb.quantile("score", 0.25).neighbours(6)
        (2, 0.25)
        """
        ranks = self._prepare(np.arange(float(n)))
        position = float(self._values(ranks, read_only(np.ones((1, n))))[0])
        return int(position) + 1, position % 1.0


_INCONSISTENT = (
    "The bootstrap is inconsistent for a minimum or maximum: most resamples (63 %) repeat the "
    "observed one, however many rows there are (Bickel and Freedman 1981)."
)


class _Quantile(OrderStatistic):
    def __init__(self, values: Source, q: Any, method: str, name: str | None = None) -> None:
        q = check_number("q", q)
        if not 0.0 <= q <= 1.0:
            raise ValueError(f"`q` is {q:g}; it must be from 0 to 1 (0.9 for the 90th percentile)")
        if method not in (*_INTERPOLATED, *_CHOSEN):
            choices = ", ".join(f'"{choice}"' for choice in (*_INTERPOLATED, *_CHOSEN))
            raise ValueError(f"`method` is {method!r}; choose one of {choices}")
        shown = f"{q:g}" if method == "linear" else f'{q:g}, method="{method}"'
        super().__init__(Column(values, "number", "values"), name=name or f"quantile({shown})")
        self._q = q
        self._method = method
        # Next to an end it is as bad, but how near is too near depends on the tail.
        self.remark = _INCONSISTENT if q in {0.0, 1.0} else ""

    def _prepare(self, values: Floats) -> _Prepared:
        return _prepare(values, int(self._q * (values.size - 1)))

    def _values(self, prepared: _Prepared, weights: Floats) -> Floats:
        from fastboot.kernels.order import fill_places, fill_window_means

        total, below = prepared.sums(weights)
        place = prepared.order, weights, *prepared.starts, below
        if self._method in _INTERPOLATED:
            value = np.empty(len(weights))
            low = np.clip(_virtual_index(self._method, self._q, total), 0.0, total - 1.0)
            fill_window_means(prepared.values, *place, np.maximum(low, 0.0), value)
        else:
            places = np.empty((2, len(weights)), np.int64)
            ranks = _ranks(self._method, self._q, total)
            for row, (rank, step) in zip(places, (ranks[0], ranks[-1]), strict=True):
                # At least -step: only a positive cumulative weight exceeds it.
                fill_places(*place, np.maximum(rank, -step), step, row)
            lower, upper = prepared.values[places]
            value = lower + 0.5 * (upper - lower)
        return np.where(total > 0.0, value, np.nan)


def _virtual_index(method: str, q: float, n: Floats) -> Floats:
    if method == "linear":  # without the rounding of the general formula, as NumPy
        return (n - 1.0) * q
    alpha, beta = _INTERPOLATED[method]
    return n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0


def _ranks(method: str, q: float, n: Floats) -> list[tuple[Floats, float]]:
    """Ranks, and steps: the row is the first whose cumulative weight, less the step, exceeds it.

    For "reaches" in place of "exceeds" the rank is the next smaller number. The steps are not added
    to the ranks, because that may round.
    """
    index, rank = (n - 1.0) * q, n * q
    lower, higher = (index, 0.0), (_before(index), 1.0)
    reached = (_before(rank), 0.0)
    # Ties go to the even index, and to the even rank.
    rounded = np.where(index - np.rint(index) == 0.5, _before(index), index)
    closest = np.where((rank - 0.5) % 2.0 == 0.0, _before(rank), rank)
    return {
        "lower": [lower],
        "higher": [higher],
        "midpoint": [lower, higher],
        "nearest": [(rounded, 0.5)],
        "inverted_cdf": [reached],
        "averaged_inverted_cdf": [reached, (rank, 0.0)],
        "closest_observation": [(closest, -0.5)],
    }[method]


def _before(x: Floats) -> Floats:
    return np.nextafter(x, -np.inf)


class _Extreme(OrderStatistic):
    remark: ClassVar[str] = _INCONSISTENT

    def __init__(self, values: Source, sign: float, name: str) -> None:
        super().__init__(Column(values, "number", "values"), name=name)
        self._sign = sign

    def _prepare(self, values: Floats) -> _Prepared:
        return _prepare(self._sign * values)

    def _values(self, prepared: _Prepared, weights: Floats) -> Floats:
        from fastboot.kernels.order import fill_places

        zeros, places = np.zeros(len(weights)), np.empty(len(weights), np.int64)
        fill_places(prepared.order, weights, 0, zeros, zeros, 0.0, places)
        drawn = weights[np.arange(len(weights)), prepared.order[places]] > 0.0
        return np.where(drawn, self._sign * prepared.values[places], np.nan)


class _TrimmedMean(_Ordered):
    def __init__(self, values: Source, proportion: Any, name: str | None = None) -> None:
        proportion = check_number("proportion", proportion)
        if not 0.0 <= proportion < 0.5:
            raise ValueError(
                f"`proportion` is {proportion:g}; it must be 0 or more and below 0.5 (0.1 cuts a "
                "tenth of the rows from each end)"
            )
        name = name or f"trimmed_mean({proportion:g})"
        super().__init__(Column(values, "number", "values"), name=name)
        self._proportion = proportion

    def _prepare(self, values: Floats) -> _Prepared:
        cut = int(self._proportion * values.size)
        ranked = _prepare(values, cut, values.size - cut)
        # About a middle value, equal values have just that mean, and those far from 0 their digits.
        middle = ranked.values[values.size // 2]
        with np.errstate(over="ignore"):
            above = values - middle
            if not np.isfinite(np.abs(above).sum()):
                raise ValueError("the values sum to more than float64 can hold; divide them first")
        kept = ranked.terms[2] - ranked.terms[1]
        terms = read_only(np.vstack([ranked.terms, kept * above]))
        return ranked._replace(terms=terms)

    def _values(self, prepared: _Prepared, weights: Floats) -> Floats:
        from fastboot.kernels.order import fill_partial_sums

        total, *below, kept = prepared.sums(weights)
        middle = prepared.values[prepared.values.size // 2]
        cut = np.floor(self._proportion * total)
        ends = cut, total - cut
        moved = np.empty((2, len(weights)))
        above = read_only(prepared.values - middle)
        for row, start, sums, end in zip(moved, prepared.starts, below, ends, strict=True):
            fill_partial_sums(above, prepared.order, weights, start, sums, end, row)
        mean: Floats = middle + (kept + moved[1] - moved[0]) / (ends[1] - ends[0])
        return mean


@recorded
def quantile(values: Source, q: float, *, method: str = "linear") -> OrderStatistic:
    """Quantile of a column, as ``numpy.quantile`` of the resampled rows.

    Undefined where no row has weight.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).
    q
        From 0 to 1.
    method
        NumPy's name. Between two neighbours lie "linear", "interpolated_inverted_cdf", "hazen",
        "weibull", "median_unbiased" and "normal_unbiased"; one of them, or their middle, is
        "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf" or
        "closest_observation" (Hyndman and Fan 1996).

    Raises
    ------
    TypeError, ValueError
        `q` is not a number from 0 to 1, or `method` is unknown.

    Notes
    -----
    Weights that are not whole: with W the sum of the weights in place of n, the virtual index v of
    a method is a place on the cumulative weight, and a value between two neighbours becomes the
    mean of the rows that share the weight from v to v + 1. "lower" and "higher" are the rows at the
    two ends of it, "nearest" that at v + 1/2. "inverted_cdf" is NumPy's with ``weights=``.

    The bootstrap variance of a quantile has a relative error of order n^(-1/4), against n^(-1/2)
    for that of a mean (Hall and Martin 1988): trust intervals of few rows less.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.quantile([1.0, 2.0, 4.0, 8.0, 16.0], 0.9), rng=0).estimate
    12.8
    """
    return _Quantile(values, q, method)


@recorded
def median(values: Source) -> OrderStatistic:
    """Median of a column, as ``numpy.median`` of the resampled rows: the 0.5 quantile.

    Undefined where no row has weight.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.median([1.0, 2.0, 4.0, 8.0]), rng=0).estimate
    3.0
    """
    return _Quantile(values, 0.5, "linear", "median")


@recorded
def trimmed_mean(values: Source, proportion: float) -> Weighted:
    """Mean of a column without its ends, as ``scipy.stats.trim_mean`` of the resampled rows.

    Of n rows the floor(proportion x n) smallest and as many largest are cut off. Undefined where no
    row has weight.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).
    proportion
        Cut from each end: 0 or more and below 0.5.

    Raises
    ------
    TypeError, ValueError
        `proportion` is not such a number. When run: sums beyond float64.

    Notes
    -----
    Weights that are not whole: n is their sum, and a row on the border is cut in part.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.trimmed_mean([1.0, 2.0, 4.0, 6.0, 99.0], 0.2), rng=0).estimate
    4.0
    """
    return _TrimmedMean(values, proportion)


@recorded
def interquartile_mean(values: Source) -> Weighted:
    """Interquartile mean of a column: the mean of the middle half of the resampled rows.

    ``scipy.stats.trim_mean`` with a quarter cut from each end, floor(n / 4) rows, which is how the
    interquartile means of reinforcement learning are computed (Agarwal et al. 2021): figures agree
    with published ones. Another convention cuts a border row in part where 4 does not divide n; the
    two differ by a row at most. Undefined where no row has weight.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).

    Raises
    ------
    ValueError
        When run: sums beyond float64.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.interquartile_mean([1.0, 2.0, 4.0, 99.0]), rng=0).estimate
    3.0
    """
    return _TrimmedMean(values, 0.25, "interquartile_mean")


@recorded
def minimum(values: Source) -> OrderStatistic:
    """Return the smallest value of a column. Undefined where no row has weight.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).

    Notes
    -----
    The bootstrap is inconsistent for extremes: with probability 1 - (1 - 1/n)^n, about 63 %, a
    resample has the very minimum of the data, while another sample would have another one (Bickel
    and Freedman 1981). Intervals do not cover as stated, for any number of rows.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.minimum([3.0, 1.0, 2.0]), rng=0).estimate
    1.0
    """
    return _Extreme(values, 1.0, "minimum")


@recorded
def maximum(values: Source) -> OrderStatistic:
    """Return the largest value of a column. Undefined where no row has weight.

    Parameters
    ----------
    values
        Column name, or array of shape (n_rows,).

    Notes
    -----
    The bootstrap is inconsistent for extremes: see :func:`minimum`.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.maximum([3.0, 1.0, 2.0]), rng=0).estimate
    3.0
    """
    return _Extreme(values, -1.0, "maximum")
