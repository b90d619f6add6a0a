"""From a claim that does not hold to diagnoses in the names of its program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.ir.graph import Node, symbol
from symgrad.ir.resize import size_names
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.mistakes.limits import NAMED, SECONDS, SHOWN, SIZES, SQUARE, TEXT
from symgrad.mistakes.recognise import Found, recognise
from symgrad.mistakes.rewritten import rewritings_that_give
from symgrad.ops.array.contraction import contract
from symgrad.source import Location
from symgrad.spell.printer import expression_text
from symgrad.verdicts.told.diagnosis import Diagnosis

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


def diagnosed(question: WrongClaim) -> list[Diagnosis]:
    """Return the mistakes that explain a claim, best first; none where none is recognised."""
    deadline = time.monotonic() + SECONDS
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
            sizes=sizes,
            square=square,
        )
    except (SymgradError, OverflowError, ValueError, np.linalg.LinAlgError):
        return []
    words = _Words(question.locate, question.names, question.proved)
    words.note(y, question.y)
    if question.claim is not None:
        words.note(claim, question.claim)
    corrected = question.corrected() if found else None
    return _told_once(words.one(f, corrected) for f in found)


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
    deadline = time.monotonic() + SECONDS
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


def _told_once(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    by_message: dict[str, Diagnosis] = {}
    for d in diagnoses:
        by_message.setdefault(d.message, d)
    return [*by_message.values()][:SHOWN]


def _built(question: WrongClaim) -> tuple[Node, Node, Node, Mapping[str, int]] | None:
    """Return the claim for some lengths: different ones, or all alike where it has no value else."""
    written = [question.y] if question.claim is None else [question.y, question.claim]
    names = _sizes_first([*question.symbols, *written])
    if len(names) > len(SIZES):
        return None
    last = None
    for sizes in (dict(zip(names, SIZES, strict=False)), dict.fromkeys(names, SQUARE)):
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
    ) -> None:
        self.locate = locate
        self.names = names
        self.proved = proved
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
        message = Formatter().vformat(f.says, (at,), words)
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
            text = expression_text(original, self.names)
        else:
            text = " ".join(location.source.text[location.span.start : location.span.end].split())
        if name is not None and (location is None or len(text) > NAMED):
            return f"`{name}`"
        return f"`{text if len(text) <= TEXT else text[: TEXT - 3] + '...'}`"
