"""Write a schedule as one LLVM module: the equations over vectors of lanes, and the plan for NumPy's loop.

    ufunc.plan   constants for the inner loop (`loop.py`): arguments, vector width, address of ufunc.body
    ufunc.body   the equations on W lanes at a time; an argument is contiguous, or the same vector for all lanes
    chunk.K      the body's equations in pieces, if there are many
    copies.K     a loop over pieces that are alike; `copies.K.places` and `copies.K.numbers` are tables of differences
    maths.F      the function F of `symgrad/compiler/llvm/maths`; quick code calls a copy that all kernels share
    lanes.F      the libm function F, lane by lane
    numbers.K    the numbers that a piece reads from memory

There is only one body. Elements that do not have the layout that it requires (other strides, the last few elements) are
copied to small buffers and computed there by the same code, so a value has the same bits at every length, position and
stride.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from symgrad.compiler.llvm.call_stubs.point_functions import POINT
from symgrad.compiler.llvm.elementwise import loop
from symgrad.compiler.llvm.elementwise.c_entry import ArrayEntry, Entry
from symgrad.compiler.llvm.elementwise.chunk_code import ChunkWriter, NodeFacts, lower_node
from symgrad.compiler.llvm.elementwise.rerolled_loop import RerolledLoopWriter
from symgrad.compiler.llvm.engine.target import Target
from symgrad.compiler.llvm.equations.builder import Value, VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.constant_pool import pool_constants, pool_inlined_constants
from symgrad.compiler.llvm.text.debug_locations import DebugLocations
from symgrad.compiler.llvm.text.instructions import Line, with_debug_location
from symgrad.compiler.llvm.text.module import Attributes, Function, Global, Item, Module
from symgrad.compiler.llvm.text.scratch_memory import SCRATCH, SCRATCH_DECLARATIONS
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.limits import elements_of_a_call, limited_by_memory, side_by_side
from symgrad.compiler.lowering.elementwise.schedule import Chunk, Schedule
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node
from symgrad.ir.values.evaluate import overflows
from symgrad.support.errors import InternalError, NumberTooLargeError
from symgrad.support.progress import steps

_BODY = "ufunc.body"

_ADDRESSES = 256
"""A loop reads the addresses of at most so many outputs before it begins."""

_GIVEN = ("ptr %bases", "ptr %masks", "i64 %i", "ptr %spill")
"""The parameters of the functions for pieces of the equations."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """The text of an LLVM module, and what a caller must know about it.

    Args:
        ir: the text of the module.
        itemsizes: bytes of an element of every argument, inputs then outputs.
        bools: for every argument, whether it is an array of bool.
        real: the format of all other arguments.
        width: the number of elements of a step: the lanes of one vector, or of two.
        needs: the functions that the module calls but does not define.
        shared: for each function that this module calls and all kernels share, the module that defines it.
    """

    ir: str
    itemsizes: tuple[int, ...]
    bools: tuple[bool, ...]
    real: FloatType
    width: int
    needs: tuple[str, ...]
    shared: Mapping[str, str] = field(default_factory=dict[str, str])


def emit(
    plan: Schedule,
    real: FloatType,
    target: Target,
    *,
    entry: Entry | ArrayEntry | None = None,
    quick: bool = False,
    places: DebugLocations | None = None,
) -> Emitted:
    """Write a schedule as an LLVM module.

    Args:
        plan: the schedule to compute.
        real: the floating-point format of all numbers.
        target: the features of the target processors.
        entry: also define these C functions, and everything that they need except libm.
        quick: write code that compiles quickly: one vector at a time, and mathematical functions in other modules. The
            bits are the same.
        places: record for each instruction the equation it comes from; this object maps the recorded numbers to
            equations.

    Raises:
        NumberTooLargeError: if a constant is too large for the format.
        UnsupportedError: if an equation has no native code.
    """
    width = (1 if quick else side_by_side(plan)) * target.vector_bytes // real.itemsize
    declarations = Declarations(fused=target.fused, estimates=target.estimates, fast=plan.fast)
    with np.errstate(all="ignore"), gc_paused():
        constants = fold_constants(plan, VectorBuilder(real, width, declarations))
        near = not quick and target.estimates and width * real.itemsize == target.vector_bytes
        body, tables = _body(plan, real, width, declarations, constants, near, places)
    bools = tuple(node.dtype == "bool" for node in (*plan.inputs, *plan.outputs))
    itemsizes = tuple(1 if b else real.itemsize for b in bools)
    nin = len(plan.inputs)
    standalone = entry is not None
    functions: Sequence[Item]
    shared: Mapping[str, str] = {}
    if quick:
        functions, shared = declarations.shared_modules(width)
    else:
        functions = declarations.definitions()
        if tables:
            functions, more = pool_inlined_constants(functions, width, real)
            tables += more
    items: list[Item] = [
        *loop.plan(
            itemsizes,
            nin,
            width,
            real,
            plan.slots * width * real.itemsize,
            streams=limited_by_memory(plan),
            call_elements=elements_of_a_call(plan) if quick else 0,
            internal=standalone,
        ),
        *body,
        *functions,
        *tables,
        *declarations.lanes([width]),
        *declarations.declared.values(),
    ]
    if entry is not None:
        kinds = ["i8" if b else real.llvm for b in bools]
        items += [loop.driver(itemsizes, internal=True), *entry.functions(kinds, itemsizes, nin)]
    if places is not None:
        items.append(places.metadata())
    module = Module(items)
    return Emitted(str(module), itemsizes, bools, real, width, module.needs, shared)


def emit_point(plan: Schedule, real: FloatType, target: Target) -> str:
    """Write a schedule as an LLVM module that computes one point, with the same bits as the module for many points.

    Its function has the signature of an inner loop, but reads only the addresses of the arguments.

    Args:
        plan: the schedule to compute.
        real: the floating-point format of all numbers.
        target: the features of the target processors.
    """
    declarations = Declarations(fused=target.fused, estimates=target.estimates, fast=plan.fast)
    with np.errstate(all="ignore"), gc_paused():
        constants = fold_constants(plan, VectorBuilder(real, 1, declarations))
        body, _ = _body(plan, real, 1, declarations, constants, False, None)
    count = len(plan.inputs) + len(plan.outputs)
    masks = Global("ufunc.masks", f"[{count} x i64]", "zeroinitializer")
    lines = [
        f"  %scratch.size = add i64 {plan.slots * real.itemsize}, 1",
        *SCRATCH.splitlines(),
        f"  call void @{_BODY}(ptr %args, ptr @{masks.name}, i64 1, ptr %scratch)",
        "  call void @free(ptr %heap)",
        "  ret void",
        "exhausted:",
        "  call void @abort()",
        "  unreachable",
    ]
    arguments = ("ptr %args", "ptr %dimensions", "ptr %steps", "ptr %data")
    point = Function(POINT, "void", arguments, lines, linkage="external")
    functions = (*declarations.definitions(), *declarations.lanes([1]), *declarations.declared.values())
    return str(Module([masks, point, *body, *functions, SCRATCH_DECLARATIONS]))


def fold_constants(plan: Schedule, builder: VectorBuilder) -> dict[Node, Value]:
    """Evaluate the nodes that depend on no input, in the arithmetic of the kernel."""
    known: dict[Node, Value] = {}
    for node in plan.constants:
        value = known[node] = lower_node(node, builder, [known[a] for a in node.args])
        if value.literal is None:
            raise InternalError(f"{node!r} depends on no input, but its lowering gave code")
        args = [known[a].literal for a in node.args]
        if not value.mask and overflows(value.literal, args):
            written = f"{node.op.name}({', '.join(f'{float(a):.6g}' for a in args)})"
            raise NumberTooLargeError(
                f"the constant {written} is too large for {builder.real.numpy}",
                expected=f"constants up to {np.finfo(builder.real.scalar).max:.6g}",
                cure="rewrite the formula with logarithms, or remove the constant",
            )
    return known


def _body(
    plan: Schedule,
    real: FloatType,
    width: int,
    declarations: Declarations,
    constants: dict[Node, Value],
    near: bool,
    places: DebugLocations | None,
) -> tuple[list[Item], list[Global]]:
    """Return the function ``body`` and, for a large graph, the functions ``chunk.K`` that it calls in turn.

    The second result has the numbers that they read from memory, if ``near``.
    """
    known = NodeFacts.of(plan, constants)
    chunks = plan.chunks or (Chunk((), {}, {}),)
    # The addresses of many arguments, all of them read first, would make stack frames as large as their table.
    in_place = len(chunks) > 1 or len(plan.outputs) > _ADDRESSES
    writers: dict[int, ChunkWriter] = {}
    groups: dict[int, list[Chunk]] = {}
    # For each call: a group, its first copy, and the copy after the last one; or None, and the index of a chunk.
    turns: list[tuple[int | None, int, int]] = []
    for index, chunk in enumerate(steps("llvm", "writing code", chunks)):
        if chunk.group is not None:
            copies = groups.setdefault(chunk.group, [])
            copies.append(chunk)
            first = turns.pop()[1] if turns and turns[-1][0] == chunk.group else len(copies) - 1
            turns.append((chunk.group, first, len(copies)))
            continue
        builder = VectorBuilder(real, width, declarations)
        function = _BODY if len(chunks) == 1 else f"chunk.{index}"
        writer = ChunkWriter(builder, known, places, function)
        if in_place:
            writer.prologue = builder.lines
        writer.run(chunk)
        if index == len(chunks) - 1:
            writer.store_rest(chunk)
        writers[index] = writer
        turns.append((None, index, index))
    codes: dict[int, Sequence[Line]] = {}
    tables: list[Global] = []
    for i, writer in writers.items():
        codes[i] = writer.builder.finished()
        if in_place:
            writer.prologue = []
        if near:
            before, codes[i], table = pool_constants(codes[i], width, real, f"numbers.{i}")
            writer.prologue += before
            tables += table
    if len(chunks) == 1:
        return [_loop_over_lanes(writers[0].prologue, codes[0], width, places)], tables
    given = ", ".join(_GIVEN)
    calls: list[Line] = [
        f"  call void @chunk.{first}({given})"
        if group is None
        else f"  call void @copies.{group}({given}, i64 {first}, i64 {end})"
        for group, first, end in turns
    ]
    functions: list[Item] = [
        Function(
            f"chunk.{i}",
            "void",
            _GIVEN,
            [
                *writer.prologue,
                *codes[i],
                with_debug_location(
                    "  ret void", places.number(f"chunk.{i}", None) if places is not None else 0
                ),
            ],
            attributes=Attributes.REALIGNED,
            place=places.function(f"chunk.{i}") if places is not None else 0,
        )
        for i, writer in writers.items()
    ]
    for group, copies in groups.items():
        builder = VectorBuilder(real, width, declarations)
        functions += RerolledLoopWriter(group, copies, builder, known).items(plan.slots - 1)
    return [_loop_over_lanes([], calls, width, None), *functions], tables


def _loop_over_lanes(
    prologue: Sequence[Line], lines: Sequence[Line], width: int, places: DebugLocations | None
) -> Function:
    """Return the function ``body``: code in a loop over the lanes ``%i``, ``%i + W``, ... below ``%count`` > 0."""
    at = places.number(_BODY, None) if places is not None else 0
    code = [
        "entry:",
        *prologue,
        with_debug_location("  br label %lanes", at),
        "lanes:",
        with_debug_location("  %i = phi i64 [ 0, %entry ], [ %i.next, %lanes ]", at),
        *lines,
        with_debug_location(f"  %i.next = add i64 %i, {width}", at),
        with_debug_location("  %more = icmp slt i64 %i.next, %count", at),
        with_debug_location("  br i1 %more, label %lanes, label %done", at),
        "done:",
        with_debug_location("  ret void", at),
    ]
    parameters = ("ptr %bases", "ptr %masks", "i64 %count", "ptr %spill")
    place = places.function(_BODY) if places is not None else 0
    return Function(_BODY, "void", parameters, code, attributes=Attributes.REALIGNED, place=place)
