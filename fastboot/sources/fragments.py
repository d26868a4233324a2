"""A fragment: part of a source that can be read alone.

Those of files are small and frozen and can be pickled: they say where rows are. Each format has its
own room and tells only how to get at raw batches; here these become what all fragments promise:
at most `BLOCK` rows at a time, plain columns, the rows that `where=` keeps, and errors that say
which part of which file cannot be read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastboot.blocks import BLOCK
from fastboot.sources.filters import Filter
from fastboot.sources.kinds import plain
from fastboot.sources.messages import ERRORS, Errors, reading

__all__ = ["Fragment", "Opened", "Query", "runs"]


@dataclass(frozen=True, eq=False)
class Fragment(ABC):
    """Rows that can be read alone.

    Attributes
    ----------
    shown
        What messages call it: "'runs/a.parquet', row group 3".
    where
        Which rows count, None for all.
    n_rows
        All its rows, before the filter; None where the file does not say.
    n_bytes
        What reading it takes from its file, as far as that says; None where there is none.
    """

    shown: str
    where: Filter | None
    n_rows: int | None
    n_bytes: int | None

    @property
    def subject(self) -> str:
        """Begins a sentence about it."""
        return f"data={self.shown}"

    @property
    def filtered(self) -> bool:
        """Whether `where` may leave rows out."""
        return self.where is not None

    def narrowed(self, wanted: Sequence[str]) -> Fragment:
        """Return it with the bytes that columns take, and those that `where` looks at."""
        return self._sized([*wanted, *([] if self.where is None else self.where.types)])

    def __getstate__(self) -> dict[str, Any]:
        """Travel light: what every column takes stays here."""
        return {name: value for name, value in vars(self).items() if name != "columns"}

    def _sized(self, columns: list[str]) -> Fragment:  # noqa: ARG002 - few files say what a column takes
        return self

    def batches(self, wanted: Sequence[str]) -> Generator[Any]:
        """Yield the rows that count, in order, as Arrow record batches.

        Nothing is held but the batch at hand, and nothing is open once the iterator is at its end,
        closed or gone.

        Parameters
        ----------
        wanted
            Names of columns, in the order that batches shall have.

        Raises
        ------
        ValueError
            It cannot be read, or has no such column.
        FileNotFoundError
            The file has gone.
        """
        wanted = list(wanted)
        filtering = [] if self.where is None else list(self.where.types)
        needed = list(dict.fromkeys(wanted + filtering))
        with reading(self.subject, self._errors), closing(self._read(needed)) as read:
            for whole in read:
                for start in range(0, whole.num_rows, BLOCK):
                    batch = plain(whole.slice(start, BLOCK), needed)
                    if self.where is not None:
                        batch = self.where.kept(batch)
                    if batch.num_rows:
                        yield batch.select(wanted)

    @property
    def _errors(self) -> Errors:
        return ERRORS

    @abstractmethod
    def _read(self, columns: list[str]) -> Generator[Any]:
        """Yield record batches with these columns at least."""


@dataclass(frozen=True, eq=False)
class Query(Fragment):
    """Rows that can only be read from the first to the last, and in this process."""

    @property
    def subject(self) -> str:
        """Begins a sentence about it."""
        return "`data`"


class Opened(NamedTuple):
    """A file or a query whose columns are known.

    subject : begins a sentence about it
    schema : Arrow schema; of text, as far as its first rows tell
    is_final : the schema is that of all rows, and not a first guess
    cut : from a filter to the fragments
    files : of this machine that it lies in
    is_whole : the schema has all columns, whatever their types, and all rows have these
    unseen : where names of columns were not looked for and what to do, for a message
    """

    subject: str
    schema: Any
    is_final: bool
    cut: Callable[[Filter | None], Sequence[Fragment]]
    files: tuple[str, ...] = ()
    is_whole: bool = True
    unseen: str = ""


def runs(numbers: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Join consecutive numbers while their sizes are `BLOCK` or less together.

    A file of many small parts would be opened for each.

    Examples
    --------
    >>> list(runs([0, 1, 2, 4], [10, 65_000, 65_000, 10]))
    [[0, 1], [2], [4]]
    """
    run: list[int] = []
    total = 0
    for number, size in zip(numbers, sizes, strict=True):
        if run and (number != run[-1] + 1 or total + size > BLOCK):
            yield run
            run, total = [], 0
        run.append(number)
        total += size
    if run:
        yield run
