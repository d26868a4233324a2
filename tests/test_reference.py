"""The reference against published words, exact laws, full enumeration and SciPy."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, islice, permutations, product
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
import pytest
from randomgen import Philox
from scipy.stats import binom, permutation_test, poisson
from statistical import assert_rate, assert_same_distribution, assert_same_law

from fastboot import reference
from fastboot.reference import (
    all_bootstraps,
    all_swaps,
    binomial,
    bootstrap_pvalue,
    bootstrap_rows,
    draws,
    key,
    philox,
    randomization_pvalue,
    rows_of,
    swapped,
    swaps,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Row = TypeVar("Row")
BootstrapPath = Literal["rows", "patterns", "weights", "collapse"]
SwapPath = Literal["tables", "collapse"]
Alternative = Literal["two-sided", "greater", "less"]

# The expectations of the cases are quotients of small integers and their roots, given in decimals
# of double precision.
CASES = 1e-12

SEED = 20_240_229
PURPOSE = 255  # of no procedure


def mean(rows: Sequence[Fraction | int]) -> Fraction:
    """Exact mean of the rows."""
    return Fraction(sum(rows), len(rows))


def ratio_of_sums(rows: Sequence[tuple[int, int]]) -> Fraction:
    """Sum of the numerators over the sum of the denominators."""
    return Fraction(sum(row[0] for row in rows), sum(row[1] for row in rows))


def decimals(*values: float) -> list[Fraction]:
    """Floats as the decimals they are written as."""
    return [Fraction(str(value)) for value in values]


def spread(values: Iterable[Fraction]) -> float:
    """Standard deviation of equally likely values."""
    kept = list(values)
    center = mean(kept)
    return math.sqrt(sum((value - center) ** 2 for value in kept) / len(kept))


def bootstrap_values(
    statistic: Callable[[list[Row]], Fraction], rows: Sequence[Row]
) -> list[Fraction]:
    """Statistic of all resamples of the rows."""
    return [statistic([rows[i] for i in units]) for units in all_bootstraps(len(rows))]


# Random words


@pytest.mark.parametrize(
    "counter,keys,words",
    [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000",
            "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff",
            "408f276d 41c83b0e a20bc7c6 6d5451fd",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox__published_words(counter: str, keys: str, words: str) -> None:
    """Known answers of philox4x32-10 in Random123's kat_vectors."""
    w0, w1, w2, w3 = (int(word, 16) for word in counter.split())
    k0, k1 = (int(word, 16) for word in keys.split())
    assert tuple(int(word, 16) for word in words.split()) == philox((w0, w1, w2, w3), (k0, k1))


@pytest.mark.parametrize("start", [0, 2**32 - 3, 2**64 - 2, 7 * 2**96 + 5 * 2**64 + 3 * 2**32])
@pytest.mark.parametrize("seed", [0, 1, SEED])
def test_philox__randomgen(start: int, seed: int) -> None:
    """Word for word the stream of randomgen's Philox, whose first words are of counter 1."""
    k0, k1 = key(seed)
    stream = Philox(number=4, width=32, counter=start, key=k0 + (k1 << 32))
    expected = [int(word) for word in stream.random_raw(400)]
    counters = [
        (c & 0xFFFFFFFF, c >> 32 & 0xFFFFFFFF, c >> 64 & 0xFFFFFFFF, c >> 96)
        for c in range(start + 1, start + 101)
    ]
    assert expected == [word for counter in counters for word in philox(counter, (k0, k1))]


def test_key__seed_sequence() -> None:
    """The key is the state that NumPy derives from the seed, a number of any size or several."""
    for seed in (0, 2**100, [1, 2, 3]):
        expected = np.random.SeedSequence(seed).generate_state(2, np.uint32)
        assert tuple(expected.tolist()) == key(seed)


# Binomial


