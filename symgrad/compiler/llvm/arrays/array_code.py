"""Compile an array program: one function on C-contiguous arrays, for all values of the named sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from symgrad.compiler.llvm.arrays.array_loop import register_driver
from symgrad.compiler.llvm.arrays.cached_code import ArrayFacts, RunnableArrays, serialize_program
from symgrad.compiler.llvm.arrays.interrupt_checks import interrupt_items
from symgrad.compiler.llvm.arrays.library.loops_of_steps import LoopWriter
from symgrad.compiler.llvm.arrays.library.lu_factors import factor_text
from symgrad.compiler.llvm.arrays.library.matrix_products import product_items, product_name, register_product
from symgrad.compiler.llvm.arrays.library.scans_and_products import product_dispatch_text, write_call
from symgrad.compiler.llvm.arrays.nests.access import storage_of
from symgrad.compiler.llvm.arrays.nests.nest_writer import NestWriter
from symgrad.compiler.llvm.arrays.scratch import ProgramSizes, scratch_function, slot_offsets
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, SizeValues, StepWriter
from symgrad.compiler.llvm.arrays.symbol_names import RUN
from symgrad.compiler.llvm.engine import blas
from symgrad.compiler.llvm.engine.jit import Engine, object_code
from symgrad.compiler.llvm.engine.target import Target, host
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.instructions import Instruction, Line
from symgrad.compiler.llvm.text.module import Function, FunctionDeclaration, Item, Linkage, Module
from symgrad.compiler.llvm.text.opcodes import Label, Opcode
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.arrays.nests import LibraryCall, Nest
from symgrad.compiler.lowering.arrays.outer_loop_fusion import Turns
from symgrad.compiler.lowering.arrays.plan import Plan, plan_arrays
from symgrad.ir.bounds import check_arrays
from symgrad.ir.graph import SIZE, Node
from symgrad.ir.sizes import Extent, names_of, parts_of, size_product, unsure_lengths
from symgrad.ir.traverse import topological
from symgrad.support.progress import steps


class ArrayModule(NamedTuple):
    """The module of an array program, and its interface.

    ``void run(ptr args, ptr sizes, ptr scratch)``: args is a table of the addresses of inputs and outputs, each
    C-contiguous in its declared shape and aligned to its elements. sizes is a table of i64 in the order of `names`.
    scratch is memory of ``i64 scratch_bytes(ptr sizes)`` bytes, aligned to 64. If that number is negative
    (`compiler/llvm/arrays/scratch.py`), an axis would be negative or an array too large, and run must not be called.
    Outputs overlap no other argument. A gather at an index out of range returns NaN (0 for integers), a scatter adds
    nothing: the caller checks indices first.

    Args:
        module: the LLVM module.
        facts: its sizes and arrays.
    """

    module: Module
    facts: ArrayFacts


def array_module(
    outputs: Sequence[Node],
    inputs: Sequence[Node],
    real: FloatType,
    target: Target | None = None,
    *,
    fast: bool = False,
) -> ArrayModule:
    """Write the module of an array program.

    Args:
        outputs: the nodes to compute.
        inputs: the symbols in the order of the arguments.
        real: the format of all real numbers.
        target: the features of another machine. The module is then standalone: it has no external function, and needs
            only C and BLAS, whose functions it calls by their own names. By default the module is for this process.
        fast: whether an error of four units in the last place of functions is acceptable.

    Raises:
        ShapeError: if an array would be too large for all sizes.
    """
    names = tuple(names_of(*(node.shape for node in inputs)))
    written = (*inputs, *topological(outputs))
    lengths = tuple(unsure_lengths(n.shape for n in topological(outputs)))
    _check_numbers(written)
    plan = plan_arrays(outputs, inputs)
    plans = list(plan.nested())
    lowered = [n for part in plans for n in topological(part.outputs)]
    _check_numbers(lowered)
    arrays = tuple(dict.fromkeys(n.shape for n in (*written, *lowered)))
    needed = set(lowered)
    numbers = dict.fromkeys(n.params[0] for n in lowered if n.op is SIZE)
    program_sizes = ProgramSizes(names, lengths, arrays, numbers, {})
    standalone, target = target is not None, target or host().target
    declarations = Declarations(fused=target.fused, estimates=target.estimates, fast=fast)
    with np.errstate(all="ignore"):
        module = _module(plan, program_sizes, real, target, declarations, standalone=standalone)
    sizes = [*(size for shape in arrays for size in shape), *program_sizes.numbers]
    sizes += [part for size in program_sizes.index_sizes for part in parts_of(size)]
    computed = tuple(dict.fromkeys(s for s in sizes if isinstance(s, Extent)))
    read = tuple(s in needed for s in inputs)
    return ArrayModule(module, ArrayFacts(names, lengths, arrays, computed, read))


class ArrayCode(RunnableArrays):
    """Machine code of an array program for this process; the code lives as long as this object.

    Args:
        outputs: the nodes to compute.
        inputs: the symbols in the order of the arguments.
        real: the format of all real numbers.
        fast: whether an accuracy of four units in the last place is enough for functions.
        keep: a function that is called with the code, to cache it for `CachedArrayCode`.

    Raises:
        ShapeError: if an array would be too large for all sizes.
    """

    __slots__ = ()

    def __init__(
        self,
        outputs: Sequence[Node],
        inputs: Sequence[Node],
        real: FloatType,
        *,
        fast: bool = False,
        keep: Callable[[bytes], None] | None = None,
    ) -> None:
        module, facts = array_module(outputs, inputs, real, fast=fast)
        text = str(module)
        if keep is None:
            engine = Engine(text)
        else:
            code = object_code(text)
            engine = Engine.of(code)
            keep(serialize_program(outputs, (), tuple(facts), code.to_bytes()))
        super().__init__(inputs, outputs, facts, engine, module.needs, lambda: text)


def _check_numbers(nodes: Iterable[Node]) -> None:
    """Raise an error for arrays that are too large for all values of the named sizes."""
    check_arrays((tuple(s for s in n.shape if isinstance(s, int)) for n in nodes), {})


def _module(
    plan: Plan,
    program_sizes: ProgramSizes,
    real: FloatType,
    target: Target,
    declarations: Declarations,
    *,
    standalone: bool,
) -> Module:
    names = program_sizes.names
    width = target.vector_bytes // real.itemsize
    written: list[Item] = []
    products: set[tuple[bool, bool]] = set()
    factors: set[str] = set()
    widths = {width}
    asks = False
    plans = list(plan.nested())
    prefix = {id(part): f"body.{k}." if k else "" for k, part in enumerate(plans)}
    for part in plans:
        turns = {step: t for t in part.turns for step in t.steps}
        for i, step in enumerate(steps("llvm", "writing loops", part.steps)):
            name = f"{prefix[id(part)]}step.{i}"
            lanes = 1 if isinstance(step, LibraryCall) and step.node in part.formulas else width
            widths.add(lanes)
            fn = StepWriter(name, names, real, lanes, declarations, turn=step in turns, standalone=standalone)
            if isinstance(step, Nest):
                NestWriter(fn, step, part.passes[step], part.memory, part.selection.tasks).write()
            elif step.node in part.bodies:
                body = part.bodies[step.node]
                code = f"@{prefix[id(body)]}{RUN}"
                LoopWriter(fn, step.node, part.memory).write_calls(code, body.scratch)
            elif step.node in part.formulas:
                LoopWriter(fn, step.node, part.memory).write_entries(part.formulas[step.node])
            else:
                write_call(fn, step.node, part.memory)
            products |= fn.products
            factors |= fn.factors
            written.append(fn.function())
            program_sizes.index_sizes.update(dict.fromkeys(fn.size.used))
            asks = asks or fn.asks
        if part is not plan:
            written.append(_run(part, prefix[id(part)], program_sizes, real, width, declarations, "internal"))
    if asks:
        register_driver()
        written += interrupt_items()
    if products:
        gemm = f"@{blas.gemm(real, standalone=standalone)}"
        written += [product_dispatch_text(real, x, y, target, gemm) for x, y in sorted(products)]
    written += [factor_text(real, name, declarations, standalone=standalone) for name in sorted(factors)]
    if products:
        written += _products(real, target, declarations, standalone=standalone)
    linkage = "internal" if standalone else "external"
    return Module(
        [
            _run(plan, "", program_sizes, real, width, declarations, linkage),
            *scratch_function(plan.memory, program_sizes, real, width, declarations, linkage),
            *written,
            *declarations.definitions(),
            *declarations.lanes(sorted(widths)),
            *declarations.declared.values(),
        ]
    )


def _products(real: FloatType, target: Target, declarations: Declarations, *, standalone: bool) -> list[Item]:
    """Declare the functions that matrix products call: BLAS, and symgrad's own, which a standalone module contains."""
    declarations.declare(f"llvm.fma.f{real.bits}", real.llvm, *[real.llvm] * 3)
    declarations.declare(blas.gemm(real, standalone=standalone), "void", *["ptr"] * 13)
    if not standalone:
        register_product(real)
        declarations.declare(product_name(real), "void", *["ptr"] * 3, *["i64"] * 8)
        return []
    items = product_items(real, target, linkage="internal")
    for item in items:
        if isinstance(item, FunctionDeclaration):
            declarations.declare(item.name, item.returns, *item.parameters)
    return [item for item in items if not isinstance(item, FunctionDeclaration)]


