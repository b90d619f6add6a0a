"""Evaluation without compiling: op by op in topological order, in NumPy or at any precision in mpmath."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.bounds import check_arrays, machine_memory, out_of_memory
from symgrad.ir.exact import CONSTANTS, float_of
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.sizes import Size, evaluate_size, resolve
from symgrad.ir.traverse import topological
from symgrad.ir.values.bound_sizes import bind_sizes, called, declared
from symgrad.support.errors import MissingInputError, NumberTooLargeError, ShapeError

CONSTANT_VALUES = {name: float(value) for name, value in CONSTANTS.items()}

_MP_CONSTANTS = {"pi": "pi", "E": "e", "EulerGamma": "euler", "Catalan": "catalan", "GoldenRatio": "phi"}
"""The names of the constants in mpmath."""

_MOST_BITS = 100_000
"""The most bits of the magnitude of an argument in mpmath. Without a limit exp(exp(exp(exp(x)))) would never end, since
exp needs as many digits as its argument has bits."""

_FLOAT = np.dtype(np.float64)

_VIEWS = frozenset({"broadcast_to", "slice", "reshape"})
"""Ops whose results may share the memory of their arguments."""


def evaluate(
    outputs: Sequence[Node], values: Mapping[Node, Any], given: Mapping[str, int] | None = None
) -> list[Any]:
    """Evaluate nodes in NumPy float64, operation by operation, unsimplified.

    Args:
        outputs: the nodes.
        values: a number or array for every symbol (or intermediate node) of the outputs; the values broadcast.
        given: sizes by name, for sizes that no symbol has in its shape.

    Returns:
        For each output an array or a NumPy scalar. Outside an op's domain the value is NaN or an infinity, without a
        warning.

    Raises:
        MissingInputError: if a symbol has no value.
        NumberTooLargeError: if a constant such as 9**9**9**9 does not fit a float.
        OutOfMemoryError: if an array takes more memory than there is.
        ShapeError: if an array would have more entries than arrays can have, or an axis a negative length.
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
                result = _apply(node, sizes, [_argument(node, i, results) for i in range(len(node.args))])
                results[node] = result
                if node.op.pointwise and all(a in constants for a in node.args):
                    constants.add(node)
                    if overflows(result, [results[a] for a in node.args]):
                        raise too_large(node)
    return [_own(results[o]) for o in outputs]


def _argument(node: Node, i: int, results: Mapping[Node, Any]) -> Any:
    """Return the value of an argument; a constant position keeps digits beyond the precision of floats."""
    arg = node.args[i]
    if arg.op is NUMBER and node.op.kind_of(i) == "index" and abs(arg.value) < 2**63:
        return np.int64(int(arg.value))
    return results[arg]


def _apply(node: Node, sizes: Mapping[str, int], arrays: Sequence[Any]) -> Any:
    params = node.params if node.op.pointwise else resolve(node.params, sizes)
    _check_memory(node, sizes, arrays)
    try:
        result = node.op.evaluate(*params, *arrays)
        return _unwrapped(node, params, arrays, result) if _counts(result) else result
    except MemoryError:
        raise out_of_memory(
            f"{node.op.name} of arrays of shapes {', '.join(map(str, map(np.shape, arrays)))}"
        ) from None
    except ValueError:
        # NumPy raises ValueError for loops with too many iterations to count.
        check_arrays([_loops(node, arrays)], sizes)
        raise


def _loops(node: Node, arrays: Sequence[Any]) -> tuple[Size, ...]:
    """Return the lengths of the loops of an op."""
    if node.op.pointwise:
        return np.broadcast_shapes(*map(np.shape, arrays))
    if node.op.name == "einsum":
        labels = zip(node.params[0], node.args, strict=True)
        return tuple({k: n for own, arg in labels for k, n in zip(own, arg.shape, strict=True)}.values())
    return node.shape


def _counts(result: Any) -> bool:
    return getattr(result, "dtype", _FLOAT).kind in "iu"


def _unwrapped(node: Node, params: Sequence[Any], arrays: Sequence[Any], result: Any) -> Any:
    """Return integers as floats if int64 has wrapped around, as in kernels, which compute with floats."""
    structure = node.op.structure
    if not any(map(_counts, arrays)) or (structure is not None and structure.copies):
        return result
    given = [np.asarray(a, np.float64) if _counts(a) else np.asarray(a) for a in arrays]
    floats = node.op.evaluate(*params, *given)
    # Intermediate results may wrap around if the final result is in range. Floats tell whether it is, up to their
    # rounding, which is relative to the result if all values are absolute values.
    amount = node.op.evaluate(*params, *[a if a.dtype == bool else np.abs(a) for a in given])
    return result if np.all(np.abs(floats) + np.abs(amount) * 2.0**-40 < 2.0**63) else floats


def _check_memory(node: Node, sizes: Mapping[str, int], arrays: Sequence[Any]) -> None:
    """Raise an error if a result, or the operands to read, exceed the memory of the machine: it would take hours."""
    if node.op.pointwise:
        if math.prod(map(np.size, arrays)) * _FLOAT.itemsize > machine_memory():
            _check_size(np.broadcast_shapes(*map(np.shape, arrays)))
    elif node.op.name not in _VIEWS and not _transposes(node):
        _check_size(tuple([evaluate_size(s, sizes) for s in node.shape]))
        for array in arrays if node.op.name != "gather" else ():
            _check_size(np.shape(array))


