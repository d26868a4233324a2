"""Counts of texts: the score of all segments is sacreBLEU's, and edits are the fewest."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import sacrebleu
from sacrebleu.metrics.chrf import CHRF

import fastboot as fb
from fastboot import text
from fastboot.statistics.generation import bleu, chrf, ter, word_error_rate

WORDS = [
    *("The", "the", "cat", "Cat", "sat", "on", "a", "mat", ",", ".", "it's", "(new)", "end."),
    *("naïve", "東京", "3.5", "&amp;", "well-known"),
]

Texts = list[str]


def observed(statistic: fb.Additive, counts: Any) -> float:
    """Return the score of all segments."""
    return fb.bootstrap(statistic, data=counts, rng=0, n_resamples=9).estimate


def near(expected: float) -> Any:
    """Equal to the digits that users may compare, and more than sacreBLEU prints."""
    return pytest.approx(expected, abs=1e-9, rel=0)


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded data."""
    return np.random.default_rng(20_240_308)


def changed(rng: np.random.Generator, words: Texts) -> str:
    """Drop, replace and move some words."""
    kept = [word if rng.random() < 0.8 else str(rng.choice(WORDS)) for word in words]
    kept = [word for word in kept if rng.random() < 0.9]
    cut = int(rng.integers(0, len(kept) + 1)) if rng.random() < 0.3 else 0
    return " ".join(kept[cut:] + kept[:cut])


@pytest.fixture
def corpus(rng: np.random.Generator) -> tuple[Texts, list[Texts]]:
    """Hypotheses and two sets of references of 48 segments, some empty or without a match."""
    originals = [list(map(str, rng.choice(WORDS, rng.integers(1, 25)))) for _ in range(48)]
    hypotheses, first, second = ([changed(rng, x) for x in originals] for _ in range(3))
    hypotheses[3], hypotheses[7] = "", "   "
    hypotheses[5] = "nothing whatever"
    hypotheses[9], first[9] = "mat", "mat"
    first[11] = ""
    hypotheses[12] = first[12] = second[12] = ""
    return hypotheses, [first, second]


@pytest.mark.parametrize("n_references", [1, 2])
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "none", "zh"])
def test_bleu_counts__sacrebleu(
    tokenize: str, lowercase: bool, n_references: int, corpus: tuple[Texts, list[Texts]]
) -> None:
    """Corpus BLEU is sacreBLEU's, for every smoothing."""
    hypotheses, references = corpus[0], corpus[1][:n_references]
    options: dict[str, Any] = {"tokenize": tokenize, "lowercase": lowercase}
    counts = text.bleu_counts(hypotheses, references, **options)
    for method in ("exp", "none", "floor", "add-k"):
        expected = sacrebleu.corpus_bleu(hypotheses, references, smooth_method=method, **options)
        assert near(expected.score) == observed(bleu(smooth_method=method), counts)
    assert {array.dtype for array in counts.values()} == {np.dtype(np.int64)}
    # What lets `bleu` do without the system length.
    assert counts["total_1"].tolist() == counts["system_length"].tolist()


@pytest.mark.parametrize(
    "hypotheses,references",
    [
        (["", ""], ["a b", "c"]),
        (["x", "y z"], ["a b", "c"]),
        (["a"], ["a"]),
        (["a b c", "d"], ["a b x", "e"]),
        (["a b c d e", "f"], ["a b c d x", "g h i j k"]),
        (["", ""], ["", ""]),
        (["a"], [""]),
    ],
)
@pytest.mark.parametrize("method", ["exp", "none", "floor", "add-k"])
def test_counts__few_matches(method: str, hypotheses: Texts, references: Texts) -> None:
    """Nothing said, nothing matched, no n-gram of some order: sacreBLEU's scores."""
    theirs = sacrebleu.corpus_bleu(hypotheses, [references], smooth_method=method).score
    counts = text.bleu_counts(hypotheses, references)
    assert near(theirs) == observed(bleu(smooth_method=method), counts)
    for eps_smoothing in (False, True):
        options = {"word_order": 2, "eps_smoothing": eps_smoothing}
        theirs = sacrebleu.corpus_chrf(hypotheses, [references], **options).score  # type: ignore[arg-type] # options
        counts = text.chrf_counts(hypotheses, references, **options)  # type: ignore[arg-type] # options
        assert near(theirs) == observed(chrf(**options), counts)  # type: ignore[arg-type] # options


