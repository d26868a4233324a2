"""What must be in memory is refused before it is loaded, where the machine cannot hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import fastboot as fb
from fastboot import memory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of a hundred rows."""
    rows = np.arange(100.0)
    for name in ("first", "second"):
        parquet.write_table(pa.table({"x": rows, "y": rows}), tmp_path / f"{name}.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "statistic, options, why",
    [
        (fb.median("x"), {}, "median"),
        (fb.mean("x"), {"strata": "y"}, "`strata`"),
        (fb.mean("x"), {"by": "y"}, "`by`"),
        (fb.mean("x"), {"groups": ["y"], "levels": "nested"}, "levels='nested'"),
        (fb.mean("x"), {"scheme": "poisson"}, "scheme='poisson'"),
        (fb.mean("x"), {"n_drawn": 7}, "`n_drawn`"),
        (fb.mean("x"), {"nan_policy": "propagate"}, "nan_policy='propagate'"),
        (fb.mean("x"), {"path": "weights"}, "path='weights'"),
        (fb.mean("x"), {"method": "studentized"}, 'method="studentized"'),
    ],
)
def test_memory__refused(
    statistic: Any, options: dict[str, Any], why: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what needs the rows, how much that is, and what to do."""
    monkeypatch.setattr("fastboot.taking.memory_limit", lambda: 1_500)
    with pytest.raises(ValueError, match="in memory") as caught:
        fb.bootstrap(statistic, data=folder, rng=0, **options)
    columns = 1 + any(value in ("y", ["y"]) for value in options.values())
    assert str(caught.value) == (
        f"`data` has 200 rows, and {why} needs all of them in memory: {1.6e-06 * columns:.3g} GB "
        f"for {columns} column{'s' if columns > 1 else ''}, but there are 1.5e-06 GB; choose rows "
        "with where=, or what is read block by block: functions of sums over rows or groups, "
        "resampled plainly"
    )


@pytest.mark.parametrize("limit", [1_600, None])
def test_memory__enough(limit: int | None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fits is loaded; so is what the system does not tell the limit of."""
    monkeypatch.setattr("fastboot.taking.memory_limit", lambda: limit)
    assert fb.bootstrap(fb.median("x"), data=folder, rng=0).n_rows == 200


def test_memory__filtered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many rows a filter leaves is not known before they are read."""
    monkeypatch.setattr("fastboot.taking.memory_limit", lambda: 1_000)
    kept = fb.bootstrap(fb.median("x"), data=folder, where=[("x", "<", 10)], rng=0)
    assert kept.n_rows == 20


def test_memory_limit__container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container has less than its machine; without a limit it has as much."""
    machine = memory.memory_limit()
    assert machine is None or machine > 2**28
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_CONTAINER", limit)
    whole = memory.memory_limit()
    limit.write_text("4096\n")
    assert memory.memory_limit() == 4_096
    limit.write_text("max\n")
    assert memory.memory_limit() == whole


def test_memory_limit__unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that tells nothing."""
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path / "none")
    monkeypatch.delattr("os.sysconf", raising=False)
    assert memory.memory_limit() is None
