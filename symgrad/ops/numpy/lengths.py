"""Convert numbers to sizes: the inverse of `size_node`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symgrad.ir.graph import NUMBER, SIZE, Node
from symgrad.ir.sizes import Size, size_ceildiv, size_max, size_min, size_product, size_quotient, size_sum
from symgrad.ir.traverse import fold


def as_size(node: Node) -> Size | None:
    """Return a node as a size; None if it is not a size.

    Sizes are integers and names of sizes with + - *, exact /, maximum, minimum and ceil(a/b).

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
    combine = _COMBINE.get(node.op.name)
    return None if combine is None else combine(a, b)


_COMBINE: Mapping[str, Callable[[Size, Size], Size | None]] = {
    "add": lambda a, b: size_sum([a, b]),
    "neg": lambda a, _: size_product([-1, a]),
    "mul": lambda a, b: size_product([a, b]),
    "div": lambda a, b: size_quotient(a, b) if b != 0 else None,
    "maximum": size_max,
    "minimum": size_min,
}
