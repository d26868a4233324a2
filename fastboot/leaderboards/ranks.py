"""Where systems stand among each other, from joint bootstrap replicates of their values.

All functions take the values of S systems, shape (S,), and their replicates of the same resamples,
shape (S, n_replicates). A system whose value is undefined (NaN), or that has no defined replicate,
is not in the ranking; a replicate in which one of the others is undefined is left out, since ranks
in it are unknown. Work is done row by row: nothing of size S x S x n_replicates is stored.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.intervals import check_level
from fastboot.leaderboards.corrections import LEVEL_ROUNDING, Pairs, max_t, studentized

__all__ = [
    "MCS_STATISTICS",
    "ModelConfidenceSet",
    "RankIntervals",
    "indistinguishable",
    "letters",
    "model_confidence_set",
    "probability_best",
    "rank_intervals",
    "surely_better",
]

MCS_STATISTICS = ("range", "max")

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class RankIntervals(NamedTuple):
    """Ranks of S systems; 1 is best.

    Attributes
    ----------
    rank
        1 + the number of systems with a better value, shape (S,); NaN where not in the ranking.
    low, high
        Simultaneous interval: all S hold together with the given confidence.
    marginal_low, marginal_high
        Bootstrap quantiles of the rank of this system alone. They are too narrow where values are
        nearly equal (Mogstad, Romano, Shaikh and Wilhelm 2024): resamples lie around the observed
        values, which are spread where the true ones are not.
    better
        Shape (S, S): row is surely better than column; what `low` and `high` are read off.
    """

    rank: Floats
    low: Floats
    high: Floats
    marginal_low: Floats
    marginal_high: Floats
    better: Bools


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


def surely_better(
    values: Floats,
    replicates: Floats,
    *,
    higher_is_better: bool = True,
    confidence_level: float = 0.95,
    step_down: bool = True,
    rounding: float | Floats = 0.0,
) -> Bools:
    """Return which systems are better than which, all statements together at one confidence.

    Step-down max-T (:func:`fastboot.leaderboards.corrections.max_t`) over the one-sided hypotheses
    of all ordered pairs, "row is no better than column" (Mogstad, Romano, Shaikh and Wilhelm 2024):
    both directions of a pair are tested, so errors of direction are controlled too.

    Parameters
    ----------
    values, replicates
        Shapes (S,) and (S, n_replicates), see the module.
    higher_is_better
        False for losses and error rates.
    confidence_level
        That no statement is wrong.
    step_down
        False gives the statements of the simultaneous intervals of all pairs.
    rounding
        How far values may differ that are equal in exact arithmetic; one, or shape (S,).

    Returns
    -------
    NDArray
        Shape (S, S), bool: row is surely better than column.
    """
    level = check_level(confidence_level)
    n = len(values)
    first, second = np.nonzero(~np.eye(n, dtype=bool))
    sign = 1.0 if higher_is_better else -1.0
    pairs = Pairs(sign * values, sign * replicates, rounding=rounding, first=first, second=second)
    pvalues = max_t(
        pairs.estimates,
        pairs,
        pairs.standard_errors,
        alternative="greater",
        step_down=step_down,
        rounding=pairs.rounding,
    )
    better = np.zeros((n, n), dtype=bool)
    better[first, second] = pvalues <= 1.0 - level + LEVEL_ROUNDING
    return better


def rank_intervals(
    values: Floats,
    replicates: Floats,
    *,
    higher_is_better: bool = True,
    confidence_level: float = 0.95,
    rounding: float | Floats = 0.0,
) -> RankIntervals:
    """Return intervals of the ranks of all systems.

    The rank of a system lies between 1 + the number of systems surely better and S - the number
    surely worse, for all systems at once wherever no statement of :func:`surely_better` is wrong
    (Mogstad, Romano, Shaikh and Wilhelm 2024). Systems that are truly equal share their ranks; the
    interval covers all of these.

    Parameters
    ----------
    values, replicates, higher_is_better, confidence_level, rounding
        As for :func:`surely_better`.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((3, 999))
    >>> values = np.array([0.0, 9.0, 0.5])
    >>> found = rank_intervals(values, values[:, None] + noise)
    >>> found.low.tolist(), found.high.tolist()
    ([2.0, 1.0, 2.0], [3.0, 1.0, 3.0])
    """
    n = len(values)
    better = surely_better(
        values,
        replicates,
        higher_is_better=higher_is_better,
        confidence_level=confidence_level,
        rounding=rounding,
    )
    systems, own, complete, off = _ranking(
        values, replicates, higher_is_better=higher_is_better, rounding=rounding
    )
    found = np.full((5, n), np.nan)
    found[0, systems] = _range_of_ranks(own[:, None], off)[0][:, 0]
    found[1, systems] = 1 + better.sum(axis=0)[systems]
    found[2, systems] = systems.size - better.sum(axis=1)[systems]
    if complete.shape[1]:
        best, worst = _range_of_ranks(complete, off)
        tail = (1.0 - confidence_level) / 2.0
        # Quantiles that are ranks; those of ties lie on the safe side.
        found[3, systems] = np.quantile(best, tail, axis=1, method="inverted_cdf")
        found[4, systems] = np.quantile(worst, 1.0 - tail, axis=1, method="inverted_cdf")
    return RankIntervals(found[0], found[1], found[2], found[3], found[4], better)


def _range_of_ranks(values: Floats, rounding: Floats) -> tuple[NDArray[np.int64], ...]:
    """Best and worst rank in each column, which differ for ties; values grow with quality."""
    best, worst = np.empty((2, *values.shape), dtype=np.int64)
    for row, own in enumerate(values):
        ties = (rounding + rounding[row])[:, None]
        best[row] = 1 + (values - own > ties).sum(axis=0)
        worst[row] = len(values) - (own - values > ties).sum(axis=0)
    return best, worst


def probability_best(
    values: Floats,
    replicates: Floats,
    *,
    higher_is_better: bool = True,
    rounding: float | Floats = 0.0,
) -> Floats:
    """Return the share of replicates in which each system is best; those that tie share equally.

    A description of the resamples, not a test: under equal systems the shares of a sample are
    anything from 0 to 1.

    Parameters
    ----------
    values, replicates, higher_is_better, rounding
        As for :func:`surely_better`.

    Returns
    -------
    NDArray
        Shape (S,), adds up to 1; NaN where not in the ranking, or without replicates.

    Examples
    --------
    >>> replicates = np.array([[1.0, 2.0, 3.0, 1.0], [1.0, 1.0, 4.0, 0.0]])
    >>> probability_best(np.array([2.0, 1.5]), replicates).tolist()
    [0.625, 0.375]
    """
    shares = np.full(len(values), np.nan)
    systems, _, complete, off = _ranking(
        values, replicates, higher_is_better=higher_is_better, rounding=rounding
    )
    if complete.size:
        least = (complete - off[:, None]).max(axis=0)
        tied = complete + off[:, None] >= least
        shares[systems] = (tied / tied.sum(axis=0)).mean(axis=1)
    return shares


def indistinguishable(differ: Bools, order: Sequence[int] | None = None) -> list[tuple[int, ...]]:
    """Return groups of systems no two of which differ, so that any two that do not share a group.

    No system can be added to a group, and no group left out. Where systems that differ always do so
    beyond the systems between them, these are all such groups. Otherwise all can be exponentially
    many (for 50 systems of which a random tenth of pairs differs, finding them took more than ten
    minutes by the insertion and absorption of Piepho 2004), so each pair that
    shares no group yet makes one, filled up from the best system on (a cover by cliques: Gramm,
    Guo, Hueffner and Niedermeier 2007).

    Parameters
    ----------
    differ
        Shape (S, S), bool, symmetric: whether two systems differ.
    order
        Systems from best to worst; as given where None.

    Returns
    -------
    list
        Of the systems of each group, best first; groups with the best systems first.
    """
    order = range(len(differ)) if order is None else order
    n = len(order)
    alike = ~differ[np.ix_(order, order)]
    np.fill_diagonal(alike, val=True)
    n_shared = np.zeros((n, n), dtype=np.int64)
    groups: list[Bools] = []
    for first in range(n):
        for last in reversed(range(first, n)):
            if alike[first, last] and not n_shared[first, last]:
                group = alike[first] & alike[last]
                for system in range(n):
                    if group[system]:
                        group &= alike[system]
                n_shared += group & group[:, None]
                groups.append(group)
    needed = []
    for group in groups:
        pairs = group & group[:, None]
        if (n_shared[pairs] > 1).all():
            n_shared -= pairs
        else:
            needed.append(tuple(np.flatnonzero(group).tolist()))
    return [tuple(int(order[place]) for place in group) for group in sorted(needed)]


def letters(differ: Bools, order: Sequence[int] | None = None) -> list[str]:
    """Return a compact letter display: two systems share a letter if they do not differ.

    Letters stand for the groups of :func:`indistinguishable` (Piepho 2004).

    Parameters
    ----------
    differ
        Shape (S, S), bool, symmetric: whether two systems differ; of ranks ``better | better.T``.
    order
        Systems from best to worst; as given where None. The best have the first letters.

    Returns
    -------
    list
        Of S words of letters, a to z and A to Z; with more than 52 groups numbers with commas.

    Examples
    --------
    >>> differ = np.zeros((3, 3), dtype=bool)
    >>> differ[0, 2] = differ[2, 0] = True  # the first and the last differ
    >>> letters(differ)
    ['a', 'ab', 'b']
    """
    groups = indistinguishable(differ, order)
    few = len(groups) <= len(string.ascii_letters)
    names = string.ascii_letters if few else [str(k + 1) for k in range(len(groups))]
    shown: list[list[str]] = [[] for _ in range(len(differ))]
    for name, group in zip(names, groups, strict=False):
        for system in group:
            shown[system].append(name)
    return [("" if few else ",").join(own) for own in shown]


def model_confidence_set(
    values: Floats,
    replicates: Floats,
    *,
    higher_is_better: bool = True,
    statistic: str = "range",
    rounding: float | Floats = 0.0,
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
        As for :func:`surely_better`.
    statistic
        "range" or "max".

    Raises
    ------
    ValueError
        The word is unknown.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((3, 999))
    >>> values = np.array([0.0, 9.0, 8.5])
    >>> model_confidence_set(values, values[:, None] + noise).members().tolist()
    [False, True, True]
    """
    if statistic not in MCS_STATISTICS:
        raise ValueError(f"`statistic` is {statistic!r}; choose one of {', '.join(MCS_STATISTICS)}")
    systems, own, complete, off = _ranking(
        values, replicates, higher_is_better=higher_is_better, rounding=rounding
    )
    losses, moved = -own, own[:, None] - complete
    test = _by_range if statistic == "range" else _by_mean
    pvalues = np.full(len(values), np.nan)
    # Without replicates no test rejects: (0 + 1) / (0 + 1).
    pvalues[systems] = test(losses, moved, off) if complete.shape[1] else 1.0
    return ModelConfidenceSet(pvalues, statistic)


