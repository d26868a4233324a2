"""Intervals of formulas, to stand beside resampled ones: which there are, and for what."""

from __future__ import annotations

from dataclasses import dataclass

from fastboot import analytic
from fastboot.analytic import ClusterErrors
from fastboot.intervals import ConfidenceInterval

__all__ = ["ANALYTIC_METHODS", "Known", "formula_interval"]

ANALYTIC_METHODS = (*analytic.PROPORTION_METHODS, "normal", "t", "cr0", "cr1")


@dataclass(frozen=True)
class Known:
    """What formulas take of a result, see :class:`fastboot.results.Result`.

    Attributes
    ----------
    apart
        Why resamples spread otherwise than the formula says; empty where they do not.
    """

    statistic: str
    estimate: float
    n_rows: int
    n_successes: int | None
    errors: ClusterErrors | None
    grouped: bool
    apart: str = ""

    @property
    def usual(self) -> str:
        """The method where none is named."""
        if self.n_successes is not None:
            return "wilson"
        return "cr1" if self.grouped else "t"


def formula_interval(
    method: str | None, known: Known, *, confidence_level: float, alternative: str
) -> ConfidenceInterval:
    """Return the interval of a formula.

    Parameters
    ----------
    method
        One of `ANALYTIC_METHODS`, None for the usual one.
    known
        Of the result.
    confidence_level, alternative
        Checked.

    Raises
    ------
    ValueError
        The word is unknown, or there is no such formula for this statistic and design.
    """
    word = known.usual if method is None else method
    if word not in ANALYTIC_METHODS:
        raise ValueError(f"`method` is {word!r}; choose one of {', '.join(ANALYTIC_METHODS)}")
    if word in analytic.PROPORTION_METHODS:
        if known.n_successes is None:
            raise ValueError(
                f"`method` is {word!r}, but {known.statistic} is not a share of successes in "
                "independent rows (0 or 1 in each; no groups, strata or weights); choose another"
            )
        return analytic.proportion_interval(
            known.n_successes,
            known.n_rows,
            confidence_level=confidence_level,
            method=word,
            alternative=alternative,
        )
    errors = known.errors
    if errors is None:
        raise ValueError(
            f"`method` is {word!r}, but there is no formula for the standard error of "
            f"{known.statistic} here: it takes a function of few sums, and rows or groups that are "
            "independent; read interval() instead"
        )
    if word in {"normal", "cr0"}:
        if known.apart:
            raise ValueError(
                f"`method` is {word!r}, but its error is not the one that these resamples tend to: "
                f'{known.apart}; read interval(method="normal") for theirs, or choose '
                f"{'cr1' if known.grouped else 't'}, which is about the sample whatever resamples "
                "it"
            )
        found = analytic.normal_interval(
            known.estimate, errors.cr0, confidence_level=confidence_level, alternative=alternative
        )
    else:
        found = analytic.t_interval(
            known.estimate,
            errors.cr1,
            errors.degrees_of_freedom,
            confidence_level=confidence_level,
            alternative=alternative,
        )
    return found._replace(method=word)
