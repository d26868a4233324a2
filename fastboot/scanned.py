"""Terms of rows that are read block by block: named, and computed when a block is there.

A table that does not fit into memory has no arrays to work with. What its statistics sum is settled
with names instead: the terms of all statistics are numbered, and what is asked for is one of them,
the difference of two, or a tally with one of them for its codes. `Estimand` is built of either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastboot.units import Tally, Term

__all__ = ["Scanned", "difference", "evaluated"]


@dataclass(frozen=True)
class _Number:
    """What all rows have: not the place of a term, which may be an equal number."""

    value: float


@dataclass(frozen=True)
class Scanned:
    """A term of rows that are not in memory.

    Attributes
    ----------
    place
        Its number among the terms of all statistics; or what all rows have.
    less
        What is subtracted from it, likewise; None for the term itself.
    """

    place: int | _Number
    less: int | _Number | None = None


def difference(x: Any, y: Any) -> Any:
    """Return the term x - y: of arrays and numbers, or of terms that are yet to be read."""
    if isinstance(x, Scanned) or isinstance(y, Scanned):
        return Scanned(_operand(x), _operand(y))
    with np.errstate(over="ignore"):  # an infinite sum is refused where it is asked for
        gap = np.subtract(x, y)
    return gap if isinstance(gap, np.ndarray) else float(gap)


def _operand(term: Scanned | float) -> int | _Number:
    return term.place if isinstance(term, Scanned) else _Number(float(term))


def evaluated(term: Any, terms: Sequence[Term]) -> Any:
    """Return a named term of one block, whose terms these are."""
    if isinstance(term, Tally) and isinstance(term.codes, Scanned):
        return _value(term.codes.place, terms)
    if not isinstance(term, Scanned):
        return term
    left = _value(term.place, terms)
    return left if term.less is None else difference(left, _value(term.less, terms))


def _value(operand: int | _Number, terms: Sequence[Term]) -> Any:
    return operand.value if isinstance(operand, _Number) else terms[operand]
