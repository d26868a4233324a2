"""One pair of systems on many data sets: p-values combined, and data sets counted.

Data sets are taken to be independent, except by `replicability` with "bonferroni".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import words
from fastboot.leaderboards.corrections import LEVEL_ROUNDING
from fastboot.plain import numbers_of
from fastboot.pvalues import LEAST_PVALUE, check_alpha
from fastboot.rendering import count, made_by, short, shown_pvalue
from fastboot.reports import Report

__all__ = ["CombinedPValue", "Replicability", "combine_pvalues", "replicability"]

Floats = NDArray[np.float64]

_METHODS = ("fisher", "stouffer")
_COUNTS = ("bonferroni", "fisher")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CombinedPValue(Report):
    """Answer of :func:`fastboot.combine_pvalues`.

    Attributes
    ----------
    pvalue
        Probability of such p-values, or of more extreme ones, if no data set had an effect. Never
        0; NaN with a p-value that is NaN (``nan_policy="propagate"``).
    statistic
        Fisher's chi-squared, of 2 x n_data_sets degrees of freedom, or Stouffer's z.
    method
        "fisher" or "stouffer".
    data_sets
        Their names: the keys, or places.
    pvalues
        Shape (n_data_sets,), read-only.
    weights
        Shape (n_data_sets,), read-only, of Stouffer's; else None.
    alternative
        What the p-values test, where they came with results; else None.
    n_dropped
        Data sets dropped for a p-value that is NaN (``nan_policy="omit"``).
    """

    pvalue: float
    statistic: float
    method: str
    data_sets: tuple[Any, ...]
    pvalues: Floats
    weights: Floats | None
    alternative: str | None
    n_dropped: int

    @property
    def n_data_sets(self) -> int:
        """Number of data sets."""
        return len(self.data_sets)

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        notes = []
        if self.method == "fisher" and self.alternative == "two-sided":
            notes.append(
                "two-sided p-values do not say which system is better: effects of opposite signs "
                "add to the evidence"
            )
        if self.method == "stouffer" and (self.pvalues == 1.0).any():
            notes.append("Stouffer's p is 1 because a data set has p = 1, whatever the others say")
        if self.n_dropped:
            notes.append(f"{count(self.n_dropped, 'data set')} dropped, p undefined")
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        return {
            "kind": "CombinedPValue",
            "pvalue": self.pvalue,
            "statistic": self.statistic,
            "method": self.method,
            "n_data_sets": self.n_data_sets,
            "data_sets": list(self.data_sets),
            "pvalues": self.pvalues.tolist(),
            "weights": None if self.weights is None else self.weights.tolist(),
            "alternative": self.alternative,
            "n_dropped": self.n_dropped,
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """Return a sentence for a paper."""
        sides = "" if self.alternative is None else f"{self.alternative} "
        if self.method == "fisher":
            made = (
                f"chi-squared = {short(self.statistic)}, {2 * self.n_data_sets} degrees of freedom"
            )
        else:
            equal = self.weights is None or np.ptp(self.weights) == 0.0
            made = f"z = {short(self.statistic)}, {'equal weights' if equal else 'weighted'}"
        return (
            f"{self.method.title()}'s combination of the {sides}p-values of "
            f"{count(self.n_data_sets, 'independent data set')}: p {shown_pvalue(self.pvalue)} "
            f"({made})."
        )

    def _signature(self) -> dict[str, Any]:
        sides = {} if self.alternative is None else {"alternative": self.alternative}
        weights = {} if self.weights is None else {
            "weights": words(self.weights.tolist()) if np.ptp(self.weights) else "equal"
        }  # fmt: skip
        return {
            **made_by("combine_pvalues"),
            **_given(self.data_sets, self.pvalues),
            **weights,
            "method": self.method,
            **sides,
            **_sizes(self.n_data_sets, self.n_dropped),
        }

    def __repr__(self) -> str:
        return (
            f"CombinedPValue({self.method}: p {shown_pvalue(self.pvalue)}, "
            f"n_data_sets={self.n_data_sets:,})"
        )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Replicability(Report):
    """Answer of :func:`fastboot.replicability`.

    Attributes
    ----------
    n_replicated
        With confidence 1 - alpha the effect is real on at least so many data sets.
    found
        Names of the data sets that Holm's procedure finds; with "bonferroni" `n_replicated` of
        them.
    data_sets
        Names of all: the keys, or places.
    pvalues
        Shape (n_data_sets,), read-only.
    holm
        Shape (n_data_sets,), read-only: p-values adjusted by Holm's procedure.
    partial_conjunction
        Shape (n_data_sets,), read-only: at place u - 1 the p-value of "fewer than u data sets have
        an effect", made to rise with u.
    alpha, method
        As asked for.
    n_dropped
        Data sets dropped for a p-value that is NaN (``nan_policy="omit"``).
    """

    n_replicated: int
    found: tuple[Any, ...]
    data_sets: tuple[Any, ...]
    pvalues: Floats
    holm: Floats
    partial_conjunction: Floats
    alpha: float
    method: str
    n_dropped: int

    @property
    def n_data_sets(self) -> int:
        """Number of data sets."""
        return len(self.data_sets)

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        if self.n_dropped:
            return (f"{count(self.n_dropped, 'data set')} dropped, p undefined",)
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        return {
            "kind": "Replicability",
            "n_replicated": self.n_replicated,
            "n_data_sets": self.n_data_sets,
            "found": list(self.found),
            "alpha": self.alpha,
            "method": self.method,
            "data_sets": list(self.data_sets),
            "pvalues": self.pvalues.tolist(),
            "holm": self.holm.tolist(),
            "partial_conjunction": self.partial_conjunction.tolist(),
            "n_dropped": self.n_dropped,
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """Return a sentence for a paper."""
        names = ", ".join(map(str, self.found)) or "none"
        dependence = "independent" if self.method == "fisher" else "possibly dependent"
        return (
            f"With {100 * (1.0 - self.alpha):g}% confidence the effect is real on at least "
            f"{self.n_replicated} of {count(self.n_data_sets, 'data set')} (partial conjunction, "
            f"{self.method.title()}, {dependence} data sets); Holm's procedure at level "
            f"{self.alpha:g} finds {names}."
        )

    def _signature(self) -> dict[str, Any]:
        return {
            **made_by("replicability"),
            **_given(self.data_sets, self.pvalues),
            "method": self.method,
            "alpha": self.alpha,
            **_sizes(self.n_data_sets, self.n_dropped),
        }

    def __repr__(self) -> str:
        return (
            f"Replicability(at least {self.n_replicated} of {self.n_data_sets}, {self.method}, "
            f"alpha={self.alpha:g})"
        )


def _given(data_sets: Sequence[Any], pvalues: Floats) -> dict[str, str]:
    """Return what a signature says of the p-values."""
    names = [one if isinstance(one, str | int | float) else str(one) for one in data_sets]
    return {"data_sets": words(names), "pvalues": words(pvalues.tolist())}


def _sizes(n_data_sets: int, n_dropped: int) -> dict[str, Any]:
    """Return what a signature says of their number."""
    dropped = {"nan_policy": "omit", "n_dropped": n_dropped} if n_dropped else {}
    return {"n_data_sets": n_data_sets, **dropped}


def combine_pvalues(
    pvalues: Any,
    *,
    method: str = "fisher",
    weights: Sequence[float] | None = None,
    nan_policy: str = "raise",
) -> CombinedPValue:
    """Return one p-value for "no data set has an effect" from those of independent data sets.

    Fisher (1925): -2 x sum of log p is chi-squared with 2 n degrees of freedom. Stouffer et al.
    (1949): sum of w z / sqrt(sum of w^2) is normal, z the normal quantile of 1 - p. P-values of few
    attainable values (small counts) make the result larger than it need be, never smaller.

    Parameters
    ----------
    pvalues
        Numbers, or results with a `pvalue`, of one test on each data set; a mapping (a
        :class:`Table` of slices, too) has the names of the data sets, as has the index of a
        pandas Series. Above 0 and up to 1: a
        p-value of 0 would decide alone, and no test can show it. Give one-sided ones:
        "stouffer" refuses two-sided results, as a small p of either side would count as evidence
        for the same; "fisher" takes them with a note.
    method
        "fisher": most sensitive to a strong effect on few data sets. "stouffer": to a similar one
        on all; a p-value of 1 makes the result 1.
    weights
        Of "stouffer", above 0: best the inverse of the standard errors, or square roots of sizes.
        None for equal ones.
    nan_policy
        What a p-value that is NaN does: "raise"; "omit" drops the data set; "propagate".

    Returns
    -------
    CombinedPValue

    Raises
    ------
    TypeError
        What is no p-value.
    ValueError
        A p-value or weight is out of range, results test different alternatives, or a word is
        unknown.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.combine_pvalues([0.08, 0.04, 0.20])
    CombinedPValue(fisher: p = 0.0227, n_data_sets=3)
    >>> fb.combine_pvalues([0.08, 0.04, 0.20], method="stouffer", weights=[20, 10, 30])
    CombinedPValue(stouffer: p = 0.0291, n_data_sets=3)
    >>> fb.combine_pvalues([0.08, 0.04, 0.20]).signature().split("|")[3:]
    ['pvalues:[0.08,0.04,0.2]', 'method:fisher', 'n_data_sets:3']
    """
    if method not in _METHODS:
        raise ValueError(f"`method` is {method!r}; choose one of {', '.join(_METHODS)}")
    names, given, alternative = _read(pvalues)
    if weights is not None and method == "fisher":
        raise ValueError("`weights` are given but Fisher's method has none; choose 'stouffer'")
    if method == "stouffer" and alternative == "two-sided":
        raise ValueError(
            "`pvalues` are of two-sided tests, which do not say the side; Stouffer's method needs "
            'one-sided ones: ask for alternative="greater", or give [result.test("greater").pvalue '
            "for each]"
        )
    weighed = _weights(weights, len(given)) if method == "stouffer" else None
    kept = _kept(names, given, nan_policy)
    names, given = tuple(compress(names, kept)), _closed(given[kept])
    if weighed is not None:
        weighed = _closed(weighed[kept])
    if np.isnan(given).any():
        statistic = p = math.nan
    else:
        from scipy import stats

        statistic, p = stats.combine_pvalues(given, method=method, weights=weighed)
    return CombinedPValue(
        pvalue=max(float(p), LEAST_PVALUE) if p == p else math.nan,  # noqa: PLR0124 - NaN is unequal
        statistic=float(statistic),
        method=method,
        data_sets=names,
        pvalues=given,
        weights=weighed,
        alternative=alternative,
        n_dropped=int(np.count_nonzero(~kept)),
    )


def replicability(
    pvalues: Any,
    *,
    alpha: float = 0.05,
    method: str = "bonferroni",
    nan_policy: str = "raise",
) -> Replicability:
    """Return on how many data sets the effect is real, and on which.

    To count the data sets with p below alpha is to test often, and counts too many. The partial
    conjunction p-value of "fewer than u of n have an effect" combines the n - u + 1 largest
    p-values (Benjamini and Heller 2008); the largest u that is rejected, with all smaller ones, is
    a lower bound of the number with confidence 1 - alpha (Benjamini, Heller and Yekutieli 2009;
    Dror, Baumer, Bogomolov and Reichart 2017). Which ones: Holm (1979).

    Parameters
    ----------
    pvalues
        As in :func:`combine_pvalues`; one-sided for "one system is better on each of these".
    alpha
        The count is too large, or Holm names a data set without effect, with at most this
        probability (each).
    method
        "bonferroni": data sets may depend on one another; the count is that of Holm's names.
        "fisher": independent data sets; may count more, or fewer, than can be named.
    nan_policy
        "raise", or "omit": a data set whose p-value is NaN is dropped.

    Returns
    -------
    Replicability

    Raises
    ------
    TypeError
        What is no p-value, or alpha is no number.
    ValueError
        A p-value or alpha is out of range, results test different alternatives, or a word is
        unknown.

    Examples
    --------
    >>> import fastboot as fb
    >>> by_domain = {"news": 0.168, "web": 0.297, "talks": 0.357, "law": 0.019, "wiki": 0.001}
    >>> fb.replicability(by_domain).found
    ('wiki',)
    >>> fb.replicability(by_domain, method="fisher").n_replicated
    2
    >>> fb.replicability(by_domain).signature().split("|")[2]
    'data_sets:[news,web,talks,law,wiki]'
    """
    if method not in _COUNTS:
        raise ValueError(f"`method` is {method!r}; choose one of {', '.join(_COUNTS)}")
    if nan_policy == "propagate":
        raise ValueError("`nan_policy` is 'propagate', but a count has no NaN; choose 'omit'")
    alpha = check_alpha(alpha)
    names, given, _ = _read(pvalues)
    kept = _kept(names, given, nan_policy)
    names, given = tuple(compress(names, kept)), _closed(given[kept])
    # Three times 0.05 is more than 0.15 as float64: each of the three numbers is rounded.
    level = alpha * (1.0 + 2.0 * LEVEL_ROUNDING)
    n = len(given)
    order = np.argsort(given, kind="stable")
    remaining = np.arange(n, 0, -1)
    bonferroni = np.minimum(1.0, np.maximum.accumulate(remaining * given[order]))
    if method == "bonferroni":
        conjunction = bonferroni
    else:
        from scipy.special import chdtrc

        logs = np.cumsum(np.log(given[order][::-1]))[::-1]
        combined = chdtrc(2.0 * remaining, -2.0 * logs)
        combined[-1] = given[order][-1]  # alone, itself: no logarithm rounds it
        conjunction = np.maximum.accumulate(np.maximum(combined, LEAST_PVALUE))
    holm = np.empty(n)
    holm[order] = bonferroni
    return Replicability(
        n_replicated=int(np.count_nonzero(conjunction <= level)),
        found=tuple(name for name, p in zip(names, holm, strict=True) if p <= level),
        data_sets=names,
        pvalues=given,
        holm=_closed(holm),
        partial_conjunction=_closed(conjunction),
        alpha=alpha,
        method=method,
        n_dropped=int(np.count_nonzero(~kept)),
    )


def _read(pvalues: Any) -> tuple[tuple[Any, ...], Floats, str | None]:
    """Return names, numbers and the alternative of p-values or of results that have them."""
    names, values = _named(pvalues)
    if not values:
        raise ValueError("`pvalues` is empty; give one for each data set")
    numbers = []
    for name, value in zip(names, values, strict=True):
        missing = value is None or value is np.ma.masked
        number = math.nan if missing else getattr(value, "pvalue", value)
        if isinstance(number, bool | np.bool_) or not isinstance(number, Real):
            raise TypeError(
                f"`pvalues` has {value!r} for data set {name!r}; give p-values, or results that "
                "have one"
            )
        p = float(number)
        if p == 0.0:
            instead = (
                "count the observed difference as one more replicate (add_one=True)"
                if hasattr(value, "n_extreme")  # of resampling
                else "give the smallest that is possible"
            )
            raise ValueError(
                f"`pvalues` has 0 for data set {name!r}; no test can show that: {instead}"
            )
        if not (math.isnan(p) or 0.0 < p <= 1.0):
            raise ValueError(
                f"`pvalues` has {p} for data set {name!r}; a p-value lies between 0 and 1"
            )
        numbers.append(p)
    sides = {getattr(value, "alternative", None) for value in values}
    if len(sides) > 1:
        raise ValueError(
            f"`pvalues` are of different alternatives, {', '.join(sorted(map(str, sides)))}; "
            "give the same for all data sets"
        )
    return names, np.array(numbers), sides.pop()


def _named(pvalues: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Return names, as plain Python values, and what stands for each data set."""
    if isinstance(pvalues, Mapping):
        names, values = list(pvalues), list(pvalues.values())
    elif isinstance(pvalues, str) or not hasattr(pvalues, "__len__"):
        raise TypeError(
            f"`pvalues` is a {type(pvalues).__name__}; give a sequence or a mapping of p-values or "
            "of results"
        )
    elif hasattr(pvalues, "iloc") and pvalues.ndim == 1:  # of pandas: its index, or places
        names = pvalues.index.tolist()
        values = pvalues.to_numpy(dtype=object, na_value=None).tolist()
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"`pvalues` has {twice!r} twice; give every data set a name of its own"
            )
    else:
        values = list(pvalues)
        names = list(range(len(values)))
    # Arrow's own scalars are no numbers.
    values = [value.as_py() if hasattr(value, "as_py") else value for value in values]
    return tuple(map(_plain, names)), values


