"""A progress bar in plain characters."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["Bar"]


class Bar:
    """A progress bar in plain characters, rewritten in place on one line.

    Parameters
    ----------
    stream
        Where to write; standard error by default.
    noun
        What is counted.
    """

    _WIDTH = 40
    _EVERY = 0.1  # seconds between redraws

    def __init__(self, stream: TextIO | None = None, noun: str = "resamples") -> None:
        self._stream = stream or sys.stderr
        self._noun = noun
        self._next = 0.0
        self._start = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar, and end its line when all is done."""
        now = time.monotonic()
        if done < total and now < self._next:
            return
        self._next = now + self._EVERY
        filled = self._WIDTH * done // total
        seconds = now - self._start
        left = seconds * (total - done) / done if done else float("inf")
        text = f"{done:,}/{total:,} {self._noun}, {left:.0f} s left" if done else "starting"
        bar = "#" * filled + "." * (self._WIDTH - filled)
        self._stream.write(f"\r[{bar}] {text}" + ("\n" if done >= total else ""))
        self._stream.flush()
