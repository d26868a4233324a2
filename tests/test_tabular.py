"""Tables of figures as Markdown, LaTeX, Arrow and data frames."""

from __future__ import annotations

import datetime as dt
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastboot as fb
from fastboot import rendering, typesetting
from fastboot.arrow import table_of
from fastboot.tabular import Tabular

SEED = 5
SPECIAL = r"a_b & 50% #1 {x} ~^ \n $<|>"


class Odd(Tabular):
    """A table with everything that is hard to show."""

    def to_columns(self) -> dict[str, list[Any]]:  # noqa: D102 - of the base
        return {
            "system": [SPECIAL, "[first]", "*star", "two\nlines", "x" * 50, None],
            "year": [1999, 2000, 2001, 2002, 2003, 2004],
            "estimate": [0.5, -0.25, math.nan, 12_345.678, 1.5e-7, None],
            "low": [-math.inf, -0.5, math.nan, 1e12, -2e-9, 0.0],
            "pvalue": [1.0, 0.000_123_456, math.nan, 0.012_345, 1e-12, 0.5],
            "best": [True, False, False, False, False, False],
        }

    def _caption(self) -> str:
        return "Odd_values: 95% intervals"

    def _note_lines(self) -> Sequence[str]:
        return ("only 5 rows & a_b", "second")


def scores(**options: Any) -> Any:
    """Return a table with slices and a whole."""
    rng = np.random.default_rng(SEED)
    values = {"score": rng.random(60), "site": ["Oslo", "Lima", "a|b_c"] * 20}
    return fb.bootstrap(
        {"share": "score", "sum": fb.total("score")}, data=values, by="site", rng=0,
        n_resamples=99, **options,
    )  # fmt: skip


TABLES = {
    "odd": Odd,
    "slices": scores,
    "one": lambda: fb.bootstrap(np.arange(40.0), rng=0, n_resamples=99),
    "comparison": lambda: fb.paired_bootstrap(
        [1.0, 2, 4] * 8, [0.0, 2, 5] * 8, rng=0, alternative="greater", n_resamples=99
    ),
    "randomization": lambda: fb.approximate_randomization([3, 1, 2, 4], [1, 1, 0, 2]),
    "permutation": lambda: fb.permutation_test([3, 1, 2, 4], [1, 1, 0], n_resamples=99),
    "unpaired": lambda: fb.unpaired_bootstrap(
        {"x": [3.0, 1, 2, 4], 2: [1, 2, 3, 4]}, {"x": [1.0, 1, 0], 2: [4, 1, 2]}, rng=0
    ),
}
every_table = pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)


def read_markdown(text: str) -> tuple[str, list[list[str]], list[str]]:
    """Return the caption, the rows of cells, and the notes of a pipe table."""
    caption, table, *notes = text.split("\n\n")
    rows = [re.split(r"(?<!\\) \| ", line[2:-2]) for line in table.splitlines()]
    return caption, rows, notes[0].splitlines() if notes else []


def read_latex(text: str) -> list[list[str]]:
    """Return the rows of cells between the rules."""
    body = text.split(r"\toprule")[1].partition(r"\bottomrule")[0]
    lines = [line for line in body.splitlines() if line and line != r"\midrule"]
    assert all(line.endswith(r" \\") for line in lines)
    return [re.split(r" (?<!\\)& ", f" {line[:-3]} ") for line in lines]


# Markdown


@every_table
def test_to_markdown__every_kind(make: Any) -> None:
    """Every row has a cell for each column; all rows are there, and the whole."""
    table = make()
    _, rows, notes = read_markdown(table.to_markdown())
    total = getattr(table, "total", None)
    n_below = 0 if total is None else len(total.to_columns()["estimate"])

    assert len({len(row) for row in rows}) == 1
    assert len(table.to_columns()["estimate"]) + n_below == len(rows) - 2
    assert len(table._note_lines()) == len(notes)


def test_to_markdown__odd_values() -> None:
    """Markup is escaped, long labels are whole, what is undefined or infinite says so."""
    caption, rows, notes = read_markdown(Odd().to_markdown())

    assert caption == "Odd_values: 95% intervals"
    assert rows[0] == ["system", "year", "estimate", "low", "p-value", "best"]
    assert rows[1] == [":--", "--:", "--:", "--:", "--:", ":--"]
    assert rows[2] == [
        r"a_b & 50% #1 {x} \~^ \\n $\<\|>", "1,999", "0.5000", "-\N{INFINITY}", "1.00", "True",
    ]  # fmt: skip
    assert rows[3] == [r"\[first\]", "2,000", "-0.2500", "-0.5000", "0.000123", "False"]
    assert rows[4] == [r"\*star", "2,001", "undefined", "undefined", "undefined", "False"]
    assert rows[5] == [r"'two\\nlines'", "2,002", "12,346", "1e+12", "0.0123", "False"]
    assert rows[6] == ["x" * 50, "2,003", "1.500e-07", "-2.000e-09", "1.00e-12", "False"]
    assert rows[7] == ["", "2,004", "", "0", "0.500", "False"]
    assert notes == ["- only 5 rows & a_b", "- second"]


