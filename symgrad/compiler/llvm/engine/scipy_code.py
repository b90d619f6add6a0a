"""The special functions of SciPy in native code: the C functions of doubles behind scipy.special, called lane by lane.

And a user's own C functions, which code calls in the same way.

SciPy exports them for Cython, whose functions take a last argument that means nothing to a caller from C. Those that
compute several functions at once give their values by address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from symgrad.compiler.llvm.engine.blas import address_in
from symgrad.compiler.llvm.engine.externals import define
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration, Item

__all__ = ["OWN", "PREFIX", "SCIPY", "add_own", "code_of", "provide", "value_of"]

PREFIX = "scipy."
"""What the names of these functions begin with in a module."""

OWN = "own."
"""What follows in the names of a user's own."""


class _Exported(NamedTuple):
    """A function of scipy.special: its name, and which of its ``values`` is wanted (0 for one by return).

    Or one of a user's own, with its ``address``.
    """

    name: str
    arity: int = 1
    values: int = 0
    which: int = 0
    address: int = 0


_OF_ONE = ("erfi", "erfinv", "erfcinv", "erfcx", "dawsn", "log_ndtr", "expi", "exp1", "ellipk", "ellipe")
_INNER = ("expn", "gammainc", "gammaincc", "ellipkinc", "ellipeinc")

SCIPY: dict[str, _Exported] = {
    **{name: _Exported(name) for name in _OF_ONE},
    **{name: _Exported(name, 2) for name in ("jv", "yv", "iv", "kv", "ive", *_INNER)},
    "hyp1f1": _Exported("hyp1f1", 3),
    **{name: _Exported("sici", 1, 2, k) for k, name in enumerate(("Si", "Ci"))},
    **{name: _Exported("shichi", 1, 2, k) for k, name in enumerate(("Shi", "Chi"))},
    **{name: _Exported("fresnel", 1, 2, k) for k, name in enumerate(("fresnels", "fresnelc"))},
    **{
        name: _Exported("airy", 1, 4, k)
        for k, name in enumerate(("airyai", "airyaiprime", "airybi", "airybiprime"))
    },
}
"""By the names of their ops, or of functions that formulas of ops call."""


def add_own(name: str, arity: int, address: int) -> str:
    """Make a C function of doubles known that lies at an address of this process; return what code calls it."""
    called = f"{OWN}{name}"
    SCIPY[called] = _Exported(called, arity, address=address)
    return called


def value_of(name: str, numbers: tuple[float, ...]) -> float:
    """Return a value as SciPy gives it, which is what native code gives."""
    from scipy import special  # it starts slowly

    function = SCIPY[name]
    if function.address:
        types = [ctypes.c_double] * (function.arity + 1)
        return float(ctypes.CFUNCTYPE(*types)(function.address)(*numbers))
    value: Any = getattr(special, function.name)(*numbers)
    return float(value[function.which] if function.values else value)


@cache
def _known(function: _Exported) -> str:
    """Make a function known to LLVM and return its name there."""
    symbol = f"{PREFIX}{function.name}"
    if function.address:
        define(symbol, function.address)
        return symbol
    exports: dict[str, object] = import_module("scipy.special.cython_special").__pyx_capi__
    given = ", ".join(["double"] * function.arity)
    if function.values:
        signature = f"void ({', '.join([given, *['double *'] * function.values])})"
    else:
        signature = f"double ({given}, int __pyx_skip_dispatch)"
    # One name for several types stands for a function of each, under names that say which by a number.
    define(symbol, address_in(exports, function.name, signature))
    return symbol


def provide(names: Iterable[str]) -> None:
    """Make known to LLVM what code calls that was compiled in another process, where it had the same names.

    Raises:
        KernelError: if SciPy has none of such a name.
    """
    called = {name for name in names if name.startswith(PREFIX)}
    for function in SCIPY.values() if called else ():
        if f"{PREFIX}{function.name}" in called:
            _known(function)


def code_of(names: list[str]) -> list[Item]:
    """Return functions ``scipy.NAME.value``, from doubles to a double, and what they call."""
    functions: list[Item] = []
    declared: dict[str, FunctionDeclaration] = {}
    for name in names:
        function = SCIPY[name]
        symbol = _known(function)
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
