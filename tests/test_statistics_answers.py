"""Exact match and token F1 of short answers, against SQuAD's rules written out row by row."""

from __future__ import annotations

import math
import pickle
import string
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastboot as fb
from fastboot.columns import load
from fastboot.statistics.answers import exact_match, normalize_answer, token_f1

SEED = 31
both = pytest.mark.parametrize("make", [exact_match, token_f1])


def observed(statistic: Any, **options: Any) -> float:
    """Return the observed value."""
    result: fb.BootstrapResult = fb.bootstrap(statistic, rng=0, n_resamples=9, **options)
    return result.estimate


def scores(statistic: Any, data: Any = None) -> list[float]:
    """Return the scores of the rows."""
    terms = statistic.terms(*load(statistic.columns, data).columns)
    assert terms[1] == 1.0
    return list(terms[0])


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The Beatles", "beatles"),
        ("an  apple\ta\nday", "apple day"),
        ("there, anathema, Athens", "there anathema athens"),
        ("a.b.c. (USA)", "abc usa"),
        ("a-b", "ab"),
        ("The", ""),
        ("", ""),
        ("$3.5 million", "35 million"),
        ("«the» naïve — 東京", "« » naïve — 東京"),
        ("A.", ""),
        ("t.h.e end", "end"),
    ],
)
def test_normalize_answer(text: str, expected: str) -> None:
    """Case, ASCII punctuation, articles, white space, in this order."""
    assert expected == normalize_answer(text)


# Shared words, words of the prediction and of the gold answer, counted by hand.
@pytest.mark.parametrize(
    "gold, predicted, exact, f1",
    [
        ("the Denver Broncos", "Denver Broncos!", 1.0, 1.0),
        ("10 gold medals", "gold medals in 2012", 0.0, 2 * 2 / (4 + 3)),
        ("New York, New York", "new york", 0.0, 2 * 2 / (2 + 4)),
        ("New York", "york new", 0.0, 1.0),
        ("Paris", "London", 0.0, 0.0),
        ("", "", 1.0, 1.0),
        ("The", "a!", 1.0, 1.0),
        ("", "Paris", 0.0, 0.0),
        ("Paris", "the", 0.0, 0.0),
    ],
)
def test_answers__by_hand(gold: str, predicted: str, exact: float, f1: float) -> None:
    """Single answers."""
    assert [exact] == scores(exact_match([gold], [predicted]))
    assert [f1] == scores(token_f1([gold], [predicted]))


def plain_words(text: str) -> list[str]:
    """Words of an answer by the published rules, letter by letter."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return [word for word in kept.split() if word not in {"a", "an", "the"}]


def plain_f1(gold: str, predicted: str) -> float:
    """Harmonic mean of precision and recall of words, each word of the gold answer used once."""
    left, words = plain_words(gold), plain_words(predicted)
    if not left or not words:
        return float(left == words)
    n_gold, shared = len(left), 0
    for word in words:
        if word in left:
            left.remove(word)
            shared += 1
    precision, recall = shared / len(words), shared / n_gold
    return 2 * precision * recall / (precision + recall) if shared else 0.0


answers = st.lists(
    st.sampled_from(["the", "A", "cat", "Cat,", "dog", "dog.", "an", "!", "x-y", " "]), max_size=6
).map(" ".join)


@given(rows=st.lists(st.tuples(answers, answers, st.none() | answers), min_size=1, max_size=12))
def test_answers__rules(rows: list[tuple[str, str, str | None]]) -> None:
    """Every row has the score of the rules, the best of the gold answers that it has."""
    gold, predicted, more = map(list, zip(*rows, strict=True))
    golds = [[x for x in (first, second) if x is not None] for first, _, second in rows]
    exact = [
        max(float(plain_words(one) == plain_words(answer)) for one in some)
        for some, (_, answer, _) in zip(golds, rows, strict=True)
    ]
    f1 = [
        max(plain_f1(one, answer) for one in some)
        for some, (_, answer, _) in zip(golds, rows, strict=True)
    ]
    assert exact == scores(exact_match(gold, predicted, more_gold=[more]))
    # Four roundings in theirs, one in ours.
    assert pytest.approx(f1, rel=5 * 2.0**-53) == scores(
        token_f1(gold, predicted, more_gold=[more])
    )


@both
def test_answers__more_gold(make: Any) -> None:
    """Gold answers in any order, columns by name, with nulls that drop no row."""
    table = {
        "one": ["cat", "red dog", "x"],
        "two": ["dog", "dog", None],
        "three": ["the Cat", None, None],
        "none": [None] * 3,
        "answer": ["a cat", "Dog!", "y"],
    }
    best = scores(make("one", "answer", more_gold=["two", "three", "none"]), table)
    assert [1.0, 1.0, 0.0] == best
    assert best == scores(make("two", "answer", more_gold=["one"]), {**table, "two": ["dog"] * 3})
    result = fb.bootstrap(
        make("one", "answer", more_gold=["two", "three"]), data=table, rng=0, n_resamples=9,
        nan_policy="omit",
    )  # fmt: skip
    assert (2 / 3, 3, 0) == (result.estimate, result.n_rows, result.n_dropped)


def test_normalize_answer__no_string() -> None:
    """Lists of answers are given as columns."""
    with pytest.raises(TypeError, match=r"`text` is \['x'\]; give a string"):
        normalize_answer(["x"])  # type: ignore[arg-type]


@both
def test_answers__normalize(make: Any) -> None:
    """None compares as is; a function of the user's."""
    assert [0.0] == scores(make(["Cat"], ["cat"], normalize=None))
    assert [1.0] == scores(make(["Cat"], ["cat"], normalize=str.lower))
    assert [1.0] == scores(make(["die Katze"], ["Katze"], normalize=lambda x: x[-5:]))


