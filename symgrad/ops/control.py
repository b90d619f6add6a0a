"""Ops that change what differentiation sees, not what is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.traverse import topological
from symgrad.ir.written import written
from symgrad.ops.layout import full
from symgrad.ops.own import define
from symgrad.ops.record import facts, ternary, unary

__all__ = ["as_computed", "stop_gradient", "with_slope"]

# The value is the argument, bit for bit; the derivative edge is cut. Meaning: every differentiable symbol inside is
# replaced by a frozen twin (`backward/frozen.py`), so the partial is zero at every order.
stop_gradient = unary(
    "stop_gradient",
    aliases=(),
    doc="x as a value, a constant to differentiation",
    gives="same",
    cas=None,
    domain=None,
    evaluate=lambda x: x,
    reference=lambda mp, x: x,
    partials=(lambda out, x: as_node(0),),
    kinks=(),
    lower=lambda b, node, x: x,
    latex=r"\operatorname{{sg}}\left({0}\right)",
    facts=facts("stops", "idempotent"),
    samples=(("0.5",), ("-2",)),
)


def _first(*arrays: Any) -> Any:
    value = np.broadcast_arrays(*arrays)[0]
    return np.array(value, dtype=value.dtype if value.dtype.kind == "f" else float)[()]


# A derivative that is given, not derived from the value: what a custom gradient is made of. The partial by z is zero,
# but the one by y is z itself, so that order two differentiates the given expression, and nothing else.
with_slope = ternary(
    "with_slope",
    aliases=(),
    doc="x as a value, with the derivatives of x and, as the derivative by y, z",
    gives="real",
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
    """Right for values and for derivatives of order one, which are all that verdicts ask of a formula."""
    return x + stop_gradient(z) * (y - stop_gradient(y))


define(with_slope, written("x + stop_gradient(z)*(y - stop_gradient(y))", "x y z", _definition))


def as_computed(outputs: Sequence[Node]) -> list[Node]:
    """Return nodes without `with_slope`, of which the value is its first argument: for what is only evaluated."""
    order = topological(outputs)
    if not any(n.op is with_slope for n in order):
        return list(outputs)
    made: dict[Node, Node] = {}
    for n in order:
        args = tuple(made[a] for a in n.args)
        if n.op is with_slope:
            made[n] = full(args[0], n.shape)
        else:
            made[n] = n if args == n.args else apply(n.op, args, n.params)
    return [made[o] for o in outputs]
