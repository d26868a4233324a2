"""Coverage, selective risk and mean cost."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fastboot as fb
from fastboot import reference
from fastboot.statistics.probability import brier_score, calibration_error, log_loss
from fastboot.statistics.selective import coverage, mean_cost, selective_risk

FEW: dict[str, Any] = {"rng": 0, "n_resamples": 9}
SEED = 11
N_ROWS = 120
# Means of up to 3,000 terms of at most 36.1, each rounded a few times to 1.1e-16 of itself; a plain
# sum in another order loses up to 3,000 times that of a mean below 1.
ROUNDING = 1e-12


def near(expected: Any) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


def observed(statistic: fb.Additive, **options: Any) -> float:
    """Return the observed value."""
    result: fb.BootstrapResult = fb.bootstrap(statistic, **FEW, **options)
    return result.estimate


Answers = dict[str, list[Any]]


@pytest.fixture
def answers() -> Answers:
    """Gold and predicted labels, and the confidence, with ties at the threshold of 0.8."""
    rng = np.random.default_rng(2_026)
    confidence = rng.integers(10, 21, N_ROWS) / 20
    gold = rng.integers(0, 3, N_ROWS)
    predicted = np.where(rng.random(N_ROWS) < confidence, gold, (gold + 1) % 3)
    return {
        "gold": gold.tolist(),
        "predicted": predicted.tolist(),
        "confidence": confidence.tolist(),
    }


# Row by row, in plain Python, for a threshold of 0.8 and a review cost of 0.25.


def plain_coverage(rows: Sequence[tuple[Any, Any, float]]) -> float:
    """Accepted among all."""
    return sum(c >= 0.8 for _, _, c in rows) / len(rows)


def plain_risk(rows: Sequence[tuple[Any, Any, float]]) -> float:
    """Errors among accepted."""
    wrong = [gold != predicted for gold, predicted, c in rows if c >= 0.8]
    return sum(wrong) / len(wrong) if wrong else math.nan


def plain_cost(rows: Sequence[tuple[Any, Any, float]]) -> float:
    """Errors cost 2 and reviews 0.25."""
    costs = [2.0 * (gold != predicted) if c >= 0.8 else 0.25 for gold, predicted, c in rows]
    return math.fsum(costs) / len(rows)


CASES: dict[str, tuple[Callable[[], fb.Additive], Callable[..., float]]] = {
    "coverage": (lambda: coverage("confidence", threshold=0.8), plain_coverage),
    "selective_risk": (
        lambda: selective_risk("gold", "predicted", "confidence", threshold=0.8),
        plain_risk,
    ),
    "mean_cost": (
        lambda: mean_cost(
            "gold", "predicted", "confidence", threshold=0.8, error_cost=2, review_cost=0.25
        ),
        plain_cost,
    ),
}


def rows_of(answers: Answers, chosen: Sequence[int]) -> list[tuple[Any, Any, float]]:
    """Return some rows."""
    columns = (answers["gold"], answers["predicted"], answers["confidence"])
    return [(columns[0][row], columns[1][row], columns[2][row]) for row in chosen]


@pytest.mark.parametrize("case", CASES)
def test_statistic__plain(case: str, answers: Answers) -> None:
    """The values of all rows, ties at the threshold among them; words serve as labels too."""
    make, plain = CASES[case]
    expected = plain(rows_of(answers, range(N_ROWS)))
    assert answers["confidence"].count(0.8) > 0
    assert observed(make(), data=answers) == near(expected)
    words = np.array(["x", "y", "z"])
    named: dict[str, Any] = {key: words[answers[key]] for key in ("gold", "predicted")}
    assert observed(make(), data=answers | named) == near(expected)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("path", ["rows", "patterns", "weights"])
@pytest.mark.parametrize("case", CASES)
def test_replicates__reference(case: str, path: str, grouped: bool, answers: Answers) -> None:
    """Every replicate is the statistic of the rows drawn."""
    make, plain = CASES[case]
    documents = np.sort(np.random.default_rng(5).integers(0, 40, N_ROWS)) if grouped else None
    n_units = N_ROWS if documents is None else len(set(documents.tolist()))
    result = fb.bootstrap(
        make(), data=answers, groups=documents, rng=SEED, n_resamples=20, path=path
    )

    expected = []
    for r in range(20):
        rows = reference.bootstrap_rows(n_units, SEED, r, path)  # type: ignore[arg-type] # checked word
        if documents is not None:
            rows = reference.rows_of(rows, documents.tolist())
        expected.append(plain(rows_of(answers, rows)))

    assert result.replicates.tolist() == near(expected)
    assert result.path == path


@pytest.fixture
def sms() -> Answers:
    """The held-out answers of a published study, by their counts.

    The page "NLP Evaluation", section "Real-corpus study: SMS spam with a frozen decision policy":
    1,091 messages, 21 errors; threshold 0.812243 accepts 1,040 messages with 7 errors and sends 51
    to review.
    """
    wrong = [1] * 7 + [0] * 1_033 + [1] * 14 + [0] * 37
    return {
        "gold": wrong,
        "predicted": [0] * 1_091,
        "confidence": [0.95] * 1_039 + [0.812243] + [0.7] * 51,
    }


def test_published__policy(sms: Answers) -> None:
    """Coverage 95.325 %, selective risk 0.673 %, and the cost of three policies."""
    columns = ("gold", "predicted", "confidence")
    at = {"threshold": 0.812243}
    values = {
        "coverage": observed(coverage("confidence", **at), data=sms),
        "risk": observed(selective_risk(*columns, **at), data=sms),
        "cost": observed(mean_cost(*columns, **at, review_cost=0.2), data=sms),
    }
    assert values == near(
        {"coverage": 1_040 / 1_091, "risk": 7 / 1_040, "cost": (7 + 0.2 * 51) / 1_091}
    )
    printed = [f"{100 * values['coverage']:.3f}", f"{100 * values['risk']:.3f}"]
    assert [*printed, f"{values['cost']:.5f}"] == ["95.325", "0.673", "0.01577"]

    def cost(threshold: float) -> float:
        return observed(mean_cost(*columns, threshold=threshold, review_cost=0.2), data=sms)

    assert cost(math.inf) == near(0.2)
    assert cost(-math.inf) == near(21 / 1_091)


@pytest.mark.parametrize(
    "threshold, cost", [(math.inf, 0.2), (0.95, 0.15), (0.8, 0.1), (0.6, 0.3), (0.5, 0.5)]
)
def test_published__choice_of_threshold(threshold: float, cost: float) -> None:
    """The same page's four predictions, two right and two wrong: 0.8 costs least."""
    columns = ([1, 1, 1, 1], [1, 1, 0, 0], [0.95, 0.80, 0.60, 0.55])
    assert observed(mean_cost(*columns, threshold=threshold, review_cost=0.2)) == near(cost)


