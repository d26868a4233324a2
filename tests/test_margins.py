"""Verdicts by a margin: all kinds and directions, limits on the line, the undefined, messages."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t
from statistical import assert_rate

import fastboot as fb
from fastboot.intervals import ConfidenceInterval
from fastboot.margins import KINDS, Verdict, judge

INF, NAN = math.inf, math.nan
N_ROWS = 80


def judged(low: float, high: float, kind: str, margin: float, *, higher: bool = True) -> Verdict:
    """Judge the middle of two limits."""
    return judge(
        (low + high) / 2.0,
        ConfidenceInterval(low, INF, 0.95, "percentile"),
        ConfidenceInterval(-INF, high, 0.95, "percentile"),
        kind=kind,
        margin=margin,
        alpha=0.05,
        higher_is_better=higher,
    )


@pytest.fixture
def pair() -> np.ndarray:
    """Scores of two systems on the same items, shape (2, N_ROWS)."""
    rng = np.random.default_rng(5)
    shared = rng.normal(size=N_ROWS)
    return np.stack([shared + rng.normal(0.05, 0.3, N_ROWS), shared])


@pytest.mark.parametrize(
    "kind,margin,low,high,passed,refuted",
    [
        ("superiority", 0.0, 0.1, 0.3, True, False),
        ("superiority", 0.0, -0.1, 0.3, False, False),
        ("superiority", 0.0, -0.3, -0.1, False, True),
        ("superiority", 0.2, 0.1, 0.3, False, False),
        ("superiority", 0.2, 0.25, 0.3, True, False),
        ("superiority", 0.2, 0.05, 0.15, False, True),
        ("non-inferiority", 0.2, -0.1, 0.3, True, False),
        ("non-inferiority", 0.2, -0.3, 0.1, False, False),
        ("non-inferiority", 0.2, -0.5, -0.3, False, True),
        ("non-inferiority", 0.0, 0.1, 0.3, True, False),
        ("equivalence", 0.2, -0.1, 0.1, True, False),
        ("equivalence", 0.2, -0.3, 0.1, False, False),
        ("equivalence", 0.2, -0.1, 0.3, False, False),
        ("equivalence", 0.2, 0.3, 0.4, False, True),
        ("equivalence", 0.2, -0.4, -0.3, False, True),
        # On the line: neither.
        ("superiority", 0.25, 0.25, 0.5, False, False),
        ("superiority", 0.25, 0.0, 0.25, False, False),
        ("non-inferiority", 0.25, -0.25, 0.5, False, False),
        ("non-inferiority", 0.25, -0.5, -0.25, False, False),
        ("equivalence", 0.25, -0.25, 0.125, False, False),
        ("equivalence", 0.25, -0.125, 0.25, False, False),
        ("equivalence", 0.25, 0.25, 0.5, False, False),
        # Undefined: neither.
        *((kind, 0.25, NAN, NAN, False, False) for kind in KINDS),
    ],
)
def test_judge(
    kind: str, margin: float, low: float, high: float, *, passed: bool, refuted: bool
) -> None:
    """Every kind on every side of its line; turning the sign of all and the direction is alike."""
    for verdict in (
        judged(low, high, kind, margin),
        judged(-high, -low, kind, margin, higher=False),
    ):
        assert (verdict.passed, verdict.refuted) == (passed, refuted)
        assert bool(verdict) is passed


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca", "studentized"])
@pytest.mark.parametrize("higher", [True, False])
def test_verdict__agrees_with_intervals(pair: np.ndarray, method: str, *, higher: bool) -> None:
    """The limits are those of one-sided intervals, and each margin is passed up to its limit."""
    result = fb.paired_bootstrap(*pair, method=method, rng=0, n_resamples=999)
    low = result.interval(0.9, alternative="greater").low
    high = result.interval(0.9, alternative="less").high
    verdict = result.verdict(0.1, alpha=0.1, higher_is_better=higher)
    worst, best = (low, high) if higher else (-high, -low)

    def edge(kind: str, limit: float, *, inside: bool) -> None:
        """Check both sides of the margin where the verdict turns."""
        for shift in (1e-9, -1e-9):
            passes = result.passes(limit + shift, kind=kind, alpha=0.1, higher_is_better=higher)
            assert passes is ((shift > 0.0) is inside)

    assert (verdict.low, verdict.high, verdict.method) == (low, high, method)
    edge("equivalence", max(-worst, best), inside=True)
    if worst > 0.0:
        edge("superiority", worst, inside=False)
    else:
        edge("non-inferiority", -worst, inside=True)


def test_verdict__equivalence_is_two_one_sided_tests(pair: np.ndarray) -> None:
    """With normal limits the verdict is that of Schuirmann's p-value, in closed form."""
    result = fb.paired_bootstrap(*pair, method="normal", rng=1, n_resamples=999)
    verdicts = []
    for margin in np.linspace(0.01, 0.3, 59):
        lower = norm.sf((result.estimate + margin) / result.standard_error)
        upper = norm.cdf((result.estimate - margin) / result.standard_error)
        verdicts.append(result.passes(margin, kind="equivalence", alpha=0.025))
        assert verdicts[-1] == (max(lower, upper) < 0.025)

    assert len(set(verdicts)) == 2  # both occur


