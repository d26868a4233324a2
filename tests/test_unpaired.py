"""The two-sample bootstrap: against the reference, closed forms and slow leave-one-out values."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from enumeration import assert_standard_error
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import SeedSequence

import fastboot as fb
from fastboot import reference
from fastboot.unpaired import unpaired_bootstrap

SEED = 11
# Survival of mice in days (Efron and Tibshirani 1993, table 2.1).
TREATED = [94, 197, 16, 38, 99, 141, 23]
UNTREATED = [52, 104, 146, 10, 50, 31, 40, 27, 46]


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(2_024)


def rows(side: int, n: int, replicate: int, path: Any = "rows", values: Any = None) -> list[int]:
    """Return the reference's resample of sample a (0) or b (1)."""
    seed = SeedSequence(SEED, spawn_key=(side,))
    classes = None if values is None else [value.item() for value in values]
    return reference.bootstrap_rows(n, seed, replicate, path, classes)


def mean(values: Any) -> float:
    """Mean of integers, rounded once."""
    return float(sum(values.tolist()) / values.size)


# Replicates.


@pytest.mark.parametrize("path", ["rows", "patterns", "weights", "collapse"])
@pytest.mark.parametrize("sizes", [(7, 9), (33, 1), (300, 280)])
def test_mean__reference(path: str, sizes: tuple[int, int], rng: np.random.Generator) -> None:
    """Each sample is drawn with words of its own; every replicate is equal to the last bit."""
    a, b = (rng.integers(-3, 4, n) for n in sizes)
    a[0], a[-1], b[0], b[-1] = 5, -5, 7, -7
    result = unpaired_bootstrap(a, b, rng=SEED, n_resamples=20, path=path)

    for r, replicate in enumerate(result.replicates.tolist()):
        drawn = [
            own[rows(side, own.size, r, path, own if path == "collapse" else None)]
            for side, own in enumerate((a, b))
        ]
        assert replicate == mean(drawn[0]) - mean(drawn[1])
    assert result.path == (path if sizes[1] > 1 else f"constant+{path}" if path > "constant" else
                           f"{path}+constant")  # fmt: skip
    assert result.estimate == mean(a) - mean(b)


def test_groups_and_strata__reference(rng: np.random.Generator) -> None:
    """Groups are drawn whole inside the strata of their sample."""
    document = rng.integers(0, 12, 60), rng.integers(0, 9, 50)
    stratum = tuple(np.where(own % 3 == 0, "x", "y") for own in document)
    score = rng.integers(0, 9, 60), rng.integers(0, 9, 50)
    data = tuple(
        {"score": own, "doc": groups, "at": strata}
        for own, groups, strata in zip(score, document, stratum, strict=True)
    )
    result = unpaired_bootstrap(
        "score", "score", data=data, groups="doc", strata="at", rng=SEED, n_resamples=30
    )

    def drawn(side: int, r: int) -> Any:
        found: list[int] = []
        for part, remainders in enumerate(([0], [1, 2])):
            units = sorted(d for d in set(document[side].tolist()) if d % 3 in remainders)
            seed = SeedSequence(SEED, spawn_key=(side, part))
            for unit in reference.bootstrap_rows(len(units), seed, r, "rows"):
                found += np.flatnonzero(document[side] == units[unit]).tolist()
        return score[side][found]

    expected = [mean(drawn(0, r)) - mean(drawn(1, r)) for r in range(30)]
    assert result.replicates.tolist() == expected
    assert (result.n_rows_a, result.n_rows_b, result.n_rows) == (60, 50, 110)
    assert (result.n_units_a, result.n_units_b) == tuple(np.unique(own).size for own in document)
    assert result.n_units == result.n_units_a + result.n_units_b


def test_median__reference(rng: np.random.Generator) -> None:
    """Statistics of row weights, beside others in one call."""
    a, b = rng.normal(size=21), rng.normal(size=31)
    table = unpaired_bootstrap(
        [fb.median(a), fb.mean(a)], [fb.median(b), fb.mean(b)], rng=SEED, n_resamples=30
    )

    for r in range(30):
        drawn_a, drawn_b = a[rows(0, 21, r)], b[rows(1, 31, r)]
        assert table["median"].replicates[r] == np.median(drawn_a) - np.median(drawn_b)
        error = abs(table["mean"].replicates[r] - (drawn_a.mean() - drawn_b.mean()))
        assert error <= table["mean"].rounding


