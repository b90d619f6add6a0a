"""Values side by side in one array, as the rows of a recurrence with several carries: `pack` and `part`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ir.body import unpack_values
from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.notation.literals import ATOM, separated
from symgrad.ir.notation.recurrence_definitions import write_part
from symgrad.ir.sizes import Shape, size_product, size_sum
from symgrad.ops.array.along import objects
from symgrad.ops.array.layout import concatenate, full, only, shaped, slice_axes
from symgrad.ops.record import facts, joint, structural

_ZERO = as_node(0)


def _rows(_node: Node, _places: Sequence[int | None]) -> None:
    return None  # the axis of the rows may be among those that become one


def _pack_shape(shapes: tuple[Shape, ...], axis: int) -> Shape:
    return (*shapes[0][:axis], size_sum(size_product(s[axis:]) for s in shapes))


def _pack(axis: int, *arrays: Any) -> Any:
    lead = np.shape(arrays[0])[:axis]
    return np.concatenate([np.reshape(a, (*lead, math.prod(np.shape(a)[axis:]))) for a in arrays], axis=axis)


def _exact_pack(_mp: Any, axis: int, *arrays: Any) -> Any:
    return _pack(axis, *map(objects, arrays))


def _pack_push(node: Node, tangents: Sequence[Node | None]) -> Node:
    moved = (full(_ZERO if t is None else t, a.shape) for a, t in zip(node.args, tangents, strict=True))
    return pack(*moved, params=node.params)


def _pack_pull(node: Node, cotangent: Node, wanted: Sequence[bool]) -> Sequence[Node | None]:
    (axis,) = node.params
    shapes = [a.shape[axis:] for a in node.args]
    parts = unpack_values(full(cotangent, node.shape), shapes, axis)
    return [p if w else None for p, w in zip(parts, wanted, strict=True)]


def _pack_batch(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    wide = (full(a, (*lead, *a.shape)) if s is None else s for a, s in zip(node.args, stacks, strict=True))
    return pack(*wide, params=(node.params[0] + len(lead),))


def _pack_native(node: Node, args: tuple[Node, ...]) -> Node:
    (axis,) = node.params
    flat = [shaped(a, (*a.shape[:axis], size_product(a.shape[axis:]))) for a in args]
    return concatenate(*flat, params=(axis,))


pack: Op = joint(
    "pack",
    doc="values side by side: their axes from an axis on become one",
    gives="same",
    variadic=True,
    parameters=("axis",),
    shape=_pack_shape,
    evaluate=_pack,
    reference=_exact_pack,
    push=_pack_push,
    pull=_pack_pull,
    batch=_pack_batch,
    rows=_rows,
    entries="moved",
    total="always",
    native=_pack_native,
    cost=0,
    written=lambda node, _names: (["(", *separated(node.args), ")"], ATOM),
    source=None,
    facts=facts("linear"),
)


def _part_shape(shapes: tuple[Shape, ...], number: int, parts: tuple[Shape, ...], axis: int) -> Shape:
    return (*shapes[0][:axis], *parts[number])


def _part(number: int, parts: tuple[tuple[int, ...], ...], axis: int, x: Any) -> Any:
    start = sum(map(math.prod, parts[:number]))
    array = np.asarray(x)
    found = array[(*[slice(None)] * axis, slice(start, start + math.prod(parts[number])))]
    return found.reshape((*array.shape[:axis], *parts[number]))


def _exact_part(_mp: Any, number: int, parts: tuple[tuple[int, ...], ...], axis: int, x: Any) -> Any:
    return _part(number, parts, axis, objects(x))


def _part_pull(node: Node, _i: int, cotangent: Node) -> Node:
    number, parts, axis = node.params
    lead = node.shape[:axis]
    return pack(
        *(full(cotangent if k == number else _ZERO, (*lead, *shape)) for k, shape in enumerate(parts)),
        params=(axis,),
    )


def _part_of(node: Node, whole: Node, axis: int) -> Node:
    number: int = node.params[0]
    return unpack_values(whole, node.params[1], axis)[number]


def _part_native(node: Node, args: tuple[Node, ...]) -> Node:
    number, parts, axis = node.params
    start = size_sum(map(size_product, parts[:number]))
    stop = size_sum([start, size_product(parts[number])])
    return shaped(slice_axes(args[0], [*[(None, None, 1)] * axis, (start, stop, 1)]), node.shape)


part: Op = structural(
    "part",
    doc="one of several values that are side by side",
    gives="same",
    parameters=("number", "parts", "axis"),
    shape=_part_shape,
    evaluate=_part,
    reference=_exact_part,
    push=lambda node, i, t: _part_of(node, full(t, node.args[0].shape), node.params[2]),
    pull=_part_pull,
    batch=lambda node, stacks, lead: _part_of(node, only(stacks), node.params[2] + len(lead)),
    rows=_rows,
    entries="moved",
    total="always",
    native=_part_native,
    written=write_part,
    cost=0,
    source=None,
    facts=facts("linear"),
)
