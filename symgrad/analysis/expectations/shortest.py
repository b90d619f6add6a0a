"""The shortest form of a moment; it is expanded if terms then cancel."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import reduce
from itertools import product

from symgrad.ir.graph import Node, apply
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import full
from symgrad.rewrite.pipeline import canonical

_MULTIPLIED = frozenset({"broadcast_to", "einsum", "mul", "neg"})
_TERMS = 100  # number of terms of an expanded sum
_POWER = 6  # the largest expanded power


def shortest(node: Node) -> Node:
    r"""Return a node in canonical form; if the expanded form is shorter, expand it.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("x : real\ny = (x + 1)**2 - x*(x + 2)\nz = (x + 1)**5")
        >>> str_text(shortest(p["y"])), str_text(shortest(p["z"]))
        ('1', '(x + 1)**5')
    """
    forms = canonical([node, multiplied_out(node)], drop_stops=True).nodes
    return min(forms, key=lambda n: len(topological([n])))


def multiplied_out(node: Node) -> Node:
    """Distribute contractions, products and integer powers over sums, so that equal terms meet."""
    terms: dict[Node, list[Node]] = {}
    for n in topological([node]):
        parts = [terms[a] for a in n.args]
        power = _integer_power(n)
        if power is not None:
            parts = [parts[0]] * power
        if not n.args:
            terms[n] = [n]
        elif n.op.name == "add":
            terms[n] = [full(t, n.shape) for p in parts for t in p]
        elif power is None and n.op.name not in _MULTIPLIED:
            terms[n] = [apply(n.op, tuple(_sum(p) for p in parts), n.params)]
        elif math.prod(map(len, parts)) > _TERMS:
            terms[n] = [apply(n.op, tuple(_sum(terms[a]) for a in n.args), n.params)]
        elif power is not None:
            terms[n] = [reduce(operator.mul, chosen) for chosen in product(*parts)]
        else:
            terms[n] = [apply(n.op, chosen, n.params) for chosen in product(*parts)]
        if len(terms[n]) > _TERMS:
            terms[n] = [_sum(terms[n])]
    return _sum(terms[node])


def _integer_power(n: Node) -> int | None:
    if n.op.name != "pow" or not n.args[1].is_number():
        return None
    exponent = n.args[1].value
    return int(exponent) if exponent == int(exponent) and 2 <= exponent <= _POWER else None


def _sum(terms: Sequence[Node]) -> Node:
    return reduce(operator.add, terms)
