"""Macro averages against loops over groups with scikit-learn and NumPy, and their errors."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import krippendorff
import numpy as np
import pytest
from drawn import SEED, nested, parts_of, plain
from enumeration import assert_standard_error
from numpy.typing import NDArray
from sklearn.metrics import f1_score, roc_auc_score

import fastboot as fb
from fastboot import reference
from fastboot.statistics.macro import macro

if TYPE_CHECKING:
    from drawn import Drawn

Floats = NDArray[np.float64]
Rows = list[int]

N = 120
N_RESAMPLES = 60
CLASSES = ["x", "y", "z"]
EPSILON = 2.0**-52

undefined = pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")


def _table() -> dict[str, Any]:
    """Whole numbers and labels in four languages, one of them rare; documents have one language."""
    rng = np.random.default_rng(2_027)
    language = np.repeat(["de", "en", "fi", "sv"], [50, 40, 27, 3])
    document = np.concatenate(
        [
            np.sort(rng.integers(0, n, size)) + 100 * i
            for i, (n, size) in enumerate([(9, 50), (8, 40), (6, 27), (2, 3)])
        ]
    )
    order = rng.permutation(N)
    gold = rng.choice(CLASSES, N, p=[0.5, 0.3, 0.2])
    x = rng.integers(-9, 10, N)
    return {
        "x": x,
        "y": x + rng.integers(-9, 10, N),
        "gold": gold,
        "predicted": np.where(rng.random(N) < 0.7, gold, rng.choice(CLASSES, N)),
        "second": np.where(rng.random(N) < 0.6, gold, rng.choice(CLASSES, N)),
        "relevant": rng.integers(0, 2, N),
        "language": language[order],
        "document": document[order],
        "half": np.resize(["u", "v"], N),
    }  # fmt: skip


TABLE = _table()
LANGUAGES = ["de", "en", "fi", "sv"]


def _f_score(rows: Rows, **options: Any) -> Any:
    gold, predicted = TABLE["gold"][rows], TABLE["predicted"][rows]
    return f1_score(gold, predicted, **{"labels": CLASSES, "zero_division": 0} | options)


def _auc(rows: Rows) -> float:
    relevant = TABLE["relevant"][rows]
    return roc_auc_score(relevant, TABLE["x"][rows]) if len(set(relevant)) == 2 else math.nan


def _alpha(rows: Rows) -> float:
    ratings = [[CLASSES.index(label) for label in TABLE[rater][rows]] for rater in RATERS]
    if len({*ratings[0], *ratings[1]}) < 2:
        return math.nan
    return float(krippendorff.alpha(ratings, level_of_measurement="nominal"))


def _pearson(rows: Rows) -> float:
    pair = np.stack([TABLE["x"][rows], TABLE["y"][rows]])
    if (pair == pair[:, :1]).all(axis=1).any():
        return math.nan
    return float(np.corrcoef(pair)[0, 1])


RATERS = ("gold", "predicted", "second")


class Case(NamedTuple):
    """A statistic of a group, and the same of a list of rows by a trusted library."""

    make: Callable[[], Any]
    value: Callable[[Rows], float]


CASES = {
    "mean": Case(lambda: fb.mean("x"), lambda rows: TABLE["x"][rows].mean()),
    "macro F": Case(
        lambda: fb.f_score("gold", "predicted", average="macro", zero_division=0),
        lambda rows: _f_score(rows, average="macro"),
    ),
    "macro F of one class": Case(
        lambda: fb.f_score("gold", "predicted", average="macro", labels=["y"], zero_division=0),
        lambda rows: _f_score(rows, average="macro", labels=["y"]),
    ),
    "pearson": Case(lambda: fb.pearson("x", "y"), _pearson),
    "alpha": Case(lambda: fb.krippendorff_alpha(*RATERS, level="nominal"), _alpha),
    "median": Case(lambda: fb.median("x"), lambda rows: np.median(TABLE["x"][rows])),
    "roc_auc": Case(lambda: fb.roc_auc("relevant", "x"), _auc),
    "function": Case(
        lambda: fb.statistic(np.ptp, "x", name="range"), lambda rows: np.ptp(TABLE["x"][rows])
    ),
}
every_case = pytest.mark.parametrize("case", CASES)
either = pytest.mark.parametrize("skip", [False, True])

# Sums of whole numbers are exact. What rounds: a few operations on either side for each of at most
# 15 classes, raters and groups, of values up to 20; a correlation divides by roots of numbers that
# are subtracted, at least 1 in at most 120 x 81 here, which costs four digits.
TOLERANCE = 2e4 * 2 * 15 * EPSILON


def expected(case: str, drawn: Drawn, *, skip: bool, copies: dict[str, int] | None = None) -> float:
    """Average the values of languages, each as often as it is drawn if they are drawn whole."""
    values, weights = [], []
    for language in LANGUAGES:
        rows = [row for row, _ in drawn if TABLE["language"][row] == language]
        weight = 1 if copies is None else copies.get(language, 0)
        value = float(CASES[case].value(rows)) if rows else math.nan
        if weight and not (skip and math.isnan(value)):
            values.append(value)
            weights.append(weight)
    return float(np.average(values, weights=weights)) if values else math.nan


def assert_replicates(found: Any, values: list[float]) -> None:
    """Replicates are the values, NaN and all."""
    assert found.replicates == pytest.approx(values, rel=0.0, abs=TOLERANCE, nan_ok=True)
    assert found.n_undefined == sum(map(math.isnan, values))


def run(case: str, *, skip: bool, **options: Any) -> Any:
    """Bootstrap the macro average."""
    statistic = macro(CASES[case].make(), "language", skip_undefined=skip)
    return fb.bootstrap(statistic, data=TABLE, rng=SEED, **{"n_resamples": N_RESAMPLES, **options})


# Replicates


@undefined
@either
@every_case
@pytest.mark.parametrize("path", ["rows", "patterns", "weights"])
def test_macro__rows(case: str, path: str, *, skip: bool) -> None:
    """Rows are drawn whatever their language, and a language without rows is undefined."""
    found = run(case, skip=skip, path=path)
    words: Any = path
    resamples = [
        [(row, 1) for row in reference.bootstrap_rows(N, SEED, r, words)]
        for r in range(N_RESAMPLES)
    ]
    values = [expected(case, drawn, skip=skip) for drawn in resamples]
    assert_replicates(found, values)
    observed = expected(case, [(row, 1) for row in range(N)], skip=skip)
    assert found.estimate == pytest.approx(observed, rel=0.0, abs=TOLERANCE)
    if skip:
        assert found.n_undefined == 0
    else:  # three rows are missed by (1 - 3 / 120)^120 = 4.8 % of the resamples
        assert found.n_undefined > 0


@undefined
@either
@every_case
@pytest.mark.parametrize("groups", [None, "document"])
def test_macro__strata(case: str, groups: str | None, *, skip: bool) -> None:
    """Languages are fixed, and their rows or documents drawn."""
    found = run(case, skip=skip, strata="language", groups=groups)
    labels = None if groups is None else TABLE[groups].tolist()
    parts = parts_of(N, labels, TABLE["language"].tolist())
    assert_replicates(
        found, [expected(case, plain(parts, r)[None], skip=skip) for r in range(N_RESAMPLES)]
    )


@undefined
@either
@every_case
def test_macro__documents(case: str, *, skip: bool) -> None:
    """Documents are drawn whole; a language has several, so it counts once."""
    found = run(case, skip=skip, groups="document")
    parts = parts_of(N, TABLE["document"].tolist())
    assert_replicates(
        found, [expected(case, plain(parts, r)[None], skip=skip) for r in range(N_RESAMPLES)]
    )


def copies_of(drawn: Drawn) -> dict[str, int]:
    """How often each language was drawn whole: the copies of one of its rows."""
    counts = Counter(row for row, _ in drawn)
    return {TABLE["language"][row]: copies for row, copies in counts.items()}


@either
@every_case
def test_macro__languages(case: str, *, skip: bool) -> None:
    """Languages are drawn: one that is drawn twice counts twice, one that is not is not missed."""
    found = run(case, skip=skip, groups="language")
    parts = parts_of(N, TABLE["language"].tolist())
    resamples = [plain(parts, r)[None] for r in range(N_RESAMPLES)]
    assert_replicates(
        found, [expected(case, drawn, skip=skip, copies=copies_of(drawn)) for drawn in resamples]
    )
    assert found.n_undefined == 0


@undefined
@either
@every_case
@pytest.mark.parametrize("inner", [None, "document"])
def test_macro__nested(case: str, inner: str | None, *, skip: bool) -> None:
    """Languages are drawn, and rows or documents inside each copy; a copy counts once."""
    groups = ["language"] if inner is None else ["language", inner]
    found = run(case, skip=skip, groups=groups, levels="nested")
    parts = parts_of(N, TABLE["language"].tolist())
    labels = None if inner is None else TABLE[inner].tolist()
    n_inner = {
        language: len({TABLE[inner][row] if inner else row
                       for row in range(N) if TABLE["language"][row] == language})
        for language in LANGUAGES
    }  # fmt: skip
    values = []
    for r in range(N_RESAMPLES):
        drawn = nested(parts, r, labels)[None]
        # As many units inside each copy as the language has.
        sizes = Counter(TABLE[inner].tolist()) if inner else Counter(range(N))
        units = Counter(TABLE[inner][row] if inner else row for row, _ in drawn)
        n_drawn = Counter[str]()
        for unit, rows in units.items():
            row = TABLE[inner].tolist().index(unit) if inner else unit
            n_drawn[TABLE["language"][row]] += rows // sizes[unit]
        copies = {language: n // n_inner[language] for language, n in n_drawn.items()}
        assert sum(copies.values()) == len(LANGUAGES)
        values.append(expected(case, drawn, skip=skip, copies=copies))
    assert_replicates(found, values)


@undefined
def test_macro__collapse() -> None:
    """Equal rows of one language can be counted."""
    found = run("mean", skip=False, path="collapse", strata=None)
    classes = list(zip(TABLE["language"].tolist(), TABLE["x"].tolist(), strict=True))
    values = [
        expected(
            "mean",
            [(row, 1) for row in reference.bootstrap_rows(N, SEED, r, "collapse", classes)],
            skip=False,
        )
        for r in range(N_RESAMPLES)
    ]
    assert_replicates(found, values)


@undefined
@either
@every_case
@pytest.mark.parametrize("groups", [None, "language"])
def test_macro__slices(case: str, groups: str | None, *, skip: bool) -> None:
    """A slice averages over its own rows of the languages."""
    found = run(case, skip=skip, by="half", groups=groups)
    labels = None if groups is None else TABLE[groups].tolist()
    parts = parts_of(N, labels, by=TABLE["half"].tolist())
    for half in ("u", "v"):
        resamples = [plain(parts, r)[half] for r in range(N_RESAMPLES)]
        copies = [copies_of(drawn) if groups else None for drawn in resamples]
        assert_replicates(
            found[half],
            [
                expected(case, drawn, skip=skip, copies=own)
                for drawn, own in zip(resamples, copies, strict=True)
            ],
        )
    total = run(case, skip=skip, groups=groups)
    assert found.total.replicates == pytest.approx(
        total.replicates, rel=0.0, abs=TOLERANCE, nan_ok=True
    )


@pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")
@pytest.mark.parametrize("case", ["mean", "median", "roc_auc", "function"])
@either
def test_macro__slice_without_a_group(case: str, *, skip: bool) -> None:
    """A slice that has no row of a language is undefined, or averages over the others."""
    where = np.where(TABLE["language"] == "sv", "v", TABLE["half"])
    statistic = macro(CASES[case].make(), "language", skip_undefined=skip)
    found = fb.bootstrap(statistic, data=TABLE, by=where, rng=SEED, n_resamples=20)
    rows = [(row, 1) for row in np.flatnonzero(where == "u").tolist()]
    observed = expected(case, rows, skip=skip)
    assert found["u"].estimate == pytest.approx(observed, rel=0.0, abs=TOLERANCE, nan_ok=True)
    assert math.isnan(observed) != skip


def test_macro__slices_of_different_languages() -> None:
    """Groups drawn whole, of which some are in fewer slices, have no average over all rows."""
    where = np.where(TABLE["language"] == "sv", "v", TABLE["half"])
    statistic = macro(fb.mean("x"), "language")
    message = (
        "`by`: the groups of a macro average are drawn whole, but some have rows in more slices "
        "than others, which cannot be averaged over all rows; keep a slice at a time"
    )
    with pytest.raises(ValueError, match=f"^{message}$"):
        fb.bootstrap(statistic, data=TABLE, by=where, groups="language", rng=SEED)


@undefined
@either
def test_macro__several_values(*, skip: bool) -> None:
    """A statistic with a value for each class has a macro average of each."""
    statistic = macro(
        fb.f_score("gold", "predicted", average=None, zero_division=0), "language",
        skip_undefined=skip,
    )  # fmt: skip
    options: dict[str, Any] = {"data": TABLE, "rng": SEED, "n_resamples": N_RESAMPLES}
    found: Any = fb.bootstrap(statistic, groups="document", **options)
    parts = parts_of(N, TABLE["document"].tolist())
    values = []
    for r in range(N_RESAMPLES):
        drawn = plain(parts, r)[None]
        of_languages = [
            _f_score(rows, average=None) if rows else np.full(3, math.nan)
            for rows in (
                [row for row, _ in drawn if TABLE["language"][row] == language]
                for language in LANGUAGES
            )
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing
            values.append((np.nanmean if skip else np.mean)(of_languages, axis=0))
    assert sorted(found) == CLASSES
    for label in CLASSES:
        assert_replicates(found[label], [float(value[CLASSES.index(label)]) for value in values])
    whole: Any = fb.bootstrap(statistic, groups="language", **options)
    assert {one.n_undefined for one in whole.values()} == {0}


def test_macro__of_a_macro() -> None:
    """The mean over languages of the mean over their documents, with languages drawn."""
    within = macro(fb.mean("x"), "document", skip_undefined=True)
    found = fb.bootstrap(
        macro(within, "language"), data=TABLE, groups="language", rng=SEED,
        n_resamples=N_RESAMPLES,
    )  # fmt: skip

    def of_language(language: str) -> float:
        own = TABLE["language"] == language
        documents = np.unique(TABLE["document"][own])
        return float(np.mean([TABLE["x"][TABLE["document"] == d].mean() for d in documents]))

    parts = parts_of(N, TABLE["language"].tolist())
    values = [
        sum(n * of_language(language) for language, n in copies_of(plain(parts, r)[None]).items())
        / len(LANGUAGES)
        for r in range(N_RESAMPLES)
    ]
    assert_replicates(found, values)


def test_macro__combined() -> None:
    """A function of macro averages is that of their replicates, also where groups are drawn."""
    options: dict[str, Any] = {"data": TABLE, "rng": SEED, "groups": "language"}
    parts: list[Any] = [macro(fb.mean(column), "language") for column in "xy"]
    found = fb.bootstrap(fb.combine(np.subtract, *parts), **options)
    x, y = (fb.bootstrap(part, **options).replicates for part in parts)
    assert found.replicates == pytest.approx(x - y, rel=0.0, abs=TOLERANCE)


@pytest.mark.parametrize("case", ["mean", "median"])
def test_macro__row_weights(case: str) -> None:
    """Weights of rows count inside the languages, not between them."""
    weights = np.random.default_rng(SEED).integers(1, 4, N)
    statistic = macro(CASES[case].make(), "language")
    for groups in (None, "language"):
        found = fb.bootstrap(
            statistic, data=TABLE, weights=weights, groups=groups, rng=SEED,
            n_resamples=N_RESAMPLES, strata="language" if groups is None else None,
        )  # fmt: skip
        repeated = [(row, 1) for row in np.repeat(np.arange(N), weights).tolist()]
        observed = expected(case, repeated, skip=False)
        assert found.estimate == pytest.approx(observed, rel=0.0, abs=TOLERANCE)
        if groups:
            parts = parts_of(N, TABLE["language"].tolist())
            assert_replicates(
                found,
                [
                    expected(case, repeated, skip=False, copies=copies_of(plain(parts, r)[None]))
                    for r in range(N_RESAMPLES)
                ],
            )


@undefined
@pytest.mark.parametrize("case", ["mean", "median"])
def test_macro__nothing_defined(case: str) -> None:
    """Where no group is defined, so is no average of those that are."""
    statistic = macro(
        fb.ratio("x", np.zeros(N)) if case == "mean" else fb.roc_auc(np.ones(N, int), "x"),
        "language", skip_undefined=True,
    )  # fmt: skip
    found = fb.bootstrap(statistic, data=TABLE, rng=SEED, n_resamples=20)
    assert math.isnan(found.estimate)
    assert found.n_undefined == 20


def test_macro__acceleration() -> None:
    """BCa leaves out rows, or languages, exactly."""
    for case in ("mean", "median"):
        for groups in (None, "language"):
            found = run(case, skip=True, groups=groups, method="bca", n_resamples=99)
            units = TABLE[groups or "x"] if groups else np.arange(N)
            left_out = []
            for unit in np.unique(units):
                rows = [(row, 1) for row in np.flatnonzero(units != unit).tolist()]
                copies = copies_of(rows) if groups else None
                left_out.append(expected(case, rows, skip=True, copies=copies))
            d = np.mean(left_out) - np.array(left_out)
            # Efron 1987
            acceleration = (d**3).sum() / (6.0 * (d**2).sum() ** 1.5)
            # Third powers of differences that round at TOLERANCE of 1.
            assert found.acceleration == pytest.approx(acceleration, rel=1e-6)


# Standard errors in closed form. Each fails by chance once in a million (tests/enumeration.py).


def _groups(n_groups: int) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(n_groups)
    sizes = rng.integers(3, 40, n_groups)
    codes = np.repeat(np.arange(n_groups), sizes)
    spread = rng.uniform(0.5, 3.0, n_groups)
    return rng.normal(size=n_groups)[codes] + spread[codes] * rng.normal(size=codes.size), codes


@pytest.mark.parametrize("inner", [fb.mean, lambda x: fb.statistic(np.mean, x, vectorized=True)])
def test_standard_error__fixed_groups(inner: Any) -> None:
    """Fixed groups: sqrt(sum s^2 / n_g) / G of the macro, sqrt(sum n_g s^2) / n of the micro mean.

    With s^2 the variance inside a group, divisor n_g; both are exact.
    """
    x, codes = _groups(12)
    sizes = np.bincount(codes)
    variances = np.array([x[codes == group].var() for group in range(12)])
    n_resamples = 9_999 if inner is fb.mean else 2_000
    options: dict[str, Any] = {"strata": codes, "rng": SEED, "n_resamples": n_resamples}
    assert_standard_error(
        fb.bootstrap(macro(inner(x), codes), **options),
        math.sqrt((variances / sizes).sum()) / 12,
    )
    assert_standard_error(
        fb.bootstrap(inner(x), **options), math.sqrt((sizes * variances).sum()) / x.size
    )


@pytest.mark.parametrize("inner", [fb.mean, fb.median])
@pytest.mark.parametrize("scheme", ["multinomial", "bayesian"])
@either
def test_standard_error__sampled_groups(inner: Any, scheme: str, *, skip: bool) -> None:
    """With groups=by: the standard deviation of the groups' values / sqrt(G), divisor G.

    Exact for draws; Dirichlet weights have the divisor G + 1 in place of G in the variance of the
    mean (Rubin 1981).
    """
    x, codes = _groups(40)
    function = np.mean if inner is fb.mean else np.median
    values = np.array([function(x[codes == group]) for group in range(40)])
    found = fb.bootstrap(
        macro(inner(x), codes, skip_undefined=skip), groups=codes, scheme=scheme, rng=SEED
    )
    divisor = 40 if scheme == "multinomial" else 41
    if scheme == "multinomial" or inner is fb.mean:
        assert_standard_error(found, values.std() / math.sqrt(divisor))


@pytest.mark.parametrize("inner", [fb.mean, fb.median])
def test_standard_error__paired_groups(inner: Any) -> None:
    """With groups=by, of a difference: that of the differences of the groups' values."""
    (x, codes), y = _groups(40), np.random.default_rng(SEED).normal(size=_groups(40)[0].size)
    function = np.mean if inner is fb.mean else np.median
    gaps = [function(x[codes == group]) - function(y[codes == group]) for group in range(40)]
    found: Any = fb.paired_bootstrap(
        macro(inner(x), codes), macro(inner(y), codes), groups=codes, rng=SEED
    )
    assert_standard_error(found, float(np.std(gaps)) / math.sqrt(40))


