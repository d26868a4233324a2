"""Standard errors of replicates, against the drawn rows one by one, and the intervals from them."""

from __future__ import annotations

import math
import pickle
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from enumeration import DEVIATIONS
from numpy.random import SeedSequence
from scipy import stats
from statistical import FALSE_FAILURE

import fastboot as fb
from fastboot import reference
from fastboot.analytic import studentized_interval
from fastboot.unpaired import unpaired_bootstrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    # From the terms, shape (n_terms, n), to the influence of the rows.
    Influence = Callable[[Floats], Floats]

SEED = 11
N_RESAMPLES = 25
PATHS = ("rows", "patterns", "weights")
# What the docstring of fastboot.studentized says of five units and more; 400 roundings of 1.1e-16
# of values that are at most 1,000 times their errors here are 5e-11.
ERRORS = 1e-9


def mean_influence(terms: Floats) -> Floats:
    """Of the mean of the first term."""
    x = terms[0]
    influence: Floats = (x - x.mean()) / x.size
    return influence


def ratio_influence(terms: Floats) -> Floats:
    """Of the sum of the first term over that of the second."""
    x, y = terms
    influence: Floats = (x - x.sum() / y.sum() * y) / y.sum()
    return influence


def f_influence(terms: Floats) -> Floats:
    """Of F1: a ratio of 2 tp over gold + predicted."""
    gold, predicted = terms
    return ratio_influence(np.array([2.0 * gold * predicted, gold + predicted]))


def pearson_influence(terms: Floats) -> Floats:
    """Of the correlation (Devlin, Gnanadesikan and Kettenring 1975)."""
    u, v = ((x - x.mean()) / x.std() for x in terms)
    r = (u * v).mean()
    influence: Floats = (u * v - r * (u * u + v * v) / 2.0) / u.size
    return influence


def root(influence: Floats) -> float:
    """Standard error of a value, from the influence of its units."""
    return math.sqrt(math.fsum(influence**2))


def columns(n: int) -> Floats:
    """Two positive, skewed, dependent columns."""
    rng = np.random.default_rng(n)
    x = rng.lognormal(size=n)
    return np.array([x, 0.5 * x + rng.lognormal(size=n)])


def labels(n: int) -> Floats:
    """Gold and predicted labels."""
    rng = np.random.default_rng(n)
    gold = rng.integers(0, 2, n)
    return np.array([gold, np.where(rng.random(n) < 0.7, gold, 1 - gold)], dtype=float)


STATISTICS: dict[str, tuple[Callable[..., Any], Influence, Callable[[int], Floats]]] = {
    "mean": (lambda x, _: fb.mean(x), mean_influence, columns),
    "ratio": (fb.ratio, ratio_influence, columns),
    "f_score": (fb.f_score, f_influence, labels),
    "pearson": (fb.pearson, pearson_influence, columns),
}
each_statistic = pytest.mark.parametrize("name", STATISTICS)
undefined = pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")


def drawn(n: int, path: str, seed: Any = SEED, n_drawn: int | None = None) -> list[list[int]]:
    """Return the units of each resample, from the reference."""
    return [
        reference.bootstrap_rows(n, seed, r, path, None, n_drawn)  # type: ignore[arg-type] # checked word
        for r in range(N_RESAMPLES)
    ]


def studentized(statistic: Any, **options: Any) -> Any:
    """Run with standard errors of replicates."""
    options = {"n_resamples": N_RESAMPLES, "rng": SEED} | options
    return fb.bootstrap(statistic, method="studentized", **options)


def near(expected: Sequence[float], rel: float = ERRORS) -> Any:
    """Equal but for what the errors may be wrong by."""
    return pytest.approx(expected, rel=rel, abs=0.0)


@each_statistic
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n", [40, 300])
def test_replicates__closed_form(name: str, path: str, n: int) -> None:
    """The error of every replicate is that of its rows; replicates are those of other methods."""
    make, influence, terms_of = STATISTICS[name]
    terms = terms_of(n)
    result = studentized(make(*terms), path=path)
    expected = [root(influence(terms[:, rows])) for rows in drawn(n, path)]
    assert near(expected) == result.replicate_standard_errors.tolist()
    assert near([root(influence(terms))]) == [result.analytic_errors.cr0]
    plain = fb.bootstrap(make(*terms), rng=SEED, n_resamples=N_RESAMPLES, path=path)
    assert plain.replicates.tolist() == result.replicates.tolist()
    assert plain.replicate_standard_errors is None
    assert plain.analytic_errors == result.analytic_errors


