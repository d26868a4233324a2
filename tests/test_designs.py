"""Designs draw the rows that the reference draws: strata, slices, levels and further schemes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import drawn
import numpy as np
import pytest
from drawn import CASES, SEED, Part, Table, assert_replicates, parts_of
from enumeration import assert_standard_error
from scipy import stats
from statistical import assert_rate

import fastboot as fb
from fastboot import reference

if TYPE_CHECKING:
    from drawn import Drawn
    from numpy.typing import NDArray

N_RESAMPLES = 4
undefined = pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")
every_case = pytest.mark.parametrize("case", CASES)

# Rows, and groups of rows, of each stratum: one unit; few; both sides of 256, where paths change.
STRATA = {"a": (1, 1), "b": (2, 2), "c": (60, 9), "d": (256, 60), "e": (257, 257), "f": (700, 300)}


@pytest.fixture(scope="module")
def table() -> Table:
    """Whole numbers and labels of two systems, in no order; some slices lack some strata."""
    rng = np.random.default_rng(2_025)
    strata, groups = [], []
    for stratum, (n_rows, n_groups) in STRATA.items():
        strata += [stratum] * n_rows
        extra = rng.integers(0, n_groups, n_rows - n_groups).tolist()
        groups += [f"{stratum}{unit:03}" for unit in [*range(n_groups), *extra]]
    order = rng.permutation(len(strata)).tolist()
    n = len(order)
    gold = rng.choice(["x", "y", "z"], n, p=[0.6, 0.37, 0.03])
    labels = [np.where(rng.random(n) < 0.7, gold, rng.choice(["x", "y", "z"], n)) for _ in "ab"]
    domains = np.where(np.array([strata[i] for i in order]) == "f", "web", "mail")
    return {
        "score_a": rng.integers(-80, 81, n).tolist(),
        "score_b": rng.integers(-80, 81, n).tolist(),
        "size": rng.integers(1, 9, n).tolist(),
        "one": [1] * n,
        "gold": gold.tolist(),
        "label_a": labels[0].tolist(),
        "label_b": labels[1].tolist(),
        "relevant": rng.integers(0, 2, n).tolist(),
        "stratum": [strata[i] for i in order],
        "document": [groups[i] for i in order],
        "domain": domains.tolist(),
        "lang": rng.choice(["de", "en", "fi"], n, p=[0.3, 0.69, 0.01]).tolist(),
        "factor": rng.integers(0, 5, n).tolist(),
        "weight": rng.integers(0, 4, n).tolist(),
    }  # fmt: skip


def columns(table: Table, design: dict[str, Any]) -> dict[str, Any]:
    """Keys of the rows, tuples where a design names several columns."""
    found: dict[str, Any] = {}
    for name, asked in design.items():
        several = [asked] if isinstance(asked, str) else asked
        keys = list(zip(*(table[column] for column in several), strict=True))
        found[name] = [key[0] for key in keys] if len(several) == 1 else keys
    return found


def parts(table: Table, design: dict[str, Any], *, whole: bool = False) -> list[Part]:
    """Parts of a design, without its slices for the whole table."""
    keys = columns(table, design)
    if whole:
        keys.pop("by", None)
    return parts_of(len(table["gold"]), **keys)


def values(
    table: Table, case: str, cells: list[dict[Any, Drawn]], system: str = "a"
) -> dict[Any, list[Any]]:
    """Values of the replicates of each slice."""
    value = CASES[case].value
    return {key: [value(table, system, cell[key]) for cell in cells] for key in cells[0]}


def same(x: Any, y: Any) -> None:
    """Two results agree to the last bit."""
    np.testing.assert_array_equal(x.replicates, y.replicates)
    left, right = x.to_dict(), y.to_dict()
    for figures in (left, right):
        for name in ("elapsed", "design", "signature"):  # two calls may ask for one thing
            del figures[name]
    np.testing.assert_equal(left, right)


# Strata, slices and groups

PLAIN: dict[str, dict[str, Any]] = {
    "strata": {"strata": "stratum"},
    "strata, groups": {"strata": "stratum", "groups": "document"},
    "two columns of strata": {"strata": ["stratum", "lang"]},
    "by": {"by": "lang"},
    "by, groups": {"by": "lang", "groups": "document"},
    "by, strata": {"by": "lang", "strata": "stratum"},
    "by, strata, groups": {"by": "domain", "strata": "stratum", "groups": "document"},
    "by two columns": {"by": ("domain", "lang"), "strata": "stratum"},
}
every_plain_design = pytest.mark.parametrize("design", PLAIN)


@undefined
@every_case
@every_plain_design
def test_plain(table: Table, design: str, case: str) -> None:
    """Every replicate of every slice, and of all rows together, is the reference's."""
    options = PLAIN[design]
    found: Any = fb.bootstrap(
        CASES[case].make("a"), data=table, rng=SEED, n_resamples=N_RESAMPLES, **options
    )
    terms = CASES[case].terms

    def check(result: Any, found_parts: list[Part]) -> None:
        value = None if terms is None else lambda row: terms(table, "a", row)
        per_class = CASES[case].per_class
        cells = [drawn.plain(found_parts, r, value, per_class) for r in range(N_RESAMPLES)]
        expectations = values(table, case, cells)
        if case == "median" and len(found_parts) == 1 and "groups" not in options:
            expectations = {None: [drawn.median_of_rows(table, "a", r) for r in range(N_RESAMPLES)]}
        for key, expected in expectations.items():
            one = result if key is None else result[key]
            assert_replicates(one, expected, exact=CASES[case].exact)
            assert one.n_units == sum(len(p.units) for p in found_parts if p.cell == key)
            assert one.n_rows == sum(len(u) for p in found_parts if p.cell == key for u in p.units)
            observed = [(r, 1) for p in found_parts if p.cell == key for u in p.units for r in u]
            estimate = CASES[case].value(table, "a", observed)
            assert np.isnan(one.estimate) if estimate is None else (
                abs(one.estimate - float(estimate)) <= one.rounding
            )  # fmt: skip

    check(found, parts(table, options))
    if "by" in options:
        check(found.total, parts(table, options, whole=True))
        without = {name: asked for name, asked in options.items() if name != "by"}
        same(
            found.total,
            fb.bootstrap(
                CASES[case].make("a"), data=table, rng=SEED, n_resamples=N_RESAMPLES, **without
            ),
        )


