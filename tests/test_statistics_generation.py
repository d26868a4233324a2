"""Corpus scores from counts: sacreBLEU's values, every resample, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from scipy import stats
from statistical import FALSE_FAILURE, assert_rate

import fastboot as fb
from fastboot import reference
from fastboot.statistics.generation import bleu, chrf, ter, word_error_rate
from fastboot.statistics.judgement import pass_at_k, win_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

DATA = Path(__file__).with_name("data")
SEED = 20_240_307
FEW: dict[str, Any] = {"rng": 0, "n_resamples": 9}

# Some 20 roundings of 1.1e-16 each, in ratios, logarithms and their sums; exp() turns the rounding
# of a sum of logarithms, which is relative to its size (at most 23, for precisions down to 1e-10),
# into one of the score.
ROUNDING = 20 * 23 * 1.2e-16

SMOOTHING: list[dict[str, Any]] = [
    {},
    {"smooth_method": "none"},
    {"smooth_method": "floor"},
    {"smooth_method": "floor", "smooth_value": 0.01},
    {"smooth_method": "floor", "smooth_value": 0},
    {"smooth_method": "add-k"},
    {"smooth_method": "add-k", "smooth_value": 0.5},
]
CHRF_OPTIONS: list[dict[str, Any]] = [
    {},
    {"word_order": 2},
    {"beta": 1},
    {"word_order": 1, "beta": 3, "eps_smoothing": True},
    {"eps_smoothing": True},
]


def near(expected: Any) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=ROUNDING, abs=0.0)


def observed(statistic: fb.Additive, **options: Any) -> float:
    """Return the observed value."""
    result: fb.BootstrapResult = fb.bootstrap(statistic, **FEW, **options)
    return result.estimate


def their_bleu(sums: Sequence[int], **options: Any) -> float:
    """SacreBLEU's score of correct and total n-grams, system and reference length."""
    correct, total = list(sums[:4]), list(sums[4:8])
    options = {"smooth_method": "exp"} | options
    return BLEU.compute_bleu(correct, total, sums[8], sums[9], **options).score


def their_chrf(sums: Sequence[int], **options: Any) -> float:
    """SacreBLEU's score of hypothesis, reference and matching n-grams, by order."""
    triples = np.reshape(sums, (3, -1)).T.ravel().tolist()
    return CHRF(**options)._compute_f_score(triples)


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(SEED)


def segments(rng: np.random.Generator, n: int) -> Counts:
    """Counts of short segments, shape (10, n): correct and total n-grams, and lengths."""
    length = rng.integers(0, 12, n)
    total = np.maximum(length - np.arange(4)[:, None], 0)
    shares = np.cumprod(rng.uniform(0.4, 1.0, (4, n)), axis=0)
    correct = (total * shares).astype(np.int64)
    return np.vstack([correct, total, length, rng.integers(1, 12, n)])


def bleu_of(counts: Counts, **options: Any) -> fb.Additive:
    """BLEU of ten rows of counts, without the system length, which `total[0]` is."""
    return bleu(
        correct=list(counts[:4]),
        total=list(counts[4:8]),
        reference_length=counts[9],
        **options,
    )


def chrf_segments(rng: np.random.Generator, n: int, word_order: int = 0) -> Counts:
    """Counts of short segments, shape (3 * orders, n)."""
    orders = np.array([0, 1, 2, 3, 4, 5, 9, 10])[: 6 + word_order, None]
    hypothesis = np.maximum(rng.integers(0, 20, n) - orders, 0)
    gold = np.maximum(rng.integers(1, 20, n) - orders, 0)
    match = rng.binomial(np.minimum(hypothesis, gold), 0.6)
    return np.vstack([hypothesis, gold, match])


def chrf_of(counts: Counts, **options: Any) -> fb.Additive:
    """ChrF of rows of counts."""
    hypothesis, gold, match = map(list, np.split(counts, 3))
    return chrf(hypothesis=hypothesis, reference=gold, match=match, **options)


