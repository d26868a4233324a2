"""What it takes to resume a run."""

from __future__ import annotations

from pathlib import Path

__all__ = ["check_seeded"]


def check_seeded(checkpoint: Path | None, seed: int | None) -> None:
    """Refuse a checkpoint that no later run could go on from."""
    if checkpoint is not None and seed is None:
        raise ValueError(
            "--checkpoint needs --seed N: without one every run draws resamples of its own."
        )
