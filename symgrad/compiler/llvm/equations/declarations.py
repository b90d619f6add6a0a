"""Collect the functions that the code of a module calls, and write their declarations and definitions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import Any

from symgrad.compiler.llvm.engine.libm import c_declaration, lane_by_lane
from symgrad.compiler.llvm.engine.scipy_functions import PREFIX, SCIPY_FUNCTIONS, wrapper_functions
from symgrad.compiler.llvm.maths import VectorFunction, write_function
from symgrad.compiler.llvm.maths.vectors.lanes import FunctionOptions
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration, Item, Module
from symgrad.compiler.llvm.text.types import FLOAT64, FloatType

MAX_INLINED_CALLS = 16
"""The most calls of vector functions in a module that are inlined; with more calls, code size grows too much."""
MAX_INLINED_CALLS_WITH_C = 2
"""The same limit if all of these functions call C for some arguments."""


class Declarations:
    """The functions that the code of one module calls: intrinsics, vector functions, functions of libm and SciPy.

    Args:
        fused: whether the target has a fused multiply-add instruction.
        estimates: whether the target has AVX-512's instructions for 14 bits of 1/sqrt(x) and for table lookup.
        fast: whether an error of four units in the last place of functions is acceptable.
        freestanding: whether vector functions must not call C.
    """

    def __init__(
        self, *, fused: bool = True, estimates: bool = False, fast: bool = False, freestanding: bool = False
    ) -> None:
        self.fused = fused
        self.estimates = estimates and fused
        self.function_options = FunctionOptions(fused, self.estimates, fast, freestanding)
        self.declared: dict[str, FunctionDeclaration] = {}  # by name, in the order of first use
        self.maths: dict[str, list[Any]] = {}  # symbol -> its VectorFunction, and the number of its calls
        self.libm: dict[str, tuple[int, FloatType]] = {}  # name -> arity and format
        self.scipy: dict[str, None] = {}  # ops that SciPy computes, in the order of their first use

    def add_call(
        self,
        name: str,
        real: FloatType,
        width: int,
        *,
        instead_of: Function | None = None,
        parts: tuple[int, ...] = (),
    ) -> VectorFunction:
        """Record a call of a vector function, or the replacement of a call by one that returns more values."""
        made = write_function(name, real, width, self.function_options, parts)
        if instead_of is not None:
            self.maths[instead_of.name][1] -= 1
        self.maths.setdefault(made.function.name, [made, 0])[1] += 1
        return made

    def declare(self, name: str, returns: str, *parameters: str) -> str:
        """Record a call of an external function, and return its name with ``@``."""
        if name not in self.declared:
            self.declared[name] = FunctionDeclaration(name, returns, parameters)
        return f"@{name}"

    def shared_modules(self, width: int) -> tuple[list[FunctionDeclaration], dict[str, str]]:
        """Return declarations of the vector functions, and modules that define them, by name."""
        used = [made for made, calls in self.maths.values() if calls]
        return [made.function.declaration for made in used], {
            made.function.name: function_module(made, width) for made in used
        }

    def definitions(self) -> list[Function]:
        """Return the vector functions.

        They are inlined if there are few calls, because a call spills every vector register.

        Functions that call C for rare arguments, such as sines, spill the registers anyway.
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

    def lanes(self, widths: Collection[int]) -> list[Item]:
        """Return the functions that call C lane by lane, and the declarations of the C functions.

        Args:
            widths: the numbers of lanes of the vectors that the module has.
        """
        found: list[Item] = []
        for name, (arity, of) in self.libm.items():
            found += [*(lane_by_lane(name, arity, w, of) for w in widths), c_declaration(name, arity, of)]
        found += [
            lane_by_lane(f"{PREFIX}{name}.value", SCIPY_FUNCTIONS[name].arity, w, FLOAT64)
            for name in self.scipy
            for w in widths
        ]
        return [*found, *wrapper_functions(list(self.scipy))]


@cache  # many kernels use the same functions
def function_module(made: VectorFunction, width: int) -> str:
    """Return the text of a module that defines a vector function for other modules."""
    libm: list[Item] = []
    for name, arity in made.libm.items():
        libm += [lane_by_lane(name, arity, width, FLOAT64), c_declaration(name, arity, FLOAT64)]
    return str(Module([replace(made.function, linkage="external"), *made.intrinsics, *libm]))
