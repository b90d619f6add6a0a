"""Write a schedule as one file of C99 that needs only ``<math.h>``.

    NAME          the C function on contiguous arrays
    NAME_strided  on arrays of any strides, in elements
    NAME_point    on numbers
    NAME_formula  the equations at one point, if there is one chunk
    NAME_chunk_K  chunk K of several, at the points of a block
    NAME_block    up to BLOCK points in local buffers, so that an output may be written to the array of an input
    NAME_exp ...  mathematical functions (`symgrad/compiler/llvm/maths/`)

Code for rare numbers (an exponential that overflows, the sine of a large number) is in branches, which would prevent
vectorisation. So a block is first computed without this code, and computed again with it if a number was rare. The bits
are the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from symgrad.compiler.c.abi import Abi, ArrayAbi, array_entry, entries
from symgrad.compiler.c.chunks import Chunks
from symgrad.compiler.c.common import (
    BITS,
    HEAD,
    argument_names,
    branches,
    check_called,
    function_names,
    function_text,
    select_fused,
    structures,
)
from symgrad.compiler.c.statements import C99, Statements
from symgrad.compiler.llvm.elementwise.chunk_code import NodeFacts, write_chunks
from symgrad.compiler.llvm.elementwise.emit import fold_constants
from symgrad.compiler.llvm.equations.builder import VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.ir.garbage_collection import gc_paused

_BLOCK = 64
"""Points of a block: enough for any vector, and few enough for buffers in the first-level cache."""

_SPILLED = 32_768
"""Bytes of spilled values between chunks, for all points of a block."""

_MOST_INLINED = 32
"""Calls of mathematical functions that are inlined; more make the code larger, but not faster."""


_OWN = "in out slot i j m careful rare bits_of of_bits memcpy NAN INFINITY BLOCK INLINE UINT64_C"
_PARTS = (f"{kind}_{count}" for kind in ("doubles", "singles") for count in range(2, 5))
_TAKEN = (*_OWN.split(), *_PARTS, *sorted(C99))
"""Names that the file defines or uses."""


_FEW = 6
"""Arrays whose overlap compilers check at run time; with more they do not vectorise."""


_FILE = """\
/* ${about}

   ISO C99, which needs nothing but its own library (link with -lm). Every assignment rounds: options that let
   a compiler reorder arithmetic (-ffast-math) are refused below, since they would change the results. */
