"""What a call asks for: one statistic, or several by name; and the results that answer it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from reprlib import repr as shortened
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastboot.analytic import ClusterErrors
from fastboot.calls import words
from fastboot.columns import Source
from fastboot.designs import Slices
from fastboot.extension import Again
from fastboot.resampling import Answer
from fastboot.results import Result
from fastboot.sample import Sample, few_units
from fastboot.scaling import remark_on_weights
from fastboot.statistics.base import Statistic, Vector
from fastboot.statistics.bound import Bound
from fastboot.statistics.estimand import Question
from fastboot.statistics.means import as_statistic
from fastboot.tables import Table

__all__ = ["Asked", "Several", "alike", "ask", "pair_up", "questions_of", "report"]

R = TypeVar("R", bound=Result)
Floats = NDArray[np.float64]
# What is answered by a table; a mapping's keys are Names.
Several = Mapping[Any, Any] | Sequence[Statistic] | Vector
Names = tuple[str | Real, ...]


class Asked(NamedTuple):
    """Statistics, and what they are called where there are several.

    statistics : in order
    names : None where one was given by itself
    """

    statistics: tuple[Statistic, ...]
    names: Names | None


def ask(value: Any, argument: str) -> Asked:
    """Return the statistics of an argument.

    Parameters
    ----------
    value
        A statistic, a column or an array; a mapping of names to such; or a list of statistics,
        which are called by their own names.
    argument
        What messages call it.

    Raises
    ------
    TypeError, ValueError
        A mapping is empty or has another key than a string or a number, or two statistics of a list
        have one name.
    """
    if isinstance(value, Mapping):
        if not value:
            raise ValueError(f"`{argument}` is empty; give at least one statistic")
        for name in value:
            if not isinstance(name, str | Real):
                raise TypeError(
                    f"`{argument}` calls a statistic {name!r}; names are strings or numbers"
                )
        statistics = (as_statistic(one, f"{argument}[{name!r}]") for name, one in value.items())
        return Asked(tuple(statistics), tuple(value))
    if isinstance(value, list | tuple) and any(isinstance(one, Statistic) for one in value):
        for place, one in enumerate(value):
            if not isinstance(one, Statistic):
                raise TypeError(
                    f"`{argument}` is a list of statistics but holds {shortened(one)} at place "
                    f"{place}; give statistics only, such as fb.mean('score')"
                )
        names = tuple(one.name for one in value)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"`{argument}` has two statistics called {twice!r}; give a dict, whose keys tell "
                "them apart"
            )
        return Asked(tuple(value), names)
    return Asked((as_statistic(value, argument),), None)


def pair_up(a: Asked, b: Asked) -> None:
    """Refuse two systems that were not asked for the same.

    Raises
    ------
    ValueError
        The names differ.
    """
    if a.names != b.names:
        shown = [
            "one statistic" if asked.names is None else ", ".join(map(repr, asked.names))
            for asked in (a, b)
        ]
        raise ValueError(
            f"`a` asks for {shown[0]} but `b` for {shown[1]}; both systems need the same "
            "statistics, by the same names and in the same order"
        )


def alike(a: Asked, b: Asked) -> list[tuple[int, int]]:
    """Return the places of statistics that can know each other's columns, among those of both."""
    n = len(a.statistics)
    return [
        (place, n + place)
        for place, pair in enumerate(zip(a.statistics, b.statistics, strict=True))
        if len({tuple(column.role for column in one.columns) for one in pair}) == 1
    ]


def questions_of(bounds: Sequence[Bound]) -> list[Question]:
    """Return the differences between the first half of the statistics and the second.

    Raises
    ------
    ValueError
        Two have different values to compare.
    """
    n = len(bounds) // 2
    pairs = list(zip(bounds[:n], bounds[n:], strict=True))
    for pair in pairs:
        if pair[0].labels != pair[1].labels:
            words = [
                "one value" if one.labels is None else f"values for {shortened(list(one.labels))}"
                for one in pair
            ]
            raise ValueError(
                f"`a` has {words[0]} ({pair[0].statistic.name}) but `b` has {words[1]} "
                f"({pair[1].statistic.name}); a comparison needs the same values of both"
            )
    return [Question(*pair) for pair in pairs]


