"""From a claim that does not hold to diagnoses in the names of its program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from string import Formatter
from typing import Any

import numpy as np

from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import is_late, now
from symgrad.ir.graph import NUMBER, Node, as_node, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.size_substitution import size_names
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.contraction import contract
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.support.source import Location
from symgrad.verification.diagnosis import Diagnosis
from symgrad.verification.mistakes.algebra.wrong_rewriting import rewritings_that_give
from symgrad.verification.mistakes.axis_length_numbers import SizedPairs, monomial_text, named_number
from symgrad.verification.mistakes.limits import AGREE, NAMED, SECONDS, SHOWN, SIZES, SQUARE, TEXT
from symgrad.verification.mistakes.recognise import Found, recognise

__all__ = ["CLAIM", "WrongClaim", "WrongRewriting", "diagnosed", "rewriting_diagnosed"]

_CODE = ".py"  # of a file whose places are whole lines

CLAIM = "the claim"
"""The name of the text of a claim, where a place is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongClaim:
    """A claim about a derivative that does not hold.

    Args:
        build: makes what is differentiated, the symbol by which, and the claim, for some lengths in the place of names;
            raises an error of symgrad's if they have no value then.
        y: what is differentiated, as the program has it.
        claim: the claim, where it has a value for all sizes.
        symbols: the inputs of the program.
        locate: returns where a text first writes a node: the program, or else the claim.
        names: of nodes.
        witness: a point at which the claim fails.
        proved: conditions under which it holds all the same.
        corrected: returns the right derivative as text.
        sizes: the lengths of names that have none here any more, as those of code that asks for a number.
    """

    build: Callable[[Mapping[str, int]], Sequence[Node]]
    y: Node
    claim: Node | None
    symbols: Sequence[Node]
    locate: Callable[[Node, bool], Location | None]
    names: Mapping[Node, str]
    witness: Mapping[str, Any] | None
    proved: Sequence[str]
    corrected: Callable[[], str | None]
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])


