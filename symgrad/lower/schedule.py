"""The order of computation: constants first, then inputs, then equations, in chunks of bounded size.

A code generator is superlinear in the size of one function, so a large graph is cut into chunks, one function each. A value
that a later chunk reads goes through a slot of a spill area; a slot is used again once its last reader has run.

Inputs come first of all: nothing is stored to an output before every input has been read, so an output array may be
an input array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.traverse import topological

__all__ = ["CHUNK", "Chunk", "Schedule", "schedule"]

CHUNK = 512
"""Equations in one function: measured, the code generator's time per equation is flat up to about here."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of nodes computed in one function.

    Args:
        nodes: what it computes, in order.
        reads: (node, slot) of values of earlier chunks that it uses.
        writes: (node, slot) of its values that later chunks use.
    """

    nodes: tuple[Node, ...]
    reads: tuple[tuple[Node, int], ...]
    writes: tuple[tuple[Node, int], ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """What to compute, in which order.

    Args:
        inputs: the symbols, in the order of the kernel's arguments; some may not be used.
        outputs: the nodes whose values are asked for.
        constants: nodes that depend on no symbol, arguments first.
        chunks: everything else.
        slots: size of the spill area, in values.
    """

    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    constants: tuple[Node, ...]
    chunks: tuple[Chunk, ...]
    slots: int


def schedule(outputs: Sequence[Node], inputs: Sequence[Node], *, chunk: int = CHUNK) -> Schedule:
    """Order the graph of the outputs and cut it into chunks of at most ``chunk`` equations."""
    order = topological(outputs)
    constant: set[Node] = set()
    for node in order:
        if node.op is NUMBER or node.op is CONSTANT or (node.op is not SYMBOL and constant.issuperset(node.args)):
            constant.add(node)
    symbols = [node for node in order if node.op is SYMBOL]
    equations = [node for node in order if node.op is not SYMBOL and node not in constant]
    varying = symbols + equations
    runs = [varying[i : i + chunk] for i in range(0, len(varying), chunk)]

    home: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for index, run in enumerate(runs):
        for node in run:
            home[node] = index
            for arg in node.args:
                if arg not in constant:
                    last[arg] = index

    slot: dict[Node, int] = {}
    free: list[int] = []
    expiring: list[list[int]] = [[] for _ in runs]
    slots = 0
    chunks: list[Chunk] = []
    for index, run in enumerate(runs):
        reads: dict[Node, int] = {}
        for node in run:
            for arg in node.args:
                if arg in slot and home[arg] < index:
                    reads[arg] = slot[arg]
        # A slot that this chunk reads for the last time is free for its own results: it has loaded all it reads by then.
        free.extend(expiring[index])
        writes: list[tuple[Node, int]] = []
        for node in run:
            if last.get(node, index) > index:
                if free:
                    slot[node] = free.pop()
                else:
                    slot[node] = slots
                    slots += 1
                expiring[last[node]].append(slot[node])
                writes.append((node, slot[node]))
        chunks.append(Chunk(tuple(run), tuple(reads.items()), tuple(writes)))
    return Schedule(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        constants=tuple(node for node in order if node in constant),
        chunks=tuple(chunks),
        slots=slots,
    )