@pytest.mark.parametrize("threshold", [0.1, 0.7, 1 / 3, 0.5, 1e300, -math.inf, math.inf])
def test_threshold__of_float32(threshold: float) -> None:
    """Scores equal to the threshold are accepted in either precision; NumPy 2 says the same."""
    with np.errstate(over="ignore"):
        limit = np.float32(threshold)
        near_it = np.nextafter(limit, np.array([-np.inf, np.inf], np.float32)).astype(np.float64)
    confidence = np.concatenate([[0.05, 0.3, 0.69999999, 0.7, 0.9], near_it, [float(limit)]])
    scores = confidence[np.isfinite(confidence)].astype(np.float32)
    expected = np.mean(scores >= limit)
    assert observed(coverage(scores, threshold=threshold)) == expected
    # A double below the threshold, however near, is not accepted.
    below = np.nextafter(threshold, -math.inf)
    if math.isfinite(below) and below != limit:
        assert observed(coverage([below, below], threshold=threshold)) == 0.0


@pytest.mark.filterwarnings("ignore:the statistic is undefined")
def test_selective_risk__undefined() -> None:
    """Nothing accepted: undefined, in the data or in some resamples, which are counted."""
    gold, predicted, confidence = [1, 0, 1, 0], [1, 1, 0, 0], [0.9, 0.6, 0.6, 0.5]
    nothing = selective_risk(gold, predicted, confidence, threshold=0.95)
    assert math.isnan(observed(nothing))
    assert observed(coverage(confidence, threshold=0.95)) == 0.0
    result = fb.bootstrap(
        selective_risk(gold, predicted, confidence, threshold=0.9),
        rng=SEED, n_resamples=200, path="rows",
    )  # fmt: skip
    drawn = [reference.bootstrap_rows(4, SEED, r, "rows") for r in range(200)]
    assert result.n_undefined == sum(0 not in rows for rows in drawn) > 0
    assert np.nanmax(result.replicates) == 0.0


