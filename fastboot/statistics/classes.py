"""Classes of gold and predicted labels, numbered once for all systems that are compared.

What the families of classification share. A sum over the classes of a table is one term for each
class, but a row contributes to one of them only: a :class:`Tally` of codes, so memory is that of
the rows, for two classes as for a thousand.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Additive, Tally
from fastboot.statistics.checks import check_kinds, check_labels

__all__ = [
    "NAMES",
    "ByClass",
    "ListOfLabels",
    "check_occurs",
    "label_columns",
    "listed_labels",
    "over_classes",
]

NAMES = ("gold", "predicted")

ListOfLabels = Sequence[Any] | NDArray[Any]
Codes = NDArray[np.int64]


class ByClass(Additive):
    """A statistic of gold and predicted labels that counts rows by class.

    Attributes
    ----------
    only_listed
        Rows with a label that is not listed do not count.
    listed
        The labels that the user lists, in their order; None for all.
    classes
        Known once bound: those that occur in any system, sorted, and then the listed ones that do
        not; the listed ones alone if only these count.
    in_gold
        Shape (n_classes,): the class has gold rows, in every system.
    """

    learns = "summaries"
    only_listed: ClassVar[bool] = False
    classes: tuple[Any, ...]
    in_gold: NDArray[np.bool_]

    def __init__(self, gold: Source, predicted: Source, listed: Any, name: str) -> None:
        super().__init__(*label_columns(gold, predicted), name=name)
        self.listed = listed_labels(listed)

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        """Return the statistic of the classes that there are."""
        for gold, predicted in systems:
            check_kinds(gold, predicted, NAMES)
        values = {value for columns in systems for labels in columns for value in labels.values}
        occurring = sorted(values, key=lambda value: (isinstance(value, str), value))
        bound = copy.copy(self)
        if self.listed is None:
            bound.classes = tuple(occurring)
        else:
            check_occurs("labels", self.listed, occurring)
            counting = () if self.only_listed else occurring
            bound.classes = tuple(dict.fromkeys((*counting, *self.listed)))  # 1 and True are one
        golds = [set(gold.values) for gold, _ in systems]
        bound.in_gold = np.array([all(label in gold for gold in golds) for label in bound.classes])
        return bound

    def codes(self, *columns: Labels) -> tuple[Codes, Codes]:
        """Return the gold and the predicted class of each row; -1 twice if it does not count."""
        place = {value: code for code, value in enumerate(self.classes)}
        gold, predicted = (
            np.array([place.get(value, -1) for value in values], np.int64)[codes]
            for codes, values in columns
        )
        if self.only_listed:
            outside = (gold < 0) | (predicted < 0)
            gold[outside] = predicted[outside] = -1
        return gold, predicted

    def tally(self, codes: Codes) -> Tally:
        """Return the count of rows of each class."""
        return Tally(codes, len(self.classes))


def label_columns(gold: Source, predicted: Source) -> list[Column]:
    """Return the two columns to load."""
    return [Column(gold, "label", "gold"), Column(predicted, "label", "predicted")]


def listed_labels(labels: Any) -> tuple[Any, ...] | None:
    """Return the labels that the user lists, None for all."""
    if labels is None:
        return None
    return check_labels(labels, "list at least one label, or leave it out for all")


def check_occurs(argument: str, listed: Sequence[Any], occurring: Sequence[Any]) -> None:
    """Refuse to look for labels that occur nowhere; of 0 and 1, or False and True, 1 may."""
    if tuple(listed) == (1,) and tuple(occurring) == (0,):
        return
    if not any(label in occurring for label in listed):
        wrong = (
            f"is {_shown(listed)}, which is in neither `gold` nor `predicted`"
            if len(listed) == 1
            else f"has {_shown(listed)}, none of which is in `gold` or `predicted`"
        )
        raise ValueError(f"`{argument}` {wrong}; the labels are {_shown(occurring)}")


def _shown(labels: Sequence[Any]) -> str:
    return ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")


def over_classes(counts: Any) -> Any:
    """Sum over the first axis, class by class.

    NumPy's own sum adds a single column pairwise and several row by row, but the digits of a
    replicate must not depend on how many are computed at once.
    """
    return reduce(np.add, counts)
