"""Replicates that need not be computed again: of a checkpoint, or of a shorter run.

A replicate depends on its number, not on how many there are, so a run goes on where another ended.
A checkpoint belongs to the data, statistics, design, seed and version that `facts_of` names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastboot.checkpoints import Checkpoint, Digest
from fastboot.columns import Keys, Labels
from fastboot.designs import Design
from fastboot.paths import Replicates, Run
from fastboot.sample import Sample
from fastboot.statistics.estimand import Question
from fastboot.units import Layout, Units

__all__ = [
    "Keeping",
    "KnownReplicates",
    "StoredReplicates",
    "check_checkpoint",
    "extender",
    "facts_of",
    "kept",
]

Floats = NDArray[np.float64]

# Replicates whose time is measured first, and seconds between two stores from then on: what a kill
# can cost, against 20 ms for a store.
_FIRST = 64
_SECONDS = 30.0


class Keeping(Protocol):
    """Where replicates are kept."""

    def opened(self, facts: Callable[[], Mapping[str, str]], name: str) -> Any:
        """Return what has finished(), missing(n) and store(replicates, values)."""


@dataclass(frozen=True)
class StoredReplicates:
    """Replicates in a directory; several sets of them, in directories inside.

    Attributes
    ----------
    path
        The directory.
    procedure
        Whose replicates they are.
    several
        Whether there are several sets.
    """

    path: str
    procedure: str
    several: bool

    def opened(self, facts: Callable[[], Mapping[str, str]], name: str) -> Checkpoint:
        """Open a set."""
        directory = Path(self.path) / name if self.several else Path(self.path)
        return Checkpoint(directory, {"procedure": self.procedure, **facts()})


@dataclass(frozen=True, eq=False)
class KnownReplicates:
    """Replicates of a shorter run, shape (n_values, n_cells, n_replicates)."""

    values: Floats

    def opened(self, _: Callable[[], Mapping[str, str]], __: str) -> KnownReplicates:
        """Return these."""
        return self

    def finished(self) -> list[tuple[range, Floats]]:
        """Return them with their numbers."""
        return [(range(self.values.shape[2]), self.values)]

    def missing(self, n_resamples: int) -> list[range]:
        """Return what is left to do."""
        n_known = self.values.shape[2]
        return [range(n_known, n_resamples)] if n_known < n_resamples else []

    def store(self, replicates: range, values: Floats) -> None:
        """Leave the rest to the result."""


def check_checkpoint(checkpoint: Any, procedure: str, design: Design) -> Keeping | None:
    """Return where replicates are kept, or raise TypeError or ValueError naming `checkpoint`.

    Parameters
    ----------
    checkpoint
        A path, replicates that are known, or None.
    procedure
        Whose replicates they are.
    design
        How they are resampled.
    """
    if checkpoint is None or isinstance(checkpoint, KnownReplicates):
        return checkpoint
    if not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"`checkpoint` is {checkpoint!r}; give the path of a directory, or None")
    if design.levels == "crossed":
        raise ValueError(
            '`checkpoint` and levels="crossed", which takes three runs at once, do not go '
            "together; leave one out"
        )
    return StoredReplicates(os.fsdecode(checkpoint), procedure, several=bool(design.by))


def extender(
    procedure: Callable[..., Any], call: Mapping[str, Any]
) -> Callable[[int, int, Floats | None], Any]:
    """Return how to run a procedure again for more replicates.

    Parameters
    ----------
    procedure, call
        What was called with which arguments.

    Returns
    -------
    Callable
        From a number of resamples, the seed and the replicates so far, of shape (n_values, n_cells,
        n_replicates) or None to compute them again, to a result.
    """
    arguments = dict(call)

    def again(n_resamples: int, seed: int, known: Floats | None) -> Any:
        asked = arguments | {"n_resamples": n_resamples, "rng": seed}
        if known is not None and asked["checkpoint"] is None:
            asked["checkpoint"] = KnownReplicates(known)
        return procedure(**asked)

    return again


def kept(
    draw: Callable[[Run], Replicates],
    run: Run,
    facts: Callable[[], Mapping[str, str]],
    name: str = "total",
) -> Replicates:
    """Return the replicates of a run, computing those that are not kept.

    Parameters
    ----------
    draw
        Computes the replicates of a run.
    run
        All replicates.
    facts
        What decides them.
    name
        Of this set, among those of one call.

    Raises
    ------
    ValueError
        The checkpoint belongs to another run.
    """
    if run.keeping is None:
        return draw(run)
    store = run.keeping.opened(facts, name)
    ranges = store.missing(run.n_resamples)
    pieces = store.finished()
    path, step, done = "", _FIRST, run.n_resamples - sum(map(len, ranges))
    for missing in ranges:
        start = missing.start
        while start < missing.stop:
            part = range(start, min(start + step, missing.stop))
            began = time.perf_counter()
            found = draw(run._replace(part=part, progress=_shifted(run, done)))
            if found.path == "enumeration":  # all there are, whatever was asked for
                return found
            store.store(part, found.values)
            pieces.append((part, found.values))
            seconds = time.perf_counter() - began
            path, start, done = found.path, part.stop, done + len(part)
            step = max(_FIRST, int(len(part) * _SECONDS / max(seconds, 1e-9)))
    if not path:
        path = draw(run._replace(part=range(1), progress=None)).path
    pieces.sort(key=lambda piece: piece[0].start)
    values = np.concatenate([values for _, values in pieces], axis=2)
    return Replicates(values[:, :, : run.n_resamples].copy(), path)


def _shifted(run: Run, done: int) -> Callable[[int, int], object] | None:
    """Report the progress of a part as that of the whole."""
    progress = run.progress
    return None if progress is None else lambda more, _: progress(done + more, run.n_resamples)


def facts_of(
    questions: Sequence[Question], sample: Sample, units: Units | None, layout: Layout, run: Run
) -> dict[str, str]:
    """Return what decides the replicates of a sample, by name.

    Parameters
    ----------
    questions, sample, units, layout, run
        As they are resampled.
    """
    calls = [one.call for question in questions for one in question.statistics]
    return {
        "statistics": "; ".join(calls),
        **sample.options,
        "seed": str(run.seed),
        "path": str(run.path),
        "n_rows": str(sample.n_rows),
        "n_units": str(layout.n_units),
        "data": _digest(questions, sample, units, layout),
    }


def _digest(
    questions: Sequence[Question], sample: Sample, units: Units | None, layout: Layout
) -> str:
    """Tell the data from others: the units' terms, and columns whose rows have weights."""
    digest = Digest()
    given: list[Any] = [] if sample.digest is None else [sample.digest]
    if units is not None:
        given += [units.varying, *units.entries]
        given += [] if units.counts is None else [units.counts]
    weighted = [one for question in questions for one in question.bounds if not one.terms]
    if weighted:
        given += [layout.unit_of_row, sample.factors]
        given += [column for one in weighted for column in one.columns]
    for one in given:
        for array in _arrays(one):
            digest.update(array)
    return digest.hexdigest()


def _arrays(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, Labels):
        return [value.codes, np.frombuffer(repr(value.values).encode(), np.uint8)]
    return [value.codes] if isinstance(value, Keys) else [value]
