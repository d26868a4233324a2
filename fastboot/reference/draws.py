"""The slow reference: every resample as a list of rows, in plain Python.

Read it to learn what the fast kernels compute, and test them against it.
It shares no code with them, only the layout of the random words: the same seed and the same
replicate give the same draws, so the two are compared replicate by replicate.
A statistic is any function of a list of rows; nothing here knows of terms or of their sums.

Random words are Philox4x32-10 [1]_ of the counter (position, block, replicate, purpose).
A replicate is therefore a function of the seed and its own number, and of no other replicate.

The law each path must follow, whatever words it reads:

bootstrap
    The n counts are Multinomial(n; 1/n, ..., 1/n).

    ``"rows"``
        n independent uniform places.
    ``"patterns"``, ``"weights"``
        The same draws, summed in two ways by the kernels. Superblocks of 65,536 units get their
        totals from a tree of binomials. Inside one, the counts start as independent Poisson, four
        units at a time, with a mean a little below 1, again and again until their total is no
        larger than the target; the missing draws are uniform. A Poisson sample is uniform given
        its total, whatever that is, so the result is exactly multinomial.
    ``"collapse"``
        Units of one class are exchangeable, so only the totals of the classes are drawn:
        Multinomial(n; multiplicities / n) by successive binomials.

swaps
    Every unit is swapped with probability 1/2, independently.

    ``"tables"``
        One random bit per unit.
    ``"collapse"``
        The number of swapped units of a class is Binomial(multiplicity, 1/2).
    ``"enumeration"``
        Replicate r is the r-th of the 2**n subsets, each once.

References
----------
.. [1] J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as
   1, 2, 3", SC11, 2011.
.. [2] W. Hoermann, "The generation of binomial random variates", Journal of Statistical
   Computation and Simulation 46, 1993 (algorithm BTRS).
.. [3] D. Lemire, "Fast random integer generation in an interval", ACM Transactions on Modeling
   and Computer Simulation 29, 2019.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from itertools import accumulate, count, islice, permutations
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from numpy.random import SeedSequence

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

__all__ = [
    "binomial",
    "bootstrap_rows",
    "doubles",
    "key",
    "members_of",
    "philox",
    "places",
    "poisson_counts",
    "rows_of",
    "swapped",
    "swaps",
]

Row = TypeVar("Row")
Words: TypeAlias = tuple[int, int, int, int]
Key: TypeAlias = tuple[int, int]
Seed: TypeAlias = "int | Sequence[int] | SeedSequence"
Stream: TypeAlias = tuple[int, int, int]

SUPERBLOCK = 65_536

# The last word of a counter, so that no two uses share a word; its upper 24 bits count attempts.
SPLITS, CLASSES, PATTERNS, REMAINDERS, PLACES, SWAPS, SWAP_CLASSES = range(1, 8)

# A Poisson total of four units with means below 1 is above 32 with probability 2e-19.
LARGEST_TOTAL = 32


def philox(counter: Words, key: Key) -> Words:
    """Four random 32-bit words: Philox4x32 with ten rounds.

    >>> [f"{word:08x}" for word in philox((0, 0, 0, 0), (0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    w0, w1, w2, w3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = w0 * 0xD2511F53, w2 * 0xCD9E8D57
        w0, w1 = (second >> 32) ^ w1 ^ k0, second & 0xFFFFFFFF
        w2, w3 = (first >> 32) ^ w3 ^ k1, first & 0xFFFFFFFF
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return w0, w1, w2, w3


def key(seed: Seed) -> Key:
    """Return the Philox key of a seed.

    seed : part p of several has ``SeedSequence(seed, spawn_key=(p,))``

    >>> key(0)
    (2968811710, 3677149159)
    """
    sequence = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
    k0, k1 = sequence.generate_state(2)
    return int(k0), int(k1)


def binomial(trials: int, part: int, whole: int, stream: Stream, key: Key) -> int:
    """Draw the number of successes in `trials` trials of probability `part` / `whole`.

    stream : (block, replicate, purpose); attempt t reads the words of position t

    Inversion below a mean of 10, else the transformed rejection BTRS [2]_.

    >>> binomial(10, 1, 2, (0, 0, SPLITS), key(0))
    6
    """
    if trials == 0 or part == 0:
        return 0
    if part == whole:
        return trials
    if 2 * part > whole:
        return trials - binomial(trials, whole - part, whole, stream, key)
    p = part / whole
    return (_inversion if trials * p < 10 else _btrs)(trials, p, stream, key)


def bootstrap_rows(
    n: int,
    seed: Seed,
    replicate: int,
    path: Literal["rows", "patterns", "weights", "collapse"],
    classes: Sequence[Hashable] | None = None,
    n_drawn: int | None = None,
) -> list[int]:
    """Draw n, or n_drawn, of n units with replacement: their indices, with repetition.

    classes : the value of every unit, for ``"collapse"``; a draw of a class is given as a draw of
        its first unit.
    n_drawn : for ``"rows"`` and ``"collapse"``, a number of draws other than n

    Raises
    ------
    ValueError
        `path` is unknown or always draws n, or `classes` is not one value per unit where the path
        needs it.

    >>> bootstrap_rows(5, 0, 0, "rows")
    [3, 4, 3, 2, 0]
    >>> bootstrap_rows(8, 0, 0, "patterns")
    [5, 6, 6, 4, 0, 7, 3, 2]
    >>> bootstrap_rows(5, 0, 0, "collapse", ["right", "wrong", "right", "right", "wrong"])
    [0, 0, 0, 0, 1]
    """
    words = key(seed)
    wanted = n if n_drawn is None else n_drawn
    if path == "collapse":
        return _class_draws(members_of(n, classes), wanted, replicate, words)
    if path == "rows":
        return list(islice(places(n, (0, replicate, PLACES), words), wanted))
    if path in {"patterns", "weights"}:
        if wanted != n:
            raise ValueError(f"`n_drawn` is {n_drawn}; {path!r} draws all {n}.")
        draws = []
        for block, target in enumerate(_targets(n, replicate, words)):
            start = block * SUPERBLOCK
            size = min(SUPERBLOCK, n - start)
            drawn = _superblock_draws(size, target, _poisson_mean(n), (block, replicate), words)
            draws += [start + unit for unit in drawn]
        return draws
    raise ValueError(f'`path` is {path!r}; use "rows", "patterns", "weights" or "collapse".')


def swaps(
    n: int,
    seed: Seed,
    replicate: int,
    path: Literal["tables", "weights", "collapse", "enumeration"],
    classes: Sequence[Hashable] | None = None,
) -> list[bool]:
    """Choose which of n units have their two systems swapped.

    n : units that differ between the systems; leave the others out, a swap changes nothing there.
    classes : the difference of every unit, for ``"collapse"``; w swaps of a class are given as
        swaps of its first w units.

    Raises
    ------
    ValueError
        `path` is unknown, or `classes` is not one value per unit where the path needs it.

    >>> swaps(3, 0, 5, "enumeration")
    [True, False, True]
    """
    if path == "enumeration":
        return [bool(replicate >> unit & 1) for unit in range(n)]
    words = key(seed)
    if path == "collapse":
        flags = [False] * n
        for index, units in enumerate(members_of(n, classes)):
            stream = (index, replicate, SWAP_CLASSES)
            for unit in units[: _half_of(len(units), stream, words)]:
                flags[unit] = True
        return flags
    if path in {"tables", "weights"}:
        return [bit for start in range(0, n, 128) for bit in _bits(start, replicate, words)][:n]
    raise ValueError(f'`path` is {path!r}; use "tables", "weights", "collapse" or "enumeration".')


def rows_of(units: Iterable[int], groups: Sequence[Hashable]) -> list[int]:
    """Rows of the drawn groups, numbered by first appearance; drawn twice, their rows come twice.

    groups : the group of every row

    >>> rows_of([1, 0, 1], ["x", "y", "x"])
    [1, 0, 2, 1]
    """
    members = members_of(len(groups), groups)
    return [row for unit in units for row in members[unit]]


def swapped(
    rows_a: Sequence[Row],
    rows_b: Sequence[Row],
    flags: Sequence[bool],
    groups: Sequence[Hashable] | None = None,
) -> tuple[list[Row], list[Row]]:
    """Both systems after the flagged units changed sides.

    flags : one per row, or one per group where `groups` names the group of every row

    >>> swapped("abc", "xyz", [True, False, False])
    (['x', 'b', 'c'], ['a', 'y', 'z'])
    """
    new_a, new_b = list(rows_a), list(rows_b)
    chosen = [unit for unit, flag in enumerate(flags) if flag]
    for row in chosen if groups is None else rows_of(chosen, groups):
        new_a[row], new_b[row] = rows_b[row], rows_a[row]
    return new_a, new_b


def _double(high: int, low: int) -> float:
    """53 bits of two words as a number in [0, 1)."""
    return (high << 21 | low >> 11) * 2.0**-53


def doubles(position: int, stream: Stream, key: Key) -> tuple[float, float]:
    """Return the two numbers in [0, 1), of 53 bits, of one counter; `stream` is its last three."""
    w0, w1, w2, w3 = philox((position, *stream), key)
    return _double(w0, w1), _double(w2, w3)


def _words(stream: Stream, key: Key) -> Iterator[int]:
    for position in count():
        yield from philox((position, *stream), key)


def _inversion(trials: int, p: float, stream: Stream, key: Key) -> int:
    u, _ = doubles(0, stream, key)
    q = 1 - p
    mass = math.exp(trials * math.log1p(-p))
    successes = 0
    # Below a mean of 10, more than 110 successes have probability 3e-74.
    while u >= mass and successes < min(trials, 110):
        u -= mass
        mass *= (trials - successes) / (successes + 1) * (p / q)
        successes += 1
    return successes


def _btrs(trials: int, p: float, stream: Stream, key: Key) -> int:
    """Algorithm BTRS of Hoermann [2]_, his letters."""
    q = 1 - p
    spq = math.sqrt(trials * p * q)
    b = 1.15 + 2.53 * spq
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = trials * p + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spq
    m = math.floor((trials + 1) * p)

    def log_mass(k: int) -> float:
        ways = math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
        return ways + k * math.log(p) + (trials - k) * math.log(q)

    attempts = (doubles(position, stream, key) for position in count())
    while True:
        u, v = next(attempts)
        u -= 0.5
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= v_r:
            return k
        if not 0 <= k <= trials:
            continue
        if v == 0 or math.log(v * alpha / (a / us**2 + b)) <= log_mass(k) - log_mass(m):
            return k


def places(size: int, stream: Stream, key: Key) -> Iterator[int]:
    """Uniform places in range(size), without bias [3]_."""
    for word in _words(stream, key):
        scaled = word * size
        if scaled & 0xFFFFFFFF >= 2**32 % size:
            yield scaled >> 32


def _targets(n: int, replicate: int, key: Key) -> list[int]:
    """How many of the n draws fall into each superblock."""

    def units(low: int, high: int) -> int:
        return min(n, high * SUPERBLOCK) - low * SUPERBLOCK

    def split(node: int, low: int, high: int, draws: int) -> list[int]:
        if high - low == 1:
            return [draws]
        middle = (low + high) // 2
        stream = (node, replicate, SPLITS)
        left = binomial(draws, units(low, middle), units(low, high), stream, key)
        right = draws - left
        return split(2 * node, low, middle, left) + split(2 * node + 1, middle, high, right)

    return split(1, 0, -(-n // SUPERBLOCK), n)


def _poisson_mean(n: int) -> float:
    """Mean count before the missing draws: two standard deviations of the surplus below 1."""
    size = min(n, SUPERBLOCK)
    spread = math.sqrt(size if n <= SUPERBLOCK else 2 * size)
    return 1 - min(256, math.ceil(512 * spread / size)) / 256


class _PatternTable(NamedTuple):
    """Four Poisson counts from one of 65,536 slots.

    patterns : those that own a slot; their last slots, plus one, are `ends`
    classes : descending counts for the slots beyond, with cumulative probabilities `class_ends`
    """

    patterns: list[tuple[int, int, int, int]]
    ends: list[int]
    classes: list[tuple[int, int, int, int]]
    class_ends: list[float]


@lru_cache
def _pattern_table(mean: float) -> _PatternTable:
    def probability(counts: tuple[int, ...]) -> float:
        ways = math.prod(math.factorial(c) for c in counts)
        return math.exp(-4 * mean) * mean ** sum(counts) / ways

    def slots(counts: tuple[int, ...]) -> int:
        return math.floor(65_536 * probability(counts))

    def remainder(counts: tuple[int, ...]) -> float:
        arrangements = 24 // math.prod(math.factorial(c) for c in Counter(counts).values())
        return arrangements * (probability(counts) - slots(counts) / 65_536)

    four_counts = [
        (first, second, third, total - first - second - third)
        for total in range(LARGEST_TOTAL + 1)
        for first in range(total + 1)
        for second in range(total - first + 1)
        for third in range(total - first - second + 1)
    ]
    patterns = [counts for counts in four_counts if slots(counts) >= 1]
    classes = [counts for counts in four_counts if list(counts) == sorted(counts, reverse=True)]
    left_over = list(accumulate(remainder(counts) for counts in classes))
    whole = left_over[-1] or 1.0  # a mean of 0 leaves nothing over
    return _PatternTable(
        patterns,
        list(accumulate(slots(counts) for counts in patterns)),
        classes,
        [weight / whole for weight in left_over],
    )


def poisson_counts(size: int, mean: float, stream: Stream, key: Key) -> list[int]:
    """Independent Poisson counts of a superblock; `stream` holds the attempt as its purpose."""
    table = _pattern_table(mean)
    block, replicate, attempt = stream
    counts: list[int] = []
    for group in range(-(-size // 4)):
        words = philox((group // 8, block, replicate, PATTERNS + (attempt << 8)), key)
        slot = words[group % 8 // 2] >> (16 * (group % 2)) & 0xFFFF
        if slot < table.ends[-1]:
            counts += table.patterns[bisect_right(table.ends, slot)]
            continue
        u, v = doubles(group, (block, replicate, REMAINDERS + (attempt << 8)), key)
        descending = table.classes[bisect_right(table.class_ends, u)]
        order = list(permutations(range(4)))[math.floor(24 * v)]
        counts += [descending[place] for place in order]
    return counts[:size]


def _superblock_draws(
    size: int, target: int, mean: float, where: tuple[int, int], key: Key
) -> list[int]:
    """Draw `target` units of one superblock; `where` is (block, replicate)."""
    attempts = (poisson_counts(size, mean, (*where, attempt), key) for attempt in count())
    counts = next(counts for counts in attempts if sum(counts) <= target)
    draws = [unit for unit, repetitions in enumerate(counts) for _ in range(repetitions)]
    return draws + list(islice(places(size, (*where, PLACES), key), target - len(draws)))


def members_of(n: int, labels: Sequence[Hashable] | None) -> list[list[int]]:
    """List the indices of every label, labels in order of first appearance."""
    if labels is None or len(labels) != n:
        found = "missing" if labels is None else f"{len(labels)} values"
        raise ValueError(f'`classes` is {found}; "collapse" needs one value for each of {n} units.')
    members: dict[Hashable, list[int]] = {}
    for index, label in enumerate(labels):
        members.setdefault(label, []).append(index)
    return list(members.values())


def _class_draws(members: list[list[int]], missing: int, replicate: int, key: Key) -> list[int]:
    draws: list[int] = []
    units = sum(len(indices) for indices in members)
    for index, indices in enumerate(members):
        stream = (index, replicate, CLASSES)
        drawn = binomial(missing, len(indices), units, stream, key)
        draws += [indices[0]] * drawn
        missing -= drawn
        units -= len(indices)
    return draws


def _half_of(size: int, stream: Stream, key: Key) -> int:
    """Draw Binomial(size, 1/2): a bit count up to 384, which is exact and cheap."""
    if size > 384:
        return binomial(size, 1, 2, stream, key)
    whole, rest = divmod(size, 32)
    words = list(islice(_words(stream, key), whole + 1))
    words[-1] &= (1 << rest) - 1
    return sum(word.bit_count() for word in words)


def _bits(start: int, replicate: int, key: Key) -> list[bool]:
    """Return the swap bits of 128 units from `start` on."""
    block, unit = divmod(start, SUPERBLOCK)
    words = philox((unit // 128, block, replicate, SWAPS), key)
    return [bool(word >> bit & 1) for word in words for bit in range(32)]
