"""Matrices as people write them: with few transposes, and with diagonal matrices as terms of sums.

(eye(n)*v - x).T        is  eye(n)*v - x[:, None]
p[:, None]*(eye(n) - p) is  diag(p) - outer(p, p)
"""

from __future__ import annotations

import operator
from functools import reduce

from symgrad.ir.graph import SYMBOL, Node, apply
from symgrad.ir.notation.arrays import is_transpose
from symgrad.ir.traverse import fold, topological, with_args
from symgrad.ops.array.contraction import contract, einsum
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.layout import broadcast_to, concatenate, full, reshape, squeeze, unslice
from symgrad.ops.scalar.arith import add, mul
from symgrad.pretty.forms.factor_out import factors_of, quotient_of, terms_of
from symgrad.pretty.forms.term_order import diagonal
from symgrad.support.traversal import postorder


def without_transposes(node: Node) -> Node:
    """Return a node without those transposes that vanish when they are moved to the parts of an elementwise formula.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import REAL, Declaration
        >>> A, x = symbol(Declaration("A", REAL, (3, 3))), symbol(Declaration("x", REAL, (3,)))
        >>> turned = contract([A], [(0, 1)], (1, 0))
        >>> expression_text(without_transposes(contract([eye(params=(3, 3)) - turned * x], [(0, 1)], (1, 0))))
        'eye(3) - A*x[:, None]'
    """

    def rebuilt(n: Node, args: list[Node]) -> Node:
        made = with_args(n, args)
        if not is_transpose(made):
            return made
        moved = _transposed(made.args[0])
        return moved if _count(moved) <= _count(made.args[0]) else made

    return fold([node], rebuilt)[node]


def _count(node: Node) -> int:
    return sum(map(is_transpose, topological([node])))


def with_diagonal_terms(node: Node) -> Node:
    """Return a node in which products with sums that contain an identity matrix are sums of products.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import REAL, Declaration
        >>> p = symbol(Declaration("p", REAL, (3,)))
        >>> expression_text(with_diagonal_terms(reshape(p, params=((3, 1),)) * (eye(params=(3, 3)) - p)))
        'diag(p) - outer(p, p)'
    """

    def rebuilt(n: Node, args: list[Node]) -> Node:
        made = with_args(n, args)
        return (_split(made) or made) if n.op is mul and len(n.shape) == 2 else made

    return fold([node], rebuilt)[node]


def _split(node: Node) -> Node | None:
    sign, above, below = factors_of(node)
    total = next((f for f in above if f.op is add and any(t.op is eye for t in topological([f]))), None)
    if total is None or total.shape != node.shape:
        return None
    above.remove(total)
    below_all = reduce(operator.mul, below) if below else None
    found: list[Node] = []
    for term in terms_of(total):
        made = reduce(operator.mul, above, term if sign > 0 else -term)
        made = diagonal(made) or _outer(made) or made
        if made.shape != node.shape:
            return None
        found.append(made / below_all if below_all is not None else made)
    return reduce(operator.add, found)


def _outer(node: Node) -> Node | None:
    """Return a column times a row as their outer product."""
    sign, above, below = factors_of(node)
    columns = [f for f in above if f.shape == (node.shape[0], 1) and f.shape != node.shape]
    rows = [f for f in above if f.shape == node.shape[1:]]
    others = [f for f in above if f not in columns and f not in rows]
    if below or len(columns) != 1 or len(rows) != 1 or any(f.shape for f in others):
        return None
    made = contract([squeeze(columns[0], (1,)), rows[0]], [(0,), (1,)], (0, 1))
    made = reduce(operator.mul, others, made)
    return -made if sign < 0 else made


def _transposed(node: Node) -> Node:
    """Return the transpose of a matrix."""
    done: dict[Node, Node] = {}
    for n in postorder([node], _parts, until=done):
        done[n] = _from_parts(n, done)
    return done[node]


def _parts(node: Node) -> tuple[Node, ...]:
    """Return the matrices and vectors whose transposes give the transpose of a node."""
    if diagonal(node) is not None or is_transpose(node):
        return ()
    return node.args if node.op.pointwise or node.op in (concatenate, unslice) or _cuts(node) else ()


def _cuts(node: Node) -> bool:
    return node.op.name == "slice" and len(node.shape) == 2


def _from_parts(node: Node, done: dict[Node, Node]) -> Node:
    if not node.shape or diagonal(node) is not None:
        return node
    if len(node.shape) == 1:
        arrays = [a for a in node.args if a.shape]
        if node.op.pointwise and len(arrays) == 1 and arrays[0].shape == node.shape:
            return node.op(*(done[a] for a in node.args), params=node.params)
        return reshape(node, params=((*node.shape, 1),))
    if node.op is eye:
        return eye(params=node.params[::-1])
    if node.op is SYMBOL and node.declaration.symmetric:
        return node
    if is_transpose(node):
        return node.args[0]
    if node.op is concatenate:
        return concatenate(*(done[a] for a in node.args), params=(1 - node.params[0],))
    if node.op is unslice:
        cuts, shape = node.params
        return unslice(done[node.args[0]], params=(cuts[::-1], shape[::-1]))
    if _cuts(node):
        return apply(node.op, (done[node.args[0]],), (node.params[0][::-1],))
    if node.op.pointwise and node.args:
        args = [done[a] for a in node.args]
        return full(node.op(*args, params=node.params), node.shape[::-1])
    if node.op is broadcast_to and not node.args[0].shape:
        return broadcast_to(node.args[0], params=(node.shape[::-1],))
    if node.op is reshape and node.shape[1] == 1 and node.args[0].shape == node.shape[:1]:
        return reshape(node, params=(node.shape[::-1],))
    if node.op is einsum:
        labels, result = node.params
        return apply(einsum, node.args, (labels, result[::-1]))
    return contract([node], [(0, 1)], (1, 0))


def with_dots(node: Node) -> Node:
    """Return a formula in which sums of products of two vectors are products of the vectors.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("a : real; v, w : real[n]; y = sum(a*v*exp(w))")
        >>> print(sg.Expr(with_dots(p["y"].node)))
        a*(v@exp(w))
    """
    return fold([node], _with_dot)[node]


def _with_dot(node: Node, args: list[Node]) -> Node:
    node = with_args(node, args)
    if node.op is not einsum or node.params != (((0,),), ()):
        return node
    sign, above, below = factors_of(args[0])
    scalars, vectors = ([f for f in above if bool(f.shape) is found] for found in (False, True))
    if below or len(vectors) != 2 or any(v.shape != args[0].shape for v in vectors):
        return node
    return quotient_of(sign, [*scalars, contract(vectors, [(0,), (0,)], ())], [])
