"""Replicates that need not be computed again: of a checkpoint, or of a shorter run.

A replicate depends on its number, not on how many there are, so a run goes on where another ended.
One call may have several sets of them: of all rows and of slices, of both crossed factors and of
each. What is known belongs to the data, statistics, design, seed and version that `facts_of` names.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastboot.checkpoints import Checkpoint, Digest, check_path
from fastboot.columns import Keys, Labels
from fastboot.designs import Arrangement, Design
from fastboot.engine import Progress
from fastboot.paths import Replicates, Run
from fastboot.pieces import Piece, part_of, with_checked, without
from fastboot.progress import tell_read
from fastboot.sample import Sample
from fastboot.statistics.estimand import Question
from fastboot.units import Units

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
Facts = Callable[[], Mapping[str, str]]

# Replicates whose time is measured first, and seconds between two stores from then on: what a kill
# can cost, against 20 ms for a store.
_FIRST = 64
_SECONDS = 30.0
# A part that reads files may take longer for that alone. Parts grow as long as this makes a
# replicate a tenth quicker: reading is then a ninth of a part at the most.
_WORTH = 0.9
# Of the largest of some replicates, how far they may be off where another processor summed in
# another order. Estimates are compared to 12 digits; a difference of two like ones loses three.
_NEAR = 1e-9
# Estimates in words; of more a digest. Their last digits may depend on the processor.
_LISTED = 12


class Keeping(Protocol):
    """Where replicates are kept."""

    @property
    def first(self) -> int | None:
        """Replicates of the first part of a run; None for all at once."""

    def opened(self, name: str, estimates: Floats, facts: Facts) -> Any:
        """Return a set: what is finished and missing in it, how to store, and what must agree.

        Parameters
        ----------
        name
            Of the set.
        estimates
            Observed values, shape (n_values, n_cells).
        facts
            What decides the replicates.

        Raises
        ------
        ValueError
            It belongs to another run.
        """


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
    first: int = _FIRST

    def opened(self, name: str, estimates: Floats, facts: Facts) -> _Stored:
        """Open a set."""
        directory = Path(self.path) / name if self.several else Path(self.path)
        identity = {
            "procedure": self.procedure,
            "version": vars(sys.modules["fastboot"])["__version__"],
            **facts(),
            # A function can change, and its name remain.
            "estimates": _words(estimates),
        }
        return _Stored(directory, identity)


@dataclass(frozen=True, eq=False)
class KnownReplicates:
    """Replicates of a shorter run.

    Attributes
    ----------
    sets
        By name the estimates, shape (n_values, n_cells), and the replicates, shape (n_values,
        n_cells, n_replicates).
    """

    sets: Mapping[str, tuple[Floats, Floats]]
    first: None = None

    def opened(self, name: str, estimates: Floats, _: Facts) -> _Longer:
        """Return the set that goes on."""
        if name not in self.sets:
            return _Longer(None)
        before, known = self.sets[name]
        same = (before == estimates) | (np.isnan(before) & np.isnan(estimates))
        if not same.all():
            place = tuple(np.argwhere(~same)[0])
            raise ValueError(
                f"`data` has changed: the estimate was {before[place]} and is {estimates[place]}; "
                "call the procedure again"
            )
        return _Longer(known)


class _Longer:
    """A set of known replicates."""

    def __init__(self, known: Floats | None) -> None:
        self._known = known
        self._n = 0 if known is None else known.shape[2]

    contradiction = (
        "`data` has changed, or its order: the same resamples have other values; call the "
        "procedure again"
    )

    def finished(self) -> list[Piece]:
        """Return what is known."""
        return [] if self._known is None else [(range(self._n), self._known)]

    def missing(self, n_resamples: int) -> list[range]:
        """Return what is to do."""
        return [range(self._n, n_resamples)] if self._n < n_resamples else []

    def store(self, replicates: range, values: Floats) -> None:
        """Do nothing: the result keeps them all."""

    def agree(self, known: Floats, again: Floats) -> bool:
        """Tell whether replicates are what they were, to the last bit."""
        return np.array_equal(known, again, equal_nan=True)


class _Stored(Checkpoint):
    """A set of replicates in a directory."""

    @property
    def contradiction(self) -> str:
        """Why what is stored does not belong to this run, in words."""
        return (
            f"{self} belongs to another run: the same resamples have other values there, so the "
            "data, their order or a function is another one. Give another directory, or delete "
            "this one"
        )

    def agree(self, known: Floats, again: Floats) -> bool:
        """Tell whether replicates are what they were, but for the rounding of other processors."""
        largest = np.abs(known, where=np.isfinite(known), out=np.zeros_like(known)).max(initial=0.0)
        with np.errstate(invalid="ignore"):  # of infinities
            near = np.abs(known - again) <= _NEAR * largest
        return bool(np.all(near | (known == again) | (np.isnan(known) & np.isnan(again))))


def check_checkpoint(
    checkpoint: Any, procedure: str, design: Design, *, randomized: bool = False
) -> Keeping | None:
    """Return where replicates are kept, or raise TypeError naming `checkpoint`.

    Parameters
    ----------
    checkpoint
        A path, replicates that are known, or None.
    procedure
        Whose replicates they are.
    design
        How they are resampled.
    randomized
        Whether there are replicates of a randomization beside those of the bootstrap.
    """
    if checkpoint is None or isinstance(checkpoint, KnownReplicates):
        return checkpoint
    if not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"`checkpoint` is {checkpoint!r}; give the path of a directory, or None")
    check_path(checkpoint)
    several = randomized or bool(design.by) or design.levels == "crossed"
    return StoredReplicates(os.fsdecode(checkpoint), procedure, several)


def extender(
    procedure: Callable[..., Any], call: Mapping[str, Any]
) -> Callable[[int, int, Mapping[str, tuple[Floats, Floats]], object], Any]:
    """Return how to run a procedure again for more replicates.

    Parameters
    ----------
    procedure, call
        What was called with which arguments.

    Returns
    -------
    Callable
        From a number of resamples, the seed, the replicates so far, see `KnownReplicates`, and an
        executor, or None for that of the call, to a result.
    """
    arguments = dict(call)
    if isinstance(arguments["checkpoint"], KnownReplicates):  # of the run before
        arguments["checkpoint"] = None

    def again(
        n_resamples: int, seed: int, known: Mapping[str, tuple[Floats, Floats]], executor: object
    ) -> Any:
        data = arguments["data"]
        if isinstance(data, Iterator):
            raise TypeError(
                f"`data` is a {type(data).__name__}, a stream that has been read; to extend a "
                "result, call the procedure with what can be read again: a table, a file, or a "
                "function that opens the stream"
            )
        asked = arguments | {"n_resamples": n_resamples, "rng": seed}
        if asked["checkpoint"] is None:
            asked["checkpoint"] = KnownReplicates(known)
        if executor is not None:
            asked["executor"] = executor
        return procedure(**asked)

    return again


def kept(
    draw: Callable[[Run], Replicates],
    run: Run,
    facts: Facts,
    estimates: Floats,
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
    estimates
        Observed values, shape (n_values, n_cells).
    name
        Of this set, among those of one call.

    Raises
    ------
    ValueError
        What is kept belongs to another run.
    """
    if run.keeping is None:
        return draw(run)
    store = run.keeping.opened(name, estimates, facts)
    n = run.n_resamples
    known = [part_of(piece, range(n)) for piece in store.finished() if piece[0].start < n]
    pieces, ranges, twice = with_checked(known, store.missing(n), n)
    done = n - sum(map(len, ranges))
    if done and run.progress is not None:
        run.progress(done, n)
    path, step, rate = "", run.keeping.first or n, np.inf
    for missing in ranges:
        start = missing.start
        while start < missing.stop:
            new = twice[0].stop if start in twice[0] else start
            part = range(start, min(new + step, missing.stop))
            began = time.perf_counter()
            found = draw(run._replace(part=part, progress=_shifted(run, done)))
            if found.path == "enumeration":  # all there are, whatever was asked for
                return found
            drawn = part, found.values
            common, again = part_of(drawn, twice[0])
            if common and not store.agree(part_of(twice, common)[1], again):
                raise ValueError(store.contradiction)
            for own in without(part, twice[0]):
                store.store(own, part_of(drawn, own)[1])
            pieces.append(drawn)
            step, rate = _next(len(part), step, time.perf_counter() - began, rate)
            path, start, done = found.path, part.stop, done + len(part)
    pieces.sort(key=lambda piece: piece[0].start)
    values = np.concatenate([values for _, values in pieces], axis=2)
    return Replicates(values, path)


