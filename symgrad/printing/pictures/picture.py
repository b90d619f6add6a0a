"""Select the content of a picture of a graph: boxes, edges, and highlights of verdicts.

Numbers, constants and signs have no boxes: they are part of the expression that uses them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from symgrad.analysis.explain.naming import Naming
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import shape_text
from symgrad.printing.limits import BOX_CHARACTERS

Kind = Literal["input", "random", "op", "stop"]


@dataclass(frozen=True, slots=True)
class Highlight:
    """The highlights of a picture.

    Args:
        paths: value paths; each begins at a value that a pullback reads, and ends at a random input.
        read_by: for the first node of a path, the op whose pullback reads it.
        derivative: pairs (equation, argument) through which a derivative flows.
        wrt: the variables of the derivative.
        captions: sentences that are printed below the picture.
    """

    paths: Sequence[tuple[Node, ...]] = ()
    read_by: Mapping[Node, str] = field(default_factory=dict[Node, str])
    derivative: frozenset[tuple[Node, Node]] = frozenset()
    wrt: Sequence[Node] = ()
    captions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """One box: lines of text, the first of which is bold if it is a name.

    Attributes:
        kind: the kind of its node.
        name: its name with a declaration, or None.
        text: its expression, or None for an input.
        shape: its shape; None for a number, and for an input, because the declaration of an input has the shape.
        remark: a note at the bottom of the box, or None.
        output, wrt, noisy: whether the node is an output, is a variable of the derivative, or is on a highlighted path.
    """

    kind: Kind
    name: str | None
    text: str | None
    shape: str | None
    remark: str | None
    output: bool
    wrt: bool
    noisy: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """One value edge, from an argument to the equation that reads it.

    Attributes:
        cut: whether the edge enters a stop_gradient: then no derivative flows back.
        noisy: whether the edge is on a highlighted path.
        derivative: whether a derivative flows back through the edge.
        skipped: the number of omitted equations between the ends of the edge (only on a highlighted path).
    """

    source: int
    target: int
    cut: bool
    noisy: bool
    derivative: bool
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, numbered such that every edge leads to a larger number, and edges.

    Attributes:
        total: the number of boxes of the whole graph.
        nodes: the node of each box; empty if the boxes are not equations.
    """

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    total: int
    nodes: tuple[Node, ...] = ()


def picture(
    outputs: Sequence[Node],
    names: Mapping[Node, str],
    highlight: Highlight,
    limit: int,
    numbers: Mapping[Node, str] = {},
) -> Picture:
    """Select the boxes and edges of a graph that are drawn.

    Args:
        outputs: the graph.
        names: names of nodes.
        highlight: the highlights.
        limit: the largest number of boxes; of a larger graph only the neighbourhood of the highlighted paths is drawn.
        numbers: the spellings of numbers.
    """
    order = topological(outputs)
    keep = {*outputs, *highlight.wrt}
    inlined = _inlined(order, keep, names)
    shown = [n for n in order if n not in inlined]
    args = {n: _arguments(n, inlined) for n in shown}
    paths = [tuple(n for n in path if n in args) for path in highlight.paths]
    selected = (
        set(shown) if len(shown) <= limit else _neighbourhood(shown, args, paths, outputs, highlight, limit)
    )
    number = {n: i for i, n in enumerate(n for n in shown if n in selected)}
    noisy = {n for path in paths for n in path}
    links = {(b, a) for path in paths for b, a in pairwise(path)}
    naming = Naming(names, numbers).with_recurrences(outputs)
    names = naming.names
    boxes = [
        Box(
            kind=_kind(n),
            name=str(n.declaration) if n.op is SYMBOL else names.get(n),
            text=None if n.op is SYMBOL else _text(n, naming),
            shape=shape_text(n.shape) if n.shape and n.op is not SYMBOL else None,
            remark=f"read by the pullback of {highlight.read_by[n]}" if n in highlight.read_by else None,
            output=n in outputs,
            wrt=n in highlight.wrt,
            noisy=n in noisy,
        )
        for n in number
    ]
    edges = [
        Edge(number[a], number[n], "stops" in n.op.facts, (n, a) in links, _flows(n, chain, highlight))
        for n in number
        for a, chain in args[n].items()
        if a in number
    ]
    edges += _bridges(paths, number)
    return Picture(tuple(boxes), tuple(edges), len(shown), tuple(number))


