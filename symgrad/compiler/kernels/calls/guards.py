"""Checks before an array program runs.

Positions must be inside their axes, no maximum or minimum may be over an empty axis, and no length may be negative.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.sizes import Shape, Size, evaluate_size, extent_text, unsure_lengths
from symgrad.ir.traverse import topological
from symgrad.ir.values.inputs import distinct
from symgrad.ops.array.along import axes_of
from symgrad.rewrite.facts.integer_ranges import is_position
from symgrad.support.errors import IndexRangeError, ShapeError

_MOVING = ("reshape", "broadcast_to")  # the result has exactly the values of the argument


@dataclass(frozen=True, slots=True)
class Position:
    """An array of positions and the length of their axis.

    Args:
        index: the node of the array, which is an input or computed.
        length: the length of the axis.
    """

    index: Node
    length: Size


@dataclass(frozen=True, slots=True)
class Guards:
    """The checks before a call.

    Args:
        lengths: lengths of axes that must not be negative.
        filled: sizes that must not be zero, with the name of the op that needs an element.
        positions: arrays of positions, in topological order.
        bounded: the indices of the int inputs with a bounded domain.
    """

    lengths: tuple[Size, ...]
    filled: tuple[tuple[str, Size], ...]
    positions: tuple[Position, ...]
    bounded: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lengths or self.filled or self.positions or self.bounded)


NO_GUARDS = Guards((), (), ())


def guards_of(outputs: Sequence[Node], inputs: Sequence[Node] = ()) -> Guards:
    """Return the checks of every call, except those that pass for all sizes and values of the declared domains."""
    filled: dict[tuple[str, Size], None] = {}
    positions: dict[Position, None] = {}
    sizes = {size for s in inputs for size in s.shape}
    checked = {
        s
        for s in inputs
        if s.declaration.distribution is None and sizes.issuperset(s.declaration.domain.sizes)
    }
    order = topological(outputs)
    for node in order:
        name = node.op.name
        if not node.op.pointwise and node.op.array.total == "of some only":
            shape = node.args[0].shape
            for axis in axes_of(node):
                if not isinstance(shape[axis], int):
                    filled[name, shape[axis]] = None
        elif name in ("gather", "scatter_add"):
            axes = cast("tuple[int, ...]", node.params[0])
            shape = node.args[0].shape if name == "gather" else cast("Shape", node.params[1])
            for axis, index in zip(axes, node.args[1:], strict=True):
                found = _source(index)
                if not _inside(found, shape[axis], checked):
                    positions[Position(found, shape[axis])] = None
    lengths = unsure_lengths(node.shape for node in order)
    bounded = [k for k, s in enumerate(inputs) if s.dtype == "int" and has_ends(s)]
    return Guards(tuple(lengths), tuple(filled), tuple(positions), tuple(bounded))


def has_ends(symbol: Node) -> bool:
    """Tell whether the domain of an input has ends that calls check."""
    declared = symbol.declaration
    return declared.distribution is None and (declared.domain.low, declared.domain.high) != (None, None)


def _source(index: Node) -> Node:
    """Return the source of an array of positions: skip ops that only move values."""
    while index.op.name in _MOVING or _transposes(index):
        index = index.args[0]
    return index


def _transposes(node: Node) -> bool:
    if node.op.name != "einsum" or len(node.args) != 1:
        return False
    (labels,), result = node.params
    return sorted(labels) == sorted(result)


def _inside(index: Node, length: Size, checked: Collection[Node]) -> bool:
    """Tell whether every position is inside the axis, for all inputs.

    Args:
        index: the positions.
        length: the length of the axis.
        checked: inputs whose domains calls check.
    """
    if index.is_number():
        return isinstance(length, int) and -length <= index.value < length
    whole = (n for n in topological([index]) if n.op is SYMBOL and n.dtype == "int")
    return is_position(index, length) and all(n in checked for n in whole)


def check_filled(filled: Sequence[tuple[str, Size]], sizes: Mapping[str, int]) -> None:
    """Check that no op reduces an empty axis that needs an element.

    Raises:
        ShapeError: if one does, with the op and the size.
    """
    for name, size in filled:
        if evaluate_size(size, sizes) == 0:
            raise ShapeError(f"{name} of no elements: size {size} is 0", expected="an axis that is not empty")


def check_position(position: Position, values: Any, sizes: Mapping[str, int]) -> None:
    """Check that positions are inside their axis.

    Args:
        position: the positions.
        values: the array of ints; None for a number of the formula.
        sizes: the value of every named size.

    Raises:
        IndexRangeError: if a position is outside, with the input and the first such position.
    """
    index, length = position.index, evaluate_size(position.length, sizes)
    if index.is_number():
        if not -length <= index.value < length:
            raise _outside(f"the index {extent_text(int(index.value))} is", position, length)
        return
    array = distinct(np.asarray(values))
    if not array.size:
        return
    # Methods of the array take twice as long.
    if -length <= np.minimum.reduce(array, axis=None) and np.maximum.reduce(array, axis=None) < length:
        return
    wrong = np.argwhere((array < -length) | (array >= length))[0]
    who = f"input '{index.name}'" if index.op is SYMBOL else "a computed index"
    place = f" at [{', '.join(map(str, wrong))}]" if array.ndim else ""
    raise _outside(f"{who} is {array[tuple(wrong)]}{place},", position, length)


def _outside(what: str, position: Position, length: int) -> IndexRangeError:
    along = f" ({position.length})" if not isinstance(position.length, int) else ""
    return IndexRangeError(
        f"{what} out of range for an axis of length {length}{along}",
        expected=f"indices from {-length} to {length - 1}"
        if length
        else "no index at all: the axis is empty",
        cure="check the values of the index array",
    )
