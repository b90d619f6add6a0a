"""Represent the gradient with respect to an embedding table by its nonzero rows."""

from __future__ import annotations

from typing import NamedTuple

from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.derivatives.targets import Wrt, origins_of, scalar_to_differentiate
from symgrad.api.functions.layout import scatter_add
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula
from symgrad.api.limits import QUOTED_CHARACTERS
from symgrad.autodiff.rows.gathered import pull_back_rows
from symgrad.autodiff.trace import Pullback
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.sizes import Shape
from symgrad.support.errors import UnsupportedError, UsageError


class RowGradient(NamedTuple):
    """A gradient with respect to a table; it is zero except in some rows.

    Attributes:
        ids: the positions of these rows, int[k]. A row may occur several times; its gradient is then the sum. Negative
            positions count from the end, if positions in the program may be negative.
        rows: the gradients of these rows, of shape ``(k, *table.shape[1:])``.
        shape: the shape of the table.
    """

    ids: Expr
    rows: Expr
    shape: Shape

    def dense(self) -> Expr:
        """Return the whole gradient: zeros of the table's shape with the rows added at their positions."""
        return scatter_add(self.rows, self.ids, self.shape)


def row_gradient(y: Formula, table: Wrt) -> RowGradient:
    """Return the gradient of a scalar with respect to a table from which only rows are read, as the rows.

    Wherever the program reads rows by position, ``E[ids]``, the result has the gradient with respect to ``E[ids]``. The
    gradient with respect to the whole table, which is zero elsewhere, is never part of a graph or kernel, so the cost
    does not depend on the length of the table.

    Args:
        y: a scalar.
        table: an input or intermediate value with at least one axis, or its name. Its whole gradient must flow through
            reads of rows, ``E[ids]`` with an int array of any shape; other reads are an error.

    Returns:
        A RowGradient: ``ids, rows = row_gradient(y, E)[:2]``, whose ``.dense()`` is ``grad(y, E)``.

    Raises:
        NotScalarError: if ``y`` is not a scalar.
        NotInProgramError: if the table is not in the program of ``y``.
        UnsupportedError: if the gradient is dense; the message names the other read of the table.
        UsageError: if the table is a scalar, or y has no gradient with respect to it.

    Example:
        >>> import symgrad as sg
        >>> E, ids = sg.tensor("E", ("v", 3)), sg.tensor("ids", ("n",), "int")
        >>> g = sg.row_gradient(sg.sum(E[ids]**2), E)
        >>> print(g.ids, g.rows.canonical())
        ids 2*E[ids]
        >>> E_value, ids_value = [[1.0, 2.0, 3.0]]*4, [3, 0, 3]
        >>> g.dense()(E=E_value, ids=ids_value)
        array([[ 2.,  4.,  6.],
               [ 0.,  0.,  0.],
               [ 0.,  0.,  0.],
               [ 4.,  8., 12.]])
    """
    expr = scalar_to_differentiate(y, "row_gradient")
    found = differentiation_targets(expr, table)
    if len(found) != 1 or not found[0].shape:
        raise UsageError(
            f"row_gradient by {', '.join(map(str, found)) or 'nothing'}",
            expected="one table, of one axis or more",
        )
    node = found[0].node
    parts = pull_back_rows(expr.node, node)
    if parts is None:
        raise UsageError(
            f"'{expr}' has no gradient with respect to '{found[0]}': its rows are not read, or only "
            "inside stop_gradient",
            cure="grad says which kind of nothing it is",
        )
    if isinstance(parts, Pullback):
        raise _dense(expr, found[0], parts)
    ids, rows, trace = parts
    listings = expr.listings
    return RowGradient(
        Expr(ids, listings=listings),
        Expr(rows, listings=listings, traces=(trace,), origins=origins_of([expr]), sources=(node,)),
        node.shape,
    )


def _dense(y: Expr, table: Expr, step: Pullback) -> UnsupportedError:
    reader = Expr(step.node, listings=y.listings)
    text = reader.name or str(reader)
    quoted = f"a {step.node.op.name}" if len(text) > QUOTED_CHARACTERS else f"'{text}'"
    e = table.name or "E"
    cure = f"take the rows first and compute with them, as in tanh({e}[ids]) for tanh({e})[ids]; or use grad"
    if loop_of(step.node) is not None:
        cure = f"take the rows before the steps, X = {e}[ids], and read X[t-1] in them; or use grad"
    return UnsupportedError(
        f"the gradient with respect to '{table}' is dense: {quoted} reads it in another way than rows by position",
        expected=f"{e}[ids] alone",
        cure=cure,
    )
