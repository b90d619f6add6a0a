"""Assign a place to each array: an argument, or a slot of scratch memory, which is reused when its array is dead.

Slots are chosen when a program is compiled, for all sizes at once. The address of each slot is computed from the sizes
in every call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

from symgrad.compiler.lowering.arrays.index import flat
from symgrad.compiler.lowering.arrays.liveness import find_liveness
from symgrad.compiler.lowering.arrays.nests import ArrayTask, LibraryCall, Member, Nest
from symgrad.compiler.lowering.arrays.outer_loop_fusion import Turns, stored_nodes
from symgrad.compiler.lowering.arrays.passes import Passes, last_reads
from symgrad.compiler.lowering.arrays.tasks import Selection
from symgrad.compiler.lowering.contractions import estimate
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size, size_product

Kind = Literal["real", "int", "bool", "double"]
"""How elements are stored; double if the kernel's own format would lose digits."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """The elements of an array.

    Args:
        kind: the type of the elements.
        count: the number of elements.
        slot: the slot of the array; -1 for an argument.
    """

    kind: Kind
    count: Size
    slot: int = -1


@dataclass(slots=True)
class Slot:
    """A region of scratch memory, and the arrays that occupy it at different times."""

    arrays: list[Buffer] = field(default_factory=list[Buffer])


@dataclass(slots=True)
class Memory:
    """The arrays of a program, numbered: inputs, outputs, then arrays in slots.

    Args:
        arrays: the arrays.
        inputs: the number of inputs.
        slots: the slots.
        of: the index of the array of each node.
        scratch: the index of the scratch memory of each loop of steps.
    """

    arrays: list[Buffer]
    inputs: int
    slots: list[Slot] = field(default_factory=list[Slot])
    of: dict[Node, int] = field(default_factory=dict[Node, int])
    scratch: dict[Node, int] = field(default_factory=dict[Node, int])
    _free: set[int] = field(default_factory=set[int])
    _rows: dict[Member, list[int]] = field(default_factory=dict[Member, list[int]])
    _kept: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def array(self, node: Node) -> int:
        """Return the number of the array of a node."""
        return self.of[node]

    def in_slot(self, node: Node) -> bool:
        """Tell whether a node has a slot: it is stored, and no argument."""
        return node in self.of and self.arrays[self.of[node]].slot >= 0

    def output(self, k: int) -> int:
        """Return the number of the array of an output."""
        return self.inputs + k

    def rows_of(self, member: Member) -> list[int]:
        """Return the arrays in which a member accumulates sums of rows."""
        return self._rows[member]

    def kept(self, nest: Nest, row: int) -> int:
        """Return the array of a row that a nest keeps between passes."""
        return self._kept[id(nest), row]

    def new(self, kind: Kind, count: Size) -> int:
        """Put an array into a free slot, or into a new slot."""
        best = -1
        wanted = estimate(count)
        for i in sorted(self._free):
            slot = self.slots[i]
            has = max(estimate(a.count) for a in slot.arrays)
            same = any(a.count == count for a in slot.arrays)
            if same:
                best = i
                break
            if best < 0 or abs(has - wanted) < abs(
                max(estimate(a.count) for a in self.slots[best].arrays) - wanted
            ):
                best = i
        if best < 0:
            best = len(self.slots)
            self.slots.append(Slot())
        array = Buffer(kind, count, best)
        self.slots[best].arrays.append(array)
        self._free.discard(best)
        self.arrays.append(array)
        return len(self.arrays) - 1

    def share(self, kind: Kind, count: Size, k: int) -> int:
        """Put an array into the slot of another array whose last read is not after the write of the new array."""
        slot = self.arrays[k].slot
        array = Buffer(kind, count, slot)
        self.slots[slot].arrays.append(array)
        self.arrays.append(array)
        return len(self.arrays) - 1

    def release(self, k: int) -> None:
        """Free the slot of an array."""
        self._free.add(self.arrays[k].slot)


def plan_memory(
    steps: Sequence[ArrayTask],
    turns: Sequence[Turns],
    passes: Mapping[Nest, Passes],
    selection: Selection,
    inputs: Sequence[Node],
    outputs: Sequence[Node],
    scratch: Mapping[Node, Size],
) -> Memory:
    """Assign a place to every array that a program stores, and to the scratch memory of loops of steps."""
    arguments = [Buffer(n.dtype, size_product(n.shape)) for n in (*inputs, *outputs)]
    memory = Memory(arguments, len(inputs))
    memory.of.update({node: i for i, node in enumerate(inputs)})
    memory.of.update({node: len(inputs) + k for node, k in selection.bound.items()})
    live = find_liveness(steps, turns)
    private = live.private
    for step, dying in zip(steps, live.dying, strict=True):
        # An operand can share the output's memory if the output is computed from it entry by entry and nothing reads it
        # later.
        dying = {n for n in dying if n not in memory.of and n not in private}
        if step in live.turns:
            # This is not done if another step of the same fused loop reads the operand: it would read an overwritten
            # value in its next turn.
            dying -= {n for s in live.turns[step].steps if s is not step for n in s.needs}
        if isinstance(step, Nest) and dying:
            for output, operand in _reused(step, passes[step], selection, dying, selection.bound).items():
                memory.of[operand] = memory.of[output]
    for step, dying, ended in zip(steps, live.dying, live.ended, strict=True):
        dying = {n for n in dying if memory.in_slot(n)}
        here = live.turns.get(step)
        if here is not None:
            # Arrays that outlive a turn get their places first: every turn overwrites the private arrays, so no place
            # is shared.
            for node in (n for s in here.steps for n in stored_nodes(s)):
                if node not in memory.of and node not in private:
                    memory.of[node] = memory.new(node.dtype, size_product(node.shape))
            dying &= private
        fresh = [n for n in stored_nodes(step) if n not in memory.of]
        reused = (
            _reused(step, passes[step], selection, dying, fresh) if isinstance(step, Nest) and dying else {}
        )
        for node in fresh:
            count = size_product(node.shape[1:] if node in private else node.shape)
            if node in reused:
                memory.of[node] = memory.share(node.dtype, count, memory.of[reused[node]])
            else:
                memory.of[node] = memory.new(node.dtype, count)
        over = set(reused.values())
        rows = _rows(step, passes, memory) if isinstance(step, Nest) else []
        if isinstance(step, LibraryCall) and step.node in scratch:
            memory.scratch[step.node] = memory.new("double", scratch[step.node])
            rows.append(memory.scratch[step.node])
        for k in [*rows, *(memory.of[n] for n in ended if memory.in_slot(n) and n not in over)]:
            memory.release(k)
    return memory


def _reused(
    nest: Nest, passes: Passes, selection: Selection, dying: Set[Node], results: Collection[Node]
) -> dict[Node, Node]:
    """Choose results of a nest, among `results`, that can overwrite an operand that nothing reads later.

    Each lane must read the operand at the position where it writes the result, and no later pass may read the operand.
    """
    found: dict[Node, Node] = {}
    reads = last_reads(nest, passes, selection.tasks)
    stored_in = {m: number for number, this in enumerate(passes.passes) for m in this.lanes}
    for member, number in stored_in.items():
        task = member.task
        node = task.node
        whole = task.target is node and task.combine == "map" and not task.fill and not member.reduced
        if not (whole and len(selection.tasks[node]) == 1 and node in results):
            continue
        at = flat(member.place, node.shape)
        for operand, (last, places) in reads.items():
            fits = (
                operand in dying
                and operand not in found.values()
                and last <= number
                and operand.dtype == node.dtype
                and size_product(operand.shape) == size_product(node.shape)
                and all(flat(place, operand.shape) == at for place in places)
            )
            if fits:
                found[node] = operand
                break
    return found


def _rows(nest: Nest, passes: Mapping[Nest, Passes], memory: Memory) -> list[int]:
    """Allocate the rows that a nest needs while it runs."""
    found: list[int] = []
    if not nest.loops:
        return found
    count = nest.loops[-1]
    for row, node in enumerate(passes[nest].rows):
        k = memory.new(node.dtype, count)
        memory._kept[id(nest), row] = k  # pyright: ignore[reportPrivateUsage]  (made here)
        found.append(k)
    for member in nest.members:
        outer = member.reduced - {nest.inner}
        if outer and member.inner and nest.inner not in member.reduced:
            kind: Kind = "double" if member.task.node.dtype == "int" else "real"
            two = member.task.combine == "sum"
            rows = [memory.new(kind, count) for _ in range(3 if two else 1)]
            memory._rows[member] = rows  # pyright: ignore[reportPrivateUsage]  (made here)
            found += rows
    return found
