"""Operations on whole arrays in JAX, torch, TensorFlow and Keras: a writer for each, with what differs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from symgrad.ir.graph import NUMBER, Node
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.slices import Triple
from symgrad.render.frameworks.table import Framework
from symgrad.spell.contractions import Factor, Spelling, spell
from symgrad.spell.literals import ATOM, MUL

__all__ = ["ARRAYS", "Context"]


class Context(Protocol):
    """What is written already, and where."""

    framework: str
    known: Framework

    def of(self, node: Node, rank: int = 0) -> str:
        """Return an argument as it is written, in parentheses if it binds less tightly than a rank."""
        ...

    def tensor(self, node: Node, rank: int = 0) -> str:
        """Return an argument as an array of numbers of the common dtype."""
        ...

    def positions(self, node: Node) -> str:
        """Return an argument as whole numbers."""
        ...

    def size(self, size: Size) -> str:
        """Return a size as an expression."""
        ...

    def helper(self, name: str) -> str:
        """Ask for a function of `framework_helpers`, and return its name."""
        ...


_Text: TypeAlias = "str | tuple[str, int]"
_Writer: TypeAlias = Callable[[Node, Context], _Text]


def _tuple(texts: Sequence[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def shape_text(shape: Shape, w: Context) -> str:
    """Return a shape as a tuple."""
    return _tuple([w.size(s) for s in shape])


def _moved(x: Node, w: Context) -> str:
    """An argument of what moves entries only: whole numbers stay as they are."""
    return w.tensor(x) if x.dtype == "real" or x.op is NUMBER else w.of(x)


# ------------------------------------------------------------------------------------------------------ reductions

_TOTAL = {
    "sum": ("jnp.sum", "torch.sum", "tf.reduce_sum", "ops.sum"),
    "mean": ("jnp.mean", "torch.mean", "tf.reduce_mean", "ops.mean"),
    "max": ("jnp.max", "torch.amax", "tf.reduce_max", "ops.max"),
    "min": ("jnp.min", "torch.amin", "tf.reduce_min", "ops.min"),
    "prod": ("jnp.prod", "torch.prod", "tf.reduce_prod", "ops.prod"),
    "logsumexp": (
        "jax.scipy.special.logsumexp",
        "torch.logsumexp",
        "tf.reduce_logsumexp",
        "ops.logsumexp",
    ),
    "softmax": ("jax.nn.softmax", "torch.softmax", "tf.nn.softmax", "ops.softmax"),
    "log_softmax": ("jax.nn.log_softmax", "torch.log_softmax", "tf.nn.log_softmax", "ops.log_softmax"),
    "norm": ("jnp.linalg.norm", "torch.linalg.vector_norm", "tf.norm", "ops.norm"),
    "argmax": ("jnp.argmax", "torch.argmax", "tf.argmax", "ops.argmax"),
    "argmin": ("jnp.argmin", "torch.argmin", "tf.argmin", "ops.argmin"),
}
_PLACE = {"jax": 0, "torch": 1, "tensorflow": 2, "keras": 3}


def _function(name: str, w: Context) -> str:
    return _TOTAL[name][_PLACE[w.framework]]


def _reduced(name: str, x: str, axes: Sequence[int], rank: int, w: Context) -> str:
    """A reduction over axes; over all of them without saying so."""
    function = _function(name, w)
    if tuple(axes) == tuple(range(rank)) and (name != "logsumexp" or w.framework != "torch"):
        return f"{function}({x})"
    return f"{function}({x}, {w.known.axis}={axes[0] if len(axes) == 1 else tuple(axes)})"


def _reduction(node: Node, w: Context) -> _Text:
    x, axes = node.args[0], node.params[0]
    rank = len(x.shape)
    name = node.op.name
    if not axes:
        return f"{w.known.elementwise}.abs({w.tensor(x)})" if name == "norm" else w.tensor(x, ATOM)
    if name == "norm" and len(axes) > 2 and len(axes) < rank and w.framework != "torch":
        inner = _reduced("sum", f"{w.tensor(x, ATOM)}**2", axes, rank, w)
        return f"{w.known.elementwise}.sqrt({inner})"
    if name == "prod" and w.framework == "torch" and 1 < len(axes) < rank:
        text = w.tensor(x)
        for axis in sorted(axes, reverse=True):  # torch takes one axis
            text = f"torch.prod({text}, dim={axis})"
        return text
    return _reduced(name, w.tensor(x), axes, rank, w)


def _soft(node: Node, w: Context) -> _Text:
    x, axes = node.args[0], node.params[0]
    name = node.op.name
    if len(axes) == 1 or (w.framework == "jax" and axes):
        own = axes[0] if len(axes) == 1 else tuple(axes)
        return f"{_function(name, w)}({w.tensor(x)}, {w.known.axis}={own})"
    keep = "keepdim" if w.framework == "torch" else "keepdims"
    text = w.tensor(x, MUL)
    if axes:
        total = f"{_function('logsumexp', w)}({w.tensor(x)}, {w.known.axis}={tuple(axes)}, {keep}=True)"
        text = f"{text} - {total}"
    else:
        text = f"{text} - {w.tensor(x, MUL)}"
    return f"{w.known.elementwise}.exp({text})" if name == "softmax" else f"({text})"


def _position(node: Node, w: Context) -> _Text:
    x, axis = w.of(node.args[0]), node.params[0]
    if axis is None:
        if w.framework == "tensorflow":
            return f"{_function(node.op.name, w)}(tf.reshape({x}, (-1,)))"
        return f"{_function(node.op.name, w)}({x})"
    return f"{_function(node.op.name, w)}({x}, {w.known.axis}={axis})"


def _flip(x: str, axes: Sequence[int], w: Context) -> str:
    match w.framework:
        case "torch":
            return f"torch.flip({x}, {tuple(axes)})"
        case "tensorflow":
            return f"tf.reverse({x}, {list(axes)})"
        case _:
            return f"{w.known.array}.flip({x}, {axes[0] if len(axes) == 1 else tuple(axes)})"


def _cumsum(node: Node, w: Context) -> _Text:
    x, (axis, reverse) = w.tensor(node.args[0]), node.params
    if w.framework == "tensorflow":
        return f"tf.cumsum({x}, axis={axis}{', reverse=True' if reverse else ''})"
    function = f"{w.known.array}.cumsum"
    if not reverse:
        return f"{function}({x}, {w.known.axis}={axis})"
    return _flip(f"{function}({_flip(x, [axis], w)}, {w.known.axis}={axis})", [axis], w)


def _prod_except(node: Node, w: Context) -> _Text:
    return f"{w.helper('_prod_except')}({w.tensor(node.args[0])}, {node.params[0]})"


# ---------------------------------------------------------------------------------------------------- contractions


def _einsum(node: Node, w: Context) -> _Text:
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
            return _reduced("sum", w.tensor(x), s.axes, rank, w)
        case "elementwise" if not s.axes:
            return "*".join(_aligned(node, s, w)), MUL
        case _:
            return f'{array}.einsum("{s.subscripts}", {", ".join(w.tensor(a) for a in node.args)})'


def _product(node: Node, s: Spelling, w: Context) -> _Text | None:
    """Matrix products as such. TensorFlow's are of matrices only: what has a vector is an einsum there."""
    shapes = [len(node.args[f.operand].shape) for part in s.parts for f in part]
    if w.framework == "tensorflow" and any(rank != 2 for rank in shapes):
        return None
    parts = [_chain(node, part, w) for part in s.parts]
    return f"{w.known.array}.outer({', '.join(parts)})" if s.form == "outer" else (parts[0], MUL)


