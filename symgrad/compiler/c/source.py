"""A schedule as one file of C99 that needs nothing but ``<math.h>``.

    NAME          the C function on contiguous arrays
    NAME_strided  on arrays of any strides, counted in elements
    NAME_point    on numbers
    NAME_formula  the equations on one point, where they are one piece; else NAME_chunk_K, the pieces, on a few points
    NAME_block    up to BLOCK points in buffers of their own, so that an output may be an input
    NAME_exp ...  functions of ours (`symgrad/compiler/llvm/maths/`)

Code for rare numbers (an exponential that overflows, the sine of a large number) stands in branches, which would keep a
compiler from computing several points at once. So the points of a block are first computed as usual, and once more,
carefully, if one of them was rare: the bits are the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from symgrad.compiler.c.abi import Abi, entries
from symgrad.compiler.c.chunks import Chunks
from symgrad.compiler.c.parts import (
    BITS,
    HEAD,
    argument_names,
    branches,
    check_called,
    function_names,
    function_text,
    one_or_other,
    structures,
)
from symgrad.compiler.c.statements import C99, Statements
from symgrad.compiler.llvm.elementwise.emit import fold_constants
from symgrad.compiler.llvm.equations.builder import VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Chunk, Schedule
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import SYMBOL, Node

__all__ = ["c_source"]

_BLOCK = 64
"""Points at once: enough for any vector, and few enough for the buffers to stay in the first-level cache."""

_SPILLED = 32_768
"""Bytes of values that wait between pieces, for all points of a block."""

_MOST_INLINED = 32
"""Calls of functions of ours that are put in place: beyond, code grows faster than its time shrinks."""


_OWN = "in out slot i j m careful rare bits_of of_bits memcpy NAN INFINITY BLOCK INLINE UINT64_C"
_PARTS = (f"{kind}_{count}" for kind in ("doubles", "singles") for count in range(2, 5))
_TAKEN = (*_OWN.split(), *_PARTS, *sorted(C99))
"""Names of the file's own."""


_FEW = 6
"""Arrays of which a compiler checks at run time that they do not overlap: of more it computes one point at a time."""


_FILE = """\
/* ${about}

   ISO C99, which needs nothing but its own library (link with -lm). Every assignment rounds: options that let
   a compiler reorder arithmetic (-ffast-math) are refused below, as the results would be other ones. */
${head}
enum { BLOCK = ${block} };
${code}
${entries}"""


def c_source(plan: Schedule, real: FloatType, abi: Abi) -> str:
    """Write a schedule as C.

    Args:
        plan: what to compute.
        real: the format of all numbers.
        abi: what to call it.

    Raises:
        NumberTooLargeError: if a constant is too large for the format.
        UnsupportedError: if an equation calls a function that C99 has not.
    """
    abi = _inside(abi)
    with np.errstate(all="ignore"), gc_paused():  # constants are folded
        with_fma, without = (_Writer(plan, real, abi, fused=fused).code() for fused in (True, False))
    code = one_or_other(with_fma, without, real)
    single = len(plan.chunks) < 2
    few = len(abi.types) <= _FEW and "unsigned char" not in abi.types
    directly = single and few and f"{abi.contiguous}_rare(" not in code
    written = {
        "about": f"{abi.contiguous}({', '.join(abi.inputs)}): {', '.join(abi.outputs)}. Written by symgrad.",
        "head": HEAD,
        "block": str(_block(plan, real)),
        "code": (BITS if "bits_of(" in code or "of_bits(" in code else "") + code,
        "entries": entries(abi, real, single=single, directly=directly),
    }
    return fill_template(_FILE, written)


def _block(plan: Schedule, real: FloatType) -> int:
    size = _BLOCK
    while size > 1 and plan.slots * size * real.itemsize > _SPILLED:
        size //= 2
    return size


