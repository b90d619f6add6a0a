"""Derivatives of arrays with respect to arrays: jacobian, batch_jacobian, hessian, hvp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from symgrad.api.derivatives.derivative_table import DerivativeList
from symgrad.api.derivatives.differentiate import grad, jvp
from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.derivatives.entries import by_entries
from symgrad.api.derivatives.targets import (
    Wrt,
    Wrts,
    differentiables,
    one_per_expression,
    origins_of,
    prints_in_names,
    record_of,
    scalar_to_differentiate,
)
from symgrad.api.handles.construction import parts_of
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula, Formulas
from symgrad.autodiff.batch import batch, units
from symgrad.autodiff.jacobians import jacobian_blocks, unit_seeds
from symgrad.autodiff.rows.independence import find_row_mixing
from symgrad.autodiff.vjp import pull_back
from symgrad.autodiff.zeros import classify, unmoved
from symgrad.ir.graph import Node, as_node
from symgrad.ir.listing import Derivative
from symgrad.ir.sizes import Shape
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.layout import expand, full, shape_text
from symgrad.support.errors import ShapeError, UnsupportedError


@overload
def jacobian(y: Formula, x: Wrt) -> Expr: ...
@overload
def jacobian(y: Formula, x: Wrts) -> DerivativeList: ...
@overload
def jacobian(y: Formulas, x: Wrt) -> DerivativeList: ...
@overload
def jacobian(y: Formulas, x: Wrts) -> DerivativeList: ...
@by_entries
def jacobian(y: Formula | Formulas, x: Wrt | Wrts) -> Any:
    """Return the derivative of every entry of y with respect to every entry of x.

    One symbolic pass gives all entries. If x is known to have no more entries than y, it is a forward pass with a stack
    of unit tangents, one for each entry of x. Otherwise it is a backward pass with a stack of unit cotangents, one for
    each entry of y.

    Args:
        y: an expression of any shape, or a list of them.
        x: an input or intermediate expression (or its name), or a list of them.

    Returns:
        An Expr of shape ``y.shape + x.shape``. For a list of x, a list with one Expr for each x; for a list of y, a
        list with one Expr for each y; if both are lists, a list of rows, where row i has the derivatives of y[i].
        Functions accept such lists as arrays: ``sg.linalg.det(sg.jacobian([a, b], [x, y]))``; ``sg.arrays.stack(rows)``
        is the array itself.

    Raises:
        NotInProgramError: if ``x`` does not occur in the program of ``y``.
        UsageError: if there is nothing to differentiate.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> W, x = sg.tensor("W", (2, 3)), sg.tensor("x", (3,))
        >>> J = sg.jacobian(W @ x, W)
        >>> J.shape
        (2, 2, 3)
        >>> J(x=[1.0, 2.0, 3.0])[0]
        array([[1., 2., 3.],
               [0., 0., 0.]])
        >>> r, t = sg.symbols("r t")
        >>> rows = sg.jacobian([r*sg.cos(t), r*sg.sin(t)], [r, t])
        >>> [[str(e) for e in row] for row in rows]
        [['cos(t)', '-r*sin(t)'], ['sin(t)', 'r*cos(t)']]
        >>> sg.arrays.stack(rows).shape
        (2, 2)
    """
    ys = differentiables(y)
    by = differentiation_targets(ys, x)
    return _as_passed(_derivatives(ys, by), [(e, [w]) for e in ys for w in by], y, x)


@overload
def batch_jacobian(y: Formula, x: Wrt) -> Expr: ...
@overload
def batch_jacobian(y: Formula, x: Wrts) -> DerivativeList: ...
@overload
def batch_jacobian(y: Formulas, x: Wrt) -> DerivativeList: ...
@overload
def batch_jacobian(y: Formulas, x: Wrts) -> DerivativeList: ...
@by_entries
def batch_jacobian(y: Formula | Formulas, x: Wrt | Wrts) -> Any:
    """Return the derivative of every row of y with respect to the same row of x, as in TensorFlow.

    Args:
        y: an expression of shape (b, ...), or a list of them.
        x: an input or intermediate expression of shape (b, ...), or a list of them. Row i of y must depend only on row
            i of x.

    Returns:
        An Expr of shape ``(b,) + y.shape[1:] + x.shape[1:]``; lists as in `jacobian`.

    Raises:
        ShapeError: if y and x do not have the same number of rows.
        UnsupportedError: if an equation between x and y may mix rows. (TensorFlow then returns a sum over rows.)

    Example:
        >>> import symgrad as sg
        >>> X, W = sg.tensor("X", ("n", 3)), sg.tensor("W", (3, 2))
        >>> sg.batch_jacobian(sg.tanh(X @ W), X).shape
        ('n', 2, 3)
    """
    ys = differentiables(y)
    by = differentiation_targets(ys, x)
    rows = [[_rows(e, target.node) for target in by] for e in ys]
    return _as_passed(rows, [(e, [w]) for e in ys for w in by], y, x)


def _rows(expr: Expr, bottom: Node) -> Expr:
    """Return the batch Jacobian of one expression with respect to one node."""
    top = expr.node
    if not top.shape or not bottom.shape or top.shape[0] != bottom.shape[0]:
        raise ShapeError(
            f"batch_jacobian of an array of shape {shape_text(top.shape)} with respect to "
            f"one of shape {shape_text(bottom.shape)}",
            expected="the same first size",
            cure="jacobian(y, x) takes any shapes",
        )
    mixed = find_row_mixing(top, bottom)
    if mixed is not None:
        raise UnsupportedError(
            f"the rows may depend on each other: {mixed.op.name} gives shape {shape_text(mixed.shape)} from "
            + " and ".join(shape_text(a.shape) for a in mixed.args),
            expected="row i of y made of row i of x alone",
            cure="take the diagonal of J = jacobian(y, x): numpy.einsum('bibj->bij', J) for matrices",
        )
    rows, own = top.shape[0], top.shape[1:]
    shape = (rows, *own, *bottom.shape[1:])
    # Rows are independent, so one pass with the same unit cotangent in every row gives all rows.
    k = len(own)
    cotangent, stack = unit_seeds(top, full(expand(units(own), [k]), (*own, *top.shape)))
    trace = pull_back([top], [cotangent], [bottom])
    if trace.nothing[0] is not None:
        return _no_derivative(expr, bottom, trace.nothing[0], shape)
    (stacked,) = batch(trace.gradients, stack, own)
    order = [k, *range(k), *range(k + 1, k + len(bottom.shape))]
    return _derivative(expr, transpose(stacked, order) if k else stacked, bottom, batched=True)


@overload
def hessian(y: Formula, x: Wrt) -> Expr: ...
@overload
def hessian(y: Formula, x: Wrts) -> DerivativeList: ...
@by_entries
def hessian(y: Formula, x: Wrt | Wrts) -> Any:
    """Return the Hessian of a scalar: all its second derivatives.

    Args:
        y: a scalar expression.
        x: an input or intermediate expression (or its name), or a list of them.

    Returns:
        An Expr of shape ``x.shape + x.shape``. For a list, a list of rows of blocks; block i, j has the shape
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
    cure = "jacobian(jacobian(y, x), x) has the second derivatives of every entry"
    expr = scalar_to_differentiate(y, "hessian", cure)
    by = differentiation_targets(expr, x)
    slopes = grad(expr, by)
    wrt = [e.node for e in by]
    # How y depends on both variables tells the reason why a block is zero.
    reasons = classify([expr.node], wrt, ())
    moving = list(dict.fromkeys(s.node for s in slopes if s.nothing is None))
    found = dict(zip(moving, jacobian_blocks(moving, wrt), strict=True))
    rows: list[list[Expr]] = []
    for slope in slopes:
        blocks = found[slope.node] if slope.nothing is None else [None] * len(by)
        rows.append(
            [
                _no_derivative(slope, b, slope.nothing or reason)
                if block is None
                else _derivative(slope, block, b)
                for b, block, reason in zip(wrt, blocks, reasons, strict=True)
            ]
        )
    return _as_passed(rows, [(expr, [a, b]) for a in by for b in by], x, x)