def diagnosed(question: WrongClaim) -> list[Diagnosis]:
    """Return the mistakes that explain a claim, best first; none where none is recognised."""
    deadline = now() + SECONDS
    built = _built(question)
    if built is None:
        return []
    y, wrt, claim, sizes = built
    square = [s.name for s in question.symbols if len(s.shape) == 2 and s.shape[0] == s.shape[1]]
    number, of_it = _as_number(y, wrt, claim)
    try:
        found = recognise(
            number,
            wrt,
            of_it,
            deadline,
            witness=None if sizes else question.witness,
            sizes=sizes or question.sizes,
            square=square,
        )
    except (SymgradError, OverflowError, ValueError, np.linalg.LinAlgError):
        return []
    elsewhere = _Elsewhere(question, (y, number, of_it), wrt, sizes or question.sizes, square)
    words = _Words(question.locate, question.names, question.proved, elsewhere)
    words.note(y, question.y)
    if question.claim is not None:
        words.note(claim, question.claim)
    return words.told(found, question.corrected() if found else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRewriting:
    """An equation of two formulas that does not hold.

    Args:
        sides: the one before and what is claimed of it, as they were written.
        build: returns both for some lengths in the place of names.
        locate: as of a `WrongClaim`.
        names: of nodes.
        witness: a point at which they differ.
    """

    sides: tuple[Node, Node]
    build: Callable[[Mapping[str, int]], Sequence[Node]]
    locate: Callable[[Node, bool], Location | None]
    names: Mapping[Node, str]
    witness: Mapping[str, Any] | None


def rewriting_diagnosed(question: WrongRewriting) -> list[Diagnosis]:
    """Return the mistakes of algebra that explain an equation, best first; none where none is recognised."""
    deadline = now() + SECONDS
    names = _sizes_first(question.sides)
    if len(names) > len(SIZES):
        return []
    sizes = dict(zip(names, SIZES, strict=False))
    try:
        before, claim = question.build(sizes)
        witness = None if sizes else question.witness
        found = rewritings_that_give(before, claim, deadline, witness=witness)
    except (SymgradError, OverflowError, ValueError, np.linalg.LinAlgError):
        return []
    words = _Words(question.locate, question.names, ())
    for made, written in zip((before, claim), question.sides, strict=True):
        words.note(made, written)
    return _told_once(words.one(r.found, words.formula(r.right, sizes)) for r in found)


def _built(question: WrongClaim) -> tuple[Node, Node, Node, Mapping[str, int]] | None:
    """Return the claim for some lengths: different ones, or all alike where it has no value else."""
    written = [question.y] if question.claim is None else [question.y, question.claim]
    names = _sizes_first([*question.symbols, *written])
    if len(names) > len(SIZES):
        return None
    last = None
    # A length that the program writes as a number would be taken for that.
    written = {
        abs(k)
        for n in topological([n for n in (question.y, question.claim) if n is not None])
        if n.op is NUMBER and not isinstance(n.value, bool)
        for k in Fraction(n.value).as_integer_ratio()
    }
    free = sorted(SIZES, key=lambda n: n in written)
    for sizes in (dict(zip(names, free, strict=False)), dict.fromkeys(names, SQUARE)):
        try:
            y, wrt, claim = question.build(sizes)
        except SymgradError:
            continue
        last = (y, wrt, claim, sizes)
        if claim.shape == (*y.shape, *wrt.shape):
            break
    return last


def _sizes_first(nodes: Sequence[Node]) -> list[str]:
    """Return the names of lengths, those of the axes of inputs as these have them, then the others."""
    return list(dict.fromkeys([*names_of(*(s.shape for s in symbols_of(nodes))), *size_names(nodes)]))


def _as_number(y: Node, wrt: Node, claim: Node) -> tuple[Node, Node]:
    """Return a number for an array, its entries times those of a further variable, and the claim for that."""
    if not y.shape or claim.shape != (*y.shape, *wrt.shape):
        return y, claim
    seed = symbol(Declaration("__seed", REAL, shape=y.shape))
    own = tuple(range(len(y.shape)))
    rest = tuple(range(len(own), len(claim.shape)))
    return contract([seed, y], [own, own], ()), contract([seed, claim], [own, (*own, *rest)], rest)


_NEXT = {3: 5, 4: 6, 5: 7, 6: 10, 7: 3, 9: 11}
"""Other lengths, all of them different: none is a square, whose root would be a number of its own."""


class _Elsewhere:
    """The same claim for other lengths, which tells the numbers that are lengths from others.

    Args:
        question: the claim.
        made: for the first lengths: what is differentiated, the number that is made of it, and the claim for that.
        wrt: by which.
        sizes: the first lengths.
        square: the names of the matrices that are square for all sizes.
    """

    def __init__(
        self,
        question: WrongClaim,
        made: tuple[Node, Node, Node],
        wrt: Node,
        sizes: Mapping[str, int],
        square: Sequence[str],
    ) -> None:
        self.sizes, self.given = sizes, bool(question.sizes)
        self.second = {name: _NEXT.get(n, n + 2) for name, n in sizes.items()}
        self._question, self._made, self._wrt, self._square = question, made, wrt, square
        self._asked: tuple[Node, Node, Node] | None = None
        self._pairs: SizedPairs | None = None
        self._tried = False
        self._found: list[Found] | None = None
        self._late = False

    def _build(self) -> SizedPairs | None:
        if self._tried:
            return self._pairs
        self._tried = True
        try:
            y, wrt, claim = self._question.build(self.second)
            number, of_it = _as_number(y, wrt, claim)
            self._asked = number, wrt, of_it
            pairs = SizedPairs(self.sizes, self.second)
            first = (self._made[0], *_forms(self._made[1], self._wrt, self._made[2]))
            for one, other in zip(first, (y, *_forms(number, wrt, of_it)), strict=True):
                pairs.add(one, other)
        except SymgradError:
            return None
        self._pairs = pairs
        return pairs

    def named(self, node: Node) -> Node | None:
        """Return a formula with names in the place of lengths; None where it is not known which numbers are lengths."""
        if not self.sizes or not any(n.op is NUMBER for n in topological([node])):
            return node
        pairs = self._build()
        return None if pairs is None else pairs.named(node)

    def _again(self) -> list[Found] | None:
        """Return the mistakes that explain the claim for the other lengths; None where that is not known."""
        if self._found is None and self._build() is not None and self._asked is not None:
            deadline = now() + SECONDS
            try:
                found = recognise(*self._asked, deadline, sizes=self.second, square=self._square)
            except (SymgradError, OverflowError, ValueError, np.linalg.LinAlgError):
                return None
            self._found, self._late = found, is_late(deadline)
        return self._found

    def holds(self, f: Found) -> bool:
        """Tell whether a mistake that lengths have part in explains the claim for other lengths, too."""
        if not self.sizes or f.kind != "factor-n":
            return True
        again = self._again()
        if again is None or self._late:
            return True
        said = [w for w in f.words.values() if isinstance(w, str)]
        return any(
            g.kind == f.kind
            and g.says == f.says
            and [w for w in g.words.values() if isinstance(w, str)] == said
            for g in again
        )

    def number(self, f: Found, number: float) -> str | None:
        """Return a number that a mistake is told by, with names in it; None where that is not known."""
        stem = f.says.rsplit(" ", 1)
        same = (g for g in self._again() or () if g.kind == f.kind)
        other = next((g for g in same if g.says.rsplit(" ", 1)[0] == stem[0]), None)
        value = None if other is None else other.words.get("number")
        if not isinstance(value, float):
            return None
        found = named_number(abs(number), abs(value), self.sizes, self.second)
        if found is not None:
            return monomial_text(*found)
        return stem[1] if abs(value / number - 1) < AGREE else None


def _forms(y: Node, wrt: Node, claim: Node) -> tuple[Node, ...]:
    """Return the formulas whose parts a mistake is told by."""
    right = pull_back([y], [as_node(1)], [wrt]).gradients[0]
    return y, claim, right, canonical([right]).nodes[0]


class _Unnamed(Exception):
    """A part of a formula has lengths in it whose names are not known."""


def _told_once(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    by_message: dict[str, Diagnosis] = {}
    for d in diagnoses:
        by_message.setdefault(d.message, d)
    return [*by_message.values()][:SHOWN]


class _Words:
    """Texts and places of nodes that were made for some lengths.

    Args:
        locate: returns where a text first writes a node: the program, or else the claim.
        names: of nodes as they were written.
        proved: conditions under which a claim holds all the same.
    """

    def __init__(
        self,
        locate: Callable[[Node, bool], Location | None],
        names: Mapping[Node, str],
        proved: Sequence[str],
        elsewhere: _Elsewhere | None = None,
    ) -> None:
        self.locate = locate
        self.names = names
        self.proved = proved
        self.elsewhere = elsewhere
        self.originals: dict[Node, Node] = {}

    def note(self, made: Node, written: Node) -> None:
        """Note which node was written for each that was made of it."""
        pending = [(made, written)]
        while pending:
            one, other = pending.pop()
            if one in self.originals:
                continue
            self.originals[one] = other
            if one.op is other.op and len(one.args) == len(other.args):
                pending += zip(one.args, other.args, strict=True)

    def told(self, found: Sequence[Found], corrected: str | None) -> list[Diagnosis]:
        """Return diagnoses of mistakes, each with the right derivative."""
        diagnoses: list[Diagnosis] = []
        for f in found:
            if self.elsewhere is not None and not self.elsewhere.holds(f):
                continue  # 1 + n is 6 for n = 5 alone
            try:
                diagnoses.append(self.one(f, corrected))
            except _Unnamed:
                continue  # rather than with numbers that stand in no text
        return _told_once(diagnoses)

    def formula(self, node: Node | None, sizes: Mapping[str, int]) -> str | None:
        """Return a formula in the names of its program; None where lengths stand in it that have names."""
        if node is None or (sizes and any(n.is_number() and n.value in SIZES for n in topological([node]))):
            return None
        (written,) = substitute([node], {made: old for made, old in self.originals.items() if not made.args})
        return expression_text(written, self.names)

    def one(self, f: Found, corrected: str | None) -> Diagnosis:
        message, location = self.sentence(f)
        kind = f.kind
        if f.second is not None:
            also, _ = self.sentence(f.second)
            kind, message = f"{f.kind}+{f.second.kind}", f"two mistakes: {message}; and {also}"
        return Diagnosis(kind, message, location, corrected)

    def sentence(self, f: Found) -> tuple[str, Location | None]:
        """Return what is said of a mistake, and where it is."""
        location = None if f.at is None else self.location(f.at, f.in_claim)
        words = {k: self.text(v, f.in_claim) if isinstance(v, Node) else v for k, v in f.words.items()}
        where = " or ".join(self.proved)
        words.setdefault("where", f"where {where}" if where else "in a part of the domain")
        at = "" if f.at is None else self.text(f.at, f.in_claim, named=False)
        place = "" if location is None else f"line {location.line}, column {location.column}"
        if place and not f.in_claim:
            at += f" at {place}"
        says, number = f.says, f.words.get("number")
        if isinstance(number, float) and self.elsewhere is not None and self.elsewhere.sizes:
            told = self.elsewhere.number(f, number)
            if told is None:
                raise _Unnamed
            says = f"{says.rsplit(' ', 1)[0]} {told}"
        message = Formatter().vformat(says, (at,), words)
        return message, location

    def location(self, node: Node, in_claim: bool) -> Location | None:
        """Return where a text first writes a node."""
        found = self.locate(node, True) if in_claim else None
        return found if found is not None else self.locate(self.originals.get(node, node), in_claim)

    def text(self, node: Node, in_claim: bool, *, named: bool = True) -> str:
        """Return a node by its name, or as a text writes it, or as it is printed."""
        original = self.originals.get(node, node)
        name = self.names.get(original)
        if name is not None and named:
            return f"`{name}`"
        location = self.location(node, in_claim)
        if location is None or location.source.name.endswith(_CODE):
            if self.elsewhere is not None and (node not in self.originals or self.elsewhere.given):
                with_names = self.elsewhere.named(node)
                if with_names is None:
                    raise _Unnamed
                original = with_names if with_names is not node else original
            text = expression_text(original, self.names)
        else:
            text = " ".join(location.source.text[location.span.start : location.span.end].split())
        if name is not None and (location is None or len(text) > NAMED):
            return f"`{name}`"
        return f"`{text if len(text) <= TEXT else text[: TEXT - 3] + '...'}`"
