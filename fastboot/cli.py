"""The command line: ``fastboot compare`` and ``fastboot demo``.

Options become one call of the library, its result becomes a table. Defaults and rules are the
library's own: an option that is not given is not passed on. Only this file knows typer and rich.
"""

from __future__ import annotations

import math
import re
import shlex
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer
from rich.console import Console, Group
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

import fastboot as fb
from fastboot.columns import Column, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fastboot.columns import Labels

    _Result = fb.PairedBootstrapResult | fb.RandomizationResult

__all__ = ["app", "run"]

app = typer.Typer(
    name="fastboot",
    help="Is system A really better than system B? Bootstrap and approximate randomization tests.",
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Metric = Literal["mean", "total", "ratio", "weighted-mean", "accuracy", "precision", "recall", "f1"]

_STATISTICS: Mapping[Metric, Callable[[Column, Any, object], fb.Additive]] = {
    "mean": lambda own, _second, _label: fb.mean(own),
    "total": lambda own, _second, _label: fb.total(own),
    "ratio": lambda own, denominator, _label: fb.ratio(own, denominator),
    "weighted-mean": lambda own, weights, _label: fb.weighted_mean(own, weights),
    "accuracy": lambda own, gold, _label: fb.accuracy(gold, own.source),
    "precision": lambda own, gold, label: fb.precision(gold, own.source, pos_label=label),
    "recall": lambda own, gold, label: fb.recall(gold, own.source, pos_label=label),
    "f1": lambda own, gold, label: fb.f_score(gold, own.source, pos_label=label),
}
# The option that names a metric's second column.
_SECOND_COLUMN: Mapping[Metric, str] = {
    "ratio": "--denominator",
    "weighted-mean": "--weights",
    "accuracy": "--gold",
    "precision": "--gold",
    "recall": "--gold",
    "f1": "--gold",
}
_ONE_CLASS = ("precision", "recall", "f1")


def _option(name: str, metavar: str, text: str, panel: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, rich_help_panel=panel, show_default=False)


_File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="One row per item: Parquet, Arrow IPC, CSV or JSON lines.",
        show_default=False,
    ),
]
_A = Annotated[str, _option("--a", "COLUMN", "First system.", "Columns")]
_B = Annotated[str, _option("--b", "COLUMN", "Second system; the effect is a - b.", "Columns")]
_Gold = Annotated[str | None, _option("--gold", "COLUMN", "Right labels.", "Columns")]
_Groups = Annotated[
    str | None,
    _option("--groups", "COLUMN", "Rows with the same key are resampled together.", "Columns"),
]
_Denominator = Annotated[
    str | None, _option("--denominator", "COLUMN", "What ratio divides by.", "Columns")
]
_Weights = Annotated[
    str | None, _option("--weights", "COLUMN", "What weighted-mean weighs by.", "Columns")
]
_Metric = Annotated[
    Metric | None,
    _option(
        "--metric",
        "NAME",
        f"{', '.join(get_args(Metric))} (default: accuracy with --gold, else mean).",
        "Statistic",
    ),
]
_Positive = Annotated[
    str | None,
    _option(
        "--positive",
        "LABEL",
        "Label that precision, recall and f1 look for (default: 1).",
        "Statistic",
    ),
]
_Test = Annotated[
    Literal["bootstrap", "randomization"] | None,
    _option(
        "--test",
        "KIND",
        "bootstrap resamples items (default); randomization swaps the systems' answers.",
        "Test",
    ),
]
_Alternative = Annotated[
    Literal["two-sided", "greater", "less"] | None,
    _option("--alternative", "KIND", "two-sided (default), greater (a > b) or less.", "Test"),
]
_Method = Annotated[
    Literal["percentile", "basic", "normal", "bca"] | None,
    _option("--method", "KIND", "Interval: percentile (default), basic, normal or bca.", "Test"),
]
_Level = Annotated[
    float | None,
    _option("--confidence-level", "X", "Coverage of the interval (default: 0.95).", "Test"),
]
_Resamples = Annotated[
    int | None, _option("--resamples", "N", "How many to draw (default: 9999).", "Test")
]
_NanPolicy = Annotated[
    Literal["raise", "omit", "propagate"] | None,
    _option(
        "--nan-policy",
        "KIND",
        "Missing values: raise refuses them (default), omit drops the rows, propagate keeps them.",
        "Test",
    ),
]
_Seed = Annotated[
    int | None, _option("--seed", "N", "Repeats a run (default: a fresh one, shown).", "Run")
]
_Threads = Annotated[int | None, _option("--threads", "N", "Default: all cores.", "Run")]
_Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON only.", rich_help_panel="Run")
]


