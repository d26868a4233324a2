"""How tasks travel: pickled here, and unpickled where they run, as part of running them.

So what a worker cannot unpickle (a function of a notebook, a module that it lacks) is an error of
the task. Left to the executors, it breaks a pool of processes, and Dask waits for ever. Arrays
arrive read-only, as kernels are compiled for them, and without a copy.
"""

from __future__ import annotations

import importlib
import pickle
import secrets
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Parcel", "dask_submit", "pickling_error"]


class Parcel:
    """A task that may be pickled.

    Parameters
    ----------
    task
        To be run where it arrives.
    """

    def __init__(self, task: Callable[[], Any]) -> None:
        self._task = task

    def __call__(self) -> Any:
        """Run the task."""
        return self._task()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Arrived, _packed(self._task)


class _Arrived:
    """A parcel that was unpickled; its task is not, yet."""

    def __init__(self, packed: bytes, buffers: Sequence[bytes]) -> None:
        self._contents = packed, buffers

    def __call__(self) -> Any:
        """Run the task."""
        return _run(*self._contents)


def _packed(task: object) -> tuple[bytes, list[bytes]]:
    """Return a task as bytes, and those of its arrays."""
    failures = []
    for pickler in _picklers():
        buffers: list[pickle.PickleBuffer] = []
        try:
            packed = pickler.dumps(task, protocol=5, buffer_callback=buffers.append)
        except Exception as error:  # noqa: BLE001 - a class decides what its pickling raises
            failures.append(error)
        else:
            return packed, [bytes(buffer.raw()) for buffer in buffers]
    raise failures[0]


def _picklers() -> list[Any]:
    """Return cloudpickle, where it is installed, and pickle.

    The first sends lambdas and functions of notebooks too. But with a function of a script it sends
    the variables that this reads, which may be what it cannot pickle.
    """
    try:
        return [importlib.import_module("cloudpickle"), pickle]
    except ImportError:
        return [pickle]


def pickling_error(value: object) -> Exception | None:
    """Return why a value cannot be sent, None if it can."""
    try:
        _packed(value)
    except Exception as error:  # noqa: BLE001 - as above
        return error
    return None


def _run(packed: bytes, buffers: Sequence[bytes]) -> Any:
    try:
        task = pickle.loads(packed, buffers=buffers)  # noqa: S301 - what _packed packed
    except (AttributeError, ImportError) as error:
        raise TypeError(
            f"a worker of `executor` does not know what it was sent: {error}; install there what "
            "is installed here, and define functions and classes in a module that it can import, "
            "or install cloudpickle, which sends those of a notebook"
        ) from error
    return task()


class _Running:
    """Pickled, a call: it runs the task as it is unpickled."""

    def __init__(self, packed: bytes, buffers: Sequence[bytes]) -> None:
        self._contents = packed, list(map(pickle.PickleBuffer, buffers))

    def __reduce__(self) -> tuple[Any, ...]:
        return _run, self._contents


def dask_submit(client: Any, submit: Callable[..., Any]) -> Callable[[Callable[[], Any]], Any]:
    """Return what sends a task to a Dask cluster.

    All that Dask itself unpickles is bytes, and a function of Python. Tasks of a run that say that
    they are ``alike`` hold the same arrays: these are sent once.

    Parameters
    ----------
    client
        Of the cluster.
    submit
        Of the client, or of its executor.
    """
    from dask import config

    # Not of the contents: equal tasks of two runs would be one, cancelled with either.
    def key() -> str:
        return f"fastboot_task-{secrets.token_hex(16)}"  # Dask's dashboard shows the name

    arrays: Any = None

    def send(task: Callable[[], Any]) -> Any:
        nonlocal arrays
        running = _Running(*_packed(task))
        # Arrays in memory are what is asked for; to advise against them helps nobody.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
            if not getattr(task, "alike", False):
                return submit(pickle.loads, pickle.dumps(running, protocol=5), key=key())
            buffers: list[pickle.PickleBuffer] = []
            call = pickle.dumps(running, protocol=5, buffer_callback=buffers.append)
            if arrays is None:
                # A task, and no data that are scattered: Dask makes them anew if a worker dies.
                arrays = client.submit(list, [bytes(one.raw()) for one in buffers], key=key())
            return submit(pickle.loads, call, buffers=arrays, key=key())

    return send
