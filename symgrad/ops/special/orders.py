"""Functions of an order and an argument: formulas for one order at a time, without derivatives in the order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from symgrad.ir.exact import nearest_float
from symgrad.ir.graph import Node
from symgrad.ir.op import Builder, Lane
from symgrad.ops.numpy_builder import ARRAYS
from symgrad.support.errors import UnsupportedError

Code: TypeAlias = "Callable[[Builder, float, Lane], Lane | None]"
"""The value at one order, or None if there is no formula."""


_LARGEST_ORDER, _REACH = 100, 1e4  # for larger ones mpmath takes minutes, so values are NaN


def no_derivative(name: str) -> Callable[[Node, Node, Node], Node]:
    """Return the partial with respect to the order, which raises an error, since it has no closed form."""

    def refuse(_out: Node, _n: Node, _x: Node) -> Node:
        raise UnsupportedError(
            f"the derivative of {name}(n, x) with respect to its order n has no closed form",
            expected=f"an order of {name} that does not depend on the variable of differentiation",
            cure="differentiate with respect to x, or put stop_gradient around the order",
        )

    return refuse


def values_by_order(code: Code, reference: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the evaluation of arrays by a formula for each order, in float64, or by mpmath if there is no formula."""

    def evaluate(n: Any, x: Any) -> Any:
        dtype = np.result_type(n, x)
        dtype = dtype if dtype.kind == "f" else np.dtype(float)
        orders, points = np.broadcast_arrays(np.asarray(n, float), np.asarray(x, float))
        values = np.full(points.shape, np.nan)
        for order in np.unique(orders[~np.isnan(orders)]):
            here = orders == order
            found = code(ARRAYS, float(order), points[here]) if np.isfinite(order) else None
            values[here] = _by_mpmath(reference, float(order), points[here]) if found is None else found
        return values.astype(dtype)[()]

    return evaluate


def _by_mpmath(reference: Callable[[Any, Any, Any], Any], order: float, points: Any) -> Any:
    import mpmath  # for start-up time

    mp: Any = mpmath.mp
    if not abs(order) <= _LARGEST_ORDER:
        return np.full(points.shape, np.nan)
    found = [
        float(reference(mp, mp.mpf(order), mp.mpf(float(x)))) if abs(x) <= _REACH else np.nan for x in points
    ]
    return np.array(found, float)


def number_of(node: Node) -> float | None:
    """Return the value of a number or a quotient of numbers; None for any other node."""
    if node.is_number() and not isinstance(node.value, bool):
        return nearest_float(node.value)
    parts = [number_of(a) for a in node.args] if node.op.name in ("neg", "div") else []
    if len(parts) == 1 and parts[0] is not None:
        return -parts[0]
    if len(parts) == 2 and parts[0] is not None and parts[1]:
        return parts[0] / parts[1]
    return None


BY_ORDER: set[str] = set()
"""Ops whose code is for one order at a time; the order is the first argument."""


def code_of_order(name: str, code: Code, orders: str) -> Callable[[Builder, Node, Lane, Lane], Lane]:
    """Return the lowering by a formula for each order.

    Args:
        name: the name of the op.
        code: the formulas.
        orders: the orders with a formula, in words.
    """
    BY_ORDER.add(name)

    def lower(b: Builder, node: Node, _n: Lane, x: Lane) -> Lane:
        order = number_of(node.args[0])
        value = None if order is None else code(b, order, x)
        if value is None:
            raise UnsupportedError(
                f"{name} of {'an order that is a variable' if order is None else f'order {order:g}'} "
                "has no native code",
                expected=f"an order that is written as a number: {orders}",
                cure="give the order as a number, or evaluate without compiling",
            )
        return value

    return lower
