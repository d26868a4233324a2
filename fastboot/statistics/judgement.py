"""Statistics of outputs that are judged: by tests that they pass, or against another's output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.plain import items_of
from fastboot.statistics.additive import Ratio, Term
from fastboot.statistics.checks import (
    check_counts,
    check_integer,
    check_label,
    check_part,
    refuse_rows,
)

__all__ = ["pass_at_k", "win_rate"]

Floats = NDArray[np.float64]


class _PassAtK(Ratio):
    def __init__(self, n: Source, c: Source, k: int) -> None:
        super().__init__(Column(n, "number", "n"), Column(c, "number", "c"), name=f"pass@{k}")
        self._k = k

    def terms(self, n: Floats, c: Floats) -> Sequence[Term]:
        for column, array in zip(self.columns, (n, c), strict=True):
            check_counts(column, array)
            refuse_rows(column, array, array % 1.0 > 0.0, "fraction", "samples are whole")
        rule = f"every problem needs k = {self._k} samples or more"
        refuse_rows(self.columns[0], n, n < self._k, "count", rule, f" below {self._k}")
        check_part(self.columns, (n, c), 1, 0)
        passed = np.zeros(len(n))
        for i in range(self._k):
            # After i failures c of n - i samples are correct; all of them give exactly 1.
            passed += (1.0 - passed) * (c / (n - i))
        return passed, 1.0


class _WinRate(Ratio):
    def __init__(self, columns: Sequence[Column], worth: Sequence[tuple[Any, float]]) -> None:
        super().__init__(*columns, name="win_rate")
        self._worth = worth

    def terms(self, *orders: Labels) -> Sequence[Term]:
        scores = [self._scores(*pair) for pair in zip(self.columns, orders, strict=True)]
        first, last = scores[0], scores[-1]
        return np.where(first == last, first, 0.5), 1.0

    def _scores(self, column: Column, winners: Labels) -> Floats:
        worth = [
            next((score for label, score in self._worth if label == winner), np.nan)
            for winner in winners.values
        ]
        found: Floats = np.array(worth)[winners.codes]
        unknown = np.isnan(found)
        if unknown.any():
            n_unknown, row = int(unknown.sum()), int(unknown.argmax())
            known = ", ".join(repr(label) for label, _ in self._worth)
            raise ValueError(
                f"{column} has {n_unknown:,} label{'' if n_unknown == 1 else 's'} other than "
                f"{known} (first at row {row:,}: {winners.values[winners.codes[row]]!r}); say with "
                "win=, loss= and tie= what they mean"
            )
        return found


@recorded
def pass_at_k(n: Source, c: Source, *, k: int) -> Ratio:
    """pass@k: the probability that one of k samples of a problem is correct, mean over problems.

    1 - C(n - c, k) / C(n, k) for each problem with c correct among n samples, which is unbiased
    (Chen et al. 2021). Computed as k steps without replacement: no factorials to overflow, and no
    digits lost where the value is small.

    Parameters
    ----------
    n, c
        Column name, or array of shape (n_rows,): samples of each problem, and correct ones.
    k
        Samples that may be tried; at most the smallest `n`.

    Raises
    ------
    ValueError
        `k` is no positive integer. When run: a count is negative or a fraction, `n` is less than
        `k`, or `c` more than `n`.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.pass_at_k([4, 4], [1, 0], k=2), rng=0).estimate
    0.25
    """
    return _PassAtK(n, c, check_integer("k", k, 1))


@recorded
def win_rate(
    first_order: Source,
    second_order: Source | None = None,
    *,
    win: Any = "a",
    loss: Any = "b",
    tie: Any = "tie",
) -> Ratio:
    """Share of comparisons that system a wins; a tie counts half.

    With two columns a judge saw each pair in both orders (position swap, Zheng et al. 2023): a win
    or a loss counts only where both orders agree, all else is a tie.

    Parameters
    ----------
    first_order, second_order
        Column name, or array of shape (n_rows,) of labels: the winner when a stands first, and when
        b stands first. They name the system, not its position.
    win, loss
        The labels that say that a wins, and that b wins.
    tie
        The label of a tie, or a list of several.

    Raises
    ------
    TypeError
        `win`, `loss` or one of `tie` is no label.
    ValueError
        One label has two meanings. When run: a label has none.

    Examples
    --------
    >>> import fastboot as fb
    >>> first, second = ["a", "a", "b", "tie"], ["a", "b", "b", "tie"]
    >>> fb.bootstrap(fb.win_rate(first, second), rng=0).estimate
    0.5
    >>> fb.bootstrap(fb.win_rate(first), rng=0).estimate
    0.625
    """
    try:
        ties = items_of(tie)
    except TypeError:
        ties = [tie]
    ties = [check_label("tie", label) for label in ties]
    win, loss = check_label("win", win), check_label("loss", loss)
    meanings = [(win, 1.0), (loss, 0.0), *((label, 0.5) for label in ties)]
    labels = [label for label, _ in meanings]
    for i, label in enumerate(labels):
        if label in labels[:i]:
            raise ValueError(
                f"{label!r} stands for two of win={win!r}, loss={loss!r} and tie={tie!r}; "
                "give each a label of its own"
            )
    orders = {"first_order": first_order, "second_order": second_order}
    columns = [Column(x, "label", name) for name, x in orders.items() if x is not None]
    return _WinRate(columns, meanings)
