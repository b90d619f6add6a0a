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
        self.counters = [f"%o{k}" for k in range(len(nest.loops))]
        self.values = Values(fn, nest, passes, memory, chosen, self.counters)
        self.results: dict[Member, Value] = {}
        self.cells: dict[Member, _Cell] = {}

    # the loops

    def write(self) -> None:
        """Write the function."""
        fn, nest = self.fn, self.nest
        if any(m.task.combine == "scatter" for m in nest.members):
            fn.put("%nowhere = alloca i64")
        self._make_cells()
        self._fill()
        outer = list(nest.loops[:-1])
        exits: list[tuple[int, str, str]] = []
        for k, size in enumerate(outer):
            self._clear(k)
            head, body, out = fn.label("loop"), fn.label("row"), fn.label("out")
            before = fn.block
            fn.put(f"br label %{head}")
            fn.start(head)
            fn.put(f"%o{k} = phi i64 [ 0, %{before} ], [ %o{k}.next, %{body}.latch ]")
            fn.put(f"%o{k}.more = icmp slt i64 %o{k}, {fn.size(size)}")
            fn.put(f"br i1 %o{k}.more, label %{body}, label %{out}")
            fn.start(body)
            exits.append((k, body, out))
        self._row()
        for k, body, out in reversed(exits):
            head = f"{body}.latch"
            fn.put(f"br label %{head}")
            fn.start(head)
            fn.put(f"%o{k}.next = add i64 %o{k}, 1")
            fn.put(f"br label %{self._head_of(k)}")
            fn.start(out)
            self._finish(k)

    def _head_of(self, k: int) -> str:
        for i, line in enumerate(self.fn.code):
            if isinstance(line, str) and line.startswith(f"  %o{k} = phi"):
                return str(self.fn.code[i - 1]).rstrip(":")
        return ""

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

    def _count_row(self, cell: _Cell) -> None:
        fn = self.fn
        r = fn.region()
        old = r.once(f"load i64, ptr {cell.names[0]}")
        new = r.scalar(f"add i64 {old}, 1")
        full = r.scalar(f"icmp eq i64 {new}, {ROWS}")
        kept = r.scalar(f"select i1 {full}, i64 0, i64 {new}")
        r.do(f"store i64 {kept}, ptr {cell.names[0]}")
        flush, after = fn.label("flush"), fn.label("counted")
        fn.put(f"br i1 {full}, label %{flush}, label %{after}")
        fn.start(flush)
        self._flush(cell)
        fn.put(f"br label %{after}")
        fn.start(after)

    def _finish(self, depth: int) -> None:
        self.values.leave(self.fn.region())
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

    def _row(self) -> None:
        fn = self.fn
        for number, this in enumerate(self.passes.passes):
            self.values.begin(number, fn.region())
            for member in this.row:
                self._row_value(member)
            if this.lanes or this.reduced or this.keep:
                self._pass(number)

    def _row_value(self, member: Member) -> None:
        value = self.results.get(member)
        region = self.values.row
        if value is None:
            value = self.values.product(member, None)
        cell = self.cells.get(member)
        if cell is None:
            self._store_row_value(region, member, value)
            return
        vector = self._vector(cell.reducer)
        old = [Value(region.once(f"load {vector}, ptr {n}"), False, None) for n in cell.names]
        for name, new in zip(cell.names, cell.reducer.join(region, old, value), strict=True):
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
        at = self.fn.position(region, index, self.counters)
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

    def _pass(self, number: int) -> None:
        fn, this = self.fn, self.passes.passes[number]
        reducers = [Reducer(m.task.combine, wide=m.task.node.dtype == "int") for m in this.reduced]

        def body(lanes: Lanes, old: list[Value]) -> list[Value]:
            self.values.lanes(lanes)
            new = [
                reducer.fold(lanes, self.values.factors(member, lanes), value)
                for member, reducer, value in zip(this.reduced, reducers, old, strict=True)
            ]
            ready = [(member, self.values.product(member, lanes)) for member in this.lanes]
            for pair in this.keep:
                self.values.keep(pair, lanes)
            for member, value in ready:
                self._lane_value(member, lanes, value)
            return new

        found = LaneLoop(fn, self.nest.loops[-1], reducers, body, self._unroll(number)).run()
        region = self.fn.region()
        for member, reducer, parts in zip(this.reduced, reducers, found, strict=True):
            value = self.results[member] = reducer.across(region, parts)
            self.values.know(member, value)
        for member in this.lanes:
            cell = self.cells.get(member)
            if cell is not None and cell.names:
                self._count_row(cell)

    def _unroll(self, number: int) -> int:
        """Several vectors at a time where a pass reduces more than it computes."""
        this = self.passes.passes[number]
        members = [*this.reduced, *this.lanes]
        cost = sum(self.passes.levels[p].cost for m in members for p in m.factors)
        return UNROLL if this.reduced and not this.keep and cost < _CHEAP else 1

    def _lane_value(self, member: Member, lanes: Lanes, value: Value) -> None:
        cell = self.cells.get(member)
        if cell is None:
            self._store(lanes, member, value)
            return
        old = self._row_load(lanes, cell.arrays[0])
        self._row_store(lanes, cell.arrays[0], cell.reducer.simple(lanes.region, old, value))

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
