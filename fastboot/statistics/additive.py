"""The protocol of an additive statistic, and ratios of sums, which most statistics are.

A statistic that is a function of sums over rows needs two methods. ``terms`` turns columns into K
arrays, one number per row each; ``finish`` turns the K sums into the value. Both work on whole
arrays. That is all the engine needs for row and group resampling, swaps, leave-one-out values and
every fast path::

    class RootMeanSquare(fb.Additive):
        def terms(self, values):
            return values**2, 1.0

        def finish(self, squares, count):
            return np.sqrt(squares / count)

    fb.bootstrap(RootMeanSquare("error"), data=table)
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fastboot.statistics.base import Statistic, Vector
from fastboot.units import Tally, Term

__all__ = ["Additive", "AdditiveVector", "Ratio", "Tally", "Term"]


class Additive(Statistic):
    """A statistic that is a function of sums over rows. Subclass it to write your own.

    Parameters
    ----------
    *columns
        What `terms` gets, in order: names of columns of ``data``, arrays, or
        :class:`~fastboot.columns.Column` objects (for label columns).
    name
        How results call the statistic; the class name by default.

    Attributes
    ----------
    columns
        The columns asked for.
    linear
        True promises that `finish` is proportional to its first sum while the others are fixed
        (a mean, a total, a ratio). Then the difference of two such statistics whose other terms
        are equal is the statistic of the difference, one term instead of two.

    Examples
    --------
    >>> import numpy as np
    >>> import fastboot as fb
    >>> class RootMeanSquare(fb.Additive):
    ...     def terms(self, values):
    ...         return values**2, 1.0
    ...     def finish(self, squares, count):
    ...         return np.sqrt(squares / count)
    >>> fb.bootstrap(RootMeanSquare([3.0, 4.0, 5.0]), rng=0).estimate
    4.08248290463863
    """

    linear: ClassVar[bool] = False

    @property
    def n_terms(self) -> int:
        """Number of terms: what `finish` takes. Override it where `finish` takes ``*sums``.

        Raises
        ------
        TypeError
            `finish` does not say how many sums it takes.
        """
        parameters = inspect.signature(self.finish).parameters.values()
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
            raise TypeError(
                f"{self.name}.finish() takes any number of sums; define n_terms to say how many"
            )
        return len(parameters)

    # `*args, **kwargs` of Any let a subclass name its arguments.
    def terms(self, *args: Any, **kwargs: Any) -> Sequence[Term]:
        """Return K terms for each row.

        Those of a row depend on that row alone: a large table is read, and its terms are asked for,
        some rows at a time.

        Parameters
        ----------
        *args
            The columns, shape (n_rows,) each: read-only float64 for numbers, ``Labels`` for labels.

        Returns
        -------
        sequence
            K terms: an array of shape (n_rows,); a number that is the same in every row (``1.0``
            counts rows); or a :class:`Tally`, which stands for one term for each class. NaN only
            where the input has it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define terms(*columns)")

    def finish(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value of the statistic.

        Parameters
        ----------
        *args
            The K sums: numbers or arrays of one shape; that of a tally has one more axis, the
            first, for its classes.

        Returns
        -------
        number or array
            NaN where undefined (0 / 0 gives it by itself; division warnings are silenced).
        """
        raise NotImplementedError(f"{type(self).__name__} must define finish(*sums)")


class AdditiveVector(Vector, Additive):
    """An additive statistic with several values: `finish` returns one more axis, the first."""


class Ratio(Additive):
    """A ratio of two sums over rows; undefined where the denominator is 0.

    A subclass defines `terms`, which returns those of the numerator and of the denominator.
    """

    linear = True

    def finish(self, numerator: Any, denominator: Any) -> Any:
        """Return numerator / denominator."""
        return np.true_divide(numerator, denominator)
