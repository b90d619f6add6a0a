"""The order in which a formula is written, where its canonical order reads less well.

`-log(p) - 1` begins with its main term; `(x - p)/(p*(1 - p))` has factors that are positive, if this is known;
`-(inv(X)@A@inv(X)).T` is transposed only once.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection
from fractions import Fraction
from functools import reduce

from symgrad.ir.graph import SYMBOL, Node, apply, as_node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.array.contraction import Labels, contract, einsum, sum_over
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.layout import reshape, squeeze
from symgrad.ops.array.linalg import inv
from symgrad.ops.numpy.products import diag
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.pretty.forms.factor_out import factors_of, flat, terms_of, without_sign
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.normal_form.products import spell_signs
from symgrad.support.traversal import leaves, walk

TermSet = frozenset[Node]
_Operand = tuple[Node, Labels]
_PRODUCTS = (mul, div, neg)
_KIND = {add: "sum", mul: "product", div: "product", neg: "product", einsum: "contraction"}


def order_terms(
    node: Node, known: Conditions, own: Collection[TermSet] = (), *, keepdims: bool = False
) -> Node:
    """Return a node in the order in which it is written; its value and domain are the same.

    Args:
        node: a formula.
        known: facts about its parts.
        own: the terms of sums as the program writes them: if it writes `x - m`, then `- B@(m - x)` becomes `+ B@(x -
            m)`.

        keepdims: whether `(A@v)[:, None]` is written `sum(v*A, axis=1, keepdims=True)`.

    Example:
        >>> from symgrad.ir.graph import as_node, symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.rewrite.facts.inference import Conditions
        >>> import symgrad.ops
        >>> x = symbol(Declaration("x"))
        >>> order_terms(as_node(-1) - x, Conditions()) is -x - 1
        True
    """
    done: dict[Node, Node] = {}
    order = topological([node])
    inner = {a for n in order for a in n.args if _KIND.get(a.op) == _KIND.get(n.op, n)}
    terms = {t for n in order if n.op is add for t in n.args}
    for n in order:
        made = with_args(n, [done[a] for a in n.args])
        if n not in inner or n is node:
            if n.op in _PRODUCTS:
                made = diagonal(made) or _flat_product(_positive(made, known, own, alone=n not in terms))
            elif n.op is add:
                made = _turned_sum(_in_order(_added(made, own, known)))
            elif n.op is pow and not _base(made)[1] and _is_other_way_round(made.args[0], own):
                made = apply(pow, (_negated(made.args[0]), made.args[1]))
            elif n.op is reshape and keepdims:
                made = _summed_with_axis(made)
            elif n.op is einsum:
                made = _without_signs(_turned_operands(_turned(made)))
        done[n] = made
    return spell_signs([done[node]])[0]


def _in_order(node: Node) -> Node:
    """Make a sum begin with a positive term if it has one, or else end with its number."""
    terms = terms_of(node)
    first, *others = terms
    if not _is_negative(first):
        return node
    plus = next((k for k, t in enumerate(others) if not _is_negative(t)), None)
    if plus is not None:
        return reduce(operator.add, [others[plus], first, *others[:plus], *others[plus + 1 :]])
    return reduce(operator.add, [*others, first]) if first.is_number() else node


def _is_negative(term: Node) -> bool:
    while term.op in (mul, div):
        term = term.args[0]
    return term.op is neg or (term.is_number() and term.value < 0)


def _positive(node: Node, known: Conditions, own: Collection[TermSet], *, alone: bool) -> Node:
    """Return a product in which sums that are known to be negative are negated."""
    sign, *factors = factors_of(node)
    turned = _has_inner_signs(node)
    for part in factors:
        for k, factor in enumerate(part):
            base, odd = _base(factor)
            if _is_other_way_round(base, own):
                other = _negated(base)
                part[k] = other if factor is base else apply(pow, (other, factor.args[1]))
                sign, turned = -sign if odd else sign, True
                continue
            if factor.op is add and (_is_wholly_negative(factor) or known.negative(factor) == "yes"):
                part[k], sign, turned = _negated(factor), -sign, True
    above, below = factors
    alone = alone and sign < 0
    if not turned and not (alone and any(f.op is add and _is_mixed(f) for f in above)):
        return node
    if alone:
        at = next(
            (k for k, f in enumerate(above) if f.op is add and known.positive(f) != "yes" and _is_mixed(f)),
            None,
        )
        if at is not None:
            above[at], sign = _negated(above[at]), 1
    if len(above) > 1 and above[0].is_number() and isinstance(above[0].value, Fraction):
        value = above[0].value  # a fraction 1/2 in a product is written as a denominator 2
        above[0] = as_node(value.numerator)
        below.append(as_node(value.denominator))
    if len(above) > 1 and above[0].is_number(1):
        del above[0]
    made = reduce(lambda a, b: a * b, above) if above else as_node(1)
    made = (
        div(made, reduce(lambda a, b: a * b, below)) if below else made
    )  # `/` would multiply by a fraction instead
    return neg(made) if sign < 0 else made


def _base(factor: Node) -> tuple[Node, bool]:
    """Return the base of an integer power, and whether the exponent is odd; return another factor itself, and True."""
    whole = factor.op is pow and factor.args[1].is_number() and isinstance(factor.args[1].value, int)
    return (factor.args[0], bool(factor.args[1].value % 2)) if whole else (factor, True)


def _is_other_way_round(total: Node, own: Collection[TermSet]) -> bool:
    """Tell whether the program writes a sum with all signs reversed, and never as it is."""
    if total.op is not add or terms_in(total) in own:
        return False
    return terms_in(_negated(total)) in own


def _has_inner_signs(node: Node) -> bool:
    """Tell whether a product has a minus sign that is not in front of it."""
    pending: list[Node] = []
    signs = 0
    while node.op in _PRODUCTS:
        pending += node.args[1:]
        signs += node.op is neg
        node = node.args[0]
    inner = walk(pending, lambda top: top.args if top.op in (mul, div) else ())
    return signs > 1 or any(top.op is neg for top in inner)


def _is_wholly_negative(total: Node) -> bool:
    return all(map(_is_negative, terms_of(total)))


def _summed_with_axis(node: Node) -> Node:
    """Write a matrix times a vector, as a column, as a sum along an axis that is kept."""
    (product,) = node.args
    if (
        product.op is not einsum
        or product.params != (((0, 1), (1,)), (0,))
        or node.shape != (*product.shape, 1)
    ):
        return node
    matrix, vector = product.args
    return reshape(sum_over(_flat_product(vector * matrix), (1,)), params=node.params)


def _without_signs(node: Node) -> Node:
    """Move the signs of a contraction's operands in front of it."""
    parts = [without_sign(a) for a in node.args]
    if node.op is not einsum or all(p is None for p in parts):
        return node
    operands = tuple(a if p is None else p for a, p in zip(node.args, parts, strict=True))
    made = apply(einsum, operands, node.params)
    return -made if sum(p is not None for p in parts) % 2 else made


