"""Statistics that depend on the number of rows: refused where wrong, and shares are told of."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastboot as fb
from fastboot.designs import Design
from fastboot.sample import take
from fastboot.scaling import degrees

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 200))
GOLD, GUESS = RNG.integers(0, 3, (2, 200))
PLAIN = Design((), None, (), (), "multinomial", None, None)


class Affine(fb.Additive):
    """A sum and a constant beside it."""

    def terms(self, values: Any) -> Any:
        """Return the values."""
        return (values,)

    def finish(self, total: Any) -> Any:
        """Return the sum, moved."""
        return 50.0 + total


class Power(fb.Additive):
    """A power of a total."""

    def __init__(self, values: Any, power: float) -> None:
        super().__init__(values, name="power")
        self.power = power

    def terms(self, values: Any) -> Any:
        """Return the sizes of the values."""
        return (np.abs(values),)

    def finish(self, total: Any) -> Any:
        """Return the power."""
        return total**self.power


class WeightedSum(fb.Weighted):
    """A total that asks for the weights of rows."""

    def prepare(self, values: Any) -> Any:
        """Return the values."""
        return values

    def values(self, prepared: Any, weights: Any) -> Any:
        """Return the sums."""
        return weights @ prepared


GROWING: dict[str, tuple[Any, float]] = {
    "total": (fb.total(X), 1.0),
    "a total of 0": (fb.total([1, -1] * 20), 1.0),
    "tiny": (fb.total(X * 1e-300), 1.0),
    "affine": (Affine(X), 1.0),
    "square": (Power(X, 2.0), 2.0),
    "function": (fb.statistic(np.sum, X), 1.0),
    "vector": (fb.statistic(lambda x: (x.mean(), x.sum()), X, labels=["mean", "sum"]), 1.0),
    "weights": (WeightedSum(X), 1.0),
    "combination": (fb.combine(lambda t, m: t * m, fb.total(X), fb.mean(Y)), 1.0),
}
STAYING: dict[str, Any] = {
    "mean": fb.mean(X),
    "ratio": fb.ratio(X, np.abs(Y)),
    "std of two": fb.std(X[:2], ddof=1),
    "variance of three": fb.variance(X[:3], ddof=2.5),
    "skewness of three": fb.skewness(X[:3], bias=False),
    "median of two": fb.median(X[:2]),
    "quantile of few": fb.quantile(X[:4], 0.3),
    "function": fb.statistic(np.ptp, X),
    "standard deviation by function": fb.statistic(lambda x: np.std(x, ddof=1), X[:3]),
    "rank correlation": fb.spearman(X, Y),
    "alpha of few": fb.krippendorff_alpha([1, 2, 2, 1], [2, 1, 1, 1]),
    "macro-F": fb.f_score(GOLD, GUESS, average="macro"),
    "area": fb.roc_auc(GOLD > 0, X),
    "risk": fb.risk_coverage_area(GOLD[:3], GUESS[:3], X[:3]),
}


def degrees_of(statistic: Any) -> Any:
    """Return the powers of the number of rows."""
    sample = take([statistic], None, PLAIN, "raise")
    return degrees(sample.bounds[0], sample)


@pytest.mark.parametrize("name", GROWING)
def test_growing(name: str) -> None:
    """Sums of any kind have the power of the number of rows that they grow with."""
    statistic, power = GROWING[name]
    assert degrees_of(statistic)[-1] == pytest.approx(power, abs=1e-3)
    for n_drawn in (7, 400):
        with pytest.raises(ValueError, match=rf"^`n_drawn` is {n_drawn} of .* grows with the num"):
            fb.bootstrap(statistic, n_drawn=n_drawn, n_resamples=9, rng=0)


@pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")
@pytest.mark.parametrize("name", STAYING)
def test_staying(name: str) -> None:
    """Corrections for few rows do not make a statistic grow, nor does a rank."""
    (power,) = degrees_of(STAYING[name])
    assert np.isnan(power) or abs(power) < 0.9
    result = fb.bootstrap(STAYING[name], n_drawn=7, n_resamples=9, rng=0)
    assert result.n_resamples == 9


def test_root() -> None:
    """A test statistic grows with the root: what it is at another size is a fair question."""
    assert degrees_of(Power(X, 0.5)) == pytest.approx(0.5)
    assert fb.bootstrap(Power(X, 0.5), n_drawn=50, n_resamples=9, rng=0).n_resamples == 9


def test_n_drawn__message() -> None:
    """The refusal says what grows, of how many units, and what to ask for."""
    message = (
        "`n_drawn` is 4,000 of 40 groups, but total grows with the number of rows: its resamples "
        "are of another size than the estimate, and neither interval nor p-value would be about "
        "it; ask for the mean, as fb.mean does, or leave n_drawn out"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        fb.paired_bootstrap(
            fb.total(X + 1), fb.total(X), groups=np.arange(200) // 5, n_drawn=4_000, n_resamples=9
        )


def test_n_drawn__as_many() -> None:
    """As many as there are is the plain bootstrap, for totals too."""
    total = fb.bootstrap(fb.total(X), n_drawn=200, n_resamples=99, rng=0)
    assert total.replicates.tolist() == (
        fb.bootstrap(fb.total(X), n_resamples=99, rng=0, path=total.path).replicates.tolist()
    )


def test_n_drawn__missing() -> None:
    """Of missing values nothing is known, and nothing refused."""
    values = [1.0, np.nan, 2.0]
    result = fb.bootstrap(fb.total(values), n_drawn=2, nan_policy="propagate", n_resamples=9, rng=0)
    assert np.isnan(result.estimate)


def test_n_drawn__more_is_smaller() -> None:
    """What is left does what its note says: more units drawn, smaller p-values."""
    pvalues = [
        fb.paired_bootstrap(X + 0.1, X * 0.0, n_drawn=n, n_resamples=999, rng=0).pvalue
        for n in (50, 200, 800)
    ]
    assert pvalues == sorted(pvalues, reverse=True)
    assert pvalues[0] > 2 * pvalues[-1]


# Weights that are shares

SHARES = RNG.dirichlet(np.ones(200))
COUNTING: dict[str, Any] = {
    "median": fb.median(X),
    "quantile": fb.quantile(X, 0.3, method="hazen"),
    "trimmed_mean": fb.trimmed_mean(X, 0.1),
    "interquartile_mean": fb.interquartile_mean(X),
    "krippendorff_alpha": fb.krippendorff_alpha(GOLD, GUESS),
    "std": fb.std(X, ddof=1),
    "variance": fb.variance(X, ddof=1),
    "skewness": fb.skewness(X, bias=False),
    "risk_coverage_area": fb.risk_coverage_area(GOLD, GUESS, X),
}
WEIGHING: dict[str, Any] = {
    "mean": fb.mean(X),
    "total": fb.total(X),
    "a total of 0": fb.total([1, -1] * 100),
    "std": fb.std(X),
    "inverted cdf": fb.quantile(X, 0.31234, method="inverted_cdf"),
    "largest": fb.maximum(X),
    "kappa": fb.cohen_kappa(GOLD, GUESS),
    "area": fb.roc_auc(GOLD > 0, X),
    "spearman": fb.spearman(X, Y),
    "kendall": fb.kendall(X, Y),
    "nothing": fb.pearson(X, X[::-1]),
    "macro-F": fb.f_score(GOLD, GUESS, average="macro"),
}


def remarks(result: Any) -> list[str]:
    """Return what is said of weights."""
    return [note for note in result.notes if "`weights`" in note]


def run(statistic: Any, weights: Any, **options: Any) -> Any:
    """Run a bootstrap of a few resamples."""
    return fb.bootstrap(statistic, weights=weights, n_resamples=9, rng=0, **options)


@pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")
@pytest.mark.parametrize("name", COUNTING)
def test_shares(name: str) -> None:
    """Where weights count rows a note says so, with the sum; not of weights about 1."""
    statistic = COUNTING[name]
    (remark,) = remarks(run(statistic, SHARES))
    assert remark == (
        f"`weights` sum to 1 over 200 rows: they count rows in {statistic.name}; multiply shares "
        "by the number of rows"
    )
    for weights in (SHARES * 200, np.full(200, 0.5), np.arange(200) % 3, np.arange(200) < 20):
        assert remarks(run(statistic, weights)) == []


@pytest.mark.parametrize("name", WEIGHING)
def test_shares__any_scale(name: str) -> None:
    """Where only their ratios matter nothing is said, nor of a total, weighted as asked."""
    assert remarks(run(WEIGHING[name], SHARES)) == []


def test_shares__of_rows_that_count() -> None:
    """Rows of weight 0 are no rows."""
    weights = np.where(np.arange(200) < 50, 1 / 50, 0.0)
    (remark,) = remarks(run(fb.median(X), weights))
    assert remark.startswith("`weights` sum to 1 over 50 rows: ")


def test_shares__procedures() -> None:
    """Every procedure says it, once of a statistic, and unpaired ones of the sample."""
    a, b = fb.median(X), fb.median(Y)
    few: dict[str, Any] = {"n_resamples": 99, "rng": 0}
    found: list[Any] = [
        fb.paired_bootstrap(a, b, weights=SHARES, **few),
        fb.approximate_randomization(a, b, weights=SHARES, **few),
        fb.unpaired_bootstrap(a, b, weights=(SHARES, SHARES), **few),
        fb.unpaired_bootstrap(a, b, weights=(np.ones(200), SHARES), **few),
        fb.compare({"a": a, "b": b}, weights=SHARES, **few),
        run([a, fb.mean(X)], SHARES)["median"],
        run(a, SHARES, by=GOLD).total,
    ]
    for result in found:
        assert [one.split(":")[0] for one in remarks(result)] == [
            "`weights` sum to 1 over 200 rows"
        ]
    (pooled,) = remarks(fb.permutation_test(a, b, weights=(SHARES, SHARES), **few))
    assert pooled.startswith("`weights` sum to 2 over 400 rows: ")
    assert [key for key, one in run([a, fb.mean(X)], SHARES).items() if remarks(one)] == ["median"]


@pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")
def test_shares__files(tmp_path: Any) -> None:
    """Rows that are read block by block have the note; weights of 0 and 1 only choose rows."""
    n = 66_000
    table = pa.table({"x": np.arange(n) % 7, "share": np.full(n, 1 / n), "one": np.arange(n) < 9})
    pq.write_table(
        table.set_column(2, "one", table["one"].cast(pa.int64())), tmp_path / "t.parquet"
    )
    data = str(tmp_path / "t.parquet")
    statistic = fb.std("x", ddof=1)
    (remark,) = remarks(run(statistic, "share", data=data))
    assert remark == remarks(run(statistic, "share", data=pq.read_table(data)))[0]
    assert remark.startswith("`weights` sum to 1 over 66,000 rows: they count rows in std(ddof=1)")
    assert remarks(run(statistic, "one", data=data)) == []
