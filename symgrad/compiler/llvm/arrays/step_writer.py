"""Write functions on arrays: basic blocks, sizes as i64 arithmetic, straight-line code in two number formats.

A function is a list of lines and regions, and a region is a list of lines, too. While a loop is being written,
loop-invariant code is added to the region before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from typing import Any

from symgrad.compiler.llvm.equations.builder import Value, VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.instructions import Instruction, Line, LineGroup
from symgrad.compiler.llvm.text.module import Attributes, Function
from symgrad.compiler.llvm.text.opcodes import Label, Opcode
from symgrad.compiler.llvm.text.types import FLOAT64, FloatType
from symgrad.compiler.lowering.arrays.index import Index
from symgrad.ir.sizes import Size, SizeAtom


class BlockWriter:
    """Straight-line code of one block. Real numbers are in the kernel's format; integers are always in double.

    Args:
        first: the number of the first value of the block; the regions of a function number their values from different
            starts.
    """

    def __init__(self, real: FloatType, width: int, declarations: Declarations, first: int) -> None:
        self.b = VectorBuilder(real, width, declarations)
        self.wide = self.b if real is FLOAT64 else VectorBuilder(FLOAT64, width, declarations)
        self.b._count = first  # pyright: ignore[reportPrivateUsage]  (one numbering for both builders)
        if self.wide is not self.b:
            self.wide._count = first + 500_000  # pyright: ignore[reportPrivateUsage]  (one numbering for both builders)
            self.wide.lines = self.b.lines
        self.lines: list[Line] = self.b.lines

    def scalar(self, code: str, *operands: str) -> str:
        """Add an instruction that reads no memory; equal instructions are shared."""
        return self.b.emit(code, *operands).text

    def emit_load(self, code: str, *operands: str) -> str:
        """Add an instruction that reads memory."""
        return self.b.fresh(code, *operands).text

    def do(self, code: str, *operands: str) -> None:
        """Add an instruction without a value."""
        self.b.do(code, *operands)

    def binary(self, op: str, a: str, b: str, kind: str = "i64") -> str:
        """Add an instruction on two numbers."""
        return self.b.emit(Opcode.binary(op, kind), a, b).text

    def compare(self, how: str, a: str, b: str, kind: str = "i64") -> str:
        """Compare two integers."""
        return self.b.emit(Opcode.compare("icmp", how, kind), a, b).text

    def select(self, test: str, a: str, b: str, kind: str = "i64", mask: str = "i1") -> str:
        """Return one of two values."""
        return self.b.emit(Opcode.select(mask, kind), test, a, b).text

    def address(self, kind: str, base: str, index: str) -> str:
        """Return the address of an element of an array."""
        return self.b.emit(Opcode.address(kind), base, index).text

    def literal(self, value: int) -> str:
        """Return an integer as i64 modulo 2**64, since partial sums of an index may leave the range of the array."""
        return str((value + 2**63) % 2**64 - 2**63)

    def add(self, a: str, b: str) -> str:
        """Return the sum of two i64."""
        if a == "0" or b == "0":
            return b if a == "0" else a
        if _is_literal(a) and _is_literal(b):
            return self.literal(int(a) + int(b))
        return self.binary("add", a, b)

    def mul(self, a: str, b: str) -> str:
        """Return the product of two i64."""
        if a == "0" or b == "0":
            return "0"
        if a == "1" or b == "1":
            return b if a == "1" else a
        if _is_literal(a) and _is_literal(b):
            return self.literal(int(a) * int(b))
        return self.binary("mul", a, b)

    def convert(self, value: Value, wide: bool) -> Value:
        """Return numbers in the format ``wide``, converted if the two formats differ."""
        source, target = (self.b, self.wide) if wide else (self.wide, self.b)
        if source is target:
            return value
        if value.literal is not None:
            return target.const(float(value.literal))
        code = "fpext" if wide else "fptrunc"
        return target.emit(Opcode.convert(code, source.vector, target.vector), value.text)


def _is_literal(text: str) -> bool:
    return text.lstrip("-").isdigit()


class SizeValues:
    """Sizes as values of a function: literals, or arithmetic on the table of sizes in the entry block."""

    def __init__(self, names: Sequence[str], region: BlockWriter) -> None:
        self._names = list(names)
        self._region = region
        self._known: dict[Size, str] = {}

    def __call__(self, size: Size) -> str:
        if isinstance(size, int):
            return self._region.literal(size)
        found = self._known.get(size)
        if found is None:
            found = self._known[size] = self._named(size) if isinstance(size, str) else self._sum(size.terms)
        return found

    @property
    def used(self) -> Collection[Size]:
        """The sizes that the code uses, without literals."""
        return self._known.keys()

    def _named(self, name: str) -> str:
        at = self._region.address("i64", "%sizes", str(self._names.index(name)))
        return self._region.emit_load(Opcode.load("i64"), at)

    def _sum(self, terms: Sequence[tuple[Any, int]]) -> str:
        total = "0"
        for monomial, c in terms:
            product = self._region.literal(c)
            for atom in monomial:
                product = self._region.mul(product, self(atom) if isinstance(atom, str) else self._atom(atom))
            total = self._region.add(total, product)
        return total

    def _atom(self, atom: SizeAtom) -> str:
        r, a, b = self._region, self(atom.a), self(atom.b)
        if atom.op == "ceildiv":
            # sdiv rounds towards zero.
            above = r.compare("sgt", r.binary("srem", a, b), "0")
            return r.add(r.binary("sdiv", a, b), r.scalar(Opcode.convert("zext", "i1", "i64"), above))
        return r.select(r.compare("sgt" if atom.op == "max" else "slt", a, b), a, b)


class StepWriter:
    """Writes one function: ``void name(ptr %table, ptr %sizes)``; the table has the addresses of all arrays.

    A function in a loop that several steps share has the index of that loop as a third argument, ``i64 %turn``.

    Args:
        name: the name of the function.
        names: the size names, in the order of the table of sizes.
        real: the kernel's format.
        width: lanes in a vector.
        declarations: the functions that the module calls.
        turn: whether the outermost loop of the function is shared with other steps.
        standalone: whether the function runs without Python.
    """

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        real: FloatType,
        width: int,
        declarations: Declarations,
        *,
        turn: bool = False,
        standalone: bool = False,
    ) -> None:
        self.name = name
        self.turn = turn
        self.real = real
        self.width = width
        self.declarations = declarations
        self._regions = count(1)
        self._labels = count()
        self.code: list[Line | BlockWriter] = []
        self.entry = self.region()
        self.size = SizeValues(names, self.entry)
        self.block = "entry"
        self._bases: dict[int, str] = {}
        self.standalone = standalone
        self.asks = False  # whether it checks for Ctrl-C
        self.factors: set[str] = set()  # the ops on matrix factors that it calls
        self.products: set[tuple[bool, bool]] = set()  # the layouts of the matrix products that it calls

    def region(self) -> BlockWriter:
        """Add an empty region here."""
        made = BlockWriter(self.real, self.width, self.declarations, next(self._regions) * 1_000_000)
        self.code.append(made)
        return made

    def label(self, hint: str) -> str:
        """Return a new block name."""
        return f"{hint}.{next(self._labels)}"

    def start(self, label: str) -> None:
        """Start a block."""
        self.code.append(Label(label))
        self.block = label

    def put(self, code: str, *operands: str, name: str = "") -> str:
        """Add an instruction here, and return the name of its value."""
        self.code.append(Instruction(name, code, operands))
        return name

    def jump(self, label: str) -> None:
        """Jump to a block."""
        self.put(Opcode.jump(label))

    def branch(self, test: str, then: str, other: str) -> None:
        """Jump to one of two blocks by a condition."""
        self.put(Opcode.branch(then, other), test)

    def reserve_lines(self) -> LineGroup:
        """Reserve a place for instructions that read later values, such as phis."""
        made = LineGroup()
        self.code.append(made)
        return made

    def base(self, k: int) -> str:
        """Return the address of array k of the table."""
        if k not in self._bases:
            at = self.entry.address("ptr", "%table", str(k))
            self._bases[k] = self.entry.emit_load(Opcode.load("ptr"), at)
        return self._bases[k]

    def position(self, region: BlockWriter, index: Index, loops: Sequence[str]) -> str:
        """Return the value of an index.

        Args:
            region: the region that computes it.
            index: the index, affine in the loop counters.
            loops: the loop counters.
        """
        total = self.size(index.offset)
        for k, c in index.terms:
            total = region.add(total, region.mul(loops[k], self.size(c)))
        return total

    def function(self) -> Function:
        """Return the function."""
        lines: list[Line] = [Label("entry")]
        for part in self.code:
            lines += part.lines if isinstance(part, BlockWriter) else [part]
        lines.append(Instruction("", Opcode.ret()))
        parameters = ["ptr %table", "ptr %sizes", *(["i64 %turn"] if self.turn else [])]
        return Function(self.name, "void", parameters, lines, attributes=Attributes.REALIGNED)
