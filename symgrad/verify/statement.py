"""Graphs as the steps that the checker reads."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import symbols_of, topological
from symgrad.proof.steps import Program, Step, Symbol

__all__ = ["program_of", "symbol_of"]


def program_of(outputs: Sequence[Node], inputs: Sequence[Node] = ()) -> tuple[Program, list[int]]:
    """Return the steps of a graph, and where the outputs stand.

    Args:
        outputs: nodes.
        inputs: symbols to declare even where no output reads them.
    """
    steps: list[Step] = []
    at: dict[Node, int] = {}
    for node in topological(list(outputs)):
        at[node] = len(steps)
        shape = tuple(_length(s) for s in node.shape)
        args = tuple(at[a] for a in node.args)
        if node.op is SYMBOL:
            params: tuple[Any, ...] = (node.name,)
        elif node.op is NUMBER:
            value = node.value
            params = (value if isinstance(value, bool) else Fraction(value),)
        elif node.op in (CONSTANT, SIZE):
            params = (str(node.params[0]),)
        else:
            params = tuple(_static(p) for p in node.params)
        steps.append(Step(node.op.name, args, params, shape, node.dtype))
    symbols = dict.fromkeys([*symbols_of(list(outputs)), *inputs])
    return Program(tuple(steps), tuple(symbol_of(s) for s in symbols)), [at[o] for o in outputs]


def symbol_of(node: Node) -> Symbol:
    """What a variable may be; a random one what its distribution takes."""
    declared = node.declaration
    domain = declared.distribution.support if declared.distribution else declared.domain
    ends = [e if isinstance(e, (int, Fraction)) else None for e in (domain.low, domain.high)]
    low, high = (None if e is None else Fraction(e) for e in ends)
    if domain.closed and domain.kind == "int":  # 0 or 1 lies between -1 and 2
        low, high = (None if low is None else low - 1), (None if high is None else high + 1)
    return Symbol(node.name, node.dtype, low, high, tuple(_length(s) for s in node.shape), declared.symmetric)


def _length(size: Size) -> int | str:
    return size if isinstance(size, int) else str(size)


def _static(value: Any) -> Any:
    """Numbers, names and tuples of them as they are, lengths as text."""
    if isinstance(value, tuple):
        return tuple(_static(v) for v in cast("tuple[Any, ...]", value))
    if value is None or isinstance(value, (bool, int, str, Fraction)):
        return value
    return str(value)
