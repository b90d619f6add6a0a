"""What the derivative verbs take: outputs, and what one differentiates by, checked against their programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from symgrad.api.expr import Expr, as_expr, handle
from symgrad.backward.trace import Nothing
from symgrad.backward.zeros import classify
from symgrad.errors import NotDifferentiableError, NotInProgramError, UsageError
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing, one_of, suggest
from symgrad.ir.traverse import topological

__all__ = [
    "Wrt",
    "differentiable",
    "listings_of",
    "many",
    "nothing_among",
    "origins_of",
    "resolve",
    "targets",
    "targets_of",
]

Wrt: TypeAlias = "Expr | str"


def many(value: Any) -> Sequence[Any]:
    """Return a list or tuple as it is, anything else as a list of one."""
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]


def differentiable(y: Any) -> Expr:
    """Return what is to be differentiated as an Expr.

    Raises:
        NotDifferentiableError: if it is a truth value.
    """
    expr = as_expr(y)
    if expr.dtype == "bool":
        raise NotDifferentiableError(
            f"'{expr}' is a truth value", cure="differentiate a number, such as where(c, x, y)"
        )
    return expr


def nothing_among(y: Node, moving: Sequence[Node]) -> str:
    """Name the reason why nothing arrives at y from any of what moves: the nearest to a derivative, if they differ."""
    kinds = {classify([y], x, ()) for x in moving} or {Nothing.ZERO}
    order = (Nothing.ZERO, Nothing.STOPPED, Nothing.DISCONNECTED, Nothing.NO_TANGENT)
    return str(next(kind for kind in order if kind in kinds))


def listings_of(exprs: Sequence[Expr]) -> tuple[Listing, ...]:
    """Return the programs that expressions come from, each once."""
    found: list[Listing] = []
    for listing in (x for e in exprs for x in e.listings):
        if all(listing is not f for f in found):
            found.append(listing)
    return tuple(found)


def origins_of(exprs: Sequence[Expr]) -> tuple[Node, ...]:
    """Return what derivatives of expressions are derivatives of: these, and what they are themselves derivatives of."""
    return tuple(dict.fromkeys([*(e.node for e in exprs), *(o for e in exprs for o in e.origins)]))


def targets_of(y: Expr, wrt: Any) -> list[Expr]:
    """Return what one differentiates by as expressions, from Exprs or names, one or many, checked."""
    exprs = [resolve(y, w) for w in many(wrt)]
    targets([y], exprs)
    return exprs


def resolve(y: Expr, wrt: Any) -> Expr:
    """Return what one differentiates by, from an Expr or a name in the program of ``y``."""
    if isinstance(wrt, Expr):
        return wrt
    if isinstance(wrt, str):
        for listing in y.listings:
            if wrt in listing:
                return Expr(listing[wrt], listings=y.listings)
        for symbol in y.inputs:
            if symbol.name == wrt:
                return symbol
        known = [n for listing in y.listings for n in listing.names] or [str(i) for i in y.inputs]
        raise NotInProgramError(
            f"'{wrt}' is not in the program",
            expected=one_of(dict.fromkeys(known)),
            cure=suggest(wrt, known),
        )
    raise UsageError(
        f"cannot differentiate by a value of type {type(wrt).__name__}", expected="an Expr or a name"
    )


def targets(outputs: Sequence[Expr], wrt: Sequence[Any]) -> list[Node]:
    """Return the nodes to differentiate by, checked against the programs the outputs come from."""
    found: list[Node] = []
    for item in wrt:
        expr = resolve(outputs[0], item)
        node = expr.node
        if node.is_number() or node.op.name == "constant" or (node.dtype == "bool" and node.args):
            raise UsageError(
                f"cannot differentiate by '{expr}'", expected="an input or an intermediate value"
            )
        found.append(node)
    programs = [listing for e in outputs for listing in e.listings]
    if programs:
        roots = [e.node for e in outputs]
        for listing in programs:
            roots += [*listing.symbols.values(), *listing.assignments.values()]
        known = set(topological(roots))
        for node in found:
            if node not in known:
                raise NotInProgramError(
                    f"'{handle(node)}' does not occur in the program",
                    expected=one_of(dict.fromkeys(n for p in programs for n in p.names)),
                    cure="pass the program's own expression, p[name]",
                )
    return found
