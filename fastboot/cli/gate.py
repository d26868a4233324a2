"""``fastboot gate``: may a candidate replace a baseline? The exit code says it."""

from __future__ import annotations

import math
from contextlib import suppress

import typer
from rich.console import Console
from rich.text import Text

from fastboot.cli import options, terminal
from fastboot.cli.comparison import Comparison, Result
from fastboot.cli.items import Items
from fastboot.margins import Verdict, check_margin, resamples_needed
from fastboot.rendering import short, to_json

__all__ = ["gate"]


def gate(
    *,
    files: options.Files,
    candidate: options.Candidate,
    baseline: options.Baseline,
    margin: options.Margin,
    kind: options.Kind = "non-inferiority",
    alpha: options.Alpha = None,
    where: options.Where = None,
    gold: options.Gold = None,
    groups: options.Groups = None,
    denominator: options.Denominator = None,
    weights: options.Weights = None,
    metric: options.Metric = None,
    positive: options.Positive = None,
    lower_is_better: options.LowerIsBetter = None,
    method: options.Method = None,
    resamples: options.Resamples = None,
    nan_policy: options.NanPolicy = None,
    seed: options.Seed = None,
    threads: options.Threads = None,
    checkpoint: options.Checkpoint = None,
    json: options.Json = False,
) -> None:
    """Exit with 0 if a candidate is not worse than a baseline by a margin, else with 1."""
    comparison = Comparison(
        Items(files, where or ()),
        a=candidate,
        b=baseline,
        metric=metric,
        gold=gold,
        positive=positive,
        denominator=denominator,
        weights=weights,
        groups=groups,
        method=method,
        resamples=resamples,
        nan_policy=nan_policy,
        seed=seed,
        threads=threads,
        checkpoint=checkpoint,
    )
    level = 0.05 if alpha is None else alpha
    with (
        options.in_words(
            comparison.measures,
            "--candidate or --baseline",
            a="--candidate",
            b="--baseline",
        ),
        terminal.working() as progress,
    ):
        # Before minutes of work.
        check_margin(kind, margin, level)
        _check_resamples(level, resamples, method)
        result = comparison.answer(progress)
        asked = None if lower_is_better is None else not lower_is_better
        higher = comparison.measures.higher_is_better(comparison.chosen_metric, asked=asked)
        verdict = result.verdict(margin, kind=kind, alpha=level, higher_is_better=higher)
    console = Console(highlight=False)
    # The code is the answer, whether or not anybody reads the words.
    with suppress(SystemExit):  # of a broken pipe
        if json:
            console.out(_json(comparison, result, verdict), highlight=False)
        else:
            # One line, however long: logs are searched.
            console.print(_line(comparison, result, verdict), soft_wrap=True)
            terminal.print_notes(console, map(options.translate, result.notes))
    raise typer.Exit(0 if verdict else 1)


def _check_resamples(alpha: float, resamples: int | None, method: str | None) -> None:
    """Refuse a level that so many resamples cannot have."""
    n, needed = 9_999 if resamples is None else resamples, resamples_needed(alpha)
    if method != "normal" and 0 < n < needed:
        raise ValueError(
            f"--alpha is {alpha:g} but --resamples {n}; limits at this level need --resamples "
            f"{needed} at least, or --method normal"
        )


def _outcome(verdict: Verdict) -> str:
    """Passed, refuted (the opposite is shown), or undecided."""
    return "passed" if verdict.passed else "refuted" if verdict.refuted else "undecided"


def _json(comparison: Comparison, result: Result, verdict: Verdict) -> str:
    return to_json(
        verdict.to_dict()
        | {
            "kind": "Gate",
            "outcome": _outcome(verdict),
            "metric": comparison.chosen_metric,
            "candidate": comparison.a,
            "baseline": comparison.b,
            "result": result.to_dict(),
        }
    )


def _line(comparison: Comparison, result: Result, verdict: Verdict) -> Text:
    color = "green" if verdict.passed else "red"
    limits = [
        f"{name} limit {_shown(limit)}"
        for name, limit in (("lower", verdict.low), ("upper", verdict.high))
    ]
    return Text.assemble(
        ("passed" if verdict.passed else "failed", f"bold {color}"),
        f": {_finding(comparison, verdict)}; {comparison.chosen_metric} "
        f"{_shown(result.estimate_a)} against {_shown(result.estimate_b)}, difference "
        f"{_shown(verdict.estimate)}, {', '.join(limits)} "
        f"(one-sided {100 * (1 - verdict.alpha):g} % each, {verdict.method}, seed {result.seed})",
    )


def _finding(comparison: Comparison, verdict: Verdict) -> str:
    """What is shown of the candidate."""
    if math.isnan(verdict.estimate):
        return f"{comparison.a} cannot be held against {comparison.b}"
    if verdict.note:
        return f"{comparison.a} cannot be held against {comparison.b}: {verdict.note}"
    margin = short(verdict.margin)
    more, or_more = (
        (f" by more than {margin}", f" by {margin} or more") if verdict.margin else ("", "")
    )
    words = {
        "non-inferiority": {
            "passed": f"is not worse than {comparison.b}{or_more}",
            "refuted": f"is worse than {comparison.b}{more}",
            "undecided": f"may be worse than {comparison.b}{or_more} (not shown either way)",
        },
        "superiority": {
            "passed": f"is better than {comparison.b}{more}",
            "refuted": f"is not better than {comparison.b}{or_more}",
            "undecided": f"may not be better than {comparison.b}{more} (not shown either way)",
        },
        "equivalence": {
            "passed": f"differs from {comparison.b} by less than {margin}",
            "refuted": f"differs from {comparison.b}{more}",
            "undecided": f"may differ from {comparison.b}{or_more} (not shown either way)",
        },
    }
    return f"{comparison.a} {words[verdict.kind][_outcome(verdict)]}"


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else short(value)
