"""By which input a derivative is that does not say so."""

from __future__ import annotations

from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of

__all__ = ["input_of", "inputs_of"]

_USUAL = ("x", "t")  # of several inputs the others are parameters


def inputs_of(node: Node) -> list[Node]:
    """Return the real inputs that a value reads, but for random ones."""
    return [s for s in symbols_of([node]) if s.dtype == "real" and s.declaration.distribution is None]


def input_of(node: Node) -> Node | None:
    """Return the input that a value is a function of: the only one, or of several the one called x or t; else None.

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