def test_verdict__swapped_systems(pair: np.ndarray) -> None:
    """The other order and the other direction: the same verdict with turned limits."""
    a, b = (fb.paired_bootstrap(*systems, rng=2, n_resamples=999) for systems in (pair, pair[::-1]))
    for kind in KINDS:
        for margin in (0.01, 0.05, 0.1, 0.2):
            one = a.verdict(margin, kind=kind)
            other = b.verdict(margin, kind=kind, higher_is_better=False)
            assert (one.passed, one.refuted) == (other.passed, other.refuted)
            # Differences and quantiles of the same numbers, a few roundings apart.
            assert (one.low, one.high) == pytest.approx((-other.high, -other.low), rel=1e-13)


def test_verdict__randomization_uses_its_normal_interval(pair: np.ndarray) -> None:
    """Replicates under the null: estimate -+ normal quantile x their standard deviation."""
    result = fb.approximate_randomization(*pair, rng=0, n_resamples=999)
    verdict = result.verdict(0.2, kind="non-inferiority")
    reach = norm.ppf(0.95) * result.null_distribution.std(ddof=1)

    assert verdict.method == "normal"
    # Two quantile functions and a sum of 999 squares: 1e-12 is 1,000 roundings.
    assert verdict.low == pytest.approx(result.estimate - reach, rel=1e-12)
    assert verdict.high == pytest.approx(result.estimate + reach, rel=1e-12)
    assert verdict.passed


def test_verdict__independent_samples(pair: np.ndarray) -> None:
    """Results about two samples have verdicts too."""
    result = fb.unpaired_bootstrap(pair[0], pair[1][:60], rng=0, n_resamples=999)

    assert result.passes(1.0, kind="equivalence")
    assert fb.permutation_test(*pair, rng=0, n_resamples=99).passes(1.0, kind="non-inferiority")


def test_verdict__undefined() -> None:
    """A difference that is 0 / 0 passes nothing, and the words say so."""
    undefined = fb.precision([1, 0], [0, 0])
    with pytest.warns(RuntimeWarning, match="undefined"):
        result = fb.paired_bootstrap(undefined, undefined, rng=0, n_resamples=9)
    for kind in KINDS:
        verdict = result.verdict(0.1, kind=kind)
        assert (verdict.passed, verdict.refuted) == (False, False)
        assert "difference a - b = undefined" in verdict.summary()
        assert "nan" not in verdict.summary()


ALIKE = "all replicates are equal, so they say nothing about the uncertainty"