def _transposes(node: Node) -> bool:
    return node.op.name == "einsum" and len(node.args) == 1 and {*node.params[1]} == {*node.params[0][0]}


def _check_size(shape: tuple[int, ...]) -> None:
    check_arrays([shape], {})
    needed = math.prod(shape) * _FLOAT.itemsize
    if needed > machine_memory():
        raise out_of_memory(f"an array of shape {shape}", needed)


def _own(result: Any) -> Any:
    """Return a NumPy scalar, or an array that can be written to, which a broadcast view cannot."""
    if getattr(result, "ndim", 0) == 0:
        entry: Any = result
        return entry[()] if isinstance(result, np.ndarray) else entry
    if result.flags.writeable:
        return result
    _check_size(result.shape)
    try:
        return np.array(result)
    except MemoryError:
        raise out_of_memory(f"an array of shape {result.shape}", result.nbytes) from None


def sizes_of(
    order: Sequence[Node], values: Mapping[Node, Any], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the value of every named size, from the shapes of the arrays.

    Raises:
        ShapeError: if an array of an array program (a program with an op that is not elementwise) has another rank or
            size than declared, since only elementwise programs broadcast over further axes; or if an array would have a
            negative length, or more entries than arrays can have.
    """
    structural = any(n.op is SIZE or not n.op.pointwise for n in order)
    shaped: list[tuple[Node, tuple[int, ...]]] = []
    for node, value in values.items():
        actual = np.shape(value)
        if len(actual) == len(node.shape):
            shaped.append((node, actual))
        elif structural and node in order:
            raise ShapeError(
                f"{called(node)} has shape {actual}",
                expected=f"{len(node.shape)} axes: {declared(node)}",
                cure="an array program takes arrays of the declared shapes; compile it to call it on a batch",
            )
    sizes = bind_sizes(shaped, given)
    check_arrays((n.shape for n in order if n.shape), sizes)
    return sizes


def overflows(value: Any, args: Sequence[Any]) -> bool:
    """Tell whether an op on constants overflows: its value is infinite, and no argument is a pole.

    ``1/0``, ``log(0)`` and ``atanh(1)`` are infinite in IEEE arithmetic; ``exp(1000)`` overflows.
    """
    pole = any(a == 0 for a in args) or (len(args) == 1 and abs(args[0]) == 1)
    return bool(np.isinf(value) and not pole and np.all(np.isfinite(args)))


def too_large(node: Node) -> NumberTooLargeError:
    """Return the error for a constant subexpression that overflows."""
    return NumberTooLargeError(
        f"a constant ({node.op.name} of numbers) is beyond the largest float, about 1.8e308",
        cure="keep it symbolic, or take its logarithm",
    )


def _float(value: int | Fraction | bool) -> Any:
    return np.bool_(value) if isinstance(value, bool) else np.float64(float_of(value))


def mp_context(digits: int) -> Any:
    """Return an mpmath context of its own, with so many digits."""
    import mpmath  # for start-up time

    mp: Any = mpmath.MPContext()
    mp.dps = digits
    return mp


def exact_number(mp: Any, value: int | Fraction | bool) -> Any:
    """Return an exact number in an mpmath context; a truth value is unchanged."""
    return value if isinstance(value, bool) else mp.mpf(value.numerator) / value.denominator


def exact_leaf(mp: Any, node: Node) -> Any:
    """Return a number or a constant in an mpmath context."""
    if node.op is CONSTANT:
        return +getattr(mp, _MP_CONSTANTS[node.params[0]])
    return exact_number(mp, node.value)


def evaluate_mp(
    mp: Any,
    outputs: Sequence[Node],
    values: Mapping[Node, Any],
) -> list[Any]:
    """Evaluate nodes with mpmath at the precision of the context.

    Args:
        mp: an mpmath context (``mpmath.mp`` or a private ``mpmath.MPContext()``) with the precision of the caller.
        outputs: the nodes.
        values: an mpf, an int, another number that is not a Fraction, or a bool for every symbol of the outputs; for a
            symbol with a shape, an array of such numbers (of dtype object).

    Returns:
        For each output a value or an array, with NaN where mpmath finds no value. An argument beyond 2**100000 counts
        as infinite.
    """
    sizes = sizes_of(topological(outputs, until=values), values)
    results: dict[Node, Any] = {}
    for node in topological(outputs, until=values):
        if node in values:
            results[node] = values[node]
        elif node.op is NUMBER or node.op is CONSTANT:
            results[node] = exact_leaf(mp, node)
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

    def one(*entries: Any) -> Any:
        try:
            return op.reference(mp, *node.params, *(_within(mp, e) for e in entries))
        except mp.NoConvergence:
            return mp.nan

    return (
        np.frompyfunc(one, len(args), 1)(*args)
        if any(isinstance(a, np.ndarray) for a in args)
        else one(*args)
    )


def _within(mp: Any, value: Any) -> Any:
    if isinstance(value, bool) or not _MOST_BITS < mp.mag(value) < mp.inf:
        return value
    return mp.sign(value) * mp.inf if mp.im(value) == 0 else mp.nan
