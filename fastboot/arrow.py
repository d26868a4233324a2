"""Arrow arrays of any layout as plain ones, and between Arrow and NumPy.

Without ``to_numpy()`` and ``pa.array()``: these import pandas where there is one, which takes 0.2 s
in the first call, and a Ctrl-C during it was seen to be lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["decoded", "from_numpy", "is_null", "slots", "table_of"]

# Offsets of 32 bits overflow at 2 GiB, and views can be neither taken from nor sorted.
_WIDE = dict.fromkeys(("string", "string_view"), pa.large_string())
_WIDE |= dict.fromkeys(("binary", "binary_view", "fixed_size_binary"), pa.large_binary())


def slots(array: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """View the slots of an Arrow array of numbers; those of nulls hold anything."""
    item = np.dtype(dtype).itemsize
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * item)


def is_null(array: Any) -> NDArray[np.bool_]:
    """Tell which slots of an Arrow array are null."""
    return slots(array.is_null().cast(pa.uint8()), np.uint8).view(np.bool_)


def from_numpy(values: NDArray[Any]) -> Any:
    """Return a NumPy array of numbers or booleans as an Arrow array."""
    if values.dtype == np.bool_:
        return from_numpy(values.view(np.uint8)).cast(pa.bool_())
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def decoded(values: Any) -> Any:
    """Return one Arrow array without chunks, dictionaries, run ends or extension types."""
    if isinstance(values, pa.ChunkedArray):
        chunks = [decoded(chunk) for chunk in values.chunks if len(chunk)]
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    if isinstance(values, pa.ExtensionArray):
        return decoded(values.storage)
    if isinstance(values, pa.DictionaryArray):
        # Each chunk may have its own dictionary, and small indices overflow when these are joined.
        return decoded(values.dictionary).take(values.indices)
    if isinstance(values, pa.RunEndEncodedArray):
        from pyarrow import compute

        return decoded(compute.run_end_decode(values))
    wide = _WIDE.get(str(values.type).partition("[")[0])
    return values if wide is None else values.cast(wide)


def table_of(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return an Arrow table of lists; None is null, NaN stays, values of mixed types become text.

    It is made for people and once, so the time that pandas takes (see above) does not matter.
    """
    return pa.table({name: _array_of(values) for name, values in columns.items()})


def _array_of(values: Sequence[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        values = [None if value is None else str(value) for value in values]
    return pa.array(values)
