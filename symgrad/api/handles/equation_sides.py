"""Read the two sides of an equation, which share names, and whose declarations must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from symgrad.api.handles.expr import Expr, Operand
from symgrad.api.handles.formula_arguments import names_in, parse_closed
from symgrad.api.handles.program import Program, parse
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.errors import ProgramSyntaxError, RedefinitionError, SymgradError, UnknownNameError

SideLike: TypeAlias = "Operand | str | Program"

_FIRST, _SECOND = "the first side", "the second side"


def side_nodes(a: SideLike, b: SideLike) -> tuple[Node, Node]:
    """Return the nodes of two sides; a text without declarations uses the names of the other side.

    Raises:
        RedefinitionError: if their declarations of a name differ; parsing a text may raise other errors.
    """
    first, second = parse_closed(a, _FIRST), parse_closed(b, _SECOND)
    texts = isinstance(a, str) and isinstance(b, str)
    if first is not None and second is not None:
        if isinstance(a, str) or isinstance(b, str):
            check_declarations_agree(first, second)
        return first.node, second.node
    if first is not None:
        return first.node, _parse_in_names(b, names_in(first), _SECOND, free=texts)
    if second is not None:
        return _parse_in_names(a, names_in(second), _FIRST, free=texts), second.node
    return parse(cast("str", a), _FIRST).last.node, parse(cast("str", b), _SECOND).last.node


def side_sources(
    a: SideLike, b: SideLike
) -> tuple[tuple[Sequence[Listing], Sequence[Listing]], dict[Node, str]]:
    """Return the programs of each side, and the names of values in either side. The arguments are as for `side_nodes`.

    Raises:
        SymgradError: if a text cannot be parsed.
    """
    first, second = parse_closed(a, _FIRST), parse_closed(b, _SECOND)
    known = {
        name: node for side in (second, first) if side is not None for name, node in names_in(side).items()
    }
    texts = isinstance(a, str) and isinstance(b, str)
    found = [
        side.listings if side is not None else [_text_within(text, known, name, free=texts)]
        for side, text, name in ((first, a, _FIRST), (second, b, _SECOND))
    ]
    return (found[0], found[1]), {node: name for name, node in known.items()}


def _text_within(side: SideLike, known: Mapping[str, Node], name: str, *, free: bool) -> Listing:
    text = cast("str", side)
    by_itself = _program(text, name) if free else None
    more = {} if by_itself is None else names_in(by_itself.last)
    return parse_program(text, name, {**more, **known})


def mistaken_constant(a: SideLike, b: SideLike) -> str | None:
    """Return a hint if texts raise an undeclared ``e`` or ``E``, which is a variable, to a power."""
    if not (isinstance(a, str) and isinstance(b, str)):
        return None
    read = [p for p in (_program(a, _FIRST), _program(b, _SECOND)) if p is not None]
    free = {name for side in read for name in side.listing.undeclared if name in ("e", "E")}
    declared = {name for side in read for name in side.names if name not in side.listing.undeclared}
    bases = {
        node.args[0].name
        for node in topological([side.last.node for side in read])
        if node.op.name == "pow" and node.args[0].op is SYMBOL
    }
    name = next(iter(sorted((free - declared) & bases)), None)
    return name and f"'{name}' is a variable here; powers of Euler's number are exp(...), the number is E()"


def _program(text: str, name: str) -> Program | None:
    try:
        return parse(text, name)
    except SymgradError:
        return None


def _parse_in_names(side: SideLike, known: Mapping[str, Node], name: str, *, free: bool) -> Node:
    """Parse a text in the names of the other side; ``free`` allows further names, which are real variables."""
    text = cast("str", side)
    try:
        return parse_expression(text, known, name)
    except UnknownNameError:
        by_itself = _program(text, name) if free else None
        if by_itself is None:
            raise
        return parse_expression(text, {**names_in(by_itself.last), **known}, name)
    except (ProgramSyntaxError, RedefinitionError):
        parse(text, name)  # raises a more precise error
        raise


def check_declarations_agree(first: Expr, second: Expr) -> None:
    """Check that two sides declare each common name in the same way.

    Raises:
        RedefinitionError: if they differ.
    """
    known = names_in(first)
    for symbol in symbols_of([second.node]):
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
