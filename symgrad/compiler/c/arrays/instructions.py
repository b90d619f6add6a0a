"""Functions of a module for one lane: their blocks, and what each instruction is made of.

A vector of one lane is a number: that an instruction puts it into a vector, or takes it out, says nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.compiler.c.statements import code_of
from symgrad.compiler.llvm.text.instructions import Instruction, Splat, flatten_lines
from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.opcodes import Label, Opcode, unwrap_single_lane
from symgrad.support.errors import InternalError

__all__ = ["BasicBlock", "ReadFunction", "ReadOp", "is_integer", "read_function"]

_SAME = {"insertelement": 1, "shufflevector": 0, "extractelement": 0}
"""Instructions whose value is one of their operands, and which."""


@dataclass(frozen=True, slots=True)
class ReadOp:
    """An instruction.

    Args:
        name: of its value, empty if it gives none.
        code: what it does: add, load, call.
        kind: the type of its value; of a store, that of the value that is stored; of an address, of the elements.
        operands: names and numbers.
        how: the kind of comparison, the function that is called, or as it says in `Opcode`.
        kinds: the types of the operands, where they can differ.
        ways: of a value that depends on the block before: values by blocks.
    """

    name: str
    code: str
    kind: str
    operands: tuple[str, ...] = ()
    how: str = ""
    kinds: tuple[str, ...] = ()
    ways: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def called(self) -> str:
        """The function that is called, if one is."""
        return self.how if self.code == "call" else ""

    @property
    def compares(self) -> bool:
        """Whether it says how two numbers compare."""
        return self.code in ("icmp", "fcmp")

    def read(self) -> Iterable[str]:
        """What it reads."""
        return self.ways.values() if self.code == "phi" else self.operands


@dataclass(slots=True)
class BasicBlock:
    """Instructions that run one after the other.

    Args:
        label: its name.
        phis: values that depend on the block before.
        ops: what it does.
        goes: the blocks after it: none if it returns.
        test: what decides between two of them.
        gives: what it returns.
    """

    label: str
    phis: list[ReadOp] = field(default_factory=list[ReadOp])
    ops: list[ReadOp] = field(default_factory=list[ReadOp])
    goes: tuple[str, ...] = ()
    test: str = ""
    gives: str = ""


@dataclass(frozen=True, slots=True)
class ReadFunction:
    """A function.

    Args:
        name: what the module calls it.
        gives: the type of its value.
        takes: its parameters: type and name.
        blocks: its blocks, those that can be reached, in the order of the text.
    """

    name: str
    gives: str
    takes: Sequence[tuple[str, str]]
    blocks: Sequence[BasicBlock]

    def ops(self) -> Iterable[ReadOp]:
        """All instructions."""
        for block in self.blocks:
            yield from block.phis
            yield from block.ops


def read_function(function: Function) -> ReadFunction:
    """Return what a function consists of.

    Raises:
        InternalError: if a line of it is text alone.
    """
    return _FunctionReader().read(function)


class _FunctionReader:
    """Reads one function; what is another value under a new name has that one's name."""

    def __init__(self) -> None:
        self._same: dict[str, str] = {}

    def read(self, function: Function) -> ReadFunction:
        blocks = [BasicBlock("entry")]
        for line in flatten_lines(function.body):
            if isinstance(line, Instruction):
                self._line(line, code_of(line), blocks[-1])
            elif not isinstance(line, Label):
                raise InternalError(f"no C for the line {line!r}")
            elif line.name != "entry":
                blocks.append(BasicBlock(line.name))
        takes = [(kind, name) for kind, _, name in (p.partition(" ") for p in function.parameters)]
        return ReadFunction(function.name, function.returns, takes, self._reached(blocks))

    def _value(self, operand: str) -> str:
        return self._same.get(operand, operand.digits if isinstance(operand, Splat) else operand)

    def _line(self, line: Instruction, code: Opcode, block: BasicBlock) -> None:
        name, op, labels = line.name, code.op, code.labels
        if op == "phi":
            block.phis.append(
                ReadOp(
                    name,
                    op,
                    unwrap_single_lane(code.kind),
                    ways=dict(zip(labels, line.operands, strict=True)),
                )
            )
            return
        operands = tuple(map(self._value, line.operands))
        if op == "ret":
            block.gives = "".join(operands)
        elif op == "br" and operands in ((), ("true",), ("false",)):
            block.goes = (labels[operands == ("false",)],)
        elif op == "br":
            block.test, block.goes = operands[0], labels
        elif op in _SAME:
            self._same[name] = operands[_SAME[op]]
        else:
            same = _known(op, code.how, operands)
            if same is None:
                kinds = tuple(map(unwrap_single_lane, code.kinds))
                block.ops.append(ReadOp(name, op, unwrap_single_lane(code.kind), operands, code.how, kinds))
            else:
                self._same[name] = same

    def _reached(self, blocks: Sequence[BasicBlock]) -> list[BasicBlock]:
        """The blocks that can be reached, in which every name is that of a value."""
        by_label = {b.label: b for b in blocks}
        reached, stack = {blocks[0].label}, [blocks[0]]
        while stack:
            for label in stack.pop().goes:
                if label not in reached:
                    reached.add(label)
                    stack.append(by_label[label])
        kept = [b for b in blocks if b.label in reached]
        for block in kept:
            before = {b.label for b in kept if block.label in b.goes}
            block.phis = [
                ReadOp(
                    p.name, p.code, p.kind, ways={b: self._value(v) for b, v in p.ways.items() if b in before}
                )
                for p in block.phis
            ]
        return kept


_ORDER = {
    "eq": int.__eq__, "ne": int.__ne__, "slt": int.__lt__, "sle": int.__le__, "sgt": int.__gt__, "sge": int.__ge__,
}  # fmt: skip


def _known(op: str, how: str, operands: tuple[str, ...]) -> str | None:
    """Return a value that is known before the code runs, or another one that it is."""
    match op, operands:
        case "select", ("true", a, _):
            return a
        case "select", ("false", _, b):
            return b
        case "or", ("false", a):
            return a
        case "mul", (a, "1"):
            return a
        case "icmp", (a, b) if how in _ORDER and is_integer(a) and is_integer(b):
            return str(_ORDER[how](int(a), int(b))).lower()
        case _:
            return None


def is_integer(text: str) -> bool:
    """Tell whether an operand is a whole number."""
    return text.removeprefix("-").isdecimal()
