"""Checks of the arguments that all procedures share; each refuses by name, before any work."""

from __future__ import annotations

import operator
import secrets
from typing import Any

import numpy as np

from fastboot import engine
from fastboot.intervals import check_level, check_method
from fastboot.paths import Run
from fastboot.progress import Bar
from fastboot.pvalues import check_alternative

__all__ = ["Rng", "answer_options", "check_flag", "check_run"]

Rng = int | np.random.Generator | np.random.SeedSequence | None

# The counter of a replicate has 32 bits.
_MOST_RESAMPLES = 2**32
# A fresh seed is short enough to copy, exact as a JSON number (2**53), and long enough that a
# million runs share one with probability 0.002.
_SEED_BITS = 48


def check_run(
    n_resamples: Any,
    rng: Any,
    path: Any,
    paths: tuple[str, ...],
    n_threads: Any,
    progress: Any,
) -> Run:
    """Return how to run, or raise TypeError or ValueError naming the argument."""
    if path is not None and path not in paths:
        raise ValueError(f"`path` is {path!r}; choose one of {', '.join(paths)}, or None")
    return Run(
        n_resamples=_whole("n_resamples", n_resamples, _MOST_RESAMPLES),
        seed=_seed(rng),
        path=path,
        n_threads=(
            engine.default_threads()
            if n_threads is None
            else _whole("n_threads", n_threads, engine.MOST_THREADS)
        ),
        progress=_progress(progress),
    )


def _whole(argument: str, value: Any, most: int) -> int:
    if not _is_whole(value):
        raise TypeError(f"`{argument}` is {value!r}; it must be a whole number")
    number = operator.index(value)
    if not 1 <= number <= most:
        raise ValueError(f"`{argument}` is {number:,}; it must lie between 1 and {most:,}")
    return number


def check_flag(argument: str, value: Any) -> bool:
    """Return a flag, or raise TypeError naming the argument."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{argument}` is {value!r}; it must be True or False")
    return bool(value)


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool | np.bool_ | np.ndarray)


def _seed(rng: Any) -> int:
    """Return a number that reproduces the run: the seed given, or one drawn from what is given."""
    if rng is None:
        return secrets.randbits(_SEED_BITS)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(1 << _SEED_BITS))
    if isinstance(rng, np.random.SeedSequence):
        return int(rng.generate_state(1, np.uint64)[0]) >> (64 - _SEED_BITS)
    if not _is_whole(rng):
        raise TypeError(
            f"`rng` is {rng!r}; give a whole number (a seed), a numpy Generator or SeedSequence, "
            "or None"
        )
    seed = operator.index(rng)
    if seed < 0:
        raise ValueError(f"`rng` is {seed}; a seed must be 0 or more")
    return seed


def _progress(progress: Any) -> engine.Progress | None:
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar()
    if not callable(progress):
        raise TypeError(
            f"`progress` is {progress!r}; give True for a bar, or a function of (done, total)"
        )
    return progress  # type: ignore[no-any-return] # any callable is taken at its word


def answer_options(confidence_level: Any, method: Any, alternative: Any) -> dict[str, Any]:
    """Return the fields of a result that say how to read it, checked."""
    return {
        "confidence_level": check_level(confidence_level),
        "method": check_method(method),
        "alternative": check_alternative(alternative),
    }