def test_many_tiny_strata() -> None:
    """A thousand strata of five rows."""
    rng = np.random.default_rng(3)
    scores, strata = rng.integers(-80, 81, 5_000).tolist(), (np.arange(5_000) % 1_000).tolist()
    result = fb.bootstrap(scores, strata=strata, rng=SEED, n_resamples=3)
    found = parts_of(5_000, strata=strata)
    one: Table = {"score_a": scores, "one": [1] * 5_000}
    expected = [drawn.mean(one, "a", drawn.plain(found, r)[None]) for r in range(3)]
    assert_replicates(result, expected, exact=True)


def test_strata_that_collapse() -> None:
    """Each stratum takes its own path: equal rows are counted, rows or patterns drawn."""
    rng = np.random.default_rng(4)
    strata = ["counted"] * 1_000 + ["rows"] * 150 + ["patterns"] * 400
    scores = [*rng.integers(0, 2, 1_150).tolist(), *range(400)]
    result = fb.bootstrap(scores, strata=strata, rng=SEED, n_resamples=20)
    found = parts_of(len(scores), strata=strata)
    table: Table = {"score_a": scores, "one": [1] * len(scores)}
    expected = [
        drawn.mean(table, "a", drawn.plain(found, r, scores.__getitem__)[None]) for r in range(20)
    ]
    assert result.path == "collapse+patterns+rows"
    assert_replicates(result, expected, exact=True)


@pytest.mark.parametrize("path", ["collapse", "rows", "patterns", "weights"])
def test_path_of_strata(table: Table, path: Any) -> None:
    """A forced path is that of every stratum."""
    result = fb.bootstrap(
        "score_a", data=table, strata="stratum", rng=SEED, n_resamples=4, path=path
    )
    found = parts(table, {"strata": "stratum"})
    expected = []
    for r in range(4):
        rows = []
        for part, seed in zip(found, drawn.seeds(len(found)), strict=True):
            own = [unit[0] for unit in part.units]
            scores = [table["score_a"][row] for row in own]
            rows += [own[i] for i in reference.bootstrap_rows(len(own), seed, r, path, scores)]
        expected.append(drawn.mean(table, "a", drawn.once(rows)))
    assert result.path == path
    assert_replicates(result, expected, exact=True)


