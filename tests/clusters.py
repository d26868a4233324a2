"""A Dask cluster of this machine, for the tests that send work to one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import distributed

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def two_processes() -> Iterator[distributed.Client]:
    """A client of two processes of one thread each."""
    with (
        distributed.LocalCluster(
            processes=True,
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
