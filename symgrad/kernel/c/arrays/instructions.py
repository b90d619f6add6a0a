"""Functions of a module for one lane, read from LLVM's text: their blocks, and what each instruction is made of.

A vector of one lane is a number: that an instruction puts it into a vector, or takes it out, says nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.errors import InternalError
from symgrad.llvm.text.module import Module

__all__ = ["BasicBlock", "ReadFunction", "ReadOp", "function_texts", "read_function"]

_ONE = re.compile(r"<1 x (\w+)>")
_SPLAT = re.compile(r"splat \(\w+ ([^)]*)\)|<i64 (-?\d+)>")
_DEFINE = re.compile(
    r"define (?:internal )?(?P<gives>\{.*?\}|\S+) @(?P<name>[\w.]+)\((?P<takes>.*)\)[^()]*\{"
)
_NAME = re.compile(r"define [^(]*@([\w.]+)\(")
_LABEL = re.compile(r"([\w.]+):")
_WAY = re.compile(r"\[ (?P<value>[^\[\]]+), %(?P<block>[\w.]+) \]")
_CALL = re.compile(r"(?P<gives>\{.*?\}|\S+) @(?P<name>[\w.]+)\((?P<given>.*)\)")
_ALIGNED = re.compile(r"align \d+ ")

_SAME = {"insertelement": 1, "shufflevector": 0, "extractelement": 0}
"""Instructions whose value is one of their operands, and which."""


@dataclass(frozen=True, slots=True)
class ReadOp:
    """An instruction.

    Args:
        name: of its value, empty if it gives none.
        code: what it does: add, load, call, or icmp.slt with the kind of comparison.
        kind: the type of its value; of a store, that of the value that is stored; of an address, of the elements.
        operands: names and numbers.
        called: the function that is called.
        kinds: the types of the operands, where they can differ.
        ways: of a value that depends on the block before: values by blocks.
    """

    name: str
    code: str
    kind: str
    operands: tuple[str, ...] = ()
    called: str = ""
    kinds: tuple[str, ...] = ()
    ways: Mapping[str, str] = field(default_factory=dict[str, str])

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


def function_texts(module: Module) -> dict[str, str]:
    """Return the text of the functions that a module defines, by their names."""
    found: dict[str, str] = {}
    for item in module.items:
        for text in re.split(r"^(?=define )", str(item), flags=re.MULTILINE):
            name = _NAME.match(text)
            if name is not None:
                found[name[1]] = text
    return found


def read_function(text: str) -> ReadFunction:
    """Read one."""
    return _FunctionReader().read(_statements(text))


def _statements(text: str) -> list[str]:
    """The lines of a function, those that go on in the next one as one."""
    found: list[str] = []
    for line in text.splitlines():
        if found and found[-1].count("(") > found[-1].count(")"):
            found[-1] = f"{found[-1]} {line.strip()}"
        elif line.strip():
            found.append(line.strip())
    return found


def _split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    found: list[str] = []
    depth = start = 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and not depth:
            found.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*found, last] if last else found


def _typed(text: str) -> tuple[str, str]:
    """Split a type from what has it."""
    text = _ALIGNED.sub("", text)
    if text.startswith("{"):
        kind, _, value = text.partition("} ")
        return kind + "}", value
    kind, _, value = text.partition(" ")
    return kind, value


class _FunctionReader:
    """Reads one function; what is another value under a new name has that one's name."""

    def __init__(self) -> None:
        self._same: dict[str, str] = {}

    def read(self, lines: Sequence[str]) -> ReadFunction:
        head = _DEFINE.fullmatch(_plain(lines[0]))
        if head is None:
            raise InternalError(f"no function begins with {lines[0]!r}")
        blocks = [BasicBlock("entry")]
        for line in map(_plain, lines[1:]):
            if line == "}":
                break
            label = _LABEL.fullmatch(line)
            if label is None:
                self._line(line, blocks[-1])
            elif label[1] != "entry":
                blocks.append(BasicBlock(label[1]))
        takes = [_typed(p) for p in _split(head["takes"])]
        return ReadFunction(head["name"], head["gives"], takes, self._reached(blocks))

    def _value(self, text: str) -> str:
        return self._same.get(text, text)

    def _line(self, line: str, block: BasicBlock) -> None:
        name, equals, text = line.partition(" = ")
        if not equals or not name.startswith("%"):
            name, text = "", line
        code, _, rest = text.partition(" ")
        if code in ("br", "ret"):
            self._end(code, rest, block)
            return
        op = self._op(name, code, rest)
        if op is None:
            return
        (block.phis if op.code == "phi" else block.ops).append(op)

    def _end(self, code: str, rest: str, block: BasicBlock) -> None:
        parts = [_typed(p) for p in _split(rest)]
        if code == "ret":
            block.gives = self._value(parts[0][1]) if parts[0][1] else ""
        elif len(parts) == 1:
            block.goes = (parts[0][1][1:],)
        else:
            test, then, other = (p[1] for p in parts)
            test = self._value(test)
            if test in ("true", "false"):
                block.goes = ((then if test == "true" else other)[1:],)
            else:
                block.test, block.goes = test, (then[1:], other[1:])

    def _op(self, name: str, code: str, rest: str) -> ReadOp | None:
        if code == "phi":
            kind, _, ways = rest.partition(" ")
            return ReadOp(name, code, kind, ways={m["block"]: m["value"] for m in _WAY.finditer(ways)})
        if code == "call":
            found = _CALL.fullmatch(rest)
            if found is None:
                raise InternalError(f"no call is {rest!r}")
            given = [_typed(p) for p in _split(found["given"])]
            return self._made(name, code, found["gives"], given, found["name"])
        if code in ("icmp", "fcmp"):
            how, _, rest = rest.partition(" ")
            code = f"{code}.{how}"
        if code == "load" and rest.startswith("atomic"):
            raise InternalError("a program that stands alone asks nobody")
        to = ""
        if code in ("sitofp", "zext", "sext", "trunc", "fpext", "fptrunc", "bitcast"):
            rest, _, to = rest.rpartition(" to ")
        parts = _split(rest)
        if code == "alloca":
            return ReadOp(name, code, parts[0])
        if code == "extractvalue":
            kind, whole = _typed(parts[0])
            part = _split(kind[1:-1])[int(parts[1])]
            return ReadOp(name, code, part, (whole, parts[1]), kinds=(kind, "i64"))
        typed = [_typed(p) if " " in p else ("", p) for p in parts if not p.startswith("align ")]
        if code in ("load", "getelementptr"):
            typed = [("", typed[0][1]), *typed[1:]] if typed[0][0] else typed
            return self._made(name, code, typed[0][1], typed[1:])
        if code in _SAME:
            self._same[name] = self._value(typed[_SAME[code]][1])
            return None
        return self._made(name, code, to or typed[0][0], typed)

    def _made(
        self, name: str, code: str, kind: str, given: Sequence[tuple[str, str]], called: str = ""
    ) -> ReadOp | None:
        operands = tuple(self._value(value) for _, value in given)
        same = _known(code, operands)
        if same is not None and name:
            self._same[name] = same
            return None
        if code == "select":
            kind = given[1][0]
        elif code.startswith(("icmp", "fcmp")):
            return ReadOp(name, code, "i1", operands, called, (given[0][0],) * 2)
        return ReadOp(name, code, kind, operands, called, tuple(k for k, _ in given))

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


def _plain(line: str) -> str:
    """An instruction on vectors of one lane as one on numbers."""
    line = _ONE.sub(r"\1", line.partition(", !dbg")[0])
    return _SPLAT.sub(lambda m: m[1] or m[2], line)


_INTEGER = re.compile(r"-?\d+")
_ORDER = {
    "eq": int.__eq__, "ne": int.__ne__, "slt": int.__lt__, "sle": int.__le__, "sgt": int.__gt__, "sge": int.__ge__,
}  # fmt: skip


def _known(code: str, operands: tuple[str, ...]) -> str | None:
    """Return a value that is known before the code runs, or another one that it is."""
    match code, operands:
        case "select", ("true", a, _):
            return a
        case "select", ("false", _, b):
            return b
        case "or", ("false", a):
            return a
        case "mul", (a, "1"):
            return a
        case _:
            pass
    how = _ORDER.get(code.removeprefix("icmp."))
    if code.startswith("icmp.") and how is not None and all(map(_INTEGER.fullmatch, operands)):
        return str(how(*map(int, operands))).lower()
    return None
