"""Checks of the arguments that all procedures share; each refuses by name, before any work."""

from __future__ import annotations

import operator
import secrets
from typing import Any

import numpy as np

from fastboot import engine
from fastboot.columns import Source, names
from fastboot.designs import BLOCKS, LEVELS, SCHEMES, Design
from fastboot.dispatch import check_executor
from fastboot.intervals import check_level, check_method
from fastboot.paths import Run
from fastboot.progress import Bar
from fastboot.pvalues import check_alternative
from fastboot.rendering import count
from fastboot.sources.filters import in_words

__all__ = ["Rng", "answer_options", "check_design", "check_flag", "check_rng", "check_run"]

Rng = int | np.random.Generator | np.random.SeedSequence | None

# The counter of a replicate has 32 bits.
_MOST_RESAMPLES = 2**32
# A word of its own for each draw: the counter of words has 32 bits.
_MOST_DRAWN = 2**32
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
    executor: Any = None,
    *,
    fewest: int = 1,
) -> Run:
    """Return how to run, or raise TypeError or ValueError naming the argument.

    fewest : resamples, 0 where there may be none
    """
    if path is not None and path not in paths:
        raise ValueError(f"`path` is {path!r}; choose one of {', '.join(paths)}, or None")
    return Run(
        n_resamples=_whole("n_resamples", n_resamples, _MOST_RESAMPLES, fewest),
        seed=check_rng(rng),
        path=path,
        n_threads=(
            engine.default_threads()
            if n_threads is None
            else _whole("n_threads", n_threads, engine.MOST_THREADS)
        ),
        progress=_progress(progress),
        executor=check_executor(executor),
    )


def _whole(argument: str, value: Any, most: int, least: int = 1) -> int:
    if not _is_whole(value):
        raise TypeError(f"`{argument}` is {value!r}; it must be a whole number")
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"`{argument}` is {number:,}; it must lie between {least} and {most:,}")
    return number


def check_flag(argument: str, value: Any) -> bool:
    """Return a flag, or raise TypeError naming the argument."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{argument}` is {value!r}; it must be True or False")
    return bool(value)


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool | np.bool_ | np.ndarray)


def check_rng(rng: Any) -> int:
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


def check_design(
    data: object,
    *,
    where: Any = None,
    groups: Any = None,
    levels: Any = None,
    strata: Any = None,
    by: Any = None,
    scheme: Any = "multinomial",
    n_drawn: Any = None,
    block_length: Any = None,
    path: Any = None,
) -> Design:
    """Return the design, or raise TypeError or ValueError naming the argument.

    Parameters
    ----------
    data
        The table, for the names of its columns.
    where
        Rows that count, for the words of the design.
    groups, levels, strata, by, scheme, n_drawn, block_length, path
        As in :func:`fastboot.bootstrap`.
    """
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"`scheme` is {scheme!r}; choose one of {', '.join(SCHEMES)}")
    if levels is not None and not (isinstance(levels, str) and levels in LEVELS):
        raise ValueError(f"`levels` is {levels!r}; choose one of {', '.join(LEVELS)}, or None")
    columns = _group_columns(groups, levels, data)
    design = Design(
        groups=columns,
        levels=levels,
        strata=_several(strata, data),
        by=_several(by, data),
        scheme=scheme,
        n_drawn=_check_drawn(n_drawn),
        block_length=_check_length(block_length, scheme),
        where=in_words(where),
    )
    _check_combination(design)
    if path is not None and not design.plain:
        raise ValueError(
            f"`path` is {path!r}; only plain resampling with replacement has several, leave it None"
        )
    return design


def _group_columns(groups: Any, levels: str | None, data: object) -> tuple[Source, ...]:
    if groups is None:
        if levels is not None:
            raise TypeError(f"`levels` is {levels!r} but `groups` is None; name the groups")
        return ()
    several = _several(groups, data)
    if levels is None:
        if len(several) > 1:
            raise TypeError(
                f"`groups` names {len(several)} columns but `levels` is None; name one, or choose "
                f"levels={' or '.join(map(repr, LEVELS))}"
            )
        return several
    # A longer list may hold the groups of all rows.
    columns = tuple(groups) if isinstance(groups, list | tuple) and len(groups) <= 2 else several
    wanted = (2,) if levels == "crossed" else (1, 2)
    if len(columns) not in wanted:
        numbers = "two columns" if levels == "crossed" else "one column (and rows inside), or two"
        raise TypeError(
            f"`groups` names {count(len(columns), 'column')}; levels={levels!r} takes {numbers}, "
            'such as ["user", "conversation"]'
        )
    return columns


def _several(value: Any, data: object) -> tuple[Source, ...]:
    """Return the columns of an argument that is one column or a list of several.

    A list of strings holds names where all are columns of `data`, or one is and none comes twice:
    the others are misspelt.
    """
    if value is None:
        return ()
    if isinstance(value, list | tuple) and value:
        if all(isinstance(one, str) for one in value):
            known = set() if data is None else set(names(data)).intersection(value)
            if known and (known == set(value) or len(set(value)) == len(value)):
                return tuple(value)
        elif all(hasattr(one, "__len__") and not isinstance(one, bytes) for one in value):
            return tuple(value)
    return (value,)


def _check_drawn(n_drawn: Any) -> int | None:
    if n_drawn is None:
        return None
    whole = isinstance(n_drawn, int | np.integer) and not isinstance(n_drawn, bool)
    if not whole or not 1 <= n_drawn <= _MOST_DRAWN:
        raise ValueError(
            f"`n_drawn` is {n_drawn!r}; it must be a whole number from 1 to {_MOST_DRAWN:,}, or "
            "None"
        )
    return int(n_drawn)


def _check_length(block_length: Any, scheme: str) -> float | None:
    if scheme not in BLOCKS:
        if block_length is not None:
            raise ValueError(
                f"`block_length` is {block_length!r} but scheme={scheme!r} has no blocks; choose "
                f"one of {', '.join(BLOCKS)}"
            )
        return None
    if block_length is None:
        return None
    if (
        isinstance(block_length, bool)
        or not isinstance(block_length, int | float | np.integer | np.floating)
        or not 1 <= block_length < float("inf")
    ):
        raise ValueError(
            f"`block_length` is {block_length!r}; it must be a number of rows, 1 or more, or None "
            "to choose it from the data"
        )
    if scheme != "stationary" and block_length != int(block_length):
        raise ValueError(
            f"`block_length` is {block_length!r}; blocks of scheme={scheme!r} are whole rows"
        )
    return float(block_length)


def _check_combination(design: Design) -> None:
    """Refuse what does not go together."""
    together = [
        (design.levels is not None and design.scheme != "multinomial",
         f"`levels` and scheme={design.scheme!r}"),
        (design.scheme in BLOCKS and bool(design.groups),
         f"`groups` and scheme={design.scheme!r}: blocks are of rows, in the order given"),
        (design.n_drawn is not None and design.scheme != "multinomial",
         f"`n_drawn` and scheme={design.scheme!r}"),
        (design.n_drawn is not None and bool(design.strata),
         "`n_drawn` and `strata`, which keep their numbers of units"),
        (design.n_drawn is not None and bool(design.by),
         "`n_drawn` and `by`, whose slices differ in size"),
        (design.n_drawn is not None and design.levels is not None, "`n_drawn` and `levels`"),
        (design.levels == "crossed" and bool(design.strata or design.by),
         '`strata` or `by` and levels="crossed"'),
    ]  # fmt: skip
    for wrong, what in together:
        if wrong:
            raise ValueError(f"{what}: these do not go together; leave one out")
