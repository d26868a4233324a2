"""Agreement of annotators: against Krippendorff's package, published tables and repeated items."""

from __future__ import annotations

import math
import pickle
from typing import Any, Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import fastboot as fb
from fastboot.columns import load
from fastboot.statistics.additive import Tally
from fastboot.statistics.annotation import fleiss_kappa, krippendorff_alpha

SEED = 23
NAN = float("nan")
Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: list[Level] = ["nominal", "ordinal", "interval", "ratio"]
each_level = pytest.mark.parametrize("level", LEVELS)


def added(term: Any, weights: Floats) -> Any:
    """Return the weighted sums of a term, shape weights.shape[:-1] after the classes of a tally."""
    if isinstance(term, Tally):
        return np.stack([added(term.values * (term.codes == k), weights) for k in range(term.size)])
    return (weights * term).sum(axis=-1)


def values(statistic: Any, weights: Any = None) -> Any:
    """Return the statistic of weighted rows, from the sums of their terms."""
    rows = load(statistic.columns)
    bound = statistic.bind([rows.columns])
    terms = bound.terms(*rows.columns)
    assert bound.n_terms == len(terms)
    weights = np.ones(rows.n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return bound.finish(*(added(term, weights) for term in terms))


def made_up(n_annotators: int, n_items: int, n_values: int, missing: float = 0.3) -> Floats:
    """Ratings from 1 on that agree half of the time."""
    rng = np.random.default_rng(SEED)
    ratings = np.tile(rng.integers(1, n_values + 1, n_items).astype(np.float64), (n_annotators, 1))
    other = rng.random(ratings.shape) < 0.5
    ratings[other] = rng.integers(1, n_values + 1, other.sum())
    ratings[rng.random(ratings.shape) < missing] = NAN
    return ratings


def near(expected: float, n_ratings: int) -> Any:
    """Equal but for rounding.

    Both divide two sums of at most n_ratings terms of one sign, whose ratio 1 - alpha is below 2:
    n_ratings roundings of each, ours and theirs. Moments about 0 lose a digit more: these ratings'
    squared mean is below 10 variances.
    """
    return pytest.approx(expected, abs=10 * 4 * 2 * n_ratings * 2.0**-52, rel=0)


# Krippendorff's alpha

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability": B, C and D; ratios as printed
# by the package of that name.
TWO_OBSERVERS_BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
TWO_OBSERVERS_NOMINAL = [list("aabbdcccedda"), list("babbbccceddd")]
FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
# Of the encyclopedias: three coders.
THREE_CODERS = [
    [None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3],
    [1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None],
    [None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4],
]


@pytest.mark.parametrize(
    "ratings, level, printed",
    [
        (TWO_OBSERVERS_BINARY, "nominal", 0.095),
        (TWO_OBSERVERS_NOMINAL, "nominal", 0.692),
        (FOUR_OBSERVERS, "nominal", 0.743),
        (FOUR_OBSERVERS, "ordinal", 0.815),
        (FOUR_OBSERVERS, "interval", 0.849),
        (FOUR_OBSERVERS, "ratio", 0.797),
        (THREE_CODERS, "nominal", 0.691),
        (THREE_CODERS, "interval", 0.811),
    ],
)
def test_krippendorff_alpha__published(ratings: Any, level: Level, printed: float) -> None:
    """The printed examples."""
    assert printed == round(float(values(krippendorff_alpha(*ratings, level=level))), 3)


@each_level
@pytest.mark.parametrize(
    "shape", [(2, 40, 2, 0.0), (3, 200, 5, 0.3), (9, 60, 4, 0.7), (2, 100, 30, 0.1)]
)
def test_krippendorff_alpha__repeated_items(level: Level, shape: Any) -> None:
    """Weighted sums give the package's alpha of repeated items."""
    ratings = made_up(*shape)
    n_items = ratings.shape[1]
    rng = np.random.default_rng(SEED)
    weights = np.vstack([np.ones(n_items), rng.multinomial(n_items, [1 / n_items] * n_items, 20)])
    ours = values(krippendorff_alpha(*ratings, level=level), weights)
    for times, alpha in zip(weights.astype(int), ours, strict=True):
        expected = krippendorff.alpha(ratings.repeat(times, 1), level_of_measurement=level)
        assert near(expected, ratings.size) == alpha


@pytest.mark.parametrize("level", ["nominal", "ratio"])
def test_krippendorff_alpha__many_values(level: Level) -> None:
    """More than 32 values are tallied."""
    ratings = made_up(3, 300, 90)
    statistic = krippendorff_alpha(*ratings, level=level)
    rows = load(statistic.columns)
    terms = statistic.bind([rows.columns]).terms(*rows.columns)
    assert [90, 90, 90] == [term.size for term in terms if isinstance(term, Tally)]
    weights = np.random.default_rng(SEED).integers(0, 4, (10, 300))
    for times, alpha in zip(weights, values(statistic, weights), strict=True):
        expected = krippendorff.alpha(ratings.repeat(times, 1), level_of_measurement=level)
        assert near(expected, 3 * ratings.size) == alpha


def test_krippendorff_alpha__strings() -> None:
    """Labels of any kind, and None or NaN, by any nan_policy."""
    names = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", None: None}
    words = [[names[rating] for rating in row] for row in FOUR_OBSERVERS]
    expected = values(krippendorff_alpha(*FOUR_OBSERVERS))
    assert expected == values(krippendorff_alpha(*words))
    assert expected == values(krippendorff_alpha(*np.array(FOUR_OBSERVERS, dtype=np.float64)))
    kept = load(krippendorff_alpha(*words).columns, nan_policy="omit")
    assert (12, 0) == (kept.n_rows, kept.n_dropped)


@each_level
def test_krippendorff_alpha__nobody_matters(level: Level) -> None:
    """An annotator without ratings and items with one rating change nothing."""
    ratings = made_up(3, 50, 5)
    single = np.array([[7.0], [NAN], [NAN]])
    expected = values(krippendorff_alpha(*ratings, level=level))
    more = np.hstack([ratings, single])
    assert expected == values(krippendorff_alpha(*more, level=level))
    assert expected == values(krippendorff_alpha(*more, [None] * 51, level=level))
    assert expected == values(krippendorff_alpha(*more[::-1, ::-1], level=level))


@pytest.mark.parametrize("offset", [1e4, -1e6, 1e9])
def test_krippendorff_alpha__offset(offset: float) -> None:
    """Ratings far from 0 keep their digits on an interval scale."""
    ratings = made_up(3, 60, 5) / 8
    expected = values(krippendorff_alpha(*ratings, level="interval"))
    # At most 256 standard deviations are left: 256^2 roundings of each of 180 additions.
    tolerance = 256**2 * ratings.size * 2.0**-52
    assert expected == pytest.approx(
        values(krippendorff_alpha(*(ratings + offset), level="interval")), abs=tolerance
    )


@given(
    ratings=st.integers(2, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([None, 1.0, 2.0, 3.0, 4.0]), min_size=n, max_size=n),
            min_size=1, max_size=12,
        )
    ),
    level=st.sampled_from(LEVELS),
)  # fmt: skip
def test_krippendorff_alpha__pairs(ratings: list[list[float | None]], level: Level) -> None:
    """The definition, pair by pair."""
    columns = list(zip(*ratings, strict=True))
    items = [[x for x in item if x is not None] for item in ratings]
    paired = [item for item in items if len(item) > 1]
    every = sorted(x for item in paired for x in item)

    def distance(c: float, k: float) -> float:
        if level == "ordinal":
            c, k = ((every.index(x) + len(every) - every[::-1].index(x)) / 2 for x in (c, k))
        both = c + k if level == "ratio" else 1.0
        return float(c != k) if level == "nominal" else ((c - k) / both) ** 2

    ours = values(krippendorff_alpha(*columns, level=level))
    expected = sum(distance(c, k) for c in every for k in every)
    if expected == 0.0:
        assert math.isnan(ours)
        return
    observed = sum(distance(c, k) / (len(item) - 1) for item in paired for c in item for k in item)
    alpha = 1.0 - (len(every) - 1) * observed / expected
    # Some 48^2 terms of one sign, whose ratio is up to the number of ratings.
    assert alpha == pytest.approx(ours, abs=len(every) * 2 * 48**2 * 2.0**-52)


