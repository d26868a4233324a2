"""A function of several statistics: still a function of sums, so it stays on every fast path."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.statistics.additive import Additive, Term
from fastboot.statistics.copies import Drawn

__all__ = ["combine"]


class _Combination(Additive):
    def __init__(
        self, function: Callable[..., Any], statistics: Sequence[Additive], name: str
    ) -> None:
        columns = [column for statistic in statistics for column in statistic.columns]
        super().__init__(*columns, name=name)
        self._function = function
        self._statistics = tuple(statistics)
        self._widths = [len(statistic.columns) for statistic in statistics]

    @property
    def n_terms(self) -> int:
        return sum(statistic.n_terms for statistic in self._statistics)

    @property
    def learns(self) -> str:
        known = {statistic.learns for statistic in self._statistics}
        return next(word for word in ("rows", "summaries", "nothing") if word in known)

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = copy.copy(self)
        shares = zip(*map(self._shares, systems), strict=True)
        bound._statistics = tuple(
            statistic.bind(share) for statistic, share in zip(self._statistics, shares, strict=True)
        )
        return bound

    def apart(self, systems: Sequence[Sequence[Any]], codes: NDArray[np.int64]) -> Self:
        moved = copy.copy(self)
        shares = zip(*map(self._shares, systems), strict=True)
        moved._statistics = tuple(
            statistic.apart(share, codes)
            for statistic, share in zip(self._statistics, shares, strict=True)
        )
        same = all(map(operator.is_, moved._statistics, self._statistics))
        return self if same else moved

    def of_drawn(self, columns: Sequence[Any], drawn: Drawn) -> tuple[Self, Sequence[Any]]:
        known = copy.copy(self)
        parts = [
            statistic.of_drawn(share, drawn)
            for statistic, share in zip(self._statistics, self._shares(columns), strict=True)
        ]
        known._statistics = tuple(statistic for statistic, _ in parts)
        known._widths = [len(own) for _, own in parts]
        return known, [column for _, own in parts for column in own]

    def terms(self, *columns: Any) -> Sequence[Term]:
        parts = zip(self._statistics, self._shares(columns), strict=True)
        return [term for statistic, share in parts for term in statistic.terms(*share)]

    def _shares(self, columns: Sequence[Any]) -> list[list[Any]]:
        """Give each statistic its columns."""
        remaining = iter(columns)
        return [[next(remaining) for _ in range(width)] for width in self._widths]

    def finish(self, *sums: Any) -> Any:
        remaining = iter(sums)
        values = [
            statistic.finish(*(next(remaining) for _ in range(statistic.n_terms)))
            for statistic in self._statistics
        ]
        return self._function(*values)


@recorded
def combine(
    function: Callable[..., Any], *statistics: Additive, name: str | None = None
) -> Additive:
    """Return a function of additive statistics as a statistic of its own.

    All of them see the same resamples; a column that several use is read once.

    Parameters
    ----------
    function
        From the statistics' values, in order, to one value. It gets numbers or arrays of one shape
        and must work on both. NaN where undefined.
    *statistics
        What the function takes.
    name
        How results call it; the function's name by default.

    Raises
    ------
    TypeError
        No statistic is given, or something that is none; or one of them does not say how many
        terms it has.

    Examples
    --------
    >>> import fastboot as fb
    >>> precision, recall = fb.precision(tp=[3, 5], fp=[1, 1]), fb.recall(tp=[3, 5], fn=[0, 2])
    >>> geometric = fb.combine(lambda p, r: (p * r) ** 0.5, precision, recall, name="G-measure")
    >>> fb.bootstrap(geometric, rng=0).estimate
    0.8
    """
    for position, statistic in enumerate(statistics, 1):
        if not isinstance(statistic, Additive):
            raise TypeError(
                f"combine: argument {position} after the function is {statistic!r}; give "
                "statistics, such as fb.mean('score')"
            )
    if not statistics:
        raise TypeError("combine: no statistic is given; name at least one after the function")
    chosen = name or str(getattr(function, "__name__", "combination"))
    combination = _Combination(function, statistics, chosen)
    combination.n_terms  # noqa: B018 - refuse here, not when run
    return combination
