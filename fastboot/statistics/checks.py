"""Checks and comparisons of columns that several families share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.columns import Column, Labels
from fastboot.rendering import count

__all__ = [
    "check_counts",
    "check_integer",
    "check_kinds",
    "check_part",
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
