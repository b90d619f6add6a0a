"""``numpy.cumprod`` as a recurrence: its derivatives are recurrences, which are correct at entries that are 0."""

from __future__ import annotations

from typing import Any

from symgrad.autodiff.recurrences import recur
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.types import Declaration
from symgrad.ops.array.layout import slice_rows
from symgrad.ops.numpy.calls import flattened, moveaxis
from symgrad.ops.scalar.arith import mul


def cumprod(x: Node, axis: Any = None) -> Node:
    """Return the running products along an axis, or of the flattened array: ``numpy.cumprod``.

    Example:
        >>> from symgrad.ir.values.evaluate import evaluate
        >>> x = symbol(Declaration("x", shape=(3,)))
        >>> evaluate([cumprod(x)], {x: [2.0, 0.0, 5.0]})[0].tolist()
        [2.0, 0.0, 0.0]
    """
    x, at = flattened(x, axis)
    rows = moveaxis(x, at, 0)
    before, entry = (symbol(Declaration(name, shape=rows.shape[1:])) for name in ("before", "entry"))
    (values,) = recur([as_node(1)], [before], [mul(before, entry)], {entry: rows}, rows.shape[0])
    return moveaxis(slice_rows(values, 1, None), 0, at)
