"""The elementwise parts of array programs: their forms are chosen as those of formulas of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symgrad.compiler.forms.parts import number_symbol
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import digest, elementwise_parts, fold, substitute, topological, with_args
from symgrad.ops.array.contraction import einsum
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.rewrite.facts.inference import Conditions


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
    parts = elementwise_parts(nodes)
    found = dict(zip(parts, change(substitute(parts, stand_ins)), strict=True))
    values: dict[Node, Node] = {}

    def rebuilt(node: Node, args: list[Node]) -> Node:
        values.update({stand_ins[a]: new for a, new in zip(node.args, args, strict=True) if a in stand_ins})
        form = substitute([found[node]], values)[0] if node in found else node
        # A form that no longer reads an array has another shape.
        return with_args(node, args) if node not in found or form.shape != node.shape else form

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]


def with_digits_in_parts(nodes: Sequence[Node], dtype: str = "float64") -> list[Node]:
    """Return derivatives of array programs whose elementwise parts keep their digits, as those of numbers do.

    Args:
        nodes: the derivatives.
        dtype: the type of floats in which they are computed.

    Example:
        >>> import symgrad as sg
        >>> from symgrad.ir.notation.printer import expression_text
        >>> y = sg.parse("w : real; x : real[n]; y = sum((w*x - sin(w*x))/x**3)")["y"]
        >>> (found,) = with_digits_in_parts([sg.grad(y, "x").node])
        >>> "where" in expression_text(found)
        True
    """
    joined = _with_joined_sums(nodes)
    better = _with_better_parts(joined, dtype)
    # Sums stay apart unless their terms lose digits together.
    apart = [n if new is whole else new for n, new, whole in zip(nodes, better, joined, strict=True)]
    return better if apart == better else _with_better_parts(apart, dtype)


def _with_better_parts(nodes: Sequence[Node], dtype: str) -> list[Node]:
    from symgrad.compiler.forms.one_variable import (
        keep_digits_of_values,  # for start-up time, as in `pipeline`
    )

    known = Conditions()
    stand_ins = {
        n: number_symbol(f"entry of {digest(n).hex()}", known.facts(n), n.dtype)
        for n in topological(nodes)
        if n.op is SYMBOL or (n.args and not n.op.pointwise)
    }
    return with_parts(nodes, stand_ins, lambda parts: keep_digits_of_values(parts, dtype))


def _with_joined_sums(nodes: Sequence[Node]) -> list[Node]:
    """Return array formulas in which sums over the same axes are one: ``sum(a) + sum(b)/c`` is ``sum(a + b/c)``."""

    def rebuilt(node: Node, args: list[Node]) -> Node:
        terms = [_summed_terms(a) for a in args] if node.op is add else []
        found = [t for t in terms if t is not None]
        if not found or len(found) < len(terms) or len({axes for axes, _ in found}) > 1:
            return with_args(node, args)
        return einsum(add(*(inner for _, inner in found)), params=found[0][0][0])

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]


def _summed_terms(node: Node) -> tuple[tuple[tuple[Any, ...], Shape], Node] | None:
    """Return the axes of a sum, or of a multiple of one, and its terms; None for other formulas."""
    if node.op is einsum and len(node.args) == 1:
        return (node.params, node.args[0].shape), node.args[0]
    if node.op not in (neg, mul, div) or any(a.shape for a in node.args):
        return None
    for k, arg in enumerate(node.args[:1] if node.op is div else node.args):
        found = _summed_terms(arg)
        if found is not None:
            axes, inner = found
            return axes, with_args(node, [inner if i == k else a for i, a in enumerate(node.args)])
    return None