@every_case
@pytest.mark.parametrize("argument", ["strata", "by"])
def test_one_part_is_no_part(table: Table, case: str, argument: str) -> None:
    """One stratum is no strata, and one slice is the table."""
    make = CASES[case].make("a")
    options: dict[str, Any] = {"data": table, "rng": 5, "n_resamples": 50}
    without = fb.bootstrap(make, **options)
    one: Any = fb.bootstrap(make, **options | {argument: "one"})
    if argument == "strata":
        same(without, one)
    else:
        assert list(one) == [1]
        same(without, one.total)
        np.testing.assert_array_equal(one[1].replicates, without.replicates)


# Two systems


@undefined
@every_case
@pytest.mark.parametrize("design", ["strata", "by, strata", "by, groups"])
def test_paired(table: Table, design: str, case: str) -> None:
    """Both systems see the same rows in every stratum and slice."""
    make, options = CASES[case].make, PLAIN[design]
    found: Any = fb.paired_bootstrap(
        make("a"), make("b"), data=table, rng=SEED, n_resamples=N_RESAMPLES, **options
    )

    def terms(row: int) -> Any:
        """What makes rows equal: the difference of two shares, the labels of two averages."""
        gold, a, b = (table[column][row] for column in ("gold", "label_a", "label_b"))
        return (gold == a) - (gold == b) if case == "micro" else (gold, a, b)

    found_parts = parts(table, options)
    value = terms if case in {"micro", "macro"} else None
    per_class = CASES[case].per_class
    cells = [drawn.plain(found_parts, r, value, per_class) for r in range(N_RESAMPLES)]
    a, b = (values(table, case, cells, system) for system in "ab")
    for key in a:
        differences = [
            None if x is None or y is None else x - y for x, y in zip(a[key], b[key], strict=True)
        ]
        one = found if key is None else found[key]
        assert_replicates(one, differences, exact=False)


@undefined
@every_case
@pytest.mark.parametrize("groups", [None, "document"])
def test_randomization__slices(table: Table, groups: str | None, case: str) -> None:
    """The units that differ, of all slices in order, are swapped with the words of one seed."""
    make = CASES[case].make
    found = fb.approximate_randomization(
        make("a"), make("b"), data=table, by="lang", groups=groups, rng=SEED,
        n_resamples=N_RESAMPLES,
    )  # fmt: skip
    whole = parts(table, {"by": "lang"} | ({} if groups is None else {"groups": groups}))
    units = [(part.cell, unit) for part in whole for unit in part.units]

    def differs(unit: list[int]) -> Any:
        """Tell whether sums of the unit differ; for tallies and ranks, whether any row does."""
        if case in {"mean", "ratio"}:
            return sum(table["score_a"][i] - table["score_b"][i] for i in unit) != 0
        if case == "micro":
            a, b = ([table[f"label_{s}"][i] == table["gold"][i] for i in unit] for s in "ab")
            return a.count(True) != b.count(True)
        column = "label" if case == "macro" else "score"
        return any(table[f"{column}_a"][i] != table[f"{column}_b"][i] for i in unit)

    differing = [unit for _, unit in units if differs(unit)]
    assert sum(one.n_differing for one in found.values()) == len(differing)
    for r in range(N_RESAMPLES):
        flags = reference.swaps(len(differing), SEED, r, "weights")
        swapped = {row for unit, flag in zip(differing, flags, strict=True) if flag for row in unit}
        mixed = dict(table)
        for column in ("score", "label"):
            pairs = list(zip(table[f"{column}_a"], table[f"{column}_b"], strict=True))
            mixed[f"{column}_a"] = [p[i in swapped] for i, p in enumerate(pairs)]
            mixed[f"{column}_b"] = [p[i not in swapped] for i, p in enumerate(pairs)]
        for key, one in found.items():
            rows = [(i, 1) for cell, unit in units if cell == key for i in unit]
            a, b = (CASES[case].value(mixed, system, rows) for system in "ab")
            if a is None or b is None:
                assert np.isnan(one.replicates[r])
            else:
                assert abs(one.replicates[r] - float(a - b)) <= one.rounding