@overload
def hvp(y: Formula, x: Wrt, v: Any) -> Expr: ...
@overload
def hvp(y: Formula, x: Wrts, v: Any) -> DerivativeList: ...
@by_entries
def hvp(y: Formula, x: Wrt | Wrts, v: Any) -> Any:
    """Return the Hessian times a vector, without computing the Hessian: the derivative of the gradient along v.

    Args:
        y: a scalar expression.
        x: an input or intermediate expression (or its name), or a list of them.
        v: an Expr or array of the shape of x, or a number for all its entries; for a list of x, a list with one for
            each.

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
    expr = scalar_to_differentiate(y, "hvp", "jvp(vjp(y, x, cotangent), x, v) weighs the entries")
    by = differentiation_targets(expr, x)
    vectors = one_per_expression(v, not isinstance(x, list | tuple), len(by), "vectors", "xs")
    slopes = grad(expr, by)
    products = [
        Expr(
            m.node,
            listings=m.listings,
            nothing=s.nothing or m.nothing,
            origins=m.origins,
            sources=m.sources,
            slope=m.slope,
            in_names=prints_in_names([s]),
            parts=m.parts,
        )
        for s, m in zip(slopes, jvp(slopes, by, vectors), strict=True)
    ]
    return DerivativeList(products) if isinstance(x, list | tuple) else products[0]


def _as_passed(
    rows: list[list[Expr]], of: Sequence[tuple[Expr, Sequence[Expr]]], y: Any, x: Any
) -> Expr | DerivativeList:
    """Arrange derivatives as rows (one per y) of entries (one per x); a bare argument gives a bare result."""
    found: list[Any] = rows if isinstance(x, list | tuple) else [row[0] for row in rows]
    if isinstance(y, list | tuple):
        return DerivativeList(found, of)
    return DerivativeList(found[0], of) if isinstance(x, list | tuple) else found[0]


def _derivatives(ys: Sequence[Expr], by: Sequence[Expr]) -> list[list[Expr]]:
    tops, bottoms = [y.node for y in ys], [x.node for x in by]
    rows = jacobian_blocks(tops, bottoms)
    # One traversal classifies one y against all xs, or one x against all ys; the way with fewer traversals is taken.
    if len(ys) > len(by):
        columns = [unmoved(tops, [x]) for x in bottoms]
        reasons = [[column[i] for column in columns] for i in range(len(ys))]
    else:
        reasons = [
            classify([y], bottoms, ()) if None in row else [""] * len(by)
            for y, row in zip(tops, rows, strict=True)
        ]
    return [
        [
            _no_derivative(y, x, why) if found is None else _derivative(y, found, x)
            for x, found, why in zip(bottoms, row, whys, strict=True)
        ]
        for y, row, whys in zip(ys, rows, reasons, strict=True)
    ]


def _derivative(y: Expr, node: Node, x: Node, *, batched: bool = False) -> Expr:
    """Return an Expr of a node as the derivative dy/dx; if not batched, extend the record of y by one order."""
    of = None if batched else record_of(y)
    known = None if of is None else Derivative(of.y, (*of.by, x))
    scalar = known is not None and not y.shape and not x.shape
    return Expr(
        node,
        listings=y.listings,
        origins=origins_of([y]),
        sources=(x,),
        slope=known if scalar else None,
        in_names=prints_in_names([y]) and (known or True),
        parts=parts_of([y]),
    )


def _no_derivative(y: Expr, x: Node, reason: str, shape: Shape | None = None) -> Expr:
    """Return zeros of the shape of the derivative, with the reason why it is zero."""
    zeros = full(as_node(0), (*y.node.shape, *x.shape) if shape is None else shape)
    return Expr(zeros, listings=y.listings, nothing=str(reason), origins=origins_of([y]), sources=(x,))
