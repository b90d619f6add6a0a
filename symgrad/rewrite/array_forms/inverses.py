"""The normal form of inverses and determinants: scalars and transposes outside, split products, cancelled inverses.

A matrix counts as symmetric if its transpose has the same normal form; its two labels may then be swapped.
`rewrite/rules/inverse_laws.py` has these laws as rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from symgrad.ir.graph import NUMBER, SYMBOL, Node, apply, as_node, number
from symgrad.ir.traverse import topological
from symgrad.ops.array.contraction import Labels, adjoint, contract, einsum, transpose
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.layout import full
from symgrad.ops.array.linalg import det, inv, logdet, solve
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.rewrite.array_forms.operands import LabelledOperand, OpenContraction
from symgrad.rewrite.normal_form.form import Form
from symgrad.rewrite.normal_form.protocols import AllForms
from symgrad.rewrite.normal_form.views import view
from symgrad.rewrite.trace import Note, Step

_SINGULAR = "also defined where {} is singular"
_PRODUCTS = frozenset({"mul", "div", "neg"})
_SIZE = 64  # largest number of equations of a matrix that is compared with its transpose
_BOTH_WAYS = 4  # largest number of symmetric operands of a contraction whose labels are swapped on trial


class Inverses:
    """Steps for inv, det, logdet and solve, and the symmetry and cancellation of operands of contractions."""

    def __init__(self, forms: AllForms) -> None:
        self._forms = forms
        self._transposes: dict[Node, Node] = {}

    def step(self, node: Node) -> Step | None:
        """Return the step that brings a node of linear algebra, or a transpose, nearer to the normal form.

        Otherwise return None.
        """
        if node.op is solve:
            return self._solve(node)
        if node.op not in (inv, det, logdet):
            core, axes = view(node)
            if axes == (1, 0) and self.symmetric(core):
                return Step("transpose-of-a-symmetric-matrix", node, core, "exact")
            return None
        (x,) = node.args
        transposed = self._better_transpose(x)
        if transposed is not None:
            after = adjoint(inv(transposed)) if node.op is inv else node.op(transposed)
            name = "inverse-of-a-transpose" if node.op is inv else "determinant-of-a-transpose"
            return Step(name, node, after, "exact")
        if node.op is inv:
            return self._inv(node, x)
        if x.op is inv:
            inner = node.op(x.args[0])
            after = div(as_node(1), inner) if node.op is det else neg(inner)
            return Step("determinant-of-an-inverse", node, after, "exact")
        if x.op is eye:
            return Step("determinant-of-identity", node, as_node(1 if node.op is det else 0), "exact")
        return None

    def _inv(self, node: Node, x: Node) -> Step | None:
        if x.op is inv:
            note = Note(_SINGULAR, x.args[0])
            return Step("inverse-of-an-inverse", node, x.args[0], "widens", (note,))
        if x.op is eye:
            return Step("inverse-of-identity", node, x, "exact")
        scale, rest = self._scaled(x)
        if rest is not x:
            return Step("inverse-of-a-multiple", node, div(inv(rest), scale), "exact")
        chain = _chain(x)
        if chain:
            labels = [own[::-1] for _, own in chain]
            after = contract([inv(m) for m, _ in chain], labels, x.params[1][::-1])
            return Step("inverse-of-a-product", node, after, "exact")
        return None

    def _solve(self, node: Node) -> Step | None:
        """Move scalar factors of the right side in front."""
        a, b = node.args
        if not self._forms.products.small(b):
            return None
        form = self._forms.products.form(b)
        scalars = {k: e for k, e in form.factors.items() if not k.shape}
        arrays = {k: e for k, e in form.factors.items() if k.shape}
        if (form.coefficient == 1 and not scalars) or not arrays or form.powers:
            return None
        write = self._forms.products.write
        moved = solve(a, full(write(Form(1, arrays, {})), b.shape))
        return Step(
            "factor-of-a-solution", node, mul(write(Form(form.coefficient, scalars, {})), moved), "exact"
        )

    def _scaled(self, x: Node) -> tuple[Node, Node]:
        """Split a matrix into a nonzero number and a matrix."""
        if x.op is add and self._forms.sums.small(x):
            content, rest = self._forms.sums.primitive(x)
            return number(content), rest
        if x.op.name not in _PRODUCTS or not self._forms.products.small(x):
            return as_node(1), x
        form = self._forms.products.form(x)
        scalars = {
            b: e for b, e in form.factors.items() if not b.shape and self._forms.known.nonzero(b) == "yes"
        }
        rest = {b: e for b, e in form.factors.items() if b not in scalars}
        if not any(b.shape for b in rest) or form.powers or (form.coefficient == 1 and not scalars):
            return as_node(1), x
        write = self._forms.products.write
        return write(Form(form.coefficient, scalars, {})), full(write(Form(1, rest, {})), x.shape)

    # --------------------------------------------------------------------------------------------------- symmetry

    def symmetric(self, node: Node) -> bool:
        """Tell whether a node provably is its own transpose."""
        square = len(node.shape) == 2 and node.shape[0] == node.shape[1]
        if node.op is SYMBOL:
            return node.declaration.symmetric
        return square and self._transposed(node) is node

    def _better_transpose(self, x: Node) -> Node | None:
        """Return the transpose of a matrix if it comes before the matrix in the order of writing, otherwise None."""
        rank = len(x.shape)
        core, axes = view(x)
        if axes == (*range(rank - 2), rank - 1, rank - 2):
            return core
        if rank != 2 or x.op is SYMBOL:
            return None
        transposed = self._transposed(x) if _is_small(x) else x
        if transposed is x or view(transposed)[0] is x:
            return None
        keys = [(_transpositions(m), self._forms.order.factor(m)) for m in (transposed, x)]
        return transposed if keys[0] < keys[1] else None

    def _transposed(self, node: Node) -> Node:
        """Return the transpose of a square matrix in normal form; the transpose of a small matrix is in normal form."""
        found = self._transposes.get(node)
        if found is None:
            small = _is_small(node)
            found = self._transposes[node] = self._transpose(node) if small else transpose(node, (1, 0))
        return found

    def _transpose(self, node: Node) -> Node:
        core, axes = view(node)
        if axes == (1, 0):
            return core
        if node.op is eye or (node.op in (inv, SYMBOL) and self.symmetric((*node.args, node)[0])):
            return node
        if node.op is einsum:
            part = contract([node], [(0, 1)], (1, 0))
            return self._forms.contraction(part)
        if not node.op.pointwise or node.op is SYMBOL or node.op is NUMBER:
            return transpose(node, (1, 0))
        # The transpose of truth values is a contraction of numbers.
        if any(a.dtype == "bool" or (a.shape and a.shape != node.shape) for a in node.args):
            return transpose(node, (1, 0))
        args = tuple(self._transposed(a) if a.shape else a for a in node.args)
        if args == node.args:
            return node
        after = apply(node.op, args, node.params)
        step = None
        if after.op is add:
            step = self._forms.sums.collect(after)
        elif after.op.name in _PRODUCTS:
            step = self._forms.products.collect(after)
        return after if step is None else step.after

    def both_ways(self, operands: Sequence[tuple[Node, Labels]]) -> Iterator[list[tuple[Node, Labels]]]:
        """Yield a contraction's operands with the labels of symmetric operands in either order."""
        free = [i for i, (node, own) in enumerate(operands) if len(set(own)) == 2 and self.symmetric(node)]
        for choice in product((False, True), repeat=len(free[:_BOTH_WAYS])):
            swapped = {i for i, swap in zip(free, choice, strict=False) if swap}
            yield [(node, own[::-1] if i in swapped else own) for i, (node, own) in enumerate(operands)]

    # ----------------------------------------------------------------------------------------------- cancellation

    def cancel(self, this: OpenContraction) -> None:
        """Replace a matrix next to its inverse by an identity matrix."""
        while True:
            inverses = [
                o for o in this.operands if o.base.op is inv and o.exponent == 1 and len(o.labels) == 2
            ]
            if not any(self._cancelled(this, o) for o in inverses):
                return

    def _cancelled(self, this: OpenContraction, operand: LabelledOperand) -> bool:
        (x,) = operand.base.args
        p, q = operand.labels
        for shared, other, first in ((q, p, True), (p, q, False)):
            if p == q or shared in this.result or this.count(shared) != 2:
                continue
            for parts, (i, j) in self._readings(x):
                start, end = (i, j) if first else (j, i)
                found = _embedded(this, parts, operand, {start: shared}, end)
                if found is None:
                    continue
                used, labels = found
                size = this.sizes[shared]
                this.operands = [
                    o for o in this.operands if o is not operand and all(o is not u for u in used)
                ]
                for k in {labels[n] for n in labels if n != end}:
                    del this.sizes[k]
                this.add(eye(params=(size, size)), (other, labels[end]) if first else (labels[end], other))
                this.front.laws["inverse-beside-its-matrix"] = None
                this.front.notes[Note(_SINGULAR, x)] = None
                return True
        return False

    def _readings(self, x: Node) -> Iterator[tuple[list[tuple[Node, Labels]], Labels]]:
        """Yield the ways to read a matrix as operands with labels, each with the labels of its axes."""
        if x.op is einsum and len(x.args) > 1:
            yield list(zip(x.args, x.params[0], strict=True)), x.params[1]
            return
        yield [(x, (0, 1))], (0, 1)
        if self.symmetric(x):
            yield [(x, (1, 0))], (0, 1)


