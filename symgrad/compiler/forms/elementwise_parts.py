"""The elementwise parts of array programs: their forms are chosen as those of formulas of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.traverse import digest, fold, substitute, topological, with_args
from symgrad.ir.types import DOMAINS, Declaration, Domain
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.intervals import Facts


def with_parts(
    nodes: Sequence[Node],
    stand_ins: Mapping[Node, Node],
    change: Callable[[Sequence[Node]], Sequence[Node]],
) -> list[Node]:
    """Return array formulas with other forms of their elementwise parts.

    Args:
        nodes: the formulas.
        stand_ins: symbols that stand for the nodes that elementwise parts read.
        change: returns a form of each part, over these symbols.
    """
    read = (a for n in topological(nodes) if not n.op.pointwise for a in n.args)
    parts = [n for n in dict.fromkeys((*nodes, *read)) if n.args and n.op.pointwise]
    found = dict(zip(parts, change(substitute(parts, stand_ins)), strict=True))
    values: dict[Node, Node] = {}

    def rebuilt(node: Node, args: list[Node]) -> Node:
        values.update({stand_ins[a]: new for a, new in zip(node.args, args, strict=True) if a in stand_ins})
        form = substitute([found[node]], values)[0] if node in found else node
        # A form that no longer reads an array has another shape.
        return with_args(node, args) if node not in found or form.shape != node.shape else form

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]


def with_digits_in_parts(nodes: Sequence[Node]) -> list[Node]:
    """Return derivatives of array programs whose elementwise parts keep their digits, as those of numbers do.

    Example:
        >>> import symgrad as sg
        >>> from symgrad.ir.notation.printer import expression_text
        >>> y = sg.parse("w : real; x : real[n]; y = sum((w*x - sin(w*x))/x**3)")["y"]
        >>> (found,) = with_digits_in_parts([sg.grad(y, "x").node])
        >>> "where" in expression_text(found)
        True
    """
    from symgrad.compiler.forms.one_variable import (
        keep_digits_of_values,  # for start-up time, as in `pipeline`
    )

    known = Conditions()
    stand_ins = {
        n: _number(n, known.facts(n))
        for n in topological(nodes)
        if n.op is SYMBOL or (n.args and not n.op.pointwise)
    }
    return with_parts(nodes, stand_ins, keep_digits_of_values)


def _number(node: Node, facts: Facts) -> Node:
    """Return a symbol for an entry of an array."""
    domain = DOMAINS[node.dtype]
    if node.dtype == "real":
        low, high = (None if isinstance(end, float) else end for end in (facts.low, facts.high))
        domain = Domain("real", "real", low, high, not (facts.low_open or facts.high_open))
    return symbol(Declaration(f"entry of {digest(node).hex()}", domain))
