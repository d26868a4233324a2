"""Variance components of crossed levels: exact where resamples can be listed, right on average."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastboot as fb
from fastboot.components import Components, components

Floats = NDArray[np.float64]

SEED = 37
EPSILON = 2.0**-52
# A normal deviate is beyond 6 standard deviations with probability 2e-9.
DEVIATIONS = 6.0


def additive(shape: tuple[int, int], spread: tuple[float, float, float], *seed: int) -> Floats:
    """Return a table of normal levels of two factors, and normal pairs."""
    rng = np.random.default_rng(seed)
    first, second, pairs = spread
    return (
        first * rng.normal(size=(shape[0], 1))
        + second * rng.normal(size=(1, shape[1]))
        + pairs * rng.normal(size=shape)
    )


def parts_of(table: Floats) -> tuple[float, float, float]:
    """Sums of squares of the levels' and the pairs' deviations, over I^2, J^2 and (IJ)^2."""
    rows = table.mean(axis=1, keepdims=True) - table.mean()
    columns = table.mean(axis=0, keepdims=True) - table.mean()
    pairs = table - table.mean() - rows - columns
    a, b, e = ((part**2).mean() / part.size for part in (rows, columns, pairs))
    return float(a), float(b), float(e)


def all_counts(n: int) -> Floats:
    """How often each of n levels is drawn, in all n^n resamples."""
    drawn = np.array(list(itertools.product(range(n), repeat=n)))
    counts: Floats = (drawn[:, :, None] == np.arange(n)).sum(axis=1).astype(np.float64)
    return counts


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3), (4, 3), (3, 4)])
def test_components__enumeration(shape: tuple[int, int]) -> None:
    """Over all resamples of a complete table the three equations for its mean hold exactly.

    Drawing the first factor alone has variance A, of its levels' deviations; the second alone B;
    both have A + B + E, with the pairs' deviations E. So the parts are A - E, B - E and E.
    """
    table = additive(shape, (2.0, 1.5, 1.0), shape[0])
    w, v = (all_counts(n) for n in shape)
    first = w @ table.sum(axis=1) / table.size
    second = v @ table.sum(axis=0) / table.size
    both = (w @ table @ v.T).ravel() / table.size
    a, b, e = parts_of(table)
    # Each listed once, with the divisor n - 1 of a sample.
    variances = [float(np.var(values)) for values in (both, first, second)]
    scale = sum(variances)
    # Variances of up to 65,536 values, summed pairwise: some tens of roundings.
    assert variances == pytest.approx([a + b + e, a, b], abs=100 * EPSILON * scale)
    n = both.size
    repeated = [both, *(np.resize(values, n) for values in (first, second))]
    assert both.size % first.size == both.size % second.size == 0
    found = components(*repeated)
    of_sample = n / (n - 1)
    expected = [max(0.0, a - e), max(0.0, b - e), e]
    assert found == pytest.approx(
        [of_sample * part for part in expected], abs=100 * EPSILON * scale
    )


@pytest.mark.parametrize(
    "spread", [(1.0, 0.5, 1.0), (0.0, 1.0, 2.0), (1.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
)
def test_components__expected(spread: tuple[float, float, float]) -> None:
    """On average over tables, the equations give a / I, b / J and e / (IJ), up to 1 / I and 1 / J.

    Variances over all resamples in closed form, of 4,000 tables of normal levels; exactly they
    average to (1 - 1/I) (a / I + e / IJ), the same of the second factor, and (1 - 1/I) (1 - 1/J)
    e / IJ.
    False failures: 2e-9 for each part.
    """
    n_first, n_second, n_tables = 12, 8, 4_000
    a, b, e = (deviation**2 for deviation in spread)
    tables = (additive((n_first, n_second), spread, SEED, number) for number in range(n_tables))
    found = np.array([parts_of(table) for table in tables])
    own, other = 1.0 - 1.0 / n_first, 1.0 - 1.0 / n_second
    of_pairs = e / (n_first * n_second)
    expected = np.array(
        [own * (a / n_first + of_pairs), other * (b / n_second + of_pairs), own * other * of_pairs]
    )
    error = found.std(axis=0, ddof=1) / math.sqrt(n_tables)
    assert (np.abs(found.mean(axis=0) - expected) <= DEVIATIONS * error + EPSILON).all()


def crossed(table: Floats, **options: Any) -> Any:
    """Bootstrap the mean of a table, or of the pairs that are there."""
    item, judge = np.nonzero(~np.isnan(table))
    data = {"score": table[item, judge], "item": item, "judge": judge}
    return fb.bootstrap(
        "score", data=data, groups=["item", "judge"], levels="crossed", rng=SEED, **options
    )


def assert_parts(found: Components, table: Floats, n_resamples: int, neglected: float) -> None:
    """Parts are those of all resamples, but for Monte Carlo error.

    A sample variance of replicates errs by sqrt(2 / n) of itself where they are normal; a part is a
    difference of three or four of at most the total. `neglected` is a share of the total.
    """
    a, b, e = parts_of(table)
    total = a + b + e
    allowed = DEVIATIONS * math.sqrt(4 * 2 / n_resamples) * total + neglected * total
    for part, expected in zip(found, (a - e, b - e, e), strict=True):
        assert abs(part - max(0.0, expected)) <= allowed


@pytest.mark.parametrize("spread", [(2.0, 0.5, 1.0), (0.2, 1.0, 1.0), (0.0, 0.0, 1.0)])
def test_components__result(spread: tuple[float, float, float]) -> None:
    """The result has the parts of its table, and says them."""
    table = additive((40, 15), spread, SEED)
    result = crossed(table, n_resamples=9_999)
    found = result.variance_components
    assert found is not None
    # Replicates of 15 levels are normal but for a kurtosis of 2 / 15 or so.
    assert_parts(found, table, 9_999, neglected=0.0)
    assert found.sentence(("item", "judge")) in result.notes
    assert result.to_dict()["variance_components"] == found._asdict()
    # The parts add up as the equations do: both = first + second + 3 x pairs.
    total = found.first + found.second + 3.0 * found.interaction
    if min(found) > 0.0:
        assert total == pytest.approx(result.standard_error**2, rel=100 * EPSILON)


def test_components__missing_cells() -> None:
    """Where pairs are missing the parts are near those of the complete table.

    A tenth of the cells at random: a mean of what is there has variances larger by a share of the
    order of that tenth, and a difference of parts by twice as much.
    """
    table = additive((60, 30), (1.0, 1.0, 1.0), SEED)
    holes = np.random.default_rng(1).random(table.shape) < 0.1
    result = crossed(np.where(holes, np.nan, table), n_resamples=4_999)
    assert result.n_rows == (~holes).sum()
    assert result.variance_components is not None
    assert_parts(result.variance_components, table, 4_999, neglected=0.2)
    assert result.variance_components.first > 0.0


def test_components__several_values() -> None:
    """Every value has parts of its own."""
    table = additive((20, 10), (1.0, 0.1, 0.5), SEED)
    item, judge = np.nonzero(np.ones(table.shape))
    found: Any = fb.bootstrap(
        {"score": fb.mean(table.ravel()), "turned": fb.mean(table.T.ravel())},
        groups=[item, judge], levels="crossed", rng=SEED, n_resamples=999,
    )  # fmt: skip
    alone = fb.bootstrap(
        table.ravel(), groups=[item, judge], levels="crossed", rng=SEED, n_resamples=999
    )
    assert found["score"].variance_components == alone.variance_components
    assert found["turned"].variance_components != alone.variance_components
    assert "groups[0]" in next(note for note in alone.notes if note.startswith("of the variance"))


@pytest.mark.parametrize("levels", [None, "nested"])
def test_components__only_crossed(levels: str | None) -> None:
    """Other designs have none."""
    result = fb.bootstrap(np.arange(30.0), groups=np.arange(30) // 5, levels=levels, rng=SEED)
    assert result.variance_components is None
    assert not any("of the variance" in note for note in result.notes)


# Words


@pytest.mark.parametrize(
    "parts, shares, more, errors",
    [
        ((6.0, 1.0, 3.0), (60, 10, 30), "item", ("3.162", "2.345")),
        ((1.0, 6.0, 3.0), (10, 60, 30), "judge", ("3.162", "2.345")),
        ((0.0, 0.0, 4.0), (0, 0, 100), "item", ("2", "1.414")),
    ],
)
def test_sentence(
    parts: tuple[float, ...], shares: tuple[int, ...], more: str, errors: tuple[str, ...]
) -> None:
    """Twice the levels of a factor halve its own part and that of the pairs: sqrt(10 - 4.5)."""
    assert Components(*parts).sentence(("item", "judge")) == (
        f"of the variance {shares[0]} % comes from item, {shares[1]} % from judge, {shares[2]} % "
        f"from their pairs; twice as many levels of {more} would bring the standard error from "
        f"{errors[0]} to {errors[1]}"
    )


def test_sentence__nothing() -> None:
    """No variance is said, an unknown one is not."""
    assert Components(0.0, 0.0, 0.0).sentence(("item", "judge")) == (
        "the replicates do not vary with the levels of either factor"
    )
    assert not Components(math.nan, math.nan, math.nan).sentence(("item", "judge"))


def test_components__negative_parts() -> None:
    """What would be negative is 0."""
    up, flat = np.array([0.0, 2.0]), np.array([0.0, 0.1])
    assert components(up, flat, flat) == pytest.approx((0.0, 0.0, 2.0 - 2 * 0.005))
    assert components(flat, up, up) == (2.0, 2.0, 0.0)


def test_components__undefined() -> None:
    """NaN is left out; fewer than two replicates have no variance, and no sentence."""
    values = np.array([1.0, 3.0, math.nan])
    assert components(values, values, np.ones(3)) == (2.0, 0.0, 0.0)
    for lone in (np.array([1.0]), np.array([1.0, math.nan]), np.full(3, math.nan)):
        assert all(map(math.isnan, components(lone, values, values)))
        assert all(map(math.isnan, components(values, lone, lone)))


@pytest.mark.parametrize("n_resamples", [1, 20])
def test_components__nothing_to_say(n_resamples: int) -> None:
    """One replicate, or missing values, give no warning and no sentence."""
    score = [1.0, 2.0, 3.0, 4.0 if n_resamples == 1 else math.nan]
    result = fb.bootstrap(
        score, groups=[[0, 0, 1, 1], [0, 1, 0, 1]], levels="crossed", nan_policy="propagate",
        rng=SEED, n_resamples=n_resamples,
    )  # fmt: skip
    assert not any("variance" in note or "do not vary" in note for note in result.notes)
    constant = crossed(np.ones((3, 4)), n_resamples=20)
    assert "the replicates do not vary with the levels of either factor" in constant.notes


@pytest.mark.parametrize("lone", [0, 1])
def test_components__one_level(lone: int) -> None:
    """One seed cannot show what seeds contribute, nor what more of them would bring."""
    score = np.random.default_rng(SEED).normal(size=30)
    codes = [np.arange(30), np.zeros(30, int)]
    result = fb.bootstrap(
        score, groups=codes[::-1] if lone == 0 else codes, levels="crossed", rng=SEED,
        n_resamples=999,
    )  # fmt: skip
    found, other = result.variance_components, 1 - lone
    assert found is not None
    (note,) = [note for note in result.notes if "variance" in note]

    assert note == (
        f"there is one level of groups[{lone}]: how much of the variance comes from it cannot be "
        f"told, and the standard error is that of groups[{other}] alone"
    )
    assert np.isnan([found[lone], found.interaction]).all()
    assert found[other] == pytest.approx(result.standard_error**2, rel=1e-12)
    assert components(score, score, score, n_levels=(1, 1)) == pytest.approx(
        [math.nan] * 3, nan_ok=True
    )
    assert not Components(math.nan, math.nan, math.nan).sentence(("item", "judge"))
