"""Transposes of sums: inside, where fewer transposes are left so. (eye(n) - s[:, None]).T is eye(n) - s."""

from __future__ import annotations

from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add
from symgrad.rewrite.normal_form.form import Exponent, Form, Sum
from symgrad.rewrite.normal_form.interfaces import AllForms
from symgrad.rewrite.normal_form.views import Map, is_plain, see_through, view, written
from symgrad.rewrite.trace import Step

__all__ = ["transpose_of_a_sum"]


def transpose_of_a_sum(forms: AllForms, node: Node, core: Node, axes: Map) -> Step | None:
    """Return the step that transposes the terms of a sum instead of the sum, if that is shorter.

    Args:
        forms: the normal forms.
        node: the transpose.
        core: the sum.
        axes: the axis of the sum for each axis of the node.
    """
    order = [a for a in axes if a is not None]
    if core.op is not add or len(order) != len(axes) or is_plain(axes) or not forms.sums.small(core):
        return None
    given = forms.sums.of(core)
    total = Sum(given.constant, {})
    before = after = 0
    for term, c in given.terms.items():
        form = forms.products.form_of_factor(term)
        if form.powers:
            return None
        turned: dict[Node, Exponent] = {}
        for base, e in form.factors.items():
            seen = _turned(base, core.shape, order) if base.shape else base
            if seen in turned:
                return None
            turned[seen] = e
            before += _is_turned(base)
            after += _is_turned(seen)
        product = forms.products.write(Form(form.coefficient, turned, {}))
        if product.is_number() or product in total.terms:
            return None
        total.terms[product] = c
    if after > before:
        return None
    return Step("transpose-of-a-sum", node, full(forms.sums.write(total), node.shape), "exact")


def _turned(base: Node, shape: Shape, order: list[int]) -> Node:
    shown = transpose(full(base, shape), order)
    return see_through(written(*view(shown), shown.shape))


def _is_turned(base: Node) -> bool:
    return not is_plain(view(base)[1])
