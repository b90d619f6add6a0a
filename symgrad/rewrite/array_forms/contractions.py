"""The normal form of contractions in index notation: scalar factors in front of connected sums of products.

    c * s1**e1 * ... * (sum over j, k of A[i, j]*B[j, k]*...) * ...

A contraction inside another contraction is merged into it. A transpose permutes labels, a repeated axis has no label,
and an identity matrix identifies two labels. An operand without summed labels is a factor in front. Operands with equal
labels are one product, entry by entry. `rewrite/rules/tensor_laws.py` has these laws as rows;
`ir/notation/contractions.py` writes the result as matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from symgrad.ir.graph import Node, number, size_node
from symgrad.ir.sizes import Shape
from symgrad.ops.array.contraction import Labels, contract, einsum, transpose
from symgrad.ops.array.indexing import iota, scatter_add
from symgrad.ops.array.layout import WHOLE, full, move_up, reshape, unslice
from symgrad.ops.scalar.arith import pow
from symgrad.ops.scalar.elementary import exp
from symgrad.rewrite.array_forms.inverses import Inverses
from symgrad.rewrite.array_forms.labels import in_order
from symgrad.rewrite.array_forms.operands import LabelledOperand, OpenContraction
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.normal_form.form import E, Form, Sum, is_long, short
from symgrad.rewrite.normal_form.gathering import Gathering
from symgrad.rewrite.normal_form.protocols import AllForms
from symgrad.rewrite.normal_form.views import view, write_view
from symgrad.rewrite.trace import Note, Step


def counted_axes(node: Node) -> dict[int, int]:
    """Return the axes of a scatter's positions along which they enumerate an axis of the result, with that axis.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import INT, REAL, Declaration
        >>> from symgrad.ops.array.indexing import scatter_add
        >>> v, y = symbol(Declaration("v", REAL, ("n",))), symbol(Declaration("y", INT, ("n",)))
        >>> counted_axes(scatter_add(v, iota(params=("n",)), y, params=((0, 1), ("n", 3))))
        {0: 0}
    """
    axes, shape = cast("tuple[tuple[int, ...], Shape]", node.params)
    indices = node.args[1:]
    depth = max(len(i.shape) for i in indices)
    found: dict[int, int] = {}
    for index, axis in zip(indices, axes, strict=True):
        core, along = view(index)
        if core.op is not iota or core.shape != (shape[axis],) or len(along) - along.count(None) != 1:
            continue
        j = along.index(0) + depth - len(along)
        if j not in found:
            found[j] = axis
    return found


_OPERANDS = 12  # largest number of operands of a contraction that is merged into another one
_DEEPEST = 4  # largest nesting of sums that are summed term by term
_PRODUCTS = frozenset({"mul", "div", "neg", "pow", "sqrt"})


class Contractions:
    """Contractions in normal form."""

    def __init__(self, forms: AllForms, inverses: Inverses) -> None:
        self._forms = forms
        self._inverses = inverses
        self._sums: dict[Node, tuple[Node, tuple[Note, ...]]] = {}
        self._depth = 0

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a contraction whose operands are in normal form."""
        front = Gathering(self._forms)
        after = self._collected(node, front)
        if after is None or after is node:
            return None
        laws, notes = tuple(front.laws), tuple(front.notes)
        return Step("collect-contraction", node, after, front.soundness, notes, laws)

    def normal(self, node: Node) -> Node:
        """Return the normal form of a contraction whose operands are in normal form."""
        return self._summed(node, Gathering(self._forms))

    def _collected(self, node: Node, front: Gathering) -> Node | None:
        labels, result = node.params
        operands = list(zip(node.args, labels, strict=True))
        this = OpenContraction(
            front, result, {k: s for a, own in operands for k, s in zip(own, a.shape, strict=True)}
        )
        self._open(this, operands)
        self._inverses.cancel(this)
        self._identities(this)
        self._spread_values(this)
        self._group(this)
        while self._sum_lone_labels(this):
            self._group(this)
        self._count_repeats(this)
        for part in this.components():
            self._include(this, part)
        front.settle()
        if front.stays or is_long(front.coefficient):
            return None
        return full(self._write(front.form()), node.shape)

    def _write(self, form: Form) -> Node:
        """Write a product; `Sums` writes a number times a lone sum."""
        if len(form.factors) == 1 and not form.powers:
            ((base, e),) = form.factors.items()
            if base.op.name == "add" and e == 1:
                return self._forms.sums.times(base, form.coefficient)
        return self._forms.products.write(form)

    def _open(
        self, this: OpenContraction, operands: Sequence[tuple[Node, Labels]], *, sums: bool = True
    ) -> None:
        """Split operands that are views, products or contractions; split plain sums only if ``sums``."""
        pending = list(reversed(operands))
        while pending:
            node, labels = pending.pop()
            core, axes = view(node)
            if core is not node:
                this.front.laws["contraction-of-a-view"] = None
            at = {a: k for a, k in zip(axes, labels, strict=True) if a is not None}
            own = tuple(at[a] for a in range(len(core.shape)))
            name = core.op.name
            if not own:
                this.front.laws["factor-in-front"] = None
                this.front.take(core, 1)
            elif (
                core.op is einsum
                and (sums or len(core.args) > 1)
                and len(core.args) + len(pending) <= _OPERANDS
            ):
                this.front.laws["contraction-of-a-contraction"] = None
                inner = dict(zip(core.params[1], own, strict=True))
                parts: list[tuple[Node, Labels]] = list(zip(core.args, core.params[0], strict=True))
                for arg, ks in parts:
                    new = [k for k in dict.fromkeys(ks) if k not in inner]
                    inner.update(zip(new, this.fresh(arg.shape[ks.index(k)] for k in new), strict=True))
                pending += [(arg, tuple(inner[k] for k in ks)) for arg, ks in reversed(parts)]
            elif (product := _squeezed(core)).op.name in _PRODUCTS and self._forms.products.small(product):
                pending += reversed(self._factors(this, product, own, core.shape))
            elif name == "add":
                content, primitive = self._forms.sums.primitive(core)
                this.front.include(number(content), 1)
                this.operands.append(LabelledOperand(primitive, 1, own))
            else:
                this.operands.append(LabelledOperand(core, 1, own))

    def _factors(
        self, this: OpenContraction, node: Node, own: Labels, shape: Shape
    ) -> list[tuple[Node, Labels]]:
        """Include the factors of a product with these labels, and return the factors that may be split further.

        The product may have more axes than labels; these have length one.
        """

        def shown(base: Node) -> Node:
            return move_up(full(base, node.shape), shape) if shape != node.shape else full(base, shape)

        form = self._forms.products.form_of_factor(node)
        this.front.include(number(form.coefficient), 1)
        opens: list[tuple[Node, Labels]] = []
        for base, e in [*form.factors.items(), *((b, 1) for b in _powers(form))]:
            if not base.shape:
                this.front.laws["factor-in-front"] = None
                this.front.take(base, e) if e == 1 else this.front.include(base, e)
            elif e == 1 and base is not node:
                opens.append((shown(base), own))
            else:
                core, axes = view(shown(base))
                at = {a: k for a, k in zip(axes, own, strict=True) if a is not None}
                this.operands.append(LabelledOperand(core, e, tuple(at[a] for a in range(len(core.shape)))))
        return opens

    def _identities(self, this: OpenContraction) -> None:
        """Identify the two labels of each identity matrix, unless the result has both."""
        for operand in [o for o in this.operands if o.base.op.name == "eye" and o.exponent == 1]:
            rows, columns = operand.base.params
            both = len(set(operand.labels)) == 2 and all(k in this.result for k in operand.labels)
            if rows != columns or both:
                continue
            this.front.laws["contraction-with-identity"] = None
            this.operands.remove(operand)
            keep, drop = sorted(operand.labels, key=lambda k: k not in this.result)
            if keep != drop:
                this.rename(drop, keep)
                del this.sizes[drop]

    def _spread_values(self, this: OpenContraction) -> None:
        """Sum values directly, instead of an array of zeros into which they are scattered."""
        for i, operand in enumerate(this.operands):
            node, labels = operand.base, operand.labels
            if operand.exponent != 1 or node.op not in (scatter_add, unslice):
                continue
            lone = [k not in this.result and this.count(k) == 1 for k in labels]
            values = node.args[0]
            if node.op is scatter_add:
                axes: tuple[int, ...] = node.params[0]
                depth = len(values.shape) - (len(labels) - len(axes))
                counted = counted_axes(node)
                if not all(lone[a] or a in counted.values() for a in axes):
                    continue
                rest = [k for a, k in enumerate(labels) if a not in axes]
                block = this.fresh(values.shape[axes[0] : axes[0] + depth])
                stays = {j: labels[a] for j, a in counted.items() if not lone[a]}
                new = [stays.get(j, k) for j, k in enumerate(block)]
                for j in stays:
                    del this.sizes[block[j]]
                mine = (*rest[: axes[0]], *new, *rest[axes[0] :])
                for a, index in zip(axes, node.args[1:], strict=True):
                    if a not in counted.values():
                        this.front.notes[Note("also defined where {} is out of range", index)] = None
                this.front.laws["sum-of-scattered-rows" if stays else "sum-of-scattered"] = None
            else:
                if not all(lone[a] or node.params[0][a] == WHOLE for a in range(len(labels))):
                    continue
                new = iter(this.fresh(size for size, alone in zip(values.shape, lone, strict=True) if alone))
                mine = tuple(next(new) if alone else k for k, alone in zip(labels, lone, strict=True))
                this.front.laws["sum-of-unslice"] = None
            for k in labels:
                if k not in mine:
                    del this.sizes[k]
            del this.operands[i]
            self._open(this, [(values, mine)])
            self._spread_values(this)
            return

    def _group(self, this: OpenContraction) -> None:
        """Merge operands with equal labels, one of them summed, into one product entry by entry."""
        groups: dict[frozenset[int], list[LabelledOperand]] = {}
        for operand in this.operands:
            groups.setdefault(frozenset(operand.labels), []).append(operand)
        this.operands = []
        for labels, group in groups.items():
            if len(group) == 1 or all(k in this.result for k in labels):
                this.operands += group
                continue
            plain = [o.diagonal() for o in group]
            this.front.laws["contraction-of-equal-labels"] = None
            place = {k: this.result.index(k) if k in this.result else len(this.result) for k in labels}
            factor = self._forms.order.factor
            ranked = [(factor(o.base), [place[k] for k in o.labels], o.labels) for o in plain]
            order = min(ranked)[-1]
            factors = Gathering(self._forms)
            for o in plain:
                factors.include(transpose(o.base, [o.labels.index(k) for k in order]), o.exponent)
            factors.settle()
            this.front.notes.update(factors.notes)
            this.front.include(number(factors.coefficient), 1)
            merged = self._forms.products.write(Form(1, factors.factors, factors.powers))
            if merged.shape:
                this.operands.append(
                    LabelledOperand(full(merged, tuple(this.sizes[k] for k in order)), 1, order)
                )
            elif not merged.is_number(1):
                this.front.take(merged, 1)

    def _sum_lone_labels(self, this: OpenContraction) -> bool:
        """Sum the labels that only one operand has within that operand; tell whether there are any."""
        connected = [o for part in this.components() if len(part) > 1 for o in part]
        uses = {k: this.count(k) for k in this.sizes}
        found: list[tuple[Node, Labels]] = []
        for operand in connected:
            labels = operand.labels
            lone = {k for k in labels if k not in this.result and uses[k] == labels.count(k)}
            rest = tuple(k for k in dict.fromkeys(labels) if k not in lone)
            if lone and rest:
                summed = self._summed(contract([self._power(operand)], [labels], rest), this.front)
                found.append((summed, rest))
                this.operands = [o for o in this.operands if o is not operand]
                for k in lone:
                    del this.sizes[k]
        if found:
            this.front.laws["contraction-of-a-contraction"] = None
        self._open(this, found, sums=False)
        return bool(found)

    def _count_repeats(self, this: OpenContraction) -> None:
        """Multiply by the length of each summed label that no operand has."""
        used = {k for operand in this.operands for k in operand.labels}
        for label, size in this.sizes.items():
            if label not in used and label not in this.result:
                this.front.laws["sum-of-a-repeated-axis"] = None
                this.front.take(size_node(size), 1)

    def _include(self, this: OpenContraction, part: list[LabelledOperand]) -> None:
        """Multiply the front by one connected contraction."""
        result = tuple(k for k in this.result if any(k in o.labels for o in part))
        axes = tuple(result.index(k) if k in result else None for k in this.result)
        shape = tuple(this.sizes[k] for k in this.result)
        first = part[0]
        if len(part) == 1 and sorted(first.labels) == sorted(result):
            if len(this.operands) > 1:
                this.front.laws["factor-that-no-label-touches"] = None
            moved = tuple(first.labels.index(k) if k in first.labels else None for k in this.result)
            this.front.include(write_view(first.base, moved, shape), first.exponent)
            return
        operands = [(self._power(o), o.labels) for o in part]
        summed = self._sum_of_terms(*operands[0], result, this.front) if len(part) == 1 else None
        if summed is not None:
            this.front.take(write_view(summed, axes, shape), 1)
            return
        this.front.include(write_view(self._ordered(operands, result), axes, shape), 1)

    def _power(self, operand: LabelledOperand) -> Node:
        if operand.exponent == 1:
            return operand.base
        return self._forms.products.write(Form(1, {operand.base: operand.exponent}, {}))

    def _sum_of_terms(self, node: Node, labels: Labels, result: Labels, front: Gathering) -> Node | None:
        """Contract a sum term by term if terms then cancel or are collected; otherwise return None."""
        if node.op.name != "add" or not self._forms.sums.small(node) or self._depth > _DEEPEST:
            return None
        before = self._forms.sums.of(node)
        total = Sum(0, {})
        trial = Gathering(self._forms)
        for term, c in [*before.terms.items(), (number(1), before.constant)]:
            if c != 0:
                part = contract([full(term, node.shape)], [labels], result)
                form = self._forms.products.form_of_factor(self._summed(part, trial))
                scaled = Form(short(form.coefficient * Fraction(c)), form.factors, form.powers)
                self._forms.sums.include(total, scaled)
        if len(total) >= len(before):
            return None
        front.laws["sum-of-a-sum"] = None
        front.notes.update(trial.notes)
        front.notes.update(dict.fromkeys(undefined_somewhere([node], self._forms.known)))
        return full(self._forms.sums.write(total), tuple(node.shape[labels.index(k)] for k in result))

    def _summed(self, part: Node, front: Gathering) -> Node:
        """Return a contraction in normal form, and add its notes on the domain to the front."""
        if part.op is not einsum:
            return part
        known = self._sums.get(part)
        if known is None:
            inner = Gathering(self._forms)
            self._depth += 1
            known = self._sums[part] = (self._collected(part, inner) or part, tuple(inner.notes))
            self._depth -= 1
        front.notes.update(dict.fromkeys(known[1]))
        return known[0]

    def _ordered(self, operands: list[tuple[Node, Labels]], result: Labels) -> Node:
        """Write a connected contraction: operands in the order of factors, labels by first occurrence."""
        ways = self._inverses.both_ways(operands)
        return min((in_order(way, result, self._forms.order.factor) for way in ways), key=lambda n: n.params)


def _squeezed(node: Node) -> Node:
    """Return the operand of a reshape that only adds axes of length one; return other nodes unchanged."""
    inner = node.args[0] if node.op is reshape else node
    return inner if tuple(size for size in inner.shape if size != 1) == node.shape else node


def _powers(form: Form) -> list[Node]:
    return [exp(e) if base is E else pow(base, e) for base, e in form.powers.items()]
