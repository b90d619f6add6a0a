"""The values and addresses that are available at a point of a nest, and the block in which each is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.compiler.llvm.arrays.nests.access import Lanes, Storage, splat, storage_of
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, StepWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.lowering.arrays.index import Index
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.compiler.lowering.arrays.nests import Member, Nest
from symgrad.compiler.lowering.arrays.passes import Pair, Passes
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size


@dataclass(slots=True)
class _RowValues:
    """The available values of one of the rows that are computed together."""

    counters: Sequence[str]
    values: dict[Pair, Value] = field(default_factory=dict[Pair, Value])
    lanes: dict[Pair, Value] = field(default_factory=dict[Pair, Value])
    pointers: dict[tuple[int, Index], str] = field(default_factory=dict[tuple[int, Index], str])


class ValueTable:
    """The available values at the point where code is written.

    Args:
        fn: the function to write to.
        nest: the nest.
        passes: its passes.
        memory: the memory plan.
        materialized: the nodes that are in memory unless a member of the nest computes them.
    """

    def __init__(
        self,
        fn: StepWriter,
        nest: Nest,
        passes: Passes,
        memory: Memory,
        materialized: Mapping[Node, object],
    ) -> None:
        self.fn = fn
        self.nest = nest
        self.passes = passes
        self.memory = memory
        self.materialized = materialized
        self.row = fn.entry
        self.copy = 0  # index of the current row among those that are computed together
        self._number = 0
        self._rows: list[_RowValues] = [_RowValues(())]
        self._fixed = _RowValues(())  # values that are the same for all rows
        self._whole: dict[str, str] = {}  # the raw i64 of loaded integers
        self._streams: dict[tuple[int, Index], Storage] = {}  # sequential reads of the first pass

    def start_pass(self, number: int, region: BlockWriter) -> None:
        """Start a pass; code that is invariant in the inner loop goes to the region."""
        self._number = number
        self.row = region

    @property
    def counters(self) -> Sequence[str]:
        """The counters of the loops in the current row."""
        return self._rows[self.copy].counters

    def rows(self, counters: Sequence[Sequence[str]], region: BlockWriter) -> None:
        """Start rows, or continue after a loop, where the values computed inside the loop are not available."""
        self.row = region
        self.copy = 0
        self._rows = [_RowValues(c) for c in counters]

    def lanes(self) -> None:
        """Start a block of lanes without available values."""
        for row in (*self._rows, self._fixed):
            row.lanes = {}

    def set_reduced(self, member: Member, value: Value) -> None:
        """Record the result of a reduction over the inner loop."""
        self._rows[self.copy].values[member.task.node, member.place] = value

    def storage(self, k: int) -> Storage:
        """Return the storage format of array k."""
        return storage_of(self.memory.arrays[k], self.fn.real)

    def _region(self, pair: Pair, lanes: Lanes | None) -> BlockWriter:
        level = self.passes.levels[pair]
        if level.inner and lanes is not None:
            return lanes.region
        return self.row if level.outer else self.fn.entry

    def _known(self, pair: Pair) -> Value | None:
        return self._table(pair).get(pair)

    def _table(self, pair: Pair) -> dict[Pair, Value]:
        level = self.passes.levels[pair]
        row = self._rows[self.copy] if level.outer else self._fixed
        return row.lanes if level.inner else row.values

    def row_pointer(self, k: int, index: Index, storage: Storage) -> str:
        """Return the address of an element of array k for the current row."""
        known = (self._rows[self.copy] if index.terms else self._fixed).pointers
        pointer = known.get((k, index))
        if pointer is None:
            region = self.row if index.terms else self.fn.entry
            at = self.fn.position(region, index, self.counters)
            pointer = region.address(storage.element, self.fn.base(k), at)
            known[k, index] = pointer
        return pointer

    def lane_offsets(self, lanes: Lanes, step: Size) -> str:
        """Return the offset of each lane from the row, a vector of i64; ``step`` is the stride of lanes."""
        r, w = lanes.region, lanes.width
        if step == 1:
            return lanes.lane_counters()
        return r.binary("mul", lanes.lane_counters(), splat(r, "i64", self.fn.size(step)), f"<{w} x i64>")
