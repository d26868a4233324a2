"""Rows of two crossed factors, each resampled on its own.

The pigeonhole bootstrap (Owen 2007, "The pigeonhole bootstrap", Ann. Appl. Stat. 1): a row comes as
often as its two levels were drawn together, the product of their counts.
"""

from __future__ import annotations

from fastboot.compiler import kernel

__all__ = ["fill_crossed_weights"]


@kernel
def fill_crossed_weights(codes_0, codes_1, outer_0, outer_1, weights):
    """Products of the weights of both levels of each row.

    codes_0, codes_1 : shape (n_rows,), int64: the levels of each row
    outer_0, outer_1 : shape (n_replicates, number of levels), float64
    weights : shape (n_replicates, n_rows), float64, overwritten
    """
    for r in range(weights.shape[0]):
        for i in range(weights.shape[1]):
            weights[r, i] = outer_0[r, codes_0[i]] * outer_1[r, codes_1[i]]
