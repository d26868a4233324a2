"""From weights to sums: dense terms, tallies, and the weights of rows."""

from __future__ import annotations

from fastboot.compiler import kernel

__all__ = ["add_tallies", "add_weighted_sums", "spread"]


@kernel
def add_weighted_sums(weights, terms, cells, sums):
    """Weighted sums of dense terms, cell by cell.

    weights : shape (n_replicates, n_units)
    terms : shape (n_terms, n_units)
    cells : shape (n_cells + 1,), int64: cell c has the units from cells[c] on
    sums : shape (at least n_terms, n_cells, n_replicates), added to
    """
    for r in range(weights.shape[0]):
        row = weights[r]
        for c in range(cells.size - 1):
            for k in range(terms.shape[0]):
                term = terms[k]
                total = 0.0
                for i in range(cells[c], cells[c + 1]):
                    total += row[i] * term[i]
                sums[k, c, r] += total


@kernel
def add_tallies(weights, offsets, places, values, first, cells, sums):
    """Weighted sums of the terms of tallies, cell by cell.

    offsets : shape (n_units + 1,), int64: unit i has the entries from offsets[i] on
    places, values : shape (n_entries,), int64 and float64: term (from `first` on) and what is added
    sums : shape (first + terms, n_cells, n_replicates), added to
    """
    for r in range(weights.shape[0]):
        for c in range(cells.size - 1):
            for i in range(cells[c], cells[c + 1]):
                weight = weights[r, i]
                if weight != 0.0:
                    for e in range(offsets[i], offsets[i + 1]):
                        sums[first + places[e], c, r] += weight * values[e]


@kernel
def spread(weights, units, factors, rows):
    """Weights of rows: that of their unit times a factor of their own.

    weights : shape (n_replicates, n_units)
    units, factors : shape (n_rows,), int64 and float64; one may be empty: row i is unit i, factor 1
    rows : shape (n_replicates, n_rows), overwritten
    """
    for r in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            weight = weights[r, units[i] if units.size else i]
            rows[r, i] = weight * factors[i] if factors.size else weight
