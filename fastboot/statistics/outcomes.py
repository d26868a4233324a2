"""Ratios of outcomes: precision, recall and their like, of one class or averaged over classes.

A prediction is one of four outcomes for each class: a true or false positive, a true or false
negative. Of one class, or of several pooled, they are terms of the rows. An average over classes
needs the outcomes of each: tallies of gold labels, of predicted labels and of right predictions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Additive, AdditiveVector, Ratio, Term
from fastboot.statistics.checks import check_counts, check_kinds, check_label, equal_labels
from fastboot.statistics.classes import (
    NAMES,
    ByClass,
    check_occurs,
    label_columns,
    listed_labels,
    over_classes,
)

__all__ = ["Measure", "average_over_classes", "counting", "outcome_statistic"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A ratio of weighted outcomes, such as (1 tp) / (1 tp + 1 fp).

    Attributes
    ----------
    name
        Of the function.
    found, among
        Weights of the outcomes in numerator and denominator.
    options
        What the name of the statistic tells beside the average.
    """

    name: str
    found: Mapping[str, float]
    among: Mapping[str, float]
    options: Mapping[str, Any] = field(default_factory=dict)

    def parts(self, counts: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return numerator and denominator."""
        found, among = (
            sum(weight * counts[outcome] for outcome, weight in weights.items())
            for weights in (self.found, self.among)
        )
        return found, among


class _Pooled(Ratio):
    """The ratio of the outcomes of one class, or of several together; None stands for all."""

    def __init__(self, measure: Measure, columns: Sequence[Column], argument: str,
                 listed: tuple[Any, ...] | None, name: str) -> None:  # fmt: skip
        super().__init__(*columns, name=name)
        self._measure = measure
        self._argument = argument
        self._listed = listed if columns[0].role == "label" else None

    @property
    def learns(self) -> str:
        return "nothing" if self._listed is None else "summaries"

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        """Refuse to look for labels that occur nowhere; some rows may well be without."""
        if self._listed is not None:
            for gold, predicted in systems:
                check_kinds(gold, predicted, NAMES)
                occurring = tuple(dict.fromkeys((*gold.values, *predicted.values)))
                check_occurs(self._argument, self._listed, occurring)
        return self

    def terms(self, *columns: Any) -> Sequence[Term]:
        if self.columns[0].role == "label":
            return self._measure.parts(self._outcomes(*columns))
        for column, array in zip(self.columns, columns, strict=True):
            check_counts(column, array)
        names = (column.argument for column in self.columns)
        return self._measure.parts(dict(zip(names, columns, strict=True)))

    def _outcomes(self, gold: Labels, predicted: Labels) -> dict[str, Floats]:
        """Return the outcomes of each row, as 0.0 and 1.0."""
        right = equal_labels(gold, predicted, NAMES)
        is_gold, is_predicted = self._is_listed(gold), self._is_listed(predicted)
        outcomes = {
            "tp": is_gold & right,
            "fp": is_predicted & ~right,
            "fn": is_gold & ~right,
            "tn": ~is_gold & ~is_predicted,
        }
        return {name: rows.astype(np.float64) for name, rows in outcomes.items()}

    def _is_listed(self, labels: Labels) -> NDArray[np.bool_]:
        listed = self._listed
        chosen = np.array([listed is None or value in listed for value in labels.values])
        return chosen[labels.codes]


class _PooledOr(_Pooled):
    """The same with a value for 0 / 0, which no longer is proportional to its numerator."""

    linear = False

    def __init__(self, *args: Any, zero_division: float) -> None:
        super().__init__(*args)
        self._zero_division = zero_division

    def finish(self, found: Any, among: Any) -> Any:
        return _divide(found, among, self._zero_division)


class _OfClasses(ByClass):
    """The ratio of the outcomes of each class."""

    chosen: NDArray[np.int64] | slice = slice(None)

    def __init__(self, measure: Measure, zero_division: float | None, *args: Any) -> None:
        super().__init__(*args)
        self._measure = measure
        self._zero_division = zero_division

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = super().bind(systems)
        if self.listed is not None:
            place = {label: k for k, label in enumerate(bound.classes)}
            bound.chosen = np.array([place[label] for label in self.listed])
        return bound

    def terms(self, gold: Labels, predicted: Labels) -> Sequence[Term]:
        true, said = self.codes(gold, predicted)
        return self.tally(true), self.tally(said), self.tally(np.where(true == said, true, -1))

    def _values(self, gold: Any, predicted: Any, tp: Any) -> Any:
        """Return the value of each chosen class."""
        counts = {"tp": tp, "fp": predicted - tp, "fn": gold - tp}
        if "tn" in self._measure.among:
            counts["tn"] = over_classes(gold) - gold - counts["fp"]
        found, among = self._measure.parts({name: c[self.chosen] for name, c in counts.items()})
        return _divide(found, among, self._zero_division)

    def _average(self, values: Any, weights: Any) -> Any:
        if self._zero_division is not None:
            defined = ~np.isnan(values)
            weights = np.where(defined, weights, 0.0)
            # As scikit-learn: classes of which none weighs anything weigh the same.
            weights = np.where(over_classes(weights) == 0.0, defined, weights)
        return average_over_classes(values, weights)


class _Each(_OfClasses, AdditiveVector):
    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = super().bind(systems)
        bound.labels = self.listed or bound.classes
        return bound

    def finish(self, gold: Any, predicted: Any, tp: Any) -> Any:
        return self._values(gold, predicted, tp)


class _Weighted(_OfClasses):
    def finish(self, gold: Any, predicted: Any, tp: Any) -> Any:
        return self._average(self._values(gold, predicted, tp), gold[self.chosen])


class _Macro(_OfClasses):
    def finish(self, gold: Any, predicted: Any, tp: Any) -> Any:
        required = self.in_gold[self.chosen] | (self.listed is not None)
        weights = counting(required, (gold + predicted)[self.chosen])
        return self._average(self._values(gold, predicted, tp), weights)


def _divide(found: Any, among: Any, zero_division: float | None) -> Any:
    value = np.true_divide(found, among)
    return value if zero_division is None else np.where(among == 0.0, zero_division, value)


def counting(required: NDArray[np.bool_], rows: Any) -> Any:
    """Return 1.0 for classes that are required or have rows, else 0.0.

    required : shape (n_classes,)
    rows : shape (n_classes, ...)
    """
    return (required | (rows > 0.0).T).T.astype(np.float64)


def average_over_classes(values: Any, weights: Any) -> Any:
    """Return the mean over the first axis; what has no weight may be undefined."""
    weighted = np.where(weights > 0.0, weights * values, 0.0)
    return over_classes(weighted) / over_classes(weights)


def outcome_statistic(
    measure: Measure,
    gold: Source | None,
    predicted: Source | None,
    counts: dict[str, Source | None],
    *,
    average: str | None,
    labels: Any,
    pos_label: Any,
    zero_division: float | None,
) -> Additive:
    """Return a measure as a statistic, of label columns or of count columns.

    Parameters
    ----------
    measure
        The ratio.
    gold, predicted, average, labels, pos_label, zero_division
        See :func:`fastboot.f_score`.
    counts
        Columns that may be given instead of labels.

    Raises
    ------
    TypeError, ValueError
        See :func:`fastboot.f_score`.
    """
    of_classes = _check_average(measure, average)
    fill = _check_zero_division(zero_division)
    listed = listed_labels(labels)
    pos_label = check_label("pos_label", pos_label)
    columns = _columns(measure.name, gold, predicted, counts)
    if columns[0].role == "number" and (of_classes or listed is not None):
        raise TypeError(
            f"{measure.name} of counts pools all rows; an average over classes, or labels=, needs "
            "gold and predicted labels"
        )
    name = _name(measure, average, fill)
    if of_classes:
        _check_no_pos_label(average, pos_label)
        return of_classes(measure, fill, gold, predicted, listed, name)
    argument = "labels"
    if average == "binary":
        if listed is not None:
            raise ValueError(
                "average='binary' measures one class, `pos_label`; `labels` are the classes of "
                'average="micro", "macro", "weighted" or None'
            )
        argument, listed = "pos_label", (pos_label,)
    else:
        _check_no_pos_label(average, pos_label)
    if fill is None:
        return _Pooled(measure, columns, argument, listed, name)
    return _PooledOr(measure, columns, argument, listed, name, zero_division=fill)


def _check_average(measure: Measure, average: Any) -> type[_OfClasses] | None:
    """Return the class of an average over classes; None where outcomes are pooled."""
    of_classes = {"macro": _Macro, "weighted": _Weighted, None: _Each}
    pooled = ("binary",) if "tn" in measure.among else ("binary", "micro")
    if average is not None and average not in (*pooled, *of_classes):
        words = ", ".join(f'"{word}"' for word in (*pooled, "macro", "weighted"))
        raise ValueError(f"`average` is {average!r}; {measure.name} has {words} or None")
    return None if average in pooled else of_classes[average]


def _check_zero_division(value: Any) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, Real | np.bool_)
    if not is_number or not (value in (0, 1) or math.isnan(value)):
        raise ValueError(
            f"`zero_division` is {value!r}; the value for 0 / 0 can be 0, 1, nan (leave the class "
            "out of an average) or None (undefined)"
        )
    return float(value)


def _check_no_pos_label(average: str | None, pos_label: Any) -> None:
    if pos_label is not None and pos_label != 1:
        raise ValueError(
            f"`pos_label` is {pos_label!r}, but average={average!r} is over all classes; for that "
            f"class alone choose average='binary', or labels=[{pos_label!r}]"
        )


def _name(measure: Measure, average: str | None, fill: float | None) -> str:
    options = dict(measure.options)
    if average != "binary":
        options["average"] = str(average)
    if fill is not None:
        options["zero_division"] = f"{fill:g}"
    shown = ", ".join(f"{key}={value}" for key, value in options.items())
    return f"{measure.name}({shown})" if shown else measure.name


def _columns(
    name: str, gold: Source | None, predicted: Source | None, counts: dict[str, Source | None]
) -> list[Column]:
    """Return the two label columns or the count columns, whichever is given."""
    labels = {"gold": gold, "predicted": predicted}
    given = {key: source for key, source in (labels | counts).items() if source is not None}
    if given.keys() == labels.keys():
        return label_columns(gold, predicted)
    if given.keys() == counts.keys():
        return [Column(source, "number", key) for key, source in given.items()]
    raise TypeError(
        f"{name} takes either gold and predicted, or {' and '.join(counts)}; "
        f"it got {', '.join(given) or 'nothing'}"
    )
