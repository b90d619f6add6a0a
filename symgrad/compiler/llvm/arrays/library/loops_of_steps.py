"""Write the loops of recurrences.

The formulas of a step of numbers and small arrays are the code of the loop, and the values of scalar carries stay in
registers. A step with larger arrays is a function of its own, which is called with the addresses of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, chain, islice
from math import prod
from typing import cast

from symgrad.compiler.llvm.arrays.interrupt_checks import check_in_steps
from symgrad.compiler.llvm.arrays.library.scans_and_products import Carried, carry_loop, repeat
from symgrad.compiler.llvm.arrays.nests.access import Storage, first_lane, load_scalar, splat, storage_of
from symgrad.compiler.llvm.arrays.nests.value_writer import write_op
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, StepWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.equations.lane_packing import pack_lanes
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.compiler.lowering.arrays.normal_form import to_normal_form
from symgrad.compiler.lowering.arrays.tasks import backing
from symgrad.compiler.lowering.entries.program import ScalarProgram
from symgrad.ir.body import Body
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size, size_product, size_sum
from symgrad.ir.traverse import topological


class LoopWriter:
    """Writes the function of one recurrence.

    Args:
        fn: the function to write to.
        node: the recurrence.
        memory: the memory plan.
    """

    def __init__(self, fn: StepWriter, node: Node, memory: Memory) -> None:
        self.fn = fn
        self.node = node
        length, reverse, stored, places, body = node.params
        assert isinstance(body, Body)
        self.length, self.reverse, self.body = length, reverse, body
        self.stored: Sequence[int] = stored
        count = len(body.carries)
        self.starts, given = node.args[:count], node.args[count:]
        arrays, self.operands = given[: len(body.rows)], given[len(body.rows) :]
        self.rows: Sequence[tuple[Node, tuple[Size, Size]]] = list(zip(arrays, places, strict=True))
        self.storage = storage_of(memory.arrays[memory.array(node)], fn.real)
        self.sizes = [size_product(c.shape) for c in body.carries]
        self.offsets = {
            k: size_sum(self.sizes[j] for j in range(k) if (j in self.stored) == (k in self.stored))
            for k in range(count)
        }
        self.target = fn.base(memory.array(node))
        self.steps = fn.size(self.length)
        self.width = fn.size(size_sum(self.sizes[k] for k in self.stored))
        self.others = [k for k in range(count) if k not in self.stored]
        self.spare = "0"  # the number of values of one step that are not stored
        self.two_steps = ""  # the address of these values, of two steps
        self._memory = memory

    def write_calls(self, code: str, scratch: Size) -> None:
        """Write a loop that calls the code of the body.

        Args:
            code: the function of the body. Its arguments are tables like those of the program: addresses of the
                carries, the rows, the operands and the results; sizes; and scratch memory.
            scratch: the size of its scratch memory. The values that are not stored are behind it.
        """
        fn, body = self.fn, self.body
        table = fn.entry.emit_load(Opcode.alloca("ptr", len(body.symbols) + len(body.results)))

        def set_address(r: BlockWriter, k: int, place: str) -> None:
            r.do(Opcode.store("ptr"), place, r.address("ptr", table, str(k)))

        for k, operand in enumerate(self.operands, len(body.carries) + len(body.rows)):
            set_address(fn.entry, k, self._base(operand)[0])
        memory = self._use_memory(fn.size(scratch))
        for k, start in enumerate(self.starts):
            self._copy(k, *self._base(start), self._places(fn.region(), "0")[1](k))

        def step(i: str) -> None:
            self._check(i)
            r = fn.region()
            row, before, after = self._places(r, i)
            for k in range(len(self.sizes)):
                set_address(r, k, before(k))
                set_address(r, len(body.symbols) + k, after(k))
            for k, stack in enumerate(self.rows):
                set_address(r, len(body.carries) + k, self._row(r, stack, row)[0])
            fn.put(Opcode.call("void", code, "ptr", "ptr", "ptr"), table, "%sizes", memory)

        repeat(fn, self.steps, step)
        for k in self.others:
            r = fn.region()
            self._copy(k, self._places(r, self.steps)[1](k), self.storage, self._last(r, k))

    def write_entries(self, program: ScalarProgram) -> None:
        """Write a loop with the formulas of a step, one for each entry of its arrays.

        Args:
            program: the formulas.
        """
        fn, body, storage = self.fn, self.body, self.storage
        flat = to_normal_form([*program.outputs, *chain.from_iterable(program.rows)])
        outputs, entries_of_rows = flat[: len(program.outputs)], iter(flat[len(program.outputs) :])
        rows = [list(islice(entries_of_rows, len(row))) for row in program.rows]
        numbers = [k for k, c in enumerate(body.carries) if not c.shape]
        if len(numbers) < len(self.sizes):
            self._use_memory("0")
        r = fn.region()
        _, before, _ = self._places(r, "0")
        first: list[tuple[str, str]] = []
        for k, start in enumerate(self.starts):
            if k not in numbers:
                self._copy(k, *self._base(start), self._places(fn.region(), "0")[1](k))
                continue
            number = self._load(r, *self._base(start))
            if start.dtype == "int":
                number = r.convert(number, False)
            value = first_lane(r, storage.element, number.text)
            if k in self.stored:
                r.do(Opcode.store(storage.element, storage.align), value, before(k))
            first.append((storage.element, value))
        entries = _by_array(program.inputs, body.symbols)
        constants = {
            entries[symbol][0]: self._load(fn.region(), *self._base(operand))
            for symbol, operand in zip(body.operands, self.operands, strict=True)
            if not symbol.shape
        }

        constant = fn.region()

        def step(i: str, carried: Carried) -> Carried:
            self._check(i)
            r = fn.region()
            row, before, after = self._places(r, i)
            values = dict(constants)
            places = {c: (before(k), storage) for k, c in enumerate(body.carries) if c.shape}
            for k, number in zip(numbers, carried, strict=True):
                (entry,) = entries[body.carries[k]]
                values[entry] = Value(splat(r, storage.element, number), False, None)
            places |= {s: self._row(r, x, row) for s, x in zip(body.rows, self.rows, strict=True)}
            places |= {s: self._base(x) for s, x in zip(body.operands, self.operands, strict=True) if s.shape}
            loads = {
                e: (place, kind, j)
                for symbol, (place, kind) in places.items()
                for j, e in enumerate(entries[symbol])
            }
            r.b.fuses = True  # by a fixed rule, so with the same bits in every kernel

            def value(of: Node) -> Value:
                for node in topological([of], until=values):
                    if node in loads:  # again for each result: an entry that is kept takes a register
                        place, kind, j = loads[node]
                        values[node] = self._load(r, r.address(kind.element, place, str(j)), kind)
                    elif node not in values:
                        values[node] = write_op(fn, r, node, [(a, values[a]) for a in node.args])
                return values[of]

            new: Carried = []
            for k, results in enumerate(_by_array(outputs, body.carries).values()):
                for j, result in enumerate(results):
                    number = first_lane(r, storage.element, value(result).text)
                    if k in numbers:
                        new.append(number)
                    if k not in numbers or k in self.stored:
                        place = r.address(storage.element, after(k), str(j))
                        r.do(Opcode.store(storage.element, storage.align), number, place)
            lines = r.b.finished()
            if not fn.standalone:
                named = [
                    tuple(values[x].text for x in each) for each in rows if all(x in values for x in each)
                ]
                before_loop, lines = pack_lanes(lines, named, fn.declarations)
                constant.lines += before_loop
            r.b.lines[:] = lines
            return new

        last = dict(zip(numbers, carry_loop(fn, self.steps, first, step), strict=True))
        for k in self.others:
            r = fn.region()
            if k in last:
                r.do(Opcode.store(storage.element, storage.align), last[k], self._last(r, k))
            else:
                self._copy(k, self._places(r, self.steps)[1](k), storage, self._last(r, k))

    def _use_memory(self, begin: str) -> str:
        """Use the memory of this loop for the values of two steps, from a place on; return its address."""
        memory = self.fn.base(self._memory.scratch[self.node])
        self.spare = self.fn.size(size_sum(self.sizes[k] for k in self.others))
        self.two_steps = self.fn.entry.address("double", memory, begin)
        return memory

    def _load(self, r: BlockWriter, place: str, kind: Storage) -> Value:
        return load_scalar(r, kind, place)[0]

    def _base(self, x: Node) -> tuple[str, Storage]:
        k = self._memory.array(backing(x))
        return self.fn.base(k), storage_of(self._memory.arrays[k], self.fn.real)

    def _row(self, r: BlockWriter, stack: tuple[Node, tuple[Size, Size]], row: str) -> tuple[str, Storage]:
        """Return the address of a row that a step reads."""
        array, (first, gap) = stack
        place, kind = self._base(array)
        at = r.add(r.mul(row, self.fn.size(gap)), self.fn.size(first))
        return r.address(kind.element, place, at), kind

    def _places(self, r: BlockWriter, i: str) -> tuple[str, Callable[[int], str], Callable[[int], str]]:
        """Return the row that a step reads, and functions that return the addresses of the carries before and after it.

        Args:
            r: the block that computes them.
            i: the number of the step.
        """
        row = r.binary("sub", r.add(self.steps, "-1"), i) if self.reverse else i
        next_row = r.add(row, "1")

        def address(at: str, number: str, k: int) -> str:
            offset = self.fn.size(self.offsets[k])
            if k in self.stored:
                return r.address(self.storage.element, self.target, r.add(r.mul(at, self.width), offset))
            # The values of a step are in one half of the memory of two steps.
            half = r.mul(r.binary("and", number, "1"), self.spare)
            return r.address(self.storage.element, self.two_steps, r.add(half, offset))

        before, after = (next_row, row) if self.reverse else (row, next_row)
        return row, partial(address, before, i), partial(address, after, r.add(i, "1"))

    def _last(self, r: BlockWriter, k: int) -> str:
        """Return the address of the last value of a carry that is not stored."""
        rows = r.mul(r.add(self.steps, "1"), self.width)
        at = r.add(rows, self.fn.size(self.offsets[k]))
        return r.address(self.storage.element, self.target, at)

    def _copy(self, k: int, source: str, kind: Storage, target: str) -> None:
        """Copy a value of a carry."""

        def copy(i: str) -> None:
            r = self.fn.region()
            value = r.emit_load(Opcode.load(kind.element, kind.align), r.address(kind.element, source, i))
            if kind.kind == "int":
                value = r.scalar(Opcode.convert("sitofp", "i64", self.storage.element), value)
            place = r.address(self.storage.element, target, i)
            r.do(Opcode.store(self.storage.element, self.storage.align), value, place)

        repeat(self.fn, self.fn.size(self.sizes[k]), copy)

    def _check(self, i: str) -> None:
        """Check for Ctrl-C now and then."""
        if not self.fn.standalone:
            check_in_steps(self.fn, i, self.body)


def _by_array(entries: Sequence[Node], arrays: Sequence[Node]) -> dict[Node, Sequence[Node]]:
    """Return the entries of each array, from those of all."""
    counts = [prod(cast("Sequence[int]", a.shape)) for a in arrays]
    ends = list(accumulate(counts, initial=0))
    return {a: entries[i : i + n] for a, i, n in zip(arrays, ends, counts, strict=False)}
