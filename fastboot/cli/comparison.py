"""A comparison of two systems: what the options say, as one call of the library."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import fastboot as fb
from fastboot.cli.metrics import ONE_CLASS, SECOND_COLUMN, STATISTICS, Metric
from fastboot.columns import Column, Labels, load

__all__ = ["Comparison", "Result"]

Result = fb.PairedBootstrapResult | fb.RandomizationResult


@dataclass(frozen=True)
class Comparison:
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
        needed = SECOND_COLUMN.get(metric)
        for option, column in (
            ("--gold", self.gold),
            ("--denominator", self.denominator),
            ("--weights", self.weights),
        ):
            if option == needed and column is None:
                raise ValueError(f"--metric {metric} needs {option} COLUMN.")
            if option != needed and column is not None:
                raise ValueError(f"--metric {metric} does not use {option}; leave one of them out.")
        if self.positive is not None and metric not in ONE_CLASS:
            raise ValueError(
                f"--metric {metric} does not use --positive; {', '.join(ONE_CLASS)} do."
            )
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
        statistic, label = STATISTICS[self.chosen_metric], self.positive_label()
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
