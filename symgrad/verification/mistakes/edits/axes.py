"""Edit sums in a claim: their axes, their numbers of entries, lost operands of outer products; and recurrences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import prod

from symgrad.ir.graph import OPS, Node
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.contraction import contract, sum_over
from symgrad.support.errors import SymgradError
from symgrad.verification.mistakes.edits.formulas import Edit, keepdims_shape
from symgrad.verification.mistakes.numbers import lengths

_STEPS = "the recurrence of {held} is wrong: with that of the right derivative the claim is right"
_MEAN = "the claim has a sum in place of the mean at {0}"
_COUNT = "the claim divides by {count} in place of {wanted} at {{0}}"
_AXES = "the claim sums over the wrong axes at {0}, and wherever it does so"
_OPERAND = "the claim lacks the factor {held} of the outer product that the right derivative is"
_INNER = "the claim has an inner product where the right derivative has an outer one, of {held} and another"


def other_sums(claim: Node, counts: Mapping[str, int]) -> Iterator[Edit]:
    """Yield changes of sums and of the numbers of entries by which they are divided."""
    order = topological([claim])
    for node in reversed(order):
        axes = _summed(node)
        if axes and node.op.name == "einsum":
            number = prod(lengths(node.args[0].shape)[k] for k in axes)
            yield Edit("sum-instead-of-mean", node, node / number, 21, _MEAN)
        if node.op.name == "div" and node.args[1].is_number():
            for text, n in counts.items():
                if node.args[1].is_number(n):
                    for wanted, m in counts.items():
                        if m != n:
                            says = _COUNT.format(count=text, wanted=wanted)
                            yield Edit("factor-n", node, node.args[0] / m, 21.6, says)
    yield from _everywhere(order)


def other_steps(claim: Node, right: Node) -> Iterator[Edit]:
    """Yield a claim whose recurrences are replaced by those of the right derivative with the same shape."""
    known = [n for n in topological([right]) if is_recurrence(n)]
    order = topological([claim])
    for node in order:
        if is_recurrence(node) and node not in known:
            held = next((n for n in order if n.op.name == "part" and n.args[0] is node), node)
            for other in known:
                if other.shape == node.shape and other.params[:2] == node.params[:2]:
                    yield Edit("wrong-steps", node, other, 20, _STEPS, held)


def _summed(node: Node) -> tuple[int, ...]:
    """Return the axes of a sum or a mean; none for other nodes."""
    if node.op.name not in ("einsum", "mean") or len(node.args) != 1:
        return ()
    rank = len(node.args[0].shape)
    if node.op.name == "einsum":
        (own,), result = node.params
        if len({*own}) < rank:
            return ()
        return tuple(k for k in range(rank) if own[k] not in result)
    return tuple(node.params[0])


def _everywhere(order: list[Node]) -> Iterator[Edit]:
    """Yield edits that replace, in all keepdims sums over the same axes at once, these axes by others."""
    groups: dict[tuple[str, tuple[int, ...], int], list[Node]] = {}
    for node in order:
        inner = node.args[0] if node.op.name == "reshape" else node
        axes = _summed(inner)
        if inner is not node and axes:
            groups.setdefault((inner.op.name, axes, len(inner.args[0].shape)), []).append(node)
    for (name, axes, rank), nodes in groups.items():
        for count in range(1, rank + 1) if len(nodes) > 1 else ():
            for others in combinations(range(rank), count):
                if others != axes:
                    changed = {n: _over(n.args[0].args[0], others, mean=name == "mean") for n in nodes}
                    first, *_ = nodes
                    also = {n: other for n, other in changed.items() if n is not first}
                    yield Edit("wrong-axis-sum", first, changed[first], 15.5, _AXES, also=also)


def _over(arg: Node, axes: tuple[int, ...], *, mean: bool) -> Node:
    found = sum_over(arg, axes)
    if mean:
        found = found / prod(lengths(arg.shape)[k] for k in axes)
    return OPS["reshape"](found, params=(keepdims_shape(arg.shape, axes),))


def without_outer(right: Node, shape: Shape) -> Iterator[tuple[Edit, Node]]:
    """Yield the right derivative with only one operand of an outer product, or with an inner product, in some shape."""
    for node in topological([right]):
        if node.op.name != "einsum" or len(node.args) != 2 or {*node.params[0][0]} & {*node.params[0][1]}:
            continue
        a, b = node.args
        forms = [(a, "missing-term", _OPERAND, b), (b, "missing-term", _OPERAND, a)]
        if a.shape == b.shape and len(a.shape) == 1:
            forms.append((contract([a, b], [(0,), (0,)], ()), "operands-swapped", _INNER, a))
        for form, kind, says, held in forms:
            try:
                (changed,) = substitute([right], {node: form})
            except SymgradError:
                continue
            if changed.shape == shape:
                yield Edit(kind, node, form, 19, says, held), changed
