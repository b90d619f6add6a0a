"""Rules that ops along axes share: shapes, stacks of values, rows, loops, LaTeX, and calls of libraries.

A reduction drops its axes (``keepdims`` is a reshape around it); a scan keeps them. The axes are the first static
parameter of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, apply, as_node, size_node
from symgrad.ir.sizes import Shape, size_product
from symgrad.ops.array.layout import only, shaped, spread
from symgrad.ops.scalar.arith import add, neg
from symgrad.ops.scalar.logic import eq, where

Axes = tuple[int, ...]


def without(shapes: tuple[Shape, ...], axes: Axes) -> Shape:
    """Return the shape of a reduction: the shape of the operand without the reduced axes."""
    return tuple(size for i, size in enumerate(shapes[0]) if i not in axes)


def same(shapes: tuple[Shape, ...], *_params: Any) -> Shape:
    """Return the shape of the operand."""
    return shapes[0]


def count(x: Node, axes: Axes) -> Node:
    """Return the number of entries that a reduction over axes combines, as a node."""
    return size_node(size_product(x.shape[a] for a in axes))


def spread_back(value: Node, node: Node) -> Node:
    """Reshape a value with the shape of a reduction's result so that it broadcasts against the operand."""
    return spread(value, node.params[0], len(node.args[0].shape))


def objects(x: Any) -> Any:
    """Return an array whose entries are Python objects, such as mpmath's numbers."""
    return np.asarray(x, dtype=object)


def along(x: Any, axes: Axes, combine: Callable[[list[Any]], Any]) -> Any:
    """Apply a function of a list to all entries along axes."""
    array = objects(x)
    moved = np.moveaxis(array, axes, range(-len(axes), 0))
    shape: tuple[int, ...] = moved.shape[: array.ndim - len(axes)]
    rows = moved.reshape((int(np.prod(shape)), -1 if array.size else 0))
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        out[i] = combine(list(row))
    return out.reshape(shape)


def axes_of(node: Node) -> Axes:
    """Return the axes of an op along axes; its parameter may be None for all axes, or a number for one axis."""
    axes: int | Axes | None = node.params[0]
    if axes is None:
        return tuple(range(len(node.args[0].shape)))
    return (axes,) if isinstance(axes, int) else axes


# ---------------------------------------------------------------------------------------------------- stacks and rows


def batch_axes(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    """Return the op on a stack of values, with its axes after those of the stack."""
    axes: int | Axes = node.params[0]
    k = len(lead)
    moved = axes + k if isinstance(axes, int) else tuple(a + k for a in axes)
    return node.op(only(stacks), params=(moved, *node.params[1:]))


def rows_reduced(node: Node, places: Sequence[int | None]) -> int | None:
    """Return the axis of the rows of a reduction; None if it reduces over rows."""
    p, axes = only(places), axes_of(node)
    return None if p in axes else p - sum(a < p for a in axes)


def rows_of_scan(node: Node, places: Sequence[int | None]) -> int | None:
    """Return the axis of the rows of a scan; None if it runs along the rows."""
    p = only(places)
    return None if p in axes_of(node) else p


def rows_aligned(node: Node, places: Sequence[int | None]) -> int | None:
    """Return the axis of the rows of an op that aligns axes at the end; None if rows disagree or are repeated."""
    rank = len(node.shape)
    found = {rank - len(a.shape) + p for a, p in zip(node.args, places, strict=True) if p is not None}
    if len(found) != 1:
        return None
    (place,) = found
    rows = next(a.shape[p] for a, p in zip(node.args, places, strict=True) if p is not None)
    return place if node.shape[place] == rows else None


# -------------------------------------------------------------------------------------------------------------- loops


def keep(x: Node, value: Node, axes: Axes) -> Node:
    """Return a reduction of x in a shape that broadcasts against x."""
    return shaped(value, tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def difference(a: Node, b: Node) -> Node:
    """Return a - b, unsimplified, for kernels."""
    return add(a, neg(b))


def over_some(node: Node, args: tuple[Node, ...]) -> Node:
    """Return a reduction, or its operand if there are no axes."""
    return apply(node.op, args, node.params) if node.params[0] else args[0]


def finite_or(x: Node, other: int) -> Node:
    """Return the entries of x that are finite, and another number in place of all others."""
    return where(eq(difference(x, x), as_node(0)), x, as_node(other))


# ---------------------------------------------------------------------------------------------------------- printing


def call_latex(word: str, above: Callable[[Node], str] = lambda node: "") -> Callable[[Node], str]:
    """Return the LaTeX of a function, with its axes as a subscript unless these are all axes."""

    def latex(node: Node) -> str:
        axes = () if node.params[0] is None else axes_of(node)
        below = (
            f"_{{{{{', '.join(map(str, axes))}}}}}" if len(axes) < len(node.args[0].shape) and axes else ""
        )
        return rf"{word}{above(node)}{below}\left({{0}}\right)"

    return latex


def axes_text(node: Node) -> str:
    """Return axes as an argument."""
    axes = axes_of(node)
    return str(axes[0] if len(axes) == 1 else axes)


def called(
    numpy: str,
    jax: str,
    torch: str,
    tensorflow: str,
    keras: str,
    *,
    of: str = "{0:t}",
    says: Sequence[str] = (),
) -> Callable[[Node], Mapping[str, str]]:
    """Return the source of a reduction: its call in each library, without axes if these are all axes.

    Args:
        numpy: the name in NumPy.
        jax: the name in JAX.
        torch: the name in torch.
        tensorflow: the name in TensorFlow.
        keras: the name in Keras.
        of: the operand.
        says: the libraries that always require the axes.
    """
    names = {"numpy": numpy, "jax": jax, "torch": torch, "tensorflow": tensorflow, "keras": keras}

    def source(node: Node) -> Mapping[str, str]:
        found: dict[str, str] = {}
        full = axes_of(node) == tuple(range(len(node.args[0].shape)))
        for library, name in names.items():
            named = "" if full and library not in says else f", {{axis}}={axes_text(node)}"
            found[library] = f"{name}({of}{named})" if axes_of(node) or library == "numpy" else "{0:ta}"
        return found

    return source
