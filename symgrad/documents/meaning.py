"""What a side of an equation means: a formula over the names of its document, with derivatives in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from string import ascii_letters
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.documents.calculus import derivative, reparametrised
from symgrad.documents.layout.statements import SideText
from symgrad.documents.loose import LooseText, in_notation
from symgrad.documents.names import DocumentNames
from symgrad.documents.papers import PaperReader
from symgrad.documents.slopes import VERBS, DocumentCall, SlopeText, find_parts
from symgrad.documents.spelling import domain_of, macros_of, without_macros
from symgrad.errors import (
    ProgramSyntaxError,
    SymgradError,
    UnknownFunctionError,
    UnknownNameError,
    UsageError,
)
from symgrad.frontend.latex.meaning.differentials import sole_input
from symgrad.frontend.latex.meaning.inputs import input_of, inputs_of
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import one_of
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Shape
from symgrad.source import Location, Source, Span

__all__ = ["ReadSide", "SideReader", "DefinedTarget", "WrittenSlope"]

_NAME = re.compile(r"[^\W\d]\w*")
_LONE_NAME = re.compile(rf"\s*({_NAME.pattern})\s*")
_LONE_POWER = re.compile(rf"\s*({_NAME.pattern})\s*(?:\*\*|\^)\s*([2-9])\s*")
_STARRED = re.compile(rf"\s*({_NAME.pattern})\*\s*")
_HEAD = re.compile(rf"\s*({_NAME.pattern})\s*\(\s*({_NAME.pattern}(?:\s*,\s*{_NAME.pattern})*)\s*\)\s*")
_CALLED = re.compile(r"\s*['(]")
_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "≠": "!=", "·": "*", "×": "*", "−": "-", "⋅": "*", "\t": " "})


@dataclass(frozen=True, slots=True)
class WrittenSlope:
    """A derivative as a document writes it.

    Args:
        of: what is differentiated.
        by: what by, one after the other.
        value: the derivative.
        plain: whether it is one of an input or a computed value, and follows no equation.
    """

    of: Expr
    by: tuple[Expr, ...]
    value: Expr
    plain: bool = True


@dataclass(frozen=True, slots=True)
class ReadSide:
    """One side of an equation, read.

    Args:
        text: where it stands, and how it is written.
        expr: what it means.
        names: those that its text reads.
        slope: the derivative that it is, where it is nothing else.
        values: whether it is a derivative, or equal to one by the steps before: then it is a value.
        claimed: the derivative that it is said to be, by the steps before.
    """

    text: SideText
    expr: Expr
    names: tuple[str, ...]
    slope: WrittenSlope | None = None
    values: bool = False
    claimed: WrittenSlope | None = None


@dataclass(frozen=True, slots=True)
class DefinedTarget:
    """What an equation may define.

    Args:
        name: a name.
        parameters: of a function of the notation; None for a value.
        alone: whether the name stands there alone, without arguments or subscripts that are letters.
        power: of the name that stands there, which the equation gives.
    """

    name: str
    parameters: tuple[str, ...] | None = None
    alone: bool = True
    power: int = 1


class SideReader:
    """Reads sides in the names of a document.

    Args:
        source: the document.
        names: what names mean; what is read and means nothing is added, as a real number.
        options: how LaTeX is read where it is ambiguous.
    """

    def __init__(self, source: Source, names: DocumentNames, options: Mapping[str, Any]) -> None:
        self._source = source
        self._names = names
        self._papers = PaperReader(names, macros_of(source.text) if "\\" in source.text else {}, options)
        self._derived = False
        self._habits: set[str] = set()

    def domain(self, text: SideText) -> str | None:
        """Return what a side in LaTeX says of a set, as programs write domains; None if they have no word for it."""
        return domain_of(without_macros(text.text, self._papers.macros))

    def target(self, text: SideText) -> DefinedTarget | None:
        """Return what an equation with this left side may define; None if it defines nothing."""
        if text.notation == "latex":
            found = self._papers.target(text.text)
            if found is None or self._names.partial_of(found[0]) is not None:
                return None
            return DefinedTarget(found[0], alone=found[1])
        name, head = _LONE_NAME.fullmatch(text.text), _HEAD.fullmatch(text.text)
        if head is not None and self._is_new_function(head[1]):
            return DefinedTarget(head[1], tuple(p.strip() for p in head[2].split(",")))
        starred = _STARRED.fullmatch(text.text)
        if starred is not None:  # K* = ... on the left is the name of a solution
            return DefinedTarget(f"{starred[1]}_star")
        if name is None or self._names.partial_of(name[1]) or self._names.differential_of(name[1]):
            return None
        return DefinedTarget(name[1])

    def power_target(self, text: SideText) -> DefinedTarget | None:
        """Return the name that nothing defines yet and whose power is this left side, as in r**2 = x**2 + y**2."""
        if text.notation == "latex":
            found = self._papers.power_target(text.text)
        else:
            match = _LONE_POWER.fullmatch(text.text)
            found = None if match is None else (match[1], int(match[2]))
        if found is None or found[0] in self._names:
            return None
        return DefinedTarget(found[0], power=found[1])

    def _is_new_function(self, name: str) -> bool:
        if name in self._names or name in VERBS:
            return False
        try:
            parse_expression(f"{name}(1)", {})
        except UnknownFunctionError:
            return True
        except SymgradError:
            return False
        return False

    def defined(self, target: DefinedTarget, left: SideText, right: SideText) -> tuple[str, ReadSide]:
        """Return the name that an equation defines, which has arguments or subscripts on its left, and its value.

        Entries for all positions, p_i = ..., define an array: p.

        Raises:
            SymgradError: if it says nothing, with the place in the document.
        """
        if right.notation == "symgrad":
            for parameter in target.parameters or ():
                if parameter not in self._names:
                    self._names.undeclared(parameter, self._line(left.start))
            self._names.functions[target.name] = target.parameters or ()
            return target.name, self.side(right)
        gap = right.start - left.start - len(left.text)
        whole = replace(left, text=f"{left.text}{'='.rjust(gap)}{right.text}")
        try:
            name, node = self._papers.definition(whole.text, self._line(left.start))
        except SymgradError as error:
            raise self._placed(error, whole) from None
        self._take_readings(left)
        self._names.saw(s.name for s in symbols_of([node]))
        return name, ReadSide(right, self._names.expr(node), ())

    def _line(self, offset: int) -> int:
        return self._source.line_column(offset)[0]

    def side(self, text: SideText, like: Shape = ()) -> ReadSide:
        """Return what a side means.

        Args:
            text: it.
            like: the shape of the side before, which says the size of an identity matrix that stands alone.

        Raises:
            SymgradError: if it means nothing, with the place in the document.
        """
        if text.notation == "latex":
            return self._paper_side(text, like)
        self._derived = False
        names = self._names
        typed = in_notation(
            text.text.translate(_SIGNS), names.__contains__, names.functions.__contains__, names.is_array
        )
        try:
            node, slope = self._node(typed.text, text.start)
        except SymgradError as error:
            raise self._placed(error, text, typed) from None
        self._take_habits(typed, text)
        names = tuple(dict.fromkeys(_NAME.findall(typed.text)))
        self._names.saw(names)
        return ReadSide(text, self._names.expr(node, names), names, slope, values=self._derived)

    def truth(self, text: SideText) -> Node | None:
        """Return a relation such as ``x > 0`` as a truth value; None for one that is none of numbers.

        Raises:
            SymgradError: if it means nothing.
        """
        node = self.side(text).expr.node
        return node if node.dtype == "bool" and not node.shape else None

    def _paper_side(self, text: SideText, like: Shape) -> ReadSide:
        try:
            node = self._papers.value(text.text, self._line(text.span.start), like)
        except SymgradError as error:
            raise self._placed(error, text) from None
        self._take_readings(text)
        self._names.saw(s.name for s in symbols_of([node]))
        slopes = self._papers.slopes
        slope = None
        if slopes and slopes[-1].value is node:
            of, by, value = (self._names.expr(n) for n in (slopes[-1].of, slopes[-1].by, node))
            implied = tuple(self._names.implied.values())
            plain = not implied or derivative(of, (by,)).node is node
            plain = plain and reparametrised(of.node, by.node) is None
            slope = WrittenSlope(of, (by,), value, plain)
        return ReadSide(text, self._names.expr(node), (), slope, values=bool(slopes))

    def _take_habits(self, typed: LooseText, text: SideText) -> None:
        """Note how a formula was read that is typed otherwise than in programs: each habit once, doubts each time."""
        for reading in typed.readings:
            if reading.kind not in self._habits or reading.kind == "doubt":
                self._habits.add(reading.kind)
                self._names.assume(str(reading), self._line(text.span.start), stated=False)

    def _take_readings(self, text: SideText) -> None:
        for reading in self._papers.readings:
            self._names.assume(reading, self._line(text.span.start), stated=False)

    # The places in what is read are those in its own text, `start` characters behind the begin of the document.

    def _node(self, text: str, start: int) -> tuple[Node, WrittenSlope | None]:
        """Return what a text means, and as a derivative where it is nothing else."""
        names = self._names
        parts = find_parts(text, names.is_said, names.functions.__contains__)
        free = _free_names(text)
        shown, known = list(text), dict[str, Node]()
        node, slope = None, None
        for part in parts:
            span = part.span
            if isinstance(part, DocumentCall):
                node, slope = self._called(part, text, start), None
            else:
                node, slope = self._slope(part, text, start)
            name = next(free(span.end - span.start))
            shown[span.start : span.end] = name.ljust(span.end - span.start)
            known[name] = node
        if (
            node is not None
            and len("".join(shown).split()) == len(parts) == 1
            and next(iter(known)) in "".join(shown).split()
        ):
            return node, slope
        return self._parsed("".join(shown), known, start), None

    def _parsed(self, text: str, known: Mapping[str, Node], start: int) -> Node:
        while True:
            try:
                return parse_expression(text, {**self._names.known_in(text), **known})
            except UnknownFunctionError:
                raise
            except UnknownNameError as error:
                if error.at is None:
                    raise
                span = error.at.span
                line, _ = self._source.line_column(start + span.start)
                meant = self._as_derivative(text[span.start : span.end], line)
                if meant is not None:
                    known = {**known, text[span.start : span.end]: meant}
                    continue
                self._names.undeclared(text[span.start : span.end], line)

    def _as_derivative(self, name: str, line: int) -> Node | None:
        """Return what f_xy and dx mean, where f and x are names that fit."""
        names = self._names
        partial, rest = names.partial_of(name), names.differential_of(name)
        if partial is not None:
            of, by = partial
            self._derived = True
            said = f"{name} is read as the derivative of {of} by {', '.join(by)}; otherwise: a declaration of {name}"
            names.assume(said, line, stated=False)
            return derivative(
                names.expr(names.values[of]), tuple(names.expr(names.values[b]) for b in by)
            ).node
        if rest is not None:
            self._derived = True
            return names.differential(names.values[rest])
        return None

    def _called(self, call: DocumentCall, text: str, start: int) -> Node:
        arguments = [self._part(a, text, start) for a in call.arguments]
        return self._applied(self._names.values[call.name], call.name, arguments, call.span)

    def _applied(self, value: Node, name: str, arguments: Sequence[Node], span: Span) -> Node:
        parameters = self._names.functions[name]
        if len(arguments) != len(parameters):
            raise ProgramSyntaxError(
                f"'{name}' is called with {len(arguments)} arguments",
                at=Location(Source(""), span),
                expected=f"{name}({', '.join(parameters)})",
            )
        places = {self._names.values[p]: a for p, a in zip(parameters, arguments, strict=True)}
        return substitute([value], {p: a for p, a in places.items() if p is not a})[0]

    def _part(self, span: Span, text: str, start: int) -> Node:
        """Return what a part of a text means."""
        try:
            return self._node(text[span.start : span.end], start + span.start)[0]
        except SymgradError as error:
            if error.at is not None:  # of this part; the caller counts from the begin of the whole
                at = Span(error.at.span.start + span.start, error.at.span.end + span.start)
                raise type(error)(
                    error.what, at=Location(Source(text), at), expected=error.expected, cure=error.cure
                ) from None
            raise

    def _slope(self, part: SlopeText, text: str, start: int) -> tuple[Node, WrittenSlope]:
        if part.functions:
            return self._of_functions(part, text, start)
        names = self._names
        self._derived = True
        said = text[part.of.start : part.of.end]
        of = names.expr(self._part(part.of, text, start), _NAME.findall(said))
        self._check_slope(of, of.node, part)  # a formula that could not be read is said first
        gradient = text[part.span.start] == "∇" or text.startswith("grad", part.span.start)
        by = [self._by(name, part) for name in part.by] or [
            self._only(of, said.strip(), part, gradient=gradient)
        ] * part.order
        if not part.by and gradient:
            self._read_by(text[part.span.start : part.span.end], of, by[0], start + part.span.start)
        for x in by:
            self._check_slope(of, x, part)
        exprs = tuple(names.expr(n, _NAME.findall(" ".join(part.by))) for n in by)
        implied = () if part.partial else tuple(names.implied.values())
        value = derivative(of, exprs, implied)
        plain = not implied or value.node is derivative(of, exprs).node
        plain = plain and all(reparametrised(of.node, x) is None for x in by)
        slope = WrittenSlope(of, exprs, value, plain)
        if part.at is None:
            return value.node, slope
        arguments = [self._part(a, text, start) for a in part.at]
        if said.strip() in names.functions:
            applied = self._applied(value.node, said.strip(), arguments, part.span)
        else:
            applied = substitute([value.node], dict(zip(by[:1], arguments, strict=False)))[0]
        return applied, WrittenSlope(
            of, exprs, names.expr(applied), plain=slope.plain and applied is value.node
        )

    def _of_functions(self, part: SlopeText, text: str, start: int) -> tuple[Node, WrittenSlope]:
        """Return what is made of functions of the document, or its derivative: (f*g)'(x), (f ∘ g)(x)."""
        names = self._names
        inner = text[part.of.start : part.of.end]
        bare = [
            m for m in _NAME.finditer(inner) if m[0] in names.functions and not _CALLED.match(inner, m.end())
        ]
        several = next((m[0] for m in bare if len(names.functions[m[0]]) != 1), None)
        if several is not None or (part.at is not None and len(part.at) != 1):
            raise ProgramSyntaxError(
                f"'{several or inner}' is no function of one number",
                at=Location(Source(""), part.span),
                expected="functions of one argument",
                cure="write the derivative as d/dx of a formula",
            )
        (parameter,) = names.functions[bare[-1][0]]
        applied = inner
        for match in reversed(bare):
            applied = f"{applied[: match.end()]}({parameter}){applied[match.end() :]}"
        try:
            of = names.expr(self._node(applied, start + part.of.start)[0], [parameter])
        except SymgradError as error:
            raise type(error)(
                error.what, at=Location(Source(""), part.span), expected=error.expected, cure=error.cure
            ) from None
        x = names.values[parameter]
        by = (names.expr(x, [parameter]),) * part.order
        self._derived = self._derived or bool(by)
        value = derivative(of, by) if by else of
        node = value.node
        if part.at is not None:
            node = substitute([node], {x: self._part(part.at[0], text, start)})[0]
        plain = bool(by) and node is value.node
        return node, WrittenSlope(of, by, names.expr(node), plain=plain)

    def _by(self, text: str, part: SlopeText) -> Node:
        names = self._names
        if text in names.values:
            return names.values[text]
        raise UnknownNameError(
            f"this is a derivative by '{text}', which nothing above reads",
            at=Location(Source(""), part.span),
            expected="a name that is read above",
        )

    def _check_slope(self, of: Expr, x: Node, part: SlopeText) -> None:
        try:
            self._names.check_slope(of.node, x)
        except UnknownNameError as error:
            raise UnknownNameError(
                error.what, at=Location(Source(""), part.span), expected=error.expected
            ) from None

    def _read_by(self, said: str, of: Expr, by: Node, offset: int) -> None:
        """Note by what a gradient was taken that does not say so, where there is a choice."""
        if len(inputs_of(of.node)) > 1:
            self._names.assume(
                f"{said} is read as the gradient by {by.name}; otherwise: ∇_{by.name}",
                self._line(offset),
                stated=False,
            )

    def _only(self, of: Expr, name: str, part: SlopeText, *, gradient: bool = False) -> Node:
        """Return what a derivative is by that does not say so."""
        parameters = self._names.functions.get(name)
        if parameters is not None and len(parameters) == 1:
            return self._names.values[parameters[0]]
        inputs = inputs_of(of.node)
        found = sole_input(inputs, gradient=True) if gradient else input_of(of.node)
        if found is not None and found is not of.node:
            if len(inputs) > 1 and not gradient:
                self._names.assume(
                    f"{name}' is the derivative by {found.name}", self._names.line, stated=False
                )
            return found
        if of.node.op is SYMBOL and of.shape:
            raise ProgramSyntaxError(
                f"'{name}' is an array, and no function of something",
                at=Location(Source(""), part.span),
                expected="a function before a prime",
                cure=f"write {name}.T for the transpose",
            )
        read = ", ".join(str(s.name) for s in inputs) or "nothing"
        raise ProgramSyntaxError(
            f"this derivative of '{name}' does not say by what",
            at=Location(Source(""), part.span),
            expected=f"one input to differentiate by; {name} reads {read}",
            cure=self._by_choices(name, inputs, gradient=gradient),
        )

    def _by_choices(self, name: str, inputs: Sequence[Node], *, gradient: bool) -> str | None:
        said = name if name.isidentifier() else f"({name})"
        shown = [f"∇_{s.name} {said}" if gradient else f"d{said}/d{s.name}" for s in inputs[:4]]
        return f"write {one_of(shown)}".replace("one of ", "") if shown else None

    def _placed(self, error: SymgradError, text: SideText, typed: LooseText | None = None) -> SymgradError:
        """Return an error with its place in the document."""
        if error.at is None:
            span = text.span
        else:
            at = error.at.span
            if typed is not None:
                at = Span(typed.typed(at.start), typed.typed(at.end))
            span = Span(text.start + at.start, text.start + max(at.end, at.start + 1))
        return type(error)(
            error.what, at=Location(self._source, span), expected=error.expected, cure=error.cure
        )


def _free_names(text: str) -> Callable[[int], Iterator[str]]:
    """Return what gives names of at most so many letters that a text does not have, each once."""
    taken = {*_NAME.findall(text), "pi", "oo", "or", "if"}

    def free(longest: int) -> Iterator[str]:
        for length in count(1):
            if length > longest:
                raise UsageError(
                    "there are too many derivatives in one formula", cure="give some of them names"
                )
            for letters in product(ascii_letters, repeat=length):
                name = "".join(letters)
                if name not in taken:
                    taken.add(name)
                    yield name

    return free
