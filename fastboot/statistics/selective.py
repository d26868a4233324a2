"""Statistics of systems that leave rows they are not sure of to review."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Ratio, Term
from fastboot.statistics.classification import accuracy

__all__ = ["coverage", "mean_cost", "selective_risk"]

Floats = NDArray[np.float64]


class _Coverage(Ratio):
    def __init__(self, confidence: Source, threshold: float) -> None:
        super().__init__(Column(confidence, "number", "confidence"), name="coverage")
        self._threshold = _threshold(threshold)

    def terms(self, confidence: Floats) -> Sequence[Term]:
        return _accepted(confidence, self._threshold), 1.0


class _Selective(Ratio):
    """Gold labels, predicted labels, and the confidence in the prediction."""

    def __init__(
        self, gold: Source, predicted: Source, confidence: Source, threshold: float, name: str
    ) -> None:
        self._accuracy = accuracy(gold, predicted)
        columns = self._accuracy.columns
        super().__init__(*columns, Column(confidence, "number", "confidence"), name=name)
        self._threshold = _threshold(threshold)

    def _outcomes(
        self, gold: Labels, predicted: Labels, confidence: Floats
    ) -> tuple[Floats, Floats]:
        """Return 1 where accepted, and 1 where wrong."""
        correct: Any = self._accuracy.terms(gold, predicted)[0]
        return _accepted(confidence, self._threshold), 1.0 - correct


class _SelectiveRisk(_Selective):
    def terms(self, gold: Labels, predicted: Labels, confidence: Floats) -> Sequence[Term]:
        accepted, wrong = self._outcomes(gold, predicted, confidence)
        return accepted * wrong, accepted


class _MeanCost(_Selective):
    def __init__(self, error_cost: float, review_cost: float, *args: Any) -> None:
        super().__init__(*args)
        self._error_cost = error_cost
        self._review_cost = review_cost

    def terms(self, gold: Labels, predicted: Labels, confidence: Floats) -> Sequence[Term]:
        accepted, wrong = self._outcomes(gold, predicted, confidence)
        return accepted * wrong * self._error_cost + (1.0 - accepted) * self._review_cost, 1.0


@recorded
def coverage(confidence: Source, *, threshold: float) -> Ratio:
    """Share of rows accepted: those whose confidence is at least the threshold.

    El-Yaniv and Wiener (2010). Always defined. The threshold is fixed: an interval does not hold
    the uncertainty of choosing it, and it must have been chosen on other rows.

    Parameters
    ----------
    confidence
        Column name, or array of shape (n_rows,): any number that is larger where the system is
        surer, such as the largest probability.
    threshold
        Rows with a confidence of this or more are accepted; a float32 score equals it as float32.

    Raises
    ------
    ValueError
        `threshold` is not a number.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.coverage([0.9, 0.8, 0.6, 0.5], threshold=0.8), rng=0).estimate
    0.5
    """
    return _Coverage(confidence, threshold)


@recorded
def selective_risk(
    gold: Source, predicted: Source, confidence: Source, *, threshold: float
) -> Ratio:
    """Share of wrong labels among the rows accepted.

    El-Yaniv and Wiener (2010). Undefined where nothing is accepted: such resamples are counted and
    left out, so that an interval is conditional on accepting something. No error among the rows
    accepted gives an interval from 0 to 0, which does not show that there are none to come.

    Parameters
    ----------
    gold, predicted
        Label columns (name, or array of shape (n_rows,)).
    confidence, threshold
        As in :func:`coverage`.

    Raises
    ------
    ValueError
        `threshold` is not a number. When run: labels are not of one kind.

    Examples
    --------
    >>> import fastboot as fb
    >>> gold, predicted, confidence = [1, 1, 0, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.5]
    >>> risk = fb.selective_risk(gold * 9, predicted * 9, confidence * 9, threshold=0.8)
    >>> fb.bootstrap(risk, rng=0).estimate
    0.5
    """
    return _SelectiveRisk(gold, predicted, confidence, threshold, "selective_risk")


@recorded
def mean_cost(
    gold: Source,
    predicted: Source,
    confidence: Source,
    *,
    threshold: float,
    error_cost: float = 1.0,
    review_cost: float,
) -> Ratio:
    """Mean over all rows of the cost of accepting or reviewing them.

    (error_cost x errors accepted + review_cost x rows not accepted) / number of rows: a right label
    that is accepted costs nothing, and a review makes no error (Chow 1970). Always defined.

    Parameters
    ----------
    gold, predicted
        Label columns (name, or array of shape (n_rows,)).
    confidence, threshold
        As in :func:`coverage`.
    error_cost
        Cost of a wrong label that is accepted, 0 or more.
    review_cost
        Cost of a row that is not accepted, 0 or more.

    Raises
    ------
    ValueError
        `threshold` is not a number, or a cost is not a finite number of 0 or more. When run: labels
        are not of one kind.

    Examples
    --------
    >>> import fastboot as fb
    >>> gold, predicted, confidence = [1, 1, 0, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.5]
    >>> cost = fb.mean_cost(gold, predicted, confidence, threshold=0.8, review_cost=0.25)
    >>> fb.bootstrap(cost, rng=0).estimate
    0.375
    """
    costs = _cost("error_cost", error_cost), _cost("review_cost", review_cost)
    name = f"mean_cost(error_cost={costs[0]:g}, review_cost={costs[1]:g})"
    return _MeanCost(*costs, gold, predicted, confidence, threshold, name)


def _accepted(confidence: Floats, threshold: float) -> Floats:
    # A threshold of 0.7 means float32 scores of 0.7 too, which lie below it; NumPy 2 says the same.
    with np.errstate(over="ignore"):
        single = np.float64(np.float32(threshold))
    accepted = (confidence >= threshold) | (confidence == single)
    return np.where(np.isnan(confidence), np.nan, accepted)


def _threshold(value: Any) -> float:
    if not _is_number(value) or math.isnan(value):
        raise ValueError(f"`threshold` is {value!r}; it must be a number")
    return float(value)


def _cost(argument: str, value: Any) -> float:
    if not _is_number(value) or not 0.0 <= value < math.inf:
        raise ValueError(f"`{argument}` is {value!r}; a cost is a finite number, 0 or more")
    return float(value)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, np.ndarray)
