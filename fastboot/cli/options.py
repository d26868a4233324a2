"""Options: what each is called, what its help says, and which argument of the library it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from fastboot.cli import metrics
from fastboot.cli.measures import Measures

__all__ = [
    "A",
    "Against",
    "Alpha",
    "Alternative",
    "B",
    "Baseline",
    "Beside",
    "By",
    "Candidate",
    "Checkpoint",
    "ClusterSize",
    "Correction",
    "Denominator",
    "Discordance",
    "Effect",
    "Files",
    "Formula",
    "Gold",
    "Groups",
    "HalfWidth",
    "Icc",
    "Json",
    "Kind",
    "Level",
    "LowerIsBetter",
    "Margin",
    "Method",
    "Metric",
    "Metrics",
    "NanPolicy",
    "Null",
    "PlainMethod",
    "Positive",
    "Power",
    "Proportion",
    "Resamples",
    "Seed",
    "Std",
    "StdOfDifference",
    "Strata",
    "System",
    "Systems",
    "Test",
    "TestAlpha",
    "Threads",
    "Weights",
    "Where",
    "in_words",
    "translate",
]


def _option(name: str, metavar: str, text: str, panel: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, rich_help_panel=panel, show_default=False)


def _path(text: str) -> Path:
    if not text:  # which pathlib takes for the working directory
        raise typer.BadParameter("the path is empty; write . for the working directory.")
    return Path(text)


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        parser=_path,
        help="One row per item: Parquet, Arrow IPC, CSV or JSON lines. Several files of one kind, "
        "a folder of them or a pattern in quotes are one table.",
        show_default=False,
    ),
]
Where = Annotated[
    list[str] | None,
    _option(
        "--where",
        "CONDITION",
        "Rows that count: a column, one of = != < <= > >= in, and a value, as in split=test or "
        "'language in de,fr'; quotes around a value are no part of it; may be repeated, then all "
        "must hold.",
        "Columns",
    ),
]
A = Annotated[str, _option("--a", "COLUMN", "First system.", "Columns")]
B = Annotated[str, _option("--b", "COLUMN", "Second system; the effect is a - b.", "Columns")]
Systems = Annotated[
    list[str] | None,
    _option("--systems", "A,B,...", "Systems, separated by commas.", "Columns"),
]
System = Annotated[
    list[str] | None,
    _option("--system", "COLUMN", "One system, with any name; repeat it.", "Columns"),
]
Candidate = Annotated[
    str, _option("--candidate", "COLUMN", "The system that is to be accepted.", "Columns")
]
Baseline = Annotated[
    str, _option("--baseline", "COLUMN", "The system that it is held against.", "Columns")
]
Gold = Annotated[str | None, _option("--gold", "COLUMN", "Right labels or values.", "Columns")]
Groups = Annotated[
    str | None,
    _option("--groups", "COLUMN", "Rows with the same key are resampled together.", "Columns"),
]
Strata = Annotated[
    list[str] | None,
    _option("--strata", "COLUMN", "Rows are drawn within each value; may be repeated.", "Columns"),
]
By = Annotated[
    list[str] | None,
    _option("--by", "COLUMN", "Also answers for each value; may be repeated.", "Columns"),
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
Metrics = Annotated[
    list[str] | None,
    _option(
        "--metric",
        "NAME",
        f"{', '.join(get_args(metrics.Metric))} (default: accuracy with --gold, else mean); may be "
        "repeated.",
        "Statistic",
    ),
]
LowerIsBetter = Annotated[
    bool | None,
    typer.Option(
        "--lower-is-better/--higher-is-better",
        help="Direction (default: that of the metric).",
        rich_help_panel="Statistic",
        show_default=False,
    ),
]
Positive = Annotated[
    str | None,
    _option(
        "--positive",
        "LABEL",
        f"Label that {', '.join(metrics.ONE_CLASS)} look for (default: 1).",
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
Null = Annotated[
    Literal["swaps", "permutations"] | None,
    _option(
        "--null",
        "KIND",
        "Of randomization: swaps of a pair (default) or permutations of all systems.",
        "Test",
    ),
]
Against = Annotated[
    str | None,
    _option("--against", "WHICH", "all pairs (default), best, or the name of a system.", "Test"),
]
Correction = Annotated[
    Literal["holm", "bonferroni", "fdr_bh", "fdr_by", "max_t", "none"] | None,
    _option(
        "--correction",
        "KIND",
        "Of p-values for their number: holm (default), bonferroni, fdr_bh, fdr_by, max_t or none.",
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
PlainMethod = Annotated[
    Literal["percentile", "basic", "normal"] | None,
    _option("--method", "KIND", "Interval: percentile (default), basic or normal.", "Test"),
]
Margin = Annotated[
    float,
    _option("--margin", "X", "The smallest difference that matters, 0 or more.", "Verdict"),
]
Kind = Annotated[
    Literal["non-inferiority", "superiority", "equivalence"],
    _option(
        "--kind",
        "KIND",
        "non-inferiority (default): not worse by the margin; superiority: better by more; "
        "equivalence: closer than the margin.",
        "Verdict",
    ),
]
Alpha = Annotated[
    float | None,
    _option("--alpha", "X", "Probability of passing wrongly, at most (default: 0.05).", "Verdict"),
]
HalfWidth = Annotated[
    float | None,
    _option("--half-width", "X", "The interval is to be estimate -+ X.", "Interval"),
]
Proportion = Annotated[
    float | None,
    _option("--proportion", "X", "The proportion expected (default: the worst, 0.5).", "Interval"),
]
Std = Annotated[
    float | None,
    _option("--std", "X", "Standard deviation of the scores: the interval of a mean.", "Interval"),
]
Effect = Annotated[
    float | None,
    _option("--effect", "X", "The true difference a - b that the test should show.", "Difference"),
]
Discordance = Annotated[
    float | None,
    _option(
        "--discordance",
        "X",
        "Share of items that one system has right and the other wrong: McNemar's test.",
        "Difference",
    ),
]
StdOfDifference = Annotated[
    float | None,
    _option(
        "--std-of-difference",
        "X",
        "Standard deviation of the differences on one item: the paired t-test.",
        "Difference",
    ),
]
Power = Annotated[
    float | None,
    _option("--power", "X", "Probability of showing the effect (default: 0.8).", "Difference"),
]
TestAlpha = Annotated[
    float | None, _option("--alpha", "X", "Level of the test (default: 0.05).", "Difference")
]
Formula = Annotated[
    Literal["normal", "wilson", "exact", "connor"] | None,
    _option(
        "--method",
        "KIND",
        "Of a proportion: normal (default) or wilson; of McNemar's test: exact (default) or "
        "connor.",
        "Run",
    ),
]
ClusterSize = Annotated[
    int | None,
    _option("--cluster-size", "N", "Items of a group that are sampled together.", "Groups"),
]
Icc = Annotated[float | None, _option("--icc", "X", "Intraclass correlation in groups.", "Groups")]
Level = Annotated[
    float | None,
    _option("--confidence-level", "X", "Coverage of the interval (default: 0.95).", "Test"),
]
Resamples = Annotated[
    int | None, _option("--resamples", "N", "How many to draw (default: 9999).", "Test")
]
Beside = Annotated[
    int | None,
    _option("--resamples", "N", "Of the bootstrap beside it; 0 for none (default: 9999).", "Test"),
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
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        parser=_path,
        help="Keep finished resamples here; the same command resumes from them. Needs --seed.",
        rich_help_panel="Run",
        show_default=False,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON only.", rich_help_panel="Run")
]

# Arguments whose options have other names; the others are spelled alike.
_OPTION_OF = {
    "data": "FILE",
    "n_items": "--items",
    "n_resamples": "--resamples",
    "n_threads": "--threads",
    "pos_label": "--positive",
    "rng": "--seed",
}
# What both systems are called by statistics of a second column.
_OWN = ("predicted", "score", "y", "values")
# Columns may have names such as "e=3": in lists of them, in quotes, and where it is no argument.
_COLUMNS = "there are: "
_GIVEN = re.compile(r"(?<![\w'\"])([a-z_]+)=([\"']?)([\w.+-]+)\2")


@contextmanager
def in_words(
    measures: Measures | None = None, systems: str = "--a or --b", **names: str
) -> Iterator[None]:
    """Let what the library refuses in the block speak of options, not of arguments.

    measures : what was asked for, where a metric was chosen
    systems : the options that name the systems
    names : what options of this command are called, by argument
    """
    try:
        yield
    except (OSError, TypeError, ValueError) as error:
        message = str(error)
        if measures is not None and not measures.metrics and "holds strings; a score" in message:
            message += " For labels, name the right ones with --gold COLUMN."
        raise ValueError(translate(message, systems, **names)) from error


def translate(message: str, systems: str = "--a or --b", **names: str) -> str:
    """The library's message, with options where it speaks of arguments; as in `in_words`."""
    names = _OPTION_OF | dict.fromkeys(_OWN, systems) | {"x": "--gold"} | names

    def option(argument: str) -> str:
        return names.get(argument, f"--{argument.replace('_', '-')}")

    message, there_are, columns = message.partition(_COLUMNS)
    message = message.replace("sample_size()", "size")
    message = message.replace(
        "approximate_randomization for a pair", "fastboot compare --test randomization for a pair"
    )
    message = re.sub(r"data=('.*?'|\".*?\")", r"\1", message)
    message = re.sub(r"checkpoint=('.*?'|\".*?\")", r"--checkpoint \1", message)
    message = re.sub(r"`([a-z_]+)`", lambda found: option(found[1]), message)

    def given(found: re.Match[str]) -> str:
        return f"{option(found[1])} {found[3]}" if found[1] in known else found[0]

    known = names.keys() | _ARGUMENTS
    return _GIVEN.sub(given, message) + there_are + columns


def _arguments() -> Iterator[str]:
    """What the arguments are called that the options above give."""
    for one in list(globals().values()):
        for option in getattr(one, "__metadata__", ()):
            # Beside a type, typer holds the first name as if it were the default.
            for names in (option.default, *(option.param_decls or ())):
                for name in str(names).split("/"):
                    yield name.removeprefix("--").replace("-", "_")


_ARGUMENTS = frozenset(_arguments())
