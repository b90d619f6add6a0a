"""Reads integrals, limits and values between bounds: each becomes a name for its value in the formula around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Antiderivative
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.typed_tokens import program_name
from symgrad.apps.review.integrals.syntax import OperatorText, infinity_of, last_operator, opens_operator
from symgrad.apps.review.integrals.values import between, integral_value, limit_value
from symgrad.apps.review.layout.passages import FormulaNotation
from symgrad.apps.review.layout.statements import SideText
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.frontend.latex.syntax.vocabulary import GREEK
from symgrad.ir.graph import OPS, SYMBOL, Node, symbol
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.support.errors import ProgramSyntaxError, UnsupportedError

_LETTERS = {
    "symgrad": [*"ʒɮʑʐɕʆʃʪʫɧɰ"],
    "latex": [rf"\mathrm{{{c}q}}" for c in "ZYXWVUTSRQPN"],
}
_OPERAND = re.compile(r"[\w)\]}²³½¼¾'′∞]$")
_SPACES = {"symgrad": re.compile(r"\s*$"), "latex": re.compile(r"(?:\s|\\[,;:!]|\\q?quad)*$")}
_COMMAND = re.compile(r"\\([a-zA-Z]+)$")
_DERIVATIVE = re.compile(
    r"[d∂]\S*\s*/\s*[d∂]\w+$|\\[dt]?frac\s*\{\s*(?:\\mathrm\s*\{\s*d\s*\}|d|\\partial)[^{}]*\}\s*\{[^{}]*\}$"
)


@dataclass(frozen=True, slots=True)
class ReadOperators:
    """A formula without integrals and limits.

    Args:
        text: the formula, with names in their places.
        found: what was said of their values: sentences.
        valid: where these values hold; None for everywhere.
    """

    text: SideText
    found: tuple[str, ...]
    valid: Node | None


class OperatorReader:
    """Gives names to the values of integrals and limits.

    Args:
        names: what names mean; the new ones are added while a formula is read.
        read: returns what a formula means.
    """

    def __init__(self, names: DocumentNames, read: Callable[[SideText], Node]) -> None:
        self._names = names
        self._read = read
        self._over: Node | None = None  # what the last integral is over
        self._valid: Node | None = None  # where the values in the formula hold

    def replaced(self, text: SideText) -> ReadOperators:
        """Return a formula with names in the places of its integrals and limits.

        Raises:
            SymgradError: if one of them cannot be read.
        """
        found: list[str] = []
        self._valid = None
        letters = iter(_LETTERS[text.notation])
        while (operator := last_operator(text)) is not None:
            name = next(letters, None)
            if name is None:
                raise ProgramSyntaxError(
                    "there are too many integrals in one formula", expected="some on their own"
                )
            node, said = self._value(operator)
            found += [] if said is None else [said]
            self._names.placeholders[name.removeprefix(r"\mathrm{").rstrip("}")] = node
            before = text.text[: operator.start]
            sign = "" if opens_operator(before, text.notation) else _sign_behind(before, text.notation)
            shown = (sign + name).ljust(operator.end - operator.start)
            text = SideText(text.start, before + shown + text.text[operator.end :], text.notation)
        return ReadOperators(text, tuple(found), self._valid)

    def _value(self, operator: OperatorText) -> tuple[Node, str | None]:
        if operator.kind == "integral":
            return self._integral(operator)
        if operator.kind == "limit":
            assert operator.low is not None
            with self._bound(operator.by) as x:
                node, at = self._following(self._read(operator.body), x), self._end(operator.low)
                self._check(node)
            value = limit_value(node, x, at, operator.side)
            if value is None:
                raise UnsupportedError("this limit was not found", cure="write the value that it has")
            return (
                value,
                f"{_single_spaced(operator.body)} goes to {_text(value)}, as SymPy and values near by say",
            )
        assert operator.low is not None
        assert operator.high is not None
        with nullcontext() if self._over is None else self._bound(self._over.name):
            node = self._read(operator.body)
        self._check(node)
        inputs = [s for s in inputs_of(node) if s.dtype == "real"]
        x = self._over if self._over in inputs else inputs[0] if len(inputs) == 1 else None
        low, high = self._end(operator.low), self._end(operator.high)
        value = None if x is None else between(node, x, low, high)
        if value is None:
            raise UnsupportedError("values between these bounds were not found", cure="write them out")
        return value, None

    def _end(self, text: SideText) -> Node | int:
        """Return a bound; 1 and -1 for infinity and minus infinity."""
        return infinity_of(text.text) or self._read(text)

    def _check(self, node: Node) -> None:
        if any(s in self._names.integrals for s in symbols_of([node])):
            raise UnsupportedError("an integral without a known value in another one", cure="write its value")

    def _integral(self, operator: OperatorText) -> tuple[Node, str | None]:
        if operator.low is None or operator.high is None:
            name = _program_name(operator.by)
            known = self._names.values.get(name)
            is_value = known is not None and not symbols_of([known])  # x = 3 above
            with self._bound(operator.by) if known is None or is_value else nullcontext(known) as by:
                node = self._following(self._read(operator.body), by)
            self._check(node)
            self._over = by if by.op is SYMBOL else self._over
            if node.shape or by.shape:
                raise UnsupportedError("an integral of an array", cure="write it for its entries")
            return self._named(Antiderivative(node, by), f"∫ {_text(node)} d({_text(by)})"), None
        low, high = (self._end(b) for b in (operator.low, operator.high))
        with self._bound(operator.by) as x:
            node = self._following(self._read(operator.body), x)
            self._check(node)
        self._over = x
        found = integral_value(node, x, low, high)
        said = f"{_single_spaced(operator.body)} d{operator.by.lstrip(chr(92))} from {_bound(low)} to {_bound(high)}"
        if found is None:
            return self._named(Antiderivative(node, x, bounded=True), f"the integral of {said}"), None
        value, valid = found
        said = f"the integral of {said} is {_text(value)}, as SymPy and quadrature say"
        if valid is None:
            return value, said
        self._valid = valid if self._valid is None else OPS["and_"](self._valid, valid)
        return value, f"{said} where {_text(valid)}"

    def _following(self, node: Node, x: Node) -> Node:
        """Return an integrand where inputs that depend on the variable are formulas of it.

        Raises:
            UnsupportedError: if equations relate an input to the variable, and no formula is known for it.
        """
        node = self._names.following(node, [x])
        reads = set(symbols_of([node]))
        related = {
            s for c in self._names.conditions if x in c.reads for s in c.reads
        } | self._names.implied.keys()
        if (reads & related) - {x}:
            raise UnsupportedError(
                "what is integrated may depend on the variable", cure="write it as a formula"
            )
        return node

    def _named(self, integral: Antiderivative, name: str) -> Node:
        node = symbol(Declaration(name))
        self._names.integrals[node] = integral
        return node

    @contextmanager
    def _bound(self, operator: str) -> Generator[Node]:
        """Give the variable of an integral or a limit, which has no other meaning while that is read."""
        name = _program_name(operator)
        values = self._names.values
        before = values.get(name)
        if before is not None and before.op is SYMBOL and not before.shape:
            yield before
            return
        own = symbol(Declaration(name))
        held = self._names.placeholders.get(name)
        self._names.placeholders[name] = own
        try:
            yield own
        finally:
            del self._names.placeholders[name]
            if held is not None:
                self._names.placeholders[name] = held


def _program_name(operator: str) -> str:
    return program_name(operator.lstrip("\\").replace("{", "").replace("}", ""))


def _text(node: Node) -> str:
    return str(Expr(node))


def _sign_behind(before: str, notation: FormulaNotation) -> str:
    """Return the sign of a product behind a factor; none behind an operation, a function or a derivative."""
    bare = _SPACES[notation].sub("", before)
    if _OPERAND.search(bare) is None or _DERIVATIVE.search(bare) is not None:
        return " "
    command = _COMMAND.search(bare)
    if notation == "latex" and command is not None:
        return r"\cdot" if command[1] in GREEK else " "
    return r"\cdot" if notation == "latex" else "*"


def _single_spaced(text: SideText) -> str:
    return " ".join(text.text.split())


def _bound(bound: Node | int) -> str:
    return {1: "infinity", -1: "minus infinity"}[bound] if isinstance(bound, int) else _text(bound)