def _text(node: Node, naming: Naming) -> str:
    """Return the text of a box; a long recurrence is told by its names alone."""
    text = naming.body(node, BOX_CHARACTERS)
    long = naming.recurrence_lines(node) and len(text) > 2 * BOX_CHARACTERS
    return "a recurrence" if long else text


def _inlined(order: Sequence[Node], keep: Collection[Node], names: Mapping[Node, str]) -> set[Node]:
    """Return the nodes that are part of the expression that uses them: constants, and unnamed signs."""
    constant: set[Node] = set()
    for node in order:
        if node.op is not SYMBOL and all(a in constant for a in node.args):
            constant.add(node)
    signs = {n for n in order if n.op.name == "neg" and n not in names}
    return {n for n in order if (n in constant or n in signs) and n not in keep}


def _arguments(node: Node, inlined: set[Node]) -> dict[Node, tuple[Node, ...]]:
    """Return the drawn arguments, each with the inlined nodes on the way to it."""
    found: dict[Node, tuple[Node, ...]] = {}
    for arg in node.args:
        chain: tuple[Node, ...] = (arg,)
        while chain[-1] in inlined and len(chain[-1].args) == 1:
            chain += chain[-1].args
        if chain[-1] not in inlined:
            found.setdefault(chain[-1], chain)
    return found


def _flows(node: Node, chain: tuple[Node, ...], highlight: Highlight) -> bool:
    pairs = zip((node, *chain), chain, strict=False)
    return bool(highlight.derivative) and all(p in highlight.derivative for p in pairs)


def _kind(node: Node) -> Kind:
    if node.op is SYMBOL:
        return "random" if node.declaration.distribution is not None else "input"
    return "stop" if "stops" in node.op.facts else "op"


def _neighbourhood(
    shown: list[Node],
    args: Mapping[Node, Mapping[Node, tuple[Node, ...]]],
    paths: Sequence[tuple[Node, ...]],
    outputs: Sequence[Node],
    highlight: Highlight,
    limit: int,
) -> set[Node]:
    """Return at most ``limit`` nodes: the paths (or their ends, if these are long), then the nodes nearest to them."""
    around: dict[Node, list[Node]] = {n: list(args[n]) for n in shown}
    for n in shown:
        for a in args[n]:
            around[a].append(n)
    seeds: dict[Node, None] = {}
    for path in paths:
        half = max(2, limit // (4 * len(paths)))
        seeds.update(dict.fromkeys(path if len(path) <= 2 * half else [*path[:half], *path[-half:]]))
    seeds.update(dict.fromkeys(n for n in [*outputs, *highlight.wrt] if n in around))
    selected = set(list(seeds)[:limit])
    frontier = list(seeds)[:limit]
    while frontier and len(selected) < limit:
        further = [m for n in frontier for m in around[n] if m not in selected]
        frontier = list(dict.fromkeys(further))[: limit - len(selected)]
        selected.update(frontier)
    return selected


def _bridges(paths: Sequence[tuple[Node, ...]], number: Mapping[Node, int]) -> list[Edge]:
    """Return edges that bridge the omitted parts of a path."""
    found: list[Edge] = []
    for path in paths:
        skipped, last = 0, None
        for node in path:
            if node not in number:
                skipped += 1
                continue
            if skipped and last is not None:
                found.append(Edge(number[node], number[last], False, True, False, skipped))
            skipped, last = 0, node
    return found