# Further schemes, levels, numbers of draws, weights of rows

SCHEMES: dict[str, tuple[dict[str, Any], Callable[[Table, dict[str, Any], int], Any]]] = {
    "poisson": (
        {"scheme": "poisson"}, lambda t, d, r: drawn.poisson(parts(t, d), r)
    ),
    "bayesian": (
        {"scheme": "bayesian"}, lambda t, d, r: drawn.bayesian(parts(t, d), r)
    ),
    "moving": (
        {"scheme": "moving", "block_length": 7},
        lambda t, d, r: drawn.blocks(parts(t, d), r, "moving", 7),
    ),
    "circular": (
        {"scheme": "circular", "block_length": 30},
        lambda t, d, r: drawn.blocks(parts(t, d), r, "circular", 30),
    ),
    "stationary": (
        {"scheme": "stationary", "block_length": 3.5},
        lambda t, d, r: drawn.blocks(parts(t, d), r, "stationary", 3.5),
    ),
}  # fmt: skip
GROUPING: dict[str, dict[str, Any]] = {
    "rows": {},
    "groups": {"groups": "document"},
    "strata": {"strata": "stratum"},
    "by, strata": {"by": "lang", "strata": "stratum"},
    "by, strata, groups": {"by": "domain", "strata": "stratum", "groups": "document"},
}
EPSILON = float(np.finfo(np.float64).eps)


def rounding(case: str, n: int) -> float:
    """How far rounding may take a statistic of n weights that are not whole numbers.

    A weight is a logarithm, correct in all but its last bit, times the number of weights, by their
    sum: relative error (n + 3) eps. A sum of n products adds n eps, so a ratio of two sums, each as
    large as its terms, is off by 2 (2 n + 3) eps of its largest term, a product of two sums by
    twice that. The macro average is one of ratios, below 1. An end of the median's window lies at a
    sum of up to n, off by n (2 n + 3) eps, and moves across at most the range of the values; it has
    two ends, and a width of 1.
    """
    largest = 1.0 if case in {"micro", "macro", "roc_auc"} else 80.0
    if case == "median":
        return 2.0 * (2.0 * largest) * n * (2 * n + 3) * EPSILON
    return 4.0 * (2 * n + 3) * EPSILON * largest


@undefined
@pytest.mark.parametrize(
    "scheme,grouping",
    [
        (scheme, grouping)
        for scheme, (options, _) in SCHEMES.items()
        for grouping, keys in GROUPING.items()
        if not ("block_length" in options and "groups" in keys)  # blocks are of rows
    ],
)
def test_schemes(table: Table, scheme: str, grouping: str) -> None:
    """Every replicate has the weights of the reference."""
    options, draw = SCHEMES[scheme]
    keys = GROUPING[grouping]
    cells = [draw(table, keys, r) for r in range(3)]
    whole = scheme != "bayesian"
    for name, case in CASES.items():
        found: Any = fb.bootstrap(
            case.make("a"), data=table, rng=SEED, n_resamples=3, **options, **keys
        )
        error = None if whole else rounding(name, len(table["gold"]))
        for key, expected in values(table, name, cells).items():
            one = found if key is None else found[key]
            assert one.path == scheme
            assert_replicates(one, expected, exact=case.exact and whole, error=error)


@undefined
@pytest.mark.parametrize("inner", [None, "factor"])
@pytest.mark.parametrize("keys", [{}, {"strata": "stratum"}, {"by": "domain"}], ids=str)
def test_nested(table: Table, keys: dict[str, Any], inner: str | None) -> None:
    """Documents are drawn, then their rows, or the levels of a factor within a document."""
    groups = ["document"] if inner is None else ["document", inner]
    found_parts = parts(table, {"groups": "document", **keys})
    within = None if inner is None else table[inner]
    cells = [drawn.nested(found_parts, r, within) for r in range(N_RESAMPLES)]
    for name, case in CASES.items():
        found: Any = fb.bootstrap(
            case.make("a"), data=table, groups=groups, levels="nested", rng=SEED,
            n_resamples=N_RESAMPLES, **keys,
        )  # fmt: skip
        for key, expected in values(table, name, cells).items():
            one = found if key is None else found[key]
            assert (one.path, one.unit) == ("nested", "group")
            assert one.n_units == sum(len(p.units) for p in found_parts if p.cell == key)
            assert_replicates(one, expected, exact=case.exact)


