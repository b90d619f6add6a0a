"""Ctrl-C checks in long loops.

A loop whose index space is larger than any array it accesses may run for hours, such as the sum over all pairs of a
million points. Such a loop counts its work, and at intervals calls Python, which handles Ctrl-C in the main thread
only. A loop that ends early leaves an unfinished result, and later steps compute with it; in the end Python raises the
exception instead of returning the results.
"""

from __future__ import annotations

from math import prod

from symgrad.compiler.llvm.arrays.step_writer import StepWriter
from symgrad.compiler.llvm.arrays.symbol_names import STOPPED
from symgrad.compiler.llvm.text.module import FunctionDeclaration, Global, Item
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.arrays.index import flat
from symgrad.compiler.lowering.arrays.nests import Nest
from symgrad.compiler.lowering.contractions import estimate
from symgrad.ir.body import Body
from symgrad.ir.sizes import size_product
from symgrad.ir.traverse import topological

_VALUES_BETWEEN_CHECKS = 2**27
"""The number of values that are computed between two checks, which takes from some hundredths of a second to some
seconds."""

_ROWS, _LANES = 2**10, 2**22
"""The work is counted after so many rows, or so many lanes of one row."""

_COUNTDOWN = "@array.left"


def may_run_long(nest: Nest) -> bool:
    """Return whether a nest may run long: no array that it accesses is as large as its index space."""
    places = [index for _, index in nest.loads]
    places += [flat(m.place, m.task.shape) for m in nest.members if m.stored]
    if any(len(index.terms) == len(nest.loops) for index in places):
        return False
    known = [size for size in nest.loops if isinstance(size, int)]
    return len(known) < len(nest.loops) or prod(known) > _VALUES_BETWEEN_CHECKS


def interrupt_items() -> list[Item]:
    """Return the counter and the declaration that a module with checks needs."""
    return [
        Global(_COUNTDOWN[1:], "i64", str(_VALUES_BETWEEN_CHECKS), variable=True),
        FunctionDeclaration(STOPPED, "i32", ()),
    ]


def check_in_rows(fn: StepWriter, counter: str, extent: str) -> None:
    """Check every `_ROWS` rows of the last outer loop; ``extent`` is the length of the inner loop."""
    least = fn.declarations.declare("llvm.umin.i64", "i64", "i64", "i64")
    counted = fn.entry.scalar(Opcode.call("i64", least, "i64", "i64"), extent, str(_LANES))
    _check_every(fn, counter, _ROWS, fn.entry.binary("mul", counted, str(_ROWS)))


def check_in_lanes(fn: StepWriter, counter: str) -> None:
    """Check every `_LANES` lanes of the inner loop; ``counter`` is the counter of the next lanes."""
    _check_every(fn, counter, _LANES, str(_LANES))


def check_in_steps(fn: StepWriter, counter: str, body: Body) -> None:
    """Check every `_ROWS` steps of a recurrence, whose number is the counter."""
    values = sum(estimate(size_product(n.shape)) for n in topological(body.results))
    _check_every(fn, counter, _ROWS, str(_ROWS * min(values, _LANES)))


def _check_every(fn: StepWriter, counter: str, apart: int, work: str) -> None:
    fn.asks = True
    names = "count", "tired", "leave", "again", "go"
    count, tired, leave, again, go = map(fn.label, names)
    less, store = (
        Opcode.compare("icmp", "slt", "i64"),
        f"store atomic i64 %s, ptr {_COUNTDOWN} monotonic, align 8",
    )
    rest = fn.put(Opcode.binary("and", "i64"), counter, str(apart - 1), name=f"%{count}.rest")
    fn.branch(fn.put(Opcode.compare("icmp", "eq", "i64"), rest, "0", name=f"%{count}.now"), count, go)
    fn.start(count)
    # Another thread may count at the same time: then some work is lost from the count.
    before = fn.put(f"load atomic i64, ptr {_COUNTDOWN} monotonic, align 8", name=f"%{count}.before")
    left = fn.put(Opcode.binary("sub", "i64"), before, work, name=f"%{count}.left")
    fn.put(store, left)
    fn.branch(fn.put(less, left, "0", name=f"%{count}.done"), tired, go)
    fn.start(tired)
    stopped = fn.put(Opcode.call("i32", f"@{STOPPED}"), name=f"%{tired}.stopped")
    fn.branch(
        fn.put(Opcode.compare("icmp", "ne", "i32"), stopped, "0", name=f"%{tired}.leaves"), leave, again
    )
    fn.start(leave)  # the count stays used up, so that the loops around this one end at their next check
    fn.put(Opcode.ret())
    fn.start(again)
    fn.put(store, str(_VALUES_BETWEEN_CHECKS))
    fn.jump(go)
    fn.start(go)
