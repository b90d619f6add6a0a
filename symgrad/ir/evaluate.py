"""Evaluation without compiling: one walk, op by op, in NumPy or at any precision in mpmath."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import MissingInputError, NumberTooLargeError, ShapeError
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.sizes import check_lengths, evaluate_size, resolve, unsure_lengths
from symgrad.ir.traverse import topological

__all__ = ["CONSTANT_VALUES", "evaluate", "evaluate_mp", "sizes_of"]

CONSTANT_VALUES = {
    "pi": math.pi,
    "E": math.e,
    "EulerGamma": 0.57721566490153286,
    "Catalan": 0.91596559417721901,
    "GoldenRatio": 1.6180339887498949,
}

_MP_CONSTANTS = {"pi": "pi", "E": "e", "EulerGamma": "euler", "Catalan": "catalan", "GoldenRatio": "phi"}


def evaluate(
    outputs: Sequence[Node], values: Mapping[Node, Any], given: Mapping[str, int] | None = None
) -> list[Any]:
    """Evaluate nodes in NumPy float64, operation by operation as written.

    Args:
        outputs: the nodes wanted.
        values: a number or array for every symbol (or intermediate node) that they read; these broadcast.
        given: sizes by name, for those that no symbol has in its shape.

    Returns:
        One array or NumPy scalar per output. Outside an op's domain the value is NaN or an infinity, without
        a warning.

    Raises:
        MissingInputError: if a symbol has no value.
        NumberTooLargeError: if a constant such as 9**9**9**9 does not fit a float.
    """
    order = topological(outputs, until=values)
    sizes = sizes_of(order, values, given)
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
            elif node.op is SIZE:
                results[node] = np.int64(evaluate_size(node.params[0], sizes))
            elif node.op is SYMBOL:
                raise MissingInputError(
                    f"'{node.name}' has no value", cure=f"pass {node.name}=... ({node.declaration})"
                )
            else:
                result = _apply(node, sizes, [results[a] for a in node.args])
                results[node] = result
                if node.op.pointwise and all(a in constants for a in node.args):
                    constants.add(node)
                    if np.isinf(result):
                        raise too_large(node)
    return [_own(results[o]) for o in outputs]


def _apply(node: Node, sizes: Mapping[str, int], arrays: Sequence[Any]) -> Any:
    params = node.params if node.op.pointwise else resolve(node.params, sizes)
    return node.op.evaluate(*params, *arrays)


def _own(result: Any) -> Any:
    """Return a result that can be written to: a broadcast view repeats one number in memory."""
    return result if getattr(result, "ndim", 0) == 0 or result.flags.writeable else np.array(result)


def sizes_of(
    order: Sequence[Node], values: Mapping[Node, Any], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the value of every named size, from the shapes of the given arrays.

    Raises:
        ShapeError: if an array program (one with an op that is not elementwise) is given an array of another rank or
            size than declared: only elementwise programs broadcast over further axes. If a computed size is negative.
    """
    structural = any(n.op is SIZE or not n.op.pointwise for n in order)
    sizes = dict(given or {})
    owner: dict[str, Node] = {}
    for node, value in values.items():
        actual = np.shape(value)
        if len(actual) != len(node.shape):
            if structural and node in order:
                raise ShapeError(
                    f"{_called(node)} has shape {actual}",
                    expected=f"{len(node.shape)} axes: {node.declaration if node.op is SYMBOL else node.shape}",
                    cure="an array program takes arrays of the declared shapes; compile it to call it on a batch",
                )
            continue
        for size, found in zip(node.shape, actual, strict=True):
            if isinstance(size, str):
                known = sizes.setdefault(size, found)
                if known != found:
                    raise ShapeError(
                        f"size {size} is {known} {_in(owner.get(size))} and {found} in {_called(node)}",
                        expected="one size for one name",
                    )
                owner.setdefault(size, node)
    check_lengths(unsure_lengths(n.shape for n in order if n not in values), sizes)
    return sizes


def _in(owner: Node | None) -> str:
    return "as given" if owner is None else f"in {_called(owner)}"


def _called(node: Node) -> str:
    return f"'{node.name}'" if node.op is SYMBOL else f"the value of {node!r}"


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
            f"a number with {Decimal(value.__floor__()).adjusted() + 1} digits is beyond the largest float",
            cure="keep it symbolic, or take its logarithm",
        ) from None


def evaluate_mp(mp: Any, outputs: Sequence[Node], values: Mapping[Node, Any]) -> list[Any]:
    """Evaluate nodes with mpmath at the precision of the given context.

    Args:
        mp: an mpmath context (``mpmath.mp`` or a private ``mpmath.MPContext()``), its precision set by the
            caller.
        outputs: the nodes wanted.
        values: an mpf, int, Fraction-free number or bool for every symbol that they read, or an array of them
            (of dtype object) for one with a shape.
    """
    sizes = sizes_of(topological(outputs, until=values), values)
    results: dict[Node, Any] = {}
    for node in topological(outputs, until=values):
        if node in values:
            results[node] = values[node]
        elif node.op is NUMBER:
            value = node.value
            results[node] = value if isinstance(value, bool) else mp.mpf(value.numerator) / value.denominator
        elif node.op is CONSTANT:
            results[node] = +getattr(mp, _MP_CONSTANTS[node.params[0]])
        elif node.op is SIZE:
            results[node] = mp.mpf(evaluate_size(node.params[0], sizes))
        elif node.op is SYMBOL:
            raise MissingInputError(
                f"'{node.name}' has no value", cure=f"pass a value for {node.declaration}"
            )
        else:
            results[node] = _exact(mp, node, sizes, [results[a] for a in node.args])
    return [results[o] for o in outputs]


def _exact(mp: Any, node: Node, sizes: Mapping[str, int], args: Sequence[Any]) -> Any:
    op = node.op
    if not op.pointwise:
        return op.reference(mp, *resolve(node.params, sizes), *args)
    if any(isinstance(a, np.ndarray) for a in args):
        one = np.frompyfunc(lambda *entries: op.reference(mp, *node.params, *entries), len(args), 1)
        return one(*args)
    return op.reference(mp, *node.params, *args)
