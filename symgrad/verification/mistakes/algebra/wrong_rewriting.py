"""Find the wrong rewriting that leads from one side of an equation to the other.

The products in a formula are expanded, so that a slip in one of the resulting terms has a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product as choices

import numpy as np

from symgrad.checker.clock import is_late
from symgrad.ir.graph import NUMBER, Node, apply, as_node
from symgrad.ir.traverse import fold, reads_arrays, signed_terms, substitute, topological
from symgrad.ops.array.layout import full
from symgrad.support.errors import SymgradError
from symgrad.verification.mistakes.candidate import Mistake, confirmed
from symgrad.verification.mistakes.catalogue import REWRITINGS
from symgrad.verification.mistakes.edits.formulas import Edit, dropped, edited, repaired
from symgrad.verification.mistakes.edits.structure import agree
from symgrad.verification.mistakes.limits import AGREE, EDITS, NODES, TERMS
from symgrad.verification.mistakes.numbers import Array, sampled_arrays, sampled_lanes
from symgrad.verification.mistakes.rewriting import Swap, signed, total

_Terms = list[tuple[int, Node]]


def expanded(formula: Node) -> Node | None:
    """Expand the products in a formula; None if nothing changes, or there are too many terms.

    Example:
        >>> import symgrad as sg
        >>> from symgrad.api.handles.expr import handle
        >>> a, b = sg.symbols("a b")
        >>> print(handle(expanded(((a - b)*(a + 1)).node)))
        a*a + a*1 + -b*a + -b*1
    """
    terms = fold([formula], _terms)[formula]
    if len(terms) < 2:
        return None
    found = total(signed(s, full(t, formula.shape)) for s, t in terms)
    return None if found is formula else found


def _terms(node: Node, args: list[_Terms]) -> _Terms:
    name = node.op.name
    if name == "add":
        found = [t for terms in args for t in terms]
    elif name == "neg":
        found = [(-s, t) for s, t in args[0]]
    elif name == "mul" or (name == "einsum" and len(node.args) == 2):
        found = [*_products(node, args)]
    elif name == "div":
        found = [(s, t / node.args[1]) for s, t in args[0]]
    elif name == "pow" and node.args[1].op is NUMBER and node.args[1].value in (2, 3):
        found = _power(args[0], int(node.args[1].value))
    else:
        return [(1, node)]
    return found if 1 < len(found) <= TERMS else [(1, node)]


def _products(node: Node, args: list[_Terms]) -> Iterator[tuple[int, Node]]:
    if any(t.shape != a.shape for a, terms in zip(node.args, args, strict=True) for _, t in terms):
        yield 1, node  # keep broadcast operands
        return
    for (s, a), (t, b) in choices(*args):
        yield s * t, apply(node.op, (a, b), node.params)


def _power(terms: _Terms, exponent: int) -> _Terms:
    if len(terms) < 2:
        return []
    if exponent == 2 and len(terms) == 2:
        (s, a), (t, b) = terms
        return [(1, a**2), (s * t, 2 * a * b), (1, b**2)]
    found = terms
    for _ in range(exponent - 1):
        found = [(s * t, a * b) for s, a in found for t, b in terms]
    return found


_PER_EQUATION = 1.2e-5  # seconds for one edited formula, by the number of its equations


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A mistake that leads from one side to the other, and the right rewriting of the same part.

    Args:
        found: the mistake.
        right: the first side with the right rewriting of that part; None if there is none.
    """

    found: Mistake
    right: Node | None = None


def rewritings_that_give(
    before: Node, claim: Node, deadline: float, *, witness: Mapping[str, object] | None = None
) -> list[Rewritten]:
    """Return the wrong rewritings that turn the first side into the claim, best first.

    Args:
        before: a formula; all lengths are numbers.
        claim: another formula, of the same shape.
        deadline: on the clock of `symgrad.checker.clock`.
        witness: a point at which the two differ.
    """
    if len(topological([before, claim])) > NODES or before.shape != claim.shape:
        return []
    return _RewritingSearch(before, claim, deadline, witness).run()


