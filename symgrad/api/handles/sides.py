"""The two sides of an equation: which names they share, and what is declared of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from symgrad.api.handles.expr import Operand
from symgrad.api.handles.given import formula, names_in
from symgrad.api.handles.program import Program
from symgrad.errors import ProgramSyntaxError, RedefinitionError, SymgradError, UnknownNameError
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import symbols_of, topological

__all__ = ["Side", "mistaken_constant", "pair"]

Side: TypeAlias = "Operand | str | Program"

_FIRST, _SECOND = "the first side", "the second side"


def pair(a: Side, b: Side) -> tuple[Node, Node]:
    """The nodes of two sides; a text that declares nothing reads the names of the other one.

    Raises:
        RedefinitionError: if both declare a name, and not the same; other errors of reading a text.
    """
    if isinstance(a, str) and isinstance(b, str):
        return _texts(a, b)
    if isinstance(a, str):
        b = formula(b)
        return parse_expression(a, names_in(b), _FIRST), b.node
    a = formula(a)
    if isinstance(b, str):
        return a.node, parse_expression(b, names_in(a), _SECOND)
    return a.node, formula(b).node


def mistaken_constant(a: Side, b: Side) -> str | None:
    """A hint if texts raise ``e`` or ``E`` to a power without declaring it: that is a variable like any other."""
    if not (isinstance(a, str) and isinstance(b, str)):
        return None
    read = [s for s in (_read(a, _FIRST), _read(b, _SECOND)) if isinstance(s, Listing)]
    free = {name for side in read for name in side.undeclared if name in ("e", "E")}
    declared = {name for side in read for name in side.names if name not in side.undeclared}
    bases = {
        node.args[0].name
        for node in topological([_last(side) for side in read])
        if node.op.name == "pow" and node.args[0].op is SYMBOL
    }
    name = next(iter(sorted((free - declared) & bases)), None)
    return name and f"'{name}' is a variable here; powers of Euler's number are exp(...), the number is E()"


def _texts(a: str, b: str) -> tuple[Node, Node]:
    first, second = _read(a, _FIRST), _read(b, _SECOND)
    if _declares(first) and _declares(second):
        _no_contradiction(first, second)
        return _last(first), _last(second)
    if _declares(first):
        return _last(first), _within(b, _names(first), second, _SECOND)
    if _declares(second):
        return _within(a, _names(second), first, _FIRST), _last(second)
    return _last(first), _last(second)


def _read(text: str, name: str) -> Listing | SymgradError:
    try:
        return parse_program(text, name)
    except SymgradError as error:
        return error


def _declares(side: Listing | SymgradError) -> bool:
    return isinstance(side, Listing) and bool(side.names) and not side.undeclared


def _last(side: Listing | SymgradError) -> Node:
    if isinstance(side, SymgradError):
        raise side
    return Program(side).last.node


def _names(side: Listing | SymgradError) -> dict[str, Node]:
    return {name: side[name] for name in side.names} if isinstance(side, Listing) else {}


def _within(text: str, known: Mapping[str, Node], alone: Listing | SymgradError, name: str) -> Node:
    """A text that declares nothing, in the names of the other side; further names are real."""
    try:
        return parse_expression(text, known, name)
    except UnknownNameError:
        if not isinstance(alone, Listing):
            raise
        return parse_expression(text, {**_names(alone), **known}, name)
    except (ProgramSyntaxError, RedefinitionError):
        _last(alone)  # what is wrong with it alone says more
        raise


def _no_contradiction(first: Listing | SymgradError, second: Listing | SymgradError) -> None:
    known = _names(first)
    for symbol in symbols_of([_last(second)]):
        other = known.get(symbol.name, symbol)
        if other is symbol:
            continue
        how = f"'{other.declaration}'" if other.op is SYMBOL else "a computed value"
        raise RedefinitionError(
            f"'{symbol.name}' is declared in both sides, and not the same: it is {how} in the first one, "
            f"'{symbol.declaration}' in the second",
            expected="one meaning for one name",
            cure=f"declare {symbol.name} in one side alone, or the same in both",
        )