@dataclass(frozen=True)
class _Comparison:
    """What the options of ``fastboot compare`` say; None where an option was not given."""

    file: Path
    a: str
    b: str
    metric: Metric | None = None
    gold: str | None = None
    positive: str | None = None
    denominator: str | None = None
    weights: str | None = None
    groups: str | None = None
    test: str | None = None
    alternative: str | None = None
    method: str | None = None
    confidence_level: float | None = None
    resamples: int | None = None
    nan_policy: str | None = None
    seed: int | None = None
    threads: int | None = None

    def command(self) -> str:
        """The ``fastboot compare`` command that asks for this comparison."""
        words = ["fastboot", "compare", str(self.file)]
        for name, value in vars(self).items():
            if name != "file" and value is not None:
                words += ["--" + name.replace("_", "-"), str(value)]
        return shlex.join(words)

    @property
    def chosen_metric(self) -> Metric:
        """The metric asked for, or the one that the columns suggest."""
        return self.metric or ("mean" if self.gold is None else "accuracy")

    @property
    def second_column(self) -> str | None:
        """The column that both systems are measured with; at most one is left after `check`."""
        columns = (self.gold, self.denominator, self.weights)
        return next((column for column in columns if column is not None), None)

    def check(self) -> None:
        """Refuse options that contradict each other."""
        metric = self.chosen_metric
        needed = _SECOND_COLUMN.get(metric)
        for option, column in (
            ("--gold", self.gold),
            ("--denominator", self.denominator),
            ("--weights", self.weights),
        ):
            if option == needed and column is None:
                raise ValueError(f"--metric {metric} needs {option} COLUMN.")
            if option != needed and column is not None:
                raise ValueError(f"--metric {metric} does not use {option}; leave one of them out.")
        if self.positive is not None and metric not in _ONE_CLASS:
            raise ValueError(
                f"--metric {metric} does not use --positive; {', '.join(_ONE_CLASS)} do."
            )
        if self.test == "randomization" and self.method is not None:
            raise ValueError(
                "--method goes with --test bootstrap; randomization has a normal interval only."
            )

    def answer(self, progress: Callable[[int, int], None] | None) -> _Result:
        """The library's result."""
        self.check()
        procedure: Callable[..., _Result] = (
            fb.approximate_randomization if self.test == "randomization" else fb.paired_bootstrap
        )
        options = {
            "groups": self.groups,
            "alternative": self.alternative,
            "method": self.method,
            "confidence_level": self.confidence_level,
            "n_resamples": self.resamples,
            "nan_policy": self.nan_policy,
            "rng": self.seed,
            "n_threads": self.threads,
            "progress": progress,
        }
        statistic, label = _STATISTICS[self.chosen_metric], self.positive_label()
        a, b = (
            Column(name, argument=argument) for argument, name in (("a", self.a), ("b", self.b))
        )
        return procedure(
            statistic(a, self.second_column, label),
            statistic(b, self.second_column, label),
            data=self.file,
            **{name: value for name, value in options.items() if value is not None},
        )

    def positive_label(self) -> object:
        """The label that ``--positive`` spells; 1 if it is not given."""
        if self.positive is None:
            return 1
        named = {"gold": self.gold, "a": self.a, "b": self.b}
        columns = [Column(name, "label", argument) for argument, name in named.items()]
        labels = cast("tuple[Labels, ...]", load(columns, self.file, "omit").columns)
        values = list(dict.fromkeys(value for column in labels for value in column.values))
        for spells in (_spells_exactly, _spells_loosely):
            for value in values:
                if spells(self.positive, value):
                    return value
        shown = ", ".join(str(value) for value in values[:20])  # as many as columns.py lists
        raise ValueError(
            f"--positive {self.positive} is no label of these columns; they hold: {shown}."
        )


