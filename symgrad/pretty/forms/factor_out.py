"""Factor common operands out of sums of products of arrays: `X.T@mu - X.T@y` is `X.T@(mu - y)`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import count
from math import prod
from typing import NamedTuple

from symgrad.ir.graph import Node, apply, as_node, number
from symgrad.ir.traverse import signed_terms, topological, with_args
from symgrad.ops.array.contraction import Labels, contract, einsum
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.pretty.limits import COMMON_TERMS

Operand = tuple[Node, Labels]


class _Split(NamedTuple):
    """A term, split into one operand and the rest with which it is contracted.

    Args:
        operand: the operand.
        labels: the labels of the operand.
        axes: the labels of the axes of the rest.
        rest: the rest, times the numeric factors.
    """

    operand: Node
    labels: Labels
    axes: Labels
    rest: Node


def terms_of(node: Node) -> list[Node]:
    """Return the terms of a sum, including their signs."""
    return [-term if sign < 0 else term for sign, term in signed_terms(node)]


def factors_of(
    node: Node, whole: Callable[[Node], object] = lambda _: False
) -> tuple[int, list[Node], list[Node]]:
    """Return the sign of a quotient of products, and the factors of its numerator and denominator.

    Args:
        node: the quotient.
        whole: a function that tells which nodes are not split.
    """
    above: list[Node] = []
    below: list[Node] = []
    sign = 1
    pending = [(node, True)]
    while pending:
        top, up = pending.pop()
        if whole(top):
            (above if up else below).append(top)
        elif top.op is mul:
            pending += [(a, up) for a in reversed(top.args)]
        elif top.op is div:
            pending += [(top.args[1], not up), (top.args[0], up)]
        elif top.op is neg:
            sign = -sign
            pending.append((top.args[0], up))
        else:
            (above if up else below).append(top)
    return sign, above, below


def quotient_of(sign_: int, above: Sequence[Node], below: Sequence[Node]) -> Node:
    """Return the quotient with a sign and these factors, as `factors_of` returns them."""
    others = [f for f in above if not f.is_number(1)]
    made = reduce(mul, others) if others else as_node(1)
    made = div(made, reduce(mul, below)) if below else made
    return neg(made) if sign_ < 0 else made


def without_sign(term: Node) -> Node | None:
    """Return a negation, or a product whose first factor has a minus sign, without the sign.

    The result is None for any other node.
    """
    if term.op is neg:
        return term.args[0]
    if term.op not in (mul, div):
        return None
    first, other = term.args
    negative = first.is_number() and first.value < 0
    positive = number(-first.value) if negative else without_sign(first)
    return None if positive is None else apply(term.op, (positive, other))


def shared(node: Node) -> Iterator[Node]:
    """Yield the sum with a common operand of several contractions factored out, for each such operand.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import REAL, Declaration
        >>> from symgrad.ops.numpy.products import matmul
        >>> A = symbol(Declaration("A", REAL, ("n", "n")))
        >>> x, y = symbol(Declaration("x", REAL, ("n",))), symbol(Declaration("y", REAL, ("n",)))
        >>> [found] = shared(matmul(A, x) + matmul(A, y))
        >>> found is matmul(A, x + y)
        True
    """
    terms = terms_of(node)
    if not 1 < len(terms) <= COMMON_TERMS:
        return
    groups: dict[tuple[Node, Labels, Labels], dict[int, Node]] = {}
    whole = [
        i for i, term in enumerate(terms) if term.shape == node.shape
    ]  # terms of another shape have other axes
    for i in whole:
        for split in _splits(terms[i]):
            groups.setdefault(split[:3], {}).setdefault(i, split.rest)
    ndim = len(node.shape)
    for (operand, labels, axes), rests in groups.items():
        if len(rests) < 2:
            continue
        inner = reduce(lambda a, b: a + b, rests.values())
        product = contract([operand, inner], [labels, axes], tuple(range(ndim)))
        yield reduce(lambda a, b: a + b, [product, *(t for i, t in enumerate(terms) if i not in rests)])


def distribute(node: Node) -> Node:
    """Return a node whose inner products of sums are expanded term by term: `p@(1 + log(p))` is `sum(p) + p@log(p)`."""
    done: dict[Node, Node] = {}
    for n in topological([node]):
        made = with_args(n, [done[a] for a in n.args])
        if (
            n.op is einsum
            and len(set(n.params[0])) == 1
            and prod(len(terms_of(a)) for a in made.args) <= COMMON_TERMS
        ):
            made = reduce(lambda a, b: a + b, _apart(made))
        done[n] = made
    return done[node]


def with_numbers_inside(node: Node) -> Node:
    """Return a node in which the quotients of a sum get back its number: `v*(x/t + 4*y)/4` is `v*(x/(4*t) + y)`."""
    done: dict[Node, Node] = {}
    for n in topological([node]):
        made = with_args(n, [done[a] for a in n.args])
        if n.op in (mul, div) and not n.shape:
            sign, value, above, below = _with_number(made)
            sums = [f for f in above if f.op is add]
            if len(sums) == 1 and not below:
                terms = [_with_number(t) for t in terms_of(sums[0])]
                whole = all(divisors or (c * value).denominator == 1 for _, c, _, divisors in terms)
                if whole and any(abs(c * value) == 1 != abs(c) for _, c, *_ in terms):
                    parts = (_times(s, c * value, *factors) for s, c, *factors in terms)
                    above[above.index(sums[0])] = reduce(operator.add, parts)
                    made = quotient_of(sign, above, below)
        done[n] = made
    return done[node]


def _with_number(node: Node) -> tuple[int, Fraction, list[Node], list[Node]]:
    """Return the sign of a quotient of products, its number, and its other factors."""
    sign, above, below = factors_of(node)
    top, bottom = (prod(f.value for f in some if f.is_number()) for some in (above, below))
    if not bottom:
        return sign, Fraction(1), above, below
    above, below = ([f for f in some if not f.is_number()] for some in (above, below))
    return sign, Fraction(top) / bottom, above, below


def _times(sign: int, value: Fraction, above: Sequence[Node], below: Sequence[Node]) -> Node:
    signed = sign if value > 0 else -sign
    ends = [[number(n)] if n != 1 else [] for n in (abs(value.numerator), value.denominator)]
    return quotient_of(signed, [*ends[0], *above], [*ends[1], *below])


def _apart(product: Node) -> Iterator[Node]:
    labels, result = product.params
    k = next((k for k, a in enumerate(product.args) if a.op is add), None)
    if k is None:
        yield product
        return
    for term in terms_of(product.args[k]):
        operands = [full(term, a.shape) if i == k else a for i, a in enumerate(product.args)]
        yield from _apart(contract(operands, labels, result))


def _splits(term: Node) -> Iterator[_Split]:
    """Yield the ways to write a term as one operand times a rest; equal products get equal labels."""
    front, product = _front(term)
    if product is None:
        return
    operands, result = flat(product)
    if not 1 < len(operands) <= COMMON_TERMS:
        return
    for i, (operand, own) in enumerate(operands):
        others = [o for k, o in enumerate(operands) if k != i]
        # The axes of the result come first, then the other axes of the operand.
        names = {k: place for place, k in enumerate(dict.fromkeys((*result, *own)))}
        axes = sorted({names[k] for _, ks in others for k in ks if k in names})
        back = {place: k for k, place in names.items()}
        rest = contract([o for o, _ in others], [ks for _, ks in others], tuple(back[p] for p in axes))
        yield _Split(operand, tuple(names[k] for k in own), tuple(axes), front(rest))


def _front(term: Node) -> tuple[Callable[[Node], Node], Node | None]:
    """Return a function that multiplies by the numbers in front of a term's only contraction, and this contraction."""
    if term.op is einsum:
        return (lambda rest: rest), term
    if term.op is neg:
        inner, product = _front(term.args[0])
        return (lambda rest: -inner(rest)), product
    if term.op is mul:
        arrays = [a for a in term.args if a.shape or a.op is einsum]
        if len(arrays) == 1:
            inner, product = _front(arrays[0])
            (other,) = (a for a in term.args if a is not arrays[0])
            return (lambda rest: other * inner(rest)), product
    if term.op is div and not term.args[1].shape:
        inner, product = _front(term.args[0])
        return (lambda rest: inner(rest) / term.args[1]), product
    return (lambda rest: rest), None


def flat(node: Node) -> tuple[Sequence[Operand], Labels]:
    """Return the operands of a contraction and of contractions inside it, with labels; and the labels of the result."""
    fresh = count()
    result = tuple(next(fresh) for _ in node.shape)
    operands: list[Operand] = []
    pending: list[Operand] = [(node, result)]
    while pending:
        top, own = pending.pop()
        if top.op is not einsum:
            operands.append((top, own))
            continue
        labels, outer = top.params
        names = dict(zip(outer, own, strict=True))
        parts: list[Operand] = []
        for arg, ks in zip(top.args, labels, strict=True):
            for k in ks:
                if k not in names:
                    names[k] = next(fresh)
            parts.append((arg, tuple(names[k] for k in ks)))
        pending += reversed(parts)
    return operands, result
