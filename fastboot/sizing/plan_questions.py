"""What a plan can ask: the keywords of each question, and its numbers as a function of n."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from math import inf
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot import power_formulas as formulas
from fastboot.intervals import check_level
from fastboot.pvalues import check_alternative
from fastboot.rendering import count, sided
from fastboot.sizing.mcnemar import ExactMcNemar
from fastboot.sizing.waves import Waves, first_reaching, settled

__all__ = [
    "MCNEMAR", "MEAN", "PAIRED_T", "PILOT", "PLANS", "PROPORTION", "Clusters", "Plan", "Question",
    "check_side", "given_of", "number", "positive", "question_of", "whole",
]  # fmt: skip

_INTERVALS = ("normal", "wilson")
_TESTS = ("exact", "connor")
_EPSILON = 1e-12  # some roundings of 1.1e-16


class Question(NamedTuple):
    """What can be asked: the keywords that it needs, and those that it takes besides."""

    name: str
    needs: tuple[str, ...]
    takes: tuple[str, ...]


_CLUSTERS = ("cluster_size", "icc")
_TEST = ("power", "alpha", "alternative", *_CLUSTERS)  # power() itself has no `power`
_INTERVAL = ("confidence_level", *_CLUSTERS)
MEAN = Question("the half-width of a mean", ("half_width", "std"), _INTERVAL)
PROPORTION = Question(
    "the half-width of a proportion", ("half_width",), ("proportion", "method", *_INTERVAL)
)
MCNEMAR = Question("a difference of 0/1 answers", ("effect", "discordance"), ("method", *_TEST))
PAIRED_T = Question("a difference of scores", ("effect", "std_of_difference"), _TEST)
PILOT = Question(
    "the power with a pilot",
    ("pilot_a", "pilot_b"),
    ("effect", "alpha", "alternative", "test", "data", "groups", "n_resamples", "rng",
     "n_threads", "nan_policy"),
)  # fmt: skip


class Clusters(NamedTuple):
    """How items come.

    size : items of a cluster
    worth : independent items that a cluster is worth
    inputs, words : what of it was given, and as assumptions
    """

    size: int
    worth: float
    inputs: dict[str, Any]
    words: tuple[str, ...]


class Plan(NamedTuple):
    """A question with its numbers.

    reached : half-width or power with so many clusters
    goal : what is planned, in words
    smallest : finds the number from which on a power is reached; None where any search does
    """

    reached: Callable[[int], float]
    goal: str
    inputs: dict[str, Any]
    assumptions: tuple[str, ...]
    smallest: Callable[[float], int | None] | None = None


def _clusters(given: Mapping[str, Any], whose: str) -> Clusters:
    """Return the clusters; icc is of `whose` values."""
    if ("cluster_size" in given) != ("icc" in given):
        one, other = ("cluster_size", "icc") if "cluster_size" in given else ("icc", "cluster_size")
        raise TypeError(f"`{one}` is given but `{other}` is not; clusters need both")
    if "icc" not in given:
        return Clusters(1, 1.0, {}, ("independent items",))
    size = whole("cluster_size", given["cluster_size"])
    icc = _between("icc", given["icc"], 0.0, 1.0)
    effect = formulas.design_effect(size, icc)
    words = (
        f"clusters of {count(size, 'item')} whose {whose} have an intraclass correlation of "
        f"{icc:g} (design effect {effect:.4g})"
    )
    return Clusters(size, size / effect, {"cluster_size": size, "icc": icc}, (words,))


def _plan_mean(given: Mapping[str, Any]) -> Plan:
    clusters = _clusters(given, "scores")
    level = check_level(given.get("confidence_level", 0.95))
    std = positive("std", given["std"])

    def half_width(n: int) -> float:
        tail, freedom = (1.0 - level) / 2.0, n - 1.0
        return formulas.mean_half_width(n * clusters.worth, std, tail, freedom) if n > 1 else inf

    return Plan(
        half_width,
        f"{100 * level:g}% Student interval of a mean",
        {"std": std, "confidence_level": level, **clusters.inputs},
        (f"a standard deviation of {std:g}", *clusters.words),
    )


def _plan_proportion(given: Mapping[str, Any]) -> Plan:
    clusters = _clusters(given, "answers")
    level = check_level(given.get("confidence_level", 0.95))
    method = _word("method", given.get("method", "normal"), _INTERVALS)
    share = _between("proportion", given.get("proportion", 0.5), 0.0, 1.0)
    if method == "normal" and share in {0.0, 1.0}:
        raise ValueError(
            f"`proportion` is {share:g}, where the normal interval has no width; choose "
            'method="wilson"'
        )
    worst = "" if "proportion" in given else " (the worst case)"

    def half_width(n: int) -> float:
        tail = (1.0 - level) / 2.0
        return formulas.proportion_half_width(n * clusters.worth, share, tail, method)

    return Plan(
        half_width,
        f"{100 * level:g}% {method.replace('wilson', 'Wilson')} interval of a proportion",
        {"proportion": share, "confidence_level": level, "method": method, **clusters.inputs},
        (f"a proportion of {share:g}{worst}", *clusters.words),
    )


def _plan_paired_t(given: Mapping[str, Any]) -> Plan:
    clusters = _clusters(given, "differences")
    alpha, alternative, effect = _of_test(given)
    std = positive("std_of_difference", given["std_of_difference"])

    def reached(n: int) -> float:
        if n < 2:
            return 0.0
        items, freedom = n * clusters.worth, n - 1.0
        return formulas.paired_t_power(items, effect / std, freedom, alpha, alternative)

    return Plan(
        reached,
        f"{sided(alternative)} paired t-test at level {alpha:g}",
        {"effect": effect, "std_of_difference": std, "alpha": alpha, "alternative": alternative,
         **clusters.inputs},
        (f"a true difference of {effect:g}",
         f"normal differences with a standard deviation of {std:g}", *clusters.words),
    )  # fmt: skip


def _plan_mcnemar(given: Mapping[str, Any]) -> Plan:
    from scipy.special import ndtri

    clusters = _clusters(given, "differences")
    alpha, alternative, effect = _of_test(given)
    share = _between("discordance", given["discordance"], 0.0, 1.0)
    if share < abs(effect):
        raise ValueError(
            f"`discordance` is {share:g} but `effect` is {effect:g}; the systems differ on as many "
            "items as the effect at least"
        )
    method = _word("method", given.get("method", "exact"), _TESTS)

    exact = ExactMcNemar(effect, share, alpha, alternative)

    def powers(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        # Whole items, rounded down but for the rounding error of the product.
        return exact.powers(np.floor(numbers * clusters.worth * (1.0 + _EPSILON)).astype(np.int64))

    def reached(n: int) -> float:
        if method == "exact":
            return float(powers(np.array([n]))[0])
        return formulas.connor_power(n * clusters.worth, effect, share, alpha, alternative)

    def smallest(target: float) -> int | None:
        quantile = -float(ndtri(formulas.tail_of(alpha, alternative)))
        waves = Waves(effect, share, quantile, alternative == "two-sided", clusters.worth)
        first = first_reaching(powers, target, waves)
        return None if first is None else settled(powers, target, first, waves)

    name = "exact McNemar test" if method == "exact" else "McNemar test (Connor's formula)"
    return Plan(
        reached,
        f"{sided(alternative)} {name} at level {alpha:g}",
        {"effect": effect, "discordance": share, "alpha": alpha, "alternative": alternative,
         "method": method, **clusters.inputs},
        (f"a true difference of {effect:g}",
         f"answers that differ on {100 * share:.4g}% of the items", *clusters.words),
        smallest if method == "exact" else None,
    )  # fmt: skip


PLANS = {
    MEAN: _plan_mean,
    PROPORTION: _plan_proportion,
    MCNEMAR: _plan_mcnemar,
    PAIRED_T: _plan_paired_t,
}


def _of_test(given: Mapping[str, Any]) -> tuple[float, str, float]:
    """Return alpha, alternative and effect, checked."""
    alternative = check_alternative(given.get("alternative", "two-sided"))
    effect = number("effect", given["effect"])
    if effect == 0.0:
        raise ValueError("`effect` is 0; give the difference that the test should show")
    alpha = number("alpha", given.get("alpha", 0.05))
    formulas.check_alpha_and_power(alpha, (1.0 + alpha) / 2.0)
    return alpha, alternative, effect


def check_side(effect: float, alternative: str) -> None:
    """Raise ValueError if a one-sided test looks to the other side."""
    if (effect > 0.0) == (alternative == "less") and alternative != "two-sided":
        raise ValueError(
            f"`effect` is {effect:g} but `alternative` is {alternative!r}: no sample is large "
            "enough to show that; turn one of them"
        )


def given_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: value for name, value in arguments.items() if value is not None}


def question_of(function: str, given: Mapping[str, Any], questions: Sequence[Question]) -> Question:
    """Return what is asked, or raise TypeError saying which keywords do not belong."""
    asked = next((one for one in questions if given.keys() >= set(one.needs)), None)
    if asked is None:
        choices = "; ".join(
            f"{' and '.join(f'`{need}`' for need in one.needs)} ({one.name})" for one in questions
        )
        found = ", ".join(f"`{name}`" for name in given) or "nothing of it"
        raise TypeError(f"{function}() needs one of: {choices}; got {found}")
    for name in given:
        if name not in asked.needs and name not in asked.takes:
            takes = ", ".join(f"`{one}`" for one in (*asked.needs, *asked.takes) if one != function)
            raise TypeError(
                f"{function}() got `{name}`, which does not belong to {asked.name}; that takes "
                f"{takes}"
            )
    return asked


def number(argument: str, value: Any) -> float:
    """Return a finite number, or raise TypeError or ValueError naming the argument."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"`{argument}` is {value!r}; it must be a number")
    if not math.isfinite(value):
        raise ValueError(f"`{argument}` is {value}; it must be finite")
    return float(value)


def positive(argument: str, value: Any) -> float:
    """Return a number above 0, or raise TypeError or ValueError naming the argument."""
    checked = number(argument, value)
    if checked <= 0.0:
        raise ValueError(f"`{argument}` is {checked:g}; it must be above 0")
    return checked


def _between(argument: str, value: Any, low: float, high: float) -> float:
    checked = number(argument, value)
    if not low <= checked <= high:
        raise ValueError(f"`{argument}` is {checked:g}; it must lie between {low:g} and {high:g}")
    return checked


def whole(argument: str, value: Any) -> int:
    """Return a whole number of 1 or more, or raise TypeError or ValueError naming the argument."""
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"`{argument}` is {value!r}; it must be a whole number")
    checked = operator.index(value)
    if checked < 1:
        raise ValueError(f"`{argument}` is {checked:,}; it must be 1 or more")
    return checked


def _word(argument: str, value: Any, words: Sequence[str]) -> str:
    if value not in words:
        raise ValueError(f"`{argument}` is {value!r}; choose one of {', '.join(words)}")
    return str(value)
