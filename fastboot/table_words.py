"""A table in words: a few for each result."""

from __future__ import annotations

import itertools
import math
from typing import Any

from fastboot.rendering import beside, bracketed, label, shown_pvalue
from fastboot.tabular import SHOWN

__all__ = ["clauses", "shown_results"]


def shown_results(answer: Any, most: int | None = SHOWN) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the first results of a table, or a result by itself, with the parts of the keys."""
    if hasattr(answer, "axes"):
        return [(answer.parts(key), answer[key]) for key in itertools.islice(answer, most)]
    return [((), answer)]


def clauses(answer: Any) -> list[str]:
    """Return a few words for each result."""
    axes = getattr(answer, "axes", ())
    left_out = len(answer) - SHOWN if axes else 0
    said = [
        _clause(dict(zip(axes, parts, strict=True)), result)
        for parts, result in shown_results(answer)
    ]
    return said + ([f"and {left_out:,} more"] if left_out > 0 else [])


def _clause(parts: dict[str, Any], result: Any) -> str:
    name = result.statistic
    if "statistic" in parts:
        own = parts["statistic"], parts.get("label")
        name = f"{own[0]}" if own[1] is None else f"{own[0]}[{own[1]}]"
    slices = [
        label(part) if axis.startswith("by") else f"{axis} {label(part)}"
        for axis, part in parts.items()
        if axis not in {"statistic", "label"}
    ]
    own_words = result._units_words()  # noqa: SLF001 # a table speaks for its results
    where = f" ({', '.join([*slices, own_words])})" if slices else ""
    if math.isnan(result.estimate):
        return f"{name}{where} undefined"
    low, high, _, method, _ = result.confidence_interval
    other = "" if method == result.method else f" ({method})"
    pvalue = f", p {shown_pvalue(result.pvalue)}" if hasattr(result, "pvalue") else ""
    shown = f"{beside(result.estimate, low, high)} {bracketed(low, high)}"
    return f"{name}{where} {shown}{other}{pvalue}"