def _transpositions(node: Node) -> int:
    """Count the transposed matrices in a small formula as written."""
    count = 0
    for part in topological([node]):
        if part.op is not einsum or len(part.shape) != 2:
            continue
        at = part.params[1][0]
        left = [own for own in part.params[0] if len(own) == 2]
        while any(at in own for own in left):
            own = next(own for own in left if at in own)
            left.remove(own)
            count += own[0] != at
            at = own[1] if own[0] == at else own[0]
    return count


def _is_small(node: Node) -> bool:
    pending, seen = [node], 0
    while pending and seen <= _SIZE:
        pending.extend(pending.pop().args)
        seen += 1
    return not pending


def _chain(x: Node) -> list[tuple[Node, Labels]]:
    """Return the factors of a product of square matrices with their labels; none for other nodes."""
    if x.op is not einsum or len(x.args) < 2:
        return []
    labels, result = x.params
    if any(m.shape != x.shape or len(set(own)) != 2 for m, own in zip(x.args, labels, strict=True)):
        return []
    left = list(zip(x.args, labels, strict=True))
    at = result[0]
    while left:
        following = [o for o in left if at in o[1]]
        if len(following) != 1:
            return []
        left.remove(following[0])
        (at,) = (k for k in following[0][1] if k != at)
    return list(zip(x.args, labels, strict=True)) if at == result[1] else []


