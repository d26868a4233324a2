"""A worked study: the risk and cost of a frozen policy that answers or asks, on new messages.

A spam classifier answers where it is confident and leaves the rest to a person. Its probabilities
are calibrated by a temperature (Guo et al. 2017) on some of ten folds; the confidence from which it
answers is the one that costs least on others. Then both are frozen, and the remaining folds judge
the policy by six figures, each with an interval from one set of resamples of whole groups: messages
with the same text are one unit, as they are no independent evidence.

The intervals are about new messages of this kind under this policy. They do not hold the
uncertainty of fitting it, and risk is that of resamples in which something is accepted.

Data: the SMS Spam Collection (Almeida and Gomez Hidalgo, UCI Machine Learning Repository 228,
CC BY 4.0) with out-of-fold probabilities of a logistic regression, in the package; the ten folds,
which keep equal texts together, in ``data/sms_spam_folds.parquet``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest
from enumeration import assert_standard_error
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logit
from statistical import assert_rate

import fastboot as fb
from fastboot.reference import bootstrap_rows

FOLDS = Path(__file__).with_name("data") / "sms_spam_folds.parquet"
ERROR_COST, REVIEW_COST = 1.0, 0.1  # ten reviews cost as much as a wrong answer
CALIBRATION, POLICY = [0, 1], [2, 3, 4]  # folds; the other five are held out

# The study


class Policy(NamedTuple):
    """What is fitted, and then frozen."""

    temperature: float
    threshold: float


def messages() -> dict[str, Any]:
    """Columns of the 5,574 messages."""
    table = fb.load_example()
    return {
        "fold": pq.read_table(FOLDS)["fold"].to_numpy(),
        "text": table["text"].to_numpy(),
        "spam": table["spam"].to_numpy(),
        "probability": table["logistic_probability"].to_numpy().astype(float),
    }


def only(rows: Any, table: dict[str, Any]) -> dict[str, Any]:
    """Return some of the rows."""
    return {name: column[rows] for name, column in table.items()}


def answers(table: dict[str, Any], temperature: float) -> dict[str, Any]:
    """Return the calibrated probabilities, the answer, and the confidence in it."""
    probability = expit(logit(table["probability"]) / temperature)
    return {
        **table,
        "ham_probability": 1 - probability,
        "spam_probability": probability,
        "predicted": (probability >= 0.5).astype(np.int8),
        "confidence": np.maximum(probability, 1 - probability),
    }


def fit_temperature(table: dict[str, Any]) -> float:
    """Return the temperature of least log loss."""
    signed = np.where(table["spam"] == 1, 1, -1) * logit(table["probability"])
    found = minimize_scalar(
        lambda t: np.logaddexp(0, -signed / t).mean(), bounds=(0.1, 10), method="bounded"
    )
    return float(found.x)


def fit_threshold(told: dict[str, Any]) -> float:
    """Return the threshold of least mean cost; of several the lowest, which accepts most."""
    wrong, confidence = told["predicted"] != told["spam"], told["confidence"]
    thresholds = [*np.unique(confidence), np.inf]
    costs = [
        np.where(confidence >= threshold, ERROR_COST * wrong, REVIEW_COST).mean()
        for threshold in thresholds
    ]
    return float(thresholds[np.argmin(costs)])


def questions(threshold: float) -> dict[str, Any]:
    """Six figures of the policy; the last three are of all messages, accepted or not."""
    told = ("spam", "predicted", "confidence")
    probabilities = ["ham_probability", "spam_probability"]
    return {
        "coverage": fb.coverage("confidence", threshold=threshold),
        "selective risk": fb.selective_risk(*told, threshold=threshold),
        "mean cost": fb.mean_cost(
            *told, threshold=threshold, error_cost=ERROR_COST, review_cost=REVIEW_COST
        ),
        "log loss": fb.log_loss("spam", probabilities, labels=[0, 1]),
        "Brier score": fb.brier_score("spam", probabilities, labels=[0, 1]),
        "calibration error": fb.calibration_error("spam", probabilities, labels=[0, 1], n_bins=10),
    }


def frozen(calibration: list[int], policy: list[int]) -> tuple[Policy, dict[str, Any]]:
    """Fit on these folds; return the policy, and its answers on all others."""
    table = messages()
    for_temperature, for_threshold = (
        np.isin(table["fold"], folds) for folds in (calibration, policy)
    )
    temperature = fit_temperature(only(for_temperature, table))
    threshold = fit_threshold(answers(only(for_threshold, table), temperature))
    held_out = only(~for_temperature & ~for_threshold, table)
    return Policy(temperature, threshold), answers(held_out, temperature)


def test_study() -> None:
    """The study: five folds to fit, five to judge; one call, and a table of answers."""
    policy, held_out = frozen(CALIBRATION, POLICY)
    results = fb.bootstrap(questions(policy.threshold), data=held_out, groups="text", rng=0)
    assert ["0.595", "0.958"] == [f"{value:.3f}" for value in policy]
    table = """
