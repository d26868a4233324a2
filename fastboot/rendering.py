"""Numbers as words, figures as JSON and as a table of HTML."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["count", "html_table", "short", "shown_pvalue", "to_json"]


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
