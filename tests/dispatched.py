"""Tasks that the tests send to workers, which import them from here."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastboot import dispatch


@dataclass(frozen=True)
class Square:
    """The square of a number, after a while."""

    number: int
    seconds: float = 0.0

    @property
    def shown(self) -> str:
        """What messages call it."""
        return f"number {self.number}"

    def __call__(self) -> int:
        """Return the square."""
        time.sleep(self.seconds)
        return self.number**2


@dataclass(frozen=True)
class Failing:
    """Raises, after a while, what only its own module defines."""

    number: int
    seconds: float = 0.0

    @property
    def shown(self) -> str:
        """What messages call it."""
        return f"number {self.number}"

    def __call__(self) -> None:
        """Raise an error with a note."""
        time.sleep(self.seconds)
        error = OddError(self.number)
        error.add_note("a note of its own")
        raise error


class OddError(Exception):
    """An error that no library knows."""


@dataclass(frozen=True)
class Calling:
    """Calls what it holds; `parts` is where it may hold what cannot travel."""

    function: Callable[..., Any]
    parts: Any = ()

    def __call__(self) -> Any:
        """Return what the function returns."""
        return self.function()


@dataclass(frozen=True)
class Dying:
    """Kills the process that it runs in: always, or once, where it can leave a mark."""

    mark: Path | None = None

    def __call__(self) -> str:
        """Return, in the second life."""
        if self.mark is None or not self.mark.exists():
            if self.mark is not None:
                self.mark.touch()
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # as if out of memory
            time.sleep(60)
        return "alive"


def told_to_stop() -> bool:
    """Whether a task believes that its run is over."""
    return dispatch.stopped()