@undefined
@pytest.mark.parametrize("factors", [["document", "factor"], ["factor", "stratum"]])
def test_crossed(table: Table, factors: list[str]) -> None:
    """A row comes with both of its levels."""
    cells = [drawn.crossed([table[name] for name in factors], r) for r in range(3)]
    for name, case in CASES.items():
        found = fb.bootstrap(
            case.make("a"), data=table, groups=factors, levels="crossed", rng=SEED, n_resamples=3
        )
        assert (found.path, found.unit) == ("crossed", "group")
        assert_replicates(found, values(table, name, cells)[None], exact=case.exact)


@undefined
@every_case
@pytest.mark.parametrize("groups", [None, "document"])
@pytest.mark.parametrize("n_drawn", [1, 50, 300, 2_000])
def test_n_drawn(table: Table, n_drawn: int, groups: str | None, case: str) -> None:
    """Each resample has this many units, be they fewer or more than the sample's."""
    found = fb.bootstrap(
        CASES[case].make("a"), data=table, groups=groups, n_drawn=n_drawn, rng=SEED, n_resamples=3
    )
    found_parts = parts(table, {} if groups is None else {"groups": groups})
    terms, per_class = CASES[case].terms, CASES[case].per_class
    value = None if terms is None else lambda row: terms(table, "a", row)
    cells = [drawn.plain(found_parts, r, value, per_class, n_drawn) for r in range(3)]
    assert_replicates(found, values(table, case, cells)[None], exact=CASES[case].exact)
    assert found.notes[0].startswith(f"each resample has {n_drawn:,} ")


def test_n_drawn__collapse() -> None:
    """So it is where equal units are counted."""
    scores = np.random.default_rng(5).integers(0, 2, 1_000).tolist()
    result = fb.bootstrap(scores, n_drawn=77, rng=SEED, n_resamples=20)
    table: Table = {"score_a": scores, "one": [1] * 1_000}
    whole = parts_of(1_000)
    expected = [
        drawn.mean(table, "a", drawn.plain(whole, r, scores.__getitem__, n_drawn=77)[None])
        for r in range(20)
    ]
    assert result.path == "collapse"
    assert_replicates(result, expected, exact=True)


@undefined
@every_case
@pytest.mark.parametrize(
    "design",
    [{}, {"groups": "document"}, {"strata": "stratum"}, {"by": "domain", "strata": "stratum"}],
    ids=str,
)
def test_weights(table: Table, design: dict[str, Any], case: str) -> None:
    """A row of weight 3 counts as three equal rows that are drawn together."""
    make, weight = CASES[case].make("a"), table["weight"]
    options: dict[str, Any] = {"rng": SEED, "n_resamples": N_RESAMPLES}
    found: Any = fb.bootstrap(make, data=table, weights="weight", **design, **options)
    found_parts = parts(table, design)

    def terms(row: int) -> Any:
        """What makes two rows equal where these are counted."""
        gold, predicted = table["gold"][row], table["label_a"][row]
        labels = weight[row] * (gold == predicted) if case == "micro" else (gold, predicted)
        return labels, weight[row]

    value = terms if case in {"micro", "macro"} else None
    cells = [
        {
            key: [(row, weight[row] * times) for row, times in rows]
            for key, rows in drawn.plain(found_parts, r, value, CASES[case].per_class).items()
        }
        for r in range(N_RESAMPLES)
    ]
    for key, expected in values(table, case, cells).items():
        one = found if key is None else found[key]
        assert_replicates(one, expected, exact=CASES[case].exact)
    rows = [row for row, times in enumerate(weight) for _ in range(times)]
    repeated = {name: [column[row] for row in rows] for name, column in table.items()}
    again: Any = fb.bootstrap(make, data=repeated, **design, **options)
    for key in found if "by" in design else [None]:
        one, other = (found, again) if key is None else (found[key], again[key])
        assert abs(one.estimate - other.estimate) <= one.rounding


