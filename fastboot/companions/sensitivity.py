"""Whether a mechanism that scores reports against each other notices when a report gets worse.

The evaluation of Lu et al. (2024, arXiv 2405.15077): score a report against a partner's
report on the same item, degrade the report, score it again against the same partner; a paired t
test says whether scores drop.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import Rng, check_flag, check_run
from fastboot.companions.t_test import paired_t_test
from fastboot.companions.t_test_results import PairedTTestResult
from fastboot.intervals import check_level
from fastboot.paths import BOOTSTRAP_PATHS
from fastboot.progress import Bar
from fastboot.pvalues import check_alternative
from fastboot.rendering import count, label, made_by, short, shown_pvalue
from fastboot.reports import Report

__all__ = ["SensitivityResult", "sensitivity_test"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_POLICIES = ("raise", "omit")
# Items that a note on a failed batch names.
_NAMED = 3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SensitivityResult(Report):
    """Answer of :func:`fastboot.sensitivity_test`.

    Attributes
    ----------
    scores, degraded_scores
        Shape (n_pairs,), float64, read-only: of the reports, and of the same reports degraded, each
        against the same partner.
    items
        The item of each pair: its key in a mapping, else its place.
    reports
        Shape (n_pairs, 2), int64, read-only: place of the report and of its partner in the item.
    test
        Paired t test of scores - degraded_scores, K - 1 degrees of freedom, with the bootstrap
        beside it. Pairs were drawn independently: it speaks of these items.
    test_by_item
        The same with the items drawn as groups: pairs of an item share its reports, so this one
        speaks of items like these.
    n_items
        Items that there are.
    replace
        Whether items were drawn with replacement.
    seed
        ``rng=seed`` draws the same pairs.
    """

    scores: Floats
    degraded_scores: Floats
    items: tuple[Any, ...]
    reports: Integers
    test: PairedTTestResult
    test_by_item: PairedTTestResult
    n_items: int
    replace: bool
    seed: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for array in (self.scores, self.degraded_scores, self.reports):
            array.flags.writeable = False  # a pickle forgets it

    @property
    def n_pairs(self) -> int:
        """Pairs of reports drawn."""
        return self.scores.size

    @property
    def n_items_drawn(self) -> int:
        """Distinct items drawn."""
        return self.test_by_item.n_units

    @property
    def pvalue(self) -> float:
        """Of `test`."""
        return self.test.pvalue

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        own = []
        if self.n_items_drawn < self.n_pairs:
            own.append(
                f"{self.n_pairs:,} pairs share {count(self.n_items_drawn, 'item')}: test_by_item "
                "allows for that"
            )
        return (*own, *self.test.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values; scores are attributes."""
        return {
            "kind": type(self).__name__,
            "n_pairs": self.n_pairs,
            "n_items": self.n_items,
            "n_items_drawn": self.n_items_drawn,
            "replace": self.replace,
            "seed": self.seed,
            "test": self.test.to_dict(),
            "test_by_item": self.test_by_item.to_dict(),
            "notes": list(self.notes),
        }

    def _signature(self) -> dict[str, Any]:
        bootstrap = self.test.bootstrap
        return {
            **made_by("sensitivity_test"),
            "n_pairs": self.n_pairs,
            "n_items": self.n_items,
            "replace": self.replace,
            "n_resamples": 0 if bootstrap is None else bootstrap.n_resamples,
            "seed": self.seed,
            "confidence_level": self.test.confidence_level,
            "alternative": self.test.alternative,
        }

    def summary(self) -> str:
        """Return a sentence for a paper."""
        test, by_item = self.test, self.test_by_item
        drawn = "with" if self.replace else "without"
        return (
            f"{count(self.n_pairs, 'pair')} of reports, items drawn {drawn} replacement from "
            f"{self.n_items:,} (seed {self.seed}); a is the score of a report and b that of its "
            f"degraded version, against the same partner. {test.summary()} With the "
            f"{count(self.n_items_drawn, 'item')} drawn as groups: "
            f"t({by_item.degrees_of_freedom}) = {short(by_item.t)}, p "
            f"{shown_pvalue(by_item.pvalue)}."
        )

    def __repr__(self) -> str:
        low, high = self.test.confidence_interval[:2]
        return (
            f"{type(self).__name__}(drop {short(self.test.estimate)} [{short(low)}, "
            f"{short(high)}], p {shown_pvalue(self.pvalue)}, n_pairs={self.n_pairs:,}, "
            f"n_items_drawn={self.n_items_drawn:,}, seed={self.seed})"
        )


