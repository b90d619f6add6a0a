"""SymPy as an untyped module, and symgrad's only SymPy class that is not a function."""

from __future__ import annotations

from typing import Any

import sympy as typed_sympy
from sympy import Basic

__all__ = ["Basic", "S", "Static", "sympy"]

# SymPy's own annotations are incomplete, so a type checker would report errors everywhere.
sympy: Any = typed_sympy
S: Any = sympy.S


class Static(sympy.Atom):
    """The static parameters of an op, as the first argument of its head."""

    __slots__ = ("params",)

    def __new__(cls, params: tuple[Any, ...]) -> Static:
        new: Any = sympy.Atom.__new__(cls)
        new.params = params
        return new

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.params,)

    def _hashable_content(self) -> tuple[Any, ...]:
        return self.params

    def _sympystr(self, _printer: Any) -> str:
        return str(self.params)
