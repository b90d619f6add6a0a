"""Parse the functions of a module for one lane into basic blocks and instructions.

A vector of one lane is a number, so moving a number into or out of a vector is an alias.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.compiler.c.statements import code_of
from symgrad.compiler.llvm.text.instructions import Instruction, Splat, flatten_lines
from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.opcodes import Label, Opcode, unwrap_single_lane
from symgrad.support.errors import InternalError
from symgrad.support.traversal import walk

_SAME = {"insertelement": 1, "shufflevector": 0, "extractelement": 0}
"""Instructions whose value is an operand, and the index of that operand."""


@dataclass(frozen=True, slots=True)
class ReadOp:
    """An instruction.

    Args:
        name: the name of its value; empty if it has none.
        code: the operation: add, load, call.
        kind: the type of its value; for a store, the type of the stored value; for an address, the type of the
            elements.
        operands: names and numbers.
        how: the predicate of a comparison, the called function, or as in `Opcode`.
        kinds: the types of the operands, if they can differ.
        ways: for a phi, the value for each preceding block.
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
        """The called function; empty if the instruction is no call."""
        return self.how if self.code == "call" else ""

    @property
    def compares(self) -> bool:
        """Whether the instruction compares two numbers."""
        return self.code in ("icmp", "fcmp")

    def read(self) -> Iterable[str]:
        """Return the values that the instruction reads."""
        return self.ways.values() if self.code == "phi" else self.operands


@dataclass(slots=True)
class BasicBlock:
    """Instructions that run one after the other.

    Args:
        label: its label.
        phis: values that depend on the preceding block.
        ops: its other instructions.
        goes: its successors; empty if it returns.
        test: the condition that decides between two successors.
        gives: its return value.
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
        name: its name in the module.
        gives: the type of its value.
        takes: its parameters: type and name.
        blocks: its reachable blocks, in the order of the text.
    """

    name: str
    gives: str
    takes: Sequence[tuple[str, str]]
    blocks: Sequence[BasicBlock]

    def ops(self) -> Iterable[ReadOp]:
        """Yield all instructions."""
        for block in self.blocks:
            yield from block.phis
            yield from block.ops


def read_function(function: Function) -> ReadFunction:
    """Parse a function.

    Raises:
        InternalError: if a line is plain text.
    """
    return _FunctionReader().read(function)


class _FunctionReader:
    """Parses one function, and replaces aliases by their values."""

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
        """Return the reachable blocks, with aliases in phis replaced."""
        by_label = {b.label: b for b in blocks}
        labels = set(walk([blocks[0].label], lambda label: by_label[label].goes))
        reached = [b for b in blocks if b.label in labels]
        for block in reached:
            before = {b.label for b in reached if block.label in b.goes}
            block.phis = [
                ReadOp(
                    p.name, p.code, p.kind, ways={b: self._value(v) for b, v in p.ways.items() if b in before}
                )
                for p in block.phis
            ]
        return reached


_ORDER = {
    "eq": int.__eq__, "ne": int.__ne__, "slt": int.__lt__, "sle": int.__le__, "sgt": int.__gt__, "sge": int.__ge__,
}  # fmt: skip


def _known(op: str, how: str, operands: tuple[str, ...]) -> str | None:
    """Fold an instruction to a constant or to an operand, or return None."""
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
    """Tell whether an operand is an integer literal."""
    return text.removeprefix("-").isdecimal()
