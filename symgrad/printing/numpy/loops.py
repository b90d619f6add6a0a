"""Recurrences as loops in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symgrad.autodiff.recurrences import divide
from symgrad.ir.body import Body, carried
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.literals import ATOM
from symgrad.ir.sizes import size_sum
from symgrad.ir.traverse import topological, uses

if TYPE_CHECKING:
    from symgrad.printing.numpy.source import SourceWriter


def write_recurrence(node: Node, writer: SourceWriter) -> list[str]:
    """Write the loop of a recurrence; return the variables of its carries, with all their values.

    Args:
        node: the recurrence; its arguments are written.
        writer: the writer of the function.
    """
    length, reverse, body = node.params
    assert isinstance(body, Body)
    starts, rows, operands = divide(node)
    count = writer.size(length)
    last = writer.size(size_sum([length, 1]))
    arrays: list[str] = []
    first = count if reverse else "0"
    for start, carry, values in zip(starts, body.carries, carried(node), strict=True):
        shape = ", ".join([last, *map(writer.size, carry.shape)])
        empty = f"np.empty(({shape}))" if carry.shape else f"np.empty({shape})"
        name = writer.variables.pop(values, None)
        if name is None:
            name = writer.temporary(empty)
        else:
            writer.lines.append(f"{name} = {empty}")
        writer.lines.append(f"{name}[{first}] = {writer.of(start)}")
        arrays.append(name)
    at = writer.unused("i")
    before, after = (f"{at} + 1", at) if reverse else (at, f"{at} + 1")
    for carry, array in zip(body.carries, arrays, strict=True):
        writer.written[carry] = (f"{array}[{before}]", ATOM)
    for row, stack in zip(body.rows, rows, strict=True):
        writer.written[row] = (f"{writer.of(stack, ATOM)}[{at}]", ATOM)
    for operand, value in zip(body.operands, operands, strict=True):
        writer.written[operand] = writer.written[value]
    outer, writer.lines = writer.lines, []
    writer.count.update(uses(list(body.results)))
    writer.write_all(body.results)
    writer.lines += [f"{a}[{after}] = {writer.of(r)}" for a, r in zip(arrays, body.results, strict=True)]
    span = f"reversed(range({count}))" if reverse else f"range({count})"
    outer += [f"for {at} in {span}:", *(f"    {line}" for line in writer.lines)]
    writer.lines = outer
    for inner in topological(body.results):  # other bodies have the same symbols
        if not writer.written.keys().isdisjoint([inner]) and (inner.args or inner.op is SYMBOL):
            del writer.written[inner]
    return arrays