@pytest.mark.parametrize(
    "a,options,note",
    [
        ([1.5], {}, "a single row says nothing about the uncertainty"),
        ([1.5, 0.5, 3.0], {"groups": [7, 7, 7]}, "a single group says nothing about the uncertai"),
        ([1.5, 1.5], {}, ALIKE),
        ([1.5] * 30, {}, ALIKE),
        ([1.5, 1.0, 2.0] * 3, {"groups": [0, 0, 0, 1, 1, 1, 2, 2, 2]}, ALIKE),
        ([0.5, 2.5], {"strata": [0, 1]}, ALIKE),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_verdict__nothing_about_the_uncertainty(
    a: list[float], options: dict[str, Any], note: str, kind: str, sign: float
) -> None:
    """Two equal differences have an exact p of 1/2, however small that of their resamples is."""
    b = np.zeros(len(a))
    result = fb.paired_bootstrap(sign * np.array(a), b, rng=0, n_resamples=999, **options)
    verdict = result.verdict(10.0 if kind == "equivalence" else 0.1, kind=kind)

    assert (verdict.passed, verdict.refuted) == (False, False)
    assert verdict.note.startswith(note)
    assert f", but nothing is shown by it: {verdict.note}." in verdict.summary()
    assert verdict.to_dict()["note"] == verdict.note


def test_verdict__single_row_of_a_randomization() -> None:
    """The spread of one difference under swaps is its own size: no margin makes it pass."""
    result = fb.approximate_randomization([0.7], [0.2], rng=0)

    assert not result.passes(5.0, kind="equivalence")
    assert result.verdict(5.0, kind="equivalence").note.startswith("a single row says nothing")


@pytest.mark.parametrize("kind", ["non-inferiority", "equivalence"])
@pytest.mark.parametrize(
    "procedure, a, b, note",
    [
        (fb.unpaired_bootstrap, [1.0], [0.0, 1.0, 3.0], "a single row in sample a says nothing"),
        (fb.unpaired_bootstrap, [0.0, 1.0, 3.0], [1.0], "a single row in sample b says nothing"),
        (fb.permutation_test, [1.0], [0.0], "a single row in each sample says nothing"),
    ],
)
def test_verdict__one_row_of_a_sample(
    procedure: Any, a: list[float], b: list[float], note: str, kind: str
) -> None:
    """Its spread is unknown: no margin is wide enough."""
    verdict = procedure(a, b, rng=0, n_resamples=99).verdict(50.0, kind=kind)

    assert not verdict.passed
    assert verdict.note == f"{note} about the uncertainty"


def test_verdict__nothing_changed() -> None:
    """Several units without any change are equal: not a lack of knowledge."""
    scores = [1.0, 0.0, 1.0, 1.0, 0.0, 0.5]
    result = fb.paired_bootstrap(scores, scores, rng=0, n_resamples=99)

    assert result.passes(0.1, kind="equivalence")
    assert result.passes(0.1, kind="non-inferiority")
    assert not result.passes()
    assert not fb.paired_bootstrap([1.0], [1.0], rng=0, n_resamples=99).passes(
        0.1, kind="equivalence"
    )


def test_verdict__other_size_of_resamples() -> None:
    """The same rows pass or not by `n_drawn`: its limits are of another size of sample."""
    a = np.random.default_rng(0).normal(0.1, 1.0, 50)
    result = fb.paired_bootstrap(a, np.zeros(50), n_drawn=5_000, rng=0, n_resamples=99)

    assert "so are p-values and verdicts" in result.notes[0]
    for ask in (result.passes, result.verdict):
        with pytest.raises(ValueError, match=r"^`n_drawn` is 5000 of 50 rows, so limits are those"):
            ask()
    same = fb.paired_bootstrap(a, np.zeros(50), n_drawn=50, rng=0, n_resamples=99)
    assert same.verdict().note == ""


A, B = np.random.default_rng(21).normal([[1.0], [0.0]], 1.0, (2, 30))
FEW: dict[str, Any] = {
    "paired": fb.paired_bootstrap,
    "unpaired": fb.unpaired_bootstrap,
    "pooled": lambda a, b, **options: fb.pool([fb.paired_bootstrap(a, b, **options)] * 2),
}


@pytest.mark.parametrize("procedure", FEW)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "alpha, needed",
    [(0.05, 19), (1.0 - 0.95, 19), (1.0 - 0.9, 9), (0.1, 9), (0.01, 99), (0.03, 33)],
)
def test_verdict__needs_resamples(procedure: str, kind: str, alpha: float, needed: int) -> None:
    """A limit among n replicates is wrong with probability 1 / (n + 1) at least."""
    margin = 50.0 if kind == "equivalence" else 0.0
    for swapped in (False, True):
        a, b = (B, A + 99.0) if swapped else (A + 99.0, B)
        few = FEW[procedure](a, b, rng=0, n_resamples=needed - 1)
        verdict = few.verdict(margin, kind=kind, alpha=alpha)
        assert (verdict.passed, verdict.refuted) == (False, False)
        assert verdict.note == (
            f"limits at alpha {alpha:g} need {needed} resamples at least, not {needed - 1}"
        )
        assert f", but nothing is shown by it: {verdict.note}." in verdict.summary()
        enough = FEW[procedure](a, b, rng=0, n_resamples=needed)
        verdict = enough.verdict(margin, kind=kind, alpha=alpha)
        assert verdict.note == ""
        assert verdict.passed is (not swapped and kind != "equivalence")
        assert verdict.refuted is not verdict.passed


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "studentized"])
def test_verdict__needs_resamples_of_any_method_among_them(method: str) -> None:
    """All limits that are read off replicates."""
    result = fb.paired_bootstrap(A, B, rng=0, n_resamples=99, method=method)
    assert result.verdict(alpha=1e-4).note == (
        "limits at alpha 0.0001 need 9,999 resamples at least, not 99"
    )
    assert not result.passes(alpha=1e-4)
    assert result.verdict(alpha=0.01).note == ""


