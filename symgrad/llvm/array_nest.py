"""A loop nest as one LLVM function: outer loops, and for each of their points the passes over the inner loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size, size_product
from symgrad.llvm.array_access import (
    Lanes,
    Storage,
    add_lane_by_lane,
    load_lanes,
    place_lanes,
    splat,
    spread_lanes,
    storage_of,
    store_lanes,
    store_one,
)
from symgrad.llvm.array_loops import UNROLL, LaneLoop, lane_loop
from symgrad.llvm.array_sums import ROWS, Reducer, two_sum
from symgrad.llvm.array_text import Function, Region
from symgrad.llvm.array_values import Values
from symgrad.llvm.builder import Value
from symgrad.lower.index import Index, flat
from symgrad.lower.memory import Memory
from symgrad.lower.nests import Member, Nest
from symgrad.lower.passes import Passes

__all__ = ["NestWriter"]


_TOGETHER = 4
"""Rows that are computed at a time."""

_CHEAP = 20
"""A pass of fewer operations than this waits for its sums."""


@dataclass(slots=True)
class _Cell:
    """Where a sum over outer loops is: vectors on the stack for one number, rows in memory for one a lane."""

    reducer: Reducer
    depth: int
    names: list[str] = field(default_factory=list[str])
    arrays: list[int] = field(default_factory=list[int])


class NestWriter:
    """Writes a nest.

    Args:
        fn: the function to write.
        nest: the nest.
        passes: its passes.
        memory: where arrays are.
        chosen: the nodes that are in memory if no member of the nest has them.
    """

    def __init__(
        self, fn: Function, nest: Nest, passes: Passes, memory: Memory, chosen: Mapping[Node, object]
    ) -> None:
        self.fn = fn
        self.nest = nest
        self.passes = passes
        self.memory = memory
        self.values = Values(fn, nest, passes, memory, chosen)
        self.results: dict[tuple[Member, int], Value] = {}
        self.together = self._together()
        self.cells: dict[Member, _Cell] = {}

    # the loops

    def write(self) -> None:
        """Write the function."""
        fn, nest = self.fn, self.nest
        if any(m.task.combine == "scatter" for m in nest.members):
            fn.put("%nowhere = alloca i64")
        self._make_cells()
        self._fill()
        self._loop([])

    def _loop(self, counters: list[str]) -> None:
        """Write the outer loops from some depth on."""
        k = len(counters)
        if k >= self.nest.inner:
            self._row(1)
            return
        self._clear(k)
        size = self.nest.loops[k]
        if k < self.nest.inner - 1 or self.together == 1:
            self._count(counters, "0", size, 1)
        else:
            whole = size - size % self.together if isinstance(size, int) else None
            end = (
                str(whole)
                if whole is not None
                else self.fn.entry.scalar(f"and i64 {self.fn.size(size)}, -{self.together}")
            )
            self._count(counters, "0", end, self.together)
            if whole != size:
                self._count(counters, end, size, 1)
        self.values.rows([counters], self.fn.region())
        self._finish(k)

    def _count(self, counters: list[str], start: str, stop: Size, rows: int) -> None:
        """Write one loop, over several rows at a time."""
        fn = self.fn
        before, head, body, out = fn.block, fn.label("loop"), fn.label("row"), fn.label("out")
        end = (
            stop if (isinstance(stop, str) and stop.startswith("%")) or str(stop).isdigit() else fn.size(stop)
        )
        counter = f"%{head}.o"
        fn.put(f"br label %{head}")
        fn.start(head)
        fn.put(f"{counter} = phi i64 [ {start}, %{before} ], [ {counter}.next, %{body}.latch ]")
        fn.put(f"{counter}.more = icmp slt i64 {counter}, {end}")
        fn.put(f"br i1 {counter}.more, label %{body}, label %{out}")
        fn.start(body)
        region = fn.region()
        copies = [[*counters, region.add(counter, str(j))] for j in range(rows)]
        self.values.rows(copies, region)
        if len(counters) + 1 < self.nest.inner:
            self._loop(copies[0])
        else:
            self._row(rows)
        fn.put(f"br label %{body}.latch")
        fn.start(f"{body}.latch")
        fn.put(f"{counter}.next = add i64 {counter}, {rows}")
        fn.put(f"br label %{head}")
        fn.start(out)

    def _together(self) -> int:
        """How many rows are computed at a time: several, where each is little work and reads what others read too.

        Then what rows have in common (a vector that all are multiplied by, sums over rows) is loaded and stored once.
        """
        nest = self.nest
        if nest.inner < 1 or any(m.task.combine == "scatter" for m in nest.members):
            return 1
        size = nest.loops[nest.inner - 1]
        if isinstance(size, int) and size < 2 * _TOGETHER:
            return 1
        shares = False
        for number, this in enumerate(self.passes.passes):
            if this.keep or self._cost(number) >= _CHEAP:
                return 1
            shares = shares or bool(this.reduced)
        return _TOGETHER if shares else 1

    def _fill(self) -> None:
        fn = self.fn
        for member in self.nest.members:
            task = member.task
            if not task.fill or not isinstance(task.target, Node):
                continue
            k = self.memory.array(task.target)
            size = self._storage(k).itemsize
            count = fn.size(size_product([*task.shape, size]))
            fn.declarations.intrinsics["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"] = None
            fn.region().do(f"call void @llvm.memset.p0.i64(ptr {fn.base(k)}, i8 0, i64 {count}, i1 false)")

    # sums over outer loops

    def _storage(self, k: int) -> Storage:
        return storage_of(self.memory.arrays[k], self.fn.real)

    def _make_cells(self) -> None:
        for member in self.nest.members:
            outer = sorted(member.reduced - {self.nest.inner})
            if not outer:
                continue
            reducer = Reducer(member.task.combine, wide=member.task.node.dtype == "int")
            cell = self.cells[member] = _Cell(reducer, outer[0])
            vector = self._vector(reducer)
            if not member.inner or self.nest.inner in member.reduced:
                cell.names = [f"%cell.{len(self.cells)}.{j}" for j in range(2 if reducer.sums else 1)]
                for name in cell.names:
                    self.fn.put(f"{name} = alloca {vector}")
            else:
                cell.arrays = self.memory.rows_of(member)
                if len(cell.arrays) > 1:
                    cell.names = [f"%rows.{len(self.cells)}"]
                    self.fn.put(f"{cell.names[0]} = alloca i64")

    def _vector(self, reducer: Reducer) -> str:
        return f"<{self.fn.width} x {'double' if reducer.wide else self.fn.real.llvm}>"

    def _clear(self, depth: int) -> None:
        for cell in self.cells.values():
            if cell.depth != depth:
                continue
            vector = self._vector(cell.reducer)
            region = self.fn.region()
            if not cell.arrays:
                region.do(f"store {vector} {cell.reducer.identity(region)}, ptr {cell.names[0]}")
                if cell.reducer.sums:
                    region.do(f"store {vector} zeroinitializer, ptr {cell.names[1]}")
                continue
            if cell.names:
                region.do(f"store i64 0, ptr {cell.names[0]}")

            def clear(lanes: Lanes, cell: _Cell = cell) -> None:
                for j, k in enumerate(cell.arrays):
                    text = cell.reducer.identity(lanes.region) if j == 0 else "zeroinitializer"
                    self._row_store(lanes, k, Value(text, False, None))

            lane_loop(self.fn, self.nest.loops[-1], clear)

    def _row_pointer(self, lanes: Lanes, k: int) -> str:
        element = self._storage(k).element
        return lanes.region.scalar(f"getelementptr {element}, ptr {self.fn.base(k)}, i64 {lanes.counter}")

    def _row_store(self, lanes: Lanes, k: int, value: Value) -> None:
        store_lanes(lanes, self._row_kind(k), self._row_pointer(lanes, k), value)

    def _row_load(self, lanes: Lanes, k: int) -> Value:
        return load_lanes(lanes, self._row_kind(k), self._row_pointer(lanes, k))[0]

    def _row_kind(self, k: int) -> Storage:
        return self._storage(k)

    def _flush(self, cell: _Cell) -> None:
        """Move the sums of some rows to the sums of all, with what rounding lost."""

        def flush(lanes: Lanes) -> None:
            a, s, c = (self._row_load(lanes, k) for k in cell.arrays)
            s, c = two_sum(cell.reducer.builder(lanes.region), s, c, a)
            zero = Value("zeroinitializer", False, None)
            for k, value in zip(cell.arrays, (zero, s, c), strict=True):
                self._row_store(lanes, k, value)

        lane_loop(self.fn, self.nest.loops[-1], flush)

    def _count_rows(self, cell: _Cell, rows: int) -> None:
        fn = self.fn
        r = fn.region()
        old = r.once(f"load i64, ptr {cell.names[0]}")
        new = r.scalar(f"add i64 {old}, {rows}")
        full = r.scalar(f"icmp sge i64 {new}, {ROWS}")
        kept = r.scalar(f"select i1 {full}, i64 0, i64 {new}")
        r.do(f"store i64 {kept}, ptr {cell.names[0]}")
        flush, after = fn.label("flush"), fn.label("counted")
        fn.put(f"br i1 {full}, label %{flush}, label %{after}")
        fn.start(flush)
        self._flush(cell)
        fn.put(f"br label %{after}")
        fn.start(after)

    def _finish(self, depth: int) -> None:
        for member, cell in self.cells.items():
            if cell.depth != depth:
                continue
            if not cell.arrays:
                r = self.fn.region()
                vector = self._vector(cell.reducer)
                parts = [Value(r.once(f"load {vector}, ptr {n}"), False, None) for n in cell.names]
                self._store_row_value(r, member, cell.reducer.total(r, parts))
                continue
            if len(cell.arrays) > 1:
                self._flush(cell)

            def finish(lanes: Lanes, member: Member = member, cell: _Cell = cell) -> None:
                parts = [self._row_load(lanes, k) for k in cell.arrays]
                self._store(lanes, member, cell.reducer.total(lanes.region, parts[1:] or parts))

            lane_loop(self.fn, self.nest.loops[-1], finish)

    # a row

    def _row(self, rows: int) -> None:
        fn = self.fn
        self.results = {}
        for number, this in enumerate(self.passes.passes):
            self.values.begin(number, fn.region())
            for member in this.row:
                self._row_values(member, rows)
            if this.lanes or this.reduced or this.keep:
                self._pass(number, rows)

    def _row_values(self, member: Member, rows: int) -> None:
        """Store the values that some rows have, or add them up."""
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
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2], strict=True)
            found = [cell.reducer.simple(region, a, b) for a, b in pairs]
        vector = self._vector(cell.reducer)
        old = [Value(region.once(f"load {vector}, ptr {n}"), False, None) for n in cell.names]
        for name, new in zip(cell.names, cell.reducer.join(region, old, found[0]), strict=True):
            region.do(f"store {vector} {new.text}, ptr {name}")

    def _target(self, member: Member) -> tuple[int, Index]:
        task = member.task
        k = task.target if isinstance(task.target, int) else self.memory.array(task.target)
        if isinstance(task.target, int):
            k = self.memory.output(task.target)
        return k, flat(member.place, task.shape)

    def _store_row_value(self, region: Region, member: Member, value: Value) -> None:
        k, index = self._target(member)
        storage = self._storage(k)
        at = self.fn.position(region, index, self.values.counters)
        if member.task.combine == "scatter":
            self._scatter_one(region, member, value, k, at)
            return
        pointer = region.scalar(f"getelementptr {storage.element}, ptr {self.fn.base(k)}, i64 {at}")
        store_one(region, storage, pointer, value)

    def _scatter_one(self, region: Region, member: Member, value: Value, k: int, at: str) -> None:
        offset, valid = self.values.positions(member, None)
        where = region.add(at, offset)
        element = self._storage(k).element
        pointer = region.scalar(f"getelementptr {element}, ptr {self.fn.base(k)}, i64 {where}")
        pointer = region.scalar(f"select i1 {valid}, ptr {pointer}, ptr %nowhere")
        lanes = Lanes(region, "0", None)
        old = load_lanes(Lanes(region, "0", self._first_lane(region)), self._storage(k), pointer)[0]
        b = region.wide if self._storage(k).kind == "int" else region.b
        store_one(lanes.region, self._storage(k), pointer, b.add(old, value))

    def _first_lane(self, region: Region) -> str:
        w = self.fn.width
        return region.scalar(f"insertelement <{w} x i1> zeroinitializer, i1 true, i64 0")

    # a pass

    def _pass(self, number: int, rows: int) -> None:
        fn, this, values = self.fn, self.passes.passes[number], self.values
        work = [
            (j, m, Reducer(m.task.combine, wide=m.task.node.dtype == "int"))
            for j in range(rows)
            for m in this.reduced
        ]

        def body(lanes: Lanes, old: list[Value]) -> list[Value]:
            values.lanes()
            new: list[Value] = []
            for (values.copy, member, reducer), value in zip(work, old, strict=True):
                new.append(reducer.fold(lanes, values.factors(member, lanes), value))
            # All loads come before the stores: a result may lie where an operand was.
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
                    self._add_rows(lanes, member, [v for _, m, v in ready if m is member])
            return new

        unroll = self._unroll(number) if self.together == 1 else 1
        found = LaneLoop(fn, self.nest.loops[-1], [r for _, _, r in work], body, unroll).run()
        for (values.copy, member, _), value in zip(work, found, strict=True):
            self.results[member, values.copy] = value
            values.know(member, value)
        values.copy = 0
        for member in this.lanes:
            cell = self.cells.get(member)
            if cell is not None and cell.names:
                self._count_rows(cell, rows)

    def _unroll(self, number: int) -> int:
        """Several vectors at a time where a pass reduces more than it computes."""
        this = self.passes.passes[number]
        return UNROLL if this.reduced and not this.keep and self._cost(number) < _CHEAP else 1

    def _cost(self, number: int) -> int:
        this = self.passes.passes[number]
        return sum(self.passes.levels[p].cost for m in (*this.reduced, *this.lanes) for p in m.factors)

    def _add_rows(self, lanes: Lanes, member: Member, rows: list[list[Value]]) -> None:
        """Add rows to the row that sums them, one after the other."""
        cell = self.cells[member]
        total = self._row_load(lanes, cell.arrays[0])
        for factors in rows:
            # The mask is left to the store: sums of lanes that are not there are not looked at.
            total = cell.reducer.fold(Lanes(lanes.region, lanes.counter, None), factors, total)
        self._row_store(lanes, cell.arrays[0], total)

    def _store(self, lanes: Lanes, member: Member, value: Value) -> None:
        k, index = self._target(member)
        storage = self._storage(k)
        row = self.values.row_pointer(k, index.without(self.nest.inner), storage)
        step = index.coefficient(self.nest.inner)
        r = lanes.region
        if member.task.combine == "scatter":
            self._scatter(lanes, member, value, storage, row, step)
        elif step == 1:
            pointer = r.scalar(f"getelementptr {storage.element}, ptr {row}, i64 {lanes.counter}")
            store_lanes(lanes, storage, pointer, value)
        else:
            spread_lanes(lanes, storage, row, self._steps(lanes, step), value)

    def _steps(self, lanes: Lanes, step: Size) -> str:
        r, w = lanes.region, lanes.width
        return r.scalar(f"mul <{w} x i64> {lanes.numbers()}, {splat(r, 'i64', self.fn.size(step))}")

    def _scatter(
        self, lanes: Lanes, member: Member, value: Value, storage: Storage, row: str, step: Size
    ) -> None:
        r, w = lanes.region, lanes.width
        offset, valid = self.values.positions(member, lanes)
        b = r.wide if storage.kind == "int" else r.b
        if not offset.startswith("<") and step != 0:
            at = r.scalar(f"getelementptr {storage.element}, ptr {row}, i64 {offset}")
            mask = splat(r, "i1", valid)
            if step == 1:
                pointer = r.scalar(f"getelementptr {storage.element}, ptr {at}, i64 {lanes.counter}")
                old, _ = load_lanes(lanes, storage, pointer, mask)
                store_lanes(lanes, storage, pointer, b.add(old, value), mask)
            else:
                steps = self._steps(lanes, step)
                old, _ = place_lanes(lanes, storage, at, steps, mask)
                active = r.scalar(f"and <{w} x i1> {lanes.active()}, {mask}")
                spread_lanes(Lanes(r, lanes.counter, active), storage, at, steps, b.add(old, value))
            return
        if offset.startswith("<"):
            offset = offset[1:]
            mask = valid
        else:
            offset, mask = splat(r, "i64", offset), splat(r, "i1", valid)
        if step != 0:
            offset = r.scalar(f"add <{w} x i64> {offset}, {self._steps(lanes, step)}")
        add_lane_by_lane(lanes, storage, row, offset, value, mask)