${head}
enum { BLOCK = ${block} };
${code}
${entries}"""


def c_source(plan: Schedule, real: FloatType, abi: Abi) -> str:
    """Write a schedule as C.

    Args:
        plan: the schedule.
        real: the format of all numbers.
        abi: the names and types.

    Raises:
        NumberTooLargeError: if a constant is too large for the format.
        UnsupportedError: if an equation calls a function that C99 lacks.
    """
    return _source(plan, real, _inside(abi))


def entry_source(plan: Schedule, real: FloatType, abi: ArrayAbi, shapes: Sequence[tuple[int, ...]]) -> str:
    """Write the scalar equations of a program of small arrays as C.

    Args:
        plan: the equations of all entries.
        real: the format of all numbers.
        abi: the names and types of the arrays.
        shapes: their shapes.

    Raises:
        NumberTooLargeError: if a constant is too large for the format.
        UnsupportedError: if an equation calls a function that C99 lacks.
    """
    arrays = argument_names([*abi.inputs, *abi.outputs], _TAKEN, abi.name)
    named = [
        f"{array}_{'_'.join(map(str, at))}" if at else array
        for array, shape in zip(arrays, shapes, strict=True)
        for at in np.ndindex(*shape)
    ]
    nin = len(plan.inputs)
    types = [t for t, shape in zip(abi.types, shapes, strict=True) for _ in np.ndindex(*shape)]
    inner = _inside(Abi(abi.name, "", "", named[:nin], named[nin:], types, "n"))
    abi = replace(abi, inputs=arrays[: len(abi.inputs)], outputs=arrays[len(abi.inputs) :])
    counts = [math.prod(shape) for shape in shapes]
    return _source(plan, real, inner, array_entry(abi, counts, real, single=len(plan.chunks) < 2))


def _source(plan: Schedule, real: FloatType, abi: Abi, functions: str | None = None) -> str:
    """Return the file: with these functions, or with those of elementwise kernels."""
    with np.errstate(all="ignore"), gc_paused():  # constants are folded
        with_fma, without = (_Writer(plan, real, abi, fused=fused).code() for fused in (True, False))
    code = select_fused(with_fma, without, real)
    single = len(plan.chunks) < 2
    few = len(abi.types) <= _FEW and "unsigned char" not in abi.types
    directly = single and few and f"{abi.contiguous}_rare(" not in code
    parts = {
        "about": f"{abi.contiguous}({', '.join(abi.inputs)}): {', '.join(abi.outputs)}. Written by symgrad.",
        "head": HEAD,
        "block": str(_block(plan, real)),
        "code": (BITS if "bits_of(" in code or "of_bits(" in code else "") + code,
        "entries": entries(abi, real, single=single, directly=directly) if functions is None else functions,
    }
    return fill_template(_FILE, parts)


def _block(plan: Schedule, real: FloatType) -> int:
    size = _BLOCK
    while size > 1 and plan.slots * size * real.itemsize > _SPILLED:
        size //= 2
    return size


class _Writer:
    """Writes the equations and the mathematical functions that they call, with or without fused multiply-add."""

    def __init__(self, plan: Schedule, real: FloatType, abi: Abi, *, fused: bool) -> None:
        self._plan = plan
        self._real = real
        self._abi = abi
        self._declarations = Declarations(fused=fused, fast=plan.fast)

    def _builder(self) -> VectorBuilder:
        return VectorBuilder(self._real, 1, self._declarations)

    def code(self) -> str:
        chunks = self._chunks()
        used = [(maths, calls) for maths, calls in self._declarations.maths.values() if calls]
        functions = [maths.function for maths, _ in used]
        check_called(
            [*self._declarations.scipy, *self._declarations.libm, *(f for m, _ in used for f in m.libm)]
        )
        inlined = len(chunks) == 1 and sum(calls for _, calls in used) <= _MOST_INLINED
        rare = inlined and any(map(branches, functions))
        names = function_names(functions, self._abi.contiguous)
        flags = ", const int careful, uint64_t *rare" if rare else ""
        parts = structures(functions)
        for function in functions:
            parts.append(function_text(function, names, flags, inlined=inlined))
        parts += self._one(chunks[0], names, flags) if len(chunks) == 1 else self._many(chunks, names)
        return "".join(parts)

    def _chunks(self) -> list[list[str | Instruction]]:
        known = NodeFacts.of(self._plan, fold_constants(self._plan, self._builder()))
        writers = write_chunks(self._plan, lambda: Chunks(self._builder(), known))
        return [list(writer.builder.finished()) for writer in writers]

    def _one(self, lines: Sequence[str | Instruction], names: Mapping[str, str], flags: str) -> list[str]:
        """Return the equations at one point, and on a block."""
        abi, name = self._abi, self._abi.contiguous
        nin, nout = len(abi.inputs), len(abi.outputs)
        places = {f"%in.{k}": x for k, x in enumerate(abi.inputs)}
        places |= {f"%out.{k}": f"*{y}" for k, y in enumerate(abi.outputs)}
        statements = Statements(places, names, prefix=_prefix(abi), flagged=bool(flags)).of(lines)
        words = set(re.findall(r"\w+", "\n".join(statements)))
        unread = [f"    (void){x};" for x in abi.inputs if x not in words]
        if flags and not {"careful", "rare"} <= words:
            unread.append("    (void)careful; (void)rare;")
        kind = self._real.c
        parameters = ", ".join([*(f"{kind} {x}" for x in abi.inputs), *(f"{kind} *{y}" for y in abi.outputs)])
        head = f"\nINLINE void {name}_formula({parameters}{flags})"
        formula = [head, "{", *unread, *statements, "}", ""]
        where = ", ".join([f"in[{k}][j]" for k in range(nin)] + [f"&out[{k}][j]" for k in range(nout)])
        point = ", ".join([f"in[{k}]" for k in range(nin)] + [f"&out[{k}]" for k in range(nout)])
        same = {"real": kind, "name": name, "void": "" if nin else "    (void)in;\n"}
        parts = same | {
            "usual": f"{name}_formula({where}{', 0, &rare' if flags else ''});",
            "point": f"{name}_formula({point}{', 1, &rare' if flags else ''});",
            "flag": "    uint64_t rare = 0;\n" if flags else "",
            "again": f"    if (rare)\n        {name}_rare(m, in, out);\n" if flags else "",
        }
        careful = same | {"careful": f"{name}_formula({where}, 1, &rare);"}
        rare = fill_template(_RARE, careful) if flags else ""
        return ["\n".join(formula), rare + fill_template(_BLOCKS, parts)]

    def _many(self, chunks: Sequence[Sequence[str | Instruction]], names: Mapping[str, str]) -> list[str]:
        """Return one function for each chunk, which computes a block, and the function that calls them in turn."""
        abi, name, real = self._abi, self._abi.contiguous, self._real.c
        nin, nout = len(abi.inputs), len(abi.outputs)
        places = {f"%in.{k}": f"in[{k}][j]" for k in range(nin)}
        places |= {f"%out.{k}": f"out[{k}][j]" for k in range(nout)}
        places |= {f"%slot.{k}": f"slot[{k}][j]" for k in range(self._plan.slots)}
        parameters = ", ".join(["int m", *(f"{real} (*restrict {x})[BLOCK]" for x in ("in", "out", "slot"))])
        functions: list[str] = []
        for k, lines in enumerate(chunks):
            statements = ["    " + line for line in Statements(places, names).of(lines)]
            words = set(re.findall(r"\w+", "\n".join(statements)))
            unread = [f"    (void){x};" for x in ("in", "out", "slot") if x not in words]
            head = [f"\nstatic void {name}_chunk_{k}({parameters})", "{", "    int j;", *unread]
            functions.append(
                "\n".join([*head, "    for (j = 0; j < m; j++) {", *statements, "    }", "}", ""])
            )
        calls = "".join(f"    {name}_chunk_{k}(m, in, out, slot);\n" for k in range(len(chunks)))
        parts = {"real": real, "name": name, "calls": calls, "slots": str(max(self._plan.slots, 1))}
        return [*functions, fill_template(_PIECES, parts)]


_RARE = """
static void ${name}_rare(int m, ${real} (*restrict in)[BLOCK], ${real} (*restrict out)[BLOCK])
{
    uint64_t rare = 0;
    int j;
${void}    for (j = 0; j < m; j++) {
        ${careful}
    }
}
"""

_BLOCKS = """
INLINE void ${name}_block(int m, ${real} (*restrict in)[BLOCK], ${real} (*restrict out)[BLOCK])
{
${flag}    int j;
${void}    for (j = 0; j < m; j++) {
        ${usual}
    }
${again}}

INLINE void ${name}_one(${real} *in, ${real} *out)
{
${flag}${void}    ${point}
}
"""

_PIECES = """
static void ${name}_block(int m, ${real} (*restrict in)[BLOCK], ${real} (*restrict out)[BLOCK])
{
    ${real} slot[${slots}][BLOCK];
${calls}}
"""


def _prefix(abi: Abi) -> str:
    """Return a prefix for variables with which no argument begins."""
    prefix = "v"
    while any(re.match(rf"{prefix}\d", name) for name in (*abi.inputs, *abi.outputs)):
        prefix += "v"
    return prefix


def _inside(abi: Abi) -> Abi:
    """Rename the arguments so that none has the name of a function or a variable of the file."""
    taken = (*_TAKEN, abi.strided, abi.point)
    names = argument_names([*abi.inputs, *abi.outputs, abi.length], taken, abi.contiguous)
    nin = len(abi.inputs)
    return replace(abi, inputs=names[:nin], outputs=names[nin:-1], length=names[-1])
