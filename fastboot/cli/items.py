"""Which rows a command is about: those of some files, or what ``--where`` leaves of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from fastboot.sources.opening import Source, open_source
from fastboot.sources.paths import files_of

__all__ = ["Items"]

_OPERATOR = re.compile(r"==|!=|<=|>=|=|<|>|\s(?:not\s+)?in\s")
_HOW = (
    "write a column, one of = != < <= > >= in, and a value, such as 'split = test', 'score >= 0.5' "
    "or 'language in de,fr'"
)
# A value in quotes, in which a quote is written twice, or one up to the next comma.
_QUOTED = "\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'"
_VALUES = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(?:,|$)")
_ONE = re.compile(_QUOTED)
_NOTHING = {"null", "none", "nan", "na", "nat", ""}


@dataclass(frozen=True)
class Items:
    """Files as the command line names them; of their rows count those that meet all conditions."""

    files: Sequence[Path]
    conditions: Sequence[str] = ()

    @property
    def data(self) -> Path | list[Path]:
        """What the library takes for the table."""
        return self.files[0] if len(self.files) == 1 else list(self.files)

    @property
    def words(self) -> list[str]:
        """The words of a command that name these rows."""
        conditions = [word for one in self.conditions for word in ("--where", one)]
        return [*map(str, self.files), *conditions]

    @cached_property
    def where(self) -> list[tuple[str, str, Any]] | None:
        """What the library takes for the filter.

        Raises
        ------
        ValueError, TypeError, FileNotFoundError
            A condition cannot be read, its column is unknown or holds no such values.
        """
        return [self._condition(text) for text in self.conditions] or None

    @cached_property
    def _files(self) -> list[str]:
        """All files, in the order of their rows."""
        files = files_of(self.data)
        assert files is not None
        return files

    @cached_property
    def _first(self) -> str:
        """The first file that has columns: text may be empty."""
        return next((file for file in self._files if _names(file)), self._files[0])

    def _holding(self, column: str) -> str:
        """The first file that shows values of a column, which say what goes with it."""
        for file in self._files:
            source = _opened(file)
            if source is not None and source.shows(column):
                return file
        return self._first

    def _condition(self, text: str) -> tuple[str, str, Any]:
        """A condition: its operator is the first one behind the name of a column."""
        splits = [
            (text[: found.start()].strip(), found[0].strip(), text[found.end() :].strip())
            for found in _OPERATOR.finditer(text)
            if text[: found.start()].strip()
        ]
        if not splits:
            raise ValueError(f"--where {text!r} is no condition; {_HOW}.")
        names = _names(self._first)
        column, operator, value = next((one for one in splits if one[0] in names), splits[0])
        if not operator.endswith("in"):
            own = self._read(column, [_unquoted(value)])
            return column, "==" if operator == "=" else operator, *own
        texts = [_unquoted(one) for one in _listed(value)]
        return column, " ".join(operator.split()), self._read(column, texts)

    def _read(self, column: str, texts: Sequence[str]) -> list[Any]:
        """Values as they can be compared with a column."""
        file = self._holding(column)
        refused = None
        for reader in _READERS:
            try:
                values = [reader(text) for text in texts]
            except ValueError:
                continue
            try:
                open_source(file, [(column, "==", value) for value in values])
            except TypeError as error:
                refused = refused or error  # that of text, which says what the column holds
            else:
                return values
        assert refused is not None
        if _NOTHING.isdisjoint(text.lower() for text in texts):
            raise refused
        raise TypeError(
            f"{refused} Rows without a value cannot be named here; in Python they are "
            f"[({column!r}, 'in', [None])], and the others [({column!r}, 'not in', [None])]."
        ) from refused


def _opened(file: str) -> Source | None:
    """Open a file alone, if it can be: an empty CSV can only beside others."""
    try:
        return open_source(file)
    except ValueError:  # what is broken is refused where the whole is opened
        return None


def _names(file: str) -> list[str]:
    source = _opened(file)
    return [] if source is None else source.names


def _listed(text: str) -> list[str]:
    """Values between commas.

    Examples
    --------
    >>> _listed("de, 'a, b'")
    ['de', "'a, b'"]
    """
    values, start = [], 0
    while True:
        found = _VALUES.match(text, start)
        assert found is not None
        values.append(found[1])
        if found.end() == len(text) and not found[0].endswith(","):
            return values
        start = found.end()


def _unquoted(text: str) -> str:
    """What stands in quotes, if all of a value does.

    Examples
    --------
    >>> _unquoted("'a b'"), _unquoted("'it''s'"), _unquoted("it's")
    ('a b', "it's", "it's")
    """
    if _ONE.fullmatch(text):
        return text[1:-1].replace(2 * text[0], text[0])
    return text


def _truth(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


# Text goes only with columns of text, so it comes first: "3" may be a name.
_READERS: tuple[Callable[[str], Any], ...] = (str, int, float, _truth, datetime.fromisoformat)
