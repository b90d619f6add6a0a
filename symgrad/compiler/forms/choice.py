"""Choose between two forms of derivatives: the direct form of the chain rule, or the canonical form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import chain

from symgrad.compiler.lowering.cost import own_cost
from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.traverse import substitute, symbols_of, topological, with_args
from symgrad.ir.types import Declaration
from symgrad.ops.array.contraction import einsum
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.support.traversal import walk

SMALL = 160
"""Derivatives with at most this many equations are small: a reader would see the difference, so all forms are
compared."""

_EVERYWHERE = frozenset((add, mul, neg, OPS["stop_gradient"]))
"""Ops that have a value wherever their arguments have one."""


def cost(nodes: Collection[Node]) -> int:
    """Estimate the number of simple operations of these nodes, without their operands."""
    return sum(map(own_cost, nodes))


def evidently_fine(direct: Sequence[Node], primal: Collection[Node]) -> bool:
    """Tell whether no form can be better than the direct form of derivatives.

    Three conditions must hold: the derivatives are products and sums of values that the user's expressions compute
    anyway; none of these values can be infinite; no sum has a number among its terms (such sums may cancel: 1 -
    tanh(x)**2). An example is the Jacobian of a chain of rotations, whose canonical form takes ten times as long to
    find as to compile. The result is always False for small derivatives.

    Args:
        direct: the derivatives.
        primal: the nodes that the kernel computes beside the derivatives.
    """
    order = topological(direct)
    own = set(primal)
    for n in order:
        with_number = n.op is add and any(a.is_number() for a in n.args)
        if n.args and n not in own and (n.op not in _EVERYWHERE or with_number):
            return False
    return len(order) > SMALL and not any(map(_may_be_infinite, order))


def cheaper(nodes: Sequence[Node], direct: Sequence[Node], primal: Collection[Node]) -> Sequence[Node]:
    """Return the direct form of derivatives if it is cheaper and defined wherever the canonical form is.

    The chain rule reads values that the user's expressions compute anyway; the canonical form may write them
    differently, and compute them again. Small derivatives, in which a reader would see the difference, keep the
    canonical form. So do derivatives whose canonical form is defined at more points: exp(x - exp(x)) is zero where
    exp(-exp(x))*exp(x) is NaN.

    Args:
        nodes: the derivatives in canonical form.
        direct: the derivatives in the direct form of the chain rule.
        primal: the nodes that are computed beside them.
    """
    order, other = topological(direct), topological(nodes)
    if len(order) <= SMALL:
        return nodes
    known = {*primal, *other}
    everywhere = all(n in known or n.op in _EVERYWHERE or not n.args for n in order)
    less = everywhere and cost({*order, *primal}) < cost(known)
    return direct if less and _unbounded(order) == _unbounded(other) else nodes


def without_divisors(nodes: Sequence[Node], simplify: Callable[[Node], Node]) -> list[Node]:
    """Return derivatives of an array program, between products of arrays in printed forms that divide by fewer values.

    Digits are only compared in formulas of numbers. In an array program a form is better for certain if it has fewer
    divisors that may vanish, no more sums in which digits may cancel, and no more work: p - one_hot(t, k) is the
    gradient of -log(p[t]) also where p[t] is 0 in floats. All derivatives of a network share what is between products.

    Args:
        nodes: the derivatives.
        simplify: a function that writes a formula as it is printed.
    """
    products = [n for n in topological(nodes) if n.op is einsum and _is_matrix_product(n)]
    symbols = {n: symbol(Declaration(f"product {k}", shape=n.shape)) for k, n in enumerate(products)}
    values: dict[Node, Node] = {}  # of these symbols

    @cache
    def in_form(node: Node) -> Node:
        (part,) = substitute([node], symbols)
        return substitute([_with_less_division(part, simplify)], values)[0]

    for product in products:
        values[symbols[product]] = with_args(product, [in_form(a) for a in product.args])
    return [in_form(n) for n in nodes]


def _is_matrix_product(node: Node) -> bool:
    """Tell whether a contraction sums over an axis of operands with different axes; a sum of products does not."""
    labels, result = node.params
    axes = [set(own) for own in labels]
    summed = (k for own in axes for k in own if k not in result)
    return any(a != axes[0] for a in axes) and any(sum(k in own for own in axes) > 1 for k in summed)


def _with_less_division(node: Node, simplify: Callable[[Node], Node]) -> Node:
    order = topological([node])
    if len(order) > SMALL or not _divisors(order):
        return node
    form = simplify(node)
    other = topological([form])
    fewer = _divisors(other) < _divisors(order) and _count_sums(other) <= _count_sums(order)
    return form if fewer and cost(other) <= cost(order) and _loops(other) <= _loops(order) else node


def _divisors(order: Sequence[Node]) -> set[Node]:
    """Return the factors that may vanish below fraction bars."""
    from symgrad.rewrite.pipeline import zeros_of  # a late import, as in `_unbounded`

    reached = walk([n.args[1] for n in order if n.op is div], zeros_of)
    return {n for n in reached if not zeros_of(n) and symbols_of([n])}


def _loops(order: Sequence[Node]) -> list[int]:
    """Return the numbers of nested loops of contractions, the largest first."""
    labels: list[Sequence[str]] = [n.params[0] for n in order if n.op is einsum]
    return sorted((len(set(chain(*axes))) for axes in labels), reverse=True)


def _count_sums(order: Sequence[Node]) -> int:
    return sum(n.op is add for n in order)


def _unbounded(order: Sequence[Node]) -> set[Node]:
    """Return the canonical forms of the nodes that may be infinite at finite arguments."""
    from symgrad.rewrite.pipeline import canonical  # for start-up time: values as written need no rules

    found = [*filter(_may_be_infinite, order)]
    if not found:
        return set()
    return {*filter(_may_be_infinite, topological(canonical(found, drop_stops=True).nodes))}


def _may_be_infinite(node: Node) -> bool:
    """Tell whether a node other than a product or sum may be infinite at finite arguments."""
    if not node.args or node.op in _EVERYWHERE or "bounded-by-one" in node.op.facts:
        return False
    last = node.args[-1]
    if node.op is div:
        return not last.is_number()
    return not (node.op is pow and last.is_number() and last.dtype == "int" and last.value > 0)
