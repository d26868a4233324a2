"""Checks and comparisons of columns that several families share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Column, Labels
from fastboot.plain import items_of, kind_of, real_numbers
from fastboot.rendering import count

__all__ = [
    "check_beta",
    "check_counts",
    "check_integer",
    "check_kinds",
    "check_label",
    "check_labels",
    "check_number",
    "check_part",
    "check_returned",
    "equal_labels",
    "has_label",
    "refuse_rows",
]

Floats = NDArray[np.float64]


def refuse_rows(
    column: Column, values: Floats, wrong: NDArray[np.bool_], what: str, rule: str, which: str = ""
) -> None:
    """Raise ValueError if any row is wrong: how many, the first and its value, and the rule."""
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{column} has {count(int(wrong.sum()), what)}{which} (first at row {row:,}: "
            f"{values[row]:g}); {rule}"
        )


def check_counts(column: Column, counts: Floats) -> None:
    """Refuse negative counts."""
    refuse_rows(column, counts, counts < 0, "negative count", "counts are 0 or more")


def check_part(columns: Sequence[Column], counts: Sequence[Floats], part: int, whole: int) -> None:
    """Refuse a part, given by its place, that exceeds the whole."""
    above = counts[part] > counts[whole]
    rule = "there cannot be more than that"
    refuse_rows(columns[part], counts[part], above, "count", rule, f" above {columns[whole]}")


def check_integer(argument: str, value: Any, least: int) -> int:
    """Return an integer of at least `least`, or raise ValueError."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"`{argument}` is {value!r}; it must be an integer, {least} or more")
    return int(value)


def check_number(argument: str, value: Any) -> float:
    """Return a number as a float, or raise TypeError."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"`{argument}` is {value!r}; it must be a number")
    return float(value)


def check_beta(value: Any, usual: str) -> float:
    """Return the beta of an F-score within 1e-30 and 1e30.

    Beyond these the F-score is precision, or recall, to the last digit; but squares overflow.

    value, usual : what was given, and a usual value in words, for the message
    """
    beta = check_number("beta", value)
    if not 0.0 < beta < math.inf:
        raise ValueError(f"`beta` is {value}; it must be a positive number ({usual})")
    return min(max(beta, 1e-30), 1e30)


def check_label(argument: str, value: Any) -> Any:
    """Return one label, or raise TypeError for an array, a list or the like."""
    if hasattr(value, "as_py"):  # an Arrow scalar equals no Python value
        value = value.as_py()
    if not _is_hashable(value):
        raise TypeError(
            f"`{argument}` is {shortened(value)}; give one label: a string, a number or a boolean"
        )
    return value


def check_labels(labels: Any, empty: str, argument: str = "labels") -> tuple[Any, ...]:
    """Return labels that are listed, each once.

    Parameters
    ----------
    labels
        A list, an array, a series or an Arrow column.
    empty
        What to do about an empty one.
    argument
        What messages call it.

    Raises
    ------
    TypeError
        It is no list, or one of its items is no label.
    ValueError
        It is empty, or repeats a label; 1, 1.0 and True are the same.
    """
    try:
        items = items_of(labels)
    except TypeError:
        raise TypeError(f"`{argument}` is {labels!r}; give a list of labels") from None
    if not items:
        raise ValueError(f"`{argument}` is empty; {empty}")
    listed = tuple(check_label(f"{argument}[{place}]", item) for place, item in enumerate(items))
    repeated = [label for label, times in Counter(listed).items() if times > 1]
    if repeated:
        raise ValueError(f"`{argument}` has {repeated[0]!r} more than once; give each label once")
    return listed


def _is_hashable(value: Any) -> bool:
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except TypeError:  # a tuple of lists
        return False
    return True


def check_returned(function: str, returned: Any, which: str = "") -> Floats:
    """Return what a function returned as float64, NaN where masked, or raise TypeError.

    function, which : what was called, and which part of what it returned, for the message
    """
    numbers = real_numbers(returned)
    if numbers is None:
        raise TypeError(
            f"{function} returned {kind_of(returned)}{which}; return real numbers, one or an array"
        )
    return numbers


def check_kinds(first: Labels, second: Labels, names: tuple[str, str]) -> None:
    """Refuse to compare strings with numbers."""
    kinds = [isinstance(labels.values[0], str) for labels in (first, second)]
    if kinds[0] != kinds[1]:
        words = ["strings" if kind else "numbers" for kind in kinds]
        raise ValueError(
            f"`{names[0]}` holds {words[0]} but `{names[1]}` holds {words[1]} (such as "
            f"{first.values[0]!r} and {second.values[0]!r}); labels must be of one kind"
        )


def equal_labels(first: Labels, second: Labels, names: tuple[str, str]) -> NDArray[np.bool_]:
    """Compare labels that are numbered separately, by way of their values."""
    check_kinds(first, second, names)
    number = {value: code for code, value in enumerate(first.values)}
    translated = np.array([number.get(value, -1) for value in second.values])
    equal: NDArray[np.bool_] = translated[second.codes] == first.codes
    return equal


def has_label(labels: Labels, label: Any) -> NDArray[np.bool_]:
    """Tell which rows have a label."""
    codes, values = labels
    chosen: NDArray[np.bool_] = np.array([value == label for value in values])[codes]
    return chosen
