"""Diagnose a false claim: find its mistakes and describe them in the names of its program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
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
from symgrad.support.errors import ShapeError, SymgradError
from symgrad.support.source import Location
from symgrad.verification.diagnosis import Diagnosis
from symgrad.verification.mistakes.algebra.wrong_rewriting import rewritings_that_give
from symgrad.verification.mistakes.axis_length_numbers import (
    SizedPairs,
    monomial_text,
    named_number,
    parallel_nodes,
)
from symgrad.verification.mistakes.limits import AGREE, NAMED, SECONDS, SHOWN, SIZES, SQUARE, TEXT
from symgrad.verification.mistakes.recognise import Mistake, recognise

_CODE = ".py"  # this suffix of a source means that a location is a whole line


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongClaim:
    """A false claim about a derivative.

    Args:
        build: a function that returns the function, the variable and the claim for given lengths of named axes; it
            raises a `SymgradError` if they are undefined for these lengths.
        y: the differentiated function, as in the program.
        claim: the claim, if it is defined for all sizes.
        symbols: the inputs of the program.
        locate: a function that returns the first location of a node in the program, or otherwise in the claim.
        names: names of nodes.
        witness: a point at which the claim fails.
        proved: conditions under which the claim holds nevertheless.
        corrected: a function that returns the right derivative as text.
        sizes: the lengths of names that were already replaced by numbers.
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