@pytest.mark.parametrize("inner", [fb.mean, fb.median])
def test_standard_error__two_samples(inner: Any) -> None:
    """Groups of two samples are drawn in each: variances add up."""
    samples = [_groups(n) for n in (25, 40)]
    function = np.mean if inner is fb.mean else np.median
    variance = 0.0
    for x, codes in samples:
        values = [function(x[codes == group]) for group in range(codes.max() + 1)]
        variance += float(np.var(values)) / len(values)
    a, b = (macro(inner(x), codes) for x, codes in samples)
    found: Any = fb.unpaired_bootstrap(a, b, groups=(samples[0][1], samples[1][1]), rng=SEED)
    assert_standard_error(found, math.sqrt(variance))


def test_permutation__two_samples() -> None:
    """Groups are relabelled whole, each a copy of its own: the test on the values of groups."""
    samples = [_groups(n) for n in (9, 12)]
    values = [
        np.array([x[codes == group].mean() for group in range(codes.max() + 1)])
        for x, codes in samples
    ]
    options: dict[str, Any] = {"rng": SEED, "n_resamples": 500}
    ours = fb.permutation_test(
        *(macro(fb.mean(x), codes) for x, codes in samples),
        groups=(samples[0][1], samples[1][1]), **options,
    )  # fmt: skip
    theirs = fb.permutation_test(*values, **options)
    assert ours.replicates == pytest.approx(theirs.replicates, rel=0.0, abs=TOLERANCE)
    assert ours.pvalue == theirs.pvalue


