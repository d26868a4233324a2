"""What the classical tests beside resampling share: their pairs, and the manners of their answers.

McNemar's test, the signed-rank and the sign test, and those of cross-validation. Their laws are
known, so there are no replicates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import words
from fastboot.columns import Column, Source, load
from fastboot.intervals import ConfidenceInterval
from fastboot.precision import reach
from fastboot.pvalues import LEAST_PVALUE
from fastboot.rendering import beside, bracketed, made_by, short, shown_pvalue, width_of
from fastboot.reports import Report

__all__ = [
    "MIRROR",
    "Companion",
    "asked_of",
    "interval_words",
    "load_pairs",
    "pvalue_words",
    "subtracted",
    "t_pvalue",
    "tied",
]

# The sides of b - a.
MIRROR = {"two-sided": "two-sided", "greater": "less", "less": "greater"}

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Companion(Report):
    """What every answer has.

    Attributes
    ----------
    estimate
        How much better a is than b. NaN where undefined.
    confidence_interval
        Of the estimate.
    pvalue
        Of the test. NaN where undefined.
    alternative
        "two-sided", "greater" or "less". Also the sides of intervals.
    n_rows
        Pairs used.
    n_dropped
        Rows dropped for a missing value (``nan_policy="omit"``).
    asked
        Names of the columns, for `signature`.
    """

    estimate: float
    confidence_interval: ConfidenceInterval
    pvalue: float
    alternative: str
    n_rows: int
    n_dropped: int
    asked: tuple[tuple[str, str], ...] = ()

    _procedure: ClassVar[str] = ""

    @property
    def _shown(self) -> str:
        """The estimate, in as many digits as its interval."""
        return beside(self.estimate, *self.confidence_interval[:2])

    @property
    def _interval_shown(self) -> str:
        return interval_words(self.confidence_interval, estimate=self.estimate)

    @property
    def confidence_level(self) -> float:
        """Nominal coverage of intervals."""
        return self.confidence_interval.confidence_level

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        figures: dict[str, Any] = {"kind": type(self).__name__}
        for one in fields(self):
            if one.name == "asked":  # of `signature`
                continue
            value = getattr(self, one.name)
            if isinstance(value, ConfidenceInterval):
                figures[one.name] = list(value[:2])
                figures[f"{one.name}_method"] = value.method
            else:
                figures[one.name] = value
        return figures | {"confidence_level": self.confidence_level, "notes": list(self.notes)}

    def _signature(self) -> dict[str, Any]:
        parts = {
            **made_by(self._procedure),
            **dict(self.asked),
            "method": self.confidence_interval.method,
            "confidence_level": self.confidence_level,
            "alternative": self.alternative,
            **self._test_parts(),
            **self._sizes(),
        }
        if self.n_dropped:
            parts |= {"nan_policy": "omit", "n_dropped": self.n_dropped}
        return parts

    def _test_parts(self) -> dict[str, Any]:
        """Return what `signature` says of the test."""
        return {}

    def _sizes(self) -> dict[str, int]:
        """Return what `signature` says of the size of the data."""
        return {"n_rows": self.n_rows}

    def __repr__(self) -> str:
        low, high = self.confidence_interval[:2]
        width = width_of(low, high, self.estimate)
        return (
            f"{type(self).__name__}({short(self.estimate, width)} "
            f"[{short(low, width)}, {short(high, width)}], "
            f"p {shown_pvalue(self.pvalue)}, n_rows={self.n_rows:,})"
        )


def interval_words(
    interval: ConfidenceInterval, name: str = "", *, estimate: float = math.nan
) -> str:
    """Return "95% interval [0.1, 0.3]", or that there is none."""
    low, high, level = interval[:3]
    words = f"{100 * level:g}% {name}{' ' if name else ''}interval"
    return f"{words} undefined" if math.isnan(low) else f"{words} {bracketed(low, high, estimate)}"


def pvalue_words(pvalue: float, alternative: str) -> str:
    """Return "two-sided p = 0.0123", or the side by its words; see `shown_pvalue`."""
    sides = {"two-sided": "two-sided", "greater": "one-sided (a > b)", "less": "one-sided (a < b)"}
    return f"{sides[alternative]} p {shown_pvalue(pvalue)}"


def asked_of(**columns: Source | None) -> tuple[tuple[str, str], ...]:
    """Return the names of columns by those of arguments, for a signature; None is no column."""
    return tuple((name, words(one)) for name, one in columns.items() if one is not None)


def load_pairs(a: Source, b: Source, data: object, nan_policy: str) -> tuple[Floats, Floats, int]:
    """Return the scores of both systems, and how many rows were dropped."""
    rows = load([Column(a, argument="a"), Column(b, argument="b")], data, nan_policy)
    first, second = rows.columns
    return first, second, rows.n_dropped  # type: ignore[return-value] # numbers, as asked for


def t_pvalue(t: float, degrees_of_freedom: int, alternative: str, estimate: float) -> float:
    """Return the p-value of a t statistic; 1 where the estimate is 0 and t undefined."""
    from scipy.special import stdtr

    if math.isnan(t) and estimate == 0.0:
        return 1.0
    if not math.isfinite(t):
        return math.nan
    if alternative == "two-sided":
        found = 2.0 * stdtr(degrees_of_freedom, -abs(t))
    else:
        found = stdtr(degrees_of_freedom, -t if alternative == "greater" else t)
    return max(float(found), LEAST_PVALUE)


def subtracted(a: Floats, b: Floats) -> Floats:
    """Return a - b; the sum of any two of these is finite, or NaN.

    Parameters
    ----------
    a, b
        Shape (n_rows,).

    Raises
    ------
    ValueError
        Two differences may sum to more than float64 holds.
    """
    with np.errstate(over="ignore"):
        differences: Floats = a - b
        if np.isinf(2.0 * differences).any():
            raise ValueError("the values sum to more than float64 can hold; divide them first")
    return differences


def tied(a: Floats, b: Floats) -> Floats:
    """Return a - b, with differences whose sizes only rounding sets apart made equal, or 0.

    Parameters
    ----------
    a, b
        Shape (n_rows,); no NaN.
    """
    differences = subtracted(a, b)
    far = reach(a, b)
    none = np.abs(differences) <= far
    differences[none], far[none] = 0.0, 0.0
    order = np.argsort(np.abs(differences), kind="stable")
    sizes, far = np.abs(differences)[order], far[order]
    steps = np.diff(sizes, prepend=0.0)
    # Neighbours only: a large score, of which much may be rounding, ties two others at most.
    apart = steps > far + np.concatenate([[0.0], far[:-1]])
    if not ((steps > 0.0) & ~apart).any():
        return differences
    starts = np.concatenate([[0.0], sizes[apart]])
    places = np.searchsorted(starts, np.abs(differences), side="right") - 1
    merged: Floats = np.copysign(starts[places], differences)
    return merged
