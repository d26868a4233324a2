"""Entities of tagged sentences: seqeval's, of all sentences of four tokens and of cases by hand."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import fastboot as fb
from fastboot.entities import _entities, entity_counts, entity_counts_by_type

SCHEMES = {None: "BIES", "IOB2": "BI", "IOBES": "BIES", "BILOU": "BILU"}

Sentences = list[list[str]]


def arrays(counts: Any) -> list[NDArray[np.int64]]:
    """Return tp, fp and fn."""
    return [counts[name] for name in ("tp", "fp", "fn")]


def totals(counts: Any) -> list[int]:
    """Return tp, fp and fn of all sentences."""
    return [int(array.sum()) for array in arrays(counts)]


def every_sentence(letters: str) -> tuple[Sentences, Sentences]:
    """All sentences of four tokens and two types, and the same with one token changed."""
    tags = ["O", *(f"{letter}-{kind}" for letter in letters for kind in "XY")]
    gold = [list(sentence) for sentence in product(tags, repeat=4)]
    predicted = [
        [tags[5 * row % len(tags)] if i == row % 4 else tag for i, tag in enumerate(sentence)]
        for row, sentence in enumerate(gold)
    ]
    return gold, predicted


# Totals computed with seqeval 1.2.2: `get_entities` of each sentence, and `Tokens(...).entities`
# for a scheme. All sentences of up to four tokens were compared one by one.
@pytest.mark.parametrize(
    "scheme, expected",
    [
        (None, {"X": [8522, 2251, 2170], "Y": [8382, 2209, 2310]}),
        ("IOB2", {"X": [354, 21, 146], "Y": [353, 22, 147]}),
        ("IOBES", {"X": [2383, 767, 795], "Y": [2384, 768, 794]}),
        ("BILOU", {"X": [2383, 767, 795], "Y": [2384, 768, 794]}),
    ],
)
def test_entity_counts__seqeval(scheme: str | None, expected: dict[str, list[int]]) -> None:
    """The counts are seqeval's, by type and together."""
    gold, predicted = every_sentence(SCHEMES[scheme])
    by_type = entity_counts_by_type(gold, predicted, scheme=scheme)
    assert expected == {kind: totals(counts) for kind, counts in by_type.items()}
    counts = entity_counts(gold, predicted, scheme=scheme)
    assert np.sum(list(expected.values()), axis=0).tolist() == totals(counts)
    assert {(len(gold),)} == {array.shape for array in arrays(counts)}
    assert {np.dtype(np.int64)} == {array.dtype for array in arrays(counts)}


# Types with first token and the one after the last, as seqeval 1.2.2 gives them.
@pytest.mark.parametrize(
    "scheme, tags, expected",
    [
        (None, "I-X I-X O", {("X", 0, 2)}),
        (None, "B-X I-Y I-Y", {("X", 0, 1), ("Y", 1, 3)}),
        (None, "I-X B-X I-X", {("X", 0, 1), ("X", 1, 3)}),
        (None, "B-X E-X I-X", {("X", 0, 2), ("X", 2, 3)}),
        (None, "S-X I-X E-X", {("X", 0, 1), ("X", 1, 3)}),
        (None, "E-X E-X", {("X", 0, 1), ("X", 1, 2)}),
        (None, "B I O I", {("_", 0, 2), ("_", 3, 4)}),
        (None, "B-a-b I-a-b I-a", {("a-b", 0, 2), ("a", 2, 3)}),
        (None, "O O", set()),
        (None, "", set()),
        ("IOB2", "B-X I-Y I-X", {("X", 0, 1)}),
        ("IOB2", "I-X O B-X I-X", {("X", 2, 4)}),
        ("IOB2", "B-X B-X", {("X", 0, 1), ("X", 1, 2)}),
        ("IOBES", "B-X I-X O", set()),
        ("IOBES", "B-X I-X E-X", {("X", 0, 3)}),
        ("IOBES", "B-X S-X E-X", {("X", 1, 2)}),
        ("IOBES", "B-X E-Y E-X", set()),
        ("BILOU", "B-X B-X L-X U-X", {("X", 1, 3), ("X", 3, 4)}),
        ("BILOU", "B-X L-X L-X I-X", {("X", 0, 2)}),
    ],
)
def test_entities__reading(
    scheme: str | None, tags: str, expected: set[tuple[str, int, int]]
) -> None:
    """How tags are read."""
    ((gold, predicted),) = _entities([tags.split()], [tags.split()], scheme)
    assert expected == gold == predicted


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entity_counts__seqeval_installed(scheme: str | None) -> None:
    """Sentence by sentence, where seqeval is installed."""
    schemes = pytest.importorskip("seqeval.scheme")
    get_entities = pytest.importorskip("seqeval.metrics.sequence_labeling").get_entities
    gold, _ = every_sentence(SCHEMES[scheme])
    ours = [sentence for sentence, _ in _entities(gold, gold, scheme)]
    if scheme is None:
        theirs = [{(kind, i, j + 1) for kind, i, j in get_entities(tags)} for tags in gold]
    else:
        kind_of_token = getattr(schemes, scheme)
        found = (schemes.Tokens(tags, kind_of_token).entities for tags in gold)
        theirs = [{(one.tag, one.start, one.end) for one in entities} for entities in found]
    assert theirs == ours