@pytest.mark.parametrize("path", ["rows", "collapse"])
def test_reference__n_drawn(path: Any) -> None:
    """The reference draws m of n in two ways, and refuses the third."""
    rows = reference.bootstrap_rows(5, SEED, 0, path, range(5), n_drawn=3)
    assert len(rows) == 3
    with pytest.raises(ValueError, match=r"^`n_drawn` is 3; 'patterns' draws all 5\.$"):
        reference.bootstrap_rows(5, SEED, 0, "patterns", n_drawn=3)


# Classes of equal rows


def test_classes__acceleration() -> None:
    """Counted classes have the leave-one-out values of the rows, tallies too."""
    rng = np.random.default_rng(6)
    gold = rng.choice(list("xyz"), 3_000)
    predicted = np.where(rng.random(3_000) < 0.7, gold, "x")
    f_score = fb.f_score(gold, predicted, average="macro")
    counted, listed = (
        fb.bootstrap(f_score, rng=0, n_resamples=10, path=path) for path in ("collapse", "weights")
    )
    assert (counted.path, listed.path) == ("collapse", "weights")
    assert counted.acceleration is not None
    assert listed.acceleration is not None
    # A change is about 1/n of the value and has its rounding error: a relative error of n eps. Its
    # cubes, over 6 (sum of squares)^1.5, have 6 times that, of a sum of at most 1/6.
    error = 3_000 * EPSILON
    assert abs(counted.acceleration - listed.acceleration) <= error


# Several statistics


@undefined
@pytest.mark.parametrize(
    "options",
    [
        {"strata": "stratum", "path": "patterns"},
        {"by": "lang", "groups": "document", "path": "rows"},
        {"scheme": "bayesian"},
        {"scheme": "poisson", "by": "domain"},
        {"scheme": "moving", "block_length": 4},
        {"groups": ["document"], "levels": "nested"},
        {"groups": ["document", "factor"], "levels": "crossed"},
        {"n_drawn": 40},
    ],
    ids=str,
)
def test_several__as_alone(table: Table, options: dict[str, Any]) -> None:
    """Statistics asked for together have the resamples, and the figures, of each one alone."""
    every = {name: case.make("a") for name, case in CASES.items()}
    if "path" in options:
        every.pop("median")
    elif "n_drawn" in options:
        every = {name: every[name] for name in ("mean", "ratio", "roc_auc")}  # none is collapsed
    run: dict[str, Any] = {"data": table, "rng": SEED, "n_resamples": 40}
    together: Any = fb.bootstrap(every, **run, **options)
    for name, statistic in every.items():
        alone: Any = fb.bootstrap(statistic, **run, **options)
        for key in alone if "by" in options else [None]:
            one = alone if key is None else alone[key]
            other = together[name if key is None else (name, key)]
            # A sum of whole numbers is the same in any order; of weights that are not, each kernel
            # adds in the order of the units too.
            np.testing.assert_array_equal(one.replicates, other.replicates)
            assert one.estimate == other.estimate or np.isnan(one.estimate)
            assert (one.n_units, one.n_rows) == (other.n_units, other.n_rows)


@pytest.mark.parametrize("n", [200, 1_000])
def test_several__ranks_beside_sums(n: int) -> None:
    """A quantile beside a mean: both from the rows that are drawn."""
    rng = np.random.default_rng(7)
    scores = rng.integers(-80, 81, n).tolist()
    both = fb.bootstrap(
        {"mean": fb.mean(scores), "median": fb.median(scores)}, rng=SEED, n_resamples=10
    )
    table: Table = {"score_a": scores, "one": [1] * n}
    cells = [drawn.plain(parts_of(n), r) for r in range(10)]
    for name, result in both.items():
        assert result.path == ("rows" if n == 200 else "patterns+weights")
        assert_replicates(result, values(table, name, cells)[None], exact=True)


def test_several__covariance(table: Table) -> None:
    """The covariance is that of the replicates, pair by pair where some are undefined."""
    every = {name: case.make("a") for name, case in CASES.items()}
    found = fb.bootstrap(every, data=table, rng=1, n_resamples=300, strata="stratum")
    ours, theirs = found.covariance(), np.cov(found.replicates)
    # Means and sums of 300 numbers of the size of the values: n eps of their products.
    sizes = np.abs(found.replicates).max(axis=1)
    assert (np.abs(ours - theirs) <= 4.0 * 300 * EPSILON * np.outer(sizes, sizes)).all()


