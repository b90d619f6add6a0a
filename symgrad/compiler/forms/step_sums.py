"""Add to sums over the steps of a recurrence inside of its loop, so that their terms are not stored.

The gradient with respect to what all steps read is such a sum, ``sum(vjp(F, w)(a[t]), t=1..T)``, whose terms consist of
what the way back computes anyway. Sums with long terms stay as they are, since their formulas run in vector lanes over
all steps, and sums of outer products are products of matrices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from symgrad.autodiff.recurrences import StepArrays, recur
from symgrad.autodiff.rows.formulas import Rows, row_at, summand
from symgrad.compiler.lowering.contractions import estimate
from symgrad.compiler.lowering.cost import own_cost
from symgrad.ir.body import Body, bound_symbol, pack_values
from symgrad.ir.graph import Node, as_node
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.sizes import Size, size_product
from symgrad.ir.traverse import readers, substitute, topological, uses
from symgrad.ops.array.contraction import einsum
from symgrad.ops.record import DIVISION_COST
from symgrad.ops.scalar.arith import add, neg

_ENTRIES = 64
"""The largest number of entries of the arrays of a step that adds to sums."""

_OUTER = 16
"""The largest number of entries of an outer product of rows: the sum of larger ones is a product of matrices."""


def with_step_sums(outputs: Sequence[Node], primal: Collection[Node]) -> list[Node]:
    r"""Return derivatives whose recurrences add to the sums over their steps.

    Such a sum is one more carry, which begins with 0.

    Args:
        outputs: the derivatives.
        primal: what the program computes anyway; its recurrences stay as they are.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("a, b : real\nh[0] = a\nh[t] = sin(b*h[t-1]) for t in 1..9\ny = h[9]")
        >>> slope = sg.grad(p["y"], "b").node
        >>> found = with_step_sums([slope], topological([p["y"].node]))
        >>> [len(n.params[2].carries) for n in topological(found) if is_recurrence(n)]
        [1, 2]
    """
    found = list(outputs)
    # What a recurrence reads does not read its own sums, so the earlier ones stay the same nodes.
    for node in reversed([n for n in topological(outputs) if is_recurrence(n) and n not in primal]):
        if _is_small(node):
            found = _StepSums(node, found).outputs()
    return found


class _StepSums:
    """The sums over the steps of one recurrence.

    Args:
        node: the recurrence.
        outputs: the program.
    """

    def __init__(self, node: Node, outputs: Sequence[Node]) -> None:
        self.steps = steps = StepArrays(node)
        self.program = outputs
        self.computed = dict(zip(steps.symbols("computed"), map(steps.after, steps.values), strict=True))
        known = {**steps.step_rows(steps.values), **self.computed}
        self.rows = Rows(steps.length, steps.body.height, known)
        self.results = substitute(steps.body.results, steps.constants())
        self.order = topological(outputs)
        self.program_nodes = set(self.order)
        self.depends = readers(self.order, [node])
        order = topological(self.results)
        self.step = set(order)
        self.varying = readers(order, known)
        self.work = _work(self.varying - known.keys())

    def outputs(self) -> list[Node]:
        """Return the program with a recurrence that computes the sums."""
        terms = self._terms()
        steps, height = self.steps, self.steps.body.height
        if not terms:
            return list(self.program)
        own = {*steps.body.carries, *self.computed}
        totals = [bound_symbol("sum", k, height, t.shape) for k, t in enumerate(terms)]
        values = recur(
            [*steps.starts, *[as_node(0)] * len(terms)],
            [*steps.body.carries, *totals],
            [*self.results, *(add(s, t) for s, t in zip(totals, terms.values(), strict=True))],
            {s: a for s, a in self.rows.arrays.items() if s not in own},
            steps.length,
            reverse=bool(steps.reverse),
        )
        count = len(steps.values)
        table = dict(zip(steps.values, values[:count], strict=True))
        if count > 1:
            table[steps.node] = pack_values(values[:count], 1)
        ends = (row_at(v, 0 if steps.reverse else steps.length) for v in values[count:])
        return substitute(self.program, {**table, **dict(zip(terms, ends, strict=True))})

    def _terms(self) -> Mapping[Node, Node]:
        """Return the sums that steps can add to, each with its term."""
        used = uses(list(self.program))
        found: dict[Node, Node] = {}
        parts: set[Node] = set()
        for total in reversed(self.order):
            if total not in self.depends or total in parts or total.op not in (einsum, add, neg):
                continue
            stack = summand(total, self.steps.length)
            term = stack and self._term(stack)
            if term is None:
                continue
            found[total] = term
            pending = [total]
            while pending:  # a sum of sums is one sum
                inner = [a for n in pending if n.op is not einsum for a in n.args if used[a] == 1]
                parts.update(inner)
                pending = inner
        return found

    def _term(self, stack: Node) -> Node | None:
        """Return the row of an array as a formula of a step; None if it reads other steps, or is much to compute."""
        before = set(self.rows.arrays)
        formula = self.rows.of(stack)
        new = {s: a for s, a in self.rows.arrays.items() if s not in before}
        if any(a in self.depends for a in topological(list(new.values()), until=self.program_nodes)):
            return None
        (term,) = substitute([formula], dict(zip(self.computed, self.results, strict=True)))
        order = topological([term], until=self.step)
        more = readers(order, [*self.varying, *new]) - self.varying - new.keys()
        if not all(map(_is_short, more)) or any(own_cost(n) > DIVISION_COST for n in more):
            return None
        if term.op is einsum and not any(a.args for a in term.args) and not _is_short(term, _OUTER):
            return None
        return term if _work(more) <= self.work else None


def _is_small(node: Node) -> bool:
    body: Body = node.params[2]
    return body.height == 1 and all(_is_short(n) for n in (*body.symbols, *topological(body.results)))


def _is_short(node: Node, most: int = _ENTRIES) -> bool:
    entries = size_product(node.shape)
    return isinstance(entries, int) and entries <= most


def _work(nodes: Iterable[Node]) -> int:
    """Estimate the number of operations."""
    return sum(estimate(_points(node)) * max(own_cost(node), 1) for node in nodes)


def _points(node: Node) -> Size:
    """Return for how many points the operation of a node is done: a product also has the axes over which it sums."""
    if node.op is not einsum:
        return size_product(node.shape)
    axes = {
        label: n
        for arg, own in zip(node.args, node.params[0], strict=True)
        for label, n in zip(own, arg.shape, strict=True)
    }
    return size_product(axes.values())
