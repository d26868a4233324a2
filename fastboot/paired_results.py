"""Answers about two systems: a difference, and how likely one as large is without any."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot import pvalues
from fastboot.arguments import check_flag
from fastboot.intervals import ConfidenceInterval
from fastboot.margins import Verdict, check_margin, judge, resamples_needed
from fastboot.power_formulas import detectable
from fastboot.pvalues import PValue, tie_note
from fastboot.rendering import count, short, shown_pvalue, width_of
from fastboot.results import Result

__all__ = [
    "BootstrapComparison",
    "NullComparison",
    "PairedBootstrapResult",
    "RandomizationResult",
    "Words",
]


class Words(NamedTuple):
    """What a test under the null is called.

    test, sampled : its name, and where not all replicates are enumerated
    change : what makes a replicate
    instead : the procedure that resamples around the estimate
    """

    test: str
    sampled: str
    change: str
    instead: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Comparison(Result, ABC):
    """What answers about two systems, or two samples, have.

    Attributes
    ----------
    estimate_a, estimate_b
        Observed values of the two; `estimate` is their difference.
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
    def detectable_effect(self) -> float:
        """The smallest true difference that such data would show with power 0.8.

        At the level 1 - confidence_level, with the sides asked for; NaN where all replicates are
        equal, or that level is 0.8 or more. See :func:`fastboot.minimum_detectable_effect`.
        """
        return detectable(self, self.confidence_level, self.alternative)

    @property
    def rule(self) -> str:
        """Name of the p-value rule, see :mod:`fastboot.pvalues`."""
        return self._test.rule

    def _other_size(self) -> int | None:
        """Return the units of each resample; None where they are as many as in the data."""
        n_drawn = dict(self.asked).get("n_drawn")
        return None if n_drawn is None or int(n_drawn) == self.n_units else int(n_drawn)

    @abstractmethod
    def test(self, alternative: str | None = None, *, add_one: bool | None = None) -> PValue:
        """Return the p-value of another alternative from the same replicates."""

    def verdict(
        self,
        margin: float = 0.0,
        *,
        kind: str = "superiority",
        alpha: float = 0.05,
        higher_is_better: bool = True,
    ) -> Verdict:
        """Return whether a is better than b by a margin, no worse, or as good as equal.

        Parameters
        ----------
        margin
            0 or more, in units of the statistic: the smallest difference that matters.
        kind
            "superiority": a is better by more than the margin. "non-inferiority": it is worse by
            less. "equivalence": both are closer than the margin (two one-sided tests).
        alpha
            Probability of passing wrongly, at most: the limits have confidence level 1 - alpha.
        higher_is_better
            Direction of the statistic.

        Returns
        -------
        Verdict
            It passes and refutes nothing, and its `note` says why, where the replicates say nothing
            about the uncertainty: of a single row or group, or all equal to a difference that is
            not 0; and where limits are among replicates, not "normal", and these are fewer than
            1 / alpha - 1.

        Raises
        ------
        TypeError, ValueError
            An argument has another type or is out of range, or the word is unknown; or resamples
            had another size (`n_drawn`), and so have the limits.

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.paired_bootstrap([3, 1, 2, 4] * 9, [3, 1, 2, 3] * 9, rng=0)
        >>> verdict = result.verdict(0.1, kind="non-inferiority")
        >>> verdict.passed
        True
        >>> verdict.signature().removeprefix(result.signature())
        '|kind:non-inferiority|margin:0.1|alpha:0.05|higher_is_better:True'
        """
        kind, margin, alpha = check_margin(kind, margin, alpha)
        n_drawn = self._other_size()
        if n_drawn is not None:
            raise ValueError(
                f"`n_drawn` is {n_drawn} of {count(self.n_units, self.unit)}, so limits are those "
                "of samples of another size; resample without n_drawn for a verdict"
            )
        low = self.interval(1.0 - alpha, alternative="greater")
        high = self.interval(1.0 - alpha, alternative="less")
        return judge(
            self.estimate,
            low,
            high,
            kind=kind,
            margin=margin,
            alpha=alpha,
            higher_is_better=check_flag("higher_is_better", higher_is_better),
            note=self._unshown() or self._too_few(low.method, alpha),
            asked=self._signature(),
        )

    def _data_notes(self) -> tuple[str, ...]:
        tied = tie_note(self.rounding, self.standard_error)
        return (*super()._data_notes(), *([tied] if tied else []))

    def _unshown(self) -> str:
        """Return why the replicates say nothing about the uncertainty; empty where they do.

        Several units that are equal in both systems are another matter: nothing changed on any.
        """
        if self.n_units == 1:
            return f"a single {self.unit} says nothing about the uncertainty"
        if self.degenerate and abs(self.estimate) > self.rounding:
            return "all replicates are equal, so they say nothing about the uncertainty"
        return ""

    def _too_few(self, method: str, alpha: float) -> str:
        """Return that replicates are too few for limits at a level, or an empty string."""
        n, needed = self.n_resamples - self.n_undefined, resamples_needed(alpha)
        if method == "normal" or n >= needed or math.isnan(self.estimate):
            return ""
        defined = " defined" if self.n_undefined else ""
        return f"limits at alpha {alpha:g} need {needed:,} resamples at least, not {n:,}{defined}"

    def passes(
        self,
        margin: float = 0.0,
        *,
        kind: str = "superiority",
        alpha: float = 0.05,
        higher_is_better: bool = True,
    ) -> bool:
        """Return the `verdict` as True or False.

        Parameters
        ----------
        margin, kind, alpha, higher_is_better
            As in `verdict`.

        Examples
        --------
        >>> import fastboot as fb
        >>> fb.paired_bootstrap([3, 1, 2, 4] * 9, [1, 0, 1, 3] * 9, rng=0).passes(margin=0.5)
        True
        """
        return self.verdict(
            margin, kind=kind, alpha=alpha, higher_is_better=higher_is_better
        ).passed

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        return super().to_dict() | {
            "estimate_a": self.estimate_a,
            "estimate_b": self.estimate_b,
            "pvalue": self.pvalue,
            "pvalue_standard_error": self.pvalue_standard_error,
            "n_extreme": self.n_extreme,
            "min_pvalue": self.min_pvalue,
            "detectable_effect": self.detectable_effect,
            "rule": self.rule,
        }

    def to_figures(self) -> dict[str, Any]:
        """Return the few figures that a row of a table shows."""
        figures = super().to_figures()
        first = {"estimate": figures.pop("estimate"), "estimate_a": self.estimate_a,
                 "estimate_b": self.estimate_b, "pvalue": self.pvalue}  # fmt: skip
        return first | figures

    def _test_parts(self) -> dict[str, Any]:
        return {"rule": self.rule, "add_one": self.add_one}

    def _estimate_words(self) -> str:
        difference = f"difference in {self.statistic} a - b"
        if math.isnan(self.estimate):
            return f"{difference} is undefined"
        width = width_of(*self.confidence_interval[:2], self.estimate)
        return (
            f"{difference} = {short(self.estimate, width)} "
            f"({short(self.estimate_a, width)} - {short(self.estimate_b, width)})"
            f"{self._interval_words()}, {self._sided_test()} p {shown_pvalue(self.pvalue)}"
            f"{self._fraction()}"
        )

    def _made(self) -> list[str]:
        rule = f"{self._sided_test()} p = {self._rule_words()}"
        return ["differences a - b", *super()._made(), rule]

    def _fraction(self) -> str:
        """Return the counts that the p-value is made of."""
        if math.isnan(self.pvalue):
            return ""
        n = self.n_resamples - self.n_undefined
        return f", {self._rule_words(f'{self.n_extreme:,}', f'{n:,}')}"

    def _rule_words(self, n_extreme: str = "n_extreme", n: str = "n_resamples") -> str:
        """Return the p-value as a fraction."""
        return f"({n_extreme} + 1) / ({n} + 1)" if self._adds_one() else f"{n_extreme} / {n}"

    def _adds_one(self) -> bool:
        return self.add_one

    def _sided_test(self) -> str:
        sides = {"greater": "one-sided (a > b)", "less": "one-sided (a < b)"}
        return f"{sides.get(self.alternative, self.alternative)} {self._test_name()}"

    @abstractmethod
    def _test_name(self) -> str:
        """Return the words for the test in a sentence."""

    def _short_pvalue(self) -> str:
        return f", p {shown_pvalue(self.pvalue)} {self.alternative}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BootstrapComparison(_Comparison):
    """What answers have whose replicates scatter around the estimate."""

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairedBootstrapResult(BootstrapComparison):
    """Answer of :func:`fastboot.paired_bootstrap`."""

    _procedure = "paired_bootstrap"

    def _test_name(self) -> str:
        return "paired bootstrap (shift)"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NullComparison(_Comparison):
    """What answers have whose replicates are drawn as if there were no difference.

    They scatter around 0, not around the estimate; the interval is estimate +- normal quantile x
    their standard deviation.
    """

    @property
    def exact(self) -> bool:
        """Whether all there are were enumerated."""
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
                f"`method` is {method!r}; a {self._words.test} test has replicates under the null, "
                f"which give the 'normal' interval only; use {self._words.instead} for others"
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
            Without effect where all there are were enumerated.

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
        return pvalues.pvalue(
            self.replicates,
            self.estimate,
            alternative=chosen,
            rule="null",
            rounding=self.rounding,
            add_one=self.add_one if add_one is None else add_one,
            exact=self.exact,
            fewest=self._fewest(chosen),
        )

    @property
    @abstractmethod
    def _words(self) -> Words:
        """What messages and sentences call the test."""

    @abstractmethod
    def _fewest(self, alternative: str) -> float:
        """Return the smallest p-value of an enumeration."""

    def _test_name(self) -> str:
        return f"exact {self._words.test}" if self.exact else self._words.sampled

    def _adds_one(self) -> bool:
        return self.add_one and not self.exact

    def _interval_name(self, method: str | None = None, plural: str = "") -> str:
        return f"{super()._interval_name(method, plural)} with the standard error under the null"

    def _resamples_words(self) -> str:
        change = self._words.change
        if self.exact:
            return f"all {count(self.n_resamples, change)}"
        return f"{count(self.n_resamples, f'random {change}')}, seed {self.seed}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RandomizationResult(NullComparison):
    """Answer of :func:`fastboot.approximate_randomization`.

    Attributes
    ----------
    n_differing
        Units that are not equal in both systems; only these decide.
    """

    n_differing: int

    _procedure = "approximate_randomization"

    @property
    def _words(self) -> Words:
        return Words("randomization", "approximate randomization", "swap", "paired_bootstrap")

    def _fewest(self, alternative: str) -> float:
        sides = 2 if alternative == "two-sided" else 1
        return min(1.0, sides * 0.5**self.n_differing)
