"""Statistics of predicted labels against gold labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Ratio, Term
from fastboot.statistics.checks import check_counts, check_kinds, equal_labels, has_label

__all__ = ["accuracy", "f_score", "precision", "recall"]

Floats = NDArray[np.float64]
_NAMES = ("gold", "predicted")


class _Accuracy(Ratio):
    def terms(self, gold: Labels, predicted: Labels) -> Sequence[Term]:
        return equal_labels(gold, predicted, _NAMES).astype(np.float64), 1.0


class _Outcomes(Ratio):
    """A ratio of true positives, false positives and false negatives.

    tp weights of the numerator, and (tp, fp, fn) weights of the denominator.
    """

    def __init__(self, found: float, among: tuple[float, float, float], name: str,
                 columns: Sequence[Column], pos_label: Any) -> None:  # fmt: skip
        super().__init__(*columns, name=name)
        self._found = found
        self._among = among
        self._pos_label = pos_label

    def terms(self, *columns: Any) -> Sequence[Term]:
        if self.columns[0].role == "label":
            gold, predicted = columns
            counts = _outcomes(gold, predicted, self._pos_label)
        else:
            for column, array in zip(self.columns, columns, strict=True):
                check_counts(column, array)
            named = {c.argument: array for c, array in zip(self.columns, columns, strict=True)}
            counts = {name: named[name] for name in ("tp", "fp", "fn") if name in named}
        among: Term = 0.0
        for name, weight in zip(("tp", "fp", "fn"), self._among, strict=True):
            if weight:
                among = among + weight * counts[name]
        return self._found * counts["tp"], among


def accuracy(gold: Source, predicted: Source) -> Ratio:
    """Share of rows whose predicted label is the gold label.

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of labels: strings, integers, booleans. Both of
        one kind; 1, 1.0 and True are the same label.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.accuracy(["cat", "dog", "dog"], ["cat", "dog", "cat"]), rng=0).estimate
    0.6666666666666666
    """
    columns = [Column(gold, "label", "gold"), Column(predicted, "label", "predicted")]
    return _Accuracy(*columns, name="accuracy")


def precision(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tp: Source | None = None,
    fp: Source | None = None,
    pos_label: Any = 1,
) -> Ratio:
    """Precision: tp / (tp + fp), over all rows.

    Undefined where nothing is predicted positive.

    Parameters
    ----------
    gold, predicted
        Label columns (name, or array of shape (n_rows,)).
    tp, fp
        Instead of labels: number columns with the counts of each row (document, sentence).
    pos_label
        The positive label.

    Raises
    ------
    TypeError
        Neither labels nor counts are given, or both, or not all of them.
    ValueError
        When run: `pos_label` occurs in neither column.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.precision(tp=[3, 5], fp=[1, 1]), rng=0).estimate
    0.8
    """
    columns = _columns("precision", gold, predicted, {"tp": tp, "fp": fp})
    return _Outcomes(1.0, (1.0, 1.0, 0.0), "precision", columns, pos_label)


def recall(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tp: Source | None = None,
    fn: Source | None = None,
    pos_label: Any = 1,
) -> Ratio:
    """Recall: tp / (tp + fn), over all rows.

    Undefined where no gold label is positive.

    Parameters
    ----------
    gold, predicted
        Label columns (name, or array of shape (n_rows,)).
    tp, fn
        Instead of labels: number columns with the counts of each row (document, sentence).
    pos_label
        The positive label.

    Raises
    ------
    TypeError
        Neither labels nor counts are given, or both, or not all of them.
    ValueError
        When run: `pos_label` occurs in neither column.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.recall(tp=[3, 5], fn=[1, 1]), rng=0).estimate
    0.8
    """
    columns = _columns("recall", gold, predicted, {"tp": tp, "fn": fn})
    return _Outcomes(1.0, (1.0, 0.0, 1.0), "recall", columns, pos_label)


def f_score(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tp: Source | None = None,
    fp: Source | None = None,
    fn: Source | None = None,
    beta: float = 1.0,
    pos_label: Any = 1,
) -> Ratio:
    """F-score of the positive label, or of counts pooled over all rows (micro-average).

    (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp), the weighted harmonic mean of precision
    and recall (van Rijsbergen 1979). Undefined where there is neither a positive gold label nor a
    positive prediction.

    Parameters
    ----------
    gold, predicted
        Label columns (name, or array of shape (n_rows,)).
    tp, fp, fn
        Instead of labels: number columns with the counts of each row (document, sentence).
    beta
        Weight of recall; 1 gives F1, 2 puts recall before precision. Positive and finite.
    pos_label
        The positive label.

    Raises
    ------
    TypeError
        Neither labels nor counts are given, or both, or not all of them.
    ValueError
        `beta` is not positive. When run: `pos_label` occurs in neither column.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.f_score(tp=[20, 10], fp=[4, 6], fn=[12, 8]), rng=0).estimate
    0.6666666666666666
    """
    if not 0.0 < beta < float("inf"):
        raise ValueError(f"`beta` is {beta}; it must be a positive number (1 gives F1)")
    square = float(beta) ** 2
    name = "f_score" if beta == 1.0 else f"f_score(beta={beta:g})"
    columns = _columns("f_score", gold, predicted, {"tp": tp, "fp": fp, "fn": fn})
    return _Outcomes(1.0 + square, (1.0 + square, 1.0, square), name, columns, pos_label)


def _columns(
    name: str, gold: Source | None, predicted: Source | None, counts: dict[str, Source | None]
) -> list[Column]:
    """Return the two label columns or the count columns, whichever is given."""
    labels = {"gold": gold, "predicted": predicted}
    given = {key: source for key, source in (labels | counts).items() if source is not None}
    if given.keys() == labels.keys():
        return [Column(source, "label", key) for key, source in given.items()]
    if given.keys() == counts.keys():
        return [Column(source, "number", key) for key, source in given.items()]
    raise TypeError(
        f"{name} takes either gold and predicted, or {' and '.join(counts)}; "
        f"it got {', '.join(given) or 'nothing'}"
    )


def _outcomes(gold: Labels, predicted: Labels, pos_label: Any) -> dict[str, Floats]:
    """Return tp, fp and fn of each row, as 0.0 and 1.0."""
    check_kinds(gold, predicted, _NAMES)
    if pos_label not in gold.values and pos_label not in predicted.values:
        found = list(dict.fromkeys((*gold.values, *predicted.values)))
        shown = ", ".join(repr(value) for value in found[:10])
        raise ValueError(
            f"`pos_label` is {pos_label!r}, which is in neither `gold` nor `predicted`; "
            f"the labels are {shown}{', ...' if len(found) > 10 else ''}"
        )
    is_gold = has_label(gold, pos_label)
    is_predicted = has_label(predicted, pos_label)
    return {
        "tp": (is_gold & is_predicted).astype(np.float64),
        "fp": (is_predicted & ~is_gold).astype(np.float64),
        "fn": (is_gold & ~is_predicted).astype(np.float64),
    }
