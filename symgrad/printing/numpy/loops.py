"""Recurrences as loops in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from symgrad.ir.body import Body, carry_values, divide
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.literals import ATOM
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.sizes import Size, size_sum
from symgrad.ir.traverse import topological, uses


class LoopContext(Protocol):
    """The source that is written so far.

    Attributes:
        lines: the lines.
        texts: the text of each node, and its precedence.
        variables: names for nodes that are not written yet.
        count: the number of uses of each node.
        taken: the names in use.
    """

    lines: list[str]
    texts: dict[Node, tuple[str, int]]
    variables: dict[Node, str]
    count: dict[Node, int]
    taken: set[str]

    def of(self, node: Node, rank: int = 0) -> str:
        """Return the text of an argument, in parentheses if it binds less tightly than a rank."""
        ...

    def size(self, size: Size) -> str:
        """Return a size as an expression."""
        ...

    def temporary(self, text: str) -> str:
        """Return a new variable with a value."""
        ...

    def unused(self, name: str) -> str:
        """Return a name that nothing else has."""
        ...

    def write_all(self, nodes: Sequence[Node]) -> None:
        """Write nodes and their arguments."""
        ...


def carry_text(node: Node, carries: dict[Node, list[str]], write: Callable[[Node], list[str]]) -> str | None:
    """Return the name of all values of a carry; None for nodes that are no such values.

    Args:
        node: the node; a recurrence is written, and stands for its first carry.
        carries: the names of the carries of the recurrences that are written; new ones are added.
        write: a function that writes a recurrence, and returns the names of its carries.
    """
    if is_recurrence(node):
        carries[node] = write(node)
        return carries[node][0]
    if node.op.name != "part" or node.args[0] not in carries:
        return None
    number: int = node.params[0]
    return carries[node.args[0]][number]


def write_recurrence(node: Node, writer: LoopContext) -> list[str]:
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
    for start, carry, values in zip(starts, body.carries, carry_values(node), strict=True):
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
        writer.texts[carry] = (f"{array}[{before}]", ATOM)
    for row, stack in zip(body.rows, rows, strict=True):
        writer.texts[row] = (f"{writer.of(stack, ATOM)}[{at}]", ATOM)
    for operand, value in zip(body.operands, operands, strict=True):
        writer.texts[operand] = writer.texts[value]
    outer, writer.lines = writer.lines, []
    writer.count.update(uses(list(body.results)))
    writer.write_all(body.results)
    writer.lines += [f"{a}[{after}] = {writer.of(r)}" for a, r in zip(arrays, body.results, strict=True)]
    span = f"reversed(range({count}))" if reverse else f"range({count})"
    outer += [f"for {at} in {span}:", *(f"    {line}" for line in writer.lines)]
    writer.lines = outer
    writer.taken.discard(at)
    for inner in topological(body.results):  # other bodies have the same symbols
        if inner.args or inner.op is SYMBOL:
            writer.texts.pop(inner, None)
    return arrays
