"""Where two sides tie, as a formula: by undoing one function after the other."""

from __future__ import annotations

from symgrad.analysis.explain.noise.dependence import Dependence
from symgrad.ir.graph import OPS, Node
from symgrad.ir.traverse import topological

__all__ = ["tie_of"]


def tie_of(left: Node, right: Node, u: Node) -> Node | None:
    """Return where two sides tie, if one of them is a chain of increasing or decreasing functions of u."""
    side, other = (left, right) if u in topological([left]) else (right, left)
    if u in topological([other]):
        return None
    depends = Dependence([side], [u])
    while side is not u:
        inner = [a for a in side.args if depends(a, u)]
        if len(inner) != 1:
            return None
        k = side.args.index(inner[0])
        rest = next((a for i, a in enumerate(side.args) if i != k), None)
        match side.op.name, rest:
            case "add", Node():
                other = other - rest
            case "mul", Node():
                other = other / rest
            case "div", Node() if k == 0:
                other = other * rest
            case "div", Node():
                other = rest / other
            case "neg", None:
                other = -other
            case "sqrt", None:
                other = other**2
            case "exp", None:
                other = OPS["log"](other)
            case "log", None:
                other = OPS["exp"](other)
            case _:
                return None
        side = inner[0]
    return other
