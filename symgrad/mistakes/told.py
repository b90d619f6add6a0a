"""From a claim that does not hold to diagnoses in the names of its program."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.ir.graph import Node, symbol
from symgrad.ir.sizes import names_of
from symgrad.ir.types import REAL, Declaration
from symgrad.mistakes.limits import NAMED, SECONDS, SHOWN, SIZES, SQUARE, TEXT
from symgrad.mistakes.recognise import Found, recognise
from symgrad.ops.array.contraction import contract
from symgrad.source import Location
from symgrad.spell.printer import expression_text
from symgrad.verdicts.told.diagnosis import Diagnosis

__all__ = ["CLAIM", "WrongClaim", "diagnosed"]

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
    words = _Words(question, y, claim)
    return words.told(found)


def _built(question: WrongClaim) -> tuple[Node, Node, Node, Mapping[str, int]] | None:
    """Return the claim for some lengths: different ones, or all alike where it has no value else."""
    names = list(dict.fromkeys(names_of(*(s.shape for s in question.symbols))))
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


def _as_number(y: Node, wrt: Node, claim: Node) -> tuple[Node, Node]:
    """Return a number for an array, its entries times those of a further variable, and the claim for that."""
    if not y.shape or claim.shape != (*y.shape, *wrt.shape):
        return y, claim
    seed = symbol(Declaration("__seed", REAL, shape=y.shape))
    own = tuple(range(len(y.shape)))
    rest = tuple(range(len(own), len(claim.shape)))
    return contract([seed, y], [own, own], ()), contract([seed, claim], [own, (*own, *rest)], rest)


class _Words:
    """Texts and places of nodes that were made for some lengths."""

    def __init__(self, question: WrongClaim, y: Node, claim: Node) -> None:
        self.question = question
        self.originals: dict[Node, Node] = {}
        self._walk(y, question.y)
        if question.claim is not None:
            self._walk(claim, question.claim)

    def _walk(self, made: Node, written: Node) -> None:
        """Note which node was written for each that was made of it."""
        pending = [(made, written)]
        while pending:
            one, other = pending.pop()
            if one in self.originals:
                continue
            self.originals[one] = other
            if one.op is other.op and len(one.args) == len(other.args):
                pending += zip(one.args, other.args, strict=True)

    def told(self, found: Sequence[Found]) -> list[Diagnosis]:
        """Return diagnoses of mistakes, each with the right derivative."""
        corrected = self.question.corrected() if found else None
        by_message: dict[str, Diagnosis] = {}
        for f in found:
            diagnosis = self.one(f, corrected)
            by_message.setdefault(diagnosis.message, diagnosis)
        return [*by_message.values()][:SHOWN]

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
        where = " or ".join(self.question.proved)
        words.setdefault("where", f"where {where}" if where else "in a part of the domain")
        at = "" if f.at is None else self.text(f.at, f.in_claim, named=False)
        place = "" if location is None else f"line {location.line}, column {location.column}"
        if place and not f.in_claim:
            at += f" at {place}"
        message = Formatter().vformat(f.says, (at,), words)
        return message, location

    def location(self, node: Node, in_claim: bool) -> Location | None:
        """Return where a text first writes a node."""
        locate = self.question.locate
        found = locate(node, True) if in_claim else None
        return found if found is not None else locate(self.originals.get(node, node), in_claim)

    def text(self, node: Node, in_claim: bool, *, named: bool = True) -> str:
        """Return a node by its name, or as a text writes it, or as it is printed."""
        original = self.originals.get(node, node)
        name = self.question.names.get(original)
        if name is not None and named:
            return f"`{name}`"
        location = self.location(node, in_claim)
        if location is None or location.source.name.endswith(_CODE):
            text = expression_text(original, self.question.names)
        else:
            text = " ".join(location.source.text[location.span.start : location.span.end].split())
        if name is not None and (location is None or len(text) > NAMED):
            return f"`{name}`"
        return f"`{text if len(text) <= TEXT else text[: TEXT - 3] + '...'}`"
