"""Who is told how far a run is, and a bar in plain characters that shows it.

A progress is called with what is done and its total. Where it also has a method ``read``, it is
told, before such a call, how many bytes of the data have been read in all. A run that takes up
earlier work first says how much of it there is.
"""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

__all__ = ["Bar", "tell_read"]


def tell_read(progress: object, n_bytes: int) -> None:
    """Tell a progress how many bytes have been read in all, if it has a ``read`` for it."""
    read = getattr(progress, "read", None)
    if read is not None:
        read(n_bytes)


class Bar:
    """A progress bar in plain characters, rewritten in place on one line.

    It shows what is done, how much a second, the time left at this rate, and the bytes read where
    it is told.

    Parameters
    ----------
    stream
        Where to write; standard error by default.
    noun
        What is counted.

    Examples
    --------
    >>> import io
    >>> line = io.StringIO()
    >>> bar = Bar(line)
    >>> bar.read(3_140_000_000)
    >>> bar(1_000, 1_000)
    >>> print(line.getvalue().strip().partition("] ")[2])
    1,000/1,000 resamples, 3.1 GB read
    """

    _WIDTH = 40
    _EVERY = 0.1  # seconds between redraws

    def __init__(self, stream: TextIO | None = None, noun: str = "resamples") -> None:
        self._stream = stream or sys.stderr
        self._noun = noun
        self._restart()

    def _restart(self) -> None:
        # When it began to count, and what was done by then.
        self._first: tuple[float, int] | None = None
        self._next = 0.0
        self._n_bytes = 0
        self._drawn = 0  # characters on the line

    def read(self, n_bytes: int) -> None:
        """Take note of the bytes read in all, for the next time the bar is drawn."""
        self._n_bytes = n_bytes

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar, and end its line when all is done; the next call starts another."""
        now = time.monotonic()
        if self._first is None or done <= self._first[1]:  # the first pass over data may take long
            self._first = now, done
        if done < total and now < self._next:
            return
        self._next = now + self._EVERY
        text = self._text(done, total, now)
        # A line that wraps cannot be rewritten: the bar takes what room there is.
        columns = shutil.get_terminal_size().columns
        width = max(0, min(self._WIDTH, columns - len(text) - len("[] ") - 1))
        filled = width * done // total
        line = f"[{'#' * filled}{'.' * (width - filled)}] {text}"
        self._stream.write(f"\r{line:{self._drawn}}" + ("\n" if done >= total else ""))
        self._stream.flush()
        self._drawn = len(line)
        if done >= total:
            self._restart()

    def _text(self, done: int, total: int, now: float) -> str:
        assert self._first is not None
        since, before = self._first
        parts = [f"{done:,}/{total:,} {self._noun}" if done else "starting"]
        if done > before and now > since:
            rate = (done - before) / (now - since)
            parts += [f"{_short(rate)}/s", f"{_duration((total - done) / rate)} left"]
        if self._n_bytes:
            parts.append(f"{_size(self._n_bytes)} read")
        return ", ".join(parts)


def _short(rate: float) -> str:
    """Return "1,234", or two digits of a rate below ten: "0.31"."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _duration(seconds: float) -> str:
    """Return "19 s", "2 min 5 s" or "3 h 20 min"."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def _size(n_bytes: float) -> str:
    """Return "12 B", "3.4 kB" or "1.2 GB"."""
    if n_bytes < 1_000:
        return f"{n_bytes} B"
    for unit in ("kB", "MB", "GB", "TB"):
        n_bytes /= 1_000
        if n_bytes < 999.95 or unit == "TB":  # that would be shown as 1000.0
            break
    return f"{n_bytes:,.1f} {unit}"
