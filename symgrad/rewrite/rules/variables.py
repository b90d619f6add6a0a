"""The metavariables of the rows, and conditions that several rows state."""

from __future__ import annotations

from symgrad.ir.graph import Node, constant, number, truth
from symgrad.ops.scalar.logic import eq
from symgrad.ops.scalar.rounding import floor
from symgrad.rewrite.pattern import literal, meta, proposition

# fmt: off
__all__ = [
    "AT_ZERO", "a", "b", "c", "d", "e", "even", "f", "integer", "m",
    "n", "no", "odd", "one", "pi", "two", "yes", "zero",
]
# fmt: on

a, b, e, f = meta("a"), meta("b"), meta("e"), meta("f")
m, n = literal("m"), literal("n")
c, d = proposition("c"), proposition("d")
zero, one, two = number(0), number(1), number(2)
yes, no = truth(True), truth(False)
pi = constant("pi")


def integer(k: Node) -> Node:
    """Return the condition that an exponent is an integer."""
    return eq(floor(k), k)


def even(k: Node) -> Node:
    """Return the condition that it is even."""
    return integer(k / 2)


def odd(k: Node) -> Node:
    """Return the condition that it is odd."""
    return integer((k - 1) / 2)


# The note of a row that fills the gap at zero.
AT_ZERO = "also defined at {a} = 0"
