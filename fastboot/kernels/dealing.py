"""Groups of rows dealt to folds, whole."""

from __future__ import annotations

from fastboot.compiler import kernel

__all__ = ["deal_groups"]


@kernel
def deal_groups(order, offsets, strata, shares, loads, folds):
    """Deal each group to the fold where it adds least to the squared shares of the folds.

    A fold has a share of every stratum. Their squares add up to least where all folds have equal
    shares, and a group adds twice the products of its shares and those that the fold has, and the
    same everywhere: so the products decide, ties the first fold.

    order : shape (n_groups,), int64, read-only: groups in the order of dealing
    offsets : shape (n_groups + 1,), int64, read-only: where the entries of each group begin
    strata : shape (n_entries,), int64, read-only: of an entry of a group
    shares : shape (n_entries,), float64, read-only: of that stratum, in that group
    loads : shape (n_folds, n_strata), float64, zeros at first: shares dealt, overwritten
    folds : shape (n_groups,), int64, overwritten
    """
    for k in range(order.size):
        group = order[k]
        start, stop = offsets[group], offsets[group + 1]
        best, least = 0, 0.0
        for fold in range(loads.shape[0]):
            cost = 0.0
            for e in range(start, stop):
                cost += shares[e] * loads[fold, strata[e]]
            if fold == 0 or cost < least:
                best, least = fold, cost
        folds[group] = best
        for e in range(start, stop):
            loads[best, strata[e]] += shares[e]
