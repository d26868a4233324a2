"""What every statistic has: the columns it reads and the name that results call it by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import words
from fastboot.columns import Column, Source
from fastboot.statistics.copies import Drawn

__all__ = ["Statistic", "Vector"]


class Statistic:
    """A figure computed from columns; see :class:`fastboot.Additive` to write one.

    Parameters
    ----------
    *columns
        Names of columns of ``data``, arrays, or :class:`~fastboot.columns.Column` objects.
    name
        How results call the statistic; the class name by default.

    Attributes
    ----------
    columns
        The columns asked for.
    name
        What results call it.
    call
        The call that made it, in one line, such as ``f_score(gold,predicted,average=macro)``: what
        signatures quote. Of a class of your own its name, columns and the numbers and strings
        among its attributes.
    """

    def __init__(self, *columns: Column | Source, name: str | None = None) -> None:
        if not columns:
            raise TypeError(f"{type(self).__name__}() names no column; give at least one")
        self.name = name or type(self).__name__
        self.columns = tuple(
            column
            if isinstance(column, Column)
            else Column(column, "number", f"{self.name}, column {i}")
            for i, column in enumerate(columns, 1)
        )

    @cached_property
    def call(self) -> str:
        """The call that made it; :func:`recorded` sets it."""
        options = [
            f"{name.lstrip('_')}={words(value)}"
            for name, value in vars(self).items()
            if name != "name" and isinstance(value, str | int | float)
        ]
        return f"{words(self.name)}({','.join([*map(words, self.columns), *options])})"

    @property
    def learns(self) -> str:
        """What `bind` and `of_drawn` must know of the table before they look at rows.

        "nothing"; "summaries": of a label column the labels there are (rows that have each once),
        of a number column a :class:`~fastboot.statistics.moments.Summary`; or "rows": all of them,
        which must then fit into memory. A class that defines one of the two and can do with less
        than rows says so by overriding this.
        """
        own = type(self)
        plain = own.bind is Statistic.bind and own.of_drawn is Statistic.of_drawn
        return "nothing" if plain else "rows"

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:  # noqa: ARG002 - for subclasses
        """Return the statistic as it is for given columns; this one, by default.

        A statistic that must know the whole table before it looks at rows (the classes there are,
        a constant to subtract against cancellation) returns a copy that does.

        Parameters
        ----------
        systems
            For each system whose rows are compared or swapped, its columns: they are measured
            alike.
        """
        return self

    def apart(self, systems: Sequence[Sequence[Any]], codes: NDArray[np.int64]) -> Self:  # noqa: ARG002 - for subclasses
        """Return the bound statistic as it is where cells of rows are answered apart.

        Parameters
        ----------
        systems
            As in :meth:`bind`.
        codes
            Cell of each row, shape (n_rows,).

        Returns
        -------
        Statistic
            This one, by default; or one with other terms and the same values.
        """
        return self

    def of_drawn(self, columns: Sequence[Any], drawn: Drawn) -> tuple[Self, Sequence[Any]]:  # noqa: ARG002 - for subclasses
        """Return the statistic, and its columns, as they are for what a design draws.

        A mean over groups counts a group as often as it is drawn.

        Parameters
        ----------
        columns
            As loaded; before :meth:`bind`.
        drawn
            What is drawn.
        """
        return self, columns

    def __repr__(self) -> str:
        shown = ", ".join(str(column) for column in self.columns)
        return f"{self.name}({shown})"


class Vector(Statistic):
    """A statistic with several values at once, such as one for each class.

    Attributes
    ----------
    labels
        What the values are called, in order; known once the statistic is bound.
    """

    labels: tuple[Any, ...] = ()