def _chain(node: Node, chain: Sequence[Factor], w: Context) -> str:
    texts: list[str] = []
    for f in chain:
        text = w.tensor(node.args[f.operand], ATOM)
        if f.transposed:
            text = f"{text}.T" if w.framework in ("jax", "torch") else f"{w.known.array}.transpose({text})"
        texts.append(text)
    vector = len(node.args[chain[-1].operand].shape) == 1
    if w.framework == "keras":  # the operator of its backends' arrays is not one and the same
        while len(texts) > 1:
            at = len(texts) - 2 if vector else 0
            texts[at : at + 2] = [f"ops.matmul({texts[at]}, {texts[at + 1]})"]
        return texts[0]
    if not vector:
        return " @ ".join(texts)
    text = texts.pop()  # matrices are applied to a vector one after the other, never multiplied first
    for i, factor in enumerate(reversed(texts)):
        text = f"{factor} @ {f'({text})' if i else text}"
    return text


def _aligned(node: Node, s: Spelling, w: Context) -> list[str]:
    rank = max(map(len, s.places))
    texts: list[str] = []
    for arg, places in zip(node.args, s.places, strict=True):
        items = [":" if i in places else "None" for i in range(rank)]
        while items and items[0] == "None":
            items.pop(0)
        texts.append(w.tensor(arg, ATOM) + (f"[{', '.join(items)}]" if "None" in items else ""))
    return texts


