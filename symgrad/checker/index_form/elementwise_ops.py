"""Elementwise ops in index form: a form over the indices "a0", "a1", ... of the axes.

An axis of length 1 has no index. So an axis of declared length 1 broadcasts; an axis with a named length does not, not
even if the name has the value 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.form_conditions import failure_condition
from symgrad.checker.index_form.forms.functions import (
    constant,
    exclude,
    exp,
    log,
    magnitude,
    opaque,
    power,
    sign,
)
from symgrad.checker.index_form.forms.position_maps import iota_difference, order_map
from symgrad.checker.index_form.forms.product_rules import delta
from symgrad.checker.index_form.forms.terms import FormAlgebra
from symgrad.checker.index_form.index_arrays import push_through_gather
from symgrad.checker.program.builder import StepBuilder
from symgrad.checker.program.definitions import DEFINITIONS
from symgrad.checker.program.scalar_derivatives import FormulaTerm
from symgrad.checker.program.steps import ProofStep


def shape_of(step: ProofStep) -> tuple[str, ...]:
    """Return the shape of a step as text: numbers, names, polynomials in names."""
    return tuple(str(n) for n in step.shape)


def indexed_axes(shape: Sequence[str]) -> list[int]:
    """Return the axes that have an index: those longer than 1."""
    return [k for k, n in enumerate(shape) if n != "1"]


@dataclass(slots=True)
class StepCall:
    """A step with the forms of its arguments.

    Args:
        t: the algebra of forms.
        step: the step.
        shape: the shape of its result.
        args: the forms of its arguments.
        shapes: the shapes of its arguments.
    """

    t: FormAlgebra
    step: ProofStep
    shape: tuple[str, ...]
    args: list[Form]
    shapes: list[tuple[str, ...]]


def prepend_axes(t: FormAlgebra, form: Form, shape: Sequence[str], rank: int) -> Form:
    """Prepend axes of length 1, up to a rank."""
    return t.rename(form, {f"a{k}": f"a{k + rank - len(shape)}" for k in indexed_axes(shape)})


Unary: TypeAlias = "Callable[[FormAlgebra, Form], Form]"
Binary: TypeAlias = "Callable[[FormAlgebra, Form, Form], Form]"


def elementwise(call: StepCall) -> Form | None:
    """Apply an op to arguments that broadcast; return None if there is no such op."""
    t, name = call.t, call.step.op
    rank = len(call.shape)
    for k, length in enumerate(call.shape):
        lengths = {s[k - rank + len(s)] for s in call.shapes if k >= rank - len(s)}
        if length not in lengths or lengths - {length, "1"}:
            raise GiveUp("shapes that do not broadcast")
    args = [prepend_axes(t, a, s, rank) for a, s in zip(call.args, call.shapes, strict=True)]
    match args:
        case [u] if name in UNARY:
            return _apply_through_gather(t, partial(UNARY[name], t), u)
        case [u, v] if name == "div":
            return t.multiply(u, _apply_through_gather(t, lambda w: power(t, w, -1), v))
        case [u, v] if name == "pow" and (not v or list(v) == [()]):
            return _apply_through_gather(t, lambda w: power(t, w, v.get((), Fraction(0))), u)
        case [u, v] if name in BINARY:
            return BINARY[name](t, u, v)
        case [u, v, w] if name in TERNARY:
            return TERNARY[name](t, u, v, w)
        case _:
            return None


def _apply_through_gather(t: FormAlgebra, function: Callable[[Form], Form], u: Form) -> Form:
    """Apply a function to a form, through a gather if there is one."""
    found = push_through_gather(t, function, u)
    return function(u) if found is None else found


# --------------------------------------------------------------------------------------------------------- arithmetic


def _divide(t: FormAlgebra, a: Form, b: Form) -> Form:
    return t.multiply(a, power(t, b, -1))


def _power(t: FormAlgebra, a: Form, b: Form) -> Form:
    before = t.assumed
    found = exp(t, t.multiply(b, log(t, a)))
    if t.assumed != before:
        # A negative base has powers, too, if the exponent is an integer.
        raise GiveUp("a power of a base that may be negative, with an exponent that is not a number")
    return found


def _of_reciprocal(function: Unary) -> Unary:
    return lambda t, u: function(t, power(t, u, -1))


def _opaque_function(kind: str, *params: object) -> Unary:
    return lambda t, u: opaque(t, kind, u, params)


def _partial_function(kind: str, *params: object) -> Unary:
    """Return a function that is defined on a part of the real line."""

    def function(t: FormAlgebra, u: Form) -> Form:
        exclude(t, [failure_condition(t, u, f"is not in the domain of {kind}")])
        return opaque(t, kind, u, params)

    return function


def _by_definition(definition: Callable[[FormulaTerm], FormulaTerm]) -> Unary:
    """Return a function that a formula of other functions defines."""
    into = StepBuilder([ProofStep("symbol", (), ("u",))])
    last = definition(FormulaTerm(into, 0)).at

    def function(t: FormAlgebra, u: Form) -> Form:
        forms = [u]
        for step in into.steps[1:]:
            args = [forms[a] for a in step.args]
            if step.op == "number":
                forms.append(t.number(step.params[0]))
            else:
                forms.append(UNARY[step.op](t, *args) if len(args) == 1 else BINARY[step.op](t, *args))
        return forms[last]

    return function


def polygamma(t: FormAlgebra, u: Form, order: int) -> Form:
    """Return polygamma, the derivative of log(gamma(u)) of the order ``order`` + 1."""
    return _partial_function("polygamma", order)(t, u)


_asin, _acosh, _atanh = map(_partial_function, ("asin", "acosh", "atanh"))


def _opaque_of_two(kind: str) -> Binary:
    """Return an opaque function of two arguments; two distinct marks combine these into one form."""

    def function(t: FormAlgebra, a: Form, b: Form) -> Form:
        marks = [t.atom(t.head("mark", (k,), positive=True)) for k in (0, 1)]
        return opaque(t, kind, t.add(t.multiply(a, marks[0]), t.multiply(b, marks[1])))

    return function


# ------------------------------------------------------------------------------------- piecewise functions and logic


def _greater(t: FormAlgebra, a: Form, b: Form) -> Form:
    """Return 1 if a > b, otherwise 0: (s**2 + s)/2 with the sign s of a - b."""
    pair = iota_difference(t, t.subtract(a, b))
    if pair is not None:
        return _not(t, order_map(t, *pair))
    s = sign(t, t.subtract(a, b))
    return t.scale(t.add(t.multiply(s, s), s), Fraction(1, 2))


def _not(t: FormAlgebra, a: Form) -> Form:
    return t.subtract(t.number(1), a)


def _differs(t: FormAlgebra, a: Form, b: Form) -> Form:
    pair = iota_difference(t, t.subtract(a, b))
    if pair is not None:
        return _not(t, delta(t, *pair))
    s = sign(t, t.subtract(a, b))
    return t.multiply(s, s)


def _where(t: FormAlgebra, condition: Form, a: Form, b: Form) -> Form:
    if not condition or condition == t.number(1):
        return a if condition else b
    return t.add(t.multiply(condition, a), t.multiply(_not(t, condition), b))


def _maximum(t: FormAlgebra, a: Form, b: Form, side: int = 1) -> Form:
    gap = magnitude(t, t.subtract(a, b))
    return t.scale(t.add(a, b, t.scale(gap, side)), Fraction(1, 2))


def _minimum(t: FormAlgebra, a: Form, b: Form) -> Form:
    return _maximum(t, a, b, -1)


UNARY: Mapping[str, Unary] = {
    **{name: _by_definition(definition) for name, definition in DEFINITIONS.items()},
    "neg": lambda t, a: t.scale(a, -1),
    "sqrt": lambda t, u: power(t, u, Fraction(1, 2)),
    "cbrt": _opaque_function("cbrt"),
    "exp": exp,
    "log": log,
    "asinh": _opaque_function("asinh"),
    "acosh": _acosh,
    "atanh": _atanh,
    "asech": _of_reciprocal(_acosh),
    "acsch": _of_reciprocal(_opaque_function("asinh")),
    "acoth": _of_reciprocal(_atanh),
    "sin": _opaque_function("sin"),
    "cos": _opaque_function("cos"),
    "asin": _asin,
    "acos": lambda t, u: t.subtract(t.scale(constant(t, "pi"), Fraction(1, 2)), _asin(t, u)),
    "atan": _opaque_function("atan"),
    "erf": _opaque_function("erf"),
    "erfc": lambda t, u: t.subtract(t.number(1), opaque(t, "erf", u)),
    "gamma": _partial_function("gamma"),
    "lgamma": _partial_function("lgamma"),
    "digamma": lambda t, u: polygamma(t, u, 0),
    "abs": magnitude,
    "sign": sign,
    "floor": _opaque_function("floor"),
    "ceil": _opaque_function("ceil"),
    "round": _opaque_function("round"),
    "relu": lambda t, u: t.scale(t.add(u, magnitude(t, u)), Fraction(1, 2)),
    "not_": _not,
}

BINARY: Mapping[str, Binary] = {
    "add": lambda t, a, b: t.add(a, b),
    "mul": lambda t, a, b: t.multiply(a, b),
    "div": _divide,
    "pow": _power,
    "hypot": lambda t, a, b: power(t, t.add(power(t, a, 2), power(t, b, 2)), Fraction(1, 2)),
    "atan2": _opaque_of_two("atan2"),
    "maximum": _maximum,
    "minimum": _minimum,
    "gt": _greater,
    "lt": lambda t, a, b: _greater(t, b, a),
    "le": lambda t, a, b: _not(t, _greater(t, a, b)),
    "ge": lambda t, a, b: _not(t, _greater(t, b, a)),
    "eq": lambda t, a, b: _not(t, _differs(t, a, b)),
    "ne": _differs,
    "and_": lambda t, a, b: t.multiply(a, b),
    "or_": lambda t, a, b: t.subtract(t.add(a, b), t.multiply(a, b)),
    "xor": lambda t, a, b: t.subtract(t.add(a, b), t.scale(t.multiply(a, b), 2)),
}

TERNARY: Mapping[str, Callable[[FormAlgebra, Form, Form, Form], Form]] = {
    "clip": lambda t, u, low, high: _minimum(t, _maximum(t, u, low), high),
    "where": _where,
}
