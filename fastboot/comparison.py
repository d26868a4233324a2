"""Answers about many systems: a table of systems, a table of pairs, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.corrections import LEVEL_ROUNDING
from fastboot.intervals import interval, standard_error
from fastboot.ranks import letters, model_confidence_set, probability_best, rank_intervals
from fastboot.rendering import count, short, to_json
from fastboot.tabular import Tabular

__all__ = ["Board", "Comparison", "PairDifference", "Pairs"]

Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """The pairs that were compared, in order.

    places : numbers of the two systems of each; the first is subtracted from
    estimates, standard_errors, lows, highs : of the differences, shape (n_pairs,)
    pvalues, adjusted : before and after the correction, shape (n_pairs,)
    """

    places: tuple[tuple[int, int], ...]
    estimates: Floats
    standard_errors: Floats
    lows: Floats
    highs: Floats
    pvalues: Floats
    adjusted: Floats


class PairDifference(NamedTuple):
    """One pair of a comparison; see :class:`Comparison`."""

    a: str
    b: str
    estimate: float
    standard_error: float
    low: float
    high: float
    pvalue: float
    adjusted_pvalue: float


@dataclass(frozen=True, eq=False)
class Board:
    """One metric, of all rows or of one slice.

    Attributes
    ----------
    metric, slice
        Names; None where there is one metric, or no slice.
    names
        Of the systems, in the order given.
    estimates, rounding
        Shape (n_systems,): values, and how far equal ones may differ.
    replicates
        Shape (n_systems, n_resamples): joint, from the same resamples.
    higher_is_better
        Direction of the metric.
    n_rows, n_units
        Of the slice.
    pairs
        What was compared.
    """

    metric: str | None
    slice: Any
    names: tuple[str, ...]
    estimates: Floats
    replicates: Floats
    rounding: Floats
    higher_is_better: bool
    n_rows: int
    n_units: int
    pairs: Pairs

    @property
    def order(self) -> list[int]:
        """Systems from the best to the worst; undefined values last, ties in the order given."""
        sign = -1.0 if self.higher_is_better else 1.0
        return [int(i) for i in np.argsort(sign * self.estimates, kind="stable")]


class _SystemTable(Tabular):
    """A row for each system, the best first."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def to_columns(self) -> dict[str, list[Any]]:
        """Return one list for each column."""
        columns: dict[str, list[Any]] = {}
        for board in self._comparison.boards:
            for row in self._comparison.rows_of(board):
                for name, value in row.items():
                    columns.setdefault(name, []).append(value)
        return columns

    def _caption(self) -> str:
        return self._comparison.caption()


