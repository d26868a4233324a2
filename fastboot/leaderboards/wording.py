"""What is said of many systems: captions of the tables, a summary and a signature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastboot.extension import Again
from fastboot.intervals import interval
from fastboot.leaderboards.boards import Board
from fastboot.leaderboards.corrections import LEVEL_ROUNDING
from fastboot.leaderboards.corrections import Pairs as Differences
from fastboot.rendering import beside, bracketed, count, made_by, short, signature_line

__all__ = ["Worded"]

_CORRECTIONS = {
    "holm": "Holm-corrected",
    "bonferroni": "Bonferroni-corrected",
    "fdr_bh": "Benjamini-Hochberg-corrected",
    "fdr_by": "Benjamini-Yekutieli-corrected",
    "max_t": "max-T-corrected",
    "none": "uncorrected",
}
_NAMED = 5  # systems that a sentence names


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Worded:
    """The fields of a comparison, and sentences about them."""

    boards: tuple[Board, ...]
    test: str
    null: str | None
    against: str
    correction: str
    add_one: bool
    confidence_level: float
    method: str
    alternative: str
    axes: tuple[str, ...]
    unit: str
    n_dropped: int
    seed: int
    design: str
    asked: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    elapsed: float
    again: Again | None

    @property
    def n_resamples(self) -> int:
        """Number of bootstrap replicates."""
        return int(self.boards[0].replicates.shape[1])

    @property
    def _alpha(self) -> float:
        """Level that corrected p-values are compared with."""
        return 1.0 - self.confidence_level + LEVEL_ROUNDING

    def _rejected(self, board: Board) -> NDArray[np.bool_]:
        """Return which of the tests reject, shape (n_pairs,)."""
        return (board.pairs.adjusted <= self._alpha) & ~self._untested(board)

    def _untested(self, board: Board) -> NDArray[np.bool_]:
        """Return which pairs resamples say nothing about: differences that do not vary.

        Not those of so many units that swaps of them could reject, see `_are_few`. Equal systems
        have p = 1 by either test, and that says enough.
        """
        sides = 2.0 if self.alternative == "two-sided" else 1.0
        few = self.test == "bootstrap" and self._are_few(board, sides)
        tie = board.rounding[np.array(board.pairs.places, np.int64).reshape(-1, 2)].sum(axis=1)
        untested: NDArray[np.bool_] = board.pairs.is_degenerate & (
            np.abs(board.pairs.estimates) > tie
        )
        return untested & few

    def _are_few(self, board: Board, sides: float) -> bool:
        """Return whether units are too few to show a difference that does not vary.

        Of K units with equal differences the exact randomization has p = 2^(1 - K), or 2^-K
        one-sided. Within strata units need not be equal: of a single unit in each, resamples show
        nothing however many there are.
        """
        return bool(self.design) or sides * 0.5**board.n_units > self._alpha

    def _unordered(self, board: Board) -> NDArray[np.bool_]:
        """Return which pairs resamples do not order, shape (n_systems, n_systems).

        As `_untested`, of all pairs by resamples, whatever was compared and by which test; both
        directions are asked for.
        """
        unordered = np.zeros((len(board.names),) * 2, np.bool_)
        if not self._are_few(board, 2.0):
            return unordered
        pairs = Differences(board.estimates, board.replicates, rounding=board.rounding)
        for place, tie in enumerate(pairs.rounding):
            if abs(pairs.estimates[place]) > tie:  # not NaN
                apart = np.abs(pairs[place])
                i, j = pairs.first[place], pairs.second[place]
                unordered[i, j] = not (apart > tie).any() and (apart <= tie).any()
        return unordered | unordered.T

    def _interval(self, board: Board, i: int) -> tuple[float, float]:
        low, high = interval(
            board.replicates[i],
            float(board.estimates[i]),
            confidence_level=self.confidence_level,
            method=self.method,
            alternative="two-sided",
            acceleration=None,
            rounding=float(board.rounding[i]),
        )[:2]
        return low, high

    def _caption(self) -> str:
        """Return what the table of systems shows."""
        board = self.boards[0]
        statistic = f"{board.statistic} of " if board.metric is None else ""
        return (
            f"{statistic}{count(len(board.names), 'system')}, {self._directions()}: "
            f"{100 * self.confidence_level:g}% {self._interval_name()} of values and simultaneous "
            f"intervals of ranks, {self._run()}"
        )

    def _pair_caption(self) -> str:
        """Return what the table of pairs shows."""
        board = self.boards[0]
        statistic = f" in {board.statistic}" if board.metric is None else ""
        n = len(board.pairs.places)
        sided = "" if self.alternative == "two-sided" else "one-sided "
        kind = f"{self._interval_name()}, each alone"
        if self.correction == "max_t":
            kind = "simultaneous max-T bootstrap intervals"
        return (
            f"differences a - b{statistic} of {count(n, 'pair')}: "
            f"{sided}{100 * self.confidence_level:g}% {kind}; {self._test_words()}, {self._run()}"
        )

    def _directions(self) -> str:
        higher = {board.metric: board.higher_is_better for board in self.boards}
        if len(set(higher.values())) == 1:
            return f"{'higher' if all(higher.values()) else 'lower'} is better"
        return "; ".join(
            f"{'higher' if up else 'lower'} {metric} is better" for metric, up in higher.items()
        )

    def _interval_name(self) -> str:
        name = "normal" if self.method == "normal" else f"{self.method} bootstrap"
        return f"{name} intervals"

    def _test_words(self) -> str:
        """Return the test with its correction."""
        sides = {"greater": "one-sided (a > b)", "less": "one-sided (a < b)"}
        pairs = self.boards[0].pairs
        kind = "bootstrap (shift)"
        if self.test == "randomization":
            kind = f"randomization ({pairs.replicates})"
        return (
            f"{_CORRECTIONS[self.correction]} {sides.get(self.alternative, self.alternative)} "
            f"{kind} tests"
        )

    def _run(self) -> str:
        """Return what was resampled, and how often."""
        board = self.boards[0]
        units = count(board.n_units, self.unit)
        if self.unit != "row":
            units += f" of {count(board.n_rows, 'row')}"
        clauses = [units, self.design, count(self.n_resamples, "resample"), f"seed {self.seed}"]
        return ", ".join(filter(None, clauses))

    def summary(self) -> str:
        """Return sentences for a paper: about all rows of each metric."""
        said = "; ".join(self._clause(board) for board in self.boards if board.slice is None)
        family = "" if self.correction == "none" else ", corrected for the pairs of one metric"
        if len({board.metric for board in self.boards}) == 1:
            family = ""
        return (
            f"{said} ({self._test_words()} at {1.0 - self.confidence_level:.2g}{family}; "
            f"{self._directions()}; {100 * self.confidence_level:g}% {self._interval_name()}, "
            f"{self._run()})."
        )

    def _clause(self, board: Board) -> str:
        """Return what a summary says of one metric."""
        name = board.metric or board.statistic
        first = board.order[0]
        value = float(board.estimates[first])
        if np.isnan(value):
            return f"{name} is undefined for all systems"
        sign = 1.0 if board.higher_is_better else -1.0
        level = sign * np.nan_to_num(board.estimates, nan=-sign * np.inf)
        tied = [i for i in board.order if level[i] >= level[first] - 2.0 * board.rounding[first]]
        if len(tied) > 1:
            shown = ", ".join(board.names[i] for i in tied[:_NAMED])
            more = f" and {len(tied) - _NAMED} more" if len(tied) > _NAMED else ""
            best = f"{shown}{more} share the best {name}, {short(value)}"
        else:
            low, high = self._interval(board, first)
            shown = f"{beside(value, low, high)} {bracketed(low, high)}"
            best = f"{board.names[first]} has the best {name}, {shown}"
        n_undefined = int(np.isnan(board.estimates).sum())
        if n_undefined:
            of = count(len(board.names), "system")
            best += f" ({n_undefined:,} of {of} {'is' if n_undefined == 1 else 'are'} undefined)"
        n_untested = int(self._untested(board).sum())
        words = f"{best}, {self._found(board, first)}"
        if n_untested:
            words += f" ({count(n_untested, 'pair')} not tested: the same in all resamples)"
        return words

    def _found(self, board: Board, best: int) -> str:
        """Return how many of the tests reject."""
        pairs = board.pairs
        low = self._rejected(board)
        if self.alternative != "two-sided":
            sign = ">" if self.alternative == "greater" else "<"
            return f"and a {sign} b is significant in {low.sum()} of {count(low.size, 'pair')}"
        if self.against == "all":
            own = np.array([best in pair for pair in pairs.places])
            others = f"{(low & own).sum()} of the {count(int(own.sum()), 'other system')}"
            return (
                f"significantly different from {others}; {low.sum()} of "
                f"{count(low.size, 'pair')} differ significantly"
            )
        if self.against == "best":
            return (
                f"significantly different from {low.sum()} of the {count(low.size, 'other system')}"
            )
        better = low & (pairs.estimates > 0.0 if board.higher_is_better else pairs.estimates < 0.0)
        return (
            f"and of {count(low.size, 'system')} compared with {self.against} {better.sum()} "
            f"{'is' if better.sum() == 1 else 'are'} significantly better and "
            f"{(low & ~better).sum()} significantly worse"
        )

    def signature(self) -> str:
        """Return one line to quote beside the tables: what must be known to reproduce them.

        ``key:value|key:value``, in a fixed order; keys are names of arguments and attributes. See
        :meth:`Result.signature`.
        """
        null = {} if self.null is None else {"null": self.null}
        dropped = {"nan_policy": "omit", "n_dropped": self.n_dropped} if self.n_dropped else {}
        lower = [str(board.metric or "all") for board in self.boards if not board.higher_is_better]
        down = {"lower_is_better": f"[{','.join(dict.fromkeys(lower))}]"} if lower else {}
        return signature_line(
            {
                **made_by("compare"),
                **dict(self.asked),
                **down,
                "test": self.test,
                **null,
                "against": self.against,
                "correction": self.correction,
                "n_resamples": self.n_resamples,
                "seed": self.seed,
                "method": self.method,
                "confidence_level": self.confidence_level,
                "alternative": self.alternative,
                "add_one": self.add_one,
                "n_rows": self.boards[0].n_rows,
                "n_units": self.boards[0].n_units,
                **dropped,
            }
        )
