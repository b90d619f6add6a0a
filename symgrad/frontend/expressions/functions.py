"""Functions that a program defines, g(t) = t**2 + 1: every call is replaced by the body.

In the body, the arguments of the call are substituted for the parameters (inlining). So arguments may be arrays, and
the printed formula contains no calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.frontend.expressions.array_functions import ARRAYS
from symgrad.frontend.expressions.calls import FUNCTIONS
from symgrad.frontend.expressions.declarations import DeclarationRules
from symgrad.frontend.expressions.derivatives import SIGNATURES
from symgrad.frontend.limits import BODY_TOKENS, CALL_DEPTH
from symgrad.frontend.scope import PARAMETER
from symgrad.frontend.tokens.lalr import parse
from symgrad.frontend.tokens.terms import Argument, Term, Token
from symgrad.ir.exact import CONSTANTS
from symgrad.ir.graph import OPS, SIZE, Node, number, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.support.errors import (
    CycleError,
    NestingError,
    ProgramSyntaxError,
    RedefinitionError,
    UnknownFunctionError,
    UnknownNameError,
)


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function defined by a program.

    Args:
        name: the token of its name in the definition.
        parameters: the names of its arguments.
        body: the tokens of its formula, with a ``_NEWLINE`` at the end.
    """

    name: Token
    parameters: tuple[Token, ...]
    body: tuple[Token, ...]

    @property
    def signature(self) -> str:
        """The form of its calls."""
        return f"{self.name}({', '.join(self.parameters)})"


def _parameter(number: int, value: Term) -> Term:
    """Return a symbol for an argument; truth values and sizes, by which nothing is differentiated, stay themselves."""
    node = value.node
    if node.dtype == "bool" or node.op is SIZE:
        return value
    return Term(symbol(Declaration(f"{PARAMETER}{number}", REAL, node.shape)), value.start, value.end)


class _SyntaxOnly:
    """Semantic actions that build nothing: they are only used to check the syntax."""

    def __getattr__(self, rule: str) -> Any:
        return self._ignore

    def _ignore(self, *_: object) -> None:
        """Check the syntax of the body; its meaning is checked at each call."""


class SingleExpression:
    """Builds one expression, such as the body of a function, with the actions of the expression reader."""

    def __init__(self, reader: FunctionRules) -> None:
        self._reader = reader
        self.value = Term(number(1), 0, 0)

    def __getattr__(self, rule: str) -> Any:
        return getattr(self._reader, rule)

    def bare(self, value: Term) -> None:
        self.value = value

    def start(self, *_: object) -> None:
        """Return the body as a whole, which is one expression."""


