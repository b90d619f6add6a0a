"""Write contractions in normal form in matrix notation, with `@`, `.T`, `outer`, `sum` and `mean`.

The normal form is in index notation: flat, and equal for all spellings. This pass adds parentheses, for readers and for
cheap evaluation, vectors first: `X.T @ (X @ w)`. Contractions that have no matrix notation stay unchanged. The pass
changes neither values nor domains, and the normal form of its result is its input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from symgrad.ir.graph import SYMBOL, Node, apply, size_node
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.array.contraction import Labels, contract, einsum, sum_over
from symgrad.ops.array.layout import full
from symgrad.ops.array.reductions import mean
from symgrad.ops.scalar.arith import add, neg
from symgrad.rewrite.normal_form.form import Exponent, Form, short
from symgrad.rewrite.normal_form.views import Map, see_through, view, write_view
from symgrad.rewrite.normaliser import NormalForms

_PRODUCTS = frozenset({"mul", "div", "neg"})

_LARGEST_DIVISOR = 12
"""The largest number by which a mean over a fixed number of entries is divided."""


class _Operand(NamedTuple):
    node: Node
    labels: Labels


def in_matrix_notation(
    outputs: Sequence[Node], forms: Callable[[], NormalForms], written: dict[Node, Node] | None = None
) -> list[Node]:
    """Write nodes in normal form in matrix notation.

    Args:
        outputs: the nodes.
        forms: creates the normal forms, if there are arrays.
        written: the results for nodes of earlier calls with the same forms; new results are added.
    """
    known = {} if written is None else written
    if all(o in known for o in outputs):
        return [known[o] for o in outputs]
    order = topological(outputs, until=known)
    if not known and not any(n.shape or n.op is einsum for n in order):
        return list(outputs)
    return _MatrixWriter(forms(), known).write(outputs, order)


class _MatrixWriter:
    """Writes nodes. The result depends only on the node, not on nodes written before.

    Args:
        forms: the normal forms.
        done: the results for nodes.
    """

    def __init__(self, forms: NormalForms, done: dict[Node, Node]) -> None:
        self._forms = forms
        self._done = done
        # Results for the nodes that are created while one node is written.
        self._made: dict[Node, Node] = {}
        # For a negated sum, the sum that it replaces.
        self._instead: dict[Node, Node] = {}

    def write(self, outputs: Sequence[Node], order: Sequence[Node]) -> list[Node]:
        for node in order:
            if node not in self._done:
                self._made.clear()
                self._instead.clear()
                self._done[node] = self._node(node)
        return [self._done[o] for o in outputs]

    def _node(self, node: Node) -> Node:
        if node.op.name in _PRODUCTS and self._forms.products.small(node):
            form = self._forms.products.form(node)
            bases = [*form.factors, *form.powers]
            # A number times a single sum keeps its shape.
            lone = len(bases) == 1 and bases[0].op is add
            if node not in form.factors and not lone and any(_is_array(b) for b in bases):
                product = full(self._product(form), node.shape)
                if product.dtype == node.dtype:
                    return product
        if node.op is einsum:
            return self._contraction(node)
        args = [self._spelled(a) for a in node.args]
        if node.op is add and node.args[1].op is neg:
            # The sign of a later term of a sum is a subtraction.
            args[1] = neg(self._spelled(node.args[1].args[0]))
        return with_args(node, args)

    def _spelled(self, node: Node) -> Node:
        """Write a node, after the nodes that it depends on."""
        found = self._made.get(node) or self._done.get(node)
        if found is None:
            for part in topological([node], until=self._done):
                if part not in self._done and part not in self._made:
                    self._made[part] = self._node(part)
            found = self._made[node]
        return found

    # ------------------------------------------------------------------------------------------------- products

    def _product(self, form: Form) -> Node:
        """Write a product of arrays in normal form."""
        coefficient, factors = self._without_minus(form.coefficient, dict(form.factors))
        coefficient = self._means(coefficient, factors)
        factors = self._outer(self._scaled(factors))
        alias = {self._spelled(b): self._instead.get(b, b) for b in (*factors, *form.powers)}
        spelled: dict[Node, Exponent] = {}
        for b, e in factors.items():
            spelled[self._spelled(b)] = spelled.get(self._spelled(b), 0) + e
        powers = {self._spelled(b): self._spelled(e) for b, e in form.powers.items()}
        return self._forms.products.write(Form(coefficient, spelled, powers), ordered_as=alias)

    def _without_minus(
        self, coefficient: Exponent, factors: dict[Node, Exponent]
    ) -> tuple[Exponent, dict[Node, Exponent]]:
        """Move a minus sign into a difference, also in a contraction: -X.T @ (X @ w - y) is X.T @ (y - X @ w)."""
        if coefficient >= 0:
            return coefficient, factors
        for base, e in factors.items():
            core, axes = view(base)
            if core.op is add and e.denominator == 1 and e.numerator % 2:
                negation = self._forms.sums.flipped(core)
                flipped = None if negation is None else write_view(negation, axes, base.shape)
                if flipped is not None and flipped not in factors:
                    self._instead[flipped] = base
                    return -coefficient, {flipped if b is base else b: k for b, k in factors.items()}
        for base, e in factors.items():
            if base.op is not einsum or e != 1:
                continue
            for i, arg in enumerate(base.args):
                if arg.op is add:
                    found = self._forms.sums.flipped(arg)
                elif arg.op.name in _PRODUCTS and self._forms.products.small(arg):
                    found = self._negated(arg)
                else:
                    continue
                if found is not None:
                    operands = (*base.args[:i], found, *base.args[i + 1 :])
                    flipped = apply(einsum, operands, base.params)
                    return -coefficient, {flipped if b is base else b: k for b, k in factors.items()}
        return coefficient, factors

    def _negated(self, node: Node) -> Node | None:
        """Return the negation of a product that has a difference as a factor, else None."""
        form = self._forms.products.form(node)
        after = self._forms.products.write_signed(Form(-form.coefficient, form.factors, form.powers))
        return after if after.op is not neg else None

    def _means(self, coefficient: Exponent, factors: dict[Node, Exponent]) -> Exponent:
        """Replace a sum over axes divided by their lengths by a mean in the factors; return the new coefficient.

        A sum over a fixed number of entries with a small factor, as the step of an integrator, stays a sum.
        """
        for base, e in list(factors.items()):
            core, axes = view(base)
            summed = _summed_axes(core)
            if not summed or e != 1:
                continue
            left, lengths = dict(factors), 1
            for axis in summed:
                size = size_node(core.args[0].shape[axis])
                if size.is_number():
                    lengths *= int(size.value)
                else:
                    left[size] = left.get(size, 0) + 1
            divided = all(k <= 0 for b, k in left.items() if k != factors.get(b))
            if not divided or not lengths or coefficient.denominator % lengths:
                continue
            if lengths > 1 and coefficient.denominator > _LARGEST_DIVISOR * lengths:
                continue
            del left[base]
            shown = write_view(mean(core.args[0], params=(summed,)), axes, base.shape)
            factors.clear()
            factors.update({shown: 1, **{b: k for b, k in left.items() if k != 0}})
            return short(Fraction(coefficient) * lengths)
        return coefficient

    def _scaled(self, factors: dict[Node, Exponent]) -> dict[Node, Exponent]:
        """Move a vector that scales a contraction into an operand that is already a product: X.T @ (outer(r, v)*D)."""
        matrices = [b for b, e in factors.items() if b.op is einsum and e == 1 and len(b.shape) == 2]
        if len(matrices) != 1 or len(matrices[0].args) < 3:
            return factors
        (matrix,) = matrices
        labels, result = matrix.params
        operands, rest = [*zip(matrix.args, labels, strict=True)], dict(factors)
        for base, e in factors.items():
            core, axes = view(base)
            if e != 1 or axes not in ((0,), (0, None)) or matrix.shape[-len(axes)] != core.shape[0]:
                continue
            label = result[-len(axes)]
            if any(label in own and self._scales(own, i, labels, result) for i, own in enumerate(labels)):
                operands.append((core, (label,)))
                del rest[base]
        if len(rest) == len(factors):
            return factors
        del rest[matrix]
        scaled = contract([o for o, _ in operands], [own for _, own in operands], result)
        self._made[scaled] = self._contraction(scaled)
        return {scaled: 1, **rest}

    def _scales(self, own: Labels, i: int, labels: tuple[Labels, ...], result: Labels) -> bool:
        """Tell whether an operand is multiplied with another operand, entry by entry, before the contraction."""
        others = [k for j, other in enumerate(labels) if j != i for k in other]
        return any(k not in result and others.count(k) > 1 for k in own)

    def _outer(self, factors: dict[Node, Exponent]) -> dict[Node, Exponent]:
        """Merge columns and rows into one outer product, a[:, None]*b = outer(a, b), and columns into one column."""
        above: dict[Node, Exponent] = {}
        below: dict[Node, Exponent] = {}
        rows: dict[Node, Exponent] = {}
        shape: Shape = ()
        for base, e in factors.items():
            core, axes = view(base)
            if axes == (0, None) and len(core.shape) == 1:
                (above if e > 0 else below)[base] = abs(e)
                shape = base.shape
            elif e > 0 and len(base.shape) == 1 and base.shape != (1,):
                rows[base] = e
        made: dict[Node, Exponent] = {}
        if above and rows:
            outer = contract([self._column(above), self._product(Form(1, rows, {}))], [(0,), (1,)], (0, 1))
            made[self._remember(outer)] = 1
        else:
            made.update(rows)
            if above:
                made[self._remember(write_view(self._column(above), (0, None), shape))] = 1
        if below:
            made[self._remember(write_view(self._column(below), (0, None), shape))] = -1
        if not above and not below:
            return factors
        merged = {*above, *below, *rows}
        return {**made, **{b: e for b, e in factors.items() if b not in merged}}

    def _column(self, columns: dict[Node, Exponent]) -> Node:
        return self._product(Form(1, {view(b)[0]: e for b, e in columns.items()}, {}))

    # --------------------------------------------------------------------------------------------- contractions

    def _contraction(self, node: Node) -> Node:
        labels, result = node.params
        if len(labels) == 1:
            dot = self._dot(node)
            return dot if dot is not None else contract([self._spelled(node.args[0])], labels, result)
        operands = [self._diagonal(_Operand(a, own)) for a, own in zip(node.args, labels, strict=True)]
        while len(operands) > 1:
            step = self._presummed(operands, result)
            step = step or self._contracted(operands, result) or self._absorbed(operands)
            if step is None:
                return contract(
                    [self._spelled(o.node) for o in operands], [o.labels for o in operands], result
                )
            operands = step
        return contract([self._spelled(operands[0].node)], [operands[0].labels], result)

    def _diagonal(self, operand: _Operand) -> _Operand:
        """Return the operand, or its diagonal if a label repeats."""
        labels = tuple(dict.fromkeys(operand.labels))
        if labels == operand.labels:
            return operand
        diagonal = contract([self._spelled(operand.node)], [operand.labels], labels)
        return _Operand(self._remember(diagonal), labels)

    def _dot(self, node: Node) -> Node | None:
        """Write the sum of a product of two vectors as a dot product; None for other nodes."""
        operand = node.args[0]
        if node.shape or len(operand.shape) != 1 or operand.op.name != "mul":
            return None
        form = self._forms.products.form(operand)
        factors = list(form.factors.items())
        if form.coefficient != 1 or form.powers or len(factors) != 2:
            return None
        if any(e != 1 or len(b.shape) != 1 or _is_function(b) for b, e in factors):
            return None
        first, second = self._forms.products.sorted(form.factors)
        return contract([self._spelled(first), self._spelled(second)], [(0,), (0,)], ())

    def _presummed(self, operands: list[_Operand], result: Labels) -> list[_Operand] | None:
        """Sum the labels that only one operand has; return None if there are none."""
        for i, (node, labels) in enumerate(operands):
            others = {k for j, o in enumerate(operands) if j != i for k in o.labels}
            lone = [a for a, k in enumerate(labels) if k not in result and k not in others]
            if lone:
                total = self._remember(sum_over(self._spelled(node), lone))
                rest = tuple(k for a, k in enumerate(labels) if a not in lone)
                return [*operands[:i], _Operand(total, rest), *operands[i + 1 :]]
        return None

    def _remember(self, node: Node) -> Node:
        self._made[node] = node
        return node

    def _contracted(self, operands: list[_Operand], result: Labels) -> list[_Operand] | None:
        """Contract the two operands that share a label with no others, with the smallest result; else return None."""
        uses: dict[int, int] = dict.fromkeys(result, 1)
        for o in operands:
            for k in o.labels:
                uses[k] = uses.get(k, 0) + 1
        best: tuple[tuple[int, ...], int, int, int] | None = None
        for i, a in enumerate(operands):
            for j, b in enumerate(operands[:i]):
                shared = set(a.labels) & set(b.labels)
                if len(shared) != 1 or len(a.labels) > 2 or len(b.labels) > 2:
                    continue
                (k,) = shared
                if uses[k] != 2:
                    continue
                # A scalar is written x @ A @ y: each matrix multiplies the vector before it.
                transposes = sum(len(o.labels) == 2 and o.labels[0] != k for o in (a, b))
                away = int(not result or result[0] not in (*a.labels, *b.labels))
                key = (len(a.labels) + len(b.labels), away, transposes if not result else 0, j, i)
                if best is None or key < best[0]:
                    best = (key, j, i, k)
        if best is None:
            return None
        _, i, j, k = best
        made = self._matmul(operands[i], operands[j], k, result)
        return [o for m, o in enumerate(operands) if m not in (i, j)] + [made]

    def _matmul(self, a: _Operand, b: _Operand, k: int, result: Labels) -> _Operand:
        """Write a product of two arrays with one common label."""
        rows, columns = (tuple(x for x in o.labels if x != k) for o in (a, b))
        swap = False
        if not rows and not columns:
            swap = self._spelled(b.node).op is einsum and self._spelled(a.node).op is not einsum
        elif not rows:
            # A vector stands after its matrix, but before it in a scalar x @ A @ y.
            swap = bool(result) or b.labels[0] != k
        elif not columns:
            swap = not result and a.labels[0] == k
        elif rows[0] in result or columns[0] in result:
            swap = columns == result[:1] or rows == result[1:]
        else:
            swap = (a.labels[0] == k) + (b.labels[1] == k) > 1
        if swap:
            a, b, rows, columns = b, a, columns, rows
        labels = (*rows, *columns)
        (left, ls), (right, rs) = self._without_transpose(a), self._without_transpose(b)
        symmetric = self._forms.tensors.inverses.symmetric
        if ls[-1] != k and symmetric(a.node):
            ls = ls[::-1]
        if rs[0] != k and symmetric(b.node):
            rs = rs[::-1]
        return _Operand(self._remember(contract([left, right], [ls, rs], labels)), labels)

    def _without_transpose(self, operand: _Operand) -> _Operand:
        """Permute the labels of an operand instead of transposing it: `A.T @ x` is one contraction."""
        node = self._spelled(operand.node)
        core, axes = view(node)
        if core is node or None in axes:
            return _Operand(node, operand.labels)
        return _Operand(core, tuple(operand.labels[axes.index(a)] for a in range(len(core.shape))))

    def _absorbed(self, operands: list[_Operand]) -> list[_Operand] | None:
        """Multiply operands, entry by entry, into an operand that has all their labels; None without such operands."""
        best: tuple[tuple[int, ...], int] | None = None
        for i, small in enumerate(operands):
            for j, large in enumerate(operands):
                if i != j and set(small.labels) <= set(large.labels):
                    key = (len(small.labels), int(large.node.op is SYMBOL), -j)
                    best = (key, j) if best is None or key < best[0] else best
        if best is None:
            return None
        large, labels = operands[best[1]]
        factors = dict(self._form(large).factors)
        rest: list[_Operand] = []
        for i, small in enumerate(operands):
            if i == best[1]:
                continue
            if not set(small.labels) <= set(labels):
                rest.append(small)
                continue
            axes: Map = tuple(small.labels.index(k) if k in small.labels else None for k in labels)
            for base, e in self._form(small.node).factors.items():
                shown = self._composed_view(base, small.node.shape, axes, large.shape)
                factors[shown] = factors.get(shown, 0) + e
        made = self._remember(full(self._product(Form(1, factors, {})), large.shape))
        return [*rest, _Operand(made, labels)]

    def _form(self, node: Node) -> Form:
        """Return the factors of an operand that is a product in normal form without a coefficient, else the operand."""
        if node.op.name in {"mul", "div", "pow", "sqrt"} and self._forms.products.small(node):
            form = self._forms.products.form_of_factor(node)
            if form.coefficient == 1 and not form.powers:
                return form
        return Form(1, {node: 1}, {})

    def _composed_view(self, base: Node, shape: Shape, axes: Map, whole: Shape) -> Node:
        core, inner = view(full(base, shape))
        composed = tuple(None if a is None else inner[a] for a in axes)
        return see_through(write_view(core, composed, whole))


def _summed_axes(node: Node) -> tuple[int, ...]:
    """Return the axes over which a node is a plain sum; none for other nodes."""
    if node.op is not einsum or len(node.args) != 1:
        return ()
    (labels,), result = node.params
    plain = len(set(labels)) == len(labels) and result == tuple(k for k in labels if k in result)
    return tuple(a for a, k in enumerate(labels) if k not in result) if plain else ()


def _is_function(node: Node) -> bool:
    """Tell whether a vector reads better in a sum of entries, `sum(x*log(x))`, than in a dot product, `x @ y`."""
    return node.op.pointwise and node.op not in (SYMBOL, add)


def _is_array(node: Node) -> bool:
    return bool(node.shape) or node.op is einsum
