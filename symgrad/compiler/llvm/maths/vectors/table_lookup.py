"""Table lookup in registers: an AVX-512 instruction permutes one or two vectors by a vector of indices."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter
from symgrad.compiler.llvm.text.module import FunctionDeclaration
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.types import FLOAT64

_DOUBLES, _INTEGERS = "<8 x double>", "<8 x i64>"


def lookup(lanes: LaneWriter, table: Sequence[float], places: Lane) -> Lane:
    """Return the numbers of a table of 8 or 16 entries; the last bits of integers are the indices.

    The instruction always has eight lanes, whatever the width.
    """
    lanes.uses_tables = True
    halves = [
        f"{_DOUBLES} <{', '.join(f'double {FLOAT64.literal(t)}' for t in table[k : k + 8])}>"
        for k in range(0, len(table), 8)
    ]
    name = "permvar.df" if len(halves) == 1 else "vpermi2var.pd"
    full = f"llvm.x86.avx512.{name}.512"
    code = f"call {_DOUBLES} @{full}({', '.join([halves[0], f'{_INTEGERS} %s', *halves[1:]])})"
    lanes.intrinsics[code] = FunctionDeclaration(
        full, _DOUBLES, (_DOUBLES, _INTEGERS, _DOUBLES)[: len(halves) + 1]
    )
    parts = [lanes.emit(code, _eight_lanes(lanes, places, first)).text for first in range(0, lanes.width, 8)]
    count = 8
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [_slice_lanes(lanes, f"<{count} x double>", a, b, 2 * count) for a, b in pairs]
        count *= 2
    if lanes.width < count:
        parts = [_slice_lanes(lanes, _DOUBLES, parts[0], "poison", lanes.width)]
    return Lane(lanes, parts[0], "double")


def _eight_lanes(lanes: LaneWriter, x: Lane, first: int) -> str:
    """Return eight lanes from ``first`` on, padded with poison for a narrower vector."""
    if lanes.width == 8:
        return x.text
    known = min(8, lanes.width)
    return _slice_lanes(lanes, lanes.type(x.kind), x.text, "poison", known, first, 8 - known)


def _slice_lanes(
    lanes: LaneWriter, of: str, a: str, b: str, count: int, first: int = 0, without_value: int = 0
) -> str:
    """Return ``count`` consecutive lanes of the concatenation of two vectors, padded with poison."""
    places = [f"i32 {k}" for k in range(first, first + count)] + ["i32 poison"] * without_value
    code = Opcode.shuffle(of, f"<{len(places)} x i32> <{', '.join(places)}>")
    return lanes.emit(code, a, b).text
