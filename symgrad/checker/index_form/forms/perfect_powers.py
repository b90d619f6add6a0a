"""Perfect powers of forms: a form is treated as a polynomial whose variables are its components."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

from symgrad.checker.index_form.forms.canonical_labels import Component, Form
from symgrad.checker.numbers import flint

_TERMS = 40
_DEGREE = 1_000  # degree in one component up to which perfect powers are searched for
_VARIABLES = 8


def perfect_power(form: Form) -> tuple[Fraction, Form, int]:
    """Return c, a form r and the largest k with form = c*r**k; if there is no such power, return 1, the form and 1.

    Example:
        >>> x: Component = ((), ((0, (), Fraction(1)),))
        >>> one = Fraction(1)
        >>> perfect_power({((x, one * 2),): one, ((x, one),): one * 2, (): one})[2]
        2
    """
    none = Fraction(1), form, 1
    steps: dict[Component, int] = {}
    for monomial in form:
        for component, e in monomial:
            if e < 0:
                return none
            steps[component] = lcm(steps.get(component, 1), e.denominator)
    if not 3 <= len(form) <= _TERMS or len(steps) > _VARIABLES:
        return none
    components = sorted(steps)
    context: Any = flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(components))], "lex")
    terms: dict[tuple[int, ...], Any] = {}
    for monomial, c in form.items():
        exponents = dict(monomial)
        key = tuple(int(exponents.get(x, Fraction(0)) * steps[x]) for x in components)
        if max(key, default=0) > _DEGREE:
            return none
        terms[key] = flint.fmpq(c.numerator, c.denominator)
    c, factors = context.from_dict(terms).factor_squarefree()
    if len(factors) != 1 or int(factors[0][1]) < 2:
        return none
    root, k = factors[0]
    found: Form = {}
    for key, value in root.to_dict().items():
        powers = ((x, Fraction(int(e), steps[x])) for x, e in zip(components, key, strict=True) if e)
        found[tuple(powers)] = Fraction(int(value.p), int(value.q))
    return Fraction(int(c.p), int(c.q)), found, int(k)
