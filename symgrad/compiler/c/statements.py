"""Translate LLVM instructions on vectors of one lane to statements of C99, one by one.

So C has the operations and roundings of LLVM (`symgrad/compiler/llvm/text/instructions.py`). Each value has its own
variable, because C rounds at assignments also on processors that compute with more digits.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence

from symgrad.compiler.llvm.engine.libm import c_name
from symgrad.compiler.llvm.text.instructions import Instruction, Splat, eliminate_dead_code
from symgrad.compiler.llvm.text.opcodes import Label, Opcode, member_types, unwrap_single_lane
from symgrad.support.errors import InternalError

TYPES = {"double": "double", "float": "float", "i64": "uint64_t", "i1": "_Bool"}
"""The types of variables, by LLVM's types of lanes."""

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
    """Write a number exactly: as a short decimal, or else in hexadecimal.

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


def structure(returns: str) -> str:
    """Return the name of the structure that a function with several results returns."""
    kinds = [unwrap_single_lane(kind) for kind in member_types(returns)]
    return f"{'single' if 'float' in kinds else 'double'}s_{len(kinds)}"


def compared(how: str, a: str, b: str) -> str:
    """Write a comparison of two numbers, from LLVM's predicate.

    Raises:
        InternalError: for an unknown predicate.
    """
    if how not in _COMPARISONS:
        raise InternalError(f"no C for the comparison {how!r}")
    unordered = how == "uno" and a != b
    return ("({0} != {0}) | ({1} != {1})" if unordered else _COMPARISONS[how]).format(a, b)


def code_of(line: str | Instruction) -> Opcode:
    """Return the opcode of an instruction.

    Raises:
        InternalError: if it is plain text.
    """
    code = line.code if isinstance(line, Instruction) else line
    if not isinstance(code, Opcode):
        raise InternalError(f"no C for the line {line!s}")
    return code


class Statements:
    """Translates the lines of one function.

    Args:
        places: the names of inputs, outputs and slots in C, by their names in the instructions.
        functions: the names of mathematical functions in C, by their names in the instructions.
        prefix: the prefix of variables, which no place has.
        flagged: whether code for rare numbers runs only if ``careful`` is set; if not, rare numbers set ``*rare``.
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
        self._same: dict[str, str] = {}  # aliases of values
        self._several: dict[str, tuple[str, ...]] = {}  # members of incomplete structures
        self._lines: list[str] = []
        self._depth = 1
        self._open: list[tuple[str, int]] = []  # the numbers of open branches, and their depths

    def of(self, lines: Sequence[str | Instruction]) -> list[str]:
        """Return the statements, without those of unread values."""
        lines = eliminate_dead_code(lines)
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
        """Return the operands, with parentheses around negative numbers."""
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
        elif op in ("bitcast", "icmp") and source == "i1":  # "any lane is set", of one lane
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
            value = f"({structure(kind)}){{{', '.join(several)}}}" if several else self._operands(line)[0]
            self._say(f"return {value};")
        elif op == "load":
            place = self._places[line.operands[0]]
            self._define(name, TYPES[kind], f"{place} != 0" if kind == "i1" else place)
        elif op == "store":
            value, place = line.operands
            self._say(f"{self._places[place]} = {self._value(value)};")
        elif op == "br":
            self._branch(line, code)
        elif op != "phi":  # labels assign the values of a phi
            raise InternalError(f"no C for the instruction {code!r}")

    def _call(self, line: Instruction, code: Opcode) -> None:
        called, arguments = code.how, self._operands(line)
        if called.startswith("llvm."):
            function = called.split(".")[1] + ("f" if unwrap_single_lane(code.kind) == "float" else "")
        elif (in_c := c_name(called)) is not None:
            function = in_c
        else:
            function = self._functions[called]
            arguments += ["careful", "rare"] if self._flagged else []
        kind = structure(code.kind) if code.kind.startswith("{") else TYPES[unwrap_single_lane(code.kind)]
        self._define(line.name, kind, f"{function}({', '.join(arguments)})")

    # rare numbers

    def _branch(self, line: Instruction, code: Opcode) -> None:
        if len(code.labels) == 1:
            return  # the next label closes the braces
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


def _joins(lines: Sequence[str | Instruction]) -> dict[str, list[Instruction]]:
    """Return the phis at the ends of branches, by the numbers of the branches."""
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
    """Split the label of a block, such as rare24, work24, join24, into a word and a number."""
    which = label.rstrip("0123456789")
    return which, label.removeprefix(which)


def _literal(kind: str, digits: str) -> str:
    """Write a literal of LLVM as C."""
    if kind in ("double", "float"):
        value = struct.unpack("<d", struct.pack("<Q", int(digits, 16)))[0]
        return number(value, kind == "float")
    if kind == "i1":
        return "1" if digits == "true" else "0"
    value = int(digits) % 2**64
    return f"UINT64_C({value if value < 2**16 else hex(value)})"