@pytest.mark.parametrize(
    "trials,part,whole",
    [
        (1, 1, 3),
        (7, 1, 2),
        (40, 1, 5),  # mean 8: inversion
        (40, 4, 5),  # its mirror image
        (20, 1, 2),  # mean 10: the first of BTRS
        (100, 1, 4),
        (1_000, 1, 1_000),
        (1_000, 999, 1_000),
        (1_000_000, 3, 1_000_000),
        (1_000_000, 1, 1_000),
        (1_000_000, 1, 2),
        (1_000_000, 65_536, 100_000),
        (1_000_000_000, 1, 100_000_000),
        (1_000_000_000, 1, 2),
    ],
)
def test_binomial__law(trials: int, part: int, whole: int) -> None:
    """Draws follow the binomial law: no cell of at most 14 is off by 0.05 or more."""
    n_draws = 10_000
    p = part / whole
    ranks = [0.001, 0.01, *np.linspace(0, 1, 11)[1:-1], 0.99, 0.999]
    edges = np.unique(binom.ppf(ranks, trials, p))
    law = np.diff([0, *binom.cdf(edges, trials, p), 1])
    words = key(SEED)
    draws = [binomial(trials, part, whole, (3, r, PURPOSE), words) for r in range(n_draws)]
    counts = np.bincount(np.searchsorted(edges, draws), minlength=law.size)
    assert_same_law(counts.tolist(), law.tolist(), detects=0.05)
    assert 0 <= min(draws) <= max(draws) <= trials


def test_binomial__certain() -> None:
    """No trials, an impossible and a sure event need no random words."""
    words = key(SEED)
    assert [0, 0, 9] == [
        binomial(trials, part, 3, (0, 0, PURPOSE), words)
        for trials, part in [(0, 1), (9, 0), (9, 3)]
    ]


# Bootstrap draws


