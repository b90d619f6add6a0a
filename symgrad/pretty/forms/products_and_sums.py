"""Parts of formulas that have a name: also factors of a product, and terms of a sum, which are no node of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from symgrad.ir.graph import Node
from symgrad.ir.traverse import fold, signed_terms, with_args
from symgrad.ops.array.contraction import contract, einsum
from symgrad.ops.scalar.arith import add, neg
from symgrad.pretty.forms.factor_out import Operand, flat


def with_part(nodes: Sequence[Node], part: Node, name: Node) -> list[Node]:
    """Return formulas with a name for a part of them.

    Args:
        nodes: the formulas.
        part: the formula that the name stands for: a product of arrays, or a sum.
        name: a symbol.

    Example:
        >>> import symgrad as sg
        >>> from symgrad.ir.notation.printer import expression_text
        >>> p = sg.parse("A, B : real[3, 3]; c, g : real[3]; a, v : real; y = g@A@B@c; z = B@c; w = a - v + 1")
        >>> g, v = p["g"].node, p["v"].node
        >>> (short,) = with_part([p["y"].node], p["z"].node, g)
        >>> expression_text(short)
        'einsum("i,ij,j->", g, A, g)'
        >>> (short,) = with_part([p["w"].node], (v - p["a"].node), v)
        >>> expression_text(short)
        '-v + 1'
    """
    if part.op is einsum:
        replaced = _in_product
    elif part.op is add or (part.op is neg and part.args[0].op is add):
        replaced = _in_sum
    else:
        return [*nodes]

    def rebuilt(node: Node, args: list[Node]) -> Node:
        return replaced(with_args(node, args), part, name)

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]


def _in_sum(node: Node, part: Node, name: Node) -> Node:
    if node.op is not add:
        return node
    terms, wanted = signed_terms(node), Counter(signed_terms(part))
    for sign in (1, -1):
        own = Counter({(sign * s, term): count for (s, term), count in wanted.items()})
        if own <= Counter(terms):
            rest = [neg(t) if s < 0 else t for s, t in (Counter(terms) - own).elements()]
            found = name if sign > 0 else neg(name)
            for term in rest:
                found = add(term, found)
            return found
    return node


def _in_product(node: Node, part: Node, name: Node) -> Node:
    if node.op is not einsum:
        return node
    operands, result = flat(node)
    inner, outer = flat(part)
    for places, meant in _matches(operands, inner, (), {}):
        rest = [x for i, x in enumerate(operands) if i not in places]
        used = {*result, *(label for _, own in rest for label in own)}
        if used.isdisjoint(new for old, new in meant.items() if old not in outer):
            axes = [*(own for _, own in rest), [meant[label] for label in outer]]
            return contract([*(x for x, _ in rest), name], axes, result)
    return node


def _matches(
    operands: Sequence[Operand], wanted: Sequence[Operand], places: tuple[int, ...], meant: dict[int, int]
) -> Iterator[tuple[tuple[int, ...], dict[int, int]]]:
    """Yield the places of the operands of a product among those of another, with the labels of their axes."""
    if len(places) == len(wanted):
        yield places, meant
        return
    factor, own = wanted[len(places)]
    for i, (operand, axes) in enumerate(operands):
        if i in places or operand is not factor:
            continue
        more = meant | dict(zip(own, axes, strict=True))
        same = all(meant.get(a, b) == b for a, b in zip(own, axes, strict=True))
        if same and len({*more.values()}) == len(more):
            yield from _matches(operands, wanted, (*places, i), more)
