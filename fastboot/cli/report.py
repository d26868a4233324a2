"""What a person is shown: a comparison and its result as a panel of tables."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from fastboot.cli.comparison import Comparison, Result
from fastboot.cli.metrics import Metric
from fastboot.intervals import ConfidenceInterval

__all__ = ["digits_of", "framed", "interval_text", "joint_of", "named", "panel", "shown"]


def panel(comparison: Comparison, result: Result) -> Panel:
    """The answer in a frame, with how it was found below it."""
    return framed(
        _title(comparison), _answer_table(comparison, result), _run_table(comparison, result)
    )


def framed(title: str, *parts: RenderableType) -> Panel:
    """Parts in a frame, with a line between them."""
    lines = [part for one in parts for part in (Text(), one)][1:]
    return Panel(
        Group(*lines),
        title=Text(title, "bold not dim"),
        title_align="left",
        border_style="dim",
        expand=False,
        padding=(1, 2),
    )


def named(rows: Mapping[str, str]) -> Table:
    """A table of names, which stand back, and what they are."""
    table = Table.grid(padding=(0, 3))
    table.add_column(style="dim", min_width=len("standard error"))
    table.add_column(overflow="fold")
    for name, text in rows.items():
        table.add_row(name, Text(text))
    return table


def _title(comparison: Comparison) -> str:
    test = "Approximate randomization" if comparison.test == "randomization" else "Paired bootstrap"
    metric, second = comparison.chosen_metric, comparison.second_column
    return f"{test}: {metric} {joint_of(metric)} {second}" if second else f"{test}: {metric}"


def joint_of(metric: Metric) -> str:
    """The word between a metric and its second column."""
    return {"ratio": "over", "weighted-mean": "by"}.get(metric, "against")


def _answer_table(comparison: Comparison, result: Result) -> Table:
    """Both systems, their difference and what it is worth."""
    digits = digits_of(result.standard_error)
    table = Table.grid(padding=(0, 3))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(comparison.a, "cyan"), shown(result.estimate_a, digits), Text("a", "dim"))
    table.add_row(Text(comparison.b, "cyan"), shown(result.estimate_b, digits), Text("b", "dim"))
    difference = Text(shown(result.estimate, f"+{digits}"), "bold")
    table.add_row("difference", difference, interval_text(result.confidence_interval, digits))
    table.add_row("standard error", shown(result.standard_error, digits))
    error = f"Monte Carlo error {shown(result.pvalue_standard_error, '.1g')}"
    how = "exact" if result.path == "enumeration" else error
    table.add_row(
        "p-value",
        Text(shown(result.pvalue, ".3g"), "bold"),
        Text.assemble(result.alternative, (f", {how}", "dim")),
    )
    return table


def interval_text(interval: ConfidenceInterval, digits: str) -> Text:
    """An interval with its level and method."""
    low, high = (shown(bound, f"+{digits}") for bound in interval[:2])
    return Text.assemble(
        f"{100 * interval.confidence_level:g} % interval ",
        (low if low == high else f"{low} to {high}", "bold"),
        (f", {interval.method}", "dim"),
    )


def digits_of(standard_error: float) -> str:
    """The format that shows two digits of the standard error."""
    if not (math.isfinite(standard_error) and standard_error > 0):
        return ",.6g"
    return f",.{max(0, 1 - math.floor(math.log10(standard_error)))}f"


def shown(value: float, digits: str) -> str:
    """A number, or that there is none; 0 without a sign."""
    if math.isnan(value):
        return "undefined"
    return f"{value:{digits if value else digits.removeprefix('+')}}"


def _run_table(comparison: Comparison, result: Result) -> Table:
    """What was resampled, how, and what repeats it."""
    groups = f" groups by {comparison.groups}" if comparison.groups else ""
    n_defined = result.n_resamples - result.n_undefined
    return named(
        {
            "rows": f"{result.n_rows:,}",
            "units": f"{result.n_units:,}{groups}",
            "resamples": f"{result.n_resamples:,}",
            "as extreme": f"{result.n_extreme:,} of {n_defined:,} ({result.rule} rule)",
            "path": result.path,
            "seed": str(result.seed),
            "time": f"{result.elapsed:.2f} s",
        }
    )
