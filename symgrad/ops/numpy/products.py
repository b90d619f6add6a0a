"""NumPy's products of arrays on nodes: each is a contraction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from symgrad.ir.graph import Node
from symgrad.ir.notation.arrays import is_transpose
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Size, size_product
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.layout import move_up, shape_text
from symgrad.ops.numpy.calls import axis_of, several
from symgrad.ops.scalar.arith import mul
from symgrad.support.errors import ShapeError, UsageError


def _broadcasting(args: Sequence[Node], labels: Sequence[Sequence[int]], result: Sequence[int]) -> Node:
    """Contract arrays whose axes of length 1 broadcast, as NumPy's matmul and einsum allow."""
    sizes: dict[int, Size] = {}
    for arg, own in zip(args, labels, strict=True):
        for i, (size, label) in enumerate(zip(arg.shape, own, strict=True)):
            if arg.shape[own.index(label)] != size:
                raise ShapeError(
                    f"a diagonal of axes {own.index(label)} and {i} of an array of shape {shape_text(arg.shape)}",
                    expected="axes of equal length",
                )
            if sizes.get(label, 1) == 1:
                sizes[label] = size
    operands: list[Node] = []
    remaining: list[list[int]] = []
    for arg, own in zip(args, labels, strict=True):
        axes = [i for i, label in enumerate(own) if not (arg.shape[i] == 1 and sizes[label] != 1)]
        operands.append(arg if len(axes) == len(own) else move_up(arg, tuple(arg.shape[i] for i in axes)))
        remaining.append([own[i] for i in axes])
    return contract(operands, remaining, result, mul)


def matmul(a: Node, b: Node) -> Node:
    """``numpy.matmul``, which merges the transpose of an operand into the contraction: ``X.T@r`` is one node.

    Raises:
        ShapeError: if the shapes do not match; the message has both.
    """
    p, q = a.shape, b.shape
    if not p or not q:
        raise ShapeError(
            f"@ of arrays of shapes {shape_text(p)} and {shape_text(q)}",
            expected="at least one axis each",
            cure="write *",
        )
    inner_a, inner_b = p[-1], q[max(len(q) - 2, 0)]
    if inner_a != inner_b:
        raise ShapeError(
            f"@ of arrays of shapes {shape_text(p)} and {shape_text(q)}: {inner_a} is not {inner_b}",
            expected="the last axis of the left operand as long as the second last axis of the right one",
            cure="transpose one of them with .T, or check the declared shapes",
        )
    batch = broadcast_shapes([p[:-2], q[:-2]])
    rank = len(batch)
    row, middle, column = rank, rank + 1, rank + 2
    left = [*range(rank - len(p[:-2]), rank), *([row] if len(p) > 1 else []), middle]
    right = [*range(rank - len(q[:-2]), rank), middle, *([column] if len(q) > 1 else [])]
    out = [*range(rank), *([row] if len(p) > 1 else []), *([column] if len(q) > 1 else [])]
    if is_transpose(a):
        a, left = a.args[0], left[::-1]
    if is_transpose(b):
        b, right = b.args[0], right[::-1]
    if not batch:
        return contract([a, b], [left, right], out)
    return _broadcasting([a, b], [left, right], out)


def dot(a: Node, b: Node) -> Node:
    """``numpy.dot``: matmul for up to two axes, a product for scalars, else over the last and second last axes."""
    if not a.shape or not b.shape:
        return mul(a, b)
    if len(b.shape) <= 2 and len(a.shape) <= 2:
        return matmul(a, b)
    return tensordot(a, b, ([len(a.shape) - 1], [max(len(b.shape) - 2, 0)]))


def tensordot(a: Node, b: Node, axes: Any = 2) -> Node:
    """``numpy.tensordot``."""
    if isinstance(axes, int) and not 0 <= axes <= min(len(a.shape), len(b.shape)):
        raise ShapeError(
            f"tensordot of arrays of shapes {shape_text(a.shape)} and {shape_text(b.shape)} over {axes} axes",
            expected="at most as many axes as each of both has",
        )
    if isinstance(axes, int):
        over = (list(range(len(a.shape) - axes, len(a.shape))), list(range(axes)))
    else:
        over = tuple(several(s) for s in several(axes))
        if len(over) != 2:
            raise UsageError(f"tensordot over axes {axes!r}", expected="a number, or the axes of both arrays")
    first = [axis_of(i, len(a.shape)) for i in over[0]]
    second = [axis_of(i, len(b.shape)) for i in over[1]]
    distinct = len(set(first)) == len(first) and len(set(second)) == len(second)
    if not distinct or [a.shape[i] for i in first] != [b.shape[i] for i in second]:
        raise ShapeError(
            f"tensordot of shapes {shape_text(a.shape)} and {shape_text(b.shape)} over axes {first} and {second}"
        )
    left = list(range(len(a.shape)))
    right = [len(left) + j for j in range(len(b.shape))]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    out = [x for i, x in enumerate(left) if i not in first] + [
        x for j, x in enumerate(right) if j not in second
    ]
    return contract([a, b], [left, right], out, mul)


