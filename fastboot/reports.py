"""What answers have that are a handful of figures and no replicates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from fastboot.rendering import html_table, signature_line, to_json

__all__ = ["Report"]


class Report(ABC):
    """Figures with a sentence. A subclass is a frozen dataclass with a line of its own."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain Python values."""

    @abstractmethod
    def summary(self) -> str:
        """Return a sentence for a paper."""

    @abstractmethod
    def _signature(self) -> dict[str, Any]:
        """Return the keys and values of `signature`."""

    def signature(self) -> str:
        """Return one line to quote beside a number: what must be known to reproduce it.

        ``key:value|key:value``, in a fixed order; keys are names of arguments and attributes. See
        :meth:`Result.signature`.

        Examples
        --------
        >>> import fastboot as fb
        >>> result = fb.sign_test([3, 1, 2, 4], [1, 1, 0, 2], alternative="greater")
        >>> result.signature().split("|")[1:4]
        ['procedure:sign_test', 'a:[3,1,2,4]', 'b:[1,1,0,2]']
        """
        return signature_line(self._signature())

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences that a reader of the numbers should know."""
        return ()

    def to_json(self) -> str:
        """Return `to_dict` as JSON; what is not finite becomes null."""
        return to_json(self.to_dict())

    def _repr_html_(self) -> str:
        figures = {
            key: value
            for key, value in self.to_dict().items()
            if key not in {"kind", "notes"} and value is not None
        }
        return html_table(type(self).__name__, figures, self.notes)
