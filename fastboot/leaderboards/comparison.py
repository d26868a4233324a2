"""Answers about many systems: a table of systems, a table of pairs, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from fastboot.extension import Sets, extended
from fastboot.intervals import standard_error
from fastboot.leaderboards.boards import Board, Pairs
from fastboot.leaderboards.confidence_set import confidence_set
from fastboot.leaderboards.ranks import letters, probability_best, rank_intervals
from fastboot.leaderboards.wording import Worded
from fastboot.power_formulas import detectable
from fastboot.pvalues import tie_note
from fastboot.rendering import count, note_lines, to_json
from fastboot.sample import few_units
from fastboot.tabular import Tabular

__all__ = ["Comparison", "PairDifference", "slice_axes"]

_SLICE_COLUMNS = ("n_rows", "n_units")
_SYSTEM_COLUMNS = (
    "system", "value", "standard_error", "low", "high", "rank", "rank_low", "rank_high",
    "probability_best", "mcs_pvalue", "letters",
)  # fmt: skip
_PAIR_COLUMNS = (
    "a", "b", "difference", "standard_error", "low", "high", "pvalue", "adjusted_pvalue",
    "detectable",
)  # fmt: skip
_CHOSEN = (
    "the best system was chosen by the same data: its differences are too large on average, and "
    'the correction does not know of the choice; with against="all" it does'
)


class PairDifference(NamedTuple):
    """One pair of a comparison; see :attr:`Comparison.pairs`."""

    a: str
    b: str
    estimate: float
    standard_error: float
    low: float
    high: float
    pvalue: float
    adjusted_pvalue: float
    detectable: float


class _Figures(Tabular):
    """A table that is there already."""

    def __init__(
        self,
        columns: Mapping[str, list[Any]],
        caption: str,
        notes: Sequence[str],
        n_labels: int,
    ) -> None:
        self._columns = columns
        self._words = caption
        self._notes = notes
        self._labels = n_labels

    def to_columns(self) -> dict[str, list[Any]]:
        """Return one list for each column."""
        return {name: list(values) for name, values in self._columns.items()}

    def _caption(self) -> str:
        return self._words

    @property
    def _n_labels(self) -> int:
        return self._labels

    def _note_lines(self) -> Sequence[str]:
        return self._notes


def slice_axes(by: Sequence[Any]) -> tuple[str, ...]:
    """Return what the columns of slices are called: as in the data, if that is not taken.

    Parameters
    ----------
    by
        Names of columns, or arrays.
    """
    axes = ["metric", *_SYSTEM_COLUMNS, *_PAIR_COLUMNS, *_SLICE_COLUMNS]  # taken
    n_taken = len(axes)
    for source in by:
        axis = source if isinstance(source, str) else "by"
        while axis in axes:
            axis = f"by_{axis}"
        axes.append(axis)
    return tuple(axes[n_taken:])


def _joint(boards: Sequence[Board]) -> tuple[Any, Any]:
    """Return the values and replicates of boards as one run gave them: metric by metric."""
    of_metric: dict[str | None, list[Board]] = {}
    for board in boards:
        of_metric.setdefault(board.metric, []).append(board)
    return (
        np.concatenate([np.stack([board.estimates for board in own], 1)
                        for own in of_metric.values()]),
        np.concatenate([np.stack([board.replicates for board in own], 1)
                        for own in of_metric.values()]),
    )  # fmt: skip


def _tied(board: Board) -> list[str]:
    """Return the sentence on ties that rounding makes, of the pair that has most, if any."""
    ties = [
        (float(board.rounding[i] + board.rounding[j]), float(error))
        for (i, j), error in zip(board.pairs.places, board.pairs.standard_errors, strict=True)
        if error > 0.0
    ]
    said = tie_note(*max(ties, key=lambda tie: tie[0] / tie[1], default=(0.0, 0.0)))
    return [said] if said else []


def _whole(rank: float) -> int | None:
    return None if np.isnan(rank) else int(rank)


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Worded):
    """Answer of :func:`fastboot.compare`.

    Attributes
    ----------
    boards
        One for each metric and slice, all rows first; with the joint replicates.
    test, null, against, correction
        As asked; `null` is None for the bootstrap.
    add_one
        Whether the observed difference counts as one more replicate.
    confidence_level, method
        Of the intervals; corrected p-values are compared with 1 - confidence_level.
    alternative
        Of the tests, and sides of the intervals of differences.
    axes
        Names of the columns of slices.
    unit
        "row" or "group".
    n_dropped
        Rows dropped for a missing value.
    seed
        ``rng=seed`` reproduces the replicates.
    design
        How units are resampled, as part of a sentence; empty for plain rows.
    asked
        The calls that made the statistics, and the options that say how rows are resampled, by the
        names of arguments: what `signature` quotes.
    remarks
        Sentences about the data.
    elapsed
        Seconds, from the call to the answer.
    again
        How `extend` runs the procedure again; it holds the arguments of the call, and is None after
        pickling.
    """

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"again": None}

    def extend(self, n_resamples: int, executor: object = None) -> Self:
        """Return the comparison of a longer run: see :meth:`fastboot.BootstrapResult.extend`.

        The replicates of the bootstrap are taken over; those of a randomization, of which only the
        p-values are here, are drawn from the start, or taken from the checkpoint.

        Parameters
        ----------
        n_resamples, executor
            As there: replicates in all, and who works.

        Raises
        ------
        TypeError, ValueError
            As there.

        Examples
        --------
        >>> import fastboot as fb
        >>> scores = {"small": [0, 1, 0, 1, 0, 1], "large": [1, 1, 1, 1, 0, 1]}
        >>> fb.compare(scores, rng=0, n_resamples=100).extend(200).n_resamples
        200
        """
        return extended(self, n_resamples, self._known(), executor)

    def _known(self) -> Sets:
        """Return what a longer run need not compute again."""
        known: Sets = {"total": _joint([board for board in self.boards if board.slice is None])}
        sliced = [board for board in self.boards if board.slice is not None]
        return {**known, "slices": _joint(sliced)} if sliced else known

    @property
    def systems(self) -> Tabular:
        """A row for each system (of each metric and slice), the best first.

        - value, standard_error, low, high: with a two-sided interval of each system alone.
        - rank, rank_low, rank_high: 1 is best; the interval of ranks that step-down max-T over all
          ordered pairs of the bootstrap leaves possible, for all systems of the metric (and slice)
          together (Mogstad, Romano, Shaikh and Wilhelm 2024).
        - probability_best: the share of resamples in which the system is best. It describes the
          resamples and is no test.
        - mcs_pvalue: in the model confidence set, which holds all systems with a p-value above
          1 - confidence_level (Hansen, Lunde and Nason 2011).
        - Two systems whose difference is the same in all resamples, of units so few that swaps of
          them could not reject, or within strata, are not ordered: ranks allow either order,
          neither leaves the other out of the set, and probability_best is NaN.
        - letters, if all pairs were compared by a two-sided test: systems that share one were not
          found to differ at the corrected level 1 - confidence_level.
        - n_rows, n_units: of the slice.
        """
        return _Figures(self._system_columns, self._caption(), self.notes, self._n_labels)

    @property
    def pairs(self) -> Tabular:
        """A row for each pair.

        - difference: the value of a less that of b, with its bootstrap standard_error and interval
          (with ``correction="max_t"`` all intervals of the metric and slice hold together,
          otherwise each alone).
        - pvalue and adjusted_pvalue: before and after the correction for the number of pairs. As
          in :func:`fastboot.paired_bootstrap` the smallest possible where the difference is the
          same in all resamples; a note says that it shows nothing.
        - detectable: the smallest true difference that this design finds with a power of 0.8,
          (z_(1 - alpha/2) + z_0.8) x standard_error with alpha = 1 - confidence_level, or z_(1 -
          alpha) for a one-sided test (Cohen 1988); a test of this pair alone, without correction.
          NaN where the difference is the same in all resamples, as
          :func:`fastboot.minimum_detectable_effect` has it: no spread was seen.
        - n_rows, n_units: of the slice.
        """
        return _Figures(self._pair_columns, self._pair_caption(), self.notes, self._n_labels)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        found: dict[str, list[Any]] = {}
        for board in self.boards:
            here = tuple(self._of(board).values())
            for name, note in self._notes_on(board):
                key = here + name
                found.setdefault(note, []).append(key[0] if len(key) == 1 else key)
        chosen = () if self.against != "best" else (_CHOSEN,)
        # Notes about all boards need no keys.
        lines = {note: keys for note, keys in found.items() if keys[0] != ()}
        plain = [note for note in found if note not in lines]
        return (*self.remarks, *chosen, *plain, *note_lines(lines, -1))

    def _notes_on(self, board: Board) -> list[tuple[tuple[str, ...], str]]:
        """Return sentences about one board, each with the system that it is about, if any."""
        pairs, general = board.pairs, [*few_units(board.n_units, self.unit)]
        of_system: list[tuple[tuple[str, ...], str]] = []
        for name, value, n, alike in zip(
            board.names, board.estimates, board.n_undefined, board.is_degenerate, strict=True
        ):
            note = ""
            if np.isnan(value):
                note = "undefined, so without rank and p-values"
            elif n:
                note = (
                    f"{n:,} of {self.n_resamples:,} replicates are undefined and left out (in "
                    "ranks, of all systems)"
                )
            elif alike:
                note = (
                    "degenerate: all replicates are equal, so they say nothing about the "
                    "uncertainty"
                )
            if note:
                of_system.append(((name,), note))
        for (i, j), alike in zip(pairs.places, pairs.is_degenerate, strict=True):
            # Of two degenerate systems the notes above say it.
            if alike and not (board.is_degenerate[i] and board.is_degenerate[j]):
                note = (
                    "degenerate: all replicates of the difference are equal, so they say nothing "
                    "about its uncertainty"
                )
                of_system.append(((board.names[i], board.names[j]), note))
        general += _tied(board)
        n_unordered = int(self._unordered(board).sum()) // 2
        if n_unordered:
            general.append(
                f"of {count(n_unordered, 'pair')} the difference is the same in all resamples, "
                "which shows no order: ranks and the model confidence set leave it open"
            )
        defined = int((~np.isnan(pairs.pvalues)).sum())
        times = defined if self.correction in {"holm", "bonferroni"} else 1
        if defined and times * pairs.least > self._alpha:
            general.append(
                f"no corrected p-value can be at or below {1.0 - self.confidence_level:.2g}: "
                f"the smallest p-value of {pairs.replicates} is {pairs.least:.3g}"
                + (f", times {count(times, 'pair')}" if times > 1 else "")
            )
        return [*(((), note) for note in general), *of_system]

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
            The pair was not compared, or in the other order by a one-sided test; or the metric is
            unknown.
        """
        board = self.board(metric)
        for place, (i, j) in enumerate(board.pairs.places):
            names = board.names[i], board.names[j]
            if names == (a, b):
                return PairDifference(a, b, *self._pair_figures(board.pairs, place).values())
            if names == (b, a):
                if self.alternative != "two-sided":
                    raise KeyError(
                        f"{b!r} - {a!r} was tested, with alternative={self.alternative!r}; ask for "
                        f"pair({b!r}, {a!r})"
                    )
                own = self._pair_figures(board.pairs, place)
                own |= {
                    "difference": -own["difference"], "low": -own["high"], "high": -own["low"],
                }  # fmt: skip
                return PairDifference(a, b, *own.values())
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
            if board.metric is not None and board.metric == metric:
                return board
        names = ", ".join(repr(board.metric) for board in known if board.metric is not None)
        if not names:
            raise KeyError(f"no metric {metric!r}; metrics= were not given, leave it out")
        raise KeyError(f"no metric {metric!r}; choose one of {names}")

    @property
    def _n_labels(self) -> int:
        return len(self._of(self.boards[0]))

    def _of(self, board: Board) -> dict[str, Any]:
        """Return the columns that say which board a row is of."""
        own: dict[str, Any] = {} if board.metric is None else {"metric": board.metric}
        width = len(self.axes)
        values = board.slice or ("all rows", *[None] * width)[:width]
        return own | dict(zip(self.axes, values, strict=True))

    def _size(self, board: Board) -> dict[str, int]:
        """Return the size of the slice; that of all rows is in the caption."""
        return {"n_rows": board.n_rows, "n_units": board.n_units} if self.axes else {}

    @cached_property
    def _system_columns(self) -> dict[str, list[Any]]:
        return _columns([row for board in self.boards for row in self._system_rows(board)])

    @cached_property
    def _pair_columns(self) -> dict[str, list[Any]]:
        return _columns(
            [
                self._of(board)
                | {"a": board.names[i], "b": board.names[j]}
                | self._pair_figures(board.pairs, place)
                | self._size(board)
                for board in self.boards
                for place, (i, j) in enumerate(board.pairs.places)
            ]
        )

    @cached_property
    def _detects(self) -> float:
        """Standard errors in the smallest difference that is found with the customary power."""
        return detectable(1.0, self.confidence_level, self.alternative)

    def _pair_figures(self, pairs: Pairs, place: int) -> dict[str, float]:
        error = float(pairs.standard_errors[place])
        # As in `minimum_detectable_effect`: 0 would read as if every effect were detectable.
        unseen = pairs.is_degenerate[place] or error == 0.0
        return {
            "difference": float(pairs.estimates[place]),
            "standard_error": error,
            "low": float(pairs.lows[place]),
            "high": float(pairs.highs[place]),
            "pvalue": float(pairs.pvalues[place]),
            "adjusted_pvalue": float(pairs.adjusted[place]),
            "detectable": np.nan if unseen else self._detects * error,
        }

    def _system_rows(self, board: Board) -> list[dict[str, Any]]:
        joint: dict[str, Any] = {
            "higher_is_better": board.higher_is_better,
            "rounding": board.rounding,
            "untested": self._unordered(board),
        }
        level = self.confidence_level
        ranks = rank_intervals(board.estimates, board.replicates, confidence_level=level, **joint)
        best = probability_best(board.estimates, board.replicates, **joint)
        confident = confidence_set(board.estimates, board.replicates, **joint)
        groups = self._letters(board)
        rows = []
        for i in board.order:
            drawn = board.replicates[i]
            low, high = self._interval(board, i)
            rows.append(
                self._of(board)
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
                | self._size(board)
            )
        return rows

    def _letters(self, board: Board) -> Sequence[str] | None:
        """Return the letters of each system, where both directions of all pairs were tested."""
        if self.against != "all" or self.alternative != "two-sided":
            return None
        n = len(board.names)
        differ = np.zeros((n, n), np.bool_)
        for (i, j), rejected in zip(board.pairs.places, self._rejected(board), strict=True):
            differ[i, j] = differ[j, i] = rejected
        shown = letters(differ, board.order)
        return [
            "" if np.isnan(value) else own
            for own, value in zip(shown, board.estimates, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""

        def rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
            lines = zip(*columns.values(), strict=True)
            return [dict(zip(columns, line, strict=True)) for line in lines]

        return {
            "kind": "Comparison",
            "systems": rows(self._system_columns),
            "pairs": rows(self._pair_columns),
            "higher_is_better": {
                board.metric or board.statistic: board.higher_is_better for board in self.boards
            },
            "test": self.test,
            "null": self.null,
            "test_replicates": self.boards[0].pairs.replicates,
            "test_path": self.boards[0].pairs.path,
            "against": self.against,
            "correction": self.correction,
            "add_one": self.add_one,
            "confidence_level": self.confidence_level,
            "method": self.method,
            "alternative": self.alternative,
            "n_resamples": self.n_resamples,
            "n_rows": self.boards[0].n_rows,
            "n_units": self.boards[0].n_units,
            "unit": self.unit,
            "design": self.design,
            "n_dropped": self.n_dropped,
            "seed": self.seed,
            "path": self.boards[0].path,
            "notes": list(self.notes),
            "signature": self.signature(),
            "elapsed": self.elapsed,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def __repr__(self) -> str:
        return repr(self.systems)

    def _repr_html_(self) -> str:
        return self.systems._repr_html_() + self.pairs._repr_html_()
