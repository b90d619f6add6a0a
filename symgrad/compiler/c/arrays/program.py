"""Write an array program as one file of C99 that needs only ``<math.h>`` and ``malloc``.

    NAME            the C function of the header
    NAME_run        calls the steps one after the other
    NAME_step_K     a loop nest, or a scan
    NAME_scratch    counts the scratch memory, and checks the sizes
    NAME_product    products of matrices
    NAME_factors_K  LU factors, solutions and exponentials of matrices
    NAME_exp ...    mathematical functions (`symgrad/compiler/llvm/maths/`)

It translates LLVM code for vectors of one lane, so sums have another order than in a kernel with wider vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.compiler.c.abi import ArrayAbi
from symgrad.compiler.c.arrays.factors import CALLED_BY_FACTORS, FACTORS_IN_C, factor_names, factors_text
from symgrad.compiler.c.arrays.function import CFunction
from symgrad.compiler.c.arrays.helpers import HELPERS
from symgrad.compiler.c.arrays.instructions import ReadFunction, read_function
from symgrad.compiler.c.arrays.operations import FileNames
from symgrad.compiler.c.arrays.products import product_names, product_text
from symgrad.compiler.c.common import (
    BITS,
    HEAD,
    argument_names,
    check_called,
    function_names,
    function_text,
    select_fused,
    structures,
)
from symgrad.compiler.c.statements import C99, code_of
from symgrad.compiler.llvm.arrays.array_code import array_module
from symgrad.compiler.llvm.arrays.symbol_names import NEGATIVE, RUN, SCRATCH, TOO_LARGE
from symgrad.compiler.llvm.engine.libm import c_name
from symgrad.compiler.llvm.engine.target import Target
from symgrad.compiler.llvm.text.instructions import Instruction, flatten_lines
from symgrad.compiler.llvm.text.module import Function, Module
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.ir.graph import Node
from symgrad.support.traversal import postorder

_OWN = """
    table sizes scratch turn args need block at memset malloc free size_t uintptr_t moved plus minus times whole
    sum_of product_of bits_of of_bits memcpy NAN INFINITY INLINE UINT64_C INT64_C INT64_MAX INT64_MIN SIZE_MAX
"""
_PARTS = (f"{kind}_{count}" for kind in ("doubles", "singles") for count in range(2, 5))
_TAKEN = (*_OWN.split(), *_PARTS, *sorted(C99))
"""Names that the file defines or uses."""

_FILE = """\
/* ${about}

   ISO C99, which needs nothing but its own library (link with -lm). Every assignment rounds: options that let
   a compiler reorder arithmetic (-ffast-math) are refused below, since they would change the results. */
