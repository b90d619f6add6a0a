"""The code of one chunk: its loads, computations and stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from symgrad.compiler.llvm.equations.builder import Value, VectorBuilder
from symgrad.compiler.llvm.text.debug_locations import DebugLocations
from symgrad.compiler.llvm.text.instructions import Line, with_debug_location
from symgrad.compiler.lowering.elementwise.schedule import Chunk, Schedule
from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.support.errors import InternalError, UnsupportedError


def lower_node(node: Node, builder: VectorBuilder, args: Sequence[Value]) -> Value:
    """Write the code of one node on the values of its arguments.

    Raises:
        UnsupportedError: if the node has no code.
    """
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


class NodeFacts(NamedTuple):
    """The facts about nodes of a schedule that the code of all its chunks needs.

    Attributes:
        constants: the values that are known at compile time.
        position: the argument number of every input.
        asked: the argument numbers of outputs.
        fusable: nodes whose products and sums may become fused multiply-adds.
    """

    constants: Mapping[Node, Value]
    position: Mapping[Node, int]
    asked: Mapping[Node, Sequence[int]]
    fusable: frozenset[Node]

    @classmethod
    def of(cls, plan: Schedule, constants: Mapping[Node, Value]) -> NodeFacts:
        """Number the inputs and outputs of a schedule."""
        asked: dict[Node, list[int]] = {}
        for k, node in enumerate(plan.outputs, len(plan.inputs)):
            asked.setdefault(node, []).append(k)
        return cls(constants, {node: k for k, node in enumerate(plan.inputs)}, asked, plan.fusable)


class ChunkWriter:
    """Writes the code of one chunk: its loads, computations and stores."""

    slot_lanes = 0
    """The alignment of spilled values in elements; 0 for a byte."""

    def __init__(
        self,
        builder: VectorBuilder,
        known: NodeFacts,
        places: DebugLocations | None = None,
        function: str = "",
    ) -> None:
        self.builder = builder
        self._places = places
        self._function = function
        self.constants, self.position, self.asked, self.fusable = known
        self.values: dict[Node, Value] = {}
        self.prologue: list[Line] = []  # the addresses of arguments, computed before the loop if there is one

    def run(self, chunk: Chunk) -> None:
        for node in chunk.nodes:
            if self._places is not None:
                self.builder.at = self._places.number(self._function, node)
            if node.op is SYMBOL:
                self.values[node] = self._read(self.position[node], node.dtype == "bool")
            else:
                self.builder.fuses = node in self.fusable
                self.values[node] = lower_node(node, self.builder, [self._value(a, chunk) for a in node.args])
            # Each value is stored at once: values that wait for the end of the chunk would fill the registers.
            if node in chunk.writes:
                self._write(self.values[node], self._slot(chunk.writes[node]))
            if node.op is not SYMBOL:
                self.store(node, chunk, self.asked.get(node, ()))

    def store_rest(self, chunk: Chunk) -> None:
        """After the last chunk store the outputs that no chunk computes: constants and inputs."""
        for node, places in self.asked.items():
            if node in self.constants or node.op is SYMBOL:
                self.store(node, chunk, places)

    def store(self, node: Node, chunk: Chunk, places: Iterable[int]) -> None:
        for k in places:
            value = self._value(node, chunk)
            self._base(k)
            self._write(value, self._element(k, "%i", value.mask))

    def _value(self, node: Node, chunk: Chunk) -> Value:
        if node in self.constants:
            return self.constants[node]
        # A spilled value is loaded where it is first used, so that few of them are in registers.
        if node not in self.values:
            self.values[node] = self._load(self._slot(chunk.reads[node]), node.dtype == "bool")
        return self.values[node]

    def _base(self, k: int) -> None:
        self._before(f"  %ap{k} = getelementptr ptr, ptr %bases, i64 {k}")
        self._before(f"  %a{k} = load ptr, ptr %ap{k}")

    def _before(self, line: str) -> None:
        self.prologue.append(with_debug_location(line, self.builder.at))

    def _element(self, k: int, index: str, mask: bool) -> str:
        kind = "i8" if mask else self.builder.real.llvm
        line = f"  %p{k} = getelementptr {kind}, ptr %a{k}, i64 {index}"
        self.builder.lines.append(with_debug_location(line, self.builder.at))
        return f"%p{k}"

    def _read(self, k: int, mask: bool) -> Value:
        self._base(k)
        self._before(f"  %mp{k} = getelementptr i64, ptr %masks, i64 {k}")
        self._before(f"  %m{k} = load i64, ptr %mp{k}")
        self.builder.lines.append(with_debug_location(f"  %i{k} = and i64 %i, %m{k}", self.builder.at))
        return self._load(self._element(k, f"%i{k}", mask), mask)

    def _slot(self, slot: int) -> str:
        size = self.builder.width * self.builder.real.itemsize
        return self.builder.emit(f"getelementptr i8, ptr %spill, i64 {slot * size}").text

    def _load(self, place: str, mask: bool) -> Value:
        b = self.builder
        if not mask:
            return b.fresh(f"load {b.vector}, ptr {place}, align {max(self.slot_lanes * b.real.itemsize, 1)}")
        raw = b.fresh(f"load {b.bytes}, ptr {place}, align {max(self.slot_lanes, 1)}")
        return b.emit(f"icmp ne {b.bytes} %s, zeroinitializer", raw.text, mask=True)

    def _write(self, value: Value, place: str) -> None:
        self._write_to("ptr", value, place, self.slot_lanes)

    def _write_to(self, kind: str, value: Value, place: str, lanes: int) -> None:
        """Write a store through a pointer that is aligned to some elements."""
        b = self.builder
        if not value.mask:
            align = max(lanes * b.real.itemsize, 1)
            b.do(f"store {b.vector} %s, {kind} %s, align {align}", value.text, place)
            return
        # LLVM has no constant expression for the zext of a literal mask, but an instruction accepts such a mask.
        raw = b.emit(f"zext {b.bits} %s to {b.bytes}", value.text)
        b.do(f"store {b.bytes} %s, {kind} %s, align {max(lanes, 1)}", raw.text, place)


WriterT = TypeVar("WriterT", bound=ChunkWriter)


def write_chunks(plan: Schedule, new: Callable[[], WriterT]) -> list[WriterT]:
    """Write all chunks of a schedule that has no groups, each by a new writer."""
    chunks = plan.chunks or (Chunk((), {}, {}),)
    writers: list[WriterT] = []
    for chunk in chunks:
        writers.append(new())
        writers[-1].run(chunk)
    writers[-1].store_rest(chunks[-1])
    return writers
