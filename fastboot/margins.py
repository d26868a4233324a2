"""Better by a margin, no worse than a margin, or as good as equal: verdicts to gate a build by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fastboot.intervals import ConfidenceInterval
from fastboot.rendering import short, width_of
from fastboot.reports import Report

__all__ = ["KINDS", "Verdict", "check_margin", "judge", "resamples_needed"]

KINDS = ("superiority", "non-inferiority", "equivalence")


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Report):
    """Whether a difference passes, and by what.

    Attributes
    ----------
    passed
        The verdict; also what the verdict is worth as a condition (``if verdict:``).
    refuted
        Whether the opposite is shown, with the same `alpha`: a difference of which neither is shown
        has too wide an interval for its margin.
    kind
        "superiority", "non-inferiority" or "equivalence".
    margin
        0 or more, in units of the statistic.
    estimate
        The difference a - b.
    low, high
        One-sided limits of the difference, each at confidence level 1 - alpha. NaN where undefined.
    alpha
        Probability of passing wrongly, at most.
    higher_is_better
        Direction of the statistic.
    method
        Of the limits.
    note
        Why nothing can be shown, where that is so; else empty.
    asked
        What the signature of the result says that is judged, for that of the verdict.
    """

    passed: bool
    refuted: bool
    kind: str
    margin: float
    estimate: float
    low: float
    high: float
    alpha: float
    higher_is_better: bool
    method: str
    note: str = ""
    asked: tuple[tuple[str, Any], ...] = ()

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        figures = asdict(self)
        del figures["asked"]  # of `signature`
        return {"kind": "Verdict", "test": figures.pop("kind"), **figures}

    def summary(self) -> str:
        """Return a sentence for a log."""
        words = (
            f"{self._word()}: {self.kind}{f' by {short(self.margin)}' if self.margin else ''}, "
            f"difference a - b = {_shown(self.estimate)}"
        )
        if self.note:
            return f"{words}, but nothing is shown by it: {self.note}."
        return f"{words}, one-sided {100 * (1 - self.alpha):g}% {self.method} {self._limits()}."

    def _signature(self) -> dict[str, Any]:
        return {
            **dict(self.asked),
            "kind": self.kind,
            "margin": self.margin,
            "alpha": self.alpha,
            "higher_is_better": self.higher_is_better,
        }

    def __repr__(self) -> str:
        width = width_of(self.low, self.high)
        return (
            f"Verdict({self._word()}, {self.kind}, margin={short(self.margin)}: "
            f"{short(self.estimate, width)} [{short(self.low, width)}, {short(self.high, width)}])"
        )

    def _word(self) -> str:
        return "passed" if self.passed else "failed"

    def _limits(self) -> str:
        """Return the limits that decide, and the line they are held against."""
        no = "" if self.passed else "not "
        if self.kind == "equivalence":
            return (
                f"limits {_shown(self.low)} and {_shown(self.high)} {no}within "
                f"+-{short(self.margin)}"
            )
        name, limit, side, sign = (
            ("lower", self.low, "above", 1.0)
            if self.higher_is_better
            else ("upper", self.high, "below", -1.0)
        )
        line = sign * (self.margin if self.kind == "superiority" else -self.margin)
        return f"{name} limit {_shown(limit)} {no}{side} {short(line + 0.0)}"  # no "-0"


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else short(value)


def check_margin(kind: Any, margin: Any, alpha: Any) -> tuple[str, float, float]:
    """Return the arguments of a verdict, or raise TypeError or ValueError.

    Parameters
    ----------
    kind, margin, alpha
        See :class:`Verdict`.
    """
    if kind not in KINDS:
        raise ValueError(f"`kind` is {kind!r}; choose one of {', '.join(KINDS)}")
    for argument, value in (("margin", margin), ("alpha", alpha)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise TypeError(f"`{argument}` is {value!r}; it must be a number")
    if not 0.0 <= margin < math.inf:
        raise ValueError(f"`margin` is {margin}; it must be 0 or more, `kind` says its direction")
    if margin == 0.0 and kind == "equivalence":
        raise ValueError("`margin` is 0; equivalence needs a margin above 0")
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"`alpha` is {alpha}; it must lie between 0 and 0.5, such as 0.05")
    return str(kind), float(margin), float(alpha)


def resamples_needed(alpha: float) -> int:
    """Return how many replicates limits among them need, to be wrong with probability alpha.

    Beyond the smallest of n replicates lies one more with probability 1 / (n + 1), so a limit
    cannot be wrong less often. (Normal limits use their spread only.)

    Examples
    --------
    >>> resamples_needed(0.001), resamples_needed(1.0 - 0.9)
    (999, 9)
    """
    return math.ceil((1.0 - 4.0 * np.finfo(np.float64).eps) / alpha) - 1  # 1 - 0.9 is below 0.1


def judge(
    estimate: float,
    low: ConfidenceInterval,
    high: ConfidenceInterval,
    *,
    kind: str,
    margin: float,
    alpha: float,
    higher_is_better: bool,
    note: str = "",
    asked: Mapping[str, Any] | None = None,
) -> Verdict:
    """Return the verdict on a difference.

    a is superior by the margin where the limit on the worse side of its difference lies beyond the
    margin; it is not inferior where that limit lies beyond minus the margin; both are equivalent
    where both limits lie within the margin (two one-sided tests, Schuirmann 1987). Limits on a line
    do not pass, nor do undefined ones.

    Parameters
    ----------
    estimate
        The difference a - b.
    low, high
        One-sided intervals at level 1 - alpha: with a lower and with an upper limit.
    kind, margin, alpha, higher_is_better
        See :class:`Verdict`.
    note
        Why the limits say nothing, where that is so: then neither side is shown.
    asked
        Keys and values of the signature of the result that the limits are of.
    """
    lower, upper = low.low, high.high
    worst, best = (lower, upper) if higher_is_better else (-upper, -lower)
    passed, refuted = {
        "superiority": (worst > margin, best < margin),
        "non-inferiority": (worst > -margin, best < -margin),
        "equivalence": (worst > -margin and best < margin, worst > margin or best < -margin),
    }[kind]
    return Verdict(
        passed=passed and not note,
        refuted=refuted and not note,
        kind=kind,
        margin=margin,
        estimate=estimate,
        low=lower,
        high=upper,
        alpha=alpha,
        higher_is_better=higher_is_better,
        method=low.method,
        note=note,
        asked=tuple((asked or {}).items()),
    )
