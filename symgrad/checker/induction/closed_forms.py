"""Closed forms of the values of recurrences: formulas of inputs and of the position of a value.

The values of `h[0] = 1; h[t] = a*h[t-1]` are a**t, since a**0 is 1 and a*a**t is a**(t + 1). This is proved for the
points at which the closed form has a value at all positions or at none. So it has only ops for which that is certain
except on thin sets of inputs, which a proof excludes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symgrad.checker.clock import tick
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol, program_from_json
from symgrad.support.errors import UsageError

POSITION = "position"
"""The variable of a closed form that stands for the position of a value."""

_TOTAL = frozenset(
    {
        "number",
        "constant",
        "size",
        "symbol",
        "add",
        "mul",
        "neg",
        "exp",
        "sin",
        "cos",
        "sinh",
        "cosh",
        "tanh",
        "atan",
    }
)
"""Ops that have a value wherever their arguments have values."""


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A formula for all values of a carry.

    Args:
        program: the formula; its last variable is the position, and the others are those of the program.
        result: the position of its value.
    """

    program: ProofProgram
    result: int

    def at(self, into: ProgramBuilder, position: int) -> int:
        """Append the value at a position.

        Args:
            into: the steps.
            position: the step that is the position.
        """
        symbols = [s for s in self.program.steps if s.op == "symbol" and s.params != (POSITION,)]
        inputs = {s.params[0]: into.step(s) for s in symbols}
        return into.inlined(self.program, {**inputs, POSITION: position}, [self.result])[0]

    def zeros(self) -> list[Equality]:
        """Return claims that numbers are zero: at these inputs the formula may have a value at some positions only.

        Raises:
            UsageError: if there may be more such inputs.
        """
        program = self.program
        varies: set[int] = set()
        zeros: list[int] = []
        for i in program.needed([self.result]):
            step = program.steps[i]
            if step.params == (POSITION,) or varies & {*step.args}:
                varies.add(i)
            if step.shape or not self._has_values(step, varies, zeros):
                raise UsageError(f"a closed form in which {step.op} may have a value at some positions only")
        at = len(program.steps)
        with_zero = replace(program, steps=(*program.steps, ProofStep("number", (), (Fraction(0),))))
        bases = dict.fromkeys(map(self._base, zeros))
        return [Equality(with_zero, i, at) for i in bases if not _is_positive(program, i)]

    def _has_values(self, step: ProofStep, varies: set[int], zeros: list[int]) -> bool:
        """Tell whether a step has a value at all positions or at none, except where some numbers are zero."""
        program = self.program
        match step.op, step.args:
            case "pow", (base, exponent):
                whole = _is_integer(program, exponent)
                if base in varies:
                    number = program.steps[exponent]
                    return whole and number.op == "number" and number.params[0] > 0
                if not (whole and _is_nonnegative(program, exponent)):
                    zeros.append(base)
                return whole or _is_positive(program, base)
            case "div", (_, divisor):
                zeros.append(divisor)
                return divisor not in varies
            case "log" | "sqrt", (a,):
                return _is_positive(program, a) and a not in varies
            case "gamma", (a,):  # it has a value at t + 1, t + 2, ..., since a position t is at least 0
                own = program.steps[a]
                parts = [program.steps[x] for x in own.args] if own.op == "add" else []
                return any(s.op == "number" and s.params[0] > 0 for s in parts) and all(
                    s.op == "number" or s.params == (POSITION,) for s in parts
                )
            case op, _:
                return op in _TOTAL

    def _base(self, at: int) -> int:
        """Return a step that is zero where a power or a negative value of it is."""
        while self.program.steps[at].op in ("pow", "neg"):
            at = self.program.steps[at].args[0]
        return at


def _is_integer(program: ProofProgram, at: int) -> bool:
    """Tell whether a formula is certainly an integer."""
    tick()
    step = program.steps[at]
    match step.op:
        case "symbol":
            return next(s for s in program.symbols if s.name == step.params[0]).kind == "int"
        case "number":
            return step.params[0].denominator == 1
        case _:
            own = step.op in ("add", "mul", "neg") and all(_is_integer(program, a) for a in step.args)
            return own or step.op == "size"


def _is_positive(program: ProofProgram, at: int) -> bool:
    """Tell whether a step is certainly positive: a number, a size, a variable, or a sum or a product of these."""
    tick()
    step = program.steps[at]
    match step.op:
        case "number":
            return step.params[0] > 0
        case "size" | "constant":
            return step.op == "constant" or step.params[0].isidentifier()
        case "symbol":
            symbol = next(s for s in program.symbols if s.name == step.params[0])
            return symbol.low is not None and symbol.low >= 0
        case "add" | "mul" | "div" | "exp":
            return step.op == "exp" or all(_is_positive(program, a) for a in step.args)
        case _:
            return False


def _is_nonnegative(program: ProofProgram, at: int) -> bool:
    """Tell whether a formula of positions, sizes and numbers is certainly not negative."""
    tick()
    step = program.steps[at]
    if step.op in ("add", "mul"):
        return all(_is_nonnegative(program, a) for a in step.args)
    return step.params == (POSITION,) or _is_positive(program, at) or step.params == (Fraction(0),)


def form_from_json(data: Mapping[str, Any], symbols: Mapping[str, Symbol]) -> ClosedForm:
    """Read a closed form.

    Args:
        data: its program and the position of its result.
        symbols: the variables of the claim.

    Raises:
        UsageError: if it reads a variable that the claim does not have.
    """
    form = ClosedForm(program_from_json(data["program"]), data["result"])
    *inputs, position = form.program.symbols
    if any(symbols.get(s.name) != s for s in inputs) or position != Symbol(POSITION, "int", None, None):
        raise UsageError("a closed form with variables that the claim does not have")
    if form.result >= len(form.program.steps):
        raise UsageError("a closed form without a result")
    return form
