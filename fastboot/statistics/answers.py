"""Statistics of short answers to questions, against one gold answer or several."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source
from fastboot.statistics.additive import Ratio, Term

__all__ = ["exact_match", "normalize_answer", "token_f1"]

Normalize = Callable[[str], str]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Return an answer without case, ASCII punctuation, English articles and extra white space.

    In this order, which decides what becomes an article (Rajpurkar et al. 2016, SQuAD).

    Raises
    ------
    TypeError
        The answer is no string.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.normalize_answer("The  Beatles' (A.) White-Album")
    'beatles whitealbum'
    """
    if not isinstance(text, str):
        raise TypeError(f"`text` is {text!r}; give a string")
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


class _Answers(Ratio):
    """Mean over rows of the best score of a prediction against the gold answers.

    Columns: gold, predicted, more gold.
    """

    def __init__(self, columns: Sequence[Column], normalize: Normalize | None, name: str) -> None:
        super().__init__(*columns, name=name)
        self._normalize = normalize

    def terms(self, *columns: Labels) -> Sequence[Term]:
        for column, labels in zip(self.columns, columns, strict=True):
            other = next((value for value in labels.values if not isinstance(value, str)), None)
            if other is not None:
                raise TypeError(
                    f"{column} has {other!r}; answers are strings (fb.accuracy compares other "
                    "labels)"
                )
        gold, predicted, *more = columns
        scores = [self._scores(one, predicted) for one in (gold, *more)]
        return np.max(scores, axis=0), 1.0

    def _scores(self, gold: Labels, predicted: Labels) -> NDArray[np.float64]:
        """Compare each two answers once; 0.0 where there is no gold answer."""
        answers, predictions = (
            [self._prepared(text if self._normalize is None else self._normalize(text))
             for text in labels.values]
            for labels in (gold, predicted)
        )  # fmt: skip
        n = len(predictions)
        pairs, places = np.unique(gold.codes * n + predicted.codes, return_inverse=True)
        scores = [
            self._score(answers[pair // n], predictions[pair % n]) if pair >= 0 else 0.0
            for pair in pairs.tolist()
        ]
        return np.array(scores)[places]

    def _prepared(self, text: str) -> Any:
        """Return an answer in the form that is compared."""
        raise NotImplementedError

    def _score(self, gold: Any, predicted: Any) -> float:
        raise NotImplementedError


class _ExactMatch(_Answers):
    def _prepared(self, text: str) -> str:
        return text

    def _score(self, gold: str, predicted: str) -> float:
        return float(gold == predicted)


class _TokenF1(_Answers):
    def _prepared(self, text: str) -> Counter[str]:
        return Counter(text.split())

    def _score(self, gold: Counter[str], predicted: Counter[str]) -> float:
        total = gold.total() + predicted.total()
        return 2.0 * (gold & predicted).total() / total if total else 1.0


@recorded
def exact_match(
    gold: Source,
    predicted: Source,
    *,
    more_gold: Sequence[Source] = (),
    normalize: Normalize | None = normalize_answer,
) -> Ratio:
    """Share of questions whose predicted answer is a gold answer, after normalization.

    As SQuAD's (Rajpurkar et al. 2016), as a fraction. Defined for all answers; "" stands for the
    answer that there is none.

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of strings.
    more_gold
        Further columns of gold answers, null where a question has fewer; the best counts.
    normalize
        A function of a string, by default :func:`normalize_answer`; None compares as is.

    Raises
    ------
    TypeError
        `more_gold` is no list of columns, `normalize` no function; when run: answers are no
        strings.

    Examples
    --------
    >>> import fastboot as fb
    >>> gold, also = ["the Normans", "1066"], [None, "in 1066"]
    >>> predicted = ["Normans", "In 1066."]
    >>> fb.bootstrap(fb.exact_match(gold, predicted), rng=0).estimate
    0.5
    >>> fb.bootstrap(fb.exact_match(gold, predicted, more_gold=[also]), rng=0).estimate
    1.0
    """
    columns = _columns(gold, predicted, more_gold, normalize)
    return _ExactMatch(columns, normalize, "exact_match")


@recorded
def token_f1(
    gold: Source,
    predicted: Source,
    *,
    more_gold: Sequence[Source] = (),
    normalize: Normalize | None = normalize_answer,
) -> Ratio:
    """Mean over questions of the F1 of the words that a predicted and a gold answer share.

    2 shared / (words of the prediction + words of the gold answer), after normalization, a word as
    often as both have it: SQuAD's macro-averaged F1 (Rajpurkar et al. 2016), as a fraction. Two
    answers without a word are the same, 1 (SQuAD 2.0; Rajpurkar, Jia and Liang 2018), so always
    defined.

    Parameters
    ----------
    gold, predicted, more_gold, normalize
        As in :func:`exact_match`. Words are what stands between white space.

    Raises
    ------
    TypeError
        As in :func:`exact_match`.

    Examples
    --------
    >>> import fastboot as fb
    >>> f1 = fb.token_f1(["Norman conquest"], ["the conquest of England"])
    >>> fb.bootstrap(f1, rng=0).estimate
    0.4
    """
    columns = _columns(gold, predicted, more_gold, normalize)
    return _TokenF1(columns, normalize, "token_f1")


def _columns(
    gold: Source, predicted: Source, more_gold: Sequence[Source], normalize: Normalize | None
) -> list[Column]:
    if isinstance(more_gold, str) or not hasattr(more_gold, "__iter__"):
        raise TypeError(f"`more_gold` is {more_gold!r}; give a list of columns")
    if normalize is not None and not callable(normalize):
        raise TypeError(f"`normalize` is {normalize!r}; give a function of a string, or None")
    return [
        Column(gold, "label", "gold"),
        Column(predicted, "label", "predicted"),
        *(Column(x, "label", f"more_gold[{i}]", nullable=True) for i, x in enumerate(more_gold)),
    ]