@pytest.mark.parametrize("options", SMOOTHING)
def test_bleu__sums_of_any_kind(options: dict[str, Any], rng: np.random.Generator) -> None:
    """Sums with and without matches, n-grams and lengths give sacreBLEU's score."""
    total = rng.integers(0, 6, (4, 3_000)) * rng.integers(1, 50, (4, 3_000))
    correct = rng.binomial(total, rng.choice([0.0, 0.1, 0.9, 1.0], (4, 3_000)))
    lengths = rng.integers(0, 4, (2, 3_000))
    sums = np.vstack([correct, total, lengths]).astype(float)
    statistic = bleu(correct=list(correct), total=list(total), system_length=lengths[0], **options)

    with np.errstate(all="ignore"):
        scores = statistic.finish(*sums)

    expected = [their_bleu(column, **options) for column in sums.T.astype(int).tolist()]
    assert near(expected) == scores.tolist()
    assert len(set(expected)) > 100


@pytest.mark.parametrize("options", SMOOTHING)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_bleu__observed(n: int, options: dict[str, Any], rng: np.random.Generator) -> None:
    """The observed score is sacreBLEU's, with the system length or without."""
    counts = segments(rng, n)
    expected = their_bleu(counts.sum(axis=1).tolist(), **options)
    assert near(expected) == observed(bleu_of(counts, **options))
    with_length = bleu(
        correct=list(counts[:4]),
        total=list(counts[4:8]),
        system_length=counts[8],
        reference_length=counts[9],
        **options,
    )
    assert near(expected) == observed(with_length)


@pytest.mark.parametrize("options", CHRF_OPTIONS)
def test_chrf__sums_of_any_kind(options: dict[str, Any], rng: np.random.Generator) -> None:
    """Sums with and without matches and n-grams give sacreBLEU's score."""
    shape = (6 + options.get("word_order", 0), 3_000)
    hypothesis, gold = rng.integers(0, 3, (2, *shape)) * rng.integers(1, 50, (2, *shape))
    match = rng.binomial(np.minimum(hypothesis, gold), rng.choice([0.0, 0.5, 1.0], shape))
    sums = np.vstack([hypothesis, gold, match])
    sums[:, 0] = 0

    with np.errstate(all="ignore"):
        scores = chrf_of(sums, **options).finish(*sums.astype(float))

    expected = [their_chrf(column, **options) for column in sums.T.tolist()]
    assert near(expected) == scores.tolist()
    assert len(set(expected)) > 100