def _run(
    plan: Plan,
    prefix: str,
    program_sizes: ProgramSizes,
    real: FloatType,
    width: int,
    declarations: Declarations,
    linkage: Linkage,
) -> Function:
    """Write the function ``run``: fill the table of addresses, and call one step after the other."""
    memory = plan.memory
    region = BlockWriter(real, width, declarations, 0)
    sizes = SizeValues(program_sizes.names, region)
    count = len(memory.arrays)
    arguments = sum(a.slot < 0 for a in memory.arrays)
    for k in range(arguments):
        at = region.address("ptr", "%args", str(k))
        to = region.address("ptr", "%table", str(k))
        region.do(Opcode.store("ptr"), region.emit_load(Opcode.load("ptr"), at), to)
    starts, _ = slot_offsets(memory, region, sizes, real)
    for k in range(arguments, count):
        place = region.address("i8", "%scratch", starts[memory.arrays[k].slot])
        region.do(Opcode.store("ptr"), place, region.address("ptr", "%table", str(k)))
    turns = {t.steps[0]: t for t in plan.turns}
    calls: list[Line] = []
    block, i = "entry", 0
    while i < len(plan.steps):
        here = turns.get(plan.steps[i])
        if here is None:
            calls.append(
                Instruction("", Opcode.call("void", f"@{prefix}step.{i}", "ptr", "ptr"), ("%table", "%sizes"))
            )
            i += 1
            continue
        parts = {k: memory.arrays[k] for k in sorted(memory.of[n] for n in here.private)}
        bytes_of = {k: sizes(size_product([a.count, storage_of(a, real).itemsize])) for k, a in parts.items()}
        calls += _call_in_shared_loop(prefix, i, here, sizes(here.count), bytes_of, block)
        block = f"turns.{i}.out"
        i += len(here.steps)
    program_sizes.index_sizes.update(dict.fromkeys(sizes.used))
    lines = [
        Label("entry"),
        Instruction("%table", Opcode.alloca("ptr", max(count, 1))),
        *region.lines,
        *calls,
        Instruction("", Opcode.ret()),
    ]
    return Function(f"{prefix}{RUN}", "void", ["ptr %args", "ptr %sizes", "ptr %scratch"], lines, linkage)


