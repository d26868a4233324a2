"""The protocol of a statistic that needs the weight of every row: ranks, quantiles, areas.

What no fixed number of sums determines can still be computed from the rows and how often each was
drawn, usually in one pass over rows that were sorted once. Such a statistic needs two methods:
``prepare`` does once what depends on the rows alone (sorting), ``values`` is called for batches of
replicates with the weights of the rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastboot.statistics.base import Statistic

__all__ = ["Weighted"]

Floats = NDArray[np.float64]


class Weighted(Statistic):
    """A statistic of weighted rows. Subclass it to write your own.

    Attributes
    ----------
    batch
        Replicates that `values` gets at once, at the most; None for any number.
    seconds_per_row
        Of one pass, roughly: how often progress is reported and Ctrl-C is heard.

    Examples
    --------
    >>> import numpy as np
    >>> import fastboot as fb
    >>> class Largest(fb.Weighted):
    ...     def prepare(self, values):
    ...         return values
    ...     def values(self, prepared, weights):
    ...         return np.where(weights > 0.0, prepared, -np.inf).max(axis=1)
    >>> Largest([3.0, 4.0, 5.0]).values(np.array([3.0, 4.0, 5.0]), np.ones((1, 3)))
    array([5.])
    """

    batch: ClassVar[int | None] = None
    seconds_per_row: ClassVar[float] = 4e-9

    # `*args` of Any let a subclass name its arguments.
    def prepare(self, *args: Any) -> Any:
        """Return what `values` needs of the rows, whatever their weights.

        Parameters
        ----------
        *args
            The columns, shape (n_rows,) each: read-only float64 for numbers, ``Labels`` for labels.
        """
        raise NotImplementedError(f"{type(self).__name__} must define prepare(*columns)")

    def values(self, prepared: Any, weights: Floats) -> Any:
        """Return the value for each vector of weights.

        Called from several threads at once.

        Parameters
        ----------
        prepared
            What `prepare` returned.
        weights
            Shape (n_replicates, n_rows), float64, C-contiguous, not to be written: how often each
            row was drawn; any number of 0 or more under weighted schemes.

        Returns
        -------
        array
            Shape (n_replicates,), float64; NaN where undefined.
        """
        raise NotImplementedError(f"{type(self).__name__} must define values(prepared, weights)")