@each_level
@pytest.mark.parametrize(
    "first, second",
    [
        ([None, 1, None], [2, None, None]),
        ([None, None], [None, None]),
        ([3, 3, 3], [3, 3, None]),
        ([0.1] * 30, [0.1] * 30),
        ([1e9 / 3] * 30, [1e9 / 3] * 30),
        ([0, 0], [0, 0]),
    ],
)
def test_krippendorff_alpha__undefined(level: Level, first: Any, second: Any) -> None:
    """Neither without two ratings of an item nor where all ratings are equal."""
    assert math.isnan(values(krippendorff_alpha(first, second, level=level)))


@each_level
def test_krippendorff_alpha__undefined_resamples(level: Level) -> None:
    """Resamples of one value are undefined, others are not."""
    alpha = values(
        krippendorff_alpha([0.1, 0.1, 0.7], [0.1, 0.7, 0.7], level=level),
        [[3, 0, 0], [0, 0, 3], [0, 3, 0], [1, 0, 2]],
    )
    assert [True, True, False, False] == np.isnan(alpha).tolist()
    assert alpha[3] == 1.0


@pytest.mark.parametrize("level", ["nominal", "ordinal", "ratio"])
@pytest.mark.parametrize("n_values", [4, 60])
def test_krippendorff_alpha__swaps(level: Level, n_values: int) -> None:
    """Systems that are swapped have the same terms, however many annotators they have."""
    n_values = min(n_values, 32) if level == "ordinal" else n_values
    few, many = made_up(2, 80, n_values), made_up(5, 80, n_values)[:, ::-1]
    few[few == 1] = 2  # values that one system lacks
    statistics = [krippendorff_alpha(*ratings, level=level) for ratings in (few, many)]
    systems = [load(statistic.columns).columns for statistic in statistics]
    bound = [statistic.bind(systems) for statistic in statistics]
    terms = [one.terms(*system) for one, system in zip(bound, systems, strict=True)]
    assert len(terms[0]) == len(terms[1]) == bound[0].n_terms == bound[1].n_terms
    flags = np.random.default_rng(SEED).random(80) < 0.5
    swapped = [
        added(a, np.where(flags, 0.0, 1.0)) + added(b, np.where(flags, 1.0, 0.0))
        for a, b in zip(*terms, strict=True)
    ]
    padded = np.vstack([few, np.full((3, 80), NAN)])
    expected = krippendorff.alpha(np.where(flags, many, padded), level_of_measurement=level)
    assert near(expected, 2 * many.size) == bound[0].finish(*swapped)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: krippendorff_alpha([1, 2]), TypeError,
         "compares annotators: give two columns or more, one for each; it got 1"),
        (fleiss_kappa, TypeError, "fleiss_kappa compares annotators: .* it got 0"),
        (lambda: krippendorff_alpha([1], [1], level="ordered"), ValueError,  # type: ignore[arg-type] # wrong on purpose
         "level='ordered'; choose one of \"nominal\", \"ordinal\", \"interval\", \"ratio\""),
        (lambda: fleiss_kappa([1], [1], counts=[[2], [0]]), TypeError,
         "fleiss_kappa takes either ratings or counts=; it got both"),
        (lambda: fleiss_kappa(counts="yes"), TypeError,
         "`counts` is 'yes'; give a list of columns, one for each category"),
        (lambda: fleiss_kappa(counts=["yes"]), TypeError, r"`counts` is \['yes'\]; give a list"),
        (lambda: fleiss_kappa(counts=5), TypeError, "`counts` is 5; give a list"),  # type: ignore[arg-type] # wrong on purpose
    ],
)  # fmt: skip
def test_annotation__arguments(call: Any, kind: type[Exception], message: str) -> None:
    """What cannot be is refused at once."""
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    "statistic, message",
    [
        (krippendorff_alpha([None, "a"], [None, None], [1, 2]),
         r"`ratings\[0\]` holds strings but `ratings\[2\]` holds numbers \(such as 'a' and 1\)"),
        (fleiss_kappa([1, 2], ["a", "b"]), r"`ratings\[0\]` holds numbers but `ratings\[1\]`"),
        (krippendorff_alpha([1, -2], [1, None], level="ratio"),
         r"`ratings\[0\]` has 1 negative rating \(first at row 1: -2\); a ratio scale starts at"),
        (krippendorff_alpha(range(33), range(33), level="ordinal"),
         "the ratings have 33 distinct values; level='ordinal' takes at most 32: round them, or"),
        (krippendorff_alpha(range(257), range(257), level="ratio"),
         "the ratings have 257 distinct values; level='ratio' takes at most 256: round them"),
        (fleiss_kappa(counts=[[2, -1], [0, 3]]), r"`counts\[0\]` has 1 negative count"),
        (fleiss_kappa(counts=[[2, 0.5], [0, 1.5]]),
         r"`counts\[0\]` has 1 fraction \(first at row 1: 0.5\); ratings are whole"),
        (fleiss_kappa(counts=[[2, 1, 1], [0, 1, 2]]),
         r"`counts` add up to 3 ratings at row 2, but 2 at row 0; every item needs as many: "),
        (fleiss_kappa(counts=[[0, 1], [1, 0]]),
         "`counts` add up to 1 ratings at row 0, every item needs two or more: krippendorff_a"),
    ],
)  # fmt: skip
def test_annotation__rows(statistic: Any, message: str) -> None:
    """Wrong rows are refused by name, place and rule."""
    with pytest.raises(ValueError, match=message):
        values(statistic)


