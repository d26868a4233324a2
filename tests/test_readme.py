"""The tour of the README runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fastboot.blocks import BLOCK

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def write_runs(folder: Path, rng: np.random.Generator) -> None:
    """Two files that have more than a block of rows together, and in the test split too."""
    folder.mkdir()
    for name in ("a.parquet", "b.parquet"):
        n_rows = BLOCK
        runs = {
            "gold": rng.integers(0, 2, n_rows),
            "new": rng.integers(0, 2, n_rows),
            "old": rng.integers(0, 2, n_rows),
            "score": rng.normal(size=n_rows),
            "split": np.where(rng.random(n_rows) < 0.6, "test", "dev"),
            "document": rng.integers(0, 500, n_rows),
        }
        pq.write_table(pa.table(runs), folder / name)


def test_tour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every block of Python runs, after what it takes for granted: scores, a file and a folder."""
    rng = np.random.default_rng(0)
    errors = pa.table({"error": rng.normal(size=60), "user": rng.integers(0, 12, 60)})
    pq.write_table(errors, tmp_path / "errors.parquet")
    write_runs(tmp_path / "runs", rng)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = dict(zip(("scores_a", "scores_b"), rng.random((2, 50)), strict=True))

    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own README

    assert len(blocks) == 9
    shown = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    printed = " ".join(capsys.readouterr().out.split())
    assert printed == " ".join(" ".join(shown[1:]).split())
