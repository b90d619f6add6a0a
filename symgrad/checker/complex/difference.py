"""Evaluate both sides of a statement about complex numbers in their extension field, in one pass over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symgrad.checker.complex.extension_field import ComplexExtensionField
from symgrad.checker.complex.principal_branches import ComplexStatement, integer_steps
from symgrad.checker.extension_field.field import Element, GiveUp
from symgrad.checker.program.step_text import step_text
from symgrad.checker.program.steps import ProofStep


def difference(k: ComplexExtensionField, s: ComplexStatement) -> tuple[Element, tuple[str, ...]]:
    """Return the difference of the two sides, and the points that it excludes although both sides may be defined there.

    Zeros of divisors are not excluded, as a side is undefined there. A power is computed as exp(v*log(u)), which
    excludes the zeros of u.

    Raises:
        GiveUp: if the difference cannot be computed.
        TooCoarse: if a generator must be finer.
    """
    known: dict[int, Element] = {}
    excluded = dict.fromkeys(s.cuts)
    whole = integer_steps(s.program)
    declared = {d.name: d for d in s.program.symbols}
    for i in s.program.needed([s.a, s.b, *s.defined]):
        step = s.program.steps[i]
        args = [known[a] for a in step.args]
        if step.op == "symbol":
            symbol = declared[step.params[0]]
            positive = symbol.kind != "complex" and symbol.low is not None and symbol.low >= 0
            known[i] = k.symbol(symbol.name, positive=positive)
        elif step.op == "pow" and step.args[1] in whole:
            known[i] = k.power_with_integer_exponent(*args)
        else:
            known[i] = _op_value(k, step, args)
        if step.op == "pow" and step.args[0] not in s.nonzero and not _is_exact_power(k, *args):
            if not k.is_thin(args[0]):
                raise GiveUp("a power of something that may be zero on an open set")
            excluded[f"{step_text(s.program, step.args[0])} = 0"] = None
    return k.field.sub(known[s.a], known[s.b]), tuple(excluded)


def _is_exact_power(k: ComplexExtensionField, u: Element, v: Element) -> bool:
    """Tell whether the computed power is also right where its base is zero, or the base is never zero."""
    F = k.field
    if F.number(v) is not None or F.number(u) is not None:
        return True
    never_zero = {F.index(value.num) for _, value in k.exps} | {*k.positive, F.index(k.omega.num)}
    return len(u.num) == 1 and all(p in never_zero for p, d in enumerate(u.num.degrees()) if d)


def _op_value(k: ComplexExtensionField, step: ProofStep, args: Sequence[Element]) -> Element:
    match step.op, args:
        case "number", ():
            return k.field.constant(Fraction(step.params[0]))
        case "constant", ():
            return k.constant(step.params[0])
        case "add", (u, v):
            return k.field.add(u, v)
        case "mul", (u, v):
            return k.field.mul(u, v)
        case "div", (u, v):
            return k.ring.div(u, v)
        case "pow", (u, v):
            return k.power(u, v)
        case "neg", (u,):
            return k.field.neg(u)
        case "sqrt", (u,):
            return k.sqrt(u)
        case "exp", (u,):
            return k.exp(u)
        case "log", (u,):
            return k.log(u)
        case "sin", (u,):
            return k.sin(u)
        case "cos", (u,):
            return k.cos(u)
        case "stop_gradient", (u,):
            return u
        case _:
            return k.opaque(" ".join([step.op, *map(str, step.params)]), *args)
