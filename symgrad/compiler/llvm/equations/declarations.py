"""What the code of one module calls, and the text that defines it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from symgrad.compiler.llvm.engine.libm import c_declaration, lane_by_lane
from symgrad.compiler.llvm.engine.scipy_functions import PREFIX, SCIPY_FUNCTIONS, wrapper_functions
from symgrad.compiler.llvm.maths import VectorFunction, write_function
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration, Item, Module
from symgrad.compiler.llvm.text.types import FLOAT64, FloatType

__all__ = ["Declarations"]

MAX_INLINED_CALLS = 16
"""Calls of our functions in a module that are inlined: beyond, the code grows faster than the time shrinks."""
MAX_INLINED_CALLS_WITH_C = 2
"""The same where all of them call C for some arguments."""


class Declarations:
    """What the code of one module calls: intrinsics, functions of ours, functions of libm.

    Args:
        fused: whether the target has an instruction for a*b + c with one rounding.
        estimates: whether it has AVX-512's instruction for 14 bits of 1/sqrt(x), and with it those for tables.
        fast: whether functions need only be within four units of the last place.
        freestanding: whether functions of ours have code of their own where they would call C.
    """

    def __init__(
        self, *, fused: bool = True, estimates: bool = False, fast: bool = False, freestanding: bool = False
    ) -> None:
        self.fused = fused
        self.fast = fast
        self.freestanding = freestanding
        self.estimates = estimates and fused
        self.declared: dict[str, FunctionDeclaration] = {}  # by their names, in the order of their first use
        self.maths: dict[str, list[Any]] = {}  # symbol -> its VectorFunction, and the number of its calls
        self.libm: dict[str, tuple[int, FloatType]] = {}  # name -> number and format of the arguments
        self.scipy: dict[str, None] = {}  # ops that SciPy computes, in the order of their first use

    @property
    def function_options(self) -> dict[str, bool]:
        """What decides the code of functions of ours, and their bits."""
        return {
            "fused": self.fused,
            "tables": self.estimates,
            "fast": self.fast,
            "freestanding": self.freestanding,
        }

    def add_call(
        self,
        name: str,
        real: FloatType,
        width: int,
        *,
        instead_of: Function | None = None,
        parts: tuple[int, ...] = (),
    ) -> VectorFunction:
        """Note a call of a function of ours, or that a call is now of these parts of its formula."""
        made = write_function(name, real, width, **self.function_options, parts=parts)
        if instead_of is not None:
            self.maths[instead_of.name][1] -= 1
        self.maths.setdefault(made.function.name, [made, 0])[1] += 1
        return made

    def declare(self, name: str, returns: str, *parameters: str) -> str:
        """Note a call of a function that is defined elsewhere, and return its name with ``@``."""
        if name not in self.declared:
            self.declared[name] = FunctionDeclaration(name, returns, parameters)
        return f"@{name}"

    def shared_modules(self, width: int) -> tuple[list[FunctionDeclaration], dict[str, str]]:
        """Return declarations of the functions of ours, and by their names modules that define them."""
        used = [made for made, calls in self.maths.values() if calls]
        return [made.function.declaration for made in used], {
            made.function.name: function_module(made, width) for made in used
        }

    def definitions(self) -> list[Function]:
        """The functions of ours: inlined where few calls make it cheap, for a call empties every vector register.

        Sines call C for rare arguments: where there are only such, the registers are empty in any case.
        """
        used = [(made, calls) for made, calls in self.maths.values() if calls]
        for made, _ in used:
            for intrinsic in made.intrinsics:
                self.declared.setdefault(intrinsic.name, intrinsic)
            self.libm.update({libm: (arity, FLOAT64) for libm, arity in made.libm.items()})
        most = MAX_INLINED_CALLS_WITH_C if all(made.libm for made, _ in used) else MAX_INLINED_CALLS
        if sum(calls for _, calls in used) > most:
            return [made.function for made, _ in used]
        return [replace(made.function, attributes=Attributes.INLINED) for made, _ in used]

    def lanes(self, width: int) -> list[Item]:
        """The functions that call C lane by lane, and what they call."""
        found: list[Item] = []
        for name, (arity, of) in self.libm.items():
            found += [lane_by_lane(name, arity, width, of), c_declaration(name, arity, of)]
        found += [
            lane_by_lane(f"{PREFIX}{name}.value", SCIPY_FUNCTIONS[name].arity, width, FLOAT64)
            for name in self.scipy
        ]
        return [*found, *wrapper_functions(list(self.scipy))]


@cache  # many kernels ask for the same
def function_module(made: VectorFunction, width: int) -> str:
    """Return the text of a module that defines a function of ours for others."""
    libm: list[Item] = []
    for name, arity in made.libm.items():
        libm += [lane_by_lane(name, arity, width, FLOAT64), c_declaration(name, arity, FLOAT64)]
    return str(Module([replace(made.function, linkage="external"), *made.intrinsics, *libm]))
