"""Group tasks into loop nests (loop fusion), so that common values are loaded and computed once.

The last loop of a nest runs over the lanes of vectors. For each point of the outer loops a nest makes passes over the
inner loop. A pass can use the reductions of earlier passes. For example, the rows of a softmax are one nest of three
passes: the maximum; the exponentials and their sum; the quotients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from symgrad.compiler.lowering.arrays.index import Index, IndexTuple, flat
from symgrad.compiler.lowering.arrays.tasks import Selection, Task, backing, reads
from symgrad.compiler.lowering.cost import LEAVES
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.sizes import Shape

_LOOK_BACK = 16
"""A task may join a nest among the last steps, as many as this."""

_LINE = 8
"""The numbers in a line of the cache."""

_LARGEST = 400
"""The largest number of members of a nest; code size and register pressure grow with it."""


@dataclass(eq=False, slots=True)
class Member:
    """A task in a nest.

    Args:
        task: the task.
        factors: the operands, each with its index as a function of the loop counters of the nest.
        place: the place of the value in the target.
        indices: for a scatter, the arrays of positions and their places.
        reduced: the loops of the nest over which the result is reduced.
        inner: whether the member runs over the inner loop.
        stored: whether its value must be stored in memory.
    """

    task: Task
    factors: tuple[tuple[Node, IndexTuple], ...]
    place: IndexTuple
    indices: tuple[tuple[Node, IndexTuple], ...]
    reduced: frozenset[int]
    inner: bool
    stored: bool = False

    @property
    def own(self) -> bool:
        """Whether the value is computed by the node's own formula, and not as a product of operands."""
        return self.task.target is self.task.node and self.factors[0][0] is self.task.node


@dataclass(eq=False, slots=True)
class Nest:
    """Loops and their members; the last loop is the inner loop."""

    loops: Shape
    members: list[Member] = field(default_factory=list[Member])
    inside: dict[Node, Member] = field(default_factory=dict[Node, Member])
    loads: set[tuple[Node, Index]] = field(default_factory=set[tuple[Node, Index]])
    needs: dict[Node, None] = field(default_factory=dict[Node, None])

    @property
    def inner(self) -> int:
        """The number of the inner loop; -1 without loops."""
        return len(self.loops) - 1

    def holds(self, node: Node, place: IndexTuple) -> Member | None:
        """Return the member that computes a node at a place at the current point of the loops."""
        member = self.inside.get(node)
        return member if member is not None and member.place == place else None


@dataclass(eq=False, slots=True)
class LibraryCall:
    """A call of BLAS or LAPACK, or a scan."""

    node: Node
    needs: dict[Node, None]


ArrayTask = Nest | LibraryCall


@dataclass(slots=True)
class _Needs:
    """The operands of a task, in its own loops: values of other tasks, and arrays in memory."""

    values: list[tuple[Node, IndexTuple]]
    memory: list[tuple[Node, Index]]


def _needs(task: Task, chosen: Mapping[Node, object]) -> _Needs:
    found = _Needs([], [])
    stack: list[tuple[Node, IndexTuple]] = [*reversed(task.indices)]
    seen: set[tuple[Node, IndexTuple]] = set()
    if task.target is task.node and task.factors[0][0] is task.node:
        own = reads(*task.factors[0])
        stack += reversed(own.values)
        found.memory += own.memory
    else:
        stack += reversed(task.factors)
    while stack:
        pair = stack.pop()
        if pair in seen:
            continue
        seen.add(pair)
        node, _ = pair
        if node in chosen or node.op is SYMBOL:
            found.values.append(pair)
        elif node.op not in LEAVES:
            more = reads(*pair)
            stack += reversed(more.values)
            found.memory += more.memory
    return found


def _renamed(
    pairs: Iterable[tuple[Node, IndexTuple]], names: Mapping[int, int]
) -> tuple[tuple[Node, IndexTuple], ...]:
    return tuple((n, tuple(i.renamed(names) for i in place)) for n, place in pairs)


def _member(task: Task, names: Mapping[int, int], inner: int) -> Member:
    ((_, place),) = _renamed([(task.node, task.place)], names)
    return Member(
        task,
        _renamed(task.factors, names),
        place,
        _renamed(task.indices, names),
        frozenset(names[k] for k in task.reduced),
        inner in names.values(),
    )


def _visible(member: Member, selection: Selection, inner: int) -> bool:
    """Tell whether the value is complete at the current point, so that other members can use it."""
    task = member.task
    return (
        task.target is task.node
        and len(selection.tasks[task.node]) == 1
        and not task.fill
        and task.combine != "scatter"
        and member.reduced <= {inner}
    )