# Fleiss' kappa

# Fleiss (1971), table 1: 30 patients, 6 psychiatrists, 5 diagnoses.
DIAGNOSES = """
    444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333
    144444 224445 333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224
    111155 224444 133333 555555
""".split()  # noqa: SIM905 - a table


def test_fleiss_kappa__published() -> None:
    """The psychiatric diagnoses: 0.430, and 0.4302445 by R's irr 0.84."""
    raters = [[int(patient[i]) for patient in DIAGNOSES] for i in range(6)]
    counts = [[patient.count(diagnosis) for patient in DIAGNOSES] for diagnosis in "12345"]
    kappa = values(fleiss_kappa(*raters))
    assert kappa == values(fleiss_kappa(counts=counts))
    assert 0.4302445 == round(float(kappa), 7)
    # Expected disagreement without the pairs of a rating with itself.
    alpha = values(krippendorff_alpha(*raters))
    assert 1 - alpha == pytest.approx((1 - kappa) * (1 - 1 / 180), rel=180 * 2.0**-52)


@pytest.mark.parametrize("n_categories", [2, 6, 40])
@pytest.mark.parametrize("n_raters", [2, 5])
def test_fleiss_kappa__formula(n_raters: int, n_categories: int) -> None:
    """Weighted sums give the formula's kappa of repeated items."""
    ratings = made_up(n_raters, 200, n_categories, missing=0.0)
    counts = (ratings[:, :, None] == np.arange(1, n_categories + 1)).sum(axis=0)
    weights = np.random.default_rng(SEED).multinomial(200, [1 / 200] * 200, 20)
    by_rater = values(fleiss_kappa(*ratings.astype(int).astype(str)), weights)
    by_count = values(fleiss_kappa(counts=list(counts.T)), weights)
    for times, kappa, other in zip(weights, by_rater, by_count, strict=True):
        rows = counts.repeat(times, axis=0)
        agreement = ((rows**2).sum() - rows.sum()) / (len(rows) * n_raters * (n_raters - 1))
        chance = ((rows.sum(axis=0) / rows.sum()) ** 2).sum()
        # Differences of 1 and shares that are sums of 1,000 numbers.
        expected = pytest.approx((agreement - chance) / (1 - chance), abs=4_000 * 2.0**-52)
        assert expected == kappa
        assert expected == other


