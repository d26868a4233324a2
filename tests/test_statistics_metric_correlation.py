"""Correlation of a metric with human scores across systems: SciPy's, of means of rows."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow.parquet
import pytest
from numpy.typing import NDArray
from scipy import stats

import fastboot as fb
from fastboot import reference
from fastboot.columns import load
from fastboot.statistics.metric_correlation import system_correlation

SEED = 29
Floats = NDArray[np.float64]
Name = Literal["pearson", "spearman", "kendall"]
SCIPY: dict[Name, Any] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
each = pytest.mark.parametrize("name", SCIPY)


def values(statistic: Any, weights: Any = None, data: Any = None) -> Any:
    """Return the statistic of weighted rows, from the sums of their terms."""
    rows = load(statistic.columns, data)
    bound = statistic.bind([rows.columns])
    weights = np.ones(rows.n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    sums = [
        np.stack([(weights * term.values * (term.codes == k)).sum(-1) for k in range(term.size)])
        for term in bound.terms(*rows.columns)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        return bound.finish(*sums)


def of_rows(name: Name, metric: Floats, human: Floats, systems: Any) -> float:
    """SciPy's correlation of the means of each system's rows."""
    means = [
        [scores[systems == system].mean() for system in dict.fromkeys(systems)]
        for scores in (metric, human)
    ]
    if any(len(set(scores)) == 1 for scores in means):  # SciPy warns
        return math.nan
    return float(SCIPY[name](*means).statistic)


def near(expected: float, n_rows: int, n_systems: int) -> Any:
    """Equal but for rounding, for means that are about as large as they differ.

    A mean errs by as many roundings as a system has rows, say three times n_rows / n_systems, the
    three sums over systems by n_systems; SciPy's as well.
    """
    n_roundings = 2 * 3 * (3 * n_rows / n_systems + n_systems)
    return pytest.approx(expected, abs=n_roundings * 2.0**-52, rel=0, nan_ok=True)


@each
@pytest.mark.parametrize("n_systems", [2, 3, 12])
@pytest.mark.parametrize("graded", [False, True])
def test_system_correlation__scipy(name: Name, n_systems: int, graded: bool) -> None:
    """Weighted sums give SciPy's correlation of repeated rows, with and without ties."""
    rng = np.random.default_rng(SEED)
    n_rows = 20 * n_systems
    systems = rng.permutation(np.repeat([f"s{i}" for i in range(n_systems)], 20))
    human, metric = rng.normal(size=(2, n_rows))
    if graded:  # sums of integers are exact, so SciPy sees the same ties
        human, metric = np.round(human), np.round(metric + human)
    weights = rng.multinomial(n_rows, [1 / n_rows] * n_rows, 40)
    ours = values(system_correlation(metric, human, systems, correlation=name), weights)
    for times, correlation in zip(weights, ours, strict=True):
        rows = np.arange(n_rows).repeat(times)
        expected = of_rows(name, metric[rows], human[rows], systems[rows])
        assert near(expected, n_rows, n_systems) == correlation


@each
def test_system_correlation__many_ties(name: Name) -> None:
    """One row for each system, mostly tied."""
    rng = np.random.default_rng(SEED)
    for _ in range(50):
        metric, human = rng.integers(0, 3, (2, 9)).astype(np.float64)
        expected = of_rows(name, metric, human, np.arange(9))
        ours = values(system_correlation(metric, human, np.arange(9), correlation=name))
        assert near(expected, 9, 9) == ours


@each
def test_system_correlation__ties_by_rounding(name: Name) -> None:
    """Means that only the order of additions tells apart are tied."""
    rows = np.random.default_rng(SEED).random(50)
    metric = np.concatenate([rows, rows[::-1], np.sort(rows), rows + 1.0])
    assert len({metric[i : i + 50].sum() for i in (0, 50, 100)}) > 1
    systems = np.repeat(np.arange(4), 50)
    human = np.repeat([1.0, 2.0, 3.0, 4.0], 50)
    expected = SCIPY[name]([0, 0, 0, 1], [1, 2, 3, 4]).statistic
    ours = values(system_correlation(metric, human, systems, correlation=name))
    assert near(expected, 200, 4) == ours
    tied, systems = metric[:150], systems[:150]
    assert math.isnan(values(system_correlation(tied, human[:150], systems, correlation=name)))


@each
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 / 3])
def test_system_correlation__undefined(name: Name, constant: float) -> None:
    """Undefined where a column is constant or a system is absent."""
    rng = np.random.default_rng(SEED)
    systems, scores = np.repeat(np.arange(25), 4), rng.random(100)
    column = np.full(100, constant)
    weights = rng.integers(1, 4, (9, 100))
    for metric, human in ((column, scores), (scores, column)):
        ours = values(system_correlation(metric, human, systems, correlation=name), weights)
        assert np.isnan(ours).all()
    weights[3, systems == 7] = 0
    ours = values(system_correlation(scores, rng.random(100), systems, correlation=name), weights)
    assert [3] == np.flatnonzero(np.isnan(ours)).tolist()


