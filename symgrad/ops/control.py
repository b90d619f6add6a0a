"""Ops that change derivatives but not values: stop_gradient, with_slope, and the straight-through estimator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.ir.body import Body
from symgrad.ir.composite import define_function
from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.traverse import fold, symbols_of, topological, with_args
from symgrad.ops.array.layout import full
from symgrad.ops.record import facts, ternary, unary
from symgrad.ops.scalar.arith import add, mul, neg
from symgrad.ops.user_ops import define

# The value is the argument, bit for bit, and the derivative edge is cut. Differentiation replaces every symbol inside
# by a frozen copy (`autodiff/frozen.py`), so the partial is zero at every order.
stop_gradient = unary(
    "stop_gradient",
    doc="x as a value, a constant to differentiation",
    gives="same",
    cas=None,
    domain=None,
    evaluate=lambda x: x,
    reference=lambda mp, x: x,
    partials=(lambda out, x: as_node(0),),
    kinks=(),
    lower=lambda b, node, x: x,
    cost=0,
    latex=r"\operatorname{{sg}}\left({0}\right)",
    facts=facts("stops", "idempotent"),
    samples=(("0.5",), ("-2",)),
)


def _first(*arrays: Any) -> Any:
    value = np.broadcast_arrays(*arrays)[0]
    return np.array(value, dtype=value.dtype if value.dtype.kind == "f" else float)[()]


# A derivative that is independent of the value, for custom gradients. The partial with respect to z is zero, but the
# partial with respect to y is z itself, so that order two differentiates the custom expression, and nothing else.
with_slope = ternary(
    "with_slope",
    doc="x as a value, with the derivatives of x and, as the derivative by y, z",
    cas=None,
    domain=None,
    evaluate=_first,
    reference=lambda mp, x, y, z: x,
    partials=(lambda out, x, y, z: as_node(1), lambda out, x, y, z: z, lambda out, x, y, z: as_node(0)),
    kinks=(),
    lower=lambda b, node, x, y, z: x,
    latex=r"\operatorname{{with\_slope}}\left({0}, {1}, {2}\right)",
    facts=facts("given-slope"),
    samples=(("0.5", 2, 3), ("-2", "0.25", "-1"), (3, "-1.5", "0.75"), ("1e-3", 7, "2.5"), (-40, 1, 9)),
)


def _definition(x: Node, y: Node, z: Node) -> Node:
    """Return a formula with the same value and first derivatives, the only derivatives that verdicts compare."""
    return add(x, mul(stop_gradient(z), add(y, neg(stop_gradient(y)))))


define(with_slope, define_function("x + stop_gradient(z)*(y - stop_gradient(y))", "x y z", _definition))


def as_computed(outputs: Sequence[Node], order: Sequence[Node] | None = None) -> list[Node]:
    """Return nodes with `with_slope` replaced by its first argument, for evaluation without derivatives.

    Args:
        outputs: the nodes.
        order: the topological order of their graph, if the caller has it.
    """
    if not any(n.op is with_slope for n in (topological(outputs) if order is None else order)):
        return list(outputs)
    values = fold(
        outputs, lambda n, args: full(args[0], n.shape) if n.op is with_slope else with_args(n, args)
    )
    return [values[o] for o in outputs]


def values_of_steps(outputs: Sequence[Node]) -> list[Node]:
    """Return nodes whose recurrences have no ops in their steps that only change derivatives, for evaluation alone."""

    def value(n: Node, args: list[Node]) -> Node:
        n = with_args(n, args)
        body = n.params[-1] if n.params else None
        if not isinstance(body, Body):
            return n
        inner = values_of_steps(as_computed(body.results))
        stops = [m for m in topological(inner) if m.op is stop_gradient]
        values = without_stops(inner, {*stops})
        results = tuple(values[r] for r in inner)
        return apply(n.op, n.args, (*n.params[:-1], replace(body, results=results)))

    values = fold(outputs, value)
    return [values[o] for o in outputs]


def without_stops(outputs: Sequence[Node], removed: Collection[Node]) -> dict[Node, Node]:
    """Return the nodes of programs with some stop_gradients replaced by their arguments."""
    return fold(outputs, lambda n, args: args[0] if n in removed else with_args(n, args))


def value_alone(outputs: Sequence[Node]) -> list[Node]:
    """Return nodes without ops that only change derivatives, for functions whose derivatives are defined separately.

    ``stop_gradient(f) - (stop_gradient(g) - g)`` becomes f, which has the same value wherever g is finite.
    """
    values: dict[Node, Node] = {}

    def value(n: Node, args: list[Node]) -> Node:
        if n.op is stop_gradient:
            return args[0]
        f = kept_value(n)
        return with_args(n, args) if f is None else full(values[f], n.shape)

    outputs = as_computed(outputs)
    fold(outputs, value, values)
    return [values[o] for o in outputs]


def straight_through(f: Node, g: Node) -> Node:
    """Return the value of f, bit for bit if g is finite, with the derivatives of g.

    F itself if f and g are the same node.
    """
    if f is g:
        return f
    if not symbols_of([g]):
        return stop_gradient(f)
    return add(stop_gradient(f), neg(add(stop_gradient(g), neg(g))))


def kept_value(n: Node) -> Node | None:
    """Return f from a result of `straight_through`; None for any other node."""
    if n.op.name != "add" or n.args[0].op is not stop_gradient or n.args[1].op.name != "neg":
        return None
    (inner,) = n.args[1].args
    if inner.op.name != "add" or inner.args[0].op is not stop_gradient or inner.args[1].op.name != "neg":
        return None
    return n.args[0].args[0] if inner.args[0].args[0] is inner.args[1].args[0] else None
