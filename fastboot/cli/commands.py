"""The commands together; ``compare``, ``demo`` and ``--version``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import fastboot as fb
from fastboot.cli import options, report, terminal
from fastboot.cli.comparison import Comparison
from fastboot.cli.gate import gate
from fastboot.cli.items import Items
from fastboot.cli.rank import rank
from fastboot.cli.size import size
from fastboot.cli.ttest import ttest

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
    files: options.Files,
    a: options.A,
    b: options.B,
    where: options.Where = None,
    gold: options.Gold = None,
    groups: options.Groups = None,
    denominator: options.Denominator = None,
    weights: options.Weights = None,
    metric: options.Metric = None,
    positive: options.Positive = None,
    test: options.Test = None,
    alternative: options.Alternative = None,
    method: options.Method = None,
    confidence_level: options.Level = None,
    resamples: options.Resamples = None,
    nan_policy: options.NanPolicy = None,
    seed: options.Seed = None,
    threads: options.Threads = None,
    checkpoint: options.Checkpoint = None,
    json: options.Json = False,
) -> None:
    """Compare two systems from files that hold one row per item."""
    comparison = Comparison(
        Items(files, where or ()),
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
        checkpoint=checkpoint,
    )
    _show(comparison, json=json)


app.command()(rank)
app.command()(gate)
app.command()(ttest)
app.command()(size)


@app.command()
def demo(
    *,
    test: options.Test = None,
    alternative: options.Alternative = None,
    method: options.Method = None,
    confidence_level: options.Level = None,
    resamples: options.Resamples = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Compare two spam classifiers on the real data in the package."""
    comparison = Comparison(
        Items((fb.example_path(),)),
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


def _show(comparison: Comparison, *, json: bool) -> None:
    with options.in_words(comparison.measures), terminal.working() as progress:
        result = comparison.answer(progress)
    console = Console(highlight=False)
    if json:
        console.out(result.to_json(), highlight=False)
    else:
        console.print(report.panel(comparison, result))
        terminal.print_notes(console, map(options.translate, result.notes))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code.

    Parameters
    ----------
    arguments
        The words after ``fastboot``; by default those of this process.

    Returns
    -------
    int
        0 after an answer, 1 where ``gate`` fails, 2 after bad usage or bad data (one line on stderr
        says what), 130 after Ctrl-C, 141 where nobody read stdout to the end (``| head``) and there
        is no code of a gate.

    Examples
    --------
    >>> run(["--version"])
    fastboot 0.1.0
    0
    """
    try:
        return app(arguments, prog_name="fastboot", standalone_mode=False) or 0
    except SystemExit:
        # Where the reader of stdout has left, rich, and typer for its own words, exit with 1, which
        # is the answer of a gate. Shells have 128 + SIGPIPE for it.
        return terminal.UNREAD
    except typer.TyperException as error:
        # What checks the values says what kind of Python error a wrong one is.
        wrong = re.compile(r"^(Invalid value for '.*?': )Value error, ")
        terminal.complain(wrong.sub(r"\1", error.format_message()))
    except (OSError, TypeError, ValueError) as error:
        terminal.complain(str(error))
    return 2
