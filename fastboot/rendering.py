"""Numbers as words, figures as JSON, and as tables of text and of HTML."""

from __future__ import annotations

import html
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Grid",
    "cell",
    "count",
    "grid",
    "html_rows",
    "html_table",
    "interval_name",
    "label",
    "note_lines",
    "short",
    "shown_pvalue",
    "text_rows",
    "to_json",
]

# Longer ones push the numbers off a terminal of 80 columns.
_LONGEST_LABEL = 30
_SHOWN_KEYS = 3  # of a note
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def count(number: int, noun: str) -> str:
    """Return "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(value: float) -> str:
    """Return four significant digits, or all before the point."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def interval_name(confidence_level: float, method: str) -> str:
    """Return "95% percentile bootstrap interval"."""
    name = {"bca": "BCa bootstrap", "normal": "normal"}.get(method, f"{method} bootstrap")
    return f"{100 * confidence_level:g}% {name} interval"


def shown_pvalue(value: float) -> str:
    """Return "= 0.0123", or "undefined"."""
    return "undefined" if math.isnan(value) else f"= {value:.3g}"


def to_json(figures: Mapping[str, Any]) -> str:
    """Return strict JSON; what is not finite becomes null, a date text."""
    return json.dumps(_finite(figures), allow_nan=False, default=str)


def html_table(caption: str, figures: Mapping[str, Any], notes: Sequence[str]) -> str:
    """Return figures as a table of two columns, notes as a list below."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name.replace('_', ' '))}</th>"
        f"<td style='text-align:left'>{html.escape(_shown(value, name))}</td></tr>"
        for name, value in figures.items()
    )
    return f"<table><caption>{html.escape(caption)}</caption>{rows}</table>{_list(notes)}"


class Grid(NamedTuple):
    """What a table of several answers shows.

    caption : line above
    names : of the columns
    n_words : columns that hold words, before those of numbers
    rows : a cell for each name
    left_out : rows not shown
    below : rows about the whole
    notes : lines below
    """

    caption: str
    names: Sequence[str]
    n_words: int
    rows: Sequence[Sequence[str]]
    left_out: int
    below: Sequence[Sequence[str]]
    notes: Sequence[str]


Line = tuple[Sequence[Any], Mapping[str, Any]]


def grid(
    caption: str,
    axes: Sequence[str],
    lines: Sequence[Line],
    left_out: int,
    below: Sequence[Line],
    notes: Sequence[str],
) -> Grid:
    """Return what a table shows, without the columns that say nothing.

    Parameters
    ----------
    caption, left_out, notes
        As in `Grid`.
    axes
        Names of the parts of the keys.
    lines, below
        Parts of the key (None for no such part) and figures, for each row.
    """
    figures = [line[1] for line in (*lines, *below)]
    names = list(figures[0])
    if all(one["n_units"] == one["n_rows"] for one in figures):
        names.remove("n_units")
    if not any(one["n_undefined"] for one in figures):
        names.remove("n_undefined")

    def cells(line: Line) -> list[str]:
        parts, own = line
        return ["" if part is None else label(part) for part in parts] + [
            cell(own[name]) for name in names
        ]

    rows, more = [cells(line) for line in lines], [cells(line) for line in below]
    return Grid(caption, (*axes, *names), len(axes), rows, left_out, more, notes)


def text_rows(table: Grid) -> str:
    """Return a table of aligned text, words to the left and numbers to the right."""
    lines = [table.names, *table.rows, *table.below]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            text + _space(text, width) if place < table.n_words else _space(text, width) + text
            for place, (text, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    body = [*map(line, table.rows), *([_left_out(table)] if table.left_out else [])]
    notes = [f"note: {note}" for note in table.notes]
    return "\n".join([table.caption, line(table.names), *body, *map(line, table.below), *notes])


def html_rows(table: Grid) -> str:
    """Return a table of HTML with one row for each answer, notes as a list below."""

    def line(cells: Sequence[str], tag: str = "td") -> str:
        n = table.n_words
        kinds = [("th", "left")] * n + [(tag, "right")] * (len(cells) - n)
        return "<tr>" + "".join(
            f"<{name} style='text-align:{side}'>{html.escape(text)}</{name}>"
            for (name, side), text in zip(kinds, cells, strict=True)
        ) + "</tr>"  # fmt: skip

    head = line([name.replace("_", " ") for name in table.names], "th")
    body = "".join(map(line, table.rows))
    if table.left_out:
        words = _left_out(table)
        body += f"<tr><td colspan='{len(table.names)}' style='text-align:left'>{words}</td></tr>"
    below = "".join(map(line, table.below))
    return (
        f"<table><caption>{html.escape(table.caption)}</caption><thead>{head}</thead>"
        f"<tbody>{body}</tbody>{below and f'<tfoot>{below}</tfoot>'}</table>{_list(table.notes)}"
    )


def _left_out(table: Grid) -> str:
    return f"... {count(table.left_out, 'more row')}"


def label(value: Any) -> str:
    """Return a label that fits into a cell: of one line, and not too long."""
    words = str(value)
    if not words.isprintable():
        words = repr(value)
    return words if len(words) <= _LONGEST_LABEL else f"{words[: _LONGEST_LABEL - 3]}..."


def cell(value: Any) -> str:
    """Return a figure with four significant digits or more, zeros kept: columns line up."""
    if isinstance(value, float):
        if value == 0.0:
            return "0"
        if 1e3 <= abs(value) < 1e9:
            return f"{value:,.0f}"
        return f"{value:#.4g}" if abs(value) < 1e3 else short(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def note_lines(notes: Mapping[str, Sequence[Any]], n_results: int) -> list[str]:
    """Return notes, each with the first of the keys it is about, if not all.

    Notes that differ in their numbers only become one, with the range of these.
    """
    alike: dict[str, list[str]] = {}
    for note in notes:
        alike.setdefault(_NUMBER.sub("#", note), []).append(note)
    return [
        _ranges(some) + _about([key for note in some for key in notes[note]], n_results)
        for some in alike.values()
    ]


def _ranges(notes: Sequence[str]) -> str:
    """Return the one sentence of notes with the same words; "2 to 7" where numbers differ."""
    found = iter(zip(*map(_NUMBER.findall, notes), strict=True))

    def words(_: re.Match[str]) -> str:
        numbers = sorted(set(next(found)), key=lambda number: float(number.replace(",", "")))
        return " to ".join(dict.fromkeys([numbers[0], numbers[-1]]))

    return _NUMBER.sub(words, notes[0])


def _about(keys: Sequence[Any], n_results: int) -> str:
    if len(keys) == n_results:
        return ""
    shown = ", ".join(map(_key, keys[:_SHOWN_KEYS]))
    more = f" and {len(keys) - _SHOWN_KEYS:,} more" if len(keys) > _SHOWN_KEYS else ""
    return f" [{shown}{more}]"


def _key(key: Any) -> str:
    if isinstance(key, tuple):
        return f"({', '.join(label(repr(part)) for part in key)})"
    return label(repr(key))


def _space(text: str, width: int) -> str:
    return " " * (width - _width(text))


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: two for an East Asian character, 0 for an accent."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _list(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return f"<ul>{items}</ul>" if items else ""


def _shown(value: Any, name: str) -> str:
    if isinstance(value, float):
        return short(value)
    if isinstance(value, list):
        return f"[{', '.join(_shown(item, name) for item in value)}]"
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic):
        return _finite(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return value
