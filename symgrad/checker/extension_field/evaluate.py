"""Evaluate a program in an extension field: one pass over its steps, for one outcome of its comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from symgrad.checker.extension_field.extension import Contradiction
from symgrad.checker.extension_field.field import Element, GiveUp, TooLarge
from symgrad.checker.extension_field.functions import FUNCTION_OPS, Functions
from symgrad.checker.extension_field.identities import SPECIAL_OPS
from symgrad.checker.extension_field.recurrences import BESSEL_AND_ERROR_OPS
from symgrad.checker.program.merge_steps import merge_steps
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.support.traversal import postorder, walk

COMPARISONS = {"lt": -1, "le": -1, "gt": 1, "ge": 1}
"""For each ordering, the sign that the difference of its arguments has where the ordering is true."""
_ROUNDING = {"floor", "ceil", "round", "sign"}
_INTEGRAL = {"add", "mul", "neg", "maximum", "minimum", "abs", "stop_gradient"}
_LOGIC: dict[str, Callable[..., bool]] = {
    "and_": lambda *sides: all(sides),
    "or_": lambda *sides: any(sides),
    "xor": lambda *sides: sides[0] != sides[1],
    "not_": lambda *sides: not sides[0],
}


def reachable_steps(program: ProofProgram, outputs: Sequence[int], outcome: Mapping[int, bool]) -> list[int]:
    """Return the steps that the outputs need, in order.

    If the condition of a `where` is decided, only one of its branches is needed.
    """

    def arguments(i: int) -> tuple[int, ...]:
        step = program.steps[i]
        truth = _truth(program, step.args[0], outcome) if step.op == "where" else None
        return step.args if truth is None else (step.args[0], step.args[1 if truth else 2])

    return sorted(walk(outputs, arguments))


def branch_on_comparison(
    program: ProofProgram, outputs: Sequence[int], outcome: Mapping[int, bool]
) -> list[dict[int, bool]]:
    """Split an outcome by the first comparison that it does not decide; return [] if it decides all comparisons."""
    for i in reachable_steps(program, outputs, outcome):
        op = program.steps[i].op
        if i not in outcome and (op in COMPARISONS or op in {"eq", "ne"}):
            return [{**outcome, i: way} for way in (True, False)]
    return []


def _truth(program: ProofProgram, at: int, outcome: Mapping[int, bool]) -> bool | None:
    """Return the truth value of a step; None if the outcome of the comparisons does not decide it."""
    steps = program.steps
    known: dict[int, bool | None] = {}
    for i in postorder([at], lambda i: steps[i].args if steps[i].op in _LOGIC else ()):
        step = steps[i]
        if step.op in _LOGIC:
            args = [known[a] for a in step.args]
            known[i] = None if None in args else _LOGIC[step.op](*args)
        elif step.op == "number" and isinstance(step.params[0], bool):
            known[i] = step.params[0]
        else:
            known[i] = outcome.get(i)
    return known[at]


def evaluate_steps(
    k: Functions,
    program: ProofProgram,
    outputs: Sequence[int],
    outcome: Mapping[int, bool],
    known: dict[int, Element] | None = None,
) -> list[Element]:
    """Return the outputs as elements of the field, for one outcome of the comparisons.

    Args:
        k: the extension field.
        program: the steps.
        outputs: positions of the outputs.
        outcome: the truth values of the comparisons, by step.
        known: a dictionary that receives the values of all steps that are read.

    Raises:
        Contradiction: if no point has this outcome.
        GiveUp: if an op has no rule, or the elements grow too large.
    """
    symbols = {s.name: _symbol(k, s) for s in program.symbols if not s.shape}
    known = {} if known is None else known
    whole: set[int] = set()  # steps that are integers at every point
    integers = {s.name for s in program.symbols if s.kind == "int"}
    order = reachable_steps(program, outputs, outcome)
    first = merge_steps(program, order, outputs)
    for i in order:
        step = program.steps[i]
        if step.shape:
            raise GiveUp("arrays")
        if step.op in COMPARISONS or step.op in _LOGIC or step.op in {"eq", "ne"}:
            _assume(k, step, i, known, outcome)
        elif first[i] in known:
            known[i] = known[first[i]]
        elif step.op == "where":
            truth = _truth(program, step.args[0], outcome)
            if truth is None:
                raise GiveUp("a condition that is not decided")
            known[i] = known[step.args[1 if truth else 2]]
        else:
            known[i] = _op_value(k, step, [known[a] for a in step.args], symbols, whole)
        if _is_integer(step, whole, integers):
            whole.add(i)
    return [known[o] for o in outputs]


def _symbol(k: Functions, symbol: Symbol) -> Element:
    """Return a variable; if it is an integer whose bounds allow only one number, return that number."""
    if symbol.kind == "int" and symbol.low is not None and symbol.high is not None:
        first = math.floor(symbol.low) + 1
        if first < symbol.high <= first + 1:
            return k.field.constant(Fraction(first))
    return k.symbol(symbol.name, symbol.low, symbol.high)


def _is_integer(step: ProofStep, whole: set[int], integers: set[str]) -> bool:
    """Tell whether a step is an integer at every point, by its op and its arguments; its declared kind is not used."""
    if step.op == "number":
        return Fraction(step.params[0]).denominator == 1
    if step.op == "symbol":
        return step.params[0] in integers
    return step.op in _ROUNDING or (step.op in _INTEGRAL and all(a in whole for a in step.args))


def _op_value(
    k: Functions, step: ProofStep, args: Sequence[Element], symbols: Mapping[str, Element], whole: set[int]
) -> Element:
    match step.op:
        case "symbol":
            return symbols[step.params[0]]
        case "number":
            return k.field.constant(Fraction(step.params[0]))
        case "constant":
            return k.pi() if step.params[0] == "pi" else k.constant(step.params[0])
        case "pow":
            try:
                return k.power(*args, whole=step.args[1] in whole)
            except TooLarge:
                return k.opaque("pow", *args)
        case "polygamma":
            return k.polygamma(int(step.params[0]), args[0])
        case _:
            row = FUNCTION_OPS.get(step.op) or BESSEL_AND_ERROR_OPS.get(step.op) or SPECIAL_OPS.get(step.op)
            if row is None:
                raise GiveUp(f"no rule for '{step.op}'")
            return row(k, *args)


def _assume(
    k: Functions, step: ProofStep, i: int, known: Mapping[int, Element], outcome: Mapping[int, bool]
) -> None:
    """Restrict the case to the points with one outcome of a comparison.

    Exclude the points at which its sides are equal.
    """
    if step.op not in COMPARISONS and step.op not in {"eq", "ne"}:
        return
    if i not in outcome:
        raise GiveUp("a condition that is not decided")
    difference = k.field.sub(*(known[a] for a in step.args))
    equal = k.field.is_zero(difference)
    if not equal and not k.try_exclude_zeros(difference):
        return  # both sides may be equal on an open set: the proof must hold for both outcomes
    if step.op in {"eq", "ne"}:
        if outcome[i] != (equal == (step.op == "eq")):
            raise Contradiction
        return
    sign = COMPARISONS[step.op] if outcome[i] else -COMPARISONS[step.op]
    if equal:
        if outcome[i] != (step.op in {"le", "ge"}):
            raise Contradiction
        return
    k.require_positive(k.field.scaled(k.sign(difference), Fraction(sign)))
