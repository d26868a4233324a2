"""Agreement of two label columns beyond chance: Matthews' correlation and Cohen's kappa.

Both compare the rows on which the columns agree with those expected of the same counts of classes
in random order, so they need two tallies and one number of each row. All sums over classes are of
numbers of 0 or more: where a column has one class only, what is left for chance is 0 to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastboot.calls import recorded
from fastboot.columns import Labels, Source
from fastboot.statistics.additive import Additive, Term
from fastboot.statistics.classes import ByClass, ListOfLabels, over_classes

__all__ = ["cohen_kappa", "matthews"]

# Powers of the distance between classes.
_POWERS = {None: 0, "linear": 1, "quadratic": 2}


class _Matthews(ByClass):
    def terms(self, gold: Labels, predicted: Labels) -> Sequence[Term]:
        true, said = self.codes(gold, predicted)
        return (true == said).astype(np.float64), self.tally(true), self.tally(said)

    def finish(self, agreed: Any, gold: Any, predicted: Any) -> Any:
        n = over_classes(gold)
        covariance = n * agreed - over_classes(gold * predicted)
        variances = over_classes(gold * (n - gold)) * over_classes(predicted * (n - predicted))
        # Before np.clip, which would make 1 of infinity.
        deviations = np.sqrt(np.where(variances == 0.0, np.nan, variances))
        return np.clip(covariance / deviations, -1.0, 1.0)


class _CohenKappa(ByClass):
    only_listed = True

    def __init__(self, power: int, *args: Any) -> None:
        super().__init__(*args)
        self._power = power

    def terms(self, gold: Labels, predicted: Labels) -> Sequence[Term]:
        true, said = self.codes(gold, predicted)
        apart = np.abs(true - said)
        disagreement = apart > 0 if self._power == 0 else apart**self._power
        return disagreement.astype(np.float64), self.tally(true), self.tally(said)

    def finish(self, disagreement: Any, gold: Any, predicted: Any) -> Any:
        expected = _apart(gold, predicted, self._power) + _apart(predicted, gold, self._power)
        return 1.0 - over_classes(gold) * disagreement / np.where(expected > 0.0, expected, np.nan)


def _apart(first: Any, second: Any, power: int) -> Any:
    """Sum first_i second_j (j - i)^power over i < j, class by class."""
    # Sums over i < j of first_i (j - i)^k for k = 0, 1, 2; (d + 1)^2 = d^2 + 2 d + 1.
    rows = distances = squares = total = np.zeros_like(first[0])
    for i in range(len(first) - 1):
        squares = squares + 2.0 * distances + rows + first[i]
        distances = distances + rows + first[i]
        rows = rows + first[i]
        total = total + second[i + 1] * (rows, distances, squares)[power]
    return total


@recorded
def matthews(gold: Source, predicted: Source) -> Additive:
    """Matthews' correlation coefficient of labels, for two classes or more.

    The correlation of gold and predicted classes: (n c - sum t_k p_k) / sqrt((n^2 - sum t_k^2)
    (n^2 - sum p_k^2)), where c of n rows are right and class k has t_k gold and p_k predicted rows
    (Matthews 1975; Gorodkin 2004). Undefined where all gold labels are one class, or all
    predictions; scikit-learn's ``matthews_corrcoef`` says 0 there.

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of labels: strings, integers, booleans. Both of
        one kind.

    Raises
    ------
    ValueError
        When run: one column holds strings and the other numbers.

    Examples
    --------
    >>> import fastboot as fb
    >>> gold, predicted = ["cat", "cat", "dog", "dog"] * 20, ["cat", "dog", "dog", "dog"] * 20
    >>> round(fb.bootstrap(fb.matthews(gold, predicted), rng=0).estimate, 6)
    0.57735
    """
    return _Matthews(gold, predicted, None, "matthews")


@recorded
def cohen_kappa(
    gold: Source,
    predicted: Source,
    *,
    weights: str | None = None,
    labels: ListOfLabels | None = None,
) -> Additive:
    """Cohen's kappa: agreement of two annotators, or of predictions with gold labels, by class.

    1 - observed / expected disagreement, where the expected one is that of the same labels in
    random order (Cohen 1960; with weights, Cohen 1968). The order of the columns does not matter.
    Undefined where no disagreement is expected: both columns have one class only, and the same.

    Parameters
    ----------
    gold, predicted
        Column name, or array of shape (n_rows,) of labels: strings, integers, booleans. Both of
        one kind.
    weights
        How much two labels disagree: None, 1 for any two; "linear", the places between them;
        "quadratic", the square of that.
    labels
        The labels in their order; rows with another label in either column do not count. By default
        all that occur in any system, sorted: numbers by size, but strings alphabetically, so words
        on a scale (low, medium, high) need `labels`. Places are those of this list, whatever
        classes a resample has.

    Raises
    ------
    TypeError
        `labels` is no list.
    ValueError
        `weights` is another word; `labels` is empty or repeats a label. When run: no label of
        `labels` occurs in either column; one column holds strings and the other numbers.

    Examples
    --------
    >>> import fastboot as fb
    >>> ann = ["low", "high", "low", "medium"] * 20
    >>> bob = ["low", "high", "medium", "medium"] * 20
    >>> kappa = fb.cohen_kappa(ann, bob, weights="linear", labels=["low", "medium", "high"])
    >>> round(fb.bootstrap(kappa, rng=0).estimate, 6)
    0.714286
    """
    if weights not in tuple(_POWERS):  # a list has no hash
        raise ValueError(f'`weights` is {weights!r}; choose "linear", "quadratic" or None')
    name = f"cohen_kappa(weights={weights})" if weights else "cohen_kappa"
    return _CohenKappa(_POWERS[weights], gold, predicted, labels, name)
