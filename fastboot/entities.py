"""Entities in sequences of tags, counted by sentence: for precision, recall and F1 of taggers.

A found entity is right if its type and all its tokens are (Tjong Kim Sang and De Meulder 2003). The
counts are those of seqeval 1.2.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from fastboot.plain import items_of
from fastboot.rendering import count

__all__ = ["entity_counts", "entity_counts_by_type"]

Tags = Sequence[Sequence[str]]
# Type, first token and the token after the last.
Entity = tuple[str, int, int]
Tag = tuple[str, str]  # letter and type


class Counts(TypedDict):
    """Entities found, found wrongly, and missed: arrays of shape (n_sentences,)."""

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]


_OUTSIDE = ("O", "")
# Letters of strict schemes: beginning, inside, end if it is marked, single token.
_SCHEMES = {
    "IOB2": ("B", "I", "", ""),
    "IOBES": ("B", "I", "E", "S"),
    "BILOU": ("B", "I", "L", "U"),
}
_LENIENT = ("B", "I", "E", "S")


def entity_counts(gold: Tags, predicted: Tags, *, scheme: str | None = None) -> Counts:
    """Count the entities of each sentence that are found, found wrongly, and missed.

    Parameters
    ----------
    gold, predicted
        A list of tags for each sentence, or an Arrow column of such lists: "O", or a letter and a
        type as in "B-PER".
    scheme
        None reads the letters B, I, E and S as conlleval does, and seqeval by default: an entity
        begins at B or S, and at I or E after O, E, S or another type. "IOB2", "IOBES" or "BILOU"
        take only what the scheme allows for an entity, as seqeval with ``mode="strict"``.

    Returns
    -------
    dict
        Arrays of shape (n_sentences,), int64: ``tp``, ``fp`` and ``fn``.

    Raises
    ------
    TypeError
        A sentence is no list of strings.
    ValueError
        An unknown `scheme`, a tag that it has not, no sentences, or not as many tags or sentences.

    Examples
    --------
    >>> import fastboot as fb
    >>> from fastboot.entities import entity_counts
    >>> gold = [["B-PER", "I-PER", "O", "B-LOC"], ["B-ORG", "O"]]
    >>> predicted = [["B-PER", "I-PER", "O", "B-ORG"], ["I-ORG", "O"]]
    >>> counts = entity_counts(gold, predicted)
    >>> counts
    {'tp': array([1, 1]), 'fp': array([1, 0]), 'fn': array([1, 0])}
    >>> fb.bootstrap(fb.f_score(**counts), rng=0).estimate
    0.6666666666666666
    """
    return _counts(_entities(gold, predicted, scheme))


def entity_counts_by_type(
    gold: Tags, predicted: Tags, *, scheme: str | None = None
) -> dict[str, Counts]:
    """Count the entities of each type in each sentence.

    Parameters
    ----------
    gold, predicted, scheme
        As in :func:`entity_counts`.

    Returns
    -------
    dict
        For each type that occurs, sorted, what :func:`entity_counts` returns for it alone.

    Raises
    ------
    TypeError, ValueError
        As in :func:`entity_counts`.

    Examples
    --------
    >>> import fastboot as fb
    >>> from fastboot.entities import entity_counts_by_type
    >>> gold = [["B-PER", "I-PER", "O", "B-LOC"], ["B-ORG", "O"]]
    >>> predicted = [["B-PER", "I-PER", "O", "B-ORG"], ["I-ORG", "O"]]
    >>> counts = entity_counts_by_type(gold, predicted)
    >>> list(counts), counts["ORG"]["fp"]
    (['LOC', 'ORG', 'PER'], array([1, 0]))
    >>> fb.bootstrap(fb.f_score(**counts["ORG"]), rng=0).estimate
    0.6666666666666666
    """
    sentences = _entities(gold, predicted, scheme)
    types = sorted({kind for both in sentences for kind, *_ in set.union(*both)})
    return {
        kind: _counts([[_of_type(kind, one) for one in both] for both in sentences])
        for kind in types
    }


def _counts(sentences: Iterable[Sequence[set[Entity]]]) -> Counts:
    rows = [(len(gold & found), len(found - gold), len(gold - found)) for gold, found in sentences]
    tp, fp, fn = np.array(rows, dtype=np.int64).T.copy()
    return Counts(tp=tp, fp=fp, fn=fn)


def _of_type(kind: str, entities: set[Entity]) -> set[Entity]:
    return {entity for entity in entities if entity[0] == kind}


def _entities(gold: Tags, predicted: Tags, scheme: str | None) -> list[list[set[Entity]]]:
    """Return gold and predicted entities of each sentence."""
    if scheme is not None and scheme not in _SCHEMES:
        choices = ", ".join(f'"{name}"' for name in _SCHEMES)
        raise ValueError(f"scheme={scheme!r}; choose one of {choices}, or None")
    letters = _LENIENT if scheme is None else _SCHEMES[scheme]
    both = [
        _sentences(name, tags, letters, scheme)
        for name, tags in (("gold", gold), ("predicted", predicted))
    ]
    n_gold, n_predicted = map(len, both)
    if n_gold != n_predicted:
        raise ValueError(
            f"`gold` has {count(n_gold, 'sentence')} but `predicted` has {n_predicted:,}; they "
            "must match one to one"
        )
    for row, (first, second) in enumerate(zip(*both, strict=True)):
        if len(first) != len(second):
            raise ValueError(
                f"`gold` has {count(len(first), 'tag')} but `predicted` has {len(second):,} in "
                f"sentence {row:,}; both tag the same tokens"
            )
    pairs = zip(*both, strict=True)
    if scheme is None:
        return [[_lenient(tags) for tags in pair] for pair in pairs]
    return [[_strict(tags, *letters) for tags in pair] for pair in pairs]


def _sentences(name: str, tags: Any, letters: Sequence[str], scheme: str | None) -> list[list[Tag]]:
    """Return letter and type of each tag."""
    try:
        listed = items_of(tags)
    except TypeError:
        raise TypeError(
            f"`{name}` is a {type(tags).__name__}; give a list of tags per sentence"
        ) from None
    known: dict[Any, Tag] = {"O": _OUTSIDE}
    sentences = []
    for row, given in enumerate(listed):
        try:
            sentence = given if isinstance(given, list | tuple) else items_of(given)
        except TypeError:
            raise TypeError(
                f"`{name}` has {given!r} for sentence {row:,}; give a list of tags"
            ) from None
        for i, tag in enumerate(sentence):
            if not isinstance(tag, str):
                raise TypeError(
                    f"`{name}` has {tag!r} at token {i} of sentence {row:,}; tags are strings"
                )
            if tag not in known:
                letter, dash, kind = tag[:1], tag[1:2], tag[2:]
                if not letter or letter not in letters or dash not in {"", "-"}:
                    allowed = ", ".join(f"{letter}-type" for letter in letters if letter)
                    raise ValueError(
                        f"`{name}` has {tag!r} at token {i} of sentence {row:,}; scheme={scheme!r} "
                        f"takes O, {allowed}"
                    )
                known[tag] = letter, kind or "_"
        sentences.append([known[tag] for tag in sentence])
    if not sentences:
        raise ValueError(f"`{name}` is empty; give at least one sentence")
    return sentences


def _lenient(tags: Sequence[Tag]) -> set[Entity]:
    """Return the entities that conlleval sees."""
    entities = set()
    start, (before, kind_before) = 0, _OUTSIDE
    for i, (letter, kind) in enumerate([*tags, _OUTSIDE]):
        begins = letter in {"B", "S"} or before in {"O", "E", "S"} or kind != kind_before
        if begins and before != "O":
            entities.add((kind_before, start, i))
        if begins:
            start = i
        before, kind_before = letter, kind
    return entities


def _strict(tags: Sequence[Tag], begin: str, inside: str, end: str, single: str) -> set[Entity]:
    """Return the entities that the scheme allows: from begin to end, or to the last inside."""
    entities = set()
    start, open_kind = -1, ""
    for i, (letter, kind) in enumerate([*tags, _OUTSIDE]):
        goes_on = start >= 0 and kind == open_kind
        if goes_on and letter == inside:
            continue
        if start >= 0 and not end:
            entities.add((open_kind, start, i))
        elif goes_on and letter == end:
            entities.add((open_kind, start, i + 1))
        elif letter == single:
            entities.add((kind, i, i + 1))
        start, open_kind = (i, kind) if letter == begin else (-1, "")
    return entities
