"""Turn a claim about a derivative into nodes, with substitutes for named sizes."""

from __future__ import annotations

from collections.abc import Mapping

from symgrad.api.claims.shape_matching import Built, ShapeMismatch
from symgrad.api.handles.equation_sides import SideLike
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import formula, names_in
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import SYMBOL, Node, size_leaf, symbol
from symgrad.ir.size_substitution import resized
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import ShapeError


def read_claim(text: str, known: Mapping[str, Node], sizes: Mapping[str, Size], name: str) -> Node:
    """Parse a text in the names of a program, with substitutes for named sizes.

    Raises:
        ShapeMismatch: if shapes in the text disagree.
    """
    try:
        return parse_expression(text, {n: size_leaf(s) for n, s in sizes.items()} | {**known}, name)
    except ShapeError as error:
        raise ShapeMismatch(str(error)) from None


def claim_nodes(value: Expr, target: Expr, claim: SideLike, sizes: Mapping[str, Size]) -> Built:
    """Return the output, the variable and the claimed derivative as nodes, with named sizes replaced."""
    known = {**names_in(target), **names_in(value)}
    y, wrt, *given = resized([value.node, target.node, *known.values()], sizes)
    if isinstance(claim, str):
        to = read_claim(claim, dict(zip(known, given, strict=True)), sizes, "the claim")
    else:
        try:
            (to,) = resized([formula(claim).node], sizes)
        except ShapeError as error:
            raise ShapeMismatch(str(error)) from None
    of, by, to = as_symbol(y, wrt, to, target.name)
    wanted = (*of.shape, *by.shape)
    if to.shape != wanted:
        hint = "; if the derivative of sum(y) or sum(v*y) is meant, verify that" if of.shape else ""
        raise ShapeMismatch(
            f"the claim has the shape {shape_text(to.shape)}, the derivative of a value of shape "
            f"{shape_text(of.shape)} by '{target}' of shape {shape_text(by.shape)} has {shape_text(wanted)}{hint}",
            (to.shape, wanted),
        )
    return of, by, to


def as_symbol(y: Node, wrt: Node, claim: Node, own: str | None) -> tuple[Node, Node, Node]:
    """Substitute a symbol for a variable that is an intermediate value, under the value's name if it has one."""
    if wrt.op is SYMBOL:
        return y, wrt, claim
    taken = {s.name for s in symbols_of([y, claim])}
    named = [] if own is None else [own]
    name = next(n for n in (*named, *(f"h{k}" for k in range(len(taken) + 1))) if n not in taken)
    stand_in = symbol(Declaration(name, REAL, shape=wrt.shape))
    of, to = substitute([y, claim], {wrt: stand_in})
    return of, stand_in, to
