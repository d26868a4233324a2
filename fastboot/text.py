"""From texts to counts: columns of numbers for the statistics of generated and tagged text.

sacreBLEU (``pip install sacrebleu``) tokenizes and counts, so that the score of all segments is
sacreBLEU's with the same settings. Counting happens once; resampling adds the counts. Entities of
tagged sentences are counted likewise (`fastboot.entities`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.entities import entity_counts, entity_counts_by_type
from fastboot.plain import items_of

__all__ = [
    "Counts",
    "bleu_counts",
    "character_error_counts",
    "chrf_counts",
    "entity_counts",
    "entity_counts_by_type",
    "ter_counts",
    "word_error_counts",
]

References = Sequence[str] | Sequence[Sequence[str | None]]

# What sacreBLEU's signature says of the score, and not of the counts.
_OF_THE_SCORE = ("smooth", "eff")


class Counts(dict[str, NDArray[Any]]):
    """Columns of counts, by name: a dict.

    Attributes
    ----------
    signature
        How sacreBLEU counted, in the words of its own signature. A statistic that gets these counts
        (``fb.bleu(counts)``) has them in the signature of its results; columns of a table have not.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], signature: str) -> None:
        super().__init__(columns)
        self.signature = signature

    def __reduce__(self) -> tuple[Any, ...]:
        return Counts, (dict(self), self.signature)


