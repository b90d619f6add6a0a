"""Programs on arrays: sums of contractions, whose factors are functions of the entries of random inputs.

    Product ::= scale * sum over labels of operands[labels] * noisy[labels]

The entries of an input are independent and alike, so the expectation of a product of factors f_k(u)[i_k] is the sum
over the partitions of the factors of the products of joint cumulants, one for each block: a joint cumulant of
independent variables is zero, so that all indices of a block are one index (Leonov and Shiryaev, 1959). The covariance
of two products is the same sum over those partitions that have a block with factors of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product as all_of
from typing import TypeVar

from symgrad.ir.graph import OPS, Node, as_node, size_node
from symgrad.ir.sizes import Shape, Size
from symgrad.moments.closed import ClosedForms
from symgrad.moments.given import Budget, Given, NoMoment, Undecided
from symgrad.moments.terms.monomials import ONE, Monomial, node_of
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.layout import broadcast_to, expand, full
from symgrad.rules.pipeline import canonical

__all__ = ["ArrayForms"]

_0, _1 = as_node(0), as_node(1)
_FACTORS = 4  # of one input: 15 partitions
_PRODUCTS = 400

Labels = tuple[int, ...]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Product:
    """One term: see the module.

    Args:
        scale: a number.
        operands: arrays without noise, with a label for each axis.
        noisy: functions of entries, likewise.
        result: the labels of the axes of the result.
    """

    scale: Node
    operands: tuple[tuple[Node, Labels], ...]
    noisy: tuple[tuple[Node, Labels], ...]
    result: Labels


class ArrayForms:
    """Expectations and covariances of programs on arrays.

    Args:
        sources: the random inputs, of any shapes.
        given: what is known; it collects the conditions under which the formulas hold.
        budget: how many terms a sum may have.
    """

    def __init__(self, sources: Sequence[Node], given: Given, budget: Budget) -> None:
        self.entries = ClosedForms(sources, given, budget)
        self.sources = self.entries.expand.sources
        self.sizes: list[Size] = []
        self._products: dict[Node, list[Product]] = {}
        self._entrywise: dict[Node, bool] = {}

    def label(self, size: Size) -> int:
        """Return a new label."""
        self.sizes.append(size)
        return len(self.sizes) - 1

    def labels(self, shape: Shape) -> Labels:
        return tuple(self.label(size) for size in shape)

    # ------------------------------------------------------------------------------------------------- terms

    def products(self, node: Node) -> list[Product]:
        """Return a node as a sum of products.

        Raises:
            Undecided: if it is none, or one with too many terms.
        """
        known = self._products
        pending = [node]
        while pending:
            top = pending[-1]
            if top in known:
                pending.pop()
                continue
            if not self.entries.expand.mask(top):
                result = self.labels(top.shape)
                known[top] = [Product(_1, ((top, result),), (), result)]
            elif self.is_entrywise(top):
                known[top] = self._of_entries(top)
            else:
                missing = [a for a in top.args if a not in known]
                if missing:
                    pending += missing
                    continue
                known[top] = self._combined(top)
                if len(known[top]) > _PRODUCTS:
                    raise Undecided
        return known[node]

    def is_entrywise(self, node: Node) -> bool:
        """Tell whether each entry of a node depends on one entry of each input at most."""
        known = self._entrywise
        pending = [node]
        while pending:
            top = pending[-1]
            missing = [a for a in top.args if a not in known and self.entries.expand.mask(a)]
            if missing:
                pending += missing
                continue
            pending.pop()
            noisy = [a for a in top.args if self.entries.expand.mask(a)]
            known[top] = top in self.sources or (top.op.pointwise and all(known[a] for a in noisy))
        return known[node]

    def _of_entries(self, node: Node) -> list[Product]:
        found: list[Product] = []
        for m, c in self.entries.expand(node).items():
            result = self.labels(node.shape)
            noisy = [node_of(part) for _, part in self._parts(m)]
            found.append(
                Product(
                    _1,
                    (self._placed(c, result),),
                    tuple(self._placed(f, result) for f in noisy),
                    result,
                )
            )
        return found

    def _parts(self, m: Monomial) -> list[tuple[int, Monomial]]:
        return [] if m == ONE else self.entries.parts(m)

    def _placed(self, node: Node, result: Labels) -> tuple[Node, Labels]:
        """Return a node that broadcasts to a result with the labels of its axes; one of length 1 has its own."""
        own = result[len(result) - len(node.shape) :]
        return node, tuple(
            label if self.sizes[label] == size else self.label(size)
            for label, size in zip(own, node.shape, strict=True)
        )

    def _combined(self, node: Node) -> list[Product]:
        name, args = node.op.name, node.args
        terms = [self._products[a] for a in args]
        if name == "stop_gradient":
            return terms[0]
        if name == "neg":
            return [replace(p, scale=-p.scale) for p in terms[0]]
        if name == "add":
            return [self._spread(p, node.shape) for p in (*terms[0], *terms[1])]
        if name == "mul":
            return self._multiplied(terms[0], terms[1], node.shape)
        if name == "div" and not self.entries.expand.mask(args[1]):
            inverse = 1 / args[1]
            labels = self.labels(inverse.shape)
            return self._multiplied(terms[0], [Product(_1, ((inverse, labels),), (), labels)], node.shape)
        if name == "pow" and args[1].is_number() and args[1].value in (2, 3, 4):
            found = terms[0]
            for _ in range(int(args[1].value) - 1):
                found = self._multiplied(found, terms[0], node.shape)
            return found
        if name == "einsum":
            return self._contracted(node, terms)
        if name == "mean":
            (axes,) = node.params
            count = _1
            for axis in axes:
                count = count * size_node(args[0].shape[axis])
            return [
                replace(
                    p,
                    scale=p.scale / count,
                    result=tuple(x for i, x in enumerate(p.result) if i not in axes),
                )
                for p in terms[0]
            ]
        if name == "broadcast_to":
            return [self._spread(p, node.shape) for p in terms[0]]
        if name == "reshape":
            return [self._reshaped(p, args[0].shape, node.shape) for p in terms[0]]
        raise Undecided

    def _fresh(self, p: Product, result: Labels | None = None) -> Product:
        """Return a product with labels that no other has, its result with the given ones."""
        names: dict[int, int] = dict(zip(p.result, result, strict=True)) if result is not None else {}

        def renamed(labels: Labels) -> Labels:
            return tuple(
                names[x] if x in names else names.setdefault(x, self.label(self.sizes[x])) for x in labels
            )

        operands = tuple((n, renamed(own)) for n, own in p.operands)
        noisy = tuple((n, renamed(own)) for n, own in p.noisy)
        return Product(p.scale, operands, noisy, renamed(p.result))

    def _spread(self, p: Product, shape: Shape, result: Labels | None = None) -> Product:
        """Return a product that broadcasts to a shape with that shape."""
        p = self._fresh(p)
        whole = self.labels(shape) if result is None else result
        own = whole[len(shape) - len(p.result) :]
        kept = [
            mine if self.sizes[mine] != 1 or self.sizes[theirs] == 1 else None
            for mine, theirs in zip(p.result, own, strict=True)
        ]
        names = {mine: theirs for mine, theirs in zip(kept, own, strict=True) if mine is not None}

        def renamed(labels: Labels) -> Labels:
            return tuple(names.get(x, x) for x in labels)

        operands = tuple((n, renamed(labels)) for n, labels in p.operands)
        noisy = tuple((n, renamed(labels)) for n, labels in p.noisy)
        return Product(p.scale, operands, noisy, whole)

    def _multiplied(self, a: list[Product], b: list[Product], shape: Shape) -> list[Product]:
        if len(a) * len(b) > _PRODUCTS:
            raise Undecided
        found: list[Product] = []
        for p, q in all_of(a, b):
            result = self.labels(shape)
            p_, q_ = self._spread(p, shape, result), self._spread(q, shape, result)
            found.append(Product(p.scale * q.scale, p_.operands + q_.operands, p_.noisy + q_.noisy, result))
        return found

    def _contracted(self, node: Node, terms: list[list[Product]]) -> list[Product]:
        labels, result = node.params
        if math.prod(map(len, terms)) > _PRODUCTS:
            raise Undecided
        found: list[Product] = []
        for chosen in all_of(*terms):
            names: dict[int, int] = {}
            for own, arg in zip(labels, node.args, strict=True):
                for label, size in zip(own, arg.shape, strict=True):
                    if label not in names:
                        names[label] = self.label(size)
            parts = [
                self._fresh(p, tuple(names[x] for x in own)) for p, own in zip(chosen, labels, strict=True)
            ]
            scale = _1
            for p in parts:
                scale = scale * p.scale
            found.append(
                Product(
                    scale,
                    tuple(o for p in parts for o in p.operands),
                    tuple(o for p in parts for o in p.noisy),
                    tuple(names[x] for x in result),
                )
            )
        return found

    def _reshaped(self, p: Product, before: Shape, after: Shape) -> Product:
        """Axes of length 1 come and go; whatever else a reshape does is not known here."""
        if [s for s in before if s != 1] != [s for s in after if s != 1]:
            raise Undecided
        kept = iter([x for x, s in zip(p.result, before, strict=True) if s != 1])
        return replace(p, result=tuple(self.label(1) if s == 1 else next(kept) for s in after))

    # ------------------------------------------------------------------------------------------------- moments

    def expectation(self, node: Node) -> Node:
        """Return the expectation of a node.

        Raises:
            NoMoment: if it is proved that there is none.
            Undecided: if no closed form is known.
        """
        total = _0
        terms = self.products(node)
        for p in terms:
            try:
                total = total + self._expected(p, [(f, 0) for f in p.noisy], joint=False)
            except NoMoment as none:
                raise self._lost(len(terms), none) from None
        return full(total, node.shape)

    def _lost(self, terms: int, none: NoMoment) -> Exception:
        """Return what is said of a sum of which one term has no moment."""
        return Undecided() if terms > 1 else NoMoment(f"{none.reason} (where its coefficient is not 0)")

    def covariance(self, a: Node, b: Node) -> Node:
        """Return the covariance of two nodes of one shape, entry by entry."""
        first, second = self.products(a), self.products(b)
        if len(first) * len(second) > _PRODUCTS:
            raise Undecided
        total = _0
        for p, q in all_of(first, second):
            if not (p.noisy and q.noisy):
                continue
            q = self._fresh(q, p.result)
            both = Product(p.scale * q.scale, p.operands + q.operands, (), p.result)
            noisy = [(f, 0) for f in p.noisy] + [(f, 1) for f in q.noisy]
            try:
                total = total + self._expected(both, noisy, joint=True)
            except NoMoment as none:
                raise self._lost(len(first) if a is b else 2, none) from None
        return full(total, a.shape)

    def _expected(self, p: Product, noisy: list[tuple[tuple[Node, Labels], int]], *, joint: bool) -> Node:
        """Return the expectation of a product, or (joint) its part that has the factors of both sides in one block."""
        by_source: dict[Node, list[tuple[Node, Labels, Labels, int]]] = {}
        for (node, labels), side in noisy:
            source = self.entries.expand.of(node)
            if source is None:
                raise Undecided
            keys = tuple(
                label
                for label, size in zip(labels[len(labels) - len(source.shape) :], source.shape, strict=True)
                if size != 1
            )
            by_source.setdefault(source, []).append((node, labels, keys, side))
        groups = [self._merged(factors) for factors in by_source.values()]
        if any(len(g) > _FACTORS for g in groups):
            raise Undecided
        total = _0
        for chosen in all_of(*([list(_partitions(g)) for g in groups])):
            blocks = [block for partition in chosen for block in partition]
            if joint and not any(len({side for *_, side in block}) == 2 for block in blocks):
                continue
            total = total + self._of_blocks(p, blocks)
        return total

    def _merged(
        self, factors: list[tuple[Node, Labels, Labels, int]]
    ) -> list[tuple[Node, Labels, Labels, int]]:
        """Multiply what is of the same entry, and on the same side."""
        found: dict[tuple[Labels, int], tuple[Node, Labels, Labels, int]] = {}
        for node, labels, keys, side in factors:
            if (keys, side) in found:
                node, labels = self._together([(node, labels), found[keys, side][:2]], keys)
            found[keys, side] = (node, labels, keys, side)
        return list(found.values())

    def _together(self, factors: Sequence[tuple[Node, Labels]], keys: Labels) -> tuple[Node, Labels]:
        """Return the product of functions of one entry, with all their axes, those of the entry last."""
        rest = tuple(dict.fromkeys(x for _, own in factors for x in own if x not in keys))
        frame = rest + keys
        found = _1
        for node, own in factors:
            ordered = tuple(x for x in frame if x in own)
            if own != ordered:
                node = contract([node], [own], ordered)
            missing = [i for i, x in enumerate(frame) if x not in own]
            found = found * (expand(node, missing) if missing and node.shape else node)
        return found, frame

    def _of_blocks(self, p: Product, blocks: list[list[tuple[Node, Labels, Labels, int]]]) -> Node:
        same: dict[int, int] = {}

        def root(x: int) -> int:
            while x in same:
                x = same[x]
            return x

        operands = list(p.operands)
        for block in blocks:
            keys = block[0][2]
            for _, _, other, _ in block[1:]:
                for x, y in zip(keys, other, strict=True):
                    if root(x) != root(y):
                        same[root(y)] = root(x)
            # All factors of a block are of one entry: they have its labels.
            alike = [
                (node, tuple(keys[own.index(x)] if x in own else x for x in labels))
                for node, labels, own, _ in block
            ]
            cumulant, labels = self._cumulant(alike, keys)
            if cumulant.is_number(0):
                return _0
            operands.append((cumulant, labels))
        return self._written(p, [(n, tuple(root(x) for x in own)) for n, own in operands], root)

    def _cumulant(self, factors: list[tuple[Node, Labels]], keys: Labels) -> tuple[Node, Labels]:
        """Return a joint cumulant: the sum over partitions of (-1)**(k - 1)*(k - 1)! times the moments of k blocks."""
        total = _0
        whole, frame = self._together(factors, keys)
        for partition in _partitions(factors):
            k = len(partition)
            moments = [self._together(block, keys) for block in partition]
            expected = [
                (node if not self.entries.expand.mask(node) else self.entries.expectation(node), labels)
                for node, labels in moments
            ]
            term, _ = self._together(
                [(full(e, node.shape), own) for (e, own), (node, _) in zip(expected, moments, strict=True)],
                keys,
            )
            total = total + (-1) ** (k - 1) * math.factorial(k - 1) * term
        found = canonical([full(total, whole.shape)]).nodes[0]
        return (found, frame) if not found.is_number(0) else (_0, ())

    def _written(self, p: Product, operands: list[tuple[Node, Labels]], root: Callable[[int], int]) -> Node:
        """Write a product down as one contraction: what the operands do not have is repeated."""
        nodes = [n for n, _ in operands]
        labels = [own for _, own in operands]
        present = {x for own in labels for x in own}
        result: list[int] = []
        for x in p.result:
            label = root(x)
            if label in result:
                fresh = self.label(self.sizes[x])
                nodes.append(OPS["eye"](params=(self.sizes[x], self.sizes[x])))
                labels.append((label, fresh))
                label = fresh
            elif label not in present:
                nodes.append(broadcast_to(_1, params=((self.sizes[x],),)))
                labels.append((label,))
            result.append(label)
            present.add(label)
        # Scalars become factors in front; what has an axis that nothing else has is summed by itself.
        return p.scale * contract(nodes, labels, result)


def _partitions(items: Sequence[_T]) -> Iterator[list[list[_T]]]:
    """Yield all partitions of a sequence."""
    if not items:
        yield []
        return
    for rest in _partitions(items[1:]):
        yield [[items[0]], *rest]
        for i, block in enumerate(rest):
            yield [*rest[:i], [items[0], *block], *rest[i + 1 :]]
