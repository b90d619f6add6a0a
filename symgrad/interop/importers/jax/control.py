"""Equations of jaxprs whose rules need the reader: shapes, loops, branches, and exported programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from symgrad.api.functions.layout import arange, reshape, stack
from symgrad.api.functions.loops import scan
from symgrad.api.handles.expr import Expr, handle
from symgrad.interop.importers.booleans import original_boolean, select_value
from symgrad.interop.importers.constants import iota
from symgrad.interop.importers.jax.sizes import shape_of, value_of
from symgrad.interop.importers.jax.values import (
    Nested,
    Value,
    expr_of,
    full_value,
    kind_of,
    restore_booleans,
)
from symgrad.ir.size_substitution import resized
from symgrad.ir.traverse import is_elementwise, substitute
from symgrad.support.errors import UnsupportedError

_STEPS = 100
"""The largest number of steps of a loop that is unrolled, since it cannot stay a loop."""


def _broadcast(_walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    """Add only those axes that a value needs in order to broadcast."""
    shape, axes = shape_of(equation.outvars[0].aval), equation.params["broadcast_dimensions"]
    e, rank = expr_of(given[0]), len(equation.invars[0].aval.shape)
    own = [1] * (rank - len(e.shape)) + list(e.shape)
    wanted: list[Any] = [1] * len(shape)
    for k, axis in enumerate(axes):
        wanted[axis] = own[k]
    first = next((k for k, n in enumerate(wanted) if n != 1), len(wanted))
    kept = tuple(wanted[first:])
    return [e if tuple(e.shape) == kept else restore_booleans(reshape(e, kept), equation.outvars[0].aval)]


def _iota(_walk: Nested, equation: Any, _given: Sequence[Value]) -> list[Value]:
    p = equation.params
    shape, axis = shape_of(equation.outvars[0].aval), int(p["dimension"])
    length, behind = shape[axis], len(shape) - axis - 1
    if not isinstance(length, int):
        return [reshape(arange(length), (length, *[1] * behind)) if behind else arange(length)]
    line = iota(length).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    if any(not isinstance(n, int) for n in shape):
        return [line.astype(p["dtype"])]
    return [np.broadcast_to(line, cast("Any", shape)).astype(p["dtype"])]


def _size(_walk: Nested, equation: Any, _given: Sequence[Value]) -> list[Value]:
    return [value_of(equation.params["dim"])]


def _scan(walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    """Return a loop; if a carry is no real number and does not count steps, its steps one after the other."""
    p = equation.params
    length, carried, fixed = p["length"], p["num_carry"], p["num_consts"]
    avals = p["jaxpr"].in_avals[fixed : fixed + carried]
    counts = {
        k: found
        for k in range(carried)
        if (found := _step_count(p["jaxpr"].jaxpr, fixed + k, k, given)) is not None
    }
    if length != 1 and all(k in counts or kind_of(a) == "f" for k, a in enumerate(avals)):
        return _loop(walk, equation, given, counts)
    return _unrolled(walk, equation, given)


def _step_count(jaxpr: Any, place: int, k: int, given: Sequence[Value]) -> tuple[int, int] | None:
    """Return the first value of a carry that counts steps, and by how much it changes; None for other carries."""
    first, changed = given[place], jaxpr.outvars[k]
    if isinstance(first, Expr) or np.ndim(first) or np.asarray(first).dtype.kind not in "iu":
        return None
    if changed is jaxpr.invars[place]:
        return int(first), 0
    made = next((e for e in jaxpr.eqns if changed in e.outvars and e.primitive.name == "add"), None)
    numbers = [] if made is None else [v.val for v in made.invars if hasattr(v, "val")]
    if made is None or len(numbers) != 1 or not any(v is jaxpr.invars[place] for v in made.invars):
        return None
    return int(first), int(numbers[0])


def _loop(
    walk: Nested, equation: Any, given: Sequence[Value], counts: Mapping[int, tuple[int, int]]
) -> list[Value]:
    p: Mapping[str, Any] = equation.params
    carried, fixed, inside = int(p["num_carry"]), int(p["num_consts"]), walk.inside_loop()
    length: Any = value_of(p["length"])
    real = [k for k in range(carried) if k not in counts]
    outer: list[Any] = [v.aval for v in equation.invars]
    rows: Sequence[Any] = p["jaxpr"].in_avals[fixed + carried :]
    results: Sequence[Any] = p["jaxpr"].out_avals

    def step(carry: Sequence[Expr], xs: Sequence[Expr]) -> tuple[Any, Any]:
        *own, number = xs
        count = length - 1 - number if p["reverse"] else number
        values: dict[int, Value] = {k: _counted(count, *found) for k, found in counts.items()}
        values.update(zip(real, carry, strict=True))
        own = [restore_booleans(x, a) for x, a in zip(own, rows, strict=True)]
        args: list[Value] = [*given[:fixed], *(values[k] for k in range(carried)), *own]
        found = [full_value(v, a) for v, a in zip(inside.closed(p["jaxpr"], args), results, strict=True)]
        return tuple(found[k] for k in real), tuple(found[carried:])

    start = tuple(full_value(given[fixed + k], outer[fixed + k]) for k in real)
    arrays = [
        full_value(x, a) for x, a in zip(given[fixed + carried :], outer[fixed + carried :], strict=True)
    ]
    last, stacked = scan(step, start, (*arrays, arange(length)), reverse=p["reverse"])
    ends: dict[int, Value] = dict(zip(real, last, strict=True))
    ends.update((k, np.asarray(first + by * p["length"])) for k, (first, by) in counts.items())
    ys = [restore_booleans(y, v.aval) for y, v in zip(stacked, equation.outvars[carried:], strict=True)]
    return [*(ends[k] for k in range(carried)), *ys]


def _counted(count: Expr, first: int, by: int) -> Expr:
    steps = count if by == 1 else count * by
    return steps + first if first else steps


def _unrolled(walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    p = equation.params
    length, carried, fixed = p["length"], p["num_carry"], p["num_consts"]
    if length > _STEPS:
        raise UnsupportedError(
            f"a loop of {length:,} steps with whole numbers or conditions that it carries on",
            cure="carry real numbers on, and compute the others in the step",
        )
    consts, carry, xs = given[:fixed], list(given[fixed : fixed + carried]), given[fixed + carried :]
    avals = [v.aval for v in equation.invars[fixed + carried :]]
    ys: list[Sequence[Value]] = []
    for k in reversed(range(length)) if p["reverse"] else range(length):
        row = [
            restore_booleans(full_value(x, a)[k], a) if isinstance(x, Expr) else x[k]
            for x, a in zip(xs, avals, strict=True)
        ]
        found = walk.closed(p["jaxpr"], [*consts, *carry, *row])
        carry = found[:carried]
        ys.append(found[carried:])
    if p["reverse"]:
        ys.reverse()
    stacked: list[Value] = []
    stacks: list[Any] = list(equation.outvars[carried:])
    for j, v in enumerate(stacks):
        column = [row[j] for row in ys]
        if not column:
            stacked.append(cast("Any", np.zeros(v.aval.shape, v.aval.dtype)))
        elif not any(isinstance(c, Expr) for c in column):
            stacked.append(np.stack(cast("list[Any]", column)))
        else:
            inner = p["jaxpr"].out_avals[carried + j]
            stacked.append(restore_booleans(stack([full_value(c, inner) for c in column], 0), inner))
    return [*carry, *stacked]


def _cond(walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    index, args = given[0], given[1:]
    branches = equation.params["branches"]
    if not isinstance(index, Expr):
        return walk.closed(branches[int(np.clip(index, 0, len(branches) - 1))], args)
    if any(b.effects for b in branches):
        raise UnsupportedError("a branch with side effects")
    results = [walk.closed(b, args) for b in branches]
    values: list[Value] = []
    for k, v in enumerate(equation.outvars):
        found = full_value(results[-1][k], v.aval)
        for j in range(len(branches) - 2, -1, -1):
            flag = original_boolean(index)
            if flag is not None and len(branches) == 2:
                found = select_value(flag, found, full_value(results[0][k], v.aval))
            else:
                found = select_value(index <= j, full_value(results[j][k], v.aval), found)
        values.append(found)
    return values


def _program(_walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    """Inline a program of symgrad that the function calls."""
    called = equation.params["program"].called
    outputs, inputs = [e.node for e in called.outputs], [e.node for e in called.inputs]
    args = [full_value(v, x.aval) for v, x in zip(given, equation.invars, strict=True)]
    if not is_elementwise(outputs) and any(
        len(a.shape) != len(s.shape) for a, s in zip(args, inputs, strict=True)
    ):
        raise UnsupportedError("a program that is called with a batch")
    sizes = {
        size: length
        for a, s in zip(args, inputs, strict=True)
        for size, length in zip(s.shape, a.shape[len(a.shape) - len(s.shape) :], strict=True)
        if isinstance(size, str)
    }
    nodes = resized([*inputs, *outputs], sizes)
    count = len(inputs)
    found = substitute(nodes[count:], dict(zip(nodes[:count], (a.node for a in args), strict=True)))
    return [full_value(handle(n), v.aval) for n, v in zip(found, equation.outvars, strict=True)]


CONTROL: Mapping[str, Callable[[Nested, Any, Sequence[Value]], Sequence[Value]]] = {
    "broadcast_in_dim": _broadcast,
    "iota": _iota,
    "scan": _scan,
    "cond": _cond,
    "dim_as_value": _size,
    "symgrad": _program,
}
"""For each primitive, a function of the reader, the equation and its arguments."""