def report(
    kind: type[R],
    names: Names | None,
    questions: Sequence[Question],
    sample: Sample,
    answer: Callable[[Slices | None], tuple[Answer, Mapping[str, NDArray[Any]]]],
    common: dict[str, Any],
    started: float,
    again: Again | None = None,
) -> Any:
    """Answer all rows and the slices, if any: return the result, or the table of results.

    Parameters
    ----------
    kind
        Of result.
    names
        Of the statistics, where several were asked for.
    questions
        In the order of the values.
    sample
        What is resampled.
    answer
        From the slices, or None for all rows, to what was found and further fields of the results,
        shape (n_values, n_cells) each.
    common
        Fields that all results share.
    started
        When the call came, by `time.perf_counter`.
    again
        How to run the procedure again.
    """
    axes, keys = _keys(names, questions)
    remarks = _remarks(questions, sample)
    named = _Named(kind, axes, keys, _names(questions), _calls(questions), remarks, sample)
    whole = answer(None)
    sliced = None if sample.slices is None else answer(sample.slices)
    common = common | {"elapsed": time.perf_counter() - started}
    if sliced is None or sample.slices is None:
        return named.report(*whole, common | {"again": again})
    total = named.report(*whole, common)  # part of the table, which is what can be extended
    return named.report(*sliced, common | {"again": again}, total, sample.slices.values)