@pytest.mark.parametrize("path", ["rows", "patterns", "collapse"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_bootstrap_rows__joint_law(path: BootstrapPath, n: int) -> None:
    """All counts together are multinomial: no count vector of 126 is off by 0.05 or more."""
    n_replicates = 8_000
    classes = range(n) if path == "collapse" else None
    observed = Counter(
        tuple(sorted(bootstrap_rows(n, SEED, r, path, classes))) for r in range(n_replicates)
    )
    vectors = list(combinations_with_replacement(range(n), n))
    law = [
        math.factorial(n) / math.prod(map(math.factorial, Counter(vector).values())) / n**n
        for vector in vectors
    ]
    assert set(observed) <= set(vectors)
    assert_same_law([observed[vector] for vector in vectors], law, detects=0.05)


@pytest.mark.parametrize("path", ["rows", "patterns", "collapse"])
@pytest.mark.parametrize("n", [33, 70])
def test_bootstrap_rows__marginal_laws(path: BootstrapPath, n: int) -> None:
    """Counts of units and of sets of units are binomial, distinct units follow the occupancy law.

    No probability is off by 0.07 or more, and no unit's share of all draws by 15 % or more.
    """
    n_replicates = 4_000
    classes = range(n) if path == "collapse" else None
    draws = np.array([bootstrap_rows(n, SEED, r, path, classes) for r in range(n_replicates)])
    assert draws.shape == (n_replicates, n)

    hits = np.bincount(draws.ravel(), minlength=n)
    assert_same_law(hits.tolist(), [1 / n] * n, detects=0.15 / n)

    for units in ([0], [n - 1], [0, 1], [0, 1, 2, 3], range(n // 2)):
        totals = np.isin(draws, units).sum(axis=1)
        law = binom.pmf(np.arange(n + 1), n, len(units) / n)
        counts = np.bincount(totals, minlength=n + 1)
        assert_same_law(counts.tolist(), law.tolist(), detects=0.07)

    occupancy = [1.0] + [0.0] * n
    for _ in range(n):
        occupancy = [
            (occupancy[d] * d + (occupancy[d - 1] * (n - d + 1) if d else 0)) / n
            for d in range(n + 1)
        ]
    distinct = Counter(len(set(replicate)) for replicate in draws.tolist())
    assert_same_law([distinct[d] for d in range(n + 1)], occupancy, detects=0.07)


def test_bootstrap_rows__classes() -> None:
    """Totals of classes are multinomial with their multiplicities: no cell is off by 0.05."""
    classes = "bababbcbb"  # b six times, a twice, c once
    observed = Counter(
        tuple(sorted(bootstrap_rows(9, SEED, r, "collapse", classes))) for r in range(8_000)
    )
    law: dict[tuple[int, ...], float] = {}
    for b, a in product(range(10), repeat=2):
        if (c := 9 - a - b) >= 0:
            ways = math.factorial(9) / math.prod(map(math.factorial, (a, b, c)))
            law[(0,) * b + (1,) * a + (6,) * c] = ways * 6**b * 2**a / 9**9
    assert set(observed) <= set(law)
    assert_same_law([observed[units] for units in law], list(law.values()), detects=0.05)


def test_bootstrap_rows__weights() -> None:
    """The paths of patterns and of weights make the same draws."""
    for n in (1, 5, 70, 400):
        assert bootstrap_rows(n, SEED, 7, "weights") == bootstrap_rows(n, SEED, 7, "patterns")


def test_bootstrap_rows__superblocks() -> None:
    """Beyond 65,536 units every superblock gets its share: none is off by 0.005 or more."""
    n, n_replicates = 2 * 65_536 + 5_000, 6
    draws = [bootstrap_rows(n, SEED, r, "patterns") for r in range(n_replicates)]
    assert {n} == {len(units) for units in draws}
    blocks = Counter(unit // 65_536 for units in draws for unit in units)
    law = [65_536 / n, 65_536 / n, 5_000 / n]
    assert_same_law([blocks[block] for block in range(3)], law, detects=0.005)
    assert max(map(max, draws)) < n
    last = Counter(unit // 1_000 for units in draws for unit in units if unit >= 131_072)
    tail = [1_000 - 72] + [1_000] * 4 + [72]
    assert_same_law(
        [last[thousand] for thousand in range(131, 137)],
        [size / 5_000 for size in tail],
        detects=0.02,
    )


@pytest.mark.parametrize("path", ["rows", "patterns", "collapse"])
def test_bootstrap_rows__means(path: BootstrapPath) -> None:
    """Bootstrap means are distributed as NumPy's multinomial makes them, to 0.15 of the law."""
    n, n_replicates = 50, 5_000
    random = np.random.default_rng(SEED)
    grades = random.integers(5, size=n)
    expected = random.multinomial(n, [1 / n] * n, size=n_replicates) @ grades
    observed = [
        grades[bootstrap_rows(n, SEED, r, path, grades.tolist())].sum() for r in range(n_replicates)
    ]
    assert_same_distribution(observed, expected, detects=0.15)


@pytest.mark.parametrize("n", [1, 5, 33, 70, 1_000, 65_536, 65_537, 10**9])
def test_pattern_table__poisson(n: int) -> None:
    """Slots and remainders together are four independent Poisson counts, exactly."""
    poisson_mean = draws._poisson_mean(n)
    table = draws._pattern_table(poisson_mean)
    slots = dict(zip(table.patterns, np.diff([0, *table.ends]).tolist(), strict=True))
    rest = dict(zip(table.classes, np.diff([0, *table.class_ends]).tolist(), strict=True))
    for a, b, c, d in product(range(7), repeat=4):
        counts = (a, b, c, d)
        arrangements = 24 // math.prod(map(math.factorial, Counter(counts).values()))
        first, second, third, fourth = sorted(counts, reverse=True)
        remainder = rest[first, second, third, fourth] / arrangements
        observed = slots.get(counts, 0) / 65_536 + (1 - table.ends[-1] / 65_536) * remainder
        # The cumulative sum of 2,000 classes rounds by 2**-53 each, and weighs less than 0.05.
        expected = math.prod(poisson.pmf(counts, poisson_mean))
        assert math.isclose(expected, observed, rel_tol=1e-13, abs_tol=2_000 * 2**-53 * 0.05)


def test_poisson_counts__left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the slots, classes and their arrangements follow the remainders: to 0.05 each."""
    table = draws._pattern_table(draws._poisson_mean(70))
    monkeypatch.setattr(draws, "_pattern_table", lambda _mean: table._replace(ends=[0]))
    words = key(SEED)
    observed = Counter(
        tuple(draws.poisson_counts(4, 0.5, (0, replicate, 0), words)) for replicate in range(8_000)
    )
    law: dict[tuple[int, ...], float] = {}
    weights = np.diff([0, *table.class_ends])
    for descending, weight in zip(table.classes, weights.tolist(), strict=True):
        arrangements = set(permutations(descending))
        law |= dict.fromkeys(arrangements, weight / len(arrangements))
    assert set(observed) <= set(law)
    assert_same_law([observed[counts] for counts in law], list(law.values()), detects=0.05)


def test_places__unbiased() -> None:
    """Words that would favour some places are rejected: every third place is a third, to 0.05."""
    # Without rejection, places divisible by 3 would have probability 1/2 at this size.
    places = islice(draws.places(3 * 2**30, (0, 0, PURPOSE), key(SEED)), 10_000)
    residues = Counter(place % 3 for place in places)
    assert_same_law([residues[r] for r in range(3)], [1 / 3] * 3, detects=0.05)


@pytest.mark.parametrize(
    "n,below", [(1, 256), (4, 256), (5, 229), (16, 128), (65_536, 2), (65_537, 3), (10**9, 3)]
)
def test_poisson_mean__steps(n: int, below: int) -> None:
    """The mean stays two standard deviations below 1, in steps of 1/256."""
    assert 1 - below / 256 == draws._poisson_mean(n)


# Swaps


@pytest.mark.parametrize("path", ["tables", "collapse"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_swaps__joint_law(path: SwapPath, n: int) -> None:
    """All 2**n swaps are equally likely: none is off by 0.05 or more."""
    classes = range(n) if path == "collapse" else None
    observed = Counter(tuple(swaps(n, SEED, r, path, classes)) for r in range(8_000))
    assert_same_law([observed[tuple(f)] for f in all_swaps(n)], [0.5**n] * 2**n, detects=0.05)


@pytest.mark.parametrize(
    "path,n", [("tables", 33), ("tables", 70), ("tables", 300), ("collapse", 33)]
)
def test_swaps__marginal_laws(path: SwapPath, n: int) -> None:
    """Units and pairs of neighbours are fair, the number of swaps binomial: to 0.08 each."""
    n_replicates = 4_000
    classes = range(n) if path == "collapse" else None
    flags = np.array([swaps(n, SEED, r, path, classes) for r in range(n_replicates)])
    for unit in range(n):
        assert_rate(int(flags[:, unit].sum()), n_replicates, 0.5, detects=0.08)
        equal = int((flags[:, unit] == flags[:, unit - 1]).sum())
        assert_rate(equal, n_replicates, 0.5, detects=0.08)
    law = binom.pmf(np.arange(n + 1), n, 0.5)
    counts = np.bincount(flags.sum(axis=1), minlength=n + 1)
    assert_same_law(counts.tolist(), law.tolist(), detects=0.08)


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 384, 385, 5_000])
def test_swaps__classes(size: int) -> None:
    """Swaps of a class are binomial, from bits up to 384 units and from BTRS beyond."""
    n_replicates = 4_000 if size < 1_000 else 2_000
    words = key(SEED)
    totals = [
        draws._half_of(size, (1, r, reference.SWAP_CLASSES), words) for r in range(n_replicates)
    ]
    edges = np.unique(binom.ppf(np.linspace(0, 1, 9)[1:-1], size, 0.5))
    law = np.diff([0, *binom.cdf(edges, size, 0.5), 1])
    counts = np.bincount(np.searchsorted(edges, totals), minlength=law.size)
    assert_same_law(counts.tolist(), law.tolist(), detects=0.1)
    flags = swaps(size + 1, SEED, 5, "collapse", [None, *[3.5] * size])
    assert flags[1:] == [True] * totals[5] + [False] * (size - totals[5])


def test_swaps__large_class() -> None:
    """A class of more than 384 units reads the words of a binomial draw."""
    stream = (0, 5, reference.SWAP_CLASSES)
    drawn = binomial(385, 1, 2, stream, key(SEED))
    assert sum(swaps(385, SEED, 5, "collapse", [1] * 385)) == drawn


def test_swaps__layout() -> None:
    """Unit i reads bit i % 32 of word (i % 128) // 32, from unit 65,536 on of a new block."""
    flags = swaps(66_000, SEED, 4, "tables")
    assert len(flags) == 66_000
    for unit in (0, 31, 32, 127, 128, 65_535, 65_536, 65_999):
        block, place = divmod(unit, 65_536)
        words = philox((place // 128, block, 4, 6), key(SEED))
        assert flags[unit] == bool(words[place % 128 // 32] >> place % 32 & 1)


def test_swaps__enumeration() -> None:
    """Replicate r is the binary form of r, and all replicates are all subsets."""
    assert [False, True, True, False] == swaps(4, SEED, 6, "enumeration")
    assert set(product([False, True], repeat=4)) == {tuple(flags) for flags in all_swaps(4)}


# Groups


def test_rows_of__drawn_twice() -> None:
    """A group that is drawn twice gives its rows twice, one that is not drawn gives none."""
    groups = ["doc 2", "doc 1", "doc 2", "doc 3"]
    assert [0, 2, 3, 0, 2] == rows_of([0, 2, 0], groups)


def test_swapped__groups() -> None:
    """All rows of a flagged group change sides, and the caller's lists stay as they are."""
    a, b = [1, 2, 3, 4], [5, 6, 7, 8]
    assert ([5, 2, 7, 4], [1, 6, 3, 8]) == swapped(a, b, [True, False], ["x", "y", "x", "y"])
    assert ([1, 2, 3, 4], [5, 6, 7, 8]) == (a, b)


# Refusals


@pytest.mark.parametrize("draw", [bootstrap_rows, swaps])
def test_paths__unknown(draw: Callable[..., object]) -> None:
    """An unknown path is refused with the names that exist."""
    with pytest.raises(ValueError, match=r'`path` is \'fast\'; use ".*" or ".*"\.'):
        draw(3, SEED, 0, "fast")


@pytest.mark.parametrize("draw", [bootstrap_rows, swaps])
@pytest.mark.parametrize("classes,found", [(None, "missing"), ("ab", "2 values")])
def test_paths__classes(draw: Callable[..., object], classes: str | None, found: str) -> None:
    """Collapsing needs the class of every unit."""
    with pytest.raises(ValueError, match=f'`classes` is {found}; "collapse" needs one value for'):
        draw(3, SEED, 0, "collapse", classes)


def test_pvalues__unknown_alternative() -> None:
    """An unknown alternative is refused with the names that exist."""
    with pytest.raises(ValueError, match="`alternative` is 'larger'; use \"two-sided\""):
        bootstrap_pvalue([1], [0], mean, "larger")  # type: ignore[arg-type]  # the refusal is tested


# Cases with known answers


def randomization_pvalues(a: Sequence[Fraction], b: Sequence[Fraction]) -> list[Fraction]:
    """Two-sided, greater, less."""
    alternatives: list[Alternative] = ["two-sided", "greater", "less"]
    return [randomization_pvalue(a, b, mean, alternative) for alternative in alternatives]


def test_case_01__ties() -> None:
    """Float noise breaks no ties, in any order of the items and of the systems."""
    a = decimals(0.8, 0.7, 0.3, 0.5, 0.2, 0.5, 0.8)
    b = decimals(0.3, 0.4, 0.2, 0.3, 0.1, 0.6, 0.7)
    for left, right in [(a, b), (b, a), (a[::-1], b[::-1]), (a[3:] + a[:3], b[3:] + b[:3])]:
        assert randomization_pvalue(left, right, mean) == Fraction(5, 64)
    three, six = decimals(0.1, 0.2, -0.3), decimals(0.1, 0.1, 0.1, -0.3, 0.2, -0.2)
    assert randomization_pvalues(three, decimals(*[0] * 3))[:2] == [1, Fraction(5, 8)]
    assert [1, 0.578125] == randomization_pvalues(six, decimals(*[0] * 6))[:2]


def test_case_05__directions() -> None:
    """Every direction has its own p-value, mirrored when the systems change places."""
    a, b = decimals(0.9, 0.8, 0.7, 0.95, 0.85, 0.6), decimals(0.5, 0.4, 0.6, 0.7, 0.65, 0.55)
    assert [0.03125, 0.015625, 1] == randomization_pvalues(a, b)
    assert [0.03125, 1, 0.015625] == randomization_pvalues(b, a)


def test_case_06__conventions() -> None:
    """The shift test is one convention among several, all from the same 3,125 resamples."""
    differences, zeros = [3, 1, 1, 0, -1], [0] * 5
    values = bootstrap_values(mean, differences)
    assert Fraction(4, 5) == mean(differences)
    assert 0.11744 == pytest.approx(sum(v <= 0 for v in values) / 3_125, abs=CASES)
    assert 0.05952 == pytest.approx(sum(v < 0 for v in values) / 3_125, abs=CASES)
    assert 0.07392 == pytest.approx(sum(v > Fraction(8, 5) for v in values) / 3_125, abs=CASES)
    greater = bootstrap_pvalue(differences, zeros, mean, "greater")
    assert 0.11872 == pytest.approx(float(greater), abs=CASES)
    assert 0.23616 == pytest.approx(float(bootstrap_pvalue(differences, zeros, mean)), abs=CASES)
    assert bootstrap_pvalue(zeros, differences, mean, "less") == greater
    assert Fraction(1, 2) == randomization_pvalue(differences, zeros, mean)


def test_case_10__clusters() -> None:
    """Five clusters that all favour one system cannot go below 2 / 2**5; nine items seem to."""
    clusters, a, b = [0, 0, 1, 2, 2, 2, 3, 4, 4], [1] * 9, [0] * 9
    assert Fraction(1, 16) == randomization_pvalue(a, b, mean, groups=clusters)
    assert Fraction(2, 512) == randomization_pvalue(a, b, mean)


def test_case_15__paired() -> None:
    """Both systems see the same resample, so the spread of the difference is that of pairs."""
    a, b = [10, 20, 30, 40, 50], [11, 21, 32, 41, 52]
    pairs = list(zip(a, b, strict=True))
    paired = spread(
        bootstrap_values(
            lambda rows: mean([y for _, y in rows]) - mean([x for x, _ in rows]), pairs
        )
    )
    unpaired = math.hypot(*(spread(bootstrap_values(mean, rows)) for rows in (a, b)))
    assert 0.21908902300206645 == pytest.approx(paired, abs=CASES)
    assert 9.035928286568016 == pytest.approx(unpaired, abs=CASES)


def test_case_18__interval_and_pvalues() -> None:
    """An interval without 0 beside p-values above 0.05: different questions, all exact."""
    differences, zeros = [0, 0, 0, 1, 1, 3], [0] * 6
    values = bootstrap_values(mean, differences)
    interval = np.quantile(np.array(values, float), [0.025, 0.975], method="inverted_cdf")
    assert [1 / 6, 11 / 6] == pytest.approx(interval, abs=CASES)
    assert Fraction(2, 64) == 2 * Fraction(sum(v <= 0 for v in values), len(values))
    centred = float(bootstrap_pvalue(differences, zeros, mean))
    assert 0.07148062414266118 == pytest.approx(centred, abs=CASES)
    assert Fraction(1, 4) == randomization_pvalue(differences, zeros, mean)


def test_case_24__clusters_drawn_twice() -> None:
    """A cluster drawn twice counts twice, pooled and as a cluster of its own."""
    clusters, items = [0, 1, 1, 2, 2, 2, 3, 3, 3, 3], [1, 0, 1, 0, 0, 1, 1, 1, 1, 0]
    draws = list(all_bootstraps(4))
    pooled = [mean([items[row] for row in rows_of(units, clusters)]) for units in draws]
    kept_once = [mean([items[row] for row in rows_of(set(units), clusters)]) for units in draws]
    cluster_means = [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(3, 4)]
    assert 0.6025989852161727 == pytest.approx(float(mean(pooled)), abs=CASES)
    assert 0.11329517932599815 == pytest.approx(spread(pooled), abs=CASES)
    assert 0.10045372023178506 == pytest.approx(spread(kept_once), abs=CASES)
    macro = spread(bootstrap_values(mean, cluster_means))
    assert 0.12629537138523064 == pytest.approx(macro, abs=CASES)


def test_case_31__mcnemar() -> None:
    """On right and wrong answers the test is McNemar's, and equal items cost nothing."""
    a = [1] * 70 + [1] * 8 + [0] * 1 + [0] * 21
    b = [1] * 70 + [0] * 8 + [1] * 1 + [0] * 21
    assert 0.0390625 == randomization_pvalue(a, b, mean)
    assert 0.07 == pytest.approx(float(mean(a) - mean(b)), abs=CASES)


def test_case_34__corpus_ratio() -> None:
    """A corpus metric is the ratio of resampled sums, with the same resample for both systems."""
    a, b = [(1, 2), (1, 4), (10, 100)], [(0, 2), (2, 4), (8, 100)]
    assert 0.11320754716981132 == pytest.approx(float(ratio_of_sums(a)), abs=CASES)
    assert 0.09433962264150944 == pytest.approx(float(ratio_of_sums(b)), abs=CASES)
    values_a, values_b = bootstrap_values(ratio_of_sums, a), bootstrap_values(ratio_of_sums, b)
    differences = [x - y for x, y in zip(values_a, values_b, strict=True)]
    assert 0.11541615141596663 == pytest.approx(spread(values_a), abs=CASES)
    assert 0.11880604814483697 == pytest.approx(spread(differences), abs=CASES)
    assert Fraction(7, 27) == Fraction(sum(d <= 0 for d in differences), 27)
    assert (Fraction(1, 10), Fraction(1, 2)) == (min(values_a), max(values_a))


# Full enumeration against closed forms


@pytest.mark.parametrize("n", range(1, 8))
def test_all_bootstraps__standard_error(n: int) -> None:
    """The bootstrap variance of the mean is the variance of the rows over n."""
    rows = [3, -1, 4, 1, -5, 9, 2][:n]
    sums = Counter(sum(map(rows.__getitem__, units)) for units in all_bootstraps(n))
    assert n**n == sums.total()
    first = Fraction(sum(s * times for s, times in sums.items()), n**n)
    second = Fraction(sum(s * s * times for s, times in sums.items()), n**n)
    assert mean(rows) == first / n
    variance = mean([row * row for row in rows]) - mean(rows) ** 2
    assert variance / n == (second - first**2) / n**2


@pytest.mark.parametrize("n", range(1, 13))
def test_all_swaps__variance(n: int) -> None:
    """Swaps leave the sum of differences with mean 0 and the sum of squares as its variance."""
    differences = [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, -8, 9][:n]
    sums = [
        sum(-d if flag else d for d, flag in zip(differences, flags, strict=True))
        for flags in all_swaps(n)
    ]
    assert 2**n == len(sums)
    assert sum(sums) == 0
    assert sum(d * d for d in differences) == mean([s * s for s in sums])


@pytest.mark.parametrize("wins", range(11))
def test_randomization_pvalue__sign_test(wins: int) -> None:
    """With differences of one size the test is the sign test, a tail of fair coins."""
    a = [1] * wins + [0] * (10 - wins)
    b = [0] * wins + [1] * (10 - wins)
    tail = Fraction(sum(math.comb(10, k) for k in range(wins, 11)), 2**10)
    assert tail == randomization_pvalue(a, b, mean, "greater")


def test_randomization_pvalue__darwin() -> None:
    """Darwin's maize, 15 pairs: Fisher's count of 1,726 arrangements of 32,768."""
    # Crossed minus self-fertilised, eighths of an inch; Fisher, The Design of Experiments, 1935.
    heights = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert Fraction(1_726, 32_768) == randomization_pvalue(heights, [0] * 15, mean)


def test_bootstrap_pvalue__two_rows() -> None:
    """Two rows have four resamples, worked out by hand: means 3, 2, 2, 1 around 2."""
    assert Fraction(0) == bootstrap_pvalue([3, 1], [0, 0], mean, "greater")
    assert Fraction(1) == bootstrap_pvalue([3, 1], [0, 0], mean, "less")
    assert Fraction(0) == bootstrap_pvalue([3, 1], [0, 0], mean)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_pvalues__itself(alternative: Alternative) -> None:
    """A system against itself has p-value 1, although no swap changes anything."""
    assert randomization_pvalue([3, 1, 2], [3, 1, 2], mean, alternative) == 1
    assert bootstrap_pvalue([3, 1, 2], [3, 1, 2], mean, alternative) == 1


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [2, 5, 9])
def test_randomization_pvalue__scipy(alternative: Alternative, n: int) -> None:
    """SciPy's exact paired permutation test, which is right where sums are exact in floats."""
    random = np.random.default_rng(SEED + n)
    a, b = random.integers(-4, 5, size=(2, n))
    expected = permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        alternative=alternative,
    )
    observed = randomization_pvalue(a.tolist(), b.tolist(), mean, alternative)
    # Two quotients of integers below 2**9, one doubled: two roundings.
    assert float(expected.pvalue) == pytest.approx(float(observed), rel=2**-51)
