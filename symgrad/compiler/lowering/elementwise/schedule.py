"""Order the computation: constants, then inputs, then equations, in chunks of bounded size.

The time of a code generator grows faster than the size of a function. So a large graph is cut into chunks, each of
which is a function. A value that a later chunk reads is stored in a slot of a spill area; a slot is reused after its
last reader has run.

If the same equations are repeated with different operands (`compiler/lowering/elementwise/rolling.py`), each copy is a
chunk, and all chunks of a group are one function with a loop.

All inputs are read first, and outputs that are inputs are stored last (by the last chunk). So every input is read
before any output is stored, and an output array may be an input array.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from symgrad.compiler.lowering.cost import cycles
from symgrad.compiler.lowering.elementwise.order import by_urgency
from symgrad.compiler.lowering.elementwise.rolling import repetitions
from symgrad.compiler.lowering.elementwise.segments import Run, segments
from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.traverse import topological

WHOLE = 6000
"""Up to this many equations are one function."""

CHUNK = 128
"""Number of equations of a chunk in larger graphs. Measured (`docs/decisions/0002-native-code.md`): between 64 and 256
the compile time per equation does not depend on how many values are alive; with longer chunks the time grows with the
number of loads and stores."""

_INPUTS = 16
"""If there are at least this many inputs, a loop reads them."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of nodes computed in one function.

    Args:
        nodes: the nodes that it computes, in order.
        reads: the slots of earlier chunks' values that it uses.
        writes: the slots of its own values that later chunks use.
        group: the number of its group of chunks, if any. The nodes of these chunks correspond one to one; they differ
            only in operands from outside the chunk, and in numbers.
    """

    nodes: tuple[Node, ...]
    reads: Mapping[Node, int]
    writes: Mapping[Node, int]
    group: int | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The nodes to compute, and their order.

    Args:
        inputs: the symbols, in the order of the kernel's arguments; some may not be used.
        outputs: the nodes whose values are returned.
        constants: nodes that depend on no symbol, arguments first.
        chunks: everything else.
        slots: the size of the spill area, in values; if chunks have groups, the last slot is for values that no chunk
            reads.
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
    rolled: bool = True,
    order: Sequence[Node] | None = None,
) -> Schedule:
    """Order the graph of the outputs, and cut it into chunks if it is large.

    Args:
        outputs: the nodes to compute.
        inputs: the symbols in the order of the arguments.
        chunk: the number of equations of a chunk; if set, graphs of any size are cut.
        fusable: nodes whose products and sums may be rounded once together.
        fast: whether functions need only be within four units of the last place.
        rolled: whether to look for repetition.
        order: the result of `topological` for the outputs, if already computed.
    """
    order = topological(outputs) if order is None else order
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
    groups = repetitions(symbols + equations, outputs, fusable) if rolled and not chunk else []
    pieces = segments(equations, groups) if groups else []
    within = sum(len(piece) for piece, group in pieces if group is not None)
    # For smaller graphs, a single function is faster than many pieces between a few loops.
    if not within or (len(symbols) + len(equations) <= WHOLE and 3 * within < 2 * len(equations)):
        runs = _cut(symbols, equations, outputs, chunk)
    else:
        runs = _repeated(symbols, pieces, outputs, len(equations) - within)

    last: dict[Node, int] = {}
    for index, (run, _) in enumerate(runs):
        for node in run:
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
    for index, (run, group) in enumerate(runs):
        reads: dict[Node, int] = {}
        for node in [*run, *copied] if index == len(runs) - 1 else run:
            for arg in (node, *node.args):
                if arg in slot:
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
        chunks.append(Chunk(tuple(run), reads, writes, group))
        # These slots become free only for later chunks: this chunk may store a result before it has loaded all its
        # operands.
        free.extend(expiring[index])
    return Schedule(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        constants=tuple(node for node in order if node in constant),
        chunks=tuple(chunks),
        slots=slots + any(group is not None for _, group in runs),
        fusable=frozenset(fusable),
        fast=fast,
    )


def _cut(
    symbols: Sequence[Node], equations: Sequence[Node], outputs: Sequence[Node], chunk: int | None
) -> list[Run]:
    """Return inputs and equations in one run, or in runs of equal length if there are many."""
    if len(symbols) + len(equations) <= WHOLE and not chunk:
        equations = by_urgency(equations, set(outputs), cycles)
    varying = [*symbols, *equations]
    size = chunk or (max(len(varying), 1) if len(varying) <= WHOLE else CHUNK)
    return [(varying[i : i + size], None) for i in range(0, len(varying), size)]


def _repeated(
    symbols: Sequence[Node], pieces: Sequence[Run], outputs: Sequence[Node], between: int
) -> list[Run]:
    """Return runs of the inputs, of copies, and of the equations between copies, whose number is `between`."""
    asked = set(outputs)
    many = [node for node in symbols if node.dtype != "bool"]
    if len(many) < _INPUTS:
        many = []
    single = set(many)
    others = [node for node in symbols if node not in single]
    runs: list[Run] = [(others, None)] if others else []
    own = 1 + max(group for _, group in pieces if group is not None)
    runs += [((node,), own) for node in many]
    ordered: dict[int, list[int]] = {}
    for nodes, group in pieces:
        if group is None:
            run = by_urgency(nodes, asked, cycles) if between <= WHOLE else nodes
            runs += [(run[i : i + CHUNK], None) for i in range(0, len(run), CHUNK)]
            continue
        if group not in ordered:
            place = {node: k for k, node in enumerate(nodes)}
            ordered[group] = [place[node] for node in by_urgency(nodes, asked, cycles)]
        runs.append(([nodes[k] for k in ordered[group]], group))
    if runs[-1][1] is not None:
        runs.append(((), None))  # for the outputs that are stored last
    return runs
