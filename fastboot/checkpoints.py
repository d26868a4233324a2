"""Finished replicates in a directory, so that a job that was killed resumes where it was.

`Checkpoint` keeps and finds replicates; `Digest` says in few characters which data they belong to.

The directory holds Parquet files (`fastboot.sources.replicate_files`), each of a range of
replicates that its name says, half-open: ``replicates-000000000-000004096.parquet``. A file appears
at once and whole, by a rename. It is deleted only after another that holds all of its replicates is
in place. So whenever a job is killed, and whatever other processes do in the directory, the files
together hold all that was stored; they may overlap, and then they agree.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastboot.sources import replicate_files
from fastboot.sources.replicate_files import FILE_NAME, Finished, Header

if sys.platform != "win32":
    import fcntl

__all__ = ["Checkpoint", "Digest", "check_path"]

Floats = NDArray[np.float64]
Found = TypeVar("Found")

# Opening a checkpoint reads a little of every file: 64 take 20 ms, or 0.13 s of 256 columns.
_MOST_FILES = 64
# Only a merge by another process at the very same moment asks for one more.
_ATTEMPTS = 10
_LEFTOVER = re.compile(r"\.replicates-\d+-\d+\.parquet\.[0-9a-f]{16}\.tmp")


class Checkpoint:
    """A directory of finished replicates of one run.

    Parameters
    ----------
    path
        The directory; it is created if absent, and ``~`` is the user's home. It must hold nothing
        else; hidden files, which systems put anywhere, do not count.
    identity
        What decides the replicates, by name: data, statistic, design, seed, version. The number of
        resamples is no part of it: a longer run resumes a shorter one.

    Raises
    ------
    TypeError
        `path` is not a path.
    ValueError
        `path` is empty, there is a file of this name, the directory holds other files, a file in it
        is damaged, or it belongs to another run.
    OSError
        The directory cannot be created or read.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp()
    >>> Checkpoint(path, {"seed": "17"}).store(range(2), [[[0.25, 0.75]]])
    >>> resumed = Checkpoint(path, {"seed": "17"})
    >>> resumed.finished()
    [(range(0, 2), array([[[0.25, 0.75]]]))]
    >>> resumed.missing(10)
    [range(2, 10)]
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"`checkpoint` is {path!r}; give the path of a directory")
        check_path(path)
        place = os.path.expanduser(os.fsdecode(path))  # noqa: PTH111 - as in sources.paths
        self._directory = Path(place).absolute()  # wherever the job goes
        self._identity = dict(identity)
        self._shape: tuple[int, int] | None = None
        self._known: set[range] = set()  # files that belong to this run
        self._undisturbed(self._open)

    def __str__(self) -> str:
        """Return the words that messages call this checkpoint by."""
        return f"checkpoint={str(self._directory)!r}"

    def finished(self) -> list[Finished]:
        """Return what is stored: disjoint ranges in ascending order.

        Returns
        -------
        list
            Pairs of a range and its values, shape (n_values, n_cells, n_replicates).

        Raises
        ------
        ValueError
            A file is damaged, belongs to another run, or contradicts another one.
        OSError
            A file cannot be read.
        """
        return self._undisturbed(lambda: list(self._joined(self._files())))

    def missing(self, n_resamples: int) -> list[range]:
        """Return what is not stored of the replicates from 0 to ``n_resamples - 1``.

        Raises
        ------
        ValueError, OSError
            As for `finished`.
        """
        gaps = []
        done = 0
        for file in [*self._undisturbed(self._files), range(n_resamples, n_resamples)]:
            start = min(file.start, n_resamples)
            if start > done:
                gaps.append(range(done, start))
            done = max(done, file.stop)
        return gaps

    def store(self, replicates: range, values: ArrayLike) -> None:
        """Keep replicates, durably: what this has returned from survives a kill.

        It waits for the disk, for milliseconds: store ranges that took longer to compute.

        Parameters
        ----------
        replicates
            The range.
        values
            Shape (n_values, n_cells, n_replicates).

        Raises
        ------
        ValueError
            The shape does not fit, or another run stores its replicates here.
        OSError
            The file cannot be written; what was stored before is whole.
        """
        kept = np.ascontiguousarray(values, np.float64)
        if replicates.step != 1 or replicates.start < 0:
            raise ValueError(f"`replicates` is {replicates}; give consecutive ones, from 0 on")
        if kept.ndim != 3 or kept.shape[2] != len(replicates):
            raise ValueError(
                f"`values` has shape {kept.shape}; for {replicates} it must be "
                f"(n_values, n_cells, {len(replicates)})"
            )
        if not replicates:
            return
        self._undisturbed(self._files)  # no other run has stored anything here
        shape = kept.shape[0], kept.shape[1]
        if self._shape not in {None, shape}:
            raise ValueError(
                f"`values` has shape {kept.shape}; in {self} (n_values, n_cells) is {self._shape}"
            )
        self._shape = shape
        self._undisturbed(lambda: self._write(replicates, [(replicates, kept)]))
        self._undisturbed(self._merge)

    def _open(self) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise ValueError(
                f"{self} is a file; give the path of a directory, which is created if absent"
            ) from None
        names = sorted(file.name for file in self._directory.iterdir())
        foreign = [name for name in names if not name.startswith(".") and _range(name) is None]
        if foreign:
            raise ValueError(
                f"{self} holds other files ({', '.join(foreign[:3])}); give a directory of its own"
            )
        self._files()
        for leftover in map(self._directory.joinpath, filter(_LEFTOVER.fullmatch, names)):
            # Gone meanwhile, or in a directory to read only.
            with contextlib.suppress(OSError), leftover.open("r+b") as file:
                if _lock(file):
                    leftover.unlink()

    def _undisturbed(self, step: Callable[[], Found]) -> Found:
        """Do a step, again if another process took a file away; say of an OSError where it was."""
        try:
            for _ in range(_ATTEMPTS - 1):
                with contextlib.suppress(FileNotFoundError):
                    return step()
            return step()
        except OSError as error:
            error.add_note(f"in {self}; what was stored there before is whole")
            raise

    # Reading.

    def _files(self) -> list[range]:
        """Return the ranges of all files, in order; each is known to belong to this run."""
        found = [_range(file.name) for file in self._directory.iterdir()]
        files = sorted((one for one in found if one is not None), key=_order)
        for replicates in files:
            if replicates not in self._known:
                with self._opened(replicates) as file:
                    header = replicate_files.read_header(file)
                self._check(header)
                self._known.add(replicates)
        return files

    def _joined(self, files: Iterable[range]) -> Iterator[Finished]:
        """Read files, in order; those that hold the same replicates must agree on them."""
        # The file that reaches furthest so far. The next starts no earlier: what it has in common
        # with any of them, it has in common with this one.
        furthest, known = range(0), np.empty((0, 0, 0))
        for replicates in files:
            with self._opened(replicates) as file:
                header, values = replicate_files.read(file, replicates)
            self._check(header)
            common = range(replicates.start, min(replicates.stop, furthest.stop))
            n_common = len(common)
            if n_common:
                start = common.start - furthest.start
                twice = known[:, :, start : start + n_common], values[:, :, :n_common]
                self._compare(common, (furthest, replicates), twice)
            if replicates.stop > furthest.stop:
                yield range(replicates.start + n_common, replicates.stop), values[:, :, n_common:]
                furthest, known = replicates, values

    @contextlib.contextmanager
    def _opened(self, replicates: range) -> Iterator[BinaryIO]:
        name = _name(replicates)
        try:
            with (self._directory / name).open("rb") as file:
                yield file
        except ValueError as error:
            raise ValueError(
                f"{self}: the file {name!r} is damaged: {error}; delete it, and its replicates "
                "will be computed again"
            ) from error

    def _check(self, header: Header) -> None:
        """Refuse replicates of another run."""
        shape = header.shape if self._shape is None else self._shape
        there = header.identity | {"shape of a replicate": f"{header.shape}"}
        here = self._identity | {"shape of a replicate": f"{shape}"}
        differing = [
            f"{name} is {_shown(there.get(name))} there and {_shown(here.get(name))} here"
            for name in dict.fromkeys([*here, *there])
            if there.get(name) != here.get(name)
        ]
        if differing:
            raise ValueError(
                f"{self} belongs to another run: {'; '.join(differing)}. Give another directory, "
                "or delete this one"
            )
        self._shape = shape

    def _compare(
        self, replicates: range, files: tuple[range, range], twice: tuple[Floats, Floats]
    ) -> None:
        first, second = twice
        # One NaN is as good as another; of numbers all bits count, the sign of 0 too.
        same = first.view(np.uint64) == second.view(np.uint64)
        same |= np.isnan(first) & np.isnan(second)
        if not same.all():
            value, cell, place = np.argwhere(~same)[0]
            raise ValueError(
                f"{self}: the files {_name(files[0])!r} and {_name(files[1])!r} contradict each "
                f"other in replicate {replicates[place]:,}: {first[value, cell, place]!s} and "
                f"{second[value, cell, place]!s}. Is the statistic random, or were they computed "
                "on different processors? Delete one of them"
            )

    # Writing.

    def _write(self, replicates: range, pieces: Iterable[Finished]) -> None:
        """Write a file, durably, under another name, and rename it."""
        assert self._shape is not None
        path = self._directory / _name(replicates)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        try:
            with temporary.open("xb") as file:
                _lock(file)
                replicate_files.write(file, pieces, Header(self._identity, self._shape))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        _sync(self._directory)
        self._known.add(replicates)

    def _merge(self) -> None:
        """Join neighbours until there are few files; the parts go after the whole is in place."""
        while len(files := self._files()) > _MOST_FILES and (parts := _cheapest(files)):
            whole = range(parts[0].start, max(part.stop for part in parts))
            self._write(whole, self._joined(parts))
            for part in parts:
                if part != whole:
                    (self._directory / _name(part)).unlink(missing_ok=True)


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuse an empty path, which would be the working directory."""
    if not os.fsdecode(path):
        raise ValueError(
            "`checkpoint` is an empty path; give that of a directory, '.' for the working directory"
        )


class Digest:
    """Tells arrays from other arrays by 32 characters, the same on any machine.

    They depend on types, shapes, order and every bit of the arrays; not on memory layout and byte
    order.

    Examples
    --------
    >>> digest = Digest()
    >>> digest.update([0.5, 1.0])
    >>> digest.update([1, 2])
    >>> digest.hexdigest()
    '9aba3785813ef14e7b8a772fa5e8f960'
    """

    def __init__(self) -> None:
        # 128 bits: no two data sets will ever share them by accident.
        self._hash = hashlib.blake2b(digest_size=16)

    def update(self, array: ArrayLike) -> None:
        """Add an array of numbers, strings of a fixed length, or times."""
        given = np.asarray(array)
        if given.dtype.hasobject:
            raise TypeError(f"a digest of {given.dtype} would be one of addresses in memory")
        little = given.astype(given.dtype.newbyteorder("<"), copy=False)
        # Type and shape say where the array ends, so no two sequences of arrays give one text.
        self._hash.update(f"{little.dtype.str}{little.shape}".encode())
        self._hash.update(np.ascontiguousarray(little).reshape(-1).view(np.uint8).data)

    def hexdigest(self) -> str:
        """Return the digest of all arrays so far."""
        return self._hash.hexdigest()


def _name(replicates: range) -> str:
    # Nine digits, so that lists of files are in order.
    return f"replicates-{replicates.start:09}-{replicates.stop:09}.parquet"


def _range(name: str) -> range | None:
    """Return the replicates of a file, or None for the name of another one."""
    match = FILE_NAME.fullmatch(name)
    if match is None:
        return None
    replicates = range(int(match[1]), int(match[2]))
    return replicates if replicates and _name(replicates) == name else None


def _order(replicates: range) -> tuple[int, int]:
    """Sort by the start, then the longest first, which holds the others."""
    return replicates.start, -replicates.stop


def _shown(fact: str | None) -> str:
    return "missing" if fact is None else fact or "empty"


def _cheapest(files: Sequence[range]) -> Sequence[range]:
    """Return the neighbours that are merged with the least to write for each file less.

    Small files are taken first and large ones seldom: of N stores each replicate is written again
    about log N / log 64 times. Empty where no files touch.
    """
    best, least = files[:0], float("inf")
    for first, file in enumerate(files):
        stop, size = file.stop, len(file)
        for last in range(first + 1, len(files)):
            if files[last].start > stop:
                break
            stop, size = max(stop, files[last].stop), size + len(files[last])
            if size / (last - first) < least:
                best, least = files[first : last + 1], size / (last - first)
    return best


def _lock(file: BinaryIO) -> bool:
    """Hold a file until it is closed or the process is killed; False if another process does."""
    if sys.platform != "win32":  # where nobody can remove an open file anyway
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks: who loses a file writes it again
            return True
    return True


def _sync(directory: Path) -> None:
    """Make a rename durable, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
