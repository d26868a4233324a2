"""Standardised mean differences of pairs, and their intervals.

Cohen's d_z is mean / standard deviation of the differences; Hedges' g_z is d_z less the bias of
few pairs. With normal differences t has a noncentral t distribution whose noncentrality is
sqrt(n) x the population's mean / standard deviation: the noncentralities that neither tail rejects
give the interval (Steiger and Fouladi 1997; Cumming and Finch 2001).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["hedges_factor", "noncentral_t_cdf", "noncentrality_limits"]

Floats = NDArray[np.float64]

# Of the normal law, in standard deviations: beyond lies 1e-19.
_REACH = 9.0
# Both factors of the integrand vary over a standard deviation or more, and 18 of these are
# integrated: 100 nodes leave errors of 1e-14.
_NODES = 100


def hedges_factor(degrees_of_freedom: float) -> float:
    """Return what removes the bias of d_z (Hedges 1981, equation 6e): below 1, 0 at 1 of freedom.

    gamma(df / 2) / (sqrt(df / 2) gamma((df - 1) / 2)); NaN without degrees of freedom.
    """
    from scipy.special import poch

    if not degrees_of_freedom >= 1.0:
        return math.nan
    half = degrees_of_freedom / 2.0
    if half == 0.5:
        return 0.0  # 1 / gamma(0)
    return float(poch(half - 0.5, 0.5)) / math.sqrt(half)


def noncentrality_limits(
    t: float, degrees_of_freedom: float, tails: tuple[float, float]
) -> tuple[float, float]:
    """Return the noncentralities under which t is such a quantile; NaN where t is not finite.

    Parameters
    ----------
    t, degrees_of_freedom
        As observed.
    tails
        Levels of the lower and the upper limit, such as 0.025 and 0.975.
    """
    if not (math.isfinite(t) and degrees_of_freedom >= 1.0):
        return math.nan, math.nan
    if t < 0.0:
        low, high = noncentrality_limits(-t, degrees_of_freedom, (1.0 - tails[1], 1.0 - tails[0]))
        return -high, -low
    low, high = (_noncentrality(t, degrees_of_freedom, 1.0 - tail) for tail in tails)
    return low, high


def _noncentrality(t: float, degrees_of_freedom: float, probability: float) -> float:
    """Return the noncentrality under which values up to t have this probability."""
    from scipy.optimize import brentq

    above = t * (1.0 + _REACH / math.sqrt(2.0 * degrees_of_freedom)) + _REACH
    return float(
        brentq(
            lambda shift: noncentral_t_cdf(t, degrees_of_freedom, shift) - probability,
            -_REACH,
            above,
            xtol=1e-13 * above,
            rtol=1e-14,
        )
    )


def noncentral_t_cdf(t: float, degrees_of_freedom: float, noncentrality: float) -> float:
    """Return P(T <= t), t of 0 or more, for T = (Z + noncentrality) / S.

    Z is standard normal, S = chi / sqrt(degrees of freedom). Given S the probability is normal,
    given Z it is that of a chi-square: the integral is over the one whose condition is smoother.
    (SciPy 1.17 has no value or a wrong one where t is large for its degrees of freedom: for 1 of
    these and t = 1000 an upper limit is right and a lower one is not.)
    """
    from scipy.special import chdtrc, ndtr

    if t * t <= 2.0 * degrees_of_freedom:
        spread, weights = _chi(degrees_of_freedom)
        return float(weights @ ndtr(t * spread - noncentrality))
    # Where Z + noncentrality < 0, T is below t whatever S is.
    start = min(max(-_REACH, -noncentrality), _REACH)
    z, weights = _scaled(start, _REACH)
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    least = (z + noncentrality) / t
    inside = weights @ (density * chdtrc(degrees_of_freedom, degrees_of_freedom * least * least))
    return float(ndtr(start) + inside)


@lru_cache(maxsize=8)
def _chi(degrees_of_freedom: float) -> tuple[Floats, Floats]:
    """Values of chi / sqrt(degrees of freedom), and their probabilities."""
    reach = _REACH / math.sqrt(2.0 * degrees_of_freedom)
    values, weights = _scaled(max(0.0, 1.0 - reach), 1.0 + reach)
    off = values - 1.0
    # log density, but for a constant: (df - 1) log s - df s^2 / 2, without cancellation.
    logs = degrees_of_freedom * (np.log1p(off) - off - 0.5 * off * off) - np.log(values)
    weights = weights * np.exp(logs - logs.max())
    return values, weights / weights.sum()


def _scaled(low: float, high: float) -> tuple[Floats, Floats]:
    nodes, weights = _legendre()
    half = 0.5 * (high - low)
    return low + half * (nodes + 1.0), half * weights


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(_NODES)
