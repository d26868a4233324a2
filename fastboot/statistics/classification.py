"""Statistics of predicted labels against gold labels: one class, or averages over classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastboot.calls import recorded
from fastboot.columns import Labels, Source
from fastboot.statistics.additive import Additive, Ratio, Term
from fastboot.statistics.checks import check_beta, equal_labels
from fastboot.statistics.classes import NAMES, ByClass, ListOfLabels, label_columns, over_classes
from fastboot.statistics.outcomes import (
    Measure,
    average_over_classes,
    counting,
    outcome_statistic,
)

__all__ = [
    "accuracy",
    "balanced_accuracy",
    "f_score",
    "jaccard",
    "precision",
    "recall",
    "specificity",
]


_PRECISION = Measure("precision", {"tp": 1.0}, {"tp": 1.0, "fp": 1.0})
_RECALL = Measure("recall", {"tp": 1.0}, {"tp": 1.0, "fn": 1.0})
_JACCARD = Measure("jaccard", {"tp": 1.0}, {"tp": 1.0, "fp": 1.0, "fn": 1.0})
_SPECIFICITY = Measure("specificity", {"tn": 1.0}, {"tn": 1.0, "fp": 1.0})


class _Accuracy(Ratio):
    def terms(self, gold: Labels, predicted: Labels) -> Sequence[Term]:
        return equal_labels(gold, predicted, NAMES).astype(np.float64), 1.0


class _BalancedAccuracy(ByClass):
    def __init__(self, *args: Any, adjusted: bool) -> None:
        super().__init__(*args)
        self._adjusted = adjusted

    def terms(self, gold: Labels, predicted: Labels) -> Sequence[Term]:
        true, said = self.codes(gold, predicted)
        return self.tally(true), self.tally(np.where(true == said, true, -1))

    def finish(self, gold: Any, tp: Any) -> Any:
        weights = counting(self.in_gold, gold)
        mean = average_over_classes(tp / gold, weights)
        if not self._adjusted:
            return mean
        chance = 1.0 / over_classes(weights)
        return (mean - chance) / (1.0 - chance)


@recorded
def accuracy(gold: Source, predicted: Source) -> Ratio:
    """Share of rows whose predicted label is the gold label.

    Always defined.

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
    return _Accuracy(*label_columns(gold, predicted), name="accuracy")


@recorded
def balanced_accuracy(gold: Source, predicted: Source, *, adjusted: bool = False) -> Additive:
    """Mean over classes of the share of their gold rows that are predicted right.

    The macro-average of recall over the classes that have gold rows (scikit-learn's
    ``balanced_accuracy_score``). Undefined where one of these is absent from a resample:
    ``recall(..., average="macro", zero_division=math.nan)`` leaves absent classes out instead.

    Parameters
    ----------
    gold, predicted
        As in :func:`accuracy`.
    adjusted
        Give 0 to guesses and 1 to perfect predictions: (value - 1/C) / (1 - 1/C) for C classes;
        undefined for a single class.

    Raises
    ------
    TypeError
        `adjusted` is not True or False.
    ValueError
        When run: one column holds strings and the other numbers.

    Examples
    --------
    >>> import fastboot as fb
    >>> gold, predicted = ["cat", "cat", "cat", "dog"] * 20, ["cat", "cat", "dog", "dog"] * 20
    >>> round(fb.bootstrap(fb.balanced_accuracy(gold, predicted), rng=0).estimate, 6)
    0.833333
    """
    if not isinstance(adjusted, bool | np.bool_):
        raise TypeError(f"`adjusted` is {adjusted!r}; it must be True or False")
    name = "balanced_accuracy(adjusted)" if adjusted else "balanced_accuracy"
    return _BalancedAccuracy(gold, predicted, None, name, adjusted=bool(adjusted))


