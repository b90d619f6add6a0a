"""Sums over an index, sum(x[i]*y[i], i): the index runs along the axes for which it is a subscript.

With its ends, sum(x[t]*y[t-1], t=1..n), the index may be part of a position, and both ends are included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from symgrad.autodiff.batch import batch
from symgrad.autodiff.rows.formulas import row_symbol
from symgrad.ir.graph import Node, number, size_node, symbol
from symgrad.ir.sizes import Size, nonnegative, size_product, size_sum
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import INT, NAME, Declaration
from symgrad.ops.array.contraction import contract, transpose
from symgrad.ops.array.indexing import gather, iota
from symgrad.ops.array.layout import WHOLE, expand, reshape, shaped, slice_axes, slice_of, squeeze
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.numpy.subscripts import slice_triple
from symgrad.ops.scalar.arith import add
from symgrad.support.errors import DomainError, ShapeError, UnsupportedError

REDUCTIONS = ("sum", "mean", "prod", "max", "min")

_PREFIX = "__index_"
_TOKEN = re.compile(rf"#[^\n]*|'[^'\n]*'|\"[^\"\n]*\"|({NAME})|([(\[])|([)\]])|(,)")
_WORD = re.compile(NAME)
_PLAIN = re.compile(rf"\s*({NAME})\s*(=(?!=).*\.\..*)?", re.DOTALL)


class IndexedReduction(NamedTuple):
    """A call such as sum(x[i]*y[i], i): its place, and the names after its first argument, and those with a range."""

    start: int
    end: int
    names: tuple[str, ...]
    with_ends: tuple[str, ...]


class IndexRange(NamedTuple):
    """The values of an index: its name, both ends, and their number."""

    name: str
    first: Size
    last: Size
    length: Size

    @property
    def positions(self) -> Node:
        """All values."""
        count = iota(params=(self.length,))
        return count if self.first == 0 else add(count, size_node(self.first))


def bound_names(text: str) -> Iterator[IndexedReduction]:
    """Find calls of reductions over indices: after the first argument stand names that it contains, or ranges.

    Example:
        >>> list(bound_names("y = sum(A[i, j]*x[j], i, j) + sum(x, axis=0) + sum(x)"))
        [IndexedReduction(start=7, end=26, names=('i', 'j'), with_ends=())]
    """
    open_calls: list[tuple[bool, list[int]]] = []  # whether it is a reduction, and where its arguments begin
    before = ""
    for match in _TOKEN.finditer(text):
        name, opening, closing, comma = match.groups()
        if opening:
            open_calls.append((opening == "(" and before in REDUCTIONS, [match.end()]))
        elif comma and open_calls:
            open_calls[-1][1].append(match.end())
        elif closing and open_calls:
            reduces, starts = open_calls.pop()
            if reduces and len(starts) > 1:
                ends = [start - 1 for start in starts[2:]] + [match.start()]
                found = [_PLAIN.fullmatch(text, a, b) for a, b in zip(starts[1:], ends, strict=True)]
                first = set(_WORD.findall(text, starts[0], starts[1] - 1))
                names = tuple(f[1] for f in found if f and (f[2] or f[1] in first))
                if all(found) and names:
                    with_ends = tuple(f[1] for f in found if f and f[2])
                    yield IndexedReduction(starts[0] - 1, match.start(), names, with_ends)
        before = name or ""


def index_symbol(name: str) -> Node:
    """Return the symbol of an index before it is summed; no program can declare its name."""
    return symbol(Declaration(_PREFIX + name, INT))


def index_name(node: Node) -> str | None:
    """Return the name of a node that is an index, otherwise None."""
    is_index = not node.args and node.op.name == "symbol" and node.name.startswith(_PREFIX)
    return node.name.removeprefix(_PREFIX) if is_index else None


def reduce_over_indices(name: str, indices: Sequence[tuple[Node, IndexRange | None]], body: Node) -> Node:
    """Return a reduction over indices; the last index is reduced first.

    Args:
        name: the name of the reduction.
        indices: symbols that `index_symbol` returned, each with its values; None for those of the axes it indexes.
        body: the summand.

    Raises:
        UnsupportedError: if an index is part of a formula in a subscript.
        DomainError: if the range of an index is not known.
        ShapeError: if an index runs along axes of different lengths.
    """
    for i, given in reversed(indices):
        stacked = array_over_range(body, i, given or _all_of_axis(i, index_length(body, i)))
        body = build.total(stacked, 0) if name == "sum" else build.reduce_axes(name, stacked, 0)
    return body


def array_over_indices(indices: Sequence[Node], body: Node, lengths: Sequence[Size | None]) -> Node:
    """Return the array of the values of a formula, with an axis for each index.

    Args:
        indices: symbols that `index_symbol` returned.
        body: a formula that reads arrays at these indices.
        lengths: the range of each index; None for the length of the axes with this subscript.

    Raises:
        SymgradError: as for `reduce_over_indices`, for an index without a given length.
    """
    for i, length in reversed(list(zip(indices, lengths, strict=True))):
        body = array_over_range(body, i, _all_of_axis(i, index_length(body, i) if length is None else length))
    return body


def _all_of_axis(i: Node, length: Size) -> IndexRange:
    return IndexRange(str(index_name(i)), 0, size_sum([length, -1]), length)


def index_length(body: Node, i: Node) -> Size:
    """Return the range of an index: the length of the axes for which it is a subscript.

    Raises:
        SymgradError: as for `reduce_over_indices`.
    """
    name = index_name(i)
    reads = {i}
    lengths: dict[Size, None] = {}
    for node in topological([body]):
        if not reads.isdisjoint(node.args):
            reads.add(node)
        if node.op is not gather:
            continue
        for axis, place in zip(node.params[0], node.args[1:], strict=True):
            if place is i:
                lengths[node.args[0].shape[axis]] = None
            elif place in reads and place.op is not gather:
                raise UnsupportedError(
                    f"the index '{name}' is part of a formula in a subscript",
                    expected=f"'{name}' alone, as in x[{name}], or both ends of its range",
                    cure=f"say from where to where '{name}' runs",
                )
    if not lengths:
        raise DomainError(
            f"nothing says how far the index '{name}' runs",
            expected=f"an array with the subscript {name}, as in sum(x[{name}], {name})",
            cure=f"write arange(n) for {name}, without the index, where n is how many values it has",
        )
    if len(lengths) > 1:
        raise ShapeError(
            f"the index '{name}' runs along axes of lengths {' and '.join(map(str, lengths))}",
            expected="one length for one index",
            cure="use another index, or check the declared shapes",
        )
    return next(iter(lengths))


def array_over_range(body: Node, i: Node, values: IndexRange) -> Node:
    """Return a formula for all values of an index, along a new first axis."""
    stacks = {i: values.positions}
    stacks |= {n: found for n in topological([body]) if (found := _along(n, i, values)) is not None}
    return batch([body], stacks, (values.length,))[0]


def _along(node: Node, i: Node, values: IndexRange) -> Node | None:
    """Return the values of an array that is read at an index, for all values of the index; None for other nodes."""
    if node.op is not gather or not any(_reads(place, i) for place in node.args[1:]):
        return None
    x, *places = node.args
    if _reads(x, i) or any(place.shape for place in places):
        return None
    axes: Sequence[int] = node.params[0]
    here = [a for a, place in zip(axes, places, strict=True) if _reads(place, i)]
    sliced: Node | None = x
    for axis, place in zip(axes, places, strict=True):
        if axis in here and sliced is not None:
            sliced = slice_at(sliced, axis, place, i, values)
    if sliced is None:  # positions that are themselves read at positions
        found = [array_over_range(place, i, values) for place in places]
        x, first = gather(x, *found, params=(axes,)), min(axes)
        return transpose(x, [first, *(a for a in range(len(x.shape)) if a != first)])
    x = sliced
    fixed = [(a, place) for a, place in zip(axes, places, strict=True) if a not in here]
    if fixed:
        x = gather(x, *(place for _, place in fixed), params=(tuple(a for a, _ in fixed),))
    rest = [a for a in range(len(node.args[0].shape)) if a not in dict(fixed)]
    labels = [here[0] if a in here else a for a in rest]
    return contract([x], [labels], [here[0], *(a for a in rest if a not in here)])


def slice_at(x: Node, axis: int, at: Node, i: Node, values: IndexRange) -> Node | None:
    """Return the entries of an axis at a position c*i + k, for all values of an index; None for other positions.

    Args:
        x: an array.
        axis: the axis.
        at: the position, a formula of the index.
        i: the symbol of the index.
        values: the values of the index.

    Raises:
        ShapeError: if a position is outside the axis.
    """
    found = affine(at, i)
    if found is None or found[0] == 0:
        return None
    factor, rest = found
    ends = [size_sum([size_product([factor, v]), rest]) for v in (values.first, values.last)]
    low, high = ends if factor > 0 else ends[::-1]
    size, triples = x.shape[axis], [WHOLE] * len(x.shape)
    over = size_sum([high, 1, size_product([-1, size])])
    below = isinstance(low, int) and low < 0
    if values.length != 0 and (below or (isinstance(over, int) and over > 0)):
        at_first = below == (factor > 0)
        place = size_sum([size_product([factor, values.name]), rest])
        value, where = (ends[0], values.first) if at_first else (ends[1], values.last)
        raise ShapeError(
            f"position {place} is {value} for {values.name} = {where}, and the axis has the length {size}",
            expected="positions from 0 to below the length",
            cure="correct the position or the range: x : real[T] has the positions 0..T-1",
        )
    inside = nonnegative(low)
    for stop in (size_sum([high, 1]), size_sum([low, values.length])):  # max(T - 1, 0) entries, not T - 1
        triples[axis] = slice_triple(slice(low, stop, abs(factor)), size)
        entries = slice_axes(x, triples)
        if inside and entries.shape[axis] == values.length:
            triples[axis] = None, None, -1
            return entries if factor > 0 else slice_axes(entries, triples)
    if inside and nonnegative(size_product([-1, over])):
        return None
    raise ShapeError(
        f"the positions {low} to {high} are read from an axis of the length {size}",
        expected="an axis that has these positions for all sizes",
        cure="declare the array with the size of the range",
    )


def read_row(node: Node, step: Node, values: IndexRange, rows: dict[Node, Node], height: int) -> Node:
    """Return the symbol of what is read from an array at positions that depend on the step of a loop.

    Args:
        node: the gather.
        step: the symbol of the position of the step.
        values: the positions of all steps.
        rows: the symbols of rows, each with its array; new ones are added.
        height: the height in the names of new symbols.

    Raises:
        ShapeError: if a position is outside the axis.
    """
    x, *places = node.args
    axes: tuple[int, ...] = node.params[0]
    moving = [k for k, p in enumerate(places) if _reads(p, step)]
    others = [(a, p) for k, (a, p) in enumerate(zip(axes, places, strict=True)) if k not in moving]
    if len(moving) == 1 and all(not p.shape for p in places):
        (k,) = moving
        if others and k:
            x = gather(x, *(p for _, p in others), params=(tuple(a for a, _ in others),))
        axis = axes[k] - k
        rest = [a for a in range(len(x.shape)) if a != axis]
        ones = [a for a in rest if x.shape[a] == 1]
        sliced = x.op is slice_of and x.params[0][axis] == WHOLE
        single = sliced and (len(ones) == len(rest) if axis else any(x.params[0][a] != WHOLE for a in ones))
        # y[t-1, 0] is an entry of the row y[t-1]; y[0, t-1] is an entry of y[0].
        source = x if not single else squeeze(x, rest) if axis else x.args[0]
        array = slice_at(source, 0 if single else axis, places[k], step, values)
        if array is not None:
            turned = axis and not single
            row = row_symbol(transpose(array, [axis, *rest]) if turned else array, rows, height)
            if single:
                row = expand(row, range(len(rest))) if axis else slice_axes(row, x.params[0][1:])
            if k or not others:
                return row
            moved = tuple(a - 1 if a > axes[0] else a for a, _ in others)
            return gather(row, *(p for _, p in others), params=(moved,))
    (array,) = batch([node], {step: values.positions}, (values.length,))
    return row_symbol(array, rows, height)


def with_rows(
    formulas: Sequence[Node],
    step: Node,
    values: IndexRange,
    held: Iterable[Node],
    rows: dict[Node, Node],
    height: int,
) -> list[Node]:
    """Return formulas of one step in which symbols of rows replace what is read at positions of the step.

    Args:
        formulas: the formulas.
        step: the symbol of the position of the step.
        values: the positions of all steps.
        held: other symbols that vary from step to step; what is read of them, or at positions of them, stays.
        rows: as for `read_row`.
        height: as for `read_row`.
    """
    moving, others, found = {step}, {*held}, dict[Node, Node]()
    for node in topological(formulas):
        if not others.isdisjoint(node.args):
            others.add(node)
        elif not moving.isdisjoint(node.args):
            moving.add(node)
            if node.op is gather and not moving.isdisjoint(node.args[1:]):
                with suppress(ShapeError):  # a position that may be outside is an error when the program runs
                    found[node] = read_row(node, step, values, rows, height)
    return with_entries(formulas, found)


def with_entries(formulas: Sequence[Node], found: Mapping[Node, Node]) -> list[Node]:
    """Return formulas in which other nodes replace what is read at positions, without axes of length 1 in between."""
    merged = {
        n: shaped(found[n.args[0]], n.shape)
        for n in topological(formulas)
        if n.op is reshape and n.args[0] in found
    }
    return substitute(formulas, {**found, **merged})


def affine(at: Node, i: Node) -> tuple[int, Size] | None:
    """Return the factor of an index and the rest of a position c*i + k; None for other formulas."""
    any_value, zero, one = (
        as_size(substitute([at], {i: v})[0]) for v in (size_node(_PREFIX), number(0), number(1))
    )
    if any_value is None or zero is None or one is None:
        return None
    factor = size_sum([one, size_product([-1, zero])])
    if not isinstance(factor, int) or any_value != size_sum([size_product([factor, _PREFIX]), zero]):
        return None
    return factor, zero


def _reads(x: Node, i: Node) -> bool:
    return any(node is i for node in topological([x]))
