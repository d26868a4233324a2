"""Sums over rows or units that do not depend on how the data are cut into pieces.

Rows are cut into blocks of `BLOCK`. A sum is taken inside each block; the sums of blocks are joined
by a binary tree that is fixed by the numbers of the blocks alone: node (level, index) covers the
blocks from index << level to (index + 1) << level, and is its left child + its right child. So one
pass over an array, a stream of batches, and processes that have some blocks each find the same
bits. Groups may have rows anywhere: their sums are taken inside *group blocks* of 64 blocks and
added in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCK",
    "GROUP_BLOCK",
    "Node",
    "TreeSum",
    "blocks_of",
    "joined",
    "sums_by_code",
    "total_of",
]

Floats = NDArray[np.float64]

# The superblock of the kernels: a block's resample is one kernel call.
BLOCK = 65_536
# Each adds an array of all groups' sums: a million groups (8 MB) are as much as two of its columns.
GROUP_BLOCK = 64 * BLOCK

Node = tuple[int, int, Any]


class TreeSum:
    """A sum over consecutive blocks, joined by the fixed binary tree.

    It holds O(log(number of blocks)) nodes: complete subtrees, from left to right.

    Examples
    --------
    >>> whole, first, second = TreeSum(), TreeSum(), TreeSum()
    >>> for block, value in enumerate([0.1, 0.2, 0.3, 0.4, 0.5]):
    ...     whole.add(block, value)
    ...     (first if block < 3 else second).add(block, value)
    >>> first.join(second.nodes)
    >>> first.nodes == whole.nodes
    True
    >>> whole.total()
    1.5
    """

    def __init__(self) -> None:
        self._nodes: list[Node] = []

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Level, index and sum of the subtrees; arrays may be added to in place later."""
        return tuple(self._nodes)

    def add(self, block: int, sums: Any) -> None:
        """Add the sums of the next block; the first may have any number.

        Parameters
        ----------
        block
            Its number.
        sums
            An array of the same shape as those before, which the tree may write to from now on,
            or a number.
        """
        self.join([(0, block, sums)])

    def join(self, nodes: Iterable[Node]) -> None:
        """Add the nodes of a sum that continues where this one ends; their arrays too are taken."""
        for node in nodes:
            level, index, sums = node
            if self._nodes:
                before, last, _ = self._nodes[-1]
                if (last + 1) << before != index << level:
                    raise ValueError(f"block {index << level} does not follow one after another")
            while index % 2 and self._nodes and self._nodes[-1][:2] == (level, index - 1):
                sums = _added(self._nodes.pop()[2], sums)
                level, index = level + 1, index // 2
            self._nodes.append((level, index, sums))

    def total(self) -> Any:
        """Sum of everything: subtrees from the last to the first; an array may be the tree's."""
        *before, (_, _, total) = self._nodes
        with np.errstate(over="ignore", invalid="ignore"):  # as in `_added`
            for _, _, sums in reversed(before):
                total = sums + total  # not in place: the tree may go on
        return total


def _added(left: Any, right: Any) -> Any:
    """Left + right, in place where that can be: arrays that come from elsewhere are read-only."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name
        if isinstance(left, np.ndarray) and left.flags.writeable:
            left += right
            return left
        return left + right


def blocks_of(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Return where the blocks of rows `start` to `stop` - 1 begin and end; at least one."""
    for first in range(start, max(stop, start + 1), BLOCK):
        yield first, min(first + BLOCK, stop)


def joined(sums: Iterable[Any]) -> Any:
    """Return the total of the sums of block 0, block 1, and so on."""
    tree = TreeSum()
    for block, one in enumerate(sums):
        tree.add(block, one)
    return tree.total()


def total_of(values: Floats) -> Any:
    """Return the sum over the last axis.

    Parameters
    ----------
    values
        Shape (..., n), contiguous along the last axis; up to one block it is NumPy's own sum.
    """
    return joined(
        values[..., first:last].sum(axis=-1) for first, last in blocks_of(0, values.shape[-1])
    )


def sums_by_code(codes: NDArray[np.int64], values: Floats, n_codes: int) -> Floats:
    """Return the sum of the values of each code, shape (n_codes,).

    Parameters
    ----------
    codes
        Shape (n_rows,) or (n_rows, width).
    values
        Of the same shape.
    n_codes
        Codes are from 0 to n_codes - 1.
    """
    total = np.zeros(n_codes)
    for first in range(0, len(codes), GROUP_BLOCK):
        rows = slice(first, first + GROUP_BLOCK)
        total += np.bincount(codes[rows].ravel(), values[rows].ravel(), n_codes)
    return total
