"""Write ops that are not elementwise as NumPy source: as a call of NumPy, or otherwise of a helper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from symgrad.ir.graph import NUMBER, SYMBOL, Node
from symgrad.ir.notation.contractions import Factor, spell, subscript
from symgrad.ir.notation.literals import ATOM, MUL
from symgrad.ir.sizes import Shape, Size, size_product, size_sum
from symgrad.printing.python_text import aligned, applied, slice_key, tuple_text


class ArraySource(NamedTuple):
    """An expression.

    Attributes:
        text: the text of the expression.
        rank: its precedence in Python.
        helpers: the functions of `ARRAY_HELPERS` that the text calls.
    """

    text: str
    rank: int = ATOM
    helpers: tuple[str, ...] = ()


class SourceContext(Protocol):
    """The source that is written so far."""

    def of(self, node: Node, rank: int = 0) -> str:
        """Return the text of an argument, in parentheses if it binds less tightly than a rank."""
        ...

    def size(self, size: Size) -> str:
        """Return a size as an expression."""
        ...


_Writer: TypeAlias = Callable[[Node, SourceContext], ArraySource]


def _shape(shape: Shape, context: SourceContext) -> str:
    texts = [context.size(s) for s in shape]
    return texts[0] if len(texts) == 1 else tuple_text(texts)


def _axes(axes: Sequence[int], rank: int) -> str:
    """Return the axis argument of a reduction; an empty text for all axes."""
    if tuple(axes) == tuple(range(rank)):
        return ""
    return f", axis={axes[0] if len(axes) == 1 else tuple(axes)}"


# -------------------------------------------------------------------------------------------------------- contractions


def _einsum(node: Node, context: SourceContext) -> ArraySource:
    s = spell(node)
    x = node.args[0]
    match s.form:
        case "product":
            return ArraySource(_product(node, s.parts[0], context), MUL)
        case "outer":
            return ArraySource(f"np.outer({', '.join(_product(node, part, context) for part in s.parts)})")
        case "trace":
            return ArraySource(f"np.trace({_product(node, s.parts[0], context)})")
        case "diagonal" | "diag":
            return ArraySource(f"np.diag({context.of(x)})")
        case "permute":
            if s.axes == tuple(range(len(s.axes)))[::-1]:
                return ArraySource(f"{context.of(x, ATOM)}.T")
            return ArraySource(f"np.transpose({context.of(x)}, {s.axes})")
        case "sum":
            return ArraySource(f"np.sum({context.of(x)}{_axes(s.axes, len(x.shape))})")
        case "elementwise" if not s.axes:
            return ArraySource(aligned(node, s, context.of), MUL)
        case _:
            order = ", optimize=True" if len(node.args) > 2 else ""
            return ArraySource(
                f'np.einsum("{s.subscripts}", {", ".join(context.of(a) for a in node.args)}{order})'
            )


def _product(node: Node, chain: Sequence[Factor], context: SourceContext) -> str:
    factors = [
        f"{context.of(node.args[f.operand], ATOM)}.T"
        if f.transposed
        else context.of(node.args[f.operand], ATOM)
        for f in chain
    ]
    return applied(factors, vector=len(node.args[chain[-1].operand].shape) == 1)


# ---------------------------------------------------------------------------------------------------------- layout


def _reshape(node: Node, context: SourceContext) -> ArraySource:
    x = node.args[0]
    if x.shape and len(node.shape) > len(x.shape):
        found = subscript(node, named=(x,))
        if found is not None:
            items = ["None" if item is None else ":" for item in found[1]]
            return ArraySource(f"{context.of(x, ATOM)}[{', '.join(items)}]")
    return ArraySource(f"np.reshape({context.of(x)}, {_shape(node.shape, context) if node.shape else '()'})")


def _broadcast(node: Node, context: SourceContext) -> ArraySource:
    x, shape = node.args[0], _shape(node.shape, context)
    if x.is_number(0) or x.is_number(1):
        return ArraySource(f"np.{'ones' if x.value else 'zeros'}({shape})")
    if not x.shape:
        return ArraySource(f"np.full({shape}, {context.of(x)})")
    return ArraySource(f"np.broadcast_to({context.of(x)}, {shape})")


def _slice(node: Node, context: SourceContext) -> ArraySource:
    return ArraySource(f"{context.of(node.args[0], ATOM)}[{slice_key(node.params[0], context.size)[0]}]")


def _unslice(node: Node, context: SourceContext) -> ArraySource:
    key = f"np.s_[{slice_key(node.params[0], context.size)[0]}]"
    text = f"_unslice({context.of(node.args[0])}, {key}, {_shape(node.shape, context)})"
    return ArraySource(text, ATOM, ("_unslice",))


def _concatenate(node: Node, context: SourceContext) -> ArraySource:
    axis = f", axis={node.params[0]}" if node.params[0] else ""
    return ArraySource(f"np.concatenate([{', '.join(context.of(a) for a in node.args)}]{axis})")


# ------------------------------------------------------------------------------------------------------- positions


def _positions(node: Node, context: SourceContext) -> str:
    """Return an array of integer positions; arithmetic on positions is done in floats."""
    if node.op is NUMBER:
        return str(node.value)
    inner = node
    while not inner.op.pointwise and inner.op.array.entries == "moved" and len(inner.args) == 1:
        inner = inner.args[0]
    if inner.op is SYMBOL or (not inner.op.pointwise and inner.op.array.entries == "counted"):
        return context.of(node)
    return f"np.asarray({context.of(node)}).astype(np.int64)"


def _gather(node: Node, context: SourceContext) -> ArraySource:
    x, *indices = node.args
    axes: tuple[int, ...] = node.params[0]
    texts = [_positions(i, context) for i in indices]
    if axes == tuple(range(axes[0], axes[0] + len(axes))):
        return ArraySource(f"{context.of(x, ATOM)}[{', '.join([':'] * axes[0] + texts)}]")
    return ArraySource(f"_gather({context.of(x)}, {axes}, {', '.join(texts)})", ATOM, ("_gather",))


def _scatter_add(node: Node, context: SourceContext) -> ArraySource:
    values, *indices = node.args
    texts = ", ".join(_positions(i, context) for i in indices)
    shape = tuple_text([context.size(s) for s in node.shape])
    return ArraySource(
        f"_scatter_add({context.of(values)}, {node.params[0]}, {shape}, {texts})", ATOM, ("_scatter_add",)
    )


def _one_hot(node: Node, context: SourceContext) -> ArraySource:
    rows = f"np.expand_dims({_positions(node.args[0], context)}, -1)"
    return ArraySource(f"({rows} == np.arange({context.size(node.params[0])})).astype(np.int64)")


def _eye(node: Node, context: SourceContext) -> ArraySource:
    rows, columns = node.params
    sizes = [rows] if rows == columns else [rows, columns]
    return ArraySource(f"np.eye({', '.join(context.size(s) for s in sizes)})")


def is_view(node: Node) -> bool:
    """Tell whether the source of a node may return a view of another array."""
    if node.op.name == "einsum":
        return spell(node).form in ("permute", "diagonal")
    return node.op.name in ("reshape", "slice") or (
        node.op.name == "broadcast_to" and bool(node.args[0].shape)
    )


def _solve(node: Node, context: SourceContext) -> ArraySource:
    return ArraySource(f"np.linalg.solve({', '.join(context.of(a) for a in node.args)})")


def _pack(node: Node, context: SourceContext) -> ArraySource:
    (axis,) = node.params
    texts = [context.of(a, ATOM) for a in node.args]
    flat = (
        f"np.reshape({x}, np.shape({x})[:{axis}] + (np.prod(np.shape({x})[{axis}:], dtype=int),))"
        for x in texts
    )
    return ArraySource(f"np.concatenate([{', '.join(flat)}], axis={axis})")


def _part(node: Node, context: SourceContext) -> ArraySource:
    number, parts, axis = node.params
    start = size_sum(map(size_product, parts[:number]))
    stop = size_sum([start, size_product(parts[number])])
    key = ", ".join([*[":"] * axis, f"{context.size(start)}:{context.size(stop)}"])
    return ArraySource(f"np.reshape({context.of(node.args[0], ATOM)}[{key}], {_shape(node.shape, context)})")


ARRAY_SOURCES: Mapping[str, _Writer] = {
    "broadcast_to": _broadcast,
    "concatenate": _concatenate,
    "einsum": _einsum,
    "eye": _eye,
    "gather": _gather,
    "iota": lambda node, context: ArraySource(f"np.arange({context.size(node.params[0])})"),
    "one_hot": _one_hot,
    "pack": _pack,
    "part": _part,
    "reshape": _reshape,
    "scatter_add": _scatter_add,
    "slice": _slice,
    "solve": _solve,
    "unslice": _unslice,
}
"""Ops that construct arrays, and solve; others have templates."""
