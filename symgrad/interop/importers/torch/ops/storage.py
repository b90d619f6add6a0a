"""Storage of tensors: values that are written in place, and views that share parts of the memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from symgrad.interop.importers.torch.table import RefusedError


class TensorCell:
    """The storage of a tensor: an in-place write replaces its value."""

    def __init__(self, value: Any) -> None:
        self._value, self.version = value, 0

    def read(self) -> Any:
        return self._value

    def write(self, value: Any) -> None:
        self._value, self.version = value, self.version + 1

    def hold(self, value: Any) -> None:
        """Detach from the storage of another tensor, and store a new value."""
        self.write(value)


@final
class TensorView(TensorCell):
    """A view of a part of another tensor: reads and writes go to the storage of that tensor."""

    def __init__(
        self, parent: TensorCell, look: Callable[[Any], Any], put: Callable[[Any, Any], Any] | None
    ) -> None:
        super().__init__(look(parent.read()))
        self._parent, self._look, self._put, self._seen = parent, look, put, parent.version

    def read(self) -> Any:
        self._parent.read()
        if self._seen != self._parent.version:
            super().write(self._look(self._parent.read()))
            self._seen = self._parent.version
        return self._value

    def write(self, value: Any) -> None:
        if self._put is None:
            raise RefusedError("a write in place to a view of this kind", cure="compute a new tensor")
        self._parent.write(self._put(self._parent.read(), value))
        self.read()

    def hold(self, value: Any) -> None:
        self._parent, self._look, self._put, self._seen = TensorCell(value), whole_view, _new, 0
        super().write(value)


def whole_view(value: Any) -> Any:
    """Return the argument: a view of the whole tensor."""
    return value


def _new(_: Any, value: Any) -> Any:
    return value