@pytest.mark.parametrize("n_references", [1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"word_order": 2},
        {"beta": 1},
        {"eps_smoothing": True},
        {"word_order": 2, "beta": 3, "eps_smoothing": True},
    ],
)
@pytest.mark.parametrize("counting", [{}, {"lowercase": True}, {"whitespace": True}])
def test_chrf_counts__sacrebleu(
    counting: dict[str, Any],
    options: dict[str, Any],
    n_references: int,
    corpus: tuple[Texts, list[Texts]],
) -> None:
    """Corpus chrF and chrF++ are sacreBLEU's."""
    hypotheses, references = corpus[0], corpus[1][:n_references]
    expected = CHRF(**options, **counting).corpus_score(hypotheses, references)
    counts = text.chrf_counts(hypotheses, references, **options, **counting)
    assert near(expected.score) == observed(chrf(**options), counts)


@pytest.mark.parametrize("n_references", [1, 2])
@pytest.mark.parametrize(
    "options",
    [{}, {"case_sensitive": True}, {"normalized": True, "asian_support": True}, {"no_punct": True}],
)
def test_ter_counts__sacrebleu(
    options: dict[str, bool], n_references: int, corpus: tuple[Texts, list[Texts]]
) -> None:
    """Corpus TER is sacreBLEU's."""
    hypotheses, references = corpus[0], corpus[1][:n_references]
    expected = sacrebleu.corpus_ter(hypotheses, references, **options).score
    counts = text.ter_counts(hypotheses, references, **options)
    assert near(expected) == observed(ter("edits", "reference_length"), counts)


def test_counts__forms_of_references(corpus: tuple[Texts, list[Texts]]) -> None:
    """One list of references is one set; None stands for a missing one."""
    hypotheses, (first, second) = corpus
    flat = text.bleu_counts(hypotheses, first)
    nested = text.bleu_counts(hypotheses, [first])
    assert {name: array.tolist() for name, array in flat.items()} == {
        name: array.tolist() for name, array in nested.items()
    }
    some = [x if i % 3 else None for i, x in enumerate(second)]
    expected = sacrebleu.corpus_bleu(hypotheses, [first, some]).score  # type: ignore[list-item] # None is allowed
    assert near(expected) == observed(bleu(), text.bleu_counts(hypotheses, [first, some]))


def test_chrf_counts__best_reference() -> None:
    """What epsilon does to the choice between references is sacreBLEU's too."""
    hypotheses, references = ["b b"], [["cca"], [" "]]
    chosen = []
    for eps_smoothing in (False, True):
        counts = text.chrf_counts(hypotheses, references, eps_smoothing=eps_smoothing)
        expected = CHRF(eps_smoothing=eps_smoothing).corpus_score(hypotheses, references).score
        assert near(expected) == observed(chrf(eps_smoothing=eps_smoothing), counts)
        chosen.append(counts["reference_1"].item())
    assert chosen == [3, 0]


def test_bleu_counts__quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Texts that look tokenized are counted without sacreBLEU's log messages."""
    text.bleu_counts(["a b ."] * 100, ["a b ."] * 100)
    assert caplog.messages == []


def table_distance(a: list[str], b: list[str]) -> int:
    """Levenshtein distance, cell by cell."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
    return row[-1]


@pytest.mark.parametrize("longest", [3, 12, 90])
def test_error_counts__table(longest: int, rng: np.random.Generator) -> None:
    """Errors are those of the table of all prefixes; 90 tokens are more than a machine word."""
    texts = [
        ["".join(rng.choice(list("abc "), rng.integers(0, longest + 1))) for _ in range(150)]
        for _ in range(2)
    ]
    counts = text.word_error_counts(*texts)
    pairs = list(zip(*texts, strict=True))
    assert counts["errors"].tolist() == [table_distance(a.split(), b.split()) for a, b in pairs]
    assert counts["words"].tolist() == [len(b.split()) for _, b in pairs]
    counts = text.character_error_counts(*texts)
    assert counts["errors"].tolist() == [
        table_distance(list(a.strip()), list(b.strip())) for a, b in pairs
    ]
    assert counts["characters"].tolist() == [len(b.strip()) for _, b in pairs]


def test_error_counts__rate() -> None:
    """Two substitutions and a deletion in six words; kitten and sitting."""
    counts = text.word_error_counts(["a x c", "d y"], ["a b c", "d e f"])
    assert observed(word_error_rate("errors", "words"), counts) == 3 / 6
    counts = text.character_error_counts(["kitten"], ["sitting"])
    assert observed(word_error_rate("errors", "characters"), counts) == 3 / 7


@pytest.mark.parametrize("name", ["bleu_counts", "chrf_counts", "ter_counts"])
def test_counts__sacrebleu_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sacreBLEU the message says what to install."""
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(ImportError, match=rf"{name}\(\) counts with sacreBLEU, which cannot be "
                       r"imported \(.*\); install it with: pip install sacrebleu"):  # fmt: skip
        getattr(text, name)(["a"], ["a"])


