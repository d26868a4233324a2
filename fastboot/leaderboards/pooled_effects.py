"""The effect over many data sets: means of differences from their joint resamples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.intervals import ConfidenceInterval, check_level
from fastboot.paired_results import PairedBootstrapResult
from fastboot.plain import numbers_of
from fastboot.pvalues import check_alternative
from fastboot.rendering import count, note_lines, short, shown_pvalue
from fastboot.tables import Table

__all__ = ["MetaAnalysis", "PooledResult", "pool"]

Floats = NDArray[np.float64]

_WEIGHTS = ("equal", "rows", "precision")
_METHODS = ("percentile", "basic", "normal")
_SHOWN_SEEDS = 5  # in a sentence


class MetaAnalysis(NamedTuple):
    """The mean effect by a formula, from estimates and standard errors.

    Attributes
    ----------
    estimate, standard_error
        Of the mean effect, weighted by precision; NaN where a standard error is 0 or undefined.
    low, high
        Normal interval at the result's level.
    tau_squared
        Variance of the true effects between data sets; 0 in the fixed-effect model.
    q, q_pvalue
        Cochran's (1954) test of "one effect on all", chi-squared of n - 1 degrees of freedom.
    i_squared
        Share of the variation that chance does not explain (Higgins and Thompson 2002).
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    tau_squared: float
    q: float
    q_pvalue: float
    i_squared: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PooledResult(PairedBootstrapResult):
    """Answer of :func:`fastboot.pool`.

    It is read as a result of :func:`fastboot.paired_bootstrap`: its interval and p-value are those
    of the weighted mean. `n_rows`, `n_units` and `n_dropped` are sums; `seed` is that of the first
    data set.

    Attributes
    ----------
    data_sets
        Their names: the keys, or places.
    weighting
        "equal", "rows", "precision" or "given".
    weights
        Shape (n_data_sets,), read-only, with sum 1.
    estimates, standard_errors
        Shape (n_data_sets,), read-only: of each data set.
    seeds, signatures
        Of each data set: what reproduces its own result.
    unshown
        Why no verdict is given: the first data set whose replicates say nothing about its own
        uncertainty; empty where all do.
    """

    data_sets: tuple[Any, ...]
    weighting: str
    weights: Floats
    estimates: Floats
    standard_errors: Floats
    seeds: tuple[int, ...]
    signatures: tuple[str, ...]
    unshown: str

    _procedure = "pool"

    @property
    def n_data_sets(self) -> int:
        """Number of data sets."""
        return len(self.data_sets)

    @property
    def fixed_effect(self) -> MetaAnalysis:
        """The effect if it is one on all data sets: the mean weighted by precision."""
        return self._meta_analysis(random=False)

    @property
    def random_effects(self) -> MetaAnalysis:
        """The mean effect of data sets like these (DerSimonian and Laird 1986).

        Other than the resampled interval, which is about these data sets, it allows for their
        differences; for few data sets it is too narrow.
        """
        return self._meta_analysis(random=True)

    def _meta_analysis(self, *, random: bool) -> MetaAnalysis:
        from scipy.special import chdtrc, ndtri

        n, effects = self.n_data_sets, self.estimates
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = 1.0 / self.standard_errors**2
        if not np.isfinite(precision).all():
            return MetaAnalysis(*[math.nan] * 8)
        mean = precision @ effects / precision.sum()
        q = float(precision @ (effects - mean) ** 2)
        excess = q - (n - 1.0)
        spread = precision.sum() - (precision @ precision) / precision.sum()
        tau_squared = max(0.0, float(excess / spread)) if random and n > 1 else 0.0
        weights = 1.0 / (self.standard_errors**2 + tau_squared)
        estimate, error = float(weights @ effects / weights.sum()), float(weights.sum() ** -0.5)
        reach = -float(ndtri((1.0 - self.confidence_level) / 2.0)) * error
        return MetaAnalysis(
            estimate,
            error,
            estimate - reach,
            estimate + reach,
            tau_squared,
            q,
            float(chdtrc(n - 1.0, q)) if n > 1 else math.nan,
            max(0.0, excess / q) if q > 0.0 else 0.0,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        return super().to_dict() | {
            "data_sets": list(self.data_sets),
            "weighting": self.weighting,
            "weights": self.weights.tolist(),
            "estimates": self.estimates.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "seeds": list(self.seeds),
            "signatures": list(self.signatures),
            "fixed_effect": self.fixed_effect._asdict(),
            "random_effects": self.random_effects._asdict(),
        }

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
            As in :func:`fastboot.pool`; None keeps the one asked for.

        Raises
        ------
        ValueError
            The level is not between 0 and 1, or the word is unknown or no method of pooled effects.

        Examples
        --------
        >>> import fastboot as fb
        >>> parts = [fb.paired_bootstrap([1, 1, 0], [0, 1, 0], rng=seed) for seed in (1, 2)]
        >>> fb.pool(parts).interval(0.8, method="basic").method
        'basic'
        """
        word = None if method is None else _check_method(method)
        return super().interval(confidence_level, word, alternative)

    def _unshown(self) -> str:
        return self.unshown or super()._unshown()

    def _estimate_words(self) -> str:
        return f"{_MEANS[self.weighting]} {super()._estimate_words()}"

    def _units_words(self) -> str:
        return f"{count(self.n_data_sets, 'independent data set')}, {super()._units_words()}"

    def _resamples_words(self) -> str:
        distinct = list(map(str, dict.fromkeys(self.seeds)))
        if len(distinct) > _SHOWN_SEEDS:
            distinct[_SHOWN_SEEDS - 1 : -1] = ["..."]
        seeds = f"seed{'s' if len(distinct) > 1 else ''} {', '.join(distinct)}"
        return f"{count(self.n_resamples, 'resample')} of each, {seeds}"

    def _signature(self) -> dict[str, Any]:
        parts = super()._signature()
        parts["seed"] = ",".join(map(str, self.seeds))
        return parts

    def __repr__(self) -> str:
        low, high = self.confidence_interval[:2]
        return (
            f"PooledResult({self.weighting} weights, {self.statistic}: {short(self.estimate)} "
            f"[{short(low)}, {short(high)}], p {shown_pvalue(self.pvalue)} {self.alternative}, "
            f"n_data_sets={self.n_data_sets:,}, n_resamples={self.n_resamples:,})"
        )


_NO_PRECISION = (
    "the standard error is 0 or undefined: without its precision fixed_effect and random_effects "
    "are undefined"
)
_MEANS = {
    "equal": "macro average over data sets:",
    "rows": "average over data sets, weighted by rows:",
    "precision": "average over data sets, weighted by precision:",
    "given": "weighted average over data sets:",
}


def pool(
    results: Any,
    *,
    weights: str | Sequence[float] = "equal",
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str | None = None,
) -> PooledResult:
    """Return the mean difference over independent data sets, from their resamples.

    Replicates are weighted means of one replicate of each data set. The interval is about the mean
    over these data sets, whose items are resampled; not about others
    (:attr:`PooledResult.random_effects` is).

    Parameters
    ----------
    results
        Results of :func:`paired_bootstrap` on different data sets, with the same number of
        resamples: a sequence, a mapping from names, or a :class:`Table` of slices. Best made with
        different seeds: with one seed interval and p-value are right too, but vary more with it.
    weights
        "equal": macro average, every data set counts the same. "rows": by size, which for means
        is the mean over all rows. "precision": 1 / standard_error**2, the most precise if the
        effect is one; they are estimated, and held fixed in all replicates. Or numbers above 0,
        one each.
    confidence_level
        Of the interval.
    method
        "percentile", "basic" or "normal".
    alternative
        "two-sided", "greater" or "less"; None for that of the results.

    Returns
    -------
    PooledResult

    Raises
    ------
    TypeError
        What is no such result.
    ValueError
        Results differ in their number of resamples or alternative, or are of resamples of another
        size (`n_drawn`); a weight is out of range, or a word is unknown.

    Examples
    --------
    >>> import fastboot as fb
    >>> news = fb.paired_bootstrap([1, 1, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1], rng=1)
    >>> talks = fb.paired_bootstrap([1, 0, 1, 1], [1, 0, 1, 0], rng=2)
    >>> round(fb.pool({"news": news, "talks": talks}).estimate, 4)
    0.2917
    >>> round(fb.pool({"news": news, "talks": talks}, weights="rows").estimate, 4)
    0.3
    """
    names, parts = _read(results)
    _check_method(method)
    level = check_level(confidence_level)
    if alternative is None:
        alternative = _one_of(names, parts, "alternative", "pass alternative=")
    _one_of(names, parts, "n_resamples", "run them with the same")
    for name, part in zip(names, parts, strict=True):
        n_drawn = part._other_size()  # noqa: SLF001 # as its own verdict
        if n_drawn is not None:
            raise ValueError(
                f"`results` has n_drawn={n_drawn} of {count(part.n_units, part.unit)} for data set "
                f"{name!r}, so its replicates are those of samples of another size; resample "
                "without n_drawn to pool"
            )
    estimates = np.array([part.estimate for part in parts])
    # Replicates that vary by rounding alone would have all the precision.
    errors = np.array([0.0 if part.degenerate else part.standard_error for part in parts])
    weighting, share = _weights(weights, names, parts, errors)
    # Runs with one seed share their random numbers, and where sizes are equal replicate r of one
    # moves with replicate r of the other (correlation 0.99 measured on 0/1 scores); replicates of
    # different numbers share none.
    replicates = np.zeros(parts[0].n_resamples)
    for place, (weight, part) in enumerate(zip(share, parts, strict=True)):
        replicates += weight * np.roll(part.replicates, -place)
    statistics, units, designs = (
        {getattr(part, what) for part in parts} for what in ("statistic", "unit", "design")
    )
    first = {one.name: getattr(parts[0], one.name) for one in fields(PairedBootstrapResult)}
    own = {
        "statistic": statistics.pop() if len(statistics) == 1 else "effect",
        "estimate": float(share @ estimates),
        "replicates": _closed(replicates),
        "alternative": check_alternative(alternative),
        "confidence_level": level,
        "method": method,
        "unit": units.pop() if len(units) == 1 else "group",
        "path": "pooled",
        "design": designs.pop() if len(designs) == 1 else "designs of their own",
        "asked": (
            (
                "weights",
                weighting if isinstance(weights, str) else ",".join(f"{one:g}" for one in share),
            ),
            ("n_data_sets", str(len(parts))),
        ),
        "acceleration": None,
        "again": None,  # that of the first data set knows nothing of the others
        "remarks": _remarks(names, parts, errors),
        "replicate_standard_errors": None,
        "analytic_errors": None,
        "n_successes": None,
        "variance_components": None,
        "add_one": all(part.add_one for part in parts),
        "data_sets": names,
        "weighting": weighting,
        "weights": _closed(share),
        "estimates": _closed(estimates),
        "standard_errors": _closed(errors),
        "seeds": tuple(part.seed for part in parts),
        "signatures": tuple(part.signature() for part in parts),
        "unshown": next(filter(None, map(_unshown, names, parts)), ""),
    }
    for what in ("estimate_a", "estimate_b", "rounding"):
        own[what] = float(share @ [getattr(part, what) for part in parts])
    for what in ("n_rows", "n_units", "n_dropped", "elapsed"):
        own[what] = sum(getattr(part, what) for part in parts)
    return PooledResult(**first | own)


def _read(results: Any) -> tuple[tuple[Any, ...], list[PairedBootstrapResult]]:
    if isinstance(results, Table) and not {"statistic", "label"}.isdisjoint(results.axes):
        raise TypeError(
            f"`results` is a table by {', '.join(results.axes)}; statistics of the same rows are "
            "no data sets: pool a table of slices, or a list of results"
        )
    if isinstance(results, Mapping):
        names, parts = tuple(results), list(results.values())
    elif isinstance(results, list | tuple):
        names, parts = tuple(range(len(results))), list(results)
    else:
        raise TypeError(
            f"`results` is a {type(results).__name__}; give a list, a mapping or a table of results"
        )
    if not parts:
        raise ValueError("`results` is empty; give a result for each data set")
    for name, part in zip(names, parts, strict=True):
        if not isinstance(part, PairedBootstrapResult):
            raise TypeError(
                f"`results` has a {type(part).__name__} for data set {name!r}; give results of "
                "paired_bootstrap"
            )
    return names, parts


def _check_method(method: object) -> str:
    """Return the word, or raise ValueError."""
    if method not in _METHODS:
        raise ValueError(
            f"`method` is {method!r}; a pooled effect has one of {', '.join(_METHODS)}"
        )
    return str(method)


def _remarks(
    names: Sequence[Any], parts: Sequence[PairedBootstrapResult], errors: Floats
) -> tuple[str, ...]:
    """Return the notes of the data sets, each with those that it is about."""
    found: dict[str, list[Any]] = {}
    for name, part, error in zip(names, parts, errors, strict=True):
        own = part._data_notes()  # noqa: SLF001 # what is said of it is said of the mean
        for note in own if error > 0.0 else (*own, _NO_PRECISION):
            found.setdefault(note, []).append(name)
    return tuple(note_lines(found, -1))


def _unshown(name: Any, part: PairedBootstrapResult) -> str:
    """Return why the replicates of a data set say nothing, or an empty string."""
    why = part._unshown()  # noqa: SLF001 # as its own verdict
    return f"in data set {name!r} {why}" if why else ""


def _one_of(
    names: Sequence[Any], parts: Sequence[PairedBootstrapResult], what: str, remedy: str
) -> Any:
    """Return what all parts have alike, or raise ValueError."""
    first = getattr(parts[0], what)
    for name, part in zip(names, parts, strict=True):
        if getattr(part, what) != first:
            raise ValueError(
                f"`results` have different {what}: {first!r} for {names[0]!r} but "
                f"{getattr(part, what)!r} for {name!r}; {remedy}"
            )
    return first


def _weights(
    weights: Any, names: Sequence[Any], parts: Sequence[PairedBootstrapResult], errors: Floats
) -> tuple[str, Floats]:
    """Return what weights are called, and their shares."""
    if isinstance(weights, str):
        if weights not in _WEIGHTS:
            raise ValueError(
                f"`weights` is {weights!r}; choose one of {', '.join(_WEIGHTS)}, or give numbers"
            )
        called = weights
        if weights == "precision":
            for name, error in zip(names, errors, strict=True):
                if not error > 0.0:
                    raise ValueError(
                        f"`weights` is 'precision' but data set {name!r} has standard error "
                        f"{error}; choose 'equal' or 'rows'"
                    )
            given = (errors.min() / errors) ** 2
        else:
            given = np.array([float(part.n_rows) if weights == "rows" else 1.0 for part in parts])
    else:
        called, given = "given", numbers_of("weights", weights).copy()
        if given.shape != (len(parts),):
            raise ValueError(
                f"`weights` has {given.size:,} values but there are "
                f"{count(len(parts), 'data set')}; give one each"
            )
        if not (np.isfinite(given) & (given > 0.0)).all():
            raise ValueError(f"`weights` are {given.tolist()}; they must be above 0 and finite")
    return called, given / given.sum()


def _closed(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
