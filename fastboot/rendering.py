"""Numbers as words, figures as JSON, and as tables of text and of HTML.

Tables of Markdown and of LaTeX are in :mod:`fastboot.typesetting`.
"""

from __future__ import annotations

import html
import json
import math
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

__all__ = [
    "Grid",
    "beside",
    "bracketed",
    "cell",
    "count",
    "grid",
    "heading",
    "html_rows",
    "html_table",
    "interval_name",
    "label",
    "made_by",
    "note_lines",
    "short",
    "shown_pvalue",
    "sided",
    "signature_line",
    "text_rows",
    "to_json",
    "width_of",
]

# Longer ones push the numbers off a terminal of 80 columns.
_LONGEST_LABEL = 30
_SHOWN_KEYS = 3  # of a note
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def count(number: int, noun: str) -> str:
    """Return "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(value: float, width: float = math.nan) -> str:
    """Return four significant digits, or all before the point.

    More where they are fewer than two of the width of an interval that stands beside the value.
    """
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
    if not (0.0 < width < math.inf and 0.0 < abs(value) < math.inf):
        return text
    places = 1 - math.floor(math.log10(width))  # after the point, for two digits of the width
    digits = math.floor(math.log10(abs(value))) + 1 + places
    whole = 1e4 <= abs(value) < 1e9 and places <= 0
    # 15 digits (DBL_DIG) are what a float64 keeps of a decimal: more would show its rounding.
    return text if digits <= 4 or whole else f"{value:,.{min(digits, 15)}g}"


def width_of(low: float, high: float, estimate: float = math.nan) -> float:
    """Return the width of an interval, that of one side where the other is infinite; or NaN."""
    reach = [abs(one - estimate) for one in (low, high) if math.isfinite(one)]
    return reach[0] if len(reach) == 1 else high - low


def beside(estimate: float, low: float, high: float) -> str:
    """Return a value in as many digits as its interval has, see `bracketed`."""
    return short(estimate, width_of(low, high, estimate))


def bracketed(low: float, high: float, estimate: float = math.nan) -> str:
    """Return "[0.1, 0.2]"; an infinite limit is not part of the interval: "[0.1, ∞)".

    Limits that differ do so as they are shown; of an interval with one limit, from the estimate.
    """
    width = width_of(low, high, estimate)
    first = "(-∞" if low == -math.inf else f"[{short(low, width)}"
    return f"{first}, ∞)" if high == math.inf else f"{first}, {short(high, width)}]"


def interval_name(confidence_level: float, method: str) -> str:
    """Return "95% percentile bootstrap interval"."""
    name = {"bca": "BCa bootstrap", "normal": "normal"}.get(method, f"{method} bootstrap")
    return f"{100 * confidence_level:g}% {name} interval"


def shown_pvalue(value: float) -> str:
    """Return "= 0.0123", "< 2.23e-308" where it has no number, or "undefined"."""
    if math.isnan(value):
        return "undefined"
    least = sys.float_info.min  # stands for all below; 0 is a plain proportion, as asked for
    return f"< {least:.3g}" if 0.0 < value <= least else f"= {value:.3g}"


def sided(alternative: str) -> str:
    """Return "two-sided", or "one-sided (less)"."""
    return alternative if alternative == "two-sided" else f"one-sided ({alternative})"


def made_by(procedure: str) -> dict[str, str]:
    """Return what every signature starts with: the version, and the procedure."""
    # The package itself stands above all its modules, so none imports it.
    return {"fastboot": vars(sys.modules["fastboot"])["__version__"], "procedure": procedure}


def signature_line(parts: Mapping[str, Any]) -> str:
    """Return "key:value|key:value" in one line; "|", "%" and line breaks in values as in URLs."""

    def quoted(value: Any) -> str:
        return re.sub(
            r"[|%\x00-\x1f\x7f\x85\u2028\u2029]", lambda found: quote(found[0]), str(value)
        )

    return "|".join(f"{key}:{quoted(value)}" for key, value in parts.items())


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
    words : whether a column holds words, not numbers
    rows : a cell for each name
    left_out : rows not shown
    below : rows about the whole
    notes : lines below
    """

    caption: str
    names: Sequence[str]
    words: Sequence[bool]
    rows: Sequence[Sequence[str]]
    left_out: int
    below: Sequence[Sequence[str]]
    notes: Sequence[str]