def test_verdict__normal_limits_need_none() -> None:
    """They rest on the spread; nor do those of a randomization."""
    for result in (
        fb.paired_bootstrap(A + 9.0, B, rng=0, n_resamples=99, method="normal"),
        fb.approximate_randomization(A, B, rng=0, n_resamples=99),
        fb.permutation_test(A, B, rng=0, n_resamples=99),
    ):
        assert result.verdict(alpha=1e-4).note == ""
    assert fb.paired_bootstrap(A + 9.0, B, rng=0, n_resamples=99, method="normal").passes(
        alpha=1e-4
    )


def test_verdict__undefined_resamples_do_not_count() -> None:
    """Of 19 the defined ones are fewer than 19."""
    rare = np.zeros(30)
    rare[:2] = 1.0
    with pytest.warns(RuntimeWarning, match="undefined"):
        result = fb.paired_bootstrap(
            fb.ratio(A, rare), fb.ratio(B, rare + 1.0), rng=0, n_resamples=19
        )
    n = 19 - result.n_undefined
    assert 0 < n < 19
    assert result.verdict().note == (
        f"limits at alpha 0.05 need 19 resamples at least, not {n} defined"
    )


def test_verdict__passes_wrongly_as_often_as_it_says() -> None:
    """At the line of non-inferiority, normal differences: alpha, but for the small sample.

    The normal limit passes with the probability that Student's t of n - 1 degrees of freedom
    exceeds z sqrt((n - 1) / n): replicates have the variance with ddof = 0.
    """
    n, runs, alpha, margin = 30, 1_500, 0.1, 0.5
    rng = np.random.default_rng(8)
    passed = 0
    for run in range(runs):
        differences = rng.normal(-margin, 1.0, n)
        result = fb.paired_bootstrap(
            differences, np.zeros(n), method="normal", rng=run, n_resamples=499, n_threads=1
        )
        passed += result.passes(margin, kind="non-inferiority", alpha=alpha)
    expected = t.sf(norm.ppf(1.0 - alpha) * math.sqrt((n - 1) / n), n - 1)

    assert_rate(passed, runs, expected, detects=0.075)


@pytest.mark.parametrize(
    "options,words",
    [
        ({}, "failed: superiority, D = 0.1, L lower limit -0.1 not above 0."),
        ({"margin": 0.2}, "failed: superiority by 0.2, D = 0.1, L lower limit -0.1 not above 0.2."),
        ({"higher": False, "low": -0.3, "high": -0.1},
         "passed: superiority, D = -0.2, L upper limit -0.1 below 0."),
        ({"kind": "non-inferiority", "margin": 0.2},
         "passed: non-inferiority by 0.2, D = 0.1, L lower limit -0.1 above -0.2."),
        ({"kind": "non-inferiority", "margin": 0.2, "higher": False},
         "failed: non-inferiority by 0.2, D = 0.1, L upper limit 0.3 not below 0.2."),
        ({"kind": "equivalence", "margin": 0.2},
         "failed: equivalence by 0.2, D = 0.1, L limits -0.1 and 0.3 not within +-0.2."),
        ({"kind": "equivalence", "margin": 0.5},
         "passed: equivalence by 0.5, D = 0.1, L limits -0.1 and 0.3 within +-0.5."),
    ],
)  # fmt: skip
def test_summary(options: dict[str, Any], words: str) -> None:
    """The sentence names the limit that decides, and its line."""
    default: dict[str, Any] = {"low": -0.1, "high": 0.3, "kind": "superiority", "margin": 0.0}
    words = words.replace("D", "difference a - b").replace("L", "one-sided 95% percentile")

    assert judged(**default | options).summary() == words


