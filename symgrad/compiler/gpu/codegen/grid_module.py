"""Write a schedule as one LLVM module for a grid of threads: each thread loads, computes and stores its own points.

    NAME          on contiguous arrays
    NAME_aligned  the same with vector loads, for arrays that are aligned to 16 bytes
    NAME_strided  on arrays with a stride; if the grid has rows, also with rows, and an input may be a number
    NAME_point    on numbers, if there is one thread
    points.W      a loop over points, W at a time
    formula.W     the equations at W points: inputs are values, outputs are addresses
    chunk.W.K     the parts of a formula with many equations
    maths.F       the function F of `symgrad/compiler/llvm/maths`

The code for CPUs (`symgrad/compiler/llvm/elementwise/`) writes the equations, so results have the same bits as on a CPU
without AVX-512.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from symgrad.compiler.gpu.codegen.entry_functions import Argument, EntryFunctions
from symgrad.compiler.gpu.codegen.grid import Grid
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.elementwise.chunk_code import ChunkWriter, NodeFacts, write_chunks
from symgrad.compiler.llvm.elementwise.emit import fold_constants
from symgrad.compiler.llvm.equations.builder import Value, VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration, Item, Module
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Chunk, Schedule
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node
from symgrad.support.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class GridModule:
    """A module for a grid.

    Args:
        module: the module.
        names: the names of its entry functions.
    """

    module: Module
    names: tuple[str, ...]


def write_grid_module(
    plan: Schedule,
    real: FloatType,
    grid: Grid,
    names: Entry,
    *,
    fused: bool,
    neighbours: int = 1,
    aligned: bool = False,
) -> GridModule:
    """Write a schedule for a grid of threads.

    Args:
        plan: the schedule, without rerolled loops (``rolled=False``).
        real: the format of all numbers.
        grid: the grid of threads.
        names: the names of the entry functions.
        fused: whether there is a fused multiply-add instruction.
        neighbours: the number of points that a thread computes at a time in contiguous arrays.
        aligned: whether to write a function with vector loads for aligned arrays, beside the function for other arrays.

    Raises:
        NumberTooLargeError: if a constant is too large for the format.
        UnsupportedError: if an equation needs a library.
    """
    arguments = [
        Argument(k, "i8" if node.dtype == "bool" else real.llvm, real.bits, k < len(plan.inputs))
        for k, node in enumerate((*plan.inputs, *plan.outputs))
    ]
    items: list[Item] = []
    declared: dict[str, FunctionDeclaration] = {}
    for width in sorted({1, neighbours}):
        declarations = Declarations(fused=fused, fast=plan.fast, freestanding=True)
        with np.errstate(all="ignore"), gc_paused():
            lanes = width if aligned else 1
            items += _formula_functions(plan, real, width, grid, declarations, arguments, lanes)
        items += declarations.definitions()
        _refuse_library_calls(declarations)
        declared |= declarations.declared
    entries = EntryFunctions(grid, names, arguments)
    items += [entries.points(width, aligned=aligned) for width in sorted({1, neighbours})]
    functions = [entries.contiguous(1 if aligned else neighbours)]
    if aligned and neighbours > 1:
        functions.append(entries.contiguous(neighbours, aligned=True))
    functions.append(entries.strided())
    if grid.along is None:
        functions.append(entries.point())
    declared |= {d.name: d for d in entries.declarations}
    module = Module([*items, *functions, *declared.values()])
    return GridModule(module, tuple(f.name for f in functions))


def _refuse_library_calls(declarations: Declarations) -> None:
    called = sorted({*declarations.libm, *declarations.scipy})
    if called:
        raise UnsupportedError(
            f"the code of {', '.join(called)} is in a library, which such a machine does not have",
            expected="functions that symgrad has code for",
            cure="compute those on the CPU, and pass their values as inputs",
        )


def _formula_functions(
    plan: Schedule,
    real: FloatType,
    width: int,
    grid: Grid,
    declarations: Declarations,
    arguments: Sequence[Argument],
    lanes: int,
) -> list[Item]:
    """Write the equations at ``width`` points at a time."""
    known = NodeFacts.of(plan, fold_constants(plan, VectorBuilder(real, width, declarations)))
    writers = write_chunks(
        plan, lambda: _PointWriter(VectorBuilder(real, width, declarations), known, grid, lanes)
    )
    given = [a.formula_operand(grid, width) for a in arguments]
    if len(writers) == 1:
        body = [*writers[0].builder.finished(), "  ret void"]
        return [Function(f"formula.{width}", "void", given, body, attributes=Attributes.INLINED)]
    lines = [f"  %spill = alloca i8, i64 {max(plan.slots, 1) * width * real.itemsize}, align 16"]
    pieces: list[Item] = []
    for index, writer in enumerate(writers):
        used = [*(given[k] for k in sorted(writer.used)), "ptr %spill"]
        piece = f"chunk.{width}.{index}"
        lines.append(f"  call void @{piece}({', '.join(used)})")
        body = [*writer.builder.finished(), "  ret void"]
        pieces.append(Function(piece, "void", used, body))
    return [*pieces, Function(f"formula.{width}", "void", given, [*lines, "  ret void"])]


class _PointWriter(ChunkWriter):
    """Writes a chunk whose inputs are the values ``%x.K``, and whose outputs are stored at the addresses ``%at.K``.

    Args:
        grid: the grid, for the address space of outputs.
        lanes: the alignment of outputs, in elements.
    """

    def __init__(
        self,
        builder: VectorBuilder,
        known: NodeFacts,
        grid: Grid,
        lanes: int,
    ) -> None:
        super().__init__(builder, known)
        self.slot_lanes = builder.width
        self._grid = grid
        self._lanes = lanes
        self.used: set[int] = set()
        """The indices of the arguments that the chunk reads or writes."""

    def store(self, node: Node, chunk: Chunk, places: Iterable[int]) -> None:
        for k in places:
            self.used.add(k)
            self._write_to(self._grid.pointer, self._value(node, chunk), f"%at.{k}", self._lanes)

    def _read(self, k: int, mask: bool) -> Value:
        self.used.add(k)
        b, given = self.builder, f"%x.{k}"
        if not mask:
            return Value(given, False, None)
        # Booleans are passed between functions as bytes: LLVM crashes on short vectors of i1 with AVX-512.
        return b.emit(f"icmp ne {b.bytes} %s, zeroinitializer", given, mask=True)
