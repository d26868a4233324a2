"""Options: what each is called, what its help says, and which argument of the library it gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from fastboot.cli import metrics

__all__ = [
    "A",
    "Alternative",
    "B",
    "Denominator",
    "File",
    "Gold",
    "Groups",
    "Json",
    "Level",
    "Method",
    "Metric",
    "NanPolicy",
    "Positive",
    "Resamples",
    "Seed",
    "Test",
    "Threads",
    "Weights",
    "translate",
]


def _option(name: str, metavar: str, text: str, panel: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, rich_help_panel=panel, show_default=False)


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="One row per item: Parquet, Arrow IPC, CSV or JSON lines.",
        show_default=False,
    ),
]
A = Annotated[str, _option("--a", "COLUMN", "First system.", "Columns")]
B = Annotated[str, _option("--b", "COLUMN", "Second system; the effect is a - b.", "Columns")]
Gold = Annotated[str | None, _option("--gold", "COLUMN", "Right labels.", "Columns")]
Groups = Annotated[
    str | None,
    _option("--groups", "COLUMN", "Rows with the same key are resampled together.", "Columns"),
]
Denominator = Annotated[
    str | None, _option("--denominator", "COLUMN", "What ratio divides by.", "Columns")
]
Weights = Annotated[
    str | None, _option("--weights", "COLUMN", "What weighted-mean weighs by.", "Columns")
]
Metric = Annotated[
    metrics.Metric | None,
    _option(
        "--metric",
        "NAME",
        f"{', '.join(get_args(metrics.Metric))} (default: accuracy with --gold, else mean).",
        "Statistic",
    ),
]
Positive = Annotated[
    str | None,
    _option(
        "--positive",
        "LABEL",
        "Label that precision, recall and f1 look for (default: 1).",
        "Statistic",
    ),
]
Test = Annotated[
    Literal["bootstrap", "randomization"] | None,
    _option(
        "--test",
        "KIND",
        "bootstrap resamples items (default); randomization swaps the systems' answers.",
        "Test",
    ),
]
Alternative = Annotated[
    Literal["two-sided", "greater", "less"] | None,
    _option("--alternative", "KIND", "two-sided (default), greater (a > b) or less.", "Test"),
]
Method = Annotated[
    Literal["percentile", "basic", "normal", "bca", "studentized"] | None,
    _option(
        "--method",
        "KIND",
        "Interval: percentile (default), basic, normal, bca or studentized.",
        "Test",
    ),
]
Level = Annotated[
    float | None,
    _option("--confidence-level", "X", "Coverage of the interval (default: 0.95).", "Test"),
]
Resamples = Annotated[
    int | None, _option("--resamples", "N", "How many to draw (default: 9999).", "Test")
]
NanPolicy = Annotated[
    Literal["raise", "omit", "propagate"] | None,
    _option(
        "--nan-policy",
        "KIND",
        "Missing values: raise refuses them (default), omit drops the rows, propagate keeps them.",
        "Test",
    ),
]
Seed = Annotated[
    int | None, _option("--seed", "N", "Repeats a run (default: a fresh one, shown).", "Run")
]
Threads = Annotated[int | None, _option("--threads", "N", "Default: all cores.", "Run")]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON only.", rich_help_panel="Run")
]

_OPTION_OF = {
    "a": "--a",
    "alternative": "--alternative",
    "b": "--b",
    "confidence_level": "--confidence-level",
    "denominator": "--denominator",
    "gold": "--gold",
    "groups": "--groups",
    "method": "--method",
    "n_resamples": "--resamples",
    "n_threads": "--threads",
    "nan_policy": "--nan-policy",
    "pos_label": "--positive",
    "predicted": "--a or --b",
    "rng": "--seed",
    "weights": "--weights",
}


def translate(message: str) -> str:
    """The library's message, with options where it speaks of arguments."""
    message = re.sub(r"data=('.*?'|\".*?\")", r"\1", message)
    for argument, option in _OPTION_OF.items():
        message = message.replace(f"`{argument}`", option)
        message = re.sub(rf'\b{argument}=(["\']?)([\w.+-]+)\1', rf"{option} \2", message)
    return message
