"""Accumulators of reductions (sums, products, extremes) over the outer loops of a nest.

A reduction to one number is a vector on the stack. A reduction to one number for each lane is a row in memory. A sum of
rows has three such rows: the sum of the current block of rows, the sum of the earlier blocks, and the rounding errors
of the latter sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from symgrad.compiler.llvm.arrays.nests.access import Lanes, Storage, load_lanes, storage_of, store_lanes
from symgrad.compiler.llvm.arrays.nests.lane_loop import lane_loop
from symgrad.compiler.llvm.arrays.nests.reducers import BLOCK_ROWS, Reducer, two_sum
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, StepWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.compiler.lowering.arrays.nests import Member, Nest


@dataclass(slots=True)
class Accumulator:
    """The storage of one reduction.

    Args:
        reducer: the reduction.
        depth: the outermost loop that it reduces.
        names: vectors on the stack; for rows in memory, the counter of rows in the current block.
        arrays: rows in memory.
    """

    reducer: Reducer
    depth: int
    names: list[str] = field(default_factory=list[str])
    arrays: list[int] = field(default_factory=list[int])


class Accumulators:
    """The accumulators of a nest.

    Args:
        fn: the function to write to.
        nest: the nest.
        memory: the memory plan.
    """

    def __init__(self, fn: StepWriter, nest: Nest, memory: Memory) -> None:
        self.fn = fn
        self.nest = nest
        self.memory = memory
        self._cells: dict[Member, Accumulator] = {}

    def __contains__(self, member: Member) -> bool:
        return member in self._cells

    def get(self, member: Member) -> Accumulator | None:
        """Return the accumulator of a member; None if the member does not reduce outer loops."""
        return self._cells.get(member)

    def of_depth(self, depth: int) -> Iterator[tuple[Member, Accumulator]]:
        """Yield the accumulators that a loop completes."""
        return ((m, c) for m, c in self._cells.items() if c.depth == depth)

    def allocate(self) -> None:
        """Allocate the accumulators on the stack, or assign their rows."""
        for member in self.nest.members:
            outer = sorted(member.reduced - {self.nest.inner})
            if not outer:
                continue
            reducer = Reducer(member.task.combine, wide=member.task.node.dtype == "int")
            cell = self._cells[member] = Accumulator(reducer, outer[0])
            if not member.inner or self.nest.inner in member.reduced:
                cell.names = [f"%cell.{len(self._cells)}.{j}" for j in range(2 if reducer.is_sum else 1)]
                for name in cell.names:
                    self.fn.put(Opcode.alloca(self._vector(cell)), name=name)
                continue
            cell.arrays = self.memory.rows_of(member)
            if len(cell.arrays) > 1:
                cell.names = [f"%rows.{len(self._cells)}"]
                self.fn.put(Opcode.alloca("i64"), name=cell.names[0])

    def clear(self, depth: int) -> None:
        """Initialize the reductions over a loop."""
        for _, cell in self.of_depth(depth):
            region = self.fn.region()
            if not cell.arrays:
                store = Opcode.store(self._vector(cell))
                region.do(store, cell.reducer.identity(region), cell.names[0])
                if cell.reducer.is_sum:
                    region.do(store, "zeroinitializer", cell.names[1])
                continue
            if cell.names:
                region.do(Opcode.store("i64"), "0", cell.names[0])

            def clear(lanes: Lanes, cell: Accumulator = cell) -> None:
                for j, k in enumerate(cell.arrays):
                    text = cell.reducer.identity(lanes.region) if j == 0 else "zeroinitializer"
                    self._row_store(lanes, k, Value(text, False, None))

            lane_loop(self.fn, self.nest.loops[-1], clear)

    def add(self, region: BlockWriter, cell: Accumulator, rows: list[Value]) -> None:
        """Add the values of some rows to an accumulator on the stack."""
        while len(rows) > 1:
            rows = [
                cell.reducer.combine_rounded(region, a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)
            ]
        new = cell.reducer.join(region, self._parts(region, cell), rows[0])
        for name, value in zip(cell.names, new, strict=True):
            region.do(Opcode.store(self._vector(cell)), value.text, name)

    def add_rows(self, lanes: Lanes, member: Member, rows: list[list[Value]]) -> None:
        """Add rows of lanes, each a product of factors, to an accumulator in memory, one after the other."""
        cell = self._cells[member]
        total = self._row_load(lanes, cell.arrays[0])
        for factors in rows:
            # Only the store is masked: sums of inactive lanes are never read.
            total = cell.reducer.fold(Lanes(lanes.region, lanes.counter, None), factors, total)
        self._row_store(lanes, cell.arrays[0], total)

    def count_rows(self, cell: Accumulator, rows: int) -> None:
        """Count added rows, and complete the block when it is full."""
        fn = self.fn
        r = fn.region()
        old = r.emit_load(Opcode.load("i64"), cell.names[0])
        new = r.binary("add", old, str(rows))
        full = r.compare("sge", new, str(BLOCK_ROWS))
        kept = r.select(full, "0", new)
        r.do(Opcode.store("i64"), kept, cell.names[0])
        flush, after = fn.label("flush"), fn.label("counted")
        fn.branch(full, flush, after)
        fn.start(flush)
        self.complete(cell)
        fn.jump(after)
        fn.start(after)

    def complete(self, cell: Accumulator) -> None:
        """Add the block of the last rows to the total, with its rounding error."""
        if len(cell.arrays) < 2:
            return

        def flush(lanes: Lanes) -> None:
            a, s, c = (self._row_load(lanes, k) for k in cell.arrays)
            s, c = two_sum(cell.reducer.builder(lanes.region), s, c, a)
            zero = Value("zeroinitializer", False, None)
            for k, value in zip(cell.arrays, (zero, s, c), strict=True):
                self._row_store(lanes, k, value)

        lane_loop(self.fn, self.nest.loops[-1], flush)

    def total(self, region: BlockWriter, cell: Accumulator) -> Value:
        """Return the result of a reduction to one number."""
        return cell.reducer.total(region, self._parts(region, cell))

    def row_total(self, lanes: Lanes, cell: Accumulator) -> Value:
        """Return the results of a reduction to a row, for these lanes."""
        parts = [self._row_load(lanes, k) for k in cell.arrays]
        return cell.reducer.total(lanes.region, parts[1:] or parts)

    def _parts(self, region: BlockWriter, cell: Accumulator) -> list[Value]:
        load = Opcode.load(self._vector(cell))
        return [Value(region.emit_load(load, n), False, None) for n in cell.names]

    def _vector(self, cell: Accumulator) -> str:
        return f"<{self.fn.width} x {'double' if cell.reducer.wide else self.fn.real.llvm}>"

    def _storage(self, k: int) -> Storage:
        return storage_of(self.memory.arrays[k], self.fn.real)

    def _row_pointer(self, lanes: Lanes, k: int) -> str:
        element = self._storage(k).element
        return lanes.region.address(element, self.fn.base(k), lanes.counter)

    def _row_store(self, lanes: Lanes, k: int, value: Value) -> None:
        store_lanes(lanes, self._storage(k), self._row_pointer(lanes, k), value)

    def _row_load(self, lanes: Lanes, k: int) -> Value:
        return load_lanes(lanes, self._storage(k), self._row_pointer(lanes, k))[0]
