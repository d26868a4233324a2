"""Wrong input is refused before any work, by name, with the value and what to do; poor data is not.

Every message is compared as a whole. What a column may hold is tested in test_columns.py; here it
is that all procedures say it about the argument the caller wrote.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

import fastboot as fb
from fastboot import engine
from fastboot.kernels import swaps as swap_kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

NAN = math.nan
A, B = [1, 0, 1], [0, 0, 1]

# Called with a first column to find fault with, which messages call `statistic`, `a` or `b`.
PROCEDURES: dict[str, tuple[str, Callable[..., Any]]] = {
    "bootstrap": ("statistic", fb.bootstrap),
    "paired bootstrap, a": (
        "a",
        lambda source, **options: fb.paired_bootstrap(source, B, **options),
    ),
    "paired bootstrap, b": (
        "b",
        lambda source, **options: fb.paired_bootstrap(A, source, **options),
    ),
    "randomization, a": (
        "a",
        lambda source, **options: fb.approximate_randomization(source, B, **options),
    ),
    "randomization, b": (
        "b",
        lambda source, **options: fb.approximate_randomization(A, source, **options),
    ),
}
RESAMPLING = ["bootstrap", "paired bootstrap, a"]
TESTS = ["paired bootstrap, a", "randomization, a"]
ALL = [*RESAMPLING, "randomization, a"]

every_argument = pytest.mark.parametrize("procedure", PROCEDURES)
every_procedure = pytest.mark.parametrize("procedure", ALL)
every_test = pytest.mark.parametrize("procedure", TESTS)


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where replicates are computed."""

    def refuse(*_: object, **__: object) -> NoReturn:
        pytest.fail("resampling was started")

    monkeypatch.setattr(engine, "run", refuse)
    monkeypatch.setattr(swap_kernels, "add_all_swap_sums", refuse)


no_work = pytest.mark.usefixtures("_no_work")


@pytest.fixture
def table() -> dict[str, Sequence[Any]]:
    """Return a table with columns of all kinds."""
    return {
        "score": [1, 0, 1],
        "name": ["x", "y", "z"],
        "nested": [[1], [2], [3]],
        "key": ["p", None, "q"],
    }


# Called with a statistic, of both systems where there are two.
WITH_STATISTIC: dict[str, Callable[[fb.Additive], Any]] = {
    "bootstrap": fb.bootstrap,
    "paired bootstrap, a": lambda statistic: fb.paired_bootstrap(statistic, statistic),
    "randomization, a": lambda statistic: fb.approximate_randomization(statistic, statistic),
}


def refusal(error: type[Exception], call: Callable[[], object]) -> str:
    """Return the message of the error that the call raises."""
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


def assert_refused(
    procedure: str, error: type[Exception], message: str, source: object = A, **options: Any
) -> None:
    """Assert that the call is refused with this message; {argument} is the column's argument."""
    argument, call = PROCEDURES[procedure]
    actual = refusal(error, lambda: call(source, **options))
    assert message.format(argument=argument) == actual


@no_work
def test_no_work__is_seen() -> None:
    """The fixture that proves that no work is done would see work."""
    for _, call in PROCEDURES.values():
        with pytest.raises(pytest.fail.Exception, match="resampling was started"):
            call([0, 1, 0], rng=0)


# Scores


