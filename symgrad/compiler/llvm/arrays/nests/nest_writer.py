"""Write a loop nest as one LLVM function: outer loops, and at each of their points the passes over the inner loop."""

from __future__ import annotations

from collections.abc import Mapping

from symgrad.compiler.llvm.arrays.interrupt_checks import check_in_rows, may_run_long
from symgrad.compiler.llvm.arrays.nests.access import (
    Lanes,
    Storage,
    accumulate_lanes,
    first_lane_mask,
    gather_lanes,
    load_lanes,
    scatter_lanes,
    splat,
    store_first_lane,
    store_lanes,
)
from symgrad.compiler.llvm.arrays.nests.accumulators import Accumulator, Accumulators
from symgrad.compiler.llvm.arrays.nests.lane_loop import UNROLL, LaneLoop, lane_loop
from symgrad.compiler.llvm.arrays.nests.reducers import Reducer
from symgrad.compiler.llvm.arrays.nests.value_writer import ValueWriter
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, StepWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.arrays.index import Index, flat
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.compiler.lowering.arrays.nests import Member, Nest
from symgrad.compiler.lowering.arrays.passes import Passes
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size, size_product

_UNROLLED_ROWS = 4
"""The number of rows that are computed together."""

_CHEAP_COST = 20
"""A pass with fewer operations than this is bound by the latency of its sums."""


