"""Answers: small frozen objects that keep the replicates and all that reproduces them.

Intervals and p-values are read off the replicates; others than the ones asked for can be read off
a finished result (`interval`, `test`) without resampling again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastboot import analytic, intervals, pvalues
from fastboot.analytic import ClusterErrors
from fastboot.components import Components
from fastboot.designs import check_bca
from fastboot.extension import Again, Sets, extended, joined
from fastboot.formula_intervals import Known, formula_interval
from fastboot.intervals import ConfidenceInterval
from fastboot.rendering import (
    beside,
    bracketed,
    count,
    html_table,
    interval_name,
    made_by,
    short,
    signature_line,
    to_json,
    width_of,
)
from fastboot.tabular import Tabular

__all__ = ["BootstrapResult", "Result"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(Tabular):
    """What every answer has.

    Attributes
    ----------
    statistic
        Name of the statistic.
    estimate
        Observed value (for two systems: a - b). NaN where undefined.
    replicates
        Shape (n_resamples,), float64, read-only. NaN where a replicate is undefined.
    alternative
        "two-sided", "greater" or "less". Also the sides of `confidence_interval`.
    confidence_level, method
        Of `confidence_interval`.
    n_rows
        Rows used.
    n_units
        Units resampled: rows, or groups.
    n_dropped
        Rows dropped for a missing value (``nan_policy="omit"``).
    unit
        "row" or "group".
    seed
        ``rng=seed`` reproduces the replicates.
    path
        The algorithm that ran.
    acceleration
        Of the BCa interval: a figure of the sample, whatever the number of resamples. NaN where
        undefined, None where it was not computed (``method="bca"`` asks for it).
    rounding
        How far two values may differ that are equal in exact arithmetic; replicates this close tie.
    replicate_standard_errors
        Shape (n_resamples,), read-only: the standard error of each replicate, from its own units.
        None where it was not computed (``method="studentized"`` asks for it).
    analytic_errors
        Standard errors from formulas, to first order, of the units as clusters; None where there
        are none (functions of few sums have them, in designs whose units are independent).
    spread_apart
        Why infinitely many resamples do not spread as `analytic_errors.cr0` says, in words; empty
        where they do, or there is no formula.
    n_successes
        Rows that succeed, where the statistic is the share of successes in independent rows: no
        groups, strata or weights. Else None.
    variance_components
        With ``levels="crossed"``: how much of the variance comes from the levels of the first
        factor, of the second, and from their pairs; else None.
    design
        How units are resampled, as part of a sentence; empty for plain rows.
    asked
        The calls that made the statistics, and the options that say how rows are resampled, by the
        names of arguments: what `signature` quotes.
    remarks
        Sentences about the data, part of `notes`.
    elapsed
        Seconds, from the call to the answer.
    again
        How `extend` runs the procedure again; it holds the arguments of the call, and is None after
        pickling and in results of a table.
    """

    statistic: str
    estimate: float
    replicates: NDArray[np.float64]
    alternative: str
    confidence_level: float
    method: str
    n_rows: int
    n_units: int
    n_dropped: int
    unit: str
    seed: int
    path: str
    acceleration: float | None
    rounding: float
    remarks: tuple[str, ...]
    elapsed: float
    replicate_standard_errors: NDArray[np.float64] | None = None
    analytic_errors: ClusterErrors | None = None
    spread_apart: str = ""
    n_successes: int | None = None
    variance_components: Components | None = None
    design: str = ""
    asked: tuple[tuple[str, str], ...] = ()
    again: Again | None = None

    _procedure: ClassVar[str] = ""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"again": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.replicates.flags.writeable = False  # a pickle forgets it
        if self.replicate_standard_errors is not None:
            self.replicate_standard_errors.flags.writeable = False

    @property
    def n_resamples(self) -> int:
        """Number of replicates."""
        return self.replicates.size

    @cached_property
    def n_undefined(self) -> int:
        """Number of replicates in which the statistic is undefined."""
        return int(np.isnan(self.replicates).sum())

    @cached_property
    def standard_error(self) -> float:
        """Standard deviation (ddof = 1) of the defined replicates."""
        return intervals.standard_error(self._defined)

    @cached_property
    def confidence_interval(self) -> ConfidenceInterval:
        """The interval asked for."""
        return self.interval()

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        notes = list(self._data_notes())
        if self.method in {"bca", "studentized"} and self.confidence_interval.note:
            given = self.confidence_interval.method
            other = f"; the {given} interval is given" if given != self.method else ""
            notes.append(self.confidence_interval.note + other)
        return tuple(notes)

    def _data_notes(self) -> tuple[str, ...]:
        """Return those of the notes that are about data and replicates, whatever the interval."""
        notes = list(self.remarks)
        if self.degenerate:
            notes.append(
                "degenerate: all replicates are equal, so they say nothing about the uncertainty"
            )
        if self.n_undefined:
            notes.append(
                f"{self.n_undefined:,} of {self.n_resamples:,} replicates are undefined and left "
                "out"
            )
        return tuple(notes)

    @cached_property
    def degenerate(self) -> bool:
        """Whether all replicates are equal, and to the estimate but for rounding."""
        defined = self._defined
        return (
            defined.size > 0
            and float(np.ptp(defined)) == 0.0
            and abs(float(defined[0]) - self.estimate) <= self.rounding
        )

    @property
    def _defined(self) -> NDArray[np.float64]:
        return self.replicates[~np.isnan(self.replicates)]

    def interval(
        self,
        confidence_level: float | None = None,
        method: str | None = None,
        alternative: str | None = None,
    ) -> ConfidenceInterval:
        """Return another confidence interval from the same replicates.

        Parameters
        ----------
        confidence_level, method, alternative
            As in :func:`fastboot.bootstrap`; None keeps the one asked for.

        Raises
        ------
        ValueError
            The level is not between 0 and 1, the word is unknown, or the design has no BCa
            interval: crossed levels, and blocks.

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.bootstrap([1.0, 2.0, 4.0, 7.0], rng=0)
        >>> result.interval(0.8, method="basic").method
        'basic'
        """
        level, sides = self._level_and_sides(confidence_level, alternative)
        word = intervals.check_method(self.method if method is None else method)
        note = ""
        if word == "bca":
            options = dict(self.asked)
            check_bca(options.get("levels"), options.get("scheme"))
        if word == "studentized" and not math.isnan(self.estimate):
            errors, own = self.analytic_errors, self.replicate_standard_errors
            if errors is not None and own is not None:
                return analytic.studentized_interval(
                    self.estimate,
                    errors.cr0,
                    self.replicates,
                    own,
                    confidence_level=level,
                    alternative=sides,
                    rounding=self.rounding,
                )
            word = "percentile"
            note = (
                "studentized was not prepared: it needs standard errors of all replicates, ask "
                'with method="studentized"'
            )
        found = intervals.interval(
            self.replicates,
            self.estimate,
            confidence_level=level,
            method=word,
            alternative=sides,
            acceleration=self.acceleration,
            rounding=self.rounding,
        )
        return found._replace(note=note) if note else found

    def extend(self, n_resamples: int, executor: object = None) -> Self:
        """Return the result of a longer run: the same replicates, and more of them.

        It equals the longer run from the start, bit for bit, and takes the time of the replicates
        that are new, and of 16 that show whether data have changed: the arguments of the call are
        read again. (The components of crossed levels are computed from the start.)

        Parameters
        ----------
        n_resamples
            Replicates in all.
        executor
            Who works, as in the call; None takes that of the call, which may be closed by now.

        Raises
        ------
        TypeError, ValueError
            It is no whole number or less than there are; the data have changed, or were a stream;
            or the result was pickled or taken from a table (extend the table).

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.bootstrap([3, 1, 2, 4], rng=0, n_resamples=100)
        >>> result.extend(200).replicates[:100].tolist() == result.replicates.tolist()
        True
        """
        return extended(self, n_resamples, self._known(), executor)

    def _known(self) -> Sets:
        """Return what a longer run need not compute again."""
        replicates = joined(self.replicates[None, None], self.replicate_standard_errors)
        return {"total": (np.array([[self.estimate]]), replicates)}

    def analytic_interval(
        self,
        method: str | None = None,
        confidence_level: float | None = None,
        alternative: str | None = None,
    ) -> ConfidenceInterval:
        """Return the interval of a formula, to stand beside the resampled one.

        Parameters
        ----------
        method
            "wilson" or "clopper-pearson": for the share of successes in independent rows
            (:func:`fastboot.analytic.proportion_interval`). "normal" or "cr0": estimate -+ normal
            quantile x the error that infinitely many resamples tend to; not where these spread
            otherwise: with ``levels="nested"``, another `n_drawn`, or ``scheme="poisson"`` and a
            statistic that grows with the rows. "t" or "cr1": estimate -+ t quantile of n_units -
            n_strata degrees of freedom x the error with n / (n - 1) under the root, which is that
            of the sample whatever resamples it; with groups the cluster-robust interval (Liang and
            Zeger 1986), for a mean of rows Student's. None takes "wilson" for a proportion, "cr1"
            with groups, else "t".
        confidence_level, alternative
            As in :func:`fastboot.bootstrap`; None keeps the one asked for.

        Raises
        ------
        ValueError
            The word is unknown, or there is no such formula for this statistic and design.

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.bootstrap([1, 1, 1, 1, 1, 1, 1, 1, 1, 1], rng=0)
        >>> low, high = result.analytic_interval()[:2]
        >>> f"{low:.3f} to {high:.3f}"
        '0.722 to 1.000'
        """
        level, sides = self._level_and_sides(confidence_level, alternative)
        return formula_interval(
            method,
            Known(
                self.statistic, self.estimate, self.n_rows, self.n_successes, self.analytic_errors,
                grouped=self.unit == "group", apart=self.spread_apart,
            ),
            confidence_level=level,
            alternative=sides,
        )  # fmt: skip

    def _level_and_sides(
        self, confidence_level: float | None, alternative: str | None
    ) -> tuple[float, str]:
        level = self.confidence_level if confidence_level is None else confidence_level
        sides = self.alternative if alternative is None else alternative
        return intervals.check_level(level), pvalues.check_alternative(sides)

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        low, high = self.confidence_interval[:2]
        formula = None if self.analytic_errors is None else self.analytic_interval()
        return {
            "kind": type(self).__name__,
            "statistic": self.statistic,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "confidence_interval": [low, high],
            "confidence_level": self.confidence_level,
            "method": self.confidence_interval.method,
            "alternative": self.alternative,
            "analytic_interval": None if formula is None else list(formula[:2]),
            "analytic_method": None if formula is None else formula.method,
            "variance_components": None
            if self.variance_components is None
            else self.variance_components._asdict(),
            "n_rows": self.n_rows,
            "n_units": self.n_units,
            "unit": self.unit,
            "design": self.design,
            "n_dropped": self.n_dropped,
            "n_resamples": self.n_resamples,
            "n_undefined": self.n_undefined,
            "seed": self.seed,
            "path": self.path,
            "notes": list(self.notes),
            "signature": self.signature(),
            "elapsed": self.elapsed,
        }

    def to_figures(self) -> dict[str, Any]:
        """Return the few figures that a row of a table shows."""
        low, high = self.confidence_interval[:2]
        return {
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
            "n_rows": self.n_rows,
            "n_units": self.n_units,
            "n_undefined": self.n_undefined,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the one row of a table: what a data frame is made of.

        Examples
        --------
        >>> import fastboot as fb
        >>> fb.bootstrap([3, 1, 2, 4], rng=0).to_columns()["estimate"]
        [2.5]
        """
        return {"statistic": [self.statistic]} | {
            name: [figure] for name, figure in self.to_figures().items()
        }

    def _caption(self) -> str:
        made = ", ".join([*self._made(), self._design_words()])
        return f"{made[0].upper()}{made[1:]}."

    def _made(self) -> list[str]:
        """Return what the figures of a table are."""
        return [self._interval_name()]

    def _note_lines(self) -> tuple[str, ...]:
        return self.notes

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return f"{self._estimate_words()} ({self._design_words()})."

    def signature(self) -> str:
        """Return one line to quote beside a number: what must be known to reproduce it.

        ``key:value|key:value``, in a fixed order; keys are names of arguments and attributes. An
        array is called "values", a long list by its length and checksum. In values ``|``, ``%`` and
        line breaks are written as in URLs.

        Examples
        --------
        >>> import fastboot as fb
        >>> fb.bootstrap([3, 1, 2, 4], rng=0).signature().split("|")[1:4]
        ['procedure:bootstrap', 'statistic:mean([3,1,2,4])', 'n_resamples:9999']
        """
        return signature_line(self._signature())

    def _signature(self) -> dict[str, Any]:
        """Return the keys and values of `signature`."""
        parts = {
            **made_by(self._procedure),
            **dict(self.asked),
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "method": self.method,
            "confidence_level": self.confidence_level,
            "alternative": self.alternative,
            **self._test_parts(),
            **self._sizes(),
        }
        if self.n_dropped:
            parts |= {"nan_policy": "omit", "n_dropped": self.n_dropped}
        return parts

    def _test_parts(self) -> dict[str, Any]:
        """Return what `signature` says of a test."""
        return {}

    def _sizes(self) -> dict[str, int]:
        """Return what `signature` says of the size of the data."""
        return {"n_rows": self.n_rows, "n_units": self.n_units}

    def __repr__(self) -> str:
        low, high = self.confidence_interval[:2]
        width = width_of(low, high, self.estimate)
        return (
            f"{type(self).__name__}({self.statistic}: {short(self.estimate, width)} "
            f"[{short(low, width)}, {short(high, width)}]{self._short_pvalue()}, "
            f"n_units={self.n_units:,}, n_resamples={self.n_resamples:,}, seed={self.seed})"
        )

    def _repr_html_(self) -> str:
        figures = {
            key: value
            for key, value in self.to_dict().items()
            if key not in {"kind", "notes", "signature"} and value is not None
        }
        return html_table(type(self).__name__, figures, self.notes)

    def _estimate_words(self) -> str:
        if math.isnan(self.estimate):
            return f"{self.statistic} is undefined"
        shown = beside(self.estimate, *self.confidence_interval[:2])
        return f"{self.statistic} = {shown}{self._interval_words()}"

    def _interval_words(self) -> str:
        low, high = self.confidence_interval[:2]
        if math.isnan(low):
            return ", interval undefined"
        return f", {self._interval_name()} {bracketed(low, high, self.estimate)}"

    def _interval_name(self, method: str | None = None, plural: str = "") -> str:
        """Return the name of the interval given, or of those by another method."""
        level, given = self.confidence_interval[2:4]
        sided = "" if self.alternative == "two-sided" else "one-sided "
        return f"{sided}{interval_name(level, method or given)}{plural}"

    def _design_words(self) -> str:
        """Return what was resampled, how often, and what is left out."""
        return ", ".join([self._units_words(), *self._run_words(self.n_undefined)])

    def _run_words(self, n_undefined: int) -> list[str]:
        """Return how units were resampled, how often, and what is left out."""
        clauses = [self.design] if self.design else []
        clauses.append(self._resamples_words())
        if self.n_dropped:
            clauses.append(f"{count(self.n_dropped, 'row')} with a missing value dropped")
        if n_undefined:
            clauses.append(f"{count(n_undefined, 'undefined replicate')} left out")
        return clauses

    def _units_words(self) -> str:
        units = count(self.n_units, self.unit)
        return units if self.unit == "row" else f"{units} of {count(self.n_rows, 'row')}"

    def _resamples_words(self) -> str:
        return f"{count(self.n_resamples, 'resample')}, seed {self.seed}"

    def _short_pvalue(self) -> str:
        return ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BootstrapResult(Result):
    """Answer of :func:`fastboot.bootstrap`."""

    _procedure = "bootstrap"
