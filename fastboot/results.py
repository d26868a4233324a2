"""Answers: small frozen objects that keep the replicates and all that reproduces them.

Intervals and p-values are read off the replicates; others than the ones asked for can be read off
a finished result (`interval`, `test`) without resampling again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot import intervals, pvalues
from fastboot.intervals import ConfidenceInterval
from fastboot.pvalues import PValue
from fastboot.rendering import count, html_table, short, shown_pvalue, to_json

__all__ = ["BootstrapResult", "PairedBootstrapResult", "RandomizationResult", "Result"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result:
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
        undefined.
    rounding
        How far two values may differ that are equal in exact arithmetic; replicates this close tie.
    remarks
        Sentences about the data, part of `notes`.
    elapsed
        Seconds, from the call to the answer.
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
    acceleration: float
    rounding: float
    remarks: tuple[str, ...]
    elapsed: float

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.replicates.flags.writeable = False  # a pickle forgets it

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
        if self.confidence_interval.note:
            notes.append(f"{self.confidence_interval.note}; the percentile interval is given")
        return tuple(notes)

    @cached_property
    def degenerate(self) -> bool:
        """Whether all replicates are equal to the estimate."""
        distance = np.abs(self._defined - self.estimate)
        return distance.size > 0 and bool((distance <= self.rounding).all())

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
            The level is not between 0 and 1, or the word is unknown.

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.bootstrap([1.0, 2.0, 4.0, 7.0], rng=0)
        >>> result.interval(0.8, method="basic").method
        'basic'
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        return intervals.interval(
            self.replicates,
            self.estimate,
            confidence_level=intervals.check_level(level),
            method=intervals.check_method(self.method if method is None else method),
            alternative=pvalues.check_alternative(
                self.alternative if alternative is None else alternative
            ),
            acceleration=self.acceleration,
            rounding=self.rounding,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        low, high = self.confidence_interval[:2]
        return {
            "kind": type(self).__name__,
            "statistic": self.statistic,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "confidence_interval": [low, high],
            "confidence_level": self.confidence_level,
            "method": self.confidence_interval.method,
            "alternative": self.alternative,
            "n_rows": self.n_rows,
            "n_units": self.n_units,
            "unit": self.unit,
            "n_dropped": self.n_dropped,
            "n_resamples": self.n_resamples,
            "n_undefined": self.n_undefined,
            "seed": self.seed,
            "path": self.path,
            "notes": list(self.notes),
            "elapsed": self.elapsed,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return f"{self._estimate_words()} ({self._design_words()})."

    def __repr__(self) -> str:
        low, high = self.confidence_interval[:2]
        return (
            f"{type(self).__name__}({self.statistic}: {short(self.estimate)} "
            f"[{short(low)}, {short(high)}]{self._short_pvalue()}, n_units={self.n_units:,}, "
            f"n_resamples={self.n_resamples:,}, seed={self.seed})"
        )

    def _repr_html_(self) -> str:
        figures = {
            key: value for key, value in self.to_dict().items() if key not in {"kind", "notes"}
        }
        return html_table(type(self).__name__, figures, self.notes)

    def _estimate_words(self) -> str:
        return f"{self.statistic} = {short(self.estimate)}{self._interval_words()}"

    def _interval_words(self) -> str:
        low, high, level, method, _ = self.confidence_interval
        if math.isnan(low):
            return ", interval undefined"
        names = {"bca": "BCa bootstrap", "normal": "normal"}
        name = names.get(method, f"{method} bootstrap")
        return f", {100 * level:g}% {name} interval [{short(low)}, {short(high)}]"

    def _design_words(self) -> str:
        return f"{self._units_words()}, {count(self.n_resamples, 'resample')}, seed {self.seed}"

    def _units_words(self) -> str:
        units = count(self.n_units, self.unit)
        return units if self.unit == "row" else f"{units} of {count(self.n_rows, 'row')}"

    def _short_pvalue(self) -> str:
        return ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BootstrapResult(Result):
    """Answer of :func:`fastboot.bootstrap`."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _PairedResult(Result):
    """What answers about two systems have.

    Attributes
    ----------
    estimate_a, estimate_b
        Observed values of the two systems; `estimate` is their difference.
    add_one
        Whether the observed difference counts as one more replicate.
    """

    estimate_a: float
    estimate_b: float
    add_one: bool

    @cached_property
    def _test(self) -> PValue:
        return self.test()

    @property
    def pvalue(self) -> float:
        """Probability of a difference at least as extreme if there were none."""
        return self._test.pvalue

    @property
    def n_extreme(self) -> int:
        """Number of replicates at least as extreme as the observed difference; ties count."""
        return self._test.n_extreme

    @property
    def pvalue_standard_error(self) -> float:
        """Monte Carlo standard error of `pvalue`."""
        return self._test.standard_error

    @property
    def min_pvalue(self) -> float:
        """The smallest p-value that this test could have given."""
        return self._test.min_pvalue

    @property
    def rule(self) -> str:
        """Name of the p-value rule, see :mod:`fastboot.pvalues`."""
        return self._test.rule

    def test(
        self,
        alternative: str | None = None,
        *,
        add_one: bool | None = None,
    ) -> PValue:
        """Return the p-value of another alternative from the same replicates."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        return super().to_dict() | {
            "estimate_a": self.estimate_a,
            "estimate_b": self.estimate_b,
            "pvalue": self.pvalue,
            "pvalue_standard_error": self.pvalue_standard_error,
            "n_extreme": self.n_extreme,
            "min_pvalue": self.min_pvalue,
            "rule": self.rule,
        }

    def _estimate_words(self) -> str:
        return (
            f"difference in {self.statistic} a - b = {short(self.estimate)} "
            f"({short(self.estimate_a)} - {short(self.estimate_b)}){self._interval_words()}, "
            f"{self.alternative} {self._test_name()} p {shown_pvalue(self.pvalue)}"
        )

    def _test_name(self) -> str:
        raise NotImplementedError

    def _short_pvalue(self) -> str:
        return f", p {shown_pvalue(self.pvalue)} {self.alternative}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairedBootstrapResult(_PairedResult):
    """Answer of :func:`fastboot.paired_bootstrap`."""

    def test(
        self,
        alternative: str | None = None,
        *,
        add_one: bool | None = None,
        rule: str = "shift",
    ) -> PValue:
        """Return the p-value of another alternative or rule from the same replicates.

        Parameters
        ----------
        alternative
            "two-sided", "greater" or "less"; None keeps the one asked for.
        add_one
            Count the observed difference as one more replicate; None keeps what was asked for.
        rule
            "shift", or "percentile": the p-value that agrees with the percentile interval, below
            1 - confidence_level where that interval excludes 0. See :mod:`fastboot.pvalues`.

        Raises
        ------
        ValueError
            A word is unknown.

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.paired_bootstrap([3, 1, 2, 4], [1, 1, 0, 2], rng=0)
        >>> result.test("greater", rule="percentile").rule
        'percentile'
        """
        if rule not in pvalues.RULES:
            raise ValueError(f"`rule` is {rule!r}; choose one of {', '.join(pvalues.RULES)}")
        return pvalues.pvalue(
            self.replicates,
            self.estimate,
            alternative=pvalues.check_alternative(
                self.alternative if alternative is None else alternative
            ),
            rule=rule,
            rounding=self.rounding,
            add_one=self.add_one if add_one is None else add_one,
        )

    def _test_name(self) -> str:
        return "paired bootstrap (shift)"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RandomizationResult(_PairedResult):
    """Answer of :func:`fastboot.approximate_randomization`.

    The replicates are differences after random swaps, so they scatter around 0, not around the
    estimate; the interval is estimate +- normal quantile x their standard deviation.

    Attributes
    ----------
    n_differing
        Units that are not equal in both systems; only these decide.
    """

    n_differing: int

    @property
    def exact(self) -> bool:
        """Whether all swaps were enumerated."""
        return self.path == "enumeration"

    @property
    def null_distribution(self) -> NDArray[np.float64]:
        """The replicates, by SciPy's name."""
        return self.replicates

    def interval(
        self,
        confidence_level: float | None = None,
        method: str | None = None,
        alternative: str | None = None,
    ) -> ConfidenceInterval:
        """Return the normal interval at another level or with other sides.

        Raises
        ------
        ValueError
            `method` is another than "normal": replicates under the null have no other interval.
        """
        if method not in {None, "normal"}:
            raise ValueError(
                f"`method` is {method!r}; a randomization test has replicates under the null, "
                "which give the 'normal' interval only; use paired_bootstrap for others"
            )
        return super().interval(confidence_level, None, alternative)

    def test(self, alternative: str | None = None, *, add_one: bool | None = None) -> PValue:
        """Return the p-value of another alternative from the same replicates.

        Parameters
        ----------
        alternative
            "two-sided", "greater" or "less"; None keeps the one asked for.
        add_one
            Count the observed difference as one more replicate; None keeps what was asked for.
            Without effect where all swaps were enumerated.

        Raises
        ------
        ValueError
            The word is unknown.

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.approximate_randomization([3, 1, 2, 4], [1, 1, 0, 2])
        >>> result.test("greater").pvalue
        0.125
        """
        chosen = pvalues.check_alternative(self.alternative if alternative is None else alternative)
        sides = 2 if chosen == "two-sided" else 1
        return pvalues.pvalue(
            self.replicates,
            self.estimate,
            alternative=chosen,
            rule="null",
            rounding=self.rounding,
            add_one=self.add_one if add_one is None else add_one,
            exact=self.exact,
            fewest=min(1.0, sides * 0.5**self.n_differing),
        )

    def _test_name(self) -> str:
        return "exact randomization" if self.exact else "approximate randomization"

    def _design_words(self) -> str:
        if self.exact:
            return f"{self._units_words()}, all {count(self.n_resamples, 'swap')}"
        return super()._design_words()
