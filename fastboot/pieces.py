"""Replicates in pieces: parts of them, and those that are computed again as a check."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Piece", "part_of", "with_checked", "without"]

Floats = NDArray[np.float64]
# A range of replicates and their values, shape (n_values, n_cells, n_replicates).
Piece = tuple[range, Floats]

# Known replicates that are computed again, to see that nothing has changed. Resamples of ten units
# of 0 and 1 have one mean in five: by accident all agree with probability 1e-11.
_CHECKED = 16


def with_checked(
    known: Sequence[Piece], missing: Sequence[range], n: int
) -> tuple[list[Piece], list[range], Piece]:
    """Have some known replicates computed again, beside what is missing: no pass of its own.

    Parameters
    ----------
    known
        Disjoint, in order.
    missing
        All others up to n.
    n
        Replicates of the run.

    Returns
    -------
    kept, ranges, twice
        What stays, what is to be computed, and the known replicates that are in it.
    """
    if not known:
        return [], list(missing), (range(0), np.empty((0, 0, 0)))
    ends = {gap.start for gap in missing} or {n}
    place = next((place for place, (own, _) in enumerate(known) if own.stop in ends), 0)
    own = known[place][0]
    if own.stop in ends:
        checked = range(max(own.start, own.stop - _CHECKED), own.stop)
    else:  # only before it something is missing
        checked = range(own.start, min(own.stop, own.start + _CHECKED))
    behind = next((gap for gap in missing if gap.start == checked.stop), range(0))
    # The first to be computed, before anything is stored.
    ranges = [range(checked.start, max(checked.stop, behind.stop))]
    ranges += [gap for gap in missing if gap != behind]
    kept = [*known[:place], *known[place + 1 :]]
    kept += [part_of(known[place], rest) for rest in without(own, checked)]
    return kept, ranges, part_of(known[place], checked)


def part_of(piece: Piece, wanted: range) -> Piece:
    """Return the part of a piece that lies in a range."""
    own, values = piece
    start = min(max(own.start, wanted.start), own.stop)
    stop = max(start, min(own.stop, wanted.stop))
    return range(start, stop), values[:, :, start - own.start : stop - own.start]


def without(own: range, other: range) -> list[range]:
    """Return what of a range lies before another, and behind it."""
    if not other:
        return [own]
    before = range(own.start, min(own.stop, other.start))
    behind = range(max(own.start, other.stop), own.stop)
    return [one for one in (before, behind) if one]