def test_replicates__collapsed() -> None:
    """Classes of equal rows have the moments of their rows."""
    n = 2_000
    values = np.random.default_rng(SEED).integers(0, 5, n)
    weights = values % 3 + 1
    result = studentized(fb.ratio(values, weights))
    assert result.path == "collapse"
    classes = values.tolist()
    terms = np.array([values, weights], dtype=float)
    expected = [
        root(ratio_influence(terms[:, reference.bootstrap_rows(n, SEED, r, "collapse", classes)]))
        for r in range(N_RESAMPLES)
    ]
    assert near(expected) == result.replicate_standard_errors.tolist()
    assert near([root(ratio_influence(terms))]) == [result.analytic_errors.cr0]
    plain = fb.bootstrap(fb.ratio(values, weights), rng=SEED, n_resamples=N_RESAMPLES)
    assert plain.replicates.tolist() == result.replicates.tolist()


def test_replicates__groups() -> None:
    """A group is a unit: its sums are its terms, and the number of its rows is one of them."""
    rng = np.random.default_rng(SEED)
    groups = np.sort(rng.integers(0, 30, 200))
    x = rng.lognormal(size=200)
    result = studentized(x, groups=groups, path="rows")
    codes = np.unique(groups, return_inverse=True)[1]
    sums = np.array([np.bincount(codes, x), np.bincount(codes)])
    n = sums.shape[1]
    expected = [root(ratio_influence(sums[:, units])) for units in drawn(n, "rows")]
    assert near(expected) == result.replicate_standard_errors.tolist()
    cr0 = root(ratio_influence(sums))
    errors = result.analytic_errors
    assert near([cr0, cr0 * math.sqrt(n / (n - 1))]) == [errors.cr0, errors.cr1]
    assert (errors.n_clusters, errors.degrees_of_freedom) == (n, n - 1)


def test_replicates__strata() -> None:
    """Deviations are from the mean of the stratum; a stratum of one unit has none."""
    sizes, x = (30, 1, 12), np.random.default_rng(SEED).lognormal(size=43)
    strata = np.repeat([0, 1, 2], sizes)
    x += 10.0 * strata
    result = studentized(x, strata=strata, path="rows")
    parts = [np.flatnonzero(strata == part) for part in range(3)]
    resamples = [
        drawn(size, "rows", SeedSequence(SEED, spawn_key=(part,)))
        for part, size in enumerate(sizes)
    ]

    def error(*rows: NDArray[np.int64]) -> float:
        return math.sqrt(sum(x[some].var() * some.size for some in rows)) / x.size

    expected = [
        error(*(part[units] for part, units in zip(parts, of_parts, strict=True)))
        for of_parts in zip(*resamples, strict=True)
    ]
    assert near(expected) == result.replicate_standard_errors.tolist()
    assert near([error(*parts)]) == [result.analytic_errors.cr0]
    assert math.isnan(result.analytic_errors.cr1)
    assert result.analytic_errors.degrees_of_freedom == 40


def test_replicates__strata_in_slices() -> None:
    """Several parts in every answer, several answers, several statistics: each as if alone."""
    rng = np.random.default_rng(SEED)
    n = 240
    x, y = columns(n)
    strata, by = rng.integers(0, 3, n), rng.integers(0, 2, n)
    table = studentized({"mean": fb.mean(x), "ratio": fb.ratio(x, y)}, strata=strata, by=by)
    for key, influence in (("mean", mean_influence), ("ratio", ratio_influence)):
        for slice_ in range(2):
            inside = by == slice_
            z = influence(np.array([x, y])[:, inside])
            own = strata[inside]
            errors = table[key, slice_].analytic_errors
            squares = [z[own == part].var() * (own == part).sum() for part in range(3)]
            assert near([math.sqrt(sum(squares))]) == [errors.cr0]
            corrected = [z[own == part].var(ddof=1) * (own == part).sum() for part in range(3)]
            assert near([math.sqrt(sum(corrected))]) == [errors.cr1]
            assert errors.degrees_of_freedom == inside.sum() - 3
    # The parts of all slices are numbered through; the second slice's begin at 3.
    places = [np.flatnonzero((by == 1) & (strata == part)) for part in range(3)]
    resamples = [
        drawn(place.size, "rows", SeedSequence(SEED, spawn_key=(3 + part,)))
        for part, place in enumerate(places)
    ]
    for r, error in enumerate(table["ratio", 1].replicate_standard_errors):
        rows = [place[some[r]] for place, some in zip(places, resamples, strict=True)]
        z = ratio_influence(np.array([x, y])[:, np.concatenate(rows)])
        ends = np.cumsum([some.size for some in rows])[:-1]
        squares = [some.var() * some.size for some in np.split(z, ends)]
        assert near([math.sqrt(sum(squares))]) == [error]
    limits = [result.confidence_interval[:2] for result in table.values()]
    assert table.confidence_intervals.tolist() == [list(some) for some in limits]
    assert {result.confidence_interval.method for result in table.values()} == {"studentized"}