class _PairTable(Tabular):
    """A row for each pair."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def to_columns(self) -> dict[str, list[Any]]:
        """Return one list for each column."""
        columns: dict[str, list[Any]] = {}
        for board in self._comparison.boards:
            pairs = board.pairs
            for place, (i, j) in enumerate(pairs.places):
                row = self._comparison.of(board) | {
                    "a": board.names[i],
                    "b": board.names[j],
                    "difference": float(pairs.estimates[place]),
                    "standard_error": float(pairs.standard_errors[place]),
                    "low": float(pairs.lows[place]),
                    "high": float(pairs.highs[place]),
                    "pvalue": float(pairs.pvalues[place]),
                    "adjusted_pvalue": float(pairs.adjusted[place]),
                }
                for name, value in row.items():
                    columns.setdefault(name, []).append(value)
        return columns

    def _caption(self) -> str:
        return self._comparison.pair_caption()


def _whole(rank: float) -> int | None:
    return None if np.isnan(rank) else int(rank)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison:
    """Answer of :func:`fastboot.compare`.

    Attributes
    ----------
    boards
        One for each metric and slice, all rows first; with the joint replicates.
    test, against, correction
        As asked.
    confidence_level, method, alternative
        Of the intervals and tests.
    unit
        "row" or "group".
    n_dropped
        Rows dropped for a missing value.
    seed
        ``rng=seed`` reproduces the replicates.
    remarks
        Sentences about the data.
    elapsed
        Seconds, from the call to the answer.
    """

    boards: tuple[Board, ...]
    test: str
    against: str
    correction: str
    confidence_level: float
    method: str
    alternative: str
    unit: str
    n_dropped: int
    seed: int
    remarks: tuple[str, ...]
    elapsed: float

    @property
    def n_resamples(self) -> int:
        """Number of replicates."""
        return int(self.boards[0].replicates.shape[1])

    @property
    def systems(self) -> Tabular:
        """A row for each system (of each metric and slice), the best first.

        Its value with standard error and interval; its rank, with the simultaneous interval of
        ranks that the pairwise comparisons leave possible; the share of replicates in which it is
        best; its p-value in the model confidence set, which holds the systems with at least alpha
        (Hansen, Lunde and Nason 2011); and, after all pairs were compared, its letters: systems
        that share one cannot be told apart at this level.
        """
        return _SystemTable(self)

    @property
    def pairs(self) -> Tabular:
        """A row for each pair: the difference a - b, interval, p-value and the corrected one."""
        return _PairTable(self)

    def pair(self, a: str, b: str, metric: str | None = None) -> PairDifference:
        """Return the comparison of two systems, of all rows.

        Parameters
        ----------
        a, b
            Names; in the other order the difference changes its sign.
        metric
            Which, where there are several.

        Raises
        ------
        KeyError
            The pair was not compared, or the metric is unknown.
        """
        board = self.board(metric)
        for place, (i, j) in enumerate(board.pairs.places):
            names = board.names[i], board.names[j]
            if names not in {(a, b), (b, a)}:
                continue
            own = [float(column[place]) for column in board.pairs[1:]]
            if names == (a, b):
                return PairDifference(a, b, *own)
            estimate, error, low, high, p, adjusted = own
            return PairDifference(a, b, -estimate, error, -high, -low, p, adjusted)
        raise KeyError(f"no comparison of {a!r} with {b!r}; against={self.against!r} was asked for")

    def board(self, metric: str | None = None) -> Board:
        """Return the board of a metric, of all rows.

        Raises
        ------
        KeyError
            The metric is unknown, or must be named.
        """
        known = [board for board in self.boards if board.slice is None]
        if metric is None and len(known) == 1:
            return known[0]
        for board in known:
            if board.metric == metric:
                return board
        names = ", ".join(repr(board.metric) for board in known)
        raise KeyError(f"no metric {metric!r}; choose one of {names}")

    @property
    def _alpha(self) -> float:
        """Level that corrected p-values are compared with."""
        return 1.0 - self.confidence_level + LEVEL_ROUNDING

    @cached_property
    def _is_sliced(self) -> bool:
        return any(board.slice is not None for board in self.boards)

    def of(self, board: Board) -> dict[str, Any]:
        """Return the columns that say which board a row is of."""
        own: dict[str, Any] = {}
        if board.metric is not None:
            own["metric"] = board.metric
        if self._is_sliced:
            own["by"] = "all" if board.slice is None else board.slice
        return own

    def rows_of(self, board: Board) -> list[dict[str, Any]]:
        """Return the rows of the table of systems for one board."""
        joint: dict[str, Any] = {
            "higher_is_better": board.higher_is_better,
            "rounding": board.rounding,
        }
        level = self.confidence_level
        ranks = rank_intervals(board.estimates, board.replicates, confidence_level=level, **joint)
        best = probability_best(board.estimates, board.replicates, **joint)
        confident = model_confidence_set(board.estimates, board.replicates, **joint)
        groups = self._letters(board)
        rows = []
        for i in board.order:
            drawn = board.replicates[i]
            low, high = interval(
                drawn,
                float(board.estimates[i]),
                confidence_level=self.confidence_level,
                method=self.method,
                alternative=self.alternative,
                acceleration=None,
                rounding=float(board.rounding[i]),
            )[:2]
            rows.append(
                self.of(board)
                | {
                    "system": board.names[i],
                    "value": float(board.estimates[i]),
                    "standard_error": standard_error(drawn[~np.isnan(drawn)]),
                    "low": low,
                    "high": high,
                    "rank": _whole(ranks.rank[i]),
                    "rank_low": _whole(ranks.low[i]),
                    "rank_high": _whole(ranks.high[i]),
                    "probability_best": float(best[i]),
                    "mcs_pvalue": float(confident.pvalues[i]),
                }
                | ({} if groups is None else {"letters": groups[i]})
            )
        return rows

    def _letters(self, board: Board) -> Sequence[str] | None:
        """Return the letters of each system, where all pairs were compared."""
        if self.against != "all":
            return None
        n = len(board.names)
        differ = np.zeros((n, n), np.bool_)
        for (i, j), p in zip(board.pairs.places, board.pairs.adjusted, strict=True):
            differ[i, j] = differ[j, i] = p <= self._alpha
        return letters(differ, board.order)

    def caption(self) -> str:
        """Return what the table of systems shows."""
        board = self.boards[0]
        return (
            f"{count(len(board.names), 'system')}, {count(board.n_rows, 'row')}"
            + (f" in {count(board.n_units, 'group')}" if self.unit == "group" else "")
            + f", {100 * self.confidence_level:g}% {self.method} bootstrap intervals, "
            f"{count(self.n_resamples, 'resample')}, seed {self.seed}"
        )

    def pair_caption(self) -> str:
        """Return what the table of pairs shows."""
        n_pairs = len(self.boards[0].pairs.places)
        corrected = "uncorrected" if self.correction == "none" else f"{self.correction} correction"
        kind = "simultaneous max-T" if self.correction == "max_t" else self.method
        return (
            f"{count(n_pairs, 'pair')}, {self.alternative} {self.test} test, {corrected}; "
            f"{100 * self.confidence_level:g}% {kind} intervals, seed {self.seed}"
        )

    def summary(self) -> str:
        """Return sentences for a paper."""
        said = []
        for board in self.boards:
            of = " ".join(str(value) for value in self.of(board).values())
            first = board.order[0]
            place = [p for p, pair in enumerate(board.pairs.places) if first in pair]
            told = [p for p in place if board.pairs.adjusted[p] <= self._alpha]
            said.append(
                f"{of + ': ' if of else ''}{board.names[first]} is best with "
                f"{short(float(board.estimates[first]))}; it differs from {len(told)} of "
                f"{len(place)} systems it was compared with"
            )
        corrected = "uncorrected" if self.correction == "none" else f"{self.correction}-corrected"
        return (
            f"{'. '.join(said)} ({corrected} {self.alternative} {self.test} p at or below "
            f"{1.0 - self.confidence_level:.2g}; {self.caption()})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""

        def rows(table: Tabular) -> list[dict[str, Any]]:
            columns: Mapping[str, list[Any]] = table.to_columns()
            lines = zip(*columns.values(), strict=True)
            return [dict(zip(columns, line, strict=True)) for line in lines]

        return {
            "kind": "Comparison",
            "systems": rows(self.systems),
            "pairs": rows(self.pairs),
            "test": self.test,
            "against": self.against,
            "correction": self.correction,
            "confidence_level": self.confidence_level,
            "method": self.method,
            "alternative": self.alternative,
            "n_resamples": self.n_resamples,
            "n_rows": self.boards[0].n_rows,
            "n_units": self.boards[0].n_units,
            "unit": self.unit,
            "n_dropped": self.n_dropped,
            "seed": self.seed,
            "notes": list(self.remarks),
            "elapsed": self.elapsed,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def __repr__(self) -> str:
        return repr(self.systems)

    def _repr_html_(self) -> str:
        return self.systems._repr_html_() + self.pairs._repr_html_()