@both
def test_answers__compares_distinct_pairs_once(make: Any) -> None:
    """A million rows of few answers are normalized once for each distinct answer."""
    calls = []

    def counted(text: str) -> str:
        calls.append(text)
        return text

    rng = np.random.default_rng(SEED)
    gold, predicted = (rng.choice(["a", "b c", "d"], 100_000) for _ in range(2))
    rows = scores(make(gold, predicted, normalize=counted))
    assert ["a", "b c", "d"] * 2 == sorted(calls[:3]) + sorted(calls[3:])
    assert (gold == predicted).astype(float).tolist() == rows


@both
@pytest.mark.parametrize(
    "columns, options, message",
    [
        ((["x"], ["x"]), {"more_gold": "gold_2"},
         "`more_gold` is 'gold_2'; give a list of columns"),
        ((["x"], ["x"]), {"more_gold": 5}, "`more_gold` is 5; give a list of columns"),
        ((["x"], ["x"]), {"normalize": "lower"},
         "`normalize` is 'lower'; give a function of a string, or None"),
        (([1, 2], ["x", "y"]), {}, r"`gold` has 1; answers are strings \(fb.accuracy compares"),
        ((["x"], [True]), {}, "`predicted` has True; answers are strings"),
        ((["x"], ["y"]), {"more_gold": [[5]]}, r"`more_gold\[0\]` has 5; answers are strings"),
    ],
)  # fmt: skip
def test_answers__refused(make: Any, columns: Any, options: Any, message: str) -> None:
    """What cannot be compared is refused by name."""
    with pytest.raises(TypeError, match=message):
        scores(make(*columns, **options))


@both
def test_answers__missing(make: Any) -> None:
    """A missing answer or first gold answer is refused or dropped."""
    for columns in ((["x", None], ["x", "y"]), (["x", "y"], ["x", None])):
        with pytest.raises(ValueError, match=r"has 1 null \(first at row 1\)"):
            observed(make(*columns))
        assert observed(make(*columns), nan_policy="omit") == 1.0


@both
def test_answers__picklable(make: Any) -> None:
    """Statistics travel to other processes, and name their arguments."""
    statistic = make(["a cat", "x"], ["cat", "y"], more_gold=[["z", "y z"]])
    again = pickle.loads(pickle.dumps(statistic))  # noqa: S301 - our own bytes
    assert scores(statistic) == scores(again)
    assert repr(make("g", "p", more_gold=["h"])) == (
        f"{make.__name__}(`gold` (column 'g'), `predicted` (column 'p'), `more_gold[0]` "
        "(column 'h'))"
    )


@both
def test_answers__bootstrap(make: Any) -> None:
    """A mean of the scores of rows: the same replicates, and p = 1 against itself."""
    rng = np.random.default_rng(SEED)
    gold, predicted = ([" ".join(rng.choice(list("abc d"), 3)) for _ in range(80)] for _ in "gp")
    statistic = make(gold, predicted)
    rows = scores(statistic)
    assert 0.0 < math.fsum(rows) / 80 < 1.0
    ours = fb.bootstrap(statistic, rng=SEED, n_resamples=99)
    assert fb.bootstrap(rows, rng=SEED, n_resamples=99).replicates.tolist() == (
        ours.replicates.tolist()
    )
    assert fb.approximate_randomization(statistic, statistic, rng=0, n_resamples=99).pvalue == 1.0