def _call_in_shared_loop(
    prefix: str, i: int, turns: Turns, count: str, bytes_of: Mapping[int, str], before: str
) -> list[Line]:
    """Return the loop over the shared outermost axis of several steps, which calls each step for one index.

    A private array has memory for one index only. Its base address is shifted back, so that a step can address it as
    the whole array.
    """
    name = f"turns.{i}"
    turn, out, at = f"{name}.turn", f"{name}.out", f"%{name}.i"
    address, load = Opcode.address("ptr"), Opcode.load("ptr")
    lines: list[Line] = [
        *(Instruction(f"%{name}.at{k}", address, ("%table", str(k))) for k in bytes_of),
        *(Instruction(f"%{name}.own{k}", load, (f"%{name}.at{k}",)) for k in bytes_of),
        Instruction("", Opcode.jump(name)),
        Label(name),
        Instruction(at, Opcode.phi("i64", (before, turn)), ("0", f"%{name}.next")),
        Instruction(f"%{name}.more", Opcode.compare("icmp", "slt", "i64"), (at, count)),
        Instruction("", Opcode.branch(turn, out), (f"%{name}.more",)),
        Label(turn),
    ]
    for k, size in bytes_of.items():
        skip, back, whole = (f"%{name}.{word}{k}" for word in ("skip", "back", "whole"))
        lines += [
            Instruction(skip, Opcode.binary("mul", "i64"), (at, size)),
            Instruction(back, Opcode.binary("sub", "i64"), ("0", skip)),
            Instruction(whole, Opcode.address("i8"), (f"%{name}.own{k}", back)),
            Instruction("", Opcode.store("ptr"), (whole, f"%{name}.at{k}")),
        ]
    for j in range(i, i + len(turns.steps)):
        call = Opcode.call("void", f"@{prefix}step.{j}", "ptr", "ptr", "i64")
        lines.append(Instruction("", call, ("%table", "%sizes", at)))
    return [
        *lines,
        Instruction(f"%{name}.next", Opcode.binary("add", "i64"), (at, "1")),
        Instruction("", Opcode.jump(name)),
        Label(out),
    ]
