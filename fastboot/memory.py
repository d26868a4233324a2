"""How much memory a process may use: of the machine, or of the container it runs in."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["memory_limit"]

# Bytes that a control group (version 2) may use, or "max".
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def memory_limit() -> int | None:
    """Return bytes, None where the system does not tell."""
    limits = [limit for limit in (_machine(), _container()) if limit is not None]
    return min(limits, default=None)


def _machine() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows; a name that is not known there
        return None


def _container() -> int | None:
    try:
        return int(_CONTAINER.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or no limit
        return None
