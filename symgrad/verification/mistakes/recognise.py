"""Recognise the mistakes that give a claim: compare all single mistakes numerically, then confirm them as formulas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.clock import is_late
from symgrad.ir.graph import Node
from symgrad.ir.traverse import reads_arrays, symbols_of, topological
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.verification.mistakes.candidate import Mistake, confirmed
from symgrad.verification.mistakes.catalogue import ROWS
from symgrad.verification.mistakes.derivation import RightDerivation
from symgrad.verification.mistakes.edits.axes import other_steps, other_sums, without_outer
from symgrad.verification.mistakes.edits.formulas import Edit, dropped, edited, repaired
from symgrad.verification.mistakes.edits.structure import (
    Deviation,
    agree,
    differences,
    missing_sums,
    named_factors,
    of_symmetric,
    on_a_branch,
)
from symgrad.verification.mistakes.limits import EDITS, HUMAN, NESTED, PAIRS, PAIRS_FOUND, TELLING
from symgrad.verification.mistakes.numbers import (
    Array,
    lengths,
    pairs_that_give,
    sampled_arrays,
    sampled_lanes,
    telling,
)
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong

_SITE = 1e-3  # seconds for all rows at one equation, by the number of equations
_PER_EQUATION = 1.2e-5  # seconds for one edited formula, by the number of its equations

_Mistake: TypeAlias = "tuple[MalRule[Site, Wrong], Node, Wrong]"


def _are_disjoint(one: Wrong, other: Wrong) -> bool:
    """Tell whether no node of either mistake is a part of a node of the other mistake."""
    first, second = ([n for n, _ in w.parts if n is not None] for w in (one, other))
    inside, around = set(topological(first)), set(topological(second))
    return not any(n in around for n in first) and not any(n in inside for n in second)


def _counts(sizes: Mapping[str, int], nodes: Sequence[Node]) -> dict[str, int]:
    """Return numbers of entries with their texts: the lengths of named axes, or if there are none, of all axes."""
    named = dict(sizes) or {str(n): n for s in symbols_of(nodes) for n in lengths(s.shape) if n > 1}
    pairs = {f"{a}*{b}": m * n for (a, m), (b, n) in combinations(named.items(), 2)}
    return {**named, **pairs, **{f"{a}**2": n * n for a, n in named.items()}}


class Recognition:
    """The search for mistakes that give one claim, for fixed lengths and at fixed points.

    Args:
        y: the function, a number; all lengths are numbers.
        wrt: the variable.
        claim: the claimed derivative.
        deadline: on the clock of `symgrad.checker.clock`.
        witness: a point at which the claim fails.
        sizes: the lengths of names.
        square: the names of the matrices that are square for all sizes.

    Raises:
        TooManyEntries: if the search would take too long.
    """

    def __init__(
        self,
        y: Node,
        wrt: Node,
        claim: Node,
        deadline: float,
        *,
        witness: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        square: Collection[str] = (),
    ) -> None:
        self.derivation = RightDerivation(y, wrt, _counts(sizes or {}, [y, claim]))
        self.claim = claim
        self.deadline = deadline
        self.square = square
        self.fits = claim.shape == wrt.shape
        self.claimed: Array = np.zeros((0, 0))
        self.right: Array = np.zeros((0, 0))
        self.found: list[Mistake] = []
        self.kinds: Collection[str] | None = None
        self.most = True
        self.others: list[_Mistake] = []
        self.deltas: list[Array] = []
        self._sample(witness)

    def _sample(self, witness: Mapping[str, Any] | None) -> None:
        """Sample points at which the claim and the right derivative have values."""
        d = self.derivation
        nodes = [d.y, d.right, self.claim]
        arrays = reads_arrays(nodes)
        d.sample(sampled_arrays(nodes) if arrays else sampled_lanes(nodes, witness))
        if not arrays and d.sampled.points and np.sum(telling(d.right_values, lanes=True)) < TELLING:
            # exp(-157800/T) is zero wherever T is about 1, and then different claims with it agree with each other.
            d.sample(sampled_lanes(nodes, witness, around=True))
        if d.sampled.points:
            self.right = d.right_values
            self.claimed = d.rows(self.claim) if self.fits else self.claimed
            if self.fits and agree(self.right, self.claimed, self.right, most=True):
                self.most = False  # the claim is wrong at only a few points, so these points count

    @property
    def stages(self) -> Sequence[str]:
        """The names of the stages of the search, the simplest first; () if the claim is not wrong here."""
        if not self.derivation.sampled.points or (self.fits and self.agrees(self.right, self.claimed)):
            return ()
        return ("simple", "slips", "differences", "branch", "pairs") if self.fits else ("repairs",)

    def mistakes(self, stage: str, kinds: Collection[str] | None = None) -> list[Mistake]:
        """Return the mistakes that give the claim, best first.

        Args:
            stage: the stage at which they are found.
            kinds: the kinds of mistakes that are tried; None for all, of those that make the right derivative wrong.
        """
        d, self.kinds = self.derivation, kinds
        self.found.clear()
        match stage:
            case "simple":
                self.simple()
            case "slips":
                self.slips(canonical([d.right]).nodes[0], outer=True)
            case "differences":
                self.structure(differences(d, self.claim, self.right, self.claimed))
            case "branch":
                self.structure(on_a_branch(d, self.right, self.claimed))
            case "pairs":
                if kinds is not None:
                    self.single()
                self.pairs()
            case _:
                self.repairs()
        return confirmed(self.found, self.deadline)

    def simple(self) -> None:
        """Find one mistake: in the derivation, or in writing down the claim."""
        self.factor()
        self.single()
        if not self.derivation.sampled.lanes:
            self.repairs()
            self.slips(self.derivation.right)
            self.symmetric()

    def late(self, seconds: float) -> bool:
        """Charge seconds of work, and tell whether the deadline has passed."""
        return is_late(self.deadline, seconds)

    def agrees(self, one: Array, other: Array) -> bool:
        """Tell whether values are equal except for rounding."""
        return agree(one, other, self.right, most=self.most)

    def is_tried(self, kind: str) -> bool:
        """Tell whether mistakes of a kind are tried."""
        return self.kinds is None or kind in self.kinds

    def note(self, found: Mistake) -> None:
        """Store a mistake that gives the claim."""
        self.found.append(found)

    # -------------------------------------------------------------------------------------------------- derivations

    def single(self) -> None:
        """Try each row of the catalogue at each equation."""
        for site in self.derivation.sites():
            if self.late(_SITE):
                return
            for row in ROWS:
                if (row.ops and site.node.op.name not in row.ops) or not self.is_tried(row.kind):
                    continue
                try:
                    for wrong in row.distort(site):
                        self.compare_row(row, site.node, wrong)
                except SymgradError:
                    continue  # shapes do not fit here

    def compare_row(self, row: MalRule[Site, Wrong], node: Node, wrong: Wrong) -> None:
        """Compare the result of a mistake with the claim."""
        d, claim = self.derivation, self.claim
        try:
            values = d.values_of(wrong)
        except (SymgradError, ValueError, np.linalg.LinAlgError):
            return
        # What is compared again, for other lengths, may be no mistake there: a factor n, where n is 1.
        if self.agrees(values, self.claimed) and (
            self.kinds is not None or not self.agrees(values, self.right)
        ):
            self.note(
                Mistake(row.kind, row.says, node, wrong.words, row.rank, lambda: (d.formula(wrong), claim))
            )
        elif row.paired and not wrong.alone and len(self.others) < PAIRS:
            self.others.append((row, node, wrong))
            self.deltas.append((values - self.right).ravel())

    def pairs(self) -> None:
        """Find two mistakes whose effects add up to the claim, or one mistake made inside another."""
        for i, j in pairs_that_give((self.claimed - self.right).ravel(), self.deltas):
            one, other = self.others[i], self.others[j]
            if _are_disjoint(one[2], other[2]):
                self.note_both(one, other, Wrong((*one[2].parts, *other[2].parts)))
        if not self.found:
            self.nested()

    def nested(self) -> None:
        """Find a second mistake below a first one, in the derivation that contains the first."""
        first_found = len(self.found) + PAIRS_FOUND
        for outer in sorted(self.others, key=lambda o: o[0].rank)[:NESTED]:
            wrong = outer[2]
            if wrong.value is not None or any(n is None for n, _ in wrong.parts):
                continue
            for site in self.derivation.inside(wrong):
                if self.late(_SITE) or len(self.found) >= first_found:
                    return
                for row in ROWS:
                    if row.paired and row.rank <= HUMAN and (not row.ops or site.node.op.name in row.ops):
                        self.second(outer, row, site)

    def second(self, outer: _Mistake, row: MalRule[Site, Wrong], site: Site) -> None:
        """Try a second mistake at an equation whose cotangent the first mistake has changed."""
        d = self.derivation
        try:
            for inner in row.distort(site):
                if inner.value is not None or inner.alone:
                    continue
                both = Wrong((*outer[2].parts, *inner.parts))
                if self.agrees(d.values_of(both), self.claimed):
                    self.note_both(outer, (row, site.node, inner), both)
        except (SymgradError, ValueError, np.linalg.LinAlgError):
            return  # shapes do not fit here

    def note_both(self, one: _Mistake, two: _Mistake, both: Wrong) -> None:
        """Store two mistakes that together give the claim, the more common one first."""
        (row, node, wrong), (other, there, also) = sorted((one, two), key=lambda m: m[0].rank)
        second = Mistake(other.kind, other.says, there, also.words, other.rank)
        known = one[2].value is None and two[2].value is None
        sides = (lambda: (self.derivation.formula(both), self.claim)) if known else None
        self.note(Mistake(row.kind, row.says, node, wrong.words, row.rank + other.rank, sides, second))

    # ------------------------------------------------------------------------------------------------------ formulas

    def factor(self) -> None:
        """Compare the claim as a whole with the right derivative."""
        for f in named_factors(self.derivation, self.claim, self.right, self.claimed):
            rank = 9 if f.kind == "lost-minus" and self.has_minus() else f.rank
            self.note(Mistake(f.kind, f.says, None, {}, rank, f.sides))

    def has_minus(self) -> bool:
        """Tell whether the right derivative becomes the claim if one minus sign is dropped."""
        right = self.derivation.right
        signs = [e for e in dropped(right) if e.kind == "lost-minus"]
        return any(self.agrees(self.derivation.rows(f), self.claimed) for _, f in edited(right, signs))

    def repairs(self) -> None:
        """Find changes of the claim that make it right."""
        self.sums()
        counts = self.derivation.counts
        right = self.derivation.right
        edits = chain(
            repaired(self.claim, counts), other_sums(self.claim, counts), other_steps(self.claim, right)
        )
        found = edited(self.claim, (e for e in edits if self.is_tried(e.kind)))
        cost = _PER_EQUATION * len(topological([self.claim]))
        for n, (edit, formula) in enumerate(found):
            if self.late(cost) or n > EDITS:
                return
            self.compare_edit(edit, formula, right)

    def slips(self, right: Node, *, outer: bool = False) -> None:
        """Find slips in writing down the right derivative that turn it into the claim."""
        cost = _PER_EQUATION * len(topological([right]))
        edits = (e for e in dropped(right, outer=outer) if self.is_tried(e.kind))
        for n, (edit, formula) in enumerate(edited(right, edits)):
            if self.late(cost) or n > EDITS:
                return
            self.compare_edit(edit, formula, self.claim)

    def compare_edit(self, edit: Edit, formula: Node, wanted: Node) -> None:
        """Store an edit that turns the claim into the right derivative, or the right derivative into the claim."""
        if formula.shape != self.derivation.wrt.shape:
            return
        try:
            values = self.derivation.rows(formula)
        except (SymgradError, ValueError, np.linalg.LinAlgError):
            return
        if self.agrees(values, self.claimed if wanted is self.claim else self.right):
            words = {} if edit.held is None else {"held": edit.held}
            of_claim = wanted is not self.claim
            at = edit.node if of_claim else None
            self.note(
                Mistake(
                    edit.kind, edit.says, at, words, edit.rank, lambda: (formula, wanted), in_claim=of_claim
                )
            )

    def sums(self) -> None:
        """Find missing and superfluous sums around the whole claim."""
        for edit, one, other in missing_sums(self.derivation, self.claim):
            if self.agree_everywhere(one, other):
                at = edit.node if edit.node is self.claim else None
                self.note(
                    Mistake(
                        edit.kind,
                        edit.says,
                        at,
                        {},
                        edit.rank,
                        lambda one=one, other=other: (one, other),
                        in_claim=True,
                    )
                )

        for right in (self.derivation.right, canonical([self.derivation.right]).nodes[0]):
            for edit, other in without_outer(right, self.claim.shape) if not self.fits else ():
                if self.agree_everywhere(self.claim, other):
                    self.note(
                        Mistake(
                            edit.kind,
                            edit.says,
                            None,
                            {"held": edit.held},
                            edit.rank,
                            lambda other=other: (other, self.claim),
                        )
                    )

    def agree_everywhere(self, one: Node, other: Node) -> bool:
        """Tell whether two arrays are equal at all points."""
        values = ([np.reshape(p(n), (1, -1)) for n in (one, other)] for p in self.derivation.sampled.points)
        return all(agree(a, b, b) for a, b in values)

    def symmetric(self) -> None:
        """Find whether the claim is right only for symmetric matrices."""
        for says, held, rank in of_symmetric(self.derivation, self.claim, self.square):
            self.note(Mistake("symmetric-assumed", says, None, {} if held is None else {"held": held}, rank))

    def structure(self, found: Iterable[Deviation]) -> None:
        """If no mistake explains the claim, store how it differs from the right derivative as a whole."""
        for f in found:
            words: dict[str, object] = {} if f.held is None else {"held": f.held, "other": f.other}
            if f.number is not None:
                words["number"] = f.number
            self.note(Mistake(f.kind, f.says, None, words, f.rank, f.sides))