def test_different_statistics(rng: np.random.Generator) -> None:
    """Two statistics that are not alike can be compared as well."""
    a, b = rng.integers(0, 9, 21), rng.integers(0, 9, 31)
    result = unpaired_bootstrap(fb.total(a), fb.mean(b), rng=SEED, n_resamples=9)

    assert result.statistic == "total - mean"
    expected = [a[rows(0, 21, r)].sum() - mean(b[rows(1, 31, r)]) for r in range(9)]
    assert result.replicates.tolist() == expected


def test_weights__reference(rng: np.random.Generator) -> None:
    """A row's weight is drawn with it."""
    a, b, weights_a, weights_b = (rng.integers(1, 9, n) for n in (12, 20, 12, 20))
    data = {"x": a, "w": weights_a}, {"x": b, "w": weights_b}
    result = unpaired_bootstrap("x", "x", data=data, weights="w", rng=SEED, n_resamples=9)

    for r, replicate in enumerate(result.replicates.tolist()):
        in_a, in_b = rows(0, 12, r), rows(1, 20, r)
        assert replicate == (
            float((a * weights_a)[in_a].sum() / weights_a[in_a].sum())
            - float((b * weights_b)[in_b].sum() / weights_b[in_b].sum())
        )


def test_slices__reference(rng: np.random.Generator) -> None:
    """Each slice is drawn by itself from each sample; all rows together have draws of their own."""
    a, b = rng.integers(0, 50, 30), rng.integers(0, 50, 20)
    by = np.tile(["u", "v"], 15), np.tile(["v", "u"], 10)
    table = unpaired_bootstrap(a, b, by=by, rng=SEED, n_resamples=20)

    assert list(table) == ["u", "v"]
    for part, name in enumerate("uv"):
        samples = a[by[0] == name], b[by[1] == name]
        for r in range(20):
            drawn = [
                own[reference.bootstrap_rows(
                    own.size, SeedSequence(SEED, spawn_key=(side, part)), r, "rows"
                )]
                for side, own in enumerate(samples)
            ]  # fmt: skip
            assert table[name].replicates[r] == mean(drawn[0]) - mean(drawn[1])
        assert (table[name].n_rows_a, table[name].n_units_b) == (15, 10)
        assert table[name].estimate_b == mean(samples[1])
    alone = unpaired_bootstrap(a, b, rng=SEED, n_resamples=20)
    assert (table.total.replicates == alone.replicates).all()


