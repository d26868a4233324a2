"""Groups whose rows lie anywhere: the same bits as sums of one table in memory."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastboot import blocks, grouping
from fastboot.columns import Column, Keys, key_array, load
from fastboot.grouping import GroupBlock, Groups, GroupSums, Merge, Numbering, group_sums
from fastboot.sources.keys import to_bytes
from fastboot.units import Tally, from_rows, one_part

Floats = NDArray[np.float64]

# Derandomized: a red run means that the code changed.
cuts = settings(derandomize=True, deadline=None, max_examples=200)

KEY = Column("key", "key", "groups")
# Small enough for tables of a few rows to be cut.
ROWS, PIECE = 7, 3
MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))  # noqa: DTZ001 - as Arrow
TEXT = st.text("ab\0é", max_size=19)
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.string_view(): TEXT,
    pa.dictionary(pa.int8(), pa.string()): TEXT,
    pa.binary(): st.binary(max_size=17),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.int8(): st.integers(-2, 2),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float32(): st.floats(allow_nan=False, allow_infinity=False, width=32),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.decimal128(9, 2): st.decimals(-(10**6), 10**6, places=2),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us"): MOMENTS,
    pa.timestamp("ms", "UTC"): MOMENTS.map(lambda moment: moment.replace(microsecond=0)),
    pa.time64("us"): st.times(),
    pa.duration("s"): st.integers(0, 99).map(lambda seconds: dt.timedelta(seconds=seconds)),
}


class Rows(NamedTuple):
    """A table of keys and terms."""

    keys: Any
    terms: list[Floats | Tally]


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Few keys of any type for up to 40 rows, two arrays, and up to two tallies."""
    kind = draw(st.sampled_from(list(VALUES)))
    few = draw(st.lists(VALUES[kind], min_size=1, max_size=9))
    places = draw(st.lists(st.integers(0, len(few) - 1), min_size=1, max_size=40))
    n = len(places)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    # Of any size, so that every change in the order of additions shows.
    numbers = [*(rng.normal(size=(3, n)) * 10.0 ** rng.integers(-9, 9, n))]
    tallies = [
        Tally(rng.integers(-1, 3, n), 3, numbers[2]),
        Tally(rng.integers(-1, 2, n), 2),
    ][: draw(st.integers(0, 2))]
    return Rows(pa.array([few[place] for place in places], kind), [*numbers[:2], *tallies])


def some(terms: list[Floats | Tally], rows: slice) -> list[Floats | Tally]:
    """Return the terms of some rows."""
    return [
        Tally(
            term.codes[rows],
            term.size,
            term.values if isinstance(term.values, float) else term.values[rows],
        )
        if isinstance(term, Tally)
        else term[rows]
        for term in terms
    ]


def block_sums(table: Rows, first: int, last: int, step: int) -> GroupSums:
    """Return the sums of one group block that is read `step` rows at a time."""
    block = GroupBlock()
    for start in range(first, last, step):
        rows = slice(start, min(start + step, last))
        block.add(key_array(KEY, {"key": table.keys[rows]}), some(table.terms, rows))
    return block.finish()


def merged(table: Rows, group_block: int, step: int) -> Groups:
    """Return the groups of a table, by way of group blocks."""
    merge = Merge()
    n = len(table.keys)
    for first in range(0, n, group_block):
        part = block_sums(table, first, min(first + group_block, n), step)
        merge.add(pickle.loads(pickle.dumps(part)))  # noqa: S301 - as processes do
    return merge.finish()


def in_memory(table: Rows) -> Keys:
    """Return the codes of the keys of a table."""
    (codes,) = load([KEY], {"key": table.keys}).columns
    assert isinstance(codes, Keys)
    return codes


@cuts
@given(tables(), st.integers(1, 8))
def test_groups__bits_of_memory(table: Rows, step: int) -> None:
    """Sums, sizes, entries and the order of keys are those of the table in memory."""
    with (
        mock.patch.object(blocks, "GROUP_BLOCK", ROWS),
        mock.patch.object(grouping, "BLOCK", PIECE),
        mock.patch.object(grouping, "_ENTRIES", 2),
    ):
        found = merged(table, ROWS, step)
        codes, n_groups = in_memory(table)
        units = from_rows(table.terms, one_part(n_groups, codes))
        sums = [blocks.sums_by_code(codes, one, n_groups) for one in table.terms[:2]]  # type: ignore[arg-type] # arrays
    assert n_groups == found.n_groups
    assert np.array(sums).tobytes() == found.sums.tobytes()
    assert np.bincount(codes).tolist() == found.sizes.tolist()
    keys = key_array(KEY, {"key": table.keys}).cast(found.keys.type)
    assert found.keys.take(pa.array(codes)).equals(keys)
    if units.sparse is None:
        assert found.sparse is None
        return
    assert found.sparse is not None
    for expected, own in zip(units.sparse, found.sparse, strict=True):
        assert expected.tobytes() == own.tobytes()
        assert not own.flags.writeable


