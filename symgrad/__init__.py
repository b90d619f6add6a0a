r"""Symbolic differentiation and graph rewriting: exact gradients, the reason for every term, native kernels.

Example:
    >>> import symgrad as sg
    >>> p = sg.parse("x : real\ny = sin(x**2)")
    >>> print(sg.grad(p["y"], p["x"]).canonical())
    2*x*cos(x**2)
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# The whole public surface: name -> the module that has it, imported when the name is first asked for. Add a line here
# and the same name under TYPE_CHECKING below; a test holds the two together.
_PUBLIC: dict[str, str] = {
    "Expr": "symgrad.ir.expr",
    "Program": "symgrad.ir.program",
    "compile": "symgrad.api",
    "derivatives": "symgrad.backward.api",
    "explain": "symgrad.explain",
    "from_sympy": "symgrad.ir.expr",
    "grad": "symgrad.backward.api",
    "gradients": "symgrad.backward.api",
    "jvp": "symgrad.backward.api",
    "parse": "symgrad.frontend.text",
    "stop_gradient": "symgrad.ops.functions",
    "symbols": "symgrad.ir.expr",
    "value_and_grad": "symgrad.backward.api",
    "vjp": "symgrad.backward.api",
}

# Modules that are public as a whole.
_MODULES = ("errors",)

if TYPE_CHECKING:
    from symgrad import errors as errors
    from symgrad.api import compile as compile
    from symgrad.backward.api import derivatives as derivatives
    from symgrad.backward.api import grad as grad
    from symgrad.backward.api import gradients as gradients
    from symgrad.backward.api import jvp as jvp
    from symgrad.backward.api import value_and_grad as value_and_grad
    from symgrad.backward.api import vjp as vjp
    from symgrad.explain import explain as explain
    from symgrad.frontend.text import parse as parse
    from symgrad.ir.expr import Expr as Expr
    from symgrad.ir.expr import from_sympy as from_sympy
    from symgrad.ir.expr import symbols as symbols
    from symgrad.ir.program import Program as Program
    from symgrad.ops.functions import stop_gradient as stop_gradient


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        value: object = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})


class _Package(ModuleType):
    """Keeps a public function visible where a subpackage has the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        # Importing symgrad.explain binds the subpackage on this module, whoever imports it first; without this,
        # symgrad.explain(...) would be a call of a module from then on.
        if not (name in _PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
