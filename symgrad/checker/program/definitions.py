"""Functions that formulas of other functions define, of real and of complex numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symgrad.checker.program.scalar_derivatives import FormulaTerm


def _exp_sum(u: FormulaTerm, sign: int) -> FormulaTerm:
    """Return exp(u) + sign*exp(-u)."""
    other = (-u)("exp")
    return u("exp") + other if sign > 0 else u("exp") - other


DEFINITIONS: Mapping[str, Callable[[FormulaTerm], FormulaTerm]] = {
    "exp2": lambda u: (u * u.number(2)("log"))("exp"),
    "expm1": lambda u: u("exp") - 1,
    "log2": lambda u: u("log") / u.number(2)("log"),
    "log10": lambda u: u("log") / u.number(10)("log"),
    "log1p": lambda u: (1 + u)("log"),
    "sigmoid": lambda u: 1 / (1 + (-u)("exp")),
    "softplus": lambda u: (1 + u("exp"))("log"),
    "tan": lambda u: u("sin") / u("cos"),
    "cot": lambda u: u("cos") / u("sin"),
    "sec": lambda u: 1 / u("cos"),
    "csc": lambda u: 1 / u("sin"),
    "sinh": lambda u: _exp_sum(u, -1) / 2,
    "cosh": lambda u: _exp_sum(u, 1) / 2,
    # With one exponential, and only below the fraction bar: powers and products of these have few terms.
    "tanh": lambda u: 1 - 2 / (1 + (2 * u)("exp")),
    "coth": lambda u: 1 + 2 / ((2 * u)("exp") - 1),
    "sech": lambda u: 2 / _exp_sum(u, 1),
    "csch": lambda u: 2 / _exp_sum(u, -1),
}
