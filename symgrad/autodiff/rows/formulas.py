"""One row of an array, as a formula of the rows of the arrays of which the array is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from symgrad.ir.body import bound_symbol
from symgrad.ir.graph import OPS, Node, apply, as_node, size_leaf, size_node
from symgrad.ir.shapes import slice_start
from symgrad.ir.sizes import Extent, Size, size_max, size_product, size_sum
from symgrad.ops.array.along import rows_aligned
from symgrad.ops.array.contraction import contract, einsum, sum_over, transpose
from symgrad.ops.array.indexing import sum_of_scattered
from symgrad.ops.array.layout import (
    WHOLE,
    broadcast_to,
    concatenate,
    expand,
    full,
    only,
    reshape,
    shaped,
    slice_axes,
    slice_of,
    slice_rows,
    squeeze,
    truth_of,
    unslice,
)
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.numpy.subscripts import index
from symgrad.ops.scalar.arith import add, neg
from symgrad.support.errors import ShapeError
from symgrad.support.traversal import postorder

T = TypeVar("T")
_Place = tuple[Node, int, Size]
"""An array, the axis of its rows, and the position of the first row."""


def row_of(
    values: Node,
    leaf: Callable[[Node, Size], Node],
    axis: int = 0,
    start: Size = 0,
    known: dict[_Place, Node] | None = None,
) -> Node:
    """Return one row of an array as a formula of rows of other arrays.

    Args:
        values: the array.
        leaf: a function that returns the row of an array that is no such formula; its second argument is the position
            of the first row, along the first axis.
        axis: the axis of the rows.
        start: the position of the first row.
        known: the rows of arrays along axes from positions on, of earlier calls with this function; those of parts of
            the array are added.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real[T, n]; W : real[n, n]; y = tanh(x[1:]@W.T)**2")
        >>> row = row_of(p["y"].node, lambda array, start: sg.parse("r : real[n]")["r"].node)
        >>> print(sg.Expr(row).text())
        tanh(r@W.T)**2
    """
    first = values, axis, start
    done = {} if known is None else known
    for place in postorder([first], _operands, until=done):
        node, at, begin = place
        rows = [operand and done[operand] for operand in _all_operands(place)]
        repeated = node.op is broadcast_to and node.shape[at] != 1
        found = _row(node, at, rows) if repeated or any(r is not None for r in rows) else None
        if found is None:
            others = [k for k in range(len(node.shape)) if k != at]
            found = truth_of(leaf(transpose(node, [at, *others]) if at else node, begin), node)
        done[place] = found
    return done[first]


def _operands(place: _Place) -> list[_Place]:
    return [p for p in _all_operands(place) if p is not None]


def _all_operands(place: _Place) -> Sequence[_Place | None]:
    """Return for each argument of a node the rows of which a row is made; None for the whole argument."""
    node, axis, start = place
    if node.op is slice_of and node.params[0][axis][2] == 1:
        begin = slice_start(node.args[0].shape[axis], node.params[0][axis])
        return [(node.args[0], axis, size_sum([start, begin]))]
    if node.op is einsum and any(own.count(node.params[1][axis]) > 1 for own in node.params[0]):
        return [None] * len(node.args)  # a diagonal
    rule = rows_aligned if node.op.pointwise else node.op.array.rows
    found: list[_Place | None] = []
    for k, arg in enumerate(node.args):
        own: list[int | None] = [None] * len(node.args)
        found.append(None)
        for p, size in enumerate(arg.shape):
            own[k] = p
            if size == node.shape[axis] and size != 1 and rule(node, own) == axis:
                found[k] = arg, p, start
                break
    return found


def _without(items: tuple[T, ...], axis: int) -> tuple[T, ...]:
    return (*items[:axis], *items[axis + 1 :])


def _row(node: Node, axis: int, rows: Sequence[Node | None]) -> Node | None:
    """Return a row of a node.

    Args:
        node: the node.
        axis: the axis of the rows.
        rows: the rows of its arguments; None for an argument that is the same for all rows.
    """
    shape = _without(node.shape, axis)
    x = rows[0]
    if node.op.pointwise:
        args = [
            _squeezed(a, axis - len(node.shape) + len(a.shape)) if r is None else r
            for a, r in _both(node, rows)
        ]
        return full(apply(node.op, tuple(map(_without_ones, args)), node.params), shape)
    if node.op is einsum:
        labels, result = node.params
        kept = [
            tuple(k for k in own if r is None or k != result[axis])
            for own, r in zip(labels, rows, strict=True)
        ]
        args = [a if r is None else r for a, r in _both(node, rows)]
        return contract(args, kept, _without(result, axis))
    if x is not None and node.op is reshape:
        # An array without entries has any shape with an axis of length 0.
        return shaped(x, shape) if size_product(x.shape) == size_product(shape) else None
    if node.op is broadcast_to:
        arg = node.args[0]
        return full(_squeezed(arg, axis - len(node.shape) + len(arg.shape)) if x is None else x, shape)
    if node.op is concatenate and node.params[0] != axis:
        parts = [r for r in rows if r is not None]
        behind = node.params[0] - (axis < node.params[0])
        return concatenate(*parts, params=(behind,)) if len(parts) == len(rows) else None
    if x is not None and node.op is slice_of:
        return slice_axes(x, _without(node.params[0], axis))
    if x is not None and node.op is unslice:
        triples, whole = (_without(p, axis) for p in node.params)
        return x if all(t == WHOLE for t in triples) else unslice(x, params=(triples, whole))
    try:
        if not node.params:  # an op on stacks of matrices, whose axes come last
            one = apply(node.op, tuple(a if r is None else r for a, r in _both(node, rows)))
            if one.shape == shape:
                return one
        places = _all_operands((node, axis, 0))
        args = [
            a if r is None or p is None else expand(r, [p[1]])
            for (a, r), p in zip(_both(node, rows), places, strict=True)
        ]
        one = apply(node.op, tuple(args), node.params)
    except ShapeError:
        return None  # its other arguments or its parameters have the length of this axis
    return squeeze(one, [axis]) if one.shape == (*node.shape[:axis], 1, *node.shape[axis + 1 :]) else None


def _both(node: Node, rows: Sequence[Node | None]) -> list[tuple[Node, Node | None]]:
    return list(zip(node.args, rows, strict=True))


def _without_ones(x: Node) -> Node:
    """Return an argument of an elementwise op without first axes of length 1."""
    ones = next((k for k, n in enumerate(x.shape) if n != 1), len(x.shape))
    return squeeze(x, range(ones)) if ones else x


def _squeezed(x: Node, axis: int) -> Node:
    """Return an argument of an elementwise op without an axis of length 1."""
    return squeeze(x, [axis]) if axis >= 0 else x


def summand(total: Node, length: Size) -> Node | None:
    """Return an array whose sum over its first axis, of this length, is an array; None if that is no sum.

    Args:
        total: the sum, or a linear formula of one sum.
        length: the number of terms.
    """
    shape = (length, *total.shape)
    if total.op is einsum:
        labels, result = total.params
        sizes = {
            k: n for a, own in zip(total.args, labels, strict=True) for k, n in zip(own, a.shape, strict=True)
        }
        over = next((k for k, n in sizes.items() if n == length and k not in result), None)
        if over is not None:
            return contract(list(total.args), list(labels), (over, *result))
    parts = [summand(a, length) for a in total.args]
    sums = sum(s is not None for s in parts)
    linear = total.op.name in ("neg", "mul", "div", "reshape") or total.op is einsum
    if not (sums == 1 and linear if total.op.name != "add" else sums == len(parts)):
        return None
    if total.op.name == "div" and parts[0] is None:
        return None
    if total.op is reshape:
        return shaped(only(parts), shape)
    args = [a if s is None else s for a, s in zip(total.args, parts, strict=True)]
    if total.op is einsum:
        labels, result = total.params
        new = 1 + max(k for own in labels for k in own)
        axes = [own if s is None else (new, *own) for own, s in zip(labels, parts, strict=True)]
        return contract(args, axes, (new, *result))
    # The axis of the terms comes before all axes of the result.
    args = [
        a if s is None else expand(s, range(1, 1 + len(total.shape) - len(o.shape)))
        for a, s, o in zip(args, parts, total.args, strict=True)
    ]
    return full(apply(total.op, tuple(args), total.params), shape)


def sum_rows(stack: Node) -> Node:
    """Return the sum over the first axis; contractions sum over it themselves."""
    if stack.op is einsum:
        labels, result = stack.params
        return einsum(*stack.args, params=(labels, result[1:]))
    if stack.op is add and all(a.shape == stack.shape for a in stack.args):
        return add(*map(sum_rows, stack.args))
    if stack.op is neg:
        return neg(sum_rows(stack.args[0]))
    scattered = sum_of_scattered(stack)
    return sum_over(stack, [0]) if scattered is None else scattered


def row_at(values: Node, position: Size) -> Node:
    """Return the entry of an array, or the formula of entries, at a position of the first axis."""

    def entry(array: Node, start: Size) -> Node:
        place = size_sum([start, position])
        if isinstance(place, Extent) and array.shape[0] == size_sum([place, 1]):
            return index(array, -1)
        at = size_node(place)
        # A rounded quotient is a real number: only lowering has such sizes.
        return index(array, at if at.dtype == "int" else size_leaf(place))

    return row_of(values, entry)


def is_position(at: Size | None, position: Size, count: Size) -> bool:
    """Tell whether an index is a position of an axis of some length; -1 is the last one.

    The last position of an axis of max(n - 1, 0) + 1 entries is n - 1, also for n = 0, where this index is -1.
    """
    if at is None:
        return False
    return position in (at, size_max(at, 0)) or (at == -1 and size_sum([position, 1]) == count)


def reads_row(reader: Node, values: Node, position: Size) -> bool:
    """Tell whether a node is one row of an array, at a position."""
    if reader.op.name == "slice":
        first, *others = reader.params[0]
        one = reader.shape[0] == 1 and slice_start(values.shape[0], first) == position
        return one and all(o == WHOLE for o in others)
    if reader.op.name == "gather" and reader.args[0] is values and reader.params[0] == (0,):
        return is_position(as_size(reader.args[1]), position, values.shape[0])
    return False


def array_of_row(row: Node, position: Size) -> Node | None:
    """Return the array of which a node is the row at a position, an entry or a slice without its axis; else None."""
    reader = row.args[0] if row.op is reshape and row.args[0].op is slice_of else row
    array = reader.args[0] if reader.args else None
    if array is None or array.shape[1:] != row.shape or not array.shape:
        return None
    return array if reads_row(reader, array, position) else None


def row_symbol(array: Node, rows: dict[Node, Node], height: int) -> Node:
    """Return one row of an array, as a symbol that is added to the rows; a condition is 1 or 0 there."""
    known = next((s for s, r in rows.items() if r is array), None)
    if known is None:
        known = bound_symbol("array", len(rows), height, array.shape[1:], array.dtype)
        rows[known] = array
    return known if array.dtype != "bool" else apply(OPS["gt"], (known, as_node(0)))


def part_with_rows(array: Node, start: Size, length: Size) -> tuple[Node, Size] | None:
    """Return the part of joined arrays that has some rows, and the first of its own rows; None for other arrays."""
    if array.op is not concatenate or array.params[0] != 0:
        return None
    begin: Size = 0
    for part in array.args:
        first = size_sum([start, size_product([-1, begin])])
        left = size_sum([part.shape[0], size_product([-1, first]), size_product([-1, length])])
        if all(isinstance(n, int) and n >= 0 for n in (first, left)):
            return part, first
        begin = size_sum([begin, part.shape[0]])
    return None


class Rows:
    """Bound symbols for rows of arrays.

    Args:
        length: the number of rows.
        height: the height of the body that reads them.
        known: symbols of rows, each with its array.
    """

    def __init__(self, length: Size, height: int, known: Mapping[Node, Node]) -> None:
        self.length, self.height, self.arrays = length, height, dict(known)
        self._found: dict[_Place, Node] = {}

    def of(self, values: Node) -> Node:
        """Return one row of an array, as a formula of these symbols; new ones are added."""
        return row_of(values, self._symbol, known=self._found)

    def _symbol(self, array: Node, start: Size) -> Node:
        inside = part_with_rows(array, start, self.length)
        if inside is not None:
            return row_of(inside[0], self._symbol, 0, inside[1], self._found)
        rows = slice_rows(array, start, size_sum([start, self.length]))
        return row_symbol(rows, self.arrays, self.height)
