"""Answers about experiments not yet made: how large, and what they would show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastboot.rendering import count, made_by, short
from fastboot.reports import Report

__all__ = ["Power", "SampleSize"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SampleSize(Report):
    """Answer of :func:`fastboot.sample_size`.

    Attributes
    ----------
    n_items
        The smallest number of items, in whole clusters, from which on the goal is reached.
    n_clusters
        Of them; `n_items` where each item is its own.
    goal
        The interval or the test, in words.
    measure
        "half-width" or "power".
    target, attained
        The half-width or power asked for, and that of `n_items`.
    inputs
        The numbers and words that it is made from, defaults included.
    assumptions
        What must be true, in words.
    """

    n_items: int
    n_clusters: int
    goal: str
    measure: str
    target: float
    attained: float
    inputs: Mapping[str, Any]
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        return {
            "kind": "SampleSize",
            "n_items": self.n_items,
            "n_clusters": self.n_clusters,
            "goal": self.goal,
            "measure": self.measure,
            "target": self.target,
            "attained": self.attained,
            **self.inputs,
            "assumptions": list(self.assumptions),
        }

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return (
            f"A {self.measure} of {self.target:g} of the {self.goal} takes "
            f"{count(self.n_items, 'item')}{_in_clusters(self.n_items, self.n_clusters)}, assuming "
            f"{_joined(self.assumptions)}."
        )

    def _signature(self) -> dict[str, Any]:
        target = self.measure.replace("-", "_")  # the argument
        return {**made_by("sample_size"), target: self.target, **self.inputs}

    def __repr__(self) -> str:
        return (
            f"SampleSize({self.n_items:,} items for a {self.measure} of {self.target:g}: "
            f"{self.goal})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Power(Report):
    """Answer of :func:`fastboot.power`.

    Attributes
    ----------
    power
        Probability that the test is significant.
    standard_error
        Monte Carlo standard error of `power`; 0 for a formula.
    n_items, n_clusters
        Of the experiment.
    goal
        The test, in words.
    n_resamples, seed
        Experiments drawn from a pilot, and what reproduces them; None for a formula.
    n_rows, n_units
        Rows of the pilot, and what is drawn of them: rows, or groups. None for a formula.
    n_dropped
        Rows of the pilot dropped for a missing value (``nan_policy="omit"``).
    inputs
        The numbers and words that it is made from, defaults included.
    assumptions
        What must be true, in words.
    asked
        Names of the columns of a pilot, for `signature`.
    """

    power: float
    standard_error: float = 0.0
    n_items: int
    n_clusters: int
    goal: str
    n_resamples: int | None = None
    seed: int | None = None
    n_rows: int | None = None
    n_units: int | None = None
    n_dropped: int = 0
    inputs: Mapping[str, Any]
    assumptions: tuple[str, ...]
    asked: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        return {
            "kind": "Power",
            "power": self.power,
            "standard_error": self.standard_error,
            "n_items": self.n_items,
            "n_clusters": self.n_clusters,
            "goal": self.goal,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "n_rows": self.n_rows,
            "n_units": self.n_units,
            "n_dropped": self.n_dropped,
            **self.inputs,
            "assumptions": list(self.assumptions),
        }

    def summary(self) -> str:
        """Return a sentence for a paper."""
        drawn = "" if self.n_resamples is None else (
            f" ({count(self.n_resamples, 'experiment')} drawn, seed {self.seed}; Monte Carlo "
            f"standard error {short(self.standard_error)})"
        )  # fmt: skip
        return (
            f"With {count(self.n_items, 'item')}{_in_clusters(self.n_items, self.n_clusters)} the "
            f"power of the {self.goal} is {short(self.power)}{drawn}, assuming "
            f"{_joined(self.assumptions)}."
        )

    def _signature(self) -> dict[str, Any]:
        parts: dict[str, Any] = {
            **made_by("power"),
            **dict(self.asked),
            **self.inputs,
            "n_items": self.n_items,
        }
        if self.n_resamples is not None:
            parts |= {"n_resamples": self.n_resamples, "seed": self.seed}
            parts |= {"n_rows": self.n_rows, "n_units": self.n_units}
        if self.n_dropped:
            parts |= {"nan_policy": "omit", "n_dropped": self.n_dropped}
        return parts

    def __repr__(self) -> str:
        return f"Power({short(self.power)} with {count(self.n_items, 'item')}: {self.goal})"


def _in_clusters(n_items: int, n_clusters: int) -> str:
    return "" if n_clusters == n_items else f" in {count(n_clusters, 'cluster')}"


def _joined(phrases: tuple[str, ...]) -> str:
    *first, last = phrases
    return f"{', '.join(first)} and {last}" if first else last
