"""Tests of two systems by their scores on the folds of cross-validation.

Training sets overlap, so scores on folds are not independent, and their variance is too small for
Student's test. Each test here allows for that in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.analytic import t_interval
from fastboot.columns import Source
from fastboot.companions.companion import (
    Companion,
    asked_of,
    load_pairs,
    pvalue_words,
    t_pvalue,
)
from fastboot.companions.folds import Folds
from fastboot.companions.scale import scaled_differences, unscaled, unscaled_interval
from fastboot.intervals import check_level
from fastboot.precision import reach
from fastboot.pvalues import LEAST_PVALUE, check_alternative
from fastboot.rendering import count, label, made_by, short, shown_pvalue
from fastboot.reports import Report

__all__ = ["CorrectedTResult", "FiveByTwoResult", "corrected_t_test", "five_by_two_cv_test"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CorrectedTResult(Companion):
    """Answer of :func:`fastboot.corrected_t_test`.

    Attributes
    ----------
    estimate
        Mean of a - b over the folds.
    confidence_interval
        Of the mean, from the corrected error.
    pvalue
        Of the test. NaN where undefined.
    statistic
        t, the mean by its corrected error.
    degrees_of_freedom
        Folds less one.
    standard_error
        Corrected: sqrt(1 / n_folds + test_ratio) times the standard deviation (ddof = 1).
    test_ratio
        Test rows by training rows.
    alternative
        "two-sided", "greater" or "less". Also the sides of the interval.
    n_rows
        Folds used, over all repeats.
    n_dropped
        Folds dropped for a missing score (``nan_policy="omit"``).
    """

    statistic: float
    degrees_of_freedom: int
    standard_error: float
    test_ratio: float

    _procedure = "corrected_t_test"

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        # By t, as a small error may have no float64.
        if self.estimate == 0.0 and math.isnan(self.statistic):
            return (_IDENTICAL,)
        if self.n_rows == 1:
            return ("one fold has no variance: the test is undefined",)
        return (_CONSTANT,) if math.isinf(self.statistic) else ()

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return (
            f"Mean of a - b over {count(self.n_rows, 'fold')} {self._shown}, "
            f"{self._interval_shown}; corrected resampled t test (test rows by "
            f"training rows {short(self.test_ratio)}), t({self.degrees_of_freedom:,}) = "
            f"{short(self.statistic)}, {pvalue_words(self.pvalue, self.alternative)}."
        )

    def _test_parts(self) -> dict[str, Any]:
        return {"test_ratio": self.test_ratio}


def corrected_t_test(
    a: Source,
    b: Source,
    *,
    data: object = None,
    folds: Iterable[Any] | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    test_fraction: float | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    nan_policy: str = "raise",
) -> CorrectedTResult:
    """Test whether two systems differ by their scores on the folds of (repeated) cross-validation.

    t = mean / sqrt((1 / J + n_test / n_train) variance), of J differences, on J - 1 degrees of
    freedom: the corrected resampled t test (Nadeau and Bengio 2003), for k-fold cross-validation
    repeated r times with J = k r (Bouckaert and Frank 2004). The second term stands for the
    correlation of scores whose training rows overlap.

    Parameters
    ----------
    a, b
        Column name or array of shape (n_folds,): the score of each system on each fold, trained and
        tested on the same rows, all repeats.
    data
        The table, as in :func:`bootstrap`.
    folds
        The folds scored, for their sizes: of :func:`folds`, or pairs (train, test) of row indices,
        or of masks, True where a row belongs.
    n_train, n_test
        Training and test rows of a fold, instead.
    test_fraction
        Share of the rows that are tested in a fold, instead: 1 / k.
    confidence_level
        Of the interval, mean -+ t quantile x corrected error.
    alternative
        "two-sided"; "greater": a is larger; "less": a is smaller. The interval has the same sides.
    nan_policy
        As in :func:`bootstrap`; with "propagate" a NaN makes all of the answer NaN.

    Returns
    -------
    CorrectedTResult
        Where all differences are 0, `pvalue` is 1. Where they are equal but not 0, t is infinite
        and `pvalue` NaN; of one fold all is NaN: `notes` says so.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As in :func:`bootstrap`; sizes are not given, or twice, or cannot be; or `folds` are not as
        many as the scores.

    Examples
    --------
    >>> from fastboot.companions.cross_validation import corrected_t_test
    >>> a = [0.81, 0.84, 0.80, 0.86, 0.83, 0.82, 0.85, 0.79, 0.84, 0.83]
    >>> b = [0.80, 0.82, 0.81, 0.83, 0.80, 0.82, 0.82, 0.78, 0.81, 0.81]
    >>> result = corrected_t_test(a, b, test_fraction=0.1)
    >>> result
    CorrectedTResult(0.017 [0.00226, 0.03174], p = 0.0283, n_rows=10)
    >>> result.signature().split("|")[4:6]
    ['method:corrected t', 'confidence_level:0.95']
    """
    level, sides = check_level(confidence_level), check_alternative(alternative)
    first, second, n_dropped = load_pairs(a, b, data, nan_policy)
    ratio = _test_ratio(first.size + n_dropped, folds, n_train, n_test, test_fraction)
    differences, reach, exponent = _differences(first, second)
    mean, deviation = _moments(differences, reach)
    error = deviation * math.sqrt(1.0 / first.size + ratio)
    statistic, freedom = _divided(mean, error), first.size - 1
    return CorrectedTResult(
        estimate=unscaled(mean, exponent),
        confidence_interval=unscaled_interval(
            t_interval(mean, error, freedom, confidence_level=level, alternative=sides)._replace(
                method="corrected t"
            ),
            exponent,
        ),
        pvalue=t_pvalue(statistic, freedom, sides, mean),
        statistic=statistic,
        degrees_of_freedom=freedom,
        standard_error=unscaled(error, exponent),
        test_ratio=ratio,
        alternative=sides,
        n_rows=first.size,
        n_dropped=n_dropped,
        asked=asked_of(a=a, b=b),
    )


def _test_ratio(n_folds: int, splits: Any, n_train: Any, n_test: Any, test_fraction: Any) -> float:
    """Test rows by training rows, from the one of the three ways that is given."""
    ways = (splits is not None, n_train is not None or n_test is not None,
            test_fraction is not None)  # fmt: skip
    if sum(ways) != 1:
        raise TypeError(
            f"sizes are given in {sum(ways)} ways; give folds=, or n_train= and n_test=, or "
            "test_fraction="
        )
    if test_fraction is not None:
        share = _positive("test_fraction", test_fraction)
        if share >= 1.0:
            raise ValueError(f"`test_fraction` is {share:g}; it must be below 1, such as 0.1")
        return share / (1.0 - share)
    if splits is None:
        return _positive("n_test", n_test) / _positive("n_train", n_train)
    if hasattr(splits, "split") or not isinstance(splits, Iterable):
        raise TypeError(
            f"`folds` is {splits!r}, which has no sizes yet; give folds(n, splitter), or pairs "
            "(train, test)"
        )
    sizes = [] if isinstance(splits, Folds) else _sizes(splits)
    n_given = len(splits) if isinstance(splits, Folds) else len(sizes)
    if n_given != n_folds:
        raise ValueError(
            f"`folds` has {count(n_given, 'fold')} but there are {count(n_folds, 'score')} of each "
            "system; give a score for each"
        )
    train, test = splits.mean_sizes if isinstance(splits, Folds) else np.mean(sizes, axis=0)
    return float(test / train)


def _sizes(splits: Iterable[Any]) -> list[tuple[int, int]]:
    """Numbers of training and of test rows of pairs (train, test)."""
    sizes = []
    for place, pair in enumerate(splits):
        try:
            n_train, n_test = map(_size, () if isinstance(pair, str) else pair)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"`folds` holds {label(repr(pair))}; give pairs (train, test) of row indices or "
                "masks, or n_train= and n_test="
            ) from error
        if not (n_train and n_test):
            what = "test" if n_train else "training"
            raise ValueError(
                f"`folds` has no {what} rows in fold {place}; give folds with rows of both kinds"
            )
        sizes.append((n_train, n_test))
    return sizes


def _size(part: Any) -> int:
    """Number of rows of a list of rows, or of a mask of all rows."""
    if isinstance(part, str | bytes):
        raise TypeError(f"{part!r} is a {type(part).__name__}")
    n = len(part)
    array = np.asarray(part)
    if array.dtype == object and n and all(isinstance(one, bool | np.bool_) for one in array.flat):
        array = array.astype(np.bool_)  # of pandas with room for missing ones
    return int(np.count_nonzero(array)) if array.dtype == np.bool_ else n


def _positive(argument: str, value: Any) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0.0 < value < math.inf:
        raise ValueError(f"`{argument}` is {value!r}; it must be a number above 0")
    return float(value)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FiveByTwoResult(Report):
    """Answer of :func:`fastboot.five_by_two_cv_test`.

    Attributes
    ----------
    estimate
        Mean of the ten differences a - b.
    statistic, pvalue
        F, of Alpaydin's test. NaN where undefined.
    t_statistic, t_pvalue
        t, of Dietterich's test; two-sided. NaN where undefined.
    asked
        Names of the columns, for `signature`.
    """

    estimate: float
    statistic: float
    pvalue: float
    t_statistic: float
    t_pvalue: float
    asked: tuple[tuple[str, str], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        if math.isfinite(self.statistic):
            return ()
        return (_IDENTICAL if self.pvalue == 1.0 else _CONSTANT,)

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        figures = asdict(self)
        del figures["asked"]  # of `signature`
        return {"kind": type(self).__name__, **figures, "notes": list(self.notes)}

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return (
            f"Mean of a - b {short(self.estimate)}; combined 5x2 cross-validation F test, F(10, 5) "
            f"= {short(self.statistic)}, p {shown_pvalue(self.pvalue)} (Dietterich's t(5) = "
            f"{short(self.t_statistic)}, two-sided p {shown_pvalue(self.t_pvalue)})."
        )

    def _signature(self) -> dict[str, Any]:
        return {
            **made_by("five_by_two_cv_test"),
            **dict(self.asked),
            "alternative": "two-sided",
            "n_rows": 10,
        }

    def __repr__(self) -> str:
        return (
            f"FiveByTwoResult({short(self.estimate)}, F={short(self.statistic)}, "
            f"p {shown_pvalue(self.pvalue)})"
        )


def five_by_two_cv_test(a: Source, b: Source, *, data: object = None) -> FiveByTwoResult:
    """Test whether two systems differ by five repeats of twofold cross-validation.

    F = sum of the squares of the ten differences / (2 x sum of the five variances), on 10 and 5
    degrees of freedom (Alpaydin 1999); the variance of a repeat is half the square of what its two
    differences are apart. Dietterich's t (1998), the first difference / sqrt(mean variance) on 5
    degrees of freedom, depends on which fold comes first; choose one before you look.

    Parameters
    ----------
    a, b
        Column name or array of shape (10,): the score of each system on each fold, the two of a
        repeat in turn: as :func:`folds` with ``k=2, repeats=5`` has them.
    data
        The table, as in :func:`bootstrap`.

    Returns
    -------
    FiveByTwoResult
        Without any variance p-values are 1 where all differences are 0, and else NaN with an
        infinite F; `notes` says so.

    Raises
    ------
    TypeError, FileNotFoundError
        As in :func:`bootstrap`.
    ValueError
        Also: there are not ten scores, or one is missing.

    Examples
    --------
    >>> from fastboot.companions.cross_validation import five_by_two_cv_test
    >>> a = [0.92, 0.89, 0.91, 0.93, 0.90, 0.88, 0.94, 0.91, 0.90, 0.92]
    >>> b = [0.88, 0.87, 0.90, 0.89, 0.86, 0.87, 0.89, 0.90, 0.88, 0.87]
    >>> five_by_two_cv_test(a, b)
    FiveByTwoResult(0.029, F=2.319, p = 0.183)
    """
    from scipy.special import fdtrc

    first, second, _ = load_pairs(a, b, data, "raise")
    if first.size != 10:
        raise ValueError(
            f"`a` and `b` have {count(first.size, 'score')} each; five repeats of two folds have 10"
        )
    differences, reach, exponent = _differences(first, second)
    differences[np.abs(differences) <= reach] = 0.0
    apart = differences[::2] - differences[1::2]
    apart[np.abs(apart) <= reach[::2] + reach[1::2]] = 0.0
    twice = float(apart @ apart)  # the sum of the five variances, times two
    statistic = _divided(float(differences @ differences), twice)
    t_statistic = _divided(float(differences[0]), math.sqrt(twice / 10.0))
    largest = float(np.abs(differences).max())
    pvalue = max(float(fdtrc(10.0, 5.0, statistic)), LEAST_PVALUE)
    if not math.isfinite(statistic):
        pvalue = math.nan if largest else 1.0
    return FiveByTwoResult(
        estimate=unscaled(float(differences.mean()), exponent),
        statistic=statistic,
        pvalue=pvalue,
        t_statistic=t_statistic,
        t_pvalue=t_pvalue(t_statistic, 5, "two-sided", largest),
        asked=asked_of(a=a, b=b),
    )


_CONSTANT = "differences do not vary: the test says nothing"
_IDENTICAL = "all differences are 0: both systems have the same scores"


def _differences(a: Floats, b: Floats) -> tuple[Floats, Floats, int]:
    """Differences and how far rounding may move each, in units of a power of two; its exponent."""
    differences, exponent = scaled_differences(a, b)
    return differences, reach(a, b, exponent), exponent


def _moments(differences: Floats, reach: Floats) -> tuple[float, float]:
    """Mean and standard deviation (ddof = 1), 0 where rounding alone makes differences differ."""
    low, high = float((differences - reach).max()), float((differences + reach).min())
    if low <= high:  # one number is near them all
        mean = 0.0 if low <= 0.0 <= high else float(differences[np.argmin(reach)])
        return mean, 0.0 if differences.size > 1 else math.nan
    return float(differences.mean()), float(differences.std(ddof=1))


def _divided(x: float, y: float) -> float:
    if y == 0.0:
        return math.nan if x == 0.0 or math.isnan(x) else math.copysign(math.inf, x)
    return x / y
