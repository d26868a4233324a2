"""The slow reference: plain Python that shares nothing with the rest but the random words.

``draws`` follows every path word by word and gives each resample as a list of rows, ``schemes``
does so for other designs than independent units; ``exact`` lists all resamples or swaps of small
problems. Imports nothing of the library, and is imported by none of it; the tests compare the two.
"""

from __future__ import annotations

from fastboot.reference.draws import (
    CLASSES,
    PATTERNS,
    PLACES,
    REMAINDERS,
    SPLITS,
    SUPERBLOCK,
    SWAP_CLASSES,
    SWAPS,
    binomial,
    bootstrap_rows,
    key,
    philox,
    rows_of,
    swapped,
    swaps,
)
from fastboot.reference.exact import (
    all_bootstraps,
    all_swaps,
    bootstrap_pvalue,
    randomization_pvalue,
)
from fastboot.reference.relabelling import (
    LABELS,
    all_labels,
    class_labels,
    labels,
    permutation_pvalue,
)
from fastboot.reference.schemes import (
    block_rows,
    crossed_rows,
    exponential_weights,
    nested_units,
    poisson_units,
    stationary_rows,
)

__all__ = [
    "CLASSES",
    "LABELS",
    "PATTERNS",
    "PLACES",
    "REMAINDERS",
    "SPLITS",
    "SUPERBLOCK",
    "SWAPS",
    "SWAP_CLASSES",
    "all_bootstraps",
    "all_labels",
    "all_swaps",
    "binomial",
    "block_rows",
    "bootstrap_pvalue",
    "bootstrap_rows",
    "class_labels",
    "crossed_rows",
    "exponential_weights",
    "key",
    "labels",
    "nested_units",
    "permutation_pvalue",
    "philox",
    "poisson_units",
    "randomization_pvalue",
    "rows_of",
    "stationary_rows",
    "swapped",
    "swaps",
]
