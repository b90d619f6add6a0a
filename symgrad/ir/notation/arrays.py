"""Program text of array ops: mathematical notation that parses to the same node.

A spelling is a function of `ops/numpy/calls.py` or `ops/numpy/subscripts.py` that returns exactly this node for its
operands. If there is none, the spelling has the name and the parameters of the op: einsum("ij,jk->ki", A, B),
reshape(x, (n, 5)), slice(x, ((0, n, 1),)), gather(x, i, j, axes=(1, 3)).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import product
from typing import Any, TypeAlias

from symgrad.ir.graph import NUMBER, SYMBOL, Node
from symgrad.ir.notation.literals import ANY, ATOM, MUL, NEG, Part, separated, size_text, tuple_text
from symgrad.ir.shapes import Triple, padded, typed_slice
from symgrad.ir.sizes import Shape, Size, nonnegative, size_product, size_sum

Written: TypeAlias = "tuple[list[Part], int]"
Named: TypeAlias = "Container[Node]"

_LETTERS = "ijklmnopqrstuvwxyzabcdefghIJKLMNOPQRSTUVWXYZABCDEFGH"
_WHOLE: Triple = (None, None, 1)


def _call(name: str, *arguments: Node | str) -> Written:
    return [f"{name}(", *separated(arguments), ")"], ATOM


def truth_symbol(node: Node) -> Node | None:
    """Return the symbol whose truth values a node has as 1 and 0, to which the subscripts of the node apply.

    Return None otherwise.
    """
    one_or_zero = node.op.name == "where" and node.args[1].is_number(1) and node.args[2].is_number(0)
    return node.args[0] if one_or_zero and node.args[0].op is SYMBOL else None


def _subscript(x: Node, items: Sequence[str | Node]) -> Written:
    return [(truth_symbol(x) or x, ATOM, False), "[", *separated(items), "]"], ATOM


def _axis(axes: Sequence[int], rank: int) -> list[str]:
    """Return the argument axis=...; nothing for all axes."""
    if tuple(axes) == tuple(range(rank)):
        return []
    return [f"axis={axes[0] if len(axes) == 1 else tuple_text(axes)}"]


def write_call(node: Node, _names: Named) -> Written:
    """Write a call under the name of the op: axes as in NumPy, other static parameters by name."""
    texts: list[str] = []
    for parameter, value in zip(node.op.parameters, node.params, strict=True):
        match parameter, value:
            case "axes", _:
                texts += _axis(value, len(node.args[0].shape))
            case ("axis", None) | ("reverse", 0):
                pass
            case "reverse", _:
                texts.append("reverse=True")
            case _:
                texts.append(f"{parameter}={_literal(value)}")
    return _call(node.op.name, *node.args, *texts)


def _literal(value: Any) -> str:
    if isinstance(value, tuple):
        texts = [_literal(v) for v in value]  # pyright: ignore[reportUnknownVariableType]  (entries of nested tuples)
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    return "None" if value is None else size_text(value)


# ----------------------------------------------------------------------------------------------------- contractions


def write_contraction(node: Node, _names: Named) -> Written:
    """Write a contraction as a product, sum, transpose, trace or diagonal, or else with einsum."""
    labels, result = node.params
    if len(node.args) == 1:
        written = _of_one(node.args[0], labels[0], result)
    else:
        written = _of_two(node) if len(node.args) == 2 else None
    if written is not None:
        return written
    terms = ",".join("".join(_LETTERS[i] for i in own) for own in labels)
    return _call("einsum", f'"{terms}->{"".join(_LETTERS[i] for i in result)}"', *node.args)


def _of_one(x: Node, own: tuple[int, ...], result: tuple[int, ...]) -> Written | None:
    rank = len(own)
    if own == tuple(range(rank)):
        if len(result) < rank:
            axes = [i for i in own if i not in result]
            return _call("sum", x, *_axis(axes, rank)) if list(result) == sorted(result) else None
        if result == own[::-1]:
            return [(x, ATOM, False), ".T"], ATOM
        return _call("transpose", x, tuple_text(result))
    if own[:2] == (0, 0) and own[2:] == result == tuple(range(1, rank - 1)):
        return _call("trace", x)
    return _call("diag", x) if (own, result) == ((0, 0), (0,)) else None


def _of_two(node: Node) -> Written | None:
    a, b = node.args
    if node.params == (((0,), (1,)), (0, 1)):
        return _call("outer", a, b)
    if node.params == (((0,), (0, 1)), (0, 1)) and b.op.name == "eye" and b.params == a.shape * 2:
        return _call("diag", a)
    flags = _transposed(node)
    if flags is None:
        return None
    parts: list[Part] = []
    # The left operand of @ needs parentheses unless it is a matrix product itself.
    left = MUL if is_matrix_product(a) else ATOM
    for x, t, needed in zip(node.args, flags, (left, NEG), strict=True):
        parts += [(x, ATOM, False), ".T"] if t else [(x, needed, False)]
        parts.append("@")
    return parts[:-1], MUL


def _transposed(node: Node) -> tuple[bool, ...] | None:
    """Return for each operand of a matrix product whether it is transposed; None for any other node."""
    a, b = node.args
    for flags in product(*((False, True) if len(x.shape) == 2 else (False,) for x in node.args)):
        # The reader merges the transpose of an operand of @ into the contraction.
        if any(is_transpose(x) and not t for x, t in zip(node.args, flags, strict=True)):
            continue
        if node.params == _matmul_params(len(a.shape), len(b.shape), *flags):
            return flags
    return None


def is_matrix_product(node: Node) -> bool:
    """Tell whether the spelling of a node has @."""
    if node.op.name != "einsum" or len(node.args) != 2:
        return False
    spread = node.params[0][0] == (0,) and node.params[1] == (0, 1)  # outer, or a diagonal matrix
    return not spread and _transposed(node) is not None


def is_transpose(node: Node) -> bool:
    """Tell whether a node is the transpose of a matrix."""
    return node.op.name == "einsum" and node.params == (((0, 1),), (1, 0))


def _matmul_params(p: int, q: int, turn_a: bool, turn_b: bool) -> tuple[Any, ...]:
    """Return the params of matmul of arrays with p and q axes, each of which may be transposed first."""
    batch = max(p - 2, q - 2, 0)
    row, middle, column = batch, batch + 1, batch + 2
    left = [*range(batch - max(p - 2, 0), batch), *([row] if p > 1 else []), middle]
    right = [*range(batch - max(q - 2, 0), batch), middle, *([column] if q > 1 else [])]
    out = [*range(batch), *([row] if p > 1 else []), *([column] if q > 1 else [])]
    left, right = left[::-1] if turn_a else left, right[::-1] if turn_b else right
    new: dict[int, int] = {}
    for label in (*left, *right):
        new.setdefault(label, len(new))
    return (tuple(new[i] for i in left), tuple(new[i] for i in right)), tuple(new[i] for i in out)


# ------------------------------------------------------------------------------------------------------- reductions


def _reduced(node: Node) -> Sequence[int] | None:
    """Return the axes that a reduction removes from its only operand; None for any other node."""
    if node.op.pointwise or len(node.args) != 1 or len(node.shape) >= len(node.args[0].shape):
        return None
    match node.op.parameters, node.params:
        case ("labels", "result"), ((own,), result):
            plain = own == tuple(range(len(own))) and list(result) == sorted(result)
            return [i for i in own if i not in result] if plain else None
        case ("axes",), (axes,):
            return axes
        case ("axis",), (axis,):
            return range(len(node.args[0].shape)) if axis is None else [axis]
        case _:
            return None


def _keeping(node: Node) -> Written | None:
    """Write a reshape of a reduction as the reduction with keepdims=True; return None for any other reshape."""
    reduced = node.args[0]
    axes = _reduced(reduced)
    if not axes:
        return None
    x = reduced.args[0]
    if node.shape != tuple(1 if i in axes else s for i, s in enumerate(x.shape)):
        return None
    # For a vector, argmax(x, axis=0) and argmax(x) are different nodes.
    where = [f"axis={axes[0]}"] if reduced.params == (axes[0],) else _axis(list(axes), len(x.shape))
    name = "sum" if reduced.op.name == "einsum" else reduced.op.name
    return _call(name, x, *where, "keepdims=True")


# ----------------------------------------------------------------------------------------------------------- layout


def _inserted(few: Shape, many: Shape) -> list[int] | None:
    """Return the axes of length 1 whose insertion turns one shape into another; None if the shapes differ otherwise."""
    new: list[int] = []
    i = 0
    for axis, size in enumerate(many):
        if i < len(few) and few[i] == size:
            i += 1
        elif size == 1:
            new.append(axis)
        else:
            return None
    return new if i == len(few) else None


def write_reshape(node: Node, names: Named) -> Written:
    """Write a reshape with keepdims, as an entry, with new axes or with squeeze; else with its shape."""
    x, shape = node.args[0], node.shape
    if x not in names:
        written = _keeping(node)
        if written is None and x.op.name in ("slice", "gather"):
            written = _entry(node, names)
        if written is not None:
            return written
    # Subscripts and squeeze merge two reshapes, so if x is a reshape, they would give another node.
    if x.op.name != "reshape" and x.op is not NUMBER:
        new = _inserted(x.shape, shape)
        if new:
            return _subscript(x, ["None" if i in new else ":" for i in range(len(shape))])
        removed = _inserted(shape, x.shape)
        if removed:
            ones = [i for i, size in enumerate(x.shape) if size == 1]
            return _call("squeeze", x, *([] if removed == ones else _axis(removed, -1)))
    return _call("reshape", x, tuple_text(shape))


def _entry(node: Node, names: Named) -> Written | None:
    """Write x[i, 1:, j] for a reshape that drops axes along which a slice has one entry; return None for any other."""
    found = entry_items(node, names)
    if found is None:
        return None
    x, items = found
    texts = [
        i if isinstance(i, Node) else str(i) if isinstance(i, int) else _slice_text(i, size)
        for i, size in zip(items, x.shape, strict=True)
    ]
    return _subscript(x, _short(texts))


def entry_items(node: Node, named: Named) -> tuple[Node, list[int | Triple | Node]] | None:
    """Return x and the items of x[i, 1:, j] for a reshape that drops axes along which a slice has one entry.

    The result is None for other nodes.

    Args:
        node: a reshape.
        named: nodes with a name.
    """
    inner = node.args[0]
    at: dict[int, Node] = {}
    if inner.op.name == "gather" and inner not in named:  # of a slice, at numbers
        axes: Sequence[int] = inner.params[0]
        inner, *places = inner.args
        at = dict(zip(axes, places, strict=True))
        if any(p.shape or not _stays(p, inner.shape[a], arrays=False) for a, p in at.items()):
            return None
    if inner.op.name != "slice" or inner in named or not _is_normal(inner):
        return None
    x, triples = inner.args[0], inner.params[0]
    if any(triples[a] != _WHOLE for a in at):
        return None
    found = [
        at.get(axis, _only(t, size)) for axis, (t, size) in enumerate(zip(triples, x.shape, strict=True))
    ]
    shape = [n for n, one in zip(inner.shape, found, strict=True) if one is None]
    if len(shape) == len(found) or tuple(shape) != node.shape:
        return None
    return x, [t if one is None else one for t, one in zip(triples, found, strict=True)]


def _only(triple: Triple, size: Size) -> int | None:
    """Return the position in a slice of one entry, if the reader makes this slice from a number as subscript.

    Return None otherwise.
    """
    start, stop, step = triple
    if triple == _WHOLE or step != 1 or not isinstance(size, int):
        return None
    first = 0 if start is None else start
    last = size if stop is None else stop
    if not isinstance(first, int) or not isinstance(last, int) or first < 0:
        return None
    return first if last == first + 1 <= size else None


def _short(items: list[str | Node]) -> list[str | Node]:
    while len(items) > 1 and items[-1] == ":":
        items.pop()
    return items


def _slice_text(triple: Triple, size: Size) -> str:
    *ends, step = typed_slice(triple, size)
    start, stop = ("" if end is None else size_text(end) for end in ends)
    return f"{start}:{stop}" + (f":{step}" if step != 1 else "")


def _is_normal(node: Node) -> bool:
    """Tell whether a slice is in the form that the reader produces: without redundant ends, and not the full array."""
    triples = node.params[0]
    return any(t != _WHOLE for t in triples) and not any(
        step > 0 and (start == 0 or stop == size)
        for (start, stop, step), size in zip(triples, node.args[0].shape, strict=True)
    )


def write_slice(node: Node, _names: Named) -> Written:
    """Write a basic subscript."""
    x, triples = node.args[0], node.params[0]
    if not _is_normal(node):
        return _call("slice", x, _literal(triples))
    items: list[str | Node] = [_slice_text(t, size) for t, size in zip(triples, x.shape, strict=True)]
    return _subscript(x, _short(items))


def write_unslice(node: Node, _names: Named) -> Written:
    """Write zeros around an array, or between its entries."""
    widths = _pad_widths(node)
    if widths is not None:
        rows = ", ".join(map(tuple_text, widths))
        return _call("pad", node.args[0], rows if len(widths) == 1 else f"({rows})")
    return _call("unslice", node.args[0], _literal(node.params[0]), tuple_text(node.shape))


def _pad_widths(node: Node) -> list[tuple[Size, Size]] | None:
    """Return the numbers of zeros before and after an array along each axis; None if the node is no such padding."""
    widths: list[tuple[Size, Size]] = []
    for size, triple, whole in zip(node.args[0].shape, node.params[0], node.shape, strict=True):
        before, stop, _ = triple
        before = before or 0
        if isinstance(stop, int):
            after: Size = -stop
        else:
            after = 0 if stop is None else size_sum([whole, size_product([-1, stop])])
        if not (nonnegative(before) and nonnegative(after)) or padded(size, before, after) != (triple, whole):
            return None
        widths.append((before, after))
    return widths if any(w != (0, 0) for w in widths) else None


def write_broadcast(node: Node, _names: Named) -> Written:
    """Write zeros, ones, one number, or repeated entries."""
    x = node.args[0]
    shape = size_text(node.shape[0]) if len(node.shape) == 1 else tuple_text(node.shape)
    if x.is_number(0) or x.is_number(1):
        return _call("ones" if x.value else "zeros", shape)
    return _call("broadcast_to", x, tuple_text(node.shape)) if x.shape else _call("full", shape, x)


def _entries(node: Node, names: Named) -> list[Part] | None:
    """Write an array as the nested lists that `array` takes; return None for any other node."""
    if node.op.name != "concatenate" or node.params[0] != 0 or len(node.args) < 2:
        return None
    parts: list[Part] = ["["]
    for i, x in enumerate(node.args):
        if x in names or x.op.name != "broadcast_to" or x.shape != (1, *x.args[0].shape):
            return None
        (row,) = x.args
        inner = _entries(row, names) if row.shape and row not in names else None
        if row.shape and inner is None:
            return None
        parts += [*([", "] if i else []), *(inner or [(row, ANY, False)])]
    return [*parts, "]"]


def write_concatenation(node: Node, names: Named) -> Written:
    """Write an array of entries, a stack, or a concatenation."""
    axis = node.params[0]
    entries = _entries(node, names)
    if entries is not None:
        return ["array(", *entries, ")"], ATOM
    inner = [x.args[0] for x in node.args if x.op.name == "reshape" and x not in names]
    stacked = len(inner) == len(node.args) and all(
        i.op.name != "reshape"
        and i.shape == inner[0].shape
        and x.shape == (*i.shape[:axis], 1, *i.shape[axis:])
        for i, x in zip(inner, node.args, strict=True)
    )
    name, xs = ("stack", inner) if stacked else ("concatenate", node.args)
    where = [] if stacked and axis == 0 else [f", axis={axis}"]
    return [f"{name}((", *separated(xs), ",)" if len(xs) == 1 else ")", *where, ")"], ATOM


# -------------------------------------------------------------------------------------------------------- positions


def write_gather(node: Node, names: Named) -> Written:
    """Write a subscript by positions."""
    x, indices = node.args[0], node.args[1:]
    axes: tuple[int, ...] = node.params[0]
    arrays = [i for i in indices if i.shape]
    together = tuple(range(axes[0], axes[0] + len(axes)))
    # If index arrays are not adjacent, their axes come first, in NumPy and therefore in the reader.
    placed = axes == together or not arrays or axes[0] == 0
    # The reader turns a number into a slice, unless the length is a name or there are also index arrays.
    if not placed or any(
        not _stays(i, x.shape[a], arrays=bool(arrays)) for i, a in zip(indices, axes, strict=True)
    ):
        return _call("gather", *node.args, f"axes={tuple_text(axes)}")
    items: list[Node | str] = [":"] * (axes[-1] + 1)
    for index, axis in zip(indices, axes, strict=True):
        items[axis] = index if index in names else _numbers(index) or index
    return _subscript(x, items)


def _stays(index: Node, size: Size, *, arrays: bool) -> bool:
    if not index.is_number() or not isinstance(size, int):
        return True
    return arrays and bool(-size <= index.value < size)


def _numbers(index: Node) -> str | None:
    """Write a stack of numbers as a list; return None for any other node."""
    if index.op.name != "concatenate" or len(index.shape) != 1:
        return None
    entries = [x.args[0] for x in index.args if x.op.name == "reshape" and x.shape == (1,)]
    if len(entries) != len(index.args) or not all(e.op is NUMBER for e in entries):
        return None
    return f"[{', '.join(str(e.value) for e in entries)}]"


def write_scatter(node: Node, _names: Named) -> Written:
    """Write values added at positions."""
    axes, shape = node.params
    where = [] if axes == (0,) else [f"axes={tuple_text(axes)}"]
    return _call("scatter_add", *node.args, *where, f"shape={tuple_text(shape)}")


def write_one_hot(node: Node, _names: Named) -> Written:
    """Write rows with a 1 at a position."""
    return _call("one_hot", node.args[0], size_text(node.params[0]))


def write_eye(node: Node, _names: Named) -> Written:
    """Write the matrix with 1 on its diagonal."""
    rows, columns = node.params
    return _call("eye", size_text(rows), *([] if rows == columns else [size_text(columns)]))


def write_iota(node: Node, _names: Named) -> Written:
    """Write 0, 1, 2, ..."""
    return _call("arange", size_text(node.params[0]))