def test_sums__of_no_group_block_alone() -> None:
    """The order of additions is that of group blocks: the test above would see another one."""
    rng = np.random.default_rng(5)
    keys = pa.array(rng.integers(0, 3, 40))
    table = Rows(keys, [rng.normal(size=40)])
    ones = [merged(table, rows, 4).sums.tobytes() for rows in (ROWS, 40)]
    assert ones[0] != ones[1]


def test_groups__a_million_strings() -> None:
    """A million keys, twice: hashes collide and tables grow, and every key finds its own sum."""
    n = 1_000_000
    numbers = np.random.default_rng(8).permutation(n)
    keys = pa.array(numbers).cast(pa.large_string())
    merge = Merge()
    for own in (keys, keys[::-1]):
        size = own.cast(pa.int64()).to_numpy().astype(np.float64)
        merge.add(group_sums([own[: n // 2], own[n // 2 :]], [[size[: n // 2]], [size[n // 2 :]]]))
    found = merge.finish()
    assert n == found.n_groups
    assert (found.sizes == 2).all()
    assert found.keys.cast(pa.float64()).to_numpy().tolist() == (found.sums[0] / 2).tolist()
    assert found.keys.equals(keys.take(pa.compute.sort_indices(keys)))


def test_numbering__looks_at_all_bytes() -> None:
    """Keys that begin alike, end alike or differ in zeros behind them are different keys."""
    keys = ["", "\0", "\0\0", "12345678", "12345678\0", "1234567", "012345678", "12345679"]
    numbering = Numbering()
    array = pa.array(keys, pa.large_string())
    assert list(range(8)) == numbering.codes(to_bytes(array)).tolist()
    assert [7, 3, 0] == numbering.codes(to_bytes(array.take(pa.array([7, 3, 0])))).tolist()
    assert 8 == numbering.n_keys


def test_numbering__keys_of_one_hash() -> None:
    """Keys of equal hashes and equal words, whose lengths alone differ, are different keys."""
    numbering = Numbering()
    array = pa.array(["documentTKMC`2", "documentTKMC`2\0\0"], pa.large_string())
    assert [0, 1] == numbering.codes(to_bytes(array)).tolist()
    entries = numbering._table[numbering._table > 0]
    assert 1 == np.unique(entries >> np.uint64(32)).size
    assert [1, 0] == numbering.codes(to_bytes(array[::-1])).tolist()


# One key, whatever the type of the file.


@pytest.mark.parametrize(
    "first, second, keys",
    [
        pytest.param(pa.array(["x", "y"]), pa.array(["y"], pa.large_string()), "xy", id="strings"),
        pytest.param(pa.array(["x"]).dictionary_encode(), pa.array(["y", "x"]), "xy", id="dict"),
        pytest.param(pa.array([3, 1], pa.int16()), pa.array([1], pa.int64()), [1, 3], id="widths"),
        pytest.param(
            pa.array([3, 2**63 - 1], pa.uint64()), pa.array([-1, 3]), [-1, 3, 2**63 - 1], id="sign"
        ),
        pytest.param(pa.array([3, 1]), pa.array([1.0, 1.5]), [1.0, 1.5, 3.0], id="int, float"),
        pytest.param(pa.array([1.0, 1.5]), pa.array([3, 1]), [1.0, 1.5, 3.0], id="float, int"),
        pytest.param(
            pa.array([1.5], pa.float32()), pa.array([2], pa.uint64()), [1.5, 2.0], id="float, uint"
        ),
        pytest.param(
            pa.array([Decimal("1.5"), Decimal("0.2")]),
            pa.array([Decimal("1.500"), Decimal("0.250")]),
            [Decimal("0.200"), Decimal("0.250"), Decimal("1.500")],
            id="decimals",
        ),
    ],
)
def test_groups__of_files_of_other_types(first: Any, second: Any, keys: Any) -> None:
    """Keys are joined by value, in one group block and in two."""
    arrays = [key_array(KEY, {"key": one}) for one in (first, second)]
    terms = [[np.ones(len(one))] for one in arrays]
    within, across = Merge(), Merge()
    within.add(group_sums(arrays, terms))
    for array, own in zip(arrays, terms, strict=True):
        across.add(group_sums([array], [own]))
    values = first.to_pylist() + second.to_pylist()
    for merge in (within, across):
        found = merge.finish()
        assert list(keys) == found.keys.to_pylist()
        assert [values.count(key) for key in keys] == found.sizes.tolist()


def test_groups__zeros_of_both_signs_are_one_key() -> None:
    """-0.0 and 0.0 are equal."""
    assert 1 == merged(Rows(pa.array([0.0, -0.0]), [np.ones(2)]), 1, 1).n_groups


@pytest.mark.parametrize("missing", [[1.5, None], [1.5, float("nan")], ["x", None]])
def test_keys__missing_are_refused_as_in_memory(missing: Any) -> None:
    """The message is that of a table in memory."""
    message = (
        r"`groups` \(column 'key'\) has 1 (null|NaN) \(first at row 1\); drop those rows or give "
        r"them a group of their own\."
    )
    for read in (lambda data: key_array(KEY, data), lambda data: load([KEY], data)):
        with pytest.raises(ValueError, match=message):
            read({"key": pa.array(missing)})


# Refused.


def test_numbering__types_that_never_agree() -> None:
    """No string is an integer."""
    numbering = Numbering()
    numbering.codes(to_bytes(pa.array(["1"], pa.large_string())))
    message = (
        "^`groups` is large_string in some rows of `data` and int64 in others; convert the column "
        r"to one type\.$"
    )
    with pytest.raises(TypeError, match=message):
        numbering.codes(to_bytes(pa.array([1])))


@pytest.mark.parametrize(
    "exact, other, changed",
    [
        (pa.array([2**53 + 1]), pa.array([0.5]), 2**53 + 1),
        (pa.array([2**63], pa.uint64()), pa.array([-1]), 2**63),
    ],
)
def test_numbering__types_that_do_not_hold_all(exact: Any, other: Any, changed: int) -> None:
    """A key that another type would change is refused, whichever comes first."""
    message = (
        rf"^`groups` is {exact.type} in some rows of `data`, and {other.type}, as it is in others, "
        rf"cannot hold all keys \(Integer value {changed} .*\); convert the column to one type\.$"
    )
    for before, after in ((exact, other), (other, exact)):
        numbering = Numbering()
        numbering.codes(to_bytes(before))
        with pytest.raises(ValueError, match=message):
            numbering.codes(to_bytes(after))


def test_numbering__too_many_keys() -> None:
    """The limit is exact, and said with what to do."""
    numbering = Numbering()
    message = (
        "^`groups` has more than 3 distinct keys; use a column that has fewer, or leave `groups` "
        r"out where each row is a unit of its own\.$"
    )
    with mock.patch.object(grouping, "_MOST_KEYS", 3):
        numbering.codes(to_bytes(pa.array([1, 2, 3, 1])))
        with pytest.raises(ValueError, match=message):
            numbering.codes(to_bytes(pa.array([4])))


@pytest.mark.parametrize("limit", ["_LONGEST", "_MOST_WORDS"])
def test_numbering__keys_too_long(limit: str) -> None:
    """A length or a place that does not fit into 32 bits is refused before it is written."""
    numbering = Numbering()
    message = (
        r"^the distinct keys of `groups` take more than \d+ GiB; use a column of shorter keys, "
        r"such as numbers\.$"
    )
    short, long = (to_bytes(pa.array(["x" * n], pa.large_string())) for n in (9, 800))
    with mock.patch.object(grouping, limit, 99):
        numbering.codes(short)
        with pytest.raises(ValueError, match=message):
            numbering.codes(long)


def test_limits__documented() -> None:
    """The two limits that a user meets."""
    assert 2**31 - 1 == grouping._MOST_KEYS
    assert 32 * 2**30 == 8 * grouping._MOST_WORDS


# Sent.


def test_sums__pickle_has_no_more_than_they_hold() -> None:
    """Rows, parents of slices and room to grow stay behind."""
    keys = pa.array([f"user {number % 50:02}" for number in range(100_000)], pa.large_string())
    rng = np.random.default_rng(2)
    codes, values = rng.integers(0, 4, 100_000), rng.random(100_000)
    rows = slice(50_000, 60_000)
    part = group_sums([keys[rows]], [[values[rows], Tally(codes[rows], 4)]])
    # 50 keys of 7 bytes with 51 places, two sums each, and three numbers for up to 200 entries.
    held = 50 * (7 + 8 + 16) + 8 + 200 * 24
    assert held < len(pickle.dumps(part)) < held + 1_500