def sensitivity_test(
    items: Sequence[Sequence[Any]] | Mapping[Any, Sequence[Any]],
    mechanism: Callable[[Any, Any], Any],
    degrade: Callable[[Any], Any],
    *,
    n_pairs: int,
    rng: Rng = None,
    replace: bool = True,
    batched: bool = False,
    batch_size: int = 64,
    alternative: str = "greater",
    confidence_level: float = 0.95,
    n_resamples: int = 9_999,
    nan_policy: str = "raise",
    progress: bool | Callable[[int, int], object] | None = None,
) -> SensitivityResult:
    """Test whether a scoring mechanism is sensitive to the quality of reports (Lu et al. 2024).

    For each of `n_pairs` pairs an item is drawn, and an ordered pair of distinct reports of it;
    ``mechanism(report, partner)`` and ``mechanism(degrade(report), partner)`` are compared by a
    paired t test (:func:`paired_t_test`). A test of two independent samples would throw away that
    report and partner are the same.

    Parameters
    ----------
    items
        The reports of each item, two at least; a mapping gives the items names.
    mechanism
        Score of a report given its partner's. A plain number.
    degrade
        A worse version of a report. Called once for each pair drawn, in their order; a random one
        brings its own generator.
    n_pairs
        Pairs to draw.
    rng
        A seed, a NumPy Generator or SeedSequence, or None: of the pairs and of the bootstrap.
    replace
        Draw items with replacement, as the paper does: the same item, even the same pair, may come
        again. Without, each item comes once at most.
    batched
        Both functions take lists: ``mechanism(reports, partners)`` gives a list of scores,
        ``degrade(reports)`` a list of reports. Each batch calls `degrade` once and `mechanism`
        twice.
    batch_size
        Pairs of a batch.
    alternative
        "greater": reports score higher than degraded ones; "less" or "two-sided".
    confidence_level, n_resamples
        As in :func:`paired_t_test`.
    nan_policy
        "raise", or "omit" for pairs with a score of NaN.
    progress
        True for a bar of pairs on standard error, or a function of (done, total).

    Returns
    -------
    SensitivityResult

    Raises
    ------
    TypeError, ValueError
        An argument cannot be used, or a score is no finite number; named with its item.
    Exception
        What `mechanism` or `degrade` raises, with a note that names the item and its reports.

    Examples
    --------
    >>> from fastboot.companions.sensitivity import sensitivity_test
    >>> items = {"tea": ["hot and sweet", "sweet and hot tea"], "ice": ["cold as ice", "cold ice"]}
    >>> def overlap(report, partner):
    ...     return len(set(report.split()) & set(partner.split()))
    >>> result = sensitivity_test(
    ...     items, overlap, lambda report: report.split()[0], n_pairs=40, rng=0)
    >>> result.items[:4], result.scores[:4], result.degraded_scores[:4]
    (('ice', 'ice', 'ice', 'tea'), array([2., 2., 2., 3.]), array([1., 1., 1., 1.]))
    """
    check_alternative(alternative)
    check_level(confidence_level)
    if nan_policy not in _POLICIES:
        raise ValueError(f"`nan_policy` is {nan_policy!r}; choose {' or '.join(_POLICIES)}")
    names, reports = _check_items(items)
    replace, batched = check_flag("replace", replace), check_flag("batched", batched)
    size = _positive("batch_size", batch_size) if batched else 1
    _positive("n_pairs", n_pairs)
    if not replace and n_pairs > len(reports):
        raise ValueError(
            f"`n_pairs` is {n_pairs:,} but there are {count(len(reports), 'item')}, drawn without "
            "replacement; draw fewer, or replace=True"
        )
    for argument, function in (("mechanism", mechanism), ("degrade", degrade)):
        if not callable(function):
            raise TypeError(f"`{argument}` is {function!r}; it must be a function")
    bar = Bar(noun="pairs") if progress is True else progress
    run = check_run(n_resamples, rng, None, BOOTSTRAP_PATHS, None, bar, fewest=0)
    drawn, places = _draw(reports, n_pairs, replace, np.random.default_rng(run.seed))
    calls = _Calls(mechanism, degrade, names, batched, nan_policy)
    scores, degraded = np.empty(n_pairs), np.empty(n_pairs)
    if run.progress is not None:
        run.progress(0, n_pairs)
    for start in range(0, n_pairs, size):
        some = slice(start, start + size)
        pairs = list(zip(drawn[some].tolist(), places[some].tolist(), strict=True))
        own = [reports[item][i] for item, (i, _) in pairs]
        partners = [reports[item][j] for item, (_, j) in pairs]
        scores[some] = calls.score(own, partners, pairs)
        degraded[some] = calls.score(calls.worsen(own, pairs), partners, pairs)
        if run.progress is not None:
            run.progress(min(start + size, n_pairs), n_pairs)
    for array in (scores, degraded, places):
        array.flags.writeable = False

    def test(groups: Integers | None) -> PairedTTestResult:
        return paired_t_test(
            scores, degraded, groups=groups, alternative=alternative,
            confidence_level=confidence_level, nan_policy=nan_policy, n_resamples=n_resamples,
            rng=run.seed,
        )  # fmt: skip

    return SensitivityResult(
        scores=scores,
        degraded_scores=degraded,
        items=tuple(names[item] for item in drawn.tolist()),
        reports=places,
        test=test(None),
        test_by_item=test(drawn),
        n_items=len(reports),
        replace=replace,
        seed=run.seed,
    )


