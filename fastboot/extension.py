"""Longer runs: the same replicates and more of them, by the same call."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Again", "Extendable", "extended"]

Floats = NDArray[np.float64]

# From a number of resamples, the seed and the replicates so far, of shape (n_values, n_cells,
# n_replicates) or None to compute them again, to a result of the same kind.
Again = Callable[[int, int, Floats | None], Any]


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

    def observed(self) -> Mapping[str, float]:
        """Return the observed values by name."""


E = TypeVar("E", bound=Extendable)


def extended(result: E, n_resamples: Any, known: Floats | None) -> E:
    """Return the result of a longer run.

    Parameters
    ----------
    result
        Of a run.
    n_resamples
        Replicates in all.
    known
        Its replicates, shape (n_values, n_cells, n_replicates); None to compute them again.

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
            "this result cannot be extended: it was pickled, or it is part of a table, which can "
            f"be; or call the procedure again with rng={result.seed} and n_resamples={total}"
        )
    longer: E = result.again(total, result.seed, known)
    then, now = result.observed(), longer.observed()
    for name in dict.fromkeys([*then, *now]):
        was, now_is = then.get(name), now.get(name)
        if repr(was) != repr(now_is):
            raise ValueError(
                f"`data` has changed: {name} was {was} and is {now_is}; call the procedure again"
            )
    return longer
