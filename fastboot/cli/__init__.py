"""The command line: options become one call of the library, its result becomes a table.

Defaults and rules are the library's own: an option that is not given is not passed on. The rooms,
from the bottom up:

- `metrics`: what ``--metric`` names, and the columns that each needs;
- `comparison`: what the options say, checked and turned into one call;
- `options`: what each is called and what its help says;
- `report`: a comparison and its result as a panel of tables;
- `terminal`: what goes to stderr, a bar and complaints;
- `commands`: the commands themselves.

Only this package knows typer and rich; `metrics` and `comparison` need neither.
"""

from __future__ import annotations

from fastboot.cli.commands import app, run

__all__ = ["app", "run"]
