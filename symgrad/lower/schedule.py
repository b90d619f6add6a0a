"""The order of computation: constants first, then inputs, then equations, in chunks of bounded size.

A code generator is superlinear in the size of one function, so a large graph is cut into chunks, one function
each. A value that a later chunk reads goes through a slot of a spill area; a slot is used again once its last
reader has run.

Inputs are read first of all, and outputs that are inputs are stored last of all (by the last chunk): nothing
is stored to an output before every input has been read, so an output array may be an input array.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.traverse import topological
from symgrad.lower.order import by_urgency
from symgrad.lower.tasks import cycles

__all__ = ["CHUNK", "WHOLE", "Chunk", "Schedule", "schedule"]

WHOLE = 6000
"""Up to so many equations are one function."""

CHUNK = 128
"""Equations of a chunk where there are more. Measured (`docs/decisions/0002-native-code.md`): between 64 and 256 the
compile time per equation does not depend on how many values are alive; with long chunks it grows with their
loads and stores."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of nodes computed in one function.

    Args:
        nodes: what it computes, in order.
        reads: the slots of values of earlier chunks that it uses.
        writes: the slots of its own values that later chunks use.
    """

    nodes: tuple[Node, ...]
    reads: Mapping[Node, int]
    writes: Mapping[Node, int]


@dataclass(frozen=True, slots=True)
class Schedule:
    """What to compute, in which order.

    Args:
        inputs: the symbols, in the order of the kernel's arguments; some may not be used.
        outputs: the nodes whose values are asked for.
        constants: nodes that depend on no symbol, arguments first.
        chunks: everything else.
        slots: size of the spill area, in values.
        fusable: nodes whose products and sums may be rounded once together.
        fast: whether functions need only be within four units of the last place.
    """

    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    constants: tuple[Node, ...]
    chunks: tuple[Chunk, ...]
    slots: int
    fusable: frozenset[Node] = frozenset()
    fast: bool = False


def schedule(
    outputs: Sequence[Node],
    inputs: Sequence[Node],
    *,
    chunk: int | None = None,
    fusable: Collection[Node] = (),
    fast: bool = False,
) -> Schedule:
    """Order the graph of the outputs, and cut it into chunks if it is large.

    Args:
        outputs: what to compute.
        inputs: the symbols in the order of the arguments.
        chunk: cut into chunks of so many equations, whatever the size.
        fusable: nodes whose products and sums may be rounded once together.
        fast: whether functions need only be within four units of the last place.
    """
    order = topological(outputs)
    constant: set[Node] = set()
    for node in order:
        if (
            node.op is NUMBER
            or node.op is CONSTANT
            or (node.op is not SYMBOL and constant.issuperset(node.args))
        ):
            constant.add(node)
    symbols = [node for node in order if node.op is SYMBOL]
    equations = [node for node in order if node.op is not SYMBOL and node not in constant]
    if len(symbols) + len(equations) <= WHOLE and not chunk:
        equations = by_urgency(equations, set(outputs), cycles)
    varying = symbols + equations
    size = chunk or (max(len(varying), 1) if len(varying) <= WHOLE else CHUNK)
    runs = [varying[i : i + size] for i in range(0, len(varying), size)]

    home: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for index, run in enumerate(runs):
        for node in run:
            home[node] = index
            for arg in node.args:
                if arg not in constant:
                    last[arg] = index
    copied = [node for node in outputs if node.op is SYMBOL]
    last.update(dict.fromkeys(copied, len(runs) - 1))

    slot: dict[Node, int] = {}
    free: list[int] = []
    expiring: list[list[int]] = [[] for _ in runs]
    slots = 0
    chunks: list[Chunk] = []
    for index, run in enumerate(runs):
        reads: dict[Node, int] = {}
        for node in [*run, *copied] if index == len(runs) - 1 else run:
            for arg in (node, *node.args):
                if arg in slot and home[arg] < index:
                    reads[arg] = slot[arg]
        writes: dict[Node, int] = {}
        for node in run:
            if last.get(node, index) > index:
                if free:
                    slot[node] = free.pop()
                else:
                    slot[node] = slots
                    slots += 1
                expiring[last[node]].append(slot[node])
                writes[node] = slot[node]
        chunks.append(Chunk(tuple(run), reads, writes))
        # Free only for later chunks: this one may store a result before it has loaded everything it reads.
        free.extend(expiring[index])
    return Schedule(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        constants=tuple(node for node in order if node in constant),
        chunks=tuple(chunks),
        slots=slots,
        fusable=frozenset(fusable),
        fast=fast,
    )