# Standard errors in closed form. `assert_standard_error` fails by chance less than once in a
# million: it allows six standard deviations of the variance of the replicates.

N_SAMPLED = 20_000


def spread(values: Any, axis: Any = None) -> Any:
    """Variance with divisor n: that of one draw."""
    return np.var(values, axis=axis)


@pytest.fixture(scope="module")
def scores() -> NDArray[np.float64]:
    """Sixty skewed numbers with a trend."""
    return np.random.default_rng(8).exponential(size=60) + np.arange(60) / 30


def test_error__strata(scores: NDArray[np.float64]) -> None:
    """Strata of several sizes: the sum of (n_h / n)^2 s_h^2 / n_h."""
    strata = np.repeat([0, 1, 2, 3], [1, 9, 20, 30])
    result = fb.bootstrap(scores, strata=strata, rng=1, n_resamples=N_SAMPLED)
    own = [scores[strata == h] for h in range(4)]
    variance = sum((h.size / 60) ** 2 * spread(h) / h.size for h in own)
    assert_standard_error(result, variance**0.5)


def test_error__bayesian(scores: NDArray[np.float64]) -> None:
    """Of Dirichlet weights: the sum of (x - mean)^2 / (n (n + 1))."""
    result = fb.bootstrap(scores, scheme="bayesian", rng=2, n_resamples=N_SAMPLED)
    assert_standard_error(result, (spread(scores) / 61) ** 0.5)


@pytest.mark.parametrize("n", [4, 60])
@undefined
def test_error__poisson(scores: NDArray[np.float64], n: int) -> None:
    """Given its number N, a Poisson sample is N draws: s^2 E(1 / N) over N > 0."""
    x = scores[:n]
    result = fb.bootstrap(x, scheme="poisson", rng=3, n_resamples=N_SAMPLED)
    law = stats.poisson(n).pmf(np.arange(1, 300))
    expected = (law / np.arange(1, 300)).sum() / law.sum()
    assert_standard_error(result, (spread(x) * expected) ** 0.5)
    assert_rate(result.n_undefined, N_SAMPLED, float(np.exp(-n)), detects=0.01)


@pytest.mark.parametrize("m", [5, 60, 500])
def test_error__n_drawn(scores: NDArray[np.float64], m: int) -> None:
    """The mean of m draws: s^2 / m."""
    result = fb.bootstrap(scores, n_drawn=m, rng=4, n_resamples=N_SAMPLED)
    assert_standard_error(result, (spread(scores) / m) ** 0.5)


@pytest.mark.parametrize("n_inner", [1, 2, 5, 10])
def test_error__nested(scores: NDArray[np.float64], n_inner: int) -> None:
    """G groups of m: the variance of their means, and 1 / m of that inside them, over G."""
    groups = np.arange(60) // n_inner
    result = fb.bootstrap(scores, groups=groups, levels="nested", rng=5, n_resamples=N_SAMPLED)
    table = scores.reshape(-1, n_inner)
    variance = spread(table.mean(axis=1)) + spread(table, axis=1).mean() / n_inner
    assert_standard_error(result, (variance / len(table)) ** 0.5)


def test_error__nested_columns(scores: NDArray[np.float64]) -> None:
    """Users of three conversations of four turns, which stay whole."""
    users, conversations = np.arange(60) // 12, np.arange(60) // 4
    result = fb.bootstrap(
        scores, groups=[users, conversations], levels="nested", rng=6, n_resamples=N_SAMPLED
    )
    means = scores.reshape(5, 3, 4).mean(axis=2)
    variance = spread(means.mean(axis=1)) + spread(means, axis=1).mean() / 3
    assert_standard_error(result, (variance / 5) ** 0.5)


def test_error__crossed(scores: NDArray[np.float64]) -> None:
    """Items, judges and what is left of both: s_A^2 / I + s_B^2 / J + s_AB^2 / (I J)."""
    items, judges = np.divmod(np.arange(60), 5)
    result = fb.bootstrap(
        scores, groups=[items, judges], levels="crossed", rng=7, n_resamples=N_SAMPLED
    )
    x = scores.reshape(12, 5)
    of_item, of_judge = x.mean(axis=1), x.mean(axis=0)
    left = x - of_item[:, None] - of_judge + x.mean()
    variance = spread(of_item) / 12 + spread(of_judge) / 5 + spread(left) / 60
    assert_standard_error(result, variance**0.5)


