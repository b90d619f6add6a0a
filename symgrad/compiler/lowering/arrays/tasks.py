"""Select the values of an array program that are computed into memory, as tasks.

A task is one value and its loops: an elementwise map, a reduction, a write into a part of an array. All other values
(elementwise nodes, transposes, broadcasts, slices, gathers) are computed wherever they are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from symgrad.compiler.lowering.arrays.index import ZERO, Index, IndexTuple, flat, loop, shifted
from symgrad.compiler.lowering.contractions import is_product_of_matrices
from symgrad.compiler.lowering.cost import LEAVES, own_cost
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.op import Loop, Scan
from symgrad.ir.shapes import slice_start
from symgrad.ir.sizes import Shape, Size, size_sum
from symgrad.ir.traverse import topological
from symgrad.ops.array.factors import FACTORS

Combine = Literal["map", "sum", "max", "min", "prod", "scatter"]

_REDUCTIONS: tuple[Combine, ...] = ("max", "min", "prod")
_SHARED, _LONG = 12, 1500
"""A value with a cost above the first number is stored if it is read twice; above the second, in any case."""

_REPEATED = 3
"""A row with a cost above this is stored if every row of a larger array reads it."""


@dataclass(eq=False, slots=True)
class Task:
    """A value, and the loops that compute it.

    Args:
        node: the value.
        loops: the sizes of its loops, numbered from 0; axes of length 1 have none.
        combine: the reduction of values at equal places of the result.
        factors: the operands of a product, each with its place; or only the node itself, which its own formula
            computes.
        place: the place of a value in the target.
        reduced: the loops over which the result is reduced.
        target: the array of the result: a node, or the number of an output to copy to.
        indices: for a scatter, the arrays of positions, each with its place.
        axes: for a scatter, the axes of the target that the positions index.
        fill: whether the target is zero at all other places.
    """

    node: Node
    loops: Shape
    combine: Combine
    factors: tuple[tuple[Node, IndexTuple], ...]
    place: IndexTuple
    reduced: tuple[int, ...] = ()
    target: Node | int = 0
    indices: tuple[tuple[Node, IndexTuple], ...] = ()
    axes: tuple[int, ...] = ()
    fill: bool = False

    @property
    def shape(self) -> Shape:
        """The shape of the target."""
        return self.node.shape


@dataclass(frozen=True, slots=True)
class Reads:
    """The operands of the value of a node at a place.

    Args:
        values: other nodes, and their places.
        memory: arrays that must be complete in memory, and the positions read (for gathers, without the gathered
            indices).
    """

    values: tuple[tuple[Node, IndexTuple], ...] = ()
    memory: tuple[tuple[Node, Index], ...] = ()


def backing(node: Node) -> Node:
    """Return the array whose memory a reshaped array shares."""
    while node.op.name == "reshape":
        node = node.args[0]
    return node


def only_ones_differ(before: Shape, after: Shape) -> bool:
    """Tell whether two shapes differ only by axes of length 1."""
    return [s for s in before if s != 1] == [s for s in after if s != 1]


def _broadcast(place: IndexTuple, shape: Shape, arg: Node) -> IndexTuple:
    lead = len(shape) - len(arg.shape)
    return tuple(ZERO if n == 1 else place[j + lead] for j, n in enumerate(arg.shape))


def reads(node: Node, place: IndexTuple) -> Reads:
    """Return the operands of the value at a place of a node without a task."""
    name = node.op.name
    if node.op.pointwise and node.op is not SYMBOL:
        return Reads(tuple((a, _broadcast(place, node.shape, a)) for a in node.args))
    if name == "broadcast_to":
        return Reads(((node.args[0], _broadcast(place, node.shape, node.args[0])),))
    if name == "reshape":
        x = node.args[0]
        if only_ones_differ(x.shape, node.shape):
            moved = iter([p for p, n in zip(place, node.shape, strict=True) if n != 1])
            return Reads(((x, tuple(ZERO if n == 1 else next(moved) for n in x.shape)),))
        return Reads((), ((backing(x), flat(place, node.shape)),))
    if name == "slice":
        x = node.args[0]
        return Reads(((x, _sliced(place, x.shape, node.params[0])),))
    if name == "einsum":
        labels, result = node.params
        at = dict(zip(result, place, strict=True))
        return Reads(tuple((a, tuple(at[k] for k in own)) for a, own in zip(node.args, labels, strict=True)))
    if name == "gather":
        return _gathered(node, place)
    return Reads()


def _sliced(
    place: IndexTuple, shape: Shape, triples: Sequence[tuple[Size | None, Size | None, int]]
) -> IndexTuple:
    return tuple(shifted(p, slice_start(n, t), t[2]) for p, n, t in zip(place, shape, triples, strict=True))


def _gathered(node: Node, place: IndexTuple) -> Reads:
    x, *indices = node.args
    (axes,) = node.params
    depth = max(len(i.shape) for i in indices)
    first: int = axes[0]
    at = place[first : first + depth]
    whole = node.shape[first : first + depth]
    kept = iter((*place[:first], *place[first + depth :]))
    start = flat([ZERO if j in axes else next(kept) for j in range(len(x.shape))], x.shape)
    return Reads(tuple((i, _broadcast(at, whole, i)) for i in indices), ((backing(x), start),))


@dataclass(slots=True)
class Selection:
    """The tasks of a program.

    Args:
        order: nodes with memory or loops, arguments first, without symbols.
        tasks: the tasks of each node; empty for a call of BLAS or LAPACK, a scan, or a loop of steps.
        copies: the tasks that copy to outputs.
        bound: nodes that are computed directly into an output, each with the index of the output.
    """

    order: list[Node] = field(default_factory=list[Node])
    tasks: dict[Node, list[Task]] = field(default_factory=dict[Node, list[Task]])
    copies: list[Task] = field(default_factory=list[Task])
    bound: dict[Node, int] = field(default_factory=dict[Node, int])


def is_call(node: Node) -> bool:
    """Tell whether a node is computed by a call (BLAS, LAPACK, a scan, or a loop of steps) on operands in memory."""
    return (
        node.op.name in FACTORS
        or (node.op.structure is not None and isinstance(node.op.structure.native, Scan | Loop))
        or (
            node.op.name == "einsum"
            and is_product_of_matrices(*node.params)
            and node.dtype == "real"
            and all(a.dtype == "real" for a in node.args)
        )
    )


def _reduces(node: Node) -> bool:
    if node.op.name == "einsum":
        labels, result = node.params
        return not set[int]().union(*labels) <= set(result)
    return node.op.name in _REDUCTIONS


def select(outputs: Sequence[Node], stored: Collection[Node] = ()) -> Selection:
    """Select the nodes with tasks of a program in normal form (`compiler/lowering/arrays/normal_form.py`).

    Args:
        outputs: the outputs of the program.
        stored: nodes that get a task in any case.
    """
    everything = topological(outputs)
    found = Selection()
    chosen = {**_forced(everything, outputs), **dict.fromkeys(stored)}
    repeated = _repeated(everything)
    consumers = Counter(arg for node in everything for arg in node.args)
    cost: dict[Node, int] = {}
    for node in everything:
        if node.op is SYMBOL or node.op in LEAVES:
            cost[node] = 0
            continue
        cost[node] = own_cost(node) + sum(0 if a in chosen else cost[a] for a in node.args)
        shared = consumers[node] > 1 and cost[node] > _SHARED and node.shape != ()
        shared = shared or (node in repeated and cost[node] > _REPEATED)
        if node in chosen or is_call(node) or _reduces(node) or shared or cost[node] > _LONG:
            chosen[node] = None
    found.order = [n for n in everything if n in chosen]
    for node in found.order:
        found.tasks[node] = [] if is_call(node) else _tasks(node)
    for k, output in enumerate(outputs):
        base = backing(output)
        if base in chosen and base not in found.bound:
            found.bound[base] = k
        else:
            found.copies.append(_map(output, k))
    return found


def _repeated(everything: Sequence[Node]) -> set[Node]:
    """Return the nodes that are read lane by lane, and again in each iteration of an outer loop."""
    found: set[Node] = set()
    for node in everything:
        if not node.op.pointwise and node.op.name != "broadcast_to":
            continue
        for arg in node.args:
            lead = len(node.shape) - len(arg.shape)
            long = [j + lead for j, n in enumerate(arg.shape) if n != 1]
            if long and any(n != 1 and j not in long for j, n in enumerate(node.shape[: long[-1]])):
                found.add(arg)
                while arg.op.name == "reshape":
                    arg = arg.args[0]
                    found.add(arg)
    return found


def _forced(everything: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, None]:
    """Return the nodes whose readers need them in memory."""
    chosen: dict[Node, None] = {}

    def force(node: Node) -> None:
        base = backing(node)
        if base.op is not SYMBOL:
            chosen[base] = None

    for node in everything:
        name = node.op.name
        if name in ("unslice", "concatenate", "scatter_add"):
            chosen[node] = None
        elif name == "gather":
            force(node.args[0])
        elif is_call(node):
            for arg in node.args:
                force(arg)
        elif name == "reshape" and not only_ones_differ(node.args[0].shape, node.shape):
            force(node)
    for output in outputs:
        base = backing(output)
        if base.op not in LEAVES:
            force(base)
    return chosen


def _loops(shape: Shape) -> tuple[Shape, IndexTuple]:
    """Return a loop for every axis longer than 1, and the place at the counters of these loops."""
    sizes: list[Size] = []
    place: list[Index] = []
    for n in shape:
        place.append(ZERO if n == 1 else loop(len(sizes)))
        if n != 1:
            sizes.append(n)
    return tuple(sizes), tuple(place)


def _map(node: Node, target: Node | int) -> Task:
    sizes, place = _loops(node.shape)
    return Task(node, sizes, "map", ((node, place),), place, target=target)


def _tasks(node: Node) -> list[Task]:
    name = node.op.name
    if name == "einsum" and _reduces(node):
        return [_contraction(node)]
    if name in _REDUCTIONS:
        (axes,) = node.params
        sizes, place = _loops(node.args[0].shape)
        reduced = tuple(p.terms[0][0] for j, p in enumerate(place) if j in axes and p.terms)
        kept = tuple(p for j, p in enumerate(place) if j not in axes)
        combine: Combine = next(c for c in _REDUCTIONS if c == name) if reduced else "map"
        return [Task(node, sizes, combine, ((node.args[0], place),), kept, reduced, node)]
    if name == "unslice":
        triples, shape = node.params
        sizes, place = _loops(node.args[0].shape)
        return [
            Task(
                node,
                sizes,
                "map",
                ((node.args[0], place),),
                _sliced(place, shape, triples),
                (),
                node,
                fill=True,
            )
        ]
    if name == "concatenate":
        return _parts(node)
    if name == "scatter_add":
        return [_scatter(node)]
    return [_map(node, node)]


def _contraction(node: Node) -> Task:
    labels, result = node.params
    of: dict[int, Size] = {}
    for own, arg in zip(labels, node.args, strict=True):
        of.update(zip(own, arg.shape, strict=True))
    order = [*result, *(k for k in of if k not in result)]
    sizes, place = _loops(tuple(of[k] for k in order))
    at = dict(zip(order, place, strict=True))
    reduced = tuple(at[k].terms[0][0] for k in order if k not in result and at[k].terms)
    factors = tuple((a, tuple(at[k] for k in own)) for a, own in zip(node.args, labels, strict=True))
    return Task(
        node, sizes, "sum" if reduced else "map", factors, tuple(at[k] for k in result), reduced, node
    )


def _parts(node: Node) -> list[Task]:
    axis: int = node.params[0]
    found: list[Task] = []
    start: Size = 0
    for x in node.args:
        sizes, place = _loops(x.shape)
        moved = tuple(shifted(p, start, 1) if j == axis else p for j, p in enumerate(place))
        found.append(Task(node, sizes, "map", ((x, place),), moved, (), node))
        start = size_sum([start, x.shape[axis]])
    return found


def _scatter(node: Node) -> Task:
    values, *indices = node.args
    axes, shape = node.params
    sizes, place = _loops(values.shape)
    depth = max(len(i.shape) for i in indices)
    first: int = axes[0]
    at = place[first : first + depth]
    whole = values.shape[first : first + depth]
    kept = iter((*place[:first], *place[first + depth :]))
    target = tuple(ZERO if j in axes else next(kept) for j in range(len(shape)))
    positions = tuple((i, _broadcast(at, whole, i)) for i in indices)
    return Task(node, sizes, "scatter", ((values, place),), target, (), node, positions, axes, fill=True)
