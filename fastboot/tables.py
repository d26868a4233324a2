"""Answers to several questions of one call: results by statistic, class and slice.

A table holds arrays, not results; a result is made when it is looked up. So ten thousand slices
cost no more than their figures.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastboot import intervals
from fastboot.extension import Again, Sets, extended, joined
from fastboot.rendering import (
    count,
    interval_name,
    note_lines,
    signature_line,
    to_json,
)
from fastboot.results import Result
from fastboot.table_words import clauses, shown_results
from fastboot.tabular import Tabular

__all__ = ["Table"]

R = TypeVar("R", bound=Result)
Array = TypeVar("Array", bound=NDArray[Any])
Floats = NDArray[np.float64]

_SHOWN_NOTES = 5
_CHUNK = 1 << 20  # replicates (8 MB) that are copied at a time


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Table(Tabular, Mapping[Any, R], Generic[R]):
    """A mapping from what was asked to its result; all share one set of resamples.

    Attributes
    ----------
    axes
        What a key consists of, in order: "statistic", "label" (the class, for a statistic with
        several values) and the columns of the slices ("by" where they have no name). A key of one
        part is that part, else a tuple; a statistic with one value has no label in its key.
    replicates
        Shape (n_results, n_resamples), float64, read-only, in the order of the keys.
    total
        With slices, the answer for all rows together: a result, or a table without the slices;
        else None.
    elapsed
        Seconds, from the call to the answer.

    Examples
    --------
    >>> import fastboot as fb
    >>> data = {"score": [3, 1, 2, 4, 5, 3], "language": ["de", "en", "de", "en", "de", "en"]}
    >>> table = fb.bootstrap("score", data=data, by="language", rng=0, n_resamples=999)
    >>> list(table)
    ['de', 'en']
    >>> table["de"].estimate
    3.3333333333333335
    >>> table.estimates - table.total.estimate
    array([ 0.33333333, -0.33333333])
    """

    axes: tuple[str, ...]
    replicates: Floats
    total: Any
    elapsed: float
    _keys: tuple[Any, ...]
    _kind: type[R]
    _common: dict[str, Any]
    _own: dict[str, Any]
    _places: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {key: place for place, key in enumerate(self._keys)})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # a pickle forgets it

    # A mapping would compare results, which are equal to themselves only and made anew each time.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self, key: Any) -> R:
        try:
            place = self._places[key]
        except (KeyError, TypeError):
            raise KeyError(self._no_answer(key)) from None
        own = {name: values[place] for name, values in self._own.items()}
        shared = self._common | {"again": None}
        return self._kind(**shared, **own, replicates=self.replicates[place])

    def _no_answer(self, key: Any) -> str:
        close = difflib.get_close_matches(str(key), map(str, self._keys[:1_000]))
        asked = set(map(str, key if isinstance(key, tuple) else (key,)))
        alike = [
            known
            for known in self._keys
            if str(known) in close or not asked.isdisjoint(map(str, self.parts(known)))
        ]
        shown = ", ".join(map(repr, (alike or self._keys)[:5]))
        shape = self.axes[0] if len(self.axes) == 1 else f"({', '.join(self.axes)})"
        return f"no answer for {key!r}; a key is {shape}, such as {shown}"

    def parts(self, key: Any) -> tuple[Any, ...]:
        """Return the part of a key for each axis; None for the label of a statistic without."""
        if len(self.axes) == 1:
            return (key,)
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) == len(self.axes):
            return parts
        place = self.axes.index("label")
        return (*parts[:place], None, *parts[place:])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def again(self) -> Again | None:
        """How `extend` runs the procedure again; it holds the arguments of the call."""
        found: Again | None = self._common.get("again")
        return found

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_common": self._common | {"again": None}}

    def extend(self, n_resamples: int, executor: object = None) -> Self:
        """Return the table of a longer run: see :meth:`fastboot.BootstrapResult.extend`.

        Parameters
        ----------
        n_resamples, executor
            As there: replicates in all, and who works.

        Raises
        ------
        TypeError, ValueError
            As there.
        """
        return extended(self, n_resamples, self._known(), executor)

    def _known(self) -> Sets:
        """Return what a longer run need not compute again."""
        total: Sets = {} if self.total is None else self.total._known()  # noqa: SLF001 # its own
        n_values = len(next(iter(total.values()))[0]) if total else len(self)
        replicates = self.replicates.reshape(n_values, -1, self.n_resamples)
        errors = self._own.get("replicate_standard_errors")
        own = self.estimates.reshape(n_values, -1), joined(replicates, errors)
        return {**total, "slices" if total else "total": own}

    @property
    def n_resamples(self) -> int:
        """Number of replicates."""
        return int(self.replicates.shape[1])

    @property
    def seed(self) -> int:
        """``rng=seed`` reproduces the replicates."""
        return int(self._common["seed"])

    @cached_property
    def estimates(self) -> Floats:
        """Observed values, shape (n_results,)."""
        return _read_only(np.array(self._own["estimate"], dtype=np.float64))

    @cached_property
    def n_undefined(self) -> NDArray[np.int64]:
        """Number of undefined replicates, shape (n_results,)."""
        return _read_only(np.isnan(self.replicates).sum(axis=1))

    @cached_property
    def standard_errors(self) -> Floats:
        """Standard deviations of the replicates, shape (n_results,)."""
        whole = np.flatnonzero(self.n_undefined == 0)
        return self._of_rows(
            whole,
            lambda _, defined: intervals.standard_errors(defined),
            lambda result: result.standard_error,
            (),
        )

    @cached_property
    def confidence_intervals(self) -> Floats:
        """Limits, shape (n_results, 2)."""
        level, method, alternative = self._interval
        tails = intervals.tails_of(level, alternative)
        whole = np.flatnonzero((self.n_undefined == 0) & ~np.isnan(self.estimates))
        return self._of_rows(
            # Their levels, or t, differ from row to row.
            whole[:0] if method in {"bca", "studentized"} else whole,
            lambda rows, defined: np.stack(
                intervals.limits(defined, self.estimates[rows], tails, method, alternative), axis=1
            ),
            lambda result: result.confidence_interval[:2],
            (2,),
        )

    @property
    def pvalues(self) -> Floats:
        """P-values, shape (n_results,), not adjusted for their number.

        Raises
        ------
        AttributeError
            The results are no tests.
        """
        if not hasattr(self._kind, "pvalue"):
            raise AttributeError(
                f"a table of {self._kind.__name__} has no p-values; compare two systems, "
                "such as with paired_bootstrap"
            )
        return self._pvalues

    @cached_property
    def _pvalues(self) -> Floats:
        results: Iterator[Any] = iter(self.values())
        return _read_only(np.array([result.pvalue for result in results]))

    @property
    def _interval(self) -> tuple[float, str, str]:
        """Confidence level, method and alternative asked for."""
        common = self._common
        return common["confidence_level"], common["method"], common["alternative"]

    def _of_rows(
        self,
        whole: NDArray[np.intp],
        of_replicates: Callable[[NDArray[np.intp], Floats], Floats],
        of_result: Callable[[R], Any],
        shape: tuple[int, ...],
    ) -> Floats:
        """Return a figure of every result: of whole rows some at a time, of others one by one."""
        out = np.empty((len(self), *shape))
        step = max(1, _CHUNK // self.n_resamples)
        for start in range(0, whole.size, step):
            rows = whole[start : start + step]
            out[rows] = of_replicates(rows, self.replicates[rows])
        for place in np.setdiff1d(np.arange(len(self)), whole):
            out[place] = of_result(self[self._keys[place]])
        return _read_only(out)

    def covariance(self) -> Floats:
        """Return the covariance of the values over the replicates, shape (n_results, n_results).

        With ddof = 1; of each two values over the replicates in which both are defined, NaN for
        fewer than two of these. Slices are resampled independently of each other.

        Examples
        --------
        >>> import fastboot as fb
        >>> table = fb.bootstrap({"x": [3, 1, 2, 4], "-x": [-3, -1, -2, -4]}, rng=0)
        >>> bool(table.covariance()[0, 1] == -table.covariance()[0, 0])
        True
        """
        there = ~np.isnan(self.replicates)
        first = self.replicates[np.arange(len(self)), there.argmax(axis=1)]
        with np.errstate(all="ignore"):
            # Deviations from a replicate: constant values have none, whatever their size.
            moved = np.where(there, self.replicates - first[:, None], 0.0)
            mean = moved.sum(axis=1) / there.sum(axis=1)
            centred = np.where(there, moved - mean[:, None], 0.0)
            counted = there.astype(np.float64)
            pairs, sums = counted @ counted.T, centred @ counted.T
            covariance: Floats = (centred @ centred.T - sums * sums.T / pairs) / (pairs - 1.0)
        return np.where(pairs > 1.0, covariance, np.nan)

    @cached_property
    def notes(self) -> dict[str, tuple[Any, ...]]:
        """What a reader should know: sentences, each with the keys of the results it is about."""
        found: dict[str, list[Any]] = {}
        for key, result in self.items():
            for note in result.notes:
                found.setdefault(note, []).append(key)
        return {note: tuple(keys) for note, keys in found.items()}

    def to_columns(self) -> dict[str, list[Any]]:
        """Return one list for each column of the table: what a data frame is made of.

        The parts of the keys, then the figures of the results; `total` is not among them. A slice
        column that is called like a figure gets "by_" before its name.

        Examples
        --------
        >>> import fastboot as fb
        >>> table = fb.bootstrap([3, 1, 2, 4], by=["x", "y", "x", "y"], rng=0)
        >>> table.to_columns()["estimate"]
        [2.5, 2.5]
        """
        figures = {name: self._figures(name) for name in self[self._keys[0]].to_figures()}
        return self._labels(map(self.parts, self._keys), figures) | figures

    def _labels(
        self, parts: Iterable[tuple[Any, ...]], figures: Iterable[str]
    ) -> dict[str, list[Any]]:
        """Return the parts of keys as columns, none of them called like a figure."""
        axes = [f"by_{axis}" if axis in figures else axis for axis in self.axes]
        return dict(zip(axes, map(list, zip(*parts, strict=True)), strict=True))

    def _figures(self, name: str) -> list[Any]:
        if name in self._own:
            return list(self._own[name])
        if name in {"low", "high"}:
            figures: NDArray[Any] = self.confidence_intervals[:, int(name == "high")]
        else:
            plural = {"n_undefined": "n_undefined"}.get(name, f"{name}s")
            figures = getattr(self, plural)
        listed: list[Any] = figures.tolist()
        return listed

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        columns = self.to_columns()
        level, method, alternative = self._interval
        return {
            "kind": "Table",
            "of": self._kind.__name__,
            "axes": list(self.axes),
            "rows": [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
            "total": None if self.total is None else self.total.to_dict(),
            "n_resamples": self.n_resamples,
            "confidence_level": level,
            "method": method,
            "alternative": alternative,
            "unit": self._common["unit"],
            "n_dropped": self._common["n_dropped"],
            "seed": self.seed,
            "path": self._common["path"],
            "signature": self.signature(),
            "notes": [{"note": note, "keys": list(keys)} for note, keys in self.notes.items()],
            "elapsed": self.elapsed,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def summary(self) -> str:
        """Return a paragraph for a paper: the first 20 estimates, and how they were made.

        Examples
        --------
        >>> import fastboot as fb
        >>> fb.bootstrap({"x": [3, 1, 2, 4]}, rng=0).summary()
        'x 2.5 [1.5, 3.5] (95% percentile bootstrap interval, 4 rows, 9,999 resamples, seed 0).'
        """
        said = clauses(self)
        if self.total is not None:
            whole: Any = shown_results(self.total, 1)[0][1]
            exact = "exact, " if getattr(whole, "exact", False) else ""
            rows = f"{exact}{whole._units_words()}"  # noqa: SLF001 # a table speaks for its results
            said.append(f"all rows ({rows}): {'; '.join(clauses(self.total))}")
        return f"{'; '.join(said)} ({self._how()})."

    def _how(self) -> str:
        """Return how all figures were made."""
        # A table speaks for its results.
        first: Any = self[self._keys[0]]
        made = [first._interval_name(self._interval[1], "s"[: len(self) - 1])]  # noqa: SLF001
        if hasattr(first, "pvalue"):
            tests = "" if len(self) == 1 else f", not adjusted for {len(self):,} tests"
            rule = f"{first._sided_test()} p = {first._rule_words()}"  # noqa: SLF001
            made = ["differences a - b", *made, f"{rule}{tests}"]
        units = first._units_words() if self.total is None else "each slice resampled on its own"  # noqa: SLF001
        run = first._run_words(int(self.n_undefined.sum()))  # noqa: SLF001
        return ", ".join([*made, units, *run])

    def signature(self) -> str:
        """Return one line to quote beside the table; see :meth:`Result.signature`.

        Where statistics differ, all are named.

        Examples
        --------
        >>> import fastboot as fb
        >>> table = fb.bootstrap({"x": fb.mean([1, 2]), "y": fb.total([1, 2])}, rng=0)
        >>> table.signature().split("|")[2]
        'statistic:[mean([1,2]),total([1,2])]'
        """
        # A table speaks for its results.
        parts = self[self._keys[0]]._signature()  # noqa: SLF001
        if self.total is not None:
            parts |= shown_results(self.total, 1)[0][1]._sizes()  # noqa: SLF001
        values: dict[str, dict[str, None]] = {}
        for asked in self._own["asked"]:
            for key, value in asked:
                values.setdefault(key, {})[value] = None
        for key, found in values.items():
            parts[key] = next(iter(found)) if len(found) == 1 else f"[{','.join(found)}]"
        # The data say what labels and slices there are.
        return signature_line(
            {key: value for key, value in parts.items() if key not in {"label", "slice"}}
        )

    def _caption(self) -> str:
        sided = "" if self._interval[2] == "two-sided" else "one-sided "
        size = f"{count(len(self), 'result')}, {sided}{interval_name(*self._interval[:2])}s"
        return (
            f"{self._kind.__name__} table: {size}, {self.n_resamples:,} resamples, seed {self.seed}"
        )

    def _long_caption(self) -> str:
        made = self._how()
        return f"{made[0].upper()}{made[1:]}."

    @property
    def _n_labels(self) -> int:
        return len(self.axes)

    def _first_rows(self, most: int) -> tuple[dict[str, list[Any]], int]:
        return self._rows(shown_results(self, most)), max(0, len(self) - most)

    def _rows(self, lines: Sequence[tuple[tuple[Any, ...], Any]]) -> dict[str, list[Any]]:
        """Return columns of some results only, which are looked up."""
        shown = [result.to_figures() for _, result in lines]
        figures = {name: [one[name] for one in shown] for name in shown[0]}
        return self._labels((parts for parts, _ in lines), figures) | figures

    def _below(self, most: int | None) -> dict[str, list[Any]]:
        if self.total is None:
            return {}
        width = len(self.axes)
        return self._rows(
            [
                ((*parts, "all rows", *[None] * width)[:width], result)
                for parts, result in shown_results(self.total, most)
            ]
        )

    def _note_lines(self) -> list[str]:
        notes = note_lines(self.notes, len(self))
        if len(notes) > _SHOWN_NOTES:
            notes[_SHOWN_NOTES:] = [f"{len(notes) - _SHOWN_NOTES:,} more in .notes"]
        return notes


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array