class _Grouping:
    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.steps: list[ArrayTask] = []
        self.givers: dict[Node, list[ArrayTask]] = {}

    def _position(self, node: Node) -> int:
        return max((self.steps.index(s) for s in self.givers.get(node, ())), default=-1)

    def add(self, task: Task) -> None:
        needs = _needs(task, self.selection.tasks)
        candidates = [s for s in self.steps[-_LOOK_BACK:] if isinstance(s, Nest)]
        for nest in reversed(candidates):
            for names in _assignments(task, nest):
                if self._fits(task, needs, nest, names):
                    self._join(task, needs, nest, names)
                    return
        order = _order(task, needs)
        nest = Nest(tuple(task.loops[k] for k in order))
        self.steps.append(nest)
        self._join(task, needs, nest, {k: i for i, k in enumerate(order)})

    def call(self, node: Node) -> None:
        step = LibraryCall(node, dict.fromkeys(backing(a) for a in node.args))
        self.steps.append(step)
        self.givers[node] = [step]

    def _fits(self, task: Task, needs: _Needs, nest: Nest, names: Mapping[int, int]) -> bool:
        inner = nest.inner
        used = set(names.values())
        outer = set(range(inner))
        if used not in (outer, outer | {inner}) or len(nest.members) > _LARGEST:
            return False
        if task.combine == "scatter" and inner not in used:
            return False
        reduced = sorted({names[k] for k in task.reduced} - {inner})
        if reduced != list(range(inner - len(reduced), inner)):
            return False
        shared = not nest.loops
        alone = len(used) == len(nest.loops)  # and the task reads no array of the nest's rank
        memory = {n for n, _ in needs.memory}
        everywhere = len(nest.loops)
        for node, place in needs.values:
            moved = tuple(i.renamed(names) for i in place)
            if nest.holds(node, moved) is not None:
                shared = True
                continue
            memory.add(node)
            at = flat(moved, node.shape)
            alone = alone and len(at.terms) < everywhere
            shared = shared or (len(at.terms) == everywhere and (node, at) in nest.loads)
        if not (shared or (alone and not needs.memory)):
            return False
        if any(nest in self.givers.get(n, ()) for n in memory):
            return False
        index = self.steps.index(nest)
        if all(self._position(n) < index for n in memory):
            return True
        # The nest can also move after the operands of the task, if no step in between reads its results.
        results = [m.task.target for m in nest.members if isinstance(m.task.target, Node)]
        if any(n in step.needs for step in self.steps[index + 1 :] for n in results):
            return False
        self.steps.remove(nest)
        self.steps.append(nest)
        return True

    def _join(self, task: Task, needs: _Needs, nest: Nest, names: Mapping[int, int]) -> None:
        member = _member(task, names, nest.inner)
        for node, place in needs.values:
            moved = tuple(i.renamed(names) for i in place)
            if nest.holds(node, moved) is None:
                nest.needs[node] = None
                nest.loads.add((node, flat(moved, node.shape)))
        for node, index in needs.memory:
            nest.needs[node] = None
            nest.loads.add((node, index.renamed(names)))
        nest.members.append(member)
        if isinstance(task.target, Node):
            if _visible(member, self.selection, nest.inner):
                nest.inside[task.node] = member
            self.givers.setdefault(task.node, []).append(nest)


def _assignments(task: Task, nest: Nest) -> Iterator[dict[int, int]]:
    """Yield the injections of the loops of a task into the loops of a nest, with the identity first."""
    count = len(task.loops)
    if count not in (len(nest.loops), len(nest.loops) - 1) or count > 5:
        return
    for loops in permutations(range(len(nest.loops)), count):
        if all(nest.loops[i] == n for i, n in zip(loops, task.loops, strict=True)):
            yield dict(enumerate(loops))


def _order(task: Task, needs: _Needs) -> list[int]:
    """Return the order of a task's loops: outer loops of the result, reduced outer loops, the inner loop.

    The inner loop is the loop along which most arrays are contiguous.
    """
    count = len(task.loops)
    if count == 0:
        return []
    touched = [flat(p, n.shape) for n, p in needs.values] + [i for _, i in needs.memory]
    if not task.reduced:
        touched += [flat(task.place, task.shape)] * 2
    # In each iteration of the inner loop an array costs one load, a strided one the load of a line of the cache.
    cost = [
        sum(1 if c == 1 else _LINE for index in touched for j, c in index.terms if j == k)
        for k in range(count)
    ]
    inner = min(range(count), key=lambda k: (cost[k], -k))
    outer = [k for k in range(count) if k != inner]
    return [*(k for k in outer if k not in task.reduced), *(k for k in outer if k in task.reduced), inner]


def group(selection: Selection) -> list[ArrayTask]:
    """Group the tasks of a program into nests, in a topological order."""
    grouping = _Grouping(selection)
    for node in selection.order:
        tasks = selection.tasks[node]
        if not tasks:
            grouping.call(node)
        for task in tasks:
            grouping.add(task)
    for task in selection.copies:
        grouping.add(task)
    steps = grouping.steps
    needed = {n for step in steps for n in step.needs}
    for step in steps:
        if isinstance(step, Nest):
            for member in step.members:
                task = member.task
                member.stored = (
                    not isinstance(task.target, Node) or task.node in needed or task.node in selection.bound
                )
                member.stored = member.stored or not _visible(member, selection, step.inner)
    return steps
