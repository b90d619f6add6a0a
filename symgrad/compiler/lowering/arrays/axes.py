"""Choose the axis order of internal arrays: move a long axis to the end, where it fills the lanes of vectors.

A loop over the last axis of an array of points of shape (1000, 10) leaves lanes of vectors empty, and a sum over the
coordinates must add up the lanes of a vector. Shape (10, 1000) avoids both. Inputs and results keep the order of their
axes; an input that is read repeatedly is transposed once. Values are the same up to the order of sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from symgrad.compiler.lowering.arrays.tasks import only_ones_differ
from symgrad.compiler.lowering.contractions import estimate, fits, is_product_of_matrices, laid_out, op
from symgrad.ir.graph import OPS, SYMBOL, Node, apply, as_node
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.traverse import topological, with_args

_EXTREMES = frozenset({"max", "min", "prod"})
_MOVED = frozenset({"broadcast_to", "einsum", "slice", *_EXTREMES})
_LANES = 8
"""Typical number of lanes of a vector."""

_LONG = 4 * _LANES
"""An axis of at least this length fills vectors; a shorter axis leaves many lanes empty."""

_TRIED = 4
"""How many axes are tried as the last axis."""

_WORTH = 0.6
"""A new order pays if the loops take at most this fraction of their present time."""

_ACROSS = 6
"""Number of vector operations in a sum over the lanes of a vector."""

Axis = tuple[Node, int]


def choose_axis_order(outputs: Sequence[Node]) -> tuple[list[Node], frozenset[Node]]:
    """Return a program in normal form with its arrays laid out for vectors.

    Args:
        outputs: the outputs of a program in the vocabulary of `compiler/lowering/arrays/normal_form.py`.

    Returns:
        The outputs, with the old order of their axes, and the transposed arrays that are worth storing.
    """
    everything = topological(outputs)
    axes = _Axes(everything)
    fixed: set[Node] = set()
    for node in outputs:
        fixed.add(node)
        while node.op.name == "reshape":
            node = node.args[0]
            fixed.add(node)
    best, least = None, _WORTH
    for name in axes.names():
        moved = _moved(everything, axes, name, fixed)
        share = _share(everything, axes, name, moved)
        if share < least:
            best, least = moved, share
    if best is None:
        return list(outputs), frozenset()
    writer = _Turning(best)
    for node in everything:
        writer.add(node)
    found = [writer.plain(o) for o in outputs]
    return found, frozenset(_often_read(found, writer.views))


# ------------------------------------------------------------------------------------------------- equivalence of axes


class _Axes:
    """Classes of equivalent axes of the arrays of a program (union-find).

    Axes are linked if an op loops over them together.
    """

    def __init__(self, everything: Sequence[Node]) -> None:
        self._above: dict[Axis, Axis] = {}
        for node in everything:
            for a, b in _links(node):
                self._above[self._top(a)] = self._top(b)
        self._everything = everything

    def _top(self, axis: Axis) -> Axis:
        while (above := self._above.get(axis, axis)) != axis:
            self._above[axis] = self._above.get(above, above)
            axis = above
        return axis

    def of(self, node: Node, name: Axis) -> list[int]:
        """Return the axes of an array that belong to a class."""
        return [j for j, n in enumerate(node.shape) if n != 1 and self._top((node, j)) == name]

    def names(self) -> list[Axis]:
        """Return the classes of long axes that come before a short last axis, by decreasing number of elements."""
        found: dict[Axis, float] = {}
        for node in self._everything:
            if len(node.shape) > 1 and estimate(node.shape[-1]) < _LONG:
                for j, n in enumerate(node.shape[:-1]):
                    if estimate(n) >= _LONG:
                        name = self._top((node, j))
                        found[name] = found.get(name, 0.0) + _count(node.shape)
        return sorted(found, key=lambda name: -found[name])[:_TRIED]


def _links(node: Node) -> Iterable[tuple[Axis, Axis]]:
    name = node.op.name
    if name == "einsum":
        labels, result = node.params
        first: dict[int, Axis] = {label: (node, j) for j, label in enumerate(result)}
        for own, arg in zip(labels, node.args, strict=True):
            for j, label in enumerate(own):
                yield (arg, j), first.setdefault(label, (arg, j))
    elif name in _EXTREMES:
        (reduced,) = node.params
        kept = [j for j in range(len(node.args[0].shape)) if j not in reduced]
        yield from (((node.args[0], j), (node, k)) for k, j in enumerate(kept))
    elif name == "reshape":
        (arg,) = node.args
        before, after = _long(arg.shape), _long(node.shape)
        if only_ones_differ(arg.shape, node.shape):
            yield from (((arg, j), (node, k)) for j, k in zip(before, after, strict=True))
    elif name in _MOVED or (node.op.pointwise and node.op is not SYMBOL):
        for arg in node.args:
            lead = len(node.shape) - len(arg.shape)
            yield from (
                ((arg, j), (node, j + lead))
                for j, n in enumerate(arg.shape)
                if n != 1 and n == node.shape[j + lead]
            )


def _long(shape: Shape) -> list[int]:
    return [j for j, n in enumerate(shape) if n != 1]


# ------------------------------------------------------------------------------------------------------- cost estimate


def _moved(everything: Sequence[Node], axes: _Axes, name: Axis, fixed: set[Node]) -> dict[Node, int]:
    """Return the arrays in which the axis of a class can become the last axis, each with the index of this axis."""
    found: dict[Node, int] = {}
    for node in everything:
        where = axes.of(node, name)
        if len(where) != 1 or len(node.shape) < 2 or node in fixed or node.op is SYMBOL:
            continue
        kind = node.op.name
        can = kind in _MOVED or node.op.pointwise
        can = can or (kind == "reshape" and only_ones_differ(node.args[0].shape, node.shape))
        if can and (kind != "einsum" or _still_fits(node, found, where[0])):
            found[node] = where[0]
    return found


def _still_fits(node: Node, moved: dict[Node, int], axis: int) -> bool:
    """Tell whether BLAS can still use the operands of a product of matrices if an axis of the result becomes last."""
    labels, result = node.params
    if not is_product_of_matrices(labels, result):
        return True
    own = [_last(part, moved.get(arg)) for part, arg in zip(labels, node.args, strict=True)]
    return fits((own[0], own[1]), _last(result, axis))


def _share(everything: Sequence[Node], axes: _Axes, name: Axis, moved: dict[Node, int]) -> float:
    """Estimate the time of the loops with the axis last, relative to the present order, in vector operations."""
    before = after = 0.0
    turned: set[Node] = set()
    for node in everything:
        if node.op is SYMBOL or not node.args:
            continue
        here = node in moved
        if not here and not any(a in moved for a in node.args):
            continue
        if node.op.pointwise:
            before += _vectors(node.shape, len(node.shape) - 1)
            after += _vectors(node.shape, moved.get(node, len(node.shape) - 1))
        elif node.op.name == "einsum":
            labels, result = node.params
            of: dict[int, Size] = {}
            for own, arg in zip(labels, node.args, strict=True):
                of.update(zip(own, arg.shape, strict=True))
            if set(of) != set(result) or len(labels) > 1:
                shape, order = tuple(of.values()), list(of)
                product = is_product_of_matrices(labels, result)
                last = result[-1] if product else labels[0][-1]
                before += _vectors(shape, order.index(last), reduced=last not in result)
                arg = next((i for i, a in enumerate(node.args) if a in moved), None)
                if here and product:
                    last = result[moved[node]]
                elif arg is not None:
                    last = labels[arg][moved[node.args[arg]]]
                after += _vectors(shape, order.index(last), reduced=last not in result and not product)
        elif node.op.name in _EXTREMES:
            (arg,) = node.args
            (reduced,) = node.params
            last = len(arg.shape) - 1
            before += _vectors(arg.shape, last, reduced=last in reduced)
            last = moved.get(arg, last)
            after += _vectors(arg.shape, last, reduced=last in reduced)
        if node.op.name != "einsum" and node.op.name not in _EXTREMES:
            other = (a for a in node.args if len(a.shape) > 1 and (a in moved) != here)
            turned.update(a for a in other if axes.of(a, name) not in ([], [len(a.shape) - 1]))
    after += sum(_count(a.shape) for a in turned)
    return after / before if before else 1.0


def _count(shape: Shape) -> float:
    return prod(map(estimate, shape), start=1.0)


def _vectors(shape: Shape, inner: int, *, reduced: bool = False) -> float:
    """Return the number of vector operations of an elementwise loop over a shape, with the overhead per row."""
    n = estimate(shape[inner]) if shape else 1
    rows = _count(shape) / n
    return rows * (-(-n // _LANES) + (_ACROSS if reduced else 1))


# ---------------------------------------------------------------------------------------------------------- rewriting


def _last(labels: Sequence[int], axis: int | None) -> tuple[int, ...]:
    """Move the label of an axis to the end."""
    if axis is None:
        return tuple(labels)
    return (*labels[:axis], *labels[axis + 1 :], labels[axis])


def _view(x: Node, before: Sequence[int], after: Sequence[int]) -> Node:
    """Transpose an array."""
    if tuple(before) == tuple(after):
        return x
    return _like(x, apply(OPS["einsum"], (x,), ((tuple(before),), tuple(after))))


def _like(x: Node, moved: Node) -> Node:
    """Convert transposed conditions back to conditions, since the op that transposes returns numbers."""
    return op("ne", moved, as_node(0)) if x.dtype == "bool" else moved


class _Turning:
    """Rewrites a program so that an axis of some arrays is last."""

    def __init__(self, moved: dict[Node, int]) -> None:
        self.moved = moved
        self.new: dict[Node, Node] = {}
        self.views: dict[Node, None] = {}

    def plain(self, node: Node) -> Node:
        """Return the rewritten array with its axes in the old order."""
        count = range(len(node.shape))
        return _view(self.new[node], _last(count, self.moved.get(node)), tuple(count))

    def last(self, node: Node, axis: int) -> Node:
        """Return the rewritten array with an axis as its last axis."""
        if node in self.moved:
            return self.new[node]
        count = range(len(node.shape))
        found = _view(self.new[node], tuple(count), _last(count, axis))
        if found is not self.new[node]:
            self.views[found] = None
        return found

    def add(self, node: Node) -> None:
        """Rewrite a node whose arguments are rewritten."""
        if node.op.name == "einsum":
            self.new[node] = self._einsum(node)
        elif node.op.name in _EXTREMES:
            self.new[node] = self._extreme(node)
        elif node in self.moved:
            self.new[node] = self._along(node, self.moved[node])
        else:
            self.new[node] = with_args(node, [self.plain(a) for a in node.args])

    def _along(self, node: Node, axis: int) -> Node:
        """Rewrite an op that keeps the order of axes."""
        shape = tuple(node.shape[k] for k in _last(range(len(node.shape)), axis))
        if node.op.name == "slice":
            (triples,) = node.params
            moved = tuple(triples[k] for k in _last(range(len(triples)), axis))
            return apply(node.op, (self.last(node.args[0], axis),), (moved,))
        if node.op.name == "reshape":
            (arg,) = node.args
            at = _long(arg.shape)[_long(node.shape).index(axis)]
            return apply(node.op, (self.last(arg, at),), (shape,))
        args = tuple(self._beside(a, axis, len(node.shape)) for a in node.args)
        return apply(node.op, args, (shape,) if node.op.name == "broadcast_to" else node.params)

    def _beside(self, arg: Node, axis: int, rank: int) -> Node:
        """Reshape an operand so that it broadcasts with arrays of a given rank in which an axis has become last."""
        at = axis - rank + len(arg.shape)
        if at >= 0 and arg.shape[at] != 1:
            return self.last(arg, at)
        x = self.plain(arg)
        shape = [1] * (rank - len(x.shape)) + list[Size](x.shape)
        shape = [*shape[:axis], *shape[axis + 1 :], 1]
        lead = next((k for k, n in enumerate(shape) if n != 1), rank)
        kept = tuple(shape[min(lead, rank - len(x.shape)) :])
        return x if x.shape == kept else _like(x, apply(OPS["reshape"], (x,), (kept,)))

    def _einsum(self, node: Node) -> Node:
        labels, result = node.params
        own = tuple(_last(part, self.moved.get(a)) for part, a in zip(labels, node.args, strict=True))
        out = _last(result, self.moved.get(node))
        args = tuple(self.new[a] for a in node.args)
        if (args, own, out) == (node.args, labels, result):
            return node
        if is_product_of_matrices(labels, result):
            return laid_out(args, (own[0], own[1]), out)
        same = own == (out,) and args[0].dtype == node.dtype
        return args[0] if same else apply(node.op, args, (own, out))

    def _extreme(self, node: Node) -> Node:
        (arg,), (reduced,) = node.args, node.params
        kept = [j for j in range(len(arg.shape)) if j not in reduced]
        axis = self.moved.get(arg)
        if axis is None and node in self.moved:
            axis = kept[self.moved[node]]
        x = self.new[arg] if axis is None else self.last(arg, axis)
        order = _last(range(len(arg.shape)), axis)
        found = apply(node.op, (x,), (tuple(k for k, j in enumerate(order) if j in reduced),))
        before = tuple(kept.index(j) for j in order if j not in reduced)
        return _view(found, before, _last(range(len(node.shape)), self.moved.get(node)))


def _often_read(outputs: Sequence[Node], views: Iterable[Node]) -> Iterable[Node]:
    """Yield the transposed arrays that are read more than once.

    If they were not stored, each read would gather distant elements.
    """
    readers: dict[Node, list[Node]] = {}
    for node in topological(outputs):
        for arg in node.args:
            readers.setdefault(arg, []).append(node)
    for view in views:
        count, stack, direct = _count(view.shape), [view], 0
        while stack:
            node = stack.pop()
            for reader in readers.get(node, ()):
                direct += reader.op.name != "reshape"
                if _count(reader.shape) > count:
                    direct += 2
                elif reader.op.name != "einsum":
                    stack.append(reader)
            if direct > 1:
                yield view
                break