def _flat_product(node: Node) -> Node:
    """Remove parentheses around products in a product: `a*(b*c)` is `a*b*c`."""
    if node.op is not mul or node.args[1].op is not mul:
        return node
    return reduce(operator.mul, leaves(node, lambda top: top.args if top.op is mul else None))


def diagonal(node: Node) -> Node | None:
    """Return an identity matrix times values that vary along one axis as a diagonal matrix; None for other products."""
    sign, above, below = factors_of(node)
    ones = next((f for f in above if f.op is eye and f.shape[0] == f.shape[1]), None)
    if ones is None:
        return None
    above.remove(ones)
    size = ones.shape[0]
    parts = [
        [f if f.shape in ((), (size,)) else squeeze(f, (1,)) if f.shape == (size, 1) else None for f in some]
        for some in (above, below)
    ]
    up, down = ([f for f in some if f is not None] for some in parts)
    if len(up) + len(down) < len(above) + len(below) or not any(f.shape for f in (*up, *down)):
        return None
    entries = reduce(operator.mul, up) if up else as_node(1)
    entries = entries / reduce(operator.mul, down) if down else entries
    return -diag(entries) if sign < 0 else diag(entries)


def _is_mixed(total: Node) -> bool:
    return len({_is_negative(t) for t in terms_of(total)}) > 1


def _negated(total: Node) -> Node:
    return _in_order(reduce(operator.add, [-t for t in terms_of(total)]))


