"""The metavariables of the rows, the conditions that several rows share, and constructors of rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from symgrad.ir.graph import Node, constant, number, symbol, truth
from symgrad.ir.sizes import Size
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.scalar.logic import eq, ne
from symgrad.ops.scalar.rounding import floor
from symgrad.rewrite.pattern import literal, meta, proposition
from symgrad.rewrite.rule import Rule

a, b, e, f = meta("a"), meta("b"), meta("e"), meta("f")
m, n = literal("m"), literal("n")
c, d = proposition("c"), proposition("d")
zero, one, two = number(0), number(1), number(2)
yes, no = truth(True), truth(False)
pi = constant("pi")


def array(name: str, *shape: Size) -> Node:
    """Return a metavariable for an array."""
    return symbol(Declaration(name, REAL, shape))


def integer(k: Node) -> Node:
    """Return the condition that an exponent is an integer."""
    return eq(floor(k), k)


def even(k: Node) -> Node:
    """Return the condition that an exponent is even."""
    return integer(k / 2)


def odd(k: Node) -> Node:
    """Return the condition that an exponent is odd."""
    return integer((k - 1) / 2)


AT_ZERO = "also defined at {a} = 0"
"""The note of a row that extends the domain to a = 0."""

extends_to_zero = partial(Rule, soundness="widens", exact_when=ne(a, zero), note=AT_ZERO)
"""Constructs a row with this note, which is exact for a != 0."""


def row(name: str, pattern: Node, replacement: Node, why: str, condition: Node | None = None) -> Rule:
    """Return a rule that is exact."""
    return Rule(name=name, pattern=pattern, replacement=replacement, why=why, condition=condition)


def law(name: str, pattern: Node, replacement: Node, why: str, condition: Node | None = None) -> Rule:
    """Return an exact law that a normal form applies to any number of operands at once."""
    return replace(row(name, pattern, replacement, why, condition), how="collected")
