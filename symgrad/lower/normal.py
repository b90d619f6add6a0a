"""Array programs in fewer ops, before loops are planned.

What remains besides elementwise ops: einsum of one operand, of two, or of several that one loop nest multiplies; max,
min, prod, argmax, argmin, cumsum, prod_except; reshape, broadcast_to, slice, unslice, concatenate; gather,
scatter_add, iota.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from symgrad.ir.graph import Node, apply, as_node, number, size_node
from symgrad.ir.op import OPS
from symgrad.ir.sizes import Size, evaluate_size, names_of, size_product
from symgrad.ir.traverse import topological

__all__ = ["estimate", "is_product_of_matrices", "normal"]

_GUESS = 256
"""What a named size counts as where costs are compared: most are batches."""


def estimate(size: Size) -> int:
    """Return a number for a size that has names, to compare costs."""
    return max(evaluate_size(size, dict.fromkeys(names_of(size), _GUESS)), 1)


def normal(outputs: Sequence[Node]) -> list[Node]:
    """Return the outputs in the smaller vocabulary; values agree up to rounding."""
    done: dict[Node, Node] = {}
    products: _Products = {}
    for node in topological(outputs):
        args = tuple(done[a] for a in node.args)
        if node.op.name == "einsum":
            done[node] = _einsum(node, args, products)
            continue
        rule = _RULES.get(node.op.name)
        done[node] = (
            rule(node, args) if rule else node if args == node.args else apply(node.op, args, node.params)
        )
    return [done[o] for o in outputs]


def _op(name: str, *args: Node) -> Node:
    return apply(OPS[name], args)


def _sub(a: Node, b: Node) -> Node:
    return _op("add", a, _op("neg", b))


def _kept(x: Node, value: Node, axes: tuple[int, ...]) -> Node:
    """Return a reduction of x so that it broadcasts against x."""
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return value if value.shape == shape else apply(OPS["reshape"], (value,), (shape,))


def _sum(x: Node, axes: tuple[int, ...]) -> Node:
    labels = tuple(range(len(x.shape)))
    if not axes:
        return x
    return apply(OPS["einsum"], (x,), ((labels,), tuple(j for j in labels if j not in axes)))


def _reduce(name: str, x: Node, axes: tuple[int, ...]) -> Node:
    return apply(OPS[name], (x,), (axes,)) if axes else x


def _mean(node: Node, args: tuple[Node, ...]) -> Node:
    axes: tuple[int, ...] = node.params[0]
    count = size_node(size_product(node.args[0].shape[a] for a in axes))
    return _op("div", _sum(args[0], axes), count)


def _softened(x: Node, axes: tuple[int, ...]) -> tuple[Node, Node]:
    """Return the finite largest entry, to subtract, and exp(x - it)."""
    if any(x.shape[a] == 0 for a in axes):
        top = as_node(0)
    else:
        found = _reduce("max", x, axes)
        # An infinite one is not subtracted: exp(-inf) is the right 0, and inf - inf would be NaN.
        top = _kept(x, _op("where", _op("eq", _sub(found, found), as_node(0)), found, as_node(0)), axes)
    return top, _op("exp", _sub(x, top))


def _logsumexp(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    top, e = _softened(args[0], axes)
    total = _op("log", _sum(e, axes))
    return _op("add", total, top if top.shape == total.shape else _shaped(top, node))


def _shaped(x: Node, node: Node) -> Node:
    return apply(OPS["reshape"], (x,), (node.shape,)) if x.shape else x


def _softmax(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    _, e = _softened(args[0], axes)
    # One division a row. The sum is at least 1, so that its reciprocal loses nothing but one rounding.
    return _op("mul", e, _kept(e, _op("div", as_node(1), _sum(e, axes)), axes))


def _log_softmax(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    top, e = _softened(args[0], axes)
    return _sub(_sub(args[0], top), _op("log", _kept(e, _sum(e, axes), axes)))


def _norm(node: Node, args: tuple[Node, ...]) -> Node:
    axes: tuple[int, ...] = node.params[0]
    (x,) = args
    if not axes:
        return _op("abs", x)
    if any(x.shape[a] == 0 for a in axes):
        return _op("sqrt", _op("mul", _sum(x, axes), as_node(1)))
    top = _reduce("max", _op("abs", x), axes)
    # The squares of large entries overflow, those of small ones vanish: both are scaled by the largest entry.
    usable = _op("and_", _op("gt", top, as_node(0)), _op("eq", _sub(top, top), as_node(0)))
    scale = _op("where", usable, top, as_node(1))
    ratio = _op("div", x, _kept(x, scale, axes))
    labels = tuple(range(len(x.shape)))
    kept = tuple(j for j in labels if j not in axes)
    squares = apply(OPS["einsum"], (ratio, ratio), ((labels, labels), kept))
    return _op("mul", _op("sqrt", squares), scale)


def _one_hot(node: Node, args: tuple[Node, ...]) -> Node:
    (index,) = args
    (depth,) = node.params
    column = apply(OPS["reshape"], (index,), ((*index.shape, 1),))
    return _op("where", _op("eq", column, _iota(depth)), as_node(1), as_node(0))


def _eye(node: Node, _args: tuple[Node, ...]) -> Node:
    rows, columns = node.params
    row = apply(OPS["reshape"], (_iota(rows),), ((rows, 1),))
    return _op("where", _op("eq", row, _iota(columns)), as_node(1), as_node(0))


def _iota(size: Size) -> Node:
    return apply(OPS["iota"], (), (size,))


def _scatter_add(node: Node, args: tuple[Node, ...]) -> Node:
    """Write a scatter that gives each entry at most one value as a choice: it takes no memory of its own.

    The derivative of picking one entry of every row is one: the positions along rows are counted, those in a row
    compared.
    """
    axes, shape = node.params
    values, *indices = args
    depth = max(len(i.shape) for i in indices)
    counted: dict[int, int] = {}
    for index, axis in zip(indices, axes, strict=True):
        along = _counts(index, depth)
        if along is not None:
            counted[along] = axis
    first: int = axes[0]
    extents = values.shape[first : first + depth]
    if any(d not in counted or shape[counted[d]] != n for d, n in enumerate(extents)):
        return apply(node.op, args, node.params)
    # Labels: the axes of the target; an axis of the positions is the axis of the target that counts along it.
    kept = iter([a for a in range(len(shape)) if a not in axes])
    of_values = tuple(
        counted[j - first] if first <= j < first + depth else next(kept) for j in range(len(values.shape))
    )
    result = _spread(values, of_values, len(shape))
    for index, axis in zip(indices, axes, strict=True):
        if axis in counted.values():
            continue
        lead = depth - len(index.shape)
        at = _spread(index, tuple(counted[j + lead] for j in range(len(index.shape))), len(shape))
        size = shape[axis]
        at = _op("where", _op("lt", at, as_node(0)), _op("add", at, size_node(size)), at)
        here = _op("eq", at, _spread(_iota(size), (axis,), len(shape)))
        result = _op("where", here, result, as_node(0))
    return result if result.shape == shape else apply(OPS["broadcast_to"], (result,), (shape,))


def _counts(index: Node, depth: int) -> int | None:
    """Return along which axis of the positions an index array counts 0, 1, ...; None if it does not."""
    x = index
    while x.op.name == "reshape":
        x = x.args[0]
    long = [j for j, n in enumerate(index.shape) if n != 1]
    if x.op.name != "iota" or len(long) != 1:
        return None
    return long[0] + depth - len(index.shape)


def _spread(x: Node, labels: tuple[int, ...], rank: int) -> Node:
    """Return x with its axes at these axes of an array of a rank, the others of length 1."""
    order = tuple(sorted(labels))
    if order != labels:
        x = apply(OPS["einsum"], (x,), ((labels,), order))
    sizes = dict(zip(order, x.shape, strict=True))
    shape = tuple(sizes.get(a, 1) for a in range(rank))
    return x if x.shape == shape else apply(OPS["reshape"], (x,), (shape,))


_Labels = tuple[int, ...]

_Product = tuple[Node, Node, _Labels, _Labels, frozenset[int]]
"""Two operands, their axes, and which axes the product has."""

_Products = dict[_Product, tuple[Node, _Labels]]
"""Products of matrices that a program computes, and the order of the axes of each."""


def is_product_of_matrices(labels: tuple[_Labels, ...], result: _Labels) -> bool:
    """Tell whether a contraction of two operands is a (batch of) product(s) of matrices, which BLAS computes best."""
    if len(labels) != 2:
        return False
    a, b = map(set, labels)
    kept = set(result)
    return (
        all(len(own) == len(set(own)) for own in labels)
        and bool((a & b) - kept)
        and bool((a - b) & kept)
        and bool((b - a) & kept)
        and a ^ b <= kept
    )


def _einsum(node: Node, args: tuple[Node, ...], products: _Products) -> Node:
    labels, result = node.params
    operands, axes = _absorb(args, labels)
    sizes: dict[int, Size] = {}
    for own, old in zip(labels, node.args, strict=True):
        sizes.update(zip(own, old.shape, strict=True))
    found, kept = _contract(operands, axes, result, sizes, products)
    if kept != result:  # an axis along which every operand was repeated
        spread = tuple(sizes[k] if k in kept else 1 for k in result)
        if found.shape != spread:
            found = apply(OPS["reshape"], (found,), (spread,))
        found = apply(OPS["broadcast_to"], (found,), (node.shape,))
    return found


def _absorb(args: Sequence[Node], labels: Sequence[_Labels]) -> tuple[list[Node], list[_Labels]]:
    """Read through transposes and repetitions of operands: they change labels, not numbers."""
    operands: list[Node] = []
    axes: list[_Labels] = []
    for x, given in zip(args, labels, strict=True):
        own = given
        while True:
            if x.op.name == "broadcast_to":
                inner = x.args[0]
                lead = len(x.shape) - len(inner.shape)
                keep = [j for j, size in enumerate(inner.shape) if not (size == 1 and x.shape[j + lead] != 1)]
                own = tuple(own[j + lead] for j in keep)
                shape = tuple(inner.shape[j] for j in keep)
                x = inner if inner.shape == shape else apply(OPS["reshape"], (inner,), (shape,))
            elif x.op.name == "einsum" and len(x.args) == 1 and set(x.params[0][0]) == set(x.params[1]):
                names = dict(zip(x.params[1], own, strict=True))
                own = tuple(names[label] for label in x.params[0][0])
                x = x.args[0]
            else:
                break
        operands.append(x)
        axes.append(own)
    return operands, axes


def _contract(
    operands: list[Node], axes: list[_Labels], result: _Labels, sizes: dict[int, Size], products: _Products
) -> tuple[Node, _Labels]:
    """Contract operands, two at a time where that is cheaper; labels that none has are left out of the result."""
    present = set[int]().union(*axes)
    absent = [k for k in sizes if k not in present and k not in result]
    kept = tuple(k for k in result if k in present)
    if absent:  # summed over and in no operand any more: a factor
        operands = [*operands, size_node(size_product(sizes[k] for k in absent))]
        axes = [*axes, ()]
    factors = [x for x, own in zip(operands, axes, strict=True) if not own]
    arrays = [(x, own) for x, own in zip(operands, axes, strict=True) if own]
    for step in _path(arrays, kept, sizes):
        pair = [arrays[i] for i in step]
        arrays = [entry for i, entry in enumerate(arrays) if i not in step]
        needed = set(kept).union(*(own for _, own in arrays))
        out = (
            kept
            if not arrays
            else tuple(k for k in dict.fromkeys(k for _, own in pair for k in own) if k in needed)
        )
        arrays.append((_binary(pair, out, products), out))
    found = arrays[0][0] if arrays else as_node(1)
    for factor in factors:
        found = _op("mul", factor, found) if not found.is_number(1) else factor
    return found, kept


def _path(
    arrays: list[tuple[Node, _Labels]], kept: _Labels, sizes: dict[int, Size]
) -> Iterable[tuple[int, ...]]:
    everything = set[int]().union(*(own for _, own in arrays))
    if len(arrays) <= 2 or any(set(own) == everything for _, own in arrays):
        # One nest over the largest operand multiplies all of them.
        return [tuple(range(len(arrays)))] if arrays else []
    planner: Any = import_module("opt_einsum")
    names = {k: chr(ord("a") + i) if i < 26 else chr(0x100 + i) for i, k in enumerate(sorted(everything))}
    spelled = ",".join("".join(names[k] for k in own) for _, own in arrays)
    spelled += "->" + "".join(names[k] for k in kept)
    shapes = [tuple(estimate(sizes[k]) for k in own) for _, own in arrays]
    path = planner.contract_path(spelled, *shapes, shapes=True, optimize="auto")[0]
    return [tuple(map(int, step)) for step in path]


def _binary(pair: list[tuple[Node, _Labels]], out: _Labels, products: _Products) -> Node:
    """One step of a contraction, operands that need it summed before and made real for BLAS."""
    labels = tuple(own for _, own in pair)
    operands = [x for x, _ in pair]
    if len(pair) == 2:
        a, b = map(set, labels)
        if (a & b) - set(out) and (a - b) & set(out) and (b - a) & set(out):
            summed: list[_Labels] = []
            for i, other in enumerate((b, a)):
                own = labels[i]
                left = tuple(k for k in dict.fromkeys(own) if k in other or k in out)
                if left != own:
                    operands[i] = apply(OPS["einsum"], (operands[i],), ((own,), left))
                summed.append(left)
            labels = tuple(summed)
            return _known_product(operands, (labels[0], labels[1]), out, products)
    if len(operands) == 1 and labels[0] == out:
        return operands[0]
    return apply(OPS["einsum"], tuple(operands), (labels, out))


def _known_product(
    operands: list[Node], labels: tuple[_Labels, _Labels], out: _Labels, products: _Products
) -> Node:
    """A product of matrices; one that is there already, or whose transpose is, is not computed again."""
    keys: list[tuple[_Product, _Labels]] = []
    for i, j in ((0, 1), (1, 0)):
        names: dict[int, int] = {}
        for k in (*labels[i], *labels[j]):
            names.setdefault(k, len(names))
        spelled = tuple(names[k] for k in labels[i]), tuple(names[k] for k in labels[j])
        keys.append(
            (
                (operands[i], operands[j], *spelled, frozenset(names[k] for k in out)),
                tuple(names[k] for k in out),
            )
        )
    for key, wanted in keys:
        if key in products:
            found, had = products[key]
            return found if had == wanted else apply(OPS["einsum"], (found,), ((had,), wanted))
    made = _product(operands, labels, out)
    products[keys[0][0]] = made, keys[0][1]
    return made


def _product(operands: list[Node], labels: tuple[_Labels, _Labels], out: _Labels) -> Node:
    """A product of matrices, laid out as BLAS reads and writes them: rows and columns are neighbours in memory."""
    a, b = labels
    batch = tuple(k for k in out if k in a and k in b)
    left = tuple(k for k in out if k not in b)
    right = tuple(k for k in out if k not in a)
    summed = tuple(k for k in a if k in b and k not in out)
    if any(x.dtype == "int" for x in operands) and any(x.dtype == "real" for x in operands):
        operands = [_op("div", x, number(1)) if x.dtype == "int" else x for x in operands]
    whole = ((*batch, *left, *summed), (*batch, *summed, *right))
    fitting: list[_Labels] = []
    for i, (rows, columns) in enumerate(((left, summed), (summed, right))):
        own = labels[i]
        if not _fits(own, rows, columns):
            operands[i] = apply(OPS["einsum"], (operands[i],), ((own,), whole[i]))
            own = whole[i]
        fitting.append(own)
    made = out if _fits(out, left, right) else (*batch, *left, *right)
    found = apply(OPS["einsum"], tuple(operands), (tuple(fitting), made))
    return found if made == out else apply(OPS["einsum"], (found,), ((made,), out))


def _fits(own: _Labels, rows: _Labels, columns: _Labels) -> bool:
    """Tell whether rows and columns are each neighbouring axes in their order, and one of them the last axis."""
    n, m = len(rows), len(columns)
    runs = [own[i : i + n] for i in range(len(own))], [own[i : i + m] for i in range(len(own))]
    return rows in runs[0] and columns in runs[1] and own[-1] in (rows[-1], columns[-1])


_RULES: dict[str, Callable[[Node, tuple[Node, ...]], Node]] = {
    "mean": _mean,
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "norm": _norm,
    "one_hot": _one_hot,
    "eye": _eye,
    "scatter_add": _scatter_add,
    "max": lambda node, args: _reduce("max", args[0], node.params[0]),
    "min": lambda node, args: _reduce("min", args[0], node.params[0]),
    "prod": lambda node, args: _reduce("prod", args[0], node.params[0]),
}
