"""Write operations on whole arrays in JAX, torch, TensorFlow and Keras."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from symgrad.ir.graph import NUMBER, Node
from symgrad.ir.notation.contractions import ContractionSpelling, Factor, spell
from symgrad.ir.notation.literals import ATOM, MUL
from symgrad.ir.sizes import Shape, Size
from symgrad.printing.frameworks.table import Framework
from symgrad.printing.python_text import aligned, applied, slice_key, tuple_text


class FrameworkContext(Protocol):
    """The source that is written so far, and the framework."""

    framework: str
    known: Framework

    def of(self, node: Node, rank: int = 0) -> str:
        """Return an argument, in parentheses if it binds less tightly than a rank."""
        ...

    def tensor(self, node: Node, rank: int = 0) -> str:
        """Return an argument as an array of numbers of the common dtype."""
        ...

    def positions(self, node: Node) -> str:
        """Return an argument as integers."""
        ...

    def size(self, size: Size) -> str:
        """Return a size as an expression."""
        ...

    def helper(self, name: str) -> str:
        """Define a function of `own_functions`, and return its name."""
        ...


_Text: TypeAlias = "str | tuple[str, int]"
_Writer: TypeAlias = Callable[[Node, FrameworkContext], _Text]


def shape_text(shape: Shape, w: FrameworkContext) -> str:
    """Return a shape as a tuple."""
    return tuple_text([w.size(s) for s in shape])


def _moved(x: Node, w: FrameworkContext) -> str:
    """Return an argument of an op that only moves entries: integers stay integers."""
    return w.tensor(x) if x.dtype == "real" or x.op is NUMBER else w.of(x)


# ------------------------------------------------------------------------------------------------------ reductions

_SUM = {"jax": "jnp.sum", "torch": "torch.sum", "tensorflow": "tf.reduce_sum", "keras": "ops.sum"}


def _summed(x: str, axes: Sequence[int], rank: int, w: FrameworkContext) -> str:
    """Return a sum over axes; the axes are left out if they are all axes."""
    function = _SUM[w.framework]
    if tuple(axes) == tuple(range(rank)):
        return f"{function}({x})"
    return f"{function}({x}, {w.known.axis}={axes[0] if len(axes) == 1 else tuple(axes)})"


def _flip(x: str, axes: Sequence[int], w: FrameworkContext) -> str:
    match w.framework:
        case "torch":
            return f"torch.flip({x}, {tuple(axes)})"
        case "tensorflow":
            return f"tf.reverse({x}, {list(axes)})"
        case _:
            return f"{w.known.array}.flip({x}, {axes[0] if len(axes) == 1 else tuple(axes)})"


# ---------------------------------------------------------------------------------------------------- contractions


def _einsum(node: Node, w: FrameworkContext) -> _Text:
    s = spell(node)
    x = node.args[0]
    array = w.known.array
    rank = len(x.shape)
    match s.form:
        case "product" | "outer" if (found := _product(node, s, w)) is not None:
            return found
        case "trace" if len(node.args) == 1 and (rank == 2 or w.framework in ("jax", "keras")):
            return f"{'tf.linalg' if w.framework == 'tensorflow' else array}.trace({w.tensor(x)})"
        case "diagonal":
            name = {"tensorflow": "tf.linalg.diag_part"}.get(w.framework, f"{array}.diagonal")
            return f"{name}({w.tensor(x)})"
        case "diag":
            return f"{'tf.linalg' if w.framework == 'tensorflow' else array}.diag({w.tensor(x)})"
        case "permute":
            return f"{array}.{'permute' if w.framework == 'torch' else 'transpose'}({_moved(x, w)}, {s.axes})"
        case "sum":
            return _summed(w.tensor(x), s.axes, rank, w)
        case "elementwise" if not s.axes:
            return aligned(node, s, w.tensor), MUL
        case _:
            return f'{array}.einsum("{s.subscripts}", {", ".join(w.tensor(a) for a in node.args)})'


def _product(node: Node, s: ContractionSpelling, w: FrameworkContext) -> _Text | None:
    """Return matrix products as such; None for TensorFlow's products with vectors, which are written as einsum."""
    shapes = [len(node.args[f.operand].shape) for part in s.parts for f in part]
    if w.framework == "tensorflow" and any(rank != 2 for rank in shapes):
        return None
    parts = [_chain(node, part, w) for part in s.parts]
    return f"{w.known.array}.outer({', '.join(parts)})" if s.form == "outer" else (parts[0], MUL)


def _chain(node: Node, chain: Sequence[Factor], w: FrameworkContext) -> str:
    texts: list[str] = []
    for f in chain:
        text = w.tensor(node.args[f.operand], ATOM)
        if f.transposed:
            text = f"{text}.T" if w.framework in ("jax", "torch") else f"{w.known.array}.transpose({text})"
        texts.append(text)
    vector = len(node.args[chain[-1].operand].shape) == 1
    if w.framework == "keras":  # arrays of Keras' backends have different operators
        while len(texts) > 1:
            at = len(texts) - 2 if vector else 0
            texts[at : at + 2] = [f"ops.matmul({texts[at]}, {texts[at + 1]})"]
        return texts[0]
    return applied(texts, vector=vector)


# ---------------------------------------------------------------------------------------------------------- layout


def _reshape(node: Node, w: FrameworkContext) -> _Text:
    return f"{w.known.array}.reshape({_moved(node.args[0], w)}, {shape_text(node.shape, w)})"


