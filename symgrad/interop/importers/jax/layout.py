"""Primitives of JAX that move entries, and contractions, as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from symgrad.api.functions.arrays import einsum
from symgrad.api.functions.layout import (
    broadcast_to,
    concatenate,
    expand_dims,
    flip,
    reshape,
    stack,
    transpose,
)
from symgrad.api.handles.expr import Expr, handle
from symgrad.interop.importers.windows import dilated, padded
from symgrad.ir.sizes import Size, size_product
from symgrad.ir.traverse import symbols_of
from symgrad.ops.array.layout import squeeze
from symgrad.support.errors import UnsupportedError


def _einsum(operands: Sequence[Expr], labels: Sequence[Sequence[int]], result: Sequence[int]) -> Expr:
    def letters(own: Sequence[int]) -> str:
        return "".join(chr(ord("a") + label) if label < 26 else chr(ord("A") + label - 26) for label in own)

    return einsum(",".join(map(letters, labels)) + "->" + letters(result), *operands)


def _dot_general(x: Expr, y: Expr, *, dimension_numbers: Any, **_: Any) -> Expr:
    (left, right), (left_batch, right_batch) = cast(
        "tuple[tuple[Sequence[int], ...], ...]", dimension_numbers
    )
    ours = list(range(len(x.shape)))
    theirs = [len(ours) + k for k in range(len(y.shape))]
    for a, b in zip((*left, *left_batch), (*right, *right_batch), strict=True):
        theirs[b] = ours[a]
    batch = [ours[a] for a in left_batch]
    free = [label for k, label in enumerate(ours) if k not in (*left, *left_batch)]
    others = [label for k, label in enumerate(theirs) if k not in (*right, *right_batch)]
    return _einsum([x, y], [ours, theirs], [*batch, *free, *others])


def _pad(x: Expr, value: Expr, *, padding_config: Sequence[tuple[int, int, int]], **_: Any) -> Expr:
    axes = range(len(x.shape))
    if any(inner for *_, inner in padding_config):
        if not value.node.is_number(0):
            raise UnsupportedError("numbers between entries that are not zeros")
        x = dilated(x, axes, [inner + 1 for *_, inner in padding_config])
    known = not symbols_of([value.node])
    if not known and any(low > 0 or high > 0 for low, high, _ in padding_config):
        raise UnsupportedError("a border that is computed")
    number = float(value()) if known else 0
    return padded(x, axes, [(low, high) for low, high, _ in padding_config], number)


def _slice(x: Expr, *, start_indices: Any, limit_indices: Any, strides: Any = None, **_: Any) -> Expr:
    steps = strides or [1] * len(x.shape)
    key = tuple(
        slice(None) if (a, b, c) == (0, n, 1) else slice(int(a), int(b), int(c))
        for a, b, c, n in zip(start_indices, limit_indices, steps, x.shape, strict=True)
    )
    return x[key]


def _split(x: Expr, *, sizes: Sequence[int], axis: int, **_: Any) -> list[Expr]:
    found: list[Expr] = []
    start = 0
    for n in sizes:
        key: list[slice] = [slice(None)] * len(x.shape)
        key[axis] = slice(start, start + n)
        found.append(x[tuple(key)])
        start += n
    return found


def _reshape(x: Expr, *, new_sizes: Any, dimensions: Any = None, **_: Any) -> Expr:
    return reshape(transpose(x, dimensions) if dimensions is not None else x, tuple(new_sizes))


def _squeeze(x: Expr, *, dimensions: Sequence[int], **_: Any) -> Expr:
    return handle(squeeze(x.node, [d % len(x.shape) for d in dimensions]))


def _tile(x: Expr, *, reps: Sequence[int], **_: Any) -> Expr:
    shape: list[Size] = [*[1] * (len(reps) - len(x.shape)), *x.shape]
    apart = [part for n in shape for part in (1, n)]
    spread = [part for n, r in zip(shape, reps, strict=True) for part in (r, n)]
    whole = tuple(size_product(pair) for pair in zip(shape, reps, strict=True))
    return reshape(broadcast_to(reshape(x, tuple(apart)), tuple(spread)), whole)


LAYOUT: Mapping[str, Callable[..., Any]] = {
    "concatenate": lambda *xs, dimension, **_: concatenate(list(xs), int(dimension)),
    "dot_general": _dot_general,
    "expand_dims": lambda x, *, dimensions, **_: expand_dims(x, tuple(dimensions)),
    "pad": _pad,
    "reshape": _reshape,
    "rev": lambda x, *, dimensions, **_: flip(x, tuple(dimensions)) if dimensions else x,
    "slice": _slice,
    "split": _split,
    "squeeze": _squeeze,
    "stack": lambda *xs, axis, **_: stack(list(xs), int(axis)),
    "tile": _tile,
    "transpose": lambda x, *, permutation, **_: transpose(x, list(permutation)),
}
"""For each primitive, by name: a function of expressions of their whole shapes, and of the parameters."""
