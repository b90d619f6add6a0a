"""Lower recurrences to loops that keep all values only of those carries of which more than the last value is read."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.autodiff.rows.formulas import reads_row
from symgrad.ir.body import Body, carry_values, divide, unpack_values
from symgrad.ir.graph import Node
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.op import Loop
from symgrad.ir.shapes import slice_start
from symgrad.ir.sizes import Shape, Size, names_of, size_ceildiv, size_product, size_sum
from symgrad.ir.traverse import substitute, topological, with_args
from symgrad.ops.array.factors import kernel_op
from symgrad.ops.array.layout import WHOLE, reshape, shaped, slice_of, slice_rows


def _shape(
    _shapes: tuple[Shape, ...],
    length: Size,
    _reverse: int,
    stored: tuple[int, ...],
    _places: tuple[tuple[Size, Size], ...],
    body: Body,
) -> Shape:
    own = [c.shape for c in body.carries]
    if len(own) == len(stored) == 1:
        return (size_sum([length, 1]), *own[0])
    row = size_sum(size_product(own[k]) for k in stored)
    rest = size_sum(size_product(s) for k, s in enumerate(own) if k not in stored)
    if not stored:
        return (rest,)
    return (size_sum([length, 1, size_ceildiv(rest, row) if isinstance(row, int) and row else 0]), row)


LOOP = kernel_op(
    "loop",
    "all values of some carries of a recurrence, one row for each position, and then the last values of all others",
    ("length", "reverse", "stored", "places", "body"),
    0,
    _shape,
    Loop(),
)
"""The op of loops: a recurrence; the numbers of the carries of which all values are stored; and where the rows are that
a step reads, in an array that may have others, too: the offset of the first row, and the distance of rows.

Rows of values are those of the recurrence, without the other carries. If all carries have only their last value, the
result is one row.
"""


def last_values(node: Node) -> Size:
    """Return how many numbers of one step a loop does not keep."""
    *_, stored, _, body = node.params
    return size_sum(size_product(c.shape) for k, c in enumerate(body.carries) if k not in stored)


def with_loops(outputs: Sequence[Node]) -> list[Node]:
    """Return a program with loops for its recurrences."""
    order = topological(outputs)
    found = [n for n in order if is_recurrence(n)]
    if not found:
        return list(outputs)
    readers: dict[Node, list[Node | None]] = {}
    for node in order:
        for arg in node.args:
            readers.setdefault(arg, []).append(node)
    for output in outputs:
        readers.setdefault(output, []).append(None)
    table: dict[Node, Node] = {}
    for node in found:
        _replace(node, readers, table)
    return substitute(outputs, table)


def _replace(node: Node, readers: dict[Node, list[Node | None]], table: dict[Node, Node]) -> None:
    """Add the replacements of what reads a recurrence to a table."""
    length, reverse, body = node.params
    assert isinstance(body, Body)
    values = carry_values(node)
    parts = set(values)
    whole = any(r not in parts for r in readers[node]) and len(values) > 1
    last: Size = 0 if reverse else length
    stored = tuple(
        k
        for k, v in enumerate(values)
        if whole or any(r is None or not reads_row(r, v, last) for r in readers.get(v, []))
    )
    sizes = [size_product(v.shape[1:]) for v in values]
    if stored and (names_of(values[0].shape, *sizes) or not any(sizes[k] for k in stored)):
        stored = tuple(range(len(values)))  # no size says how many rows have room for the last values
    starts, rows, operands = divide(with_args(node, substitute(node.args, table)))
    views = [_view(x) for x in rows]
    args = [*starts, *(array for array, _, _ in views), *operands]
    loop = LOOP(*args, params=(length, reverse, stored, tuple((at, gap) for _, at, gap in views), body))
    if len(stored) == len(values):
        table[node] = loop
        return
    own = [v.shape[1:] for v in values]
    count = size_sum([length, 1])
    arrays = unpack_values(slice_rows(loop, 0, count), [own[k] for k in stored], 1) if stored else []
    if len(stored) == 1:
        arrays = [shaped(arrays[0], values[stored[0]].shape)]
    table.update(zip((values[k] for k in stored), arrays, strict=True))
    flat = loop
    if stored:
        rest = slice_rows(loop, count, None)
        flat = shaped(rest, (size_product(rest.shape),))
    begin: Size = 0
    for k, value in enumerate(values):
        if k in stored:
            continue
        end = size_sum([begin, size_product(own[k])])
        one = slice_rows(flat, begin, end)
        table.update({r: shaped(one, r.shape) for r in readers.get(value, []) if r is not None})
        begin = end


def _view(x: Node) -> tuple[Node, Size, Size]:
    """Return an array that has the rows of another one, the offset of the first row, and the distance of the rows."""
    row: Size = 0
    column: Size = 0
    while True:
        if x.op is slice_of and x.params[0][0][2] == 1 and all(t == WHOLE for t in x.params[0][1:]):
            row = size_sum([row, slice_start(x.args[0].shape[0], x.params[0][0])])
        elif x.op.name == "part" and x.params[2] == 1:
            column = size_sum([column, *(size_product(s) for s in x.params[1][: x.params[0]])])
        elif x.op is not reshape or x.shape[:1] != x.args[0].shape[:1]:
            gap = size_product(x.shape[1:])
            return x, size_sum([size_product([row, gap]), column]), gap
        x = x.args[0]