def test_replicates__n_drawn() -> None:
    """Errors of smaller resamples are larger; the interval is still about the sample."""
    x = columns(50)[0]
    result = studentized(x, n_drawn=12, n_resamples=N_RESAMPLES)
    rows = drawn(50, "rows", n_drawn=12)
    expected = [x[some].std() / math.sqrt(12) for some in rows]
    assert near(expected) == result.replicate_standard_errors.tolist()
    error = x.std() / math.sqrt(50)
    t = [(x[some].mean() - x.mean()) / own for some, own in zip(rows, expected, strict=True)]
    high, low = np.quantile(t, [0.025, 0.975])
    expected = [x.mean() - low * error, x.mean() - high * error]
    assert near(expected) == list(result.confidence_interval[:2])


def test_replicates__weights() -> None:
    """Weights of rows belong to the terms."""
    x, w = columns(40)
    result = studentized(x, weights=w, path="rows")
    terms = np.array([w * x, w])
    expected = [root(ratio_influence(terms[:, rows])) for rows in drawn(40, "rows")]
    assert near(expected) == result.replicate_standard_errors.tolist()


def test_paired__difference() -> None:
    """Two F-scores on the same rows: the difference of their influence."""
    gold, a = labels(60)
    b = labels(61)[1][:60]
    options: dict[str, Any] = {"rng": SEED, "n_resamples": N_RESAMPLES, "path": "rows"}
    scores = fb.f_score(gold, a), fb.f_score(gold, b)
    result = fb.paired_bootstrap(*scores, method="studentized", **options)
    expected = [
        root(f_influence(np.array([gold, a])[:, rows]) - f_influence(np.array([gold, b])[:, rows]))
        for rows in drawn(60, "rows")
    ]
    errors = result.replicate_standard_errors
    assert errors is not None
    assert near(expected) == errors.tolist()
    assert result.pvalue == fb.paired_bootstrap(*scores, **options).pvalue
    assert result.confidence_interval.method == "studentized"


def test_paired__itself() -> None:
    """A system against itself: no error, a point."""
    gold, a = labels(50)
    result = fb.paired_bootstrap(
        fb.f_score(gold, a), fb.f_score(gold, a), method="studentized", rng=0, n_resamples=99
    )
    assert result.confidence_interval[:2] == (0.0, 0.0)
    assert not np.any(result.replicate_standard_errors)


def test_unpaired__difference() -> None:
    """Two samples: squared errors add."""
    x, y = columns(30)[0], columns(20)[1]
    options: dict[str, Any] = {"rng": SEED, "n_resamples": N_RESAMPLES}
    result = unpaired_bootstrap(x, y, method="studentized", **options)
    rows = [
        drawn(one.size, "rows", SeedSequence(SEED, spawn_key=(side,)))
        for side, one in enumerate((x, y))
    ]
    expected = [
        math.sqrt(x[a].var() / x.size + y[b].var() / y.size) for a, b in zip(*rows, strict=True)
    ]
    errors = result.replicate_standard_errors
    assert errors is not None
    assert near(expected) == errors.tolist()
    welch = math.sqrt(x.var(ddof=1) / x.size + y.var(ddof=1) / y.size)
    assert result.analytic_errors is not None
    assert near([welch]) == [result.analytic_errors.cr1]
    assert result.analytic_errors.degrees_of_freedom == 48