def _by_range(losses: Floats, moved: Floats, rounding: Floats) -> Floats:
    """p-values of the systems from the largest differences of pairs.

    Which system goes next depends on the data alone, so maxima over the replicates of pairs are
    built up from the last set to the first: each pair is looked at once.
    """
    off = rounding[:, None] + rounding
    errors = np.stack([_root_mean_square(own - moved) for own in moved])
    scores = studentized(losses[:, None] - losses, errors, off)
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


def _by_mean(losses: Floats, moved: Floats, rounding: Floats) -> Floats:
    """p-values of the systems from the largest differences to the mean of those left."""
    pvalues, rounds, left = np.ones(len(losses)), [], np.arange(len(losses))
    while left.size:
        off = rounding[left] + rounding[left].mean()
        above, replicated = _less_mean(losses[left]), _less_mean(moved[left])
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
    root: Floats = np.sqrt(np.square(rows).mean(axis=-1))
    return root


def _share(extreme: Bools) -> float:
    return float((np.count_nonzero(extreme) + 1) / (extreme.size + 1))


def _never_falling(pvalues: Floats, rounds: list[Bools]) -> Floats:
    largest = 0.0
    for leaving in rounds:
        largest = max(largest, pvalues[leaving][0])
        pvalues[leaving] = largest
    return pvalues


def _ranking(
    values: Floats, replicates: Floats, *, higher_is_better: bool, rounding: float | Floats
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """Systems in the ranking; their values, complete replicates (more is better) and rounding."""
    sign = 1.0 if higher_is_better else -1.0
    each = np.broadcast_to(np.asarray(rounding, dtype=np.float64), values.shape)
    systems = np.flatnonzero(~np.isnan(values) & ~np.isnan(replicates).all(axis=1))
    own = replicates[systems]
    complete = own[:, ~np.isnan(own).any(axis=0)]
    return systems, sign * values[systems], sign * complete, each[systems]