@pytest.mark.parametrize(
    "options",
    [
        {"scheme": "bayesian"},
        {"scheme": "poisson"},
        {"scheme": "moving", "block_length": 3},
        {"levels": "nested", "groups": (np.arange(40) // 4, np.arange(30) // 5)},
    ],
)
def test_designs__each_sample(options: dict[str, Any], rng: np.random.Generator) -> None:
    """Other designs: the difference of what each sample gives alone, from its own words."""
    a, b = rng.integers(0, 9, 40), rng.integers(0, 9, 30)
    result = unpaired_bootstrap(a, b, rng=SEED, n_resamples=2_000, **options)
    assert result.n_undefined == 0
    single = {"groups": None} | options
    errors = []
    for side, own in enumerate((a, b)):
        alone = single | {"groups": single["groups"] and single["groups"][side]}
        errors.append(fb.bootstrap(own, rng=side, n_resamples=2_000, **alone).standard_error)
    # Standard errors of about normal replicates have a relative error of 1 / sqrt(2 n), here 0.016;
    # six times the error of a difference of two.
    assert result.standard_error == pytest.approx(math.hypot(*errors), rel=6 * 0.016 * math.sqrt(2))


def test_block_length__of_each_sample(rng: np.random.Generator) -> None:
    """A length chosen by the data is chosen for each sample, and said."""
    a, b = np.cumsum(rng.normal(size=(2, 60)), axis=1)
    table = unpaired_bootstrap(
        [fb.mean(a), fb.total(a)],
        [fb.mean(b[:40]), fb.total(b[:40])],
        scheme="stationary",
        rng=SEED,
        n_resamples=9,
    )
    assert re.fullmatch(
        r"sample a: blocks of .* \(Politis and White 2004\); sample b: blocks of .*",
        table["total"].notes[0],
    )
    same = unpaired_bootstrap(a, b, scheme="moving", block_length=5, rng=SEED, n_resamples=9)
    assert same.notes == ("blocks of 5 rows",)


def test_threads__same_bits(rng: np.random.Generator) -> None:
    """Replicates depend on the seed and their number only."""
    a, b = rng.normal(size=300), rng.normal(size=200)
    one = unpaired_bootstrap(a, b, rng=SEED, n_resamples=3_000, n_threads=1)
    four = unpaired_bootstrap(a, b, rng=SEED, n_resamples=4_000, n_threads=4)

    assert (one.replicates == four.replicates[:3_000]).all()


def test_samples__independent() -> None:
    """Equal samples are drawn apart: a sample against its copy is not always 0."""
    result = unpaired_bootstrap(TREATED, TREATED, rng=0, n_resamples=100)
    assert result.estimate == 0.0
    assert result.standard_error > 0.0
    assert result.pvalue == 1.0


# Standard errors, intervals, p-values.


def test_standard_error__closed_form() -> None:
    """That of a difference of means is sqrt(v_a / n_a + v_b / n_b), 26.86 for the mice.

    Efron and Tibshirani's 28.93 divides by n - 1 in the variances.
    """
    result: Any = unpaired_bootstrap(TREATED, UNTREATED, rng=SEED)

    expected = math.sqrt(np.var(TREATED) / 7 + np.var(UNTREATED) / 9)
    assert round(math.sqrt(np.var(TREATED, ddof=1) / 7 + np.var(UNTREATED, ddof=1) / 9), 2) == 28.93
    assert_standard_error(result, expected)


def test_standard_error__strata(rng: np.random.Generator) -> None:
    """Strata of each sample: the variances inside them add up."""
    a, b = rng.normal(size=60), rng.normal(size=45)
    a[::3] += 9.0
    strata = np.arange(60) % 3, np.arange(45) % 5
    result: Any = unpaired_bootstrap(a, b, strata=strata, rng=SEED)

    variance = sum(
        np.var(own[codes == code]) * np.sum(codes == code) / own.size**2
        for own, codes in zip((a, b), strata, strict=True)
        for code in np.unique(codes)
    )
    assert_standard_error(result, math.sqrt(variance))


def test_studentized__errors_of_both(rng: np.random.Generator) -> None:
    """Standard errors, observed and of every replicate, are those of both samples together."""
    a, b = rng.exponential(size=30), rng.exponential(size=20)
    result = unpaired_bootstrap(a, b, method="studentized", rng=SEED, n_resamples=25)

    def error(x: Any, y: Any) -> float:
        return math.sqrt(np.var(x) / x.size + np.var(y) / y.size)

    assert result.replicate_standard_errors is not None
    assert result.analytic_errors is not None
    expected = [error(a[rows(0, 30, r)], b[rows(1, 20, r)]) for r in range(25)]
    # Second moments of 50 values cancel to a variance of no less than a tenth of them.
    assert result.replicate_standard_errors == pytest.approx(np.array(expected), rel=1e-12)
    assert result.analytic_errors.cr0 == pytest.approx(error(a, b), rel=1e-12)
    t = (result.replicates - result.estimate) / expected
    low, high = np.quantile(t, [0.025, 0.975])
    assert result.confidence_interval[:2] == pytest.approx(
        (result.estimate - high * error(a, b), result.estimate - low * error(a, b)), rel=1e-10
    )


def test_pvalue__shift_rule(rng: np.random.Generator) -> None:
    """Replicates moved to the null, with the observed difference as one of them."""
    a, b = rng.normal(size=30), rng.normal(size=20)
    result = unpaired_bootstrap(a, b, rng=SEED, n_resamples=999)

    extreme = np.abs(result.replicates - result.estimate) >= abs(result.estimate)
    assert result.pvalue == (extreme.sum() + 1) / 1_000
    assert result.rule == "shift"
    plain = unpaired_bootstrap(a, b, rng=SEED, n_resamples=999, add_one=False)
    assert plain.pvalue == extreme.sum() / 999
    assert (
        result.test("greater").pvalue
        == (np.sum(result.replicates >= 2.0 * result.estimate) + 1) / 1_000
    )


def slow_acceleration(
    a: Any, b: Any, value: Callable[[Any], float], parts: Any = (None, None)
) -> float:
    """Acceleration from leave-one-out values, one after the other.

    parts : for each sample the stratum of every row
    """
    squares = cubes = 0.0
    for sign, own, strata in ((1.0, a, parts[0]), (-1.0, b, parts[1])):
        codes = np.zeros(len(own), np.int64) if strata is None else strata
        left = np.array([value(np.delete(own, i)) for i in range(len(own))])
        for code in np.unique(codes):
            d = sign * (left[codes == code].mean() - left[codes == code])
            squares, cubes = squares + (d**2).sum(), cubes + (d**3).sum()
    return float(cubes / (6.0 * squares**1.5))


@pytest.mark.parametrize("statistic", [fb.mean, fb.variance, fb.median, fb.total])
def test_acceleration__leave_one_out(
    statistic: Callable[[Any], Any], rng: np.random.Generator
) -> None:
    """That of both samples together."""
    a, b = rng.exponential(size=40), 3.0 * rng.exponential(size=25)
    slow: Any = {
        fb.mean: np.mean,
        fb.variance: np.var,
        fb.median: np.median,
        fb.total: np.sum,
    }[statistic]
    result = unpaired_bootstrap(statistic(a), statistic(b), rng=SEED, n_resamples=99, method="bca")

    # d is about 1 / 40 of the value and has its rounding error: 1e-13 of d, three times that of the
    # cubes, whose sum cancels to no less than a tenth: within 1e-11.
    assert result.acceleration == pytest.approx(slow_acceleration(a, b, slow), rel=1e-11)
    assert result.confidence_interval.method == "bca"


@pytest.mark.parametrize("side", ["a", "b"])
def test_remarks__strata_of_one_unit(side: str) -> None:
    """They are named in the sample that has them."""
    several, one = ["x", "x", "y", "y"], ["x", "x", "x", "y"]
    strata = (one, several) if side == "a" else (several, one)

    result = fb.unpaired_bootstrap(
        [1.0, 2.0, 4.0, 7.0], [2.0, 3.0, 3.0, 5.0], strata=strata, rng=0, n_resamples=99
    )

    note = (
        f"sample {side}: 1 stratum has a single row, which every resample draws: such strata add "
        "nothing to the standard error, which is too small"
    )
    assert [note] == [each for each in result.notes if "strat" in each]


def test_acceleration__strata(rng: np.random.Generator) -> None:
    """With strata in each sample."""
    a, b = rng.exponential(size=40), rng.exponential(size=25)
    strata = np.arange(40) % 3, np.arange(25) % 2
    result = unpaired_bootstrap(a, b, strata=strata, rng=SEED, n_resamples=99, method="bca")

    expected = slow_acceleration(a, b, lambda values: float(np.mean(values)), strata)
    assert result.acceleration == pytest.approx(expected, rel=1e-11)


def test_acceleration__one_sample_constant(rng: np.random.Generator) -> None:
    """A sample that does not vary leaves the other's acceleration as it is."""
    a = rng.exponential(size=40)
    alone = fb.bootstrap(a, rng=0, n_resamples=99)
    assert unpaired_bootstrap(a, [2.0, 2.0], n_resamples=99).acceleration == alone.acceleration
    mirrored = unpaired_bootstrap([2.0, 2.0], a, n_resamples=99).acceleration
    assert mirrored is not None
    assert alone.acceleration is not None
    assert mirrored == -alone.acceleration
    constant = unpaired_bootstrap([1.0, 1.0], [2.0, 2.0], n_resamples=99)
    assert constant.acceleration is not None
    assert math.isnan(constant.acceleration)
    assert constant.path == "constant"


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=9),
    st.lists(st.integers(-50, 50), min_size=1, max_size=9),
    st.integers(-1_000, 1_000),
)
def test_invariances(a: list[int], b: list[int], shift: int) -> None:
    """A shift of both samples changes nothing; exchanging them negates the estimate."""
    x, y = np.array(a), np.array(b)
    result = unpaired_bootstrap(x, y, rng=SEED, n_resamples=50)
    shifted = unpaired_bootstrap(x + shift, y + shift, rng=SEED, n_resamples=50)
    other = unpaired_bootstrap(y, x, rng=SEED, n_resamples=50)

    assert shifted.replicates == pytest.approx(
        result.replicates, abs=result.rounding + shifted.rounding
    )
    assert other.estimate == -result.estimate
    assert (result.estimate_a, result.estimate_b) == (other.estimate_b, other.estimate_a)


