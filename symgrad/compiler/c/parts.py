"""What every file of C source has: its beginning, functions of ours, and both ways of rounding a*b + c."""

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

__all__ = [
    "BITS",
    "HEAD",
    "argument_names",
    "branches",
    "check_called",
    "function_names",
    "function_text",
    "one_or_other",
    "structures",
]

HEAD = """\
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "compile this file without -ffast-math: its functions count on every rounding"
#endif
#if defined(__GNUC__) && !defined(__clang__)
/* No product is rounded together with a sum but where fma() says so; errno and exceptions are nobody's concern. */
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
"""The beginning: headers, and what compilers may not do."""

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
"""Numbers as their bits."""


def argument_names(given: Iterable[str], taken: Iterable[str], kernel: str) -> list[str]:
    """Return arguments as a file calls them: not like its own names, nor like functions, which begin with the kernel's.

    Example:
        >>> argument_names(["x", "args", "loss_exp", "x_loss_exp"], ["args"], "loss")
        ['x', 'args_2', 'x_loss_exp', 'x_loss_exp_2']
    """
    own = [*taken, kernel]
    told = [f"x_{name}" if name.startswith(f"{kernel}_") else name for name in given]
    return c_identifiers([*own, *told])[len(own) :]


def one_or_other(fused: str, apart: str, real: FloatType) -> str:
    """Return code for processors that round a*b + c once, and for others, where these differ."""
    if fused == apart:
        return fused
    macro = "FP_FAST_FMA" if real.bits == 64 else "FP_FAST_FMAF"
    # Functions of ours compute in doubles for single precision too.
    both = macro if real.bits == 64 else f"FP_FAST_FMA) && defined({macro}"
    return (
        f"\n#if defined({both}) /* the processor computes a*b + c with one rounding */\n{fused}"
        f"\n#else\n{apart}\n#endif\n"
    )


def function_names(used: Iterable[Function], kernel: str) -> dict[str, str]:
    """Return what functions of ours are called in the file of a kernel, by their names in a module."""
    found: dict[str, str] = {}
    for function in used:
        own = function.name.removeprefix("maths.").replace("unfused.", "").replace("fast.", "")
        formula, _, *parts = own.split(".")
        found[function.name] = "_".join([kernel, formula, *parts])
    return found


def structures(used: Iterable[Function]) -> list[str]:
    """Return the types of what functions of ours give that give several numbers."""
    found: list[str] = []
    for returns in sorted({f.returns for f in used if f.returns.startswith("{")}):
        fields = " ".join(
            f"{TYPES[unwrap_single_lane(kind)]} part{k};" for k, kind in enumerate(member_types(returns))
        )
        found.append(f"\ntypedef struct {{ {fields} }} {structure(returns)};\n")
    return found


def check_called(called: Iterable[str]) -> None:
    """Refuse functions that C99 has not.

    Raises:
        UnsupportedError: if there are any.
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
    """Return a function of ours.

    Args:
        function: what LLVM gets.
        names: what functions are called in C.
        flags: parameters by which it is told to leave rare numbers out; none if it never does.
        inlined: whether it is to be put in place.
    """
    arguments = [p.rsplit(" ", 1) for p in function.parameters]
    places = {x: x[1:] for _, x in arguments}
    said = Statements(places, names, flagged=bool(flags)).of(flatten_lines(function.body))
    if flags and not branches(function):
        said.insert(0, "    (void)careful; (void)rare;")
    gives = function.returns
    kind = structure(gives) if gives.startswith("{") else TYPES[unwrap_single_lane(gives)]
    given = ", ".join(f"{TYPES[unwrap_single_lane(t)]} {x[1:]}" for t, x in arguments)
    how = "INLINE" if inlined else "static"
    return "\n".join([f"\n{how} {kind} {names[function.name]}({given}{flags})", "{", *said, "}", ""])


def branches(function: Function) -> bool:
    """Tell whether a function has code for rare numbers."""
    return any(isinstance(line, Label) and line.name.startswith("rare") for line in function.body)