def _next(n_done: int, step: int, seconds: float, before: float) -> tuple[int, float]:
    """Return the replicates of the next part, and seconds that a replicate took.

    Parameters
    ----------
    n_done, seconds
        Replicates of the part before, and how long it took.
    step
        How many they could have been.
    before
        Seconds that a replicate took in the part before that.
    """
    rate = max(seconds, 1e-9) / n_done
    if n_done < step:  # the last of a gap says little
        return step, before
    if seconds < _SECONDS:
        return max(step, int(_SECONDS / rate)), rate
    return (2 * step if rate < _WORTH * before else step), rate


@dataclass(frozen=True)
class _Shifted:
    """Reports the progress of a part as that of the whole.

    Attributes
    ----------
    progress
        Of the whole.
    done, total
        Replicates before the part, and all.
    """

    progress: Progress
    done: int
    total: int

    def __call__(self, more: int, _: int) -> None:
        self.progress(self.done + more, self.total)

    def read(self, n_bytes: int) -> None:
        tell_read(self.progress, n_bytes)


def _shifted(run: Run, done: int) -> _Shifted | None:
    return None if run.progress is None else _Shifted(run.progress, done, run.n_resamples)


def facts_of(
    questions: Sequence[Question],
    sample: Sample,
    units: Units | None,
    arrangement: Arrangement,
    run: Run,
    *,
    errors: bool = False,
) -> dict[str, str]:
    """Return what decides the replicates of a sample, by name.

    Data that are read block by block have another digest than the same table in memory: a
    checkpoint of one is refused to the other.

    Parameters
    ----------
    questions, sample, units, arrangement, run
        As they are resampled.
    errors
        Replicates have standard errors beside their values.
    """
    calls = [one.call for question in questions for one in question.statistics]
    return {
        "statistics": "; ".join(calls),
        **sample.options,
        "seed": str(run.seed),
        "path": str(run.path),
        "replicates": "values and standard errors" if errors else "values",
        "n_rows": str(sample.n_rows),
        "n_units": str(arrangement.layout.n_units),
        "rows": "in memory" if sample.digest is None else "read block by block",
        "data": _digest(questions, sample, units, arrangement),
    }


