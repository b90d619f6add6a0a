"""Loads and stores of arrays: broadcast one element, access neighbours, gather or scatter lanes.

The last lanes of a row are masked: lanes beyond the row are neither read nor written.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.compiler.llvm.arrays.step_writer import BlockWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.text.instructions import Splat
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.arrays.memory import Buffer


@dataclass(frozen=True, slots=True)
class Storage:
    """The storage format of the elements of an array.

    Args:
        kind: real, int or bool.
        real: the LLVM type of real elements.
    """

    kind: str
    real: str

    @property
    def element(self) -> str:
        return {"real": self.real, "int": "i64", "bool": "i8"}[self.kind]

    @property
    def align(self) -> int:
        return {"double": 8, "float": 4, "i64": 8, "i8": 1}[self.element]

    @property
    def suffix(self) -> str:
        return {"double": "f64", "float": "f32", "i64": "i64", "i8": "i8"}[self.element]

    @property
    def itemsize(self) -> int:
        return self.align

    def fill_value(self) -> str:
        """The value of lanes that are not read."""
        return Splat(self.real, "0x7FF8000000000000") if self.kind == "real" else "zeroinitializer"


def storage_of(array: Buffer, real: FloatType) -> Storage:
    """Return the storage format of an array."""
    return Storage("real", "double") if array.kind == "double" else Storage(array.kind, real.llvm)


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of an iteration of the inner loop.

    Args:
        region: the block that computes them.
        counter: the counter of the inner loop at the first lane.
        mask: the active lanes; None if all lanes are active.
    """

    region: BlockWriter
    counter: str
    mask: str | None

    @property
    def width(self) -> int:
        return self.region.b.width

    def mask_operand(self) -> str:
        """Return the mask as an operand."""
        return self.mask or _ALL_LANES

    def lane_counters(self) -> str:
        """Return the counter of each lane, a vector of i64."""
        r = self.region
        start = splat(r, "i64", self.counter)
        return r.binary("add", start, lane_indices(self.width), f"<{self.width} x i64>")


_ALL_LANES = Splat("i1", "true")
"""The mask of all lanes."""


def lane_indices(width: int) -> str:
    """Return the vector 0, 1, ..., width - 1."""
    return f"<{', '.join(f'i64 {k}' for k in range(width))}>" if width > 1 else Splat("i64", "0")


def splat(r: BlockWriter, kind: str, scalar: str) -> str:
    """Return a vector with one value in all lanes."""
    w = r.b.width
    if scalar.lstrip("-").isdigit() and kind == "i64":
        return Splat("i64", scalar)
    vector = f"<{w} x {kind}>"
    return broadcast_first_lane(r, vector, r.scalar(Opcode.insert(vector, kind), "poison", scalar, "0"))


def broadcast_first_lane(r: BlockWriter, vector: str, value: str) -> str:
    """Return the first lane of a vector in all lanes."""
    return r.scalar(Opcode.shuffle(vector, f"<{r.b.width} x i32> zeroinitializer"), value, "poison")


def first_lane(r: BlockWriter, kind: str, value: str) -> str:
    """Return the first lane of a vector."""
    return r.scalar(Opcode.extract(f"<{r.b.width} x {kind}>", kind), value, "0")


def first_lane_mask(r: BlockWriter, valid: str) -> str:
    """Return a mask in which at most the first lane is set."""
    return r.scalar(Opcode.insert(f"<{r.b.width} x i1>", "i1"), "zeroinitializer", valid, "0")


def _value(r: BlockWriter, storage: Storage, raw: str) -> Value:
    w = r.b.width
    if storage.kind == "real":
        return Value(raw, False, None)
    if storage.kind == "int":
        return r.wide.emit(Opcode.convert("sitofp", f"<{w} x i64>", f"<{w} x double>"), raw)
    return r.b.emit(Opcode.compare("icmp", "ne", f"<{w} x i8>"), raw, "zeroinitializer", mask=True)


def load_scalar(r: BlockWriter, storage: Storage, pointer: str) -> tuple[Value, str]:
    """Load one element; return it in all lanes, and the raw element (integers as i64)."""
    element = storage.element
    raw = r.emit_load(Opcode.load(element, storage.align), pointer)
    if storage.kind == "int":
        number = r.scalar(Opcode.convert("sitofp", "i64", "double"), raw)
        return Value(splat(r, "double", number), False, None), raw
    return _value(r, storage, splat(r, element, raw)), raw


def load_lanes(lanes: Lanes, storage: Storage, pointer: str, valid: str | None = None) -> tuple[Value, str]:
    """Load neighbours from the address of the first lane, only the ``valid`` lanes.

    Return the values and the raw vector.
    """
    r, w, element = lanes.region, lanes.width, storage.element
    kind = f"<{w} x {element}>"
    mask = _and_masks(r, lanes.mask, valid)
    if mask is None:
        raw = r.emit_load(Opcode.load(kind, storage.align), pointer)
    else:
        name, takes = f"masked.load.v{w}{storage.suffix}.p0", ("ptr", f"<{w} x i1>", kind)
        raw = r.emit_load(
            _call(r, name, kind, *takes, align=storage.align), pointer, mask, storage.fill_value()
        )
    return _value(r, storage, raw), raw


