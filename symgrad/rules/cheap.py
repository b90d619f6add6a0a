"""Cheap forms for kernels: powers as products, square roots and cube roots.

    x**5 = x**4*x    x**6 = (x**3)**2    x**(3/2) = x*sqrt(x)    x**(4/3) = x*cbrt(x) for x >= 0

A product takes a tenth of the time of a power, a root half. Each rounding adds half an ulp, so the chains are short: up
to the sixth power the error is less than three ulps. A negative power divides by the parts, one after the other where
their product could leave the range before the value does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symgrad.ir.graph import Node, apply, as_node, number
from symgrad.ir.traverse import topological
from symgrad.ops.arith import div, mul, pow
from symgrad.ops.elementary import cbrt, sqrt
from symgrad.rewrite.condition import Conditions

__all__ = ["cheap"]

_SHORT = 4  # up to this exponent a power is lowered to products anyway
_LONGEST = 6
_WHOLE = 3  # the largest whole part of a fractional exponent


def cheap(outputs: Sequence[Node]) -> list[Node]:
    """Return nodes with powers written in cheaper ops; values and domains are the same.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x"))
        >>> cheap([x ** Fraction(3, 2)])[0] is x * sqrt(x)
        True
    """
    known = Conditions()
    made: dict[Node, Node] = {}
    for node in topological(outputs):
        args = tuple(made[a] for a in node.args)
        rebuilt = node if args == node.args else apply(node.op, args, node.params)
        if node.op is pow and node.args[1].is_number() and node.dtype == "real":
            rebuilt = _power(rebuilt.args[0], Fraction(node.args[1].value), node.args[0], known) or rebuilt
        made[node] = rebuilt
    return [made[o] for o in outputs]


def _power(base: Node, exponent: Fraction, written: Node, known: Conditions) -> Node | None:
    size = abs(exponent)
    whole, part = size.__floor__(), size - size.__floor__()
    if not part:
        if not _SHORT < size <= _LONGEST:
            return None
        chain = mul(pow(base, number(4)), base) if size == 5 else pow(pow(base, number(3)), number(2))
        return chain if exponent > 0 else div(as_node(1), chain)
    if whole > _WHOLE:
        return None
    if part == Fraction(1, 2):
        root = sqrt(base)
    elif part.denominator == 3 and known.nonnegative(written) == "yes":
        root = cbrt(base) if part.numerator == 1 else pow(cbrt(base), number(2))
    else:
        return None
    integral = base if whole == 1 else pow(base, number(whole))
    if exponent > 0:
        return mul(integral, root) if whole else root
    return div(div(as_node(1), integral), root) if whole else div(as_node(1), root)
