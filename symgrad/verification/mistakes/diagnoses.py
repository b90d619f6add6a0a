"""Diagnose a false claim: find its mistakes and describe them in the names of its program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

import numpy as np

from symgrad.checker.clock import now
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.size_substitution import size_names
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.support.errors import ShapeError, SymgradError
from symgrad.support.source import Location
from symgrad.verification.diagnosis import Diagnosis
from symgrad.verification.mistakes.algebra.wrong_rewriting import Rewritten, rewritings_that_give
from symgrad.verification.mistakes.axis_length_numbers import SizedPairs, parallel_nodes
from symgrad.verification.mistakes.candidate import Mistake
from symgrad.verification.mistakes.limits import NAMED, SECONDS, SHOWN, SIZES, SQUARE, TEXT
from symgrad.verification.mistakes.other_lengths import OtherLengths, is_same, other_sizes
from symgrad.verification.points.thresholds import positive_integers
from symgrad.verification.statement import program_of

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
    built = _built(question)
    if built is None:
        return []
    y, wrt, claim, sizes, numbers = built
    square = [s.name for s in question.symbols if len(s.shape) == 2 and s.shape[0] == s.shape[1]]
    elsewhere = OtherLengths(question.build, (y, wrt, claim), sizes or question.sizes, square, numbers)
    found = elsewhere.mistakes(None if sizes else question.witness)
    sentences = _Sentences(
        question.locate, question.names, question.proved, elsewhere, replaced=bool(question.sizes)
    )
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
    names = _sizes_first(question.sides)
    if len(names) > len(SIZES):
        return []
    sizes = dict(zip(names, SIZES, strict=False))
    try:
        before, claim = question.build(sizes)
        witness = None if sizes else question.witness
        found = rewritings_that_give(before, claim, now() + SECONDS, witness=witness)
        for lengths in other_sizes(sizes, _numbers(question.sides)) if sizes and found else ():
            pairs = SizedPairs(sizes, lengths)
            first, second = question.build(lengths)
            pairs.add(before, first)
            pairs.add(claim, second)
            others: list[Rewritten] = rewritings_that_give(first, second, now() + SECONDS)
            found = [r for r in found if any(is_same(r.found, g.found, pairs) for g in others)]
    except (SymgradError, OverflowError, ValueError, np.linalg.LinAlgError):
        return []
    sentences = _Sentences(question.locate, question.names, ())
    for built, written in zip((before, claim), question.sides, strict=True):
        sentences.note(built, written)
    return _distinct(sentences.diagnosis(r.found, sentences.formula(r.right, sizes)) for r in found)


def _built(question: WrongClaim) -> tuple[Node, Node, Node, Mapping[str, int], Sequence[int]] | None:
    """Return the claim for pairwise different lengths, or if it is undefined for these, for equal lengths.

    After it stand these lengths, and the numbers of the claim.
    """
    written = [question.y] if question.claim is None else [question.y, question.claim]
    names = _sizes_first([*question.symbols, *written])
    if len(names) > len(SIZES):
        return None
    last = None
    numbers = _numbers(written)
    free = sorted(SIZES, key=lambda n: n in numbers)  # avoid lengths that the program also writes as numbers
    for sizes in (dict(zip(names, free, strict=False)), dict.fromkeys(names, SQUARE)):
        try:
            y, wrt, claim = question.build(sizes)
        except SymgradError:
            continue
        last = (y, wrt, claim, sizes, numbers)
        if claim.shape == (*y.shape, *wrt.shape):
            break
    return last


def _numbers(nodes: Sequence[Node]) -> list[int]:
    """Return the first few positive integers in formulas."""
    return positive_integers(program_of(nodes)[0])


def _sizes_first(nodes: Sequence[Node]) -> list[str]:
    """Return the names of lengths: first those of the axes of inputs, in order, then the others."""
    return list(dict.fromkeys([*names_of(*(s.shape for s in symbols_of(nodes))), *size_names(nodes)]))


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
        elsewhere: the claim for other lengths, if there are names of lengths.
        replaced: whether the names of lengths were already replaced by numbers.
    """

    def __init__(
        self,
        locate: Callable[[Node, bool], Location | None],
        names: Mapping[Node, str],
        proved: Sequence[str],
        elsewhere: OtherLengths | None = None,
        *,
        replaced: bool = False,
    ) -> None:
        self.locate = locate
        self.names = names
        self.proved = proved
        self.elsewhere = elsewhere
        self.replaced = replaced
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
            if self.elsewhere is not None and (node not in self.originals or self.replaced):
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
