"""The common text of C files: the prologue, symgrad's mathematical functions, and both roundings of a*b + c."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symgrad.compiler.c.identifiers import c_identifiers
from symgrad.compiler.c.statements import C99, TYPES, Statements, structure
from symgrad.compiler.llvm.engine.scipy_functions import SCIPY_FUNCTIONS
from symgrad.compiler.llvm.text.instructions import flatten_lines
from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.opcodes import Label, member_types, unwrap_single_lane
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.support.errors import UnsupportedError

HEAD = """\
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "compile this file without -ffast-math: its functions rely on every rounding"
#endif
#if defined(__GNUC__) && !defined(__clang__)
/* A product and a sum are rounded together only where fma() says so; nothing reads errno or exceptions. */
#pragma GCC optimize ("fp-contract=off", "no-math-errno", "no-trapping-math")
#elif defined(_MSC_VER)
#pragma fp_contract (off)
#else
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__GNUC__)
extern double sqrt(double) __attribute__((const)); /* a loop that may set errno is not vectorised */
extern float sqrtf(float) __attribute__((const));
#define INLINE static inline __attribute__((always_inline, unused))
#else
#define INLINE static inline
#endif
"""
"""The prologue: headers, and pragmas that forbid inexact optimisations."""

BITS = """
INLINE uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
"""
"""Conversions between numbers and their bits."""


def argument_names(names: Iterable[str], taken: Iterable[str], kernel: str) -> list[str]:
    """Return the names of arguments in a file, distinct from its own names and from functions, ``KERNEL_...``.

    Example:
        >>> argument_names(["x", "args", "loss_exp", "x_loss_exp"], ["args"], "loss")
        ['x', 'args_2', 'x_loss_exp', 'x_loss_exp_2']
    """
    own = [*taken, kernel]
    safe = [f"x_{name}" if name.startswith(f"{kernel}_") else name for name in names]
    return c_identifiers([*own, *safe])[len(own) :]


def select_fused(fused: str, unfused: str, real: FloatType) -> str:
    """Return code that compiles one of two variants, depending on whether the processor has fused multiply-add."""
    if fused == unfused:
        return fused
    macro = "FP_FAST_FMA" if real.bits == 64 else "FP_FAST_FMAF"
    # Mathematical functions of single precision also compute in doubles.
    both = macro if real.bits == 64 else f"FP_FAST_FMA) && defined({macro}"
    return (
        f"\n#if defined({both}) /* the processor computes a*b + c with one rounding */\n{fused}"
        f"\n#else\n{unfused}\n#endif\n"
    )


def function_names(used: Iterable[Function], kernel: str) -> dict[str, str]:
    """Return the names of mathematical functions in the file of a kernel, by their names in a module."""
    found: dict[str, str] = {}
    for function in used:
        own = function.name.removeprefix("maths.").replace("unfused.", "").replace("fast.", "")
        formula, _, *parts = own.split(".")
        found[function.name] = "_".join([kernel, formula, *parts])
    return found


def structures(used: Iterable[Function]) -> list[str]:
    """Return the structures that mathematical functions with several results return."""
    found: list[str] = []
    for returns in sorted({f.returns for f in used if f.returns.startswith("{")}):
        fields = " ".join(
            f"{TYPES[unwrap_single_lane(kind)]} part{k};" for k, kind in enumerate(member_types(returns))
        )
        found.append(f"\ntypedef struct {{ {fields} }} {structure(returns)};\n")
    return found


def check_called(called: Iterable[str]) -> None:
    """Check that C99 has all functions.

    Raises:
        UnsupportedError: if it lacks one.
    """
    missing = sorted({name for name in called if name not in C99})
    if missing:
        whose = "SciPy's" if missing[0] in SCIPY_FUNCTIONS else "no function of C99"
        raise UnsupportedError(
            f"the code of {', '.join(missing)} is {whose}, which C source cannot call",
            expected="functions of <math.h>, and those that symgrad has code for",
            cure="call the kernel from Python, or pass the values of those functions as inputs",
        )


def function_text(
    function: Function, names: Mapping[str, str], flags: str = "", *, inlined: bool = False
) -> str:
    """Return a mathematical function.

    Args:
        function: the function for LLVM.
        names: the names of functions in C.
        flags: the parameters that control code for rare numbers; empty if it always runs.
        inlined: whether to inline it.
    """
    arguments = [p.rsplit(" ", 1) for p in function.parameters]
    places = {x: x[1:] for _, x in arguments}
    statements = Statements(places, names, flagged=bool(flags)).of(flatten_lines(function.body))
    if flags and not branches(function):
        statements.insert(0, "    (void)careful; (void)rare;")
    returns = function.returns
    kind = structure(returns) if returns.startswith("{") else TYPES[unwrap_single_lane(returns)]
    parameters = ", ".join(f"{TYPES[unwrap_single_lane(t)]} {x[1:]}" for t, x in arguments)
    how = "INLINE" if inlined else "static"
    head = f"\n{how} {kind} {names[function.name]}({parameters}{flags})"
    return "\n".join([head, "{", *statements, "}", ""])


def branches(function: Function) -> bool:
    """Tell whether a function has code for rare numbers."""
    return any(isinstance(line, Label) and line.name.startswith("rare") for line in function.body)
