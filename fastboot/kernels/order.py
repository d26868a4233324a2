"""Order statistics of weighted rows, and of one unweighted resample without drawing its rows.

Rows are sorted once. A rank of a resample lies near where it lies in the data, about sqrt(n) rows
away, so a replicate sums the weights of the rows below that place, which vectorises and needs no
order, and walks the rest of the way through the sorted rows.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact, inlined, kernel
from fastboot.kernels.arithmetic import exponential, logarithm
from fastboot.kernels.philox import ORDER, philox, unit_interval

__all__ = [
    "add_products", "fill_order_indices", "fill_order_pairs", "fill_partial_sums",
    "fill_places", "fill_window_means",
]  # fmt: skip

_LOG_4 = 1.3862943611198906

# Rows at a time: 4 x 512 weights (16 KB) stay in the L1 cache while all terms pass by.
_TILE = 512


@kernel
def add_products(terms, weights, sums):
    """Weights times terms, for replicates by fours: each value of a term is loaded once for four.

    The order of the additions is that of the rows, whatever the size of the batch.

    terms : shape (n_terms, n_rows), float64
    weights : shape (n_replicates, n_rows), float64
    sums : shape (n_terms, n_replicates), float64, added to
    """
    n_terms, n_rows = terms.shape
    n_replicates = weights.shape[0]
    last = n_replicates - 1
    for r in range(0, n_replicates, 4):
        # The last replicate fills up the four.
        r1, r2, r3 = min(r + 1, last), min(r + 2, last), min(r + 3, last)
        for begin in range(0, n_rows, _TILE):
            end = min(n_rows, begin + _TILE)
            w0, w1 = weights[r, begin:end], weights[r1, begin:end]
            w2, w3 = weights[r2, begin:end], weights[r3, begin:end]
            for k in range(n_terms):
                term = terms[k, begin:end]
                s0 = s1 = s2 = s3 = 0.0
                for i in range(term.size):
                    s0 += w0[i] * term[i]
                    s1 += w1[i] * term[i]
                    s2 += w2[i] * term[i]
                    s3 += w3[i] * term[i]
                sums[k, r] += s0
                if r1 > r:
                    sums[k, r1] += s1
                if r2 > r1:
                    sums[k, r2] += s2
                if r3 > r2:
                    sums[k, r3] += s3


@inlined
def _seek(order, weights, place, below, rank, step):
    """First place in sorted order whose cumulative weight, less `step`, exceeds `rank`.

    below : weight of the places before `place`, where the walk begins
    Returns the place, of positive weight unless all are 0, and the weight of those before it.
    """
    last = order.size - 1
    while place > 0 and below - step > rank:
        place -= 1
        below -= weights[order[place]]
    while place < last and below + weights[order[place]] - step <= rank:
        below += weights[order[place]]
        place += 1
    # A rank that is not exceeded, or only by rounding, belongs to the last row.
    while place > 0 and weights[order[place]] == 0.0:
        place -= 1
    return place, below


@kernel
def fill_places(order, weights, start, below, ranks, step, places):
    """First place in sorted order whose cumulative weight, less `step`, exceeds the rank.

    order : shape (n_rows,), int64: rows by value
    weights : shape (n_replicates, n_rows), float64
    below : shape (n_replicates,), float64: weight of the first `start` places
    ranks : shape (n_replicates,), float64
    places : shape (n_replicates,), int64, overwritten
    """
    for r in range(places.size):
        place, _ = _seek(order, weights[r], start, below[r], ranks[r], step)
        places[r] = place


@kernel
def fill_window_means(values, order, weights, start, below, lows, out):
    """Mean of the sorted values over the cumulative weights from `low` to `low` + 1.

    values : shape (n_rows,), float64, sorted
    lows : shape (n_replicates,), float64
    out : shape (n_replicates,), float64, overwritten

    The rest as `fill_places`. With whole weights the window meets two neighbours at most.
    """
    for r in range(out.size):
        place, before = _seek(order, weights[r], start, below[r], lows[r], 0.0)
        first = values[place]
        covered = before + weights[r, order[place]] - lows[r]
        rise = 0.0  # above the first value, so that equal values have just that mean
        while covered < 1.0 and place < order.size - 1:
            place += 1
            weight = min(weights[r, order[place]], 1.0 - covered)
            rise += weight * (values[place] - first)
            covered += weight
        out[r] = min(first + rise / covered, values[place]) if rise > 0.0 else first


@kernel
def fill_partial_sums(values, order, weights, start, below, ranks, out):
    """Sum of the sorted values over the cumulative weights from `below` to the rank; signed.

    out : shape (n_replicates,), float64, overwritten

    The rest as `fill_window_means`.
    """
    for r in range(out.size):
        before, rank, place = below[r], ranks[r], start
        total = 0.0
        while place > 0 and before > rank:
            place -= 1
            weight = weights[r, order[place]]
            before -= weight
            total -= weight * values[place]
        while place < order.size:
            weight = weights[r, order[place]]
            if before + weight > rank:
                total += (rank - before) * values[place]
                break
            before += weight
            total += weight * values[place]
            place += 1
        out[r] = total


@exact
def _order_uniform(n, k, replicate, key_0, key_1):
    """Return the k-th smallest of n uniform numbers: Beta(k, n - k + 1).

    By inversion for the smallest and the largest; else algorithm BB, in the names of the paper
    (Cheng 1978, "Generating beta variates with nonintegral shape parameters", Communications of
    the ACM 21), which takes at most 4 / e attempts on average.
    """
    if k in (1, n):
        w0, w1, _, _ = philox(0, 0, replicate, ORDER, key_0, key_1)
        largest = exponential(logarithm(1.0 - unit_interval(w0, w1)) / n)
        return largest if k == n else 1.0 - largest
    a = float(min(k, n - k + 1))
    b = float(max(k, n - k + 1))
    alpha = a + b
    beta = np.sqrt((alpha - 2.0) / (2.0 * a * b - alpha))
    gamma = a + 1.0 / beta
    attempt = 0
    while True:
        w0, w1, w2, w3 = philox(attempt, 0, replicate, ORDER, key_0, key_1)
        attempt += 1
        u1 = unit_interval(w0, w1)
        u2 = unit_interval(w2, w3)
        if u1 == 0.0 or u2 == 0.0:
            continue
        v = beta * logarithm(u1 / (1.0 - u1))
        w = a * exponential(v) if v <= 0.0 else a / exponential(-v)
        bound = gamma * v - _LOG_4 + alpha * logarithm(alpha / (b + w))
        if logarithm(u1 * u1 * u2) <= bound:
            return w / (b + w) if a == k else b / (b + w)


@exact
def _index(uniform, n):
    """Place of a uniform number among n equal steps; 1 itself, by rounding, is in the last."""
    return min(np.int64(uniform * n), n - 1)


@kernel
def fill_order_indices(n, k, first, key_0, key_1, out):
    """Index of the k-th smallest of n draws from n places, for consecutive replicates.

    A draw is the place of a uniform number, so the k-th smallest draw is the place of the k-th
    smallest of n uniform numbers.

    k : from 1 to n
    out : shape (n_replicates,), int64, overwritten: from 0 to n - 1
    """
    for r in range(out.size):
        out[r] = _index(_order_uniform(n, k, first + r, key_0, key_1), n)


@kernel
def fill_order_pairs(n, k, first, key_0, key_1, out):
    """Indices of the k-th and the (k + 1)-th smallest, of one resample.

    The n - k larger uniform numbers are independent and uniform above the k-th; the smallest of
    them leaves a share V^(1 / (n - k)) of what is above, where V is uniform. The first index is
    that of `fill_order_indices`.

    k : from 1 to n - 1
    out : shape (2, n_replicates), int64, overwritten
    """
    for r in range(out.shape[1]):
        lower = _order_uniform(n, k, first + r, key_0, key_1)
        w0, w1, _, _ = philox(0, 1, first + r, ORDER, key_0, key_1)
        share = exponential(logarithm(1.0 - unit_interval(w0, w1)) / (n - k))
        out[0, r] = _index(lower, n)
        # Rounding may make 1 - (1 - u) less than u.
        out[1, r] = max(out[0, r], _index(1.0 - (1.0 - lower) * share, n))