@no_work
@every_argument
@pytest.mark.parametrize(
    "source,error,message",
    [
        ([], ValueError, "`{argument}` is empty; give at least one row."),
        (
            [1.0, NAN, NAN],
            ValueError,
            ("`{argument}` has 2 NaN (first at row 1); "
            'pass nan_policy="omit" to drop those rows, or fill them.'),
        ),
        (
            [1.0, None, 2.0],
            ValueError,
            ("`{argument}` has 1 null (first at row 1); "
            'pass nan_policy="omit" to drop those rows, or fill them.'),
        ),
        (
            [1.0, 2.0, -math.inf],
            ValueError,
            ("`{argument}` has 1 infinite value (first at row 2); "
            "replace or drop what is not finite."),
        ),
        (["x", "y", "z"], TypeError, "`{argument}` holds strings; a score must be a number."),
        (
            np.zeros((3, 1)),
            ValueError,
            "`{argument}` has shape (3, 1); give one dimension, a value per row.",
        ),
        (
            0.5,
            TypeError,
            ("`{argument}` is a float; give the name of a column of data=, or the values as an "
            "array, a series or a list."),
        ),
        (
            None,
            TypeError,
            ("`{argument}` is a NoneType; give the name of a column of data=, or the values as an "
            "array, a series or a list."),
        ),
        (
            "score",
            ValueError,
            ("`{argument}` names the column 'score' but no data= was given; give it, or the values "
            "themselves."),
        ),
    ],
    ids=[
        "empty", "NaN", "null", "infinite", "strings", "two dimensions", "number", "None",
        "no data",
    ],
)  # fmt: skip
def test_scores__refused(
    procedure: str, source: object, error: type[Exception], message: str
) -> None:
    """Scores that cannot be used, under the name of the argument that holds them."""
    assert_refused(procedure, error, message, source)


@no_work
@every_argument
@pytest.mark.parametrize(
    "column,error,message",
    [
        (
            "sore",
            ValueError,
            "`{argument}`: no column 'sore' in data; there are: score, name, nested, key.",
        ),
        (
            "name",
            TypeError,
            "`{argument}` (column 'name') holds strings; a score must be a number.",
        ),
        (
            "nested",
            TypeError,
            (
                "`{argument}` (column 'nested') holds values of type list<item: int64>; "
                "a score must be a number."
            ),
        ),
    ],
)
def test_columns__refused(
    procedure: str,
    column: str,
    error: type[Exception],
    message: str,
    table: dict[str, Sequence[Any]],
) -> None:
    """Columns that are not there or are no scores, under both names."""
    assert_refused(procedure, error, message, column, data=table)


@no_work
@every_procedure
def test_data__refused(procedure: str, tmp_path: Path) -> None:
    """`data` that is no table, and a path to nothing."""
    assert_refused(
        procedure,
        TypeError,
        "`data` is a int; give an Arrow table, reader or dataset, a function that opens a reader, "
        "a pandas or polars DataFrame, a polars LazyFrame, a duckdb relation, a Hugging Face "
        "dataset, a dict of arrays, or a path: of a file, a folder, a pattern, or a list of paths.",
        "score",
        data=5,
    )
    missing = str(tmp_path / "missing.parquet")
    assert_refused(
        procedure, FileNotFoundError, f"data={missing!r}: there is no such file.", "score",
        data=missing,
    )  # fmt: skip


@no_work
@every_test
def test_lengths__refused(procedure: str) -> None:
    """Systems of different length."""
    assert_refused(
        procedure,
        ValueError,
        "`a` has 4 rows but `b` has 3; all columns need one row per item.",
        [1, 0, 1, 1],
    )


# Groups


@no_work
@every_procedure
@pytest.mark.parametrize(
    "groups,error,message",
    [
        (
            ["p", "q"],
            ValueError,
            "`{argument}` has 3 rows but `groups` has 2; all columns need one row per item.",
        ),
        (
            ["p", None, None],
            ValueError,
            (
                "`groups` has 2 nulls (first at row 1); "
                "drop those rows or give them a group of their own."
            ),
        ),
        (
            "key",
            ValueError,
            (
                "`groups` (column 'key') has 1 null (first at row 1); "
                "drop those rows or give them a group of their own."
            ),
        ),
        (
            "kez",
            ValueError,
            "`groups`: no column 'kez' in data; there are: key, score, name, nested.",
        ),
    ],
)
@pytest.mark.parametrize("nan_policy", ["raise", "omit", "propagate"])
def test_groups__refused(
    procedure: str,
    groups: object,
    error: type[Exception],
    message: str,
    nan_policy: str,
    table: dict[str, Sequence[Any]],
) -> None:
    """Keys that are missing, whatever is done about missing scores, or not one for each row."""
    assert_refused(procedure, error, message, A, data=table, groups=groups, nan_policy=nan_policy)