# Classes, missing values.


def test_classes__common() -> None:
    """A statistic with a value for each class has those of both samples."""
    a = list("xyxy" * 5), list("xyxx" * 5)
    b = list("xzxz" * 5), list("xzzz" * 5)
    with pytest.warns(RuntimeWarning, match="is undefined in") as caught:
        table: Any = unpaired_bootstrap(
            fb.recall(*a, average=None), fb.recall(*b, average=None), rng=0, n_resamples=70
        )

    assert list(table) == ["x", "y", "z"]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert table["x"].estimate == 1.0 - 0.5
    assert table["y"].estimate_a == 0.5
    assert math.isnan(table["y"].estimate_b)
    assert table["y"].n_undefined == 70


def test_undefined__either() -> None:
    """A replicate is undefined where that of one sample is."""
    gold = np.array([1, 0, 0, 0])
    with pytest.warns(RuntimeWarning) as caught:
        result = unpaired_bootstrap(
            fb.recall(gold, gold), fb.recall(gold, gold), rng=SEED, n_resamples=50
        )

    expected = [not (gold[rows(0, 4, r)].any() and gold[rows(1, 4, r)].any()) for r in range(50)]
    assert np.isnan(result.replicates).tolist() == expected
    assert len(caught) == 1
    assert f"undefined in {sum(expected)} of 50 replicates" in str(caught[0].message)


