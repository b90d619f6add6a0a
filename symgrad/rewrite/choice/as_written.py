"""Read sums, squares and signs of a node as written, for the rows of the stable phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt

from symgrad.ir.exact import Exact, exact_value
from symgrad.ir.graph import Node, apply, number
from symgrad.ops.scalar.arith import add, mul, neg
from symgrad.rewrite.pattern import View

ScaledTerm = tuple[Fraction, Node]

ONE = number(1)
_UNIT = Fraction(1)
_TWO = number(2)


class _AsWritten:
    """Reads a leading minus sign, squares, and the constant of a sum."""

    def sees(self, op_name: str) -> bool:
        return op_name in {"neg", "pow", "add", "sqrt"}

    def arguments(self, op_name: str, node: Node) -> tuple[Node, ...] | None:
        name = node.op.name
        if op_name == "neg":
            found = negated(node)
            return None if found is None else (found,)
        if op_name == "sqrt":
            root = name == "pow" and node.args[1].is_number(Fraction(1, 2))
            return (node.args[0],) if name == "sqrt" or root else None
        if op_name == "pow":
            return _power(node)
        if name != "add":
            return None
        terms = terms_of(node)
        constants = [k for k, (_, part) in enumerate(terms) if part is ONE]
        if len(constants) != 1 or len(terms) < 3:
            return node.args
        (k,) = constants
        return number(terms[k][0]), sum_of([*terms[:k], *terms[k + 1 :]])


AS_WRITTEN: View = _AsWritten()


def negated(node: Node) -> Node | None:
    """Return the negation of a node that is written with a leading minus sign; None for other nodes."""
    name = node.op.name
    if node.is_number():
        return number(-node.value) if node.value < 0 else None
    if name == "neg":
        return node.args[0]
    if name in {"mul", "div"}:
        first = negated(node.args[0])
        if first is None:
            return None
        return node.args[1] if name == "mul" and first is ONE else apply(node.op, (first, node.args[1]), ())
    return None


def has_sign(node: Node) -> bool:
    """Tell whether a node is written with a leading minus sign; see `negated`."""
    while not node.is_number():
        name = node.op.name
        if name != "mul" and name != "div":
            return name == "neg"
        node = node.args[0]
    return node.value < 0


def _power(node: Node) -> tuple[Node, Node] | None:
    """Read x*x, x**4 and 9 as squares, and any other power as it is."""
    name = node.op.name
    if name == "mul":
        return (node.args[0], _TWO) if node.args[0] is node.args[1] else None
    if name == "pow":
        exponent = node.args[1]
        if (
            exponent.is_number()
            and exponent.dtype == "int"
            and exponent.value > 2
            and exponent.value % 2 == 0
        ):
            return node.args[0] ** (exponent / 2), _TWO
        return node.args[0], exponent
    if node.is_number():
        root = _root(node.value)
        return None if root is None else (number(root), _TWO)
    return None


def _root(value: Exact) -> Fraction | None:
    if value <= 0:
        return None
    above, below = isqrt(value.numerator), isqrt(value.denominator)
    whole = above * above == value.numerator and below * below == value.denominator
    return Fraction(above, below) if whole else None


def terms_of(node: Node) -> list[ScaledTerm]:
    """Return the terms of a sum in order, each as a number times a node; a constant is a number times `ONE`."""
    found: list[ScaledTerm] = []
    pending: list[ScaledTerm] = [(_UNIT, node)]
    while pending:
        c, part = pending.pop()
        name = part.op.name
        if name == "add":
            pending += [(c, part.args[1]), (c, part.args[0])]
        elif name == "neg":
            pending.append((-c, part.args[0]))
        elif part.is_number():
            found.append((times(c, part.value), ONE))
        elif name == "mul" and part.args[0].is_number() and part.args[0].value:
            pending.append((times(c, part.args[0].value), part.args[1]))
        else:
            found.append((c, part))
    return found


def times(c: Fraction, by: Exact) -> Fraction:
    """Return a product of numbers; raise an error if it is too long."""
    if c is _UNIT:
        return by if isinstance(by, Fraction) else Fraction(by)
    product = c * by
    exact_value(product)
    return product


def scaled(c: Fraction, part: Node) -> Node:
    """Return a number times a node; for -1 this is a minus sign."""
    if part is ONE:
        return number(c)
    if c == 1:
        return part
    if c == -1:
        positive = negated(part)
        return neg(part) if positive is None else positive
    return mul(number(c), part)


def sum_of(terms: Sequence[ScaledTerm]) -> Node:
    """Return the sum of terms in order."""
    total: Node | None = None
    for c, part in terms:
        if total is None:
            total = scaled(c, part)
        elif part is ONE or c > 0:
            total = add(total, scaled(c, part))
        else:
            total = add(total, neg(scaled(-c, part)))
    return number(0) if total is None else total


_SEEN: Mapping[str, frozenset[str]] = {
    "mul": frozenset(["mul"]),
    "div": frozenset(["div"]),
    "pow": frozenset(["pow"]),
    "number": frozenset(["number"]),
}
_WITH_SIGN = {name: seen | {"neg"} for name, seen in _SEEN.items()}
_SQUARE, _SQUARE_WITH_SIGN = frozenset(["mul", "pow"]), frozenset(["mul", "pow", "neg"])
_ROOT = frozenset(["pow", "sqrt"])
_SQUARE_NUMBER = frozenset(["number", "pow"])
_ANY_NUMBER = frozenset(["number", "pow", "neg"])


def seen_as(node: Node) -> frozenset[str]:
    """Return the ops that a node can be read as; patterns with other ops cannot match."""
    name = node.op.name
    if name == "pow":
        return _ROOT if node.args[1].is_number(Fraction(1, 2)) else _SEEN[name]
    if name not in _SEEN:
        return frozenset([name])
    if name == "number" and node.is_number() and _root(node.value) is not None:
        return _SQUARE_NUMBER
    if name == "mul" and node.args[0] is node.args[1]:
        return _SQUARE_WITH_SIGN if has_sign(node) else _SQUARE
    return (_WITH_SIGN if has_sign(node) else _SEEN)[name]


def seen_in_a_sum(part: Node) -> frozenset[str]:
    """Return the ops that the node of a scaled term can be read as; a constant term may have any coefficient."""
    return _ANY_NUMBER if part is ONE else seen_as(part)