# Options

WHOLE = "`{name}` is {shown}; it must be a whole number"
RNG = "`rng` is {shown}; give a whole number (a seed), a numpy Generator or SeedSequence, or None"
PROGRESS = "`progress` is {shown}; give True for a bar, or a function of (done, total)"
LEVEL = "`confidence_level` is {shown}; it must lie between 0 and 1, such as 0.95"
NUMBER = "`confidence_level` is {shown}; it must be a number, such as 0.95"
RANGE = "`n_resamples` is {shown}; it must lie between 1 and 4,294,967,296"
THREADS = "`n_threads` is {shown}; it must lie between 1 and 1,024"
SIDES = "`alternative` is {shown}; choose one of two-sided, greater, less"
POLICY = 'nan_policy={shown}; choose "raise", "omit" or "propagate".'


@no_work
@every_procedure
@pytest.mark.parametrize(
    "name,value,error,message",
    [
        ("n_resamples", 0, ValueError, RANGE),
        ("n_resamples", -1, ValueError, RANGE),
        ("n_resamples", 2**32 + 1, ValueError, RANGE),
        ("n_resamples", 10**30, ValueError, RANGE),
        ("n_resamples", 99.5, TypeError, WHOLE),
        ("n_resamples", 1e4, TypeError, WHOLE),
        ("n_resamples", math.inf, TypeError, WHOLE),
        ("n_resamples", NAN, TypeError, WHOLE),
        ("n_resamples", "999", TypeError, WHOLE),
        ("n_resamples", None, TypeError, WHOLE),
        ("n_resamples", True, TypeError, WHOLE),
        ("n_resamples", [999], TypeError, WHOLE),
        ("confidence_level", 0, ValueError, LEVEL),
        ("confidence_level", 1.0, ValueError, LEVEL),
        ("confidence_level", -0.95, ValueError, LEVEL),
        ("confidence_level", 95, ValueError, LEVEL),
        ("confidence_level", NAN, ValueError, LEVEL),
        ("confidence_level", True, TypeError, NUMBER),
        ("confidence_level", "0.95", TypeError, NUMBER),
        ("confidence_level", None, TypeError, NUMBER),
        ("alternative", "two_sided", ValueError, SIDES),
        ("alternative", "larger", ValueError, SIDES),
        ("alternative", None, ValueError, SIDES),
        ("nan_policy", "drop", ValueError, POLICY),
        ("nan_policy", None, ValueError, POLICY),
        ("nan_policy", ["omit"], ValueError, POLICY),
        ("rng", -1, ValueError, "`rng` is {shown}; a seed must be 0 or more"),
        ("rng", 1.5, TypeError, RNG),
        ("rng", "0", TypeError, RNG),
        ("rng", True, TypeError, RNG),
        ("n_threads", 0, ValueError, THREADS),
        ("n_threads", -2, ValueError, THREADS),
        ("n_threads", 2_000, ValueError, THREADS),
        ("n_threads", 1.5, TypeError, WHOLE),
        ("n_threads", True, TypeError, WHOLE),
        ("progress", "bar", TypeError, PROGRESS),
        ("progress", 1, TypeError, PROGRESS),
    ],
)
def test_options__refused(
    procedure: str, name: str, value: object, error: type[Exception], message: str
) -> None:
    """Options that all procedures share: of the wrong type, beyond their range, unknown words."""
    grouped = type(value) is int and name not in {"confidence_level", "rng"}
    shown = f"{value:,}" if grouped and error is ValueError else repr(value)
    assert_refused(procedure, error, message.format(name=name, shown=shown), **{name: value})


