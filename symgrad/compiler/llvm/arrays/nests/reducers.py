"""Reductions of lanes: sums in blocks whose totals carry what rounding lost, extremes, products.

A sum runs in blocks of `BLOCK_VECTORS` vectors. The total of a block is added to the sum of all with Knuth's TwoSum,
which keeps the rounding error as a second number, so the error does not grow with the number of blocks: it is that of
one block, a few units in the last place, averaged over all. (D. E. Knuth, The Art of Computer Programming, vol. 2,
section 4.2.2.)
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.compiler.llvm.arrays.nests.access import Lanes
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter
from symgrad.compiler.llvm.equations.builder import Value, VectorBuilder
from symgrad.compiler.llvm.text.opcodes import Opcode

__all__ = ["BLOCK_VECTORS", "BLOCK_ROWS", "Reducer", "two_sum"]

BLOCK_VECTORS = 64
"""Vectors of a block of a sum."""

BLOCK_ROWS = 128
"""Rows of a block of a sum over rows."""


def two_sum(b: VectorBuilder, s: Value, c: Value, x: Value) -> tuple[Value, Value]:
    """Return s + x, and c with what the addition lost."""
    t = b.add(s, x)
    back = b.sub(t, s)
    lost = b.add(b.sub(s, b.sub(t, back)), b.sub(x, back))
    return t, b.add(c, lost)


@dataclass(frozen=True, slots=True)
class Reducer:
    """How values come together.

    Args:
        combine: sum, max, min or prod.
        wide: whether they are whole numbers (double, whatever the kernel's format).
    """

    combine: str
    wide: bool

    @property
    def is_sum(self) -> bool:
        """Whether a state has a second number: what rounding lost."""
        return self.combine == "sum"

    def builder(self, region: BlockWriter) -> VectorBuilder:
        return region.wide if self.wide else region.b

    def identity(self, region: BlockWriter) -> str:
        """What changes nothing."""
        b = self.builder(region)
        start = {"sum": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}[self.combine]
        return b.const(start).text

    def initial_error(self) -> list[Value]:
        """What a state has besides the value, at the start."""
        return [Value("zeroinitializer", False, None)] if self.is_sum else []

    def combine_rounded(self, region: BlockWriter, old: Value, value: Value) -> Value:
        """Return two values together, rounded."""
        b = self.builder(region)
        if self.combine == "sum":
            return b.add(old, value)
        if self.combine == "prod":
            return b.mul(old, value)
        # In this order a NaN among the values stays, and what has to wait for the last comparison is least.
        return b.maximum(value, old) if self.combine == "max" else b.minimum(value, old)

    def fold(self, lanes: Lanes, factors: list[Value], old: Value) -> Value:
        """Return the state of a block with one more product; lanes that are not there change nothing."""
        b = self.builder(lanes.region)
        *first, last = factors
        if self.is_sum and first and lanes.mask is None:
            value = first[0]
            for factor in first[1:]:
                value = b.mul(value, factor)
            return b.fma(value, last, old)
        value = factors[0]
        for factor in factors[1:]:
            value = b.mul(value, factor)
        if lanes.mask is not None:
            value = b.select(
                Value(lanes.mask, True, None), value, Value(self.identity(lanes.region), False, None)
            )
        return self.combine_rounded(lanes.region, old, value)

    def join(self, region: BlockWriter, state: list[Value], value: Value) -> list[Value]:
        """Return a state with the value of a block."""
        if not self.is_sum:
            return [self.combine_rounded(region, state[0], value)]
        return list(two_sum(self.builder(region), state[0], state[1], value))

    def total(self, region: BlockWriter, state: list[Value]) -> Value:
        """Return the value of a state."""
        if len(state) == 1:
            return state[0]
        b = self.builder(region)
        s, c = state
        # Where the sum is infinite, what it lost is NaN.
        return b.select(b.isnan(c), s, b.add(s, c))

    def reduce_lanes(self, region: BlockWriter, state: list[Value]) -> Value:
        """Return the lanes of a state together, in all lanes."""
        b = self.builder(region)
        parts = list(state)
        step = b.width // 2
        while step:
            order = ", ".join(f"i32 {k ^ step}" for k in range(b.width))
            code = Opcode.shuffle(b.vector, f"<{b.width} x i32> <{order}>")
            moved = [b.emit(code, part.text, "poison") for part in parts]
            parts = [
                self.combine_rounded(region, p, m) if i == 0 else b.add(p, m)
                for i, (p, m) in enumerate(zip(parts, moved, strict=True))
            ]
            step //= 2
        return self.total(region, parts)