def _keys(
    names: Names | None, questions: Sequence[Question]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the axes of a table and its keys, each a tuple."""
    keys: list[tuple[Any, ...]] = []
    for place, question in enumerate(questions):
        name = () if names is None else (names[place],)
        labels = question.a.labels
        keys += [name] if labels is None else [(*name, label) for label in labels]
    axes: tuple[str, ...] = () if names is None else ("statistic",)
    if any(question.a.labels is not None for question in questions):
        axes += ("label",)
    return axes, keys


def _names(questions: Sequence[Question]) -> list[str]:
    return [
        question.name if question.a.labels is None else f"{question.name}[{label}]"
        for question in questions
        for label in (question.a.labels or (None,))
    ]


def _calls(questions: Sequence[Question]) -> list[tuple[tuple[str, str], ...]]:
    """Return the calls that made the statistics of each value, by the names of arguments."""
    calls: list[tuple[tuple[str, str], ...]] = []
    for question in questions:
        names = ("statistic",) if question.b is None else ("a", "b")
        made = [(name, one.call) for name, one in zip(names, question.statistics, strict=True)]
        labels = question.a.labels
        calls += [
            (*made, *(() if labels is None else (("label", _shown(label)),)))
            for label in (labels or (None,))
        ]
    return calls


def _shown(key: Any) -> str:
    """Return a label or the value of a slice in words; dates and bytes as text."""
    if isinstance(key, tuple):
        return f"[{','.join(map(_shown, key))}]"
    return words(key if isinstance(key, str | Real) else str(key))


def _remarks(questions: Sequence[Question], sample: Sample) -> list[tuple[str, ...]]:
    """Return what is to be said of the statistics, and of what weights are in them."""
    remarks = []
    for question in questions:
        said = [getattr(statistic, "remark", "") for statistic in question.statistics]
        said += map(remark_on_weights, question.bounds, sample.samples)
        own = tuple(dict.fromkeys(remark for remark in said if remark))
        remarks += [own] * question.a.n_values
    return remarks


class _Named(NamedTuple):
    """What results are called, and what is said of them.

    kind : of result
    axes, keys : of the table, without slices
    statistics, calls, remarks : for each value
    sample : what was resampled
    """

    kind: type[Result]
    axes: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]
    statistics: Sequence[str]
    calls: Sequence[tuple[tuple[str, str], ...]]
    remarks: Sequence[tuple[str, ...]]
    sample: Sample

    def report(
        self,
        answer: Answer,
        own: Mapping[str, NDArray[Any]],
        common: dict[str, Any],
        total: Any = None,
        slices: tuple[Any, ...] | None = None,
    ) -> Any:
        """Return the result, or the table of results."""
        n_values, n_cells, n_resamples = answer.replicates.shape
        design = self.sample.design
        shared = common | {
            "n_dropped": self.sample.n_dropped,
            "unit": design.unit,
            "path": answer.path,
            "design": self.sample.words(next(filter(None, answer.remarks), "")),
        }
        asked = self._asked(slices, n_cells)
        few = [few_units(int(n_units), design.unit) for n_units in answer.n_units]
        accelerations = answer.acceleration
        always = (*self.sample.remarks, *design.remarks)
        said = answer.remarks or ("",) * n_values
        apart = answer.apart or ("",) * n_values

        def fields(value: int, cell: int) -> dict[str, Any]:
            found: dict[str, Any] = {
                "statistic": self.statistics[value],
                "asked": asked[value][cell],
                "estimate": float(answer.estimates[value, cell]),
                "acceleration": None,
                "spread_apart": apart[value],
                "n_successes": None,
                "rounding": float(answer.rounding[value, cell]),
                "n_rows": int(answer.n_rows[cell]),
                "n_units": int(answer.n_units[cell]),
                "remarks": (
                    *few[cell],
                    *self.remarks[value],
                    *always,
                    *filter(None, said[value : value + 1]),
                ),
            }
            if accelerations is not None:
                found["acceleration"] = float(accelerations[value, cell])
            if answer.components is not None:
                found["variance_components"] = answer.components[value]
            if answer.n_differing is not None:
                found["n_differing"] = int(answer.n_differing[cell])
            if answer.replicate_errors is not None:
                found["replicate_standard_errors"] = answer.replicate_errors[value, cell]
            if answer.errors is not None:
                cr0, cr1, degrees_of_freedom = answer.errors
                found["analytic_errors"] = ClusterErrors(
                    float(cr0[value, cell]),
                    float(cr1[value, cell]),
                    found["n_units"],
                    int(degrees_of_freedom[cell]),
                )
            if answer.proportions is not None and answer.proportions[value]:
                found["n_successes"] = round(found["estimate"] * found["n_rows"])
            return found | {name: values[value, cell].item() for name, values in own.items()}

        replicates = answer.replicates.reshape(n_values * n_cells, n_resamples)
        replicates.flags.writeable = False
        if answer.replicate_errors is not None:
            answer.replicate_errors.flags.writeable = False
        if not self.axes and slices is None:
            return self.kind(**shared, **fields(0, 0), replicates=replicates[0])
        rows = [fields(value, cell) for value in range(n_values) for cell in range(n_cells)]
        parts = [
            (*key, *_slice_parts(slices, cell, len(design.by)))
            for key in self.keys
            for cell in range(n_cells)
        ]
        return Table(
            axes=self.axes if slices is None else (*self.axes, *_slice_axes(design.by)),
            replicates=replicates,
            total=total,
            elapsed=common["elapsed"],
            _keys=tuple(part[0] if len(part) == 1 else part for part in parts),
            _kind=self.kind,
            _common=shared,
            _own={name: [row[name] for row in rows] for name in rows[0]},
        )

    def _asked(
        self, slices: tuple[Any, ...] | None, n_cells: int
    ) -> list[list[tuple[tuple[str, str], ...]]]:
        """Return what was asked for, for each value and cell."""
        options = self.sample.options
        if slices is None:
            options.pop("by", None)
        shown = [()] * n_cells if slices is None else [(("slice", _shown(key)),) for key in slices]
        return [[(*call, *options.items(), *slice_) for slice_ in shown] for call in self.calls]


def _slice_axes(by: Sequence[Source]) -> tuple[str, ...]:
    """Return what the parts of a slice's key are called: the column, "by" where it has no name."""
    axes = ["statistic", "label"]  # taken
    for source in by:
        axis = source if isinstance(source, str) else "by"
        while axis in axes:
            axis = f"by_{axis}"
        axes.append(axis)
    return tuple(axes[2:])


def _slice_parts(slices: tuple[Any, ...] | None, cell: int, n_columns: int) -> tuple[Any, ...]:
    if slices is None:
        return ()
    return slices[cell] if n_columns > 1 else (slices[cell],)