@no_work
@pytest.mark.parametrize("procedure", RESAMPLING)
@pytest.mark.parametrize("method", ["BCa", "student", None])
def test_method__refused(procedure: str, method: object) -> None:
    """An unknown interval."""
    message = f"`method` is {method!r}; choose one of percentile, basic, normal, bca, studentized"
    assert_refused(procedure, ValueError, message, method=method)


@no_work
@pytest.mark.parametrize(
    "procedure,path,words",
    [
        ("bootstrap", "tables", "collapse, rows, patterns, weights"),
        ("paired bootstrap, a", "enumeration", "collapse, rows, patterns, weights"),
        ("randomization, a", "rows", "enumeration, collapse, tables, weights"),
        ("randomization, a", "fast", "enumeration, collapse, tables, weights"),
    ],
)
def test_path__refused(procedure: str, path: str, words: str) -> None:
    """An unknown path, and one of the other resampling."""
    message = f"`path` is {path!r}; choose one of {words}, or None"
    assert_refused(procedure, ValueError, message, path=path)


@no_work
def test_path__refuses_to_list_too_many_swaps() -> None:
    """2**25 swaps are too many to list."""
    expected = (
        "path='enumeration' would list 2**25 swaps; it can list those of at most 24 units that "
        "differ, use path=None to sample"
    )
    a, b = np.arange(1, 26), np.zeros(25)
    assert expected == refusal(
        ValueError, lambda: fb.approximate_randomization(a, b, path="enumeration")
    )


