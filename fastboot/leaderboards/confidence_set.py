"""The systems that may be the best: a set that holds it with a given confidence.

Hansen, Lunde and Nason 2011, "The model confidence set". Values, replicates and what is not in the
ranking are as in :mod:`fastboot.leaderboards.ranks`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastboot.intervals import check_level
from fastboot.leaderboards.corrections import LEVEL_ROUNDING, studentized
from fastboot.leaderboards.ranks import ranking_of
from fastboot.plain import numbers_of
from fastboot.rendering import count

__all__ = ["MCS_STATISTICS", "ModelConfidenceSet", "confidence_set", "model_confidence_set"]

MCS_STATISTICS = ("range", "max")

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class ModelConfidenceSet(NamedTuple):
    """The systems that may be the best.

    Attributes
    ----------
    pvalues
        Shape (S,): 1 less the confidence from which on a system belongs to the set. NaN where not
        in the ranking.
    statistic
        "range" or "max".
    """

    pvalues: Floats
    statistic: str

    def members(self, confidence_level: float = 0.95) -> Bools:
        """Return which systems are in the set of this confidence, shape (S,)."""
        level = check_level(confidence_level)
        inside: Bools = self.pvalues > 1.0 - level + LEVEL_ROUNDING
        return inside


def model_confidence_set(
    values: ArrayLike,
    replicates: ArrayLike,
    *,
    higher_is_better: bool = True,
    statistic: str = "range",
    rounding: ArrayLike = 0.0,
) -> ModelConfidenceSet:
    """Return the set of systems that holds the best with a given confidence.

    Hansen, Lunde and Nason (2011): test whether all systems of a set are equal, leave out the worst
    if not, and test again. With losses L, d_ij = L_i - L_j, d_i. = L_i - the mean of the set, and
    standard errors the root of the mean square of replicates around the estimate:

    - "range": the largest d_ij / error over pairs; the worst has the largest one against any.
    - "max": the largest d_i. / error; the worst is the system that has it.

    p-values are (count + 1) / (n + 1), ties count; that of a system is the largest of all tests up
    to the one that leaves it out. Systems that tie as the worst are left out together, so the order
    of systems does not matter; of the last ones, which no test can tell apart, it is 1. Systems
    that are copies of each other are allowed.

    Parameters
    ----------
    values, replicates, higher_is_better, rounding
        As for :func:`surely_better`; what is masked is NaN.
    statistic
        "range" or "max".

    Raises
    ------
    TypeError
        What should be numbers is not.
    ValueError
        The word is unknown, or values, replicates and rounding are not of the same systems.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((3, 999))
    >>> values = np.array([0.0, 9.0, 8.5])
    >>> model_confidence_set(values, values[:, None] + noise).members().tolist()
    [False, True, True]
    """
    if statistic not in MCS_STATISTICS:
        raise ValueError(f"`statistic` is {statistic!r}; choose one of {', '.join(MCS_STATISTICS)}")
    estimates, drawn, reach = _read(values, replicates, rounding)
    return confidence_set(
        estimates, drawn, higher_is_better=higher_is_better, statistic=statistic, rounding=reach
    )


def confidence_set(
    values: Floats,
    replicates: Floats,
    *,
    higher_is_better: bool = True,
    statistic: str = "range",
    rounding: float | Floats = 0.0,
    untested: Bools | None = None,
) -> ModelConfidenceSet:
    """Return the set of systems that holds the best, some pairs of which count as equal.

    Parameters
    ----------
    values, replicates, higher_is_better, statistic, rounding
        As for :func:`model_confidence_set`, and checked.
    untested
        Shape (S, S), symmetric: pairs that replicates say nothing about. No system is left out for
        one that it makes such a pair with. None: none.
    """
    systems, own, complete, off = ranking_of(
        values, replicates, higher_is_better=higher_is_better, rounding=rounding
    )
    losses, moved = -own, own[:, None] - complete
    test = _by_range if statistic == "range" else _by_mean
    alike = np.zeros((len(values),) * 2, dtype=bool) if untested is None else untested
    pvalues = np.full(len(values), np.nan)
    # Without replicates no test rejects: (0 + 1) / (0 + 1); without systems there is none.
    if complete.size:
        pvalues[systems] = test(losses, moved, off, alike[np.ix_(systems, systems)])
    else:
        pvalues[systems] = 1.0
    return ModelConfidenceSet(pvalues, statistic)


def _read(values: Any, replicates: Any, rounding: Any) -> tuple[Floats, Floats, Floats]:
    """Return values, replicates and rounding of the same systems."""
    estimates = numbers_of("values", values)
    if estimates.ndim != 1:
        raise ValueError(f"`values` has shape {estimates.shape}; give one value for each system")
    n = len(estimates)
    if n == 0:
        raise ValueError("`values` is empty; give one value for each system")
    drawn = numbers_of("replicates", replicates)
    if drawn.ndim != 2 or len(drawn) != n:
        raise ValueError(
            f"`replicates` has shape {drawn.shape} but `values` {count(n, 'system')}; give a row "
            f"of replicates for each, shape ({n}, n_replicates)"
        )
    reach = numbers_of("rounding", rounding)
    if reach.shape not in {(), (n,)}:
        raise ValueError(
            f"`rounding` has shape {reach.shape} but `values` {count(n, 'system')}; give one "
            "number, or one for each"
        )
    return estimates, drawn, reach


def _by_range(losses: Floats, moved: Floats, rounding: Floats, untested: Bools) -> Floats:
    """p-values of the systems from the largest differences of pairs.

    Which system goes next depends on the data alone, so maxima over the replicates of pairs are
    built up from the last set to the first: each pair is looked at once.
    """
    off = rounding[:, None] + rounding
    errors = np.stack([_root_mean_square(own - moved) for own in moved])
    scores = np.where(untested, 0.0, studentized(losses[:, None] - losses, errors, off))
    varies = errors > off
    slack = np.where(varies, off / np.where(varies, errors, 1.0), 0.0)

    left, rounds = np.ones(len(losses), dtype=bool), []
    while left.any():
        among = np.where(left & left[:, None], scores, -np.inf)
        worst = among.max(axis=1)
        rounds.append((worst == worst.max(), (among - slack).max()))
        left &= worst != worst.max()

    pvalues, largest = np.ones(len(losses)), np.zeros(moved.shape[1])
    for leaving, least in reversed(rounds):
        for system in np.flatnonzero(leaving):
            left[system] = True
            others = moved[system] - moved[left]
            sizes = np.abs(studentized(others, errors[system, left, None], off[system, left, None]))
            np.maximum(largest, (sizes + slack[system, left, None]).max(axis=0), out=largest)
        pvalues[leaving] = _share(largest >= least)
    return _never_falling(pvalues, [leaving for leaving, _ in rounds])


def _by_mean(losses: Floats, moved: Floats, rounding: Floats, untested: Bools) -> Floats:
    """p-values of the systems from the largest differences to the mean of those left."""
    pvalues, rounds, left = np.ones(len(losses)), [], np.arange(len(losses))
    while left.size:
        off = rounding[left] + rounding[left].mean()
        above, replicated = _less_mean(losses[left]), _less_mean(moved[left])
        alike = untested[np.ix_(left, left)]
        if alike.any():
            above = np.where(alike, 0.0, losses[left, None] - losses[left]).mean(axis=1)
        errors = _root_mean_square(replicated)
        scores = studentized(above, errors, off)
        slack = np.where(errors > off, off / np.where(errors > off, errors, 1.0), 0.0)
        maxima = studentized(replicated, errors[:, None], off[:, None]) + slack[:, None]
        worst = scores == scores.max()
        leaving = np.isin(np.arange(len(losses)), left[worst])
        pvalues[leaving] = _share(maxima.max(axis=0) >= (scores - slack).max())
        rounds.append(leaving)
        left = left[~worst]
    return _never_falling(pvalues, rounds)


def _less_mean(values: Floats) -> Floats:
    """Differences to the mean over systems; exactly 0 where all are equal."""
    from_first = values - values[:1]
    differences: Floats = from_first - from_first.mean(axis=0)
    return differences


def _root_mean_square(rows: Floats) -> Floats:
    # In units of a power of two: squares of 1e-200 and 1e200 have no float64.
    _, exponents = np.frexp(np.abs(rows).max(axis=-1))
    scaled = np.ldexp(rows, -exponents[..., None])
    root: Floats = np.ldexp(np.sqrt(np.square(scaled).mean(axis=-1)), exponents)
    return root


def _share(extreme: Bools) -> float:
    return float((np.count_nonzero(extreme) + 1) / (extreme.size + 1))


def _never_falling(pvalues: Floats, rounds: list[Bools]) -> Floats:
    largest = 0.0
    for leaving in rounds:
        largest = max(largest, pvalues[leaving][0])
        pvalues[leaving] = largest
    return pvalues
