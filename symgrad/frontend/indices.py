"""Sums over an index, sum(x[i]*y[i], i): the index runs along the axes for which it is a subscript."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from symgrad.autodiff.batch import batch
from symgrad.ir.graph import Node, symbol
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import topological
from symgrad.ir.types import INT, NAME, Declaration
from symgrad.ops.array.contraction import contract, transpose
from symgrad.ops.array.indexing import gather, iota
from symgrad.ops.numpy import calls as build
from symgrad.support.errors import DomainError, ShapeError, UnsupportedError

REDUCTIONS = ("sum", "mean", "prod", "max", "min")

_PREFIX = "__index_"
_TOKEN = re.compile(rf"#[^\n]*|'[^'\n]*'|\"[^\"\n]*\"|({NAME})|([(\[])|([)\]])|(,)")
_WORD = re.compile(NAME)
_PLAIN = re.compile(rf"[ \t\r\n]*({NAME})[ \t\r\n]*")


class IndexedReduction(NamedTuple):
    """A call such as sum(x[i]*y[i], i): its place, and the names after its first argument."""

    start: int
    end: int
    names: tuple[str, ...]


def bound_names(text: str) -> Iterator[IndexedReduction]:
    """Find calls of reductions with names after the first argument, at least one of which the first argument contains.

    Example:
        >>> list(bound_names("y = sum(A[i, j]*x[j], i, j) + sum(x, axis=0) + sum(x)"))
        [IndexedReduction(start=7, end=26, names=('i', 'j'))]
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
                names = tuple(f.group(1) for f in found if f and f.group(1) in first)
                if all(found) and names:
                    yield IndexedReduction(starts[0] - 1, match.start(), names)
        before = name or ""


def index_symbol(name: str) -> Node:
    """Return the symbol of an index before it is summed; no program can declare its name."""
    return symbol(Declaration(_PREFIX + name, INT))


def index_name(node: Node) -> str | None:
    """Return the name of a node that is an index, otherwise None."""
    is_index = not node.args and node.op.name == "symbol" and node.name.startswith(_PREFIX)
    return node.name.removeprefix(_PREFIX) if is_index else None


def reduce_over_indices(name: str, indices: Sequence[Node], body: Node) -> Node:
    """Return a reduction over indices; the last index is reduced first.

    Args:
        name: the name of the reduction.
        indices: symbols that `index_symbol` returned.
        body: the summand.

    Raises:
        UnsupportedError: if an index is part of a formula in a subscript.
        DomainError: if the range of an index is not known.
        ShapeError: if an index runs along axes of different lengths.
    """
    for i in reversed(indices):
        stacked = _stacked(body, i, index_length(body, i))
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
        body = _stacked(body, i, index_length(body, i) if length is None else length)
    return body


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
                    expected=f"'{name}' alone, as in x[{name}]",
                    cure="write slices: sum(x[1:] - x[:-1])",
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


def _stacked(body: Node, i: Node, length: Size) -> Node:
    """Return a formula for all values of an index, along a new first axis."""
    stacks = {i: iota(params=(length,))}
    stacks |= {n: found for n in topological([body]) if (found := _along(n, i, length)) is not None}
    return batch([body], stacks, (length,))[0]


def _along(node: Node, i: Node, length: Size) -> Node | None:
    """Return the values of an array that is read at an index, for all values of the index; None for other nodes."""
    if node.op is not gather or not any(_reads(place, i) for place in node.args[1:]):
        return None
    x, *places = node.args
    if _reads(x, i) or any(place.shape for place in places):
        return None
    axes: Sequence[int] = node.params[0]
    if any(
        place is not i and _reads(place, i) for place in places
    ):  # positions that are themselves read at positions
        found = [_stacked(place, i, length) for place in places]
        x, first = gather(x, *found, params=(axes,)), min(axes)
        return transpose(x, [first, *(a for a in range(len(x.shape)) if a != first)])
    here = [a for a, place in zip(axes, places, strict=True) if place is i]
    fixed = [(a, place) for a, place in zip(axes, places, strict=True) if place is not i]
    if fixed:
        x = gather(x, *(place for _, place in fixed), params=(tuple(a for a, _ in fixed),))
    rest = [a for a in range(len(node.args[0].shape)) if a not in dict(fixed)]
    labels = [here[0] if a in here else a for a in rest]
    return contract([x], [labels], [here[0], *(a for a in rest if a not in here)])


def _reads(x: Node, i: Node) -> bool:
    return any(node is i for node in topological([x]))
