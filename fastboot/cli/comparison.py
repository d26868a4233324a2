"""A comparison of two systems: what the options say, as one call of the library."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastboot as fb
from fastboot.cli.items import Items
from fastboot.cli.measures import Measures
from fastboot.cli.metrics import Metric
from fastboot.cli.resuming import check_seeded
from fastboot.columns import Column

__all__ = ["Comparison", "Result"]

Result = fb.PairedBootstrapResult | fb.RandomizationResult


@dataclass(frozen=True)
class Comparison:
    """What the options of ``fastboot compare`` say; None where an option was not given."""

    items: Items
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
    checkpoint: Path | None = None

    def command(self) -> str:
        """The ``fastboot compare`` command that asks for this comparison."""
        words = ["fastboot", "compare", *self.items.words]
        for name, value in vars(self).items():
            if name != "items" and value is not None:
                words += ["--" + name.replace("_", "-"), str(value)]
        return shlex.join(words)

    @property
    def measures(self) -> Measures:
        """What both systems are measured by."""
        return Measures(
            self.items,
            () if self.metric is None else (self.metric,),
            gold=self.gold,
            positive=self.positive,
            denominator=self.denominator,
            weights=self.weights,
        )

    @property
    def chosen_metric(self) -> Metric:
        """The metric asked for, or the one that the columns suggest."""
        return self.measures.chosen[0]

    @property
    def second_column(self) -> str | None:
        """The column that both systems are measured with."""
        return self.measures.second_column(self.chosen_metric)

    def check(self) -> None:
        """Refuse options that contradict each other."""
        self.measures.check()
        check_seeded(self.checkpoint, self.seed)
        if self.test == "randomization" and self.method is not None:
            raise ValueError(
                "--method goes with --test bootstrap; randomization has a normal interval only."
            )

    def answer(self, progress: Callable[[int, int], None] | None) -> Result:
        """The library's result."""
        self.check()
        procedure: Callable[..., Result] = (
            fb.approximate_randomization if self.test == "randomization" else fb.paired_bootstrap
        )
        options: dict[str, Any] = {
            "where": self.items.where,
            "groups": self.groups,
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
        systems = [Column(self.a, argument="a"), Column(self.b, argument="b")]
        label = self.measures.positive_label(systems)
        a, b = (self.measures.statistic(self.chosen_metric, own, label) for own in systems)
        return procedure(
            a, b, data=self.items.data,
            **{name: value for name, value in options.items() if value is not None},
        )  # fmt: skip
