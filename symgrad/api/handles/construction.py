"""Build handles from handles: build the node, join the origins, and name the operands in errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import symgrad.ops  # noqa: F401  (registers the records that the operators look up)
from symgrad.api.handles.base import E, Handle, handle_on
from symgrad.api.handles.convert import expressions_in, node_of
from symgrad.api.handles.inputs import listings_of, union
from symgrad.ir.composite import form_of
from symgrad.ir.graph import OPS, Node
from symgrad.ir.listing import Derivative
from symgrad.ir.shapes import fitting
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import ShapeError


def make(kind: type[E], build: Callable[[], Node], args: Iterable[Any]) -> E:
    """Build a node from expressions and other values; return a handle with their joined origins.

    Args:
        kind: the class of the handle.
        build: a function that returns the node.
        args: the operands.

    Raises:
        ShapeError: if the shapes do not match, with the names of the operands.
    """
    exprs = list(expressions_in(args))
    try:
        node = build()
    except ShapeError as error:
        raise _explain_product(_with_names(error, exprs), exprs) from None
    listings = listings_of(exprs)
    traces = tuple({id(t): t for e in exprs for t in e.traces}.values())
    sources = union(e.sources for e in exprs)
    if not listings and not traces and not sources:
        return handle_on(kind, node)
    parts = parts_of(exprs)
    # A formula of derivatives is printed as a derivative of order 0: in the names of its program.
    slope = Derivative(node, ()) if parts else None
    return kind(node, listings=listings, traces=traces, sources=sources, slope=slope, parts=parts)


def parts_of(exprs: Iterable[Handle]) -> dict[Node, Derivative]:
    """Return the derivatives of scalars that expressions are or contain."""
    found: dict[Node, Derivative] = {}
    for e in exprs:
        found.update(e.parts)
        if e.slope is not None and e.derived:
            found[e.node] = e.slope
    return found


def make_op(kind: type[E], name: str, *args: Any, params: tuple[Any, ...] = ()) -> E:
    """Apply an op, or a function composed of ops, to expressions and numbers; join their origins."""
    nodes = tuple(node_of(a) for a in args)
    how = form_of(name, len(nodes))
    return make(kind, lambda: OPS[name](*nodes, params=params) if how is None else how.build(*nodes), args)


def lift(kind: type[E], value: Any) -> E:
    """Return a handle unchanged, a number as an exact constant, and a list as an array."""
    return value if isinstance(value, kind) else make(kind, lambda: node_of(value), [value])


def _explain_product(error: ShapeError, operands: Sequence[Handle]) -> ShapeError:
    """Extend an error about shapes of gradients by the reason why their product is wrong."""
    traces = [t for e in operands for t in e.traces]
    if not traces:
        return error
    from symgrad.analysis.explain.product_of_gradients import (
        by_parts,  # for start-up time: only a message needs it
    )

    names = {
        n: name for e in reversed(operands) for listing in e.listings for n, name in listing.name_of().items()
    }
    found = by_parts([e.node for e in operands], traces, None, names)
    if found is None:
        return error
    cure = found.code[1] if len(found.code) > 1 else error.cure
    return type(error)(f"{error.what}\n\n{found}\n", at=error.at, expected=error.expected, cure=cure)


def _with_names(error: ShapeError, operands: Sequence[Handle]) -> ShapeError:
    named = [f"{e.name} has shape {shape_text(e.node.shape)}" for e in operands if e.name is not None]
    what = f"{error.what} ({', '.join(dict.fromkeys(named))})" if named else error.what
    terms = [(e.name, e.node.shape) for e in operands if e.name is not None]
    cure = fitting(*terms) if len(terms) == len(operands) == 2 and "broadcast" in error.what else None
    return type(error)(what, at=error.at, expected=error.expected, cure=cure or error.cure)
