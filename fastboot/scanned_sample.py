"""Rows that are read block by block, bound to statistics: a sample that is never in memory.

A source is read once to find the totals and the units: sums of groups, distinct rows with their
counts, or nothing but the number of rows, which are then read again as they are drawn. Statistics
that must know the table first (its classes, where its numbers lie) have it summarised in a reading
before that. A term is only a name here (:mod:`fastboot.scanned`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastboot.blocks import BLOCK
from fastboot.calls import words
from fastboot.columns import Column
from fastboot.designs import Arrangement, Design, Slices
from fastboot.extents import Extent, Reading
from fastboot.grouping import Merge
from fastboot.learning import Learned, learn
from fastboot.passes import Dispatch, Scan, share_of
from fastboot.row_terms import DifferingUnits, ReadUnits, RowTerms
from fastboot.sample import Sample, measured_alike
from fastboot.scanned import Scanned, evaluated
from fastboot.statistics.additive import Additive, Tally, Term
from fastboot.statistics.base import Statistic
from fastboot.statistics.bound import Bound, bind, rehearse
from fastboot.statistics.estimand import Estimand, Question, estimand, moves, same
from fastboot.survey import Findings, Survey, Wanted, compile_kernels, tabulated
from fastboot.surveyed_units import KnownSums, SurveyedUnits, key_of_term, of_table, units_of_survey
from fastboot.tabulation import Tabulation
from fastboot.units import Constants, Units

__all__ = ["ScannedSample", "scan"]

Floats = NDArray[np.float64]

# What a tally of arrays has for values where there are no arrays: not one number.
_MANY = np.empty(0)
Questions = Callable[[Sequence[Bound]], list[Question]]


class _Named(NamedTuple):
    """The terms of all statistics by name.

    bounds : the statistics with these terms
    raw : names of all terms in order, a number for one that is constant
    equal : pairs of places that are one
    """

    bounds: tuple[Bound, ...]
    raw: tuple[Any, ...]
    equal: frozenset[tuple[int, int]]

    @classmethod
    def of(
        cls,
        statistics: Sequence[Additive],
        block: Sequence[Sequence[Term]],
        equal: frozenset[tuple[int, int]],
    ) -> _Named:
        """Name terms like these, of one block; equal ones have the name of the first."""
        own = list(chain(*block))
        first = list(range(len(own)))
        for i, j in sorted(equal):
            first[j] = min(first[j], first[i])
        raw = [_name(term, first[place]) for place, term in enumerate(own)]
        remaining = iter(raw)
        bounds = tuple(
            Bound(one, (), [next(remaining) for _ in some], missing=False)
            for one, some in zip(statistics, block, strict=False)  # weights come last
        )
        return cls(bounds, tuple(raw), equal)


def _name(term: Term, place: int) -> Any:
    if isinstance(term, Tally):
        one = term.values if np.ndim(term.values) == 0 else _MANY
        return Tally(Scanned(place), term.size, one)  # type: ignore[arg-type] # a name for codes
    return Scanned(place) if isinstance(term, np.ndarray) else term


@dataclass(frozen=True, eq=False)
class ScannedSample(Sample):
    """A sample whose rows are read when they are needed.

    Attributes
    ----------
    target, change
        What is estimated, and what swaps change, None without.
    units
        Of the terms of `change`, or of `target`.
    shape
        Of the terms of `target`, for what rounding can do.
    table, n_differing
        Distinct rows of `change`, None for too many, and rows in which it is not 0.
    differing
        How many of these are in each block, shape (n_blocks,); None if that is not known.
    """

    scan: Scan = field(kw_only=True)
    terms: RowTerms = field(kw_only=True)
    target: Estimand = field(kw_only=True)
    change: Estimand | None = field(kw_only=True)
    units: Units = field(kw_only=True)
    shape: Units = field(kw_only=True)
    table: Tabulation | None = field(kw_only=True)
    n_differing: int = field(kw_only=True)
    differing: NDArray[np.int64] | None = field(kw_only=True)
    known: KnownSums = field(kw_only=True)
    wanted: Wanted = field(kw_only=True)
    sum_of_weights: float | None = field(kw_only=True)

    @property
    def weighed(self) -> tuple[float, int] | None:
        """Sum of the weights of the rows, and rows; None without weights, or where all are 0 or 1.

        How many have none is not known: the fewer rows count, the more is left unsaid.
        """
        return None if self.sum_of_weights is None else (self.sum_of_weights, self.n_rows)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the sample."""
        n = self.scan.n_passes
        again = f"`data` was read {n} times, block by block, and never held in memory"
        return (*super().remarks, *([again] if n > 1 else []))

    def totals(self, terms: Sequence[Any], cells: Slices | None = None) -> list[Any]:  # noqa: ARG002 - there are no slices
        """Sum of every term over all rows, shape (1,) or (size, 1)."""
        return [self.known.total(term) for term in terms]

    def estimand(self, questions: Sequence[Question], cells: Slices | None = None) -> Any:  # noqa: ARG002 - as totals
        """Put questions together."""
        return estimand(questions, self.n_rows, (self.known.size, self.known.coarseness))

    def is_binary(self, term: Any) -> bool:
        """Tell whether a term is 0 or 1 in every row."""
        return isinstance(term, Scanned) and self.known.binary[term]

    def arrange(self, cells: Slices | None = None) -> Arrangement:  # noqa: ARG002 - as totals
        """Number the units."""
        layout = self.units.layout
        return Arrangement(layout, layout, np.array([layout.n_units]))

    def classes(self, terms: Sequence[Any], constants: Constants, table: Tabulation) -> Units:
        """Return the classes of distinct rows, of the terms that were tabulated."""
        return of_table(terms, constants, self.wanted, table, int(table.counts.sum()))

    def blocks(self, n_workers: int, *, sent: bool) -> Generator[ReadUnits, None, None]:
        """Yield the units, extent by extent, to be read where they are drawn; see `Scan.shares`."""
        self.scan.n_passes += 1
        with closing(self.scan.shares(n_workers, sent=sent)) as extents:
            for extent in extents:
                yield self._units(extent)

    def differing_blocks(
        self, n_workers: int, *, sent: bool
    ) -> Generator[DifferingUnits, None, None] | None:
        """Return the rows that differ, to be read where they are swapped.

        None where it is not known in which blocks they lie, or these are to be read here.
        """
        if self.differing is None:
            return None
        ends = np.cumsum(self.differing)
        starts = range(0, self.n_differing, share_of(self.n_differing, n_workers) * BLOCK)
        stops = [*starts[1:], self.n_differing]
        # Of the first and the last row that differs, the block in which it lies.
        first = np.searchsorted(ends, starts, side="right")
        last = np.searchsorted(ends, stops, side="left")
        spans = list(zip(first.tolist(), (last + 1).tolist(), strict=True))
        extents = self.scan.spans(spans, sent=sent)
        if extents is None:
            return None
        self.scan.n_passes += 1
        before = np.concatenate([[0], ends])[first].tolist()
        return (
            DifferingUnits(start // BLOCK, self._units(extent), start - skipped, stop - start)
            for extent, start, stop, skipped in zip(extents, starts, stops, before, strict=True)
        )

    def _units(self, extent: Extent) -> ReadUnits:
        assert isinstance(self.units, SurveyedUnits)
        drawn = tuple((self.change or self.target).terms)
        return ReadUnits(self.scan.reading, extent, self.terms, drawn, self.units.constants)


def scan(
    statistics: Sequence[Statistic],
    source: Any,
    design: Design,
    *,
    weights: Any,
    alike: Sequence[Sequence[int]],
    mixed: bool,
    omit: bool,
    questions: Questions,
    dispatch: Dispatch,
    report: Callable[[int], object],
    digested: bool,
) -> ScannedSample | None:
    """Read a source and return the sample; None where it should be loaded instead.

    That is where it has less than a block of rows, or a tally is to be swapped.

    Parameters
    ----------
    statistics
        Additive ones that need no more than summaries of the table.
    source
        See :mod:`fastboot.sources`.
    design
        Of rows or one column of groups.
    weights, alike, mixed
        As in :func:`fastboot.sample.take`.
    omit
        Drop rows with a missing value.
    questions
        From statistics to what is asked of them.
    dispatch
        Runs tasks and returns their results in order.
    report
        Told how many bytes were read so far.
    digested
        Tell the rows from others by a digest.
    """
    columns = [column for one in statistics for column in one.columns]
    own = [] if weights is None else [Column(weights, "number", "weights")]
    keys = next(iter(design.columns), None)
    scanned = Scan(source, Reading((*columns, *own), keys, omit), dispatch, report)
    if scanned.n_rows is not None and scanned.n_rows < BLOCK:
        return None
    compile_kernels(grouped=keys is not None)
    learned = learn(scanned, statistics)
    if scanned.n_rows == 0:  # said where rows are loaded
        return None
    terms = RowTerms(_bound(statistics, learned.columns, alike, mixed=mixed), bool(own))
    block, learned = _some_terms(scanned, terms, learned)
    if block is None or (scanned.n_rows is not None and scanned.n_rows < BLOCK):
        return None
    if mixed and any(isinstance(term, Tally) for term in chain(*block)):
        return None
    for one, some in zip(terms.statistics, block, strict=False):
        rehearse(one, some)
    equal = _equal(list(chain(*block)))
    while True:
        named = _Named.of(terms.statistics, block, equal)
        wanted = _Plan.of(named, questions, {}, mixed=mixed).wanted(block, digested=digested)
        found, merge = _surveyed(scanned, terms, wanted, learned)
        if found.equal == equal:
            break
        equal = found.equal  # what seemed equal in the first block is not
    scanned.check_unchanged()
    names = wanted.names(found.alike)
    plan = _Plan.of(named, questions, names, mixed=mixed)
    known = KnownSums(wanted, found)
    if weights is not None and not known.size(named.raw[-1]):
        raise ValueError("`weights` are all 0; at least one row must count")
    plan.known.append(known)
    groups = None if merge is None else merge.finish()
    shape = units_of_survey(plan.target, wanted, found, groups, known)
    units = shape
    if plan.change is not None:
        units = units_of_survey(plan.change, wanted, found, groups, known, drawn_vary=True)
    return ScannedSample(
        named.bounds, found.n_rows, scanned.n_dropped, None, None, design, (),
        weights="" if weights is None else words(weights),
        digest=np.frombuffer("".join(found.digests).encode(), np.uint8) if digested else None,
        scan=scanned, terms=terms, change=plan.change, known=known, wanted=wanted,
        target=estimand(
            questions(named.bounds), found.n_rows, (known.size, known.coarseness), names
        ),
        shape=shape, units=units, table=found.table,
        n_differing=found.n_rows if plan.moves_all else found.n_differing,
        differing=np.array(found.differing) if found.differing and not plan.moves_all else None,
        sum_of_weights=_sum_of_weights(known, named.raw[-1]) if own else None,
    )  # fmt: skip


def _sum_of_weights(known: KnownSums, weights: Any) -> float | None:
    """Return the sum of the weights; None where they only choose rows."""
    return None if known.binary.get(weights, False) else known.size(weights)


def _bound(
    statistics: Sequence[Statistic],
    columns: Sequence[Any],
    alike: Sequence[Sequence[int]],
    *,
    mixed: bool,
) -> tuple[Additive, ...]:
    """Return the statistics as they are for a table with these columns."""
    remaining = iter(columns)
    systems = [[next(remaining) for _ in one.columns] for one in statistics]
    together = measured_alike(statistics, alike, mixed=mixed)
    bound = []
    for one, others in zip(statistics, together, strict=True):
        known = bind(one, [systems[other] for other in others])
        assert isinstance(known, Additive)
        bound.append(known)
    return tuple(bound)


def _some_terms(
    scanned: Scan, terms: RowTerms, learned: Learned
) -> tuple[Sequence[Sequence[Term]] | None, Learned]:
    """Return the terms of the distinct rows, or of a block; None where there is less than one."""
    if learned.rows is not None:
        try:
            return terms.by_statistic(learned.rows), learned
        except (TypeError, ValueError):  # looked for where it lies: in all rows
            learned = learned._replace(rows=None, counts=None)
    return scanned.first_block(terms.by_statistic), learned


def _equal(terms: Sequence[Term]) -> frozenset[tuple[int, int]]:
    """Return the pairs of places of terms that are equal in a block."""
    arrays = [place for place, term in enumerate(terms) if not isinstance(term, float)]
    return frozenset((i, j) for i, j in combinations(arrays, 2) if same(terms[i], terms[j]))


class _Plan(NamedTuple):
    """What is asked of terms by name.

    named : the terms
    target, change : see `ScannedSample`
    known : what was found, once it is: `change` asks for totals
    """

    named: _Named
    target: Estimand
    change: Estimand | None
    known: list[KnownSums]

    @classmethod
    def of(
        cls, named: _Named, questions: Questions, names: Mapping[Scanned, Any], *, mixed: bool
    ) -> _Plan:
        """Put questions together; `names` as in `estimand`."""
        asked = questions(named.bounds)
        known: list[KnownSums] = []
        target = estimand(asked, 0, (lambda _: 0.0, lambda _: 1.0), names)
        change = None
        if mixed:
            change = moves(asked, lambda terms: [known[0].total(term) for term in terms], names)
        return cls(named, target, change, known)

    @property
    def moves_all(self) -> bool:
        """Whether each row differs: a number of one system is another of the other."""
        terms = () if self.change is None else self.change.terms
        return any(isinstance(term, float) and term != 0.0 for term in terms)

    def wanted(self, block: Sequence[Sequence[Term]], *, digested: bool) -> Wanted:
        """Return what a survey is to find out, of terms like these of one block."""
        target, change, raw = self.target, self.change, _read(self.named.raw)
        wanted = Wanted(
            summed=_read([*raw, *target.terms, *(() if change is None else change.terms)]),
            sized=_read(term for term in (*raw, *target.terms) if isinstance(term, Scanned)),
            drawn=_read((target if change is None else change).terms),
            beside=() if change is None else _read(target.terms),
            equal=tuple(sorted(self.named.equal)),
            alike=(),
            swapped=change is not None,
            digested=digested,
        )
        own = list(chain(*block))
        alike = _equal([evaluated(term, own) for term in wanted.arrays])
        return replace(wanted, alike=tuple(sorted(alike)))


def _read(terms: Iterable[Any]) -> tuple[Any, ...]:
    """Return the terms that are read, each once: no numbers."""
    return tuple(
        {key_of_term(term): term for term in terms if not isinstance(term, float)}.values()
    )


def _surveyed(
    scanned: Scan, terms: RowTerms, wanted: Wanted, learned: Learned
) -> tuple[Findings, Merge | None]:
    """Join the findings of all extents, in order; the sums of groups are merged as they come."""
    if learned.rows is not None and learned.counts is not None:
        found = tabulated(terms(learned.rows), learned.counts, wanted)
        if found is not None:
            return found, None
    whole: Findings | None = None
    merge: Merge | None = None
    surveys = scanned.each(lambda extent: Survey(scanned.reading, extent, terms, wanted))
    with closing(surveys):
        for part in surveys:
            if part.groups is not None:
                merge = merge or Merge()
                merge.add(part.groups)
                part.groups = None
            whole = part if whole is None else whole.join(part)
    assert whole is not None
    return whole, merge
