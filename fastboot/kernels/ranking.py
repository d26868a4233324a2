"""Areas under curves of rows sorted by falling score, in one pass over the rows per replicate.

A curve is a walk. Each row goes up by its weight if it is marked, to the right if it is not, and
tied rows take one step together. Of positives and negatives this is the ROC curve; precision, and
the risk of selective prediction, are the share of marked weight so far.

Weights stand in the order of the rows, so that the pass gathers them. It is cut into tiles. A first
loop carries two running sums from row to row and writes them down where ties end; it has no branch
and takes as long as an addition waits for the one before (0.9 ns a row while the weights stay in
the cache, see bench_ranking). A second loop over the ends of ties carries nothing and is vectorised
(0.1 to 0.8 ns). A branch at the end of each tie instead of tiles takes 1.6 times as long, with ties
or without.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel

__all__ = ["fill_precisions", "fill_risks", "fill_trapezoids"]

# Rows at a time: two sums at the ends of 256 ties (4 KB) stay in the L1 cache.
_TILE = 256
# Where the series of harmonic numbers end below rounding: that of one number at 511 / 67584 /
# 32.5**10 < 1e-17, that of a step so many times smaller than its middle at (1 / 64)**8 / 9 < 4e-16
# of it and, where the step is well below 1, at 127 / 3840 / 32**8 < 4e-14 of it.
_FAR = 32.0


@inlined
def _walk(weights, order, marked, last, begin, end, up, right, ups, rights):
    """Go on from (right, up) over some rows.

    ups, rights : shape (more than end - begin,), float64: marked and unmarked weight at the ends of
    ties, overwritten from the second on; the first is that of the last tie before

    Returns the number of ends, with the first, and (up, right), which may lie inside a tie.
    """
    n_ends = np.uint64(1)
    # Unsigned: of other indices Numba looks at the sign, to count from the end.
    for i in range(np.uint64(begin), np.uint64(end)):
        weight = weights[np.uint64(order[i])]
        rise = weight if marked[i] else 0.0
        up += rise
        right += weight - rise
        ups[n_ends] = up  # the last row of the tie has the last word
        rights[n_ends] = right
        n_ends += np.uint64(last[i])
    return n_ends, up, right


@inlined
def _sweep(area_of, weights, order, marked, last, sums):
    """Walk for each replicate, and add up the areas of tiles."""
    ups, rights = np.empty(_TILE + 1), np.empty(_TILE + 1)
    for r in range(weights.shape[0]):
        area = up = right = ups[0] = rights[0] = 0.0
        for begin in range(0, order.size, _TILE):
            end = min(begin + _TILE, order.size)
            n_ends, up, right = _walk(
                weights[r], order, marked, last, begin, end, up, right, ups, rights
            )
            area += area_of(ups, rights, n_ends)
            ups[0], rights[0] = ups[n_ends - np.uint64(1)], rights[n_ends - np.uint64(1)]
        sums[0, r] = area
        sums[1, r] = up
        sums[2, r] = right


@inlined
def _trapezoids(up, right, n_ends):
    area = 0.0
    for k in range(np.uint64(1), n_ends):
        area += (right[k] - right[k - np.uint64(1)]) * (up[k] + up[k - np.uint64(1)])
    return 0.5 * area


@inlined
def _precisions(up, right, n_ends):
    area = 0.0
    for k in range(np.uint64(1), n_ends):
        total = up[k] + right[k]
        precision = up[k] / total if total > 0.0 else 0.0
        area += (up[k] - up[k - np.uint64(1)]) * precision
    return area


@inlined
def _risks(up, right, n_ends):
    """Sums over the k of each tie of the expected share of marked rows among the first k.

    In any order of the tie's rows (marked before + share x (k - before)) / k is expected, where
    share is that of the tie. It sums to marked in the tie + (marked before - share x before) x
    (H(after) - H(before)), with harmonic numbers H.
    """
    area = up[n_ends - np.uint64(1)] - up[0]
    n_large = np.int64(0)
    for k in range(np.uint64(1), n_ends):
        before, after, excess = _tie(up, right, k)
        large = _is_large(before, after)
        n_large += np.int64(large)  # a sum is vectorised, a flag is not
        area += 0.0 if large else excess * _small_slope(before, after)
    if n_large > 0:
        for k in range(np.uint64(1), n_ends):
            before, after, excess = _tie(up, right, k)
            if excess != 0.0 and _is_large(before, after):
                area += excess * _slope(before, after)
    return area


@inlined
def _tie(up, right, k):
    """Weight before and after a tie, and (marked before - share x before) x weight of the tie."""
    before = up[k - np.uint64(1)] + right[k - np.uint64(1)]
    after = up[k] + right[k]
    excess = up[k - np.uint64(1)] * (after - before) - before * (up[k] - up[k - np.uint64(1)])
    return before, after, excess


@inlined
def _is_large(low, high):
    """Whether a step is large beside its middle: so are the first ones, and long ties."""
    middle = 0.5 * (low + high + 1.0)
    return (middle < _FAR) | (middle < _FAR * (high - low))


@inlined
def _small_slope(low, high):
    """(H(high) - H(low)) / (high - low) for a step that is small beside its middle.

    The mean of 1 / (middle + d) over d from -(step - 1) / 2 to (step - 1) / 2, expanded: the mean
    even powers of d are polynomials in the square of the step. For steps that are not whole this
    is the expansion of digamma.
    """
    inverse = 2.0 / (low + high + 1.0)
    x, v = inverse * inverse, (high - low) * (high - low)
    fourth, sixth = (3.0 * v - 7.0) / 240.0, ((3.0 * v - 18.0) * v + 31.0) / 1344.0
    return inverse + inverse * x * (v - 1.0) * (1.0 / 12.0 + x * (fourth + x * sixth))


@inlined
def _slope(low, high):
    """(H(high) - H(low)) / (high - low), where H(x) = digamma(x + 1) + Euler's constant."""
    step = high - low
    slope = 0.0
    while low < _FAR:  # H(x) = H(x + 1) - 1 / (x + 1)
        low += 1.0
        high += 1.0
        slope += 1.0 / (low * high)
    low += 0.5
    high += 0.5
    return slope + (np.log(high / low) + _remainder(high) - _remainder(low)) / step


@inlined
def _remainder(x):
    """digamma(x + 1/2) - log(x): the derivative of DLMF 5.11.8 for h = 1/2."""
    y = 1.0 / (x * x)
    return (1.0 / 24.0 - (7.0 / 960.0 - (31.0 / 8064.0 - 127.0 / 30720.0 * y) * y) * y) * y


@kernel
def fill_trapezoids(weights, order, marked, last, sums):
    """Areas under the walks.

    weights : shape (n_replicates, n_rows), float64, 0 or more
    order : shape (n_rows,), int64: the rows by falling score
    marked, last : shape (n_rows,), bool, in that order: which rows go up, which end a tie
    sums : shape (3, n_replicates), overwritten: area, marked weight, unmarked weight
    """
    _sweep(_trapezoids, weights, order, marked, last, sums)


@kernel
def fill_precisions(weights, order, marked, last, sums):
    """As `fill_trapezoids`, areas of precision over marked weight, by the steps of ties."""
    _sweep(_precisions, weights, order, marked, last, sums)


@kernel
def fill_risks(weights, order, marked, last, sums):
    """As `fill_trapezoids`, areas of the share of marked weight so far over weight."""
    _sweep(_risks, weights, order, marked, last, sums)
