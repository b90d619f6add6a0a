"""Formulas and derivatives in the notation of programs, in the names of a document; calls of what it defines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product
from string import ascii_letters

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.derivative_notation import (
    DerivativeText,
    DocumentCall,
    MomentText,
    find_parts,
)
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.random_inputs import MOMENTS, moment
from symgrad.apps.review.formulas.related_rates import curve_parameter, derivative_at_constant, rate
from symgrad.apps.review.formulas.typed_tokens import argument_spans
from symgrad.frontend.latex.meaning.functions.differentials import coordinates_of, sole_input
from symgrad.frontend.latex.meaning.inputs import input_of, inputs_of
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.listing import one_of
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute
from symgrad.ir.types import Declaration
from symgrad.ops.numpy.calls import stack
from symgrad.support.errors import (
    ProgramSyntaxError,
    SymgradError,
    UnknownFunctionError,
    UnknownNameError,
    UnsupportedError,
    UsageError,
    placed_error,
)
from symgrad.support.source import Location, Source, Span

NAME = re.compile(r"[^\W\d]\w*")
"""A name in the notation of programs."""

_OF_ARRAYS = re.compile(r"[^\W\d]\w*\s*\.T\b|\([^()]*\)\s*\.T\b|\b(?:norm|trace|det)\([^()]*\)")
_INVERSE = re.compile(r"\)\s*\*\*\s*\(?\s*-\s*1(?!\d)")
_IDENTITY = re.compile(r"(?<!\w)[^\W\d_]?I(?!\w)")
_MATRIX_FUNCTIONS = ("norm", "trace", "det")
_CALLED = re.compile(r"\s*['(]")


@dataclass(frozen=True, slots=True)
class WrittenDerivative:
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


class NotationReader:
    """Reads formulas in the notation of programs, derivatives in them, calls of functions of the document.

    The places in errors are those in the text that is read.

    Args:
        source: the document.
        names: what names mean; what is read and means nothing is added, as a real number.

    Attributes:
        derived: whether a derivative was read since this was last set.
        like: the shape of what the next formula is said to be equal to.
    """

    def __init__(self, source: Source, names: DocumentNames) -> None:
        self._source = source
        self._names = names
        self.derived = False
        self.like: Shape = ()

    def read(self, text: str, start: int) -> tuple[Node, WrittenDerivative | None]:
        """Return what a text means, and as a derivative where it is nothing else.

        Args:
            text: it.
            start: where it begins in the document.

        Raises:
            SymgradError: if it means nothing, with the place in the text.
        """
        names = self._names
        moments = MOMENTS if names.has_random_inputs else ()
        items = tuple_items(text)
        if len(items) > 1:
            return stack([self._part(item, text, start) for item in items]), None
        parts = find_parts(text, names.is_said, names.functions.__contains__, moments)
        free = _free_names(text)
        shown, known = list(text), dict[str, Node]()
        node, slope = None, None
        for part in parts:
            span = part.span
            if isinstance(part, DocumentCall):
                node, slope = self._called(part, text, start), None
            elif isinstance(part, MomentText):
                node, slope = self._moment(part, text, start), None
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
                found = parse_expression(text, {**self._names.known_in(text), **known})
                break
            except UnknownFunctionError:
                raise
            except UnknownNameError as error:
                if error.at is None:
                    raise
                span = error.at.span
                if text[span.start : span.end] in {*known, *self._names.values}:  # a sign that names have not
                    raise
                line, _ = self._source.line_column(start + span.start)
                meant = self._as_derivative(text[span.start : span.end], line)
                if meant is not None:
                    known = {**known, text[span.start : span.end]: meant}
                    continue
                self._names.undeclared(text[span.start : span.end], line)
        self._check_shapes(text)
        return found

    def _check_shapes(self, text: str) -> None:
        """Refuse a transpose and a norm of names whose shapes nothing says: they are no numbers.

        Raises:
            UnknownNameError: for one, with its place in the text.
        """
        for match in _OF_ARRAYS.finditer(text):
            names = [n for n in NAME.findall(match[0].removesuffix(".T")) if n not in _MATRIX_FUNCTIONS]
            if names and all(self._names.is_unknown(name) for name in names):
                raise UnknownNameError(
                    f"nothing says the shape of '{names[0]}', which is an array here",
                    at=Location(Source(text), Span(*match.span())),
                    expected=f"a declaration such as {names[0]} : real[n]",
                )

        matrix = any(
            len(self._names.values[n].shape) == 2
            for n in self._names.known_in(text)
            if self._names.is_array(n)
        )
        inverse = _INVERSE.search(text) if matrix else None
        if inverse is not None:
            raise UnknownNameError(
                "this power of a bracket may be an inverse matrix",
                at=Location(Source(text), Span(*inverse.span())),
                expected="inv(...) for the inverse matrix",
            )
        identity = _IDENTITY.search(text) if matrix else None
        if identity is not None and self._names.is_unknown(identity[0]):
            raise UnknownNameError(
                f"'{identity[0]}' may have the identity matrix in it",
                at=Location(Source(text), Span(*identity.span())),
                expected="eye(n) for the identity matrix",
            )

    def _as_derivative(self, name: str, line: int) -> Node | None:
        """Return what f_xy and dx mean, where f and x are names that fit."""
        names = self._names
        partial, rest = names.partial_of(name), names.differential_of(name)
        if partial is not None:
            of, by = partial
            self.derived = True
            said = f"{name} is read as the derivative of {of} by {', '.join(by)}; otherwise: a declaration of {name}"
            names.assume(said, line, stated=False)
            return derivative(
                names.expr(names.values[of]), tuple(names.expr(names.values[b]) for b in by)
            ).node
        if rest is not None:
            self.derived = True
            return names.differential(names.values[rest])
        return None

    def _called(self, call: DocumentCall, text: str, start: int) -> Node:
        if call.name not in self._names.values:  # a function of itself
            raise UnknownNameError(
                f"'{call.name}' is called, and nothing above says what it is",
                at=Location(Source(""), call.span),
                expected=f"{call.name}(...) = ... above",
            )
        arguments = [self._part(a, text, start) for a in call.arguments]
        return self._applied(self._names.values[call.name], call.name, arguments, call.span)

    def _moment(self, part: MomentText, text: str, start: int) -> Node:
        inner = self._part(part.of, text, start)
        try:
            return moment(self._names, MOMENTS[part.name], inner)
        except UnsupportedError as error:
            raise placed_error(error, Location(Source(text), part.span)) from None

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
            return self.read(text[span.start : span.end], start + span.start)[0]
        except SymgradError as error:
            if error.at is not None:  # of this part; the caller counts from the begin of the whole
                at = Span(error.at.span.start + span.start, error.at.span.end + span.start)
                raise placed_error(error, Location(Source(text), at)) from None
            raise

    def _slope(self, part: DerivativeText, text: str, start: int) -> tuple[Node, WrittenDerivative]:
        if part.functions:
            return self._of_functions(part, text, start)
        names = self._names
        self.derived = True
        said = text[part.of.start : part.of.end]
        of = names.expr(self._part(part.of, text, start), NAME.findall(said))
        if of.node.op is SYMBOL:  # an input that equations above were solved for
            known = [names.values[n] for n in part.by if n in names.values]
            of = names.expr(names.following(of.node, known), NAME.findall(said))
        self._check_slope(of, of.node, part)  # a formula that could not be read is said first
        computed = [n for n in part.constant if n in names.values and not names.is_input(n)]
        if computed:
            raise UnsupportedError(
                f"{computed[0]} is held constant, and is a formula of other inputs here",
                at=Location(Source(""), part.span),
                expected="an input",
                cure="write the formula above with that name as an input",
            )
        gradient = text[part.span.start] == "∇" or text.startswith("grad", part.span.start)
        coordinates = [] if part.by or not gradient else self._coordinates(of, said)
        if len(coordinates) > 1:
            value = _by_coordinates(of, [names.expr(x) for x in coordinates], part.order, self.like)
            if part.at is not None:
                arguments = [self._part(a, text, start) for a in part.at]
                value = names.expr(self._applied(value.node, said.strip(), arguments, part.span))
            return value.node, WrittenDerivative(of, (), value, plain=False)
        by = [self._by(name, part) for name in part.by] or [
            self._only(of, said.strip(), part, gradient=gradient)
        ] * part.order
        if not part.by and gradient:
            self._read_by(text[part.span.start : part.span.end], of, by[0], start + part.span.start)
        for x in by:
            self._check_slope(of, x, part)
        if not part.partial:
            of = names.expr(names.following(of.node, by), NAME.findall(said))
        if len(by) == 1 and names.moved_by(of.node, by[0]):
            value = names.expr(rate(names, of.node, by[0]))
            return value.node, WrittenDerivative(of, (names.expr(by[0]),), value, plain=False)
        found = derivative_at_constant(names, of.node, by[0], part.constant)
        if found is not None:
            return found, WrittenDerivative(of, (names.expr(by[0]),), names.expr(found), plain=False)
        exprs = tuple(names.expr(n, NAME.findall(" ".join(part.by))) for n in by)
        implied = () if part.partial else tuple(names.implied.values())
        variables = None if part.partial else names.variables
        value = derivative(of, exprs, implied, variables)
        plain = not implied or value.node is derivative(of, exprs).node
        plain = plain and not any(curve_parameter(names, of.node, x, partial=part.partial) for x in by)
        slope = WrittenDerivative(of, exprs, value, plain)
        if part.at is None:
            return value.node, slope
        arguments = [self._part(a, text, start) for a in part.at]
        if said.strip() in names.functions:
            applied = self._applied(value.node, said.strip(), arguments, part.span)
        else:
            applied = substitute([value.node], dict(zip(by[:1], arguments, strict=False)))[0]
        return applied, WrittenDerivative(
            of, exprs, names.expr(applied), plain=slope.plain and applied is value.node
        )

    def _coordinates(self, of: Expr, text: str) -> list[Node]:
        """Return the numbers that the gradient of a text is by, where it has no subscript."""
        name = NAME.match(text.strip())
        parameters = () if name is None else self._names.functions.get(name[0], ())
        return [] if of.shape else coordinates_of(of.node, parameters, self._names.values)

    def _of_functions(self, part: DerivativeText, text: str, start: int) -> tuple[Node, WrittenDerivative]:
        """Return what is made of functions of the document, or its derivative: (f*g)'(x), (f ∘ g)(x)."""
        names = self._names
        inner = text[part.of.start : part.of.end]
        bare = [
            m for m in NAME.finditer(inner) if m[0] in names.functions and not _CALLED.match(inner, m.end())
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
            of = names.expr(self.read(applied, start + part.of.start)[0], [parameter])
        except SymgradError as error:
            raise placed_error(error, Location(Source(""), part.span)) from None
        x = names.values[parameter]
        by = (names.expr(x, [parameter]),) * part.order
        self.derived = self.derived or bool(by)
        value = derivative(of, by) if by else of
        node = value.node
        if part.at is not None:
            node = substitute([node], {x: self._part(part.at[0], text, start)})[0]
        plain = bool(by) and node is value.node
        return node, WrittenDerivative(of, by, names.expr(node), plain=plain)

    def _by(self, text: str, part: DerivativeText) -> Node:
        names = self._names
        if text in names.values:
            return names.values[text]
        if text in names.followed.values():
            return symbol(Declaration(text))
        raise UnknownNameError(
            f"this is a derivative by '{text}', which nothing above reads",
            at=Location(Source(""), part.span),
            expected="a name that is read above",
        )

    def _check_slope(self, of: Expr, x: Node, part: DerivativeText) -> None:
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
                self._source.line_column(offset)[0],
                stated=False,
            )

    def _only(self, of: Expr, name: str, part: DerivativeText, *, gradient: bool = False) -> Node:
        """Return what a derivative is by that does not say so."""
        parameters = self._names.functions.get(name)
        if parameters is not None and len(parameters) == 1:
            return self._names.values[parameters[0]]
        inputs = inputs_of(of.node)
        implied = self._names.implied.get(of.node)
        if implied is not None and implied.curve is not None:
            return implied.curve.x
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


