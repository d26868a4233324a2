"""Comparisons of many systems resume from checkpoints and are extended, bit for bit."""

from __future__ import annotations

import pickle
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastboot as fb

SEED = 20_262
N_ROWS = 400
SYSTEMS = ["small", "large", "huge"]
# Fewer than the first part of a run (64), and more.
SHORT, LONG = 50, 150

METRICS: dict[str, Any] = {
    "mean": fb.mean,
    "share of size": lambda column: fb.ratio(column, "size"),
}
SWAPS: dict[str, Any] = {"test": "randomization"}
PERMUTATIONS: dict[str, Any] = SWAPS | {"null": "permutations"}
CASES: dict[str, dict[str, Any]] = {
    "bootstrap": {},
    "max-T": {"correction": "max_t"},
    "slices": {"by": "split"},
    "groups": {"groups": "document"},
    "swaps": SWAPS,
    "swaps of groups, max-T": SWAPS | {"groups": "document", "correction": "max_t"},
    "swaps in slices": SWAPS | {"by": "split"},
    "permutations": PERMUTATIONS,
    "permutations in slices": PERMUTATIONS | {"by": "split"},
}


@cache
def table(n_rows: int = N_ROWS) -> pa.Table:
    """Three systems' scores, sizes, documents and splits."""
    rng = np.random.default_rng(SEED)
    scores = {name: rng.normal(0.1 * place, 1.0, n_rows) for place, name in enumerate(SYSTEMS)}
    more = {
        "size": rng.integers(1, 9, n_rows),
        "document": rng.integers(0, 60, n_rows),
        "split": rng.integers(0, 3, n_rows),
    }
    return pa.table(scores | more)


def asked(name: str, n_resamples: int, data: Any = None, **options: Any) -> fb.Comparison:
    """Ask."""
    own: dict[str, Any] = {"data": table() if data is None else data, "rng": SEED}
    return fb.compare(
        SYSTEMS, metrics=METRICS, n_resamples=n_resamples, **(own | CASES[name] | options)
    )


def figures(found: fb.Comparison) -> tuple[Any, ...]:
    """Return all that must be equal."""
    told = found.to_dict()
    del told["elapsed"]
    return repr(told), [board.replicates.tobytes() for board in found.boards]


@cache
def whole(name: str, n_resamples: int) -> tuple[Any, ...]:
    """Return the figures of a run in one go."""
    return figures(asked(name, n_resamples))


def stored(folder: Path) -> dict[str, int]:
    """Return how many parts each set of replicates has; "." where there is but one set."""
    found: dict[str, int] = {}
    for part in folder.rglob("*-*.parquet"):
        name = part.parent.relative_to(folder).as_posix()
        found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize("name", CASES)
def test_checkpoint(name: str, tmp_path: Path) -> None:
    """A longer run resumes a shorter one; a shorter one finds all that it asks for."""
    for n_resamples in (SHORT, LONG, SHORT):
        found = asked(name, n_resamples, checkpoint=tmp_path)
        assert figures(found) == whole(name, n_resamples)
    sets = {"bootstrap": {"."}, "max-T": {"."}, "groups": {"."}, "slices": {"total", "slices"}}
    both = [f"{name.split(maxsplit=1)[0]} {metric}" for metric in range(2)]
    randomized = {f"{one} total" for one in both} | {"total"}
    if "in slices" in name:
        randomized |= {f"{one} slices" for one in both} | {"slices"}
    assert set(stored(tmp_path)) == sets.get(name, randomized)


class StoppedError(Exception):
    """Raised by a progress."""


@pytest.mark.parametrize(
    "name, n_sets", [("bootstrap", 1), ("swaps", 3), ("permutations in slices", 6)]
)
def test_checkpoint__interrupted(name: str, n_sets: int, tmp_path: Path) -> None:
    """What ends a run in its last set leaves all that was stored, which is not drawn again."""
    told = [0]
    begun = [1]

    def stop(done: int, _: int) -> None:
        begun[0] += done < told[-1]
        told.append(done)
        if begun[0] == n_sets and done > 64:
            raise StoppedError

    with pytest.raises(StoppedError):
        asked(name, LONG, checkpoint=tmp_path, progress=stop, n_threads=1)
    assert sorted(stored(tmp_path).values()) == [1] + [2] * (n_sets - 1)
    found = asked(name, LONG, checkpoint=tmp_path)
    assert figures(found) == whole(name, LONG)
    assert sorted(stored(tmp_path).values()) == [2] * (n_sets - 1) + [3]


