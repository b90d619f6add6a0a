"""The expectation of a sum of contractions, by cumulants of independent entries and inclusion probabilities.

The entries of an input are independent and identically distributed. So the expectation of a product of factors
f_k(u)[i_k] is a sum over the partitions of the factors; each term is the product of the joint cumulants of the blocks.
The joint cumulant of independent variables is zero, so all indices of a block are equal (Leonov and Shiryaev, 1959).
The covariance of two products is the same sum, restricted to partitions with a block that has factors of both.

Indices drawn without replacement are not independent: two of them are any given pair of different indices with
probability 1/(n*(n - 1)), the second-order inclusion probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as all_of
from typing import TypeVar

from symgrad.analysis.expectations.arrays.products import PRODUCTS, ArrayTerms, Labels, NoisyProduct
from symgrad.analysis.expectations.assumptions import Assumptions, NoMoment, Undecided
from symgrad.analysis.expectations.families.table import parameters_of
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.layout import broadcast_to, expand, full
from symgrad.rewrite.pipeline import canonical

_0, _1 = as_node(0), as_node(1)
_FACTORS = 4  # number of factors of one input; 4 factors have 15 partitions
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class NoisyFactor:
    """A function of one entry of a random input.

    Args:
        node: the function; if the input is an index that picks entries, the input itself.
        labels: the labels of its axes.
        keys: the labels that identify the entry of the random input.
        side: the factor of a covariance to which it belongs: 0 or 1.
        picks: the labels of the picked axes.
    """

    node: Node
    labels: Labels
    keys: Labels
    side: int
    picks: Labels = ()


@dataclass(frozen=True, slots=True)
class Way:
    """One term of the expectation of the factors of one input.

    Args:
        scale: a number.
        same: pairs of labels that are equal.
        operands: arrays by which the term is multiplied.
        joins: whether the term has a block with factors of both sides.
    """

    scale: Node
    same: tuple[tuple[int, int], ...] = ()
    operands: tuple[tuple[Node, Labels], ...] = ()
    joins: bool = False


class ArrayForms:
    """Expectations and covariances of programs on arrays.

    Args:
        sources: the random inputs, of any shape.
        given: the known facts; conditions under which the formulas hold are added to it.
    """

    def __init__(self, sources: Sequence[Node], given: Assumptions) -> None:
        self.terms = ArrayTerms(sources, given)
        self.entries = self.terms.entries
        self.given = given

    def expectation(self, node: Node) -> Node:
        """Return the expectation of a node.

        Raises:
            NoMoment: if the expectation is proved not to exist.
            Undecided: if no closed form is known.
        """
        total = _0
        terms = self.terms.products(node)
        for p in terms:
            try:
                total = total + self._expected(p, [(f, 0) for f in p.noisy], joint=False)
            except NoMoment as none:
                raise self._no_moment(len(terms), none) from None
        return full(total, node.shape)

    def _no_moment(self, terms: int, none: NoMoment) -> Exception:
        """Return the exception for a sum in which one of the terms has no moment."""
        return Undecided() if terms > 1 else NoMoment(f"{none.reason} (where its coefficient is not 0)")

    def covariance(self, a: Node, b: Node) -> Node:
        """Return the covariance of two nodes of the same shape, entry by entry."""
        first, second = self.terms.products(a), self.terms.products(b)
        if len(first) * len(second) > PRODUCTS:
            raise Undecided
        total = _0
        for p, q in all_of(first, second):
            if not (p.noisy and q.noisy):
                continue
            q = self.terms.fresh(q, p.result)
            both = NoisyProduct(p.scale * q.scale, p.operands + q.operands, p.noisy + q.noisy, p.result)
            noisy = [(f, 0) for f in p.noisy] + [(f, 1) for f in q.noisy]
            try:
                total = total + self._expected(both, noisy, joint=True)
            except NoMoment as none:
                raise self._no_moment(len(first) if a is b else 2, none) from None
        return full(total, a.shape)

    def _expected(
        self, p: NoisyProduct, noisy: list[tuple[tuple[Node, Labels], int]], *, joint: bool
    ) -> Node:
        """Return the expectation of a product; if ``joint``, only the part that joins both sides."""
        by_source: dict[Node, list[NoisyFactor]] = {}
        for (node, labels), side in noisy:
            source = self.entries.expand.of(node)
            if source is None:
                raise Undecided
            picks = labels[len(source.shape) :] if node is source else ()
            own = labels[: len(source.shape)] if picks else labels[len(labels) - len(source.shape) :]
            keys = tuple(x for x, size in zip(own, source.shape, strict=True) if size != 1)
            by_source.setdefault(source, []).append(NoisyFactor(node, labels, keys, side, picks))
        ways = [list(self._ways(source, factors)) for source, factors in by_source.items()]
        total = _0
        for terms in all_of(*ways):
            if not joint or any(way.joins for way in terms):
                total = total + self._contraction(p, terms)
        return total

    def _ways(self, source: Node, factors: list[NoisyFactor]) -> Iterator[Way]:
        """Yield the terms of the expectation of the factors of one input."""
        distribution = source.declaration.distribution
        assert distribution is not None
        picked = [bool(f.picks) for f in factors]
        if any(picked) and not all(picked):
            raise Undecided
        groups = _merged_picks(factors) if any(picked) else self._merged(factors)
        if len(groups) > _FACTORS:
            raise Undecided
        if distribution.name == "Permutation":
            if not any(picked):
                raise Undecided
            yield from self._different(source, groups)
            return
        if not distribution.family.independent:
            raise Undecided
        for blocks in _partitions(groups):
            joins = any(len({f.side for f in block}) == 2 for block in blocks)
            same = tuple(
                pair
                for block in blocks
                for f in block[1:]
                for pair in zip(block[0].keys, f.keys, strict=True)
            )
            if any(picked):
                yield from _picked_alike(source, blocks, same, joins)
                continue
            operands = [
                self._cumulant([(f.node, _moved(f, block[0])) for f in block], block[0].keys)
                for block in blocks
            ]
            if not any(node.is_number(0) for node, _ in operands):
                yield Way(_1, same, tuple(operands), joins)

    def _different(self, source: Node, groups: list[NoisyFactor]) -> Iterator[Way]:
        """Yield the terms for indices drawn without replacement, for two slots a and b, which may coincide."""
        (n,) = parameters_of(source)[1]
        if len(groups) > 2:
            raise Undecided
        picked = tuple(pair for f in groups for pair in _pairs(f.picks))
        if len(groups) == 1:
            yield Way(1 / n, picked)
            return
        a, b = groups
        self.given.require(OPS["gt"](n, _1), None)
        slot = tuple(zip(a.keys, b.keys, strict=True))
        row = ((a.picks[0], b.picks[0]),)
        joins = a.side != b.side
        both = 1 / (n * (n - 1))
        yield Way(1 / (n - 1), (*picked, *slot, *row), (), joins)
        yield Way(-both, (*picked, *slot), (), joins)
        yield Way(-both, (*picked, *row), (), joins)
        yield Way(both - 1 / n**2 if joins else both, picked, (), joins)
        if joins:
            yield Way(1 / n**2, picked)

    def _merged(self, factors: list[NoisyFactor]) -> list[NoisyFactor]:
        """Multiply the factors that have the same entry and side."""
        found: dict[tuple[Labels, int], NoisyFactor] = {}
        for f in factors:
            known = found.get((f.keys, f.side))
            if known is not None:
                node, labels = self._entry_product([(f.node, f.labels), (known.node, known.labels)], f.keys)
                f = NoisyFactor(node, labels, f.keys, f.side)
            found[f.keys, f.side] = f
        return list(found.values())

    def _entry_product(self, factors: Sequence[tuple[Node, Labels]], keys: Labels) -> tuple[Node, Labels]:
        """Return the product of functions of the same entry, over all their axes; the axes of the entry are last."""
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

    def _cumulant(self, factors: list[tuple[Node, Labels]], keys: Labels) -> tuple[Node, Labels]:
        """Return a joint cumulant: the sum over partitions of (-1)**(k - 1)*(k - 1)! times the moments of k blocks."""
        total = _0
        whole, frame = self._entry_product(factors, keys)
        for partition in _partitions(factors):
            k = len(partition)
            moments: list[tuple[Node, Labels]] = []
            for node, labels in (self._entry_product(block, keys) for block in partition):
                mean = self.entries.expectation(node) if self.entries.expand.mask(node) else node
                moments.append((full(mean, node.shape), labels))
            term, _ = self._entry_product(moments, keys)
            total = total + (-1) ** (k - 1) * math.factorial(k - 1) * term
        found = canonical([full(total, whole.shape)]).nodes[0]
        return (found, frame) if not found.is_number(0) else (_0, ())

    def _contraction(self, p: NoisyProduct, ways: Sequence[Way]) -> Node:
        """Return a product as one contraction; labels that no operand has get an array of ones."""
        same: dict[int, int] = {}

        def root(x: int) -> int:
            while x in same:
                x = same[x]
            return x

        scale = p.scale
        operands = list(p.operands)
        for way in ways:
            scale = scale * way.scale
            operands += way.operands
            for x, y in way.same:
                if root(x) != root(y):
                    same[root(y)] = root(x)
        nodes = [n for n, _ in operands]
        labels = [tuple(map(root, own)) for _, own in operands]
        sizes = self.terms.sizes
        present = {x for own in labels for x in own}
        # The sum over a label of the noise that no operand has is the size of that axis.
        for x in sorted(x for _, own in p.noisy for x in own):
            if root(x) not in present:
                nodes.append(broadcast_to(_1, params=((sizes[x],),)))
                labels.append((root(x),))
                present.add(root(x))
        result: list[int] = []
        for x in p.result:
            label = root(x)
            if label in result:
                fresh = self.terms.label(sizes[x])
                nodes.append(OPS["eye"](params=(sizes[x], sizes[x])))
                labels.append((label, fresh))
                label = fresh
            elif label not in present:
                nodes.append(broadcast_to(_1, params=((sizes[x],),)))
                labels.append((label,))
            result.append(label)
            present.add(label)
        return scale * contract(nodes, labels, result)


def _pairs(labels: Labels) -> list[tuple[int, int]]:
    return [(labels[0], x) for x in labels[1:]]


def _moved(f: NoisyFactor, first: NoisyFactor) -> Labels:
    """Return the labels of a factor after its entry is identified with the entry of another factor."""
    return tuple(first.keys[f.keys.index(x)] if x in f.keys else x for x in f.labels)


def _merged_picks(factors: list[NoisyFactor]) -> list[NoisyFactor]:
    """Merge the picks by the same index on the same side: all picked labels are equal."""
    found: dict[tuple[Labels, int], NoisyFactor] = {}
    for f in factors:
        known = found.get((f.keys, f.side))
        picks = f.picks if known is None else known.picks + f.picks
        found[f.keys, f.side] = NoisyFactor(f.node, f.labels, f.keys, f.side, picks)
    return list(found.values())


def _picked_alike(
    source: Node, blocks: list[list[NoisyFactor]], same: tuple[tuple[int, int], ...], joins: bool
) -> Iterator[Way]:
    """Yield the terms for independent indices with probabilities p: E[(i == k)*(i == l)] is p[k] if k = l."""
    name, parameters = parameters_of(source)
    if name != "Categorical" or len(parameters[0].shape) != 1:
        raise Undecided
    (p,) = parameters
    for inner in all_of(*([list(_partitions(block)) for block in blocks])):
        scale = 1
        alike: list[tuple[int, int]] = []
        operands: list[tuple[Node, Labels]] = []
        for parts in inner:
            scale *= (-1) ** (len(parts) - 1) * math.factorial(len(parts) - 1)
            for part in parts:
                picks = tuple(x for f in part for x in f.picks)
                alike += _pairs(picks)
                operands.append((p, picks[:1]))
        yield Way(as_node(scale), (*same, *alike), tuple(operands), joins)


def _partitions(items: Sequence[_T]) -> Iterator[list[list[_T]]]:
    """Yield all partitions of a sequence."""
    if not items:
        yield []
        return
    for rest in _partitions(items[1:]):
        yield [[items[0]], *rest]
        for i, block in enumerate(rest):
            yield [*rest[:i], [items[0], *block], *rest[i + 1 :]]
