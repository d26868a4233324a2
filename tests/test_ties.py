"""Ties survive the fast paths: rounded sums are counted as exact arithmetic counts them.

Scores are multiples of 0.1, as ratings and rounded scores are. Many replicates then equal the
observed difference, but their sums differ from it in the last bits, by path. Other packages were
seen to report .60 or .63 where .69 is exact.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import binom
from statistical import assert_rate

import fastboot as fb
from fastboot.reference import bootstrap_rows, rows_of, swapped, swaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

SEED = 20_240_304
N = 60
N_RESAMPLES = 20_000
BOOTSTRAP_PATHS = ["collapse", "rows", "patterns", "weights"]
SWAP_PATHS = ["collapse", "tables"]
SIDES = ["two-sided", "greater", "less"]

# Whole numbers of tenths and how scores are made of them. No scale keeps all differences exact.
SCALES: dict[str, Callable[[Any], Any]] = {
    "tenths": lambda k: k / 10,
    "times a tenth": lambda k: k * 0.1,
    "offset": lambda k: 1_000 + k / 10,
    "large offset": lambda k: 1e6 + k / 10,
    "hundredths": lambda k: k / 100,
    "thirds": lambda k: k / 3,
    "tiny": lambda k: k * 1e-9,
    "huge": lambda k: k * 1e9 / 7,
    # As a model gives them, and as they are after a table or a file has made them float64.
    "float32": lambda k: (k / 10).astype(np.float32),
    "was float32": lambda k: (k / 3).astype(np.float32).astype(np.float64),
    "float32 offset": lambda k: (100 + k / 10).astype(np.float32),
}
STEPS = {"hundredths": 0.01, "thirds": 1 / 3, "tiny": 1e-9, "huge": 1e9 / 7, "was float32": 1 / 3}
# At an offset of 1e6 a score is 1e-10 off, 60 differences in tenths less than 2e-7. A float32 of 1
# is 3e-8 off, of 3 1.2e-7, of 100 4e-6.
IN_STEPS = {"float32": 1e-4, "was float32": 1e-4, "float32 offset": 1e-2}

scales = pytest.mark.parametrize("scale", SCALES)
sides = pytest.mark.parametrize("side", SIDES)


@pytest.fixture
def tenths() -> Ints:
    """Scores of two systems in tenths; 60 pairs, whose differences nearly cancel."""
    a, b = np.random.default_rng(SEED).integers(0, 11, size=(2, N))
    b[0] += (a - b).sum() - 4  # the observed difference is 4 tenths, a likely sum of swaps
    return np.stack([a, b])


@pytest.fixture
def few_differ(tenths: Ints) -> Ints:
    """Return scores of which 14 pairs differ: 16,384 swaps."""
    a, b = tenths.copy()
    b[np.flatnonzero(a != b)[14:]] = a[np.flatnonzero(a != b)[14:]]
    return np.stack([a, b])


def in_steps(replicates: NDArray[np.float64], scale: str) -> Ints:
    """Sums of differences in steps of the scale, as whole numbers."""
    steps = replicates * N / STEPS.get(scale, 0.1)
    whole = np.rint(steps)
    assert np.abs(steps - whole).max() < IN_STEPS.get(scale, 1e-6)
    return whole.astype(np.int64)


def count(null: Ints, observed: int, side: str) -> int:
    """Count what is at least as extreme, in whole numbers."""
    extreme = {
        "two-sided": np.abs(null) >= abs(observed),
        "greater": null >= observed,
        "less": null <= observed,
    }
    return int(extreme[side].sum())


def swap_law(differences: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """All sums of the differences with random signs, and their probabilities."""
    law = np.ones(1)
    for size in np.abs(differences[differences != 0]):
        step = np.zeros(2 * size + 1)
        step[0] = step[-1] = 0.5
        law = np.convolve(law, step)
    reach = int(np.abs(differences).sum())
    return np.arange(-reach, reach + 1), law


def bootstrap_law(differences: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """All sums of as many draws as there are differences, and their probabilities."""
    low = int(differences.min())
    one = np.bincount(differences - low) / differences.size
    law = np.ones(1)
    for _ in range(differences.size):
        law = np.convolve(law, one)
    return low * differences.size + np.arange(law.size), law


def probability(null: Ints, law: NDArray[np.float64], observed: int, side: str) -> float:
    """Probability of a sum at least as extreme."""
    return float(sum(law[i] for i in range(law.size) if count(null[i : i + 1], observed, side)))


# Swaps


@sides
@scales
@pytest.mark.parametrize("path", SWAP_PATHS)
def test_swaps__sampled(tenths: Ints, path: str, scale: str, side: str) -> None:
    """The count of these draws in whole numbers; and the exact share, within Monte Carlo error."""
    a, b = SCALES[scale](tenths)
    result = fb.approximate_randomization(
        a, b, n_resamples=N_RESAMPLES, rng=SEED, path=path, alternative=side
    )
    differences = tenths[0] - tenths[1]
    null = in_steps(result.replicates, scale)
    assert count(null, 4, side) == result.n_extreme
    exact = probability(*swap_law(differences), 4, side)
    assert_rate(result.n_extreme, N_RESAMPLES, exact, detects=0.035)


@sides
@scales
def test_swaps__enumerated(few_differ: Ints, scale: str, side: str) -> None:
    """All 16,384 swaps, each counted as whole numbers count it."""
    a, b = SCALES[scale](few_differ)
    result = fb.approximate_randomization(a, b, n_resamples=2**14, alternative=side)
    differences = few_differ[0] - few_differ[1]
    exact = probability(*swap_law(differences), int(differences.sum()), side)
    assert ("enumeration", round(2**14 * exact)) == (result.path, result.n_extreme)
    assert exact == result.pvalue  # a multiple of 2**-14


def test_swaps__rounded_sums_would_miss_ties(tenths: Ints) -> None:
    """The data has what it is about: a plain comparison of floats loses ties on every path."""
    a, b = SCALES["tenths"](tenths)
    for path in SWAP_PATHS:
        result = fb.approximate_randomization(a, b, n_resamples=N_RESAMPLES, rng=SEED, path=path)
        plain = np.count_nonzero(np.abs(result.replicates) >= abs(result.estimate))
        # A hundredth of the resamples: three times the Monte Carlo error of the count.
        assert plain < result.n_extreme - N_RESAMPLES // 100


def test_swaps__order_and_direction(few_differ: Ints) -> None:
    """The exact p-value depends neither on the order of the pairs nor on which system is a."""
    rng = np.random.default_rng(SEED)
    a, b = SCALES["tenths"](few_differ)
    expected = fb.approximate_randomization(a, b, n_resamples=2**14).pvalue
    for _ in range(20):
        order = rng.permutation(N)
        for first, second in ((a, b), (b, a)):
            again = fb.approximate_randomization(first[order], second[order], n_resamples=2**14)
            assert expected == again.pvalue


@sides
@scales
def test_swaps__differences_that_cancel(scale: str, side: str) -> None:
    """An observed difference of exactly 0 ties with every swap that cancels too."""
    tenths = np.array([[1, 2, 0, 7, 0, 5, 3, 0], [0, 0, 3, 0, 7, 0, 4, 4]])
    assert tenths[0].sum() == tenths[1].sum()
    a, b = SCALES[scale](tenths)
    result = fb.approximate_randomization(a, b, alternative=side)
    exact = probability(*swap_law(tenths[0] - tenths[1]), 0, side)
    assert exact == result.pvalue


# Bootstrap


@sides
@scales
@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_shift__sampled(tenths: Ints, path: str, scale: str, side: str) -> None:
    """The shift rule counts d* - d against d as whole numbers do."""
    a, b = SCALES[scale](tenths)
    result = fb.paired_bootstrap(
        a, b, n_resamples=N_RESAMPLES, rng=SEED, path=path, alternative=side
    )
    null = in_steps(result.replicates, scale) - 4
    assert count(null, 4, side) == result.n_extreme
    sums, law = bootstrap_law(tenths[0] - tenths[1])
    assert_rate(result.n_extreme, N_RESAMPLES, probability(sums - 4, law, 4, side), detects=0.035)


@scales
@pytest.mark.parametrize("path", BOOTSTRAP_PATHS)
def test_percentile_rule__sampled(tenths: Ints, path: str, scale: str) -> None:
    """Resamples in which the systems are equal count on either side."""
    a, b = SCALES[scale](tenths)
    result = fb.paired_bootstrap(a, b, n_resamples=N_RESAMPLES, rng=SEED, path=path)
    sums = in_steps(result.replicates, scale)
    assert (sums == 0).any()
    assert (sums <= 0).sum() == result.test("greater", rule="percentile").n_extreme
    assert (sums >= 0).sum() == result.test("less", rule="percentile").n_extreme


@scales
def test_bca__ties_with_the_estimate(tenths: Ints, scale: str) -> None:
    """Resamples equal to the estimate count half, on whichever side rounding leaves them.

    Half of these replicates tie, the others are symmetric: no bias, so without acceleration the BCa
    interval is the percentile interval.
    """
    a, b = SCALES[scale](tenths)
    result = fb.paired_bootstrap(a, b, rng=SEED)
    others = np.linspace(-1, 1, 1_000) * STEPS.get(scale, 0.1)
    for side in (-1, 0, 1):
        ties = np.full(1_000, side * result.rounding / 2)
        replicates = result.estimate + np.concatenate([others, ties])
        tied = replace(result, replicates=replicates, acceleration=0.0)
        percentile, bca = (tied.interval(method=method) for method in ("percentile", "bca"))
        assert ("bca", "") == (bca.method, bca.note)
        # The level goes through the normal distribution and back.
        assert percentile[:2] == pytest.approx(bca[:2], rel=1e-12)


# Groups, ratios and counts: whatever is resampled, against exact arithmetic on the reference's rows


@pytest.mark.parametrize("path", ["rows", "patterns", "weights"])
@pytest.mark.parametrize("offset", [0, 1_000])
def test_shift__groups(tenths: Ints, path: Any, offset: int) -> None:
    """Means over groups of one to four rows: quotients of tenths and of the rows drawn."""
    sizes = np.random.default_rng(SEED).integers(1, 5, 20)
    groups = np.repeat(np.arange(20), sizes)
    a, b = np.tile(tenths, 2)[:, : groups.size]
    result = fb.paired_bootstrap(
        offset + a / 10, offset + b / 10, groups=groups, n_resamples=300, rng=SEED, path=path
    )

    def mean(rows: list[int]) -> Fraction:
        return Fraction(int((a - b)[rows].sum()), 10 * len(rows))

    observed = mean(list(range(groups.size)))
    null = [
        mean(rows_of(bootstrap_rows(20, SEED, replicate, path), groups.tolist())) - observed
        for replicate in range(300)
    ]
    assert sum(abs(value) >= abs(observed) for value in null) == result.n_extreme
    assert sum(value >= observed for value in null) == result.test("greater").n_extreme
    assert sum(value <= observed for value in null) == result.test("less").n_extreme


def f_score(counts: Ints, rows: list[int]) -> Fraction:
    """F1 of summed (tp, fp, fn)."""
    tp, fp, fn = (int(total) for total in counts[rows].sum(axis=0))
    return Fraction(2 * tp, 2 * tp + fp + fn)


@pytest.fixture
def documents() -> tuple[Ints, Ints]:
    """Return (tp, fp, fn) of twelve documents, twice; small numbers, so that F1 ties."""
    a, b = np.random.default_rng(SEED).integers(0, 3, size=(2, 12, 3))
    a[:, 0] += 1
    b[:, 0] += 1
    return a, b


def system(counts: Ints) -> fb.Additive:
    """F1 of count columns."""
    return fb.f_score(tp=counts[:, 0], fp=counts[:, 1], fn=counts[:, 2])


@pytest.mark.parametrize("path", ["rows", "patterns", "weights"])
def test_shift__f_score(documents: tuple[Ints, Ints], path: Any) -> None:
    """Differences of two quotients, compared as fractions."""
    a, b = documents
    n = 500
    result = fb.paired_bootstrap(system(a), system(b), n_resamples=n, rng=SEED, path=path)
    observed = f_score(a, list(range(12))) - f_score(b, list(range(12)))
    resamples = [bootstrap_rows(12, SEED, replicate, path) for replicate in range(n)]
    null = [f_score(a, rows) - f_score(b, rows) - observed for rows in resamples]
    assert sum(abs(value) >= abs(observed) for value in null) == result.n_extreme


@pytest.mark.parametrize("n_resamples", [500, 2**12])
def test_swaps__f_score(documents: tuple[Ints, Ints], n_resamples: int) -> None:
    """F1 after swaps, sampled and enumerated, compared as fractions."""
    a, b = documents
    result = fb.approximate_randomization(system(a), system(b), n_resamples=n_resamples, rng=SEED)
    path: Any = result.path
    assert path == ("enumeration" if n_resamples == 2**12 else "tables")
    differing = np.flatnonzero((a != b).any(axis=1))
    everything = list(range(12))
    observed = f_score(a, everything) - f_score(b, everything)
    null = []
    for replicate in range(result.n_resamples):
        flags = np.zeros(12, bool)
        flags[differing] = swaps(differing.size, SEED, replicate, path)
        new_a, new_b = swapped(a.tolist(), b.tolist(), flags.tolist())
        null.append(f_score(np.array(new_a), everything) - f_score(np.array(new_b), everything))
    assert sum(abs(value) >= abs(observed) for value in null) == result.n_extreme
    assert sum(value >= observed for value in null) == result.test("greater").n_extreme


# The case that other packages miss


def test_rounded_scores__exact_pvalue() -> None:
    """Thirty pairs one way, twenty-six the other by a tenth, four equal: a binomial."""
    a = np.array([0.8] * 30 + [0.6] * 26 + [0.5] * 4)
    b = np.array([0.7] * 30 + [0.7] * 26 + [0.5] * 4)
    exact = 2 * binom.sf(29, 56, 0.5)
    assert exact == pytest.approx(0.689, abs=5e-4)
    for path in SWAP_PATHS:
        result = fb.approximate_randomization(a, b, n_resamples=N_RESAMPLES, rng=SEED, path=path)
        assert_rate(result.n_extreme, N_RESAMPLES, exact, detects=0.035)


CONSTANT = {
    "mean": fb.mean([0.1] * 7),
    "total": fb.total([0.1] * 7),
    "weighted mean": fb.weighted_mean([0.1] * 7, [0.1, 0.5, 1.0, 0.3, 0.3, 0.7, 0.9]),
    "standard deviation": fb.std([0.1] * 7),
}


@pytest.mark.parametrize("options", [
    {}, {"method": "basic"}, {"method": "bca"}, {"groups": [0, 0, 1, 1, 1, 2, 3]},
    {"strata": [0, 0, 0, 1, 1, 1, 1]}, {"scheme": "bayesian"}, {"by": [0, 0, 0, 1, 1, 1, 1]},
])  # fmt: skip
@pytest.mark.parametrize("name", CONSTANT)
def test_bootstrap__of_equal_rows(name: str, options: dict[str, Any]) -> None:
    """Sums of 0.1 are rounded, in another way for each resample; nothing varies all the same."""
    answer: Any = fb.bootstrap(CONSTANT[name], n_resamples=199, rng=0, **options)
    for result in answer.values() if "by" in options else [answer]:
        if name == "total" and ("groups" in options or "by" in options):
            continue  # the number of rows varies, or is that of a slice
        assert result.degenerate
        assert result.standard_error == 0.0
        interval = result.confidence_interval
        assert interval.low == interval.high == result.estimate


@pytest.mark.parametrize("correction", ["holm", "max_t"])
def test_compare__systems_that_are_apart_alike(correction: str) -> None:
    """One system is the other and 0.25: their difference does not vary."""
    first = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.5])
    systems = {"a": first, "b": first + 0.25}

    pair = fb.compare(systems, correction=correction, n_resamples=199, rng=0).pair("a", "b")

    assert (pair.standard_error, pair.low, pair.high) == (0.0, -0.25, -0.25)