def bleu_counts(
    hypotheses: Sequence[str],
    references: References,
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Counts:
    """Count the n-grams of each segment for corpus BLEU.

    Parameters
    ----------
    hypotheses
        Outputs of the system, one string for each segment, detokenized: a list, an array, a series
        or an Arrow column.
    references
        One string for each segment; or, as sacreBLEU takes them, a list of such lists, one for each
        set of references, with None where a segment has fewer.
    tokenize
        sacreBLEU's tokenizer: "13a", "intl", "char", "zh", "ja-mecab", "none", ...
    lowercase
        Ignore case.

    Returns
    -------
    Counts
        Arrays of shape (n_segments,), int64: ``correct_1`` to ``correct_4`` and ``total_1`` to
        ``total_4`` (n-grams that are in a reference, and all), ``system_length`` and
        ``reference_length`` (of the reference nearest in length), in words.

    Raises
    ------
    ImportError
        sacreBLEU is not installed.
    TypeError
        A segment is no string.
    ValueError
        No segments, a set of references of another length, a segment without a reference, or a
        tokenizer that sacreBLEU does not know.
    RuntimeError
        From sacreBLEU: a Japanese or Korean tokenizer needs packages of its own.

    Examples
    --------
    >>> import fastboot as fb
    >>> from fastboot.statistics.generation import bleu
    >>> counts = bleu_counts(["The cat sat on the mat."], ["The cat sat on a mat."])
    >>> counts["correct_1"], counts["total_1"]
    (array([6]), array([7]))
    >>> round(fb.bootstrap(bleu(), data=counts, rng=0).estimate, 4)
    48.8923
    """
    metrics = _sacrebleu("bleu_counts")
    if tokenize not in metrics.BLEU.TOKENIZERS:
        choices = ", ".join(f'"{name}"' for name in metrics.BLEU.TOKENIZERS)
        raise ValueError(f"tokenize={tokenize!r}; sacreBLEU knows {choices}")
    # force: no log message about texts that look tokenized.
    metric = metrics.BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    rows = _counted(metric, hypotheses, references)
    orders = range(1, metric.max_ngram_order + 1)
    names = ["system_length", "reference_length"]
    names += [f"{what}_{n}" for what in ("correct", "total") for n in orders]
    return Counts(_columns(names, rows, np.int64), _signature(metric))


def chrf_counts(
    hypotheses: Sequence[str],
    references: References,
    *,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> Counts:
    """Count the n-grams of each segment for corpus chrF, or chrF++ with ``word_order=2``.

    Parameters
    ----------
    hypotheses, references
        As in :func:`bleu_counts`.
    word_order
        0 for chrF, 2 for chrF++.
    beta, eps_smoothing
        Of the F-score that chooses among several references; as in :func:`fastboot.chrf`.
    lowercase
        Ignore case.
    whitespace
        Spaces belong to n-grams of characters.

    Returns
    -------
    Counts
        Arrays of shape (n_segments,), int64: ``hypothesis_1``, ``reference_1``, ``match_1`` and so
        on: n-grams of 1 to 6 characters, then of 1 to `word_order` words.

    Raises
    ------
    ImportError
        sacreBLEU is not installed.
    TypeError
        A segment is no string.
    ValueError
        No segments, a set of references of another length, or a segment without a reference.

    Examples
    --------
    >>> import fastboot as fb
    >>> from fastboot.statistics.generation import chrf
    >>> counts = chrf_counts(["The cat sat on the mat."], ["The cat sat on a mat."])
    >>> round(fb.bootstrap(chrf(), data=counts, rng=0).estimate, 4)
    71.4225
    """
    metric = _sacrebleu("chrf_counts").CHRF(
        word_order=word_order,
        beta=beta,
        lowercase=lowercase,
        whitespace=whitespace,
        eps_smoothing=eps_smoothing,
    )
    rows = _counted(metric, hypotheses, references)
    orders = range(1, metric.order + 1)
    names = [f"{what}_{n}" for n in orders for what in ("hypothesis", "reference", "match")]
    return Counts(_columns(names, rows, np.int64), _signature(metric))


def ter_counts(
    hypotheses: Sequence[str],
    references: References,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Counts:
    """Count the edits of each segment for translation edit rate.

    Parameters
    ----------
    hypotheses, references
        As in :func:`bleu_counts`.
    normalized, no_punct, asian_support, case_sensitive
        sacreBLEU's options of the same names.

    Returns
    -------
    Counts
        Arrays of shape (n_segments,), float64: ``edits``, the fewest to a reference, and
        ``reference_length``, the mean length of the references in words.

    Raises
    ------
    ImportError
        sacreBLEU is not installed.
    TypeError
        A segment is no string.
    ValueError
        No segments, a set of references of another length, or a segment without a reference.

    Examples
    --------
    >>> counts = ter_counts(["The cat sat on the mat."], ["The cat sat on a mat."])
    >>> counts["edits"], counts["reference_length"]
    (array([1.]), array([6.]))
    """
    metric = _sacrebleu("ter_counts").TER(
        normalized=normalized,
        no_punct=no_punct,
        asian_support=asian_support,
        case_sensitive=case_sensitive,
    )
    rows = _counted(metric, hypotheses, references)
    columns = _columns(["edits", "reference_length"], rows, np.float64)
    return Counts(columns, _signature(metric))


def word_error_counts(
    hypotheses: Sequence[str], references: Sequence[str]
) -> dict[str, NDArray[np.int64]]:
    """Count the word errors of each segment: substitutions, deletions and insertions, the fewest.

    Parameters
    ----------
    hypotheses, references
        One string for each segment. Words are what stands between white space; case and
        punctuation count.

    Returns
    -------
    dict
        Arrays of shape (n_segments,), int64: ``errors``, and ``words`` of the reference.

    Raises
    ------
    TypeError
        A segment is no string.
    ValueError
        No segments, or not one reference for each.

    Examples
    --------
    >>> word_error_counts(["the cat sat", ""], ["the cat sat down", "hello there"])
    {'errors': array([1, 2]), 'words': array([4, 2])}
    """
    return _errors("words", str.split, hypotheses, references)


def character_error_counts(
    hypotheses: Sequence[str], references: Sequence[str]
) -> dict[str, NDArray[np.int64]]:
    """Count the character errors of each segment, for the character error rate.

    Parameters
    ----------
    hypotheses, references
        One string for each segment. All characters (code points) count but white space at the ends.

    Returns
    -------
    dict
        Arrays of shape (n_segments,), int64: ``errors``, and ``characters`` of the reference.

    Raises
    ------
    TypeError
        A segment is no string.
    ValueError
        No segments, or not one reference for each.

    Examples
    --------
    >>> character_error_counts(["kitten"], ["sitting"])
    {'errors': array([3]), 'characters': array([7])}
    """
    return _errors("characters", str.strip, hypotheses, references)


def _sacrebleu(asked_by: str) -> Any:
    try:
        import sacrebleu.metrics
    except ImportError as error:
        raise ImportError(
            f"{asked_by}() counts with sacreBLEU, which cannot be imported ({error}); install it "
            "with: pip install sacrebleu"
        ) from error
    return sacrebleu.metrics


def _counted(metric: Any, hypotheses: Sequence[str], references: References) -> Any:
    """Return sacreBLEU's counts, one row for each segment."""
    segments = _segments("hypotheses", hypotheses)
    sets: list[Any] = _listed("references", references)
    flat = any(isinstance(text, str) for text in sets)
    if flat:
        sets = [sets]
    if not sets:
        raise ValueError("`references` is empty; give one reference for each segment, or more")
    for i, texts in enumerate(sets):
        name = "references" if flat else f"references[{i}]"
        sets[i] = _segments(name, texts, may_be_none=not flat)
        _check_length(name, sets[i], segments)
    for row, texts in enumerate(zip(*sets, strict=True)):
        if all(text is None for text in texts):
            raise ValueError(f"`references` has none for segment {row:,}; give at least one")
    # No public function returns the counts of chrF; sacreBLEU's own significance tests use this one
    # for every metric, since 2.0.
    return metric._extract_corpus_statistics(segments, sets)  # noqa: SLF001 - see above


def _signature(metric: Any) -> str:
    parts = metric.get_signature().format().split("|")
    return "|".join(part for part in parts if part.partition(":")[0] not in _OF_THE_SCORE)


def _columns(names: Sequence[str], rows: Any, dtype: type[Any]) -> dict[str, NDArray[Any]]:
    return dict(zip(names, np.array(rows, dtype=dtype).T.copy(), strict=True))


def _listed(name: str, texts: Any) -> list[Any]:
    try:
        return items_of(texts)
    except TypeError:
        raise TypeError(
            f"`{name}` is a {type(texts).__name__}; give a list with a string for each segment"
        ) from None


def _segments(name: str, texts: Any, *, may_be_none: bool = False) -> list[Any]:
    segments = _listed(name, texts)
    for row, text in enumerate(segments):
        if not isinstance(text, str) and not (may_be_none and text is None):
            raise TypeError(f"`{name}` has {text!r} at segment {row:,}; segments are strings")
    if not segments:
        raise ValueError(f"`{name}` is empty; give at least one segment")
    return segments


def _check_length(name: str, texts: Sequence[Any], segments: Sequence[str]) -> None:
    if len(texts) != len(segments):
        raise ValueError(
            f"`{name}` has {len(texts):,} segment{'' if len(texts) == 1 else 's'} but `hypotheses` "
            f"has {len(segments):,}; they must match one to one"
        )


def _errors(
    unit: str,
    split: Callable[[str], Sequence[str]],
    hypotheses: Sequence[str],
    references: Sequence[str],
) -> dict[str, NDArray[np.int64]]:
    segments = _segments("hypotheses", hypotheses)
    gold = _segments("references", references)
    _check_length("references", gold, segments)
    pairs = [(split(text), split(other)) for text, other in zip(segments, gold, strict=True)]
    return {
        "errors": np.array([_edit_distance(a, b) for a, b in pairs], dtype=np.int64),
        unit: np.array([len(b) for _, b in pairs], dtype=np.int64),
    }


def _edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Levenshtein distance, one column of the table at a time as bits of two integers.

    Myers 1999 in the form of Hyyro 2003; names as there: vertical and horizontal, positive and
    negative differences of neighbouring cells.
    """
    if not a:
        return len(b)
    places: dict[str, int] = {}
    for i, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << i
    last, every = 1 << len(a) - 1, (1 << len(a)) - 1
    distance, vp, vn = len(a), every, 0
    for token in b:
        equal = places.get(token, 0)
        d0 = (((equal & vp) + vp) ^ vp) | equal | vn
        hp = vn | (every & ~(d0 | vp))
        hn = d0 & vp
        distance += bool(hp & last) - bool(hn & last)
        hp = hp << 1 | 1
        vp = (hn << 1 | ~(d0 | hp)) & every
        vn = d0 & hp & every
    return distance