def _spells_exactly(text: str, value: object) -> bool:
    return str(value) == text


def _spells_loosely(text: str, value: object) -> bool:
    """Whether ``1`` is meant for 1.0 or True, ``true`` for True."""
    if isinstance(value, bool) and str(value).lower() == text.lower():
        return True
    try:
        return isinstance(value, int | float) and float(text) == value
    except ValueError:
        return False


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        Console().out(f"fastboot {fb.__version__}", highlight=False)
    elif context.invoked_subcommand is None:
        Console().print(context.get_help())


@app.command()
def compare(
    *,
    file: _File,
    a: _A,
    b: _B,
    gold: _Gold = None,
    groups: _Groups = None,
    denominator: _Denominator = None,
    weights: _Weights = None,
    metric: _Metric = None,
    positive: _Positive = None,
    test: _Test = None,
    alternative: _Alternative = None,
    method: _Method = None,
    confidence_level: _Level = None,
    resamples: _Resamples = None,
    nan_policy: _NanPolicy = None,
    seed: _Seed = None,
    threads: _Threads = None,
    json: _Json = False,
) -> None:
    """Compare two systems from a file that holds one row per item."""
    comparison = _Comparison(
        file=file,
        a=a,
        b=b,
        metric=metric,
        gold=gold,
        positive=positive,
        denominator=denominator,
        weights=weights,
        groups=groups,
        test=test,
        alternative=alternative,
        method=method,
        confidence_level=confidence_level,
        resamples=resamples,
        nan_policy=nan_policy,
        seed=seed,
        threads=threads,
    )
    _show(comparison, json=json)


@app.command()
def demo(
    *,
    test: _Test = None,
    alternative: _Alternative = None,
    method: _Method = None,
    confidence_level: _Level = None,
    resamples: _Resamples = None,
    seed: _Seed = 0,
    threads: _Threads = None,
    json: _Json = False,
) -> None:
    """Compare two spam classifiers on the real data in the package."""
    comparison = _Comparison(
        file=fb.example_path(),
        a="logistic",
        b="naive_bayes",
        metric="f1",
        gold="spam",
        groups="text",
        test=test,
        alternative=alternative,
        method=method,
        confidence_level=confidence_level,
        resamples=resamples,
        seed=seed,
        threads=threads,
    )
    _show(comparison, json=json)
    if not json:
        console = Console(highlight=False)
        console.print("\nThe same answer with")
        # One line for the clipboard, however long.
        console.print(Text(comparison.command(), "bold"), soft_wrap=True)


def _show(comparison: _Comparison, *, json: bool) -> None:
    with warnings.catch_warnings(), _progress() as progress:
        # The notes of the result say it.
        warnings.filterwarnings("ignore", "the statistic is undefined", RuntimeWarning)
        result = comparison.answer(progress)
    console = Console(highlight=False)
    if json:
        console.out(result.to_json(), highlight=False)
    else:
        console.print(_panel(comparison, result))
        for note in result.notes:
            console.print(Text.assemble(("note: ", "yellow"), note))


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr while the block runs, or None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("resampling", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _panel(comparison: _Comparison, result: _Result) -> Panel:
    return Panel(
        Group(_answer_table(comparison, result), Text(), _run_table(comparison, result)),
        title=Text(_title(comparison), "bold not dim"),
        title_align="left",
        border_style="dim",
        expand=False,
        padding=(1, 2),
    )


def _title(comparison: _Comparison) -> str:
    test = "Approximate randomization" if comparison.test == "randomization" else "Paired bootstrap"
    metric, second = comparison.chosen_metric, comparison.second_column
    joined = {"ratio": "over", "weighted-mean": "by"}.get(metric, "against")
    return f"{test}: {metric} {joined} {second}" if second else f"{test}: {metric}"


def _answer_table(comparison: _Comparison, result: _Result) -> Table:
    """Both systems, their difference and what it is worth."""
    digits = _digits(result.standard_error)
    table = Table.grid(padding=(0, 3))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(comparison.a, "cyan"), _shown(result.estimate_a, digits), Text("a", "dim"))
    table.add_row(Text(comparison.b, "cyan"), _shown(result.estimate_b, digits), Text("b", "dim"))
    difference = Text(_shown(result.estimate, f"+{digits}"), "bold")
    table.add_row("difference", difference, _interval(result, digits))
    table.add_row("standard error", _shown(result.standard_error, digits))
    error = f"Monte Carlo error {_shown(result.pvalue_standard_error, '.1g')}"
    how = "exact" if result.path == "enumeration" else error
    table.add_row(
        "p-value",
        Text(_shown(result.pvalue, ".3g"), "bold"),
        Text.assemble(result.alternative, (f", {how}", "dim")),
    )
    return table


