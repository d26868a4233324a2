"""What systems are measured by: metrics and their columns, as the options say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from fastboot.cli.items import Items
from fastboot.cli.metrics import METRICS, ONE_CLASS, Metric, Recipe
from fastboot.columns import Column, Labels
from fastboot.companions.batches import stream
from fastboot.sources.opening import open_source
from fastboot.statistics.base import Statistic
from fastboot.taking import rows_that_count

__all__ = ["Measures"]


@dataclass(frozen=True)
class Measures:
    """Metrics of columns; None where an option was not given."""

    items: Items
    metrics: Sequence[Metric] = ()
    gold: str | None = None
    positive: str | None = None
    denominator: str | None = None
    weights: str | None = None

    @property
    def chosen(self) -> tuple[Metric, ...]:
        """The metrics asked for, or the one that the columns suggest."""
        suggested: Metric = "mean" if self.gold is None else "accuracy"
        return tuple(dict.fromkeys(self.metrics)) or (suggested,)

    @property
    def _second_columns(self) -> dict[str, str | None]:
        return {"--gold": self.gold, "--denominator": self.denominator, "--weights": self.weights}

    def second_column(self, metric: Metric) -> str | None:
        """The column that all systems are measured with."""
        second = METRICS[metric].second
        return None if second is None else self._second_columns[second]

    def higher_is_better(self, metric: Metric, *, asked: bool | None) -> bool:
        """The direction of a metric, unless another was asked for."""
        return not METRICS[metric].lower_is_better if asked is None else asked

    def check(self) -> None:
        """Refuse options that contradict each other."""
        for metric in self.chosen:
            if metric not in METRICS:
                raise ValueError(
                    f"--metric {metric} is unknown; choose one of {', '.join(METRICS)}."
                )
        named = f"--metric {', '.join(self.chosen)}"
        recipes: list[Recipe] = [METRICS[metric] for metric in self.chosen]
        for option, column in self._second_columns.items():
            needing = [one for one in self.chosen if METRICS[one].second == option]
            if needing and column is None:
                raise ValueError(f"--metric {needing[0]} needs {option} COLUMN.")
            if not needing and column is not None:
                raise ValueError(f"{named} does not use {option}; leave one of them out.")
        if self.positive is not None and not any(recipe.one_class for recipe in recipes):
            raise ValueError(f"{named} does not use --positive; {', '.join(ONE_CLASS)} do.")

    def statistic(self, metric: Metric, own: Column, label: object) -> Statistic:
        """The statistic of a system's column; `label` as `positive_label` gives it."""
        return METRICS[metric].make(own, self.second_column(metric), label)

    def positive_label(self, systems: Sequence[Column]) -> object:
        """The label that ``--positive`` spells; 1 if it is not given."""
        if self.positive is None:
            return 1
        columns = [Column(self.gold, "label", "gold")] if self.gold is not None else []
        if not any(METRICS[metric].scores for metric in self.chosen):
            columns += [Column(own.source, "label", own.argument) for own in systems]
        values = self._labels(columns)
        for spells in (_spells_exactly, _spells_loosely):
            for value in values:
                if spells(self.positive, value):
                    return value
        shown = ", ".join(str(value) for value in values[:20])  # as many as columns.py lists
        raise ValueError(
            f"--positive {self.positive} is no label of these columns; they hold: {shown}."
        )

    def _labels(self, columns: Sequence[Column]) -> list[object]:
        """All labels in some columns, which may be larger than memory."""
        data, where = self.items.data, self.items.where
        source = open_source(data, where)
        assert source is not None
        rows = rows_that_count(data, where, ())
        found: list[dict[object, None]] = [{} for _ in columns]
        for batch in stream(columns, source, rows, "omit"):
            for own, column in zip(found, batch.columns, strict=True):
                own.update(dict.fromkeys(cast("Labels", column).values))
        return list(dict.fromkeys(chain(*found)))


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
