"""Points at which an equation holds: it is solved for an input that stands in it once, behind what has inverses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symgrad.ir.graph import OPS, SYMBOL, Node
from symgrad.ir.traverse import topological
from symgrad.ir.types import REAL

# Of each function its inverse, which has a value just where the function takes values: no point is lost, none is added.
_INVERSES: Mapping[str, Callable[[Node], Node]] = {
    "neg": lambda y: -y,
    "exp": lambda y: OPS["log"](y),
    "log": lambda y: OPS["exp"](y),
    "tanh": lambda y: OPS["atanh"](y),
    "atanh": lambda y: OPS["tanh"](y),
    "sinh": lambda y: OPS["asinh"](y),
    "asinh": lambda y: OPS["sinh"](y),
    "sigmoid": lambda y: OPS["log"](y) - OPS["log"](1 - y),
    "cbrt": lambda y: y**3,
}


# What a derivative of a function has in it that its value alone gives.
_BESIDE: Mapping[str, Callable[[Node, Node], Mapping[Node, Node]]] = {
    "tanh": lambda u, y: {OPS["sech"](u) ** 2: 1 - y**2},
    "sinh": lambda u, y: {OPS["cosh"](u): OPS["sqrt"](1 + y**2)},
}


def known_values(unknown: Node, value: Node) -> Mapping[Node, Node]:
    """Return what formulas are where ``unknown == value``: the value, and what derivatives of it have in them.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.api.handles.expr import handle
        >>> p = parse_program("z, b : real; g = tanh(z + b)")
        >>> for node, known in known_values(p["z"], p["g"]).items():
        ...     print(handle(node), "=", handle(known))
        tanh(z + b) = z
        sech(z + b)**2 = 1 - z**2
    """
    beside = _BESIDE.get(value.op.name)
    return {value: unknown} | ({} if beside is None else dict(beside(value.args[0], unknown)))


def solve_for(unknown: Node, value: Node) -> tuple[Node, Node] | None:
    """Solve ``unknown == value`` for a real input of the value; return it with what it is, or None.

    Args:
        unknown: a symbol, which may stand in the value, too.
        value: what it is equal to.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("w, z, b : real; g = tanh(w*z + b)")
        >>> from symgrad.api.handles.expr import handle
        >>> symbol, node = solve_for(p["z"], p["g"])
        >>> print(symbol.name, "=", handle(node))
        b = atanh(z) - w*z
    """
    order = topological([value])
    uses: dict[Node, int] = {}
    for node in order:
        for a in node.args:
            uses[a] = uses.get(a, 0) + 1
    for symbol in order:
        if symbol.op is not SYMBOL or symbol is unknown or uses.get(symbol) != 1:
            continue
        if symbol.shape != unknown.shape or symbol.declaration.values != REAL:
            continue
        found = _invert(symbol, value, unknown, uses)
        if found is not None:
            return symbol, found
    return None


def _invert(symbol: Node, value: Node, target: Node, uses: Mapping[Node, int]) -> Node | None:
    """Return what a symbol is where a value is the target; None where that is not known."""
    inside = _above(symbol, value)
    node = value
    while node is not symbol:
        at = [k for k, a in enumerate(node.args) if a in inside]
        if len(at) != 1 or (node is not value and uses.get(node) != 1):
            return None
        rest = [a for k, a in enumerate(node.args) if k != at[0]]
        if any(r.shape not in ((), target.shape) for r in rest):
            return None
        name = node.op.name
        if name in _INVERSES and not rest:
            target = _INVERSES[name](target)
        elif name == "add":
            target = target - rest[0]
        elif name == "sub":
            target = target + rest[0] if at[0] == 0 else rest[0] - target
        else:
            return None
        node = node.args[at[0]]
    return target


def _above(symbol: Node, value: Node) -> set[Node]:
    """Return the nodes that read a symbol, and itself."""
    found = {symbol}
    for node in topological([value]):
        if any(a in found for a in node.args):
            found.add(node)
    return found