def _interval(result: _Result, digits: str) -> Text:
    low, high = (_shown(bound, f"+{digits}") for bound in result.confidence_interval[:2])
    return Text.assemble(
        f"{100 * result.confidence_level:g} % interval ",
        (low if low == high else f"{low} to {high}", "bold"),
        (f", {result.confidence_interval.method}", "dim"),
    )


def _digits(standard_error: float) -> str:
    """The format that shows two digits of the standard error."""
    if not (math.isfinite(standard_error) and standard_error > 0):
        return ",.6g"
    return f",.{max(0, 1 - math.floor(math.log10(standard_error)))}f"


def _shown(value: float, digits: str) -> str:
    if math.isnan(value):
        return "undefined"
    return f"{value:{digits if value else digits.removeprefix('+')}}"


def _run_table(comparison: _Comparison, result: _Result) -> Table:
    """What was resampled, how, and what repeats it."""
    groups = f" groups by {comparison.groups}" if comparison.groups else ""
    n_defined = result.n_resamples - result.n_undefined
    table = Table.grid(padding=(0, 3))
    table.add_column(style="dim", min_width=len("standard error"))
    table.add_column(overflow="fold")
    for name, text in (
        ("rows", f"{result.n_rows:,}"),
        ("units", f"{result.n_units:,}{groups}"),
        ("resamples", f"{result.n_resamples:,}"),
        ("as extreme", f"{result.n_extreme:,} of {n_defined:,} ({result.rule} rule)"),
        ("path", result.path),
        ("seed", str(result.seed)),
        ("time", f"{result.elapsed:.2f} s"),
    ):
        table.add_row(name, Text(text))
    return table


def _complain(message: str) -> None:
    """Write one line to stderr; what a file holds must not steer the terminal."""
    line = " ".join(message.split())
    sys.stderr.write(f"fastboot: {''.join(char if char.isprintable() else '?' for char in line)}\n")


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


def _in_options(message: str) -> str:
    """The library's message, with options where it speaks of arguments."""
    message = re.sub(r"data=('.*?'|\".*?\")", r"\1", message)
    for argument, option in _OPTION_OF.items():
        message = message.replace(f"`{argument}`", option)
        message = re.sub(rf'\b{argument}=(["\']?)([\w.+-]+)\1', rf"{option} \2", message)
    return message


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code.

    Parameters
    ----------
    arguments
        The words after ``fastboot``; by default those of this process.

    Returns
    -------
    int
        0 after an answer, 2 after bad usage or bad data (one line on stderr says what), 130 after
        Ctrl-C.

    Examples
    --------
    >>> run(["--version"])
    fastboot 0.1.0
    0
    """
    try:
        return app(arguments, prog_name="fastboot", standalone_mode=False) or 0
    except typer.TyperException as error:
        _complain(error.format_message())
    except (OSError, TypeError, ValueError) as error:
        _complain(_in_options(str(error)))
    return 2