def _broadcast(node: Node, w: FrameworkContext) -> _Text:
    x, shape = node.args[0], shape_text(node.shape, w)
    if x.op is NUMBER:
        return w.known.full.format(shape, w.of(x))
    return f"{w.known.array}.broadcast_to({_moved(x, w)}, {shape})"


def _concatenate(node: Node, w: FrameworkContext) -> _Text:
    name = {"tensorflow": "tf.concat"}.get(w.framework, f"{w.known.array}.concatenate")
    axis = node.params[0]
    return f"{name}([{', '.join(w.tensor(a) for a in node.args)}], {w.known.axis}={axis})"


def _slice(node: Node, w: FrameworkContext) -> _Text:
    x = node.args[0]
    key, flipped = slice_key(node.params[0], w.size, backwards=w.framework in ("jax", "tensorflow"))
    if flipped:
        return f"{_flip(_moved(x, w), flipped, w)}[{key}]"
    return f"{w.tensor(x, ATOM) if x.dtype == 'real' else w.of(x, ATOM)}[{key}]"


def _unslice(node: Node, w: FrameworkContext) -> _Text:
    triples, shape = node.params
    x = w.tensor(node.args[0])
    if w.framework == "jax":
        key, _ = slice_key(triples, w.size)
        return f"jnp.zeros({shape_text(shape, w)}, dtype).at[{key}].set({x})"
    key, flipped = slice_key(triples, w.size, backwards=False)
    helper = w.helper("_unslice")
    items = key.split(", ")
    slices = [_slice_of(item) for item in items] + ["slice(None)"] * (len(shape) - len(items))
    text = f"{helper}({x}, {tuple_text(slices)}, {shape_text(shape, w)})"
    return _flip(text, flipped, w) if flipped else text


def _slice_of(item: str) -> str:
    parts = [part or "None" for part in item.split(":")]
    return f"slice({', '.join(parts)})"


# ------------------------------------------------------------------------------------------------------- positions


def _gather(node: Node, w: FrameworkContext) -> _Text:
    x, *indices = node.args
    axes: tuple[int, ...] = node.params[0]
    texts = [w.positions(i) for i in indices]
    array = w.tensor(x, ATOM) if x.dtype == "real" else w.of(x, ATOM)
    if w.framework in ("jax", "torch"):
        if axes == tuple(range(axes[0], axes[0] + len(axes))):
            return f"{array}[{', '.join([':'] * axes[0] + texts)}]"
    elif len(axes) == 1:
        (axis,) = axes
        if indices[0].op is NUMBER:
            return f"{array}[{', '.join([':'] * axis + texts)}]"
        if w.framework == "keras":
            return f"ops.take({array}, {texts[0]}, axis={axis})"
        return f"tf.gather({array}, {w.helper('_wrapped')}({texts[0]}, {array}, {axis}), axis={axis})"
    return f"{w.helper('_gather')}({array}, {axes}, {', '.join(texts)})"


def _scatter_add(node: Node, w: FrameworkContext) -> _Text:
    values, *indices = node.args
    axes, shape = node.params[0], shape_text(node.shape, w)
    texts = [w.positions(i) for i in indices]
    if w.framework == "jax" and axes == tuple(range(len(axes))):
        return f"jnp.zeros({shape}, dtype).at[{', '.join(texts)}].add({w.tensor(values)})"
    return f"{w.helper('_scatter_add')}({w.tensor(values)}, {axes}, {shape}, {', '.join(texts)})"


def _one_hot(node: Node, w: FrameworkContext) -> _Text:
    index = node.args[0]
    places = w.known.arange.format(w.size(node.params[0]))
    text = w.positions(index)
    if index.shape:
        text = f"{w.known.array}.{'unsqueeze' if w.framework == 'torch' else 'expand_dims'}({text}, -1)"
    return w.known.cast.format(Bare(f"({text} == {places})"))


class Bare(str):
    """A text that never needs parentheses."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return str(self)


def _eye(node: Node, w: FrameworkContext) -> _Text:
    rows, columns = node.params
    return w.known.eye.format(", ".join(w.size(s) for s in ([rows] if rows == columns else [rows, columns])))


# -------------------------------------------------------------------------------------------------- linear algebra

_LINALG = {"jax": "jnp.linalg", "torch": "torch.linalg", "tensorflow": "tf.linalg", "keras": "ops"}


def _solve(node: Node, w: FrameworkContext) -> _Text:
    a, b = node.args
    function = f"{_LINALG[w.framework]}.solve"
    if len(b.shape) == 1:
        return f"{function}({w.tensor(a)}, {w.tensor(b, ATOM)}[:, None])[:, 0]"
    texts = [w.tensor(a), w.tensor(b)]
    if a.shape[:-2] != b.shape[:-2]:  # the stacks of matrices broadcast
        lead = node.shape[:-2]
        texts = [
            f"{w.known.array}.broadcast_to({text}, {shape_text((*lead, *x.shape[-2:]), w)})"
            for text, x in zip(texts, (a, b), strict=True)
        ]
    return f"{function}({', '.join(texts)})"


ARRAYS: Mapping[str, _Writer] = {
    "broadcast_to": _broadcast,
    "concatenate": _concatenate,
    "einsum": _einsum,
    "eye": _eye,
    "gather": _gather,
    "iota": lambda node, w: w.known.arange.format(w.size(node.params[0])),
    "one_hot": _one_hot,
    "reshape": _reshape,
    "scatter_add": _scatter_add,
    "slice": _slice,
    "solve": _solve,
    "unslice": _unslice,
}
"""Ops that construct arrays, and solve; others have templates."""