def test_entity_counts__f_score() -> None:
    """Entity F1 of all sentences, and the same counts from the top of the package."""
    gold, predicted = every_sentence("BI")
    counts = fb.text.entity_counts(gold, predicted)
    tp, fp, fn = totals(counts)
    result = fb.bootstrap(fb.f_score(**counts), rng=0, n_resamples=9)
    assert result.estimate == 2 * tp / (2 * tp + fp + fn)


def test_entity_counts_by_type__zeros() -> None:
    """A type that one side lacks, and sentences without it."""
    counts = entity_counts_by_type([["B-X"], ["O"], []], [["O"], ["B-Y"], []])
    assert ["X", "Y"] == list(counts)
    assert [[0, 0, 0], [0, 0, 0], [1, 0, 0]] == [array.tolist() for array in arrays(counts["X"])]
    assert [[0, 0, 0], [0, 1, 0], [0, 0, 0]] == [array.tolist() for array in arrays(counts["Y"])]
    assert {} == entity_counts_by_type([["O"]], [["O"]])


@pytest.mark.parametrize(
    "column",
    [
        pa.array,
        lambda tags: pa.chunked_array([tags[:1], tags[1:]]),
        lambda tags: [pa.array(sentence) for sentence in tags],
        lambda tags: [np.array(sentence) for sentence in tags],
        pl.Series,
        lambda tags: list(pl.Series(tags)),
    ],
)
def test_entity_counts__columns(column: Any) -> None:
    """A column of lists, and a list of columns, are sentences."""
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["B-ORG", "O"]]
    predicted = [["B-PER", "I-PER", "O", "B-ORG"], ["I-ORG", "O"]]
    found = arrays(entity_counts(column(gold), column(predicted)))
    assert [array.tolist() for array in found] == [[1, 1], [1, 0], [1, 0]]


@pytest.mark.parametrize(
    "gold, predicted, scheme, kind, message",
    [
        ("O O", [["O"]], None, TypeError, "`gold` is a str; give a list of tags per sentence"),
        (None, [["O"]], None, TypeError, "`gold` is a NoneType; give a list of tags per sentence"),
        ([["O"]], ["O"], None, TypeError,
         "`predicted` has 'O' for sentence 0; give a list of tags"),
        ([["O"], None], [["O"], ["O"]], None, TypeError, "`gold` has None for sentence 1; give a"),
        ([["O", 3]], [["O", "O"]], None, TypeError,
         "`gold` has 3 at token 1 of sentence 0; tags are strings"),
        ([["O"], ["O", "U-X"]], [["O"], ["O", "O"]], None, ValueError,
         "`gold` has 'U-X' at token 1 of sentence 1; scheme=None takes O, B-type, I-type, E"),
        ([["O"]], [["S-X"]], "IOB2", ValueError,
         "`predicted` has 'S-X' at token 0 of .*; scheme='IOB2' takes O, B-type, I-type$"),
        ([["PER"]], [["O"]], None, ValueError, "`gold` has 'PER' at token 0 of sentence 0; "),
        ([["Bob"]], [["O"]], None, ValueError, "`gold` has 'Bob' at token 0 of sentence 0; "),
        ([[""]], [["O"]], "IOB2", ValueError, "`gold` has '' at token 0 of sentence 0; "),
        ([["O"]], [["O"]], "IOB", ValueError,
         "scheme='IOB'; choose one of \"IOB2\", \"IOBES\", \"BILOU\", or None"),
        ([], [["O"]], None, ValueError, "`gold` is empty; give at least one sentence"),
        ([["O"]], [["O"], ["O"]], None, ValueError,
         "`gold` has 1 sentence but `predicted` has 2; they must match one to one"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], None, ValueError,
         "`gold` has 2 tags but `predicted` has 1 in sentence 1; both tag the same tokens"),
    ],
)  # fmt: skip
def test_entity_counts__refused(
    gold: Any, predicted: Any, scheme: str | None, kind: type[Exception], message: str
) -> None:
    """What is no list of tags for each sentence is refused by name and place."""
    for count in (entity_counts, entity_counts_by_type):
        with pytest.raises(kind, match=message):
            count(gold, predicted, scheme=scheme)
