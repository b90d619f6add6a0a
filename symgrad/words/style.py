"""How a formula is set: `-log(p) - 1` and `-(inv(X)@A@inv(X)).T`, where its canonical order reads less well."""

from __future__ import annotations

from functools import reduce

from symgrad.ir.graph import Node, apply
from symgrad.ir.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ops.arith import add, neg
from symgrad.ops.contraction import Labels, contract, einsum
from symgrad.words.common import flat, terms_of

__all__ = ["styled"]

_Operand = tuple[Node, Labels]


def styled(node: Node) -> Node:
    """Return a node as it is set; its value and domain are the same.

    Example:
        >>> from symgrad.ir.graph import as_node, symbol
        >>> from symgrad.ir.types import Declaration
        >>> import symgrad.ops
        >>> x = symbol(Declaration("x"))
        >>> styled(as_node(-1) - x) is -x - 1
        True
    """
    done: dict[Node, Node] = {}
    order = topological([node])
    inner = {a for n in order if n.op in (add, einsum) for a in n.args if a.op is n.op}
    for n in order:
        args = tuple(done[a] for a in n.args)
        made = n if args == n.args else apply(n.op, args, n.params)
        if n not in inner or n is node:
            made = _number_last(made) if n.op is add else _turned(made) if n.op is einsum else made
        done[n] = made
    return done[node]


def _number_last(node: Node) -> Node:
    """A sum without a plus sign ends with its number, so that it opens with what it is about."""
    terms = terms_of(node)
    first, *others = terms
    if not (first.is_number() and first.value < 0 and all(t.op is neg for t in others)):
        return node
    return reduce(lambda a, b: a + b, [*others, first])


def _turned(node: Node) -> Node:
    """A product of transposes is the transpose of the product in reverse, where that is shorter."""
    chain = _chain(node)
    if chain is None:
        return node
    at = flat(node)[1][1]
    parts: list[_Operand] = []
    for matrix, own in reversed(chain):
        after = own[0] if own[1] == at else own[1]
        parts.append((matrix, (0, 1) if own == (at, after) else (1, 0)))
        at = after
    (product, first), *others = parts
    product = product if first == (0, 1) else contract([product], [(1, 0)], (0, 1))
    for matrix, own in others:
        product = contract([product, matrix], [(0, 1), (1, 2) if own == (0, 1) else (2, 1)], (0, 2))
    turned = contract([product], [(0, 1)], (1, 0))
    return turned if len(expression_text(turned)) < len(expression_text(node)) else node


def _chain(node: Node) -> list[_Operand] | None:
    """Return the factors of a product of matrices in order; None if it is something else."""
    operands, result = flat(node)
    if len(result) != 2 or len(operands) < 2 or any(len(set(own)) != 2 for _, own in operands):
        return None
    at, end = result
    left, chain = list(operands), list[_Operand]()
    while left:
        found = [o for o in left if at in o[1]]
        if len(found) != 1:
            return None
        chain += found
        left.remove(found[0])
        (at,) = (k for k in found[0][1] if k != at)
    return chain if at == end else None