COUNTERS = [text.bleu_counts, text.chrf_counts, text.ter_counts, text.word_error_counts]
MANY = COUNTERS[:3]


@pytest.mark.parametrize(
    "counters,hypotheses,references,kind,message",
    [
        (COUNTERS, "a b", ["a b"], TypeError,
         "`hypotheses` is a str; give a list with a string for each segment"),
        (COUNTERS, ["a"], "a", TypeError, "`references` is a str; give a list"),
        (COUNTERS, ["a", None], ["a", "b"], TypeError,
         "`hypotheses` has None at segment 1; segments are strings"),
        (COUNTERS, [], [], ValueError, "`hypotheses` is empty; give at least one segment"),
        (COUNTERS, ["a", "b"], ["a"], ValueError,
         "`references` has 1 segment but `hypotheses` has 2; they must match one to one"),
        (MANY, ["a"], [], ValueError,
         "`references` is empty; give one reference for each segment, or more"),
        (MANY, ["a", "b"], [["a", "b"], ["a"]], ValueError,
         r"`references\[1\]` has 1 segment but `hypotheses` has 2"),
        (MANY, ["a", "b"], [["a", 1]], TypeError, r"`references\[0\]` has 1 at segment 1; "),
        (MANY, ["a", "b"], [["a", None], ["a", None]], ValueError,
         "`references` has none for segment 1; give at least one"),
        (MANY, ["a", "b"], ["a", None], TypeError, "`references` has None at segment 1; segments"),
        (MANY, ["a"], [None], TypeError, r"`references\[0\]` is a NoneType; give a list with"),
        (COUNTERS, None, ["a"], TypeError, "`hypotheses` is a NoneType; give a list with a string"),
        ([text.word_error_counts], ["a"], [], ValueError, "`references` is empty; give at least"),
        ([text.character_error_counts], ["a"], [None], TypeError,
         "`references` has None at segment 0; segments are strings"),
    ],
)  # fmt: skip
def test_counts__texts(
    counters: Any, hypotheses: Any, references: Any, kind: type[Exception], message: str
) -> None:
    """What is no list of strings, one for each segment, is refused by name and place."""
    for counter in counters:
        with pytest.raises(kind, match=message):
            counter(hypotheses, references)


@pytest.mark.parametrize(
    "column",
    [np.array, pa.array, lambda texts: pa.chunked_array([texts[:1], texts[1:]]), pl.Series],
)
def test_counts__columns(column: Any) -> None:
    """Columns of a table are lists of texts."""
    hypotheses, references = ["the cat sat", "a dog"], ["the cat sat down", "the dog"]
    counter: Any
    for counter in COUNTERS:
        expected = counter(hypotheses, references)
        found = counter(column(hypotheses), column(references))
        assert [array.tolist() for array in found.values()] == [
            array.tolist() for array in expected.values()
        ]
    for counter in MANY:
        expected = counter(hypotheses, [references, [None, "a cat"]])
        others = pa.array([None, "a cat"])
        found = counter(column(hypotheses), [column(references), others])
        assert [array.tolist() for array in found.values()] == [
            array.tolist() for array in expected.values()
        ]
        with pytest.raises(TypeError, match="`references` has None at segment 0; segments are"):
            counter(column(hypotheses), others)


def test_bleu_counts__tokenizer() -> None:
    """An unknown tokenizer is refused with the known ones."""
    with pytest.raises(ValueError, match='tokenize=\'14a\'; sacreBLEU knows "none", "zh", "13a"'):
        text.bleu_counts(["a"], ["a"], tokenize="14a")