@pytest.mark.parametrize("column", ["a", "x"])
def test_result__beside_its_errors(column: str) -> None:
    """All else is as without them: of classes too, which carry the second moments along."""
    rng = np.random.default_rng(5)
    data = {"a": rng.normal(size=400), "x": rng.integers(0, 2, 400), "y": rng.normal(size=400)}
    statistic = {"a": fb.ratio("a", "y"), "x": fb.mean("x")}[column]
    with_errors, without = (
        fb.bootstrap(statistic, data=data, rng=1, n_resamples=50, method=method)
        for method in ("studentized", "percentile")
    )
    for name in ("path", "estimate", "analytic_errors", "acceleration", "rounding"):
        assert getattr(with_errors, name) == getattr(without, name)
    assert with_errors.replicates == pytest.approx(without.replicates)


def test_interval__from_its_parts() -> None:
    """The interval is that of the replicates and their errors; other levels can be asked for."""
    x = columns(40)[0]
    result = studentized(x, n_resamples=999)
    for level, side in ((0.95, "two-sided"), (0.8, "greater"), (0.9, "less")):
        expected = studentized_interval(
            result.estimate,
            result.analytic_errors.cr0,
            result.replicates,
            result.replicate_standard_errors,
            confidence_level=level,
            alternative=side,
            rounding=result.rounding,
        )
        assert expected == result.interval(level, alternative=side)
    assert result.interval(method="percentile").method == "percentile"
    assert "95% studentized bootstrap interval" in result.summary()


def test_interval__one_row_drawn() -> None:
    """Replicates of one row drawn again and again have no error: left out and counted."""
    result = studentized([0.3, 1.1, 5.7], n_resamples=999)
    alone = [len(set(reference.bootstrap_rows(3, SEED, r, "rows"))) == 1 for r in range(999)]
    assert ((result.replicate_standard_errors == 0.0) == alone).all()
    sentence = (
        f"{sum(alone)} of 999 replicates have no standard error (0 or undefined) and are left out"
    )
    assert result.confidence_interval.note == sentence
    assert sentence in result.notes
    assert result.confidence_interval.method == "studentized"


def test_interval__constant() -> None:
    """Constant data have a point."""
    result = studentized([0.7] * 9)
    assert result.confidence_interval[:2] == (result.estimate, result.estimate)
    # Groups of unequal size: sums vary, their ratio does not.
    groups = studentized([0.7] * 9, groups=[1, 1, 1, 1, 2, 2, 3, 3, 3])
    assert groups.confidence_interval[:2] == (groups.estimate, groups.estimate)


def test_interval__not_prepared() -> None:
    """A finished result without errors gives the percentile interval, and says why."""
    result = fb.bootstrap(columns(20)[0], rng=SEED, n_resamples=N_RESAMPLES)
    interval = result.interval(method="studentized")
    assert interval[:4] == result.interval(method="percentile")[:4]
    assert interval.note == (
        "studentized was not prepared: it needs standard errors of all replicates, ask with "
        'method="studentized"'
    )


@undefined
def test_interval__undefined() -> None:
    """An undefined estimate has no interval, nor have missing values; nothing raises."""
    for result in (
        studentized(fb.ratio([1.0, 2.0], [0.0, 0.0])),
        studentized([1.0, math.nan], nan_policy="propagate"),
    ):
        assert all(math.isnan(limit) for limit in result.confidence_interval[:2])
        assert result.confidence_interval.method == "studentized"
        assert not any("prepared" in note for note in result.notes)


def test_interval__beyond_float64() -> None:
    """Squares that overflow leave it undefined, without a warning."""
    result = studentized([1e200, 2e200, 4e200])
    assert math.isnan(result.confidence_interval.low)


def test_result__pickled() -> None:
    """Errors are read-only, also after a pickle."""
    result = studentized(columns(20)[0])
    for one in (result, pickle.loads(pickle.dumps(result))):  # noqa: S301 - our own bytes
        with pytest.raises(ValueError, match="read-only"):
            one.replicate_standard_errors[0] = 1.0
        assert one.confidence_interval == result.confidence_interval


