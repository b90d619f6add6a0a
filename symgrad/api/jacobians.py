"""Derivatives of arrays by arrays: jacobian, batch_jacobian, hessian, hvp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from symgrad.api.differentiate import grad, jvp
from symgrad.api.expr import Expr
from symgrad.api.targets import (
    Wrt,
    differentiable,
    listings_of,
    many,
    nothing_among,
    origins_of,
    targets_of,
)
from symgrad.backward.batch import batch, units
from symgrad.backward.jvp import push_forward
from symgrad.backward.linearise import Guarded
from symgrad.backward.rows import mixing
from symgrad.backward.trace import placeholder
from symgrad.backward.vjp import pull_back
from symgrad.errors import NotScalarError, ShapeError, UnsupportedError, UsageError
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.sizes import Extent, Shape, size_product
from symgrad.ir.types import BOOL, Declaration
from symgrad.ops.contraction import transpose
from symgrad.ops.layout import expand, full, text
from symgrad.ops.logic import ne

__all__ = ["batch_jacobian", "hessian", "hvp", "jacobian"]


def jacobian(y: Expr, x: Wrt | Sequence[Wrt]) -> Any:
    """Return the derivative of every entry of y by every entry of x.

    One symbolic pass for all entries: backwards with a stack of unit cotangents, or forwards with a stack of unit
    tangents where x is known to have no more entries than y.

    Args:
        y: an expression of any shape.
        x: an input or intermediate expression (or its name), or a list of them.

    Returns:
        An Expr of shape ``y.shape + x.shape``, or a list of them for a list.

    Raises:
        NotInProgramError: if ``x`` does not occur in the program of ``y``.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> W, x = sg.tensor("W", (2, 3)), sg.tensor("x", (3,))
        >>> J = sg.jacobian(W @ x, W)
        >>> J.shape
        (2, 2, 3)
        >>> J(x=[1.0, 2.0, 3.0])[0]
        array([[1., 2., 3.],
               [0., 0., 0.]])
    """
    expr = differentiable(y)
    by = targets_of(expr, x)
    made = [_made(expr, _jacobian(expr.node, e.node), e.node) for e in by]
    return made if isinstance(x, list | tuple) else made[0]


def batch_jacobian(y: Expr, x: Wrt) -> Expr:
    """Return the derivative of every row of y by the same row of x, with TensorFlow's meaning.

    Args:
        y: an expression of shape (b, ...).
        x: an input or intermediate expression of shape (b, ...). Row i of y depends on row i of x alone.

    Returns:
        An Expr of shape ``(b,) + y.shape[1:] + x.shape[1:]``.

    Raises:
        ShapeError: if y and x do not have the same number of rows.
        UnsupportedError: if an equation between x and y may mix rows. (TensorFlow then returns a sum over rows.)

    Example:
        >>> import symgrad as sg
        >>> X, W = sg.tensor("X", ("n", 3)), sg.tensor("W", (3, 2))
        >>> sg.batch_jacobian(sg.tanh(X @ W), X).shape
        ('n', 2, 3)
    """
    expr = differentiable(y)
    (target,) = targets_of(expr, [x])
    top, bottom = expr.node, target.node
    if not top.shape or not bottom.shape or top.shape[0] != bottom.shape[0]:
        raise ShapeError(
            f"batch_jacobian of an array of shape {text(top.shape)} by one of shape {text(bottom.shape)}",
            expected="the same first size",
            cure="jacobian(y, x) takes any shapes",
        )
    mixed = mixing(top, bottom)
    if mixed is not None:
        raise UnsupportedError(
            f"the rows may depend on each other: {mixed.op.name} gives shape {text(mixed.shape)} from "
            + " and ".join(text(a.shape) for a in mixed.args),
            expected="row i of y made of row i of x alone",
            cure="take the diagonal of J = jacobian(y, x): numpy.einsum('bibj->bij', J) for matrices",
        )
    rows, own = top.shape[0], top.shape[1:]
    # The same unit cotangent for every row: as no row sees another, all rows are answered at once.
    k = len(own)
    cotangent, stack = _stacked(top, full(expand(units(own), [k]), (*own, *top.shape)))
    trace = pull_back([top], [cotangent], [bottom])
    if trace.nothing[0] is not None:
        return _made(expr, None, bottom, (rows, *own, *bottom.shape[1:]))
    (stacked,) = batch(trace.gradients, stack, own)
    order = [k, *range(k), *range(k + 1, k + len(bottom.shape))]
    return _made(expr, transpose(stacked, order) if k else stacked, bottom, (rows, *own, *bottom.shape[1:]))


def hessian(y: Expr, x: Wrt | Sequence[Wrt]) -> Any:
    """Return all second derivatives of a scalar.

    Args:
        y: a scalar expression.
        x: an input or intermediate expression (or its name), or a list of them.

    Returns:
        An Expr of shape ``x.shape + x.shape``; for a list, a list of rows of blocks, block i, j of shape
        ``x[i].shape + x[j].shape``.

    Raises:
        NotScalarError: if ``y`` is not a scalar.
        NotInProgramError: if ``x`` does not occur in the program of ``y``.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", (2,))
        >>> sg.hessian(sg.sum(x**3), x)(x=[1.0, 2.0])
        array([[ 6.,  0.],
               [ 0., 12.]])
    """
    expr = _scalar(y, "hessian", "jacobian(jacobian(y, x), x) has the second derivatives of every entry")
    by = targets_of(expr, x)
    slopes = cast("list[Expr]", grad(expr, by))
    rows = [[_block(expr, slope, a.node, b.node) for b in by] for slope, a in zip(slopes, by, strict=True)]
    return rows if isinstance(x, list | tuple) else rows[0][0]


def hvp(y: Expr, x: Wrt | Sequence[Wrt], v: Any) -> Any:
    """Return the Hessian times a vector, without the Hessian: the gradient's derivative along v.

    Args:
        y: a scalar expression.
        x: an input or intermediate expression (or its name), or a list of them.
        v: an Expr of the shape of x (or a number for all its entries), one for each of x.

    Returns:
        An Expr of the shape of x, or a list of them for a list.

    Raises:
        NotScalarError: if ``y`` is not a scalar.
        ShapeError: if v has another shape than x.

    Example:
        >>> import symgrad as sg
        >>> x, v = sg.tensor("x", (2,)), sg.tensor("v", (2,))
        >>> sg.hvp(sg.sum(x**3), x, v)(x=[1.0, 2.0], v=[1.0, 1.0])
        array([ 6., 12.])
    """
    expr = _scalar(y, "hvp", "jvp(vjp(y, x, cotangent), x, v) weighs the entries")
    by = targets_of(expr, x)
    given = list(many(v))
    if len(given) != len(by):
        raise UsageError(f"{len(given)} vectors for {len(by)} xs", expected="one for each")
    slopes = cast("list[Expr]", grad(expr, by))
    moved = cast("list[Expr]", jvp(slopes, by, given))
    made = [
        Expr(
            m.node, listings=m.listings, nothing=s.nothing or m.nothing, origins=m.origins, sources=m.sources
        )
        for s, m in zip(slopes, moved, strict=True)
    ]
    return made if isinstance(x, list | tuple) else made[0]


def _scalar(y: Any, verb: str, cure: str) -> Expr:
    expr = differentiable(y)
    if expr.shape:
        raise NotScalarError(f"{verb} needs a scalar, got shape {text(expr.node.shape)}", cure=cure)
    return expr


def _block(y: Expr, slope: Expr, a: Node, b: Node) -> Expr:
    """Return the derivative of a gradient by b; where it is nothing, it is named by how y depends on a and b."""
    found = None if slope.nothing else _jacobian(slope.node, b)
    if found is not None:
        return _made(slope, found, b)
    return Expr(
        full(as_node(0), (*a.shape, *b.shape)),
        listings=y.listings,
        nothing=slope.nothing or nothing_among(y.node, [b]),
        origins=origins_of([slope]),
        sources=(a, b),
    )


def _made(y: Expr, found: Node | None, x: Node, shape: Shape | None = None) -> Expr:
    return Expr(
        full(as_node(0), (*y.node.shape, *x.shape) if shape is None else shape) if found is None else found,
        listings=listings_of([y]),
        nothing=nothing_among(y.node, [x]) if found is None else None,
        origins=origins_of([y]),
        sources=(x,),
    )


def _jacobian(y: Node, x: Node) -> Node | None:
    """Return the derivative of y by x, of shape y.shape + x.shape; None if it is nothing."""
    if x.dtype != "real":
        return None
    return forwards(y, x) if _magnitude(x) <= _magnitude(y) else backwards(y, x)


def _magnitude(node: Node) -> tuple[int, int]:
    """Return how many entries a node has, as the highest power of named sizes (which count as large) and its factor."""
    size = size_product(node.shape)
    if isinstance(size, Extent):
        return max((len(monomial), factor) for monomial, factor in size.terms)
    return (0, size) if isinstance(size, int) else (1, 1)


def _stacked(node: Node, stack: Node) -> tuple[Guarded, dict[Node, Node]]:
    """Return a symbol for a tangent or cotangent of a node, and what it and its guard are for a stack of unit arrays.

    The zeros of a unit array are strong zeros, for which a guard stands: as numbers alone they would meet an infinite
    partial, that of sqrt at 0 in another entry, and make NaN.
    """
    one = placeholder(node)
    if stack.shape == node.shape or not node.shape:
        return Guarded(None, one), {one: stack}
    here = symbol(Declaration("__unit", BOOL, node.shape))
    return Guarded(here, one, settled=True), {one: stack, here: ne(stack, as_node(0))}


def forwards(y: Node, x: Node) -> Node | None:
    """Return the Jacobian by one push forward of all unit tangents of x (internal)."""
    tangent, stack = _stacked(x, units(x.shape))
    (moved,) = push_forward([y], {x: tangent})
    if moved.is_number(0):
        return None
    (stacked,) = batch([moved], stack, x.shape)
    k = len(x.shape)
    order = [*range(k, k + len(y.shape)), *range(k)]
    return transpose(stacked, order) if k and y.shape else stacked


def backwards(y: Node, x: Node) -> Node | None:
    """Return the Jacobian by one pull back of all unit cotangents of y (internal)."""
    cotangent, stack = _stacked(y, units(y.shape))
    trace = pull_back([y], [cotangent], [x])
    if trace.nothing[0] is not None:
        return None
    return batch(trace.gradients, stack, y.shape)[0]
