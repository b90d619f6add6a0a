"""SciPy's special functions in native code: the C functions of doubles in scipy.special, called lane by lane.

C functions that a user registers are called in the same way.

SciPy exports these functions for Cython, with a last argument that a caller from C can ignore. A function with
several results returns them through pointers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from symgrad.compiler.llvm.engine.blas import exported_address
from symgrad.compiler.llvm.engine.externals import add_symbol
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration, Item

PREFIX = "scipy."
"""The prefix of the symbols of these functions."""

USER_PREFIX = "own."
"""The prefix of the names of user functions, after `PREFIX`."""


class _CFunction(NamedTuple):
    """A function of scipy.special.

    It has a name, the number of its results (``values``; 0 if it returns its result), and the index of the result to
    use. A user function has an ``address``.
    """

    name: str
    arity: int = 1
    values: int = 0
    which: int = 0
    address: int = 0


_ONE_ARGUMENT = (
    "erfi",
    "erfinv",
    "erfcinv",
    "erfcx",
    "dawsn",
    "log_ndtr",
    "expi",
    "exp1",
    "ellipk",
    "ellipe",
)
_TWO_ARGUMENTS = ("expn", "gammainc", "gammaincc", "ellipkinc", "ellipeinc")

SCIPY_FUNCTIONS: dict[str, _CFunction] = {
    **{name: _CFunction(name) for name in _ONE_ARGUMENT},
    **{name: _CFunction(name, 2) for name in ("jv", "yv", "iv", "kv", "ive", *_TWO_ARGUMENTS)},
    "hyp1f1": _CFunction("hyp1f1", 3),
    **{name: _CFunction("sici", 1, 2, k) for k, name in enumerate(("Si", "Ci"))},
    **{name: _CFunction("shichi", 1, 2, k) for k, name in enumerate(("Shi", "Chi"))},
    **{name: _CFunction("fresnel", 1, 2, k) for k, name in enumerate(("fresnels", "fresnelc"))},
    **{
        name: _CFunction("airy", 1, 4, k)
        for k, name in enumerate(("airyai", "airyaiprime", "airybi", "airybiprime"))
    },
}
"""The functions by the name of the op, or of a function that the lowering of an op calls."""


def add_user_function(name: str, arity: int, address: int) -> str:
    """Register a C function of doubles at an address of this process, and return the name that code calls."""
    called = f"{USER_PREFIX}{name}"
    SCIPY_FUNCTIONS[called] = _CFunction(called, arity, address=address)
    return called


def evaluate(name: str, numbers: tuple[float, ...]) -> float:
    """Evaluate a function with SciPy, which gives the same bits as native code."""
    from scipy import special  # slow to import

    function = SCIPY_FUNCTIONS[name]
    if function.address:
        types = [ctypes.c_double] * (function.arity + 1)
        return float(ctypes.CFUNCTYPE(*types)(function.address)(*numbers))
    value: Any = getattr(special, function.name)(*numbers)
    return float(value[function.which] if function.values else value)


@cache
def _register(function: _CFunction) -> str:
    """Register a function with LLVM and return its symbol."""
    symbol = f"{PREFIX}{function.name}"
    if function.address:
        add_symbol(symbol, function.address)
        return symbol
    exports: dict[str, object] = import_module("scipy.special.cython_special").__pyx_capi__
    given = ", ".join(["double"] * function.arity)
    if function.values:
        signature = f"void ({', '.join([given, *['double *'] * function.values])})"
    else:
        signature = f"double ({given}, int __pyx_skip_dispatch)"
    # If a name stands for functions of several types, Cython exports each of them under a numbered name.
    add_symbol(symbol, exported_address(exports, function.name, signature))
    return symbol


def register_symbols(names: Iterable[str]) -> None:
    """Register the functions among the symbols that cached code calls; symbols are the same in every process.

    Raises:
        KernelError: if SciPy has no function with such a name.
    """
    called = {name for name in names if name.startswith(PREFIX)}
    for function in SCIPY_FUNCTIONS.values() if called else ():
        if f"{PREFIX}{function.name}" in called:
            _register(function)


def wrapper_functions(names: list[str]) -> list[Item]:
    """Return the wrappers ``scipy.NAME.value``, from doubles to a double, and declarations of the C functions."""
    functions: list[Item] = []
    declared: dict[str, FunctionDeclaration] = {}
    for name in names:
        function = SCIPY_FUNCTIONS[name]
        symbol = _register(function)
        parameters = [f"double %x{k}" for k in range(function.arity)]
        given = ", ".join(parameters)
        lines: list[str] = []
        types = ["double"] * function.arity
        if function.values:
            places = [f"%y{k}" for k in range(function.values)]
            lines += [f"  {place} = alloca double" for place in places]
            lines.append(f"  call void @{symbol}({', '.join([given, *(f'ptr {p}' for p in places)])})")
            lines.append(f"  %y = load double, ptr {places[function.which]}")
            types += ["ptr"] * function.values
        else:
            last = [] if function.address else ["i32"]
            lines.append(f"  %y = call double @{symbol}({', '.join([given, *(f'{t} 0' for t in last)])})")
            types += last
        returns = "void" if function.values else "double"
        declared[symbol] = FunctionDeclaration(symbol, returns, types, Attributes.USUAL)
        lines.append("  ret double %y")
        functions.append(Function(f"{PREFIX}{name}.value", "double", parameters, lines))
    return [*functions, *declared.values()]