@no_work
@every_procedure
@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5", "", "1025"])
def test_environment__refused(
    procedure: str, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number of threads from the environment that is none."""
    monkeypatch.setenv("FASTBOOT_NUM_THREADS", threads)
    message = (
        f"FASTBOOT_NUM_THREADS is {threads!r}; set it to a whole number from 1 to 1,024, or unset "
        "it"
    )
    assert_refused(procedure, ValueError, message)


# Statistics


@no_work
@pytest.mark.parametrize(
    "a,b,names",
    [
        (fb.mean(A), fb.total(B), ("mean", "total")),
        (fb.f_score(A, B), fb.f_score(A, B, beta=2), ("f_score", "f_score(beta=2)")),
        (A, fb.accuracy(A, B), ("mean", "accuracy")),
        (fb.precision(A, B), fb.recall(A, B), ("precision", "recall")),
    ],
)
def test_randomization__refuses_two_statistics(a: Any, b: Any, names: tuple[str, str]) -> None:
    """Swapped outputs must be measured by the same statistic."""
    expected = (
        f"`a` is {names[0]} and `b` is {names[1]}; swapped outputs are measured by the other's "
        "statistic, so both must be the same (paired_bootstrap can compare two)"
    )
    assert expected == refusal(TypeError, lambda: fb.approximate_randomization(a, b))


@no_work
@every_procedure
@pytest.mark.parametrize(
    "statistic,message",
    [
        (
            lambda: fb.f_score([0, 2, 2], [2, 2, 0]),
            "`pos_label` is 1, which is in neither `gold` nor `predicted`; the labels are 0, 2",
        ),
        (
            lambda: fb.f_score(tp=[1, -1, -2], fp=A, fn=B),
            "`tp` has 2 negative counts (first at row 1: -1); counts are 0 or more",
        ),
        (
            lambda: fb.precision(tp=A, fp=[0, 1, -0.5]),
            "`fp` has 1 negative count (first at row 2: -0.5); counts are 0 or more",
        ),
        (
            lambda: fb.accuracy(["x", "y", "x"], [1, 0, 1]),
            (
                "`gold` holds strings but `predicted` holds numbers (such as 'x' and 1); labels "
                "must be of one kind"
            ),
        ),
        (
            lambda: fb.accuracy(["x", "y", "x"], ["x", "y"]),
            "`gold` has 3 rows but `predicted` has 2; all columns need one row per item.",
        ),
    ],
    ids=["absent label", "negative counts", "negative count", "two kinds of labels", "lengths"],
)
def test_labels__refused(procedure: str, statistic: Callable[[], fb.Ratio], message: str) -> None:
    """Labels and counts that do not fit, in any procedure."""
    assert message == refusal(ValueError, lambda: WITH_STATISTIC[procedure](statistic()))


@pytest.mark.parametrize(
    "make,error,message",
    [
        (
            fb.f_score,
            TypeError,
            "f_score takes either gold and predicted, or tp and fp and fn; it got nothing",
        ),
        (
            lambda: fb.f_score(A, tp=A),
            TypeError,
            "f_score takes either gold and predicted, or tp and fp and fn; it got gold, tp",
        ),
        (
            lambda: fb.precision(tp=A),
            TypeError,
            "precision takes either gold and predicted, or tp and fp; it got tp",
        ),
        (
            lambda: fb.recall(A, B, tp=A, fn=B),
            TypeError,
            "recall takes either gold and predicted, or tp and fn; it got gold, predicted, tp, fn",
        ),
        (
            lambda: fb.f_score(A, B, beta=0),
            ValueError,
            "`beta` is 0; it must be a positive number (1 gives F1)",
        ),
        (
            lambda: fb.f_score(A, B, beta=math.inf),
            ValueError,
            "`beta` is inf; it must be a positive number (1 gives F1)",
        ),
        (fb.Additive, TypeError, "Additive() names no column; give at least one"),
    ],
)
def test_statistics__refused(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    """Statistics that do not know their columns, when they are made."""
    assert message == refusal(error, make)


class Returns(fb.Additive):
    """A statistic whose terms are what it was made with."""

    def __init__(self, terms: object) -> None:
        super().__init__(A)
        self._terms = terms

    def terms(self, values: Any) -> Any:
        """Anything."""
        del values
        return self._terms

    def finish(self, first: Any) -> Any:
        """First sum."""
        return first


@no_work
@every_procedure
@pytest.mark.parametrize(
    "terms,message",
    [
        (
            np.ones(3),
            (
                "Returns.terms() returned ndarray; return a tuple with one array, number or Tally "
                "for each term"
            ),
        ),
        (
            (),
            (
                "Returns.terms() returned tuple; return a tuple with one array, number or Tally "
                "for each term"
            ),
        ),
        (
            (np.ones(2),),
            "Returns.terms() returned shape (2,) for term 1; the rows need shape (3,)",
        ),
        (
            (1.0, np.ones((3, 2))),
            "Returns.terms() returned shape (3, 2) for term 2; the rows need shape (3,)",
        ),
    ],
)
def test_terms__refused(procedure: str, terms: object, message: str) -> None:
    """Terms of a statistic of one's own that are not one number for each row."""
    statistic = Returns(terms)
    assert message == refusal(TypeError, lambda: WITH_STATISTIC[procedure](statistic))


class Finishes(fb.Additive):
    """A mean whose last step is what it was made with."""

    def __init__(self, finish: Callable[[Any, Any], Any]) -> None:
        super().__init__(A)
        self._finish = finish

    def terms(self, values: Any) -> Sequence[Any]:
        """Value and number of rows."""
        return values, 1.0

    def finish(self, total: Any, count: Any) -> Any:
        """Anything."""
        return self._finish(total, count)


@no_work
@every_procedure
@pytest.mark.parametrize(
    "finish,message",
    [
        (lambda *_: None, "Finishes.finish() returned None; return the value"),
        (
            lambda *_: np.zeros(7),
            (
                "Finishes.finish() returned shape (7,) for sums of shape (2,); return one value "
                "for each"
            ),
        ),
        (
            lambda total, count: total / count if count > 0 else NAN,
            (
                "Finishes.finish() fails on 2 arrays of sums (The truth value of an array with "
                "more than one element is ambiguous. Use a.any() or a.all()); it must take one for "
                "each term and work on whole arrays, with np.where for conditions"
            ),
        ),
    ],
    ids=["no return", "another shape", "one at a time"],
)
def test_finish__refused(procedure: str, finish: Callable[[Any, Any], Any], message: str) -> None:
    """A last step that is not one value for each replicate."""
    assert message == refusal(TypeError, lambda: WITH_STATISTIC[procedure](Finishes(finish)))


@no_work
def test_additive__names_the_method_that_is_missing() -> None:
    """A statistic without terms, and one without finish."""

    class NoFinish(fb.Additive):
        def terms(self, values: Any) -> Any:
            return (values,)

    for statistic, message in (
        (fb.Additive(A), "Additive must define terms(*columns)"),
        (NoFinish(A), "NoFinish must define finish(*sums)"),
    ):
        run = partial(fb.bootstrap, statistic)
        assert message == refusal(NotImplementedError, run)


# Results


def test_results__refuse_unknown_words() -> None:
    """What is read off a finished result is checked like an argument."""
    bootstrap = fb.paired_bootstrap(A, B, n_resamples=9, rng=0)
    swaps = fb.approximate_randomization(A, B, n_resamples=9, rng=0)
    sides = "choose one of two-sided, greater, less"
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: bootstrap.test(rule="null"), "`rule` is 'null'; choose one of shift, percentile"),
        (lambda: bootstrap.test("up"), f"`alternative` is 'up'; {sides}"),
        (lambda: swaps.test("up"), f"`alternative` is 'up'; {sides}"),
        (lambda: bootstrap.interval(alternative="up"), f"`alternative` is 'up'; {sides}"),
        (
            lambda: bootstrap.interval(method="t"),
            "`method` is 't'; choose one of percentile, basic, normal, bca, studentized",
        ),
        (
            lambda: bootstrap.interval(2),
            "`confidence_level` is 2; it must lie between 0 and 1, such as 0.95",
        ),
        (
            lambda: swaps.interval(method="bca"),
            (
                "`method` is 'bca'; a randomization test has replicates under the null, which give "
                "the 'normal' interval only; use paired_bootstrap for others"
            ),
        ),
    ]
    for call, message in calls:
        assert message == refusal(ValueError, call)