def test_missing__policies() -> None:
    """Missing values are refused, dropped from their sample, or make the answer undefined."""
    a, b = [1.0, math.nan, 3.0, 4.0], [2.0, 5.0]
    with pytest.raises(ValueError, match="1 NaN"):
        unpaired_bootstrap(a, b)
    omitted = unpaired_bootstrap(a, b, nan_policy="omit", rng=0)
    assert (omitted.n_dropped, omitted.n_rows_a, omitted.n_rows_b) == (1, 3, 2)
    assert "1 row was dropped" in " ".join(omitted.notes)
    kept = unpaired_bootstrap([1.0, 3.0, 4.0], b, rng=0)
    assert (omitted.replicates == kept.replicates).all()
    propagated = unpaired_bootstrap(a, b, nan_policy="propagate", n_resamples=5)
    assert math.isnan(propagated.pvalue)
    assert propagated.estimate_b == 3.5


# Data, words, messages.


def test_data__one_table_or_two() -> None:
    """Columns of one mapping may differ in length; names are looked up in each of two tables."""
    expected = unpaired_bootstrap(TREATED, UNTREATED, rng=0, n_resamples=9).replicates
    table = {"treated": TREATED, "untreated": UNTREATED}
    one = unpaired_bootstrap("treated", "untreated", data=table, rng=0, n_resamples=9)
    pair = {"days": TREATED}, {"days": UNTREATED}
    two = unpaired_bootstrap("days", "days", data=pair, rng=0, n_resamples=9)

    assert (one.replicates == expected).all()
    assert (two.replicates == expected).all()


def test_result__words() -> None:
    """What a result says, and that it survives a pickle."""
    result = unpaired_bootstrap(np.arange(30.0), [1.0, 2.0, 3.0], rng=0)
    assert "two-sided two-sample bootstrap (shift) p = " in result.summary()
    assert "(30 rows of a and 3 of b, 9,999 resamples, seed 0)" in result.summary()
    assert result.notes == (
        "in one sample only 3 rows: intervals and p-values from so few units are rough",
    )
    assert pickle.loads(pickle.dumps(result)).pvalue == result.pvalue  # noqa: S301 - our own
    figures = json.loads(result.to_json())
    assert figures["kind"] == "UnpairedBootstrapResult"
    assert (figures["n_rows_a"], figures["n_units_b"]) == (30, 3)


A, B = [1.0, 2.0, 3.0], [1.0, 2.0]


@pytest.mark.parametrize(
    "options,error,message",
    [
        ({"path": "tables"}, ValueError, "`path` is 'tables'; choose one of collapse"),
        ({"path": "rows", "scheme": "poisson"}, ValueError, "`path` is 'rows'; only plain"),
        ({"scheme": "jackknife"}, ValueError, "`scheme` is 'jackknife'"),
        ({"groups": [1, 2, 3]}, TypeError, r"`groups` is a list; the samples .* tuple of two"),
        ({"weights": np.ones(3)}, TypeError, "`weights` is a ndarray; the samples"),
        ({"strata": ([1, 1, 2], None)}, TypeError, "`strata` is given for sample a but None for b"),
        ({"by": ([1, 1, 2], [1, 1])}, ValueError, "`by`: only sample a has rows of 2; leave"),
        ({"by": (list("uuu"), list("uv"))}, ValueError, "`by`: only sample b has rows of 'v'"),
        ({"weights": ([1, 2, -1], [1, 1])}, ValueError, "`weights` has 1 value below 0"),
        ({"strata": ("at", [1, 1])}, ValueError, "column 'at' but no data= was given"),
    ],
)
def test_messages(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """What is wrong is refused by name."""
    with pytest.raises(error, match=message):
        unpaired_bootstrap(A, B, **options)


def test_messages__names() -> None:
    """Both samples are asked the same."""
    with pytest.raises(ValueError, match="`a` asks for 'x' but `b` for 'y'"):
        unpaired_bootstrap({"x": A}, {"y": B})
