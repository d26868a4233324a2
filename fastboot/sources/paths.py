"""Which files `data` means: one, those of a folder, those that match a pattern, or a list."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from fastboot.sources.replicate_files import FILE_NAME

__all__ = ["Format", "files_of", "format_of", "is_one_file", "keyed_by", "state_of"]

Format = Literal["parquet", "arrow", "csv", "tsv", "json"]

_FORMATS: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_BINARY = ("parquet", "arrow")
_SUFFIXES = f"{', '.join(_FORMATS)} (text also as .gz)"
_COMPRESSED = (".gz", ".bz2", ".zst", ".xz", ".lz4", ".br", ".zip")
# "s3://", which a Path shortens to "s3:/"; one letter would be a disk of Windows.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_one_file(data: object) -> bool:
    """Tell whether `data` is the path of one file, that is there or not, as it stands."""
    if not isinstance(data, str | os.PathLike):
        return False
    path = os.fsdecode(data)
    is_path = path and path == _at_home(path) and not _is_address(path)
    return bool(is_path) and not Path(path).is_dir() and not _is_pattern(path)


def format_of(path: str) -> Format:
    """Return how a file is read, by its suffix.

    Raises
    ------
    ValueError
        The suffix is not known.
    """
    known = _known(path)
    if known is None:
        raise ValueError(
            f"data={path!r} has no suffix that fastboot reads; there are: {_SUFFIXES}."
        )
    return known


def state_of(path: str) -> tuple[int, int] | None:
    """Return what changes when a file is written to, its size and time; None if there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def files_of(data: Any) -> list[str] | None:
    """Return the files that `data` means, in the order of their rows; None where it is no path.

    Parameters
    ----------
    data
        A path: of a file, of a folder (its files of known suffix and those of the folders in it,
        sorted; names that start with a dot or an underscore are left out, and the files of a
        checkpoint), or a pattern such as
        ``"runs/**/*.parquet"`` (files that match or are in folders that match, chosen and sorted
        as those of a folder; a name may start with a dot or an underscore where the pattern spells
        it so, as in ``"runs/_*.parquet"``). Or a list of paths. ``~`` is the user's home.

    Raises
    ------
    FileNotFoundError
        There is no such file, or none in the folder, or none that matches.
    ValueError
        A path is empty, a file is named twice, has an unknown suffix, is compressed as fastboot
        does not read it, or files are of several formats; or a path is an address such as
        ``"s3://runs"``.
    """
    if isinstance(data, str | os.PathLike):
        files = _found(os.fsdecode(data))
    elif isinstance(data, list | tuple) and all(isinstance(one, str | os.PathLike) for one in data):
        files = [file for one in data for file in _found(os.fsdecode(one))]
        if not files:
            raise FileNotFoundError(f"data={data!r} names no file; give at least one.")
    else:
        return None
    _check_one_format(files)
    _check_once(files)
    return files


def keyed_by(name: str, files: Iterable[str]) -> tuple[str, str] | None:
    """Return a folder above folders that name a value, as ``split=test`` does, and one of these.

    Examples
    --------
    >>> keyed_by("split", ["runs/lang=de/split=test/x.parquet"])
    ('runs', 'split=test')
    """
    for file in files:
        folders = Path(file).parts[:-1]
        for place, folder in enumerate(folders):
            if folder.startswith(f"{name}="):
                above = folders[:place]
                while above and "=" in above[-1]:
                    above = above[:-1]
                return str(Path(*above)), folder
    return None


def _found(path: str) -> list[str]:
    if not path:  # which pathlib takes for the working directory
        raise ValueError(
            "`data` has an empty path; give that of a file or a folder, '.' for the working "
            "directory."
        )
    path = _at_home(path)
    if _is_address(path):
        address = path if "://" in path else path.replace(":/", "://", 1)
        raise ValueError(
            f"data={path!r} is an address, and fastboot reads paths; open it and give that: "
            f"pyarrow.dataset.dataset({address!r}, format=...). What pyarrow cannot open, download."
        )
    if Path(path).is_dir():
        return _in_folder(path)
    if _is_pattern(path):
        return _matching(path)
    format_of(path)
    if not Path(path).exists():
        raise FileNotFoundError(f"data={path!r}: there is no such file.")
    return [path]


def _at_home(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 - Path's own fails where there is no such user


def _is_address(path: str) -> bool:
    return _ADDRESS.match(path) is not None and not Path(path).exists()


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not Path(path).exists()


def _in_folder(folder: str) -> list[str]:
    files = _chosen(_below(folder), folder)
    if not files:
        raise FileNotFoundError(
            f"data={folder!r}: there is no file in this folder that fastboot reads: {_SUFFIXES}."
        )
    return files


def _matching(pattern: str) -> list[str]:
    found: set[str] = set()  # `**` may match a folder, and again what is in it
    for path in glob.glob(pattern, recursive=True):  # noqa: PTH207 - of Path, glob takes no absolute pattern
        if not _is_left_out(path, pattern):
            found.update(_below(path) if Path(path).is_dir() else [str(Path(path))])
    files = _chosen(found, pattern)
    if not files:
        raise FileNotFoundError(
            f"data={pattern!r}: no file matches that fastboot reads: {_SUFFIXES}."
        )
    return files


def _below(folder: str) -> list[str]:
    """Return the files in a folder and in those in it, but not the hidden ones."""
    files = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        files += [str(Path(place, name)) for name in names if not _is_hidden(name)]
    return files


def _is_left_out(path: str, pattern: str) -> bool:
    """Tell whether a match is hidden, by its name or a folder's, and the pattern spells no such."""
    parts = Path(pattern).parts
    n_fixed = [glob.has_magic(part) for part in parts].index(True)
    spelt = [part for part in parts if _is_hidden(part)]
    return any(
        _is_hidden(name) and not any(fnmatch.fnmatch(name, part) for part in spelt)
        for name in Path(path).parts[n_fixed:]
    )


def _chosen(files: Iterable[str], data: str) -> list[str]:
    """Return the files of known suffix, folder by folder: ``a/z`` before ``a-b/c``."""
    files = sorted(files, key=lambda file: Path(file).parts)
    for file in files:
        if _known(file) is None and _is_compressed(file):
            raise ValueError(
                f"data={data!r} means {file!r} too, compressed as fastboot does not read it; "
                "decompress or convert it, or name the files that count in a list."
            )
    return list(filter(_known, files))


def _is_compressed(path: str) -> bool:
    """Tell whether a file is of a known format but for a further suffix."""
    name = Path(path.lower())
    return name.suffix in _COMPRESSED and Path(name.stem).suffix in _FORMATS


def _is_hidden(name: str) -> bool:
    # The underscore marks what is no data in folders that Spark and its like write.
    # Replicates are a checkpoint's, beside the data that they are of.
    return name.startswith((".", "_")) or FILE_NAME.fullmatch(name) is not None


def _known(path: str) -> Format | None:
    text = path.lower().removesuffix(".gz")
    known = _FORMATS.get(Path(text).suffix)
    return None if known in _BINARY and text != path.lower() else known


def _check_one_format(files: list[str]) -> None:
    for file in files[1:]:
        if _known(file) != _known(files[0]):
            raise ValueError(
                f"data means files of two formats, {files[0]!r} and {file!r}; give files of one "
                "format, by a pattern such as 'runs/*.parquet' or as a list."
            )


def _check_once(files: list[str]) -> None:
    seen: set[str] = set()
    for file in files:
        real = os.path.realpath(file)
        if real in seen:
            raise ValueError(f"data names the file {file!r} twice; its rows would count twice.")
        seen.add(real)