@dataclass(slots=True)
class _Candidate:
    """The formula that a mistake gives."""

    formula: Node
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
        self.sampled = sampled_arrays(nodes) if reads_arrays(nodes) else sampled_lanes(nodes, witness)
        self.found: list[Rewritten] = []

    def run(self) -> list[Rewritten]:
        """Return the mistakes; if no wrong rule is recognised, slips of the pen."""
        if not self.sampled.points:
            return []
        shape = self.claim.shape
        self.of_before, self.of_claim = (self.sampled.rows(n, shape) for n in (self.before, self.claim))
        if agree(self.of_before, self.of_claim, most=True):
            return []  # the sides differ at a few points only, as nearly any edit does
        for stage in (self.rules, self.slips, self.factor):
            self.found.clear()
            stage()
            confirmed_ids = {id(f) for f in confirmed([r.found for r in self.found], self.deadline)}
            mistakes = [r for r in self.found if id(r.found) in confirmed_ids]
            if mistakes:
                return sorted(mistakes, key=lambda r: r.found.rank)
        return []

    # ------------------------------------------------------------------------------------------------------- stages

    def rules(self) -> None:
        """Apply each wrong rule to each part of one side, and compare with the other side."""
        for behind, formula in enumerate(self.forms()):
            self.compared(self.distorted(formula, behind), self.claim, in_claim=False)
        self.compared(self.distorted(self.claim, 2), self.before, in_claim=True)

    def slips(self) -> None:
        """Change a sign, a term, a factor or an operand of one side."""
        for formula in self.forms():
            self.compared(self.changed(formula), self.claim, in_claim=False)
        found = edited(self.claim, (e for e in repaired(self.claim, {}) if e.kind in _OWN))
        self.compared((_of_edit(e, other) for e, other in found), self.before, in_claim=True)

    def forms(self) -> list[Node]:
        """Return the first side, and its expanded form if that is different."""
        multiplied = expanded(self.before)
        return [self.before] if multiplied is None else [self.before, multiplied]

    def changed(self, formula: Node) -> Iterator[_Candidate]:
        edits = [*dropped(formula, outer=True), *_signs(formula), *_twos(formula)]
        for edit, other in edited(formula, edits):
            yield _of_edit(edit, other, _SENTENCES.get(edit.says, edit.says))

    def factor(self) -> None:
        """Find the number by which the sides differ."""
        for kind, says, sides in _named_factor(self.before, self.claim, self.of_before, self.of_claim):
            self.found.append(Rewritten(Mistake(kind, says, None, {}, 30, sides)))

    def distorted(self, formula: Node, behind: int) -> Iterator[_Candidate]:
        """Yield a formula with each wrong rule at each part.

        A part with several readers is also changed in one place only.
        """
        swaps: list[tuple[Swap, Edit]] = []
        for node in reversed(topological([formula])):
            for row in REWRITINGS:
                if node.op.name not in row.ops:
                    continue
                try:
                    found = list(row.distort(node))
                except (SymgradError, ValueError, ZeroDivisionError):
                    continue  # shapes or numbers do not fit
                swaps += [(s, Edit(row.kind, node, s.other, row.rank + behind, row.says)) for s in found]
        by_edit = {id(e): s for s, e in swaps}
        for edit, other in edited(formula, [e for _, e in swaps if e.other.shape == e.node.shape]):
            yield _Candidate(other, edit.kind, edit.says, edit.node, edit.rank, by_edit[id(edit)])

    def compared(self, candidates: Iterator[_Candidate], wanted: Node, *, in_claim: bool) -> None:
        """Store the candidates that are equal to the other side."""
        target = self.of_before if in_claim else self.of_claim
        own = self.of_claim if in_claim else self.of_before
        for n, c in enumerate(candidates):
            if n > EDITS or is_late(self.deadline, self.cost):
                return
            if c.formula.shape != self.claim.shape:
                continue
            try:
                values = self.sampled.rows(c.formula, self.claim.shape)
            except (SymgradError, ValueError, np.linalg.LinAlgError):
                continue
            if agree(values, target) and not agree(values, own):
                right = None
                if not in_claim and c.swap is not None and c.swap.right is not None:
                    right = _rewritten(self.before, c.at, c.swap.right)
                found = Mistake(
                    c.kind,
                    c.says,
                    c.at,
                    c.words,
                    c.rank,
                    lambda formula=c.formula: (formula, wanted),
                    in_claim=in_claim,
                )
                self.found.append(Rewritten(found, right))


def _rewritten(formula: Node, node: Node, other: Node) -> Node | None:
    try:
        (changed,) = substitute([formula], {node: other})
    except SymgradError:
        return None
    return None if changed is formula else total(signed(s, t) for s, t in signed_terms(changed))


_FACTORS = (
    ("lost-minus", -1, "with the other sign"),
    ("factor-2", 2, "times 2"),
    ("factor-2", Fraction(1, 2), "divided by 2"),
)

_OWN = frozenset({"missing-transpose", "extra-transpose", "operands-swapped", "lost-minus", "wrong-axis-sum"})

# Sentences about slips in a derivative, each with the same sentence about a slip in a rewriting.
_SENTENCES = {
    "the claim lacks the term {held} of the right derivative": "the term {held} is lost",
    "the claim lacks the factor {held} of the right derivative": "the factor {held} is lost",
    "the claim lacks the divisor {held} of the right derivative": "the divisor {held} is lost",
    "the claim has lost the minus sign before {held}, which the right derivative has": (
        "the minus sign before {held} is lost"
    ),
}


def _of_edit(edit: Edit, formula: Node, says: str | None = None) -> _Candidate:
    words = {} if edit.held is None else {"held": edit.held}
    return _Candidate(formula, edit.kind, says or edit.says, edit.node, edit.rank, None, words)


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


def _named_factor(
    before: Node, claim: Node, of_before: Array, of_claim: Array
) -> Iterator[tuple[str, str, Callable[[], tuple[Node, Node]]]]:
    """Yield a named number c for which the claim is c times the first side."""
    with np.errstate(all="ignore"):
        if not np.any(np.abs(of_before) > 0):
            return
        for kind, number, words in _FACTORS:
            if np.all(np.abs(of_claim - float(number) * of_before) <= AGREE * np.abs(of_claim)):
                says = f"the claim is the side before {words}"
                yield kind, says, lambda number=number: (before * as_node(number), claim)
                return