def diagnose(question: WrongClaim) -> list[Diagnosis]:
    """Return the mistakes that explain a claim, best first; none if none is recognised."""
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
    sentences = _Sentences(question.locate, question.names, question.proved, elsewhere)
    sentences.note(y, question.y)
    if question.claim is not None:
        sentences.note(claim, question.claim)
    return sentences.diagnoses(found, question.corrected() if found else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRewriting:
    """A false equation of two formulas.

    Args:
        sides: the formula and its claimed rewriting, as they were written.
        build: a function that returns both formulas for given lengths of named axes.
        locate: see `WrongClaim`.
        names: names of nodes.
        witness: a point at which the formulas differ.
    """

    sides: tuple[Node, Node]
    build: Callable[[Mapping[str, int]], Sequence[Node]]
    locate: Callable[[Node, bool], Location | None]
    names: Mapping[Node, str]
    witness: Mapping[str, Any] | None


def diagnose_rewriting(question: WrongRewriting) -> list[Diagnosis]:
    """Return the mistakes of algebra that explain an equation, best first; none if none is recognised."""
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
    sentences = _Sentences(question.locate, question.names, ())
    for built, written in zip((before, claim), question.sides, strict=True):
        sentences.note(built, written)
    return _distinct(sentences.diagnosis(r.found, sentences.formula(r.right, sizes)) for r in found)


def _built(question: WrongClaim) -> tuple[Node, Node, Node, Mapping[str, int]] | None:
    """Return the claim for pairwise different lengths; if it is undefined for these, for equal lengths."""
    written = [question.y] if question.claim is None else [question.y, question.claim]
    names = _sizes_first([*question.symbols, *written])
    if len(names) > len(SIZES):
        return None
    last = None
    # Avoid lengths that the program also writes as numbers.
    numbers = {
        abs(k)
        for n in topological(written)
        if n.op is NUMBER and not isinstance(n.value, bool)
        for k in Fraction(n.value).as_integer_ratio()
    }
    free = sorted(SIZES, key=lambda n: n in numbers)
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
    """Return the names of lengths: first those of the axes of inputs, in order, then the others."""
    return list(dict.fromkeys([*names_of(*(s.shape for s in symbols_of(nodes))), *size_names(nodes)]))


def _as_number(y: Node, wrt: Node, claim: Node) -> tuple[Node, Node]:
    """Contract an array with a further variable, and the claim with it, so that the function is a number."""
    if not y.shape or claim.shape != (*y.shape, *wrt.shape):
        return y, claim
    seed = symbol(Declaration("__seed", REAL, shape=y.shape))
    own = tuple(range(len(y.shape)))
    rest = tuple(range(len(own), len(claim.shape)))
    return contract([seed, y], [own, own], ()), contract([seed, claim], [own, (*own, *rest)], rest)


_NEXT = {3: 5, 4: 6, 5: 7, 6: 10, 7: 3, 9: 11}
"""Other lengths, all different: none is a square, because its root would be an integer."""


class _Elsewhere:
    """The same claim for other lengths: a number that changes with them is a length.

    Args:
        question: the claim.
        first: for the first lengths: the function, the number that it is contracted to, and the claim about that
            number.
        wrt: the variable.
        sizes: the first lengths.
        square: the names of the matrices that are square for all sizes.
    """

    def __init__(
        self,
        question: WrongClaim,
        first: tuple[Node, Node, Node],
        wrt: Node,
        sizes: Mapping[str, int],
        square: Sequence[str],
    ) -> None:
        self.sizes, self.replaced = sizes, bool(question.sizes)
        self.second = {name: _NEXT.get(n, n + 2) for name, n in sizes.items()}
        self._question, self._first, self._wrt, self._square = question, first, wrt, square
        self._found: list[Mistake] | None = None
        self._late = False

    @cached_property
    def _other(self) -> tuple[SizedPairs, tuple[Node, Node, Node]] | None:
        """The pairs of formulas.

        For the other lengths: number, variable and claim, or None if the claim is undefined.
        """
        try:
            y, wrt, claim = self._question.build(self.second)
            number, of_it = _as_number(y, wrt, claim)
            pairs = SizedPairs(self.sizes, self.second)
            first = (self._first[0], *_forms(self._first[1], self._wrt, self._first[2]))
            for one, other in zip(first, (y, *_forms(number, wrt, of_it)), strict=True):
                pairs.add(one, other)
        except SymgradError:
            return None
        return pairs, (number, wrt, of_it)

    def named(self, node: Node) -> Node | None:
        """Replace lengths in a formula by names; None if some number may or may not be a length."""
        if not self.sizes or not any(n.op is NUMBER for n in topological([node])):
            return node
        return None if self._other is None else self._other[0].named(node)

    def _again(self) -> list[Mistake] | None:
        """Return the mistakes that explain the claim for the other lengths; None if these give no answer."""
        if self._found is None and self._other is not None:
            deadline = now() + SECONDS
            try:
                found = recognise(*self._other[1], deadline, sizes=self.second, square=self._square)
            except (SymgradError, OverflowError, ValueError, np.linalg.LinAlgError):
                return None
            self._found, self._late = found, is_late(deadline)
        return self._found

    def holds(self, f: Mistake) -> bool:
        """Tell whether a mistake about numbers of entries explains the claim for other lengths, too."""
        if not self.sizes or f.kind != "factor-n":
            return True
        again = self._again()
        if again is None or self._late:
            return True
        texts = [w for w in f.words.values() if isinstance(w, str)]
        return any(
            g.kind == f.kind
            and g.says == f.says
            and [w for w in g.words.values() if isinstance(w, str)] == texts
            for g in again
        )

    def number(self, f: Mistake, number: float) -> str | None:
        """Return the number in the sentence of a mistake, in terms of names; None if that is not known."""
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
    """Return the formulas whose parts are quoted in sentences."""
    right = pull_back([y], [as_node(1)], [wrt]).gradients[0]
    return y, claim, right, canonical([right]).nodes[0]


class _Unnamed(Exception):
    """A part of a formula contains lengths whose names are not known."""


def _distinct(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    by_message: dict[str, Diagnosis] = {}
    for d in diagnoses:
        by_message.setdefault(d.message, d)
    return [*by_message.values()][:SHOWN]


class _Sentences:
    """Texts and locations of nodes that were built for some lengths.

    Args:
        locate: a function that returns the first location of a node in the program, or otherwise in the claim.
        names: names of nodes as they were written.
        proved: conditions under which a claim holds nevertheless.
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

    def note(self, built: Node, written: Node) -> None:
        """Map all nodes of a formula for some lengths to the nodes of the formula as it was written."""
        for one, other in parallel_nodes(
            built, written, lambda a, b: a.op is b.op and len(a.args) == len(b.args)
        ):
            self.originals.setdefault(one, other)

    def diagnoses(self, found: Sequence[Mistake], corrected: str | None) -> list[Diagnosis]:
        """Return the diagnoses of mistakes, each with the right derivative."""
        diagnoses: list[Diagnosis] = []
        for f in found:
            if self.elsewhere is not None and not self.elsewhere.holds(f):
                continue  # 1 + n is 6 only for n = 5
            try:
                diagnoses.append(self.diagnosis(f, corrected))
            except _Unnamed:
                continue  # do not quote numbers that no text contains
        return _distinct(diagnoses)

    def formula(self, node: Node | None, sizes: Mapping[str, int]) -> str | None:
        """Return a formula in the names of its program; None if it contains lengths of named axes."""
        if node is None or (sizes and any(n.is_number() and n.value in SIZES for n in topological([node]))):
            return None
        originals = {new: old for new, old in self.originals.items() if not new.args}
        try:
            (written,) = substitute([node], originals)
        except ShapeError:  # its steps have shapes with lengths of named axes
            return None
        return expression_text(written, self.names)

    def diagnosis(self, f: Mistake, corrected: str | None) -> Diagnosis:
        message, location = self.sentence(f)
        kind = f.kind
        if f.second is not None:
            also, _ = self.sentence(f.second)
            kind, message = f"{f.kind}+{f.second.kind}", f"two mistakes: {message}; and {also}"
        return Diagnosis(kind, message, location, corrected)

    def sentence(self, f: Mistake) -> tuple[str, Location | None]:
        """Return the sentence about a mistake, and its location."""
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
            text = self.elsewhere.number(f, number)
            if text is None:
                raise _Unnamed
            says = f"{says.rsplit(' ', 1)[0]} {text}"
        message = Formatter().vformat(says, (at,), words)
        return message, location

    def location(self, node: Node, in_claim: bool) -> Location | None:
        """Return the first location of a node in a text."""
        found = self.locate(node, True) if in_claim else None
        return found if found is not None else self.locate(self.originals.get(node, node), in_claim)

    def text(self, node: Node, in_claim: bool, *, named: bool = True) -> str:
        """Quote a node by its name; if it has none, as the text of the program has it; otherwise as it is printed."""
        original = self.originals.get(node, node)
        name = self.names.get(original)
        if name is not None and named:
            return f"`{name}`"
        location = self.location(node, in_claim)
        if location is None or location.source.name.endswith(_CODE):
            if self.elsewhere is not None and (node not in self.originals or self.elsewhere.replaced):
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