def gather_lanes(
    lanes: Lanes, storage: Storage, base: str, offsets: str, valid: str | None = None
) -> tuple[Value, str]:
    """Gather elements at offsets (a vector of i64); return the values and the raw vector."""
    r, w, element = lanes.region, lanes.width, storage.element
    kind = f"<{w} x {element}>"
    pointers = r.scalar(Opcode.address(element, f"<{w} x i64>"), base, offsets)
    mask = _and_masks(r, lanes.mask, valid) or _ALL_LANES
    name, takes = f"masked.gather.v{w}{storage.suffix}.v{w}p0", (f"<{w} x ptr>", f"<{w} x i1>", kind)
    raw = r.emit_load(_call(r, name, kind, *takes, align=storage.align), pointers, mask, storage.fill_value())
    return _value(r, storage, raw), raw


def _and_masks(r: BlockWriter, a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return a or b
    return r.binary("and", a, b, f"<{r.b.width} x i1>")


def _call(r: BlockWriter, name: str, gives: str, *takes: str, align: int = 0) -> Opcode:
    return Opcode.call(gives, r.b.declarations.declare(f"llvm.{name}", gives, *takes), *takes, align=align)


def _raw(r: BlockWriter, storage: Storage, value: Value) -> str:
    w = r.b.width
    if storage.kind == "real":
        return value.text
    if storage.kind == "bool":
        return r.scalar(Opcode.convert("zext", f"<{w} x i1>", f"<{w} x i8>"), value.text)
    name = f"fptosi.sat.v{w}i64.v{w}f64"  # NaN becomes 0
    return r.scalar(_call(r, name, f"<{w} x i64>", f"<{w} x double>"), value.text)


def to_i64(r: BlockWriter, value: Value) -> str:
    """Return numbers as i64, lane by lane."""
    return _raw(r, Storage("int", ""), value)


def store_first_lane(r: BlockWriter, storage: Storage, pointer: str, value: Value) -> None:
    """Store the first lane."""
    raw = _raw(r, storage, value)
    one = first_lane(r, storage.element, raw)
    r.do(Opcode.store(storage.element, storage.align), one, pointer)


def store_lanes(lanes: Lanes, storage: Storage, pointer: str, value: Value, valid: str | None = None) -> None:
    """Store the lanes as neighbours."""
    r, w = lanes.region, lanes.width
    kind = f"<{w} x {storage.element}>"
    raw = _raw(r, storage, value)
    mask = _and_masks(r, lanes.mask, valid)
    if mask is None:
        r.do(Opcode.store(kind, storage.align), raw, pointer)
        return
    name = f"masked.store.v{w}{storage.suffix}.p0"
    r.do(_call(r, name, "void", kind, "ptr", f"<{w} x i1>", align=storage.align), raw, pointer, mask)


def scatter_lanes(lanes: Lanes, storage: Storage, base: str, offsets: str, value: Value) -> None:
    """Scatter the lanes to distinct offsets."""
    r, w = lanes.region, lanes.width
    kind = f"<{w} x {storage.element}>"
    pointers = r.scalar(Opcode.address(storage.element, f"<{w} x i64>"), base, offsets)
    name, takes = f"masked.scatter.v{w}{storage.suffix}.v{w}p0", (kind, f"<{w} x ptr>", f"<{w} x i1>")
    call = _call(r, name, "void", *takes, align=storage.align)
    r.do(call, _raw(r, storage, value), pointers, lanes.mask_operand())


def accumulate_lanes(
    lanes: Lanes, storage: Storage, base: str, offsets: str, value: Value, valid: str | None
) -> None:
    """Add each lane to the element at its offset, one after the other: offsets may be equal."""
    r, w, element = lanes.region, lanes.width, storage.element
    raw = _raw(r, storage, value)
    mask = _and_masks(r, lanes.mask, valid)
    for k in range(w):
        one = r.scalar(Opcode.extract(f"<{w} x {element}>", element), raw, str(k))
        offset = r.scalar(Opcode.extract(f"<{w} x i64>", "i64"), offsets, str(k))
        pointer = r.address(element, base, offset)
        if mask is not None:  # a masked lane adds to a memory cell that is never read
            there = r.scalar(Opcode.extract(f"<{w} x i1>", "i1"), mask, str(k))
            pointer = r.select(there, pointer, "%nowhere", "ptr")
        old = r.emit_load(Opcode.load(element, storage.align), pointer)
        new = r.binary("add" if element == "i64" else "fadd", old, one, element)
        r.do(Opcode.store(element, storage.align), new, pointer)