BootstrapResult table: 6 results, 9,999 resamples, seed 0
statistic          estimate  standard_error       low      high  n_rows  n_units  n_undefined
coverage              0.972        0.003437    0.9651    0.9784   2,781    2,579            0
selective risk      0.00407        0.001217  0.001855  0.006645   2,781    2,579            0
mean cost           0.00676        0.001229  0.004555  0.009312   2,781    2,579            0
log loss             0.0401        0.008128   0.02544   0.05725   2,781    2,579            0
Brier score         0.01745        0.003196   0.01156   0.02414   2,781    2,579            0
calibration error  0.004785        0.001719  0.002308  0.009016   2,781    2,579            0
"""
    assert table.strip() == repr(results).strip()
    assert {9_999} == {valid(result) for result in results.values()}


def valid(result: Any) -> int:
    """Count the replicates in which the figure is defined; the interval is read off these."""
    return int(result.n_resamples - result.n_undefined)


# The same, directly


def figures(table: dict[str, Any], threshold: float) -> list[float]:
    """Return the six figures of some rows, in the words of their definitions."""
    spam, probability = table["spam"], table["spam_probability"]
    confidence = table["confidence"]
    accepted = confidence >= threshold
    wrong = table["predicted"] != spam
    # Bins of confidence (0, 0.1], (0.1, 0.2], ..., (0.9, 1]; empty ones add nothing.
    bins = np.digitize(confidence, np.arange(1, 10) / 10, right=True)
    gaps = [
        abs((~wrong[bins == k]).mean() - confidence[bins == k].mean()) * np.mean(bins == k)
        for k in np.unique(bins)
    ]
    return [
        accepted.mean(),
        wrong[accepted].mean() if accepted.any() else np.nan,
        np.where(accepted, ERROR_COST * wrong, REVIEW_COST).mean(),
        -np.log(np.where(spam == 1, probability, 1 - probability)).mean(),
        (2 * (probability - spam) ** 2).mean(),  # summed over both classes
        sum(gaps),
    ]


def directly(table: dict[str, Any], threshold: float, results: Any) -> Any:
    """Return the figures of the rows of each resample, shape (n_figures, n_resamples)."""
    _, first, group = np.unique(table["text"], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))  # groups are numbered by first appearance
    path = next(iter(results.values())).path
    values = []
    for replicate in range(results.replicates.shape[1]):
        drawn = bootstrap_rows(first.size, 0, replicate, path)
        times = np.bincount(drawn, minlength=first.size)[place[group]]
        rows = np.repeat(np.arange(group.size), times)
        values.append(figures(only(rows, table), threshold))
    return np.transpose(values)


# A figure is a mean of n < 8,000 rows, of terms below 10: a sum is wrong by at most n roundings of
# itself, here and there.
ROUNDING = 2 * 8_000 * 10 * np.finfo(float).eps


def same(expected: Any) -> Any:
    """Equal but for rounding of sums."""
    return pytest.approx(expected, abs=ROUNDING, rel=0, nan_ok=True)


@pytest.mark.parametrize(
    "calibration,policy_folds", [(CALIBRATION, POLICY), ([9, 7, 5], [1, 3]), ([4], [8])]
)
def test_study__every_replicate(calibration: list[int], policy_folds: list[int]) -> None:
    """Estimates, replicates, errors and intervals are those of the resampled rows."""
    policy, held_out = frozen(calibration, policy_folds)
    results = fb.bootstrap(
        questions(policy.threshold), data=held_out, groups="text", n_resamples=100, rng=0
    )
    direct = directly(held_out, policy.threshold, results)
    observed = figures(held_out, policy.threshold)
    for result, estimate, replicates in zip(results.values(), observed, direct, strict=True):
        assert same(estimate) == result.estimate
        assert same(replicates) == result.replicates
        assert same(replicates.std(ddof=1)) == result.standard_error
        low, high = np.quantile(replicates, [0.025, 0.975])
        assert same([low, high]) == list(result.confidence_interval[:2])
        assert 100 == valid(result)
        assert held_out["spam"].size == result.n_rows
        assert np.unique(held_out["text"]).size == result.n_units


def test_study__more_resamples_begin_alike() -> None:
    """The first of many replicates are those checked above."""
    policy, held_out = frozen(CALIBRATION, POLICY)
    few, many = (
        fb.bootstrap(
            questions(policy.threshold), data=held_out, groups="text", n_resamples=n, rng=0
        )
        for n in (100, 1_000)
    )
    assert few.replicates.tolist() == many.replicates[:, :100].tolist()


def test_study__nothing_accepted() -> None:
    """A policy that answers three texts accepts nothing in 5 % of resamples: no selective risk.

    These replicates are counted and left out; the other figures are defined in all. Three of n
    texts are in none of n draws with probability (1 - 3 / n)^n.
    """
    _, held_out = frozen([0, 1, 2, 3], [4, 5, 6, 7, 8])
    texts, first = np.unique(held_out["text"], return_index=True)
    surest = float(np.sort(held_out["confidence"][first])[-3])
    accepted = np.unique(held_out["text"][held_out["confidence"] >= surest])
    n = texts.size
    with pytest.warns(RuntimeWarning, match=r"undefined in \d+ of"):
        results = fb.bootstrap(
            questions(surest), data=held_out, groups="text", n_resamples=1_000, rng=0
        )
    direct = directly(held_out, surest, results)
    for (name, result), replicates in zip(results.items(), direct, strict=True):
        assert same(replicates) == result.replicates
        assert np.isfinite(replicates).sum() == valid(result)
        assert (valid(result) < 1_000) == (name == "selective risk")
        low, high = np.nanquantile(replicates, [0.025, 0.975])
        assert same([low, high]) == list(result.confidence_interval[:2])
    n_undefined = results["selective risk"].n_undefined
    assert 3 == accepted.size
    assert_rate(n_undefined, 1_000, (1 - 3 / n) ** n, detects=0.07)


@pytest.mark.parametrize("groups", ["text", None])
def test_study__standard_errors(groups: str | None) -> None:
    """Those of means and ratios of sums over groups, linearised (Liang and Zeger 1986)."""
    policy, held_out = frozen(CALIBRATION, POLICY)
    results = fb.bootstrap(questions(policy.threshold), data=held_out, groups=groups, rng=0)
    spam, probability = held_out["spam"], held_out["spam_probability"]
    accepted = held_out["confidence"] >= policy.threshold
    wrong = held_out["predicted"] != spam
    everyone = np.ones(spam.size)
    unit = np.arange(spam.size) if groups is None else held_out[groups]
    for name, above, below in (
        ("coverage", accepted, everyone),
        ("selective risk", accepted & wrong, accepted),
        ("mean cost", np.where(accepted, ERROR_COST * wrong, REVIEW_COST), everyone),
        ("log loss", -np.log(np.where(spam == 1, probability, 1 - probability)), everyone),
        ("Brier score", 2 * (probability - spam) ** 2, everyone),
    ):
        residuals = above - above.sum() / below.sum() * below
        squares = (np.bincount(unit, residuals) ** 2).sum()
        error = np.sqrt(squares) / below.sum()
        assert_standard_error(results[name], float(error), neglected=1 / results[name].n_units)


# The fit


def test_fit_temperature__stationary() -> None:
    """At the least log loss the residuals are orthogonal to the log odds."""
    table = messages()
    odds = logit(table["probability"])
    root = brentq(lambda t: ((expit(odds / t) - table["spam"]) * odds).sum(), 0.1, 10)
    # SciPy's bounded search stops within 1e-5.
    assert root == pytest.approx(fit_temperature(table), abs=1e-5)


def test_fit_threshold__least_cost() -> None:
    """No other number of answers, given from the surest on, costs less."""
    told = answers(messages(), 1.0)
    confidence = told["confidence"]
    accepted = confidence >= fit_threshold(told)
    order = np.argsort(-confidence)
    wrong = (told["predicted"] != told["spam"])[order]
    n_left = np.arange(wrong.size, -1, -1)
    costs = ERROR_COST * np.append(0, wrong.cumsum()) + REVIEW_COST * n_left
    # Equal ones are accepted together.
    possible = np.append(True, np.append(np.diff(confidence[order]) < 0, True))
    cost = np.where(accepted[order], ERROR_COST * wrong, REVIEW_COST).mean()
    assert same(costs[possible].min() / wrong.size) == cost


def test_frozen() -> None:
    """What is judged has no part in the fit."""
    policy, held_out = frozen(CALIBRATION, POLICY)
    table = messages()
    judged = ~np.isin(table["fold"], CALIBRATION + POLICY)
    assert np.unique(table["fold"][judged]).tolist() == [5, 6, 7, 8, 9]
    assert not np.isin(held_out["text"], table["text"][~judged]).any()
    turned = {**table, "spam": np.where(judged, 1 - table["spam"], table["spam"])}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.messages", lambda: turned)
        again, other = frozen(CALIBRATION, POLICY)
    assert policy == again
    assert (held_out["spam"] != other["spam"]).all()