def _digest(
    questions: Sequence[Question], sample: Sample, units: Units | None, arrangement: Arrangement
) -> str:
    """Tell the data from others: units' terms, who draws them, and columns of row weights."""
    layouts = [arrangement.layout, arrangement.whole]
    given: list[Any] = [sample.digest]
    given += [array for one in layouts for array in (one.unit_of_row, one.offsets)]
    given += [arrangement.layout.cell_of_part, *(codes for codes, _ in arrangement.factors)]
    if units is not None:
        given += [units.varying, *units.entries]
    weighted = [one for question in questions for one in question.bounds if not one.terms]
    if weighted:
        given += [sample.factors, *(column for one in weighted for column in one.columns)]
    digest = Digest()
    for one in given:
        for array in _arrays(one):
            digest.update(array)
    return digest.hexdigest()


def _arrays(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, Labels):
        return [value.codes, _characters(repr(value.values))]
    return [value.codes] if isinstance(value, Keys) else [value]


def _words(estimates: Floats) -> str:
    listed = [f"{estimate:.12g}" for estimate in estimates.ravel()]
    if len(listed) <= _LISTED:
        return ", ".join(listed)
    digest = Digest()
    digest.update(_characters(" ".join(listed)))
    return f"{len(listed):,} values, {digest.hexdigest()}"


def _characters(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)