@recorded
def f_score(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tp: Source | None = None,
    fp: Source | None = None,
    fn: Source | None = None,
    beta: float = 1.0,
    average: str | None = "binary",
    labels: ListOfLabels | None = None,
    pos_label: Any = 1,
    zero_division: float | None = None,
) -> Additive:
    """F-score of the positive label, of counts pooled over all rows, or averaged over classes.

    (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp), the weighted harmonic mean of precision
    and recall (van Rijsbergen 1979). Undefined, 0 / 0, where there is neither a positive gold label
    nor a positive prediction.

    Parameters
    ----------
    gold, predicted
        Label columns (name, or array of shape (n_rows,)).
    tp, fp, fn
        Instead of labels: number columns with the counts of each row (document, sentence), to be
        pooled.
    beta
        Weight of recall; 1 gives F1, 2 puts recall before precision. Positive and finite.
    average
        "binary": the class `pos_label` against all others. "micro": the outcomes of all classes
        pooled. "macro": the mean over classes. "weighted": the mean with the number of gold rows as
        weights, so that a class without any does not matter. None: a value for each class.
    labels
        The classes to average over, or to give values for; all that occur, sorted, by default. A
        listed label may be absent from the data: then it is 0 / 0.
    pos_label
        The positive label of ``average="binary"``.
    zero_division
        The value of a class that is 0 / 0: 0 or 1; nan leaves the class out of an average; None
        makes the average undefined.

    Raises
    ------
    TypeError
        Neither labels nor counts are given, or both, or not all of them; counts are to be averaged
        over classes; or `beta` is no number, `labels` no list of labels, `pos_label` no label.
    ValueError
        `beta` is not positive, `average` or `zero_division` is none of the above, `labels` is empty
        or repeats a label, `labels` is given with ``average="binary"`` or another `pos_label` than
        1 without it. When run: `pos_label` (but for 1 where all labels are 0), or each of `labels`,
        occurs in neither column; a count is negative; one column holds strings and the other
        numbers.

    Notes
    -----
    A class that has gold rows in the data counts in the macro average of every resample, so a
    resample in which it is 0 / 0 has no average unless `zero_division` says what to do. A class
    that the data only has as predictions counts in the resamples where it is predicted, unless it
    is one of `labels`. So the value of the data is scikit-learn's (where that warns of 0 / 0 and
    takes 0, give ``zero_division=0``), with several systems too.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.f_score(tp=[20, 10], fp=[4, 6], fn=[12, 8]), rng=0).estimate
    0.6666666666666666
    >>> gold, predicted = ["cat", "cat", "dog", "hen"] * 20, ["cat", "dog", "dog", "hen"] * 20
    >>> f_score = fb.f_score(gold, predicted, average="macro")
    >>> round(fb.bootstrap(f_score, rng=0).estimate, 6)
    0.777778
    """
    square = check_beta(beta, "1 gives F1") ** 2
    among = {"tp": 1.0 + square, "fp": 1.0, "fn": square}
    options = {} if beta == 1.0 else {"beta": f"{beta:g}"}
    return outcome_statistic(
        Measure("f_score", {"tp": 1.0 + square}, among, options),
        gold,
        predicted,
        {"tp": tp, "fp": fp, "fn": fn},
        average=average,
        labels=labels,
        pos_label=pos_label,
        zero_division=zero_division,
    )


@recorded
def precision(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tp: Source | None = None,
    fp: Source | None = None,
    average: str | None = "binary",
    labels: ListOfLabels | None = None,
    pos_label: Any = 1,
    zero_division: float | None = None,
) -> Additive:
    """Precision, tp / (tp + fp), over all rows or averaged over classes.

    Undefined, 0 / 0, where nothing is predicted positive: for an average over classes, where one of
    them is never predicted (see the notes of :func:`f_score`).

    Parameters
    ----------
    gold, predicted, average, labels, pos_label, zero_division
        As in :func:`f_score`.
    tp, fp
        Instead of labels: number columns with the counts of each row (document, sentence).

    Raises
    ------
    TypeError, ValueError
        As in :func:`f_score`.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.precision(tp=[3, 5], fp=[1, 1]), rng=0).estimate
    0.8
    """
    return outcome_statistic(
        _PRECISION,
        gold,
        predicted,
        {"tp": tp, "fp": fp},
        average=average,
        labels=labels,
        pos_label=pos_label,
        zero_division=zero_division,
    )