def _plain(name: Any) -> Any:
    """Return a name without NumPy's types, which JSON has no words for."""
    if isinstance(name, tuple):
        return tuple(map(_plain, name))
    return name.item() if isinstance(name, np.generic) else name


def _kept(names: Sequence[Any], pvalues: Floats, nan_policy: str) -> NDArray[np.bool_]:
    """Return which data sets are kept."""
    if nan_policy not in {"raise", "omit", "propagate"}:
        raise ValueError(f"`nan_policy` is {nan_policy!r}; choose raise, omit or propagate")
    missing = np.isnan(pvalues)
    if nan_policy == "raise" and missing.any():
        raise ValueError(
            f"`pvalues` has NaN for {count(int(missing.sum()), 'data set')} (first "
            f'{names[int(missing.argmax())]!r}); pass nan_policy="omit" to drop them'
        )
    if nan_policy == "omit" and missing.all():
        raise ValueError("`pvalues` are all NaN; no data set is left")
    return ~missing if nan_policy == "omit" else np.ones(len(pvalues), dtype=bool)


def _weights(weights: Sequence[float] | None, n: int) -> Floats:
    given = np.ones(n) if weights is None else numbers_of("weights", weights).copy()
    if given.shape != (n,):
        raise ValueError(f"`weights` has {given.size:,} values but `pvalues` {n:,}; give one each")
    if not (np.isfinite(given) & (given > 0.0)).all():
        raise ValueError(f"`weights` are {given.tolist()}; they must be above 0 and finite")
    return given


def _closed(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
