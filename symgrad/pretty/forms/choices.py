"""Write choices as people do: common factors of both branches come first, and `clip` replaces its definition.

where(abs(r) <= 1, r/n, sign(r)/n)   is   clip(r, -1, 1)/n
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from symgrad.ir.graph import Node, apply, as_node, number
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.array.contraction import einsum
from symgrad.ops.scalar.arith import neg
from symgrad.ops.scalar.logic import ge, gt, le, lt, where
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.ops.scalar.rounding import clip, sign
from symgrad.pretty.forms.factor_out import factors_of, quotient_of
from symgrad.rewrite.facts.inference import Conditions


def simplify_choices(node: Node, known: Conditions) -> Node:
    """Return a node whose choices are written as people do; its value and domain are the same.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> import symgrad.ops
        >>> r, n = symbol(Declaration("r")), symbol(Declaration("n"))
        >>> found = simplify_choices(where(le(absolute(r), as_node(1)), r / n, sign(r) / n), Conditions())
        >>> found is clip(r, as_node(-1), as_node(1)) / n
        True
    """
    done: dict[Node, Node] = {}
    made: set[Node] = set()  # choices that have factors in front of them
    for n in topological([node]):
        after = with_args(n, [done[a] for a in n.args])
        if n.op is where and n.dtype != "bool":
            parted = _parted(after, known)
            if parted is not after and parted.shape == after.shape:
                after = parted
                made.add(after)
        elif n.op is neg:
            after = _negated(after.args[0]) or after
        elif n.op is einsum and any(a in made for a in after.args):
            after = _in_front(after, made)
        done[n] = after
    return done[node]


def _negated(node: Node) -> Node | None:
    """Return a choice between 0 and a negation, or a sum of its entries, without the sign; None for other nodes."""
    if len(node.args) == 1 and node.op.name in ("einsum", "reshape"):
        inner = _negated(node.args[0])
        return None if inner is None else apply(node.op, (inner,), node.params)
    if node.op is not where:
        return None
    condition, *branches = node.args
    parts = [factors_of(branch) for branch in branches]
    if not any(b.is_number(0) for b in branches) or not any(sign_ < 0 for sign_, _, _ in parts):
        return None
    return where(
        condition,
        *(b if b.is_number(0) else quotient_of(1, *p[1:]) for b, p in zip(branches, parts, strict=True)),
    )


def _parted(choice: Node, known: Conditions) -> Node:
    condition, first, second = choice.args
    one, other = factors_of(first), factors_of(second)
    above, below = _common(one[1], other[1]), _common(one[2], other[2])
    sign_ = -1 if one[0] == other[0] == -1 else 1
    if first.is_number() or second.is_number():
        above, below, sign_ = [], [], 1
    left, right = (
        quotient_of(s * sign_, _without(up, above), _without(down, below)) for s, up, down in (one, other)
    )
    inner = _clipped(condition, left, right, known) or (
        where(condition, left, right) if above or below or sign_ < 0 else choice
    )
    return quotient_of(sign_, [*above, inner], below)


def _common(one: Sequence[Node], other: Sequence[Node]) -> list[Node]:
    left = list(other)
    found: list[Node] = []
    for factor in one:
        if factor in left and not factor.is_number():
            left.remove(factor)
            found.append(factor)
    return found


def _without(factors: Sequence[Node], some: Sequence[Node]) -> list[Node]:
    left = list(factors)
    for factor in some:
        left.remove(factor)
    return left


def _clipped(condition: Node, value: Node, other: Node, known: Conditions) -> Node | None:
    """Return `clip(r, -k, k)` for `where(abs(r) <= k, r, k*sign(r))` with k >= 0; None for other choices."""
    if condition.op in (gt, ge):
        value, other = other, value
    elif condition.op not in (le, lt):
        return None
    size, most = condition.args
    if size.op is not absolute or size.args[0] is not value or known.nonnegative(most) != "yes":
        return None
    s, above, below = factors_of(other)
    if s < 0 or sign(value) not in above:
        return None
    bound = _with_one_number(_without(above, [sign(value)]), below)
    return clip(value, -most, most) if bound is most else None


def _with_one_number(above: Sequence[Node], below: Sequence[Node]) -> Node:
    numbers = prod(f.value for f in above if f.is_number())
    divisor = prod(f.value for f in below if f.is_number())
    front = number(Fraction(numbers) / divisor) if divisor else as_node(0)
    rest = [f for f in above if not f.is_number()], [f for f in below if not f.is_number()]
    return quotient_of(1, [*([] if front.is_number(1) and rest[0] else [front]), *rest[0]], rest[1])


def _in_front(product: Node, made: set[Node]) -> Node:
    """Return a contraction in which scalars in front of choices among its operands are moved in front of the whole."""
    operands: list[Node] = []
    front: list[Node] = []
    back: list[Node] = []
    minus = 1
    for a in product.args:
        s, above, below = factors_of(a) if a in made else (1, [a], [])
        minus *= s
        scalars = [f for f in above if not f.shape], [f for f in below if not f.shape]
        inner = quotient_of(1, _without(above, scalars[0]), _without(below, scalars[1]))
        operands.append(inner if inner.shape == a.shape else a)
        if inner.shape == a.shape:
            front += scalars[0]
            back += scalars[1]
    return quotient_of(minus, [*front, apply(einsum, tuple(operands), product.params)], back)
