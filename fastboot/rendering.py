"""Numbers as words, figures as JSON and as a table of HTML."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "count",
    "html_rows",
    "html_table",
    "short",
    "shown_pvalue",
    "text_rows",
    "to_json",
]


def count(number: int, noun: str) -> str:
    """Return "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(value: float) -> str:
    """Return four significant digits."""
    return f"{value:.4g}"


def shown_pvalue(value: float) -> str:
    """Return "= 0.0123", or "undefined"."""
    return "undefined" if math.isnan(value) else f"= {value:.3g}"


def to_json(figures: Mapping[str, Any]) -> str:
    """Return strict JSON; what is not finite becomes null."""
    return json.dumps(_finite(figures), allow_nan=False)


def html_table(caption: str, figures: Mapping[str, Any], notes: Sequence[str]) -> str:
    """Return figures as a table of two columns, notes as a list below."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name.replace('_', ' '))}</th>"
        f"<td style='text-align:left'>{html.escape(_shown(value, name))}</td></tr>"
        for name, value in figures.items()
    )
    below = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    table = f"<table><caption>{html.escape(caption)}</caption>{rows}</table>"
    return table + (f"<ul>{below}</ul>" if below else "")


def text_rows(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of aligned text, words to the left and numbers to the right."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if _is_number(column[1:]) else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ).rstrip()
        for line in (head, *rows)
    ]
    return "\n".join([caption, *lines])


def html_rows(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with one row for each answer."""
    columns = list(zip(head, *rows, strict=True))
    sides = ["right" if _is_number(column[1:]) else "left" for column in columns]

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(
            f"<{tag} style='text-align:{side}'>{html.escape(cell)}</{tag}>"
            for cell, side in zip(cells, sides, strict=True)
        ) + "</tr>"  # fmt: skip

    names = [name.replace("_", " ") for name in head]
    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption>{line(names, 'th')}{body}</table>"


def _is_number(cells: Sequence[str]) -> bool:
    return all(cell.replace(",", "").lstrip("-")[:1] in "0123456789in" for cell in cells if cell)


def _shown(value: Any, name: str) -> str:
    if isinstance(value, float):
        return short(value)
    if isinstance(value, list):
        return f"[{', '.join(_shown(item, name) for item in value)}]"
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return value
