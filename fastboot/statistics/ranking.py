"""Areas under curves: how well a score ranks the positive rows, or the wrong answers last."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.statistics.checks import check_label, equal_labels, has_label
from fastboot.statistics.weighted import Weighted

__all__ = ["average_precision", "positive", "risk_coverage_area", "roc_auc"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class _Ranked(NamedTuple):
    """Rows by falling score, shape (n_rows,) each, read-only."""

    order: NDArray[np.int64]
    marked: Flags
    last: Flags  # of equal scores


class _Area(Weighted):
    """A figure of the curve of marked and unmarked rows by falling score."""

    _kernel: ClassVar[str]

    def values(self, prepared: _Ranked | None, weights: Floats) -> Floats:
        if prepared is None:
            return np.full(len(weights), np.nan)
        # Numba takes a while to import.
        from fastboot.kernels import ranking

        sums = np.empty((3, len(weights)))
        getattr(ranking, self._kernel)(_read_only(weights.view()), *prepared, sums)
        return self._value(*sums)

    def _value(self, area: Floats, marked: Floats, unmarked: Floats) -> Floats:
        raise NotImplementedError


class _OfPositives(_Area):
    def __init__(self, gold: Source, score: Source, pos_label: Any, name: str) -> None:
        columns = Column(gold, "label", "gold"), Column(score, "number", "score")
        super().__init__(*columns, name=name)
        self._pos_label = check_label("pos_label", pos_label)

    def prepare(self, gold: Labels, score: Floats) -> _Ranked | None:
        return _ranked(score, positive(gold, self._pos_label, "gold"))


class _RocAuc(_OfPositives):
    _kernel = "fill_trapezoids"

    def _value(self, area: Floats, marked: Floats, unmarked: Floats) -> Floats:
        return area / (marked * unmarked)


class _AveragePrecision(_OfPositives):
    _kernel = "fill_precisions"

    def _value(self, area: Floats, marked: Floats, unmarked: Floats) -> Floats:  # noqa: ARG002
        return area / marked


class _RiskCoverageArea(_Area):
    _kernel = "fill_risks"

    def prepare(self, gold: Labels, predicted: Labels, confidence: Floats) -> _Ranked | None:
        return _ranked(confidence, ~equal_labels(gold, predicted, ("gold", "predicted")))

    def _value(self, area: Floats, marked: Floats, unmarked: Floats) -> Floats:
        return area / (marked + unmarked)


@recorded
def roc_auc(gold: Source, score: Source, *, pos_label: Any = 1) -> Weighted:
    """Area under the ROC curve: how often a positive row scores higher than a negative one.

    (pairs in which it does + pairs of equal scores / 2) / (positives x negatives), the statistic of
    Mann and Whitney (1947), which is the area by trapezoids (Bamber 1975; Hanley and McNeil 1982).
    Undefined where a class is absent.

    Parameters
    ----------
    gold
        Label column (name, or array of shape (n_rows,)).
    score
        Column name, or array of shape (n_rows,): any number that is larger where `pos_label` is
        more likely.
    pos_label
        The positive label; all others are negative.

    Raises
    ------
    ValueError
        When run: `pos_label` is not in `gold`.

    Examples
    --------
    >>> import fastboot as fb
    >>> area = fb.roc_auc([1, 0, 1, 0] * 9, [0.9, 0.8, 0.8, 0.1] * 9)
    >>> fb.bootstrap(area, rng=0).estimate
    0.875
    """
    return _RocAuc(gold, score, pos_label, "roc_auc")


@recorded
def average_precision(gold: Source, score: Source, *, pos_label: Any = 1) -> Weighted:
    """Average precision: the mean over positive rows of the precision down to their score.

    Rows of equal score enter together: sum over distinct scores of (recall - recall before) x
    precision, scikit-learn's ``average_precision_score``. Nothing is interpolated, which would be
    too optimistic (Davis and Goadrich 2006). Undefined where no row is positive, where recall is
    0 / 0 (scikit-learn warns and returns 0).

    Parameters
    ----------
    gold, score, pos_label
        As in :func:`roc_auc`.

    Raises
    ------
    ValueError
        When run: `pos_label` is not in `gold`.

    Examples
    --------
    >>> import fastboot as fb
    >>> area = fb.average_precision([1, 0, 1, 0] * 9, [0.9, 0.8, 0.7, 0.1] * 9)
    >>> round(fb.bootstrap(area, rng=0).estimate, 6)
    0.833333
    """
    return _AveragePrecision(gold, score, pos_label, "average_precision")


@recorded
def risk_coverage_area(gold: Source, predicted: Source, confidence: Source) -> Weighted:
    """Area under the risk-coverage curve (AURC) of a system that leaves out what it is unsure of.

    The mean, over coverages k / n from 1 / n to 1, of the share of wrong labels among the k rows of
    highest confidence (Geifman and El-Yaniv 2017; Geifman, Uziel and El-Yaniv 2019): 0 is best.
    Always defined.

    Parameters
    ----------
    gold, predicted
        Label columns (name, or array of shape (n_rows,)).
    confidence
        Column name, or array of shape (n_rows,): any number that is larger where the system is
        surer, such as the largest probability.

    Raises
    ------
    ValueError
        When run: labels are not of one kind.

    Notes
    -----
    Where confidences are equal the curve depends on the order of the rows. The value is the mean
    over all orders of equal rows, as McSherry and Najork (2008) do for measures of rankings: among
    the first k rows, those of the tie that k falls in count with the tie's share of wrong labels.
    Its sum over k holds differences of harmonic numbers; with weights that are not whole numbers
    these are continued by the digamma function, so that the value is continuous in the weights. It
    is not that of weights twice as large: n rows have n coverages.

    Examples
    --------
    >>> import fastboot as fb
    >>> gold, predicted, confidence = [1, 1, 0, 0], [1, 0, 0, 0], [0.9, 0.8, 0.7, 0.5]
    >>> area = fb.risk_coverage_area(gold, predicted, confidence)  # (0 + 1/2 + 1/3 + 1/4) / 4
    >>> round(fb.bootstrap(area, rng=0).estimate, 6)
    0.270833
    """
    columns = Column(gold, "label", "gold"), Column(predicted, "label", "predicted")
    return _RiskCoverageArea(
        *columns, Column(confidence, "number", "confidence"), name="risk_coverage_area"
    )


def positive(labels: Labels, pos_label: Any, argument: str) -> Flags:
    """Tell which rows have the positive label; refuse one that no row has.

    labels, argument : the column and its argument's name, for the message
    """
    if pos_label not in labels.values:
        shown = ", ".join(repr(value) for value in labels.values[:10])
        raise ValueError(
            f"`pos_label` is {pos_label!r}, which is not in `{argument}`; the labels are "
            f"{shown}{', ...' if len(labels.values) > 10 else ''}"
        )
    return has_label(labels, pos_label)


def _ranked(score: Floats, marked: Flags) -> _Ranked | None:
    """Sort rows by falling score; None where a score is NaN, which has no place."""
    if np.isnan(score).any():
        return None
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    return _Ranked(*map(_read_only, (order, marked[order], last)))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Close an array, so that kernels compile for one kind."""
    array.flags.writeable = False
    return array
