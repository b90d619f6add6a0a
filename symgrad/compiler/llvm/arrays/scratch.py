"""The function that callers run before the program: it computes the scratch memory and checks the sizes.

Compiled code computes with sizes in 64 bits without overflow checks: indices are right modulo 2**64. This is correct if
no array has more entries than an array can have (`symgrad/ir/bounds.py`), and no other value computed from sizes
exceeds 64 bits. The function checks both exactly, once for each call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from symgrad.compiler.llvm.arrays.nests.access import storage_of
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, SizeValues
from symgrad.compiler.llvm.arrays.symbol_names import NEGATIVE, SCRATCH, TOO_LARGE
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.module import Function, FunctionDeclaration, Item, Linkage
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.ir.bounds import LARGEST, MOST_ENTRIES
from symgrad.ir.sizes import Shape, Size, extent_text, names_of, parts_of, size_product
from symgrad.support.errors import ShapeError

_PAIR = "{ i64, i1 }"
"""A number, and whether it overflowed."""


@dataclass(frozen=True, slots=True)
class ProgramSizes:
    """The sizes that a program uses.

    Args:
        names: the size names, in the order of the table of sizes.
        lengths: the lengths of axes that are negative for some sizes.
        shapes: the shapes of all arrays, in memory or not.
        numbers: the sizes that are used as numbers in the formula.
        index_sizes: the sizes from which indices are computed, added while code is written.
    """

    names: Sequence[str]
    lengths: Sequence[Size]
    shapes: Collection[Shape]
    numbers: Collection[Size]
    index_sizes: dict[Size, None]


def slot_offsets(
    memory: Memory, region: BlockWriter, sizes: SizeValues, real: FloatType
) -> tuple[list[str], str]:
    """Return the offsets of the slots, and the end of the last slot."""
    found: list[str] = []
    end = "0"
    for slot in memory.slots:
        found.append(end)
        needs: dict[Size, None] = {}
        for array in slot.arrays:
            needs[size_product([array.count, storage_of(array, real).itemsize])] = None
        largest = ""
        for size in needs:
            here = sizes(size)
            if not largest:
                largest = here
                continue
            largest = region.select(region.compare("sgt", here, largest), here, largest)
        up = region.add(largest, "63")
        whole = region.binary("and", up, "-64")
        end = region.add(end, whole)
    return found, end


def scratch_function(
    memory: Memory,
    program_sizes: ProgramSizes,
    real: FloatType,
    width: int,
    declarations: Declarations,
    linkage: Linkage,
) -> list[Item]:
    """Return the function, whose argument is the table of sizes, and the declarations of the functions that it calls.

    The function returns a number of bytes as i64, `TOO_LARGE` or `NEGATIVE`.

    Raises:
        ShapeError: if a number is too large for every call.
    """
    region = _OverflowCheckedWriter(real, width, declarations)
    sizes = SizeValues(program_sizes.names, region)
    _, end = slot_offsets(memory, region, sizes, real)
    for size in program_sizes.numbers:
        sizes(size)
    for size in program_sizes.index_sizes:
        for part in parts_of(size):
            sizes(part)
    two = ("i64", "i64")
    least = Opcode.call("i64", "@llvm.smax.i64", *two)
    for shape in _dominating_shapes(program_sizes.shapes):
        count = "1"
        for size in shape:
            # An empty axis counts as 1, since the other axes must not be too long even then.
            known = str(max(size, 1)) if isinstance(size, int) else ""
            count = region.mul(count, known or region.scalar(least, sizes(size), "1"))
        region.refuse(region.compare("sgt", count, str(MOST_ENTRIES)))
    overflows = (f"llvm.{code}.with.overflow.i64" for code in ("sadd", "smul"))
    declared = [
        *(FunctionDeclaration(name, _PAIR, two) for name in overflows),
        FunctionDeclaration("llvm.smax.i64", "i64", two),
    ]
    negative = [
        _any_negative(region, map(sizes, some)) for some in (program_sizes.names, program_sizes.lengths)
    ]
    answer = region.select(negative[1], str(NEGATIVE), end)
    answer = region.select(region.refused, str(TOO_LARGE), answer)
    answer = region.select(negative[0], str(NEGATIVE), answer)
    lines = [*region.lines, Instruction("", Opcode.ret("i64"), (answer,))]
    return [Function(SCRATCH, "i64", ["ptr %sizes"], lines, linkage), *declared]


def _any_negative(region: BlockWriter, values: Iterable[str]) -> str:
    found = "false"
    for value in values:
        found = region.binary("or", found, region.compare("slt", value, "0"), "i1")
    return found


def _dominating_shapes(shapes: Iterable[Shape]) -> list[Shape]:
    """Return the shapes with named sizes that are not part of another shape.

    Every other shape has at most as many entries as one of these.
    """
    long = {tuple(sorted((s for s in shape if s != 1), key=str)) for shape in shapes}
    named = [shape for shape in long if names_of(*shape)]
    return sorted((s for s in named if not any(s != t and _is_part_of(s, t) for t in named)), key=str)


def _is_part_of(shape: Shape, other: Shape) -> bool:
    rest = list(other)
    for size in shape:
        if size not in rest:
            return False
        rest.remove(size)
    return True


class _OverflowCheckedWriter(BlockWriter):
    """Code with overflow checks."""

    def __init__(self, real: FloatType, width: int, declarations: Declarations) -> None:
        super().__init__(real, width, declarations, 0)
        self.refused = "false"

    def refuse(self, condition: str) -> None:
        self.refused = self.binary("or", self.refused, condition, "i1")

    def literal(self, value: int) -> str:
        if abs(value) > LARGEST:
            raise ShapeError(
                f"{extent_text(value)} among the sizes of a program is too large",
                expected="sizes below 2**63, also after arithmetic with them",
                cure="choose smaller numbers",
            )
        return str(value)

    def add(self, a: str, b: str) -> str:
        return self._exact("sadd", a, b) if "0" not in (a, b) else b if a == "0" else a

    def mul(self, a: str, b: str) -> str:
        return self._exact("smul", a, b) if "1" not in (a, b) else b if a == "1" else a

    def _exact(self, code: str, a: str, b: str) -> str:
        pair = self.scalar(Opcode.call(_PAIR, f"@llvm.{code}.with.overflow.i64", "i64", "i64"), a, b)
        self.refuse(self.scalar(Opcode.extract_value(_PAIR, 1), pair))
        return self.scalar(Opcode.extract_value(_PAIR, 0), pair)
