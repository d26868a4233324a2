"""Better by a margin, no worse than a margin, or as good as equal: verdicts to gate a build by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastboot.intervals import ConfidenceInterval
from fastboot.rendering import short

__all__ = ["KINDS", "Verdict", "check_margin", "judge"]

KINDS = ("superiority", "non-inferiority", "equivalence")


@dataclass(frozen=True)
class Verdict:
    """Whether a difference passes, and by what.

    Attributes
    ----------
    passed
        The verdict; also what the verdict is worth as a condition (``if verdict:``).
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
    """

    passed: bool
    kind: str
    margin: float
    estimate: float
    low: float
    high: float
    alpha: float
    higher_is_better: bool

    def __bool__(self) -> bool:
        return self.passed

    def summary(self) -> str:
        """Return a sentence for a log."""
        better = self.low if self.higher_is_better else self.high
        bound = "lower" if self.higher_is_better else "upper"
        sign = 1.0 if self.higher_is_better else -1.0
        if self.kind == "equivalence":
            shown = f"limits [{short(self.low)}, {short(self.high)}] against +-{short(self.margin)}"
        else:
            line = sign * (self.margin if self.kind == "superiority" else -self.margin)
            shown = f"{bound} limit {short(better)} against {short(line)}"
        return (
            f"{'passed' if self.passed else 'failed'}: {self.kind}, difference a - b = "
            f"{short(self.estimate)}, {shown} (one-sided, {100 * (1 - self.alpha):g}% each)"
        )


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


def judge(
    estimate: float,
    low: ConfidenceInterval,
    high: ConfidenceInterval,
    *,
    kind: str,
    margin: float,
    alpha: float,
    higher_is_better: bool,
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
    """
    lower, upper = low.low, high.high
    worse, other = (lower, upper) if higher_is_better else (-upper, -lower)
    passed = {
        "superiority": worse > margin,
        "non-inferiority": worse > -margin,
        "equivalence": worse > -margin and other < margin,
    }[kind]
    return Verdict(passed, kind, margin, estimate, lower, upper, alpha, higher_is_better)
