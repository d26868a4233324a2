"""The answer of a paired t test: figures, the check of what they rest on, and plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from fastboot.analytic import t_interval
from fastboot.companions.companion import (
    Companion,
    interval_words,
    pvalue_words,
    t_pvalue,
)
from fastboot.companions.effect_size import hedges_factor, noncentrality_limits
from fastboot.companions.normality import NormalityCheck, tail_change
from fastboot.companions.scale import unscaled_interval
from fastboot.intervals import ConfidenceInterval, check_level, tails_of
from fastboot.paired_results import PairedBootstrapResult
from fastboot.pvalues import check_alternative
from fastboot.rendering import bracketed, count, short, shown_pvalue, width_of
from fastboot.sample import few_units

__all__ = ["PairedTTestResult", "Scaled"]

# Bradley's (1978) criteria of robustness: a level within 10 % of what it should be (stringent), or
# within 50 % (liberal).
_STRINGENT, _LIBERAL = 0.1, 0.5
# The level of the test of normality, and rows from which it sees something: with 20 rows
# Shapiro-Wilk rejects an exponential law with probability 0.83, with 10 rows 0.45 (20,000 samples).
_NORMALITY_LEVEL = 0.05
_FEW = 20
# Below, the bootstrap rejects twice as often as its level, or more: of 0.05 for normal differences
# 0.10 with 10 rows, 0.16 with 5, 0.29 with 3 (1,500 samples each).
_ROUGH = 10


class Scaled(NamedTuple):
    """Figures in units of 2**exponent, in which their ratios are right at every scale."""

    mean: float
    deviation: float
    error: float
    exponent: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairedTTestResult(Companion):
    """Answer of :func:`fastboot.paired_t_test`.

    Attributes
    ----------
    estimate
        Mean difference, a - b.
    estimate_a, estimate_b
        Means of both; b is 0 where differences were given.
    confidence_interval
        Of the mean difference.
    standard_deviation
        Of the differences (ddof = 1).
    standard_error
        Of the mean difference: standard_deviation / sqrt(n_rows); with groups cluster-robust (CR1).
    t
        estimate / standard_error. Infinite where all differences are equal and not 0, NaN where all
        are 0.
    degrees_of_freedom
        n_rows - 1; with groups n_units - 1.
    pvalue
        Of the alternative asked for; `test` gives the others. 1 where all differences are 0, NaN
        where t is infinite or undefined otherwise; never 0.
    normality
        What the differences (with groups: their sums by group, less the mean) look like.
    bootstrap
        The answer of :func:`fastboot.paired_bootstrap` on the same rows; None with
        ``n_resamples=0``.
    alternative
        "two-sided", "greater" or "less". Also the sides of intervals.
    n_rows
        Pairs used.
    n_units
        What is taken to be independent: pairs, or groups.
    unit
        "row" or "group".
    n_dropped
        Rows dropped for a missing value (``nan_policy="omit"``).
    asked
        Names of the columns, and the rows that count, for `signature`.
    """

    estimate_a: float
    estimate_b: float
    standard_deviation: float
    standard_error: float
    t: float
    degrees_of_freedom: int
    normality: NormalityCheck
    bootstrap: PairedBootstrapResult | None
    n_units: int
    unit: str
    _scaled: Scaled

    _procedure = "paired_t_test"

    def test(self, alternative: str) -> float:
        """Return the p-value of "two-sided", "greater" (a is larger) or "less".

        Examples
        --------
        >>> from fastboot.companions.t_test import paired_t_test
        >>> result = paired_t_test([3, 1, 2, 4], [1, 1, 0, 2], n_resamples=0)
        >>> round(result.test("greater"), 6)
        0.028834
        """
        return t_pvalue(
            self.t, self.degrees_of_freedom, check_alternative(alternative), self._scaled.mean
        )

    @property
    def pvalue_two_sided(self) -> float:
        """Of a difference on either side."""
        return self.test("two-sided")

    @property
    def pvalue_greater(self) -> float:
        """One-sided: a is larger."""
        return self.test("greater")

    @property
    def pvalue_less(self) -> float:
        """One-sided: a is smaller."""
        return self.test("less")

    def interval(
        self, confidence_level: float | None = None, alternative: str | None = None
    ) -> ConfidenceInterval:
        """Return the interval of the mean difference at another level or with other sides."""
        level = self.confidence_level if confidence_level is None else confidence_level
        sides = self.alternative if alternative is None else alternative
        found = t_interval(
            self._scaled.mean, self._scaled.error, self.degrees_of_freedom,
            confidence_level=check_level(level), alternative=check_alternative(sides),
        )  # fmt: skip
        return unscaled_interval(
            found._replace(method="cr1" if self.unit == "group" else "t"), self._scaled.exponent
        )

    @property
    def cohen_dz(self) -> float:
        """Mean / standard deviation of the differences (Cohen 1988)."""
        mean, deviation = self._scaled[:2]
        if deviation == 0.0:
            return math.copysign(math.inf, mean) if mean else math.nan
        return mean / deviation

    @property
    def hedges_gz(self) -> float:
        """`cohen_dz` without its bias where pairs are few (Hedges 1981)."""
        return hedges_factor(self.degrees_of_freedom) * self.cohen_dz

    @cached_property
    def effect_size_interval(self) -> ConfidenceInterval:
        """Of the population's mean / standard deviation, which `cohen_dz` and `hedges_gz` estimate.

        From the noncentral t distribution (Steiger and Fouladi 1997): exact for normal differences.
        With groups the same limits in units of this t, for n_units - 1 degrees of freedom: roughly
        right. NaN where t is not finite.
        """
        tails = tails_of(self.confidence_level, self.alternative)
        deviation, error = self._scaled[1:3]
        scale = error / deviation if deviation > 0.0 else math.nan
        low, high = (
            limit * scale for limit in noncentrality_limits(self.t, self.degrees_of_freedom, tails)
        )
        if not math.isnan(low):
            low = -math.inf if self.alternative == "less" else low
            high = math.inf if self.alternative == "greater" else high
        return ConfidenceInterval(low, high, self.confidence_level, "noncentral t")

    @property
    def hedges_gz_interval(self) -> ConfidenceInterval:
        """`effect_size_interval` times the factor that makes `hedges_gz` of `cohen_dz`.

        What other programs print beside g; `effect_size_interval` is the one that covers.
        """
        found, factor = self.effect_size_interval, hedges_factor(self.degrees_of_freedom)
        return found._replace(low=found.low * factor, high=found.high * factor)

    @property
    def tail_change(self) -> float:
        """How far skewness moves a tail of this test, as a share of that tail, to first order.

        See :func:`fastboot.companions.normality.tail_change`; at the tail of the interval.
        """
        tail = 1.0 - self.confidence_level
        tail = tail / 2.0 if self.alternative == "two-sided" else tail
        return tail_change(self.normality.skewness, self.n_units, tail)

    @property
    def verdict(self) -> str:
        """What the test says, what its assumption is worth here, and whether resampling agrees."""
        said = [self._decision(), self._assumption(), self._agreement()]
        return " ".join(sentence for sentence in said if sentence)

    def _decision(self) -> str:
        level = 1.0 - self.confidence_level
        if math.isnan(self.pvalue):
            return f"There is no p-value: {self._why_undefined()}."
        words = f"({pvalue_words(self.pvalue, self.alternative)}, level {level:.3g})"
        if self.pvalue > level:
            return f"No significant difference {words}."
        side = "larger" if self._scaled.mean > 0.0 else "smaller"
        return f"a is significantly {side} than b {words}."

    def _why_undefined(self) -> str:
        if math.isnan(self.estimate):
            return "a value is missing"
        if self.n_units == 1:
            return f"a single {self.unit} has no standard error"
        return f"the {'means of groups' if self.unit == 'group' else 'differences'} do not vary"

    def _assumption(self) -> str:
        found, what = self.normality, "sums of groups" if self.unit == "group" else "differences"
        if not found.test:
            return (
                ""
                if math.isnan(self.pvalue)
                else f"The {what} are too few or too alike to be \
checked for normality."
            )
        test = f"{found.test} p {shown_pvalue(found.pvalue)}"
        if found.pvalue >= _NORMALITY_LEVEL:
            few = f", though {found.n:,} show little" if found.n < _FEW else ""
            return f"Nothing speaks against normal {what} ({test}{few}): the t test applies."
        change = self.tail_change
        words = (
            f"The {what} are not normal ({test}); their skewness of {short(found.skewness)} moves "
            f"a tail of the test by about {100.0 * change:.2g}% of it"
        )
        if change <= _STRINGENT:
            return f"{words}, which is little: with {found.n:,} the t test applies all the same."
        if change <= _LIBERAL:
            return f"{words}: read p-values near the level with care."
        return (
            f'{words}: do not rely on the t test; resample with method="studentized", or gather '
            "more."
        )

    def _agreement(self) -> str:
        if self.bootstrap is None or math.isnan(self.pvalue) or math.isnan(self.bootstrap.pvalue):
            return ""
        level = 1.0 - self.confidence_level
        agrees = (self.pvalue <= level) == (self.bootstrap.pvalue <= level)
        words = f"p {shown_pvalue(self.bootstrap.pvalue)}"
        if self.n_units < _ROUGH:
            words += f", rough from only {count(self.n_units, self.unit)}"
        return f"The paired bootstrap {'agrees' if agrees else 'does not agree'} ({words})."

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        notes = []
        if self.n_dropped:
            were = "was" if self.n_dropped == 1 else "were"
            notes.append(f"{count(self.n_dropped, 'row')} {were} dropped for a missing value")
        if self.n_units == 1:
            notes.append(f"a single {self.unit}: there is no standard error")
        elif self._scaled.error == 0.0:
            what = "means of groups" if self.unit == "group" else "differences"
            notes.append(
                f"degenerate: all {what} are equal, so they say nothing about the uncertainty"
            )
        if self.n_units > 1:
            notes += few_units(self.n_units, self.unit)
        if self.normality.n_outliers:
            noun = count(self.normality.n_outliers, "difference")
            if self.unit == "group":
                noun = f"{count(self.normality.n_outliers, 'group')} with a sum"
            notes.append(
                f"{noun} beyond Tukey's outer fences (the largest "
                f"{short(self.normality.largest_deviation)} standard deviations from the mean)"
            )
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        figures = super().to_dict()
        asked, notes = dict(self.asked), figures.pop("notes")
        del figures["_scaled"]
        where = asked.pop("where", "")
        return figures | {
            "normality": self.normality._asdict(),
            "bootstrap": None if self.bootstrap is None else self.bootstrap.to_dict(),
            "pvalue_two_sided": self.pvalue_two_sided,
            "pvalue_greater": self.pvalue_greater,
            "pvalue_less": self.pvalue_less,
            "cohen_dz": self.cohen_dz,
            "hedges_gz": self.hedges_gz,
            "effect_size_interval": list(self.effect_size_interval[:2]),
            "tail_change": self.tail_change,
            "verdict": self.verdict,
            "design": f"where {where}" if where else "",  # as in answers of resampling
            "columns": asked,
            "notes": notes,
        }

    def _test_parts(self) -> dict[str, Any]:
        resampled = self.bootstrap
        if resampled is None:
            return {}
        return {"n_resamples": resampled.n_resamples, "seed": resampled.seed}

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"n_units": self.n_units}

    def summary(self) -> str:
        """Return a sentence for a paper."""
        groups = f" in {count(self.n_units, 'group')}" if self.unit == "group" else ""
        where = dict(self.asked).get("where")
        rows = f" where {where}" if where else ""
        if self.n_dropped:
            rows += f", {count(self.n_dropped, 'row')} with a missing value dropped"
        name = "cluster-robust " if self.unit == "group" else ""
        width = width_of(*self.confidence_interval[:2], self.estimate)
        own = interval_words(self.confidence_interval, "t", estimate=self.estimate)
        effect = interval_words(self.effect_size_interval, "noncentral t")
        words = (
            f"Mean difference a - b = {short(self.estimate, width)} "
            f"({short(self.estimate_a, width)} - {short(self.estimate_b, width)}; "
            f"{count(self.n_rows, 'pair')}{groups}{rows}, standard "
            f"deviation {short(self.standard_deviation)}), {own}; "
            f"{name}paired t test t({self.degrees_of_freedom}) = {short(self.t)}, "
            f"{pvalue_words(self.pvalue, self.alternative)}; d_z = {short(self.cohen_dz)}, "
            f"g_z = {short(self.hedges_gz)}, {effect} of the effect size"
        )
        if self.bootstrap is None:
            return f"{words}."
        low, high, _, method, _ = self.bootstrap.confidence_interval
        said = (
            f"p {shown_pvalue(self.bootstrap.pvalue)}, {method} interval "
            f"{bracketed(low, high, self.bootstrap.estimate)}"
            if self.resampling_says
            else "says nothing"
        )
        return (
            f"{words}; paired bootstrap {said} "
            f"({count(self.bootstrap.n_resamples, 'resample')}, seed {self.bootstrap.seed})."
        )

    @property
    def resampling_says(self) -> bool:
        """Whether there is a bootstrap whose resamples differ, or all differences are 0.

        Else the smallest p-value that so many resamples can give is a figure of their number.
        """
        if self.bootstrap is None:
            return False
        # Resamples of equal differences may differ by rounding.
        same = self.bootstrap.degenerate or self._scaled.error == 0.0
        return not same or (self._scaled.mean == 0.0 and self.n_units > 1)