@pytest.mark.parametrize("sample", ["aircondit", "gravity"])
def test_interval__printed(sample: str) -> None:
    """What R's boot printed after 999 resamples, within its own error.

    cran/boot, tests/Examples/boot-Ex.Rout.save of R 3.2 and of version 1.3-31. The k-th of 999
    values has a Beta(k, 1000 - k) share of the law below it.
    """
    n = 100_000
    options: dict[str, Any] = {"method": "studentized", "rng": SEED, "n_resamples": n}
    result: Any
    if sample == "aircondit":
        hours = [3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487]
        result = fb.bootstrap(hours, **options)
        printed = [(47.9, 294.5), (45.6, 295.8)]
    else:
        first = [81, 79, 81, 79, 77, 79, 79, 78, 79, 82, 76, 73, 64]
        second = [84, 86, 85, 82, 77, 76, 77, 80, 83, 81, 78, 78, 78]
        result = unpaired_bootstrap(first, second, **options)
        printed = [(-7.059, -0.101), (-7.370, -0.052)]
    tails = stats.beta.ppf([FALSE_FAILURE / 4, 1 - FALSE_FAILURE / 4], 25, 975)
    # Our own resamples leave the level uncertain, by sqrt(0.025 x 0.975 / n).
    tails += [-DEVIATIONS * 0.16 / math.sqrt(n), DEVIATIONS * 0.16 / math.sqrt(n)]
    wide, narrow = (result.interval(1 - 2 * tail) for tail in tails)
    for low, high in printed:
        assert wide.low < low < narrow.low
        assert narrow.high < high < wide.high


X = [0.1, 0.9, 0.4, 0.7]
MOMENTS = "needs second moments of a few sums, but"
PLAIN = (
    "standard errors of replicates are known for plain resampling with replacement; choose another "
    "method"
)


@pytest.mark.parametrize(
    "statistic,options,message",
    [
        pytest.param(
            fb.median(X),
            {},
            f"{MOMENTS} median is not a function of sums over rows; choose another method, such as "
            "percentile",
            id="weighted",
        ),
        pytest.param(
            fb.f_score([0, 1, 2, 1], [0, 1, 1, 1], average="macro"),
            {},
            f"{MOMENTS} f_score(average=macro) counts classes or bins; choose another method, such "
            "as bca",
            id="tally",
        ),
        pytest.param(
            fb.mean(X), {"scheme": "poisson"}, f"and scheme='poisson': {PLAIN}", id="scheme"
        ),
        pytest.param(
            fb.mean(X),
            {"groups": np.array([1, 1, 2, 2]), "levels": "nested"},
            f"and levels='nested': {PLAIN}",
            id="levels",
        ),
        pytest.param(
            {f"x{i}": fb.mean(np.arange(4.0) ** (i + 1)) for i in range(16)},
            {},
            "needs the products of all terms, but 16 terms vary; up to 15 it can do: ask for fewer "
            "statistics at a time, or choose another method",
            id="terms",
        ),
    ],
)
def test_refused(statistic: Any, options: dict[str, Any], message: str) -> None:
    """What has no standard error in every replicate is named, before any resampling."""
    with pytest.raises(ValueError, match=f'^method="studentized" {re.escape(message)}$'):
        fb.bootstrap(statistic, method="studentized", rng=0, **options)


def test_fifteen_terms() -> None:
    """As many as there may be."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(15, 30))
    table = studentized({str(i): fb.mean(row) for i, row in enumerate(x)}, path="rows")
    rows = drawn(30, "rows")
    for i, row in enumerate(x):
        expected = [row[some].std() / math.sqrt(30) for some in rows]
        assert near(expected) == table[str(i)].replicate_standard_errors.tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_interval__two_groups(alternative: str) -> None:
    """Drawn both they are the sample, drawn twice they have no error: t says nothing."""
    x = np.random.default_rng(0).normal(size=12)
    groups = [0] * 6 + [1] * 6
    result = studentized(x, groups=groups, n_resamples=99, alternative=alternative)
    n_left = int((result.replicate_standard_errors > result.rounding / 4).sum())
    assert 0 < n_left < 99
    assert all(map(math.isnan, result.confidence_interval[:2]))
    assert (
        f"{99 - n_left} of 99 replicates have no standard error (0 or undefined) and are left out; "
        f"studentized is undefined: the replicates vary, but t is the same in all {n_left} that "
        "have a standard error"
    ) in result.notes
    assert not math.isnan(result.interval(method="percentile", alternative="two-sided").low)