def test_mean_cost__is_the_policy_it_prices(answers: Answers) -> None:
    """Cost is error cost x risk x coverage + review cost x the rest."""
    shares = [observed(CASES[case][0](), data=answers) for case in ("coverage", "selective_risk")]
    expected = 2.0 * shares[1] * shares[0] + 0.25 * (1.0 - shares[0])
    assert observed(CASES["mean_cost"][0](), data=answers) == near(expected)


@pytest.mark.parametrize("make", [selective_risk, mean_cost])
def test_pair__better_system_wins(make: Any) -> None:
    """A system whose confidence knows its errors beats one whose confidence is chance."""
    rng = np.random.default_rng(3)
    odds = rng.beta(4.0, 1.0, 1_000)
    gold = (rng.random(1_000) < odds).astype(int)
    costs = {"review_cost": 0.2} if make is mean_cost else {}
    ones = np.ones(1_000)
    good = make(gold, ones, odds, threshold=0.8, **costs)
    bad = make(gold, ones, rng.permutation(odds), threshold=0.8, **costs)
    bootstrap = fb.paired_bootstrap(good, bad, rng=0, n_resamples=999)
    swaps = fb.approximate_randomization(good, bad, rng=0, n_resamples=999)
    assert bootstrap.estimate == swaps.estimate < 0.0
    assert bootstrap.pvalue == swaps.pvalue == 1 / 1_000
    same = fb.approximate_randomization(good, good, rng=0, n_resamples=999)
    assert same.pvalue == 1.0


def test_pair__coverage() -> None:
    """Two thresholds on one confidence differ by the rows between them, whose swaps are counted."""
    confidence = np.arange(100) / 100
    a, b = coverage(confidence, threshold=0.90), coverage(confidence, threshold=0.95)
    swaps = fb.approximate_randomization(a, b)
    assert swaps.estimate == near(0.05)
    # All 5 rows between favour a: 2 of the 2^5 swaps are as extreme.
    assert swaps.pvalue == 2 / 32
    assert fb.paired_bootstrap(a, b, rng=0).estimate == near(0.05)


def test_mean_cost__name() -> None:
    """Costs are part of the statistic: other prices are not swapped."""
    a, b = (mean_cost([1, 0], [1, 1], [0.9, 0.6], threshold=0.8, review_cost=c) for c in (0.2, 0.5))
    assert a.name == "mean_cost(error_cost=1, review_cost=0.2)"
    with pytest.raises(TypeError, match="so both must be the same"):
        fb.approximate_randomization(a, b)


@pytest.mark.parametrize("case", CASES)
def test_missing__propagates(case: str, answers: Answers) -> None:
    """A missing confidence makes the answer NaN on request; it is not a low one."""
    make = CASES[case][0]
    data = answers | {"confidence": [math.nan, *answers["confidence"][1:]]}
    assert math.isnan(observed(make(), data=data, nan_policy="propagate"))
    assert math.isfinite(observed(make(), data=data, nan_policy="omit"))


@pytest.mark.parametrize("case", CASES)
def test_statistic__picklable(case: str, answers: Answers) -> None:
    """Statistics travel to other processes."""
    statistic = CASES[case][0]()
    copy = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert observed(copy, data=answers) == observed(statistic, data=answers)


# Messages.


@pytest.mark.parametrize("threshold", [math.nan, "0.8", None, np.array([0.8])])
def test_threshold__number(threshold: Any) -> None:
    """The threshold is one number; infinite ones accept all or nothing."""
    message = f"`threshold` is {re.escape(repr(threshold))}; it must be a number"
    with pytest.raises(ValueError, match=message):
        coverage([0.9], threshold=threshold)
    with pytest.raises(ValueError, match=message):
        selective_risk([1], [1], [0.9], threshold=threshold)
    with pytest.raises(ValueError, match=message):
        mean_cost([1], [1], [0.9], threshold=threshold, review_cost=0.2)


