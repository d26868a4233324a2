"""How a metric ranks systems: its correlation with human scores across systems."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Additive, Tally, Term

__all__ = ["system_correlation"]

Floats = NDArray[np.float64]


class _SystemCorrelation(Additive):
    def __init__(self, columns: Sequence[Column], correlation: str) -> None:
        super().__init__(*columns, name=f"system_correlation({correlation})")
        self._correlation = correlation
        self.systems: tuple[Any, ...] = ()

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        bound = copy.copy(self)
        bound.systems = tuple(dict.fromkeys(s for *_, labels in systems for s in labels.values))
        if len(bound.systems) < 2:
            raise ValueError(
                f"{self.columns[-1]} names one system, {bound.systems[0]!r}; a correlation across "
                "systems needs two or more"
            )
        return bound

    def terms(self, metric: Floats, human: Floats, systems: Labels) -> Sequence[Term]:
        number = {system: code for code, system in enumerate(self.systems)}
        codes = np.array([number[system] for system in systems.values])[systems.codes]
        return tuple(Tally(codes, len(self.systems), x) for x in (1.0, metric, human))

    def finish(self, n: Any, metric: Any, human: Any) -> Any:
        return _CORRELATIONS[self._correlation](_means(metric, n), _means(human, n))


@recorded
def system_correlation(
    metric: Source,
    human: Source,
    systems: Source,
    *,
    correlation: Literal["pearson", "spearman", "kendall"] = "pearson",
) -> Additive:
    """System-level correlation of a metric with human scores.

    The correlation, across systems, of each system's mean metric with its mean human score:
    Pearson's, Spearman's with mean ranks of ties, or Kendall's tau-b. Undefined where a system has
    no row or all means of the metric, or all of the human scores, are equal. Means that differ by
    the rounding of their sums only are equal.

    Parameters
    ----------
    metric, human
        Column name, or array of shape (n_rows,): scores of an output, one row for each system and
        segment (document, question).
    systems
        Label column: the system of each output.
    correlation
        "pearson", "spearman" or "kendall".

    Raises
    ------
    ValueError
        `correlation` is unknown. When run: there is one system only.

    Notes
    -----
    Resample segments, ``groups="segment"``, so that all systems keep the same ones; resampling rows
    also varies how often each system is seen. Two metrics are compared on the same resamples with
    ``paired_bootstrap`` (Deutsch, Dror and Roth 2021).

    Pooled segment-level correlation, of all rows, is :func:`fastboot.pearson`. The mean over
    segments of the correlation across their systems is ``fb.macro(fb.pearson(metric, human),
    by="segment")``.

    Examples
    --------
    >>> import fastboot as fb
    >>> table = {
    ...     "segment": [1, 1, 1, 2, 2, 2],
    ...     "system": ["x", "y", "z", "x", "y", "z"],
    ...     "metric": [0.1, 0.3, 0.5, 0.3, 0.5, 0.4],
    ...     "human": [1, 2, 4, 2, 2, 4],
    ... }
    >>> tau = fb.system_correlation("metric", "human", "system", correlation="kendall")
    >>> round(fb.bootstrap(tau, data=table, groups="segment", rng=0).estimate, 6)
    1.0
    """
    if correlation not in _CORRELATIONS:
        choices = ", ".join(f'"{name}"' for name in _CORRELATIONS)
        raise ValueError(f"correlation={correlation!r}; choose one of {choices}")
    columns = [
        Column(metric, "number", "metric"),
        Column(human, "number", "human"),
        Column(systems, "label", "systems"),
    ]
    return _SystemCorrelation(columns, correlation)


class _Means(NamedTuple):
    """Means of the systems.

    of : shape (n_systems, ...); NaN for a system without rows
    rounding : shape (...); two means that differ by no more are equal
    """

    of: Floats
    rounding: Floats


def _means(total: Any, n: Any) -> _Means:
    """Return total / n, and twice the rounding of the largest.

    A sum of n numbers of one sign errs by at most n / 2 machine epsilons of it (Higham 2002,
    section 4.2).
    """
    means = total / n
    return _Means(means, (n * np.abs(means)).max(axis=0) * 2.0**-52)


def _pearson(x: _Means, y: _Means) -> Any:
    return _cosine(_deviations(x), _deviations(y))


def _spearman(x: _Means, y: _Means) -> Any:
    return _cosine(_ranks(x), _ranks(y))


def _kendall(x: _Means, y: _Means) -> Any:
    same, x_untied, y_untied = 0.0, 0.0, 0.0
    for i in range(len(x.of)):
        x_order, y_order = _order(x, i), _order(y, i)
        same = same + (x_order * y_order).sum(axis=0)
        x_untied = x_untied + np.abs(x_order).sum(axis=0)
        y_untied = y_untied + np.abs(y_order).sum(axis=0)
    return np.clip(same / np.sqrt(x_untied * y_untied), -1.0, 1.0)


_CORRELATIONS: dict[str, Callable[[_Means, _Means], Any]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}


def _order(x: _Means, i: int) -> Floats:
    """Return 1 for each later system that is above system i, -1 below, 0 tied."""
    difference = x.of[i + 1 :] - x.of[i]
    order: Floats = np.sign(np.where(np.abs(difference) <= x.rounding, 0.0, difference))
    return order


def _ranks(x: _Means) -> Floats:
    """Return how many systems each is above minus how many below: twice the mean rank, centred."""
    ranks = np.zeros(x.of.shape)
    for i in range(len(ranks)):
        order = _order(x, i)
        ranks[i] -= order.sum(axis=0)
        ranks[i + 1 :] += order
    return ranks


def _deviations(x: _Means) -> Floats:
    """Return differences from the mean of the systems, the largest 1; NaN where all are equal."""
    deviations = x.of - x.of.mean(axis=0)
    largest = np.abs(deviations).max(axis=0)
    constant = x.of.max(axis=0) - x.of.min(axis=0) <= x.rounding
    scaled: Floats = deviations / np.where(constant, np.nan, largest)
    return scaled


def _cosine(x: Floats, y: Floats) -> Any:
    lengths = np.sqrt((x * x).sum(axis=0) * (y * y).sum(axis=0))
    return np.clip((x * y).sum(axis=0) / lengths, -1.0, 1.0)