@dataclass(frozen=True)
class _Calls:
    """The caller's functions, one pair or a batch at a time."""

    mechanism: Callable[[Any, Any], Any]
    degrade: Callable[[Any], Any]
    names: Sequence[Any]
    batched: bool
    nan_policy: str

    def score(self, own: list[Any], partners: list[Any], pairs: list[Any]) -> list[float]:
        with self._named("mechanism", pairs):
            if self.batched:
                found = list(self.mechanism(own, partners))
            else:
                found = [self.mechanism(own[0], partners[0])]
        self._check_length("mechanism", "scores", found, pairs)
        return [self._number(value, pair) for value, pair in zip(found, pairs, strict=True)]

    def worsen(self, own: list[Any], pairs: list[Any]) -> list[Any]:
        with self._named("degrade", pairs):
            found = list(self.degrade(own)) if self.batched else [self.degrade(own[0])]
        self._check_length("degrade", "reports", found, pairs)
        return found

    @contextmanager
    def _named(self, argument: str, pairs: list[Any]) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            error.add_note(f"in `{argument}`, {self._about(pairs)}")
            raise

    def _about(self, pairs: list[Any]) -> str:
        shown = "; ".join(
            f"item {label(repr(self.names[item]))}, report {i} against report {j}"
            for item, (i, j) in pairs[:_NAMED]
        )
        more = len(pairs) - _NAMED
        return f"{shown}; and {count(more, 'more pair')}" if more > 0 else shown

    def _check_length(self, argument: str, what: str, found: list[Any], pairs: list[Any]) -> None:
        if len(found) != len(pairs):
            raise ValueError(
                f"`{argument}` returned {len(found):,} {what} for {count(len(pairs), 'pair')} "
                f"({self._about(pairs)})"
            )

    def _number(self, value: Any, pair: Any) -> float:
        try:  # of digits in a string Python would make a number
            number = None if isinstance(value, str | bytes) else float(value)
        except (TypeError, ValueError):
            number = None
        if number is None:
            raise TypeError(
                f"`mechanism` returned {label(repr(value))}; a score must be a number "
                f"({self._about([pair])})"
            )
        if math.isinf(number) or (math.isnan(number) and self.nan_policy == "raise"):
            omit = ', or pass nan_policy="omit"' if math.isnan(number) else ""
            raise ValueError(
                f"`mechanism` returned {number}; a score must be finite{omit} "
                f"({self._about([pair])})"
            )
        return number


def _check_items(items: Any) -> tuple[list[Any], list[Sequence[Any]]]:
    """Return names and reports of the items."""
    if isinstance(items, str | bytes) or not hasattr(items, "__len__"):
        raise TypeError(
            f"`items` is a {type(items).__name__}; give a list with the reports of each item, or a "
            "mapping from items to theirs"
        )
    names = list(items) if isinstance(items, Mapping) else list(range(len(items)))
    reports = list(items.values()) if isinstance(items, Mapping) else list(items)
    if not reports:
        raise ValueError("`items` is empty; give one item at least")
    for name, own in zip(names, reports, strict=True):
        if isinstance(own, str | bytes) or not hasattr(own, "__len__"):
            raise TypeError(
                f"`items` holds a {type(own).__name__} for item {label(repr(name))}; it must be "
                "the list of its reports"
            )
        if len(own) < 2:
            raise ValueError(
                f"`items` has {count(len(own), 'report')} for item {label(repr(name))}; a report "
                "needs a partner: give two at least, or leave the item out"
            )
    return names, reports


def _positive(argument: str, value: Any) -> int:
    if not hasattr(value, "__index__") or isinstance(value, bool | np.bool_ | np.ndarray):
        raise TypeError(f"`{argument}` is {value!r}; it must be a whole number")
    if operator.index(value) < 1:
        raise ValueError(f"`{argument}` is {value}; it must be 1 or more")
    return operator.index(value)


def _draw(
    reports: Sequence[Sequence[Any]],
    n_pairs: int,
    replace: bool,  # noqa: FBT001 - as an argument of `sensitivity_test`
    rng: np.random.Generator,
) -> tuple[Integers, Integers]:
    """Draw items, and an ordered pair of distinct reports of each."""
    sizes = np.array([len(own) for own in reports])
    if replace:
        drawn = rng.integers(len(reports), size=n_pairs)
    else:
        drawn = rng.permutation(len(reports))[:n_pairs]
    first = rng.integers(sizes[drawn])
    second = rng.integers(sizes[drawn] - 1)
    second += second >= first
    return drawn.astype(np.int64), np.stack([first, second], axis=1).astype(np.int64)
