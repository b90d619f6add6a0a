"""The inner loop of a nest: whole vectors, unrolled where a reduction is cheap, and a masked remainder.

A sum runs in blocks (`reducers.py`); the last block may be shorter. The blocks depend only on the length of a row, so
the sum of the row has the same bits at every position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.compiler.llvm.arrays.interrupt_checks import check_in_lanes
from symgrad.compiler.llvm.arrays.nests.access import Lanes, lane_indices, splat
from symgrad.compiler.llvm.arrays.nests.reducers import BLOCK_VECTORS, Reducer
from symgrad.compiler.llvm.arrays.step_writer import StepWriter
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.ir.sizes import Size

UNROLL = 4
"""The number of vectors in one iteration if a reduction is cheap. Each vector has its own partial sum, so that no
addition waits for another."""

Body = Callable[[Lanes, list[Value]], list[Value]]
"""The body of the loop: a function of the lanes and the partial results of the reducers that returns the new partial
results."""


def lane_loop(fn: StepWriter, size: Size, body: Callable[[Lanes], None]) -> None:
    """Write a loop over the lanes of a row without reductions."""

    def step(lanes: Lanes, _old: list[Value]) -> list[Value]:
        body(lanes)
        return []

    LaneLoop(fn, size, [], step, 1).run()


class LaneLoop:
    """Writes one inner loop.

    Args:
        fn: the function to write to.
        size: the length of the loop.
        reducers: its reductions.
        body: its body.
        unroll: the number of vectors of one iteration.
        asks: whether the loop checks for Ctrl-C, because it may run long.
    """

    def __init__(
        self,
        fn: StepWriter,
        size: Size,
        reducers: Sequence[Reducer],
        body: Body,
        unroll: int,
        *,
        asks: bool = False,
    ) -> None:
        self.fn = fn
        self.reducers = list(reducers)
        self.body = body
        self.size = size
        self.unroll = unroll if not isinstance(size, int) or size >= 2 * unroll * fn.width else 1
        self.asks = asks
        self.width = fn.width
        self.kinds = [f"<{fn.width} x {'double' if r.wide else fn.real.llvm}>" for r in self.reducers]

    def run(self) -> list[Value]:
        """Write the loop; return the result of each reducer, in all lanes."""
        w, many = self.width, self.unroll * self.width
        accs = [Value(r.identity(self.fn.entry), False, None) for r in self.reducers]
        states = [[a, *r.initial_error()] for a, r in zip(accs, self.reducers, strict=True)]
        if self.size == 0:
            return self._across(states)
        whole = self._rounded(w)
        most = self._rounded(many)
        blocks = any(r.is_sum for r in self.reducers) and not (
            isinstance(self.size, int) and self.size <= BLOCK_VECTORS * w
        )
        if not (isinstance(self.size, int) and self.size < many):
            if blocks:
                states, accs = self._blocks(states, accs, most)
            else:
                accs = self._vectors(accs, "0", most, self.unroll)
        if self.unroll > 1 and not (isinstance(self.size, int) and whole == most):
            accs = self._vectors(accs, most, whole, 1)
        if w > 1 and not (isinstance(self.size, int) and self.size % w == 0):
            accs = self._rest(accs, whole)
        if not blocks:
            return self._across([[a] for a in accs])
        if isinstance(self.size, int):
            return self._across(self._joined(states, accs))
        return self._by_length(states, accs)

    def _joined(self, states: list[list[Value]], accs: list[Value]) -> list[list[Value]]:
        region = self.fn.region()
        return [r.join(region, s, a) for r, s, a in zip(self.reducers, states, accs, strict=True)]

    def _across(self, states: list[list[Value]]) -> list[Value]:
        region = self.fn.region()
        return [r.reduce_lanes(region, s) for r, s in zip(self.reducers, states, strict=True)]

    def _by_length(self, states: list[list[Value]], accs: list[Value]) -> list[Value]:
        """Branch by the length: a row of one block has no error between blocks, which saves half of the work."""
        fn = self.fn
        short, long, out = fn.label("short"), fn.label("long"), fn.label("row")
        few = fn.entry.compare("sle", fn.size(self.size), str(BLOCK_VECTORS * self.width))
        fn.branch(few, short, long)
        fn.start(short)
        one = self._across([[a] for a in accs])
        fn.jump(out)
        fn.start(long)
        many = self._across(self._joined(states, accs))
        fn.jump(out)
        fn.start(out)
        return self._merged(out, [(short, one), (long, many)], self.kinds)

    def _rounded(self, step: int) -> str:
        if isinstance(self.size, int):
            return str(self.size - self.size % step)
        if step == 1:
            return self.fn.size(self.size)
        return self.fn.entry.binary("and", self.fn.size(self.size), f"-{step}")

    def _merged(
        self, out: str, ways: Sequence[tuple[str, Sequence[Value]]], kinds: Sequence[str]
    ) -> list[Value]:
        """Return the phis of values from several preceding blocks."""
        found: list[Value] = []
        for i, kind in enumerate(kinds):
            code = Opcode.phi(kind, [block for block, _ in ways])
            name = self.fn.put(code, *(values[i].text for _, values in ways), name=f"%{out}.{i}")
            found.append(Value(name, False, None))
        return found

    def _guard(self, start: str, stop: str, loop: str, out: str) -> bool:
        """Enter a loop unless it is empty; return whether the code checks at run time that it is not."""
        if isinstance(self.size, int):
            self.fn.jump(loop)
            return False
        self.fn.branch(self.fn.entry.compare("slt", start, stop), loop, out)
        return True

    def _vectors(self, accs: list[Value], start: str, stop: str, unroll: int) -> list[Value]:
        """Write the loop over whole vectors."""
        fn = self.fn
        before, loop, out = fn.block, fn.label("lanes"), fn.label("whole")
        guarded = self._guard(start, stop, loop, out)
        new = self._iterate(loop, [(before, start, accs)], stop, unroll, asks=self.asks)
        last = fn.block
        fn.branch(f"%{loop}.more", loop, out)
        fn.start(out)
        return self._merged(out, [(before, accs), (last, new)], self.kinds) if guarded else new

    def _iterate(
        self,
        loop: str,
        entries: list[tuple[str, str, list[Value]]],
        stop: str,
        unroll: int,
        *,
        asks: bool = False,
    ) -> list[Value]:
        """Write one iteration with its phis; return the partial results after it."""
        fn, w = self.fn, self.width
        fn.start(loop)
        phis = fn.reserve_lines()
        names = [[f"%{loop}.{i}.{u}" for u in range(unroll)] for i in range(len(self.reducers))]
        new: list[list[Value]] = [[] for _ in self.reducers]
        for u in range(unroll):
            region = fn.region()
            counter = region.add(f"%{loop}.i", str(u * w))
            old = [Value(n[u], False, None) for n in names]
            for parts, value in zip(new, self.body(Lanes(region, counter, None), old), strict=True):
                parts.append(value)
        after = fn.put(Opcode.binary("add", "i64"), f"%{loop}.i", str(unroll * w), name=f"%{loop}.next")
        fn.put(Opcode.compare("icmp", "slt", "i64"), after, stop, name=f"%{loop}.more")
        if asks:
            check_in_lanes(fn, after)
        last = fn.block
        blocks = [*(block for block, _, _ in entries), last]
        starts = (*(start for _, start, _ in entries), after)
        phis.append(Instruction(f"%{loop}.i", Opcode.phi("i64", blocks), starts))
        for i, (reducer, kind) in enumerate(zip(self.reducers, self.kinds, strict=True)):
            for u in range(unroll):
                # The first vector continues the partial result; the other vectors start from the identity.
                ways = [accs[i].text if u == 0 else reducer.identity(fn.entry) for _, _, accs in entries]
                phis.append(Instruction(names[i][u], Opcode.phi(kind, blocks), (*ways, new[i][u].text)))
        return [
            self._combine_parts(reducer, parts) for reducer, parts in zip(self.reducers, new, strict=True)
        ]

    def _combine_parts(self, reducer: Reducer, parts: list[Value]) -> Value:
        region = self.fn.region()
        while len(parts) > 1:
            parts = [
                reducer.combine_rounded(region, a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
        return parts[0]

    def _blocks(
        self, states: list[list[Value]], accs: list[Value], stop: str
    ) -> tuple[list[list[Value]], list[Value]]:
        """Write the loop over whole vectors in blocks; the last block is not yet added to the states."""
        fn = self.fn
        before, block, inner = fn.block, fn.label("block"), fn.label("lanes")
        ended, again, out = fn.label("blocked"), fn.label("again"), fn.label("whole")
        guarded = self._guard("0", stop, block, out)
        fn.start(block)
        phis = fn.reserve_lines()
        carried = [
            [Value(f"%{block}.{i}.{j}", False, None) for j in range(len(s))] for i, s in enumerate(states)
        ]
        region = fn.region()
        ahead = region.binary("add", f"%{block}.b", str(BLOCK_VECTORS * self.width))
        near = region.compare("ult", ahead, stop)
        end = region.select(near, ahead, stop)
        fn.jump(inner)
        new = self._iterate(inner, [(block, f"%{block}.b", accs)], end, self.unroll)
        fn.branch(f"%{inner}.more", inner, ended)
        fn.start(ended)
        fn.branch(near, again, out)
        fn.start(again)
        region = fn.region()
        joined = [r.join(region, s, a) for r, s, a in zip(self.reducers, carried, new, strict=True)]
        if self.asks:
            check_in_lanes(fn, end)
        last = fn.block
        fn.jump(block)
        ways = (before, last)
        phis.append(Instruction(f"%{block}.b", Opcode.phi("i64", ways), ("0", end)))
        for kind, here, first, later in zip(self.kinds, carried, states, joined, strict=True):
            for name, a, b in zip(here, first, later, strict=True):
                phis.append(Instruction(name.text, Opcode.phi(kind, ways), (a.text, b.text)))
        fn.start(out)
        if not guarded:
            return carried, new
        kinds = [k for k, s in zip(self.kinds, states, strict=True) for _ in s]
        first = [v for s in states for v in s] + accs
        later = [v for s in carried for v in s] + new
        merged = iter(self._merged(out, [(before, first), (ended, later)], [*kinds, *self.kinds]))
        found = [[next(merged) for _ in s] for s in states]
        return found, list(merged)

    def _rest(self, accs: list[Value], whole: str) -> list[Value]:
        """Write the masked remainder, which has fewer lanes than a vector."""
        fn, w = self.fn, self.width
        before, rest, out = fn.block, fn.label("rest"), fn.label("ended")
        extent = fn.size(self.size)
        guarded = self._guard(whole, extent, rest, out)
        fn.start(rest)
        left = splat(fn.entry, "i64", fn.entry.add(extent, fn.entry.mul(whole, "-1")))
        mask = fn.entry.compare("ult", lane_indices(w), left, f"<{w} x i64>")
        new = self.body(Lanes(fn.region(), whole, mask), accs)
        fn.jump(out)
        fn.start(out)
        return self._merged(out, [(before, accs), (rest, new)], self.kinds) if guarded else new
