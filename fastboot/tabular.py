"""What everything that is a table of figures has: text, HTML, Markdown, LaTeX and data frames."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from fastboot.arrow import table_of
from fastboot.rendering import Grid, grid, html_rows, text_rows
from fastboot.typesetting import latex_rows, markdown_rows

__all__ = ["SHOWN", "Tabular"]

SHOWN = 20  # rows that a notebook or a terminal shows


class Tabular(ABC):
    """A table of figures. A subclass says what its columns are, and what they are about."""

    @abstractmethod
    def to_columns(self) -> dict[str, list[Any]]:
        """Return one list for each column of the table: what a data frame is made of."""

    @abstractmethod
    def _caption(self) -> str:
        """Return the line above the table."""

    def _long_caption(self) -> str:
        """Return the caption for readers who have not seen the call; the same by default."""
        return self._caption()

    @property
    def _n_labels(self) -> int:
        """Number of the first columns whose numbers are names (years, say), not figures.

        Columns that hold other things than numbers need not be counted.
        """
        return 0

    def _below(self, most: int | None) -> dict[str, list[Any]]:  # noqa: ARG002 - for subclasses
        """Return the same columns of the rows about the whole, so many; none by default."""
        return {}

    def _note_lines(self) -> Sequence[str]:
        """Return the sentences below the table; none by default."""
        return ()

    def _first_rows(self, most: int) -> tuple[dict[str, list[Any]], int]:
        """Return the columns of the first rows, and the number of the others."""
        columns = self.to_columns()
        n_rows = len(next(iter(columns.values())))
        return {name: values[:most] for name, values in columns.items()}, max(0, n_rows - most)

    def _grid(self) -> Grid:
        """Return what a terminal shows."""
        columns, left_out = self._first_rows(SHOWN)
        return grid(
            self._caption(), columns, self._below(SHOWN), self._note_lines(),
            n_labels=self._n_labels, left_out=left_out,
        )  # fmt: skip

    def _whole(self, digits: int, caption: str | None = None) -> Grid:
        """Return all there is."""
        if isinstance(digits, bool) or not isinstance(digits, int):
            raise TypeError(f"`digits` is {digits!r}; it must be a whole number, such as 4")
        if not 1 <= digits <= 17:  # float64 has no more
            raise ValueError(f"`digits` is {digits}; it must lie between 1 and 17")
        return grid(
            self._long_caption() if caption is None else caption,
            self.to_columns(), self._below(None), self._note_lines(),
            n_labels=self._n_labels, digits=digits, whole=True,
        )  # fmt: skip

    def to_markdown(self, digits: int = 4) -> str:
        r"""Return a table of Markdown: all rows, the caption above and notes below.

        Parameters
        ----------
        digits
            Significant digits; all digits before the point are shown. P-values have three at the
            most.

        Raises
        ------
        TypeError, ValueError
            `digits` is not a whole number from 1 to 17.

        Examples
        --------
        >>> import fastboot as fb
        >>> table = fb.bootstrap({"share": [1] * 40, "_x_": [2.5] * 40}, rng=0, n_resamples=99)
        >>> print("\n".join(table.to_markdown(digits=2).splitlines()[2:6]))
        | statistic | estimate | standard error | low | high | n rows |
        | :-- | --: | --: | --: | --: | --: |
        | share | 1.0 | 0 | 1.0 | 1.0 | 40 |
        | \_x\_ | 2.5 | 0 | 2.5 | 2.5 | 40 |
        """
        return markdown_rows(self._whole(digits))

    def to_latex(
        self, digits: int = 4, caption: str | None = None, label: str | None = None
    ) -> str:
        r"""Return a table of LaTeX: all rows, in the style of the package booktabs.

        Parameters
        ----------
        digits
            As in `to_markdown`.
        caption
            Plain text, in which LaTeX's special characters are replaced; None says how the figures
            were made.
        label
            For ``\ref``; None for no label.

        Raises
        ------
        TypeError, ValueError
            `digits` is not a whole number from 1 to 17.

        Examples
        --------
        >>> import fastboot as fb
        >>> table = fb.bootstrap({"f_1": [0.5] * 40}, rng=0, n_resamples=99)
        >>> print("\n".join(table.to_latex(label="tab:scores").splitlines()[3:11]))
        \label{tab:scores}
        \begin{tabular}{lrrrrr}
        \toprule
        statistic & estimate & standard error & low & high & n rows \\
        \midrule
        f\_1 & 0.5000 & 0 & 0.5000 & 0.5000 & 40 \\
        \bottomrule
        \end{tabular}
        """
        return latex_rows(self._whole(digits, caption), label)

    def to_arrow(self) -> Any:
        """Return the columns as a ``pyarrow.Table``; None is null, values of mixed types text.

        Examples
        --------
        >>> import fastboot as fb
        >>> fb.bootstrap({"x": [3, 1, 2, 4]}, rng=0).to_arrow().column("estimate").to_pylist()
        [2.5]
        """
        return table_of(self.to_columns())

    def to_pandas(self) -> Any:
        """Return the columns as a ``pandas.DataFrame``.

        Raises
        ------
        ModuleNotFoundError
            pandas is not installed.
        """
        return _package("pandas", "to_pandas").DataFrame(self.to_columns())

    def to_polars(self) -> Any:
        """Return the columns as a ``polars.DataFrame``; values of mixed types become text.

        Raises
        ------
        ModuleNotFoundError
            polars is not installed.
        """
        return _package("polars", "to_polars").from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        return text_rows(self._grid())

    def _repr_html_(self) -> str:
        return html_rows(self._grid())


def _package(name: str, method: str) -> Any:
    """Return a package that need not be installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"{method}() needs {name}, which is not installed (pip install {name}); to_columns() "
            "needs nothing",
            name=name,
        ) from None
