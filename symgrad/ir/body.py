"""Bodies of recurrences: formulas of one step, over bound symbols.

A node of a recurrence has the body among its static parameters, and everything that the body reads from outside among
its arguments. So substitution, differentiation and hash consing treat these like any arguments, and bodies that differ
only by the names of their bound symbols are equal:

    carries    the values of the step before
    rows       one row of each array that the recurrence reads step by step
    operands   what is the same in all steps
    results    the new values of the carries, over these symbols

The names of bound symbols contain the height of their body, which is 1 for a body without recurrences inside. What a
recurrence inside a body reads of the step around it is greater than its own height, so that no symbol is bound twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np

from symgrad.ir.graph import OPS, Node, apply, as_node, indicator, symbol
from symgrad.ir.size_substitution import resized, size_names
from symgrad.ir.sizes import Shape, Size, SizedParameter
from symgrad.ir.traverse import digest, flatten, rebuild, substitute, topological
from symgrad.ir.types import INT, REAL, Declaration, Kind


@dataclass(frozen=True, slots=True)
class Body(SizedParameter):
    """The formulas of one step; `closed` makes it.

    Args:
        carries: the symbols of the values of the step before.
        rows: the symbols of rows of arrays.
        operands: the symbols of what is the same in all steps.
        results: the new values of the carries, with the shapes of the carries.
        height: 1, or one more than the greatest height of a body inside.
    """

    carries: tuple[Node, ...]
    rows: tuple[Node, ...]
    operands: tuple[Node, ...]
    results: tuple[Node, ...]
    height: int

    @property
    def symbols(self) -> tuple[Node, ...]:
        """All bound symbols."""
        return (*self.carries, *self.rows, *self.operands)

    @property
    def size_names(self) -> Sequence[str]:
        return size_names([*self.symbols, *self.results])

    def with_sizes(self, names: Mapping[str, Size]) -> Self:
        count = len(self.symbols)
        nodes = resized([*self.symbols, *self.results], names)
        first, second = len(self.carries), len(self.carries) + len(self.rows)
        parts = nodes[:first], nodes[first:second], nodes[second:count], nodes[count:]
        carries, rows, operands, results = map(tuple, parts)
        return type(self)(carries, rows, operands, results, self.height)

    def applied(self, values: Sequence[Node]) -> list[Node]:
        """Return the results for values of all bound symbols, unsimplified."""
        return substitute(self.results, dict(zip(self.symbols, values, strict=True)))

    def __reduce__(self) -> tuple[Callable[..., Body], tuple[Any, ...]]:
        # Pickled together, nodes that several formulas share are written once.
        counts = len(self.carries), len(self.rows), len(self.operands)
        return unpickled_body, (flatten([*self.symbols, *self.results]), counts, self.height)

    def __str__(self) -> str:
        return " ".join(digest(n).hex() for n in (*self.symbols, *self.results))


class StepNotation(NamedTuple):
    """How a program writes a step.

    Args:
        letter: the name of its position.
        parts: the formulas that have names within the step, over the symbols of the body.
    """

    letter: str
    parts: Mapping[str, Node]


def unpickled_body(flat: list[tuple[Any, ...]], counts: tuple[int, int, int], height: int) -> Body:
    """Return the body that was pickled with a list of all its nodes; pickles refer to this function."""
    nodes = iter(rebuild(flat))
    carries, rows, operands = (tuple(islice(nodes, n)) for n in counts)
    return Body(carries, rows, operands, tuple(nodes), height)


def bound_symbol(role: str, number: int, height: int, shape: Shape, kind: Kind = "real") -> Node:
    """Return a bound symbol: no symbol of a user has such a name.

    Args:
        role: what it stands for.
        number: its number among those of its role.
        height: the height of the body.
        shape: its shape.
        kind: its kind; a condition is 1 or 0 outside of the body.
    """
    return symbol(Declaration(f"{role} {number} of {height}", REAL if kind == "real" else INT, shape))


def closed(
    results: Sequence[Node], carries: Sequence[Node], rows: Sequence[Node]
) -> tuple[Body, list[int], list[Node]]:
    """Return formulas of one step as a body.

    The largest parts of the formulas that do not depend on the step become operands.

    Args:
        results: the new values of the carries.
        carries: the symbols that stand for the values of the step before in the formulas.
        rows: the symbols that stand for rows in the formulas.

    Returns:
        The body; the numbers of the rows that it reads; and what its operands stand for.

    Example:
        >>> import symgrad as sg
        >>> h, x, w = (e.node for e in sg.symbols("h x w"))
        >>> body, rows, operands = closed([h * (w * w) + x], [h], [x])
        >>> [s.name for s in body.symbols], rows, operands == [w * w]
        (['carry 0 of 1', 'row 0 of 1', 'operand 0 of 1'], [0], True)
    """
    varying = {*carries, *rows}
    order = topological(results, until=varying)
    seen = set(order)
    free: set[Node] = set()  # what depends on symbols, but not on the step
    for node in order:
        if node in varying:
            continue
        if any(a in varying for a in node.args):
            varying.add(node)
        elif not node.args:
            if node.op.name in ("symbol", "size"):
                free.add(node)
        elif any(a in free for a in node.args):
            free.add(node)
    read = dict.fromkeys(a for node in order if node in varying for a in node.args if a in free)
    read.update(dict.fromkeys(r for r in results if r in free))
    used = [k for k, row in enumerate(rows) if row in seen]
    taken = [*carries, *(rows[i] for i in used), *read]
    counts = {"carry": len(carries), "row": len(used), "operand": len(read)}
    roles = [(role, number) for role, count in counts.items() for number in range(count)]
    height = 1 + max((body.height for body in bodies_in(order)), default=0)
    bound: list[Node] = []
    values: dict[Node, Node] = {}
    for node, (role, number) in zip(taken, roles, strict=True):
        bound.append(bound_symbol(role, number, height, node.shape, node.dtype))
        values[node] = bound[-1] if node.dtype != "bool" else apply(OPS["gt"], (bound[-1], as_node(0)))
    ends = len(carries), len(carries) + len(used)
    body = Body(
        tuple(bound[: ends[0]]),
        tuple(bound[ends[0] : ends[1]]),
        tuple(bound[ends[1] :]),
        tuple(substitute(results, values)),
        height,
    )
    return body, used, [indicator(n) if n.dtype == "bool" else n for n in read]


def bodies_in(nodes: Iterable[Node]) -> Iterator[Body]:
    """Yield the bodies of recurrences among nodes, and the bodies inside them."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node.params and isinstance(node.params[-1], Body):
            yield node.params[-1]
            pending += topological(node.params[-1].results)


