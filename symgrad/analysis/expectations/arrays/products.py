"""Programs on arrays as sums of contractions, whose factors are functions of the entries of random inputs.

    Product ::= scale * sum over labels of operands[labels] * noisy[labels]

A random index is also a factor: x[i] is the sum over k of x[k]*(i == k). The node of this factor is the input itself;
its labels are those of its axes and one more, for k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product as all_of

from symgrad.analysis.expectations.assumptions import Assumptions, Undecided
from symgrad.analysis.expectations.closed import ClosedForms
from symgrad.analysis.expectations.terms.monomials import node_of
from symgrad.ir.graph import Node, as_node, size_node
from symgrad.ir.sizes import Shape, Size
from symgrad.support.traversal import postorder

_0, _1 = as_node(0), as_node(1)
_POSITIONS = frozenset({"gather", "scatter_add", "one_hot"})
PRODUCTS = 400
"""The largest number of products for one node, or for a product of two nodes."""

Labels = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NoisyProduct:
    """One term of the sum; see the module.

    Args:
        scale: a number.
        operands: arrays without noise, with a label for each axis.
        noisy: functions of entries of random inputs, also with a label for each axis.
        result: the labels of the axes of the result.
    """

    scale: Node
    operands: tuple[tuple[Node, Labels], ...]
    noisy: tuple[tuple[Node, Labels], ...]
    result: Labels


class ArrayTerms:
    """The products of nodes; results are cached.

    Args:
        sources: the random inputs, of any shape.
        given: the known facts; conditions under which the formulas hold are added to it.
    """

    def __init__(self, sources: Sequence[Node], given: Assumptions) -> None:
        self.entries = ClosedForms(sources, given)
        self.sources = self.entries.expand.sources
        self.sizes: list[Size] = []
        self._products: dict[Node, list[NoisyProduct]] = {}
        self._entrywise: dict[Node, bool] = {}

    def label(self, size: Size) -> int:
        """Return a new label."""
        self.sizes.append(size)
        return len(self.sizes) - 1

    def labels(self, shape: Shape) -> Labels:
        return tuple(self.label(size) for size in shape)

    # ------------------------------------------------------------------------------------------------- terms

    def products(self, node: Node) -> list[NoisyProduct]:
        """Return a node as a sum of products.

        Raises:
            Undecided: if the node is not such a sum, or has too many terms.
        """
        known = self._products

        def operands(n: Node) -> Iterable[Node]:
            return () if not self.entries.expand.mask(n) or self.is_entrywise(n) else reversed(n.args)

        for n in postorder([node], operands, until=known):
            if not self.entries.expand.mask(n):
                result = self.labels(n.shape)
                known[n] = [NoisyProduct(_1, ((n, result),), (), result)]
            elif self.is_entrywise(n):
                known[n] = self._of_entries(n)
            else:
                known[n] = self._combined(n)
                if len(known[n]) > PRODUCTS:
                    raise Undecided
        return known[node]

    def is_entrywise(self, node: Node) -> bool:
        """Tell whether each entry of a node depends on at most one entry of each input."""
        known = self._entrywise

        def noisy(n: Node) -> list[Node]:
            return [a for a in n.args if self.entries.expand.mask(a)]

        for n in postorder([node], noisy, until=known):
            known[n] = n in self.sources or (n.op.pointwise and all(known[a] for a in noisy(n)))
        return known[node]

    def _of_entries(self, node: Node) -> list[NoisyProduct]:
        found: list[NoisyProduct] = []
        for m, c in self.entries.expand(node).items():
            result = self.labels(node.shape)
            coefficient = self._placed(c, result)
            noisy = tuple(self._placed(node_of(part), result) for _, part in self.entries.parts(m))
            found.append(NoisyProduct(_1, (coefficient,), noisy, result))
        return found

    def _placed(self, node: Node, result: Labels) -> tuple[Node, Labels]:
        """Label the axes of a node that broadcasts to a result; an axis of length 1 gets its own label."""
        own = result[len(result) - len(node.shape) :]
        return node, tuple(
            label if self.sizes[label] == size else self.label(size)
            for label, size in zip(own, node.shape, strict=True)
        )

    def _combined(self, node: Node) -> list[NoisyProduct]:
        name, args = node.op.name, node.args
        terms = [self._products[a] for a in args]
        if name == "stop_gradient":
            return terms[0]
        if name == "neg":
            return [replace(p, scale=-p.scale) for p in terms[0]]
        if name == "add":
            return [self.spread(p, node.shape) for p in (*terms[0], *terms[1])]
        if name == "mul":
            return self._multiplied(terms[0], terms[1], node.shape)
        if name == "div" and not self.entries.expand.mask(args[1]):
            inverse = 1 / args[1]
            labels = self.labels(inverse.shape)
            divisor = NoisyProduct(_1, ((inverse, labels),), (), labels)
            return self._multiplied(terms[0], [divisor], node.shape)
        if name == "pow" and args[1].is_number() and args[1].value in (2, 3, 4):
            found = terms[0]
            for _ in range(int(args[1].value) - 1):
                found = self._multiplied(found, terms[0], node.shape)
            return found
        if name == "einsum":
            return self._contracted(node, terms)
        if name == "mean":
            axes: tuple[int, ...] = node.params[0]
            count = _1
            for axis in axes:
                count = count * size_node(args[0].shape[axis])
            return [
                replace(
                    p,
                    scale=p.scale * self._unread(p, [p.result[axis] for axis in axes]) / count,
                    result=tuple(x for i, x in enumerate(p.result) if i not in axes),
                )
                for p in terms[0]
            ]
        if name == "broadcast_to":
            return [self.spread(p, node.shape) for p in terms[0]]
        if name in _POSITIONS:
            return self._picked(node, terms)
        if name == "reshape":
            return [self._reshaped(p, args[0].shape, node.shape) for p in terms[0]]
        raise Undecided

    def _picked(self, node: Node, terms: list[list[NoisyProduct]]) -> list[NoisyProduct]:
        """Return a gather, its transpose, or a one-hot code, for indices that are themselves a random input."""
        name, args = node.op.name, node.args
        index = args[-1]
        if index not in self.sources or len(args) > 2:
            raise Undecided
        keys = self.labels(index.shape)
        if name == "one_hot":
            pick = self.label(node.shape[-1])
            return [NoisyProduct(_1, (), ((index, (*keys, pick)),), (*keys, pick))]
        axes: tuple[int, ...] = node.params[0]
        axis, others = axes[0], axes[1:]
        if others or (name == "scatter_add" and axis):
            raise Undecided
        found: list[NoisyProduct] = []
        for p in terms[0]:
            if name == "gather":
                p = self.fresh(p)
                pick = p.result[axis]
                result = (*p.result[:axis], *keys, *p.result[axis + 1 :])
            else:
                rest = self.labels(node.shape[1:])
                pick = self.label(node.shape[0])
                p = self.spread(p, (*index.shape, *node.shape[1:]), (*keys, *rest))
                result = (pick, *rest)
            found.append(replace(p, noisy=(*p.noisy, (index, (*keys, pick))), result=result))
        return found

    def fresh(self, p: NoisyProduct, result: Labels | None = None) -> NoisyProduct:
        """Return a product with new labels; the axes of its result get ``result`` if it is not None."""
        names: dict[int, int] = dict(zip(p.result, result, strict=True)) if result is not None else {}

        def renamed(labels: Labels) -> Labels:
            return tuple(
                names[x] if x in names else names.setdefault(x, self.label(self.sizes[x])) for x in labels
            )

        return _rename_labels(p, renamed)

    def spread(self, p: NoisyProduct, shape: Shape, result: Labels | None = None) -> NoisyProduct:
        """Broadcast a product to a shape."""
        p = self.fresh(p)
        whole = self.labels(shape) if result is None else result
        pairs = zip(p.result, whole[len(shape) - len(p.result) :], strict=True)
        names = {mine: its for mine, its in pairs if self.sizes[mine] != 1 or self.sizes[its] == 1}
        return replace(_rename_labels(p, lambda labels: tuple(names.get(x, x) for x in labels)), result=whole)

    def _multiplied(self, a: list[NoisyProduct], b: list[NoisyProduct], shape: Shape) -> list[NoisyProduct]:
        if len(a) * len(b) > PRODUCTS:
            raise Undecided
        found: list[NoisyProduct] = []
        for p, q in all_of(a, b):
            result = self.labels(shape)
            a_, b_ = self.spread(p, shape, result), self.spread(q, shape, result)
            operands, noisy = a_.operands + b_.operands, a_.noisy + b_.noisy
            found.append(NoisyProduct(p.scale * q.scale, operands, noisy, result))
        return found

    def _contracted(self, node: Node, terms: list[list[NoisyProduct]]) -> list[NoisyProduct]:
        labels, result = node.params
        if math.prod(map(len, terms)) > PRODUCTS:
            raise Undecided
        found: list[NoisyProduct] = []
        for factors in all_of(*terms):
            names: dict[int, int] = {}
            for own, arg in zip(labels, node.args, strict=True):
                for label, size in zip(own, arg.shape, strict=True):
                    if label not in names:
                        names[label] = self.label(size)
            pairs = zip(factors, labels, strict=True)
            parts = [self.fresh(p, tuple(names[x] for x in own)) for p, own in pairs]
            scale = _1
            for p in parts:
                scale = scale * p.scale
            whole = NoisyProduct(
                scale,
                tuple(o for p in parts for o in p.operands),
                tuple(o for p in parts for o in p.noisy),
                tuple(names[x] for x in result),
            )
            summed = [names[x] for x in names if x not in result]
            found.append(replace(whole, scale=scale * self._unread(whole, summed)))
        return found

    def _unread(self, p: NoisyProduct, summed: Sequence[int]) -> Node:
        """Return the product of the sizes of those summed labels that a product does not read."""
        read = {x for _, own in (*p.operands, *p.noisy) for x in own}
        times = _1
        for x in summed:
            if x not in read:
                times = times * size_node(self.sizes[x])
        return times

    def _reshaped(self, p: NoisyProduct, before: Shape, after: Shape) -> NoisyProduct:
        """Insert and remove axes of length 1; other reshapes are not supported."""
        if [s for s in before if s != 1] != [s for s in after if s != 1]:
            raise Undecided
        rest = iter([x for x, s in zip(p.result, before, strict=True) if s != 1])
        return replace(p, result=tuple(self.label(1) if s == 1 else next(rest) for s in after))


def _rename_labels(p: NoisyProduct, rename: Callable[[Labels], Labels]) -> NoisyProduct:
    operands = tuple((n, rename(own)) for n, own in p.operands)
    noisy = tuple((n, rename(own)) for n, own in p.noisy)
    return NoisyProduct(p.scale, operands, noisy, rename(p.result))
