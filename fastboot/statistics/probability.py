"""Statistics of predicted probabilities against gold labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastboot.calls import recorded
from fastboot.columns import Column, Labels, Source, load
from fastboot.plain import columns_of
from fastboot.rendering import count, short, to_json
from fastboot.statistics.additive import Additive, Ratio, Tally, Term
from fastboot.statistics.checks import check_label, check_labels

__all__ = [
    "ReliabilityTable",
    "brier_score",
    "calibration_error",
    "log_loss",
    "reliability_table",
]

Floats = NDArray[np.float64]
Classes = Sequence[Any] | NDArray[Any]

# scikit-learn clips to it: a certain and wrong answer costs -log(2.2e-16) = 36.04, not infinity.
_SMALLEST = float(np.finfo(np.float64).eps)
# scikit-learn's tolerance for probabilities in float32, which columns often were before they came
# here as float64.
_SUM_TOLERANCE = float(np.sqrt(np.finfo(np.float32).eps))


class _Scored(Additive):
    """Gold labels, and the probability of one label or of every label."""

    def __init__(
        self, gold: Source, score: Source, pos_label: Any, labels: Classes | None, name: str
    ) -> None:
        listed = None if labels is None else check_labels(labels, "give two or more")
        columns = _score_columns(score, listed)
        super().__init__(Column(gold, "label", "gold"), *columns, name=name)
        self._pos_label = check_label("pos_label", pos_label)
        self._labels = listed

    @property
    def learns(self) -> str:
        return "nothing" if self._labels is not None else "summaries"

    def bind(self, systems: Sequence[Sequence[Any]]) -> Self:
        """Refuse a positive label that occurs nowhere; some rows may well be without."""
        if self._labels is None:
            for gold, _ in systems:
                _check_positive(gold, self._pos_label)
        return self

    def _codes(self, gold: Labels, scores: Sequence[Floats]) -> NDArray[np.int64]:
        """Return the place of each gold label in `labels`, or 1 for `pos_label` and else 0."""
        for column, score in zip(self.columns[1:], scores, strict=True):
            _check_probabilities(column, score)
        if self._labels is None:
            places = [int(value == self._pos_label) for value in gold.values]
            return np.array(places)[gold.codes]
        _check_sums(scores)
        place = {label: k for k, label in enumerate(self._labels)}
        codes = np.array([place.get(value, -1) for value in gold.values])[gold.codes]
        _check_known(self.columns[0], gold, codes)
        return codes


class _LogLoss(_Scored, Ratio):
    def terms(self, gold: Labels, *scores: Floats) -> Sequence[Term]:
        codes = self._codes(gold, scores)
        if self._labels is None:
            score = np.clip(scores[0], _SMALLEST, 1.0 - _SMALLEST)
            # log1p: log(1 - score) would lose the digits of a small score.
            return -np.where(codes == 1, np.log(score), np.log1p(-score)), 1.0
        of_gold = np.zeros(codes.size)
        for k, score in enumerate(scores):
            of_gold += score * (codes == k)  # a product passes NaN on
        return -np.log(np.clip(of_gold, _SMALLEST, 1.0 - _SMALLEST)), 1.0


class _BrierScore(_Scored, Ratio):
    def __init__(self, scale: float, *args: Any) -> None:
        super().__init__(*args)
        self._scale = scale

    def terms(self, gold: Labels, *scores: Floats) -> Sequence[Term]:
        codes = self._codes(gold, scores)
        if self._labels is None:
            # Both classes are equally far off.
            return 2.0 * self._scale * (codes - scores[0]) ** 2, 1.0
        squares = np.zeros(codes.size)
        for k, score in enumerate(scores):
            squares += ((codes == k) - score) ** 2
        return self._scale * squares, 1.0


class _Bins(NamedTuple):
    place: NDArray[np.int64]
    confidence: Floats
    right: NDArray[np.bool_]


class _CalibrationError(_Scored):
    def __init__(self, n_bins: int, *args: Any) -> None:
        super().__init__(*args)
        self._n_bins = n_bins

    def bins(self, gold: Labels, *scores: Floats) -> _Bins:
        """Return the bin of each row, its confidence, and whether it came true."""
        codes = self._codes(gold, scores)
        if self._labels is None:
            confidence, right = scores[0], codes == 1
        else:
            confidence, right = _top(codes, scores)
        # k / n_bins, rounded once: a score of 0.3 is in the bin that ends there.
        edges = np.arange(1, self._n_bins) / self._n_bins
        return _Bins(np.searchsorted(edges, confidence), confidence, right)

    def terms(self, gold: Labels, *scores: Floats) -> Sequence[Term]:
        bins, confidence, right = self.bins(gold, *scores)
        return Tally(bins, self._n_bins, right - confidence), 1.0

    def finish(self, gaps: Any, n_rows: Any) -> Any:
        return np.abs(gaps).sum(axis=0) / n_rows


@recorded
def log_loss(
    gold: Source, score: Source, *, pos_label: Any = 1, labels: Classes | None = None
) -> Ratio:
    """Log loss (cross-entropy): mean of -log(probability of the gold label).

    The logarithm is natural. As in scikit-learn, probabilities are clipped to [eps, 1 - eps] with
    eps = 2.2e-16 (float64, also for float32 columns), so that a gold label of probability 0 costs
    36.04 instead of infinity. Good (1952). Always defined.

    Parameters
    ----------
    gold
        Label column (name, or array of shape (n_rows,)).
    score
        Column name, or array of shape (n_rows,): probability of `pos_label`. With `labels` a list
        of such columns, or an array or table, shape (n_rows, n_labels): probability of each label.
    pos_label
        The label that `score` is the probability of; all others are one class. Not used with
        `labels`.
    labels
        The labels that the columns of `score` belong to, in their order (not sorted, as
        scikit-learn does). Probabilities of a row must sum to 1 within 3.5e-4, scikit-learn's
        tolerance for float32.

    Raises
    ------
    TypeError
        `score` has several columns without `labels`, or one with them; or `labels` is no list of
        labels, or `pos_label` no label.
    ValueError
        `labels` are fewer than two, not distinct, or not as many as columns. When run: a
        probability is outside [0, 1], those of a row do not sum to 1, `pos_label` is not in
        `gold`, or a gold label is not in `labels`.

    Examples
    --------
    >>> import fastboot as fb
    >>> loss = fb.log_loss(["spam", "ham"], [0.5, 0.5], pos_label="spam")
    >>> round(fb.bootstrap(loss, rng=0).estimate, 6)
    0.693147
    >>> columns = [[0.5, 0.2], [0.25, 0.3], [0.25, 0.5]]
    >>> loss = fb.log_loss(["eggs", "spam"], columns, labels=["eggs", "ham", "spam"])
    >>> round(fb.bootstrap(loss, rng=0).estimate, 6)
    0.693147
    """
    return _LogLoss(gold, score, pos_label, labels, "log_loss")


@recorded
def brier_score(
    gold: Source,
    score: Source,
    *,
    pos_label: Any = 1,
    labels: Classes | None = None,
    scale_by_half: bool = False,
) -> Ratio:
    """Brier score: mean over rows of the sum over classes of (probability - outcome)^2.

    The outcome is 1 for the gold label and 0 for the others. This is the definition of Brier
    (1950), from 0 to 2, for two classes too: 2 (score - outcome)^2. The half of it, from 0 to 1,
    is what scikit-learn returns by default for two classes; ``scale_by_half=True`` gives that.
    Always defined.

    Parameters
    ----------
    gold, score, pos_label, labels
        As in :func:`log_loss`.
    scale_by_half
        Return half the sum over classes: (score - outcome)^2 for two classes.

    Raises
    ------
    TypeError, ValueError
        As in :func:`log_loss`; or `scale_by_half` is not True or False.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.bootstrap(fb.brier_score([1, 0], [0.5, 0.5]), rng=0).estimate
    0.5
    >>> fb.bootstrap(fb.brier_score([1, 0], [0.5, 0.5], scale_by_half=True), rng=0).estimate
    0.25
    """
    if not isinstance(scale_by_half, bool | np.bool_):
        raise TypeError(f"`scale_by_half` is {scale_by_half!r}; it must be True or False")
    scale, name = (0.5, "brier_score(scale_by_half)") if scale_by_half else (1.0, "brier_score")
    return _BrierScore(scale, gold, score, pos_label, labels, name)


@recorded
def calibration_error(
    gold: Source,
    score: Source,
    *,
    n_bins: int = 10,
    pos_label: Any = 1,
    labels: Classes | None = None,
) -> Additive:
    """Expected calibration error, with bins of equal width.

    Sum over bins of share of rows x abs(accuracy - mean confidence), which is the sum over bins of
    abs(sum of (outcome - confidence)) / number of rows (Naeini, Cooper and Hauskrecht 2015). Bin k
    of n holds confidences in ((k - 1) / n, k / n], the first one 0 as well; an empty bin adds 0.
    Always defined.

    The confidence is

    - `score` itself, and the outcome is whether the gold label is `pos_label`: the reliability
      diagram of one class, as scikit-learn's ``calibration_curve``;
    - with `labels`, the largest probability of the row, and the outcome is whether its label (the
      first of equals) is the gold label: the top-label error of Guo et al. (2017).

    For two classes these differ; ``score=[1 - p, p]`` with `labels` gives the second.

    Parameters
    ----------
    gold, score, pos_label, labels
        As in :func:`log_loss`.
    n_bins
        Number of bins, 1 or more.

    Raises
    ------
    TypeError, ValueError
        As in :func:`log_loss`; or `n_bins` is not a whole number of 1 or more.

    Notes
    -----
    The gaps enter by their size, so chance adds to them: the error of a sample is on average no
    smaller than that of its population, and that of a resample no smaller than that of the sample
    (Jensen's inequality). Percentile intervals lie too high, the more so the fewer rows per bin.

    Examples
    --------
    >>> import fastboot as fb
    >>> error = fb.calibration_error([1, 0, 1, 1], [0.75, 0.75, 0.25, 0.25], n_bins=2)
    >>> fb.bootstrap(error, rng=0).estimate
    0.5
    """
    return _calibration_error(gold, score, n_bins, pos_label, labels)


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityTable:
    """How often predictions of each confidence came true, shape (n_bins,) each.

    Attributes
    ----------
    low, high
        Bounds of the bins, float64: above `low`, up to `high`; the first bin holds 0 too.
    count
        Rows, int64.
    mean_confidence
        Mean confidence of the rows, float64; NaN in an empty bin.
    accuracy
        Share of rows whose prediction came true, float64; NaN in an empty bin.
    """

    low: Floats
    high: Floats
    count: NDArray[np.int64]
    mean_confidence: Floats
    accuracy: Floats

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    def to_json(self) -> str:
        """Return `to_dict` as strict JSON; NaN becomes null."""
        return to_json(self.to_dict())

    def __repr__(self) -> str:
        lines = [f"{'bin':>16}{'count':>12}{'confidence':>12}{'accuracy':>12}"]
        for low, high, rows, mean, share in zip(*self.to_dict().values(), strict=True):
            ends = f"{'(' if low else '['}{short(low)}, {short(high)}]"
            figures = [short(x) if rows else "-" for x in (mean, share)]
            lines.append(f"{ends:>16}{rows:>12,}{figures[0]:>12}{figures[1]:>12}")
        return "\n".join(lines)


def reliability_table(
    gold: Source,
    score: Source,
    *,
    data: object = None,
    n_bins: int = 10,
    pos_label: Any = 1,
    labels: Classes | None = None,
    nan_policy: str = "raise",
) -> ReliabilityTable:
    """Return the bins that :func:`calibration_error` sums up.

    Parameters
    ----------
    gold, score, n_bins, pos_label, labels
        As in :func:`calibration_error`.
    data
        The table that column names refer to.
    nan_policy
        What a missing value (null or NaN) does: "raise", or "omit" drops the row.

    Raises
    ------
    TypeError, ValueError
        As in :func:`calibration_error`; a column cannot be used; or `nan_policy` is another word.

    Examples
    --------
    >>> import fastboot as fb
    >>> fb.reliability_table([1, 0, 1, 1], [0.75, 0.75, 0.25, 0.25], n_bins=3)
                 bin       count  confidence    accuracy
         [0, 0.3333]           2        0.25           1
    (0.3333, 0.6667]           0           -           -
         (0.6667, 1]           2        0.75         0.5
    """
    if nan_policy == "propagate":
        raise ValueError('nan_policy=\'propagate\': NaN is in no bin; choose "raise" or "omit"')
    statistic = _calibration_error(gold, score, n_bins, pos_label, labels)
    columns: Any = load(statistic.columns, data, nan_policy).columns
    place, confidence, right = statistic.bind([columns]).bins(*columns)
    rows, confidences, hits = (
        np.bincount(place, weights, minlength=n_bins) for weights in (None, confidence, right)
    )
    edges = np.arange(n_bins + 1) / n_bins
    with np.errstate(invalid="ignore"):  # 0 / 0 in empty bins
        return ReliabilityTable(edges[:-1], edges[1:], rows, confidences / rows, hits / rows)


def _calibration_error(
    gold: Source, score: Source, n_bins: Any, pos_label: Any, labels: Classes | None
) -> _CalibrationError:
    if not hasattr(n_bins, "__index__") or isinstance(n_bins, bool | np.ndarray) or n_bins < 1:
        raise ValueError(f"`n_bins` is {n_bins!r}; it must be a whole number, 1 or more")
    name = "calibration_error" if labels is None else "top_label_calibration_error"
    if n_bins != 10:
        name += f"(n_bins={n_bins})"
    return _CalibrationError(int(n_bins), gold, score, pos_label, labels, name)


def _score_columns(score: Any, labels: tuple[Any, ...] | None) -> list[Column]:
    """Return the one column, or the column of each label."""
    is_table = len(getattr(score, "shape", ())) == 2
    is_list = isinstance(score, list | tuple) and len(score) > 0 and hasattr(score[0], "__len__")
    if labels is None:
        if is_table or is_list:
            raise TypeError("`score` has several columns; name the label of each with labels=")
        return [Column(score, "number", "score")]
    if len(labels) < 2:
        raise ValueError(f"`labels` has {count(len(labels), 'label')}; give two or more")
    if not (is_table or is_list):
        raise TypeError(
            f"`score` is one column but `labels` has {len(labels)}; give a list of columns, or an "
            f"array of shape (n_rows, {len(labels)})"
        )
    columns = columns_of(score) if is_table else list(score)
    if len(columns) != len(labels):
        raise ValueError(
            f"`score` has {count(len(columns), 'column')} but `labels` has {len(labels)}; give "
            "one column for each label"
        )
    return [Column(column, "number", f"score[{k}]") for k, column in enumerate(columns)]


def _top(codes: NDArray[np.int64], scores: Sequence[Floats]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the largest probability of each row, and whether it is that of the gold label."""
    top, place = scores[0], np.zeros(codes.size, dtype=np.int64)
    for k, score in enumerate(scores[1:], 1):
        place[score > top] = k
        top = np.maximum(top, score)  # passes NaN on
    return top, place == codes


def _check_probabilities(column: Column, score: Floats) -> None:
    outside = (score < 0.0) | (score > 1.0)
    if outside.any():
        row = int(outside.argmax())
        raise ValueError(
            f"{column} has {count(int(outside.sum()), 'value')} outside [0, 1] (first at row "
            f"{row:,}: {score[row]:g}); a probability is from 0 to 1"
        )


def _check_sums(scores: Sequence[Floats]) -> None:
    totals = np.zeros(scores[0].size)
    for score in scores:
        totals += score
    wrong = np.abs(totals - 1.0) > _SUM_TOLERANCE
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"`score` has {count(int(wrong.sum()), 'row')} whose probabilities do not sum to 1 "
            f"(first at row {row:,}: {totals[row]:g}); divide them by their sum"
        )


def _check_positive(gold: Labels, pos_label: Any) -> None:
    # A gold column of 0s alone, or of 1s, says enough.
    if pos_label in gold.values or all(label in (0, 1) for label in (pos_label, *gold.values)):
        return
    shown = ", ".join(repr(value) for value in gold.values[:10])
    raise ValueError(
        f"`pos_label` is {pos_label!r}, which is not in `gold`; the labels are "
        f"{shown}{', ...' if len(gold.values) > 10 else ''}"
    )


def _check_known(column: Column, gold: Labels, codes: NDArray[np.int64]) -> None:
    unknown = codes < 0
    if unknown.any():
        row = int(unknown.argmax())
        raise ValueError(
            f"{column} has {count(int(unknown.sum()), 'row')} whose label is not in `labels` "
            f"(first at row {row:,}: {gold.values[gold.codes[row]]!r})"
        )
