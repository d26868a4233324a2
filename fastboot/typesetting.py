"""Tables of Markdown and of LaTeX, for a README and a paper.

LaTeX needs the package booktabs and nothing else. Its special characters are replaced in labels,
captions and notes, also those that are special only where they stand: ``[`` or ``*`` at the start
of a row would be read as an argument of the line break before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fastboot.rendering import Grid, heading

__all__ = ["latex_rows", "markdown_rows"]

_LATEX = str.maketrans({
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",  # prints as an inverted exclamation mark in the old font encoding
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
})  # fmt: skip
# What CommonMark and its tables read as markup; an underscore inside a word is none.
_MARKDOWN = re.compile(r"([\\`*<|\[\]~]|(?<!\w)_|_(?!\w))")
_POWER = re.compile(r"e([+-]\d+)$")


def markdown_rows(table: Grid) -> str:
    """Return a pipe table, its caption above and its notes below."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def body(cells: Sequence[str]) -> list[str]:
        pairs = zip(cells, table.words, strict=True)
        return [_markdown(text) if words else _markdown_number(text) for text, words in pairs]

    head = line(_markdown(heading(name)) for name in table.names)
    rule = line(":--" if words else "--:" for words in table.words)
    rows = [line(body(cells)) for cells in (*table.rows, *table.below)]
    notes = [f"- {_markdown(note)}" for note in table.notes]
    blocks = [[_markdown(table.caption)], [head, rule, *rows], notes]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def latex_rows(table: Grid, label: str | None = None) -> str:
    r"""Return a table environment, rows about the whole below a rule, notes below all.

    Parameters
    ----------
    table
        What to show.
    label
        Of the table, for ``\ref``; None for no label.
    """

    def line(cells: Iterable[str]) -> str:
        return f"{_after_break(' & '.join(cells))} \\\\"

    def body(cells: Sequence[str]) -> list[str]:
        pairs = zip(cells, table.words, strict=True)
        return [_latex(text) if words else _latex_number(text) for text, words in pairs]

    sides = "".join("l" if words else "r" for words in table.words)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_latex(table.caption)}}}"]
    if label is not None:
        lines.append(rf"\label{{{label}}}")
    lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    lines += [line(_latex(heading(name)) for name in table.names), r"\midrule"]
    lines += [line(body(cells)) for cells in table.rows]
    if table.below:
        lines += [r"\midrule", *(line(body(cells)) for cells in table.below)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if table.notes:
        notes = r"\\ ".join(_after_break(_latex(note)) for note in table.notes)
        lines += [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {notes}}}"]
    return "\n".join([*lines, r"\end{table}"])


def _markdown(words: str) -> str:
    return _MARKDOWN.sub(r"\\\1", words)


def _markdown_number(text: str) -> str:
    if text in {"inf", "-inf"}:
        return text.replace("inf", "\N{INFINITY}")
    return "undefined" if text == "nan" else text


def _latex(words: str) -> str:
    return words.translate(_LATEX)


def _after_break(line: str) -> str:
    """Return a line that the line break before it does not take as its argument."""
    return f"{{}}{line}" if line.lstrip().startswith(("[", "*")) else line


def _latex_number(text: str) -> str:
    """Return a number with a minus sign instead of a hyphen, and powers of ten written out."""
    if text in {"", "nan"}:
        return text and "undefined"
    sign, size = ("-", text[1:]) if text.startswith("-") else ("", text)
    if size == "inf":
        return rf"${sign}\infty$"
    power = _POWER.search(size)
    if power is not None:
        return rf"${sign}{size[: power.start()]} \times 10^{{{int(power[1])}}}$"
    return f"${sign}${size}" if sign else size
