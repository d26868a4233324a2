"""Longer runs: the same replicates and more of them, by the same call."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Again", "Extendable", "Sets", "extended", "joined"]

Floats = NDArray[np.float64]

# By name of the set, what was estimated and the replicates so far: see fastboot.keeping.
Sets = Mapping[str, tuple[Floats, Floats]]
# From a number of resamples, the seed, what is known and an executor (None: that of the call), to a
# result of the same kind.
Again = Callable[[int, int, Sets, object], Any]


class Extendable(Protocol):
    """A result, or a table of results."""

    @property
    def n_resamples(self) -> int:
        """Replicates."""

    @property
    def seed(self) -> int:
        """Of them."""

    @property
    def again(self) -> Again | None:
        """How to run the procedure again."""


E = TypeVar("E", bound=Extendable)


def extended(result: E, n_resamples: Any, known: Sets, executor: object) -> E:
    """Return the result of a longer run.

    Parameters
    ----------
    result
        Of a run.
    n_resamples
        Replicates in all.
    known
        What it need not compute again.
    executor
        Who works; None for the one of the call.

    Raises
    ------
    TypeError, ValueError
        `n_resamples` is no whole number or less than there are, the result cannot be extended, or
        the data have changed.
    """
    if isinstance(n_resamples, bool) or not hasattr(n_resamples, "__index__"):
        raise TypeError(f"`n_resamples` is {n_resamples!r}; it must be a whole number")
    total = operator.index(n_resamples)
    if total < result.n_resamples:
        raise ValueError(
            f"`n_resamples` is {total:,}, but there are {result.n_resamples:,} replicates already; "
            "give the number of all, old and new"
        )
    if result.again is None:
        raise ValueError(
            "this result cannot be extended: those of bootstrap, paired_bootstrap, "
            "approximate_randomization and compare can, but not once they were pickled, nor as "
            "part of a table (extend the table); or call the procedure again with "
            f"rng={result.seed} and n_resamples={total}"
        )
    longer: E = result.again(total, result.seed, known, executor)
    return longer


def joined(replicates: Floats, errors: Any) -> Floats:
    """Return replicates, with their standard errors behind them if they have any.

    Parameters
    ----------
    replicates
        Shape (n_values, n_cells, n_replicates).
    errors
        Of as many numbers, or None.
    """
    if errors is None:
        return replicates
    return np.concatenate([replicates, np.reshape(errors, replicates.shape)])