@recorded
def recall(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tp: Source | None = None,
    fn: Source | None = None,
    average: str | None = "binary",
    labels: ListOfLabels | None = None,
    pos_label: Any = 1,
    zero_division: float | None = None,
) -> Additive:
    """Recall, tp / (tp + fn), over all rows or averaged over classes.

    Undefined, 0 / 0, where no gold label is positive: for an average over classes, where one of
    them has no gold rows (see the notes of :func:`f_score`, and :func:`balanced_accuracy`, which
    leaves out classes that are only predicted).

    Parameters
    ----------
    gold, predicted, average, labels, pos_label, zero_division
        As in :func:`f_score`.
    tp, fn
        Instead of labels: number columns with the counts of each row (document, sentence).

    Raises
    ------
    TypeError, ValueError
        As in :func:`f_score`.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.recall(tp=[3, 5], fn=[1, 1]), rng=0).estimate
    0.8
    """
    return outcome_statistic(
        _RECALL,
        gold,
        predicted,
        {"tp": tp, "fn": fn},
        average=average,
        labels=labels,
        pos_label=pos_label,
        zero_division=zero_division,
    )


@recorded
def jaccard(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tp: Source | None = None,
    fp: Source | None = None,
    fn: Source | None = None,
    average: str | None = "binary",
    labels: ListOfLabels | None = None,
    pos_label: Any = 1,
    zero_division: float | None = None,
) -> Additive:
    """Jaccard index, tp / (tp + fp + fn): intersection over union of gold and predicted rows.

    F / (2 - F) for the F1-score F of one class (Jaccard 1912). Undefined, 0 / 0, as
    :func:`f_score`.

    Parameters
    ----------
    gold, predicted, tp, fp, fn, average, labels, pos_label, zero_division
        As in :func:`f_score`.

    Raises
    ------
    TypeError, ValueError
        As in :func:`f_score`.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.jaccard(tp=[3, 5], fp=[1, 0], fn=[0, 1]), rng=0).estimate
    0.8
    """
    return outcome_statistic(
        _JACCARD,
        gold,
        predicted,
        {"tp": tp, "fp": fp, "fn": fn},
        average=average,
        labels=labels,
        pos_label=pos_label,
        zero_division=zero_division,
    )


@recorded
def specificity(
    gold: Source | None = None,
    predicted: Source | None = None,
    *,
    tn: Source | None = None,
    fp: Source | None = None,
    average: str | None = "binary",
    labels: ListOfLabels | None = None,
    pos_label: Any = 1,
    zero_division: float | None = None,
) -> Additive:
    """Specificity, tn / (tn + fp): the share of negative rows that are not predicted positive.

    The recall of "not `pos_label`", or for an average of "not this class". Undefined, 0 / 0, where
    all gold labels are positive.

    Parameters
    ----------
    gold, predicted, labels, pos_label, zero_division
        As in :func:`f_score`.
    tn, fp
        Instead of labels: number columns with the counts of each row.
    average
        As in :func:`f_score`, without "micro": pooled true negatives grow with the number of
        classes.

    Raises
    ------
    TypeError, ValueError
        As in :func:`f_score`.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.specificity(tn=[30, 60], fp=[20, 10]), rng=0).estimate
    0.75
    """
    return outcome_statistic(
        _SPECIFICITY,
        gold,
        predicted,
        {"tn": tn, "fp": fp},
        average=average,
        labels=labels,
        pos_label=pos_label,
        zero_division=zero_division,
    )
