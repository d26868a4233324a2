"""Effects over data sets, from their resamples, against closed forms and statsmodels."""

from __future__ import annotations

import json
import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastboot as fb
from fastboot.leaderboards.pooled_effects import pool

Floats = NDArray[np.float64]
# statsmodels 0.15.0: combine_effects(EFFECTS, VARIANCES, method_re="dl"), summary_frame(), tau2, q,
# i2.
EFFECTS = [0.1, 0.3, 0.35, 0.65, 0.45, 0.15]
VARIANCES = [0.03, 0.03, 0.05, 0.01, 0.05, 0.02]
TAU_SQUARED, Q, I_SQUARED = 0.039785966460723785, 12.805627705627714, 0.609546668469626
FIXED, RANDOM = (0.396753, 0.062419, 0.274415, 0.519092), (0.344250, 0.106754, 0.135015, 0.553484)


def shares(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Right and wrong answers of two systems."""
    return (rng.random(n) < 0.6).astype(float), (rng.random(n) < 0.5).astype(float)


def results_of(sizes: list[int], seeds: list[int], n_resamples: int = 9_999) -> list[Any]:
    """Data sets of these sizes."""
    rng = np.random.default_rng(31)
    return [
        fb.paired_bootstrap(*shares(rng, n), rng=seed, n_resamples=n_resamples)
        for n, seed in zip(sizes, seeds, strict=True)
    ]


def one_system(seeds: list[int]) -> list[Any]:
    """Data sets of 400 answers against nothing: two classes, whose counts are binomial."""
    rng = np.random.default_rng(34)
    return [fb.paired_bootstrap(shares(rng, 400)[0], np.zeros(400), rng=seed) for seed in seeds]


@pytest.mark.parametrize("weights", ["equal", "rows", "precision", [1.0, 2.0, 5.0]])
def test_estimate_and_replicates__are_weighted_means(weights: Any) -> None:
    """Of replicates r, r + 1, r + 2: all three systems of weights by hand."""
    parts = results_of([50, 80, 200], [1, 2, 3], 99)
    own = {
        "equal": [1.0, 1.0, 1.0],
        "rows": [50.0, 80.0, 200.0],
        "precision": [part.standard_error**-2 for part in parts],
    }
    expected = np.array(own[weights] if isinstance(weights, str) else weights)
    expected /= expected.sum()
    result = pool(parts, weights=weights)
    assert pytest.approx(expected.tolist(), rel=1e-14) == result.weights.tolist()
    assert pytest.approx(expected @ [part.estimate for part in parts]) == result.estimate
    assert pytest.approx(result.estimate) == result.estimate_a - result.estimate_b
    rolled = [part.replicates[(np.arange(99) + j) % 99] for j, part in enumerate(parts)]
    assert pytest.approx((expected @ rolled).tolist(), rel=1e-12) == result.replicates.tolist()


def test_rows__are_the_mean_over_all_rows() -> None:
    """The micro average of means."""
    rng = np.random.default_rng(32)
    data = [shares(rng, n) for n in (30, 70)]
    result = pool([fb.paired_bootstrap(*one, rng=0) for one in data], weights="rows")
    a, b = (np.concatenate(both) for both in zip(*data, strict=True))
    assert pytest.approx(a.mean() - b.mean(), rel=1e-14) == result.estimate
    assert (result.n_rows, result.n_units) == (100, 100)


@pytest.mark.parametrize("seeds", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_standard_error__is_that_of_independent_data_sets(seeds: list[int]) -> None:
    """Also where one seed gave all their random numbers, and replicates r move together.

    Without the shift it would be the sum of four errors, twice as large. Standard errors of 9,999
    replicates are wrong by 0.7 % (1 / sqrt(2 n)); with one seed up to twice that; 5 sigma.
    """
    parts = one_system(seeds)
    result = pool(parts)
    expected = math.sqrt(sum(part.standard_error**2 for part in parts)) / 4.0
    assert pytest.approx(expected, rel=0.07) == result.standard_error


def test_one_seed__replicates_would_move_together() -> None:
    """The trap is real: this is why replicates are shifted."""
    first, second = one_system([0, 0])
    assert np.corrcoef(first.replicates, second.replicates)[0, 1] > 0.9


def test_slices_of_a_table() -> None:
    """Are data sets, by name."""
    a, b = shares(np.random.default_rng(33), 90)
    data = {"a": a, "b": b, "language": ["de", "en", "fr"] * 30}
    table = fb.paired_bootstrap("a", "b", data=data, by="language", rng=0)
    result = pool(table)
    assert result.data_sets == ("de", "en", "fr")
    # All slices have 30 rows.
    assert pytest.approx(table.total.estimate) == result.estimate


def test_a_single_data_set__is_itself() -> None:
    """Nothing is pooled; the tests of heterogeneity are undefined."""
    (part,) = results_of([60], [5])
    result = pool([part])
    assert result.replicates.tolist() == part.replicates.tolist()
    assert (result.pvalue, result.confidence_interval) == (part.pvalue, part.confidence_interval)
    assert pytest.approx(part.standard_error) == result.random_effects.standard_error
    assert math.isnan(result.random_effects.q_pvalue)


def test_meta_analysis__statsmodels() -> None:
    """Fixed effect and DerSimonian-Laird, six digits as printed."""
    parts = results_of([50] * 6, list(range(6)), 99)
    result = pool(parts)
    object.__setattr__(result, "estimates", np.array(EFFECTS))
    object.__setattr__(result, "standard_errors", np.sqrt(VARIANCES))
    assert np.round(result.fixed_effect[:4], 6).tolist() == list(FIXED)
    assert np.round(result.random_effects[:4], 6).tolist() == list(RANDOM)
    found = result.random_effects
    expected = (TAU_SQUARED, Q, I_SQUARED)
    assert pytest.approx(expected, rel=1e-12) == (found.tau_squared, found.q, found.i_squared)
    assert result.fixed_effect.tau_squared == 0.0


def test_degenerate_data_set() -> None:
    """Counts in a macro average; has no precision."""
    part, constant = results_of([50], [0])[0], fb.paired_bootstrap([1, 1], [0, 0], rng=1)
    result = pool([part, constant])
    assert pytest.approx(0.5 * (part.estimate + 1.0)) == result.estimate
    assert math.isnan(result.random_effects.estimate)
    assert json.loads(result.to_json())["random_effects"]["estimate"] is None
    with pytest.raises(ValueError, match="data set 1 has standard error 0"):
        pool([part, constant], weights="precision")


def test_reads_as_a_paired_bootstrap() -> None:
    """Other intervals and tests, words, JSON, HTML, pickles."""
    result = pool(dict(zip("xyz", results_of([50, 60, 70], [1, 2, 3]), strict=True)))
    low, high = result.interval(0.9, "basic")[:2]
    assert low < result.estimate < high
    assert result.test("greater").pvalue <= result.pvalue
    assert result.summary().startswith("macro average over data sets: difference in mean a - b = ")
    assert result.summary().endswith(
        "(3 independent data sets, 180 rows, 9,999 resamples of each, seeds 1, 2, 3)."
    )
    assert "|procedure:pool|weights:equal|n_data_sets:3|" in result.signature()
    assert "|seed:1,2,3|" in result.signature().replace("%2C", ",")
    assert "n_rows:60" in result.signatures[1]
    assert repr(result).startswith("PooledResult(equal weights, mean: ")
    figures = json.loads(result.to_json())
    assert (figures["data_sets"], figures["seeds"]) == (["x", "y", "z"], [1, 2, 3])
    assert "data sets" in result._repr_html_()
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    assert again.estimate == result.estimate


ONE, OTHER = results_of([20, 30], [1, 2], 99)


@pytest.mark.parametrize(
    "error, message, results, options",
    [
        (TypeError, "`results` is a PairedBootstrapResult; give a list", ONE, {}),
        (ValueError, "`results` is empty", [], {}),
        (TypeError, "`results` has a float for data set 1", [ONE, 0.5], {}),
        (TypeError, "`results` has a RandomizationResult for data set 'x'",
         {"x": fb.approximate_randomization([1, 0], [0, 1])}, {}),
        (TypeError, "`results` is a table by statistic",
         fb.paired_bootstrap({"x": [1, 0], "y": [0, 1]}, {"x": [1, 1], "y": [0, 1]}, rng=0), {}),
        (ValueError, "`results` have different n_resamples: 99 for 0 but 9 for 1",
         [ONE, fb.paired_bootstrap([1, 0, 1], [0, 1, 1], rng=0, n_resamples=9)], {}),
        (ValueError, "`results` have different alternative: 'two-sided' for 0 but 'less' for 1",
         [ONE, fb.paired_bootstrap([1, 0, 1], [0, 1, 1], rng=0, n_resamples=99,
                                   alternative="less")], {}),
        (ValueError, "`results` has n_drawn=5000 of 3 rows for data set 'y', so its replicates are",
         {"x": ONE, "y": fb.paired_bootstrap([1, 0, 1], [0, 1, 1], rng=0, n_resamples=99,
                                             n_drawn=5_000)}, {}),
        (ValueError, "`weights` is 'size'; choose one of equal, rows, precision", [ONE],
         {"weights": "size"}),
        (ValueError, "`weights` has 1 values but there are 2 data sets", [ONE, OTHER],
         {"weights": [1]}),
        (ValueError, "`weights` are [1.0, -1.0]; they must be above 0", [ONE, OTHER],
         {"weights": [1, -1]}),
        (TypeError, "`weights` is of type object; give numbers", [ONE, OTHER], {"weights": {}}),
        (ValueError, "`weights` has lists of different lengths; give an array of numbers",
         [ONE, OTHER], {"weights": [[1], [1, 2]]}),
        (ValueError, "`method` is 'bca'; a pooled effect has one of", [ONE], {"method": "bca"}),
        (ValueError, "`alternative` is 'larger'", [ONE], {"alternative": "larger"}),
        (ValueError, "`confidence_level` is 95", [ONE], {"confidence_level": 95}),
    ],
)  # fmt: skip
def test_refused(
    error: type[Exception], message: str, results: Any, options: dict[str, Any]
) -> None:
    """By name, with the value and what to do."""
    with pytest.raises(error, match=re.escape(message)):
        pool(results, **options)


def test_as_many_drawn_as_there_are() -> None:
    """That `n_drawn` is no other size: pooled, and judged."""
    same = fb.paired_bootstrap(*shares(np.random.default_rng(1), 20), rng=0, n_resamples=99,
                               n_drawn=20)  # fmt: skip
    assert pool([ONE, same]).verdict(1.0, kind="equivalence").passed


def test_notes__of_the_data_sets() -> None:
    """What is said of a data set by itself is said of the mean, with its name."""
    few = [fb.paired_bootstrap([1.0, 2.0], [0.0, 0.0], rng=i, n_resamples=99) for i in range(12)]
    assert pool(few).notes == (
        "only 2 rows: intervals and p-values from so few units are rough [0, 1, 2 and 9 more]",
    )
    gaps = fb.paired_bootstrap(
        [math.nan, *ONE_SCORES], [0.0, *ONE_SCORES[::-1]], nan_policy="omit", rng=0, n_resamples=99
    )
    mixed = pool({"all": ONE, "some": gaps, "few": few[0]})
    assert mixed.notes == (
        "1 row was dropped for a missing value ['some']",
        "only 2 rows: intervals and p-values from so few units are rough ['few']",
    )
    assert json.loads(mixed.to_json())["notes"] == list(mixed.notes)
    assert pool([ONE, OTHER]).notes == ()


def test_notes__not_of_intervals_of_the_data_sets() -> None:
    """That a data set had no BCa interval is nothing to the percentile interval of the mean."""
    part = fb.paired_bootstrap(ONE_SCORES, ONE_SCORES[::-1], rng=0, n_resamples=2, method="bca")
    assert any(note.startswith("BCa is undefined") for note in part.notes)
    assert not any("BCa" in note for note in pool([part, part]).notes)


def test_notes__undefined_replicates() -> None:
    """Of each data set, and of the mean: that needs all of them."""
    rare = np.zeros(30)
    rare[:2] = 1.0
    with pytest.warns(RuntimeWarning, match="undefined"):
        part = fb.paired_bootstrap(
            fb.ratio(ONE_SCORES, rare), fb.ratio(ONE_SCORES, rare + 1.0), rng=0, n_resamples=99
        )
    result = pool({"rare": part, "plain": ONE})
    said = f"{part.n_undefined} of 99 replicates are undefined and left out"
    assert result.notes == (f"{said} ['rare']", said)


ONE_SCORES = (np.arange(30) % 7 < 3).astype(float).tolist()


@pytest.mark.parametrize("gap", [1.0, 0.1])
def test_data_set_without_spread(gap: float) -> None:
    """No formula, no weight by precision and no verdict, and notes that say so; in tenths too.

    Tenths vary by rounding: 1e-17 would have all the precision.
    """
    scores = np.random.default_rng(5).random(30)
    constant = fb.paired_bootstrap(scores + gap, scores, rng=1, n_resamples=99)
    varies = fb.paired_bootstrap(*shares(np.random.default_rng(2), 30), rng=2, n_resamples=99)
    result = pool({"x": varies, "y": constant})
    assert result.standard_errors.tolist() == [varies.standard_error, 0.0]
    for figure in (*result.fixed_effect, *result.random_effects):
        assert math.isnan(figure)
    alike = "all replicates are equal, so they say nothing about the uncertainty"
    first, second = result.notes
    assert first == f"degenerate: {alike} ['y']"
    assert second == (
        "the standard error is 0 or undefined: without its precision fixed_effect and "
        "random_effects are undefined ['y']"
    )
    verdict = result.verdict(10.0, kind="equivalence")
    assert (verdict.passed, verdict.refuted) == (False, False)
    assert verdict.note == f"in data set 'y' {alike}"
    with pytest.raises(ValueError, match=re.escape("data set 'y' has standard error 0")):
        pool({"x": varies, "y": constant}, weights="precision")


def test_data_set_of_one_row__has_no_verdict() -> None:
    """It would add nothing to the spread of the mean, though nobody knows how far it is off."""
    one = fb.paired_bootstrap([0.25], [0.25], rng=0, n_resamples=99)
    verdict = pool([ONE, one]).verdict(10.0, kind="equivalence")
    assert not verdict.passed
    assert verdict.note == "in data set 1 a single row says nothing about the uncertainty"
    assert pool([ONE, OTHER]).verdict(10.0, kind="equivalence").passed


@pytest.mark.parametrize("method", ["bca", "studentized", "exact"])
def test_interval__refuses_what_pool_refuses(method: str) -> None:
    """Rather than advise to ask for it."""
    with pytest.raises(ValueError, match=f"`method` is '{method}'; a pooled effect has one of"):
        pool([ONE, OTHER]).interval(method=method)


@pytest.mark.parametrize("parts", [[0], [0, 1]])
def test_extend__refused(parts: list[int]) -> None:
    """Extended are the results of data sets; the first one's run is not that of the mean."""
    result = pool([(ONE, OTHER)[part] for part in parts])
    with pytest.raises(ValueError, match="this result cannot be extended: those of bootstrap"):
        result.extend(200)


def test_mixed_units_and_statistics() -> None:
    """Have a name for both."""
    grouped = fb.paired_bootstrap(
        fb.accuracy([1, 0, 1, 1], [1, 1, 1, 0]), fb.accuracy([1, 0, 1, 1], [0, 0, 1, 0]),
        groups=[0, 0, 1, 2], rng=0, n_resamples=99,
    )  # fmt: skip
    result = pool([ONE, grouped], weights=[1.0, 3.0])
    assert "|weights:0.25,0.75|" in result.signature().replace("%2C", ",")
    assert (
        "designs of their own"
        in pool(
            [
                ONE,
                fb.paired_bootstrap(
                    [1, 0, 1, 0], [0, 1, 1, 1], strata=[0, 0, 1, 1], rng=0, n_resamples=99
                ),
            ]
        ).summary()
    )
    seeds = pool([ONE, OTHER, *results_of([20] * 6, list(range(3, 9)), 99)]).summary()
    assert "seeds 1, 2, 3, 4, ..., 8)" in seeds
    assert (result.statistic, result.unit) == ("effect", "group")
    assert (result.n_units, result.n_rows) == (23, 24)
