"""Designs that cannot be are refused by name, before any work; poor ones get an honest answer.

Every message is compared as a whole.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

import fastboot as fb
from fastboot import engine, reference

if TYPE_CHECKING:
    from collections.abc import Callable

NAN = math.nan
TABLE: dict[str, list[Any]] = {
    "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "lang": ["de", "de", "en", "en", "fi", "fi"],
    "user": ["u", "v", "u", "v", "u", "v"],
}
RUN: dict[str, Any] = {"rng": 0, "n_resamples": 50}
undefined = pytest.mark.filterwarnings("ignore:the statistic is undefined:RuntimeWarning")


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where replicates are computed."""

    def refuse(*_: object, **__: object) -> NoReturn:
        pytest.fail("resampling was started")

    monkeypatch.setattr(engine, "run", refuse)


def refusal(call: Callable[[], object]) -> tuple[type[Exception], str]:
    """Return the error that a call raises."""
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    return raised.type, str(raised.value)


DESIGNS: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"scheme": "wild"}, ValueError,
        ("`scheme` is 'wild'; choose one of multinomial, bayesian, poisson, moving, circular, "
        "stationary"),
    ),
    (
        {"scheme": None}, ValueError,
        ("`scheme` is None; choose one of multinomial, bayesian, poisson, moving, circular, "
        "stationary"),
    ),
    (
        {"levels": "three", "groups": "user"}, ValueError,
        "`levels` is 'three'; choose one of nested, crossed, or None",
    ),
    (
        {"levels": 2, "groups": "user"}, ValueError,
        "`levels` is 2; choose one of nested, crossed, or None",
    ),
    (
        {"levels": "nested"}, TypeError,
        "`levels` is 'nested' but `groups` is None; name the groups",
    ),
    (
        {"groups": ["user", "lang"]}, TypeError,
        ("`groups` names 2 columns but `levels` is None; name one, or choose levels='nested' or "
        "'crossed'"),
    ),
    (
        {"groups": "user", "levels": "crossed"}, TypeError,
        ("`groups` names 1 column; levels='crossed' takes two columns, such as "
        '["user", "conversation"]'),
    ),
    (
        {"groups": ["user", "lang", "score"], "levels": "nested"}, TypeError,
        ("`groups` names 3 columns; levels='nested' takes one column (and rows inside), or two, "
        'such as ["user", "conversation"]'),
    ),
    (
        {"groups": ["user", "longitude"], "levels": "nested"}, ValueError,
        "`groups`: no column 'longitude' in data; there are: score, lang, user.",
    ),
    (
        {"by": ["user", "lnag"]}, ValueError,
        "`by`: no column 'lnag' in data; there are: lang, score, user.",
    ),
    (
        {"strata": ["lang", "usr"]}, ValueError,
        "`strata`: no column 'usr' in data; there are: user, score, lang.",
    ),
    ({"strata": []}, ValueError, "`strata` is empty; give at least one row."),
    ({"by": []}, ValueError, "`by` is empty; give at least one row."),
    (
        {"strata": ["x", "y"]}, ValueError,
        ("`statistic` (column 'score') has 6 rows but `strata` has 2; all columns need one row per "
        "item."),
    ),
    (
        {"strata": ["x", None] * 3}, ValueError,
        "`strata` has 3 nulls (first at row 1); drop those rows or give them a group of their own.",
    ),
    *[
        (
            {"n_drawn": shown}, ValueError,
            f"`n_drawn` is {shown!r}; it must be a whole number from 1 to 4,294,967,296, or None",
        )
        for shown in (0, -1, 2.5, True, "ten", 2**32 + 1)
    ],
    (
        {"block_length": 3}, ValueError,
        ("`block_length` is 3 but scheme='multinomial' has no blocks; choose one of moving, "
        "circular, stationary"),
    ),
    *[
        (
            {"scheme": "stationary", "block_length": shown}, ValueError,
            (f"`block_length` is {shown!r}; it must be a number of rows, 1 or more, or None to "
            "choose it from the data"),
        )
        for shown in (0, 0.5, -2, NAN, math.inf, True, "3")
    ],
    (
        {"scheme": "moving", "block_length": 2.5}, ValueError,
        "`block_length` is 2.5; blocks of scheme='moving' are whole rows",
    ),
    (
        {"scheme": "poisson", "path": "rows"}, ValueError,
        "`path` is 'rows'; only plain resampling with replacement has several, leave it None",
    ),
    (
        {"levels": "nested", "groups": "user", "scheme": "poisson"}, ValueError,
        "`levels` and scheme='poisson': these do not go together; leave one out",
    ),
    (
        {"groups": "user", "scheme": "moving", "block_length": 2}, ValueError,
        ("`groups` and scheme='moving': blocks are of rows, in the order given: these do not go "
        "together; leave one out"),
    ),
    (
        {"n_drawn": 3, "scheme": "bayesian"}, ValueError,
        "`n_drawn` and scheme='bayesian': these do not go together; leave one out",
    ),
    (
        {"n_drawn": 3, "strata": "lang"}, ValueError,
        ("`n_drawn` and `strata`, which keep their numbers of units: these do not go together; "
        "leave one out"),
    ),
    (
        {"n_drawn": 3, "by": "lang"}, ValueError,
        "`n_drawn` and `by`, whose slices differ in size: these do not go together; leave one out",
    ),
    (
        {"n_drawn": 3, "groups": "user", "levels": "nested"}, ValueError,
        "`n_drawn` and `levels`: these do not go together; leave one out",
    ),
    *[
        (
            {"groups": ["user", "lang"], "levels": "crossed", argument: "lang"}, ValueError,
            '`strata` or `by` and levels="crossed": these do not go together; leave one out',
        )
        for argument in ("strata", "by")
    ],
    (
        {"groups": "user", "strata": "lang"}, ValueError,
        ("`groups` and `strata`: 4 groups or more have rows in several strata; a group is drawn "
        "whole, so all its rows must be in one stratum"),
    ),
    (
        {"weights": [1, -2, NAN, 1, 1, 1], "nan_policy": "propagate"}, ValueError,
        "`weights` has 2 values below 0 or missing (first at row 1: -2); weights are 0 or more",
    ),
    (
        {"weights": [1, 2, 3, 4, -0.5, 1]}, ValueError,
        "`weights` has 1 value below 0 or missing (first at row 4: -0.5); weights are 0 or more",
    ),
    ({"weights": [0] * 6}, ValueError, "`weights` are all 0; at least one row must count"),
    (
        {"weights": "user"}, TypeError,
        "`weights` (column 'user') holds strings; a score must be a number.",
    ),
]  # fmt: skip


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("options,error,message", DESIGNS, ids=[str(one[0]) for one in DESIGNS])
def test_design(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """What cannot be, by the words that say what can."""
    assert refusal(lambda: fb.bootstrap("score", data=TABLE, **options)) == (error, message)
    paired = refusal(lambda: fb.paired_bootstrap("score", "score", data=TABLE, **options))
    assert paired == (error, message.replace("`statistic`", "`a`"))


STATISTICS: list[tuple[Any, type[Exception], str]] = [
    ({}, ValueError, "`{argument}` is empty; give at least one statistic"),
    (
        {("a", "b"): "score"}, TypeError,
        "`{argument}` calls a statistic ('a', 'b'); names are strings or numbers",
    ),
    (
        [fb.mean("score"), "score"], TypeError,
        ("`{argument}` is a list of statistics but holds 'score' at place 1; give statistics only, "
        "such as fb.mean('score')"),
    ),
    (
        [fb.mean("score"), fb.total("score"), fb.mean("lang")], ValueError,
        "`{argument}` has two statistics called 'mean'; give a dict, whose keys tell them apart",
    ),
    (
        {"average": "scor"}, ValueError,
        "`{argument}['average']`: no column 'scor' in data; there are: score, lang, user.",
    ),
]  # fmt: skip


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("asked,error,message", STATISTICS)
def test_statistics(asked: Any, error: type[Exception], message: str) -> None:
    """What is asked for, wrongly."""
    one = refusal(lambda: fb.bootstrap(asked, data=TABLE))
    assert one == (error, message.format(argument="statistic"))
    for procedure in (fb.paired_bootstrap, fb.approximate_randomization):
        first = refusal(lambda call=procedure: call(asked, {"m": "score"}, data=TABLE))  # type: ignore[misc] # bound here
        if "no column" not in message:  # names are compared first
            assert first == (error, message.format(argument="a"))


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("procedure", [fb.paired_bootstrap, fb.approximate_randomization])
@pytest.mark.parametrize(
    "a,b,shown",
    [
        ({"x": "score"}, {"y": "score"}, ("'x'", "'y'")),
        ({"x": "score"}, "score", ("'x'", "one statistic")),
        ("score", [fb.mean("score"), fb.total("score")], ("one statistic", "'mean', 'total'")),
        (
            {"x": "score", "y": "score"}, {"y": "score", "x": "score"},
            ("'x', 'y'", "'y', 'x'"),
        ),
    ],
)  # fmt: skip
def test_pairs(procedure: Any, a: Any, b: Any, shown: tuple[str, str]) -> None:
    """Two systems that were not asked for the same."""
    assert refusal(lambda: procedure(a, b, data=TABLE)) == (
        ValueError,
        (
            f"`a` asks for {shown[0]} but `b` for {shown[1]}; both systems need the same "
            "statistics, by the same names and in the same order"
        ),
    )


# Poor, but possible

ONE: dict[str, dict[str, Any]] = {
    "strata": {"strata": ["x"]},
    "bayesian": {"scheme": "bayesian"},
    "moving": {"scheme": "moving", "block_length": 3},
    "circular": {"scheme": "circular", "block_length": 1},
    "stationary": {"scheme": "stationary", "block_length": 9.5},
    "nested": {"groups": np.array(["x"]), "levels": "nested"},
    "nested columns": {"groups": [["x"], ["y"]], "levels": "nested"},
    "crossed": {"groups": [["x"], ["y"]], "levels": "crossed"},
    "n_drawn": {"n_drawn": 4},
    "weights": {"weights": [0.25]},
    "by": {"by": ["x"]},
}


@pytest.mark.parametrize("statistic", [fb.mean, fb.median, fb.total])
@pytest.mark.parametrize("design", ONE)
def test_one_unit(design: str, statistic: Any) -> None:
    """One row is drawn again and again: the point interval, and notes that say so."""
    if statistic is fb.total and design == "n_drawn":
        # Four times the only row is another total, not one of this sample.
        with pytest.raises(ValueError, match=r"^`n_drawn` is 4 of 1 row, but total grows with"):
            fb.bootstrap(statistic([3.0]), **RUN, **ONE[design])
        return
    found: Any = fb.bootstrap(statistic([3.0]), **RUN, **ONE[design])
    own = 0.25 if statistic is fb.total and design == "weights" else 1.0
    for result in [found.total, *found.values()] if design == "by" else [found]:
        assert result.replicates.tolist() == [3.0 * own] * 50
        assert result.estimate == 3.0 * own
        assert result.standard_error == 0.0
        assert result.notes[0].startswith("only 1 ")
        assert any(note.startswith("degenerate") for note in result.notes)


@undefined
@pytest.mark.parametrize("statistic", [fb.mean, fb.median])
def test_one_unit__poisson(statistic: Any) -> None:
    """The only row is absent from resamples; these are undefined, not 0."""
    result = fb.bootstrap(statistic([3.0]), **RUN, scheme="poisson")
    counts = [len(reference.poisson_units(1, 0, r)) for r in range(50)]
    expected = [3.0 if count else NAN for count in counts]
    np.testing.assert_array_equal(result.replicates, expected)
    assert result.n_undefined == counts.count(0) > 0


@pytest.mark.parametrize("design", ["strata", "by", "bayesian", "moving", "nested", "crossed"])
@pytest.mark.parametrize("statistic", [fb.mean, fb.median])
def test_constant_column(statistic: Any, design: str) -> None:
    """Equal values: the same number from any weights, to the rounding that the result states."""
    designs: dict[str, dict[str, Any]] = {
        "strata": {"strata": "lang"},
        "by": {"by": "lang"},
        "bayesian": {"scheme": "bayesian"},
        "moving": {"scheme": "moving", "block_length": 2},
        "nested": {"groups": "lang", "levels": "nested"},
        "crossed": {"groups": ["lang", "user"], "levels": "crossed"},
    }
    found: Any = fb.bootstrap(statistic([0.1] * 6), data=TABLE, **RUN, **designs[design])
    for result in [found.total, *found.values()] if design == "by" else [found]:
        assert np.abs(result.replicates - 0.1).max() <= result.rounding
        assert any(note.startswith("degenerate") for note in result.notes)


@undefined
def test_class_absent_from_slices() -> None:
    """A class of the table that a slice lacks is 0 / 0 there, by class, and in an average."""
    lang, gold = TABLE["lang"], ["x", "y", "x", "x", "y", "y"]
    each = fb.bootstrap(fb.f_score(gold, gold, average=None), by=lang, **RUN)
    absent = [("x", "fi"), ("y", "en")]
    assert [key for key, one in each.items() if np.isnan(one.estimate)] == absent
    assert all(each[key].n_undefined == 50 for key in absent)
    average = fb.bootstrap(fb.f_score(gold, gold, average="macro"), by=lang, **RUN)
    assert [np.isnan(one.estimate) for one in average.values()] == [False, True, True]
    assert average.total.estimate == 1.0
    skipped = fb.bootstrap(
        fb.f_score(gold, gold, average="macro", zero_division=NAN), by=lang, **RUN
    )
    assert skipped.replicates.tolist() == [[1.0] * 50] * 3


@pytest.mark.parametrize("statistic", [fb.mean, fb.median])
@pytest.mark.parametrize(
    "options",
    [
        {"strata": "lang"}, {"by": "lang"}, {"scheme": "poisson"}, {"scheme": "bayesian"},
        {"scheme": "circular", "block_length": 2}, {"groups": "lang", "levels": "nested"},
        {"groups": ["lang", "user"], "levels": "crossed"}, {"n_drawn": 3}, {"weights": "score"},
    ],
    ids=str,
)  # fmt: skip
def test_missing__propagate(statistic: Any, options: dict[str, Any]) -> None:
    """A missing value makes every answer undefined, without a warning: it was asked for."""
    values = [1.0, 2.0, NAN, 4.0, 5.0, 6.0]
    found: Any = fb.bootstrap(
        statistic(values), data=TABLE, nan_policy="propagate", **RUN, **options
    )
    for result in [found.total, *found.values()] if "by" in options else [found]:
        assert np.isnan(result.estimate)
        assert result.n_undefined == 50


@undefined
@pytest.mark.parametrize("statistic", [fb.mean, fb.median])
@pytest.mark.parametrize(
    "options",
    [
        {"strata": "lang"}, {"by": "lang"}, {"scheme": "poisson"}, {"scheme": "bayesian"},
        {"scheme": "circular", "block_length": 2}, {"groups": "lang", "levels": "nested"},
        {"groups": ["lang", "user"], "levels": "crossed"}, {"n_drawn": 3}, {"weights": "weight"},
    ],
    ids=str,
)  # fmt: skip
def test_missing__omit(statistic: Any, options: dict[str, Any]) -> None:
    """Rows with a missing value are left out of all columns, slices that lose all rows too."""
    values = [NAN, NAN, 3.0, 4.0, 5.0, 6.0]
    table = {**TABLE, "weight": [1.0, 2.0, 3.0, 1.0, 1.0, 1.0], "x": values}
    left = {name: column[2:] for name, column in table.items()}
    asked: Any = statistic("x")
    found: Any = fb.bootstrap(asked, data=table, nan_policy="omit", **RUN, **options)
    other: Any = fb.bootstrap(asked, data=left, **RUN, **options)
    np.testing.assert_array_equal(found.replicates, other.replicates)
    if "by" in options:
        assert list(found) == list(other) == ["en", "fi"]
        assert found.total.n_dropped == 2
    else:
        assert (found.estimate, found.n_dropped) == (other.estimate, 2)


KEYS: dict[str, list[Any]] = {
    "strings": ["b", "a", "b", "a", "c", "a"],
    "integers": [10, 9, 10, 9, 11, 9],
    "floats": [0.5, -1.5, 0.5, -1.5, 7.0, -1.5],
    "booleans": [True, False, True, False, True, False],
}
ONLY_KEYS: dict[str, list[Any]] = {
    "dates": [dt.date(2024, 5, day) for day in (2, 1, 2, 1, 3, 1)],
    "times": [dt.datetime(2024, 5, 1, hour, tzinfo=dt.UTC) for hour in (2, 1, 2, 1, 3, 1)],
    "bytes": [b"b", b"a", b"b", b"a", b"c", b"a"],
}


@pytest.mark.parametrize("argument", ["groups", "strata"])
@pytest.mark.parametrize("kind", [*KEYS, *ONLY_KEYS])
def test_keys(kind: str, argument: str) -> None:
    """Keys of any kind number the units in their sorted order."""
    keys = (KEYS | ONLY_KEYS)[kind]
    codes = [sorted(set(keys)).index(key) for key in keys]
    found, other = (
        fb.bootstrap("score", data=TABLE, **RUN | {argument: one}) for one in (keys, codes)
    )
    np.testing.assert_array_equal(found.replicates, other.replicates)


@pytest.mark.parametrize("kind", [*KEYS, *ONLY_KEYS])
def test_slices__keys(kind: str) -> None:
    """Slices come in the sorted order of their values, by which they are found."""
    keys = (KEYS | ONLY_KEYS)[kind]
    found = fb.bootstrap("score", data=TABLE, by=keys, **RUN)
    assert list(found) == sorted(set(keys))
    for key, one in found.items():
        own = [score for score, other in zip(TABLE["score"], keys, strict=True) if other == key]
        assert one.estimate == np.mean(own)


def test_slices__only_the_combinations_there_are() -> None:
    """Slices of several columns: tuples, of combinations with rows only, in order."""
    table = {**TABLE, "half": [1, 1, 1, 2, 2, 2]}
    found = fb.bootstrap("score", data=table, by=["lang", "half"], strata="user", **RUN)
    assert list(found) == [("de", 1), ("en", 1), ("en", 2), ("fi", 2)]
    assert found.estimates.tolist() == [1.5, 3.0, 4.0, 5.5]
    assert found["en", 2].replicates.tolist() == [4.0] * 50  # one row
    assert found["de", 1].replicates.tolist() == [1.5] * 50  # one row in each stratum


@pytest.mark.parametrize("n_differing", [0, 1])
def test_randomization__slices_that_do_not_differ(n_differing: int) -> None:
    """A slice in which the systems give the same stays as it is."""
    other = [9.0, *TABLE["score"][1:]] if n_differing else TABLE["score"]
    found = fb.approximate_randomization("score", other, data=TABLE, by="lang", **RUN)
    assert [one.n_differing for one in found.values()] == [n_differing, 0, 0]
    for key in ("en", "fi"):
        assert found[key].replicates.tolist() == [0.0] * 50
        assert found[key].pvalue == 1.0


# BCa where no unit can be left out alone

NO_BCA: dict[str, tuple[dict[str, Any], str]] = {
    "crossed": (
        {"groups": ["lang", "user"], "levels": "crossed"},
        (
            'method="bca" and levels="crossed": BCa is not defined for crossed levels, where a row '
            "belongs to two units; choose another method, such as percentile"
        ),
    ),
    **{
        scheme: (
            {"scheme": scheme, "block_length": 2},
            (
                f'method="bca" and scheme={scheme!r}: BCa is not defined for blocks, as rows that '
                "depend on each other cannot be left out one at a time; choose another method, "
                "such as percentile"
            ),
        )
        for scheme in ("moving", "circular", "stationary")
    },
}


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("statistic", [fb.mean, fb.median])
@pytest.mark.parametrize("design", NO_BCA)
def test_bca(statistic: Any, design: str) -> None:
    """It is refused where it is not defined, by every procedure, before any resampling."""
    options, message = NO_BCA[design]
    asked = statistic("score")
    for call in (
        lambda: fb.bootstrap(asked, data=TABLE, method="bca", **options, **RUN),
        lambda: fb.paired_bootstrap(asked, asked, data=TABLE, method="bca", **options, **RUN),
        lambda: fb.unpaired_bootstrap(asked, asked, data=TABLE, method="bca", **options, **RUN),
    ):
        assert refusal(call) == (ValueError, message)


@pytest.mark.parametrize("design", NO_BCA)
def test_bca__of_a_result(design: str) -> None:
    """Nor can it be read off a result; the other intervals can."""
    options, message = NO_BCA[design]
    result = fb.bootstrap(fb.mean("score"), data=TABLE, **options, **RUN)
    assert refusal(lambda: result.interval(method="bca")) == (ValueError, message)
    assert result.interval(method="basic").method == "basic"
    assert not any("BCa" in note for note in result.notes)


@pytest.mark.parametrize(
    "options",
    [
        {"scheme": "poisson"}, {"scheme": "bayesian"}, {"groups": "lang", "levels": "nested"},
        {"strata": "user"},
    ],
    ids=str,
)  # fmt: skip
def test_bca__there(options: dict[str, Any]) -> None:
    """Other designs have one."""
    scores = {"score": [1.0, 2.0, 3.0, 4.0, 5.0, 9.0]}
    result = fb.bootstrap("score", data=TABLE | scores, method="bca", **options, **RUN)
    assert result.confidence_interval.method == "bca"