@pytest.mark.parametrize("length", [1, 4, 12, 60])
@pytest.mark.parametrize("scheme", ["moving", "circular"])
def test_error__blocks(scores: NDArray[np.float64], scheme: str, length: int) -> None:
    """Independent blocks: the variance of the means of all blocks, over their number."""
    result = fb.bootstrap(scores, scheme=scheme, block_length=length, rng=8, n_resamples=N_SAMPLED)
    n_starts = 60 if scheme == "circular" else 61 - length
    twice = np.concatenate([scores, scores])
    means = [twice[start : start + length].mean() for start in range(n_starts)]
    # One block that is the whole series, or begins anywhere in a circle: the mean never varies.
    expected = 0.0 if length == 60 else float(spread(means) * length / 60) ** 0.5
    if length == 60:
        assert result.standard_error <= 60 * EPSILON * scores.max()
    else:
        assert_standard_error(result, expected)


@pytest.mark.parametrize("length", [1.0, 3.5, 20.0])
def test_error__stationary(scores: NDArray[np.float64], length: float) -> None:
    """Politis and Romano (1994), lemma 1: circular autocovariances that fade by (1 - p)^i."""
    result = fb.bootstrap(
        scores, scheme="stationary", block_length=length, rng=9, n_resamples=N_SAMPLED
    )
    centred, lags = scores - scores.mean(), np.arange(60)
    covariance = np.array([centred @ np.roll(centred, lag) for lag in lags]) / 60
    share = np.where(lags == 0, 1.0, 2.0 * (1 - lags / 60) * (1 - 1 / length) ** lags)
    assert_standard_error(result, float((share @ covariance / 60) ** 0.5))


def test_error__weights(scores: NDArray[np.float64]) -> None:
    """A weighted mean, to first order: sum of w^2 (x - mean)^2 / (sum of w)^2; and 1/n more."""
    weights = np.random.default_rng(9).uniform(0.5, 2.0, 60)
    result = fb.bootstrap(scores, weights=weights, rng=10, n_resamples=N_SAMPLED)
    mean = np.average(scores, weights=weights)
    variance = (weights**2 * (scores - mean) ** 2).sum() / weights.sum() ** 2
    assert_standard_error(result, float(variance**0.5), neglected=1 / 60)


@pytest.mark.parametrize("n_lone", [0, 1, 3])
@pytest.mark.parametrize("grouped", [False, True])
def test_remarks__strata_of_one_unit(n_lone: int, *, grouped: bool) -> None:
    """A stratum of one unit is the same in all resamples; the variance is that of the others.

    Of strata of n rows the variance of the resampled mean is sum n_h sum (x - mean_h)^2 / n_h / n^2
    (a closed form), to which strata of one row add 0.
    """
    rng = np.random.default_rng(SEED)
    strata = np.r_[np.repeat([0, 1], 20), 2 + np.arange(n_lone)]
    x = rng.normal(size=strata.size) + 5.0 * strata
    if grouped:
        strata, x = np.repeat(strata, 2), np.repeat(x, 2)
    groups = np.arange(x.size) // 2 if grouped else None
    result = fb.bootstrap(x, strata=strata, groups=groups, rng=SEED, n_resamples=4_999)
    notes = [note for note in result.notes if "strat" in note]
    unit = "group" if grouped else "row"

    sides, n = x[:: 2 if grouped else 1], x.size // (2 if grouped else 1)
    spread = sum(20 * sides[start : start + 20].var() for start in (0, 20)) / n**2
    # The standard deviation of 4,999 replicates is within 1 / sqrt(2 x 4,999) = 1 %; 5 of these.
    assert result.standard_error == pytest.approx(np.sqrt(spread), rel=0.05)
    note = (
        f"{'1 stratum has' if n_lone == 1 else '3 strata have'} a single {unit}, which every "
        "resample draws: such strata add nothing to the standard error, which is too small"
    )
    assert notes == [note] * (n_lone > 0)
