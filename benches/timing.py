"""Medians of CPU time. asv times seconds of a call; these figures are per unit per resample."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# An odd number of runs, so that the median is one of them.
N_RUNS = 5


def seconds(call: Callable[[], object], timer: Callable[[], float] = time.process_time) -> float:
    """Median of several runs, after one that compiles and warms the caches."""
    call()
    return statistics.median(_once(call, timer) for _ in range(N_RUNS))


def seconds_of_both(
    first: Callable[[], object],
    second: Callable[[], object],
    timer: Callable[[], float] = time.process_time,
) -> tuple[float, float]:
    """Medians of two calls that take turns: what disturbs one disturbs the other."""
    first()
    second()
    runs = [(_once(first, timer), _once(second, timer)) for _ in range(N_RUNS)]
    one, other = map(statistics.median, zip(*runs, strict=True))
    return one, other


def _once(call: Callable[[], object], timer: Callable[[], float]) -> float:
    started = timer()
    call()
    return timer() - started
