"""Write the loops of recurrences: each step calls the code of the body, with the addresses of its rows."""

from __future__ import annotations

from functools import partial

from symgrad.compiler.llvm.arrays.library.scans_and_products import repeat
from symgrad.compiler.llvm.arrays.nests.access import Storage, storage_of
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, StepWriter
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.compiler.lowering.arrays.tasks import backing
from symgrad.ir.body import Body
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape, Size, size_product, size_sum


def write_loop_of_steps(fn: StepWriter, node: Node, memory: Memory, code: str) -> None:
    """Write the function of one recurrence.

    Args:
        fn: the function to write to.
        node: the recurrence.
        memory: the memory plan.
        code: the function of the body. Its arguments are tables like those of the program: addresses of the carries,
            the rows, the operands and the results; sizes; and scratch memory.
    """
    length, reverse, body = node.params
    assert isinstance(body, Body)
    carries, count = len(body.carries), len(body.rows)
    starts, given = node.args[:carries], node.args[carries:]
    storage = storage_of(memory.arrays[memory.array(node)], fn.real)
    shapes = [c.shape for c in body.carries]
    width = fn.size(size_sum(map(size_product, shapes)))
    target = fn.base(memory.array(node))
    steps = fn.size(length)

    def base(x: Node) -> tuple[str, Storage]:
        k = memory.array(backing(x))
        return fn.base(k), storage_of(memory.arrays[k], fn.real)

    table = fn.entry.emit_load(Opcode.alloca("ptr", len(body.symbols) + len(body.results)))

    def set_address(r: BlockWriter, k: int, place: str) -> None:
        r.do(Opcode.store("ptr"), place, r.address("ptr", table, str(k)))

    for k, operand in enumerate(given[count:], len(body.carries) + count):
        set_address(fn.entry, k, base(operand)[0])
    first = fn.entry.mul(steps, width) if reverse else "0"
    offsets = _offsets(shapes)

    def copy(source: str, kind: Storage, begin: str, i: str) -> None:
        r = fn.region()
        at = r.address(kind.element, source, i)
        value = r.emit_load(Opcode.load(kind.element, kind.align), at)
        if kind.kind == "int":
            value = r.scalar(Opcode.convert("sitofp", "i64", storage.element), value)
        to = r.address(storage.element, target, r.add(begin, i))
        r.do(Opcode.store(storage.element, storage.align), value, to)

    for start, shape, offset in zip(starts, shapes, offsets, strict=True):
        begin = fn.entry.add(first, fn.size(offset))
        repeat(fn, fn.size(size_product(shape)), partial(copy, *base(start), begin))
    scratch = fn.base(memory.scratch[node])

    def step(i: str) -> None:
        r = fn.region()
        row = r.binary("sub", r.add(steps, "-1"), i) if reverse else i
        next_row = r.add(row, "1")
        before, after = (next_row, row) if reverse else (row, next_row)
        for k, offset in enumerate(offsets):
            own = fn.size(offset)
            read, written = (r.add(r.mul(at, width), own) for at in (before, after))
            set_address(r, k, r.address(storage.element, target, read))
            set_address(r, len(body.symbols) + k, r.address(storage.element, target, written))
        for k, (stack, symbol) in enumerate(zip(given, body.rows, strict=False), len(body.carries)):
            place, kind = base(stack)
            size = fn.size(size_product(symbol.shape))
            set_address(r, k, r.address(kind.element, place, r.mul(row, size)))
        fn.put(Opcode.call("void", code, "ptr", "ptr", "ptr"), table, "%sizes", scratch)

    repeat(fn, steps, step)


def _offsets(shapes: list[Shape]) -> list[Size]:
    """Return where each carry begins in a row."""
    found: list[Size] = [0]
    for shape in shapes[:-1]:
        found.append(size_sum([found[-1], size_product(shape)]))
    return found
