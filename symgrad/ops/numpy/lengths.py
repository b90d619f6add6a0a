"""Sizes that were written as numbers: the way back from `size_node`."""

from __future__ import annotations

from symgrad.ir.graph import NUMBER, SIZE, Node
from symgrad.ir.sizes import Size, size_ceildiv, size_max, size_min, size_product, size_quotient, size_sum
from symgrad.ir.traverse import fold

__all__ = ["as_size"]


def as_size(node: Node) -> Size | None:
    """Return the size that a node stands for, None if it is none.

    Sizes are whole numbers and names of sizes with + - *, exact /, maximum, minimum and ceil(a/b).

    Example:
        >>> from symgrad.ir.graph import size_node
        >>> print(as_size(2 * size_node("n") - 1))
        2*n - 1
    """
    if node.op is NUMBER or node.op is SIZE:
        return _combine(node, [])
    return fold([node], _combine)[node] if node.dtype != "bool" and not node.shape else None


def _combine(node: Node, parts: list[Size | None]) -> Size | None:
    if node.op is NUMBER:
        return node.value if node.dtype == "int" and isinstance(node.value, int) else None
    if node.op is SIZE:
        return node.params[0]
    if node.op.name == "ceil" and node.args[0].op.name == "div":
        above, below = (as_size(a) for a in node.args[0].args)
        return (
            size_ceildiv(above, below) if above is not None and isinstance(below, int) and below > 0 else None
        )
    a, b = parts[0] if parts else None, parts[-1] if parts else None
    if a is None or b is None:
        return None
    match node.op.name:
        case "add":
            return size_sum([a, b])
        case "neg":
            return size_product([-1, a])
        case "mul":
            return size_product([a, b])
        case "div":
            return size_quotient(a, b) if b != 0 else None
        case "maximum":
            return size_max(a, b)
        case "minimum":
            return size_min(a, b)
        case _:
            return None
