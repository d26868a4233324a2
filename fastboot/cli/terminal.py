"""What goes to stderr: a bar while the engine works, and one line when there is no answer."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["UNREAD", "complain", "print_notes", "working"]

UNREAD = 141  # the exit code where the reader of stdout has left: 128 + SIGPIPE


@contextmanager
def working() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr while the block runs, or None where nobody would see it."""
    with warnings.catch_warnings():
        # The notes of the result say it.
        warnings.filterwarnings("ignore", "the statistic is undefined", RuntimeWarning)
        if not sys.stderr.isatty():
            yield None
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[read]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            yield _Shown(bar, bar.add_task("resampling", total=None, read=""))


class _Shown:
    """Shows how far a run is; see :mod:`fastboot.progress`."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task

    def __call__(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total)

    def read(self, n_bytes: int) -> None:
        """Show the bytes that have been read in all."""
        self._bar.update(self._task, read=f"{decimal(n_bytes)} read")


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a reader of the numbers should know."""
    for note in notes:
        console.print(Text.assemble(("note: ", "yellow"), note))


def complain(message: str) -> None:
    """Write one line to stderr; what a file holds must not steer the terminal."""
    line = " ".join(message.split())
    try:
        sys.stderr.write(
            f"fastboot: {''.join(char if char.isprintable() else '?' for char in line)}\n"
        )
    except BrokenPipeError:  # nobody reads on; what is left must not fail at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
