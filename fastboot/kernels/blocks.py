"""Blocks of consecutive rows, for a series in time order.

Moving blocks (Kuensch 1989, "The jackknife and the bootstrap for general stationary observations"),
circular blocks (Politis and Romano 1992, "A circular block-resampling procedure for stationary
data") and the stationary bootstrap (Politis and Romano 1994, "The stationary bootstrap"). Starts
are uniform and independent; n rows are drawn in all, so the last block is cut.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from fastboot.compiler import exact, inlined, kernel
from fastboot.kernels.exponential import minus_log_uniform
from fastboot.kernels.philox import LENGTHS, STARTS, fill_positions
from fastboot.kernels.places import BUFFER, place

__all__ = ["fill_block_weights", "fill_stationary_weights", "log_of_continuing"]


@inlined
def _draw_starts(begin, n_starts, replicate, key_0, key_1, words, starts):
    """First rows of the blocks begin, begin + 1, ...

    begin : a multiple of 4
    words : shape (starts.size / 4, 4), uint32, scratch
    """
    fill_positions(begin // 4, 0, replicate, STARTS, key_0, key_1, words)
    for i in range(starts.size):
        lane, position = i % 4, (begin + i) // 4
        starts[i] = place(
            words[i // 4, lane], lane, n_starts, position, 0, replicate, STARTS, key_0, key_1
        )


@inlined
def _mark_block(start, length, row):
    """Note where a block of at most all rows begins and ends; after the last row comes the first.

    row : shape (n_rows,), added to: weights less those of the row before
    """
    row[start] += 1.0
    end = start + length
    if end >= row.size:
        row[0] += 1.0
        end -= row.size
    row[end] -= 1.0


@inlined
def _accumulate(row):
    """Running sums, in place. They are whole numbers, so their order does not matter.

    Four quarters side by side: 0.4 ns a row, where each addition waiting for the one before takes
    0.9. Counting every row of a block up instead took as long for blocks of 25 equal lengths, and
    twice as long where lengths vary, for the end of each loop comes as a surprise.
    """
    quarter = row.size // 4
    r0, r1 = row[:quarter], row[quarter : 2 * quarter]
    r2, r3 = row[2 * quarter : 3 * quarter], row[3 * quarter : 4 * quarter]
    s0 = s1 = s2 = s3 = 0.0
    for i in range(quarter):
        s1 += r0[i]
        s2 += r1[i]
        s3 += r2[i]
    s2 += s1
    s3 += s2
    for i in range(quarter):
        s0 += r0[i]
        s1 += r1[i]
        s2 += r2[i]
        s3 += r3[i]
        r0[i] = s0
        r1[i] = s1
        r2[i] = s2
        r3[i] = s3
    for i in range(4 * quarter, row.size):
        s3 += row[i]
        row[i] = s3


@kernel
def fill_block_weights(length, circular, first, key_0, key_1, weights):
    """Blocks of equal length for consecutive replicates.

    length : 1 to n_rows
    circular : whether blocks may begin at every row, and continue at the first after the last
    weights : shape (n_replicates, n_rows), float64, overwritten; n_rows at most 2**32
    """
    n_rows = weights.shape[1]
    n_starts = n_rows if circular else n_rows - length + 1
    n_blocks = (n_rows + length - 1) // length
    words = np.empty((BUFFER // 4, 4), np.uint32)
    starts = np.empty(BUFFER, np.int64)
    for r in range(weights.shape[0]):
        weights[r] = 0.0
        for begin in range(0, n_blocks, BUFFER):
            drawn = starts[: min(BUFFER, n_blocks - begin)]
            used = words[: (drawn.size + 3) // 4]
            _draw_starts(begin, n_starts, first + r, key_0, key_1, used, drawn)
            for i in range(drawn.size):
                _mark_block(drawn[i], min(length, n_rows - (begin + i) * length), weights[r])
        _accumulate(weights[r])


def log_of_continuing(mean_length: float) -> float:
    """Log of the probability 1 - 1 / mean_length that a block goes on; 1 row is always a block.

    Rounded once, from 50 digits, so the same on every machine; the C library's is not. In Python:
    it is needed once, and takes 0.15 s to compile.
    """
    # From 2^85 on every length is 1 or, as -log(u) >= 2^-53, more than the 2^32 rows there may be.
    with localcontext(prec=50):
        return float((1 - 1 / Decimal(min(mean_length, 2.0**100))).ln())


@exact
def _geometric(minus_log_u, minus_log_q, longest):
    """Rows of a block, by inversion: 1 + floor(log(u) / log(q)) exceeds k where u <= q^k."""
    return 1 + np.int64(min(minus_log_u / minus_log_q, longest))


@kernel
def fill_stationary_weights(mean_length, log_q, first, key_0, key_1, weights):
    """Blocks of geometric length for consecutive replicates; they go on at the first row.

    mean_length : float, finite, at least 1
    log_q : float, its `log_of_continuing`
    weights : shape (n_replicates, n_rows), float64, overwritten; n_rows at most 2**32
    """
    n_rows = weights.shape[1]
    longest = float(n_rows)
    words = np.empty((BUFFER // 2, 4), np.uint32)
    starts = np.empty(BUFFER, np.int64)
    lengths = np.empty(BUFFER, np.int64)
    for r in range(weights.shape[0]):
        row = weights[r]
        row[:] = 0.0
        left = n_rows
        begin = 0
        while left > 0:
            # As many as will do on average, and whole counters.
            n_blocks = min(BUFFER, int(left / mean_length) // 4 * 4 + 4)
            _draw_starts(
                begin, n_rows, first + r, key_0, key_1, words[: n_blocks // 4], starts[:n_blocks]
            )
            fill_positions(begin // 2, 0, first + r, LENGTHS, key_0, key_1, words[: n_blocks // 2])
            for i in range(n_blocks // 2):
                even = minus_log_uniform(words[i, 0], words[i, 1])
                odd = minus_log_uniform(words[i, 2], words[i, 3])
                lengths[2 * i] = _geometric(even, -log_q, longest)
                lengths[2 * i + 1] = _geometric(odd, -log_q, longest)
            for i in range(n_blocks):
                length = min(int(lengths[i]), left)
                _mark_block(starts[i], length, row)
                left -= length
            begin += n_blocks
        _accumulate(row)
