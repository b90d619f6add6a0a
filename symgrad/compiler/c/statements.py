"""Instructions on vectors of one lane as statements of C99: one instruction, one statement, in the same order.

What is translated is what LLVM gets (`symgrad/compiler/llvm/text/instructions.py`), so that C has its
operations and roundings. Each value is a variable of its own: C rounds where it assigns, on processors too
that compute with more digits.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence

from symgrad.compiler.llvm.text.instructions import Instruction, Splat
from symgrad.compiler.llvm.text.opcodes import Label, Opcode, member_types, unwrap_single_lane
from symgrad.support.errors import InternalError

__all__ = ["C99", "SIGNS", "TYPES", "Statements", "code_of", "compared", "number", "structure"]

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
_COMPARISONS = {
    "olt": "{} < {}", "ole": "{} <= {}", "ogt": "{} > {}", "oge": "{} >= {}", "oeq": "{} == {}", "une": "{} != {}",
    "ult": "!({} >= {})", "ugt": "!({} <= {})", "eq": "{} == {}", "ne": "{} != {}", "uno": "{} != {}",
}  # fmt: skip


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
    kinds = [unwrap_single_lane(kind) for kind in member_types(gives)]
    return f"{'single' if 'float' in kinds else 'double'}s_{len(kinds)}"


def compared(how: str, a: str, b: str) -> str:
    """Write how two numbers compare, where LLVM has a word for it.

    Raises:
        InternalError: if there is no such word here.
    """
    if how not in _COMPARISONS:
        raise InternalError(f"no C for the comparison {how!r}")
    unordered = how == "uno" and a != b
    return ("({0} != {0}) | ({1} != {1})" if unordered else _COMPARISONS[how]).format(a, b)


def code_of(line: str | Instruction) -> Opcode:
    """Return what an instruction does.

    Raises:
        InternalError: if it is text alone.
    """
    code = line.code if isinstance(line, Instruction) else line
    if not isinstance(code, Opcode):
        raise InternalError(f"no C for the line {line!s}")
    return code


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
            if isinstance(line, Label):
                which, index = _numbered(line.name)
                if index:
                    self._label(which, index, joins)
            elif isinstance(line, Instruction):
                self._instruction(line, code_of(line))
            else:
                raise InternalError(f"no C for the line {line!r}")
        return self._lines

    # values

    def _value(self, operand: str) -> str:
        if isinstance(operand, Splat):
            return _literal(operand.kind, operand.digits)
        if operand in self._same:
            return self._same[operand]
        if operand in self._places:
            return self._places[operand]
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

    # instructions

    def _instruction(self, line: Instruction, code: Opcode) -> None:
        name, op = line.name, code.op
        source, kind = (unwrap_single_lane(x) for x in (code.kinds[0] if code.kinds else "", code.kind))
        if op in SIGNS:
            self._define(name, TYPES[kind], SIGNS[op].format(*self._factors(line)))
        elif op in ("bitcast", "icmp") and source == "i1":  # whether any lane is set: there is one lane
            self._same[name] = self._operands(line)[0]
        elif op in ("fcmp", "icmp"):
            a, b = self._factors(line)
            self._define(name, "_Bool", compared(code.how, a, b))
        elif op == "fneg":
            self._define(name, TYPES[kind], f"-{self._factors(line)[0]}")
        elif op == "select":
            mask, a, b = self._operands(line)
            self._define(name, TYPES[kind], f"{mask} ? {a} : {b}")
        elif op in ("fpext", "fptrunc"):
            self._define(name, TYPES[kind], f"({TYPES[kind]}){self._factors(line)[0]}")
        elif op == "bitcast":
            which = "bits_of" if source == "double" else "of_bits"
            self._define(name, TYPES[kind], f"{which}({self._operands(line)[0]})")
        elif op == "call":
            self._call(line, code)
        elif op == "insertvalue":
            whole, part = line.operands
            self._several[name] = (*self._several.get(whole, ()), self._value(part))
        elif op == "extractvalue":
            self._define(name, TYPES[kind], f"{self._operands(line)[0]}.part{code.how}")
        elif op == "ret":
            several = self._several.get(line.operands[0])
            gives = structure(kind) if several else ""
            given = f"({gives}){{{', '.join(several)}}}" if several else self._operands(line)[0]
            self._say(f"return {given};")
        elif op == "load":
            place = self._places[line.operands[0]]
            self._define(name, TYPES[kind], f"{place} != 0" if kind == "i1" else place)
        elif op == "store":
            value, place = line.operands
            self._say(f"{self._places[place]} = {self._value(value)};")
        elif op == "br":
            self._branch(line, code)
        elif op != "phi":  # whose values are assigned where they are known
            raise InternalError(f"no C for the instruction {code!r}")

    def _call(self, line: Instruction, code: Opcode) -> None:
        called, given = code.how, self._operands(line)
        if called.startswith("llvm."):
            function = called.split(".")[1] + ("f" if unwrap_single_lane(code.kind) == "float" else "")
        elif called.startswith("lanes."):
            function = called.removeprefix("lanes.")
        else:
            function = self._functions[called]
            given += ["careful", "rare"] if self._flagged else []
        kind = structure(code.kind) if code.kind.startswith("{") else TYPES[unwrap_single_lane(code.kind)]
        self._define(line.name, kind, f"{function}({', '.join(given)})")

    # rare numbers

    def _branch(self, line: Instruction, code: Opcode) -> None:
        if len(code.labels) == 1:
            return  # the label that follows ends the braces
        which, index = _numbered(code.labels[0])
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
                kind = TYPES[unwrap_single_lane(code_of(phi).kind)]
                self._say(f"{kind} {self._value(phi.name)} = {self._value(phi.operands[0])};")
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
        kept.append(line)
    return kept[::-1]


def _joins(lines: Sequence[str | Instruction]) -> dict[str, list[Instruction]]:
    """The values that branches join to, by the numbers of the branches."""
    found: dict[str, list[Instruction]] = {}
    index = ""
    for line in lines:
        if isinstance(line, Label):
            which, number = _numbered(line.name)
            index = number if which == "join" else index
            found.setdefault(number, [])
        elif isinstance(line, Instruction) and code_of(line).op == "phi":
            found[index].append(line)
    return found


def _numbered(label: str) -> tuple[str, str]:
    """Split the name of a block, as rare24, work24, join24, from its number."""
    which = label.rstrip("0123456789")
    return which, label.removeprefix(which)


def _literal(kind: str, digits: str) -> str:
    """Write a number of LLVM's."""
    if kind in ("double", "float"):
        value = struct.unpack("<d", struct.pack("<Q", int(digits, 16)))[0]
        return number(value, kind == "float")
    if kind == "i1":
        return "1" if digits == "true" else "0"
    value = int(digits) % 2**64
    return f"UINT64_C({value if value < 2**16 else hex(value)})"