def test_checkpoint__enumeration(tmp_path: Path) -> None:
    """All swaps of a few rows are listed anew: there is nothing to keep of them."""
    rows = table().slice(0, 5)
    for _ in range(2):
        found = asked("swaps", SHORT, data=rows, checkpoint=tmp_path)
        assert figures(found) == figures(asked("swaps", SHORT, data=rows))
    assert found.to_dict()["test_path"] == "enumeration"
    assert set(stored(tmp_path)) == {"total"}


def test_checkpoint__files(tmp_path: Path) -> None:
    """Read block by block, and resumed so."""
    file = tmp_path / "scores.parquet"
    pq.write_table(table(70_000), file)
    for n_resamples in (20, 30):
        found = asked("bootstrap", n_resamples, data=str(file), checkpoint=tmp_path / "kept")
        in_memory = asked("bootstrap", n_resamples, data=table(70_000))
        assert [board.replicates.tobytes() for board in found.boards] == [
            board.replicates.tobytes() for board in in_memory.boards
        ]


@pytest.mark.parametrize(
    "change, differs",
    [({"systems": ["small", "huge", "large"]}, "statistics"), ({"rng": 1}, "seed"),
     ({"data": table().slice(1)}, "n_rows"), ({"groups": "document"}, "groups")],
)  # fmt: skip
def test_checkpoint__refused(change: dict[str, Any], differs: str, tmp_path: Path) -> None:
    """Another call's replicates are not mixed in."""
    call: dict[str, Any] = {"systems": SYSTEMS, "data": table(), "rng": SEED}
    call |= {"n_resamples": SHORT, "checkpoint": tmp_path, **SWAPS}
    fb.compare(**_of_means(call))
    total = re.escape(str(tmp_path / "total"))
    message = f"^checkpoint='{total}' belongs to another run: .*{differs}.* is .*there.* here"
    with pytest.raises(ValueError, match=message):
        fb.compare(**_of_means(call | change))


def _of_means(call: dict[str, Any]) -> dict[str, Any]:
    return call | {"systems": {name: name for name in call["systems"]}}


def test_checkpoint__other_null(tmp_path: Path) -> None:
    """Swaps and permutations of one call's data have sets of their own."""
    for name in ("swaps", "permutations"):
        found = asked(name, SHORT, checkpoint=tmp_path)
        assert figures(found) == whole(name, SHORT)


def test_checkpoint__no_path() -> None:
    """It is refused by name, before any work."""
    with pytest.raises(TypeError, match=r"^`checkpoint` is 3; give the path of a directory, or "):
        asked("bootstrap", SHORT, checkpoint=3)


@pytest.mark.parametrize("name", CASES)
def test_extend(name: str) -> None:
    """The longer run from the start, bit for bit; once more, and by nothing."""
    found = asked(name, SHORT)
    longer = found.extend(LONG)
    assert figures(longer) == whole(name, LONG)
    assert figures(longer.extend(LONG + 10)) == whole(name, LONG + 10)
    assert figures(found.extend(SHORT)) == whole(name, SHORT)


def test_extend__refused() -> None:
    """Fewer; of data that have changed; and after pickling."""
    values = {name: np.array(table()[name]).copy() for name in SYSTEMS}
    found = fb.compare(values, rng=SEED, n_resamples=SHORT)
    with pytest.raises(ValueError, match=r"^`n_resamples` is 10, but there are 50 replicates"):
        found.extend(10)
    pickled = pickle.loads(pickle.dumps(found))  # noqa: S301 - just pickled
    assert figures(pickled) == figures(found)
    with pytest.raises(ValueError, match=r"^this result cannot be extended: .* and compare can"):
        pickled.extend(LONG)
    values["huge"][0] += 1.0
    with pytest.raises(ValueError, match=r"^`data` has changed: the estimate was"):
        found.extend(LONG)
