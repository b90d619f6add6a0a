"""Write the values of a nest (loads, reads through index maps, computations), each once, outside of inner loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from symgrad.compiler.llvm.arrays.nests.access import (
    Lanes,
    Storage,
    first_lane,
    first_lane_mask,
    gather_lanes,
    load_lanes,
    load_scalar,
    splat,
    store_lanes,
    to_i64,
)
from symgrad.compiler.llvm.arrays.nests.value_table import ValueTable
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, StepWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.arrays.index import Index, flat, strides
from symgrad.compiler.lowering.arrays.nests import Member
from symgrad.compiler.lowering.arrays.passes import Pair, inside
from symgrad.ir.bounds import LARGEST
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.sizes import Shape
from symgrad.support.errors import InternalError


def write_op(fn: StepWriter, region: BlockWriter, node: Node, args: Sequence[tuple[Node, Value]]) -> Value:
    """Write the value of an elementwise op or of a constant.

    Args:
        fn: the function to write to.
        region: the block that computes it.
        node: the node.
        args: its operands, each with its value.
    """
    wide = node.dtype == "int" or (
        node.dtype == "bool" and bool(args) and all(a.dtype != "real" for a, _ in args)
    )
    b = region.wide if wide else region.b
    if node.op is NUMBER:
        return b.const(node.value)
    if node.op is CONSTANT:
        return b.const_named(node.params[0])
    if node.op is SIZE:
        return _number_of(fn.size(node.params[0]), region)
    values: list[Value] = []
    for arg, value in args:
        if arg.op is NUMBER and arg.dtype != "bool":
            values.append(b.const(arg.value))  # rounded once, directly to the required format
        elif value.mask or (arg.dtype == "int") == wide:
            values.append(value)
        else:
            values.append(region.convert(value, wide))
    result = node.op.lower(b, node, *values)
    if result.mask != (node.dtype == "bool"):
        raise InternalError(f"the lowering of '{node.op.name}' gave {'a mask' if result.mask else 'numbers'}")
    return result


def _number_of(text: str, region: BlockWriter) -> Value:
    number = region.scalar(Opcode.convert("sitofp", "i64", "double"), text)
    return Value(splat(region, "double", number), False, None)


class ValueWriter(ValueTable):
    """Writes the code of the values of one nest."""

    # values

    def factors(self, member: Member, lanes: Lanes | None) -> list[Value]:
        """Return the operands of a member, in the number format of its node."""
        found: list[Value] = []
        for pair in member.factors:
            value = self._value(pair, lanes)
            found.append(self._as(value, pair[0], member.task.node, self._region(pair, lanes)))
        return found

    def product(self, member: Member, lanes: Lanes | None, region: BlockWriter | None = None) -> Value:
        """Return the product of the operands of a member."""
        values = self.factors(member, lanes)
        region = region or (lanes.region if lanes else self.row)
        b = region.wide if member.task.node.dtype == "int" else region.b
        return reduce(b.mul, values)

    def keep(self, pair: Pair, lanes: Lanes) -> None:
        """Store a value for a later pass."""
        value = self._value(pair, lanes)
        row = self.passes.kept[pair]
        if not isinstance(row, Member):
            k = self.memory.kept(self.nest, row)
            storage = self.storage(k)
            pointer = lanes.region.address(storage.element, self.fn.base(k), lanes.counter)
            store_lanes(lanes, storage, pointer, value)

    def _as(self, value: Value, node: Node, like: Node, region: BlockWriter) -> Value:
        """Return a value in the format of another node."""
        if value.mask or (node.dtype == "int") == (like.dtype == "int"):
            return value
        return region.convert(value, like.dtype == "int")

    def _value(self, pair: Pair, lanes: Lanes | None) -> Value:
        stack = [pair]
        while stack:
            top = stack[-1]
            if self._known(top) is not None:
                stack.pop()
                continue
            missing = [p for p in self._operands(top) if self._known(p) is None]
            if missing:
                stack += missing
                continue
            stack.pop()
            value = self._define(top, lanes)
            self._table(top)[top] = value
        found = self._known(pair)
        if found is None:
            raise InternalError(f"no value for {pair[0]!r}")
        return found

    def _loaded(self, pair: Pair) -> bool:
        node, place = pair
        return (node in self.materialized or node.op is SYMBOL) and self.nest.holds(node, place) is None

    def _is_kept(self, pair: Pair) -> bool:
        return pair in self.passes.kept and self.passes.levels[pair].stage < self._number

    def _operands(self, pair: Pair) -> Sequence[Pair]:
        if self._loaded(pair) or self._is_kept(pair):
            return ()
        return inside(self.nest, pair).values

    def _define(self, pair: Pair, lanes: Lanes | None) -> Value:
        node, place = pair
        region = self._region(pair, lanes)
        if self._is_kept(pair):
            return self._load_kept(pair, lanes)
        if self._loaded(pair):
            return self._load(pair, self.memory.array(node), flat(place, node.shape), lanes)
        member = self.nest.holds(node, place)
        if member is not None and not member.own:
            return self.product(member, lanes if self.passes.levels[pair].inner else None, region)
        name = node.op.name
        args = [(p, self._known(p)) for p in inside(self.nest, pair).values]
        values = [(p[0], v) for p, v in args if v is not None]
        if node.op.pointwise or node.op in (NUMBER, CONSTANT, SIZE):
            return write_op(self.fn, region, node, values)
        if name == "iota":
            return self._count(place[0], region, lanes)
        if name == "gather":
            return self._gather(pair, lanes)
        needs = inside(self.nest, pair)
        if needs.memory:
            ((source, index),) = needs.memory
            return self._load(pair, self.memory.array(source), index, lanes)
        if name == "einsum" and len(values) > 1:
            b = region.wide if node.dtype == "int" else region.b
            return reduce(b.mul, [self._as(v, a, node, region) for a, v in values])
        return values[0][1]  # a view

    def _count(self, index: Index, region: BlockWriter, lanes: Lanes | None) -> Value:
        step = index.coefficient(self.nest.inner)
        outer = index.without(self.nest.inner) if lanes else index
        start = self.fn.position(self.row if outer.terms else self.fn.entry, outer, self.counters)
        if lanes is None or step == 0:
            return _number_of(start, region)
        w = lanes.width
        numbers = self.lane_offsets(lanes, step)
        total = region.binary("add", numbers, splat(region, "i64", start), f"<{w} x i64>")
        return region.wide.emit(Opcode.convert("sitofp", f"<{w} x i64>", f"<{w} x double>"), total)

    # loads

    def _load(self, pair: Pair, k: int, index: Index, lanes: Lanes | None) -> Value:
        storage = self.storage(k)
        step = index.coefficient(self.nest.inner)
        pointer = self.row_pointer(k, index.without(self.nest.inner), storage)
        region = self._region(pair, lanes)
        if lanes is None or step == 0:
            value, raw = load_scalar(region, storage, pointer)
        elif step == 1:
            at = region.address(storage.element, pointer, lanes.counter)
            value, raw = load_lanes(lanes, storage, at)
            if self._number == 0:
                self._streams[k, index] = storage
        else:
            value, raw = gather_lanes(lanes, storage, pointer, self.lane_offsets(lanes, step))
        if storage.kind == "int":
            self._whole[value.text] = raw
        return value

    def prefetch(self, lanes: Lanes) -> None:
        """Prefetch the operands that the first pass will read in the next row."""
        for (k, index), storage in self._streams.items():
            stride = index.coefficient(self.nest.inner - 1)
            if stride == 0:
                continue
            r = lanes.region
            row = self.row_pointer(k, index.without(self.nest.inner), storage)
            ahead = r.add(lanes.counter, self.fn.size(stride))
            at = r.address(storage.element, row, ahead)
            takes = ("ptr", "i32", "i32", "i32")
            prefetch = self.fn.declarations.declare("llvm.prefetch.p0", "void", *takes)
            r.do(Opcode.call("void", prefetch, *takes), at, "0", "3", "1")

    def _load_kept(self, pair: Pair, lanes: Lanes | None) -> Value:
        if lanes is None:
            raise InternalError("a value of lanes is read once a row")
        row = self.passes.kept[pair]
        if isinstance(row, Member):
            k = self.memory.array(row.task.node)
            return self._load(pair, k, flat(row.place, row.task.shape), lanes)
        k = self.memory.kept(self.nest, row)
        return self._load(pair, k, Index(((self.nest.inner, 1),)), lanes)

    # positions

    def positions(self, member: Member, lanes: Lanes | None) -> tuple[str, str]:
        """Return the offset of a scatter in its target, and whether its indices are in range.

        If they differ between lanes, both are vectors, and the offset is marked by a leading ``<``.
        """
        for pair in member.indices:
            self._value(pair, lanes)
        return self._offset(member.indices, member.task.shape, member.task.axes, lanes, self.row)

    def _offset(
        self,
        indices: Sequence[Pair],
        shape: Shape,
        axes: Sequence[int],
        lanes: Lanes | None,
        row: BlockWriter,
    ) -> tuple[str, str]:
        vector = any(self.passes.levels[p].inner for p in indices)
        region = lanes.region if vector and lanes else row
        w = self.fn.width
        kind = f"<{w} x i64>" if vector else "i64"
        steps = strides(shape)
        total, valid = "", ""
        for pair, axis in zip(indices, axes, strict=True):
            number = self._whole_number(pair, region, vector)
            size = self.fn.size(shape[axis])
            n = splat(region, "i64", size) if vector else size
            zero = "zeroinitializer" if vector else "0"
            below = region.compare("slt", number, zero, kind)
            up = region.binary("add", number, n, kind)
            chooser = f"<{w} x i1>" if vector else "i1"
            number = region.select(below, up, number, kind, chooser)
            inside_axis = region.compare("ult", number, n, kind)
            step = self.fn.size(steps[axis])
            factor = splat(region, "i64", step) if vector else step
            part = region.binary("mul", number, factor, kind)
            total = region.binary("add", total, part, kind) if total else part
            valid = region.binary("and", valid, inside_axis, chooser) if valid else inside_axis
        return ("<" + total if vector else total), valid

    def _whole_number(self, pair: Pair, region: BlockWriter, vector: bool) -> str:
        value = self._known(pair)
        if value is None:
            raise InternalError(f"no value for {pair[0]!r}")
        inner = self.passes.levels[pair].inner
        raw = self._whole.get(value.text)
        if raw is None:
            if value.literal is not None:
                number = str(
                    min(max(int(value.literal), -(2**63)), LARGEST)
                )  # a clamped index is still out of range
                return splat(region, "i64", number) if vector else number
            if pair[0].dtype != "int":
                value = region.convert(value, True)
            raw = to_i64(region, value)
            if vector:
                return raw
            return first_lane(region, "i64", raw)
        return splat(region, "i64", raw) if vector and not inner else raw

    def _gather(self, pair: Pair, lanes: Lanes | None) -> Value:
        node, _ = pair
        needs = inside(self.nest, pair)
        ((source, index),) = needs.memory
        k = self.memory.array(source)
        storage = self.storage(k)
        level = self.passes.levels[pair]
        shape = node.args[0].shape
        at_once = not level.inner or lanes is None
        outside = self._region(pair, None) if at_once else self.row
        offset, valid = self._offset(needs.values, shape, node.params[0], lanes, outside)
        step = index.coefficient(self.nest.inner)
        start = index.without(self.nest.inner)
        if not level.inner or lanes is None:
            region = outside
            at = region.add(self.fn.position(region, start, self.counters), offset)
            pointer = region.address(storage.element, self.fn.base(k), at)
            mask = first_lane_mask(region, valid)
            value, raw = load_lanes(Lanes(region, "0", mask), storage, pointer)
            return self._spread_first(region, storage, value, raw)
        r, w = lanes.region, lanes.width
        if offset.startswith("<"):
            row = self.row_pointer(k, start, storage)
            offsets = offset[1:]
            if step != 0:
                offsets = r.binary("add", offsets, self.lane_offsets(lanes, step), f"<{w} x i64>")
            value, raw = gather_lanes(lanes, storage, row, offsets, valid)
        else:
            row = self.row
            at = row.add(self.fn.position(row, start, self.counters), offset)
            pointer = row.address(storage.element, self.fn.base(k), at)
            mask = splat(row, "i1", valid)
            if step == 1:
                p = r.address(storage.element, pointer, lanes.counter)
                value, raw = load_lanes(lanes, storage, p, mask)
            else:
                value, raw = gather_lanes(lanes, storage, pointer, self.lane_offsets(lanes, step), mask)
        if storage.kind == "int":
            self._whole[value.text] = raw
        return value

    def _spread_first(self, region: BlockWriter, storage: Storage, value: Value, raw: str) -> Value:
        b = region.wide if storage.kind == "int" else region.b
        code = Opcode.shuffle(b.bits if value.mask else b.vector, f"<{b.width} x i32> zeroinitializer")
        found = b.emit(code, value.text, "poison", mask=value.mask)
        if storage.kind == "int":
            self._whole[found.text] = first_lane(region, "i64", raw)
        return found
