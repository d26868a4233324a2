"""Answers to several questions of one call: results by statistic, class and slice.

A table holds arrays, not results; a result is made when it is looked up. So ten thousand slices
cost no more than their figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastboot.rendering import html_rows, short, text_rows, to_json
from fastboot.results import Result

__all__ = ["Table"]

R = TypeVar("R", bound=Result)
Floats = NDArray[np.float64]

# Rows that a notebook or a terminal shows.
_SHOWN = 20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Table(Mapping[Any, R], Generic[R]):
    """A mapping from what was asked to its result; all share one set of resamples.

    Attributes
    ----------
    axes
        What a key consists of, in order: "statistic", "label" (the class, for a statistic with
        several values) and "by" (the slice). A key of one part is that part, else a tuple.
    replicates
        Shape (n_results, n_resamples), float64, read-only, in the order of the keys.
    total
        With slices, the answer for all rows together: a result, or a table without the slices;
        else None.
    elapsed
        Seconds, from the call to the answer.
    """

    axes: tuple[str, ...]
    replicates: Floats
    total: Any
    elapsed: float
    _keys: tuple[Any, ...]
    _kind: type[R]
    _common: dict[str, Any]
    _own: dict[str, Any]
    _places: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {key: place for place, key in enumerate(self._keys)})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.replicates.flags.writeable = False  # a pickle forgets it

    def __getitem__(self, key: Any) -> R:
        if key not in self._places:
            shown = ", ".join(map(repr, self._keys[:5]))
            raise KeyError(
                f"no answer for {key!r}; the keys ({', '.join(self.axes)}) are {shown}"
                f"{', ...' if len(self._keys) > 5 else ''}"
            )
        place = self._places[key]
        own = {name: values[place] for name, values in self._own.items()}
        return self._kind(**self._common, **own, replicates=self.replicates[place])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def n_resamples(self) -> int:
        """Number of replicates."""
        return int(self.replicates.shape[1])

    @property
    def seed(self) -> int:
        """``rng=seed`` reproduces the replicates."""
        return int(self._common["seed"])

    @property
    def estimates(self) -> Floats:
        """Observed values, shape (n_results,)."""
        return np.array(self._own["estimate"], dtype=np.float64)

    @property
    def standard_errors(self) -> Floats:
        """Standard deviations of the replicates, shape (n_results,)."""
        return np.array([result.standard_error for result in self.values()])

    @cached_property
    def confidence_intervals(self) -> Floats:
        """Limits, shape (n_results, 2)."""
        return np.array([result.confidence_interval[:2] for result in self.values()])

    def covariance(self) -> Floats:
        """Covariance of the values over the replicates (ddof = 1), shape (n_results, n_results).

        Replicates in which one of the two values is undefined are left out for that pair.
        """
        there = np.isfinite(self.replicates)
        centred = np.where(there, self.replicates - np.nanmean(self.replicates, axis=1)[:, None], 0)
        pairs = there.astype(np.float64) @ there.T
        with np.errstate(all="ignore"):
            covariance: Floats = (centred @ centred.T) / (pairs - 1.0)
        return np.where(pairs > 1.0, covariance, np.nan)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return one list for each column of the table: what a data frame is made of.

        Examples
        --------
        >>> import fastboot as fb
        >>> table = fb.bootstrap([3, 1, 2, 4], by=["x", "y", "x", "y"], rng=0)
        >>> table.to_columns()["estimate"]
        [2.5, 2.5]
        """
        parts = [key if isinstance(key, tuple) and len(self.axes) > 1 else (key,) for key in self]
        columns: dict[str, list[Any]] = {
            axis: [part[i] if i < len(part) else None for part in parts]
            for i, axis in enumerate(self.axes)
        }
        for result in self.values():
            for name, value in result.to_figures().items():
                columns.setdefault(name, []).append(value)
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        columns = self.to_columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        first = next(iter(self.values()))
        return {
            "kind": "Table",
            "of": self._kind.__name__,
            "axes": list(self.axes),
            "rows": rows,
            "total": None if self.total is None else self.total.to_dict(),
            "n_resamples": self.n_resamples,
            "confidence_level": first.confidence_level,
            "alternative": first.alternative,
            "seed": self.seed,
            "elapsed": self.elapsed,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        head = [*self.axes, *next(iter(self.values())).to_figures()]
        rows = []
        for key in self._keys[:_SHOWN]:
            parts = key if isinstance(key, tuple) and len(self.axes) > 1 else (key,)
            named = [str(part) for part in parts] + [""] * (len(self.axes) - len(parts))
            figures = self[key].to_figures().values()
            rows.append(named + [_shown(value) for value in figures])
        return head, rows

    def _caption(self) -> str:
        left_out = len(self) - _SHOWN
        more = f"; {left_out:,} more rows" if left_out > 0 else ""
        return (
            f"{self._kind.__name__} table: {len(self):,} results, "
            f"{self.n_resamples:,} resamples, seed {self.seed}{more}"
        )

    def __repr__(self) -> str:
        return text_rows(self._caption(), *self._cells())

    def _repr_html_(self) -> str:
        return html_rows(self._caption(), *self._cells())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return short(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