# ---------------------------------------------------------------------------------------------------------- layout


def _reshape(node: Node, w: Context) -> _Text:
    return f"{w.known.array}.reshape({_moved(node.args[0], w)}, {shape_text(node.shape, w)})"


def _broadcast(node: Node, w: Context) -> _Text:
    x, shape = node.args[0], shape_text(node.shape, w)
    if x.op is NUMBER:
        return w.known.full.format(shape, w.of(x))
    return f"{w.known.array}.broadcast_to({_moved(x, w)}, {shape})"


def _concatenate(node: Node, w: Context) -> _Text:
    name = {"tensorflow": "tf.concat"}.get(w.framework, f"{w.known.array}.concatenate")
    axis = node.params[0]
    says = f"{w.known.axis}={axis}"
    return f"{name}([{', '.join(w.tensor(a) for a in node.args)}], {says})"


def _end(end: Size | None, w: Context, *, flipped: bool) -> str:
    if end is None:
        return ""
    if not flipped:
        return w.size(end)
    return str(-(end + 1)) if isinstance(end, int) else f"-({w.size(end)} + 1)"


def _key(triples: Sequence[Triple], w: Context, *, backwards: bool) -> tuple[str, list[int]]:
    """Return subscripts, and the axes to flip first where steps must be positive: entry i is -(i + 1) of what is."""
    items: list[str] = []
    flipped: list[int] = []
    for axis, (start, stop, step) in enumerate(triples):
        turn = step < 0 and not backwards
        if turn:
            flipped.append(axis)
            step = -step
        ends = [_end(start, w, flipped=turn), _end(stop, w, flipped=turn)]
        items.append(":".join([*ends, *([str(step)] if step != 1 else [])]))
    while len(items) > 1 and items[-1] == ":":
        items.pop()
    return ", ".join(items), flipped


def _slice(node: Node, w: Context) -> _Text:
    x = node.args[0]
    key, flipped = _key(node.params[0], w, backwards=w.framework in ("jax", "tensorflow"))
    if flipped:
        return f"{_flip(_moved(x, w), flipped, w)}[{key}]"
    return f"{w.tensor(x, ATOM) if x.dtype == 'real' else w.of(x, ATOM)}[{key}]"


def _unslice(node: Node, w: Context) -> _Text:
    triples, shape = node.params
    x = w.tensor(node.args[0])
    if w.framework == "jax":
        key, _ = _key(triples, w, backwards=True)
        return f"jnp.zeros({shape_text(shape, w)}, dtype).at[{key}].set({x})"
    key, flipped = _key(triples, w, backwards=False)
    helper = w.helper("_unslice")
    items = key.split(", ")
    slices = [_slice_of(item) for item in items] + ["slice(None)"] * (len(shape) - len(items))
    text = f"{helper}({x}, {_tuple(slices)}, {shape_text(shape, w)})"
    return _flip(text, flipped, w) if flipped else text


def _slice_of(item: str) -> str:
    parts = [part or "None" for part in item.split(":")]
    return f"slice({', '.join(parts)})"


# ------------------------------------------------------------------------------------------------------- positions


def _gather(node: Node, w: Context) -> _Text:
    x, *indices = node.args
    axes: tuple[int, ...] = node.params[0]
    texts = [w.positions(i) for i in indices]
    array = w.tensor(x, ATOM) if x.dtype == "real" else w.of(x, ATOM)
    if w.framework in ("jax", "torch"):
        if axes == tuple(range(axes[0], axes[0] + len(axes))):
            return f"{array}[{', '.join([':'] * axes[0] + texts)}]"
    elif len(axes) == 1:
        (axis,) = axes
        if w.framework == "keras":
            if indices[0].op is NUMBER:
                return f"{array}[{', '.join([':'] * axis + texts)}]"
            return f"ops.take({array}, {texts[0]}, axis={axis})"
        if indices[0].op is NUMBER:
            return f"{array}[{', '.join([':'] * axis + texts)}]"
        return f"tf.gather({array}, {w.helper('_wrapped')}({texts[0]}, {array}, {axis}), axis={axis})"
    return f"{w.helper('_gather')}({array}, {axes}, {', '.join(texts)})"


