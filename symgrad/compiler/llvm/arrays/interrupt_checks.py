"""Whether to go on: loops over more than memory holds may take hours, and end when Ctrl-C arrives.

The sum over all pairs of a million points is such a loop; one that reads or writes an array everywhere is not. Every
so much work it asks Python, which answers in the main thread alone. A loop that ends early leaves what it computes
unfinished, and whatever runs after it computes with that; the exception that Python has set then takes its place.
"""

from __future__ import annotations

from math import prod

from symgrad.compiler.llvm.arrays.step_writer import StepWriter
from symgrad.compiler.llvm.arrays.symbol_names import STOPPED
from symgrad.compiler.llvm.text.module import FunctionDeclaration, Global, Item
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.lowering.arrays.index import flat
from symgrad.compiler.lowering.arrays.nests import Nest

__all__ = ["check_in_lanes", "check_in_rows", "interrupt_items", "may_run_long"]

_VALUES_BETWEEN_CHECKS = 2**27
"""Values that are computed between two questions: from some hundredths of a second to some seconds."""

_ROWS, _LANES = 2**10, 2**22
"""How many rows, and lanes of one row, are computed before they are counted."""

_COUNTDOWN = "@array.left"


def may_run_long(nest: Nest) -> bool:
    """Tell whether the loops of a nest may take longer than an array is that it reads or writes."""
    places = [index for _, index in nest.loads]
    places += [flat(m.place, m.task.shape) for m in nest.members if m.stored]
    if any(len(index.terms) == len(nest.loops) for index in places):
        return False
    known = [size for size in nest.loops if isinstance(size, int)]
    return len(known) < len(nest.loops) or prod(known) > _VALUES_BETWEEN_CHECKS


def interrupt_items() -> list[Item]:
    """Return what the module of a program needs that asks."""
    return [
        Global(_COUNTDOWN[1:], "i64", str(_VALUES_BETWEEN_CHECKS), variable=True),
        FunctionDeclaration(STOPPED, "i32", ()),
    ]


def check_in_rows(fn: StepWriter, counter: str, extent: str) -> None:
    """Ask at some rows of the last loop but one, whose own loop is so long."""
    least = fn.declarations.declare("llvm.umin.i64", "i64", "i64", "i64")
    counted = fn.entry.scalar(Opcode.call("i64", least, "i64", "i64"), extent, str(_LANES))
    _check_every(fn, counter, _ROWS, fn.entry.binary("mul", counted, str(_ROWS)))


def check_in_lanes(fn: StepWriter, counter: str) -> None:
    """Ask at some places of the inner loop; the counter is that of the lanes to come."""
    _check_every(fn, counter, _LANES, str(_LANES))


def _check_every(fn: StepWriter, counter: str, apart: int, work: str) -> None:
    fn.asks = True
    count, tired, leave, go = (fn.label(name) for name in ("count", "tired", "leave", "go"))
    less, store = (
        Opcode.compare("icmp", "slt", "i64"),
        f"store atomic i64 %s, ptr {_COUNTDOWN} monotonic, align 8",
    )
    rest = fn.put(Opcode.binary("and", "i64"), counter, str(apart - 1), name=f"%{count}.rest")
    fn.branch(fn.put(Opcode.compare("icmp", "eq", "i64"), rest, "0", name=f"%{count}.now"), count, go)
    fn.start(count)
    # Other threads may count at the same time: then some work is not counted.
    before = fn.put(f"load atomic i64, ptr {_COUNTDOWN} monotonic, align 8", name=f"%{count}.before")
    left = fn.put(Opcode.binary("sub", "i64"), before, work, name=f"%{count}.left")
    fn.put(store, left)
    fn.branch(fn.put(less, left, "0", name=f"%{count}.done"), tired, go)
    fn.start(tired)
    fn.put(store, str(_VALUES_BETWEEN_CHECKS))
    stopped = fn.put(Opcode.call("i32", f"@{STOPPED}"), name=f"%{tired}.stopped")
    fn.branch(fn.put(Opcode.compare("icmp", "ne", "i32"), stopped, "0", name=f"%{tired}.leaves"), leave, go)
    fn.start(leave)
    fn.put(Opcode.ret())
    fn.start(go)
