"""The confusion matrix: as a table to read, and as a statistic with a value for every cell."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Labels, Source, load
from fastboot.rendering import short, to_json
from fastboot.statistics.additive import AdditiveVector, Tally, Term
from fastboot.statistics.classes import ByClass, ListOfLabels, over_classes

__all__ = ["ConfusionMatrix", "confusion_cells", "confusion_matrix"]

# A replicate has a number for each cell: 0.5 MB, and 5 GB for the 9,999 of a default run.
_MOST_CELLS = 65_536
# NumPy prints up to 1,000 numbers in full, and of more the first and last three of a row.
_MOST_SHOWN = 1_000
_EDGE = 3
_CORNER = "gold / predicted"


class _Counts(ByClass):
    """The number of rows in each cell, or their share of a total."""

    only_listed = True

    def __init__(self, normalize: str | None, *args: Any) -> None:
        super().__init__(*args)
        self._normalize = normalize

    def cells(self, gold: Labels, predicted: Labels) -> Tally:
        """Return the count of rows of each cell, row by row of the matrix."""
        true, said = self.codes(gold, predicted)
        size = len(self.classes)
        return Tally(np.where(true >= 0, size * true + said, -1), size * size)

    def terms(self, gold: Labels, predicted: Labels) -> Sequence[Term]:
        return (self.cells(gold, predicted),)

    def finish(self, cells: Any) -> Any:
        if self._normalize is None:
            return cells
        size = len(self.classes)
        table = cells.reshape(size, size, *cells.shape[1:])
        if self._normalize == "true":
            totals = over_classes(np.swapaxes(table, 0, 1))[:, np.newaxis]
        else:
            totals = over_classes(table)[np.newaxis]
            if self._normalize == "all":
                totals = over_classes(totals[0])
        return (table / totals).reshape(cells.shape)


class _Cells(_Counts, AdditiveVector):
    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = super().bind(systems)
        size = len(bound.classes)
        if size * size > _MOST_CELLS:
            raise ValueError(
                f"`gold` and `predicted` have {size:,} classes, so the confusion matrix has "
                f"{size * size:,} cells; a replicate has a number for each, and {_MOST_CELLS:,} "
                f"are the limit: choose up to {math.isqrt(_MOST_CELLS)} classes with labels="
            )
        bound.labels = tuple(product(bound.classes, repeat=2))
        return bound


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix:
    """How often each gold label was predicted as each label.

    Attributes
    ----------
    labels
        The classes, in the order of rows and columns.
    values
        Shape (n_labels, n_labels), gold labels by row, predicted ones by column: counts, int64;
        where normalized shares, float64, NaN where they are of nothing.
    normalize
        What the shares are of: "true", "pred", "all"; None for counts.
    """

    labels: tuple[Any, ...]
    values: NDArray[np.int64] | NDArray[np.float64]
    normalize: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return labels, rows of values, and `normalize`."""
        return {
            "labels": list(self.labels),
            "values": self.values.tolist(),
            "normalize": self.normalize,
        }

    def to_json(self) -> str:
        """Return `to_dict` as strict JSON; NaN becomes null."""
        return to_json(self.to_dict())

    def __repr__(self) -> str:
        rows = self._shown()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True))
            for row in rows
        )

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        head, *rows = ([html.escape(word) for word in row] for row in self._shown())
        lines = ["".join(f"<th>{word}</th>" for word in head)]
        for label, *values in rows:
            cells = "".join(f"<td style='text-align:right'>{value}</td>" for value in values)
            lines.append(f"<th>{label}</th>{cells}")
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"

    def _shown(self) -> list[list[str]]:
        """Return what is printed: a row of labels, and a row for each label."""
        shown: list[Any] = list(range(len(self.labels)))
        if self.values.size > _MOST_SHOWN:
            shown[_EDGE:-_EDGE] = [...]
        rows = [[_CORNER, *("..." if k is ... else str(self.labels[k]) for k in shown)]]
        for i in shown:
            label = "..." if i is ... else str(self.labels[i])
            cells = ("..." if ... in (i, k) else self._word(self.values[i, k]) for k in shown)
            rows.append([label, *cells])
        return rows

    def _word(self, value: Any) -> str:
        if self.normalize is None:
            return f"{value:,}"
        return "-" if np.isnan(value) else short(value)


def confusion_matrix(
    gold: Source,
    predicted: Source,
    *,
    data: object = None,
    labels: ListOfLabels | None = None,
    normalize: str | None = None,
    nan_policy: str = "raise",
) -> ConfusionMatrix:
    """Return how often each gold label was predicted as each label.

    A table to read; :func:`confusion_cells` is the statistic, which has an interval for each cell.

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of labels: strings, integers, booleans. Both of
        one kind.
    data
        The table that column names refer to.
    labels
        The labels in the order of rows and columns; rows of the data with another label in either
        column do not count. By default all that occur, sorted.
    normalize
        Return shares instead of counts: "true", of the rows with that gold label; "pred", of those
        with that predicted label; "all", of all rows. NaN where there are none (scikit-learn: 0).
    nan_policy
        What a missing label does: "raise", or "omit" drops the row.

    Raises
    ------
    TypeError
        `labels` is no list, or a column cannot be used.
    ValueError
        `normalize` or `nan_policy` is another word; `labels` is empty, repeats a label, or none of
        it occurs in either column; a column cannot be used; or one column holds strings and the
        other numbers.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.confusion_matrix(["cat", "cat", "cat", "dog"], ["cat", "cat", "dog", "dog"])
    gold / predicted  cat  dog
                 cat    2    1
                 dog    0    1
    """
    statistic = _Counts(_check_normalize(normalize), gold, predicted, labels, "confusion_matrix")
    columns: Any = load(statistic.columns, data, nan_policy).columns
    statistic = statistic.bind([columns])
    cells = statistic.cells(*columns)
    size = len(statistic.classes)
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=cells.size)
    with np.errstate(invalid="ignore"):  # 0 / 0 where there are no rows
        values = statistic.finish(counts).reshape(size, size)
    return ConfusionMatrix(statistic.classes, values, normalize)


@recorded
def confusion_cells(
    gold: Source,
    predicted: Source,
    *,
    labels: ListOfLabels | None = None,
    normalize: str | None = None,
) -> AdditiveVector:
    """Cells of the confusion matrix: one value for each (gold, predicted) pair of labels.

    A share is undefined where there are no rows to share; counts are always defined.

    Parameters
    ----------
    gold, predicted, labels, normalize
        As in :func:`confusion_matrix`.

    Raises
    ------
    TypeError, ValueError
        As in :func:`confusion_matrix`. When run: there are more than 256 classes.

    Examples
    --------
    >>> import fastboot as fb
    >>> cells = fb.confusion_cells(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
    >>> fb.bootstrap(cells, rng=0)["cat", "dog"].estimate
    1.0
    """
    chosen = _check_normalize(normalize)
    name = f"confusion_cells(normalize={chosen})" if chosen else "confusion_cells"
    return _Cells(chosen, gold, predicted, labels, name)


def _check_normalize(normalize: Any) -> str | None:
    if normalize not in ("true", "pred", "all", None):
        raise ValueError(f'`normalize` is {normalize!r}; choose "true", "pred", "all" or None')
    chosen: str | None = normalize
    return chosen