def _added(node: Node, own: Collection[TermSet], known: Conditions) -> Node:
    """Write the subtraction of a product with a difference as an addition: -a*(b - c) as +a*(c - b)."""
    terms = terms_of(node)
    signed = [-positive if (positive := without_sign(t)) is not None else t for t in terms]
    inner = Counter(n for t in terms for n in topological([t]) if n.op is add)

    def flipped(node: Node) -> Node | None:
        """Return the negation of a product if a difference in it reads as well in the opposite order."""
        if node.op is add:
            other = _negated(node)
            if terms_in(other) in own:
                return other
            free = terms_in(node) not in own and inner[node] < 2 and _is_plain_difference(node)
            return _added(other, own, known) if free and known.positive(node) != "yes" else None
        if node.op in (mul, div, einsum):
            for k in range(1 if node.op is div else len(node.args)):
                found = flipped(node.args[k])
                if found is not None:
                    return apply(node.op, (*node.args[:k], found, *node.args[k + 1 :]), node.params)
        return None

    found = [flipped(t.args[0]) or t if t.op is neg else t for t in signed]
    return node if found == terms else reduce(operator.add, found)


def _is_plain_difference(total: Node) -> bool:
    terms = terms_of(total)
    return len(terms) == 2 and _is_mixed(total) and not any(t.is_number() for t in terms)


def terms_in(total: Node) -> TermSet:
    """Return the terms of a sum, without an order."""
    return frozenset(terms_of(total))


def _turned_sum(node: Node) -> Node:
    """Write a sum of transposes as the transpose of a sum, if that is shorter."""
    inner = _transposed_sum(node) if len(node.shape) == 2 else None
    return node if inner is None else _shorter(contract([inner], [(0, 1)], (1, 0)), node)


def _turned_operands(node: Node) -> Node:
    """Write the transpose of a sum, read by a product, as a sum of transposes, if that is shorter."""
    labels, result = node.params
    for k, (operand, own) in enumerate(zip(node.args, labels, strict=True)):
        inner = _transposed_sum(operand) if operand.op is add and len(set(own)) == len(own) == 2 else None
        if inner is not None:
            operands = (*node.args[:k], inner, *node.args[k + 1 :])
            node = _shorter(
                apply(einsum, operands, ((*labels[:k], own[::-1], *labels[k + 1 :]), result)), node
            )
            labels = node.params[0]
    return node


def _shorter(made: Node, node: Node) -> Node:
    return made if len(expression_text(made)) < len(expression_text(node)) else node


def _transposed_sum(total: Node) -> Node | None:
    found: list[Node] = []
    for term in terms_of(total):
        turned = _transposed(term)
        if turned is None:
            return None
        found.append(turned)
    return reduce(operator.add, found)


def _transposed(term: Node) -> Node | None:
    """Return the transpose of a term that is a number times a product of matrices, with its sign."""
    if term.op is neg or (term.op is div and not term.args[1].shape):
        inner = _transposed(term.args[0])
        return None if inner is None else apply(term.op, (inner, *term.args[1:]), ())
    if term.op is mul and not term.args[0].shape:
        inner = _transposed(term.args[1])
        return None if inner is None else term.args[0] * inner
    if term.op is not einsum:
        return (
            contract([term], [(0, 1)], (1, 0)) if term.op in (SYMBOL, inv) and len(term.shape) == 2 else None
        )
    operands, result = flat(term)
    if len(operands) == 1 and operands[0][1] == result[::-1]:
        return operands[0][0]
    if [own for _, own in operands] == [(k,) for k in result]:
        return contract([operands[1][0], operands[0][0]], [(0,), (1,)], (0, 1))
    return _reversed(term)


def _turned(node: Node) -> Node:
    """Write a product of transposes as the transpose of the reversed product, if that is shorter."""
    product = _reversed(node)
    if product is None:
        return node
    turned = contract([product], [(0, 1)], (1, 0))
    before, after = (expression_text(n) for n in (node, turned))
    factors = [m for m, _ in flat(node)[0]]
    fewer = after.count(".T") < before.count(".T") and factors == factors[::-1]
    return turned if len(after) < len(before) + fewer else node


def _reversed(node: Node) -> Node | None:
    """Return the transpose of a product of matrices as the product of their transposes."""
    chain = _chain(node)
    if chain is None:
        return None
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
    return product


def _chain(node: Node) -> list[_Operand] | None:
    """Return the factors of a product of matrices in order; None for other nodes."""
    operands, result = flat(node)
    if len(result) != 2 or len(operands) < 2 or any(len({*own}) != 2 or len(own) != 2 for _, own in operands):
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
