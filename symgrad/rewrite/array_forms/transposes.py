"""Distribute a transpose over a sum if that adds no transposes: (eye(n) - s[:, None]).T is eye(n) - s."""

from __future__ import annotations

from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add
from symgrad.rewrite.normal_form.form import Exponent, Form, Sum
from symgrad.rewrite.normal_form.protocols import AllForms
from symgrad.rewrite.normal_form.views import Map, is_plain, see_through, view, write_view
from symgrad.rewrite.trace import Step


def transpose_of_a_sum(forms: AllForms, node: Node, core: Node, axes: Map) -> Step | None:
    """Return the step that transposes the terms of a sum, not the sum itself, unless that adds transposes.

    Args:
        forms: the normal forms.
        node: the transpose.
        core: the sum.
        axes: the axis of the sum for each axis of the node.
    """
    order = [a for a in axes if a is not None]
    if core.op is not add or len(order) != len(axes) or is_plain(axes) or not forms.sums.small(core):
        return None
    terms = forms.sums.of(core)
    total = Sum(terms.constant, {})
    before = after = 0
    for term, c in terms.terms.items():
        form = forms.products.form_of_factor(term)
        if form.powers:
            return None
        factors: dict[Node, Exponent] = {}
        for base, e in form.factors.items():
            moved = _transposed(base, core.shape, order) if base.shape else base
            if moved in factors:
                return None
            factors[moved] = e
            before += not is_plain(view(base)[1])
            after += not is_plain(view(moved)[1])
        product = forms.products.write(Form(form.coefficient, factors, {}))
        if product.is_number() or product in total.terms:
            return None
        total.terms[product] = c
    if after > before:
        return None
    return Step("transpose-of-a-sum", node, full(forms.sums.write(total), node.shape), "exact")


def _transposed(base: Node, shape: Shape, order: list[int]) -> Node:
    shown = transpose(full(base, shape), order)
    return see_through(write_view(*view(shown), shown.shape))