def test_fleiss_kappa__undefined() -> None:
    """Undefined where all ratings are equal; no agreement beyond chance can be negative."""
    assert math.isnan(values(fleiss_kappa(["a", "a"], ["a", "a"])))
    assert math.isnan(values(fleiss_kappa(counts=[[3, 3], [0, 0]])))
    assert values(fleiss_kappa(["a", "b"], ["b", "a"])) == -1.0


def test_fleiss_kappa__missing() -> None:
    """A missing label is refused."""
    with pytest.raises(ValueError, match=r"`ratings\[1\]` has 1 null \(first at row 0\)"):
        values(fleiss_kappa(["a", "b"], [None, "b"]))


@each_level
def test_annotation__picklable(level: Level) -> None:
    """Statistics travel to other processes, bound or not, and name their arguments."""
    ratings = made_up(3, 20, 4)
    statistic = krippendorff_alpha(*ratings, level=level)
    again = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert values(statistic) == values(again)
    assert repr(krippendorff_alpha("x", "y", level=level)) == (
        "krippendorff_alpha(`ratings[0]` (column 'x'), `ratings[1]` (column 'y'))"
    )


# On the engine


@each_level
def test_krippendorff_alpha__bootstrap(level: Level) -> None:
    """Every replicate is the package's alpha of its rows, with and without groups."""
    from fastboot import reference

    ratings = made_up(3, 60, 5)
    for groups in (None, np.arange(60) // 4):
        result = fb.bootstrap(
            krippendorff_alpha(*ratings, level=level), groups=groups, rng=SEED, n_resamples=30,
            path="rows",
        )  # fmt: skip
        expected = krippendorff.alpha(ratings, level_of_measurement=level)
        assert near(expected, ratings.size) == result.estimate
        for r, replicate in enumerate(result.replicates.tolist()):
            rows = reference.bootstrap_rows(60 if groups is None else 15, SEED, r, "rows")
            if groups is not None:
                rows = reference.rows_of(rows, groups.tolist())
            expected = krippendorff.alpha(ratings[:, rows], level_of_measurement=level)
            assert near(expected, ratings.size) == replicate


def test_krippendorff_alpha__swapped_with_itself() -> None:
    """Annotators against themselves have p = 1."""
    ratings = made_up(3, 60, 5)
    for level in LEVELS:
        alpha = krippendorff_alpha(*ratings, level=level)
        assert fb.approximate_randomization(alpha, alpha, rng=SEED, n_resamples=99).pvalue == 1.0


def test_krippendorff_alpha__nan_policy() -> None:
    """Missing ratings drop no row, whatever the policy."""
    table = dict(zip("abcd", FOUR_OBSERVERS, strict=True))
    for nan_policy in ("raise", "omit", "propagate"):
        result = fb.bootstrap(
            krippendorff_alpha(*"abcd"), data=table, rng=0, n_resamples=9, nan_policy=nan_policy
        )
        assert (0.743, 0) == (round(result.estimate, 3), result.n_dropped)
