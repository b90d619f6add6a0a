"""The normal form of ops that move or sum entries: views, contractions, means, slices; and elementwise ops of views.

A transpose is distributed over a sum if that adds no transposes: (eye(n) - s[:, None]).T is eye(n) - s.
"""

from __future__ import annotations

from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.sizes import Shape
from symgrad.ops.array.along import count
from symgrad.ops.array.contraction import contract, einsum, sum_over, transpose
from symgrad.ops.array.indexing import gather, one_hot, scatter_add
from symgrad.ops.array.layout import broadcast_to, full, reshape, slice_of, unslice
from symgrad.ops.array.reductions import mean
from symgrad.ops.array.scans import cumsum
from symgrad.ops.scalar.arith import add, div, mul
from symgrad.rewrite.array_forms.contractions import Contractions
from symgrad.rewrite.array_forms.inverses import Inverses
from symgrad.rewrite.array_forms.row_scatters import row_scatter
from symgrad.rewrite.facts.integer_ranges import is_position
from symgrad.rewrite.normal_form.form import Exponent, Form, Sum
from symgrad.rewrite.normal_form.gathering import Gathering
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


_LINEAR = (reshape, slice_of, unslice, gather, scatter_add, cumsum)


class Tensors:
    """Steps for nodes other than sums and products of scalars."""

    def __init__(self, forms: AllForms) -> None:
        self._forms = forms
        self.inverses = Inverses(forms)
        self.contractions = Contractions(forms, self.inverses)

    def step(self, node: Node) -> Step | None:
        """Return the step that brings an op on arrays nearer to the normal form, otherwise None."""
        if node.op.pointwise:
            return self._elementwise(node)
        if node.op is mean:
            total = div(sum_over(node.args[0], node.params[0]), count(node.args[0], node.params[0]))
            return Step("mean-as-sum", node, total, "exact")
        if (inverse := self.inverses.step(node)) is not None:
            return inverse
        core, axes = view(node)
        if core is not node:
            after = write_view(core, axes, node.shape)
            if after is not node:
                return Step("view-of-a-view", node, after, "exact")
            product = Gathering(self._forms)
            if node.op is not broadcast_to and product.takes_view(node, 1):
                product.settle()
                after = full(self._forms.products.write_signed(product.form()), node.shape)
                notes = tuple(product.notes)
                return Step("product-of-views", node, after, product.soundness, notes, tuple(product.laws))
            if (distributed := transpose_of_a_sum(self._forms, node, core, axes)) is not None:
                return distributed
        if node.op is einsum:
            if (ones := _rows_of_ones(node)) is not None:
                return Step("sum-of-labels", node, ones, "exact")
            return self.contractions.collect(node)
        return self._linear(node) if node.op in _LINEAR else None

    def _linear(self, node: Node) -> Step | None:
        """Move scalar factors in front of an op that is linear in its first operand."""
        products = self._forms.products
        operand = node.args[0]
        one = view(operand)[0]
        if one.is_number(1) and len(node.shape) == 1 and (place := _only_place(node)) is not None:
            return Step("unit-vector", node, one_hot(as_node(place), params=node.shape), "exact")
        if one.is_number(1) and node.op is scatter_add and (chosen := row_scatter(node)) is not None:
            size = node.shape[-1]
            if is_position(chosen.index, size):
                return Step("labels-in-range", node, one_hot(chosen.index, params=(size,)), "exact")
        if not one.shape and not one.is_number(1) and node.op in (scatter_add, unslice):
            ones = full(as_node(1), operand.shape)
            after = mul(one, apply(node.op, (ones, *node.args[1:]), node.params))
            return Step("factor-of-a-linear-op", node, after, "exact")
        if operand.op.name not in {"mul", "div", "neg"} or not products.small(operand):
            return None
        form = products.form(operand)
        scalars = {b: e for b, e in form.factors.items() if not b.shape}
        arrays = {b: e for b, e in form.factors.items() if b.shape}
        if (form.coefficient == 1 and not scalars) or not (arrays or form.powers):
            return None
        rest = full(products.write(Form(1, arrays, form.powers)), operand.shape)
        moved = apply(node.op, (rest, *node.args[1:]), node.params)
        # An op with a scalar result may itself be one of the scalars; then the exponents add up.
        factors = {**scalars, moved: scalars.get(moved, 0) + 1}
        if factors[moved] == 0:
            return None
        after = products.write(Form(form.coefficient, factors, {}))
        return Step("factor-of-a-linear-op", node, after, "exact")

    def _elementwise(self, node: Node) -> Step | None:
        """Apply an elementwise op to the cores of views, not to the views."""
        seen = [see_through(a) for a in node.args]
        if any(a is not b for a, b in zip(seen, node.args, strict=True)):
            after = full(apply(node.op, tuple(seen), node.params), node.shape)
            return Step("elementwise-on-broadcasts", node, after, "exact")
        cores = [view(a) if a.shape else (a, ()) for a in node.args]
        shapes = {(core.shape, axes) for core, axes in cores if axes}
        if len(shapes) != 1:
            return None
        ((_, axes),) = shapes
        if is_plain(axes):
            return None
        inner = apply(node.op, tuple(core for core, _ in cores), node.params)
        return Step("elementwise-on-views", node, write_view(inner, axes, node.shape), "exact")


def _rows_of_ones(node: Node) -> Node | None:
    """Return the sum along the rows of `one_hot`, if each position is in range, so that each row has one 1.

    Otherwise return None.
    """
    ones, *others = node.args
    if others or ones.op is not one_hot or not is_position(ones.args[0], ones.shape[-1]):
        return None
    (own,), result = node.params
    rows = full(as_node(1), ones.shape[:-1])
    if own[-1] in result:
        return None
    return rows if result == own[:-1] else contract([rows], [own[:-1]], result)


def _only_place(node: Node) -> int | None:
    """Return the position of the only value that is written into a vector of zeros of known length, otherwise None."""
    (size,) = node.shape
    if not isinstance(size, int):
        return None
    if node.op is unslice:
        (triple,) = node.params[0]
        places = range(size)[slice(*triple)]
        return places[0] if len(places) == 1 else None
    if node.op is scatter_add and not node.args[0].shape and node.args[1].is_number():
        place = int(node.args[1].value)
        return place % size if -size <= place < size else None
    return None
