"""Evaluation without compiling: one walk, op by op, in NumPy or at any precision in mpmath."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import MissingInputError, NumberTooLargeError
from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.traverse import topological

__all__ = ["CONSTANT_VALUES", "evaluate", "evaluate_mp"]

CONSTANT_VALUES = {
    "pi": math.pi,
    "E": math.e,
    "EulerGamma": 0.57721566490153286,
    "Catalan": 0.91596559417721901,
    "GoldenRatio": 1.6180339887498949,
}

_MP_CONSTANTS = {"pi": "pi", "E": "e", "EulerGamma": "euler", "Catalan": "catalan", "GoldenRatio": "phi"}


def evaluate(outputs: Sequence[Node], values: Mapping[Node, Any]) -> list[Any]:
    """Evaluate nodes in NumPy float64, operation by operation as written.

    Args:
        outputs: the nodes wanted.
        values: a number or array for every symbol (or intermediate node) that they read; these broadcast.

    Returns:
        One array or NumPy scalar per output. Outside an op's domain the value is NaN or an infinity, without
        a warning.

    Raises:
        MissingInputError: if a symbol has no value.
        NumberTooLargeError: if a constant such as 9**9**9**9 does not fit a float.
    """
    order = topological(outputs, until=values)
    results: dict[Node, Any] = {}
    constants: set[Node] = set()
    with np.errstate(all="ignore"):
        for node in order:
            if node in values:
                results[node] = values[node]
            elif node.op is NUMBER:
                results[node] = _float(node.value)
                constants.add(node)
            elif node.op is CONSTANT:
                results[node] = np.float64(CONSTANT_VALUES[node.params[0]])
                constants.add(node)
            elif node.op is SYMBOL:
                raise MissingInputError(
                    f"'{node.name}' has no value", cure=f"pass {node.name}=... ({node.declaration})"
                )
            else:
                result = node.op.evaluate(*node.params, *(results[a] for a in node.args))
                results[node] = result
                if all(a in constants for a in node.args):
                    constants.add(node)
                    if np.isinf(result):
                        raise too_large(node)
    return [results[o] for o in outputs]


def too_large(node: Node) -> NumberTooLargeError:
    """The error for a constant subexpression that overflows."""
    return NumberTooLargeError(
        f"a constant ({node.op.name} of numbers) is infinite, or beyond the largest float, about 1.8e308",
        cure="keep it symbolic, or take its logarithm",
    )


def _float(value: int | Fraction | bool) -> Any:
    if isinstance(value, bool):
        return np.bool_(value)
    try:
        return np.float64(float(value))
    except OverflowError:
        raise NumberTooLargeError(
            f"a number with {len(str(abs(value).__floor__()))} digits is beyond the largest float",
            cure="keep it symbolic, or take its logarithm",
        ) from None


def evaluate_mp(mp: Any, outputs: Sequence[Node], values: Mapping[Node, Any]) -> list[Any]:
    """Evaluate nodes with mpmath at the precision of the given context.

    Args:
        mp: an mpmath context (``mpmath.mp`` or a private ``mpmath.MPContext()``), its precision set by the
            caller.
        outputs: the nodes wanted.
        values: an mpf, int, Fraction-free number or bool for every symbol that they read.
    """
    results: dict[Node, Any] = {}
    for node in topological(outputs, until=values):
        if node in values:
            results[node] = values[node]
        elif node.op is NUMBER:
            value = node.value
            results[node] = value if isinstance(value, bool) else mp.mpf(value.numerator) / value.denominator
        elif node.op is CONSTANT:
            results[node] = +getattr(mp, _MP_CONSTANTS[node.params[0]])
        elif node.op is SYMBOL:
            raise MissingInputError(
                f"'{node.name}' has no value", cure=f"pass a value for {node.declaration}"
            )
        else:
            results[node] = node.op.reference(mp, *node.params, *(results[a] for a in node.args))
    return [results[o] for o in outputs]