# Poor data has an answer, and a note


@pytest.mark.parametrize("scores", [[0.7], [0.7, 0.7, 0.7]], ids=["one row", "all equal"])
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
def test_bootstrap__one_unit_or_equal_units(scores: list[float], groups: bool, method: str) -> None:
    """One row, one group, all equal: the point interval, and why it is one."""
    keys = ["k"] * len(scores) if groups else None
    result = fb.bootstrap(scores, groups=keys, method=method, rng=0)
    # The mean of three times 0.7 is the neighbour of 0.7.
    assert 0.7 == pytest.approx(result.estimate, rel=np.finfo(float).eps)
    assert (result.estimate, result.estimate) == result.confidence_interval[:2]
    assert (0.0, 0) == (result.standard_error, result.n_undefined)
    n_units, unit = (1, "group") if groups else (len(scores), "row")
    assert (n_units, unit) == (result.n_units, result.unit)
    assert any(note.startswith(f"only {n_units} {unit}") for note in result.notes)
    assert any(note.startswith("degenerate: all replicates are equal") for note in result.notes)


@pytest.mark.parametrize("groups", [None, ["k"] * 3])
def test_randomization__one_unit(groups: list[str] | None) -> None:
    """One unit can be swapped or not: p is 1, and so is the smallest p-value."""
    n = 1 if groups is None else 3
    result = fb.approximate_randomization([1] * n, [0] * n, groups=groups)
    assert (1, 1.0, 1.0) == (result.n_units, result.pvalue, result.min_pvalue)
    assert 0.5 == result.test("greater").min_pvalue
    assert any(note.startswith("only 1 ") for note in result.notes)


def test_randomization__equal_differences() -> None:
    """Where a is better by the same amount everywhere, only all swaps or none are as extreme."""
    result = fb.approximate_randomization([0.9] * 10, [0.8] * 10)
    assert (2 / 2**10, 2) == (result.pvalue, result.n_extreme)
