"""A schedule as one LLVM module: the equations over vectors of lanes, and the plan by which NumPy's loop runs it.

    ufunc.plan   constants for the inner loop (`loop.py`): arguments, vector width, address of ufunc.body
    ufunc.body   the equations on W lanes at a time; an argument is contiguous, or one vector for all
    chunk.K      the body's equations in pieces, where there are many
    maths.F      the function F of `symgrad/llvm/maths`
    lanes.F      the libm function F, lane by lane

There is one body. Whatever does not have the layout that it wants (other strides, the last few elements) is
copied to small buffers and computed there by the same code, so a value has the same bits at every length,
position and stride.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from symgrad.errors import InternalError, NumberTooLargeError, UnsupportedError
from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node, growing
from symgrad.llvm import loop
from symgrad.llvm.builder import Declarations, Value, VectorBuilder
from symgrad.llvm.jit import Target
from symgrad.llvm.types import FloatType
from symgrad.lower.limits import limited_by_memory, side_by_side
from symgrad.lower.schedule import Chunk, Schedule

__all__ = ["Module", "emit"]


@dataclass(frozen=True, slots=True)
class Module:
    """LLVM text and what a caller must know of it.

    Args:
        ir: the text.
        itemsizes: bytes of an element of every argument, inputs then outputs.
        bools: for every argument, whether it is an array of bool.
        real: the format of the others.
        width: elements of a step: the lanes of one vector, or of two.
    """

    ir: str
    itemsizes: tuple[int, ...]
    bools: tuple[bool, ...]
    real: FloatType
    width: int


def emit(
    plan: Schedule, real: FloatType, target: Target, *, entry: str | None = None, quick: bool = False
) -> Module:
    """Write a schedule as an LLVM module.

    Args:
        plan: what to compute.
        real: the floating-point format of all numbers.
        target: what the processors have that it is for.
        entry: also define the C function of this name, and with it everything that it needs but libm.
        quick: write what is soon compiled: one vector at a time, and nothing inlined. The bits are the same.

    Raises:
        NumberTooLargeError: if a constant is too large for the format.
        UnsupportedError: if an equation has no native code.
    """
    width = (1 if quick else side_by_side(plan)) * target.vector_bytes // real.itemsize
    declarations = Declarations(fused=target.fused, estimates=target.estimates, fast=plan.fast)
    with np.errstate(all="ignore"), growing():
        constants = _fold_constants(plan, VectorBuilder(real, width, declarations))
        text = _body(plan, real, width, declarations, constants)
    bools = tuple(node.dtype == "bool" for node in (*plan.inputs, *plan.outputs))
    itemsizes = tuple(1 if b else real.itemsize for b in bools)
    nin = len(plan.inputs)
    alone = entry is not None
    parts = [
        loop.plan(
            itemsizes,
            nin,
            width,
            real,
            plan.slots * width * real.itemsize,
            streams=limited_by_memory(plan),
            internal=alone,
        ),
        *text,
        *declarations.definitions(inlined=not quick),
        *declarations.lanes(width),
        *declarations.intrinsics,
    ]
    if entry is not None:
        parts += [loop.driver(itemsizes, internal=True), loop.c_entry(entry, len(bools), nin)]
    return Module("\n".join([*parts, loop.ATTRIBUTES]), itemsizes, bools, real, width)


def _fold_constants(plan: Schedule, builder: VectorBuilder) -> dict[Node, Value]:
    """Evaluate what depends on no input, in the arithmetic of the kernel."""
    known: dict[Node, Value] = {}
    for node in plan.constants:
        value = known[node] = _lower(node, builder, [known[a] for a in node.args])
        if value.literal is None:
            raise InternalError(f"{node!r} depends on no input, but its lowering gave code")
        args = [known[a].literal for a in node.args]
        # An infinity is an overflow unless an argument sits on a pole: x/0, log(0), atanh(1).
        pole = any(a == 0 for a in args) or (len(args) == 1 and abs(args[0]) == 1)
        if not value.mask and np.isinf(value.literal) and not pole and np.all(np.isfinite(args)):
            written = f"{node.op.name}({', '.join(f'{float(a):.6g}' for a in args)})"
            raise NumberTooLargeError(
                f"the constant {written} is too large for {builder.real.numpy}",
                expected=f"constants up to {np.finfo(builder.real.scalar).max:.6g}",
                cure="rewrite the formula with logarithms, or remove the constant",
            )
    return known


def _lower(node: Node, builder: VectorBuilder, args: Sequence[Value]) -> Value:
    if node.op is NUMBER:
        return builder.const(node.value)
    if node.op is CONSTANT:
        return builder.const_named(node.params[0])
    value = node.op.lower(builder, node, *args)
    if not isinstance(value, Value):
        raise UnsupportedError(
            f"'{node.op.name}' has no native code",
            expected="pointwise operations",
            cure="evaluate it with NumPy and pass its value as an input",
        )
    if value.mask != (node.dtype == "bool"):
        raise InternalError(f"the lowering of '{node.op.name}' gave {'a mask' if value.mask else 'numbers'}")
    return value


def _body(
    plan: Schedule, real: FloatType, width: int, declarations: Declarations, constants: dict[Node, Value]
) -> list[str]:
    """The function ``body`` and, if the graph is large, the functions ``chunk.K`` that it calls in turn."""
    position = {node: i for i, node in enumerate(plan.inputs)}
    asked: dict[Node, list[int]] = {}
    for i, node in enumerate(plan.outputs):
        asked.setdefault(node, []).append(len(plan.inputs) + i)
    chunks = plan.chunks or (Chunk((), {}, {}),)
    writers: list[_ChunkWriter] = []
    for index, chunk in enumerate(chunks):
        writer = _ChunkWriter(VectorBuilder(real, width, declarations), constants, position, plan.fusable)
        writer.run(chunk, asked)
        if index == len(chunks) - 1:
            for node in plan.outputs:
                if node in constants or node.op is SYMBOL:
                    writer.store(node, chunk, asked.pop(node, ()))
        writers.append(writer)
    if len(writers) == 1:
        return [loop.body(writers[0].prologue, writers[0].builder.finished(), width)]
    calls = [
        f"  call void @chunk.{i}(ptr %bases, ptr %masks, i64 %i, ptr %spill)" for i in range(len(writers))
    ]
    functions = [
        "\n".join(
            [
                f"define internal void @chunk.{i}(ptr %bases, ptr %masks, i64 %i, ptr %spill) #0 {{",
                *writer.prologue,
                *writer.builder.finished(),
                "  ret void",
                "}",
            ]
        )
        for i, writer in enumerate(writers)
    ]
    return [loop.body([], calls, width), *functions]


class _ChunkWriter:
    """Writes the code of one chunk: what it loads, computes and stores."""

    def __init__(
        self,
        builder: VectorBuilder,
        constants: dict[Node, Value],
        position: dict[Node, int],
        fusable: frozenset[Node],
    ) -> None:
        self.builder = builder
        self.fusable = fusable
        self.constants = constants
        self.values: dict[Node, Value] = {}
        self.position = position
        self.prologue: list[str] = []  # the addresses of arguments: outside the loop where there is one

    def run(self, chunk: Chunk, asked: dict[Node, list[int]]) -> None:
        for node in chunk.nodes:
            if node.op is SYMBOL:
                self.values[node] = self._read(self.position[node], node.dtype == "bool")
            else:
                self.builder.fuses = node in self.fusable
                self.values[node] = _lower(node, self.builder, [self._value(a, chunk) for a in node.args])
            # Stored at once: values that wait for the end of the chunk would fill the registers.
            if node in chunk.writes:
                self._write(self.values[node], self._slot(chunk.writes[node]))
            if node.op is not SYMBOL:
                self.store(node, chunk, asked.get(node, ()))

    def store(self, node: Node, chunk: Chunk, places: Iterable[int]) -> None:
        for k in places:
            value = self._value(node, chunk)
            self._base(k)
            self._write(value, self._element(k, "%i", value.mask))

    def _value(self, node: Node, chunk: Chunk) -> Value:
        if node in self.constants:
            return self.constants[node]
        # A spilled value is loaded where it is first used, which keeps few of them in registers.
        if node not in self.values:
            self.values[node] = self._load(self._slot(chunk.reads[node]), node.dtype == "bool")
        return self.values[node]

    def _base(self, k: int) -> None:
        self.prologue.append(f"  %ap{k} = getelementptr ptr, ptr %bases, i64 {k}")
        self.prologue.append(f"  %a{k} = load ptr, ptr %ap{k}")

    def _element(self, k: int, index: str, mask: bool) -> str:
        kind = "i8" if mask else self.builder.real.llvm
        self.builder.lines.append(f"  %p{k} = getelementptr {kind}, ptr %a{k}, i64 {index}")
        return f"%p{k}"

    def _read(self, k: int, mask: bool) -> Value:
        self._base(k)
        self.prologue.append(f"  %mp{k} = getelementptr i64, ptr %masks, i64 {k}")
        self.prologue.append(f"  %m{k} = load i64, ptr %mp{k}")
        self.builder.lines.append(f"  %i{k} = and i64 %i, %m{k}")
        return self._load(self._element(k, f"%i{k}", mask), mask)

    def _slot(self, slot: int) -> str:
        size = self.builder.width * self.builder.real.itemsize
        return self.builder.emit(f"getelementptr i8, ptr %spill, i64 {slot * size}").text

    def _load(self, place: str, mask: bool) -> Value:
        b = self.builder
        if not mask:
            return b.fresh(f"load {b.vector}, ptr {place}, align 1")
        raw = b.fresh(f"load {b.bytes}, ptr {place}, align 1")
        return b.emit(f"icmp ne {b.bytes} {raw.text}, zeroinitializer", mask=True)

    def _write(self, value: Value, place: str) -> None:
        b = self.builder
        if not value.mask:
            b.lines.append(f"  store {b.vector} {value.text}, ptr {place}, align 1")
            return
        # A literal mask has no zext in the constant expressions of LLVM; an instruction takes it as it is.
        raw = b.emit(f"zext {b.bits} {value.text} to {b.bytes}")
        b.lines.append(f"  store {b.bytes} {raw.text}, ptr {place}, align 1")