class _Writer:
    """Writes the equations, and the functions of ours that they call, for processors with or without fma."""

    def __init__(self, plan: Schedule, real: FloatType, abi: Abi, *, fused: bool) -> None:
        self._plan = plan
        self._real = real
        self._abi = abi
        self._declarations = Declarations(fused=fused, fast=plan.fast)
        self._constants = fold_constants(plan, self._builder())
        self._position = {node: i for i, node in enumerate(plan.inputs)}

    def _builder(self) -> VectorBuilder:
        return VectorBuilder(self._real, 1, self._declarations)

    def code(self) -> str:
        chunks = self._chunks()
        used = [(made, calls) for made, calls in self._declarations.maths.values() if calls]
        functions = [made.function for made, _ in used]
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
        plan = self._plan
        asked: dict[Node, list[int]] = {}
        for i, node in enumerate(plan.outputs):
            asked.setdefault(node, []).append(len(plan.inputs) + i)
        found: list[list[str | Instruction]] = []
        chunks = plan.chunks or (Chunk((), {}, {}),)
        for index, chunk in enumerate(chunks):
            writer = Chunks(self._builder(), self._constants, self._position, plan.fusable)
            writer.run(chunk, asked)
            if index == len(chunks) - 1:
                for node in plan.outputs:
                    if node in self._constants or node.op is SYMBOL:
                        writer.store(node, chunk, asked.pop(node, ()))
            found.append(list(writer.builder.finished()))
        return found

    def _one(self, lines: Sequence[str | Instruction], names: Mapping[str, str], flags: str) -> list[str]:
        """The equations on one point, and on a block."""
        abi, name = self._abi, self._abi.contiguous
        nin, nout = len(abi.inputs), len(abi.outputs)
        places = {f"%in.{k}": x for k, x in enumerate(abi.inputs)}
        places |= {f"%out.{k}": f"*{y}" for k, y in enumerate(abi.outputs)}
        said = Statements(places, names, prefix=_prefix(abi), flagged=bool(flags)).of(lines)
        words = {word for line in said for word in re.findall(r"\w+", line)}
        unread = [f"    (void){x};" for x in abi.inputs if x not in words]
        if flags and not {"careful", "rare"} <= words:
            unread.append("    (void)careful; (void)rare;")
        taken = [f"{self._real.c} {x}" for x in abi.inputs] + [f"{self._real.c} *{y}" for y in abi.outputs]
        formula = [f"\nINLINE void {name}_formula({', '.join(taken)}{flags})", "{", *unread, *said, "}", ""]
        where = ", ".join([f"in[{k}][j]" for k in range(nin)] + [f"&out[{k}][j]" for k in range(nout)])
        point = ", ".join([f"in[{k}]" for k in range(nin)] + [f"&out[{k}]" for k in range(nout)])
        parts = {
            "real": self._real.c,
            "name": name,
            "usual": f"{name}_formula({where}{', 0, &rare' if flags else ''});",
            "point": f"{name}_formula({point}{', 1, &rare' if flags else ''});",
            **({"careful": f"{name}_formula({where}, 1, &rare);"} if flags else {}),
            "void": "" if nin else "    (void)in;\n",
        }
        return ["\n".join(formula), fill_template(_CAREFULLY if flags else _PLAINLY, parts)]

    def _many(self, chunks: Sequence[Sequence[str | Instruction]], names: Mapping[str, str]) -> list[str]:
        """The pieces on some points each, and on a block one after the other."""
        abi, name, real = self._abi, self._abi.contiguous, self._real.c
        nin, nout = len(abi.inputs), len(abi.outputs)
        places = {f"%in.{k}": f"in[{k}][j]" for k in range(nin)}
        places |= {f"%out.{k}": f"out[{k}][j]" for k in range(nout)}
        places |= {f"%slot.{k}": f"slot[{k}][j]" for k in range(self._plan.slots)}
        given = f"int m, {real} (*restrict in)[BLOCK], {real} (*restrict out)[BLOCK], {real} (*restrict slot)[BLOCK]"
        made: list[str] = []
        for k, lines in enumerate(chunks):
            said = ["    " + line for line in Statements(places, names).of(lines)]
            words = {word for line in said for word in re.findall(r"\w+", line)}
            unread = [f"    (void){x};" for x in ("in", "out", "slot") if x not in words]
            head = [f"\nstatic void {name}_chunk_{k}({given})", "{", "    int j;", *unread]
            made.append("\n".join([*head, "    for (j = 0; j < m; j++) {", *said, "    }", "}", ""]))
        calls = "".join(f"    {name}_chunk_{k}(m, in, out, slot);\n" for k in range(len(chunks)))
        parts = {"real": real, "name": name, "calls": calls, "slots": str(max(self._plan.slots, 1))}
        return [*made, fill_template(_PIECES, parts)]


_PLAINLY = """
INLINE void ${name}_block(int m, ${real} (*restrict in)[BLOCK], ${real} (*restrict out)[BLOCK])
{
    int j;
${void}    for (j = 0; j < m; j++) {
        ${usual}
    }
}

INLINE void ${name}_one(${real} *in, ${real} *out)
{
${void}    ${point}
}
"""

_CAREFULLY = """
static void ${name}_rare(int m, ${real} (*restrict in)[BLOCK], ${real} (*restrict out)[BLOCK])
{
    uint64_t rare = 0;
    int j;
${void}    for (j = 0; j < m; j++) {
        ${careful}
    }
}

INLINE void ${name}_block(int m, ${real} (*restrict in)[BLOCK], ${real} (*restrict out)[BLOCK])
{
    uint64_t rare = 0;
    int j;
${void}    for (j = 0; j < m; j++) {
        ${usual}
    }
    if (rare)
        ${name}_rare(m, in, out);
}

INLINE void ${name}_one(${real} *in, ${real} *out)
{
    uint64_t rare = 0;
${void}    ${point}
}
"""

_PIECES = """
static void ${name}_block(int m, ${real} (*restrict in)[BLOCK], ${real} (*restrict out)[BLOCK])
{
    ${real} slot[${slots}][BLOCK];
${calls}}
"""


def _prefix(abi: Abi) -> str:
    """What variables are called, so that no argument is called like one."""
    prefix = "v"
    while any(re.match(rf"{prefix}\d", name) for name in (*abi.inputs, *abi.outputs)):
        prefix += "v"
    return prefix


def _inside(abi: Abi) -> Abi:
    """Arguments as the file calls them: not like a function or a variable of its own."""
    taken = (*_TAKEN, abi.strided, abi.point)
    names = argument_names([*abi.inputs, *abi.outputs, abi.length], taken, abi.contiguous)
    nin = len(abi.inputs)
    return replace(abi, inputs=names[:nin], outputs=names[nin:-1], length=names[-1])