${head}#include <stdlib.h>
${code}
${entry}"""

_ENTRY = """\
${prototype}
{
    void *args[] = {${args}};
    const int64_t sizes[] = {${sizes}};
    const int64_t need = ${name}_scratch(sizes);
    unsigned char *block;
    if (need == ${negative})
        return 2;
    if (need == ${large} || (uint64_t)need > SIZE_MAX - 64)
        return 1;
    block = malloc((size_t)need + 64);
    if (!block)
        return 1;
    ${name}_run(args, sizes, (void *)(((uintptr_t)block + 63) & ~(uintptr_t)63));
    free(block);
    return 0;
}
"""


def array_source(
    outputs: Sequence[Node], inputs: Sequence[Node], real: FloatType, abi: ArrayAbi, *, fast: bool
) -> str:
    """Write an array program as C.

    Args:
        outputs: the outputs.
        inputs: the symbols in the order of the arguments.
        real: the format of all real numbers.
        abi: the names and types.
        fast: whether an accuracy of four units in the last place is enough for functions.

    Raises:
        ShapeError: if an array is too large for all sizes.
        UnsupportedError: if it calls a function that C99 lacks.
    """
    abi = _inside(abi)
    both: list[str] = []
    for fused in (True, False):
        target = Target(real.itemsize, fused)
        module = array_module(outputs, inputs, real, target, fast=fast).module
        both.append(_code(module, real, abi, fused=fused))
    code = select_fused(both[0], both[1], real)
    helpers = [text for name, text in HELPERS.items() if f"{name}(" in code]
    bits = BITS if "bits_of(" in code or "of_bits(" in code else ""
    arrays = [*abi.inputs, *abi.outputs]
    entry = {
        "prototype": abi.prototype(),
        "args": ", ".join(f"(void *){x}" for x in arrays) or "0",
        "sizes": ", ".join(abi.sizes) or "0",
        "name": abi.name,
        "negative": NEGATIVE,
        "large": TOO_LARGE,
    }
    parts = {
        "about": f"{abi.name}({', '.join(abi.inputs)}): {', '.join(abi.outputs)}. Written by symgrad.",
        "head": HEAD,
        "code": "".join([bits, *helpers, code]),
        "entry": fill_template(_ENTRY, entry),
    }
    return fill_template(_FILE, parts)


def _code(module: Module, real: FloatType, abi: ArrayAbi, *, fused: bool) -> str:
    """Return the functions, callees first."""
    own = {f.name: f for f in module.items if isinstance(f, Function)}
    codes, maths, library, called = _called(own)
    names: dict[str, str] = {RUN: f"{abi.name}_run", SCRATCH: f"{abi.name}_scratch"}
    names |= {name: f"{abi.name}_{name.replace('.', '_')}" for name in codes if name not in names}
    names |= function_names([own[name] for name in maths], abi.name) | product_names(abi.name)
    names |= factor_names(abi.name)
    check_called(called)
    functions = [own[name] for name in maths]
    parts = structures(functions)
    parts += [function_text(function, names) for function in functions]
    products = {name for name in library if name.startswith("product.")}
    if products:
        parts.append(product_text(abi.name, products, real, fused=fused))
    parts.append(factors_text(abi.name, library - products, real))
    arrays = [*abi.inputs, *abi.outputs]
    for name, code in codes.items():
        parameters = ", ".join(_parameter(kind, place, real) for kind, place in code.takes)
        returns = "int64_t" if code.gives == "i64" else "void"
        head = f"\nstatic {returns} {names[name]}({parameters})"
        step = name.startswith("step.")
        known = FileNames(names, arrays if step else (), abi.sizes)
        parts.append(CFunction(code, known).text(head))
    return "".join(parts)


def _called(own: Mapping[str, Function]) -> tuple[dict[str, ReadFunction], list[str], set[str], set[str]]:
    """Return all functions that a program calls, callees first.

    These are its own functions; mathematical functions; products and factors of matrices; and functions of C.
    """
    codes: dict[str, ReadFunction] = {}

    def is_library(name: str) -> bool:
        return name.startswith("product.") or name in FACTORS_IN_C

    def is_c(name: str) -> bool:
        return not is_library(name) and (c_name(name) is not None or name not in own)

    def calls_of(name: str) -> list[str]:
        if is_library(name) or is_c(name):
            return []
        if name.startswith("maths."):
            instructions = [i for i in flatten_lines(own[name].body) if isinstance(i, Instruction)]
            called = [code_of(i).how for i in instructions if code_of(i).op == "call"]
        else:
            codes[name] = read_function(own[name])
            called = [op.called for op in codes[name].ops() if op.called]
        return [c for c in called if not c.startswith("llvm.")]

    order = postorder((SCRATCH, RUN), calls_of)
    maths = [name for name in order if name.startswith("maths.")]
    library = {name for f in order if is_library(f) for name in (f, *CALLED_BY_FACTORS.get(f, ()))}
    others = {c_name(name) or name for name in order if is_c(name)}
    return {name: codes[name] for name in order if name in codes}, maths, library, others


def _parameter(kind: str, name: str, real: FloatType) -> str:
    if kind != "ptr":
        return f"{'int64_t' if kind == 'i64' else real.c} {name[1:]}"
    usual = {"%sizes": "const int64_t *", "%table": "void **", "%args": "void **", "%scratch": "void *"}
    return usual.get(name, f"{real.c} *") + name[1:]


def _inside(abi: ArrayAbi) -> ArrayAbi:
    """Rename the arguments so that none has the name of a function or a variable of the file."""
    found = argument_names([*abi.inputs, *abi.outputs, *abi.sizes], _TAKEN, abi.name)
    nin, nargs = len(abi.inputs), len(abi.inputs) + len(abi.outputs)
    return replace(abi, inputs=found[:nin], outputs=found[nin:nargs], sizes=found[nargs:])
