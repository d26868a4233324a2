"""The words of the call that made a statistic: what a signature quotes, in one line."""

from __future__ import annotations

import functools
import inspect
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from fastboot.columns import Column

__all__ = ["recorded", "words"]

P = ParamSpec("P")
S = TypeVar("S")

# A string that can stand without quotes: it is no number, and none of these.
_PLAIN = re.compile(r"[^\W\d][\w.@/+-]*")
_TAKEN = {"None", "True", "False", "nan", "inf", "values"}
# A longer list is told by its number of values and a checksum; one longer still is data.
_LISTED, _CHECKED = 12, 1_000


def recorded(factory: Callable[P, S]) -> Callable[P, S]:
    """Let a statistic remember the call that made it, as `call`."""
    signature = inspect.signature(factory)

    @functools.wraps(factory)
    def made(*args: P.args, **kwargs: P.kwargs) -> S:
        statistic = factory(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        asked = _asked(signature.parameters, given)
        statistic.__dict__["call"] = f"{factory.__name__}({','.join(asked)})"
        return statistic

    return made


def _asked(parameters: Mapping[str, inspect.Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments that are not the default, those that can stand without a name first."""
    in_place = True
    for name, parameter in parameters.items():
        value = given.get(name, parameter.default)
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield from map(words, given.get(name, ()))
        elif _is_default(value, parameter.default):
            in_place = False
        elif in_place and parameter.kind is not parameter.KEYWORD_ONLY:
            yield words(value)
        else:
            yield f"{name}={words(value)}"


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return isinstance(value, str | int | float) and bool(value == default)


def words(value: Any) -> str:
    """Return a value of an argument in a few words; "values" stands for data.

    Parameters
    ----------
    value
        A column (by its name, or "values"), a statistic (by its call), a function (by its name), a
        number, a string, or a list or mapping of these.
    """
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, Column):
        value = value.source
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value not in _TAKEN else repr(value)
    if isinstance(value, list | tuple) and len(value) <= _CHECKED:
        return _list(value)
    if isinstance(value, Mapping):
        counted = getattr(value, "signature", None)  # of fastboot.text
        if isinstance(counted, str):
            return counted.replace("|", ",")  # which separates parts of our own
        return f"{{{','.join(f'{words(key)}={words(one)}' for key, one in value.items())}}}"
    return _name(value)


def _name(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    call = getattr(value, "call", None)  # of a statistic
    if isinstance(call, str):
        return call
    named = getattr(value, "__qualname__", type(value).__name__)
    return str(named) if callable(value) else "values"


def _list(values: Sequence[Any]) -> str:
    listed = ",".join(map(words, values))
    if len(values) > _LISTED:
        return f"[{len(values)} values, crc32 {zlib.crc32(listed.encode()):08x}]"
    return f"[{listed}]"