@each
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_system_correlation__perfect(name: Name, scale: float) -> None:
    """Exactly 1 or -1 at the end, never beyond, at any scale."""
    systems, scores = np.arange(30), scale * np.random.default_rng(SEED).random(30)
    ours = values(system_correlation(scores, 0.1 * scale + scores / 3, systems, correlation=name))
    assert near(1.0, 30, 30) == ours
    assert ours <= 1.0
    assert near(-1.0, 30, 30) == values(
        system_correlation(scores, -scores, systems, correlation=name)
    )


def test_system_correlation__unlike_systems() -> None:
    """Compared metrics may list the systems in any order, or lack some."""
    first = system_correlation([1, 2, 4], [1, 2, 3], ["x", "y", "z"])
    second = system_correlation([1, 2, 4], [1, 3, 2], ["z", "x", "y"])
    systems = [load(statistic.columns).columns for statistic in (first, second)]
    bound = first.bind(systems)
    terms = [bound.terms(*columns) for columns in systems]
    assert [0, 1, 2] == terms[0][0].codes.tolist()  # type: ignore[union-attr] # a tally
    assert [2, 0, 1] == terms[1][0].codes.tolist()  # type: ignore[union-attr] # a tally


def test_system_correlation__refused() -> None:
    """An unknown correlation and a single system."""
    with pytest.raises(ValueError, match='correlation=\'tau\'; choose one of "pearson", "spear'):
        system_correlation("x", "y", "z", correlation="tau")  # type: ignore[arg-type] # wrong on purpose
    statistic = system_correlation([1, 2], [1, 2], ["bart", "bart"])
    with pytest.raises(
        ValueError, match="`systems` names one system, 'bart'; a correlation across"
    ):
        values(statistic)


@each
def test_system_correlation__picklable(name: Name) -> None:
    """Statistics travel to other processes, and name their arguments."""
    columns = [1, 2, 4, 3], [1, 3, 2, 4], list("wxyz")
    statistic = system_correlation(*columns, correlation=name)
    assert values(statistic) == values(pickle.loads(pickle.dumps(statistic)))  # noqa: S301 - our own bytes
    assert repr(system_correlation("m", "h", "s", correlation=name)) == (
        f"system_correlation({name})(`metric` (column 'm'), `human` (column 'h'), `systems` "
        "(column 's'))"
    )


# Summaries judged by people: Bhandari et al. (2020)


@pytest.fixture(scope="module")
def summaries() -> Any:
    """ROUGE and human recall of 14 summarizers of 100 documents."""
    return pyarrow.parquet.read_table(Path(__file__).parent / "data" / "realsumm_abs.parquet")


@pytest.mark.parametrize(
    "metric, name, expected",
    [
        # Computed with SciPy 1.17.1 from float64 means; Pearson's also listed with the data.
        ("rouge_1_recall", "pearson", 0.9130165249823875),
        ("rouge_2_recall", "pearson", 0.9826701900520711),
        ("rouge_2_recall", "spearman", 0.9472527472527472),
        ("rouge_2_recall", "kendall", 0.8681318681318682),
    ],
)
def test_system_correlation__realsumm(
    metric: str, name: Name, expected: float, summaries: Any
) -> None:
    """The correlation of real means, with a replicate for each resample of documents."""
    statistic = system_correlation(metric, "litepyramid_recall", "system", correlation=name)
    assert near(expected, 1400, 14) == values(statistic, data=summaries)
    result = fb.bootstrap(
        statistic, data=summaries, groups="document", rng=SEED, n_resamples=20, path="rows"
    )
    assert near(expected, 1400, 14) == result.estimate
    scores, human, systems, documents = (
        summaries[column].to_numpy()
        for column in (metric, "litepyramid_recall", "system", "document")
    )
    for r, replicate in enumerate(result.replicates.tolist()):
        units = reference.bootstrap_rows(100, SEED, r, "rows")
        rows = reference.rows_of(units, documents.tolist())
        correlation = of_rows(
            name, scores[rows].astype(np.float64), human[rows].astype(np.float64), systems[rows]
        )
        assert near(correlation, 1400, 14) == replicate


def test_system_correlation__better_metric(summaries: Any) -> None:
    """ROUGE-2 recall follows people more closely than ROUGE-1, and each as closely as itself."""
    first, second = (
        system_correlation(f"rouge_{n}_recall", "litepyramid_recall", "system") for n in (2, 1)
    )
    result = fb.paired_bootstrap(first, second, data=summaries, groups="document", rng=SEED)
    assert result.estimate > 0.0
    same = fb.paired_bootstrap(first, first, data=summaries, groups="document", rng=SEED)
    assert same.pvalue == 1.0
