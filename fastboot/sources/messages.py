"""Sentences about data that cannot be read."""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

__all__ = ["ERRORS", "Errors", "names_near", "reading"]

_MOST_NAMES = 20  # in a message: about two lines of them
Errors = tuple[type[Exception], ...]
# What pyarrow and the readers of text raise over a file that is not what it should be.
ERRORS: Errors = (pa.ArrowException, OSError, ValueError, EOFError, zlib.error)


def names_near(name: str, names: Sequence[str]) -> str:
    """Return the names of columns for a message, those spelt like `name` first.

    Examples
    --------
    >>> names_near("pred_x", ["gold", "pred_a"])
    'there are: pred_a, gold'
    """
    close = difflib.get_close_matches(name, names, _MOST_NAMES)
    listed = list(dict.fromkeys([*close, *names]))
    more = len(listed) - _MOST_NAMES
    listed[_MOST_NAMES:] = [f"and {more:,} more"] if more > 0 else []
    return f"there are: {', '.join(listed)}" if listed else "there are none"


@contextmanager
def reading(subject: str, errors: Errors = ERRORS) -> Iterator[None]:
    """Turn errors into one sentence about what was read; a file that has gone stays one.

    Raises
    ------
    FileNotFoundError
        There is no file.
    ValueError
        Anything else among `errors`.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{subject} cannot be read: {_reason(error)}") from error
    except errors as error:
        raise ValueError(f"{subject} cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0]
