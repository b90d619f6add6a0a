"""Which wrong rewriting leads from one side of an equation to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from symgrad.checker.clock import is_late
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.support.errors import SymgradError
from symgrad.verification.mistakes.algebra.expansion import expanded
from symgrad.verification.mistakes.candidate import Found, confirmed
from symgrad.verification.mistakes.catalogue import REWRITINGS
from symgrad.verification.mistakes.edits.formulas import Edit, dropped, edited, repaired
from symgrad.verification.mistakes.edits.structure import agree
from symgrad.verification.mistakes.limits import AGREE, EDITS, NODES
from symgrad.verification.mistakes.numbers import Array, lengths, sampled_arrays, sampled_lanes
from symgrad.verification.mistakes.rewriting import AlgebraRule, Swap, signed, terms_of, total

__all__ = ["Rewritten", "rewritings_that_give"]

_PER_EQUATION = 1.2e-5  # seconds of one changed formula, for each equation of it


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A mistake that leads from one side to the other, and the right rewriting of the same part.

    Args:
        found: the mistake.
        right: the side before, rightly rewritten at that part; None where there is no such form.
    """

    found: Found
    right: Node | None = None


def rewritings_that_give(
    before: Node, claim: Node, deadline: float, *, witness: Mapping[str, object] | None = None
) -> list[Rewritten]:
    """Return the wrong rewritings that make a claim of the side before, best first.

    Args:
        before: a formula; all lengths are numbers.
        claim: another one, of the same shape.
        deadline: on the count of `symgrad.checker.clock`.
        witness: a point at which they differ.
    """
    if len(topological([before, claim])) > NODES or before.shape != claim.shape:
        return []
    return _RewritingSearch(before, claim, deadline, witness).run()


@dataclass(slots=True)
class _Candidate:
    """A formula that a mistake makes."""

    made: Node
    kind: str
    says: str
    at: Node
    rank: float
    swap: Swap | None = None
    words: Mapping[str, object] = field(default_factory=dict[str, object])


class _RewritingSearch:
    def __init__(
        self, before: Node, claim: Node, deadline: float, witness: Mapping[str, object] | None
    ) -> None:
        self.before = before
        self.claim = claim
        self.deadline = deadline
        self.cost = _PER_EQUATION * len(topological([before, claim]))
        nodes = [before, claim]
        arrays = any(s.shape for s in symbols_of(nodes))
        arrays = arrays or not all(n.op.pointwise or not n.args for n in topological(nodes))
        self.sampled = sampled_arrays(nodes) if arrays else sampled_lanes(nodes, witness)
        self.found: dict[int, tuple[Found, Node | None]] = {}

    def run(self) -> list[Rewritten]:
        """Return the mistakes; slips of the pen where no wrong rule is recognised."""
        if not self.sampled.points:
            return []
        self.of_before, self.of_claim = self.values(self.before), self.values(self.claim)
        if self.agrees(self.of_before, self.of_claim):
            return []  # at these points: what is wrong shows elsewhere
        if self.sampled.lanes and agree(self.of_before, self.of_claim, np.zeros(0), lanes=True, most=True):
            return []  # they differ at a few points alone, and nearly anything does so
        for stage in (self.rules, self.slips, self.whole):
            self.found.clear()
            stage()
            kept = {id(f) for f in confirmed([f for f, _ in self.found.values()], self.deadline)}
            told = [Rewritten(f, right) for f, right in self.found.values() if id(f) in kept]
            if told:
                return sorted(told, key=lambda r: r.found.rank)
        return []

    def values(self, node: Node) -> Array:
        """Return the values of a formula of the shape of the sides at all points."""
        if self.sampled.lanes:
            return np.broadcast_to(
                np.asarray(self.sampled.points[0](node), np.float64), self.sampled.count
            ).ravel()
        shape = lengths(self.claim.shape)
        return np.concatenate([np.broadcast_to(p(node), shape).ravel() for p in self.sampled.points])

    def agrees(self, one: Array, other: Array) -> bool:
        return agree(one, other, np.zeros(0), lanes=self.sampled.lanes)

    # ------------------------------------------------------------------------------------------------------- stages

    def rules(self) -> None:
        """Distort each part of one side, and see whether the other comes out."""
        multiplied = expanded(self.before)
        for formula in [self.before] if multiplied is None else [self.before, multiplied]:
            behind = 0 if formula is self.before else 1
            self.compared(self.distorted(formula, behind), self.claim, in_claim=False)
        self.compared(self.distorted(self.claim, 2), self.before, in_claim=True)

    def slips(self) -> None:
        """Change a sign, a term, a factor or an operand of one side."""
        multiplied = expanded(self.before)
        for formula in [self.before] if multiplied is None else [self.before, multiplied]:
            self.compared(self.changed(formula, _SAID), self.claim, in_claim=False)
        found = edited(self.claim, (e for e in repaired(self.claim, {}) if e.kind in _OWN))
        self.compared((_of_edit(e, made) for e, made in found), self.before, in_claim=True)

    def changed(self, formula: Node, said: Mapping[str, str]) -> Iterator[_Candidate]:
        edits = [*dropped(formula, outer=True), *_signs(formula), *_twos(formula)]
        for edit, made in edited(formula, edits):
            yield _of_edit(edit, made, said.get(edit.says, edit.says))

    def whole(self) -> None:
        """Say by which number the sides differ."""
        for kind, says, sides in _whole(self.before, self.claim, self.of_before, self.of_claim):
            self.found[len(self.found)] = (Found(kind, says, None, {}, 30, sides), None)

    def distorted(self, formula: Node, behind: int) -> Iterator[_Candidate]:
        """Yield a formula with each wrong rule at each part; of a part that is read twice also in one place."""
        made: list[tuple[AlgebraRule, Swap, Edit]] = []
        for node in reversed(topological([formula])):
            for row in REWRITINGS:
                if node.op.name not in row.ops:
                    continue
                try:
                    swaps = list(row.distort(node))
                except (SymgradError, ValueError, ZeroDivisionError):
                    continue  # its shapes or numbers do not fit
                made += [(row, s, Edit(row.kind, node, s.other, row.rank + behind, row.says)) for s in swaps]
        by_edit = {id(e): (row, s) for row, s, e in made}
        for edit, other in edited(formula, [e for _, _, e in made if e.other.shape == e.node.shape]):
            yield _Candidate(other, edit.kind, edit.says, edit.node, edit.rank, by_edit[id(edit)][1])

    def compared(self, candidates: Iterator[_Candidate], wanted: Node, *, in_claim: bool) -> None:
        """Note the candidates that are equal to a side."""
        target = self.of_before if in_claim else self.of_claim
        own = self.of_claim if in_claim else self.of_before
        for n, c in enumerate(candidates):
            if n > EDITS or is_late(self.deadline, self.cost):
                return
            if c.made.shape != self.claim.shape:
                continue
            try:
                values = self.values(c.made)
            except (SymgradError, ValueError, np.linalg.LinAlgError):
                continue
            if self.agrees(values, target) and not self.agrees(values, own):
                right = None
                if not in_claim and c.swap is not None and c.swap.right is not None:
                    right = _put(self.before, c.at, c.swap.right)
                sides = partial(_both, c.made, wanted)
                found = Found(c.kind, c.says, c.at, c.words, c.rank, sides, in_claim=in_claim)
                self.found[len(self.found)] = (found, right)


