"""Answers about two independent samples: a difference, and how likely one as large is by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fastboot.paired_results import BootstrapComparison, NullComparison, Words
from fastboot.rendering import count
from fastboot.results import Result
from fastboot.sample import few_units

__all__ = ["PermutationResult", "UnpairedBootstrapResult"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _OfTwoSamples(Result):
    """What answers about two samples have.

    Attributes
    ----------
    n_rows_a, n_rows_b
        Rows used of each sample; `n_rows` is their sum.
    n_units_a, n_units_b
        Units of each sample: rows, or groups; `n_units` is their sum.
    """

    n_rows_a: int
    n_rows_b: int
    n_units_a: int
    n_units_b: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        smaller = min(self.n_units_a, self.n_units_b)
        # Where both together are few, this has been said.
        few = () if few_units(self.n_units, self.unit) else few_units(smaller, self.unit)
        return (*(f"in one sample {sentence}" for sentence in few), *super().notes)

    def to_dict(self) -> dict[str, Any]:
        """Return every figure except the replicates, as plain Python values."""
        return super().to_dict() | {
            "n_rows_a": self.n_rows_a,
            "n_rows_b": self.n_rows_b,
            "n_units_a": self.n_units_a,
            "n_units_b": self.n_units_b,
        }

    def _sizes(self) -> dict[str, int]:
        names = ("n_rows_a", "n_rows_b", "n_units_a", "n_units_b")
        return {name: getattr(self, name) for name in names}

    def _units_words(self) -> str:
        if self.unit == "row":
            return f"{count(self.n_units_a, 'row')} of a and {self.n_units_b:,} of b"
        return (
            f"{count(self.n_units_a, self.unit)} ({count(self.n_rows_a, 'row')}) of a and "
            f"{self.n_units_b:,} ({count(self.n_rows_b, 'row')}) of b"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnpairedBootstrapResult(_OfTwoSamples, BootstrapComparison):
    """Answer of :func:`fastboot.unpaired_bootstrap`.

    Attributes
    ----------
    n_rows_a, n_rows_b
        Rows used of each sample; `n_rows` is their sum.
    n_units_a, n_units_b
        Units of each sample: rows, or groups; `n_units` is their sum.
    """

    _procedure = "unpaired_bootstrap"

    def _test_name(self) -> str:
        return "two-sample bootstrap (shift)"

    def _unshown(self) -> str:
        for side, n_units in zip("ab", (self.n_units_a, self.n_units_b), strict=True):
            if n_units == 1:
                return f"a single {self.unit} in sample {side} says nothing about the uncertainty"
        return super()._unshown()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PermutationResult(_OfTwoSamples, NullComparison):
    """Answer of :func:`fastboot.permutation_test`.

    Attributes
    ----------
    n_rows_a, n_rows_b
        Rows used of each sample; `n_rows` is their sum.
    n_units_a, n_units_b
        Units of each sample: rows, or groups; `n_units` is their sum.
    n_relabellings
        Distinct relabellings, the product of C(units, units of a) over the strata; above 2**53
        rounded, inf beyond float64.
    balanced
        Whether every stratum has as many units of a as of b: then each relabelling has a mirror
        image with the opposite difference, and the smallest two-sided p-value is twice as large.
    """

    n_relabellings: float
    balanced: bool

    _procedure = "permutation_test"

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        undefined = [side for side in "ab" if math.isnan(getattr(self, f"estimate_{side}"))]
        if not undefined or not self._defined.size:
            return super().notes
        sentence = (
            f"sample {' and sample '.join(undefined)} as given is undefined (0 / 0), but not all "
            "relabelled ones: both samples are measured over the classes of both, and one that a "
            "sample lacks may have no value there"
        )
        return (*super().notes, sentence)

    def _unshown(self) -> str:
        # One beside several has a spread: labels are exchanged, so it is that of all.
        if self.n_units_a == self.n_units_b == 1:
            return f"a single {self.unit} in each sample says nothing about the uncertainty"
        return super()._unshown()

    @property
    def _words(self) -> Words:
        return Words("permutation", "permutation", "relabelling", "unpaired_bootstrap")

    def _fewest(self, alternative: str) -> float:
        sides = 2.0 if alternative == "two-sided" and self.balanced else 1.0
        return min(1.0, sides / self.n_relabellings)