def test_to_markdown__digits() -> None:
    """Significant digits, of p-values three at the most; all before the point."""
    rows = read_markdown(Odd().to_markdown(digits=7))[1]
    assert rows[5][2:5] == ["12,345.68", "1e+12", "0.0123"]
    rows = read_markdown(Odd().to_markdown(digits=2))[1]
    assert rows[3][2:5] == ["-0.25", "-0.50", "0.00012"]
    assert rows[5][2] == "12,346"


def test_to_markdown__of_slices() -> None:
    """The same figures as the text, every row, and the whole below."""
    table = scores()
    caption, rows, notes = read_markdown(table.to_markdown())
    shown = [re.split(r"\s{2,}", line) for line in repr(table).splitlines()[2:]]

    assert caption == (
        "95% percentile bootstrap intervals, each slice resampled on its own, 99 resamples, seed 0."
    )
    assert [[cell.replace("\\", "") for cell in row] for row in rows[2:]] == shown
    assert notes == []


# LaTeX


@every_table
def test_to_latex__every_kind(make: Any) -> None:
    """As many cells in each row as the table has columns; environments are closed."""
    text = make().to_latex(label="tab:x")
    columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)
    assert columns is not None

    assert {len(row) for row in read_latex(text)} == {len(columns[1])}
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 1
    # Braces that are not escaped pair up.
    plain = re.sub(r"\\[\\{}]", "", text)
    assert plain.count("{") == plain.count("}")


def test_to_latex__odd_values() -> None:
    """Special characters, also those that are special at the start of a row only."""
    assert (
        Odd().to_latex(caption="100% of a_b", label="tab:odd") == r"""\begin{table}
\centering
\caption{100\% of a\_b}
\label{tab:odd}
\begin{tabular}{lrrrrl}
\toprule
system & year & estimate & low & p-value & best \\
\midrule
a\_b \& 50\% \#1 \{x\} \textasciitilde{}\textasciicircum{} \textbackslash{}n """
        r"""\$\textless{}\textbar{}\textgreater{} & 1,999 & 0.5000 & $-\infty$ & 1.00 & True \\
{}[first] & 2,000 & $-$0.2500 & $-$0.5000 & 0.000123 & False \\
{}*star & 2,001 & undefined & undefined & undefined & False \\
'two\textbackslash{}nlines' & 2,002 & 12,346 & $1 \times 10^{12}$ & 0.0123 & False \\
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx & 2,003 & $1.500 \times 10^{-7}$ & """
        r"""$-2.000 \times 10^{-9}$ & $1.00 \times 10^{-12}$ & False \\
 & 2,004 &  & 0 & 0.500 & False \\
\bottomrule
\end{tabular}
\par\smallskip
\parbox{\linewidth}{\footnotesize only 5 rows \& a\_b\\ second}
\end{table}"""
    )


def test_to_latex__caption_and_label() -> None:
    """Without a caption how the figures were made; without a label none."""
    text = Odd().to_latex()
    assert r"\caption{Odd\_values: 95\% intervals}" in text
    assert r"\label" not in text


def test_to_latex__of_slices() -> None:
    """The whole stands below a rule of its own."""
    text = scores().to_latex()
    assert text.count(r"\midrule") == 2
    assert text.split(r"\midrule")[2].count("all rows") == 2
    assert r"a\textbar{}b\_c" in text


def test_to_latex__first_note_and_row_of_stars() -> None:
    """A note that starts with a bracket is no argument of the line break before it."""

    class Notes(Odd):
        def _note_lines(self) -> Sequence[str]:
            return ("first", "[second]", "*third")

    assert r"first\\ {}[second]\\ {}*third}" in Notes().to_latex()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
@every_table
def test_to_latex__compiles(make: Any, tmp_path: Path) -> None:
    """The package booktabs is all it takes."""
    source = tmp_path / "table.tex"
    source.write_text(
        "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{booktabs}"
        f"\\begin{{document}}\n{make().to_latex()}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", source.name]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2_000:]


# Arrow and data frames


