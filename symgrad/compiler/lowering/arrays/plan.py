"""Plan an array program: turn nodes into steps, and choose loops and memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from symgrad.compiler.lowering.arrays.axes import choose_axis_order
from symgrad.compiler.lowering.arrays.loops import last_values, with_loops
from symgrad.compiler.lowering.arrays.memory import Memory, plan_memory
from symgrad.compiler.lowering.arrays.nests import ArrayTask, Nest, group
from symgrad.compiler.lowering.arrays.normal_form import to_normal_form
from symgrad.compiler.lowering.arrays.outer_loop_fusion import Turns, fuse_outer_loops
from symgrad.compiler.lowering.arrays.passes import Passes, plan_passes
from symgrad.compiler.lowering.arrays.row_products import with_row_products
from symgrad.compiler.lowering.arrays.tasks import Selection, select
from symgrad.compiler.lowering.cost import own_cost
from symgrad.compiler.lowering.entries.program import ScalarProgram, scalar_program
from symgrad.ir.body import Body
from symgrad.ir.graph import Node
from symgrad.ir.op import Loop
from symgrad.ir.sizes import Size, size_ceildiv, size_max, size_product, size_sum
from symgrad.ir.traverse import topological
from symgrad.ops.record import DIVISION_COST


@dataclass(frozen=True, slots=True)
class Plan:
    """An array program in steps.

    Args:
        steps: loop nests and calls, in order.
        turns: adjacent steps with a fused outermost loop.
        passes: the passes of every nest.
        memory: the place of every array.
        selection: the nodes with arrays or loops.
        outputs: the outputs, in the smaller vocabulary of lowering.
        formulas: the formulas of one step of each loop of steps that computes with numbers and small arrays.
        bodies: the plan of one step of each other loop of steps.
    """

    steps: list[ArrayTask]
    turns: list[Turns]
    passes: dict[Nest, Passes]
    memory: Memory
    selection: Selection
    outputs: list[Node]
    formulas: dict[Node, ScalarProgram]
    bodies: dict[Node, Plan]

    @property
    def scratch(self) -> Size:
        """The scratch memory of the program in elements of eight bytes, each slot aligned to 64 bytes."""
        counts = [reduce(size_max, (a.count for a in slot.arrays)) for slot in self.memory.slots]
        return size_sum([size_product([8, size_ceildiv(count, 8)]) for count in counts])

    def nested(self) -> Iterator[Plan]:
        """Yield this plan, and the plans of all loops of steps in it."""
        yield self
        for body in self.bodies.values():
            yield from body.nested()


def is_loop(node: Node) -> bool:
    """Tell whether a node is a loop of steps."""
    return node.op.structure is not None and isinstance(node.op.structure.native, Loop)


def plan_arrays(outputs: Sequence[Node], inputs: Sequence[Node]) -> Plan:
    """Plan an array program.

    Args:
        outputs: the outputs.
        inputs: the symbols, in the order of the arguments.
    """
    # What all steps of a recurrence multiply by a matrix comes before loops, which keep only what is read.
    products = with_row_products(outputs)
    loops = with_loops(products)
    # The smaller vocabulary comes early, since all later passes handle only its ops.
    small = to_normal_form(loops)
    # Axes come before memory: a transposed array is a new array, which pays only if it is stored.
    results, stored = choose_axis_order(small)
    # Stored values come before loops: the loops of stored values compute all other values where they are read.
    selection = select(results, stored)
    # Fuse loops over the same points into a nest.
    found = group(selection)
    # A pass over the inner loop of a nest can use the reductions of earlier passes.
    passes = {step: plan_passes(step, selection.tasks) for step in found if isinstance(step, Nest)}
    # The fusion of outermost loops needs the passes.
    steps, turns = fuse_outer_loops(found, passes, selection, selection.bound)
    # Memory comes last, since lifetimes follow from the order of all steps.
    formulas, bodies, private = plan_bodies(selection)
    memory = plan_memory(steps, turns, passes, selection, inputs, results, private)
    return Plan(steps, turns, passes, memory, selection, results, formulas, bodies)


def plan_bodies(
    selection: Selection,
) -> tuple[dict[Node, ScalarProgram], dict[Node, Plan], dict[Node, Size]]:
    """Plan one step of each loop of steps: formulas for the entries of numbers and small arrays, or else a plan.

    The third result is the memory of each loop.
    """
    loops = [n for n in selection.order if is_loop(n)]
    found = {node: entry_formulas(node.params[-1]) for node in loops}
    formulas = {node: program for node, program in found.items() if program is not None}
    bodies = {n: plan_arrays(n.params[-1].results, n.params[-1].symbols) for n in loops if n not in formulas}
    # The values of two steps are in memory at once: those that a step reads, and those that it computes.
    memory = {
        node: size_sum([bodies[node].scratch if node in bodies else 0, size_product([2, last_values(node)])])
        for node in loops
        if node in bodies or any(c.shape for c in node.params[-1].carries)
    }
    return formulas, bodies, memory


def entry_formulas(body: Body) -> ScalarProgram | None:
    """Return a formula for each entry of what a step computes; None for arrays that are loops over vectors."""
    order = topological(body.results)
    costly = [n for n in order if n.args and n.op.pointwise and own_cost(n) > DIVISION_COST]
    if any(size_product(n.shape) != 1 for n in costly):
        return None
    if not any(n.shape for n in order):
        return ScalarProgram(body.symbols, body.results, frozenset(), only_numbers=True)
    return scalar_program(body.results, body.symbols)
