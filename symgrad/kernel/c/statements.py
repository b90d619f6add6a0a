"""Instructions on vectors of one lane as statements of C99: one instruction, one statement, in the same order.

What is translated is what LLVM gets (`symgrad/llvm/text/instructions.py`), so that C has its operations and roundings.
Each value is a variable of its own: C rounds where it assigns, on processors too that compute with more digits.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence

from symgrad.errors import InternalError
from symgrad.llvm.text.instructions import Instruction, Splat

__all__ = ["C99", "COMPARISONS", "ONE_LANE", "SIGNS", "TYPES", "Statements", "number", "structure"]

TYPES = {"double": "double", "float": "float", "i64": "uint64_t", "i1": "_Bool"}
"""Of lanes, in C: what is declared."""

_NAMES = """
    acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 log log10 log1p log2 logb cbrt fabs
    hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint round trunc fmod remainder copysign nextafter fdim
    fmax fmin fma
"""
C99 = frozenset(name + kind for name in _NAMES.split() for kind in ("", "f"))
"""Functions of numbers that ``<math.h>`` declares."""

SIGNS = {
    "fadd": "{} + {}", "fsub": "{} - {}", "fmul": "{}*{}", "fdiv": "{}/{}",
    "add": "{} + {}", "sub": "{} - {}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}",
    "shl": "{} << {}", "lshr": "{} >> {}",
}  # fmt: skip
COMPARISONS = {
    "olt": "{} < {}", "ole": "{} <= {}", "ogt": "{} > {}", "oge": "{} >= {}", "oeq": "{} == {}", "une": "{} != {}",
    "ult": "!({} >= {})", "ugt": "!({} <= {})", "eq": "{} == {}", "ne": "{} != {}",
}  # fmt: skip

ONE_LANE = re.compile(r"<1 x (\w+)>")
"""The type of a vector of one lane, as LLVM writes it."""
_CALL = re.compile(r"call (?P<gives>.+) @(?P<name>[\w.]+)\(.*\)")
_LABEL = re.compile(r"(rare|work|join)(\d+):")
_LOAD = re.compile(r"  (?P<name>%\S+) = load (?P<place>.+)")
_INTEGER = re.compile(r"splat \(i64 (-?\d+)\)")


def number(value: float, single: bool = False) -> str:
    """Write a number of a format exactly: as a decimal one where that is short, else with its bits.

    Example:
        >>> number(0.5), number(1 / 3), number(-float("inf")), number(-0.0), number(0.25, single=True)
        ('0.5', '0x1.5555555555555p-2', '-INFINITY', '-0.0', '0.25f')
    """
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    short = repr(value)
    if len(short) > 12:
        short = re.sub(r"\.?0*p\+?", "p", value.hex())
    return short + "f" if single else short


def structure(gives: str) -> str:
    """Name the structure of C for what a function of several values gives."""
    count = gives.count("<")
    return f"{'single' if 'float' in gives else 'double'}s_{count}"


class Statements:
    """Translates the lines of one function.

    Args:
        places: what inputs, outputs and slots are called in C, by their names among the instructions.
        functions: what functions of ours are called in C, by their names among the instructions.
        prefix: of variables: no place begins so.
        flagged: whether code for rare numbers runs only if ``careful`` is set, and ``*rare`` is set elsewhere.
    """

    def __init__(
        self,
        places: Mapping[str, str],
        functions: Mapping[str, str],
        *,
        prefix: str = "v",
        flagged: bool = False,
    ) -> None:
        self._places = places
        self._functions = functions
        self._prefix = prefix
        self._flagged = flagged
        self._same: dict[str, str] = {}  # values that are another one, under their names
        self._several: dict[str, tuple[str, ...]] = {}  # values of structures that are being made
        self._lines: list[str] = []
        self._depth = 1
        self._open: list[tuple[str, int]] = []  # the numbers of branches that are open, and their depths

    def of(self, lines: Sequence[str | Instruction]) -> list[str]:
        """Return the statements; of values that nobody reads there are none."""
        lines = _read(lines)
        joins = _joins(lines)
        for line in lines:
            if isinstance(line, Instruction):
                self._instruction(line)
            elif (label := _LABEL.fullmatch(line)) is not None:
                self._label(label[1], label[2], joins)
            elif (load := _LOAD.fullmatch(line)) is not None:
                self._load(load["name"], load["place"])
            elif line != "entry:" and not line.startswith("  br label"):
                raise InternalError(f"no C for the line {line!r}")
        return self._lines

    # values

    def _value(self, operand: str) -> str:
        if isinstance(operand, Splat) and operand.kind in ("double", "float"):
            bits = int(operand.digits, 16)
            value = struct.unpack("<d", struct.pack("<Q", bits))[0]
            return number(value, operand.kind == "float")
        if operand in self._same:
            return self._same[operand]
        if operand in self._places:
            return self._places[operand]
        if (integer := _INTEGER.fullmatch(operand)) is not None:
            value = int(integer[1]) % 2**64
            return f"UINT64_C({value if value < 2**16 else hex(value)})"
        if operand.startswith("splat (i1"):
            return "1" if "true" in operand else "0"
        return self._prefix + operand.removeprefix("%v").replace(".", "_")

    def _operands(self, line: Instruction) -> list[str]:
        return [self._value(x) for x in line.operands]

    def _factors(self, line: Instruction) -> list[str]:
        """The operands, with parentheses around negative numbers, which stand after a sign."""
        return [f"({x})" if x.startswith("-") else x for x in self._operands(line)]

    def _say(self, statement: str) -> None:
        self._lines.append("    " * self._depth + statement)

    def _define(self, name: str, kind: str, value: str) -> None:
        self._say(f"const {kind} {self._value(name)} = {value};")

    def _load(self, name: str, place: str) -> None:
        kind, at = place.split(" ", 1)
        written = self._places.get(at, at)
        self._define(name, TYPES[kind], f"{written} != 0" if kind == "i1" else written)

    # instructions

    def _instruction(self, line: Instruction) -> None:
        name, code = line.name, line.code
        op, *rest = code.split(" ")
        kinds = ONE_LANE.findall(code)
        kind = TYPES[kinds[0]] if kinds else ""
        if op in SIGNS:
            a, b = self._factors(line) if len(line.operands) == 2 else (*self._factors(line), "1")
            self._define(name, kind, SIGNS[op].format(a, b))
        elif op in ("fcmp", "icmp") and kinds:
            a, b = self._factors(line)
            unordered = a != b and rest[0] == "uno"
            how = "({0} != {0}) | ({1} != {1})" if unordered else COMPARISONS.get(rest[0], "{} != {}")
            self._define(name, "_Bool", how.format(a, b))
        elif op == "fneg":
            self._define(name, kind, f"-{self._factors(line)[0]}")
        elif op == "select":
            mask, a, b = self._operands(line)
            self._define(name, TYPES[kinds[1]], f"{mask} ? {a} : {b}")
        elif op in ("fpext", "fptrunc"):
            self._define(name, TYPES[kinds[1]], f"({TYPES[kinds[1]]}){self._factors(line)[0]}")
        elif op == "bitcast" and len(kinds) == 2:
            which = "bits_of" if kinds[0] == "double" else "of_bits"
            self._define(name, TYPES[kinds[1]], f"{which}({self._operands(line)[0]})")
        elif op in ("bitcast", "icmp"):  # whether any lane is set: there is one lane
            self._same[name] = self._operands(line)[0]
        elif op == "call":
            self._call(line)
        elif op == "insertvalue":
            whole, part = line.operands if len(line.operands) == 2 else ("poison", *line.operands)
            self._several[name] = (*self._several.get(whole, ()), self._value(part))
        elif op == "extractvalue":
            count = int(code.rsplit(" ", 1)[1])
            gives = code.removeprefix("extractvalue ").split("}")[0]
            self._define(name, TYPES[ONE_LANE.findall(gives)[0]], f"{self._operands(line)[0]}.part{count}")
        elif op == "ret":
            several = self._several.get(line.operands[0])
            gives = structure(code) if several else ""
            given = f"({gives}){{{', '.join(several)}}}" if several else self._operands(line)[0]
            self._say(f"return {given};")
        elif op == "store":
            place = code.removeprefix("store %s to ")
            self._say(f"{self._places.get(place, place)} = {self._operands(line)[0]};")
        elif op == "br":
            self._branch(line)
        elif op != "phi":  # whose values are assigned where they are known
            raise InternalError(f"no C for the instruction {code!r}")

    def _call(self, line: Instruction) -> None:
        found = _CALL.fullmatch(line.code)
        if found is None:
            raise InternalError(f"no C for the call {line.code!r}")
        gives, called = found["gives"], found["name"]
        given = self._operands(line)
        if called.startswith("llvm."):
            _, function, suffix = called.split(".")
            function += "f" if suffix.endswith("f32") else ""
        elif called.startswith("lanes."):
            function = called.removeprefix("lanes.")
        else:
            function = self._functions[called]
            given += ["careful", "rare"] if self._flagged else []
        kinds = ONE_LANE.findall(gives)
        kind = TYPES[kinds[0]] if len(kinds) == 1 else structure(gives)
        self._define(line.name, kind, f"{function}({', '.join(given)})")

    # rare numbers

    def _branch(self, line: Instruction) -> None:
        found = re.search(r"label %%(rare|work)(\d+)", line.code)
        if found is None:
            raise InternalError(f"no C for the branch {line.code!r}")
        which, index = found.groups()
        if which == "rare":
            self._open.append((index, self._depth))
        self._waiting = self._operands(line)[0]

    def _label(self, which: str, index: str, joins: Mapping[str, Sequence[Instruction]]) -> None:
        phis = joins[index]
        if which == "join":
            self._assign(phis, -1)
            _, depth = self._open.pop()
            while self._depth > depth:
                self._depth -= 1
                self._say("}")
            return
        outermost = which == "rare" and len(self._open) == 1
        if which == "rare":
            for phi in phis:
                self._say(
                    f"{TYPES[ONE_LANE.findall(phi.code)[0]]} {self._value(phi.name)} = {self._value(phi.operands[0])};"
                )
        else:
            self._assign(phis, 1)
        if self._flagged and outermost:
            self._say(f"*rare |= {self._waiting};")
            self._say(f"if (careful && {self._waiting}) {{")
        else:
            self._say(f"if ({self._waiting}) {{")
        self._depth += 1

    def _assign(self, phis: Iterable[Instruction], way: int) -> None:
        for phi in phis:
            self._say(f"{self._value(phi.name)} = {self._value(phi.operands[way])};")

    _waiting = ""


def _read(lines: Sequence[str | Instruction]) -> list[str | Instruction]:
    """Drop what defines a value that nobody reads. What is read stands before, but for what joins branches."""
    kept: list[str | Instruction] = []
    read: set[str] = set()
    for line in reversed(lines):
        if isinstance(line, Instruction):
            if line.name and line.name not in read:
                continue
            read.update(line.operands)
        elif (load := _LOAD.fullmatch(line)) is not None and load["name"] not in read:
            continue
        kept.append(line)
    return kept[::-1]


def _joins(lines: Sequence[str | Instruction]) -> dict[str, list[Instruction]]:
    """The values that branches join to, by the numbers of the branches."""
    found: dict[str, list[Instruction]] = {}
    index = ""
    for line in lines:
        if isinstance(line, str):
            label = _LABEL.fullmatch(line)
            index = label[2] if label is not None and label[1] == "join" else index
            if label is not None:
                found.setdefault(label[2], [])
        elif line.code.startswith("phi"):
            found[index].append(line)
    return found
