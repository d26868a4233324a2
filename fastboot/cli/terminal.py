"""What goes to stderr: a bar while the engine works, and one line when there is no answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

__all__ = ["complain", "progress"]


@contextmanager
def progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr while the block runs, or None where nobody would see it."""
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


def complain(message: str) -> None:
    """Write one line to stderr; what a file holds must not steer the terminal."""
    line = " ".join(message.split())
    sys.stderr.write(f"fastboot: {''.join(char if char.isprintable() else '?' for char in line)}\n")
