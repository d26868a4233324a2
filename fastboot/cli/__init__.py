"""The command line: options become one call of the library, its result becomes a table.

Defaults and rules are the library's own: an option that is not given is not passed on. The rooms,
from the bottom up:

- `items`: files, and what ``--where`` says of their rows;
- `metrics`: what ``--metric`` names, and the columns that each needs;
- `measures`: metrics with their columns, checked;
- `comparison`, `leaderboard`: what the options say of two systems, of many, turned into one call;
- `options`: what each is called and what its help says;
- `report`, `boards`: results as panels and tables;
- `terminal`: what goes to stderr, a bar and complaints;
- `rank`, `gate`, `ttest`, `size`: the commands of these names;
- `commands`: the others, and all of them together.

Only this package knows typer and rich; `items`, `metrics`, `measures`, `comparison` and
`leaderboard` need neither.
"""

from __future__ import annotations

from fastboot.cli.commands import app, run

__all__ = ["app", "run"]
