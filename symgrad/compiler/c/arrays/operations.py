"""Translate instructions of array programs to statements of C, one by one, as `statements.py` does.

An address is not a value but a place, which consists of an array and the terms of an index, so unread addresses cost
nothing. Integers are signed, and the function that counts scratch memory has checked that they do not overflow. Only
positions that come from data can overflow: they wrap around, and are checked before use.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symgrad.compiler.c.arrays.facts import FunctionFacts
from symgrad.compiler.c.arrays.instructions import ReadFunction, ReadOp, is_integer
from symgrad.compiler.c.statements import SIGNS, compared, number, structure
from symgrad.compiler.llvm.engine.libm import c_name
from symgrad.compiler.llvm.text.opcodes import member_types
from symgrad.support.errors import InternalError

_TYPES = {
    "double": "double", "float": "float", "i64": "int64_t", "i1": "_Bool", "i8": "unsigned char", "ptr": "void *",
    "void": "void",
}  # fmt: skip

_WRAPPED = {"add": "plus", "sub": "minus", "mul": "times"}
_INTEGERS = {"add": "{} + {}", "sub": "{} - {}", "mul": "{}*{}", "sdiv": "{}/{}", "srem": "{}%{}"}
_BITS = {"shl": "(int64_t)((uint64_t){} << {})", "lshr": "(int64_t)((uint64_t){} >> {})"}
_SIGNED = {"slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "eq": "==", "ne": "!="}
_UNSIGNED = {"ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}


@dataclass(frozen=True, slots=True)
class FileNames:
    """The names of a file.

    Args:
        functions: the names of functions in C, by their names in the module.
        arrays: the names of the first entries of the table of addresses.
        sizes: the names of the entries of the table of sizes.
    """

    functions: Mapping[str, str]
    arrays: Sequence[str]
    sizes: Sequence[str]


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """An element of an array, under the condition ``given``."""

    base: str
    kind: str
    index: tuple[str, ...] = ()
    given: str = ""

    def __str__(self) -> str:
        return f"{self.base}[{' + '.join(self.index) or '0'}]"


class CInstructions:
    """Writes the instructions of a function.

    Args:
        code: the function.
        known: the names of the file.
    """

    def __init__(self, code: ReadFunction, known: FileNames) -> None:
        self.code = code
        self._known = known
        self._facts = FunctionFacts(code)
        self._names: dict[str, str] = {}
        self._places: dict[str, ArrayPlace] = {}
        self._variables: dict[str, str] = {}  # variables on the stack, by their addresses
        self._lines: list[str] = []
        self._first: dict[str, list[str]] = {}  # declarations at the top, by types
        self._counts: Counter[str] = Counter()
        self._taken = {*known.arrays, *known.sizes, *(name[1:] for _, name in code.takes)}

    # names and values

    def _new(self, prefix: str) -> str:
        while True:
            name = f"{prefix}{self._counts[prefix]}"
            self._counts[prefix] += 1
            if name not in self._taken:
                return name

    def _name(self, name: str, prefix: str = "v") -> str:
        if name not in self._names:
            self._names[name] = self._new(prefix)
        return self._names[name]

    def _value(self, text: str, kind: str) -> str:
        if text.startswith("%"):
            return self._names[text] if text in self._names else self._name(text)
        if kind in ("double", "float"):
            if text == "zeroinitializer":
                return number(0.0, kind == "float")
            bits = (
                struct.pack("<Q", int(text, 16)) if text.startswith("0x") else struct.pack("<d", float(text))
            )
            return number(struct.unpack("<d", bits)[0], kind == "float")
        if text in ("zeroinitializer", "false", "true"):
            return "1" if text == "true" else "0"
        if not is_integer(text):
            raise InternalError(f"no C for the value {text!r}")
        if int(text) == -(2**63):
            return "INT64_MIN"
        return text if abs(int(text)) < 2**31 else f"INT64_C({text})"

    def _factor(self, text: str, kind: str) -> str:
        value = self._value(text, kind)
        return f"({value})" if value.startswith("-") else value

    def _declare(self, kind: str, name: str) -> None:
        """Declare a variable at the top of the function."""
        self._first.setdefault(kind, []).append(name)

    def _say(self, depth: int, statement: str) -> None:
        self._lines.append("    " * depth + statement)

    # instructions

    def _define(self, op: ReadOp, value: str, depth: int) -> None:
        c = c_type(op.kind)
        name = self._name(op.name)
        if op.name in self._facts.hoisted:
            self._declare(c, name)
            self._say(depth, f"{name} = {value};")
        else:
            self._say(depth, f"const {c} {name} = {value};")

    def _op(self, op: ReadOp, depth: int) -> None:
        code, kind = op.code, op.kind
        if op.name in self._facts.tested:
            return
        if code == "alloca":
            self._stack(op)
        elif code == "getelementptr":
            self._address(op)
        elif code == "load":
            self._load(op, depth)
        elif code == "store":
            self._store(op.operands[1], self._stored(op.operands[0], op.kinds[0]), depth)
        elif code == "call":
            self._call(op, depth)
        elif code == "extractvalue":
            which = self._names[op.operands[0]]
            if "i64" in member_types(op.kinds[0]):  # a number, and whether it overflowed
                self._names[op.name] = which if op.how == "0" else f"{which}_beyond"
            else:
                self._define(op, f"{which}.part{op.how}", depth)
        elif kind == "ptr" and code == "select":
            self._places[op.name] = replace(
                self._place(op.operands[1]), given=self._value(op.operands[0], "i1")
            )
        else:
            self._define(op, self._computed(op), depth)

    def _computed(self, op: ReadOp) -> str:
        code, kind = op.code, op.kind
        if op.compares:
            return self._compared(op)
        if code == "select":
            test, a, b = (self._value(x, k) for x, k in zip(op.operands, ("i1", kind, kind), strict=True))
            return f"{test} ? {a} : {b}"
        if code == "fneg":
            return f"-{self._factor(op.operands[0], kind)}"
        source = op.kinds[0]
        if code in ("sitofp", "fpext", "fptrunc", "zext", "sext", "trunc"):
            return f"({c_type(kind)}){self._factor(op.operands[0], source)}"
        if code == "bitcast":
            if source == kind:
                return self._value(op.operands[0], kind)
            value = self._value(op.operands[0], source)
            return f"(int64_t)bits_of({value})" if source == "double" else f"of_bits((uint64_t){value})"
        a, b = (self._factor(x, kind) for x in op.operands)
        if kind == "i64" and code in _INTEGERS:
            if code in _WRAPPED and op.name in self._facts.wild:
                return f"{_WRAPPED[code]}({self._value(op.operands[0], kind)}, {self._value(op.operands[1], kind)})"
            return _INTEGERS[code].format(a, b)
        form = _BITS.get(code) or SIGNS.get(code)
        if form is None:
            raise InternalError(f"no C for the instruction {op.code!r}")
        return form.format(a, b)

    def _compared(self, op: ReadOp) -> str:
        how, kind = op.how, op.kinds[0]
        a, b = (self._factor(x, kind) for x in op.operands)
        if op.code == "fcmp":
            return compared(how, a, b)
        if how in _UNSIGNED:
            return f"(uint64_t){a} {_UNSIGNED[how]} (uint64_t){b}"
        return f"{a} {_SIGNED[how]} {b}"

    def _stored(self, text: str, kind: str) -> str:
        return self._pointer(text) if kind == "ptr" else self._value(text, kind)

    # memory

    def _stack(self, op: ReadOp) -> None:
        if op.name == "%nowhere":
            return  # stores to it are dropped
        count = op.how
        name = self._new("cells" if count else "cell")
        if op.name == "%table":
            name = "table"
        self._declare(_TYPES[op.kind], f"{name}[{count}]" if count else name)
        if count:
            self._places[op.name] = ArrayPlace(name, op.kind)
        else:
            self._variables[op.name] = name

    def _place(self, pointer: str) -> ArrayPlace:
        found = self._places.get(pointer)
        if found is None:
            raise InternalError(f"no place for {pointer} in {self.code.name}")
        return found

    def _address(self, op: ReadOp) -> None:
        place = self._place(op.operands[0])
        index = self._factor(op.operands[1], "i64")
        terms = place.index if index == "0" else (*place.index, index)
        self._places[op.name] = ArrayPlace(place.base, op.kind, terms, place.given)

    def _pointer(self, text: str) -> str:
        """Return an address as a value."""
        place = self._place(text)
        if place.given:
            raise InternalError(f"an address that may be none: {text} in {self.code.name}")
        if not place.index:
            return place.base
        return f"moved({place.base}, {' + '.join(place.index)})" if place.kind == "i8" else f"&{place}"

    def _load(self, op: ReadOp, depth: int) -> None:
        pointer, kind = op.operands[0], op.kind
        if pointer in self._variables:
            self._define(op, self._variables[pointer], depth)
            return
        place = self._place(pointer)
        if kind != "ptr":
            if place.base == "sizes" and self._known.sizes:
                self._names[op.name] = self._known.sizes[int(place.index[0]) if place.index else 0]
                self._say(depth, f"const int64_t {self._names[op.name]} = {place};")
                return
            self._define(op, str(place), depth)
            return
        element = self._facts.elements.get(op.name, "i8")
        number = int(place.index[0]) if place.index else 0
        known = place.base == "table" and number < len(self._known.arrays)
        name = self._known.arrays[number] if known else self._new("a")
        self._names[op.name] = name
        self._places[op.name] = ArrayPlace(name, element)
        if place.base == "args" or (element == "i8" and self.code.name == "arrays.run"):
            self._say(depth, f"void *const {name} = {place};")
            return
        const = "const " if op.name not in self._facts.written else ""
        self._say(depth, f"{const}{c_type(element)} *const {name} = {place};")

    def _store(self, pointer: str, value: str, depth: int, mask: str = "1") -> None:
        if pointer in self._variables:
            self._say(depth, f"{self._variables[pointer]} = {value};")
            return
        place = self._place(pointer)
        tests = [x for x in (place.given, mask) if x and x != "1"]
        if tests:
            self._say(depth, f"if ({' && '.join(dict.fromkeys(tests))})")
        self._say(depth + bool(tests), f"{place} = {value};")

    # calls

    def _call(self, op: ReadOp, depth: int) -> None:
        called = op.called
        if called.startswith("llvm."):
            self._intrinsic(op, called.split(".")[1:], depth)
            return
        own = self._known.functions
        name = c_name(called) or own[called]
        call = f"{name}({', '.join(map(self._stored, op.operands, op.kinds))})"
        if op.kind == "void":
            self._say(depth, f"{call};")
        else:
            self._define(op, call, depth)

    def _intrinsic(self, op: ReadOp, parts: Sequence[str], depth: int) -> None:
        what = ".".join(parts[:2])
        values = [] if "masked" in what else [
            x if k == "ptr" else self._value(x, k) for x, k in zip(op.operands, op.kinds, strict=True)
        ]  # fmt: skip
        if what in ("masked.load", "masked.gather"):
            pointer, mask, missing = op.operands
            place, test = self._place(pointer), self._value(mask, "i1")
            other = self._value(missing, op.kind)
            tests = [x for x in dict.fromkeys((place.given, test)) if x and x != "1"]
            self._define(op, f"{' && '.join(tests)} ? {place} : {other}" if tests else str(place), depth)
        elif what in ("masked.store", "masked.scatter"):
            value, pointer, mask = op.operands
            self._store(pointer, self._value(value, op.kinds[0]), depth, self._value(mask, "i1"))
        elif what.startswith("memset"):
            self._say(
                depth,
                f"memset({self._pointer(op.operands[0])}, 0, (size_t){self._factor(op.operands[2], 'i64')});",
            )
        elif what.startswith("fptosi"):
            self._define(op, f"whole({values[0]})", depth)
        elif what in ("sadd.with", "smul.with"):
            name = self._name(op.name)
            how = "sum_of" if what.startswith("sadd") else "product_of"
            self._say(depth, f"int64_t {name};")
            self._say(depth, f"const _Bool {name}_beyond = {how}({values[0]}, {values[1]}, &{name});")
        elif parts[0] in ("smax", "smin"):
            sign = ">" if parts[0] == "smax" else "<"
            self._define(op, f"{values[0]} {sign} {values[1]} ? {values[0]} : {values[1]}", depth)
        else:
            suffix = "f" if op.kind == "float" else ""
            self._define(op, f"{parts[0]}{suffix}({', '.join(values)})", depth)


def c_type(kind: str) -> str:
    """Return the C type for a type of LLVM."""
    if kind.startswith("{"):
        return structure(kind)
    if kind not in _TYPES:
        raise InternalError(f"no C for the type {kind!r}")
    return _TYPES[kind]
