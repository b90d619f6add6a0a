"""Recurrences in frameworks: `scan` of JAX, TensorFlow and Keras, with a function of a step; in torch a Python loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from symgrad.ir.body import Body, divide
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.recurrences import sliced_rows
from symgrad.ir.sizes import Size
from symgrad.printing.frameworks.table import Framework


class ScanContext(Protocol):
    """The function that is written so far.

    Attributes:
        lines: its lines.
        taken: the names that cannot be new ones.
        integers: the nodes that are written in integers.
        counts: the nodes that consist of sizes only.
    """

    framework: str
    known: Framework
    lines: list[str]
    taken: set[str]
    integers: set[Node]
    counts: set[Node]

    def of(self, node: Node, rank: int = 0) -> str:
        """Return an argument, in parentheses if it binds less tightly than a rank."""
        ...

    def tensor(self, node: Node, rank: int = 0) -> str:
        """Return an argument as an array of numbers of the common dtype."""
        ...

    def size(self, size: Size) -> str:
        """Return a size as an expression."""
        ...

    def unused(self, name: str) -> str:
        """Return a name that nothing else has."""
        ...

    def variable(self, text: str) -> str:
        """Return a new variable with a value, or the value itself if it is a name."""
        ...

    def step(
        self, results: Sequence[Node], texts: Mapping[Node, str], same: Mapping[Node, Node]
    ) -> tuple[list[str], list[str]]:
        """Return the lines of a step, and its results.

        Args:
            results: the formulas of the step.
            texts: the texts of symbols.
            same: symbols that are written as other nodes.
        """
        ...


_NAME = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _LoopParts:
    """The parts of a recurrence, as text."""

    node: Node
    starts: list[str]
    rows: list[str]
    length: str
    reverse: bool


def write_recurrence(node: Node, w: ScanContext) -> list[str]:
    """Write the step of a recurrence; return texts for all values of each carry.

    Args:
        node: the recurrence; its arguments are written.
        w: the writer of the function.
    """
    length, reverse, body = node.params
    assert isinstance(body, Body)
    starts, rows, operands = divide(node)
    for row, stack in zip(body.rows, rows, strict=True):
        if stack in w.integers:
            w.integers.add(row)
    if length == 0:
        return [f"{w.variable(w.tensor(s))}[None]" for s in starts]
    parts = _LoopParts(
        node,
        [w.variable(w.tensor(s)) for s in starts],
        [w.variable(w.of(x) if x in w.integers else w.tensor(x)) for x in rows],
        w.size(length),
        bool(reverse),
    )
    write = _loop if w.framework == "torch" else _scan
    # The names in a step are free again after it.
    before = set(w.taken)
    found = write(parts, body, w, dict(zip(body.operands, operands, strict=True)))
    w.integers.difference_update(body.rows)
    w.taken.intersection_update(before | set(_NAME.findall(" ".join(found))))
    return found


def _scan(parts: _LoopParts, body: Body, w: ScanContext, same: Mapping[Node, Node]) -> list[str]:
    name = w.unused("step")
    carries = [
        w.unused("carry" if len(body.carries) == 1 else f"carry_{k}") for k in range(len(body.carries))
    ]
    rows = [w.unused(_row_name(x)) for x in divide(parts.node)[1]]
    lines, results = w.step(
        body.results, dict(zip((*body.carries, *body.rows), (*carries, *rows), strict=True)), same
    )
    carry = carries[0] if len(carries) == 1 else w.unused("carry")
    row = rows[0] if len(rows) == 1 else w.unused("row")
    opened = [
        f"{', '.join(names)} = {whole}" for names, whole in ((carries, carry), (rows, row)) if names[1:]
    ]
    w.lines.append(f"def {name}({carry}, {row}):")
    if w.framework == "tensorflow":
        closing = [f"return {_tuple(results)}"]
    else:
        new = w.unused("new")
        closing = [f"{new} = {_tuple(results)}", f"return {new}, {new}"]
    w.lines += [f"    {line}" for line in [*opened, *lines, *closing]]
    starts, arrays = _tuple(parts.starts), _tuple(parts.rows)
    call = _CALLS[w.framework](name, starts, arrays if parts.rows else "", parts)
    stacked = [call]
    if len(carries) > 1:
        stacked = [w.unused(f"values_{k}") for k in range(len(carries))]
        w.lines.append(f"{', '.join(stacked)} = {call}")
    return [
        _joined(first, values, parts.reverse, w) for first, values in zip(parts.starts, stacked, strict=True)
    ]


def _joined(first: str, values: str, reverse: bool, w: ScanContext) -> str:
    """Return the first value with the values of all steps, in the order of positions."""
    both = [f"{first}[None]", values]
    return _JOINED[w.framework].format(", ".join(both[::-1] if reverse else both))


def _jax(name: str, starts: str, arrays: str, parts: _LoopParts) -> str:
    more = [*([] if arrays else [f"length={parts.length}"]), *(["reverse=True"] if parts.reverse else [])]
    return f"jax.lax.scan({', '.join([name, starts, arrays or 'None', *more])})[1]"


def _tensorflow(name: str, starts: str, arrays: str, parts: _LoopParts) -> str:
    more = ["reverse=True"] if parts.reverse else []
    return f"tf.scan({', '.join([name, arrays or f'tf.range({parts.length})', starts, *more])})"


def _keras(name: str, starts: str, arrays: str, parts: _LoopParts) -> str:
    return _jax(name, starts, arrays, parts).replace("jax.lax.", "ops.", 1)


_CALLS: Mapping[str, Callable[[str, str, str, _LoopParts], str]] = {
    "jax": _jax,
    "tensorflow": _tensorflow,
    "keras": _keras,
}
_JOINED = {
    "jax": "jnp.concatenate(({}))",
    "tensorflow": "tf.concat(({}), 0)",
    "keras": "ops.concatenate(({}))",
}


def _loop(parts: _LoopParts, body: Body, w: ScanContext, same: Mapping[Node, Node]) -> list[str]:
    lists = [
        w.unused("values" if len(body.carries) == 1 else f"values_{k}") for k in range(len(body.carries))
    ]
    at = w.unused("i")
    texts = {c: f"{name}[-1]" for c, name in zip(body.carries, lists, strict=True)}
    for row, text, stack in zip(body.rows, parts.rows, divide(parts.node)[1], strict=True):
        counts = stack.op.name == "iota"
        texts[row] = at if counts else f"{text}[{at}]"
        if counts:
            w.counts.add(row)
    lines, results = w.step(body.results, texts, same)
    w.counts.difference_update(body.rows)
    if len(results) > 1:
        new = [r if r.isidentifier() else w.unused(f"new_{k}") for k, r in enumerate(results)]
        lines += [f"{name} = {text}" for name, text in zip(new, results, strict=True) if name != text]
        results = new
    lines += [f"{name}.append({text})" for name, text in zip(lists, results, strict=True)]
    span = f"range({parts.length})"
    w.lines += [f"{name} = [{first}]" for name, first in zip(lists, parts.starts, strict=True)]
    w.lines += [
        f"for {at} in {f'reversed({span})' if parts.reverse else span}:",
        *(f"    {line}" for line in lines),
    ]
    return [f"torch.stack({name}{'[::-1]' if parts.reverse else ''})" for name in lists]


def _row_name(array: Node) -> str:
    base, _ = sliced_rows(array)
    plain = base.op is SYMBOL and base.name.isidentifier()
    return f"{base.name}_t" if plain else "t" if base.op.name == "iota" else "row"


def _tuple(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
