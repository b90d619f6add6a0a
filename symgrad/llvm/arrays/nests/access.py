"""Loads and stores of arrays: one element for all lanes, neighbours, or lanes at any places.

The last lanes of a row are masked: a lane that is beyond the row is neither read nor written.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.llvm.arrays.lines import BlockWriter
from symgrad.llvm.equations.builder import Value
from symgrad.llvm.text.types import FloatType
from symgrad.lower.arrays.memory import Buffer

__all__ = [
    "Lanes",
    "Storage",
    "add_lane_by_lane",
    "counting",
    "load_lanes",
    "load_one",
    "place_lanes",
    "splat",
    "spread_lanes",
    "store_lanes",
    "storage_of",
    "store_one",
    "to_i64",
]


@dataclass(frozen=True, slots=True)
class Storage:
    """How elements of an array lie in memory.

    Args:
        kind: real, int or bool.
        real: the LLVM type of real ones.
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

    def missing(self) -> str:
        """What is delivered where nothing can be read."""
        return f"splat ({self.real} 0x7FF8000000000000)" if self.kind == "real" else "zeroinitializer"


def storage_of(array: Buffer, real: FloatType) -> Storage:
    """Return how an array lies in memory."""
    return Storage("real", "double") if array.kind == "double" else Storage(array.kind, real.llvm)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where the lanes of the inner loop are.

    Args:
        region: the block that computes them.
        counter: of the inner loop, at the first lane.
        mask: which lanes there are; None for all.
    """

    region: BlockWriter
    counter: str
    mask: str | None

    @property
    def width(self) -> int:
        return self.region.b.width

    def active(self) -> str:
        """The mask as an operand."""
        return self.mask or "splat (i1 true)"

    def numbers(self) -> str:
        """The counter of each lane, a vector of i64."""
        r = self.region
        start = splat(r, "i64", self.counter)
        return r.scalar(f"add <{self.width} x i64> {start}, {counting(self.width)}")


def counting(width: int) -> str:
    """The numbers of the lanes."""
    return f"<{', '.join(f'i64 {k}' for k in range(width))}>"


def splat(r: BlockWriter, kind: str, scalar: str) -> str:
    """Return a vector with one value in all lanes."""
    w = r.b.width
    if scalar.lstrip("-").isdigit() and kind == "i64":
        return f"splat (i64 {scalar})"
    one = r.scalar(f"insertelement <{w} x {kind}> poison, {kind} {scalar}, i64 0")
    return r.scalar(f"shufflevector <{w} x {kind}> {one}, <{w} x {kind}> poison, <{w} x i32> zeroinitializer")


def _value(r: BlockWriter, storage: Storage, raw: str) -> Value:
    w = r.b.width
    if storage.kind == "real":
        return Value(raw, False, None)
    if storage.kind == "int":
        return r.wide.emit(f"sitofp <{w} x i64> {raw} to <{w} x double>")
    return r.b.emit(f"icmp ne <{w} x i8> {raw}, zeroinitializer", mask=True)


def load_one(r: BlockWriter, storage: Storage, pointer: str) -> tuple[Value, str]:
    """Return one element for all lanes, and the element itself (whole numbers as i64)."""
    element = storage.element
    raw = r.once(f"load {element}, ptr {pointer}, align {storage.align}")
    if storage.kind == "int":
        number = r.scalar(f"sitofp i64 {raw} to double")
        return Value(splat(r, "double", number), False, None), raw
    return _value(r, storage, splat(r, element, raw)), raw


def load_lanes(lanes: Lanes, storage: Storage, pointer: str, valid: str | None = None) -> tuple[Value, str]:
    """Return neighbours from a pointer to the first lane, and the raw vector; only lanes in ``valid`` are read."""
    r, w, element = lanes.region, lanes.width, storage.element
    kind = f"<{w} x {element}>"
    mask = _both(r, lanes.mask, valid)
    if mask is None:
        raw = r.once(f"load {kind}, ptr {pointer}, align {storage.align}")
    else:
        raw = r.once(
            _call(
                r,
                f"masked.load.v{w}{storage.suffix}.p0",
                kind,
                f"ptr align {storage.align} {pointer}, <{w} x i1> {mask}, {kind} {storage.missing()}",
                "ptr",
                f"<{w} x i1>",
                kind,
            )
        )
    return _value(r, storage, raw), raw


def place_lanes(
    lanes: Lanes, storage: Storage, base: str, offsets: str, valid: str | None = None
) -> tuple[Value, str]:
    """Return elements at any offsets (a vector of i64), and the raw vector."""
    r, w, element = lanes.region, lanes.width, storage.element
    kind = f"<{w} x {element}>"
    pointers = r.scalar(f"getelementptr {element}, ptr {base}, <{w} x i64> {offsets}")
    mask = _both(r, lanes.mask, valid) or "splat (i1 true)"
    raw = r.once(
        _call(
            r,
            f"masked.gather.v{w}{storage.suffix}.v{w}p0",
            kind,
            f"<{w} x ptr> align {storage.align} {pointers}, <{w} x i1> {mask}, {kind} {storage.missing()}",
            f"<{w} x ptr>",
            f"<{w} x i1>",
            kind,
        )
    )
    return _value(r, storage, raw), raw


def _both(r: BlockWriter, a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return a or b
    return r.scalar(f"and <{r.b.width} x i1> {a}, {b}")


def _call(r: BlockWriter, name: str, gives: str, args: str, *takes: str) -> str:
    return f"call {gives} {r.b.declarations.declare(f'llvm.{name}', gives, *takes)}({args})"


def _raw(r: BlockWriter, storage: Storage, value: Value) -> str:
    w = r.b.width
    if storage.kind == "real":
        return value.text
    if storage.kind == "bool":
        return r.scalar(f"zext <{w} x i1> {value.text} to <{w} x i8>")
    name = f"fptosi.sat.v{w}i64.v{w}f64"  # NaN becomes 0
    return r.scalar(_call(r, name, f"<{w} x i64>", f"<{w} x double> {value.text}", f"<{w} x double>"))


def to_i64(r: BlockWriter, value: Value) -> str:
    """Return numbers as i64, lane by lane."""
    return _raw(r, Storage("int", ""), value)


def store_one(r: BlockWriter, storage: Storage, pointer: str, value: Value) -> None:
    """Store the first lane."""
    raw = _raw(r, storage, value)
    one = r.scalar(f"extractelement <{r.b.width} x {storage.element}> {raw}, i64 0")
    r.do(f"store {storage.element} {one}, ptr {pointer}, align {storage.align}")


def store_lanes(lanes: Lanes, storage: Storage, pointer: str, value: Value, valid: str | None = None) -> None:
    """Store the lanes as neighbours."""
    r, w = lanes.region, lanes.width
    kind = f"<{w} x {storage.element}>"
    raw = _raw(r, storage, value)
    mask = _both(r, lanes.mask, valid)
    if mask is None:
        r.do(f"store {kind} {raw}, ptr {pointer}, align {storage.align}")
        return
    r.do(
        _call(
            r,
            f"masked.store.v{w}{storage.suffix}.p0",
            "void",
            f"{kind} {raw}, ptr align {storage.align} {pointer}, <{w} x i1> {mask}",
            kind,
            "ptr",
            f"<{w} x i1>",
        )
    )


def spread_lanes(lanes: Lanes, storage: Storage, base: str, offsets: str, value: Value) -> None:
    """Store the lanes at any offsets, which differ."""
    r, w = lanes.region, lanes.width
    kind = f"<{w} x {storage.element}>"
    pointers = r.scalar(f"getelementptr {storage.element}, ptr {base}, <{w} x i64> {offsets}")
    r.do(
        _call(
            r,
            f"masked.scatter.v{w}{storage.suffix}.v{w}p0",
            "void",
            f"{kind} {_raw(r, storage, value)}, <{w} x ptr> align {storage.align} {pointers}, "
            f"<{w} x i1> {lanes.active()}",
            kind,
            f"<{w} x ptr>",
            f"<{w} x i1>",
        )
    )


def add_lane_by_lane(
    lanes: Lanes, storage: Storage, base: str, offsets: str, value: Value, valid: str | None
) -> None:
    """Add each lane to the element at its offset, one after the other: offsets may be equal."""
    r, w, element = lanes.region, lanes.width, storage.element
    raw = _raw(r, storage, value)
    mask = _both(r, lanes.mask, valid)
    for k in range(w):
        one = r.scalar(f"extractelement <{w} x {element}> {raw}, i64 {k}")
        offset = r.scalar(f"extractelement <{w} x i64> {offsets}, i64 {k}")
        pointer = r.scalar(f"getelementptr {element}, ptr {base}, i64 {offset}")
        if mask is not None:  # a lane that must not write adds to a cell that nobody reads
            there = r.scalar(f"extractelement <{w} x i1> {mask}, i64 {k}")
            pointer = r.scalar(f"select i1 {there}, ptr {pointer}, ptr %nowhere")
        old = r.once(f"load {element}, ptr {pointer}, align {storage.align}")
        new = r.scalar(f"{'add' if element == 'i64' else 'fadd'} {element} {old}, {one}")
        r.do(f"store {element} {new}, ptr {pointer}, align {storage.align}")