def _both(one: Node, other: Node) -> tuple[Node, Node]:
    return one, other


def _put(formula: Node, node: Node, other: Node) -> Node | None:
    try:
        (made,) = substitute([formula], {node: other})
    except SymgradError:
        return None
    return None if made is formula else total(signed(s, t) for s, t in terms_of(made))


_FACTORS = (
    ("lost-minus", -1, "with the other sign"),
    ("factor-2", 2, "times 2"),
    ("factor-2", Fraction(1, 2), "divided by 2"),
)

_OWN = frozenset({"missing-transpose", "extra-transpose", "operands-swapped", "lost-minus", "wrong-axis-sum"})

# What is said of a slip in a derivative, and of one in a rewriting.
_SAID = {
    "the claim lacks the term {held} of the right derivative": "the term {held} is lost",
    "the claim lacks the factor {held} of the right derivative": "the factor {held} is lost",
    "the claim lacks the divisor {held} of the right derivative": "the divisor {held} is lost",
    "the claim has lost the minus sign before {held}, which the right derivative has": (
        "the minus sign before {held} is lost"
    ),
}


def _of_edit(edit: Edit, made: Node, says: str | None = None) -> _Candidate:
    words = {} if edit.held is None else {"held": edit.held}
    return _Candidate(made, edit.kind, says or edit.says, edit.node, edit.rank, None, words)


def _signs(formula: Node) -> Iterator[Edit]:
    for edit in repaired(formula, {}):
        if edit.kind == "lost-minus" and edit.node.op.name == "add":
            yield Edit("lost-minus", edit.node, edit.other, 16, "the sign of {held} is wrong", edit.held)


def _twos(formula: Node) -> Iterator[Edit]:
    for node in topological([formula]):
        if node.op.name in ("mul", "div") and node.args[1].is_number(2):
            yield Edit("factor-2", node, node.args[0], 15, "a factor of 2 is lost at {0}")
        elif node.op.name == "mul" and node.args[0].is_number(2):
            yield Edit("factor-2", node, node.args[1], 15, "a factor of 2 is lost at {0}")


def _whole(
    before: Node, claim: Node, of_before: Array, of_claim: Array
) -> Iterator[tuple[str, str, Callable[[], tuple[Node, Node]]]]:
    """Yield the number by which the claim is a multiple of the side before, if it has a name."""
    with np.errstate(all="ignore"):
        if not np.any(np.abs(of_before) > 0):
            return
        for kind, number, words in _FACTORS:
            if np.all(np.abs(of_claim - float(number) * of_before) <= AGREE * np.abs(of_claim)):
                says = f"the claim is the side before {words}"
                yield kind, says, lambda number=number: (before * as_node(number), claim)
                return