@pytest.mark.parametrize("path", ["rows", "patterns"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["bleu", "add-k", "chrf", "chrf++"])
def test_replicates__reference(
    kind: str, path: Any, grouped: bool, rng: np.random.Generator
) -> None:
    """Every replicate is sacreBLEU's score of the drawn rows' counts."""
    n = 60
    theirs: Callable[..., float]
    if kind in {"bleu", "add-k"}:
        options: dict[str, Any] = {"smooth_method": "add-k"} if kind == "add-k" else {}
        counts = segments(rng, n)
        statistic, theirs = bleu_of(counts, **options), their_bleu
    else:
        options = {"word_order": 2} if kind == "chrf++" else {}
        counts = chrf_segments(rng, n, options.get("word_order", 0))
        statistic, theirs = chrf_of(counts, **options), their_chrf
    documents = np.sort(rng.integers(0, 20, n)) if grouped else np.arange(n)
    groups = documents if grouped else None

    result = fb.bootstrap(statistic, groups=groups, rng=SEED, n_resamples=40, path=path)

    keys = documents.tolist()
    for r, replicate in enumerate(result.replicates.tolist()):
        drawn = reference.bootstrap_rows(len(set(keys)), SEED, r, path)
        rows = reference.rows_of(drawn, keys)
        assert near(theirs(counts[:, rows].sum(axis=1).tolist(), **options)) == replicate


@pytest.mark.parametrize("path", ["rows", "patterns"])
@pytest.mark.parametrize("grouped", [False, True])
def test_replicates__ratios(path: Any, grouped: bool, rng: np.random.Generator) -> None:
    """The ratios' replicates are those of their rows, computed with fractions."""
    n, k = 50, 3
    errors, words = rng.integers(0, 5, n), rng.integers(1, 9, n)
    samples = rng.integers(k, 12, n)
    correct = rng.binomial(samples, 0.3)
    first, second = rng.choice(["a", "b", "tie"], (2, n))
    pairs = list(zip(samples.tolist(), correct.tolist(), strict=True))
    passed = [1 - Fraction(math.comb(s - c, k), math.comb(s, k)) for s, c in pairs]
    wins = [
        {("a", "a"): Fraction(1), ("b", "b"): Fraction(0)}.get((x, y), Fraction(1, 2))
        for x, y in zip(first.tolist(), second.tolist(), strict=True)
    ]
    cases: list[tuple[fb.Additive, list[Any], list[int], int]] = [
        (word_error_rate(errors, words), errors.tolist(), words.tolist(), 1),
        (ter(errors, words), errors.tolist(), words.tolist(), 100),
        (pass_at_k(samples, correct, k=k), passed, [1] * n, 1),
        (win_rate(first, second), wins, [1] * n, 1),
    ]
    keys = np.sort(rng.integers(0, 20, n)).tolist() if grouped else list(range(n))
    for statistic, numerators, denominators, scale in cases:
        result = fb.bootstrap(
            statistic, groups=keys if grouped else None, rng=SEED, n_resamples=30, path=path
        )
        for r, replicate in enumerate(result.replicates.tolist()):
            rows = reference.rows_of(reference.bootstrap_rows(len(set(keys)), SEED, r, path), keys)
            expected = scale * Fraction(
                sum((Fraction(numerators[row]) for row in rows), Fraction(0)),
                sum(denominators[row] for row in rows),
            )
            # At most 200 additions of positive numbers, each with a rounding of 1.1e-16.
            assert replicate == pytest.approx(float(expected), rel=200 * 1.2e-16, abs=0.0)


@pytest.mark.parametrize("n", [1, 2, 10, 100, 1_000_000])
def test_pass_at_k__exact(n: int) -> None:
    """The estimator equals exact binomial coefficients, also where it is small."""
    ks = [k for k in (1, 2, 5, 10, 100) if k <= n]
    cs = sorted({c for c in (0, 1, 2, 5, n // 2, n - 2, n - 1, n) if 0 <= c <= n})
    for k in ks:
        statistic = pass_at_k([n] * len(cs), cs, k=k)
        terms = statistic.terms(np.full(len(cs), float(n)), np.array(cs, dtype=float))
        # C(n - c, k) / C(n, k), without the factors that they share.
        failed = [math.prod(max(Fraction(n - c - i, n - i), Fraction(0)) for i in range(k))
                  for c in cs]  # fmt: skip
        # Each of k steps adds three roundings of what has been reached.
        tolerance = 3 * k * 1.2e-16
        values = np.asarray(terms[0]).tolist()
        assert values == pytest.approx([float(1 - x) for x in failed], rel=tolerance, abs=0.0)
        assert terms[1] == 1.0
        assert {x for x, c in zip(values, cs, strict=True) if c > n - k} == {1.0}


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_pass_at_k__cannot_fail(k: int) -> None:
    """Fewer than k failures among the samples: exactly 1, whatever was added up before."""
    n, c = np.array([(n, n - f) for n in range(k, 200) for f in range(k)], dtype=float).T
    assert set(np.asarray(pass_at_k(n, c, k=k).terms(n, c)[0]).tolist()) == {1.0}


# Problems with 0 to 10 correct samples of 10: CodeLlama-7B at temperature 0.2 on the 800 functions
# of CRUXEval, predicting the input and the output; pass@1 and pass@5 as published with the samples
# (facebookresearch/cruxeval, commit 190faf16d175b5847b0af05d937872b1fb395942, MIT License).
CRUXEVAL = [
    ([420, 22, 32, 18, 16, 20, 14, 17, 10, 21, 210], 35.95, 44.991071428571416),
    ([465, 17, 11, 16, 16, 12, 10, 8, 14, 12, 219], 34.2125, 40.286706349206355),
]


@pytest.mark.parametrize("problems,pass_1,pass_5", CRUXEVAL)
def test_pass_at_k__cruxeval(problems: list[int], pass_1: float, pass_5: float) -> None:
    """Published pass@1 and pass@5 of a code model."""
    table = {"n": [10] * 800, "c": np.repeat(np.arange(11), problems)}
    for k, published in ((1, pass_1), (5, pass_5)):
        # Sums of 800 values: at most that many roundings, in either program.
        expected = pytest.approx(published, rel=2 * 800 * 1.2e-16)
        assert 100 * observed(pass_at_k("n", "c", k=k), data=table) == expected


@pytest.fixture(scope="module")
def wmt17() -> dict[str, Any]:
    """Counts of two systems, under the names that the statistics look for."""
    table = pq.read_table(DATA / "wmt17_ende_counts.parquet").to_pydict()
    columns = {name: np.array(values) for name, values in table.items()}
    systems: dict[str, Any] = {}
    for name in ("lium", "online_b"):
        prefix = f"{name}_"
        counts = {
            key.removeprefix(prefix): values
            for key, values in columns.items()
            if key.startswith((prefix, "reference"))
        }
        # A text of m tokens has m - n + 1 n-grams.
        for what, orders in (("total", 4), ("hypothesis", 6), ("reference", 6)):
            for n in range(1, orders + 1):
                counts[f"{what}_{n}"] = np.maximum(counts[f"{what}_1"].astype(int) - n + 1, 0)
        systems[name] = counts
    return systems


def test_wmt17__scores(wmt17: dict[str, Any]) -> None:
    """SacreBLEU's scores of two systems (its README gives 26.6 / 55.9 and 26.7 / 56.3)."""
    scores = {name: (observed(bleu(counts)), observed(chrf(counts)))
              for name, counts in wmt17.items()}  # fmt: skip
    assert near((26.59580468309487, 55.92837490341378)) == scores["lium"]
    assert near((26.651046216335573, 56.26334773903824)) == scores["online_b"]


def test_wmt17__standard_error(wmt17: dict[str, Any]) -> None:
    """The bootstrap's standard error of the difference agrees with the jackknife's, 0.2308."""
    left_out = []
    for counts in (wmt17["online_b"], wmt17["lium"]):
        statistic = bleu(counts)
        rows = np.array([column.source for column in statistic.columns], dtype=float)
        left_out.append(statistic.finish(*(rows.sum(axis=1)[:, None] - rows)))
    differences = left_out[0] - left_out[1]
    n = differences.size
    jackknife = math.sqrt((n - 1) / n * ((differences - differences.mean()) ** 2).sum())
    # Computed with sacreBLEU's formula, one segment left out at a time; printed with 15 digits, of
    # which differences of scores near 27 keep 1e-16 x 27 x 3,004 / 0.2.
    assert jackknife == pytest.approx(0.230828588181395, rel=1e-9)

    result = fb.paired_bootstrap(bleu(wmt17["online_b"]), bleu(wmt17["lium"]), rng=SEED)

    assert result.estimate == pytest.approx(0.05524153324069303, abs=2 * 27 * ROUNDING)
    # The error of a standard error from B resamples is 1 / sqrt(2 B) of it; the two estimators
    # differ by terms of the order 1 / n.
    bound = stats.norm.isf(FALSE_FAILURE / 2) / math.sqrt(2 * 9_999) + 10 / n
    assert result.standard_error == pytest.approx(jackknife, rel=bound)


@pytest.mark.parametrize("statistic,published", [(bleu, 0.8066), (chrf, 0.0385)])
def test_wmt17__randomization(
    statistic: Callable[..., fb.Additive], published: float, wmt17: dict[str, Any]
) -> None:
    """The p-values that sacreBLEU's README gives for its 10,000 swaps."""
    a, b = statistic(wmt17["online_b"]), statistic(wmt17["lium"])
    result = fb.approximate_randomization(a, b, rng=SEED, n_resamples=10_000)
    # Both are shares of 10,000 independent swaps.
    error = math.sqrt(2 * published * (1 - published) / 10_000)
    bound = stats.norm.isf(FALSE_FAILURE / 2) * error
    assert result.pvalue == pytest.approx(published, abs=bound)


@pytest.mark.parametrize(
    "statistic,published,detects", [(bleu, 0.3077, 0.13), (chrf, 0.0240, 0.05)]
)
def test_wmt17__bootstrap_as_sacrebleu(
    statistic: Callable[..., fb.Additive], published: float, detects: float, wmt17: dict[str, Any]
) -> None:
    """The p-values that sacreBLEU's README gives for its 1,000 resamples, by its own rule.

    Absolute differences less their mean are counted against the absolute observed difference
    (module significance), so that a near tie gives 0.3.
    """
    a, b = statistic(wmt17["online_b"]), statistic(wmt17["lium"])
    result = fb.paired_bootstrap(a, b, rng=SEED, n_resamples=99_999)
    absolute = np.abs(result.replicates)
    share = np.mean(absolute - absolute.mean() > abs(result.estimate))
    assert_rate(round(1_001 * published) - 1, 1_000, float(share), detects=detects)


@pytest.mark.parametrize("name,half_width", [("lium", 0.6), ("online_b", 0.7)])
def test_wmt17__interval(name: str, half_width: float, wmt17: dict[str, Any]) -> None:
    """SacreBLEU's README: BLEU 26.6 +- 0.6 and 26.6 +- 0.7, half of the 95 % interval."""
    result = fb.bootstrap(bleu(wmt17[name]), rng=SEED, n_resamples=99_999)
    assert f"{result.replicates.mean():.1f}" == "26.6"
    low, high = result.confidence_interval[:2]
    # A 2.5 % quantile of 1,000 nearly normal values has an error of sqrt(0.025 x 0.975 / 1000) /
    # 0.0584 = 0.085 standard deviations (0.0584 is the density there); half the width, 0.06.
    error = stats.norm.isf(FALSE_FAILURE / 2) * 0.06 * result.standard_error
    assert half_width == pytest.approx((high - low) / 2, abs=0.05 + error)


@pytest.mark.parametrize("procedure", [fb.paired_bootstrap, fb.approximate_randomization])
@pytest.mark.parametrize("kind", ["bleu", "chrf", "word_error_rate", "pass_at_k", "win_rate"])
def test_paired__better_and_equal(kind: str, procedure: Any, rng: np.random.Generator) -> None:
    """A system that is better everywhere is found; a system against itself gives p = 1."""
    n = 200
    if kind in {"bleu", "chrf"}:
        make = bleu_of if kind == "bleu" else chrf_of
        worse = segments(rng, n) if kind == "bleu" else chrf_segments(rng, n)
        better = worse.copy()
        if kind == "bleu":
            better[:4] = worse[4:8]
        else:
            better[12:] = np.minimum(worse[:6], worse[6:12])
        good, bad = make(better), make(worse)
    elif kind == "word_error_rate":
        words = rng.integers(5, 20, n)
        bad, good = word_error_rate(words // 5, words), word_error_rate(words // 2, words)
    elif kind == "pass_at_k":
        good, bad = pass_at_k([9] * n, [5] * n, k=2), pass_at_k([9] * n, np.arange(n) % 6, k=2)
    else:
        labels = rng.choice(["a", "b"], n)
        good, bad = win_rate(np.where(labels == "b", "tie", "a")), win_rate(labels)

    assert procedure(good, bad, rng=0, n_resamples=999).pvalue == 1 / 1_000
    assert procedure(bad, bad, rng=0, n_resamples=999).pvalue == 1.0


def test_paired__rates_are_fused(rng: np.random.Generator) -> None:
    """Two error rates of the same references resample one difference."""
    a, b, words = rng.integers(0, 9, (3, 100)) + 1
    result = fb.paired_bootstrap(word_error_rate(a, words), word_error_rate(b, words), rng=0)
    expected = fb.bootstrap(fb.ratio(a - b, words), rng=0)
    assert result.replicates.tolist() == expected.replicates.tolist()


@pytest.mark.parametrize(
    "statistic,value",
    [
        (ter([1, 2.5], [4, 6]), 35.0),
        (ter([9], [3]), 300.0),
        (word_error_rate([1, 2], [4, 6]), 0.3),
        (pass_at_k([10, 4], [3, 4], k=1), (0.3 + 1.0) / 2),
        (win_rate(["a", "b", "tie", "a"]), 2.5 / 4),
        (win_rate(["a", "b", "tie", "a", "a"], ["a", "b", "tie", "b", "tie"]), 2.5 / 5),
        (win_rate([1, 0, 2, 3], win=1, loss=0, tie=[2, 3]), 2 / 4),
        (win_rate(["a", "x", "y"], tie=np.array(["x", "y"])), 2 / 3),
        (win_rate(["a", "x", "y"], tie=pa.array(["x", "y"])), 2 / 3),
        (win_rate([True, True, False], win=True, loss=False), 2 / 3),
        (bleu_of(np.zeros((10, 3), int)), 0.0),
        (chrf_of(np.zeros((18, 3), int)), 0.0),
    ],
)
def test_statistic__value(statistic: fb.Additive, value: float) -> None:
    """Worked by hand."""
    assert observed(statistic) == near(value)


def test_bleu__constant_columns(rng: np.random.Generator) -> None:
    """Columns that are the same in every segment need not be resampled."""
    counts = segments(rng, 30)
    counts[9] = 7
    expected = their_bleu(counts.sum(axis=1).tolist())
    assert near(expected) == observed(bleu_of(counts))


def test_counts__names_and_arrays(rng: np.random.Generator) -> None:
    """Names in data, a mapping of arrays, a mapping of names and lists of columns agree."""
    for make, rows in ((bleu, segments(rng, 30)), (chrf, chrf_segments(rng, 30))):
        if make is bleu:
            names = [f"{what}_{n}" for what in ("correct", "total") for n in range(1, 5)]
            names += ["system_length", "reference_length"]
            lists = {"correct": rows[:4], "total": rows[4:8], "reference_length": rows[9]}
        else:
            parts = ("hypothesis", "reference", "match")
            names = [f"{what}_{n}" for what in parts for n in range(1, 7)]
            lists = dict(zip(parts, np.split(rows, 3), strict=True))
        table = dict(zip(names, rows, strict=True))
        values = {
            observed(make(), data=table),
            observed(make(table)),
            observed(
                make({name: f"nb_{name}" for name in names}),
                data={f"nb_{name}": column for name, column in table.items()},
            ),
            observed(make(**lists)),
        }
        assert len(values) == 1


@pytest.mark.parametrize("make", [ter, word_error_rate])
def test_rate__undefined(make: Callable[..., fb.Additive]) -> None:
    """References without a word leave an error rate undefined."""
    with pytest.warns(RuntimeWarning, match="undefined in 9 of 9"):
        assert math.isnan(observed(make([1, 0], [0, 0])))


@pytest.mark.parametrize("row", range(10))
def test_bleu__missing_value(row: int, rng: np.random.Generator) -> None:
    """A missing count makes the score NaN where that is asked for."""
    counts = segments(rng, 20).astype(float)
    counts[row, 3] = np.nan
    statistic = bleu(correct=list(counts[:4]), total=list(counts[4:8]), system_length=counts[8],
                     reference_length=counts[9])  # fmt: skip
    assert math.isnan(observed(statistic, nan_policy="propagate"))


@pytest.mark.parametrize("row", range(18))
@pytest.mark.parametrize("eps_smoothing", [False, True])
def test_chrf__missing_value(row: int, eps_smoothing: bool, rng: np.random.Generator) -> None:
    """A missing count makes the score NaN where that is asked for."""
    counts = chrf_segments(rng, 20).astype(float)
    counts[row, 3] = np.nan
    statistic = chrf_of(counts, eps_smoothing=eps_smoothing)
    assert math.isnan(observed(statistic, nan_policy="propagate"))


@pytest.mark.parametrize(
    "statistic",
    [
        bleu_of(np.ones((10, 2), int)),
        chrf_of(np.ones((18, 2), int)),
        ter([1], [2]),
        word_error_rate([1], [2]),
        pass_at_k([3], [1], k=2),
        win_rate(["a"]),
    ],
)
def test_statistic__picklable(statistic: fb.Additive) -> None:
    """Statistics travel to other processes."""
    copied = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert observed(copied) == observed(statistic)
    assert copied.name == statistic.name


@pytest.mark.parametrize("eps_smoothing", [False, True])
def test_chrf__limits(*, eps_smoothing: bool) -> None:
    """A beta far from 1 gives precision or recall."""
    counts: Any = {
        "hypothesis": [[8.0]] * 6, "reference": [[10.0]] * 6, "match": [[4.0]] * 6
    }  # fmt: skip
    for beta, limit in ((1e-160, 50.0), (1e160, 40.0), (1e30, 40.0)):
        score = chrf(**counts, beta=beta, eps_smoothing=eps_smoothing)
        assert observed(score) == pytest.approx(limit, rel=1e-14)


FOUR = [[1]] * 4


@pytest.mark.parametrize(
    "call,kind,message",
    [
        (lambda: bleu(correct=[[1]] * 3), ValueError,
         "`correct` has 3 columns; BLEU takes 4, for n-grams of 1 to 4 words"),
        (lambda: bleu(correct=FOUR, total="x"), TypeError,
         "`total` is 'x'; give a list of columns: BLEU takes 4, for n-grams of 1 to 4 words"),
        (lambda: bleu([1, 2]), TypeError,  # type: ignore[arg-type] # wrong on purpose
         "`counts` is a list; give a mapping of columns, such as bleu_counts"),
        (lambda: bleu({"correct_1": [1]}), ValueError,
         "`counts` has no 'correct_2'; there are 'correct_1'"),
        (lambda: bleu({}), ValueError, "`counts` has no 'correct_1'; there are none"),
        (lambda: bleu(smooth_method="epsilon"), ValueError,
         'smooth_method=\'epsilon\'; choose one of "exp", "none", "floor", "add-k"'),
        (lambda: bleu(smooth_value=1.0), ValueError,
         "`smooth_value` is 1.0, but smooth_method='exp' takes none; leave it out or choose"),
        (lambda: bleu(smooth_method="floor", smooth_value=-1.0), ValueError,
         "`smooth_value` is -1.0; it must be a number, 0 or more"),
        (lambda: bleu(smooth_method="floor", smooth_value="a"), TypeError,  # type: ignore[arg-type]
         "`smooth_value` is 'a'; it must be a number"),
        (lambda: chrf(beta="2"), TypeError,  # type: ignore[arg-type] # wrong on purpose
         "`beta` is '2'; it must be a number"),
        (lambda: win_rate(["a"], win=np.array(["a", "c"])), TypeError,
         r"`win` is array\(\['a', 'c'\], dtype='<U1'\); give one label: a string, a number"),
        (lambda: win_rate(["a"], loss=["b"]), TypeError, r"`loss` is \['b'\]; give one label"),
        (lambda: win_rate(["a"], tie=[["x"]]), TypeError, r"`tie` is \['x'\]; give one label"),
        (lambda: chrf(match=[[1]] * 6, word_order=2), ValueError,
         "`match` has 6 columns; chrF with word_order=2 takes 8"),
        (lambda: chrf(word_order=-1), ValueError,
         "`word_order` is -1; it must be an integer, 0 or more"),
        (lambda: chrf(beta=0.0), ValueError, r"`beta` is 0.0; it must be a positive number \(2 "),
        (lambda: chrf(beta=math.nan), ValueError, "`beta` is nan; it must be a positive number"),
        (lambda: pass_at_k([1], [1], k=0), ValueError,
         "`k` is 0; it must be an integer, 1 or more"),
        (lambda: pass_at_k([1], [1], k=1.0), ValueError,  # type: ignore[arg-type] # on purpose
         "`k` is 1.0; it must be an integer, 1 or more"),
        (lambda: pass_at_k([1], [1], k=True), ValueError, "`k` is True; it must be an integer"),
        (lambda: win_rate(["a"], win="b"), ValueError,
         "'b' stands for two of win='b', loss='b' and tie='tie'; give each a label of its own"),
    ],
)  # fmt: skip
def test_statistic__arguments(call: Any, kind: type[Exception], message: str) -> None:
    """What cannot be meant is refused where the statistic is made."""
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    "statistic,message",
    [
        (bleu(correct=[[1, 3, 4]] * 4, total=[[2, 2, 2]] * 4, reference_length=[2, 2, 2]),
         r"`correct\[0\]` has 2 counts above `total\[0\]` \(first at row 1: 3\); there cannot"),
        (bleu(correct=[[0]] * 4, total=[[2]] * 4, reference_length=[-2]),
         r"`reference_length` has 1 negative count \(first at row 0: -2\); counts are 0 or more"),
        (chrf(hypothesis=[[1]] * 6, reference=[[2]] * 6, match=[[2]] * 6),
         r"`match\[0\]` has 1 count above `hypothesis\[0\]` \(first at row 0: 2\)"),
        (chrf(hypothesis=[[2]] * 6, reference=[[1]] * 6, match=[[2]] * 6),
         r"`match\[0\]` has 1 count above `reference\[0\]` \(first at row 0: 2\)"),
        (chrf(hypothesis=[[2]] * 6, reference=[[1]] * 6, match=[[-2]] * 6),
         r"`match\[0\]` has 1 negative count \(first at row 0: -2\)"),
        (ter([-1, 2], [3, 3]), r"`edits` has 1 negative count \(first at row 0: -1\)"),
        (ter([1, 2], [3, -3]), r"`reference_length` has 1 negative count \(first at row 1: -3\)"),
        (word_error_rate([1, -2], [3, 3]), r"`errors` has 1 negative count \(first at row 1: -2\)"),
        (word_error_rate([1, 2], [-3, -3]), r"`words` has 2 negative counts \(first at row 0: -3"),
        (pass_at_k([3, 3], [1, -1], k=1), r"`c` has 1 negative count \(first at row 1: -1\)"),
        (pass_at_k([3, 3], [1, 0.5], k=1),
         r"`c` has 1 fraction \(first at row 1: 0.5\); samples are whole"),
        (pass_at_k([3, 3], [1, 4], k=1), r"`c` has 1 count above `n` \(first at row 1: 4\)"),
        (pass_at_k([5, 3], [1, 1], k=5),
         r"`n` has 1 count below 5 \(first at row 1: 3\); every problem needs k = 5 samples or"),
        (win_rate(["a", "A", "B"]),
         (r"`first_order` has 2 labels other than 'a', 'b', 'tie' \(first at row 1: 'A'\); say "
          "with win=, loss= and tie= what they mean")),
        (win_rate(["a", "b"], ["a", "?"]),
         r"`second_order` has 1 label other than 'a', 'b', 'tie' \(first at row 1: '\?'\)"),
    ],
)  # fmt: skip
def test_statistic__data(statistic: fb.Additive, message: str) -> None:
    """Data that cannot be counts is refused."""
    with pytest.raises(ValueError, match=message):
        observed(statistic)
