"""Values that are known while a graph of TensorFlow is read: shapes, and constants folded from them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from math import prod
from typing import Any, cast, final

import numpy as np

from symgrad.support.errors import UnsupportedError

tf: Any = import_module("tensorflow")

_NAMES = """
    BroadcastTo ConcatV2 ExpandDims Fill GatherV2 Identity OnesLike Pack Reshape ReverseV2 Slice Split SplitV Squeeze
    StopGradient StridedSlice Tile Transpose Unpack ZerosLike
"""
_MOVES = frozenset(_NAMES.split())


def kind_of(dtype: Any) -> str:
    """Return NumPy's letter for the kind of a dtype of TensorFlow; empty for a dtype that is not numeric."""
    if dtype.is_floating:
        return "f"
    if dtype.is_bool:
        return "b"
    return "i" if dtype.is_integer else "c" if dtype.is_complex else ""


def domain_of(dtype: Any) -> str | None:
    """Return the domain of inputs of a dtype."""
    return {"f": "real", "b": "bool", "i": "int"}.get(kind_of(dtype))


@final
class Operation:
    """An operation of TensorFlow in the form that the rules use."""

    __slots__ = ("_op", "count", "inputs", "type")

    def __init__(self, op: Any) -> None:
        self._op = op
        self.type = str(op.type)
        self.inputs = op.inputs
        self.count = len(op.outputs)

    def shape(self, k: int) -> tuple[int, ...]:
        """Return the shape of an output, as numbers."""
        found = self._op.outputs[k].shape
        if found.rank is None or None in found.as_list():
            raise UnsupportedError(f"{self.type} of a shape that is not known", expected="sizes in numbers")
        return tuple(found.as_list())

    def kind(self, k: int) -> str:
        """Return NumPy's letter for the kind of an output."""
        return kind_of(self._op.outputs[k].dtype)

    def dtype(self, k: int) -> Any:
        """Return NumPy's dtype of an output."""
        return np.dtype(self._op.outputs[k].dtype.as_numpy_dtype)

    def attribute(self, name: str, *otherwise: Any) -> Any:
        try:
            return self._op.get_attr(name)
        except ValueError:
            if otherwise:
                return otherwise[0]
            raise

    def text(self, name: str) -> str:
        found = self.attribute(name)
        return found.decode() if isinstance(found, bytes) else str(found)


def sizes(op: Any) -> list[Any]:
    """Evaluate Shape, ShapeN, Size and Rank."""
    found: list[Any] = []
    for t, out in zip(op.inputs, op.outputs, strict=True):
        if t.shape.rank is None or None in t.shape.as_list():
            raise UnsupportedError("a size that is not known", expected="shapes in numbers")
        known = t.shape.as_list()
        value = {"Size": prod(known), "Rank": len(known)}.get(op.type, known)
        found.append(np.array(value, out.dtype.as_numpy_dtype))
    return found


def fold_constants(op: Any, given: Sequence[Any]) -> list[Any] | None:
    """Fold constants: evaluate an operation whose operands are known, if the formula need not contain it."""
    if not given or not all(isinstance(v, np.ndarray) for v in given) or "Random" in op.type:
        return None
    if op.op_def.is_stateful or not hasattr(tf.raw_ops, op.type):
        return None
    if op.type == "Cast" and kind_of(op.outputs[0].dtype) == "f":
        return None
    whole = all(kind_of(t.dtype) in ("i", "b") for t in op.outputs)
    if not whole and op.type not in _MOVES and not all(map(_counts, given)):
        return None
    function = getattr(tf.raw_ops, op.type)
    arguments: dict[str, Any] = {}
    rest = list(given)
    accepted = [*inspect.signature(function).parameters]
    for k, arg in enumerate(op.op_def.input_arg):
        if arg.type_list_attr:
            return None
        count = op.get_attr(arg.number_attr) if arg.number_attr else 1
        values = [tf.constant(rest.pop(0)) for _ in range(count)]
        name = arg.name if arg.name in accepted else accepted[k]  # the function may have a newer name for it
        arguments[name] = values if arg.number_attr else values[0]
    for attr in op.op_def.attr:
        if attr.name in accepted and attr.name not in arguments:
            arguments[attr.name] = op.get_attr(attr.name)
    with tf.init_scope():
        made = function(**arguments)
    every = cast("list[Any]", made) if isinstance(made, list | tuple) else [made]
    found: list[Any] = [np.asarray(v) for v in every]
    return found if whole or op.type in _MOVES or all(map(_counts, found)) else None


def _counts(value: Any) -> bool:
    """Tell whether numbers are integers and so small that arithmetic with them is exact."""
    if value.dtype.kind not in "biuf":
        return False
    numbers = value.astype(np.float64)
    return bool(np.all(np.abs(numbers) < 2**24) and np.all(numbers == np.floor(numbers)))
