"""McNemar's test: two systems that are right or wrong on the same items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.analytic import clopper_pearson, normal_interval
from fastboot.columns import Column, Source, load
from fastboot.companions.companion import (
    MIRROR,
    Companion,
    asked_of,
    interval_words,
    load_pairs,
    pvalue_words,
)
from fastboot.intervals import ConfidenceInterval, check_level
from fastboot.pvalues import LEAST_PVALUE, check_alternative
from fastboot.rendering import count, short, shown_pvalue
from fastboot.statistics.checks import equal_labels, refuse_rows

__all__ = ["McNemarResult", "mcnemar"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class McNemarResult(Companion):
    """Answer of :func:`fastboot.mcnemar`.

    Attributes
    ----------
    estimate
        Difference of the shares of right answers, a - b.
    confidence_interval
        Of the difference (Bonett and Price 2012).
    pvalue
        Of the exact conditional test.
    mid_pvalue
        The same, with half the probability of what was observed.
    n_both, n_only_a, n_only_b, n_neither
        Pairs by who is right.
    odds_ratio
        n_only_a / n_only_b: how many times as likely a discordant pair speaks for a as for b. NaN
        without discordant pairs.
    odds_ratio_interval
        Exact (from Clopper and Pearson 1934).
    alternative
        "two-sided", "greater" or "less". Also the sides of intervals.
    n_rows
        Pairs used.
    n_dropped
        Rows dropped for a missing value (``nan_policy="omit"``).
    """

    mid_pvalue: float
    n_both: int
    n_only_a: int
    n_only_b: int
    n_neither: int
    odds_ratio: float
    odds_ratio_interval: ConfidenceInterval

    _procedure = "mcnemar"

    @property
    def n_discordant(self) -> int:
        """Pairs that one system has right and the other wrong."""
        return self.n_only_a + self.n_only_b

    @property
    def table(self) -> NDArray[np.int64]:
        """Pairs by whether a (rows: right, wrong) and b (columns) is right, shape (2, 2)."""
        return np.array([[self.n_both, self.n_only_a], [self.n_only_b, self.n_neither]])

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        if self.n_discordant:
            return ()
        return ("no discordant pairs: the data say nothing about which system is better",)

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return (
            f"a is right in {self.n_both + self.n_only_a:,} and b in "
            f"{self.n_both + self.n_only_b:,} of {count(self.n_rows, 'pair')} (difference "
            f"{self._shown}, {interval_words(self.confidence_interval, 'Bonett-Price')}); "
            f"only a in {self.n_only_a:,}, only b in {self.n_only_b:,} (odds ratio "
            f"{self._odds_ratio_words()}); exact McNemar test, "
            f"{pvalue_words(self.pvalue, self.alternative)} "
            f"(mid-p {shown_pvalue(self.mid_pvalue)})."
        )

    def _test_parts(self) -> dict[str, Any]:
        return {"exact": True, "odds_ratio_interval_method": self.odds_ratio_interval.method}

    def _odds_ratio_words(self) -> str:
        if not self.n_discordant:
            return "undefined"
        return f"{short(self.odds_ratio)}, exact {interval_words(self.odds_ratio_interval)}"


def mcnemar(
    a: Source,
    b: Source,
    *,
    data: object = None,
    gold: Source | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    nan_policy: str = "raise",
) -> McNemarResult:
    """Test whether two systems are right equally often, from the items on which they differ.

    Where neither is better, each discordant pair speaks for a with probability 1/2: the exact test
    (McNemar 1947, with the binomial law) is the sign test of the discordant pairs, and approximate
    randomization with all swaps enumerated. It errs less often than it says; the mid-p-value
    corrects that, and seldom exceeds the nominal level, by little (Fagerland, Lydersen and Laake
    2013, who recommend it). Choose one before you look.

    Pairs are taken to be independent. Where they come in groups, use
    :func:`approximate_randomization` with ``groups=``.

    Parameters
    ----------
    a, b
        Column name or array of shape (n_rows,): whether each system is right, 0 or 1 or a boolean;
        with `gold` the labels that it predicts.
    data
        The table, as in :func:`bootstrap`.
    gold
        Column name or array of shape (n_rows,) of the right labels.
    confidence_level
        Of both intervals.
    alternative
        "two-sided"; "greater": a is right more often; "less": less often. The intervals have the
        same sides.
    nan_policy
        "raise" or "omit", as in :func:`bootstrap`.

    Returns
    -------
    McNemarResult
        Without discordant pairs `pvalue` is 1, `mid_pvalue` 1/2 (half the probability of the only
        outcome there is) and `odds_ratio` NaN. The interval of the difference is never of width 0.

    Raises
    ------
    TypeError, FileNotFoundError
        As in :func:`bootstrap`.
    ValueError
        Also: a value is neither 0 nor 1, or labels of a system and of `gold` are of two kinds.

    Examples
    --------
    Complete response of 161 patients before and after a therapy (Cavo et al. 2012, an example of
    Fagerland, Lydersen and Laake 2013).

    >>> import numpy as np
    >>> from fastboot.companions.mcnemar import mcnemar
    >>> before = np.repeat([1, 1, 0, 0], [59, 6, 16, 80])
    >>> after = np.repeat([1, 0, 1, 0], [59, 6, 16, 80])
    >>> result = mcnemar(before, after)
    >>> result.n_only_a, result.n_only_b, round(result.pvalue, 6), round(result.mid_pvalue, 6)
    (6, 16, 0.052479, 0.03469)
    >>> result
    McNemarResult(-0.06211 [-0.1195, -0.003201], p = 0.0525, n_rows=161)
    >>> result.signature().split("|")[4:7]
    ['method:bonett-price', 'confidence_level:0.95', 'alternative:two-sided']
    """
    level, sides = check_level(confidence_level), check_alternative(alternative)
    if nan_policy == "propagate":
        raise ValueError(
            '`nan_policy` is \'propagate\', but counts cannot be NaN; choose "raise" or "omit"'
        )
    if gold is None:
        scores_a, scores_b, n_dropped = load_pairs(a, b, data, nan_policy)
        right_a, right_b = _right("a", a, scores_a), _right("b", b, scores_b)
    else:
        sources = {"gold": gold, "a": a, "b": b}
        columns = [Column(source, "label", argument) for argument, source in sources.items()]
        rows = load(columns, data, nan_policy)
        truth, *predicted = rows.columns
        right_a, right_b = (
            equal_labels(truth, labels, ("gold", argument))  # type: ignore[arg-type] # as loaded
            for argument, labels in zip("ab", predicted, strict=True)
        )
        n_dropped = rows.n_dropped
    n = right_a.size
    both = int(np.count_nonzero(right_a & right_b))
    only_a = int(np.count_nonzero(right_a)) - both
    only_b = int(np.count_nonzero(right_b)) - both
    pvalue, mid_pvalue = _pvalues(only_a, only_b, sides)
    return McNemarResult(
        estimate=(only_a - only_b) / n,
        confidence_interval=_difference_interval(only_a, only_b, n, level, sides),
        pvalue=pvalue,
        mid_pvalue=mid_pvalue,
        n_both=both,
        n_only_a=only_a,
        n_only_b=only_b,
        n_neither=n - both - only_a - only_b,
        odds_ratio=_ratio(only_a, only_b),
        odds_ratio_interval=_odds_ratio_interval(only_a, only_b, level, sides),
        alternative=sides,
        n_rows=n,
        n_dropped=n_dropped,
        asked=asked_of(a=a, b=b, gold=gold),
    )


def _right(argument: str, source: Source, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    right: NDArray[np.bool_] = values == 1.0
    wrong = values == 0.0
    if np.count_nonzero(right) + np.count_nonzero(wrong) < values.size:
        refuse_rows(
            Column(source, argument=argument), values, ~(right | wrong), "value",
            "1 is right and 0 wrong; with labels give the right ones as gold=",
            " other than 0 and 1",
        )  # fmt: skip
    return right


def _pvalues(only_a: int, only_b: int, sides: str) -> tuple[float, float]:
    """Exact p-value and mid-p (Fagerland, Lydersen and Laake 2013, section 2)."""
    from scipy.stats import binom, binomtest

    n = only_a + only_b
    exact = float(binomtest(only_a, n, 0.5, alternative=sides).pvalue) if n else 1.0
    # Half of the outcomes as extreme as this one: two of them, unless it is the middle.
    mirrored = sides == "two-sided" and only_a != only_b
    mid = exact - (1.0 if mirrored else 0.5) * float(binom.pmf(only_a, n, 0.5))
    return max(exact, LEAST_PVALUE), max(mid, LEAST_PVALUE)


def _difference_interval(
    only_a: int, only_b: int, n: int, level: float, sides: str
) -> ConfidenceInterval:
    """Wald's interval with one more pair of each discordant kind (Bonett and Price 2012).

    It covers close to the nominal level also in small samples (Fagerland, Lydersen and Laake 2014,
    who recommend it beside Newcombe's), and has a width where no pair is discordant.
    """
    share_a, share_b = (only_a + 1.0) / (n + 2.0), (only_b + 1.0) / (n + 2.0)
    difference = share_a - share_b
    error = math.sqrt((share_a + share_b - difference * difference) / (n + 2.0))
    low, high = normal_interval(difference, error, confidence_level=level, alternative=sides)[:2]
    return ConfidenceInterval(max(low, -1.0), min(high, 1.0), level, "bonett-price")


def _odds_ratio_interval(only_a: int, only_b: int, level: float, sides: str) -> ConfidenceInterval:
    """Odds at the exact limits of the share of discordant pairs that speak for a.

    Each odds is a ratio of limits of both shares: one minus the limit of a would lose digits.
    """
    n = only_a + only_b
    of_a = clopper_pearson(only_a, n, confidence_level=level, alternative=sides) if n else None
    if of_a is None:
        return ConfidenceInterval(0.0, math.inf, level, "clopper-pearson")
    of_b = clopper_pearson(only_b, n, confidence_level=level, alternative=MIRROR[sides])
    low, high = _ratio(of_a.low, of_b.high), _ratio(of_a.high, of_b.low)
    return ConfidenceInterval(low, high, level, "clopper-pearson")


def _ratio(x: float, y: float) -> float:
    if y == 0.0:
        return math.inf if x > 0.0 else math.nan
    return x / y