@pytest.mark.parametrize("inner", [fb.mean, fb.median])
@pytest.mark.parametrize("groups", [None, "language"])
def test_randomization__loop(inner: Any, groups: str | None) -> None:
    """Swapped rows or languages change the averages as a loop over languages says."""
    found = fb.approximate_randomization(
        macro(inner("x"), "language"), macro(inner("y"), "language"),
        data=TABLE, groups=groups, rng=SEED, n_resamples=4,
    )  # fmt: skip
    function = np.mean if inner is fb.mean else np.median
    x, y = TABLE["x"].tolist(), TABLE["y"].tolist()
    labels = TABLE["language"].tolist() if groups else list(range(N))
    units = sorted(set(labels))
    # Units that do not differ are never swapped.
    differing = [
        unit for unit in units
        if any(x[row] != y[row] for row in range(N) if labels[row] == unit)
        and (
            inner is not fb.mean or groups is None
            or sum(x[row] - y[row] for row in range(N) if labels[row] == unit) != 0
        )
    ]  # fmt: skip
    assert found.n_differing == len(differing)
    for r, replicate in enumerate(found.replicates.tolist()):
        flags = reference.swaps(len(differing), SEED, r, "weights")
        chosen = {unit for unit, flag in zip(differing, flags, strict=True) if flag}
        new = reference.swapped(x, y, [label in chosen for label in labels])
        value = [
            np.mean([
                function([v for v, own in zip(side, TABLE["language"], strict=True) if own == one])
                for one in LANGUAGES
            ])
            for side in new
        ]  # fmt: skip
        assert replicate == pytest.approx(value[0] - value[1], rel=0.0, abs=TOLERANCE)