def test_repr_and_json() -> None:
    """One readable line; every figure as JSON, also why nothing is shown."""
    verdict = judged(-0.125, 0.375, "non-inferiority", 0.25)

    assert repr(verdict) == ("Verdict(passed, non-inferiority, margin=0.25: 0.125 [-0.125, 0.375])")
    assert json.loads(verdict.to_json()) == {
        "kind": "Verdict",
        "test": "non-inferiority",
        "passed": True,
        "refuted": False,
        "margin": 0.25,
        "estimate": 0.125,
        "low": -0.125,
        "high": 0.375,
        "alpha": 0.05,
        "higher_is_better": True,
        "method": "percentile",
        "note": "",
    }


def test_signature(pair: np.ndarray) -> None:
    """The line of the result, and then what the verdict was asked for."""
    result = fb.paired_bootstrap(*pair, n_resamples=99, rng=0)
    calls: list[dict[str, Any]] = [
        {}, {"margin": 0.1}, {"alpha": 0.1}, {"higher_is_better": False},
        {"margin": 0.1, "kind": "non-inferiority"}, {"margin": 0.1, "kind": "equivalence"},
    ]  # fmt: skip
    signatures = [result.verdict(**call).signature() for call in calls]

    assert signatures[4] == (
        f"{result.signature()}|kind:non-inferiority|margin:0.1|alpha:0.05|higher_is_better:True"
    )
    assert len(set(signatures)) == len(signatures)
    other = fb.paired_bootstrap(*pair, n_resamples=99, rng=1)
    assert other.verdict().signature() != signatures[0]
    slices = fb.paired_bootstrap(*pair, by=np.arange(N_ROWS) % 2, n_resamples=99, rng=0)
    assert "|slice:1|" in slices[1].verdict().signature()


@pytest.mark.parametrize(
    "options,error,words",
    [
        ({"kind": "better"}, ValueError,
         "`kind` is 'better'; choose one of superiority, non-inferiority, equivalence"),
        ({"margin": "0.1"}, TypeError, "`margin` is '0.1'; it must be a number"),
        ({"margin": True}, TypeError, "`margin` is True; it must be a number"),
        ({"margin": -0.1}, ValueError,
         "`margin` is -0.1; it must be 0 or more, `kind` says its direction"),
        ({"margin": NAN}, ValueError, "`margin` is nan; it must be 0 or more"),
        ({"margin": INF}, ValueError, "`margin` is inf; it must be 0 or more"),
        ({"kind": "equivalence"}, ValueError,
         "`margin` is 0; equivalence needs a margin above 0"),
        ({"alpha": None}, TypeError, "`alpha` is None; it must be a number"),
        ({"alpha": 0.5}, ValueError,
         "`alpha` is 0.5; it must lie between 0 and 0.5, such as 0.05"),
        ({"alpha": 0.0}, ValueError, "`alpha` is 0.0; it must lie between 0 and 0.5"),
        ({"alpha": NAN}, ValueError, "`alpha` is nan; it must lie between 0 and 0.5"),
        ({"higher_is_better": 1}, TypeError, "`higher_is_better` is 1"),
    ],
)  # fmt: skip
def test_verdict__refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    """Each message names the argument and shows the value."""
    result = fb.paired_bootstrap([1, 2, 3], [1, 1, 1], rng=0, n_resamples=9)
    with pytest.raises(error) as found:
        result.passes(**options)

    assert str(found.value).startswith(words)