class FunctionRules(DeclarationRules):
    """The rules for functions."""

    functions: dict[str, UserFunction]
    local: dict[str, Term]
    _depth = 0
    _read = 0

    def _claim(self, name: Token, node: Node | None = None) -> None:
        """Refuse a name that is in use, also as the name of a function."""
        taken = self.functions.get(str(name))
        if taken is not None:
            line, column = self.source.line_column(taken.name.start_pos)
            self.wrong_token(
                RedefinitionError,
                f"'{name}' is already defined in line {line}, column {column}",
                name,
                expected="each name defined once",
                cure=f"choose another name, such as {self.unused(name)}",
            )
        super()._claim(name, node)

    def define(self, function: UserFunction) -> None:
        """Store a function: its name, its parameters, and all names in its body."""
        name, spelled = function.name, str(function.name)
        self._begin()
        if is_function(spelled):
            self.wrong_token(
                RedefinitionError,
                f"'{spelled}' is a function already",
                name,
                expected="a name that no function of the notation has",
                cure=f"choose another name, such as {self.unused('my_' + spelled)}",
            )
        self._claim(name)
        seen: set[str] = set()
        for parameter in function.parameters:
            if str(parameter) in seen or str(parameter) == "pi":
                self.wrong_token(
                    RedefinitionError,
                    f"'{parameter}' is {'a constant' if str(parameter) == 'pi' else 'a parameter already'}",
                    parameter,
                    expected="parameters with different names",
                    cure="choose another name",
                )
            seen.add(str(parameter))
        for token, after in zip(function.body, function.body[1:], strict=False):
            if token.type == "NAME":
                self._check(function, token, seen, called=after == "(", keyword=after == "=")
        self.functions.setdefault(spelled, function)

    def _check(
        self, function: UserFunction, token: Token, parameters: set[str], *, called: bool, keyword: bool
    ) -> None:
        spelled = str(token)
        if spelled == str(function.name):
            self.wrong_token(
                CycleError,
                f"'{spelled}' is defined by itself",
                token,
                expected="functions of what is defined above",
                cure="write the steps out, or compute them in Python",
            )
        elif called:
            if not (is_function(spelled) or spelled in self.functions or spelled in self.defined):
                self.unknown_function(token)
        elif (
            not keyword
            and not self.is_index(token)
            and spelled not in parameters | self.defined.keys() | self.sizes | {"pi"}
        ):
            self.unknown(token)

    def unknown_function(self, token: Token) -> Term:
        """Record the error for the call of an undefined function."""
        return self.defined_below(token) or self.wrong_token(
            UnknownFunctionError,
            f"unknown function '{token}'",
            token,
            expected="a function of the notation, or one that is defined above",
            cure=f"define it on a line above: {token}(t) = ...",
        )

    def defined_below(self, token: Token) -> Term | None:
        """Record the error for a call of a function that is defined further down.

        The result is None if the function is not defined there.
        """
        later = re.compile(rf"^[ \t]*{re.escape(token)}[ \t]*\([^()\n]*\)[ \t]*=(?!=)", re.MULTILINE)
        found = None if is_function(str(token)) else later.search(self.source.text, token.end_pos)
        if found is None:
            return None
        line, _ = self.source.line_column(found.start())
        return self.wrong_token(
            UnknownNameError,
            f"'{token}' is used before its definition in line {line}",
            token,
            expected="functions defined above the line that uses them",
            cure=f"move line {line} up",
        )

    def expand(self, name: Token, arguments: Sequence[Argument], end: int) -> Term:
        """Expand the body of a function with arguments."""
        function = self.functions[str(name)]
        start = name.start_pos
        values = [a for a in arguments if isinstance(a, Term)]
        if len(values) != len(arguments) or len(values) != len(function.parameters):
            count = len(function.parameters)
            given = f"got {len(arguments)}" if len(values) == len(arguments) else "by position"
            return self.wrong(
                ProgramSyntaxError,
                f"{name} takes {count} argument{'s' * (count != 1)}, {given}",
                start,
                end,
                expected=function.signature,
                cure=f"write {function.signature} with values for its arguments, in this order",
            )
        self._read += len(function.body)
        if self._depth >= CALL_DEPTH or self._read > BODY_TOKENS:
            too_deep = f"calls inside calls, more than {CALL_DEPTH} deep"
            too_long = (
                f"the bodies of functions are longer than {BODY_TOKENS:,} tokens when they are written out"
            )
            return self.wrong(
                NestingError,
                too_deep if self._depth >= CALL_DEPTH else too_long,
                start,
                end,
                cure="give values names that are used more than once, instead of calling functions again",
            )
        # A function that differentiates does so by its parameter, not by whatever equals the argument of this call.
        differentiates = any(str(token) in SIGNATURES for token in function.body)
        given = [_parameter(k, v) for k, v in enumerate(values)] if differentiates else values
        outer, self.local = self.local, dict(zip(map(str, function.parameters), given, strict=True))
        self._depth += 1
        body = SingleExpression(self)
        parse(function.body, body)
        self._depth -= 1
        self.local = outer
        if self.error is not None:
            self._called_from(function, start)
        if not differentiates:
            return Term(body.value.node, start, end)
        arguments_of = {p.node: v.node for p, v in zip(given, values, strict=True) if p is not v}
        self._record_called(arguments_of)
        return Term(substitute([body.value.node], arguments_of)[0], start, end)

    def _record_called(self, arguments: Mapping[Node, Node]) -> None:
        """Record derivatives by parameters as derivatives by the arguments of a call, if these are variables."""
        for made, d in list(self.derivatives.items()):
            if arguments.keys() & set(d.by):
                del self.derivatives[made]
                if {arguments.get(b, b) for b in d.by}.isdisjoint(topological([d.y])):
                    node, y, *by = substitute([made, d.y, *d.by], arguments)
                    self.record_derivative(node, y, by)

    def _called_from(self, function: UserFunction, start: int) -> None:
        """Add the call to an error in the body of a function."""
        error = self.error
        if self._depth or error is None or error.at is None:
            return
        line, column = self.source.line_column(start)
        what = f"{error.what}; in {function.signature}, called in line {line}, column {column}"
        self.error = type(error)(what, at=error.at, expected=error.expected, cure=error.cure)


def is_function(name: str) -> bool:
    """Tell whether the notation has a function or constant with a name."""
    return name in OPS or name in FUNCTIONS or name in ARRAYS or name in CONSTANTS


def without_functions(tokens: Iterator[Token], reader: FunctionRules) -> Iterator[Token]:
    """Yield the tokens of a text, except for lines that define functions; the reader receives these lines.

    Tokens are held back only as long as they may be the head of such a line, so that errors come in the order of the
    text.
    """
    fresh = True
    for token in tokens:
        if not fresh or token.type != "NAME":
            fresh = token.type == "_NEWLINE"
            yield token
            continue
        head = [token]
        while _may_begin(head):
            head.append(next(tokens))
        fresh = head[-1].type == "_NEWLINE"
        if len(head) > 3 and head[-1] == "=" and head[-2] == ")":
            body: list[Token] = []
            parse(_line(tokens, body), _SyntaxOnly())
            fresh = True
            reader.define(UserFunction(head[0], tuple(head[2:-2:2]), tuple(body)))
        else:
            yield from head


def _may_begin(head: Sequence[Token]) -> bool:
    """Tell whether tokens are the beginning, but not the whole, of the head of a line such as ``g(s, t) =``."""
    last = head[-1]
    if len(head) == 1:
        return last.type == "NAME"
    if len(head) == 2:
        return last == "("
    if head[-2] == ")" or last.type == "_NEWLINE":
        return False
    return last.type == "NAME" if len(head) % 2 else last == "," or last == ")"


def _line(tokens: Iterator[Token], kept: list[Token]) -> Iterator[Token]:
    """Yield the tokens of a line, and store them."""
    for token in tokens:
        kept.append(token)
        yield token
        if token.type == "_NEWLINE":
            return