@pytest.mark.parametrize("argument", ["error_cost", "review_cost"])
@pytest.mark.parametrize("cost", [-0.5, math.inf, math.nan, "1"])
def test_mean_cost__costs(argument: str, cost: Any) -> None:
    """Costs are finite and not negative."""
    costs = {"error_cost": 1.0, "review_cost": 0.2} | {argument: cost}
    message = f"`{argument}` is {cost!r}; a cost is a finite number, 0 or more"
    with pytest.raises(ValueError, match=message):
        mean_cost([1], [1], [0.9], threshold=0.8, **costs)


def test_columns__names(answers: Answers) -> None:
    """Messages name the argument."""
    risk = selective_risk("gold", "predicted", "sure", threshold=0.8)
    with pytest.raises(ValueError, match="`confidence`: no column 'sure' in data"):
        observed(risk, data=answers)
    risk = selective_risk(["a"], [1], [0.9], threshold=0.8)
    with pytest.raises(ValueError, match="`gold` holds strings but `predicted` holds numbers"):
        observed(risk)


# The worked study: a policy frozen on some messages, judged on the others.


def _tempered(probability: Any, temperature: float) -> Any:
    """Probabilities with their log-odds divided by the temperature."""
    return 1.0 / (1.0 + np.exp(-np.log(probability / (1.0 - probability)) / temperature))


def _direct(gold: Any, score: Any, threshold: float) -> dict[str, float]:
    """All six statistics of some rows, with NumPy alone."""
    confidence = np.maximum(score, 1.0 - score)
    accepted, wrong = confidence >= threshold, (score > 0.5) != gold
    bins = np.ceil(confidence * 10)
    gap = np.where(wrong, 0.0, 1.0) - confidence
    return {
        "coverage": accepted.mean(),
        "selective_risk": wrong[accepted].mean(),
        "mean_cost": np.where(accepted, wrong, 0.2).mean(),
        "log_loss": -np.log(np.where(gold == 1, score, 1.0 - score)).mean(),
        "brier_score": 2.0 * ((score - gold) ** 2).mean(),
        "calibration_error": sum(abs(gap[bins == k].sum()) for k in range(1, 11)) / gap.size,
    }


def test_sms_spam__frozen_policy() -> None:
    """Group-bootstrap replicates of a frozen policy equal a direct computation.

    Temperature and threshold are chosen on the messages with an even text number and frozen; the
    others are resampled by text, equal messages together.
    """
    table = fb.load_example()
    text, gold = table["text"].to_numpy(), table["spam"].to_numpy()
    probability = table["logistic_probability"].to_numpy().astype(np.float64)
    chosen, held = text % 2 == 0, text % 2 == 1

    def loss(temperature: float) -> float:
        return _direct(gold[chosen], _tempered(probability[chosen], temperature), 0.0)["log_loss"]

    temperature = min(np.linspace(0.2, 2.0, 91), key=loss)
    score = _tempered(probability, temperature)

    def cost(threshold: float) -> float:
        return _direct(gold[chosen], score[chosen], threshold)["mean_cost"]

    threshold = min(np.linspace(0.5, 0.99, 50), key=cost)
    gold, score, text = gold[held], score[held], text[held]
    confidence, predicted = np.maximum(score, 1.0 - score), (score > 0.5).astype(int)
    columns = (gold, predicted, confidence)
    statistics = {
        "coverage": coverage(confidence, threshold=threshold),
        "selective_risk": selective_risk(*columns, threshold=threshold),
        "mean_cost": mean_cost(*columns, threshold=threshold, review_cost=0.2),
        "log_loss": log_loss(gold, score),
        "brier_score": brier_score(gold, score),
        "calibration_error": calibration_error(gold, [1.0 - score, score], labels=[0, 1]),
    }
    results = {
        name: fb.bootstrap(statistic, groups=text, rng=SEED, n_resamples=999, path="patterns")
        for name, statistic in statistics.items()
    }

    n_texts = len(set(text.tolist()))
    order = np.argsort(text, kind="stable")  # groups are numbered by their sorted keys
    gold, score, text = gold[order], score[order], text[order]
    everything = _direct(gold, score, threshold)
    for name, result in results.items():
        assert result.n_units == n_texts
        assert result.n_undefined == 0
        assert result.estimate == near(everything[name])
    for r in range(5):
        drawn = reference.bootstrap_rows(n_texts, SEED, r, "patterns")
        rows = reference.rows_of(drawn, text.tolist())
        direct = _direct(gold[rows], score[rows], threshold)
        for name, result in results.items():
            assert result.replicates[r] == near(direct[name])