def _by_coordinates(of: Expr, by: Sequence[Expr], order: int, like: Shape) -> Expr:
    """Return a gradient by several numbers, or a Laplacian; the Hessian beside a matrix."""
    if order == 1:
        return Expr(stack([derivative(of, (x,)).node for x in by]))
    if len(like) == 2:
        return Expr(stack([stack([derivative(of, (x, y)).node for y in by]) for x in by]))
    return sum((derivative(of, (x, x)) for x in by[1:]), derivative(of, (by[0], by[0])))


def tuple_items(text: str) -> list[Span]:
    """Return the parts of a list in brackets that is the whole of a text: (2*x*y, x**2); none for another text.

    Example:
        >>> [(s.start, s.end) for s in tuple_items("(a, f(b, c))")], tuple_items("(a)*(b)"), tuple_items("f(a, b)")
        ([(1, 2), (3, 11)], [], [])
    """
    left, right = len(text) - len(text.lstrip()), len(text.rstrip())
    if text[left : left + 1] not in ("(", "[") or text[right - 1] not in ")]":
        return []
    depth = 0
    for c in text[left : right - 1]:
        depth += (c in "([") - (c in ")]")
        if depth == 0:
            return []
    first = left + 1
    found = [Span(first + s.start, first + s.end) for s in argument_spans(text[first : right - 1])]
    return found if len(found) > 1 and all(text[s.start : s.end].strip() for s in found) else []


def _free_names(text: str) -> Callable[[int], Iterator[str]]:
    """Return what gives names of at most so many letters that a text does not have, each once."""
    taken = {*NAME.findall(text), "pi", "oo", "or", "if"}

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
