"""A comparison of many systems: what the options say, as one call of the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastboot as fb
from fastboot.cli.measures import Measures
from fastboot.cli.metrics import Metric
from fastboot.cli.resuming import check_seeded
from fastboot.columns import Column
from fastboot.statistics.base import Statistic

__all__ = ["Leaderboard", "listed"]


@dataclass(frozen=True)
class Leaderboard:
    """What the options of ``fastboot rank`` say; None where an option was not given."""

    measures: Measures
    systems: Sequence[str]
    groups: str | None = None
    strata: Sequence[str] | None = None
    by: Sequence[str] | None = None
    lower_is_better: bool | None = None
    test: str | None = None
    null: str | None = None
    against: str | None = None
    correction: str | None = None
    alternative: str | None = None
    method: str | None = None
    confidence_level: float | None = None
    resamples: int | None = None
    nan_policy: str | None = None
    seed: int | None = None
    threads: int | None = None
    checkpoint: Path | None = None

    def check(self) -> None:
        """Refuse options that contradict each other."""
        self.measures.check()
        if len(self.systems) < 2:
            raise ValueError(
                "rank needs two systems at least: --systems A,B,... or --system COLUMN for each."
            )
        for name in self.systems:
            if self.systems.count(name) > 1:
                raise ValueError(f"--systems names {name!r} twice; leave one of them out.")
        if self.null is not None and self.test != "randomization":
            raise ValueError("--null goes with --test randomization.")
        check_seeded(self.checkpoint, self.seed)

    def answer(self, progress: Callable[[int, int], None] | None) -> fb.Comparison:
        """The library's comparison."""
        self.check()
        measures = self.measures
        label = measures.positive_label(list(map(_column, self.systems)))

        def made(metric: Metric) -> Callable[[str], Statistic]:
            return lambda name: measures.statistic(metric, _column(name), label)

        asked = None if self.lower_is_better is None else not self.lower_is_better
        options: dict[str, Any] = {
            "where": measures.items.where,
            "groups": self.groups,
            "strata": self.strata,
            "by": self.by,
            "test": self.test,
            "null": self.null,
            "against": self.against,
            "correction": self.correction,
            "alternative": self.alternative,
            "method": self.method,
            "confidence_level": self.confidence_level,
            "n_resamples": self.resamples,
            "nan_policy": self.nan_policy,
            "rng": self.seed,
            "n_threads": self.threads,
            "checkpoint": self.checkpoint,
            "progress": progress,
        }
        return fb.compare(
            self.systems,
            data=measures.items.data,
            metrics={metric: made(metric) for metric in measures.chosen},
            higher_is_better={
                metric: measures.higher_is_better(metric, asked=asked) for metric in measures.chosen
            },
            **{name: value for name, value in options.items() if value not in (None, [])},
        )  # fmt: skip


def listed(systems: Sequence[str] | None, system: Sequence[str] | None) -> list[str]:
    """The systems of ``--systems a,b`` and ``--system c``, in this order."""
    split = [name.strip() for names in systems or () for name in names.split(",")]
    return [name for name in split if name] + list(system or ())


def _column(name: str) -> Column:
    return Column(name, argument="systems")