class NestWriter:
    """Writes a nest.

    Args:
        fn: the function to write to.
        nest: the nest.
        passes: its passes.
        memory: the memory plan.
        materialized: the nodes that are in memory unless a member of the nest computes them.
    """

    def __init__(
        self, fn: StepWriter, nest: Nest, passes: Passes, memory: Memory, materialized: Mapping[Node, object]
    ) -> None:
        self.fn = fn
        self.nest = nest
        self.passes = passes
        self.memory = memory
        self.values = ValueWriter(fn, nest, passes, memory, materialized)
        self.results: dict[tuple[Member, int], Value] = {}
        self.rows_at_once = self._count_rows_at_once()
        self.checks_interrupts = not fn.standalone and may_run_long(nest)
        self.cells = Accumulators(fn, nest, memory)

    # the loops

    def write(self) -> None:
        """Write the function."""
        fn, nest = self.fn, self.nest
        if any(m.task.combine == "scatter" for m in nest.members):
            fn.put(Opcode.alloca("i64"), name="%nowhere")
        self.cells.allocate()
        self._fill()
        self._loop([])

    def _loop(self, counters: list[str]) -> None:
        """Write the outer loops, from a given depth inwards."""
        k = len(counters)
        if k >= self.nest.inner:
            self._row(1)
            return
        self.cells.clear(k)
        extent = self._extent(k)
        if k == 0 and self.fn.turn:
            self._count(counters, "%turn", self.fn.entry.add("%turn", "1"), 1)
        elif k < self.nest.inner - 1 or self.rows_at_once == 1:
            self._count(counters, "0", extent, 1)
        else:
            end = self._rounded(extent)
            self._count(counters, "0", end, self.rows_at_once)
            if end != extent:
                self._count(counters, end, extent, 1)
        self.values.rows([counters], self.fn.region())
        self._finish(k)

    def _extent(self, k: int) -> str:
        """Return the length of an outer loop: 0 if a loop inside it is empty, which may save years.

        The exception is a member that stores an empty sum for each index of the outer loop.
        """
        nest, fn = self.nest, self.fn
        extent = fn.size(nest.loops[k])
        for j in range(k + 1, len(nest.loops)):
            size = nest.loops[j]
            everywhere = j < nest.inner or all(m.inner for m in nest.members)
            needed = any(j in m.reduced and k not in m.reduced for m in nest.members)
            if everywhere and not needed and (size == 0 or not isinstance(size, int)):
                some = fn.entry.compare("ne", fn.size(size), "0")
                extent = fn.entry.select(some, extent, "0")
        return extent

    def _rounded(self, extent: str) -> str:
        """Return the extent rounded down to groups of rows."""
        if extent.isdigit():
            return str(int(extent) - int(extent) % self.rows_at_once)
        return self.fn.entry.binary("and", extent, f"-{self.rows_at_once}")

    def _count(self, counters: list[str], start: str, stop: str, rows: int) -> None:
        """Write one outer loop, over ``rows`` rows at a time."""
        fn = self.fn
        before, head, body, out = fn.block, fn.label("loop"), fn.label("row"), fn.label("out")
        counter = f"%{head}.o"
        fn.jump(head)
        fn.start(head)
        fn.put(Opcode.phi("i64", (before, f"{body}.latch")), start, f"{counter}.next", name=counter)
        more = fn.put(Opcode.compare("icmp", "slt", "i64"), counter, stop, name=f"{counter}.more")
        fn.branch(more, body, out)
        fn.start(body)
        if self.checks_interrupts and len(counters) + 1 == self.nest.inner:
            check_in_rows(fn, counter, fn.size(self.nest.loops[-1]))
        region = fn.region()
        copies = [[*counters, region.add(counter, str(j))] for j in range(rows)]
        self.values.rows(copies, region)
        if len(counters) + 1 < self.nest.inner:
            self._loop(copies[0])
        else:
            self._row(rows)
        fn.jump(f"{body}.latch")
        fn.start(f"{body}.latch")
        fn.put(Opcode.binary("add", "i64"), counter, str(rows), name=f"{counter}.next")
        fn.jump(head)
        fn.start(out)

    def _count_rows_at_once(self) -> int:
        """Return how many rows to compute together: several, if each is little work and they share operands.

        Shared operands (a vector that multiplies all rows, sums over rows) are loaded and stored once.
        """
        nest = self.nest
        if nest.inner < (2 if self.fn.turn else 1) or any(m.task.combine == "scatter" for m in nest.members):
            return 1
        size = nest.loops[nest.inner - 1]
        if isinstance(size, int) and size < 2 * _UNROLLED_ROWS:
            return 1
        shares = False
        for number, this in enumerate(self.passes.passes):
            if this.keep or self._cost(number) >= _CHEAP_COST:
                return 1
            shares = shares or bool(this.reduced) or any(m.reduced for m in this.lanes)
        return _UNROLLED_ROWS if shares else 1

    def _fill(self) -> None:
        fn = self.fn
        for member in self.nest.members:
            task = member.task
            if not task.fill or not isinstance(task.target, Node):
                continue
            k = self.memory.array(task.target)
            size = self.values.storage(k).itemsize
            count = fn.size(size_product([*task.shape, size]))
            if fn.turn:
                count = fn.entry.select(fn.entry.compare("eq", "%turn", "0"), count, "0")
            takes = ("ptr", "i8", "i64", "i1")
            memset = fn.declarations.declare("llvm.memset.p0.i64", "void", *takes)
            fn.region().do(Opcode.call("void", memset, *takes), fn.base(k), "0", count, "false")

    def _finish(self, depth: int) -> None:
        """Store the reductions over a loop."""
        for member, cell in self.cells.of_depth(depth):
            if not cell.arrays:
                region = self.fn.region()
                self._store_row_value(region, member, self.cells.total(region, cell))
                continue

            def finish(lanes: Lanes, member: Member = member, cell: Accumulator = cell) -> None:
                self._store(lanes, member, self.cells.row_total(lanes, cell))

            self.cells.complete(cell)
            lane_loop(self.fn, self.nest.loops[-1], finish)

    # a row

    def _row(self, rows: int) -> None:
        fn = self.fn
        self.results = {}
        for number, this in enumerate(self.passes.passes):
            self.values.start_pass(number, fn.region())
            for member in this.row:
                self._row_values(member, rows)
            if this.lanes or this.reduced or this.keep:
                self._pass(number, rows)

    def _row_values(self, member: Member, rows: int) -> None:
        """Store the values of rows, or add them to the accumulator."""
        values, region = self.values, self.values.row
        cell = self.cells.get(member)
        found: list[Value] = []
        for values.copy in range(rows):
            value = self.results.get((member, values.copy))
            value = values.product(member, None) if value is None else value
            found.append(value)
            if cell is None:
                self._store_row_value(region, member, value)
        values.copy = 0
        if cell is None:
            return
        self.cells.add(region, cell, found)

    def _target(self, member: Member) -> tuple[int, Index]:
        task = member.task
        k = task.target if isinstance(task.target, int) else self.memory.array(task.target)
        if isinstance(task.target, int):
            k = self.memory.output(task.target)
        return k, flat(member.place, task.shape)

    def _store_row_value(self, region: BlockWriter, member: Member, value: Value) -> None:
        k, index = self._target(member)
        storage = self.values.storage(k)
        at = self.fn.position(region, index, self.values.counters)
        if member.task.combine == "scatter":
            self._scatter_one(region, member, value, k, at)
            return
        pointer = region.address(storage.element, self.fn.base(k), at)
        store_first_lane(region, storage, pointer, value)

    def _scatter_one(self, region: BlockWriter, member: Member, value: Value, k: int, at: str) -> None:
        offset, valid = self.values.positions(member, None)
        where = region.add(at, offset)
        element = self.values.storage(k).element
        pointer = region.address(element, self.fn.base(k), where)
        pointer = region.select(valid, pointer, "%nowhere", "ptr")
        lanes = Lanes(region, "0", None)
        first = Lanes(region, "0", first_lane_mask(region, "true"))
        old = load_lanes(first, self.values.storage(k), pointer)[0]
        b = region.wide if self.values.storage(k).kind == "int" else region.b
        store_first_lane(lanes.region, self.values.storage(k), pointer, b.add(old, value))

    # a pass

    def _pass(self, number: int, rows: int) -> None:
        fn, this, values = self.fn, self.passes.passes[number], self.values
        work = [
            (j, m, Reducer(m.task.combine, wide=m.task.node.dtype == "int"))
            for j in range(rows)
            for m in this.reduced
        ]

        # The first pass is bound by memory. A later pass may be bound by computation, so it prefetches the next row.
        later = range(1, len(self.passes.passes))
        busy = next(
            (n for n in later if self._cost(n) >= _CHEAP_COST and self.nest.inner > 0 and rows == 1), None
        )

        def body(lanes: Lanes, old: list[Value]) -> list[Value]:
            values.lanes()
            if number == busy:
                values.prefetch(lanes)
            new: list[Value] = []
            for (values.copy, member, reducer), value in zip(work, old, strict=True):
                new.append(reducer.fold(lanes, values.factors(member, lanes), value))
            # All loads come before the stores: a result may reuse the memory of an operand.
            ready: list[tuple[int, Member, list[Value]]] = []
            for member in this.lanes:
                for values.copy in range(rows):
                    found = (
                        values.factors(member, lanes)
                        if member in self.cells
                        else [values.product(member, lanes)]
                    )
                    ready.append((values.copy, member, found))
            values.copy = 0
            for pair in this.keep:
                values.keep(pair, lanes)
            for values.copy, member, found in ready:
                if member not in self.cells:
                    self._store(lanes, member, found[0])
            values.copy = 0
            for member in this.lanes:
                if member in self.cells:
                    self.cells.add_rows(lanes, member, [v for _, m, v in ready if m is member])
            return new

        unroll = self._unroll(number) if self.rows_at_once == 1 else 1
        loop = LaneLoop(
            fn, self.nest.loops[-1], [r for _, _, r in work], body, unroll, asks=self.checks_interrupts
        )
        found = loop.run()
        for (values.copy, member, _), value in zip(work, found, strict=True):
            self.results[member, values.copy] = value
            values.set_reduced(member, value)
        values.copy = 0
        for member in this.lanes:
            cell = self.cells.get(member)
            if cell is not None and cell.names:
                self.cells.count_rows(cell, rows)

    def _unroll(self, number: int) -> int:
        """Return the number of vectors of an iteration: several if a pass is bound by the latency of reductions."""
        this = self.passes.passes[number]
        return UNROLL if this.reduced and not this.keep and self._cost(number) < _CHEAP_COST else 1

    def _cost(self, number: int) -> int:
        this = self.passes.passes[number]
        return sum(self.passes.levels[p].cost for m in (*this.reduced, *this.lanes) for p in m.factors)

    def _store(self, lanes: Lanes, member: Member, value: Value) -> None:
        k, index = self._target(member)
        storage = self.values.storage(k)
        row = self.values.row_pointer(k, index.without(self.nest.inner), storage)
        step = index.coefficient(self.nest.inner)
        r = lanes.region
        if member.task.combine == "scatter":
            self._scatter(lanes, member, value, storage, row, step)
        elif step == 1:
            pointer = r.address(storage.element, row, lanes.counter)
            store_lanes(lanes, storage, pointer, value)
        else:
            scatter_lanes(lanes, storage, row, self.values.lane_offsets(lanes, step), value)

    def _scatter(
        self, lanes: Lanes, member: Member, value: Value, storage: Storage, row: str, step: Size
    ) -> None:
        r, w = lanes.region, lanes.width
        offset, valid = self.values.positions(member, lanes)
        b = r.wide if storage.kind == "int" else r.b
        if not offset.startswith("<") and step != 0:
            at = r.address(storage.element, row, offset)
            mask = splat(r, "i1", valid)
            if step == 1:
                pointer = r.address(storage.element, at, lanes.counter)
                old, _ = load_lanes(lanes, storage, pointer, mask)
                store_lanes(lanes, storage, pointer, b.add(old, value), mask)
            else:
                steps = self.values.lane_offsets(lanes, step)
                old, _ = gather_lanes(lanes, storage, at, steps, mask)
                active = r.binary("and", lanes.mask_operand(), mask, f"<{w} x i1>")
                scatter_lanes(Lanes(r, lanes.counter, active), storage, at, steps, b.add(old, value))
            return
        if offset.startswith("<"):
            offset = offset[1:]
            mask = valid
        else:
            offset, mask = splat(r, "i64", offset), splat(r, "i1", valid)
        if step != 0:
            offset = r.binary("add", offset, self.values.lane_offsets(lanes, step), f"<{w} x i64>")
        accumulate_lanes(lanes, storage, row, offset, value, mask)
