"""Equations of jaxprs whose rules need the reader: shapes, loops, branches, and exported programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from symgrad.api.functions.constants import iota
from symgrad.api.functions.layout import arange, reshape, stack
from symgrad.api.handles.expr import Expr, handle
from symgrad.interop.importers.booleans import original_boolean, select_value
from symgrad.interop.importers.jax.sizes import shape_of, size_of, value_of
from symgrad.interop.importers.jax.values import (
    Nested,
    Value,
    expr_of,
    full_value,
    kind_of,
    restore_booleans,
)
from symgrad.interop.importers.loops import (
    CARRY_REAL,
    UNROLLED,
    NoRecurrenceError,
    read_loop,
    read_while,
    unroll_while,
)
from symgrad.ir.size_substitution import resized
from symgrad.ir.traverse import is_elementwise, substitute
from symgrad.support.errors import UnsupportedError


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
    """Return a loop; if it carries on whole numbers that do not count, its steps one after the other."""
    p = equation.params
    carried, fixed = int(p["num_carry"]), int(p["num_consts"])
    length, jaxpr, inside = size_of(p["length"]), p["jaxpr"], walk.inside_loop()
    if length == 1:
        return _unrolled(walk, equation, given)
    consts, start, xs = given[:fixed], given[fixed : fixed + carried], given[fixed + carried :]
    inner: Sequence[Any] = jaxpr.in_avals[fixed + carried :]
    outer: Sequence[Any] = [v.aval for v in equation.invars[fixed + carried :]]

    def step(values: list[Any], own: list[Expr], _: Expr) -> tuple[Sequence[Value], Sequence[Expr]]:
        own = [restore_booleans(x, a) for x, a in zip(own, inner, strict=True)]
        found = inside.closed(jaxpr, [*consts, *values, *own])
        return _moving(found[:carried], avals, same), _full(found[carried:], jaxpr.out_avals[carried:])

    avals, same = jaxpr.out_avals[:carried], _same_carry(jaxpr.jaxpr, fixed, carried)
    try:
        found = read_loop(
            step,
            _moving(start, avals, same),
            _kinds(avals),
            _full(xs, outer),
            length,
            reverse=bool(p["reverse"]),
            same=same,
        )
    except NoRecurrenceError:
        return _unrolled(walk, equation, given)
    walk.problems += inside.problems
    pairs = zip(found.stacked, equation.outvars[carried:], strict=True)
    return [*found.last, *(restore_booleans(y, v.aval) for y, v in pairs)]


def _while(walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    """Return a loop whose condition bounds the number of its steps."""
    p = equation.params
    tests, fixed, inside = int(p["cond_nconsts"]), int(p["body_nconsts"]), walk.inside_loop()
    decides, consts, start = given[:tests], given[tests : tests + fixed], given[tests + fixed :]
    avals = [v.aval for v in equation.outvars]
    same = _same_carry(p["body_jaxpr"].jaxpr, fixed, len(avals))

    def condition(reader: Nested, values: list[Any]) -> Value:
        return reader.closed(p["cond_jaxpr"], [*decides, *values])[0]

    def step(reader: Nested, values: list[Any]) -> list[Value]:
        return reader.closed(p["body_jaxpr"], [*consts, *values])

    try:
        found = read_while(
            partial(condition, inside),
            lambda values, _rows, _number: (_moving(step(inside, values), avals, same), ()),
            _moving(start, avals, same),
            _kinds(avals),
            same=same,
            cure=_BOUNDED,
        ).last
    except NoRecurrenceError as error:
        return unroll_while(partial(condition, walk), partial(step, walk), start, error)
    except UnsupportedError:
        if not inside.problems:
            raise
        found = list[Value]()
    walk.problems += inside.problems
    return found


_BOUNDED = (
    "lax.while_loop(lambda c: (c[0] < 100) & ..., ...) with a count c[0] that begins at 0; or fori_loop or scan "
    "with a number of steps that does not depend on the data"
)


def _full(values: Sequence[Value], avals: Sequence[Any]) -> list[Expr]:
    return [full_value(v, a) for v, a in zip(values, avals, strict=True)]


def _moving(carries: Sequence[Value], avals: Sequence[Any], same: Sequence[int]) -> list[Value]:
    """Return carries: real numbers and conditions that a step may change have their whole shapes."""
    return [
        full_value(v, a) if kind_of(a) in ("f", "b") and k not in same else v
        for k, (v, a) in enumerate(zip(carries, avals, strict=True))
    ]


def _kinds(avals: Sequence[Any]) -> list[str]:
    return [_KINDS.get(kind_of(a), "") for a in avals]


_KINDS = {"f": "real", "b": "bool", "i": "int", "u": "int"}


def _same_carry(jaxpr: Any, fixed: int, carried: int) -> list[int]:
    """Return the numbers of the carries that a step returns as they are."""
    return [k for k in range(carried) if jaxpr.outvars[k] is jaxpr.invars[fixed + k]]


def _unrolled(walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    p = equation.params
    length, carried, fixed = p["length"], p["num_carry"], p["num_consts"]
    if not isinstance(length, int) or length > UNROLLED:
        steps = f"{length:,}" if isinstance(length, int) else length
        raise UnsupportedError(
            f"a loop of {steps} steps with whole numbers that it carries on", cure=CARRY_REAL
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
    "while": _while,
    "cond": _cond,
    "dim_as_value": _size,
    "symgrad": _program,
}
"""For each primitive, a function of the reader, the equation and its arguments."""