@every_table
def test_frames__every_kind(make: Any) -> None:
    """The same columns and values in all of them."""
    table = make()
    columns = table.to_columns()
    arrow, polars, pandas = table.to_arrow(), table.to_polars(), table.to_pandas()

    assert list(columns) == arrow.column_names == polars.columns == list(pandas.columns)
    for name, values in columns.items():
        kept = [float(value) for value in values if isinstance(value, float)]
        if len(kept) == len(values):
            for found in (arrow.column(name).to_numpy(), polars[name], pandas[name]):
                np.testing.assert_array_equal(np.asarray(found), values)
        else:
            np.testing.assert_equal(arrow.column(name).to_pylist(), polars[name].to_list())
            assert len(values) == len(pandas)
    assert isinstance(arrow, pa.Table)
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(pandas, pd.DataFrame)


def test_table_of() -> None:
    """None is null, NaN stays, mixed types are text, dates are dates."""
    columns: dict[str, list[Any]] = {
        "x": [1.0, math.nan, None],
        "mixed": ["a", 2, None],
        "number": [1, 2.5, None],
        "day": [dt.date(2026, 1, 2), None, None],
        "nothing": [None, None, None],
    }
    table = table_of(columns)

    assert table.column("x").null_count == 1
    assert math.isnan(table.column("x")[1].as_py())
    assert table.column("mixed").to_pylist() == ["a", "2", None]
    assert table.column("number").to_pylist() == [1.0, 2.5, None]
    assert table.column("day").to_pylist() == columns["day"]
    assert table.column("nothing").null_count == 3


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames__not_installed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not there is named."""
    monkeypatch.setitem(sys.modules, name, None)
    message = rf"to_{name}\(\) needs {name}, which is not installed \(pip install {name}\)"
    with pytest.raises(ModuleNotFoundError, match=message) as caught:
        getattr(Odd(), f"to_{name}")()
    assert caught.value.name == name


def test_frames__broken_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is there but misses another is not said to be missing."""

    def broken(_: str) -> None:
        raise ModuleNotFoundError("No module named 'inner'", name="inner")

    monkeypatch.setattr("importlib.import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="No module named 'inner'"):
        Odd().to_pandas()


# What terminals and notebooks show


def test_repr__of_ones_own() -> None:
    """Twenty rows and how many more, notes below; a number that names a row is a label."""

    class Years(Tabular):
        def to_columns(self) -> dict[str, list[Any]]:
            return {"year": list(range(2000, 2030)), "estimate": [0.25] * 30}

        def _caption(self) -> str:
            return "Years"

        @property
        def _n_labels(self) -> int:
            return 1

    lines = repr(Years()).splitlines()
    assert lines[:3] == ["Years", "year  estimate", "2000    0.2500"]
    assert lines[21:] == ["2019    0.2500", "... 10 more rows"]
    assert Years()._repr_html_().count("<tr>") == 22
    assert Years().to_markdown().count("\n| 20") == 30
    assert "\n| 2029 | 0.2500 |" in Years().to_markdown()


@pytest.mark.parametrize(
    "digits,error,message",
    [
        (2.5, TypeError, "`digits` is 2.5; it must be a whole number, such as 4"),
        (True, TypeError, "`digits` is True; it must be a whole number, such as 4"),
        (0, ValueError, "`digits` is 0; it must lie between 1 and 17"),
        (18, ValueError, "`digits` is 18; it must lie between 1 and 17"),
    ],
)
def test_digits__refused(digits: Any, error: type[Exception], message: str) -> None:
    """Both methods refuse what is no number of digits."""
    for method in (Odd().to_markdown, Odd().to_latex):
        with pytest.raises(error, match=re.escape(message)):
            method(digits=digits)


@pytest.mark.parametrize(
    "value,digits,shown",
    [
        (0.5, 2, "0.50"),
        (999.96, 4, "1,000"),
        (3.0, 1, "3"),
        (0.3, 1, "0.3"),
        (12_345.678, 8, "12,345.678"),
        (12_345.678, 5, "12,346"),
        (math.inf, 2, "inf"),
        (True, 4, "True"),
        (None, 4, "None"),
    ],
)
def test_cell__digits(value: Any, digits: int, shown: str) -> None:
    """As many significant digits as asked for; no point without a digit behind it."""
    assert shown == rendering.cell(value, digits)


def test_latex_number__every_cell() -> None:
    """Whatever a cell of numbers shows is read back as the same number."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=300) * 10.0 ** rng.integers(-20, 20, 300)
    for value in values.tolist():
        text = rendering.cell(value, 6)
        shown = typesetting._latex_number(text)
        plain = shown.replace("$", "").replace(r" \times 10^{", "e").replace("}", "")
        assert float(plain.replace(",", "")) == float(text.replace(",", ""))
