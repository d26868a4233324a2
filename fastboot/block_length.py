"""How long the blocks of a block bootstrap should be, estimated from the series itself.

Blocks that are too short break the dependence between neighbouring rows, blocks that are too long
leave few different resamples. The length that makes the mean squared error of the bootstrap
variance smallest depends on the autocovariances only.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastboot.plain import counted, with_nan

__all__ = ["block_length"]

# The variance of the variance estimate, in units of the squared long-run variance (Patton, Politis
# and White 2009, equations 4 and 5). Moving blocks differ from circular ones at the ends only.
_CONSTANTS = {"stationary": 2.0, "circular": 4.0 / 3.0, "moving": 4.0 / 3.0}
# Below, the lags that are looked at, up to ceil(sqrt(n)) + 5, leave no two rows to compare.
_FEWEST_ROWS = 11


def block_length(
    values: ArrayLike, *, scheme: Literal["stationary", "circular", "moving"] = "stationary"
) -> float:
    r"""Estimate the best block length for the mean of a series.

    .. math:: b = \left( \frac{2 n G^2}{c \, s^4} \right)^{1/3}, \quad
              G = \sum_{k=-M}^{M} w(k/M) \, |k| \, R(k), \quad
              s^2 = \sum_{k=-M}^{M} w(k/M) \, R(k)

    with the autocovariances :math:`R(k)`, the flat-top window :math:`w(t) = \min(1, 2 (1 - |t|))`
    and :math:`c` = 2 for the stationary bootstrap, 4/3 for circular blocks [1]_, [2]_. M is twice
    the first lag from which on :math:`\max(5, \lfloor \log_{10} n \rfloor)` autocorrelations in a
    row are within :math:`2 \sqrt{\log_{10}(n) / n}` of 0. The tuning constants are those of
    ``arch.bootstrap.optimal_block_length``, and so is the answer.

    Parameters
    ----------
    values
        Shape (n_rows,), numbers in time order, at least 11. For a statistic other than a mean: the
        influence of every row on it.
    scheme
        "stationary": the mean of the geometric lengths. "circular" or "moving": the length of all
        blocks.

    Returns
    -------
    float
        Between 1 and the smaller of 3 sqrt(n) and n / 3, rounded up. Round it where whole rows are
        needed.

    Raises
    ------
    ValueError
        `scheme` is unknown; `values` is not a series of numbers, is too short, constant, or has
        values that are not finite.

    References
    ----------
    .. [1] D. N. Politis, H. White, "Automatic block-length selection for the dependent bootstrap",
       Econometric Reviews 23, 2004.
    .. [2] A. Patton, D. N. Politis, H. White, "Correction to 'Automatic block-length selection for
       the dependent bootstrap'", Econometric Reviews 28, 2009.

    Examples
    --------
    Each value keeps 0.8 of the one before it:

    >>> values = [0.0]
    >>> for shock in np.random.default_rng(0).normal(size=999):
    ...     values.append(0.8 * values[-1] + shock)
    >>> round(block_length(values), 2)
    21.51
    """
    if scheme not in _CONSTANTS:
        raise ValueError(f'`scheme` is {scheme!r}; use "stationary", "circular" or "moving".')
    series = _checked(values)
    n = series.size
    series /= np.abs(series).max()  # squares of squares do not overflow
    deviations = series - series.mean()
    largest_lag = _largest_lag(deviations)
    lags = np.arange(1, largest_lag + 1)
    window = np.minimum(1.0, 2.0 * (1.0 - lags / largest_lag))
    covariances = window * np.array([_lagged_product(deviations, lag) for lag in lags.tolist()])
    slope = 2.0 * (lags * covariances).sum()
    variance = _lagged_product(deviations, 0) + 2.0 * covariances.sum()
    # The window can make the long-run variance 0: an endless length, and none for 0 / 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.cbrt(2.0 * n / _CONSTANTS[scheme] * np.divide(slope, variance) ** 2)
    longest = math.ceil(min(3.0 * math.sqrt(n), n / 3.0))
    return float(np.fmin(np.fmax(length, 1.0), longest))


def _checked(values: ArrayLike) -> NDArray[np.float64]:
    try:
        series = with_nan(values)
    except ValueError as error:
        raise ValueError(
            "`values` has lists of different lengths; give one series of numbers, shape (n_rows,)."
        ) from error
    if series.ndim != 1 or series.dtype.kind not in "biuf":
        raise ValueError(
            f"`values` has shape {series.shape} and type {series.dtype}; "
            f"give one series of numbers, shape (n_rows,)."
        )
    if series.size < _FEWEST_ROWS:
        raise ValueError(
            f"`values` has {series.size} rows; the automatic block length needs {_FEWEST_ROWS}. "
            f"Give the length of the blocks as a number."
        )
    bad = np.flatnonzero(~np.isfinite(series))
    if bad.size:
        raise ValueError(
            f"`values` has {counted(bad.size, 'value')} that {'is' if bad.size == 1 else 'are'} "
            f"not finite (first at row {bad[0]:,}); "
            f"a series in time order has no gaps."
        )
    if (series == series[0]).all():
        raise ValueError(
            f"`values` is {series[0]} in all {series.size:,} rows; "
            f"a constant series has no best block length."
        )
    return series.astype(np.float64)


def _lagged_product(deviations: NDArray[np.float64], lag: int) -> float:
    """Sum of products of rows that far apart; no BLAS, whose last bits depend on its threads."""
    return float((deviations[lag:] * deviations[: deviations.size - lag]).sum())


def _largest_lag(deviations: NDArray[np.float64]) -> int:
    """Twice the first lag from which on a run of autocorrelations is near 0."""
    n = deviations.size
    squares = deviations**2
    wanted = max(5, int(math.log10(n)))
    most = math.ceil(math.sqrt(n)) + wanted
    near = 2.0 * math.sqrt(math.log10(n) / n)
    run = 0
    for lag in range(most):
        # As in arch, the sums of squares leave out one row more than the lag does.
        scale = math.sqrt(squares[lag + 1 :].sum() * squares[: n - lag - 1].sum())
        run = run + 1 if abs(_lagged_product(deviations, lag)) < near * scale else 0
        if run == wanted:
            return min(2 * max(lag - wanted + 1, 1), most)
    return most