def _scatter_add(node: Node, w: Context) -> _Text:
    values, *indices = node.args
    axes, shape = node.params[0], shape_text(node.shape, w)
    texts = [w.positions(i) for i in indices]
    if w.framework == "jax" and axes == tuple(range(len(axes))):
        return f"jnp.zeros({shape}, dtype).at[{', '.join(texts)}].add({w.tensor(values)})"
    return f"{w.helper('_scatter_add')}({w.tensor(values)}, {axes}, {shape}, {', '.join(texts)})"


def _one_hot(node: Node, w: Context) -> _Text:
    index = node.args[0]
    places = w.known.arange.format(w.size(node.params[0]))
    text = w.positions(index)
    if index.shape:
        text = f"{w.known.array}.{'unsqueeze' if w.framework == 'torch' else 'expand_dims'}({text}, -1)"
    return w.known.cast.format(Bare(f"({text} == {places})"))


class Bare(str):
    """A text that binds tightly enough for every place."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return str(self)


def _iota(node: Node, w: Context) -> _Text:
    return w.known.arange.format(w.size(node.params[0]))


def _eye(node: Node, w: Context) -> _Text:
    rows, columns = node.params
    return w.known.eye.format(", ".join(w.size(s) for s in ([rows] if rows == columns else [rows, columns])))


# -------------------------------------------------------------------------------------------------- linear algebra

_LINALG = {"jax": "jnp.linalg", "torch": "torch.linalg", "tensorflow": "tf.linalg", "keras": "ops"}


def _linalg(name: str, after: str = "") -> _Writer:
    return lambda node, w: f"{_LINALG[w.framework]}.{name}({w.tensor(node.args[0])}){after}"


def _solve(node: Node, w: Context) -> _Text:
    a, b = node.args
    function = f"{_LINALG[w.framework]}.solve"
    if len(b.shape) == 1:
        return f"{function}({w.tensor(a)}, {w.tensor(b, ATOM)}[:, None])[:, 0]"
    texts = [w.tensor(a), w.tensor(b)]
    if a.shape[:-2] != b.shape[:-2]:  # of stacks that are repeated
        lead = node.shape[:-2]
        texts = [
            f"{w.known.array}.broadcast_to({text}, {shape_text((*lead, *x.shape[-2:]), w)})"
            for text, x in zip(texts, (a, b), strict=True)
        ]
    return f"{function}({', '.join(texts)})"


def _matrix_function(helper: str) -> _Writer:
    return lambda node, w: f"{w.helper(helper)}({', '.join(w.tensor(a) for a in node.args)})"


ARRAYS: Mapping[str, _Writer] = {
    "argmax": _position,
    "argmin": _position,
    "broadcast_to": _broadcast,
    "concatenate": _concatenate,
    "cosm": _matrix_function("_cosm"),
    "cosm_frechet": _matrix_function("_cosm_frechet"),
    "cumsum": _cumsum,
    "det": _linalg("det"),
    "einsum": _einsum,
    "expm": _matrix_function("_expm"),
    "expm_frechet": _matrix_function("_expm_frechet"),
    "eye": _eye,
    "gather": _gather,
    "inv": _linalg("inv"),
    "iota": _iota,
    "log_softmax": _soft,
    "logdet": _linalg("slogdet", "[1]"),
    "logsumexp": _reduction,
    "max": _reduction,
    "mean": _reduction,
    "min": _reduction,
    "norm": _reduction,
    "one_hot": _one_hot,
    "prod": _reduction,
    "prod_except": _prod_except,
    "reshape": _reshape,
    "scatter_add": _scatter_add,
    "sinm": _matrix_function("_sinm"),
    "sinm_frechet": _matrix_function("_sinm_frechet"),
    "slice": _slice,
    "softmax": _soft,
    "solve": _solve,
    "unslice": _unslice,
}
"""By op."""