def pack_values(values: Sequence[Node], axis: int) -> Node:
    """Return values side by side: their axes from ``axis`` on become one. A single value keeps its shape."""
    first = values[0]
    if first.op.name == "part" and unpack_values(first.args[0], first.params[1], axis) == list(values):
        return first.args[0]
    return first if len(values) == 1 else OPS["pack"](*values, params=(axis,))


def unpack_values(whole: Node, shapes: Sequence[Shape], axis: int) -> list[Node]:
    """Return the values that are side by side from ``axis`` on, with their shapes."""
    if len(shapes) == 1:
        return [whole]
    if whole.op.name == "pack" and whole.params == (axis,):
        return list(whole.args)
    return [OPS["part"](whole, params=(k, tuple(shapes), axis)) for k in range(len(shapes))]


def carry_values(node: Node) -> list[Node]:
    """Return all values of each carry of a recurrence."""
    return unpack_values(node, [c.shape for c in node.params[-1].carries], 1)


def divide(node: Node) -> tuple[Sequence[Node], Sequence[Node], Sequence[Node]]:
    """Return the first values of a recurrence, the arrays of its rows, and its operands."""
    body: Body = node.params[2]
    first, second = len(body.carries), len(body.carries) + len(body.rows)
    return node.args[:first], node.args[first:second], node.args[second:]


def run_steps(
    length: int,
    reverse: int,
    body: Body,
    given: Sequence[Any],
    compute: Callable[[Sequence[Node], Mapping[Node, Any]], Sequence[Any]],
    dtype: Any,
) -> Any:
    """Return all values of a recurrence, step by step.

    Args:
        length: the number of steps.
        reverse: 1 if the steps run back, else 0.
        body: the formulas of one step.
        given: the first values, the arrays of rows, and the operands.
        compute: a function that evaluates nodes, given values of symbols.
        dtype: the kind of NumPy's array for the values.
    """
    ends = len(body.carries), len(body.carries) + len(body.rows)
    given = list(map(_without_axes, given))
    values, rows = given[: ends[0]], given[ends[0] : ends[1]]
    operands = dict(zip(body.operands, given[ends[1] :], strict=True))
    several = len(values) > 1
    first = np.concatenate([np.ravel(v) for v in values]) if several else values[0]
    found = np.empty((length + 1, *np.shape(first)), dtype)
    at = length if reverse else 0
    found[at] = first
    for _ in range(length):
        new = at - 1 if reverse else at + 1
        read = {**dict(zip(body.carries, values, strict=True)), **operands}
        read |= dict(zip(body.rows, (row[min(at, new)] for row in rows), strict=True))
        values = list(map(_without_axes, compute(body.results, read)))
        found[new] = np.concatenate([np.ravel(v) for v in values]) if several else values[0]
        at = new
    return found


def _without_axes(value: Any) -> Any:
    """Return the number in an array without axes, which mpmath does not take for one."""
    any_value: Any = value
    return any_value[()] if isinstance(value, np.ndarray) and not value.ndim else any_value
