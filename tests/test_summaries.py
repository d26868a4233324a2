"""Sentences for a paper: each names the unit and the design, as a reviewer would ask."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import fastboot as fb
from fastboot import rendering

N = 60
RNG = np.random.default_rng(0)
DATA: dict[str, Any] = {
    "x": RNG.normal(size=N),
    "y": RNG.normal(size=N),
    "w": RNG.random(N),
    "user": np.repeat(np.arange(12), 5),
    "talk": np.repeat(np.arange(30), 2),
    "seed": np.tile(np.arange(5), 12),
    "lang": np.repeat(["de", "en"], 30),
    "site": np.tile(["A", "B"], 30),
    "hole": np.r_[math.nan, RNG.normal(size=N - 1)],
}
FEWER = {name: values[:25] for name, values in DATA.items()}
RUN: Any = {"data": DATA, "rng": 0, "n_resamples": 99}


@pytest.mark.parametrize(
    "options,clause",
    [
        ({}, ""),
        ({"groups": "user"}, "grouped by user, "),
        ({"groups": DATA["user"]}, ""),
        ({"strata": ["lang", "site"]}, "within strata of lang and site, "),
        ({"strata": DATA["lang"]}, "within strata, "),
        ({"groups": "user", "strata": "lang"}, "grouped by user, within strata of lang, "),
        (
            {"groups": "user", "levels": "nested"},
            "grouped by user, rows resampled inside each drawn group, ",
        ),
        (
            {"groups": ["user", "talk"], "levels": "nested"},
            "grouped by user, groups by talk resampled inside each drawn group, ",
        ),
        (
            {"groups": ["user", "seed"], "levels": "crossed"},
            "grouped by user, crossed with 5 groups by seed that are resampled too, ",
        ),
        ({"weights": "w"}, "rows weighted by w, "),
        ({"weights": DATA["w"]}, "rows weighted, "),
        ({"scheme": "bayesian"}, "Dirichlet weights (Bayesian bootstrap), "),
        (
            {"scheme": "poisson", "groups": "user"},
            "grouped by user, independent Poisson counts, ",
        ),
        ({"scheme": "moving", "block_length": 4}, "moving blocks of 4 rows, "),
        (
            {"scheme": "stationary", "block_length": 2.5},
            "stationary blocks of 2.5 rows on average, ",
        ),
        ({"n_drawn": 20}, "20 rows in each resample, which spreads as samples of 20 rows do, "),
        (
            {"n_drawn": 5, "weights": "w"},
            "5 rows in each resample, which spreads as samples of 5 rows do, rows weighted by w, ",
        ),
    ],
)
def test_summary__names_the_design(options: dict[str, Any], clause: str) -> None:
    """Of one statistic and of a difference."""
    units = "12 groups of 60 rows" if "groups" in options else "60 rows"
    result: Any = fb.bootstrap("x", **RUN, **options)
    low, high = result.confidence_interval[:2]
    assert result.summary() == (
        f"mean = {result.estimate:.4g}, 95% percentile bootstrap interval [{low:.4g}, {high:.4g}] "
        f"({units}, {clause}99 resamples, seed 0)."
    )
    assert result.to_dict()["design"] == result.design == clause.removesuffix(", ")
    paired: Any = fb.paired_bootstrap("x", "y", **RUN, **options)
    assert paired.summary().endswith(f" + 1) / (99 + 1) ({units}, {clause}99 resamples, seed 0).")


def test_summary__length_of_blocks_from_the_data() -> None:
    """The length is said, and who chose it."""
    result: Any = fb.bootstrap("x", **RUN, scheme="circular")
    assert (
        "(60 rows, circular blocks of 3 rows, chosen by the data (Politis and White 2004), 99 "
        in (result.summary())
    )


@pytest.mark.parametrize(
    "options,words",
    [
        ({"method": "bca"}, "95% BCa bootstrap interval ["),
        ({"method": "basic", "confidence_level": 0.9}, "90% basic bootstrap interval ["),
        ({"method": "normal"}, "95% normal interval ["),
        ({"method": "studentized"}, "95% studentized bootstrap interval ["),
        ({"alternative": "less"}, "one-sided 95% percentile bootstrap interval (-\N{INFINITY}, "),
    ],
)
def test_summary__names_the_interval(options: dict[str, Any], words: str) -> None:
    """Method, level and sides; an infinite limit is not part of the interval."""
    assert f", {words}" in fb.bootstrap("x", **RUN, **options).summary()


def test_summary__upper_side_open() -> None:
    """A lower limit alone."""
    result: Any = fb.bootstrap("x", **RUN, alternative="greater")
    assert f" [{result.confidence_interval.low:.4g}, \N{INFINITY}) (60 rows, " in result.summary()


def test_summary__interval_given_instead() -> None:
    """The sentence names the method that was used; in a table, where it is another."""
    statistics = {"same": np.full(30, 2.0), "x": np.arange(30.0)}
    table: Any = fb.bootstrap(statistics, rng=0, n_resamples=99, method="bca")
    assert "95% percentile bootstrap interval [2, 2]" in table["same"].summary()
    assert table.summary().startswith("same 2 [2, 2] (percentile); x 14.5 [")
    assert " (95% BCa bootstrap intervals, 30 rows, 99 resamples, seed 0)." in table.summary()


@pytest.mark.parametrize(
    "options,test,fraction",
    [
        ({}, "two-sided paired bootstrap (shift)", "({0} + 1) / (99 + 1)"),
        ({"alternative": "greater"}, "one-sided (a > b) paired bootstrap (shift)",
         "({0} + 1) / (99 + 1)"),
        ({"alternative": "less", "add_one": False}, "one-sided (a < b) paired bootstrap (shift)",
         "{0} / 99"),
    ],
)  # fmt: skip
def test_summary__names_the_rule_of_p(options: dict[str, Any], test: str, fraction: str) -> None:
    """The counts that a p-value is made of, and the side it looks at."""
    result: Any = fb.paired_bootstrap("x", "y", **RUN, **options)
    counted = fraction.format(result.n_extreme)
    assert f", {test} p = {result.pvalue:.3g}, {counted} (60 rows, " in result.summary()
    assert result.pvalue == eval(counted)  # noqa: S307 - our own sentence


def test_summary__randomization() -> None:
    """Swaps, random or all; the interval comes from the null."""
    sampled: Any = fb.approximate_randomization("x", "y", **RUN)
    assert ", 95% normal interval with the standard error under the null [" in sampled.summary()
    assert sampled.summary().endswith(" + 1) / (99 + 1) (60 rows, 99 random swaps, seed 0).")
    exact: Any = fb.approximate_randomization("x", "y", data=DATA, groups="user", rng=0)
    assert exact.summary().endswith(
        f", two-sided exact randomization p = {exact.pvalue:.3g}, {exact.n_extreme:,} / 4,096 "
        "(12 groups of 60 rows, grouped by user, all 4,096 swaps)."
    )


def test_summary__two_samples() -> None:
    """Both sizes, in units and rows; columns that are called by two names."""
    both: Any = {"data": (DATA, FEWER), "rng": 0, "n_resamples": 99}
    rows: Any = fb.permutation_test("x", "x", **both, strata="site")
    assert rows.summary().endswith(
        " (60 rows of a and 25 of b, within strata of site, 99 random relabellings, seed 0)."
    )
    groups: Any = fb.unpaired_bootstrap("x", "x", **both, groups=("user", "talk"), weights="w")
    assert groups.summary().endswith(
        " (12 groups (60 rows) of a and 13 (25 rows) of b, grouped by (user, talk), rows weighted "
        "by w, 99 resamples, seed 0)."
    )
    crossed: Any = fb.unpaired_bootstrap(
        "x", "x", **both, groups=["user", "seed"], levels="crossed", method="percentile"
    )
    assert ", crossed with groups by seed that are resampled too, 99 " in crossed.summary()


def test_summary__what_is_left_out() -> None:
    """Rows with missing values and undefined replicates are counted."""
    dropped: Any = fb.bootstrap("hole", **RUN, nan_policy="omit")
    assert dropped.summary().endswith(
        " (59 rows, 99 resamples, seed 0, 1 row with a missing value dropped)."
    )
    with pytest.warns(RuntimeWarning, match="undefined"):
        result: Any = fb.bootstrap(fb.ratio([1, 1, 1], [0, 0, 1]), rng=0, n_resamples=99)
    assert result.summary().endswith(
        f" (3 rows, 99 resamples, seed 0, {result.n_undefined} undefined replicates left out)."
    )


def test_summary__undefined() -> None:
    """An undefined value has no interval and no p-value."""
    result: Any = fb.bootstrap([1.0, math.nan], nan_policy="propagate", rng=0, n_resamples=9)
    assert result.summary() == (
        "mean is undefined (2 rows, 9 resamples, seed 0, 9 undefined replicates left out)."
    )


def test_summary__slices_of_groups() -> None:
    """Units of each slice and of all rows; that slices are apart; tests that are not adjusted."""
    table: Any = fb.paired_bootstrap("x", "y", **RUN, by="site", groups="user")
    one = table["A"]
    low, high = one.confidence_interval[:2]
    assert table.summary().startswith(
        f"mean (site A, 12 groups of 30 rows) {one.estimate:.4g} [{low:.4g}, {high:.4g}], "
        f"p = {one.pvalue:.3g}; mean (site B, 12 groups of 30 rows) "
    )
    assert "; all rows (12 groups of 60 rows): mean " in table.summary()
    assert table.summary().endswith(
        " (differences a - b, 95% percentile bootstrap intervals, two-sided paired bootstrap "
        "(shift) p = (n_extreme + 1) / (n_resamples + 1), not adjusted for 2 tests, each slice "
        "resampled on its own, grouped by user, 99 resamples, seed 0)."
    )


def test_summary__slices_sampled_and_all_rows_enumerated() -> None:
    """Where all rows are enumerated but slices are not, both are said."""
    table: Any = fb.approximate_randomization("x", "y", data=DATA, by="site", groups="user", rng=0)
    assert "; all rows (exact, 12 groups of 60 rows): mean " in table.summary()
    assert " approximate randomization p = (n_extreme + 1) / (n_resamples + 1)" in table.summary()
    assert table.summary().endswith(" grouped by user, 9,999 random swaps, seed 0).")


@pytest.mark.parametrize(
    "value,width,shown",
    [
        (1_000_000.123, 0.4, "1,000,000.12"),
        (1_000_000.123, math.nan, "1,000,000"),
        (1_000_000.123, 3.0, "1,000,000.1"),
        (1_000_000.123, 300.0, "1,000,000"),
        (-12.34567, 0.05, "-12.346"),
        (12.34567, 20.0, "12.35"),
        (1e9 + 0.25, 0.5, "1,000,000,000.25"),
        (1.23456789e-5, 1e-8, "1.2346e-05"),
        (1.23456789e-5, 1e-5, "1.235e-05"),
        (0.1 + 0.2, 6e-17, "0.3"),  # rounding, no width
        (5.0, 0.0, "5"),
        (0.0, 0.1, "0"),
        (math.inf, 0.1, "inf"),
    ],
)
def test_short__width(value: float, width: float, shown: str) -> None:
    """Four digits, or two of the width of the interval beside the value."""
    assert rendering.short(value, width) == shown


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9, -1e7])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_summaries__digits_follow_the_interval(offset: float, alternative: str) -> None:
    """Limits read back from the sentence are right to a tenth of the width, whatever the offset."""
    x = np.random.default_rng(3).normal(size=60) + offset
    options: dict[str, Any] = {"rng": 0, "n_resamples": 199, "alternative": alternative}
    one, test = fb.bootstrap(x, **options), fb.paired_t_test(x, **options)
    board = fb.compare({"a": x, "b": x - 1.0}, rng=0, n_resamples=199)
    low, high = board.systems.to_columns()["low"][0], board.systems.to_columns()["high"][0]
    for words, estimate, limits in (
        (one.summary(), one.estimate, one.confidence_interval[:2]),
        (repr(one), one.estimate, one.confidence_interval[:2]),
        (test.summary(), test.estimate, test.confidence_interval[:2]),
        (board.summary(), board.board().estimates[0], (low, high)),
    ):
        finite = [limit for limit in limits if math.isfinite(limit)]
        width = max(finite) - min(finite) if len(finite) == 2 else abs(finite[0] - estimate)
        read = [
            float(found.replace(",", ""))
            for found in re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?=[^\d])", words)
        ]
        for value in (estimate, *finite):
            assert min(abs(value - one) for one in read) <= width / 20.0
