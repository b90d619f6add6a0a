"""Opcodes: the text of instructions. The types and names that it contains are also fields, so it is never parsed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache


def unwrap_single_lane(kind: str) -> str:
    """Return the element type of a vector of one lane; any other type unchanged.

    Example:
        >>> unwrap_single_lane("<1 x double>"), unwrap_single_lane("i64")
        ('double', 'i64')
    """
    return kind[5:-1] if kind.startswith("<1 x ") else kind


def member_types(kind: str) -> list[str]:
    """Return the member types of a structure; for any other type the type itself.

    Example:
        >>> member_types("{ <1 x float>, <1 x float> }")
        ['<1 x float>', '<1 x float>']
    """
    return kind[2:-2].split(", ") if kind.startswith("{") else [kind]


class Label(str):
    """The line that starts a basic block.

    Example:
        >>> Label("entry"), Label("entry").name
        ('entry:', 'entry')
    """

    __slots__ = ("name",)

    name: str

    def __new__(cls, name: str) -> Label:
        self = super().__new__(cls, f"{name}:")
        self.name = name
        return self


class Opcode(str):
    """The text of an instruction, with ``%s`` for every operand (`Instruction.code`).

    Attributes:
        op: the operation: fadd, load, call.
        kind: the type of its value; for a store, the type of the stored value; for getelementptr, the type of the
            elements.
        kinds: the types of its operands.
        how: the predicate of a comparison, the called function, or the index of a member.
        labels: the target blocks of a branch, or the source blocks of a phi.

    Example:
        >>> code = Opcode.compare("icmp", "slt", "i64")
        >>> code, code.how, code.kinds
        ('icmp slt i64 %s, %s', 'slt', ('i64', 'i64'))
    """

    __slots__ = ("how", "kind", "kinds", "labels", "op")

    op: str
    kind: str
    kinds: tuple[str, ...]
    how: str
    labels: tuple[str, ...]

    def __new__(
        cls,
        text: str,
        op: str,
        kind: str,
        kinds: tuple[str, ...] = (),
        *,
        how: str = "",
        labels: tuple[str, ...] = (),
    ) -> Opcode:
        self = super().__new__(cls, text)
        self.op, self.kind, self.kinds, self.how, self.labels = op, kind, kinds, how, labels
        return self

    # arithmetic

    @staticmethod
    @cache
    def unary(op: str, kind: str) -> Opcode:
        """Operation on one number: fneg."""
        return Opcode(f"{op} {kind} %s", op, kind, (kind,))

    @staticmethod
    @cache
    def binary(op: str, kind: str) -> Opcode:
        """Operation on two numbers: fadd."""
        return Opcode(f"{op} {kind} %s, %s", op, kind, (kind, kind))

    @staticmethod
    @cache
    def compare(op: str, how: str, kind: str) -> Opcode:
        """Comparison of two numbers: icmp or fcmp."""
        lanes, times, _ = kind.rpartition(" x ")
        return Opcode(
            f"{op} {how} {kind} %s, %s", op, f"{lanes}{times}i1{'>' * bool(times)}", (kind, kind), how=how
        )

    @staticmethod
    @cache
    def select(mask: str, kind: str) -> Opcode:
        """Choice of one of two values by a mask."""
        return Opcode(f"select {mask} %s, {kind} %s, {kind} %s", "select", kind, (mask, kind, kind))

    @staticmethod
    @cache
    def convert(op: str, source: str, to: str) -> Opcode:
        """Conversion to another type: sitofp."""
        return Opcode(f"{op} {source} %s to {to}", op, to, (source,))

    # parts of vectors and structures

    @staticmethod
    @cache
    def insert(vector: str, kind: str) -> Opcode:
        """Replace a lane. Operands: the vector, the value, the index of the lane."""
        return Opcode(
            f"insertelement {vector} %s, {kind} %s, i64 %s", "insertelement", vector, (vector, kind, "i64")
        )

    @staticmethod
    @cache
    def extract(vector: str, kind: str) -> Opcode:
        """Read a lane. Operands: the vector, the index of the lane."""
        return Opcode(f"extractelement {vector} %s, i64 %s", "extractelement", kind, (vector, "i64"))

    @staticmethod
    @cache
    def shuffle(vector: str, places: str, kind: str = "") -> Opcode:
        """Lanes of two vectors at constant indices; the result has type ``kind`` if its length differs."""
        return Opcode(
            f"shufflevector {vector} %s, {vector} %s, {places}",
            "shufflevector",
            kind or vector,
            (vector,) * 2,
        )

    @staticmethod
    @cache
    def insert_value(structure: str, place: int) -> Opcode:
        """Replace a member of a structure."""
        kind = member_types(structure)[place]
        text = f"insertvalue {structure} %s, {kind} %s, {place}"
        return Opcode(text, "insertvalue", structure, (structure, kind), how=str(place))

    @staticmethod
    @cache
    def extract_value(structure: str, place: int) -> Opcode:
        """Read a member of a structure."""
        text = f"extractvalue {structure} %s, {place}"
        return Opcode(text, "extractvalue", member_types(structure)[place], (structure,), how=str(place))

    # memory

    @staticmethod
    @cache
    def alloca(kind: str, count: int = 0) -> Opcode:
        """Memory on the stack, for one value or for ``count`` values."""
        return Opcode(
            f"alloca {f'[{count} x {kind}]' if count else kind}",
            "alloca",
            kind,
            how=str(count) if count else "",
        )

    @staticmethod
    @cache
    def address(kind: str, index: str = "i64") -> Opcode:
        """Address of an element. Operands: the address of the array, and an index (or a vector of indices)."""
        return Opcode(f"getelementptr {kind}, ptr %s, {index} %s", "getelementptr", kind, ("ptr", index))

    @staticmethod
    @cache
    def load(kind: str, align: int = 0) -> Opcode:
        """Read memory at an address."""
        return Opcode(f"load {kind}, ptr %s{_aligned(align)}", "load", kind, ("ptr",))

    @staticmethod
    @cache
    def store(kind: str, align: int = 0) -> Opcode:
        """Write memory. Operands: the value, the address."""
        return Opcode(f"store {kind} %s, ptr %s{_aligned(align)}", "store", kind, (kind, "ptr"))

    # control

    @staticmethod
    @lru_cache(1024)  # there is no bound on the names of functions
    def call(gives: str, name: str, *kinds: str, align: int = 0) -> Opcode:
        """Call a function, whose name includes ``@``; pointer arguments are multiples of ``align``."""
        at = f" align {align}" if align else ""
        given = ", ".join(f"{kind}{at if kind.endswith(('ptr', 'ptr>')) else ''} %s" for kind in kinds)
        return Opcode(f"call {gives} {name}({given})", "call", gives, kinds, how=name[1:])

    @staticmethod
    def phi(kind: str, labels: Sequence[str]) -> Opcode:
        """One value for each preceding block."""
        ways = ", ".join(f"[ %s, %%{label} ]" for label in labels)
        return Opcode(f"phi {kind} {ways}", "phi", kind, (kind,) * len(labels), labels=tuple(labels))

    @staticmethod
    def jump(label: str) -> Opcode:
        """Jump to a block."""
        return Opcode(f"br label %{label}", "br", "void", labels=(label,))

    @staticmethod
    def branch(then: str, other: str) -> Opcode:
        """Jump to one of two blocks by a condition."""
        return Opcode(
            f"br i1 %s, label %%{then}, label %%{other}", "br", "void", ("i1",), labels=(then, other)
        )

    @staticmethod
    @cache
    def ret(kind: str = "void") -> Opcode:
        """Return, with a value unless the type is void."""
        return (
            Opcode("ret void", "ret", kind)
            if kind == "void"
            else Opcode(f"ret {kind} %s", "ret", kind, (kind,))
        )


def _aligned(align: int) -> str:
    return f", align {align}" if align else ""
