"""``fastboot rank``: many systems in order, and every pair of them."""

from __future__ import annotations

from typing import cast

from rich.console import Console

from fastboot.cli import options, terminal
from fastboot.cli.boards import boards
from fastboot.cli.items import Items
from fastboot.cli.leaderboard import Leaderboard, listed
from fastboot.cli.measures import Measures
from fastboot.cli.metrics import Metric

__all__ = ["rank"]


def rank(
    *,
    files: options.Files,
    systems: options.Systems = None,
    system: options.System = None,
    where: options.Where = None,
    gold: options.Gold = None,
    groups: options.Groups = None,
    strata: options.Strata = None,
    by: options.By = None,
    denominator: options.Denominator = None,
    weights: options.Weights = None,
    metric: options.Metrics = None,
    positive: options.Positive = None,
    lower_is_better: options.LowerIsBetter = None,
    against: options.Against = None,
    correction: options.Correction = None,
    test: options.Test = None,
    null: options.Null = None,
    alternative: options.Alternative = None,
    method: options.PlainMethod = None,
    confidence_level: options.Level = None,
    resamples: options.Resamples = None,
    nan_policy: options.NanPolicy = None,
    seed: options.Seed = None,
    threads: options.Threads = None,
    checkpoint: options.Checkpoint = None,
    json: options.Json = False,
) -> None:
    """Rank many systems, with every pair's difference, corrected for looking often."""
    measures = Measures(
        Items(files, where or ()),
        cast("list[Metric]", metric or []),
        gold=gold,
        positive=positive,
        denominator=denominator,
        weights=weights,
    )
    leaderboard = Leaderboard(
        measures,
        listed(systems, system),
        groups=groups,
        strata=strata,
        by=by,
        lower_is_better=lower_is_better,
        test=test,
        null=null,
        against=against,
        correction=correction,
        alternative=alternative,
        method=method,
        confidence_level=confidence_level,
        resamples=resamples,
        nan_policy=nan_policy,
        seed=seed,
        threads=threads,
        checkpoint=checkpoint,
    )
    with options.in_words(measures, "--systems"), terminal.working() as progress:
        comparison = leaderboard.answer(progress)
    console = Console(highlight=False)
    if json:
        console.out(comparison.to_json(), highlight=False)
        return
    console.print(boards(leaderboard, comparison, console))
    terminal.print_notes(console, map(options.translate, comparison.notes))
