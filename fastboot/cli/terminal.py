"""What goes to stderr: a bar while the engine works, and one line when there is no answer."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

__all__ = ["complain", "print_notes", "working"]


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
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("resampling", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a reader of the numbers should know."""
    for note in notes:
        console.print(Text.assemble(("note: ", "yellow"), note))


def complain(message: str) -> None:
    """Write one line to stderr; what a file holds must not steer the terminal."""
    line = " ".join(message.split())
    sys.stderr.write(f"fastboot: {''.join(char if char.isprintable() else '?' for char in line)}\n")