# Messages


@pytest.mark.parametrize("value", [1, "yes", None])
def test_macro__skip_undefined_refused(value: Any) -> None:
    """Only True and False say whether to skip."""
    with pytest.raises(TypeError) as caught:
        macro(fb.mean("x"), "language", skip_undefined=value)
    assert str(caught.value) == f"`skip_undefined` is {value!r}; it must be True or False"


@pytest.mark.parametrize("value", ["x", 3, fb.statistic(np.ptp, "x", labels=["a", "b"])])
def test_macro__statistic_refused(value: Any) -> None:
    """A column is no statistic, and several values of weights are not averaged."""
    with pytest.raises(TypeError) as caught:
        macro(value, "language")
    assert str(caught.value) == (
        f"`statistic` is {value!r}; macro averages a statistic with one value, such as "
        "fb.accuracy('gold', 'predicted'), or an additive one with several"
    )


def test_macro__missing_group() -> None:
    """A row without a group is refused, or left out."""
    by = ["a", None, "b"]
    with pytest.raises(ValueError, match=r"^`by` has 1 null \(first at row 1\)"):
        fb.bootstrap(macro(fb.mean([1.0, 2.0, 5.0]), by), rng=0)
    found = fb.bootstrap(
        macro(fb.mean([1.0, 2.0, 5.0]), by), strata=["a", "a", "b"], nan_policy="omit", rng=0,
        n_resamples=5,
    )  # fmt: skip
    assert found.estimate == 3.0
    assert found.n_dropped == 1
