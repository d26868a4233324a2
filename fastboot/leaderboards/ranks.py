"""Where systems stand among each other, from joint bootstrap replicates of their values.

All functions take the values of S systems, shape (S,), and their replicates of the same resamples,
shape (S, n_replicates). A system whose value is undefined (NaN), or that has no defined replicate,
is not in the ranking; a replicate in which one of the others is undefined is left out, since ranks
in it are unknown. Work is done row by row: nothing of size S x S x n_replicates is stored.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.intervals import check_level
from fastboot.leaderboards.corrections import LEVEL_ROUNDING, Pairs, max_t

__all__ = [
    "RankIntervals",
    "indistinguishable",
    "letters",
    "probability_best",
    "rank_intervals",
    "ranking_of",
    "surely_better",
]

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


def surely_better(
    values: Floats,
    replicates: Floats,
    *,
    higher_is_better: bool = True,
    confidence_level: float = 0.95,
    step_down: bool = True,
    rounding: float | Floats = 0.0,
    untested: Bools | None = None,
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
    untested
        Shape (S, S), bool, symmetric: pairs that replicates say nothing about. They are not in the
        family, and neither is better. None: none.

    Returns
    -------
    NDArray
        Shape (S, S), bool: row is surely better than column.
    """
    level = check_level(confidence_level)
    n = len(values)
    tested = ~np.eye(n, dtype=bool)
    if untested is not None:
        tested &= ~untested
    first, second = np.nonzero(tested)
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
    untested: Bools | None = None,
) -> RankIntervals:
    """Return intervals of the ranks of all systems.

    The rank of a system lies between 1 + the number of systems surely better and S - the number
    surely worse, for all systems at once wherever no statement of :func:`surely_better` is wrong
    (Mogstad, Romano, Shaikh and Wilhelm 2024). Systems that are truly equal share their ranks; the
    interval covers all of these.

    Parameters
    ----------
    values, replicates, higher_is_better, confidence_level, rounding, untested
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
        untested=untested,
    )
    systems, own, complete, off = ranking_of(
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
        found[3, systems] = _quantile(best, tail)
        found[4, systems] = _quantile(worst, 1.0 - tail)
    return RankIntervals(found[0], found[1], found[2], found[3], found[4], better)


def _quantile(ranks: NDArray[np.int64], level: float) -> NDArray[np.int64]:
    """Return the least rank of each row that so many are at or below: inverted_cdf of NumPy."""
    place = max(0, math.ceil(ranks.shape[1] * level - 1.0))
    found: NDArray[np.int64] = np.partition(ranks, place, axis=1)[:, place]
    return found


def _range_of_ranks(values: Floats, rounding: Floats) -> tuple[NDArray[np.int64], ...]:
    """Best and worst rank in each column, which differ for ties; values grow with quality."""
    best, worst = np.empty((2, *values.shape), dtype=np.int64)
    for row, own in enumerate(values):
        ties = (rounding + rounding[row])[:, None]
        more = values - own
        best[row] = 1 + (more > ties).sum(axis=0)
        worst[row] = len(values) - (more < -ties).sum(axis=0)
    return best, worst


def probability_best(
    values: Floats,
    replicates: Floats,
    *,
    higher_is_better: bool = True,
    rounding: float | Floats = 0.0,
    untested: Bools | None = None,
) -> Floats:
    """Return the share of replicates in which each system is best; those that tie share equally.

    A description of the resamples, not a test: under equal systems the shares of a sample are
    anything from 0 to 1.

    Parameters
    ----------
    values, replicates, higher_is_better, rounding, untested
        As for :func:`surely_better`.

    Returns
    -------
    NDArray
        Shape (S,), adds up to 1; NaN where not in the ranking, without replicates, or in an
        untested pair: the share would be that of the order observed.

    Examples
    --------
    >>> replicates = np.array([[1.0, 2.0, 3.0, 1.0], [1.0, 1.0, 4.0, 0.0]])
    >>> probability_best(np.array([2.0, 1.5]), replicates).tolist()
    [0.625, 0.375]
    """
    shares = np.full(len(values), np.nan)
    systems, _, complete, off = ranking_of(
        values, replicates, higher_is_better=higher_is_better, rounding=rounding
    )
    if complete.size:
        least = (complete - off[:, None]).max(axis=0)
        tied = complete + off[:, None] >= least
        shares[systems] = (tied / tied.sum(axis=0)).mean(axis=1)
    if untested is not None:
        shares[untested.any(axis=1)] = np.nan
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


def ranking_of(
    values: Floats, replicates: Floats, *, higher_is_better: bool, rounding: float | Floats
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """Return what is in the ranking.

    Parameters
    ----------
    values, replicates, higher_is_better, rounding
        As for :func:`surely_better`.

    Returns
    -------
    tuple
        Numbers of the systems, their values, complete replicates (more is better) and rounding.
    """
    sign = 1.0 if higher_is_better else -1.0
    each = np.broadcast_to(np.asarray(rounding, dtype=np.float64), values.shape)
    systems = np.flatnonzero(~np.isnan(values) & ~np.isnan(replicates).all(axis=1))
    own = replicates[systems]
    complete = own[:, ~np.isnan(own).any(axis=0)]
    return systems, sign * values[systems], sign * complete, each[systems]