Columns = Mapping[str, Sequence[Any]]


def grid(
    caption: str,
    columns: Columns,
    below: Columns,
    notes: Sequence[str],
    *,
    n_labels: int = 0,
    left_out: int = 0,
    digits: int = 4,
    whole: bool = False,
) -> Grid:
    """Return what a table shows, without the columns that say nothing.

    Parameters
    ----------
    caption, left_out, notes
        As in `Grid`.
    columns, below
        The columns, and those of the rows about the whole: of the same names, or none.
    n_labels
        The first columns, which hold labels, whatever their type; None for no label.
    digits
        Significant digits of a number; p-values have three at the most.
    whole
        Whether labels are shown in full, however long.
    """
    both = {name: [*values, *below.get(name, ())] for name, values in columns.items()}
    names = list(both)
    if both.get("n_units", ()) == both.get("n_rows"):
        names.remove("n_units")
    if "n_undefined" in names and not any(both["n_undefined"]):
        names.remove("n_undefined")
    labels = set(names[:n_labels])
    words = [
        name in labels or not all(one is None or _is_number(one) for one in both[name])
        for name in names
    ]

    def cells(name: str, values: Sequence[Any], *, words: bool) -> list[str]:
        if words:
            return ["" if value is None else label(value, whole=whole) for value in values]
        # Beyond the third digit a p-value says nothing, and its Monte Carlo error is larger.
        shown = min(3, digits) if "pvalue" in name else digits
        return ["" if value is None else cell(value, shown) for value in values]

    drawn = [cells(name, both[name], words=one) for name, one in zip(names, words, strict=True)]
    rows = list(zip(*drawn, strict=True))
    n = len(next(iter(columns.values())))
    return Grid(caption, names, words, rows[:n], left_out, rows[n:], notes)


def text_rows(table: Grid) -> str:
    """Return a table of aligned text, words to the left and numbers to the right."""
    lines = [table.names, *table.rows, *table.below]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            text + _space(text, width) if words else _space(text, width) + text
            for text, width, words in zip(cells, widths, table.words, strict=True)
        )
        return "  ".join(padded).rstrip()

    body = [*map(line, table.rows), *([_left_out(table)] if table.left_out else [])]
    notes = [f"note: {note}" for note in table.notes]
    return "\n".join([table.caption, line(table.names), *body, *map(line, table.below), *notes])


def html_rows(table: Grid) -> str:
    """Return a table of HTML with one row for each answer, notes as a list below."""

    def line(cells: Sequence[str], tag: str = "td") -> str:
        kinds = [("th", "left") if words else (tag, "right") for words in table.words]
        return "<tr>" + "".join(
            f"<{name} style='text-align:{side}'>{html.escape(text)}</{name}>"
            for (name, side), text in zip(kinds, cells, strict=True)
        ) + "</tr>"  # fmt: skip

    head = line(list(map(heading, table.names)), "th")
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


def heading(name: str) -> str:
    """Return the name of a figure as words."""
    return name.replace("_", " ").replace("pvalue", "p-value")


def label(value: Any, *, whole: bool = False) -> str:
    """Return a label that fits into a cell: of one line and, unless whole, not too long."""
    words = str(value)
    if not words.isprintable():
        words = repr(value)
    return words if whole or len(words) <= _LONGEST_LABEL else f"{words[: _LONGEST_LABEL - 3]}..."


def cell(value: Any, digits: int = 4) -> str:
    """Return a figure with that many significant digits or more, zeros kept: columns line up."""
    if isinstance(value, float):
        size, shortest = abs(value), 10.0 ** (digits - 1)
        if size == 0.0:
            return "0"
        if shortest <= size < 1e9:
            return f"{value:,.0f}"
        if size < shortest:
            return f"{value:#,.{digits}g}".rstrip(".")
        return f"{value:.{digits}g}"
    return f"{value:,}" if _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


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
