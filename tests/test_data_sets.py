"""P-values over many data sets: combined, and counted, against closed forms and simulations."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statistical import assert_rate

import fastboot as fb
from fastboot.leaderboards.data_sets import combine_pvalues, replicability
from fastboot.pvalues import LEAST_PVALUE

# Dror et al., README of rtmdrr/replicability-analysis-NLP (commit 03167be): at level 0.05 the
# count is 1 by Bonferroni and 2 by Fisher, and Holm names the sixth.
DROR = [0.168, 0.297, 0.357, 0.019, 0.218, 0.001]
# A few logarithms, sums and one special function.
ROUNDING = 1e-13
pvalues = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=8)


def near(expected: Any) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=ROUNDING, abs=0.0)


# Combined


def test_fisher__two_data_sets_have_a_closed_form() -> None:
    """P(product of two uniforms <= x) is x (1 - log x)."""
    product = 0.08 * 0.3
    result = combine_pvalues([0.08, 0.3])
    assert near(product * (1.0 - math.log(product))) == result.pvalue
    assert near(-2.0 * math.log(product)) == result.statistic


def test_stouffer__is_the_weighted_mean_of_normal_quantiles() -> None:
    """With the weights of sums, the test of the sum."""
    weights = np.array([2.0, 1.0, 3.0])
    z = weights @ stats.norm.isf([0.01, 0.2, 0.6]) / math.sqrt(weights @ weights)
    result = combine_pvalues([0.01, 0.2, 0.6], method="stouffer", weights=weights.tolist())
    assert near(z) == result.statistic
    assert near(stats.norm.sf(z)) == result.pvalue


@pytest.mark.parametrize("method", ["fisher", "stouffer"])
def test_combine__one_data_set_keeps_its_pvalue(method: str) -> None:
    """Nothing is combined."""
    assert pytest.approx(0.0321, rel=1e-12) == combine_pvalues([0.0321], method=method).pvalue


@given(pvalues)
def test_combine__order_does_not_matter_and_p_is_never_0(values: list[float]) -> None:
    """And p is at most 1."""
    for method in ("fisher", "stouffer"):
        result = combine_pvalues(values, method=method)
        assert 0.0 < result.pvalue <= 1.0
        turned = combine_pvalues(values[::-1], method=method).pvalue
        assert pytest.approx(result.pvalue, rel=1e-9) == turned


def test_combine__what_underflows_is_not_0() -> None:
    """The product of a thousand p-values of 1e-300 is no number of float64."""
    combined = combine_pvalues([1e-300] * 1_000)
    assert combined.pvalue == LEAST_PVALUE
    assert "p < 2.23e-308 (chi-squared = " in combined.summary()
    assert "p < 2.23e-308, n_data_sets=1,000" in repr(combined)
    stouffer = combine_pvalues([1e-300] * 1_000, method="stouffer")
    assert stouffer.pvalue == LEAST_PVALUE
    counted = replicability([1e-300] * 1_000, method="fisher")
    assert counted.partial_conjunction[0] == LEAST_PVALUE


def test_combine__results_whose_pvalue_has_no_number() -> None:
    """They have the least there is: not 0, so they are taken."""
    sure, other = fb.mcnemar([1] * 1_200, [0] * 1_200), fb.mcnemar([1, 1, 0], [0, 0, 1])
    result = combine_pvalues([sure, other])
    assert result.pvalues.tolist() == [LEAST_PVALUE, other.pvalue]
    assert 0.0 < result.pvalue < 1e-300
    assert replicability([sure, other]).found == (0,)


def test_zero__what_to_do_is_said_of_what_was_given() -> None:
    """Only resamples can be counted with one more."""
    counted = fb.paired_bootstrap([5.0, 6.0, 7.0], [0.0, 0.1, 0.2], add_one=False, rng=0)
    assert counted.pvalue == 0.0
    start = r"^`pvalues` has 0 for data set 0; no test can show that: "
    with pytest.raises(ValueError, match=rf"{start}count the .* \(add_one=True\)$"):
        combine_pvalues([counted])
    with pytest.raises(ValueError, match=rf"{start}give the smallest that is possible$"):
        combine_pvalues([0.0])


def test_combine__a_pvalue_of_1() -> None:
    """Fisher's takes it as no evidence, Stouffer's as evidence against, and says so."""
    assert near(combine_pvalues([0.01, 1.0]).pvalue) == 0.01 * (1.0 - math.log(0.01))
    result = combine_pvalues([0.01, 1.0], method="stouffer")
    assert result.pvalue == 1.0
    assert result.notes == (
        "Stouffer's p is 1 because a data set has p = 1, whatever the others say",
    )


def test_combine__results_and_tables_of_slices() -> None:
    """Their p-values, by their names; the side is known."""
    data = {"a": [1, 1, 0, 1, 1, 0, 1, 1], "b": [0, 1, 0, 0, 1, 0, 1, 0], "set": list("xxxxyyyy")}
    table = fb.paired_bootstrap("a", "b", data=data, by="set", alternative="greater", rng=0)
    result = combine_pvalues(table, method="stouffer")
    assert result.data_sets == ("x", "y")
    assert result.pvalues.tolist() == [table["x"].pvalue, table["y"].pvalue]
    assert result.alternative == "greater"
    assert result.pvalue == combine_pvalues(list(table.values()), method="stouffer").pvalue
    assert "the greater p-values of 2 independent data sets" in result.summary()


def test_combine__fisher_notes_that_two_sided_results_do_not_say_the_side() -> None:
    """Effects of opposite signs add up."""
    results = [fb.paired_bootstrap([1, 1, 0, 1], [0, 1, 0, 0], rng=seed) for seed in (0, 1)]
    assert "opposite signs" in combine_pvalues(results).notes[0]


def test_combine__nan() -> None:
    """Is refused, dropped with its weight, or makes the answer NaN."""
    values = [0.01, math.nan, 0.2]
    dropped = combine_pvalues(values, method="stouffer", weights=[1, 9, 2], nan_policy="omit")
    kept = combine_pvalues([0.01, 0.2], method="stouffer", weights=[1, 2])
    assert dropped.pvalue == kept.pvalue
    assert (dropped.n_dropped, dropped.data_sets) == (1, (0, 2))
    assert dropped.notes == ("1 data set dropped, p undefined",)
    assert math.isnan(combine_pvalues(values, nan_policy="propagate").pvalue)
    assert "p undefined" in combine_pvalues(values, nan_policy="propagate").summary()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fisher", "stouffer"])
def test_combine__level_under_the_null(method: str) -> None:
    """Of 20,000 sets of five uniform p-values, 5 % are significant (false failure 1e-6)."""
    rng = np.random.default_rng(41)
    found = [combine_pvalues(one, method=method).pvalue for one in rng.random((20_000, 5))]
    count = int(np.count_nonzero(np.array(found) <= 0.05))
    assert_rate(count, 20_000, 0.05, detects=0.015)


# Counted


def test_replicability__published_example() -> None:
    """Counts 1 and 2, and the sixth data set by name."""
    bonferroni, fisher = replicability(DROR), replicability(DROR, method="fisher")
    assert (bonferroni.n_replicated, fisher.n_replicated) == (1, 2)
    assert bonferroni.found == fisher.found == (5,)


@given(pvalues, st.sampled_from(["bonferroni", "fisher"]))
def test_replicability__partial_conjunctions_by_definition(
    values: list[float], method: str
) -> None:
    """Each combines the n - u + 1 largest p-values, made to rise."""
    n, largest, highest = len(values), sorted(values), 0.0
    expected = []
    for u in range(1, n + 1):
        rest = largest[u - 1 :]
        p = len(rest) * rest[0] if method == "bonferroni" else combine_pvalues(rest).pvalue
        highest = max(highest, min(p, 1.0))
        expected.append(highest)
    result = replicability(values, method=method)
    assert pytest.approx(expected, rel=1e-9) == result.partial_conjunction.tolist()
    assert result.n_replicated == sum(p <= 0.05 for p in result.partial_conjunction)


@given(pvalues)
def test_replicability__bonferroni_counts_what_holm_finds(values: list[float]) -> None:
    """Which are those with the smallest p-values."""
    result = replicability(values)
    assert len(result.found) == result.n_replicated
    assert sorted(values)[: result.n_replicated] == sorted(values[place] for place in result.found)


def test_replicability__holm_by_hand() -> None:
    """0.01 x 3, 0.02 x 2, and 0.9 x 1; order and names kept."""
    result = replicability({"x": 0.9, "y": 0.01, "z": 0.02})
    assert near([0.9, 0.03, 0.04]) == result.holm.tolist()
    assert result.found == ("y", "z")


def test_replicability__nan_is_dropped() -> None:
    """As if it had not been asked for."""
    result = replicability([*DROR, math.nan], nan_policy="omit")
    assert result.partial_conjunction.tolist() == replicability(DROR).partial_conjunction.tolist()
    assert result.notes == ("1 data set dropped, p undefined",)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bonferroni", "fisher"])
def test_replicability__rarely_counts_too_many(method: str) -> None:
    """Two of five have an effect, as strong as can be: a third is counted in at most 5 %.

    Then the partial conjunction of three is one of three uniform p-values, exact for "fisher", and
    1 - (1 - 0.05 / 3)^3 for "bonferroni" (20,000 sets, false failure 1e-6).
    """
    rng = np.random.default_rng(42)
    null = rng.random((20_000, 3))
    too_many = sum(
        replicability([1e-12, 1e-12, *one], method=method).n_replicated > 2 for one in null
    )
    rate = 0.05 if method == "fisher" else 1.0 - (1.0 - 0.05 / 3.0) ** 3
    assert_rate(too_many, 20_000, rate, detects=0.015)


# Both


@pytest.mark.parametrize("result", [combine_pvalues(DROR), replicability(DROR)])
def test_results__for_machines_and_notebooks(result: Any) -> None:
    """Strict JSON, HTML, and one line."""
    figures = json.loads(result.to_json())
    assert figures["kind"] == type(result).__name__
    assert figures["pvalues"] == DROR
    assert "n data sets" in result._repr_html_()
    assert "\n" not in repr(result)
    with pytest.raises(ValueError, match="read-only"):
        result.pvalues[0] = 1.0


def test_summaries__say_what_was_done() -> None:
    """Method, number of data sets and assumption."""
    assert replicability(DROR, method="fisher").summary() == (
        "With 95% confidence the effect is real on at least 2 of 6 data sets (partial conjunction, "
        "Fisher, independent data sets); Holm's procedure at level 0.05 finds 5."
    )
    assert combine_pvalues(DROR, method="stouffer").summary() == (
        "Stouffer's combination of the p-values of 6 independent data sets: p = 0.00072 (z = 3.187,"
        " equal weights)."
    )
    assert repr(combine_pvalues(DROR)) == "CombinedPValue(fisher: p = 0.00102, n_data_sets=6)"
    assert repr(replicability(DROR)) == "Replicability(at least 1 of 6, bonferroni, alpha=0.05)"


def test_combine__signature() -> None:
    """The line has the p-values and names every setting; what differs in one has another."""

    def signed(values: Any = (0.1, 0.2), **options: Any) -> str:
        return combine_pvalues(values, **options).signature()

    start = f"fastboot:{fb.__version__}|procedure:combine_pvalues"
    assert signed({"news": 0.1, "1": 0.2}, method="stouffer", weights=[1, 2]) == (
        f"{start}|data_sets:[news,'1']|pvalues:[0.1,0.2]|weights:[1.0,2.0]|method:stouffer|"
        "n_data_sets:2"
    )
    assert signed([TWO_SIDED, TWO_SIDED]) == (
        f"{start}|data_sets:[0,1]|pvalues:[{TWO_SIDED.pvalue},{TWO_SIDED.pvalue}]|method:fisher|"
        "alternative:two-sided|n_data_sets:2"
    )
    dropped = signed([0.1, math.nan], nan_policy="omit")
    assert dropped.endswith("|method:fisher|n_data_sets:1|nan_policy:omit|n_dropped:1")
    equal = signed(method="stouffer", weights=[3, 3])
    assert "|weights:equal|" in equal
    assert equal == signed(method="stouffer")
    different = [
        signed(), signed((0.2, 0.1)), signed({"x": 0.1, "y": 0.2}), equal, dropped, signed([0.1]),
        signed(method="stouffer", weights=[1, 2]), signed(method="stouffer", weights=[2, 1]),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


def test_replicability__signature() -> None:
    """The line has the p-values and names every setting; what differs in one has another."""

    def signed(values: Any = (0.1, 0.2), **options: Any) -> str:
        return replicability(values, **options).signature()

    assert signed({"news": 0.1, "web": 0.2}, alpha=0.1, method="fisher") == (
        f"fastboot:{fb.__version__}|procedure:replicability|data_sets:[news,web]|"
        "pvalues:[0.1,0.2]|method:fisher|alpha:0.1|n_data_sets:2"
    )
    dropped = signed([0.1, math.nan], nan_policy="omit")
    assert dropped.endswith("|n_data_sets:1|nan_policy:omit|n_dropped:1")
    different = [
        signed(), signed((0.2, 0.1)), signed({"x": 0.1, "y": 0.2}), signed(alpha=0.1),
        signed(method="fisher"), dropped, signed([0.1]),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


@pytest.mark.parametrize("function", [combine_pvalues, replicability])
def test_names__of_several_parts(function: Any) -> None:
    """Data sets named by tuples, as slices by two columns are, or by dates, keep their names."""
    values = {("news", 1): 0.001, ("news", 2): 0.5, dt.date(2026, 1, 2): 0.5}
    result = function(values)

    assert result.data_sets == tuple(values)
    assert "data_sets:[\"('news', 1)\",\"('news', 2)\",'2026-01-02']|" in result.signature()


@pytest.mark.parametrize("function", [combine_pvalues, replicability])
def test_names__are_plain_values(function: Any) -> None:
    """As JSON takes them, whatever NumPy made of them."""
    names = [np.int64(3), np.str_("x"), np.bool_(True), np.float32(0.5), (np.int64(1), "y")]
    result = function(dict.fromkeys(names, 0.01))

    assert [type(name) for name in result.data_sets] == [int, str, bool, float, tuple]
    figures = json.loads(json.dumps(result.to_dict()))
    assert figures["data_sets"] == [3, "x", True, 0.5, [1, "y"]]


@pytest.mark.parametrize(
    "make",
    [np.array, pa.array, lambda values: pa.chunked_array([values[:1], values[1:]]), pl.Series,
     pd.Series, lambda values: pd.Series(values, dtype="Float64"), tuple,
     lambda values: [pa.scalar(value) for value in values], np.ma.array],
)  # fmt: skip
@pytest.mark.parametrize("function", [combine_pvalues, replicability])
def test_sources__are_the_same(function: Any, make: Any) -> None:
    """Arrays of all kinds, as a list."""
    values = [0.01, 0.2, 0.04]
    assert function(make(values)).to_dict() == function(values).to_dict()


@pytest.mark.parametrize(
    "values",
    [pa.array([0.01, None, 0.2]), pl.Series([0.01, None, 0.2]), [0.01, None, 0.2],
     pd.Series([0.01, None, 0.2], dtype="Float64"), pd.Series([0.01, None, 0.2]),
     np.ma.array([0.01, 0.5, 0.2], mask=[False, True, False])],
)  # fmt: skip
def test_sources__what_is_missing(values: Any) -> None:
    """A null is as NaN."""
    assert combine_pvalues(values, nan_policy="omit").data_sets == (0, 2)
    with pytest.raises(ValueError, match=r"`pvalues` has NaN for 1 data set \(first 1\)"):
        combine_pvalues(values)


def test_names__of_an_index() -> None:
    """That of a pandas Series, of numbers or of results, also where it is of numbers."""
    assert replicability(pd.Series([0.01, 0.2], index=["x", "y"])).found == ("x",)
    assert combine_pvalues(pd.Series([0.01, 0.2, 0.4])[1:]).data_sets == (1, 2)
    two = pd.MultiIndex.from_product([["x"], [1, 2]])
    assert combine_pvalues(pd.Series([0.01, 0.2], index=two)).data_sets == (("x", 1), ("x", 2))
    results = combine_pvalues(pd.Series([ONE_SIDED, ONE_SIDED], index=["x", "y"]))
    assert (results.data_sets, results.alternative) == (("x", "y"), "greater")
    with pytest.raises(ValueError, match="`pvalues` has 'x' twice; give every data set a name of"):
        combine_pvalues(pd.Series([0.01, 0.2], index=["x", "x"]))


@pytest.mark.parametrize("method", ["bonferroni", "fisher"])
@pytest.mark.parametrize(
    "n, p, alpha",
    [(3, 0.05, 0.15), (1, 0.05, 0.05), (7, 0.01, 0.07), (3, 0.1, 0.3), (3, 5e-20, 15e-20)],
)
def test_replicability__at_the_level(n: int, p: float, alpha: float, method: str) -> None:
    """What is alpha in decimals is not above it, as it is in binary; a little more is."""
    assert Fraction(repr(p)) * n == Fraction(repr(alpha))
    assert replicability([p] * n, alpha=alpha).n_replicated == n
    assert replicability([p] * n, alpha=alpha).found == tuple(range(n))
    more = p * (1.0 + 1e-14)
    assert replicability([more] * n, alpha=alpha).found == ()
    assert replicability([p], alpha=p, method=method).n_replicated == 1


ONE_SIDED = fb.paired_bootstrap([1, 0, 1], [0, 0, 1], alternative="greater", rng=0)
TWO_SIDED = fb.paired_bootstrap([1, 0, 1], [0, 0, 1], rng=0)


@pytest.mark.parametrize("function", [combine_pvalues, replicability])
@pytest.mark.parametrize(
    "error, message, values, options",
    [
        (TypeError, "`pvalues` is a float; give a sequence or a mapping", 0.1, {}),
        (ValueError, "`pvalues` is empty; give one for each data set", [], {}),
        (TypeError, "`pvalues` has 'x' for data set 0; give p-values", ["x"], {}),
        (ValueError, "`pvalues` has 0 for data set 'x'; no test can show that", {"x": 0.0}, {}),
        (ValueError, "`pvalues` has 1.5 for data set 0; a p-value lies", [1.5], {}),
        (ValueError, '`pvalues` has NaN for 1 data set (first 1); pass nan_policy="omit"',
         [0.1, math.nan], {}),
        (ValueError, "`pvalues` are all NaN; no data set is left", [math.nan],
         {"nan_policy": "omit"}),
        (ValueError, "`nan_policy` is 'drop'; choose raise", [0.1], {"nan_policy": "drop"}),
        (ValueError, "`method` is 'simes'; choose one of", [0.1], {"method": "simes"}),
        (ValueError, "`pvalues` are of different alternatives, greater, two-sided",
         [ONE_SIDED, TWO_SIDED], {}),
    ],
)  # fmt: skip
def test_refused(
    function: Any, error: type[Exception], message: str, values: Any, options: dict[str, Any]
) -> None:
    """By name, with the value and what to do."""
    with pytest.raises(error, match=re.escape(message)):
        function(values, **options)


@pytest.mark.parametrize(
    "message, options",
    [
        ("`weights` are given but Fisher's method has none", {"weights": [1, 1]}),
        ("`weights` has 1 values but `pvalues` 2", {"weights": [1], "method": "stouffer"}),
        ("`weights` has lists of diff", {"weights": [[1], [1, 2]], "method": "stouffer"}),
        ("`weights` are [1.0, 0.0]; they must be", {"weights": [1, 0], "method": "stouffer"}),
    ],
)
def test_combine__refused(message: str, options: dict[str, Any]) -> None:
    """Weights that do not fit."""
    with pytest.raises(ValueError, match=re.escape(message)):
        combine_pvalues([0.1, 0.2], **options)


@pytest.mark.parametrize("weights", [["x", "y"], {"x": 1}, [None, "x"]])
def test_weights__no_numbers(weights: Any) -> None:
    """Not in NumPy's words."""
    with pytest.raises(TypeError, match=r"^`weights` is of type (<U1|object); give numbers$"):
        combine_pvalues([0.1, 0.2], method="stouffer", weights=weights)


def test_stouffer__refuses_two_sided_results() -> None:
    """They do not say the side."""
    with pytest.raises(ValueError, match="Stouffer's method needs one-sided ones"):
        combine_pvalues([TWO_SIDED], method="stouffer")


def test_replicability__refused() -> None:
    """Level and policy."""
    with pytest.raises(ValueError, match="`alpha` is 5; it must lie between 0 and 1"):
        replicability(DROR, alpha=5)
    for alpha in ("x", None, True):
        with pytest.raises(TypeError, match=f"`alpha` is {alpha!r}; it must be a number"):
            replicability(DROR, alpha=alpha)  # type: ignore[arg-type] # as wrong
    with pytest.raises(ValueError, match="`nan_policy` is 'propagate', but a count has no NaN"):
        replicability(DROR, nan_policy="propagate")


def test_every_small_case__counts_are_monotone_in_alpha() -> None:
    """A larger level never counts fewer."""
    for values in itertools.product([0.001, 0.02, 0.4], repeat=3):
        for method in ("bonferroni", "fisher"):
            counts = [
                replicability(values, alpha=alpha, method=method).n_replicated
                for alpha in (0.01, 0.05, 0.2)
            ]
            assert counts == sorted(counts)
