"""Facts of the dataflow analysis: the sources of a value, and the functions that cut its gradient."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from symgrad.support.source import Place

Kind: TypeAlias = Literal["number", "data", "array", "copy", "no_grad", "in_place"]


@dataclass(frozen=True, slots=True)
class Break:
    """A place where a value loses its gradient.

    Args:
        kind: the kind of the loss.
        place: the place in the code.
        text: the source code there.
        sources: the sources of the gradient that are lost.
        replacement: code that would keep the gradient.
    """

    kind: Kind
    place: Place
    text: str
    sources: frozenset[str]
    replacement: str | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """The sources of a value: the arguments with a gradient, and the places where others lost their gradient."""

    sources: frozenset[str] = frozenset()
    breaks: frozenset[Break] = frozenset()

    def __or__(self, other: Flow) -> Flow:
        return Flow(self.sources | other.sources, self.breaks | other.breaks)


NOTHING = Flow()

_ABOUT = """
    shape dtype ndim device requires_grad grad grad_fn is_leaf itemsize nbytes name
"""
ABOUT = set(_ABOUT.split())
"""Attributes that hold no values of an array."""

_METADATA = """
    size dim numel stride get_shape type is_floating_point element_size rank
"""
METADATA = set(_METADATA.split())
"""Methods that return no values of an array."""

STOPPED = {"detach", "stop_gradient"}
"""Functions that stop gradients intentionally."""

NUMBERS = {"item", "tolist", "__float__", "__int__"}
ARRAYS = {"numpy", "__array__"}
TELL = {"shape", "ndim", "size", "result_type", "dtype", "isscalar", "iinfo", "finfo", "random"}
"""Functions of NumPy that read no values."""

IGNORED = {"len", "isinstance", "issubclass", "type", "print", "range", "id", "hasattr", "callable", "repr", "str",
            "format", "bool", "hash"}  # fmt: skip
CHANGES = {"append", "extend", "add", "insert", "update", "setdefault", "appendleft"}
UNRECORDED = {"no_grad", "inference_mode", "stop_recording"}


def union(flows: Iterable[Flow]) -> Flow:
    """Return the union of flows."""
    found = NOTHING
    for flow in flows:
        found = found | flow
    return found
