"""Statistics of generated text, from the counts of each segment.

A corpus score is not the mean of segment scores: a resample adds the counts of its segments and
takes the score of the sums. `fastboot.text` counts with sacreBLEU. ROUGE, embedding scores and
other scores of single segments are means: ``fb.mean("rouge_l")``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Source
from fastboot.statistics.additive import Additive, Ratio, Term
from fastboot.statistics.checks import (
    check_beta,
    check_counts,
    check_integer,
    check_number,
    check_part,
)

__all__ = ["bleu", "chrf", "ter", "word_error_rate"]

Floats = NDArray[np.float64]

_BLEU_ORDERS = 4  # Papineni et al. 2002
_CHRF_ORDERS = 6  # Popovic 2015
_EPSILON = 1e-16  # of sacreBLEU's eps_smoothing, from chrF++.py
# sacreBLEU's methods, and its default values for those that take one.
_SMOOTHING = {"exp": None, "none": None, "floor": 0.1, "add-k": 1.0}


class _Counts(Additive):
    """The terms are the columns."""

    @property
    def n_terms(self) -> int:
        return len(self.columns)


class _Bleu(_Counts):
    """Columns: correct and total n-grams by order, system length if it is one, reference length."""

    def __init__(self, columns: Sequence[Column], method: str, value: float) -> None:
        super().__init__(*columns, name="bleu")
        self._method = method
        self._value = value

    def terms(self, *counts: Any) -> Sequence[Term]:
        for column, array in zip(self.columns, counts, strict=True):
            check_counts(column, array)
        for n in range(_BLEU_ORDERS):
            check_part(self.columns, counts, n, n + _BLEU_ORDERS)
        return counts

    def finish(self, *sums: Any) -> Any:
        sums = np.broadcast_arrays(*sums)
        correct, total = np.split(np.stack(sums[: 2 * _BLEU_ORDERS]), 2)
        reference, system = sums[-1], sums[-2] if len(sums) > 2 * _BLEU_ORDERS + 1 else total[0]
        no_match = (correct == 0).all(axis=0)
        if self._method == "add-k":
            added = np.reshape([0.0, *[self._value] * 3], (-1, *[1] * (total.ndim - 1)))
            correct, total = correct + added, total + added
        elif self._method == "floor":
            correct = np.where(correct == 0, self._value, correct)
        elif self._method == "exp":
            halvings = np.cumsum(correct == 0, axis=0)
            correct = np.where(correct == 0, 0.5**halvings, correct)
        brevity = np.where(system >= reference, 0.0, 1.0 - reference / system)
        score = 100.0 * np.exp(np.log(correct / total).mean(axis=0) + brevity)
        return np.where(no_match | (total == 0).any(axis=0), 0.0, score)


class _Chrf(_Counts):
    """Columns: n-grams of the hypothesis by order, of the reference, and those in both."""

    def __init__(
        self, columns: Sequence[Column], beta: float, name: str, *, eps_smoothing: bool
    ) -> None:
        super().__init__(*columns, name=name)
        self._factor = beta**2
        self._eps_smoothing = eps_smoothing

    def terms(self, *counts: Any) -> Sequence[Term]:
        for column, array in zip(self.columns, counts, strict=True):
            check_counts(column, array)
        orders = len(counts) // 3
        for n in range(orders):
            check_part(self.columns, counts, n + 2 * orders, n)
            check_part(self.columns, counts, n + 2 * orders, n + orders)
        return counts

    def finish(self, *sums: Any) -> Any:
        hypothesis, reference, match = np.split(np.stack(np.broadcast_arrays(*sums)), 3)
        if self._eps_smoothing:
            precision = np.where(hypothesis == 0, _EPSILON, match / hypothesis)
            recall = np.where(reference == 0, _EPSILON, match / reference)
            score = self._f_score(precision, recall)
            neither = (precision == 0) & (recall == 0)
            return 100.0 * np.where(neither, _EPSILON, score).mean(axis=0)
        absent = (hypothesis == 0) | (reference == 0)
        n_orders = np.sum(~absent, axis=0)
        precision = np.where(absent, 0.0, match / hypothesis).sum(axis=0) / n_orders
        recall = np.where(absent, 0.0, match / reference).sum(axis=0) / n_orders
        no_match = (absent | (match == 0)).all(axis=0)
        return np.where(no_match, 0.0, 100.0 * self._f_score(precision, recall))

    def _f_score(self, precision: Floats, recall: Floats) -> Floats:
        return (1.0 + self._factor) * precision * recall / (self._factor * precision + recall)


class _Rate(Ratio):
    def __init__(self, *columns: Column, name: str, scale: float) -> None:
        super().__init__(*columns, name=name)
        self._scale = scale

    def terms(self, errors: Floats, length: Floats) -> Sequence[Term]:
        for column, array in zip(self.columns, (errors, length), strict=True):
            check_counts(column, array)
        return self._scale * errors, length


@recorded
def bleu(
    counts: Mapping[str, Source] | None = None,
    *,
    correct: Sequence[Source] | None = None,
    total: Sequence[Source] | None = None,
    system_length: Source | None = None,
    reference_length: Source | None = None,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
) -> Additive:
    """Corpus BLEU with n-grams of 1 to 4 words, from 0 to 100, as sacreBLEU computes it.

    100 min(1, exp(1 - r / s)) (p1 p2 p3 p4)^(1/4), with pn = correct n-grams / n-grams of the
    system, its length s and the reference length r, all summed over segments (Papineni et al.
    2002; Post 2018). Never undefined: as in sacreBLEU it is 0 where no n-gram is correct or there
    is none of some order.

    Parameters
    ----------
    counts
        Columns (names or arrays) under the keys ``correct_1`` to ``correct_4``, ``total_1`` to
        ``total_4`` and ``reference_length``, such as :func:`fastboot.text.bleu_counts` returns. By
        default the columns of ``data`` with these names.
    correct, total
        Instead: four columns each (name, or array of shape (n_rows,)), for n-grams of 1 to 4 words.
        Correct ones are clipped by the counts in the reference.
    system_length
        Column of words of the system; by default ``total[0]``, which is the same in sacreBLEU and
        saves a term.
    reference_length
        Column of words of the reference, or of the reference nearest in length.
    smooth_method
        What replaces correct counts of 0 (Chen and Cherry 2014): "exp", 1/2, 1/4, ... for the
        first, second, ... order without a match; "floor", `smooth_value`; "none". "add-k" adds
        `smooth_value` to both counts of the orders above 1.
    smooth_value
        By default 0.1 for "floor" and 1 for "add-k".

    Raises
    ------
    TypeError
        `counts` is no mapping, `correct` or `total` no sequence, or `smooth_value` no number.
    ValueError
        Not four columns, a key missing in `counts`, an unknown `smooth_method`, or a `smooth_value`
        that it does not take. When run: a count is negative, or more n-grams are correct than there
        are.

    Examples
    --------
    >>> import fastboot as fb
    >>> score = fb.bleu(
    ...     correct=[[5, 6], [3, 4], [2, 2], [1, 1]],
    ...     total=[[7, 7], [6, 6], [5, 5], [4, 4]],
    ...     reference_length=[7, 8],
    ... )
    >>> round(fb.bootstrap(score, rng=0).estimate, 4)
    43.0799
    """
    orders = f"BLEU takes {_BLEU_ORDERS}, for n-grams of 1 to {_BLEU_ORDERS} words"
    columns = [
        *_columns("correct", correct, counts, _BLEU_ORDERS, orders),
        *_columns("total", total, counts, _BLEU_ORDERS, orders),
    ]
    if system_length is not None:
        columns.append(_column("system_length", system_length, counts))
    if reference_length is None:
        reference_length = "reference_length"
    columns.append(_column("reference_length", reference_length, counts))
    return _Bleu(columns, *_check_smoothing(smooth_method, smooth_value))


@recorded
def chrf(
    counts: Mapping[str, Source] | None = None,
    *,
    hypothesis: Sequence[Source] | None = None,
    reference: Sequence[Source] | None = None,
    match: Sequence[Source] | None = None,
    word_order: int = 0,
    beta: float = 2.0,
    eps_smoothing: bool = False,
) -> Additive:
    """Corpus chrF, or chrF++ with ``word_order=2``, from 0 to 100, as sacreBLEU computes it.

    100 (1 + beta^2) P R / (beta^2 P + R), with P and R the means over orders of n-gram precision
    and recall: n-grams of 1 to 6 characters, then of 1 to `word_order` words, summed over segments
    (Popovic 2015, 2017). Orders without an n-gram on either side do not count. Never undefined: as
    in sacreBLEU it is 0 where nothing matches.

    Parameters
    ----------
    counts
        Columns (names or arrays) under the keys ``hypothesis_1``, ``reference_1``, ``match_1`` and
        so on, up to 6 + `word_order`, such as :func:`fastboot.text.chrf_counts` returns. By default
        the columns of ``data`` with these names.
    hypothesis, reference, match
        Instead: 6 + `word_order` columns each (name, or array of shape (n_rows,)) of n-grams in the
        hypothesis, in the reference, in both.
    word_order
        0 for chrF, 2 for chrF++.
    beta
        Weight of recall. Positive and finite.
    eps_smoothing
        The mean over orders of F-scores, with 1e-16 for what is 0 / 0, as in chrF++.py, Moses and
        NLTK.

    Raises
    ------
    TypeError
        `counts` is no mapping, one of the column arguments no sequence, or `beta` no number.
    ValueError
        Not 6 + `word_order` columns, a key missing in `counts`, `word_order` no integer from 0 on,
        `beta` not positive. When run: a count is negative, or more n-grams match than there are.

    Examples
    --------
    >>> import fastboot as fb
    >>> counts = {f"hypothesis_{n}": [11 - n, 21 - n] for n in range(1, 7)}
    >>> counts |= {f"reference_{n}": [13 - n, 21 - n] for n in range(1, 7)}
    >>> counts |= {f"match_{n}": [9 - n, 18 - 2 * n] for n in range(1, 7)}
    >>> round(fb.bootstrap(fb.chrf(counts), rng=0).estimate, 4)
    60.5377
    """
    bounded = check_beta(beta, "2 gives chrF2")
    n = _CHRF_ORDERS + check_integer("word_order", word_order, 0)
    orders = f"chrF with word_order={word_order} takes {n}"
    named = {"hypothesis": hypothesis, "reference": reference, "match": match}
    columns = [
        column
        for argument, given in named.items()
        for column in _columns(argument, given, counts, n, orders)
    ]
    name = f"chrf(word_order={word_order})" if word_order else "chrf"
    return _Chrf(columns, bounded, name, eps_smoothing=eps_smoothing)


@recorded
def ter(edits: Source, reference_length: Source) -> Ratio:
    """Translation edit rate: 100 x edits / words of the reference; lower is better.

    In percent, as in sacreBLEU; above 100 where there are more edits than words (Snover et al.
    2006). Undefined where the references have no word (sacreBLEU says 100, or 0 without edits).

    Parameters
    ----------
    edits, reference_length
        Column name, or array of shape (n_rows,), such as :func:`fastboot.text.ter_counts` returns:
        the fewest edits to a reference, and the mean length of the references.

    Raises
    ------
    ValueError
        When run: a count is negative.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.ter([1, 2], [4, 8]), rng=0).estimate
    25.0
    """
    columns = [_column("edits", edits), _column("reference_length", reference_length)]
    return _Rate(*columns, name="ter", scale=100.0)


@recorded
def word_error_rate(errors: Source, words: Source) -> Ratio:
    """Word error rate: substitutions, deletions and insertions / words of the reference.

    A ratio, not in percent; lower is better, above 1 where there are more errors than words. With
    columns of characters it is the character error rate. Undefined where the references are empty.

    Parameters
    ----------
    errors, words
        Column name, or array of shape (n_rows,), such as
        :func:`fastboot.text.word_error_counts` returns.

    Raises
    ------
    ValueError
        When run: a count is negative.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.word_error_rate([1, 2], [4, 8]), rng=0).estimate
    0.25
    """
    return _Rate(
        _column("errors", errors), _column("words", words), name="word_error_rate", scale=1.0
    )


def _columns(
    argument: str,
    given: Sequence[Source] | None,
    counts: Mapping[str, Source] | None,
    n: int,
    orders: str,
) -> list[Column]:
    """Return one column for each order of n-grams."""
    if given is None:
        names = [f"{argument}_{order}" for order in range(1, n + 1)]
        return [_column(name, name, counts) for name in names]
    if isinstance(given, str):
        raise TypeError(f"`{argument}` is {given!r}; give a list of columns: {orders}")
    sources = list(given)
    if len(sources) != n:
        raise ValueError(f"`{argument}` has {len(sources)} columns; {orders}")
    return [_column(f"{argument}[{i}]", source, counts) for i, source in enumerate(sources)]


def _column(argument: str, source: Source, counts: Mapping[str, Source] | None = None) -> Column:
    """Return a column; a name is that of one of the counts, if there are any."""
    if counts is not None and isinstance(source, str):
        if not isinstance(counts, Mapping):
            raise TypeError(
                f"`counts` is a {type(counts).__name__}; give a mapping of columns, such as "
                "bleu_counts() and chrf_counts() return"
            )
        if source not in counts:
            there_are = ", ".join(repr(name) for name in counts)
            raise ValueError(f"`counts` has no {source!r}; there are {there_are or 'none'}")
        source = counts[source]
    return Column(source, "number", argument)


def _check_smoothing(method: str, value: float | None) -> tuple[str, float]:
    if method not in _SMOOTHING:
        choices = ", ".join(f'"{name}"' for name in _SMOOTHING)
        raise ValueError(f"smooth_method={method!r}; choose one of {choices}")
    default = _SMOOTHING[method]
    if value is None:
        return method, default or 0.0
    if default is None:
        raise ValueError(
            f"`smooth_value` is {value}, but smooth_method={method!r} takes none; leave it out or "
            'choose "floor" or "add-k"'
        )
    number = check_number("smooth_value", value)
    if not 0.0 <= number < math.inf:
        raise ValueError(f"`smooth_value` is {value}; it must be a number, 0 or more")
    return method, number
