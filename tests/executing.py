"""What is asked of executors and checkpoints in tests; workers import functions from here."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scanning import table

import fastboot as fb

SEED = 20_261
OPTIONS: dict[str, Any] = {"rng": SEED, "n_resamples": 40}

Floats = NDArray[np.float64]


@cache
def few_rows() -> pa.Table:
    """Return a table of 3,000 rows, for what is slow."""
    few = table().slice(0, 3_000)
    return few.append_column("team", pa.array(np.arange(3_000) % 7))


class Case(NamedTuple):
    """What is asked.

    procedure, statistics, options : of the call
    path : that must run
    few : of few rows
    """

    procedure: Callable[..., Any]
    statistics: tuple[Any, ...]
    options: dict[str, Any]
    path: str
    few: bool = False

    @property
    def data(self) -> pa.Table:
        """The table in memory."""
        return few_rows() if self.few else table()

    def __call__(self, data: Any = None, **options: Any) -> Any:
        """Ask."""
        own = OPTIONS | self.options | options
        return self.procedure(*self.statistics, data=self.data if data is None else data, **own)


def case(procedure: Any, path: str, *statistics: Any, few: bool = False, **options: Any) -> Case:
    """Return a case."""
    return Case(procedure, statistics, options, path, few)


single = partial(case, fb.bootstrap)
paired = partial(case, fb.paired_bootstrap)
swapped = partial(case, fb.approximate_randomization)


def macro_f(column: str) -> fb.Additive:
    """Macro-averaged F1: tallies."""
    return fb.f_score("gold", column, average="macro")


def bleu(system: str) -> fb.Additive:
    """BLEU of the counts of a system: nine terms."""
    return fb.bleu(
        correct=[f"{system}_correct_{order}" for order in range(1, 5)],
        total=[f"{system}_total_{order}" for order in range(1, 5)],
    )


# Functions and statistics that workers import.


def spread(values: Floats) -> float:
    """Return the distance between two quantiles."""
    low, high = np.quantile(values, [0.1, 0.9])
    return float(high - low)


def means(values: Floats, axis: int) -> Any:
    """Return the means of several resamples."""
    return values.mean(axis=axis)


def quotient(first: Any, second: Any) -> Any:
    """Return the quotient of two values."""
    return first / second


class Counted:
    """A mean that leaves a file in a folder for every call, and takes its time.

    Parameters
    ----------
    folder
        Where.
    seconds
        How long a call takes.
    """

    __name__ = "counted"

    def __init__(self, folder: Path, seconds: float = 0.0) -> None:
        self.folder = folder
        self.seconds = seconds

    def __call__(self, values: Floats) -> float:
        """Return the mean."""
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(self.seconds)
        return float(values.mean())

    @property
    def n_calls(self) -> int:
        """How many there were."""
        return len(list(self.folder.iterdir()))


class Fragile(fb.Additive):
    """A mean whose terms kill the process that computes them, once, and not the one that asks.

    Parameters
    ----------
    folder
        Where calls are counted, one file each.
    last
        Number of the call that kills; later ones do not.
    """

    def __init__(self, column: str, folder: Path, last: int) -> None:
        super().__init__(column)
        self._folder = folder
        self._last = last
        self._asks = os.getpid()

    def terms(self, values: Floats) -> Any:
        """Return the values, or never."""
        if os.getpid() != self._asks:
            number = len(list(self._folder.iterdir())) + 1
            (self._folder / f"{number} in {os.getpid()}").touch()
            if number == self._last:
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
                time.sleep(60)
        return values, 1.0

    def finish(self, total: Any, count: Any) -> Any:
        """Return the mean."""
        return total / count
