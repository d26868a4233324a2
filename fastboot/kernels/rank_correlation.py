"""Rank correlations of weighted rows.

What is compared are rows alike in all replicates, so ranks are looked up once and replicates differ
in the weights alone: no sorting, and no branch that depends on a weight.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel

__all__ = [
    "DIGIT_BITS", "LANES", "add_inversions", "add_squared_totals", "fill_mid_rank_moments",
    "interleave",
]  # fmt: skip

# Replicates at a time: what the compiler adds at once. Measured per row, replicate and bit: 8, 0.5
# ns; 16, 0.35 ns; 32, 0.3 ns.
LANES = 16
# Bits of a digit: a tree of 128 nodes of 16 lanes (16 KB) stays in the L1 cache.
DIGIT_BITS = 7
# Rows at a time: 16 lanes of them take 8 KB.
_TILE = 64


@inlined
def _mid_ranks(codes, weights, ranks):
    """Mid-rank of each distinct value, from 0: the weight of all smaller ones and half its own.

    codes : shape (n_rows,), int64: places of the values among the distinct ones, sorted
    ranks : shape (n_distinct,), float64, overwritten

    Returns the sum of the weights.
    """
    ranks[:] = 0.0
    for i in range(codes.size):
        ranks[codes[i]] += weights[i]
    total = 0.0
    for j in range(ranks.size):
        weight = ranks[j]
        ranks[j] = total + 0.5 * weight
        total += weight
    return total


@kernel
def fill_mid_rank_moments(x, n_x, y, n_y, weights, moments):
    """Sums of squares and of products of weighted mid-ranks about their mean.

    x, y : shape (n_rows,), int64, places among the `n_x` and `n_y` distinct values
    weights : shape (n_replicates, n_rows), float64
    moments : shape (3, n_replicates), float64, overwritten: xx, yy, xy
    """
    x_ranks, y_ranks = np.empty(n_x), np.empty(n_y)
    for r in range(weights.shape[0]):
        row = weights[r]
        # The mean is half the weight, and is the mid-rank of the only value where there is one.
        middle = 0.5 * _mid_ranks(x, row, x_ranks)
        _mid_ranks(y, row, y_ranks)
        xx = yy = xy = 0.0
        for i in range(row.size):
            x_rank = x_ranks[x[i]] - middle
            y_rank = y_ranks[y[i]] - middle
            weight = row[i]
            xx += weight * (x_rank * x_rank)
            yy += weight * (y_rank * y_rank)
            xy += weight * (x_rank * y_rank)
        moments[0, r] = xx
        moments[1, r] = yy
        moments[2, r] = xy


@kernel
def interleave(weights, first, lanes):
    """Weights of a few replicates from `first` on, side by side.

    weights : shape (n_replicates, n_rows), float64
    lanes : shape (n_rows, n_lanes), float64, overwritten
    """
    # 64 rows at a time: their lanes (8 KB for 16) stay in the L1 cache until they are full.
    for begin in range(0, lanes.shape[0], _TILE):
        end = min(lanes.shape[0], begin + _TILE)
        for lane in range(lanes.shape[1]):
            for i in range(begin, end):
                lanes[i, lane] = weights[first + lane, i]


@kernel
def add_squared_totals(codes, n_classes, lanes, out):
    """Sum over classes of the squared weight of a class.

    codes : shape (n_rows,), int64: the class of each row
    lanes : shape (n_rows, n_lanes), float64
    out : shape (n_lanes,), float64, added to
    """
    n_lanes = lanes.shape[1]
    if n_classes == codes.size:  # each row is a class of its own
        for i in range(codes.size):
            row = lanes[i]
            for lane in range(n_lanes):
                out[lane] += row[lane] * row[lane]
        return
    totals = np.empty((n_classes, n_lanes))  # np.zeros takes 0.15 s more to compile
    totals[:] = 0.0
    for i in range(codes.size):
        total, row = totals[codes[i]], lanes[i]
        for lane in range(n_lanes):
            total[lane] += row[lane]
    for j in range(n_classes):
        total = totals[j]
        for lane in range(n_lanes):
            out[lane] += total[lane] * total[lane]


@kernel
def add_inversions(order, digits, starts, n_bits, lanes, out):
    """Weight of the pairs of rows, within segments, of which the earlier has the larger digit.

    A tree over the digits: a bit of the digit splits the rows of a node in halves, and those that
    went to the upper half meet those that come later and go to the lower one. Both are computed for
    every row, one of them with weight 0: half of the branches would miss.

    order : shape (n_rows,), int64: rows, segment after segment
    digits : shape (n_rows,), int64, below 2**n_bits: of the rows in that order
    starts : shape (n_segments + 1,), int64
    lanes : shape (n_rows, n_lanes), float64
    out : shape (n_lanes,), float64, added to
    """
    n_lanes = lanes.shape[1]
    upper = np.empty((1 << n_bits, n_lanes))  # by node: weight in its upper half
    larger = np.empty(n_lanes)  # weight of the earlier rows with a larger digit
    tile = np.empty((_TILE, n_lanes))
    for segment in range(starts.size - 1):
        upper[:] = 0.0
        for begin in range(starts[segment], starts[segment + 1], _TILE):
            size = min(_TILE, starts[segment + 1] - begin)
            # Apart from the tree, so that many rows are on their way from memory at a time: 20 ns
            # per row and replicate become 4.
            for i in range(size):
                row = lanes[order[begin + i]]
                for lane in range(n_lanes):
                    tile[i, lane] = row[lane]
            for i in range(size):
                row = tile[i]
                leaf = 1 << n_bits | digits[begin + i]
                larger[:] = 0.0
                for level in range(n_bits):
                    node = upper[leaf >> (level + 1)]
                    goes_up = float((leaf >> level) & 1)
                    goes_down = 1.0 - goes_up
                    for lane in range(n_lanes):
                        above = node[lane]
                        larger[lane] += goes_down * above
                        node[lane] = above + goes_up * row[lane]
                for lane in range(n_lanes):
                    out[lane] += row[lane] * larger[lane]