def _embedded(
    this: OpenContraction,
    parts: Sequence[tuple[Node, Labels]],
    without: LabelledOperand,
    known: dict[int, int],
    end: int,
) -> tuple[list[LabelledOperand], dict[int, int]] | None:
    """Find the operands of a matrix, with exactly the same links, among the operands of a contraction.

    Args:
        this: the contraction.
        parts: the operands of the matrix with their labels.
        without: an operand of the contraction to leave out.
        known: the label of one axis of the matrix, with its label in the contraction.
        end: the label of the other axis.

    Returns:
        The operands, and for each label its label in the contraction; None if they are not found.
    """
    pending: list[tuple[list[LabelledOperand], dict[int, int]]] = [([], known)]
    for base, own in parts:
        longer: list[tuple[list[LabelledOperand], dict[int, int]]] = []
        for used, labels in pending:
            for o in this.operands:
                if o is without or o.base is not base or o.exponent != 1 or any(o is u for u in used):
                    continue
                bound = dict(labels)
                if all(bound.setdefault(k, at) == at for k, at in zip(own, o.labels, strict=True)):
                    longer.append(([*used, o], bound))
        pending = longer[:_SIZE]
    (start,) = known
    counts = {k: sum(own.count(k) for _, own in parts) for _, own in parts for k in own}
    for used, labels in pending:
        inner = [k for k in labels if k not in (start, end)]
        alone = all(labels[k] not in this.result and this.count(labels[k]) == counts[k] for k in inner)
        if alone and len({labels[k] for k in (start, *inner)}) == len(inner) + 1:
            return used, labels
    return None
