"""``fastboot ttest``: the paired t test, what it rests on, and the resampled answer beside it."""

from __future__ import annotations

import math

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from fastboot.cli import options, terminal
from fastboot.cli.items import Items
from fastboot.cli.report import digits_of, framed, interval_text, named, shown
from fastboot.companions.t_test import paired_t_test
from fastboot.companions.t_test_results import PairedTTestResult
from fastboot.rendering import bracketed, short, shown_pvalue

__all__ = ["ttest"]


def ttest(
    *,
    files: options.Files,
    a: options.A,
    b: options.B,
    where: options.Where = None,
    groups: options.Groups = None,
    alternative: options.Alternative = None,
    confidence_level: options.Level = None,
    resamples: options.Beside = None,
    nan_policy: options.NanPolicy = None,
    seed: options.Seed = None,
    json: options.Json = False,
) -> None:
    """Test a difference of means by the paired t test, and check what the test assumes."""
    items = Items(files, where or ())
    with options.in_words(), terminal.working():
        result = paired_t_test(
            a,
            b,
            data=items.data,
            where=items.where,
            groups=groups,
            alternative=alternative or "two-sided",
            confidence_level=0.95 if confidence_level is None else confidence_level,
            nan_policy=nan_policy or "raise",
            n_resamples=9_999 if resamples is None else resamples,
            rng=seed,
        )
    console = Console(highlight=False)
    if json:
        console.out(result.to_json(), highlight=False)
        return
    console.print(_panel(a, b, groups, result))
    terminal.print_notes(console, map(options.translate, result.notes))


def _panel(a: str, b: str, groups: str | None, result: PairedTTestResult) -> Panel:
    return framed(
        "Paired t test" if groups is None else "Paired t test, cluster-robust",
        _answer(a, b, result),
        Text(options.translate(result.verdict)),
        named(_checks(result) | _run(groups, result)),
    )


def _answer(a: str, b: str, result: PairedTTestResult) -> Table:
    digits = digits_of(result.standard_error)
    table = Table.grid(padding=(0, 3))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(a, "cyan"), shown(result.estimate_a, digits), Text("a", "dim"))
    table.add_row(Text(b, "cyan"), shown(result.estimate_b, digits), Text("b", "dim"))
    interval = interval_text(result.confidence_interval, digits)
    table.add_row("difference", Text(shown(result.estimate, f"+{digits}"), "bold"), interval)
    table.add_row("standard error", shown(result.standard_error, digits))
    freedom = Text(f"{result.degrees_of_freedom:,} degrees of freedom", "dim")
    table.add_row("t", shown(result.t, ".4g"), freedom)
    table.add_row("p-value", Text(_shown_p(result.pvalue), "bold"), result.alternative)
    if result.bootstrap is None:
        return table
    if result.resampling_says:
        beside = interval_text(result.bootstrap.confidence_interval, digits)
        table.add_row("p-value, bootstrap", _shown_p(result.bootstrap.pvalue), beside)
    else:
        table.add_row("p-value, bootstrap", "says nothing")
    return table


def _shown_p(pvalue: float) -> str:
    return shown_pvalue(pvalue).removeprefix("= ")


def _checks(result: PairedTTestResult) -> dict[str, str]:
    """Effect size, and what the differences look like."""
    found, low_high = result.normality, result.effect_size_interval[:2]
    of = "" if math.isnan(low_high[0]) else f" {bracketed(*low_high)}"
    return {
        "effect size": f"d_z {shown(result.cohen_dz, '.3g')}, g_z {shown(result.hedges_gz, '.3g')}"
        f"{of}",
        "deviation": f"{short(result.standard_deviation)} of the differences",
        "skewness": f"{shown(found.skewness, '.3g')}, excess kurtosis "
        f"{shown(found.excess_kurtosis, '.3g')}",
        "normality": f"{found.test} p {_shown_p(found.pvalue)}" if found.test else "not tested",
        "outliers": "unknown" if found.n_outliers is None else f"{found.n_outliers:,}",
    }


def _run(groups: str | None, result: PairedTTestResult) -> dict[str, str]:
    by = "" if groups is None else f" groups by {groups}"
    rows = {"rows": f"{result.n_rows:,}", "units": f"{result.n_units:,}{by}"}
    if result.bootstrap is None:
        return rows
    drawn = {"resamples": f"{result.bootstrap.n_resamples:,}", "seed": str(result.bootstrap.seed)}
    return rows | drawn
