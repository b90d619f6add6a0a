"""What a side of an equation means: a formula over the names of its document, with derivatives in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.derivative_notation import VERBS
from symgrad.apps.review.formulas.informal_notation import to_notation
from symgrad.apps.review.formulas.informal_text import InformalText
from symgrad.apps.review.formulas.latex_declarations import domain_of, macros_of, without_macros
from symgrad.apps.review.formulas.latex_sides import LatexSideReader
from symgrad.apps.review.formulas.letter_products import DocumentLetters
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.notation import NAME, NotationReader, WrittenDerivative
from symgrad.apps.review.formulas.operators import OperatorReader
from symgrad.apps.review.formulas.random_inputs import MOMENTS, distribution_of, scale_of
from symgrad.apps.review.formulas.related_rates import curve_parameter
from symgrad.apps.review.formulas.typed_tokens import program_name
from symgrad.apps.review.integrals.expansion import Remainder, without_remainder
from symgrad.apps.review.integrals.syntax import has_operators
from symgrad.apps.review.layout.statements import SideText
from symgrad.frontend.glyphs import spelled_out
from symgrad.frontend.latex.meaning.inputs import input_of
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import ProgramSyntaxError, SymgradError, UnknownFunctionError, placed_error
from symgrad.support.source import Location, Source, Span

_LONE_NAME = re.compile(rf"\s*({NAME.pattern})\s*")
_LONE_POWER = re.compile(rf"\s*({NAME.pattern})\s*(?:\*\*|\^)\s*([2-9])\s*")
_STARRED = re.compile(rf"\s*({NAME.pattern})\*\s*")
_HEAD = re.compile(rf"\s*({NAME.pattern})\s*\(\s*({NAME.pattern}(?:\s*,\s*{NAME.pattern})*)\s*\)\s*")
_ANY_HEAD = re.compile(
    r"[\s&$]*\\?(?P<name>[^\W\d]\w*(?:_\{\w+\})?)\s*(?:\(\s*\\?[^\W\d]\w*(?:\s*,\s*\\?[^\W\d]\w*)*\s*\))?[\s&]*"
)
_PAPER_HEAD = re.compile(
    r"[\s&]*\\?[a-zA-Z]+\s*(?:\\left)?\(\s*\\?(?P<argument>[a-zA-Z]+)\s*(?:\\right)?\)[\s&]*"
)
_LOGARITHM = re.compile(
    rf"\s*(?:log|ln)\s*(?:\(\s*(?=.*\)\s*$))?(?P<of>{NAME.pattern}(?:\([^()]*\))?)\s*\)?\s*"
)
_LATEX_LOGARITHM = re.compile(r"\s*&?\s*\\(?:log|ln)\s*(?P<of>[^=]*?)\s*")
_OWN_PI = re.compile(
    r"\\pi\s*_|\\partial\s*\\pi\b|\bd\s*\\pi\b|\\pi\s*\\in\b"
    r"|(?:^|[$&\[])\s*\\pi\s*(?:\([^()=]*\)\s*&?\s*:?=|&?\s*:?=(?!\s*-?[\d.]))"
    r"|\\pi\s*\(\s*\\?[a-zA-Z]+\s*\)\s*&?\s*:?=",
    re.MULTILINE,
)
_CROSSED = re.compile(rf"({NAME.pattern})\s*×\s*(?=({NAME.pattern}))")
_GRADIENT_AT = re.compile(r"\\nabla\s*\{?[a-zA-Z]\w*\}?\s*(?:\\left)?\(\s*[-\d][-\d.,\s]*(?:\\right)?\)")
_MOMENT = re.compile(
    rf"\s*(?:\\[a-z]+\s*\{{\s*)?({'|'.join(MOMENTS)})\s*\}}?\s*(?:\\left|\\[bB]igg?l?)?\s*[(\[]"
)
_ANY_MOMENT = re.compile(
    r"[\s&]*(?:\\(?:mathrm|mathbb|operatorname|text)\s*\{\s*(?:E|Var|Cov|Corr|P|Pr)\s*\}|(?:E|Var|Cov|Pr)(?=\s*(?:\[|\(\s*[A-Z]))"
    r"|E(?=[XYZ](?:\^|\s*$)))"
)
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*\\%")
_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "≠": "!=", "×": "*", "−": "-", "⋅": "·", "\t": " ", "″": "''"})


def _decimal(percent: re.Match[str]) -> str:
    """Return a number of hundredths as a decimal."""
    return format(Decimal(percent[1]).scaleb(-2), "f").ljust(len(percent[0]))


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
        over: the input over which an integral without bounds is that the side is equal to, by the steps before: then it
            stands for functions that differ by constants.
        evidence: the values of integrals and limits in it that are not proved: sentences.
        valid: where these values hold; None for everywhere.
        remainder: what an expansion leaves out.
    """

    text: SideText
    expr: Expr
    names: tuple[str, ...]
    slope: WrittenDerivative | None = None
    values: bool = False
    claimed: WrittenDerivative | None = None
    over: Node | None = None
    evidence: tuple[str, ...] = ()
    valid: Node | None = None
    remainder: Remainder | None = None

    @property
    def varies(self) -> bool:
        """Whether it reads real inputs, and so is more than a number."""
        return any(s.dtype == "real" for s in symbols_of([self.expr.node]))


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

    Attributes:
        letters: those that stand alone in the document.
    """

    def __init__(self, source: Source, names: DocumentNames, options: Mapping[str, Any]) -> None:
        self.letters = DocumentLetters()
        self._source = source
        self._names = names
        macros = macros_of(source.text) if "\\" in source.text else {}
        if _OWN_PI.search(source.text) is not None:  # a profit or a policy, and not 3.14159...
            macros = {**macros, "pi": r"\newcommand{\pi}{\varpi}"}
        self._papers = LatexSideReader(names, macros, options, source.text)
        self._notation = NotationReader(source, names)
        self._options = options
        self._habits: set[str] = set()
        self._operators = OperatorReader(names, lambda text: self._plain_side(text, ()).expr.node)

    def domain(self, text: SideText) -> str | None:
        """Return what a side in LaTeX says of a set, as programs write domains; None if they have no word for it."""
        return domain_of(without_macros(text.text, self._papers.macros))

    def declare_random(self, names: list[str], side: SideText) -> bool:
        """Take in random inputs of a distribution; tell whether a side is one, and they are new.

        Raises:
            SymgradError: for parameters that mean nothing, with the place in the document.
        """
        found = distribution_of(side)
        if found is None or any("_" in name for name in names):  # x_i ~ ... is said of all entries
            return False
        nodes = [self.side(parameter).expr.node for parameter in found.parameters]
        if found.by_variance and len(nodes) == 2:
            nodes[1] = scale_of(nodes[1])
        spelled = [f"parameter_{k}" for k in range(len(nodes))]
        text, known = f"{found.family}({', '.join(spelled)})", dict(zip(spelled, nodes, strict=True))
        line = self._line(side.start)
        return all(self._names.declare_random(name, text, known, line) for name in names)

    def target(self, text: SideText) -> DefinedTarget | None:
        """Return what an equation with this left side may define; None if it defines nothing."""
        if self._is_moment(text):
            return None
        if text.notation == "latex":
            found = self._papers.target(text.text)
            if found is None or self._names.partial_of(found[0]) is not None:
                return None
            return DefinedTarget(found[0], alone=found[1])
        spelled = spelled_out(text.text).replace("²", "^2").replace("³", "^3")
        name, head = _LONE_NAME.fullmatch(spelled), _HEAD.fullmatch(spelled)
        if head is not None and self._is_new_function(head[1]):
            return DefinedTarget(head[1], tuple(p.strip() for p in head[2].split(",")))
        starred = _STARRED.fullmatch(spelled)
        if starred is not None:  # K* = ... on the left is the name of a solution
            return DefinedTarget(f"{starred[1]}_star")
        if name is None or self._names.partial_of(name[1]) or self._names.differential_of(name[1]):
            return None
        if self._is_product(name[1]):
            return None
        return DefinedTarget(program_name(name[1]))

    def _is_moment(self, text: SideText) -> bool:
        """Tell whether a left side is E[...] or Var(...), where the document has random inputs."""
        match = _MOMENT.match(text.text)
        letters = None if match is None else match[1]
        return letters is not None and letters not in self._names and self._names.has_random_inputs

    def is_unknown_moment(self, text: SideText) -> bool:
        """Tell whether a left side is a moment, E(X^2) or EX, where the document has no random inputs."""
        return not self._names.has_random_inputs and _ANY_MOMENT.match(text.text) is not None

    def without_logarithm(self, left: SideText, right: SideText) -> tuple[SideText, SideText] | None:
        """Return an equation for the logarithm of something as one for that itself: p = exp(f) for log p = f."""
        latex = left.notation == "latex"
        match = (_LATEX_LOGARITHM if latex else _LOGARITHM).fullmatch(left.text)
        if match is None or NAME.search(right.text) is None:
            return None
        begin, end = (r"\exp\left(", r"\right)") if latex else ("exp(", ")")
        raised = SideText(right.start - len(begin), f"{begin}{right.text}{end}", right.notation)
        return SideText(left.start + match.start("of"), match["of"], left.notation), raised

    def entries_of(self, text: SideText) -> str | None:
        """Return the array whose entries at free indices are this left side; None for another one."""
        return self._papers.entries_of(text.text) if text.notation == "latex" else None

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
        # Its derivative stands in an equation above, which reads it.
        is_free = self._names.is_unknown(name) and name in self.letters.differentiated
        if (name in self._names and not is_free) or name in VERBS:
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
        head = _PAPER_HEAD.fullmatch(left.text) if has_operators(right) else None
        if head is not None:
            target = DefinedTarget(target.name, (program_name(head["argument"]),))
        elif has_operators(right) and target.parameters is None:  # I_e = \\int ..., a number
            return target.name, self.side(right)
        if right.notation == "symgrad" or head is not None:
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

    def head(self, text: SideText) -> str | None:
        """Return the name of a left side that is it, or a function of the document with letters as its arguments."""
        match = _ANY_HEAD.fullmatch(spelled_out(text.text))
        if match is None:
            return None
        name = program_name(match["name"].replace("{", "").replace("}", ""))
        return name if name in self._names else None

    def forget(self, name: str) -> None:
        """Take back the meaning of a name, which gets another one."""
        self._names.forget(name)
        self._names.functions.pop(name, None)
        self._papers.forget(name)

    def call(self, name: str) -> None:
        """Let a value be called that the document writes with arguments: P(0) of P = 500*exp(0.03*t).

        Its argument is the input that it is a function of. What stands in brackets behind another name is a factor.
        """
        names = self._names
        node, found = names.values[name], self.letters.arguments.get(name, set())
        x = None if node.shape or not found or name in names.functions else input_of(node)
        if x is not None and (x.name in found or any(not a.isalpha() for a in found)):
            names.functions[name] = (x.name,)

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
        if not has_operators(text):
            return self._plain_side(text, like)
        try:
            plain = self._operators.replaced(text)
            found = self._plain_side(plain.text, like)
        except SymgradError as error:
            raise placed_error(error, Location(self._source, text.span)) from None
        finally:
            self._names.placeholders.clear()
        for said in plain.found:
            self._names.assume(said, self._line(text.span.start), stated=False)
        return replace(found, text=text, slope=None, evidence=plain.found, valid=plain.valid)

    def expanded(self, text: SideText, like: Shape = ()) -> ReadSide:
        """Return what a side means that may be an expansion with a remainder.

        Raises:
            SymgradError: if it means nothing, with the place in the document.
        """
        found = None if "O" in self._names else without_remainder(text)
        if found is None:
            return self.side(text, like)
        plain, remainder = found
        return replace(self.side(plain, like), text=text, slope=None, remainder=remainder)

    def _plain_side(self, text: SideText, like: Shape) -> ReadSide:
        """Return what a side without integrals and limits means."""
        if text.notation == "latex":
            return self._paper_side(text, like)
        self._notation.derived, self._notation.like = False, like
        typed = self.typed(text)
        try:
            node, slope = self._notation.read(typed.text, text.start)
        except SymgradError as error:
            raise self._placed(error, text, typed) from None
        self._take_habits(typed, text)
        names = tuple(dict.fromkeys(NAME.findall(typed.text)))
        self._names.saw(names)
        return ReadSide(text, self._names.expr(node, names), names, slope, values=self._notation.derived)

    def typed(self, text: SideText) -> InformalText:
        """Return a side that is no LaTeX in the notation of programs.

        Raises:
            ProgramSyntaxError: if it has a cross product.
        """
        names = self._names
        for crossed in _CROSSED.finditer(text.text):
            if all(map(names.is_array, crossed.groups())):
                raise ProgramSyntaxError(
                    "a product of vectors with the sign × is not read", expected="cross products of entries"
                )
        return to_notation(
            spelled_out(text.text).translate(_SIGNS),
            names.__contains__,
            names.functions.__contains__,
            self._rank,
            self._is_product,
            self.letters,
            euler=self.letters.euler,
            factors=self._options["arguments"] == "factor",
        )

    def _rank(self, name: str) -> int | None:
        """Return how many axes a name has; None for one that nothing declares or defines."""
        node = self._names.values.get(name)
        return None if node is None or self._names.is_unknown(name) else len(node.shape)

    def _is_product(self, name: str) -> bool:
        return self.letters.is_product(name, self._names.__contains__, self._is_factor)

    def _is_factor(self, letter: str) -> bool:
        names = self._names
        return letter not in names.functions and letter in names.values and not names.values[letter].shape

    def truth(self, text: SideText) -> Node | None:
        """Return a relation such as ``x > 0`` as a truth value; None for one that is none of numbers.

        Raises:
            SymgradError: if it means nothing.
        """
        node = self.side(text).expr.node
        return node if node.dtype == "bool" and not node.shape else None

    def _paper_side(self, text: SideText, like: Shape) -> ReadSide:
        if _GRADIENT_AT.search(text.text) is not None:
            raise ProgramSyntaxError(
                "a gradient at a point is not read here", expected=r"\nabla F, and the point behind it"
            )
        try:
            node = self._papers.value(_PERCENT.sub(_decimal, text.text), self._line(text.span.start), like)
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
            plain = plain and curve_parameter(self._names, of.node, by.node) is None
            plain = plain and not self._names.moved_by(of.node, by.node)
            slope = WrittenDerivative(of, (by,), value, plain)
        return ReadSide(text, self._names.expr(node), (), slope, values=bool(slopes) or self._papers.moved)

    def _take_habits(self, typed: InformalText, text: SideText) -> None:
        """Note how a formula was read that is typed otherwise than in programs: each habit once, doubts each time."""
        for reading in typed.readings:
            if reading.kind not in self._habits or reading.kind in ("doubt", "letters"):
                self._habits.add(reading.kind)
                self._names.assume(str(reading), self._line(text.span.start), stated=False)

    def _take_readings(self, text: SideText) -> None:
        for reading in self._papers.readings:
            self._names.assume(reading, self._line(text.span.start), stated=False)

    def _placed(self, error: SymgradError, text: SideText, typed: InformalText | None = None) -> SymgradError:
        """Return an error with its place in the document."""
        if error.at is None:
            span = text.span
        else:
            at = error.at.span
            if typed is not None:
                at = Span(typed.typed(at.start), typed.typed(at.end))
            span = Span(text.start + at.start, text.start + max(at.end, at.start + 1))
        return placed_error(error, Location(self._source, span))
