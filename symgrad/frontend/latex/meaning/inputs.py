"""Find the input with respect to which a derivative is taken if it names no variable."""

from __future__ import annotations

from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of

_USUAL = ("x", "t")  # if there are several inputs, all others are parameters


def inputs_of(node: Node) -> list[Node]:
    """Return the real inputs on which a value depends, except random ones."""
    return [s for s in symbols_of([node]) if s.dtype == "real" and s.declaration.distribution is None]


def input_of(node: Node) -> Node | None:
    """Return the input of which a value is a function: the only one, or the one called x or t; otherwise None.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("a, x, y : real; f = a*x**2; g = a*y")
        >>> input_of(p["f"]).name, input_of(p["g"])
        ('x', None)
    """
    inputs = inputs_of(node)
    usual = [s for s in inputs if s.name in _USUAL]
    found = inputs if len(inputs) == 1 else usual
    return found[0] if len(found) == 1 and found[0] is not node else None
