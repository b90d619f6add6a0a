"""Ops that change what differentiation sees, not what is computed."""

from __future__ import annotations

from symgrad.ir.graph import as_node
from symgrad.ops.record import facts, unary

__all__ = ["stop_gradient"]

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
