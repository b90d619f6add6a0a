"""Find the scale of a formula: sizes of inputs at which terms of a sum, and arguments of a function, are similar.

A formula in SI units contains numbers such as 5.3e-11, and is used at inputs such as 1e30, for which its parts are near
1. If a form loses digits by multiplying out such numbers, only such inputs show it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import CONSTANT, NUMBER, Node
from symgrad.ops.scalar.arith import add
from symgrad.rewrite.choice.float_values import wide_of

_FAR = 40.0
"""Largest exponent (of two) of a number in the equations between sizes for which ordinary points suffice."""

_FURTHEST = 900.0
"""Largest exponent (of two) of an input: floats end at 1023."""

_HIGHEST = 1000
"""Bound on the exponent of a power."""

_SAME = frozenset(("neg", "abs", "stop_gradient"))
_ROOTS = {"sqrt": 1 / 2, "cbrt": 1 / 3}


def natural_scale(order: Sequence[Node], leaves: Sequence[Node]) -> list[float] | None:
    """Return the exponent (of two) of each input's size; None without numbers far from 1, or without such sizes.

    The logarithm of a product is a sum, so terms of equal size are a system of linear equations.

    Args:
        order: the nodes of a graph, arguments first.
        leaves: the leaves of the graph.
    """
    if not any(n.op is NUMBER and n.dtype != "bool" and abs(_log(n)) > _FAR / 4 for n in order):
        return None
    place = {leaf: k for k, leaf in enumerate(leaves)}
    nothing = np.zeros(len(leaves) + 1)
    sizes: dict[Node, Any] = {}
    rows: list[Any] = []
    for n in order:
        if n in place:
            sizes[n] = nothing.copy()
            sizes[n][place[n]] = n.dtype == "real"
            continue
        args = [sizes[a] for a in n.args]
        name = n.op.name
        sizes[n] = nothing
        if n.op is NUMBER or n.op is CONSTANT:
            sizes[n] = nothing.copy()
            sizes[n][-1] = _log(n)
        elif name == "mul":
            sizes[n] = args[0] + args[1]
        elif name == "div":
            sizes[n] = args[0] - args[1]
        elif name in _SAME:
            sizes[n] = args[0]
        elif name in _ROOTS:
            sizes[n] = args[0] * _ROOTS[name]
        elif name == "pow" and n.args[1].is_number() and abs(n.args[1].value) < _HIGHEST:
            sizes[n] = args[0] * float(n.args[1].value)
        elif name == "where":
            sizes[n] = args[1]
        elif n.op is add or (len(args) == 2 and n.op.switches):
            rows.append(args[0] - args[1])
            sizes[n] = args[1] if n.args[0].is_number() else args[0]
        else:
            rows += [a for a, node in zip(args, n.args, strict=True) if node.dtype != "bool"]
    rows = [row for row in rows if row[:-1].any()]
    if not rows or max(abs(row[-1]) for row in rows) <= _FAR:
        return None
    system = np.unique(np.round(rows, 6), axis=0)
    found = np.linalg.lstsq(system[:, :-1], -system[:, -1], rcond=None)[0]
    if not np.isfinite(found).all() or np.abs(found).max() <= _FAR / 2:
        return None
    return np.clip(found, -_FURTHEST, _FURTHEST).tolist()


def _log(n: Node) -> float:
    """Return the exponent (of two) of the size of a number."""
    if n.op is CONSTANT:
        return math.log2(abs(float(wide_of(n, []))))
    if isinstance(n.value, bool) or not n.value:
        return 0.0
    return float(abs(n.value.numerator).bit_length() - n.value.denominator.bit_length())
