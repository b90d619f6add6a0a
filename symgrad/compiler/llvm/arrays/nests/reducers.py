"""Reductions of lanes: blocked compensated sums, products, extremes.

A sum runs in blocks of `BLOCK_VECTORS` vectors. The sum of a block is added to the total with Knuth's TwoSum, which
accumulates the rounding error in a second number. So the error does not grow with the number of blocks; it stays the
error of one block, a few units in the last place. (D. E. Knuth, The Art of Computer Programming, vol. 2, section
4.2.2.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from symgrad.compiler.llvm.arrays.nests.access import Lanes
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter
from symgrad.compiler.llvm.equations.builder import Value, VectorBuilder
from symgrad.compiler.llvm.text.opcodes import Opcode

BLOCK_VECTORS = 64
"""The number of vectors in a block of a sum."""

BLOCK_ROWS = 128
"""The number of rows in a block of a sum over rows."""


def two_sum(b: VectorBuilder, s: Value, c: Value, x: Value) -> tuple[Value, Value]:
    """Return s + x, and c plus the rounding error of this addition."""
    t = b.add(s, x)
    back = b.sub(t, s)
    lost = b.add(b.sub(s, b.sub(t, back)), b.sub(x, back))
    return t, b.add(c, lost)


@dataclass(frozen=True, slots=True)
class Reducer:
    """One reduction. Its state is a value and, for a sum, an accumulated rounding error.

    Args:
        combine: sum, max, min or prod.
        wide: whether the values are integers (always in double).
    """

    combine: str
    wide: bool

    @property
    def is_sum(self) -> bool:
        """Whether the state has a rounding error."""
        return self.combine == "sum"

    def builder(self, region: BlockWriter) -> VectorBuilder:
        return region.wide if self.wide else region.b

    def identity(self, region: BlockWriter) -> str:
        """Return the identity element."""
        b = self.builder(region)
        start = {"sum": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}[self.combine]
        return b.const(start).text

    def initial_error(self) -> list[Value]:
        """Return the initial rounding error of the state, if it has one."""
        return [Value("zeroinitializer", False, None)] if self.is_sum else []

    def combine_rounded(self, region: BlockWriter, old: Value, value: Value) -> Value:
        """Combine two values, with ordinary rounding."""
        b = self.builder(region)
        if self.combine == "sum":
            return b.add(old, value)
        if self.combine == "prod":
            return b.mul(old, value)
        # In this order a NaN is kept, and the dependence on the previous comparison is shortest.
        return b.maximum(value, old) if self.combine == "max" else b.minimum(value, old)

    def fold(self, lanes: Lanes, factors: list[Value], old: Value) -> Value:
        """Add a product of factors to the value of a block; inactive lanes change nothing."""
        b = self.builder(lanes.region)
        *first, last = factors
        if self.is_sum and first and lanes.mask is None:
            return b.fma(reduce(b.mul, first), last, old)
        value = reduce(b.mul, factors)
        if lanes.mask is not None:
            value = b.select(
                Value(lanes.mask, True, None), value, Value(self.identity(lanes.region), False, None)
            )
        return self.combine_rounded(lanes.region, old, value)

    def join(self, region: BlockWriter, state: list[Value], value: Value) -> list[Value]:
        """Add the value of a block to a state."""
        if not self.is_sum:
            return [self.combine_rounded(region, state[0], value)]
        return list(two_sum(self.builder(region), state[0], state[1], value))

    def total(self, region: BlockWriter, state: list[Value]) -> Value:
        """Return the value of a state."""
        if len(state) == 1:
            return state[0]
        b = self.builder(region)
        s, c = state
        # If the sum is infinite, its rounding error is NaN.
        return b.select(b.isnan(c), s, b.add(s, c))

    def reduce_lanes(self, region: BlockWriter, state: list[Value]) -> Value:
        """Combine the lanes of a state; return the result in all lanes."""
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
