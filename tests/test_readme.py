"""The tour of the README runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_tour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every block of Python runs, after what it takes for granted: scores and a file."""
    rng = np.random.default_rng(0)
    errors = pa.table({"error": rng.normal(size=60), "user": rng.integers(0, 12, 60)})
    pq.write_table(errors, tmp_path / "errors.parquet")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = dict(zip(("scores_a", "scores_b"), rng.random((2, 50)), strict=True))

    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own README

    assert len(blocks) == 6
    shown = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    printed = " ".join(capsys.readouterr().out.split())
    assert printed == " ".join(" ".join(shown[1:]).split())
