"""What instructions do: their text, made from types and names that whoever reads them gets back as they were given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

__all__ = ["Opcode", "Label", "unwrap_single_lane", "member_types"]


def unwrap_single_lane(kind: str) -> str:
    """Return the type of what a vector of one lane holds, of any other type itself.

    Example:
        >>> unwrap_single_lane("<1 x double>"), unwrap_single_lane("i64")
        ('double', 'i64')
    """
    return kind[5:-1] if kind.startswith("<1 x ") else kind


def member_types(kind: str) -> list[str]:
    """Return the types of what a structure holds; of any other type itself.

    Example:
        >>> member_types("{ <1 x float>, <1 x float> }")
        ['<1 x float>', '<1 x float>']
    """
    return kind[2:-2].split(", ") if kind.startswith("{") else [kind]


class Label(str):
    """The line that begins a block.

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
    """The text of an instruction with ``%s`` for every operand, as `Instruction` has it.

    Attributes:
        op: what it does: fadd, load, call.
        kind: the type of its value; of a store, that of what is stored; of an address, that of the elements.
        kinds: the types of its operands.
        how: the kind of a comparison, or the function that is called.
        labels: the blocks that it goes to, or that its operands come from.

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
        """Of one number: fneg."""
        return Opcode(f"{op} {kind} %s", op, kind, (kind,))

    @staticmethod
    @cache
    def binary(op: str, kind: str) -> Opcode:
        """Of two numbers: fadd."""
        return Opcode(f"{op} {kind} %s, %s", op, kind, (kind, kind))

    @staticmethod
    @cache
    def compare(op: str, how: str, kind: str) -> Opcode:
        """Of two numbers: icmp or fcmp."""
        lanes, times, _ = kind.rpartition(" x ")
        return Opcode(
            f"{op} {how} {kind} %s, %s", op, f"{lanes}{times}i1{'>' * bool(times)}", (kind, kind), how=how
        )

    @staticmethod
    @cache
    def select(mask: str, kind: str) -> Opcode:
        """One of two values."""
        return Opcode(f"select {mask} %s, {kind} %s, {kind} %s", "select", kind, (mask, kind, kind))

    @staticmethod
    @cache
    def convert(op: str, source: str, to: str) -> Opcode:
        """A value as one of another type: sitofp."""
        return Opcode(f"{op} {source} %s to {to}", op, to, (source,))

    # parts of vectors and structures

    @staticmethod
    @cache
    def insert(vector: str, kind: str) -> Opcode:
        """A vector with another lane: of the vector, the value and the number of the lane."""
        return Opcode(
            f"insertelement {vector} %s, {kind} %s, i64 %s", "insertelement", vector, (vector, kind, "i64")
        )

    @staticmethod
    @cache
    def extract(vector: str, kind: str) -> Opcode:
        """A lane: of a vector and the number of the lane."""
        return Opcode(f"extractelement {vector} %s, i64 %s", "extractelement", kind, (vector, "i64"))

    @staticmethod
    @cache
    def shuffle(vector: str, places: str, kind: str = "") -> Opcode:
        """Lanes of two vectors at places that are known; of a vector of another type, if one is given."""
        return Opcode(
            f"shufflevector {vector} %s, {vector} %s, {places}",
            "shufflevector",
            kind or vector,
            (vector,) * 2,
        )

    @staticmethod
    @cache
    def insert_value(structure: str, place: int) -> Opcode:
        """A structure with another value at a place."""
        kind = member_types(structure)[place]
        text = f"insertvalue {structure} %s, {kind} %s, {place}"
        return Opcode(text, "insertvalue", structure, (structure, kind), how=str(place))

    @staticmethod
    @cache
    def extract_value(structure: str, place: int) -> Opcode:
        """The value of a structure at a place."""
        text = f"extractvalue {structure} %s, {place}"
        return Opcode(text, "extractvalue", member_types(structure)[place], (structure,), how=str(place))

    # memory

    @staticmethod
    @cache
    def alloca(kind: str, count: int = 0) -> Opcode:
        """Memory of a function's own, for some values if their count is given."""
        return Opcode(
            f"alloca {f'[{count} x {kind}]' if count else kind}",
            "alloca",
            kind,
            how=str(count) if count else "",
        )

    @staticmethod
    @cache
    def address(kind: str, index: str = "i64") -> Opcode:
        """The address of an element: of that of an array, and an index; many of them for an index that is a vector."""
        return Opcode(f"getelementptr {kind}, ptr %s, {index} %s", "getelementptr", kind, ("ptr", index))

    @staticmethod
    @cache
    def load(kind: str, align: int = 0) -> Opcode:
        """What is at an address."""
        return Opcode(f"load {kind}, ptr %s{_aligned(align)}", "load", kind, ("ptr",))

    @staticmethod
    @cache
    def store(kind: str, align: int = 0) -> Opcode:
        """Of a value, and the address where it is to be."""
        return Opcode(f"store {kind} %s, ptr %s{_aligned(align)}", "store", kind, (kind, "ptr"))

    # control

    @staticmethod
    @lru_cache(1024)  # names of functions have no end
    def call(gives: str, name: str, *kinds: str, align: int = 0) -> Opcode:
        """A call; the name has ``@``, and addresses are known to be multiples of a number."""
        at = f" align {align}" if align else ""
        given = ", ".join(f"{kind}{at if kind.endswith(('ptr', 'ptr>')) else ''} %s" for kind in kinds)
        return Opcode(f"call {gives} {name}({given})", "call", gives, kinds, how=name[1:])

    @staticmethod
    def phi(kind: str, labels: Sequence[str]) -> Opcode:
        """A value for each block that one comes from."""
        ways = ", ".join(f"[ %s, %%{label} ]" for label in labels)
        return Opcode(f"phi {kind} {ways}", "phi", kind, (kind,) * len(labels), labels=tuple(labels))

    @staticmethod
    def jump(label: str) -> Opcode:
        """Go on in a block."""
        return Opcode(f"br label %{label}", "br", "void", labels=(label,))

    @staticmethod
    def branch(then: str, other: str) -> Opcode:
        """Go on in one of two blocks."""
        return Opcode(
            f"br i1 %s, label %%{then}, label %%{other}", "br", "void", ("i1",), labels=(then, other)
        )

    @staticmethod
    @cache
    def ret(kind: str = "void") -> Opcode:
        """Return, with a value if a type is given."""
        return (
            Opcode("ret void", "ret", kind)
            if kind == "void"
            else Opcode(f"ret {kind} %s", "ret", kind, (kind,))
        )


def _aligned(align: int) -> str:
    return f", align {align}" if align else ""
