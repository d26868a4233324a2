"""Many systems on many data sets: ranks, and whether they differ (Demsar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastboot.arguments import check_flag
from fastboot.calls import words
from fastboot.columns import Column, load
from fastboot.columns import names as names_of
from fastboot.plain import array_of
from fastboot.precision import digits_of, epsilon_of
from fastboot.pvalues import LEAST_PVALUE, check_alpha
from fastboot.rendering import count, made_by, short, shown_pvalue, signature_line, to_json
from fastboot.tabular import Tabular

__all__ = ["FriedmanResult", "friedman_test"]

Floats = NDArray[np.float64]

# Below this SciPy's tail of the studentized range, 1 less a sum, has no digits to spare.
_FAR = 1e-9


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FriedmanResult(Tabular):
    """Answer of :func:`fastboot.friedman_test`.

    Attributes
    ----------
    systems
        Their names.
    mean_ranks
        Shape (n_systems,), read-only: 1 is the best; ties share the mean of their ranks.
    ranks
        Shape (n_data_sets, n_systems), read-only.
    n_dropped
        Data sets dropped for a missing score.
    chi_squared, chi_squared_pvalue
        Friedman's statistic, with n_systems - 1 degrees of freedom.
    f_statistic, pvalue
        That of Iman and Davenport (1980), less conservative, with n_systems - 1 and (n_systems - 1)
        (n_data_sets - 1) degrees of freedom. No p-value is smaller than that of equal rankings on
        all data sets, n_systems! ** (1 - n_data_sets); 1 where all systems always tie.
    control
        The system that others are compared with, or None.
    higher_is_better, correct_ties
        As asked for.
    alpha
        Level of critical differences.
    asked
        Names of the columns, for `signature`.
    """

    systems: tuple[str, ...]
    mean_ranks: Floats
    ranks: Floats
    n_dropped: int
    chi_squared: float
    chi_squared_pvalue: float
    f_statistic: float
    pvalue: float
    control: str | None
    higher_is_better: bool
    correct_ties: bool
    alpha: float
    asked: tuple[tuple[str, str], ...] = ()

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @property
    def n_data_sets(self) -> int:
        """Number of data sets."""
        return len(self.ranks)

    @property
    def _at_least(self) -> list[str]:
        """Return the statistics whose p-value is the smallest there is."""
        least = _least_pvalue(self.n_systems, self.n_data_sets)
        both = {"F": self.pvalue, "chi-squared": self.chi_squared_pvalue}
        return [name for name, value in both.items() if value == least]

    @property
    def standard_error(self) -> float:
        """Of the difference of two mean ranks without ties, sqrt(k (k + 1) / (6 N))."""
        return math.sqrt(self.n_systems * (self.n_systems + 1.0) / (6.0 * self.n_data_sets))

    @property
    def critical_difference(self) -> float:
        """`nemenyi`, or `bonferroni_dunn` with a control."""
        return self.nemenyi() if self.control is None else self.bonferroni_dunn()

    def nemenyi(self, alpha: float | None = None) -> float:
        """Return by how much the mean ranks of any two systems must differ (Nemenyi 1963).

        The quantile of the studentized range of n_systems, with infinite degrees of freedom, over
        sqrt(2), times the standard error.
        """
        from scipy.stats import studentized_range

        level = self.alpha if alpha is None else check_alpha(alpha)
        quantile = studentized_range.isf(level, self.n_systems, np.inf) / math.sqrt(2.0)
        return float(quantile) * self.standard_error

    def bonferroni_dunn(self, alpha: float | None = None) -> float:
        """Return by how much any mean rank must differ from the control's (Dunn 1961).

        The normal quantile of alpha / (2 (n_systems - 1)), times the standard error.
        """
        from scipy.special import ndtri

        level = self.alpha if alpha is None else check_alpha(alpha)
        return -float(ndtri(level / (2.0 * (self.n_systems - 1)))) * self.standard_error

    def pvalues(self) -> Floats:
        """Return adjusted p-values: Nemenyi's of all pairs, or Bonferroni-Dunn's with a control.

        Returns
        -------
        NDArray
            Shape (n_systems, n_systems), 1 on the diagonal; with a control shape (n_systems,), 1
            at its own place. Never 0; Nemenyi's of 1e-9 and below are those of Bonferroni's
            inequality, at most 0.2 % too large.
        """
        from scipy.special import ndtr

        if self.control is None:
            from scipy.stats import studentized_range

            z = np.abs(np.subtract.outer(self.mean_ranks, self.mean_ranks)) / self.standard_error
            found: Floats = studentized_range.sf(z * math.sqrt(2.0), self.n_systems, np.inf)
            far = self.n_systems * (self.n_systems - 1.0) * np.asarray(ndtr(-z))
            found = np.where(found > _FAR, found, np.minimum(far, _FAR))
        else:
            z = np.abs(self.mean_ranks - self.mean_ranks[self.systems.index(self.control)])
            found = 2.0 * (self.n_systems - 1.0) * np.asarray(ndtr(-z / self.standard_error))
        return np.clip(found, LEAST_PVALUE, 1.0)

    def groups(self) -> list[tuple[str, ...]]:
        """Return the largest sets of systems whose mean ranks lie within the critical difference.

        Best first: the bars of a critical difference diagram. Systems in one set cannot be told
        apart; that does not make them equal.
        """
        order = np.argsort(self.mean_ranks, kind="stable")
        ranks, found, reached = self.mean_ranks[order], list[tuple[str, ...]](), 0
        for start in range(len(order)):
            stop = int(np.count_nonzero(ranks - ranks[start] < self.nemenyi()))
            if stop > reached:
                found.append(tuple(self.systems[place] for place in order[start:stop]))
                reached = stop
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        notes = []
        if self.n_data_sets <= 10 and self.n_systems <= 5:
            notes.append(
                f"chi-squared and F are rough for {count(self.n_data_sets, 'data set')} and "
                f"{count(self.n_systems, 'system')}"
            )
        if self.n_dropped:
            notes.append(f"{count(self.n_dropped, 'data set')} dropped for a missing score")
        if math.isnan(self.chi_squared):
            notes.append("all systems tie on all data sets")
        elif self._at_least:
            notes.append(
                f"{' and '.join(self._at_least)}: no test of ranks has a smaller p-value than "
                "n_systems!^(1 - n_data_sets), that of equal rankings on all data sets; it is "
                "given in place of a smaller one of the distribution"
            )
        return tuple(notes)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return one list for each column of the table: system, mean rank, difference to the best.

        With a control the difference is to the control, beside Bonferroni-Dunn's p-value.
        """
        ranks = self.mean_ranks
        first = ranks.min() if self.control is None else ranks[self.systems.index(self.control)]
        columns = {
            "system": list(self.systems),
            "mean_rank": ranks.tolist(),
            "difference": (ranks - first).tolist(),
        }
        return columns if self.control is None else columns | {"pvalue": self.pvalues().tolist()}

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""
        k, n = self.n_systems, self.n_data_sets
        return {
            "kind": "FriedmanResult",
            "systems": list(self.systems),
            "mean_ranks": self.mean_ranks.tolist(),
            "n_data_sets": n,
            "n_dropped": self.n_dropped,
            "chi_squared": self.chi_squared,
            "chi_squared_pvalue": self.chi_squared_pvalue,
            "f_statistic": self.f_statistic,
            "degrees_of_freedom": [k - 1, (k - 1) * (n - 1)],
            "pvalue": self.pvalue,
            "control": self.control,
            "higher_is_better": self.higher_is_better,
            "correct_ties": self.correct_ties,
            "alpha": self.alpha,
            "critical_difference": self.critical_difference,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def summary(self) -> str:
        """Return a sentence for a paper."""
        return f"{self._test_words()}; {self._post_hoc_words()}."

    def signature(self) -> str:
        """Return one line to quote beside a number: what must be known to reproduce it.

        ``key:value|key:value``, in a fixed order; keys are names of arguments and attributes. See
        :meth:`Result.signature`.

        Examples
        --------
        >>> import fastboot as fb
        >>> scores = {"bert": [0.8, 0.7, 0.9], "gpt": [0.8, 0.8, 0.9]}
        >>> fb.friedman_test(scores, control="bert").signature().split("|")[3:6]
        ['control:bert', 'higher_is_better:True', 'correct_ties:True']
        """
        dropped = {"nan_policy": "omit", "n_dropped": self.n_dropped} if self.n_dropped else {}
        return signature_line({
            **made_by("friedman_test"),
            **dict(self.asked),
            "control": self.control,
            "higher_is_better": self.higher_is_better,
            "correct_ties": self.correct_ties,
            "alpha": self.alpha,
            "n_systems": self.n_systems,
            "n_data_sets": self.n_data_sets,
            **dropped,
        })  # fmt: skip

    def _test_words(self) -> str:
        k, n = self.n_systems, self.n_data_sets
        return (
            f"Friedman test of {count(k, 'system')} on {count(n, 'data set')}: Iman-Davenport "
            f"F({k - 1}, {(k - 1) * (n - 1)}) = {short(self.f_statistic)}, p "
            f"{shown_pvalue(self.pvalue)} (chi-squared({k - 1}) = {short(self.chi_squared)}, p "
            f"{shown_pvalue(self.chi_squared_pvalue)})"
        )

    def _post_hoc_words(self) -> str:
        name = "Nemenyi" if self.control is None else f"Bonferroni-Dunn, control {self.control}"
        return (
            f"critical difference of mean ranks {short(self.critical_difference)} at level "
            f"{self.alpha:g} ({name})"
        )

    def _caption(self) -> str:
        return self.summary().removesuffix(".")

    def _note_lines(self) -> Sequence[str]:
        return self.notes


def friedman_test(
    scores: Any,
    *,
    data: object = None,
    control: str | None = None,
    higher_is_better: bool = True,
    correct_ties: bool = True,
    alpha: float = 0.05,
    nan_policy: str = "raise",
) -> FriedmanResult:
    """Test whether systems differ, by their ranks on many data sets (Friedman 1937; Demsar 2006).

    With ranks R on N data sets, chi-squared = 12 N / (k (k + 1)) x (sum of mean ranks squared -
    k (k + 1)^2 / 4), and F = (N - 1) chi-squared / (N (k - 1) - chi-squared) (Iman and Davenport
    1980). Only the order of the systems on each data set counts, not by how much, nor how sure.
    Scores that only rounding sets apart are ties (0.1 + 0.2 and 0.3).

    Parameters
    ----------
    scores
        One column for each system, with a row for each data set: a mapping from systems to columns
        (arrays, or column names of `data`), a list of column names, a data frame, or an array of
        shape (n_data_sets, n_systems). Two systems and two data sets at least.
    data
        The table that column names refer to, as in :func:`bootstrap`.
    control
        A system to compare the others with, named before the scores are seen: the critical
        difference is then Bonferroni-Dunn's, which is smaller; None compares all with all
        (Nemenyi).
    higher_is_better
        False for errors and losses.
    correct_ties
        Divide chi-squared by 1 - sum of (t^3 - t) / (N (k^3 - k)) over groups of t ties, as SciPy
        and R do; False gives the formula above, as in Demsar (2006), which is conservative.
    alpha
        Level of the critical difference.
    nan_policy
        What a missing score does: "raise", or "omit" drops the data set.

    Returns
    -------
    FriedmanResult

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        Scores cannot be read, or are too few; or an argument is wrong; the message names it.

    Examples
    --------
    >>> import fastboot as fb
    >>> scores = {
    ...     "bert": [0.81, 0.72, 0.90, 0.66, 0.75, 0.88],
    ...     "gpt": [0.85, 0.79, 0.91, 0.70, 0.78, 0.90],
    ...     "rules": [0.60, 0.74, 0.65, 0.52, 0.61, 0.70],
    ... }
    >>> result = fb.friedman_test(scores)
    >>> result.mean_ranks.round(2)
    array([2.17, 1.  , 2.83])
    >>> result.groups()
    [('gpt', 'bert'), ('bert', 'rules')]
    """
    if nan_policy == "propagate":
        raise ValueError("`nan_policy` is 'propagate', but ranks need all scores; choose 'omit'")
    names, columns, data = _columns(scores, data)
    if control is not None and control not in names:
        raise ValueError(f"`control` is {control!r}; choose one of {', '.join(names)}")
    alpha = check_alpha(alpha)
    higher_is_better = check_flag("higher_is_better", higher_is_better)
    correct_ties = check_flag("correct_ties", correct_ties)
    rows = load(columns, data, nan_policy)
    table = [np.asarray(column) for column in rows.columns]
    n, k = rows.n_rows, len(table)
    if n < 2 or k < 2:
        raise ValueError(
            f"`scores` has {count(k, 'system')} and {count(n, 'data set')}; ranks need two of each "
            "at least"
        )
    from scipy.special import chdtrc, fdtrc

    ranks = _ranks([-column for column in table] if higher_is_better else table)
    means = ranks.mean(axis=0)
    # The corrected statistic is the between-systems share of the squares of ranks; without ties
    # these are k (k + 1) / 12 (k - 1) for each data set.
    between = n * float(((means - (k + 1.0) / 2.0) ** 2).sum())
    within = (
        float(((ranks - (k + 1.0) / 2.0) ** 2).sum()) if correct_ties else n * (k**3 - k) / 12.0
    )
    chi_squared = n * (k - 1.0) * between / within if within > 0.0 else math.nan
    rest = n * (k - 1.0) - chi_squared
    # Ranks are multiples of 1/2: what is left of equal rankings is rounding.
    f = (n - 1.0) * chi_squared / rest if not rest <= 1e-12 * n * k else math.inf
    least = 1.0 if math.isnan(chi_squared) else _least_pvalue(k, n)
    return FriedmanResult(
        systems=names,
        mean_ranks=_closed(means),
        ranks=_closed(ranks),
        n_dropped=rows.n_dropped,
        chi_squared=chi_squared,
        chi_squared_pvalue=float(np.fmax(chdtrc(k - 1.0, chi_squared), least)),
        f_statistic=f,
        pvalue=float(np.fmax(fdtrc(k - 1.0, (k - 1.0) * (n - 1.0), f), least)),
        control=control,
        higher_is_better=higher_is_better,
        correct_ties=correct_ties,
        alpha=alpha,
        asked=(("scores", words(list(names) if _is_table(scores) else scores)),),
    )


def _least_pvalue(n_systems: int, n_data_sets: int) -> float:
    """Return the probability of equal rankings on all data sets, whichever, if all are as likely.

    Not 0, even of so many data sets that it has no number.
    """
    found = math.exp((1.0 - n_data_sets) * math.lgamma(n_systems + 1.0))
    return max(found, LEAST_PVALUE)


def _ranks(columns: Sequence[Floats]) -> Floats:
    """Return the ranks in each row, 1 the least; those that only rounding sets apart are tied.

    Neighbours only, as in :func:`fastboot.companions.companion.tied`.
    """
    from scipy.stats import rankdata

    table, epsilon = np.column_stack(columns), np.array([epsilon_of(digits_of(c)) for c in columns])
    order = np.argsort(table, axis=1, kind="stable")
    ordered, coarse = np.take_along_axis(table, order, axis=1), epsilon[order]
    # As `fastboot.precision.reach` has it, each pair by the coarser of its two systems.
    coarse = np.maximum(coarse[:, 1:], coarse[:, :-1])
    with np.errstate(over="ignore"):
        steps = np.diff(ordered, axis=1)
    apart = steps > coarse * np.abs(ordered[:, 1:]) + coarse * np.abs(ordered[:, :-1])
    places = np.zeros(table.shape, np.int64)
    np.cumsum(apart, axis=1, out=places[:, 1:])
    ranks = np.empty(table.shape)
    np.put_along_axis(ranks, order, rankdata(places, axis=1), axis=1)
    return ranks


def _is_table(scores: Any) -> bool:
    """Tell whether columns have names: a data frame, or a table of Arrow's or of a database."""
    return hasattr(type(scores), "columns")  # of the type: a lazy frame would look for them


def _of_table(table: Any, data: object) -> tuple[list[tuple[str, Any]], object]:
    """Return the columns of a table by name, and the table that names refer to."""
    if data is not None:
        raise TypeError("`scores` is a table and `data` another; give column names with data=")
    if not hasattr(table, "iloc"):
        return [(name, name) for name in names_of(table)], table
    # Names of pandas need not be strings; those that are but places are no names.
    named = list(table.columns) != list(range(table.shape[1]))
    return [
        (str(name) if named else f"system {place}", table.iloc[:, place])
        for place, name in enumerate(table.columns)
    ], None


def _columns(scores: Any, data: object) -> tuple[tuple[str, ...], list[Column], object]:
    """Return the names of the systems, their columns, and the table of these."""
    if isinstance(scores, Mapping):
        named = [(str(name), source) for name, source in scores.items()]
    elif isinstance(scores, list | tuple) and all(isinstance(one, str) for one in scores):
        named = [(name, name) for name in scores]
    elif _is_table(scores):
        named, data = _of_table(scores, data)
    else:
        try:
            table = array_of(scores)
        except ValueError as error:
            raise ValueError(
                "`scores` has lists of different lengths; give a row for each data set, with a "
                "score of each system"
            ) from error
        if table.ndim != 2:
            raise TypeError(
                f"`scores` has shape {table.shape}; give a mapping from systems to columns, a list "
                "of column names, or an array of shape (n_data_sets, n_systems)"
            )
        named = [(f"system {place}", column) for place, column in enumerate(table.T)]
    if not named:
        raise ValueError("`scores` is empty; give a column for each system")
    names = tuple(name for name, _ in named)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"`scores` has {twice!r} twice; give every system a name of its own")
    return names, [Column(source, argument=name) for name, source in named], data


def _closed(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