def inner(a: Node, b: Node) -> Node:
    """``numpy.inner``: the sum of products over the last axes of both arrays."""
    return tensordot(a, b, ([-1], [-1])) if a.shape and b.shape else mul(a, b)


def outer(a: Node, b: Node) -> Node:
    """``numpy.outer``: the products of all entries of both flattened arrays."""
    a, b = (x if len(x.shape) == 1 else move_up(x, (size_product(x.shape),)) for x in (a, b))
    return contract([a, b], [(0,), (1,)], (0, 1))


def trace(x: Node) -> Node:
    """``numpy.trace`` of square matrices."""
    _square(x, "trace")
    return contract([x], [(0, 0, *range(1, len(x.shape) - 1))], range(1, len(x.shape) - 1))


def _square(x: Node, what: str) -> None:
    if len(x.shape) < 2 or x.shape[0] != x.shape[1]:
        raise ShapeError(f"{what} of an array of shape {shape_text(x.shape)}", expected="a square matrix")


def diag(x: Node) -> Node:
    """``numpy.diag``: the diagonal of a square matrix, or the matrix with a vector on its diagonal."""
    if len(x.shape) == 1:
        return contract([x, eye(params=(x.shape[0], x.shape[0]))], [(0,), (0, 1)], (0, 1))
    _square(x, "diag")
    if len(x.shape) > 2:
        raise ShapeError(f"diag of an array of shape {shape_text(x.shape)}", expected="a vector or a matrix")
    return contract([x], [(0, 0)], (0,))


def einsum_text(spec: str, *args: Node) -> Node:
    """``numpy.einsum`` with its subscripts as text, ``...`` included.

    Raises:
        UsageError: for subscripts that do not fit the operands.
    """
    if not isinstance(cast("object", spec), str):
        raise UsageError(
            f"einsum: subscripts of type {type(spec).__name__}",
            expected="a text, then the operands",
            cure='write einsum("ij,jk->ik", A, B)',
        )
    inputs, arrow, output = spec.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(args):
        raise UsageError(
            f"einsum: {len(terms)} subscripts for {len(args)} operands", expected="one for each operand"
        )
    dots = 0
    for term, arg in zip(terms, args, strict=True):
        letters = term.replace("...", "", 1)
        if not all(c.isalpha() for c in letters):
            raise UsageError(f"einsum: '{term}'", expected="letters, and '...' once")
        spare = len(arg.shape) - len(letters)
        if spare < 0 or (spare and "..." not in term):
            raise ShapeError(
                f"einsum: '{term}' for an array of shape {shape_text(arg.shape)}",
                expected="a letter for every axis",
            )
        if "..." in term:
            dots = max(dots, spare)
    labels: list[list[int]] = []
    for term, arg in zip(terms, args, strict=True):
        letters = term.replace("...", "", 1)
        before, found, after = term.partition("...")
        wild = len(arg.shape) - len(letters) if found else 0
        labels.append([*map(ord, before), *range(dots - wild, dots), *map(ord, after)])
    if arrow:
        before, found, after = output.partition("...")
        if (dots and not found) or not all(c.isalpha() for c in before + after):
            raise UsageError(
                f"einsum: '->{output}'", expected="letters of the operands, and '...' if they have it"
            )
        result = [*map(ord, before), *(range(dots) if found else ()), *map(ord, after)]
    else:
        flat = [x for own in labels for x in own]
        result = [*range(dots), *sorted(x for x in dict.fromkeys(flat) if x >= dots and flat.count(x) == 1)]
    known = {x for own in labels for x in own}
    if len(set(result)) != len(result) or not set(result) <= known:
        raise UsageError(f"einsum: '->{output}'", expected="distinct letters that the operands have")
    return _broadcasting(args, labels, result)
