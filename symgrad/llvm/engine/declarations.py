"""What the code of one module calls, and the text that defines it."""

from __future__ import annotations

from typing import Any

from symgrad.llvm.engine.libm import lane_by_lane
from symgrad.llvm.engine.scipy_code import PREFIX, SCIPY, code_of
from symgrad.llvm.maths import Definition, define
from symgrad.llvm.text.templates import ATTRIBUTES
from symgrad.llvm.text.types import FLOAT64, FloatType

__all__ = ["Declarations"]

MOST_INLINED = 16
"""Calls of our functions in a module that are inlined: beyond, the code grows faster than the time shrinks."""
MOST_INLINED_WITH_C = 2
"""The same where all of them call C for some arguments."""


class Declarations:
    """What the code of one module calls: intrinsics, functions of ours, functions of libm.

    Args:
        fused: whether the target has an instruction for a*b + c with one rounding.
        estimates: whether it has AVX-512's instruction for 14 bits of 1/sqrt(x), and with it those for tables.
        fast: whether functions need only be within four units of the last place.
    """

    def __init__(self, *, fused: bool = True, estimates: bool = False, fast: bool = False) -> None:
        self.fused = fused
        self.fast = fast
        self.estimates = estimates and fused
        self.intrinsics: dict[str, None] = {}  # declarations, in the order of their first use
        self.maths: dict[str, list[Any]] = {}  # symbol -> its Definition, and the number of its calls
        self.libm: dict[str, tuple[int, FloatType]] = {}  # name -> number and format of the arguments
        self.scipy: dict[str, None] = {}  # ops that SciPy computes, in the order of their first use

    @property
    def of_functions(self) -> dict[str, bool]:
        """What decides the code of functions of ours, and their bits."""
        return {"fused": self.fused, "tables": self.estimates, "fast": self.fast}

    def uses(
        self,
        name: str,
        real: FloatType,
        width: int,
        *,
        instead_of: Definition | None = None,
        parts: tuple[int, ...] = (),
    ) -> Definition:
        """Note a call of a function of ours, or that a call is now of these parts of its formula."""
        made = define(name, real, width, **self.of_functions, parts=parts)
        if instead_of is not None:
            self.maths[instead_of.symbol][1] -= 1
        self.maths.setdefault(made.symbol, [made, 0])[1] += 1
        return made

    def shared(self, width: int) -> tuple[list[str], dict[str, str]]:
        """Return declarations of the functions of ours, and by their names modules that define them."""
        declared: list[str] = []
        modules: dict[str, str] = {}
        for made in (made for made, calls in self.maths.values() if calls):
            head = made.text[: made.text.index(" #0 {")].removeprefix("define internal ")
            declared.append(f"declare {head} #0")
            libm = [lane_by_lane(name, arity, width, FLOAT64) for name, arity in made.libm.items()]
            text = made.text.replace("define internal ", "define ", 1)
            modules[made.symbol[1:]] = "\n".join([text, *sorted(made.intrinsics), *libm, ATTRIBUTES])
        return declared, modules

    def definitions(self) -> list[str]:
        """The functions of ours: inlined where few calls make it cheap, for a call empties every vector register.

        Sines call C for rare arguments: where there are only such, the registers are empty in any case.
        """
        used = [(made, calls) for made, calls in self.maths.values() if calls]
        for made, _ in used:
            self.intrinsics.update(dict.fromkeys(sorted(made.intrinsics)))
            self.libm.update({libm: (arity, FLOAT64) for libm, arity in made.libm.items()})
        most = MOST_INLINED_WITH_C if all(made.libm for made, _ in used) else MOST_INLINED
        if sum(calls for _, calls in used) > most:
            return [made.text for made, _ in used]
        return [made.text.replace(") #0 {", ") #1 {", 1) for made, _ in used]

    def lanes(self, width: int) -> list[str]:
        """The functions that call C lane by lane."""
        libm = [lane_by_lane(name, arity, width, of) for name, (arity, of) in self.libm.items()]
        scipy = [
            lane_by_lane(f"{PREFIX}{name}.value", SCIPY[name].arity, width, FLOAT64, declare=False)
            for name in self.scipy
        ]
        return [*libm, *scipy, *code_of(list(self.scipy))]
